"""What both encodings of the Simple protocol do behind the plan: encode each message, publish it,
and say what is owed for it.

`ticdc_simple_json` and `ticdc_simple_avro` each bring an `Encoding`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from generators.families.ticdc import text
from generators.families.ticdc.sink import RECORD_OVERHEAD, claim_check_location, pack
from generators.families.ticdc_simple import records
from generators.families.ticdc_simple.plan import cut, host_zone, plan, schemas_sent
from generators.families.ticdc_simple.profiles import SimpleProfile
from generators.families.wire_messages import WireMessage, print_message
from generators.model import (
    Cell,
    Change,
    History,
    Image,
    Kind,
    Layout,
    Op,
    SourceType,
    State,
    Value,
    Written,
)
from generators.sources import mysql

CLAIM_CHECK_STORAGE: Final = "s3://claim-check/simple"
HIDDEN: Final = "_V$_"
"""How names of columns begin that TiDB adds for the expressions of indexes
(ticdc#simple-hidden-column).
"""
_TEXT: Final = mysql.text()

Known = Mapping[records.SchemaKey, records.TableSchema]
"""The schemas that the messages of a history carry, by database, table and version."""


class Encoding(Protocol):
    """How the messages of one profile become bytes, and what a decoder can read in these."""

    @property
    def profile(self) -> SimpleProfile:
        """The profile whose facts the encoding follows."""

    @property
    def bootstrap_position(self) -> str | None:
        """The commitTs that a BOOTSTRAP message carries, None when it has no such field."""

    @property
    def empty_images(self) -> bool:
        """Whether an image without columns stands in the message, as an empty map."""

    def value(self, record: records.Record, chance: random.Random) -> bytes:
        """The bytes of a message's value before compression; what is left to chance, such as the
        order of keys, is drawn from `chance`.
        """

    def expected(self, type: SourceType, value: Value) -> Cell:
        """The cell that a perfect decoder returns for a value of the type as TiDB stores it."""


def publish(history: History, layout: Layout, encoding: Encoding) -> list[Written]:
    """Every message of the history in the order of publication, each with the change that a decoder
    must return for it.

    DDL statements and watermarks have messages, too; the SQL texts of row changes, heartbeats and
    transaction marks have none in this protocol.
    """
    chance = random.Random(history.seed)
    planned = list(plan(history, encoding.profile, layout.partitions, chance))
    known_schemas = schemas_sent(planned)
    written: list[Written] = []
    for entry in planned:
        value, change = _encode_record(encoding, entry.record, known_schemas, chance)
        # The encoder makes no key: TiCDC's Kafka producer gives an empty one, or none.
        key = b"" if isinstance(entry.record, records.DmlRecord | records.BootstrapRecord) else None
        message = WireMessage(value, (change,), key, entry.partitions)
        written += print_message(
            message, None, layout, event=entry.event, timestamp_ms=entry.record.build_ts
        )
    return written


def _encode_record(
    encoding: Encoding, record: records.Record, known_schemas: Known, chance: random.Random
) -> tuple[bytes, Change]:
    """The bytes of a message, and the change that a decoder must return for it. A row's message
    that is too long for the profile is cut to its handle key (the columns that identify the row).
    """
    profile = encoding.profile
    compression = profile.deployment.compression
    value = pack(compression, encoding.value(record, chance))
    if not isinstance(record, records.DmlRecord):
        return value, _change(record, encoding.bootstrap_position)
    if profile.reduce and len(value) + RECORD_OVERHEAD > profile.max_message_bytes:
        location = (
            claim_check_location(CLAIM_CHECK_STORAGE, chance)
            if profile.reduce == "claim-check"
            else ""
        )
        record = cut(record, location)
        value = pack(compression, encoding.value(record, chance))
    return value, row_change(encoding, record, known_schemas)


def row_change(encoding: Encoding, record: records.DmlRecord, known_schemas: Known) -> Change:
    """The change that a decoder must return for the message of a row; `known_schemas` are those
    that were sent, from which types and key come. TiDB's hidden columns are absent from its images.
    If the message has no image, a CORRUPT row is right, too.
    """
    schema = known_schemas.get(record.schema_key)
    hidden_columns = (
        tuple(column.name for column in schema.columns if column.name.startswith(HIDDEN))
        if schema
        else ()
    )
    data, old = (
        _expected(encoding, record, image, hidden_columns) for image in (record.data, record.old)
    )
    has_no_image = not record.data and not record.old
    return Change(
        0,
        Kind.ROW,
        record.op,
        database=record.source.database,
        table=record.source.name,
        position=str(record.commit_ts),
        commit_time_us=_micros(record.commit_ts),
        before=None if record.op is Op.INSERT else old,
        after=None if record.op is Op.DELETE else data,
        types=schema.types if schema else None,
        key_sets=(frozenset(schema.primary_key),) if schema else (),
        schema_version=str(record.schema_version),
        accept=((Kind.CORRUPT, None),) if has_no_image else (),
    )


def _expected(
    encoding: Encoding,
    record: records.DmlRecord,
    image: records.RowImage | None,
    hidden: Sequence[str],
) -> Image | None:
    """The image that a right decoder returns for this image of a row's message, with the `hidden`
    columns absent; None for no image, and for one without columns if the encoding writes no such
    image.
    """
    if image is None or not (image or encoding.empty_images):
        return None
    cells = {name: encoding.expected(*cell) for name, cell in image.items()}
    absent = {name: Cell(State.ABSENT, _TEXT) for name in hidden}
    return {**record.source.image(cells), **absent}


def _micros(commit_ts: int) -> int:
    """The microseconds since 1970 of a TSO, TiDB's timestamp, which has milliseconds."""
    return (commit_ts >> 18) * 1000


def _change(
    record: records.DdlRecord | records.BootstrapRecord | records.WatermarkRecord,
    bootstrap_position: str | None,
) -> Change:
    """The change that a decoder must return for a message without rows: WATERMARK, BOOTSTRAP or
    DDL. Its key, types and schema version are those of the schema in the message, None if that has
    none.
    """
    if isinstance(record, records.WatermarkRecord):
        return Change(
            0,
            Kind.WATERMARK,
            position=str(record.commit_ts),
            commit_time_us=_micros(record.commit_ts),
        )
    schema = record.table_schema
    base = Change(
        0,
        Kind.BOOTSTRAP,
        position=bootstrap_position,
        database=schema.database if schema else None,
        table=schema.table if schema else None,
        keys=schema.primary_key if schema else None,
        types=schema.types if schema else None,
        schema_version=str(schema.version) if schema else None,
    )
    if isinstance(record, records.BootstrapRecord):
        return base
    return replace(
        base,
        kind=Kind.DDL,
        position=str(record.commit_ts),
        commit_time_us=_micros(record.commit_ts),
        sql=record.sql,
    )


@dataclass(frozen=True, slots=True)
class TimestampTexts:
    """A TIMESTAMP in a message: the name of a time zone (`location`), and the `wall` clock there.
    `instants` are the times that the wall clock may mean, if they are known: two in the hour that
    occurs twice when summer time ends.
    """

    location: str
    wall: str
    instants: tuple[int, ...] = ()


def timestamp_texts(profile: SimpleProfile, type: SourceType, value: Value) -> TimestampTexts:
    """The texts that a message has for a TIMESTAMP, in the time zone of TiCDC's host."""
    zone = host_zone(profile)
    location = profile.location or zone
    if isinstance(value, int):
        wall, instants = text.timestamp_text_and_instants(value, type.fsp, zone)
        return TimestampTexts(location, wall, instants)
    return TimestampTexts(location, text.value_text(type, value))


def timestamp_cell(profile: SimpleProfile, type: SourceType, value: Value) -> Cell:
    """The cell that a decoder must return for a TIMESTAMP; its text is the JSON object of time zone
    and wall clock that the message has.
    """
    texts = timestamp_texts(profile, type, value)
    location, wall, instants = texts.location, texts.wall, texts.instants
    object_json = f'{{"location":{text.escape_name(location)},"value":"{wall}"}}'
    cls = text.value_class(type, value)
    if len(instants) > 1:
        why = f"{wall} occurs twice in {host_zone(profile)}"
        return Cell(
            State.ONE_OF, type, value, object_json, cls, json=True, options=instants, reason=why
        )
    return Cell(State.VALUE, type, value, object_json, cls, json=True)
