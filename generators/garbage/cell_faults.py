"""Cells that are no value of their column, each with what a decoder owes for the message: a cell
fault puts into one column of a valid message what its type cannot hold.
"""

from __future__ import annotations

import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Final, NamedTuple

from generators.errors import Refused
from generators.garbage.faults import CORRUPT_ROW
from generators.model import (
    Json,
    Kind,
    Logical,
    Scenario,
    SourceType,
    State,
    Table,
    Value,
    Written,
)
from generators.sources import boundaries, databases, mysql
from generators.sources.boundaries import BOUNDARY

_QUOTED_NUMBER: Final = re.compile(r'"(-?\d+(?:\.\d+)?(?:e\d+)?)"')
"""A JSON string that spells a number; its group is the number."""


@dataclass(frozen=True, slots=True)
class CellFault:
    """A wire form that a column's type cannot hold.

    `column` is one of `boundaries.every_type`, `value` what the INSERT puts there, `written_form`
    the JSON that the writer gives that value, quotes included ("" is what stands there), and
    `spoiled_form` the JSON that replaces it; in a binary format both are bytes, lengths and branch
    included. `number` is the JSON that replaces a number, where that is another; `kept_value` is
    the value of `spoiled_form`, if the type that the message declares can hold it: a row with just
    that value loses nothing. `edit` puts `spoiled_form` into a value whose lengths depend on it.
    """

    name: str
    column: str
    value: Value
    written_form: str | bytes
    spoiled_form: str | bytes
    kept_value: Value | None = None
    number: str = ""
    edit: Callable[[bytes], bytes | None] | None = None


def _texts(name: str, column: str, value: Value, written: str, spoiled: str) -> CellFault:
    """The cell fault of a format whose cells are texts: the JSON string `written`, which the writer
    gives the value, becomes the JSON string `spoiled`.
    """
    return CellFault(name, column, value, json.dumps(written), json.dumps(spoiled))


CELL_FAULTS: Final[tuple[CellFault, ...]] = (
    _texts("cell-int", "c_int", 1234567891, "1234567891", "12x4"),
    _texts(
        "cell-bigint-over",
        "c_bigint",
        1234567890123456789,
        "1234567890123456789",
        "9223372036854775808",
    ),
    _texts(
        "cell-unsigned-bigint-negative",
        "c_unsigned_bigint",
        12345678901234567891,
        "12345678901234567891",
        "-1",
    ),
    _texts(
        "cell-unsigned-bigint-over",
        "c_unsigned_bigint",
        12345678901234567892,
        "12345678901234567892",
        str(1 << 64),
    ),
    _texts(
        "cell-decimal-digits", "c_decimal_10_2", Decimal("7654321.25"), "7654321.25", "123456789.25"
    ),
    _texts(
        "cell-decimal-scale", "c_decimal_10_2", Decimal("7654321.75"), "7654321.75", "7654321.755"
    ),
    _texts("cell-float", "c_float", 12345.5, "12345.5", "1.2.3"),
    _texts("cell-double", "c_double", 54321.25, "54321.25", "5432x"),
    _texts("cell-bit", "c_bit_8", 173, "173", "256"),
    _texts("cell-date", "c_date", date(2021, 7, 19), "2021-07-19", "2021-13-45"),
    _texts(
        "cell-datetime",
        "c_datetime_0",
        mysql.wall("2021-07-19 11:12:13"),
        "2021-07-19 11:12:13",
        "2021-07-19 25:61:61",
    ),
    _texts(
        "cell-time", "c_time_0", (11 * 3600 + 12 * 60 + 13) * mysql.MICROS, "11:12:13", "99:99:99"
    ),
    _texts("cell-year", "c_year", 2019, "2019", "20x4"),
    _texts("cell-set", "c_set_64", 4886718345, "4886718345", "48x6"),
)
"""The cell faults of formats that write values as MySQL's texts in JSON strings, or numbers as JSON
numbers. The values' texts occur nowhere else in a message, and are the same in every release and
time zone.
"""


class Way(enum.StrEnum):
    """A way in which a cell is no value of its column, whatever the type: LETTERS that spell no
    value, the EMPTY text, a value OUTSIDE of the type's range, an object in the place of a scalar
    (SHAPE).
    """

    LETTERS = "letters"
    EMPTY = "empty"
    OUTSIDE = "outside"
    SHAPE = "shape"


class Sample(NamedTuple):
    """Of a kind of types: a column of it in MySQL and one in PostgreSQL ("" if that has none), a
    value of it that nothing else in a message has, and a text that is spelled as such values are
    and that the type does not have (`outside`; "" if any text fits).
    """

    mysql_column: str
    postgresql_column: str
    value: Value
    outside: str


SAMPLES: Final[Mapping[Logical, Sample]] = {
    Logical.INT: Sample("c_int", "c_integer", 1234567895, "2147483648"),
    Logical.DECIMAL: Sample(
        "c_decimal_10_2", "c_numeric_10_2", Decimal("7654321.35"), "123456789.35"
    ),
    Logical.FLOAT: Sample("c_float", "c_real", 23456.5, "1e39"),
    Logical.DOUBLE: Sample("c_double", "c_double_precision", 65432.25, "1e309"),
    Logical.BIT: Sample("c_bit_8", "c_boolean", 187, "256"),
    Logical.BINARY: Sample("c_varbinary", "c_bytea", b"unfit bytes", ""),
    Logical.DATE: Sample("c_date", "c_date", date(2021, 7, 18), "2021-13-45"),
    Logical.DATETIME: Sample(
        "c_datetime_0",
        "c_timestamp_0",
        mysql.wall("2021-07-18 10:11:14"),
        "2021-07-18 25:61:61",
    ),
    Logical.TIMESTAMP: Sample(
        "c_timestamp_0",
        "c_timestamptz_0",
        mysql.wall("2021-07-18 10:11:15"),
        "2021-07-18 25:61:61",
    ),
    Logical.TIME: Sample(
        "c_time_0", "c_time_0", (10 * 3600 + 11 * 60 + 16) * mysql.MICROS, "99:99:99"
    ),
    Logical.YEAR: Sample("c_year", "", 2017, "9999"),
    Logical.ENUM: Sample("c_enum", "", 3, "77"),
    Logical.SET: Sample("c_set_64", "", 4886718346, str(1 << 64)),
    Logical.JSON: Sample("c_json", "c_json", Json({"unfit": "cell"}), ""),
}
"""A sample of each kind of types in which a cell can be unfit. Texts are left out: any text fits a
column of texts.
"""

SQLSERVER_COLUMNS: Final[Mapping[Logical, str]] = {
    Logical.INT: "c_int",
    Logical.DECIMAL: "c_decimal_10_2",
    Logical.FLOAT: "c_real",
    Logical.DOUBLE: "c_float",
    Logical.BIT: "c_bit",
    Logical.BINARY: "c_varbinary",
    Logical.DATE: "c_date",
    Logical.DATETIME: "c_datetime2_0",
    Logical.TIMESTAMP: "c_datetimeoffset_0",
    Logical.TIME: "c_time_0",
}
"""A column in SQL Server of each kind of types that it has."""

ORACLE_COLUMNS: Final[Mapping[Logical, str]] = {
    Logical.INT: "c_number_9",
    Logical.DECIMAL: "c_number_10_2",
    Logical.FLOAT: "c_binary_float",
    Logical.DOUBLE: "c_binary_double",
    Logical.BINARY: "c_raw",
    Logical.DATETIME: "c_date",
    Logical.TIMESTAMP: "c_timestamptz_0",
}
"""A column in Oracle of each kind of types that it has. Its integers have nine digits, fewer than
32 bits hold.
"""

NARROW_VALUES: Final[Mapping[str, Value]] = {
    "c_boolean": 1,
    "c_bit": 1,
    "c_number_9": 987_654_321,
}
"""Of each column that is too narrow for its kind's value in SAMPLES, the value that it has instead."""

FITS: Final[Mapping[str, str]] = {
    "binary/outside": "any bytes fit",
    "json/outside": "any document fits",
    "json/shape": "an object is a document",
    "json/empty": (
        "MySQL may log a document of no bytes, and Canal writes the empty text of it"
        " (canal#json-empty)"
    ),
    "binary/empty": "the empty text is no bytes",
    "enum/empty": "the empty text is MySQL's value of invalid input",
    "set/empty": "the empty text is the empty set",
}
"""The cells that fit nevertheless, in every format: `LOGICAL/WAY` (a kind of types and a `Way`),
and why.
"""

LABELS: Final = {
    f"{logical}/{way}": "a decoder may pass labels on" for logical in ("enum", "set") for way in Way
}
"""The cells that fit in formats which write ENUM and SET as their labels: `LOGICAL/WAY`, and why.
"""
_UNFIT_JSON: Final = {Way.LETTERS: '"?€"', Way.EMPTY: '""', Way.SHAPE: '{"x":"y"}'}
"""The JSON of a cell that no type can hold in that way; what lies OUTSIDE is another text for each
type (`Sample.outside`).
"""
_NO_NUMBER: Final = str(10**20)
"""A number that 64 bits do not hold. It replaces a date or time that a message writes as a number.
"""


class UnfitCell(NamedTuple):
    """A kind of types, a way in which a cell is no value of such a type, a column of that kind, and
    the value that the INSERT of its row has.
    """

    logical: Logical
    way: Way
    column: str
    value: Value


def matrix(source: str, fits: Mapping[str, str]) -> Iterator[UnfitCell]:
    """Every kind of types with every way in which a cell is no value of such a type. Left out are the
    combinations `LOGICAL/WAY` of FITS and `fits`, whose cells a decoder may well read, and kinds
    for which the source has no column.
    """
    for logical, sample in SAMPLES.items():
        column = {
            "mysql": sample.mysql_column,
            "postgresql": sample.postgresql_column,
            "sqlserver": SQLSERVER_COLUMNS.get(logical, ""),
            "oracle": ORACLE_COLUMNS.get(logical, ""),
        }.get(source, "")
        for way in Way:
            if column and f"{logical}/{way}" not in {**FITS, **fits}:
                narrow_value = NARROW_VALUES.get(column, sample.value)
                yield UnfitCell(logical, way, column, narrow_value)


def unfit_cells(source: str, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """The cell faults of a JSON format: for each combination of `matrix` the JSON text that
    replaces the cell. `fits` are combinations `LOGICAL/WAY` that the format can read, with the
    reason.
    """
    for logical, way, column, value in matrix(source, fits):
        if way is Way.OUTSIDE:
            unfit_value, number = json.dumps(SAMPLES[logical].outside), _NO_NUMBER
        else:
            unfit_value, number = _UNFIT_JSON[way], ""
        yield CellFault(f"cell-{logical}-{way}", column, value, "", unfit_value, number=number)


_OUTSIDE_DOMAIN: Final = frozenset(
    {
        *(
            "cell-bit",
            "cell-time",
            "cell-unsigned-bigint-negative",
            "cell-unsigned-bigint-over",
            "cell-unsigned-int-negative",
        ),
        *(f"cell-{logical}-outside" for logical in ("bit", "year", "enum", "set")),
        *(f"cell-{logical}-{way}" for logical in ("time", "json") for way in Way),
    }
)
"""The cell faults whose value no column of the source holds, but the default Spark type does:
decimal(20,0), bigint, string.
"""


def outside_domain(fault: str) -> bool:
    """Whether the column's default Spark type can hold the value that the cell fault of this name
    puts there, though no column of the source has such a value.
    """
    return fault in _OUTSIDE_DOMAIN


def cell_fault(written: Written, fault: CellFault) -> Written:
    """The message with one cell's `fault.written_form` replaced by `fault.spoiled_form`. A decoder
    with typed rows (level two) owes one CORRUPT row for it.

    If `written_form` is text and not in the message, the writer spells the value otherwise (a
    number, say): the text of the cell of `fault.column` is replaced instead. Raises Refused unless
    what is replaced occurs exactly once.
    """
    return Written(replace(written.message, value=_spoil_cell(written, fault)), (CORRUPT_ROW,))


def cell_text(written: Written, fault: CellFault) -> Written:
    """The message with one cell spoiled, as a decoder without types (level one) reads it: it may
    return the text that stands in the cell, or one CORRUPT row. Where the cell is an object, or a
    number that no double holds, any text is right, because JSON readers differ there.

    Raises Refused unless the text to be replaced occurs exactly once.
    """
    value = _spoil_cell(written, fault)
    spoiled_json = json.loads(_as_written(written, fault).spoiled_json)
    changes = []
    for change in written.changes:
        cells = dict(change.after or {})
        cell = cells[fault.column]
        if isinstance(spoiled_json, dict) or (
            isinstance(spoiled_json, float) and math.isinf(spoiled_json)
        ):
            why = "an object, or a number that no double holds, in the place of a text"
            cells[fault.column] = replace(cell, state=State.ANY, value=None, text=None, reason=why)
        else:
            wire_text = spoiled_json if isinstance(spoiled_json, str) else json.dumps(spoiled_json)
            cells[fault.column] = replace(
                cell,
                state=State.VALUE,
                text=wire_text,
                json=not isinstance(spoiled_json, str),
                cls="",
            )
        changes.append(replace(change, after=cells, accept=(*change.accept, (Kind.CORRUPT, None))))
    return Written(replace(written.message, value=value), tuple(changes))


def _spoil_cell(written: Written, fault: CellFault) -> bytes:
    """The message's value with one cell replaced by one that its type cannot hold. Raises Refused
    unless the cell stands there once.
    """
    value = written.message.value or b""
    if fault.edit is not None:
        edited = fault.edit(value)
        if edited is None or edited == value:
            raise Refused(f"fault {fault.name}: no cell of {fault.column} in the value {value!r}")
        return edited
    written_json, spoiled_json = (
        message_text if isinstance(message_text, bytes) else message_text.encode()
        for message_text in (fault.written_form, fault.spoiled_form)
    )
    if isinstance(fault.written_form, str) and (not written_json or written_json not in value):
        written_json, spoiled_json = (
            message_text.encode() for message_text in _as_written(written, fault)
        )
        # A cell is the member of its column, or the member v of an object there.
        members = re.findall(
            rb'"%b":(?:\{[^{}]*"v":)?(?=%b)'
            % (re.escape(fault.column.encode()), re.escape(written_json)),
            value,
        )
        if len(members) == 1:
            written_json, spoiled_json = members[0] + written_json, members[0] + spoiled_json
    if value.count(written_json) != 1:
        raise Refused(
            f"fault {fault.name}: {written_json!r} occurs {value.count(written_json)} times in the value {value!r}"
        )
    return value.replace(written_json, spoiled_json)


class _SpoiledCell(NamedTuple):
    """The JSON of a cell as it stands in a message, and the JSON that a fault puts in its place."""

    written_json: str
    spoiled_json: str


def _as_written(written: Written, fault: CellFault) -> _SpoiledCell:
    """How the message spells the cell that holds the fault's value, and what the fault puts there.
    If the message has a number there, the replacement is a number, too, where the fault has one.
    """
    written_json, spoiled_json = str(fault.written_form), str(fault.spoiled_form)
    for change in written.changes:
        cell = (change.image("after", 2) or {}).get(fault.column)
        if cell is not None and cell.text is not None and cell.value == fault.value:
            if not cell.json:
                return _SpoiledCell(json.dumps(cell.text, ensure_ascii=False), spoiled_json)
            if quoted_number := _QUOTED_NUMBER.fullmatch(spoiled_json):
                return _SpoiledCell(cell.text, quoted_number[1])
            return _SpoiledCell(cell.text, fault.number or spoiled_json)
    return _SpoiledCell(written_json, spoiled_json)


def edited_cells(faults: Iterable[CellFault]) -> tuple[CellFault, ...]:
    """Of a format's cell faults those that a function of their own puts into the message (`edit`),
    and whose name is that of a logical type and a way, as `cell-int-empty`.
    """
    names = {f"cell-{logical}-{way}" for logical, way in product(Logical, Way)}
    return tuple(fault for fault in faults if fault.edit is not None and fault.name in names)


def cell_fault_scenarios(
    supports: Callable[[SourceType], bool],
    faults: tuple[CellFault, ...] = CELL_FAULTS,
    source: str = "mysql",
) -> Iterator[tuple[CellFault, Scenario]]:
    """Each cell fault (an unfit form of a cell) whose column is of a type that the format supports,
    with its scenario: an INSERT for decoders of typed rows (level two), NULL in all other columns
    but the id. The fault is applied to the message of that INSERT later. Raises UnknownName for an
    unknown source.
    """
    table = boundaries.every_type(supports, source)
    cells_without_fault: dict[str, Value] = dict.fromkeys(column.name for column in table.columns)
    cells_without_fault["id"] = 1
    for fault in faults:
        if fault.column in cells_without_fault:
            event = boundaries.insert(table, cells_without_fault | {fault.column: fault.value})
            tags = BOUNDARY | {
                "fault:domain" if outside_domain(fault.name) else f"fault:{fault.name}"
            }
            yield fault, boundaries.scenario(f"fault/{fault.name}", event, level=2, tags=tags)


def cell_text_scenarios(
    database: str,
    supports: Callable[[SourceType], bool],
    source: str = "mysql",
    faults: Iterable[CellFault] = (),
) -> Iterator[tuple[CellFault, Scenario]]:
    """Each unfit cell of `faults`, or without them of `unfit_cells`, with a level-one INSERT
    (values as texts) into a table of the cell's column: the fault is applied to the message of the
    INSERT.
    """
    columns = {column.name: column for column in boundaries.every_type(supports, source).columns}
    for fault in tuple(faults) or unfit_cells(source, {}):
        if fault.column in columns:
            name = f"fault/text/{fault.name}"
            kinds = (boundaries.id_column(source), columns[fault.column])
            table = Table(
                database,
                boundaries.neutral(name),
                kinds,
                ("id",),
                schema=databases.source(source).schema,
            )
            event = boundaries.insert(table, {"id": 1, fault.column: fault.value})
            yield fault, boundaries.scenario(name, event, tags=BOUNDARY | {"unfit"})
