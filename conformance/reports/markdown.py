"""The run as Markdown, for a pull request's summary: verdict, matrix, what is new, what can leave the record, what is known."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from conformance.judging.judge import Verdict
from conformance.judging.known import State
from conformance.judging.results import Failure, RunResult
from conformance.reports import facts
from conformance.reports.console import HEADS
from conformance.reports.facts import Standing
from conformance.reports.page import is_web
from conformance.text import printable

SHOWN: Final = 50
"""Rows of a table at most: a comment on a pull request holds 65,536 characters."""
LETTERS: Final = 160
"""Characters of a value; the page has more."""
_PLAIN: Final = re.compile(r"[^\w ,/()=+.-]|[_]|(?<=\bwww)\.|(?<=\d)\.(?= )", re.ASCII)


def code(text: str, limit: int = LETTERS) -> str:
    """A text as code, in which Markdown, HTML, mentions and links mean nothing: their characters are written as references."""
    shown = printable(text)
    if len(shown) > limit:
        shown = f"{shown[:limit]}... ({len(text)} characters)"
    return f"<code>{_PLAIN.sub(lambda found: f'&#{ord(found[0])};', shown)}</code>" if shown else "<i>empty</i>"


def render(result: RunResult) -> str:
    """The whole summary."""
    mark = {0: "✅", 1: "❌"}.get(result.exit_code, "⚠️")
    lines = [f"### {mark} {code(facts.subject(result.header))} {facts.WORDS[result.exit_code]}", ""]
    lines += [*_matrix(result), ""]
    new = [one for one in result.failures if facts.binding(one, result.strict)]
    lax = [one for one in result.failures if not one.known and not facts.binding(one, result.strict)]
    known = [one for one in result.failures if one.known]
    if new:
        lines += [f"#### New failures: {len(new)}", "", *_failures(new), ""]
    for fmt in result.formats:
        if fmt.unexercised:
            lines += [f"#### Not exercised in {fmt.format}", "", *(f"- `{rule}`" for rule in fmt.unexercised[:SHOWN]), ""]
    lines += _record(result)
    if lax:
        lines += _folded(f"Broken, does not count: {len(lax)}", _failures(lax))
    if known:
        rows = ((code(f.rule.id), f"{f.cases:,}", code(f.reason or "none given"), _link(f.link)) for f in known)
        lines += _folded(f"Known failures: {len(known)}", _table(("rule", "cases", "reason", "link"), rows, len(known)))
    lines += _folded("By profile", _profiles(result)) if result.formats else []
    head = result.header
    lines.append(
        f"Seed {head.seed}, budget {head.budget}, exit code {result.exit_code}. To repeat it: {code(facts.again(head), 1000)}"
    )
    return "\n".join(lines)


def _used(result: RunResult) -> list[Verdict]:
    found: Counter[Verdict] = Counter()
    for fmt in result.formats:
        found.update(fmt.verdicts)
    return [one for one in HEADS if found[one] or one is Verdict.PASS]


def _matrix(result: RunResult) -> Iterator[str]:
    used = _used(result)
    rows = []
    for fmt in result.formats:
        row, _ = facts.matrix(fmt, result.strict)
        found = facts.counts(facts.standings(fmt, result.strict))
        sign = "✗" if fmt.unexercised else row.sign
        counts = [f"{row.verdicts.get(one, 0):,}" for one in used]
        rows.append((f"{sign} {fmt.format}", f"{found[Standing.KEPT]}/{found.total()}", f"{row.cases:,}", *counts))
    return _table(("format", "rules kept", "cases", *(HEADS[one] for one in used)), rows, len(rows))


def _profiles(result: RunResult) -> Iterator[str]:
    used = _used(result)
    rows = []
    for fmt in result.formats:
        for row in facts.matrix(fmt, result.strict)[1]:
            rows.append(
                (f"{row.sign} {fmt.format}", row.name, f"{row.cases:,}", *(f"{row.verdicts.get(one, 0):,}" for one in used))
            )
    return _table(("format", "profile", "cases", *(HEADS[one] for one in used)), rows, len(rows), shown=200)


def _failures(found: Sequence[Failure]) -> Iterator[str]:
    rows = (
        (
            f"{code(one.rule.id)}<br>{html.escape(one.rule.statement).replace('|', '&#124;')}",
            f"{one.rule.obligation} {code(one.rule.effect.value)}",
            f"{one.new:,}",
            code(one.finding.path),
            code(one.finding.expected),
            code(one.finding.actual),
            code(one.finding.case),
        )
        for one in found
    )
    yield from _table(("rule", "binds", "cases", "at", "expected", "actual", "smallest case"), rows, len(found))


def _record(result: RunResult) -> Iterator[str]:
    passing = [one for one in result.entries if one.state is State.UNEXPECTED_PASS]
    nothing = [one for one in result.entries if one.state is State.MATCHES_NOTHING]
    if passing:
        yield from (f"#### Fixed: remove from the record of known failures: {len(passing)}", "")
        yield from (*_list(code(str(one.entry), 300) for one in passing), "")
    if nothing:
        yield from (f"#### Entries that match nothing: {len(nothing)}", "")
        yield from (*_list(f"{code(str(one.entry), 300)}: {code(one.hint)}" for one in nothing), "")


def _list(items: Iterable[str]) -> Iterator[str]:
    found = list(items)
    yield from (f"- {item}" for item in found[:SHOWN])
    if len(found) > SHOWN:
        yield f"- and {len(found) - SHOWN} more"


def _link(link: str) -> str:
    if not link:
        return ""
    return f"[link](<{quote(link, safe=':/?&=#%+.~-')}>)" if is_web(link) else code(link)


def _folded(title: str, lines: Iterable[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], count: int, shown: int = SHOWN) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for number, row in enumerate(rows):
        if number == shown:
            yield f"| and {count - shown} more |" + " |" * (len(head) - 1)
            break
        yield "| " + " | ".join(row) + " |"
