"""Splits scripts whose statements need no semicolon, as SQL Server's and Oracle's clients take
them, and reads what their definitions have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from generators.tables.ddl_tables import Draft
from generators.tables.ddl_text import Cursor, Script, Span


@dataclass(frozen=True, slots=True)
class ScriptSyntax:
    """What divides the scripts of a dialect into statements, as regular expressions."""

    piece: re.Pattern[str]
    """The next piece of a script. Its groups: `end_line`, a line that ends a statement; `passed`,
    blanks and comments; `end`, a semicolon; `open` and `close`, parentheses.
    """
    opening_quotes: frozenset[str]
    """Pieces that are the beginning of a quote without an end."""
    statement_at_line: re.Pattern[str]
    """What begins a statement at the beginning of a line."""
    module: re.Pattern[str]
    """The beginning of a statement that goes on to the next line that ends one."""
    statement: re.Pattern[str] | None = None
    """What begins a statement wherever it stands."""
    client_line: re.Pattern[str] | None = None
    """A line that is the client's own, between statements."""


def split_batches(script: Script, syntax: ScriptSyntax) -> Iterator[Span]:
    """The statements of a script, without the semicolons and lines that end them. Raises UsageError
    for a quote that does not end.
    """
    code = script.code
    at = 0
    start, last = -1, 0  # of the statement that is read; -1 between statements
    depth = 0  # of parentheses
    is_module, is_line_start = False, True
    while at < len(code):
        if start < 0 and is_line_start and (line := _match(syntax.client_line, code, at)):
            at = line.end()
            continue
        piece = syntax.piece.match(code, at)
        assert piece is not None
        if piece[0] in syntax.opening_quotes:
            raise script.error(at, f"the quote {piece[0]} does not end")
        is_end = piece["end_line"] is not None or (bool(piece["end"]) and not is_module)
        begins_statement = not (is_module or depth) and (
            _match(syntax.statement, code, at)
            or (is_line_start and syntax.statement_at_line.match(code, at))
        )
        if start >= 0 and (is_end or begins_statement):
            yield Span(start, last)
            start, depth = -1, 0
        if is_end:
            start, depth, is_module = -1, 0, False
        elif not piece["passed"]:
            if start < 0:
                start, is_module = at, bool(syntax.module.match(code, at))
            depth = max(0, depth + bool(piece["open"]) - bool(piece["close"]))
            last = piece.end()
        is_line_start = (is_line_start or "\n" in piece[0]) if piece["passed"] else is_end
        at = piece.end()
    if start >= 0:
        yield Span(start, last)


def _match(pattern: re.Pattern[str] | None, code: str, at: int) -> re.Match[str] | None:
    """What a pattern matches in the code at an offset; None for a pattern that the dialect does not
    have.
    """
    return pattern.match(code, at) if pattern else None


def skip_default(cursor: Cursor, start: int, ends: tuple[str, ...]) -> None:
    """Skips the expression of a column's default at the cursor, up to one of the words `ends`. A
    default that is not NULL is noted as left out, with the words from number `start` on.
    """
    expression_start = cursor.at
    if cursor.next_is("("):
        cursor.take_parentheses()
    else:
        cursor.take()
    cursor.skip_until(*ends)
    if cursor.text_since(expression_start).strip("() ").upper() != "NULL":
        cursor.note(start, "left out: the column is taken without a default")


def add_unique_key(draft: Draft, name: str, columns: tuple[str, ...]) -> None:
    """Adds a unique key to the draft. For one without a name the database makes one up that has a
    number in it which no statement shows: it is named here as `UQ_` and its columns.
    """
    draft.add_index(name or "_".join(("UQ", *columns)), columns, unique=True)


def read_column_name(draft: Draft, cursor: Cursor) -> str:
    """Takes a column's name at the cursor. Returns it as the draft spells it; "" if the column is
    left out of the table. Raises UsageError if the table has no such column.
    """
    place, written_name = cursor.peek(), cursor.take_name()
    name = draft.column_name(written_name)
    if name is None and not draft.lacks_column(written_name):
        raise cursor.script.error(place.start, f"table {draft.name} has no column {written_name}")
    return name or ""
