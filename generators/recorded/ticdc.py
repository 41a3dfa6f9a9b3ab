"""TiCDC's recordings: Canal-JSON, Simple JSON and Simple Avro of the classic architecture.

TiCDC's own mounter and encoders wrote the messages from the rows of an in-memory TiDB; Kafka was
not there. So a message lacks the key that the producer gives it: a row's is empty, a statement's
null (ticdc#kafka-records).

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

from generators.families.ticdc.sink import unpack
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
LIMIT: Final = 3900
"""max-message-bytes of the runs that cut large messages."""

ACTIONS: Final[Mapping[str, str]] = {
    "add index": "create index",
    "alter table multi-schema change": "multi schema change",
    "create schema": "create database",
    "drop schema": "drop database",
    "modify schema charset and collate": "alter database",
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
    """Every episode of every recording."""
    for recording in map(_completed, store.recordings(PRODUCT)):
        steps = _steps(recording.truth)
        by_event: dict[int, list[Message]] = {}
        for message in store.messages(recording):
            by_event.setdefault(message.event, []).append(message)
        for name, life in _lives(steps).items():
            recorded = {step.number for step in life if step.number in by_event}
            if not recorded:
                continue
            kept = [step for step in life if step.number in recorded or step.truth["kind"] == "ddl"]
            history = [(group, event) for group in _grouped(kept) for event in _events(group)]
            events = tuple(event for _, event in history)
            tables = {event.table for event in events if isinstance(event, RowChange)}
            yield Episode(
                recording,
                name,
                History(events),
                tuple(
                    _keyed(message, step)
                    for step in kept
                    for message in by_event.get(step.number, ())
                ),
                1 + (len(tables) == 1),
                limits=_limits(recording, kept),
                owed=(CORRUPTED,) if "checksum" in recording.name else (),
                timed=True,
                unrecorded=frozenset(
                    i for i, (group, _) in enumerate(history) if group[0].number not in recorded
                ),
            )


CORRUPTED: Final = (
    "Of a row that TiCDC marks as corrupted the checksum is TiDB's, of bytes that the message does"
    " not have."
)
"""What the writer owes."""
UNCHECKED: Final = ("t_dates", "t_enums", "t_part", "t_ddl3")


def _limits(recording: Recording, steps: Sequence[_Step]) -> tuple[str, ...]:
    """The facts of an episode that its history lacks."""
    if "checksum" in recording.name and any(step.truth.get("table") in UNCHECKED for step in steps):
        return (
            (
                "Some rows of this table have no checksum: TiDB wrote none, or TiCDC's mounter"
                " refused the row with it."
            ),
        )
    return ()


_DOUBLES: Final = {"TiDB ef17075bb9eb": "mysql", "TiDB a02630cc24cf": "go"}
"""How each TiDB spells doubles of JSON documents."""


def _completed(recording: Recording) -> Recording:
    """The recording with the facts that its options tell."""
    facts: dict[str, Any] = {"json_doubles": _DOUBLES[recording.server]}
    if "large" in recording.name:
        facts["max_message_bytes"] = LIMIT
    compression = next((name for name in ("snappy", "lz4") if name in recording.name), "none")
    deployment = replace(
        get(recording.format).profiles[0].deployment, time_zone=ZONE, compression=compression
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
    """An event of the truth with the tables as they were: `table` after it, `before` before it."""

    truth: Mapping[str, Any]
    table: Table | None = None
    before: Table | None = None

    @property
    def number(self) -> int:
        """The event that messages name."""
        return int(self.truth["event"])

    @property
    def at(self) -> Instant:
        """When it was committed."""
        tso = (
            self.truth.get("commitTs")
            or self.truth.get("watermarkTs")
            or self.truth["schemaVersion"]
        )
        return Instant(tso >> 18, tso & 0x3FFFF)

    @property
    def split(self) -> tuple[int, str, str]:
        """The key by which rows of one transaction and table are grouped."""
        return self.at.tso, self.truth["database"], self.truth["table"]


@functools.cache
def _steps(document: str) -> tuple[_Step, ...]:
    """The events of a document of truth with the tables as they were at each."""
    return tuple(_steps_of(store.truth(PRODUCT, document)))


def _steps_of(truth: Mapping[str, Any]) -> Iterator[_Step]:
    texts = {name: list(versions) for name, versions in truth["tables"].items()}
    known: dict[tuple[str, str], Table] = {}
    for event in truth["events"]:
        kind = event["kind"]
        if kind == "no-change":
            continue
        if kind == "watermark":
            yield _Step(event)
            continue
        place = (event["database"], event["table"])
        if kind != "ddl":
            yield _Step(event, known[place])
            continue
        event = {**event, "action": ACTIONS.get(event["action"], event["action"])}
        before = known.get(place) or known.get(_others(event))
        waiting = texts.get(".".join(place))
        after = before
        if event["action"] == "create view":
            after = known[place] = _view(event["query_before_rewrite"], known, place)
        elif event["action"] not in _KEEPS_TEXT and waiting:
            after = known[place] = mysql_truth.table(waiting.pop(0), *place)
        if event["action"] == "exchange partition":
            before = known[_others(event)]
        yield _Step(
            event, None if event["action"] in ("drop table", "drop view") else after, before
        )


def _view(sql: str, known: Mapping[tuple[str, str], Table], place: tuple[str, str]) -> Table:
    """The columns that a view selects from a table."""
    match = re.search(r"select (.+) from (\w+)$", sql)
    assert match is not None
    origin = known[place[0], match[2]]
    return Table(*place, tuple(origin.column(name) for name in match[1].split(", ")))


def _others(event: Mapping[str, Any]) -> tuple[str, str]:
    """The other table that a statement names: the one that it renames or exchanges."""
    sql = event["query_before_rewrite"]
    match = re.search(
        r"(?:RENAME\s+TABLE|ALTER\s+TABLE(?=.*\sRENAME)|WITH\s+TABLE)\s+(\S+)", sql, re.IGNORECASE
    )
    names = match[1].replace("`", "").split(".") if match else []
    return (names[0] if len(names) > 1 else event["database"], names[-1]) if names else ("", "")


def _lives(steps: Sequence[_Step]) -> Mapping[str, list[_Step]]:
    """The events of each table under all its names, by the first name; those without a table by
    their database or number.
    """
    first: dict[tuple[str, str], str] = {}
    lives: dict[str, list[_Step]] = {}
    for step in steps:
        event = step.truth
        if "table" not in event:
            name = f"{event['kind']}-{step.number}"
        elif not event["table"]:
            name = event["database"]
        else:
            place = (event["database"], event["table"])
            name = first.setdefault(
                place,
                first.get(_others(event) if event["kind"] == "ddl" else place, ".".join(place)),
            )
            if event.get("action") == "exchange partition":
                lives[name] += lives.pop(first[_others(event)])
                lives[name].sort(key=lambda other: other.number)
                first[_others(event)] = name
        lives.setdefault(name, []).append(step)
    return lives


def _grouped(steps: Sequence[_Step]) -> Iterator[list[_Step]]:
    """The steps alone, but the rows of one transaction and table together."""
    for _, group in itertools.groupby(
        steps, lambda step: step.split if step.truth["kind"] in _OPS else step.number
    ):
        yield list(group)


def _events(steps: Sequence[_Step]) -> Iterator[Event]:
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
            yield from _changes(steps)


_OPS: Final = {"insert": Op.INSERT, "update": Op.UPDATE, "delete": Op.DELETE}


def _changes(steps: Sequence[_Step]) -> Iterator[RowChange]:
    """The rows of one transaction in one table. What an UPDATE deleted and inserted again is one
    change of a key.
    """
    table, at = steps[0].table, steps[0].at
    assert table is not None
    rows = {
        op: [_images(step, table) for step in steps if _OPS[step.truth["kind"]] is op] for op in Op
    }
    deleted, inserted = rows[Op.DELETE], rows[Op.INSERT]
    if (
        deleted
        and inserted
        and all(text.lower().startswith("update") for text in steps[0].truth["statement"])
    ):
        pairs = [
            RowImages(gone.before, new.after) for gone, new in zip(deleted, inserted, strict=True)
        ]
        yield RowChange(at, table, Op.UPDATE, (*pairs, *rows[Op.UPDATE]))
        return
    for op in (Op.DELETE, Op.UPDATE, Op.INSERT):
        if rows[op]:
            yield RowChange(at, table, op, tuple(rows[op]))


def _images(step: _Step, table: Table) -> RowImages:
    def side(name: str) -> Row | None:
        texts = step.truth[name]
        if texts is None:
            return None
        numbers = {
            column.removesuffix("#num"): text
            for column, text in texts.items()
            if column.endswith("#num")
        }
        return mysql_truth.row(table, texts, numbers, ZONE)

    return RowImages(side("before"), side("after"))


def _keyed(message: Message, step: _Step) -> Message:
    return replace(message, key=b"" if step.truth["kind"] in (*_OPS, "bootstrap") else None)


_MYSQL_TYPES: Final = re.compile(rb'"mysqlType":(\{(?:"(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*",?)*\})')
_CANAL_CLOCK: Final = re.compile(rb'(?<="ts":)\d+(?=,"sql")')
_CLAIM: Final = re.compile(rb'(?<="claimCheckLocation":")[^"]*')


def _blank_canal(value: bytes) -> bytes:
    """Without the clock and the place of a claim check; the keys of mysqlType, which are in random
    order, are sorted.
    """

    def ordered(match: re.Match[bytes]) -> bytes:
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


def _blank_simple(value: bytes) -> bytes:
    """Without the clock, the ids of tables and the versions of schemas, and the place of a claim
    check.
    """
    for pattern, replacement in _SIMPLE:
        value = pattern.sub(replacement, value)
    return value


def _blank_avro(value: bytes) -> bytes:
    """Without what `_blank_simple` blanks; the keys of a row's maps, which are in random order, are
    sorted. A value that our encoder would write with other bytes stays as it is.
    """
    source = io.BytesIO(value)
    record = fastavro.schemaless_reader(source, _REALS_AS_BYTES, None, return_named_type=True)
    if ENCODER(_branched(record)) + source.read() != value:
        return value
    return ENCODER(_blanked(_branched(record)))


_FIXED: Final = {"float": "<f", "double": "<d"}
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


def _branched(value: Any, image: bool = False) -> Any:
    """The value with the branch of each of a row's cells, as the encoder takes it."""
    match value:
        case list():
            return [_branched(item) for item in value]
        case (str() as name, bytes() as raw):
            kind = name.rpartition("as_")[2]
            return kind, struct.unpack(_FIXED[kind], raw)[0]
        case (name, inner):
            return name, _branched(inner)
        case dict():
            return {
                name: _branched(item, image or name in ("data", "old"))
                for name, item in value.items()
            }
        case int() | str() | bytes() if image:
            return {int: "long", str: "string", bytes: "bytes"}[type(value)], value
    return value


_VOLATILE: Final = {"tableID": 0, "buildTs": 0, "schemaVersion": 0, "claimCheckLocation": None}


def _blanked(value: Any) -> Any:
    match value:
        case dict():
            blank = _VOLATILE | ({"version": 0} if "columns" in value else {})
            return {
                name: (
                    dict(sorted(item.items()))
                    if name in ("data", "old") and item
                    else blank.get(name, _blanked(item))
                )
                for name, item in value.items()
            }
        case list():
            return [_blanked(item) for item in value]
        case (name, inner):
            return name, _blanked(inner)
    return value


_BLANKS: Final = {
    "ticdc-canal-json": _blank_canal,
    "ticdc-simple-json": _blank_simple,
    "ticdc-simple-avro": _blank_avro,
}
