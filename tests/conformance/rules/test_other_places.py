"""Fields of a change that another part of the record tells, too: which are as good, and which rule
convicts a decoder that takes a field from a place that is not.

other_places.toml has every such place of every format. The search is the test's: a place that
tells a field in most messages and is not in the file fails it.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from places import field_from, is_same, places_of
from right import row_of_change

from conformance.judging.judge import Judge
from conformance.rules.rules import Obligation, rules
from generators.drawing.cases import as_case, boundary_scenarios
from generators.errors import UsageError
from generators.model import Case, Change, Kind, Message
from generators.profiles import Profile
from generators.wire_format import FORMATS, Format, get

NAMES = ("op", "database", "schema", "table")
FIELDS_OF: dict[type, tuple[str, ...]] = {
    str: (*NAMES, "position", "commit_time_us", "schema_version", "sql"),
    int: ("position", "commit_time_us", "schema_version"),
    tuple: ("keys",),
    dict: ("types",),
}
"""The fields of a change that a value of the type can tell."""
RIGHT = "right"
"""What the file says of a place that is as good; of another it says which rule convicts."""
GROUPS = frozenset(
    [
        "bootstrap",
        "commit",
        "control",
        "ddl",
        "document",
        "envelope",
        "image",
        "key",
        "key-update",
        "keys",
        "lists",
        "names",
        "op",
        "position",
        "schema",
        "shape",
        "snapshot",
        "transaction",
    ]
)
"""First words of the names of scenarios whose messages are of every kind; others vary values."""
ROWS = frozenset({"shape/insert", "shape/update-one-column", "shape/delete"})
UNTOLD = (None, "", ())
ENOUGH, SELDOM = 2, 20
"""Messages in which a place tells a field, before it is one, and of how many changes of the kind
one must have the place: a name that has a dot by chance makes none.
"""
FEW = 5
"""Messages of a case that are looked at: some cases have hundreds of one kind."""
FILE = tomllib.loads(Path(__file__).with_name("other_places.toml").read_text("utf-8"))


class Spot(NamedTuple):
    """A field of changes of a kind, and a place of their records that tells it."""

    kind: str
    field: str
    place: str

    def __str__(self) -> str:
        return f"{self.kind} {self.field} {self.place}"


@dataclass
class Agreement:
    """In how many messages a place tells what a field owes, another value, or what is not owed."""

    counts: Counter[str] = field(default_factory=Counter)

    def is_telling(self, changes: int) -> bool:
        """Whether the place tells the field, of so many changes of the kind."""
        same, unowed = self.counts["same"], self.counts["unowed"]
        tells = same >= max(ENOUGH, self.counts["other"]) or unowed >= ENOUGH
        return tells and self.counts.total() * SELDOM >= changes


def covering_profiles(fmt: Format[Any]) -> list[Profile]:
    """Profiles that together have every option of the format: those that run unasked, and the
    newest release with each option that none of these has.
    """
    chosen, met = [], set[str]()
    for profile in fmt.profiles:
        if not chosen or not met.issuperset(profile.options):
            chosen.append(profile)
            met.update(profile.options)
    for option in fmt.choices.options:
        if option not in met:
            chosen.append(newest_with(fmt, option))
    return chosen


def newest_with(fmt: Format[Any], option: str) -> Profile:
    """The newest release with the option, and with another one if it needs one."""
    needed = [(), *((other,) for other in fmt.choices.options if other != option)]
    for release in reversed(fmt.choices.releases):
        for others in needed:
            with suppress(UsageError):
                return fmt.build(release, *others, option)
    raise AssertionError(f"{fmt.name}: no release has {option}")


class ToldChange(NamedTuple):
    """A readable change that is alone in its message, and what places of the record tell of it."""

    case: Case
    number: int
    change: Change
    told: dict[Spot, Any]


def cases_of(fmt: Format[Any]) -> Iterator[Case]:
    """Cases of all kinds of messages, of level one: an INSERT, an UPDATE and a DELETE of each
    profile, and the others once in a release.
    """
    met = set[tuple[str, str]]()
    for profile in covering_profiles(fmt):
        for scenario in boundary_scenarios(fmt, profile):
            name = (profile.release, scenario.name)
            is_other = scenario.level == 1 and scenario.name.split("/")[0] in GROUPS
            if scenario.name in ROWS or (is_other and name not in met):
                case = as_case(fmt, profile, scenario)
                if case.written:
                    met.add(name)
                yield case


def told_changes(fmt: Format[Any]) -> Iterator[ToldChange]:
    for case in cases_of(fmt):
        for number, written in enumerate(case.written[:FEW]):
            if len(written.changes) == 1 and written.changes[0].kind is not Kind.CORRUPT:
                change = written.changes[0]
                yield ToldChange(case, number, change, told_fields(written.message, change))


def told_fields(message: Message, change: Change) -> dict[Spot, Any]:
    """What places of the message tell of the change's fields."""
    fields = {}
    for place, told in places_of(message).items():
        for name in FIELDS_OF[type(told)]:
            value = field_from(name, told, getattr(change, name))
            if value not in UNTOLD:
                fields[Spot(change.kind.value, name, place)] = value
    return fields


def is_own(fmt: Format[Any], spot: Spot) -> bool:
    """Whether the place is the member in which the format's file says that the field stands."""
    path = spot.place.replace("[0]", "")
    leaf = path.split("[")[0].removesuffix(".*").removesuffix("{}").split(".")[-1]
    of_named_objects = path.split("[].")[-1]
    return not {leaf, of_named_objects}.isdisjoint(
        fmt.members.names_of_field(spot.field.removesuffix("_us"))
    )


def telling_places(fmt: Format[Any], changes: Iterable[ToldChange]) -> list[Spot]:
    """The places that tell a field, beside the field's own member."""
    found, of_kind = defaultdict[Spot, Agreement](Agreement), Counter[str]()
    for case, _, change, told in changes:
        of_kind[change.kind.value] += 1
        key = set(case.tables[0].primary_key) if case.tables else set()
        for spot, value in told.items():
            if getattr(change, spot.field) not in UNTOLD:
                is_right = is_same(spot.field, value, change)
                found[spot].counts["same" if is_right else "other"] += 1
            elif spot.field == "keys" and (set(value) == key or "rimary" in spot.place):
                found[spot].counts["unowed"] += 1
    return sorted(
        spot
        for spot, seen in found.items()
        if seen.is_telling(of_kind[spot.kind]) and not is_own(fmt, spot)
    )


def rules_broken(judge: Judge, spot: Spot, changes: Iterable[ToldChange]) -> set[str]:
    """The MUST rules that a decoder breaks which takes the field from the place, where the place is
    there, and is right otherwise.
    """
    broken = set[str]()
    binding = {rule.id for rule in judge.rules if rule.obligation is Obligation.MUST}
    column = "commit_time" if spot.field == "commit_time_us" else spot.field
    for case, number, _, told in changes:
        if spot not in told:
            continue
        rows = [[row_of_change(owed, 1) for owed in each.changes] for each in case.written]
        right = rows[number][0]
        given = list(told[spot]) if spot.field == "keys" else told[spot]
        rows[number] = [
            replace(right, op=given)
            if spot.field == "op"
            else replace(right, fields={**right.fields, column: given})
        ]
        broken |= {finding.rule for finding in judge.judge(case, rows).findings}
    return {rule.partition("/")[2] for rule in broken & binding}


def verdicts_of(name: str) -> dict[str, str]:
    """What becomes of a decoder that takes a field from another place, by field and place."""
    fmt, judge = get(name), Judge(rules(name))
    changes = list(told_changes(fmt))
    return {
        str(spot): " ".join(sorted(rules_broken(judge, spot, changes))) or RIGHT
        for spot in telling_places(fmt, changes)
    }


@pytest.mark.parametrize("name", FORMATS)
def test_every_place_that_tells_a_field_too_is_right_or_convicted_by_the_rule_of_the_file(name):
    verdicts = verdicts_of(name)
    assert verdicts == FILE.get(name, {})


def test_the_file_has_every_format_with_such_places():
    assert set(FILE) <= set(FORMATS)
