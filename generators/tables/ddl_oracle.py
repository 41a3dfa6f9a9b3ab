"""Reads scripts of Oracle's SQL: CREATE TABLE, ALTER TABLE, comments, indexes and DROP.

Statements end with a semicolon or a line `/`, and, as DBMS_METADATA.GET_DDL prints them without
either, where a line begins the next one. Lines of SQL*Plus are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from generators.sources import oracle
from generators.tables import ddl_oracle_definitions
from generators.tables.ddl import DdlReader
from generators.tables.ddl_batches import ScriptSyntax, split_batches
from generators.tables.ddl_tables import Draft, bound_nanoseconds
from generators.tables.ddl_text import Cursor, Script, Span
from generators.tables.schema import Note, Schema, TableName

_PIECE: Final = re.compile(
    r"(?P<end_line>^[^\S\n]*/[^\S\n]*$)"
    r"|(?P<passed>--[^\n]*|/\*.*?\*/|\s*\n|\s+)"
    r"|(?<![\w$#])[nN]?[qQ]'(?:\[.*?\]|\{.*?\}|\(.*?\)|<.*?>|(?P<mark>[^\s\[{(<]).*?(?P=mark))'"
    r"""|'[^']*'|"[^"]*\""""
    r"|(?P<end>;)|(?P<open>\()|(?P<close>\))|[\w@#$]+|.",
    re.DOTALL | re.MULTILINE,
)
"""The next piece of a script: the `piece` of ScriptSyntax."""
_CLIENT: Final = re.compile(
    r"(?:set|prompt|spool|rem|remark|whenever|exit|quit|connect|conn|show|define|undefine|column"
    r"|clear|accept|pause|timing|execute|exec|variable)\b[^\n]*|@[^\n]*",
    re.IGNORECASE,
)
"""A line of SQL*Plus."""

_LINE_STARTS: Final = re.compile(
    r"create\s|alter\s+(?:table|session|index|trigger|sequence)\b|comment\s+on\b|grant\s|insert\s"
    r"|drop\s+(?:table|sequence|view|type|synonym)\b",
    re.IGNORECASE,
)
"""What begins a statement at the beginning of a line."""

_CREATE: Final = r"create\s+(?:or\s+replace\s+)?(?:(?:non)?editionable\s+)?"
"""How a statement begins that makes an object."""
_MODULE: Final = re.compile(
    rf"{_CREATE}(?:procedure|function|trigger|package|type\s+body)\b|begin\b|declare\b",
    re.IGNORECASE,
)
"""A statement of PL/SQL, which ends with a line `/` alone."""

_PACKAGE: Final = re.compile(rf"{_CREATE}package\b", re.IGNORECASE)
"""A statement that makes a package of PL/SQL."""
_TYPE: Final = re.compile(rf"{_CREATE}type\b(?!\s+body)", re.IGNORECASE)
"""A statement that makes a type."""
_NOTED: Final = {
    _TYPE: "left out: columns of this type are left out, too",
    _PACKAGE: "left out: no histories of a package",
}
"""What is noted of statements that make no table."""

_SCHEMA: Final = re.compile(
    r"alter\s+session\s+set\s+current_schema\s*=\s*(?:\"([^\"]+)\"|([\w$#]+))", re.IGNORECASE
)
"""The statement that sets the schema of names without one: in group 1 as a name in quotes, or in
group 2 as a plain one.
"""
_IGNORED: Final = re.compile(
    r"(?:set|begin|declare|commit|rollback|drop|grant|revoke|purge|audit|analyze|lock|comment"
    r"\s+on)\b"
    r"|alter\s+(?:session|system|index|sequence|user|trigger|database|profile|type)\b"
    rf"|{_CREATE}(?:public\s+)?(?:synonym|sequence|user|role|tablespace|directory|profile|context"
    r"|database|schema)\b",
    re.IGNORECASE,
)
"""Statements that no message shows."""


_SYNTAX: Final = ScriptSyntax(
    piece=_PIECE,
    opening_quotes=frozenset("'\""),
    statement_at_line=_LINE_STARTS,
    module=_MODULE,
    client_line=_CLIENT,
)


class OracleReader(DdlReader):
    """Reads scripts of Oracle's SQL one after another."""

    default_schema: ClassVar[str] = oracle.SCHEMA

    def __init__(self, dialect: str, chosen_database: str | None, fallback: str) -> None:
        super().__init__(dialect, chosen_database, fallback)
        self.has_schema = False
        """Whether a statement or a note has named the schema of names without one."""

    def split_script(self, script: Script) -> Iterator[Span]:
        """The statements of a script, without what ends them and without lines of SQL*Plus. Raises
        UsageError for a quote that does not end.
        """
        return split_batches(script, _SYNTAX)

    def is_ignored(self, beginning: str) -> bool:
        """Whether a statement that begins so changes nothing that a message shows, and is passed
        over without a note.
        """
        return bool(_IGNORED.match(beginning))

    def execute(self, script: Script, span: Span, beginning: str) -> bool:
        """Reads the statement at `span` in the script, whose text begins with `beginning`, if it
        changes tables, or names the schema of names without one. A type and a package are noted,
        with 40 more characters, in which the name stands. Returns whether it was one of these.
        """
        if match := _SCHEMA.match(beginning):
            self.search_path, self.has_schema = match[1] or match[2].upper(), True
            return True
        for pattern, action in _NOTED.items():
            if match := pattern.match(beginning):
                script.note(span.start, min(span.end, span.start + match.end() + 40), action)
                return True
        return super().execute(script, span, beginning)

    def take_table_name(self, cursor: Cursor, taken_names: Sequence[str] = ()) -> TableName:
        """The full name of the table whose parts are `taken_names`, or that the cursor's next words
        name; a schema that no statement names is noted once.
        """
        names = taken_names or cursor.take_names()
        if cursor.accept("SHARING ="):
            cursor.take()
        if len(names) == 1 and not self.has_schema:
            self.has_schema = True
            action = f"its tables are taken as those of {self.search_path}"
            note = Note(cursor.script.file, 0, 0, "no schema is named", action)
            cursor.script.notes.append(note)
        return super().take_table_name(cursor, names)

    def read_definition(self, draft: Draft, cursor: Cursor) -> None:
        """Reads what follows the table's name in CREATE TABLE."""
        ddl_oracle_definitions.read_definition(draft, cursor)

    def alter_table(self, cursor: Cursor) -> None:
        """Reads ALTER TABLE. A table that no CREATE TABLE made is noted."""
        cursor.expect("ALTER TABLE")
        draft = self.existing_draft(cursor)
        if draft is None:
            return
        draft.search_path = self.search_path
        if cursor.accept("RENAME TO"):
            self.rename_draft(cursor, draft, draft.table_name._replace(name=cursor.take_name()))
        else:
            ddl_oracle_definitions.read_alterations(draft, cursor)

    def create_index(self, cursor: Cursor) -> None:
        """Reads CREATE INDEX. An index of a table that was not read is noted."""
        cursor.expect("CREATE")
        unique = bool(cursor.accept("UNIQUE"))
        if not cursor.accept("INDEX"):
            cursor.skip_rest(0, "left out: the model has no such index")
            return
        name = cursor.take_names()[-1]
        cursor.expect("ON")
        draft = self.existing_draft(cursor)
        if draft is not None:
            ddl_oracle_definitions.read_index(draft, cursor, name, unique=unique)

    def drop_table(self, cursor: Cursor) -> None:
        """Reads DROP TABLE: the table is forgotten."""
        cursor.expect("DROP TABLE")
        cursor.accept("IF EXISTS")
        self.drafts.pop(self.take_table_name(cursor), None)

    def drop_index(self, cursor: Cursor) -> None:
        """Reads DROP INDEX. An index that was not read is passed over."""
        cursor.expect("DROP INDEX")
        cursor.accept("IF EXISTS")
        schema, name = self.take_table_name(cursor)[1:]
        for draft in self.drafts.values():
            if draft.schema == schema:
                draft.drop_index(name)

    def schema(self) -> Schema:
        """The tables that exist after the last statement of all scripts."""
        for draft in self.drafts.values():
            if not draft.left_out:
                bound_nanoseconds(draft, "timestamp", oracle.quote)
            # A script may make the primary key's index by a CREATE UNIQUE INDEX of its own, which
            # is no second key.
            draft.indexes = [
                replace(index, unique=False) if index.columns == draft.primary else index
                for index in draft.indexes
            ]
        return super().schema()
