"""Malformed variants of valid messages and of single cells, each with what a decoder owes for it.

An envelope fault alters the whole value of a message; a cell fault puts a text into one column that
its type cannot hold.
"""

from __future__ import annotations

import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any, Final, NamedTuple

from generators.errors import Refused
from generators.model import (
    Change,
    Column,
    Json,
    Kind,
    Logical,
    Op,
    Row,
    Scenario,
    SourceType,
    State,
    Table,
    Value,
    Written,
)
from generators.sources import boundaries, databases, mysql
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
_QUOTED_NUMBER: Final = re.compile(r'"(-?\d+(?:\.\d+)?(?:e\d+)?)"')


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

_CORRUPT: Final = Change(row=0, kind=Kind.CORRUPT)
"""The one row that a decoder returns for a message that cannot be read."""


def applicable(faults: Iterable[Fault], compression: str) -> tuple[Fault, ...]:
    """The faults that can be applied under the compression of whole values (none, snappy, lz4):
    under snappy or lz4 only those that spoil compressed values, too (`packed`).
    """
    return tuple(fault for fault in faults if compression == "none" or fault.packed)


def apply(written: Written, fault: Fault) -> Written:
    """The message with its value spoiled, and what a decoder owes for it: exactly one CORRUPT row,
    or for UNSPECIFIED any row.

    Raises Refused when the message has no value, or none that the fault can spoil.
    """
    value = written.message.value
    spoiled = None if value is None else fault.apply(value)
    if spoiled is None and not (value and fault.nothing):
        raise Refused(f"fault {fault.name}: no place for it in the value {value!r}")
    accept = tuple((kind, None) for kind in fault.accept)
    change = replace(_CORRUPT, anything=fault.obligation == UNSPECIFIED, accept=accept)
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


@dataclass(frozen=True, slots=True)
class CellFault:
    """A wire form that a column's type cannot hold.

    `column` is one of `boundaries.every_type`, `value` what the INSERT puts there, `written_form`
    the JSON that the writer gives that value, quotes included ("" is what stands there), and
    `spoiled_form` the JSON that replaces it; in a binary format both are bytes, lengths and branch
    included. `number` is the JSON that replaces a number, where that is another; `kept_value` is
    the value of `spoiled_form`, if the type that the message declares can hold it: a row with just
    that value loses nothing. `edit` puts `spoiled_form` into a value whose lengths depend on it.
    """

    name: str
    column: str
    value: Value
    written_form: str | bytes
    spoiled_form: str | bytes
    kept_value: Value | None = None
    number: str = ""
    edit: Callable[[bytes], bytes | None] | None = None


def _texts(name: str, column: str, value: Value, written: str, spoiled: str) -> CellFault:
    """The cell fault of a format whose cells are texts: the JSON string `written`, which the writer
    gives the value, becomes the JSON string `spoiled`.
    """
    return CellFault(name, column, value, json.dumps(written), json.dumps(spoiled))


CELL_FAULTS: Final[tuple[CellFault, ...]] = (
    _texts("cell-int", "c_int", 1234567891, "1234567891", "12x4"),
    _texts(
        "cell-bigint-over",
        "c_bigint",
        1234567890123456789,
        "1234567890123456789",
        "9223372036854775808",
    ),
    _texts(
        "cell-unsigned-bigint-negative",
        "c_unsigned_bigint",
        12345678901234567891,
        "12345678901234567891",
        "-1",
    ),
    _texts(
        "cell-unsigned-bigint-over",
        "c_unsigned_bigint",
        12345678901234567892,
        "12345678901234567892",
        str(1 << 64),
    ),
    _texts(
        "cell-decimal-digits", "c_decimal_10_2", Decimal("7654321.25"), "7654321.25", "123456789.25"
    ),
    _texts(
        "cell-decimal-scale", "c_decimal_10_2", Decimal("7654321.75"), "7654321.75", "7654321.755"
    ),
    _texts("cell-float", "c_float", 12345.5, "12345.5", "1.2.3"),
    _texts("cell-double", "c_double", 54321.25, "54321.25", "5432x"),
    _texts("cell-bit", "c_bit_8", 173, "173", "256"),
    _texts("cell-date", "c_date", date(2021, 7, 19), "2021-07-19", "2021-13-45"),
    _texts(
        "cell-datetime",
        "c_datetime_0",
        mysql.wall("2021-07-19 11:12:13"),
        "2021-07-19 11:12:13",
        "2021-07-19 25:61:61",
    ),
    _texts(
        "cell-time", "c_time_0", (11 * 3600 + 12 * 60 + 13) * mysql.MICROS, "11:12:13", "99:99:99"
    ),
    _texts("cell-year", "c_year", 2019, "2019", "20x4"),
    _texts("cell-set", "c_set_64", 4886718345, "4886718345", "48x6"),
)
"""The cell faults of formats that write values as MySQL's texts in JSON strings, or numbers as JSON
numbers. The values' texts occur nowhere else in a message, and are the same in every release and
time zone.
"""


class Way(enum.StrEnum):
    """A way in which a cell is no value of its column, whatever the type: LETTERS that spell no
    value, the EMPTY text, a value OUTSIDE of the type's range, an object in the place of a scalar
    (SHAPE).
    """

    LETTERS = "letters"
    EMPTY = "empty"
    OUTSIDE = "outside"
    SHAPE = "shape"


class Sample(NamedTuple):
    """Of a kind of types: a column of it in MySQL and one in PostgreSQL ("" if that has none), a
    value of it that nothing else in a message has, and a text that is spelled as such values are
    and that the type does not have (`outside`; "" if any text fits).
    """

    mysql_column: str
    postgresql_column: str
    value: Value
    outside: str


SAMPLES: Final[Mapping[Logical, Sample]] = {
    Logical.INT: Sample("c_int", "c_integer", 1234567895, "2147483648"),
    Logical.DECIMAL: Sample(
        "c_decimal_10_2", "c_numeric_10_2", Decimal("7654321.35"), "123456789.35"
    ),
    Logical.FLOAT: Sample("c_float", "c_real", 23456.5, "1e39"),
    Logical.DOUBLE: Sample("c_double", "c_double_precision", 65432.25, "1e309"),
    Logical.BIT: Sample("c_bit_8", "c_boolean", 187, "256"),
    Logical.BINARY: Sample("c_varbinary", "c_bytea", b"unfit bytes", ""),
    Logical.DATE: Sample("c_date", "c_date", date(2021, 7, 18), "2021-13-45"),
    Logical.DATETIME: Sample(
        "c_datetime_0",
        "c_timestamp_0",
        mysql.wall("2021-07-18 10:11:14"),
        "2021-07-18 25:61:61",
    ),
    Logical.TIMESTAMP: Sample(
        "c_timestamp_0",
        "c_timestamptz_0",
        mysql.wall("2021-07-18 10:11:15"),
        "2021-07-18 25:61:61",
    ),
    Logical.TIME: Sample(
        "c_time_0", "c_time_0", (10 * 3600 + 11 * 60 + 16) * mysql.MICROS, "99:99:99"
    ),
    Logical.YEAR: Sample("c_year", "", 2017, "9999"),
    Logical.ENUM: Sample("c_enum", "", 3, "77"),
    Logical.SET: Sample("c_set_64", "", 4886718346, str(1 << 64)),
    Logical.JSON: Sample("c_json", "c_json", Json({"unfit": "cell"}), ""),
}
"""A sample of each kind of types in which a cell can be unfit. Texts are left out: any text fits a
column of texts.
"""

SQLSERVER_COLUMNS: Final[Mapping[Logical, str]] = {
    Logical.INT: "c_int",
    Logical.DECIMAL: "c_decimal_10_2",
    Logical.FLOAT: "c_real",
    Logical.DOUBLE: "c_float",
    Logical.BIT: "c_bit",
    Logical.BINARY: "c_varbinary",
    Logical.DATE: "c_date",
    Logical.DATETIME: "c_datetime2_0",
    Logical.TIMESTAMP: "c_datetimeoffset_0",
    Logical.TIME: "c_time_0",
}
"""A column in SQL Server of each kind of types that it has."""

ORACLE_COLUMNS: Final[Mapping[Logical, str]] = {
    Logical.INT: "c_number_9",
    Logical.DECIMAL: "c_number_10_2",
    Logical.FLOAT: "c_binary_float",
    Logical.DOUBLE: "c_binary_double",
    Logical.BINARY: "c_raw",
    Logical.DATETIME: "c_date",
    Logical.TIMESTAMP: "c_timestamptz_0",
}
"""A column in Oracle of each kind of types that it has. Its integers have nine digits, fewer than
32 bits hold.
"""

NARROW_VALUES: Final[Mapping[str, Value]] = {
    "c_boolean": 1,
    "c_bit": 1,
    "c_number_9": 987_654_321,
}
"""Of each column that is too narrow for its kind's value in SAMPLES, the value that it has instead."""

FITS: Final[Mapping[str, str]] = {
    "binary/outside": "any bytes fit",
    "json/outside": "any document fits",
    "json/shape": "an object is a document",
    "json/empty": (
        "MySQL may log a document of no bytes, and Canal writes the empty text of it"
        " (canal#json-empty)"
    ),
    "binary/empty": "the empty text is no bytes",
    "enum/empty": "the empty text is MySQL's value of invalid input",
    "set/empty": "the empty text is the empty set",
}
"""The cells that fit nevertheless, in every format: `LOGICAL/WAY` (a kind of types and a `Way`),
and why.
"""

LABELS: Final = {
    f"{logical}/{way}": "a decoder may pass labels on" for logical in ("enum", "set") for way in Way
}
"""The cells that fit in formats which write ENUM and SET as their labels: `LOGICAL/WAY`, and why.
"""
_UNFIT_JSON: Final = {Way.LETTERS: '"?€"', Way.EMPTY: '""', Way.SHAPE: '{"x":"y"}'}
"""The JSON of a cell that no type can hold in that way; what lies OUTSIDE is another text for each
type (`Sample.outside`).
"""
_NO_NUMBER: Final = str(10**20)
"""A number that 64 bits do not hold. It replaces a date or time that a message writes as a number.
"""


class UnfitCell(NamedTuple):
    """A kind of types, a way in which a cell is no value of such a type, a column of that kind, and
    the value that the INSERT of its row has.
    """

    logical: Logical
    way: Way
    column: str
    value: Value


def matrix(source: str, fits: Mapping[str, str]) -> Iterator[UnfitCell]:
    """Every kind of types with every way in which a cell is no value of such a type. Left out are the
    combinations `LOGICAL/WAY` of FITS and `fits`, whose cells a decoder may well read, and kinds
    for which the source has no column.
    """
    for logical, sample in SAMPLES.items():
        column = {
            "mysql": sample.mysql_column,
            "postgresql": sample.postgresql_column,
            "sqlserver": SQLSERVER_COLUMNS.get(logical, ""),
            "oracle": ORACLE_COLUMNS.get(logical, ""),
        }.get(source, "")
        for way in Way:
            if column and f"{logical}/{way}" not in {**FITS, **fits}:
                narrow_value = NARROW_VALUES.get(column, sample.value)
                yield UnfitCell(logical, way, column, narrow_value)


def unfit_cells(source: str, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """The cell faults of a JSON format: for each combination of `matrix` the JSON text that
    replaces the cell. `fits` are combinations `LOGICAL/WAY` that the format can read, with the
    reason.
    """
    for logical, way, column, value in matrix(source, fits):
        if way is Way.OUTSIDE:
            unfit_value, number = json.dumps(SAMPLES[logical].outside), _NO_NUMBER
        else:
            unfit_value, number = _UNFIT_JSON[way], ""
        yield CellFault(f"cell-{logical}-{way}", column, value, "", unfit_value, number=number)


_OUTSIDE_DOMAIN: Final = frozenset(
    {
        *(
            "cell-bit",
            "cell-time",
            "cell-unsigned-bigint-negative",
            "cell-unsigned-bigint-over",
            "cell-unsigned-int-negative",
        ),
        *(f"cell-{logical}-outside" for logical in ("bit", "year", "enum", "set")),
        *(f"cell-{logical}-{way}" for logical in ("time", "json") for way in Way),
    }
)
"""The cell faults whose value no column of the source holds, but the default Spark type does:
decimal(20,0), bigint, string.
"""


def outside_domain(fault: str) -> bool:
    """Whether the column's default Spark type can hold the value that the cell fault of this name
    puts there, though no column of the source has such a value.
    """
    return fault in _OUTSIDE_DOMAIN


def cell_fault(written: Written, fault: CellFault) -> Written:
    """The message with one cell's `fault.written_form` replaced by `fault.spoiled_form`. A decoder
    with typed rows (level two) owes one CORRUPT row for it.

    If `written_form` is text and not in the message, the writer spells the value otherwise (a
    number, say): the text of the cell of `fault.column` is replaced instead. Raises Refused unless
    what is replaced occurs exactly once.
    """
    return Written(replace(written.message, value=_spoil_cell(written, fault)), (_CORRUPT,))


def cell_text(written: Written, fault: CellFault) -> Written:
    """The message with one cell spoiled, as a decoder without types (level one) reads it: it may
    return the text that stands in the cell, or one CORRUPT row. Where the cell is an object, or a
    number that no double holds, any text is right, because JSON readers differ there.

    Raises Refused unless the text to be replaced occurs exactly once.
    """
    value = _spoil_cell(written, fault)
    spoiled_json = json.loads(_as_written(written, fault).spoiled_json)
    changes = []
    for change in written.changes:
        cells = dict(change.after or {})
        cell = cells[fault.column]
        if isinstance(spoiled_json, dict) or (
            isinstance(spoiled_json, float) and math.isinf(spoiled_json)
        ):
            why = "an object, or a number that no double holds, in the place of a text"
            cells[fault.column] = replace(cell, state=State.ANY, value=None, text=None, reason=why)
        else:
            wire_text = spoiled_json if isinstance(spoiled_json, str) else json.dumps(spoiled_json)
            cells[fault.column] = replace(
                cell,
                state=State.VALUE,
                text=wire_text,
                json=not isinstance(spoiled_json, str),
                cls="",
            )
        changes.append(replace(change, after=cells, accept=(*change.accept, (Kind.CORRUPT, None))))
    return Written(replace(written.message, value=value), tuple(changes))


def _spoil_cell(written: Written, fault: CellFault) -> bytes:
    """The message's value with one cell replaced by one that its type cannot hold. Raises Refused
    unless the cell stands there once.
    """
    value = written.message.value or b""
    if fault.edit is not None:
        edited = fault.edit(value)
        if edited is None or edited == value:
            raise Refused(f"fault {fault.name}: no cell of {fault.column} in the value {value!r}")
        return edited
    written_json, spoiled_json = (
        message_text if isinstance(message_text, bytes) else message_text.encode()
        for message_text in (fault.written_form, fault.spoiled_form)
    )
    if isinstance(fault.written_form, str) and (not written_json or written_json not in value):
        written_json, spoiled_json = (
            message_text.encode() for message_text in _as_written(written, fault)
        )
        # A cell is the member of its column, or the member v of an object there.
        members = re.findall(
            rb'"%b":(?:\{[^{}]*"v":)?(?=%b)'
            % (re.escape(fault.column.encode()), re.escape(written_json)),
            value,
        )
        if len(members) == 1:
            written_json, spoiled_json = members[0] + written_json, members[0] + spoiled_json
    if value.count(written_json) != 1:
        raise Refused(
            f"fault {fault.name}: {written_json!r} occurs {value.count(written_json)} times in the value {value!r}"
        )
    return value.replace(written_json, spoiled_json)


class _SpoiledCell(NamedTuple):
    """The JSON of a cell as it stands in a message, and the JSON that a fault puts in its place."""

    written_json: str
    spoiled_json: str


def _as_written(written: Written, fault: CellFault) -> _SpoiledCell:
    """How the message spells the cell that holds the fault's value, and what the fault puts there.
    If the message has a number there, the replacement is a number, too, where the fault has one.
    """
    written_json, spoiled_json = str(fault.written_form), str(fault.spoiled_form)
    for change in written.changes:
        cell = (change.image("after", 2) or {}).get(fault.column)
        if cell is not None and cell.text is not None and cell.value == fault.value:
            if not cell.json:
                return _SpoiledCell(json.dumps(cell.text, ensure_ascii=False), spoiled_json)
            if quoted_number := _QUOTED_NUMBER.fullmatch(spoiled_json):
                return _SpoiledCell(cell.text, quoted_number[1])
            return _SpoiledCell(cell.text, fault.number or spoiled_json)
    return _SpoiledCell(written_json, spoiled_json)


def edited_cells(faults: Iterable[CellFault]) -> tuple[CellFault, ...]:
    """Of a format's cell faults those that a function of their own puts into the message (`edit`),
    and whose name is that of a logical type and a way, as `cell-int-empty`.
    """
    names = {f"cell-{logical}-{way}" for logical, way in product(Logical, Way)}
    return tuple(fault for fault in faults if fault.edit is not None and fault.name in names)


def cell_fault_scenarios(
    supports: Callable[[SourceType], bool],
    faults: tuple[CellFault, ...] = CELL_FAULTS,
    source: str = "mysql",
) -> Iterator[tuple[CellFault, Scenario]]:
    """Each cell fault of a column that the format supports, with the level-two INSERT to whose
    message it is applied. Raises UnknownName for an unknown source.
    """
    table = boundaries.every_type(supports, source)
    cells_without_fault: dict[str, Value] = dict.fromkeys(column.name for column in table.columns)
    cells_without_fault["id"] = 1
    for fault in faults:
        if fault.column in cells_without_fault:
            event = boundaries.insert(table, cells_without_fault | {fault.column: fault.value})
            tags = BOUNDARY | {
                "fault:domain" if outside_domain(fault.name) else f"fault:{fault.name}"
            }
            yield fault, boundaries.scenario(f"fault/{fault.name}", event, level=2, tags=tags)


def cell_text_scenarios(
    database: str,
    supports: Callable[[SourceType], bool],
    source: str = "mysql",
    faults: Iterable[CellFault] = (),
) -> Iterator[tuple[CellFault, Scenario]]:
    """Each unfit cell of `faults`, or without them of `unfit_cells`, with a level-one INSERT
    (values as texts) into a table of the cell's column: the fault is applied to the message of the
    INSERT.
    """
    columns = {column.name: column for column in boundaries.every_type(supports, source).columns}
    for fault in tuple(faults) or unfit_cells(source, {}):
        if fault.column in columns:
            name = f"fault/text/{fault.name}"
            kinds = (boundaries.id_column(source), columns[fault.column])
            table = Table(
                database,
                boundaries.neutral(name),
                kinds,
                ("id",),
                schema=databases.source(source).schema,
            )
            event = boundaries.insert(table, {"id": 1, fault.column: fault.value})
            yield fault, boundaries.scenario(name, event, tags=BOUNDARY | {"unfit"})
