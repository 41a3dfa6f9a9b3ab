"""Reads scripts of DDL, statement by statement, and gives the tables that exist after the last."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from generators.sources import postgresql
from generators.tables import ddl_definitions, ddl_postgresql
from generators.tables.ddl_tables import Draft, finished
from generators.tables.ddl_text import Cursor, Script, Span
from generators.tables.schema import DIALECTS, Note, Place, Schema

_SILENT: Final = re.compile(
    r"(?:set|use|lock|unlock|begin|start|commit|drop|grant|revoke|analyze|flush|select\s+(?:pg_catalog\.)?(?:set_config|setval)"
    r"|(?:create|alter)\s+(?:database|schema|extension|sequence|role|user|collation)|alter\s+index|alter\s+default|comment\s+on"
    r"|alter\s+\w+\b.*\bowner\s+to|\\)",
    re.IGNORECASE | re.DOTALL,
)
"""Statements that no message shows."""

_ROWS: Final = re.compile(
    r"(?:(?:insert|replace|load)\b.*?\binto\s+(?:table\s+)?|copy\s+)([^\s(]+)",
    re.IGNORECASE | re.DOTALL,
)
_OBJECT: Final = re.compile(
    r"(?:create|alter)\b[^;'\"(]*?\b((?:materialized\s+)?view|function|procedure|trigger|event|rule|policy|aggregate|operator"
    r"|publication|subscription|statistics|server|foreign\s+table)\b",
    re.IGNORECASE,
)
_DATABASE: Final = re.compile(
    r"(?:use\s+|create\s+database\s+(?:if\s+not\s+exists\s+)?|\\connect\s+)(`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|[^\s;]+)",
    re.IGNORECASE,
)
_PATH: Final = re.compile(
    r"(?:set\s+search_path\s*(?:=|to)\s*|select\s+(?:pg_catalog\.)?set_config\('search_path',\s*)['\"]?(\w+)",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(r"^-- (?:Host: .*\b)?Database: (`?)(.+)\1$", re.MULTILINE)
_HEAD: Final = 4000
"""Characters of a statement's beginning that tell what it is."""

_NOT_READ: Final = "left out: the table is not among the tables that are read"


class DdlReader:
    """Reads scripts of one dialect one after another.

    `given` is the database of tables whose statements and script name none, `fallback` the database
    if `given` is missing, too.
    """

    def __init__(self, dialect: str, given: str | None, fallback: str) -> None:
        self.dialect, self.given, self.fallback = dialect, given, fallback
        self.mysql = DIALECTS[dialect] == "mysql"
        self.drafts: dict[Place, Draft] = {}
        self.scripts: list[Script] = []
        self.types = ddl_postgresql.Types()
        self.database, self.path = "", postgresql.SCHEMA

    def run(self, script: Script) -> None:
        """Reads a script. Raises UsageError."""
        self.scripts.append(script)
        header = _HEADER.search(script.text)
        self.database, self.path = (
            self.given or (header[2].strip() if header else ""),
            postgresql.SCHEMA,
        )
        rows: set[str] = set()
        for span in script.statements():
            text = script.code[span.start : min(span.end, span.start + _HEAD)]
            if hit := _DATABASE.match(text):
                quote = hit[1][0]
                self.database = hit[1][1:-1].replace(quote * 2, quote) if quote in '`"' else hit[1]
            elif hit := _PATH.match(text):
                self.path = hit[1]
            if hit := _ROWS.match(text):
                if hit[1] not in rows:
                    script.note(
                        span.start, span.start + hit.end(), "left out: rows are drawn, not read"
                    )
                rows.add(hit[1])
            elif not self.statement(script, span, text) and not _SILENT.match(text):
                self.unknown(script, span, text)

    def statement(self, script: Script, span: Span, text: str) -> bool:
        """Executes a statement; returns whether it counts."""
        for pattern, action in _STATEMENTS:
            if pattern.match(text):
                action(self, script.words(span))
                return True
        return False

    def unknown(self, script: Script, span: Span, text: str) -> None:
        """Notes a statement that makes no table."""
        what = _OBJECT.match(text)
        end = min(span.end, span.start + (what.end() + 40 if what else len(text)))
        thing = " ".join(what[1].lower().split()) if what else ""
        script.note(
            span.start,
            end,
            f"left out: no histories of a {thing}"
            if what
            else "statement left out: not understood",
        )

    def place(self, cursor: Cursor, names: Sequence[str] = ()) -> Place:
        """The table of that name, else of the one that comes next."""
        *qualifier, name = names or cursor.names()
        if self.mysql:
            return qualifier[-1] if qualifier else self.home(cursor), None, name
        return self.home(cursor), qualifier[-1] if qualifier else self.path, name

    def home(self, cursor: Cursor) -> str:
        """The database of a table that names none."""
        if not self.database:
            self.database = self.fallback
            action = f"its tables are taken as those of {self.fallback}"
            cursor.script.notes.append(
                Note(cursor.script.file, 0, 0, "no database is named", action)
            )
        return self.database

    def known(self, cursor: Cursor) -> Draft | None:
        """The table whose name comes next; None, and a note, if it is not there."""
        draft = self.drafts.get(self.place(cursor))
        if draft is None:
            cursor.until()
            cursor.note(0, _NOT_READ)
        return None if draft is None or draft.left_out else draft

    def create_table(self, cursor: Cursor) -> None:
        """CREATE TABLE."""
        cursor.expect("CREATE")
        replaced = cursor.accept("OR REPLACE")
        cursor.accept("GLOBAL", "LOCAL")
        passing = cursor.accept("TEMPORARY", "TEMP", "UNLOGGED")
        cursor.expect("TABLE")
        again = cursor.accept("IF NOT EXISTS")
        at = cursor.peek().start
        place = self.place(cursor)
        if passing:
            cursor.note(
                0, f"left out: the log that writers read does not hold {passing.lower()} tables"
            )
            return
        before = self.drafts.get(place)
        if before is not None and again:
            cursor.note(0, "left out: the table is there")
            return
        if before is not None and not replaced:
            there = before.script.where(before.at)
            raise cursor.script.error(
                at, f"table {'.'.join(p for p in place if p)} was read at {there}"
            )
        draft = self.drafts[place] = Draft(*place, cursor.script, at)
        if (
            cursor.next_is("LIKE")
            or cursor.next_is("( LIKE/SELECT/WITH/TABLE")
            or not cursor.next_is("(/PARTITION/OF")
        ):
            cursor.until()
            draft.leave_out(cursor, 0, "left out: its columns are another table's or a query's")
        else:
            ddl_definitions.definition(draft, cursor, self.types)
        if not draft.columns and not draft.left_out:
            draft.leave_out(cursor, 0, "left out: it has no columns")

    def alter_table(self, cursor: Cursor) -> None:
        """ALTER TABLE."""
        cursor.expect("ALTER TABLE")
        cursor.accept("IF EXISTS")
        cursor.accept("ONLY")
        start = cursor.at
        if (
            not self.mysql
            and self.place(cursor) not in self.drafts
            and cursor.next_is("OWNER/ALTER")
        ):
            return  # pg_dump alters views and sequences as tables
        cursor.at = start
        draft = self.known(cursor)
        if draft is not None:
            ddl_definitions.altered(draft, cursor, self.types)

    def create_index(self, cursor: Cursor) -> None:
        """CREATE INDEX."""
        cursor.expect("CREATE")
        start = cursor.at
        unique = cursor.accept("UNIQUE", "FULLTEXT", "SPATIAL") == "UNIQUE"
        cursor.expect("INDEX")
        cursor.accept("CONCURRENTLY")
        cursor.accept("IF NOT EXISTS")
        name = "" if cursor.next_is("ON") else cursor.name()
        cursor.accept("USING BTREE", "USING HASH")
        before = cursor.at
        cursor.expect("ON")
        cursor.accept("ONLY")
        draft = self.known(cursor)
        if draft is not None and self.mysql:
            words = [*cursor.words[start:before], *cursor.words[cursor.at :]]
            ddl_definitions.constraint(draft, Cursor(cursor.script, words, cursor.end))
        elif draft is not None:
            ddl_postgresql.index(draft, cursor, name, unique=unique)

    def drop_table(self, cursor: Cursor) -> None:
        """DROP TABLE."""
        cursor.expect("DROP TABLE")
        cursor.accept("IF EXISTS")
        for item in cursor.items():
            self.drafts.pop(self.place(item), None)

    def comment(self, cursor: Cursor) -> None:
        """COMMENT ON TABLE and COMMENT ON COLUMN."""
        what = cursor.accept("COMMENT ON TABLE", "COMMENT ON COLUMN")
        if what.endswith("TABLE"):
            draft, column = self.drafts.get(self.place(cursor)), ""
        else:
            *names, column = cursor.names()
            if not names:
                raise cursor.wrong("a table's column")
            draft = self.drafts.get(self.place(cursor, names))
        cursor.expect("IS")
        text = "" if cursor.next_is("NULL") else cursor.take().text
        if draft and column:
            draft.change(column, comment=text)
        elif draft:
            draft.comment = text

    def schema(self) -> Schema:
        """The tables after the last statement."""
        return finished(self.drafts, self.dialect, self.scripts)


_STATEMENTS: Final[tuple[tuple[re.Pattern[str], Callable[[DdlReader, Cursor], None]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), action)
    for pattern, action in (
        (
            r"create\s+(?:or\s+replace\s+)?(?:(?:global|local)\s+)?(?:temp(?:orary)?\s+|unlogged\s+)?table\b",
            DdlReader.create_table,
        ),
        (r"alter\s+table\b", DdlReader.alter_table),
        (r"create\s+(?:unique\s+|fulltext\s+|spatial\s+)?index\b", DdlReader.create_index),
        (r"drop\s+table\b", DdlReader.drop_table),
        (r"comment\s+on\s+(?:table|column)\b", DdlReader.comment),
        (r"create\s+type\b", lambda reader, cursor: reader.types.enum(cursor)),
        (r"alter\s+type\b", lambda reader, cursor: reader.types.label(cursor)),
        (r"create\s+domain\b", lambda reader, cursor: reader.types.domain(cursor)),
    )
)
