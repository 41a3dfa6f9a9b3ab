"""Reads a decoder's output from Arrow into plain rows for the judge.

Level one keeps images as string maps; level two keeps each cell with the family of its Spark type,
since a type off the closed list is a mismatch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from conformance.judging.compare import Typed
from generators.errors import UsageError
from generators.model import SIDES

Place = tuple[str, int, int]
"""(topic, partition, offset) of a row's message."""

_COMMON: Final = ("topic", "partition", "offset", "row", "kind", "op", "before", "after", "error")
"""Columns that a decoder returns at both levels."""
REQUIRED: Final[Mapping[int, tuple[str, ...]]] = {
    1: (*_COMMON, "database", "table", "keys", "sql"),
    2: _COMMON,
}
"""The columns that a decoder returns at each level."""
ENVELOPE: Final = (
    "database",
    "schema",
    "table",
    "keys",
    "sql",
    "position",
    "commit_time",
    "types",
    "schema_version",
)
"""Envelope columns of level one; one that is not required is judged if the decoder returns it."""


WRONG_CELLS: Final = "wrong_cells"
"""A column of level two with what is wrong with cells that have no form of their type, by
`before.COLUMN` or `after.COLUMN`.
"""
BEYOND: Final = "does not fit"
"""Follows a number in the problem of a wrong cell whose type cannot hold it."""


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output row. `fields` holds the envelope columns that the decoder returns; timestamps are
    microseconds.
    """

    row: int | None
    kind: str | None
    op: str | None
    fields: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    error: str | None = None


Outputs = Mapping[Place, Sequence[OutputRow]]
"""The output rows of each message, by its place: topic, partition and offset."""


def check_columns(schema: pa.Schema, level: int, who: str) -> None:
    """Raises UsageError when the output of the decoder `who` lacks a column, has one twice, or has
    one of another type than the contract's.
    """
    problems = []
    for name in REQUIRED[level]:
        if name not in schema.names:
            problems.append(f"no column {name!r}")
    for name in dict.fromkeys(schema.names):
        if schema.names.count(name) > 1:
            problems.append(f"{schema.names.count(name)} columns {name!r}")
    expected: dict[str, Callable[[pa.DataType], bool]] = {
        **dict.fromkeys(("partition", "offset", "row"), pa.types.is_integer),
        **dict.fromkeys(("kind", "op", "topic", "error"), _is_text),
        **dict.fromkeys(("before", "after"), _is_text_map if level == 1 else pa.types.is_struct),
    }
    if level == 1:
        expected |= dict.fromkeys(
            ("database", "schema", "table", "position", "schema_version", "sql"), _is_text
        )
        expected |= {
            "keys": _is_text_list,
            "commit_time": pa.types.is_timestamp,
            "types": _is_text_map,
        }
    for name, has_right_type in expected.items():
        if (
            schema.names.count(name) == 1
            and not has_right_type(schema.field(name).type)
            and not pa.types.is_null(schema.field(name).type)
        ):
            problems.append(f"column {name!r} is {schema.field(name).type}")
    if problems:
        raise UsageError(
            f"decoder {who} does not return the level-{level} columns: {'; '.join(problems)}."
            f" Expected (docs/writing-a-decoder.md): {', '.join(REQUIRED[level])}, images as"
            f" {'map<string,string>' if level == 1 else 'structs of typed columns'}. Use --map"
            " NAME=EXPRESSION to rename."
        )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_text_map(kind: pa.DataType) -> bool:
    return bool(pa.types.is_map(kind) and _is_text(kind.key_type) and _is_text(kind.item_type))


def _is_text_list(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a list of texts."""
    return bool(
        (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _is_text(kind.value_type)
    )


def read(table: pa.Table, level: int) -> dict[Place, list[OutputRow]]:
    """The rows of a decode call, by topic, partition and offset of their message; those of a
    message in the order of `row`.
    """
    by_place: dict[Place, list[OutputRow]] = defaultdict(list)
    size = table.num_rows
    wanted_columns = dict.fromkeys(
        (*(name for name in REQUIRED[level] if name not in ("before", "after")), *ENVELOPE)
    )
    columns = {
        name: _plain(table.column(name)) for name in wanted_columns if name in table.column_names
    }
    before, after = ((_maps if level == 1 else _structs)(table.column(side)) for side in SIDES)
    if WRONG_CELLS in table.column_names:
        images: dict[str, Sequence[Any]] = {"before": before, "after": after}
        for i, problems in enumerate(_maps(table.column(WRONG_CELLS))):
            for path, problem in (problems or {}).items():
                side, _, name = path.partition(".")
                images[side][i][name] = Typed("wrong form", problem)
    names = [name for name in ENVELOPE if name in columns]
    envelope: Iterable[tuple[Any, ...]] = (
        zip(*(columns[n] for n in names), strict=True) if names else [()] * size
    )
    errors = columns.get("error") or [None] * size
    places = zip(columns["topic"], columns["partition"], columns["offset"], strict=True)
    other_columns = zip(
        columns["row"], columns["kind"], columns["op"], envelope, before, after, errors, strict=True
    )
    for place, (row_number, kind, op, values, old, new, error) in zip(
        places, other_columns, strict=True
    ):
        by_place[place].append(
            OutputRow(row_number, kind, op, dict(zip(names, values, strict=True)), old, new, error)
        )
    for message_rows in by_place.values():
        message_rows.sort(key=lambda r: -1 if r.row is None else r.row)
    return dict(by_place)


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """The cells of an Arrow column as Python values: a timestamp as microseconds since 1970, a map
    as a dict, any other as Arrow gives it.
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        return list(column.cast(pa.timestamp("us", kind.tz)).cast(pa.int64()).to_pylist())
    return _maps(column) if pa.types.is_map(kind) else _values(column)


def _maps(column: pa.ChunkedArray) -> list[dict[str, str] | None]:
    """The cells of a map column as dicts, None for NULL; a column of Arrow's type null has only
    NULL.
    """
    if pa.types.is_null(column.type):
        return [None] * len(column)
    return [None if value is None else dict(value) for value in _values(column)]


def _values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    r"""The column's Python values. A Spark string may hold bytes that are not UTF-8; they become
    \xff.
    """
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_decode_text(value) for value in column.cast(_as_bytes(column.type)).to_pylist()]


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    """An Arrow type in which binary takes the place of text, at any depth; for columns whose text
    is not all UTF-8.
    """
    if _is_text(kind):
        return pa.large_binary() if pa.types.is_large_string(kind) else pa.binary()
    if pa.types.is_map(kind):
        return pa.map_(_as_bytes(kind.key_type), _as_bytes(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_as_bytes(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct(
            [(kind.field(i).name, _as_bytes(kind.field(i).type)) for i in range(kind.num_fields)]
        )
    return kind


def _decode_text(value: Any) -> Any:
    """A value whose texts were read as bytes, because they are not all UTF-8, with its texts: in
    lists, tuples and mappings each item is decoded, and other values stay. A byte that is no UTF-8
    becomes an escape of four characters: a backslash, x and two hex digits.
    """
    match value:
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case list() | tuple():
            return type(value)(_decode_text(v) for v in value)
        case dict():
            return {k: _decode_text(v) for k, v in value.items()}
    return value


def _structs(column: pa.ChunkedArray) -> list[dict[str, Typed | None] | None]:
    """The cells of a struct column: for each row a mapping of field names to typed cells, or None
    where the struct is NULL.
    """
    if pa.types.is_null(column.type):
        return [None] * len(column)
    array = _combine_chunks(column)
    valid = array.is_valid().to_pylist()
    names = [array.type.field(i).name for i in range(array.type.num_fields)]
    leaves = [_typed(array.field(i)) for i in range(array.type.num_fields)]
    structs: list[dict[str, Typed | None] | None] = []
    for i, is_present in enumerate(valid):
        structs.append(
            {name: leaf[i] for name, leaf in zip(names, leaves, strict=True)}
            if is_present
            else None
        )
    return structs


def typed_rows(table: pa.Table) -> list[dict[str, Typed | None]]:
    """The rows of an Arrow table as dicts of cells, each cell with the family of its Spark type."""
    leaves = {name: _typed(_combine_chunks(table.column(name))) for name in table.column_names}
    rows: list[dict[str, Typed | None]] = []
    # A table may have rows and no columns, so that its columns do not tell how many.
    for number in range(table.num_rows):
        rows.append({name: leaf[number] for name, leaf in leaves.items()})
    return rows


def _combine_chunks(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array, also where Arrow's `combine_chunks` gives a chunked one."""
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _typed(array: pa.Array) -> list[Typed | None]:
    """The cells of an Arrow array as plain values, each with the family of its Spark type."""
    kind = array.type
    family = next((family for test, family in _FAMILIES if test(kind)), str(kind))
    convert = _EXACT.get(family, lambda value: value)
    if pa.types.is_timestamp(kind):
        array = array.cast(pa.timestamp("us", kind.tz)).cast(pa.int64())
    elif pa.types.is_duration(kind):
        array = array.cast(pa.duration("us")).cast(pa.int64())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    if array.null_count == len(array):
        return [None] * len(array)
    return [None if value is None else Typed(family, convert(value)) for value in _values(array)]


def _date(days: int) -> date | str:
    """A date from its days since 1970; a text that says the days for one outside of Python's years
    1 to 9999, which Spark has.
    """
    try:
        return date(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return f"{days} days from 1970-01-01"


def _exact_decimal(value: Decimal) -> Decimal | int:
    """A whole number as int, any other decimal as it is."""
    return int(value) if value == value.to_integral_value() else value


_EXACT: Final[Mapping[str, Callable[[Any], Any]]] = {"decimal": _exact_decimal, "date": _date}
"""How a value of a family is made exact, beside Arrow's own conversion to Python."""
_FAMILIES: Final[tuple[tuple[Callable[[pa.DataType], bool], str], ...]] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "int"),
    (pa.types.is_decimal, "decimal"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_date32, "date"),
    (pa.types.is_duration, "interval"),
    (pa.types.is_list, "array"),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz, "timestamp"),
    (pa.types.is_timestamp, "timestamp_ntz"),
)
"""The family of a Spark type, by a test of the Arrow type in which it comes; the first that is true
counts.
"""
