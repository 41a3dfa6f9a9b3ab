"""The table of liars: a line is a liar of every format whose rule it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.rules.book import book
from conformance.rules.rules import rules
from conformance.rules.tables import TableFile, called, checked, one_of, ours, placed
from conformance.selftest.memory import BREACHES
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import CONDITIONS, WORDS, when
from conformance.selftest.operators.operator import Operator
from generators.errors import UsageError

FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.toml")))
FIELDS: Final = {
    "name": str,
    "level": int,
    "by": str,
    "why": str,
    "scenario": str,
    "breaks": str,
    "does": str | list,
    "when": dict,
}
"""What a line says."""


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder whose output is a right one after `operator`, or after the breach of a law (conformance.selftest.memory).

    `convicts` is the id of the rule that must catch it, `why` the decoder or the mistake of the real world that it stands for. It
    is tried on cases in which that rule owns something, or on those of `scenario`, a glob."""

    name: str
    format: str
    level: int
    convicts: str
    why: str
    operator: Operator | None
    scenario: str = ""
    breach: str = ""


def _operator(name: str, does: str | list[Any], conditions: Mapping[str, str]) -> Operator:
    """The operator of a line: `does` is a name of the catalogue, or a general operator with arguments; `when` restricts it."""
    for about in conditions:
        one_of(about, "condition", CONDITIONS)
    if isinstance(does, str):
        known = OPERATORS[one_of(does, "operator", OPERATORS)]
    else:
        known = Operator("", (), called(does, "operator", WORDS))
    return Operator(name, known.apt, when(known.alter, conditions), known.logicals)


@cache
def lines() -> tuple[tuple[str, Liar], ...]:
    """Every line of the files: its globs, and the liar, of no format yet. Raises UsageError with file and line."""
    found = []
    for path in FILES:
        file = TableFile(*ours(__package__, path.stem), ("level", "liars"))
        for place, name, line in file.entries("liars"):
            with placed(f"{place}: {name}"):
                checked(line, FIELDS, ("name", "by", "why"))
                if ("does" in line) == ("breaks" in line):
                    raise UsageError("a liar says either what it does or which law it breaks.")
                breach = one_of(line.get("breaks", ""), "breach", ("", *BREACHES))
                operator = _operator(name, line["does"], line.get("when", {})) if "does" in line else None
            level, scenario = line.get("level", file.data["level"]), line.get("scenario", "")
            found.append((line["by"], Liar(name, "", level, "", line["why"], operator, scenario, breach)))
    return tuple(found)


@cache
def liars(fmt: str) -> tuple[Liar, ...]:
    """The liars of a format: of each line, those of the rules that it names, by globs of `FORMAT/RULE`, in its own name or that
    of the format that it is like; not those of a glob behind `!`."""
    ids, like = [rule.id for rule in rules(fmt)], book(fmt).like or fmt

    def named(rule: str, globs: list[str]) -> bool:
        own = any(fnmatchcase(id_, glob) for id_ in (rule, rule.replace(fmt, like, 1)) for glob in globs)
        return own and not any(glob[0] == "!" and fnmatchcase(rule, glob[1:]) for glob in globs)

    return tuple(
        replace(liar, format=fmt, convicts=rule) for globs, liar in lines() for rule in ids if named(rule, globs.split())
    )
