"""The Canal flat message: what its dialects share when read with native Spark expressions.

They are TiCDC's, Alibaba Canal's, and both of CloudCanal's, one of which has its own names for the
same members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    VariantType,
)

from generators import model
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import let, let_column, literal, name

ROW_TYPES: Final = ("INSERT", "UPDATE", "DELETE")
DDL_TYPES: Final = ("CREATE", "ALTER", "ERASE", "TRUNCATE", "RENAME", "CINDEX", "DINDEX", "QUERY")
"""The values of Canal's member `type` for a row change, and for a statement."""
_ERROR: Final = (
    f"CASE WHEN part.op = 'CORRUPT' THEN {literal(framing.UNREADABLE)} WHEN NOT fits THEN"
    f" {literal(framing.MISFIT)} END"
)
"""SQL of the error of a row of level two, over the struct `part` and the boolean `fits`; NULL for a
row without an error.
"""
_ANY_OBJECT: Final = StructType([])
"""The type of a JSON object of which no member is read."""
_TEXTS: Final = MapType(StringType(), StringType())


@dataclass(frozen=True, slots=True)
class Names:
    """A dialect's names of the members that all Canal messages have. `schema` is "" for a dialect
    without such a member. `committed` is the time of the commit and `sent` that of sending; `codes`
    has the java.sql.Types code of each column, `types` its MySQL type; `data` has the rows after
    the change (of a DELETE the deleted ones), `old` those before an UPDATE.
    """

    id: str = "id"
    database: str = "database"
    schema: str = ""
    table: str = "table"
    keys: str = "pkNames"
    op: str = "type"
    committed: str = "es"
    sent: str = "ts"
    codes: str = "sqlType"
    types: str = "mysqlType"
    data: str = "data"
    old: str = "old"


@dataclass(frozen=True, slots=True)
class CanalDialect:
    """How a dialect's messages are read. Its functions get `m`, the column of a parsed message, a
    struct of its members.

    `kind` gives the kind of a complete message; `position` its ordering value as text, the batch's
    number by default. `op` gives the operation of a row change from its type, `millis` the
    commit time in milliseconds from the member that has it. `extra` are members beside those of
    `names`. `binary_codes`: the member sqlType says how a binary cell is written. `deletes_in_old`:
    a deleted row may stand in `old` while `data` has none. `typed` gives the SQL of a cell's value
    from the SQL of its text, for types that the dialect does not write as `mysql_typed` expects
    them, else None.
    """

    kind: Callable[[Column], Column]
    extra: tuple[StructField, ...] = ()
    position: Callable[[Column], Column] = lambda m: m["id"].cast("string")
    names: Names = Names()
    binary_codes: bool = False
    deletes_in_old: bool = False
    op: Callable[[Column], Column] = lambda wire: wire
    millis: Callable[[Column], Column] = lambda wire: wire
    typed: Callable[[str, SourceType, Deployment], str | None] = lambda _text, _kind, _deployment: (
        None
    )

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one: the changes that records with messages of this dialect carry."""
        names = self.names

        def changes(m: Column, kind: Column) -> Column:
            """The level-one rows of a message, as an array of structs: one for each row that the
            message changes; one without images if it is no row change.
            """
            data = m[names.data]
            if self.deletes_in_old:
                data = F.when(_deleted_in_old(m, names), m[names.old]).otherwise(data)
            op, readable = F.when(kind == "ROW", self.op(m[names.op])), F.when(kind != "CORRUPT", m)

            def change(image: Column, ordinal: Column) -> Column:
                """The level-one row for the message's row number `ordinal`, whose cells are the map
                `image`; of a message that is no row change `image` is NULL.
                """
                return F.struct(
                    *framing.change(
                        kind,
                        row=ordinal,
                        op=op,
                        database=readable[names.database],
                        **({"schema": readable[names.schema]} if names.schema else {}),
                        table=readable[names.table],
                        keys=readable[names.keys],
                        position=F.when(kind != "CORRUPT", self.position(m)),
                        commit_time=framing.instant(self.millis(readable[names.committed])),
                        before=F.when(op == "DELETE", image).when(
                            op == "UPDATE", _old(m, names, ordinal)
                        ),
                        after=framing.after(op, image),
                        types=readable[names.types],
                        sql=F.when(
                            kind.isin("DDL", "CONTROL", "TRANSACTION") & (m["sql"] != ""), m["sql"]
                        ),
                    )
                )

            return F.transform(
                F.when(kind == "ROW", data).otherwise(F.array(F.lit(None).cast(_TEXTS))), change
            )

        return framing.changes(
            records, _parse_message(self, changes, _TEXTS, types=_TEXTS), deployment
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two: typed rows of `table`, and CORRUPT rows; a partial `old` is completed from
        `data`.
        """
        deployment = deployment or Deployment()
        images = StructType([StructField(c.name, StringType()) for c in table.columns])
        bytes_ = [c.name for c in table.columns if c.type.logical is Logical.BINARY]
        binaries = bytes_ if self.binary_codes else []
        codes = StructType([StructField(column, IntegerType()) for column in binaries])
        sql = _RowSql(table, deployment, frozenset(binaries), self)
        names = self.names

        def part(m: Column, kind: Column) -> Column:
            """What level two needs of a message: its operation (CORRUPT if it cannot be read, NULL
            if it is no row change of the table), and its new and old images.
            """
            of_table = (
                (kind == "ROW")
                & (m[names.database] == table.database)
                & (m[names.table] == table.name)
            )
            data, paired = m[names.data], F.size(m[names.old]) == F.size(m[names.data])
            if self.deletes_in_old:
                data = F.when(_deleted_in_old(m, names), _structs(m[names.old], table)).otherwise(
                    data
                )
            return F.struct(
                F.when(
                    (kind == "CORRUPT") | (of_table & _has_nested_binary(m, names, bytes_)),
                    "CORRUPT",
                )
                .when(of_table, self.op(m[names.op]))
                .alias("op"),
                F.when(of_table, data).alias("data"),
                F.when(of_table & (m[names.op] == "UPDATE") & paired, m[names.old]).alias("old"),
                *([m[names.codes].alias("codes")] if binaries else []),
            )

        return framing.typed_rows(
            records, _parse_message(self, part, images, codes=codes), sql.result, deployment
        )


def _has_nested_binary(m: Column, names: Names, binaries: Sequence[str]) -> Column:
    """Whether a JSON object or list stands where the text of a binary column should, which makes
    the message CORRUPT. `binaries` are the names of the binary columns. from_json turns such a
    value into its JSON text, so a message in which the text of one of these cells begins with a
    brace or bracket is parsed a second time.
    """

    def map_cells(cell_map: Column) -> list[Column]:
        """The binary cells of a row of `old`, which is a map."""
        return [F.try_element_at(cell_map, F.lit(c)) for c in binaries]

    def struct_cells(cell_struct: Column) -> list[Column]:
        """The binary cells of a row that is a struct: a row of `data`, and in the second parse
        (`again`) also a row of `old`.
        """
        return [cell_struct[c] for c in binaries]

    def any_of(
        images: Column, cells: Callable[[Column], list[Column]], test: Callable[[Column], Column]
    ) -> Column:
        """Whether `test` holds for one of the cells that the function `cells` takes from a row, in
        any row of the list `images`; false if that is NULL.
        """
        return F.coalesce(
            F.exists(images, lambda cell_map: reduce(or_, map(test, cells(cell_map)))), F.lit(False)
        )

    if not binaries:
        return F.lit(False)
    image = ArrayType(StructType([StructField(c, VariantType()) for c in binaries]))
    sides = {names.data: struct_cells, names.old: map_cells}
    may_be_containers = (
        any_of(m[side], side_binaries, lambda cell_text: F.left(cell_text, F.lit(1)).isin("{", "["))
        for side, side_binaries in sides.items()
    )

    def is_container(cell: Column) -> Column:
        """Whether a cell, a variant, is a JSON object or list."""
        return F.schema_of_variant(cell).rlike("^(OBJECT|ARRAY)<")

    cell_text = F.col("value").cast("string")
    again = F.from_json(
        cell_text, StructType([StructField(side, image) for side in sides]), framing.OPTIONS
    )
    has_container = let_column(
        again,
        lambda a: reduce(or_, (any_of(a[side], struct_cells, is_container) for side in sides)),
    )
    return F.when(reduce(or_, may_be_containers), has_container).otherwise(False)


def _structs(maps: Column, table: Table) -> Column:
    """The rows of a list of maps, such as a message's `old`, as structs of the table's columns,
    which the rows of `data` are. It is for a DELETE that has its rows in `old`.
    """

    def struct(cell_map: Column) -> Column:
        """The struct of the table's columns made of one map of cells."""
        return F.struct(
            *(F.try_element_at(cell_map, F.lit(c.name)).alias(c.name) for c in table.columns)
        )

    return F.transform(maps, lambda cell_map: F.when(cell_map.isNotNull(), struct(cell_map)))


@dataclass(frozen=True, slots=True)
class _RowSql:
    """The SQL that makes the rows of level two (typed rows) of one message. It reads the struct
    `part`: `op` (CORRUPT for a message that cannot be read, NULL for one of another table), `data`
    (the rows, structs of texts), `old` (the rows before an UPDATE, maps, or NULL) and `codes`
    (sqlType). `coded` are the columns for which `codes` says how the cell is written.

    It uses only lambdas, which Spark interprets: generated code for a wide table exceeds the size
    up to which the JVM compiles a method, and is then slower by an order of magnitude.
    """

    table: Table
    deployment: Deployment
    coded: frozenset[str]
    dialect: CanalDialect

    @property
    def result(self) -> str:
        """SQL of the array of a message's typed rows; NULL if it has none of the table. A single
        cell that does not fit its type makes one CORRUPT row of the whole message. The rows of
        `data`, and behind them those before an UPDATE, are typed by one pair of lambdas.
        """
        cells = ", ".join(self._overlaid(i, c) for i, c in enumerate(self.table.columns))
        old_rows = (
            f"transform(part.old, (o, r) -> CASE WHEN o IS NOT NULL THEN struct({cells}) END)"
        )
        images = framing.images(
            self.table,
            framing.cell,
            self._typed,
            f"concat(part.data, coalesce({old_rows}, array()))",
        )
        members = {
            "row": "r",
            "kind": "CASE WHEN fits THEN 'ROW' ELSE 'CORRUPT' END",
            "op": "CASE WHEN fits THEN part.op END",
            "before": (
                "CASE WHEN part.op = 'DELETE' THEN i.value WHEN fits THEN get(images,"
                " array_size(part.data) + r).value END"
            ),
            "after": "CASE WHEN part.op <> 'DELETE' THEN i.value END",
            "error": _ERROR,
        }
        row_struct = (
            f"struct({', '.join(f'{value} AS {member}' for member, value in members.items())})"
        )
        # Index -1, which no array has, gives a NULL of the images' type.
        now = (
            "CASE WHEN fits THEN slice(images, 1, array_size(part.data)) ELSE array(get(images,"
            " -1)) END"
        )
        fits = "part.op <> 'CORRUPT' AND NOT coalesce(array_contains(images.unfit, true), false)"
        row_structs = let(fits, "fits", f"transform({now}, (i, r) -> {row_struct})")
        return f"CASE WHEN part.op IS NOT NULL THEN {let(images, 'images', row_structs)} END"

    def _overlaid(self, i: int, c: model.Column) -> str:
        """SQL of the text of column number `i` before an UPDATE: from `old`, where it may be NULL,
        or from `data` if `old` does not name the column. In the SQL `o` is a row of `old`, a map,
        and `r` its number. A row with all columns has them in the table's order, so that no name
        has to be searched for.
        """
        column, key = name(c.name), literal(c.name)
        searched = (
            f"coalesce(o[{key}], CASE WHEN NOT map_contains_key(o, {key}) THEN get(part.data,"
            f" r).{column} END)"
        )
        return (
            f"CASE WHEN get(map_keys(o), {i}) = {key} THEN get(map_values(o), {i}) ELSE {searched}"
            f" END AS {column}"
        )

    def _typed(self, c: model.Column, image: str) -> str:
        """SQL of the typed value of a column's cell; `image` is the SQL of the row, a struct of
        texts. The dialect's own reading of the type comes first; types for which it has none are
        read as MySQL writes them.
        """
        cell_text = framing.cell(c, image)
        code = f"part.codes.{name(c.name)}" if c.name in self.coded else None
        return self.dialect.typed(cell_text, c.type, self.deployment) or mysql_typed(
            cell_text, c.type, self.deployment.time_zone, code
        )


def _parse_message(
    dialect: CanalDialect,
    extract: Callable[[Column, Column], Column],
    image: DataType,
    *,
    types: DataType = _ANY_OBJECT,
    codes: StructType = _ANY_OBJECT,
) -> Column:
    """Parses a record's value by the dialect, and returns what `extract` makes of two columns: the
    message (NULL if it is not one JSON object), and its kind. `image` is the type as which a row of
    `data` is parsed, `types` and `codes` those for the members with the columns' types and codes.
    """
    names = dialect.names
    schema = f"{names.schema}:string " if names.schema else ""
    members = (
        f"{names.id}:long {names.database}:string {schema}{names.table}:string {names.keys}:strings"
        f" isDdl:boolean {names.op}:string {names.committed}:long {names.sent}:long sql:string"
        f" {names.codes} {names.types} {names.data} {names.old}"
    )
    images = {names.data: ArrayType(image), names.old: ArrayType(_TEXTS)}
    common = framing.struct(members, **{names.codes: codes, names.types: types}, **images)
    envelope = StructType([*common, *dialect.extra])

    def extract_with_kind(m: Column, is_whole: Column) -> Column:
        """What `extract` makes of the message and its kind."""
        return let_column(framing.kind(is_whole, dialect.kind(m)), lambda kind: extract(m, kind))

    return framing.message_of(envelope, extract_with_kind)


def has_rows(row_maps: Column) -> Column:
    """Whether the array `data` (or `old`) of a message holds at least one row and no null."""
    first = F.get(row_maps, F.lit(0)).isNotNull()
    return first & (
        (F.size(row_maps) == 1) | F.forall(row_maps, lambda row_map: row_map.isNotNull())
    )


def _deleted_in_old(m: Column, names: Names) -> Column:
    """Whether a message is a DELETE whose rows stand in `old`, because `data` has none."""
    return (m[names.op] == "DELETE") & F.get(m[names.data], F.lit(0)).isNull()


def _old(m: Column, names: Names, ordinal: Column) -> Column:
    """The row before an UPDATE: the element of `old` with the row's number, `ordinal`. NULL if
    `old` and `data` differ in length, as up to Canal 1.1.6 (canal#old-left-out), where nobody knows
    which row an element belongs to.
    """
    return F.when(F.size(m[names.old]) == F.size(m[names.data]), F.get(m[names.old], ordinal))
