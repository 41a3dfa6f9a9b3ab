r"""Debezium's MongoDB connector through Kafka Connect's JsonConverter, releases 2.5 and 3.6: a
message is a change of one document, whose text stands in `after` and `before`.

Source: debezium/debezium v2.5.4.Final and v3.6.1.Final, mongodb/mongo-java-driver, and output of
the connector's own classes (the page debezium-mongodb of the sources). A document is Extended JSON
in a string: version 1 in the images (`{"$numberLong": "5"}`, dates as milliseconds), version 2 in
the record key and in `updateDescription` (5, dates as text). An UPDATE has the document as it was
looked up, in capture.mode=change_streams only what changed; a DELETE has its document with
pre-images alone. The record key, the text of `_id`, says which document it is.

A collection is a table whose columns are fields of its documents, each of one type or null. A
document may lack a field: it is absent at level one, and NULL in a typed row.

INSERT, UPDATE and DELETE of the document `_id` 1 of `shop.notes` in capture mode
change_streams, and a heartbeat:

    {"before":null,"after":"{\"_id\": 1,\"note\": \"old\"}","updateDescription":null,
    "source":{"version":"3.6.1.Final","connector":"mongodb","name":"cdc","ts_ms":1700000000000,
    "snapshot":"false","db":"shop","sequence":null,"ts_us":1700000000000000,
    "ts_ns":1700000000000000000,"collection":"notes","ord":1,"lsid":null,"txnNumber":null,
    "wallTime":1700000000000},"op":"c","ts_ms":1700000000345,"transaction":null}

    {"before":null,"after":null,"updateDescription":{"removedFields":null,
    "updatedFields":"{\"note\": \"new\"}","truncatedArrays":null},"source":{"version":"3.6.1.Final",
    "connector":"mongodb","name":"cdc","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"collection":"notes",
    "ord":1,"lsid":null,"txnNumber":null,"wallTime":1700000000000},"op":"u","ts_ms":1700000000345,
    "transaction":null}

    {"before":null,"after":null,"updateDescription":null,"source":{"version":"3.6.1.Final",
    "connector":"mongodb","name":"cdc","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"collection":"notes",
    "ord":1,"lsid":null,"txnNumber":null,"wallTime":1700000000000},"op":"d","ts_ms":1700000000345,
    "transaction":null}

    {"ts_ms":1700000000345}
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from typing import Any, Final

from generators.families.connect import Schema, message_members, partition_of, string
from generators.families.wire_messages import (
    Part,
    WireMessage,
    json_text,
    print_message,
    print_part,
)
from generators.formats.debezium_mongodb_json import documents, envelope
from generators.formats.debezium_mongodb_json.faults import MONGODB_FAULTS
from generators.formats.debezium_mongodb_json.profiles import (
    CHOICES,
    NAME,
    MongodbProfile,
    supports,
)
from generators.formats.debezium_mongodb_json.scenarios import (
    change_json_document,
    losses,
    scenarios,
    unfit_cells,
)
from generators.model import (
    SIDES,
    Change,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    Row,
    RowChange,
    RowImages,
    Table,
    Written,
)
from generators.sources.boundaries import START
from generators.sources.collections import events_of_collections
from generators.wire_format import Format, about

__all__ = ["FORMAT", "MongodbProfile", "write"]

CODES: Final = {Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d", Op.READ: "r"}
"""The letter of each operation in the member `op`."""
REPLICA_SET: Final = "rs0"
"""The name of the replica set in `source`."""
KEY_MEMBERS: Final = ("id",)
"""The member of a record key, which is the document's `_id`."""
_UUID_BITS: Final = 0xF << 76 | 0x3 << 62
"""The bits of a UUID that hold its version and its variant."""
_UUID_7: Final = 0x7 << 76 | 0x2 << 62
"""Version 7 of a UUID, which begins with its time (debezium#context-headers)."""

NO_POSITION: Final = -1
"""The counter of a snapshot's documents, which have no cluster time."""


def write(history: History, profile: MongodbProfile, layout: Layout) -> list[Written]:
    """The records of a history in the order of publication: changes of documents, tombstones and
    heartbeats, each on its own topic below the prefix `layout.topic`.
    """
    writer = _Writer(history, profile, layout)
    for number, event in events_of_collections(history):
        writer.number = number
        match event:
            case RowChange():
                for images in event.rows:
                    writer.write_change(event, images)
            case Heartbeat():
                writer.write_heartbeat(event)
            case _:
                pass
    return writer.written


def _print(members: Mapping[str, Any]) -> bytes:
    """JSON as Kafka Connect prints it."""
    return json_text(members, string).encode("utf-8", "replace")


class _Writer:
    """One connector task: its clock, the counter of the cluster's time, and what it wrote."""

    def __init__(self, history: History, profile: MongodbProfile, layout: Layout) -> None:
        self.profile, self.layout, self.prefix = profile, layout, layout.topic
        self.chance = random.Random(f"{history.seed}/{profile.name}")
        self.written: list[Written] = []
        self.number = 0
        self.lag = self.chance.randrange(40, 400)
        self.second, self.counter = 0, 0
        run = uuid.UUID(int=(START.ms << 80 | self.chance.getrandbits(80)) & ~_UUID_BITS | _UUID_7)
        context = {
            "connectorLogicalName": self.prefix,
            "taskId": "0",
            "connectorName": "mongodb",
            "runId": str(run),
        }
        self.headers = tuple(
            (f"__debezium.context.{name}", header_text.encode())
            for name, header_text in context.items()
            if profile.context_headers
        )

    def emit(self, topic: str, key: Part, value: Part, change: Change, at: Instant) -> None:
        """Writes one record of this key and value about a change."""
        key_bytes = print_part(key, _print)
        assert key_bytes is not None
        partition = partition_of(key_bytes, self.layout.partitions)
        message = WireMessage(value, (change,), key_bytes, (partition,), topic, self.headers)
        self.written += print_message(
            message, _print, self.layout, event=self.number, timestamp_ms=at.ms + self.lag
        )

    def part(self, schema: Schema, payload: Mapping[str, Any]) -> Part:
        """The members of a key or a value, with its schema if the profile has schemas."""
        return message_members(schema, payload, has_schema=self.profile.schemas)

    def next_counter(self, at: Instant) -> int:
        """The number of a change among those in its second of the cluster's time, from 1 on
        (`source.ord`).
        """
        second = at.ms // 1000
        self.counter = self.counter + 1 if second == self.second else 1
        self.second = second
        return self.counter

    def source_ms(self, at: Instant, op: Op) -> int:
        """The member `ts_ms` of `source`: the time of the change, in whole seconds before the
        release that has the wall clock; of a snapshot's document the connector's clock, or 0 in old
        releases.
        """
        if op is Op.READ:
            return at.ms if self.profile.snapshot_clock else 0
        return at.ms if self.profile.wall_clock else at.ms // 1000 * 1000

    def source(self, at: Instant, table: Table, op: Op) -> dict[str, Any]:
        """The block `source` of a change. Connect prints the fields that the profile's schema has,
        so that an old release leaves out others, and the schema's default, "false", for the null of
        `snapshot`. A snapshot's document has no place in the cluster's time (NO_POSITION) and no
        wall clock. Each other call counts a change (`next_counter`).
        """
        is_read = op is Op.READ
        return {
            "version": self.profile.release,
            "connector": "mongodb",
            "name": self.prefix,
            "snapshot": "true" if is_read else None,
            "db": table.database,
            **envelope.stamps(self.profile, self.source_ms(at, op)),
            "rs": REPLICA_SET,
            "collection": table.name,
            "ord": NO_POSITION if is_read else self.next_counter(at),
            "wallTime": None if is_read else at.ms,
        }

    def write_change(self, event: RowChange, images: RowImages) -> None:
        """Writes the message of a change of one document, and the tombstone behind a delete. An
        update that changes nothing has no message.
        """
        before, after = images.before, images.after
        document = after if before is None else before
        assert document is not None
        payload: dict[str, Any] = {}
        image_pairs: dict[str, documents.Images] = {}
        match event.op:
            case Op.UPDATE:
                assert before is not None and after is not None
                if repr(dict(before)) == repr(dict(after)):
                    return
                payload, image_pairs = self.update(event.table, before, after)
            case Op.DELETE:
                payload, image_pairs = self.delete(event.table, document)
            case _:
                payload = {"after": documents.document_text(event.table, document)}
                image_pairs = {"after": documents.images_of_document(event.table, document)}
        self.write_row(event, document, payload, image_pairs)

    def update(
        self, table: Table, before: Row, after: Row
    ) -> tuple[dict[str, Any], dict[str, documents.Images]]:
        """The members of an update that the profile has, and what a decoder recovers from them. An
        update of every field is a replacement, which always has its document.
        """
        payload: dict[str, Any] = {}
        image_pairs: dict[str, documents.Images] = {}
        pre_image = self.profile.pre_image
        if pre_image:
            payload["before"] = documents.document_text(table, before)
            image_pairs["before"] = documents.images_of_document(table, before)
        is_replacement = documents.is_replacement(before, after)
        if self.profile.full_update or is_replacement:
            payload["after"] = documents.document_text(table, after)
            image_pairs["after"] = documents.images_of_document(table, after)
        if not is_replacement:
            described = documents.describe_update(table, before, after)
            payload["updateDescription"] = documents.description_members(table, described)
            if "after" not in image_pairs:
                image_pairs["after"] = documents.images_of_update(
                    table, before, described, pre_image=pre_image
                )
        return payload, image_pairs

    def delete(
        self, table: Table, document: Row
    ) -> tuple[dict[str, Any], dict[str, documents.Images]]:
        """The members of a delete, and what a decoder recovers: the document with pre-images, else
        its `_id` from the record key.
        """
        if not self.profile.pre_image:
            return {}, {"before": documents.images_of_key(table, document)}
        images = documents.images_of_document(table, document)
        return {"before": documents.document_text(table, document)}, {"before": images}

    def write_row(
        self,
        event: RowChange,
        document: Row,
        payload: Mapping[str, Any],
        image_pairs: Mapping[str, documents.Images],
    ) -> None:
        """Writes the record of a change: `payload` are its members about the document,
        `image_pairs` what a decoder owes for them. Behind a delete it writes the tombstone.
        """
        table, op = event.table, event.op
        topic = envelope.topic_name(self.prefix, table.database, table.name)
        members = {
            **payload,
            "source": self.source(event.at, table, op),
            "op": CODES[op],
            "ts_ms": event.at.ms + self.lag,
        }
        old, new = (image_pairs.get(side, documents.NO_IMAGES) for side in SIDES)
        change = Change(
            0,
            Kind.ROW,
            op,
            database=table.database,
            table=table.name,
            keys=table.primary_key,
            other_keys=(KEY_MEMBERS,),
            commit_time_us=self.source_ms(event.at, op) * 1000,
            before=old.wire,
            after=new.wire,
            full_before=old.full,
            full_after=new.full,
            accept=((Kind.CORRUPT, None),) if old.has_no_json or new.has_no_json else (),
        )
        key = self.part(
            envelope.key_schema(self.profile, topic), {"id": documents.key_text(table, document)}
        )
        value = self.part(envelope.envelope_schema(self.profile, topic), members)
        self.emit(topic, key, value, change, event.at)
        if op is Op.DELETE and self.profile.tombstones:
            tombstone = Change(0, Kind.TOMBSTONE, keys=table.primary_key, other_keys=(KEY_MEMBERS,))
            self.emit(topic, key, None, tombstone, event.at)

    def write_heartbeat(self, event: Heartbeat) -> None:
        """Writes a heartbeat to the topic of heartbeats."""
        self.emit(
            f"__debezium-heartbeat.{self.prefix}",
            self.part(envelope.HEARTBEAT_KEY, {"serverName": self.prefix}),
            self.part(envelope.HEARTBEAT_VALUE, {"ts_ms": event.at.ms + self.lag}),
            Change(0, Kind.HEARTBEAT),
            event.at,
        )


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    faults=MONGODB_FAULTS,
    cell_faults=lambda _profile: (),
    unfit=lambda _profile, _fits: unfit_cells(change_json_document),
    losses=losses,
)
