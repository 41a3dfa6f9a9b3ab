"""The differential check: the history, the losses, and that a wrong decoder and a wrong table
show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_lines import performed

from conformance.engines.child import ChildEngine
from conformance.reports import differential_page as report
from conformance.running import differential
from generators.drawing import shared_history as histories
from generators.model import Op, RowChange
from generators.sources import databases
from generators.wire_format import FORMATS, get


@pytest.mark.parametrize("name", FORMATS)
def test_the_history_holds_every_kind_of_change_and_fits_the_source(name: str) -> None:
    fmt = get(name)
    story = histories.history_of(fmt, fmt.profiles[0], 3)
    events = [event for event in story.history.events if isinstance(event, RowChange)]
    assert {event.op for event in events} == {Op.INSERT, Op.UPDATE, Op.DELETE}
    pairs = [(row.before, row.after) for event in events for row in event.rows]
    (key,) = story.table.primary_key
    assert any(b and a and b[key] != a[key] for b, a in pairs)
    assert any(b and b == a for b, a in pairs)
    assert len(story.rows) > 20
    fits = databases.source(fmt.profiles[0].source).fits
    for row in (row for pair in pairs for row in pair if row):
        assert all(fits(column.type, row[column.name]) for column in story.table.columns)


def test_every_format_is_told_the_same_rows() -> None:
    tables = {}
    for name in FORMATS:
        fmt = get(name)
        story = histories.history_of(fmt, fmt.profiles[0], 5)
        tables[name] = (story.rows, {column.name for column in story.table.columns})
    shared = set.intersection(*(columns for _, columns in tables.values()))
    assert len(shared) >= 7
    first, *others = (
        {key: {n: row[n] for n in shared} for key, row in rows.items()}
        for rows, _ in tables.values()
    )
    assert all(other == first for other in others)


def telling() -> Iterator[tuple[str, str]]:
    """Formats and profiles until each source was read, and each loss that some format declares of
    it was had.
    """
    seen: set[tuple[str, str]] = set()
    for name in FORMATS:
        for profile in get(name).profiles:
            facts = {(profile.source, loss.statement) for loss in get(name).losses(profile)} or {
                (profile.source, "")
            }
            if not facts <= seen:
                seen |= facts
                yield name, profile.name


@pytest.mark.parametrize(("name", "profile"), [*telling()])
def test_every_source_and_every_loss_leave_the_sources_table(
    engine: ChildEngine, name: str, profile: str
) -> None:
    """The cells of the others are those of the cases of `run`."""
    fmt = get(name)
    outcome = differential.compare_profile(engine, fmt, fmt.profile(profile), 7)
    assert outcome.differences == 0, outcome.difference_texts
    assert outcome.cells > 400 or any(
        loss.left is None for loss in fmt.losses(fmt.profile(profile))
    )


def test_a_wrong_decoder_is_seen(engine: ChildEngine) -> None:
    fmt = get("alibaba-canal-json")
    outcome = differential.compare_profile(
        engine, fmt, fmt.profile("1.1.7"), 7, f"liar:{fmt.name}/timestamp-as-utc"
    )
    assert outcome.differences > 10
    assert all(", moment:" in what for what in outcome.difference_texts)


def test_a_loss_that_is_not_declared_is_a_difference(engine: ChildEngine) -> None:
    fmt = replace(get("ticdc-canal-json"), losses=lambda _profile: ())
    outcome = differential.compare_profile(engine, fmt, fmt.profile("v5.3.4"), 7)
    assert outcome.differences and all(", raw:" in what for what in outcome.difference_texts)


def test_a_decoder_that_raises_is_a_difference(engine: ChildEngine, tmp_path: Path) -> None:
    fmt, mine = get("alibaba-canal-json"), tmp_path / "mine.py"
    mine.write_text(
        "def decode_rows(records, table):\n    raise RuntimeError('not today')\n", "utf-8"
    )
    outcome = differential.compare_profile(
        engine, fmt, fmt.profile("1.1.8"), 7, f"{mine}:decode_rows"
    )
    assert outcome.differences == 1
    assert "not today" in outcome.difference_texts[0]


def test_the_command_prints_a_line_a_profile(
    engine: ChildEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "conformance.engines.child.ChildEngine",
        lambda **options: made.append(options) or nullcontext(engine),
    )
    arguments = [
        "run",
        "alibaba-canal-json",
        "--writer-profile",
        "1.1.8+[nm][oy]*",
        "--differential",
        "--format",
        "json",
    ]
    result = performed(*arguments)
    assert result.exit_code == 0, result.output
    (options,) = made
    assert (options["packages"], options["timeout_s"]) == ((), 120)
    outcomes = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    assert [outcome["profile"] for outcome in outcomes] == ["1.1.8+noblob", "1.1.8+mysql8"]
    assert outcomes[1]["differences"] == 0 and not outcomes[1]["lost"]
    assert outcomes[0]["lost"] == {
        "binlog_row_image NOBLOB logs parts of rows": outcomes[0]["rows"]
    }


def test_differences_are_shown() -> None:
    outcome = differential.Comparison("f", "p", 3, 2, 28)
    outcome.differ("row 1, name: 'a|b' became 'c'")
    text = report.markdown([outcome])
    assert text.splitlines()[2] == "| f | p | 2 | 28 | 1 |  |"
    assert json.loads(report.lines([outcome]))["shown"] == ["row 1, name: 'a|b' became 'c'"]
