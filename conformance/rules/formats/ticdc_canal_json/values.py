"""The value rules of TiCDC Canal-JSON by type and class, and the functions that its rule modules share."""

from __future__ import annotations

from typing import Final

from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule, Selector

FORMAT: Final = "ticdc-canal-json"
BOTH: Final = (Aspect.NULL, Aspect.VALUE)
LEGACY: Final = ("v5.3.4*",)

DML: Final = Citation("document 000", "DML Event")
INTEGERS: Final = Citation("document 000", "整数类型")
JSON_RFC: Final = Citation("RFC 8259", "2 to 8")
DOCUMENTED: Final = Provenance.DOCUMENTED
ASSUMED: Final = Provenance.ASSUMED


def ref(section: str) -> Citation:
    """A section of the format reference."""
    return Citation("reference/ticdc.md", section)


def issue(thread: str) -> Citation:
    """An issue or pull request, as `owner/repository#number`."""
    return Citation(thread)


def rule(
    name: str,
    statement: str,
    effect: Effect,
    selector: Selector,
    *citations: Citation,
    obligation: Obligation = Obligation.MUST,
    provenance: Provenance = Provenance.OBSERVED,
) -> Rule:
    """A rule of this format; `name` is the id without the format."""
    return Rule(f"{FORMAT}/{name}", statement, obligation, provenance, citations, effect, selector)


def cells(
    *,
    logicals: tuple[str, ...] = (),
    classes: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    states: tuple[str, ...] = (),
    profiles: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
) -> Selector:
    """The nullness and value of cells: a value that a cast cannot hold turns up as NULL as often as wrong."""
    return Selector(
        ("cell",), BOTH, types=types, logicals=logicals, classes=classes, states=states, profiles=profiles, levels=levels
    )


VALUES: Final = (
    rule(
        "value/null-text-bug",
        "The new architecture's v8.5.4 writes the text null as a JSON null: the row as sent has NULL.",
        Effect.VALUE_FOR_NULL,
        cells(states=("NULL",), classes=("?*",), profiles=("new-8.5.4*",)),
        issue("pingcap/ticdc#3958"),
        issue("pingcap/ticdc#3959"),
    ),
    rule(
        "value/null",
        "A JSON null is SQL NULL, never text and never a default.",
        Effect.VALUE_FOR_NULL,
        cells(states=("NULL",)),
        ref("1.2, 2.1"),
    ),
    rule(
        "value/binary-lossy",
        "Before v5.4 BINARY and VARBINARY were printed as UTF-8: what is left of them is passed on as it stands.",
        Effect.MOJIBAKE,
        cells(states=("ANY",), logicals=("binary",), profiles=LEGACY),
        issue("pingcap/tiflow#7058"),
        ref("2.4"),
        obligation=Obligation.SHOULD,
    ),
    rule(
        "value/literal-null",
        "The text null is a string of four letters, not SQL NULL.",
        Effect.NULL_FOR_VALUE,
        cells(classes=("literal-null",)),
        issue("pingcap/ticdc#3958"),
        ref("7.9"),
    ),
    rule(
        "value/json-null-literal",
        'A JSON column\'s literal null is the string "null", not SQL NULL.',
        Effect.NULL_FOR_VALUE,
        cells(logicals=("json",), classes=("null-literal",)),
        ref("2.1"),
    ),
    rule(
        "value/json-number",
        "Numbers inside a JSON column keep all their digits.",
        Effect.LOST_PRECISION,
        cells(logicals=("json",), classes=("number",)),
        ref("2.1"),
    ),
    rule(
        "value/json",
        "A JSON column is its document as text, the escapes of the enclosing string undone once.",
        Effect.WRONG_VALUE,
        cells(logicals=("json",)),
        ref("2.1"),
    ),
    rule(
        "value/empty",
        "An empty string is a value, not NULL.",
        Effect.NULL_FOR_VALUE,
        cells(logicals=("text", "binary"), classes=("empty",)),
        ref("1.2"),
    ),
    rule(
        "value/html-escape",
        "\\u003c, \\u003e and \\u0026 are <, > and &.",
        Effect.WRONG_VALUE,
        cells(logicals=("text",), classes=("html",)),
        ref("1.7"),
        JSON_RFC,
    ),
    rule(
        "value/escapes",
        "Quotes, backslashes, control characters and U+2028/2029 are unescaped once.",
        Effect.WRONG_VALUE,
        cells(logicals=("text",), classes=("quote", "control", "separator")),
        ref("1.7"),
        JSON_RFC,
    ),
    rule(
        "value/unicode",
        "Text is UTF-8 whatever the column's character set, characters outside the BMP included.",
        Effect.MOJIBAKE,
        cells(logicals=("text",), classes=("astral", "non-ascii")),
        ref("1.7, 2.1"),
        issue("pingcap/tiflow#4992"),
    ),
    rule(
        "value/binary-latin-1",
        "A binary string is its bytes read as ISO-8859-1: one character, one byte, 0x80 to 0xFF included.",
        Effect.MOJIBAKE,
        cells(logicals=("binary",), classes=("high",)),
        ref("2.1, 1.7 worked example"),
        issue("pingcap/tiflow#11771"),
    ),
    rule(
        "value/binary-not-base64",
        "A binary string that looks like base64 is not base64.",
        Effect.WRONG_VALUE,
        cells(logicals=("binary",), classes=("base64-like",)),
        ref("2.1"),
    ),
    rule(
        "value/binary",
        "Every byte of a binary string is kept, zero bytes at its end included.",
        Effect.WRONG_VALUE,
        cells(logicals=("binary",)),
        ref("2.1"),
    ),
    rule(
        "value/unsigned-bigint",
        "bigint unsigned above 9223372036854775807 is exact and positive.",
        Effect.WRONG_SIGN,
        cells(types=("bigint unsigned",), classes=("over-signed",)),
        INTEGERS,
        ref("2.2"),
        provenance=DOCUMENTED,
    ),
    rule(
        "value/unsigned",
        "An unsigned integer in the upper half of its range stays positive.",
        Effect.WRONG_SIGN,
        cells(logicals=("int",), classes=("over-signed",)),
        INTEGERS,
        provenance=DOCUMENTED,
    ),
    rule(
        "value/integer-beyond-double",
        "Integers beyond 2^53 keep all their digits.",
        Effect.LOST_PRECISION,
        cells(logicals=("int",), classes=("beyond-double",)),
        DML,
        ref("2.1"),
        provenance=DOCUMENTED,
    ),
    rule(
        "value/integer",
        "Integers and years are decimal digits; a zero year is 0.",
        Effect.WRONG_VALUE,
        cells(logicals=("int", "year")),
        DML,
        ref("2.1"),
    ),
    rule(
        "value/decimal-wide",
        "A decimal of more than 38 digits keeps every digit, as text if need be.",
        Effect.LOST_PRECISION,
        cells(logicals=("decimal",), classes=("wide",)),
        ref("2.1"),
    ),
    rule(
        "value/decimal-long",
        "A decimal of more than 15 digits is not read as a double.",
        Effect.LOST_PRECISION,
        cells(logicals=("decimal",), classes=("long",)),
        ref("2.1"),
    ),
    rule(
        "value/decimal",
        "A decimal is exact, with the column's scale on the wire.",
        Effect.LOST_PRECISION,
        cells(logicals=("decimal",)),
        ref("2.1"),
    ),
    rule(
        "value/float-printed-as-double",
        "Up to v6.5.1 a FLOAT is printed as the double that equals it: the nearest binary32 is the value.",
        Effect.LOST_PRECISION,
        cells(logicals=("float",), profiles=("v5.3.4*", "v5.4.3*", "v6.5.1", "v6.5.1+*")),
        issue("pingcap/tiflow#8490"),
        issue("pingcap/tiflow#8502"),
        ref("2.1"),
    ),
    rule(
        "value/float",
        "A FLOAT is the shortest fixed notation of its binary32.",
        Effect.LOST_PRECISION,
        cells(logicals=("float",)),
        ref("2.1"),
    ),
    rule(
        "value/double",
        "A DOUBLE reads back as the same binary64, from up to 309 digits and without an exponent.",
        Effect.LOST_PRECISION,
        cells(logicals=("double",)),
        ref("2.1"),
    ),
    rule(
        "value/bit-64",
        "A bit(64) with its highest bit set is an unsigned number.",
        Effect.WRONG_SIGN,
        cells(logicals=("bit",), classes=("over-signed",)),
        ref("2.1"),
    ),
    rule(
        "value/set-64",
        "A set's bit mask with 64 members is an unsigned number.",
        Effect.WRONG_SIGN,
        cells(logicals=("set",), classes=("over-signed",)),
        ref("2.1"),
    ),
    rule(
        "value/bit",
        "A bit column is the decimal text of an unsigned integer.",
        Effect.WRONG_VALUE,
        cells(logicals=("bit",)),
        ref("2.1"),
    ),
    rule(
        "value/enum-index",
        "An enum is its 1-based index, 0 for the empty value, never a label.",
        Effect.WRONG_VALUE,
        cells(logicals=("enum",)),
        ref("2.1"),
    ),
    rule(
        "value/set-mask",
        "A set is a bit mask, 0 for the empty set, never labels.",
        Effect.WRONG_VALUE,
        cells(logicals=("set",)),
        ref("2.1"),
    ),
    rule(
        "value/zero-date-text",
        "Zero and partial-zero dates stand on the wire as text and are not replaced.",
        Effect.NULL_FOR_VALUE,
        cells(logicals=("date", "datetime", "timestamp"), classes=("zero", "partial-zero"), levels=(1,)),
        ref("2.1"),
    ),
    rule(
        "value/zero-date-typed",
        "In a calendar type a zero or partial-zero date is NULL (or text), not another date.",
        Effect.WRONG_VALUE,
        cells(logicals=("date", "datetime", "timestamp"), classes=("zero", "partial-zero")),
        ref("2.1"),
        Citation("DESIGN", "4"),
        obligation=Obligation.SHOULD,
        provenance=ASSUMED,
    ),
    rule(
        "value/ambiguous-hour",
        "A TIMESTAMP in an hour that occurs twice is one of its two instants.",
        Effect.TIME_SHIFT,
        cells(logicals=("timestamp",), states=("ONE_OF",)),
        issue("pingcap/tiflow#10581"),
        ref("2.1"),
    ),
    rule(
        "value/timestamp-zone",
        "A TIMESTAMP is wall clock of the TiCDC server's zone, all fraction digits kept: not UTC, not the session's zone.",
        Effect.TIME_SHIFT,
        cells(logicals=("timestamp",)),
        issue("pingcap/tiflow#10581"),
        ref("2.1"),
    ),
    rule(
        "value/microseconds",
        "DATETIME and TIME keep all six fraction digits.",
        Effect.LOST_PRECISION,
        cells(logicals=("datetime", "time"), classes=("micros", "millis")),
        ref("2.1"),
    ),
    rule(
        "value/datetime-no-zone",
        "A DATETIME is a wall clock without a zone: nothing shifts it.",
        Effect.TIME_SHIFT,
        cells(logicals=("datetime",)),
        ref("2.1"),
    ),
    rule(
        "value/time-negative",
        "A TIME may be negative, down to -838:59:59.",
        Effect.WRONG_SIGN,
        cells(logicals=("time",), classes=("negative",)),
        ref("2.1"),
    ),
    rule(
        "value/time-over-24h",
        "A TIME may be 24 hours and more, up to 838:59:59.",
        Effect.WRONG_VALUE,
        cells(logicals=("time",), classes=("over-24h",)),
        ref("2.1"),
    ),
    rule(
        "value/date-and-time",
        "DATE and TIME are kept as they stand, dates before the Gregorian calendar included.",
        Effect.TIME_SHIFT,
        cells(logicals=("date", "time")),
        ref("2.1"),
    ),
)
