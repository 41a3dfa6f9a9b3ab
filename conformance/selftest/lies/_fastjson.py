"""How the spellings of fastjson 1 and fastjson2 2.0.31 differ in a JSON text."""

from __future__ import annotations

from typing import Final

_ALWAYS: Final = {c: f"\\u{ord(c):04X}" for c in map(chr, (*range(0x7F, 0xA0), 0x2028, 0x2029))}

FASTJSON_1: Final = {"\\u000b": "\\u000B", "\\u001f": "\\u001F"} | _ALWAYS
"""From fastjson2 to fastjson 1: hexadecimal digits in upper case, and characters that fastjson2 does not escape."""

FASTJSON_2: Final = {old: new for new, old in FASTJSON_1.items()}
"""The other way round."""
