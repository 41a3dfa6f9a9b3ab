"""Garbage: valid messages mutated at random (mutants). Each comes with the name of its mutation,
and with what can still be read in it.

Everything is addressed by position: mutant n of (seed, format, deployment, profiles) is always the
same, so that a finding is a number. A reader independent of Spark decides what can still be read
(`wellformed`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Any, Final, NamedTuple

from generators.bulk import orders
from generators.bulk._random_values import rng
from generators.bulk.templates import compressor
from generators.drawing.cases import LAYOUT, as_case, boundary_scenarios
from generators.errors import UsageError
from generators.garbage.mutating import BYTES, JSON, OPAQUE, Material, parts
from generators.garbage.wellformed import (
    NULL,
    Oracle,
    Remains,
    State,
    avro_remains,
    json_remains,
    packed_remains,
)
from generators.model import Deployment, History, Message
from generators.profiles import Profile
from generators.wire_format import Format, get

__all__ = ["HUGE", "Mutant", "Mutants", "Remains", "State", "by_deployment", "oracle_of"]

LARGEST: Final = 8 << 10
"""Bytes of the largest message that is mutated; a larger one costs a hundred times its size and
shows nothing new.
"""

BASES: Final = 2_000
"""How many messages of the named cases are mutated at most, chosen evenly; without LOADED."""

LOADED: Final = 32
"""How many units of load (changes of the table of orders) give messages to mutate beside those of
the named cases, for each profile.
"""

PACKED_SHARE: Final = 4
"""One in so many mutants of a compressed message is damaged after compression."""

FOREIGN: Final = ("ticdc-canal-json", "debezium-json", "tencent-dts-json", "cloudcanal-json")
"""Formats whose messages arrive as foreign ones. Named one by one: a new format must not change
what a number means.
"""

HUGE_BYTES: Final = 25_000_000
"""More than the 20,000,000 characters that Jackson reads in one string by default
(StreamReadConstraints).
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutated valid message. `way` is the name of the mutation, `remains` what a reader without
    Spark can still read in the message.
    """

    number: int
    way: str
    message: Message
    remains: Remains


def by_deployment(profiles: Sequence[Profile]) -> list[tuple[Profile, ...]]:
    """Groups the profiles that one decode call can serve together: those with the same deployment
    and the same source, in order of first appearance.
    """
    groups: dict[tuple[Deployment, str], list[Profile]] = {}
    for profile in profiles:
        groups.setdefault((profile.deployment, profile.source), []).append(profile)
    return [tuple(group) for group in groups.values()]


def oracle_of(fmt: Format[Any], profile: Profile) -> Oracle:
    """The profile's oracle, the function that says without Spark what can still be read in a
    mutated value: the format's own `oracle`, else one for its container (JSON or Avro). It
    decompresses values first if the profile compresses them. Raises UsageError for a binary format
    that has neither an oracle nor `schemas`.
    """
    reader: Oracle
    if fmt.oracle is not None:
        reader = fmt.oracle
    elif fmt.container != "json":
        schemas = fmt.schemas(profile)
        if not schemas:
            raise UsageError(f"{fmt.name} is in {fmt.container} and names no published schema")
        reader = avro_remains(schemas)
    elif any(kind_row.wire == "the text null" for kind_row in fmt.kinds):
        # In such a format the JSON text `null` is a message.
        reader = _json_or_null_remains
    else:
        reader = json_remains
    packing = profile.deployment.compression
    return reader if packing == "none" else packed_remains(reader, packing)


def _json_or_null_remains(value: bytes | None) -> Remains:
    """What can be read in a value of a JSON format in which the text null is a message."""
    return NULL if value == b"null" else json_remains(value)


class Mutants:
    """The mutants of the profiles' valid messages, by number. The messages to mutate are those that
    the format writes for `histories`; without any, those of the named cases and of some load.
    Raises UsageError if there are no profiles, or if they have several deployments.
    """

    def __init__(
        self,
        fmt: Format[Any],
        profiles: Sequence[Profile],
        seed: int,
        histories: Sequence[History] = (),
    ) -> None:
        if len(by_deployment(profiles)) != 1:
            raise UsageError(
                f"mutants of {fmt.name}: the profiles must have one deployment, and there must be"
                " one at least"
            )
        self._fmt, self._seed, self._stream = fmt, seed, "+".join(p.name for p in profiles)
        self._packing = profiles[0].deployment.compression
        self._compress: Callable[[bytes], Any] = (
            bytes if self._packing == "none" else compressor(self._packing)
        )
        self._oracles = {p.name: oracle_of(fmt, p) for p in profiles}
        self._bases = _bases(fmt, profiles, histories)
        if not self._bases:
            raise UsageError(
                f"{fmt.name}: no message of {', '.join(p.name for p in profiles)} can be mutated"
            )
        self._ways = (*BYTES, *(JSON if fmt.container == "json" else OPAQUE))
        self._weights = tuple(accumulate(way.weight for way in self._ways))
        self._byte_weights = tuple(accumulate(way.weight for way in BYTES))
        self._foreign = _foreign_messages(fmt.name)

    def __len__(self) -> int:
        """The number of valid messages that are mutated. There is no end to the numbers of
        mutants.
        """
        return len(self._bases)

    def __call__(self, number: int) -> Mutant:
        """The mutant of that number: one valid message, changed by one mutation. Raises UsageError
        for a negative number.
        """
        if number < 0:
            raise UsageError(f"mutant {number}: the first is 0")
        chance = rng(self._seed, self._fmt.name, self._stream, f"mutant-{number}")
        profile, message, plain = self._bases[int(chance.random() * len(self._bases))]
        packed = self._packing != "none" and chance.randrange(PACKED_SHARE) == 0
        ways, weights = (BYTES, self._byte_weights) if packed else (self._ways, self._weights)
        way = chance.choices(ways, cum_weights=weights)[0]
        value = way.apply(
            Material(
                chance,
                (message.value or b"") if packed else plain,
                self._message_picker(packed),
                self._foreign,
            )
        )
        if value is not None and not packed and self._packing != "none":
            value = bytes(self._compress(value))
        name = f"packed-{way.name}" if packed else way.name
        return Mutant(number, name, _with_value(message, value), self._oracles[profile](value))

    def _message_picker(self, packed: bool) -> Callable[[random.Random], bytes]:
        """The function that picks another valid message's value for a mutation to mix in: as it was
        sent, compressed, with `packed`, else uncompressed.
        """

        def pick_message(chance: random.Random) -> bytes:
            """The value of any valid message, drawn from `chance`, the mutant's own random stream:
            as it was sent (a null value as no bytes) with `packed`, else uncompressed.
            """
            _, message, plain = self._bases[int(chance.random() * len(self._bases))]
            return (message.value or b"") if packed else plain

        return pick_message

    def mutants_from(self, start: int, count: int) -> Iterator[Mutant]:
        """`count` mutants, from number `start` on."""
        return map(self, range(start, start + count))

    def huge(self) -> Iterator[Mutant]:
        """A few mutants of one message that are 25 MB long before compression, or nested deeper
        than any stack. Their numbers are -1, -2 ..., which no random mutant has.
        """
        profile, message, plain = next(
            (base for base in self._bases if base.plain.startswith(b"{")), self._bases[0]
        )
        for ordinal, (name, make) in enumerate(HUGE[self._fmt.container].items()):
            value = bytes(self._compress(make(plain)))
            yield Mutant(
                -1 - ordinal, name, replace(message, value=value), self._oracles[profile](value)
            )


class _Base(NamedTuple):
    """A valid message to mutate: the name of the profile that wrote it, the message as it is sent,
    and its value before compression.
    """

    profile: str
    message: Message
    plain: bytes


def _bases(
    fmt: Format[Any], profiles: Sequence[Profile], histories: Sequence[History]
) -> list[_Base]:
    """The messages to mutate: what the format's profiles write for `histories`, or, without them,
    for the named cases and some load. Messages with equal values come once.
    """
    bases: dict[bytes, _Base] = {}
    load_bases: dict[bytes, _Base] = {}
    for profile in profiles:
        plain = replace(profile, deployment=replace(profile.deployment, compression="none"))
        compress = (
            None
            if profile.deployment.compression == "none"
            else compressor(profile.deployment.compression)
        )

        def add(to: dict[bytes, _Base], message: Message, name: str, pack: Any) -> None:
            """Adds an uncompressed message of the profile `name` to `to`, the messages to mutate by
            uncompressed value; `pack` compresses the value for the sent message, None leaves it. A
            message is left out if its value is empty, too large or there already.
            """
            if message.value and len(message.value) <= LARGEST and message.value not in to:
                value = message.value if pack is None else bytes(pack(message.value))
                to[message.value] = _Base(name, replace(message, value=value), message.value)

        for history in histories:
            for written in fmt.write(history, plain, LAYOUT):
                add(bases, written.message, profile.name, compress)
        for scenario in () if histories else boundary_scenarios(fmt, plain):
            for written in as_case(fmt, plain, scenario).written:
                add(bases, written.message, profile.name, compress)
        for n in range(0 if histories else LOADED):
            for written in fmt.write(orders.load_scenario(fmt, plain, 0, n).history, plain, LAYOUT):
                add(load_bases, written.message, profile.name, compress)
    base_messages = list(bases.values())
    step = max(1, -(-len(base_messages) // BASES))
    return [*base_messages[::step], *load_bases.values()]


@cache
def _foreign_messages(name: str) -> tuple[bytes, ...]:
    """Values that no message of the format `name` has: messages of other formats, and bytes that
    are no message of any format.
    """
    values = [
        b"42",
        b"null",
        b'"text"',
        b"id,name\n1,a\n",
        b"<row id='1'/>",
        b"\x00\x00\x00\x00\x07\x02a",
        b"Obj\x01\x04",
    ]
    for format_name in FOREIGN:
        if format_name != name:
            fmt = get(format_name)
            for n in range(4):
                history = orders.load_scenario(fmt, fmt.profiles[0], 0, n).history
                values += [
                    written.message.value or b""
                    for written in fmt.write(history, fmt.profiles[0], LAYOUT)
                ]
    return tuple(values)


def _with_value(message: Message, value: bytes | None) -> Message:
    """The message with another value; `dataclasses.replace` takes three times as long."""
    m = message
    return Message(m.topic, m.partition, m.key, value, m.headers, m.timestamp_ms, m.event, m.case)


def _replace_member(value: bytes, replacement: bytes) -> bytes:
    """The JSON object `value` with `replacement` as the value of its first member; `replacement`
    alone if it has no member.
    """
    member = next((p for p in parts(value) if p.is_member), None)
    return (
        replacement if member is None else value[: member.value] + replacement + value[member.end :]
    )


def _prepend_member(value: bytes, member: bytes) -> bytes:
    """The JSON object `value` with one more member, given as `"name":value`, before the others."""
    return value.replace(b"{", b"{" + member + b",", 1)


_UNKNOWN: Final = b'"unheard-of":'
"""The name, with its colon, of a JSON member that no format has."""

HUGE: Final[dict[str, dict[str, Callable[[bytes], bytes]]]] = {
    "json": {
        "huge-string": lambda v: _replace_member(v, b'"' + b"x" * HUGE_BYTES + b'"'),
        "huge-unknown-member": lambda v: _prepend_member(
            v, _UNKNOWN + b'"' + b"x" * HUGE_BYTES + b'"'
        ),
        "huge-escapes": lambda v: _prepend_member(
            v, _UNKNOWN + b'"' + b"\\u00e9" * (HUGE_BYTES // 6) + b'"'
        ),
        "huge-name": lambda v: _prepend_member(v, b'"' + b"x" * HUGE_BYTES + b'":1'),
        "huge-number": lambda v: _replace_member(v, b"9" * HUGE_BYTES),
        "huge-space": lambda v: b" " * HUGE_BYTES + v,
        "huge-array": lambda v: _replace_member(v, b"[" + b"1," * (HUGE_BYTES // 2) + b"1]"),
        "huge-object": lambda v: _prepend_member(
            v, _UNKNOWN + b"{" + b",".join(b'"%d":%d' % (n, n) for n in range(1_500_000)) + b"}"
        ),
        "huge-truncated": lambda v: v[:-1] + b"," + _UNKNOWN + b'"' + b"x" * HUGE_BYTES,
        "bottomless-array": lambda v: _prepend_member(
            v, _UNKNOWN + b"[" * 5_000_000 + b"]" * 5_000_000
        ),
        "bottomless-object": lambda v: _prepend_member(
            v, _UNKNOWN + b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000
        ),
        "bottomless-unclosed": lambda _: b"[" * HUGE_BYTES,
    },
    "avro": {
        "huge-zeros": lambda v: v + bytes(HUGE_BYTES),
        "huge-head": lambda v: bytes(HUGE_BYTES) + v,
        "huge-ones": lambda _: b"\xff" * HUGE_BYTES,
    },
}
"""The mutations of `Mutants.huge`, each done once: by container, the function that makes the
mutant's value of a message's, by the mutation's name.
"""
HUGE["frames"] = HUGE["protobuf"] = HUGE["avro"]
