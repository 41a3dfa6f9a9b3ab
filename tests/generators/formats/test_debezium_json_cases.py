"""Every case of Debezium's JSON through its writer, its rules, its lies and its unfit cells."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest

from conformance.rules.base import Aspect, Subject, owner, rules
from conformance.rules.sources import fact
from conformance.selftest.lies.base import lies
from generators.drawing.cases import boundary_scenarios
from generators.families.connect import murmur2
from generators.formats.debezium_json import FORMAT, PROFILES, DebeziumProfile, write
from generators.garbage import faults
from generators.model import Cell, Change, Kind, Layout, Op, Scenario, State, Written

PLAIN = {p.name: p for p in PROFILES}
OPS = {"c": Op.INSERT, "r": Op.READ, "u": Op.UPDATE, "d": Op.DELETE, "t": Op.TRUNCATE}
LEGACY = b'{"schema":null,"payload":null}'


@cache
def cases(p: DebeziumProfile) -> list[tuple[Scenario, list[Written]]]:
    """Every case of a profile as its writer wrote it."""
    return [(scenario, write(scenario.history, p, Layout())) for scenario in boundary_scenarios(FORMAT, p)]


FLIPS = [lie for lie in lies("debezium-json") if lie.alter is None]


def unwrapped(raw: bytes | None, schemas: bool) -> Any:
    """The payload of a key or value, as an independent JSON reader and JsonConverter's rule of two members see it."""
    if raw is None or raw == LEGACY:
        return None
    found = json.loads(raw)
    if schemas:
        assert list(found) == ["schema", "payload"]
        _described(found["schema"], found["payload"])
        return found["payload"]
    return found


def _described(schema: Any, value: Any) -> None:
    """The value has the shape that its schema says."""
    if value is None:
        assert schema["optional"] is True
        return
    match schema["type"]:
        case "struct":
            assert [f["field"] for f in schema["fields"]] == list(value)
            for field in schema["fields"]:
                _described(field, value[field["field"]])
        case "array":
            for item in value:
                _described(schema["items"], item)
        case "int16" | "int32" | "int64":
            bits = int(schema["type"][3:])
            assert type(value) is int
            assert -(1 << bits - 1) <= value < 1 << bits - 1
        case "float" | "double":
            assert isinstance(value, float) or value in ("NaN", "Infinity", "-Infinity")
        case "boolean":
            assert isinstance(value, bool)
        case kind:
            assert kind in ("string", "bytes")
            assert isinstance(value, str)


@pytest.mark.parametrize("p", PROFILES, ids=lambda p: p.name)
def test_every_scenario_is_written_twice_alike_and_says_what_is_expected(p: DebeziumProfile) -> None:
    found = cases(p)
    assert len({s.name for s, _ in found}) == len(found) > 500
    for scenario, once in found:
        assert once == write(scenario.history, p, Layout())
        for one in once:
            (change,) = one.changes
            assert change.row == 0
            key = unwrapped(one.message.key, p.key_schemas)
            payload = unwrapped(one.message.value, p.schemas)
            _agrees(p, change, key, payload)
        if scenario.level == 2:
            owed = {Kind.ROW, Kind.TOMBSTONE, *({Kind.DDL} if "default-for-null" in scenario.tags else ())}
            assert {c.kind for one in once for c in one.changes} <= owed
    written = sum(bool(once) for _, once in found)
    assert written > len(found) - (200 if p.image == "minimal" else 4)


def _agrees(p: DebeziumProfile, change: Change, key: Any, payload: Any) -> None:
    """The level-one expectation says what an independent JSON reader sees."""
    match change.kind:
        case Kind.TOMBSTONE:
            assert payload is None
            assert list(change.keys or ()) == list(key or ())
        case Kind.HEARTBEAT:
            assert (list(payload), list(key)) == (["ts_ms"], ["serverName"])
        case Kind.TRANSACTION:
            assert payload["status"] in ("BEGIN", "END")
        case Kind.CONTROL:
            assert payload["op"] == "m"
        case Kind.DDL:
            assert (payload["ddl"], payload["databaseName"]) == (change.sql, change.database)
            assert (payload["source"]["table"] or None) == change.table
            assert "op" not in payload
        case _:
            assert OPS[payload["op"]] is change.op
            assert list(change.keys or ()) == list(key or ())
            source = payload["source"]
            assert (source["db"], source["table"], source.get("schema")) == (change.database, change.table, change.schema)
            assert (change.commit_time_us or 0) // 1000 == source["ts_ms"]
            place = f"{source['file']}:{source['pos']}:{source['row']}" if p.is_mysql else str(source["lsn"])
            assert change.position == place
            for side in ("before", "after"):
                _shown(change.image(side, 1), payload[side])


def _shown(image: Any, row: Any) -> None:
    assert (image is None) == (row is None)
    if image is None:
        return
    assert list(image) == list(row)
    for name, cell in image.items():
        assert cell.state is not State.ABSENT
        assert (cell.state is State.NULL) == (row[name] is None)
        if row[name] is not None:
            assert cell.json == (not isinstance(row[name], str))
            assert cell.text == row[name] if not cell.json else json.loads(cell.text) == row[name]


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


def test_records_lie_where_the_default_partitioner_puts_their_keys() -> None:
    for p in PROFILES:
        records = [one.message for _, messages in cases(p) for one in messages]
        keyed = {(message.key, message.partition) for message in records if message.key is not None}
        assert all(partition == (murmur2(key) & 0x7FFFFFFF) % 3 for key, partition in keyed)
        assert {partition for _, partition in keyed} == {0, 1, 2}
        assert {message.partition for message in records if message.key is None} <= {0, 1, 2}


# Unfit cells


@pytest.mark.parametrize("p", PROFILES, ids=lambda p: p.name)
def test_each_unfit_cell_has_one_place_in_its_message(p: DebeziumProfile) -> None:
    found = FORMAT.cell_faults(p)
    assert len({fault.name for fault in found}) == len(found) >= 17
    for fault, scenario in faults.cell_fault_scenarios(FORMAT.supports, found, p.source):
        (one,) = write(scenario.history, p, Layout())
        spoiled = faults.cell_fault(one, fault)
        assert spoiled.changes[0].kind is Kind.CORRUPT
        assert json.loads(spoiled.message.value or b"") != json.loads(one.message.value or b"")


# Losses


def test_a_loss_says_what_is_left() -> None:
    for p in PROFILES:
        for loss in FORMAT.losses(p):
            assert fact(loss.citation).page == "debezium"
            assert (loss.left is None) == (p.image == "minimal" and not loss.logicals)
    by_name = {p.name: {loss.statement for loss in FORMAT.losses(p)} for p in PROFILES}
    assert not by_name["3.5.0.Final+postgresql"]


# Rules and lies


def subjects(p: DebeziumProfile, scenario: Scenario, messages: list[Written]) -> Iterator[Subject]:
    """The comparisons that a judge makes for a case."""
    for found in messages:
        for change in found.changes:
            yield from _subjects(p.name, scenario.level, scenario.tags, change)


def _subjects(name: str, level: int, tags: frozenset[str], change: Change) -> Iterator[Subject]:
    common: dict[str, Any] = {
        "profile": name,
        "level": level,
        "kind": change.kind.value,
        "op": change.op or "",
        "tags": tags - {"boundary"},
    }
    for aspect in (Aspect.MISSING, Aspect.EXTRA, Aspect.CORRUPT, Aspect.ACCEPTED, Aspect.KIND, Aspect.OP):
        yield Subject(field="change", aspect=aspect, **common)
    if level == 1:
        for field in ("database", "schema", "table", "keys", "position", "commit_time", "types", "schema_version", "sql"):
            yield Subject(field=field, aspect=Aspect.FIELD, **common)
    for side in ("before", "after"):
        yield Subject(field="image", aspect=Aspect.IMAGE, side=side, **common)
        for cell in (change.image(side, level) or {}).values():
            yield from _cell(cell, side, level, common)


def _cell(cell: Cell, side: str, level: int, common: dict[str, Any]) -> Iterator[Subject]:
    if cell.state is State.ANY and level == 1 and cell.text is None:
        return
    about: dict[str, Any] = {"side": side, "type": cell.type.key, "logical": cell.type.logical.value, "cls": cell.cls}
    about["state"] = cell.state.value
    aspects = [Aspect.PRESENCE, Aspect.NULL] + ([Aspect.VALUE] if cell.state is not State.NULL else [])
    if cell.state is State.ANY and level == 2:
        aspects = [Aspect.VALUE]
    for aspect in aspects:
        yield Subject(field="cell", aspect=aspect, **common, **about)


def test_every_rule_owns_a_comparison_and_every_comparison_has_a_rule() -> None:
    found = rules("debezium-json")
    owned: set[str] = set()
    for subject in {s for p in PROFILES for scenario, messages in cases(p) for s in subjects(p, scenario, messages)}:
        rule = owner(found, subject)
        assert rule is not None, subject
        owned.add(rule.id)
    for fault in faults.FAULTS:
        aspect = Aspect.ACCEPTED if fault.obligation == faults.MUST else Aspect.MISSING
        rule = owner(found, Subject("3.5.0.Final", 1, "CORRUPT", "", "change", aspect, tags=frozenset({f"fault:{fault.tag}"})))
        lenient = fault.tag in ("trailing-content", "second-document")
        expected = "after-the-document" if lenient else "must-reject" if fault.obligation == faults.MUST else "never-lost"
        expected = fault.tag if fault.tag == "no-such-message" else expected
        assert rule is not None and rule.id == f"debezium-json/fault/{expected}"
        owned.add(rule.id)
    rule = owner(found, Subject("x", 2, "CORRUPT", "", "change", Aspect.ACCEPTED, tags=frozenset({"fault:cell-int"})))
    assert rule is not None and rule.id == "debezium-json/fault/cell-type"
    owned.add(rule.id)
    outside = owner(found, Subject("x", 2, "CORRUPT", "", "change", Aspect.ACCEPTED, tags=frozenset({"fault:domain"})))
    assert outside is not None and outside.id == "debezium-json/fault/cell-domain"
    owned.add(outside.id)
    assert {rule.id for rule in found if not rule.law} - owned == set()
    assert all(rule.citations for rule in found)


def _difference(honest: list[Written], lying: list[Written], p: DebeziumProfile, scenario: Scenario) -> set[str]:
    """The rules that own what a perfect decoder of the lying bytes would return otherwise, at level one."""
    found = rules("debezium-json")
    convicted: set[str] = set()
    for i, true in enumerate(honest):
        false = lying[i] if i < len(lying) else None
        for subject, differs in _compared(p.name, scenario, true.changes[0], false.changes[0] if false else None):
            rule = owner(found, subject)
            assert rule is not None
            if differs:
                convicted.add(rule.id)
    return convicted


def _compared(name: str, scenario: Scenario, a: Change, b: Change | None) -> Iterator[tuple[Subject, bool]]:
    common: dict[str, Any] = {
        "profile": name,
        "level": scenario.level,
        "kind": a.kind.value,
        "op": a.op or "",
        "tags": scenario.tags,
    }
    yield Subject(field="change", aspect=Aspect.MISSING, **common), b is None
    if b is None:
        return
    yield Subject(field="change", aspect=Aspect.KIND, **common), b.kind is not a.kind
    for field in ("database", "schema", "table", "keys", "position", "sql"):
        yield Subject(field=field, aspect=Aspect.FIELD, **common), getattr(a, field) != getattr(b, field)
    yield Subject(field="commit_time", aspect=Aspect.FIELD, **common), a.commit_time_us != b.commit_time_us
    for side in ("before", "after"):
        left, right = a.image(side, 1), b.image(side, 1)
        yield Subject(field="image", aspect=Aspect.IMAGE, side=side, **common), (left is None) != (right is None)
        if left is None or right is None:
            continue
        for column, cell in left.items():
            about: dict[str, Any] = {"side": side, "type": cell.type.key, "logical": cell.type.logical.value, "cls": cell.cls}
            other = right.get(column)
            state = cell.state.value
            yield Subject(field="cell", aspect=Aspect.PRESENCE, state=state, **common, **about), other is None
            if other is None:
                continue
            nulls = (cell.state is State.NULL, other.state is State.NULL)
            yield Subject(field="cell", aspect=Aspect.NULL, state=state, **common, **about), nulls[0] != nulls[1]
            if not any(nulls):
                differs = (cell.text, cell.json) != (other.text, other.json)
                yield Subject(field="cell", aspect=Aspect.VALUE, state=state, **common, **about), differs


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
        assert flip.convicts in {rule.id for rule in rules("debezium-json")}


def test_every_fact_of_a_profile_has_a_flip() -> None:
    facts = {f.name for f in dataclasses.fields(DebeziumProfile)} - {"release", "options", "assumed", "deployment", "source"}
    assert {flip.field for flip in FLIPS} == facts
