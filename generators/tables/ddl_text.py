"""DDL as text: statements, their words, and the place of each.

Comments that a server executes (`/*!50503 ... */`) are opened in place, so that every offset stays
that of the file.
"""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias

from generators.errors import UsageError, first_line
from generators.model import Column, Table
from generators.tables.schema import DIALECTS, Note

if TYPE_CHECKING:
    from sqlglot import exp

_OPENED: Final = {
    "mysql": re.compile(r"/\*!\d{0,6}"),
    "mariadb": re.compile(r"/\*M?!(?!9{5,6})\d{0,6}"),
    "tidb": re.compile(r"/\*(?:!\d{0,6}|T!(?:\[[\w,]*\])?)"),
}
"""What begins a comment that the server executes."""

_PIECES: Final = {
    "mysql": re.compile(
        r"""--+(?=\s|$)[^\n]*|\#[^\n]*|/\*.*?\*/|'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|"[^"\\]*(?:(?:\\.|"")[^"\\]*)*"|`(?:[^`]|``)*`"""
        r"""|\s+|(?P<end>;)|[^;'"`/\#-]+|.""",
        re.DOTALL,
    ),
    "postgresql": re.compile(
        r"""--[^\n]*|/\*.*?\*/|(?<=[^\w][eE])'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'|'[^']*'|"[^"]*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
        r"""|\s+|(?P<end>;)|[^;'"/$-]+|.""",
        re.DOTALL,
    ),
}
"""The next piece of a script by source: a comment, a text or name in quotes, spaces, a semicolon
(the group `end`), or what stands between these. A quote alone is one that does not end.
"""
_SHOWN: Final = re.compile(
    r"^\*{3,} \d+\. row \*{3,}\r?\n *Table: .*\nCreate Table: (?=CREATE )|^[^\s();'`]+\t(?=CREATE"
    r" TABLE )",
    re.MULTILINE,
)
"""What the client prints before the statement of SHOW CREATE TABLE: with \\G, and as raw text."""

_COMMENT: Final = re.compile(r"--|#|/\*|\s")
"""How a piece begins that belongs to no statement: a comment or space."""
_DELIMITER: Final = re.compile(r"delimiter[ \t]+(\S+)[^\n]*", re.IGNORECASE)
"""The line by which MySQL's client takes another mark than the semicolon for a statement's end; its
group is the mark.
"""
_COPY: Final = re.compile(r"copy\s[^;]*\sfrom\s+stdin", re.IGNORECASE)
"""The statement of PostgreSQL behind which rows stand as text."""
_COPY_END: Final = re.compile(r"^\\\.[^\n]*$", re.MULTILINE)
"""The line that ends the rows of _COPY."""
_WORD: Final = re.compile(r"[\w@_$]")
"""A character with which a word begins; other tokens are signs."""
_STRINGS: Final = (
    "STRING",
    "NATIONAL_STRING",
    "BYTE_STRING",
    "HEREDOC_STRING",
    "UNICODE_STRING",
    "RAW_STRING",
)
"""sqlglot's names of the tokens that are texts in quotes."""


_ESCAPE: Final = re.compile(
    r"""''|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})"""
    r"""|\\U([0-9a-fA-F]{8})|((?:\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3})+)|\\(.)""",
    re.DOTALL,
)
"""An escape of PostgreSQL's E'...': a doubled quote, a pair of surrogates, a code point of four or
eight hex digits, bytes in hex or octal digits, or one character behind a backslash.
"""
_ESCAPED_BYTE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3}))")
"""One byte of the bytes that _ESCAPE finds, in hex or octal digits."""
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""Letters behind a backslash that stand for a control character."""


def unescape(escaped: str) -> str:
    """The text that PostgreSQL's literal E'...' stands for, from what is between its quotes. A
    number that is no code point, and bytes that are not UTF-8, which PostgreSQL refuses, become
    U+FFFD.
    """

    def unescape_match(match: re.Match[str]) -> str:
        """The text that a matched escape stands for: a doubled quote, a code point (also as a pair
        of surrogates), successive bytes in UTF-8, or a letter.
        """
        high, low, short, long, byte_escapes, letter = match.groups()
        if high is not None:
            return bytes.fromhex(high + low).decode("utf-16-be")
        if short is not None or long is not None:
            number = int(short or long, 16)
            is_character = number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF
            return chr(number) if is_character else "\ufffd"
        if byte_escapes is not None:
            numbers = (
                int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF
                for hexadecimal, octal in _ESCAPED_BYTE.findall(byte_escapes)
            )
            return bytes(numbers).decode("utf-8", "replace")
        return "'" if letter is None else _ESCAPED.get(letter, letter)

    return _ESCAPE.sub(unescape_match, escaped)


WordKind: TypeAlias = Literal["word", "quoted", "string", "number", "bits", "hex", "sign", "end"]
"""What a token is: `quoted` is a name in quotes, `end` what comes after the last token."""


@dataclass(frozen=True, slots=True)
class Word:
    """A token: its text without quotes, what it is, and its place from `start` to `end`."""

    text: str
    kind: WordKind
    start: int
    end: int

    @property
    def upper(self) -> str:
        """The token in upper case if it is a word; a sign as it is; "" if it is quoted."""
        return self.text.upper() if self.kind in ("word", "sign") else ""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the DDL of a source spells words and names: `sqlglot` is sqlglot's name of its dialect,
    `fold` gives a name that stands without quotes as the source keeps it. `ignores_case`: names of
    columns are the same in upper and lower case.
    """

    sqlglot: str
    fold: Callable[[str], str] = str
    ignores_case: bool = False


SPELLINGS: Final[Mapping[str, Spelling]] = {
    "mysql": Spelling("mysql", ignores_case=True),
    "postgresql": Spelling("postgres", fold=str.lower),
    "sqlserver": Spelling("tsql", ignores_case=True),
    "oracle": Spelling("oracle", fold=str.upper),
}
"""How each source spells, by its name."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a script, without the comments and spaces before it."""

    start: int
    end: int


class Script:
    """A text of DDL in one dialect, under the name of its file."""

    def __init__(self, file: str, text: str, dialect: str) -> None:
        self.file, self.text, self.dialect = file, text, dialect
        self.code = re.sub("[\udc80-\udcff]", "\ufffd", _open_executed_comments(text, dialect))
        self.notes: list[Note] = []
        self._lines = [0, *(hit.end() for hit in re.finditer("\n", text))]

    @property
    def spelling(self) -> Spelling:
        """How the dialect of the script spells words and names."""
        return SPELLINGS[DIALECTS[self.dialect]]

    def line_and_column(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        line = bisect.bisect_right(self._lines, at)
        return line, at - self._lines[line - 1] + 1

    def location(self, at: int) -> str:
        """`file:line:column` of an offset."""
        return ":".join((self.file, *map(str, self.line_and_column(at))))

    def note(self, start: int, end: int, action: str) -> None:
        """Adds a note on what was done with the text of the script between two offsets; it has the
        line and the text.
        """
        construct = " ".join(self.code[start:end].split())
        line, column = self.line_and_column(start)
        self.notes.append(
            Note(
                self.file,
                line,
                column,
                construct if len(construct) <= 120 else f"{construct[:117]}...",
                action,
            )
        )

    def error(self, at: int, what: str) -> UsageError:
        """The UsageError for a mistake at an offset of the script, with file, line and column."""
        return UsageError(f"{self.location(at)}: {what}")

    def statements(self) -> Iterator[Span]:
        """The statements of the script, without the semicolons. A line of psql that begins with a
        backslash is one, too. Lines DELIMITER of MySQL's client and the rows behind COPY ... FROM
        STDIN are passed over. Raises UsageError for a quote that does not end.
        """
        pieces = _PIECES[DIALECTS[self.dialect]]
        at, start, last, delimiter = 0, -1, 0, ";"
        while at < len(self.code):
            if (
                start < 0
                and (hit := _DELIMITER.match(self.code, at))
                and DIALECTS[self.dialect] == "mysql"
            ):
                delimiter, at = hit[1], hit.end()
                continue
            if start < 0 and self.code[at] == "\\" and DIALECTS[self.dialect] == "postgresql":
                end = self.code.find("\n", at)
                yield Span(at, at := len(self.code) if end < 0 else end)
                continue
            if delimiter != ";" and self.code.startswith(delimiter, at):
                if start >= 0:
                    yield self._span(start, last)
                start, at = -1, at + len(delimiter)
                continue
            piece = pieces.match(self.code, at)
            assert piece is not None
            if piece[0] in ("'", '"', "`"):
                raise self.error(at, f"the quote {piece[0]} does not end")
            end = piece.end()
            if delimiter != ";" and (delimiter_at := piece[0].find(delimiter)) > 0:
                end = at + delimiter_at
            if piece["end"] and delimiter == ";":
                if start >= 0:
                    yield self._span(start, last)
                    if _COPY.match(self.code, start, last):
                        data = _COPY_END.search(self.code, end)
                        end = data.end() if data else len(self.code)
                start = -1
            elif not _COMMENT.match(piece[0]):
                start, last = at if start < 0 else start, end
            at = end
        if start >= 0:
            yield self._span(start, last)

    def _span(self, start: int, end: int) -> Span:
        """The stretch from `start` to `end` without the space at its end."""
        return Span(start, start + len(self.code[start:end].rstrip()))

    def words(self, span: Span) -> Cursor:
        """The tokens of a stretch of the script, as a Cursor. Raises UsageError for a text that is
        no token in this dialect.
        """
        from sqlglot.dialects.dialect import Dialect
        from sqlglot.errors import TokenError

        source = self.code[span.start : span.end]
        for match in re.finditer("[\udc80-\udcff]+", self.text[span.start : span.end]):
            action = "bytes that are not UTF-8, taken as U+FFFD"
            self.note(span.start + match.start(), span.start + match.end(), action)
        try:
            tokens = Dialect.get_or_raise(self.spelling.sqlglot).tokenize(source)
        except TokenError as error:
            raise self.error(span.start, f"not understood: {first_line(error)}") from error
        words: list[Word] = []
        for token in tokens:
            raw = source[token.start : token.end + 1]
            kind = token.token_type.name
            start = span.start + token.start
            if kind == "IDENTIFIER":
                words.append(Word(token.text, "quoted", start, start + len(raw)))
            elif kind in _STRINGS:
                string_value = unescape(raw[2:-1]) if kind == "BYTE_STRING" else token.text
                words.append(Word(string_value, "string", start, start + len(raw)))
            elif kind in _LITERALS:
                words.append(Word(token.text, _LITERALS[kind], start, start + len(raw)))
            else:
                # one token may be several words: PRIMARY KEY, DOUBLE PRECISION
                word_kind: WordKind = "word" if _WORD.match(raw) else "sign"
                words += [
                    Word(match[0], word_kind, start + match.start(), start + match.end())
                    for match in re.finditer(r"\S+", raw)
                ]
        return Cursor(self, words, span.end)


_LITERALS: Final[Mapping[str, WordKind]] = {
    "BIT_STRING": "bits",
    "HEX_STRING": "hex",
    "NUMBER": "number",
}
"""What the tokens of literals are, by sqlglot's names of them."""


@cache
def parse_expression(expression_text: str, dialect: str) -> exp.Expr | None:
    """The tree that sqlglot makes of an expression; None for a text that it cannot parse. Raises
    RecursionError for an expression that is nested too deeply.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        return sqlglot.parse_one(expression_text, dialect=SPELLINGS[DIALECTS[dialect]].sqlglot)
    except SqlglotError:
        return None


def find_column(table: Table, name: str) -> Column | None:
    """The column of the table that a name in an expression means; None if there is none."""
    candidates = [c for c in table.columns if c.name == name] or [
        c for c in table.columns if c.name.lower() == name.lower()
    ]
    return candidates[0] if candidates else None


def _open_executed_comments(ddl: str, dialect: str) -> str:
    """The DDL with spaces in place of the marks around comments that the server executes (`/*!50503
    ... */`), so that their content is read and offsets stay.
    """
    pattern = _OPENED.get(dialect)
    if pattern is None:
        return ddl
    ddl = _SHOWN.sub(lambda hit: ";" + re.sub(r"[^\n]", " ", hit[0][1:]), ddl)
    parts: list[str] = []
    done = 0
    for hit in _PIECES["mysql"].finditer(ddl):
        if hit[0].startswith("/*") and (mark := pattern.match(hit[0])):
            parts += [ddl[done : hit.start()], " " * mark.end(), hit[0][mark.end() : -2], "  "]
            done = hit.end()
    return "".join([*parts, ddl[done:]])


class Cursor:
    """Words that are read one after another."""

    def __init__(self, script: Script, words: list[Word], end: int) -> None:
        self.script, self.words, self.end, self.at = script, words, end, 0

    def peek(self, ahead: int = 0) -> Word:
        """The word that comes `ahead` words after the next one, without taking it; an empty word
        after the last.
        """
        at = self.at + ahead
        return self.words[at] if at < len(self.words) else Word("", "end", self.end, self.end)

    def take(self) -> Word:
        """Takes the next word; an empty word after the last."""
        word = self.peek()
        self.at = min(self.at + 1, len(self.words))
        return word

    @property
    def done(self) -> bool:
        """Whether no word is left."""
        return self.at >= len(self.words)

    def next_is(self, phrase: str) -> bool:
        """Whether the next words are these; a slash separates alternatives of one word."""
        return all(self.peek(i).upper in part.split("/") for i, part in enumerate(phrase.split()))

    def has_ahead(self, phrase: str) -> bool:
        """Whether these words are somewhere among those that come."""
        ahead = Cursor(self.script, self.words, self.end)
        return any(ahead.next_is(phrase) for ahead.at in range(self.at, len(self.words)))

    def accept(self, *phrases: str) -> str:
        """Takes the first of the phrases that comes next; "" if none does."""
        for phrase in phrases:
            if self.next_is(phrase):
                self.at += len(phrase.split())
                return phrase
        return ""

    def expect(self, phrase: str) -> None:
        """Takes the words of a phrase. Raises UsageError if other words come next."""
        if not self.accept(phrase):
            raise self.expectation_error(phrase)

    def expectation_error(self, expected: str) -> UsageError:
        """The UsageError that says what was expected and what stands at the cursor."""
        word = self.peek()
        return self.script.error(
            word.start,
            f"{expected} expected, not {word.text!r}"
            if word.kind != "end"
            else f"{expected} expected",
        )

    def take_name(self) -> str:
        """Takes a name; one without quotes is folded, in PostgreSQL to lower case, in Oracle to
        upper case. Raises UsageError if no name comes next.
        """
        word = self.peek()
        if word.kind not in ("word", "quoted", "string"):
            raise self.expectation_error("a name")
        name, self.at = self.next_name, self.at + 1
        return name

    @property
    def next_name(self) -> str:
        """The text of the next word as a name; one without quotes is folded, in PostgreSQL to lower
        case, in Oracle to upper case.
        """
        word = self.peek()
        return self.script.spelling.fold(word.text) if word.kind == "word" else word.text

    def take_names(self) -> tuple[str, ...]:
        """Takes a name with its qualifiers: `shop`.`orders` gives ("shop", "orders")."""
        names = [self.take_name()]
        while self.accept("."):
            names.append(self.take_name())
        return tuple(names)

    def take_parentheses(self) -> Self:
        """Takes parentheses; returns a cursor over the words in them. Raises UsageError if none
        come next, or if they do not end.
        """
        opening = self.peek()
        self.expect("(")
        depth, start = 1, self.at
        while depth:
            if self.done:
                raise self.script.error(opening.start, "this parenthesis does not end")
            depth += {"(": 1, ")": -1}.get(self.take().upper, 0)
        return type(self)(
            self.script, self.words[start : self.at - 1], self.words[self.at - 1].start
        )

    def skip_parentheses(self) -> None:
        """Skips parentheses if they come next."""
        if self.next_is("("):
            self.take_parentheses()

    def split_at_commas(self) -> Iterator[Self]:
        """The parts of the remaining words between the commas outside of parentheses and brackets,
        each as a cursor.
        """
        while not self.done:
            start = self.at
            self.skip_until(",")
            yield type(self)(self.script, self.words[start : self.at], self.peek().start)
            self.accept(",")

    def skip_until(self, *stops: str) -> None:
        """Moves to the first of these words outside of parentheses and brackets, or to the end."""
        open_brackets = 0  # of ARRAY[1, 2]
        while not self.done and (open_brackets or self.peek().upper not in stops):
            if self.peek().upper == "(":
                self.take_parentheses()
            else:
                depth_change = {"[": 1, "]": -1}.get(self.take().upper, 0)
                open_brackets = max(0, open_brackets + depth_change)

    def skip_rest(self, start: int, action: str) -> None:
        """Skips all words that are left, and adds a note to the script's notes on those from number
        `start` on; `action` says what became of them, such as "left out: the model has no such
        index".
        """
        self.at = len(self.words)
        self.note(start, action)

    def text_since(self, start: int) -> str:
        """The script's text from the word of number `start` up to the last word taken; "" if none
        was taken.
        """
        return (
            self.script.code[self.words[start].start : self.words[self.at - 1].end]
            if self.at > start
            else ""
        )

    def source_text(self) -> str:
        """The script's text from the cursor's first word to its last; "" for no words."""
        return self.script.code[self.words[0].start : self.words[-1].end] if self.words else ""

    def note(self, start: int, action: str) -> None:
        """Adds a note to the script's notes on the words from number `start` up to the last one
        taken; `action` says what became of them, such as "left out: values do not honour it".
        """
        last = (
            self.words[min(max(self.at, start + 1), len(self.words)) - 1]
            if self.words
            else self.peek()
        )
        self.script.note(
            self.words[start].start if start < len(self.words) else self.end, last.end, action
        )


_MOST_WHOLE_DIGITS: Final = 40
"""More digits than a column of whole numbers has in any database."""


def parse_whole_number(number_text: str, low: int | None, high: int | None) -> int | None:
    """The whole number that a text spells, maybe with a point or an exponent; None if it is not
    whole or not within `low` and `high`. Raises ArithmeticError for a text that is no number.
    """
    number = Decimal(number_text)
    if not number.is_finite() or number.adjusted() > _MOST_WHOLE_DIGITS or number != int(number):
        return None
    is_below, is_above = low is not None and number < low, high is not None and number > high
    return None if is_below or is_above else int(number)
