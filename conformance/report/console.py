"""The run as people read it: a table of formats and profiles, then each broken rule with its smallest message."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from conformance.judge import CaseResult, Verdict
from conformance.results import Failure, FormatResult, RunResult

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
_HEADS = {
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
SHOWN = 600
"""How many characters of a message are printed; the crash file has all of it."""


def summary(result: RunResult) -> Table:
    """Per format and profile: cases, messages and verdicts; per format the rules exercised."""
    used = [v for v in _HEADS if v is Verdict.PASS or any(fmt.verdicts[v] for fmt in result.formats)]
    table = Table(title=None, header_style="bold", pad_edge=False)
    table.add_column("format / profile", no_wrap=True)
    for head in ("cases", "messages", "rules"):
        table.add_column(head, justify="right")
    for verdict in used:
        table.add_column(_HEADS[verdict], justify="right", style=_COLOURS[verdict])
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
    message = found.result.case.written[finding.message].message
    more = f"  (and {found.cases - 1} more)" if found.cases > 1 else ""
    cited = "; ".join(str(c) for c in rule.citations)
    # Text, not markup: decoders and messages say anything.
    lines = [
        Text(rule.statement, "bold"),
        Text(f"{rule.obligation}, {rule.provenance.lower()}: {cited}", "dim"),
        Text.assemble("case      ", printable(finding.case), (more, "dim")),
        Text.assemble("at        ", printable(finding.path)),
        Text.assemble("expected  ", (printable(finding.expected), "green")),
        Text.assemble("actual    ", (printable(finding.actual), "red")),
        Text.assemble("message   ", readable(message.value)),
    ]
    if found.file:
        lines.append(Text.assemble("replay    ", (f"cdc-conformance replay {shlex.quote(found.file)}", "bold")))
    title = Text.assemble((rule.id, "bold red"), " ", (rule.effect.value, "dim"))
    return Panel(Text("\n").join(lines), title=title, title_align="left", border_style="red")


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would act on instead of showing."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


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
    head = result.header
    parts: list[RenderableType] = [*(failure(f) for f in result.failures)]
    for fmt in result.formats:
        for r in _bare(fmt)[:10]:
            parts.append(Text(printable(f"{r.case.id}: {r.verdict}: {r.note.partition(chr(10))[0]}"), style="red"))
        if fmt.unexercised:
            parts.append(Text(f"{fmt.format}: not exercised: {', '.join(fmt.unexercised)}", style="red"))
    parts.append(summary(result))
    placed = sum(len(places) for fmt in result.formats for places in fmt.places.values())
    through = "a table in memory" if head.topic == "" else f"Kafka ({head.broker}), topic {head.topic}"
    judged = sum(len(fmt.cases) for fmt in result.formats)
    by_level = Counter(c.case.level for fmt in result.formats for c in fmt.cases)
    drawn = sum(fmt.drawn for fmt in result.formats)
    certain = min((fmt.certain for fmt in result.formats), default=1.0)
    parts.append(
        Text(
            f"{judged} cases ({drawn} drawn; {by_level[1]} judged at level one, {by_level[2]} at level two), {placed} messages "
            f"through {through}; {certain:.1%} of cells certain; seed {head.seed}, budget {head.budget}, "
            f"decoder {head.decoder}; {result.seconds:.1f} s"
        )
    )
    word = "conforms" if result.exit_code == 0 else "nothing was judged" if result.exit_code == 4 else "does NOT conform"
    parts.append(Text(f"{head.decoder} decoder{'s' if head.decoder == 'reference' else ''}: {word}", style="bold"))
    return Group(*parts)


def _bare(fmt: FormatResult) -> list[CaseResult]:
    return [r for r in fmt.cases if r.verdict in (Verdict.ERRORED, Verdict.TIMEOUT)]


def console(stderr: bool = False) -> Console:
    """A console; through a pipe it has no colours, and is wide enough for the table."""
    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=150)
