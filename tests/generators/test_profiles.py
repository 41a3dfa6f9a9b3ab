"""Profiles composed of releases and options: order, refusals, and which fact wins."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from generators.errors import UnknownName, UsageError
from generators.model import Deployment
from generators.profiles import Choices, Limit, Pair, Profile, with_facts


@dataclass(frozen=True, slots=True)
class Shape(Profile):
    """A profile of the format `shapes`."""

    corners: int = 4
    colour: str = "red"


SHAPES = Choices(
    of="shapes",
    bases={"1": Shape("1"), "2": Shape("2", colour="blue")},
    options={"round": "", "square": "", "big": "", "bigger": "", "odd": ""},
    exclusive=(("round", "square"),),
    limits=(
        Limit(option="big", why="came with 2", releases=("2",)),
        Limit(option="bigger", why="needs big", needs=("big",)),
        Limit(option="big", why="is flat", without=("square",)),
        Limit(option="odd", why="stops there", without=("round",), among=("1",)),
    ),
    facts={
        "round": {"corners": 0},
        "big": {"corners": 8, "deployment": {"time_zone": "Asia/Tokyo"}},
        "odd": {"corners": 5},
    },
    pairs=(Pair(releases=("2",), needs=("round", "odd"), facts={"colour": "green"}),),
)


def test_options_are_ordered_and_checked() -> None:
    assert SHAPES.releases == ("1", "2")
    assert SHAPES.checked("2", ("bigger", "round", "big")) == ("round", "big", "bigger")
    with pytest.raises(
        UnknownName, match=r"unknown option 'rond' of shapes\. Did you mean 'round'"
    ):
        SHAPES.checked("1", ("rond",))


@pytest.mark.parametrize(
    ("release", "options", "why"),
    [
        ("1", ("round", "round"), "each may be given once"),
        ("1", ("square", "round"), "options round and square of shapes exclude each other"),
        ("1", ("big",), r"shapes 1\+big: big came with 2"),
        ("2", ("bigger",), "bigger needs big"),
        ("2", ("big", "square"), "big is flat"),
        ("1", ("round", "odd"), "odd stops there"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(
    release: str, options: tuple[str, ...], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        SHAPES.build(release, *options)


def test_an_unknown_release_is_a_clear_error() -> None:
    with pytest.raises(UnknownName, match="unknown release '3' of shapes"):
        SHAPES.build("3")


def test_a_later_option_wins_over_an_earlier_one_and_a_pair_over_all() -> None:
    tokyo = Deployment(time_zone="Asia/Tokyo")
    assert SHAPES.build("2") == Shape("2", colour="blue")
    assert SHAPES.build("2", "big", "round") == Shape(
        "2", ("round", "big"), tokyo, corners=8, colour="blue"
    )
    assert SHAPES.build("2", "odd", "round") == Shape(
        "2", ("round", "odd"), corners=5, colour="green"
    )
    assert SHAPES.build("1", "odd") == Shape("1", ("odd",), corners=5)


def test_a_mapping_sets_some_fields_of_a_dataclass() -> None:
    changed = with_facts(Shape("1"), {"corners": 3, "deployment": {"charset": "gbk"}})
    assert changed == Shape("1", deployment=Deployment(charset="gbk"), corners=3)
