"""One history for all formats: the changes of one table, in the types of each source, and the rows
at the end.

MySQL and PostgreSQL both can hold its values, so that the decoders of all formats must return the
same rows. `history_of` has row changes only; `streamed` adds what else a stream has
(`generators.drawing.streams`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from generators.drawing.streams import START_MS, STATEMENTS, Key, Story, Streamed, write_story
from generators.model import (
    Column,
    History,
    Instant,
    Json,
    Layout,
    Op,
    Row,
    RowChange,
    RowImages,
    SourceType,
    Table,
    Value,
)
from generators.profiles import Profile
from generators.sources import databases, mongodb, mysql, oracle, postgresql, sqlserver
from generators.sources.pools import pools
from generators.wire_format import Format

NAME: Final = "one_history"
"""The name of the shared table."""
KEY: Final = "id"
"""The name of the shared table's key where the source lets a key have any name (`key_of`)."""

_MONGODB: Final = mongodb.TYPES
_TYPES: Final[Mapping[str, Mapping[str, SourceType]]] = {
    "id": {
        "mysql": mysql.integer("bigint"),
        "postgresql": postgresql.integer("bigint"),
        "sqlserver": sqlserver.integer("bigint"),
        "mongodb": _MONGODB["long"],
        "oracle": oracle.number(18),
    },
    "small": {
        "mysql": mysql.integer("smallint"),
        "postgresql": postgresql.integer("smallint"),
        "sqlserver": sqlserver.integer("smallint"),
        "mongodb": _MONGODB["int"],
        "oracle": oracle.number(5),
    },
    "number": {
        "mysql": mysql.integer("int"),
        "postgresql": postgresql.integer("integer"),
        "sqlserver": sqlserver.integer("int"),
        "mongodb": _MONGODB["int"],
        "oracle": oracle.number(10),
    },
    "big": {
        "mysql": mysql.integer("bigint"),
        "postgresql": postgresql.integer("bigint"),
        "sqlserver": sqlserver.integer("bigint"),
        "mongodb": _MONGODB["long"],
    },
    "price": {
        "mysql": mysql.decimal(10, 2),
        "postgresql": postgresql.numeric(10, 2),
        "sqlserver": sqlserver.decimal(10, 2),
        "mongodb": _MONGODB["decimal"],
        "oracle": oracle.number(10, 2),
    },
    "exact": {
        "mysql": mysql.decimal(38, 10),
        "postgresql": postgresql.numeric(38, 10),
        "sqlserver": sqlserver.decimal(38, 10),
        "oracle": oracle.number(38, 10),
    },
    "ratio": {
        "mysql": mysql.real("double"),
        "postgresql": postgresql.real("double precision"),
        "sqlserver": sqlserver.real("float"),
        "mongodb": _MONGODB["double"],
        "oracle": oracle.real(),
    },
    "name": {
        "mysql": mysql.text("varchar", 64),
        "postgresql": postgresql.text("varchar", 64),
        "sqlserver": sqlserver.text("nvarchar", 64),
        "mongodb": _MONGODB["string"],
        "oracle": oracle.string("varchar2", 64),
    },
    "note": {
        "mysql": mysql.text("text"),
        "postgresql": postgresql.text("text"),
        "sqlserver": sqlserver.text("nvarchar(max)"),
        "mongodb": _MONGODB["string"],
        "oracle": oracle.string("varchar2", 4000),
    },
    "day": {
        "mysql": mysql.temporal("date"),
        "postgresql": postgresql.temporal("date"),
        "sqlserver": sqlserver.temporal("date"),
    },
    "wall": {
        "mysql": mysql.temporal("datetime", 6),
        "postgresql": postgresql.temporal("timestamp", 6),
        "sqlserver": sqlserver.temporal("datetime2", 6),
        "oracle": oracle.temporal("timestamp", 6),
    },
    "moment": {
        "mysql": mysql.temporal("timestamp", 6),
        "postgresql": postgresql.temporal("timestamptz", 6),
        "sqlserver": sqlserver.temporal("datetimeoffset", 6),
        "oracle": oracle.temporal("timestamptz", 6),
    },
    "raw": {
        "mysql": mysql.binary("varbinary", 64),
        "postgresql": postgresql.bytea(),
        "sqlserver": sqlserver.binary("varbinary", 64),
        "mongodb": _MONGODB["binData"],
    },
    "document": {
        "mysql": mysql.json(),
        "postgresql": postgresql.json("jsonb"),
    },
}
"""Each column's type in each source that has one which holds all its values."""

COLUMNS: Final = tuple(_TYPES)
"""The names of the shared table's columns."""

ADDED: Final = "added"
"""The column that an ADD COLUMN adds; existing rows hold NULL in it."""
DROPPED: Final = "small"
"""The column that is dropped, and added again later, empty."""
LONG: Final = "note"
"""The column of long values in a history of `unsent` values."""
BEYOND_A_PAGE: Final = 3_000
"""Characters of a long value: PostgreSQL keeps it out of line, and sends it only if it changes."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A history in the types of one format's source, and the final rows by key."""

    table: Table
    history: History
    rows: Mapping[Value, Row]


def supported(fmt: Format[Any], profile: Profile) -> tuple[str, ...]:
    """The names of the shared table's columns, in order, whose type in the profile's source the
    format can carry.
    """
    typed = ((name, types.get(profile.source)) for name, types in _TYPES.items())
    return tuple(name for name, type in typed if type is not None and fmt.supports(type))


def key_of(profile: Profile) -> str:
    """The name of the shared table's key in the profile's source; MongoDB's has a name of its
    own.
    """
    return databases.source(profile.source).key_name


def _table(fmt: Format[Any], profile: Profile, name: str) -> Table:
    """The shared table under the name `name`, in the types of the profile's source, with the
    columns that the format supports.
    """
    key = key_of(profile)
    columns = []
    for column_name in supported(fmt, profile):
        is_key, type = column_name == KEY, _TYPES[column_name][profile.source]
        columns.append(Column(key if is_key else column_name, type, nullable=not is_key))
    schema = databases.source(profile.source).schema
    return Table("differential", name, tuple(columns), (key,), schema=schema)


def history_of(fmt: Format[Any], profile: Profile, seed: int, changes: int = 200) -> Reference:
    """The shared history of a seed for one format, with the rows that are left at its end:
    `changes` events of one row each, with the columns that the format supports.
    """
    table, key = _table(fmt, profile, NAME), key_of(profile)
    # By the shared name of a column: its name in the source, which is another one for the key.
    names = {name: key if name == KEY else name for name in supported(fmt, profile)}
    final_rows: dict[Value, Row] = {}
    events = []
    for number, (op, before, after) in enumerate(_changes(seed, changes)):
        before_image = None if before is None else {n: before[name] for name, n in names.items()}
        after_image = None if after is None else {n: after[name] for name, n in names.items()}
        events.append(
            RowChange(
                Instant(START_MS + 1000 * number, 1),
                table,
                op,
                (RowImages(before_image, after_image),),
            )
        )
        if before_image is not None:
            del final_rows[before_image[key]]
        if after_image is not None:
            final_rows[after_image[key]] = after_image
    return Reference(table, History(tuple(events), seed), final_rows)


def streamed(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    name: str,
    changes: int = 90,
    partitions: int = 3,
    statements: tuple[str, ...] = STATEMENTS,
    fine_clock: bool = False,
    unsent: bool = False,
) -> Streamed:
    """Makes a stream's history of the shared table under the name `name`, with about `changes` row
    changes, and the messages that the profile writes for it (`streams.write_story`). `statements`
    are the kinds of DDL statements between the changes. With `fine_clock` some rows change twice
    within a millisecond. With `unsent` most UPDATEs leave the row's long value as it is, so that
    the source does not send it.
    """
    return write_story(
        fmt,
        profile,
        lambda statement_kinds: _SharedStory(fmt, profile, seed, name, statement_kinds, unsent),
        changes,
        Layout(partitions=partitions),
        statements,
        fine_clock,
    )


class _SharedStory(Story):
    """The shared table's Story, a history in the making."""

    def __init__(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        name: str,
        statements: tuple[str, ...],
        unsent: bool,
    ) -> None:
        table = _table(fmt, profile, name)
        super().__init__(
            table,
            seed,
            statements,
            Column(ADDED, _TYPES["number"]["mysql"]),
            Column(DROPPED, _TYPES[DROPPED]["mysql"]),
        )
        self._fresh, self._unsent = 0, unsent
        self._key = key_of(profile)

    def new_row(self) -> Row:
        """A new row. Its key is new, or one that no row has any more because its row was deleted or
        got another key. Keys are tuples of one value here; a new key is the next number.
        """
        free = sorted(self.gone | self.moved, key=repr)
        self._fresh += 1
        reused = bool(free) and self.chance.random() < 0.4
        (key,) = self.chance.choice(free) if reused else (self._fresh,)
        # No other row of the statement may take it.
        self.moved.discard((key,))
        self.gone.discard((key,))
        return {
            c.name: key if c.name == self._key else self.value(c.name) for c in self.table.columns
        }

    def updated_row(self, key: Key) -> Row:
        """The row with this key after an UPDATE of one to four columns, sometimes also of the key.
        With `unsent` the long value changes whenever the key does, and else seldom, so that the
        source mostly leaves it out of the message.
        """
        unchanged_columns = (self._key, LONG) if self._unsent else (self._key,)
        names = [c.name for c in self.table.columns if c.name not in unchanged_columns]
        changed_columns = self.chance.sample(names, self.chance.randint(1, 4))
        self._fresh += 1
        moved: Row = {self._key: (1 << 53) + self._fresh} if self.chance.random() < 0.25 else {}
        # A row that leaves its key is deleted and inserted: nothing would tell its long value.
        if self._unsent and (moved or self.chance.random() < 0.15):
            moved = {**moved, LONG: self.value(LONG)}
        return {**self.rows[key], **{n: self.value(n) for n in changed_columns}, **moved}

    def value(self, name: str) -> Value:
        """A random value for the column of that name; in an `unsent` history a long text for the
        long column.
        """
        if self._unsent and name == LONG:
            return _long_text(self.chance)
        return _value("number" if name == ADDED else name, self.chance)


class DrawnChange(NamedTuple):
    """A drawn change of one row: the operation and the row's images."""

    op: Op
    before: Row | None
    after: Row | None


def _changes(seed: int, count: int) -> Iterator[DrawnChange]:
    """The changes that tables in all sources share, by the column names of the shared table:
    inserts, deletes, keys that are used again, and updates of a few columns, of the key, or of
    nothing.
    """
    chance = random.Random(f"{seed}/differential")
    live_rows: dict[Value, Row] = {}
    for number in range(count):
        share = chance.random()
        if not live_rows or share < 0.4:
            # Every fifth key is at least 2^53, from where on a double holds no odd number.
            key: Value = number if chance.random() < 0.8 else (1 << 53) + number
            new_row: Row = {name: key if name == KEY else _value(name, chance) for name in _TYPES}
            live_rows[key] = new_row
            yield DrawnChange(Op.INSERT, None, new_row)
            continue
        key = chance.choice(list(live_rows))
        before = live_rows.pop(key)
        if share < 0.55:
            yield DrawnChange(Op.DELETE, before, None)
            continue
        changed_columns = chance.sample(
            [name for name in _TYPES if name != KEY], chance.randint(0, 4)
        )
        # A new key is negative, and so none that an INSERT gives.
        moved: Row = {KEY: -1 - number} if share > 0.9 else {}
        after: Row = {**before, **{name: _value(name, chance) for name in changed_columns}, **moved}
        live_rows[after[KEY]] = after
        yield DrawnChange(Op.UPDATE, before, after)


def _value(name: str, chance: random.Random) -> Value:
    """A random value for the shared table's column of this name; in about one row of seven NULL."""
    if chance.random() < 0.15:
        return None
    return _DRAW[name](chance)


def _pool_text(chance: random.Random) -> str:
    """A random text from a random pool of `pools()`."""
    texts = pools()
    return str(chance.choice(texts[chance.choice(sorted(texts))]))


def _long_text(chance: random.Random) -> str:
    """A random text of about BEYOND_A_PAGE hexadecimal digits, which hardly compresses."""
    return "".join(f"{chance.randrange(1 << 64):x} " for _ in range(BEYOND_A_PAGE // 16))


def _document(chance: random.Random) -> Json:
    """A random JSON document with a large number, a list and a nested object."""
    return Json(
        {
            "a": chance.randrange(1 << 60),
            "b": [None, True, _pool_text(chance)],
            "c": {"d": chance.randrange(999) / 8},
        }
    )


_DRAW: Final[Mapping[str, Callable[[random.Random], Value]]] = {
    "small": lambda chance: chance.randint(-(1 << 15), (1 << 15) - 1),
    "number": lambda chance: chance.randint(-(1 << 31), (1 << 31) - 1),
    "big": lambda chance: chance.randint(-(1 << 63), (1 << 63) - 1),
    "price": lambda chance: _decimal(chance.randint(-(10**10) + 1, 10**10 - 1), 2),
    "exact": lambda chance: _decimal(chance.randint(-(10**38) + 1, 10**38 - 1), 10),
    "ratio": lambda chance: chance.choice(
        (chance.uniform(-1e6, 1e6), chance.uniform(-1, 1) * 1e-5, 1e21, 0.1, -2.5)
    ),
    "name": lambda chance: chance.choice(
        (_pool_text(chance)[:64], "", "null", 'it\'s "x" \\ <&>', "汉字😀", "é\t\n")
    ),
    "note": lambda chance: _pool_text(chance) * chance.randint(1, 20),
    "day": lambda chance: date(1000, 1, 1) + timedelta(days=chance.randrange(3_000_000)),
    "wall": lambda chance: chance.randrange(mysql.wall("1000-01-01"), mysql.wall("9999-12-31")),
    "moment": lambda chance: chance.randrange(mysql.TIMESTAMP_MIN, mysql.wall("2037-01-01")),
    "raw": lambda chance: chance.randbytes(chance.randint(0, 40)),
    "document": _document,
}
"""The function that draws a value other than NULL from a random stream, by the column's name."""


def _decimal(units: int, scale: int) -> Decimal:
    """The decimal `units * 10**-scale`, exact whatever the decimal context."""
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -scale))
