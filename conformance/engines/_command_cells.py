"""Level-two cells of the decoder protocol: lossless JSON values, checked against a table's Spark
types and converted to Arrow.

The column's type gives the JSON form: an integer as a number or its decimal text, a decimal as
text, a float as a number, its text or one of three words, bytes as {"base64": ...}, dates and times
in ISO 8601 (docs/any-language.md has the table).
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

import pyarrow as pa

from conformance.judging.output import BEYOND
from generators.model import Logical, Table
from generators.storage.jsonform import kind_of

_EPOCH: Final = datetime(1970, 1, 1)
"""The moment from which timestamps are counted in microseconds."""
_INTEGER: Final = re.compile(r"-?[0-9]{1,40}")
_DECIMAL: Final = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?")
_NUMBER: Final = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_INSTANT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(Z?)"
)
_BITS: Final[Mapping[str, tuple[int, pa.DataType]]] = {
    "tinyint": (7, pa.int8()),
    "smallint": (15, pa.int16()),
    "int": (31, pa.int32()),
    "bigint": (63, pa.int64()),
}
"""Spark's integer types: the number of bits beside the sign, and the type in Arrow."""
_SPECIAL_FLOATS: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
"""The texts of floats that JSON has no number for."""


class CellProblem(ValueError):
    """An image has a cell whose name is no column of the table. `args` are that name and the error
    text.
    """


def spark_type_by_column(table: Table, labels_are_strings: bool = False) -> dict[str, str]:
    """The Spark type of each column of a table, as the cells of a command's answer are read; with
    `labels_are_strings` those of ENUM and SET are string.
    """
    string_types = (Logical.ENUM, Logical.SET) if labels_are_strings else ()
    return {
        column.name: "string" if column.type.logical in string_types else column.type.spark
        for column in table.columns
    }


class Cells:
    """Reads the cells of a table's images, which are JSON, by the Spark type of each column:
    `columns` has it by name.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._readers = {name: _cell_reader(spark) for name, spark in columns.items()}

    def read_image(self, image: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Reads an image (the cells of a row by column) from JSON. Returns its cells as Python
        values for Arrow, and the error texts of cells that do not have their column's form, by
        column. A column that the image lacks is NULL, and in neither.

        Raises CellProblem for a column that the table lacks.
        """
        values, problems = {}, {}
        for name, value in image.items():
            if name not in self._readers:
                raise CellProblem(
                    name, f"the table has no such column; it has {', '.join(self._readers)}"
                )
            if value is not None:
                try:
                    values[name] = self._readers[name].read(value)
                except (ValueError, OverflowError) as error:
                    problems[name] = str(error)
        return values, problems

    def to_struct_array(self, images: Sequence[Mapping[str, Any] | None]) -> pa.Array:
        """Row images (dicts of Python values) as an Arrow array of structs of the table's columns;
        None is a NULL struct.
        """
        columns, fields = [], []
        for name, reader in self._readers.items():
            cells = [None if image is None else image.get(name) for image in images]
            columns.append(pa.array(cells, reader.arrow_type))
            fields.append(pa.field(name, reader.arrow_type))
        nulls = pa.array([image is None for image in images], pa.bool_())
        return pa.StructArray.from_arrays(columns, fields=fields, mask=nulls)


class _CellReader(NamedTuple):
    """How cells of a Spark type are read: their type in Arrow, and the function that makes a Python
    value of a cell's JSON, or raises ValueError or OverflowError.
    """

    arrow_type: pa.DataType
    read: Callable[[Any], Any]


def _cell_reader(spark: str) -> _CellReader:
    """The reader of cells of a Spark type, such as "bigint" or "decimal(10,2)"."""
    if spark in _BITS:
        bits, arrow_type = _BITS[spark]
        return _CellReader(arrow_type, lambda value: _read_integer(value, spark, bits))
    if spark.startswith("decimal("):
        precision, scale = map(int, spark[len("decimal(") : -1].split(","))
        return _CellReader(
            pa.decimal128(precision, scale), lambda value: _read_decimal(value, precision, scale)
        )
    return _OTHER_READERS[spark]


def _read_integer(value: Any, spark: str, bits: int) -> int:
    """The integer of a cell of the Spark type `spark`, which has `bits` bits beside the sign, from
    its JSON number or decimal text. Raises ValueError for another form and for a number that the
    type cannot hold.
    """
    if type(value) is int or (type(value) is str and _INTEGER.fullmatch(value)):
        number = int(value)
        if -(1 << bits) <= number < 1 << bits:
            return number
        raise ValueError(f"{value} {BEYOND} {spark}")
    raise ValueError(f"must be an integer or its decimal text, not {_describe_value(value)}")


def _read_decimal(value: Any, precision: int, scale: int) -> Decimal:
    """A decimal from its text, or from an integer. Raises ValueError for another text, and for a
    number with too many digits.
    """
    decimal_text = str(value) if type(value) is int else value
    match = _DECIMAL.fullmatch(decimal_text) if type(decimal_text) is str else None
    if match is None:
        raise ValueError(f"must be a decimal's text without exponent, not {_describe_value(value)}")
    sign = match.group(1)
    integer_digits = match.group(2).lstrip("0")
    fraction_digits = (match.group(3) or "").rstrip("0")
    if len(integer_digits) > precision - scale or len(fraction_digits) > scale:
        raise ValueError(f"{decimal_text} {BEYOND} decimal({precision},{scale})")
    # Arrow counts each digit that is written: a 0 behind 38 others is one too many.
    return Decimal(f"{sign}{integer_digits or '0'}{fraction_digits and '.'}{fraction_digits}")


def _read_boolean(value: Any) -> bool:
    """The boolean of a cell of the decoder protocol. Raises ValueError for any JSON value but true
    and false.
    """
    if type(value) is not bool:
        raise ValueError(f"must be true or false, not {_describe_value(value)}")
    return value


def _read_double(value: Any) -> float:
    """A cell's 64-bit float, from its JSON number, its text, or NaN, Infinity or -Infinity as text.
    Raises ValueError for another form, and for a number beyond the doubles.
    """
    if type(value) is str and value in _SPECIAL_FLOATS:
        return _SPECIAL_FLOATS[value]
    is_number_text = type(value) is str and _NUMBER.fullmatch(value)
    if type(value) not in (int, float) and not is_number_text:
        raise ValueError(
            f"must be a number, its text, or one of {', '.join(_SPECIAL_FLOATS)}, not {_describe_value(value)}"
        )
    try:
        number = float(value)
    except OverflowError:  # of an integer; float() makes a text infinite
        number = math.inf
    if math.isinf(number):
        raise ValueError(f"{_describe_value(value)} {BEYOND} double")
    return number


def _read_float(value: Any) -> float:
    """A cell's 32-bit float, from its JSON number, its text, or NaN, Infinity or -Infinity as text.
    Raises ValueError for another form, and for a number beyond the 32-bit floats.
    """
    number = _read_double(value)
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        raise ValueError(f"{value} does not fit float") from None


def _read_string(value: Any) -> str:
    """The text of a cell of the decoder protocol. Raises ValueError for any JSON value but a
    string.
    """
    if type(value) is not str:
        raise ValueError(f"must be a string, not {_describe_value(value)}")
    return value


def _read_binary(value: Any) -> bytes:
    """The bytes of a cell, from its JSON object {"base64": text}. Raises ValueError for another
    form.
    """
    if type(value) is dict and value.keys() == {"base64"} and type(value["base64"]) is str:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"is no base64: {error}") from None
    raise ValueError(f'must be {{"base64": "..."}}, not {_describe_value(value)}')


def _read_date(value: Any) -> date:
    """The date of a cell of the decoder protocol, from a text such as 2024-02-29. Raises ValueError
    for any other form.
    """
    if type(value) is str and _DATE.fullmatch(value):
        return date.fromisoformat(value)
    raise ValueError(f"must be a date such as 2024-02-29, not {_describe_value(value)}")


def _read_instant(value: Any, zone: str) -> int:
    """A timestamp cell of the decoder protocol as microseconds since 1970-01-01. `zone` is what
    must follow the time: "Z" for a moment, "" for a timestamp without time zone. Raises ValueError
    for any other form.
    """
    match = _INSTANT.fullmatch(value) if type(value) is str else None
    if match is None or match.group(1) != zone:
        raise ValueError(
            f"must be a time such as 2024-02-29T23:59:59.123456{zone}, not {_describe_value(value)}"
        )
    return (datetime.fromisoformat(value.removesuffix("Z")) - _EPOCH) // timedelta(microseconds=1)


def _describe_value(value: Any) -> str:
    """A JSON value for an error text: a string or number itself, shortened; else what kind of value
    it is, such as an array.
    """
    return repr(value)[:60] if type(value) in (str, int, float) else kind_of(value)


_OTHER_READERS: Final[Mapping[str, _CellReader]] = {
    "boolean": _CellReader(pa.bool_(), _read_boolean),
    "float": _CellReader(pa.float32(), _read_float),
    "double": _CellReader(pa.float64(), _read_double),
    "string": _CellReader(pa.string(), _read_string),
    "binary": _CellReader(pa.binary(), _read_binary),
    "date": _CellReader(pa.date32(), _read_date),
    "timestamp": _CellReader(pa.timestamp("us", "UTC"), lambda value: _read_instant(value, "Z")),
    "timestamp_ntz": _CellReader(pa.timestamp("us"), lambda value: _read_instant(value, "")),
}
"""The readers of Spark's types that are no integers and no decimals."""
