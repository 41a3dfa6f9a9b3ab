"""Operators with arguments, and the conditions under which a liar applies its operator: the words
of the table of liars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from conformance.judging.compare import Typed
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.rules.tables import Legal, call_named, check_fields, compile_pattern
from conformance.selftest.operators.operator import Alter, Image, MessageContext, Rows, on_images
from generators.model import Cell, Kind, Logical
from generators.sources.databases import SOURCES

RowAlter: TypeAlias = Callable[[OutputRow, MessageContext], Iterable[OutputRow]]
"""The rows that a wrong decoder returns in place of one row of a message."""
_IMAGES: Final = ("before", "after")
"""The images of a row."""
_ON_MESSAGES: Final = ("message", "null", "tag", "profile")
"""Conditions on a message as a whole; all others are on one of its rows."""
CONDITIONS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys((*_ON_MESSAGES, "kind", "op", "column", *ENVELOPE), str),
    "lacks": (*_IMAGES, *ENVELOPE),
    "again": ENVELOPE,
}
"""The legal values of conditions, by what they are about."""
Patterns: TypeAlias = Mapping[str, re.Pattern[str]]
"""Conditions, compiled: regular expressions by what they are about."""
CellOfColumnChange: TypeAlias = Callable[[str, Any, Mapping[str, Cell]], Any]
"""A cell's new value, from its column, its value and the owed cells of the image."""
_NO_IMAGES: Final[Mapping[str, Any]] = {"op": None, "before": None, "after": None}
"""What a row that is no row change has in the parts of a row change."""


def when(alter: Alter, conditions: Mapping[str, str]) -> Alter:
    """The operator, applied only to the rows that fulfil all conditions, to each by itself.

    A condition is a regular expression, by what it is about: `message` (its value, a character for
    each byte), `null` (whatever the expression: the message has no value), `tag` and `profile` (of
    its case), `kind`, `op`, `column` (a name in an image), a field's name, `lacks` (the name of a
    field or an image that is NULL or empty), `again` (the name of a field that a row of the message
    before has with the same value).
    """
    if not conditions:
        return alter
    patterns = {
        about: compile_pattern(expression, flags=re.DOTALL if about == "message" else 0)
        for about, expression in conditions.items()
    }
    row_patterns = {about: regex for about, regex in patterns.items() if about not in _ON_MESSAGES}

    def alter_fulfilling(output_rows: Rows, context: MessageContext) -> Rows:
        """The rows of a message, of which those that fulfil the conditions on rows are altered one
        by one: `alter` sees each as if it were the only row of the message. If the message fails a
        condition on messages, all stay. For a message without rows `alter` is called once.
        """
        if not _message_fulfils(patterns, context):
            return output_rows
        if not output_rows:
            return alter(output_rows, context)
        altered: list[OutputRow] = []
        for output_row in output_rows:
            fulfils = _row_fulfils(output_row, row_patterns, context)
            altered += alter([output_row], context) if fulfils else [output_row]
        return altered

    return alter_fulfilling


def _message_fulfils(conditions: Patterns, context: MessageContext) -> bool:
    """Whether a message and its case fulfil those of the conditions that are on a message as a
    whole (`_ON_MESSAGES`); conditions on rows do not matter here. A message without a value fails a
    condition on its bytes.
    """
    value = context.message and context.message.value
    if "null" in conditions and value is not None:
        return False
    if "tag" in conditions and not any(map(conditions["tag"].search, context.case.tags)):
        return False
    if "profile" in conditions and not conditions["profile"].search(context.case.profile):
        return False
    if "message" not in conditions:
        return True
    return value is not None and bool(conditions["message"].search(context.value_text))


def _row_fulfils(output_row: OutputRow, conditions: Patterns, context: MessageContext) -> bool:
    """Whether a row fulfils all of these conditions on rows, which a liar's operator (an imitated
    mistake of a decoder) sets for the rows that it changes. True without conditions.
    """
    return all(
        _row_fulfils_one(output_row, about, expression, context)
        for about, expression in conditions.items()
    )


def _row_fulfils_one(
    output_row: OutputRow, about: str, expression: re.Pattern[str], context: MessageContext
) -> bool:
    """Whether a row fulfils one condition; `about` is a word of CONDITIONS. For "lacks" and "again"
    the text of the expression is the name of a part or field, for any other word it is searched (a
    whole match for kind and op). A word that is not named here is the name of a field.
    """
    match about:
        case "kind" | "op":
            return bool(expression.fullmatch(getattr(output_row, about) or ""))
        case "column":
            return any(map(expression.search, _column_names(output_row)))
        case "lacks":
            return not _part_of(output_row, expression.pattern)
        case "again":
            name = expression.pattern
            value = output_row.fields.get(name)
            values_before = [row_before.fields.get(name) for row_before in context.before]
            return value is not None and value in values_before
    return bool(expression.search(str(output_row.fields.get(about) or "")))


def _column_names(output_row: OutputRow) -> list[str]:
    """The names of the columns in both images of a row; those in both come twice."""
    return [*(output_row.before or ()), *(output_row.after or ())]


def _on_each_row(change: RowAlter) -> Alter:
    """The operator (an imitated mistake of a decoder) that replaces each row of a message by the
    rows that `change` makes of it.
    """

    def alter(output_rows: Rows, context: MessageContext) -> Rows:
        """The rows that `change` makes of each row of a message, in order."""
        altered: list[OutputRow] = []
        for output_row in output_rows:
            altered += change(output_row, context)
        return altered

    return alter


def _with_part(output_row: OutputRow, name: str, value: Any) -> OutputRow:
    """The row with another value in one part: its `row` number, `kind`, `op`, `error`, an image, or
    a field of the envelope.
    """
    if hasattr(output_row, name):
        return replace(output_row, **{name: value})
    return replace(output_row, fields={**output_row.fields, name: value})


def _part_of(output_row: OutputRow, name: str) -> Any:
    """The value of a part: `row`, `kind`, `op`, `error`, an image, or a field."""
    return getattr(output_row, name) if hasattr(output_row, name) else output_row.fields.get(name)


def _as_kind(kind: str) -> Alter:
    """The operator (an imitated mistake of a decoder) that gives every row the kind `kind`. A row
    that becomes a ROW is an INSERT without columns; one that becomes CORRUPT has an error text.
    """
    is_row = kind == Kind.ROW
    images = {"op": "INSERT", "before": None, "after": {}} if is_row else _NO_IMAGES
    error = "refused" if kind == Kind.CORRUPT else None
    return _on_each_row(
        lambda output_row, _context: [replace(output_row, kind=kind, error=error, **images)]
    )


def _row_twice(output_row: OutputRow, _context: MessageContext) -> Iterable[OutputRow]:
    """The row, and the same row again with the next number."""
    return [output_row, replace(output_row, row=(output_row.row or 0) + 1)]


def _set_part(name: str, new_value: Callable[[OutputRow], Any]) -> Alter:
    """The operator for a mistake of decoders: a part of each row gets a value that `new_value`
    computes from the row. If that is the very same object, the row comes back unchanged.
    """

    def change(output_row: OutputRow, _context: MessageContext) -> Iterable[OutputRow]:
        """The row with the new value of the part; the row itself if the value is the same
        object.
        """
        value = new_value(output_row)
        is_same = value is _part_of(output_row, name)
        return [output_row if is_same else _with_part(output_row, name, value)]

    return _on_each_row(change)


def _null_parts(*names: str) -> Alter:
    """The operator for decoders that set these parts of each row to NULL: its op or kind, an image,
    or fields of the envelope.
    """

    def change(output_row: OutputRow, _context: MessageContext) -> Iterable[OutputRow]:
        """The row with NULL in each of the parts `names`."""
        altered = output_row
        for name in names:
            altered = _with_part(altered, name, None)
        return [altered]

    return _on_each_row(change)


def _fill_part(name: str, source: str) -> Alter:
    """The operator for a mistake of decoders: in each row the part `name` (`op`, `kind`, `before`,
    `after` or an envelope field) gets the value of the part `source` if it is NULL or empty.
    """
    return _set_part(
        name, lambda output_row: _part_of(output_row, name) or _part_of(output_row, source)
    )


def _join_parts(name: str, *parts: str) -> Alter:
    """The operator for a mistake of decoders: a part of each row gets the values of other parts,
    joined by dots; a row without fields stays.
    """

    def joined(output_row: OutputRow) -> Any:
        """The values of the other parts (`parts`) of the row joined by dots, a NULL as nothing; for
        a row without fields the value that the part (`name`) has, which so stays.
        """
        if not output_row.fields:
            return _part_of(output_row, name)
        return ".".join(_part_of(output_row, part) or "" for part in parts)

    return _set_part(name, joined)


def _replace_matches(expression: str, replacement: str, flags: int = 0) -> Callable[[str], str]:
    """A change of texts: each match of the regular expression is replaced."""
    regex = compile_pattern(expression, replacement, flags)
    return lambda value: regex.sub(replacement, value)


def _null_whole_matches(expression: str) -> Callable[[str], str | None]:
    """A change of texts: one that the regular expression matches as a whole becomes NULL."""
    regex = compile_pattern(expression)
    return lambda value: None if regex.fullmatch(value) else value


def _change_texts_in(value: Any, change: Callable[[str], str]) -> Any:
    """The value with `change` applied to it if it is a text, or to the texts in a list or the
    values of a map; other values stay.
    """
    match value:
        case str():
            return change(value)
        case list():
            return [_change_texts_in(item, change) for item in value]
        case Mapping():
            return {key: _change_texts_in(member, change) for key, member in value.items()}
    return value


def _change_text_field(name: str, change: Callable[[str], str]) -> Alter:
    """The operator (an imitated mistake of a decoder) that applies `change` to the texts in one
    part of each row: to the part itself, or to those in its list or map.
    """
    return _set_part(name, lambda output_row: _change_texts_in(_part_of(output_row, name), change))


def _change_number_field(name: str, change: Callable[[int], int]) -> Alter:
    """The operator for a mistake of decoders: `change` is applied to a field of the envelope that
    is a number; NULL stays.
    """

    def change_number(output_row: OutputRow) -> int | None:
        """The field's number after `change`; None for NULL."""
        number = _part_of(output_row, name)
        return None if number is None else change(number)

    return _set_part(name, change_number)


def _through_a_double(value: Any) -> Any:
    """The digits of an integer as a double would have them; anything else stays."""
    return str(int(float(value))) if isinstance(value, str) and value.isdigit() else value


def _change_cell_text(value: Any, change: Callable[[str], Any]) -> Any:
    """A decoder's cell with `change` applied to its text, at either level; NULL if that gives None.
    A cell that is no text stays. Operators (imitations of wrong decoders) alter right rows by it.
    """
    if isinstance(value, Typed):
        changed = _change_cell_text(value.value, change)
        return None if changed is None else Typed(value.family, changed)
    return change(value) if isinstance(value, str) else value


def _is_of_type(cells: Mapping[str, Cell], column: str, type_name: str) -> bool:
    """Whether a column's cell is of a logical type, or of a source type, of that name."""
    cell = cells.get(column)
    return cell is not None and type_name in (cell.type.logical, cell.type.name)


def _on_each_cell(change: CellOfColumnChange) -> Alter:
    """An operator (an imitation of a wrong decoder, which alters right rows): `change` is applied
    to each cell in both images of each row.
    """
    return on_images(
        lambda image, cells, _context: {
            column: change(column, value, cells) for column, value in image.items()
        }
    )


def _on_cells_of_type(type_name: str, change: Callable[[Any], Any]) -> Alter:
    """The operator for a mistake of decoders: `change` is applied to each cell of the logical type,
    or of the source type, of this name.
    """
    return _on_each_cell(
        lambda column, value, cells: (
            change(value) if _is_of_type(cells, column, type_name) else value
        )
    )


def _change_cell_texts(change: Callable[[str], Any]) -> Alter:
    """The operator (an imitated mistake of a decoder) that applies `change` to each cell that is a
    text.
    """
    return _on_each_cell(lambda _column, value, _cells: _change_cell_text(value, change))


def _replace_in_cells(type: str, expression: str, replacement: str) -> Alter:
    """The operator for a mistake of decoders: in the texts of cells of a type each match of the
    regular expression is replaced.
    """
    change = _replace_matches(expression, replacement, re.DOTALL)
    return _on_cells_of_type(type, lambda value: _change_cell_text(value, change))


def _as_text(value: Any) -> Any:
    """A typed cell (level two) as a string; a cell of level one, which is a text already, stays."""
    return Typed("string", str(value.value)) if isinstance(value, Typed) else value


def _lose_columns(expression: str) -> Alter:
    """The operator for a mistake of decoders: cells whose column's name the regular expression
    matches are NULL.
    """
    regex = compile_pattern(expression)
    return _on_each_cell(lambda column, value, _cells: None if regex.search(column) else value)


def _rename_columns(change: Callable[[str], str]) -> Alter:
    """The operator for a mistake of decoders: columns have other names. At level one the images get
    them; at level two, where columns are those of the requested table, a renamed column is NULL.
    """

    def rename(image: Image, _cells: Mapping[str, Cell], context: MessageContext) -> Image:
        """The image under other names at level one, with NULL in renamed columns at level two."""
        if context.case.level == 1:
            return {change(name): value for name, value in image.items()}
        return {name: value if change(name) == name else None for name, value in image.items()}

    return on_images(rename)


def _replace_nulls(replacement: str) -> Alter:
    """The operator (an imitated mistake of a decoder) that puts this text in the place of each NULL
    in an image.
    """

    def fill(image: Image, _cells: Mapping[str, Cell], context: MessageContext) -> Image:
        """The image with the text in place of each NULL: as it is at level one, whose values are
        texts, and as a value of the family "string" at level two, whose values are typed.
        """
        filler = replacement if context.case.level == 1 else Typed("string", replacement)
        return {name: filler if value is None else value for name, value in image.items()}

    return on_images(fill)


SPELLINGS: Final[Mapping[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trimmed": str.strip,
    "ascii": lambda value: value.encode("ascii", "replace").decode(),
    "latin": lambda value: value.encode("latin-1", "replace").decode("latin-1"),
    "url-decoded": unquote,
}
"""Other spellings of a text."""


WORDS: Final[Mapping[str, Callable[..., Alter]]] = {
    "lost": lambda: lambda _output_rows, _context: [],
    "refused": lambda: _as_kind(Kind.CORRUPT.value),
    "as": _as_kind,
    "twice": lambda: _on_each_row(_row_twice),
    "put": lambda name, value: _set_part(name, lambda _output_row: value),
    "null": _null_parts,
    "fill": _fill_part,
    "copy": lambda name, source: _set_part(name, lambda output_row: _part_of(output_row, source)),
    "join": _join_parts,
    "shift": lambda name, by: _change_number_field(name, lambda number: number + by),
    "times": lambda name, by: _change_number_field(name, lambda number: number * by),
    "over": lambda name, by: _change_number_field(name, lambda number: number // by),
    "sub": lambda name, expression, replacement: _change_text_field(
        name, _replace_matches(expression, replacement)
    ),
    "spelt": lambda name, spelling: _change_text_field(name, SPELLINGS[spelling]),
    "through-a-double": lambda name: _set_part(
        name, lambda output_row: _through_a_double(_part_of(output_row, name))
    ),
    "texts": lambda expression, replacement: _change_cell_texts(
        _replace_matches(expression, replacement)
    ),
    "texts-null": lambda expression: _change_cell_texts(_null_whole_matches(expression)),
    "cells": _replace_in_cells,
    "cells-null": lambda type: _on_cells_of_type(type, lambda _value: None),
    "cells-as-text": lambda type: _on_cells_of_type(type, _as_text),
    "nulls-as": _replace_nulls,
    "all-null": lambda: _on_each_cell(lambda *_: None),
    "columns": lambda expression, replacement: _rename_columns(
        _replace_matches(expression, replacement)
    ),
    "columns-spelt": lambda spelling: _rename_columns(SPELLINGS[spelling]),
    "columns-lost": _lose_columns,
}
"""The operators with arguments, by name: `fill` gives a field that is NULL or empty another's
value, `join` the fields' values with dots between; `sub` replaces what matches in a field, `texts`
in an image, `cells` in cells of a logical type or of a type's name, `columns` in names.
"""
_PARTS: Final = ("row", "kind", "op", "error", *_IMAGES, *ENVELOPE)
"""The parts of a row that the operators may name."""
_SOURCE_TYPES: Final = tuple(
    chain.from_iterable(
        (*source.types.values(), *chain.from_iterable(source.families))
        for source in SOURCES.values()
    )
)
"""The types of columns of all databases."""
_TYPE_NAMES: Final = {source_type.name for source_type in _SOURCE_TYPES}
"""The names of the types of columns of all databases."""
ARGUMENTS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("name", "names", "parts", "source"), _PARTS),
    **dict.fromkeys(("expression", "replacement"), str),
    "value": object,
    "by": int,
    "kind": tuple(Kind),
    "spelling": tuple(SPELLINGS),
    "type": (*Logical, *sorted(_TYPE_NAMES - set(Logical))),
}
"""The legal arguments of WORDS, by the names of parameters."""


def alter_of(does: list[Any], conditions: Mapping[str, Any]) -> Alter:
    """The operator that an entry of a table describes, for the rows that fulfil the conditions.

    `does` is a word of WORDS with its arguments, such as ["sub", "table", "a", "b"], or a list of
    these, which are applied one after the other. Raises UsageError for an unknown word, an illegal
    argument and an unknown condition.
    """
    check_fields(conditions, CONDITIONS, what="condition")
    calls = does if isinstance(does[0], list) else [does]
    steps = [call_named(call, "operator", WORDS, ARGUMENTS) for call in calls]

    def alter(output_rows: Rows, context: MessageContext) -> Rows:
        """The rows of a message after all steps of the entry, applied one after the other."""
        for step in steps:
            output_rows = step(output_rows, context)
        return output_rows

    return when(alter if len(steps) > 1 else steps[0], conditions)
