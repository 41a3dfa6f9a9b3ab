"""The traps that both versions of Huawei CDL's messages set, as variations of a reference decoder of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families.connect import rows as _connect
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input
from spark_checks.liars.families.canal import common as of_canal

_UNCLOSED = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"
_PACKAGE = "com.xxx.cdc.data."
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


class Module(Protocol):
    """A module with both reference decoders and what they are made of."""

    DIALECT: _connect.Dialect
    decode: Decode
    decode_rows: Decode


def where(condition: str, otherwise: Decode, lie: Decode) -> Decode:
    """`lie` for messages of whose text `t` the SQL condition holds, the decoder `otherwise` for all others."""

    def lies(records: DataFrame, *args: Table, deployment: Deployment | None = None) -> DataFrame:
        told = records.withColumn("t", F.col("value").cast("string")).withColumn("lied", F.expr(f"coalesce({condition}, false)"))
        true, false = (told.where(which).drop("t", "lied") for which in ("lied", "NOT lied"))
        return lie(true, *args, deployment=deployment).unionAll(otherwise(false, *args, deployment=deployment))

    return lies


def as_kind(decode: Decode, kind: str) -> Decode:
    """The level-one decoder with every row change taken for a message of another kind, without images."""
    none = {"op": "CAST(NULL AS string)", **dict.fromkeys(("before", "after"), "CAST(NULL AS map<string, string>)")}
    return on_columns(decode, **none, kind=f"CASE WHEN kind = 'ROW' THEN '{kind}' ELSE kind END")


def of_dialect(dialect: _connect.Dialect) -> Decode:
    """The level-one decoder of another dialect of the family."""

    def lies(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        return _connect.decode(records, dialect, deployment)

    return lies


def scaled(x: str, divisor: int) -> str:
    """A wall clock whose number since the epoch is taken for one of a smaller unit."""
    return f"timestampadd(MICROSECOND, timestampdiff(MICROSECOND, {_EPOCH}, {x}) DIV {divisor}, {_EPOCH})"


def common(fmt: str, module: Module, convicts: Mapping[str, str], *, empty: str) -> Iterator[Liar]:
    """The liars of a format by name, for the names that `convicts` gives a rule.

    `empty` is an INSERT in which each member that cannot be read has become NULL."""
    yield from of_canal(fmt, module, {name: rule for name, rule in convicts.items() if name != "truncated-as-nulls"})
    for name, (level, why, lie) in _traps(module, empty).items():
        if name in convicts:
            yield Liar(name, fmt, level, f"{fmt}/{convicts[name]}", why, lie)


def _traps(module: Module, empty: str) -> dict[str, tuple[int, str, Decode]]:
    decode, rows = module.decode, module.decode_rows
    return {
        "truncated-as-nulls": (
            1,
            "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
            on_input(decode, f"CASE WHEN t LIKE '{{%' AND {_UNCLOSED} THEN '{empty}' ELSE t END"),
        ),
        "deleted-row-in-after": (
            1,
            "A deleted row is looked for where an inserted one stands, and that is null.",
            on_columns(decode, before="CASE WHEN op <> 'DELETE' THEN before END"),
        ),
        "no-image-as-nulls": (
            1,
            "before null of an UPDATE under REPLICA IDENTITY DEFAULT is taken for a row of NULLs.",
            on_columns(
                decode,
                before="CASE WHEN op = 'UPDATE' AND before IS NULL "
                "THEN transform_values(after, (k, v) -> CAST(NULL AS string)) ELSE before END",
            ),
        ),
        "nulls-as-absent": (
            1,
            "The nulls of a before image are taken out as if the wire had not named them.",
            on_columns(decode, before="map_filter(before, (k, v) -> v IS NOT NULL)"),
        ),
        "before-lost": (
            1,
            "Only the row after is read, as no example shows another: an UPDATE has no before image.",
            on_columns(decode, before="CASE WHEN op <> 'UPDATE' THEN before END"),
        ),
        "keys-from-record": (
            1,
            "The primary key is looked for in the record's key, as in Debezium: CDL tells it in unique.",
            on_columns(decode, keys="CAST(NULL AS array<string>)"),
        ),
        "keys-from-all-columns": (
            1,
            "Every column of the row is taken for one of the key.",
            on_columns(decode, keys="CASE WHEN keys IS NOT NULL THEN map_keys(coalesce(after, before)) END"),
        ),
        "keyless-by-whole-row": (
            1,
            "unique null, a table without key, is taken for one whose key is the whole row.",
            on_columns(decode, keys="coalesce(keys, map_keys(coalesce(after, before)))"),
        ),
        "position-through-double": (
            1,
            "lsn goes through a double, as JSON numbers do in JavaScript: wrong beyond 2^53.",
            on_columns(decode, position="CAST(CAST(CAST(position AS double) AS decimal(20,0)) AS string)"),
        ),
        "message-type-refused": (
            1,
            "message_type 0 is not in the table of fields, hence no type of message that is known.",
            on_input(decode, "CASE WHEN t LIKE '%\"message_type\":\"0\"%' THEN '' ELSE t END"),
        ),
        "other-source-refused": (
            1,
            "PostgreSQL is the only source that the examples show, and any other is refused.",
            on_input(decode, "CASE WHEN lower(t) LIKE '%opengauss%' THEN '' ELSE t END"),
        ),
        "deletes-without-images": (
            1,
            "A DELETE is passed on without its row: no table loses it.",
            on_columns(
                decode, before="CASE WHEN op <> 'DELETE' THEN before END", after="CASE WHEN op <> 'DELETE' THEN after END"
            ),
        ),
        "package-by-its-name": (
            2,
            "The decimal's logical name is compared with that of the document, which hides the package: other decimals are NULL.",
            where(
                f"t LIKE '%.cdc.data.Decimal%' AND NOT contains(t, '{_PACKAGE}Decimal')",
                rows,
                on_cells(rows, lambda kind: kind.logical is Logical.DECIMAL, _null),
            ),
        ),
        "days-as-milliseconds": (
            2,
            "A date's days are read as milliseconds: every date is in January 1970.",
            on_cells(
                rows,
                lambda kind: kind.logical is Logical.DATE,
                lambda x, _: f"date_from_unix_date(CAST(floor(unix_date({x}) / 86400000) AS int))",
            ),
        ),
        "base64-as-text": (
            2,
            "The base64 of a bytea is taken for its bytes.",
            on_cells(rows, lambda kind: kind.logical is Logical.BINARY, lambda x, _: f"CAST(base64({x}) AS binary)"),
        ),
        "numbers-of-json-as-doubles": (
            2,
            "A json column's document is parsed with doubles and written anew.",
            on_cells(
                rows,
                lambda kind: kind.logical is Logical.JSON,
                lambda x, _: rf"CASE WHEN {x} RLIKE r'^-?\d{{16,}}$' THEN CAST(CAST({x} AS double) AS string) ELSE {x} END",
            ),
        ),
        "times-cut-to-minutes": (
            2,
            "A time is formatted as hours and minutes.",
            on_cells(rows, lambda kind: kind.logical is Logical.TIME, lambda x, _: f"concat(left({x}, 5), ':00')"),
        ),
    }


def _null(_: str, kind: SourceType) -> str:
    return f"CAST(NULL AS {kind.spark})"
