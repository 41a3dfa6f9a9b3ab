"""DDL as TiCDC sends it: restored by TiDB's parser from the statement that the user wrote (ticdc#ddl-restored).

Words are in upper case, names in back quotes, texts in expressions have an introducer, TiDB's own features stand in comments.
Only the statements of the histories are read; another one raises Refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from generators.errors import Refused
from generators.sources.mysql import quote

_TOKEN: Final = re.compile(
    r"""\s+|(?P<name>`(?:[^`]|``)+`)|(?P<bits>[bBxX]'[0-9a-fA-F]*')|(?P<text>'(?:[^'\\]|''|\\.)*')"""
    r"""|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>[^\W\d]\w*)|(?P<sign>[^\s\w])""",
    re.DOTALL,
)
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_TYPES: Final = {"BOOL": "TINYINT(1)", "BOOLEAN": "TINYINT(1)", "INTEGER": "INT", "NUMERIC": "DECIMAL", "DEC": "DECIMAL"}
_NOW: Final = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
_CONSTANTS: Final = ("TRUE", "FALSE", "NULL", "INTERVAL", "DAY", "HOUR", "MINUTE", "MONTH", "YEAR")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


def _tokens(sql: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(sql):
        if match.lastgroup:
            yield _Token(match.lastgroup, match[0])


def unquoted(literal: str) -> str:
    """A text literal's text: quotes off, doubled quotes and backslash escapes resolved."""
    return re.sub(r"''|\\(.)", lambda m: "'" if m[1] is None else _ESCAPES.get(m[1], m[1]), literal[1:-1], flags=re.DOTALL)


def _text(literal: str, introducer: str = "") -> str:
    # TiDB doubles the quotes of a restored text and leaves its backslashes alone
    return introducer + "'" + unquoted(literal).replace("'", "''") + "'"


def _number(literal: str) -> str:
    if "e" not in literal.lower():
        return literal
    digits, exponent = f"{Decimal(literal).normalize():e}".split("e")
    return f"{digits}e{exponent[0]}{exponent[1:]:0>2}"


@lru_cache(4096)
def restored(sql: str) -> str:
    """The statement as TiDB's parser restores it. Raises Refused for a statement that is not known here."""
    statement = _Statement(sql, tuple(_tokens(sql)))
    text = statement.restored()
    if not statement.ended:
        raise statement.refused()
    return text


@dataclass(slots=True)
class _Statement:
    """Reads one statement from the left."""

    sql: str
    tokens: tuple[_Token, ...]
    at: int = field(default=0)

    def refused(self) -> Refused:
        return Refused(f"TiDB's form of this statement is not known here, from token {self.at + 1} on: {self.sql}")

    @property
    def ended(self) -> bool:
        return self.at >= len(self.tokens)

    def take(self) -> _Token:
        if self.ended:
            raise self.refused()
        self.at += 1
        return self.tokens[self.at - 1]

    def next_is(self, *texts: str) -> bool:
        """Whether these words or signs follow."""
        found = self.tokens[self.at : self.at + len(texts)]
        return len(found) == len(texts) and all(
            token.kind in ("word", "sign") and token.text.upper() == text for token, text in zip(found, texts, strict=True)
        )

    def skip(self, *texts: str) -> bool:
        """Goes past these words if they follow."""
        if not self.next_is(*texts):
            return False
        self.at += len(texts)
        return True

    def expect(self, *texts: str) -> str:
        if not self.skip(*texts):
            raise self.refused()
        return " ".join(texts)

    def plain_name(self) -> str:
        token = self.take()
        if token.kind not in ("name", "word"):
            raise self.refused()
        return quote(token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text)

    def name(self) -> str:
        """A name, qualified or not."""
        found = self.plain_name()
        return f"{found}.{self.plain_name()}" if self.skip(".") else found

    def listed(self, one: Callable[[], str], separator: str) -> str:
        found = [one()]
        while self.skip(","):
            found.append(one())
        return separator.join(found)

    def bracketed(self, one: Callable[[], str], separator: str) -> str:
        self.expect("(")
        found = self.listed(one, separator)
        self.expect(")")
        return f"({found})"

    def columns(self) -> str:
        return self.bracketed(self.plain_name, ", ")

    def literal(self) -> str:
        token = self.take()
        return _text(token.text) if token.kind == "text" else token.text

    def expression(self) -> str:
        """An expression up to the bracket or comma that it does not open, or to a word that ends it."""
        parts: list[str] = []
        depth = 0
        while not self.ended:
            token = self.tokens[self.at]
            word = token.text.upper()
            if depth == 0 and (
                token.text in ",)" or (parts and token.kind == "word" and word not in _CONSTANTS and parts[-1][-1] not in "+-*/ ")
            ):
                break
            self.at += 1
            called = self.next_is("(")
            if token.kind == "text":
                parts.append(_text(token.text, "_UTF8MB4"))
            elif token.kind == "number":
                parts.append(_number(token.text))
            elif token.kind == "word" and word in _NOW:
                parts.append("CURRENT_TIMESTAMP" if called else "CURRENT_TIMESTAMP()")
            elif token.kind == "word" and (called or word in _CONSTANTS):
                parts.append(word)
            elif token.kind in ("word", "name"):
                parts.append(quote(token.text.strip("`")))
            else:
                depth += {"(": 1, ")": -1}.get(token.text, 0)
                parts.append(", " if token.text == "," else token.text)
        if "INTERVAL" in parts:
            place = parts.index("INTERVAL")
            parts[place - 1 :] = [" ", parts[place - 1], " ", " ".join(parts[place:])]
        return "".join(parts)

    def restored(self) -> str:
        if self.skip("CREATE"):
            return self.create()
        if self.skip("ALTER", "TABLE"):
            table = self.name()
            return f"ALTER TABLE {table}" if self.ended else f"ALTER TABLE {table} {self.listed(self.change, ', ')}"
        if self.skip("ALTER", "DATABASE"):
            return f"ALTER DATABASE {self.name()}{self.database_options()}"
        if self.skip("DROP", "INDEX"):
            return f"DROP INDEX {self.plain_name()} {self.expect('ON')} {self.name()}"
        for words in (("DROP", "DATABASE"), ("DROP", "TABLE"), ("DROP", "VIEW"), ("RECOVER", "TABLE"), ("TRUNCATE", "TABLE")):
            if self.skip(*words):
                existing = " IF EXISTS" if self.skip("IF", "EXISTS") else ""
                return f"{' '.join(words)}{existing} {self.listed(self.name, ', ')}"
        self.expect("RENAME", "TABLE")
        return "RENAME TABLE " + self.listed(lambda: f"{self.name()} {self.expect('TO')} {self.name()}", ", ")

    def create(self) -> str:
        if self.skip("DATABASE"):
            return f"CREATE DATABASE {self.absent()}{self.name()}{self.database_options()}"
        if self.skip("SEQUENCE"):
            return f"CREATE SEQUENCE {self.name()}"
        if self.skip("VIEW"):
            head = "CREATE ALGORITHM = UNDEFINED DEFINER = CURRENT_USER SQL SECURITY DEFINER VIEW"
            view = f"{self.name()} {self.expect('AS', 'SELECT')}"
            fields = self.listed(self.selected, ",")
            return f"{head} {view} {fields}" + (f" FROM {self.name()}" if self.skip("FROM") else "")
        unique = "UNIQUE " if self.skip("UNIQUE") else ""
        if unique or self.next_is("INDEX"):
            self.expect("INDEX")
            return f"CREATE {unique}INDEX {self.plain_name()} {self.expect('ON')} {self.name()} {self.columns()}"
        self.expect("TABLE")
        table = self.absent() + self.name()
        if self.skip("LIKE"):
            return f"CREATE TABLE {table} LIKE {self.name()}"
        text = f"CREATE TABLE {table} {self.bracketed(self.element, ',')}"
        while not self.ended:
            text += " " + (self.partitioning() if self.next_is("PARTITION") else self.table_option())
        return text

    def absent(self) -> str:
        return "IF NOT EXISTS " if self.skip("IF", "NOT", "EXISTS") else ""

    def selected(self) -> str:
        token = self.tokens[self.at]
        found = self.take().text if token.kind == "number" else self.name()
        return f"{found} AS {self.plain_name()}" if self.skip("AS") else found

    def database_options(self) -> str:
        text = ""
        while not self.ended:
            words = self.expect("CHARACTER", "SET") if self.next_is("CHARACTER") else self.expect("COLLATE")
            self.skip("=")
            text += f" {words} = {self.take().text.lower()}"
        return text

    def table_option(self) -> str:
        self.skip("DEFAULT")
        if self.skip("CHARACTER", "SET") or self.skip("CHARSET"):
            self.skip("=")
            return f"DEFAULT CHARACTER SET = {self.take().text.upper()}"
        if self.skip("COLLATE"):
            self.skip("=")
            return f"DEFAULT COLLATE = {self.take().text.upper()}"
        if self.skip("TTL"):
            self.skip("=")
            return f"/*T![ttl] TTL = {self.expression().strip()} */ /*T![ttl] TTL_ENABLE = 'OFF' */"
        for word in ("AUTO_INCREMENT", "COMMENT", "ENGINE"):
            if self.skip(word):
                self.skip("=")
                return f"{word} = {self.literal()}"
        raise self.refused()

    def partitioning(self) -> str:
        kind = self.expect("PARTITION", "BY") + (" RANGE" if self.skip("RANGE") else f" {self.expect('LIST')}")
        return f"{kind} ({self.inside()}) {self.bracketed(self.partition, ',')}"

    def inside(self) -> str:
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found

    def partition(self) -> str:
        return f"{self.expect('PARTITION')} {self.plain_name()} {self.expect('VALUES', 'LESS', 'THAN')} ({self.inside()})"

    def element(self) -> str:
        return self.constraint() or self.column()

    def constraint(self) -> str:
        if self.skip("PRIMARY", "KEY"):
            return f"PRIMARY KEY{self.columns()}{self.clustered()}"
        if self.skip("CONSTRAINT"):
            head = f"CONSTRAINT {self.plain_name()} {self.expect('FOREIGN', 'KEY')} {self.columns()}"
            return f"{head} {self.expect('REFERENCES')} {self.name()}{self.columns()}"
        word = "UNIQUE" if self.skip("UNIQUE") else ""
        word = "INDEX" if (self.skip("KEY") or self.skip("INDEX")) and not word else word
        if not word:
            return ""
        return f"{word}{self.columns()}" if self.next_is("(") else f"{word} {self.plain_name()}{self.columns()}"

    def clustered(self) -> str:
        kind = next((word for word in ("CLUSTERED", "NONCLUSTERED") if self.skip(word)), "")
        return f" /*T![clustered_index] {kind} */" if kind else ""

    def column(self) -> str:
        text = f"{self.plain_name()} {self.type()}"
        while not (self.ended or self.next_is(",") or self.next_is(")") or self.next_is("FIRST") or self.next_is("AFTER")):
            text += f" {self.column_option()}"
        return text

    def type(self) -> str:
        word = self.take().text.upper()
        text = _TYPES.get(word, word)
        if self.next_is("("):
            arguments = self.bracketed(self.literal, ",")
            if word != "FLOAT" or "," in arguments:
                text += arguments
            elif int(arguments[1:-1]) > 24:
                text = "DOUBLE"
        unsigned, zerofill = self.skip("UNSIGNED"), self.skip("ZEROFILL")
        text += " UNSIGNED" if unsigned or zerofill else ""
        text += " ZEROFILL" if zerofill else ""
        if self.skip("CHARACTER", "SET") or self.skip("CHARSET"):
            text += f" CHARACTER SET {self.take().text.upper()}"
        return text

    def column_option(self) -> str:
        for words in (("NOT", "NULL"), ("NULL",), ("AUTO_INCREMENT",)):
            if self.skip(*words):
                return " ".join(words)
        if self.skip("PRIMARY", "KEY"):
            return f"PRIMARY KEY{self.clustered()}"
        if self.skip("UNIQUE"):
            self.skip("KEY")
            return "UNIQUE KEY"
        if self.skip("DEFAULT"):
            return f"DEFAULT {self.expression()}"
        if self.skip("ON", "UPDATE"):
            return f"ON UPDATE {self.expression()}"
        if self.skip("COMMENT"):
            return f"COMMENT {self.literal()}"
        if self.skip("COLLATE"):
            return f"COLLATE {self.take().text}"
        if self.skip("AUTO_RANDOM"):
            return f"/*T![auto_rand] AUTO_RANDOM{self.bracketed(self.literal, ',')} */"
        self.skip("GENERATED", "ALWAYS")
        self.expect("AS")
        text = f"GENERATED ALWAYS AS({self.inside()})"
        if self.skip("STORED"):
            return f"{text} STORED"
        self.skip("VIRTUAL")
        return f"{text} VIRTUAL"

    def change(self) -> str:
        """One clause of ALTER TABLE."""
        if self.skip("ADD"):
            return self.added()
        if self.skip("MODIFY"):
            return f"MODIFY {self.expect('COLUMN')} {self.placed()}"
        if self.skip("CHANGE"):
            return f"CHANGE {self.expect('COLUMN')} {self.plain_name()} {self.placed()}"
        if self.skip("ALTER", "COLUMN"):
            return f"ALTER COLUMN {self.plain_name()} {self.expect('SET', 'DEFAULT')} {self.expression()}"
        if self.skip("RENAME", "INDEX"):
            return f"RENAME INDEX {self.plain_name()} {self.expect('TO')} {self.plain_name()}"
        if self.skip("RENAME", "TO"):
            return f"RENAME AS {self.name()}"
        if self.skip("DROP", "PRIMARY", "KEY"):
            return "DROP PRIMARY KEY"
        for words in (
            ("DROP", "COLUMN"),
            ("DROP", "INDEX"),
            ("DROP", "FOREIGN", "KEY"),
            ("DROP", "PARTITION"),
            ("TRUNCATE", "PARTITION"),
        ):
            if self.skip(*words):
                return f"{' '.join(words)} {self.plain_name()}"
        if self.skip("EXCHANGE", "PARTITION"):
            return f"EXCHANGE PARTITION {self.plain_name()} {self.expect('WITH', 'TABLE')} {self.name()}"
        return self.table_option()

    def added(self) -> str:
        if self.skip("COLUMN"):
            return f"ADD COLUMN {self.placed()}"
        if self.skip("PARTITION"):
            return f"ADD PARTITION {self.bracketed(self.partition, ',')}"
        if not (constraint := self.constraint()):
            raise self.refused()
        return f"ADD {constraint}"

    def placed(self) -> str:
        text = self.column()
        if self.skip("FIRST"):
            return f"{text} FIRST"
        return f"{text} AFTER {self.plain_name()}" if self.skip("AFTER") else text
