"""Alibaba Canal's flat message: JSON as the Kafka producer of Canal 1.1.4 to 1.1.8 writes it.

Source: alibaba/canal `FlatMessage`, `MQMessageUtils`, `LogEventConvert`, `CanalKafkaProducer` @
e20e4424 and tags canal-1.1.4 to canal-1.1.8, and output of those releases (page canal of the
sources). One message is one binlog rows event with all its rows; the record has no key and no
headers. No parameter sends DDL to a topic of its own: it goes to the topic of its table's rows, to
partition 0 (canal#topics). `DruidDdlParser` of 1.1.4 to 1.1.7 was run on every statement of
`generators.sources.mysql.DDL_ACTIONS`.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"data":[{"id":"1","note":"old"}],"database":"shop","es":1700000000000,
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77","id":241816,"isDdl":false,
    "mysqlType":{"id":"int","note":"text"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":4,
    "note":2005},"table":"notes","ts":1700000000141,"type":"INSERT"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000000,
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77","id":241816,"isDdl":false,
    "mysqlType":{"id":"int","note":"text"},"old":[{"note":"old"}],"pkNames":["id"],"sql":"",
    "sqlType":{"id":4,"note":2005},"table":"notes","ts":1700000000141,"type":"UPDATE"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000000,
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77","id":241816,"isDdl":false,
    "mysqlType":{"id":"int","note":"text"},"old":null,"pkNames":["id"],"sql":"","sqlType":{"id":4,
    "note":2005},"table":"notes","ts":1700000000141,"type":"DELETE"}

    {"data":null,"database":"shop","es":1700000000000,
    "gtid":"3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77","id":241816,"isDdl":true,"mysqlType":null,
    "old":null,"pkNames":null,"sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1",
    "sqlType":null,"table":"t3142384771","ts":1700000000141,"type":"ALTER"}
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, TypeAlias

from generators.families.canal import SQL_TYPES, CanalCell, is_blob
from generators.families.java_text import (
    Escapes,
    has_raw_control,
    hash_code,
    json_string,
    remainder_of_abs,
)
from generators.families.wire_messages import WireMessage, json_text, print_json, print_message
from generators.formats.alibaba_canal_json.asked_tables import AskedTables, show_column
from generators.formats.alibaba_canal_json.cells import (
    column_type,
    column_wire,
    has_unread_type,
    key_columns,
)
from generators.formats.alibaba_canal_json.profiles import (
    CHOICES,
    STATEMENT_TYPES,
    CanalProfile,
    ddl_type,
)
from generators.formats.alibaba_canal_json.scenarios import scenarios
from generators.garbage.cell_faults import CellFault, unfit_cells
from generators.garbage.faults import FAULTS, NESTED_CELL
from generators.model import (
    UNPAIRED,
    CanalRestart,
    Cell,
    Change,
    Column,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    SchemaChange,
    Side,
    SourceStatement,
    SourceType,
    State,
    Table,
    Written,
)
from generators.sources import mysql
from generators.wire_format import Format, Loss, about

BATCH_MS: Final = 100
"""Events committed within so many milliseconds (`canal.mq.canalGetTimeout`) share a batch
(canal#batch-size).
"""
BATCH_BYTES: Final = 50 * 1024
"""A batch ends with the event by which it has more bytes of the binlog than this."""
PAUSE_MS: Final = 5_000
"""How long a pause of the consumer is: 5 s were recorded. The batch after it has what was committed
in that time.
"""
PAUSE_ODDS: Final = 16
"""One batch of so many comes after a pause of the consumer."""
TRANSACTION_BYTES: Final = 150
"""About what BEGIN, the frame of an event and COMMIT take in the binlog."""
TS_LAG_MS: Final = 120
"""The shortest time from a commit to the member `ts`, in milliseconds."""

__all__ = ["FORMAT", "CanalProfile", "partition_of", "write"]

Texts: TypeAlias = Mapping[str, str | None]
"""The text of each column in an image, None for NULL."""
Wires: TypeAlias = Mapping[str, CanalCell]
"""Each column of an image as Canal writes it."""


@dataclass(frozen=True, slots=True)
class FlatMessage:
    """What a flat message says of its event: `keys` is the member pkNames (None for null), `codes`
    is sqlType, `types` is mysqlType; the other fields have the names of their members.
    """

    type: str
    database: str = ""
    table: str = ""
    is_ddl: bool = False
    sql: str = ""
    keys: tuple[str, ...] | None = None
    data: tuple[Texts, ...] = ()
    old: tuple[Texts, ...] = ()
    codes: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowImage:
    """A row of an event as the binlog holds it: in `before` and `after` the columns that the server
    logs of its two images, and in `old` the before values that Canal's message has of it.
    """

    before: Wires
    after: Wires
    old: Wires


def write(history: History, profile: CanalProfile, layout: Layout) -> list[Written]:
    """The flat messages of a history in the order of publication. Watermarks, bootstraps,
    heartbeats and transaction marks have none; the rows of one event share a message unless
    `pk_hash` spreads them over partitions.
    """
    chance = random.Random(f"{history.seed}/{profile.name}")
    written: list[Written] = []
    asked_tables = AskedTables()
    quote = partial(json_string, library=profile.escapes)
    printer = partial(print_json, quote=quote)
    for number, logged, batch in number_batches(history, chance.randrange(1, 1_000_000)):
        shown_event = asked_tables.show(logged)
        is_live = profile.live and not is_unread(shown_event)
        event = shown_event if is_live else show_event(shown_event)
        if _stops_the_writer(event, profile):
            break
        stamp = event.at.ms + TS_LAG_MS + chance.randrange(40)
        es = event.at.ms // 1000 * 1000
        for partition, flat, changes in _flats(event, profile, layout):
            members = _members(flat, profile, batch, es, stamp)
            raw = profile.escapes is Escapes.FASTJSON2_RAW and has_raw_control(
                json_text(members, quote)
            )
            positioned = (
                replace(
                    change,
                    position=str(batch),
                    commit_time_us=es * 1000,
                    database=flat.database,
                    table=flat.table,
                    keys=flat.keys,
                    types=dict(flat.types) or None,
                )
                for change in changes
            )
            spelled = isinstance(event, RowChange) and any(
                column.declared for column in event.table.columns
            )
            doubtful = raw or (spelled and any(map(has_unfit_value, changes)))
            routed = profile.dynamic_topic and flat.database and flat.table
            topic = f"{flat.database}_{flat.table}".lower() if routed else layout.topic
            changes_owed = tuple(
                accept_corrupt(change) if doubtful else change for change in positioned
            )
            message = WireMessage(members, changes_owed, partitions=(partition,), topic=topic)
            written += print_message(message, printer, layout, event=number, timestamp_ms=stamp)
    return written


def show_event(event: Event) -> Event:
    """The event with its table as the server shows it. No column has the spelling of a statement,
    nor a key that only a statement knows, and what utf8 cannot hold in three bytes is a question
    mark. If a table's name has a dot, Canal takes the answer of DESC, which calls the first unique
    key without NULL primary where there is no primary key (canal#tsdb).
    """
    if not isinstance(event, RowChange):
        return event
    table = event.table
    solid = (
        names for names in table.unique if not any(table.column(name).nullable for name in names)
    )
    key = table.primary_key or (next(solid, ()) if "." in table.name else ())
    columns = tuple(
        replace(
            show_column(c),
            type=replace(c.type, members=tuple(map(_replace_beyond_three_bytes, c.type.members))),
        )
        for c in table.columns
    )
    return replace(event, table=replace(table, columns=columns, primary_key=key))


def is_unread(event: Event) -> bool:
    """Whether the event has a table that Canal knows by the server's answer alone, since its SQL
    parser does not read the statement that made it.
    """
    match event:
        case RowChange():
            return has_unread_type(event.table)
        case SchemaChange(action="create table", after=Table() as table):
            return has_unread_type(table)
    return False


def _replace_beyond_three_bytes(value: str) -> str:
    """The text with `?` for each character beyond U+FFFF, which takes more than three bytes in
    UTF-8.
    """
    return "".join("?" if c > "\uffff" else c for c in value)


def _stops_the_writer(event: Event, profile: CanalProfile) -> bool:
    """Whether Canal stops for ever at the event. Up to release 1.1.6, where rows are spread over
    partitions, it looks up an element of `old` for every row, also where some rows have none
    (canal#old-left-out).
    """
    spread = profile.pk_hash or profile.hash_columns
    if not (
        spread
        and profile.drops_empty_old
        and isinstance(event, RowChange)
        and event.op is Op.UPDATE
    ):
        return False
    have_old = [bool(row_image.old) for row_image in log_rows(event, profile)]
    return any(have_old) and not all(have_old)


def accept_corrupt(change: Change) -> Change:
    """The change with one CORRUPT row allowed, because refusing the message is as good as reading
    it: raw control characters make it no JSON (RFC 8259 section 7), or a binary's text has a
    character that is no byte.
    """
    return replace(change, accept=(*change.accept, (Kind.CORRUPT, None)))


def has_unfit_value(change: Change) -> bool:
    """Whether a value of the change does not fit its column: a binary has a character that is no
    byte, since Canal decoded it as text, or a BIGINT UNSIGNED is negative
    (canal#live-character-binary, canal#live-serial).
    """
    cells = (cell for image in (change.before, change.after) if image for cell in image.values())
    return any(
        cell.state is State.ANY
        and (
            cell.type.unsigned
            or (cell.type.logical is Logical.BINARY and any(ord(c) > 0xFF for c in cell.text or ""))
        )
        for cell in cells
    )


def number_batches(history: History, first: int) -> Iterator[tuple[int, Event, int]]:
    """Each event with its number in the history and the id of its batch. Ids begin with `first`,
    and with 1 again after a restart of Canal. What was committed while Canal was down, or while its
    consumer paused, is in one batch (canal#batch-id, canal#batch-size).

    A batch holds commits from `start` to `end` (in milliseconds; -1: no batch is open) as long as
    it has no more than BATCH_BYTES. After a restart, at the time `caught_up_ms`, the first batch
    goes up to that time at least.
    """
    pauses = random.Random(f"{history.seed}/pauses")
    start, end, caught_up_ms, size, batch = 0, -1, 0, 0, first - 1
    for number, event in enumerate(history.events):
        if isinstance(event, CanalRestart):
            end, caught_up_ms, batch = -1, event.at.ms, 0
            continue
        if not start <= event.at.ms <= end or size > BATCH_BYTES:
            start, size, batch = event.at.ms, 0, batch + 1
            duration = PAUSE_MS if pauses.randrange(PAUSE_ODDS) == 0 else BATCH_MS
            end = max(start + duration, caught_up_ms)
        size += _logged_bytes(event)
        yield number, event, batch


def _logged_bytes(event: Event) -> int:
    """About how many bytes an event takes in the binlog: the marks of its transaction, and the
    values of its rows or its statement.
    """
    match event:
        case RowChange(rows=rows):
            images = (
                image
                for images_of_row in rows
                for image in (images_of_row.before, images_of_row.after)
                if image
            )
            values = (value for image in images for value in image.values())
            return TRANSACTION_BYTES + sum(
                len(value) if isinstance(value, str | bytes) else 8 for value in values
            )
        case SchemaChange(sql=sql) | SourceStatement(sql=sql):
            return TRANSACTION_BYTES + len(sql)
        case _:
            return 0


def _flats(
    event: Event, profile: CanalProfile, layout: Layout
) -> Iterator[tuple[int, FlatMessage, list[Change]]]:
    """Each message of an event: its partition, its contents before they are JSON, and the changes
    expected of it. All but rows go to partition 0. A statement that Canal's parser does not read
    (`is_unread`) is a QUERY that names neither database nor table (canal#unread-types). A statement
    of a `kind` None is not sent.
    """
    match event:
        case RowChange():
            yield from _row_messages(event, profile, layout)
        case SchemaChange():
            kind = ddl_type(event.action, profile)
            if is_unread(event):
                unnamed = replace(event, database="", table="")
                yield 0, *ddl_message(unnamed, "QUERY", profile)
            elif kind is not None:
                yield 0, *ddl_message(event, kind, profile)
        case SourceStatement():
            yield 0, *statement_message(event)
        case _:
            return


def ddl_message(
    event: SchemaChange, kind: str, profile: CanalProfile
) -> tuple[FlatMessage, list[Change]]:
    """The flat message of a schema change, whose type is `kind`, and the DDL change expected of it.
    Where `isDdl` is false, a decoder may call the change CONTROL. If the message has the database's
    name in back quotes, a decoder may also give the name without them.
    """
    is_ddl = profile.query_is_ddl or kind != "QUERY"
    database, quoted = event.database, mysql.quote(event.database)
    if kind == "QUERY" and quoted in event.sql:
        database = quoted  # the parser's name of a database is as the statement spells it
    flat = FlatMessage(kind, database, event.table, is_ddl, event.sql)
    accept = () if is_ddl else ((Kind.CONTROL, None),)
    bare = (event.database,) if database == quoted else ()
    return flat, [Change(0, Kind.DDL, sql=event.sql, accept=accept, databases=bare)]


def statement_message(event: SourceStatement) -> tuple[FlatMessage, list[Change]]:
    """The flat message of a statement that is no DDL, and the change expected of it: TRANSACTION
    for XA COMMIT and XA ROLLBACK (CONTROL is right too), else CONTROL (DDL is right too).
    """
    kind = STATEMENT_TYPES[event.family]
    if event.family.startswith("xa-"):
        change = Change(0, Kind.TRANSACTION, sql=event.sql, accept=((Kind.CONTROL, None),))
        return FlatMessage(kind, sql=event.sql), [change]
    database = "" if event.family == "rows-query" else event.database
    change = Change(0, Kind.CONTROL, sql=event.sql, accept=((Kind.DDL, None),))
    return FlatMessage(kind, database, event.table, sql=event.sql), [change]


def _row_messages(
    event: RowChange, profile: CanalProfile, layout: Layout
) -> Iterator[tuple[int, FlatMessage, list[Change]]]:
    """Yields, for each partition that gets rows of an INSERT, UPDATE or DELETE, its number, the
    flat message of those rows and one expected change a row; nothing for other operations, or if no
    image is logged.
    """
    if event.op not in (Op.INSERT, Op.UPDATE, Op.DELETE):
        return  # Canal takes no snapshots and has no row form of TRUNCATE
    source, event = event.table, rename_columns(event, profile)
    table, logged = event.table, log_rows(event, profile)
    if not logged:
        return
    data_images = [image.before if event.op is Op.DELETE else image.after for image in logged]
    key = key_columns(table, profile)
    keys = tuple(name for name in data_images[0] if name in key)
    olds = (
        [image.old for image in logged if image.old or not profile.drops_empty_old]
        if event.op is Op.UPDATE
        else []
    )
    codes: dict[str, int] = {}
    for image in data_images:
        codes.update({name: cell.code for name, cell in image.items()})
    columns = {column.name: column for column in table.columns}
    types = {name: column_type(columns[name], profile) for name in codes}
    flat = FlatMessage(
        event.op, table.database, table.name, keys=keys or None, codes=codes, types=types
    )
    aligned = len(olds) == len(logged)
    texts = tuple(map(_texts, data_images))
    for partition, indices in place_rows(texts, flat, profile, layout.partitions).items():
        data = tuple(texts[i] for i in indices)
        old = tuple(_texts(olds[i]) for i in indices) if aligned else tuple(map(_texts, olds))
        changes = [
            _row_change(n, event.op, table, logged[i], aligned) for n, i in enumerate(indices)
        ]
        if table is not source:
            changes = [restore_names(change, source, profile) for change in changes]
        yield partition, replace(flat, data=data, old=old), changes


def _name_in_canal(name: str, profile: CanalProfile) -> str:
    """A column's name as Canal has it: a back-tick in it stays doubled, as in the statement, in
    releases that do so (canal#back-ticks). Without `canal.instance.tsdb.enable` a character beyond
    three bytes of UTF-8 is `?`.
    """
    name = name if profile.live else _replace_beyond_three_bytes(name)
    return name.replace("`", "``") if profile.doubles_ticks else name


def rename_columns(event: RowChange, profile: CanalProfile) -> RowChange:
    """The event with Canal's names of the columns; the same one if they are the source's."""
    table = event.table
    if not any(_name_in_canal(column.name, profile) != column.name for column in table.columns):
        return event

    def renamed(source_row: Row | None) -> Row | None:
        """A row with Canal's names of its columns; None for None."""
        return (
            None
            if source_row is None
            else {_name_in_canal(name, profile): value for name, value in source_row.items()}
        )

    columns = tuple(
        replace(column, name=_name_in_canal(column.name, profile)) for column in table.columns
    )
    unique = tuple(tuple(_name_in_canal(name, profile) for name in names) for names in table.unique)
    key = tuple(_name_in_canal(name, profile) for name in table.primary_key)
    renamed_rows = tuple(
        replace(images, before=renamed(images.before), after=renamed(images.after))
        for images in event.rows
    )
    return replace(
        event,
        table=replace(table, columns=columns, primary_key=key, unique=unique),
        rows=renamed_rows,
    )


_RENAMED: Final = "the column stands under another name, with its back-tick doubled"


def restore_names(change: Change, table: Table, profile: CanalProfile) -> Change:
    """The change whose images at level two have the source's names of columns. A column that stands
    in the message under another name may hold anything there.
    """

    def image(side: Side) -> Image | None:
        """The level-two image of one side of the change, "before" or "after", with the source's
        names of columns; the cell of a column to which Canal gives another name is unknown. None if
        the change has no such image.
        """
        cells = change.image(side, 2)
        canal_names = {column: _name_in_canal(column.name, profile) for column in table.columns}
        return cells and {
            c.name: cells[c.name] if c.name == name else _unknown(c.type, _RENAMED)
            for c, name in canal_names.items()
        }

    return replace(change, full_before=image("before"), full_after=image("after"))


def place_rows(
    images: Sequence[Texts], flat: FlatMessage, profile: CanalProfile, partitions: int
) -> dict[int, list[int]]:
    """The numbers of a message's rows by partition: all in 0, all where the hash of the table's
    name points, or each where its key points, as the profile says (canal#partition).
    """
    if not profile.pk_hash and not profile.hash_columns:
        return {
            partition_of(None, [flat.table], partitions) if profile.table_hash else 0: list(
                range(len(images))
            )
        }
    numbers: dict[int, list[int]] = {}
    for i, image in enumerate(images):
        values = [
            image.get(name)
            for name in (flat.keys or () if profile.pk_hash else profile.hash_columns)
        ]
        numbers.setdefault(
            partition_of(flat.database if profile.database_hash else None, values, partitions), []
        ).append(i)
    return dict(sorted(numbers.items()))


def partition_of(database: str | None, values: Iterable[str | None], partitions: int) -> int:
    """The partition that Canal's partitionHash gives a row: `String.hashCode` of the database (left
    out for None) XOR those of `values`, which are of the row's key or of chosen columns, or the
    table's name alone (canal#partition). NULL counts as "".
    """
    code = hash_code(database) if database is not None else 0
    for value in values:
        code ^= hash_code(value or "")
    return remainder_of_abs(code, partitions)


def _texts(wires: Wires) -> Texts:
    """The text of each column in an image, None for NULL."""
    return {name: cell.text for name, cell in wires.items()}


def log_rows(event: RowChange, profile: CanalProfile) -> list[RowImage]:
    """The rows of an event as logged, each with its `old`: the before values of all columns that
    changed in this row or in an earlier one, since Canal never clears that set
    (canal#old-cumulative).
    """
    images: list[RowImage] = []
    updated: set[str] = set()
    for before, after in _logged_images(event, profile):
        old: Wires = {}
        if event.op is Op.UPDATE:
            changed = {
                name
                for name, cell in after.items()
                if name not in before or before[name].text != cell.text
            }
            updated |= changed
            old = {name: cell for name, cell in before.items() if name in updated}
        images.append(RowImage(before, after, old))
    return images


def _logged_images(event: RowChange, profile: CanalProfile) -> Iterator[tuple[Wires, Wires]]:
    """Both images of each row, with the columns that the server logs under its row image
    (`binlog_row_image`), in table order.

    FULL logs all columns. Else a before image has the columns that identify the row, and an after
    image those that an INSERT's statement names, or that an UPDATE changes in any row, or those of
    an after image that lacks some (a REPLACE); NOBLOB adds all but large columns to both. The
    columns are the same for all rows of an event (canal#row-bitmap). MINIMAL logs no row that stays
    as it is.
    """
    table, is_full = event.table, profile.image == "full"
    images = [
        tuple(
            {} if images_of_row is None else _encode_columns(table.columns, images_of_row, profile)
            for images_of_row in (r.before, r.after)
        )
        for r in event.rows
    ]
    if is_full:
        yield from ((before, after) for before, after in images)
        return
    identifying_names = set(table.handle_key or (c.name for c in table.columns))
    if event.op is Op.UPDATE:
        partial_after_names = [
            set(r.after or ()) if len(r.after or ()) < len(table.columns) else set()
            for r in event.rows
        ]
        changes = [
            partial_names or {name for name in after if before[name].text != after[name].text}
            for partial_names, (before, after) in zip(partial_after_names, images, strict=True)
        ]
    else:
        changes = [set(r.after or ()) for r in event.rows]
    logged_names = set().union(*changes)
    always_logged = {
        c.name for c in table.columns if profile.image == "noblob" and not is_blob(c.type)
    }
    if profile.mariadb and not table.handle_key:
        always_logged = identifying_names
    elif profile.mariadb and profile.image == "minimal":
        logged_names -= {c.name for c in table.columns if c.generated == "virtual"}
    for (before, after), changed_names in zip(images, changes, strict=True):
        if changed_names or always_logged or event.op is Op.DELETE:
            yield (
                {
                    name: cell
                    for name, cell in before.items()
                    if name in identifying_names | always_logged
                },
                {
                    name: cell
                    for name, cell in after.items()
                    if name in logged_names | always_logged
                },
            )


def _encode_columns(columns: Iterable[Column], source_row: Row, profile: CanalProfile) -> Wires:
    """The row's value of each of these columns as Canal writes it, by the column's name."""
    return {
        column.name: column_wire(column, source_row.get(column.name), profile) for column in columns
    }


_NOT_LOGGED: Final = "the column changed and the server's row image does not hold its old value"


def _row_change(number: int, op: Op, table: Table, row_image: RowImage, aligned: bool) -> Change:
    """The change expected for row `number` of a message. If not `aligned`, `old` has not one
    element for each row, and the before image of an UPDATE is unknown.
    """
    change = Change(number, Kind.ROW, op)
    if op is Op.DELETE:
        return replace(change, before=_image(table, row_image.before))
    change = replace(change, after=_image(table, row_image.after))
    if op is Op.INSERT:
        return change
    # Rows without a change are left out of old: nothing says to which row an element belongs.
    if not aligned:
        return replace(change, before={c.name: _unknown(c.type, UNPAIRED) for c in table.columns})
    return replace(
        change, before=_image(table, row_image.old), full_before=_image_under_old(table, row_image)
    )


def _image(table: Table, wires: Wires) -> Image:
    """The expected cell of each column of a table, from an image as Canal writes it."""
    return table.image({name: wire.cell for name, wire in wires.items()})


def _image_under_old(table: Table, row_image: RowImage) -> Image:
    """The pre-image of an UPDATE: `old` over `data`. A column that both logged images hold and
    `old` does not is unchanged; one that the before image lacks may have held anything, and one in
    neither is absent.
    """

    def cell(column: Column) -> Cell:
        """The expected cell of one column before an UPDATE: that of `old`, where the message lists
        what changed, else that of the row after it, since the column did not change.

        A column that the server did not log before the change may have held anything; one that it
        did not log after it either is ABSENT.
        """
        name = column.name
        if name in row_image.old:
            return row_image.old[name].cell
        if name not in row_image.after:
            return Cell(State.ABSENT, column.type)
        return (
            row_image.after[name].cell
            if name in row_image.before
            else _unknown(column.type, _NOT_LOGGED)
        )

    return {column.name: cell(column) for column in table.columns}


def _unknown(type: SourceType, reason: str) -> Cell:
    """A cell of that type in which any value is right, for that reason."""
    return Cell(State.ANY, type, reason=reason)


def _members(
    flat: FlatMessage, profile: CanalProfile, batch: int, es: int, stamp: int
) -> dict[str, Any]:
    """The members of a flat message in alphabetical order; inner maps are in table order. `batch`
    is the id of its batch, `es` the time of the commit and `stamp` that of the message, in
    milliseconds since 1970.
    """
    members = {
        "id": batch,
        "data": flat.data or None,
        "database": flat.database,
        "es": es,
        "isDdl": flat.is_ddl,
        "mysqlType": flat.types or None,
        "old": flat.old or None,
        "pkNames": flat.keys,
        "sql": flat.sql,
        "sqlType": flat.codes or None,
        "table": flat.table,
        "ts": stamp,
        "type": flat.type,
    }
    if profile.gtid is not None:
        members["gtid"] = profile.gtid
    return dict(sorted(members.items()))


def supports(type: SourceType) -> bool:
    """Whether Canal has the type: MySQL's own, and the spatial ones."""
    return type.source == "mysql" and (type.name in SQL_TYPES or type.name in mysql.SPATIAL)


def losses(profile: CanalProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose of a row, for every decoder."""
    if profile.image == "full":
        return ()
    return (
        Loss((), f"binlog_row_image {profile.image.upper()} logs parts of rows", "canal#row-image"),
    )


def unfit(profile: CanalProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """Faults that put a value into a cell which the column's type cannot hold: one for each kind of
    types and each way of not fitting it. There are none for a profile with options, which change
    nothing about them. `fits` are the combinations that a decoder may read, with the reason.
    """
    if not profile.options:
        yield from unfit_cells(profile.source, fits)


FORMAT: Final = Format(
    **about("alibaba-canal-json", CHOICES),
    write=write,
    faults=(*FAULTS, NESTED_CELL),
    scenarios=scenarios,
    supports=supports,
    unfit=unfit,
    losses=losses,
)
