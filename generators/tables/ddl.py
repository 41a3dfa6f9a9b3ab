"""Scripts of DDL, statement by statement: the tables that are there after the last."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from generators.tables import ddl_mysql
from generators.tables.base import Note, Place, Schema
from generators.tables.ddl_tables import Draft, finished
from generators.tables.ddl_text import Cursor, Script, Span

_SILENT: Final = re.compile(
    r"(?:set|use|lock|unlock|begin|start|commit|drop|grant|revoke|analyze|flush|select\s+(?:pg_catalog\.)?(?:set_config|setval)"
    r"|(?:create|alter|comment\s+on)\s+(?:database|schema|extension|sequence|role|user|collation)|alter\s+default"
    r"|comment\s+on|alter\s+(?:type|domain|function|view|procedure)\b.*\bowner\s+to|\\)",
    re.IGNORECASE | re.DOTALL,
)
"""Statements that no message shows."""

_ROWS: Final = re.compile(
    r"(?:insert|replace|copy|load)\b.*?(?:into\s+|copy\s+)(?:table\s+)?([^\s(]+)", re.IGNORECASE | re.DOTALL
)
_OBJECT: Final = re.compile(
    r"(?:create|alter)\b[^;'\"(]*?\b((?:materialized\s+)?view|function|procedure|trigger|event|rule|policy|aggregate|operator"
    r"|publication|subscription|statistics|server|foreign\s+table)\b",
    re.IGNORECASE,
)
_DATABASE: Final = re.compile(
    r"(?:use\s+|create\s+database\s+(?:if\s+not\s+exists\s+)?|\\connect\s+)[`\"]?([^\s`\";]+)", re.IGNORECASE
)
_HEADER: Final = re.compile(r"^-- Host: .*\bDatabase: (\S+)$", re.MULTILINE)


def _no_database(script: Script, name: str) -> Note:
    return Note(script.file, 0, 0, "no database is named", f"its tables are taken as those of {name}")


class Reader:
    """Reads scripts of one dialect one after another. `database` is that of tables whose script names none."""

    def __init__(self, dialect: str, database: str | None, fallback: str) -> None:
        self.dialect, self.given, self.fallback = dialect, database, fallback
        self.drafts: dict[Place, Draft] = {}
        self.scripts: list[Script] = []
        self.database = ""
        self.tables = 0

    def run(self, script: Script) -> None:
        """Reads a script. Raises UsageError."""
        self.scripts.append(script)
        header = _HEADER.search(script.text)
        self.database = self.given or (header[1] if header else "")
        rows: set[str] = set()
        for span in script.statements():
            text = script.code[span.start : min(span.end, span.start + 4000)]
            if hit := _DATABASE.match(text):
                self.database = hit[1]
            if hit := _ROWS.match(text):
                if hit[1] not in rows:
                    script.note(span.start, span.start + hit.end(), "left out: rows are drawn, not read")
                rows.add(hit[1])
            elif not self.statement(script, span, text) and not _SILENT.match(text):
                what = _OBJECT.match(text)
                end = span.start + (what.end() + 60 if what else 120)
                action = (
                    f"left out: a {what[1].lower()} has no messages of its own" if what else "statement left out: not understood"
                )
                script.note(span.start, min(span.end, end), action)

    def statement(self, script: Script, span: Span, text: str) -> bool:
        """Executes a statement; whether it is one of those that count."""
        for pattern, action in _STATEMENTS:
            if re.match(pattern, text, re.IGNORECASE):
                action(self, script.words(span))
                return True
        return False

    def place(self, cursor: Cursor) -> Place:
        """The table whose name comes next."""
        *qualifier, name = cursor.names()
        return (qualifier[-1] if qualifier else self.home(cursor)), None, name

    def home(self, cursor: Cursor) -> str:
        """The database of a table that names none."""
        if not self.database:
            self.database = self.fallback
            cursor.script.notes.insert(0, _no_database(cursor.script, self.fallback))
        return self.database

    def known(self, cursor: Cursor) -> Draft | None:
        """The table whose name comes next, if it is there."""
        return self.drafts.get(self.place(cursor))

    def create_table(self, cursor: Cursor) -> None:
        """CREATE TABLE."""
        self.tables += 1
        cursor.accept("CREATE")
        replaced = cursor.accept("OR REPLACE")
        passing = cursor.accept("TEMPORARY")
        cursor.expect("TABLE")
        again = cursor.accept("IF NOT EXISTS")
        at = cursor.peek().start
        place = self.place(cursor)
        if passing:
            cursor.note(0, "left out: a temporary table has no messages")
            return
        before = self.drafts.get(place)
        if before is not None and again:
            cursor.note(0, "left out: the table is there")
            return
        if before is not None and not replaced:
            there = before.script.where(before.at)
            raise cursor.script.error(at, f"table {'.'.join(p for p in place if p)} was read at {there}")
        draft = Draft(*place, cursor.script, at)
        if cursor.next_is("LIKE") or cursor.next_is("( LIKE"):
            cursor.until()
            cursor.note(0, "table left out: its columns are another table's")
            return
        if not cursor.next_is("("):
            cursor.until()
            cursor.note(0, "table left out: its columns come from a query")
            return
        self.drafts[place] = draft
        ddl_mysql.definition(draft, cursor)
        if not draft.columns and not draft.left_out:
            raise cursor.script.error(at, f"table {draft.name} has no columns")

    def alter_table(self, cursor: Cursor) -> None:
        """ALTER TABLE."""
        cursor.expect("ALTER TABLE")
        cursor.accept("IF EXISTS")
        draft = self.known(cursor)
        if draft is None:
            cursor.note(0, "left out: the table is not among the tables that are read")
        elif not draft.left_out:
            ddl_mysql.altered(draft, cursor)

    def create_index(self, cursor: Cursor) -> None:
        """CREATE INDEX."""
        cursor.expect("CREATE")
        start = cursor.at
        cursor.accept("UNIQUE", "FULLTEXT", "SPATIAL")
        cursor.accept("INDEX")
        cursor.accept("IF NOT EXISTS")
        cursor.name()
        on = cursor.at
        cursor.accept("USING BTREE", "USING HASH")
        cursor.expect("ON")
        draft = self.known(cursor)
        if draft is None:
            cursor.note(0, "left out: the table is not among the tables that are read")
            return
        ddl_mysql.constraint(draft, Cursor(cursor.script, [*cursor.words[start:on], *cursor.words[cursor.at :]], cursor.end))

    def drop_table(self, cursor: Cursor) -> None:
        """DROP TABLE."""
        cursor.expect("DROP TABLE")
        cursor.accept("IF EXISTS")
        for item in cursor.items():
            self.drafts.pop(self.place(item), None)

    def schema(self) -> Schema:
        """The tables after the last statement."""
        return finished(self.drafts, self.dialect, self.scripts)


_STATEMENTS: Final[tuple[tuple[str, Callable[[Reader, Cursor], None]], ...]] = (
    (r"create\s+(?:or\s+replace\s+)?(?:temporary\s+)?table\b", Reader.create_table),
    (r"alter\s+table\b", Reader.alter_table),
    (r"create\s+(?:unique\s+|fulltext\s+|spatial\s+)?index\b", Reader.create_index),
    (r"drop\s+table\b", Reader.drop_table),
)
