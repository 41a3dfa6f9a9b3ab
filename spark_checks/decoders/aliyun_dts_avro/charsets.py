"""Characters of Aliyun DTS's Record whose bytes are not in UTF-8, as UTF-8 (aliyun#charset).

A Character's bytes are in the charset that it names, by MySQL's names. Nearly all are in UTF-8, so
an image is looked through once, and cells are rebuilt only where another charset occurs.

MySQL's latin1 is Windows-1252, whose five undefined bytes are control characters: Latin-1 with some
characters replaced. Spark decodes few other charsets unless a session setting allows it, hence
Java's URLDecoder on percent escapes of all bytes: it knows all of Java's charsets and gives U+FFFD
for bytes that a charset does not have. A Character with an empty or unknown name, or with `binary`,
stays as it is.
"""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.aliyun_dts_avro.record import MEMBERS
from spark_checks.decoders.families.sql import LOWER, let, literal

UTF_8: Final = "('utf8mb4', 'utf8mb3', 'utf8', 'UTF8', 'utf-8', 'UTF-8')"
"""SQL of the names of UTF-8."""

_JAVA_CHARSETS: Final = {
    "ascii": "US-ASCII",
    "big5": "Big5",
    "cp850": "IBM850",
    "koi8r": "KOI8-R",
    "latin2": "ISO-8859-2",
    "ujis": "EUC-JP",
    "sjis": "Shift_JIS",
    "hebrew": "ISO-8859-8",
    "tis620": "TIS-620",
    "euckr": "EUC-KR",
    "koi8u": "KOI8-U",
    "gb2312": "GB2312",
    "greek": "ISO-8859-7",
    "cp1250": "windows-1250",
    "gbk": "GBK",
    "latin5": "ISO-8859-9",
    "ucs2": "UTF-16BE",
    "cp866": "IBM866",
    "macce": "x-MacCentralEurope",
    "macroman": "x-MacRoman",
    "cp852": "IBM852",
    "latin7": "ISO-8859-13",
    "cp1251": "windows-1251",
    "utf16": "UTF-16BE",
    "utf16le": "UTF-16LE",
    "cp1256": "windows-1256",
    "cp1257": "windows-1257",
    "utf32": "UTF-32BE",
    "cp932": "windows-31j",
    "eucjpms": "x-eucJP-Open",
    "gb18030": "GB18030",
}
"""Java's names of MySQL's charsets, where Java has them."""

_OPEN: Final = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
"""The bytes that Windows-1252 leaves undefined."""
_LATIN_1: Final = [chr(byte) for byte in range(0x80, 0xA0) if byte not in _OPEN]
_WINDOWS_1252: Final = [bytes([ord(c)]).decode("cp1252") for c in _LATIN_1]
"""The characters of Latin-1 for which MySQL's latin1 has others, and these others."""


def in_utf_8(cells: str) -> str:
    """SQL of the array `cells` in which each `Character` (bytes with the name of their charset) of
    a known charset is recoded to `utf8mb4`. Its value becomes NULL if it cannot be decoded.
    """
    character = f"x.{MEMBERS['Character']}"
    utf8_bytes = f"CAST({_decode_sql(f'{character}.charset', f'{character}.value')} AS binary)"
    members = {member: f"x.{member}" for member in MEMBERS.values()}
    members[MEMBERS["Character"]] = f"named_struct('charset', 'utf8mb4', 'value', {utf8_bytes})"
    anew = f"named_struct({', '.join(f'{member!r}, {value}' for member, value in members.items())})"
    charsets = ", ".join(map(repr, ("latin1", *_JAVA_CHARSETS)))
    decoded_cells = (
        f"transform({cells}, x -> CASE WHEN {LOWER.format(f'{character}.charset')} IN ({charsets})"
        f" THEN {anew} ELSE x END)"
    )
    return (
        f"CASE WHEN exists({cells}, x -> {character}.charset NOT IN {UTF_8}) THEN {decoded_cells} ELSE"
        f" {cells} END"
    )


def _decode_sql(charset: str, value: str) -> str:
    """SQL that decodes the bytes `value` by the name of MySQL's character set; NULL for bytes that
    are no text of it.
    """
    latin = (
        f"translate(decode({value}, 'ISO-8859-1'), {literal(''.join(_LATIN_1))},"
        f" {literal(''.join(_WINDOWS_1252))})"
    )
    names = " ".join(f"WHEN {mysql!r} THEN {java!r}" for mysql, java in _JAVA_CHARSETS.items())
    escaped = f"regexp_replace(hex({value}), '(..)', '%$1')"
    java = (
        f"try_reflect('java.net.URLDecoder', 'decode', {escaped}, CASE {LOWER.format(charset)}"
        f" {names} END)"
    )
    by_java = let(
        java, "text", f"CASE WHEN NOT contains(text, {literal(chr(0xFFFD))}) THEN text END"
    )
    return f"CASE WHEN {LOWER.format(charset)} = 'latin1' THEN {latin} ELSE {by_java} END"
