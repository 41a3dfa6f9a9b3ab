"""What the options in the names of writer profiles mean, in words for the generated pages; a test holds it to the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_COMPRESSION: Final = {
    "snappy": "Values are compressed with snappy as a whole; the deployment says so.",
    "lz4": "Values are compressed with lz4 as a whole; the deployment says so.",
}
_REDUCED: Final = {
    "handle-key-only": "A message above the size limit holds the columns of the handle key alone, and a flag that says so.",
    "claim-check": "A message above the size limit holds the handle key and the place in storage where the whole one lies.",
}
_SIMPLE: Final = {
    "tz": "The server was started with another time zone than its host's, and TIMESTAMP objects name it.",
    "local-zone": "TIMESTAMP objects name the zone `Local`, which is the host's.",
    "checksum": "Rows carry checksums (integrity-check-level=correctness).",
    **_REDUCED,
    "auto-bootstrap": "A BOOTSTRAP comes before a table's first row, and again after 120 seconds or 10,000 rows.",
    "one-partition": "A BOOTSTRAP goes to one partition instead of all (send-bootstrap-to-all-partition=false).",
    "snappy": _COMPRESSION["snappy"],
}
_CDL: Final = {
    "default-identity": "REPLICA IDENTITY DEFAULT: an UPDATE has no before image, a DELETE the key alone. Else FULL.",
    "other-package": "The vendor's logical types are of another package; the document blacks the package out.",
}

OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "ticdc-canal-json": {
        "extension": "enable-tidb-extension: a member `_tidb` with the commit timestamp, and watermark messages.",
        "content-compatible": "Types with their parameters, and in `old` only the columns that changed, as Canal writes them.",
        "only-updated": "`old` holds only the columns that changed.",
        **_REDUCED,
        **_COMPRESSION,
    },
    "alibaba-canal-json": {
        "noblob": "binlog_row_image=NOBLOB: large columns that did not change are not there.",
        "minimal": "binlog_row_image=MINIMAL: before images hold the key, after images what changed.",
        "pk-hash": "Rows are spread over partitions by primary key; an event of several rows becomes several messages.",
    },
    "cloudcanal-json": {
        "ddl-key": "The flag is named `ddl`, as in the older edition of the page, not `isDdl`.",
        "described": "`pks` and `bid` are as the field table describes them, not as the examples show them.",
        "deleted-in-before": "A deleted row stands in `before`: the other reading of the page.",
    },
    "cloudcanal-canal-json": {
        "null-old": "`old` of INSERT and DELETE is null, not an empty array.",
        "without-old": "INSERT and DELETE have no `old`.",
        "numbered": "`id` is a sequence number, as the field table says, not the examples' 0.",
    },
    "cloudcanal-debezium": {
        "schemaless": "The message is the payload alone, without the schema.",
        "null-images": "The image that an INSERT or DELETE has not is null, not an empty object.",
        "op-a": "A DDL message has the op `a` of the field table, which the example lacks.",
    },
    "aliyun-dts-avro": {
        "postgresql": "The source is PostgreSQL.",
        "physical-log": "PostgreSQL's physical log is read: other texts of booleans, nanoseconds, another zone.",
        "drds": "The source is PolarDB-X (DRDS): a physical object name, the logical one in tags, nanoseconds.",
        "text-character": "TEXT is of the branch Character.",
        "text-object": "TEXT is of the branch TextObject, binaries of BinaryObject.",
        "legacy-charsets": "CHAR is in latin1, VARCHAR in gbk, TINYTEXT in utf8mb3.",
        "partial": "Before images have EmptyObject NONE for what was not captured.",
        "blocks": "Arrays and maps come in several blocks.",
        "sized-blocks": "Arrays and maps come in blocks that tell their size (negative counts).",
    },
    "ticdc-simple-json": _SIMPLE,
    "ticdc-simple-avro": _SIMPLE,
    "tencent-dts-json": {
        "sparse": "Members that do not apply are left out, and value lists end after their last value that is not NULL.",
        "upper-hex": "Binaries are in upper-case hex digits.",
        "padded-time": "TIME has six fraction digits, whatever its column declares.",
        "pk-hash": "Rows are spread over partitions by table and key.",
        "older-edition": "As the page of 2022 and 2023: TIMESTAMP in milliseconds, `index` as the total.",
    },
    "huawei-cdl-json": {**_CDL, "txid-first": "`transaction.properties` has txId before lsn."},
    "huawei-cdl-debezium": {**_CDL, "heartbeat-identifier": "Rows have the field HEARTBEAT_IDENTIFIER, which the example lacks."},
    "debezium-json": {
        "postgresql": "The PostgreSQL connector. Else MySQL's.",
        "full": "REPLICA IDENTITY FULL. Else DEFAULT: no before image but the key.",
        "minimal": "binlog_row_image=MINIMAL.",
        "schemaless": "schemas.enable=false for key and value: the payload alone.",
        "plain-key": "schemas.enable=false for the key alone.",
        "transaction": "provide.transaction.metadata=true: a transaction block, and BEGIN and END messages.",
        "nulls-kept": "replace.null.with.default=false: a NULL stays null where the column has a default.",
        "legacy-tombstone": "Kafka Connect before 2.2: a tombstone is an object with null in it, not a null value.",
        "double": "decimal.handling.mode=double.",
        "string": "decimal.handling.mode=string.",
        "connect": "time.precision.mode=connect: milliseconds, finer fractions are lost.",
        "isostring": "time.precision.mode=isostring: dates and times as ISO 8601 text.",
        "base64": "binary.handling.mode=base64.",
        "hex": "binary.handling.mode=hex.",
        "unsigned-precise": "bigint.unsigned.handling.mode=precise: BIGINT UNSIGNED is a Decimal, not a negative long.",
        "interval-string": "interval.handling.mode=string: ISO 8601 durations. Else microseconds.",
    },
}
"""By format and option. The formats' own modules say what each changes in the bytes."""
