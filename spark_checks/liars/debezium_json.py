"""Decoders of Debezium's JSON that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, Table
from spark_checks.decoders import debezium_json as reference
from spark_checks.decoders.families.connect import rows as _connect
from spark_checks.liars.base import IMAGES, Liar, on_cells, on_columns, on_input
from spark_checks.liars.families.connect import common

_FORMAT: Final = "debezium-json"

_CONVICTS: Final = {
    "decimal-left-base64": "value/decimal-base64",
    "digits-as-number": "value/decimal-base64-digits",
    "scale-ignored": "value/decimal-base64",
    "unsigned-long-negative": "value/unsigned-long",
    "days-as-millis": "value/date-days",
    "millis-as-micros": "value/datetime-millis",
    "micros-as-millis": "value/datetime-micros",
    "unit-by-magnitude": "value/datetime-millis",
    "time-wraps": "value/time-over-24h",
    "bits-big-endian": "value/bits",
    "binary-left-base64": "value/binary-base64",
    "label-left-escaped": "value/enum-escaped",
    "read-dropped": "op/read",
    "truncate-dropped": "op/truncate",
    "before-lost": "image/sides",
    "delete-without-row": "after/delete-null",
    "delete-by-after": "after/delete-null",
    "before-required": "rows/readable",
    "tombstone-as-delete": "tombstone/kind",
    "tombstone-dropped": "tombstone/kind",
    "legacy-null-refused": "tombstone/legacy-null",
    "schemaless-refused": "rows/schemaless",
    "heartbeat-as-row": "control/heartbeat",
    "heartbeat-refused": "control/heartbeat",
    "transaction-refused": "control/transaction",
    "logical-message-refused": "control/logical-message",
    "ddl-without-op-refused": "ddl/kind",
    "row-number-dropped": "envelope/position",
    "placeholder-as-null": "toast/placeholder",
    "text-null-as-null": "value/text-null",
    "corrupt-dropped": "fault/must-reject",
    "truncated-as-nulls": "fault/must-reject",
    "second-document-dropped": "fault/after-the-document",
    "empty-as-tombstone": "fault/must-reject",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_OF_THE_CONNECTOR: Final = replace(reference.DIALECT, commit_ms=lambda p: p["ts_ms"])


def _commit_time_of_the_connector(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    return _connect.decode(records, _OF_THE_CONNECTOR, deployment)


def _one_a_position(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    decoded = reference.decode(records, deployment=deployment)
    return (
        decoded.where("position IS NOT NULL")
        .dropDuplicates(["topic", "op", "position"])
        .unionByName(decoded.where("position IS NULL"))
    )


def _keys_of_an_envelope(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    key = F.col("key").cast("string")
    return reference.decode(
        records.withColumn("key", F.when(key.startswith('{"schema":'), F.col("key")).otherwise(F.lit(b"{}"))),
        deployment=deployment,
    )


def _placeholders(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    return _connect.decode_rows(records, table, replace(reference.DIALECT, unsent=()), deployment)


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    Liar(
        "placeholder-as-a-value",
        _FORMAT,
        2,
        f"{_FORMAT}/toast/not-a-value",
        "The placeholder of a value that was not sent becomes the column's value.",
        _placeholders,
    ),
    Liar(
        "placeholder-as-a-document",
        _FORMAT,
        2,
        f"{_FORMAT}/toast/no-value-of-the-type",
        "A column of JSON is a string, so that the placeholder, which is no JSON, goes through.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.JSON,
            lambda cell, _: f"coalesce({cell}, '__debezium_unavailable_value')",
        ),
    ),
    Liar(
        "negative-zero-as-zero",
        _FORMAT,
        2,
        f"{_FORMAT}/value/double",
        "Spark's own aggregation and joins normalise -0.0 to 0.0.",
        on_cells(reference.decode_rows, lambda kind: kind.logical is Logical.DOUBLE, lambda cell, _: f"{cell} + 0D"),
        "rows/every-type/alone-double-precision",
    ),
    Liar(
        "commit-time-of-the-connector",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/commit-time",
        "Of the two ts_ms the outer one is taken, when the connector saw the change (debezium#commit-time).",
        _commit_time_of_the_connector,
    ),
    Liar(
        "time-millis-as-micros",
        _FORMAT,
        2,
        f"{_FORMAT}/value/time-millis",
        "A time is taken for microseconds, whatever its schema and the connector's mode (debezium#time-adaptive).",
        on_input(reference.decode_rows, """replace(t, '"io.debezium.time.Time"', '"io.debezium.time.MicroTime"')"""),
    ),
    Liar(
        "boolean-refused",
        _FORMAT,
        2,
        f"{_FORMAT}/value/boolean-declared",
        "A TINYINT(1) takes numbers alone: true and false of a BOOLEAN are refused.",
        on_input(reference.decode_rows, """regexp_replace(t, '"flag":(true|false)', '"flag":"$1?"')"""),
    ),
    Liar(
        "snapshot-deduplicated",
        _FORMAT,
        1,
        f"{_FORMAT}/op/read-one-position",
        "Changes of one position are taken for duplicates: of a table's snapshot one row is left (debezium#snapshot-position).",
        _one_a_position,
    ),
    Liar(
        "op-of-the-query",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/query",
        "The statement's verb is taken for the operation: an INSERT ... ON DUPLICATE KEY UPDATE for an insert (debezium#query).",
        on_input(reference.decode, """regexp_replace(t, '("query":"INSERT .*)"op":"u"', '$1"op":"c"')"""),
    ),
    Liar(
        "unknown-type-decoded",
        _FORMAT,
        1,
        f"{_FORMAT}/value/unknown-type",
        "Base64 that decodes to text is taken for that text (debezium#unknown-types).",
        on_columns(
            reference.decode,
            after="transform_values(after, (k, v) -> CASE WHEN v RLIKE '^(KD|PC)' THEN CAST(unbase64(v) AS string) ELSE v END)",
        ),
    ),
    Liar(
        "point-as-coordinates",
        _FORMAT,
        1,
        f"{_FORMAT}/value/spatial",
        "A spatial value is taken for its coordinates: the reference system is lost (debezium#spatial).",
        on_input(reference.decode, """regexp_replace(t, '"wkb":"[^"]*","srid":(\\\\d+|null)', '"wkb":null,"srid":null')"""),
    ),
    Liar(
        "back-ticks-halved",
        _FORMAT,
        1,
        f"{_FORMAT}/image/back-tick",
        "A column's name is taken for SQL text, in which a back-tick is doubled (debezium#back-ticks).",
        on_columns(reference.decode, **{side: f"transform_keys({side}, (k, v) -> replace(k, '``', '`'))" for side in IMAGES}),
    ),
    Liar(
        "keys-with-halved-back-ticks",
        _FORMAT,
        1,
        f"{_FORMAT}/key/back-tick",
        "The key's columns are looked up in the catalogue, by names in which a back-tick is one (debezium#back-ticks).",
        on_columns(reference.decode, keys="transform(keys, k -> regexp_replace(k, '`+', '`'))"),
    ),
    Liar(
        "keys-of-the-envelope",
        _FORMAT,
        1,
        f"{_FORMAT}/key/columns",
        "The record key is taken for the key's columns, with its schema or not.",
        on_columns(reference.decode, keys="CASE WHEN size(keys) > 0 THEN array('schema', 'payload') END"),
    ),
    Liar(
        "key-without-envelope-dropped",
        _FORMAT,
        1,
        f"{_FORMAT}/key/schemaless",
        "The key is read as the value is, and its columns are looked for in a payload: a schemaless key names none.",
        _keys_of_an_envelope,
    ),
    Liar(
        "transaction-as-position",
        _FORMAT,
        1,
        f"{_FORMAT}/envelope/position-postgresql",
        "The transaction's number is taken for the position: the changes of a transaction have one place.",
        on_input(reference.decode, r"""regexp_replace(t, '"txId":(\\d+),"lsn":\\d+', '"txId":$1,"lsn":$1')"""),
    ),
    Liar(
        "default-filled-in",
        _FORMAT,
        1,
        f"{_FORMAT}/value/null-kept",
        "Connect's Struct.get gives the default of the schema for a null, which replace.null.with.default=false has kept.",
        on_columns(
            reference.decode, after="transform_values(after, (k, v) -> CASE WHEN k = 'c' AND v IS NULL THEN '5' ELSE v END)"
        ),
    ),
    Liar(
        "money-as-double",
        _FORMAT,
        2,
        f"{_FORMAT}/value/money",
        "money goes through a double, as PostgreSQL's JDBC driver gives it: 19 digits are more than it has.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.name == "money",
            lambda cell, kind: f"try_cast(CAST({cell} AS double) AS {kind.spark})",
        ),
    ),
    Liar(
        "hstore-null-as-empty",
        _FORMAT,
        2,
        f"{_FORMAT}/value/hstore",
        "An item without a value becomes the empty text, as in a map of strings.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.name == "hstore",
            lambda cell, _: f"""regexp_replace({cell}, ':\\\\s*null', ':""')""",
        ),
    ),
)
