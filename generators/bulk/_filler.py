"""Makes load quickly: learns from a writer the bytes that all messages of an op share and the bytes
that spell each value, checks both against the writer, and joins them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from decimal import Decimal
from operator import getitem, itemgetter
from typing import Any, Final, TypeAlias

from generators.bulk import orders
from generators.bulk.orders import BLOCK, CHANGED, NAMES, PAYLOAD, UNIT, VARIANTS, LoadOptions
from generators.bulk.templates import (
    TIMES,
    MessageShape,
    NotLearned,
    Part,
    Stamp,
    VaryingBytes,
    compressor,
    learn,
    zigzag_varint,
)
from generators.model import Instant, Layout, Message, Op, Value, Written
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import START

_MOST_ROWS: Final = 4
"""The most rows a message for which learning the writer's bytes saves time."""

_PROBES: Final[Mapping[str, tuple[Value, ...]]] = {
    "id": (
        5_170_927_364_551_829,
        6_381_038_475_662_910,
        9_007_199_254_740_993,
        9_007_199_254_741_000,
        9_007_199_254_742_777,
    ),
    "customer_id": (1_870_926_453, 2_081_135_762, 7),
    "status": ("QZXJ0", "WKVY1", "Q"),
    "customer": ("QZXJ1", "WKVY2", "Q", "ä" * 70),
    "email": ("QZXJ2", "WKVY3", "Q", "ä" * 70),
    "address": ("QZXJ3", "WKVY4", "Q", "ä" * 70),
    "quantity": (1_970_823_645, 2_081_135_762, 7),
    "amount": (
        Decimal("71829364.05"),
        Decimal("82930475.16"),
        Decimal("3.10"),
        Decimal("70123.45"),
        Decimal("1.10"),
    ),
    "created_at": (
        mysql.wall("2013-06-05 04:03:02.109"),
        mysql.wall("2021-12-14 15:26:37.098"),
        mysql.wall("2023-02-03"),
    ),
    "note": ("QZXJ4", "WKVY5", "Q", None, "ä" * 70),
    PAYLOAD: ("QZXJ6", "WKVY7", "Q"),
    "status before": ("QZXJ5", "WKVY6", "QX"),
    "quantity before": (1_690_823_647, 2_081_135_769, 9),
    "amount before": (Decimal("81927364.06"), Decimal("92038475.17"), Decimal("4.20")),
}
"""The values that `learn` tries for each column, and, under `NAME before`, for the value before an
UPDATE. The first two of each differ in nearly every character and have the same length throughout.
"""


class _Lazy(dict[Any, Any]):
    """A cache of the results of `make_result`, which is called the first time that a key is asked
    for; `known_results` are there from the start.
    """

    def __init__(
        self, make_result: Callable[[Any], Any], known_results: Mapping[Any, Any] = {}
    ) -> None:
        super().__init__(known_results)
        self._make = make_result

    def __missing__(self, key: Any) -> Any:
        result = self[key] = self._make(key)
        return result


_Kind: TypeAlias = tuple[
    tuple[Any, ...], Callable[[Sequence[Any]], tuple[Any, ...]], tuple[Any, ...], tuple[Any, ...]
]
"""All messages of an op and variant, as `Filler.expand` fills them: the table of texts of each
fragment, the function that picks the random number of each fragment, the stamps (numbers that
follow the commit time), and the messages. A message is its topic, its partition (None: the key
chooses it), the constant pieces of its key with what picks the bytes between them (None if nothing
varies), the same two of its value, its headers, its time, and the number of its event.
"""


class Filler:
    """Makes the messages of load without the writer, from bytes that it has learned of it, for one
    profile, layout and load. Raises NotLearned if they cannot be learned.

    A *variant* (0 to 15) is the seed of what a writer leaves to chance, such as the order of keys.
    A *slot* is something that varies between messages: a column's value, or the commit time. A
    *fragment* is the bytes that spell a value in one place of a message.
    """

    def __init__(
        self,
        write: Callable[..., list[Written]],
        profile: Profile,
        layout: Layout,
        options: LoadOptions = orders.DEFAULT,
    ) -> None:
        if options.rows > _MOST_ROWS:
            raise NotLearned(f"{options.rows} rows a message")
        self._write, self._profile, self._layout, self._options = write, profile, layout, options
        self._table = orders.load_table(profile.source, options.payload > 0)
        self._names = tuple(column.name for column in self._table.columns)
        packing = profile.deployment.compression
        self._compress = None if packing == "none" else compressor(packing)
        self._plain = (
            profile
            if packing == "none"
            else replace(profile, deployment=replace(profile.deployment, compression="none"))
        )
        self._ops = options.op_by_byte()
        self._columns = orders.columns_by_byte(options)
        self._texts: dict[str, list[_Lazy]] = {name: [] for name in self._names}
        """How places spell a column's values; the writer is asked for values that are new."""
        self._tables: dict[tuple[int, int], Any] = {}
        self._partitions = _Lazy(self._partition)
        self._base = self._learn_texts(Op.INSERT, self._names)
        used = dict.fromkeys(self._ops)
        self._kinds = {op: self._learn_variants(op) for op in used}
        self._by_byte = [(op, self._kinds[op]) for op in self._ops]
        self._partition_of = _Lazy(lambda draw: self._partitions[orders.row_key(options, draw, 0)])
        self._verify()

    def _write_messages(
        self, profile: Profile, op: Op, variant: int, at: Instant, values: Mapping[str, Value]
    ) -> list[Message]:
        """The messages that the writer writes for one change. `values` are the rows' values by
        slot: NAME is a column, `NAME before` the old value of a column that an UPDATE changes, with
        `/n` behind it in row n > 0 of the change. A slot without a value gets the first of its
        _PROBES.
        """
        row_images = []
        for number in range(self._options.rows):
            end = f"/{number}" if number else ""
            cells = {
                name: values[f"{name}{end}"] if f"{name}{end}" in values else _PROBES[name][0]
                for name in self._names
            }
            if number and f"id{end}" not in values:
                cells["id"] = orders.row_key(self._options, 0, number)
            old = {
                name: values.get(f"{name} before{end}", _PROBES[f"{name} before"][0])
                for name in CHANGED
            }
            row_images.append(orders.row_images(op, cells, old))
        written_messages = self._write(
            orders.statement_history(self._table, op, variant, at, row_images),
            profile,
            self._layout,
        )
        return [written_message.message for written_message in written_messages]

    def _learn(
        self, op: Op, variant: int, probes: Mapping[str, Sequence[Value]]
    ) -> tuple[MessageShape, ...]:
        """Learns the shapes (what is constant and what varies) of the messages that one change
        gives, from the writer without compression. `probes` has the values to try, by slot: a
        column, or a column's old value. Raises NotLearned.
        """
        return learn(
            lambda at, values: self._write_messages(self._plain, op, variant, at, values), probes
        )

    def _column_values(self, name: str) -> list[Value]:
        """Every value that load has in a column; none for the key, which has too many."""
        return [] if name == "id" else list(dict.fromkeys(self._columns[self._names.index(name)]))

    def _learn_texts(
        self, op: Op, names: Iterable[str], variant: int = 0
    ) -> tuple[MessageShape, ...]:
        """Learns from the writer how messages of an op spell each value that load has in these
        columns, adds that to `self._texts`, and returns the messages' shapes. Raises NotLearned.
        """
        probes = {
            name: tuple(dict.fromkeys([*_PROBES[name], *_PROBES.get(f"{name} before", ())]))
            for name in names
        }
        shapes = self._learn(op, variant, probes)
        parts: list[tuple[int, str, Part]] = []
        for number, shape in enumerate(shapes):
            parts += [(number, "key", shape.key), (number, "value", shape.value)]
        texts_by_part: list[dict[VaryingBytes, dict[Value, bytes]]] = []
        for _, _, part in parts:
            texts_by_part.append(
                {
                    place: dict(zip(probes[place.slot], place.texts, strict=True))
                    for place in part.places_of(probes)
                }
            )

        def ask_writer(values: Mapping[str, Value]) -> list[dict[VaryingBytes, bytes]]:
            """Has the writer write one change with these values, by column. Returns, for each part
            (the key or the value of one of the messages), the bytes that spell the values, by their
            place in it. Raises NotLearned.
            """
            messages = self._write_messages(self._plain, op, variant, TIMES[0], values)
            if len(messages) != len(shapes):
                raise NotLearned("the number of messages varies")
            return [
                part.read(getattr(messages[number], side) or b"", values)
                for number, side, part in parts
            ]

        def learn_values(values: Mapping[str, Value]) -> None:
            """Learns how the messages spell these values, one for each column, from one change that
            the writer writes. Where their bytes cannot be told apart, it learns one half of the
            values after the other.
            """
            try:
                answers = ask_writer(values)
            except NotLearned:
                if len(values) == 1:
                    raise
                for first in (0, 1):
                    learn_values(dict(list(values.items())[first::2]))
                return
            for texts, answer in zip(texts_by_part, answers, strict=True):
                for place, spelling in answer.items():
                    texts[place][values[place.slot]] = spelling

        domains = {name: self._column_values(name) for name in names}
        for i in range(max(map(len, domains.values()))):
            learn_values({name: domain[i] for name, domain in domains.items() if i < len(domain)})

        def text_maker(at: int, place: VaryingBytes) -> Callable[[Value], bytes]:
            """The function that asks the writer for the bytes that spell a value at `place` in part
            number `at` (the key or the value of one of the messages). `place.slot` is the name of
            the value's column; the other columns get their first probe.
            """
            return lambda value: ask_writer({place.slot: value})[at][place]

        for at, texts in enumerate(texts_by_part):
            for place, by_value in texts.items():
                if all(by_value != learned for learned in self._texts[place.slot]):
                    self._texts[place.slot].append(_Lazy(text_maker(at, place), by_value))
        return shapes

    def _learn_variants(self, op: Op) -> list[_Kind]:
        """What is needed to make the messages of an op without the writer, for each variant (the
        seed of what a writer leaves to chance). Variants whose messages are equal at the first
        commit time share one result; `_verify` compares all with the writer's.
        """
        # `_plain` is the profile without compression; {} gives every column its first probe.
        bases = [
            self._write_messages(self._plain, op, variant, TIMES[0], {})
            for variant in range(VARIANTS)
        ]
        kinds = list[_Kind]()
        for variant, base in enumerate(bases):
            same = bases.index(base)
            kinds.append(kinds[same] if same < variant else self._learn_kind(op, variant))
        return kinds

    def _learn_kind(self, op: Op, variant: int) -> _Kind:
        """Learns what `expand` needs of all messages of an op and variant: their constant bytes,
        and where the values and times stand in them. Raises NotLearned.
        """
        probes: dict[str, tuple[Value, ...]] = {}
        for number in range(self._options.rows):
            end = f"/{number}" if number else ""
            probes |= {f"{name}{end}": _PROBES[name][:2] for name in self._names}
            if op is Op.UPDATE:
                probes |= {f"{name} before{end}": _PROBES[f"{name} before"][:2] for name in CHANGED}
        shapes = self._learn(op, variant, probes)
        fragments: dict[tuple[int, int], None] = {}
        stamps: dict[Stamp, None] = {}
        drafts = []
        for shape in shapes:
            key = self._locate_fields(shape.key, probes, op, variant, fragments, stamps)
            value = self._locate_fields(shape.value, probes, op, variant, fragments, stamps)
            drafts.append((key, value))
        order: dict[Any, int] = {filler: i for i, filler in enumerate([*fragments, *stamps])}
        keyed = [
            self._write_messages(self._plain, op, variant, TIMES[0], {"id": row_id})
            for row_id in _PROBES["id"]
        ]
        ready = []
        for i, (shape, (key, value)) in enumerate(zip(shapes, drafts, strict=True)):
            follows_key = self._follows_key([messages[i].partition for messages in keyed])
            ready.append(
                (
                    shape.sample.topic,
                    None if follows_key else shape.sample.partition,
                    *_split_part(shape.key, *key, order),
                    *_split_part(shape.value, *value, order),
                    shape.sample.headers,
                    shape.sample.timestamp_ms if shape.timestamp is None else shape.timestamp,
                    shape.sample.event,
                )
            )
        tables = tuple(self._tables[pair] for pair in fragments)
        return (
            tables,
            _getter([pick for _, pick in fragments]),
            tuple(astuple(stamp) for stamp in stamps),
            tuple(ready),
        )

    def _locate_fields(
        self,
        part: Part,
        probes: Mapping[str, tuple[Value, ...]],
        op: Op,
        variant: int,
        fragments: dict[tuple[int, int], None],
        stamps: dict[Stamp, None],
    ) -> tuple[list[tuple[int, int]], list[Any]]:
        """Finds the places of a key or a value (a part) that vary: the (start, end) of each, and
        what fills it, either a fragment, as (number of its table of texts, index of its random
        number), or a Stamp. Adds the fragments and stamps found to `fragments` and `stamps`.
        """
        base, spans, fields = part.base or b"", list[tuple[int, int]](), list[Any]()
        for i, place in enumerate(part.places):
            room = (
                (part.places[i - 1].end if i else 0),
                (part.places[i + 1].start if i + 1 < len(part.places) else len(base)),
            )
            if place.stamp is not None:
                stamps[place.stamp] = None
                spans.append((place.start, place.end))
                fields.append(place.stamp)
                continue
            slot, _, row_number = place.slot.partition("/")
            name, _, before = slot.partition(" ")
            match = self._find_spelling(
                name, base, place.start, place.end, place.texts, probes[place.slot], room
            )
            if match is None:
                # This kind spells the column in a way of its own.
                self._learn_texts(op, (name,), variant)
                match = self._find_spelling(
                    name, base, place.start, place.end, place.texts, probes[place.slot], room
                )
            if match is None:
                raise NotLearned(f"{op} spells {name} in no way known")
            number, span = match
            column = self._names.index(name)
            pick = int(row_number or 0) * _WIDTH + (
                _BEFORE + CHANGED.index(name) if before else column
            )
            pair = (column * 1000 + number, pick)
            if pair not in self._tables:
                self._tables[pair] = self._lookup(name, column, number, int(row_number or 0))
            fragments[pair] = None
            spans.append(span)
            fields.append(pair)
        for i, (earlier_span, later_span) in enumerate(itertools.pairwise(spans)):
            if earlier_span[1] > later_span[0]:
                raise NotLearned(
                    f"bytes that answer to {part.places[i].slot} and {part.places[i + 1].slot}"
                )
        return spans, fields

    def _lookup(
        self, name: str, column: int, spelling: int, row_number: int
    ) -> Sequence[bytes] | Mapping[int, bytes]:
        """The bytes that spell a column's value in a message, by the value's random number.

        `spelling` is the number of one of the ways in which messages spell the column, an index of
        `self._texts[name]`. The key `id` also depends on the number of the row in the message, and
        has many values: its bytes are made when they are first asked for.
        """
        texts = self._texts[name][spelling]
        if name == "id":
            return _Lazy(lambda draw: texts[orders.row_key(self._options, draw, row_number)])
        return [texts[value] for value in self._columns[column]]

    def _find_spelling(
        self,
        name: str,
        base: bytes,
        start: int,
        end: int,
        texts: Sequence[bytes],
        probes: Sequence[Value],
        room: tuple[int, int],
    ) -> tuple[int, tuple[int, int]] | None:
        """Finds the learned spelling of a column whose texts for the probes match the place `start`
        to `end` of the part `base`. The learned texts may be longer than the place, by bytes that
        do not vary and surround it; the place grows accordingly, but stays within `room`. Returns
        the spelling's number and the whole place; None if no spelling matches.
        """
        for number, spellings in enumerate(self._texts[name]):
            probe_texts = [spellings.get(value) for value in probes]
            first = probe_texts[0]
            if first is None or None in probe_texts:
                continue
            missing_bytes = len(first) - (end - start)
            for bytes_before in range(max(0, missing_bytes + 1)):
                a, b = start - bytes_before, end + missing_bytes - bytes_before
                if a < room[0] or b > room[1] or missing_bytes < 0:
                    continue
                if all(
                    base[a:start] + place_text + base[end:b] == probe_text
                    for place_text, probe_text in zip(texts, probe_texts, strict=True)
                ):
                    return number, (a, b)
        return None

    def _follows_key(self, partitions: Sequence[int]) -> bool:
        """Whether the first row's key chooses a message's partition. `partitions` are the message's
        partitions for the keys in `_PROBES`. Raises NotLearned if something else chooses the
        partition.
        """
        expected = [self._partitions[value] for value in _PROBES["id"]]
        if len(set(expected)) > 1 and partitions == expected:
            return True
        if len(set(partitions)) > 1:
            raise NotLearned("the partition follows something else than the key")
        return False

    def _partition(self, key: Value) -> int:
        """The partition into which the writer puts the last message of an INSERT of a row with this
        key; 0 if it writes none. It is asked of the profile without compression (`_plain`).
        """
        messages = self._write_messages(self._plain, Op.INSERT, 0, TIMES[0], {"id": key})
        return messages[-1].partition if messages else 0

    def _verify(self) -> None:
        """Compares messages that were filled in with those that the writer writes: of every op and
        variant with random values, with the longest values, and at several times. Raises NotLearned
        at a difference.
        """
        row_count, used = self._options.rows, list(self._kinds)
        raw = bytearray(random.Random("verify").randbytes(BLOCK * UNIT * row_count))
        op_bytes = [self._ops.index(op) for op in used]
        longest = [
            max(range(256), key=lambda byte, column=column: len(str(column[byte]).encode()))  # type: ignore[misc]
            for column in self._columns[1 : len(NAMES)]
        ]
        for unit in range(BLOCK):
            raw[unit * UNIT * row_count] = op_bytes[unit % len(used)]
            raw[unit * UNIT * row_count + 1] = unit // len(used)
            if unit < len(used):
                raw[unit * UNIT * row_count + 4 : unit * UNIT * row_count + 13] = bytes(longest)
        size = len(used) * VARIANTS
        for first, units in (
            (0, range(min(BLOCK, 3 * size))),
            (BLOCK * 47, range(size)),
            (BLOCK * 31_250, range(0, BLOCK, 7)),
            (BLOCK * 39_062_500, range(0, BLOCK, 7)),
        ):
            expanded = iter(self.expand(bytes(raw), first, units))
            for unit in units:
                n = first + unit
                history = orders.unit_history(
                    bytes(raw), unit, n, self._profile.source, self._options
                )
                for written in self._write(history, self._profile, self._layout):
                    if next(expanded, None) != written.message:
                        raise NotLearned(f"unit {n} is not what the writer writes")
            if next(expanded, None) is not None:
                raise NotLearned("more messages than the writer writes")

    def expand(self, raw: bytes, first: int, units: Iterable[int]) -> Iterator[Message]:
        """Makes the messages of some load units of a block. `raw` are the block's random bytes,
        `first` the number of its first unit, `units` the places of the units within the block.

        This is the hot loop: it avoids calls.
        """
        compress = self._compress
        begin = START.ms
        size = self._options.transaction
        row_count = self._options.rows
        unit_bytes = UNIT * row_count
        partition_of = self._partition_of
        join = b"".join
        make = Message
        update, by_byte, spell = Op.UPDATE, self._by_byte, zigzag_varint
        for unit in units:
            at = unit * unit_bytes
            k = raw[at + 3]
            key = raw[at + 2] << 4 | k >> 4
            op, kinds = by_byte[raw[at]]
            tables, pick, stamps, messages = kinds[raw[at + 1] & 15]
            if op is not update:
                picks: list[Any] = [key, *raw[at + 4 : at + 13], k & 15, 0, 0, 0]
            else:
                picks = [
                    *(
                        key,
                        *raw[at + 4 : at + 13],
                        k & 15,
                        (raw[at + 5] + 1 + raw[at + 13] % 7) & 7,
                    ),
                    *(
                        (raw[at + 9] + 1 + raw[at + 14] % 255) & 255,
                        (raw[at + 10] + 1 + raw[at + 15] % 255) & 255,
                    ),
                ]
            for row_number in range(1, row_count):
                row_offset = at + row_number * UNIT
                picks += [
                    key,
                    *raw[row_offset + 4 : row_offset + 13],
                    raw[row_offset + 3] & 15,
                    *orders.before_places(raw, row_offset),
                ]
            commit = (first + unit) // size
            ms, seq = begin + commit, commit % 1000
            fragments = list(map(getitem, tables, pick(picks)))
            for unit_ms, step, per_sequence, base, modulus, binary in stamps:
                number = ms // unit_ms * step + seq * per_sequence + base
                if modulus:
                    number %= modulus
                fragments.append(spell(number) if binary else b"%d" % number)
            for (
                topic,
                partition,
                key_literals,
                key_fields,
                literals,
                fields,
                headers,
                timestamp,
                event,
            ) in messages:
                if key_fields is not None:
                    parts = key_literals.copy()
                    parts[1::2] = key_fields(fragments)
                    key_bytes = join(parts)
                else:
                    key_bytes = key_literals
                if fields is not None:
                    parts = literals.copy()
                    parts[1::2] = fields(fragments)
                    value = join(parts)
                else:
                    value = literals
                if compress is not None and value is not None:
                    value = bytes(compress(value))
                yield make(
                    topic,
                    partition_of[key] if partition is None else partition,
                    key_bytes,
                    value,
                    headers,
                    timestamp if timestamp.__class__ is int else timestamp.at(ms, seq),
                    event,
                )


_BEFORE: Final = len(NAMES) + 1
"""The place, among a row's random numbers, of the first of those for values before an UPDATE."""
_WIDTH: Final = _BEFORE + len(CHANGED)
"""How many random numbers a row has: for the columns, the payload, and the values before an UPDATE.
"""


def _getter(places: Sequence[int]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """The function that picks the items at these places from a sequence, always as a tuple."""
    if not places:
        return lambda _all: ()
    if len(places) == 1:
        only = places[0]
        return lambda numbers: (numbers[only],)
    return itemgetter(*places)


def _split_part(
    part: Part, spans: Sequence[tuple[int, int]], fields: Sequence[Any], order: Mapping[Any, int]
) -> tuple[Any, Any]:
    """Splits a key or a value of a message at the places that vary. Returns its constant pieces,
    with b"" at each such place between them, and the function that picks the bytes for these places
    from a message's fragments. A part in which nothing varies is returned as it is, with None.
    `order` has the index of each field among the fragments.
    """
    if part.base is None or not spans:
        return part.base, None
    literals, last = list[bytes](), 0
    for start, end in spans:
        literals += [part.base[last:start], b""]
        last = end
    return [*literals, part.base[last:]], _getter([order[field] for field in fields])
