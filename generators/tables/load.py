"""Load of a user's tables: unit n is one change of one row, a function of schema, values, seed and
n alone.

The tables take turns. A row that a unit updates or deletes, and the rows that it refers to, were
there before.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count as endless
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
CHANGED: Final = 3
"""Columns that an UPDATE changes at most."""
ROWS: Final = 4096
"""Distinct rows of a table, as far as its columns have values."""


@dataclass(frozen=True, slots=True, eq=False)
class TableLoad:
    """The load of the tables of `users`; `table` is the one that a decoder of level two is asked
    for.
    """

    values: Values
    users: tuple[UserTable, ...]
    ops: tuple[tuple[Op, int], ...] = OPS

    @property
    def table(self) -> Table:
        """The first table."""
        return self.users[0].table

    def scenario(self, seed: int, n: int) -> Scenario:
        """The scenario of unit n."""
        chance = random.Random(f"{seed}/{n}")
        user = self.users[n % len(self.users)]
        ops, weights = zip(*self.ops, strict=True)
        op = chance.choices(ops, weights)[0]
        fixed = user.identifying | user.referring
        free = [
            column
            for column in user.table.columns
            if column.name not in fixed and not column.generated
        ]
        row = self.values.row(user, chance.randrange(ROWS))
        row |= {column.name: self._value(user, column.name, chance) for column in free}
        before = dict(row)
        for column in chance.sample(free, min(CHANGED, len(free))):
            before[column.name] = self._value(user, column.name, chance)
        row, before = (self.values.completed(user, image) for image in (row, before))
        images = {
            Op.INSERT: RowImages(None, row),
            Op.DELETE: RowImages(row, None),
            Op.UPDATE: RowImages(before, row),
        }
        event = RowChange(Instant(START.ms + n, n % 1000), user.table, op, (images[op],))
        return Scenario(
            f"load/{seed}/{n}", History((event,), chance.getrandbits(16)), tags=frozenset({"load"})
        )

    def _value(self, user: UserTable, name: str, chance: random.Random) -> Value:
        column = user.table.column(name)
        if chance.random() < self.values.null_share(user, column):
            return None
        return chance.choice(self.values.pool(user, column))

    def messages(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        count: int | None = None,
        layout: Layout = LAYOUT,
    ) -> Iterator[Message]:
        """The messages of units 0 to `count - 1`, without end when there is no count; the writer
        makes each.
        """
        return (message for message, _ in self.by_table(fmt, profile, seed, count, layout))

    def by_table(
        self,
        fmt: Format[Any],
        profile: Profile,
        seed: int,
        count: int | None = None,
        layout: Layout = LAYOUT,
    ) -> Iterator[tuple[Message, Table]]:
        """As `messages`, each with the table of its unit."""
        for n in endless() if count is None else range(count):
            table = self.users[n % len(self.users)].table
            for written in fmt.write(self.scenario(seed, n).history, profile, layout):
                yield written.message, table

    @property
    def kept(self) -> bytes:
        """What another process of this run restores, pools included."""
        return pickle.dumps((self.values.filled(), self.users, self.ops))

    def save(self, path: Path) -> None:
        """Keeps it in a file."""
        path.write_bytes(self.kept)


def load(path: Path) -> TableLoad:
    """What `save` kept."""
    return restored(path.read_bytes())


def restored(kept: bytes) -> TableLoad:
    """What `save` wrote."""
    values, users, ops = pickle.loads(kept)  # noqa: S301 - our own process wrote it
    return TableLoad(values, users, ops)
