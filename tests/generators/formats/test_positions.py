"""Positions change their number of digits and their file within a named history, in every format
that has such positions.
"""

from __future__ import annotations

import re

import pytest

from conformance.rules.order import order_of
from generators.drawing.cases import as_case
from generators.sources import boundaries
from generators.wire_format import FORMATS, get

WITH_LENGTHS = [name for name in FORMATS if order_of(name).has("lengths")]


def test_formats_whose_positions_have_several_lengths():
    assert [
        *("cloudcanal-debezium", "aliyun-dts-avro", "tencent-dts-json"),
        *("huawei-cdl-json", "huawei-cdl-debezium", "debezium-json"),
        *("maxwell-json", "canal-dialects-json", "debezium-avro", "alibaba-canal-protobuf"),
    ] == WITH_LENGTHS


@pytest.mark.parametrize("name", WITH_LENGTHS)
def test_positions_compared_as_texts_are_in_another_order(name):
    fmt = get(name)
    profile_name = order_of(name).profile_for_wrong_keepers
    profile = fmt.profile(profile_name) if profile_name else fmt.profiles[0]
    case = as_case(fmt, profile, boundaries.many_commits(profile.database, profile.source))
    positions = [
        change.position
        for written in case.written
        for change in written.changes
        if change.kind == "ROW" and change.position
    ]
    assert len(positions) == boundaries.COMMITS
    assert sorted(positions) != positions
    assert sorted(positions, key=as_numbers(name)) == positions
    assert len({len(position) for position in positions}) > 1


def as_numbers(name):
    def key(position):
        for pattern, groups in order_of(name).positions:
            if match := re.search(pattern, position):
                return tuple(int(match[group]) for group in groups)
        raise AssertionError(position)

    return key


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("maxwell-json", "binlog.999999:5", "binlog.1000000:56754181"),
        ("tencent-dts-json", "2196@4", "11696@6"),
        ("aliyun-dts-avro", "72469@78", "76969@79"),
        ("huawei-cdl-json", "99999990000000007", "100000008087936007"),
    ],
)
def test_positions_of_the_first_and_the_last_commit(name, first, last):
    fmt = get(name)
    profile_name = order_of(name).profile_for_wrong_keepers
    profile = fmt.profile(profile_name) if profile_name else fmt.profiles[0]
    case = as_case(fmt, profile, boundaries.many_commits(profile.database, profile.source))
    positions = [change.position for written in case.written for change in written.changes]
    assert (positions[0], positions[-1]) == (first, last)
