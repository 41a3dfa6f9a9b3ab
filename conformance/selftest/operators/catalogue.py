"""Every operator without arguments, by name: those of catalogue.toml, and those that are written in
`cells`, `rows` and `misread`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.rules.tables import (
    TableFile,
    call_named,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from conformance.selftest.operators import cells, misread, rows
from conformance.selftest.operators.general import alter_of
from conformance.selftest.operators.operator import Operator, on_cells
from generators.model import Logical

_FILE: Final = TableFile(
    *read_package_toml(__package__, "catalogue"),
    dict.fromkeys(("apt", "values", "rows", "fields", "typed", "cells"), dict),
)
"""catalogue.toml, which has the operators (imitated mistakes of decoders) without arguments."""
_LEVELS: Final = {"rows": (1, 2), "fields": (1,), "typed": (2,)}
"""The tables of catalogue.toml with operators on rows, and the levels at which these can be
tried.
"""
_ALTERS: Final = {**rows.ALTERS, **misread.ALTERS}
"""The operators on rows that are written in Python, by name."""


def _globs(words: str) -> Iterator[str]:
    """The globs of rule ids that a line of catalogue.toml names; a word of its table `apt` stands
    for several globs.
    """
    for word in words.split():
        yield from _globs(_FILE.data["apt"][word]) if word in _FILE.data["apt"] else (word,)


def _apt(logicals: Iterable[Logical]) -> tuple[str, ...]:
    """The globs of those rules that rightly name a fault in the values of these types."""
    globs: list[str] = []
    for logical in logicals:
        globs += _globs(_FILE.data["values"][logical])
    return tuple(globs)


def _row_operators() -> Iterator[Operator]:
    """The operators (imitated mistakes of decoders) without arguments that change whole rows,
    images or envelope fields, by name.
    """
    for part, levels in _LEVELS.items():
        for place, name, table in _FILE.entries(part):
            with naming_place(f"{place}: {name}"):
                entry = check_fields(table, {"apt": str, "does": list, "when": dict}, ("apt",))
                if "does" in entry:
                    alter = alter_of(entry["does"], entry.get("when", {}))
                else:
                    alter = _ALTERS[check_name(name, "operator", _ALTERS)]
            yield Operator(name, tuple(_globs(entry["apt"])), alter, levels=levels)


def _cell_operators() -> Iterator[Operator]:
    """The operators (imitated mistakes of decoders) that change cells: one for each group of types
    and each change of it (those in Python, then those of catalogue.toml), those that only level two
    (typed columns) can have, and those that misread one type. `apt` are the globs of the rules that
    rightly name the fault; for a group they are those of its first type.
    """
    for group in cells.GROUPS:
        changes = dict(group.changes)
        for place, name, call in _FILE.entries(f"cells.{group.name}"):
            with naming_place(f"{place}: {group.name}-{name}"):
                changes[name] = call_named(call, "change", cells.WORDS, cells.ARGUMENTS)
        apt = _apt(group.logicals[:1])
        for name, change in changes.items():
            alter = on_cells(change, group.logicals)
            yield Operator(f"{group.name}-{name}", apt, alter, group.logicals)
    for name, (logicals, change) in cells.LEVEL_TWO.items():
        yield Operator(
            name,
            _apt(logicals),
            on_cells(change, logicals),
            logicals,
            (2,),
        )
    for name, (logical, change) in misread.CELLS.items():
        yield Operator(name, _apt((logical,)), on_cells(change, (logical,)), (logical,))


OPERATORS: Final = {operator.name: operator for operator in (*_row_operators(), *_cell_operators())}
"""All operators (imitated mistakes of decoders) without arguments, by name."""
