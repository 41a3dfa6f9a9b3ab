"""Column types and defaults as DDL spells them, with every alias that the databases take."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from generators.model import Default, Logical, SourceType, Value
from generators.recorded import mysql_truth, postgresql_truth
from generators.recorded.mysql_truth import Unsupported
from generators.sources import mysql, postgresql
from generators.sources.postgresql_text import interval_read, timetz_read
from generators.sources.postgresql_types import postgresql_types
from generators.tables.ddl_oracle_types import oracle_value
from generators.tables.ddl_text import Cursor, WordKind, unescape
from generators.tables.ddl_tsql_types import tsql_value

__all__ = [
    "SERIALS",
    "UNDRAWN",
    "UNDRAWN_COLUMN",
    "Unsupported",
    "literal_value",
    "mysql_default",
    "mysql_type",
    "postgresql_default",
    "postgresql_spelling",
    "postgresql_type",
]

UNDRAWN: Final = (
    "left out: values of this column type cannot be drawn; without the column it can be read"
)
"""Why a table with a column of an `Unsupported` type is not taken."""

UNDRAWN_COLUMN: Final = (
    "left out: values of its type cannot be drawn; messages are those of the table without it"
)
"""Why a column of PostgreSQL of an `Unsupported` type is not taken. Debezium leaves most of these
types out of its messages itself.
"""

# MySQL, MariaDB, TiDB

_ALIASES: Final = {
    **dict.fromkeys(("integer", "int4"), "int"),
    **dict.fromkeys(("int3", "middleint"), "mediumint"),
    "int1": "tinyint",
    "int2": "smallint",
    "int8": "bigint",
    "float4": "float",
    "float8": "double",
    "real": "double",
    **dict.fromkeys(("dec", "numeric", "fixed", "number"), "decimal"),
    **dict.fromkeys(("character", "nchar"), "char"),
    **dict.fromkeys(("nvarchar", "varcharacter", "varchar2"), "varchar"),
    "long": "mediumtext",
    "clob": "longtext",
    "raw": "varbinary",
}
"""Other names of MySQL's types, and the names by which the database shows them."""
_PHRASES: Final = {
    "DOUBLE PRECISION": "double",
    "LONG VARBINARY": "mediumblob",
    **dict.fromkeys(("LONG VARCHAR", "LONG CHAR VARYING", "LONG CHARACTER VARYING"), "mediumtext"),
    **dict.fromkeys(
        (
            "NATIONAL CHARACTER VARYING",
            "NATIONAL CHAR VARYING",
            "NATIONAL VARCHAR",
            "NCHAR VARCHAR",
        ),
        "varchar",
    ),
    **dict.fromkeys(("NCHAR VARYING", "CHARACTER VARYING", "CHAR VARYING"), "varchar"),
    **dict.fromkeys(("NATIONAL CHARACTER", "NATIONAL CHAR"), "char"),
}
"""Names of MySQL's types of several words, and the names by which the database shows them."""
_REPEATED: Final = ("integer", "numeric", "real", "float4", "character", "DOUBLE PRECISION")
"""Spellings that are so usual that no note says how the database shows them."""
_UNREPEATED: Final = ("varcharacter", "varchar2", "number", "clob", "raw")
"""Spellings at which Debezium's parsers stop: the column is taken as if it had the database's own.
"""

_BYTES_OF_CHARACTER: Final = {
    "latin1": 1,
    "ascii": 1,
    "binary": 1,
    **dict.fromkeys(("cp850", "cp852", "cp866", "cp1250", "cp1251", "cp1256", "cp1257"), 1),
    **dict.fromkeys(("latin2", "latin5", "latin7", "greek", "hebrew", "koi8r", "koi8u"), 1),
    "tis620": 1,
    **dict.fromkeys(("big5", "euckr", "gb2312", "gbk", "sjis", "cp932", "ucs2"), 2),
    "utf8": 3,
    "ujis": 3,
    "eucjpms": 3,
    "utf8mb3": 3,
}
"""The most bytes of a character in a MySQL character set; 4 in one that is not here."""
_AS_BYTES: Final = {"char": "binary", "varchar": "varbinary"}
"""What becomes of a type of texts with the attribute BYTE or CHARACTER SET BINARY."""


_SIZED_BY_DEFAULT: Final = frozenset({"bit", "decimal"})
"""Types that the server shows with a size, as BIT(1), where a statement has none."""


def mysql_type(cursor: Cursor, charset: str) -> tuple[SourceType, str]:
    """Reads MySQL's type at the cursor. Returns the type, and its spelling, "" where that is the
    source's own; `charset` is the table's. Raises Unsupported for a type that the model does not
    have, UsageError for a text that is no type.
    """
    start = cursor.at
    if word := cursor.accept(*_PHRASES):
        name = _PHRASES[word]
    else:
        first_word, word = cursor.peek(), cursor.take_name().lower()
        if first_word.kind != "word":
            raise cursor.script.error(
                first_word.start, f"a column type expected, not {first_word.text!r}"
            )
        name = _ALIASES.get(word, word)
    aliased = (name != word and word not in _REPEATED) or word == "serial"
    if name == "json" and cursor.script.dialect == "mariadb":
        name, aliased = "longtext", True
    parameters = cursor.take_parentheses().source_text() if cursor.next_is("(") else ""
    flags = {"unsigned"} if word == "serial" else set()
    while flag := cursor.accept("UNSIGNED", "SIGNED", "ZEROFILL"):
        flags.add(flag.lower())
    if name in ("char", "varchar", *_BLOBS) and (
        cursor.accept("BYTE") or cursor.accept("CHARACTER SET BINARY", "CHARSET BINARY")
    ):
        name = _AS_BYTES.get(name, name.replace("text", "blob"))
    spelled = cursor.text_since(start)
    name, parameters = _canonical_type(name, parameters, charset)
    # Values of spatial types cannot be drawn: named cases and recorded tables alone have them.
    if name in mysql.SPATIAL or (name == "vector" and cursor.script.dialect != "tidb"):
        raise Unsupported(f"column type {spelled!r}")
    suffix = "".join(
        f" {flag}"
        for flag in ("unsigned", "zerofill")
        if flag in flags or (flag == "unsigned" and "zerofill" in flags)
    )
    try:
        type = mysql_truth.source_type(
            f"{name}({parameters}){suffix}" if parameters else f"{name}{suffix}"
        )
    except ValueError as error:
        raise cursor.script.error(cursor.words[start].start, str(error)) from error
    usual_spellings = (type.key, f"{name}({parameters}){suffix}".replace(", ", ","))
    # Debezium has these numbers as a column's length, and Canal repeats a type with them and
    # without them.
    is_sized = type.logical in (Logical.INT, Logical.FLOAT, Logical.DOUBLE, Logical.YEAR)
    keeps_digits = is_sized and bool(parameters) and (name, parameters) != ("tinyint", "1")
    is_bare = not parameters and (
        type.logical in (Logical.INT, Logical.YEAR) or name in _SIZED_BY_DEFAULT
    )
    if aliased:
        cursor.note(start, f"taken as {type.key}, as the database shows it")
    unspelled = word in _UNREPEATED or (
        spelled in usual_spellings and not keeps_digits and not is_bare
    )
    return type, "" if unspelled else spelled


_DIGITS: Final = re.compile("[0-9]{1,10}")
"""The digits of a length or a year. `str.isdigit` takes more for digits: `²`, or Arabic ones."""
_BLOBS: Final = ("tinytext", "text", "mediumtext", "longtext")
"""Types of texts that become types of bytes by the attribute BYTE."""


def _canonical_type(name: str, parameters: str, charset: str) -> tuple[str, str]:
    """The name and the parameters of the type that MySQL makes of a spelling in DDL (`boolean`
    becomes tinyint(1), say).
    """
    match name:
        case "bool" | "boolean":
            return "tinyint", "1"
        case "serial":
            return "bigint", ""
        case "float" if _DIGITS.fullmatch(parameters):
            return ("float" if int(parameters) <= 24 else "double"), ""
        case "char" | "binary":
            return name, parameters or "1"
        case "text" | "blob" if _DIGITS.fullmatch(parameters):
            size = int(parameters) * (_BYTES_OF_CHARACTER.get(charset, 4) if name == "text" else 1)
            limits = (("tiny", 255), ("", 65_535), ("medium", 16_777_215))
            return next(
                (f"{prefix}{name}" for prefix, limit in limits if size <= limit), f"long{name}"
            ), ""
        case "decimal" if _DIGITS.fullmatch(parameters):
            return name, f"{parameters},0"
    return name, parameters


def mysql_default(cursor: Cursor, type: SourceType) -> Default | None:
    """The default of a MySQL column that stands at the cursor; None if it is NULL. An expression,
    a function or the next value of a sequence is taken to its end, and has no value.
    """
    start, word = cursor.at, cursor.peek()
    sign = cursor.accept("+", "-")
    # A word such as _utf8mb4 before a literal names the literal's character set.
    if (
        word.kind == "word"
        and word.text.startswith("_")
        and cursor.peek(1).kind in ("string", "hex", "bits")
    ):
        cursor.take()
    literal = cursor.take()
    if literal.upper == "." and cursor.peek().kind == "number":
        literal = replace(cursor.take(), text=f"0.{cursor.peek(-1).text}")
    if literal.upper == "(":
        cursor.at -= 1
        cursor.take_parentheses()
    elif literal.upper == "NEXT":
        cursor.accept("VALUE FOR")
        cursor.take_names()
    elif literal.kind == "word" and cursor.next_is("("):
        cursor.take_parentheses()
    default_text = cursor.text_since(start)
    if literal.upper == "NULL":
        return None
    return Default(default_text, _mysql_literal(type, sign, literal.kind, literal.text))


def _mysql_literal(type: SourceType, sign: str, kind: WordKind, literal_text: str) -> Value:
    """The value of MySQL's literal in a column of the type; None if the type cannot hold it."""
    if literal_text.upper() in ("TRUE", "FALSE") and kind == "word":
        kind, literal_text = "number", str(int(literal_text.upper() == "TRUE"))
    try:
        match kind:
            case "number":
                return _stored_value(type, f"{sign.replace('+', '')}{literal_text}", is_text=False)
            case "bits" if type.logical in (Logical.BIT, Logical.INT):
                return int(literal_text or "0", 2)
            case "hex" if type.logical is Logical.BINARY:
                return _pad_binary(
                    type,
                    bytes.fromhex(literal_text.zfill(len(literal_text) + len(literal_text) % 2)),
                )
            case "string" if type.logical is Logical.BINARY and "\ufffd" not in literal_text:
                return _pad_binary(type, literal_text.encode())
            case "string" if type.logical is Logical.BIT:
                return int.from_bytes(literal_text.encode())
            case "string" if type.logical is not Logical.BINARY:
                return _stored_value(type, literal_text, is_text=True)
    except (ValueError, KeyError, ArithmeticError):
        pass
    return None


def _stored_value(type: SourceType, literal_text: str, *, is_text: bool) -> Value:
    """A literal as MySQL stores it: numbers rounded half away from zero, years of two digits from
    1970 to 2069.
    """
    match type.logical:
        case Logical.DECIMAL | Logical.INT:
            digits = Decimal((0, (1,), -(type.scale or 0)))
            rounded = Decimal(literal_text).quantize(digits, ROUND_HALF_UP, _ALL_DIGITS)
            return mysql_truth.cell_value(type, f"{rounded:f}")
        case Logical.YEAR if _DIGITS.fullmatch(literal_text) and len(literal_text) <= _TWO_DIGITS:
            year = int(literal_text)
            if not year and not is_text:
                return 0
            return year + (2000 if year < _FIRST_OF_LAST_CENTURY else 1900)
        case Logical.TIME | Logical.DATETIME | Logical.TIMESTAMP if literal_text.count(":") == 1:
            literal_text += ":00"  # '15:00' is 15:00:00
    return mysql_truth.cell_value(type, literal_text)


_ALL_DIGITS: Final = Context(prec=100)
"""A context that rounds no DECIMAL, which has 65 digits at most."""
_TWO_DIGITS: Final = 2
"""Digits of a year whose century MySQL adds."""
_FIRST_OF_LAST_CENTURY: Final = 70
"""The least of the years of two digits that are of the 20th century; lower ones are of the 21st."""


def _pad_binary(type: SourceType, data: bytes) -> bytes:
    """The bytes as MySQL's type keeps them: BINARY(n) has n bytes, the last of which are zeros."""
    return data.ljust(type.length or 0, b"\0") if type.name == "binary" else data


# PostgreSQL

_SPELLINGS: Final = {
    spelling: row.declared or name
    for name, row in postgresql_types().items()
    for spelling in row.spellings
}
"""By each spelling of a PostgreSQL type in DDL: the name as format_type() prints it."""
SERIALS: Final = ("serial", "serial2", "serial4", "serial8", "smallserial", "bigserial")
"""PostgreSQL's spellings of an integer with a default from a sequence of its own."""
_FIELDS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")
"""The fields to which PostgreSQL's INTERVAL may be restricted."""


def postgresql_spelling(cursor: Cursor) -> tuple[tuple[str, ...], str]:
    """Reads PostgreSQL's type at the cursor. Returns the parts of its name, such as ("public",
    "mood"), and its spelling as format_type() prints it, such as `character varying(20)[]`. Raises
    UsageError if no type stands there.
    """
    start = cursor.at
    if cursor.accept("DOUBLE PRECISION"):
        parts: tuple[str, ...] = ("double precision",)
    elif cursor.accept("NATIONAL"):
        parts = (f"national {cursor.take_name()}",)
    else:
        parts = cursor.take_names()
    if cursor.peek(-1).kind == "quoted" and parts[-1] == "char":
        parts = ('"char"',)
    if cursor.accept("VARYING"):
        parts = (f"{parts[-1]} varying",)
    if len(parts) > 1 and parts[0] == "pg_catalog":
        parts = parts[1:]
    name = _SPELLINGS.get(parts[-1], parts[-1]) if len(parts) == 1 else parts[-1]
    fields = cursor.accept(*_FIELDS)
    if fields and cursor.accept("TO"):
        cursor.take()
    if fields:
        cursor.note(start, "taken as an interval of all fields")
    numbers = ""
    if cursor.next_is("("):
        numbers = cursor.take_parentheses().source_text().replace(" ", "")
    zone = ""
    if phrase := cursor.accept("WITH TIME ZONE", "WITHOUT TIME ZONE"):
        zone = f" {phrase.lower()}"
    if name in ("timetz", "timestamptz"):
        name, zone = name.removesuffix("tz"), " with time zone"
    if parts == ("bpchar",) and not numbers:
        name = "character varying"  # it has no longest length, as CHAR has
    if name == "double precision" and numbers:
        name, numbers = ("real" if int(numbers) <= 24 else name), ""
    dimensions = ""  # PostgreSQL does not keep how many
    while cursor.accept("["):
        if not cursor.accept("]"):
            cursor.take()
            cursor.expect("]")
        dimensions = "[]"
    if cursor.accept("ARRAY"):
        dimensions = "[]"
    if not cursor.text_since(start):
        raise cursor.expectation_error("a type")
    return parts, f"{name}{f'({numbers})' if numbers else ''}{zone}{dimensions}"


_LITERAL: Final = re.compile(
    r"(?:[eE]'((?:[^'\\]|''|\\.)*)'|'((?:[^']|'')*)'|([+-]?[\d.]+(?:[eE][+-]?\d+)?)|(true|false)"
    r"|[bB]'([01]*)')$",
    re.IGNORECASE,
)
"""A literal of PostgreSQL: a string with escapes (group 1), one without (2), a number (3), a
boolean (4) or a bit string (5).
"""
_CAST: Final = re.compile(
    r"::(?![^:]*\b(?:IS|ISNULL|NOTNULL|IN|BETWEEN|AND|OR|AT)\b)[\w\s.\"]+(?:\([\d,\s]*\))?"
    r"(?:\s+with(?:out)? time zone)?(?:\[\])*$",
    re.IGNORECASE,
)
"""A cast at the end of an expression, such as `::character varying(20)`; none before a test such as
`IS NULL`, of which the cast is only an operand.
"""


def postgresql_default(default_text: str, type: SourceType) -> Default | None:
    """The default of a PostgreSQL column from its text, by the literal that stands there without
    its casts; None for NULL. The value of the default is None for any other expression.
    """
    uncast = default_text
    while True:
        shorter = _CAST.sub("", uncast).strip()
        shorter = shorter[1:-1].strip() if re.fullmatch(r"\([^()']*\)", shorter) else shorter
        if shorter == uncast:
            break
        uncast = shorter
    if uncast.upper() == "NULL":
        return None
    match = _LITERAL.match(uncast)
    return Default(default_text, _postgresql_literal(type, match) if match else None)


def _postgresql_literal(type: SourceType, match: re.Match[str]) -> Value:
    """The value that a matched literal of PostgreSQL's DDL has in a column of that type, after its
    quotes and escapes are undone. A number becomes a bit string by a cast, which keeps its lowest
    bits; None for a number in a varbit, since the length in the cast is not known here.
    """
    escaped, plain, number, boolean, bits = match.groups()
    if escaped is not None:
        return _postgresql_value(type, unescape(escaped))
    if plain is not None:
        return _postgresql_value(type, plain.replace("''", "'"))
    if number is not None and type.name in ("bit", "varbit"):
        is_known = type.name == "bit" and re.fullmatch(r"[+-]?\d+", number)
        return int(number) % (1 << (type.length or 1)) if is_known else None
    return _postgresql_value(type, number or boolean or bits or "")


_BOOLEAN_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "on", "1"), 1),
    **dict.fromkeys(("false", "no", "off", "0"), 0),
}
"""PostgreSQL's words for a boolean, and the value of each."""


def _postgresql_boolean(literal_text: str) -> Value:
    """The value of a boolean's text: PostgreSQL takes its words in any case, between blanks, and
    shortened to a beginning that no word of the other value has. None for another text.
    """
    word = literal_text.strip().lower()
    values = {value for whole, value in _BOOLEAN_WORDS.items() if word and whole.startswith(word)}
    return values.pop() if len(values) == 1 else None


def _postgresql_value(type: SourceType, literal_text: str) -> Value:
    """The value of PostgreSQL's literal in a column of the type; None if the type cannot hold
    it.
    """
    try:
        match type.logical:
            case Logical.BIT if type.name == "boolean":
                return _postgresql_boolean(literal_text)
            case Logical.BIT if not re.fullmatch("[01]*", literal_text):
                return None
            case Logical.BIT if not literal_text:
                return "" if type.name == "varbit" else None
            case Logical.BIT:
                return int(literal_text, 2) if len(literal_text) <= (type.length or 1) else None
            case Logical.BINARY if literal_text.startswith("\\x"):
                return bytes.fromhex(literal_text[2:])
            case Logical.BINARY:
                return literal_text.encode() if "\\" not in literal_text else None
            case Logical.DATETIME | Logical.TIMESTAMP if re.fullmatch(
                r"\d{4}-\d\d-\d\d", literal_text
            ):
                literal_text += " 00:00:00"
            case Logical.TEXT if type.name == "timetz":
                return timetz_read(literal_text)
            case Logical.TEXT if type.name == "interval":
                return interval_read(literal_text)
        return postgresql_truth.cell_value(type, literal_text)
    except (ValueError, KeyError, ArithmeticError, AssertionError, TypeError):
        return None


def literal_value(type: SourceType, literal_text: str, kind: WordKind) -> Value:
    """The value that a literal of DDL, a string or a number, has in a column of the type; None if
    the type cannot hold it. `kind` tells a string from a number, a hexadecimal and a bit literal,
    which are other values in MySQL's columns; of PostgreSQL's literals the text alone counts.
    """
    if type.source == "mysql":
        return _mysql_literal(type, "", kind, literal_text)
    return _VALUES[type.source](type, literal_text)


_VALUES: Final[Mapping[str, Callable[[SourceType, str], Value]]] = {
    "postgresql": _postgresql_value,
    "sqlserver": tsql_value,
    "oracle": oracle_value,
}
"""The value of a literal's text by source, where strings and numbers are read alike."""


def postgresql_type(spelling: str, enums: Mapping[str, tuple[str, ...]]) -> SourceType:
    """The column type that a spelling of `postgresql_spelling` names, one of the `enums` among
    them. Raises Unsupported for a type that this project does not have.
    """
    base = spelling.removesuffix("[]")
    if base in postgresql.UNKNOWN:  # Recorded tables alone have them: values cannot be drawn.
        raise Unsupported(f"column type {spelling!r}")
    try:
        type = (
            postgresql.enum_of(*enums[base])
            if base in enums
            else postgresql_truth.source_type(base, {}, {})
        )
        if base == spelling:
            return type
        return postgresql.array(base) if base in ("integer", "text") else postgresql.array_of(type)
    except (ValueError, KeyError) as error:
        raise Unsupported(f"column type {spelling!r}") from error
