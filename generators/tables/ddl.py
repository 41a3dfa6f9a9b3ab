"""Reads scripts of DDL, statement by statement, and gives the tables that exist after the last."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from generators.sources import postgresql
from generators.tables import ddl_definitions, ddl_postgresql
from generators.tables.ddl_tables import Draft, finish_schema
from generators.tables.ddl_text import Cursor, Script, Span
from generators.tables.schema import DIALECTS, Note, Schema, TableName

_IGNORED: Final = re.compile(
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
"""A statement that changes rows; its group is the table's name."""
_OBJECT: Final = re.compile(
    r"(?:create|alter)\b[^;'\"(]*?\b((?:materialized\s+)?view|function|procedure|trigger|event|rule|policy|aggregate|operator"
    r"|publication|subscription|statistics|server|foreign\s+table)\b",
    re.IGNORECASE,
)
"""A statement that makes or alters no table but another object; its group is the object's kind."""
_DATABASE: Final = re.compile(
    r"(?:use\s+|create\s+database\s+(?:if\s+not\s+exists\s+)?|\\c(?:onnect)?\s+)"
    r"(?:-reuse-previous=\w+\s+\"dbname='((?:[^'\\]|\\.)+)'"
    r"|(`(?:[^`]|``)+`|\"(?:[^\"]|\"\")+\"|\[(?:[^\]]|\]\])+\]|[^\s;]+))",
    re.IGNORECASE,
)
"""A statement that chooses or makes the database of what follows. The database's name is group 1 in
the connection string that pg_dump writes for names such as `my-shop`; else it is group 2, maybe in
quotes.
"""
_PATH: Final = re.compile(
    r"(?:set\s+(?:session\s+|local\s+)?search_path\s*(?:=|to)\s*"
    r"|select\s+(?:pg_catalog\.)?set_config\('search_path',\s*')"
    r"(?:'([^'\"$,;]+)'|\"((?:[^\"$]|\"\")+)\"|(\w+))",
    re.IGNORECASE,
)
"""A statement that sets PostgreSQL's search path. Its groups are the path's first schema: in
apostrophes, in quotes (a quote in it stands twice), or bare, which PostgreSQL folds to lower case.
"""
_DATABASE_COMMENT: Final = re.compile(
    r"^-- (?:Host: .*\b)?Database: (?:`((?:[^`\n]|``)+)`|(.+?))\s*$", re.MULTILINE
)
"""The comment of a dump that names the database: in group 1 in back-ticks, in group 2 without."""
_BEGINNING_SIZE: Final = 4000
"""Characters of a statement's beginning that tell what it is."""

INDEX_KINDS: Final = (
    r"(?:unique\s+)?(?:clustered\s+|nonclustered\s+)?(?:columnstore\s+|fulltext\s+|spatial\s+"
    r"|xml\s+|primary\s+xml\s+)?"
)
"""What may stand between CREATE and INDEX."""

_NOT_READ: Final = "left out: the table is not among the tables that are read"
"""What is noted of a statement on a table that no CREATE TABLE made."""


def _database_of_comment(script: Script) -> str:
    """The database that the comments of a dump name; "" if none does."""
    match = _DATABASE_COMMENT.search(script.text)
    if match is None:
        return ""
    return match[1].replace("``", "`") if match[1] else match[2]


def _chosen_database(match: re.Match[str], script: Script) -> str:
    """The name of the database in a statement of the script that `_DATABASE` matches, without
    quotes.
    """
    if match[1]:
        return re.sub(r"\\(.)", r"\1", match[1].replace('""', '"'))
    name = match[2]
    closing_quote = {"[": "]"}.get(name[0], name[0])
    if closing_quote in '`"]':
        return name[1:-1].replace(closing_quote * 2, closing_quote)
    # psql takes the name behind \connect as it stands.
    return name if match[0].startswith("\\") else script.spelling.fold(name)


def _first_schema(match: re.Match[str], script: Script) -> str:
    """The first schema of the search path in a statement of the script that `_PATH` matches: in
    group 1 in apostrophes, in group 2 in quotes, in group 3 bare, which the script's dialect folds.
    """
    if match[3]:
        return script.spelling.fold(match[3])
    return match[1] or match[2].replace('""', '"')


class DdlReader:
    """Reads scripts of one dialect one after another, and keeps a `Draft` of each table.

    `chosen_database` is the database, as the user says, of tables whose statements and script name
    none, `fallback` the database if `chosen_database` is missing, too. A subclass reads a dialect
    with statements of its own.
    """

    default_schema: ClassVar[str] = postgresql.SCHEMA
    """The schema of tables whose statements name none, in a dialect that has schemas."""

    rows_statement: ClassVar[re.Pattern[str]] = _ROWS
    """A statement that changes rows, up to the table's name, which is its group."""

    def __init__(self, dialect: str, chosen_database: str | None, fallback: str) -> None:
        self.dialect, self.chosen_database, self.fallback = dialect, chosen_database, fallback
        self.mysql = DIALECTS[dialect] == "mysql"
        self.drafts: dict[TableName, Draft] = {}
        self.scripts: list[Script] = []
        self.types = ddl_postgresql.Types()
        self.database, self.search_path = "", self.default_schema

    def read_script(self, script: Script) -> None:
        """Reads the statements of a script: follows the database and the search path that they
        choose, reads those that change tables or types, and notes the others, of rows once for each
        table. Raises UsageError for a statement of a known beginning whose words the dialect does
        not have.
        """
        self.scripts.append(script)
        self.database = self.chosen_database or _database_of_comment(script)
        self.search_path = self.default_schema
        tables_with_rows: set[str] = set()
        for span in self.split_script(script):
            beginning = script.code[span.start : min(span.end, span.start + _BEGINNING_SIZE)]
            if match := _DATABASE.match(beginning):
                self.database = _chosen_database(match, script)
            elif match := _PATH.match(beginning):
                self.search_path = _first_schema(match, script)
            if match := self.rows_statement.match(beginning):
                if match[1] not in tables_with_rows:
                    script.note(
                        span.start, span.start + match.end(), "left out: rows are drawn, not read"
                    )
                tables_with_rows.add(match[1])
            elif not self.execute(script, span, beginning) and not self.is_ignored(beginning):
                self.note_unread(script, span, beginning)

    def split_script(self, script: Script) -> Iterator[Span]:
        """The statements of a script, without what ends them. Raises UsageError for a quote that
        does not end.
        """
        return script.statements()

    def is_ignored(self, beginning: str) -> bool:
        """Whether a statement that begins so changes nothing that a message shows, and is passed
        over without a note.
        """
        return bool(_IGNORED.match(beginning))

    def read_definition(self, draft: Draft, cursor: Cursor) -> None:
        """Reads what follows the table's name in CREATE TABLE."""
        ddl_definitions.read_definition(draft, cursor, self.types)

    def execute(self, script: Script, span: Span, beginning: str) -> bool:
        """Reads a statement if its beginning is that of one that changes tables or types. Returns
        whether it is.
        """
        for pattern, action in _STATEMENTS:
            if pattern.match(beginning):
                action(self, script.words(span))
                return True
        return False

    def note_unread(self, script: Script, span: Span, beginning: str) -> None:
        """Notes that the statement at `span`, whose text begins with `beginning`, is left out,
        since it makes no table: with the kind of its object if that is known. The note shows the
        words up to the kind and 40 more characters, in which the name stands.
        """
        object_match = _OBJECT.match(beginning)
        end = min(
            span.end, span.start + (object_match.end() + 40 if object_match else len(beginning))
        )
        object_kind = " ".join(object_match[1].lower().split()) if object_match else ""
        script.note(
            span.start,
            end,
            f"left out: no histories of a {object_kind}"
            if object_match
            else "statement left out: not understood",
        )

    def take_table_name(self, cursor: Cursor, taken_names: Sequence[str] = ()) -> TableName:
        """The full name of the table whose parts are `taken_names`, or that the cursor's next words
        name; parts that are missing get their defaults.
        """
        *qualifier, name = taken_names or cursor.take_names()
        if self.mysql:
            database = qualifier[-1] if qualifier else self.default_database(cursor)
            return TableName(database, None, name)
        schema = qualifier[-1] if qualifier else self.search_path
        return TableName(self.default_database(cursor), schema, name)

    def default_database(self, cursor: Cursor) -> str:
        """The database of tables whose statements name none. If neither the user nor the script
        chose one, it is `fallback`, and a note without a place (line and column 0) says so once.
        """
        if not self.database:
            self.database = self.fallback
            action = f"its tables are taken as those of {self.fallback}"
            cursor.script.notes.append(
                Note(cursor.script.file, 0, 0, "no database is named", action)
            )
        return self.database

    def existing_draft(self, cursor: Cursor) -> Draft | None:
        """The draft of the table whose name stands at the cursor. None if no CREATE TABLE of it was
        read, which is noted, or if the table is left out, which is noted already.
        """
        draft = self.drafts.get(self.take_table_name(cursor))
        if draft is None:
            cursor.skip_until()
            cursor.note(0, _NOT_READ)
        return None if draft is None or draft.left_out else draft

    def create_table(self, cursor: Cursor) -> None:
        """Reads CREATE TABLE. Raises UsageError for a table that was read already."""
        cursor.expect("CREATE")
        replaced = cursor.accept("OR REPLACE")
        cursor.accept("GLOBAL", "LOCAL")
        temporary = cursor.accept("TEMPORARY", "TEMP", "UNLOGGED")
        cursor.expect("TABLE")
        if_not_exists = cursor.accept("IF NOT EXISTS")
        at = cursor.peek().start
        table_name = self.take_table_name(cursor)
        if temporary:
            cursor.note(
                0, f"left out: the log that writers read does not hold {temporary.lower()} tables"
            )
            return
        earlier_draft = self.drafts.get(table_name)
        if earlier_draft is not None and if_not_exists:
            cursor.note(0, "left out: the table is there")
            return
        if earlier_draft is not None and not replaced:
            first_location = earlier_draft.script.location(earlier_draft.at)
            raise cursor.script.error(
                at, f"table {'.'.join(p for p in table_name if p)} was read at {first_location}"
            )
        draft = self.drafts[table_name] = Draft(
            *table_name, cursor.script, at, search_path=self.search_path
        )
        if self.mysql and self.copy_table(draft, cursor):
            return
        if (
            cursor.next_is("LIKE")
            or cursor.next_is("( LIKE/SELECT/WITH/TABLE")
            or not cursor.next_is("(/PARTITION/OF")
        ):
            cursor.skip_until()
            draft.leave_out(cursor, 0, "left out: its columns are another table's or a query's")
        else:
            self.read_definition(draft, cursor)
        if not draft.columns and not draft.left_out:
            draft.leave_out(cursor, 0, "left out: it has no columns")

    def copy_table(self, draft: Draft, cursor: Cursor) -> bool:
        """Gives the draft of MySQL's CREATE TABLE ... LIKE the columns and keys of the table that
        it names. Returns whether it did; a table that was not read, or is left out, cannot be
        copied.
        """
        start = cursor.at
        in_parentheses = cursor.accept("(")
        template = self.drafts.get(self.take_table_name(cursor)) if cursor.accept("LIKE") else None
        if template is None or template.left_out:
            cursor.at = start
            return False
        if in_parentheses:
            cursor.expect(")")
        draft.copy_definition(template)
        return True

    def alter_table(self, cursor: Cursor) -> None:
        """Reads ALTER TABLE. A table that no CREATE TABLE made is noted."""
        cursor.expect("ALTER TABLE")
        cursor.accept("IF EXISTS")
        cursor.accept("ONLY")
        start = cursor.at
        if (
            not self.mysql
            and self.take_table_name(cursor) not in self.drafts
            and cursor.next_is("OWNER/ALTER")
        ):
            return  # pg_dump alters views and sequences as tables
        cursor.at = start  # the name comes again
        draft = self.existing_draft(cursor)
        if draft is None:
            return
        draft.search_path = self.search_path
        if not self.mysql and cursor.accept("SET SCHEMA"):
            self.rename_draft(cursor, draft, draft.table_name._replace(schema=cursor.take_name()))
        elif not self.mysql and cursor.accept("RENAME TO"):
            self.rename_draft(cursor, draft, draft.table_name._replace(name=cursor.take_name()))
        else:
            new_name = ddl_definitions.read_alterations(draft, cursor, self.types)
            if new_name:
                self.rename_draft(cursor, draft, draft.resolve_name(new_name))

    def rename_tables(self, cursor: Cursor) -> None:
        """Reads RENAME TABLE, also of several tables, one after the other."""
        cursor.expect("RENAME")
        # What follows this word is one text to the tokenizer.
        cursor = cursor.script.words(Span(cursor.words[0].start + len("RENAME"), cursor.end))
        cursor.expect("TABLE/TABLES")
        cursor.accept("IF EXISTS")
        for item in cursor.split_at_commas():
            draft = self.existing_draft(item)
            if draft is not None:
                item.expect("TO")
                self.rename_draft(item, draft, draft.resolve_name(item.take_names()))

    def rename_draft(self, cursor: Cursor, draft: Draft, new_name: TableName) -> None:
        """Gives a table another name, also in the foreign keys that refer to it. Raises UsageError
        for the name of a table that is there.
        """
        old_name = draft.table_name
        if new_name != old_name and new_name in self.drafts:
            raise cursor.script.error(
                cursor.words[0].start, f"table {'.'.join(p for p in new_name if p)} is there"
            )
        del self.drafts[old_name]
        draft.database, draft.schema, draft.name = new_name
        self.drafts[new_name] = draft
        for referring in self.drafts.values():
            referring.foreign = [
                (replace(key, parent=new_name) if key.parent == old_name else key, pending)
                for key, pending in referring.foreign
            ]

    def create_index(self, cursor: Cursor) -> None:
        """Reads CREATE INDEX. An index of a table that was not read is noted."""
        cursor.expect("CREATE")
        start = cursor.at
        unique = cursor.accept("UNIQUE", "FULLTEXT", "SPATIAL") == "UNIQUE"
        cursor.expect("INDEX")
        cursor.accept("CONCURRENTLY")
        cursor.accept("IF NOT EXISTS")
        name = "" if cursor.next_is("ON") else cursor.take_name()
        cursor.accept("USING BTREE", "USING HASH")
        before = cursor.at
        cursor.expect("ON")
        cursor.accept("ONLY")
        draft = self.existing_draft(cursor)
        if draft is not None and self.mysql:
            words = [*cursor.words[start:before], *cursor.words[cursor.at :]]
            ddl_definitions.read_constraint(draft, Cursor(cursor.script, words, cursor.end))
        elif draft is not None:
            ddl_postgresql.read_index(draft, cursor, name, unique=unique)

    def drop_index(self, cursor: Cursor) -> None:
        """Reads DROP INDEX: MySQL's of one index of a table, PostgreSQL's of indexes of any tables.
        An index that was not read is passed over. `Draft.rename_index` with the new name "" drops
        an index.
        """
        cursor.expect("DROP INDEX")
        if not self.mysql:
            cursor.accept("CONCURRENTLY")
        cursor.accept("IF EXISTS")
        if self.mysql:
            name = cursor.take_name()
            cursor.expect("ON")
            draft = self.existing_draft(cursor)
            if draft is not None and name.upper() == "PRIMARY":
                draft.drop_primary_key()
            elif draft is not None:
                draft.rename_index(name, "")
            cursor.skip_until()  # ALGORITHM and LOCK
            return
        for item in cursor.split_at_commas():
            schema, name = self.take_table_name(item)[1:]
            for draft in self.drafts.values():
                if draft.schema == schema:
                    draft.rename_index(name, "")

    def rename_index(self, cursor: Cursor) -> None:
        """Reads PostgreSQL's ALTER INDEX ... RENAME TO, whose index may be that of a key. An index
        that was not read is passed over.
        """
        cursor.expect("ALTER INDEX")
        cursor.accept("IF EXISTS")
        schema, name = self.take_table_name(cursor)[1:]
        cursor.expect("RENAME TO")
        new_name = cursor.take_name()
        for draft in self.drafts.values():
            if draft.schema == schema and draft.is_primary_key(name):
                draft.primary_name = new_name
            elif draft.schema == schema:
                draft.rename_index(name, new_name)

    def drop_table(self, cursor: Cursor) -> None:
        """Reads DROP TABLE: the tables are forgotten."""
        cursor.expect("DROP TABLE")
        cursor.accept("IF EXISTS")
        for item in cursor.split_at_commas():
            self.drafts.pop(self.take_table_name(item), None)

    def comment(self, cursor: Cursor) -> None:
        """Reads COMMENT ON TABLE and COMMENT ON COLUMN of tables that were read."""
        statement_kind = cursor.accept("COMMENT ON TABLE", "COMMENT ON COLUMN")
        if statement_kind.endswith("TABLE"):
            draft, column = self.drafts.get(self.take_table_name(cursor)), ""
        else:
            *names, column = cursor.take_names()
            if not names:
                raise cursor.expectation_error("a table's column")
            draft = self.drafts.get(self.take_table_name(cursor, names))
        cursor.expect("IS")
        # An empty text takes the comment away, too.
        comment_text = (None if cursor.next_is("NULL") else cursor.take().text) or None
        if draft and column:
            draft.change_column(column, comment=comment_text)
        elif draft:
            draft.comment = comment_text

    def schema(self) -> Schema:
        """The tables that exist after the last statement of all scripts."""
        return finish_schema(self.drafts, self.dialect, self.scripts)


_STATEMENTS: Final[tuple[tuple[re.Pattern[str], Callable[[DdlReader, Cursor], None]], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), action)
    for pattern, action in (
        (
            r"create\s+(?:or\s+replace\s+)?(?:(?:global|local)\s+)?(?:temp(?:orary)?\s+|unlogged\s+)?table\b",
            lambda reader, cursor: reader.create_table(cursor),
        ),
        (r"alter\s+table\b", lambda reader, cursor: reader.alter_table(cursor)),
        (rf"create\s+{INDEX_KINDS}index\b", lambda reader, cursor: reader.create_index(cursor)),
        (r"drop\s+index\b", lambda reader, cursor: reader.drop_index(cursor)),
        (
            r"alter\s+index\s+(?:if\s+exists\s+)?[^\s;]+\s+rename\s+to\b",
            lambda reader, cursor: reader.rename_index(cursor),
        ),
        (r"drop\s+table\b", lambda reader, cursor: reader.drop_table(cursor)),
        (r"rename\s+tables?\b", DdlReader.rename_tables),
        (r"comment\s+on\s+(?:table|column)\b", DdlReader.comment),
        (r"create\s+type\b", lambda reader, cursor: reader.types.create_type(cursor)),
        (r"alter\s+type\b", lambda reader, cursor: reader.types.add_label(cursor)),
        (r"create\s+domain\b", lambda reader, cursor: reader.types.create_domain(cursor)),
    )
)
"""The beginnings of statements that change tables or types, and what reads each."""
