"""The Canal messages of Tencent DTS, Tencent CKafka's connector, Huawei DRS and Aliyun DTS as
native Spark expressions (page canal-dialects of the sources).

What differs from Canal is told by each message itself, but for binaries: `isDdl` says that it is a
statement, whatever its type; INIT is a row of a full load; a DELETE's row is in `old` where `data`
holds none; `es` below 10^11 is in seconds; a TIMESTAMP that ends in an offset of zero is in UTC,
another in the deployment's zone. `Deployment.binary` is hex, list (a text that lists the bytes in
decimal) or "" for ISO-8859-1.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, SourceType
from spark_checks.decoders.baselines import CANAL
from spark_checks.decoders.families import canal as _canal
from spark_checks.decoders.families.mysql import mysql_typed

_FULL_LOAD: Final = "INIT"
_SECONDS: Final = 100_000_000_000
"""A number of `es` below this is in seconds, any other in milliseconds."""
_OFFSET: Final = " +00:00"
"""The end of a TIMESTAMP's text that is in UTC."""
# Possessive: a greedy group calls itself for each byte, and a long value ends the JVM by its stack.
_BYTES: Final = r"^\[(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:, ?|(?=\])))*+\]\z"


def _kind(m: Column) -> Column:
    """The kind of a message: DDL for a statement (`isDdl` with its SQL), ROW for an INSERT, UPDATE,
    DELETE or INIT with rows, which a DELETE may have in `old`; NULL for any other, and for one that
    does not name its database, which are CORRUPT.
    """
    is_row = m["type"].isin(*_canal.ROW_TYPES, _FULL_LOAD)
    deleted = (
        (m["type"] == "DELETE") & F.get(m["data"], F.lit(0)).isNull() & _canal.has_rows(m["old"])
    )
    complete = m["database"].isNotNull()
    return F.when(complete & m["isDdl"] & ~is_row & m["sql"].isNotNull(), "DDL").when(
        complete & ~m["isDdl"] & is_row & (_canal.has_rows(m["data"]) | deleted), "ROW"
    )


def _typed_sql(cell: str, type: SourceType, deployment: Deployment) -> str | None:
    """SQL that reads the text `cell` as a value of the type, where this dialect writes it
    differently from MySQL; None elsewhere. A BINARY is hex digits, or a list of its bytes as
    numbers such as `[1, 255]`. A TIMESTAMP that ends in ` +00:00` is in UTC, any other in the
    deployment's time zone.
    """
    match type.logical, deployment.binary:
        case Logical.BINARY, "hex":
            return f"CASE WHEN length({cell}) % 2 = 0 THEN try_to_binary({cell}, 'hex') END"
        case Logical.BINARY, "list":
            digits = (
                f"transform(filter(split(substring({cell}, 2, length({cell}) - 2), ', ?'), b -> b"
                " <> ''), b -> "
            )
            digits += "lpad(hex(try_cast(b AS bigint)), 2, '0'))"
            return (
                f"CASE WHEN {cell} RLIKE r'{_BYTES}' THEN try_to_binary(concat_ws('', {digits}),"
                " 'hex') END"
            )
        case Logical.TIMESTAMP, _:
            in_utc = mysql_typed(f"left({cell}, length({cell}) - {len(_OFFSET)})", type)
            in_zone = mysql_typed(cell, type, deployment.time_zone)
            return (
                f"CASE WHEN right({cell}, {len(_OFFSET)}) = '{_OFFSET}' THEN {in_utc} ELSE"
                f" {in_zone} END"
            )
    return None


DIALECT: Final = _canal.CanalDialect(
    kind=_kind,
    deletes_in_old=True,
    op=lambda type: F.when(type == _FULL_LOAD, "READ").otherwise(type),
    millis=lambda es: F.when(es < _SECONDS, es * 1000).otherwise(es),
    typed=_typed_sql,
)
BASELINE: Final = CANAL
decode, decode_rows = DIALECT.decode, DIALECT.decode_rows
