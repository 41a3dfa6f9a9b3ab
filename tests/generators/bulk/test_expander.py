"""Bulk: addressed by position, legal at the source, and as fast templates exactly what the writer
writes.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import faker
import pytest

from generators.bulk import expander as bulk
from generators.bulk import orders
from generators.bulk import traffic as load
from generators.errors import UsageError
from generators.model import Deployment, History, Layout, Message, Op, RowChange, Value, Written
from generators.profiles import Choices, Profile
from generators.sources import mysql, pools, postgresql
from generators.wire_format import Format, get

TICDC = get("ticdc-canal-json")
CANAL = get("alibaba-canal-json")


def events(fmt: Format[Any], profile: Profile, count: int, **more: Any) -> list[RowChange]:
    scenarios = (bulk.scenario(fmt, profile, 7, i, **more) for i in range(count))
    return [
        event
        for scenario in scenarios
        for event in scenario.history.events
        if isinstance(event, RowChange)
    ]


def _write_texts(history: History, profile: Profile, layout: Layout) -> list[Written]:
    written = []
    for number, event in enumerate(history.events):
        assert isinstance(event, RowChange)
        assert {column.type.source for column in event.table.columns} == {profile.source}
        for images in event.rows:
            value = repr((event.table.name, images)).encode()
            written.append(Written(Message(layout.topic, 0, None, value, event=number), ()))
    return written


PG = Profile("1", source="postgresql")
NONE = Choices("toy", {"1": PG})
PG_TOY = Format(
    "toy",
    "Toy",
    "postgresql",
    (PG,),
    _write_texts,
    (),
    "none",
    lambda _profile, _database: (),
    NONE,
)


@pytest.mark.parametrize(
    ("fmt", "of"), [(TICDC, mysql), (PG_TOY, postgresql)], ids=["mysql", "postgresql"]
)
def test_values_fit_their_types_and_nullability(fmt: Format[Any], of: Any) -> None:
    kinds: Counter[str] = Counter()
    for level in (1, 2):
        for event in events(fmt, fmt.profiles[0], 300, level=level):
            assert event.table.schema == ("public" if of is postgresql else None)
            for name, value in (
                item
                for images in event.rows
                for image in (images.before, images.after)
                for item in (image or {}).items()
            ):
                column = event.table.column(name)
                assert of.fits(column.type, value), (column, value)
                assert value is not None or column.nullable
                kinds[column.type.name] += 1
    assert set(kinds) == {kind.name for kind in of.TYPES.values()}


def test_postgresql_is_loaded_as_its_writer_writes() -> None:
    scenario = bulk.load_scenario(PG_TOY, PG, 1, 5)
    (event,) = scenario.history.events
    assert isinstance(event, RowChange)
    assert event.table == orders.load_table("postgresql") != orders.load_table()
    for images in event.rows:
        for row in filter(None, (images.before, images.after)):
            assert all(
                postgresql.fits(column.type, row[column.name]) for column in event.table.columns
            )
    messages = list(bulk.messages(PG_TOY, PG, 1, 0, 20))
    assert messages == [
        w.message
        for n in range(20)
        for w in PG_TOY.write(bulk.load_scenario(PG_TOY, PG, 1, n).history, PG, Layout())
    ]


def test_histories_are_consistent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "STATEMENTS", 5)
    for i in range(300):
        rows: list[Any] = []
        keys: set[Any] = set()
        for event in bulk.scenario(TICDC, TICDC.profiles[0], 7, i).history.events:
            assert isinstance(event, RowChange)
            key = event.table.handle_key
            # A statement changes a row once.
            changed = [images.before for images in event.rows if images.before is not None]
            changed_keys = [tuple(row[name] for name in key) for row in changed]
            assert not key or len(set(changed_keys)) == len(changed_keys)
            for images in event.rows:
                if images.before is not None and images.before in rows:
                    rows.remove(images.before)
                for image in (images.before, images.after):
                    assert image is None or image.keys() == {c.name for c in event.table.columns}
                if images.after is not None:
                    rows.append(images.after)
                    where = tuple(images.after[name] for name in key)
                    assert not key or where not in keys or images.before is not None
                    keys.add(where)
                assert (images.before is None) == (event.op is Op.INSERT)
                assert (images.after is None) == (event.op is Op.DELETE)


def test_level_one_tables_are_never_shared_and_level_two_uses_the_pool() -> None:
    tables = [{(e.table.database, e.table.name) for e in events(TICDC, TICDC.profiles[0], 40)}]
    assert len(tables[0]) == 40
    assert {e.table.database for e in events(TICDC, TICDC.profiles[0], 40, level=2)} == {"pool"}


def test_a_scenario_is_the_same_whoever_makes_it() -> None:
    profile = TICDC.profiles[3]
    alone = bulk.scenario(TICDC, profile, 5, 9)
    random.seed(1)
    faker.Faker.seed(3)
    assert [bulk.scenario(TICDC, profile, 5, i) for i in range(10)][9] == alone
    assert bulk.scenario(TICDC, profile, 6, 9).history != alone.history
    assert bulk.scenario(TICDC, TICDC.profiles[4], 5, 9).history != alone.history
    cases = list(bulk.cases(TICDC, profile, 5, 10))
    assert list(bulk.cases(TICDC, profile, 5, 3)) == cases[:3]
    assert [case.level for case in cases] == [1, 1, 1, 2, 1, 1, 1, 2, 1, 1]
    assert cases[9].id == "ticdc-canal-json/v6.5.11/bulk/5/9"


def test_shared_random_state_is_left_alone() -> None:
    random.seed(11)
    before = random.getstate()
    list(bulk.cases(TICDC, TICDC.profiles[0], 1, 5))
    list(bulk.messages(TICDC, TICDC.profiles[0], 1, 0, 10))
    assert random.getstate() == before


def test_the_pools_are_what_faker_makes() -> None:
    assert {name: len(set(texts)) for name, texts in pools.pools().items()} == dict.fromkeys(
        pools.KINDS, pools.SIZE
    )
    built = pools.build()
    if built["faker"] != json.loads(pools.FILE.read_text("utf-8"))["faker"]:
        pytest.skip("another release of Faker made the pools")
    assert json.loads(pools.FILE.read_text("utf-8")) == built


def test_load_is_addressed_by_position() -> None:
    fmt, profile = TICDC, TICDC.profiles[0]
    whole = list(bulk.messages(fmt, profile, 3, 0, 600))
    assert list(bulk.messages(fmt, profile, 3, 250, 300)) == whole[250:550]
    assert list(islice(bulk.messages(fmt, profile, 3, 590), 10)) == whole[590:]
    assert list(bulk.messages(fmt, profile, 3, 5, 0)) == []
    assert list(bulk.messages(fmt, profile, 4, 0, 600)) != whole


def test_negative_positions_are_refused() -> None:
    for start, count in ((-1, 5), (0, -1)):
        with pytest.raises(UsageError):
            bulk.messages(TICDC, TICDC.profiles[0], 1, start, count)
    with pytest.raises(UsageError):
        bulk.load_scenario(TICDC, TICDC.profiles[0], 1, -1)


def test_load_has_every_op_null_and_many_keys() -> None:
    units = [
        bulk.load_scenario(TICDC, TICDC.profiles[0], 1, n).history.events[0] for n in range(600)
    ]
    changes = [event for event in units if isinstance(event, RowChange)]
    assert {event.op for event in changes} == {Op.INSERT, Op.UPDATE, Op.DELETE}
    rows = [event.rows[0].after or event.rows[0].before or {} for event in changes]
    assert None in {row["note"] for row in rows}
    assert len({row["id"] for row in rows}) > 500
    for event in changes:
        before, after = event.rows[0].before, event.rows[0].after
        if before and after:
            assert {name for name in before if before[name] != after[name]} == {
                "status",
                "quantity",
                "amount",
            }


@dataclass(frozen=True, slots=True)
class Toy(Profile):
    """A profile of a format made up here; `trick` is what its writer does that templates must
    notice.
    """

    trick: str = ""


def toy_text(name: str, value: Value) -> str | None:
    if name == "created_at":
        assert isinstance(value, int)
        return mysql.datetime_text(value, 3)
    return None if value is None else str(value)


def toy_write(history: History, profile: Toy, layout: Layout) -> list[Written]:
    written = []
    for number, event in enumerate(history.events):
        assert isinstance(event, RowChange)
        for images in event.rows:
            body: dict[str, Any] = {"op": event.op, "at": event.at.ms, "percent": "100%"}
            for side, image in (("before", images.before), ("after", images.after)):
                body[side] = (
                    None
                    if image is None
                    else {name: toy_text(name, value) for name, value in image.items()}
                )
            partition, stamp = 0, event.at.ms
            row = images.after or images.before or {}
            match profile.trick:
                case "length":
                    body["length"] = len(str(row["address"]))
                case "hash":
                    partition = int(str(row["id"])) % layout.partitions
                case "large":
                    body["address"] = str(row["address"]) if len(str(row["address"])) > 60 else ""
                case "twice":
                    written.append(Written(Message(layout.topic, 0, None, b"x"), ()))
                case "clock":
                    body["clock"] = "odd" if event.at.ms % 2 else "even"
                case "null":
                    body["has_note"] = row["note"] is not None
            value = json.dumps(body, ensure_ascii=False).encode()
            message = Message(layout.topic, partition, b"k", value, (("h", b"v"),), stamp, number)
            written.append(Written(message, ()))
    return written


TOY: Format[Toy] = replace(
    TICDC,
    name="toy",
    profiles=(Toy("1", deployment=Deployment()),),
    write=toy_write,
    scenarios=lambda _profile, _database: (),
)


@pytest.mark.parametrize(
    ("trick", "learned"),
    [
        ("", True),
        ("hash", True),
        ("length", False),
        ("large", False),
        ("twice", True),
        ("clock", False),
        ("null", True),
    ],
)
def test_what_templates_cannot_follow_the_writer_writes(trick: str, learned: bool) -> None:
    profile = Toy("1", trick=trick)
    assert (load.why_not_learned(TOY, profile) is None) is learned
    messages = list(bulk.messages(TOY, profile, 3, 0, 100))
    histories = [bulk.load_scenario(TOY, profile, 3, n).history for n in range(100)]
    expected = [
        written.message
        for history in histories
        for written in toy_write(history, profile, Layout())
    ]
    assert messages == expected
