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
from itertools import chain
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
"""The words with which TiCDC writes a DROP anew, by its action."""
_ORDER: Final = {Op.DELETE: 0, Op.UPDATE: 1, Op.INSERT: 2}
"""The order in which the rows of a statement are sent when one of them was split."""


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
    """The partition that a dispatcher of TiCDC (`table`, `ts`, `index-value` or `columns`) chooses
    for a row with the commit TSO `tso`; of an UPDATE the row is the one after it.
    `new_architecture` says that TiCDC is that of pingcap/ticdc. Raises Refused for a row at which
    TiCDC stops.
    """
    match dispatcher:
        case "ts":
            return tso % partitions
        case "index-value":
            names = handle_key(table)
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
    """The hash that chooses a row's partition: the CRC-32 of database and table, combined by XOR
    with the CRC-32 of name and value of each column in `names`. In the classic architecture NULL is
    hashed as the text null, in the new one (`new_architecture`) not at all (ticdc#partitions).
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
    """The columns of a table that the messages of its rows have: all but virtual ones, and those
    that column-selectors leave out.
    """
    return tuple(
        c for c in table.columns if c.generated != "virtual" and not is_left_out(c, profile)
    )


def is_left_out(column: Column, profile: SinkProfile) -> bool:
    """Whether the profile's column-selectors (`selected`) leave the column out: here one whose name
    begins with `hidden_` (ticdc#column-selectors).
    """
    return profile.selected and column.name.startswith("hidden_")


def default_of(column: Column) -> Default | None:
    """The default of a column as TiDB has it, None for none: a NOT NULL YEAR without one gets 0000
    (ticdc#year-default).
    """
    if column.default is None and column.type.logical is Logical.YEAR and not column.nullable:
        return Default("'0000'", 0)
    return column.default


def source_of(table: Table, profile: SinkProfile) -> Table:
    """The table under the name by which TiCDC's dispatcher knows it, the part that chooses a row's
    partition. Where the profile routes tables to another database (`routed`), that is the name
    before the routing: here its database begins with `source_` (ticdc#table-routing).
    """
    return replace(table, database=f"source_{table.database}") if profile.routed else table


def statement(
    event: SchemaChange, profile: SinkProfile, placement: bool = False, ttl_off: bool = True
) -> str:
    """The SQL of a DDL statement as the profile's TiCDC sends it. `placement` says that it keeps
    placement rules, `ttl_off` that it turns TTL off. Raises Refused for a statement whose text in
    TiCDC is not known here.
    """
    if profile.stored_select and parse(event.sql).resolved:
        raise Refused(
            f"TiCDC sends TiDB's stored SELECT of this view, which is not known here: {event.sql}"
        )
    return restored(
        event.sql,
        placement=placement,
        ttl_off=ttl_off,
        routed=event.database if profile.routed else "",
    )


def jobs_of_event(event: Event, profile: SinkProfile) -> Iterator[Event]:
    """The jobs that TiDB makes of an event: of a DROP of several tables one for each table, with a
    commit of its own (ticdc#ddl-one-statement); any other event is one job, as it is.
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
    """The messages of a history's events in the order of publication, up to where TiCDC stops; with
    `event_types` only of events of these classes. `messages` gives the messages of an event, or of
    one job of it (`jobs_of_event`), for the millisecond at which they are sent; `printer` makes
    bytes of them.
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
    """A change with the position and the time of its commit `at`: the position is its TSO, TiDB's
    timestamp. `fields` are further fields of `Change`.
    """
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
    """A changed row of a statement as TiCDC sends it: an UPDATE may be split into a DELETE and an
    INSERT. `before` and `after` are its images, None where the operation has none.
    """

    op: Op
    before: Row | None
    after: Row | None


class PlacedRow(NamedTuple):
    """A changed row of a statement as TiCDC sends it (`SplitRow`), and the partition that it goes
    to.
    """

    partition: int
    op: Op
    before: Row | None
    after: Row | None


def place_rows_of_table(
    event: RowChange, profile: SinkProfile, partitions: int, new_architecture: bool = False
) -> Iterator[PlacedRow]:
    """The rows of a row change as TiCDC sends them, each with the partition that the dispatcher
    `table` chooses. An UPDATE that changes a key is sent as a DELETE and an INSERT.
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
"""The function that says, of the row before and after an UPDATE, whether TiDB itself deletes the
row and inserts it again.
"""


def split_rows(
    event: RowChange,
    *,
    split_keys: bool,
    new_architecture: bool = False,
    raw: bool = False,
    by_tidb: Moves | None = None,
) -> list[SplitRow]:
    """The changed rows of a statement as TiCDC sends them. An UPDATE that changes a key is sent as
    a DELETE and an INSERT; then all deletes of the statement come first.

    `split_keys` says that the release splits an UPDATE of any key; else TiCDC splits one of a
    single integer key only. `new_architecture` says that TiCDC is that of pingcap/ticdc, `raw` that
    TiCDC itself splits nothing. `by_tidb` says whether TiDB deletes and inserts a row itself; None
    means that the key alone decides that (`moved`).
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
    """Whether it was TiCDC that split the UPDATE which `half` comes from, not TiDB (`by_tidb`).
    `half` is the old or the new row of an UPDATE of the event that was split; False for any other
    row.
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
    clustered key (the key by which TiDB stores rows), as the key's collation compares.
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
    """A key's value as TiDB compares it: a text without trailing spaces and, under a collation that
    ends in `_ci`, in upper case without accents; any other value as it is.
    """
    if not isinstance(value, str) or column.type.logical is not Logical.TEXT:
        return value
    if column.collation.endswith("_ci"):
        value = "".join(
            c for c in unicodedata.normalize("NFD", value) if not unicodedata.combining(c)
        ).upper()
    return value.rstrip(" ")


def handle_key(table: Table) -> tuple[str, ...]:
    """The columns by which TiCDC identifies a row: as `Table.handle_key`, but of no unique key over
    a column that TiDB does not store (ticdc#handle-key).
    """
    if table.primary_key:
        return table.primary_key
    stored_keys = tuple(key for key in table.unique if _is_stored_key(table, key))
    return replace(table, unique=stored_keys).handle_key


def _is_stored_key(table: Table, key: tuple[str, ...]) -> bool:
    """Whether TiDB stores each column of a key."""
    return all(_is_stored(table, name) for name in key)


def _is_stored(table: Table, name: str) -> bool:
    """Whether TiDB stores a column of a key: neither a VIRTUAL one, nor the hidden one (`_V$_...`)
    of an index over an expression.
    """
    return not name.startswith("_V$_") and table.column(name).generated != "virtual"


def _splitting_columns(table: Table, split_keys: bool) -> tuple[str, ...]:
    """The columns for which TiCDC sends an UPDATE that changes one of them as a DELETE and an
    INSERT. With `split_keys` they are those of every key, each once, but not the columns that TiDB
    does not store (`_is_stored`); without, that of a single integer primary key, or none.
    """
    key = table.primary_key
    if split_keys:
        # the flag UniqueKey is compared, which columns of nullable keys have too (ticdc#key-update)
        unique_columns = chain.from_iterable(table.unique)
        stored_columns = (name for name in unique_columns if _is_stored(table, name))
        return tuple(dict.fromkeys((*key, *stored_columns)))
    return key if len(key) == 1 and table.column(key[0]).type.logical is Logical.INT else ()


def _differs(type: SourceType, before: Value, after: Value, new_architecture: bool) -> bool:
    """Whether an UPDATE changes the value of a key's column, as TiCDC sees it: it compares the
    texts of both values. In the classic architecture NULL equals the text null.
    """
    texts = [
        None if value is None else text.value_text(type, text.canonical(type, value))
        for value in (before, after)
    ]
    if not new_architecture:
        texts = ["null" if key_text is None else key_text for key_text in texts]
    return texts[0] != texts[1]


def claim_check_location(storage: str, chance: random.Random) -> str:
    """The file in which the whole of a message is stored that is too large to be sent (a claim
    check): a random UUID below the storage's URI, with the ending `.json` in every encoding.
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
