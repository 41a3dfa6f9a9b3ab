"""The structs of the MongoDB connector's records: envelope, source block, update description, keys
and heartbeats.

Source: the page debezium-mongodb of the sources. Schemas are those of
`generators.families.connect`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from generators.families.connect import Schema, fields
from generators.formats.debezium_mongodb_json.profiles import MongodbProfile

_JSON: Final = Schema("string", True, "io.debezium.data.Json", 1)
"""The schema of a document's text."""
_STREAM: Final = "io.debezium.connector.mongodb.changestream"
"""The prefix of the names of schemas of an update's description."""
_COMMON: Final = "io.debezium.connector.common"
"""The prefix of the names of schemas of heartbeats."""

_TRUNCATED_ARRAY: Final = Schema(
    "struct", False, f"{_STREAM}.truncatedarray", 1, fields=fields("field:string size:int32")
)
_UPDATE_DESCRIPTION: Final = Schema(
    "struct",
    True,
    f"{_STREAM}.updatedescription",
    1,
    fields=fields(
        "removedFields updatedFields truncatedArrays",
        removedFields=Schema("array", True, items=Schema("string")),
        updatedFields=_JSON,
        truncatedArrays=Schema("array", True, items=_TRUNCATED_ARRAY),
    ),
)
_TRANSACTION: Final = Schema(
    "struct",
    True,
    "event.block",
    1,
    fields=fields("id:string total_order:int64 data_collection_order:int64"),
)


def topic_name(*parts: str) -> str:
    """The name of a topic: the parts joined by dots, with `_` for what Kafka does not allow."""
    return _underscored("[^A-Za-z0-9._-]", ".".join(parts))


def _underscored(invalid: str, name: str) -> str:
    """The name with `_` for each char of Java that the pattern matches: two for a character beyond
    U+FFFF.
    """
    return re.sub(invalid, lambda match: "_" if match[0] <= "\uffff" else "__", name)


def _schema_name(profile: MongodbProfile, topic: str, part: str) -> str:
    """The name of the schema of a topic's envelopes or keys, with `_` for what Avro's names cannot
    have where the profile adjusts them (confluent#names).
    """
    name = f"{topic}.{part}"
    return _underscored(r"[^A-Za-z0-9_.]|^[0-9.]", name) if profile.avro_names else name


@lru_cache(maxsize=64)
def source_schema(profile: MongodbProfile) -> Schema:
    """The Connect schema of the block `source` of a message."""
    snapshot = Schema(
        "string",
        True,
        "io.debezium.data.Enum",
        1,
        parameters=(("allowed", profile.snapshot_markers),),
        default='"false"',
    )
    stamps = " ts_us:int64? ts_ns:int64?" if profile.fine_stamps else ""
    replica_set = " rs:string" if profile.replica_sets else ""
    declared = (
        "version:string connector:string name:string ts_ms:int64 snapshot db:string"
        f" sequence:string?{stamps}{replica_set} collection:string ord:int32 lsid:string?"
        " txnNumber:int64? wallTime:int64?"
    )
    return Schema(
        "struct",
        False,
        "io.debezium.connector.mongo.Source",
        profile.source_version or None,
        fields=fields(declared, snapshot=snapshot),
    )


@lru_cache(maxsize=1024)
def envelope_schema(profile: MongodbProfile, topic: str) -> Schema:
    """The Connect schema of a change's message."""
    members = fields(
        "before after updateDescription source op:string? ts_ms:int64? transaction",
        before=_JSON,
        after=_JSON,
        updateDescription=_UPDATE_DESCRIPTION,
        source=source_schema(profile),
        transaction=_TRANSACTION,
    )
    return Schema("struct", False, _schema_name(profile, topic, "Envelope"), fields=members)


@lru_cache(maxsize=1024)
def key_schema(profile: MongodbProfile, topic: str) -> Schema:
    """The Connect schema of a record key: the text of the document's `_id`."""
    name = _schema_name(profile, topic, "Key")
    return Schema("struct", False, name, fields=fields("id:string"))


HEARTBEAT_KEY: Final = Schema(
    "struct", False, f"{_COMMON}.ServerNameKey", 1, fields=fields("serverName:string")
)
HEARTBEAT_VALUE: Final = Schema(
    "struct", False, f"{_COMMON}.Heartbeat", 1, fields=fields("ts_ms:int64")
)


def stamps(profile: MongodbProfile, ms: int) -> dict[str, Any]:
    """The members of `source` that give one moment."""
    if not profile.fine_stamps:
        return {"ts_ms": ms}
    return {"ts_ms": ms, "ts_us": ms * 1000, "ts_ns": ms * 1_000_000}
