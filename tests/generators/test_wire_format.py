"""Profiles of every format, listed and composed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

import pytest

from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.errors import UnknownName, UsageError
from generators.wire_format import Choices, Format, Limit, Profile, formats, get

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
    release, option = next((one.release, one.options[0]) for one in fmt.profiles if one.options)
    with pytest.raises(UnknownName, match=f"Did you mean '{option}'"):
        fmt.build(release, f"{option}x")
    assert fmt.choices is not None
    for twice in ((option, option), *(group for group in fmt.choices.exclusive if len(group) > 1)):
        with pytest.raises(UsageError):
            fmt.build(release, *twice)


WITH_SCHEMAS: Final[Mapping[str, Mapping[str, str]]] = {
    "aliyun-dts-avro": {"2020-06": "published"},
    "cloudcanal-debezium": {"2022": "message", "2022+schemaless": "none", "2022+typed+null-images+op-a": "message"},
    "debezium-json": {
        "3.5.0.Final": "message",
        "3.5.0.Final+schemaless": "none",
        "2.5.4.Final+plain-key+transaction+nulls-kept": "value",
        "3.5.0.Final+postgresql": "message",
    },
    "debezium-avro": {"3.5.0.Final": "registry"},
    "ticdc-avro": {"v8.5.7+extension": "registry"},
    "huawei-cdl-debezium": {"2.0": "message"},
    "huawei-cdl-json": {"1.0": "message"},
    "ticdc-simple-avro": {"v8.5.7": "published", "v8.5.7+claim-check+snappy": "published"},
    "ticdc-debezium-json": {"v8.1.2": "value", "v8.5.7": "message", "v8.5.7+schemaless+without-before": "none"},
}


def test_deployments_say_where_a_messages_schema_is() -> None:
    for fmt in formats():
        told = {profile.name: profile.deployment.schemas for profile in fmt.profiles}
        assert told.items() >= WITH_SCHEMAS.get(fmt.name, {}).items()
        assert (fmt.name in WITH_SCHEMAS) is any(told.values()) is all(told.values())


@pytest.mark.parametrize("name", [name for name in WITH_SCHEMAS if not name.endswith("avro")])
def test_the_schema_is_where_the_deployment_says(name: str) -> None:
    fmt = get(name)
    for profile in fmt.profiles:
        scenario = next(s for s in boundary_scenarios(fmt, profile) if s.name.startswith("shape/insert"))
        message = fmt.write(scenario.history, profile, LAYOUT)[-1].message
        key, value = (json.loads(part) if part else None for part in (message.key, message.value))
        assert ("schema" in value) is (profile.deployment.schemas in ("message", "value")), profile.name
        assert key is None or ("schema" in key) is (profile.deployment.schemas == "message"), profile.name
