"""Maxwell's JSON as native Spark expressions (page maxwell of the sources).

One message is one row change, or with output_ddl a statement. `type` says which: `bootstrap-insert`
is a row of a snapshot, `bootstrap-start` and `bootstrap-complete` bound one and hold no row. `data`
is the row, of a delete the deleted one; `old` has the old values of what an UPDATE changed. `ts` is
in seconds, and in milliseconds beside `sql`. `position` is the binlog's, and keys are
`primary_key_columns`, where the options put them out.

Numbers are parsed again as decimals, documents as variants. Where Maxwell wrote a TIME that is
none, its text is passed on.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, LongType, StringType, VariantType

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import Baseline
from spark_checks.decoders.families.connect.decimals import base64_bytes, from_numeric
from spark_checks.decoders.families.flat import Flat, SecondReading, decimal_again
from spark_checks.decoders.families.framing import instant, instant_of_seconds, name_of_code
from spark_checks.decoders.families.mysql import index, mask_of, mysql_typed

_OPS: Final = {
    "insert": "INSERT",
    "update": "UPDATE",
    "delete": "DELETE",
    "bootstrap-insert": "READ",
}
_BOUNDS: Final = ("bootstrap-start", "bootstrap-complete")
_STATEMENTS: Final = (
    "database-create",
    "database-alter",
    "database-drop",
    "table-create",
    "table-alter",
    "table-drop",
)
_TIME: Final = r"^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.0*-?\d{1,6})?\z"


def _op(m: Column) -> Column:
    """The operation of a Maxwell message with a row and what a row needs beside it; NULL for any
    other message.
    """
    has_row = (
        m["database"].isNotNull()
        & m["table"].isNotNull()
        & m["ts"].isNotNull()
        & m["data"].isNotNull()
    )
    return F.when(has_row, name_of_code(m["type"], _OPS))


def _kind_without_row(m: Column) -> Column:
    """The kind of a Maxwell message that is no row: CONTROL for the start or the end of a bootstrap
    (snapshot), DDL for a statement; NULL for any other, which is CORRUPT.
    """
    has_place = m["database"].isNotNull() & m["ts"].isNotNull()
    bound = m["type"].isin(*_BOUNDS) & m["table"].isNotNull()
    return F.when(has_place & bound, "CONTROL").when(
        has_place & m["type"].isin(*_STATEMENTS) & m["sql"].isNotNull(), "DDL"
    )


def _columns(m: Column) -> dict[str, Column]:
    """The level-one columns of a Maxwell message beside operation and images; a statement's `ts` is
    in milliseconds, a row's in seconds.
    """
    is_statement = m["type"].isin(*_STATEMENTS)
    return {
        "database": m["database"],
        "table": m["table"],
        "keys": m["primary_key_columns"],
        "position": m["position"],
        "commit_time": F.when(is_statement, instant(m["ts"])).otherwise(
            instant_of_seconds(m["ts"])
        ),
        "sql": F.when(is_statement, m["sql"]),
    }


def _typed_sql(cell_text: str, type: SourceType, deployment: Deployment) -> str:
    """SQL that reads a cell's text in Maxwell's spelling as a value of the type: base64 for bytes,
    a label or a list of labels for ENUM and SET, 1900 for the year 0.
    """
    match type.logical:
        case Logical.TIME:
            return f"CASE WHEN {cell_text} RLIKE r'{_TIME}' THEN {cell_text} END"
        case Logical.BINARY:
            return base64_bytes(cell_text)
        case Logical.DECIMAL:
            return from_numeric(cell_text, type.precision or 0, type.scale or 0)
        case Logical.ENUM:
            return index(cell_text, type)
        case Logical.SET:
            return mask_of(f"from_json({cell_text}, 'array<string>')", type)
        case Logical.YEAR:
            cell_text = f"CASE WHEN {cell_text} = '1900' THEN '0' ELSE {cell_text} END"
    return mysql_typed(cell_text, type, deployment.time_zone)


def _exact(type: SourceType) -> SecondReading | None:
    """How a cell of the type is parsed a second time: a JSON document as a variant, since texts in
    it keep their quotes so, a DECIMAL with all its digits. None for other types.
    """
    if type.logical is Logical.JSON:
        return SecondReading(VariantType(), "nullif(to_json({}), 'null')")
    return decimal_again(type)


_TEXTS: Final = ("type", "database", "table", "position", "sql")
FLAT: Final = Flat(
    members={
        **dict.fromkeys(_TEXTS, StringType()),
        "ts": LongType(),
        "primary_key_columns": ArrayType(StringType()),
    },
    op=_op,
    columns=_columns,
    row="data",
    old="old",
    other=_kind_without_row,
    typed=_typed_sql,
    exact=_exact,
)
BASELINE: Final = Baseline(
    op="type",
    database="database",
    table="table",
    before="old",
    after="data",
    committed="ts",
    seconds=True,
    keys="primary_key_columns",
    sql="sql",
    ops=_OPS,
)
decode, decode_rows = FLAT.decode, FLAT.decode_rows
