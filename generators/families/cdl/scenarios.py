"""The named cases and the unfit cells of Huawei CDL's two JSON formats, and what else their formats
are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Final

from generators.families.cases import OWN, Cases, deleted, read, updated
from generators.families.cdl.messages import CdlProfile, losses, supports
from generators.garbage.cell_faults import CellFault
from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR
from generators.model import Column, Instant, Op, Row, RowChange, Scenario, Table
from generators.profile_tables import read_choices
from generators.sources import mysql, postgresql
from generators.sources.boundaries import change, insert, named
from generators.wire_format import Format, Writer, about

_AT: Final = Instant(1_707_047_996_013, 1)
"""The commit time of these cases' events."""
_ID: Final = Column("id", postgresql.TYPES["integer"], nullable=False)
_PLAIN: Final = (
    _ID,
    Column("a", postgresql.TYPES["text"]),
    Column("n", postgresql.TYPES["bigint"]),
)
_ROW: Final[Row] = {"id": 1, "a": "x", "n": (1 << 53) + 1}


def scenarios(profile: CdlProfile, database: str) -> Iterator[Scenario]:
    """Every named case of CDL's formats alone; level-one tables are in `database`."""
    cases = Cases(database, _PLAIN, schema="public")
    example = Table(database, "ct_pg2hudi", _SAMPLE, ("id",), schema="public")
    example_row: Row = {"count1": 13, "id": 34, "time1": None, "decimalNum": None}
    yield named("document/insert", insert(example, example_row, _AT), tags={"document"})
    yield cases.case("snapshot/read", replace(read(_ROW), at=_AT), tags={"snapshot"})
    yield cases.case(
        "snapshot/last", replace(read(_ROW, {**_ROW, "id": 2}), at=_AT), tags={"snapshot"}
    )
    yield named("heartbeat/row", _heartbeat(database), tags={"heartbeat-row"})
    yield cases.of(key=()).case("keys/none", insert(OWN, _ROW, _AT), tags={"keys:none"})
    yield cases.of(key=("n", "id")).case("keys/composite", insert(OWN, _ROW, _AT))
    for name, event in (
        ("identity/update", updated(_ROW, {"a": "y"})),
        ("identity/update-key", updated(_ROW, {"id": 2})),
        ("identity/delete", deleted(_ROW)),
    ):
        yield cases.case(name, replace(event, at=_AT), tags={"identity"})
    yield cases.case(
        "position/beyond-double",
        insert(OWN, _ROW, Instant(_AT.ms, (1 << 18) - 1)),
        tags={"position"},
    )


_SAMPLE: Final = (
    Column("count1", postgresql.TYPES["bigint"]),
    _ID,
    Column("time1", postgresql.TYPES["timestamp-6"]),
    Column("decimalNum", postgresql.TYPES["numeric"]),
)
"""The columns of the vendor's examples (huawei#examples)."""


def _heartbeat(database: str) -> RowChange:
    """The UPDATE of the one row in CDL's own heartbeat table: CDL sends it as an ordinary row's
    message, which is the heartbeat (huawei#heartbeat-table).
    """
    columns = (
        Column("cdl_job_id", postgresql.TYPES["bigint"], nullable=False),
        Column("cdl_last_heartbeat", postgresql.TYPES["timestamp-6"]),
    )
    table = Table(database, "cdc_heartbeat", columns, ("cdl_job_id",), schema="cdc_cdl")
    was: Row = {"cdl_job_id": 7, "cdl_last_heartbeat": mysql.wall("2024-02-04 11:59:55.013")}
    return change(
        table,
        Op.UPDATE,
        (was, {**was, "cdl_last_heartbeat": mysql.wall("2024-02-04 12:00:05.013")}),
        at=_AT,
    )


_FAULTS: Final = (
    CellFault("cell-integer", "c_integer", 1234567891, "1234567891", '"12x4"'),
    CellFault("cell-integer-over", "c_integer", 1234567892, "1234567892", "2147483648"),
    CellFault("cell-smallint-fraction", "c_smallint", 12347, "12347", "12347.5"),
    CellFault(
        "cell-bigint-over",
        "c_bigint",
        1234567890123456789,
        "1234567890123456789",
        "9223372036854775808",
    ),
    CellFault("cell-double", "c_double_precision", 54321.25, "54321.25", '"5432x"'),
    CellFault(
        "cell-numeric-digits",
        "c_numeric_10_2",
        Decimal("7654321.25"),
        '"7654321.25"',
        '"123456789.25"',
    ),
    CellFault(
        "cell-numeric-text", "c_numeric_10_2", Decimal("7654321.75"), '"7654321.75"', '"7654x21.75"'
    ),
    CellFault(
        "cell-bytea", "c_bytea", b"\x00cell\xfffault", '"AGNlbGz/ZmF1bHQ="', '"AGNl!Gz/ZmF1bHQ="'
    ),
    CellFault("cell-date", "c_date", date(2021, 7, 19), "18827", '"2021-13-45"'),
)


def cell_faults(profile: CdlProfile) -> tuple[CellFault, ...]:
    """The unfit cells that a message can have, each with JSON that the column's type cannot hold;
    the same for every profile.
    """
    return _FAULTS


def format_of(name: str, write: Writer[CdlProfile]) -> Format[CdlProfile]:
    """The format `name` of Huawei CDL, whose messages `write` writes."""
    return Format(
        **about(name, read_choices(name, CdlProfile)),
        write=write,
        scenarios=scenarios,
        supports=supports,
        losses=losses,
        faults=(*FAULTS, SCHEMA_NO_GRAMMAR),
        cell_faults=cell_faults,
    )
