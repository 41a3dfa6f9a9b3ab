"""How a Java program writes text: numbers, hashes, and the JSON strings of the fastjson releases.

`float_text` and `double_text` are `Float.toString` and `Double.toString` as every JDK up to 18
computes them (`jdk.internal.math.FloatingDecimal`), which is not always the shortest text: 2e23
gives `1.9999999999999998E23`. JDK 19 changed the algorithm (JDK-4511638). `hash_code` is
`String.hashCode`. The escape tables were taken from output of fastjson 1.2.58, fastjson2 2.0.4 and
fastjson2 2.0.31, the libraries of Canal 1.1.4 and 1.1.5, of 1.1.6, and of 1.1.7 and 1.1.8.
"""

from __future__ import annotations

import enum
import json
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, Final

from generators.sources.mysql import key_order

_FRACTION_BITS: Final = 52
"""The bits of a double's fraction."""
_BIAS: Final = 1023
"""What a double's bits of exponent are more than its exponent."""
_MAX_SMALL_EXPONENT: Final = 62
_MIN_SMALL_EXPONENT: Final = -21
"""Between these exponents Java prints a number without a fraction by integer arithmetic."""
_FIVES_BITS: Final = (
    0, 3, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28, 31, 33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61,
)  # fmt: skip
"""How many bits 5^i has, at index i, as far as 5^i fits a Java long."""


def double_text(value: float) -> str:
    """`Double.toString(value)` of JDK 17 for a finite value. Raises ValueError for an infinity or
    NaN.
    """
    _finite(value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    fraction, exponent = bits & ((1 << _FRACTION_BITS) - 1), bits >> _FRACTION_BITS & 0x7FF
    return _float_text(bits >> 63 == 1, fraction, exponent, _BIAS, _FRACTION_BITS)


def float_text(value: float) -> str:
    """`Float.toString(value)` of JDK 17 for a finite value that a binary32 holds. Raises ValueError
    for an infinity or NaN, or OverflowError beyond binary32.
    """
    _finite(value)
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return _float_text(bits >> 31 == 1, bits & 0x7FFFFF, bits >> 23 & 0xFF, 127, 23)


def _finite(value: float) -> None:
    """Raises ValueError for an infinity or NaN."""
    if not math.isfinite(value):
        raise ValueError(f"{value!r} is no number that MySQL stores")


def _float_text(negative: bool, fraction: int, exponent: int, bias: int, width: int) -> str:
    """The text that Java prints for a binary floating-point number, from its sign and the bits of
    its fraction and exponent. `bias` is what these bits are more than the exponent, `width` the
    number of bits of the fraction: 1023 and 52 for a double, 127 and 23 for a float.
    """
    sign = "-" if negative else ""
    if exponent == 0 and fraction == 0:
        return f"{sign}0.0"
    if exponent == 0:
        significant = fraction.bit_length()
        shift = width + 1 - significant
        fraction <<= shift
        exponent = 1 - shift
    else:
        fraction |= 1 << width
        significant = width + 1
    digits, point = _digits(exponent - bias, fraction << (_FRACTION_BITS - width), significant)
    return sign + _layout(digits, point)


def _layout(digits: str, point: int) -> str:
    """A number's text from its decimal digits, of which `point` stand before the decimal point:
    plain for 1e-3 <= x < 1e7, else with an exponent, such as `1.5E10`.
    """
    if 0 < point < 8:
        integer_digits = digits[:point].ljust(point, "0")
        return f"{integer_digits}.{digits[point:] or '0'}"
    if -3 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _digits(exponent: int, fraction: int, significant: int) -> tuple[str, int]:
    """FloatingDecimal's `dtoa`: the decimal digits of a number, and how many of them stand before
    the decimal point.

    `fraction` has its leading one at bit 52, `exponent` is the binary exponent without bias,
    `significant` is how many bits carry information.
    """
    tail = (fraction & -fraction).bit_length() - 1
    fraction_bits = _FRACTION_BITS + 1 - tail
    tiny = max(0, fraction_bits - exponent - 1)
    if tiny == 0 and _MIN_SMALL_EXPONENT <= exponent <= _MAX_SMALL_EXPONENT and fraction_bits < 64:
        dropped = _insignificant(exponent - significant - 1) if exponent > significant else 0
        shift = exponent - _FRACTION_BITS
        return _integer_digits(fraction << shift if shift >= 0 else fraction >> -shift, dropped)
    return _hard_digits(
        exponent, fraction >> tail, significant, fraction_bits, tiny, _estimate(exponent, fraction)
    )


def _insignificant(power: int) -> int:
    """How many decimal digits at the end of a number are undetermined if its lowest bit stands for
    2^power.
    """
    return len(str(1 << power)) - 1 if power > 1 else 0


def _integer_digits(value: int, dropped: int) -> tuple[str, int]:
    """The decimal digits of an integer, without zeros at their end, and how many digits stand
    before the decimal point. The last `dropped` digits are rounded away, half up.
    """
    if dropped:
        power = 10**dropped
        value, remainder = divmod(value, power)
        value += remainder >= power >> 1
    digits = str(value)
    return digits.rstrip("0"), len(digits) + dropped


def _estimate(exponent: int, fraction: int) -> int:
    """An estimate of the decimal exponent of a binary floating-point number, at most one too high,
    from its binary exponent and its fraction. It uses Java's own constants, because the digits
    depend on it.
    """
    # The number with the same fraction bits between 1 and 2.
    mantissa: float
    (mantissa,) = struct.unpack(
        "<d", struct.pack("<Q", _BIAS << _FRACTION_BITS | fraction & ((1 << _FRACTION_BITS) - 1))
    )
    return math.floor((mantissa - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)


def _hard_digits(
    exponent: int, fraction: int, significant: int, fraction_bits: int, tiny: int, decimal: int
) -> tuple[str, int]:
    """The decimal digits that Java prints for a floating-point number for which it has no shortcut,
    and how many of them stand before the decimal point: digit by digit until they identify the
    number (Steele and White, with Java's stopping rules).

    `fraction` is odd, and has `fraction_bits` bits; `exponent` is the binary exponent of its
    leading bit, `significant` how many bits carry information, `tiny` how many of the bits stand
    behind the binary point, `decimal` the estimate of the decimal exponent.
    """
    five_b, five_s = max(0, -decimal), max(0, decimal)
    two_b, two_s = five_b + tiny + exponent, five_s + tiny
    two_m = two_b - significant
    two_b -= fraction_bits - 1
    common = min(two_b, two_s)
    two_b, two_s, two_m = two_b - common, two_s - common, two_m - common
    if fraction_bits == 1:
        two_m -= 1
    if two_m < 0:
        two_b, two_s, two_m = two_b - two_m, two_s - two_m, 0
    size = max(fraction_bits + two_b + _fives(five_b), two_s + 1 + _fives(five_s + 1))
    word = 32 if size < 32 else 64 if size < 64 else 0
    remainder, step, unit = fraction * 5**five_b << two_b, 5**five_s << two_s, 5**five_b << two_m
    tens = step * 10
    digits: list[int] = []
    first = True
    low = high = False
    while first or not (low or high):
        digit, remainder = divmod(remainder, step)
        remainder, unit = remainder * 10, unit * 10
        low = remainder < unit
        high = _wrap(remainder + unit, word) > tens if word else remainder + unit >= tens
        if not first and word and _wrap(unit, word) <= 0:
            low = high = True
        if first and digit == 0 and not high:
            decimal -= 1
        else:
            digits.append(digit)
        if first and not -3 <= decimal < 8:
            low = high = False
        first = False
    doubt = remainder * 2 - tens
    if high and not (low and (doubt < 0 or (doubt == 0 and digits[-1] % 2 == 0))):
        decimal += _round_up(digits)
    return "".join(map(str, digits)), decimal + 1


def _fives(power: int) -> int:
    """How many bits Java takes 5^power to have: beyond its table three for each power."""
    return _FIVES_BITS[power] if power < len(_FIVES_BITS) else power * 3


def _wrap(value: int, word: int) -> int:
    """The number that a signed word of `word` bits holds after Java's overflow. `word` 0 stands for
    a big integer, which does not overflow. The last digit of some floats depends on it.
    """
    if not word:
        return value
    value &= (1 << word) - 1
    return value - (1 << word) if value >> (word - 1) else value


def _round_up(digits: list[int]) -> int:
    """Adds one to the last of the digits, in place. Returns by how much the decimal exponent grows:
    1 for digits that were all nines (999 becomes 100), else 0.
    """
    for i in range(len(digits) - 1, -1, -1):
        if digits[i] != 9:
            digits[i] += 1
            return 0
        digits[i] = 0
    digits[0] = 1
    return 1


def hash_code(value: str) -> int:
    """Java's `String.hashCode`: over UTF-16 units, as a signed 32-bit integer. Writers choose a
    record's partition by it, as their products in Java do.
    """
    code = 0
    for (unit,) in struct.iter_unpack("<H", value.encode("utf-16-le", "surrogatepass")):
        code = code * 31 + unit & 0xFFFFFFFF
    return _wrap(code, 32)


def remainder_of_abs(value: int, count: int) -> int:
    """Java's `abs(abs(value) % count)` over 32-bit integers, where the absolute value of the least
    integer is itself. Writers choose a record's partition by it: `value` is a hash code, `count`
    the number of partitions.
    """
    return abs(int(math.fmod(value if value == -(1 << 31) else abs(value), count)))


class Escapes(enum.StrEnum):
    """A JSON library's way with characters. FASTJSON2_RAW writes C0 controls other than the five
    short forms as they are, which is not JSON (RFC 8259 section 7).
    """

    FASTJSON1 = "fastjson 1.2.58"
    FASTJSON2_RAW = "fastjson2 2.0.4"
    FASTJSON2 = "fastjson2 2.0.31"


_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
"""The escapes of two characters that every release of fastjson writes."""
_LONE: Final = {chr(c): "?" for c in range(0xD800, 0xE000)}
"""What stands for each half of a surrogate pair that stands alone."""


@cache
def _escapes(library: Escapes) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """The pattern of the characters that a release of fastjson escapes, and the escape of each; a
    lone surrogate becomes `?`.
    """
    controls = [chr(c) for c in range(0x20)]
    wide = [*map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"]
    table: dict[str, str] = {
        Escapes.FASTJSON1: {c: f"\\u{ord(c):04X}" for c in (*controls, *wide)},
        Escapes.FASTJSON2_RAW: {},
        Escapes.FASTJSON2: {c: f"\\u{ord(c):04x}" for c in controls},
    }[library]
    table |= _SHORT
    return re.compile(f"[{''.join(map(re.escape, table))}\ud800-\udfff]"), table | _LONE


def json_string(value: str, library: Escapes) -> str:
    """The text as the JSON library `library` quotes it. A lone surrogate becomes `?`, as Java's
    UTF-8 encoder writes it.
    """
    pattern, table = _escapes(library)
    return f'"{pattern.sub(lambda hit: table[hit[0]], value)}"'


_RAW_CONTROL: Final = re.compile(r"[\x00-\x07\x0b\x0e-\x1f]")


def has_raw_control(value: str) -> bool:
    """Whether FASTJSON2_RAW writes some character of the text raw that JSON does not allow raw."""
    return _RAW_CONTROL.search(value) is not None


def hash_order(keys: Sequence[str]) -> list[str]:
    """The keys in the order in which a Java HashMap goes over them that they were put into in the
    given order; as long as no bucket is a tree.
    """
    buckets = 16
    while len(keys) > buckets * 3 // 4:
        buckets *= 2
    return sorted(keys, key=lambda key: _spread(key) & (buckets - 1))


def _spread(key: str) -> int:
    """The hash by which a Java HashMap places a text: `HashMap.hash` of its `String.hashCode`."""
    code = hash_code(key) & 0xFFFFFFFF
    return code ^ code >> 16


def unscaled(value: Decimal, scale: int) -> int:
    """The integer that stands for the value at that scale; further digits are cut off."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    number = int("".join(map(str, digits)) or "0")
    shift = exponent + scale
    number = number * int(10**shift) if shift >= 0 else number // int(10**-shift)
    return -number if sign else number


def two_complement(number: int) -> bytes:
    """The bytes of an integer as `BigInteger.toByteArray` gives them: big-endian two's complement
    in as few bytes as hold it, zero as one byte.
    """
    return number.to_bytes(
        (number if number >= 0 else ~number).bit_length() // 8 + 1, "big", signed=True
    )


def java_decimal(number: int, scale: int, *, plain: bool) -> str:
    """The text of a BigDecimal, from its unscaled number and its scale: by `toPlainString` with
    `plain`, else by `toString`, which has an exponent where the first digit is past the sixth
    decimal place.
    """
    digits = str(abs(number))
    sign = "-" if number < 0 else ""
    adjusted = len(digits) - 1 - scale
    if not plain and (scale < 0 or adjusted < -6):
        fraction_text = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction_text}E{adjusted:+d}"
    if scale <= 0:
        return f"{sign}{digits}{'0' * -scale}" if number else "0"
    padded = digits.rjust(scale + 1, "0")
    return f"{sign}{padded[:-scale]}.{padded[-scale:]}"


def document_text(
    value: Any,
    number: Callable[[float], str],
    spell: Callable[[str], str],
    order: Callable[[str], Any] = key_order,
    *,
    comma: str = ", ",
    colon: str = ": ",
) -> str:
    """The text of a JSON document: `number` prints its doubles, `spell` its texts, and `order` is
    the sort key of its objects' names. Raises TypeError for a value that JSON does not have.
    """

    def print_value(item: Any) -> str:
        """The JSON text of a value, at any depth: integers and decimals in plain digits, the names
        of an object sorted by `order`, all else as the arguments of `document_text` say.
        """
        match item:
            case None | bool() | int():
                return json.dumps(item)
            case float():
                return number(item)
            case Decimal():
                return format(item, "f")
            case str():
                return spell(item)
            case Mapping():
                members = (
                    f"{spell(key)}{colon}{print_value(item[key])}"
                    for key in sorted(item, key=order)
                )
                return f"{{{comma.join(members)}}}"
            case list() | tuple():
                return f"[{comma.join(map(print_value, item))}]"
        raise TypeError(f"{item!r} is no JSON value")

    return print_value(value)
