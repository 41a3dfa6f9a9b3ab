"""The run as one self-contained HTML page: nothing is fetched, the search is the only script, all
foreign texts are escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from conformance.judging.findings import BAD, Verdict
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.judging.wording import clip
from conformance.reports import facts
from conformance.reports.console import HEADS
from conformance.reports.excerpt import BRIEF, excerpt_failure
from conformance.reports.facts import SIGNS, Standing
from conformance.reports.history import PastRun, trends
from conformance.reports.repairs import repairs
from conformance.reports.type_matrix import MEANINGS, TYPE_SIGNS, TYPE_TONES, type_matrix
from conformance.rules.rules import Obligation, Rule
from conformance.text import printable, printable_lines
from generators.model import State

if TYPE_CHECKING:
    import jinja2

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a page may load: its own style, and nothing else."""
SEARCH: Final = """
const box = document.getElementById("search");
box.parentElement.hidden = false;
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const one of document.querySelectorAll("[data-rule]")) {
    one.hidden = !words.every(word => one.textContent.toLowerCase().includes(word));
  }
  for (const one of document.querySelectorAll("main > details")) {
    if (words.length && one.querySelector("[data-rule]:not([hidden])")) one.open = true;
  }
});
"""
"""The page's only script: hides what does not hold every word that is typed. Without it the page
shows everything.
"""
SEARCHING_POLICY: Final = (
    f"{POLICY}; script-src"
    f" 'sha256-{base64.b64encode(hashlib.sha256(SEARCH.encode()).digest()).decode()}'"
)
"""What the page of a run may load: its own style, and the search."""
SHOWN: Final = 250
"""How many broken rules are shown with their message; each further one takes a line."""
LETTERS: Final = 450_000
"""Characters of messages on a page in all, shared by the failures; each failure has at least 600
and at most 4,000.
"""
NOTE: Final = 4_000
"""How many characters are shown of a decoder's exception."""
TONES: Final = {
    Standing.KEPT: "good",
    Standing.BROKEN: "bad",
    Standing.LAX: "warn",
    Standing.KNOWN: "warn",
    Standing.IDLE: "bad",
    Standing.OUT: "soft",
    Standing.REFUSED: "warn",
}
"""The CSS class that colours each standing of a rule."""
SIGN_TONES: Final = {"✓": "good", "✗": "bad", "!": "warn", "-": "soft"}
"""The CSS class that colours each sign of a format or profile."""
_WORDS: Final = {"✓": "conforms", "✗": "fails", "!": "known failures", "-": "not judged"}
"""Each sign of a format in words."""


def colour(verdict: Verdict) -> str:
    """The CSS class (good, bad, warn, soft) for a number of cases with this verdict."""
    if verdict in BAD:
        return "bad"
    if verdict in (Verdict.PASS, Verdict.REJECTED):
        return "good"
    return "warn" if verdict is Verdict.NON_STRICT else "soft"


def differing(expected: str, actual: str) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Both texts, each split into (common start, differing middle, common end). If less than a
    third of the longer text is common, the start and the end are empty.
    """
    least = min(len(expected), len(actual))
    head = next((i for i in range(least) if expected[i] != actual[i]), least)
    tail = next(
        (i for i in range(least - head) if expected[-1 - i] != actual[-1 - i]), least - head
    )
    if 3 * (head + tail) < max(len(expected), len(actual)):
        head = tail = 0
    return (
        expected[:head],
        expected[head : len(expected) - tail],
        expected[len(expected) - tail :],
    ), (
        actual[:head],
        actual[head : len(actual) - tail],
        actual[len(actual) - tail :],
    )


def is_web(link: str) -> bool:
    """Whether an address is a plain web address (http or https), so that a page may link to it."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.netloc)
        and link.isprintable()
        and " " not in link
    )


def _anchor_failures(failures: Iterable[Failure]) -> list[tuple[str, Failure]]:
    """The failures, each with the anchor by which links on the page reach it: the rule's id, for
    the second and further causes of a rule with a number behind it (`RULE~2`).
    """
    counts: Counter[str] = Counter()
    anchored = []
    for failure in failures:
        counts[failure.rule.id] += 1
        number = counts[failure.rule.id]
        anchor = failure.rule.id if number == 1 else f"{failure.rule.id}~{number}"
        anchored.append((anchor, failure))
    return anchored


def _failure(anchor: str, failure: Failure, result: RunResult, limit: int) -> dict[str, Any]:
    """What the page's template needs to show one failure; messages are cut to about `limit`
    characters.

    `expected` and `actual` are split into common start, difference, common end. `spread` says how
    many cases, profiles and faults share the failure's cause, `reduced` that the case was cut down
    to a smaller one.
    """
    finding, case, note = failure.finding, failure.result.case, failure.result.note
    expected, actual = differing(finding.expected, finding.actual)
    return {
        "anchor": anchor,
        "rule": failure.rule,
        "finding": finding,
        "makes_run_fail": facts.makes_run_fail(failure, result.strict),
        "cause": facts.cause(failure),
        "spread": facts.spread_text(failure) if failure.cases > 1 or failure.faults else "",
        "hint": facts.hint(failure),
        "place": (
            f"message {finding.message + 1} of {len(case.written)}" if len(case.written) > 1 else ""
        ),
        "expected": expected,
        "actual": actual,
        "excerpt": excerpt_failure(failure, limit),
        "deployment": facts.unusual(case.deployment),
        "reduced": failure.reduced,
        "note": note if len(note) <= NOTE else f"{note[:NOTE]} ... ({len(note):,} characters)",
        "replay": facts.replay(failure),
    }


def _format(fmt: FormatResult, strict: bool) -> dict[str, Any]:
    """What the page's template needs to show one format. Its sign is ✗ if a rule that the run could
    reach was compared with nothing. A cell is certain if it has exactly one right answer. With
    `strict` (--strict) failures of rules that are not MUST count, too.
    """
    format_row, profile_rows = facts.matrix(fmt, strict)
    total = sum(fmt.cells.values())
    cells = f"{fmt.certain:.1%} of {total:,} cells certain" if total else "no cells compared"
    if any_ := fmt.cells.get(State.ANY, 0):
        cells += f", {any_:,} of which nothing can be told"
    standings = facts.standings(fmt, strict)
    counts = facts.counts(standings)
    words = ", ".join(
        f"{counts[standing]:,} {standing}" for standing in Standing if counts[standing]
    )
    sign = "✗" if fmt.unexercised else format_row.sign
    return {
        "row": format_row,
        "rows": profile_rows,
        "standings": standings,
        "counts": counts,
        "kept": counts[Standing.KEPT],
        "of": fmt,
        "notes": (*filter(None, [facts.nulled(fmt)]), *fmt.notes),
        "cells": cells,
        "grid": _grid(fmt, [format_row.name for format_row in profile_rows], strict),
        "sign": sign,
        "tone": SIGN_TONES[sign],
        "word": _WORDS[sign],
        "summary": f"{len(profile_rows)} profile{'s' if len(profile_rows) != 1 else ''}; rules: {words}",
    }


def _grid(
    fmt: FormatResult, profiles: Sequence[str], strict: bool
) -> list[tuple[Rule, list[tuple[str, str, int]]]]:
    """The page's table of a format's broken rules: for each rule its cells (sign, colour, number of
    cases), in the order of `profiles`. The sign is empty where the profile keeps the rule, and `!`
    where all its failing cases are known.
    """
    breaches = facts.breaches(fmt)
    lines = []
    for result in fmt.rules:
        if result.rule.id in breaches:
            sign_of_new = "✗" if strict or result.rule.obligation is Obligation.MUST else "~"
            cells = [breaches[result.rule.id].get(profile, facts.Breach()) for profile in profiles]
            signs = [sign_of_new if cell.new else "!" if cell.cases else "" for cell in cells]
            tones = [{"✗": "bad", "": ""}.get(sign, "warn") for sign in signs]
            lines.append(
                (result.rule, list(zip(signs, tones, (cell.cases for cell in cells), strict=True)))
            )
    return lines


def view(result: RunResult) -> dict[str, Any]:
    """All values that the template of a run's page needs."""
    formats = [_format(fmt, result.strict) for fmt in result.formats]
    total: Counter[Standing] = sum((fmt["counts"] for fmt in formats), Counter())
    failures = sorted(
        (f for f in result.failures if not f.known),
        key=lambda f: not facts.makes_run_fail(f, result.strict),
    )
    anchored = _anchor_failures([*failures, *(f for f in result.failures if f.known)])
    limit = min(4_000, max(600, LETTERS // max(1, len(failures))))
    present = {Verdict.PASS}
    for fmt in formats:
        present.update(verdict for verdict, count in fmt["row"].verdicts.items() if count)
    all_repairs = [repairs(fmt, result) for fmt in result.formats]
    return {
        "headline": facts.headline(result),
        "tone": {0: "good", 1: "bad"}.get(result.exit_code, "warn"),
        "sums": facts.sums(result),
        "counts": [(standing, total[standing]) for standing in Standing if total[standing]],
        "verdicts": [verdict for verdict in HEADS if verdict in present],
        "formats": formats,
        "repairs": [mistakes for mistakes in all_repairs if mistakes.first],
        "failures": anchored[: len(failures)],
        "rules": len({failure.rule.id for failure in failures}),
        "shown": [
            _failure(anchor, failure, result, limit)
            for anchor, failure in anchored[: min(SHOWN, len(failures))]
        ],
        "rest": anchored[SHOWN : len(failures)],
        "known": anchored[len(failures) :],
        "wrong": [entry for entry in result.entries if entry.wrong],
        "anchors": {failure.rule.id for failure in result.failures},
        "again": facts.command_to_repeat(result.header),
        "types": type_matrix(result.formats),
    }


def environment() -> jinja2.Environment:
    """The Jinja environment of the pages' templates. Every value is escaped for HTML, and its
    unprintable characters are spelled out, since messages may hold anything.
    """
    import jinja2
    import markupsafe

    def finalize(value: object) -> object:
        """What Jinja writes for the value of an expression: a text with its unprintable characters
        spelled out, markup and other values unchanged.
        """
        return (
            printable_lines(value)
            if isinstance(value, str) and not isinstance(value, markupsafe.Markup)
            else value
        )

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "shown": printable,
        "kept": printable_lines,
        "web": is_web,
        "remedy": facts.remedy,
    }
    templates.filters |= {
        "covering": facts.covering,
        "clip": clip,
        "brief": lambda failure: excerpt_failure(failure, BRIEF),
    }
    templates.globals |= {
        "HEADS": HEADS,
        "TONES": TONES,
        "SIGNS": SIGNS,
        "SIGN_TONES": SIGN_TONES,
        "colour": colour,
        "POLICY": POLICY,
        "TYPE_SIGNS": TYPE_SIGNS,
        "TYPE_TONES": TYPE_TONES,
        "TYPE_MEANINGS": MEANINGS,
    }
    return templates


def page_of_run(result: RunResult, runs: Sequence[PastRun] = ()) -> str:
    """The run as one self-contained HTML page; `runs` are the past runs in the same folder, this
    one last.
    """
    from markupsafe import Markup

    search = Markup(SEARCH)  # noqa: S704 - a constant
    return (
        environment()
        .get_template("run.html.j2")
        .render(
            page=view(result),
            result=result,
            trends=trends(runs, result),
            POLICY=SEARCHING_POLICY,
            SEARCH=search,
        )
    )
