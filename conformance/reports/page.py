"""The run as one self-contained HTML page: no scripts, nothing fetched, all texts of decoders and messages escaped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from conformance.judging.judge import BAD, Finding, Verdict
from conformance.judging.known import EntryResult
from conformance.judging.results import CallResult, Failure, FormatResult, RunResult
from conformance.reports import facts
from conformance.reports.console import HEADS, readable, wire_of
from conformance.reports.facts import SIGNS, Row, RuleStanding, Standing
from conformance.reports.wire import WireText
from conformance.rules.base import Rule
from conformance.text import printable
from generators.model import State

if TYPE_CHECKING:
    import jinja2

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a page may load: its own style, and nothing else."""
SHOWN: Final = 250
"""Broken rules shown with their message; each other takes a line."""
LETTERS: Final = 450_000
"""Characters of messages on a page, shared by the failures; each has at least 600 and at most 4,000."""
NOTE: Final = 4_000
"""Characters of a decoder's exception."""
TONES: Final = {
    Standing.KEPT: "good",
    Standing.BROKEN: "bad",
    Standing.LAX: "warn",
    Standing.KNOWN: "warn",
    Standing.IDLE: "bad",
    Standing.OUT: "soft",
    Standing.REFUSED: "warn",
}
SIGN_TONES: Final = {"✓": "good", "✗": "bad", "!": "warn", "-": "soft"}
_WORDS: Final = {"✓": "conforms", "✗": "fails", "!": "known failures", "-": "not judged"}


@dataclass(frozen=True, slots=True)
class FailureView:
    """A broken rule as the page shows it; `expected` and `actual` are split into equal start, difference, equal end."""

    rule: Rule
    finding: Finding
    cases: int
    counts: bool
    also: str
    place: str
    expected: tuple[str, str, str]
    actual: tuple[str, str, str]
    wire: WireText
    key: str
    deployment: str
    reduced: str
    note: str
    replay: str


@dataclass(frozen=True, slots=True)
class FormatView:
    """A format as the page shows it."""

    row: Row
    rows: list[Row]
    standings: list[RuleStanding]
    decoder: str
    levels: tuple[int, ...]
    calls: tuple[CallResult, ...]
    notes: tuple[str, ...]
    idle: tuple[str, ...]
    cells: str

    @property
    def kept(self) -> int:
        """Rules that are kept."""
        return facts.counts(self.standings)[Standing.KEPT]

    @property
    def sign(self) -> str:
        """The row's sign; ✗ if a rule was not exercised."""
        return "✗" if self.idle else self.row.sign

    @property
    def tone(self) -> str:
        """The sign's colour."""
        return SIGN_TONES[self.sign]

    @property
    def word(self) -> str:
        """The sign in words."""
        return _WORDS[self.sign]

    @property
    def summary(self) -> str:
        """The summary of the folded part."""
        counts = facts.counts(self.standings)
        standings = ", ".join(f"{counts[standing]:,} {standing}" for standing in Standing if counts[standing])
        return f"{len(self.rows)} profile{'s' if len(self.rows) != 1 else ''}; rules: {standings}"


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that the template shows."""

    headline: str
    tone: str
    sums: list[str]
    counts: list[tuple[Standing, int]]
    verdicts: list[Verdict]
    formats: list[FormatView]
    failures: list[Failure]
    shown: list[FailureView]
    rest: list[Failure]
    known: list[Failure]
    wrong: list[EntryResult]
    anchors: frozenset[str]
    again: str


def colour(verdict: Verdict) -> str:
    """The colour of a count of cases with this verdict."""
    if verdict in BAD:
        return "bad"
    return "good" if verdict in (Verdict.PASS, Verdict.REJECTED) else "warn" if verdict is Verdict.NON_STRICT else "soft"


def differing(one: str, other: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Both texts split into common start, difference, common end. Texts with little in common differ as a whole."""
    least = min(len(one), len(other))
    head = next((i for i in range(least) if one[i] != other[i]), least)
    tail = next((i for i in range(least - head) if one[-1 - i] != other[-1 - i]), least - head)
    if 3 * (head + tail) < max(len(one), len(other)):
        head = tail = 0
    return (one[:head], one[head : len(one) - tail], one[len(one) - tail :]), (
        other[:head],
        other[head : len(other) - tail],
        other[len(other) - tail :],
    )


def kept(text: str) -> str:
    """The text with unprintable characters escaped, except line ends."""
    return "\n".join(printable(line) for line in text.split("\n"))


def is_web(link: str) -> bool:
    """Whether a page may link to the address."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc) and link.isprintable() and " " not in link


def _key(key: bytes | None) -> str:
    """A message's key in a line; "" if it is NULL or empty."""
    if not key:
        return ""
    return readable(key, 300)


def _failure(failure: Failure, result: RunResult, limit: int) -> FailureView:
    finding, case = failure.finding, failure.result.case
    expected, actual = differing(finding.expected, finding.actual)
    also = f"and {failure.cases - 1:,} more" if failure.cases > 1 else ""
    if 0 < failure.new < failure.cases:
        also += f", {failure.cases - failure.new:,} of them known"
    place = f"message {finding.message + 1} of {len(case.written)}" if len(case.written) > 1 else ""
    key = case.written[finding.message].message.key
    note = failure.result.note
    return FailureView(
        failure.rule,
        finding,
        failure.cases,
        facts.binding(failure, result.strict),
        also,
        place,
        expected,
        actual,
        wire_of(failure, limit),
        _key(key),
        facts.unusual(case.deployment),
        failure.reduced,
        note if len(note) <= NOTE else f"{note[:NOTE]} ... ({len(note):,} characters)",
        facts.replay(failure),
    )


def _format(fmt: FormatResult, strict: bool) -> FormatView:
    row, rows = facts.matrix(fmt, strict)
    total = sum(fmt.cells.values())
    cells = f"{fmt.certain:.1%} of {total:,} cells certain" if total else "no cells compared"
    if any_ := fmt.cells.get(State.ANY, 0):
        cells += f", {any_:,} of which nothing can be told"
    return FormatView(
        row, rows, facts.standings(fmt, strict), fmt.decoder, fmt.levels, fmt.calls, fmt.notes, fmt.unexercised, cells
    )


def view(result: RunResult) -> Page:
    """The content of a run's page."""
    formats = [_format(fmt, result.strict) for fmt in result.formats]
    total: Counter[Standing] = Counter()
    for one in formats:
        total.update(facts.counts(one.standings))
    failures = sorted((f for f in result.failures if not f.known), key=lambda f: not facts.binding(f, result.strict))
    known = [f for f in result.failures if f.known]
    limit = min(4_000, max(600, LETTERS // max(1, len(failures))))
    present = {verdict for one in formats for verdict, count in one.row.verdicts.items() if count}
    return Page(
        headline=facts.headline(result),
        tone={0: "good", 1: "bad"}.get(result.exit_code, "warn"),
        sums=facts.sums(result),
        counts=[(one, total[one]) for one in Standing if total[one]],
        verdicts=[verdict for verdict in HEADS if verdict in present or verdict is Verdict.PASS],
        formats=formats,
        failures=failures,
        shown=[_failure(one, result, limit) for one in failures[:SHOWN]],
        rest=failures[SHOWN:],
        known=known,
        wrong=[one for one in result.entries if one.wrong],
        anchors=frozenset(one.rule.id for one in result.failures),
        again=facts.again(result.header),
    )


def environment() -> jinja2.Environment:
    """The templates' environment: all values are escaped, with unprintable characters."""
    import jinja2
    import markupsafe

    def finalize(value: object) -> object:
        return kept(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"shown": printable, "kept": kept, "web": is_web, "remedy": facts.remedy}
    templates.filters["covering"] = facts.covering
    templates.globals |= {
        "HEADS": HEADS,
        "TONES": TONES,
        "SIGNS": SIGNS,
        "SIGN_TONES": SIGN_TONES,
        "colour": colour,
        "POLICY": POLICY,
    }
    return templates


def html(result: RunResult) -> str:
    """The page of a run."""
    return environment().get_template("run.html.j2").render(page=view(result), result=result)
