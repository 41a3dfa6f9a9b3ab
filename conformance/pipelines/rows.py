"""The rows of a user's table as Spark returned them, and their comparison with what they owe: that
of level two, but for columns that a user types otherwise on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa

from conformance.judging.compare import ACCEPTED, Typed, null_is_fine, same_text, same_value
from generators.errors import UsageError
from generators.model import Cell, State, Table

TypedRow: TypeAlias = Mapping[str, Typed | None]
"""A row's values by column, in lower case."""

CLAIMABLE: Final = ("string", "double")
"""The types in which a pipeline may keep a column on purpose."""


@dataclass(frozen=True, slots=True)
class OwnTypes:
    """The types in which a pipeline keeps columns on purpose, though level two (typed rows) has
    others: `string` or `double`, by a glob of the column's name.
    """

    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, given: Any) -> OwnTypes:
        """Reads the variable TYPES of a pipeline's module, which maps globs of column names to
        "string" or "double": the types in which the pipeline keeps these columns on purpose. Raises
        UsageError for anything else.
        """
        if not isinstance(given, Mapping):
            raise UsageError(
                f"TYPES is {type(given).__name__}; it must map columns to {' or '.join(CLAIMABLE)}"
            )
        for column, kind in given.items():
            if kind not in CLAIMABLE:
                raise UsageError(
                    f"TYPES says {kind!r} of {column}; a column can be claimed as"
                    f" {' or '.join(CLAIMABLE)}"
                )
        return cls({str(column): str(kind) for column, kind in given.items()})

    def kind_of(self, column: str) -> str:
        """The type that the pipeline says it keeps a column in on purpose (string or double); "" if
        it says nothing of the column.
        """
        return next(
            (
                kind
                for glob, kind in self.types.items()
                if fnmatchcase(column.lower(), glob.lower())
            ),
            "",
        )


def read_arrow(path: Path) -> pa.Table:
    """Reads an Arrow table that the child process wrote; its columns' names become lower case."""
    with pa.ipc.open_file(path) as reader:
        table = reader.read_all()
    return table.rename_columns([name.lower() for name in table.column_names])


def is_same(cell: Cell, actual: Typed | None, claim: str) -> bool:
    """Whether a value in the user's table is right for the expected cell. `claim` is the type in
    which the pipeline keeps the column on purpose ("string" or "double"), else "".
    """
    if cell.state in (State.ANY, State.ABSENT):
        return True
    if cell.state is State.NULL:
        return actual is None
    if actual is None:
        return null_is_fine(cell)
    match claim:
        case "string":
            return _is_text_of(cell, actual)
        case "double":
            return _is_double_of(cell, actual)
    return same_value(cell, actual)


def _is_text_of(cell: Cell, actual: Typed) -> bool:
    """Whether a kept text is the value of a cell, for a column that the pipeline claims to keep as
    a string: the value itself or its spelling on the wire.
    """
    if actual.family != "string":
        return False
    return same_value(cell, actual) or (cell.text is not None and same_text(cell, actual.value))


def _is_double_of(cell: Cell, actual: Typed) -> bool:
    """Whether a kept number equals the value of a cell as a double, or one of its right values, for
    a column that the pipeline claims to keep as a double. NaN equals NaN.
    """
    if actual.family not in ("double", "float"):
        return False
    right_values = cell.options if cell.state is State.ONE_OF else (cell.value,)
    numbers = [float(value) for value in right_values if isinstance(value, int | float | Decimal)]
    stored = float(actual.value)
    return stored in numbers or (math.isnan(stored) and any(map(math.isnan, numbers)))


def unaccepted(table: Table, rows: Sequence[TypedRow], claims: OwnTypes) -> dict[str, str]:
    """The columns of the user's table that hold a value of a type that no right value can have,
    each with the family of that type (of several the first by name). A type that the pipeline
    claims in TYPES for a column is the only right one there. NULL has no type.
    """
    wrong: dict[str, str] = {}
    for column in table.columns:
        accepted: frozenset[str] | tuple[str, ...] = ACCEPTED[column.type.logical]
        if claim := claims.kind_of(column.name):
            accepted = ("double", "float") if claim == "double" else (claim,)
        families = {cell.family for row in rows if (cell := row.get(column.name.lower()))}
        if families - set(accepted):
            wrong[column.name] = min(families - set(accepted))
    return wrong


def value_text(value: Typed | None) -> str:
    """A value of the user's table in words for a difference: NULL, or as Python prints it."""
    return "NULL" if value is None else repr(value.value)


def cell_text(cell: Cell) -> str:
    """The right value of an expected cell in words for a difference: NULL, or as Python prints
    it.
    """
    if cell.state is State.NULL:
        return "NULL"
    return repr(cell.text) if cell.value is None else repr(cell.value)
