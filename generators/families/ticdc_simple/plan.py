"""From a history to Simple's logical messages and where they go, before any encoding.

Facts: ticdc#ddl-partitions, #simple-bootstrap-sending, #simple-checksum, #simple-reduced,
#simple-schema-cache.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from generators.families.ticdc import text
from generators.families.ticdc.sink import (
    SplitRow,
    columns_of_rows,
    handle_key,
    jobs_of_event,
    partition_of,
    source_of,
    split_by_ticdc,
    split_rows,
    statement,
)
from generators.families.ticdc_simple import records
from generators.families.ticdc_simple.profiles import SimpleProfile
from generators.families.ticdc_simple.schema import Catalogue, Known
from generators.model import (
    Bootstrap,
    Column,
    Event,
    History,
    Logical,
    Op,
    Row,
    RowChange,
    SchemaChange,
    SourceType,
    Table,
    Value,
    Watermark,
)
from generators.sources.boundaries import POOL_DATABASE

CHECKSUM_VERSION: Final = 2
"""The version in recorded messages (ticdc#simple-checksum)."""

BOOTSTRAP_SECONDS: Final = 120
"""After how many seconds a table's BOOTSTRAP is sent again."""
BOOTSTRAP_ROWS: Final = 10_000
"""After how many rows of a table its BOOTSTRAP is sent again."""
QUIET: Final = frozenset({POOL_DATABASE})
"""Databases without BOOTSTRAP messages: they have a changefeed of their own, in which these are
turned off.
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A message that is to be encoded, and the partitions to each of which it is sent. `event` is
    the number of its event in the history.
    """

    record: records.Record
    partitions: tuple[int, ...]
    event: int


def host_zone(profile: SimpleProfile) -> str:
    """The IANA name of the zone that TIMESTAMP values are written in: the profile's `location`, or
    the deployment's time zone where that names none: "", or Go's "Local".
    """
    return (
        profile.location if profile.location not in ("", "Local") else profile.deployment.time_zone
    )


def plan(
    history: History, profile: SimpleProfile, partitions: int, chance: random.Random
) -> Iterator[Planned]:
    """The messages of a history before they are encoded, in the order of publication. None of them
    is cut to its handle key (the columns that identify a row) yet.
    """
    catalogue = Catalogue(host_zone(profile))
    everywhere = tuple(range(partitions))
    announced: dict[Table, _Announced] = {}
    for number, event in _numbered_jobs(history, profile):
        tso, built = event.at.tso, event.at.ms + chance.randint(5, 2_000)
        match event:
            case RowChange():
                known_table = catalogue.current(event.table)
                split = split_rows(
                    event,
                    split_keys=True,
                    new_architecture=profile.new_architecture,
                    raw=profile.raw_change,
                    by_tidb=known_table.moved,
                )
                if profile.auto_bootstrap and event.table.database not in QUIET:
                    last = announced.get(event.table)
                    if last is None or last.due(event.at.ms):
                        last = announced[event.table] = _Announced(event.at.ms)
                        yield _plan_bootstrap(known_table, profile, built, everywhere, number)
                    last.rows += len(split)
                planned_rows = [
                    _plan_placed_row(known_table, profile, event, sent_row, partitions, built)
                    for sent_row in split
                ]
                if profile.checksum and profile.new_architecture:
                    planned_rows = list(_with_listed_checksums(planned_rows))
                for planned_row in planned_rows:
                    yield replace(planned_row, event=number)
            case Bootstrap():
                announced.setdefault(event.table, _Announced(event.at.ms))
                yield _plan_bootstrap(
                    catalogue.current(event.table), profile, built, everywhere, number
                )
            case SchemaChange():
                yield Planned(_ddl(catalogue, event, profile, tso, built), everywhere, number)
            case Watermark():
                yield Planned(records.WatermarkRecord(tso, built), everywhere, number)
            case _:
                pass


def _numbered_jobs(history: History, profile: SimpleProfile) -> Iterator[tuple[int, Event]]:
    """The jobs that TiDB makes of a history's events (`jobs_of_event`), each with the number of its
    event.
    """
    for number, event in enumerate(history.events):
        for job in jobs_of_event(event, profile):
            yield number, job


def schemas_sent(planned: Iterable[Planned]) -> Mapping[records.SchemaKey, records.TableSchema]:
    """Every schema that these messages carry, also schemas before a statement, by database, table
    and version. If several have the same key, the first counts.
    """
    schemas: dict[records.SchemaKey, records.TableSchema] = {}
    for entry in planned:
        match entry.record:
            case records.BootstrapRecord(table_schema=schema):
                schemas.setdefault(schema.key, schema)
            case records.DdlRecord(table_schema=after, pre_table_schema=before):
                for table_schema in (after, before):
                    if table_schema is not None:
                        schemas.setdefault(table_schema.key, table_schema)
            case _:
                pass
    return schemas


@dataclass(slots=True)
class _Announced:
    """The time of a table's last BOOTSTRAP in milliseconds since 1970, and how many rows of the
    table were sent since.
    """

    ms: int
    rows: int = 0

    def due(self, ms: int) -> bool:
        """Whether the BOOTSTRAP must be sent again at that time."""
        return ms - self.ms >= BOOTSTRAP_SECONDS * 1000 or self.rows >= BOOTSTRAP_ROWS


def _plan_bootstrap(
    known_table: Known, profile: SimpleProfile, built: int, everywhere: tuple[int, ...], number: int
) -> Planned:
    """The BOOTSTRAP message with a table's present schema. It goes to all partitions
    (`everywhere`), or to the first alone if the profile says so. `built` is the message's time of
    making (`build_ts`), `number` that of its event in the history.
    """
    where = everywhere if profile.bootstrap_to_all else everywhere[:1]
    return Planned(
        records.BootstrapRecord(built, known_table.schema(profile.column_order)), where, number
    )


def _ddl(
    catalogue: Catalogue, event: SchemaChange, profile: SimpleProfile, tso: int, built: int
) -> records.DdlRecord:
    """The message of a DDL statement before it is encoded, with the schemas of its table after and
    before it. `built` is the time of sending.
    """
    after, before = catalogue.change(event)
    sends_before = profile.pre_table_schema or event.action == "exchange partition"
    return records.DdlRecord(
        ddl_type(event.action, new_architecture=profile.new_architecture),
        statement(event, profile),
        tso,
        built,
        after.schema(profile.column_order) if after else None,
        before.schema(profile.column_order) if before and sends_before else None,
    )


def ddl_type(action: str, *, new_architecture: bool) -> str:
    """The `type` of a DDL message of this action (TiDB's name of what a statement does, such as
    "exchange partition"): as in Canal-JSON, except that TiCDC's new architecture
    (`new_architecture`) has ALTER for EXCHANGE PARTITION.
    """
    if new_architecture and action == "exchange partition":
        return "ALTER"
    return text.ddl_type(action, new_architecture=new_architecture)


def _plan_placed_row(
    known_table: Known,
    profile: SimpleProfile,
    event: RowChange,
    sent_row: SplitRow,
    partitions: int,
    built: int,
) -> Planned:
    """The message of one row of an event and its partition; the number of the event is not set. In
    the classic architecture the checksum of a half of an UPDATE that TiCDC split is 0: both halves
    share the block of the UPDATE.
    """
    op, before, after = sent_row
    where = partition_of(
        profile.dispatcher,
        source_of(event.table, profile),
        after or before or {},
        event.at.tso,
        partitions,
        host_zone(profile),
        new_architecture=profile.new_architecture,
    )
    record = _plan_row(known_table, profile, op, before, after, event.at.tso, built)
    is_half = op is not event.op and not profile.new_architecture
    if profile.checksum and is_half and split_by_ticdc(event, before or after, known_table.moved):
        record = replace(record, checksum=records.Checksum(CHECKSUM_VERSION, 0, 0))
    return Planned(record, (where,), 0)


def _with_listed_checksums(planned_rows: Sequence[Planned]) -> Iterator[Planned]:
    """The rows of an event as the new architecture sends them with checksums. It lists the
    checksums of a table's rows apart from these, and a row of NULLs alone has none: so each row
    behind it gets that of the next one, and the rows at the end, for which none is left, are not
    sent. Rows of a table without any checksum are sent without.
    """
    checksums: dict[int, list[records.Checksum]] = {}
    for planned_row in planned_rows:
        record = planned_row.record
        assert isinstance(record, records.DmlRecord)
        listed = checksums.setdefault(record.table_id, [])
        listed += [record.checksum] if record.checksum else []
    with_checksums = {table_id for table_id, listed in checksums.items() if listed}
    for planned_row in planned_rows:
        record = planned_row.record
        assert isinstance(record, records.DmlRecord)
        if record.table_id not in with_checksums:
            yield planned_row
        elif checksums[record.table_id]:
            checksum = checksums[record.table_id].pop(0)
            yield replace(planned_row, record=replace(record, checksum=checksum))


def _plan_row(
    known_table: Known,
    profile: SimpleProfile,
    op: Op,
    before: Row | None,
    after: Row | None,
    tso: int,
    built: int,
) -> records.DmlRecord:
    """The message of one row before it is encoded, with all columns. It has a checksum if the
    profile sends them, unless all values of the row are NULL.
    """
    data, old = (
        None if image is None else _row_image(known_table, profile, image)
        for image in (after, before)
    )
    checked_row = after if after is not None else before
    assert checked_row is not None
    checksum = None
    if profile.checksum:
        columns = known_table.table.columns if profile.new_architecture else known_table.by_id()
        current, previous = (
            checksum_of(columns, image, profile.json_doubles) if image else 0
            for image in (data, old)
        )
        # a row of NULLs alone has no checksum
        checksum = (
            records.Checksum(CHECKSUM_VERSION, current, previous) if current or previous else None
        )
    return records.DmlRecord(
        known_table.table,
        known_table.physical_id(checked_row),
        op,
        tso,
        built,
        known_table.version,
        data,
        old,
        checksum,
    )


def _row_image(known_table: Known, profile: SimpleProfile, source_row: Row) -> records.RowImage:
    """The columns of a row that a message has, each with its type and its value as TiDB stores
    it.
    """
    return {
        c.name: (c.type, _stored(c.type, source_row[c.name]))
        for c in columns_of_rows(known_table.table, profile)
    }


def _stored(type: SourceType, value: Value) -> Value:
    """The value as TiDB stores it; None for NULL."""
    return None if value is None else text.canonical(type, value)


def cut(record: records.DmlRecord, location: str = "") -> records.DmlRecord:
    """A row's message that was too large, cut to the columns of its handle key (those that identify
    the row) and marked so. `location` is where the whole message is stored (a claim check), "" for
    nowhere.
    """
    key = handle_key(record.source)
    data, old = (
        None if image is None else {name: cell for name, cell in image.items() if name in key}
        for image in (record.data, record.old)
    )
    return replace(record, data=data, old=old, handle_key_only=True, claim_check_location=location)


def checksum_of(
    columns: Sequence[Column], image: records.RowImage, json_doubles: text.Doubles = "go"
) -> int:
    """The CRC-32 of the columns' bytes in their order, as TiCDC sends it. NULL adds nothing, a
    TIMESTAMP is in UTC; `json_doubles` says how doubles in JSON documents are spelled.
    """
    crc = 0
    for column in columns:
        type, value = image.get(column.name, (column.type, None))
        if value is not None:
            crc = zlib.crc32(_bytes(type, value, json_doubles), crc)
    return crc


def _bytes(type: SourceType, value: Value, json_doubles: text.Doubles) -> bytes:
    """The bytes of a value that TiCDC's checksum of a row is computed from."""
    match value:
        case str() if type.name == "vector":
            numbers = [float(number) for number in value.strip("[]").split(",") if number]
            return struct.pack(f"<I{len(numbers)}f", len(numbers), *numbers)
        case float():
            return struct.pack("<d", value)
        case int() if type.logical not in (Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME):
            return (value & (1 << 64) - 1).to_bytes(8, "little")
        case bytes():
            raw = value
        case Decimal():
            raw = text.decimal_text(value, type.scale or 0).encode()
        case _:
            raw = text.value_text(type, value, json_doubles=json_doubles).encode(
                errors="surrogatepass"
            )
    return len(raw).to_bytes(4, "little") + raw
