"""A column's type text and cells: those of `generators.families.canal`, but for live DDL statements
and character sets.

Canal knows a table that it saw created by the statement alone: `mysqlType` repeats its spelling,
and what the spelling does not say is decoded wrong (canal#live-spelling, canal#live-blob,
canal#charset-ignored).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from generators.families.canal import NULL_TYPES, OLD_NULL_TYPES, SQL_TYPES, CanalCell, wire
from generators.formats.alibaba_canal_json.profiles import CanalProfile
from generators.model import Cell, Column, Json, Logical, SourceType, State, Table, Value
from generators.sources import mysql

_DECLARED: Final = re.compile(
    r"(?P<name>(?:national\s+)?\w+(?:\s+precision|\s+varying|\s+varchar)?)\s*(?:\((?P<parameters>(?:'(?:[^'\\]|''|\\.)*'|[^')])*)\))?(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A type as a statement spells it: its name, its parameters, and the attributes behind them."""
_SPACE: Final = re.compile(r"\s+(?=(?:[^']*'[^']*')*[^']*$)")
"""Spaces that stand outside of quotes."""
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
"""A back-slash with the character behind it, which is the group."""
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "'": "''"}
"""What the character behind a back-slash in a label stands for, where that is not itself."""
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""The bytes of a surrogate, or the first two of them: Java's UTF-8 has one U+FFFD for all of them,
as for a byte that UTF-8 does not have; Python's has one for each.
"""
_STRIPPED: Final = "the binlog holds BINARY(n) without its trailing zero bytes; n is known"
"""Why the value of a BINARY is right with its trailing zero bytes and without."""
_TEXTS: Final = frozenset({"tinytext", "text", "mediumtext", "longtext"})
"""Types of texts that have no length. Canal takes a text for a BLOB if a statement spelled its type
in another way, such as TEXT(100).
"""
_TEXT_WORDS: Final = ("varchar", "tinytext", "text", "mediumtext", "longtext")
"""Spellings of a text that is bytes in the character set binary."""
CHARSETS: Final = {**mysql.CODECS, "": "utf-8", "gbk": "gb18030"}
"""Python's name of each character set; of any other only ASCII characters are written."""


_UNREAD_TYPE: Final = re.compile(
    r"(?:national\s+character|national\s+char\s+varying|nchar\s+var|char\s+varying"
    r"|long\s+(?:var|char)|.*\bbyte\s*$)",
    re.IGNORECASE,
)
"""Spellings of a type at which Canal's SQL parser stops."""


def has_unread_type(table: Table) -> bool:
    """Whether Canal's SQL parser does not read the statement that made the table, for the type of
    one of its columns, so that Canal asks the server for the table (canal#unread-types).
    """
    return any(_UNREAD_TYPE.match(column.declared) for column in table.columns)


def is_key_for_ever(column: Column) -> bool:
    """Whether the column's own definition says PRIMARY KEY: up to release 1.1.7 Canal goes on to
    call such a column a key after DROP PRIMARY KEY (canal#dropped-key).
    """
    return bool(column.inline_primary) or bool(
        re.search(r"\bprimary\s+key\b", column.declared, re.IGNORECASE)
    )


def key_columns(table: Table, facts: CanalProfile) -> frozenset[str]:
    """The columns that Canal takes for the key: those of the server's key but for columns whose
    definition no longer says PRIMARY KEY, and those that stay keys for ever (canal#dropped-key).
    """
    lost_columns = {column.name for column in table.columns if column.inline_primary is False}
    kept_columns = {c.name for c in table.columns if facts.keeps_dropped_key and is_key_for_ever(c)}
    server_columns = {name for name in table.primary_key if name not in lost_columns}
    return frozenset(server_columns | kept_columns)


def column_type(column: Column, facts: CanalProfile) -> str:
    """The type of a column as the member `mysqlType` spells it: as the statement that made the
    table declared it, if that is known, else as the server shows it. A server without display
    widths shows that of an integer or YEAR only if it is 1, as in TINYINT(1), or with ZEROFILL.
    """
    if column.declared:
        return _spell_type(column.declared)
    type = column.type
    plain = type.logical in (Logical.INT, Logical.YEAR) and not type.zerofill and type.length != 1
    if plain and not facts.display_widths:
        return type.key
    return mysql.declared(type)


def _spell_type(declared: str) -> str:
    """A type as Canal's SQL parser prints it: the name as written, parameters without spaces,
    `unsigned zerofill` in lower case. Of a back-slash in a label it prints what it stands for.

    `FLOAT(p)` above 24 digits is printed as double, `zerofill` alone as unsigned too
    (canal#live-spelling).
    """
    match = _DECLARED.match(declared)
    assert match is not None, declared
    name, parameters, attributes = match["name"], match["parameters"], match["rest"].lower()
    if name.lower() == "float" and parameters and parameters.isdigit() and int(parameters) > 24:
        name = "double"
    zerofill = bool(re.search(r"\bzerofill\b", attributes))
    unsigned = zerofill or bool(re.search(r"\bunsigned\b", attributes))
    plain = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), parameters or "")
    listed = f"({_SPACE.sub('', plain)})" if parameters is not None else ""
    return f"{name}{listed}{' unsigned' if unsigned else ''}{' zerofill' if zerofill else ''}"


def column_wire(column: Column, value: Value, facts: CanalProfile) -> CanalCell:
    """A column's value as Canal's message has it, with the code of its type, and what a decoder
    owes for it. Codes are those of JDBC: 1 is CHAR, -5 BIGINT, -6 TINYINT, -7 BIT, 2004 BLOB.
    """
    type, spelled = column.type, column.declared.lower()
    if type.name in mysql.SPATIAL:
        return _spatial(type, value, facts)
    cell = wire(type, value, facts)
    if spelled.startswith("serial") and isinstance(value, int):
        return _serial_cell(type, value, cell)
    if spelled.startswith("bool") and facts.boolean_code == -7:
        return CanalCell(cell.text, -6, cell.cell)
    if type.name in _TEXTS and spelled and spelled.partition(" ")[0] not in _TEXTS:
        return _blob_cell(type, cell, facts)
    if type.name == "binary" and spelled.startswith("char"):
        return (
            _garbled_cell(type, value.rstrip(b"\0"), 1, cell, facts)
            if isinstance(value, bytes)
            else CanalCell(None, 1, cell.cell)
        )
    if type.logical is Logical.BINARY and spelled.startswith(_TEXT_WORDS):
        code = SQL_TYPES["varchar" if spelled.startswith("varchar") else "text"]
        return (
            _garbled_cell(type, value, code, cell, facts)
            if isinstance(value, bytes)
            else CanalCell(None, code, cell.cell)
        )
    if type.name == "binary" and isinstance(value, bytes):
        return _padded_cell(type, value.rstrip(b"\0"), cell)
    charset = CHARSETS.get(column.charset, "ascii")
    if (
        type.logical is Logical.TEXT
        and isinstance(value, str)
        and charset != CHARSETS[facts.connection_charset]
    ):
        encoded = (cell.text or "").encode(charset, "replace")
        return _garbled_cell(type, encoded, cell.code, cell, facts)
    return cell


def _serial_cell(type: SourceType, value: int, cell: CanalCell) -> CanalCell:
    """The cell of a column that a live statement declared as SERIAL. The word does not say
    UNSIGNED, so that Canal reads a signed BIGINT, whose code in JDBC is -5 (canal#live-serial).
    """
    read = (value + (1 << 63)) % (1 << 64) - (1 << 63)
    if read == value:
        return cell
    reason = "Canal read this BIGINT UNSIGNED as signed: SERIAL does not say it"
    return CanalCell(
        str(read),
        -5,
        Cell(State.ANY, type, read, str(read), cell.cell.cls, options=(read,), reason=reason),
    )


def _spatial(type: SourceType, value: Value, facts: CanalProfile) -> CanalCell:
    """The cell of a spatial value: the bytes that MySQL stores (SRID and well-known binary) as
    ISO-8859-1 text, as those of a BLOB (canal#spatial). The code of the type in a NULL cell is
    another one in older releases (without `lob_null_codes`).
    """
    null = (NULL_TYPES if facts.lob_null_codes else OLD_NULL_TYPES)["binary"]
    if not isinstance(value, Json):
        return CanalCell(None, null, Cell(State.NULL, type))
    stored: bytes = value.value["srid"].to_bytes(4, "little") + bytes.fromhex(value.value["wkb"])
    latin_text = stored.decode("latin-1")
    return CanalCell(
        latin_text, SQL_TYPES["binary"], Cell(State.VALUE, type, value, latin_text, "spatial")
    )


def _padded_cell(type: SourceType, stored: bytes, cell: CanalCell) -> CanalCell:
    """The cell of a BINARY(n) whose value without its trailing zero bytes is `stored`, as Canal
    sends it (canal#binary-stripped). A decoder of typed rows, who knows n, may pad it again: both
    values are right.
    """
    padded = stored.ljust(type.length or 0, b"\0")
    if padded == stored:
        return cell
    return replace(
        cell,
        cell=replace(
            cell.cell, state=State.ONE_OF, value=stored, options=(stored, padded), reason=_STRIPPED
        ),
    )


def _blob_cell(type: SourceType, cell: CanalCell, facts: CanalProfile) -> CanalCell:
    """The cell of a text that Canal takes for a BLOB (2004 in JDBC): its bytes as ISO-8859-1 text.
    A decoder sees that in code and type, and may restore the text. `cell` is the cell that a text
    would be.
    """
    if cell.text is None:
        return CanalCell(None, 2004 if facts.lob_null_codes else cell.code, cell.cell)
    latin_text = cell.text.encode().decode("latin-1")
    if latin_text == cell.text:
        return CanalCell(latin_text, 2004, cell.cell)
    reason = "Canal wrote the bytes of this text as ISO-8859-1"
    both = Cell(
        State.ONE_OF,
        type,
        cell.text,
        latin_text,
        cell.cell.cls,
        options=(cell.text, latin_text),
        reason=reason,
    )
    return CanalCell(latin_text, 2004, both)


def _garbled_cell(
    type: SourceType, data: bytes, code: int, cell: CanalCell, facts: CanalProfile
) -> CanalCell:
    """The cell of bytes (`data`) that Canal decodes with the character set of its connection,
    though the column has another one. `code` is that of the column's type, `cell` the cell that the
    right text would be.
    """
    codec = CHARSETS[facts.connection_charset]
    malformed = _SURROGATE.sub(b"\xff", data) if codec == "utf-8" else data
    decoded = malformed.decode(codec, "replace")
    meant_value: Value = decoded.encode() if type.logical is Logical.BINARY else decoded
    if decoded == cell.text:
        return CanalCell(decoded, code, cell.cell)
    reason = "Canal decoded these bytes with another character set than the column's"
    return CanalCell(
        decoded, code, Cell(State.ANY, type, meant_value, decoded, cell.cell.cls, reason=reason)
    )
