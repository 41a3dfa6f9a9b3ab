"""What decoders share whatever the format: a message in JSON parsed once, rows of level one, typed
images of level two.

A message is parsed once, inside `{"S":[VALUE,{"S":1}]}`: a truncated value breaks the wrapping, a
second document or trailing text adds an element or breaks it, white space (the CRLF of TiCDC v6.5)
does neither. S is a name that no value can know: one that closed the array itself, `{...},{}]}` or
`{...}],"S":[{...}`, would pass for whole, since from_json takes the last of equal names and reads
nothing behind the object. Spark's corrupt-record column shows containers of the wrong type, which
from_json would otherwise turn into NULLs.

No filter uses from_json's result, and the generators are outer ones: Spark would push such filters,
its own inferred ones too, below the projection and parse every message twice.

One pair of lambdas types both images of a row: Spark interprets lambdas, while generated code for a
wide table grows past what the JVM compiles.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import cramjam
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from generators.model import Column as ColumnOf
from generators.model import Deployment, Table
from spark_checks.decoders.families.mysql import misfit
from spark_checks.decoders.families.sql import let, let_column, literal, name

OPTIONS: Final = {
    "columnNameOfCorruptRecord": "corrupt",
    "allowUnquotedControlChars": "true",
    "allowSingleQuotes": "false",
    "allowNonNumericNumbers": "false",
    "maxStringLen": str((1 << 31) - 1),
}
"""Canal 1.1.6 writes raw control characters (canal#raw-controls); a LONGTEXT may pass Jackson's 20
MB limit.
"""

COORDINATES: Final = ("topic", "partition", "offset")
DECOMPRESSED_LIMIT: Final = 256 << 20

UNREADABLE: Final = "not one well-formed message of this format"
MISFIT: Final = "a cell does not fit its column's type"

_TEXTS: Final = "map<string, string>"
LEVEL_ONE: Final = {
    "row": "int",
    "kind": "string",
    "op": "string",
    "database": "string",
    "schema": "string",
    "table": "string",
    "keys": "array<string>",
    "position": "string",
    "commit_time": "timestamp",
    "before": _TEXTS,
    "after": _TEXTS,
    "types": _TEXTS,
    "schema_version": "string",
    "sql": "string",
    "error": "string",
}
"""The columns of level one behind the coordinates (docs/writing-a-decoder.md), with their types."""

_LAST_SECOND: Final = 253_402_300_799

CellSql = Callable[[ColumnOf, str], str]
"""SQL of a column's cell, from the SQL of its image."""


def change(kind: Column, **columns: Column) -> Sequence[Column]:
    """The columns of level one: those that are given, by name, and NULL for the others; `row` is 0
    and `error` of the kind.
    """
    columns_by_name = {
        "row": F.lit(0),
        "kind": kind,
        "error": F.when(kind == "CORRUPT", UNREADABLE),
        **columns,
    }
    if strange := columns_by_name.keys() - LEVEL_ONE.keys():
        raise KeyError(f"no columns of level one: {', '.join(strange)}")
    return [
        (columns_by_name[n] if n in columns_by_name else F.lit(None).cast(type_)).alias(n)
        for n, type_ in LEVEL_ONE.items()
    ]


def changes(records: DataFrame, array: Column, deployment: Deployment | None = None) -> DataFrame:
    """A decoder's output at level one: the coordinates of each record with the columns of a change,
    which `change` lists, one row for each struct of `array`; where that is empty, a row of NULLs.
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    return records.select(*COORDINATES, F.inline_outer(array))


def kind(is_whole: Column, kind_by_members: Column) -> Column:
    """The kind of a message that is whole; CORRUPT without one."""
    return F.when(is_whole, F.coalesce(kind_by_members, F.lit("CORRUPT"))).otherwise("CORRUPT")


def name_of_code(wire: Column, names: Mapping[str, str]) -> Column:
    """The name of what stands on the wire; NULL of what has none."""
    return F.try_element_at(
        F.create_map(*(F.lit(item) for pair in names.items() for item in pair)), wire
    )


def instant(millis: Column) -> Column:
    """A time in milliseconds since 1970; NULL outside of the years that Spark has."""
    return F.when(millis.between(0, _LAST_SECOND * 1000 + 999), F.timestamp_millis(millis))


def instant_of_seconds(seconds: Column) -> Column:
    """A time in seconds since 1970; NULL outside of the years that Spark has."""
    return F.when(seconds.between(0, _LAST_SECOND), F.timestamp_seconds(seconds))


_TYPES: Final[Mapping[str, DataType]] = {
    "string": StringType(),
    "strings": ArrayType(StringType()),
    "long": LongType(),
    "int": IntegerType(),
    "boolean": BooleanType(),
}


def struct(members: str, **types: DataType) -> StructType:
    """A struct of `name:type` members in order; `types` are those of the members that stand without
    one.
    """
    words = [word.partition(":") for word in members.split()]
    return StructType(
        [StructField(name, _TYPES[kind] if kind else types[name]) for name, _, kind in words]
    )


def message_of(envelope: StructType, extract: Callable[[Column, Column], Column]) -> Column:
    """The result of `extract` for a record's message (as `envelope`, NULL if it is not one JSON
    object) and for whether it is one whose members, as far as `envelope` names them, have the right
    kinds of JSON value.
    """
    json_text = F.col("value").cast("string")
    return let_column(
        read(json_text, envelope),
        lambda j: let_column(message(j), lambda m: extract(m, is_one_object(j))),
    )


def before(op: Column, image: Column) -> Column:
    """The before image, where the op has one."""
    return F.when(op.isin("UPDATE", "DELETE"), image)


def after(op: Column, image: Column) -> Column:
    """The after image, where the op has one."""
    return F.when(op.isin("INSERT", "READ", "UPDATE"), image)


def part(
    kind: Column, of_table: Column, op: Column, old: Column, new: Column, **more: Column
) -> Column:
    """What level two takes of a message: `op`, CORRUPT for what cannot be read, NULL for what is
    not the table's (`of_table`), and `images`, out of `old` and `new` those that the op has; and
    `more`.
    """

    def with_images(op: Column) -> Column:
        images = F.array(before(op, old), after(op, new)).alias("images")
        return F.struct(op.alias("op"), *(value.alias(n) for n, value in more.items()), images)

    return let_column(F.when(kind == "CORRUPT", kind).when(of_table, op), with_images)


def cell(c: ColumnOf, image: str) -> str:
    """SQL of the column's cell in an image that is a struct."""
    return f"{image}.{name(c.name)}"


def images_by_name(table: Table, images: str = "part.images") -> str:
    """SQL of images, lists `v` whose columns' names are `part.names`, as structs; a column is
    searched for only if another one stands in its place of the table.
    """

    def at(i: int, c: ColumnOf) -> str:
        key = literal(c.name)
        place = f"CAST(array_position(part.names, {key}) AS int) - 1"
        return (
            f"CASE WHEN get(part.names, {i}) = {key} THEN get(v, {i}) ELSE get(v, {place}) END AS"
            f" {name(c.name)}"
        )

    cells = ", ".join(at(i, c) for i, c in enumerate(table.columns))
    return f"transform({images}, v -> CASE WHEN v IS NOT NULL THEN struct({cells}) END)"


def images(
    table: Table, cell_text: CellSql, value: CellSql, images_sql: str = "part.images"
) -> str:
    """`judged` images of which a cell fits that `misfit` says so of: `cell_text` is NULL for SQL
    NULL alone.
    """
    return judged(
        table, value, lambda c: misfit(cell_text(c, "i.t"), cell(c, "i.value"), c.type), images_sql
    )


def judged(
    table: Table,
    value: CellSql,
    unfit: Callable[[ColumnOf], str | None],
    texts: str = "part.images",
) -> str:
    """SQL of the images of `texts`, an array of structs, as structs `value`, typed, and `unfit`:
    whether a cell does not fit.

    `value` is a typed cell, `unfit` whether it does not fit, over the structs `i.t` and `i.value`;
    None if every one does.
    """
    values = ", ".join(f"{value(c, 't')} AS {name(c.name)}" for c in table.columns)
    tests = " OR ".join(filter(None, map(unfit, table.columns))) or "false"
    typed = (
        f"transform({texts}, t -> struct(t, CASE WHEN t IS NOT NULL THEN struct({values}) END AS"
        " value))"
    )
    # NULL, which a comparison with a NULL cell gives, is no misfit.
    return (
        f"transform({typed}, i -> struct(i.value AS value, i.t IS NOT NULL AND coalesce({tests},"
        " false) AS unfit))"
    )


def row_array(typed: str) -> str:
    """SQL of a message's row in an array, NULL without one, from the SQL of its typed images before
    and after (`images`).

    Both are over `part`: its `op` is CORRUPT for what cannot be read, NULL for what is not the
    table's.
    """
    unread = (
        f"WHEN part.op = 'CORRUPT' THEN {corrupt(UNREADABLE)} WHEN array_contains(typed.unfit,"
        f" true) THEN {corrupt(MISFIT)}"
    )
    fitting = f"array({row_struct('0', 'ROW', 'part.op', ('0', '1'))})"
    return (
        "CASE WHEN part.op IS NOT NULL THEN"
        f" {let(typed, 'typed', f'CASE {unread} ELSE {fitting} END')} END"
    )


def row_struct(
    ordinal: str, kind: str, op: str, images: tuple[str, str], error: str = "CAST(NULL AS string)"
) -> str:
    """SQL of a row of level two; `images` are the places of both among the `typed`."""
    sides = f"get(typed, {images[0]}).value AS before, get(typed, {images[1]}).value AS after"
    return f"struct({ordinal} AS row, '{kind}' AS kind, {op} AS op, {sides}, {error} AS error)"


def corrupt(why: str) -> str:
    """SQL of an array of the one row of a message that cannot be read."""
    # A place that no array has gives a NULL of the images' type.
    return (
        f"array({row_struct('0', 'CORRUPT', 'CAST(NULL AS string)', ('-1', '-1'), literal(why))})"
    )


def typed_rows(
    records: DataFrame, part: Column, result: str, deployment: Deployment | None = None
) -> DataFrame:
    """Level two of `part`, what it takes of each record's message, and the SQL over it of an array
    of its rows (`row`).
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    # Out of a generator: Spark would push a filter on it down to where the cells are made, and make
    # them once for each name.
    messages = records.select(*COORDINATES, part.alias("part"))
    return messages.select(*COORDINATES, F.inline_outer(F.expr(result))).where(
        F.col("kind").isNotNull()
    )


def decompressed(records: DataFrame, compression: str) -> DataFrame:
    """Records with their values decompressed: snappy blocks or LZ4 frames, NULL for other bytes.

    Spark SQL has no function for it, hence Arrow batches. Raises ValueError for another
    `compression`.
    """
    if compression == "none":
        return records
    undo = _DECOMPRESS.get(compression)
    if undo is None:
        raise ValueError(f"compression {compression!r}: none, {', '.join(_DECOMPRESS)}")

    def batches(source: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in source:
            at = batch.schema.get_field_index("value")
            values = pa.array(
                [_undone(undo, value.as_py()) for value in batch.column(at)],
                batch.schema.field(at).type,
            )
            yield batch.set_column(at, batch.schema.field(at).with_nullable(True), values)

    return records.mapInArrow(batches, records.schema)


def _undone(undo: Callable[[bytes], bytes], value: bytes | None) -> bytes | None:
    try:
        return None if value is None else undo(value)
    except (cramjam.DecompressionError, ValueError, OverflowError, MemoryError):
        return None


def _snappy(value: bytes) -> bytes:
    if cramjam.snappy.decompress_raw_len(value) > DECOMPRESSED_LIMIT:
        raise ValueError("the block announces more than the limit")
    return bytes(cramjam.snappy.decompress_raw(value))


def _lz4(value: bytes) -> bytes:
    return bytes(cramjam.lz4.decompress(value))


_DECOMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {"snappy": _snappy, "lz4": _lz4}


_MARK: Final = f"m{secrets.token_hex(8)}"
"""The name S of the wrapping, of this process alone."""


def read(json_text: Column, envelope: StructType) -> Column:
    """A message's text parsed inside the wrapping; `message` and `whole` take it."""
    element = StructType([*envelope, StructField(_MARK, IntegerType())])
    schema = StructType(
        [StructField(_MARK, ArrayType(element)), StructField("corrupt", StringType())]
    )
    wrapped = F.concat(F.lit(f'{{"{_MARK}":['), json_text, F.lit(f',{{"{_MARK}":1}}]}}'))
    return F.from_json(wrapped, schema, OPTIONS)


def read_each(json_texts: Column, envelope: StructType) -> Column:
    """Several texts, at least one, parsed inside one wrapping, in which a mark follows each of
    them; `each_whole` takes it, and `message_at` the place of a text.
    """
    element = StructType([*envelope, StructField(_MARK, IntegerType())])
    schema = StructType(
        [StructField(_MARK, ArrayType(element)), StructField("corrupt", StringType())]
    )
    marked = F.transform(
        json_texts, lambda json_text: F.concat(json_text, F.lit(f',{{"{_MARK}":1}}'))
    )
    return F.from_json(
        F.concat(F.lit(f'{{"{_MARK}":['), F.array_join(marked, ","), F.lit("]}")), schema, OPTIONS
    )


def is_one_object_each(parsed: Column, count: Column) -> Column:
    """Whether `read_each` found one JSON object for each of so many texts; never NULL."""
    elements = parsed[_MARK]
    marks = F.forall(F.sequence(F.lit(1), count), lambda n: F.get(elements, n * 2 - 1)[_MARK] == 1)
    elements_present = F.forall(
        F.sequence(F.lit(1), count), lambda n: F.get(elements, n * 2 - 2).isNotNull()
    )
    return F.coalesce(
        parsed["corrupt"].isNull() & (F.size(elements) == count * 2) & marks & elements_present,
        F.lit(False),
    )


def message_at(parsed: Column, place: Column) -> Column:
    """The message of a text of `read_each`."""
    return F.get(parsed[_MARK], place * 2)


def message(parsed: Column) -> Column:
    """The message in what `read` gives: a struct, NULL where there is none."""
    return F.get(parsed[_MARK], F.lit(0))


def is_one_object(parsed: Column) -> Column:
    """Whether it is one JSON object, and its declared members have their kinds of JSON value; never
    NULL.
    """
    elements = parsed[_MARK]
    last = F.get(elements, F.lit(1))[_MARK]
    is_one = (
        parsed["corrupt"].isNull()
        & (F.size(elements) == 2)
        & (last == 1)
        & F.get(elements, F.lit(0)).isNotNull()
    )
    return F.coalesce(is_one, F.lit(False))
