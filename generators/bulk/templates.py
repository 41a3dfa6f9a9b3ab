"""Messages of one kind as byte templates, learned from a writer and checked against it.

A writer makes a few thousand messages a second, load needs a hundred thousand. Most bytes of a load
message never change: this module has the writer write a change again with one value, or the commit
time, different, sees which bytes answer, and fills in others. It knows no format, encoding or name,
and refuses to learn what it cannot prove equal to the writer's bytes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from generators.model import Instant, Message, Value
from generators.sources.boundaries import START

Write: TypeAlias = Callable[[Instant, Mapping[str, Value]], Sequence[Message]]
"""Writes the messages of a kind, for a commit time and values by slot."""

_BASE: Final = START.ms + 123_456
TIMES: Final = (
    Instant(_BASE, 100),
    Instant(_BASE + 1_000, 100),
    Instant(_BASE, 101),
    Instant(_BASE + 1, 100),
    Instant(_BASE + 544, 100),
    Instant(_BASE + 77_777_777, 999),
    Instant(_BASE + 10_000_000_000, 3),
    Instant(_BASE + 3_600_001, 7),
    Instant(START.ms, 0),
)
"""The first is that of the base message; the next two show what a millisecond and a place within it
add to a counter.
"""

_MARGIN: Final = 48
"""How far from the bytes that answer to one value others may belong to it: a length, quotes, the
name of an absent field.
"""

_GAP: Final = 4
"""Answering bytes this near to each other are one place."""


class NotLearned(Exception):
    """The writer does something that templates cannot follow; the caller writes every message
    instead.
    """


@dataclass(frozen=True, slots=True)
class Stamp:
    """A number in a message that depends on the commit time: `(ms // unit * step + seq *
    per_sequence + base) % modulus`; without the modulo if `modulus` is 0.

    It is written in Avro's zig-zag form if `binary`, else in decimal digits.
    """

    unit: int
    step: int
    per_sequence: int
    base: int
    modulus: int = 0
    binary: bool = False

    def at(self, ms: int, seq: int) -> int:
        """The number for the commit that is number `seq` within the millisecond `ms`."""
        number = ms // self.unit * self.step + seq * self.per_sequence + self.base
        return number % self.modulus if self.modulus else number

    def encoded(self, ms: int, seq: int) -> bytes:
        """The bytes that spell the number for the commit that is number `seq` within the
        millisecond `ms`.
        """
        number = self.at(ms, seq)
        return zigzag_varint(number) if self.binary else b"%d" % number


@dataclass(frozen=True, slots=True)
class VaryingBytes:
    """A place in a base message's key or value whose bytes, `start` to `end`, change with `slot`:
    the name of a column, or "" for the commit time. `texts` are the bytes that stand there for each
    value of the slot that was tried (a probe). `stamp` is how a number there follows from the
    commit time, None for a column.
    """

    slot: str
    start: int
    end: int
    texts: tuple[bytes, ...]
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The key or the value of a message: `base` are the bytes that it has in the base message, None
    for null, `places` the places in them that vary, in order.
    """

    base: bytes | None
    places: tuple[VaryingBytes, ...]

    def places_of(self, slots: Collection[str]) -> list[VaryingBytes]:
        """The places whose bytes change with one of these slots (columns, or the commit time)."""
        return [place for place in self.places if place.slot in slots]

    def read(self, data: bytes, slots: Collection[str]) -> dict[VaryingBytes, bytes]:
        """Reads the bytes that stand at the places of these slots in `data`, the same key or value
        of another message; all other bytes must equal the base message's. Raises NotLearned if they
        do not, or if there are two ways to read it.
        """
        base, slot_places = self.base or b"", self.places_of(slots)
        if not slot_places:
            if data != base:
                raise NotLearned("a value changes what no probe of it changed")
            return {}
        starts, ends = [place.start for place in slot_places], [place.end for place in slot_places]
        cores = [base[a:b] for a, b in zip([0, *ends], [*starts, len(base)], strict=True)]
        texts = cut_out(cores, data)
        backwards = cut_out([core[::-1] for core in reversed(cores)], data[::-1])
        if texts != [piece[::-1] for piece in reversed(backwards)]:
            raise NotLearned("values that can be told apart in two ways")
        return dict(zip(slot_places, texts, strict=True))


@dataclass(frozen=True, slots=True)
class MessageShape:
    """What was learned of one of the messages of a change. `sample` is the message as it is for the
    first values and the first commit time. `timestamp` says how the record's timestamp follows from
    the commit time, None if it always is that of `sample`.
    """

    key: Part
    value: Part
    timestamp: Stamp | None
    sample: Message


TIME: Final = ""
"""The slot of the commit time."""


def learn(write: Write, probes: Mapping[str, Sequence[Value]]) -> tuple[MessageShape, ...]:
    """Learns the shapes (what is constant and what varies) of the messages that `write` writes for
    a change: none, one or several. Raises NotLearned.

    `probes` has the values to try, by slot, the name of a column. The first value of each slot
    makes the base message. The second must differ from it in every character, but be alike in
    everything else that shows, such as the length.
    """
    values = {slot: probe[0] for slot, probe in probes.items()}
    base = write(TIMES[0], values)
    varied: dict[str, list[Sequence[Message]]] = {}
    for slot, probe in probes.items():
        varied[slot] = [write(TIMES[0], {**values, slot: value}) for value in probe[1:]]
    varied[TIME] = [write(at, values) for at in TIMES[1:]]
    if any(len(messages) != len(base) for messages in itertools.chain(*varied.values())):
        raise NotLearned("the number of messages varies")

    def variants(number: int) -> dict[str, list[Message]]:
        """Message number `number` of each change that was written with one value different, by the
        slot (a column or the commit time) whose value was different.
        """
        return {slot: [messages[number] for messages in runs] for slot, runs in varied.items()}

    return tuple(_message_shape(message, variants(i)) for i, message in enumerate(base))


def _message_shape(base: Message, varied: Mapping[str, Sequence[Message]]) -> MessageShape:
    """The shape of a message, learned from the base message and from `varied`, the same message
    with other values, by the slot (a column or the commit time) whose value differs. Raises
    NotLearned if anything but key, value and time varies.
    """
    for slot, messages in varied.items():
        for message in messages:
            if (message.topic, message.headers, message.event) != (
                base.topic,
                base.headers,
                base.event,
            ):
                raise NotLearned("topic, headers or event vary")
            if slot != TIME and message.timestamp_ms != base.timestamp_ms:
                raise NotLearned("the record's timestamp follows a value")
    stamps = [base.timestamp_ms, *(message.timestamp_ms for message in varied[TIME])]
    keys: dict[str, list[bytes | None]] = {}
    values: dict[str, list[bytes | None]] = {}
    for slot, messages in varied.items():
        keys[slot] = [message.key for message in messages]
        values[slot] = [message.value for message in messages]
    return MessageShape(
        key=_part_shape(base.key, keys),
        value=_part_shape(base.value, values),
        timestamp=None if len(set(stamps)) == 1 else _fit_stamp(stamps, binary=False),
        sample=base,
    )


def _part_shape(base: bytes | None, varied: Mapping[str, Sequence[bytes | None]]) -> Part:
    """The shape of a key or a value: `base` are its bytes in the base message, `varied` the bytes
    that it has with one other value, by the slot whose value is another. Raises NotLearned if a
    value's bytes cannot be told from its neighbours', or if only some of the messages have null
    here.
    """
    has_null = [value is None for value in itertools.chain(*varied.values())]
    if base is None and all(has_null):
        return Part(None, ())
    if base is None or any(has_null):
        raise NotLearned("null here, bytes there")
    values_by_slot: dict[str, list[bytes]] = {}
    for slot, nullable_values in varied.items():
        values_by_slot[slot] = [value for value in nullable_values if value is not None]
    timed = _numbers(base, values_by_slot.pop(TIME))
    spans: list[tuple[int, int, str]] = []
    for slot, values in values_by_slot.items():
        spans += [(start, end, slot) for start, end in _spans(base, values)]
    spans = sorted([*spans, *((place.start, place.end, TIME) for place in timed)])
    for earlier_span, later_span in itertools.pairwise(spans):
        if earlier_span[1] > later_span[0]:
            raise NotLearned(
                f"bytes that answer to {earlier_span[2] or 'time'} and {later_span[2] or 'time'}"
            )
    windows = [_widened_span(base, spans, i) for i in range(len(spans))]
    places = timed
    for slot, values in values_by_slot.items():
        slot_spans = [i for i, span in enumerate(spans) if span[2] == slot]
        if slot_spans:
            places += _places(
                base,
                slot,
                [spans[i][:2] for i in slot_spans],
                [windows[i] for i in slot_spans],
                values,
            )
    places.sort(key=lambda place: place.start)
    for before, after in itertools.pairwise(places):
        if before.end > after.start:
            raise NotLearned(
                f"bytes that answer to {before.slot or 'time'} and {after.slot or 'time'}"
            )
    return Part(base, tuple(places))


def _spans(base: bytes, varied: Sequence[bytes]) -> list[tuple[int, int]]:
    """The (start, end) of the bytes of `base` that differ in some of the messages `varied`. If some
    of these are as long as `base`, they are exactly the bytes that differ, near ones joined; else
    one span from the first to the last difference.
    """
    if all(message == base for message in varied):
        return []
    equal = [message for message in varied if len(message) == len(base) and message != base]
    if not equal:
        start = min(_common_prefix_length(base, message) for message in varied)
        end = len(base) - min(
            _common_prefix_length(base[start:][::-1], message[start:][::-1]) for message in varied
        )
        return [(start, end)]
    spans: list[tuple[int, int]] = []
    differing: set[int] = set()
    for message in equal:
        differing.update(_differing_offsets(base, message))
    for i in sorted(differing):
        if spans and i - spans[-1][1] <= _GAP:
            spans[-1] = spans[-1][0], i + 1
        else:
            spans.append((i, i + 1))
    return spans


def _differing_offsets(first_bytes: bytes, second_bytes: bytes) -> list[int]:
    """The offsets at which two texts of the same length differ."""
    places, step = [], 64
    for begin in range(0, len(first_bytes), step):
        a, b = first_bytes[begin : begin + step], second_bytes[begin : begin + step]
        if a != b:
            places += [begin + i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    return places


def _common_prefix_length(first_bytes: bytes, second_bytes: bytes) -> int:
    """The number of bytes that two texts have in common at their beginnings."""
    length = min(len(first_bytes), len(second_bytes))
    low = 0
    while (
        low < length
        and first_bytes[low : low + 64] == second_bytes[low : low + 64]
        and low + 64 <= length
    ):
        low += 64
    while low < length and first_bytes[low] == second_bytes[low]:
        low += 1
    return low


def _widened_span(base: bytes, spans: Sequence[tuple[int, int, str]], i: int) -> tuple[int, int]:
    """The (start, end) of span i with up to _MARGIN bytes more on each side, because the bytes
    around a value, such as its length, may depend on the value, too.

    A span is (start, end, slot): bytes that change with a slot, which is a column's name, or "" for
    the commit time. The span grows at most to the neighbouring span, or to the message's end; a
    third of the way if both spans belong to one slot, so that bytes stay between them.
    """
    start, end, slot = spans[i]
    room_before = start - (spans[i - 1][1] if i else 0)
    room_after = (spans[i + 1][0] if i + 1 < len(spans) else len(base)) - end
    room_before = room_before // 3 if i and spans[i - 1][2] == slot else room_before
    room_after = room_after // 3 if i + 1 < len(spans) and spans[i + 1][2] == slot else room_after
    return start - min(room_before, _MARGIN), end + min(room_after, _MARGIN)


def _places(
    base: bytes,
    slot: str,
    spans: Sequence[tuple[int, int]],
    windows: Sequence[tuple[int, int]],
    values: Sequence[bytes],
) -> list[VaryingBytes]:
    """The places whose bytes change with a slot. `spans` are where differences were seen, `windows`
    the same spans widened by some bytes. Each window is narrowed again to the bytes that really
    differ between the messages `values`, which have other values of the slot.
    """
    # A core is what stands between two windows, before the first or behind the last one.
    core_starts = [0, *(end for _, end in windows)]
    core_ends = [*(start for start, _ in windows), len(base)]
    cores = [base[start:end] for start, end in zip(core_starts, core_ends, strict=True)]
    cut_pieces = [cut_out(cores, value) for value in (base, *values)]
    places = []
    for i, (start, end) in enumerate(windows):
        texts = [pieces[i] for pieces in cut_pieces]
        shared_head = min(_common_prefix_length(texts[0], piece) for piece in texts)
        shared_tail = min(
            _common_prefix_length(texts[0][shared_head:][::-1], piece[shared_head:][::-1])
            for piece in texts
        )
        places.append(
            VaryingBytes(
                slot,
                start + shared_head,
                end - shared_tail,
                tuple(piece[shared_head : len(piece) - shared_tail] for piece in texts),
            )
        )
    return places


def cut_out(cores: Sequence[bytes], data: bytes) -> list[bytes]:
    """Splits `data` at the given constant pieces: the first core begins it, the last core ends it,
    the others follow each other in between. Returns what lies between the cores. Raises NotLearned
    if the cores are not found.
    """
    first, *inner, last = cores
    if not data.startswith(first) or not data.endswith(last) or len(data) < len(first) + len(last):
        raise NotLearned("a value changes more than its own bytes")
    at, end, pieces = len(first), len(data) - len(last), []
    for core in inner:
        place = data.find(core, at, end)
        if place < 0:
            raise NotLearned("a value changes more than its own bytes")
        pieces.append(data[at:place])
        at = place + len(core)
    return [*pieces, data[at:end]]


def _numbers(base: bytes, varied: Sequence[bytes]) -> list[VaryingBytes]:
    """Finds the numbers in a message that change with the commit time: `varied` are the message's
    bytes at the other commit times of TIMES. A number is decimal digits, or one of Avro's
    variable-length integers, of whose bytes all but the last have the high bit set.
    """
    equal = [value for value in varied if len(value) == len(base) and value != base]
    windows: dict[tuple[int, int, bool], None] = {}
    differing: set[int] = set()
    for value in equal:
        differing.update(_differing_offsets(base, value))
    for i in sorted(differing):
        binary = not all(value[i : i + 1].isdigit() for value in (base, *equal))
        start = end = i
        if binary:
            while start and base[start - 1] & 0x80:
                start -= 1
            while end < len(base) - 1 and base[end] & 0x80:
                end += 1
            end += 1
        else:
            while start and base[start - 1 : start].isdigit():
                start -= 1
            while base[end : end + 1].isdigit():
                end += 1
        windows[start, end, binary] = None
    spans = sorted(windows)
    if not spans and any(value != base for value in varied):
        raise NotLearned("nothing but the length follows the time")
    texts = [_numbers_at(spans, base, value) for value in (base, *varied)]
    places: list[VaryingBytes] = []
    for i, (start, end, binary) in enumerate(spans):
        number_texts = tuple(parts[i] for parts in texts)
        stamp = _stamp(number_texts, binary)
        places.append(VaryingBytes(TIME, start, end, number_texts, stamp))
    return places


def _numbers_at(spans: Sequence[tuple[int, int, bool]], base: bytes, data: bytes) -> list[bytes]:
    """The bytes of the numbers that stand at these spans of `base`, as the other message `data` has
    them, where they may have other lengths. Raises NotLearned if anything else differs from `base`.

    A span is (start, end, binary). A binary number is one of Avro's variable-length integers, which
    ends with the first byte up to 7F; any other is decimal digits.
    """
    numbers, last, at = [], 0, 0
    for start, end, binary in spans:
        literal = base[last:start]
        stop = at = at + len(literal)
        if data[at - len(literal) : at] != literal:
            raise NotLearned("something but numbers follows the time")
        if binary:
            while data[stop : stop + 1] > b"\x7f":
                stop += 1
            stop += 1
        else:
            while data[stop : stop + 1].isdigit():
                stop += 1
        numbers.append(data[at:stop])
        last, at = end, stop
    if data[at:] != base[last:]:
        raise NotLearned("something but numbers follows the time")
    return numbers


def _stamp(texts: Sequence[bytes], binary: bool) -> Stamp:
    """How a number follows from the commit time, learned from its bytes in the messages of the
    commit times TIMES. Raises NotLearned if no Stamp gives exactly these bytes.
    """
    stamp = _fit_stamp(
        [
            _zigzag_number(number_text) if binary else int(number_text or b"0")
            for number_text in texts
        ],
        binary,
    )
    if any(
        stamp.encoded(at.ms, at.seq) != number_text
        for at, number_text in zip(TIMES, texts, strict=True)
    ):
        raise NotLearned(f"{texts} are no known function of the time")
    return stamp


def _fit_stamp(numbers: Sequence[int], binary: bool) -> Stamp:
    """The Stamp (a linear function of the commit time, with or without a modulo) that gives these
    numbers for the commit times TIMES. Raises NotLearned if there is none.
    """
    # TIMES[1] is a second behind TIMES[0]; TIMES[2] is the next commit of the same millisecond.
    first, next_second, next_sequence = numbers[:3]
    origin = TIMES[0]
    for unit in (1, 1000):
        step, remainder = divmod(next_second - first, 1000 // unit)
        if remainder:
            continue
        per_sequence = next_sequence - first
        stamp = Stamp(
            unit,
            step,
            per_sequence,
            first - origin.ms // unit * step - origin.seq * per_sequence,
            0,
            binary,
        )
        errors = [
            stamp.at(at.ms, at.seq) - number for at, number in zip(TIMES, numbers, strict=True)
        ]
        if not any(errors):
            return stamp
        # Where a modulo was applied, the number is too small by a multiple of the modulus.
        modulus = math.gcd(*errors)
        wraps = sum(number != 0 for number in errors)
        if wraps > 1 and modulus > max(numbers) and min(numbers) >= 0:
            return Stamp(unit, step, per_sequence, stamp.base, modulus, binary)
    raise NotLearned(f"{numbers} are no known function of the time")


_PAIRS: Final = tuple(bytes((low & 0x7F | 0x80, low >> 7 | 0x80)) for low in range(1 << 14))
"""The two bytes, both with the high bit set, in which a zig-zag integer has 14 of its bits when
more bytes follow, by the number of these bits.
"""


def zigzag_varint(number: int) -> bytes:
    """The bytes of a number as Avro's zig-zag integer: the sign in the lowest bit, seven bits to a
    byte.
    """
    remaining = number << 1 if number >= 0 else (-number << 1) - 1
    encoded = b""
    while remaining > 0x3FFF:
        encoded += _PAIRS[remaining & 0x3FFF]
        remaining >>= 14
    return encoded + (
        bytes((remaining & 0x7F | 0x80, remaining >> 7))
        if remaining > 0x7F
        else bytes((remaining,))
    )


def _zigzag_number(encoded: bytes) -> int:
    """The number that these bytes spell as Avro's zig-zag integer."""
    value = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(encoded))
    return value >> 1 if not value & 1 else -(value + 1 >> 1)


def compressor(name: str) -> Callable[[bytes], Any]:
    """The function that compresses a whole value; `name` is the deployment's name of the
    compression. Raises NotLearned for one that it does not know.
    """
    import cramjam

    match name:
        case "snappy":
            return cramjam.snappy.compress_raw
        case "lz4":
            return cramjam.lz4.compress
    raise NotLearned(f"compression {name}")
