"""Crash files judged again without Spark: FIXED only where the case alone shows the failure and its
rule compared something.
"""

import json
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
import right
from command_lines import performed
from remembered import done

from conformance.cases.catalogue import BUDGETS
from conformance.commands import cli
from conformance.engines.engine import DecodeRaised, Loaded
from conformance.files import FAILURES
from conformance.judging.capabilities import Capabilities
from conformance.judging.causes import Cause, Symptom
from conformance.judging.findings import CaseResult, Finding, Verdict
from conformance.judging.results import Failure, FormatResult, Header, RuleResult, RunResult
from conformance.rules.rules import Aspect, rules
from conformance.running import alone, laws, replay
from conformance.running.prepared import Settings
from conformance.running.replay import ReplayOutcome
from generators.drawing.cases import as_case
from generators.errors import UnknownName, UsageError
from generators.sources.boundaries import KEYLESS, insert, scenario
from generators.storage import codec
from generators.wire_format import get

NAME = "ticdc-canal-json"
FMT = get(NAME)
CASE = as_case(
    FMT, FMT.profile("v7.1.6"), scenario("shape/x", insert(KEYLESS, {"a": 1, "b": "x", "c": None}))
)
MISSING, RETURNS, BATCH = (
    f"{NAME}/{name}" for name in ("change/missing", "law/returns", "law/batch-independence")
)


class Fake:
    """An engine whose decoder gives a row for the message, no row, or an error."""

    environments: ClassVar[dict[str, str]] = {}

    def __init__(self, directory, answer, claims=None):
        self.directory, self.answer, self.claims = directory, answer, claims or Capabilities()

    def load(self, _spec, _level):
        return done(Loaded((1,), self.claims))

    def keep_records(self, _handle, _source):
        return done(1)

    def release(self, _handle):
        pass

    def decode(self, request):
        if isinstance(self.answer, Exception):
            return done(self.answer)
        ranges = request.ranges if self.answer == "row" else ()
        places = [
            (topic, number, offset)
            for topic, number, low, high in ranges
            for offset in range(low, high + 1)
        ]
        return done(
            {place: [right.row_of_change(CASE.written[0].changes[0], 1)] for place in places}
        )


@pytest.fixture(autouse=True)
def no_arrow(monkeypatch):
    """The engine's answers are rows already."""
    for module in (alone, laws):
        monkeypatch.setattr(module, "read", lambda rows, _level: rows)


def failure(rule=MISSING, alone=True, cause=None, neighbours=(), **finding):
    first = Finding(CASE.id, rule, 0, 0, Aspect.MISSING, "row 0", "ROW INSERT", "no output row")
    result = CaseResult(CASE, Verdict.FAIL, (replace(first, **finding),))
    mine = next(r for r in rules(NAME) if r.id == rule)
    return Failure(
        mine, result.findings[0], result, 1, cause=cause, alone=alone, neighbours=neighbours
    )


def saved(directory, failure, *about):
    """The crash file of a failure."""
    return replay.save(directory / f"{replay.crash_id(failure)}.json", failure, *about)


def outcome(tmp_path, answer, claims=None, **about):
    """A saved failure, judged again."""
    crash = replay.load(saved(tmp_path, failure(**about), "mine", "changes", {}, {}))
    return replay.replay(crash, Fake(tmp_path, answer, claims), "mine")


@pytest.mark.parametrize(
    ("answer", "about", "wanted"),
    [
        *(
            ("nothing", {}, ReplayOutcome.FAILED),
            ("row", {}, ReplayOutcome.FIXED),
            (DecodeRaised("no"), {}, ReplayOutcome.ERROR),
        ),
        *(
            (DecodeRaised("no"), {"rule": RETURNS}, ReplayOutcome.FAILED),
            ("row", {"rule": RETURNS}, ReplayOutcome.FIXED),
        ),
        ("row", {"rule": RETURNS, "alone": False}, ReplayOutcome.NOT_ALONE),
        ("row", {"alone": False}, ReplayOutcome.NOT_ALONE),
        ("nothing", {"rule": RETURNS, "alone": False}, ReplayOutcome.FAILED),
        (
            "row",
            {"rule": BATCH, "alone": False, "path": "message", "actual": "alone: 0 rows"},
            ReplayOutcome.NOT_ALONE,
        ),
    ],
)
def test_a_failure_that_only_several_messages_show_is_never_fixed(tmp_path, answer, about, wanted):
    result, _, problem = outcome(tmp_path, answer, **about)
    assert result is wanted
    assert (problem == replay.TOGETHER) == (wanted is ReplayOutcome.NOT_ALONE)


@pytest.mark.parametrize(
    "behind", [{}, {"alone": False, "neighbours": (replace(CASE, id=f"{CASE.id}/before"),)}]
)
def test_a_rule_that_compared_nothing_is_not_fixed(tmp_path, behind):
    rule, claims = f"{NAME}/value/integer", Capabilities(types=("varchar",))
    assert outcome(tmp_path, "row", rule=rule, **behind)[0] is ReplayOutcome.FIXED
    result, findings, problem = outcome(tmp_path, "row", claims, rule=rule, **behind)
    assert (result, findings, problem) == (ReplayOutcome.NOT_REPRODUCED, [], replay.UNCOMPARED)


@pytest.mark.parametrize(
    "text", ["", "[]", "5", "null", '{"version": 1}', "[" * 100_000, "\x00"], ids=range(7)
)
def test_a_file_that_is_no_crash_file_is_refused(tmp_path, text):
    (tmp_path / "x.json").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"x\.json"):
        replay.load(tmp_path / "x.json")


FAR = codec.dump_case(CASE)
FAR["written"][0]["message"]["timestamp_ms"] = 10**30


def test_a_file_of_an_earlier_release_is_read(tmp_path):
    path = saved(tmp_path, failure(), "mine", "changes", {}, {})
    data = json.loads(path.read_text())
    for name in ("shown_alone", "instead", "cause", "cause_in_words"):
        del data[name]
    path.write_text(json.dumps(data))
    crash = replay.load(path)
    assert (crash.alone, crash.instead) == (False, "")


def test_a_file_is_named_by_rule_case_and_cause_and_holds_the_cause(tmp_path):
    bit, year = (Cause(Symptom.LOST, (("cell", kind, "null"),)) for kind in ("bit", "year"))
    paths = {
        saved(tmp_path, failure(cause=cause), "mine", "changes", {}, {})
        for cause in (None, bit, year)
    }
    assert len(paths) == 3
    causes = {json.loads(path.read_text())["cause"] for path in paths}
    assert causes == {"", "lost: cell bit null", "lost: cell year null"}


def test_a_rule_that_is_blamed_in_place_of_a_trait_fails_by_the_trait(tmp_path):
    crash = replay.load(
        saved(tmp_path, failure(instead=f"{NAME}/framing/crlf"), "mine", "changes", {}, {})
    )
    assert crash.instead == f"{NAME}/framing/crlf"


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        *(
            ([], 0),
            ([ReplayOutcome.FIXED], 0),
            ([ReplayOutcome.FIXED, ReplayOutcome.NOT_REPRODUCED], 4),
        ),
        ([ReplayOutcome.NOT_REPRODUCED, ReplayOutcome.FAILED], 1),
        ([ReplayOutcome.ERROR, ReplayOutcome.FAILED, ReplayOutcome.NOT_REPRODUCED], 3),
    ],
)
def test_the_exit_code_of_several(outcomes, code):
    assert replay.exit_code(outcomes) == code


SETTINGS = Settings(
    (NAME,), BUDGETS["smoke"], 1, decoder="mine.py:decode", mapping={"op": "upper(op)"}
)
HEADER = Header(1, "smoke", "mine.py:decode", "none", "", {"python": "0.0"})


def test_failures_get_files_and_the_options_that_replay_them(tmp_path):
    run = RunResult(HEADER, (), (failure(), replace(failure(), on_record=1)), 0.0)
    new, known = replay.with_crash_files(run, tmp_path, SETTINGS).failures
    assert (Path(new.file).parent, new.naming) == (
        tmp_path,
        ("--decoder", "mine.py:decode", "--map", "op=upper(op)"),
    )
    assert (known.file, known.naming) == ("", ())
    kept = replay.save_all(replace(run, failures=(new, known)), SETTINGS)
    assert kept == (replace(run, failures=(new, known)), None)
    assert [path.name for path in tmp_path.iterdir()] == [Path(new.file).name]
    crash = replay.load(Path(new.file))
    assert (crash.decoder, crash.mapping, crash.case) == (
        "mine.py:decode",
        {"op": "upper(op)"},
        CASE,
    )
    assert replay.code_of_files([crash], None, {}) == [
        "decoder 'mine.py:decode'",
        "--map 'op=upper(op)'",
    ]
    assert replay.code_of_files([crash], "mine.py:decode", {"op": "upper(op)"}) == []


def test_a_failure_that_cannot_be_saved_names_no_file(tmp_path):
    (tmp_path / "taken").write_text("")
    (named,) = replay.with_crash_files(
        RunResult(HEADER, (), (failure(),), 0.0), tmp_path / "taken", SETTINGS
    ).failures
    kept, error = replay.save_all(RunResult(HEADER, (), (named,), 0.0), SETTINGS)
    assert (kept.failures[0].file, kept.failures[0].naming) == ("", ())
    assert "cannot write the failure to" in str(error)


def test_several_files_are_replayed_in_a_session_per_decoder_and_shown(tmp_path, monkeypatch):
    engines = []

    @contextmanager
    def started(spec, formats, *, timeout_s, conf, note):
        engines.append((spec, formats, timeout_s, conf["spark.driver.memory"]))
        yield Fake(tmp_path, "nothing")

    monkeypatch.setattr(replay, "engine_for", started)
    paths = [
        saved(tmp_path / spec, failure(), spec, "changes", {}, {"python": "0.0"})
        for spec in ("one", "two")
    ]
    notes, conf = [], {"spark.driver.memory": "4g"}
    replayed = list(
        replay.replay_all(
            {path: replay.load(path) for path in paths}, None, 9.0, notes.append, conf
        )
    )
    assert (engines, notes) == (
        [("one", [NAME], 9.0, "4g"), ("two", [NAME], 9.0, "4g")],
        [f"replaying {CASE.id}"] * 2,
    )
    assert [r.outcome for r in replayed] == [ReplayOutcome.FAILED] * 2
    lines = replay.render(replayed[0], "pretty").splitlines()
    assert lines[0] == f"FAILED {MISSING} {CASE.id}"
    assert lines[1].startswith(f"  {MISSING} at row 0: expected ROW INSERT")
    assert lines[-1].startswith("  saved under other versions: python 0.0 -> ")
    shown = json.loads(replay.render(replayed[0], "json"))
    assert (shown["outcome"], shown["rule"], shown["findings"][0]["rule"]) == (
        "FAILED",
        MISSING,
        MISSING,
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({"version": 99}, "crash file version 99"), ({"decoder": 7}, "must be texts")),
        *(
            ({"shown_alone": "yes"}, "shown_alone must be true or false"),
            ({"case": []}, "must be an object, not an array"),
        ),
        ({"case": codec.dump_case(replace(CASE, written=()))}, "a case needs a message"),
        ({"case": FAR}, r"timestamp_ms: must be from -1"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, change, said):
    path = saved(tmp_path, failure(), "mine", "changes", {}, {})
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=said):
        replay.load(path)


def test_an_unknown_rule_and_a_level_that_the_decoder_lacks_are_told(tmp_path):
    crash = replay.load(saved(tmp_path, failure(), "mine", "changes", {}, {}))
    with pytest.raises(UnknownName, match="unknown rule"):
        replay.replay(replace(crash, rule=f"{NAME}/no/such"), Fake(tmp_path, "row"), "mine")
    result, _, problem = replay.replay(
        replace(crash, case=replace(CASE, level=2)), Fake(tmp_path, "row"), "mine"
    )
    assert (result, problem) == (
        ReplayOutcome.ERROR,
        "the case is of level 2; mine decodes level 1",
    )


def test_a_failure_that_is_not_there_is_named_with_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FAILURES.mkdir(parents=True)
    (FAILURES / "ticdc-value-12345678.json").write_text("{}", "utf-8")
    with pytest.raises(UnknownName, match="Did you mean 'ticdc-value-12345678'"):
        replay.find("ticdc-value-12345677")
    assert replay.find("ticdc-value-12345678") == FAILURES / "ticdc-value-12345678.json"
    assert replay.find(str(FAILURES / "ticdc-value-12345678.json")).is_file()


def save_of_decoders(directory):
    """Three saved failures: of two decoders, one of them also of level two."""
    rows = replace(failure(), result=CaseResult(replace(CASE, level=2), Verdict.FAIL))
    about = ((failure(), "a.py:decode"), (failure(), "b.py:decode"), (rows, "b.py:decode"))
    for number, (broken, decoder) in enumerate(about):
        replay.save(directory / f"{number}.json", broken, decoder, "both", {}, {})
    return {path: replay.load(path) for path in sorted(directory.glob("*.json"))}


@pytest.mark.parametrize(
    ("decoder", "level", "names"),
    [
        (None, "both", "012"),
        (None, "rows", "2"),
        ("b.py:decode", "both", "12"),
        ("./b.py:decode", "changes", "1"),
        ("b.py:decode_rows", "both", ""),
    ],
)
def test_the_failures_of_a_decoder_and_a_level(tmp_path, decoder, level, names):
    found = replay.failures_of_decoder(save_of_decoders(tmp_path), decoder, level)
    assert [path.stem for path in found] == list(names)


def test_the_cases_of_a_runs_saved_failures(tmp_path):
    save_of_decoders(tmp_path)
    (tmp_path / "damaged.json").write_text("{", "utf-8")
    settings = Settings((NAME,), BUDGETS["smoke"], 1, decoder="b.py:decode")
    assert replay.failed_cases(tmp_path, settings) == (CASE.id,)
    assert replay.failed_cases(tmp_path, replace(settings, decoder="c.py:decode")) == ()
    assert replay.failed_cases(tmp_path, replace(settings, formats=("maxwell-json",))) == ()
    assert replay.failed_cases(tmp_path / "none", settings) == ()


def test_all_with_a_decoder_leaves_out_the_others(tmp_path, monkeypatch, capsys):
    save_of_decoders(tmp_path)
    given = []
    monkeypatch.setattr(replay, "replay_all", lambda crashes, *_: given.extend(crashes) or [])
    done = performed("replay", "--all", "--from", tmp_path, "--decoder", "b.py:decode")
    assert [path.stem for path in given] == ["1", "2"]
    assert "1 of 3 saved failures are left out: of a.py:decode (1)" in done.stderr
    done = performed("replay", "--all", "--from", tmp_path, "--decoder", "c.py:decode")
    assert str(done.exception) == (
        "no saved failure of decoder 'c.py:decode'; there are some of a.py:decode (1),"
        " b.py:decode (2)"
    )


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.FAIL, "only cases that failed before are judged: they still fail"),
        (Verdict.PASS, "the cases that failed before pass; all others follow"),
    ],
)
def test_failed_cases_are_judged_before_all_others(monkeypatch, verdict, words):
    given, lines = [], []
    rule = RuleResult(next(r for r in rules(NAME) if r.id == MISSING), 1, 0)
    found = failure().result.findings if verdict is Verdict.FAIL else ()
    judged = FormatResult(
        NAME, "mine", (1,), (CaseResult(CASE, verdict, found),), (rule,), (), {}, 0, {}
    )
    header = Header(1, "smoke", "mine", "none", "")
    result = RunResult(header, (judged,), (), 1.0)
    monkeypatch.setattr(
        "conformance.running.run.run_formats", lambda settings, *_: given.append(settings) or result
    )
    settings = Settings((NAME,), BUDGETS["smoke"], 1, decoder="mine")
    note = SimpleNamespace(line=lines.append)
    outcome = cli._judge_failed((CASE.id,), settings, None, None, note)
    assert [settings.select for settings in given] == [(CASE.id,)]
    assert (outcome is result) == (verdict is Verdict.FAIL)
    assert lines == [words]
    assert cli._judge_failed((), settings, None, None, note) is None


def test_the_folder_of_a_report_stands_for_its_failures(tmp_path):
    (tmp_path / "badge.json").write_text("{}")
    (tmp_path / "failures").mkdir()
    done = performed("replay", "--all", "--from", tmp_path)
    assert str(done.exception) == f"no saved failure in {tmp_path / 'failures'}"
