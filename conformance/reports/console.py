"""The run on a terminal: each broken rule with its smallest message, and a table of formats and
profiles.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from conformance.judging.findings import BAD, Verdict
from conformance.judging.results import Failure, FormatResult, RunResult
from conformance.judging.wording import clip
from conformance.reports.excerpt import BRIEF, SHOWN, ValueExcerpt, excerpt_failure
from conformance.reports.facts import (
    Row,
    Standing,
    cause,
    count_words,
    headline,
    hint,
    matrix,
    nulled,
    remedy,
    replay,
    spread_text,
    standings,
    sums,
)
from conformance.reports.repairs import Repairs, repairs
from conformance.reports.type_matrix import summarize_types, type_matrix
from conformance.rules.rules import Obligation, Rule
from conformance.running.events import Broken, Event, Started
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
"""The colour of the numbers in each verdict's column."""
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
PIPE_WIDTH: Final = 150
"""Characters of a line where the output is no terminal."""
PANEL_EDGES: Final = 4
"""Characters of a panel's edges with the blanks beside them."""
FRAME: Final = 14
"""Characters of a panel's edges and of the word `replay` with its blanks, which stands before a
command.
"""
NAMED: Final = 5
"""How many failing rules are named in a format's line."""


def summary(result: RunResult, profiles: bool) -> Table:
    """The table that the console shows after a run, with a line for each format: cases, messages,
    verdicts, and the rules exercised. With `profiles` it also has a line for each profile.
    """
    format_rows = [(*matrix(fmt, result.strict), _count_exercised(fmt)) for fmt in result.formats]
    return table(
        (total, rules, profile_rows if profiles else ())
        for total, profile_rows, rules in format_rows
    )


def table(format_rows: Iterable[tuple[Row, str, Sequence[Row]]]) -> Table:
    """The table of formats that a run prints. `format_rows` has for each format its counts, its
    exercised and reachable rules (`12/15`), and the counts of its profiles (none are shown if that
    is empty).
    """
    formats_to_show = list(format_rows)
    occurring = {Verdict.PASS}
    for total, _, _ in formats_to_show:
        occurring.update(verdict for verdict, count in total.verdicts.items() if count)
    used = [verdict for verdict in HEADS if verdict in occurring]
    formats_table = Table(title=None, header_style="bold", pad_edge=False)
    formats_table.add_column(
        "format / profile"
        if any(profile_rows for _, _, profile_rows in formats_to_show)
        else "format",
        no_wrap=True,
    )
    for head in ("cases", "messages", "rules"):
        formats_table.add_column(head, justify="right")
    for verdict in used:
        formats_table.add_column(HEADS[verdict], justify="right", style=_COLOURS[verdict])
    for total, rules, profile_rows in formats_to_show:
        formats_table.add_row(*_cells(total, rules, used, "bold"))
        for profile in profile_rows:
            indented = replace(profile, name=f"  {profile.name}")
            is_last = profile is profile_rows[-1]
            formats_table.add_row(*_cells(indented, "", used), end_section=is_last)
    return formats_table


def _count_exercised(fmt: FormatResult) -> str:
    """The rules that the run compared something for, of those that it could reach, such as `12/15`."""
    return f"{sum(1 for rule in fmt.rules if rule.compared)}/{sum(1 for rule in fmt.rules if rule.compared or rule.reachable)}"


def _cells(matrix_row: Row, rules: str, used: Iterable[Verdict], style: str = "") -> list[Text]:
    """The cells of one line of the results table: name, cases, messages, `rules` (text that the
    caller made) and the number of cases of each verdict in `used`, all in one style.
    """
    numbers = [
        str(matrix_row.cases),
        str(matrix_row.messages),
        rules,
        *(str(matrix_row.verdicts.get(v) or "-") for v in used),
    ]
    return [Text(cell, style=style) for cell in (matrix_row.name, *numbers)]


def failure(broken: Failure, strict: bool = False, *, states_rule: bool = True) -> Panel:
    """One broken rule on the console: red if it is MUST, else yellow, with the cause, the smallest
    message and the command that judges it again. Without `states_rule` the rule's sentence is left
    out, since a panel above has it.
    """
    rule, finding = broken.rule, broken.finding
    binds = strict or rule.obligation is Obligation.MUST
    colour = "red" if binds else "yellow"
    # Text, not markup: decoders and messages hold any text.
    lines = [
        *(_rule_lines(rule, binds) if states_rule else ()),
        *(
            [Text.assemble("cause     ", (printable(why), "bold"))]
            if (why := cause(broken))
            else []
        ),
        Text.assemble("case      ", printable(finding.case)),
        *(
            [Text.assemble("cases     ", printable(spread_text(broken)))]
            if broken.cases > 1 or broken.faults
            else []
        ),
        Text.assemble("at        ", printable(finding.path)),
        Text.assemble("expected  ", (printable(finding.expected), "green")),
        Text.assemble("actual    ", (printable(finding.actual), "red")),
        *([Text.assemble("hint      ", printable(hint(broken)))] if hint(broken) else []),
        *message_lines(broken, SHOWN),
    ]
    if broken.reduced:
        lines.append(Text(printable(broken.reduced), "dim"))
    if broken.file:
        lines.append(Text.assemble("replay    ", (replay(broken), "bold")))
    title = Text.assemble((rule.id, f"bold {colour}"), " ", (rule.effect.value, "dim"))
    return Panel(Text("\n").join(lines), title=title, title_align="left", border_style=colour)


def _rule_lines(rule: Rule, binds: bool) -> list[Text]:
    """The lines of a panel on the broken rule itself: its sentence, its obligation and whether it
    counts, and its sources.
    """
    counts = "" if binds else ": does not count without --strict"
    return [
        Text(rule.statement, "bold"),
        Text(f"{rule.obligation}{counts}, {rule.provenance.lower()}", "dim" if binds else "yellow"),
        *(Text(f"source    {citation}", "dim") for citation in rule.citations),
    ]


@dataclass(frozen=True, slots=True)
class FailurePanel:
    """A broken rule on the console, whose replay command can be copied. Where the panel would fold
    that command, it stands below the panel in a line of its own.
    """

    broken: Failure
    strict: bool = False
    states_rule: bool = True

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        command = replay(self.broken)
        width = options.max_width - PANEL_EDGES
        if len(command) <= options.max_width - FRAME:
            yield self._panel(self.broken, width)
        else:
            yield self._panel(replace(self.broken, file=""), width)
            yield Text(command, "bold", no_wrap=True, overflow="ignore")

    def _panel(self, broken: Failure, width: int) -> Panel:
        """The panel of one failure for a console of this width, with the lines of its message
        folded.
        """
        panel = failure(broken, self.strict, states_rule=self.states_rule)
        assert isinstance(panel.renderable, Text)
        panel.renderable = fold_lines(panel.renderable, width)
        return panel


def fold_lines(message_text: Text, width: int) -> Text:
    """The text with line breaks so that no line is longer than `width`; the console breaks lines
    only at blanks, and a message of JSON has none.
    """
    lines: list[Text] = []
    for line in message_text.split("\n", allow_blank=True):
        lines += line.divide(range(width, len(line.plain), width))
    return Text("\n").join(lines)


@dataclass(frozen=True, slots=True)
class Example:
    """The lines of a mistake's example. On a terminal they are folded to its width; in a pipe or
    file each stays one line.
    """

    lines: Text

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        if console.is_terminal:
            yield fold_lines(self.lines, options.max_width)
        else:
            unfolded = self.lines.copy()
            unfolded.no_wrap, unfolded.overflow = True, "ignore"
            yield unfolded


def message_lines(failure: Failure, limit: int) -> list[Text]:
    """The failure's message as lines for a console, cut to about `limit` characters, with the wrong
    field bold and underlined. The record's key stands before it if the finding cannot be understood
    without it.
    """
    excerpt = excerpt_failure(failure, limit)
    lines = [Text.assemble("message   ", style_excerpt(excerpt.value))]
    if excerpt.key and excerpt.key_matters:
        lines.insert(0, Text.assemble("key       ", style_excerpt(excerpt.key)))
    return lines


def style_excerpt(excerpt: ValueExcerpt) -> Text:
    """An excerpt of a message as styled text: the marked parts bold and underlined, gaps and the
    note dim.
    """
    out = Text()
    for segment in excerpt.segments:
        if segment.omitted:
            out.append(segment.gap, "dim")
        else:
            out.append(printable(segment.text), "bold underline" if segment.marked else "")
    return out.append(f"  ({excerpt.note})", "dim") if excerpt.note else out


def known_failure_text(failure: Failure) -> Text:
    """A failure that the record of known failures lists, in one line for the console."""
    reason = f": {printable(failure.reason)}" if failure.reason else ""
    link = f" ({printable(failure.link)})" if failure.link else ""
    why = f", {printable(cause(failure))}" if failure.cause else ""
    return Text(
        f"known: {failure.rule.id}{why}, {count_words(failure.cases, 'case')}{reason}{link}",
        style="yellow",
    )


def mistake_parts(mistakes: Repairs) -> Iterator[RenderableType]:
    """What to repair first: each mistake and, where it has an example, its smallest message, what
    was expected and what came, and the command that judges it again.
    """
    if not mistakes.first:
        return
    in_cases = f" in {count_words(mistakes.cases, 'case')}" if mistakes.cases else ""
    yield Text(f"{mistakes.headline}{in_cases}; repair first what stands first", "bold")
    for number, repair in enumerate(mistakes.first, 1):
        yield Text(
            printable(f"{number:>2}. {repair.sentence}"),
            "bold red" if repair.binds else "bold yellow",
        )
        if not repair.has_example:
            continue
        finding, lines = repair.finding, list[Text]()
        if repair.failure:
            lines += message_lines(repair.failure, BRIEF)
        lines.append(
            Text.assemble("expected  ", (printable(clip(finding.expected, BRIEF)), "green"))
        )
        actual = (printable(clip(finding.actual, BRIEF)), "red")
        lines.append(Text.assemble("actual    ", actual, f"  at {printable(finding.path)}"))
        if repair.failure and repair.failure.file:
            lines.append(Text(replay(repair.failure)))
        yield Example(Text("\n").join(Text("    ").append(line) for line in lines))
    if mistakes.rest:
        yield Text(f"    {mistakes.rest}")


def render(result: RunResult, *, table: bool = True, details: bool = False) -> RenderableType:
    """The whole console report; without `table` the parts before and after its table, which is
    printed elsewhere. With `details` each broken rule has a panel. Profiles are in the table with
    `details`, or if there is one format.
    """
    failing = [f for f in result.failures if not f.known]
    parts: list[RenderableType] = []
    for fmt in result.formats:
        parts += mistake_parts(repairs(fmt, result))
    parts += _panels(failing, result.strict) if details else []
    if failing and not details:
        counts = _count_broken(failing, result.strict)
        parts.append(Text(f"{counts}: --details shows each, and so does a --report", "dim"))
    parts += [known_failure_text(f) for f in result.failures if f.known]
    parts += [
        Text(f"{fmt.format}: not exercised: {', '.join(fmt.unexercised)}", style="red")
        for fmt in result.formats
        if fmt.unexercised
    ]
    parts += [
        Text(printable(f"record: {entry.entry}: {entry.state}: {remedy(entry)}"), style="red")
        for entry in result.entries
        if entry.wrong
    ]
    if failing and (types := summarize_types(type_matrix(result.formats))):
        parts.append(Text(printable(f"types: {types}"), "cyan"))
    if table:
        parts.append(summary(result, details or len(result.formats) == 1))
    parts += [
        Text(printable(line), style="cyan") for fmt in result.formats if (line := nulled(fmt))
    ]
    cases, messages, certain, *last_sums = sums(result)
    parts.append(
        Text(
            printable(
                f"{cases}, {messages}; {certain}; {last_sums[0]}, decoder {result.header.decoder};"
                f" {last_sums[1]}"
            )
        )
    )
    if result.entries or len(failing) < len(result.failures):
        wrong_entries = sum(entry.wrong for entry in result.entries)
        parts.append(
            Text(
                f"{len(failing)} new failures, {len(result.failures) - len(failing)} known; "
                f"record: {len(result.entries)} entries, {wrong_entries} to correct"
            )
        )
    parts.append(Text(printable(headline(result)), style="bold"))
    return Group(*parts)


def _panels(failing: Sequence[Failure], strict: bool) -> Iterator[FailurePanel]:
    """A panel for each failure; only the first one of a rule repeats the rule's sentence."""
    stated_rules: set[str] = set()
    for broken in failing:
        yield FailurePanel(broken, strict, states_rule=broken.rule.id not in stated_rules)
        stated_rules.add(broken.rule.id)


def _count_broken(failing: Sequence[Failure], strict: bool) -> str:
    """In words: how many rules are broken by how many causes. First those that make the run fail,
    then those that do so only with --strict.
    """
    counting = [f for f in failing if strict or f.rule.obligation is Obligation.MUST]
    not_counting = [f for f in failing if f not in counting]
    words: list[str] = []
    for group, more in ((counting, ""), (not_counting, ", which do not count without --strict")):
        if group:
            rules = count_words(len({failure.rule.id for failure in group}), "broken rule")
            words.append(f"{rules} by {count_words(len(group), 'cause')}{more}")
    return "; ".join(words)


def format_line(fmt: FormatResult, strict: bool) -> str:
    """The result of a format in one line, with its rules that are broken or that no case exercised.
    It is printed as soon as the format is judged.
    """
    matrix_row, _ = matrix(fmt, strict)
    rules = [
        s.result.rule.id
        for s in standings(fmt, strict)
        if s.standing in (Standing.BROKEN, Standing.IDLE)
    ]
    sign = "✗" if rules else matrix_row.sign
    exercised = _count_exercised(fmt)
    line = f"{sign} {fmt.format}: {len(fmt.cases):,} cases, {exercised} rules in reach exercised"
    rule_names = ", ".join(rule.partition("/")[2] for rule in rules[:NAMED])
    more = f" and {len(rules) - NAMED} more" if len(rules) > NAMED else ""
    return f"{line}; fails: {rule_names}{more}" if rules else line


@dataclass(slots=True)
class FirstBroken:
    """A listener that calls `tell` with the first rule that a run breaks, and the seconds until
    then: long before the rule's format is judged. Without `strict` only a case that makes the run
    fail counts.
    """

    tell: Callable[[Rule, float], None]
    strict: bool = False
    _began: float = 0.0
    _reported: bool = False

    def __call__(self, event: Event) -> None:
        """Starts the clock at the beginning of a run, and calls `tell` for the first broken rule."""
        match event:
            case Started():
                self._began, self._reported = time.monotonic(), False
            case Broken(rule=rule, result=result) if not self._reported and (
                self.strict or result.verdict in BAD
            ):
                self._reported = True
                self.tell(rule, time.monotonic() - self._began)


def show(renderable: RenderableType, stderr: bool = False) -> None:
    """Prints something on the console. A line that is longer than the terminal is wide stays one
    line and is not cut.
    """
    console(stderr).print(renderable, crop=False)


def console(stderr: bool = False) -> Console:
    """A console; in a pipe it has no colours, and is as wide as COLUMNS says, else wide enough for
    the table.
    """
    terminal = Console(stderr=stderr, highlight=False)
    if terminal.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return terminal
    return Console(stderr=stderr, highlight=False, width=PIPE_WIDTH)
