"""The profiles of Debezium's MongoDB connector: releases, capture modes and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from generators.model import Deployment, SourceType
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources import mongodb

NAME: Final = "debezium-mongodb-json"


@dataclass(frozen=True, slots=True)
class MongodbProfile(Profile):
    """A release of the connector with its options, which are facts by their names."""

    source: str = mongodb.NAME
    deployment: Deployment = Deployment(schemas="message")
    schemas: bool = True
    """`schemas.enable` of key and value."""
    tombstones: bool = True
    """`tombstones.on.delete`."""
    full_update: bool = True
    """`capture.mode`: an update has the whole document in `after`."""
    pre_image: bool = False
    """`capture.mode`: an update and a delete have the old document in `before`."""
    replica_sets: bool = False
    """`source` has `rs`, the name of the replica set."""
    fine_stamps: bool = True
    """`source` has `ts_us` and `ts_ns` beside `ts_ms`."""
    wall_clock: bool = True
    """`source.ts_ms` is the wall clock of the change; else the second of its cluster time."""
    snapshot_clock: bool = True
    """`source.ts_ms` of a document of a snapshot is the connector's clock; else 0."""
    context_headers: bool = True
    """Records have headers that name the connector (debezium#context-headers)."""
    source_version: int = 1
    """The version of `source`'s schema, 0 for none."""
    avro_names: bool = False
    """`schema.name.adjustment.mode=avro`: schemas have names that Avro allows."""
    subjects: str = ""
    """The strategy that names a schema's subject, where messages have schemas in a registry."""
    snapshot_markers: str = (
        "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
    )
    """What the schema allows for `source.snapshot`."""


CHOICES: Final = read_choices(NAME, MongodbProfile)


def supports(source_type: SourceType) -> bool:
    """Whether the connector has the type: every type of `generators.sources.mongodb`."""
    return source_type.source == mongodb.NAME
