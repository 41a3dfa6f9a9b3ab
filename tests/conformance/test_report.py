"""Reports made from a hand-made run: lines of report.jsonl, what the console shows, Markdown, and hostile text in each."""

import io
import json
from dataclasses import replace

import jsonschema
import pytest
from rich.console import Console

from conformance.judge import CaseResult, Finding, Verdict
from conformance.report import console, markdown, records
from conformance.results import CallResult, Failure, FormatResult, Header, RuleResult, RunResult
from conformance.rules.base import Aspect, Citation, Effect, Obligation, Provenance, Rule
from generators import mysql
from generators.errors import HarnessError
from generators.model import Case, Column, Deployment, Message, State, Table, Written

RULE = Rule(
    "x-json/value/unsigned",
    "An unsigned bigint keeps its value above the signed maximum.",
    Obligation.MUST,
    Provenance.DOCUMENTED,
    (Citation("document 9", "2.1"), Citation("a/repository v1")),
    Effect.WRONG_SIGN,
)
LAW = replace(RULE, id="x-json/law/batch-independence", law="batch", obligation=Obligation.SHOULD)
TABLE = Table("db", "t", (Column("c", mysql.TYPES["unsigned-bigint"]),))


def case(name, profile="v1", value=b'{"c":"9223372036854775808"}', level=1):
    message = Message("cdc", 0, None, value, case=name)
    return Case(f"x-json/{profile}/{name}", "x-json", profile, Deployment(), level, (TABLE,), (Written(message, ()),))


GOOD = CaseResult(case("good"), Verdict.PASS)
FINDING = Finding(
    "x-json/v1/bad",
    RULE.id,
    0,
    0,
    Aspect.VALUE,
    "after['c']",
    "9223372036854775808 (bigint unsigned)",
    "-9223372036854775808 (int)",
)
BAD = CaseResult(case("bad"), Verdict.FAIL, (FINDING,))
ERRORED = CaseResult(case("worse", "v2+option", level=2), Verdict.ERRORED, note="ValueError: no\n  at line 1")
FORMAT = FormatResult(
    "x-json",
    "mine.py:decode",
    (1, 2),
    (GOOD, BAD, ERRORED),
    (RuleResult(RULE, 3, 1), RuleResult(LAW, 0, 0, reachable=False)),
    (CallResult("x-json UTC level 1", 1, 2, 2, 0.5), CallResult("x-json UTC level 2 t", 2, 1, 1, 0.25, "the decoder raised")),
    {"x-json/v1/good": (("cdc", 0, 0),), "x-json/v1/bad": (("cdc", 0, 1),)},
    1,
    {State.VALUE: 97, State.NULL: 1, State.ANY: 2},
    ("x-json UTC level 2 t: the decoder raised",),
)
FAILURE = Failure(RULE, FINDING, BAD, 2, "out/failures/x-json-value-unsigned-12345678.json")
RUN = RunResult(
    Header(7, "smoke", "mine.py:decode", "embedded 127.0.0.1:9092", "run-1", {"python": "3.11.2"}, ("run", "x-json")),
    (FORMAT,),
    (FAILURE,),
    12.345,
)
HOSTILE = "[red]x[/red] [/] \x1b[2J\x07 \u202e<script> | `a` \\"


def with_finding(**changes):
    finding = replace(FINDING, **changes)
    bad = CaseResult(replace(BAD.case, id=finding.case), Verdict.FAIL, (finding,))
    return replace(RUN, formats=(replace(FORMAT, cases=(GOOD, bad)),), failures=(replace(FAILURE, finding=finding, result=bad),))


def lines(result):
    return list(records.records(result))


def rendered(result, width=100):
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False, highlight=False).print(console.render(result))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


@pytest.fixture(scope="module")
def validator():
    schema = records.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    "result",
    [
        RUN,
        replace(RUN, formats=(), failures=()),
        replace(RUN, header=replace(RUN.header, topic="", broker="none")),
        with_finding(actual=HOSTILE, expected="", path=HOSTILE),
        replace(RUN, failures=(replace(FAILURE, result=replace(BAD, case=case("bad", value=None))),)),
        replace(RUN, failures=(replace(FAILURE, result=replace(BAD, case=case("bad", value=b"\xff\x00"))),)),
    ],
)
def test_every_line_is_valid(validator, result):
    found = lines(result)
    for line in found:
        validator.validate(json.loads(json.dumps(line)))
    assert [found[0]["type"], found[-1]["type"]] == ["header", "footer"]
    assert sum(line["type"] == "footer" for line in found) == 1


@pytest.mark.parametrize("index", range(7))
def test_a_line_with_another_field_is_invalid(validator, index):
    line = lines(RUN)[index]
    assert list(validator.iter_errors(line | {"more": 1}))
    assert list(validator.iter_errors({k: v for k, v in line.items() if k != "type"}))


def test_what_the_lines_say():
    found = lines(RUN)
    assert [line["type"] for line in found] == [
        "header", "case", "case", "case", "rule", "rule", "call", "call", "failure", "footer",
    ]  # fmt: skip
    bad = found[2]
    assert (bad["verdict"], bad["rules_broken"]) == ("fail", [RULE.id])
    assert bad["messages"] == [{"topic": "cdc", "partition": 0, "offset": 1}]
    assert found[4]["citations"] == ["document 9, 2.1", "a/repository v1"]
    failure = found[8]
    assert (failure["rule"], failure["case"], failure["cases"], failure["path"]) == (RULE.id, BAD.case.id, 2, "after['c']")
    assert failure["message"] == {"key": None, "value": {"text": '{"c":"9223372036854775808"}'}}
    assert found[9] == {
        "type": "footer",
        "exit_code": 1,
        "seconds": 12.345,
        "stopped_early": False,
        "formats": {
            "x-json": {
                "cases": 3,
                "drawn": 1,
                "rules": 2,
                "rules_exercised": 1,
                "verdicts": {"errored": 1, "fail": 1, "pass": 1},
                "certain_cells": 0.98,
                "cells": {"VALUE": 97, "NULL": 1, "ANY": 2},
            }
        },
    }


def test_a_report_is_written_whole(tmp_path, validator):
    path = records.write(RUN, tmp_path / "new" / "report")
    written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert written == json.loads(json.dumps(lines(RUN)))
    assert [p.name for p in path.parent.iterdir()] == ["report.jsonl"]
    for line in written:
        validator.validate(line)


def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", "utf-8")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        for attempt in (records.prepare, lambda place: records.write(RUN, place)):
            with pytest.raises(HarnessError, match=r"cannot write .*another --report"):
                attempt(target)

    def full(_result):
        yield {"type": "header"}
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records, "records", full)
    with pytest.raises(HarnessError, match="No space left on device"):
        records.write(RUN, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_directory_that_can_be_written_is_left_empty(tmp_path):
    records.prepare(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, None), (b"", {"text": ""}), ("汉".encode(), {"text": "汉"}), (b"\xff\xfe", {"base64": "//4="})],
)
def test_bytes_in_a_report(value, expected):
    assert records.as_bytes(value) == expected


SNAPSHOT = """\
╭─ x-json/value/unsigned WRONG_SIGN ───────────────────────────────────────────────────────────────╮
│ An unsigned bigint keeps its value above the signed maximum.                                     │
│ MUST, documented: document 9, 2.1; a/repository v1                                               │
│ case      x-json/v1/bad  (and 1 more)                                                            │
│ at        after['c']                                                                             │
│ expected  9223372036854775808 (bigint unsigned)                                                  │
│ actual    -9223372036854775808 (int)                                                             │
│ message   {"c":"9223372036854775808"}                                                            │
│ replay    cdc-conformance replay out/failures/x-json-value-unsigned-12345678.json                │
╰──────────────────────────────────────────────────────────────────────────────────────────────────╯
x-json/v2+option/worse: errored: ValueError: no
┏━━━━━━━━━━━━━━━━━┳━━━━━━━┳━━━━━━━━━━┳━━━━━━━┳━━━━━━┳━━━━━━┳━━━━━━━━┓
┃format / profile ┃ cases ┃ messages ┃ rules ┃ pass ┃ fail ┃ errored┃
┡━━━━━━━━━━━━━━━━━╇━━━━━━━╇━━━━━━━━━━╇━━━━━━━╇━━━━━━╇━━━━━━╇━━━━━━━━┩
│x-json           │     3 │        3 │   1/2 │    1 │    1 │       1│
│  v1             │     2 │        2 │       │    1 │    1 │       -│
│  v2+option      │     1 │        1 │       │    - │    - │       1│
└─────────────────┴───────┴──────────┴───────┴──────┴──────┴────────┘
3 cases (1 drawn; 2 judged at level one, 1 at level two), 2 messages through Kafka (embedded
127.0.0.1:9092), topic run-1; 98.0% of cells certain; seed 7, budget smoke, decoder mine.py:decode;
12.3 s
mine.py:decode decoder: does NOT conform"""


def test_the_console_shows_rule_citation_place_message_and_replay():
    assert rendered(RUN) == SNAPSHOT


def test_a_run_that_conforms():
    text = rendered(replace(RUN, formats=(replace(FORMAT, cases=(GOOD,)),), failures=()))
    assert "conforms" in text.splitlines()[-1]
    assert "NOT" not in text


def test_a_rule_that_was_not_exercised_is_named():
    idle = (RuleResult(RULE, 0, 0), RuleResult(LAW, 0, 0, reachable=False))
    result = replace(RUN, formats=(replace(FORMAT, cases=(GOOD,), rules=idle),), failures=())
    assert f"not exercised: {RULE.id}" in rendered(result)
    assert "batch" not in rendered(result)
    assert result.exit_code == 1


@pytest.mark.parametrize("field", ["expected", "actual", "path", "case"])
def test_hostile_text_is_shown_and_obeyed_nowhere(field):
    text = rendered(with_finding(**{field: HOSTILE}), width=160)
    assert "[red]x[/red] [/] \\x1b[2J\\x07 \\u202e<script> | `a` \\" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}


def test_a_hostile_message_and_a_hostile_error_are_shown_too():
    value = f'{{"c":"{HOSTILE}"}}'.encode()
    bad = replace(BAD, case=case("bad", value=value))
    noisy = replace(ERRORED, note=HOSTILE)
    result = replace(RUN, formats=(replace(FORMAT, cases=(bad, noisy)),), failures=(replace(FAILURE, result=bad),))
    text = rendered(result, width=160)
    assert text.count("[red]x[/red] [/] \\x1b[2J\\x07") == 2
    assert "\x1b" not in text


def test_the_replay_command_can_be_pasted():
    text = rendered(replace(RUN, failures=(replace(FAILURE, file="out dir/it's.json"),)))
    assert """cdc-conformance replay 'out dir/it'"'"'s.json'""" in text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (b"", ""),
        (b"a\r\n", "a\\r\\n"),
        ("汉\u2028".encode(), "汉\\u2028"),
        (b"\xff\x00", "hex ff00"),
        (b"x" * 700, "x" * 600 + "... (700 bytes)"),
    ],
)
def test_readable(value, shown):
    assert console.readable(value) == shown


def test_markdown():
    text = markdown.render(with_finding(actual=HOSTILE + "\nnext"))
    head, _, first, *_ = text.splitlines()
    assert head == "| format | profile | cases | verdicts |"
    assert first == "| x-json | v1 | 2 | 1 fail, 1 pass |"
    row = next(line for line in text.splitlines() if RULE.id in line)
    assert "<script>" not in text
    assert row.replace("\\|", "").count("|") == 6
    assert "Seed 7, budget smoke, exit code 1." in text


@pytest.mark.parametrize(
    ("verdicts", "strict", "code"),
    [
        ([Verdict.PASS, Verdict.REJECTED], False, 0),
        ([Verdict.PASS, Verdict.NON_STRICT, Verdict.INFORMATIONAL], False, 0),
        ([Verdict.PASS, Verdict.NON_STRICT], True, 1),
        ([Verdict.PASS, Verdict.UNSUPPORTED], True, 0),
        ([Verdict.UNSUPPORTED], False, 4),
        ([], False, 4),
        ([Verdict.PASS, Verdict.FAIL], False, 1),
        ([Verdict.ACCEPTED], False, 1),
        ([Verdict.ERRORED], False, 1),
        ([Verdict.TIMEOUT, Verdict.PASS], False, 1),
    ],
)
def test_exit_codes(verdicts, strict, code):
    cases = tuple(CaseResult(case(str(i)), v, (FINDING,) if v is Verdict.NON_STRICT else ()) for i, v in enumerate(verdicts))
    result = replace(RUN, formats=(replace(FORMAT, cases=cases),), strict=strict)
    assert result.exit_code == code
