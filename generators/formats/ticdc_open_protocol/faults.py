"""How records of TiCDC's Open Protocol can be spoiled: JSON behind its length, and the lengths
themselves.

A cell's fault takes as many bytes as the honest cell, so that the framing stays whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Final

from generators.formats.ticdc_open_protocol.cells import join_events, split_events
from generators.garbage import faults as json_faults
from generators.garbage.cell_faults import CellFault
from generators.garbage.faults import UNSPECIFIED, Fault
from generators.garbage.wellformed import NULL, READABLE, Remains, State, json_remains
from generators.model import Value
from generators.sources import mysql

_INSIDE: Final = (
    "truncated-last",
    "scalar",
    "trailing-content",
    "trailing-brace",
    "second-document",
    "trailing-member",
    "joined",
)
"""Faults of JSON that are also applied to the JSON of a record's last event."""


def _change_last_json(change: Callable[[bytes], bytes | None]) -> Callable[[bytes], bytes | None]:
    """The function that changes the JSON of a record's last event by `change`, and sets its length
    anew; it gives None if `change` does.
    """

    def apply(value: bytes) -> bytes | None:
        """The record's value with the last event's JSON changed and its length set anew; None if
        the change does not apply to it. A value that is not made of parts behind their lengths is
        taken as one event, and comes out behind a length.
        """
        parts = split_events(value) or [value]
        spoiled = change(parts[-1])
        return None if spoiled is None else join_events((*parts[:-1], spoiled))

    return apply


def _length(by: int) -> Callable[[bytes], bytes]:
    """The function that adds `by` to the length of a record's first event, while the event
    stays.
    """
    return lambda value: (
        ((int.from_bytes(value[:8], "big") + by) % (1 << 64)).to_bytes(8, "big") + value[8:]
    )


_OF_JSON: Final = tuple(
    replace(fault, apply=_change_last_json(fault.apply))
    for fault in json_faults.FAULTS
    if fault.name in _INSIDE
    or fault.tag == "syntax"
    or (fault.obligation == UNSPECIFIED and fault.name != "wrong-container")
)
"""The faults of JSON, applied to the JSON of a record's last event, with the length before it set
anew.
"""
FAULTS: Final[tuple[Fault, ...]] = (
    *_OF_JSON,
    Fault(
        "truncated",
        "truncated",
        "The value is cut in the middle.",
        lambda value: value[: len(value) // 2],
    ),
    Fault("length-cut", "truncated", "The value is a part of a length.", lambda value: value[:5]),
    Fault("empty", "empty", "The value has no bytes.", lambda _value: b""),
    replace(json_faults.NULL),
    Fault(
        "event-missing",
        "truncated",
        "The last event of the key has no value.",
        lambda value: join_events((split_events(value) or [])[:-1]),
    ),
    Fault(
        "event-more",
        "trailing-content",
        "The value has an event more than the key.",
        lambda value: value + join_events((b"{}",)),
    ),
    Fault(
        "trailing-bytes",
        "trailing-content",
        "Bytes follow the last event.",
        lambda value: value + b"\0\0\0",
    ),
    Fault("length-short", "length", "The first length is one byte short.", _length(-1)),
    Fault("length-long", "length", "The first length is one byte too long.", _length(1)),
    Fault("length-huge", "length", "The first length is beyond 2^62.", _length(1 << 62)),
    Fault("length-negative", "length", "The first length is negative.", _length(-(1 << 62))),
    Fault(
        "unframed",
        "foreign-framing",
        "The JSON stands without its length.",
        lambda value: value[8:],
    ),
    Fault(
        "no-message",
        "no-message",
        "The row's object has no member.",
        _change_last_json(lambda _part: b"{}"),
    ),
    Fault(
        "no-such-row",
        "no-such-message",
        "The row stands in a member that is neither u nor d.",
        _change_last_json(
            lambda part: part.replace(b'"u":', b'"UNHEARD":', 1).replace(b'"d":', b'"UNHEARD":', 1)
        ),
    ),
)


def _fault(name: str, column: str, value: Value, written_form: str, spoiled_form: str) -> CellFault:
    """The fault of one cell: in a row with `value` in `column`, the JSON `written_form` of the
    value becomes `spoiled_form`. That has as many bytes, so that the length before the event stays
    right. The value stands in the member `v` of its column.
    """
    assert len(written_form) == len(spoiled_form), name
    return CellFault(name, column, value, f'"v":{written_form}', f'"v":{spoiled_form}')


CELL_FAULTS: Final = (
    _fault("cell-int", "c_int", 1234567891, "1234567891", '"12x45678"'),
    _fault(
        "cell-bigint-over",
        "c_bigint",
        1234567890123456789,
        "1234567890123456789",
        "9223372036854775808",
    ),
    _fault(
        "cell-unsigned-bigint-over",
        "c_unsigned_bigint",
        12345678901234567892,
        "12345678901234567892",
        "9" * 20,
    ),
    _fault(
        "cell-decimal-digits",
        "c_decimal_10_2",
        Decimal("7654321.25"),
        '"7654321.25"',
        '"7654321257"',
    ),
    _fault(
        "cell-decimal-text", "c_decimal_10_2", Decimal("7654321.75"), '"7654321.75"', '"7,654,3.75"'
    ),
    _fault("cell-float", "c_float", 12345.5, "12345.5", '"1.2.3"'),
    _fault("cell-double", "c_double", 54321.25, "54321.25", '"54321x"'),
    _fault("cell-bit", "c_bit_8", 173, "173", "256"),
    _fault("cell-date", "c_date", date(2021, 7, 19), '"2021-07-19"', '"2021-13-45"'),
    _fault(
        "cell-datetime",
        "c_datetime_0",
        mysql.wall("2021-07-19 11:12:13"),
        '"2021-07-19 11:12:13"',
        '"2021-07-19 25:61:61"',
    ),
    _fault(
        "cell-time",
        "c_time_0",
        (11 * 3600 + 12 * 60 + 13) * mysql.MICROS,
        '"11:12:13"',
        '"99:99:99"',
    ),
    _fault("cell-year", "c_year", 2019, "2019", '"2x"'),
    _fault("cell-set", "c_set_64", 4886718345, "4886718345", '"48x67183"'),
    _fault("cell-base64", "c_blob", b"unfit cell", '"dW5maXQgY2VsbA=="', '"dW5m%XQgY2VsbA=="'),
    _fault("cell-escape", "c_varbinary", b"\x89unfit", '"\\\\x89unfit"', '"\\\\q89unfit"'),
)


def remains_of_value(value: bytes | None) -> Remains:
    """How much of a record's value a reader can read, whatever its key is. The value has events,
    each a JSON text behind its length: the one that can be read least decides. An empty event, as a
    watermark has, is passed over.
    """
    if value is None:
        return NULL
    parts = split_events(value) if value else None
    if not parts:
        return Remains(State.UNREADABLE, "truncated" if value else "empty")
    remains_of_events = [json_remains(part) for part in parts if part]
    for bad_state in (State.UNREADABLE, State.DOUBTFUL):
        for remains in remains_of_events:
            if remains.state is bad_state:
                return remains
    return READABLE
