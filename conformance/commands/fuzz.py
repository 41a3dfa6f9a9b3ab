"""The command `fuzz`: sends garbage through decoders and prints the verdicts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.commands.options import SelectionOptions, pass_options
from conformance.commands.shell import (
    ALL,
    FORMAT,
    FORMATS_GIVEN,
    PROFILES,
    SEED,
    SPARK_DECODER,
    FiniteFloat,
    OutputStyle,
    Progress,
    save_files,
    select_formats,
    user_tables,
)
from conformance.commands.spark_options import spark_options
from conformance.files import json_text
from conformance.sheets import grid, markdown_table

if TYPE_CHECKING:
    from conformance.reports.excerpt import ValueExcerpt
    from conformance.running.fuzzing import Finding, Fuzzed


def render(results: Sequence[Fuzzed]) -> Any:
    """The results of `fuzz` for the terminal: a table of the verdicts, and the findings below
    it.
    """
    from rich.console import Group
    from rich.text import Text

    from conformance.reports.console import style_excerpt

    verdict_rows, parts = list[tuple[str | Text, ...]](), list[Text]()
    for run in results:
        data = run.as_json()
        errored = sum(run.count(outcome=o) for o in ("raised", "hung", "died", "unjudged"))
        accepted, doubtful = sum(data["accepted"].values()), sum(data["doubtful"].values())
        figures = (
            run.mutants,
            data["readable"],
            data["unreadable"],
            data["rejected"],
            accepted,
            doubtful,
            data["lost"],
            errored,
        )
        peak = "?" if run.peak_bytes is None else f"{data['peak_mb']:,}"
        name = Text(run.format, style="green" if run.ok else "red")
        verdict_rows.append(
            (
                name,
                *(f"{n:,}" for n in figures),
                f"{run.seconds:.1f}",
                f"{data['per_second']:,}",
                peak,
            )
        )
        if run.too_large:
            parts.append(
                Text(
                    f"{run.format}: {data['peak_mb']:,} MB of memory, limit"
                    f" {data['limit_mb']:,} MB",
                    style="red",
                )
            )
        for finding in run.findings:
            parts.append(Text(_line(finding), style="red" if finding.fails else "yellow"))
            parts += [
                Text.assemble(f"    {part:<8}", style_excerpt(excerpt))
                for part, excerpt in _excerpts(finding)
            ]
        if run.interrupted:
            parts.append(
                Text(f"{run.format}: interrupted; these are the results so far", style="yellow")
            )
    return Group(grid(HEADS, verdict_rows, HEADS[:1]), *parts)


HEADS: Final = (
    *(
        "format",
        "mutants",
        "readable",
        "unreadable",
        "rejected",
        "accepted",
        "doubtful",
        "lost",
        "errored",
    ),
    *("seconds", "per s", "peak MB"),
)
"""The heads of the table of verdicts."""
SHOWN: Final = 160
"""How many characters of an error's first line are shown."""


def _line(finding: Finding) -> str:
    """A finding of `fuzz` in one line: the rule, how many mutants had which outcome, the way in
    which they were mutated, and what the smallest of them is, whose excerpt follows.
    """
    tally = finding.tally
    if tally.error:
        detail = f" {tally.error.splitlines()[0][:SHOWN]}"
    else:
        detail = f" as {tally.kinds}" if tally.kinds else ""
    head = f"{finding.rule.id}: {tally.count} {tally.outcome}{detail} by {tally.way}"
    return (
        f"{head}; the smallest, {tally.offset} ({tally.reason or tally.state}, {tally.size} bytes):"
    )


def _excerpts(finding: Finding) -> list[tuple[str, ValueExcerpt]]:
    """The smallest message of a finding as (name of the part, excerpt) pairs, marked where it stops
    being well-formed: the value, before it the key if the value cannot be understood without it; []
    if no message is known.
    """
    from conformance.reports.excerpt import BRIEF, Field, excerpt_record
    from conformance.reports.wire import MALFORMED

    if finding.message is None:
        return []
    message = finding.message
    excerpt = excerpt_record(message.key, message.value, Field(MALFORMED), BRIEF)
    key = [("key", excerpt.key)] if excerpt.key and excerpt.key_matters else []
    return [*key, ("message", excerpt.value)]


def markdown(results: Sequence[Fuzzed]) -> str:
    """The results of `fuzz` as a Markdown table."""
    head = (
        "format",
        "verdict",
        "mutants",
        "unreadable",
        "rejected",
        "accepted",
        "doubtful",
        "lost",
        "raised",
        "hung",
    )
    columns = (*head, "seconds", "per_second", "peak_mb")
    verdicts = (
        run.as_json()
        | {
            "accepted": run.count(outcome="accepted"),
            "doubtful": run.count("doubtful"),
        }
        for run in results
    )
    cells = ([verdict[column] for column in columns] for verdict in verdicts)
    return "\n".join(markdown_table(columns, cells))


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOptions(SelectionOptions):
    """The options of `fuzz`."""

    count: int
    decoder: str | None
    huge: bool
    timeout: float
    max_memory: int
    report: Path | None
    spark_conf: Mapping[str, str]
    style: OutputStyle


@click.command(short_help="Sends mutated messages; checks that every offset is answered.")
@FORMATS_GIVEN
@ALL
@click.option(
    "--count",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Mutated messages per format.",
)
@click.option(
    "--decoder",
    metavar="SPEC",
    type=SPARK_DECODER,
    help="A decoder instead of the reference; one format only.",
)
@PROFILES
@click.option(
    "--huge/--no-huge", default=True, show_default=True, help="Adds a few messages of 25 MB."
)
@click.option(
    "--timeout",
    type=FiniteFloat(min=0.1),
    default=300,
    show_default=True,
    help="Seconds a decode call may take.",
)
@click.option(
    "--max-memory",
    type=click.IntRange(1),
    default=4096,
    show_default=True,
    help="Memory limit of Spark's processes, in MB.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for the findings, as JSON lines.",
)
@SEED
@spark_options
@user_tables
@FORMAT
@pass_options(FuzzOptions)
def fuzz(options: FuzzOptions) -> None:
    """Sends mutated messages: every offset answered, no exception, bounded memory, silent acceptance counted.

    \b
    Example: cdc-conformance fuzz ticdc-canal-json --count 20000 --report garbage
    """
    from conformance.engines.child import OURS, QUICK, ChildEngine, required_packages
    from conformance.engines.spark_conf import merge_settings
    from conformance.reports.console import console
    from conformance.running.fuzzing import Fuzzer, FuzzSettings, save

    decoder = options.decoder
    names, tables = select_formats(options, decoder)
    settings = FuzzSettings(
        count=options.count,
        seed=options.seed,
        decoder=decoder or "",
        writer_profile=options.writer_profile,
        timeout_s=options.timeout,
        memory_mb=options.max_memory,
        huge=options.huge,
        tables=tables,
    )
    results: list[Fuzzed] = []
    lost = 0
    conf = merge_settings(QUICK if decoder else OURS, options.spark_conf)
    style, report = options.style, options.report
    with Progress() as note:
        for name in names:
            # One child per format: memory peaks are measured separately, and an out-of-memory JVM
            # affects one format only.
            with ChildEngine(
                packages=required_packages((name,)),
                timeout_s=settings.timeout_s,
                conf=conf,
                note=note,
            ) as engine:
                results.append(Fuzzer(engine, name, settings, note).run())
            if style == "json":
                click.echo(json_text(results[-1].as_json()))
            if report:
                lost = save_files(partial(save, report, results[-1])) or lost
            if results[-1].interrupted:
                break
    if style == "pretty":
        console().print(render(results))
    elif style == "markdown":
        click.echo(markdown(results))
    if any(run.interrupted for run in results):
        sys.exit(130)
    sys.exit(lost or (0 if all(run.ok for run in results) else 1))


COMMANDS = (fuzz,)
"""Commands for `cli`."""
