"""Values in words: instants with their difference, texts that are visible, errors with their cause,
the unfit cell by name.
"""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging import wording
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.rules.rules import rules
from generators.model import Cell, Json, State, ZeroDate
from generators.sources import mysql
from generators.wire_format import get

SECOND = 1_000_000
WHEN = 1_700_000_000 * SECOND


@pytest.mark.parametrize(
    ("given", "words"),
    [
        *(
            (None, "NULL"),
            ("", "''"),
            ("NULL", "'NULL'"),
            (" x", "' x'"),
            ("x", "x"),
            (True, "true"),
            (Decimal("1.50"), "1.50"),
        ),
        *(
            (dt.date(2024, 2, 29), "2024-02-29"),
            (ZeroDate(), "0000-00-00"),
            (Json({"a": [1, None]}), '{"a": [1, null]}'),
        ),
        *((b"\x00a", r"b'\x00a'"), (Typed("timestamp", WHEN), "2023-11-14T22:13:20Z")),
        (Typed("timestamp_ntz", WHEN + 1), "2023-11-14T22:13:20.000001"),
        (Typed("timestamp", 10**18), "1000000000000000000 microseconds from 1970-01-01T00:00:00Z"),
        *(
            (Typed("interval", -3_600 * SECOND), "-01:00:00.000000"),
            ({"a": Typed("string", ""), "b": None}, "{a: '', b: NULL}"),
        ),
        (("a", ""), "[a, '']"),
    ],
)
def test_values(given, words):
    assert wording.value(given) == words


@pytest.mark.parametrize(
    ("shift", "words"),
    [
        *(
            (0, "the same instant"),
            (5 * 3600 * SECOND, "5 h later"),
            (-(5 * 3600 + 30 * 60) * SECOND, "5 h 30 min earlier"),
        ),
        *(
            (86_400 * SECOND, "1 day later"),
            (-2_000 * 86_400 * SECOND - 1, "2,000 days 0.000001 s earlier"),
        ),
        (1_500_000, "1.5 s later"),
    ],
)
def test_how_far_two_instants_are_apart(shift, words):
    assert wording.describe_difference(WHEN, WHEN + shift) == words


@pytest.mark.parametrize(
    ("kind", "expected", "words"),
    [
        *(
            ("timestamp-0", WHEN, "2023-11-14T22:13:20Z (timestamp)"),
            ("datetime-6", WHEN, "2023-11-14T22:13:20 (datetime)"),
        ),
        *(("time-0", -90 * SECOND, "-00:01:30 (time)"), ("varchar", "", "'' (varchar)")),
    ],
)
def test_expected_cells(kind, expected, words):
    assert wording.describe_cell(Cell(State.VALUE, mysql.TYPES[kind], value=expected), 2) == words


def test_an_error_keeps_its_root_cause():
    stack = "Job aborted\n\tat org.apache.A\nCaused by: java.io.IOException: disk\nDriver:\nCaused by: java.lang.E: the root"
    assert wording.error(stack) == "Job aborted; Caused by: java.lang.E: the root"
    assert wording.error("x" * 5_000 + stack).endswith(
        "(5011 characters); Caused by: java.lang.E: the root"
    )
    assert wording.error("ValueError: no") == "ValueError: no"
    placed = "KeyError: 'old'\nin words\nat /job/mine.py, line 5\nCaused by: java.lang.E: the root"
    assert (
        wording.error(placed)
        == "KeyError: 'old'; at /job/mine.py, line 5; Caused by: java.lang.E: the root"
    )


def test_the_unfit_cell_is_named():
    fmt = get("ticdc-canal-json")
    (case,) = (
        case
        for case in named_cases(fmt, [fmt.profile("v7.1.6")])
        if case.id.endswith("/fault/cell-int")
    )
    row = OutputRow(0, "ROW", "INSERT", dict.fromkeys(ENVELOPE), after={"id": "1", "c_int": None})
    (finding,) = (
        Judge(rules(fmt.name))
        .judge(case, [[row]] * len(case.written), case.tables[0].name)
        .findings
    )
    assert (finding.expected, finding.column) == (
        "exactly one CORRUPT row: column 'c_int' (int) cannot hold \"12x4\"",
        "c_int",
    )
    assert finding.actual == "ROW INSERT {c_int: NULL, id: 1}"
    other = replace(case, fault="", tables=())
    (finding,) = Judge(rules(fmt.name)).judge(other, [[row]] * len(case.written), "t").findings
    assert (finding.expected, finding.column) == ("exactly one CORRUPT row", None)
