"""Finds which rules convict the commonest wrong pipelines, for every format and nemesis;
without Spark.

`python -m conformance.selftest.convicted docs` writes the tables into the documents.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from conformance.pipelines.reach import OF_HISTORIES
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.running import SMOKE, PipelineSettings, streams_of
from conformance.pipelines.showing import render
from conformance.rules.order import order_of
from conformance.selftest.folds import COMMONEST, FOLDS, Fold, fold
from conformance.selftest.histories import HISTORIES, HISTORY_HABITS, HistoryFold
from conformance.sheets import markdown_table
from conformance.streams.recipes import ReadStream
from generators.wire_format import FORMATS

PAGE: Final = "wrong-pipelines.md"
"""The page of the documentation with a table for each habit."""
SUMMARY: Final = "from-rows-to-a-table.md"
"""The page of the documentation with the summary."""
NOT_SEEN: Final = "converged"
"""A cell: the nemesis does not show the habit."""
NO_STREAM: Final = ""
"""A cell: the format has no such stream."""
_BEGIN: Final = "<!-- Of the folds, by `python -m conformance.selftest.convicted docs`: -->"
"""The line of SUMMARY behind which a generated part begins."""
_END: Final = "<!-- to here -->"
"""The line of SUMMARY before which a generated part ends."""


class Writer(NamedTuple):
    """A format, and a glob for its profile. "" is the profile whose messages tell the order of
    changes.
    """

    fmt: str
    profile: str

    @property
    def label(self) -> str:
        """The writer's name in tables."""
        return f"{self.fmt} {self.profile}".strip()


POSTGRESQL: Final = "3.5.0.Final+postgresql"
"""The profile of Debezium whose UPDATEs leave long values out."""
ORDERED: Final = tuple(name for name in FORMATS if not order_of(name).arrival)
"""The formats whose messages tell an order."""
WRITERS: Final = (
    *(Writer(name, "") for name in ORDERED),
    Writer("debezium-json", POSTGRESQL),
    Writer("debezium-avro", POSTGRESQL),
)
"""The writers (a format and a profile) for which the habits are tried."""

KEPT_HISTORY: Final = "ticdc-canal-json"
"""The format of the table of histories."""
RIGHT: Final = "right"
"""The name of the right history in the table of histories."""
HISTORY_TITLE: Final = "Histories (SCD type 2)"
"""The heading of the table of histories."""

TableRow = tuple[str, ...]
"""For each nemesis of SMOKE, the disturbances of a stream, the rule that a wrong pipeline breaks
first, `NOT_SEEN` or `NO_STREAM`.
"""


_NO_FILE: Final = "mine.py"
"""The pipeline's file in settings from which only the streams are taken: no pipeline is run."""


def habit_verdicts(writer: Writer) -> dict[str, TableRow]:
    """For each of the commonest habits (mistakes of pipelines), by its name, a table row: the rule
    that convicts it first under each nemesis (what a stream does to its messages). A habit is tried
    by its fold, a simulated pipeline that has it, on the streams of this writer.
    """
    streams, _ = streams_of(PipelineSettings(writer.fmt, _NO_FILE, writer.profile))
    by_nemesis = {stream.nemesis.name: stream for stream in streams}
    return {
        habit.name: _try_fold(by_nemesis, FOLDS[habit.name], _first_rule) for habit in COMMONEST
    }


def _try_fold(
    by_nemesis: Mapping[str, ReadStream],
    fold_class: type[Fold],
    describe: Callable[[PipelineResult], str],
) -> TableRow:
    """Runs the pipeline that `fold_class` simulates on the format's stream of each nemesis of
    SMOKE: a row of what `describe` says of each result; NO_STREAM where the format has no such
    stream.
    """
    cells: list[str] = []
    for nemesis in SMOKE:
        stream = by_nemesis.get(nemesis)
        cells.append(NO_STREAM if stream is None else describe(fold(stream, fold_class)))
    return tuple(cells)


def _first_rule(result: PipelineResult) -> str:
    """The name of the rule that a pipeline's result breaks first, for a table's cell; NOT_SEEN if
    it breaks none.
    """
    return result.wrong[0].rule.rpartition("/")[2] if result.wrong else NOT_SEEN


def _rules_of_histories(result: PipelineResult) -> str:
    """The names of the rules of history tables (SCD type 2) that a pipeline's result breaks, joined
    by commas for a table's cell; NOT_SEEN if it breaks none.
    """
    broken = [rule.rpartition("/")[2] for rule in result.broken]
    return ", ".join(rule for rule in OF_HISTORIES if rule in broken) or NOT_SEEN


def history_verdicts() -> dict[str, TableRow]:
    """For the right keeper of a history table (SCD type 2) and for each wrong one: the rules of
    history tables that it breaks, in one cell for each nemesis of the stream, a row of a
    Markdown table.
    """
    streams, _ = streams_of(PipelineSettings(KEPT_HISTORY, _NO_FILE))
    by_nemesis = {stream.nemesis.name: stream for stream in streams}
    fold_classes: dict[str, type[Fold]] = {RIGHT: HistoryFold, **HISTORIES}
    return {
        name: _try_fold(by_nemesis, fold_class, _rules_of_histories)
        for name, fold_class in fold_classes.items()
    }


@dataclass(frozen=True, slots=True)
class Convictions:
    """The rules that convict wrong pipelines: `rows` has the table rows of each habit (a mistake of
    pipelines) by the label of the writer, `histories` those of histories by name.
    """

    rows: Mapping[str, Mapping[str, TableRow]]
    histories: Mapping[str, TableRow]

    def page(self) -> str:
        """The page with a table for each habit."""
        return "\n".join(self._page())

    def _page(self) -> Iterator[str]:
        """The lines of the page docs/wrong-pipelines.md: for each of the commonest habits a table
        of the rules that convict it, then the table of the wrong histories.
        """
        yield "# Wrong pipelines"
        yield ""
        yield "<!-- Written by `python -m conformance.selftest.convicted docs`; a test compares. -->"
        yield ""
        yield (
            "The ten habits that public recipes for MERGE have most often, each over the"
            f" {len(ORDERED)} formats whose messages tell an order"
        )
        yield "(Debezium's also in its profile of PostgreSQL), under every [nemesis](load-and-streams.md#streams) of a run of `pipeline`. A cell has"
        yield f"the rule that is told first; *{NOT_SEEN}*: this nemesis does not show the habit; empty: the format has no such stream. No Spark"
        yield "runs: a habit is a fold over the changes that the messages owe. A right fold converges everywhere."
        for habit in COMMONEST:
            yield ""
            yield f"## {habit.rank}. {habit.title}"
            yield ""
            yield f"{' '.join(habit.why.split())} Convicted by `{habit.convicts}`, as `{habit.name}`."
            if habit.recipe:
                yield f"[A recipe that has it]({habit.recipe})."
            yield ""
            lines = [
                (label, *cells_of_writer)
                for label, cells_of_writer in self.rows[habit.name].items()
            ]
            yield from markdown_table(("", *SMOKE), lines)
        yield ""
        yield f"## {HISTORY_TITLE}"
        yield ""
        yield (
            f"A right history and {len(HISTORY_HABITS)} wrong ones, kept of {KEPT_HISTORY}:"
            " a cell has the rules of histories that are broken"
        )
        yield (
            "(*one-open*: one version of a row that is there is open; *no-overlap*, *no-gap*: of a"
            " row's intervals; *versions*: they are the source's,"
        )
        yield "in its order)."
        yield ""
        for habit in HISTORY_HABITS.values():
            yield f"- *{habit.name}*: {' '.join(habit.why.split())}"
        yield ""
        yield from markdown_table(
            ("", *SMOKE), [(name, *cells) for name, cells in self.histories.items()]
        )
        yield ""

    def summary(self) -> str:
        """The table of the documentation that says for each habit (a mistake of pipelines) in how
        many formats it is convicted, by which rules (those that convict most often come first), and
        under which nemeses (ways to disturb a stream). In `rows` each writer has a cell for each
        nemesis of SMOKE, in this order: the rule that convicts the habit, or why there is none.
        """
        lines = []
        for habit in COMMONEST:
            cells_by_writer = self.rows[habit.name]
            convicting_writers = {
                label: cells
                for label, cells in cells_by_writer.items()
                if any(map(_is_rule, cells))
            }
            all_cells = chain.from_iterable(convicting_writers.values())
            first = list(filter(_is_rule, all_cells))
            rules = sorted(set(first), key=lambda rule: (-first.count(rule), rule))
            nemeses: list[str] = []
            for number, nemesis in enumerate(SMOKE):
                if any(_is_rule(cells[number]) for cells in cells_by_writer.values()):
                    nemeses.append(nemesis)
            lines.append(
                (
                    f"[{habit.rank}. {habit.title}]({PAGE}#{_anchor(habit.rank, habit.title)})",
                    f"{len(convicting_writers)} of {len(cells_by_writer)}",
                    ", ".join(rules),
                    ", ".join(nemeses),
                )
            )
        return "\n".join(
            markdown_table(("habit", "formats", "rules that are told first", "seen under"), lines)
        )


def _is_rule(cell: str) -> bool:
    """Whether a table's cell has the name of a rule."""
    return cell not in (NOT_SEEN, NO_STREAM)


def _anchor(rank: int, title: str) -> str:
    """The anchor, for a link, of the heading of a habit on the page of wrong pipelines."""
    heading = f"{rank}. {title}".lower()
    return re.sub(r"[^\w -]", "", heading).replace(" ", "-")


def read_page(page_text: str) -> Convictions:
    """Parses PAGE back into the Convictions whose `page()` it is, for the tests that compare them.
    Raises ValueError if the page has other tables.

    Each section, of a wrong pipeline's habit or of histories, has one table: a row for each
    writer (or history), and a column for each nemesis of SMOKE.
    """
    names = {f"## {habit.rank}. {habit.title}": habit.name for habit in COMMONEST}
    names[f"## {HISTORY_TITLE}"] = HISTORY_TITLE
    cells_by_habit: dict[str, dict[str, TableRow]] = {name: {} for name in names.values()}
    current = ""
    for line in page_text.splitlines():
        current = names.get(line, current)
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == len(SMOKE) + 1 and cells[0] and "--" not in line:
            cells_by_habit[current][cells[0]] = tuple(cells[1:])
    histories = cells_by_habit.pop(HISTORY_TITLE)
    return Convictions(cells_by_habit, histories)


def pipeline_screen() -> str:
    """What the command `pipeline` prints for a pipeline with a common mistake, as an example for
    the documentation.
    """
    from rich.console import Console

    settings = PipelineSettings("ticdc-canal-json", _NO_FILE, nemesis="stale")
    (stream,), _ = streams_of(settings)
    console = Console(width=130, color_system=None)
    with console.capture() as captured:
        console.print(render([fold(stream, FOLDS["no-guard"])], settings.format))
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def with_summary(page: str, convictions: Convictions) -> str:
    """The page SUMMARY with its two generated parts replaced: the table of habits, and what the
    command `pipeline` prints.
    """
    parts = (convictions.summary(), f"```text\n{pipeline_screen()}\n```")
    for part in parts:
        # The first place that has not been written yet.
        begin = page.index(_BEGIN) + len(_BEGIN)
        end = page.index(_END, begin)
        page = f"{page[:begin].replace(_BEGIN, _MARK)}\n{part}\n{page[end:]}"
    return page.replace(_MARK, _BEGIN)


_MARK: Final = "\0"
"""Stands for _BEGIN where a part has been written already."""


def write_pages(folder: Path, writers: Iterable[Writer] = WRITERS) -> None:
    """Writes the page of wrong pipelines and the summary in the other page, with the figures of all
    writers.
    """
    cells_by_habit: dict[str, dict[str, TableRow]] = {habit.name: {} for habit in COMMONEST}
    for writer in writers:
        for name, cells in habit_verdicts(writer).items():
            cells_by_habit[name][writer.label] = cells
    convictions = Convictions(cells_by_habit, history_verdicts())
    (folder / PAGE).write_text(convictions.page(), "utf-8")
    summary = folder / SUMMARY
    summary.write_text(with_summary(summary.read_text("utf-8"), convictions), "utf-8")


def main(arguments: Sequence[str]) -> None:
    """The command line; its argument is the folder of the documents."""
    write_pages(Path(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
