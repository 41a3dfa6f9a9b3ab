"""Ways to spoil records of Aliyun DTS: where its unions, lengths and enumerations are, and cells
that fit no column.

A fault finds its place by walking over the record as the specification lays it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeAlias

from generators.families import avro as _avro
from generators.families.avro import LONG
from generators.formats.aliyun_dts_avro.cells import date_time, writer_of
from generators.formats.aliyun_dts_avro.profiles import AliyunProfile
from generators.formats.aliyun_dts_avro.schema import BRANCHES, Datum, cell_bytes
from generators.garbage.cell_faults import LABELS, CellFault, Way, matrix
from generators.garbage.faults import UNSPECIFIED, Fault
from generators.model import Logical, Value
from generators.sources import boundaries, databases, mysql
from generators.sources.boundaries import slug

Span: TypeAlias = tuple[int, int]
"""Where a number begins and ends."""

_STRINGS: Final = ("position", "safe-position", "transaction")
"""sourcePosition, safeSourcePosition, sourceTxid."""


class _Walk:
    """A walk over a record: `places` are the spans of the numbers that faults replace, by name, the
    first of each.
    """

    def __init__(self, value: bytes) -> None:
        self.value, self.at = value, 0
        self.places: dict[str, Span] = {}
        self.record()

    def number(self, name: str = "") -> int:
        """Reads an Avro long where the walk stands, steps over it and returns it; with a name, its
        span goes into `places` unless that name is there.
        """
        number, size = LONG.read(self.value[self.at : self.at + 10])
        if name:
            self.places.setdefault(name, (self.at, self.at + size))
        self.at += size
        return int(number)

    def string(self, name: str = "") -> None:
        """Steps over a text or bytes, whose length stands before them; with a name, the span of the
        length goes into `places`.
        """
        size = self.number(name)
        self.at += size

    def items(self, item: Callable[[], None], name: str = "") -> None:
        """Steps over the blocks of an array or a map, with one call of `item` for each item; behind
        a negative count stands the size of the block in bytes, and a count of 0 ends the blocks.
        With a name, the span of the first count goes into `places`.
        """
        while count := self.number(name):
            if count < 0:
                self.number()
            for _ in range(abs(count)):
                item()

    def record(self) -> None:
        """Steps over a whole record, field by field in the order of the vendor's schema, and fills
        `places` (where the numbers stand that faults replace). A number or text without a name here
        is one that no fault replaces.
        """
        self.number("version")
        self.number()  # id
        self.number()  # sourceTimestamp
        for name in _STRINGS:
            self.string(name)
        self.number("source-type")
        self.string()  # the source's version
        self.number("operation")
        if self.number():  # the branch of objectName
            self.string("object-name")
        if self.number():  # the branch of processTimestamps
            self.items(lambda: self.skip("long"))
        self.items(self.tag)
        # Of fields and images, branch 2 is the array, 0 null and 1 a text.
        if self.number("fields-branch") == 2:
            self.items(self.field, "fields")
        for _ in ("beforeImages", "afterImages"):
            if self.number("image-branch") == 2:
                self.items(self.cell, "image")

    def tag(self) -> None:
        """Steps over one entry of the record's map of tags: its name and its value, both texts."""
        self.string("tag-name")
        self.string()

    def field(self) -> None:
        """Steps over a column's description: its name and the number of its type."""
        self.string("field-name")
        self.number()

    def cell(self) -> None:
        """Steps over one value of an image: its branch, and the parts of the branch's record."""
        branch = BRANCHES[self.number("cell")]
        for part in _PARTS[branch]:
            self.skip(part, branch)

    def skip(self, part: str, branch: str = "") -> None:
        """Steps over one part of a cell's value. `part` is its kind: "text", "bytes", "double",
        "part" for a number or null, any other for a number. The span of the length of a text or of
        bytes goes into `places` under the name of its `branch`.
        """
        match part:
            case "text":
                self.string(f"{branch}-text")
            case "bytes":
                self.string(f"{branch}-bytes")
            case "double":
                self.at += 8
            case "part":
                if self.number():
                    self.number()
            case _:
                self.number()


_DATE_TIME: Final = ("part",) * 7
"""A DateTime: each part is null or a number."""
_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "null": (),
    "Integer": ("int", "text"),
    "Character": ("text", "bytes"),
    "Decimal": ("text", "int", "int"),
    "Float": ("double", "int", "int"),
    "Timestamp": ("long", "int"),
    "DateTime": _DATE_TIME,
    "TimestampWithTimeZone": (*_DATE_TIME, "text"),
    "BinaryGeometry": ("text", "bytes"),
    "TextGeometry": ("text", "text"),
    "BinaryObject": ("text", "bytes"),
    "TextObject": ("text", "text"),
    "EmptyObject": ("int",),
}
"""The parts of a value by its branch, in the language of `_Walk.skip`."""


@lru_cache(maxsize=64)
def places(value: bytes) -> Mapping[str, Span]:
    """Where in a record the numbers stand that faults replace, as (start, end) by name:
    `operation`, `object-name` (the length of that text), `cell` (the branch of a value) ...
    """
    return _Walk(value).places


def _change_at(
    place_name: str, change: Callable[[bytes, int, int], bytes]
) -> Callable[[bytes], bytes | None]:
    """The function that changes a record at the place of that name (in `places`): `change` gets the
    record and where the place begins and ends. It gives None for a record without the place.
    """

    def apply(value: bytes) -> bytes | None:
        """The changed record; None if it does not have the place."""
        span = places(value).get(place_name)
        return None if span is None else change(value, *span)

    return apply


def _number(place_name: str, number: int) -> Callable[[bytes], bytes | None]:
    """The function that puts another number in a place of a record."""
    return _change_at(
        place_name, lambda value, start, end: value[:start] + LONG(number) + value[end:]
    )


def _with_first_byte(place_name: str, byte: bytes) -> Callable[[bytes], bytes | None]:
    """The function that replaces the first byte of a text that is not empty, whose length stands in
    that place of a record.
    """
    return _change_at(place_name, lambda value, _, end: value[:end] + byte + value[end + 1 :])


def _spell_longer(place_name: str, zeros: int) -> Callable[[bytes], bytes | None]:
    """The function that spells the number in a place of a record with `zeros` more bytes, which add
    nothing to it.
    """

    def change(value: bytes, _: int, end: int) -> bytes:
        """The message with `zeros` more bytes in the number that ends at `end`, whose value stays:
        each byte but the last has the continuation bit.
        """
        return (
            value[: end - 1]
            + bytes([value[end - 1] | 0x80, *[0x80] * (zeros - 1), 0])
            + value[end:]
        )

    return _change_at(place_name, change)


FAULTS: Final = (
    *_avro.FAULTS,
    Fault(
        "union-index-13",
        "wrong-branch",
        "A value's branch is 13, the first that there is not.",
        _number("cell", 13),
    ),
    Fault("union-index-negative", "wrong-branch", "A value's branch is -1.", _number("cell", -1)),
    Fault(
        "fields-index-3",
        "wrong-branch",
        "The branch of fields is 3, of a union of three.",
        _number("fields-branch", 3),
    ),
    Fault(
        "operation-17",
        "wrong-branch",
        "operation is 17, the first that there is not.",
        _number("operation", 17),
    ),
    Fault("operation-negative", "wrong-branch", "operation is -1.", _number("operation", -1)),
    Fault(
        "source-type-13",
        "foreign-schema",
        "sourceType is 13, OTHER of a schema that has TIDB before it.",
        _number("source-type", 13),
    ),
    Fault(
        "published-union",
        "foreign-schema",
        "The index of Record in the published array of schemas, read as a union, precedes the"
        " record.",
        _avro.before(LONG(13)),
    ),
    Fault(
        "two-longs-behind",
        "trailing-content",
        "Two whole numbers follow the record, of which an edition has at most one.",
        _avro.append_bytes(LONG(1_700_000_000) * 2),
    ),
    Fault(
        "huge-string",
        "huge-length",
        "objectName has 1,900,000,000 bytes.",
        _number("object-name", 1_900_000_000),
    ),
    Fault(
        "huge-bytes",
        "huge-length",
        "A Character has 2,147,483,647 bytes.",
        _number("Character-bytes", (1 << 31) - 1),
    ),
    Fault(
        "huge-bytes-over",
        "huge-length",
        "A Character has 2,147,483,648 bytes.",
        _number("Character-bytes", 1 << 31),
    ),
    Fault(
        "huge-fields",
        "huge-length",
        "fields has a block of 1,099,511,627,776 items.",
        _number("fields", 1 << 40),
    ),
    Fault(
        "huge-image",
        "huge-length",
        "An image has a block of 1,099,511,627,776 items.",
        _number("image", 1 << 40),
    ),
    Fault("negative-string", "huge-length", "objectName has -1 bytes.", _number("object-name", -1)),
    Fault(
        "negative-unread-string",
        "huge-length",
        "safeSourcePosition, which few readers want, has -1 bytes: who skips it may take that for"
        " nothing to skip.",
        _number("safe-position", -1),
    ),
    Fault(
        "negative-bytes", "huge-length", "A Character has -5 bytes.", _number("Character-bytes", -5)
    ),
    Fault(
        "invalid-utf-8-name",
        "invalid-utf-8",
        "objectName begins with the byte FF.",
        _with_first_byte("object-name", b"\xff"),
        UNSPECIFIED,
    ),
    Fault(
        "invalid-utf-8-field",
        "invalid-utf-8",
        "A column's name begins with the byte FF.",
        _with_first_byte("field-name", b"\xff"),
        UNSPECIFIED,
    ),
    Fault(
        "invalid-utf-8-character",
        "invalid-utf-8",
        "The bytes of a Character begin with FF, whatever its charset.",
        _with_first_byte("Character-bytes", b"\xff"),
        UNSPECIFIED,
    ),
    Fault(
        "overlong-version",
        "overlong-number",
        "version takes a byte more than it need.",
        _spell_longer("version", 1),
        UNSPECIFIED,
    ),
    Fault(
        "overlong-operation",
        "overlong-number",
        "operation takes twelve bytes, where a number has ten at most.",
        _spell_longer("operation", 11),
        UNSPECIFIED,
    ),
)
"""Every envelope fault of the format."""


def _text_object(value: str) -> Datum:
    """A TextObject of the type TEXT."""
    return "TextObject", {"type": "TEXT", "value": value}


def _integer(digits: str, width: int = 8) -> Datum:
    """An Integer of these digits and this width in bytes."""
    return "Integer", {"precision": width, "value": digits}


def _decimal(digits: str) -> Datum:
    """A Decimal of these digits, of a column DECIMAL(9, 2)."""
    return "Decimal", {"value": digits, "precision": 9, "scale": 2}


def _wall(*parts: int | None) -> Datum:
    """A DateTime of these parts, from the year on."""
    return "DateTime", date_time(*parts)


_NOON: Final = mysql.wall("2021-07-19 11:12:13")
_CLOCK: Final = (11 * 3600 + 12 * 60 + 13) * mysql.MICROS

_MYSQL_CELLS: Final[tuple[tuple[str, str, Value, Datum], ...]] = (
    ("cell-int", "int", 1234567891, _integer("12x4", 4)),
    ("cell-int-over", "int", 1234567892, _integer("2147483648", 4)),
    ("cell-int-fraction", "int", 1234567893, _integer("1.5", 4)),
    ("cell-int-empty", "int", 1234567894, _integer("", 4)),
    ("cell-bigint-over", "bigint", 1234567890123456789, _integer("9223372036854775808")),
    ("cell-unsigned-bigint-negative", "unsigned-bigint", 12345678901234567891, _integer("-1")),
    ("cell-unsigned-bigint-over", "unsigned-bigint", 12345678901234567892, _integer(str(1 << 64))),
    ("cell-decimal", "decimal-10-2", Decimal("7654321.24"), _decimal("76x.24")),
    ("cell-decimal-digits", "decimal-10-2", Decimal("7654321.25"), _decimal("123456789.25")),
    ("cell-decimal-scale", "decimal-10-2", Decimal("7654321.75"), _decimal("7654321.755")),
    ("cell-float-branch", "float", 12345.5, ("BinaryObject", {"type": "BLOB", "value": b"\x01"})),
    ("cell-double-branch", "double", 54321.25, _text_object("5432x")),
    ("cell-bit", "bit-8", 173, _integer("256", 1)),
    ("cell-date", "date", date(2021, 7, 19), _wall(2021, 13, 45)),
    ("cell-date-february", "date", date(2021, 7, 20), _wall(2021, 2, 30)),
    ("cell-datetime", "datetime-0", _NOON, _wall(2021, 7, 19, 25, 61, 61, 0)),
    ("cell-datetime-month", "datetime-6", _NOON + 1, _wall(2021, 13, 19, 11, 12, 13, 1)),
    ("cell-timestamp-branch", "timestamp-0", _NOON, _text_object("yesterday")),
    ("cell-time", "time-0", _CLOCK, _wall(None, None, None, 11, 99, 99, 0)),
    ("cell-year-branch", "year", 2019, _text_object("20x4")),
    ("cell-int-branch", "smallint", 12345, ("BinaryObject", {"type": "BLOB", "value": b"12345"})),
    ("cell-varbinary-branch", "varbinary", b"\xab\xcd\xef\x01", _integer("5")),
)
"""Name, type, a value that occurs nowhere else in a message, and the wire value that fits no column
of the type.
"""

_POSTGRESQL_CELLS: Final[tuple[tuple[str, str, Value, Datum], ...]] = (
    ("cell-int", "integer", 1234567891, _integer("12x4", 4)),
    ("cell-int-over", "integer", 1234567892, _integer("2147483648", 4)),
    ("cell-bigint-over", "bigint", 1234567890123456789, _integer("9223372036854775808")),
    ("cell-decimal", "numeric-10-2", Decimal("7654321.24"), _decimal("76x.24")),
    ("cell-decimal-digits", "numeric-10-2", Decimal("7654321.25"), _decimal("123456789.25")),
    ("cell-double-branch", "double-precision", 54321.25, _text_object("5432x")),
    ("cell-boolean", "boolean", 1, ("TextObject", {"type": "BOOL", "value": "maybe"})),
    ("cell-date", "date", date(2021, 7, 19), _wall(2021, 13, 45)),
    (
        "cell-timestamp",
        "timestamp-0",
        mysql.wall("2021-07-19 11:12:13"),
        _wall(2021, 7, 19, 25, 61, 61, 0),
    ),
    ("cell-time", "time-0", _CLOCK, _wall(None, None, None, 11, 99, 99, 0)),
    (
        "cell-timestamptz-zone",
        "timestamptz-0",
        _NOON,
        (
            "TimestampWithTimeZone",
            {"value": date_time(2021, 7, 19, 11, 12, 13, 0), "timezone": "nowhere"},
        ),
    ),
)
"""The same for PostgreSQL: name, type, a value that occurs nowhere else in a message, and the wire
value that fits no column of the type.
"""


_UNFIT: Final[Mapping[Way, Datum]] = {
    Way.LETTERS: _text_object("?€"),
    Way.EMPTY: _text_object(""),
    Way.SHAPE: ("BinaryObject", {"type": "BLOB", "value": b"\xff"}),
}
"""A wire value that fits hardly any type, by the way in which it does not fit."""
_OUTSIDE: Final[Mapping[Logical, Datum]] = {
    Logical.INT: _integer("2147483648", 4),
    Logical.DECIMAL: _decimal("123456789.35"),
    Logical.FLOAT: ("Float", {"value": 1e39, "precision": 8, "scale": 1}),
    Logical.BIT: _integer("256", 1),
    Logical.DATE: _wall(2021, 13, 45),
    Logical.DATETIME: _wall(2021, 7, 18, 25, 61, 61, 0),
    Logical.TIMESTAMP: ("Timestamp", {"timestamp": 1 << 60, "millis": 0}),
    Logical.TIME: _wall(None, None, None, 11, 99, 99, 0),
    Logical.YEAR: _integer("9999", 2),
    Logical.ENUM: _integer("77", 1),
    Logical.SET: _integer(str(1 << 64)),
}
"""A wire value outside of what the type can hold, by the logical type."""
FITS: Final = {
    **LABELS,
    "double/outside": "a double of Avro is one of MySQL's, or infinite",
    "binary/letters": "a text object is its bytes",
}
"""Combinations `LOGICAL/WAY` that a decoder may read, each with the reason."""


def unfit(profile: AliyunProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """Yields a cell fault for each logical type and each `Way` of not fitting it: the bytes of a
    right cell (with its number in the Avro union) and those of the unfit cell that replaces it.
    `fits` maps combinations `LOGICAL/WAY` that a decoder may read, and so are left out, to the
    reason.
    """
    types = boundaries.every_type(lambda _type: True, profile.source)
    for logical, way, column, value in matrix(profile.source, fits):
        written_form = cell_bytes(writer_of(types.column(column).type, profile)(value)[0])
        unfit_datum = (
            _integer("5")
            if (logical, way) == (Logical.BINARY, Way.SHAPE)
            else _UNFIT.get(way) or _OUTSIDE[logical]
        )
        yield CellFault(
            f"cell-{logical}-{way}", column, value, written_form, cell_bytes(unfit_datum)
        )


def cell_faults(profile: AliyunProfile) -> tuple[CellFault, ...]:
    """The unfit cells of this format's own: the bytes of a value as the profile writes it, branch
    included, and the bytes that replace them.
    """
    source = databases.source(profile.source)
    cells = _POSTGRESQL_CELLS if source is databases.POSTGRESQL else _MYSQL_CELLS
    written_forms = [
        cell_bytes(writer_of(source.types[kind], profile)(value)[0]) for _, kind, value, _ in cells
    ]
    return tuple(
        CellFault(name, f"c_{slug(kind)}", value, written_form, cell_bytes(unfit_datum))
        for (name, kind, value, unfit_datum), written_form in zip(cells, written_forms, strict=True)
    )
