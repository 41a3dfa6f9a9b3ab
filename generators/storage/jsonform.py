"""JSON texts read strictly, and the lossless JSON forms of strings, bytes and canonical values
(docs/corpus.md).

Numbers of the source are strings under a type tag, since most JSON libraries read numbers as
binary64. What cannot be loaded raises `Malformed`, which names the field.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar

from generators.errors import UsageError
from generators.model import Json, Value, ZeroDate

Plain: TypeAlias = Any
"""A value that `json.dumps` accepts."""

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)


class Malformed(UsageError):
    """An invalid JSON form; `field` is the path to the wrong field (`after.c.value`)."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"field {field}: {problem}" if field else problem)
        self.field, self.problem = field, problem


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape of a surrogate in a JSON text: one half of a character beyond U+FFFF."""


def to_line(data: Plain) -> str:
    """JSON data as canonical text: one line without its end, ASCII, no spaces between the parts,
    members in the order of insertion. Raises ValueError for NaN and the infinities.
    """
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def from_line(line: bytes | str) -> Plain:
    """Parses one JSON text, strictly: UTF-8, escaped surrogates in pairs, no duplicate names, no
    NaN, nothing behind it. Raises Malformed.
    """
    try:
        line_text = line.decode("utf-8") if isinstance(line, bytes) else line
        value = json.loads(line_text, object_pairs_hook=_object, parse_constant=_no_constant)
        if _SURROGATE.search(line_text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError:
        raise Malformed("", 'a lone surrogate: such a text stands as {"wtf8": base64}') from None
    except UnicodeDecodeError as error:
        raise Malformed("", f"not UTF-8 at byte {error.start}") from None
    except RecursionError:
        raise Malformed("", "nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Malformed("", f"not JSON: {error}") from None
    except ValueError as error:
        raise Malformed("", f"not usable JSON: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a parsed JSON object. Raises Malformed if a name occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        raise Malformed("", f"duplicate name {next(n for n in names if names.count(n) > 1)!r}")
    return members


def _no_constant(name: str) -> None:
    """Raises Malformed for NaN and the infinities, which Python's JSON parser would accept."""
    raise Malformed("", f"{name} is not JSON")


def path(at: str, key: str) -> str:
    """The path of a field of the object at `at`."""
    return f"{at}.{key}" if at else key


def mapping(data: Plain, at: str) -> dict[str, Any]:
    """Returns `data` if it is a JSON object. Raises Malformed."""
    if not isinstance(data, dict):
        raise Malformed(at, f"must be an object, not {kind_of(data)}")
    return data


def fields(data: Plain, at: str, legal: Set[str]) -> dict[str, Any]:
    """Returns `data` if it is a JSON object that has no field but those in `legal`; `at` is its
    path. Raises Malformed.
    """
    members = mapping(data, at)
    if unknown := members.keys() - legal:
        raise Malformed(path(at, min(unknown)), f"unknown; known here: {', '.join(sorted(legal))}")
    return members


def kind_of(data: object) -> str:
    """The kind of a JSON value in words, such as `a number`, for error messages."""
    match data:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


def need(data: Mapping[str, Any], key: str, at: str) -> Plain:
    """The field `key` of the JSON object `data`. Raises Malformed if it is missing."""
    if key not in data:
        raise Malformed(path(at, key), "missing")
    return data[key]


def string(data: Plain, at: str) -> str:
    """The text of a JSON form that `dump_text` made: a JSON string, or `{"wtf8": base64}` of a text
    that holds surrogates. Raises Malformed for any other form.
    """
    if isinstance(data, str):
        return data
    if isinstance(data, dict) and data.keys() == {"wtf8"}:
        raw = _unbase64(data["wtf8"], path(at, "wtf8"))
        try:
            return raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise Malformed(path(at, "wtf8"), "not UTF-8, even with surrogates") from None
    raise Malformed(at, f"must be a string, not {kind_of(data)}")


def integer(data: Plain, at: str) -> int:
    """Returns `data` if it is a JSON integer. Raises Malformed."""
    if type(data) is not int:
        raise Malformed(at, f"must be an integer, not {kind_of(data)}")
    return data


def integer_of_text(data: Plain, at: str) -> int:
    """The integer that `data`, a string of a stored document, holds in plain decimal digits. Raises
    Malformed for any other spelling, which names `at`, the place in the document.
    """
    digits = string(data, at)
    if _INTEGER.fullmatch(digits) and _digits(number := int(Decimal(digits))) == digits:
        return number
    raise Malformed(at, f"must be an integer's plain decimal text, not {digits[:40]!r}")


_INTEGER: Final = re.compile(r"-?[0-9]{1,6000}")
"""An integer of a length that takes no time: a bit string that PostgreSQL keeps out of line has
4,817 digits or more.
"""


def _digits(value: int) -> str:
    """The decimal text of an integer of any length; `str` refuses very long ones."""
    return str(value) if -_LONG < value < _LONG else str(Decimal(value))


_LONG: Final = 1 << 10_000
"""Integers between this and its negative are short enough for `str`, which refuses those of more
than some 4,300 digits.
"""


def boolean(data: Plain, at: str) -> bool:
    """Returns `data` if it is a JSON boolean. Raises Malformed."""
    if not isinstance(data, bool):
        raise Malformed(at, f"must be a boolean, not {kind_of(data)}")
    return data


def array(data: Plain, at: str, load: Callable[[Plain, str], T]) -> tuple[T, ...]:
    """The items of a JSON array, each read by `load`, which also gets the item's path for errors.
    Raises Malformed if `data` is no array.
    """
    if not isinstance(data, list):
        raise Malformed(at, f"must be an array, not {kind_of(data)}")
    return tuple(load(item, f"{at}[{i}]") for i, item in enumerate(data))


def member(kind: type[E], data: Plain, at: str) -> E:
    """The member of an enumeration whose value is the text `data`. Raises Malformed if there is
    none.
    """
    try:
        return kind(string(data, at))
    except ValueError:
        raise Malformed(at, f"{data!r} is none of {', '.join(kind)}") from None


def _unbase64(data: Plain, at: str) -> bytes:
    """The bytes of a base64 text at the path `at`. Raises Malformed for any other text."""
    try:
        return base64.b64decode(string(data, at), validate=True)
    except (binascii.Error, ValueError):
        raise Malformed(at, "not base64") from None


def dump_text(value: str) -> Plain:
    """The JSON form of a text: itself, or `{"wtf8": base64}` when it holds surrogates, which JSON
    texts cannot tell from a pair's character.
    """
    if value.isascii():
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return {"wtf8": base64.b64encode(value.encode("utf-8", "surrogatepass")).decode()}
    return value


def dump_bytes(value: bytes | None) -> Plain:
    """The JSON form of bytes: `{"text": ...}` when they are valid UTF-8, else `{"base64": ...}`;
    null for None.
    """
    if value is None:
        return None
    try:
        return {"text": value.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def load_bytes(data: Plain, at: str = "") -> bytes | None:
    """The bytes, or None, of a JSON form that `dump_bytes` made. Raises Malformed for any other
    form.
    """
    if data is None:
        return None
    members = fields(data, at, _BYTES)
    if len(members) != 1:
        raise Malformed(at, "must hold either text or base64")
    if "base64" in members:
        return _unbase64(members["base64"], path(at, "base64"))
    try:
        return string(members["text"], path(at, "text")).encode("utf-8")
    except UnicodeEncodeError:
        raise Malformed(path(at, "text"), "a lone surrogate is not UTF-8") from None


_BYTES = frozenset({"text", "base64"})
"""The fields of the JSON form of bytes, of which a value has one."""


def dump_value(value: Value) -> Plain:
    """The JSON form of a cell's value: an object with its type and value; null for NULL. Raises
    UsageError for a value that no type has.
    """
    match value:
        case None:
            return None
        # These are an int and a date of Python, but no value of a source.
        case bool() | datetime():
            pass
        case int():
            return {"type": "int", "value": _digits(value)}
        case float():
            return {"type": "float", "value": repr(value), "bits": struct.pack(">d", value).hex()}
        case Decimal() if value.is_finite():
            return {"type": "decimal", "value": str(value)}
        case str():
            return {"type": "text", "value": dump_text(value)}
        case bytes():
            return {"type": "bytes", **dump_bytes(value)}
        case date():
            return {"type": "date", "value": value.isoformat()}
        case ZeroDate():
            value_text = f"{value.year:04d}-{value.month:02d}-{value.day:02d}"
            return {"type": "zero-date", "value": value_text, "micros": value.micros}
        case Json():
            return {"type": "json", "value": _dump_node(value.value)}
    raise UsageError(f"{type(value).__name__} {value!r:.80} is no canonical value of a source type")


def _dump_node(node: object) -> Plain:
    """The JSON form of a value inside a JSON document; numbers and texts are written with their
    type, as in a cell.
    """
    match node:
        case None | bool():
            return node
        case int() | float() | Decimal() | str():
            return dump_value(node)
        case dict():
            return {
                "type": "object",
                "value": [[dump_text(name), _dump_node(item)] for name, item in node.items()],
            }
        case list():
            return {"type": "array", "value": [_dump_node(item) for item in node]}
    raise UsageError(f"{type(node).__name__} {node!r:.80} is no value of a JSON document")


def load_value(data: Plain, at: str = "") -> Value:
    """The value of a cell from a JSON form that `dump_value` made. Raises Malformed for any other
    form.
    """
    if data is None:
        return None
    if not isinstance(data, dict):
        raise Malformed(at, f"must be null or an object with a type, not {kind_of(data)}")
    tag = string(need(data, "type", at), path(at, "type"))
    if tag == "bytes":
        return load_bytes({key: value for key, value in data.items() if key != "type"}, at)
    if tag not in _LOADERS:
        raise Malformed(path(at, "type"), f"{tag!r} is none of {', '.join(('bytes', *_LOADERS))}")
    more_fields, load = _LOADERS[tag]
    members = fields(data, at, {"type", "value", *more_fields})
    return load(
        need(members, "value", at),
        path(at, "value"),
        *((need(members, name, at), path(at, name)) for name in more_fields),
    )


def _load_float(data: Plain, at: str, exact: tuple[Plain, str]) -> Value:
    """The double of a JSON form: its text at the path `at`, and its 16 hex digits with their path
    in `exact`. Raises Malformed if the two are not the same number.
    """
    bits_data, bits_at = exact
    bits = string(bits_data, bits_at)
    try:
        value = float(struct.unpack(">d", bytes.fromhex(bits))[0])
    except (ValueError, struct.error):
        raise Malformed(bits_at, "must be the 16 hex digits of a binary64") from None
    bits_text = string(data, at)
    if bits_text != repr(value):
        raise Malformed(at, f"{bits_text[:40]!r} and bits {bits} ({value!r}) are two numbers")
    return value


def _load_decimal(data: Plain, at: str) -> Value:
    """The decimal of a text in the JSON form. Raises Malformed for a text that is not the one
    spelling that `str` gives the number.
    """
    decimal_text = string(data, at)
    try:
        value = Decimal(decimal_text)
        if value.is_finite() and str(value) == decimal_text:
            return value
    except InvalidOperation:
        pass
    raise Malformed(at, f"{decimal_text[:40]!r} is no decimal number in its plain form")


def _load_date(data: Plain, at: str) -> Value:
    """The date of an ISO text in the JSON form. Raises Malformed for any other text."""
    date_text = string(data, at)
    try:
        return date.fromisoformat(date_text)
    except ValueError:
        raise Malformed(at, f"{date_text[:40]!r} is no date") from None


_ZERO_DATE: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)


def _load_zero_date(data: Plain, at: str, micros: tuple[Plain, str]) -> Value:
    """The date that no calendar has (a part of it is zero), from its JSON text and `micros`, the
    microseconds of its day with their path. Raises Malformed.
    """
    date_text = string(data, at)
    parts = _ZERO_DATE.fullmatch(date_text)
    if not parts:
        raise Malformed(at, f"{date_text[:40]!r} is not YYYY-MM-DD")
    year, month, day = map(int, parts.groups())
    return ZeroDate(year, month, day, integer(*micros))


def _load_node(data: Plain, at: str) -> Any:
    """A value of a JSON document, at any depth, from the JSON form in which a corpus keeps it.
    Raises Malformed.
    """
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, dict) and data.get("type") in ("array", "object"):
        inner, items = path(at, "value"), fields(data, at, {"type", "value"}).get("value")
        if data["type"] == "array":
            return list(array(items, inner, _load_node))
        return dict(array(items, inner, _load_member))
    value = load_value(data, at)
    if not isinstance(value, int | float | Decimal | str):
        raise Malformed(path(at, "type"), "no type of a JSON document")
    return value


def _load_member(data: Plain, at: str) -> tuple[str, Any]:
    """A member of a document's object in its JSON form, a list of a name and a value. Raises
    Malformed.
    """
    if not isinstance(data, list) or len(data) != 2:
        raise Malformed(at, "must be a name and a value")
    return string(data[0], f"{at}[0]"), _load_node(data[1], f"{at}[1]")


_LOADERS: Final[Mapping[str, tuple[tuple[str, ...], Callable[..., Value]]]] = {
    "int": ((), integer_of_text),
    "float": (("bits",), _load_float),
    "decimal": ((), _load_decimal),
    "text": ((), string),
    "date": ((), _load_date),
    "zero-date": (("micros",), _load_zero_date),
    "json": ((), lambda data, at: Json(_load_node(data, at))),
}
"""By the type tag of a value's JSON form: the names of the fields beside `value`, and the function
that makes the value. That function gets `value` and its path, then each of those fields as a pair
of the field and its path.
"""


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """How values of one type are written as JSON and read back. `dump` makes the JSON value, `load`
    reads it and gets the path of its field for error messages.

    `takes_known`: both functions also take what the reader knows of the value already; the JSON
    leaves that out.
    """

    dump: Callable[..., Plain]
    load: Callable[..., T]
    takes_known: bool = False


def _itself(value: T) -> T:
    """Returns the value as it is."""
    return value


TEXT: Final = Form(dump_text, string)
INTEGER: Final[Form[int]] = Form(_itself, integer)
DIGITS: Final = Form(_digits, integer_of_text)
BOOLEAN: Final[Form[bool]] = Form(_itself, boolean)
BYTES: Final = Form(dump_bytes, load_bytes)
VALUE: Final = Form(dump_value, load_value)


def array_form(item_form: Form[T] | Record[T]) -> Form[tuple[T, ...]]:
    """The form of a tuple: an array, each item in `item_form`."""
    return Form(
        lambda items: [item_form.dump(item) for item in items],
        lambda data, at: array(data, at, item_form.load),
    )


TEXTS: Final = array_form(TEXT)
NAMES: Final[Form[frozenset[str]]] = Form(
    lambda names: TEXTS.dump(tuple(sorted(names))), lambda data, at: frozenset(TEXTS.load(data, at))
)
"""Texts without order, which are sorted."""


def enum_form(kind: type[E]) -> Form[E]:
    """The form of an enumeration's member: its value as text."""
    return Form(str, partial(member, kind))


NOTHING: Final[Mapping[str, Any]] = {}
"""What a reader knows who knows no part of a value beforehand."""


def mapping_form(item_form: Form[T] | Record[T]) -> Form[Mapping[str, T]]:
    """The form of a mapping: a JSON object whose values are in `item_form`. If the reader knows
    parts of some values, they are passed on to `item_form` by the value's name.
    """

    def dump(items: Mapping[str, T], known_parts: Mapping[str, Any] = NOTHING) -> Plain:
        """The JSON object of a mapping. Raises UsageError for a name that holds surrogates."""
        for name in items:
            if not (name.isascii() or isinstance(dump_text(name), str)):
                raise UsageError(f"column name {name!r} holds surrogates")
        return {
            name: item_form.dump(item, known_parts[name])
            if name in known_parts
            else item_form.dump(item)
            for name, item in items.items()
        }

    def load(data: Plain, at: str, known_parts: Mapping[str, Any] = NOTHING) -> Mapping[str, T]:
        """The mapping of a JSON object at the path `at`. Raises Malformed."""
        items: dict[str, T] = {}
        for name, item in mapping(data, at).items():
            if name in known_parts:
                items[name] = item_form.load(item, path(at, name), known_parts[name])
            else:
                items[name] = item_form.load(item, path(at, name))
        return items

    return Form(dump, load, takes_known=True)


class Record(Generic[T]):
    """The form of a dataclass: a JSON object of the fields in `forms`, in that order.

    A field at its default value is left out unless it is in `needed` or `always_dumped`. When read,
    a field may be missing if it has a default, is not in `needed`, or is known to the reader. Both
    methods take `known_parts`, which has what the reader knows already, by field: a field's value,
    or, if the field's form itself takes such knowledge (`Form.takes_known`), what that form gets.
    """

    def __init__(
        self,
        kind: Callable[..., T],
        forms: Mapping[str, Form[Any] | Record[Any]],
        needed: Sequence[str] = (),
        always_dumped: Sequence[str] = (),
    ) -> None:
        fields = dataclasses.fields(kind)  # type: ignore[arg-type]
        defaults = {field.name: field.default for field in fields if field.default is not MISSING}
        self._kind, self._forms = kind, forms
        self._required = {name for name in forms if name in needed or name not in defaults}
        self._nullable = {name for name in forms if defaults.get(name, MISSING) is None}
        self._takes_known = {
            name
            for name, field_form in forms.items()
            if isinstance(field_form, Form) and field_form.takes_known
        }
        omitted = {
            name: (value,)
            for name, value in defaults.items()
            if name not in (*needed, *always_dumped)
        }
        self._steps = [
            (name, field_form.dump, omitted.get(name, ())) for name, field_form in forms.items()
        ]

    def dump(self, value: T, known_parts: Mapping[str, Any] = NOTHING) -> dict[str, Plain]:
        """The JSON object of a value, without fields at an omitted default. `known_parts` is what
        the reader knows already, by field: a field that equals it is left out; a field whose form
        takes such knowledge is written without it.
        """
        plain: dict[str, Plain] = {}
        for name, dump, omitted in self._steps:
            part = getattr(value, name)
            # Most are the very object in `omitted`, which `in` finds before it compares by value.
            if part in omitted:
                continue
            if part is None:
                plain[name] = None
            elif name not in known_parts:
                plain[name] = dump(part)
            elif name in self._takes_known:
                plain[name] = dump(part, known_parts[name])
            elif part is not known_parts[name] and part != known_parts[name]:
                plain[name] = dump(part)
        return plain

    def load(self, data: Plain, at: str = "", known_parts: Mapping[str, Any] = NOTHING) -> T:
        """The dataclass of a JSON object that `dump` made. `known_parts` has values of fields that
        the caller knows and the JSON lacks; a field that takes such knowledge itself gets its part.
        Raises Malformed.
        """
        members = fields(data, at, self._forms.keys())
        parts = {name: part for name, part in known_parts.items() if name not in self._takes_known}
        for name, field_form in self._forms.items():
            if name in members:
                part = members[name]
                if part is None and name in self._nullable:
                    parts[name] = None
                elif name in self._takes_known and name in known_parts:
                    parts[name] = field_form.load(part, path(at, name), known_parts[name])
                else:
                    parts[name] = field_form.load(part, path(at, name))
            elif name not in parts and name in self._required:
                raise Malformed(path(at, name), "missing")
        return self._kind(**parts)
