"""The tables of wrong pipelines in the documents are what the folds give."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pipelines.running import SMOKE
from conformance.selftest.convicted import (
    PAGE,
    RIGHT,
    SUMMARY,
    WRITERS,
    Writer,
    habit_verdicts,
    history_verdicts,
    read_page,
    with_summary,
)
from conformance.selftest.folds import COMMONEST
from conformance.selftest.histories import HISTORY_HABITS

DOCS = Path(__file__).parents[3] / "docs"
WRITTEN = (DOCS / PAGE).read_text("utf-8")


def test_the_page_has_ten_tables_of_every_format_that_has_an_order() -> None:
    convictions = read_page(WRITTEN)
    assert [habit.rank for habit in COMMONEST] == list(range(1, 11))
    labels = [writer.label for writer in WRITERS]
    assert {name: list(rows) for name, rows in convictions.rows.items()} == {
        habit.name: labels for habit in COMMONEST
    }
    assert convictions.page() == WRITTEN


def test_the_summary_is_of_the_tables_and_the_screen_of_the_command() -> None:
    page = (DOCS / SUMMARY).read_text("utf-8")
    assert with_summary(page, read_page(WRITTEN)) == page


@pytest.mark.parametrize("writer", WRITERS, ids=[writer.label for writer in WRITERS])
def test_the_rows_of_a_format_are_what_its_folds_give(writer: Writer) -> None:
    rows = read_page(WRITTEN).rows
    assert habit_verdicts(writer) == {
        habit.name: rows[habit.name][writer.label] for habit in COMMONEST
    }


def test_the_table_of_histories_is_what_their_folds_give() -> None:
    histories = read_page(WRITTEN).histories
    assert history_verdicts() == histories
    assert set(histories[RIGHT]) == {"converged", ""}
    wrong = {name: row for name, row in histories.items() if name != RIGHT}
    assert wrong.keys() == HISTORY_HABITS.keys()
    for name, row in wrong.items():
        assert HISTORY_HABITS[name].convicts in ", ".join(row)


def test_each_habit_is_told_by_its_own_rule_first_somewhere() -> None:
    rows = read_page(WRITTEN).rows
    told = {
        habit.name: {
            cell
            for row in rows[habit.name].values()
            for nemesis, cell in zip(SMOKE, row, strict=True)
            if nemesis == habit.nemesis or habit.nemesis == "*"
        }
        for habit in COMMONEST
    }
    assert [habit.name for habit in COMMONEST if habit.convicts not in told[habit.name]] == []
