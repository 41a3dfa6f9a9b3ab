"""TiCDC's recordings: all six formats of the classic architecture.

TiCDC's own mounter and encoders wrote the messages from the rows of an in-memory TiDB; Kafka was
not there. So a message of Canal-JSON or Simple lacks the key that the producer gives it: a row's is
empty, a statement's null (ticdc#kafka-records). The other formats' encoders make the key.

An episode is the life of a table, from its first statement to its last, under all its names. A
statement on a database and a watermark are episodes of their own.
"""

from __future__ import annotations

import functools
import io
import itertools
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import fastavro

from generators.errors import Refused
from generators.families import confluent
from generators.families.ticdc.ddl import parse
from generators.families.ticdc.sink import unpack
from generators.formats.ticdc_open_protocol.cells import VERSION as OPEN_VERSION
from generators.formats.ticdc_open_protocol.cells import split_events
from generators.formats.ticdc_simple_avro.schema import ENCODER
from generators.model import (
    Bootstrap,
    Event,
    History,
    Instant,
    Layout,
    Message,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    Table,
    Watermark,
)
from generators.recorded import mysql_truth, store
from generators.recorded.episodes import Episode, Recording
from generators.wire_format import get

PRODUCT: Final = "ticdc"
ZONE: Final = "Asia/Shanghai"
"""The time zone of the recorded runs."""
LIMIT: Final = 3900
"""max-message-bytes of the runs that cut large messages."""

ACTIONS: Final[Mapping[str, str]] = {
    "add index": "create index",
    "alter table multi-schema change": "multi schema change",
    "alter table remove partitioning": "remove partitioning",
    "alter table reorganize partition": "reorganize partition",
    "create schema": "create database",
    "drop schema": "drop database",
    "modify schema charset and collate": "alter database",
    "modify table charset and collate": "table charset",
    "modify table comment": "table comment",
    "rebase auto_increment ID": "rebase auto id",
    "rename tables": "rename table",
    "set default value": "set default",
}
"""TiDB's names of actions that have another name here."""

_KEEPS_TEXT: Final = (
    "drop table",
    "exchange partition",
    "rebase auto id",
    "truncate partition",
    "truncate table",
)
"""Actions after which SHOW CREATE TABLE prints what it printed before."""


def episodes() -> Iterator[Episode]:
    """The episodes of every TiCDC recording: the events of one table with their messages. Tables of
    which our writer makes another number of messages are left out.
    """
    for recording in map(_with_facts, store.recordings(PRODUCT)):
        steps = _steps(recording.truth)
        by_event: dict[int, list[Message]] = {}
        for message in store.messages(recording):
            by_event.setdefault(message.event, []).append(message)
        for name, life in _steps_by_table(steps).items():
            recorded = _recorded_steps(recording, life, by_event)
            if _is_batched(recording):
                recorded -= _joined_steps(life)
            if not recorded or _has_other_messages(recording, life):
                continue
            episode_steps = [
                step
                for step in life
                if step.number in recorded
                or (step.truth["kind"] == "ddl" and _is_known_statement(step))
            ]
            events: list[Event] = []
            unrecorded: set[int] = set()
            for group in _group_by_transaction(episode_steps):
                group_events = list(_group_events(group))
                if group[0].number not in recorded:
                    unrecorded.update(range(len(events), len(events) + len(group_events)))
                events += group_events
            messages: list[Message] = []
            for step in episode_steps:
                step_messages = by_event.get(step.number, ())
                messages += [_with_key(recording, message, step) for message in step_messages]
            tables = {event.table for event in events if isinstance(event, RowChange)}
            yield Episode(
                recording,
                name,
                History(tuple(events)),
                tuple(messages),
                2 if len(tables) == 1 else 1,
                limits=_episode_limits(recording, episode_steps),
                writer_gaps=_find_writer_gaps(recording),
                timed=True,
                unrecorded=frozenset(unrecorded),
            )


def _recorded_steps(
    recording: Recording, steps: Sequence[_Step], by_event: Mapping[int, Sequence[Message]]
) -> set[int]:
    """The numbers of the events, among a table's `steps`, that the recorded messages hold and that
    can be compared: without statements that our writers cannot parse, and without rows that the
    capture itself changed (`_SPOILED`). `by_event` has the messages by the number of their event. A
    message of Open Protocol has the number of its first row only, but holds further rows of that
    transaction, so all rows of the transaction count.
    """
    spoiled = _SPOILED.get(recording.format, ())
    numbers = {
        step.number
        for step in steps
        if step.number in by_event and step.number not in spoiled and _is_known_statement(step)
    }
    if recording.format == "ticdc-open-protocol":
        batched = {step.transaction_key for step in steps if step.is_row and step.number in numbers}
        numbers |= {
            step.number for step in steps if step.is_row and step.transaction_key in batched
        }
    return numbers


_SPOILED: Final[Mapping[str, tuple[int, ...]]] = {"ticdc-debezium-json": (142,)}
"""Events of which the capture changed the row before this format's encoder had it."""


def _is_known_statement(step: _Step) -> bool:
    """Whether our writers can parse a statement's text, which stands in `truth`, what the capture
    wrote down of the event; true for an event that is no statement.
    """
    if step.truth["kind"] != "ddl":
        return True
    try:
        parse(step.truth["query_before_rewrite"])
    except Refused:
        return False
    return True


def _has_other_messages(recording: Recording, steps: Sequence[_Step]) -> bool:
    """Whether our writer splits the rows of these events into another number of messages than TiCDC
    did when it was recorded, so that they cannot be compared. That concerns partitioned tables in
    some formats.
    """
    if recording.format in (*_KEYED_BY_PRODUCER, "ticdc-avro"):
        return False
    if not _is_partitioned(steps):
        return False
    # The capture ends a batch at a physical table, where the product joins rows of partitions; and
    # TiDB deletes and inserts again a row without a key that an UPDATE moves to another partition.
    without_key = any(step.table and not step.table.handle_key for step in steps)
    return _is_batched(recording) or without_key


def _is_batched(recording: Recording) -> bool:
    """Whether the recording's messages may hold the rows of several events."""
    return recording.format == "ticdc-open-protocol" and "one-row" not in recording.name


def _joined_steps(steps: Sequence[_Step]) -> set[int]:
    """The numbers of those rows whose transaction changed the table with several operations. The
    product puts them into one batch, and our writer makes a batch for each operation, so that they
    cannot be compared. An UPDATE that TiDB splits into DELETE and INSERT is one operation.
    """
    transactions: dict[tuple[int, str, str], list[_Step]] = {}
    for step in steps:
        if step.is_row:
            transactions.setdefault(step.transaction_key, []).append(step)
    joined: set[int] = set()
    for transaction_rows in transactions.values():
        kinds = {step.truth["kind"] for step in transaction_rows}
        is_split_update = kinds == {"delete", "insert"} and _is_update(transaction_rows[0])
        if len(kinds) > 1 and not is_split_update:
            joined |= {step.number for step in transaction_rows}
    return joined


def _is_update(step: _Step) -> bool:
    """Whether all statements of the step's transaction are UPDATEs."""
    return all(sql.lower().startswith("update") for sql in step.truth["statement"])


def _is_partitioned(steps: Sequence[_Step]) -> bool:
    """Whether a statement among these steps makes or changes a partitioned table."""
    return any(
        "partition" in step.truth.get("action", "")
        or "PARTITION BY" in str(step.truth.get("query_before_rewrite", "")).upper()
        for step in steps
    )


def _find_writer_gaps(recording: Recording) -> tuple[str, ...]:
    """What our writer cannot do yet for an episode's messages, as sentences; empty if it can write
    all.
    """
    return (CORRUPTED,) if "checksum" in recording.name else ()


CORRUPTED: Final = (
    "Of a row that TiCDC marks as corrupted the checksum is TiDB's, of bytes that the message does"
    " not have."
)
"""What our writer cannot do yet for the recordings with checksums."""
UNCHECKED: Final = ("t_dates", "t_enums", "t_part", "t_ddl3")
"""Tables of which some rows have no checksum in the recordings with checksums."""


def _episode_limits(recording: Recording, steps: Sequence[_Step]) -> tuple[str, ...]:
    """Why recorded messages of an episode may rightly differ from those of our writer, a sentence
    each: facts that the history, from which our writer works, does not hold. There is one such fact
    so far: in recordings with checksums, rows of some tables (UNCHECKED) have none.
    """
    if "checksum" in recording.name and any(step.truth.get("table") in UNCHECKED for step in steps):
        return (
            (
                "Some rows of this table have no checksum: TiDB wrote none, or TiCDC's mounter"
                " refused the row with it."
            ),
        )
    return ()


_DOUBLES: Final = {
    "TiDB ef17075bb9eb": "mysql",
    "TiDB a02630cc24cf": "go",
    "TiDB ac41d7e3c8fc": "go",
}
"""How each recorded TiDB spells doubles of JSON documents, by the recording's `server`."""


def _with_facts(recording: Recording) -> Recording:
    """The recording with what follows from its name and options: `facts` (fields of the profile
    that were different in this run), the topic's layout, and the function that blanks what differs
    from run to run.
    """
    facts: dict[str, Any] = {}
    profile = get(recording.format).profiles[0]
    if hasattr(profile, "json_doubles"):
        facts["json_doubles"] = _DOUBLES[recording.server]
    if "large" in recording.name or "max-message-bytes" in recording.options:
        facts["max_message_bytes"] = LIMIT
    compression = next((name for name in ("snappy", "lz4") if name in recording.name), "none")
    deployment = replace(
        get(recording.format).profile(recording.profile).deployment,
        time_zone=ZONE,
        compression=compression,
    )
    blank = _BLANKS[recording.format]
    return replace(
        recording,
        facts={**facts, "deployment": deployment},
        layout=Layout(partitions=1),
        volatile=lambda data: blank(unpack(compression, data)) if data else data,
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """An event of the truth (what SQL showed at the source), with its table before (`before`) and
    after (`table`) it.
    """

    truth: Mapping[str, Any]
    table: Table | None = None
    before: Table | None = None

    @property
    def number(self) -> int:
        """The event's number, which messages name."""
        return int(self.truth["event"])

    @property
    def at(self) -> Instant:
        """The commit time, from the event's TSO."""
        tso = (
            self.truth.get("commitTs")
            or self.truth.get("watermarkTs")
            or self.truth["schemaVersion"]
        )
        return Instant(tso >> 18, tso & 0x3FFFF)

    @property
    def is_row(self) -> bool:
        """Whether the event changed a row."""
        return self.truth["kind"] in _OPS

    @property
    def transaction_key(self) -> tuple[int, str, str]:
        """What all row changes of one transaction in one table have in common: the TSO of the
        commit, the database and the table.
        """
        return self.at.tso, self.truth["database"], self.truth["table"]


@functools.cache
def _steps(document: str) -> tuple[_Step, ...]:
    """The events of the truth document of that name, each with its table before and after it."""
    return tuple(_truth_steps(store.truth(PRODUCT, document)))


def _truth_steps(truth: Mapping[str, Any]) -> Iterator[_Step]:
    """The events of a document of truth, each with its table before and after it; events that
    changed nothing are left out.
    """
    show_creates = {name: list(versions) for name, versions in truth["tables"].items()}
    tables: dict[tuple[str, str], Table] = {}
    for event in truth["events"]:
        kind = event["kind"]
        if kind == "no-change":
            continue
        if kind == "watermark":
            yield _Step(event)
            continue
        table_key = (event["database"], event["table"])
        if kind != "ddl":
            yield _Step(event, tables[table_key])
            continue
        event = {**event, "action": ACTIONS.get(event["action"], event["action"])}
        before = tables.get(table_key) or tables.get(_other_table(event))
        pending_texts = show_creates.get(".".join(table_key))
        after = before
        if event["action"] == "create view":
            after = _view_table(event["query_before_rewrite"], tables, table_key)
            if after is not None:
                tables[table_key] = after
        elif event["action"] not in _KEEPS_TEXT and pending_texts:
            after = tables[table_key] = mysql_truth.parse_table(pending_texts.pop(0), *table_key)
        if event["action"] == "exchange partition":
            before = tables[_other_table(event)]
        yield _Step(
            event, None if event["action"] in ("drop table", "drop view") else after, before
        )


def _view_table(
    sql: str, tables: Mapping[tuple[str, str], Table], table_key: tuple[str, str]
) -> Table | None:
    """The table of a view that selects some columns of one table; None for a view of another
    kind.
    """
    match = re.search(r"select ([\w, ]+) from (\w+)$", sql)
    origin = tables.get((table_key[0], match[2])) if match else None
    if match is None or origin is None:
        return None
    return Table(*table_key, tuple(origin.column(name) for name in match[1].split(", ")))


def _other_table(event: Mapping[str, Any]) -> tuple[str, str]:
    """Database and name of the second table of a RENAME or EXCHANGE PARTITION; two empty texts for
    another statement.
    """
    sql = event["query_before_rewrite"]
    match = re.search(
        r"(?:RENAME\s+TABLE|ALTER\s+TABLE(?=.*\sRENAME)|WITH\s+TABLE)\s+(\S+)", sql, re.IGNORECASE
    )
    names = match[1].replace("`", "").split(".") if match else []
    return (names[0] if len(names) > 1 else event["database"], names[-1]) if names else ("", "")


def _steps_by_table(steps: Sequence[_Step]) -> Mapping[str, list[_Step]]:
    """The events of each table, also under its later names, by the table's first name. Events that
    name no table are grouped by their database, or stand alone under their kind and number. From an
    EXCHANGE PARTITION on, both of its tables count as one, under the partitioned table's name; the
    events of both before it are put together, too.
    """
    # A table is (database, name); `_other_table` is the old name in a RENAME.
    first_names: dict[tuple[str, str], str] = {}
    lives: dict[str, list[_Step]] = {}
    for step in steps:
        event = step.truth
        if "table" not in event:
            name = f"{event['kind']}-{step.number}"
        elif not event["table"]:
            name = event["database"]
        else:
            table_key = (event["database"], event["table"])
            name = first_names.setdefault(
                table_key,
                first_names.get(
                    _other_table(event) if event["kind"] == "ddl" else table_key,
                    ".".join(table_key),
                ),
            )
            if event.get("action") == "exchange partition":
                lives[name] += lives.pop(first_names[_other_table(event)])
                lives[name].sort(key=lambda joined_step: joined_step.number)
                first_names[_other_table(event)] = name
        lives.setdefault(name, []).append(step)
    return lives


def _group_by_transaction(steps: Sequence[_Step]) -> Iterator[list[_Step]]:
    """Groups neighbouring row changes of one transaction and table; every other event is a group of
    its own.
    """
    for _, group in itertools.groupby(
        steps, lambda step: step.transaction_key if step.truth["kind"] in _OPS else step.number
    ):
        yield list(group)


def _group_events(steps: Sequence[_Step]) -> Iterator[Event]:
    """The model's events of neighbouring steps: one for a watermark, bootstrap or statement, or the
    row changes of one transaction.
    """
    step = steps[0]
    event = step.truth
    match event["kind"]:
        case "watermark":
            yield Watermark(step.at)
        case "bootstrap":
            assert step.table is not None
            yield Bootstrap(step.at, step.table)
        case "ddl":
            action, sql = event["action"], event["query_before_rewrite"]
            old = (
                step.before.name
                if step.before and action in ("rename table", "exchange partition")
                else None
            )
            yield SchemaChange(
                step.at,
                action,
                sql,
                event["database"],
                event["table"],
                step.before,
                step.table,
                old,
            )
        case _:
            yield from _row_changes(steps)


_OPS: Final = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE}
"""The operation of a row change, by the kind of its event in the truth."""


def _row_changes(steps: Sequence[_Step]) -> Iterator[RowChange]:
    """The row changes that steps of one transaction in one table make, one for each operation. An
    UPDATE of a key, which TiDB splits into a DELETE and an INSERT, becomes one UPDATE again: if the
    transaction's statement is an UPDATE (`_is_update`), the first row deleted and the first row
    inserted are the two sides of one row, and so on.
    """
    table, at = steps[0].table, steps[0].at
    assert table is not None
    images_by_op: dict[Op, list[RowImages]] = {op: [] for op in Op}
    for step in steps:
        images_by_op[_OPS[step.truth["kind"]]].append(_row_images(step, table))
    deleted, inserted = images_by_op[Op.DELETE], images_by_op[Op.INSERT]
    if deleted and inserted and _is_update(steps[0]):
        pairs = [
            RowImages(deleted_row.before, inserted_row.after)
            for deleted_row, inserted_row in zip(deleted, inserted, strict=True)
        ]
        yield RowChange(at, table, Op.UPDATE, (*pairs, *images_by_op[Op.UPDATE]))
        return
    for op in (Op.DELETE, Op.UPDATE, Op.INSERT):
        if images_by_op[op]:
            yield RowChange(at, table, op, tuple(images_by_op[op]))


def _row_images(step: _Step, table: Table) -> RowImages:
    """The images of the row that a step changed, from the texts that SQL shows."""

    def side(name: str) -> Row | None:
        """The step's row before or after the change (`name` is "before" or "after") as values of
        the table's columns; None if there is none.
        """
        texts = step.truth[name]
        if texts is None:
            return None
        # The member `COLUMN#num` has an ENUM's index or a SET's mask.
        numbers = {
            column.removesuffix("#num"): number
            for column, number in texts.items()
            if column.endswith("#num")
        }
        return mysql_truth.row_cells(table, texts, numbers, ZONE)

    return RowImages(side("before"), side("after"))


def _with_key(recording: Recording, message: Message, step: _Step) -> Message:
    """The message with the key that TiCDC's Kafka producer gives it, where the format's encoder
    makes none: empty if its event (`step`) is a row change or a bootstrap, null if it is a
    statement or a watermark. A message of another format stays as it is.
    """
    if recording.format not in _KEYED_BY_PRODUCER:
        return message
    return replace(message, key=b"" if step.truth["kind"] in (*_OPS, "bootstrap") else None)


_KEYED_BY_PRODUCER: Final = ("ticdc-canal-json", "ticdc-simple-json", "ticdc-simple-avro")
"""Formats whose encoder makes no key: the Kafka producer, which was not there, gives it."""
_MYSQL_TYPES: Final = re.compile(rb'"mysqlType":(\{(?:"(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*",?)*\})')
"""The member mysqlType of a Canal-JSON message; the group is its object."""
_CANAL_CLOCK: Final = re.compile(rb'(?<="ts":)\d+(?=,"sql")')
"""The digits of the member `ts` of a Canal-JSON message, the time of sending."""
_CLAIM: Final = re.compile(rb'(?<="claimCheckLocation":")[^"]*')
"""The name of the file in which a claim check has the whole message."""


def _blank_canal(value: bytes) -> bytes:
    """The value of a Canal-JSON message without the clock and the file of a claim check, and with
    the keys of mysqlType sorted, which come in random order.
    """

    def ordered(match: re.Match[bytes]) -> bytes:
        """The member mysqlType with its pairs sorted by name."""
        return b'"mysqlType":' + json.dumps(sorted(json.loads(match[1]).items())).encode()

    return _CLAIM.sub(b"", _CANAL_CLOCK.sub(b"0", _MYSQL_TYPES.sub(ordered, value)))


_SIMPLE: Final = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (rb'"(tableID|buildTs|schemaVersion)":\d+', rb'"\1":0'),
        (rb'("tableID":0,"version":)\d+', rb"\g<1>0"),
        (rb'"claimCheckLocation":"[^"]*"', b'"claimCheckLocation":""'),
    )
)
"""What differs from run to run in a Simple message in JSON, and what replaces it."""


def _blank_simple(value: bytes) -> bytes:
    """The value of a Simple message in JSON without what differs from run to run: the clock, ids of
    tables, versions of schemas, and the file in which a claim check has the whole message.
    """
    for pattern, replacement in _SIMPLE:
        value = pattern.sub(replacement, value)
    return value


def _blank_avro(value: bytes) -> bytes:
    """The value of a Simple message in Avro without the clock, ids and versions of tables and the
    file of a claim check, which differ from run to run, and with the keys of a row's maps sorted,
    which come in random order. A value that our encoder would write with other bytes stays as it
    is.
    """
    source = io.BytesIO(value)
    record = fastavro.schemaless_reader(source, _REALS_AS_BYTES, None, return_named_type=True)
    if ENCODER(_name_branches(record)) + source.read() != value:
        return value
    return ENCODER(_blank_record(_name_branches(record)))


_FIXED: Final = {"float": "<f", "double": "<d"}
"""How a float and a double are packed into bytes, in the language of `struct`."""
_REALS_AS_BYTES: Final = fastavro.parse_schema(
    json.loads(
        functools.reduce(
            lambda text, name: text.replace(
                f'"{name}"',
                f'{{"type":"fixed","name":"as_{name}","size":{struct.calcsize(_FIXED[name])}}}',
                1,
            ).replace(f'"{name}"', f'"as_{name}"'),
            _FIXED,
            json.dumps(ENCODER.schema),
        )
    )
)
"""The schema that tells the branches of a float and a double apart, which are one type in Python.
"""


def _name_branches(value: Any, image: bool = False) -> Any:
    """An Avro value that was decoded with the schema _REALS_AS_BYTES, in the form that the encoder
    takes: each cell of a row is a pair (branch of the union, value), and bytes of the type
    `as_float` or `as_double` are a number again. `image` says that the value is a row.
    """
    match value:
        case list():
            return [_name_branches(item) for item in value]
        case (str() as name, bytes() as raw):
            kind = name.rpartition("as_")[2]
            return kind, struct.unpack(_FIXED[kind], raw)[0]
        case (name, inner):
            return name, _name_branches(inner)
        case dict():
            return {
                name: _name_branches(item, image or name in ("data", "old"))
                for name, item in value.items()
            }
        case int() | str() | bytes() if image:
            return {int: "long", str: "string", bytes: "bytes"}[type(value)], value
    return value


_VOLATILE: Final = {"tableID": 0, "buildTs": 0, "schemaVersion": 0, "claimCheckLocation": None}
"""Members of a Simple message that differ from run to run, and what replaces them."""


def _blank_record(value: Any) -> Any:
    """A decoded Simple message without what differs between runs (ids and versions of tables, the
    clock, the file of a claim check), and with the keys of each row (`data`, `old`) sorted. A pair
    is the branch of an Avro union and its value.
    """
    match value:
        case dict():
            # A member `version` is a table's where `columns` stand beside it; else it stays.
            blank = _VOLATILE | ({"version": 0} if "columns" in value else {})
            return {
                name: (
                    dict(sorted(item.items()))
                    if name in ("data", "old") and item
                    else blank.get(name, _blank_record(item))
                )
                for name, item in value.items()
            }
        case list():
            return [_blank_record(item) for item in value]
        case (name, inner):
            return name, _blank_record(inner)
    return value


_OWN_ID: Final = re.compile(rb'(?<=,"(?:rid|ptn)":)\d+')
"""The digits of an id that TiDB gives to a row (`rid`) or a partition (`ptn`)."""
_CLAIM_PLACE: Final = re.compile(rb'(?<="ccl":")[^"]*')
"""The name of the file in which a claim check of Open Protocol has the whole event."""


def _blank_open(data: bytes) -> bytes:
    """The key or the value of an Open Protocol record without the file of a claim check, and
    without the lengths of its parts, which depend on that. The ids that TiDB gives to partitions,
    and to rows without an integer key, become 0.
    """
    # Bytes that are no parts with lengths (None), or none at all, count as one part.
    parts = split_events(data.removeprefix(OPEN_VERSION)) or [data]
    return b"\n".join(_CLAIM_PLACE.sub(b"", _OWN_ID.sub(b"0", part)) for part in parts)


_DEBEZIUM_CLOCK: Final = re.compile(rb'(?<="ts_ms":)\d+(?=,"transaction")')
"""The digits of the time at which the encoder made a Debezium message."""


def _blank_debezium(data: bytes) -> bytes:
    """The key or the value of a Debezium message without the encoder's clock; the commit time
    stays.
    """
    return _DEBEZIUM_CLOCK.sub(b"0", data)


def _blank_confluent(data: bytes) -> bytes:
    """The key or the value of a message, Avro in Confluent's framing, with the text of its schema,
    members sorted, in place of the schema's id, which differs from run to run.
    """
    number = int.from_bytes(data[1 : confluent.HEAD])
    schema = json.dumps(json.loads(confluent.SCHEMAS[number][1]), sort_keys=True)
    return schema.encode() + data[confluent.HEAD :]


_BLANKS: Final = {
    "ticdc-open-protocol": _blank_open,
    "ticdc-debezium-json": _blank_debezium,
    "ticdc-avro": _blank_confluent,
    "ticdc-canal-json": _blank_canal,
    "ticdc-simple-json": _blank_simple,
    "ticdc-simple-avro": _blank_avro,
}
"""By format: the function that blanks what differs from run to run in a key or a value."""
