"""The traps that both Canal-JSON formats set, as variations of a reference decoder of either."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, Protocol

from pyspark.sql import DataFrame

from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input, on_rows, quoted


class Decoders(Protocol):
    """A module with both reference decoders."""

    @property
    def decode(self) -> Decode:
        """Of level one."""

    @property
    def decode_rows(self) -> Decode:
        """Of level two."""


EMPTY_INSERT = '{"database":"","table":"","isDdl":false,"type":"INSERT","sql":"","data":[{}],"old":null}'
"""What is left of a truncated message when each field that cannot be read becomes NULL."""

_OPEN = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"


def common(fmt: str, module: Decoders, convicts: Mapping[str, str]) -> Iterator[Liar]:
    """The liars of a format by name, for the names that `convicts` gives a rule."""
    for name, (level, why, lie) in _traps(module.decode, module.decode_rows).items():
        if name in convicts:
            yield Liar(name, fmt, level, f"{fmt}/{convicts[name]}", why, lie, _SCENARIOS.get(name, ""))


_SCENARIOS: Final = {
    "table-with-its-database": "shape/composite-key",
    "first-column-as-key": "shape/composite-key",
    "no-image-as-empty": "shape/composite-key",
    "nulls-left-out": "shape/all-null",
}
"""What a liar is tried on whose rule owns something in nearly every case."""


def _traps(decode: Decode, rows: Decode) -> dict[str, tuple[int, str, Decode]]:
    return {
        "unsigned-wraps": (
            2,
            "A BIGINT UNSIGNED is read into a signed 64-bit integer and comes out negative.",
            on_cells(rows, _unsigned_bigint, lambda x, _: _wrapped(x)),
        ),
        "integers-through-double": (
            2,
            "A JSON library that keeps numbers as doubles: the last digits of identifiers above 2^53 are lost.",
            on_cells(rows, lambda k: k.logical is Logical.INT and k.spark == "bigint", lambda x, _: _through_double(x)),
        ),
        "narrow-unsigned-wraps": (
            2,
            "An unsigned integer is read into the signed type of its width: 200 of a TINYINT UNSIGNED is -56.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.INT and k.unsigned and k.high is not None and k.high < 1 << 32,
                lambda x, k: f"CAST({x} - CASE WHEN {x} > {(k.high or 0) >> 1} THEN {(k.high or 0) + 1} ELSE 0 END AS {k.spark})",
            ),
        ),
        "point-dropped": (
            2,
            "A DECIMAL is taken for the unscaled number of its column, and its point is dropped.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.DECIMAL and k.spark != "string",
                lambda x, k: f"coalesce(try_cast(replace(CAST({x} AS string), '.', '') AS {k.spark}), {x})",
            ),
        ),
        "double-through-float": (
            2,
            "FLOAT and DOUBLE are both read as a binary32.",
            on_cells(rows, lambda k: k.logical is Logical.DOUBLE, lambda x, _: f"CAST(CAST({x} AS float) AS double)"),
        ),
        "times-to-the-minute": (
            2,
            "A TIME is formatted as hours and minutes.",
            on_cells(rows, lambda k: k.logical is Logical.TIME, lambda x, _: rf"regexp_replace({x}, r':\d\d([.]\d+)?$', ':00')"),
        ),
        "integers-of-two-bytes": (
            2,
            "Integers are read with the width of the narrowest: of an int4 its last two bytes are left.",
            on_cells(rows, lambda k: k.logical is Logical.INT, lambda x, k: f"CAST({x} % 65536 AS {k.spark})"),
        ),
        "table-with-its-database": (
            1,
            "A table is called by both its names, joined by a dot, as topics are.",
            on_columns(decode, table="CASE WHEN kind = 'ROW' THEN concat_ws('.', database, schema, table) ELSE table END"),
        ),
        "first-column-as-key": (
            1,
            "A key has one column, the first that is named.",
            on_columns(decode, keys="CASE WHEN size(keys) > 1 THEN slice(keys, 1, 1) ELSE keys END"),
        ),
        "no-image-as-empty": (
            1,
            "What is null in the place of an INSERT's old row is an image without columns.",
            on_columns(decode, before="CASE WHEN op = 'INSERT' THEN CAST(map() AS map<string, string>) ELSE before END"),
        ),
        "nulls-left-out": (
            1,
            "A column whose value is NULL is left out of its image.",
            on_columns(decode, after="map_filter(after, (k, v) -> v IS NOT NULL)"),
        ),
        "decimal-through-double": (
            2,
            "DECIMAL is read as a double and cast back.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.DECIMAL and k.spark != "string",
                lambda x, k: f"coalesce(try_cast(CAST({x} AS double) AS {k.spark}), {x})",
            ),
        ),
        "updates-as-inserts": (
            1,
            "An UPDATE is passed on as an INSERT, since both are upserted.",
            on_columns(decode, op="CASE WHEN op = 'UPDATE' THEN 'INSERT' ELSE op END"),
        ),
        "sql-cut": (
            1,
            "A statement is cut to a column of 20 characters.",
            on_columns(decode, sql="left(sql, 20)"),
        ),
        "labels-padded": (
            1,
            "An ENUM is padded with a blank: nobody says what it means, but its text stands on the wire.",
            on_columns(
                decode, after="transform_values(after, (k, v) -> CASE WHEN types[k] LIKE 'enum%' THEN concat(v, ' ') ELSE v END)"
            ),
        ),
        "binary-as-utf-8": (
            2,
            "Paimon 1.3.1: bytes are the UTF-8 form of the text.",
            on_cells(rows, _blob, lambda x, _: f"encode(decode({x}, 'ISO-8859-1'), 'UTF-8')"),
        ),
        "binary-as-base64": (
            2,
            "Flink and SeaTunnel: binaryValue() decodes text that happens to be base64 (canal#flink-base64).",
            on_cells(rows, _blob, lambda x, _: f"coalesce(try_to_binary(decode({x}, 'ISO-8859-1'), 'base64'), {x})"),
        ),
        "microseconds-cut": (
            2,
            "DATETIME(6) through java.util.Date: three of six fraction digits are left.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.DATETIME,
                lambda x, _: f"CAST(left(CAST({x} AS string), 23) AS timestamp_ntz)",
            ),
        ),
        "timestamp-as-utc": (
            2,
            "TIMESTAMP is taken for UTC whatever the server's zone (pingcap/tiflow#10581, alibaba/canal#2522).",
            _as_utc(rows),
        ),
        "enum-as-label": (
            2,
            "The text of an ENUM's index is passed on as if it were the label.",
            on_cells(rows, lambda k: k.logical is Logical.ENUM, lambda x, _: f"CAST({x} AS string)"),
        ),
        "old-null-as-unchanged": (
            2,
            "FLINK-19446: a null in old is taken for a column that old does not name.",
            _coalesced(rows),
        ),
        "old-ignored": (
            1,
            "RisingWave FORMAT CANAL and kafka-cdc-redshift read no old: the row before is the row after.",
            on_columns(decode, before="CASE WHEN op = 'UPDATE' AND before IS NOT NULL THEN after ELSE before END"),
        ),
        "old-absent-as-null": (
            1,
            "The schema of data is laid over old: a column that old does not name becomes NULL.",
            on_columns(
                decode,
                before="CASE WHEN op = 'UPDATE' AND before IS NOT NULL "
                "THEN transform_values(after, (k, v) -> try_element_at(before, k)) ELSE before END",
            ),
        ),
        "delete-from-old": (
            1,
            "A DELETE's row is looked for in old, which is null.",
            on_columns(decode, before="CASE WHEN op = 'DELETE' THEN NULL ELSE before END"),
        ),
        "first-row-only": (1, "data[0] is read and the other rows of the event are lost.", on_rows(decode, "row = 0")),
        "text-null-as-null": (
            1,
            "The text null is taken for SQL NULL (pingcap/ticdc#3958, in the reader).",
            on_columns(
                decode, **{side: f"transform_values({side}, (k, v) -> nullif(v, 'null'))" for side in ("before", "after")}
            ),
        ),
        "texts-trimmed": (
            1,
            "A reader of text cells strips spaces, tabs and line ends from both ends.",
            on_columns(
                decode,
                **{s: rf"transform_values({s}, (k, v) -> regexp_replace(v, r'^\s+|\s+$', ''))" for s in ("before", "after")},
            ),
        ),
        "zero-date-as-date": (
            1,
            "Java's lenient calendar reads 0000-00-00 as 0002-11-30.",
            on_columns(
                decode,
                **{
                    side: f"transform_values({side}, (k, v) -> regexp_replace(v, '^0000-00-00', '0002-11-30'))"
                    for side in ("before", "after")
                },
            ),
        ),
        "ddl-dropped": (1, "Messages without data are filtered out (kafka-cdc-redshift).", on_rows(decode, "kind <> 'DDL'")),
        "statements-dropped": (1, "posexplode drops what has no data.", on_rows(decode, "kind <> 'CONTROL'")),
        "corrupt-dropped": (
            1,
            "Flink with ignore-parse-errors: messages that cannot be read vanish.",
            on_rows(decode, "kind <> 'CORRUPT'"),
        ),
        "truncated-as-nulls": (
            1,
            "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
            on_input(decode, f"CASE WHEN t LIKE '{{%' AND {_OPEN} THEN '{EMPTY_INSERT}' ELSE t END"),
        ),
        "second-document-dropped": (
            1,
            "Flink, Paimon, SeaTunnel and plain from_json: what follows the first JSON document is not looked at.",
            on_input(
                decode, r"CASE WHEN t LIKE '{%}%' AND t RLIKE r'\}\s*[^\s,\]}\"]' THEN to_json(try_parse_json(t)) ELSE t END"
            ),
        ),
        "carriage-return-refused": (
            1,
            "A strict parser chokes on the CRLF behind a row change (pingcap/tiflow#11707).",
            on_input(decode, "CASE WHEN endswith(t, concat(chr(13), chr(10))) THEN NULL ELSE t END"),
        ),
        "batch-dependent": (
            1,
            "What is the message's is taken from the batch: every change is given the table that the batch names last.",
            on_columns(decode, table="max(table) OVER ()"),
        ),
        "session-zone": (
            1,
            "es is read through a wall clock, hence in the session's time zone: right only where that is UTC.",
            on_columns(decode, commit_time="to_utc_timestamp(commit_time, current_timezone())"),
        ),
    }


def _unsigned_bigint(kind: SourceType) -> bool:
    return kind.logical is Logical.INT and kind.spark.startswith("decimal")


def _blob(kind: SourceType) -> bool:
    return kind.logical is Logical.BINARY and kind.name.endswith("blob")


def _wrapped(x: str) -> str:
    return f"CAST(CASE WHEN {x} > {(1 << 63) - 1} THEN {x} - {1 << 64} ELSE {x} END AS decimal(20,0))"


def _through_double(x: str) -> str:
    nearest = f"CAST(CAST({x} AS double) AS decimal(20,0))"
    return f"CAST(greatest(-9223372036854775808, least(9223372036854775807, {nearest})) AS bigint)"


def _as_utc(rows: Decode) -> Decode:
    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        return rows(records, table, deployment=replace(deployment or Deployment(), time_zone="UTC"))

    return lie


def _coalesced(rows: Decode) -> Decode:
    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        cells = ", ".join(f"coalesce(before.{quoted(c.name)}, after.{quoted(c.name)}) AS {quoted(c.name)}" for c in table.columns)
        image = f"CASE WHEN op = 'UPDATE' AND before IS NOT NULL THEN struct({cells}) ELSE before END"
        return on_columns(rows, before=image)(records, table, deployment=deployment)

    return lie
