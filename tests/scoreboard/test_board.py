"""The scoreboard's data: outcomes, faults and their proofs."""

from __future__ import annotations

import json
import re

import pytest

from generators.errors import HarnessError, UnknownName
from generators.wire_format import FORMATS
from scoreboard import board, judging, page
from scoreboard.readers import READERS, Reader, named

READER = Reader("reader", "A reader", "1.0", {"alibaba-canal-json": {}}, "", "As it is.", module="canal.py:decode_rows_zip")
FAULT = """
[[fault]]
id = "old"
formats = ["alibaba-canal-json"]
title = "Old rows are NULL | in part"
outcome = "wrong value"
rules = ["old/*"]
causes = ["null: cells before"]
why = "It takes the first."
"""


def failure(rule, cause, **changes):
    return {
        "rule": f"alibaba-canal-json/{rule}",
        "case": f"alibaba-canal-json/1.1.8/{rule}",
        "cases": 3,
        "cause": cause,
        "cause_in_words": "gives NULL",
        "obligation": "MUST",
        "statement": "A rule.",
        "citations": ["Canal, a page, and 1 more [canal#old-changed]"],
        "hint": "",
        "path": "row 0, before.a",
        "expected": "1",
        "actual": "NULL",
        "message": {"key": None, "value": {"text": '{"old":[]}'}},
        **changes,
    }


def judged(tmp_path, *failures, recorded=()):
    outcome = {
        "reader": "reader",
        "release": "1.0",
        "formats": {
            "alibaba-canal-json": {
                "verdict": "does not conform",
                "cases": {"fail": 3, "pass": 4, "unsupported": 9},
                "compared": 5,
                "seconds": 6,
                "failures": list(failures),
                "recorded": {"failures": list(recorded)},
            }
        },
    }
    (tmp_path / "reader.json").write_text(json.dumps(outcome))
    (tmp_path / "reader.toml").write_text(FAULT)
    return board.board(tmp_path, tmp_path, [READER])


@pytest.mark.parametrize(
    ("cause", "actual", "outcome"),
    [
        ("refused: cell bit value plain", "CORRUPT: an error", "refuses"),
        *(("raised: fault truncated", "an exception", "refuses"), ("lost: row DELETE", "no output row", "drops")),
        *(("null: cell int value", "NULL", "wrong value"), ("wrong: cell time value", "CORRUPT", "wrong value")),
        *(("accepted: fault cell-int", "ROW INSERT {a: 1}", "wrong value"), ("accepted: fault empty", "no output row", "drops")),
        ("accepted: fault trailing-brace", "ROW INSERT {a: 1}", "drops"),
        ("accepted: fault second-document", "ROW INSERT {a: 1}", "drops"),
        ("extra: foreign", "1 more, the first: ROW INSERT {a: 1}", "wrong value"),
        *(("extra: kind DDL", "1 more, the first: CORRUPT", "refuses"), (None, "1", "wrong value")),
    ],
)
def test_what_a_user_meets_follows_from_cause_and_answer(tmp_path, cause, actual, outcome):
    [one] = judged(tmp_path, failure("value/bit", cause, actual=actual))
    assert one.failures[0].outcome == outcome
    assert one.counts == {board.Outcome(outcome): 1}
    assert one.cases == 7


def test_a_fault_is_proved_by_its_rules_and_causes(tmp_path):
    shown = failure("old/rows", "null: cells before UPDATE")
    other = failure("old/rows", "refused: cell bit value plain")
    [one] = judged(tmp_path, shown, other)
    assert [found.fault.id if found.fault else None for found in one.failures] == ["old", None]
    [proof] = board.proofs([one], tmp_path)
    assert (proof.fault.id, proof.real, proof.cases) == ("old", None, 3)


def test_a_fault_may_be_known_by_what_the_readers_error_says(tmp_path):
    record = FAULT.replace("old/*", "rows/*").replace(
        'causes = ["null: cells before"]', 'errors = ["NullPointerException: text*"]'
    )
    its, other = (
        failure("rows/readable", "refused: cell bigint value", actual=f"CORRUPT: {error}; and the message")
        for error in ("NullPointerException: text", "DateTimeException: NullPointerException: text")
    )
    judged(tmp_path, its, other)
    (tmp_path / "reader.toml").write_text(record, "utf-8")
    [one] = board.board(tmp_path, tmp_path, [READER])
    assert [found.fault.id if found.fault else None for found in one.failures] == ["old", None]


def test_a_fault_of_another_reader_of_the_record_explains_nothing(tmp_path):
    judged(tmp_path, failure("old/rows", "null: cells before UPDATE"))
    for name, found in (("reader", 1), ("other", 0)):
        (tmp_path / "reader.toml").write_text(f'{FAULT}readers = ["{name}"]\n', "utf-8")
        assert len(board.proofs(board.board(tmp_path, tmp_path, [READER]), tmp_path)) == found


def test_a_recorded_message_confirms_a_fault(tmp_path):
    small = failure("old/rows", "null: cells before UPDATE")
    real = failure("old/rows", "null: cells before DELETE", case="alibaba-canal-json/recorded/x")
    [one] = judged(tmp_path, small, recorded=[real])
    [proof] = board.proofs([one], tmp_path)
    assert proof.real is not None
    assert proof.real.told["case"] == "alibaba-canal-json/recorded/x"
    assert one.real(one.failures[0]) is not None


def test_a_recorded_message_of_another_fault_confirms_nothing(tmp_path):
    record = FAULT.replace('causes = ["null: cells before"]', 'errors = ["old is null*"]').replace("old/*", "rows/*")
    told, other = (failure("rows/readable", "refused: cell time", actual=f"CORRUPT: {why}") for why in ("no time", "old is null"))
    judged(tmp_path, told, recorded=[other])
    (tmp_path / "reader.toml").write_text(record, "utf-8")
    [one] = board.board(tmp_path, tmp_path, [READER])
    assert one.recorded[0].fault is not None
    assert one.real(one.failures[0]) is None
    [same] = judged(tmp_path, told, recorded=[{**told, "case": "alibaba-canal-json/recorded/x"}])
    assert same.real(same.failures[0]) is not None


def test_a_fault_that_no_result_shows_is_told(tmp_path):
    judged(tmp_path, failure("value/bit", "null: cell bit value"))
    assert board.unproved(tmp_path, tmp_path, [READER]) == ["reader: old"]


def test_a_rule_below_must_does_not_count(tmp_path):
    [one] = judged(tmp_path, failure("value/bit", "null: cell bit value", obligation="SHOULD"))
    assert page.cell(one) == "right, but for what is not a MUST"


def test_a_reader_without_failures_is_right(tmp_path):
    [one] = judged(tmp_path)
    assert page.cell(one) == "right"
    assert page.cell(None) == "-"


def test_cells_say_the_worst_first(tmp_path):
    [one] = judged(
        tmp_path, failure("a", "refused: x"), failure("b", "null: y"), failure("c", "lost: z"), failure("d", "null: q")
    )
    assert page.cell(one) == "2 wrong value silently; 1 drops silently; 1 refuses"


@pytest.mark.parametrize(("line", "told"), [('outcome = "bad"', "'bad' is not a valid Outcome"), ("rule = 1", "'rule'")])
def test_a_record_that_does_not_fit_is_told(tmp_path, line, told):
    (tmp_path / "reader.toml").write_text(
        FAULT.replace('outcome = "wrong value"', line if "outcome" in line else f'outcome = "drops"\n{line}')
    )
    with pytest.raises(HarnessError, match=f"reader.toml: old: .*{told}"):
        board.faults("reader", tmp_path)


def test_a_long_message_is_cut_around_the_column_at_fault():
    told = dict.fromkeys(judging._KEPT, "x" * 800) | {"type": "failure", "rule": "r", "column": "c"}
    told["message"] = {"key": None, "value": {"text": '{"c":1,"m":"' + "y" * 900 + '","c":"bad","n":"' + "z" * 900 + '"}'}}
    rule = {"type": "rule", "id": "r", "broken": 1, "compared": 1, "statement": "", "obligation": "MUST", "citations": []}
    [cut] = judging.distilled([rule, told], 1)["failures"]
    assert cut["expected"] == "x" * 700 + "... (800 characters)"
    assert cut["message"]["key"] is None
    start, end = cut["message"]["value"]["text"].split(" ... ")
    assert (start[:8], len(start), len(end)) == ('{"c":1,"', 350, 350 + len("... (1839 characters)"))
    assert 'y","c":"bad","n":"z' in end


def test_the_page_is_a_table_and_bug_reports(tmp_path):
    told = judged(tmp_path, failure("old/rows", "null: cells before UPDATE", actual="<b>|", hint="the other image's value"))
    markdown, html = page.pages(told, tmp_path).values()
    assert "| A reader | 1.0 | 1 wrong value silently |\n" in markdown
    assert "[canal" not in html
    assert "| row 0, before.a | 1 | &lt;b>\\| |" in markdown
    assert "&lt;b&gt;|" in html
    assert "<script" not in html


def test_readers_are_named_once_and_claim_formats_that_are_there():
    names = [reader.name for reader in READERS]
    assert len(set(names)) == len(names)
    for reader in READERS:
        assert set(reader.formats) <= set(FORMATS)
        assert (reader.bundle is None) == bool(reader.module)
        if reader.factory:
            assert (judging.JAVA / f"{reader.factory.partition('$')[0].replace('.', '/')}.java").is_file()
        else:
            file, _, function = reader.module.partition(":")
            assert f"def {function}(" in (judging.ROOT / "spark" / file).read_text("utf-8")
    with pytest.raises(UnknownName, match=r"spark-canal-zap.*spark-canal-zip"):
        named("spark-canal-zap")


def test_each_fault_on_record_is_shown_by_the_results():
    assert board.unproved() == []
    failures = [failure for one in board.board() for failure in (*one.failures, *one.recorded)]
    assert {one.fault.id for one in failures if one.fault and one.outcome != one.fault.outcome} == set()
    assert {one.key for one in failures if one.counts and not one.fault} == set(), "was this failure looked at?"
    assert {path.stem for path in board.FAULTS.glob("*.toml")} <= {reader.record for reader in READERS}


def test_results_are_of_the_readers_releases_and_name_no_machine():
    for path in judging.RESULTS.glob("*.json"):
        outcome = json.loads(path.read_text("utf-8"))
        assert outcome["release"] == named(path.stem).release
        assert "/home/" not in path.read_text("utf-8")


def test_the_pages_are_those_of_the_results():
    for name, text in page.pages().items():
        assert (page.DOCS / name).read_text("utf-8") == text, "run `python -m scoreboard --page-only`"
        places = set(re.findall(r' id="([^"]+)"', text))
        assert set(re.findall(r' href="#([^"]+)"', text)) <= places
