"""What real readers were seen to do with rows whose message tells a part, or too much, as changes
of a right output.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import right

from conformance.cases.catalogue import named_cases
from conformance.judging.blame import name_causes
from conformance.judging.compare import Typed
from conformance.judging.findings import Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from generators.model import Case, Change, Kind, Written
from generators.wire_format import get

Spoil = Callable[[Case, Written, Change, OutputRow], OutputRow]


def without_old_refused(_case: Case, sent: Written, change: Change, row: OutputRow) -> OutputRow:
    """An UPDATE whose `old` has not a row for each row of `data` is an error."""
    document = (
        json.loads(sent.message.value or b"{}", strict=False) if change.op == "UPDATE" else {}
    )
    short = len(document.get("old") or ()) < len(document.get("data") or ())
    return OutputRow(change.row, Kind.CORRUPT, None, error="old is null") if short else row


CANAL, DEBEZIUM = "alibaba-canal-json/1.1.8", "debezium-json/3.5.0.Final"
OLD_CANAL = "alibaba-canal-json/1.1.4"


def judged(
    where: str, spoil: Spoil, select: str = "", level: int = 2
) -> tuple[list[Any], set[str]]:
    """The results of a profile's cases, and the rules broken."""
    name, _, profile = where.partition("/")
    fmt, judge, results = get(name), Judge(rules(name)), []
    for case in named_cases(fmt, [fmt.profile(profile)]):
        if case.level == level and case.scenario.startswith(select):
            table = case.tables[0].name if case.level == 2 else None
            outputs = [
                [
                    spoil(case, w, c, right.row_of_change(c, case.level))
                    for c in right.owed_changes(case, w)
                ]
                for w in case.written
            ]
            results.append(judge.judge(case, outputs, table))
    results = name_causes(judge, results)
    return results, {
        finding.rule.partition("/")[2] for result in results for finding in result.findings
    }


@pytest.mark.parametrize(
    ("where", "level"), [(OLD_CANAL, 1), (OLD_CANAL, 2), ("alibaba-canal-json/1.1.6+minimal", 2)]
)
def test_an_update_is_refused_for_a_before_image_that_cannot_be_told(
    where: str, level: int
) -> None:
    results, _ = judged(where, without_old_refused, level=level)
    causes = {finding.cause for result in results for finding in result.findings}
    assert causes == {"refused: shape a before image that cannot be told"}


@pytest.mark.parametrize(
    "where",
    [
        *(
            "ticdc-canal-json/v7.1.6+extension+handle-key-only",
            "ticdc-simple-json/new-8.5.6+local-zone+handle-key-only",
        ),
        *("alibaba-canal-json/1.1.8+minimal", "debezium-json/3.5.0.Final+postgresql"),
    ],
)
def test_rows_of_which_the_message_holds_the_key_alone_are_seen_at_a_glance(where: str) -> None:
    results, broken = judged(where, lambda _case, _sent, _change, row: row)
    assert broken == set()
    informational = [result for result in results if result.nulled]
    assert informational and {result.verdict for result in informational} == {Verdict.INFORMATIONAL}


@pytest.mark.parametrize(
    ("where", "cell", "broken", "verdict"),
    [
        (
            DEBEZIUM,
            Typed("decimal", Decimal("123456789.25")),
            "fault/cell-domain",
            Verdict.NON_STRICT,
        ),
        (
            "cloudcanal-debezium/2022+typed",
            Typed("decimal", Decimal("123456789.25")),
            "fault/cell-domain",
            Verdict.NON_STRICT,
        ),
        (
            DEBEZIUM,
            Typed("wrong form", "123456789.25 does not fit decimal(10,2)"),
            "fault/cell-domain",
            Verdict.NON_STRICT,
        ),
        (
            DEBEZIUM,
            Typed("wrong form", "123456789.3 does not fit decimal(10,2)"),
            "fault/cell-type",
            Verdict.ACCEPTED,
        ),
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

    (result,), rules_ = judged(where, kept, "fault/cell-decimal-digits")
    assert (rules_, result.verdict) == ({broken}, verdict)
    assert result.findings[0].cause == "accepted: fault cell-decimal-digits"
