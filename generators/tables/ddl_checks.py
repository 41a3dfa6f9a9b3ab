"""CHECKs that values can honour: bounds and choices of single columns."""

from __future__ import annotations

from collections.abc import Callable

from generators.model import Table
from generators.tables.base import Check


def checks_of(table: Table, dialect: str, text: str, value_column: str, note: Callable[[str], None]) -> list[Check]:
    """The bounds and choices of a condition; what is neither is noted."""
    note("left out: not understood")
    return []
