"""The run as people read it: a table of formats and profiles, then each broken rule with its smallest message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from conformance.judging.judge import CaseResult, Verdict
from conformance.judging.results import Failure, RunResult
from conformance.reports.facts import headline, remedy, replay, sums
from conformance.reports.wire import MALFORMED, WHOLE, WireText, wire
from conformance.rules.base import Aspect
from conformance.text import printable

_COLOURS = {
    Verdict.PASS: "green",
    Verdict.NON_STRICT: "yellow",
    Verdict.FAIL: "red",
    Verdict.REJECTED: "green",
    Verdict.ACCEPTED: "red",
    Verdict.INFORMATIONAL: "cyan",
    Verdict.UNSUPPORTED: "dim",
    Verdict.ERRORED: "red",
    Verdict.TIMEOUT: "red",
}
HEADS: Final = {
    Verdict.PASS: "pass",
    Verdict.REJECTED: "rejected",
    Verdict.NON_STRICT: "non-strict",
    Verdict.INFORMATIONAL: "info",
    Verdict.UNSUPPORTED: "unsupp.",
    Verdict.FAIL: "fail",
    Verdict.ACCEPTED: "accepted",
    Verdict.ERRORED: "errored",
    Verdict.TIMEOUT: "timeout",
}
"""The verdicts in the order of the columns, and the columns' heads."""
SHOWN = 600
"""How many characters of a message are printed; the crash file has all of it."""


def summary(result: RunResult) -> Table:
    """Per format and profile: cases, messages and verdicts; per format the rules exercised."""
    used = [v for v in HEADS if v is Verdict.PASS or any(fmt.verdicts[v] for fmt in result.formats)]
    table = Table(title=None, header_style="bold", pad_edge=False)
    table.add_column("format / profile", no_wrap=True)
    for head in ("cases", "messages", "rules"):
        table.add_column(head, justify="right")
    for verdict in used:
        table.add_column(HEADS[verdict], justify="right", style=_COLOURS[verdict])
    for fmt in result.formats:
        exercised = sum(1 for r in fmt.rules if r.compared)
        table.add_row(
            Text(fmt.format, style="bold"),
            *_counts(fmt.cases, f"{exercised}/{len(fmt.rules)}", used, bold=True),
            end_section=False,
        )
        profiles = list(fmt.by_profile().items())
        for i, (profile, cases) in enumerate(profiles):
            table.add_row(Text(f"  {profile}"), *_counts(cases, "", used), end_section=i == len(profiles) - 1)
    return table


def _counts(cases: Iterable[CaseResult], rules: str, used: Iterable[Verdict], bold: bool = False) -> list[Text]:
    held = list(cases)
    counted = Counter(c.verdict for c in held)
    messages = sum(len(c.case.written) for c in held)
    style = "bold" if bold else ""
    numbers = [str(len(held)), str(messages), rules, *(str(counted[v] or "-") for v in used)]
    return [Text(n, style=style) for n in numbers]


def failure(found: Failure) -> Panel:
    """One broken rule."""
    rule, finding = found.rule, found.finding
    more = f"  (and {found.cases - 1} more)" if found.cases > 1 else ""
    if 0 < found.new < found.cases:
        more += f"  ({found.cases - found.new} of them known)"
    # Text, not markup: decoders and messages say anything.
    lines = [
        Text(rule.statement, "bold"),
        Text(f"{rule.obligation}, {rule.provenance.lower()}", "dim"),
        *(Text(f"source    {citation}", "dim") for citation in rule.citations),
        Text.assemble("case      ", printable(finding.case), (more, "dim")),
        Text.assemble("at        ", printable(finding.path)),
        Text.assemble("expected  ", (printable(finding.expected), "green")),
        Text.assemble("actual    ", (printable(finding.actual), "red")),
        Text.assemble("message   ", message(found)),
    ]
    if found.reduced:
        lines.append(Text.assemble("reduced   ", (printable(found.reduced.removeprefix("reduced ")), "dim")))
    if found.file:
        lines.append(Text.assemble("replay    ", (replay(found), "bold")))
    title = Text.assemble((rule.id, "bold red"), " ", (rule.effect.value, "dim"))
    return Panel(Text("\n").join(lines), title=title, title_align="left", border_style="red")


def message(found: Failure) -> Text:
    """The failure's message, the field that is wrong in it bold and underlined."""
    shown = wire_of(found, SHOWN)
    if shown.form == "hex":
        value = found.result.case.written[found.finding.message].message.value
        return Text(readable(value))
    out = Text()
    for one in shown.segments:
        if one.omitted:
            out.append(f"... ({one.omitted} characters) ...", "dim")
        else:
            out.append(printable(one.text), "bold underline" if one.marked else "")
    return out.append(f"  ({shown.note})", "dim") if shown.note else out


def wire_of(found: Failure, limit: int) -> WireText:
    """The failure's message ready to be shown."""
    finding = found.finding
    value = found.result.case.written[finding.message].message.value
    about = {Aspect.ACCEPTED: MALFORMED, Aspect.CORRUPT: WHOLE}.get(finding.aspect, finding.path)
    return wire(value, about, finding.row, finding.expected, limit, finding.side, finding.column)


def known(found: Failure) -> Text:
    """A known failure in a line."""
    reason = f": {printable(found.reason)}" if found.reason else ""
    link = f" ({printable(found.link)})" if found.link else ""
    return Text(f"known: {found.rule.id}, {found.cases} case{'s' if found.cases != 1 else ''}{reason}{link}", style="yellow")


def readable(value: bytes | None, limit: int = SHOWN) -> str:
    """A message's value for a person: its text where it is UTF-8, else hex, shortened."""
    if value is None:
        return "null"
    try:
        text = printable(value.decode("utf-8"))
    except UnicodeDecodeError:
        text = "hex " + value.hex()
    return text if len(text) <= limit else f"{text[:limit]}... ({len(value)} bytes)"


def render(result: RunResult) -> RenderableType:
    """The whole console report."""
    parts: list[RenderableType] = [failure(f) for f in result.failures if not f.known]
    parts += [known(f) for f in result.failures if f.known]
    parts += [
        Text(f"{fmt.format}: not exercised: {', '.join(fmt.unexercised)}", style="red")
        for fmt in result.formats
        if fmt.unexercised
    ]
    parts += [
        Text(printable(f"record: {one.entry}: {one.state}: {remedy(one)}"), style="red") for one in result.entries if one.wrong
    ]
    parts.append(summary(result))
    cases, messages, certain, *rest = sums(result)
    parts.append(Text(printable(f"{cases}, {messages}; {certain}; {rest[0]}, decoder {result.header.decoder}; {rest[1]}")))
    failing = [f for f in result.failures if not f.known]
    if result.entries or len(failing) < len(result.failures):
        wrong = sum(one.wrong for one in result.entries)
        parts.append(
            Text(
                f"{len(failing)} new failures, {len(result.failures) - len(failing)} known; "
                f"record: {len(result.entries)} entries, {wrong} to correct"
            )
        )
    parts.append(Text(printable(headline(result)), style="bold"))
    return Group(*parts)


def console(stderr: bool = False) -> Console:
    """A console; through a pipe it has no colours, and is wide enough for the table."""
    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=150)
