"""The content of load: changes of one table of orders. Each is determined by (seed, format,
profile, options, n) alone.

Unit n is one change of one or several rows of `load_table()`; `load_scenario` gives it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from generators.bulk._random_values import rng
from generators.errors import UnknownName, UsageError
from generators.model import (
    Column,
    History,
    Instant,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
)
from generators.profiles import Profile
from generators.sources import databases, mongodb, mysql, oracle, postgresql, sqlserver
from generators.sources.boundaries import START
from generators.sources.pools import pools
from generators.wire_format import Format

BLOCK: Final = 256
"""How many units of load (changes of the table of orders) share a random stream."""

UNIT: Final = 16
"""How many random bytes a row takes: one for the op and one for the variant (both of the unit's
first row), 12 bits for the key, 4 for the payload, then one byte for each other column and one for
each column that an UPDATE changes.
"""

KEYS: Final = 4096
"""How many distinct keys the rows of load have."""
VARIANTS: Final = 16
"""Seeds of histories, so that what a writer leaves to chance (lags, key orders) varies."""

CHANGED: Final = ("status", "quantity", "amount")
"""What an UPDATE changes; the other columns stay."""

PAYLOAD: Final = "payload"
PAYLOADS: Final = 16
"""Distinct texts of the payload column."""

_STRIDE: Final = 61
"""How many places among the keys lie between the keys of two rows that follow each other in a unit:
no key comes twice.
"""

_HOT: Final = 16
"""How many keys the skew `hot` prefers."""
_STATUSES: Final = (
    "NEW",
    "PAID",
    "PACKED",
    "SHIPPED",
    "DELIVERED",
    "RETURNED",
    "REFUNDED",
    "CANCELLED",
)
_DEFAULT_OPS: Final = ((Op.INSERT, 128), (Op.UPDATE, 102), (Op.DELETE, 26))
"""The weights, in 256ths, of the operations of load."""
_LARGEST_PAYLOAD: Final = 16 << 20
_MOST_ROWS: Final = 1_000


def _keys_by_skew() -> Mapping[str, Sequence[int]]:
    """For each kind of skew, by its name: the place, among KEYS keys, of the key that each of 4096
    equally likely random numbers stands for.
    """
    return {
        "uniform": range(KEYS),
        # Of 4096**u with u uniform, places up to r have the share log(r + 1) / log(4096): Zipf's
        # law with exponent 1.
        "zipf": tuple(int(KEYS ** (draw / KEYS)) - 1 for draw in range(KEYS)),
        "hot": tuple(draw if draw * 10 >= KEYS * 9 else draw % _HOT for draw in range(KEYS)),
    }


SKEWS: Final = _keys_by_skew()
"""`uniform`; `zipf` (the key of rank r has about 1/r of the first one's share); `hot` (nine changes
in ten hit 16 keys).
"""


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The shape of the load. Raises UsageError for senseless values, UnknownName for an unknown
    skew.

    `ops` are weights of INSERT, UPDATE and DELETE, kept to a 256th. `keys` is the name of one of
    SKEWS. `rows` is how many rows one statement changes (in one message where the format batches
    them, else in as many). `transaction` is how many statements share a commit. `null_rate` is the
    share of NULL in the nullable column, 0 to 1, kept to a 256th. `payload` is the size of an extra
    text column in bytes, 0 for none.
    """

    ops: tuple[tuple[Op, int], ...] = _DEFAULT_OPS
    keys: str = "uniform"
    rows: int = 1
    transaction: int = 1
    null_rate: float = 1 / 256
    payload: int = 0

    def __post_init__(self) -> None:
        legal = {op for op, _ in _DEFAULT_OPS}
        if not {op for op, _ in self.ops} <= legal or len({op for op, _ in self.ops}) != len(
            self.ops
        ):
            raise UsageError(
                "LoadOptions.ops: a weight for each of INSERT, UPDATE and DELETE at most, not"
                f" {self.ops!r}"
            )
        if any(weight < 0 for _, weight in self.ops) or not any(weight for _, weight in self.ops):
            raise UsageError(
                f"LoadOptions.ops: weights are at least 0 and not all 0, not {self.ops!r}"
            )
        if self.keys not in SKEWS:
            raise UnknownName("key skew", self.keys, SKEWS)
        for name, value, most in (
            ("rows", self.rows, _MOST_ROWS),
            ("transaction", self.transaction, 1_000_000),
            ("payload", self.payload, _LARGEST_PAYLOAD),
        ):
            least = 0 if name == "payload" else 1
            if not least <= value <= most:
                raise UsageError(
                    f"LoadOptions.{name} is {value}; it must be between {least} and {most}"
                )
        if not 0 <= self.null_rate <= 1:
            raise UsageError(
                f"LoadOptions.null_rate is {self.null_rate}; it must be between 0 and 1"
            )

    def op_by_byte(self) -> tuple[Op, ...]:
        """The op that each of the 256 values of a random byte stands for. An op of weight 0 gets no
        value, any other its share by weight, but at least one; values that are left over go to the
        ops with the largest remainders.
        """
        total = sum(weight for _, weight in self.ops)
        shares = {op: max(1, weight * 256 // total) for op, weight in self.ops if weight}
        ranked = sorted(shares, key=lambda op: -(dict(self.ops)[op] * 256 % total))
        while (unassigned := 256 - sum(shares.values())) > 0:
            for op in ranked[:unassigned]:
                shares[op] += 1
        # Ops of tiny weights got a byte each, which the most frequent op gives back.
        while sum(shares.values()) > 256:
            shares[max(shares, key=shares.__getitem__)] -= 1
        ops: list[Op] = []
        for op, _ in self.ops:
            ops += [op] * shares.get(op, 0)
        return tuple(ops)

    def commit_instant(self, unit_number: int) -> Instant:
        """The commit time of a unit, that is of one statement of the load (counted from 0);
        `transaction` of them share it, and each commit is a millisecond after the one before it.

        Its `seq`, which orders commits within one millisecond, has nothing to order here: it only
        varies, so that a reader of positions meets more than one.
        """
        commit = unit_number // self.transaction
        return Instant(START.ms + commit, commit % 1000)


DEFAULT: Final = LoadOptions()


def options_text(options: LoadOptions) -> str:
    """The options of a load as JSON, for another process."""
    return json.dumps(
        {**asdict(options), "ops": [[op.value, weight] for op, weight in options.ops]}
    )


def parse_options(options_json: str) -> LoadOptions:
    """The options of a load from the JSON that `options_text` made. Raises UsageError or
    UnknownName for options that make no sense.
    """
    options = json.loads(options_json)
    return LoadOptions(
        **{**options, "ops": tuple((Op(op), weight) for op, weight in options["ops"])}
    )


_WEIGHT: Final = re.compile("[0-9]{1,9}")


def parse_ops(weights_text: str) -> tuple[tuple[Op, int], ...]:
    """The weights of operations in a text such as `insert=50,update=40,delete=10`. Raises
    UnknownName for an unknown operation, and UsageError for a weight that is no whole number.
    """
    legal = {op.value.lower(): op for op, _ in _DEFAULT_OPS}
    weights = []
    for part in weights_text.split(","):
        name, _, weight = part.partition("=")
        name = name.strip().lower()
        if name not in legal:
            raise UnknownName("op", name, legal)
        if not _WEIGHT.fullmatch(weight.strip()):
            raise UsageError(f"op weight {part!r}: expected a whole number, such as {name}=50")
        weights.append((legal[name], int(weight)))
    return tuple(weights)


class _LoadTypes(NamedTuple):
    """A source's types for the table of load: `varchar` gives that of a text of up to so many
    characters, `amount` is a number with two fraction digits, `moment` a time with milliseconds.
    """

    varchar: Callable[[int], SourceType]
    amount: SourceType
    moment: SourceType


_LOAD_TYPES: Final[Mapping[str, _LoadTypes]] = {
    "mysql": _LoadTypes(
        lambda length: mysql.text("varchar", length),
        mysql.decimal(10, 2),
        mysql.temporal("datetime", 3),
    ),
    "postgresql": _LoadTypes(
        lambda length: postgresql.text("varchar", length),
        postgresql.numeric(10, 2),
        postgresql.temporal("timestamp", 3),
    ),
    "sqlserver": _LoadTypes(
        lambda length: sqlserver.text("nvarchar", length),
        sqlserver.decimal(10, 2),
        sqlserver.temporal("datetime2", 3),
    ),
    "oracle": _LoadTypes(
        lambda length: oracle.string("varchar2", length),
        oracle.number(10, 2),
        oracle.temporal("timestamp", 3),
    ),
    "mongodb": _LoadTypes(
        lambda _length: mongodb.TYPES["string"],
        mongodb.TYPES["decimal"],
        mongodb.TYPES["date"],
    ),
}


@cache
def load_table(source: str = "mysql", payload: bool = False) -> Table:
    """The table of load, `shop.orders`, in the types of the source. It has ten columns, among them
    a bigint key beyond 2^53, text in several languages, a decimal and a nullable note. With
    `payload` there is one more text column at the end, `payload`. Raises UnknownName for an unknown
    source.
    """
    origin = databases.source(source)
    integer, load_types = origin.number, _LOAD_TYPES[source]
    columns = (
        Column("id", origin.key, nullable=False),
        Column("customer_id", integer, nullable=False),
        Column("status", load_types.varchar(16), nullable=False),
        Column("customer", load_types.varchar(128), nullable=False),
        Column("email", load_types.varchar(128), nullable=False),
        Column("address", load_types.varchar(255), nullable=False),
        Column("quantity", integer, nullable=False),
        Column("amount", load_types.amount, nullable=False),
        Column("created_at", load_types.moment, nullable=False),
        Column("note", load_types.varchar(255)),
    )
    extra = (Column(PAYLOAD, origin.long_text, nullable=False),) if payload else ()
    return Table("shop", "orders", (*columns, *extra), ("id",), schema=origin.schema)


NAMES: Final = tuple(column.name for column in load_table().columns)
"""The columns of the table of load, without the payload."""


@cache
def column_values() -> tuple[Sequence[Value], ...]:
    """The values that each column of the load table can have, column by column, without the
    payload. A column with fewer than 256 values takes its random byte modulo their number.
    """
    texts = pools()
    draw = random.Random("load")
    created = sorted(
        draw.sample(range(mysql.wall("2023-01-01") // 1000, mysql.wall("2023-11-14") // 1000), 256)
    )
    return (
        # From 2^53 + 1 on, the first integer that a double cannot hold.
        range(9_007_199_254_740_993, 9_007_199_254_740_993 + KEYS),
        draw.sample(range(1, 10**6), 256),
        _STATUSES,
        texts["name"],
        texts["email"],
        texts["address"],
        range(1, 257),
        tuple(
            Decimal((0, tuple(map(int, str(cents))), -2))
            for cents in draw.sample(range(100, 10**7), 256)
        ),
        tuple(ms * 1000 for ms in created),
        (*texts["sentence"][:224], None),
    )


@lru_cache(maxsize=8)
def payload_texts(size: int) -> tuple[str, ...]:
    """The texts that the payload column can have: of several languages, each of `size` bytes, or up
    to three fewer, so that no character is cut.
    """
    sentences = pools()["sentence"]
    texts = []
    for number in range(PAYLOADS):
        sentence = " ".join(sentences[number::PAYLOADS])
        repeated_text = (f"{number:x} {sentence} " * (size // len(sentence.encode()) + 1)).encode()
        texts.append(repeated_text[:size].decode("utf-8", "ignore"))
    return tuple(texts)


@lru_cache(maxsize=64)
def columns_by_byte(options: LoadOptions) -> tuple[Sequence[Value], ...]:
    """For each column of the load table, the value that each random number stands for: the key has
    4096 numbers, the payload 16, every other column 256. `options` says which keys are preferred
    (SKEWS), and how many of the 256 numbers of the note, from 224 on, stand for NULL.
    """
    nulls = {(224 + i) % 256 for i in range(round(options.null_rate * 256))}
    keys, *other_columns = column_values()
    columns: list[list[Value]] = [[keys[place] for place in SKEWS[options.keys]]]
    for pool in other_columns:
        columns.append([pool[byte % len(pool)] for byte in range(256)])
    # The last of the notes is None, which `% 224` leaves out: `nulls` alone says what is NULL.
    columns[NAMES.index("note")] = [
        None if byte in nulls else other_columns[-1][byte % 225 % 224] for byte in range(256)
    ]
    if options.payload:
        columns.append(list(payload_texts(options.payload)))
    return tuple(columns)


class BeforePlaces(NamedTuple):
    """The places, in the lists of `columns_by_byte`, of the old values of the columns that an
    UPDATE changes, in the order of CHANGED.
    """

    status: int
    quantity: int
    amount: int


def before_places(raw: bytes, offset: int) -> BeforePlaces:
    """The places, in the lists of `columns_by_byte`, of the values that a row's changed columns had
    before an UPDATE. They follow from the row's random bytes, which begin at `offset`; each differs
    from the place of the column's new value.
    """
    return BeforePlaces(
        (raw[offset + 5] + 1 + raw[offset + 13] % 7) & 7,
        (raw[offset + 9] + 1 + raw[offset + 14] % 255) & 255,
        (raw[offset + 10] + 1 + raw[offset + 15] % 255) & 255,
    )


def load_scenario(
    fmt: Format[Any], profile: Profile, seed: int, n: int, options: LoadOptions = DEFAULT
) -> Scenario:
    """The scenario of load unit n, one statement on the table of orders. Raises UsageError for a
    negative n.
    """
    if n < 0:
        raise UsageError(f"load unit {n}: the first is 0")
    number, place = divmod(n, BLOCK)
    history = unit_history(
        block(seed, fmt, profile, number, options), place, n, profile.source, options
    )
    return Scenario(f"load/{seed}/{n}", history, tags=frozenset({"load"}))


def unit_history(raw: bytes, place: int, n: int, source: str, options: LoadOptions) -> History:
    """The history of load unit n, which is one statement, from the random bytes `raw` of its block;
    `place` is the unit's number within the block, `source` the name of the database.

    Each row of the unit has UNIT bytes in `raw`. The first row's bytes 0 to 2, and half of byte 3,
    decide for the whole statement: operation, variant (the history's seed), key of the first row.
    """
    offset = place * UNIT * options.rows
    op = options.op_by_byte()[raw[offset]]
    # 12 bits: the number that gives the first row its key.
    key_number = raw[offset + 2] << 4 | raw[offset + 3] >> 4
    row_images = [
        _images(raw, offset + UNIT * row_number, row_number, op, options, key_number)
        for row_number in range(options.rows)
    ]
    return statement_history(
        load_table(source, options.payload > 0),
        op,
        raw[offset + 1] % VARIANTS,
        options.commit_instant(n),
        row_images,
    )


def _images(
    raw: bytes, offset: int, number: int, op: Op, options: LoadOptions, first: int
) -> RowImages:
    """The images (the rows before and after) of row `number` of a load's statement, from the row's
    random bytes, which begin at `offset`. `first` is the random number that gives the statement's
    first row its key.
    """
    columns = columns_by_byte(options)
    # The row's bytes from 4 on choose its columns behind the key, half of byte 3 the payload.
    cells: dict[str, Value] = {
        name: columns[i][raw[offset + 3 + i]] for i, name in enumerate(NAMES) if i
    }
    cells = {NAMES[0]: row_key(options, first, number), **cells}
    if options.payload:
        cells[PAYLOAD] = columns[-1][raw[offset + 3] & 15]
    before = before_places(raw, offset)
    old = {
        name: columns[NAMES.index(name)][place] for name, place in zip(CHANGED, before, strict=True)
    }
    return row_images(op, cells, old)


def row_key(options: LoadOptions, first: int, number: int) -> Value:
    """The key of row `number` of a load's statement. `first` is the random number that gives row 0
    its key; the key of each further row stands _STRIDE places behind that of the row before it,
    among KEYS keys.
    """
    return column_values()[0][(SKEWS[options.keys][first] + number * _STRIDE) % KEYS]


def row_images(op: Op, cells: Row, before_cells: Row) -> RowImages:
    """The images of one row that a statement inserts, updates or deletes. `cells` is the row;
    `before_cells` has the old values of the columns that an UPDATE changes.
    """
    match op:
        case Op.INSERT:
            return RowImages(None, cells)
        case Op.DELETE:
            return RowImages(cells, None)
    return RowImages({**cells, **before_cells}, cells)


def statement_history(
    table: Table, op: Op, variant: int, at: Instant, row_images: Iterable[RowImages]
) -> History:
    """The history of one statement: op `op` on the table, at the commit time `at`. `variant` is the
    history's seed, by which a writer decides what it leaves to chance.
    """
    return History((RowChange(at, table, op, tuple(row_images)),), seed=variant)


def block(
    seed: int, fmt: Format[Any], profile: Profile, number: int, options: LoadOptions
) -> bytes:
    """The random bytes that determine the BLOCK units (statements) of block `number` of a load:
    UNIT bytes for each row of each unit.
    """
    return rng(seed, fmt.name, profile.name, f"load-{number}").randbytes(
        BLOCK * UNIT * options.rows
    )
