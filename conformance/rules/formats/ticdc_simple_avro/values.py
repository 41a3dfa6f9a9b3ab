"""The value rules of TiCDC's Simple protocol in Avro by type and class.

Document 002's table of types and Avro types is right for some types only; reference/ticdc.md 4.3 has the branches that the
product writes.
"""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Effect, Rule, Selector
from conformance.rules.book import ASSUMED, AVRO, CONTENT, OBSERVED, SHOULD, Book
from conformance.rules.families.ticdc_simple.retold import DOCUMENT, REF, cells

BOOK: Final = Book("ticdc-simple-avro", OBSERVED)
BRANCHES: Final = (REF, "4.3")
_TEXTS: Final = (REF, "2.1, 4.3")
_TABLE: Final = (DOCUMENT, "mysqlType reference table")
_BINARY: Final = (AVRO, "Binary encoding")
_HEX: Final = ("DESIGN", "3.3: bytes lower-case hex, records compact JSON")

_rule = BOOK.rule

VALUES: Final[tuple[Rule, ...]] = (
    _rule(
        "value/map-order",
        "A row's columns stand in random order: a value belongs to its key's column, not to the column at its place.",
        Effect.WRONG_VALUE,
        Selector(fields=("cell",), aspects=(Aspect.PRESENCE, *CONTENT), tags=("map:order",)),
        (REF, "4.2"),
        _BINARY,
    ),
    _rule(
        "value/null",
        "Branch null is SQL NULL, its key present; never text and never the column's default.",
        Effect.VALUE_FOR_NULL,
        cells(states=("NULL",)),
        BRANCHES,
    ),
    _rule(
        "value/literal-null",
        "The text null is a string of four letters, not SQL NULL.",
        Effect.NULL_FOR_VALUE,
        cells(classes=("literal-null",)),
        (REF, "7.9"),
        BRANCHES,
    ),
    _rule(
        "value/json-null-literal",
        'A JSON column\'s literal null is the string "null", not SQL NULL.',
        Effect.NULL_FOR_VALUE,
        cells("json", classes=("null-literal",)),
        _TEXTS,
    ),
    _rule(
        "value/json-number",
        "Numbers inside a JSON column keep all their digits.",
        Effect.LOST_PRECISION,
        cells("json", classes=("number",)),
        _TEXTS,
    ),
    _rule(
        "value/json",
        "A JSON column is its document as a string.",
        Effect.WRONG_VALUE,
        cells("json"),
        _TEXTS,
    ),
    _rule(
        "value/empty",
        "An empty string is a value, not NULL; so are no bytes.",
        Effect.NULL_FOR_VALUE,
        cells("text", "binary", classes=("empty",)),
        BRANCHES,
    ),
    _rule(
        "value/text-as-it-stands",
        "A string is not escaped: backslashes, quotes, control characters, < and & stand for themselves.",
        Effect.WRONG_VALUE,
        cells("text", classes=("html", "quote", "control", "separator")),
        BRANCHES,
        _BINARY,
    ),
    _rule(
        "value/unicode",
        "Text is UTF-8 whatever the column's character set, characters outside the BMP included.",
        Effect.MOJIBAKE,
        cells("text", classes=("astral", "non-ascii")),
        _TEXTS,
        ("pingcap/tiflow#4992", ""),
    ),
    _rule(
        "value/binary-hex",
        "Level one shows bytes as lower-case hex, every one of them, as no text.",
        Effect.MOJIBAKE,
        cells("binary", levels=(1,)),
        BRANCHES,
        _HEX,
    ),
    _rule(
        "value/binary-plain",
        "Bytes that are ASCII, or look like base64 or hex, are left as they are: Avro has no base64.",
        Effect.WRONG_VALUE,
        cells("binary", classes=("base64-like", "ascii")),
        BRANCHES,
    ),
    _rule(
        "value/binary",
        "A binary string is branch bytes: every byte is kept, and none is read as text.",
        Effect.MOJIBAKE,
        cells("binary"),
        BRANCHES,
    ),
    _rule(
        "value/unsigned-bigint-record",
        "Level one passes every bigint unsigned on, small ones too, as the record that it is: its value is the signed long.",
        Effect.WRONG_VALUE,
        cells(types=("bigint unsigned",), levels=(1,)),
        (REF, "00-5, 4.3"),
        (DOCUMENT, "mysqlType reference table: bigint unsigned is long or string"),
        _HEX,
    ),
    _rule(
        "value/unsigned-bigint",
        "A negative UnsignedBigint is the number above 2^63-1 of the same 64 bits.",
        Effect.WRONG_SIGN,
        cells(types=("bigint unsigned",), classes=("over-signed",)),
        (REF, "00-5, 4.3, 7.6"),
        (DOCUMENT, "mysqlType reference table: above 9223372036854775807 a string"),
    ),
    _rule(
        "value/unsigned",
        "An unsigned integer in the upper half of its range is a positive long; its mysqlType does not say unsigned.",
        Effect.WRONG_SIGN,
        cells("int", classes=("over-signed",)),
        BRANCHES,
    ),
    _rule(
        "value/integer-beyond-double",
        "Integers beyond 2^53 keep all their digits.",
        Effect.LOST_PRECISION,
        cells("int", classes=("beyond-double",)),
        BRANCHES,
    ),
    _rule(
        "value/integer",
        "Integers and years are longs; a zero year is 0.",
        Effect.WRONG_VALUE,
        cells("int", "year"),
        BRANCHES,
        _TABLE,
    ),
    _rule(
        "value/decimal-wide",
        "A decimal of more than 38 digits keeps every digit, as text if need be.",
        Effect.LOST_PRECISION,
        cells("decimal", classes=("wide",)),
        _TEXTS,
    ),
    _rule(
        "value/decimal",
        "A decimal is a string, exact, with the column's scale on the wire, and is not read as a double.",
        Effect.LOST_PRECISION,
        cells("decimal"),
        _TEXTS,
        _TABLE,
    ),
    _rule(
        "value/float",
        "A FLOAT is branch float, a binary32 of its own: widened to binary64 its shortest text is another number.",
        Effect.LOST_PRECISION,
        cells("float"),
        BRANCHES,
        _TABLE,
    ),
    _rule(
        "value/double",
        "A DOUBLE is branch double, the same binary64.",
        Effect.LOST_PRECISION,
        cells("double"),
        BRANCHES,
        _TABLE,
    ),
    _rule(
        "value/bit-string",
        "The new architecture writes a BIT as a string of decimal digits, where classic has a long: it is never negative.",
        Effect.WRONG_VALUE,
        cells("bit", profiles=("new-*",)),
        (REF, "00-5, 4.3"),
        (DOCUMENT, "mysqlType reference table: bit is long"),
    ),
    _rule(
        "value/bit-64",
        "In classic a bit(64) above 2^63-1 is a negative long: the unsigned number has the same 64 bits.",
        Effect.WRONG_SIGN,
        cells("bit", classes=("over-signed",)),
        (REF, "00-5, 4.3"),
    ),
    _rule(
        "value/bit",
        "In classic a BIT is a long, the value of its bits.",
        Effect.WRONG_VALUE,
        cells("bit"),
        BRANCHES,
        _TABLE,
    ),
    _rule(
        "value/set-64",
        "A SET of 64 members with its last one is a negative long: the mask has the same 64 bits.",
        Effect.WRONG_SIGN,
        cells("set", classes=("over-signed",)),
        (REF, "4.3: bit(64)"),
        provenance=ASSUMED,
    ),
    _rule(
        "value/enum-index",
        "An enum is a long, its 1-based index, 0 for the empty value, never a label: the labels are in the schema's elements.",
        Effect.WRONG_VALUE,
        cells("enum"),
        BRANCHES,
        ("pingcap/tiflow#10662", ""),
    ),
    _rule(
        "value/set-mask",
        "A set is a long, its bit mask, 0 for the empty set, never labels.",
        Effect.WRONG_VALUE,
        cells("set"),
        BRANCHES,
        ("pingcap/tiflow#10662", ""),
    ),
    _rule(
        "value/zero-date-text",
        "Zero and partial-zero dates stand on the wire as text (in a Timestamp record too) and are not replaced.",
        Effect.NULL_FOR_VALUE,
        cells("date", "datetime", "timestamp", classes=("zero", "partial-zero"), levels=(1,)),
        _TEXTS,
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
        BRANCHES,
        ("pingcap/tiflow#10581", ""),
    ),
    _rule(
        "value/timestamp-local",
        "The location Local is Go's name of the host's zone, which the deployment tells; no zone database has it.",
        Effect.TIME_SHIFT,
        cells("timestamp", profiles=("*+local-zone*",)),
        BRANCHES,
        (REF, "8"),
        provenance=ASSUMED,
    ),
    _rule(
        "value/timestamp-record",
        "Level one passes a TIMESTAMP on as the record that it is, location and value.",
        Effect.TIME_SHIFT,
        cells("timestamp", levels=(1,)),
        BRANCHES,
        (DOCUMENT, "mysqlType reference table: timestamp is string"),
        _HEX,
    ),
    _rule(
        "value/timestamp-location",
        "A TIMESTAMP is wall clock of its own location, whatever the zones of host and session are; fraction digits are kept.",
        Effect.TIME_SHIFT,
        cells("timestamp", profiles=("*+tz*",)),
        BRANCHES,
    ),
    _rule(
        "value/timestamp",
        "A TIMESTAMP is the instant that its value's wall clock has in its location, all fraction digits kept.",
        Effect.TIME_SHIFT,
        cells("timestamp"),
        BRANCHES,
        ("pingcap/tiflow#10703", ""),
    ),
    _rule(
        "value/microseconds",
        "DATETIME and TIME keep all six fraction digits, which no schema tells.",
        Effect.LOST_PRECISION,
        cells("datetime", "time", classes=("micros", "millis")),
        _TEXTS,
    ),
    _rule(
        "value/datetime-no-zone",
        "A DATETIME is a string, a wall clock without a zone: nothing shifts it.",
        Effect.TIME_SHIFT,
        cells("datetime"),
        _TEXTS,
    ),
    _rule(
        "value/time-range",
        "A TIME may be negative, and 24 hours and more: from -838:59:59 to 838:59:59.",
        Effect.WRONG_SIGN,
        cells("time", classes=("negative", "over-24h")),
        _TEXTS,
    ),
    _rule(
        "value/date-and-time",
        "DATE and TIME are kept as they stand, dates before the Gregorian calendar included.",
        Effect.TIME_SHIFT,
        cells("date", "time"),
        _TEXTS,
    ),
    _rule(
        "value/other",
        "Every other value is what stands on the wire.",
        Effect.WRONG_VALUE,
        cells(),
        BRANCHES,
    ),
)
