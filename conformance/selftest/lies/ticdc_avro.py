"""The lies about TiCDC's Avro protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.selftest.lies.lie import Lie

_NEW: Final = "v8.5.7+extension"
_TEXTS: Final = "v8.5.7+extension+checksum+decimal-string+bigint-string"

LIES: Final = (
    Lie("bits of the column's width", _NEW, "value/bit", "bit-63/one", "new", True),
    Lie("no extension", _NEW, "envelope/position", "shape/insert", "extension", False),
    Lie("no checksum", _TEXTS, None, "shape/insert", "checksum", False),
    Lie("decimals as bytes", _TEXTS, None, "decimal-10-2/max", "decimal_string", False),
    Lie("longs that wrap", _TEXTS, "value/unsigned-bigint", "unsigned-bigint/max", "bigint_string", False),
    Lie(
        "another magic byte",
        _NEW,
        "rows/readable",
        "shape/insert",
        alter=lambda m: replace(m, value=m.value and b"\x01" + m.value[1:]),
    ),
    Lie("no value", _NEW, "rows/op", "shape/insert", alter=lambda m: replace(m, value=None)),
    Lie("no key", _NEW, "envelope/keys", "shape/insert", alter=lambda m: replace(m, key=None)),
)
