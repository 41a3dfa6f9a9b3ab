"""The character sets of MySQL's texts: those that the server has, and those that statements told
the connector (debezium#converted-tables).

The connector reads the bytes of a text by the character set that it knows. Where the server has
another one, the text in the row is not the text at the source.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.formats.debezium_json.column_definitions import (
    StatedCharset,
    TableCharsets,
    TextDefinition,
    bare_name,
    charset_of_collation,
    copied_table,
    text_definitions,
)
from generators.model import Column, Logical, Row, SchemaChange, Table
from generators.sources import mysql

_Place = tuple[str, str]
"""A table: the names of its database and of itself."""

SERVER: Final = "utf8mb4"
"""The character set of the server, of which a snapshot told the connector."""

_READ_CODECS: Final[Mapping[str, str]] = {**mysql.CODECS, "koi8u": "koi8-r"}
"""Python's codec by which the connector reads each character set, as MySQL's driver names Java's
(CharsetMapping of Connector/J 8.0 to 9.1): KOI8-R for koi8u, too.
"""

_RENAMED: Final = re.compile(
    r"\b(?:CHANGE\s+(?:COLUMN\s+)?|RENAME\s+COLUMN\s+)(`(?:[^`]|``)+`|\w+)\s+(?:TO\s+)?"
    r"(`(?:[^`]|``)+`|\w+)",
    re.IGNORECASE,
)
"""The old and the new name of a column in CHANGE or RENAME COLUMN."""


@dataclass(frozen=True, slots=True)
class _Charset:
    """The character set of a column or a table: `server` is what the server has, `read` what the
    connector has read, None if it knows none.
    """

    server: str
    read: str | None

    @property
    def server_codec(self) -> str:
        """Python's codec of the bytes in the log, "" for a character set that is not known here."""
        return _codec_name(mysql.CODECS.get(self.server.lower(), ""))

    @property
    def read_codec(self) -> str:
        """Python's codec by which the connector reads the bytes, UTF-8 where it knows no character
        set; "" for one that is not known here.
        """
        return _codec_name(_READ_CODECS.get((self.read or SERVER).lower(), ""))


@dataclass(slots=True)
class _TableTexts:
    """The character sets of a table's texts: `default`, which new columns get, and that of each
    text column.
    """

    default: _Charset
    columns: dict[str, _Charset] = field(default_factory=dict)


@dataclass(slots=True)
class KnownCharsets:
    """The character sets of databases, tables and columns: those that the server has, and those
    that the connector has read in statements. The writer tells it of each statement
    (`follow_statement`), and asks what the connector knows (`of_table`, `described`) and how it
    reads a row (`read_row`). `follows_conversions`: the connector understands CONVERT TO CHARACTER
    SET.
    """

    follows_conversions: bool
    databases: dict[str, _Charset] = field(default_factory=dict)
    tables: dict[_Place, _TableTexts] = field(default_factory=dict)

    def follow_statement(self, event: SchemaChange) -> None:
        """Follows what a statement says of the character sets of its database or table."""
        place = (event.database, event.table)
        if event.action == "create database":
            stated = StatedCharset.of_options(event.sql)
            server = stated.charset or charset_of_collation(stated.collation) or SERVER
            self.databases[event.database] = _Charset(server, stated.charset or None)
        if event.old_name and (event.database, event.old_name) in self.tables:
            self.tables[place] = self.tables.pop((event.database, event.old_name))
        if not event.table or event.after is None:
            return
        if event.action == "create table":
            self._create_table(event, event.after)
        else:
            self._alter_table(event, event.after)

    def of_table(self, database: str, table: str) -> str | None:
        """The character set that the connector knows of a table, None for none."""
        texts = self.tables.get((database, table))
        return texts.default.read if texts else self._charset_of_new_tables(database).read

    def described(self, table: Table, columns: list[dict[str, Any]]) -> None:
        """Gives the descriptions of a table's text columns in `tableChanges` the character sets
        that the connector knows.
        """
        texts = self.tables.get((table.database, table.name))
        for column in columns if texts else ():
            charset = texts.columns.get(column["name"]) if texts else None
            if charset is not None:
                column["charsetName"] = charset.read

    def read_row(self, table: Table, logged_row: Row) -> Row:
        """A row of the log as the connector reads it: each text whose column has another character
        set at the server than the connector knows is misread.
        """
        texts = self.tables.get((table.database, table.name))
        misread = (
            {name: c for name, c in texts.columns.items() if c.read_codec != c.server_codec}
            if texts
            else {}
        )
        if misread.keys().isdisjoint(logged_row):
            return logged_row
        is_text = {c.name for c in table.columns if c.type.logical is Logical.TEXT}
        return {
            name: _misread(value, misread[name])
            if isinstance(value, str) and name in misread and name in is_text
            else value
            for name, value in logged_row.items()
        }

    def _charset_of_new_tables(self, database: str) -> _Charset:
        """The character set of a database's new tables, by the server and by the connector: that
        which its CREATE DATABASE names. If it names none, the server uses that of its collation, or
        its own, and the connector knows none (`read` is None); of a database that no statement made
        both have the server's.
        """
        return self.databases.get(database, _Charset(SERVER, SERVER))

    def _create_table(self, event: SchemaChange, after: Table) -> None:
        """Follows a CREATE TABLE. One LIKE another table takes that table's character sets."""
        place = (event.database, event.table)
        if copied := copied_table(event):
            template = self.tables.get(copied)
            self.tables.pop(place, None)
            if template:
                self.tables[place] = replace(template, columns=dict(template.columns))
            return
        default = self._charset_of_new_tables(event.database)
        stated = StatedCharset.of_table(event.sql)
        if stated.charset:
            default = _Charset(stated.charset, stated.charset)
        elif stated.collation:
            default = replace(default, server=charset_of_collation(stated.collation))
        self.tables[place] = texts = _TableTexts(default)
        _define_columns(texts, event, after)

    def _alter_table(self, event: SchemaChange, after: Table) -> None:
        """Follows a statement on a table other than its CREATE TABLE, which no earlier statement
        may have shown. Each `_Charset` has what the server has and what the connector has read.

        A new default character set of the table is the server's alone: the connector follows none
        but that of CONVERT TO, from some release on (`follows_conversions`;
        debezium#converted-tables). CONVERT TO gives all columns its character set, ALTER ...
        DEFAULT only those that are added later.
        """
        place = (event.database, event.table)
        if place not in self.tables:
            default = self._charset_of_new_tables(event.database)
            before = event.before or after
            columns = {
                c.name: _undefined_charset(c, default) for c in before.columns if _is_text(c)
            }
            self.tables[place] = _TableTexts(default, columns)
        texts = self.tables[place]
        clauses = TableCharsets.parse(event.sql)
        new_default = clauses.converted or clauses.default
        if new_default:
            texts.default = replace(texts.default, server=new_default)
        for old_name, new_name in _RENAMED.findall(event.sql):
            if moved_charset := texts.columns.pop(bare_name(old_name), None):
                texts.columns[bare_name(new_name)] = moved_charset
        _define_columns(texts, event, after)
        if clauses.converted:
            texts.columns = {
                name: self._converted(charset, clauses.converted)
                for name, charset in texts.columns.items()
            }
            if self.follows_conversions:
                texts.default = replace(texts.default, read=clauses.converted)

    def _converted(self, charset: _Charset, converted: str) -> _Charset:
        """A column's character set after CONVERT TO the character set `converted`: the server's is
        the new one; the connector's, too, if it follows conversions. A column of which it knew none
        then has that of the table (TableEditorImpl.create).
        """
        return _Charset(converted, converted if self.follows_conversions else charset.read)


def _define_columns(texts: _TableTexts, event: SchemaChange, after: Table) -> None:
    """Gives each text column that a statement defines its character set, and forgets columns that
    are gone.
    """
    definitions = text_definitions(event.sql, after.columns)
    for column in filter(_is_text, after.columns):
        definition = definitions.get(column.name)
        if definition is not None:
            texts.columns[column.name] = _Charset(
                definition.charset or texts.default.server,
                definition.read_charset or texts.default.read,
            )
        elif column.name not in texts.columns:
            texts.columns[column.name] = _undefined_charset(column, texts.default)
    names = {column.name for column in after.columns}
    texts.columns = {name: charset for name, charset in texts.columns.items() if name in names}


def _undefined_charset(column: Column, default: _Charset) -> _Charset:
    """The character set of a column whose definition no statement has shown: that of its declared
    type, the one that the model gives it, or the default.
    """
    declared = TextDefinition.parse(column.declared)
    if declared.charset:
        return _Charset(declared.charset, declared.read_charset or default.read)
    return _Charset(column.charset, column.charset) if column.charset else default


def _is_text(column: Column) -> bool:
    """Whether the connector keeps a character set for the column: a text, ENUM or SET, but not
    MariaDB's JSON, which is a text there.
    """
    is_json = column.declared[:4].upper() == "JSON"
    return column.type.logical in (Logical.TEXT, Logical.ENUM, Logical.SET) and not is_json


def _codec_name(name: str) -> str:
    """The one name that Python has for a codec of this name or alias; "" for ""."""
    return codecs.lookup(name).name if name else ""


def _misread(source_text: str, charset: _Charset) -> str:
    """The text that the connector makes of a text's bytes, if it reads them by another character
    set than the server wrote them; unchanged for a character set that Python has not.
    """
    server, read = charset.server_codec, charset.read_codec
    if not server or not read:
        return source_text
    return source_text.encode(server, "replace").decode(read, "replace")
