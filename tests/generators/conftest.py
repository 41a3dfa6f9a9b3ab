"""What the tests of the generators share: the named cases of a format."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest

from generators.model import Case
from generators.profiles import Profile
from generators.wire_format import FORMATS, Format, get

TWO = {
    "ticdc-canal-json": ("v5.3.4", "v8.5.7+extension+claim-check"),
    "alibaba-canal-json": ("1.1.6+minimal", "1.1.8"),
    "alibaba-canal-protobuf": ("1.1.6+minimal", "1.1.8+pk-hash"),
    "cloudcanal-debezium": ("2022", "2022+typed+null-images+op-a"),
    "aliyun-dts-avro": ("2020-06", "2020-06+postgresql"),
    "ticdc-simple-json": ("v8.5.7+tz+checksum", "v7.5.7+auto-bootstrap+one-partition"),
    "ticdc-simple-avro": ("v8.5.7+tz+checksum", "new-8.5.6+local-zone+handle-key-only"),
    "huawei-cdl-json": ("1.0", "1.0+default-identity"),
    "huawei-cdl-debezium": ("2.0", "2.0+default-identity"),
    "ticdc-open-protocol": (
        "v8.5.7+only-updated+one-row",
        "new-8.5.6+only-updated+delete-handle-key+handle-key-only",
    ),
    "ticdc-debezium-json": ("v8.1.2", "new-8.5.6+extension"),
    "ticdc-avro": (
        "v7.1.6+force-replicate",
        "v8.5.7+extension+checksum+decimal-string+bigint-string",
    ),
    "debezium-avro": ("3.5.0.Final", "2.5.4.Final+transaction+nulls-kept+record-name"),
    "debezium-json": ("2.5.4.Final+plain-key+transaction+nulls-kept", "3.5.0.Final+postgresql"),
}
"""Two profiles that stand for all of a format, its first and its last where none are named; a run
has them all.
"""


class Named(NamedTuple):
    """A profile of a format and its named cases."""

    fmt: Format[Any]
    profile: Profile
    cases: tuple[Case, ...]


@cache
def read(name: str, *profiles: str) -> tuple[Case, ...]:
    """The named cases of a format's profiles."""
    from conformance.cases.catalogue import named_cases

    fmt = get(name)
    return tuple(named_cases(fmt, [fmt.profile(profile) for profile in profiles]))


def two(name: str) -> tuple[str, ...]:
    profiles = get(name).profiles
    return TWO.get(name, (profiles[0].name, profiles[-1].name))


@pytest.fixture(
    scope="session", params=[f"{name}/{profile}" for name in FORMATS for profile in two(name)]
)
def named(request: pytest.FixtureRequest) -> Named:
    """Each of a format's two profiles, with its cases."""
    name, profile = request.param.split("/")
    return Named(get(name), get(name).profile(profile), read(name, profile))
