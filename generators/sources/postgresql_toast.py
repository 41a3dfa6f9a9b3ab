"""Which values of a row PostgreSQL keeps out of line (TOAST): the steps of
heap_toast_insert_or_update, with the sizes that its compression pglz gives.

Sources: PostgreSQL 15, src/backend/access/heap/heaptoast.c and src/common/pg_lzcompress.c.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

TARGET: Final = 2032
"""Bytes of a row beyond which values are compressed and stored out of line (TOAST_TUPLE_TARGET)."""
MAIN_TARGET: Final = 8160
"""Bytes of a row beyond which values of the storage MAIN leave it (TOAST_TUPLE_TARGET_MAIN)."""
HEADER: Final = 23
"""Bytes of a row's header without its null bitmap."""
POINTER: Final = 18
"""Bytes of the pointer that stands in the row for a value out of line."""
SHORTEST: Final = 24
"""Bytes up to which a value is never moved."""
SHORT: Final = 126
"""Bytes of a value whose header is one byte."""

_LEAST: Final = 32
"""Bytes below which pglz gives up."""
_FIRST_SUCCESS: Final = 1024
"""Bytes of output at which pglz gives up if it has found no match."""
_GOOD_MATCH: Final = 128
"""The length of a match with which pglz is content at first."""
_LONGEST_MATCH: Final = 273
"""The longest match of pglz."""
_LONG_TAG: Final = 17
"""The longest match that two bytes tell; a longer one takes three."""
_FARTHEST: Final = 0xFFF
"""The distance from which on a match is too far back."""
_COMPRESSED_HEADER: Final = 8
"""Bytes of a compressed value's header."""
_SMALL_TABLES: Final = ((128, 511), (256, 1023), (512, 2047), (1024, 4095))
"""Sizes of data, and the mask of pglz's hash table for less than that."""
_LARGE_TABLE: Final = 8191
"""The mask of pglz's hash table for larger data."""


@dataclass(slots=True)
class Stored:
    """A value of a row as it is stored: its bytes, None of one that is never moved; the `size` that
    it takes in the row, its `alignment`, whether its compression `was_tried`, and whether it is
    `external`. `storage` is that of its column: an external value is not compressed, a main one
    leaves the row only if there is no other way, a plain one never.
    """

    name: str
    data: bytes | None
    size: int
    alignment: int
    was_tried: bool = False
    external: bool = False
    storage: str = "extended"

    @classmethod
    def of_bytes(cls, name: str, data: bytes, storage: str = "extended") -> Stored:
        """A value of variable length, as it is before anything is moved. A plain one always has the
        long header.
        """
        short = len(data) <= SHORT and storage != "plain"
        size, alignment = len(data) + (1 if short else 4), 1 if short else 4
        return cls(name, data, size, alignment, storage=storage)


def out_of_line(values: Iterable[Stored], nulls: int, target: int = TARGET) -> frozenset[str]:
    """The names of the values that PostgreSQL stores out of line, of a row with these values and
    `nulls` more columns that are NULL. `target` is the size to which it shrinks a row.
    """
    stored_values = list(values)
    bitmap = (len(stored_values) + nulls + 7) // 8 if nulls else 0
    header = _aligned(HEADER + bitmap, 8)
    # PostgreSQL shrinks only rows beyond TOAST_TUPLE_THRESHOLD, which is as large as TARGET: a
    # table's own `target` says how far, not when.
    if header + _row_size(stored_values) <= TARGET:
        return frozenset(value.name for value in stored_values if value.external)
    limit = target - header
    # First the largest value is compressed, and moved out if it alone is too large even then.
    while _row_size(stored_values) > limit:
        biggest = _biggest(stored_values, _MOVED_FIRST, compressing=True)
        if biggest is None:
            break
        _compress(biggest)
        if biggest.size > limit:
            _move(biggest)
    # If compression was not enough, the largest values are moved out one by one.
    _move_largest(stored_values, _MOVED_FIRST, limit)
    # Then values of the storage MAIN are compressed, and moved out of what no page can hold.
    while _row_size(stored_values) > limit:
        biggest = _biggest(stored_values, _MOVED_LAST, compressing=True)
        if biggest is None:
            break
        _compress(biggest)
    _move_largest(stored_values, _MOVED_LAST, MAIN_TARGET - header)
    return frozenset(value.name for value in stored_values if value.external)


_MOVED_FIRST: Final = ("extended", "external")
_MOVED_LAST: Final = ("main",)
"""The storages whose values leave a row as soon as it is too large, and those whose values leave it
only if it is too large for a page.
"""


def _move_largest(stored_values: Sequence[Stored], storages: Collection[str], limit: int) -> None:
    """Moves the largest values of these storages out of line, one by one, until the row's values
    have at most `limit` bytes.
    """
    while _row_size(stored_values) > limit:
        biggest = _biggest(stored_values, storages, compressing=False)
        if biggest is None:
            break
        _move(biggest)


def _aligned(size: int, alignment: int) -> int:
    """The size, or the next larger number that is a multiple of the alignment."""
    return -(-size // alignment) * alignment


def _row_size(stored_values: Iterable[Stored]) -> int:
    """The bytes of a row's values, each at its alignment."""
    size = 0
    for value in stored_values:
        size = _aligned(size, value.alignment) + value.size
    return size


def _biggest(
    stored_values: Iterable[Stored], storages: Collection[str], *, compressing: bool
) -> Stored | None:
    """The largest value of these storages that can still be compressed (`compressing`) or else
    moved out of line; None if there is none.
    """
    movable = (
        value
        for value in stored_values
        if value.data is not None
        and value.storage in storages
        and value.size > SHORTEST
        and not value.external
        and not (compressing and value.was_tried)
    )
    return max(movable, key=lambda value: value.size, default=None)


def _compress(value: Stored) -> None:
    """Compresses a value, if its storage allows that and it makes it smaller."""
    value.was_tried = True
    if value.storage == "external":
        return
    size = compressed_size(value.data or b"")
    # PostgreSQL wants to save more than two bytes, since a compressed value may need padding.
    if size is not None and size + _COMPRESSED_HEADER < len(value.data or b"") - 2:
        value.size, value.alignment = size + _COMPRESSED_HEADER, 4


def _move(value: Stored) -> None:
    """Moves a value out of line: a pointer stands in the row instead."""
    value.external, value.size, value.alignment = True, POINTER, 1


@lru_cache(maxsize=256)
def compressed_size(data: bytes) -> int | None:
    """The bytes that pglz makes of the data; None if it gives up."""
    if len(data) < _LEAST:
        return None
    largest = len(data) * 75 // 100  # pglz's min_comp_rate: it must save a quarter
    mask = next((mask for size, mask in _SMALL_TABLES if len(data) < size), _LARGE_TABLE)
    signed = [byte - 256 if byte > 127 else byte for byte in data]
    history: defaultdict[int, list[int]] = defaultdict(list)
    size = items = at = 0
    has_match = False
    while at < len(data):
        if size >= largest or (not has_match and size >= _FIRST_SUCCESS):
            return None
        length = _find_match(data, at, history.get(_slot(signed, at, mask), []))
        if items % 8 == 0:
            size += 1  # a control byte stands before each eight items
        items += 1
        if length > 2:
            size += 3 if length > _LONG_TAG else 2
            has_match = True
        else:
            size, length = size + 1, 1
        for place in range(at, at + length):
            history[_slot(signed, place, mask)].append(place)
        at += length
    return size if size < largest else None


def _slot(signed: list[int], at: int, mask: int) -> int:
    """The place in pglz's hash table of the four bytes from `at` on. `signed` are the data's bytes
    as signed numbers (C's char); `mask` is the table's size less one.
    """
    if len(signed) - at < 4:
        return signed[at] & mask
    return (signed[at] << 6 ^ signed[at + 1] << 4 ^ signed[at + 2] << 2 ^ signed[at + 3]) & mask


def _find_match(data: bytes, at: int, places: list[int]) -> int:
    """The length of the match that pglz takes for the bytes from `at` on, 0 for none: the longest
    one, but the more places it has seen, the sooner it is content.
    """
    best, enough = 0, _GOOD_MATCH
    limit = min(len(data) - at, _LONGEST_MATCH)
    for number in range(len(places) - 1, -1, -1):
        place = places[number]
        if at - place >= _FARTHEST:
            break
        # As in pglz: only a match of 16 bytes or more must be beaten as a whole.
        if best < 16 or data[at : at + best] == data[place : place + best]:
            length = best if best >= 16 else 0
            while length < limit and data[at + length] == data[place + length]:
                length += 1
            best = max(best, length)
        if number:
            if best >= enough:
                break
            enough -= enough * 10 // 100  # pglz's match_size_drop, ten percent
    return best
