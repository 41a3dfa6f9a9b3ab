"""The table of liars: a line is a liar of every format whose rule it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import filter as matching
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.rules.book import book
from conformance.rules.rules import rules
from conformance.rules.tables import Legal, TableFile, check_name, checked, named_place, ours
from conformance.selftest.memory import BREACHES
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import CONDITIONS, alter_of, when
from conformance.selftest.operators.operator import Operator
from generators.errors import UnknownName, UsageError
from generators.wire_format import FORMATS

FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.toml")))
LEVELS: Final = (1, 2)
FIELDS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("name", "by", "why", "scenario"), str),
    "level": LEVELS,
    "breaks": tuple(BREACHES),
    "does": str | list,
    "when": dict,
}
"""What a line says."""


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder whose output is a right one after `operator`, or after the breach of a law
    (conformance.selftest.memory).

    `convicts` is the id of the rule that must catch it, `why` the decoder or the mistake of the
    real world that it stands for. It is tried on cases in which that rule owns something, or on
    those of `scenario`, a glob.
    """

    name: str
    format: str
    level: int
    convicts: str
    why: str
    operator: Operator | None
    scenario: str = ""
    breach: str = ""


def _operator(name: str, does: str | list[Any], conditions: Mapping[str, str]) -> Operator:
    """The operator of a line: `does` is a name of the catalogue, or what general operators do;
    `when` restricts it.
    """
    if not isinstance(does, str):
        return Operator(name, (), alter_of(does, conditions))
    known = OPERATORS[check_name(does, "operator", OPERATORS)]
    return replace(
        known,
        name=name,
        alter=when(known.alter, checked(conditions, CONDITIONS, what="condition")),
        levels=(1, 2),
    )


@cache
def _names(fmt: str) -> dict[str, str]:
    """Rules of a format by their names: their ids, and what those would be in the format that this
    one is like.
    """
    like = book(fmt).like or fmt
    return {
        name: rule.id for rule in rules(fmt) for name in (rule.id, rule.id.replace(fmt, like, 1))
    }


@cache
def _known() -> frozenset[str]:
    return frozenset(name for fmt in FORMATS for name in _names(fmt))


@cache
def lines() -> tuple[tuple[str, Liar], ...]:
    """Every line of the files: its globs, and the liar, of no format yet. Raises UsageError with
    file and line.
    """
    pairs = []
    for path in FILES:
        file = TableFile(*ours(__package__, path.stem), {"level": LEVELS, "liars": list})
        of_file = {part: value for part, value in file.data.items() if part == "level"}
        for place, name, given in file.entries("liars"):
            with named_place(f"{place}: {name}"):
                line = {
                    **of_file,
                    **checked(given, FIELDS, ("name", "by", "why", *({"level"} - of_file.keys()))),
                }
                if ("does" in line) == ("breaks" in line):
                    raise UsageError("a liar says either what it does or which law it breaks.")
                for glob in line["by"].split():
                    if not matching(_known(), glob.removeprefix("!")):
                        raise UnknownName("rule", glob, _known())
                operator = (
                    _operator(name, line["does"], line.get("when", {})) if "does" in line else None
                )
            fields = line["why"], operator, line.get("scenario", ""), line.get("breaks", "")
            pairs.append((line["by"], Liar(name, "", line["level"], "", *fields)))
    return tuple(pairs)


@cache
def liars(fmt: str) -> tuple[Liar, ...]:
    """The liars of a format: of each line, those of the rules that it names, by globs of
    `FORMAT/RULE`, in its own name or that of the format that it is like; not those of a glob behind
    `!`.
    """
    names = _names(fmt)
    ids = tuple(dict.fromkeys(names.values()))

    def named(globs: list[str]) -> set[str]:
        own = {names[name] for glob in globs for name in matching(names, glob)}
        return own.difference(*(matching(ids, glob[1:]) for glob in globs if glob[0] == "!"))

    chosen = ((liar, named(globs.split())) for globs, liar in lines())
    return tuple(
        replace(liar, format=fmt, convicts=rule)
        for liar, of in chosen
        for rule in ids
        if rule in of
    )
