"""A folder of reports knows its runs, and the page shows how many rules each kept."""

import json
from dataclasses import replace

import pytest

from conformance.reports import history, write_all
from conformance.reports.history import PastRun, read_history


def test_each_report_adds_its_run_and_the_page_shows_the_trend(full, good, tmp_path):
    write_all(full, tmp_path)
    assert "Kept rules, run by run" not in (tmp_path / "report.html").read_text("utf-8")
    kept = replace(good, header=full.header)
    write_all(kept, tmp_path)
    runs = read_history(tmp_path)
    assert [(run.format, run.kept, run.reached, run.exit_code) for run in runs] == [
        ("x-json", 1, 4, full.exit_code),
        ("x-json", 1, 1, 0),
    ]
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<polyline points="0.0,29.0 200.0,2.0"/>' in page
    assert ">1/4</span> · <span" in page and ">1/1</span>" in page


def test_a_run_of_another_decoder_is_no_part_of_the_trend(full, tmp_path):
    write_all(full, tmp_path)
    other = replace(full, header=replace(full.header, decoder="other.py:decode"))
    write_all(other, tmp_path)
    assert "Kept rules, run by run" not in (tmp_path / "report.html").read_text("utf-8")
    assert len(read_history(tmp_path)) == 2


RUN = PastRun("2026-01-01", "mine.py:decode", "x-json", "ci", 3, 4, 9, 1)


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"date": "x"}',
        json.dumps({**RUN.__class__.__annotations__, "date": 1}, default=str),
        json.dumps({"date": "<script>", "decoder": "d", "format": "f", "budget": "b"}),
    ],
)
def test_a_line_that_is_no_run_is_left_out(tmp_path, line):
    (tmp_path / history.NAME).write_bytes(
        b"".join([line.encode(), b"\n", *history.history_lines([RUN])])
    )
    assert read_history(tmp_path) == [RUN]


@pytest.mark.parametrize(
    "change", [{"kept": 5}, {"kept": -1}, {"kept": True}, {"exit_code": "1"}, {"decoder": None}]
)
def test_a_run_that_cannot_be_is_left_out(tmp_path, change):
    lines = history.history_lines([replace(RUN, **change), RUN])
    (tmp_path / history.NAME).write_bytes(b"".join(lines))
    assert read_history(tmp_path) == [RUN]


def test_the_file_keeps_the_newest_runs(full, tmp_path):
    lines = history.history_lines([RUN] * (history.LONGEST + 5))
    (tmp_path / history.NAME).write_bytes(b"".join(lines))
    runs = history.add_run(tmp_path, full)
    assert (len(runs), runs[-1].decoder) == (history.LONGEST, full.header.decoder)
