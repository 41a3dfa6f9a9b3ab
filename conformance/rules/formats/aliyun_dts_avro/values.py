"""What a decoder of Aliyun DTS Avro owes for values, special before general.

Level one shows the record of a value's Avro branch, level two what it is worth; a MUST owns both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.rules.base import Aspect, Effect, Selector
from conformance.rules.book import ASSUMED, CONTENT, OBSERVED, SHOULD, UNSPECIFIED, Book, value
from conformance.rules.families.mysql_values import meaning, wire

BOOK: Final = Book("aliyun-dts-avro", OBSERVED)

_POSTGRESQL: Final = ("*+postgresql*",)
_TEXTS: Final = ("text", "tinytext", "mediumtext", "longtext")
_NANOS: Final = ("*+drds*", "*+physical-log*")

_NULLS: Final = (
    BOOK.rule(
        "value/text-null",
        "The text null is text.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null",)),
        "aliyun#null",
    ),
    BOOK.rule(
        "value/json-null-literal",
        "A JSON column that holds the literal null has the text null in its object; it is not NULL.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("json",), classes=("null-literal",)),
        "aliyun#null",
        "standards#mysql-json-null",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/null",
        "SQL NULL is the branch null, number 0; every other branch but EmptyObject is a value.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        "aliyun#null",
    ),
)

_NUMBERS: Final = (
    BOOK.rule(
        "value/special-numeric",
        "A Decimal's text may be NaN, Infinity, -Infinity or ~, and stands as it is.",
        Effect.SILENT_CORRUPTION,
        value("decimal", classes=("special",)),
        "aliyun#special-numeric",
    ),
    BOOK.rule(
        "value/unsigned",
        "An Integer is decimal text, of BIGINT UNSIGNED too: above the signed maximum it is what its text says.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
        "aliyun#integer",
    ),
    BOOK.rule(
        "value/integer-64",
        "A 64-bit integer is exact beyond 2^53.",
        Effect.LOST_PRECISION,
        value("int", classes=("beyond-double",)),
        "aliyun#integer",
    ),
    BOOK.rule(
        "value/integer",
        "An Integer is its text; its precision is the column's width in bytes and no number of digits.",
        Effect.WRONG_VALUE,
        value("int"),
        "aliyun#integer",
    ),
    BOOK.rule(
        "value/decimal-long",
        "A DECIMAL of more than 15 digits is exact.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("long", "wide")),
        "aliyun#decimal",
    ),
    BOOK.rule(
        "value/decimal",
        "A Decimal is its text; precision and scale are the value's and not the column's.",
        Effect.LOST_PRECISION,
        value("decimal"),
        "aliyun#decimal",
    ),
    BOOK.rule(
        "value/not-finite",
        "A Float may be infinite.",
        Effect.WRONG_VALUE,
        value("float", "double", classes=("not-finite",)),
        "aliyun#float",
        "aliyun#postgresql-infinity",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/float",
        "FLOAT is a binary32 widened to a double: the nearest binary32 is the value.",
        Effect.LOST_PRECISION,
        value("float"),
        "aliyun#float",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/double",
        "DOUBLE is the double, bit for bit.",
        Effect.LOST_PRECISION,
        value("double"),
        "aliyun#float",
    ),
    BOOK.rule(
        "value/boolean",
        "PostgreSQL's boolean is a TextObject: t and f, or true and false.",
        Effect.WRONG_VALUE,
        value("bit", types=("boolean",)),
        "aliyun#postgresql-boolean",
    ),
    BOOK.rule(
        "value/bits-64",
        "BIT(64) is an Integer above the signed maximum.",
        Effect.WRONG_SIGN,
        value("bit", classes=("over-signed",)),
        "aliyun#bit",
        "aliyun#integer",
    ),
    BOOK.rule(
        "value/bits",
        "BIT is an Integer.",
        Effect.WRONG_VALUE,
        value("bit"),
        "aliyun#bit",
    ),
)

_OBJECTS: Final = (
    BOOK.rule(
        "value/label-ambiguous",
        "An ENUM or SET text that is a label and also an index or mask may be read as either; so may the empty text.",
        Effect.WRONG_VALUE,
        value("enum", "set", states=("ONE_OF",)),
        "aliyun#text-objects",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/enum",
        "ENUM is a TextObject with the label.",
        Effect.WRONG_VALUE,
        value(types=("enum",)),
        "aliyun#text-objects",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/set",
        "SET is a TextObject with the labels, joined by commas.",
        Effect.WRONG_VALUE,
        value("set"),
        "aliyun#text-objects",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/uuid",
        "uuid is a TextObject.",
        Effect.WRONG_VALUE,
        value(types=("uuid",)),
        "aliyun#object-types",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/geometry",
        "BinaryGeometry and TextGeometry are branches of their own, and not the objects that have the same fields.",
        Effect.SILENT_CORRUPTION,
        value(classes=("geometry",)),
        "aliyun#geometry",
    ),
    BOOK.rule(
        "value/jsonb",
        "PostgreSQL's jsonb is a BinaryObject: the document's text in UTF-8.",
        Effect.WRONG_VALUE,
        value("json", types=("jsonb",)),
        "aliyun#postgresql-jsonb",
    ),
    BOOK.rule(
        "value/json",
        "A JSON column is a TextObject with its document, numbers exact.",
        Effect.LOST_PRECISION,
        value("json"),
        "aliyun#text-objects",
        "standards#json-numbers",
    ),
    BOOK.rule(
        "value/binary-empty",
        "An empty binary is no bytes, not NULL.",
        Effect.NULL_FOR_VALUE,
        value("binary", classes=("empty",)),
        "aliyun#binary-objects",
        "aliyun#null",
    ),
    BOOK.rule(
        "value/binary-object",
        "BINARY and VARBINARY may come as a BinaryObject of type BINARY.",
        Effect.WRONG_VALUE,
        replace(value("binary", types=("binary", "varbinary")), profiles=("*+text-object*",)),
        "aliyun#object-types",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/binary-character",
        "A Character in charset binary is bytes and no text.",
        Effect.MOJIBAKE,
        value("binary", types=("binary", "varbinary")),
        "aliyun#charset",
        "aliyun#charset-names",
    ),
    BOOK.rule(
        "value/binary",
        "A BinaryObject's bytes are the value, zero bytes and all.",
        Effect.MOJIBAKE,
        value("binary"),
        "aliyun#binary-objects",
    ),
)

_TIMES: Final = (
    BOOK.rule(
        "value/timestamp-zero",
        "What a zero TIMESTAMP becomes is not known: zero seconds are the zero value or the epoch.",
        Effect.SILENT_CORRUPTION,
        value("timestamp", states=("ONE_OF",)),
        "aliyun#zero-dates",
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/zero-date",
        "Zero and partly zero dates have parts that are 0: NULL or kept as text, and never another date.",
        Effect.SILENT_CORRUPTION,
        value("date", "datetime", classes=("zero", "partial-zero")),
        "aliyun#zero-dates",
        "standards#mysql-zero-dates",
    ),
    BOOK.rule(
        "value/timestamp-zone",
        "A TimestampWithTimeZone is wall clock with an offset of its own, without GMT before it.",
        Effect.TIME_SHIFT,
        value("timestamp", types=("timestamptz",)),
        "aliyun#zone",
    ),
    BOOK.rule(
        "value/timestamp-fraction",
        "Timestamp.millis holds microseconds, whatever its name says.",
        Effect.LOST_PRECISION,
        value("timestamp", classes=("micros", "millis")),
        "aliyun#timestamp",
    ),
    BOOK.rule(
        "value/timestamp",
        "A Timestamp is seconds since the epoch, whatever the reader's zone.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        "aliyun#timestamp",
    ),
    BOOK.rule(
        "value/time-negative",
        "A negative TIME has its sign on every part, and a part that is 0 has none: hour 0, second -1 is -00:00:01.",
        Effect.WRONG_SIGN,
        value("time", classes=("negative",)),
        "aliyun#time",
    ),
    BOOK.rule(
        "value/time-over-24h",
        "TIME's hour goes to 838.",
        Effect.WRONG_VALUE,
        value("time", classes=("over-24h",)),
        "aliyun#time",
        "standards#mysql-time-range",
    ),
    BOOK.rule(
        "value/fraction-by-source",
        "The source decides the unit of DateTime.millis: MySQL and PostgreSQL have microseconds, every other source and the "
        "physical log of PostgreSQL nanoseconds.",
        Effect.LOST_PRECISION,
        replace(value("datetime"), tags=("source-type",)),
        "aliyun#datetime-nanos",
        "aliyun#datetime-micros",
        "aliyun#datetime-unit-disputed",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "value/fraction-nanos",
        "DateTime.millis holds nanoseconds for sources that are neither MySQL nor PostgreSQL, and where sourcePosition has <->.",
        Effect.LOST_PRECISION,
        replace(value("datetime", "time", classes=("micros", "millis")), profiles=_NANOS),
        "aliyun#datetime-nanos",
        "aliyun#datetime-unit-disputed",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "value/fraction-wire",
        "What DateTime.millis holds is certain at level one, where its unit is not.",
        Effect.LOST_PRECISION,
        replace(value("datetime", "time", classes=("micros", "millis")), profiles=_NANOS, levels=(1,)),
        "harness#wire-text",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/fraction",
        "DateTime.millis holds microseconds for MySQL and PostgreSQL, whatever its name says.",
        Effect.LOST_PRECISION,
        value("datetime", "time", classes=("micros", "millis")),
        "aliyun#datetime-micros",
    ),
    BOOK.rule(
        "value/date",
        "DATE and DATETIME are wall clock without a zone, their months counted from 1; a DATE has no hour.",
        Effect.TIME_SHIFT,
        value("date", "datetime"),
        "aliyun#datetime",
    ),
    BOOK.rule(
        "value/time",
        "TIME is a DateTime without year, month and day.",
        Effect.WRONG_VALUE,
        value("time"),
        "aliyun#time",
    ),
    BOOK.rule(
        "value/year-zero",
        "YEAR 0000 is 0.",
        Effect.WRONG_VALUE,
        value("year", classes=("zero",)),
        "aliyun#year",
    ),
    BOOK.rule(
        "value/year",
        "YEAR is a DateTime with nothing but a year.",
        Effect.WRONG_VALUE,
        value("year"),
        "aliyun#year",
    ),
)

_STRINGS: Final = (
    BOOK.rule(
        "charset/other",
        "A Character is in the column's charset by MySQL's name: the rest of the clients' mapping is read too.",
        Effect.MOJIBAKE,
        replace(value("text"), tags=("charset:other",)),
        "aliyun#charset-names",
        obligation=SHOULD,
    ),
    BOOK.rule(
        "charset/by-value",
        "Each Character names its own charset: utf8mb4, utf8mb3, gbk or latin1, which is Windows-1252; UTF-8 is no rule.",
        Effect.MOJIBAKE,
        replace(value("text"), tags=("charset:known",)),
        "aliyun#charset",
        "aliyun#charset-names",
        "standards#mysql-latin1",
    ),
    BOOK.rule(
        "charset/legacy",
        "CHAR and VARCHAR may be in latin1, gbk or utf8mb3.",
        Effect.MOJIBAKE,
        replace(value("text", types=("char", "varchar")), profiles=("*+legacy-charsets*",)),
        "aliyun#charset",
        "aliyun#charset-names",
    ),
    BOOK.rule(
        "charset/postgresql",
        "Texts of PostgreSQL are Characters in UTF-8.",
        Effect.MOJIBAKE,
        replace(value("text"), profiles=_POSTGRESQL),
        "aliyun#charset",
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/text-as-character",
        "TEXT may come as a Character, as VARCHAR does: the branch decides.",
        Effect.MOJIBAKE,
        replace(value("text", types=_TEXTS), profiles=("*+text-character*",)),
        "aliyun#object-types",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/text-as-text-object",
        "TEXT may come as a TextObject: the branch decides.",
        Effect.MOJIBAKE,
        replace(value("text", types=_TEXTS), profiles=("*+text-object*",)),
        "aliyun#object-types",
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    BOOK.rule(
        "value/text-as-binary-object",
        "TEXT may come as a BinaryObject of type TEXT, as the demo expects: the bytes are its text.",
        Effect.MOJIBAKE,
        value("text", types=_TEXTS),
        "aliyun#binary-objects",
        obligation=SHOULD,
    ),
    wire(BOOK),
    BOOK.rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        "aliyun#charset",
    ),
)


VALUES: Final = tuple(map(meaning, (*_NULLS, *_NUMBERS, *_OBJECTS, *_TIMES, *_STRINGS)))
"""The last owns every comparison that is left, so it ends the format's rules."""
