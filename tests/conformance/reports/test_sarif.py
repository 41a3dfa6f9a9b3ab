"""SARIF: what a code host shows beside the decoder's source."""

from dataclasses import replace

import orjson
import pytest

from conformance.reports import sarif


def run_of(result):
    document = orjson.loads(sarif.text(result))
    assert (document["version"], len(document["runs"])) == ("2.1.0", 1)
    return document["runs"][0]


def results(result):
    return run_of(result)["results"]


def test_a_broken_must_is_an_error_a_should_a_warning_and_a_known_failure_is_suppressed(full):
    assert [(one["ruleId"], one["level"], one.get("suppressions")) for one in results(full)] == [
        *(("x-json/value/unsigned", "error", None), ("x-json/value/soft", "warning", None)),
        ("x-json/value/known", "error", [{"kind": "external", "status": "accepted", "justification": "upstream 7"}]),
    ]


def test_under_strict_a_should_is_an_error(full):
    assert [one["level"] for one in results(replace(full, strict=True))] == ["error", "error", "error"]


def test_every_result_points_at_its_rule(full):
    run = run_of(full)
    rules = run["tool"]["driver"]["rules"]
    assert [one["id"] for one in rules] == [f"x-json/value/{name}" for name in ("unsigned", "soft", "known", "kept", "out")]
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert (rules[0]["name"], rules[0]["shortDescription"]) == ("WrongSign", {"text": "The statement of value/unsigned."})
    assert "[harness#every-offset]" in rules[0]["help"]["text"]


def test_a_result_says_what_the_console_says(full):
    message = results(full)[0]["message"]["text"]
    for words in ("The statement of value/unsigned.", "replay    cdc-conformance replay out/failures/u.json", '"c":"9'):
        assert words in message


def test_a_fingerprint_stays_for_a_cause_and_differs_between_causes(full):
    first = full.failures[0]
    other = replace(first, keys=("another",))

    def prints(*failures):
        return [
            one["partialFingerprints"]["ruleAndCause/v1"] for one in results(replace(full, failures=failures))[: len(failures)]
        ]

    assert (prints(first, other)[0], len(set(prints(first, other)))) == (prints(replace(first, cases=7))[0], 2)


def test_a_rule_that_was_not_exercised_and_a_run_that_did_not_end_are_told(full):
    fmt = full.formats[0]
    idle = replace(fmt, rules=(*fmt.rules[:3], replace(fmt.rules[3], compared=0)))
    assert results(replace(full, formats=(idle,)))[-1]["message"]["text"].startswith("not exercised")
    invocation = run_of(replace(full, ended="interrupted"))["invocations"][0]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 130)
    assert "UNFINISHED, interrupted" in invocation["toolExecutionNotifications"][0]["message"]["text"]
    assert run_of(full)["invocations"][0] == {"executionSuccessful": True, "exitCode": 1}


def test_text_of_messages_is_escaped(full, hostile):
    failure = replace(full.failures[0], finding=replace(full.failures[0].finding, actual=hostile))
    text = sarif.text(replace(full, failures=(failure,))).decode()
    assert "\\u001b" not in text and "\x1b" not in text and "\u202e" not in text


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with decoders."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import os\n\n\ndef decode(records):\n    return records\n\n\ndef other(records): ...\n")
    (tmp_path / "pack age" / "inner").mkdir(parents=True)
    (tmp_path / "pack age" / "inner" / "__init__.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("def decode(:\n")
    (tmp_path / "decoder.js").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("decoder", "place"),
    [
        *(("mine.py:decode", ("mine.py", 4)), ("mine.py", ("mine.py", 4)), ("mine:other", ("mine.py", 8))),
        *(("./mine.py:other", ("mine.py", 8)), ("broken.py:decode", ("broken.py", 1))),
        *(("pack age/inner:decode", ("pack age/inner/__init__.py", 1)), ("cmd:node decoder.js --fast", ("decoder.js", 1))),
        *(("cmd:decoder --fast", None), (f"cmd:decoder '{'x' * 5_000}' decoder.js", ("decoder.js", 1))),
        *(("absent.py:decode", None), ("json:loads", None)),
    ],
)
def test_the_place_of_a_decoder(project, decoder, place):
    assert sarif.where(decoder) == (place and (sarif.Path(place[0]), place[1]))


def test_a_location_is_a_relative_address(project, full):
    fmt = replace(full.formats[0], decoder="pack age/inner:decode")
    location = results(replace(full, formats=(fmt,)))[0]["locations"][0]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "pack%20age/inner/__init__.py"},
        "region": {"startLine": 1},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "pack age/inner:decode"}]
    fmt = replace(fmt, decoder="json:loads")
    assert "physicalLocation" not in results(replace(full, formats=(fmt,)))[0]["locations"][0]
