"""Alterations of honest messages: edits of a JSON or Avro document, other spellings of a JSON text, and changes of the record."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import orjson

from conformance.selftest.lies.lie import Alter
from generators.families.avro import Encoder, Schema
from generators.model import Message

Edit: TypeAlias = Callable[[Any], Any]
"""A pure function of a document or a part of it, which gives the same object where there is nothing to change."""

EACH: Final = "*"
"""In a path: every member or element."""


def in_json(*edits: Edit) -> Alter:
    """The edits of a value in JSON, one after the other."""
    return _rewritten(_read_json, orjson.dumps, edits)


def in_avro(schema: Schema, *edits: Edit) -> Alter:
    """The edits of a value that is one record of the schema. A branch of a union with a name is (name, value)."""
    encoder = Encoder(schema)
    return _rewritten(lambda value: encoder.read(value)[0], encoder, edits)


def _rewritten(read: Callable[[bytes], Any], write: Callable[[Any], bytes], edits: tuple[Edit, ...]) -> Alter:
    def alter(message: Message) -> Message:
        if message.value is None:
            return message
        honest = told = read(message.value)
        for edit in edits:
            told = edit(told)
        return message if told is honest else replace(message, value=write(told))

    return alter


def _read_json(value: bytes) -> Any:
    """The document, with numbers that Python would print otherwise as their text."""
    return json.loads(value, parse_float=orjson.Fragment, parse_int=_integer, strict=False)


def _integer(text: str) -> Any:
    return int(text) if len(text) < 19 and text != "-0" else orjson.Fragment(text)


def at(change: Edit, *path: str | int) -> Edit:
    """A change of the part at a path of names, numbers and EACH; no change where there is no such part."""
    if not path:
        return change
    step, inner = path[0], at(change, *path[1:])

    def edit(part: Any) -> Any:
        match part:
            case tuple():
                return _kept(part, (part[0], edit(part[1])))
            case dict():
                return _kept(part, {name: inner(value) if step in (name, EACH) else value for name, value in part.items()})
            case list():
                return _kept(part, [inner(value) if step in (i, EACH) else value for i, value in enumerate(part)])
        return part

    return edit


def _kept(old: Any, new: Any) -> Any:
    pairs = zip(old.values(), new.values(), strict=True) if isinstance(old, dict) else zip(old, new, strict=True)
    return old if all(a is b for a, b in pairs) else new


def put(value: Any, *path: str | int) -> Edit:
    """Another value for a member or an element that is there."""
    return at(lambda _old: value, *path)


def shift(by: int, *path: str | int) -> Edit:
    """A number that is off by so much."""
    return at(lambda number: number + by, *path)


def drop(name: str, *path: str | int) -> Edit:
    """The object at the path without a member."""
    return at(lambda part: {n: v for n, v in part.items() if n != name} if name in part else part, *path)


def swap(one: str, other: str, *path: str | int) -> Edit:
    """The object at the path with the values of two members exchanged."""
    return at(lambda part: part | {one: part[other], other: part[one]} if {one, other} <= part.keys() else part, *path)


def backwards(*path: str | int) -> Edit:
    """The members or elements at the path, the last one first."""

    def turned(part: Any) -> Any:
        if isinstance(part, dict):
            return dict(reversed(part.items()))
        return part[::-1] if isinstance(part, list) else part

    return at(turned, *path)


def respelled(spellings: Mapping[str, str]) -> Alter:
    """A JSON text with other spellings: an escape for an escape or for a character, or the other way round."""
    plain = re.escape("".join(name for name in spellings if len(name) == 1))
    token = re.compile(rf"\\u[0-9A-Fa-f]{{4}}|\\.{f'|[{plain}]' if plain else ''}")

    def alter(message: Message) -> Message:
        if message.value is None:
            return message
        text = token.sub(lambda found: spellings.get(found[0], found[0]), message.value.decode())
        return replace(message, value=text.encode())

    return alter


def placed(partition: int) -> Alter:
    """The message in that partition."""
    return lambda message: replace(message, partition=partition)


def without_headers(*names: str) -> Alter:
    """The message without the headers of these names."""
    return lambda message: replace(message, headers=tuple(h for h in message.headers if h[0] not in names))
