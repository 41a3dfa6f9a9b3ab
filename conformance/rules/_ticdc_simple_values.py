"""The value rules of TiCDC's Simple protocol in JSON by type and class, and the citations that its rule modules share."""

from __future__ import annotations

from typing import Final

from conformance.rules._common import ASSUMED, CONTENT, OBSERVED, RFC8259, SHOULD, Book
from conformance.rules.base import Aspect, Effect, Rule, Selector

BOOK: Final = Book("ticdc-simple-json", OBSERVED)
REF: Final = "reference/ticdc.md"
DOCUMENT: Final = "document 002"
VALUES_3_2: Final = (REF, "3.2")
MYSQL_TYPES: Final = (DOCUMENT, "mysqlType reference table: Go and Avro types only, none for JSON")


def envelope(*names: str, kinds: tuple[str, ...] = (), tags: tuple[str, ...] = (), profiles: tuple[str, ...] = ()) -> Selector:
    """Envelope fields, all of them when none is named."""
    return Selector(fields=names, aspects=(Aspect.FIELD,), kinds=kinds, tags=tags, profiles=profiles)


def cells(
    *logicals: str,
    classes: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    states: tuple[str, ...] = (),
    profiles: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
) -> Selector:
    """Nullness and value of cells: a value that a cast cannot hold turns up as NULL as often as wrong."""
    return Selector(
        ("cell",), CONTENT, types=types, logicals=logicals, classes=classes, states=states, profiles=profiles, levels=levels
    )


_rule = BOOK.rule

VALUES: Final[tuple[Rule, ...]] = (
    _rule(
        "value/null",
        "A JSON null is SQL NULL, its key present; never text and never the column's default.",
        Effect.VALUE_FOR_NULL,
        cells(states=("NULL",)),
        VALUES_3_2,
    ),
    _rule(
        "value/literal-null",
        "The text null is a string of four letters, not SQL NULL.",
        Effect.NULL_FOR_VALUE,
        cells(classes=("literal-null",)),
        (REF, "7.9"),
        VALUES_3_2,
    ),
    _rule(
        "value/json-null-literal",
        'A JSON column\'s literal null is the string "null", not SQL NULL.',
        Effect.NULL_FOR_VALUE,
        cells("json", classes=("null-literal",)),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/json-number",
        "Numbers inside a JSON column keep all their digits.",
        Effect.LOST_PRECISION,
        cells("json", classes=("number",)),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/json",
        "A JSON column is its document as text, the escapes of the enclosing string undone once.",
        Effect.WRONG_VALUE,
        cells("json"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/empty",
        "An empty string is a value, not NULL; so is an empty binary string.",
        Effect.NULL_FOR_VALUE,
        cells("text", "binary", classes=("empty",)),
        VALUES_3_2,
    ),
    _rule(
        "value/html-escape",
        "\\u003c, \\u003e and \\u0026 are <, > and &.",
        Effect.WRONG_VALUE,
        cells("text", classes=("html",)),
        (REF, "3.1"),
        (RFC8259, "7"),
    ),
    _rule(
        "value/escapes",
        "Quotes, backslashes, control characters and U+2028/2029 are unescaped once.",
        Effect.WRONG_VALUE,
        cells("text", classes=("quote", "control", "separator")),
        (REF, "1.7, 3.1"),
        (RFC8259, "7"),
    ),
    _rule(
        "value/unicode",
        "Text is UTF-8 whatever the column's character set, characters outside the BMP included.",
        Effect.MOJIBAKE,
        cells("text", classes=("astral", "non-ascii")),
        (REF, "2.1, 3.2"),
        ("pingcap/tiflow#4992", ""),
    ),
    _rule(
        "value/base64-digits",
        "Base64 that looks like a number or a word, 12345678 or deadbeef, is base64: nothing in the row tells it from text.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=CONTENT, logicals=("binary",), tags=("base64-digits",)),
        VALUES_3_2,
        MYSQL_TYPES,
    ),
    _rule(
        "value/binary-text",
        "Level one passes a binary string on as its base64 text, padding kept.",
        Effect.WRONG_VALUE,
        cells("binary", levels=(1,)),
        VALUES_3_2,
    ),
    _rule(
        "value/base64-once",
        "Base64 is decoded once: bytes that are ASCII, or base64 again, are left as they are.",
        Effect.WRONG_VALUE,
        cells("binary", classes=("base64-like", "ascii")),
        VALUES_3_2,
    ),
    _rule(
        "value/base64",
        "A binary string is standard base64 with padding, not Canal-JSON's Latin-1: every byte is kept.",
        Effect.MOJIBAKE,
        cells("binary"),
        VALUES_3_2,
        (REF, "7.4"),
    ),
    _rule(
        "value/unsigned-bigint",
        "bigint unsigned above 9223372036854775807 is exact and positive.",
        Effect.WRONG_SIGN,
        cells(types=("bigint unsigned",), classes=("over-signed",)),
        VALUES_3_2,
        MYSQL_TYPES,
    ),
    _rule(
        "value/unsigned",
        "An unsigned integer in the upper half of its range stays positive; its mysqlType does not say unsigned.",
        Effect.WRONG_SIGN,
        cells("int", classes=("over-signed",)),
        (REF, "3.2, 3.4"),
    ),
    _rule(
        "value/integer-beyond-double",
        "Integers beyond 2^53 keep all their digits.",
        Effect.LOST_PRECISION,
        cells("int", classes=("beyond-double",)),
        VALUES_3_2,
    ),
    _rule(
        "value/integer",
        "Integers and years are strings of decimal digits; a zero year is 0.",
        Effect.WRONG_VALUE,
        cells("int", "year"),
        VALUES_3_2,
    ),
    _rule(
        "value/decimal-wide",
        "A decimal of more than 38 digits keeps every digit, as text if need be.",
        Effect.LOST_PRECISION,
        cells("decimal", classes=("wide",)),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/decimal",
        "A decimal is exact, with the column's scale on the wire, and is not read as a double.",
        Effect.LOST_PRECISION,
        cells("decimal"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/float-exponent",
        "v8.5.4 of the new architecture prints floats by Go's default verb: 1e+06, 1.234567e+06, 1e-05.",
        Effect.LOST_PRECISION,
        cells("float", "double", classes=("exponent",), profiles=("new-8.5.4*",)),
        VALUES_3_2,
        ("pingcap/ticdc#3973", ""),
    ),
    _rule(
        "value/float",
        "A FLOAT is the shortest notation of its binary32.",
        Effect.LOST_PRECISION,
        cells("float"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/double",
        "A DOUBLE reads back as the same binary64, from fixed notation of up to 309 digits.",
        Effect.LOST_PRECISION,
        cells("double"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/bit-64",
        "A bit(64), or a set of 64 members, with its highest bit set is an unsigned number.",
        Effect.WRONG_SIGN,
        cells("bit", "set", classes=("over-signed",)),
        VALUES_3_2,
        MYSQL_TYPES,
    ),
    _rule(
        "value/bit",
        "A bit column is the decimal text of an unsigned integer.",
        Effect.WRONG_VALUE,
        cells("bit"),
        VALUES_3_2,
    ),
    _rule(
        "value/enum-index",
        "An enum is its 1-based index, 0 for the empty value, never a label: the labels are in the schema's elements.",
        Effect.WRONG_VALUE,
        cells("enum"),
        VALUES_3_2,
        ("pingcap/tiflow#10662", ""),
    ),
    _rule(
        "value/set-mask",
        "A set is a bit mask, 0 for the empty set, never labels.",
        Effect.WRONG_VALUE,
        cells("set"),
        VALUES_3_2,
        ("pingcap/tiflow#10662", ""),
    ),
    _rule(
        "value/zero-date-text",
        "Zero and partial-zero dates stand on the wire as text (in a TIMESTAMP's object too) and are not replaced.",
        Effect.NULL_FOR_VALUE,
        cells("date", "datetime", "timestamp", classes=("zero", "partial-zero"), levels=(1,)),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/zero-date-typed",
        "In a calendar type a zero or partial-zero date is NULL (or text), not another date.",
        Effect.WRONG_VALUE,
        cells("date", "datetime", "timestamp", classes=("zero", "partial-zero")),
        (REF, "2.1"),
        ("DESIGN", "4"),
        obligation=SHOULD,
        provenance=ASSUMED,
    ),
    _rule(
        "value/ambiguous-hour",
        "A TIMESTAMP in an hour that occurs twice in its location is one of its two instants.",
        Effect.TIME_SHIFT,
        cells("timestamp", states=("ONE_OF",)),
        VALUES_3_2,
        ("pingcap/tiflow#10581", ""),
    ),
    _rule(
        "value/timestamp-local",
        "The location Local is Go's name of the host's zone, which the deployment tells; no zone database has it.",
        Effect.TIME_SHIFT,
        cells("timestamp", profiles=("*+local-zone*",)),
        VALUES_3_2,
        (REF, "8"),
        provenance=ASSUMED,
    ),
    _rule(
        "value/timestamp-object",
        "Level one passes a TIMESTAMP on as the object that it is, location and value.",
        Effect.TIME_SHIFT,
        cells("timestamp", levels=(1,)),
        VALUES_3_2,
        (DOCUMENT, "mysqlType reference table: timestamp is string"),
    ),
    _rule(
        "value/timestamp-location",
        "A TIMESTAMP is wall clock of its own location, whatever the zones of host and session are; fraction digits are kept.",
        Effect.TIME_SHIFT,
        cells("timestamp", profiles=("*+tz*",)),
        VALUES_3_2,
    ),
    _rule(
        "value/timestamp",
        "A TIMESTAMP is the instant that its value's wall clock has in its location, all fraction digits kept.",
        Effect.TIME_SHIFT,
        cells("timestamp"),
        VALUES_3_2,
        ("pingcap/tiflow#10703", ""),
    ),
    _rule(
        "value/microseconds",
        "DATETIME and TIME keep all six fraction digits.",
        Effect.LOST_PRECISION,
        cells("datetime", "time", classes=("micros", "millis")),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/datetime-no-zone",
        "A DATETIME is plain text, a wall clock without a zone: nothing shifts it.",
        Effect.TIME_SHIFT,
        cells("datetime"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/time-range",
        "A TIME may be negative, and 24 hours and more: from -838:59:59 to 838:59:59.",
        Effect.WRONG_SIGN,
        cells("time", classes=("negative", "over-24h")),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/date-and-time",
        "DATE and TIME are kept as they stand, dates before the Gregorian calendar included.",
        Effect.TIME_SHIFT,
        cells("date", "time"),
        (REF, "2.1, 3.2"),
    ),
    _rule(
        "value/other",
        "Every other value is the text that stands on the wire.",
        Effect.WRONG_VALUE,
        cells(),
        VALUES_3_2,
    ),
)
