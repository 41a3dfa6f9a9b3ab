"""A run's matrix as a picture: `python -m conformance.reports.picture report.jsonl matrix.svg
[PAGE.md]`.

A row for each format, a square for each profile. It has its own background, to be legible on light
and dark pages; the signs are shapes, not letters, and nothing is fetched. With a page, the table
that `run` printed stands in it too, between its two marks; the project's own are renewed with
`docs/matrix.svg README.md`.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import orjson
from rich.console import Console

from conformance.judging.findings import BAD, Verdict
from conformance.reports.console import table
from conformance.reports.facts import WORDS, Row
from conformance.text import printable
from generators.errors import HarnessError, UsageError

WIDTH: Final = 900
"""The width of the picture, in pixels."""
SIDE: Final = 16
"""The side of a square."""
STEP: Final = 20
"""The distance from one square to the next."""
ROW: Final = 28
TOP: Final = 92
"""The height of the head above the first format."""
NAMES, SQUARES, RULES, CASES = 20, 214, 790, WIDTH - 20
A_ROW: Final = 24
"""How many squares stand in a line; a format with more profiles takes several lines."""
_SHAPES: Final = {
    "good": "M4 8.5 7 11.5 12.5 5",
    "bad": "M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5",
    "warn": "M8 3.5V9M8 11.5V12.5",
    "none": "M4.5 8H11.5",
}
"""The path of the shape in a square for each state of a profile."""
_LEGEND: Final = (
    ("good", "conforms"),
    ("bad", "fails"),
    ("warn", "fails as recorded"),
    ("none", "not judged"),
)
"""The states of a profile and their meaning, for the line below the table."""
_STYLE: Final = """
.ground { fill: #fff; stroke: #d5dae0; } text { fill: #1b1f24; font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; }
.name { font: 13px ui-monospace, Menlo, Consolas, monospace; } .soft { fill: #59636e; }
.head { font-size: 20px; font-weight: 600; } .line { stroke: #d5dae0; }
.shape { fill: none; stroke: #fff; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.good { fill: #1a7f43; } .bad { fill: #b3261e; } .warn { fill: #9a6700; } .none { fill: #6e7781; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #0e1217; stroke: #2d353f; } text { fill: #e6eaf0; } .soft { fill: #9aa5b1; } .line { stroke: #2d353f; }
  text.good { fill: #4cc38a; } text.bad { fill: #ff8a80; } text.warn { fill: #f0b54a; }
}
"""
"""The style sheet of the picture, for light and dark screens."""


_MARKS: Final = (
    "<!-- Of a report, by `python -m conformance.reports.picture`: -->\n",
    "<!-- to here -->\n",
)
"""The lines of a page between which the report's table stands."""


@dataclass(slots=True)
class Drawn:
    """What the picture shows of a format: `profiles` has the cases by verdict; `wrong` has for each
    failed case of a profile its broken rules, and those that are on record as known; `binding` are
    the rules with the obligation MUST.
    """

    name: str
    profiles: dict[str, Counter[str]] = field(default_factory=dict)
    wrong: dict[str, list[tuple[set[str], set[str]]]] = field(default_factory=dict)
    binding: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    rules: int = 0
    reachable: int = 0
    messages: int = 0
    levels: Counter[int] = field(default_factory=Counter)
    compared: set[str] = field(default_factory=set)

    @property
    def kept_rules(self) -> int:
        """The number of compared rules that no case breaks."""
        return len(self.compared - self.broken)

    @property
    def table_row(self) -> tuple[Row, str, tuple[()]]:
        """The format's line for the console's table of results: its counts, `compared/reachable`
        rules as a text, and no profiles.
        """
        total: Counter[str] = sum(self.profiles.values(), Counter())
        verdicts = {Verdict(name): count for name, count in total.items()}
        return (
            Row(self.name, total.total(), self.messages, verdicts, 0, 0),
            f"{len(self.compared)}/{self.reachable}",
            (),
        )

    def state(self, profile: str) -> str:
        """How the picture shows a profile: `none` (nothing was judged), `good`, `warn` (the record
        of known failures covers every failure) or `bad`. Of a case that breaks MUST rules, only
        these must be on record; of another, all that it breaks. A failed case that breaks no rule
        is bad: no record can cover it.
        """
        if set(self.profiles[profile]) <= {Verdict.UNSUPPORTED.value}:
            return "none"
        cases = self.wrong.get(profile, [])
        if any(
            (broken & self.binding or broken) - on_record or not broken
            for broken, on_record in cases
        ):
            return "bad"
        return "warn" if cases else "good"


@dataclass(frozen=True, slots=True)
class Report:
    """What the picture shows of a report.jsonl: its formats, and the records of its first and last
    line.
    """

    header: Mapping[str, Any]
    footer: Mapping[str, Any]
    formats: tuple[Drawn, ...]

    @property
    def cases(self) -> int:
        """The number of all cases in the report."""
        number = 0
        for fmt in self.formats:
            number += sum(count.total() for count in fmt.profiles.values())
        return number

    @property
    def verdict_words(self) -> str:
        """The verdict of the report in words: which decoder, and whether it conforms."""
        decoder = self.header["decoder"]
        subject = (
            "reference decoders" if decoder == "reference" else f"decoder {printable(decoder)}"
        )
        return f"{subject}: {WORDS.get(self.footer['exit_code'], 'failed')}"


def read(lines: Iterable[bytes]) -> Report:
    """Reads the counts of a run back from the lines of its report.jsonl. Raises UsageError if the
    report is incomplete.
    """
    formats: dict[str, Drawn] = {}
    header: Mapping[str, Any] = {}
    footer: Mapping[str, Any] = {}
    for number, line in enumerate(lines, 1):
        try:
            record: Mapping[str, Any] = orjson.loads(line)
            kind = record["type"]
            if kind == "header":
                header = record
            elif kind == "footer":
                footer = record
            elif kind in ("case", "rule"):
                _count_record(formats.setdefault(record["format"], Drawn(record["format"])), record)
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"line {number} is no line of report.jsonl: {error}") from None
    if not (header and footer):
        raise UsageError("the report has no footer: it is empty or truncated")
    return Report(header, footer, tuple(formats.values()))


def _count_record(fmt: Drawn, record: Mapping[str, Any]) -> None:
    """Adds a line of report.jsonl, a rule or a case, to its format's counts. A rule is `compared`
    if a case applied it, `reachable` unless selection, level or capability kept it out. A case's
    `rules_known` are the rules that it breaks and that the record of known failures covers.
    """
    if record["type"] == "rule":
        fmt.rules += 1
        if record["obligation"] == "MUST":
            fmt.binding.add(record["id"])
        fmt.reachable += bool(record["compared"] or record["reachable"])
        if record["compared"]:
            fmt.compared.add(record["id"])
        if record["broken"]:
            fmt.broken.add(record["id"])
        return
    fmt.profiles.setdefault(record["profile"], Counter())[record["verdict"]] += 1
    fmt.messages += len(record["messages"])
    fmt.levels[record["level"]] += 1
    if record["verdict"] in BAD:
        fmt.wrong.setdefault(record["profile"], []).append(
            (set(record["rules_broken"]), set(record["rules_known"]))
        )


def screen(report: Report) -> str:
    """The last lines that `run` printed on the terminal, made again from its report: the table of
    formats, the sums, the verdict.
    """
    printed_table = io.StringIO()
    Console(file=printed_table, width=150).print(table(fmt.table_row for fmt in report.formats))
    at = sum((fmt.levels for fmt in report.formats), Counter[int]())
    drawn = sum(fmt["drawn"] for fmt in report.footer["formats"].values())
    messages, seconds = sum(fmt.messages for fmt in report.formats), report.footer["seconds"]
    cases = (
        f"{report.cases:,} cases ({drawn:,} drawn; {at[1]:,} judged at level one, {at[2]:,} at"
        " level two)"
    )
    run_settings = (
        f"seed {report.header['seed']}, budget {report.header['budget']}, {seconds:.0f} s"
    )
    sums = f"{cases}, {messages:,} messages; {run_settings}"
    return f"{printed_table.getvalue()}{sums}\n{report.verdict_words}\n"


def renewed(page: str, report: Report) -> str:
    """The page's text with the report's table in place of what stands between the two marks. Raises
    UsageError if the page has no marks.
    """
    before, begin, marked_part = page.partition(_MARKS[0])
    _, end, after = marked_part.partition(_MARKS[1])
    if not end:
        raise UsageError(
            f"the page has no marks for a report: {' ... '.join(mark.strip() for mark in _MARKS)}"
        )
    return f"{before}{begin}```text\n{screen(report)}```\n{end}{after}"


def svg(report: Report) -> str:
    """The run's results as an SVG picture: a line for each format, a square for each profile."""
    formats = report.formats
    code = report.footer["exit_code"]
    verdict_words = report.verdict_words
    cases = report.cases
    lines_of_formats = [max(1, -(-len(fmt.profiles) // A_ROW)) for fmt in formats]
    height = TOP + sum(8 + STEP * lines for lines in lines_of_formats) + 44
    kept_rules, rules = sum(fmt.kept_rules for fmt in formats), sum(fmt.rules for fmt in formats)
    profiles = sum(len(fmt.profiles) for fmt in formats)
    counted_formats = (
        f"{len(formats)} format{'s' if len(formats) != 1 else ''}, {profiles}"
        f" profile{'s' if profiles != 1 else ''}"
    )
    about = f"{counted_formats}, {cases:,} cases, {kept_rules} of {rules} rules kept"
    tone = "good" if code == 0 else "bad" if code == 1 else "warn"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title about">',
        f'<title id="title">{escape(verdict_words)}</title>',
        f'<desc id="about">{escape(about)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
        f'<text class="head {tone}" x="{NAMES}" y="36">{escape(verdict_words[:70])}</text>',
        f'<text class="soft" x="{NAMES}" y="58">{escape(about)}</text>',
        f'<text class="soft" x="{SQUARES}" y="{TOP - 10}">profiles</text>',
        f'<text class="soft" x="{RULES}" y="{TOP - 10}" text-anchor="end">rules kept</text>',
        f'<text class="soft" x="{CASES}" y="{TOP - 10}" text-anchor="end">cases</text>',
    ]
    y = TOP
    for fmt, lines in zip(formats, lines_of_formats, strict=True):
        out += _draw_format(fmt, y)
        y += 8 + STEP * lines
    out.append(f'<line class="line" x1="{NAMES}" x2="{CASES}" y1="{y}" y2="{y}"/>')
    x = NAMES
    for state, word in _LEGEND:
        out += [
            _square(state, x, y + 14),
            f'<text class="soft" x="{x + SIDE + 6}" y="{y + 27}">{word}</text>',
        ]
        x += SIDE + 6 + 7 * len(word) + 16
    return "\n".join([*out, "</svg>", ""])


def _draw_format(fmt: Drawn, y: int) -> Iterator[str]:
    """The SVG elements of one format from the height `y` on: its name, a square for each profile,
    and its counts.
    """
    total = sum(count.total() for count in fmt.profiles.values())
    yield f'<line class="line" x1="{NAMES}" x2="{CASES}" y1="{y}" y2="{y}"/>'
    yield f'<text class="name" x="{NAMES}" y="{y + 18}">{escape(printable(fmt.name))}</text>'
    for number, (profile, counts) in enumerate(fmt.profiles.items()):
        words = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items()))
        x, down = SQUARES + STEP * (number % A_ROW), y + 6 + STEP * (number // A_ROW)
        yield _square(fmt.state(profile), x, down, f"{profile}: {words}")
    yield f'<text x="{RULES}" y="{y + 18}" text-anchor="end">{fmt.kept_rules}/{fmt.rules}</text>'
    yield f'<text x="{CASES}" y="{y + 18}" text-anchor="end">{total:,}</text>'


def _square(state: str, x: int, y: int, title: str = "") -> str:
    """One square of the picture of results as SVG, at (x, y): its colour and shape say the state of
    a profile (a key of _SHAPES); `title` is shown on hovering.
    """
    label = f"<title>{escape(printable(title))}</title>" if title else ""
    box = f'<rect class="{state}" width="{SIDE}" height="{SIDE}" rx="3"/>'
    return (
        f'<g transform="translate({x} {y})">{label}{box}<path class="shape"'
        f' d="{_SHAPES[state]}"/></g>'
    )


def main(report: str, target: str, page: str = "") -> None:
    """Draws a report.jsonl as an SVG file, `target`, and, if `page` is not "", renews the table in
    that Markdown page. Raises UsageError, HarnessError.
    """
    try:
        with Path(report).open("rb") as file:
            content = read(file)
        if page:
            Path(page).write_text(renewed(Path(page).read_text("utf-8"), content), "utf-8")
        Path(target).write_text(svg(content), "utf-8", "backslashreplace")
    except OSError as error:
        raise HarnessError(
            f"cannot draw {report} to {target}: {error.strerror or error}"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{page} is no text in UTF-8: {error}") from error


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: python -m conformance.reports.picture report.jsonl matrix.svg [PAGE.md]")
    try:
        main(*sys.argv[1:])
    except HarnessError as error:
        sys.exit(f"picture: {error}")
