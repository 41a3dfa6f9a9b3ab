"""Messages of one kind as byte templates, learned from a writer and checked against it.

A writer makes a few thousand messages a second, load wants a hundred thousand. Most bytes of a load message are the same every
time; this module writes one message with values that are unmistakable, finds where they and the commit time stand, and then fills
in others. It knows no format: what it cannot prove to be what the writer writes, it refuses to learn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, TypeAlias

from generators import mysql
from generators.model import Instant, Logical, Message, SourceType, Value

Write: TypeAlias = Callable[[Instant, Mapping[str, Value]], Message]
"""Writes the one message of a kind, for a commit time and values by slot. Raises NotLearned for more or fewer than one."""

_DIGITS: Final = re.compile(rb"(\d{10,})")


class NotLearned(Exception):
    """The writer does something that templates cannot follow; the caller writes every message instead."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """A number that stands for the commit time: TiDB's timestamp, or milliseconds cut to `unit` plus `delta`."""

    tso: bool = False
    unit: int = 1
    delta: int = 0

    def at(self, ms: int, seq: int) -> int:
        """The number for a commit."""
        return ms << 18 | seq if self.tso else ms - ms % self.unit + self.delta


@dataclass(frozen=True, slots=True)
class Part:
    """A message's key or value: `pattern % pick(fragments)`, or `constant` when nothing is filled in."""

    pattern: bytes
    fields: tuple[int, ...]
    constant: bytes | None

    def fill(self, fragments: list[bytes]) -> bytes | None:
        """The bytes for these fragments: those of the slots in order, then those of the stamps."""
        return self.constant if not self.fields else self.pattern % tuple(fragments[i] for i in self.fields)


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of message. Fields are numbers of slots, then of `stamps`; `pick` takes those of the value from the fragments.

    `timestamp` is the record's, None when it is always that of `sample`.
    """

    key: Part
    value: Part
    pick: Callable[[list[bytes]], tuple[bytes, ...]]
    stamps: tuple[Stamp, ...]
    timestamp: Stamp | None
    sample: Message


def learn(write: Write, sentinels: Mapping[str, tuple[SourceType, Value]]) -> tuple[Template, list[bytes]]:
    """The template of the messages that `write` makes, and the text of each sentinel. Raises NotLearned.

    Sentinels are values by slot, each of whose texts stands nowhere else in a message.
    """
    one, two = Instant(1_893_456_781_234, 77), Instant(1_907_654_321_987, 201)
    values = {name: value for name, (_, value) in sentinels.items()}
    first, second = write(one, values), write(two, values)
    texts = [_sentinel_text(first.value or b"", kind, value) for kind, value in sentinels.values()]
    stamps: list[Stamp] = []
    key, value = (_part(a, b, texts, one, two, stamps) for a, b in ((first.key, second.key), (first.value, second.value)))
    if (first.topic, first.headers, first.event) != (second.topic, second.headers, second.event) or len(value.fields) < 2:
        raise NotLearned("topic, headers or event differ, or the value holds no slots")
    timestamp = None
    if first.timestamp_ms != second.timestamp_ms:
        timestamp = _stamp(first.timestamp_ms, second.timestamp_ms, one, two)
    return Template(key, value, itemgetter(*value.fields), tuple(stamps), timestamp, first), texts


def _sentinel_text(value: bytes, kind: SourceType, sentinel: Value) -> bytes:
    text = (
        mysql.datetime_text(sentinel, kind.fsp)
        if kind.logical is Logical.DATETIME and isinstance(sentinel, int)
        else str(sentinel)
    )
    # With its quotes, since NULL has none. A slot that the message does not carry stays without a field.
    return f'"{text}"'.encode() if f'"{text}"'.encode() in value else text.encode()


def _part(one: bytes | None, two: bytes | None, texts: list[bytes], at: Instant, later: Instant, stamps: list[Stamp]) -> Part:
    if one == two and not any(text in (one or b"") for text in texts):
        return Part(b"", (), one)
    if one is None or two is None:
        raise NotLearned("null here, bytes there")
    finder = re.compile(b"(" + b"|".join(map(re.escape, texts)) + b")")
    pattern, fields = b"", list[int]()
    here, there = finder.split(one), finder.split(two)
    if len(here) != len(there):
        raise NotLearned("slots move with the time")
    for i, (a, b) in enumerate(zip(here, there, strict=True)):
        if i % 2:
            if a != b:
                raise NotLearned("slots move with the time")
            pattern += b"%b"
            fields.append(texts.index(a))
            continue
        mine, theirs = _DIGITS.split(a), _DIGITS.split(b)
        if len(mine) != len(theirs):
            raise NotLearned("numbers come and go with the time")
        for j, (x, y) in enumerate(zip(mine, theirs, strict=True)):
            if x == y:
                pattern += x.replace(b"%", b"%%")
            elif j % 2:
                stamp = _stamp(int(x), int(y), at, later)
                if stamp not in stamps:
                    stamps.append(stamp)
                pattern += b"%b"
                fields.append(len(texts) + stamps.index(stamp))
            else:
                raise NotLearned("something but numbers differs with the time")
    return Part(pattern, tuple(fields), None)


def _stamp(x: int, y: int, at: Instant, later: Instant) -> Stamp:
    for stamp in (Stamp(tso=True), Stamp(delta=x - at.ms), Stamp(unit=1000, delta=x - at.ms // 1000 * 1000)):
        if (x, y) == (stamp.at(at.ms, at.seq), stamp.at(later.ms, later.seq)):
            return stamp
    raise NotLearned(f"{x} and {y} are no known function of the time")


def fragment(template: Template, texts: list[bytes], slot: int, message: Message, at: Instant) -> bytes:
    """The text of a slot's value in a message that has the sentinels everywhere else. Raises NotLearned."""
    stamps = [b"%d" % stamp.at(at.ms, at.seq) for stamp in template.stamps]
    value, known = message.value or b"", [*texts, *stamps]
    times = template.value.fields.count(slot)
    surplus = len(value) - len(template.value.fill(known) or b"")
    if not times or surplus % times:
        raise NotLearned(f"slot {slot} is not where it was")
    before = template.value.pattern.split(b"%b")
    place = 0
    for literal, field in zip(before, template.value.fields, strict=False):
        place += len(literal.replace(b"%%", b"%"))
        if field == slot:
            break
        place += len(known[field])
    found = value[place : place + len(texts[slot]) + surplus // times]
    known[slot] = found
    if template.value.fill(known) != value:
        raise NotLearned(f"slot {slot} changes more than its own text")
    return found


def compressor(name: str) -> Callable[[bytes], Any]:
    """Whole-value compression by a deployment's name for it. Raises NotLearned."""
    import cramjam

    match name:
        case "snappy":
            return cramjam.snappy.compress_raw
        case "lz4":
            return cramjam.lz4.compress
    raise NotLearned(f"compression {name}")
