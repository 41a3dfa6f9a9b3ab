"""A fault that was once convicted by drawn cases alone is convicted by a named case of budget smoke,
whatever the run's seed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest

from conformance.cases.catalogue import named_cases
from conformance.cases.covering import select_covering
from conformance.selftest import measuring
from conformance.selftest.bench import Bench, bench_of_cases
from conformance.selftest.operators.catalogue import OPERATORS
from generators.model import Origin
from generators.wire_format import get

SEEDS = (1, 2, 3)
KEYS = ("*/shape/key-unsorted", "*/shape/composite-key", "*/shape/upper-case")
MILLIS = ("*/shape/commit-millis",)
SUMMERS = ("*/rows/every-type/classes-datetime",)


class Conviction(NamedTuple):
    """A fault at a level, the globs of the named cases that show it, and the rule that they break."""

    fmt: str
    operator: str
    level: int
    cases: tuple[str, ...]
    rule: str


CONVICTIONS = (
    Conviction("ogg-json", "keys-sorted", 1, KEYS, "envelope/keys"),
    Conviction("ticdc-simple-avro", "keys-sorted", 1, KEYS, "bootstrap/keys"),
    Conviction("ticdc-simple-avro", "keys-lower-case", 1, KEYS, "bootstrap/keys"),
    Conviction("cloudcanal-json", "keys-sorted", 1, KEYS, "envelope/keys-described"),
    Conviction("cloudcanal-json", "keys-reversed", 1, KEYS, "envelope/keys-described"),
    Conviction("cloudcanal-json", "keys-first-alone", 1, KEYS, "envelope/keys-described"),
    Conviction("cloudcanal-json", "keys-lower-case", 1, KEYS, "envelope/keys-described"),
    Conviction("cloudcanal-json", "commit-time-in-seconds", 1, MILLIS, "envelope/commit-time"),
    Conviction(
        "cloudcanal-canal-json", "commit-time-in-seconds", 1, MILLIS, "envelope/commit-time"
    ),
    Conviction(
        "huawei-cdl-debezium", "datetime-an-hour-late-in-summer", 2, SUMMERS, "law/one-zone"
    ),
)


@cache
def smoke_bench(fmt_name: str, patterns: tuple[str, ...], seed: int) -> Bench:
    """The named cases of these globs that budget smoke selects, answered rightly."""
    fmt = get(fmt_name)
    return bench_of_cases(
        fmt, select_covering(list(named_cases(fmt, fmt.profiles, patterns)), seed)
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "conviction",
    CONVICTIONS,
    ids=lambda conviction: f"{conviction.fmt}/{conviction.operator}/{conviction.level}",
)
def test_a_named_case_convicts_whatever_the_seed(conviction: Conviction, seed: int) -> None:
    bench = smoke_bench(conviction.fmt, conviction.cases, seed)
    (measured,) = (
        measured
        for measured in measuring.measure(bench, [OPERATORS[conviction.operator]])
        if measured.level == conviction.level
    )
    assert conviction.rule in measured.must_in_named_cases
    assert not measured.must_in_drawn_cases


def test_named_cases_that_the_cover_lacks_are_tried_before_drawn_ones_are_said_to_convict_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fmt = get("ogg-json")
    named = [
        case
        for case in smoke_bench("ogg-json", KEYS, 1).cases.values()
        if case.apply_operator(OPERATORS["keys-sorted"])
    ]
    drawn = [
        replace(answered.case, id=f"{answered.case.id}/drawn", origin=Origin.DRAWN)
        for answered in named
    ]
    cases = [answered.case for answered in named]
    bench = bench_of_cases(fmt, [*cases, *drawn])
    drawn_alone = bench_of_cases(fmt, drawn)
    monkeypatch.setattr(Bench, "cover", lambda _self, _level: list(drawn_alone.cases.values()))
    (measured,) = measuring.measure(drawn_alone, [OPERATORS["keys-sorted"]])
    assert (measured.by_drawn_cases_alone, str(measured.answer)) == (True, "convicted")
    (measured,) = measuring.measure(bench, [OPERATORS["keys-sorted"]])
    assert (measured.by_drawn_cases_alone, str(measured.answer)) == (False, "convicted")
