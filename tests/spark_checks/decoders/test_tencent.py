"""The reference decoder of Tencent DTS's FlatRecord in JSON."""

import datetime as dt
import json
from decimal import Decimal

from decoded import MISFIT, assert_corrupt, assert_typed, by_offset, instant
from grouped import cells
from literals import literal

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import tencent_dts_json as tencent

UPDATE = literal("tencent-dts-update.json")
"""An illustrative record, made from the field table of the vendor's page."""


def record(
    kind: object, columns: object = None, old: object = None, new: object = None, **fields: object
) -> str:
    """A FlatRecord of `db`.`t`; `columns` are names, or whatever else; `fields` replace or add
    members.
    """
    if isinstance(columns, str):
        columns = [
            {"name": n, "dataTypeNumber": 3, "isKey": n == "id", "originalType": f"type of {n}"}
            for n in columns.split()
        ]
    common: dict[str, object] = {
        "id": 1,
        "version": 1,
        "messageType": kind,
        "position": "2196@4",
        "timestamp": 1729744496,
    }
    common |= {
        "schemaName": "db",
        "tableName": "t",
        "columns": columns,
        "oldColumns": old,
        "newColumns": new,
    }
    return json.dumps(common | fields, ensure_ascii=False)


def without(text: str, *names: str) -> str:
    """The record without some members."""
    return json.dumps({k: v for k, v in json.loads(text).items() if k not in names})


SMALL = Table(
    "db", "t", (Column("id", mysql.integer("int")), Column("b", mysql.binary("blob"))), ("id",)
)


def test_the_references_example(records):
    (change,) = by_offset(tencent.decode(records(UPDATE))).values()
    (row,) = by_offset(tencent.decode_rows(records(UPDATE), SMALL)).values()
    assert (change.kind, change.op, change.database, change.table, change["keys"]) == (
        "ROW",
        "UPDATE",
        "db",
        "t",
        ["id"],
    )
    assert (change.before, change.after) == ({"id": "1", "b": None}, {"id": "1", "b": "0x0fff"})
    assert (change.position, change.types) == ("2196@4", {"id": "int(11)", "b": "blob"})
    assert change.commit_time.astimezone(dt.UTC) == dt.datetime(
        2024, 10, 24, 4, 34, 56, tzinfo=dt.UTC
    )
    assert (row.op, tuple(row.before), tuple(row.after)) == ("UPDATE", (1, None), (1, b"\x0f\xff"))


def test_kinds(records):
    """Members that do not apply may be null or absent (tencent#absent-fields)."""
    none = ("schemaName", "tableName", "columns", "oldColumns", "newColumns")
    kinds = {
        record("DDL", sql="alter table t add c int", executionTime=1): "DDL",
        record("BEGIN", gtid="c7c98333-6006-11ed-bfc9-b8cef6e1a231:9"): "TRANSACTION",
        record("COMMIT", transactionId=17): "TRANSACTION",
        record("ROLLBACK"): "TRANSACTION",
        record("HEARTBEAT", heartbeatTimestamp=1729744497): "HEARTBEAT",
        record("CHECKPOINT", syncedGtid="c7c98333-6006-11ed-bfc9-b8cef6e1a231:1-13"): "CONTROL",
        record("STATEMENT", sql="update t set a = 1"): "CONTROL",
        record("INIT_INSERT", "id", None, ["1"]): "CONTROL",
    }
    values = [*kinds, *(without(text, *none) for text in kinds)]
    out = by_offset(tencent.decode(records(*values)))
    assert [r.kind for r in out.values()] == [*kinds.values()] * 2
    assert all(
        r.op is None and r.before is None and r.after is None and r.types is None
        for r in out.values()
    )
    assert [r.sql for r in out.values()] == [
        *("alter table t add c int", *[None] * 5, "update t set a = 1", None)
    ] * 2
    assert {r.position for r in out.values()} == {"2196@4"}
    assert (out[0].database, out[0].table, out[8].database, out[8].table) == ("db", "t", None, None)
    rows = by_offset(tencent.decode_rows(records(*values), SMALL))
    assert rows == {}


def test_values_belong_to_columns_by_position(records):
    """A short list ends in NULLs; the ops that have no image before or after have none, whatever
    stands there.
    """
    vectors = (
        *(record("INSERT", "id b", None, ["1", "x"]), record("INSERT", "b id", None, [None, "2"])),
        *(record("INSERT", "id b c", None, ["1"]), record("INSERT", "id b", None, [])),
        *(record("UPDATE", "id b", ["1"], ["1", "x"]), record("UPDATE", "id b", None, ["1", "x"])),
        *(
            record("DELETE", "id b", ["1", None], None),
            record("DELETE", "id b", ["1", "x"], ["2", "y"]),
        ),
        *(
            record("INSERT", "id b", ["2", "y"], ["1", "x"]),
            without(record("INSERT", "id", None, ["1"]), "oldColumns", "sql"),
        ),
        *(
            without(record("DELETE", "id", ["1"], None), "newColumns"),
            record("INSERT", "id b", None, [5, 1729744496123]),
        ),
    )
    out = by_offset(tencent.decode(records(*vectors)))
    assert [(r.op, r.before, r.after) for r in out.values()] == [
        *(("INSERT", None, {"id": "1", "b": "x"}), ("INSERT", None, {"b": None, "id": "2"})),
        *(
            ("INSERT", None, {"id": "1", "b": None, "c": None}),
            ("INSERT", None, {"id": None, "b": None}),
        ),
        *(
            ("UPDATE", {"id": "1", "b": None}, {"id": "1", "b": "x"}),
            ("UPDATE", None, {"id": "1", "b": "x"}),
        ),
        *(("DELETE", {"id": "1", "b": None}, None), ("DELETE", {"id": "1", "b": "x"}, None)),
        *(
            ("INSERT", None, {"id": "1", "b": "x"}),
            ("INSERT", None, {"id": "1"}),
            ("DELETE", {"id": "1"}, None),
        ),
        ("INSERT", None, {"id": "5", "b": "1729744496123"}),
    ]
    assert out[2].types == {"id": "type of id", "b": "type of b", "c": "type of c"}


def test_keys_position_and_time(records):
    """JSON types are nowhere stated (tencent#json-shapes), and isKey may be left out when it is
    false.
    """
    bare = [{"name": "a", "isKey": True}, {"name": "b"}, {"name": "c", "isKey": "TRUE"}]
    values = (
        *(
            record("INSERT", bare, None, ["1", "2", "3"]),
            record("INSERT", bare, None, ["1", "2", "3"], pkNames=["c", "a"]),
        ),
        *(
            record("INSERT", "x y", None, ["1", "2"]),
            record("INSERT", "id", None, ["1"], timestamp="1729744496", position=2196),
        ),
        record("INSERT", "id", None, ["1"], timestamp=None, position=None),
        record("INSERT", "id", None, ["1"], timestamp=10**15),
        record("HEARTBEAT", timestamp=None, heartbeatTimestamp=1729744497),
    )
    out = by_offset(tencent.decode(records(*values)))
    assert [r["keys"] for r in out.values()] == [
        ["a", "c"],
        ["c", "a"],
        [],
        ["id"],
        ["id"],
        ["id"],
        None,
    ]
    assert [r.position for r in out.values()] == [*["2196@4"] * 3, "2196", None, *["2196@4"] * 2]
    when = dt.datetime(2024, 10, 24, 4, 34, 56, tzinfo=dt.UTC)
    assert [instant(r.commit_time) for r in out.values()] == [*[when] * 4, None, None, None]


GOOD = record("INSERT", "id b", None, ["1", "x"])
UNREADABLE: tuple[str | bytes | None, ...] = (
    *(None, "null"),
    *(
        record("insert", "id", None, ["1"]),
        record("", "id", None, ["1"]),
        record(None),
        record(5),
        record({"INSERT": 1}),
    ),
    *(
        record("INSERT", None, None, ["1"]),
        record("INSERT", "id", None, None),
        record("INSERT", "id", ["1"], None),
    ),
    *(
        record("UPDATE", "id", ["1"], None),
        record("DELETE", "id", None, ["1"]),
        record("INSERT", "id", None, "1"),
    ),
    *(record("INSERT", "id", None, {"id": "1"}), record("INSERT", "id", None, ["1", "2"])),
    *(record("UPDATE", "id", ["1", "2"], ["1"]), record("INSERT", "id id", None, ["1", "2"])),
    *(record("INSERT", [{"isKey": True}], None, ["1"]), record("INSERT", [None], None, ["1"])),
    *(record("INSERT", ["id"], None, ["1"]), record("INSERT", "id", None, ["1"], schemaName=None)),
    *(
        record("INSERT", "id", None, ["1"], tableName=None),
        record("INSERT", "id", None, ["1"], pkNames="id"),
        record("DDL"),
    ),
)


def test_an_unreadable_message_is_one_corrupt_row_at_both_levels(records):
    for frame in (
        tencent.decode(records(*UNREADABLE)),
        tencent.decode_rows(records(*UNREADABLE), SMALL),
    ):
        assert_corrupt(frame, len(UNREADABLE))


def test_a_broken_time_or_a_member_twice_never_raises_and_never_vanishes(records):
    values = (
        GOOD.replace('"messageType": "INSERT"', '"messageType": "INSERT", "messageType": null'),
        GOOD.replace("1729744496", "1729744496.5"),
    )
    assert set(by_offset(tencent.decode(records(*values)))) == {0, 1}
    assert set(by_offset(tencent.decode_rows(records(*values), SMALL))) == {0, 1}


NOON = dt.datetime(2024, 10, 24, 12, 34, 56, tzinfo=dt.UTC)
CELLS = cells(
    # What has no form of its own here is typed by the function that types Canal's, with its cells.
    (mysql.text("varchar"), ("0x41", "0x41"), ("null", "null")),
    (
        mysql.binary("blob"),
        ("0x0fff", b"\x0f\xff"),
        ("0X0FFF", b"\x0f\xff"),
        ("0x" + bytes(range(256)).hex(), bytes(range(256))),
    ),
    (
        mysql.binary("blob"),
        ("0x", b""),
        ("", b""),
        ("0xfff", MISFIT),
    ),  # tencent#binary: the page's own
    (mysql.binary("blob"), ("0xzz", MISFIT), ("0fff", MISFIT)),
    (
        mysql.temporal("date"),
        ("2024-10-24", dt.date(2024, 10, 24)),
        ("2024-24-10", MISFIT),
    ),  # tencent#day-first
    (
        mysql.temporal("datetime", 6),
        ("2024-10-24 12:34:56.123456", dt.datetime(2024, 10, 24, 12, 34, 56, 123456)),
    ),
    (mysql.temporal("datetime", 6), ("2024-10-24 12:34:56", dt.datetime(2024, 10, 24, 12, 34, 56))),
    (mysql.temporal("datetime"), ("0000-00-00 00:00:00", None)),
    (mysql.temporal("timestamp", 6), ("2024-10-24 20:34:56.123", NOON.replace(microsecond=123000))),
    (
        mysql.temporal("timestamp", 6),
        ("2024-10-24 20:34:56", NOON),
        (1729773296123, NOON.replace(microsecond=123000)),
    ),
    (
        mysql.temporal("timestamp", 6),
        ("1729773296123", NOON.replace(microsecond=123000)),
        ("0000-00-00 00:00:00.000", None),
    ),
    (mysql.temporal("timestamp", 6), (0, None), (-1, MISFIT), (9223372036854775807, MISFIT)),
    (
        mysql.temporal("timestamp", 6),
        ("12", dt.datetime(1970, 1, 1, 0, 0, 0, 12000, dt.UTC)),
        ("17297732961x3", MISFIT),
    ),
    (mysql.temporal("timestamp", 6), ("", MISFIT)),
    (mysql.temporal("time"), ("12:34:56.000000", "12:34:56.000000"), ("99:99:99", MISFIT)),
    (mysql.temporal("time", 6), ("-838:59:58.9", "-838:59:58.9")),
    (
        mysql.enum_of("a", "2", "b"),
        ("b", 3),
        ("2", 2),
        ("3", 3),
        ("", 0),
        ("A", MISFIT),
        ("4", MISFIT),
    ),
    (mysql.enum_of("a", ""), ("", 2)),
    (
        mysql.set_of("a", "b", "c"),
        ("a,c", Decimal(5)),
        ("", Decimal(0)),
        ("6", Decimal(6)),
        ("a,d", MISFIT),
        ("8", MISFIT),
    ),
    (
        mysql.set_of(*(f"m{i}" for i in range(64))),
        (",".join(f"m{i}" for i in range(64)), Decimal(2**64 - 1)),
    ),
)


def test_cells_are_typed_exactly(records, spark):
    deployment = Deployment(time_zone="Asia/Shanghai")
    assert_typed(
        spark,
        records,
        tencent,
        CELLS,
        lambda name, cell: record("DELETE", name, [cell], None),
        deployment,
    )
