"""Reads scripts of Transact-SQL: SQL Server's CREATE TABLE, ALTER TABLE, indexes and DROP.

Batches end with a line GO, statements need no semicolon, conditions (IF ...) are taken as true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from generators.sources import sqlserver
from generators.tables import ddl_tsql_definitions
from generators.tables.ddl import INDEX_KINDS, DdlReader
from generators.tables.ddl_batches import ScriptSyntax, split_batches
from generators.tables.ddl_tables import Draft, bound_nanoseconds
from generators.tables.ddl_text import Cursor, Script, Span
from generators.tables.schema import Schema, TableName

_PIECE: Final = re.compile(
    r"(?P<end_line>^[^\S\n]*GO(?:[^\S\n]+\d+)?[^\S\n]*;?[^\S\n]*(?:--[^\n]*)?$)"
    r"|(?P<passed>--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*)|/\*.*?\*/)*\*/|\s*\n|\s+)"
    r"""|'[^']*'|"[^"]*"|\[(?:[^\]]|\]\])*\]"""
    r"|(?P<end>;)|(?P<open>\()|(?P<close>\))|[\w@#$]+|.",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""The next piece of a script: the `piece` of ScriptSyntax."""
_STARTS: Final = re.compile(
    rf"(?:create|drop)\s+(?:table\b|{INDEX_KINDS}index\b)|alter\s+table\b|exec(?:ute)?\s|begin\b"
    r"|end\b",
    re.IGNORECASE,
)
"""What begins a statement wherever it stands."""

_LINE_STARTS: Final = re.compile(
    r"(?:if|else|use|print|declare|insert|update|delete|merge|select|truncate|while|grant"
    r"|deny|revoke|waitfor|raiserror|commit|rollback|go|create\s+(?:type|schema|sequence|database)"
    r"|alter\s+(?:database|schema|role|authorization)|drop\s+(?:type|schema|view|proc\w*)"
    r"|set\s+(?:ansi|quoted|identity|nocount|xact|arith|concat|numeric|language|dateformat))\w*\b",
    re.IGNORECASE,
)
"""What begins a statement at the beginning of a line."""

_MODULE: Final = re.compile(
    r"(?:create(?:\s+or\s+alter)?|alter)\s+(?:proc|procedure|function|trigger|view)\b",
    re.IGNORECASE,
)
"""A statement that is the whole rest of its batch."""

_IGNORED: Final = re.compile(
    r"(?:set|use|begin|end|else|commit|rollback|drop|grant|deny|revoke|print|waitfor|checkpoint)\b"
    r"|(?:create|alter)\s+(?:database|schema|sequence|role|user|login|authorization"
    r"|fulltext\s+catalog|partition|xml\s+schema|assembly|server)\b"
    r"|exec(?:ute)?\s+(?:\[?sys\]?\.)?\[?sp_(?:addextendedproperty|updateextendedproperty"
    r"|dropextendedproperty|cdc_\w+|tableoption|autostats|settriggerorder)\b",
    re.IGNORECASE,
)
"""Statements that no message shows."""

_CONDITION: Final = re.compile(r"(?:if|while)\b", re.IGNORECASE)
"""A statement of the form IF ... or WHILE ..., without what it governs."""
_TEMPORARY: Final = re.compile(
    r"(?:(?:create|alter|drop)\s+table\s+(?:if\s+exists\s+)?|create\s[^(]*?index\s+\S+\s+on\s+)"
    r"(?:\[?tempdb\]?\.[^.]*\.)?\[?#[^\s(]*",
    re.IGNORECASE,
)
"""A statement on a temporary table, whose name begins with `#`."""
_QUALIFIED: Final = 3
"""Parts of a table's name that has a database."""


_SYNTAX: Final = ScriptSyntax(
    piece=_PIECE,
    opening_quotes=frozenset("'\"["),
    statement_at_line=_LINE_STARTS,
    module=_MODULE,
    statement=_STARTS,
)


def _in_lower_case(name: TableName) -> TableName:
    """The name in lower case."""
    return TableName(name.database.lower(), (name.schema or "").lower(), name.name.lower())


class TsqlReader(DdlReader):
    """Reads scripts of Transact-SQL one after another."""

    default_schema: ClassVar[str] = sqlserver.SCHEMA
    rows_statement: ClassVar[re.Pattern[str]] = re.compile(
        r"(?:bulk\s+)?insert\s+(?:top\s*\(\d+\)\s*)?(?:into\s+)?([^\s(]+)", re.IGNORECASE
    )

    def split_script(self, script: Script) -> Iterator[Span]:
        """The statements of a script, without the semicolons and the lines GO. Raises UsageError
        for a quote that does not end.
        """
        return split_batches(script, _SYNTAX)

    def is_ignored(self, beginning: str) -> bool:
        """Whether a statement that begins so changes nothing that a message shows, and is passed
        over without a note.
        """
        return bool(_IGNORED.match(beginning))

    def execute(self, script: Script, span: Span, beginning: str) -> bool:
        """Reads a statement if it is one that changes tables. A condition, and a statement on a
        temporary table, is noted. Returns whether it was one of these.
        """
        if _CONDITION.match(beginning):
            script.note(span.start, span.end, "taken as true: conditions are not computed")
            return True
        if match := _TEMPORARY.match(beginning):
            if beginning[:1] in "cC":
                script.note(
                    span.start,
                    span.start + match.end(),
                    "left out: the log that writers read does not hold temporary tables",
                )
            return True
        return super().execute(script, span, beginning)

    def take_table_name(self, cursor: Cursor, taken_names: Sequence[str] = ()) -> TableName:
        """The full name of the table whose parts are `taken_names`, or that the cursor's next words
        name, spelled as the statement that made it spelled it; parts that are missing get their
        defaults.
        """
        names = taken_names or cursor.take_names()
        if len(names) == _QUALIFIED:
            written_name = TableName(names[0], names[1], names[2])
        else:
            written_name = super().take_table_name(cursor, names)
        return self._known_name(written_name)

    def _known_name(self, written_name: TableName) -> TableName:
        """The name of the table that a statement calls `written_name`, spelled as the statement
        that made the table spelled it: upper and lower case do not matter. The name itself if no
        such table was read.
        """
        same_names = (
            name for name in self.drafts if _in_lower_case(name) == _in_lower_case(written_name)
        )
        return next(same_names, written_name)

    def read_definition(self, draft: Draft, cursor: Cursor) -> None:
        """Reads what follows the table's name in CREATE TABLE."""
        ddl_tsql_definitions.read_definition(draft, cursor)

    def alter_table(self, cursor: Cursor) -> None:
        """Reads ALTER TABLE. A table that no CREATE TABLE made is noted."""
        cursor.expect("ALTER TABLE")
        draft = self.existing_draft(cursor)
        if draft is not None:
            ddl_tsql_definitions.read_alterations(draft, cursor)

    def create_index(self, cursor: Cursor) -> None:
        """Reads CREATE INDEX. An index of a table that was not read is noted, and one of another
        kind than a B-tree's.
        """
        cursor.expect("CREATE")
        unique = bool(cursor.accept("UNIQUE"))
        cursor.accept("CLUSTERED", "NONCLUSTERED")
        if not cursor.accept("INDEX"):
            cursor.skip_rest(0, "left out: the model has no such index")
            return
        name = cursor.take_name()
        cursor.expect("ON")
        draft = self.existing_draft(cursor)
        if draft is not None:
            ddl_tsql_definitions.read_index(draft, cursor, name, unique=unique)

    def drop_index(self, cursor: Cursor) -> None:
        """Reads DROP INDEX of one or more indexes, each written `i ON t` or `t.i`, and takes them
        from the tables that have been read. An index or a table that was not read is passed over,
        without a note.
        """
        cursor.expect("DROP INDEX")
        cursor.accept("IF EXISTS")
        for item in cursor.split_at_commas():
            *table, name = item.take_names()
            table_names = item.take_names() if item.accept("ON") else tuple(table)
            draft = self.drafts.get(self.take_table_name(item, table_names or (name,)))
            if draft is not None:
                draft.drop_index(name)

    def schema(self) -> Schema:
        """The tables that exist after the last statement of all scripts. Foreign keys name their
        parents as the statements that made these spelled them.
        """
        for draft in self.drafts.values():
            if not draft.left_out:
                bound_nanoseconds(draft, "datetime2", sqlserver.quote)
            draft.foreign = [
                (replace(key, parent=self._known_name(key.parent)), pending)
                for key, pending in draft.foreign
            ]
        return super().schema()
