"""Faults that real readers were seen to have, as changes of a right output: each is found under a rule that names it."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
import right

from conformance.cases.catalogue import named_cases
from conformance.judging.blame import blamed
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge, Verdict
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from generators.model import Case, Cell, Change, Kind, Logical, State, Written
from generators.wire_format import get

SECOND = 1_000_000
DAY = 86_400 * SECOND
FAMILIES = {Logical.TIME: "interval", Logical.TIMESTAMP: "timestamp"}


Spoil = Callable[[Case, Written, Change, OutputRow], OutputRow]


def cells(which: Callable[[Cell], bool], wrong: Callable[[Cell], Typed | None]) -> Spoil:
    """The decoder with some cells replaced."""

    def spoil(_case: Case, _sent: Written, change: Change, row: OutputRow) -> OutputRow:
        images: dict[str, Any] = {}
        for side, actual in (("before", row.before), ("after", row.after)):
            owed = change.image(side, 2) or {}
            images[side] = actual and {
                name: wrong(owed[name]) if owed[name].state in (State.VALUE, State.NULL) and which(owed[name]) else value
                for name, value in actual.items()
            }
        return replace(row, **images)

    return spoil


def of(*logicals: Logical) -> Callable[[Cell], bool]:
    return lambda cell: cell.type.logical in logicals and cell.state is State.VALUE


def as_row(_case: Case, _sent: Written, change: Change, row: OutputRow) -> OutputRow:
    """A row where the message is to be refused."""
    return OutputRow(0, Kind.ROW, "INSERT", {}, after={}) if change.kind is Kind.CORRUPT else row


def old_as_null(_case: Case, sent: Written, change: Change, row: OutputRow) -> OutputRow:
    return replace(row, before=None) if len(sent.changes) > 1 and change.op == "UPDATE" else row


def old_of_other_rows_as_null(_case: Case, sent: Written, change: Change, row: OutputRow) -> OutputRow:
    """A column that the `old` of another row names is NULL instead of the value after."""
    told = {n for one in sent.changes for n, cell in (one.before or {}).items() if cell.state is not State.ABSENT}
    own = {n for n, cell in (change.before or {}).items() if cell.state is not State.ABSENT}
    return replace(row, before=row.before and {n: None if n in told - own else v for n, v in row.before.items()})


def without_old_refused(_case: Case, sent: Written, change: Change, row: OutputRow) -> OutputRow:
    """An UPDATE whose `old` has not a row for each row of `data` is an error."""
    told = json.loads(sent.message.value or b"{}", strict=False) if change.op == "UPDATE" else {}
    short = len(told.get("old") or ()) < len(told.get("data") or ())
    return OutputRow(change.row, Kind.CORRUPT, None, error="old is null") if short else row


def utf8(cell: Cell) -> Typed:
    assert isinstance(cell.value, bytes)
    return Typed("binary", cell.value.decode("latin-1").encode())


def base64_text(cell: Cell) -> Typed:
    assert isinstance(cell.value, bytes)
    return Typed("binary", base64.b64encode(cell.value))


def cut(cell: Cell) -> Typed:
    """Without the fraction of a second, which the type may not tell."""
    assert isinstance(cell.value, int)
    return Typed(FAMILIES[cell.type.logical], int(cell.value / SECOND) * SECOND)


@dataclass(frozen=True)
class Seen:
    """A fault of a reader: where it was seen, what it does, and the rules that it breaks."""

    name: str
    format: str
    profile: str
    spoil: Spoil
    rules: frozenset[str]
    select: str = ""
    level: int = 2

    def __str__(self) -> str:
        return f"{self.name} {self.format}"


def seen(name: str, where: str, spoil: Spoil, *broken: str, select: str = "", level: int = 2) -> Seen:
    fmt, profile = where.split("/")
    return Seen(name, fmt, profile, spoil, frozenset(f"{fmt}/{rule}" for rule in broken), select, level)


CANAL, TICDC, DEBEZIUM = "alibaba-canal-json/1.1.8", "ticdc-canal-json/v7.1.6", "debezium-json/3.5.0.Final"
OLD_CANAL = "alibaba-canal-json/1.1.4"
POSTGRESQL = "debezium-json/3.5.0.Final+postgresql"
BINARY = of(Logical.BINARY)
FRACTION = lambda cell: isinstance(cell.value, int) and cell.value % SECOND != 0  # noqa: E731
TIME = lambda cell: of(Logical.TIME)(cell) and FRACTION(cell)  # noqa: E731
TIMESTAMP = lambda cell: of(Logical.TIMESTAMP)(cell) and FRACTION(cell)  # noqa: E731
LONG_TIME = lambda cell: of(Logical.TIME)(cell) and cell.value >= DAY  # noqa: E731
BOOLEAN = lambda cell: of(Logical.BIT)(cell) and cell.type.length == 1 and bool(cell.value)  # noqa: E731
WRAPPED = lambda cell: of(Logical.INT)(cell) and cell.type.key == "bigint unsigned" and cell.value >= 1 << 63  # noqa: E731
LABELS = of(Logical.ENUM, Logical.SET)
DIGITS = lambda cell: of(Logical.DECIMAL)(cell) and (cell.text or "").isdigit()  # noqa: E731
NULL_TEXT = lambda cell: cell.state is State.NULL and cell.type.logical is Logical.TEXT  # noqa: E731
MIDNIGHT = lambda cell: of(Logical.TIME)(cell) and cell.value == DAY  # noqa: E731
AS_NUMBER = cells(DIGITS, lambda c: Typed("decimal", Decimal(c.text or 0)))
BASE64, TEXT_NULL = cells(BINARY, base64_text), cells(NULL_TEXT, lambda _: Typed("string", "null"))
NEGATIVE = cells(WRAPPED, lambda c: Typed("decimal", c.value - (1 << 64)))
NUMBERS = cells(LABELS, lambda c: Typed("string", str(c.value)))

FAULTS = (
    seen("multi-row old is NULL", CANAL, old_as_null, "image/sides"),
    seen("multi-row old of other rows is NULL", CANAL, old_of_other_rows_as_null, "old/null-is-a-value", "old/cumulative"),
    seen("UPDATE without old is refused", OLD_CANAL, without_old_refused, "rows/readable"),
    seen("TIME fraction lost", TICDC, cells(TIME, cut), "value/microseconds"),
    seen("TIME fraction lost", CANAL, cells(TIME, cut), "value/time"),
    seen("TIME fraction lost", DEBEZIUM, cells(TIME, cut), "value/time"),
    seen("DECIMAL overflow is NULL", TICDC, as_row, "fault/cell-type", select="fault/cell-decimal"),
    seen("DECIMAL overflow is NULL", CANAL, as_row, "fault/cell-type", select="fault/cell-decimal"),
    seen("second document dropped", TICDC, as_row, "fault/trailing-content", select="fault/second-document", level=1),
    seen("second document dropped", DEBEZIUM, as_row, "fault/after-the-document", select="fault/second-document", level=1),
    *(
        seen("what follows dropped", where, as_row, "fault/after-the-document", select=f"fault/{fault}", level=1)
        for where in (DEBEZIUM, "huawei-cdl-json/1.0", "huawei-cdl-debezium/2.0", "cloudcanal-debezium/2022")
        for fault in ("trailing-content", "closing-tail", "joined")
    ),
    seen("digits in base64 are a number", DEBEZIUM, AS_NUMBER, "value/decimal-base64-digits"),
    seen("BYTES as base64 text", DEBEZIUM, BASE64, "value/binary-base64", "value/binary-padded", "value/binary-base64-digits"),
    seen("BYTES as base64 text", CANAL, BASE64, "value/binary-latin-1", "value/binary-base64-like", "value/binary-stripped"),
    seen("BOOLEAN 1 is false", TICDC, cells(BOOLEAN, lambda _: Typed("boolean", False)), "value/bit"),
    seen("BOOLEAN 1 is false", CANAL, cells(BOOLEAN, lambda _: Typed("boolean", False)), "value/bits"),
    seen("TIME 24:00:00 is 00:00:00", POSTGRESQL, cells(MIDNIGHT, lambda _: Typed("interval", 0)), "value/time-over-24h"),
    seen("TIME over a day wraps", TICDC, cells(LONG_TIME, lambda c: Typed("interval", c.value % DAY)), "value/time-over-24h"),
    seen("unsigned long is negative", DEBEZIUM, NEGATIVE, "value/unsigned-long"),
    seen("binary as UTF-8", TICDC, cells(BINARY, utf8), "value/binary-latin-1"),
    seen("binary as UTF-8", CANAL, cells(BINARY, utf8), "value/binary-latin-1"),
    seen("the text null for NULL", CANAL, TEXT_NULL, "value/null", "old/null-is-a-value", "old/cumulative"),
    seen("the text null for NULL", TICDC, TEXT_NULL, "value/null", "old/null-value"),
    seen("TIMESTAMP(0) without fsp in the type", TICDC, cells(TIMESTAMP, cut), "value/microseconds"),
    seen("TIMESTAMP(0) without fsp in the type", CANAL, cells(TIMESTAMP, cut), "value/timestamp-fraction"),
    seen("ENUM and SET without members", TICDC, NUMBERS, "value/enum-index", "value/set-mask", "value/set-64"),
)


def judged(fault: Seen, spoil: Spoil) -> tuple[list[Any], set[str]]:
    """The results of a profile's cases, and the rules broken."""
    fmt, judge, results = get(fault.format), Judge(rules(fault.format)), []
    for case in named_cases(fmt, [fmt.profile(fault.profile)]):
        if case.level != fault.level or not case.scenario.startswith(fault.select):
            continue
        table = case.tables[0].name if case.level == 2 else None
        outputs = [[spoil(case, w, c, right.row(c, case.level)) for c in right.owed(case, w)] for w in case.written]
        results.append(judge.judge(case, outputs, table))
    results = blamed(judge, results)
    return results, {finding.rule for result in results for finding in result.findings}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_that_a_real_reader_had_is_found_under_the_rule_that_names_it(fault: Seen) -> None:
    _, unbroken = judged(fault, lambda _case, _sent, _change, row: row)
    assert unbroken == set()
    results, broken = judged(fault, fault.spoil)
    assert broken == fault.rules
    lax = "fault/after-the-document" in str(fault.rules)
    assert any(result.verdict in (Verdict.NON_STRICT if lax else Verdict.FAIL, Verdict.ACCEPTED) for result in results)


@pytest.mark.parametrize(("where", "level"), [(OLD_CANAL, 1), (OLD_CANAL, 2), ("alibaba-canal-json/1.1.6+minimal", 2)])
def test_an_update_is_refused_for_a_before_image_that_cannot_be_told(where: str, level: int) -> None:
    fault = seen("UPDATE without old is refused", where, without_old_refused, level=level)
    results, _ = judged(fault, fault.spoil)
    found = {finding.cause for result in results for finding in result.findings}
    assert found == {"refused: shape a before image that cannot be told"}


@pytest.mark.parametrize(
    "where",
    [
        *("ticdc-canal-json/v7.1.6+extension+handle-key-only", "ticdc-simple-json/new-8.5.6+local-zone+handle-key-only"),
        *("alibaba-canal-json/1.1.8+minimal", "debezium-json/3.5.0.Final+postgresql"),
    ],
)
def test_rows_of_which_the_message_holds_the_key_alone_are_seen_at_a_glance(where: str) -> None:
    fault = seen("reduced rows as NULLs", where, lambda _case, _sent, _change, row: row)
    results, broken = judged(fault, fault.spoil)
    assert broken == set()
    informational = [result for result in results if result.nulled]
    assert informational and {result.verdict for result in informational} == {Verdict.INFORMATIONAL}


@pytest.mark.parametrize(
    ("where", "cell", "broken", "verdict"),
    [
        (DEBEZIUM, Typed("decimal", Decimal("123456789.25")), "fault/cell-domain", Verdict.NON_STRICT),
        ("cloudcanal-debezium/2022+typed", Typed("decimal", Decimal("123456789.25")), "fault/cell-domain", Verdict.NON_STRICT),
        (DEBEZIUM, Typed("wrong form", "123456789.25 does not fit decimal(10,2)"), "fault/cell-domain", Verdict.NON_STRICT),
        (DEBEZIUM, Typed("wrong form", "123456789.3 does not fit decimal(10,2)"), "fault/cell-type", Verdict.ACCEPTED),
        (DEBEZIUM, Typed("decimal", Decimal("123456789.3")), "fault/cell-type", Verdict.ACCEPTED),
        (DEBEZIUM, None, "fault/cell-type", Verdict.ACCEPTED),
        (CANAL, Typed("decimal", Decimal("123456789.25")), "fault/cell-type", Verdict.ACCEPTED),
    ],
)
def test_a_decimal_of_connect_that_is_kept_with_every_digit_is_lost_nowhere(
    where: str, cell: Typed | None, broken: str, verdict: Verdict
) -> None:
    def kept(_case: Case, _sent: Written, change: Change, row: OutputRow) -> OutputRow:
        return OutputRow(0, Kind.ROW, "INSERT", {}, after={"c_decimal_10_2": cell})

    fault = seen("digits beyond the column's", where, kept, select="fault/cell-decimal-digits")
    (result,), rules_ = judged(fault, kept)
    assert (rules_, result.verdict) == ({f"{fault.format}/{broken}"}, verdict)
    assert result.findings[0].cause == "accepted: fault cell-decimal-digits"
