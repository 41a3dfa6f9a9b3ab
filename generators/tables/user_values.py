"""What the columns of a user's tables may hold, and do hold: boundaries of their types, and pools
of realistic values.

A value that a table cannot hold is never given: by its type, NOT NULL, its character set, its
CHECKs, and the override file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from generators.model import Column, Logical, Row, Scenario, SourceType, Value, ZeroDate
from generators.sources import registry as sources
from generators.tables import computed, realistic
from generators.tables.overrides import NO_OVERRIDES, Overrides, within
from generators.tables.schema import Check, ForeignKey, Place, Schema, UserTable, place

LONGEST: Final = 4096
"""Characters or bytes of the longest value that a boundary case has."""

NULLS: Final = 0.15
"""The share of NULL in a nullable column, unless the override file says another."""

_CODECS: Final[Mapping[str, str]] = {
    "latin1": "cp1252",
    "gbk": "gbk",
    "gb2312": "gb2312",
    "gb18030": "gb18030",
}
_WHOLE: Final = frozenset({"", "utf8mb4", "utf16", "utf16le", "utf32", "gb18030", "binary"})
_BMP: Final = frozenset({"utf8", "utf8mb3", "ucs2"})

Identity = tuple[object, ...]


def encodable(charset: str, text: str) -> bool:
    """Whether a character set of MySQL has every character of the text; of one that is not known
    here, only ASCII is.
    """
    if charset in _WHOLE:
        return True
    if charset in _BMP:
        return all(character <= "\uffff" for character in text)
    try:
        text.encode(_CODECS.get(charset, "ascii"))
    except UnicodeEncodeError:
        return False
    return True


def passes(check: Check, value: Value) -> bool:
    """Whether a value passes a CHECK: NULL always does."""
    return value is None or (
        value in check.choices if check.choices else within(value, check.low, check.high)
    )


def _in_type(type: SourceType, value: Value) -> bool:
    if (
        isinstance(value, float)
        and type.source == "mysql"
        and type.scale is not None
        and type.precision is not None
    ):
        return (
            abs(value) < 10.0 ** (type.precision - type.scale) and round(value, type.scale) == value
        )
    if (
        isinstance(value, str)
        and realistic.has_grammar(type)
        and type.name not in ("enum", *_OWN_FITS)
    ):
        return value in realistic.boundaries(type).values()
    listed = type.name.endswith("]") or type.name == "point"
    return sources.fits(type, value) or (listed and value in realistic.boundaries(type).values())


_OWN_FITS: Final = ("uuid", "inet", "interval", "timetz")


def loose(value: Value) -> object:
    """A value as the least exact collation compares it: texts without case, accents, spaces and
    signs.
    """
    if isinstance(value, str):
        folded = unicodedata.normalize("NFKD", value).casefold()
        return "".join(
            character for character in folded if character.isascii() and character.isalnum()
        )
    return value.rstrip(b"\0") if isinstance(value, bytes) else value


def identity(key: tuple[str, ...], row: Row) -> Identity | None:
    """A row's values of a unique key, as the least exact collation compares them; None where one of
    them is NULL.
    """
    parts = tuple(row[name] for name in key)
    return None if None in parts else tuple(map(loose, parts))


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a schema's columns, a function of schema, overrides and seed."""

    schema: Schema
    overrides: Overrides = NO_OVERRIDES
    seed: int = 1
    _pools: dict[tuple[Place, str], tuple[Value, ...]] = field(default_factory=dict)
    _wide: dict[tuple[Place, str], tuple[Value, ...]] = field(default_factory=dict)

    def user(self, at: Place) -> UserTable | None:
        """The table at a place; None if the schema has none there."""
        return next((user for user in self.schema.tables if place(user.table) == at), None)

    def holds(self, user: UserTable, column: Column, value: Value) -> bool:
        """Whether the column can hold the value, and, if it refers to another table, that table's
        column too.
        """
        return self._holds(user, column, value, frozenset())

    def _holds(
        self, user: UserTable, column: Column, value: Value, seen: frozenset[tuple[Place, str]]
    ) -> bool:
        asked, table = self.overrides.of(user.table, column), user.table
        if value is None:
            return column.nullable and column.name not in table.primary_key and asked.allows(None)
        if self.overrides.strict and (
            isinstance(value, ZeroDate) or (column.type.logical is Logical.ENUM and value == 0)
        ):
            return False
        if not _in_type(column.type, value) or not asked.allows(value):
            return False
        if isinstance(value, str) and not encodable(column.charset, value):
            return False
        if not all(passes(check, value) for check in user.checks if check.column == column.name):
            return False
        at = (place(table), column.name)
        return all(
            self._holds(parent, parent.table.column(name), value, seen | {at})
            for parent, name in self.parents(user, column)
            if at not in seen
        )

    def parents(self, user: UserTable, column: Column) -> list[tuple[UserTable, str]]:
        """The columns of other tables that the column refers to."""
        parents = []
        for key in user.foreign_keys:
            parent = self.user(key.parent)
            if parent is not None and column.name in key.columns:
                parents.append((parent, key.parent_columns[key.columns.index(column.name)]))
        return parents

    def boundaries(self, user: UserTable, column: Column) -> Mapping[str, Value]:
        """The named boundary values that the column can hold, NULL among them; none of a generated
        column, whose expression decides.
        """
        if column.generated:
            return {}
        named: dict[str, Value] = {
            "null": None,
            **realistic.boundaries(column.type),
            **_longest(column.type),
        }
        if column.default is not None and column.default.value is not None:
            named["default"] = column.default.value
        for number, check in enumerate(
            (check for check in user.checks if check.column == column.name), 1
        ):
            bounds = {f"choice-{i}": choice for i, choice in enumerate(check.choices, 1)}
            bounds |= {"low": check.low, "high": check.high}
            named |= {
                f"check-{number}-{name}": value
                for name, value in bounds.items()
                if value is not None
            }
        asked = self.overrides.of(user.table, column)
        named |= {f"asked-{i}": choice for i, choice in enumerate(asked.choices, 1)}
        named |= {
            f"asked-{name}": value
            for name, value in (("low", asked.low), ("high", asked.high))
            if value is not None
        }
        distinct: dict[str, Value] = {}
        seen: set[str] = set()
        for name, value in named.items():
            if repr(value) not in seen and self.holds(user, column, value):
                seen.add(repr(value))
                distinct[name] = value
        return distinct

    def pool(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        """Realistic values of the column, none of them NULL unless it can hold nothing else; as
        often as they occur.
        """
        at = place(user.table), column.name
        if at not in self._pools:
            self._pools[at] = self._pool(user, column)
        return self._pools[at]

    def _pool(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        asked = self.overrides.of(user.table, column)
        checks = [check for check in user.checks if check.column == column.name]
        lows: list[Any] = [check.low for check in checks if check.low is not None]
        highs: list[Any] = [check.high for check in checks if check.high is not None]
        seed = f"{self.seed}/{'.'.join(part or '' for part in place(user.table))}.{column.name}"
        made = islice(
            realistic.candidates(
                column, asked, seed, max(lows, default=None), min(highs, default=None)
            ),
            8 * realistic.SIZE,
        )
        chosen = [choice for check in checks for choice in check.choices]
        held = [
            value
            for value in (*chosen, *made)
            if value is not None and self.holds(user, column, value)
        ]
        if column.name in user.identifying:
            held = list({loose(value): value for value in reversed(held)}.values())[::-1]
        if not held:
            held = [value for value in self.boundaries(user, column).values() if value is not None]
        return tuple(held[: realistic.SIZE]) or (None,)

    def filled(self) -> Values:
        """These values with every pool made."""
        for user in self.schema.tables:
            for column in user.table.columns:
                self.pool(user, column)
        return self

    def wide(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        """What drawn rows choose from: realistic values twice in three, then boundaries and awkward
        values; NULL by its share.
        """
        from generators.drawing import value_strategies as drawing

        at = place(user.table), column.name
        if at not in self._wide:
            plain = self.pool(user, column)
            odd: list[Value] = []
            if not column.generated:
                named = self.boundaries(user, column).values()
                awkward = () if realistic.has_grammar(column.type) else drawing.pool(column.type)
                odd = [
                    value
                    for value in (*named, *awkward)
                    if value is not None and self.holds(user, column, value)
                ]
            more = -(-2 * len(odd) // len(plain)) if odd else 1
            pool = [*plain * max(1, more), *odd]
            share = self.null_share(user, column)
            if share:
                pool = (
                    [None] * 8
                    if share == 1
                    else pool + [None] * round(len(pool) * share / (1 - share))
                )
            self._wide[at] = tuple(pool)
        return self._wide[at]

    def null_share(self, user: UserTable, column: Column) -> float:
        """The share of NULL among drawn values."""
        if column.generated or not self.holds(user, column, None):
            return 0
        asked = self.overrides.of(user.table, column).null
        return NULLS if asked is None else asked

    def row(self, user: UserTable, number: int) -> dict[str, Value]:
        """Row `number` of a table before any history: its foreign keys are those of such rows of
        the parents.
        """
        return self.completed(user, self._row(user, number, ()))

    def completed(self, user: UserTable, row: Row) -> dict[str, Value]:
        """The row with the values of its generated columns, as far as they can be computed and
        held.
        """
        if not user.computed:
            return dict(row)
        return computed.completed(
            user, self.schema.dialect, row, lambda column, value: self.holds(user, column, value)
        )

    def completed_scenario(self, scenario: Scenario) -> Scenario:
        """The scenario with the values of generated columns in every row."""
        history = computed.completed_history(scenario.history, self.schema.tables, self.completed)
        return scenario if history is scenario.history else replace(scenario, history=history)

    def _row(self, user: UserTable, number: int, within_: tuple[Place, ...]) -> dict[str, Value]:
        table = user.table
        row: dict[str, Value] = {}
        for column in table.columns:
            pool = self.pool(user, column)
            row[column.name] = pool[number % len(pool)]
        for key in user.foreign_keys:
            parent = self.user(key.parent)
            if parent is user:
                empty = all(self.holds(user, table.column(name), None) for name in key.columns)
                row |= {
                    name: None if empty else row[other]
                    for name, other in zip(key.columns, key.parent_columns, strict=True)
                }
            elif parent is not None and place(parent.table) not in within_:
                row |= self._referred(user, key, parent, number, (*within_, place(table)))
        return row

    def _referred(
        self,
        user: UserTable,
        key: ForeignKey,
        parent: UserTable,
        number: int,
        within_: tuple[Place, ...],
    ) -> dict[str, Value]:
        """The columns of a foreign key, from the first row of the parent that the table can refer
        to; {} if none is near.
        """
        for nearby in range(number, number + realistic.SIZE):
            row = self._row(parent, nearby, within_)
            cells = {
                name: row[other]
                for name, other in zip(key.columns, key.parent_columns, strict=True)
            }
            if all(
                self.holds(user, user.table.column(name), value) for name, value in cells.items()
            ):
                return cells
        return {}


def _longest(type: SourceType) -> Mapping[str, Value]:
    """The longest value of a text or binary type, as far as `LONGEST` goes."""
    size = min(type.length or 0, LONGEST)
    match type.logical:
        case Logical.TEXT if size and not realistic.has_grammar(type):
            return {
                "longest": ("0123456789abcdef" * (size // 16 + 1))[:size],
                "longest-han": "汉" * min(size, 1024),
            }
        case Logical.BINARY if size:
            return {"longest": (bytes(range(256)) * (size // 256 + 1))[:size]}
    return {}
