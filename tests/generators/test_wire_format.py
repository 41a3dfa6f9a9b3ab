"""Profiles of every format, listed and composed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.errors import UnknownName, UsageError
from generators.wire_format import Choices, Format, Limit, Profile, formats

SHAPES = Choices(
    "shapes",
    ("1", "2"),
    {"round": "", "square": "", "big": "", "bigger": ""},
    (("round", "square"),),
    (
        Limit("big", "came with 2", ("2",)),
        Limit("bigger", "needs big", needs=("big",)),
        Limit("big", "is flat", without=("square",)),
    ),
)


def composed(fmt: Format[Any]) -> list[Profile]:
    """Every profile of a release and at most two options that the format lets be."""
    found = []
    assert fmt.choices is not None
    for release in fmt.choices.releases:
        for count in range(3):
            for options in combinations(fmt.choices.options, count):
                try:
                    found.append(fmt.profile("+".join((release, *options))))
                except UsageError:
                    continue
    return found


def test_options_are_ordered_and_checked() -> None:
    assert SHAPES.checked("2", ("bigger", "round", "big")) == ("round", "big", "bigger")
    with pytest.raises(UnknownName, match=r"unknown option 'rond' of shapes\. Did you mean 'round'"):
        SHAPES.checked("1", ("rond",))
    with pytest.raises(UnknownName, match="unknown release '3' of shapes"):
        SHAPES.checked("3", ())
    for release, options, why in (
        ("1", ("round", "round"), "each may be given once"),
        ("1", ("square", "round"), "options round and square of shapes exclude each other"),
        ("1", ("big",), r"shapes 1\+big: big came with 2"),
        ("2", ("bigger",), "bigger needs big"),
        ("2", ("big", "square"), "big is flat"),
    ):
        with pytest.raises(UsageError, match=why):
            SHAPES.checked(release, options)


@pytest.mark.parametrize("fmt", tuple(formats()), ids=lambda fmt: fmt.name)
def test_profiles_are_made_of_their_names(fmt: Format[Any]) -> None:
    assert fmt.build is not None
    for listed in fmt.profiles:
        assert fmt.profile(listed.name) is listed
        assert fmt.build(listed.release, *reversed(listed.options)) == listed
    every = composed(fmt)
    assert len(every) > len(fmt.profiles)
    assert len({one.database for one in (*every, *fmt.profiles)}) == len({one.name for one in (*every, *fmt.profiles)})
    with pytest.raises(UnknownName, match=f"of {fmt.name}"):
        fmt.profile("none")


def test_one_case_of_each_composed_profile_is_written() -> None:
    for fmt in formats():
        for profile in composed(fmt)[::7]:
            assert any(fmt.write(scenario.history, profile, LAYOUT) for scenario in boundary_scenarios(fmt, profile))
