"""Java texts against literals from outside and against the machine's JVM (canal#escapes,
canal#floats).
"""

from __future__ import annotations

import math
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from generators.families.java_text import Escapes, double_text, float_text, hash_code, json_string
from generators.sources import mysql

# 3.2 and 3.4: Java's numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (3.14, "3.14"),
            (1e10, "1.0E10"),
            (1e7, "1.0E7"),
            (9999999.0, "9999999.0"),
            (1e-4, "1.0E-4"),
            (0.001, "0.001"),
        ),
        *((3.4028234663852886e38, "3.4028235E38"), (-0.0, "-0.0")),
    ],
)
def test_float_text(value: float, text: str) -> None:
    assert float_text(mysql.to_float32(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (1.0, "1.0"),
            (123456789.0, "1.23456789E8"),
            (1.7976931348623157e308, "1.7976931348623157E308"),
            (5e-324, "4.9E-324"),
        ),
        *(
            (2e23, "1.9999999999999998E23"),
            (1e23, "9.999999999999999E22"),
            (8.41e21, "8.409999999999999E21"),
        ),
    ],
)
def test_double_text(value: float, text: str) -> None:
    assert double_text(value) == text


def test_numbers_that_mysql_has_not_are_refused() -> None:
    for value in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="no number"):
            double_text(value)


def _numbers(chance: random.Random) -> Iterator[tuple[str, int, str]]:
    """Doubles and floats of every magnitude as bits, with our text: random bits, short decimals,
    integers, powers of two.
    """
    for i in range(6000):
        bits = (
            chance.getrandbits(64),
            struct.unpack(
                "<Q",
                struct.pack("<d", chance.randrange(1, 10**6) * 10.0 ** chance.randrange(-30, 30)),
            )[0],
            struct.unpack(
                "<Q", struct.pack("<d", float(chance.randrange(1 << chance.randrange(1, 64))))
            )[0],
            chance.randrange(2047) << 52,
        )[i % 4]
        (value,) = struct.unpack("<d", struct.pack("<Q", bits))
        if math.isfinite(value):
            yield "d", bits, double_text(value)
        bits = (
            chance.getrandbits(32),
            chance.randrange(83 + 127, 87 + 127) << 23 | chance.getrandbits(23),
        )[i % 2]
        (value,) = struct.unpack("<f", struct.pack("<I", bits))
        if math.isfinite(value):
            yield "f", bits, float_text(value)


@pytest.mark.skipif(
    shutil.which("java") is None,
    reason="no java on PATH: number texts and hashes are not checked against a JVM",
)
def test_number_texts_and_hashes_are_those_of_a_jvm() -> None:
    chance = random.Random(17)
    cases = [(kind, f"{bits:x}", text) for kind, bits, text in _numbers(chance)]
    for _ in range(500):
        units = [
            chance.choice((chance.randrange(128), chance.randrange(0x10000)))
            for _ in range(chance.randrange(30))
        ]
        text = b"".join(struct.pack("<H", unit) for unit in units).decode(
            "utf-16-le", "surrogatepass"
        )
        cases.append(("h", "".join(f"{unit:04x}" for unit in units), str(hash_code(text))))
    source = Path(__file__).with_name("Texts.java")
    lines = "\n".join(f"{kind} {argument}" for kind, argument, _ in cases)
    done = subprocess.run(
        ["java", str(source)], input=lines, capture_output=True, text=True, timeout=120, check=True
    )
    version, *answers = done.stdout.splitlines()
    if float(version) >= 19:
        pytest.skip(
            f"Java {version} has the number texts of JDK-4511638; those of Canal's Java 8 to 18 are compared"
        )
    assert len(answers) == len(cases) > 11_000
    wrong = [
        (*case, answer) for case, answer in zip(cases, answers, strict=True) if case[2] != answer
    ]
    assert wrong == []


# 0.1, 0.2, 1.5: the escapes of each library, from output of fastjson 1.2.58, fastjson2 2.0.4 and
# 2.0.31


@pytest.mark.parametrize(
    ("library", "text", "quoted"),
    [
        (Escapes.FASTJSON1, "\t\n\r\b\f\x01\x0b\x1f", '"\\t\\n\\r\\b\\f\\u0001\\u000B\\u001F"'),
        (Escapes.FASTJSON1, "\x7f\x9f\xa0\u2028\u2029", '"\\u007F\\u009F\xa0\\u2028\\u2029"'),
        (Escapes.FASTJSON1, "\"\\/<>&'汉😀\ufeff", '"\\"\\\\/<>&\'汉😀\ufeff"'),
        (Escapes.FASTJSON2_RAW, "\t\n\r\b\f\x01\x0b\x1f", '"\\t\\n\\r\\b\\f\x01\x0b\x1f"'),
        (Escapes.FASTJSON2_RAW, '\x7f\x9f\u2028"\\', '"\x7f\x9f\u2028\\"\\\\"'),
        (Escapes.FASTJSON2, "\t\n\r\b\f\x01\x0b\x1f", '"\\t\\n\\r\\b\\f\\u0001\\u000b\\u001f"'),
        (Escapes.FASTJSON2, "\x7f\x9f\u2028\u2029/<>&'😀", '"\x7f\x9f\u2028\u2029/<>&\'😀"'),
        (Escapes.FASTJSON1, "\ud800x", '"?x"'),
        (Escapes.FASTJSON2_RAW, "汉\ud800", '"汉?"'),
        (Escapes.FASTJSON2, "y\udc00", '"y?"'),
    ],
)
def test_escapes(library: Escapes, text: str, quoted: str) -> None:
    assert json_string(text, library) == quoted


def test_a_blob_of_every_byte_has_the_executed_sizes() -> None:
    """1.5: 32 escaped, 96 one-byte (less quote and backslash) and 128 two-byte characters."""
    body = json_string(bytes(range(256)).decode("latin-1"), Escapes.FASTJSON2)[1:-1].encode()
    short, long, one_byte, two_byte = 5, 27, 96 - 2, 128
    assert len(body) == short * 2 + long * 6 + 2 * 2 + one_byte + two_byte * 2
