"""The seeded expander: cases and load from `random.Random`, without Hypothesis.

Everything is addressed by position: case n, or load message n, of a (seed, format, profile) is the
same in every process and order. Nothing is drawn from shared state, and text comes from
`generators.sources.pools`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from generators.bulk._random_values import Drawer, rng
from generators.bulk.orders import load_scenario, load_table
from generators.bulk.traffic import messages
from generators.drawing.cases import LAYOUT, as_case
from generators.errors import UsageError
from generators.model import (
    Case,
    Column,
    History,
    Instant,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
)
from generators.profiles import Profile
from generators.sources import boundaries, databases
from generators.sources.boundaries import START
from generators.wire_format import Format

__all__ = ["cases", "load_scenario", "load_table", "messages", "rng", "scenario"]


STATEMENTS: Final = 2
"""The most statements in one scenario."""
ROWS: Final = 2
"""The most rows that one statement changes."""
COLUMNS: Final = 6
"""The most columns of a level-one table beside its key."""
NULL_RATE: Final = 0.15
"""The share of NULL in nullable columns."""
BOUNDARY_RATE: Final = 0.3
"""The share of boundary values among values that are not NULL."""
AWKWARD_RATE: Final = 0.15
"""The share of tables with awkward names."""
OPS: Final[Mapping[Op, int]] = {Op.INSERT: 4, Op.UPDATE: 4, Op.DELETE: 2}
"""The operations of drawn statements with their weights."""


def scenario(
    fmt: Format[Any], profile: Profile, seed: int, ordinal: int, *, level: int = 1
) -> Scenario:
    """Scenario `ordinal` of a seed: one to STATEMENTS statements on one table, each possible after
    those before it.

    At level one (judged by one output row for each change) the table is a random one, of types of
    the profile's source that the format supports; at level two (typed rows) it is one of the tables
    that all cases share (`boundaries.pool`). Rows that an UPDATE or DELETE touches were inserted
    before it, or existed before the history began. Raises UsageError for a negative ordinal, or
    another level.
    """
    if level not in (1, 2) or ordinal < 0:
        raise UsageError(
            f"bulk scenario {ordinal} of level {level}: the ordinal is at least 0, the level 1 or 2"
        )
    random_ = rng(seed, fmt.name, profile.name, ordinal)
    draw = Drawer(random_, NULL_RATE, BOUNDARY_RATE)
    if level == 2:
        table = random_.choice(boundaries.pool(fmt.supports, profile.source))
    else:
        table = _table(random_, draw, profile, ordinal, fmt)
    history = History(
        tuple(_Source(random_, draw, table, ordinal).events()), seed=random_.getrandbits(31)
    )
    name = f"{'bulk' if level == 1 else 'bulk-rows'}/{seed}/{ordinal}"
    return Scenario(name, history, level, frozenset({"bulk"}))


def cases(fmt: Format[Any], profile: Profile, seed: int, count: int) -> Iterator[Case]:
    """The first `count` cases that a seed gives for a profile; every fourth is of level two (typed
    rows), the others of level one (one output row for each change).
    """
    for ordinal in range(count):
        yield as_case(
            fmt,
            profile,
            scenario(fmt, profile, seed, ordinal, level=2 if ordinal % 4 == 3 else 1),
            LAYOUT,
        )


def _table(
    random_: random.Random, draw: Drawer, profile: Profile, ordinal: int, fmt: Format[Any]
) -> Table:
    """A random table for level-one scenario `ordinal`: its columns, its key and a name with the
    ordinal in it. AWKWARD_RATE of the tables have awkward names; about one in ten has no key, and
    one in ten a unique key in place of a primary key.
    """
    source = databases.source(profile.source)
    kinds = [type for type in source.types.values() if fmt.supports(type)]
    keys = [source.types[name] for name in source.bulk_keys if fmt.supports(source.types[name])]
    awkward = draw.chance(AWKWARD_RATE)
    names: Iterator[str] = iter(
        random_.sample(boundaries.AWKWARD_NAMES, len(boundaries.AWKWARD_NAMES)) if awkward else ()
    )
    numbers = itertools.count()

    def column(type: SourceType, nullable: bool) -> Column:
        """A column of this type with the next name that is free in the table."""
        return Column(next(names, None) or f"c{next(numbers)}", type, nullable)

    plain = [
        column(random_.choice(kinds), not draw.chance(0.2))
        for _ in range(random_.randint(1, COLUMNS))
    ]
    shape = random_.choices(("id", "composite", "unique", "none"), (6, 2, 1, 1))[0]
    key: list[Column] = []
    if shape != "none" and keys:
        key = [
            column(random_.choice(keys), False)
            for _ in range(random_.randint(2, 3) if shape == "composite" else 1)
        ]
    columns = [*key, *plain]
    if draw.chance(0.3):
        random_.shuffle(columns)
    ordered = [c.name for c in key]
    random_.shuffle(ordered)
    name = (
        f"bulk {ordinal} `{random_.choice(('x', 'é', '<', '汉'))}`"
        if awkward
        else f"bulk_{ordinal}"
    )
    unique = (tuple(ordered),) if shape == "unique" and key else ()
    return Table(
        profile.database,
        name,
        tuple(columns),
        () if unique else tuple(ordered),
        unique,
        source.schema,
    )


class _Source:
    """The rows of one table, and random statements that are possible with them."""

    def __init__(self, random_: random.Random, draw: Drawer, table: Table, ordinal: int) -> None:
        self._random, self._draw, self._table = random_, draw, table
        self._alive: list[Row] = []
        self._used: set[tuple[Value, ...]] = set()
        self._ms = START.ms + ordinal * 1000
        self._fresh = itertools.count(random_.randrange(1, 1000))

    def events(self) -> Iterator[RowChange]:
        """One to STATEMENTS random statements on the table, in commit order. An UPDATE or DELETE is
        of rows that exist then, or, where none is left, of rows that were there before the history;
        no row comes twice in one statement.
        """
        for _ in range(self._random.randint(1, STATEMENTS)):
            self._ms += self._random.randrange(1, 300)
            op = self._random.choices(tuple(OPS), tuple(OPS.values()))[0]
            row_images = tuple(self._row_images(op) for _ in range(self._random.randint(1, ROWS)))
            self._alive += [images.after for images in row_images if images.after is not None]
            yield RowChange(
                Instant(self._ms, self._random.randrange(1, 1000)), self._table, op, row_images
            )

    def _row_images(self, op: Op) -> RowImages:
        """The images of one changed row: an INSERT makes a new row, an UPDATE or DELETE takes an
        existing one.
        """
        if op is Op.INSERT:
            return RowImages(None, self._new_row())
        before = (
            self._alive.pop(self._random.randrange(len(self._alive)))
            if self._alive
            else self._new_row()
        )
        if op is Op.DELETE:
            return RowImages(before, None)
        return RowImages(before, self._changed_row(before))

    def _new_row(self) -> Row:
        """A random row with a key that no other row of the history has or had."""
        new_cells = {
            c.name: self._draw.value(c.type, nullable=c.nullable) for c in self._table.columns
        }
        return self._with_free_key(new_cells)

    def _with_free_key(self, cells: dict[str, Value]) -> Row:
        """Gives the row, in place, a key that no other row of the history has or had, and returns
        it; a key that is free stays.
        """
        key = self._table.handle_key
        while key and tuple(cells[name] for name in key) in self._used:
            for name in key:
                cells[name] = self._key_value(self._table.column(name).type)
        self._used.add(tuple(cells[name] for name in key))
        return cells

    def _key_value(self, type: SourceType) -> Value:
        """A key's value that the history has not used, a number or its text."""
        number = next(self._fresh)
        return str(number) if type.logical is Logical.TEXT else number

    def _changed_row(self, before: Row) -> Row:
        """The row after an UPDATE of some of its columns; rarely of its key, too, which it must be
        where the table has no other columns. The key is the one by which the source identifies rows
        (`handle_key`), and its new value is one that no row of the history has or had.
        """
        key = self._table.handle_key
        free_columns = [c for c in self._table.columns if c.name not in key]
        changed_columns = (
            self._random.sample(free_columns, self._random.randint(1, len(free_columns)))
            if free_columns
            else []
        )
        after: dict[str, Value] = {
            **before,
            **{c.name: self._draw.value(c.type, nullable=c.nullable) for c in changed_columns},
        }
        if key and (not free_columns or self._draw.chance(0.05)):
            name = self._random.choice(key)
            after[name] = self._key_value(self._table.column(name).type)
            return self._with_free_key(after)
        return after
