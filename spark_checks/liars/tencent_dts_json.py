"""Decoders of Tencent DTS's FlatRecord in JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from generators.model import Logical
from spark_checks.decoders import tencent_dts_json as reference
from spark_checks.liars.base import Decode, Liar, on_cells, on_columns, on_input, on_rows
from spark_checks.liars.families.canal import common

_FORMAT: Final = "tencent-dts-json"

_CONVICTS: Final = {
    "unsigned-wraps": "value/unsigned",
    "integers-through-double": "value/integer-64",
    "decimal-through-double": "value/decimal-long",
    "microseconds-cut": "value/datetime-fraction",
    "timestamp-as-utc": "value/timestamp",
    "texts-trimmed": "value/text",
    "text-null-as-null": "value/text-null",
    "zero-date-as-date": "value/zero-date",
    "ddl-dropped": "ddl/kind",
    "statements-dropped": "control/checkpoint",
    "corrupt-dropped": "fault/must-reject",
    "second-document-dropped": "fault/must-reject",
    "updates-as-inserts": "rows/op",
    "sql-cut": "ddl/sql",
    "labels-padded": "value/wire",
    "point-dropped": "value/decimal",
    "double-through-float": "value/float",
    "times-to-the-minute": "value/time",
    "no-image-as-empty": "image/sides",
    "batch-dependent": "law/batch-independence",
    "session-zone": "law/environment-independence",
}

_EMPTY_INSERT: Final = '{"messageType":"INSERT","schemaName":"","tableName":"","columns":[],"newColumns":[]}'
_UNCLOSED: Final = "length(replace(t, '{', '')) < length(replace(t, '}', ''))"
_SIDES: Final = ("before", "after")
_ELEMENT: Final = r'(?<=[\[,]"|[\[,])(\d{10})\d{3}(?="?[,\]])'


def _images(sql: str) -> Decode:
    """Images replaced by SQL over the image `{i}`."""
    return on_columns(
        reference.decode, **{side: f"CASE WHEN {side} IS NOT NULL THEN {sql.format(i=side)} END" for side in _SIDES}
    )


def _liar(name: str, level: int, convicts: str, why: str, decode: Decode, scenario: str = "") -> Liar:
    return Liar(name, _FORMAT, level, f"{_FORMAT}/{convicts}", why, decode, scenario)


LIARS: Final[tuple[Liar, ...]] = (
    *common(_FORMAT, reference, _CONVICTS),
    _liar(
        "truncated-as-nulls",
        1,
        "fault/must-reject",
        "from_json in PERMISSIVE mode without a corrupt-record column: a truncated message is a row of NULLs.",
        on_input(reference.decode, f"CASE WHEN t LIKE '{{%' AND {_UNCLOSED} THEN '{_EMPTY_INSERT}' ELSE t END"),
    ),
    _liar(
        "null-image-refused",
        1,
        "rows/readable",
        "oldColumns and newColumns are lists: null, which the page has for the image that a row does not have, is an error.",
        on_input(
            reference.decode,
            """CASE WHEN t RLIKE '"messageType":"(INSERT|DELETE)"' AND t RLIKE '"(old|new)Columns":null' THEN '' ELSE t END""",
        ),
    ),
    _liar(
        "positions-shifted",
        1,
        "value/integer",
        "Positions are counted from 1: every column has the value of its right neighbour.",
        _images("map_from_arrays(map_keys({i}), slice(concat(map_values({i}), array(CAST(NULL AS string))), 2, size({i})))"),
    ),
    _liar(
        "columns-of-another-record",
        1,
        "lists/own-columns",
        "A table's columns are kept from its first record, and the values of all others assigned to them.",
        on_columns(
            reference.decode,
            after="CASE WHEN size(after) = size(min_by(after, offset) OVER (PARTITION BY database, table)) THEN map_from_arrays("
            "map_keys(min_by(after, offset) OVER (PARTITION BY database, table)), map_values(after)) ELSE after END",
        ),
    ),
    _liar(
        "short-list-cuts-the-row",
        1,
        "lists/short",
        "Columns and values are zipped: what a list does not reach is absent.",
        _images(
            "map_from_arrays(slice(map_keys({i}), 1, size(array_compact(map_values({i})))), "
            "slice(map_values({i}), 1, size(array_compact(map_values({i})))))"
        ),
    ),
    _liar(
        "hex-as-text",
        2,
        "value/binary",
        "A binary's text is taken for its bytes, 0x and all.",
        on_cells(
            reference.decode_rows,
            lambda k: k.logical is Logical.BINARY,
            lambda x, _: f"CAST(concat('0x', lower(hex({x}))) AS binary)",
        ),
    ),
    _liar(
        "hex-in-any-text",
        1,
        "value/text-like-hex",
        "Whatever begins with 0x is taken for a binary, in text columns too.",
        _images(
            "transform_values({i}, (k, v) -> CASE WHEN types[k] RLIKE 'char|text' THEN regexp_replace(v, '^0x', '') ELSE v END)"
        ),
    ),
    _liar(
        "seconds-as-milliseconds",
        1,
        "envelope/commit-time",
        "timestamp is read as readerTimestamp is, in milliseconds: every change is of January 1970.",
        on_columns(reference.decode, commit_time="timestamp_millis(unix_seconds(commit_time))"),
    ),
    _liar(
        "milliseconds-as-seconds",
        2,
        "value/timestamp-epoch",
        "The older edition's TIMESTAMP is read with the unit of the record's own timestamp, off by a thousand.",
        on_input(reference.decode_rows, f"regexp_replace(t, r'{_ELEMENT}', '$1')"),
    ),
    _liar(
        "delete-from-new-columns",
        1,
        "image/delete-in-old",
        "The row of a DELETE is read from newColumns, which is null.",
        on_columns(reference.decode, before="CASE WHEN op = 'DELETE' THEN NULL ELSE before END"),
    ),
    _liar(
        "heartbeat-as-row",
        1,
        "control/heartbeat",
        "Every message but a DDL is taken for a row: a heartbeat becomes a row without columns.",
        on_columns(
            reference.decode,
            op="CASE WHEN kind = 'HEARTBEAT' THEN 'INSERT' ELSE op END",
            after="CASE WHEN kind = 'HEARTBEAT' THEN CAST(map() AS map<string, string>) ELSE after END",
            kind="CASE WHEN kind = 'HEARTBEAT' THEN 'ROW' ELSE kind END",
        ),
    ),
    _liar(
        "transactions-dropped",
        1,
        "control/transaction",
        "BEGIN and COMMIT are filtered out: their offsets are never answered.",
        on_rows(reference.decode, "kind <> 'TRANSACTION'"),
    ),
    _liar(
        "absent-fields-refused",
        1,
        "rows/absent-fields",
        "A strict schema wants every field that the page lists, null or not.",
        on_input(reference.decode, """CASE WHEN contains(t, '"sql":') THEN t END"""),
    ),
    _liar(
        "table-named-by-object-name",
        1,
        "envelope/names",
        "objectName, the database and the table joined by a dot, is taken for the table's name.",
        on_columns(reference.decode, table="concat(database, '.', table)"),
    ),
    _liar(
        "label-as-empty",
        2,
        "value/enum",
        "An ENUM's text is read as its index, which a label is not.",
        on_cells(
            reference.decode_rows, lambda k: k.logical is Logical.ENUM, lambda x, _: f"CASE WHEN {x} IS NOT NULL THEN 0 END"
        ),
    ),
    _liar(
        "keys-of-the-first-column",
        1,
        "envelope/keys",
        "The first column is taken for the key, whatever pkNames says.",
        on_columns(reference.decode, keys="CASE WHEN size(keys) > 1 THEN slice(keys, 1, 1) ELSE keys END"),
        "shape/composite-key",
    ),
    _liar(
        "keys-of-every-column",
        1,
        "envelope/no-keys",
        "A table without a key is one whose whole row is the key.",
        on_columns(
            reference.decode, keys="CASE WHEN kind = 'ROW' AND coalesce(size(keys), 0) <= 0 THEN map_keys(types) ELSE keys END"
        ),
    ),
    _liar(
        "padded-time-to-the-minute",
        2,
        "value/time-padded",
        "A clock with more digits than its column is read to the minute.",
        on_input(reference.decode_rows, r"""regexp_replace(t, r':\d\d[.]0+"', ':00"')"""),
    ),
    _liar(
        "timestamp-to-the-second",
        2,
        "value/timestamp-truncated",
        "A TIMESTAMP's milliseconds are cut off with what the page says is.",
        on_cells(reference.decode_rows, lambda k: k.logical is Logical.TIMESTAMP, lambda x, _: f"date_trunc('SECOND', {x})"),
    ),
    _liar(
        "fragments-awaited",
        1,
        "rows/fragment-fields",
        "index is one less than total in the last fragment: a record whose index is total is refused.",
        on_input(
            reference.decode,
            "CASE WHEN get_json_object(t, '$.total') = get_json_object(t, '$.index') THEN '' ELSE t END",
        ),
    ),
    _liar(
        "position-without-its-file",
        1,
        "envelope/position",
        "position is read as a number, the offset alone: it starts anew in every binlog file.",
        on_columns(reference.decode, position="split_part(position, '@', 1)"),
    ),
    _liar(
        "equal-rows-dropped",
        1,
        "rows/delivered-twice",
        "A record equal to an earlier one is dropped as a second delivery: its offset is never answered.",
        lambda records, *, deployment=None: (
            on_columns(
                reference.decode,
                twin="row_number() OVER (PARTITION BY op, database, table, to_json(before), to_json(after) ORDER BY offset)",
            )(records, deployment=deployment)
            .where("twin = 1 OR kind <> 'ROW'")
            .drop("twin")
        ),
    ),
)
