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
class Remains:
    """What is left of a message, and why: for UNREADABLE and DOUBTFUL the fault's tag
    (`truncated`), else "".
    """

    state: State
    reason: str = ""


Oracle = Callable[[bytes | None], Remains]
"""A function that says what can be read of a message's value."""

READABLE: Final = Remains(State.READABLE)
"""The message is well-formed: nothing of it is lost."""
NULL: Final = Remains(State.DOUBTFUL, "null")
"""There is no value at all: in some formats a tombstone, a record for log compaction."""

_EMPTY: Final = Remains(State.UNREADABLE, "empty")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_ESCAPED_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_BOM: Final = "\ufeff"


class _DuplicateName(Exception):
    """An object has a name twice."""


def _refuse(name: str) -> NoReturn:
    """Refuses NaN and the infinities, which Python's JSON parser would read. Raises
    JSONDecodeError.
    """
    raise json.JSONDecodeError(f"{name} is no JSON", "", 0)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a parsed JSON object. Raises _DuplicateName if a name occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateName
    return members


# Numbers stay texts: Python's int refuses more than 4,300 digits, and no number is too large for
# RFC 8259 (6).
_LOOSE: Final = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, parse_constant=_refuse
)
"""A parser that also takes raw control characters in strings."""
_STRICT: Final = json.JSONDecoder(parse_int=str, parse_float=str)
"""A parser that refuses raw control characters in strings."""
_ONCE: Final = json.JSONDecoder(
    strict=False, parse_int=str, parse_float=str, object_pairs_hook=_refuse_duplicates
)
"""A parser that raises _DuplicateName if an object has a name twice."""


def json_remains(value: bytes | None) -> Remains:
    """What can be read of a value that should be one JSON object: readable, doubtful or unreadable,
    and why; NULL for no value.
    """
    if value is None:
        return NULL
    try:
        document = orjson.loads(value)
    except orjson.JSONDecodeError:
        return _classify_refused(value)
    if type(document) is not dict:
        return _container_remains(document)
    try:
        # A document that is the same when it is printed again has no name twice; most need no
        # closer look.
        if _print_shortest(document) != value:
            _ONCE.decode(value.decode())
    except _DuplicateName:
        return Remains(State.DOUBTFUL, "duplicate-key")
    except RecursionError:
        pass
    return READABLE


def _container_remains(document: object) -> Remains:
    """What can be read of a JSON document that is no object: an array of one object is doubtful,
    everything else unreadable.
    """
    if type(document) is list and len(document) == 1 and type(document[0]) is dict:
        return Remains(State.DOUBTFUL, "wrapped")
    return Remains(State.UNREADABLE, "wrong-container")


def _print_shortest(document: object) -> bytes | None:
    """A document's shortest form; None for one too deep to be printed."""
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError:
        return None


def _classify_refused(value: bytes) -> Remains:
    """What can be read of JSON that the fast parser orjson refuses: it is broken, doubtful, or
    merely deeper or with larger numbers than orjson takes.
    """
    doubts = []
    try:
        json_text = value.decode()
    except UnicodeDecodeError:
        doubts.append("invalid-utf-8")
        json_text = value.decode("utf-8", "replace")
    if json_text.startswith(_BOM):
        doubts.append("bom")
        json_text = json_text[1:]
    start = _end_of_space(json_text, 0)
    if start == len(json_text):
        return _EMPTY
    try:
        document, end = _LOOSE.raw_decode(json_text, start)
        is_object = type(document) is dict
        container_state = _container_remains(document)
    except json.JSONDecodeError as error:
        return Remains(
            State.UNREADABLE, "truncated" if _is_truncated(json_text, error) else "syntax"
        )
    except RecursionError:
        deep_end = _end_of_deep_value(json_text, start)
        if isinstance(deep_end, str):
            return Remains(State.UNREADABLE, deep_end)
        is_object = json_text[start] == "{"
        container_state = _container_remains(None)
        end = deep_end
    rest_start = _end_of_space(json_text, end)
    if rest_start < len(json_text):
        return Remains(
            State.UNREADABLE,
            "second-document" if json_text[rest_start] in "{[" else "trailing-content",
        )
    if not is_object:
        return container_state
    if _CONTROL.search(json_text) and _has_raw_control(json_text, start):
        doubts.append("raw-control")
    if not doubts and _ESCAPED_SURROGATE.search(json_text):
        doubts.append("lone-surrogate")
    return Remains(State.DOUBTFUL, doubts[0]) if doubts else READABLE


def _end_of_space(json_text: str, start: int) -> int:
    """Where JSON's white space that begins at `start` ends."""
    match = _SPACE.match(json_text, start)
    return match.end() if match else start


def _has_raw_control(json_text: str, start: int) -> bool:
    """Whether a control character stands in a string, not in the white space between tokens."""
    try:
        _STRICT.raw_decode(json_text, start)
    except json.JSONDecodeError:
        return True
    except RecursionError:
        return any(_CONTROL.search(token) for token in _STRING.findall(json_text))
    return False


def _is_truncated(json_text: str, error: json.JSONDecodeError) -> bool:
    """Whether Python's JSON parser failed because the text ends too early: behind the error there
    is only the token that the error names.
    """
    return error.msg.startswith("Unterminated string") or error.pos >= len(
        json_text.rstrip(" \t\n\r")
    )


_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_TOKEN: Final = re.compile(
    r'[ \t\n\r]*+(?:(?P<text>"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?P<bare>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]+)?'
    r"(?:[eE][-+]?[0-9]+)?|true|false|null)|(?P<mark>[\[\]{},:]))",
    re.DOTALL,
)
# Runs of nesting, matched at once: a message may nest a million deep.
_OPENING: Final = re.compile(r'(?:\[|\{"[a-z]*":)+')
_NAMES: Final = b'":abcdefghijklmnopqrstuvwxyz'
"""What an opening of `_OPENING` has beside its brackets."""
_CLOSING: Final = re.compile(r"[\]}]+")
_PAIRS: Final = str.maketrans("]}", "[{")
"""The opening bracket of each closing one."""


def _end_of_deep_value(json_text: str, start: int) -> int | str:
    """The end of the JSON value that begins at `start`, or the tag of its fault as a text:
    `truncated` or `syntax`. Unlike a recursive parser it takes values of any depth, since it keeps
    its own stack. `expected` is what the grammar has next, `after` what may follow a value.
    """
    open_containers: list[str] = []
    expected, position = "value", start
    while True:
        if expected in ("value", "value or ]") and (run := _OPENING.match(json_text, position)):
            open_containers += run.group().encode().translate(None, _NAMES).decode()
            expected, position = ("value or ]" if run.group().endswith("[") else "value"), run.end()
        token = _TOKEN.match(json_text, position)
        if token is None:
            unread_text = json_text[_end_of_space(json_text, position) :]
            return (
                "truncated"
                if not unread_text or (unread_text[0] == '"' and not _STRING.match(unread_text))
                else "syntax"
            )
        position, mark = token.end(), token["mark"]
        kind = mark or ("text" if token["text"] is not None else "bare")
        if kind in ("text", "bare") and expected in ("value", "value or ]"):
            expected = "after"
        elif kind == "text" and expected in ("name", "name or }"):
            expected = ":"
            continue
        elif mark == ":" and expected == ":":
            expected = "value"
            continue
        elif mark in ("[", "{") and expected in ("value", "value or ]"):
            open_containers.append(mark)
            expected = "value or ]" if mark == "[" else "name or }"
            continue
        elif mark == "," and expected == "after":
            expected = "value" if open_containers[-1] == "[" else "name"
            continue
        elif (
            mark == "]" and expected in ("after", "value or ]") and open_containers[-1] == "["
        ) or (mark == "}" and expected in ("after", "name or }") and open_containers[-1] == "{"):
            open_containers.pop()
            expected = "after"
        else:
            return "syntax"
        if open_containers and (run := _CLOSING.match(json_text, position)):
            marks = run.group()[: len(open_containers)].translate(_PAIRS)
            if open_containers[-len(marks) :][::-1] != list(marks):
                return "syntax"
            del open_containers[-len(marks) :]
            position += len(marks)
        if not open_containers:
            return position


def avro_remains(schemas: Sequence[Any]) -> Oracle:
    """The function that says what can be read of a value of raw Avro, by the schema of `schemas`
    that reads most of it. Fastavro is the reader.
    """
    import fastavro

    parsed = [fastavro.parse_schema(physical(schema)) for schema in schemas]

    def attempt(value: bytes, schema: Any, unicode_errors: str) -> Remains:
        """What can be read of the bytes by one Avro schema. `unicode_errors` is Python's way to
        handle text that is no UTF-8 (`strict` or `replace`).
        """
        source = io.BytesIO(value)
        try:
            fastavro.schemaless_reader(source, schema, None, handle_unicode_errors=unicode_errors)
        except UnicodeDecodeError:
            replaced = attempt(value, schema, unicode_errors="replace")
            return (
                Remains(State.DOUBTFUL, "invalid-utf-8")
                if replaced.state is State.READABLE
                else replaced
            )
        except EOFError:
            return Remains(State.UNREADABLE, "truncated")
        # The library raises any exception on bytes that are no Avro.
        except Exception:  # noqa: BLE001
            return Remains(State.UNREADABLE, "syntax")
        return (
            READABLE
            if source.tell() == len(value)
            else Remains(State.UNREADABLE, "trailing-content")
        )

    def read_avro(value: bytes | None) -> Remains:
        """What can be read of a value of raw Avro, or of none, by the schema that reads most of
        it.
        """
        if value is None:
            return NULL
        if not value:
            return _EMPTY
        outcome = best_outcome(value)
        if outcome.state is State.UNREADABLE and _TOO_LONG.search(value):
            narrowed = _TOO_LONG.sub(
                lambda number: number[1] + bytes((number[2][0] & 0x0F,)), value
            )
            if best_outcome(narrowed).state is not State.UNREADABLE:
                return Remains(State.DOUBTFUL, "overlong-number")
        return outcome

    def best_outcome(value: bytes) -> Remains:
        """What can be read of a raw Avro value by the one of the `parsed` schemas that reads most
        of it.
        """
        return min(
            (attempt(value, schema, unicode_errors="strict") for schema in parsed),
            key=lambda outcome: _WORSE[outcome.state],
        )

    return read_avro


# An int has 32 bits, and the fifth byte of its encoding room for three more. The specification
# ("Binary encoding", int and long) does not say what a reader does with them; Avro's own for Java
# drops them, so that 80 80 80 80 10 is the branch or symbol 0.
_TOO_LONG: Final = re.compile(rb"([\x80-\xff]{4})([\x10-\x7f])", re.DOTALL)


_WORSE: Final = {State.READABLE: 0, State.DOUBTFUL: 1, State.UNREADABLE: 2}
"""The rank of each state, the best first."""


def physical(schema: Any) -> Any:
    """An Avro schema without its logical types. A time beyond a day, say, is then a well-formed
    number of the type below it.
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


def packed_remains(read_plain: Oracle, compression: str) -> Oracle:
    """The function that decompresses a whole value (snappy block, LZ4 frame) and asks `read_plain`
    what can be read of it. Raises ValueError for another compression.
    """
    import cramjam

    decompressors: dict[str, Callable[[bytes], Any]] = {
        "snappy": _snappy,
        "lz4": cramjam.lz4.decompress,
    }
    if compression not in decompressors:
        raise ValueError(f"compression {compression!r}: {', '.join(decompressors)}")
    decompress = decompressors[compression]

    def read_packed(value: bytes | None) -> Remains:
        """What can be read of a compressed value: the answer of `read_plain` for the decompressed
        bytes, or unreadable if they cannot be decompressed.
        """
        if value is None:
            return NULL
        if not value:
            return _EMPTY
        try:
            plain = bytes(decompress(value))
        except (cramjam.DecompressionError, ValueError, OverflowError, MemoryError):
            return Remains(State.UNREADABLE, "packing")
        return read_plain(plain)

    return read_packed


def _snappy(value: bytes) -> Any:
    """The decompressed bytes of a snappy block. Raises ValueError, before memory is taken, if the
    block announces more than UNDO_LIMIT.
    """
    import cramjam

    if cramjam.snappy.decompress_raw_len(value) > UNDO_LIMIT:
        raise ValueError("the block announces more than the limit")
    return cramjam.snappy.decompress_raw(value)
