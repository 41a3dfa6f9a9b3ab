"""Formats with one JSON object for each row change, whose rows are objects of the columns' texts or
numbers.

How to make a decoder of one: describe its messages in a `Flat`, and call its `decode` and
`decode_rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators import model
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.exact_numbers import (
    mark_numbers,
    may_be_beyond_double,
    unmark_numbers,
)
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import let_column, literal, name

_TEXTS: Final = MapType(StringType(), StringType())


def _of_mysql(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL of a cell's value from the SQL of its text, in MySQL's spelling."""
    return mysql_typed(cell_text, type, deployment.time_zone)


def _unchanged(type_of_row: DataType) -> DataType:
    """The type of a member that holds one row: the row's type itself."""
    return type_of_row


class SecondReading(NamedTuple):
    """How a cell is parsed again whose text the first parse of the message changes: Spark reads a
    JSON number with a fraction through a double, and drops the quotes of a text in a JSON document.

    `type` is the Spark type as which the cell is parsed then. `text_sql` is the SQL that makes a
    text of the result, which stands for {}: `CAST({} AS string)`.
    """

    type: DataType
    text_sql: str


@dataclass(frozen=True, slots=True)
class Flat:
    """How a format's messages are read. Its functions get `m`, the column of a parsed message, a
    struct of its members.

    `members` are the members that do not hold rows, with their types. `row` is the name of the
    member with the row after the change, `old` that of the member with the row before an UPDATE: a
    column that `old` lacks did not change or, with `old_is_whole`, was NULL. `deleted` are the
    names of the members that may hold a deleted row, of which the first that has one counts; () if
    it is in `row`. With `listed` each of these members is a list whose first element is the row.

    `op` gives the operation of a row change; NULL for any other message, and for a row change that
    lacks what it needs. `other` gives the kind of a message that is no row change; NULL for one
    that is CORRUPT. `columns` gives the columns of level one (rows as maps of texts), except op and
    images.

    `text` gives the SQL of a cell's text as MySQL spells it, from the SQL of the text in the
    message; `typed` the SQL of the cell's value from that; `exact` how a cell of a type is parsed
    again, None if the first parse keeps its text. At level one the cells of a message that may have
    a number which no double holds are parsed again as texts.
    """

    members: Mapping[str, DataType]
    op: Callable[[Column], Column]
    columns: Callable[[Column], Mapping[str, Column]]
    row: str
    old: str
    deleted: Sequence[str] = ()
    old_is_whole: bool = False
    listed: bool = False
    other: Callable[[Column], Column] = lambda _m: F.lit(None).cast("string")
    typed: Callable[[str, SourceType, Deployment], str] = _of_mysql
    text: Callable[[str, SourceType], str] = lambda text, _type: text
    exact: Callable[[SourceType], SecondReading | None] = lambda _type: None

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one: the changes that records with messages of this format carry, one row
        for each.
        """

        def change(m: Column, kind: Column, op: Column) -> Column:
            """The level-one row of a message."""
            columns = {
                column: F.when(kind != "CORRUPT", value)
                for column, value in self.columns(m).items()
            }
            members = (self.old, self.row, *(self.deleted or (self.row,)))
            old, image, *deleted = (self._texts_with_all_digits(m, member) for member in members)
            before = F.when(op == "UPDATE", old).otherwise(F.coalesce(*deleted))
            images = {"before": framing.before(op, before), "after": framing.after(op, image)}
            return F.struct(*framing.change(kind, op=op, **columns, **images))

        return framing.changes(records, F.array(self._parse_message(_TEXTS, change)), deployment)

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two: typed rows of `table`, and CORRUPT rows."""
        table_names = {"database": table.database, "schema": table.schema, "table": table.name}
        second_readings = {
            c.name: reading for c in table.columns if (reading := self.exact(c.type))
        }
        again = StructType(
            [StructField(column, reading.type) for column, reading in second_readings.items()]
        )

        def part(m: Column, kind: Column, op: Column) -> Column:
            """What level two (typed rows) needs of a message, as a struct: its op if it is a row of
            the table, both images, and both once more (`..._again`) with the cells whose text the
            first parse does not keep. The image `old` is that of an UPDATE, unless its member may
            hold a deleted row, too.
            """
            of_table = op.isNotNull()
            for column, value in self.columns(m).items():
                if table_names.get(column) is not None:
                    of_table = of_table & (value == table_names[column])
            old = self._image(m, self.old)
            if self.old not in self.deleted:
                old = F.when(op == "UPDATE", old)
            row_images = [old.alias("old"), self._image(m, self.row).alias("row")]
            if second_readings:
                again_type = self._struct_of_images(again, again)
                parsed = F.when(
                    of_table,
                    F.from_json(F.col("value").cast("string"), again_type, framing.OPTIONS),
                )
                row_images += [
                    self._image(parsed, self.old).alias("old_again"),
                    self._image(parsed, self.row).alias("row_again"),
                ]
            return F.struct(
                F.when(kind == "CORRUPT", kind).when(of_table, op).alias("op"), *row_images
            )

        def value(c: model.Column, image: str) -> str:
            """SQL of a column's value, from the text of its cell in the image."""
            return self.typed(framing.cell(c, image), c.type, deployment or Deployment())

        def cell(side: str, c: model.Column) -> str:
            """SQL for the text of a column's cell; a JSON number with all its digits. `side` is
            `row` (the row after the change) or `old` (the row before it).
            """
            cell_text = (
                f"part.row.{name(c.name)}"
                if side == "row"
                else f"try_element_at(part.old, {literal(c.name)})"
            )
            if c.name not in second_readings:
                return self.text(cell_text, c.type)
            again_sql = f"part.{side}_again.{name(c.name)}"
            parsed = second_readings[c.name].text_sql.format(again_sql)
            return f"CASE WHEN {cell_text} IS NOT NULL THEN coalesce({parsed}, {cell_text}) END"

        def before_text(c: model.Column) -> str:
            """SQL for the text of a column's cell in the before image: that of `old` if it names
            the column, even a NULL, else that of the row after the change.
            """
            has_old = (
                "part.old IS NOT NULL"
                if self.old_is_whole
                else f"map_contains_key(part.old, {literal(c.name)})"
            )
            return f"CASE WHEN {has_old} THEN {cell('old', c)} ELSE {cell('row', c)} END"

        before = f"CASE WHEN part.op IN ('UPDATE', 'DELETE') THEN {_struct(table, before_text)} END"
        after = (
            "CASE WHEN part.op IN ('INSERT', 'READ', 'UPDATE') THEN"
            f" {_struct(table, lambda c: cell('row', c))} END"
        )
        images = framing.images(table, framing.cell, value, f"array({before}, {after})")
        row_type = StructType([StructField(c.name, StringType()) for c in table.columns])
        return framing.typed_rows(
            records, self._parse_message(row_type, part), framing.row_array(images), deployment
        )

    def _struct_of_images(self, row_type: DataType, old_type: DataType) -> StructType:
        """The type of a message's members that hold rows: the member of the row after the change,
        with the type `row_type`, and that of the row before it, with `old_type`.
        """
        wrap = ArrayType if self.listed else _unchanged
        return StructType(
            [StructField(self.row, wrap(row_type)), StructField(self.old, wrap(old_type))]
        )

    def _image(self, parsed: Column, member: str) -> Column:
        """The row in a member of the parsed message; if the member is a list, its first element."""
        return F.get(parsed[member], F.lit(0)) if self.listed else parsed[member]

    def _texts_with_all_digits(self, m: Column, member: str) -> Column:
        """The cells of a row, a map of texts, from the member `member` of the message `m`. If the
        message may have a number that no double holds, it is parsed again so that no digit is lost.
        """
        json_text = F.col("value").cast("string")
        envelope = self._struct_of_images(_TEXTS, _TEXTS)
        parsed = F.from_json(mark_numbers(json_text), envelope, framing.OPTIONS)
        exact = F.transform_values(
            self._image(parsed, member), lambda _, cell_text: unmark_numbers(cell_text)
        )
        return F.when(may_be_beyond_double(json_text), exact).otherwise(self._image(m, member))

    def _parse_message(
        self, row_type: DataType, extract: Callable[[Column, Column, Column], Column]
    ) -> Column:
        """Parses a record's value, and returns what `extract` makes of three columns: the message,
        its kind, and its operation (NULL if it is no row change). `row_type` is the type as which
        the row after the change is parsed; the row before it is a map of texts.
        """
        members = [StructField(member, kind) for member, kind in self.members.items()]
        envelope = StructType([*members, *self._struct_of_images(row_type, _TEXTS)])

        def extract_judged(m: Column, is_whole: Column) -> Column:
            """What `extract` makes of the parsed message `m`, of its kind and of its operation,
            which are computed once. `is_whole`: the value is one JSON object whose members have the
            right types.
            """

            def extract_change(op: Column) -> Column:
                """What `extract` makes of the message, now that its operation is known: the kind is
                ROW if there is one.
                """
                kind = framing.kind(
                    is_whole, F.when(op.isNotNull(), "ROW").otherwise(self.other(m))
                )
                return let_column(kind, lambda kind: extract(m, kind, op))

            return let_column(F.when(is_whole, self.op(m)), extract_change)

        return framing.message_of(envelope, extract_judged)


def decimal_again(type: SourceType) -> SecondReading | None:
    """How a DECIMAL that is a JSON number is parsed a second time to be exact: as a decimal with as
    many digits before the point as the type has, so that a number with more is NULL, and as many
    behind it as there is room for. None for another type, and for one of more than 38 digits.
    """
    precision, scale = type.precision or 0, type.scale or 0
    if type.logical is not Logical.DECIMAL or precision > 38:
        return None
    return SecondReading(DecimalType(38, 38 - precision + scale), "CAST({} AS string)")


def _struct(table: Table, cell: Callable[[model.Column], str]) -> str:
    """SQL of a struct of the table's columns; `cell` gives the SQL of each column."""
    return f"struct({', '.join(f'{cell(c)} AS {name(c.name)}' for c in table.columns)})"
