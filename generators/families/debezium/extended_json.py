"""MongoDB's Extended JSON as the Java driver prints it for Debezium: `JsonWriter` of org.bson.

Source: mongodb/mongo-java-driver `JsonWriterSettings`, `StrictCharacterStreamJsonWriter` (the page
debezium-mongodb of the sources). Debezium prints a document in three ways: an image in JsonMode
STRICT, the text of a key in RELAXED, and `updatedFields` in RELAXED with blanks behind commas.
"""

from __future__ import annotations

import base64
import enum
import math
import unicodedata
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from generators.families.java_text import double_text
from generators.model import Json, SourceType, Value
from generators.sources.mongodb import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, MILLIS


class Style(enum.Enum):
    """Where a document is printed, which decides how."""

    IMAGE = "image"
    KEY = "key"
    UPDATE = "update"

    @property
    def is_relaxed(self) -> bool:
        """Whether the mode is RELAXED, else STRICT."""
        return self is not Style.IMAGE

    @property
    def comma(self) -> str:
        """What stands between two members or items."""
        return ", " if self is Style.UPDATE else ","


_LAST_OF_9999: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, since 1970."""
_EPOCH: Final = datetime(1970, 1, 1)


def field_json(source_type: SourceType, value: Value, style: Style) -> Any:
    """What stands in the JSON for a field's value: for types that JSON does not have an object of
    one member, such as `{"$oid": "..."}`. Raises TypeError for a type without a form.
    """
    if value is None:
        return None
    make_json = _FIELDS.get(source_type.name)
    if make_json is None:
        raise TypeError(f"no Extended JSON of the type {source_type.name!r}")
    return make_json(value, style)


def _long(value: Any, style: Style) -> Any:
    """A long: a number in RELAXED, an object of one member in STRICT."""
    return value if style.is_relaxed else {"$numberLong": str(value)}


def _double(value: float, style: Style) -> Any:
    """A double: a number, also for NaN and infinities in STRICT, whose text is no JSON; in RELAXED
    these are objects of one member.
    """
    if style.is_relaxed and not math.isfinite(value):
        return {"$numberDouble": java_double(value)}
    return value


def java_double(value: float) -> str:
    """A double as Java prints it; NaN and infinities by their names."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return double_text(value)


def _decimal(value: Any, _style: Style) -> Any:
    """A decimal: an object of one member with its text."""
    return {"$numberDecimal": str(value)}


def _date(millis: int, style: Style) -> Any:
    """A date, from its milliseconds since 1970, as an object of one member: the number in STRICT;
    in RELAXED a text in UTC with three fraction digits without zeros at their end, or, before 1970
    and after 9999, a long in canonical form.
    """
    if not style.is_relaxed:
        return {"$date": millis}
    if not 0 <= millis <= _LAST_OF_9999:
        return {"$date": {"$numberLong": str(millis)}}
    moment = _EPOCH + timedelta(milliseconds=millis)
    fraction = f".{millis % 1000:03}".rstrip("0").rstrip(".")
    return {"$date": f"{moment:%Y-%m-%dT%H:%M:%S}{fraction}Z"}


def _binary(content: bytes, subtype: str, style: Style) -> Any:
    """Binary data, with its BSON subtype in hexadecimal digits: one object around both members in
    RELAXED, two members in STRICT (the driver's modes of Extended JSON).
    """
    digits = base64.b64encode(content).decode()
    if style.is_relaxed:
        return {"$binary": {"base64": digits, "subType": subtype}}
    return {"$binary": digits, "$type": subtype}


def _part_of_json(value: Any, style: Style) -> Any:
    """What stands in the JSON for a field that is an object or an array, which
    `generators.sources.mongodb` keeps as a Json.
    """
    assert isinstance(value, Json)
    return part_json(value.value, style)


_FIELDS: Final[Mapping[str, Callable[[Any, Style], Any]]] = {
    "int": lambda value, _style: value,
    "long": _long,
    "double": _double,
    "decimal": _decimal,
    "string": lambda value, _style: value,
    "bool": lambda value, _style: bool(value),
    "date": lambda micros, style: _date(micros // MILLIS, style),
    "objectId": lambda value, _style: {"$oid": value},
    "uuid": lambda value, style: _binary(uuid.UUID(value).bytes, "04", style),
    "binData": lambda content, style: _binary(content, "00", style),
    "object": _part_of_json,
    "array": _part_of_json,
}
"""The function that gives what stands in the JSON for a field's value, by the name of its type."""


def _regex(content: Mapping[str, str], style: Style) -> Any:
    """A regular expression, from the texts of its `pattern` and `options`: one object around both
    in RELAXED, two members in STRICT.
    """
    if style.is_relaxed:
        return {"$regularExpression": dict(content)}
    return {"$regex": content["pattern"], "$options": content["options"]}


def _canonical_date(content: Mapping[str, str], style: Style) -> Any:
    """A date within a document, from what stands behind `$date` in its canonical form: an object
    with the milliseconds since 1970 as a text.
    """
    return _date(int(content["$numberLong"]), style)


def _canonical_binary(content: Mapping[str, str], style: Style) -> Any:
    """Binary data within a document, from what stands behind `$binary` in its canonical form: an
    object with `base64` and `subType`.
    """
    return _binary(base64.b64decode(content["base64"]), content["subType"], style)


_CANONICAL: Final[Mapping[str, Callable[[Any, Style], Any]]] = {
    "$date": _canonical_date,
    "$binary": _canonical_binary,
    "$regularExpression": _regex,
    **{
        name: lambda content, _style, name=name: {name: content}  # type: ignore[misc]
        for name in (
            "$numberDecimal",
            "$oid",
            "$code",
            "$symbol",
            "$timestamp",
            "$minKey",
            "$maxKey",
            "$undefined",
        )
    },
}
"""How the types that stand within documents are printed, by the member of their canonical form."""


def part_json(value: Any, style: Style) -> Any:
    """What stands in the JSON for a value within a document, which the model keeps in canonical
    form where JSON has no such type (`generators.sources.mongodb`). Raises TypeError for a value
    that no document has.
    """
    match value:
        case dict() if len(value) == 1 and next(iter(value)) in _CANONICAL:
            ((name, content),) = value.items()
            return _CANONICAL[name](content, style)
        case dict():
            return {name: part_json(item, style) for name, item in value.items()}
        case list():
            return [part_json(item, style) for item in value]
        case bool() | None | str() | float():
            return value
        case int() if INT_MIN <= value <= INT_MAX:
            return value
        case int() if LONG_MIN <= value <= LONG_MAX:
            return _long(value, style)
        case int() | Decimal():
            return _decimal(value, style)
    raise TypeError(f"{value!r} is no value of a document")


def print_extended(value: Any, style: Style) -> str:
    """The text of JSON as the driver prints it: a blank behind each colon, and behind commas if the
    style says so, none around brackets.
    """
    match value:
        case str():
            return quote_text(value)
        case dict():
            members = [
                f"{quote_text(name)}: {print_extended(item, style)}" for name, item in value.items()
            ]
            return f"{{{style.comma.join(members)}}}"
        case list():
            return f"[{style.comma.join([print_extended(item, style) for item in value])}]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return java_double(value)
    return str(value)


_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}
_PRINTED: Final = frozenset(
    [
        "Lu",
        "Ll",
        "Lt",
        "Lo",
        "Nd",
        "Nl",
        "No",
        "Zs",
        "Pc",
        "Pd",
        "Ps",
        "Pe",
        "Pi",
        "Pf",
        "Po",
        "Sm",
        "Sc",
        "Sk",
        "So",
    ]
)
"""The categories of Unicode whose characters stand as they are: marks and modifier letters are not
among them.
"""


def quote_text(value: str) -> str:
    """A JSON string as the driver prints it; each half of a surrogate pair is escaped."""
    if value.isascii() and value.isalnum():
        return f'"{value}"'
    return f'"{"".join(map(_escape_character, value))}"'


def _escape_character(character: str) -> str:
    """A character as it stands in a string, or its escape in lower case."""
    if character in _SHORT:
        return _SHORT[character]
    if character <= "\uffff" and unicodedata.category(character) in _PRINTED:
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
