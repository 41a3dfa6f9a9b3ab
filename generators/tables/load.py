"""Load of a user's tables: unit n is one change of one row, a function of schema, values, seed and
n alone.

The tables take turns. A row that a unit updates or deletes, and the rows that it refers to, were
there before.
"""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from generators.drawing.cases import LAYOUT
from generators.model import (
    History,
    Instant,
    Layout,
    Message,
    Op,
    RowChange,
    RowImages,
    Scenario,
    Table,
    Value,
)
from generators.profiles import Profile
from generators.sources.boundaries import START
from generators.tables.schema import UserTable
from generators.tables.user_values import Values
from generators.wire_format import Format

OPS: Final = ((Op.INSERT, 50), (Op.UPDATE, 40), (Op.DELETE, 10))
"""The operations of load units, with the share of each in percent."""
CHANGED: Final = 3
"""The most columns that an UPDATE changes."""
ROWS: Final = 4096
"""How many different rows of a table the load is about, as far as its columns have enough values.
"""


@dataclass(frozen=True, slots=True, eq=False)
class TableLoad:
    """The load of the tables of `users`, which take turns: unit n (one change of one row) is of
    table n modulo their number. `ops` are the operations with their weights.
    """

    values: Values
    users: tuple[UserTable, ...]
    ops: tuple[tuple[Op, int], ...] = OPS

    @property
    def table(self) -> Table:
        """The first of the tables, whose rows a decoder of level two (typed rows) is asked for."""
        return self.users[0].table

    def scenario(self, seed: int, n: int) -> Scenario:
        """The scenario of load unit n: one change of one row."""
        randomness = random.Random(f"{seed}/{n}")
        user = self.users[n % len(self.users)]
        ops, weights = zip(*self.ops, strict=True)
        op = randomness.choices(ops, weights)[0]
        fixed = user.unique_columns | user.foreign_key_columns
        free = [
            column
            for column in user.table.columns
            if column.name not in fixed and not column.generated
        ]
        after = self.values.base_row(user, randomness.randrange(ROWS))
        after |= {column.name: self._value(user, column.name, randomness) for column in free}
        before = dict(after)
        for column in randomness.sample(free, min(CHANGED, len(free))):
            before[column.name] = self._value(user, column.name, randomness)
        after, before = (
            self.values.with_computed_columns(user, image) for image in (after, before)
        )
        images_by_op = {
            Op.INSERT: RowImages(None, after),
            Op.DELETE: RowImages(after, None),
            Op.UPDATE: RowImages(before, after),
        }
        event = RowChange(Instant(START.ms + n, n % 1000), user.table, op, (images_by_op[op],))
        return Scenario(
            f"load/{seed}/{n}",
            History((event,), randomness.getrandbits(16)),
            tags=frozenset({"load"}),
        )

    def _value(self, user: UserTable, name: str, randomness: random.Random) -> Value:
        """A random value of a column from its pool, or NULL as often as the column's share of NULLs
        says.
        """
        column = user.table.column(name)
        if randomness.random() < self.values.null_share(user, column):
            return None
        return randomness.choice(self.values.pool(user, column))

    def messages(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        count: int | None = None,
        layout: Layout = LAYOUT,
    ) -> Iterator[Message]:
        """The messages of load units (changes of one row) 0 to `count - 1`, without an end if
        `count` is None. The format's writer makes each of them.
        """
        return (
            message for message, _ in self.messages_with_tables(fmt, profile, seed, count, layout)
        )

    def messages_with_tables(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        count: int | None = None,
        layout: Layout = LAYOUT,
    ) -> Iterator[tuple[Message, Table]]:
        """The messages of load units (changes of one row) 0 to `count - 1`, without an end if
        `count` is None, each with the table that the unit changes.
        """
        for n in itertools.count() if count is None else range(count):
            table = self.users[n % len(self.users)].table
            for written in fmt.write(self.scenario(seed, n).history, profile, layout):
                yield written.message, table

    @property
    def pickled(self) -> bytes:
        """The load as bytes, with its pools of values, for other processes of this run."""
        return pickle.dumps((self.values.fill_pools(), self.users, self.ops))

    def save(self, path: Path) -> None:
        """Writes the load to a file, which `read_saved` reads in another process of this run."""
        path.write_bytes(self.pickled)


def read_saved(path: Path) -> TableLoad:
    """The load in a file that `TableLoad.save` wrote."""
    return restore(path.read_bytes())


def restore(pickled_load: bytes) -> TableLoad:
    """The load whose bytes are `TableLoad.pickled`. They must come from a process of this run,
    because unpickling executes code.
    """
    values, users, ops = pickle.loads(pickled_load)  # noqa: S301 - our own process wrote it
    return TableLoad(values, users, ops)
