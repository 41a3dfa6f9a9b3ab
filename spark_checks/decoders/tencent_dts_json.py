"""Tencent DTS's FlatRecord in JSON as native Spark expressions.

One message is one row change, a DDL statement, BEGIN or COMMIT, a heartbeat or a checkpoint.
`oldColumns` and `newColumns` are lists of texts that belong to `columns` by position; a list that
is too short ends in NULLs. A member that does not apply is null or absent. A `messageType` that the
page does not list, as sibling formats have some, becomes CONTROL. So does a checkpoint: it says how
far DTS has read, not that everything before was sent.

The decoder accepts each likely form of what the page leaves open: numbers as JSON numbers or
strings, hex digits in either case, TIMESTAMP as text in the deployment's zone or as epoch
milliseconds, ENUM and SET as labels or as numbers. `position` is `position`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StringType

from generators import model
from generators.model import Deployment, Logical, Table
from spark_checks.decoders.baselines import SAME, VALUES, Baseline
from spark_checks.decoders.families import framing as _framing
from spark_checks.decoders.families.canal import ROW_TYPES
from spark_checks.decoders.families.mysql import index, mask, mysql_typed
from spark_checks.decoders.families.sql import let_column, lower

_TEXTS: Final = ArrayType(StringType())
_ENVELOPE: Final = _framing.struct(
    "messageType:string position:string timestamp:string schemaName:string tableName:string columns"
    " oldColumns:strings newColumns:strings sql:string pkNames:strings",
    columns=ArrayType(_framing.struct("name:string isKey:string originalType:string")),
)
_TRANSACTIONS: Final = ("BEGIN", "COMMIT", "ROLLBACK")
_WORD: Final = r"^[A-Z][A-Z_]*\z"
"""A message type that may be one of the vendor's."""
_LAST_SECOND: Final = 253_402_300_799
"""The last second of the year 9999, counted from 1970."""

BASELINE: Final = Baseline(
    op="messageType",
    database="schemaName",
    table="tableName",
    before="oldColumns",
    after="newColumns",
    images=VALUES,
    names="columns",
    committed="timestamp",
    seconds=True,
    keys="pkNames",
    sql="sql",
    ops=SAME,
)


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: the changes that records with Tencent DTS's FlatRecords carry."""

    def change(m: Column, kind: Column) -> Column:
        """The level-one row of a message."""
        readable, change_record = F.when(kind != "CORRUPT", m), F.when(kind == "ROW", m)
        op, names = change_record["messageType"], change_record["columns"]["name"]
        own_keys = F.filter(change_record["columns"], lambda c: lower(c["isKey"]) == "true")["name"]
        return F.struct(
            *_framing.change(
                kind,
                op=op,
                database=readable["schemaName"],
                table=readable["tableName"],
                keys=F.coalesce(readable["pkNames"], own_keys),
                position=readable["position"],
                commit_time=_framing.instant_of_seconds(readable["timestamp"].try_cast("bigint")),
                before=F.map_from_arrays(
                    names, _padded(_framing.before(op, m["oldColumns"]), names)
                ),
                after=F.map_from_arrays(names, _padded(_framing.after(op, m["newColumns"]), names)),
                types=F.map_from_arrays(names, change_record["columns"]["originalType"]),
                sql=F.when(kind.isin("DDL", "CONTROL") & (m["sql"] != ""), m["sql"]),
            )
        )

    return _framing.changes(records, F.array(_parse_message(change)), deployment)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: typed row changes of `table` from Tencent DTS's FlatRecords, and CORRUPT rows."""
    deployment = deployment or Deployment()

    def part(m: Column, kind: Column) -> Column:
        """What level two needs of a message: whether it is of the table, its op and both images."""
        of_table = (
            (kind == "ROW") & (m["schemaName"] == table.database) & (m["tableName"] == table.name)
        )
        return _framing.needed_part(
            kind,
            of_table,
            m["messageType"],
            m["oldColumns"],
            m["newColumns"],
            names=m["columns"]["name"],
        )

    images = _framing.images(
        table,
        _timestamp_text,
        lambda c, image: _value(c, image, deployment),
        _framing.images_by_name(table),
    )
    return _framing.typed_rows(
        records, _parse_message(part), _framing.row_array(images), deployment
    )


def _parse_message(extract: Callable[[Column, Column], Column]) -> Column:
    """Parses a record's value as Tencent DTS's FlatRecord, and returns what `extract` makes of the
    message and its kind.
    """

    def extract_with_kind(m: Column, is_whole: Column) -> Column:
        """What `extract` makes of the message and its kind."""
        return let_column(_framing.kind(is_whole, _kind(m)), lambda kind: extract(m, kind))

    return _framing.message_of(_ENVELOPE, extract_with_kind)


def _kind(m: Column) -> Column:
    """The kind of a message, by its `messageType`: a word that is not known is CONTROL. NULL, which
    is CORRUPT, if a row change lacks its columns or its row, a statement its text, or the type is
    no word.
    """
    message_type = m["messageType"]
    needed = F.when(message_type == "DELETE", m["oldColumns"]).otherwise(m["newColumns"])
    return (
        F.when(message_type.isin(*ROW_TYPES), F.when(needed.isNotNull() & _fits(m), "ROW"))
        .when(message_type == "DDL", F.when(m["sql"].isNotNull(), "DDL"))
        .when(message_type.isin(*_TRANSACTIONS), "TRANSACTION")
        .when(message_type == "HEARTBEAT", "HEARTBEAT")
        .when(message_type.rlike(_WORD), "CONTROL")
    )


def _fits(m: Column) -> Column:
    """Whether a row change names its table, its column names are unique, and every value has a
    column.
    """
    names = m["columns"]["name"]
    unique = (F.size(F.array_distinct(names)) == F.size(names)) & ~F.exists(
        names, lambda n: n.isNull()
    )
    longest = F.greatest(F.size(m["oldColumns"]), F.size(m["newColumns"]))
    return (
        m["schemaName"].isNotNull()
        & m["tableName"].isNotNull()
        & unique
        & (longest <= F.size(names))
    )


def _padded(values: Column, names: Column) -> Column:
    """The list of values, with NULLs behind one that is shorter than the list of names
    (tencent#pairing); NULL for NULL. None is longer: a message with such a list is CORRUPT
    (`_fits`).
    """
    nulls = F.array_repeat(F.lit(None).cast("string"), F.size(names) - F.size(values))
    return F.when(F.size(values) == F.size(names), values).when(
        values.isNotNull(), F.concat(values, nulls)
    )


def _timestamp_text(c: model.Column, image: str) -> str:
    """SQL of a cell's text; for a TIMESTAMP, NULL in place of 0 milliseconds. MySQL has no
    TIMESTAMP at the epoch: 0 is its zero date.
    """
    cell = _framing.cell(c, image)
    return f"nullif({cell}, '0')" if c.type.logical is Logical.TIMESTAMP else cell


def _value(c: model.Column, image: str, deployment: Deployment) -> str:
    """SQL that reads a column's text in the image as a value of its type. A TIMESTAMP is a text of
    date and time, or, in the older edition, milliseconds since 1970 (tencent#timestamp-epoch). No
    source gives the form of ENUM and SET: both labels and numbers are read.
    """
    cell = _framing.cell(c, image)
    match c.type.logical:
        case Logical.BINARY:
            digits = f"left({cell}, 2) IN ('0x', '0X') AND length({cell}) % 2 = 0"
            return (
                f"CASE WHEN {digits} THEN try_to_binary(substring({cell}, 3), 'hex') WHEN {cell} ="
                " '' THEN X'' END"
            )
        case Logical.TIMESTAMP:
            # A date has a hyphen behind its year.
            millis = f"try_cast(CASE WHEN substring({cell}, 5, 1) <> '-' THEN {cell} END AS bigint)"
            instant = (
                f"CASE WHEN {millis} BETWEEN 1 AND {_LAST_SECOND}999 THEN"
                f" timestamp_millis({millis}) END"
            )
            return f"coalesce({mysql_typed(cell, c.type, deployment.time_zone)}, {instant})"
        case Logical.ENUM | Logical.SET if c.type.members:
            labels = index if c.type.logical is Logical.ENUM else mask
            return f"coalesce({labels(cell, c.type)}, {mysql_typed(cell, c.type)})"
        case _:
            return mysql_typed(cell, c.type, deployment.time_zone)
