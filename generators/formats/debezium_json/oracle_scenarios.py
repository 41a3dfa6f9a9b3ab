"""The named cases that only Debezium's profiles of Oracle have."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from generators.families.cases import Cases, deleted, inserted, read, updated
from generators.formats.debezium_json.commit_scenarios import one_commit
from generators.model import Column, Row, Scenario, Value
from generators.sources import oracle

_LARGE: Final[tuple[tuple[str, Value, Value], ...]] = (
    ("clob", "a long value", "another"),
    ("nclob", "\u5927\u304d\u3044", "\u5c0f"),
    ("blob", b"long \xff", b"short"),
)
"""For each type of large values a value, and another one to change it to."""
_FINE: Final = (
    ("timestamp-9", "2024-01-02 03:04:05.123456789"),
    ("timestamp-9", "1969-12-31 23:59:59.999999999"),
    ("timestamptz-9", "2024-01-02 03:04:05.123456789 +00:00"),
)
"""Moments with nine fraction digits, by their type."""
_OFFSETS: Final = (
    ("plus", "2018-07-13 12:23:45.456 +11:00"),
    ("half-hour", "2018-07-13 12:23:45 -03:30"),
    ("next-day", "2023-12-31 23:30:00 -12:00"),
    ("before-1970-fraction", "1969-07-20 20:17:40.500 +01:00"),
)
"""Moments with an offset from UTC, by what is special in them."""
_NUMBERS: Final = (
    ("same-scale", Decimal("1.50")),
    ("no-scale", Decimal(-1500)),
    ("long", Decimal(-99999999999999999999999999999999999999)),
    ("thirty-places", Decimal("0.000000000000000000000000000001")),
)
"""Numbers of a column without scale, whose rows have each a scale of its own."""


def oracle_cases(cases: Cases) -> Iterator[Scenario]:
    """Yields Oracle's cases: large values, numbers without scale, digits beyond microseconds,
    offsets, names with the signs that Oracle has beside letters and digits, one commit.
    """
    yield from _large_values(cases)
    yield from _moments(cases)
    free = oracle.number()
    for label, number in _NUMBERS:
        yield cases.value(f"values/free-number-{label}", free, number)
    key = Column("id", oracle.number(18), False)
    numbers: list[Row] = [{"id": i, "c": number} for i, (_, number) in enumerate(_NUMBERS)]
    yield cases.of(key, Column("c", free)).case("values/free-numbers", inserted(*numbers))
    named_columns = (
        Column("ID#", oracle.number(18), False),
        Column("A$B", oracle.string()),
        Column("C#1", free),
    )
    signs = cases.of(*named_columns, key=("ID#",))
    yield signs.case(
        "names/dollar-and-hash", inserted({"ID#": 1, "A$B": "x", "C#1": Decimal("2.5")})
    )
    yield one_commit(cases)


def _large_values(cases: Cases) -> Iterator[Scenario]:
    """Yields, for each type of large values in _LARGE, the cases of a value that is unchanged,
    changed, empty, NULL or deleted, and of an update of the key beside it; last that of a NOT NULL
    CLOB. Their tag `toast` (PostgreSQL's word for values out of line) marks values that the log has
    only where a statement sets them (debezium#oracle-large-values).
    """
    key, number = Column("id", oracle.number(18), False), oracle.number(9)
    for label, value, new in _LARGE:
        large = cases.of(key, Column("c", oracle.TYPES[label]), Column("b", number))
        first_row: Row = {"id": 1, "c": value, "b": 5}
        nothing: Row = {**first_row, "c": None}
        empty: Value = b"" if label == "blob" else ""
        for name, event in (
            ("unchanged", updated(first_row, {"b": 6})),
            ("changed", updated(first_row, {"c": new})),
            ("to-null", updated(first_row, {"c": None})),
            ("unchanged-null", updated(nothing, {"b": 6})),
            ("deleted", deleted(first_row)),
            ("inserted-null", inserted(nothing)),
            ("empty", inserted({**first_row, "c": empty})),
            ("snapshot-empty", read({**first_row, "c": empty})),
        ):
            yield large.case(f"large/{label}-{name}", event, tags={"toast"})
        yield large.case(
            f"large/{label}-key-update", updated(first_row, {"id": 2}), tags={"toast", "key-update"}
        )
    solid = cases.of(key, Column("c", oracle.string("clob"), False), Column("b", number))
    yield solid.case(
        "large/not-null-unchanged", updated({"id": 1, "c": "x", "b": 5}, {"b": 6}), tags={"toast"}
    )


def _moments(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases of digits beyond microseconds, of offsets, and of what a snapshot read."""
    for number, (label, moment) in enumerate(_FINE):
        yield cases.value(f"values/fine-{label}-{number}", oracle.TYPES[label], moment)
    for label, moment in _OFFSETS:
        yield cases.value(f"values/offset-{label}", oracle.TYPES["timestamptz-3"], moment)
    key = Column("id", oracle.number(18), False)
    for label in ("date", "timestamp-3", "timestamp-9", "interval-day"):
        value: Value = 1_704_164_645_000_000
        if label == "interval-day":
            value = "+0001 02:03:04.560000"
        column = Column("c", oracle.TYPES[label])
        yield cases.of(key, column).case(
            f"snapshot/{label}", read({"id": 1, "c": value}), tags={"snapshot"}
        )
