"""What the columns of a user's tables may hold, and do hold: boundaries of their types, and pools
of realistic values.

A value that a table cannot hold is never given: by its type, NOT NULL, its character set, its
CHECKs, and the override file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Final, TypeAlias

from generators.model import Column, Logical, Row, Scenario, SourceType, Value, ZeroDate
from generators.sources import databases, mysql, oracle
from generators.tables import computed, realistic
from generators.tables.overrides import NO_OVERRIDES, Overrides, is_between
from generators.tables.schema import Check, ForeignKey, Schema, TableName, UserTable, table_name

LONGEST: Final = 4096
"""Characters or bytes of the longest value that a boundary case has."""

NULLS: Final = 0.15
"""The share of NULL in a nullable column, unless the override file says another."""

_UNICODE_CHARSETS: Final = frozenset(
    {"", "utf8mb4", "utf16", "utf16le", "utf32", "gb18030", "binary"}
)
"""Character sets of MySQL that have every character; "" is the default, utf8mb4."""
_BMP_CHARSETS: Final = frozenset({"utf8", "utf8mb3", "ucs2"})
"""Character sets of MySQL that have the characters of at most 16 bits alone."""

Identity: TypeAlias = tuple[object, ...]
"""The cells of a unique key, as the least exact collation compares them."""


def encodable(charset: str, characters: str) -> bool:
    """Whether a MySQL character set has every character of the text. A character set that is
    unknown here is taken to have ASCII only.
    """
    if charset in _UNICODE_CHARSETS:
        return True
    if charset in _BMP_CHARSETS:
        return all(character <= "\uffff" for character in characters)
    try:
        characters.encode(mysql.CODECS.get(charset, "ascii"))
    except UnicodeEncodeError:
        return False
    return True


def passes_check(check: Check, value: Value) -> bool:
    """Whether a value passes a CHECK: NULL always does."""
    return value is None or (
        value in check.choices if check.choices else is_between(value, check.low, check.high)
    )


def _fits_type(type: SourceType, value: Value) -> bool:
    """Whether a column of the type can hold the value without changing it."""
    if (
        isinstance(value, float)
        and type.source == "mysql"
        and type.scale is not None
        and type.precision is not None
    ):
        # MySQL rounds FLOAT(M,D) and DOUBLE(M,D) to D digits behind the point, and holds M digits.
        rounded = round(value, type.scale)
        if type.logical is Logical.FLOAT:
            rounded = mysql.to_float32(rounded)
        return abs(value) < 10.0 ** (type.precision - type.scale) and rounded == value
    if (
        isinstance(value, str)
        and realistic.has_grammar(type)
        and type.source not in ("sqlserver", "oracle")
        and type.name not in ("enum", *_OWN_FITS)
    ):
        # Nothing here checks such a type's grammar: only its example values surely fit.
        return value in realistic.boundaries(type).values()
    is_array_or_point = type.name.endswith("]") or type.name == "point"
    return databases.fits(type, value) or (
        is_array_or_point and value in realistic.boundaries(type).values()
    )


_OWN_FITS: Final = ("uuid", "inet", "interval", "timetz")
"""Types of PostgreSQL whose grammar `databases.fits` checks itself."""


def comparison_form(value: Value) -> object:
    """The value as a key compares it under the least exact collation, which ignores case, accents,
    spaces and signs in texts.
    """
    if isinstance(value, str):
        folded_text = unicodedata.normalize("NFKD", value).casefold()
        return "".join(
            character for character in folded_text if character.isascii() and character.isalnum()
        )
    return value.rstrip(b"\0") if isinstance(value, bytes) else value


def identity(user: UserTable, key: tuple[str, ...], cells: Row) -> Identity | None:
    """What a database compares to find rows with the same key: the values of a row's columns of the
    unique key, in the form of the least exact collation. None if NULLs among them make the row's
    key equal to no other (databases differ in that: `Source.equal_nulls`).
    """
    key_values = tuple(cells[name] for name in key)
    nulls = [value is None for value in key_values]
    equal_nulls = databases.of_table(user.table).equal_nulls
    if equal_nulls == "beside values" and all(nulls):
        return None
    if equal_nulls == "never" and any(nulls):
        return None
    return tuple(map(comparison_form, key_values))


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a schema's columns, a function of schema, overrides and seed."""

    schema: Schema
    overrides: Overrides = NO_OVERRIDES
    seed: int = 1
    _pools: dict[tuple[TableName, str], tuple[Value, ...]] = field(default_factory=dict)
    _drawing_pools: dict[tuple[TableName, str], tuple[Value, ...]] = field(default_factory=dict)

    def find_table(self, at: TableName) -> UserTable | None:
        """The table of that name; None if the schema has none."""
        return next((user for user in self.schema.tables if table_name(user.table) == at), None)

    def can_hold(self, user: UserTable, column: Column, value: Value) -> bool:
        """Whether the column can hold the value, and, if it refers to another table, that table's
        column too.
        """
        return self._can_hold(user, column, value, frozenset())

    def _can_hold(
        self,
        user: UserTable,
        column: Column,
        value: Value,
        visited: frozenset[tuple[TableName, str]],
    ) -> bool:
        """Whether the column may hold the value: by its type, its checks, the user's overrides, and
        those of all columns that it refers to.
        """
        override, table = self.overrides.find(user.table, column), user.table
        if value is None:
            return (
                column.nullable and column.name not in table.primary_key and override.allows(None)
            )
        if self.overrides.strict and (
            isinstance(value, ZeroDate) or (column.type.logical is Logical.ENUM and value == 0)
        ):
            return False
        if not _fits_type(column.type, value) or not override.allows(value):
            return False
        if isinstance(value, str) and not encodable(column.charset, value):
            return False
        if column.type.source == "oracle" and not oracle.fits_declared(column.declared, value):
            return False
        if not all(
            passes_check(check, value) for check in user.checks if check.column == column.name
        ):
            return False
        at = (table_name(table), column.name)
        return all(
            self._can_hold(parent, parent.table.column(name), value, visited | {at})
            for parent, name in self.parents(user, column)
            if at not in visited
        )

    def parents(self, user: UserTable, column: Column) -> list[tuple[UserTable, str]]:
        """The columns of other tables to which foreign keys refer from this column, each with its
        table.
        """
        parents = []
        for key in user.foreign_keys:
            parent = self.find_table(key.parent)
            if parent is not None and column.name in key.columns:
                parents.append((parent, key.parent_columns[key.columns.index(column.name)]))
        return parents

    def boundaries(self, user: UserTable, column: Column) -> Mapping[str, Value]:
        """The named boundary values that the column can hold, NULL among them; none for a generated
        column, whose values its expression gives.
        """
        if column.generated:
            return {}
        candidates: dict[str, Value] = {
            "null": None,
            **realistic.boundaries(column.type),
            **_longest_values(column.type),
        }
        if column.default is not None and column.default.value is not None:
            candidates["default"] = column.default.value
        for number, check in enumerate(
            (check for check in user.checks if check.column == column.name), 1
        ):
            bounds = {f"choice-{i}": choice for i, choice in enumerate(check.choices, 1)}
            bounds |= {"low": check.low, "high": check.high}
            candidates |= {
                f"check-{number}-{name}": value
                for name, value in bounds.items()
                if value is not None
            }
        override = self.overrides.find(user.table, column)
        candidates |= {f"asked-{i}": choice for i, choice in enumerate(override.choices, 1)}
        candidates |= {
            f"asked-{name}": value
            for name, value in (("low", override.low), ("high", override.high))
            if value is not None
        }
        distinct: dict[str, Value] = {}
        seen_values: set[str] = set()
        for name, value in candidates.items():
            if repr(value) not in seen_values and self.can_hold(user, column, value):
                seen_values.add(repr(value))
                distinct[name] = value
        return distinct

    def pool(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        """Realistic values of the column that keep its checks. A value that is to occur more often
        is in it several times. NULL is not in it; (None,) if the column can hold nothing else.
        """
        at = table_name(user.table), column.name
        if at not in self._pools:
            self._pools[at] = self._pool(user, column)
        return self._pools[at]

    def _pool(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        """Makes the pool of a column: at most `realistic.SIZE` values that it can hold. They are
        the choices of its checks and realistic values, each once for a column of a unique key; or
        its boundary values if there are none of these. (None,) if there are none of either.
        """
        override = self.overrides.find(user.table, column)
        checks = [check for check in user.checks if check.column == column.name]
        lows: list[Any] = [check.low for check in checks if check.low is not None]
        highs: list[Any] = [check.high for check in checks if check.high is not None]
        seed = (
            f"{self.seed}/{'.'.join(part or '' for part in table_name(user.table))}.{column.name}"
        )
        drawn_values = islice(
            realistic.candidate_values(
                column, override, seed, max(lows, default=None), min(highs, default=None)
            ),
            8 * realistic.SIZE,
        )
        check_choices = chain.from_iterable(check.choices for check in checks)
        possible_values = [
            value
            for value in (*check_choices, *drawn_values)
            if value is not None and self.can_hold(user, column, value)
        ]
        if column.name in user.unique_columns:
            possible_values = list(
                {comparison_form(value): value for value in reversed(possible_values)}.values()
            )[::-1]
        if not possible_values:
            possible_values = [
                value for value in self.boundaries(user, column).values() if value is not None
            ]
        return tuple(possible_values[: realistic.SIZE]) or (None,)

    def fill_pools(self) -> Values:
        """Makes the pool of every column now, which is otherwise made at its first use, and returns
        these Values.
        """
        for user in self.schema.tables:
            for column in user.table.columns:
                self.pool(user, column)
        return self

    def drawing_pool(self, user: UserTable, column: Column) -> tuple[Value, ...]:
        """The values from which drawn rows choose: two thirds are realistic, the rest boundaries
        and awkward values; NULL has the column's share of NULLs.
        """
        from generators.drawing import value_strategies

        at = table_name(user.table), column.name
        if at not in self._drawing_pools:
            realistic_values = self.pool(user, column)
            special_values: list[Value] = []
            if not column.generated:
                boundary_values = self.boundaries(user, column).values()
                awkward = (
                    () if realistic.has_grammar(column.type) else value_strategies.pool(column.type)
                )
                special_values = [
                    value
                    for value in (*boundary_values, *awkward)
                    if value is not None and self.can_hold(user, column, value)
                ]
            repetitions = (
                -(-2 * len(special_values) // len(realistic_values)) if special_values else 1
            )
            pool = [*realistic_values * max(1, repetitions), *special_values]
            share = self.null_share(user, column)
            if share:
                pool = (
                    [None] * 8
                    if share == 1
                    else pool + [None] * round(len(pool) * share / (1 - share))
                )
            self._drawing_pools[at] = tuple(pool)
        return self._drawing_pools[at]

    def null_share(self, user: UserTable, column: Column) -> float:
        """The share of NULL among a column's drawn values, from 0 to 1: as the user's file says,
        else a fixed one; 0 for a column that cannot hold NULL.
        """
        if column.generated or not self.can_hold(user, column, None):
            return 0
        override_share = self.overrides.find(user.table, column).null
        return NULLS if override_share is None else override_share

    def base_row(self, user: UserTable, number: int) -> dict[str, Value]:
        """Row `number` of a table as it is before any history. Its foreign keys refer to rows that
        its parents have before any history, too.
        """
        return self.with_computed_columns(user, self._base_row(user, number, ()))

    def with_computed_columns(self, user: UserTable, cells: Row) -> dict[str, Value]:
        """The row with the values of its generated columns, as far as the harness can compute them
        and the columns can hold them.
        """
        if not user.computed:
            return dict(cells)
        return computed.complete_row(
            user,
            self.schema.dialect,
            cells,
            lambda column, value: self.can_hold(user, column, value),
        )

    def complete_scenario(self, scenario: Scenario) -> Scenario:
        """The scenario with the values of generated columns in every row."""
        history = computed.complete_history(
            scenario.history, self.schema.tables, self.with_computed_columns
        )
        return scenario if history is scenario.history else replace(scenario, history=history)

    def _base_row(
        self, user: UserTable, number: int, visited: tuple[TableName, ...]
    ) -> dict[str, Value]:
        """Row `number` of a table before its generated columns are computed; its foreign keys are
        those of parents' rows. `visited` are the tables on the way here, so that a circle of
        foreign keys ends.
        """
        table = user.table
        cells: dict[str, Value] = {}
        for column in table.columns:
            pool = self.pool(user, column)
            cells[column.name] = pool[number % len(pool)]
        for key in user.foreign_keys:
            parent = self.find_table(key.parent)
            if parent is user:
                nullable_key = all(
                    self.can_hold(user, table.column(name), None) for name in key.columns
                )
                cells |= {
                    name: None if nullable_key else cells[parent_column]
                    for name, parent_column in zip(key.columns, key.parent_columns, strict=True)
                }
            elif parent is not None and table_name(parent.table) not in visited:
                cells |= self._referred_cells(
                    user, key, parent, number, (*visited, table_name(table))
                )
        return cells

    def _referred_cells(
        self,
        user: UserTable,
        key: ForeignKey,
        parent: UserTable,
        number: int,
        visited: tuple[TableName, ...],
    ) -> dict[str, Value]:
        """The values for a foreign key's columns: those of the first of `realistic.SIZE` (64)
        parent rows, from row `number` on, that the columns can hold; {} if they can hold none of
        them. `visited` are the tables on the way here, so that a circle of foreign keys ends.
        """
        for nearby in range(number, number + realistic.SIZE):
            parent_row = self._base_row(parent, nearby, visited)
            cells = {
                name: parent_row[parent_column]
                for name, parent_column in zip(key.columns, key.parent_columns, strict=True)
            }
            if all(
                self.can_hold(user, user.table.column(name), value) for name, value in cells.items()
            ):
                return cells
        return {}


def _longest_values(type: SourceType) -> Mapping[str, Value]:
    """Boundary values as long as a text or binary type allows, but not beyond `LONGEST`: a text of
    ASCII letters, one of Chinese letters (three bytes each in UTF-8), or bytes.
    """
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
