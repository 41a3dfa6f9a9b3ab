"""The run as JUnit XML, which CI servers read: a suite for each format, a test case for each rule.

One more suite holds the entries of the record of known failures. A known failure, and a rule that
the run could not reach, is skipped with the reason; an unexercised rule and a wrong entry are
failures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from xml.etree import ElementTree as ET

from rich.text import Text

from conformance.judging.known import EntryResult, State
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.reports import facts
from conformance.reports.console import failure as panel
from conformance.reports.facts import RuleStanding, Standing
from conformance.text import printable

RECORD: Final = "record of known failures"
"""The name of the suite for entries of the record of known failures."""
UNFINISHED: Final = "unfinished run"
"""The name of the suite that a run has which did not finish."""
_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 forbids."""


def legal(raw_text: str) -> str:
    """The text with every character escaped that XML 1.0 forbids."""
    return _FORBIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), raw_text)


def render(result: RunResult) -> str:
    """The run as the text of a JUnit XML document: a suite for each format; if the run used a
    record of known failures, one for its entries; if the run did not finish, one that says so.
    """
    root = ET.Element(
        "testsuites", name=legal(facts.subject(result.header)), time=f"{result.seconds:.3f}"
    )
    for fmt in result.formats:
        suite = ET.SubElement(
            root,
            "testsuite",
            name=fmt.format,
            time=f"{sum(call.seconds for call in fmt.calls):.3f}",
        )
        # When the run began, in UTC; its offset `+00:00` is left out.
        if began := result.header.versions.get("date"):
            suite.set("timestamp", legal(began.partition("+")[0]))
        _add_properties(suite, result, fmt)
        for standing in facts.standings(fmt, result.strict):
            _add_rule(suite, fmt, standing, result.failures_of(standing.result.rule.id))
    if result.entries:
        suite = ET.SubElement(root, "testsuite", name=RECORD, time="0.000")
        for number, entry in enumerate(result.entries, 1):
            _add_entry(suite, number, entry)
    if result.ended:
        suite = ET.SubElement(root, "testsuite", name=UNFINISHED, time="0.000")
        case = ET.SubElement(suite, "testcase", classname=UNFINISHED, name="the run finishes")
        ET.SubElement(case, "error", message=legal(facts.headline(result)), type="unfinished")
    for suite in root:
        _count(suite, [suite])
    _count(root, list(root))
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _count(element: ET.Element, suites: list[ET.Element]) -> None:
    """Sets the JUnit attributes of an element (`tests`, `failures`, `errors`, `skipped`) to the
    sums over the test cases in the suites: a suite itself, or all suites for the root.
    """
    cases: list[ET.Element] = []
    for suite in suites:
        cases += suite.iter("testcase")
    element.set("tests", str(len(cases)))
    element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    element.set("errors", str(sum(case.find("error") is not None for case in cases)))
    element.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))


def _add_properties(suite: ET.Element, result: RunResult, fmt: FormatResult) -> None:
    """Adds the run's settings and versions to a JUnit suite, as properties."""
    head = result.header
    properties = {
        "seed": str(head.seed),
        "budget": head.budget,
        "decoder": fmt.decoder,
        "broker": head.broker,
        "cases": str(len(fmt.cases)),
        "strict": str(result.strict).lower(),
        **{f"version:{name}": version for name, version in head.versions.items()},
    }
    element = ET.SubElement(suite, "properties")
    for name, value in properties.items():
        ET.SubElement(element, "property", name=legal(name), value=legal(value))


def _add_rule(
    suite: ET.Element, fmt: FormatResult, standing: RuleStanding, failures: Sequence[Failure]
) -> None:
    """Adds a test case for a rule to the suite of its format; the rule's failures, new ones first,
    become its text.
    """
    failure = next(iter(failures), None)
    rule = standing.result.rule
    # Rules have no time of their own: each has its share of the calls', by what it compared.
    share = (
        standing.result.compared
        / (sum(r.compared for r in fmt.rules) or 1)
        * sum(call.seconds for call in fmt.calls)
    )
    case = ET.SubElement(suite, "testcase", classname=fmt.format, name=rule.id, time=f"{share:.3f}")
    cases = f"{standing.cases:,} case{'s' if standing.cases != 1 else ''}"
    match standing.standing:
        case Standing.BROKEN:
            element = ET.SubElement(
                case,
                "failure",
                type=rule.effect.value,
                message=legal(short(rule.statement, failure, cases)),
            )
            element.text = legal(
                explain_failures(failures)
                if failures
                else f"{rule.statement}\n{cases}; the run stopped before it was shown"
            )
        case Standing.LAX:
            out = ET.SubElement(case, "system-out")
            out.text = legal(
                f"{rule.obligation}: broken by {cases}; does not count without --strict\n"
                + explain_failures(failures)
            )
        case Standing.KNOWN:
            reason = (failure.reason if failure else "") or "no reason given"
            link = f" ({failure.link})" if failure and failure.link else ""
            ET.SubElement(case, "skipped", message=legal(f"known failure, {cases}: {reason}{link}"))
        case Standing.IDLE:
            element = ET.SubElement(
                case,
                "failure",
                type="NOT_EXERCISED",
                message="not exercised: no case compared anything for it",
            )
            element.text = f"No case compared anything for it: {rule.statement}"
        case Standing.OUT:
            ET.SubElement(case, "skipped", message=_unreached(fmt))
        case Standing.REFUSED:
            ET.SubElement(case, "skipped", message=standing.standing.value)
        case Standing.KEPT:
            pass


def short(statement: str, failure: Failure | None, cases: str) -> str:
    """A broken rule in one line of at most 500 characters, for the message of a JUnit test case:
    `cases` (their number as words), then the finding of `failure`, or, if that is None, the rule's
    sentence.
    """
    if failure is None:
        return f"{cases}: {statement}"
    finding = failure.finding
    return printable(
        f"{cases}: at {finding.path}: expected {finding.expected}, actual {finding.actual}"
    )[:500]


def explain_failures(failures: Sequence[Failure]) -> str:
    """The causes of a broken rule as the console's panels show them, without box and colours, for
    the text of a JUnit failure. Only the first repeats the rule's sentence.
    """
    texts: list[str] = []
    for failure in failures:
        panel_text = panel(failure, states_rule=not texts).renderable
        assert isinstance(panel_text, Text)
        texts.append(panel_text.plain + (f"\n{failure.result.note}" if failure.result.note else ""))
    return "\n\n".join(texts)


def _unreached(fmt: FormatResult) -> str:
    """Why JUnit skips a rule of the format: no selected case that the decoder claims to support can
    exercise it.
    """
    only = f"the decoder decodes only level {fmt.levels[0]}, or " if len(fmt.levels) == 1 else ""
    return f"not reached: {only}the selection or the decoder's capabilities leave the rule out"


def _add_entry(suite: ET.Element, number: int, result: EntryResult) -> None:
    """Adds a test case for an entry of the record of known failures: failed if the entry is wrong,
    skipped if the run did not reach it. `number` is its number in the record.
    """
    case = ET.SubElement(
        suite, "testcase", classname=RECORD, name=legal(f"{number}: {result.entry}")
    )
    if result.wrong:
        kind = result.state.upper().replace(" ", "_")
        element = ET.SubElement(
            case, "failure", type=kind, message=legal(f"{result.state}: {result.hint}")
        )
        element.text = legal(facts.remedy(result))
    elif result.state is State.NOT_REACHED:
        ET.SubElement(case, "skipped", message=legal(f"not reached: {result.hint}"))
