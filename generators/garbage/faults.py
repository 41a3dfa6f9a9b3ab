"""Malformed variants of valid messages, each with what a decoder owes for it. Such an envelope
fault alters the whole value of a message; faults of single cells are in
`generators.garbage.cell_faults`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.errors import Refused
from generators.model import (
    Change,
    Column,
    Kind,
    Op,
    Row,
    Scenario,
    Table,
    Written,
)
from generators.sources import boundaries, databases
from generators.sources.boundaries import BOUNDARY

MUST: Final = "MUST"
UNSPECIFIED: Final = "UNSPECIFIED"
"""The obligations of a fault: a decoder MUST return exactly one CORRUPT row for it, or no source
says what it must do (UNSPECIFIED).
"""

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
"""A string of JSON, with its quotes."""
_COLON: Final = re.compile(rb"\s*:")
"""What follows a string that is a member's name."""
_SCHEMA: Final = re.compile(rb'"schema":\{(?="type":"struct")')
"""The beginning of the schema that Kafka Connect writes beside a payload."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A way to spoil the value of a message.

    `tag` is what rules select by (`fault:truncated`), shared by faults of one kind. `obligation` is
    MUST (exactly one CORRUPT row) or UNSPECIFIED (any rows, at least one). `apply` gives the
    spoiled value, or None where the value has no place for it. `packed`: it also applies to values
    that are compressed as a whole. `accept` are kinds of rows that are as good as CORRUPT.
    `nothing`: the spoiled value is NULL, and None of `apply` means that.
    """

    name: str
    tag: str
    statement: str
    apply: Callable[[bytes], bytes | None]
    obligation: str = MUST
    packed: bool = False
    accept: tuple[Kind, ...] = ()
    nothing: bool = False


UNREADABLE: Final = frozenset(
    {"truncated", "trailing-content", "second-document", "empty", "wrong-container"}
)
"""The tags of faults that make a value unreadable, whatever it holds."""


def _split(value: bytes) -> tuple[bytes, bytes]:
    """The document of a value, and its terminator: CRLF, which TiCDC may append, or nothing."""
    return (value[:-2], value[-2:]) if value.endswith(b"\r\n") else (value, b"")


def _truncate_middle(value: bytes) -> bytes | None:
    """The first half of the value; None if it has fewer than two bytes."""
    return value[: len(value) // 2] if len(value) > 1 else None


def _drop_last_byte(value: bytes) -> bytes | None:
    """The document of a value without its last byte, the closing brace; None if nothing is left."""
    return _split(value)[0][:-1] or None


def _wrap_in_array(value: bytes) -> bytes:
    """The value with its document inside a JSON array of one element."""
    document, end = _split(value)
    return b"[" + document + b"]" + end


def _scalar(value: bytes) -> bytes:
    """The number 42 in the place of the document, before the terminator of the value."""
    return b"42" + _split(value)[1]


def _append(content: bytes) -> Callable[[bytes], bytes]:
    """The function that puts bytes behind the document of a value, before a CRLF at its end."""

    def append(value: bytes) -> bytes:
        document, end = _split(value)
        return document + content + end

    return append


def _duplicate_key(value: bytes) -> bytes | None:
    """The value with the name of its first member repeated at the end, as null; None if it is not
    an object with a member.
    """
    document, end = _split(value)
    first = _STRING.search(document)
    if not first or not document.endswith(b"}"):
        return None
    return document[:-1] + b"," + first.group() + b":null}" + end


def _into_string(content: bytes) -> Callable[[bytes], bytes | None]:
    """The function that puts bytes at the start of the first string of a value that is no member's
    name.
    """

    def insert(value: bytes) -> bytes | None:
        """The value with the bytes inside its first string that is no member's name; None if it has
        no such string.
        """
        for match in _STRING.finditer(value):
            if not _COLON.match(value, match.end()):
                place = match.start() + 1
                return value[:place] + content + value[place:]
        return None

    return insert


def _add_member(member: bytes) -> Callable[[bytes], bytes | None]:
    """The function that adds the text `member` behind the last member of a value's JSON object,
    before its closing brace.
    """

    def add(value: bytes) -> bytes | None:
        """The value with the member added; None if it is not an object, or an empty one."""
        document, end = _split(value)
        if not document.endswith(b"}") or document == b"{}":
            return None
        return document[:-1] + member + b"}" + end

    return add


def _add_to_schema(member: bytes) -> Callable[[bytes], bytes | None]:
    """The function that adds the text `member` behind the first opening brace of the schema that
    Kafka Connect writes beside a payload.
    """

    def add(value: bytes) -> bytes | None:
        """The value with the text added to its schema; None if it has no schema."""
        match = _SCHEMA.search(value)
        return match and value[: match.end()] + member + value[match.end() :]

    return add


def _quote_text_by_apostrophes(value: bytes) -> bytes | None:
    """The value with apostrophes in place of the quotes of its first string that is no member's
    name and holds no apostrophe or backslash; None if it has no such string.
    """
    for match in _STRING.finditer(value):
        string = match.group()[1:-1]
        if not _COLON.match(value, match.end()) and not re.search(rb"['\\]", string):
            return value[: match.start()] + b"'" + string + b"'" + value[match.end() :]
    return None


NULL: Final = Fault(
    "null",
    "null",
    "The record's value is NULL, which some readers take for a tombstone.",
    lambda _value: None,
    packed=True,
    accept=(Kind.TOMBSTONE,),
    nothing=True,
)
"""A record without a value, in a format that writes none: CORRUPT, or TOMBSTONE (no row at level
two).
"""
NO_MESSAGE: Final = Fault(
    "no-message",
    "no-message",
    "The object has no member.",
    lambda value: b"{}" + _split(value)[1],
    accept=(Kind.CONTROL,),
)
"""A document that is no message of any format: CORRUPT, or CONTROL as an unknown message."""

_KIND_MEMBERS: Final = ("messageType", "OPERATION", "action", "op", "op_type", "type", "operation")
"""Members that say what a message is, in an object, its payload or its metadata."""
_ROW_MEMBERS: Final = ("newColumns", "data", "after", "row")
"""Members that hold an INSERT's or UPDATE's new rows."""


def _change_member(
    names: tuple[str, ...], change: Callable[[dict[str, Any], str], None]
) -> Callable[[bytes], bytes | None]:
    """The function that applies `change` to the first member of these names in a value's payload
    (the whole document where there is none), or else in its metadata; a null is no member. `change`
    gets the object and the member's name.
    """

    def apply(value: bytes) -> bytes | None:
        """The value with its member changed and written again as JSON; None if it has none of the
        members.
        """
        document_text, end = _split(value)
        document = json.loads(document_text)
        payload = document.get("payload")
        objects = [payload if isinstance(payload, dict) else document, document.get("metadata")]
        present_members = [
            (members, name)
            for members in objects
            if isinstance(members, dict)
            for name in names
            if members.get(name) is not None
        ]
        if not present_members:
            return None
        change(*present_members[0])
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + end

    return apply


def _change_first_row(change: Callable[[Any], Any]) -> Callable[[bytes], bytes | None]:
    """The function that changes the first new row of a message by `change`, or returns None if the
    message has no member with new rows.
    """

    def apply(members: dict[str, Any], name: str) -> None:
        """Changes the first row that the member `name` of `members` holds."""
        new_rows = members[name]
        # The member is a list of rows, each an object, or one row as a list of cells.
        if isinstance(new_rows[0], dict):
            members[name] = [change(new_rows[0]), *new_rows[1:]]
        else:
            members[name] = change(new_rows)

    return _change_member(_ROW_MEMBERS, apply)


def _reshape_rows(members: dict[str, Any], name: str) -> None:
    """Gives the rows in the member `name` another JSON shape: one row becomes a list, a list of
    rows its first row, a list of cells an object.
    """
    new_rows = members[name]
    if isinstance(new_rows, dict):
        members[name] = [new_rows]
    else:
        members[name] = (
            new_rows[0]
            if isinstance(new_rows[0], dict)
            else {str(i): cell for i, cell in enumerate(new_rows)}
        )


_NO_SUCH: Final = tuple(
    Fault(name, "no-such-message", statement, apply, accept=(Kind.CONTROL,))
    for name, statement, apply in (
        (
            "no-type",
            "The member that says what the message is is missing.",
            _change_member(_KIND_MEMBERS, lambda members, name: members.pop(name)),
        ),
        (
            "unknown-type",
            "The member that says what the message is has a word that the product does not write.",
            _change_member(_KIND_MEMBERS, lambda members, name: members.update({name: "UNHEARD"})),
        ),
        (
            "rows-reshaped",
            "An object stands in the place of the list of rows, or a list in that of the row.",
            _change_member(_ROW_MEMBERS, _reshape_rows),
        ),
    )
)
"""JSON documents that look like the format and that the product does not write: CORRUPT, or CONTROL
as an unknown message.
"""
_ROWS_GONE: Final = Fault(
    "rows-gone",
    "no-such-message",
    "The member that holds the new row, or the rows, is missing.",
    _change_member(_ROW_MEMBERS, lambda members, name: members.pop(name)),
    accept=(Kind.CONTROL, Kind.DDL),
)
"""A message without the member of its new rows, which the product does not write: CORRUPT, or
CONTROL as an unknown message. DDL is as good, since Canal's readers may take a row change without rows for
a statement that was logged as one.
"""

_NO_GRAMMAR: Final = tuple(
    Fault(name, "syntax", statement, apply)
    for name, statement, apply in (
        ("nan", "A member more has the value NaN.", _add_member(b',"unheard-of":NaN')),
        (
            "infinity",
            "A member more has the value Infinity.",
            _add_member(b',"unheard-of":Infinity'),
        ),
        (
            "minus-infinity",
            "A member more has the value -Infinity.",
            _add_member(b',"unheard-of":-Infinity'),
        ),
        (
            "apostrophes-around-name",
            "The name of a member more stands in apostrophes.",
            _add_member(b",'unheard-of':null"),
        ),
        ("apostrophes-around-text", "A text stands in apostrophes.", _quote_text_by_apostrophes),
        (
            "escaped-apostrophe-in-name",
            "The name of a member more has an apostrophe behind a backslash.",
            _add_member(rb""","unheard\'of":null"""),
        ),
        (
            "escaped-apostrophe-in-text",
            "The text of a member more has an apostrophe behind a backslash.",
            _add_member(rb''',"unheard-of":"\'"'''),
        ),
        (
            "escaped-letter",
            "The text of a member more has a backslash before the letter q.",
            _add_member(rb',"unheard-of":"\q"'),
        ),
        (
            "name-without-quotes",
            "The name of a member more has no quotation marks.",
            _add_member(b",unheard:null"),
        ),
        (
            "leading-zero",
            "A member more has a number that begins with 0.",
            _add_member(b',"unheard-of":01'),
        ),
        ("trailing-comma", "A comma follows the last member.", _add_member(b",")),
        ("comment", "A comment follows the last member.", _add_member(b"/**/")),
    )
)
"""Documents that RFC 8259's grammar does not have and that parsers read, by default or as an option
says: Spark's from_json takes the first seven. A decoder must refuse them although it does not need
the illegal place: most put it into a member (`unheard-of`) that no decoder asks for.
"""
SCHEMA_NO_GRAMMAR: Final = Fault(
    "minus-infinity-in-schema",
    "syntax",
    "A member more of Kafka Connect's schema has the value -Infinity.",
    _add_to_schema(b'"unheard-of":-Infinity,'),
)
"""Beside FAULTS, for formats whose messages may have Kafka Connect's schema: a decoder that reads
the payload alone is not to pass over it.
"""

FAULTS: Final[tuple[Fault, ...]] = (
    Fault(
        "truncated", "truncated", "The value is cut in the middle.", _truncate_middle, packed=True
    ),
    Fault("truncated-last", "truncated", "The closing brace is missing.", _drop_last_byte),
    Fault(
        "wrong-container",
        "wrapped",
        "The object is wrapped in an array.",
        _wrap_in_array,
        UNSPECIFIED,
    ),
    Fault("scalar", "wrong-container", "A number stands in the object's place.", _scalar),
    Fault("trailing-content", "trailing-content", "A letter follows the object.", _append(b"x")),
    Fault(
        "trailing-brace",
        "trailing-content",
        "A second closing brace follows the object.",
        _append(b"}"),
    ),
    Fault(
        "second-document",
        "second-document",
        "The document stands in the value twice.",
        lambda value: value + value,
    ),
    Fault(
        "closing-tail",
        "trailing-content",
        "Brackets follow the object that close what a decoder may have wrapped it in.",
        _append(b",{}]}"),
    ),
    Fault(
        "trailing-member",
        "trailing-content",
        "A member follows the object, as if the object stood in another one.",
        _append(b',"x":1'),
    ),
    Fault(
        "joined",
        "second-document",
        "The document stands in the value twice, joined as members of what a decoder may have"
        " wrapped it in.",
        lambda value: value + b'],"m":[' + value,
    ),
    Fault("empty", "empty", "The value has no bytes.", lambda _value: b"", packed=True),
    NULL,
    NO_MESSAGE,
    *_NO_SUCH,
    _ROWS_GONE,
    *_NO_GRAMMAR,
    Fault(
        "duplicate-key",
        "duplicate-key",
        "The first member's name occurs again, with null.",
        _duplicate_key,
        UNSPECIFIED,
    ),
    Fault(
        "bom",
        "bom",
        "A UTF-8 byte order mark precedes the object.",
        lambda value: b"\xef\xbb\xbf" + value,
        UNSPECIFIED,
    ),
    Fault(
        "invalid-utf-8",
        "invalid-utf-8",
        "A string holds the byte FF.",
        _into_string(b"\xff"),
        UNSPECIFIED,
    ),
    Fault(
        "lone-surrogate",
        "lone-surrogate",
        "A string holds an escaped lone surrogate.",
        _into_string(b"\\ud800"),
        UNSPECIFIED,
    ),
    Fault(
        "raw-control",
        "raw-control",
        "A string holds a raw control character.",
        _into_string(b"\x01"),
        UNSPECIFIED,
    ),
)
"""Every envelope fault of messages in JSON. RFC 8259 leaves duplicate names (4), surrogates (8.2)
and a BOM (8.1) to the parser; raw control characters (7) and invalid UTF-8 (8.1) it forbids, but
common parsers differ.
"""

NESTED_CELL: Final = Fault(
    "nested-cell",
    "nested-cell",
    "A cell is an object, in a format whose cells are texts.",
    _change_first_row(
        lambda row: (
            {**row, min(row): {"k": "1"}} if isinstance(row, dict) else [{"k": "1"}, *row[1:]]
        )
    ),
    UNSPECIFIED,
)
"""Beside FAULTS, for formats whose rows are lists of texts or of objects of texts: a decoder gives
its JSON, or refuses it.
"""

CORRUPT_ROW: Final = Change(row=0, kind=Kind.CORRUPT)
"""The one row that a decoder returns for a message that cannot be read."""


def applicable(faults: Iterable[Fault], compression: str) -> tuple[Fault, ...]:
    """The faults that can be applied under the compression of whole values (none, snappy, lz4):
    under snappy or lz4 only those that spoil compressed values, too (`packed`).
    """
    return tuple(fault for fault in faults if compression == "none" or fault.packed)


def apply(written: Written, fault: Fault) -> Written:
    """The message with its value spoiled, and what a decoder must return for it: exactly one
    CORRUPT row; any row if the fault's obligation is UNSPECIFIED.

    Raises Refused when the message has no value, or the fault finds nothing in it to spoil.
    """
    value = written.message.value
    spoiled = None if value is None else fault.apply(value)
    if spoiled is None and not (value and fault.nothing):
        raise Refused(f"fault {fault.name}: no place for it in the value {value!r}")
    accept = tuple((kind, None) for kind in fault.accept)  # None: the row has no operation
    change = replace(CORRUPT_ROW, anything=fault.obligation == UNSPECIFIED, accept=accept)
    return Written(replace(written.message, value=spoiled), (change,))


def unreadable_row(fault: Fault, source: str = "mysql") -> Scenario:
    """A level-two scenario that inserts one row. A case replaces its message by one that the fault
    has spoiled, so that the row is lost.
    """
    cells: Row = {"a": 1, "b": "x", "c": None}
    change = boundaries.insert(boundaries.keyless(source), cells)
    return boundaries.scenario(
        f"fault/rows/{fault.name}",
        change,
        level=2,
        tags=boundaries.BOUNDARY | {f"fault:{fault.tag}"},
    )


def fault_scenarios(
    database: str, source: str = "mysql", faults: Iterable[Fault] = FAULTS
) -> Iterator[tuple[Fault, Scenario]]:
    """Each fault with two level-one scenarios to whose messages it is applied: an INSERT and an
    UPDATE in a table of the source. Raises UnknownName for an unknown source.
    """
    origin = databases.source(source)
    columns = (boundaries.id_column(source), Column("a", origin.string), Column("b", origin.number))
    before: Row = {"id": 1, "a": "x", "b": 5}
    after: Row = {**before, "a": "y"}
    for fault in faults:
        tags = BOUNDARY | {f"fault:{fault.tag}"}
        for label, op, pair in (
            ("insert", Op.INSERT, (None, after)),
            ("update", Op.UPDATE, (before, after)),
        ):
            name = f"fault/{fault.name}/{label}"
            table = Table(
                database, boundaries.neutral(name), columns, ("id",), schema=origin.schema
            )
            yield fault, boundaries.scenario(name, boundaries.change(table, op, pair), tags=tags)
