"""The named cases and the unfit cells of Huawei CDL's two JSON formats."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Final

from generators.families.cdl.messages import CdlProfile
from generators.garbage.faults import CellFault
from generators.model import Column, History, Instant, Op, Row, RowChange, RowImages, Scenario, Table, Value
from generators.sources import mysql, postgresql
from generators.sources.boundaries import BOUNDARY, neutral

_AT: Final = Instant(1_707_047_996_013, 1)
_ID: Final = Column("id", postgresql.TYPES["integer"], nullable=False)
_PLAIN: Final = (_ID, Column("a", postgresql.TYPES["text"]), Column("n", postgresql.TYPES["bigint"]))
_ROW: Final[Row] = {"id": 1, "a": "x", "n": (1 << 53) + 1}


def scenarios(profile: CdlProfile, database: str) -> Iterator[Scenario]:
    """Every case that only CDL has, with level-one tables in `database`."""
    yield _case("document/insert", _sample(database, 34), {"document"})
    yield _case("snapshot/read", _event(database, "snapshot/read", Op.READ, None, _ROW), {"snapshot"})
    last = _event(database, "snapshot/last", Op.READ, None, _ROW)
    yield _case("snapshot/last", replace(last, rows=(*last.rows, RowImages(None, {**_ROW, "id": 2}))), {"snapshot"})
    yield _case("heartbeat/row", _heartbeat(database), {"heartbeat-row"})
    keyless = _event(database, "keys/none", Op.INSERT, None, _ROW, key=())
    yield _case("keys/none", keyless, {"keys:none"})
    composite = _event(database, "keys/composite", Op.INSERT, None, _ROW, key=("n", "id"))
    yield _case("keys/composite", composite, set())
    for name, op, before, after in (
        ("identity/update", Op.UPDATE, _ROW, {**_ROW, "a": "y"}),
        ("identity/update-key", Op.UPDATE, _ROW, {**_ROW, "id": 2}),
        ("identity/delete", Op.DELETE, _ROW, None),
    ):
        yield _case(name, _event(database, name, op, before, after), {"identity"})
    sequence = Instant(_AT.ms, (1 << 18) - 1)
    exact = replace(_event(database, "position/beyond-double", Op.INSERT, None, _ROW), at=sequence)
    yield _case("position/beyond-double", exact, {"position"})


def _case(name: str, event: RowChange, tags: set[str]) -> Scenario:
    return Scenario(name, History((event,), seed=sum(name.encode())), 1, BOUNDARY | tags)


def _event(database: str, name: str, op: Op, before: Row | None, after: Row | None, key: tuple[str, ...] = ("id",)) -> RowChange:
    table = Table(database, neutral(name), _PLAIN, key, schema="public")
    return RowChange(_AT, table, op, (RowImages(before, after),))


def _sample(database: str, number: int) -> RowChange:
    """The row of the vendor's examples (huawei#examples)."""
    columns = (
        Column("count1", postgresql.TYPES["bigint"]),
        _ID,
        Column("time1", postgresql.TYPES["timestamp-6"]),
        Column("decimalNum", postgresql.TYPES["numeric"]),
    )
    row: dict[str, Value] = {"count1": number - 21, "id": number, "time1": None, "decimalNum": None}
    table = Table(database, "ct_pg2hudi", columns, ("id",), schema="public")
    return RowChange(_AT, table, Op.INSERT, (RowImages(None, row),))


def _heartbeat(database: str) -> RowChange:
    """A row of CDL's own heartbeat table (huawei#heartbeat-table)."""
    columns = (
        Column("cdl_job_id", postgresql.TYPES["bigint"], nullable=False),
        Column("cdl_last_heartbeat", postgresql.TYPES["timestamp-6"]),
    )
    table = Table(database, "cdc_heartbeat", columns, ("cdl_job_id",), schema="cdc_cdl")
    was: dict[str, Value] = {"cdl_job_id": 7, "cdl_last_heartbeat": mysql.wall("2024-02-04 11:59:55.013")}
    now = {**was, "cdl_last_heartbeat": mysql.wall("2024-02-04 12:00:05.013")}
    return RowChange(_AT, table, Op.UPDATE, (RowImages(was, now),))


_FAULTS: Final = (
    CellFault("cell-integer", "c_integer", 1234567891, "1234567891", '"12x4"'),
    CellFault("cell-integer-over", "c_integer", 1234567892, "1234567892", "2147483648"),
    CellFault("cell-smallint-fraction", "c_smallint", 12347, "12347", "12347.5"),
    CellFault("cell-bigint-over", "c_bigint", 1234567890123456789, "1234567890123456789", "9223372036854775808"),
    CellFault("cell-double", "c_double_precision", 54321.25, "54321.25", '"5432x"'),
    CellFault("cell-numeric-digits", "c_numeric_10_2", Decimal("7654321.25"), '"7654321.25"', '"123456789.25"'),
    CellFault("cell-numeric-text", "c_numeric_10_2", Decimal("7654321.75"), '"7654321.75"', '"7654x21.75"'),
    CellFault("cell-bytea", "c_bytea", b"\x00cell\xfffault", '"AGNlbGz/ZmF1bHQ="', '"AGNl!Gz/ZmF1bHQ="'),
    CellFault("cell-date", "c_date", dt.date(2021, 7, 19), "18827", '"2021-13-45"'),
)


def cell_faults(profile: CdlProfile) -> tuple[CellFault, ...]:
    """JSON that a column's type cannot hold."""
    return _FAULTS
