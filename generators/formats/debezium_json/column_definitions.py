"""The definitions of text columns in MySQL's CREATE TABLE and ALTER TABLE, and what these
statements say of character sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, Self

from generators.model import Column, Logical, SchemaChange

_NAME: Final = r"(`(?:[^`]|``)+`|\w+)"
"""A name in SQL, with or without back-ticks."""
_LIKE: Final = re.compile(rf"\bLIKE\s+(?:{_NAME}\.)?{_NAME}\s*$", re.IGNORECASE)
"""The table, perhaps with its database, that a CREATE TABLE LIKE copies."""
_TEXT_TYPES: Final = (
    r"(?:(?:VAR|N|NVAR)?CHAR\b|CHARACTER\b|NATIONAL\b|(?:TINY|MEDIUM|LONG)?TEXT\b|LONG\b"
    r"|(?:ENUM|SET)(?=\s*\())"
)
"""The beginnings of the types whose columns hold texts."""
_LITERAL: Final = re.compile(r"'(?:[^'\\]|''|\\.)*'", re.DOTALL)
"""A text literal of SQL in single quotes."""
_CLAUSE: Final = (
    r"(?:[^,()']|\((?:[^()']|'(?:[^'\\]|''|\\.)*'|\([^()]*\))*\)|'(?:[^'\\]|''|\\.)*')*"
)
"""What goes up to the next comma or the end of the parentheses that hold it."""
_CLAUSE_PART: Final = rf"{_CLAUSE}(?:,|$)"
"""A clause with the comma behind it, or at the end of the list."""
_CLAUSE_LIST: Final = rf"(?:{_CLAUSE},)*{_CLAUSE}"
"""All clauses up to the end of the parentheses that hold them."""
_CHARSET: Final = r"\b(?:CHARACTER\s+SET|CHARSET)\s*=?\s*'?(\w+)"
"""The words that give a character set; the group is its name."""
_COLLATE: Final = r"\bCOLLATE\s*=?\s*'?(\w+)"
"""The words that give a collation; the group is its name."""
_OF_TYPE: Final = re.compile(
    r"(?:NATIONAL\s+|LONG\s+)?\w+(?:\s+VARYING)?\s*(?:\(\s*\d+\s*\))?\s*(?:BINARY\b\s*)?"
    rf"(?:{_CHARSET}\b'?)?\s*(?:{_COLLATE})?",
    re.IGNORECASE,
)
"""A type, with the character set and the collation that stand right behind it."""
_LABELS: Final = re.compile(r"(ENUM|SET)\s*\((?:[^()']|'(?:[^'\\]|''|\\.)*')*\)", re.IGNORECASE)
"""ENUM or SET with its labels in parentheses."""
_ANY_CHARSET: Final = re.compile(_CHARSET, re.IGNORECASE)
"""A character set anywhere in a definition; the group is its name."""
_ANY_COLLATION: Final = re.compile(_COLLATE, re.IGNORECASE)
"""A collation anywhere in a definition; the group is its name."""
_SHORT_FORM: Final = re.compile(r"\b(ASCII|UNICODE)\b", re.IGNORECASE)
"""A short word in a definition that stands for a character set, a key of `_SHORT_FORMS`."""
_SHORT_FORMS: Final = {"ascii": "latin1", "unicode": "ucs2"}
"""The character set that each short word in a definition names."""
_NATIONAL: Final = re.compile(r"N(?:ATIONAL\b|VAR|CHAR)", re.IGNORECASE)
"""The beginning of NCHAR, NVARCHAR and NATIONAL CHAR types, whose character set is utf8."""
_COLLATED_DEFAULT: Final = re.compile(
    r"\bDEFAULT\s+('(?:[^'\\]|''|\\.)*')\s*COLLATE\s+(\w+)", re.IGNORECASE
)
"""A text as default, with the COLLATE behind it."""


def charset_of_collation(collation: str) -> str:
    """The character set of a collation: what stands before the first underscore of its name."""
    return collation.partition("_")[0]


@dataclass(frozen=True, slots=True)
class TextDefinition:
    """What the definition of a text column in a statement says. `charset` is the character set that
    the server takes from it, `read_charset` the one that the connector takes, both "" for the
    table's; `collated_default` is the text of a default that a COLLATE follows
    (debezium#collated-defaults), "" without one.
    """

    charset: str
    read_charset: str
    collated_default: str = ""

    @classmethod
    def parse(cls, definition: str) -> Self:
        """Reads the definition of a text column, from the type on. The server takes a collation
        from anywhere in it; the connector only from right behind the type, and not for ENUM and
        SET.
        """
        default = _COLLATED_DEFAULT.search(definition)
        collated = f"{default[1]}COLLATE{default[2]}" if default else ""
        if _NATIONAL.match(definition):
            return cls("utf8", "utf8", collated)
        labels_type = _LABELS.match(definition)
        words = _LITERAL.sub("''", definition)
        charset, collation, short = (
            pattern.search(words) for pattern in (_ANY_CHARSET, _ANY_COLLATION, _SHORT_FORM)
        )
        server_charset = ""
        if charset:
            server_charset = charset[1]
        elif collation:
            server_charset = charset_of_collation(collation[1])
        elif short:
            server_charset = _SHORT_FORMS[short[1].lower()]
        if labels_type:
            return cls(server_charset, charset[1] if charset else "", collated)
        type_match = _OF_TYPE.match(definition)
        own_charset, own_collation = (type_match[1], type_match[2]) if type_match else (None, None)
        read_charset = own_charset or charset_of_collation(own_collation or "")
        return cls(server_charset, read_charset, collated)


@lru_cache(maxsize=256)
def _masked(sql: str) -> str:
    """The statement, in the same length, with `_` in place of what a literal with a blank holds but
    for blanks, commas and parentheses, so that no two words of such a text (as a comment)
    are taken for a column and its type. A literal without a blank has no two words.
    """
    return _LITERAL.sub(_mask_literal, sql)


def _mask_literal(literal: re.Match[str]) -> str:
    """The literal with `_` in place of its letters, quotes and back-slashes, if it has a blank; it
    stays as long as it is.
    """
    text = literal[0][1:-1]
    if not re.search(r"\s", text):
        return literal[0]
    masked_text = re.sub(r"[^\s,()]", "_", text)
    return f"'{masked_text}'"


_COLUMN_LIST: Final = re.compile(
    rf"\s*CREATE\b[^('`]*(?:`(?:[^`]|``)+`[^('`]*)*\({_CLAUSE_LIST}\)", re.IGNORECASE
)
"""A CREATE TABLE up to the end of its columns."""


class StatedCharset(NamedTuple):
    """The character set and the collation in the options of a table or a database, each "" where
    the statement has none.
    """

    charset: str
    collation: str

    @classmethod
    def of_table(cls, sql: str) -> Self:
        """Reads what stands behind the columns of a CREATE TABLE."""
        masked = _masked(sql)
        columns = _COLUMN_LIST.match(masked)
        return cls.of_options(masked[columns.end() :] if columns else masked.rpartition(")")[2])

    @classmethod
    def of_options(cls, options: str) -> Self:
        """Reads the options of a table, or a CREATE DATABASE: the first of each counts."""
        charset, collation = (p.search(options) for p in (_ANY_CHARSET, _ANY_COLLATION))
        return cls(charset[1] if charset else "", collation[1] if collation else "")


def text_definitions(sql: str, columns: Iterable[Column]) -> Mapping[str, TextDefinition]:
    """The definitions that a CREATE TABLE or ALTER TABLE gives of these columns, by their names;
    only columns of texts, ENUM and SET are looked for. If a statement has several of a column, the
    last one counts. Places in the masked statement are those in the statement itself, as both have
    one length.
    """
    masked = _masked(sql)
    definitions: dict[str, TextDefinition] = {}
    for column in columns:
        if column.type.logical not in (Logical.TEXT, Logical.ENUM, Logical.SET):
            continue
        quoted = re.escape("`" + column.name.replace("`", "``") + "`")
        plain = rf"(?<![\w`$.]){re.escape(column.name)}"
        pattern = rf"(?:{quoted}|{plain})\s+({_TEXT_TYPES}{_CLAUSE})"
        places = [match.span(1) for match in re.finditer(pattern, masked, re.IGNORECASE)]
        if places:
            start, end = places[-1]
            definitions[column.name] = TextDefinition.parse(sql[start:end])
    return definitions


_ALTER: Final = re.compile(
    r"\s*ALTER\s+(?:ONLINE\s+)?(?:IGNORE\s+)?TABLE\s+(?:IF\s+EXISTS\s+)?(?:`(?:[^`]|``)+`|\w+)"
    r"(?:\.(?:`(?:[^`]|``)+`|\w+))?\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
"""An ALTER TABLE up to its clauses, which are the group."""
_CONVERSION: Final = re.compile(rf"\s*CONVERT\s+TO\s+{_CHARSET}", re.IGNORECASE)
"""A clause that converts the table to a character set."""
_NEW_DEFAULT: Final = re.compile(rf"\s*(?:DEFAULT\s+)?(?:{_CHARSET}|{_COLLATE})", re.IGNORECASE)
"""A clause that gives the table a new character set or collation for later columns."""


@dataclass(frozen=True, slots=True)
class TableCharsets:
    """What an ALTER TABLE says of the table's character sets, "" for nothing: the one to which it
    converts the table, and the one that later columns get.
    """

    converted: str = ""
    default: str = ""

    @classmethod
    def parse(cls, sql: str) -> Self:
        """Reads the clauses of an ALTER TABLE."""
        alter = _ALTER.match(_masked(sql))
        converted = default = ""
        for clause in re.findall(rf"{_CLAUSE}(?:,|$)", alter[1]) if alter else ():
            if conversion := _CONVERSION.match(clause):
                converted = conversion[1]
            elif option := _NEW_DEFAULT.match(clause):
                default = option[1] or charset_of_collation(option[2])
        return cls(converted, default)


_ADDS_LIST: Final = re.compile(r"\bADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?\(", re.IGNORECASE)
"""The beginning of ADD COLUMN (...), a list of columns in parentheses."""
_LISTED_NAME: Final = re.compile(r"\s*(`(?:[^`]|``)+`|\w+)\s+(.*)", re.DOTALL)
"""The name of a column in a list, and its definition."""
_LISTED_KEY: Final = re.compile(
    r"\s*(?:CONSTRAINT|PRIMARY|UNIQUE|KEY|INDEX|FOREIGN|CHECK|FULLTEXT|SPATIAL|PERIOD)\b",
    re.IGNORECASE,
)
"""The beginning of a key or a constraint in a list of columns."""
_NULL_WORDS: Final = re.compile(
    r"(?<!DEFAULT )\b(NOT\s+NULL|NULL|PRIMARY\s+KEY)\b|^(SERIAL)\b", re.IGNORECASE
)
"""The words of a definition that decide whether its column may be NULL."""
_DEFAULT_WORD: Final = re.compile(r"\bDEFAULT\b", re.IGNORECASE)
"""The word before a column's default."""


@dataclass(frozen=True, slots=True)
class ListedColumn:
    """A column in the parentheses of ADD COLUMN (...): its name; whether its definition says that
    it is `nullable`, None where it does not say; and in `before_default` whether it says so before
    a DEFAULT.
    """

    name: str
    nullable: bool | None
    before_default: bool

    @classmethod
    def parse(cls, definition: str) -> Self | None:
        """Reads one definition of the list; None for a key or a constraint."""
        name_match = _LISTED_NAME.match(definition)
        if name_match is None or _LISTED_KEY.match(definition):
            return None
        null_word = _NULL_WORDS.search(name_match[2])
        nullable = None if null_word is None else null_word[0].upper() == "NULL"
        before_default = null_word is not None and bool(
            _DEFAULT_WORD.search(name_match[2], null_word.end())
        )
        return cls(name_match[1].strip("`").replace("``", "`"), nullable, before_default)


def listed_columns(sql: str) -> Iterator[tuple[ListedColumn, ...]]:
    """The columns of each ADD COLUMN (...) of an ALTER TABLE. A list with a key among the columns
    is left out: the connector reads it by another rule of its grammar.
    """
    alter = _ALTER.match(_LITERAL.sub(_blank_literal, sql))
    for added in _ADDS_LIST.finditer(alter[1]) if alter else ():
        list_match = re.match(_CLAUSE_LIST, added.string[added.end() :])
        definitions = re.findall(_CLAUSE_PART, list_match[0]) if list_match else []
        columns = [ListedColumn.parse(definition) for definition in filter(None, definitions)]
        if all(columns):
            yield tuple(column for column in columns if column)


def _blank_literal(literal: re.Match[str]) -> str:
    """The quotes of a literal with as many blanks between them, so that no word in it counts."""
    return "'" + " " * (len(literal[0]) - 2) + "'"


def read_nullability(columns: Sequence[ListedColumn]) -> Mapping[str, bool]:
    """Whether the connector takes each column of a list for nullable, by name
    (debezium#listed-columns). It has a fault: the words NULL or NOT NULL of a definition also count
    for the next column, if that has none itself; and those of the last column count only if a
    DEFAULT follows them. Without such words a column is nullable.
    """
    nullability: dict[str, bool] = {}
    carried: bool | None = None
    for number, column in enumerate(columns, 1):
        is_heard = number < len(columns) or column.before_default
        own_word = column.nullable if is_heard else None
        nullability[column.name] = next(
            (word for word in (own_word, carried) if word is not None), True
        )
        carried = column.nullable
    return nullability


class TableName(NamedTuple):
    """A table: the names of its database and of itself."""

    database: str
    table: str


def bare_name(name: str) -> str:
    """A name in SQL without its back-ticks."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def copied_table(event: SchemaChange) -> TableName | None:
    """The table that a CREATE TABLE LIKE copies; None for any other statement. A name without a
    database is one of the statement's own database.
    """
    like = _LIKE.search(event.sql) if event.action == "create table" else None
    if like is None:
        return None
    database = bare_name(like[1]) if like[1] else event.database
    return TableName(database, bare_name(like[2]))
