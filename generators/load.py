"""Load: an endless, position-addressable stream of one table's changes.

Unit n is one change of one row of `load_table()`: `load_scenario` says what happened, `messages` what the writer publishes.
Both are functions of (seed, format, profile, n) alone, so that whoever consumed a message can derive what was owed for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache
from itertools import count as endless
from typing import Any, Final, cast

from generators import mysql, postgresql, sources
from generators._random_values import rng
from generators._templates import NotLearned, Template, compressor, fragment, learn
from generators.boundaries import START
from generators.cases import LAYOUT
from generators.errors import UsageError
from generators.formats.base import Format, Profile
from generators.model import Column, History, Instant, Layout, Message, Op, RowChange, RowImages, Scenario, Table, Value, Written
from generators.pools import pools

BLOCK: Final = 256
"""Units that share a random stream."""

UNIT: Final = 16
"""Random bytes of a unit: op, variant, two of the key, then one for each other column and each changed one."""

KEYS: Final = 4096
VARIANTS: Final = 16
"""Seeds of histories, so that what a writer leaves to chance (lags, key orders) varies."""

_OPS: Final = (Op.INSERT,) * 128 + (Op.UPDATE,) * 102 + (Op.DELETE,) * 26
_STATUSES: Final = ("NEW", "PAID", "PACKED", "SHIPPED", "DELIVERED", "RETURNED", "REFUNDED", "CANCELLED")
_CHANGED: Final = ("status", "quantity", "amount")


@cache
def load_table(source: str = "mysql") -> Table:
    """`shop.orders`: ten columns, a bigint key beyond 2^53, text in several languages, a decimal, a nullable note.

    Of the types of that source. Raises UnknownName.
    """
    found = sources.source(source)
    integer, varchar = found.number, postgresql.text if found is sources.POSTGRESQL else mysql.text
    amount, created = mysql.decimal(10, 2), mysql.temporal("datetime", 3)
    if found is sources.POSTGRESQL:
        amount, created = postgresql.numeric(10, 2), postgresql.temporal("timestamp", 3)
    columns = (
        Column("id", found.key, nullable=False),
        Column("customer_id", integer, nullable=False),
        Column("status", varchar("varchar", 16), nullable=False),
        Column("customer", varchar("varchar", 128), nullable=False),
        Column("email", varchar("varchar", 128), nullable=False),
        Column("address", varchar("varchar", 255), nullable=False),
        Column("quantity", integer, nullable=False),
        Column("amount", amount, nullable=False),
        Column("created_at", created, nullable=False),
        Column("note", varchar("varchar", 255)),
    )
    return Table("shop", "orders", columns, ("id",), schema=found.schema)


@cache
def _values() -> tuple[Sequence[Value], ...]:
    """The values of each column, distinct; a column of fewer than 256 takes its random byte modulo their number."""
    texts = pools()
    draw = random.Random("load")
    created = sorted(draw.sample(range(mysql.wall("2023-01-01") // 1000, mysql.wall("2023-11-14") // 1000), 256))
    return (
        range(9_007_199_254_740_993, 9_007_199_254_740_993 + KEYS),
        draw.sample(range(1, 10**6), 256),
        _STATUSES,
        texts["name"],
        texts["email"],
        texts["address"],
        range(1, 257),
        tuple(Decimal((0, tuple(map(int, str(cents))), -2)) for cents in draw.sample(range(100, 10**7), 256)),
        tuple(ms * 1000 for ms in created),
        (*texts["sentence"][:224], None),
    )


_SENTINELS: Final[tuple[Value, ...]] = (
    5_170_927_364_551_829,
    1_870_926_453,
    "QZXJ0",
    "QZXJ1",
    "QZXJ2",
    "QZXJ3",
    1_970_823_645,
    Decimal("71829364.05"),
    mysql.wall("1987-06-05 04:03:02.109"),
    "QZXJ4",
)
_SENTINELS_BEFORE: Final[tuple[Value, ...]] = ("QZXJ5", 1_690_823_647, Decimal("81927364.06"))


def _unit(raw: bytes, offset: int) -> tuple[Op, int, list[int], list[int]]:
    """Op, variant, the place of each column's value among its values, and that of each changed column's value before."""
    values = _values()
    places = [raw[offset + 2] << 4 | raw[offset + 3] >> 4]
    places += [raw[offset + 3 + i] % len(values[i]) for i in range(1, len(_NAMES))]
    before = []
    for i, name in enumerate(_CHANGED):
        column = _NAMES.index(name)
        size = len(values[column])
        before.append((places[column] + 1 + raw[offset + 13 + i] % (size - 1)) % size)
    return _OPS[raw[offset]], raw[offset + 1] % VARIANTS, places, before


def load_scenario(fmt: Format[Any], profile: Profile, seed: int, n: int) -> Scenario:
    """What happened in unit n. Raises UsageError for a negative n."""
    if n < 0:
        raise UsageError(f"load unit {n}: the first is 0")
    block, place = divmod(n, BLOCK)
    history = _unit_history(_block(seed, fmt, profile, block), place * UNIT, n, profile.source)
    return Scenario(f"load/{seed}/{n}", history, tags=frozenset({"load"}))


_NAMES: Final = tuple(column.name for column in load_table().columns)


def _unit_history(raw: bytes, offset: int, n: int, source: str) -> History:
    op, variant, places, before = _unit(raw, offset)
    values = _values()
    row = dict(zip(_NAMES, (values[i][p] for i, p in enumerate(places)), strict=True))
    old = {name: values[_NAMES.index(name)][p] for name, p in zip(_CHANGED, before, strict=True)}
    return _history(load_table(source), op, variant, Instant(START.ms + n, n % 1000), row, old)


def _history(table: Table, op: Op, variant: int, at: Instant, row: Mapping[str, Value], old: Mapping[str, Value]) -> History:
    images = {
        Op.INSERT: RowImages(None, row),
        Op.UPDATE: RowImages({**row, **old}, row),
        Op.DELETE: RowImages(row, None),
    }
    return History((RowChange(at, table, op, (images[op],)),), seed=variant)


def _block(seed: int, fmt: Format[Any], profile: Profile, block: int) -> bytes:
    return rng(seed, fmt.name, profile.name, f"load-{block}").randbytes(BLOCK * UNIT)


def messages(
    fmt: Format[Any], profile: Profile, seed: int, start: int = 0, count: int | None = None, *, layout: Layout = LAYOUT
) -> Iterator[Message]:
    """The messages of units `start` to `start + count - 1`, without end when there is no count; byte for byte what the writer
    writes for `load_scenario`. Units that a format writes as several messages come whole.

    The first call for a profile takes a moment to learn the writer's bytes; where they cannot be learned, every message is
    written by the writer itself. Raises UsageError for a negative start or count.
    """
    if start < 0 or (count is not None and count < 0):
        raise UsageError(f"load from {start}, {count} units: neither may be negative")
    fast = _learned(cast("Hashable", fmt.write), profile, layout)
    if fast is not None:
        return fast.messages(fmt, seed, start, count)
    return _written(fmt, profile, seed, endless(start) if count is None else range(start, start + count), layout)


def is_learned(fmt: Format[Any], profile: Profile, layout: Layout = LAYOUT) -> bool:
    """Whether `messages` fills in templates for this profile; else the writer makes every message, and sets the pace."""
    return _learned(cast("Hashable", fmt.write), profile, layout) is not None


def _written(fmt: Format[Any], profile: Profile, seed: int, units: Iterable[int], layout: Layout) -> Iterator[Message]:
    for n in units:
        for one in fmt.write(load_scenario(fmt, profile, seed, n).history, profile, layout):
            yield one.message


@lru_cache(maxsize=64)
def _learned(write: Hashable, profile: Profile, layout: Layout) -> _Fast | None:
    try:
        return _Fast(cast("Callable[..., list[Written]]", write), profile, layout)
    except NotLearned:
        return None


class _Fast:
    """Templates of every op and variant, and the texts of every value, learned from a writer and checked against it."""

    def __init__(self, write: Callable[..., list[Written]], profile: Profile, layout: Layout) -> None:
        self._write, self._profile, self._layout = write, profile, layout
        self._table = load_table(profile.source)
        packing = profile.deployment.compression
        self._compress = None if packing == "none" else compressor(packing)
        self._plain = (
            profile if packing == "none" else replace(profile, deployment=replace(profile.deployment, compression="none"))
        )
        self._templates: dict[Op, list[Template]] = {}
        for op in (Op.INSERT, Op.UPDATE, Op.DELETE):
            self._templates[op] = [self._learn(op, variant)[0] for variant in range(VARIANTS)]
        self._base, self._texts = self._learn(Op.INSERT, 0)
        self._keys: list[tuple[bytes, int] | None] = [None] * KEYS
        self._fragments = [self._column(i) for i in range(1, len(_NAMES))]
        self._verify()

    def _one(self, profile: Profile, history: History) -> Message:
        written = self._write(history, profile, self._layout)
        if len(written) != 1:
            raise NotLearned(f"{len(written)} messages for one change")
        return written[0].message

    def _learn(self, op: Op, variant: int) -> tuple[Template, list[bytes]]:
        table = self._table
        sentinels = {c.name: (c.type, value) for c, value in zip(table.columns, _SENTINELS, strict=True)}
        if op is Op.UPDATE:
            sentinels |= {f"{n} before": (table.column(n).type, v) for n, v in zip(_CHANGED, _SENTINELS_BEFORE, strict=True)}

        def write(at: Instant, values: Mapping[str, Value]) -> Message:
            row = {name: values[name] for name in _NAMES}
            old = {name: values[f"{name} before"] for name in _CHANGED if f"{name} before" in values}
            return self._one(self._plain, _history(table, op, variant, at, row, old))

        return learn(write, sentinels)

    def _text(self, column: int, value: Value) -> tuple[bytes, int]:
        """The text of a column's value, and the partition of a row that has it."""
        row = dict(zip(_NAMES, _SENTINELS, strict=True)) | {_NAMES[column]: value}
        message = self._one(self._plain, _history(self._table, Op.INSERT, 0, START, row, {}))
        return fragment(self._base, self._texts, column, message, START), message.partition

    def _column(self, column: int) -> list[bytes]:
        """The text for each random byte."""
        texts = [self._text(column, value)[0] for value in _values()[column]]
        return [texts[byte % len(texts)] for byte in range(256)]

    def _verify(self) -> None:
        """Compares with the writer: every template with random values, and the largest message of each op. Raises NotLearned."""
        raw = bytearray(random.Random("verify").randbytes(BLOCK * UNIT))
        op_bytes = [_OPS.index(op) for op in self._templates]
        longest = [max(range(256), key=lambda byte: len(texts[byte])) for texts in self._fragments]
        for unit in range(BLOCK):
            raw[unit * UNIT] = op_bytes[unit % 3]
            raw[unit * UNIT + 1] = unit // 3
            if unit < 3:
                raw[unit * UNIT + 4 : unit * UNIT + 13] = bytes(longest)
        for unit, message in enumerate(self._expand(bytes(raw), 0, range(BLOCK))):
            history = _unit_history(bytes(raw), unit * UNIT, unit, self._profile.source)
            if message != self._one(self._profile, history):
                raise NotLearned(f"unit {unit} is not what the writer writes")

    def messages(self, fmt: Format[Any], seed: int, start: int, count: int | None) -> Iterator[Message]:
        """Units from `start` on."""
        end = None if count is None else start + count
        while end is None or start < end:
            block, place = divmod(start, BLOCK)
            first = block * BLOCK
            last = BLOCK if end is None else min(BLOCK, end - first)
            yield from self._expand(_block(seed, fmt, self._profile, block), first, range(place, last))
            start = first + last

    def _expand(self, raw: bytes, first: int, units: Iterable[int]) -> Iterator[Message]:
        """The messages of units of a block whose first unit has the number given. The hot loop: no calls that can be spared."""
        keys, compress, begin = self._keys, self._compress, START.ms
        customer_id, status, customer, email, address, quantity, amount, created, note = self._fragments
        by_op = [self._templates[op] for op in _OPS]
        for unit in units:
            at = unit * UNIT
            place = raw[at + 2] << 4 | raw[at + 3] >> 4
            key = keys[place]
            if key is None:
                key = keys[place] = self._text(0, _values()[0][place])
            s, q, a = raw[at + 5], raw[at + 9], raw[at + 10]
            fragments = [
                key[0],
                customer_id[raw[at + 4]],
                status[s],
                customer[raw[at + 6]],
                email[raw[at + 7]],
                address[raw[at + 8]],
                quantity[q],
                amount[a],
                created[raw[at + 11]],
                note[raw[at + 12]],
            ]
            op = raw[at]
            if _OPS[op] is Op.UPDATE:
                fragments.append(status[(s + 1 + raw[at + 13] % 7) & 7])
                fragments.append(quantity[(q + 1 + raw[at + 14] % 255) & 255])
                fragments.append(amount[(a + 1 + raw[at + 15] % 255) & 255])
            template = by_op[op][raw[at + 1] & 15]
            n = first + unit
            ms = begin + n
            for stamp in template.stamps:
                fragments.append(b"%d" % stamp.at(ms, n % 1000))
            value: bytes = template.value.pattern % template.pick(fragments)
            sample, timestamp = template.sample, template.timestamp
            yield Message(
                sample.topic,
                key[1],
                template.key.constant if not template.key.fields else template.key.fill(fragments),
                value if compress is None else bytes(compress(value)),
                sample.headers,
                sample.timestamp_ms if timestamp is None else timestamp.at(ms, n % 1000),
                sample.event,
            )
