"""What TiCDC's Kafka sink does to every protocol's messages: split rows, partitions, size limit,
claim checks, compression.

Facts: ticdc#kafka-records, #partitions, #compression, #canal-claim-check, #key-update,
#column-selectors, #table-routing, #view-stored-select.
"""

from __future__ import annotations

import contextlib
import functools
import random
import unicodedata
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from generators.errors import Refused
from generators.families.ticdc import text
from generators.families.ticdc.ddl import parse, restored
from generators.families.wire_messages import Printer, WireMessage, print_message
from generators.model import (
    Change,
    Column,
    Default,
    Deployment,
    Event,
    History,
    Instant,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    SchemaChange,
    SourceType,
    Table,
    Value,
    Written,
)
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.multi_table import split_drop
from generators.wire_format import Writer

RECORD_OVERHEAD: Final = 36
"""Bytes that TiCDC adds to key and value before it compares with `max-message-bytes`."""

_DROPS: Final = {"drop table": "DROP TABLE", "drop view": "DROP VIEW"}
_ORDER: Final = {Op.DELETE: 0, Op.UPDATE: 1, Op.INSERT: 2}


@dataclass(frozen=True, slots=True)
class SinkProfile(Profile):
    """What a release's sink does whatever the protocol is, and options that every protocol has."""

    deployment: Deployment = Deployment("Asia/Shanghai")
    vectors: bool = True
    """TiDB has the type VECTOR (since v8.4)."""
    stored_select: bool = False
    """The statement of a view has the SELECT that TiDB stored (ticdc#view-stored-select)."""
    selected: bool = False
    """column-selectors leave out the columns whose names begin with hidden_
    (ticdc#column-selectors)."""
    routed: bool = False
    """Tables come from another database than messages name (ticdc#table-routing)."""
    rebuilds_drops: bool = True
    """The text of a DROP names one table, with its database (ticdc#ddl-one-statement)."""


P = TypeVar("P", bound=SinkProfile)


def partition_of(
    dispatcher: str,
    table: Table,
    source_row: Row,
    tso: int,
    partitions: int,
    time_zone: str = "UTC",
    *,
    new_architecture: bool = False,
) -> int:
    """The partition that TiCDC's dispatcher chooses for a row; of an UPDATE it is the row after it.
    `new_architecture` is that of pingcap/ticdc. Raises Refused for a row at which TiCDC stops.
    """
    match dispatcher:
        case "ts":
            return tso % partitions
        case "index-value":
            names = table.handle_key
        case "columns":
            names = tuple(column.name for column in table.columns if column.generated != "virtual")[
                -1:
            ]
            virtual = [column.name for column in table.columns if column.generated == "virtual"]
            if not new_architecture and virtual and table.columns[-1].name == names[-1]:
                raise Refused(
                    f"TiCDC stops at a row of {table.name}: dispatcher columns takes {names[-1]},"
                    f" behind virtual {virtual[-1]} (ticdc#partitions)"
                )
        case _:
            names = ()
    return (
        row_hash(table, source_row, names, time_zone, new_architecture=new_architecture)
        % partitions
    )


def row_hash(
    table: Table,
    source_row: Row,
    names: Sequence[str],
    time_zone: str = "UTC",
    *,
    new_architecture: bool = False,
) -> int:
    """The hash from which a row's partition follows: the CRC-32 of database and table, and,
    combined with it by XOR, the CRC-32 of name and value of each column in `names`. NULL is the
    text null in the classic architecture, and not hashed in the new one (ticdc#partitions).
    """
    crc = zlib.crc32(f"{table.database}{table.name}".encode(errors="surrogatepass"))
    for column in table.columns:
        stored = source_row[column.name] if column.name in names else None
        if column.name not in names or (stored is None and new_architecture):
            continue
        value = None if stored is None else text.canonical(column.type, stored)
        if value is None:
            value_bytes = b"null"
        elif isinstance(value, bytes):
            value_bytes = value
        else:
            value_bytes = text.value_text(column.type, value, time_zone=time_zone).encode()
        crc ^= zlib.crc32(column.name.encode() + value_bytes)
    return crc


def columns_of_rows(table: Table, profile: SinkProfile) -> tuple[Column, ...]:
    """The columns of a table that messages of its rows have: no virtual ones, and without those
    that column-selectors leave out (ticdc#column-selectors).
    """
    hidden = "hidden_" if profile.selected else "\0"
    return tuple(
        c for c in table.columns if c.generated != "virtual" and not c.name.startswith(hidden)
    )


def default_of(column: Column) -> Default | None:
    """The default of a column as TiDB has it, None for none: a NOT NULL YEAR without one gets 0000
    (ticdc#year-default).
    """
    if column.default is None and column.type.logical is Logical.YEAR and not column.nullable:
        return Default("'0000'", 0)
    return column.default


def source_of(table: Table, profile: SinkProfile) -> Table:
    """The table under its name at the source, by which a row's partition is chosen, where tables
    are routed to another database (ticdc#table-routing).
    """
    return replace(table, database=f"source_{table.database}") if profile.routed else table


def statement(
    event: SchemaChange, profile: SinkProfile, placement: bool = False, ttl_off: bool = True
) -> str:
    """The SQL text of a DDL statement as the profile's TiCDC sends it. Raises Refused for a
    statement of which that text is not known here.
    """
    if profile.stored_select and parse(event.sql).resolved:
        raise Refused(
            f"TiCDC sends TiDB's stored SELECT of this view, which is not known here: {event.sql}"
        )
    return restored(event.sql, placement, ttl_off, event.database if profile.routed else "")


def jobs_of_event(event: Event, profile: SinkProfile) -> Iterator[Event]:
    """The jobs of an event at TiDB: a DROP of several tables is one for each of them, with a commit
    of its own (ticdc#ddl-one-statement). Any other event stays as it is.
    """
    if not isinstance(event, SchemaChange) or event.action not in _DROPS:
        yield event
        return
    for number, drop in enumerate(split_drop(event)):
        name = f"{mysql.quote(drop.database)}.{mysql.quote(drop.table)}"
        yield replace(
            drop,
            at=replace(event.at, seq=event.at.seq + number),
            sql=f"{_DROPS[event.action]} {name}" if profile.rebuilds_drops else event.sql,
        )


class Stopped(Exception):
    """TiCDC's encoder refuses a row, which stops the changefeed."""


def publish_events(
    history: History,
    profile: SinkProfile,
    layout: Layout,
    chance: random.Random,
    messages: Callable[[Event, int], Iterable[WireMessage]],
    *event_types: type,
    printer: Printer | None = None,
) -> list[Written]:
    """The messages of a history's events, or of those of `event_types`, in the order of
    publication, up to where TiCDC stops. `messages` gives those of an event, or of one job of it,
    which is sent at that millisecond; `printer` prints them.
    """
    written: list[Written] = []
    with contextlib.suppress(Stopped):
        for number, event in enumerate(history.events):
            if event_types and not isinstance(event, event_types):
                continue
            ms = event.at.ms + chance.randint(5, 2_000)
            for job in jobs_of_event(event, profile):
                for message in messages(job, ms):
                    written += print_message(
                        message, printer, layout, event=number, timestamp_ms=ms
                    )
    return written


def writer_of_events(
    messages: Callable[[Event, P, Layout, int, random.Random], Iterable[WireMessage]],
    *event_types: type,
    printer: Printer | None = None,
) -> Writer[P]:
    """The writer of a protocol whose messages of an event depend on that event alone; `messages`
    makes them, `printer` prints them.
    """

    def write(history: History, profile: P, layout: Layout) -> list[Written]:
        """The messages of a history, each with its expectation; chance is drawn from the history's
        seed.
        """
        chance = random.Random(history.seed)
        return publish_events(
            history,
            profile,
            layout,
            chance,
            lambda event, ms: messages(event, profile, layout, ms, chance),
            *event_types,
            printer=printer,
        )

    return write


def committed(
    kind: Kind, at: Instant, database: str | None = None, table: str | None = None, **fields: Any
) -> Change:
    """A change with the position and the time of its commit: the TSO, and its milliseconds."""
    return Change(
        0,
        kind,
        database=database,
        table=table,
        position=str(at.tso),
        commit_time_us=at.ms * 1000,
        **fields,
    )


class SplitRow(NamedTuple):
    """A row of a statement as TiCDC sends it: one half of an UPDATE that is split is a DELETE or an
    INSERT. An image is None where the operation has none.
    """

    op: Op
    before: Row | None
    after: Row | None


class PlacedRow(NamedTuple):
    """A row of a statement as TiCDC sends it, and the partition that it goes to."""

    partition: int
    op: Op
    before: Row | None
    after: Row | None


def place_rows_of_table(
    event: RowChange, profile: SinkProfile, partitions: int, new_architecture: bool = False
) -> Iterator[PlacedRow]:
    """The rows of a row change as TiCDC sends them, each with its partition by the dispatcher
    `table`. An UPDATE that changes a key is sent as a DELETE and an INSERT.
    """
    source = source_of(event.table, profile)
    for op, before, after in split_rows(event, split_keys=True, new_architecture=new_architecture):
        yield PlacedRow(
            partition_of("table", source, after or before or {}, event.at.tso, partitions),
            op,
            before,
            after,
        )


Moves: TypeAlias = Callable[[Row, Row], bool]
"""Whether TiDB itself deletes a row and inserts it again."""


def split_rows(
    event: RowChange,
    *,
    split_keys: bool,
    new_architecture: bool = False,
    raw: bool = False,
    by_tidb: Moves | None = None,
) -> list[SplitRow]:
    """The rows of a statement as they are sent. An UPDATE of a key is split into a DELETE and an
    INSERT, and then all deletes come first.

    `split_keys` says that the release splits an UPDATE of any key; clustered integer keys are
    always split by TiDB. `new_architecture` is that of pingcap/ticdc, `raw` says that TiCDC itself
    splits nothing; `by_tidb` says whether TiDB moves a row, where that does not follow from the key
    alone.
    """
    by_tidb = by_tidb or functools.partial(moved, event.table)
    split_changes: list[SplitRow] = []
    split = False
    keys = _splitting_columns(event.table, split_keys)
    for images in event.rows:
        before, after = images.before, images.after
        if before is None:
            split_changes.append(SplitRow(Op.INSERT, None, after))
        elif after is None:
            split_changes.append(SplitRow(Op.DELETE, before, None))
        elif (split_keys and by_tidb(before, after)) or (
            not raw
            and any(
                _differs(event.table.column(name).type, before[name], after[name], new_architecture)
                for name in keys
            )
        ):
            split = True
            split_changes += [
                SplitRow(Op.DELETE, before, None),
                SplitRow(Op.INSERT, None, after),
            ]
        else:
            split_changes.append(SplitRow(Op.UPDATE, before, after))
    return (
        sorted(split_changes, key=lambda sent_row: _ORDER[sent_row.op]) if split else split_changes
    )


def split_by_ticdc(event: RowChange, half: Row | None, by_tidb: Moves) -> bool:
    """Whether TiCDC, not TiDB, split the UPDATE of which `half` is the old or the new row: that it
    was split is taken for granted. False for any row but those of the event's UPDATEs.
    """
    for before, after in ((images.before, images.after) for images in event.rows):
        if (
            half is not None
            and before is not None
            and after is not None
            and (half is before or half is after)
        ):
            return not by_tidb(before, after)
    return False


def moved(table: Table, before: Row, after: Row) -> bool:
    """Whether TiDB itself deletes the row and inserts it again, because an UPDATE gives it another
    clustered key, as the key's collation compares.
    """
    clustered = (
        ()
        if any(index.name == "PRIMARY" and not index.clustered for index in table.indexes)
        else table.primary_key
    )
    return any(
        collated(table.column(name), before[name]) != collated(table.column(name), after[name])
        for name in clustered
    )


def collated(column: Column, value: Value) -> Value:
    """What TiDB compares of a key's value: a text without trailing spaces and, under a collation
    that ends in `_ci`, without case and accents; any other value as it is.
    """
    if not isinstance(value, str) or column.type.logical is not Logical.TEXT:
        return value
    if column.collation.endswith("_ci"):
        value = "".join(
            c for c in unicodedata.normalize("NFD", value) if not unicodedata.combining(c)
        ).upper()
    return value.rstrip(" ")


def _splitting_columns(table: Table, split_keys: bool) -> tuple[str, ...]:
    """The columns in a table's keys such that TiCDC writes an UPDATE that changes one of them as a
    DELETE and an INSERT.
    """
    key = table.primary_key
    if split_keys:
        # the flag UniqueKey is compared, which columns of nullable keys have too (ticdc#key-update)
        return tuple(
            dict.fromkeys(
                (
                    *key,
                    *(
                        name
                        for unique in table.unique
                        for name in unique
                        if not name.startswith("_V$_")
                    ),
                )
            )
        )
    return key if len(key) == 1 and table.column(key[0]).type.logical is Logical.INT else ()


def _differs(type: SourceType, before: Value, after: Value, new_architecture: bool) -> bool:
    """Whether an UPDATE changes the value of a key's column, as TiCDC compares the texts of both
    values. In the classic architecture NULL equals the text null.
    """
    texts = [
        None if value is None else text.value_text(type, text.canonical(type, value))
        for value in (before, after)
    ]
    if not new_architecture:
        texts = ["null" if key_text is None else key_text for key_text in texts]
    return texts[0] != texts[1]


def claim_check_location(storage: str, chance: random.Random) -> str:
    """The file in which a claim check has the whole message: a random UUID below the storage's URI,
    with the ending `.json` in every encoding.
    """
    return f"{storage}/{uuid.UUID(int=chance.getrandbits(128), version=4)}.json"


def pack(compression: str, value: bytes) -> bytes:
    """The value as a snappy block or lz4 frame, or as it is when the compression is none."""
    match compression:
        case "snappy":
            import cramjam

            return bytes(cramjam.snappy.compress_raw(value))
        case "lz4":
            import cramjam

            return bytes(cramjam.lz4.compress(value))
    return value


def unpack(compression: str, value: bytes) -> bytes:
    """The value that `pack` compressed."""
    match compression:
        case "snappy":
            import cramjam

            return bytes(cramjam.snappy.decompress_raw(value))
        case "lz4":
            import cramjam

            return bytes(cramjam.lz4.decompress(value))
    return value
