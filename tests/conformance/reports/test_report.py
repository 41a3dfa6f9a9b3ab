"""Reports made from a hand-made run: lines of report.jsonl, what the console shows, hostile text in
each, and exit codes.
"""

import html
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from shown import shown

from conformance import files
from conformance.judging.causes import Cause, Symptom
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.known import Entry, EntryResult
from conformance.judging.known import State as EntryState
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.results import (
    CallResult,
    Failure,
    FormatResult,
    Header,
    OwnTables,
    RuleResult,
    RunResult,
)
from conformance.reports import console, markdown, page, records
from conformance.rules.rules import Aspect, Citation, Effect, Obligation, Provenance, Rule
from generators.errors import HarnessError
from generators.model import Case, Column, Deployment, Message, State, Table, Written
from generators.sources import mysql
from generators.tables.schema import Note

STATEMENT = "An unsigned bigint keeps its value above the signed maximum."
CITED = (Citation("harness#every-offset"), Citation("harness#deployment"))
RULE = Rule(
    "x-json/value/unsigned",
    STATEMENT,
    Obligation.MUST,
    Provenance.DOCUMENTED,
    CITED,
    Effect.WRONG_SIGN,
)
LAW = replace(RULE, id="x-json/law/batch-independence", law="batch", obligation=Obligation.SHOULD)
TABLE = Table("db", "t", (Column("c", mysql.TYPES["unsigned-bigint"]),))


def case(name, profile="v1", value=b'{"c":"9223372036854775808"}', level=1):
    message = Message("cdc", 0, None, value, case=name)
    return Case(
        f"x-json/{profile}/{name}",
        "x-json",
        profile,
        Deployment(),
        level,
        (TABLE,),
        (Written(message, ()),),
    )


GOOD = CaseResult(case("good"), Verdict.PASS)
LONG = "9223372036854775808"
WRONG = (Aspect.VALUE, "after['c']", f"{LONG} (bigint unsigned)", f"-{LONG} (int)", "after", "c")
FINDING = Finding("x-json/v1/bad", RULE.id, 0, 0, *WRONG)
BAD = CaseResult(case("bad"), Verdict.FAIL, (FINDING,))
RETURNS = replace(
    RULE,
    id="x-json/law/returns",
    law="returns",
    effect=Effect.STOPPED_PIPELINE,
    statement="Decoding ends.",
)
RAISED = Finding(
    "x-json/v2+option/worse",
    RETURNS.id,
    0,
    0,
    Aspect.MISSING,
    "decoding",
    "an end",
    "ValueError: no",
)
ERRORED = CaseResult(
    case("worse", "v2+option", level=2),
    Verdict.ERRORED,
    (RAISED,),
    note="ValueError: no\n  at line 1",
)
RULES = (RuleResult(RULE, 3, 1), RuleResult(LAW, 0, 0, reachable=False), RuleResult(RETURNS, 3, 1))
LEVEL_ONE, LEVEL_TWO = "x-json UTC level 1", "x-json UTC level 2 t"
CALLS = (
    CallResult(LEVEL_ONE, 1, 2, 2, 0.5),
    CallResult(LEVEL_TWO, 2, 1, 1, 0.25, "the decoder raised"),
)
PLACES = {"x-json/v1/good": (("cdc", 0, 0),), "x-json/v1/bad": (("cdc", 0, 1),)}
CELLS, NOTES = (
    {State.VALUE: 96, State.NULL: 1, State.ABSENT: 1, State.ANY: 2},
    (f"{LEVEL_TWO}: the decoder raised",),
)
FORMAT = FormatResult(
    "x-json", "mine.py:decode", (1, 2), (GOOD, BAD, ERRORED), RULES, CALLS, PLACES, 1, CELLS, NOTES
)
CAUSE = Cause(
    Symptom.WRONG,
    (("cell", "bigint-unsigned", "value", "over-signed"),),
    "bigint unsigned",
    f"'{LONG}'",
    Relation(RelationKind.WRAP, 64),
)
FAILURE = Failure(
    RULE, FINDING, BAD, 2, "out/failures/x-json-value-unsigned-12345678.json", cause=CAUSE
)
FAILURE = replace(FAILURE, profiles=("v1", "v2+option"), judged=3, faults=("cell-date",))
HEADER = Header(
    7,
    "smoke",
    "mine.py:decode",
    "embedded 127.0.0.1:9092",
    "run-1",
    {"python": "3.11.2"},
    ("run", "x-json"),
)
RUN = RunResult(HEADER, (FORMAT,), (FAILURE,), 12.345)
KNOWN = replace(
    FAILURE, on_record=FAILURE.cases, reason="not yet", link="https://example.test/1", file=""
)
OLD = Entry("x-json/old", Verdict.TIMEOUT, cases=("x-json/v1/*",), drawn=True)
ENTRIES = (
    EntryResult(Entry(RULE.id, Verdict.FAIL, ("v1*",)), EntryState.KNOWN, 2),
    EntryResult(OLD, EntryState.MATCHES_NOTHING, hint="no such rule"),
    EntryResult(
        Entry(LAW.id, Verdict.NON_STRICT),
        EntryState.UNEXPECTED_PASS,
        hint="it no longer fails; remove the entry",
    ),
)
OWN = OwnTables(
    "mysql",
    ("shop.orders",),
    (Note("a.sql", 3, 9, "KEY `k`", "left out"),),
    ("x-json: table geo is left out",),
)
WITH_TABLES = replace(RUN, header=replace(RUN.header, tables=OWN))
HOSTILE = "[red]x[/red] [/] \x1b[2J\x07 \u202e<script> | `a` \\"


def with_finding(**changes):
    finding = replace(FINDING, **changes)
    bad = CaseResult(replace(BAD.case, id=finding.case), Verdict.FAIL, (finding,))
    return replace(
        RUN,
        formats=(replace(FORMAT, cases=(GOOD, bad)),),
        failures=(replace(FAILURE, finding=finding, result=bad),),
    )


def lines(result):
    return list(records.records(result))


def rendered(result, width=100):
    return shown(console.render(result, details=True), width)


@pytest.fixture(scope="module")
def validator():
    schema = records.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    "result",
    [
        *(RUN, replace(RUN, formats=(), failures=())),
        replace(
            RUN,
            failures=(KNOWN, replace(FAILURE, on_record=1, reduced="reduced from 9 rows to 1")),
            entries=ENTRIES,
        ),
        *(replace(RUN, header=replace(RUN.header, topic="", broker="none")), WITH_TABLES),
        with_finding(actual=HOSTILE, expected="", path=HOSTILE),
        replace(
            RUN, failures=(replace(FAILURE, result=replace(BAD, case=case("bad", value=None))),)
        ),
        replace(
            RUN,
            failures=(replace(FAILURE, result=replace(BAD, case=case("bad", value=b"\xff\x00"))),),
        ),
    ],
)
def test_every_line_is_valid(validator, result):
    report = lines(result)
    for line in report:
        validator.validate(json.loads(json.dumps(line)))
    footers = sum(line["type"] == "footer" for line in report)
    assert (report[0]["type"], report[-1]["type"], footers) == ("header", "footer", 1)


@pytest.mark.parametrize("index", range(12))
def test_a_line_with_another_field_is_invalid(validator, index):
    line = lines(replace(RUN, entries=ENTRIES[:1]))[index]
    assert list(validator.iter_errors(line | {"more": 1}))
    assert list(validator.iter_errors({k: v for k, v in line.items() if k != "type"}))


def test_the_header_has_a_users_tables_and_the_notes_on_them(validator):
    assert "tables" not in lines(RUN)[0]
    (head, *_) = lines(WITH_TABLES)
    note = {"file": "a.sql", "line": 3, "column": 9, "construct": "KEY `k`", "action": "left out"}
    wanted = {
        "dialect": "mysql",
        "names": ["shop.orders"],
        "notes": [note],
        "left_out": ["x-json: table geo is left out"],
    }
    assert head["tables"] == wanted
    assert list(validator.iter_errors(head | {"tables": {"dialect": "mysql"}}))


def test_what_the_lines_say():
    report = lines(RUN)
    assert [line["type"] for line in report] == [
        "header", "case", "case", "case", "rule", "rule", "rule", "call", "call", "failure", "footer",
    ]  # fmt: skip
    bad = report[2]
    assert (bad["verdict"], bad["rules_broken"]) == ("fail", [RULE.id])
    assert bad["messages"] == [{"topic": "cdc", "partition": 0, "offset": 1}]
    assert report[4]["citations"] == [str(citation) for citation in RULE.citations]
    assert (report[0]["version"], records.schema()["$id"]) == (
        4,
        "tag:cdc-conformance,2026:report-line:4",
    )
    failure = report[9]
    assert (failure["rule"], failure["case"], failure["cases"], failure["path"]) == (
        RULE.id,
        BAD.case.id,
        2,
        "after['c']",
    )
    assert (failure["cause"], failure["hint"]) == (
        "wrong: cell bigint-unsigned value over-signed",
        "differs by 2^64",
    )
    assert (
        failure["cause_in_words"]
        == "gives another value for a bigint unsigned cell, here '9223372036854775808'"
    )
    assert (failure["profiles"], failure["faults"], failure["other_causes"]) == (
        ["v1", "v2+option"],
        ["cell-date"],
        0,
    )
    assert failure["message"] == {"key": None, "value": {"text": '{"c":"9223372036854775808"}'}}
    assert (
        failure["new"],
        failure["known"],
        failure["reason"],
        failure["link"],
        failure["reduced"],
    ) == (2, False, "", "", "")
    verdicts = {"errored": 1, "fail": 1, "pass": 1}
    counts = {"cases": 3, "drawn": 1, "rules": 3, "rules_exercised": 2, "verdicts": verdicts}
    summary = counts | {
        "certain_cells": 0.98,
        "cells": {"VALUE": 96, "NULL": 1, "ABSENT": 1, "ANY": 2},
    }
    ended = {
        "exit_code": 1,
        "seconds": 12.345,
        "stopped_early": False,
        "ended": None,
        "unjudged": [],
    }
    assert report[10] == {"type": "footer", **ended, "formats": {"x-json": summary}}


def test_what_the_lines_say_of_the_record():
    fmt = replace(FORMAT, cases=(replace(BAD, known=frozenset({RULE.id})),))
    report = lines(replace(RUN, formats=(fmt,), failures=(KNOWN,), entries=ENTRIES))
    assert report[1]["rules_known"] == [RULE.id]
    failure, known, nothing, passing = report[-5:-1]
    assert (failure["cases"], failure["new"], failure["known"], failure["reason"]) == (
        2,
        0,
        True,
        "not yet",
    )
    assert known == {
        "type": "expectation", "rule": RULE.id, "verdict": "fail", "profiles": ["v1*"], "cases": ["*"], "causes": ["*"],
        "drawn": False, "state": "known", "count": 2, "hint": "",
    }  # fmt: skip
    assert (nothing["state"], nothing["cases"], nothing["drawn"]) == (
        "matches nothing",
        ["x-json/v1/*"],
        True,
    )
    assert (passing["state"], passing["verdict"]) == ("unexpected pass", "pass-non-strict")


def test_a_report_is_written_whole(tmp_path, validator):
    path = records.write(RUN, tmp_path / "new" / "report")
    written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert (written, [p.name for p in path.parent.iterdir()]) == (
        json.loads(json.dumps(lines(RUN))),
        ["report.jsonl"],
    )
    for line in written:
        validator.validate(line)


def test_a_report_that_cannot_be_written_leaves_nothing_behind(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", "utf-8")
    for target in (tmp_path / "file", tmp_path / "file" / "below"):
        for attempt in (files.check, lambda place: records.write(RUN, place)):
            with pytest.raises(HarnessError, match=r"cannot write .*another (--report|place)"):
                attempt(target)

    def full(_result):
        yield {"type": "header"}
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records, "records", full)
    with pytest.raises(HarnessError, match="No space left on device"):
        records.write(RUN, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_directory_that_can_be_written_is_left_empty(tmp_path):
    files.check(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (b"", {"text": ""}),
        ("汉".encode(), {"text": "汉"}),
        (b"\xff\xfe", {"base64": "//4="}),
    ],
)
def test_bytes_in_a_report(value, expected):
    assert records.as_bytes(value) == expected


SNAPSHOT = Path(__file__).with_name("console.txt").read_text("utf-8")


def test_the_console_shows_rule_citation_place_message_and_replay():
    assert rendered(RUN) == SNAPSHOT


def test_a_run_that_conforms():
    text = rendered(replace(RUN, formats=(replace(FORMAT, cases=(GOOD,)),), failures=()))
    assert "conforms" in text.splitlines()[-1]
    assert "NOT" not in text


NULLED = replace(
    RUN,
    formats=(replace(FORMAT, cases=(replace(GOOD, verdict=Verdict.INFORMATIONAL, nulled=3),)),),
    failures=(),
)


def test_null_for_absent_columns_is_in_every_report(validator):
    sentence = "x-json: NULL for columns that the message does not hold, in 1 cases: v1 (1)"
    assert sentence in rendered(NULLED) and sentence not in rendered(RUN)
    assert "info" in rendered(NULLED)
    assert sentence in html.unescape(page.page_of_run(NULLED)) and sentence not in html.unescape(
        page.page_of_run(RUN)
    )
    assert sentence in html.unescape(markdown.render(NULLED)) and sentence not in html.unescape(
        markdown.render(RUN)
    )
    (line,) = [line for line in lines(NULLED) if line["type"] == "case"]
    validator.validate(line)
    assert (line["verdict"], line["nulled"]) == ("informational", 3)
    assert replace(NULLED, strict=True).exit_code == NULLED.exit_code == 0


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


def test_a_hostile_message_and_a_hostile_record_are_shown_too():
    value = f'{{"c":"{HOSTILE}"}}'.encode()
    bad, known = (
        replace(BAD, case=case("bad", value=value)),
        replace(KNOWN, reason=HOSTILE, link=HOSTILE),
    )
    entry = replace(ENTRIES[2], hint=HOSTILE, entry=replace(ENTRIES[2].entry, rule=HOSTILE))
    noisy = replace(FAILURE, result=bad, reduced=HOSTILE)
    result = replace(
        RUN, formats=(replace(FORMAT, cases=(bad,)),), failures=(noisy, known), entries=(entry,)
    )
    text = rendered(result, width=300)
    assert text.count("[red]x[/red] [/] \\x1b[2J\\x07") == 7
    assert not set(text) & {"\x1b", "\x07", "\u202e"}


def test_the_field_is_marked_in_the_message():
    (text,) = console.message_lines(FAILURE, 600)
    assert text.plain == 'message   {"c":"9223372036854775808"}'
    assert [(text.plain[span.start : span.end], span.style) for span in text.spans] == [
        ('"c"', "bold underline")
    ]


CONNECT_KEY = b'{"schema":{"type":"struct","fields":[' + b'{"type":"int64"},' * 9 + b"0]}"


def test_the_key_is_shown_where_the_finding_is_about_it():
    keyed = Message("cdc", 0, CONNECT_KEY + b',"payload":{"id":7}}', b'{"op":"c"}', case="bad")
    written = (Written(keyed, ()),)
    result = replace(BAD, case=replace(BAD.case, written=written))
    about_keys = replace(FINDING, path="keys", side="", column=None, aspect=Aspect.FIELD)
    key, value = console.message_lines(replace(FAILURE, result=result, finding=about_keys), 600)
    assert (
        key.plain
        == 'key       {"schema":... (Connect\'s schema, 183 characters) ...,"payload":{"id":7}}'
    )
    assert [key.plain[span.start : span.end] for span in key.spans] == [
        "... (Connect's schema, 183 characters) ...",
        '"id":7',
    ]
    assert value.plain == 'message   {"op":"c"}'
    assert len(console.message_lines(replace(FAILURE, result=result), 600)) == 1


def test_details_say_a_rules_statement_and_sources_once():
    text = rendered(replace(RUN, failures=(FAILURE, replace(FAILURE, keys=("other",)))), 160)
    assert text.count(FAILURE.finding.case) == 2
    assert text.count(STATEMENT) == 1
    assert text.count("source    ") == len(CITED)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"cases": 5, "on_record": 3},
            "cases     5 (3 of them known) in 2 of 3 profiles: v1, v2+option; faults: cell-date",
        ),
        ({"reduced": "reduced from 3 columns to 1 column"}, "reduced from 3 columns to 1 column"),
        (
            {"profiles": tuple(f"v{n}" for n in range(12)), "judged": 14},
            "cases     2 in 12 of 14 profiles: v0, v1, v2, v3, v4, v5, v6, v7 and 4 more; faults",
        ),
        ({"judged": 2}, "cases     2 in every profile; faults: cell-date"),
        ({"others": 7}, "here '9223372036854775808', and 7 other causes of this rule"),
    ],
)
def test_a_failure_says_how_many_cases_it_has_and_where(changes, said):
    assert said in rendered(replace(RUN, failures=(replace(FAILURE, **changes),)), 160)


def test_known_failures_are_a_line_each_and_wrong_entries_say_what_to_do():
    fine = replace(FORMAT, cases=(GOOD, replace(BAD, known=frozenset({RULE.id}))))
    result = replace(RUN, formats=(fine,), failures=(KNOWN,), entries=ENTRIES)
    text = rendered(result, width=160)
    assert result.exit_code == 5
    assert text.splitlines()[:3] == [
        f"known: x-json/value/unsigned, {CAUSE.words}, 2 cases: not yet (https://example.test/1)",
        "record: x-json/old, timeout, case x-json/v1/*: matches nothing: no such rule; correct or remove the entry",
        "record: x-json/law/batch-independence, pass-non-strict: unexpected pass: it no longer fails; remove the entry",
    ]
    verdict = "decoder mine.py:decode: conforms, but the record of known failures is out of date"
    unjudged = "1 rule not judged (beyond level, selection or decoder)"
    assert text.splitlines()[-2:] == [
        "0 new failures, 1 known; record: 3 entries, 2 to correct",
        f"{verdict}, {unjudged}",
    ]


def test_the_replay_command_can_be_pasted():
    text = rendered(replace(RUN, failures=(replace(FAILURE, file="out dir/it's.json"),)))
    assert """cdc-conformance replay 'out dir/it'"'"'s.json'""" in text


def test_a_long_message_begins_behind_its_label_on_a_terminal_and_is_whole_in_a_pipe():
    example = console.Example(console.Text("message   " + "x" * 30))
    printed = []
    for is_terminal in (True, False):
        output = console.Console(width=20, force_terminal=is_terminal, color_system=None)
        with output.capture() as captured:
            output.print(example, crop=False)
        printed.append(captured.get())
    assert printed == [
        "message   xxxxxxxxxx\nxxxxxxxxxxxxxxxxxxxx\n",
        "message   " + "x" * 30 + "\n",
    ]
    folded = console.fold_lines(console.Text("a\n\nbcd"), 2)
    assert folded.plain == "a\n\nbc\nd"
