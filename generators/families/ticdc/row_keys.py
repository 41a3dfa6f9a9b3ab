"""TiKV's key of a row, as the option output-row-key prints it (ticdc#canal-extension)."""

from __future__ import annotations

import base64
import struct
import zlib
from datetime import date, datetime, timedelta
from typing import Final

from generators.errors import Refused
from generators.families.ticdc import text
from generators.families.ticdc.sink import collated
from generators.model import Column, Logical, Row, Table, Value, ZeroDate
from generators.sources import mysql

_BYTES, _INT, _UINT, _DURATION = b"\x01", b"\x03", b"\x04", b"\x07"
"""The byte that stands before a value of a key and says what is encoded."""
_SIGN: Final = 1 << 63
"""What is added to a signed number of 64 bits, so that its bytes compare as the numbers do."""


def row_key(table: Table, source_row: Row) -> str:
    """The key under which TiKV stores a row, in base64: the table's id and the row's handle.

    The handle is the value of a single integer key, or the values of another clustered key (the key
    by which TiDB stores rows); for a table without one a number stands for that of TiDB's own.
    Raises Refused for a clustered key whose encoding is not known here.
    """
    key = tuple(table.column(name) for name in table.primary_key)
    # Empty if the table's indexes are not listed: an integer key is taken for clustered then.
    clustered = [index.clustered for index in table.indexes if index.name == "PRIMARY"]
    if len(key) == 1 and key[0].type.logical is Logical.INT and clustered != [False]:
        value = source_row[key[0].name]
        assert isinstance(value, int)
        # A BIGINT UNSIGNED counts as the signed number of the same 64 bits.
        handle = _number(value - (2 * _SIGN if value >= _SIGN else 0))
    elif key and clustered != [False]:
        parts = [_encode_value(column, source_row[column.name]) for column in key]
        if None in parts and clustered:
            raise Refused(f"table {table.name}: TiKV's form of its clustered key is not known here")
        handle = (
            _key_of_all_columns(source_row)
            if None in parts
            else b"".join(part for part in parts if part is not None)
        )
    else:
        handle = _key_of_all_columns(source_row)
    return base64.b64encode(
        b"t" + _number(zlib.crc32(table.name.encode()) % 10_000) + b"_r" + handle
    ).decode()


def _number(value: int) -> bytes:
    """The eight bytes of a signed number, which compare as the numbers do."""
    return struct.pack(">Q", value + _SIGN)


def _key_of_all_columns(source_row: Row) -> bytes:
    """The eight bytes of a number that stands for the one by which TiDB itself identifies a row
    without a clustered key. It is a checksum of all columns.
    """
    return _number(zlib.crc32(repr(sorted(source_row.items())).encode()))


def _encode_value(column: Column, value: Value) -> bytes | None:
    """The bytes of a value of a clustered key, which compare as the values do; None for a type or a
    collation whose encoding is not known here. The first byte (_INT, _UINT ...) is TiDB's flag of
    what follows. Moments and times are whole numbers in the model: microseconds. A text under a
    `_general_ci` collation is encoded by its weights, which are those of UTF-16 for ASCII.
    """
    kind = column.type
    match collated(column, None if value is None else text.canonical(kind, value)):
        case int() as number if kind.logical is Logical.INT:
            return _UINT + struct.pack(">Q", number) if kind.unsigned else _INT + _number(number)
        case int() as micros if kind.logical in (Logical.DATETIME, Logical.TIMESTAMP):
            return _UINT + struct.pack(
                ">Q", _pack_moment(mysql.EPOCH + timedelta(microseconds=micros))
            )
        case int() as micros if kind.logical is Logical.TIME:
            return _DURATION + _number(micros * 1000)
        case date() as day:
            return _UINT + struct.pack(">Q", _pack_moment(datetime(day.year, day.month, day.day)))
        case ZeroDate():
            return None
        case bytes() as raw:
            return _BYTES + _group_bytes(raw)
        case str() as characters if kind.logical is Logical.TEXT and not column.collation.endswith(
            "_ci"
        ):
            return _BYTES + _group_bytes(characters.encode())
        case str() as characters if (
            column.collation.endswith("_general_ci") and characters.isascii()
        ):
            return _BYTES + _group_bytes(characters.encode("utf-16-be"))
    return None


def _pack_moment(moment: datetime) -> int:
    """The number in which TiDB keeps a date and time: from the highest bits on year times 13 plus
    month, day, hour, minute, second and microsecond, so that later ones have higher numbers.
    """
    day = (moment.year * 13 + moment.month) << 5 | moment.day
    clock = moment.hour << 12 | moment.minute << 6 | moment.second
    return (day << 17 | clock) << 24 | moment.microsecond


def _group_bytes(raw: bytes) -> bytes:
    """Bytes in the form in which TiKV compares keys: cut into groups of eight, each with a byte
    behind it that is 255 less the number of zeros that fill the group up. The last group has seven
    bytes at most, so that bytes whose number is a multiple of eight get a group of zeros alone.
    """
    # There is always a group of less than eight bytes at the end, if need be an empty one.
    groups = [raw[at : at + 8] for at in range(0, len(raw) + 1, 8)]
    return b"".join(group.ljust(8, b"\0") + bytes([255 - (8 - len(group))]) for group in groups)
