"""What a decoder of Debezium's JSON owes for values, by the options that decide their form; special before general.

A profile whose name does not have an option has the default of what the option sets.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Provenance, Selector
from conformance.rules.book import CONTENT, DOCUMENTED, Book, value

BOOK: Final = Book("debezium-json", Provenance.OBSERVED)

_STRING: Final = ("*+string*",)
_DOUBLE: Final = ("*+double*",)
_ISO: Final = ("*+isostring*",)
_CONNECT: Final = ("*+connect*",)
_HEX: Final = ("*+hex*",)
_POSTGRESQL: Final = ("*+postgresql*",)


def _of(profiles: tuple[str, ...], *logicals: str, classes: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> Selector:
    """Values of these types in profiles of an option."""
    return Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=logicals, classes=classes, types=types, profiles=profiles)


_NULLS: Final = (
    BOOK.rule(
        "value/default-for-null",
        "NULL of a column with a default arrives as the default: the value is what the bytes say.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, classes=("default",)),
        "connect#default-for-null",
    ),
    BOOK.rule(
        "value/null-kept",
        "With replace.null.with.default=false NULL stays null, in a column with a default too, and source.snapshot is null.",
        Effect.VALUE_FOR_NULL,
        Selector(fields=("cell",), aspects=(Aspect.NULL,), tags=("default-for-null",), profiles=("*+nulls-kept*",)),
        "connect#nulls-kept",
        "debezium#snapshot-member",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "value/text-null",
        "The text null is text.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null",)),
        "connect#text",
        "standards#json-null",
    ),
    BOOK.rule(
        "value/json-null-literal",
        'A JSON column that holds the literal null has the text "null"; it is not NULL.',
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("json",), classes=("null-literal",)),
        "debezium#json-text",
        "standards#mysql-json-null",
    ),
    BOOK.rule(
        "value/zero-not-null",
        "A zero date in a NOT NULL column is the epoch.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=CONTENT, tags=("zero-not-null",), logicals=("date", "datetime", "timestamp")),
        "debezium#zero-dates",
    ),
    BOOK.rule(
        "value/zero-timestamp",
        "A streamed zero TIMESTAMP is 1970-01-01T00:00:00Z up to 3.5; the epoch, NULL or the zero text are as good.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("timestamp",), classes=("zero",)),
        "debezium#zero-timestamp",
    ),
    BOOK.rule(
        "value/zero-date",
        "Zero and partly zero dates arrive as null in a nullable column.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("date", "datetime"), classes=("zero", "partial-zero")),
        "debezium#zero-dates",
    ),
    BOOK.rule(
        "value/time-outside-day",
        "connect and isostring have no TIME outside 0 to 24 hours: it arrives as null.",
        Effect.VALUE_FOR_NULL,
        Selector(fields=("cell",), aspects=(Aspect.NULL,), logicals=("time",), states=("NULL",), profiles=(*_CONNECT, *_ISO)),
        "debezium#time-of-day",
    ),
    BOOK.rule(
        "value/null",
        "JSON null is NULL and nothing else is.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        "connect#null",
        "connect#struct-fields",
    ),
)

_NUMBERS: Final = (
    BOOK.rule(
        "value/unsigned-precise",
        "bigint.unsigned.handling.mode precise: BIGINT UNSIGNED is a Decimal of scale 0, base64 of two's complement.",
        Effect.WRONG_SIGN,
        _of(("*+unsigned-precise*",), types=("bigint unsigned",)),
        "debezium#unsigned-precise",
        "connect#decimal",
    ),
    BOOK.rule(
        "value/unsigned-long",
        "bigint.unsigned.handling.mode long: 2^63 and above arrive as negative numbers; with the table known they are unsigned.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",), types=("bigint unsigned",)),
        "debezium#unsigned-long",
    ),
    BOOK.rule(
        "value/unsigned",
        "The smaller unsigned integers come in a wider Connect type and are never negative.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
        "debezium#unsigned-wider",
    ),
    BOOK.rule(
        "value/integer-64",
        "An int64 is exact beyond 2^53.",
        Effect.LOST_PRECISION,
        value("int", classes=("beyond-double",)),
        "connect#integers",
        "standards#json-numbers",
    ),
    BOOK.rule(
        "value/integer",
        "Integers are JSON numbers; TINYINT(1) is int16, and so is BOOLEAN after a snapshot.",
        Effect.WRONG_VALUE,
        value("int"),
        "debezium#boolean-tinyint",
        "connect#integers",
    ),
    BOOK.rule(
        "value/money",
        "money is a Decimal of scale 2, or of money.fraction.digits; in string mode its text; up to 1.7 always a Decimal.",
        Effect.LOST_PRECISION,
        value(types=("money",)),
        "debezium#money",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "value/decimal-variable-scale",
        "numeric without precision is VariableScaleDecimal: scale, and base64 of the unscaled value; trailing zeros are gone.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("variable-scale",)),
        "debezium#decimal-variable-scale",
    ),
    BOOK.rule(
        "value/decimal-exponent",
        "Up to 1.8 a decimal as text may have an exponent: 0E-10 is zero.",
        Effect.WRONG_VALUE,
        value("decimal", classes=("exponent",)),
        "debezium#decimal-string",
    ),
    BOOK.rule(
        "value/decimal-string",
        "decimal.handling.mode string: the text is the number, neither base64 nor a double.",
        Effect.LOST_PRECISION,
        _of(_STRING, "decimal"),
        "debezium#decimal-string",
    ),
    BOOK.rule(
        "value/decimal-double",
        "decimal.handling.mode double: a JSON number, exact to some 17 digits; what it rounds to is as good as the bytes allow.",
        Effect.LOST_PRECISION,
        _of(_DOUBLE, "decimal"),
        "debezium#decimal-double",
    ),
    BOOK.rule(
        "value/decimal-base64-digits",
        "Base64 that reads as a number (1234, 1e10, Infinity) is base64 all the same.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("decimal",), tags=("base64-digits",)),
        "connect#decimal",
        "debezium#base64-digits",
    ),
    BOOK.rule(
        "value/decimal-wide",
        "A decimal of more than 15 digits is exact; above 38 digits it is text in Spark.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("long", "wide")),
        "debezium#decimal-precise",
        "connect#decimal",
    ),
    BOOK.rule(
        "value/decimal-base64",
        "decimal.handling.mode precise: base64 of the unscaled value in big-endian two's complement at the column's scale; with "
        "decimal.format=NUMERIC a JSON number.",
        Effect.SILENT_CORRUPTION,
        value("decimal"),
        "debezium#decimal-precise",
        "connect#decimal",
        "connect#decimal-numeric",
    ),
    BOOK.rule(
        "value/not-finite",
        "Infinite floats are the JSON strings Infinity and -Infinity.",
        Effect.WRONG_VALUE,
        value("float", "double", classes=("not-finite",)),
        "connect#floats",
    ),
    BOOK.rule(
        "value/float-widened",
        "Up to 1.9 MySQL's FLOAT is a double with more digits: the nearest binary32 is the value.",
        Effect.LOST_PRECISION,
        _of(("1.*",), types=("float*",)),
        "debezium#floats",
    ),
    BOOK.rule(
        "value/float",
        "FLOAT and real are the nearest binary32 of Java's text; a MySQL snapshot has six digits.",
        Effect.LOST_PRECISION,
        value("float"),
        "debezium#floats",
        "connect#floats",
    ),
    BOOK.rule(
        "value/double",
        "DOUBLE is the nearest binary64 of Java's text, exponents and -0.0 included.",
        Effect.LOST_PRECISION,
        value("double"),
        "debezium#floats",
        "connect#floats",
    ),
    BOOK.rule(
        "value/bits-64",
        "The highest of 64 bits is a value's, not a sign's.",
        Effect.WRONG_SIGN,
        value("bit", "set", classes=("over-signed",)),
        "debezium#bits",
    ),
    BOOK.rule(
        "value/bits-trimmed",
        "PostgreSQL's bits end at the highest set bit: zero is the empty text.",
        Effect.WRONG_VALUE,
        _of(_POSTGRESQL, "bit"),
        "debezium#bits-trimmed",
    ),
    BOOK.rule(
        "value/bits",
        "BIT(1) is a boolean, BIT(n) base64 of little-endian bytes.",
        Effect.WRONG_VALUE,
        value("bit"),
        "debezium#bits",
    ),
)

_TIMES: Final = (
    BOOK.rule(
        "value/two-digit-year",
        "Years 1 to 99 have become 1970 to 2069 in the connector: the date is what the bytes say.",
        Effect.TIME_SHIFT,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), tags=("two-digit-year",), logicals=("date", "datetime")),
        "debezium#two-digit-years",
    ),
    BOOK.rule(
        "value/iso",
        "isostring: dates and times are ISO texts with a Z although they have no zone.",
        Effect.TIME_SHIFT,
        _of(_ISO, "date", "datetime", "time"),
        "debezium#iso-strings",
    ),
    BOOK.rule(
        "value/connect",
        "connect: milliseconds of Connect's Timestamp and Time, whatever the column's precision; the rest is cut off.",
        Effect.TIME_SHIFT,
        _of(_CONNECT, "datetime", "time"),
        "debezium#connect-times",
        "connect#time",
        "connect#timestamp",
    ),
    BOOK.rule(
        "value/date-days",
        "A date is a number of days since 1970-01-01, negative before it; not milliseconds.",
        Effect.TIME_SHIFT,
        value("date"),
        "debezium#date-days",
    ),
    BOOK.rule(
        "value/datetime-micros",
        "Four to six fraction digits: microseconds of wall clock, to the last one, before 1970 as well.",
        Effect.TIME_SHIFT,
        value("datetime", classes=("micros",)),
        "debezium#datetime-units",
    ),
    BOOK.rule(
        "value/datetime-millis",
        "Up to three fraction digits: milliseconds of wall clock without a zone; the unit is the column's, not the number's.",
        Effect.TIME_SHIFT,
        value("datetime"),
        "debezium#datetime-units",
    ),
    BOOK.rule(
        "value/timestamp-zoned",
        "TIMESTAMP and timestamptz are ISO text in UTC in every mode, with as many fraction digits as the release prints.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        "debezium#timestamp-zoned",
    ),
    BOOK.rule(
        "value/time-millis",
        "PostgreSQL's default, adaptive: a time of up to three fraction digits is milliseconds; the unit is the column's.",
        Effect.TIME_SHIFT,
        value("time", classes=("unit-millis",)),
        "debezium#time-adaptive",
    ),
    BOOK.rule(
        "value/time-negative",
        "TIME may be negative.",
        Effect.WRONG_SIGN,
        value("time", classes=("negative",)),
        "debezium#time-micros",
        "standards#mysql-time-range",
    ),
    BOOK.rule(
        "value/time-over-24h",
        "TIME goes to 838:59:59, and PostgreSQL's to 24:00:00: neither wraps.",
        Effect.WRONG_VALUE,
        value("time", classes=("over-24h",)),
        "debezium#time-micros",
        "standards#mysql-time-range",
    ),
    BOOK.rule(
        "value/time",
        "TIME of MySQL is microseconds, whatever its precision; so is PostgreSQL's of more than three fraction digits.",
        Effect.TIME_SHIFT,
        value("time"),
        "debezium#time-micros",
        "debezium#time-adaptive",
    ),
    BOOK.rule(
        "value/year-zero",
        "YEAR 0 arrives as 1900, which no other YEAR is (2000 from a snapshot); 0 is as good.",
        Effect.WRONG_VALUE,
        value("year", classes=("zero",)),
        "debezium#year",
    ),
    BOOK.rule(
        "value/year",
        "YEAR is a number.",
        Effect.WRONG_VALUE,
        value("year"),
        "debezium#year",
    ),
    BOOK.rule(
        "value/interval",
        "interval is microseconds with months of 30.4375 days, or an ISO duration of every field.",
        Effect.WRONG_VALUE,
        value(types=("interval",)),
        "debezium#interval",
    ),
    BOOK.rule(
        "value/timetz",
        "timetz is ISO text in UTC.",
        Effect.TIME_SHIFT,
        value(types=("timetz",)),
        "debezium#timetz",
    ),
)

_TEXTS: Final = (
    BOOK.rule(
        "value/enum-escaped",
        "In the label of a streamed ENUM a comma and a backslash have a backslash before them: with the table known the label "
        "has none of these.",
        Effect.WRONG_VALUE,
        value("enum", classes=("escaped",)),
        "debezium#enum-label",
    ),
    BOOK.rule(
        "value/enum-empty",
        "The empty value of invalid input is the empty text, which may be a label as well.",
        Effect.WRONG_VALUE,
        value("enum", classes=("empty",)),
        "debezium#enum-label",
    ),
    BOOK.rule(
        "value/enum",
        "ENUM is its label, not an index; a snapshot's label is not escaped.",
        Effect.WRONG_VALUE,
        value("enum"),
        "debezium#enum-label",
    ),
    BOOK.rule(
        "value/set",
        "SET is its labels in the order of the definition, joined by commas; none is the empty text. A streamed label has a "
        "backslash before each backslash.",
        Effect.WRONG_VALUE,
        value("set"),
        "debezium#set-labels",
    ),
    BOOK.rule(
        "value/binary-hex",
        "binary.handling.mode hex: two hex digits a byte, no prefix.",
        Effect.SILENT_CORRUPTION,
        _of(_HEX, "binary"),
        "debezium#binary-modes",
    ),
    BOOK.rule(
        "value/binary-base64-digits",
        "Base64 that reads as a number is base64 all the same.",
        Effect.SILENT_CORRUPTION,
        Selector(fields=("cell",), aspects=(Aspect.VALUE,), logicals=("binary",), tags=("base64-digits",)),
        "connect#bytes",
        "debezium#base64-digits",
    ),
    BOOK.rule(
        "value/binary-padded",
        "BINARY(n) has its padding: trailing zero bytes belong to the value.",
        Effect.WRONG_VALUE,
        value("binary", classes=("trailing-zero",)),
        "debezium#binary-padded",
    ),
    BOOK.rule(
        "value/binary-base64",
        "Modes bytes and base64: standard base64 with padding; level two has the bytes.",
        Effect.SILENT_CORRUPTION,
        value("binary"),
        "debezium#binary-modes",
        "connect#bytes",
    ),
    BOOK.rule(
        "value/array",
        "An array is a JSON array whose items may be null.",
        Effect.WRONG_VALUE,
        value(types=("*[[]]",)),
        "debezium#arrays",
        "connect#arrays",
    ),
    BOOK.rule(
        "value/hstore",
        "hstore is a string that holds a JSON object, null items kept.",
        Effect.WRONG_VALUE,
        value(types=("hstore",)),
        "debezium#hstore",
        provenance=DOCUMENTED,
    ),
    BOOK.rule(
        "value/spatial",
        "POINT is a struct of x, y, wkb and srid, other spatial types are one of wkb and srid: base64 of the well-known binary, "
        "and null where there is no reference system.",
        Effect.WRONG_VALUE,
        value("json", classes=("spatial",)),
        "debezium#spatial",
    ),
    BOOK.rule(
        "value/json",
        "A JSON column is a string that holds the document, numbers exact; streamed and read by a snapshot it differs in spaces.",
        Effect.LOST_PRECISION,
        value("json"),
        "debezium#json-text",
    ),
    BOOK.rule(
        "value/text-controls",
        "Escaped control characters and line separators come back as they were.",
        Effect.MOJIBAKE,
        value("text", classes=("control", "separator")),
        "connect#text",
        "standards#json-escapes",
    ),
    BOOK.rule(
        "value/text",
        "Text, enum labels of PostgreSQL, uuid and inet come back character for character.",
        Effect.MOJIBAKE,
        Selector(),
        "connect#text",
        "debezium#row-values",
    ),
)

VALUES: Final = (*_NULLS, *_NUMBERS, *_TIMES, *_TEXTS)
"""Rules on cells that are there; the last one owns whatever is left."""
