"""One history for every format: the changes of one table in each source's types, and the resulting table.

MySQL and PostgreSQL both hold its values, so that every format's decoder must return the same rows. `told` has row
changes only; `streamed` adds the rest of a stream: transactions of several rows, statements that change the table,
watermarks, schemas sent ahead and again, heartbeats.
"""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Final

from generators.model import (
    Bootstrap,
    Column,
    Event,
    Heartbeat,
    History,
    Instant,
    Json,
    Kind,
    Layout,
    Op,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceType,
    Table,
    TransactionMark,
    Value,
    Watermark,
    Written,
)
from generators.sources import mysql, postgresql
from generators.sources.pools import pools
from generators.wire_format import Format, Profile

NAME: Final = "one_history"
KEY: Final = "id"
START_MS: Final = 1_700_000_000_000

_TYPES: Final[Mapping[str, tuple[SourceType, SourceType]]] = {
    "id": (mysql.integer("bigint"), postgresql.integer("bigint")),
    "small": (mysql.integer("smallint"), postgresql.integer("smallint")),
    "number": (mysql.integer("int"), postgresql.integer("integer")),
    "big": (mysql.integer("bigint"), postgresql.integer("bigint")),
    "price": (mysql.decimal(10, 2), postgresql.numeric(10, 2)),
    "exact": (mysql.decimal(38, 10), postgresql.numeric(38, 10)),
    "ratio": (mysql.real("double"), postgresql.real("double precision")),
    "name": (mysql.text("varchar", 64), postgresql.text("varchar", 64)),
    "note": (mysql.text("text"), postgresql.text("text")),
    "day": (mysql.temporal("date"), postgresql.temporal("date")),
    "wall": (mysql.temporal("datetime", 6), postgresql.temporal("timestamp", 6)),
    "moment": (mysql.temporal("timestamp", 6), postgresql.temporal("timestamptz", 6)),
    "raw": (mysql.binary("varbinary", 64), postgresql.bytea()),
    "document": (mysql.json(), postgresql.json("jsonb")),
}
"""Each column's type in MySQL and in PostgreSQL."""

COLUMNS: Final = tuple(_TYPES)

_SOURCES: Final = {"mysql": 0, "postgresql": 1}


@dataclass(frozen=True, slots=True)
class Told:
    """A history in the types of one format's source, and the final rows by key."""

    table: Table
    history: History
    rows: Mapping[Value, Row]


ADDED: Final = "added"
"""The column that an ADD COLUMN adds; existing rows hold NULL in it."""
DROPPED: Final = "small"
"""The column that is dropped, and added again later, empty."""

STATEMENTS: Final = ("add column", "truncate table", "drop column", "drop table", "add column again")
"""The statements on the table, in this order, if the profile has messages for them."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A history with all that a stream has, as one profile writes it.

    `table` is the final table, `rows` its rows by key. `last` has for each key of `rows` the number of the event
    that left the row as it is, `added_after` the events that gave it a column without touching its rows: in these cells rows
    whose last event is older hold NULL. `moved` are the keys that an UPDATE of the key left for good; `gone`
    all other former keys. `statements` are those of STATEMENTS that the profile has messages for.
    """

    table: Table
    history: History
    rows: Mapping[Value, Row]
    written: tuple[Written, ...]
    last: Mapping[Value, int]
    added_after: Mapping[str, int] = field(default_factory=dict)
    moved: frozenset[Value] = frozenset()
    gone: frozenset[Value] = frozenset()
    statements: tuple[str, ...] = ()


def supported(fmt: Format[Any], profile: Profile) -> tuple[str, ...]:
    """The columns that the format can carry, in order."""
    at = _SOURCES[profile.source]
    return tuple(name for name, kinds in _TYPES.items() if fmt.supports(kinds[at]))


def told(fmt: Format[Any], profile: Profile, seed: int, changes: int = 200) -> Told:
    """The history of that seed for a format: `changes` row changes, one an event, of columns that it supports."""
    at = _SOURCES[profile.source]
    names = supported(fmt, profile)
    columns = tuple(Column(name, _TYPES[name][at], nullable=name != KEY) for name in names)
    schema = postgresql.SCHEMA if profile.source == "postgresql" else None
    table = Table("differential", NAME, columns, (KEY,), schema=schema)
    rows: dict[Value, Row] = {}
    events = []
    for number, (op, before, after) in enumerate(_changes(seed, changes)):
        was, now = (None if row is None else {name: row[name] for name in names} for row in (before, after))
        events.append(RowChange(Instant(START_MS + 1000 * number, 1), table, op, (RowImages(was, now),)))
        if was is not None:
            del rows[was[KEY]]
        if now is not None:
            rows[now[KEY]] = now
    return Told(table, History(tuple(events), seed), rows)


def streamed(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    name: str,
    changes: int = 90,
    partitions: int = 3,
    statements: tuple[str, ...] = STATEMENTS,
) -> Streamed:
    """A history of a table of that name in about `changes` row changes, and the messages that the profile writes of it.

    A statement that the profile has no message for (CDL has none at all) does not happen.
    """
    if profile.source != "mysql":
        statements = ()
    while True:
        story = _Story(fmt, profile, seed, name, statements)
        story.tell(changes)
        history = History(tuple(story.events), seed)
        written = tuple(fmt.write(history, profile, Layout(partitions=partitions)))
        told_of = {w.message.event for w in written if any(c.kind is Kind.DDL or c.op is Op.TRUNCATE for c in w.changes)}
        silent = {what for what, number in story.stated.items() if number not in told_of}
        if not silent:
            break
        statements = tuple(what for what in statements if what not in silent)
    return Streamed(
        story.table,
        history,
        story.rows,
        written,
        {key: story.last[key] for key in story.rows},
        story.added_after,
        frozenset(story.moved),
        frozenset(story.gone),
        statements,
    )


class _Story:
    """A `streamed` history in the making: the source's table and rows, and the events so far."""

    def __init__(self, fmt: Format[Any], profile: Profile, seed: int, name: str, statements: tuple[str, ...]) -> None:
        at = _SOURCES[profile.source]
        columns = (Column(n, _TYPES[n][at], nullable=n != KEY) for n in supported(fmt, profile))
        schema = postgresql.SCHEMA if profile.source == "postgresql" else None
        self.table = Table("differential", name, tuple(columns), (KEY,), schema=schema)
        self.chance = random.Random(f"{seed}/streamed")
        self.statements = statements
        self.events: list[Event] = []
        self.rows: dict[Value, Row] = {}
        self.last: dict[Value, int] = {}
        self.stated: dict[str, int] = {}
        self.added_after: dict[str, int] = {}
        self.moved: set[Value] = set()
        self.gone: set[Value] = set()
        self._ms = START_MS
        self._fresh = 0

    def tell(self, changes: int) -> None:
        """The whole history."""
        self.events.append(Bootstrap(self.now(), self.table))
        borders = {changes * (n + 1) // (len(self.statements) + 1): what for n, what in enumerate(self.statements)}
        done = 0
        while done < changes:
            rows = min(self.chance.choice((1, 1, 1, 2, 4)), changes - done)
            self.transaction(rows)
            for number in range(done, done + rows):
                if what := borders.get(number):
                    self.statement(what)
            done += rows
            if self.chance.random() < 0.2:
                self.events.append(Watermark(self.now()))
            if self.chance.random() < 0.08:
                self.events.append(Bootstrap(self.now(), self.table))
            if self.chance.random() < 0.05:
                self.events.append(Heartbeat(self.now()))
        self.events.append(Watermark(self.now()))

    def now(self) -> Instant:
        """The next commit; commits are a second apart, since some writers write no finer time."""
        self._ms += 1000
        return Instant(self._ms, 1)

    def transaction(self, count: int) -> None:
        """Changes of `count` different rows in one commit, of one kind, between its marks when there are several."""
        at, way = self.now(), self.chance.random()
        keys = self.chance.sample(sorted(self.rows, key=repr), min(count, len(self.rows)))
        if len(self.rows) < 10 or way < 0.3:
            op, images = Op.INSERT, [RowImages(None, self.fresh()) for _ in range(count)]
        elif way < 0.55:
            op, images = Op.DELETE, [RowImages(self.rows[key], None) for key in keys]
        else:
            op, images = Op.UPDATE, [RowImages(self.rows[key], self.updated(key)) for key in keys]
        name = f"{self._ms}"
        if count > 1:
            self.events.append(TransactionMark(at, "BEGIN", name))
        for image in images:
            self.apply(image)
        self.events.append(RowChange(at, self.table, op, tuple(images)))
        if count > 1:
            self.events.append(TransactionMark(at, "COMMIT", name, len(images)))

    def apply(self, image: RowImages) -> None:
        """Applies the image to the rows."""
        old = None if image.before is None else image.before[KEY]
        new = None if image.after is None else image.after[KEY]
        if image.before is not None:
            del self.rows[old]
            if new is None or new != old:
                (self.gone if new is None else self.moved).add(old)
        if image.after is not None:
            self.moved.discard(new)
            self.gone.discard(new)
            self.rows[new] = image.after
            self.last[new] = len(self.events)

    def fresh(self) -> Row:
        """A new row, with a new key or that of a deleted row."""
        free = sorted(self.gone | self.moved, key=repr)
        self._fresh += 1
        key: Value = self.chance.choice(free) if free and self.chance.random() < 0.4 else self._fresh
        # No other row of the statement may take it.
        self.moved.discard(key)
        self.gone.discard(key)
        return {c.name: key if c.name == KEY else self.value(c.name) for c in self.table.columns}

    def updated(self, key: Value) -> Row:
        """The row of a key with a few columns changed, sometimes the key too."""
        names = [c.name for c in self.table.columns if c.name != KEY]
        chosen = self.chance.sample(names, self.chance.randint(1, 4))
        self._fresh += 1
        moved: Row = {KEY: (1 << 53) + self._fresh} if self.chance.random() < 0.25 else {}
        return {**self.rows[key], **{n: self.value(n) for n in chosen}, **moved}

    def value(self, name: str) -> Value:
        """A value for the column."""
        return _value("number" if name == ADDED else name, self.chance)

    def statement(self, what: str) -> None:
        """One of STATEMENTS."""
        before, name = self.table, self.table.name
        self.stated[what] = len(self.events)
        match what:
            case "add column" | "add column again":
                column = Column(ADDED, _TYPES["number"][0]) if what == "add column" else Column(DROPPED, _TYPES[DROPPED][0])
                self.table = replace(before, columns=(*before.columns, column))
                self.rows = {key: {**row, column.name: None} for key, row in self.rows.items()}
                self.added_after[column.name] = len(self.events)
                self.change("add column", f"ALTER TABLE `{name}` ADD COLUMN `{column.name}` {column.type.name}", before)
            case "drop column":
                self.table = replace(before, columns=tuple(c for c in before.columns if c.name != DROPPED))
                self.rows = {k: {n: v for n, v in row.items() if n != DROPPED} for k, row in self.rows.items()}
                self.change("drop column", f"ALTER TABLE `{name}` DROP COLUMN `{DROPPED}`", before)
            case "truncate table":
                self.empty()
                self.change("truncate table", f"TRUNCATE TABLE `{name}`", before)
            case "drop table":
                self.empty()
                self.change("drop table", f"DROP TABLE `{before.database}`.`{name}`", before, there=False)
                columns = ", ".join(f"`{c.name}` {c.type.name}" for c in before.columns)
                self.change("create table", f"CREATE TABLE `{name}` ({columns}, PRIMARY KEY (`{KEY}`))", None)
                self.events.append(Bootstrap(self.now(), self.table))

    def empty(self) -> None:
        """Removes all rows at once, without row changes."""
        self.gone |= self.rows.keys()
        self.rows = {}

    def change(self, action: str, sql: str, before: Table | None, *, there: bool = True) -> None:
        """A statement as an event."""
        after = self.table if there else None
        self.events.append(SchemaChange(self.now(), action, sql, self.table.database, self.table.name, before, after))


def _changes(seed: int, count: int) -> Iterator[tuple[Op, Row | None, Row | None]]:
    """Changes of a model table: inserts, updates of a few columns, of the key and of nothing, deletes, reused keys."""
    chance = random.Random(f"{seed}/differential")
    rows: dict[Value, Row] = {}
    for number in range(count):
        way = chance.random()
        if not rows or way < 0.4:
            key: Value = number if chance.random() < 0.8 else (1 << 53) + number
            row: Row = {name: key if name == KEY else _value(name, chance) for name in _TYPES}
            rows[key] = row
            yield Op.INSERT, None, row
            continue
        key = chance.choice(list(rows))
        before = rows.pop(key)
        if way < 0.55:
            yield Op.DELETE, before, None
            continue
        named = chance.sample([name for name in _TYPES if name != KEY], chance.randint(0, 4))
        moved: Row = {KEY: -1 - number} if way > 0.9 else {}
        after: Row = {**before, **{name: _value(name, chance) for name in named}, **moved}
        rows[after[KEY]] = after
        yield Op.UPDATE, before, after


def _value(name: str, chance: random.Random) -> Value:
    if chance.random() < 0.15:
        return None
    return _DRAW[name](chance)


def _words(chance: random.Random) -> str:
    texts = pools()
    return str(chance.choice(texts[chance.choice(sorted(texts))]))


def _document(chance: random.Random) -> Json:
    return Json({"a": chance.randrange(1 << 60), "b": [None, True, _words(chance)], "c": {"d": chance.randrange(999) / 8}})


_DRAW: Final[Mapping[str, Callable[[random.Random], Value]]] = {
    "small": lambda chance: chance.randint(-(1 << 15), (1 << 15) - 1),
    "number": lambda chance: chance.randint(-(1 << 31), (1 << 31) - 1),
    "big": lambda chance: chance.randint(-(1 << 63), (1 << 63) - 1),
    "price": lambda chance: _decimal(chance.randint(-(10**10) + 1, 10**10 - 1), 2),
    "exact": lambda chance: _decimal(chance.randint(-(10**38) + 1, 10**38 - 1), 10),
    "ratio": lambda chance: chance.choice((chance.uniform(-1e6, 1e6), chance.uniform(-1, 1) * 1e-5, 1e21, 0.1, -2.5)),
    "name": lambda chance: chance.choice((_words(chance)[:64], "", "null", 'it\'s "x" \\ <&>', "汉字😀", "é\t\n")),
    "note": lambda chance: _words(chance) * chance.randint(1, 20),
    "day": lambda chance: dt.date(1000, 1, 1) + dt.timedelta(days=chance.randrange(3_000_000)),
    "wall": lambda chance: chance.randrange(mysql.wall("1000-01-01"), mysql.wall("9999-12-31")),
    "moment": lambda chance: chance.randrange(mysql.TIMESTAMP_MIN, mysql.wall("2037-01-01")),
    "raw": lambda chance: chance.randbytes(chance.randint(0, 40)),
    "document": _document,
}


def _decimal(units: int, scale: int) -> Decimal:
    """`units` of the last of `scale` fraction digits, exact whatever the decimal context."""
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -scale))
