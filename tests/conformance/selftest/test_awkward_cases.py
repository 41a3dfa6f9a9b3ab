"""Cases that few writers of tests think of: each format has each of them, or cannot, and a decoder
fails because of it.
"""

import datetime as dt
import fnmatch
from collections.abc import Callable
from zoneinfo import ZoneInfo

import pytest

from conformance.judging.compared_units import cells
from conformance.selftest.bench import bench_of_cases, judge_rows
from conformance.selftest.operators.catalogue import OPERATORS
from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import Case, Logical, State
from generators.wire_format import FORMATS, get

HUNDRED, BYTE, LONG = 100, 255, 1 << 16
SUMMER = dt.datetime(2024, 7, 1)


def odd_zone(case: Case) -> bool:
    """Whether the writer's zone differs from UTC by no whole hours, and a TIMESTAMP is written."""
    offset = ZoneInfo(case.deployment.time_zone or "UTC").utcoffset(SUMMER) or dt.timedelta()
    changes = (change for written in case.written for change in written.changes)
    kinds = (
        (cell.type.logical, cell.state)
        for change in changes
        for _, _, cell in cells(change, case.level)
    )
    return bool(offset.seconds % 3600) and (Logical.TIMESTAMP, State.VALUE) in kinds


def wide(case: Case) -> bool:
    types = (column.type for table in case.tables for column in table.columns)
    return any(len(type.members) > BYTE for type in types) and case.scenario == "shape/wide-enum"


SCENARIOS = {
    *(
        "shape/gains-a-column",
        "shape/awkward-names",
        "rows/keyless/same-name-in-capitals",
        "shape/odd-names",
    ),
    *(
        "shape/awkward-texts",
        "rows/keyless/awkward-texts",
        "rows/every-type/over-64k",
        "shape/many-rows",
    ),
    *("shape/wide-enum", "timestamp-0/plain"),
}
TRAITS: dict[str, tuple[Callable[[Case], bool], str]] = {
    "a column is gained between rows": (
        lambda case: case.scenario == "shape/gains-a-column",
        "columns-known-before",
    ),
    "columns with capital letters": (
        lambda case: case.scenario == "shape/awkward-names",
        "columns-lower-case",
    ),
    "tables differ in case alone": (
        lambda case: case.scenario == "rows/keyless/same-name-in-capitals",
        "namesake-as-the-table",
    ),
    "names with odd characters": (
        lambda case: case.scenario == "shape/odd-names",
        "columns-url-decoded",
    ),
    "awkward texts": (lambda case: case.scenario.endswith("/awkward-texts"), "text-trimmed-left"),
    "texts over 64 KB at level two": (
        lambda case: case.scenario == "rows/every-type/over-64k",
        "text-cut-at-64k",
    ),
    "over 100 rows in a message": (
        lambda case: any(len(w.changes) > HUNDRED for w in case.written),
        "first-hundred-rows",
    ),
    "an ENUM of over 255 members": (wide, "enum-one-byte"),
    "a zone of no whole hours": (odd_zone, "timestamp-half-an-hour-late"),
}
"""What a case may have, and the operator that it convicts."""
LABELS = "the wire has labels, which no number shortens"
CANNOT = {
    "tables differ in case alone": {
        "ticdc-*": "TiDB compares names of tables without regard to case",
        **dict.fromkeys(("flink-*", "seatunnel-*"), "a message names no table"),
    },
    "over 100 rows in a message": {
        **dict.fromkeys(
            (
                "ticdc-[acds]*",
                "*debezium*",
                "huawei-*",
                "aliyun-*",
                "maxwell-*",
                "ogg-*",
                "aws-*",
                "flink*",
                "seatunnel-*",
            ),
            "a message has one row",
        ),
        "canal-dialects-json": "the services write a row a message",
        "tencent-*": "a row is a message",
        "ticdc-open-protocol": "a batch has at most 16 rows",
    },
    "an ENUM of over 255 members": {
        "huawei-*": "columns are PostgreSQL's, whose ENUMs have no numbers",
        **dict.fromkeys(("ogg-json", "aws-dms-json"), "the format's columns have no ENUM"),
        **dict.fromkeys(
            (
                "*debezium*",
                "tencent-*",
                "cloudcanal-json",
                "aliyun-*",
                "maxwell-*",
                "ticdc-avro",
                "flink*",
                "seatunnel-*",
            ),
            LABELS,
        ),
    },
    "names with odd characters": dict.fromkeys(
        ("debezium-avro", "ticdc-avro", "ticdc-debezium-avro"),
        "a name of Avro has letters, digits and _ alone",
    ),
    "a zone of no whole hours": {
        **dict.fromkeys(
            ("*debezium*", "aliyun-*", "huawei-*", "flink*"),
            "a TIMESTAMP is an instant, or in UTC",
        ),
        "ticdc-simple-*": "a TIMESTAMP names its own zone",
        **dict.fromkeys(("maxwell-*", "ogg-*", "aws-*"), "the writer is assumed to run in UTC"),
        "canal-dialects-json": "the services run in Asia/Shanghai",
    },
}
"""Formats that cannot have it, and why."""


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_each_case_or_cannot_and_an_operator_is_convicted_because_of_it(
    name: str,
) -> None:
    fmt = get(name)
    every = (
        (profile, scenario)
        for profile in fmt.profiles
        for scenario in boundary_scenarios(fmt, profile)
    )
    cases = [
        as_case(fmt, profile, scenario) for profile, scenario in every if scenario.name in SCENARIOS
    ]
    for trait, (has, operator) in TRAITS.items():
        mine = [case for case in cases if has(case)]
        why = [
            words
            for glob, words in CANNOT.get(trait, {}).items()
            if fnmatch.fnmatchcase(name, glob)
        ]
        tried = bench_of_cases(fmt, mine)
        altered = [
            (answered.case, answered.apply_operator(OPERATORS[operator]))
            for answered in tried.cases.values()
        ]
        convicted = [
            case.id
            for case, rows in altered
            if rows is not None and judge_rows(tried.empty_judge(), case, rows).findings
        ]
        assert bool(convicted) != bool(why), (name, trait, operator, len(mine), why)
