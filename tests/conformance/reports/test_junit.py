"""JUnit XML and SARIF: what a CI server counts, reads and shows, and a code host beside the
source.
"""

from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.judging.causes import Cause, Symptom
from conformance.reports import junit, sarif

REPLAYED = "replay    cdc-conformance replay out/failures/u.json"


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
        assert (suite.get("failures"), suite.get("skipped")) == (
            str(outcomes["failure"]),
            str(outcomes["skipped"]),
        )
        assert suite.get("errors") == str(outcomes["error"])
        assert float(suite.get("time")) >= 0
        assert suite.get("name")
    assert all(
        len(case) <= 1 and case.get("classname") and case.get("name")
        for case in root.iter("testcase")
    )


def test_a_rule_is_a_test_case(full):
    root = ET.fromstring(junit.render(full))
    check(root)
    first, record = root
    assert first.get("name") == "x-json" and first.get("time") == "0.750"
    wanted = {
        "unsigned": "failure",
        "soft": "passed",
        "known": "skipped",
        "kept": "passed",
        "out": "skipped",
    }
    assert states(first) == {f"x-json/value/{name}": state for name, state in wanted.items()}
    assert list(states(record).values()) == ["passed", "failure", "failure", "skipped"]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("9", "3", "3")


def test_a_failure_says_what_the_console_says(full):
    failure = ET.fromstring(junit.render(full)).find(".//failure")
    assert failure.get("type") == "WRONG_SIGN"
    assert (
        failure.get("message")
        == "2 cases: at after['c']: expected 9223372036854775808, actual -9223372036854775808"
    )
    for words in ("The statement of value/unsigned.", "[harness#every-offset]", REPLAYED, '"c":"9'):
        assert words in failure.text


def test_a_failure_names_each_cause_of_its_rule_and_the_known_ones_last(full):
    known = replace(
        full.failures[0], on_record=2, cause=Cause(Symptom.REFUSED, (("cell", "bit", "null"),))
    )
    new = replace(full.failures[0], cause=Cause(Symptom.REFUSED, (("cell", "year", "null"),)))
    root = ET.fromstring(junit.render(replace(full, failures=(known, new, *full.failures[1:]))))
    check(root)
    text = root.find(".//failure").text
    assert 0 < text.index("NULL in a year cell") < text.index("NULL in a bit cell")


def test_what_is_skipped_says_why(full):
    root = ET.fromstring(junit.render(full))
    assert [skipped.get("message") for skipped in root.iter("skipped")] == [
        "known failure, 1 case: upstream 7 (https://example.test/7)",
        "not reached: the decoder decodes only level 1, or the selection or the decoder's capabilities leave the rule out",
        "not reached: its rule was not exercised",
    ]


def test_the_properties_say_what_ran(full):
    properties = {
        element.get("name"): element.get("value")
        for element in ET.fromstring(junit.render(full)).iter("property")
    }
    assert properties == {
        "seed": "7", "budget": "smoke", "decoder": "mine.py:decode", "broker": "none", "cases": "6", "strict": "false",
        "version:python": "3.11.2",
    }  # fmt: skip


def test_an_unexpected_pass_and_a_rule_not_exercised_are_failures(full):
    fmt = full.formats[0]
    idle = replace(fmt, rules=(*fmt.rules[:4], replace(fmt.rules[4], reachable=True)))
    root = ET.fromstring(junit.render(replace(full, formats=(idle,))))
    check(root)
    types = {failure.get("type") for failure in root.iter("failure")}
    assert types == {"WRONG_SIGN", "NOT_EXERCISED", "UNEXPECTED_PASS", "MATCHES_NOTHING"}


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
    entry = replace(
        full.entries[1], hint=hostile, entry=replace(full.entries[1].entry, rule=hostile)
    )
    raised = replace(made.failures[0], result=replace(made.failures[0].result, note=hostile))
    header = replace(made.header, decoder=hostile, versions={hostile: hostile})
    text = junit.render(
        replace(
            made, header=header, failures=(raised, *made.failures[1:2], known), entries=(entry,)
        )
    )
    root = ET.fromstring(text.encode("utf-8"))
    check(root)
    assert root.find(".//failure").text.count("<script>alert(1)</script>") >= 2
    assert not set(text) & set("\x00\x07\x1b")


@settings(deadline=None)
@given(text=st.text(st.characters()))
def test_every_text_is_legal(text):
    element = ET.Element("a", b=junit.legal(text))
    element.text = junit.legal(text)
    parsed = ET.fromstring(ET.tostring(element, encoding="utf-8"))
    assert (parsed.text or "").replace("\r", "\n") == junit.legal(text).replace(
        "\r\n", "\n"
    ).replace("\r", "\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\tb\n", "a\tb\n"), ("\x00", "\\x00"), ("\ud800", "\\ud800"), ("\uffff", "\\uffff")],
)
def test_what_xml_has_not_is_escaped(text, expected):
    assert junit.legal(text) == expected


def run_of(result):
    document = orjson.loads(sarif.sarif_bytes(result))
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    return document["runs"][0]


def results(result):
    return run_of(result)["results"]


def test_a_broken_must_is_an_error_a_should_a_warning_and_a_known_failure_is_suppressed(full):
    assert [
        (result["ruleId"], result["level"], result.get("suppressions")) for result in results(full)
    ] == [
        *(("x-json/value/unsigned", "error", None), ("x-json/value/soft", "warning", None)),
        (
            "x-json/value/known",
            "error",
            [{"kind": "external", "status": "accepted", "justification": "upstream 7"}],
        ),
    ]


def test_under_strict_a_should_is_an_error(full):
    assert [result["level"] for result in results(replace(full, strict=True))] == [
        "error",
        "error",
        "error",
    ]


def test_every_result_points_at_its_rule(full):
    run = run_of(full)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        f"x-json/value/{name}" for name in ("unsigned", "soft", "known", "kept", "out")
    ]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert (rules[0]["name"], rules[0]["shortDescription"]) == (
        "WrongSign",
        {"text": "The statement of value/unsigned."},
    )
    assert "[harness#every-offset]" in rules[0]["help"]["text"]


def test_a_result_says_what_the_console_says(full):
    message = results(full)[0]["message"]["text"]
    for words in ("The statement of value/unsigned.", REPLAYED, '"c":"9'):
        assert words in message


def test_a_fingerprint_stays_for_a_cause_and_differs_between_causes(full):
    first = full.failures[0]
    other = replace(first, keys=("another",))

    def prints(*failures):
        first_results = results(replace(full, failures=failures))[: len(failures)]
        return [result["partialFingerprints"]["ruleAndCause/v1"] for result in first_results]

    assert (prints(first, other)[0], len(set(prints(first, other)))) == (
        prints(replace(first, cases=7))[0],
        2,
    )


def test_a_rule_that_was_not_exercised_and_a_run_that_did_not_end_are_told(full):
    fmt = full.formats[0]
    idle = replace(fmt, rules=(*fmt.rules[:3], replace(fmt.rules[3], compared=0)))
    assert results(replace(full, formats=(idle,)))[-1]["message"]["text"].startswith(
        "not exercised"
    )
    invocation = run_of(replace(full, ended="interrupted"))["invocations"][0]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 130)
    assert (
        "UNFINISHED, interrupted" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    )
    assert run_of(full)["invocations"][0] == {"executionSuccessful": True, "exitCode": 1}


def test_text_of_messages_is_escaped(full, hostile):
    failure = replace(full.failures[0], finding=replace(full.failures[0].finding, actual=hostile))
    text = sarif.sarif_bytes(replace(full, failures=(failure,))).decode()
    assert "\\u001b" not in text and "\x1b" not in text and "\u202e" not in text


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with decoders."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import os\n\n\ndef decode(records):\n    return records\n\n\ndef other(records): ...\n"
    )
    (tmp_path / "pack age" / "inner").mkdir(parents=True)
    (tmp_path / "pack age" / "inner" / "__init__.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("def decode(:\n")
    (tmp_path / "decoder.js").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("decoder", "place"),
    [
        *(
            ("mine.py:decode", ("mine.py", 4)),
            ("mine.py", ("mine.py", 4)),
            ("mine:other", ("mine.py", 8)),
        ),
        *(("./mine.py:other", ("mine.py", 8)), ("broken.py:decode", ("broken.py", 1))),
        *(
            ("pack age/inner:decode", ("pack age/inner/__init__.py", 1)),
            ("cmd:node decoder.js --fast", ("decoder.js", 1)),
        ),
        *(
            ("cmd:decoder --fast", None),
            (f"cmd:decoder '{'x' * 5_000}' decoder.js", ("decoder.js", 1)),
        ),
        *(("absent.py:decode", None), ("json:loads", None)),
    ],
)
def test_the_place_of_a_decoder(project, decoder, place):
    assert sarif.where(decoder) == (place and (sarif.Path(place[0]), place[1]))


def test_a_location_is_a_relative_address(project, full):
    fmt = replace(full.formats[0], decoder="pack age/inner:decode")
    location = results(replace(full, formats=(fmt,)))[0]["locations"][0]
    place = {
        "artifactLocation": {"uri": "pack%20age/inner/__init__.py"},
        "region": {"startLine": 1},
    }
    assert location["physicalLocation"] == place
    assert location["logicalLocations"] == [{"fullyQualifiedName": "pack age/inner:decode"}]
    fmt = replace(fmt, decoder="json:loads")
    assert "physicalLocation" not in results(replace(full, formats=(fmt,)))[0]["locations"][0]
