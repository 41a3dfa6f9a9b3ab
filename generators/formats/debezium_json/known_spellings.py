"""The texts of MySQL's statements as the connector keeps them: as they stand between their quotes,
with escapes and doubled quotes (debezium#comments).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.formats.debezium_json.column_definitions import copied_table
from generators.formats.debezium_json.envelope import literal
from generators.model import SchemaChange, Table

_LITERAL: Final = re.compile(
    r"--\s[^\n]*|#[^\n]*|/\*(?!!).*?\*/|`(?:[^`]|``)*`|'((?:[^'\\]|''|\\.)*)'|\"((?:[^\"\\]|\"\"|\\.)*)\"",
    re.DOTALL,
)
"""A comment, or a name in back-ticks, or else a text in single quotes (group 1) or in double ones
(group 2).
"""
_ESCAPE: Final = re.compile(r"''|\"\"|\\(.)", re.DOTALL)
"""A doubled quote, or a back-slash and the character behind it (the group)."""
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
"""The characters that have a letter of their own behind a back-slash."""
_KEPT: Final = "%_"
"""The characters before which a back-slash stays in the text."""

_Place = tuple[str, str]
"""A table: the names of its database and of itself."""


@dataclass(slots=True)
class KnownSpellings:
    """How the statements on each table spelled the texts in them, by table and text. A text that
    is spelled as SHOW CREATE TABLE would do it (`envelope.literal`) is not among them.
    """

    by_table: dict[_Place, dict[str, str]] = field(default_factory=dict)

    def follow_statement(self, event: SchemaChange) -> None:
        """Remembers how a statement spells its texts, for the messages that follow; a renamed table
        keeps what is known of it under its new name.
        """
        table_key = (event.database, event.table)
        if event.old_name:
            self.by_table[table_key] = self.by_table.pop((event.database, event.old_name), {})
        # CREATE TABLE LIKE copies the columns as the connector knows them.
        spellings = dict(self.by_table.get(copied_table(event) or table_key, {}))
        for match in _LITERAL.finditer(event.sql):
            spelled = match[1] if match[1] is not None else match[2]
            if spelled is None:
                continue
            source_text = _text_of(spelled, "'" if match[1] is not None else '"')
            if spelled != literal(source_text) or source_text in spellings:
                spellings[source_text] = spelled
        if spellings:
            self.by_table[table_key] = spellings

    def table(self, table: Table) -> Table:
        """The table with its comment and those of its columns as the statements spelled them."""
        spellings = self.by_table.get((table.database, table.name), {})
        columns = tuple(
            replace(c, comment=spellings.get(c.comment, literal(c.comment))) if c.comment else c
            for c in table.columns
        )
        comment = table.comment and spellings.get(table.comment, literal(table.comment))
        if comment == table.comment and columns == table.columns:
            return table
        return replace(table, columns=columns, comment=comment)

    def described(self, table: Table, columns: Iterable[dict[str, Any]]) -> None:
        """Corrects the labels of enums in `tableChanges`, in place: they stand as the statements
        spelled them.
        """
        spellings = self.by_table.get((table.database, table.name), {})
        spelled_labels = {
            f"'{literal(label)}'": f"'{spelled}'" for label, spelled in spellings.items()
        }
        for column in columns if spelled_labels else ():
            if column["enumValues"]:
                labels = column["enumValues"]
                column["enumValues"] = [spelled_labels.get(label, label) for label in labels]


def _text_of(spelled: str, quote: str) -> str:
    """The text that a literal stands for. `spelled` is what stands between its quotes, each of
    which is `quote`.
    """

    def character(match: re.Match[str]) -> str:
        if match[1] is None:
            return quote if match[0] == quote * 2 else match[0]
        return match[0] if match[1] in _KEPT else _ESCAPED.get(match[1], match[1])

    return _ESCAPE.sub(character, spelled)
