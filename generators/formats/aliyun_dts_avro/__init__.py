r"""Aliyun DTS Avro: raw Avro records of a subscription or of a sync to Kafka, editions 2019 and
2020-06 of the schema.

Source: the vendor's Record.avsc and its clients (`aliyun` of the catalogue of sources). One message
is one record and one change: a row, a DDL statement, a transaction mark, or nothing but a sign of
life. `fields[i]` names the column of `beforeImages[i]` and `afterImages[i]`; its order is not the
table's, and here is drawn from the history's seed.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, a
watermark, and a heartbeat, with 2020-06:

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x00\x02\x14s
    hop.notes\x00\n\x12thread_id\x0427\x16metaVersion\x0481(readerThroughoutTime\x1a1700000000431
    \x14pk_uk_info${"PRIMARY":["id"]}\x12server_id\x142026310845\x00\x04\x04\x04id\x06\x08note\xf8
    \x03\x00\x00\x04\x04\x02\x08\x021\x14\x08TEXT\x06old\x00\x80\xc4\x9f\xd5\x0c'

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x02\x02\x14s
    hop.notes\x00\n\x12thread_id\x0427\x16metaVersion\x0481(readerThroughoutTime\x1a1700000000431
    \x14pk_uk_info${"PRIMARY":["id"]}\x12server_id\x142026310845\x00\x04\x04\x04id\x06\x08note\xf8
    \x03\x00\x04\x04\x02\x08\x021\x14\x08TEXT\x06old\x00\x04\x04\x02\x08\x021\x14\x08TEXT\x06new\x00
    \x80\xc4\x9f\xd5\x0c'

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x04\x02\x14s
    hop.notes\x00\n\x12thread_id\x0427\x16metaVersion\x0481(readerThroughoutTime\x1a1700000000431
    \x14pk_uk_info${"PRIMARY":["id"]}\x12server_id\x142026310845\x00\x04\x04\x04id\x06\x08note\xf8
    \x03\x00\x04\x04\x02\x08\x021\x14\x08TEXT\x06new\x00\x00\x80\xc4\x9f\xd5\x0c'

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x06\x02\x08s
    hop\x00\x14\x10GTID_SETZ9e76e5d8-4ac3-11ee-9e33-00163e0a8a2b:1-743192\x1aQ_FLAGS2_CODE\x020\x1ec
    ommitTimestamp\x141700000000\x1cQ_CHARSET_CODE\x1245,45,
    255\x1eQ_SQL_MODE_CODE\x141436549152&lowerCaseTableNames\x08true(readerThroughoutTime\x1a1700000
    000431\x12server_id\x142026310845\x12thread_id\x0427\x08GTIDV9e76e5d8-4ac3-11ee-9e33-00163e0a8a2
    b:743192\x00\x00\x00\x02tALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1\x80\xc4\x9f
    \xd5\x0c'

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x12\x00\x00
    \x02(readerThroughoutTime\x1a1700000000431\x00\x00\x00\x00\x80\xc4\x9f\xd5\x0c'

    None b'\x00\x82\x98v\x80\xc4\x9f\xd5\x0c\x1072469@78\x1072347@78\x020\x00\x0c8.0.28\x10\x00\x00
    \x02(readerThroughoutTime\x1a1700000000431\x00\x00\x00\x00\x80\xc4\x9f\xd5\x0c'
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from generators.families.wire_messages import WireMessage, print_message
from generators.formats.aliyun_dts_avro.cells import (
    CHARSET_DOUBT,
    NONE,
    Writer,
    supports,
    type_number,
    writer_of,
)
from generators.formats.aliyun_dts_avro.faults import FAULTS, FITS, cell_faults, unfit
from generators.formats.aliyun_dts_avro.profiles import (
    CHOICES,
    NAME,
    AliyunProfile,
    TaskFacts,
    followed,
)
from generators.formats.aliyun_dts_avro.scenarios import scenarios
from generators.formats.aliyun_dts_avro.schema import (
    FIELD,
    AvroRecord,
    Datum,
    cell_bytes,
    record_encoder,
)
from generators.model import (
    Cell,
    Change,
    DtsOperation,
    DtsSetting,
    Event,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    Side,
    State,
    Table,
    TransactionMark,
    Watermark,
    Written,
)
from generators.wire_format import Format, about

__all__ = ["FORMAT", "AliyunProfile", "write"]

COMMITS_PER_FILE: Final = 1000
"""The virtual binlog: the counter of `Instant.seq` over this is the file's number less
`FIRST_FILE`.
"""
EVENTS_PER_FILE: Final = 60
"""Events of a history after which the file of the virtual binlog ends."""
FIRST_FILE: Final = 78
"""The number of the first file of the virtual binlog."""
GTID: Final = "9e76e5d8-4ac3-11ee-9e33-00163e0a8a2b"
"""The server's part of a gtid, before the transaction's number."""
LAG_MS: Final = 431
"""How much later the task handles an event."""

_SESSION: Final = {"thread_id": "27", "server_id": "2026310845"}
"""The tags that name MySQL's thread and server, of rows and DDL statements."""

_OPERATIONS: Final = {
    Op.INSERT: "INSERT",
    Op.UPDATE: "UPDATE",
    Op.DELETE: "DELETE",
    Op.READ: "INIT",
}
"""The record's operation by that of the row change."""
_ALIVE: Final = ((Kind.HEARTBEAT, None),)
"""A decoder may also call the record a HEARTBEAT."""
_CONTROLS: Final[Mapping[str, tuple[tuple[Kind, Op | None], ...]]] = {
    "CHECKPOINT": _ALIVE,
    "NOOP": _ALIVE,
    "FILL": (),
    "FINISH": (),
    "CONTROL": (),
    "RDB": (),
}
"""Operations that tell nothing of data, each with the kinds, beside CONTROL, as which a decoder may
return the record.
"""


def write(history: History, profile: AliyunProfile, layout: Layout) -> list[Written]:
    """The records of a history in order: one a row, DDL statement, transaction mark, heartbeat,
    watermark (as CHECKPOINT), and one for each `DtsOperation`. All are in partition 0 of the
    layout's topic and have no key.

    Ids, transaction ids, the order of columns and tags and the schema's version are drawn from the
    history's seed. A `DtsSetting` event gives no record: it replaces facts of the profile for the
    events after it. Raises KeyError for a `DtsOperation` whose operation the schema has not.
    """
    task = _Task(history, profile)
    return [
        written
        for ordinal, event in enumerate(history.events)
        for written in task.records(event, ordinal, layout)
    ]


@dataclass(frozen=True, slots=True)
class _Content:
    """What one record says beside its head (fields as in `AvroRecord`), with the change expected of
    it. `name` is the head's objectName.
    """

    operation: str
    change: Change
    name: str | None = None
    tags: Mapping[str, str] | None = None
    fields: str | Sequence[bytes] | None = None
    before: str | Sequence[bytes] | None = None
    after: str | Sequence[bytes] | None = None


class _Task:
    """One DTS task: its profile as settings left it, the last id, the version of the schema in
    metaVersion.
    """

    def __init__(self, history: History, profile: AliyunProfile) -> None:
        self.profile, self.seed = followed(profile), history.seed
        self.chance = random.Random(f"{history.seed}/{profile.name}/0")
        self.id = self.chance.randrange(1, 1_000_000)
        self.transaction = self.chance.randrange(1, 1_000_000)
        self.meta_version = self.chance.randrange(1, 100)

    def records(self, event: Event, ordinal: int, layout: Layout) -> Iterator[Written]:
        """Yields the records of an event, each with the change expected of it. A
        `DtsSetting` changes the task's profile instead. Raises TypeError for a setting of what is
        no fact.
        """
        if isinstance(event, DtsSetting):
            self.profile = replace(self.profile, **event.facts)
            return
        profile = self.profile
        position, safe = positions(event.at, ordinal, profile)
        seconds = 0 if profile.bare else event.at.ms // 1000
        bare = Change(0, Kind.CONTROL, position=position, commit_time_us=seconds * 1_000_000)
        for content in self.contents(event, bare):
            stamp = event.at.ms + LAG_MS
            self.id += not profile.one_id
            head: dict[str, Any] = {
                "version": profile.version,
                "id": self.id,
                "sourceTimestamp": seconds,
                "sourcePosition": position,
                "safeSourcePosition": safe,
                "sourceTxid": "0",
                "source": {"sourceType": profile.source_type, "version": profile.source_version},
                "operation": content.operation,
                "objectName": content.name,
                "processTimestamps": [stamp - 20, stamp] if profile.processed else None,
            }
            if profile.bare:
                head |= {
                    "version": 0,
                    "id": 0,
                    "sourceTxid": "",
                    "source": {"sourceType": profile.source_type, "version": ""},
                }
            record = AvroRecord(
                head,
                self.tags(content, stamp),
                content.fields,
                content.before,
                content.after,
                seconds if profile.born else None,
                profile.framing,
            )
            message = WireMessage(record.encoded(), (content.change,))
            yield from print_message(message, None, layout, event=ordinal, timestamp_ms=stamp)

    def tags(self, content: _Content, stamp: int) -> dict[str, str]:
        """The tags of a record as a map in random order: those of its contents (None: it has none),
        and the time of reading, `stamp`. With the settings `short` and `bare` (records that say
        little, see TaskFacts) only a row has tags, without that time.
        """
        content_tags = [] if content.tags is None else list(content.tags.items())
        if self.profile.short or self.profile.bare:
            pairs = content_tags if content.change.kind is Kind.ROW else []
        else:
            pairs = [("readerThroughoutTime", str(stamp)), *content_tags]
        self.chance.shuffle(pairs)
        return dict(pairs)

    def contents(self, event: Event, bare: Change) -> Iterator[_Content]:
        """Yields what each record of an event says beside its head, with the change expected of it.
        `bare` is the expected change without table and images.
        """
        match event:
            case RowChange(op=Op.INSERT | Op.UPDATE | Op.DELETE | Op.READ):
                yield from self.row_contents(event, bare)
            case SchemaChange():
                self.meta_version += 1
                yield self.ddl(event, bare)
            case TransactionMark():
                self.transaction += event.mark == "BEGIN"
                tags = {"GTID": f"{GTID}:{self.transaction}", **self.session()}
                yield _Content(event.mark, replace(bare, kind=Kind.TRANSACTION), tags=tags)
            case Heartbeat():
                yield _Content("HEARTBEAT", replace(bare, kind=Kind.HEARTBEAT))
            case Watermark():
                yield _Content("CHECKPOINT", replace(bare, accept=_CONTROLS["CHECKPOINT"]))
            case DtsOperation(operation="COMMAND"):
                accept = ((Kind.CONTROL, None),)
                change = replace(
                    bare, kind=Kind.DDL, database=event.database, sql=event.sql, accept=accept
                )
                yield _Content("COMMAND", change, object_name(event.database), after=event.sql)
            case DtsOperation(operation=name):
                yield _Content(name, replace(bare, accept=_CONTROLS[name]))
            case _:
                return

    def session(self) -> dict[str, str]:
        """The tags that MySQL's session gives to statements and transaction marks; none for
        PostgreSQL.
        """
        if self.profile.source == "postgresql":
            return {}
        return {
            "lowerCaseTableNames": "0",
            "Q_FLAGS2_CODE": "0",
            "Q_SQL_MODE_CODE": "1436549152",
            "Q_CHARSET_CODE": "45,45,255",
        }

    def statement(self, at: Instant) -> dict[str, str]:
        """The tags of a DDL statement, which begins a transaction of its own (aliyun#ddl-tags);
        none for PostgreSQL.
        """
        self.transaction += 1
        if self.profile.source == "postgresql":
            return {}
        return self.session() | {
            "lowerCaseTableNames": "true",
            "GTID": f"{GTID}:{self.transaction}",
            "GTID_SET": f"{GTID}:1-{self.transaction}",
            "commitTimestamp": str(at.ms // 1000),
            **_SESSION,
        }

    def ddl(self, event: SchemaChange, bare: Change) -> _Content:
        """What the record of a DDL statement says: the SQL as the text of afterImages; its object
        is the database, even if the statement names a table, unless the profile says otherwise
        (`ddl_table`). With `logical_tags` the object has the names in a shard, and tags have the
        logical ones. The member `fields` is null, or with `fields_text` an empty text. `bare` is
        the change expected of a decoder, without what is the statement's own.
        """
        profile = self.profile
        tags = self.statement(event.at)
        parts, table = [event.database], event.table if profile.ddl_table else None
        if table:
            parts.append(table)
        if profile.logical_tags:
            tags |= {"l_db_name": event.database} | ({"l_tb_name": table} if table else {})
            parts = physical_names(parts)
        change = replace(bare, kind=Kind.DDL, database=event.database, table=table, sql=event.sql)
        fields = "" if profile.fields_text else None
        return _Content("DDL", change, object_name(*parts), tags, fields, after=event.sql)

    def row_contents(self, event: RowChange, bare: Change) -> Iterator[_Content]:
        """Yields for each row of a row change what its record says, with the change expected of it.
        `bare` is the expected change without names, keys, types and images.
        """
        profile, table = self.profile, event.table
        columns = _columns(table, self.seed, profile)
        keys = table.primary_key if profile.keys_told else ()
        schema = table.schema
        named_change = replace(
            bare,
            kind=Kind.ROW,
            op=event.op,
            database=table.database,
            schema=schema,
            table=table.name,
            keys=keys or None,
            types=columns.types,
        )
        parts = [table.database, *([schema] if schema else []), table.name]
        if profile.logical_tags:
            parts = physical_names(parts)
        name = object_name(*parts)
        for images in event.rows:
            before, old = self.image(columns, images, event, "before")
            after, new = self.image(columns, images, event, "after")
            change = replace(named_change, before=before, after=after)
            if any(
                cell.reason == CHARSET_DOUBT
                for image in (before, after)
                if image
                for cell in image.values()
            ):
                change = replace(change, accept=((Kind.CORRUPT, None),))
            tags = self.row_tags(table)
            yield _Content(_OPERATIONS[event.op], change, name, tags, columns.items, old, new)

    def image(
        self, columns: _Columns, images: RowImages, event: RowChange, side: Side
    ) -> tuple[dict[str, Cell] | None, list[bytes] | None]:
        """One side of a row, `before` or `after`: the cells that a decoder must return for it, by
        column, and the encoded values of its columns in their order. A side that the row does not
        have has no cells (None), and no values either: None, or [] with `empty_images`.

        Columns that the profile lists as `unset` are written as EmptyObject NONE, and owed as
        absent. With `partial` so are those columns of a before image that are neither in the key
        nor changed. Columns listed as `hidden` are not written, and owed as absent.
        """
        profile, table = self.profile, event.table
        source_row, other_source_row = (
            (images.before, images.after) if side == "before" else (images.after, images.before)
        )
        if source_row is None:
            return None, [] if profile.empty_images else None
        unset = set(profile.unset)
        if profile.partial and side == "before":
            unset |= _not_captured(table, source_row, other_source_row)
        cells: dict[str, Cell] = {}
        items: list[bytes] = []
        for column, write_value in columns.writers:
            datum, cell = write_value(source_row.get(column))
            if column in unset:
                datum, cell = _unset(cell)
            cells[column] = cell
            items.append(cell_bytes(datum))
        for column in profile.hidden:
            if any(c.name == column for c in table.columns):
                cells[column] = Cell(State.ABSENT, table.column(column).type)
        return cells, items

    def row_tags(self, table: Table) -> dict[str, str]:
        """The tags of a row's record: the source's session, names of the table, its version and its
        keys, as far as the profile has them.
        """
        profile = self.profile
        tags = dict(_SESSION) if profile.source == "mysql" else {}
        if profile.meta_version:
            tags["metaVersion"] = str(self.meta_version)
        if profile.logical_tags:
            tags |= {"l_db_name": table.database, "l_tb_name": table.name}
        keys: dict[str, Sequence[str]] = {f"uk_{'_'.join(key)}": key for key in table.unique}
        if table.primary_key:
            keys["PRIMARY"] = table.primary_key
        if profile.keys_told and (keys or self.chance.random() < 0.5):
            order = list(keys)
            self.chance.shuffle(order)
            tags["pk_uk_info"] = json.dumps(
                {name: keys[name] for name in order}, ensure_ascii=False, separators=(",", ":")
            )
        return tags


def _unset(cell: Cell) -> tuple[Datum, Cell]:
    """What stands for a column that was not captured: EmptyObject NONE, of which a decoder owes an
    absent cell of the same type.
    """
    return NONE, Cell(State.ABSENT, cell.type)


def _not_captured(table: Table, old_row: Row, new_row: Row | None) -> set[str]:
    """The columns that a source without full logging leaves out of an old row: those that are
    neither in the key that identifies the row nor changed. Without `new_row` (a DELETE) all but the
    key; none in a table without such a key.
    """
    if not table.handle_key:
        return set()
    captured = set(table.handle_key)
    if new_row is not None:
        captured |= {name for name in old_row if old_row.get(name) != new_row.get(name)}
    return {column.name for column in table.columns} - captured


@dataclass(frozen=True, slots=True)
class _Columns:
    """A table's columns in the order of the wire: encoded fields, how values are written, types by
    name.
    """

    items: tuple[bytes, ...]
    writers: tuple[tuple[str, Writer], ...]
    types: Mapping[str, str]


@lru_cache(maxsize=1024)
def _columns(table: Table, seed: int, profile: TaskFacts) -> _Columns:
    """The columns of a table as the task sends them: without those that the profile hides, in the
    table's order if the profile says so, else in one drawn from the seed.
    """
    columns = [column for column in table.columns if column.name not in profile.hidden]
    if not profile.table_order:
        random.Random(
            f"{seed}/{table.database}/{table.name}/{len(columns)}/{profile.order}"
        ).shuffle(columns)
    return _Columns(
        tuple(FIELD({"name": c.name, "dataTypeNumber": type_number(c.type)}) for c in columns),
        tuple((c.name, writer_of(c.type, profile)) for c in columns),
        {c.name: str(type_number(c.type)) for c in columns},
    )


def positions(at: Instant, ordinal: int, profile: TaskFacts) -> tuple[str, str]:
    """The sourcePosition and the safeSourcePosition of event number `ordinal` of a history.

    They are usually `offset@file`, places in a virtual binlog (one that only this module makes up).
    A reader of PostgreSQL's `physical` log writes two places in that log, joined by `<->`. In
    `short` profiles the second is "", in `bare` ones both are.
    """
    if profile.bare:
        return "", ""
    number = FIRST_FILE + at.seq // COMMITS_PER_FILE + ordinal // EVENTS_PER_FILE
    end = 72_469 + 500 * ordinal
    if profile.short:
        return f"{ordinal + 4}@{number}", ""
    if profile.physical:
        return f"0/{end:X}<->0/{end - 122:X}", f"0/{end - 122:X}<->0/{end - 122:X}"
    end = 72_469 + 500 * (ordinal % EVENTS_PER_FILE)
    return f"{end}@{number}", f"{end - 122}@{number}"


def object_name(*parts: str) -> str:
    """The objectName of these parts, joined by dots; a dot inside a part is written as its escape
    of six characters.
    """
    return ".".join(part.replace(".", "\\u002E") for part in parts)


def physical_names(parts: Sequence[str]) -> list[str]:
    """The names of a database and of its table (the first two of `parts`) as the shards of a source
    have them: with a suffix each.
    """
    return [part + suffix for part, suffix in zip(parts, ("_pyii_0005", "_aeje_11"), strict=False)]


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    container="avro",
    faults=FAULTS,
    cell_faults=cell_faults,
    fits=FITS,
    unfit=unfit,
    schemas=lambda _profile: (record_encoder(True).schema, record_encoder(False).schema),
)
