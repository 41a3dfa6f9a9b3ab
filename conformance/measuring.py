"""The commands that measure decoders: `bench`."""

from __future__ import annotations

import json

import click

from conformance.shell import FORMAT, Progress, chosen, known
from generators.errors import UsageError


@click.command()
@click.argument("formats", nargs=-1, metavar="[FORMAT]...")
@click.option("--decoder", metavar="SPEC", help="Another decoder than the reference; one format only.")
@click.option("--messages", type=click.IntRange(100), default=20_000, show_default=True, help="Messages per measurement.")
@click.option("--rounds", type=click.IntRange(3), default=7, show_default=True, help="Timed rounds after warm-up.")
@FORMAT
def bench(formats: tuple[str, ...], decoder: str | None, messages: int, rounds: int, style: str | None) -> None:
    """Batch decode throughput against the baseline: same process, interleaved, noop sink, as a ratio with its range.

    \b
    Example: cdc-conformance bench ticdc-canal-json --messages 50000
    """
    from conformance import bench as measure
    from conformance.engine import ChildEngine, needed
    from conformance.report.console import console

    names = known(formats)
    if decoder and len(formats) != 1:
        raise UsageError("--decoder measures one format; name it")
    with Progress() as note, ChildEngine(packages=needed(names), conf={}) as engine:
        results = measure.bench(engine, names, decoder, messages, rounds, note)
    if chosen(style) == "pretty":
        console().print(measure.render(results))
    else:
        for result in results:
            click.echo(json.dumps(result))


COMMANDS = (bench,)
"""What `cli` adds to its own."""
