"""How packets of Canal can be spoiled: bytes that are no message on any of the four levels,
messages that Canal does not send, and unfit cells.

What Protocol Buffers let a reader pass over (a field twice, an unknown one) is UNSPECIFIED.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from generators.families.protobuf import NotProtobuf, length_delimited
from generators.formats.alibaba_canal_protobuf.messages import (
    entry_bytes,
    packet_bytes,
    read_packet,
    stored_bytes,
)
from generators.garbage import cell_faults
from generators.garbage.cell_faults import CellFault, unfit_cells
from generators.garbage.faults import NULL, UNSPECIFIED, Fault
from generators.model import Kind
from generators.profiles import Profile

Spoil = Callable[[bytes], bytes | None]
"""Spoils a record's value; None where the value has no place for it."""


def _edit_packet(change: Callable[[dict[str, Any]], None]) -> Spoil:
    """The function that spoils a record's value: `change` edits the parsed Packet in place, which
    is then encoded again. It gives None for a value that is no Packet.
    """

    def apply(value: bytes) -> bytes | None:
        """The value with its Packet changed; None if it is no Packet."""
        try:
            document = read_packet(value)
        except NotProtobuf:
            return None
        change(document)
        return packet_bytes(document)

    return apply


def _row_entries(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries of type ROWDATA in a packet's document."""
    return [entry for entry in document["body"]["messages"] if entry["entryType"] == "ROWDATA"]


def _edit_last_row_entry(change: Callable[[dict[str, Any]], None]) -> Spoil:
    """The function that spoils a record's value: `change` edits the last entry of type ROWDATA in
    place.
    """
    return _edit_packet(lambda document: change(_row_entries(document)[-1]))


def _cut_first_entry(document: dict[str, Any]) -> None:
    """Cuts the last byte off the packet's first entry; the length before it is that of the shorter
    entry.
    """
    entries = document["body"]["messages"]
    entries[0] = entry_bytes(entries[0])[:-1]


def _cut_stored(entry: dict[str, Any]) -> None:
    """Cuts the last byte off an entry's storeValue; the length before it is that of the shorter
    bytes.
    """
    entry["storeValue"] = (stored_bytes(entry) or b"")[:-1]


def _set_unknown_entry_type(entry: dict[str, Any]) -> None:
    """Gives an entry the type 77, which there is not; its storeValue stays."""
    entry["storeValue"] = stored_bytes(entry)
    entry["entryType"] = 77


def _append(tail: bytes) -> Spoil:
    """The function that puts these bytes behind a record's value."""
    return lambda value: value + tail


def _set_packet_field(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """The function that gives a field of a packet's document another value."""
    return lambda document: document.update({name: value})


def _set_unknown_event_type(entry: dict[str, Any]) -> None:
    """Gives an entry's header and its RowChange the event type 77, which there is not."""
    entry["header"]["eventType"] = entry["storeValue"]["eventType"] = 77


def _drop_rows(entry: dict[str, Any]) -> None:
    """Removes all rows from an entry's RowChange."""
    entry["storeValue"]["rowDatas"] = []


def _drop_entries(document: dict[str, Any]) -> None:
    """Removes all entries from a packet."""
    document["body"]["messages"] = []


def _spoil_name(value: bytes) -> bytes | None:
    """The packet in whose headers the last byte of the table's name (that of the first entry of
    rows) is FF; None if it has no such entry, or one without a table.
    """
    row_entries = _row_entries(read_packet(value))
    name = row_entries[0]["header"].get("tableName", "") if row_entries else ""
    if not name:
        return None

    def spoil_headers(document: dict[str, Any]) -> None:
        """Gives the headers that name this table a name that ends in the byte FF."""
        for entry in _row_entries(document):
            if entry["header"].get("tableName") == name:
                entry["header"]["tableName"] = name.encode()[:-1] + b"\xff"

    return _edit_packet(spoil_headers)(value)


_NO_SUCH: Final = tuple(
    Fault(name, "no-such-message", statement, apply, accept=(Kind.CONTROL, Kind.DDL))
    for name, statement, apply in (
        (
            "packet-ack",
            "The packet is of type ACK: Canal's client refuses it.",
            _edit_packet(_set_packet_field("type", "ACK")),
        ),
        (
            "packet-zlib",
            "The packet says that its body is compressed: Canal's client refuses it.",
            _edit_packet(_set_packet_field("compression", "ZLIB")),
        ),
        ("no-entries", "The packet has no entries.", _edit_packet(_drop_entries)),
        (
            "unknown-entry",
            "An entry is of the type 77.",
            _edit_last_row_entry(_set_unknown_entry_type),
        ),
        (
            "unknown-event",
            "A change is of the type 77.",
            _edit_last_row_entry(_set_unknown_event_type),
        ),
        ("rows-gone", "An entry of rows has none.", _edit_last_row_entry(_drop_rows)),
    )
)
"""Packets that Canal does not send: CORRUPT, or CONTROL as an unknown message."""

FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "truncated",
        "truncated",
        "The value is cut in the middle.",
        lambda value: value[: len(value) // 2],
    ),
    Fault(
        "truncated-last", "truncated", "The last byte is missing.", lambda value: value[:-1] or None
    ),
    Fault(
        "entry-cut",
        "truncated",
        "The first entry lacks its last byte.",
        _edit_packet(_cut_first_entry),
    ),
    Fault(
        "change-cut",
        "truncated",
        "The storeValue of the last entry of rows lacks its last byte.",
        _edit_last_row_entry(_cut_stored),
    ),
    Fault(
        "trailing-content",
        "trailing-content",
        "The byte FF, no whole number, follows the packet.",
        _append(b"\xff"),
    ),
    Fault(
        "trailing-text", "trailing-content", "A text follows the packet.", _append(b"\nand more")
    ),
    Fault("empty", "empty", "The value has no bytes.", lambda _value: b""),
    NULL,
    Fault(
        "registry-header",
        "foreign-framing",
        "A schema registry's header, a zero, four bytes of an id and the index of a message,"
        " precedes the packet.",
        lambda value: b"\x00\x00\x00\x00\x07\x00" + value,
    ),
    Fault(
        "length-before",
        "foreign-framing",
        "The packet's length in four bytes precedes it, as on Canal's own socket.",
        lambda value: len(value).to_bytes(4, "big") + value,
    ),
    Fault(
        "json-text",
        "wrong-container",
        "A flat message in JSON stands in the packet's place.",
        lambda _value: b'{"data":null,"type":"QUERY"}',
    ),
    *_NO_SUCH,
    Fault(
        "second-document",
        "duplicate-key",
        "The packet stands in the value twice, which is one whose fields occur twice.",
        lambda value: value + value,
        UNSPECIFIED,
    ),
    Fault(
        "unknown-field",
        "unknown-field",
        "A field 99 follows the packet, as of a newer release.",
        _append(length_delimited(99, b"more")),
        UNSPECIFIED,
    ),
    Fault(
        "invalid-utf-8",
        "invalid-utf-8",
        "The name of a table ends in the byte FF.",
        _spoil_name,
        UNSPECIFIED,
    ),
)
"""Ways to spoil a packet."""


def _edit_new_cells(column: str, cell_text: str) -> Spoil:
    """The function that spoils a record's value: the text of a column after the change becomes
    `cell_text`, in each row where it is not NULL.
    """

    def change(document: dict[str, Any]) -> None:
        """Puts `cell_text` into the column's cells after the change."""
        for entry in _row_entries(document):
            for row_data in entry["storeValue"]["rowDatas"]:
                for cell in row_data["afterColumns"]:
                    if cell["name"] == column and not cell["isNull"]:
                        cell["value"] = cell_text

    return _edit_packet(change)


def _edit_for_cell(fault: CellFault) -> CellFault:
    """A fault of a cell in JSON as a fault of the packet: `edit` puts the spoiled form into the
    cell, as its text, or as its JSON if it is no text.
    """
    spoiled = json.loads(str(fault.spoiled_form))
    cell_text = spoiled if isinstance(spoiled, str) else json.dumps(spoiled)
    return dataclasses.replace(fault, edit=_edit_new_cells(fault.column, cell_text))


CELL_FAULTS: Final = tuple(map(_edit_for_cell, cell_faults.CELL_FAULTS))


def unfit(profile: Profile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """Yields a cell fault for each logical type of MySQL and each way of not fitting it; none for a
    profile with options, which change nothing about them. `fits` are the combinations that a
    decoder may read.
    """
    if not profile.options:
        yield from map(_edit_for_cell, unfit_cells(profile.source, fits))
