"""Expressions of SQL as TiDB's parser restores them, and the tokens of a statement.

Each rule is that of a `Restore` function of TiDB's parser, with the flags of TiCDC
(ticdc#ddl-restored). What is not known raises Refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from generators.errors import Refused
from generators.sources.mysql import quote

_TOKEN: Final = re.compile(
    r"""\s+|/\*(?:T!(?:\[(?P<features>[\w,]*)\])?|!\d{0,6})(?P<special>.*?)\*/|/\*.*?\*/|(?:--(?=\s|$)|\#)[^\n]*|(?P<name>`(?:[^`]|``)+`)"""
    r"""|(?P<bits>[bB]'[01]*'|[xX]'[0-9a-fA-F]*'|0[xX][0-9a-fA-F]+\b|0b[01]+\b)|(?P<text>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")"""
    r"""|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))|(?P<word>@{0,2}[\w$]+)"""
    r"""|(?P<sign><=>|->>|->|<<|>>|<=|>=|<>|!=|:=|\|\||&&|.)""",
    re.DOTALL,
)
_FEATURES: Final = frozenset(
    re.findall(
        r"\w+",
        "auto_rand auto_id_cache auto_rand_base clustered_index force_inc placement ttl"
        " global_index pre_split affinity",
    )
)
"""TiDB's own features whose comments its parser reads."""
_ESCAPES: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "b": "\b",
    "Z": "\x1a",
    "%": "\\%",
    "_": "\\_",
}
"""What a backslash and a character stand for in a text literal, by the character; for any other it
is the character itself.
"""
_BINARY: Final = {
    **dict.fromkeys(("OR", "||"), (1, " OR ")),
    "XOR": (2, " XOR "),
    **dict.fromkeys(("AND", "&&"), (3, " AND ")),
    **{sign: (5, sign) for sign in ("=", "<=>", ">=", ">", "<=", "<", "!=")},
    "<>": (5, "!="),
    "|": (6, "|"),
    "&": (7, "&"),
    **{sign: (8, sign) for sign in ("<<", ">>")},
    **{sign: (9, sign) for sign in ("+", "-")},
    **{sign: (10, sign) for sign in ("*", "/", "%")},
    "DIV": (10, " DIV "),
    "MOD": (10, "%"),
    "^": (11, "^"),
}
"""The operators with two operands: how tightly each binds (a larger number binds more tightly), and
its text as TiDB prints it.
"""
_PREDICATE: Final = 5
"""How tightly IS, IN, BETWEEN, LIKE and comparisons bind."""
UNARY: Final = 12
"""How tightly a sign binds to its operand."""
_QUOTES: Final = "`'\""
_UNITS: Final = frozenset(
    re.findall(
        r"\w+",
        "MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR SECOND_MICROSECOND"
        " MINUTE_MICROSECOND MINUTE_SECOND HOUR_MICROSECOND HOUR_SECOND HOUR_MINUTE DAY_MICROSECOND"
        " DAY_SECOND DAY_MINUTE DAY_HOUR YEAR_MONTH",
    )
)
"""The units of time in INTERVAL and in functions of times."""
NOW: Final = ("CURRENT_TIMESTAMP", "NOW", "LOCALTIME", "LOCALTIMESTAMP")
"""The names of the function CURRENT_TIMESTAMP."""
_BARE: Final = (
    *(*NOW[:1], *NOW[2:]),
    *(
        "CURRENT_DATE",
        "CURRENT_TIME",
        "CURRENT_USER",
        "UTC_DATE",
        "UTC_TIME",
        "UTC_TIMESTAMP",
        "CURRENT_ROLE",
    ),
)
"""Functions that are called without brackets too."""
_OWN_SYNTAX: Final = frozenset(
    re.findall(
        r"\w+",
        "CHAR EXTRACT TRIM POSITION WEIGHT_STRING GET_FORMAT TIMESTAMPADD TIMESTAMPDIFF MATCH"
        " VALUES GROUP_CONCAT CONVERT INSERT ROW EXISTS SUBSTRING SUBSTR MID COUNT SUM MIN MAX AVG"
        " NEXTVAL LASTVAL SETVAL MOD BINARY INTERVAL OVER ANY ALL SOME",
    )
)
"""Functions whose arguments have a grammar of their own, which is not read here unless it is said.
"""
_AGGREGATES: Final = ("COUNT", "SUM", "MIN", "MAX", "AVG")
"""Functions of the values of many rows, which may have DISTINCT before their arguments."""
_RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        "AND OR XOR NOT IS IN BETWEEN LIKE ILIKE REGEXP RLIKE DIV MOD CASE WHEN THEN ELSE END"
        " COLLATE SELECT FROM WHERE BY AS ON",
    )
)
"""Words of SQL that are no name of a column."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a statement. `kind` is `name` (in back quotes), `text` (in quotes), `number`,
    `bits` (a bit or hexadecimal literal), `word` or `sign`; `text` are its characters.
    """

    kind: str
    text: str

    @property
    def upper(self) -> str:
        """The word or sign in upper case; "" for a name, a text, a number or bits."""
        return self.text.upper() if self.kind in ("word", "sign") else ""


def tokens(sql: str) -> Iterator[Token]:
    """The tokens of a statement, without comments. A comment in which MySQL or TiDB reads a
    feature, such as `/*T! ... */`, is not left out: its tokens are read.
    """
    for match in _TOKEN.finditer(sql):
        if match["special"] is not None:
            if set(filter(None, (match["features"] or "").split(","))) <= _FEATURES:
                yield from tokens(match["special"])
        elif match.lastgroup:
            yield Token(match.lastgroup, match[0])


def unquoted(literal: str) -> str:
    """The text that a quoted literal stands for: without quotes, with doubled quotes and backslash
    escapes resolved.
    """
    mark = literal[0]
    return re.sub(
        rf"{mark}{mark}|\\(.)",
        lambda m: mark if m[1] is None else _ESCAPES.get(m[1], m[1]),
        literal[1:-1],
        flags=re.DOTALL,
    )


def plain_text(value: str) -> str:
    """The SQL literal of a text that stands outside of expressions, as TiDB prints it: quotes are
    doubled, backslashes are not.
    """
    return "'" + value.replace("'", "''") + "'"


def value_text(value: str) -> str:
    """The SQL literal of a text in an expression, as TiDB prints it: quotes and backslashes are
    doubled.
    """
    return plain_text(value.replace("\\", "\\\\"))


def number(literal: str) -> str:
    """A number of a statement as TiDB prints it: an integer or a DECIMAL by its digits, a double as
    Go's `%e`.
    """
    if "e" not in literal.lower():
        integer_digits, dot, fraction = literal.partition(".")
        digits = integer_digits.lstrip("0") or "0"
        return f"{digits}.{fraction}" if dot and fraction else digits
    if math.isinf(value := float(literal)):
        raise Refused(f"TiDB's form of this statement is not known here: the number {literal}")
    digits, exponent = f"{Decimal(repr(value)).normalize():e}".split("e")
    return f"{digits}e{exponent[0]}{exponent[1:]:0>2}"


def bits(literal: str) -> str:
    """A bit or hexadecimal literal as TiDB prints it: bits without leading zeros, hexadecimal
    digits in lower case.
    """
    if literal[0] in "xX" or literal[:2].lower() == "0x":
        digits = literal[2:].rstrip("'").lower()
        return f"x'{digits.zfill(len(digits) + len(digits) % 2)}'"
    digits = literal[2:].strip("'")
    return f"b'{digits.lstrip('0') or digits[:1]}'"


@dataclass(slots=True)
class Reader:
    """Reads a statement from its first token to the last. Its methods read what comes next, and
    return it as TiDB prints it.

    `at` is the index of the next token. `routed` is the database of a statement whose tables are
    routed to another one, "" for others: names of tables have the database in front then, and texts
    have no introducer of a character set.
    """

    sql: str
    tokens: tuple[Token, ...]
    at: int = field(default=0)
    routed: str = ""

    def refusal(self) -> Refused:
        """The error to raise for a statement whose form in TiDB is not known here; the caller
        raises it.
        """
        return Refused(
            f"TiDB's form of this statement is not known here, from token {self.at + 1} on:"
            f" {self.sql}"
        )

    @property
    def ended(self) -> bool:
        """Whether all tokens of the statement have been read."""
        return self.at >= len(self.tokens)

    @property
    def next(self) -> str:
        """The next token in upper case if it is a word or a sign, else "". It is not read yet."""
        return "" if self.ended else self.tokens[self.at].upper

    def take(self, *kinds: str) -> Token:
        """Reads and returns the next token. Raises Refused if it is of none of the kinds, or if
        there is none.
        """
        if self.ended or (kinds and self.tokens[self.at].kind not in kinds):
            raise self.refusal()
        self.at += 1
        return self.tokens[self.at - 1]

    def next_is(self, *words: str) -> bool:
        """Whether the next tokens are these words or signs, in this order; they are not read
        yet.
        """
        following = self.tokens[self.at : self.at + len(words)]
        return [token.upper for token in following] == list(words)

    def skip(self, words: str) -> bool:
        """Reads these words, with blanks between them, if they come next. Returns whether they
        did.
        """
        texts = words.split()
        if not self.next_is(*texts):
            return False
        self.at += len(texts)
        return True

    def either(self, *choices: str) -> str:
        """Reads the first of the choices, each one or more words, that comes next, and returns it;
        "" if none does, with nothing read.
        """
        return next((words for words in choices if self.skip(words)), "")

    def option(self, *choices: str) -> str:
        """Reads the first of the choices that comes next, and a sign `=` behind it; returns the
        choice, "" if none comes.
        """
        if choice := self.either(*choices):
            self.skip("=")
        return choice

    def expect(self, *choices: str) -> str:
        """Reads the one of the choices that comes next and returns it. Raises Refused if none
        does.
        """
        if not (choice := self.either(*choices)):
            raise self.refusal()
        return choice

    def plain_name(self) -> str:
        """Reads a name without qualifier, and returns it in back quotes."""
        token = self.take("name", "word")
        return quote(token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text)

    def name(self) -> str:
        """Reads a name, qualified or not, and returns it in back quotes."""
        name = self.plain_name()
        while self.skip("."):
            name += f".{self.plain_name()}"
        return name

    def table(self) -> str:
        """Reads the name of a table, and returns it in back quotes; in a routed statement with its
        database in front.
        """
        start = self.at
        name = self.name()
        is_qualified = self.at > start + 1
        return name if is_qualified or not self.routed else f"{quote(self.routed)}.{name}"

    def listed(self, part: Callable[[], str], separator: str) -> str:
        """Reads one or more items with commas between them, each by calling `part`, and returns
        them with `separator` between them.
        """
        parts = [part()]
        while self.skip(","):
            parts.append(part())
        return separator.join(parts)

    def bracketed(self, part: Callable[[], str], separator: str = ", ") -> str:
        """Reads one or more items in brackets with commas between them, each by calling `part`, and
        returns them in brackets with `separator` between them.
        """
        self.expect("(")
        items = self.listed(part, separator)
        self.expect(")")
        return f"({items})"

    def digits(self) -> str:
        """Reads a whole number without sign, and returns its digits without leading zeros. Raises
        Refused for a number with a point or an exponent.
        """
        token = self.take("number")
        if not token.text.isdecimal():
            raise self.refusal()
        return str(int(token.text))

    def signed(self) -> str:
        """Reads a whole number with or without sign, and returns it; a plus sign is left out."""
        sign = self.either("-", "+")
        return ("-" if sign == "-" else "") + self.digits()

    def string_literal(self) -> str:
        """Reads a text that stands outside of expressions, such as a comment, and returns its
        literal as TiDB prints it.
        """
        return plain_text(unquoted(self.take("text").text))

    def value(self) -> str:
        """Reads a text in an expression, and returns its literal as TiDB prints it, without an
        introducer of a character set such as `_UTF8MB4`.
        """
        return value_text(unquoted(self.take("text").text))

    def query(self) -> str:
        """Reads the SELECT that stands in brackets in an expression, up to the closing bracket. A
        reader that knows no SELECT, as this one, raises Refused.
        """
        raise self.refusal()

    def expression(self, binding: int = 0) -> str:
        """Reads an expression whose operators bind at least as tightly as the number `binding` says
        (`_BINARY`), and returns it as TiDB prints it.
        """
        operand = self._negated(binding)
        while True:
            if binding <= _PREDICATE and (predicate := self._predicate(operand)):
                operand = predicate
            elif (operator := _BINARY.get(self.next)) and operator[0] >= binding:
                sign = self.take().text
                if sign in "+-" and self.skip("INTERVAL"):
                    operand = (
                        f"DATE_{'ADD' if sign == '+' else 'SUB'}({operand}, INTERVAL"
                        f" {self._interval()})"
                    )
                else:
                    operand += operator[1] + self.expression(operator[0] + 1)
            else:
                return operand

    def _negated(self, binding: int) -> str:
        """Reads an operand with the NOT or the sign before it, and returns it as TiDB prints it.
        NOT is read only if `binding` lets operators bind as loosely as predicates.
        """
        if binding <= _PREDICATE and self.skip("NOT"):
            return f"NOT {self.expression(_PREDICATE - 1)}"
        if sign := self.either("-", "+", "~", "!"):
            return sign + self.expression(UNARY)
        return self._collated()

    def _collated(self) -> str:
        """Reads an operand with the COLLATE and the JSON arrows behind it, and returns it as TiDB
        prints it.
        """
        operand = self._operand()
        while True:
            if self.skip("COLLATE"):
                operand += (
                    f" COLLATE {self.take('word', 'name', 'text').text.strip(_QUOTES).lower()}"
                )
            elif arrow := self.either("->>", "->"):
                operand = f"JSON_EXTRACT({operand}, {self._operand()})"
                operand = f"JSON_UNQUOTE({operand})" if arrow == "->>" else operand
            else:
                return operand

    def _predicate(self, operand: str) -> str:
        """Reads IS, IN, BETWEEN, LIKE or REGEXP behind their operand, and returns the whole as TiDB
        prints it; "" if none follows.
        """
        if self.skip("IS"):
            no = " NOT" if self.skip("NOT") else ""
            return f"{operand} IS{no} {self.expect('NULL', 'TRUE', 'FALSE')}"
        start = self.at
        no = " NOT" if self.skip("NOT") else ""
        if self.skip("IN"):
            if self.next_is("(", "SELECT"):
                return f"{operand}{no} IN {self._operand()}"
            return f"{operand}{no} IN {self.bracketed(self.expression, ',')}"
        if self.skip("BETWEEN"):
            low = self.expression(_PREDICATE + 1)
            self.expect("AND")
            return f"{operand}{no} BETWEEN {low} AND {self.expression(_PREDICATE)}"
        if self.skip("LIKE"):
            predicate = f"{operand}{no} LIKE {self.expression(_PREDICATE + 1)}"
            if self.skip("ESCAPE"):
                escape = unquoted(self.take("text").text)
                predicate += "" if escape == "\\" else f" ESCAPE {plain_text(escape)}"
            return predicate
        if self.either("REGEXP", "RLIKE"):
            return f"{operand}{no} REGEXP {self.expression(_PREDICATE + 1)}"
        self.at = start
        return ""

    def _interval(self) -> str:
        """Reads the number and the unit of an INTERVAL, and returns them as TiDB prints them."""
        return f"{self.expression()} {self.unit()}"

    def unit(self) -> str:
        """Reads a unit of time, and returns it in upper case without the prefix SQL_TSI_. Raises
        Refused for an unknown one.
        """
        unit = self.take("word").upper.removeprefix("SQL_TSI_")
        if unit not in _UNITS:
            raise self.refusal()
        return unit

    def _operand(self) -> str:
        """Reads one operand of an expression, a literal, a name, a call or an expression in
        parentheses, and returns it as TiDB prints it.
        """
        token = self.take()
        match token.kind:
            case "text":
                content = unquoted(token.text)
                while not self.ended and self.tokens[self.at].kind == "text":
                    content += unquoted(self.take().text)  # texts beside each other are one
                return ("" if self.routed else "_UTF8MB4") + value_text(content)
            case "number":
                return number(token.text)
            case "bits":
                return bits(token.text)
            case "name":
                self.at -= 1
                return self.name()
            case "sign" if token.text == "(":
                if self.next_is("SELECT"):
                    query = self.query()
                    self.expect(")")
                    return f"({query})"
                expression = self.expression()
                if self.skip(","):
                    expression = f"{expression},{self.listed(self.expression, ',')}"
                    self.expect(")")
                    return f"ROW({expression})"
                self.expect(")")
                return f"({expression})"
            case "word":
                return self._word(token.upper)
        raise self.refusal()

    def _word(self, word: str) -> str:
        """Reads an operand that begins with the word `word` in upper case, which has been read: a
        constant, a literal, CASE, a call or a column. Returns it as TiDB prints it. Raises Refused
        for anything whose form in TiDB is not known here.
        """
        called = self.next_is("(")
        if word in ("TRUE", "FALSE", "NULL", "MAXVALUE") and not called:
            return word
        if word in ("DEFAULT", "ROW", "BINARY", "EXISTS", "INTERVAL") or word.startswith("@"):
            raise self.refusal()
        following = None if self.ended else self.tokens[self.at]
        if word.startswith("_") and following is not None and following.kind in ("text", "bits"):
            content = self.take()
            is_known_charset = word == "_UTF8MB4" or (
                word in ("_UTF8", "_BINARY") and content.text.isascii()
            )
            if content.kind == "bits" or not is_known_charset:
                raise self.refusal()
            introducer = "" if self.routed and word == "_UTF8MB4" else word
            return introducer + value_text(unquoted(content.text))
        if (
            word in ("DATE", "TIME", "TIMESTAMP")
            and following is not None
            and following.kind == "text"
        ):
            return f"{word} {self.value()}"
        if word == "CASE":
            return self._case()
        if word in _BARE and not called:
            return f"{word}()"
        if not called:
            if word in _RESERVED:
                raise self.refusal()
            self.at -= 1
            return self.name()
        return self._call(word)

    def now(self, called: bool) -> str:
        """Reads the brackets of CURRENT_TIMESTAMP, if it is `called` with them, and returns it
        under that name, whichever name the statement has.
        """
        if called:
            self.expect("(")
            fraction = "" if self.next_is(")") else self.digits()
            self.expect(")")
            return f"CURRENT_TIMESTAMP({fraction})"
        return "CURRENT_TIMESTAMP()"

    def _case(self) -> str:
        """Reads the rest of a CASE expression, whose first word has been read, and returns the
        whole as TiDB prints it.
        """
        expression = "CASE" if self.next_is("WHEN") else f"CASE {self.expression()}"
        while self.skip("WHEN"):
            expression += f" WHEN {self.expression()} {self.expect('THEN')} {self.expression()}"
        if self.skip("ELSE"):
            expression += f" ELSE {self.expression()}"
        return f"{expression} {self.expect('END')}"

    def _call(self, word: str) -> str:
        """Reads the arguments of a call of the function `word`, and returns the call as TiDB prints
        it. Raises Refused for a function with a syntax of its own that is not known here.
        """
        self.expect("(")
        if word == "CAST":
            call = f"CAST({self.expression()} {self.expect('AS')} {self._cast_type()})"
        elif word in ("DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE"):
            call = f"{word}({self.expression()}"
            self.expect(",")
            call += (
                ", INTERVAL"
                f" {self._interval() if self.skip('INTERVAL') else f'{self.expression()} DAY'})"
            )
        elif word == "CONVERT":
            call = f"CONVERT({self.expression()}"
            if self.skip("USING"):
                charset = self.take("word", "text")
                call += (
                    " USING"
                    f" {value_text((unquoted(charset.text) if charset.kind == 'text' else charset.text).lower())})"
                )
            else:
                self.expect(",")
                call += f", {self._cast_type()})"
        elif word == "MOD":
            call = self.expression()
            self.expect(",")
            call += f"%{self.expression()}"
        elif word in ("SUBSTRING", "SUBSTR", "MID"):
            arguments = [self.expression()]
            while self.either(",", "FROM", "FOR"):
                arguments.append(self.expression())
            call = f"{word}({', '.join(arguments)})"
        elif word == "TRIM":
            call = f"TRIM({self.expression()})"
        elif word in ("TIMESTAMPDIFF", "TIMESTAMPADD"):
            unit = self.unit()
            self.expect(",")
            call = f"{word}({unit}, {self.listed(self.expression, ', ')})"
        elif word == "EXTRACT":
            call = f"EXTRACT({self.unit()} {self.expect('FROM')} {self.expression()})"
        elif word in _AGGREGATES and not self.next_is("*"):
            distinct = "DISTINCT " if self.skip("DISTINCT") else ""
            values = self.listed(self.expression, ", ") if distinct else self.expression()
            call = f"{word}({distinct}{values})"
        elif word == "COUNT" and self.skip("*"):
            call = "COUNT(1)"
        elif word in _OWN_SYNTAX:
            raise self.refusal()
        else:
            call = f"{word}({'' if self.next_is(')') else self.listed(self.expression, ', ')})"
        self.expect(")")
        return call

    def _cast_type(self) -> str:
        """Reads the type to which CAST converts, and returns it as TiDB prints it: DECIMAL always
        with its precision, by default 10, and never with the scale 0; with ARRAY behind it in a
        multi-valued index. Raises Refused for a type with a character set.
        """
        if kind := self.either("SIGNED", "UNSIGNED"):
            self.either("INTEGER", "INT")
            return kind + self._array()
        kind = self.expect(
            "CHAR",
            "BINARY",
            "DATE",
            "DATETIME",
            "TIME",
            "DECIMAL",
            "JSON",
            "DOUBLE",
            "FLOAT",
            "YEAR",
        )
        arguments = ""
        if kind in ("CHAR", "BINARY", "DATETIME", "TIME", "DECIMAL") and self.next_is("("):
            arguments = self.bracketed(self.digits, ", ")
        if kind == "DECIMAL":
            arguments = arguments.replace(", 0)", ")") or "(10)"
        if self.next in ("CHARACTER", "CHARSET"):
            raise self.refusal()
        return kind + arguments + self._array()

    def _array(self) -> str:
        """Reads ARRAY behind the target type of a CAST, and returns it with a space in front; "" if
        there is none.
        """
        return " ARRAY" if self.skip("ARRAY") else ""
