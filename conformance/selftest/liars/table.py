"""The tables of liars: one line stands for a liar of every format that has a rule it names."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from conformance.rules.book import book
from conformance.rules.rules import rules
from conformance.rules.tables import (
    Legal,
    TableFile,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from conformance.selftest.memory import BREACHES
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import CONDITIONS, alter_of, when
from conformance.selftest.operators.operator import Operator
from generators.errors import UnknownName, UsageError
from generators.wire_format import FORMATS

FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.toml")))
"""The tables of liars (decoders that are wrong on purpose)."""
LEVELS: Final = (1, 2)
"""The levels at which a liar may be tried: changes with texts, and typed rows."""
FIELDS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("name", "by", "why", "scenario"), str),
    "level": LEVELS,
    "breaks": tuple(BREACHES),
    "does": str | list,
    "when": dict,
}
"""What a line of a table may say, with the legal values."""


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
    """The operator of a liar, from its line in a table: an operator of the catalogue by name, or
    general words with their arguments. It changes only rows that fulfil `conditions`.
    """
    if not isinstance(does, str):
        return Operator(name, (), alter_of(does, conditions))
    operator = OPERATORS[check_name(does, "operator", OPERATORS)]
    alter = when(operator.alter, check_fields(conditions, CONDITIONS, what="condition"))
    return replace(operator, name=name, alter=alter, levels=LEVELS)


@cache
def _rules_by_name(fmt: str) -> dict[str, str]:
    """The ids of a format's rules by the names that a line may use: the ids themselves, and, if
    this format inherits the rules of another (`like`), the ids that they have there.
    """
    like = book(fmt).like or fmt
    ids_by_name: dict[str, str] = {}
    for rule in rules(fmt):
        ids_by_name[rule.id] = rule.id
        ids_by_name[rule.id.replace(fmt, like, 1)] = rule.id
    return ids_by_name


@cache
def _known_rule_names() -> frozenset[str]:
    """The names of rules, of all formats, that a line of a table may use."""
    return frozenset(chain.from_iterable(map(_rules_by_name, FORMATS)))


class Line(NamedTuple):
    """A line of a table, for any format, with the globs `FORMAT/RULE` of the rules that must
    convict the liar.
    """

    globs: tuple[str, ...]
    liar: Liar


@cache
def lines() -> tuple[Line, ...]:
    """All lines of the tables of liars, parsed. Raises UsageError with file and line."""
    read_lines: list[Line] = []
    for path in FILES:
        file = TableFile(
            *read_package_toml(__package__, path.stem), {"level": LEVELS, "liars": list}
        )
        defaults = {"level": file.data["level"]} if "level" in file.data else {}
        for place, name, table in file.entries("liars"):
            with naming_place(f"{place}: {name}"):
                read_lines.append(_read_line(name, table, defaults))
    return tuple(read_lines)


def _read_line(name: str, table: Any, defaults: Mapping[str, Any]) -> Line:
    """Parses a line of a table. `defaults` has the level that the file gives for all its lines."""
    required = ("name", "by", "why", *({"level"} - defaults.keys()))
    entry = {**defaults, **check_fields(table, FIELDS, required)}
    if ("does" in entry) == ("breaks" in entry):
        raise UsageError("a liar says either what it does or which law it breaks.")
    globs = tuple(entry["by"].split())
    for glob in globs:
        if not fnmatch.filter(_known_rule_names(), glob.removeprefix("!")):
            raise UnknownName("rule", glob, _known_rule_names())
    operator: Operator | None = None
    if "does" in entry:
        operator = _operator(name, entry["does"], entry.get("when", {}))
    liar = Liar(
        name,
        "",
        entry["level"],
        "",
        entry["why"],
        operator,
        entry.get("scenario", ""),
        entry.get("breaks", ""),
    )
    return Line(globs, liar)


@cache
def liars(fmt: str) -> tuple[Liar, ...]:
    """The liars of a format: each line of the tables gives one liar for every rule of the format
    that it names.
    """
    rule_ids = tuple(dict.fromkeys(_rules_by_name(fmt).values()))
    liars_of_format: list[Liar] = []
    for line in lines():
        convicting = _matching_rules(fmt, line.globs)
        liars_of_format += (
            replace(line.liar, format=fmt, convicts=rule_id)
            for rule_id in rule_ids
            if rule_id in convicting
        )
    return tuple(liars_of_format)


def _matching_rules(fmt: str, globs: Sequence[str]) -> set[str]:
    """The ids of the format's rules that match any of the globs, by their own ids or by those of
    the format whose rules this one inherits. A glob after `!` takes rules away, wherever it stands;
    it is compared with own ids alone.
    """
    ids_by_name = _rules_by_name(fmt)
    matching: set[str] = set()
    for glob in globs:
        matching.update(ids_by_name[name] for name in fnmatch.filter(ids_by_name, glob))
    for glob in globs:
        if glob.startswith("!"):
            matching.difference_update(fnmatch.filter(ids_by_name.values(), glob[1:]))
    return matching
