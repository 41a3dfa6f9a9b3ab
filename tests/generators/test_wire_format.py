"""Profiles of every format, listed and composed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest

from generators import wire_format
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.errors import UnknownName, UsageError
from generators.profile_tables import read_file, read_format
from generators.profiles import Profile
from generators.wire_format import (
    FORMATS,
    Format,
    KindRow,
    about,
    formats,
    get,
    read_kind,
    read_profile,
)


def composed(fmt: Format[Any]) -> list[Profile]:
    """Every profile of a release and at most two options that the format lets be."""
    profiles = []
    for release in fmt.choices.releases:
        for count in range(3):
            for options in combinations(fmt.choices.options, count):
                try:
                    profiles.append(fmt.profile("+".join((release, *options))))
                except UsageError:
                    continue
    return profiles


@pytest.mark.parametrize("fmt", tuple(formats()), ids=lambda fmt: fmt.name)
def test_profiles_are_made_of_their_names(fmt: Format[Any]) -> None:
    for listed in fmt.profiles:
        assert fmt.profile(listed.name) is listed
        assert fmt.build(listed.release, *reversed(listed.options)) == listed
    every = composed(fmt)
    assert len(every) > len(fmt.profiles)
    assert len({p.database for p in (*every, *fmt.profiles)}) == len(
        {p.name for p in (*every, *fmt.profiles)}
    )
    with pytest.raises(UnknownName, match=f"of {fmt.name}"):
        fmt.profile("none")
    release, option = next(
        (profile.release, profile.options[0]) for profile in fmt.profiles if profile.options
    )
    with pytest.raises(UnknownName, match=f"Did you mean '{option}'"):
        fmt.build(release, f"{option}x")
    for twice in ((option, option), *(group for group in fmt.choices.exclusive if len(group) > 1)):
        with pytest.raises(UsageError):
            fmt.build(release, *twice)


@pytest.mark.parametrize("fmt", tuple(formats()), ids=lambda fmt: fmt.name)
def test_a_format_is_what_its_file_says(fmt: Format[Any]) -> None:
    from_file = about(fmt.name, fmt.choices)
    assert {key: getattr(fmt, key) for key in from_file} == from_file and all(from_file.values())


def test_every_file_is_a_format_s_and_every_shared_text_is_of_several() -> None:
    assert {
        path.stem for path in Path(wire_format.__file__).with_name("formats").glob("*.toml")
    } == {*FORMATS, "shared"}
    silent = Counter(
        option
        for name in FORMATS
        for option, row in read_format(name).get("options", {}).items()
        if isinstance(row, dict) and "says" not in row
    )
    assert silent.keys() == read_file("shared").keys() and min(silent.values()) > 1


WITH_SCHEMAS: Final[Mapping[str, Mapping[str, str]]] = {
    "aliyun-dts-avro": {"2020-06": "published"},
    "cloudcanal-debezium": {
        "2022": "message",
        "2022+schemaless": "none",
        "2022+typed+null-images+op-a": "message",
    },
    "debezium-json": {
        "3.5.0.Final": "message",
        "3.5.0.Final+schemaless": "none",
        "2.5.4.Final+plain-key+transaction+nulls-kept": "value",
        "3.5.0.Final+postgresql": "message",
    },
    "debezium-avro": {"3.5.0.Final": "registry"},
    "ticdc-avro": {"v8.5.7+extension": "registry"},
    "ticdc-debezium-avro": {"new-26.3.4": "registry"},
    "huawei-cdl-debezium": {"2.0": "message"},
    "huawei-cdl-json": {"1.0": "message"},
    "ticdc-simple-avro": {"v8.5.7": "published", "v8.5.7+claim-check+snappy": "published"},
    "debezium-mongodb-json": {
        "3.6.1.Final": "message",
        "3.6.1.Final+change_streams+schemaless": "none",
    },
    "debezium-mongodb-avro": {"3.6.1.Final": "registry"},
    "ticdc-debezium-json": {
        "v8.1.2": "value",
        "v8.5.7": "message",
        "v8.5.7+schemaless+without-before": "none",
    },
}


def test_deployments_say_where_a_messages_schema_is() -> None:
    for fmt in formats():
        schemas = {profile.name: profile.deployment.schemas for profile in fmt.profiles}
        assert schemas.items() >= WITH_SCHEMAS.get(fmt.name, {}).items()
        assert (fmt.name in WITH_SCHEMAS) is any(schemas.values()) is all(schemas.values())


@pytest.mark.parametrize("name", [name for name in WITH_SCHEMAS if not name.endswith("avro")])
def test_the_schema_is_where_the_deployment_says(name: str) -> None:
    fmt = get(name)
    for profile in fmt.profiles:
        scenario = next(
            s for s in boundary_scenarios(fmt, profile) if s.name.startswith("shape/insert")
        )
        message = fmt.write(scenario.history, profile, LAYOUT)[-1].message
        key, value = (json.loads(part) if part else None for part in (message.key, message.value))
        assert ("schema" in value) is (profile.deployment.schemas in ("message", "value")), (
            profile.name
        )
        assert key is None or ("schema" in key) is (profile.deployment.schemas == "message"), (
            profile.name
        )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (["type insert"], r"kinds\[3\] = \['type insert'\]: expected \[wire, kind, op, note\]"),
        ("type insert", r"kinds\[3\] = 'type insert': expected \[wire, kind, op, note\]"),
        (["type insert", "ROWW"], r"kinds\[3\]: unknown kind 'ROWW'\. Did you mean 'ROW'\?"),
        (["type b", "CONTROL or DL"], r"kinds\[3\]: unknown kind 'DL'\."),
        (["type c", "ROW", "INSRT"], r"unknown operation 'INSRT'\. Did you mean 'INSERT'\?"),
    ],
)
def test_a_wrong_kind_of_message_is_refused_with_its_place(row: Any, why: str) -> None:
    with pytest.raises(UsageError, match=r"generators/formats/toy-json\.toml: .*" + why):
        read_kind("toy-json", 3, row)


def test_a_kind_of_message_is_read() -> None:
    assert read_kind("toy-json", 0, ["type x", "CONTROL, WATERMARK or HEARTBEAT"]) == KindRow(
        "type x", "CONTROL, WATERMARK or HEARTBEAT"
    )
    assert read_kind("toy-json", 0, ["op c", "ROW", "INSERT", "new"]) == KindRow(
        "op c", "ROW", "INSERT", "new"
    )


def test_a_wrong_profile_of_a_run_is_refused_with_its_file() -> None:
    choices = get("maxwell-json").choices
    why = (
        r"^generators/formats/maxwell-json\.toml: profiles: '1\.45\.0\+xofset': unknown option"
        r" 'xofset' of maxwell-json\. Did you mean 'xoffset'\?"
    )
    with pytest.raises(UsageError, match=why):
        read_profile("maxwell-json", "1.45.0+xofset", choices)
