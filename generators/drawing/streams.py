"""Makes histories of one keyed table with everything that a stream may have: transactions of
several rows, statements that change the table, watermarks, schemas sent in advance and repeatedly,
heartbeats.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from generators.model import (
    Bootstrap,
    Column,
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
    Table,
    TransactionMark,
    Value,
    Watermark,
    Written,
)
from generators.profiles import Profile
from generators.sources import databases
from generators.wire_format import Format

START_MS: Final = 1_700_000_000_000

STATEMENTS: Final = (
    "add column",
    "truncate table",
    "drop column",
    "drop table",
    "add column again",
)
"""The DDL statements of a stream's history, in the order in which they happen; those that a profile
has no messages for are left out.
"""

TWICE: Final = 10
"""How many changes a history with a `fine` clock has at its end that are each followed by another
one of the same row within the millisecond.
"""
UNTOUCHED: Final = 3
"""How many rows with a value in the dropped column no change touches after DROP COLUMN, if no DROP
TABLE clears the table.
"""
MOVING: Final = 20
"""How many further changes there are at most at the end of a history, until an UPDATE has replaced
a key that no row has afterwards.
"""

Key: TypeAlias = tuple[Value, ...]
"""A row's values of the columns of its table's key."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A history with everything that a stream may have, and the messages that one profile writes
    for it.

    `table` is the table at the end of the history, `rows` are its rows then, by key. `last` is the
    number of the event that last changed each row, by key. `added_after` has, by the name of a
    column that a statement added, the number of that statement's event: rows that no later event
    changed have NULL in the column. `moved` are keys that an UPDATE of the key replaced, `gone` all
    other keys that no longer exist. `statements` are those of STATEMENTS for which the profile has
    messages.
    """

    table: Table
    history: History
    rows: Mapping[Key, Row]
    written: tuple[Written, ...]
    last: Mapping[Key, int]
    added_after: Mapping[str, int] = field(default_factory=dict)
    moved: frozenset[Key] = frozenset()
    gone: frozenset[Key] = frozenset()
    statements: tuple[str, ...] = ()


class Story(ABC):
    """A history in the making: the table and the rows at the source, and the events so far.

    `added` is the column that ADD COLUMN adds. `dropped` is the column that DROP COLUMN removes,
    and that may be added again, empty. While there are fewer than `few` rows, only INSERTs happen.
    With `fine` some rows change twice within a millisecond, which only a message's position tells
    apart, and INSERTs become rare when there are more than twice `few` rows.
    """

    def __init__(
        self,
        table: Table,
        seed: int,
        statements: tuple[str, ...],
        added: Column,
        dropped: Column | None,
        few: int = 10,
    ) -> None:
        self.table = table
        self.statements = statements
        self.added = added
        self.dropped = dropped
        self.few = few
        self.seed, self.chance = seed, random.Random(f"{seed}/streamed")
        self.events: list[Event] = []
        self.rows: dict[Key, Row] = {}
        self.last: dict[Key, int] = {}
        self.stated: dict[str, int] = {}
        self.added_after: dict[str, int] = {}
        self.moved: set[Key] = set()
        self.gone: set[Key] = set()
        self.fine = False
        self.untouched: set[Key] = set()
        self._touched: list[Key] = []
        self._at = Instant(START_MS)

    @abstractmethod
    def new_row(self) -> Row | None:
        """Makes a new row whose key no existing row and no other row of the current statement has;
        None if there is none left.
        """

    @abstractmethod
    def updated_row(self, key: Key) -> Row:
        """Makes the row as it is after an UPDATE of the existing row with this key. A few columns
        change, sometimes the key. `rows` still has the old row.
        """

    def key(self, cells: Row) -> Key:
        """The values of the table's primary key in a row, by which the history knows the row."""
        return tuple(cells[name] for name in self.table.primary_key)

    def run(self, changes: int) -> None:
        """Makes the whole history: a BOOTSTRAP with the table's schema, about `changes` row changes
        with the DDL statements, watermarks and heartbeats between them, and a watermark at the end.
        """
        self.events.append(Bootstrap(self.now(), self.table))
        statement_at = {
            changes * (n + 1) // (len(self.statements) + 1): statement_kind
            for n, statement_kind in enumerate(self.statements)
        }
        done = 0
        while done < changes:
            row_count = min(self.chance.choice((1, 1, 1, 2, 4)), changes - done)
            self.transaction(row_count)
            self.soon(0.2)
            for number in range(done, done + row_count):
                if statement_kind := statement_at.get(number):
                    self.statement(statement_kind)
            done += row_count
            if self.chance.random() < 0.2:
                self.events.append(Watermark(self.now()))
            if self.chance.random() < 0.08:
                self.events.append(Bootstrap(self.now(), self.table))
            if self.chance.random() < 0.05:
                self.events.append(Heartbeat(self.now()))
        # What comes last shows.
        for _ in range(TWICE if self.fine else 0):
            self.transaction(1)
            self.soon(1)
        for _ in range(MOVING):
            if not self.moved:
                self.transaction(1)
        self.events.append(Watermark(self.now()))

    def now(self, *, soon: bool = False) -> Instant:
        """The time of the next commit, from which the one after it is counted. Commits are a second
        apart, since some writers write whole seconds; with `soon` the commit is in the same
        millisecond as the last one.
        """
        self._at = (
            Instant(self._at.ms, self._at.seq + 1) if soon else Instant(self._at.ms + 1000, 1)
        )
        return self._at

    def soon(self, share: float) -> None:
        """With probability `share`, changes a row of the last commit again in the same millisecond.
        It does so only in a `fine` history, whose messages have positions that tell such changes
        apart.
        """
        if self.fine and self._touched and self.chance.random() < share:
            self.transaction(1, soon=True)

    def transaction(self, count: int, *, soon: bool = False) -> None:
        """Commits one INSERT, UPDATE or DELETE of up to `count` different rows. If `count` is more
        than 1, marks of BEGIN and COMMIT stand around it, even if only one row changes. With `soon`
        the rows are among those that the last commit changed, and the commit is in the same
        millisecond. Does nothing if there is no row to change.
        """
        at, share = self.now(soon=soon), self.chance.random()
        existing_keys = (
            self._touched if soon else sorted(self.rows.keys() - self.untouched, key=repr)
        )
        keys = self.chance.sample(existing_keys, min(count, len(existing_keys)))
        op, images = Op.INSERT, list[RowImages]()
        insert_share = 0.1 if self.fine and len(self.rows) >= 2 * self.few else 0.3
        if not soon and (len(self.rows) < self.few or share < insert_share):
            new = (self.new_row() for _ in range(count))
            images = [RowImages(None, new_row) for new_row in new if new_row is not None]
        if not images and share < 0.55:
            op, images = Op.DELETE, [RowImages(self.rows[key], None) for key in keys]
        elif not images:
            op, images = (
                Op.UPDATE,
                [RowImages(self.rows[key], self.updated_row(key)) for key in keys],
            )
        self._touched = [self.key(image.after) for image in images if image.after is not None]
        if not images:
            return
        name = f"{at.ms + at.seq - 1}"
        if count > 1:
            self.events.append(TransactionMark(at, "BEGIN", name))
        for image in images:
            self.apply(image)
        self.events.append(RowChange(at, self.table, op, tuple(images)))
        if count > 1:
            self.events.append(TransactionMark(at, "COMMIT", name, len(images)))

    def apply(self, image: RowImages) -> None:
        """Applies the change of one row, given by its images, to the table's rows, and notes three
        things: keys that an UPDATE replaced (`moved`), keys of deleted rows (`gone`), and the
        number of the event that last changed each row (`last`), which is the next one to be added.
        """
        old = None if image.before is None else self.key(image.before)
        new = None if image.after is None else self.key(image.after)
        if old is not None:
            del self.rows[old]
            if new is None or new != old:
                (self.gone if new is None else self.moved).add(old)
        if image.after is not None and new is not None:
            self.moved.discard(new)
            self.gone.discard(new)
            self.rows[new] = image.after
            self.last[new] = len(self.events)

    def statement(self, statement_kind: str) -> None:
        """Executes a DDL statement of this kind, one of STATEMENTS: changes the table and the rows,
        and adds the event.
        """
        before, name, source = self.table, self.table.name, databases.of_table(self.table)
        quote = source.quote
        self.stated[statement_kind] = len(self.events)
        match statement_kind:
            case "add column" | "add column again":
                column = self.added if statement_kind == "add column" else self.dropped
                assert column is not None
                self.table = replace(before, columns=(*before.columns, column))
                self.rows = {key: {**cells, column.name: None} for key, cells in self.rows.items()}
                self.added_after[column.name] = len(self.events)
                clause = f"ADD COLUMN {quote(column.name)} {source.declared(column.type)}"
                self.change("add column", f"ALTER TABLE {quote(name)} {clause}", before)
            case "drop column":
                assert self.dropped is not None
                dropped_name = self.dropped.name
                if "drop table" not in self.statements:
                    keys_with_value = [
                        k for k, cells in self.rows.items() if cells[dropped_name] is not None
                    ]
                    self.untouched = set(sorted(keys_with_value, key=repr)[:UNTOUCHED])
                self.table = replace(
                    before, columns=tuple(c for c in before.columns if c.name != dropped_name)
                )
                for row_key, cells in self.rows.items():
                    self.rows[row_key] = {n: v for n, v in cells.items() if n != dropped_name}
                self.change(
                    "drop column",
                    f"ALTER TABLE {quote(name)} DROP COLUMN {quote(dropped_name)}",
                    before,
                )
            case "truncate table":
                self.empty()
                self.change("truncate table", f"TRUNCATE TABLE {quote(name)}", before)
            case "drop table":
                self.empty()
                self.change(
                    "drop table",
                    f"DROP TABLE {quote(before.database)}.{quote(name)}",
                    before,
                    exists_after=False,
                )
                columns = ", ".join(
                    f"{quote(c.name)} {source.declared(c.type)}" for c in before.columns
                )
                key = ", ".join(map(quote, before.primary_key))
                self.change(
                    "create table",
                    f"CREATE TABLE {quote(name)} ({columns}, PRIMARY KEY ({key}))",
                    None,
                )
                self.events.append(Bootstrap(self.now(), self.table))

    def empty(self) -> None:
        """Removes all rows without row changes, as TRUNCATE and DROP TABLE do; their keys are in
        `gone` then.
        """
        self.gone |= self.rows.keys()
        self.rows = {}

    def change(
        self, action: str, sql: str, before: Table | None, *, exists_after: bool = True
    ) -> None:
        """Adds the event of a DDL statement with this action and SQL. `before` is the table before
        the statement, None if the statement creates it; `exists_after` is false if the statement
        drops it.
        """
        after = self.table if exists_after else None
        self.events.append(
            SchemaChange(
                self.now(), action, sql, self.table.database, self.table.name, before, after
            )
        )


def write_story(
    fmt: Format[Any],
    profile: Profile,
    begin: Callable[[tuple[str, ...]], Story],
    changes: int,
    layout: Layout,
    statements: tuple[str, ...] = STATEMENTS,
    fine_clock: bool = False,
) -> Streamed:
    """Makes a history of about `changes` row changes, and the messages that the profile writes for
    it. `begin` makes an empty Story (a history in the making) with the given DDL statements.

    A statement for which the profile writes no message is left out, and the history is made anew
    without it; a source other than MySQL has none at all. With `fine_clock` some rows change twice
    within a millisecond, if the profile's messages have positions that tell such changes apart.
    """
    if profile.source != "mysql":
        statements = ()
    while True:
        story = begin(statements)
        story.fine = fine_clock
        story.run(changes)
        history = History(tuple(story.events), story.seed)
        written = tuple(fmt.write(history, profile, layout))
        numbers = {
            w.message.event
            for w in written
            if any(c.kind is Kind.DDL or c.op is Op.TRUNCATE for c in w.changes)
        }
        unwritten_kinds = {
            statement_kind
            for statement_kind, number in story.stated.items()
            if number not in numbers
        }
        has_distinct_positions = not fine_clock or _distinct_positions(written)
        if not unwritten_kinds and has_distinct_positions:
            break
        fine_clock = has_distinct_positions and fine_clock
        statements = tuple(
            statement_kind for statement_kind in statements if statement_kind not in unwritten_kinds
        )
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


def _distinct_positions(written: Iterable[Written]) -> bool:
    """Whether every row change in the messages has a position (`Change.position`), and changes of
    two events never have the same one.
    """
    events: dict[str, int] = {}
    for w in written:
        for change in w.changes:
            if change.kind is Kind.ROW and (
                change.position is None
                or events.setdefault(change.position, w.message.event) != w.message.event
            ):
                return False
    return True
