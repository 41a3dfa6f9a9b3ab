"""DECIMAL and numeric cells of Connect JSON as SQL text (connect#decimal).

Spark has no function from two's complement to a number, so the bytes go through hex digits: `conv`
reads 64 bits at a time. Up to 16 bytes the number is made by decimal arithmetic, beyond them (MySQL
has 65 digits, PostgreSQL any number) and for what is no decimal(38,0) by long multiplication over
limbs of 18 digits. Base64 is never taken for a number, although texts like `1234` and `1e10` are
both. Spark resolves one level of lambdas after the other, and goes over the whole plan for each, so
that what is cheap is repeated rather than bound to a name (`let`).
"""

from __future__ import annotations

from typing import Final

from generators.model import Logical, SourceType
from spark_checks.decoders.families.mysql import exact_decimal
from spark_checks.decoders.families.sql import let

_CHUNK: Final = 14
"""Hex digits of a chunk that is read at a time: a limb times 16^14, and what is carried, stay below
10^38.
"""
_LIMB: Final = 18
"""Decimal digits of a limb, one of the parts that make up a long number."""

_FLIPPED: Final = (
    "CASE WHEN h >= '8' THEN translate(h, '0123456789ABCDEF', 'FEDCBA9876543210') ELSE h END"
)
"""The hex digits `h` of a number that is not negative; of a negative one those of its complement,
which is its magnitude less one.
"""
_HIGH: Final = "CAST(conv(left(u, 16), 16, 10) AS decimal(20,0))"
_LOW: Final = "CAST(conv(right(u, 16), 16, 10) AS decimal(20,0))"
"""The numbers of the first and of the last 16 of the 32 hex digits `u`."""
_WIDE: Final = f"try_add(try_multiply({_HIGH}, {1 << 64}BD), {_LOW})"
"""The number of the 32 hex digits `u`; NULL from 10^38 on."""


def base64_bytes(t: str) -> str:
    """SQL of the bytes of a text in standard base64 with its padding; NULL for any other text,
    since Spark's own function skips blanks and needs no padding.
    """
    return (
        f"CASE WHEN length({t}) % 4 = 0 AND {t} RLIKE r'^[A-Za-z0-9+/]*+={{0,2}}\\z' THEN"
        f" try_to_binary({t}, 'base64') END"
    )


def in_digits(type: SourceType) -> bool:
    """Whether cells of the type may be base64 of a number's bytes, which the SQL `DIGITS` turns
    into plain digits first: a DECIMAL, or an integer that no long of Spark holds.
    """
    return type.logical is Logical.DECIMAL or (
        type.logical is Logical.INT and type.spark.startswith("decimal")
    )


def from_text(t: str, precision: int, own_scale: int) -> str:
    """SQL of a DECIMAL from the SQL `t` of its text: plain digits, or digits with Java's exponent
    (`0E-10`, `1E-7`); NULL for a text that is none, such as `NAN`, or that does not fit. If
    `precision` is over 38, which no Spark decimal holds, the value is the text itself; over 1000 it
    stands for a type without a precision, whose digits have no limit.
    """
    if precision <= 38:
        return exact_decimal(t, precision, own_scale)
    java = rf"{t} RLIKE r'^-?\d(\.\d{{1,{max(1, own_scale)}}})?E-\d{{1,4}}\z'"
    plain = rf"{t} RLIKE r'^-?0*\d{{1,{precision - own_scale}}}(\.\d{{0,{own_scale}}}0*)?\z'"
    if precision > 1000:
        plain = rf"{t} RLIKE r'^-?\d+(\.\d+)?\z'"
    return f"CASE WHEN {plain} OR {java} THEN {t} END"


def from_double(t: str, precision: int, own_scale: int) -> str:
    """SQL of a DECIMAL from the text `t` of a double; NULL if it does not fit. A double may have
    rounded the type's largest value up, out of the type: such a number is read as the largest
    value.
    """
    largest = "9" * (precision - own_scale) + "." + "9" * own_scale
    number = f"CASE WHEN right({t}, 1) <= '9' THEN try_cast({t} AS double) END"
    if precision > 38:
        limit = (
            f"CAST('{largest}' AS double)"
            if precision <= 1000
            else "CAST('1.7976931348623157E308' AS double)"
        )
        return f"CASE WHEN abs({number}) <= {limit} THEN {t} END"
    kind = f"decimal({precision},{own_scale})"
    edges = " ".join(
        f"WHEN CAST('{sign}{largest}' AS double) THEN CAST('{sign}{largest}' AS {kind})"
        for sign in ("", "-")
    )
    return f"CASE {number} {edges} ELSE {exact_decimal(t, precision, own_scale)} END"


def from_numeric(t: str, precision: int, own_scale: int) -> str:
    """SQL of a DECIMAL from the text `t` of a JSON number; NULL if it does not fit. Up to 38 digits
    it is exact, since the column is parsed as a decimal; beyond, Spark's parser passes fractions
    through a double, and only what a double holds exactly is accepted.
    """
    if precision <= 38:
        return exact_decimal(t, precision, own_scale)
    digits = f"length(regexp_replace({t}, '[^0-9]|[eE].*', ''))"
    return (
        f"CASE WHEN {digits} <= 15 OR {t} RLIKE r'^-?\\d+\\z' THEN"
        f" {from_text(t, precision, own_scale)} END"
    )


def _sign(h: str = "h") -> str:
    """SQL of the hex digit with which a two's complement number, given by its hex digits, is
    extended to the left.
    """
    return f"CASE WHEN {h} >= '8' THEN 'F' ELSE '0' END"


def _unscaled() -> str:
    """SQL of the decimal digits of the integer whose two's complement in hex is `h`; NULL if `h` is
    empty. There is a fast way for up to 8 bytes, one for up to 16, and a slow one for any length.
    """
    short = f"WHEN length(h) <= 16 THEN conv(lpad(h, 16, {_sign()}), 16, -10)"
    wide = let(
        f"lpad({_FLIPPED}, 32, '0')",
        "u",
        f"CASE WHEN h >= '8' THEN try_subtract(-1BD, {_WIDE}) ELSE {_WIDE} END",
    )
    wide = f"CASE WHEN length(h) <= 32 THEN CAST({wide} AS string) END"
    return f"CASE WHEN h > '' THEN CASE {short} ELSE coalesce({wide}, {_long()}) END END"


def _long() -> str:
    """SQL of the decimal digits of the integer whose two's complement in hex is `h`, of any length:
    the magnitude in chunks by Horner's scheme, then the sign. A negative number's magnitude is that
    of its complement, plus one.

    The magnitude is an array of limbs, the lowest first. For each chunk every limb `l` is
    multiplied, and what exceeds the limb is carried (`s.carry`) to the next; `s.done` are the limbs
    that are ready. `w` are the hex digits, filled up to whole chunks.
    """
    count = f"CAST(ceil(length(h) / {_CHUNK}) AS int)"
    padded = f"lpad({_FLIPPED}, {count} * {_CHUNK}, '0')"
    chunk = f"CAST(conv(substring(w, i * {_CHUNK} + 1, {_CHUNK}), 16, 10) AS bigint)"
    plus = f"CASE WHEN h >= '8' AND (i + 1) * {_CHUNK} >= length(w) THEN 1L ELSE 0L END"
    chunks = f"transform(sequence(0, CAST(length(w) / {_CHUNK} AS int) - 1), i -> {chunk} + {plus})"
    product = f"(CAST(l AS decimal(19,0)) * {1 << 4 * _CHUNK}BD + CAST(s.carry AS decimal(20,0)))"
    unit = f"{10**_LIMB}BD"
    step = (
        f"struct({product} DIV {unit} AS carry, concat(s.done, array(CAST({product} % {unit} AS"
        " bigint))) AS done)"
    )
    start = "struct(c AS carry, CAST(array() AS array<bigint>) AS done)"
    horner = f"aggregate(limbs, {start}, (s, l) -> {step}, s -> concat(s.done, array(s.carry)))"
    limbs = f"aggregate({chunks}, CAST(array() AS array<bigint>), (limbs, c) -> {horner})"
    digits = (
        f"concat_ws('', transform(reverse({limbs}), l -> lpad(CAST(l AS string), {_LIMB}, '0')))"
    )
    signed = (
        f"concat(CASE WHEN h >= '8' THEN '-' ELSE '' END, regexp_replace({digits}, '^0+(?=.)', ''))"
    )
    return let(padded, "w", signed)


def _plain() -> str:
    """SQL of the plain digits of a decimal that `cell.t` holds in base64. The scale is
    `cell.scale`, from the schema (form `decimal`), or stands beside the base64 in an object. NULL
    for a text that is no such decimal.
    """
    base64_text = (
        "CASE cell.form WHEN 'decimal' THEN cell.t ELSE get_json_object(cell.t, '$.value') END"
    )
    scale = (
        "CASE cell.form WHEN 'decimal' THEN cell.scale ELSE try_cast(get_json_object(cell.t,"
        " '$.scale') AS int) END"
    )
    digits = "trim(LEADING '-' FROM s.n)"
    digits = f"lpad({digits}, greatest(length({digits}), s.p + 1), '0')"
    sign = "CASE WHEN startswith(s.n, '-') THEN '-' ELSE '' END"
    point = f"concat({sign}, left({digits}, length({digits}) - s.p), '.', right({digits}, s.p))"
    number = let(let(base64_text, "x", f"hex({base64_bytes('x')})"), "h", _unscaled())
    return let(
        f"struct({number} AS n, {scale} AS p)",
        "s",
        f"CASE WHEN s.p <= 0 THEN concat(s.n, repeat('0', -s.p)) WHEN s.p > 0 THEN {point} END",
    )


DIGITS: Final = (
    "CASE WHEN cell.t IS NOT NULL AND cell.form IN ('decimal', 'variable') THEN"
    f" struct(coalesce({_plain()}, '') AS t, 'digits' AS form, cell.scale AS scale) ELSE cell END"
)
"""SQL over `cell`, a struct of a cell's text `t`, its `form` and the `scale` that goes with it: the
cell with a number in base64 as plain digits, of form `digits`, and an empty text for what is no
number in base64.
"""
