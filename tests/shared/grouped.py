"""Tables of tests whose rows begin alike."""

from __future__ import annotations

from typing import Any


def cells(*groups: tuple[Any, ...], common: int = 1) -> list[tuple[Any, ...]]:
    """A row for each cell of each group, which begins with what its cells have in common, a type
    above all.
    """
    return [(*group[:common], *rest) for group in groups for rest in group[common:]]
