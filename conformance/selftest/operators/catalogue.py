"""Every operator without arguments, by name: those of catalogue.toml, and those on cells that no
words say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.rules.tables import TableFile, called, check_name, checked, named_place, ours
from conformance.selftest.operators import cells, misread, rows
from conformance.selftest.operators.general import alter_of
from conformance.selftest.operators.operator import Operator, on_cells
from generators.model import Logical

_FILE: Final = TableFile(
    *ours(__package__, "catalogue"),
    dict.fromkeys(("apt", "values", "rows", "fields", "typed", "cells"), dict),
)
_LEVELS: Final = {"rows": (1, 2), "fields": (1,), "typed": (2,)}
_ALTERS: Final = {**rows.ALTERS, **misread.ALTERS}


def _globs(words: str) -> Iterator[str]:
    """Globs of rules, of words some of which stand for several."""
    for word in words.split():
        yield from _globs(_FILE.data["apt"][word]) if word in _FILE.data["apt"] else (word,)


def _apt(logicals: Iterable[Logical]) -> tuple[str, ...]:
    """The rules that name a fault in values of these types."""
    return tuple(glob for logical in logicals for glob in _globs(_FILE.data["values"][logical]))


def _operators() -> Iterator[Operator]:
    for part, levels in _LEVELS.items():
        for place, name, given in _FILE.entries(part):
            with named_place(f"{place}: {name}"):
                entry = checked(given, {"apt": str, "does": list, "when": dict}, ("apt",))
                words = alter_of(entry["does"], entry.get("when", {})) if "does" in entry else None
                alter = words or _ALTERS[check_name(name, "operator", _ALTERS)]
            yield Operator(name, tuple(_globs(entry["apt"])), alter, levels=levels)
    for group, logicals, changes in cells.GROUPS:
        for place, name, words_ in _FILE.entries(f"cells.{group}"):
            with named_place(f"{place}: {group}-{name}"):
                changes = {**changes, name: called(words_, "change", cells.WORDS, cells.ARGUMENTS)}
        for name, change in changes.items():
            apt = _apt(logicals[:1])
            yield Operator(f"{group}-{name}", apt, on_cells(change, logicals), logicals)
    for name, (those, change) in cells.LEVEL_TWO.items():
        yield Operator(name, _apt(those), on_cells(change, those), those, (2,))
    for name, (logical, change) in misread.CELLS.items():
        yield Operator(name, _apt((logical,)), on_cells(change, (logical,)), (logical,))


OPERATORS: Final = {operator.name: operator for operator in _operators()}
"""The catalogue."""
