"""The command `inspect`: which product wrote these messages?"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.commands.brokers import BrokerSpec, asks_broker
from conformance.commands.shell import FORMAT, OutputStyle, Progress, save_files
from conformance.files import check, json_text
from conformance.text import printable
from generators.errors import NothingSelected, UsageError

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.inspecting.inspector import Inspector
    from conformance.inspecting.opening import ReadRecord


def _pretty(inspector: Inspector) -> None:
    """Prints what `inspect` found as headings, tables and lines on the terminal."""
    from rich.text import Text

    from conformance.reports.console import console
    from conformance.reports.inspection import blocks
    from conformance.sheets import grid

    out = console()
    for title, heads, table_rows in blocks(inspector):
        if title:
            out.print(Text(title, style="bold"))
        if heads:
            out.print(grid(heads, table_rows))
            continue
        for line in table_rows:
            out.print(Text(printable(line[0])), soft_wrap=True)


def read_records(
    inputs: Sequence[str], broker_options: BrokerOptions, count: int
) -> Iterator[ReadRecord]:
    """The messages of every input (a file or folder, else a topic or a glob of topics), at most
    `count` of each file and topic. Raises UsageError for an input that is no file, if no broker is
    named.
    """
    from conformance.brokers.broker import parse_bootstrap
    from conformance.inspecting.reading import matching_topics, read_path, read_topic

    bootstrap = parse_bootstrap(broker_options.spec)
    for name in inputs:
        if not Path(name).exists() and bootstrap is None:
            raise UsageError(
                f"{name}: there is no such file; for a topic give --broker HOST:PORT, too"
            )
    for name in inputs:
        if Path(name).exists():
            yield from itertools.islice(read_path(Path(name)), count)
            continue
        cluster = broker_options.at(str(bootstrap))
        for topic in matching_topics(cluster, name):
            yield from itertools.islice(read_topic(cluster, topic), count)


@click.command("inspect", short_help="Says which product wrote messages of unknown origin.")
@click.argument("inputs", nargs=-1, required=True, metavar="TOPIC|FILE...")
@asks_broker(
    click.option(
        "--broker",
        "broker_spec",
        type=BrokerSpec(),
        default="auto",
        metavar="HOST:PORT",
        help="The broker that has the topics; nothing joins a group or commits there.",
    )
)
@click.option(
    "--count",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="At most so many messages of each topic or file.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for inspection.html, a page to read, and inspection.json.",
)
@FORMAT
def inspect_messages(
    inputs: tuple[str, ...],
    broker_options: BrokerOptions,
    count: int,
    report: Path | None,
    style: OutputStyle,
) -> None:
    """Says which format, product, release and options wrote messages, with the evidence, and what cannot be told.

    A FILE is JSON lines (a message a line, or a record with key and value: a corpus, a recording, `kcat -J`), Parquet with the
    columns of Spark's Kafka source, or one message. A name that is no file is a topic of --broker, or a glob of topics.

    \b
    Example: cdc-conformance inspect orders --broker localhost:9092 --format json
    Example: cdc-conformance inspect landing/part-00000.parquet --report inspection
    """
    from conformance.inspecting.inspector import Inspector, as_json
    from conformance.reports import inspection

    if report:
        check(report)
    inspector = Inspector()
    with Progress() as note:
        for record in read_records(inputs, broker_options, count):
            inspector.add(record)
            if inspector.messages % 5000 == 0:
                note(f"{inspector.messages:,} messages")
    if not inspector.messages:
        raise NothingSelected(f"no message in {', '.join(inputs)}")
    match style:
        case "json":
            click.echo(json_text(as_json(inspector), indent=1))
        case "markdown":
            click.echo(inspection.markdown(inspector))
        case _:
            _pretty(inspector)
    if report:
        sys.exit(save_files(lambda: inspection.write(inspector, report)))


COMMANDS = (inspect_messages,)
"""Commands for `cli`."""
