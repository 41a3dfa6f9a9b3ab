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

import itertools
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

from generators import model
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
"""The options of from_json for the texts of messages. Canal 1.1.6 writes raw control characters
(canal#raw-controls); a LONGTEXT may pass Jackson's 20 MB limit.
"""

COORDINATES: Final = ("topic", "partition", "offset")
"""The columns that identify a Kafka record, which every output has."""
DECOMPRESSED_LIMIT: Final = 256 << 20
"""The most bytes that a value may have when it is decompressed."""

UNREADABLE: Final = "not one well-formed message of this format"
MISFIT: Final = "a cell does not fit its column's type"
"""The two texts of the column `error`: of a message that cannot be read, and, at level two (typed
rows), of one with a cell that its column's type cannot hold.
"""

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
"""The last second of the year 9999, counted from 1970."""

CellSql = Callable[[model.Column, str], str]
"""A function that gives the SQL of a column's cell, from the column and the SQL of its row."""


def change(kind: Column, **columns: Column) -> Sequence[Column]:
    """The columns of a row at level one (cells as texts, `LEVEL_ONE`), in their order. Those that
    the caller does not give are NULL, except `row`, which is 0, and `error`, which follows from the
    kind.
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
    """A decoder's output at level one. `array` has a struct of columns (`change`) for each row of a
    record; a record with an empty array gives a row of NULLs. Each row gets the coordinates of its
    record.
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    return records.select(*COORDINATES, F.inline_outer(array))


def kind(is_whole: Column, kind_by_members: Column) -> Column:
    """The kind of a message: `kind_by_members`, or CORRUPT if that is NULL or the value is not one
    complete JSON object (`is_whole` is false).
    """
    return F.when(is_whole, F.coalesce(kind_by_members, F.lit("CORRUPT"))).otherwise("CORRUPT")


def name_of_code(code: Column, names: Mapping[str, str]) -> Column:
    """The output's name for a code that the message has, such as INSERT for c, by the table
    `names`; NULL for a code that is not in it.
    """
    entries = itertools.chain.from_iterable(names.items())
    return F.try_element_at(F.create_map(*map(F.lit, entries)), code)


def instant(millis: Column) -> Column:
    """The timestamp of milliseconds since 1970; NULL outside of the years 1970 to 9999."""
    return F.when(millis.between(0, _LAST_SECOND * 1000 + 999), F.timestamp_millis(millis))


def instant_of_seconds(seconds: Column) -> Column:
    """The timestamp of seconds since 1970; NULL outside of the years 1970 to 9999."""
    return F.when(seconds.between(0, _LAST_SECOND), F.timestamp_seconds(seconds))


_TYPES: Final[Mapping[str, DataType]] = {
    "string": StringType(),
    "strings": ArrayType(StringType()),
    "long": LongType(),
    "int": IntegerType(),
    "boolean": BooleanType(),
}


def struct(members: str, **types: DataType) -> StructType:
    """The type of a struct from a text such as `id:long data`. A name without a type has the one
    that `types` gives for it.
    """
    words = [word.partition(":") for word in members.split()]
    return StructType(
        [StructField(name, _TYPES[kind] if kind else types[name]) for name, _, kind in words]
    )


def message_of(envelope: StructType, extract: Callable[[Column, Column], Column]) -> Column:
    """Parses a record's value as one JSON object, and returns what `extract` makes of two columns:
    the message, with the members of `envelope` (NULL if the value is not one object), and whether
    the value is one object whose members have the right kinds of JSON value.
    """
    json_text = F.col("value").cast("string")
    return let_column(
        read(json_text, envelope),
        lambda j: let_column(message(j), lambda m: extract(m, is_one_object(j))),
    )


def before(op: Column, image: Column) -> Column:
    """The before image of an UPDATE or DELETE; NULL for other operations."""
    return F.when(op.isin("UPDATE", "DELETE"), image)


def after(op: Column, image: Column) -> Column:
    """The after image of an INSERT, READ or UPDATE; NULL for other operations."""
    return F.when(op.isin("INSERT", "READ", "UPDATE"), image)


def needed_part(
    kind: Column, of_table: Column, op: Column, old: Column, new: Column, **more: Column
) -> Column:
    """A struct with what level two (typed rows) needs of a message: `op`, `images`, and the columns
    in `more`. `op` is CORRUPT for an unreadable message, and NULL for a message that is not of the
    requested table (`of_table` is false). `images` is the array of the before and the after image,
    made of `old` and `new`, each NULL where the operation has none.
    """

    def with_images(op: Column) -> Column:
        """The struct for a message with this operation."""
        images = F.array(before(op, old), after(op, new)).alias("images")
        return F.struct(op.alias("op"), *(value.alias(n) for n, value in more.items()), images)

    return let_column(F.when(kind == "CORRUPT", kind).when(of_table, op), with_images)


def cell(c: model.Column, image: str) -> str:
    """SQL of a column's cell; `image` is the SQL of a row, a struct of cells."""
    return f"{image}.{name(c.name)}"


def images_by_name(table: Table, images: str = "part.images") -> str:
    """SQL that turns rows from lists of cells into structs of the table's columns. `images` is the
    SQL of an array of lists; `part.names` has the names of their cells, in the order of the
    message. Only a name that does not stand at its column's own place is searched for.
    """

    def cell_by_name(i: int, c: model.Column) -> str:
        """SQL of the cell of the table's column number `i`: that at the same place in the list if
        its name stands there, else that where the name is found.
        """
        key = literal(c.name)
        place = f"CAST(array_position(part.names, {key}) AS int) - 1"
        return (
            f"CASE WHEN get(part.names, {i}) = {key} THEN get(v, {i}) ELSE get(v, {place}) END AS"
            f" {name(c.name)}"
        )

    cells = ", ".join(cell_by_name(i, c) for i, c in enumerate(table.columns))
    return f"transform({images}, v -> CASE WHEN v IS NOT NULL THEN struct({cells}) END)"


def images(
    table: Table, cell_text: CellSql, value: CellSql, images_sql: str = "part.images"
) -> str:
    """SQL that types an array of rows, given as the SQL `images_sql`, and marks those with a cell
    that does not fit its column's type; for formats with MySQL's texts. Each row becomes a struct
    of `value`, the typed row, and `unfit`, whether it has such a cell. `cell_text` gives the SQL of
    a cell's text, which must be NULL only for SQL NULL; `value` the SQL of its typed value.
    """
    return with_unfit_marks(
        table, value, lambda c: misfit(cell_text(c, "i.t"), cell(c, "i.value"), c.type), images_sql
    )


def with_unfit_marks(
    table: Table,
    value: CellSql,
    unfit: Callable[[model.Column], str | None],
    texts: str = "part.images",
) -> str:
    """SQL that types an array of images. Each becomes a struct of `value`, the typed image, and
    `unfit`: whether a cell is not of its column's type. `texts` is the SQL of the array, whose
    images are structs of texts.

    `value` gives the SQL of a typed cell from the SQL of its image. `unfit` gives the SQL of
    whether a cell does not fit, over the structs `i.t` (texts) and `i.value` (typed); None if every
    cell fits.
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
    """SQL of an array with the one row of level two (typed rows) that a message gives: the typed
    row change, or a CORRUPT row if the message or a cell cannot be read; NULL for a message without
    a row of the table. `typed` is the SQL of the message's typed images, before and after, as
    `images` gives it.

    It uses the struct `part`, whose `op` is CORRUPT for an unreadable message, and NULL for a
    message of another table.
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
    """SQL of a row of level two (typed rows), from the SQL of its number in the message, its kind,
    its operation and its error. `images` are the SQL of the indexes of its before and its after
    image in the array `typed`.
    """
    sides = f"get(typed, {images[0]}).value AS before, get(typed, {images[1]}).value AS after"
    return f"struct({ordinal} AS row, '{kind}' AS kind, {op} AS op, {sides}, {error} AS error)"


def corrupt(why: str) -> str:
    """SQL of an array with the one CORRUPT row of an unreadable message; `why` is the row's
    error.
    """
    # Index -1, which no array has, gives a NULL of the images' type.
    return (
        f"array({row_struct('0', 'CORRUPT', 'CAST(NULL AS string)', ('-1', '-1'), literal(why))})"
    )


def typed_rows(
    records: DataFrame, part: Column, result: str, deployment: Deployment | None = None
) -> DataFrame:
    """A decoder's output at level two (typed rows). `part` is a struct with what is needed of each
    record's message; `result` is SQL over that struct, of the array of the message's rows.
    """
    records = decompressed(records, deployment.compression if deployment else "none")
    # The rows come out of a generator (inline), and Spark pushes no filter on their columns below
    # it. A filter below would repeat the SQL that makes the cells, once for each name in it.
    messages = records.select(*COORDINATES, part.alias("part"))
    return messages.select(*COORDINATES, F.inline_outer(F.expr(result))).where(
        F.col("kind").isNotNull()
    )


def decompressed(records: DataFrame, compression: str) -> DataFrame:
    """The records with decompressed values: `compression` is snappy (blocks), lz4 (frames) or none.
    A value of other bytes becomes NULL.

    Spark SQL has no function for it, hence Arrow batches. Raises ValueError for another
    `compression`.
    """
    if compression == "none":
        return records
    decompress = _DECOMPRESS.get(compression)
    if decompress is None:
        raise ValueError(f"compression {compression!r}: none, {', '.join(_DECOMPRESS)}")

    def batches(source: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The Arrow batches with each record's value decompressed, NULL for one that cannot be."""
        for batch in source:
            at = batch.schema.get_field_index("value")
            values = pa.array(
                [_decompressed(decompress, value.as_py()) for value in batch.column(at)],
                batch.schema.field(at).type,
            )
            yield batch.set_column(at, batch.schema.field(at).with_nullable(True), values)

    return records.mapInArrow(batches, records.schema)


def _decompressed(decompress: Callable[[bytes], bytes], value: bytes | None) -> bytes | None:
    """The value decompressed by the function `decompress`; None for no value, and for one that
    cannot be decompressed.
    """
    try:
        return None if value is None else decompress(value)
    except (cramjam.DecompressionError, ValueError, OverflowError, MemoryError):
        return None


def _snappy(value: bytes) -> bytes:
    """The decompressed bytes of a snappy block. Raises ValueError, before memory is taken, if the
    block announces too many.
    """
    if cramjam.snappy.decompress_raw_len(value) > DECOMPRESSED_LIMIT:
        raise ValueError("the block announces more than the limit")
    return bytes(cramjam.snappy.decompress_raw(value))


_LZ4_RATIO: Final = 255
"""Bytes at most that one byte of LZ4 stands for."""


def _lz4(value: bytes) -> bytes:
    """The decompressed bytes of LZ4's frames. Raises DecompressionError for more than the limit."""
    if len(value) * _LZ4_RATIO <= DECOMPRESSED_LIMIT:
        return bytes(cramjam.lz4.decompress(value))
    buffer = bytearray(DECOMPRESSED_LIMIT)
    size = cramjam.lz4.decompress_into(value, buffer)
    return bytes(memoryview(buffer)[:size])


_DECOMPRESS: Final[dict[str, Callable[[bytes], bytes]]] = {"snappy": _snappy, "lz4": _lz4}


_MARK: Final = f"m{secrets.token_hex(8)}"
"""The member name of the array in the wrapping, and of the mark `{NAME:1}` behind each message in
it. It is random, made anew by each process, so that no message can have it.
"""


def read(json_text: Column, envelope: StructType) -> Column:
    """Parses the text of a message as JSON by the type `envelope`, inside a wrapping (an object
    with an array of the message and a mark) that shows whether the text is exactly one object.
    `message` and `is_one_object` read the result.
    """
    element = StructType([*envelope, StructField(_MARK, IntegerType())])
    schema = StructType(
        [StructField(_MARK, ArrayType(element)), StructField("corrupt", StringType())]
    )
    wrapped = F.concat(F.lit(f'{{"{_MARK}":['), json_text, F.lit(f',{{"{_MARK}":1}}]}}'))
    return F.from_json(wrapped, schema, OPTIONS)


def read_each(json_texts: Column, envelope: StructType) -> Column:
    """Parses an array of at least one JSON text inside one wrapping, with a mark after each text.
    `is_one_object_each` and `message_at` read the result.
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
    """Whether `read_each` found exactly one JSON object in each of its `count` texts, so that the
    parsed array is object, mark, object, mark, ...; never NULL.
    """
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
    """The message in text number `place` (from 0), from the result of `read_each`."""
    return F.get(parsed[_MARK], place * 2)


def message(parsed: Column) -> Column:
    """The message, a struct, from the result of `read`; NULL if its text is no JSON object."""
    return F.get(parsed[_MARK], F.lit(0))


def is_one_object(parsed: Column) -> Column:
    """Whether `read` found exactly one JSON object, whose members are of the kinds of JSON value
    that the envelope declares; never NULL.
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
