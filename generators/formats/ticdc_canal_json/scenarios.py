"""The named cases that only TiCDC Canal-JSON has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, updated
from generators.families.ticdc import scenarios as shared
from generators.families.ticdc.instants import at, noise
from generators.formats.ticdc_canal_json.profiles import TicdcProfile
from generators.model import (
    Column,
    Instant,
    Op,
    Row,
    Scenario,
    SourceType,
    Value,
    Watermark,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import (
    COMPOSITE,
    ID,
    KEYLESS,
    START,
    change,
    every_type,
    insert,
    named,
    scenario,
)

DOCUMENT_WATERMARK: Final = 429918007904436226
"""The watermark's TSO in the documentation's sample."""


def scenarios(profile: TicdcProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone, for a profile. `database` is that of the tables of
    level one (cases whose values are compared as texts).
    """
    yield from shared.statements(database, profile)
    if profile.extension:
        yield named("control/watermark", Watermark(at(DOCUMENT_WATERMARK)), tags=("control",))
        yield named(
            "control/watermark-logical-zero", Watermark(Instant(START.ms)), tags=("control",)
        )
    yield from _old(database)
    yield from shared.key_updates(database)
    yield from shared.selected_columns(database, profile)
    yield from _types(profile, database)
    if profile.reduce:
        yield from _oversized(profile, database)


def _old(database: str) -> Iterator[Scenario]:
    """Yields the cases `old/...`: INSERT, UPDATE and DELETE of rows with NULLs, with nothing
    changed, and with column names that differ in case, at level one and two.
    """
    cases = Cases(database)
    string = mysql.text("varchar", 64)
    columns = (ID, Column("a", string), Column("b", string))
    x: Row = {"id": 1, "a": "x", "b": None}
    tags = frozenset({"boundary", "old"})
    for label, op, before, after in (
        ("insert", Op.INSERT, None, x),
        ("delete", Op.DELETE, x, None),
        ("update", Op.UPDATE, x, {**x, "a": "y"}),
        ("update-nothing", Op.UPDATE, x, x),
        ("update-from-null", Op.UPDATE, x, {**x, "b": "z"}),
        ("update-to-null", Op.UPDATE, {**x, "b": "z"}, x),
        ("update-literal-null-to-null", Op.UPDATE, {**x, "b": "null"}, x),
    ):
        yield cases.of(*columns).case(f"old/{label}", change(OWN, op, (before, after)), tags=tags)
    cased = (ID, Column("c", string), Column("C2", string), Column("C10", string))
    cased_row: Row = {"id": 1, "c": "x", "C2": "y", "C10": "z"}
    yield cases.of(*cased).case("old/name-case", updated(cased_row, {"C2": None}))
    bare: Row = {"a": 1, "b": "x", "c": None}
    yield scenario(
        "old/rows/update",
        change(KEYLESS, Op.UPDATE, (bare, {**bare, "a": None})),
        level=2,
        tags=tags,
    )
    yield scenario(
        "old/rows/update-nothing", change(KEYLESS, Op.UPDATE, (bare, bare)), level=2, tags=tags
    )
    yield scenario("old/rows/delete", change(KEYLESS, Op.DELETE, (bare, None)), level=2, tags=tags)


def _types(profile: TicdcProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases on types: unsigned integers around half of their range, parameters and
    spellings of types, zero dates, hours that occur twice, doubles and floats.
    """
    cases = Cases(database)
    kinds = {
        n: mysql.integer(n, unsigned=True)
        for n in ("tinyint", "smallint", "mediumint", "int", "bigint")
    }
    half: dict[str, Value] = {"id": 1, **{n: (type.high or 0) >> 1 for n, type in kinds.items()}}
    over: dict[str, Value] = {
        "id": 1,
        **{n: ((type.high or 0) >> 1) + 1 for n, type in kinds.items()},
    }
    up, down = updated(half, over), updated(over, half)
    yield cases.of(ID, *(Column(n, type) for n, type in kinds.items())).case(
        "unsigned/update-across-half", up, down, deleted(over)
    )
    typed: dict[str, tuple[SourceType, Value]] = {
        "float unsigned": (mysql.real("float", unsigned=True), 1.5),
        "decimal unsigned": (
            mysql.decimal(5, 2, unsigned=True),
            mysql.boundary_values("unsigned-decimal-5-2")["max"],
        ),
        "bigint zerofill": (mysql.integer("bigint", zerofill=True), 7),
        "tinyint zerofill": (mysql.integer("tinyint", zerofill=True), None),
    }
    yield cases.of(ID, *(Column(n, type) for n, (type, _) in typed.items())).case(
        "unsigned/parameters", inserted({"id": 1, **{n: value for n, (_, value) in typed.items()}})
    )
    yield shared.declared_types("types/declared", database, profile)
    everything = every_type(lambda _type: True)
    empty: Row = {c.name: None for c in everything.columns} | {"id": 1}
    pair = ({**empty, "c_unsigned_bigint": 1 << 63}, {**empty, "c_unsigned_bigint": (1 << 63) - 1})
    yield scenario("unsigned/rows/update-across-half", change(everything, Op.UPDATE, pair), level=2)
    zero: Row = {
        **empty,
        "c_date": ZeroDate(),
        "c_datetime_6": ZeroDate(2024, 0, 0),
        "c_timestamp_3": ZeroDate(),
    }
    yield scenario(
        "zero-date/rows",
        insert(everything, zero),
        level=2,
        tags=frozenset({"boundary", "zero-date"}),
    )
    yield from shared.ambiguous_hours(profile.deployment.time_zone)
    yield shared.minus_zero(database)
    yield shared.doubles(database)
    yield cases.of(ID, Column("c", mysql.real("float"))).case(
        "float/noise", inserted({"id": 1, "c": mysql.to_float32(123.99)})
    )


def _oversized(profile: TicdcProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases of rows whose messages are longer than the limit, so that TiCDC sends their
    handle key alone.
    """
    cases = Cases(database)
    tags = frozenset({"boundary", "reduced"})
    columns = (ID, Column("a", mysql.text("varchar", 64)), Column("big", mysql.text("longtext")))
    big = noise(profile.max_message_bytes * 3 // 2)
    yield from shared.oversized_rows(profile.max_message_bytes, database)
    if profile.new_architecture:
        # the classic architecture refuses such a configuration (ticdc#canal-no-columns)
        yield cases.of(*columns[1:], key=()).case(
            "reduced/keyless", inserted({"a": "x", "big": big}), tags=tags
        )
    yield from shared.oversized_typed_rows(profile.max_message_bytes)
    names = [c.name for c in COMPOSITE.columns]
    small: dict[str, Value] = dict.fromkeys(names, "v") | {names[0]: 5}
    yield scenario("reduced/rows/small", insert(COMPOSITE, small), level=2, tags=tags)
