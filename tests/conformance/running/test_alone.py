"""Decoders whose answers depend on other messages: the verdict's first line names batch
independence, and no replay acquits.
"""

import base64
import json
import shlex
import sys
import textwrap
from dataclasses import replace
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from conformance.cases.catalogue import Budget, Call, named_cases
from conformance.engines.command import engine_for
from conformance.judging.capabilities import Capabilities
from conformance.judging.mistakes import mistakes
from conformance.reports.facts import headline
from conformance.rules.rules import rules
from conformance.running import alone, replay
from conformance.running.isolating import foreign_case
from conformance.running.prepared import Settings
from conformance.running.replay import ReplayOutcome
from conformance.running.run import run_formats
from generators.wire_format import get
from tests.shared.right import owed_changes, row_of_change

NAME = "ticdc-canal-json"
BATCH = f"{NAME}/law/batch-independence"
NEEDED = {"duplicates": range(1, 100), "limit": range(150, 1001)}
"""How many neighbours a failure needs, by messages of several cases; the search for fewer has a
time limit.
"""
SELECTED, EXCLUDED = (
    ("*/shape/*", "*/ddl/*", "*text/*", "*blob/*", "*char/*", "*int/*"),
    ("*fault*", "*megabyte*"),
)
CHOSEN = {"writer_profile": "v7.1.6", "select": SELECTED, "exclude": EXCLUDED}
SETTINGS = Settings((NAME,), Budget("tiny", 0, 12), 7, level="changes", **CHOSEN)

DECODER = """
import json, random, sys
answers, wrong = json.load(open(sys.argv[1])), sys.argv[2]
count, held, seen = 0, [], set()

def changes(record, number):
    rows = answers[repr((record["key"], record["value"]))]
    lost = (
        (wrong == "limit" and number >= 200)
        or (wrong == "hundredth" and count % 100 == 99)
        or (wrong == "random" and chance.random() < 0.03)
        or (wrong == "always" and rows and rows[0]["op"] == "DELETE")
    )
    if wrong == "duplicates":
        place = repr((record["key"], record["value"]))
        lost = place in seen
        seen.add(place)
    return [] if lost else rows

chance = random.Random()
for line in sys.stdin:
    message = json.loads(line)
    match message["type"]:
        case "start":
            answer = {"type": "started", "cdc": 1, "levels": [1], "bytes": "base64"}
        case "begin":
            number = 0
            seen.clear()
            continue
        case "record":
            answer = {"type": "changes", "seq": message["seq"], "changes": changes(message, number)}
            number, count = number + 1, count + 1
        case "end":
            answer = {"type": "ended", "batch": message["batch"]}
    print(json.dumps(answer), flush=message["type"] != "record")
"""


def line(output):
    shown = {name: output.fields[name] for name in ("database", "schema", "table", "keys", "sql")}
    images = {side: getattr(output, side) for side in ("before", "after")}
    return {
        "row": output.row,
        "kind": output.kind,
        "op": output.op,
        "error": output.error,
        **shown,
        **images,
    }


def held(data):
    return None if data is None else {"base64": base64.b64encode(data).decode()}


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    """A function that gives the command of a decoder that knows all answers and is wrong in one
    way.
    """
    folder = tmp_path_factory.mktemp("decoder")
    answers = {}
    for case in named_cases(get(NAME), (get(NAME).profile("v7.1.6"),)):
        if case.level == 1:
            for written in case.written:
                message = written.message
                rows = [line(row_of_change(change, 1)) for change in owed_changes(case, written)]
                answers[repr((held(message.key), held(message.value)))] = rows
    (folder / "answers.json").write_text(json.dumps(answers))
    (folder / "decoder.py").write_text(textwrap.dedent(DECODER))

    def command(wrong):
        return "cmd:" + shlex.join(
            [sys.executable, str(folder / "decoder.py"), str(folder / "answers.json"), wrong]
        )

    return command


def judged(spec, folder, **changed):
    settings = replace(SETTINGS, decoder=spec, **changed)
    with engine_for(spec, (NAME,), timeout_s=60) as engine:
        result = replay.with_crash_files(run_formats(settings, engine), folder, settings)
    replay.save_all(result, settings)
    crashes = {path: replay.load(path) for path in sorted(folder.glob("*.json"))}
    return result, {
        replayed.outcome for replayed in replay.replay_all(crashes, None, 60, lambda _line: None)
    }


def test_a_decoder_that_knows_all_answers_conforms(decoder, tmp_path):
    result, outcomes = judged(decoder("never"), tmp_path)
    assert (headline(result).split(": ")[1][:8], outcomes) == ("conforms", set())


@pytest.mark.parametrize("wrong", ["limit", "duplicates", "hundredth", "random"])
def test_what_depends_on_other_messages_is_named_first_and_never_fixed(decoder, tmp_path, wrong):
    result, outcomes = judged(decoder(wrong), tmp_path)
    (fmt,) = result.formats
    first = mistakes(fmt)[0]
    assert (first.rules[0], result.exit_code) == (BATCH, 1), first
    assert first.sentence.startswith("not kept: A message decodes alike alone, in any batch")
    assert outcomes and outcomes <= {ReplayOutcome.FAILED, ReplayOutcome.NOT_ALONE}
    saved = [replay.load(path) for path in sorted(tmp_path.glob("*.json"))]
    needed = {len(crash.neighbours) for crash in saved if crash.rule == BATCH}
    if wrong in NEEDED:
        assert needed and needed <= set(NEEDED[wrong]) and ReplayOutcome.FAILED in outcomes
        with engine_for(decoder("never"), (NAME,), timeout_s=60) as engine:
            repaired = {
                replay.replay(crash, engine, decoder("never"))[0]
                for crash in saved
                if crash.neighbours
            }
        assert repaired == {ReplayOutcome.FIXED}


def test_what_a_case_shows_alone_is_no_matter_of_its_neighbours(decoder, tmp_path):
    result, outcomes = judged(decoder("always"), tmp_path)
    assert BATCH not in {failure.rule.id for failure in result.failures}
    assert all(failure.alone for failure in result.failures)
    assert outcomes == {ReplayOutcome.FAILED}
    crashes = {path: replay.load(path) for path in sorted(tmp_path.glob("*.json"))}
    repaired = replay.replay_all(crashes, decoder("never"), 60, lambda _line: None)
    assert {replayed.outcome for replayed in repaired} == {ReplayOutcome.FIXED}


def test_what_was_seen_to_fail_alone_is_asked_again_only_where_another_passes(monkeypatch):
    rule, other, third = rules(NAME)[:3]
    failures = [
        SimpleNamespace(rule=rule, result=SimpleNamespace(case=case)) for case in ("a", "b", "c")
    ]
    seen, asked = [(rule.id, "a"), (other.id, "b")], []
    prepared = SimpleNamespace(
        rules=(third,),
        loaded=SimpleNamespace(capabilities=Capabilities()),
        decoder="m:f",
        alone=seen,
    )

    def fails(_trial, failure, ask):
        asked.append(ask())
        return ask() not in passing

    monkeypatch.setattr(alone._Trial, "_fails", fails)
    trial, passing = alone._Trial(MagicMock(), prepared), ""
    assert (trial.try_in_turns(failures, str.upper), asked) == (
        {id(failure): True for failure in failures},
        ["B", "C"],
    )
    passing = "C"
    assert list(trial.try_in_turns(failures, str.upper).values()) == [True, True, False]
    assert asked[2:] == ["B", "C", "A", "B", "A", "B"]
    trial.engine.reset_mock()  # type: ignore[attr-defined]
    assert trial.try_in_turns(failures[:1], str.upper) == {id(failures[0]): True}
    trial.engine.renew.assert_not_called()  # type: ignore[attr-defined]


def test_a_message_of_another_table_is_decoded_in_the_call_in_which_it_is_foreign():
    case = next(case for case in named_cases(get(NAME), get(NAME).profiles[:1]) if case.level == 2)
    (other,) = case.tables[:1]
    mine, message = replace(other, name="mine"), case.written[0].message
    prepared = SimpleNamespace(owners={id(message): case})
    call_of_mine = Call(NAME, case.deployment, 2, (), mine, (message,))
    foreign = foreign_case(prepared, call_of_mine, message)
    calls = [
        Call(NAME, case.deployment, 2, (case,), other),
        Call(NAME, case.deployment, 2, (), mine),
        call_of_mine,
    ]
    assert foreign.id == f"{case.id}#in-mine"
    assert [alone.is_in_call(foreign, call) for call in calls] == [False, False, True]
    assert [alone.is_in_call(case, call) for call in calls] == [True, False, False]
