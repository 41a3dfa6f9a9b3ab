"""What a decoder of Aliyun DTS Avro owes for values, special before general.

Level one shows the record of a value's Avro branch, level two what it is worth; a rule owns both. Citations name
reference/cloud_vendors.md 1, whose 1.10 numbers the contradictions (DTS-n), and the clients that it was read from.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Provenance, Selector
from conformance.rules.book import ASSUMED, CONTENT, DOCUMENTED, SHOULD, UNSPECIFIED, Book, value

BOOK: Final = Book("aliyun-dts-avro", Provenance.OBSERVED)
_rule = BOOK.rule

REFERENCE: Final = "reference/cloud_vendors.md"
DEMO: Final = "LioRoger/subscribe_example @ bd8dbee"
SDK: Final = "aliyun/aliyun-dts-subscribe-sdk-java @ bcc5cf5"
FAST: Final = "aliyun/aliyun-dts-subscribe-sdk-java, branch master-fast-deserialize, LazyRecordDeserializer.java"
FLINK: Final = "silly-fofo/flink-dts-connector @ 77d500e, LazyRecordDeserializer.java"
MANUAL: Final = "MySQL 8.0 Reference Manual"

_POSTGRESQL: Final = ("*+postgresql*",)
_TEXTS: Final = ("text", "tinytext", "mediumtext", "longtext")
_NANOS: Final = ("*+drds*", "*+physical-log*")


def _of(
    *logicals: str,
    profiles: tuple[str, ...] = (),
    classes: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Selector:
    """Values of these types in these profiles and cases."""
    return Selector(
        fields=("cell",), aspects=(Aspect.VALUE,), logicals=logicals, classes=classes, types=types, profiles=profiles, tags=tags
    )


_NULLS: Final = (
    _rule(
        "value/text-null",
        "The text null is text.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("text",), classes=("literal-null",)),
        (REFERENCE, "1.4: the branch null is SQL NULL"),
    ),
    _rule(
        "value/json-null-literal",
        "A JSON column that holds the literal null has the text null in its object; it is not NULL.",
        Effect.NULL_FOR_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("json",), classes=("null-literal",)),
        (REFERENCE, "1.4: the branch null is SQL NULL"),
        (MANUAL, "13.5"),
    ),
    _rule(
        "value/null",
        "SQL NULL is the branch null, number 0; every other branch but EmptyObject is a value.",
        Effect.VALUE_FOR_NULL,
        Selector(aspects=(Aspect.NULL,)),
        (REFERENCE, "1.4"),
    ),
)

_NUMBERS: Final = (
    _rule(
        "value/special-numeric",
        "A Decimal's text may be NaN, Infinity, -Infinity or ~, and stands as it is.",
        Effect.SILENT_CORRUPTION,
        _of("decimal", classes=("special",)),
        (REFERENCE, "1.7: Decimal"),
        (FLINK, "SpecialNumeric"),
    ),
    _rule(
        "value/unsigned",
        "An Integer is decimal text, of BIGINT UNSIGNED too: above the signed maximum it is what its text says.",
        Effect.WRONG_SIGN,
        value("int", classes=("over-signed",)),
        (REFERENCE, "1.7: Integer.precision"),
    ),
    _rule(
        "value/integer-64",
        "A 64-bit integer is exact beyond 2^53.",
        Effect.LOST_PRECISION,
        value("int", classes=("beyond-double",)),
        (REFERENCE, "1.7: Integer.precision"),
    ),
    _rule(
        "value/integer",
        "An Integer is its text; its precision is the column's width in bytes and no number of digits.",
        Effect.WRONG_VALUE,
        value("int"),
        (REFERENCE, "1.7: Integer.precision"),
    ),
    _rule(
        "value/decimal-long",
        "A DECIMAL of more than 15 digits is exact.",
        Effect.LOST_PRECISION,
        value("decimal", classes=("long", "wide")),
        (REFERENCE, "1.7: Decimal"),
    ),
    _rule(
        "value/decimal",
        "A Decimal is its text; precision and scale are the value's and not the column's.",
        Effect.LOST_PRECISION,
        value("decimal"),
        (REFERENCE, "1.7: Decimal"),
    ),
    _rule(
        "value/not-finite",
        "A Float may be infinite.",
        Effect.WRONG_VALUE,
        value("float", "double", classes=("not-finite",)),
        ("PostgreSQL 15 documentation", "8.1.3"),
        provenance=DOCUMENTED,
    ),
    _rule(
        "value/float",
        "FLOAT is a binary32 widened to a double: the nearest binary32 is the value.",
        Effect.LOST_PRECISION,
        value("float"),
        (REFERENCE, "1.7: Float"),
    ),
    _rule(
        "value/double",
        "DOUBLE is the double, bit for bit.",
        Effect.LOST_PRECISION,
        value("double"),
        (REFERENCE, "1.7: Float"),
    ),
    _rule(
        "value/boolean",
        "PostgreSQL's boolean is a TextObject: t and f, or true and false.",
        Effect.WRONG_VALUE,
        _of("bit", types=("boolean",)),
        (REFERENCE, "1.7: PG bool"),
        (FAST, "OID 16"),
    ),
    _rule(
        "value/bits-64",
        "BIT(64) is an Integer above the signed maximum.",
        Effect.WRONG_SIGN,
        value("bit", classes=("over-signed",)),
        (REFERENCE, "1.7: type 16"),
    ),
    _rule(
        "value/bits",
        "BIT is an Integer.",
        Effect.WRONG_VALUE,
        value("bit"),
        (REFERENCE, "1.7: type 16"),
        (DEMO, "type 16"),
    ),
)

_OBJECTS: Final = (
    _rule(
        "value/label-ambiguous",
        "An ENUM or SET text that is a label and also an index or mask may be read as either; so may the empty text.",
        Effect.WRONG_VALUE,
        value("enum", "set", states=("ONE_OF",)),
        (REFERENCE, "1.7: types 247, 248"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _rule(
        "value/enum",
        "ENUM is a TextObject with the label.",
        Effect.WRONG_VALUE,
        _of(types=("enum",)),
        (REFERENCE, "1.7: type 247"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "value/set",
        "SET is a TextObject with the labels, joined by commas.",
        Effect.WRONG_VALUE,
        value("set"),
        (REFERENCE, "1.7: type 248"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "value/uuid",
        "uuid is a TextObject.",
        Effect.WRONG_VALUE,
        _of(types=("uuid",)),
        (REFERENCE, "1.7: BinaryObject/TextObject.type"),
        provenance=ASSUMED,
    ),
    _rule(
        "value/geometry",
        "BinaryGeometry and TextGeometry are branches of their own, and not the objects that have the same fields.",
        Effect.SILENT_CORRUPTION,
        _of(classes=("geometry",)),
        (REFERENCE, "1.9"),
    ),
    _rule(
        "value/jsonb",
        "PostgreSQL's jsonb is a BinaryObject: the document's text in UTF-8.",
        Effect.WRONG_VALUE,
        _of("json", types=("jsonb",)),
        (FAST, "OID 3802"),
        (REFERENCE, "1.7: PG bool"),
    ),
    _rule(
        "value/json",
        "A JSON column is a TextObject with its document, numbers exact.",
        Effect.LOST_PRECISION,
        value("json"),
        (REFERENCE, "1.7: type 245"),
    ),
    _rule(
        "value/binary-empty",
        "An empty binary is no bytes, not NULL.",
        Effect.NULL_FOR_VALUE,
        value("binary", classes=("empty",)),
        (REFERENCE, "1.7: types 249-252"),
    ),
    _rule(
        "value/binary-object",
        "BINARY and VARBINARY may come as a BinaryObject of type BINARY.",
        Effect.WRONG_VALUE,
        _of("binary", types=("binary", "varbinary"), profiles=("*+text-object*",)),
        (REFERENCE, "1.7: Whether TEXT comes as"),
    ),
    _rule(
        "value/binary-character",
        "A Character in charset binary is bytes and no text.",
        Effect.MOJIBAKE,
        _of("binary", types=("binary", "varbinary")),
        (REFERENCE, "1.7: Character"),
    ),
    _rule(
        "value/binary",
        "A BinaryObject's bytes are the value, zero bytes and all.",
        Effect.MOJIBAKE,
        value("binary"),
        (REFERENCE, "1.7: types 249-252"),
    ),
)

_TIMES: Final = (
    _rule(
        "value/timestamp-zero",
        "What a zero TIMESTAMP becomes is not known: zero seconds are the zero value or the epoch.",
        Effect.SILENT_CORRUPTION,
        value("timestamp", states=("ONE_OF",)),
        (REFERENCE, "1.7: Zero dates"),
        obligation=UNSPECIFIED,
        provenance=ASSUMED,
    ),
    _rule(
        "value/zero-date",
        "Zero and partly zero dates have parts that are 0: NULL or kept as text, and never another date.",
        Effect.SILENT_CORRUPTION,
        value("date", "datetime", classes=("zero", "partial-zero")),
        (REFERENCE, "1.7: Zero dates"),
    ),
    _rule(
        "value/timestamp-zone",
        "A TimestampWithTimeZone is wall clock with an offset of its own, without GMT before it.",
        Effect.TIME_SHIFT,
        _of("timestamp", types=("timestamptz",)),
        (REFERENCE, "1.7: TimestampWithTimeZone.timezone"),
        (FLINK, "GMT"),
    ),
    _rule(
        "value/timestamp-fraction",
        "Timestamp.millis holds microseconds, whatever its name says.",
        Effect.LOST_PRECISION,
        value("timestamp", classes=("micros", "millis")),
        (REFERENCE, "1.7: Timestamp"),
        (DEMO, "six digits"),
        (SDK, "setMicro"),
    ),
    _rule(
        "value/timestamp",
        "A Timestamp is seconds since the epoch, whatever the reader's zone.",
        Effect.TIME_SHIFT,
        value("timestamp"),
        (REFERENCE, "1.7: Timestamp"),
    ),
    _rule(
        "value/time-negative",
        "A negative TIME has its sign on every part, and a part that is 0 has none: hour 0, second -1 is -00:00:01.",
        Effect.WRONG_SIGN,
        value("time", classes=("negative",)),
        (REFERENCE, "1.7: TIME"),
        (DEMO, "TIME"),
    ),
    _rule(
        "value/time-over-24h",
        "TIME's hour goes to 838.",
        Effect.WRONG_VALUE,
        value("time", classes=("over-24h",)),
        (REFERENCE, "1.7: TIME"),
    ),
    _rule(
        "value/fraction-by-source",
        "The source decides the unit of DateTime.millis: MySQL and PostgreSQL have microseconds, every other source and the "
        "physical log of PostgreSQL nanoseconds.",
        Effect.LOST_PRECISION,
        _of("datetime", tags=("source-type",)),
        (REFERENCE, "1.7: DateTime; 1.10 DTS-3"),
        (FLINK, "DateTime"),
        (FAST, "DateTime"),
    ),
    _rule(
        "value/fraction-nanos",
        "DateTime.millis holds nanoseconds for sources that are neither MySQL nor PostgreSQL, and where sourcePosition has <->.",
        Effect.LOST_PRECISION,
        _of("datetime", "time", classes=("micros", "millis"), profiles=_NANOS),
        (REFERENCE, "1.7: DateTime; 1.10 DTS-3"),
        (FLINK, "DateTime"),
        (FAST, "DateTime"),
    ),
    _rule(
        "value/fraction",
        "DateTime.millis holds microseconds for MySQL and PostgreSQL, whatever its name says.",
        Effect.LOST_PRECISION,
        _of("datetime", "time", classes=("micros", "millis")),
        (REFERENCE, "1.7: DateTime; 1.10 DTS-3"),
        (FLINK, "DateTime"),
        (FAST, "DateTime"),
    ),
    _rule(
        "value/date",
        "DATE and DATETIME are wall clock without a zone, their months counted from 1; a DATE has no hour.",
        Effect.TIME_SHIFT,
        value("date", "datetime"),
        (REFERENCE, "1.7: DATE"),
    ),
    _rule(
        "value/time",
        "TIME is a DateTime without year, month and day.",
        Effect.WRONG_VALUE,
        value("time"),
        (REFERENCE, "1.7: TIME"),
    ),
    _rule(
        "value/year-zero",
        "YEAR 0000 is 0.",
        Effect.WRONG_VALUE,
        value("year", classes=("zero",)),
        (REFERENCE, "1.7: DATE"),
    ),
    _rule(
        "value/year",
        "YEAR is a DateTime with nothing but a year.",
        Effect.WRONG_VALUE,
        value("year"),
        (REFERENCE, "1.7: type 13"),
    ),
)

_STRINGS: Final = (
    _rule(
        "charset/other",
        "A Character is in the column's charset by MySQL's name: the rest of the clients' mapping is read too.",
        Effect.MOJIBAKE,
        _of("text", tags=("charset:other",)),
        (REFERENCE, "1.7: Character"),
        (DEMO, "JDKEncodingMapper"),
        (SDK, "JDKCharsetMapper"),
        obligation=SHOULD,
    ),
    _rule(
        "charset/by-value",
        "Each Character names its own charset: utf8mb4, utf8mb3, gbk or latin1, which is Windows-1252; UTF-8 is no rule.",
        Effect.MOJIBAKE,
        _of("text", tags=("charset:known",)),
        (REFERENCE, "1.7: Character"),
        (MANUAL, "12.10.2"),
    ),
    _rule(
        "charset/legacy",
        "CHAR and VARCHAR may be in latin1, gbk or utf8mb3.",
        Effect.MOJIBAKE,
        _of("text", types=("char", "varchar"), profiles=("*+legacy-charsets*",)),
        (REFERENCE, "1.7: Character"),
        (DEMO, "JDKEncodingMapper"),
    ),
    _rule(
        "charset/postgresql",
        "Texts of PostgreSQL are Characters in UTF-8.",
        Effect.MOJIBAKE,
        _of("text", profiles=_POSTGRESQL),
        (REFERENCE, "1.7: Character"),
        provenance=ASSUMED,
    ),
    _rule(
        "value/text-as-character",
        "TEXT may come as a Character, as VARCHAR does: the branch decides.",
        Effect.MOJIBAKE,
        _of("text", types=_TEXTS, profiles=("*+text-character*",)),
        (REFERENCE, "1.7: Whether TEXT comes as"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "value/text-as-text-object",
        "TEXT may come as a TextObject: the branch decides.",
        Effect.MOJIBAKE,
        _of("text", types=_TEXTS, profiles=("*+text-object*",)),
        (REFERENCE, "1.7: Whether TEXT comes as"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "value/text-as-binary-object",
        "TEXT may come as a BinaryObject of type TEXT, as the demo expects: the bytes are its text.",
        Effect.MOJIBAKE,
        _of("text", types=_TEXTS),
        (DEMO, "types 249-252"),
        (REFERENCE, "1.7: Whether TEXT comes as"),
        obligation=SHOULD,
    ),
    _rule(
        "value/text",
        "Text comes back character for character; so does every value that no other rule names.",
        Effect.MOJIBAKE,
        Selector(),
        (REFERENCE, "1.7: Character"),
    ),
)

VALUES: Final = (*_NULLS, *_NUMBERS, *_OBJECTS, *_TIMES, *_STRINGS)
"""The last owns every comparison that is left, so it ends the format's rules."""
