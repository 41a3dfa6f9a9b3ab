"""JUnit XML: what a CI server counts, reads and shows."""

from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.causes import Cause, Symptom
from conformance.reports import junit


def states(suite):
    """Each test case's name with what became of it."""
    return {
        case.get("name"): next((child.tag for child in case if child.tag != "system-out"), "passed")
        for case in suite.iter("testcase")
    }


def check(root):
    """The counts of every suite add up, and each case has one outcome at most."""
    for suite in (root, *root.iter("testsuite")):
        cases = list(suite.iter("testcase"))
        outcomes = Counter(child.tag for case in cases for child in case)
        assert suite.get("tests") == str(len(cases))
        assert (suite.get("failures"), suite.get("skipped")) == (str(outcomes["failure"]), str(outcomes["skipped"]))
        assert suite.get("errors") == str(outcomes["error"])
        assert float(suite.get("time")) >= 0
        assert suite.get("name")
    assert all(len(case) <= 1 and case.get("classname") and case.get("name") for case in root.iter("testcase"))


def test_a_rule_is_a_test_case(full):
    root = ET.fromstring(junit.render(full))
    check(root)
    first, record = root
    assert first.get("name") == "x-json" and first.get("time") == "0.750"
    assert states(first) == {
        "x-json/value/unsigned": "failure",
        "x-json/value/soft": "passed",
        "x-json/value/known": "skipped",
        "x-json/value/kept": "passed",
        "x-json/value/out": "skipped",
    }
    assert list(states(record).values()) == ["passed", "failure", "failure", "skipped"]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("9", "3", "3")


def test_a_failure_says_what_the_console_says(full):
    failure = ET.fromstring(junit.render(full)).find(".//failure")
    assert failure.get("type") == "WRONG_SIGN"
    assert failure.get("message") == "2 cases: at after['c']: expected 9223372036854775808, actual -9223372036854775808"
    for words in (
        *("The statement of value/unsigned.", "[harness#every-offset]", "replay    cdc-conformance replay out/failures/u.json"),
        '"c":"9',
    ):
        assert words in failure.text


def test_a_failure_names_each_cause_of_its_rule_and_the_known_ones_last(full):
    known = replace(full.failures[0], on_record=2, cause=Cause(Symptom.REFUSED, ("cell bit null",)))
    new = replace(full.failures[0], cause=Cause(Symptom.REFUSED, ("cell year null",)))
    root = ET.fromstring(junit.render(replace(full, failures=(known, new, *full.failures[1:]))))
    check(root)
    text = root.find(".//failure").text
    assert 0 < text.index("NULL in a year cell") < text.index("NULL in a bit cell")


def test_what_is_skipped_says_why(full):
    root = ET.fromstring(junit.render(full))
    assert [one.get("message") for one in root.iter("skipped")] == [
        "known failure, 1 case: upstream 7 (https://example.test/7)",
        "not reached: the decoder decodes only level 1, or the selection or the decoder's capabilities leave the rule out",
        "not reached: its rule was not exercised",
    ]


def test_the_properties_say_what_ran(full):
    found = {one.get("name"): one.get("value") for one in ET.fromstring(junit.render(full)).iter("property")}
    assert found == {
        "seed": "7", "budget": "smoke", "decoder": "mine.py:decode", "broker": "none", "cases": "6", "strict": "false",
        "version:python": "3.11.2",
    }  # fmt: skip


def test_an_unexpected_pass_and_a_rule_not_exercised_are_failures(full):
    fmt = full.formats[0]
    idle = replace(fmt, rules=(*fmt.rules[:4], replace(fmt.rules[4], reachable=True)))
    root = ET.fromstring(junit.render(replace(full, formats=(idle,))))
    check(root)
    assert {one.get("type") for one in root.iter("failure")} == {
        *("WRONG_SIGN", "NOT_EXERCISED", "UNEXPECTED_PASS", "MATCHES_NOTHING"),
    }


def test_a_strict_run_counts_a_broken_should(full):
    root = ET.fromstring(junit.render(replace(full, strict=True)))
    check(root)
    assert states(root[0])["x-json/value/soft"] == "failure"


def test_a_run_that_stopped_early_still_tells_what_is_broken(full):
    root = ET.fromstring(junit.render(replace(full, failures=())))
    check(root)
    assert states(root[0])["x-json/value/unsigned"] == "failure"


def test_hostile_text_stays_text(with_finding, full, hostile):
    made = with_finding(actual=hostile, path=hostile)
    known = replace(made.failures[2], reason=hostile)
    entry = replace(full.entries[1], hint=hostile, entry=replace(full.entries[1].entry, rule=hostile))
    raised = replace(made.failures[0], result=replace(made.failures[0].result, note=hostile))
    header = replace(made.header, decoder=hostile, versions={hostile: hostile})
    text = junit.render(replace(made, header=header, failures=(raised, *made.failures[1:2], known), entries=(entry,)))
    root = ET.fromstring(text.encode("utf-8"))
    check(root)
    assert root.find(".//failure").text.count("<script>alert(1)</script>") >= 2
    assert not set(text) & set("\x00\x07\x1b")


@settings(deadline=None)
@given(text=st.text(st.characters()))
def test_every_text_is_legal(text):
    element = ET.Element("a", b=junit.legal(text))
    element.text = junit.legal(text)
    found = ET.fromstring(ET.tostring(element, encoding="utf-8"))
    assert (found.text or "").replace("\r", "\n") == junit.legal(text).replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize(
    ("text", "expected"), [("a\tb\n", "a\tb\n"), ("\x00", "\\x00"), ("\ud800", "\\ud800"), ("\uffff", "\\uffff")]
)
def test_what_xml_has_not_is_escaped(text, expected):
    assert junit.legal(text) == expected
