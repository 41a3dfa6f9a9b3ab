"""A decoder that refuses a form which no document promises is told so by a rule that does not bind,
and by no other.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
import right

from conformance.cases.catalogue import named_cases
from conformance.judging.blame import name_causes
from conformance.judging.findings import Verdict
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.rules import rules
from generators.model import Kind
from generators.wire_format import get

Refuses = Callable[[dict[str, Any]], bool]


def other_than_texts(document: dict[str, Any]) -> bool:
    """CloudCanal's samples show texts: a row with a number, a boolean or a list is none of them."""
    payload = document.get("payload", document)
    images = [payload.get(side) or {} for side in ("before", "after")]
    return any(not isinstance(cell, str | None) for image in images for cell in image.values())


def schema_of_connect(document: dict[str, Any]) -> bool:
    """CloudCanal's article has a schema of its own: Connect's, with `optional`, is refused on rows
    and on statements.
    """
    return '"optional"' in json.dumps(document.get("schema"))


def without_is_ddl(document: dict[str, Any]) -> bool:
    """CloudCanal's page has isDdl: a message without it is refused, whatever it is."""
    return "isDdl" not in document


def with_a_member_left_out(document: dict[str, Any]) -> bool:
    """Tencent's page has null for what does not apply, and for some members says that they are left
    out.
    """
    return "sql" not in document


def broken(name: str, refuses: Refuses) -> tuple[set[str], set[Verdict]]:
    """The rules that a decoder breaks which is right but for the messages it refuses, over all
    named cases; and the verdicts.
    """
    fmt, judge, results = get(name), Judge(rules(name)), []
    for case in named_cases(fmt, fmt.profiles):
        outputs = []
        for sent in case.written:
            rows = [
                right.row_of_change(change, case.level) for change in right.owed_changes(case, sent)
            ]
            readable = all(change.kind is not Kind.CORRUPT for change in sent.changes)
            if readable and refuses(json.loads(sent.message.value or b"{}", strict=False)):
                rows = [OutputRow(0, Kind.CORRUPT, None, {}, error="a form that is not documented")]
            outputs.append(rows)
        results.append(judge.judge(case, outputs, case.tables[0].name if case.level == 2 else None))
    results = name_causes(judge, results)
    return {finding.rule for result in results for finding in result.findings}, {
        result.verdict for result in results
    }


@pytest.mark.parametrize(
    ("name", "refuses", "rule"),
    [
        *(
            ("cloudcanal-debezium", other_than_texts, {"rows/typed"}),
            ("cloudcanal-debezium", schema_of_connect, {"rows/typed"}),
        ),
        ("cloudcanal-json", without_is_ddl, {"rows/older-key", "ddl/older-key"}),
        ("tencent-dts-json", with_a_member_left_out, {"rows/absent-fields"}),
    ],
)
def test_a_form_that_no_document_promises_is_refused_at_the_price_of_its_own_rule(
    name, refuses, rule
):
    convicted, verdicts = broken(name, refuses)
    assert convicted == {f"{name}/{short}" for short in rule}
    assert verdicts & {Verdict.NON_STRICT} and not verdicts & {Verdict.FAIL, Verdict.ACCEPTED}
