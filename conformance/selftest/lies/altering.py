"""Ways to alter an honest message: edits of a JSON or Avro document, other spellings of a JSON
text, and changes of the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import is_
from typing import Any, Final, TypeAlias

import orjson

from conformance.rules.tables import Legal, check_name
from generators.families.avro import Encoder, Schema
from generators.model import Message
from generators.wire_format import Codec

Alter: TypeAlias = Callable[[Message], Message]
"""What becomes of an honest message: another one, or the same."""
Edit: TypeAlias = Callable[[Any], Any]
"""A pure function of a document or a part of it, which gives the same object where there is nothing
to change.
"""

EACH: Final = "*"
"""In a path: every member or element."""


def in_json(*edits: Edit) -> Alter:
    """A way to alter a message whose value is JSON: its document after the edits, applied in
    order.
    """
    return _rewrite_value(_read_json, orjson.dumps, edits)


def in_avro(schema: Schema, *edits: Edit) -> Alter:
    """A way to alter a message whose value is an Avro record of the schema: its document after the
    edits, applied in order. In the document the value of a union's branch that has a name (a
    record, for example) is the pair of this name and the value.
    """
    # `read` returns the value and the number of its bytes; a message is one value.
    encoder = Encoder(schema)
    return _rewrite_value(lambda value: encoder.read(value)[0], encoder, edits)


def in_document(codec: Codec, *edits: Edit) -> Alter:
    """A way to alter a message whose value the codec reads and writes: its document after the
    edits, applied in order.
    """
    return _rewrite_value(codec.read, codec.write, edits)


def _rewrite_value(
    read: Callable[[bytes], Any], write: Callable[[Any], bytes], edits: tuple[Edit, ...]
) -> Alter:
    """A way to alter a message: its value is read, edited and written again; a message that no edit
    changes stays as it is.
    """

    def alter(message: Message) -> Message:
        """The message with its value read, edited and written again; the same message if it has no
        value or no edit changes it.
        """
        if message.value is None:
            return message
        honest = document = read(message.value)
        for edit in edits:
            document = edit(document)
        return message if document is honest else replace(message, value=write(document))

    return alter


def _read_json(value: bytes) -> Any:
    """Parses a JSON text; numbers that Python would print differently are kept as their text."""
    return json.loads(value, parse_float=orjson.Fragment, parse_int=_parse_integer, strict=False)


def _parse_integer(digits: str) -> Any:
    """Parses a JSON integer. Beyond 64 bits, and for -0, its digits are kept as they are."""
    return int(digits) if len(digits) < 19 and digits != "-0" else orjson.Fragment(digits)


def at(change: Edit, path: str = "") -> Edit:
    """Applies `change` to the part of a document at a path: names, numbers and EACH, with dots
    between. Without such a part nothing changes.
    """
    if not path:
        return change
    step, _, inner_path = path.partition(".")
    inner = at(change, inner_path)

    def edit(part: Any) -> Any:
        """The part with `inner` applied to the members that the first step of the path names; the
        same object if nothing changes. A tuple is a value of a union in Avro: (name of the branch,
        value).
        """
        match part:
            case tuple():
                return _unless_unchanged(part, (part[0], edit(part[1])))
            case dict():
                return _unless_unchanged(
                    part,
                    {
                        name: inner(value) if step in (name, EACH) else value
                        for name, value in part.items()
                    },
                )
            case list():
                return _unless_unchanged(
                    part,
                    [
                        inner(value) if step in (str(i), EACH) else value
                        for i, value in enumerate(part)
                    ],
                )
        return part

    return edit


def _unless_unchanged(old: Any, new: Any) -> Any:
    """Returns `new`, or the object `old` itself if all members of both are identical objects, so
    that the caller sees that an edit changed nothing.
    """
    old_members = old.values() if isinstance(old, dict) else old
    new_members = new.values() if isinstance(new, dict) else new
    is_same = all(map(is_, old_members, new_members))
    return old if is_same else new


def _drop_member(part: Any, name: str) -> Any:
    """The object without a member; the same object if it has none of that name."""
    if name not in part:
        return part
    return {member: value for member, value in part.items() if member != name}


def _swap_members(part: Any, name: str, other_name: str) -> Any:
    """The object with the values of two members exchanged; the same object if it lacks one."""
    if name not in part or other_name not in part:
        return part
    return part | {name: part[other_name], other_name: part[name]}


def _reverse_order(part: Any) -> Any:
    """An object or array with its parts in reverse order; any other value stays."""
    if isinstance(part, dict):
        return dict(reversed(part.items()))
    return part[::-1] if isinstance(part, list) else part


EDITS: Final[Mapping[str, Callable[..., Edit]]] = {
    "put": lambda value, path: at(lambda _old: value, path),
    "null": lambda path: at(lambda _old: None, path),
    "fill": lambda value, path: at(lambda old: value if old is None else old, path),
    "shift": lambda by, path: at(lambda number: number + by, path),
    "times": lambda factor, path: at(lambda number: number * factor, path),
    "over": lambda divisor, path: at(lambda number: number // divisor, path),
    "drop": lambda name, path="": at(lambda part: _drop_member(part, name), path),
    "swap": lambda name, other_name, path="": at(
        lambda part: _swap_members(part, name, other_name), path
    ),
    "backwards": lambda path="": at(_reverse_order, path),
}
"""The edits of a part of a document, whose path comes last: another value, null, a value for null;
a number that is off by so much, multiplied, or divided without a rest; an object without a member,
or with two values exchanged; the last part first.
"""


def respell(spellings: Mapping[str, str]) -> Alter:
    """A way to alter a message: in its JSON text spells an escape as another escape or as its
    character, or a character as an escape.
    """
    characters = re.escape("".join(name for name in spellings if len(name) == 1))
    token = re.compile(rf"\\u[0-9A-Fa-f]{{4}}|\\.{f'|[{characters}]' if characters else ''}")

    def alter(message: Message) -> Message:
        """The message, in whose JSON text each escape or character of `spellings` is spelled the
        other way.
        """
        if message.value is None:
            return message
        json_text = message.value.decode()
        respelled = token.sub(lambda match: spellings.get(match[0], match[0]), json_text)
        return replace(message, value=respelled.encode())

    return alter


_ALWAYS_ESCAPED: Final = {
    c: f"\\u{ord(c):04X}" for c in map(chr, (*range(0x7F, 0xA0), 0x2028, 0x2029))
}
"""Characters that fastjson 1 escapes, with their escapes."""
_FASTJSON_1: Final = {"\\u000b": "\\u000B", "\\u001f": "\\u001F"} | _ALWAYS_ESCAPED
"""How fastjson 1 spells what fastjson2 spells otherwise, by the spelling of fastjson2."""
SPELLINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "html-raw": {"\\u003c": "<", "\\u003e": ">", "\\u0026": "&"},
    "fastjson 1": _FASTJSON_1,
    "fastjson2": {old: new for new, old in _FASTJSON_1.items()},
}
"""HTML's characters without the escapes of Go's encoding/json; a text of fastjson2 2.0.31 as
fastjson 1 spells it, with hexadecimal digits in upper case and characters that fastjson2 does not
escape; and the other way round.
"""


def _drop_headers(*names: str) -> Alter:
    """A way to alter a message: removes its headers of these names."""

    def alter(message: Message) -> Message:
        """The message without its headers of these names."""
        headers = tuple(header for header in message.headers if header[0] not in names)
        return replace(message, headers=headers)

    return alter


def _replace_head(head: str) -> Alter:
    """A way to alter a message: overwrites the first bytes of its value with `head`."""
    first = head.encode("latin-1")
    return lambda message: replace(
        message, value=message.value and first + message.value[len(first) :]
    )


ALTERS: Final[Mapping[str, Callable[..., Alter]]] = {
    "respelled": lambda name: respell(SPELLINGS[check_name(name, "spelling", SPELLINGS)]),
    "partition": lambda number: lambda message: replace(message, partition=number),
    "headers-lost": _drop_headers,
    "key-lost": lambda: lambda message: replace(message, key=None),
    "value-lost": lambda: lambda message: replace(message, value=None),
    "headed": _replace_head,
}
"""The changes of a message: other spellings of its JSON text, another partition, without some
headers, key or value, with these characters in the place of its value's first bytes.
"""
ARGUMENTS: Final[Mapping[str, Legal]] = {
    **dict.fromkeys(("path", "name", "names", "other_name", "head"), str),
    **dict.fromkeys(("by", "factor", "divisor", "number"), int),
    "value": object,
}
"""The legal arguments of EDITS and ALTERS, by the names of parameters."""
