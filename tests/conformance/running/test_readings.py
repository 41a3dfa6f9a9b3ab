"""The laws of readings: a decoder that keeps to any plausible reading breaks none of them, and one
that loses or scatters values breaks one.
"""

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import Obligation, rules
from conformance.running.clocks import Clock, Reading, fitting
from conformance.running.readings import LAWS, Readings
from conformance.selftest.bench import bench_of_cases, judge_rows
from conformance.selftest.operators.operator import Operator, on_cells, on_rows
from generators.model import (
    Case,
    Cell,
    Change,
    Deployment,
    Kind,
    Logical,
    Message,
    Op,
    SourceType,
    State,
    Table,
    Written,
)
from generators.sources import mysql
from generators.wire_format import get

CLOUDCANAL = ("cloudcanal-json", "cloudcanal-canal-json", "cloudcanal-debezium")
HUAWEI = ("huawei-cdl-json", "huawei-cdl-debezium")
ZONES = (
    *("UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin", "Asia/Kolkata"),
    *("Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Chatham", "Africa/Cairo", "Asia/Tokyo"),
)


def label(type_, held):
    return Typed("string", type_.members[held - 1] if held else "")


def label_texts(type_, held):
    return [name for i, name in enumerate(type_.members) if int(held) >> i & 1]


def bytes_of(type_, held):
    return int(held).to_bytes(((type_.length or 1) + 7) // 8, "big")


def bits_mirrored(type_, held):
    width = type_.length or 1
    return Typed("decimal", Decimal(int(f"{int(held):0{width}b}"[::-1], 2)))


FORMS = {
    "enum": {
        "index": lambda _type, held: held,
        "index-from-zero": lambda _type, held: Typed("int", held - 1),
        "label": label,
        "label-in-bytes": lambda kind, held: Typed("binary", label(kind, held).value.encode()),
    },
    "set": {
        "mask": lambda _type, held: Typed("decimal", Decimal(int(held))),
        "labels": lambda kind, held: Typed("string", ",".join(label_texts(kind, held))),
        "labels-with-blanks": lambda k, held: Typed("string", ", ".join(label_texts(k, held))),
        "list": lambda kind, held: Typed("array", label_texts(kind, held)),
        "signed": lambda _type, held: Typed("int", (int(held) + 2**63) % 2**64 - 2**63),
    },
    "bit": {
        "number": lambda _type, held: Typed("decimal", Decimal(int(held))),
        "lowest-byte-first": lambda kind, held: Typed("binary", bytes_of(kind, held)[::-1]),
        "highest-byte-first": lambda kind, held: Typed("binary", bytes_of(kind, held)),
        "lowest-bit-first": bits_mirrored,
        "digits": lambda _type, held: Typed("string", f"{int(held):b}"),
    },
    "binary": {
        "bytes": lambda _type, held: held,
        "base64-bytes": lambda _type, held: base64.b64encode(held),
        "base64-text": lambda _t, held: Typed("string", base64.b64encode(held).decode()),
        "hex-text": lambda _type, held: Typed("string", held.hex()),
        "hex-with-0x": lambda _type, held: Typed("binary", b"0x" + held.hex().encode()),
        "latin-text": lambda _type, held: Typed("string", held.decode("latin-1")),
    },
}
"""Plausible readings of a type whose form no source tells."""
OPEN = {
    "enum": (*CLOUDCANAL, "tencent-dts-json", "aliyun-dts-avro"),
    "set": (*CLOUDCANAL, "tencent-dts-json", "aliyun-dts-avro"),
    "bit": (*CLOUDCANAL, "tencent-dts-json"),
    "binary": (*CLOUDCANAL, *HUAWEI, "ogg-json"),
}
"""The formats whose sources leave the form open."""
HOUR = 3_600_000_000
OPEN_ZONES = (*CLOUDCANAL, "tencent-dts-json", "ogg-json", "huawei-cdl-debezium")
FORM_DECODERS = [
    (fmt, logical, name)
    for logical, formats in OPEN.items()
    for fmt in formats
    for name in FORMS[logical]
]


@pytest.fixture(scope="module")
def tried():
    """The cases of three profiles of each format, answered rightly."""
    benches = {}

    def cases_of(name):
        if name not in benches:
            fmt = get(name)
            last = len(fmt.profiles) - 1
            chosen = [fmt.profiles[i] for i in sorted({0, last // 2, last})]
            typed = ("rows/every-type/", "shape/insert", "shape/update")
            cases = [case for case in named_cases(fmt, chosen) if case.scenario.startswith(typed)]
            benches[name] = bench_of_cases(fmt, [case for case in cases if not case.fault])
        return benches[name]

    return cases_of


def broken_by(tried, operator):
    """The MUST rules that a decoder breaks: those of single cases, and the laws of readings."""
    judge = tried.empty_judge()
    read, broken = Readings(judge), set()
    binding = {rule.id for rule in judge.rules if rule.obligation is Obligation.MUST}
    changed = 0
    for answered in tried.cases.values():
        rows = answered.apply_operator(operator)
        changed += rows is not None
        if rows is not None:
            result = judge_rows(judge, answered.case, rows)
            broken |= {finding.rule for finding in result.findings}
        read.take(answered.case, rows or answered.rows)
    broken |= {finding.rule for finding in read.findings()}
    return sorted(broken & binding), changed


@pytest.mark.parametrize(("name", "logical", "form"), FORM_DECODERS)
def test_a_decoder_that_keeps_to_one_form_is_not_accused(tried, name, logical, form):
    logicals = (Logical(logical),)
    operator = Operator(form, (), on_cells(FORMS[logical][form], logicals), logicals)
    operator = with_nothing_else_changed(operator)
    broken, _ = broken_by(tried(name), operator)
    assert broken == []


def with_nothing_else_changed(operator):
    """At level one the text is certain: no reading changes it."""

    def alter(rows, seen):
        return operator.alter(rows, seen) if seen.case.level == 2 else rows

    return Operator(operator.name, (), alter, operator.logicals)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("name", OPEN_ZONES)
def test_a_decoder_that_reads_every_timestamp_in_one_zone_is_not_accused(tried, name, zone):
    def alter(rows, seen):
        if seen.case.level == 1:
            return rows
        server = Clock(seen.case.deployment.time_zone)
        change = on_cells(
            lambda _type, held: Clock(zone).to_instants(server.to_wall(held))[0],
            (Logical.TIMESTAMP,),
        )
        return change(rows, seen)

    broken, changed = broken_by(tried(name), Operator(zone, (), alter, (Logical.TIMESTAMP,)))
    assert broken == []
    assert changed or zone == "UTC"


@pytest.mark.parametrize("zone", ZONES)
def test_a_decoder_that_reads_every_commit_time_in_one_zone_is_not_accused(tried, zone):
    def change(row: OutputRow) -> OutputRow:
        micros = row.fields.get("commit_time")
        if micros is None:
            return row
        fields = {**row.fields, "commit_time": Clock(zone).to_instants(micros)[0]}
        return OutputRow(row.row, row.kind, row.op, fields, row.before, row.after, row.error)

    broken, changed = broken_by(tried("ogg-json"), Operator(zone, (), on_rows(change)))
    assert broken == []
    assert changed or zone == "UTC"


EIGHT = (*CLOUDCANAL, *HUAWEI, "tencent-dts-json", "aliyun-dts-avro", "ogg-json")
"""The formats of which some form, zone or image is open."""
LOST: dict[str, tuple[Logical, Callable[[SourceType, Any], Any]]] = {
    "every-enum-is-1": (Logical.ENUM, lambda _type, _held: 1),
    "every-set-is-1": (Logical.SET, lambda _type, _held: Typed("int", 1)),
    "every-bit-is-1": (Logical.BIT, lambda _type, _held: Typed("int", 1)),
    "every-binary-is-x": (Logical.BINARY, lambda _type, _held: b"x"),
    "each-timestamp-in-another-zone": (
        Logical.TIMESTAMP,
        lambda _type, held: held + held // HOUR % 23 * HOUR,
    ),
    "a-text-is-cut": (Logical.TEXT, lambda _type, held: held[:-1]),
}
"""What a wrong decoder makes of the values of a type."""
LACKS = {
    *((name, logical) for name in HUAWEI for logical in (Logical.ENUM, Logical.SET)),
    *(("ogg-json", logical) for logical in (Logical.ENUM, Logical.SET, Logical.BIT)),
}
"""Types of which a format has no value: PostgreSQL has none, or no page shows one."""


@pytest.mark.parametrize("fault", LOST)
@pytest.mark.parametrize("name", EIGHT)
def test_a_decoder_that_loses_or_scatters_values_is_convicted_where_a_form_is_open(
    tried, name, fault
):
    logical, change = LOST[fault]
    operator = with_nothing_else_changed(
        Operator(fault, (), on_cells(change, (logical,)), (logical,))
    )
    broken, changed = broken_by(tried(name), operator)
    assert bool(broken) is bool(changed)
    assert bool(changed) is ((name, logical) not in LACKS)


@pytest.mark.parametrize("name", EIGHT)
def test_a_before_image_of_another_row_is_convicted(tried, name):
    before: dict[int, Any] = {}

    def change(row: OutputRow) -> OutputRow:
        if row.op != "UPDATE":
            return row
        of_another = before.setdefault(len(row.after or {}), row.after)
        given = {column: (of_another or {}).get(column) for column in row.after or {}}
        return OutputRow(row.row, row.kind, row.op, row.fields, given, row.after, row.error)

    broken, changed = broken_by(tried(name), Operator("another-row", (), on_rows(change)))
    assert changed and broken


SHANGHAI = Deployment(time_zone="Asia/Shanghai")
NAME = "cloudcanal-debezium"
FORM, ZONE, ROW = (f"{NAME}/law/{law}" for law in LAWS)


def case_of(number, type_, *cells):
    """A case of level two: a message with one INSERT for each expected value and its text."""
    table = Table("d", "t", (), ())
    written = tuple(
        Written(
            Message("cdc", 0, None, b"", event=row),
            (
                Change(
                    0,
                    Kind.ROW,
                    Op.INSERT,
                    "d",
                    None,
                    "t",
                    after={"c": Cell(State.VALUE, type_, value, text)},
                ),
            ),
        )
        for row, (value, text) in enumerate(cells)
    )
    profile = get(NAME).profiles[0].name
    return Case(f"case-{number}", NAME, profile, SHANGHAI, 2, (table,), written)


def found(case, *values):
    read = Readings(Judge(rules(NAME)))
    rows = [[OutputRow(0, "ROW", "INSERT", {}, None, {"c": value})] for value in values]
    read.take(case, rows)
    return [(finding.rule, finding.message, finding.actual) for finding in read.findings()]


BITS = mysql.bit(8)


@pytest.mark.parametrize(
    ("values", "accused"),
    [
        ((1, 2, 1), []),
        ((0x80, 0x40, 0x80), []),
        ((1, 1, 1), [(FORM, 1, "1 (int), the value of another, 1 (bit) of case-1")]),
        (
            (1, 2, 3),
            [(FORM, 2, "3 (int), another value than the same text has in 1 (bit) of case-1")],
        ),
    ],
)
def test_different_texts_stay_different_and_equal_ones_equal(values, accused):
    case = case_of(1, BITS, (1, "1"), (2, "2"), (1, "1"))
    assert found(case, *(Typed("int", value) for value in values)) == accused


@pytest.mark.parametrize(
    ("value", "accused"),
    [(b"abc\0", False), (b"abc", True), (b"YWJjAA==", False), (b"", True)],
)
def test_a_binary_is_not_cut(value, accused):
    case = case_of(1, mysql.binary("varbinary", 8), (b"abc\0", "YWJjAA=="))
    assert bool(found(case, Typed("binary", value))) is accused


def test_a_fixed_binary_is_filled_with_zeros_or_not():
    case = case_of(1, mysql.binary("binary", 4), (b"ab\0\0", "YWIAAA=="), (b"ab", "YWI="))
    assert found(case, Typed("binary", b"ab"), Typed("binary", b"ab")) == []


SUMMER, WINTER = mysql.wall("1987-07-01 12:00:00"), mysql.wall("1987-12-01 12:00:00")
NEXT = mysql.wall("2024-07-01 12:00:00")


@pytest.mark.parametrize(
    ("shifts", "accused"),
    [
        ((0, 0, 0), False),
        ((9, 8, 8), False),  # its wall clock, with Shanghai's summer time of 1987, read as UTC
        ((8, 8, 8), False),  # UTC's digits, shown eight hours later
        ((13, 13, 12), False),  # read as New York's: in summer time in both of its summers
        ((0, 5, 0), True),
        ((1, 0, 0), False),  # without summer time
        ((5, 0, 0), True),
        ((3, 17, 5), True),
    ],
)
def test_the_moments_of_a_deployment_are_those_of_one_zone(shifts, accused):
    moments = (SUMMER, WINTER, NEXT)
    case = case_of(1, mysql.temporal("timestamp"), *((moment, str(moment)) for moment in moments))
    values = (
        Typed("timestamp", moment + shift * HOUR)
        for moment, shift in zip(moments, shifts, strict=True)
    )
    broken = found(case, *values)
    assert {rule for rule, _, _ in broken} <= {ZONE}
    assert bool(broken) is accused


def test_a_reading_explains_the_hour_that_occurs_twice_and_the_one_that_does_not_exist():
    new_york = Clock("America/New_York")
    twice, gap = mysql.wall("2024-11-03 01:30:00"), mysql.wall("2024-03-10 02:30:00")
    reading = Reading("read as", "America/New_York", "UTC")
    for wall, hours in ((twice, (4, 5)), (gap, (4, 5))):
        pairs = [((wall,), wall + hour * HOUR) for hour in hours]
        assert fitting(new_york, reading, pairs) == set(pairs)
        assert not fitting(new_york, reading, [((wall,), wall + 6 * HOUR)])


@pytest.mark.parametrize("direction", ["read as", "shown as"])
@pytest.mark.parametrize("zone", ["+05:45", "-05:45"])
@pytest.mark.parametrize("text", ["0001-01-01 00:00:00", "9999-12-31 23:59:59"])
def test_a_zone_whose_clock_leaves_the_calendar_explains_nothing(text, zone, direction):
    reading = Reading(direction, zone, "UTC")
    assert not fitting(Clock("UTC"), reading, [((mysql.wall(text),), 0)])


def test_an_image_that_is_not_owed_is_of_this_message():
    fmt = get("huawei-cdl-json")
    update = next(
        case
        for case in named_cases(fmt, fmt.profiles)
        if case.scenario == "shape/update-one-column" and "default-identity" in case.profile
    )
    change = update.written[-1].changes[0]
    after = {name: cell.text for name, cell in change.after.items()}
    row = OutputRow(0, "ROW", "UPDATE", {}, None, after)
    for before, accused in (
        (None, False),
        (dict.fromkeys(after), False),
        (after, False),
        ({**after, "a": "of another row"}, True),
    ):
        read = Readings(Judge(rules(fmt.name)))
        rows = [[] for _ in update.written[:-1]]
        given = OutputRow(row.row, row.kind, row.op, {}, before, after)
        read.take(update, [*rows, [given]])
        rules_broken = [finding.rule for finding in read.findings()]
        assert rules_broken == ([f"{fmt.name}/law/own-row"] if accused else [])


def test_there_are_more_than_sixty_right_decoders():
    assert len(FORM_DECODERS) + len(ZONES) * len(OPEN_ZONES) + len(ZONES) >= 60
