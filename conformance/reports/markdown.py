"""The run as Markdown, for a pull request's summary: verdict, matrix, new failures, entries to
remove, known failures.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final
from urllib.parse import quote

from conformance.judging.findings import Verdict
from conformance.judging.known import State
from conformance.judging.results import Failure, RunResult
from conformance.reports import facts
from conformance.reports.console import HEADS
from conformance.reports.excerpt import ValueExcerpt, excerpt_failure
from conformance.reports.facts import Standing
from conformance.reports.page import is_web
from conformance.reports.repairs import repairs
from conformance.reports.type_matrix import TypeRow, type_matrix
from conformance.sheets import markdown_table
from conformance.text import printable

SHOWN: Final = 50
"""How many rows of a table are shown at most: a comment on a pull request holds 65,536 characters.
"""
LETTERS: Final = 160
"""How many characters of a value are shown; the page has more."""
_PLAIN: Final = re.compile(r"[^\w ,/()=+.-]|[_]|(?<=\bwww)\.|(?<=\d)\.(?= )", re.ASCII)
"""Characters that Markdown, HTML or a code host could act on, which are written as references."""


def code(raw_text: str, limit: int = LETTERS) -> str:
    """A text as HTML code for Markdown, cut after `limit` characters: characters of Markdown, HTML,
    mentions and links are written as references.
    """
    code_text = printable(raw_text)
    if len(code_text) > limit:
        code_text = f"{code_text[:limit]}... ({len(raw_text)} characters)"
    return f"<code>{_plain(code_text)}</code>" if code_text else "<i>empty</i>"


def _plain(raw_text: str) -> str:
    """The text with every character of Markdown, HTML, mentions and links as a reference, so that
    it is shown as it is.
    """
    return _PLAIN.sub(lambda match: f"&#{ord(match[0])};", raw_text)


def render(result: RunResult) -> str:
    """The run as Markdown, for the summary of a pull request."""
    mark = {0: "✅", 1: "❌"}.get(result.exit_code, "⚠️")
    lines = [
        (
            f"### {mark} {code(facts.subject(result.header))}"
            f" {facts.WORDS[result.exit_code]}{facts.unjudged(result)}"
        ),
        "",
    ]
    lines += [*_matrix(result), ""]
    new_failures = [
        failure for failure in result.failures if facts.makes_run_fail(failure, result.strict)
    ]
    uncounted_failures = [
        failure
        for failure in result.failures
        if not failure.known and not facts.makes_run_fail(failure, result.strict)
    ]
    known_failures = [failure for failure in result.failures if failure.known]
    if new_failures:
        what = f"{'New failures' if result.entries else 'Failures'}: {len(new_failures)}"
        mistake_lines = list(_mistakes(result))
        lines += (
            [*mistake_lines, *_folded(what, _failures(new_failures))]
            if mistake_lines
            else [f"#### {what}", "", *_failures(new_failures), ""]
        )
    for fmt in result.formats:
        if fmt.unexercised:
            lines += [
                f"#### Not exercised in {fmt.format}",
                "",
                *(f"- `{rule}`" for rule in fmt.unexercised[:SHOWN]),
                "",
            ]
    lines += [f"{code(line, 1000)}\n" for fmt in result.formats if (line := facts.nulled(fmt))]
    lines += _record(result)
    if uncounted_failures:
        lines += _folded(
            f"Broken, does not count: {len(uncounted_failures)}", _failures(uncounted_failures)
        )
    if known_failures:
        failure_rows = (
            (
                f"{code(f.rule.id)}{_cause(f)}",
                f"{f.cases:,}",
                code(f.reason or "none given"),
                _link(f.link),
            )
            for f in known_failures
        )
        lines += _folded(
            f"Known failures: {len(known_failures)}",
            _table(("rule", "cases", "reason", "link"), failure_rows, len(known_failures)),
        )
    types = type_matrix(result.formats)
    lines += _folded("By type of column", _types(types, result)) if types else []
    lines += _folded("By profile", _profiles(result)) if result.formats else []
    head = result.header
    if head.versions:
        lines += [
            ", ".join(f"{name} {code(version)}" for name, version in head.versions.items()),
            "",
        ]
    lines.append(
        f"Seed {head.seed}, budget {head.budget}, exit code {result.exit_code}. To repeat it:"
        f" {code(facts.command_to_repeat(head), 1000)}"
    )
    return "\n".join(lines)


def _occurring_verdicts(result: RunResult) -> list[Verdict]:
    """The verdicts that have a column in the tables of results: those that some case of the run
    has, and always PASS.
    """
    counts: Counter[Verdict] = Counter()
    for fmt in result.formats:
        counts.update(fmt.verdicts)
    return [verdict for verdict in HEADS if counts[verdict] or verdict is Verdict.PASS]


def _matrix(result: RunResult) -> list[str]:
    """The Markdown table of formats: how many rules are kept, and how many cases have each
    verdict.
    """
    used = _occurring_verdicts(result)
    table_rows = []
    for fmt in result.formats:
        format_row, _ = facts.matrix(fmt, result.strict)
        rules = facts.counts(facts.standings(fmt, result.strict))
        sign = "✗" if fmt.unexercised else format_row.sign
        counts = [f"{format_row.verdicts.get(verdict, 0):,}" for verdict in used]
        table_rows.append(
            (
                f"{sign} {fmt.format}",
                f"{rules[Standing.KEPT]}/{facts.reached(rules)}",
                f"{format_row.cases:,}",
                *counts,
            )
        )
    return _table(
        ("format", "rules kept", "cases", *(HEADS[verdict] for verdict in used)),
        table_rows,
        len(table_rows),
    )


def _profiles(result: RunResult) -> list[str]:
    """The Markdown table of profiles: how many cases have each verdict."""
    used = _occurring_verdicts(result)
    table_rows: list[tuple[str, ...]] = []
    for fmt in result.formats:
        _, profile_rows = facts.matrix(fmt, result.strict)
        for profile_row in profile_rows:
            format_name = f"{profile_row.sign} {fmt.format}"
            counts = [f"{profile_row.verdicts.get(verdict, 0):,}" for verdict in used]
            table_rows.append((format_name, profile_row.name, f"{profile_row.cases:,}", *counts))
    return _table(
        ("format", "profile", "cases", *(HEADS[verdict] for verdict in used)),
        table_rows,
        len(table_rows),
        limit=200,
    )


def _types(types: Sequence[TypeRow], result: RunResult) -> list[str]:
    """The Markdown table of source types: a row for each type, and for each format of the run a
    column with the figures of its cells of the type, such as `✗ 3 of 120`, empty if it has none.
    """
    table_rows: list[tuple[str, ...]] = []
    for type_row in types:
        figures = [count.figures if count else "" for count in type_row.counts]
        table_rows.append((code(type_row.key), *figures))
    return _table(("type", *(fmt.format for fmt in result.formats)), table_rows, len(table_rows))


def _mistakes(result: RunResult) -> Iterator[str]:
    """The Markdown list of the decoder's mistakes, what to repair first before the rest, each with
    a failing message as example; nothing if there are none. A mistake without a new failure that
    shows it has a finding, but no message and no command that judges it again; a decoder that fails
    before it reads a message has no example at all.
    """
    for fmt in result.formats:
        format_repairs = repairs(fmt, result)
        if not format_repairs.first:
            continue
        yield from (f"#### {format_repairs.headline}; repair first what stands first", "")
        for number, repair in enumerate(format_repairs.first, 1):
            if not repair.has_example:
                yield f"{number}. **{_plain(printable(repair.sentence))}**"
                continue
            message_link = _message(repair.failure) if repair.failure else ""
            finding, again = repair.finding, _replay(repair.failure) if repair.failure else ""
            values = (
                f"expected {code(finding.expected)}, actual {code(finding.actual)} at"
                f" {code(finding.path)}"
            )
            yield (
                f"{number}. **{_plain(printable(repair.sentence))}**<br>{message_link}<br>"
                f"{values}{again}"
            )
        yield from ("", format_repairs.rest, "") if format_repairs.rest else ("",)


def _failures(failures: Sequence[Failure]) -> list[str]:
    """The Markdown table of broken rules, each with its smallest failing case."""
    table_rows = (
        (
            (
                f"{code(failure.rule.id)}<br>{html.escape(failure.rule.statement).replace('|', '&#124;')}{_cause(failure)}"
            ),
            f"{failure.rule.obligation} {code(failure.rule.effect.value)}",
            f"{failure.new:,}",
            code(failure.finding.path),
            code(failure.finding.expected),
            code(failure.finding.actual),
            (f"{code(failure.finding.case)}<br>{_message(failure)}{_replay(failure)}"),
        )
        for failure in failures
    )
    return _table(
        ("rule", "binds", "cases", "at", "expected", "actual", "smallest case"),
        table_rows,
        len(failures),
    )


def _message(failure: Failure) -> str:
    """The failure's message as HTML in Markdown, with the wrong field bold. The record's key stands
    before it if the finding cannot be understood without it.
    """
    excerpt = excerpt_failure(failure, LETTERS)
    key = f"key {_excerpt_code(excerpt.key)}<br>" if excerpt.key and excerpt.key_matters else ""
    return f"{key}{_excerpt_code(excerpt.value)}"


def _excerpt_code(excerpt: ValueExcerpt) -> str:
    """An excerpt of a failing message's key or value as HTML in Markdown: the marked parts are
    bold, left-out parts are shown as their gap, the note follows.
    """
    parts: list[str] = []
    for segment in excerpt.segments:
        plain = _plain(segment.gap if segment.omitted else printable(segment.text))
        parts.append(f"<b>{plain}</b>" if segment.marked else plain)
    note = f" ({_plain(excerpt.note)})" if excerpt.note else ""
    return f"<code>{''.join(parts)}</code>{note}"


def _replay(failure: Failure) -> str:
    """The command that judges a failure's case again, as a line in a table's cell; "" if the
    failure was not saved.
    """
    return f"<br>{code(facts.replay(failure), 1000)}" if failure.file else ""


def _cause(failure: Failure) -> str:
    """The cause of a failure, and a hint at the mistake if there is one, as lines of a table's
    cell; "" without a cause.
    """
    words = facts.hint(failure)
    hint = f"<br>{html.escape(words)}" if words else ""
    return f"<br>{code(facts.cause(failure))}{hint}" if failure.cause else ""


def _record(result: RunResult) -> Iterator[str]:
    """The Markdown list of the entries in the record of known failures that are out of date."""
    passing = [entry for entry in result.entries if entry.state is State.UNEXPECTED_PASS]
    nothing = [entry for entry in result.entries if entry.state is State.MATCHES_NOTHING]
    if passing:
        yield from (f"#### Fixed: remove from the record of known failures: {len(passing)}", "")
        yield from (*_bullets(code(str(entry.entry), 300) for entry in passing), "")
    if nothing:
        yield from (f"#### Entries that match nothing: {len(nothing)}", "")
        yield from (
            *_bullets(f"{code(str(entry.entry), 300)}: {code(entry.hint)}" for entry in nothing),
            "",
        )


def _bullets(items: Iterable[str]) -> Iterator[str]:
    """A Markdown list of the first SHOWN items; its last line has the number of the others."""
    lines = list(items)
    yield from (f"- {item}" for item in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"- and {len(lines) - SHOWN} more"


def _link(link: str) -> str:
    """The link of an entry of known failures: a Markdown link if it is a web address, else the text
    as code.
    """
    if not link:
        return ""
    return f"[link](<{quote(link, safe=':/?&=#%+.~-')}>)" if is_web(link) else code(link)


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    """Lines of Markdown behind a title that unfolds them on a click."""
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _table(
    head: Sequence[str], table_rows: Iterable[Sequence[str]], count: int, limit: int = SHOWN
) -> list[str]:
    """A Markdown table of the first `limit` rows, whose cells are Markdown already, and a last row
    with the number of the others. `count` is the number of all rows, which `table_rows` may give
    lazily.
    """
    more = [(f"and {count - limit} more", *("",) * (len(head) - 1))] if count > limit else []
    return markdown_table(head, [*islice(table_rows, limit), *more], str)
