"""The traps that envelopes in Kafka Connect JSON set, as variations of a reference decoder of any format that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from generators.model import Deployment, Logical, SourceType, Table
from generators.sources import mysql
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input, on_rows, quoted


class Decoders(Protocol):
    """A module with both reference decoders."""

    decode: Decode
    decode_rows: Decode


EMPTY_INSERT: Final = '{"before":null,"after":{},"source":{},"op":"c"}'
"""What is left of a truncated message when each field that cannot be read becomes NULL."""

_EPOCH: Final = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
_OPEN: Final = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"
_PLACE: Final = ("topic", "partition", "offset", "row")
_SIDES: Final = ("before", "after")


def common(fmt: str, module: Decoders, convicts: Mapping[str, str], empty: str = EMPTY_INSERT) -> Iterator[Liar]:
    """The liars of a format by name, for the names that `convicts` gives a rule; `empty` is an insert of the format without
    any column."""
    traps = _row_traps(module.decode_rows) | _message_traps(module.decode) | _fault_traps(module.decode, empty)
    for name, rule in convicts.items():
        level, why, lie = traps[name]
        yield Liar(name, fmt, level, f"{fmt}/{rule}", why, lie)


def retyped(rows: Decode, which: Callable[[SourceType], bool]) -> Decode:
    """The level-two decoder that leaves the cells of some types as the texts that the wire has."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        columns = tuple(replace(c, type=mysql.text()) if which(c.type) else c for c in table.columns)
        return rows(records, replace(table, columns=columns), deployment=deployment)

    return lie


def _row_traps(rows: Decode) -> dict[str, tuple[int, str, Decode]]:
    return {
        "decimal-left-base64": (
            2,
            "Flink, ClickHouse, Snowflake: a DECIMAL in base64 is taken for text (clickhouse-kafka-connect#346, flink-cdc#1177).",
            retyped(rows, _decimal),
        ),
        "digits-as-number": (
            2,
            "RisingWave and Paimon: what can be read as a number is one, else it is base64 (debezium#base64-digits).",
            _number_first(rows),
        ),
        "scale-ignored": (
            2,
            "RisingWave: the unscaled value is the value.",
            on_cells(rows, lambda k: _decimal(k) and (k.scale or 0) > 0, _unscaled),
        ),
        "unsigned-long-negative": (
            2,
            "BIGINT UNSIGNED in long mode is left as a signed integer.",
            on_cells(rows, _unsigned_bigint, lambda x, _: f"CASE WHEN {x} > {(1 << 63) - 1} THEN {x} - {1 << 64}BD ELSE {x} END"),
        ),
        "days-as-millis": (
            2,
            "The days of a DATE are taken for milliseconds.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.DATE,
                lambda x, _: f"date_from_unix_date(CAST(floor(unix_date({x}) / 86400000) AS int))",
            ),
        ),
        "millis-as-micros": (
            2,
            "All DATETIMEs are taken for microseconds, whatever their precision.",
            on_cells(rows, lambda k: k.logical is Logical.DATETIME and k.fsp <= 3, lambda x, _: _scaled_stamp(x, "m DIV 1000")),
        ),
        "micros-as-millis": (
            2,
            "java.util.Date: of six fraction digits three are left.",
            on_cells(
                rows,
                lambda k: k.logical is Logical.DATETIME and k.fsp > 3,
                lambda x, _: _scaled_stamp(x, "CAST(floor(m / 1000) AS bigint) * 1000"),
            ),
        ),
        "unit-by-magnitude": (
            2,
            "RisingWave guesses the unit of a timestamp by the size of the number (risingwave#26037).",
            on_cells(rows, lambda k: k.logical is Logical.DATETIME and k.fsp <= 3, lambda x, _: _guessed(x)),
        ),
        "time-wraps": (
            2,
            "Paimon: a TIME beyond a day wraps around.",
            on_cells(rows, lambda k: k.logical is Logical.TIME, lambda x, _: _within_a_day(x)),
        ),
        "bits-big-endian": (
            2,
            "The bytes of a BIT(n) are read in the order of the network.",
            on_cells(rows, lambda k: k.logical is Logical.BIT and 8 < (k.length or 1) < 64, _other_end),
        ),
        "binary-left-base64": (
            2,
            "The base64 of a binary is passed on as if it were the bytes.",
            on_cells(rows, lambda k: k.logical is Logical.BINARY, lambda x, _: f"CAST(base64({x}) AS binary)"),
        ),
        "label-left-escaped": (
            2,
            "The label of an ENUM keeps the backslash that the stream puts before a comma.",
            on_cells(rows, lambda k: k.logical is Logical.ENUM, _escaped_label),
        ),
    }


def _message_traps(decode: Decode) -> dict[str, tuple[int, str, Decode]]:
    images = {
        "placeholder-as-null": "transform_values({side}, (k, v) -> nullif(v, '__debezium_unavailable_value'))",
        "text-null-as-null": "transform_values({side}, (k, v) -> nullif(v, 'null'))",
    }
    both = {name: on_columns(decode, **{side: sql.format(side=side) for side in _SIDES}) for name, sql in images.items()}
    return {
        "read-dropped": (
            1,
            "Huawei CDL's list of operations has no r: the rows of a snapshot are lost.",
            on_rows(decode, "NOT op <=> 'READ'"),
        ),
        "read-as-insert": (1, "Flink: r is an insert.", on_columns(decode, op="CASE WHEN op = 'READ' THEN 'INSERT' ELSE op END")),
        "truncate-dropped": (1, "Flink: an op other than c, r, u, d is skipped.", on_rows(decode, "NOT op <=> 'TRUNCATE'")),
        "before-lost": (
            1,
            "Only after is read: no row before an UPDATE.",
            on_columns(decode, before="CASE WHEN op <=> 'UPDATE' THEN NULL ELSE before END"),
        ),
        "delete-without-row": (
            1,
            "A DELETE's row is looked for in after, which is null.",
            on_columns(decode, before="CASE WHEN op <=> 'DELETE' THEN NULL ELSE before END"),
        ),
        "delete-by-after": (
            1,
            "d is a row like any other, in after.",
            on_columns(
                decode,
                before="CASE WHEN op <=> 'DELETE' THEN NULL ELSE before END",
                after="CASE WHEN op <=> 'DELETE' THEN before ELSE after END",
            ),
        ),
        "before-required": (
            1,
            "Flink: an UPDATE with before null is an error, whatever the replica identity.",
            _refused(decode, "op <=> 'UPDATE' AND before IS NULL"),
        ),
        "null-as-empty-image": (
            1,
            "before null is passed on as an image without columns.",
            on_columns(decode, before="CASE WHEN op = 'INSERT' THEN map_from_arrays(array(), array()) ELSE before END"),
        ),
        "tombstone-as-delete": (
            1,
            "RisingWave: a record without value is a delete by its key, after the delete.",
            on_columns(
                decode,
                kind="CASE WHEN kind = 'TOMBSTONE' THEN 'ROW' ELSE kind END",
                op="CASE WHEN kind = 'TOMBSTONE' THEN 'DELETE' ELSE op END",
            ),
        ),
        "tombstone-dropped": (
            1,
            "Records without value are filtered out before they are read, so that nothing answers their offset.",
            on_rows(decode, "kind <> 'TOMBSTONE'"),
        ),
        "tombstone-refused": (
            1,
            "The first Flink decoder and Hudi's: no value is an error (FLINK-18700, hudi#2149).",
            _refused(decode, "kind = 'TOMBSTONE'"),
        ),
        "legacy-null-refused": (
            1,
            "A null that Connect wraps is an envelope without op.",
            on_input(decode, """CASE WHEN t LIKE '{"schema":null%"payload":null}' THEN '' ELSE t END"""),
        ),
        "schemaless-refused": (
            1,
            "JsonConverter with schemas.enable, as a reader: a value without schema and payload is an error.",
            on_input(decode, """CASE WHEN t IS NULL OR t LIKE '{"schema":%' THEN t ELSE '' END"""),
        ),
        "heartbeat-as-row": (
            1,
            "Whatever is no delete is a row (Hudi's filter op <> 'd').",
            on_columns(
                decode,
                kind="CASE WHEN kind = 'HEARTBEAT' THEN 'ROW' ELSE kind END",
                op="CASE WHEN kind = 'HEARTBEAT' THEN 'INSERT' ELSE op END",
            ),
        ),
        "heartbeat-refused": (1, "A message without op is an error.", _refused(decode, "kind = 'HEARTBEAT'")),
        "transaction-refused": (1, "A message without op is an error.", _refused(decode, "kind = 'TRANSACTION'")),
        "logical-message-refused": (1, "Flink: op m is an error.", _refused(decode, "kind = 'CONTROL'")),
        "ddl-without-op-refused": (1, "A schema change has no op, and is an error.", _refused(decode, "kind = 'DDL'")),
        "row-number-dropped": (
            1,
            "The rows of a binlog event are told by file and position alone.",
            on_columns(decode, position="regexp_replace(position, ':[0-9]+$', '')"),
        ),
        "placeholder-as-null": (1, "What may be genuine data is taken for a missing value.", both["placeholder-as-null"]),
        "text-null-as-null": (1, "The text null is taken for SQL NULL.", both["text-null-as-null"]),
        "names-folded": (
            1,
            "Names are compared in lower case.",
            on_columns(decode, database="lower(database)", table="lower(table)"),
        ),
    }


def _fault_traps(decode: Decode, empty: str) -> dict[str, tuple[int, str, Decode]]:
    return {
        "corrupt-dropped": (
            1,
            "Flink with ignore-parse-errors: messages that cannot be read vanish.",
            on_rows(decode, "kind <> 'CORRUPT'"),
        ),
        "truncated-as-nulls": (
            1,
            "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
            on_input(decode, f"CASE WHEN t LIKE '{{%' AND {_OPEN} THEN '{empty}' ELSE t END"),
        ),
        "second-document-dropped": (
            1,
            "Flink, Paimon, SeaTunnel and plain from_json: what follows the first JSON document is not looked at.",
            on_input(
                decode, r"CASE WHEN t LIKE '{%}%' AND t RLIKE r'\}\s*[^\s,\]}\"]' THEN to_json(try_parse_json(t)) ELSE t END"
            ),
        ),
        "empty-as-tombstone": (
            1,
            "A value without bytes is taken for none.",
            on_input(decode, "CASE WHEN t <> '' THEN t END"),
        ),
        "batch-dependent": (
            1,
            "What is the message's is taken from the batch: every change is given the table that the batch names last.",
            on_columns(decode, table="max(table) OVER ()"),
        ),
        "session-zone": (
            1,
            "The commit time is read through a wall clock, hence in the session's time zone: right only where that is UTC.",
            on_columns(decode, commit_time="to_utc_timestamp(commit_time, current_timezone())"),
        ),
    }


def _refused(decode: Decode, which: str) -> Decode:
    """The decoder to which some messages are unreadable."""
    none = {side: f"CASE WHEN {which} THEN NULL ELSE {side} END" for side in ("op", *_SIDES)}
    error = f"CASE WHEN {which} THEN 'refused' ELSE error END"
    return on_columns(decode, kind=f"CASE WHEN {which} THEN 'CORRUPT' ELSE kind END", error=error, **none)


def _decimal(kind: SourceType) -> bool:
    return kind.logical is Logical.DECIMAL and kind.spark != "string"


def _unsigned_bigint(kind: SourceType) -> bool:
    return kind.logical is Logical.INT and kind.spark.startswith("decimal")


def _number_first(rows: Decode) -> Decode:
    """The right cells, but where the wire's text can be cast it is."""

    def lie(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
        texts = retyped(rows, _decimal)(records, table, deployment=deployment)
        texts = texts.select(*_PLACE, *(F.col(side).alias(f"{side}_text") for side in _SIDES))

        def image(side: str) -> str:
            cells = (
                f"coalesce(try_cast({side}_text.{quoted(c.name)} AS {c.type.spark}), {side}.{quoted(c.name)}) AS {quoted(c.name)}"
                if _decimal(c.type)
                else f"{side}.{quoted(c.name)} AS {quoted(c.name)}"
                for c in table.columns
            )
            return f"CASE WHEN {side} IS NOT NULL THEN struct({', '.join(cells)}) END"

        joined = rows(records, table, deployment=deployment).join(texts, list(_PLACE), "left")
        lies = joined.withColumns({side: F.expr(image(side)) for side in _SIDES})
        return lies.drop(*(f"{side}_text" for side in _SIDES))

    return lie


def _unscaled(x: str, kind: SourceType) -> str:
    return f"coalesce(try_multiply({x}, CAST('1{'0' * (kind.scale or 0)}' AS decimal(38,0))), {x})"


def _scaled_stamp(x: str, micros: str) -> str:
    """A timestamp_ntz with its microseconds `m` replaced."""
    m = f"timestampdiff(MICROSECOND, {_EPOCH}, {x})"
    return f"timestampadd(MICROSECOND, get(transform(array({m}), m -> {micros}), 0), {_EPOCH})"


def _guessed(x: str) -> str:
    """Of milliseconds: below 10^11 they are seconds, from 10^14 on microseconds."""
    seconds = "CASE WHEN abs(m) < 253402300800000 THEN m * 1000 END"
    return _scaled_stamp(
        x, f"CASE WHEN abs(m DIV 1000) < 100000000000 THEN {seconds} WHEN m >= 100000000000000000 THEN m DIV 1000 ELSE m END"
    )


def _within_a_day(x: str) -> str:
    hours = f"abs(CAST(split_part({x}, ':', 1) AS int))"
    rest = f"substring({x}, instr({x}, ':'))"
    return f"CASE WHEN {hours} >= 24 THEN concat(right(concat('0', {hours} % 24), 2), {rest}) ELSE {x} END"


def _other_end(x: str, kind: SourceType) -> str:
    digits = ((kind.length or 1) + 7) // 8 * 2
    pairs = f"reverse(regexp_replace(lpad(hex(CAST({x} AS bigint)), {digits}, '0'), '(.)(.)', '$2$1'))"
    return f"CAST(conv({pairs}, 16, 10) AS decimal(20,0))"


def _escaped_label(x: str, kind: SourceType) -> str:
    labels = ", ".join(
        f"CAST(X'{m.replace(chr(92), chr(92) * 2).replace(',', chr(92) + ',').encode().hex()}' AS string)" for m in kind.members
    )
    return f"CASE WHEN {x} = 0 THEN '' ELSE get(array({labels}), {x} - 1) END"
