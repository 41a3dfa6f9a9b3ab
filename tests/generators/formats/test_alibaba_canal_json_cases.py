"""Every case of Alibaba Canal's flat message through its writer, its rules and its lies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

from conformance.rules.base import Aspect, Subject, owner, rules
from conformance.selftest.lies.base import lies
from generators.formats.alibaba_canal_json import FORMAT, PROFILES, CanalProfile, write
from generators.model import (
    Cell,
    Change,
    Kind,
    Layout,
    Scenario,
    SchemaChange,
    State,
    Written,
)
from generators.sources import boundaries

PLAIN = {p.name: p for p in PROFILES}


@cache
def cases(p: CanalProfile) -> list[tuple[Scenario, list[Written]]]:
    """Every case of a profile as its writer wrote it."""
    found = (*boundaries.scenarios(p.database, FORMAT.supports), *FORMAT.scenarios(p, p.database))
    return [(scenario, write(scenario.history, p, Layout())) for scenario in found]


KEYS = ["data", "database", "es", "gtid", "id", "isDdl", "mysqlType", "old", "pkNames", "sql", "sqlType", "table", "ts", "type"]


@pytest.mark.parametrize("p", PROFILES, ids=lambda p: p.name)
def test_every_scenario_is_written_twice_alike_as_documented_json(p: CanalProfile) -> None:
    found = cases(p)
    assert len({s.name for s, _ in found}) == len(found) > 700
    for scenario, once in found:
        assert once == write(scenario.history, p, Layout())
        silent = (p.image == "minimal" and "unchanged" in scenario.name) or "update-nothing" in scenario.name
        assert once or silent or (p.release < "1.1.6" and scenario.name == "ddl/semicolon-in-text")  # SILENT_BEFORE_1_1_6
        for message, changes in ((w.message, w.changes) for w in once):
            assert message.value is not None
            wired = json.loads(message.value, strict=p.release != "1.1.6")
            assert list(wired) == [k for k in KEYS if k != "gtid" or p.gtid is not None]
            assert len(changes) == len(wired["data"] or [None])
            for i, change in enumerate(changes):
                _agrees(wired, i, change)
        if scenario.level == 2:
            assert not any(isinstance(e, SchemaChange) for e in scenario.history.events)


FLIPS = [lie for lie in lies("alibaba-canal-json") if lie.alter is None]


def _agrees(wired: dict[str, Any], i: int, change: Change) -> None:
    """The level-one expectation says what an independent JSON reader sees."""
    assert (change.row, change.position, change.database, change.table) == (
        i,
        str(wired["id"]),
        wired["database"],
        wired["table"],
    )
    assert (list(change.keys) if change.keys is not None else None) == wired["pkNames"]
    assert change.types == wired["mysqlType"]
    if change.kind is not Kind.ROW:
        assert wired["data"] is None
        return
    row, old = wired["data"][i], wired["old"]
    shown, other = (change.before, change.after) if wired["type"] == "DELETE" else (change.after, change.before)
    assert _carried(shown) == row
    if wired["type"] != "UPDATE":
        assert other is None
    elif old is None or len(old) != len(wired["data"]):
        assert other is not None and all(c.state is State.ANY and c.reason for c in other.values())
    else:
        assert _carried(other) == old[i]


def _carried(image: Any) -> dict[str, str | None]:
    return {name: cell.text for name, cell in image.items() if cell.state is not State.ABSENT}


def test_few_cells_are_left_open() -> None:
    counts = dict.fromkeys(State, 0)
    for p in PROFILES:
        for scenario, messages in cases(p):
            for found in messages:
                for change in found.changes:
                    for side in ("before", "after"):
                        for cell in (change.image(side, scenario.level) or {}).values():
                            counts[cell.state] += 1
                            assert bool(cell.reason) or cell.state not in (State.ANY, State.ONE_OF)
    open_ = counts[State.ANY] + counts[State.ONE_OF]
    assert open_ * 20 < sum(counts.values())


# Rules and lies


def subjects(p: CanalProfile, scenario: Scenario, messages: list[Written]) -> Iterator[Subject]:
    """The comparisons that a judge makes for a case."""
    for found in messages:
        for change in found.changes:
            yield from _subjects(p.name, scenario.level, scenario.tags, change)


def _subjects(name: str, level: int, tags: frozenset[str], change: Change) -> Iterator[Subject]:
    common = {"profile": name, "level": level, "kind": change.kind.value, "op": change.op or "", "tags": tags}

    def subject(field: str, aspect: Aspect, side: str = "", cell: Cell | None = None) -> Subject:
        described = {}
        if cell is not None:
            described = {"type": cell.type.key, "logical": cell.type.logical.value, "cls": cell.cls, "state": cell.state.value}
        return Subject(field=field, aspect=aspect, side=side, **common, **described)  # type: ignore[arg-type]

    for aspect in (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.ACCEPTED, Aspect.KIND, Aspect.OP):
        yield subject("change", aspect)
    if level == 1:
        for field in ("database", "schema", "table", "keys", "position", "commit_time", "types", "schema_version", "sql"):
            yield subject(field, Aspect.FIELD)
    for side in ("before", "after"):
        image = change.image(side, level)
        yield subject("image", Aspect.IMAGE, side)
        for cell in (image or {}).values():
            if cell.state is State.ANY:
                continue
            yield subject("cell", Aspect.PRESENCE, side, cell)
            if cell.state is not State.ABSENT:
                yield subject("cell", Aspect.NULL, side, cell)
            if cell.state in (State.VALUE, State.ONE_OF):
                yield subject("cell", Aspect.VALUE, side, cell)


FAULTS = {
    "domain": "fault/cell-domain",
    "truncated": "fault/must-reject",
    "no-such-message": "fault/no-such-message",
    "wrong-container": "fault/must-reject",
    "trailing-content": "fault/must-reject",
    "second-document": "fault/must-reject",
    "empty": "fault/must-reject",
    "cell-bigint": "fault/cell-type",
}
READ_EITHER_WAY = ("duplicate-key", "bom", "invalid-utf-8", "lone-surrogate", "raw-control", "wrapped")


def test_every_rule_owns_a_comparison_and_every_comparison_has_a_rule() -> None:
    found = rules("alibaba-canal-json")
    owned: set[str] = set()
    seen = {subject for p in PROFILES for scenario, messages in cases(p) for subject in subjects(p, scenario, messages)}
    for subject in seen:
        rule = owner(found, subject)
        assert rule is not None, subject
        owned.add(rule.id)
    for fault, name in FAULTS.items():
        rule = owner(found, Subject("1.1.8", 2, "CORRUPT", "", "change", Aspect.ACCEPTED, tags=frozenset({f"fault:{fault}"})))
        assert rule is not None and rule.id == f"alibaba-canal-json/{name}"
        owned.add(rule.id)
    for fault in READ_EITHER_WAY:
        rule = owner(found, Subject("1.1.8", 1, "CORRUPT", "", "change", Aspect.MISSING, tags=frozenset({f"fault:{fault}"})))
        assert rule is not None and (rule.id, rule.obligation) == ("alibaba-canal-json/fault/never-lost", "MUST")
        owned.add(rule.id)
    assert len([rule for rule in found if not rule.law]) >= 22
    assert {rule.id for rule in found if not rule.law} - owned == set()
    assert all(rule.citations for rule in found)


def _difference(honest: list[Written], lying: list[Written], p: CanalProfile, scenario: Scenario) -> set[str]:
    """The rules that own what a perfect decoder of the lying bytes would return otherwise."""
    found = rules("alibaba-canal-json")
    convicted: set[str] = set()
    for true, false in zip(honest, lying, strict=True):
        for a, b in zip(true.changes, false.changes, strict=True):
            for subject, differs in _compared(p.name, scenario, a, b):
                rule = owner(found, subject)
                assert rule is not None
                if differs:
                    convicted.add(rule.id)
    return convicted


def _compared(name: str, scenario: Scenario, a: Change, b: Change) -> Iterator[tuple[Subject, bool]]:
    common: dict[str, Any] = {
        "profile": name,
        "level": scenario.level,
        "kind": a.kind.value,
        "op": a.op or "",
        "tags": scenario.tags,
    }
    yield Subject(field="change", aspect=Aspect.KIND, **common), b.kind not in {a.kind, *(kind for kind, _ in a.accept)}
    for field in ("database", "table", "keys", "position", "types", "sql"):
        yield Subject(field=field, aspect=Aspect.FIELD, **common), getattr(a, field) != getattr(b, field)
    yield Subject(field="commit_time", aspect=Aspect.FIELD, **common), a.commit_time_us != b.commit_time_us
    for side in ("before", "after"):
        left, right = a.image(side, scenario.level) or {}, b.image(side, scenario.level) or {}
        unknown = bool(right) and all(c.state is State.ANY for c in right.values())  # a reader of old null returns no image
        yield (
            Subject(field="image", aspect=Aspect.IMAGE, side=side, **common),
            unknown and any(c.state is not State.ANY for c in left.values()),
        )
        for column, cell in left.items():
            if unknown or cell.state is State.ANY:
                continue
            about: dict[str, Any] = {"side": side, "type": cell.type.key, "logical": cell.type.logical.value, "cls": cell.cls}
            about["state"] = cell.state.value
            absent = cell.state is State.ABSENT
            # A column may stand under another name there.
            other = right.get(column, Cell(State.ABSENT, cell.type))
            gone = other.state is State.ABSENT
            yield Subject(field="cell", aspect=Aspect.PRESENCE, **common, **about), absent != gone
            yield (
                Subject(field="cell", aspect=Aspect.VALUE, **common, **about),
                not absent and not gone and cell.text != other.text,
            )


@pytest.mark.parametrize("flip", FLIPS, ids=lambda lie: lie.name)
def test_a_flipped_fact_changes_bytes_and_convicts_its_rule_or_none(flip: Any) -> None:
    p = PLAIN[flip.profile]
    lying = dataclasses.replace(p, **{flip.field: flip.value})
    convicted: set[str] = set()
    changed = False
    for scenario, honest in cases(p):
        if not fnmatchcase(scenario.name, flip.scenario) or (scenario.level == 2 and flip.scenario == "*"):
            continue
        lie = write(scenario.history, lying, Layout())
        changed = changed or [w.message for w in honest] != [w.message for w in lie]
        convicted |= _difference(honest, lie, p, scenario)
    assert changed
    if flip.convicts is None:
        assert convicted == set()
    else:
        assert flip.convicts in convicted
        assert flip.convicts in {rule.id for rule in rules("alibaba-canal-json")}


BY_OPTION = {"connection_charset", "display_widths", "dynamic_topic", "hash_column", "mariadb", "old_time", "table_hash"}
"""Facts that only options change; test_alibaba_canal_json.py and the recordings hold what they write."""


def test_every_fact_of_a_profile_has_a_flip_or_is_an_option_s() -> None:
    facts = {f.name for f in dataclasses.fields(CanalProfile)} - {"release", "options", "assumed", "source"}
    assert {flip.field for flip in FLIPS} == facts - BY_OPTION
