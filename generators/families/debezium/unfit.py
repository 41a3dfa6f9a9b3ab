"""Cells that no column's type can hold, in the forms of Debezium's types, for every format that
writes these.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from generators.families.debezium.values import CellWriter
from generators.families.java_text import two_complement
from generators.garbage.cell_faults import CellFault
from generators.model import Value
from generators.sources import mysql
from generators.sources.boundaries import slug
from generators.sources.databases import source


@dataclass(frozen=True, slots=True)
class _Unfit:
    """A cell that a column's type cannot hold, and the value in whose place it stands in a spoiled
    message. `mysql`, `postgresql` and `sqlserver` name the type of the column in each source, ""
    for none; SQL Server and Oracle mostly have the type of the same kind as PostgreSQL's
    (_SQLSERVER, _ORACLE).

    `unfit_json` is the JSON that the type cannot hold, by the last part of the name of the column's
    Connect schema, or by the schema's type if it has no name. `readable_as` is the value of that
    JSON, if a reader may return it.
    """

    name: str
    mysql: str
    postgresql: str
    value: Value
    unfit_json: Mapping[str, str]
    readable_as: Value | None = None
    sqlserver: str = ""


def _base64(raw: bytes) -> str:
    """The JSON string of bytes in base64."""
    return f'"{base64.b64encode(raw).decode()}"'


_ELEVEN: Final = 12_345_678_925
"""The unscaled number of a decimal(11,2), which has one digit more than the column."""
_SECONDS: Final = (11 * 3600 + 12 * 60 + 13) * mysql.MICROS
_MOMENT: Final = mysql.wall("2021-07-19 11:12:13")

_UNFIT: Final = (
    _Unfit("cell-int", "int", "integer", 1234567891, {"int32": '"12x4"'}),
    _Unfit("cell-int-over", "int", "integer", 1234567892, {"int32": "2147483648"}),
    _Unfit("cell-smallint-over", "smallint", "smallint", 12345, {"int16": "32768"}),
    _Unfit("cell-int-fraction", "int", "integer", 1234567893, {"int32": "1234567893.5"}),
    _Unfit(
        "cell-bigint-over",
        "bigint",
        "bigint",
        1234567890123456789,
        {"int64": "9223372036854775808"},
    ),
    _Unfit(
        "cell-unsigned-bigint-over",
        "unsigned-bigint",
        "",
        1234567890123456788,
        {"int64": str(1 << 64), "Decimal": _base64(two_complement(1 << 64))},
    ),
    _Unfit(
        "cell-unsigned-bigint-negative",
        "unsigned-bigint",
        "",
        1234567890123456787,
        {"Decimal": '"/w=="'},
    ),
    _Unfit(
        "cell-decimal-digits",
        "decimal-10-2",
        "numeric-10-2",
        Decimal("7654321.25"),
        {
            "Decimal": _base64(two_complement(_ELEVEN)),
            "string": '"123456789.25"',
            "double": "123456789.25",
        },
        readable_as=Decimal("123456789.25"),
    ),
    _Unfit(
        "cell-decimal-text",
        "decimal-10-2",
        "numeric-10-2",
        Decimal("7654321.75"),
        {"Decimal": '"7654321.75"', "string": '"7,654,321.75"', "double": '"7654321x"'},
    ),
    _Unfit(
        "cell-decimal-empty",
        "decimal-10-2",
        "numeric-10-2",
        Decimal("7654321.50"),
        {"Decimal": '""', "string": '""'},
    ),
    _Unfit(
        "cell-variable-scale",
        "",
        "numeric",
        Decimal("7654321.625"),
        {"VariableScaleDecimal": '{"scale":3}'},
    ),
    _Unfit("cell-float", "float", "real", 12345.5, {"float": '"1.2.3"', "double": '"1.2.3"'}),
    _Unfit("cell-double", "double", "double-precision", 54321.25, {"double": '"5432x"'}),
    _Unfit("cell-bit", "bit-8", "bit-8", 173, {"Bits": _base64(b"\x00\x01")}),
    _Unfit("cell-bit-base64", "bit-8", "bit-8", 171, {"Bits": '"%%%%"'}),
    _Unfit("cell-bit", "", "", 1, {"boolean": "2"}, sqlserver="bit"),
    _Unfit("cell-boolean", "bit-1", "boolean", 1, {"boolean": '"yes"'}),
    _Unfit(
        "cell-date",
        "date",
        "date",
        date(2021, 7, 19),
        {"Date": '"18827x"', "IsoDate": '"2021-13-45Z"'},
    ),
    _Unfit(
        "cell-datetime",
        "datetime-0",
        "timestamp-0",
        _MOMENT,
        {"Timestamp": '"2021-07-19 25:61:61"', "IsoTimestamp": '"2021-07-19T25:61:61Z"'},
    ),
    _Unfit(
        "cell-timestamp",
        "timestamp-0",
        "timestamptz-0",
        _MOMENT + 1_000_000,
        {"ZonedTimestamp": '"2021-07-19T25:61:61Z"'},
    ),
    _Unfit(
        "cell-time",
        "time-0",
        "time-0",
        _SECONDS,
        {"MicroTime": '"99:99"', "Time": '"99:99"', "IsoTime": '"99:99:99Z"'},
    ),
    _Unfit("cell-year", "year", "", 2019, {"Year": '"20x4"'}),
    _Unfit(
        "cell-binary", "varbinary", "bytea", b"unfit cell", {"bytes": '"%%%%"', "string": '"%%%%"'}
    ),
)


_SQLSERVER: Final = {
    "integer": "int",
    "smallint": "smallint",
    "bigint": "bigint",
    "numeric-10-2": "decimal-10-2",
    "real": "real",
    "double-precision": "float",
    "boolean": "bit",
    "date": "date",
    "timestamp-0": "datetime2-0",
    "timestamptz-0": "datetimeoffset-0",
    "time-0": "time-0",
    "bytea": "varbinary",
}
"""SQL Server's type of the same kind as a type of PostgreSQL."""

_ORACLE: Final = {
    "numeric-10-2": "number-10-2",
    "real": "binary-float",
    "double-precision": "binary-double",
    "timestamp-0": "timestamp-0",
    "timestamptz-0": "timestamptz-0",
    "bytea": "raw",
}
"""Oracle's type of the same kind as a type of PostgreSQL; its integers have digits, not bits."""


def cell_faults(write_cell: CellWriter, source_name: str) -> tuple[CellFault, ...]:
    """The faults of cells (JSON that a column's type cannot hold) of a source's types, in formats
    with Debezium's types. `write_cell` writes the cells. The column's name stands before each piece
    of JSON, which so occurs once in a message.
    """
    faults = []
    for unfit in _UNFIT:
        name = unfit.mysql if source_name == "mysql" else unfit.postgresql
        if source_name == "sqlserver":
            name = unfit.sqlserver or _SQLSERVER.get(unfit.postgresql, "")
        if source_name == "oracle":
            name = _ORACLE.get(unfit.postgresql, "")
        if not name:
            continue
        cell = write_cell(source(source_name).types[name], unfit.value)
        unfit_json = unfit.unfit_json.get(cell.schema.name.rpartition(".")[2] or cell.schema.type)
        if unfit_json is not None:
            member = f'"c_{slug(name)}":'
            faults.append(
                CellFault(
                    unfit.name,
                    f"c_{slug(name)}",
                    unfit.value,
                    member + cell.json,
                    member + unfit_json,
                    unfit.readable_as,
                )
            )
    return tuple(faults)
