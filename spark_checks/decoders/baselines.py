"""The throughput baselines: what a first attempt does, `from_json` into structs of strings and
`try_cast`, without checks.

A baseline is the yardstick of its format's decoder, so it does nothing that costs: every message is
taken for a row change of the table, nothing malformed is noticed, an absent column is NULL, a
base64 or an epoch is no decimal and no date, times are in the session's zone. Each format's decoder
has beside it a `BASELINE`: a record of where things stand in messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from spark_checks.decoders.families.framing import COORDINATES, change
from spark_checks.decoders.families.sql import name as _name

ROWS: Final = "array of row structs"
ROW: Final = "struct of the row"
VALUES: Final = "array of values"
"""How a baseline's messages hold rows (`Baseline.images`): a list of rows by column name, one such
row, or a list of one row's values.
"""

_IMAGE: Final = {ROWS: "array<{row}>", ROW: "{row}", VALUES: "array<string>"}
"""The Spark type of an image's member by how it holds rows; `row` is the type of a row."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The throughput baseline of a format, a decoder without checks, described by where its
    messages hold the parts of a row change. The parts are dotted paths of members, "" for a part
    that the messages lack.

    `images` is how `before` and `after` hold rows: ROWS, ROW or VALUES. VALUES are in the order of
    the table's columns, and their names are the members `name` of the array at `names`. `committed`
    is in milliseconds or, with `seconds`, in seconds. `ops` are the operations by their codes at
    `op`; messages with other codes are no rows. Without `ops` the value at `op` is the operation.
    """

    op: str
    database: str
    table: str
    before: str
    after: str
    images: str = ROW
    names: str = ""
    schema: str = ""
    committed: str = ""
    seconds: bool = False
    keys: str = ""
    sql: str = ""
    types: str = ""
    ops: Mapping[str, str] = field(default_factory=dict)

    @property
    def bare(self) -> Baseline:
        """The baseline for Kafka Connect messages without a schema beside the payload: each path
        without its first member, `payload`.
        """
        paths: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            paths[f.name] = value.removeprefix("payload.") if isinstance(value, str) else value
        return Baseline(**paths)

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline of level two: every row of every message, with its images as structs of the
        table's columns, without any check.
        """
        image_fields = ", ".join(f"{_name(c.name)}: string" for c in table.columns)
        image = _IMAGE[self.images].format(row=f"struct<{image_fields}>")
        messages = self._parse_rows(
            records, {**self._place(), self.after: image, self.before: image}
        )

        def typed(side: Column) -> Column:
            """The struct of the table's columns made of an image: each cell by position or by name,
            cast to the column's Spark type.
            """
            cells = (
                F.get(side, F.lit(i)) if self.images == VALUES else side[c.name]
                for i, c in enumerate(table.columns)
            )
            return F.struct(
                *(
                    cell.try_cast(c.type.spark).alias(c.name)
                    for cell, c in zip(cells, table.columns, strict=True)
                )
            )

        return level_two(
            messages,
            self._kind(),
            self._op(),
            typed(self._before()),
            typed(F.col("now")),
            F.col("row"),
        )

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: every row of every message, with its images as maps of texts,
        and the envelope, without any check.
        """
        image = _IMAGE[self.images].format(row="map<string, string>")
        messages = self._parse_rows(
            records,
            {
                **self._place(),
                self.schema: "string",
                self.committed: "bigint",
                self.keys: "array<string>",
                self.sql: "string",
                self.types: "map<string, string>",
                self.names: "array<struct<name: string>>",
                self.after: image,
                self.before: image,
            },
        )

        def member(path: str, kind: str = "string") -> Column:
            """The member at a path of the message `m`; NULL of the type `kind` for the path ""."""
            return F.col(f"m.{path}") if path else F.lit(None).cast(kind)

        def map_of_texts(side: Column) -> Column:
            """The image as a map of texts by column name. Where rows are lists of values (VALUES),
            the names are those that the message lists at `self.names`.
            """
            return (
                F.map_from_arrays(F.col(f"m.{self.names}.name"), side)
                if self.images == VALUES
                else side
            )

        instant = F.timestamp_seconds if self.seconds else F.timestamp_millis
        return level_one(
            messages,
            self._kind(),
            row=F.col("row"),
            op=self._op(),
            database=member(self.database),
            schema=member(self.schema),
            table=member(self.table),
            keys=member(self.keys, "array<string>"),
            commit_time=instant(member(self.committed, "bigint")),
            before=map_of_texts(self._before()),
            after=map_of_texts(F.col("now")),
            types=member(self.types, "map<string, string>"),
            sql=member(self.sql),
        )

    def _place(self) -> dict[str, str]:
        """The paths, with their types, of what both levels read: operation, database and table."""
        return {self.op: "string", self.database: "string", self.table: "string"}

    def _parse_rows(self, records: DataFrame, paths: Mapping[str, str]) -> DataFrame:
        """Parses the messages, of which only the members at `paths`, with their types, are read.
        Gives one row for each row of each message: the record's coordinates, the message `m`, the
        row's number `row` and its after image `now`.
        """
        parsed = records.select(
            *COORDINATES, F.from_json(F.col("value").cast("string"), _schema(paths)).alias("m")
        )
        if self.images == ROWS:
            return parsed.select(
                *COORDINATES, "m", F.posexplode_outer(f"m.{self.after}").alias("row", "now")
            )
        return parsed.select(
            *COORDINATES, "m", F.lit(0).alias("row"), F.col(f"m.{self.after}").alias("now")
        )

    def _before(self) -> Column:
        """The before image of a row change: where a message has a list of rows, the entry of the
        list of before images at the row's place.
        """
        before = F.col(f"m.{self.before}")
        return F.get(before, F.col("row")) if self.images == ROWS else before

    def _op(self) -> Column:
        """The operation of a message as the output's column `op` names it, by the format's codes;
        NULL for a code that `ops` lacks, the message's own word if `ops` is empty.
        """
        op = F.col(f"m.{self.op}")
        if not self.ops:
            return op
        op_name = F.lit(None).cast("string")
        for wire, name in reversed(tuple(self.ops.items())):
            op_name = F.when(op == wire, name).otherwise(op_name)
        return op_name

    def _kind(self) -> Column:
        """The kind of a message: ROW; NULL for an operation code that `ops` lacks."""
        return F.when(self._op().isNotNull(), "ROW") if self.ops else F.lit("ROW")


def level_one(messages: DataFrame, kind: Column, **columns: Column) -> DataFrame:
    """A baseline's output at level one: the coordinates of the `messages` and the columns of level
    one; those that are not given are NULL.
    """
    return messages.select(*COORDINATES, *change(kind, error=F.lit(None).cast("string"), **columns))


def level_two(
    messages: DataFrame,
    kind: Column,
    op: Column,
    before: Column,
    after: Column,
    ordinal: Column | None = None,
) -> DataFrame:
    """A baseline's output at level two: the coordinates of the `messages` and these columns;
    `ordinal` is the row's number (0 without it), `error` is always NULL.
    """
    values = {
        "row": F.lit(0) if ordinal is None else ordinal,
        "kind": kind,
        "op": op,
        "before": before,
        "after": after,
    }
    return messages.select(
        *COORDINATES,
        *(v.alias(n) for n, v in values.items()),
        F.lit(None).cast("string").alias("error"),
    )


def cast_columns(table: Table, cell: Callable[[str], Column]) -> Column:
    """A struct of the table's columns. `cell` gives the column with a cell's text by the name of
    its column; the text is cast to the column's type.
    """
    return F.struct(*(cell(c.name).try_cast(c.type.spark).alias(c.name) for c in table.columns))


def _schema(types_by_path: Mapping[str, str]) -> str:
    """The DDL of a struct that has exactly the members at these paths, in their order."""
    members: dict[str, Any] = {}
    for path, kind in types_by_path.items():
        if path:
            *outer, last = path.split(".")
            place = members
            for name in outer:
                place = place.setdefault(name, {})
            place[last] = kind
    return _fields(members, " ".join)


def _fields(members: Mapping[str, Any], joined: Callable[[tuple[str, str]], str]) -> str:
    """A SQL list of members and their types, in which a nested mapping becomes a struct; `joined`
    makes the text of one member from its name and its type.
    """
    kinds = {
        n: k if isinstance(k, str) else f"struct<{_fields(k, ': '.join)}>"
        for n, k in members.items()
    }
    return ", ".join(joined((_name(name), kind)) for name, kind in kinds.items())


SAME: Final = {"INSERT": "INSERT", "UPDATE": "UPDATE", "DELETE": "DELETE"}
CODES: Final = {"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ"}
"""The operations by their codes in the messages of several formats: by the same names, and by
Debezium's letters.
"""

CANAL: Final = Baseline(
    op="type",
    database="database",
    table="table",
    before="old",
    after="data",
    images=ROWS,
    committed="es",
    keys="pkNames",
    sql="sql",
    types="mysqlType",
)
ENVELOPE: Final = Baseline(
    op="payload.op",
    database="payload.source.db",
    schema="payload.source.schema",
    table="payload.source.table",
    before="payload.before",
    after="payload.after",
    committed="payload.source.ts_ms",
    ops=CODES,
)
"""Where two families have the parts of a row change: flat messages of Canal, and Debezium's
envelope.
"""
