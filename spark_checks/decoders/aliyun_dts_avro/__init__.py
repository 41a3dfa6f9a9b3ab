"""Aliyun DTS's Avro Record as native Spark expressions.

One message is one Record; `operation` says whether it is a row change, a DDL statement, a mark of a
transaction, a heartbeat or a message for DTS itself. `fields[i]` names the column of
`beforeImages[i]` and `afterImages[i]`, in any order. The Avro branch of a cell decides how it is
read, never its `dataTypeNumber`; null is SQL NULL, and EmptyObject a column that was not captured.
`position` is `sourcePosition`, `types` are data type numbers, `commit_time` is `sourceTimestamp`,
in seconds.

The primary key is what the tag `pk_uk_info` lists as PRIMARY. On DRDS the object's name is that of
a physical table, and the tags `l_db_name` and `l_tb_name` have the logical one; so they have behind
PolarDB-X, whose source is MySQL.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Table
from spark_checks.decoders.aliyun_dts_avro import cells as _aliyun_cells
from spark_checks.decoders.aliyun_dts_avro.baseline import BASELINE
from spark_checks.decoders.aliyun_dts_avro.charsets import in_utf_8
from spark_checks.decoders.aliyun_dts_avro.record import CHANGE, MEMBERS, ROW, WIRE
from spark_checks.decoders.families import avro as _avro
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.avro import Schema
from spark_checks.decoders.families.framing import COORDINATES
from spark_checks.decoders.families.sql import let_column

__all__ = ["BASELINE", "decode", "decode_rows"]

_ROWS: Final = ("INSERT", "UPDATE", "DELETE", "INIT")
_TRANSACTIONS: Final = ("BEGIN", "COMMIT", "ROLLBACK", "ABORT")
_STATEMENTS: Final = ("DDL", "COMMAND")
"""The values of `operation` for a row (INIT: one of a full load), for the mark of a transaction,
and for a statement.
"""
_DOT: Final = "\\u002E"
"""How the object's name spells a dot that is part of a name."""


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that Kafka records with Aliyun DTS's Records carry, one row
    for each.
    """
    m, kind = F.col("m"), F.col("kind")
    readable, change_record = F.when(kind != "CORRUPT", m), F.when(kind == "ROW", m)
    parts, op = F.when(kind != "CORRUPT", F.col("parts")), _op(change_record["operation"])
    second_part, third_part = F.get(parts, F.lit(1)), F.get(parts, F.lit(2))
    sql = F.when(kind == "DDL", m["afterImages"]["member0"])
    fields = change_record["fields"]["member1"]
    change = _framing.change(
        kind,
        op=op,
        database=F.coalesce(readable["tags"]["l_db_name"], _name(F.get(parts, F.lit(0)))),
        schema=_name(F.when(third_part.isNotNull(), second_part)),
        table=F.coalesce(readable["tags"]["l_tb_name"], _name(F.coalesce(third_part, second_part))),
        keys=F.from_json(change_record["tags"]["pk_uk_info"], "PRIMARY array<string>")["PRIMARY"],
        position=F.make_valid_utf8(readable["sourcePosition"]),
        commit_time=_framing.instant_of_seconds(readable["sourceTimestamp"]),
        before=_framing.before(op, _image("beforeImages")),
        after=F.when(op != "DELETE", _image("afterImages")),
        types=F.map_from_arrays(fields["name"], fields["dataTypeNumber"].cast("array<string>")),
        sql=F.make_valid_utf8(sql),
    )
    return _messages(records, CHANGE, deployment).select(*COORDINATES, *change)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table` from Aliyun DTS's Records, and CORRUPT rows."""
    m, kind = F.col("m"), F.col("kind")
    of_table = (kind == "ROW") & _is(table, m)

    def part(op: Column) -> Column:
        """What level two (typed rows) needs of a message, as a struct: `op`; `names`, the columns'
        names; `images`, the before and the after image as lists of cells, or NULL for CORRUPT; and
        `has_nanoseconds`, whether the source's times have them.
        """
        before = _framing.before(op, _present(m["beforeImages"]["member1"]))
        after = F.when(op != "DELETE", _present(m["afterImages"]["member1"]))
        return F.struct(
            op.alias("op"),
            m["fields"]["member1"]["name"].alias("names"),
            _aliyun_cells.in_nanoseconds(m["source"]["sourceType"], m["sourcePosition"]).alias(
                "has_nanoseconds"
            ),
            F.when(op != "CORRUPT", F.array(before, after)).alias("images"),
        )

    cells_by_name = _framing.images_by_name(table, f"transform(part.images, v -> {in_utf_8('v')})")
    row_change = let_column(
        F.when(kind == "CORRUPT", kind).when(of_table, _op(m["operation"])), part
    )
    images = _aliyun_cells.images(table, cells_by_name, "part.has_nanoseconds")
    return _framing.typed_rows(
        _messages(records, ROW, deployment), row_change, _framing.row_array(images)
    )


def _messages(
    records: DataFrame, reader_schema: Schema, deployment: Deployment | None
) -> DataFrame:
    """The records with their messages parsed, for both levels: coordinates, the message `m`, its
    `kind`, and `parts`, the parts of its object's name (database, schema, table; a two-part name
    has no schema). `reader_schema` names the fields that are read.
    """
    framed = _avro.messages(records, WIRE, deployment, reader_schema=reader_schema, newer_long=True)
    # Trailing empty parts do not count, as in Java's split (aliyun#dots).
    parts = F.split(F.expr("trim(TRAILING '.' FROM m.objectName)"), r"\.")
    kind = _framing.kind(F.col("whole"), _kind(F.col("m"), F.col("parts")))
    return framed.select(*COORDINATES, "m", "whole", parts.alias("parts")).select(
        *COORDINATES, "m", "parts", kind.alias("kind")
    )


def _kind(m: Column, parts: Column) -> Column:
    """The kind of a message, by its `operation`. `parts` are the parts of its object's name
    (database, schema, table), NULL if it has no name. The kind is NULL, which is CORRUPT, for a
    name of more than three parts, for a row change without its table, its columns or its row, and
    for a statement without its text.
    """
    operation = m["operation"]
    # An image is a union, whose branches Spark numbers without null: `member0` is a text (that of a
    # statement), `member1` the list of a row's cells.
    needed = _present(
        F.when(operation == "DELETE", m["beforeImages"]["member1"]).otherwise(
            m["afterImages"]["member1"]
        )
    )
    has_legal_name = parts.isNull() | (F.size(parts) <= 3)
    return F.when(
        has_legal_name,
        F.when(
            operation.isin(*_ROWS), F.when(parts.isNotNull() & needed.isNotNull() & _fits(m), "ROW")
        )
        .when(operation.isin(*_STATEMENTS), F.when(m["afterImages"]["member0"].isNotNull(), "DDL"))
        .when(operation.isin(*_TRANSACTIONS), "TRANSACTION")
        .when(operation == "HEARTBEAT", "HEARTBEAT")
        .otherwise("CONTROL"),
    )


def _fits(m: Column) -> Column:
    """Whether the columns of a row change have names of which none comes twice, and each of its
    images is absent or an array with as many cells as there are columns. `member0` and `member1`
    are the branches text and array of an Avro union.
    """
    names = m["fields"]["member1"]["name"]
    fits = F.size(F.array_distinct(names)) == F.size(names)
    for side in ("beforeImages", "afterImages"):
        # The size of NULL is -1 where ANSI mode is off.
        image, names_as_text = _present(m[side]["member1"]), m[side]["member0"]
        fits &= names_as_text.isNull() & (image.isNull() | (F.size(image) == F.size(names)))
    return fits


def _present(cells: Column) -> Column:
    """The cells of an image; NULL for an empty array, which is no image (aliyun#empty-images)."""
    return F.when(F.size(cells) > 0, cells)


def _op(operation: Column) -> Column:
    """The operation as the output's column `op` names it: a row of a full load (INIT) is READ."""
    return F.when(operation == "INIT", "READ").otherwise(operation)


def _name(part: Column) -> Column:
    """A part of an object's name, with the dots in it as they are."""
    return F.make_valid_utf8(F.replace(part, F.lit(_DOT), F.lit(".")))


def _is(table: Table, m: Column) -> Column:
    """Whether a message is of this table: by the logical names of database and table if its tags
    have one (DRDS, PolarDB-X), else by the object's name as the message spells it.
    """
    parts = (table.database, *([table.schema] if table.schema else []), table.name)
    written = m["objectName"] == ".".join(part.replace(".", _DOT) for part in parts)
    database = F.coalesce(
        m["tags"]["l_db_name"], _name(F.split_part(m["objectName"], F.lit("."), F.lit(1)))
    )
    last = F.coalesce(
        m["tags"]["l_tb_name"], _name(F.split_part(m["objectName"], F.lit("."), F.lit(-1)))
    )
    logical = (database == table.database) & (last == table.name)
    return F.when(
        F.coalesce(m["tags"]["l_db_name"], m["tags"]["l_tb_name"]).isNotNull(), logical
    ).otherwise(written)


def _image(side: str) -> Column:
    """A row of a message as a map of texts: that in the member `side`, `beforeImages` or
    `afterImages`. Columns that were not captured (EmptyObject) are left out. NULL if the message is
    no row change or has no such image.
    """
    names, cells = "m.fields.member1.name", f"m.{side}.member1"
    empty, cell_text = f"x.{MEMBERS['EmptyObject']}", _aliyun_cells.TEXT
    # Two ways to the same map: cells are filtered only in a row with an EmptyObject.
    captured_cells = (
        f"zip_with({names}, {cells}, (n, x) -> CASE WHEN {empty} IS NULL THEN struct(n, {cell_text})"
        " END)"
    )
    return F.expr(
        f"CASE WHEN kind = 'ROW' AND size({cells}) > 0 THEN CASE WHEN exists({cells}, x -> {empty}"
        f" IS NOT NULL) THEN map_from_entries(filter({captured_cells}, e -> e IS NOT NULL)) ELSE"
        f" map_from_arrays({names}, transform({cells}, x -> {cell_text})) END END"
    )
