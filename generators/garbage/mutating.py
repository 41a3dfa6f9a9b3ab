"""The ways to mutate a valid message, as data: what each does to the bytes, and how often it is
chosen.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Part:
    """A JSON value in a message: `value` to `end`; `start` is where its member's name begins, or
    the same as `value`.
    """

    start: int
    value: int
    end: int

    @property
    def is_member(self) -> bool:
        """Whether the value is an object's member, which has a name."""
        return self.start < self.value


Parts: TypeAlias = tuple[Part, ...]

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[^\s,:\[\]{}"]++|[\[\]{}:]', re.DOTALL)
"""A token of JSON: a text in quotes, a number or word, or a sign."""
_COLON: Final = b":"
"""The sign between a member's name and its value."""


@lru_cache(maxsize=8192)
def parts(value: bytes) -> Parts:
    """Every value below the root of a valid JSON document, scalars and containers, in the order of
    their ends.
    """
    values: list[Part] = []
    open_containers: list[tuple[int, int]] = []
    # Where the name of the next value's member begins; -1 if that is no member.
    name_start = -1
    for token in _TOKEN.finditer(value):
        token_start = token.start()
        mark = token.group()
        if mark == _COLON:
            name_start = values.pop().value
        elif mark in (b"{", b"["):
            open_containers.append((token_start if name_start < 0 else name_start, token_start))
            name_start = -1
        elif mark in (b"}", b"]"):
            start, value_start = open_containers.pop()
            values.append(Part(start, value_start, token.end()))
        else:
            values.append(
                Part(token_start if name_start < 0 else name_start, token_start, token.end())
            )
            name_start = -1
    return tuple(values[:-1])


@dataclass(frozen=True, slots=True)
class Material:
    """What a mutation works on: a valid value, the mutant's own random stream (`chance`), a
    function that gives another valid value, and messages of other formats (`foreign`).
    """

    chance: random.Random
    value: bytes
    pick_other: Callable[[random.Random], bytes]
    foreign: Sequence[bytes]

    def below(self, limit: int) -> int:
        """A random number from 0 to `limit` - 1; 0 if `limit` is 0."""
        return int(self.chance.random() * limit)

    def pick(self, choices: Sequence[bytes]) -> bytes:
        """One of the choices, drawn at random."""
        return choices[int(self.chance.random() * len(choices))]

    def scale(self, low: int, high: int) -> int:
        """A random number from low to high; every magnitude is equally likely."""
        return int(low * (high / low) ** self.chance.random())

    def part(self) -> Part:
        """A random value inside the JSON document; the whole document where there is none."""
        values = parts(self.value)
        return (
            values[int(self.chance.random() * len(values))]
            if values
            else Part(0, 0, len(self.value))
        )

    def replace_range(self, start: int, end: int, replacement: bytes) -> bytes:
        """The message's bytes with those from `start` to `end` replaced."""
        return self.value[:start] + replacement + self.value[end:]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to make garbage of a value. `weight` is how often it is chosen, in proportion to the
    others. `apply` gives the mutant's value; None says that the mutant is a record without a value.
    """

    name: str
    weight: int
    apply: Callable[[Material], bytes | None]


DEEPEST: Final = 100_000
"""How many times a mutant nests an array, an object or both within each other at most."""
LONGEST: Final = 1 << 18
"""About how many bytes a mutant's long string has at most. The longest escape, of six bytes, makes
it half as long again.
"""


def _flip_bits(m: Material) -> bytes:
    """1, 2, 4 or 8 random bits of the message are inverted, one after the other."""
    data = bytearray(m.value)
    for _ in range(1 << m.below(4)):
        data[m.below(len(data))] ^= 1 << m.below(8)
    return bytes(data)


def _flip_bit(m: Material) -> bytes:
    """One bit of the message is inverted."""
    place = m.below(len(m.value))
    return m.replace_range(place, place + 1, bytes((m.value[place] ^ 1 << m.below(8),)))


def _splice(m: Material) -> bytes:
    """The beginning of the message is joined with the end of another valid message."""
    other_message = m.pick_other(m.chance)
    return m.value[: m.below(len(m.value) + 1)] + other_message[m.below(len(other_message) + 1) :]


def _truncate(m: Material) -> bytes:
    """The message is cut at a random place; its beginning stays."""
    return m.value[: m.below(len(m.value))]


def _cut_near_the_end(m: Material) -> bytes:
    """The last 1 to 8 bytes of the message are cut off."""
    return m.value[: max(0, len(m.value) - 1 - m.below(8))]


def _behead(m: Material) -> bytes:
    """A random number of bytes, at least one, is cut off the beginning of the message."""
    return m.value[1 + m.below(len(m.value)) :]


def _insert_bytes(m: Material) -> bytes:
    """1 to 8 random bytes are put into the message."""
    place = m.below(len(m.value) + 1)
    return m.replace_range(place, place, m.chance.randbytes(1 + m.below(8)))


def _overwrite_bytes(m: Material) -> bytes:
    """1 to 8 bytes of the message are replaced by random ones; at the end, it may become longer."""
    place, size = m.below(len(m.value)), 1 + m.below(8)
    return m.replace_range(place, place + size, m.chance.randbytes(size))


def _delete_bytes(m: Material) -> bytes:
    """1 byte to half of the message's bytes are cut out at a random place; fewer near its end."""
    place = m.below(len(m.value))
    return m.replace_range(place, place + m.scale(1, max(2, len(m.value) // 2)), b"")


def _repeat_bytes(m: Material) -> bytes:
    """A part of the message is put in again in front of itself, up to 64 times."""
    place = m.below(len(m.value))
    chunk = m.value[place : place + m.scale(1, max(2, len(m.value)))]
    return m.replace_range(place, place, chunk * min(m.scale(1, 64), 1 + (1 << 16) // len(chunk)))


def _exchange_ranges(m: Material) -> bytes:
    """Two ranges of bytes change places."""
    a, b, c, d = sorted(m.below(len(m.value) + 1) for _ in range(4))
    return _exchange(m.value, a, b, c, d)


BYTES: Final = (
    Way("bit-flip", 14, _flip_bit),
    Way("bit-flips", 6, _flip_bits),
    Way("splice", 8, _splice),
    Way("truncate", 6, _truncate),
    Way("truncate-end", 4, _cut_near_the_end),
    Way("behead", 3, _behead),
    Way("insert", 6, _insert_bytes),
    Way("overwrite", 6, _overwrite_bytes),
    Way("delete", 6, _delete_bytes),
    Way("repeat", 5, _repeat_bytes),
    Way("exchange", 4, _exchange_ranges),
    Way("twice", 1, lambda m: m.value + m.value),
    Way("random", 2, lambda m: m.chance.randbytes(m.scale(1, 2000))),
    Way("foreign", 2, lambda m: m.pick(m.foreign)),
    Way("empty", 1, lambda _m: b""),
    Way("null", 1, lambda _m: None),
)
"""The ways to mutate any bytes, whatever they hold."""


_KINDS: Final = tuple(
    b'null|true|false|0|-1|1|""|"x"|{}|[]|[null]|[[]]|[{}]|{"":null}|{"a":[]}|1.5|"\\u0000"'.split(
        b"|"
    )
)
"""Short JSON values of every kind, for the place of a value of another kind."""
_NUMBERS: Final = (
    b"1e400", b"-1e400", b"1e-400", b"1E+2147483648", b"-0", b"-0.0", b"0e0", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775809", b"18446744073709551615", b"18446744073709551616", b"253402300799999", b"253402300800000", b"1e18",
    b"1.0", b"0.1e1", b"123456789012345678901234567890.5",
)  # fmt: skip
"""Legal JSON numbers that overflow, are rounded, or are spelled in an unusual way."""
_LOOSE: Final = (
    b"NaN", b"Infinity", b"-Infinity", b"+1", b".5", b"1.", b"01", b"-01", b"00", b"0x1F", b"1_0", b"1L", b"--1", b"-", b"1e",
    b"1e+", b"'a'", b"a", b"True", b"NULL", b"nul", b"nulll", b"undefined", b"/**/1", b"1/**/", b"1//\n", b"#1\n1", b'"a" "b"',
    b'"a"b"', b'"\\x41"', b'"\\u12"', b'"\\u12G4"', b'"\\q"', b'"\\\'"', b"\"'", b"\xe2\x80\x9ca\xe2\x80\x9d", b"[1,]", b"[,1]",
    b"[,]", b'{"a":1,}', b"{,}", b'{"a"}', b'{"a":}', b"{a:1}", b"{'a':1}", b"{1:1}", b'{"a"=1}', b'{"a":1 "b":2}', b"[1 2]",
    b"[1;2]", b"(1)", b"", b" ", b":", b",", b"[", b"]", b"{", b"}", b'"', b"\\", b"<![CDATA[1]]>", b"INF", b"-INF", b"nan",
    b"Inf",
)  # fmt: skip
"""Texts that are not JSON, though some parsers read them (RFC 8259, 3, 6, 7)."""
_IN_STRINGS: Final = (
    b"\\ud800", b"\\udc00", b"\\udc00\\ud800", b"\\u0000", b"\x00", b"\x01", b"\t", b"\n", b"\r", b"\x1f", b"\x7f", b"\xff",
    b"\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\\", b"\\u", b"\\u0",
    b"\\U0001F600", b"\\q", b'"', b'\\"', b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\\/", b"\\v", b"\\0", b"\\'", b"\xcc\x81",
    b"%s%n", b"${x}", b"'", b"`", b"\xef\xbf\xbf",
)  # fmt: skip
"""Bytes to be put into a JSON string: lone surrogates, control characters, bytes that are not
UTF-8, broken or unusual escapes, and text that some readers take for a mark.
"""
_SPACES: Final = (
    b" ", b"\t", b"\r\n", b"\n\n", b"\x0b", b"\x0c", b"\x00", b"\xc2\xa0", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\x1e", b"\x85",
    b"\x1a", b"/* */", b"// \n", b"# \n",
)  # fmt: skip
"""Bytes to be put between JSON's tokens: space that RFC 8259 allows, other space, and comments."""
_MARKS: Final = tuple(bytes((c,)) for c in b',:[]{}"\\')
"""The marks of JSON's grammar, a byte each."""
_JOINS: Final = (
    b"", b",", b"\n", b" ", b"],[", b"}{", b"],\"m\":[", b"]}\n{\"m\":[", b",{}],\"m\":[", b"},{", b"\x00", b"\x1e", b";",
    b",null,", b",[],",
)  # fmt: skip
"""What is put between two documents to make one value; some close and open what a decoder may have
wrapped a document in.
"""
_TAILS: Final = (
    b"x", b"}", b"]", b",", b":", b"null", b"0", b'"', b'""', b"{}", b"[]", b",{}", b",{}]}", b"]}", b",{}]", b"\x00",
    b"\xef\xbb\xbf", b"\xff", b"/**/", b"// end", b"#", b"\x0b", b"\xc2\xa0", b"\x1a", b"]}{", b",{}],\"corrupt\":null}",
    b"],\"m\":[{}", b"\r\n\r\n", b"\r\n}", b" \t",
)  # fmt: skip
"""What is put before or behind a document."""


def _swap_parts(m: Material) -> bytes:
    """Two values of the document change places, sometimes with their members' names; one becomes
    null if they are the same or one holds the other.
    """
    first, second = m.part(), m.part()
    if first.end > second.end:
        first, second = second, first
    if first.end > second.start or first == second:
        return m.replace_range(first.value, first.end, b"null")
    if m.below(2) and first.is_member and second.is_member:
        return _exchange(m.value, first.start, first.end, second.start, second.end)
    return _exchange(m.value, first.value, first.end, second.value, second.end)


def _exchange(value: bytes, a: int, b: int, c: int, d: int) -> bytes:
    """The bytes with the range `a` to `b` and the range `c` to `d`, which lies behind it,
    exchanged.
    """
    return value[:a] + value[c:d] + value[b:c] + value[a:b] + value[d:]


def _replace_value(choices: Sequence[bytes]) -> Callable[[Material], bytes]:
    """The mutation that replaces a random value of the JSON document with one of the texts
    `choices`.
    """

    def replaced(m: Material) -> bytes:
        part = m.part()
        return m.replace_range(part.value, part.end, m.pick(choices))

    return replaced


def _replace_with_number(m: Material) -> bytes:
    """A value of the document becomes an awkward number or one of up to thousands of digits,
    sometimes in quotes.
    """
    part = m.part()
    number_text = m.pick(_NUMBERS) if m.below(2) else b"9" * m.scale(10, 5000)
    return m.replace_range(
        part.value, part.end, b'"%b"' % number_text if m.below(2) else number_text
    )


def _nest_deeply(m: Material) -> bytes:
    """A value of the document becomes arrays or objects nested inside each other, up to DEEPEST
    times, sometimes with one closing bracket too few.
    """
    part, depth = m.part(), m.scale(10, DEEPEST)
    opening, core, closing = (
        (b"[", b"", b"]"),
        (b'{"a":', b"1", b"}"),
        (b'[{"a":', b"null", b"}]"),
    )[m.below(3)]
    one_too_few = m.below(8) == 0
    return m.replace_range(
        part.value, part.end, opening * depth + core + closing * (depth - one_too_few)
    )


def _replace_with_long_string(m: Material) -> bytes:
    """A random value of the JSON document becomes a long string: one letter or one escape, repeated
    from 250 times up to a quarter of LONGEST.
    """
    part, size = m.part(), m.scale(1000, LONGEST)
    return m.replace_range(
        part.value,
        part.end,
        b'"%b"' % (m.pick((b"x", b"\xe6\xb1\x89", b"\\n", b"\\u00ff")) * (size // 4)),
    )


def _replace_with_wide_array(m: Material) -> bytes:
    """A value of the document becomes an array of 10 to 5,000 equal items."""
    part, size = m.part(), m.scale(10, 5_000)
    return m.replace_range(part.value, part.end, b"[" + b",".join([m.pick(_KINDS)] * size) + b"]")


def _drop_member(m: Material) -> bytes:
    """A member or an array's element disappears from the document, with a comma beside it."""
    part = m.part()
    end = part.end + 1 if m.value[part.end : part.end + 1] == b"," else part.end
    start = (
        part.start - 1
        if end == part.end and m.value[part.start - 1 : part.start] == b","
        else part.start
    )
    return m.replace_range(start, end, b"")


def _double_member(m: Material) -> bytes:
    """A member or element of the document is repeated behind itself, with a value from any place of
    the document.
    """
    part, second_part = m.part(), m.part()
    name = m.value[part.start : part.value]
    return m.replace_range(
        part.end, part.end, b"," + name + m.value[second_part.value : second_part.end]
    )


def _rename_member(m: Material) -> bytes:
    """A member of the document gets the name of another one, that name in other case, or an empty
    name; where one of the two has no name, the first is named `unheard-of`.
    """
    part, second_part = m.part(), m.part()
    if not (part.is_member and second_part.is_member):
        return m.replace_range(part.start, part.value, b'"unheard-of":')
    name = m.value[second_part.start : second_part.value]
    return m.replace_range(
        part.start, part.value, (name, name.upper(), name.lower(), b'"":')[m.below(4)]
    )


def _change_punctuation(m: Material) -> bytes:
    """At a border of a value of the document, a byte is replaced or left out, or a mark of JSON is
    put in.
    """
    part = m.part()
    place = (part.start, part.value, part.end)[m.below(3)]
    return m.replace_range(place, place + m.below(2), m.pick(_MARKS) if m.below(3) else b"")


def _insert_in_string(m: Material) -> bytes:
    """Bytes that JSON strings may not hold, or that are easily misread, are put into a string or a
    member's name of the document; where the value drawn is no string, into or beside that value.
    """
    strings = [p for p in parts(m.value) if m.value[p.value : p.value + 1] == b'"' or p.is_member]
    part = strings[m.below(len(strings))] if strings else m.part()
    start = part.start if part.is_member and m.below(3) == 0 else part.value
    end = m.value.find(b'"', start + 1)
    place = start + 1 + m.below(max(1, end - start)) if end > 0 else start
    return m.replace_range(place, place, m.pick(_IN_STRINGS))


def _insert_space(m: Material) -> bytes:
    """Space that JSON may or may not allow is put beside a value of the document, or at one of its
    ends.
    """
    part = m.part()
    place = (0, part.start, part.value, part.end, len(m.value))[m.below(5)]
    return m.replace_range(place, place, m.pick(_SPACES))


_WRAPPINGS: Final = (
    (b"[", b"]"), (b'"', b'"'), (b'{"m":', b"}"), (b'{"m":[', b",{}]}"), (b"(", b")"), (b"", b",{}"), (b"{", b"}"),
)  # fmt: skip
"""What is put before and behind a document as a whole."""


def _wrap_document(m: Material) -> bytes:
    """The document is put inside brackets, quotes or a member of another document."""
    head, tail = _WRAPPINGS[m.below(len(_WRAPPINGS))]
    return head + m.value + tail


JSON: Final = (
    Way("swap", 8, _swap_parts),
    Way("retype", 8, _replace_value(_KINDS)),
    Way("number", 5, _replace_with_number),
    Way("no-json", 8, _replace_value(_LOOSE)),
    Way("nest", 1, _nest_deeply),
    Way("long-string", 1, _replace_with_long_string),
    Way("wide", 1, _replace_with_wide_array),
    Way("drop-member", 4, _drop_member),
    Way("double-member", 4, _double_member),
    Way("rename-member", 5, _rename_member),
    Way("punctuate", 6, _change_punctuation),
    Way("in-string", 8, _insert_in_string),
    Way("space", 4, _insert_space),
    Way("join", 4, lambda m: m.value + m.pick(_JOINS) + m.pick_other(m.chance)),
    Way("tail", 4, lambda m: m.value + m.pick(_TAILS)),
    Way("head", 3, lambda m: m.pick(_TAILS) + m.value),
    Way("wrap", 2, _wrap_document),
)
"""The ways to mutate a JSON document, beside those of BYTES."""


def _zigzag_varint(number: int) -> bytes:
    """A number in Avro's encoding of a long: zig-zag, seven bits to a byte. Fastavro is not used
    because it refuses numbers beyond a long.
    """
    sign = number >> 70  # -1 for a negative number, else 0: no number here has 70 bits
    remaining, data = (number << 1) ^ sign, bytearray()
    while remaining > 0x7F:
        data.append(remaining & 0x7F | 0x80)
        remaining >>= 7
    return bytes((*data, remaining))


_LENGTHS: Final = tuple(
    _zigzag_varint(n)
    for n in (-1, -2, 0, 1, 63, 64, 1 << 20, 1 << 28, (1 << 31) - 1, 1 << 31, -(1 << 31), 1 << 40, (1 << 62), (1 << 63) - 1,
              -(1 << 63), 1 << 66)
)  # fmt: skip
"""Lengths and counts at the borders of what one byte, an int and a long hold, as Avro has them."""
_HEADS: Final = (
    b"\x00", b"\x00\x00\x00\x00\x07", b"\xc3\x01\x8f\x5c\x39\x3f\x1a\xd5\x75\x72", b"Obj\x01", b"\xff", b"\x80\x00", b"\x02",
    b"{}",
)  # fmt: skip
"""Beginnings of Confluent's framing, of Avro's single objects and files, and of other values."""


def _replace_length(m: Material) -> bytes:
    """A random byte is replaced by one of _LENGTHS."""
    place = m.below(len(m.value))
    return m.replace_range(place, place + 1, m.pick(_LENGTHS))


def _make_number_overlong(m: Material) -> bytes:
    """A random byte becomes the beginning of a longer number of Avro: it gets the bit that says
    that more bytes follow, then come up to ten zeros with that bit and one without. Where the byte
    was the last one of a number, the number is the same, in more bytes than it needs.
    """
    place = m.below(len(m.value))
    continued = bytes((m.value[place] | 0x80,))
    zeros = b"\x80" * m.below(10) + b"\x00"
    return m.replace_range(place, place + 1, continued + zeros)


def _shift_byte(m: Material) -> bytes:
    """A random byte becomes one or two larger or smaller. In Avro this may be the next branch of a
    union, the next symbol or one item more.
    """
    place = m.below(len(m.value))
    return m.replace_range(
        place, place + 1, bytes(((m.value[place] + (2, -2, 1, -1)[m.below(4)]) & 0xFF,))
    )


_BLOCKS: Final = (
    b"\x01\x00",
    b"\x01\x01",
    b"\x01\x03",
    b"\x03\x05",
    b"\x01\x80\x80\x80\x80\x10",
    b"\x02\x01\x03",
    b"\x01\x02\x00\x00",
)
"""Beginnings of an array's or a map's block in Avro with a negative count, behind which the block's
size in bytes stands: here zero, negative or too large.
"""


def _insert_block_head(m: Material) -> bytes:
    """One of _BLOCKS is put before a random byte, or in its place."""
    place = m.below(len(m.value))
    return m.replace_range(place, place + m.below(2), m.pick(_BLOCKS))


OPAQUE: Final = (
    Way("length", 12, _replace_length),
    Way("overlong-number", 8, _make_number_overlong),
    Way("neighbour", 12, _shift_byte),
    Way("block", 6, _insert_block_head),
    Way(
        "zeros",
        3,
        lambda m: m.replace_range(p := m.below(len(m.value)), p, b"\x00" * m.scale(1, 10_000)),
    ),
    Way(
        "long-string",
        1,
        lambda m: m.replace_range(p := m.below(len(m.value)), p, b"x" * m.scale(1000, LONGEST)),
    ),
    Way("head", 4, lambda m: m.pick(_HEADS) + m.value),
    Way("tail", 4, lambda m: m.value + m.pick(_HEADS)),
    Way(
        "in-string",
        4,
        lambda m: m.replace_range(p := m.below(len(m.value)), p, m.pick(_IN_STRINGS)),
    ),
    Way("join", 2, lambda m: m.value + m.pick_other(m.chance)),
)
"""The ways to mutate a value in a binary container, beside those of BYTES: its numbers, lengths,
branches and framing.
"""
