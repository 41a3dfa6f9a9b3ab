"""How Simple messages in Avro can be spoiled beyond what any raw Avro record can, and the cells
that their columns cannot hold.

Facts: standards#avro-datum, #avro-union, #avro-blocks; ticdc#avro-framing, #avro-branches,
#avro-outdated-schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from generators.families.avro import LONG, Encoder
from generators.families.ticdc.text import timestamp_text_and_instants
from generators.families.ticdc_simple.plan import host_zone
from generators.formats.ticdc_simple_avro import schema as avro
from generators.formats.ticdc_simple_avro.profiles import AvroProfile
from generators.garbage.cell_faults import SAMPLES, CellFault, Way, matrix
from generators.garbage.faults import UNSPECIFIED, Fault
from generators.model import Logical, SourceType, Value
from generators.sources import boundaries, mysql

_STRING: Final = Encoder("string")
"""The encoder of a text in Avro, which also reads."""
_HUGE: Final = 1_900_000_000
"""A string length that a reader must not allocate; from 2147483639 on Apache's Java reader refuses
it unread.
"""

_FRAME: Final = 3
"""Union index, message type and payload index: a byte each."""

_ROW_FRAME: Final = b"\x16\x06\x06"
"""The first three bytes of a row's message: Message, DML, DML."""

_TYPES: Final = [
    record
    for record in avro.SCHEMA
    if record["name"] in ("Checksum", "Timestamp", "UnsignedBigint")
]
"""The records that fields of a row's message name."""


def _fields(count: int) -> Encoder:
    """An encoder of the first `count` fields of a row's message (DML), with which the place of the
    next field can be found. It is a union, whose other branches are the records that these fields
    name.
    """
    listed = [{"name": field["name"], "type": field["type"]} for field in avro.DML_HEAD[:count]]
    return Encoder([*_TYPES, {"type": "record", "name": "Head", "fields": listed}])


_HEAD: Final = _fields(len(avro.DML_HEAD))
"""Reads a row's message up to its images."""
_BEFORE_TYPE: Final = _fields(4)
"""Reads a row's message up to its member `type`."""
_VALUE: Final = Encoder(
    [
        *_TYPES,
        {"type": "record", "name": "Head", "fields": [{"name": "value", "type": list(avro.VALUE)}]},
    ]
)
"""Reads a column's value."""
_INDEX: Final = LONG(len(_TYPES))
"""The bytes that make these readers take their last branch."""


def _size(encoder: Encoder, value: bytes) -> int:
    """The number of bytes that a record takes at the start of these bytes. `encoder` is one of the
    readers above, unions whose last branch is that record; `value` does not have the branch's
    index, which is put before it.
    """
    return encoder.read(_INDEX + value)[1] - len(_INDEX)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A column in a row's map: where the branch and the content of its value begin, and where the
    content ends.
    """

    branch: int
    start: int
    content: int
    end: int


def _first_image(value: bytes) -> int:
    """The offset in a row's message (DML) at which the union branch of the first image stands: of
    `data`, or of `old` behind it if `data` is null (one byte, branch 0).
    """
    data_branch = _FRAME + _size(_HEAD, value[_FRAME:])
    return data_branch + 1 if value[data_branch] == 0 else data_branch


def _entries(value: bytes) -> Iterator[_Entry]:
    """The columns of the first image in a row's message: of `data`, or of `old` where there is no
    `data`. Its map is one block: the count, then for each column its name, the index of its value's
    branch and the value. A reader gives what it read and how many bytes that takes.
    """
    branch_offset = _first_image(value)
    count, size = LONG.read(value[branch_offset + 1 :])
    place = branch_offset + 1 + size
    for _ in range(count):
        place += _STRING.read(value[place:])[1]
        branch, size = LONG.read(value[place:])
        end = place + _size(_VALUE, value[place:])
        yield _Entry(branch, place, place + size, end)
        place = end


def _first_string(value: bytes) -> _Entry | None:
    """The first column of the message whose value is a string of at least one byte; None if there
    is none.
    """
    texts = (
        entry
        for entry in _entries(value)
        if entry.branch == avro.VALUE.index("string") and value[entry.content]
    )
    return next(texts, None)


def _only_rows(apply: Callable[[bytes], bytes | None]) -> Callable[[bytes], bytes | None]:
    """The function that applies a change to the messages of rows alone, and gives None for other
    messages, which have no place for it.
    """
    return lambda value: apply(value) if value[:_FRAME] == _ROW_FRAME else None


def _branch(index: int) -> Callable[[bytes], bytes | None]:
    """A change of a row's message: the first column that holds a text gets the union branch
    `index`, and its content stays. The change gives None for a message without such a column.
    """

    @_only_rows
    def apply(value: bytes) -> bytes | None:
        """The changed message; None if no column holds a text."""
        entry = _first_string(value)
        return value[: entry.start] + LONG(index) + value[entry.content :] if entry else None

    return apply


def _length(size: int) -> Callable[[bytes], bytes | None]:
    """A change of a row's message: the first column that holds a text claims a length of `size`
    bytes, and its bytes stay. The change gives None for a message without such a column.
    """

    @_only_rows
    def apply(value: bytes) -> bytes | None:
        """The message in which the first text that is not empty claims to have `size` bytes; None
        if no column holds such a text.
        """
        entry = _first_string(value)
        if not entry:
            return None
        return (
            value[: entry.content]
            + LONG(size)
            + value[entry.content + LONG.read(value[entry.content :])[1] :]
        )

    return apply


@_only_rows
def _invalid(value: bytes) -> bytes | None:
    """The row's message in which the first text that is not empty ends in the byte FF; None if no
    column holds such a text.
    """
    entry = _first_string(value)
    return value[: entry.end - 1] + b"\xff" + value[entry.end :] if entry else None


def _map_count(count: int) -> Callable[[bytes], bytes | None]:
    """A change of a row's message: the map of its first image claims to have `count` columns, and
    its columns stay. The change gives None for other messages.
    """

    @_only_rows
    def apply(value: bytes) -> bytes:
        """The message with the other count in `data`, or in `old` if `data` is null."""
        count_offset = _first_image(value) + 1
        old_count_size = LONG.read(value[count_offset:])[1]
        return value[:count_offset] + LONG(count) + value[count_offset + old_count_size :]

    return apply


@_only_rows
def _image_branch(value: bytes) -> bytes:
    """The row's message in which the union branch of its first image is 2. The union has only the
    branches 0 (null) and 1 (the map of columns).
    """
    branch_offset = _first_image(value)
    return value[:branch_offset] + LONG(2) + value[branch_offset + 1 :]


@_only_rows
def _row_type(value: bytes) -> bytes:
    """The row's message in which the member `type` is symbol 3, which there is not."""
    place = _FRAME + _size(_BEFORE_TYPE, value[_FRAME:])
    return value[:place] + LONG(3) + value[place + 1 :]


def _replace_byte(at: int, head: bytes) -> Callable[[bytes], bytes]:
    """The function that puts the bytes `head` in place of the byte at that offset of a message's
    frame.
    """
    return lambda value: value[:at] + head + value[at + 1 :]


def _constant(content: bytes) -> Callable[[bytes], bytes]:
    """The function that replaces any message by these bytes."""
    return lambda _value: content


_OLD_NAMESPACE: Final = "com.pingcap.simple.avro"
_OLD_VALUE: Final = ["null", "int", "long", "float", "double", "boolean", "string", "bytes"]
_OLD_IMAGE: Final = ["null", {"type": "map", "values": _OLD_VALUE}]
_OLD_DML: Final = {
    "type": "record",
    "namespace": _OLD_NAMESPACE,
    "name": "DML",
    "fields": [
        {"name": "version", "type": "int"},
        {"name": "database", "type": "string"},
        {"name": "table", "type": "string"},
        {"name": "tableID", "type": "long"},
        {
            "name": "type",
            "type": {"type": "enum", "name": "DMLType", "symbols": ["INSERT", "UPDATE", "DELETE"]},
        },
        {"name": "commitTs", "type": "long"},
        {"name": "buildTs", "type": "long"},
        {"name": "schemaVersion", "type": "long"},
        {"name": "data", "type": _OLD_IMAGE},
        {"name": "old", "type": _OLD_IMAGE},
    ],
}
"""The record of a row in TiCDC's outdated example schema."""
_OLD_ROW: Final[dict[str, Any]] = {
    "version": 1,
    "database": "simple",
    "table": "user",
    "tableID": 148,
    "type": "INSERT",
    "commitTs": 447984084414103554,
    "buildTs": 1708923662983,
    "schemaVersion": 447984074911121426,
    "data": {"id": ("int", 1), "ok": ("boolean", True), "name": ("string", "John Doe")},
    "old": None,
}
"""A row of the outdated schema."""
OUTDATED: Final = LONG(9) + LONG(3) + LONG(3) + Encoder(_OLD_DML)(_OLD_ROW)
"""A row as the outdated example schema has it: Message is the last of ten records, an int and a
boolean are in the map (ticdc#avro-outdated-schema). Its other fields are those of today's DML
without the options.
"""

_WATERMARK: Final = avro.ENCODER(
    avro.message_value(
        "Watermark", {"version": 1, "commitTs": 447984124732375041, "buildTs": 1708923816911}
    ),
)
"""The bytes of a watermark's message."""
_MESSAGE: Final = len(avro.SCHEMA) - 1
"""The number of the record Message in the schema's union."""
_OTHERS: Final = tuple(index for index in range(-1, _MESSAGE + 2) if index != _MESSAGE)
"""The numbers of the other records in the union, and one beyond it at each end."""


def _other_record(index: int) -> Fault:
    """The fault of a message whose first byte names another record of the schema's union than
    Message, or none.
    """
    record_name = (
        f"the record {avro.SCHEMA[index]['name']}"
        if 0 <= index < _MESSAGE
        else "no record of the schema"
    )
    name = f"union-index-{'minus-one' if index < 0 else index}"
    return Fault(
        name,
        "wrong-branch",
        f"The first byte is union index {index}, {record_name}.",
        _replace_byte(0, LONG(index)),
    )


FAULTS: Final[tuple[Fault, ...]] = (
    *map(_other_record, _OTHERS),
    Fault(
        "message-type-unknown",
        "wrong-branch",
        "The message type is symbol 4 of four.",
        _replace_byte(1, LONG(4)),
    ),
    Fault(
        "payload-unknown",
        "wrong-branch",
        "The payload is branch 4 of four.",
        _replace_byte(2, LONG(4)),
    ),
    Fault("row-type-unknown", "wrong-branch", "The row's type is symbol 3 of three.", _row_type),
    Fault(
        "value-branch-unknown", "wrong-branch", "A column's value is branch 8 of eight.", _branch(8)
    ),
    Fault("value-branch-negative", "wrong-branch", "A column's value is branch -1.", _branch(-1)),
    Fault(
        "image-branch-unknown", "wrong-branch", "The row's image is branch 2 of two.", _image_branch
    ),
    Fault(
        "type-of-another-payload",
        "contradiction",
        "The type says WATERMARK of a DML payload.",
        _replace_byte(1, LONG(0)),
    ),
    Fault(
        "payload-of-another-type",
        "contradiction",
        "The type says DML of a Watermark payload.",
        _constant(_WATERMARK[:1] + LONG(3) + _WATERMARK[2:]),
    ),
    Fault("string-length-huge", "huge-length", "A string is to have 1.9e9 bytes.", _length(_HUGE)),
    Fault("string-length-negative", "huge-length", "A string is to have -5 bytes.", _length(-5)),
    Fault("map-count-huge", "huge-length", "The row is to have 2^40 columns.", _map_count(1 << 40)),
    Fault(
        "outdated-schema",
        "foreign-schema",
        "A row of TiCDC's outdated example schema.",
        _constant(OUTDATED),
    ),
    Fault(
        "message-alone",
        "foreign-schema",
        "The Message without its union index, as a schema of Message alone has it.",
        lambda value: value[1:],
    ),
    Fault(
        "invalid-utf-8",
        "invalid-utf-8",
        "A string value ends in the byte FF.",
        _invalid,
        UNSPECIFIED,
    ),
    Fault(
        "overlong-number",
        "overlong-number",
        "The version 1 takes two bytes, the second a zero.",
        _replace_byte(_FRAME, b"\x82\x00"),
        UNSPECIFIED,
    ),
)
"""Beside `_avro.FAULTS`. No document says what is owed where type and payload contradict each
other; TiCDC writes no such message (ticdc#avro-records).
"""


_DATE: Final = date(2021, 7, 19)
_WALL: Final = mysql.wall("2021-07-19 11:12:13")
_CLOCK: Final = (11 * 3600 + 12 * 60 + 13) * mysql.MICROS


def _branch_bytes(branch: str, value: Any) -> bytes:
    """The bytes of a value in a row's map: the number of its branch, then its content; of a record,
    the values of its members in order.
    """
    content = (
        b"".join(map(_member, value.values()))
        if isinstance(value, dict)
        else Encoder(branch)(value)
    )
    return LONG(avro.VALUE.index(branch)) + content


def _member(value: Any) -> bytes:
    """The bytes of a member of a record in a row's map: a text or a number."""
    return _STRING(value) if isinstance(value, str) else LONG(value)


def _stamp(location: str, wall: str) -> bytes:
    """The bytes of a TIMESTAMP in a row's map: the number of its branch, the zone, the wall
    clock.
    """
    return LONG(avro.VALUE.index(f"{avro.NAMESPACE}.Timestamp")) + _STRING(location) + _STRING(wall)


def _unsigned(number: int) -> bytes:
    """The bytes of a BIGINT UNSIGNED in a row's map: the number of its branch, and the number as an
    int64.
    """
    return LONG(avro.VALUE.index(f"{avro.NAMESPACE}.UnsignedBigint")) + LONG(number)


def _cell(
    name: str, column: str, value: Value, written_form: bytes, spoiled_form: bytes
) -> CellFault:
    """The fault of one cell: in a row with `value` in `column`, the bytes of the value,
    `written_form`, become `spoiled_form`.
    """
    return CellFault(
        name, column, value, _STRING(column) + written_form, _STRING(column) + spoiled_form
    )


_NOWHERE: Final = (f"{avro.NAMESPACE}.Timestamp", {"location": "?", "value": "?"})
"""A TIMESTAMP whose zone and wall clock are a question mark."""
_UNFIT: Final[Mapping[Way, tuple[str, Any]]] = {
    Way.LETTERS: ("string", "?€"),
    Way.EMPTY: ("string", ""),
    Way.SHAPE: _NOWHERE,
}
"""A branch and a content that fit hardly any type, by the way in which they do not fit."""
_OUTSIDE: Final[Mapping[Logical, tuple[str, Any]]] = {
    Logical.INT: ("long", 1 << 31),
    Logical.FLOAT: ("double", 1e39),
    Logical.YEAR: ("long", 9999),
    Logical.ENUM: ("long", 77),
}
"""A branch and a content outside of what the type can hold, by the logical type; for other types it
is a text.
"""
FITS: Final = {
    "timestamp/outside": "cell-timestamp-value",
    "bit/outside": "cell-bit",
    "set/outside": "64 members fill the 64 bits of a long",
}
"""Combinations `LOGICAL/WAY` that are left out: the name of the cell fault that covers one, or why
there is none.
"""


def unfit(
    profile: AvroProfile,
    fits: Mapping[str, str],
    wire: Callable[[SourceType, Value], tuple[str, Any]],
) -> Iterator[CellFault]:
    """Yields faults that put an unfit value (one that the column's type cannot hold) in the place
    of a column's value: one for each kind of types and each way (`Way`) of not fitting it. `wire`
    gives the union branch and the content of a value, `fits` are the combinations that are left
    out, since a decoder may read them.
    """
    for logical, way, column, value in matrix(profile.source, fits):
        type = boundaries.every_type(lambda _type: True).column(column).type
        unfit_value = _UNFIT.get(way) or _OUTSIDE.get(logical, ("string", SAMPLES[logical][3]))
        if (logical, way) == (Logical.TIMESTAMP, Way.SHAPE):
            unfit_value = ("bytes", b"?")
        yield _cell(
            f"cell-{logical}-{way}",
            column,
            value,
            _branch_bytes(*wire(type, value)),
            _branch_bytes(*unfit_value),
        )


def cell_faults(profile: AvroProfile) -> tuple[CellFault, ...]:
    """The cell faults of this format: cells whose branch or whose content does not fit their
    column, in the bytes that the profile writes.
    """
    zone = host_zone(profile)
    location = profile.location or zone
    wall = timestamp_text_and_instants(_WALL, 0, zone)[0]

    def string(
        name: str, column: str, value: Value, written_form: str, unfit_content: str
    ) -> CellFault:
        """The fault of a cell that the wire has as a string: the text `written_form` becomes
        `unfit_content`.
        """
        return _cell(
            name,
            column,
            value,
            _branch_bytes("string", written_form),
            _branch_bytes("string", unfit_content),
        )

    def number(name: str, column: str, value: int, unfit_content: bytes) -> CellFault:
        """The fault of a cell that the wire has as a long: the number `value` becomes the bytes
        `unfit_content`.
        """
        return _cell(name, column, value, _branch_bytes("long", value), unfit_content)

    def bit(name: str, column: str, value: int, unfit_content: int) -> CellFault:
        """The fault of a BIT cell: the number `value` becomes `unfit_content`, both in the branch
        that the profile has for BIT.
        """
        contents = (
            (str(value), str(unfit_content)) if profile.bits == "string" else (value, unfit_content)
        )
        written_form, unfit = (_branch_bytes(profile.bits, content) for content in contents)
        return _cell(name, column, value, written_form, unfit)

    return (
        number("cell-int", "c_int", 1234567891, _branch_bytes("string", "12x4")),
        number("cell-int-over", "c_int", 1234567892, _branch_bytes("long", 1 << 31)),
        number("cell-int-fraction", "c_int", 1234567893, _branch_bytes("double", 1.5)),
        number("cell-int-bytes", "c_int", 1234567894, _branch_bytes("bytes", b"\xff\x00")),
        number("cell-tinyint-under", "c_tinyint", -101, _branch_bytes("long", -129)),
        number(
            "cell-unsigned-int-negative", "c_unsigned_int", 4123456789, _branch_bytes("long", -1)
        ),
        number("cell-bigint-over", "c_bigint", 1234567890123456789, _unsigned(-1)),
        _cell(
            "cell-unsigned-bigint-text",
            "c_unsigned_bigint",
            1234567890123456788,
            _unsigned(1234567890123456788),
            _branch_bytes("string", "12x4"),
        ),
        string("cell-decimal", "c_decimal_10_2", Decimal("7654321.5"), "7654321.50", "12x4"),
        string(
            "cell-decimal-digits",
            "c_decimal_10_2",
            Decimal("7654321.25"),
            "7654321.25",
            "123456789.25",
        ),
        string(
            "cell-decimal-scale",
            "c_decimal_10_2",
            Decimal("7654321.75"),
            "7654321.75",
            "7654321.755",
        ),
        _cell(
            "cell-float",
            "c_float",
            12345.5,
            _branch_bytes("float", 12345.5),
            _branch_bytes("string", "1.2.3"),
        ),
        _cell(
            "cell-double",
            "c_double",
            54321.25,
            _branch_bytes("double", 54321.25),
            _branch_bytes("string", "5432x"),
        ),
        bit("cell-bit", "c_bit_8", 173, 256),
        string("cell-date", "c_date", _DATE, "2021-07-19", "2021-13-45"),
        string(
            "cell-datetime", "c_datetime_0", _WALL, "2021-07-19 11:12:13", "2021-07-19 25:61:61"
        ),
        string("cell-time", "c_time_0", _CLOCK, "11:12:13", "99:99:99"),
        number("cell-year", "c_year", 2019, _branch_bytes("string", "20x4")),
        number("cell-set", "c_set_64", 4886718345, _branch_bytes("string", "48x6")),
        _cell(
            "cell-timestamp-value",
            "c_timestamp_0",
            _WALL,
            _stamp(location, wall),
            _stamp(location, "2021-07-19 25:61:61"),
        ),
        _cell(
            "cell-timestamp-zone",
            "c_timestamp_0",
            _WALL,
            _stamp(location, wall),
            _stamp("Mars/Olympus", wall),
        ),
    )
