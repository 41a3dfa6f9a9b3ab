"""Whether bytes are one well-formed message of a container, by readers independent of Spark.

JSON by RFC 8259: one object, UTF-8, nothing behind it. What the RFC forbids or leaves open and
common parsers read is DOUBTFUL, as the UNSPECIFIED faults are (`faults`). Avro by the schema that
the writer's vendor publishes: one record, all bytes.
"""

from __future__ import annotations

import enum
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import orjson

UNDO_LIMIT: Final = 256 << 20
"""Largest size of a decompressed message, in bytes."""


class State(enum.StrEnum):
    """What is left of a message."""

    READABLE = "readable"
    UNREADABLE = "unreadable"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of a message, and why: for UNREADABLE and DOUBTFUL the fault's tag
    (`truncated`), else "".
    """

    state: State
    reason: str = ""


Oracle = Callable[[bytes | None], Left]

READABLE: Final = Left(State.READABLE)
NULL: Final = Left(State.DOUBTFUL, "null")
"""No value at all: a tombstone where the format has one."""

_EMPTY: Final = Left(State.UNREADABLE, "empty")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BOM: Final = "\ufeff"


class _Doubled(Exception):
    """An object has a name twice."""


def _refuse(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no JSON", "", 0)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Doubled
    return members


# Numbers stay texts: Python's int refuses more than 4,300 digits, and no number is too large for
# RFC 8259 (6).
_LOOSE: Final = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, parse_constant=_refuse
)
_STRICT: Final = json.JSONDecoder(parse_int=str, parse_float=str)
_ONCE: Final = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, object_pairs_hook=_once
)


def json_left(value: bytes | None) -> Left:
    """What is left of a message in JSON."""
    if value is None:
        return NULL
    try:
        document = orjson.loads(value)
    except orjson.JSONDecodeError:
        return _second_look(value)
    if type(document) is not dict:
        return _container(document)
    try:
        # A document that is as long when it is printed again has no name twice; most need no closer
        # look.
        if _printed(document) != len(value):
            _ONCE.decode(value.decode())
    except _Doubled:
        return Left(State.DOUBTFUL, "duplicate-key")
    except RecursionError:
        pass
    return READABLE


def _container(document: object) -> Left:
    """What is left of a document that is no object; an array of one object counts as that
    object.
    """
    if type(document) is list and len(document) == 1 and type(document[0]) is dict:
        return Left(State.DOUBTFUL, "wrapped")
    return Left(State.UNREADABLE, "wrong-container")


def _printed(document: object) -> int:
    """The length of a document's shortest form; -1 for a document too deep to be printed."""
    try:
        return len(orjson.dumps(document))
    except orjson.JSONEncodeError:
        return -1


def _second_look(value: bytes) -> Left:
    """Classifies what orjson refuses: broken, doubtful, or merely beyond its limits of depth and of
    numbers.
    """
    doubts = []
    try:
        text = value.decode()
    except UnicodeDecodeError:
        doubts.append("invalid-utf-8")
        text = value.decode("utf-8", "replace")
    if text.startswith(_BOM):
        doubts.append("bom")
        text = text[1:]
    start = _end_of_space(text, 0)
    if start == len(text):
        return _EMPTY
    try:
        document, end = _LOOSE.raw_decode(text, start)
        is_object = type(document) is dict
        held = _container(document)
    except json.JSONDecodeError as error:
        return Left(State.UNREADABLE, "truncated" if _is_cut(text, error) else "syntax")
    except RecursionError:
        deep = _deep(text, start)
        if isinstance(deep, str):
            return Left(State.UNREADABLE, deep)
        is_object, held, end = text[start] == "{", _container(None), deep
    rest = _end_of_space(text, end)
    if rest < len(text):
        return Left(
            State.UNREADABLE, "second-document" if text[rest] in "{[" else "trailing-content"
        )
    if not is_object:
        return held
    if _CONTROL.search(text) and _has_raw_control(text, start):
        doubts.append("raw-control")
    if not doubts and _ESCAPED_SURROGATE.search(text):
        doubts.append("lone-surrogate")
    return Left(State.DOUBTFUL, doubts[0]) if doubts else READABLE


def _end_of_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _has_raw_control(text: str, start: int) -> bool:
    """Whether a control character stands in a string, not in the white space between tokens."""
    try:
        _STRICT.raw_decode(text, start)
    except json.JSONDecodeError:
        return True
    except RecursionError:
        return any(_CONTROL.search(token) for token in _STRING.findall(text))
    return False


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the error is the end of the text: behind it is only the token that the error
    names.
    """
    return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip(" \t\n\r"))


_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_TOKEN: Final = re.compile(
    r'[ \t\n\r]*+(?:(?P<text>"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")|(?P<bare>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]+)?'
    r"(?:[eE][-+]?[0-9]+)?|true|false|null)|(?P<mark>[\[\]{},:]))",
    re.DOTALL,
)
# Runs of nesting, matched at once: a message may nest a million deep. Behind a possessive group the
# first releases of Python 3.11 lose their place.
_OPENING: Final = re.compile(r'(?:\[|\{"[a-z]*":)+')
_NAMES: Final = b'":abcdefghijklmnopqrstuvwxyz'
_CLOSING: Final = re.compile(r"[\]}]+")
_PAIRS: Final = str.maketrans("]}", "[{")


def _deep(text: str, start: int) -> int | str:
    """The end of the value that begins at `start`, or its fault; of any depth, since it keeps its
    own stack.
    """
    open_: list[str] = []
    wanted, place = "value", start
    while True:
        if wanted in ("value", "value or ]") and (run := _OPENING.match(text, place)):
            open_ += run.group().encode().translate(None, _NAMES).decode()
            wanted, place = ("value or ]" if run.group().endswith("[") else "value"), run.end()
        token = _TOKEN.match(text, place)
        if token is None:
            rest = text[_end_of_space(text, place) :]
            return (
                "truncated"
                if not rest or (rest[0] == '"' and not _STRING.match(rest))
                else "syntax"
            )
        place, mark = token.end(), token["mark"]
        kind = mark or ("text" if token["text"] is not None else "bare")
        if kind in ("text", "bare") and wanted in ("value", "value or ]"):
            wanted = "after"
        elif kind == "text" and wanted in ("name", "name or }"):
            wanted = ":"
            continue
        elif mark == ":" and wanted == ":":
            wanted = "value"
            continue
        elif mark in ("[", "{") and wanted in ("value", "value or ]"):
            open_.append(mark)
            wanted = "value or ]" if mark == "[" else "name or }"
            continue
        elif mark == "," and wanted == "after":
            wanted = "value" if open_[-1] == "[" else "name"
            continue
        elif (mark == "]" and wanted in ("after", "value or ]") and open_[-1] == "[") or (
            mark == "}" and wanted in ("after", "name or }") and open_[-1] == "{"
        ):
            open_.pop()
            wanted = "after"
        else:
            return "syntax"
        if open_ and (run := _CLOSING.match(text, place)):
            marks = run.group()[: len(open_)].translate(_PAIRS)
            if open_[-len(marks) :][::-1] != list(marks):
                return "syntax"
            del open_[-len(marks) :]
            place += len(marks)
        if not open_:
            return place


def avro_left(schemas: Sequence[Any]) -> Oracle:
    """The oracle of raw Avro records of any of these schemas, read by fastavro."""
    import fastavro

    parsed = [fastavro.parse_schema(physical(schema)) for schema in schemas]

    def attempt(value: bytes, schema: Any, errors: str) -> Left:
        source = io.BytesIO(value)
        try:
            fastavro.schemaless_reader(source, schema, None, handle_unicode_errors=errors)
        except UnicodeDecodeError:
            loose = attempt(value, schema, "replace")
            return Left(State.DOUBTFUL, "invalid-utf-8") if loose.state is State.READABLE else loose
        except EOFError:
            return Left(State.UNREADABLE, "truncated")
        # The library raises any exception on bytes that are no Avro.
        except Exception:  # noqa: BLE001
            return Left(State.UNREADABLE, "syntax")
        return (
            READABLE if source.tell() == len(value) else Left(State.UNREADABLE, "trailing-content")
        )

    def left(value: bytes | None) -> Left:
        if value is None:
            return NULL
        if not value:
            return _EMPTY
        outcome = best(value)
        if outcome.state is State.UNREADABLE and _TOO_LONG.search(value):
            narrowed = _TOO_LONG.sub(
                lambda number: number[1] + bytes((number[2][0] & 0x0F,)), value
            )
            if best(narrowed).state is not State.UNREADABLE:
                return Left(State.DOUBTFUL, "overlong-number")
        return outcome

    def best(value: bytes) -> Left:
        return min(
            (attempt(value, schema, "strict") for schema in parsed),
            key=lambda outcome: _WORSE[outcome.state],
        )

    return left


# An int has 32 bits, and the fifth byte of its encoding room for three more. The specification
# ("Binary encoding", int and long) does not say what a reader does with them; Avro's own for Java
# drops them, so that 80 80 80 80 10 is the branch or symbol 0.
_TOO_LONG: Final = re.compile(rb"([\x80-\xff]{4})([\x10-\x7f])", re.DOTALL)


_WORSE: Final = {State.READABLE: 0, State.DOUBTFUL: 1, State.UNREADABLE: 2}


def physical(schema: Any) -> Any:
    """The schema without logical types: a time outside the day is well-formed data of the type
    below it.
    """
    match schema:
        case dict():
            return {
                name: physical(part)
                for name, part in schema.items()
                if name not in ("logicalType", "default")
            }
        case list():
            return [physical(part) for part in schema]
    return schema


def packed_left(inner: Oracle, compression: str) -> Oracle:
    """The oracle of values compressed as a whole (snappy blocks, LZ4 frames). Raises ValueError for
    another compression.
    """
    import cramjam

    undo: dict[str, Callable[[bytes], Any]] = {"snappy": _snappy, "lz4": cramjam.lz4.decompress}
    if compression not in undo:
        raise ValueError(f"compression {compression!r}: {', '.join(undo)}")
    decompress = undo[compression]

    def left(value: bytes | None) -> Left:
        if value is None:
            return NULL
        if not value:
            return _EMPTY
        try:
            plain = bytes(decompress(value))
        except (cramjam.DecompressionError, ValueError, OverflowError, MemoryError):
            return Left(State.UNREADABLE, "packing")
        return inner(plain)

    return left


def _snappy(value: bytes) -> Any:
    import cramjam

    if cramjam.snappy.decompress_raw_len(value) > UNDO_LIMIT:
        raise ValueError("the block announces more than the limit")
    return cramjam.snappy.decompress_raw(value)
