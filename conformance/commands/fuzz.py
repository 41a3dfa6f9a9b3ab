"""The command `fuzz`: sends garbage through decoders and prints the verdicts."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.commands.shell import (
    ALL,
    FORMAT,
    FORMATS_GIVEN,
    PROFILES,
    SEED,
    SPARK_DECODER,
    Progress,
    chosen,
    selected,
    user_tables,
)
from conformance.commands.shell import save as keep
from conformance.commands.spark_options import spark_options
from conformance.sheets import grid, marked

if TYPE_CHECKING:
    from conformance.running.fuzzing import Finding, Fuzzed


def render(results: Sequence[Fuzzed]) -> Any:
    """The verdicts as a table, then the findings."""
    from rich.console import Group
    from rich.text import Text

    rows, parts = list[tuple[str | Text, ...]](), list[Text]()
    for one in results:
        told = one.as_json()
        errored = sum(one.count(outcome=o) for o in ("raised", "hung", "died", "unjudged"))
        accepted, doubtful = sum(told["accepted"].values()), sum(told["doubtful"].values())
        figures = (one.mutants, told["readable"], told["unreadable"], told["rejected"], accepted, doubtful, told["lost"], errored)
        peak = "?" if one.peak_bytes is None else f"{told['peak_mb']:,}"
        name = Text(one.format, style="green" if one.ok else "red")
        rows.append((name, *(f"{n:,}" for n in figures), f"{one.seconds:.1f}", f"{told['per_second']:,}", peak))
        if one.too_large:
            parts.append(Text(f"{one.format}: {told['peak_mb']:,} MB of memory, limit {told['limit_mb']:,} MB", style="red"))
        parts += [Text(_line(f), style="red" if f.fails else "yellow") for f in one.findings]
        if one.interrupted:
            parts.append(Text(f"{one.format}: interrupted; these are the results so far", style="yellow"))
    return Group(grid(HEADS, rows, HEADS[:1]), *parts)


HEADS: Final = (
    *("format", "mutants", "readable", "unreadable", "rejected", "accepted", "doubtful", "lost", "errored"),
    *("seconds", "per s", "peak MB"),
)
SHOWN: Final = 160


def _line(finding: Finding) -> str:
    one, value = finding.tally, finding.message.value if finding.message else None
    text = "no value" if value is None else repr(value[:SHOWN])[1:] + ("..." if len(value) > SHOWN else "")
    told = f" {one.error.splitlines()[0][:SHOWN]}" if one.error else f" as {one.kinds}" if one.kinds else ""
    head = f"{finding.rule.id}: {one.count} {one.outcome}{told} by {one.way}"
    return f"{head}; the smallest, {one.offset} ({one.reason or one.state}, {one.size} bytes): {text}"


def markdown(results: Sequence[Fuzzed]) -> str:
    """The verdicts as a Markdown table."""
    head = ("format", "verdict", "mutants", "unreadable", "rejected", "accepted", "doubtful", "lost", "raised", "hung")
    columns = (*head, "seconds", "per_second", "peak_mb")
    told = (one.as_json() | {"accepted": one.count(outcome="accepted"), "doubtful": one.count("doubtful")} for one in results)
    return "\n".join(marked(columns, ([one[column] for column in columns] for one in told)))


@click.command(short_help="Sends mutated messages; checks that every offset is answered.")
@FORMATS_GIVEN
@ALL
@click.option("--count", type=click.IntRange(1), default=100_000, show_default=True, help="Mutated messages per format.")
@click.option("--decoder", metavar="SPEC", type=SPARK_DECODER, help="A decoder instead of the reference; one format only.")
@PROFILES
@click.option("--huge/--no-huge", default=True, show_default=True, help="Adds a few messages of 25 MB.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=300, show_default=True, help="Seconds a decode call may take.")
@click.option(
    "--max-memory", type=click.IntRange(1), default=4096, show_default=True, help="Memory limit of Spark's processes, in MB."
)
@click.option("--report", type=click.Path(path_type=Path, file_okay=False), help="Directory for the findings, as JSON lines.")
@SEED
@spark_options
@user_tables
@FORMAT
def fuzz(**options: Any) -> None:
    """Sends mutated messages: every offset answered, no exception, bounded memory, silent acceptance counted.

    \b
    Example: cdc-conformance fuzz ticdc-canal-json --count 20000 --report garbage
    """
    from conformance.engines.child import OURS, QUICK, ChildEngine, needed
    from conformance.engines.spark_conf import merged
    from conformance.reports.console import console
    from conformance.running.fuzzing import Fuzzer, FuzzSettings, save

    decoder = options["decoder"]
    names, tables = selected(options, decoder)
    settings = FuzzSettings(
        count=options["count"],
        seed=options["seed"],
        decoder=decoder or "",
        writer_profile=options["writer_profile"],
        timeout_s=options["timeout"],
        memory_mb=options["max_memory"],
        huge=options["huge"],
        tables=tables,
    )
    results: list[Fuzzed] = []
    lost = 0
    conf, style = merged(QUICK if decoder else OURS, options["spark_conf"]), chosen(options["style"])
    with Progress() as note:
        for name in names:
            # One child per format: memory peaks are measured separately, and an out-of-memory JVM affects one format only.
            with ChildEngine(packages=needed((name,)), timeout_s=settings.timeout_s, conf=conf, note=note) as engine:
                results.append(Fuzzer(engine, name, settings, note).run())
            if style == "json":
                click.echo(json.dumps(results[-1].as_json(), ensure_ascii=False))
            if options["report"]:
                lost = keep(lambda: save(options["report"], results[-1])) or lost
            if results[-1].interrupted:
                break
    if style == "pretty":
        console().print(render(results))
    elif style == "markdown":
        click.echo(markdown(results))
    if any(one.interrupted for one in results):
        sys.exit(130)
    sys.exit(lost or (0 if all(one.ok for one in results) else 1))


COMMANDS = (fuzz,)
"""Commands for `cli`."""
