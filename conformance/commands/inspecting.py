"""The command `inspect`: which product wrote these messages?"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from conformance.commands.brokers import BrokerSpec, asks_broker
from conformance.commands.shell import FORMAT, Progress, chosen
from conformance.text import printable
from generators.errors import NothingSelected, UsageError

if TYPE_CHECKING:
    from conformance.brokers.asked import Asked
    from conformance.inspecting.inspector import Group, Inspector, Tally
    from conformance.inspecting.opening import Record

COLUMNS_SHOWN: Final = 40
TABLES_SHOWN: Final = 20

Block: TypeAlias = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]
"""A title, the heads of a table and its rows; without heads the rows are lines."""


def blocks(found: Inspector) -> Iterator[Block]:
    """What is told, for people."""
    groups = found.groups()
    counted = f"{found.messages:,} messages" + (f", {found.nulls:,} of them null" if found.nulls else "")
    told = "; ".join(" or ".join(one.book.format for one in group.tallies) for group in groups)
    yield "", (), [(f"{counted}: {told or 'no known format'}",)]
    for group in groups:
        if len(group.tallies) > 1:
            yield "The writer cannot be told", (), list(_open(group))
        for tally in group.tallies:
            yield from _writer(tally)
    if found.problems:
        rows = [
            (f"{one.count:,}", ", ".join(one.formats) or "none", one.why, f"{one.samples[0].place}: {one.samples[0].text}")
            for one in sorted(found.problems.values(), key=lambda one: -one.count)
        ]
        if found.other_problems:
            rows.append((f"{found.other_problems:,}", "", "other reasons", ""))
        yield "Messages that no known profile writes", ("messages", "nearest format", "why", "first"), rows


def _open(group: Group) -> Iterator[tuple[str]]:
    """Which formats may be meant, and what would decide."""
    names = " or ".join(one.book.format for one in group.tallies)
    yield (f"Nothing tells which wrote {group.messages:,} of the messages: {names}.",)
    every = frozenset.union(*(one.members for one in group.tallies))
    for one in group.tallies:
        against = [f"has the member {name}" for name in sorted(every - one.members)] + [f"`{text}`" for text in one.never()]
        if against:
            yield (f"A message of which one of these is true is not of {one.book.format}: {'; '.join(against)}.",)


def _writer(one: Tally) -> Iterator[Block]:
    from conformance.inspecting.inspector import BOTH, UNTOLD, YES, command

    told = one.options
    of = ", ".join(one.releases) or BOTH
    lines = [(f"product: {one.book.product}",), (f"messages: {one.messages:,}",)]
    if one.unknown_versions:
        lines.append((f"release: {', '.join(one.unknown_versions)}, which no profile is of; the nearest older: {of}",))
    else:
        lines.append((f"release: {_range(one.releases, one.choices.releases) if one.releases else BOTH}",))
    for state, label in ((YES, "options"), (BOTH, BOTH), (UNTOLD, UNTOLD)):
        if named := [option for option, is_ in told.items() if is_ == state]:
            lines.append((f"{label}: {', '.join(named)}",))
    if text := command(one):
        lines.append((text,))
    yield one.book.format, (), lines
    rows = [
        (f.sign.says, f"{f.count:,}", _tells(f.sign, one), f.sign.citation or "the option", f"{f.sample.place}")
        for f in one.found.values()
    ]
    yield f"{one.book.format}: evidence", ("what is seen", "messages", "tells", "source", "first"), rows
    tables = [
        (f"{t.database}.{t.table}", f"{t.messages:,}", ", ".join(t.keys), _columns(t.types))
        for t in itertools.islice(one.tables.values(), TABLES_SHOWN)
    ]
    if tables:
        more = one.more_tables or len(one.tables) > TABLES_SHOWN
        title = f"{one.book.format}: tables" + (f", the first {TABLES_SHOWN}" if more else "")
        yield title, ("table", "messages", "key", "columns"), tables
    every = len(one.profiles())
    losses = [
        (text, citation, "every one" if len(names) == every else ", ".join(names))
        for (text, citation), names in one.losses().items()
    ]
    if losses:
        yield f"{one.book.format}: lost on this wire", ("what", "source", "profiles"), losses


def _tells(sign: Any, one: Tally) -> str:
    parts = []
    if sign.releases and set(sign.releases) != set(one.choices.releases):
        parts.append(f"release {_range(sign.releases, one.choices.releases)}")
    parts += [*sign.given, *(f"not {option}" for option in sign.without)]
    return ", ".join(parts)


def _range(some: Sequence[str], known: Sequence[str]) -> str:
    """Some of the known releases in few words: `v1`, `v1 or v2`, `v1 to v3`, `v3 or later`."""
    first, last = known.index(some[0]), known.index(some[-1])
    if (len(some) < 3 and last + 1 < len(known)) or last - first + 1 != len(some):
        return " or ".join(some)
    if len(some) == 1:
        return some[0]
    return f"{some[0]} or later" if last + 1 == len(known) else f"{some[0]} to {some[-1]}"


def _columns(types: dict[str, list[str]]) -> str:
    listed = [f"{name} {' or '.join(kinds)}" for name, kinds in itertools.islice(types.items(), COLUMNS_SHOWN)]
    return ", ".join(listed) + (f", and {len(types) - COLUMNS_SHOWN} more" if len(types) > COLUMNS_SHOWN else "")


def markdown(found: Inspector) -> str:
    """What is told, as Markdown."""
    lines: list[str] = []
    for title, heads, rows in blocks(found):
        lines += [f"## {title}", ""] if title else []
        if heads:
            lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
            lines += ["| " + " | ".join(printable(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
        else:
            lines += [f"- {printable(row[0])}" if title else printable(row[0]) for row in rows]
        lines.append("")
    return "\n".join(lines)


def _pretty(found: Inspector) -> None:
    from rich.table import Table
    from rich.text import Text

    from conformance.reports.console import console

    out = console()
    for title, heads, rows in blocks(found):
        if title:
            out.print(Text(title, style="bold"))
        if not heads:
            for row in rows:
                out.print(Text(printable(row[0])), soft_wrap=True)
        else:
            table = Table(*heads, header_style="bold", pad_edge=False)
            for row in rows:
                table.add_row(*(Text(printable(cell)) for cell in row))
            out.print(table)


def read_records(inputs: Sequence[str], asked: Asked, count: int) -> Iterator[Record]:
    """The messages of every input, at most so many of each. Raises UsageError for one that is neither file nor topic."""
    from conformance.brokers.broker import parse_bootstrap
    from conformance.inspecting.reading import from_path, from_topic, topics

    bootstrap = parse_bootstrap(asked.spec)
    for name in inputs:
        if not Path(name).exists() and bootstrap is None:
            raise UsageError(f"{name}: there is no such file; for a topic give --broker HOST:PORT, too")
    for name in inputs:
        if Path(name).exists():
            yield from itertools.islice(from_path(Path(name)), count)
            continue
        cluster = asked.at(str(bootstrap))
        for topic in topics(cluster, name):
            yield from itertools.islice(from_topic(cluster, topic), count)


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
    "--count", type=click.IntRange(1), default=100_000, show_default=True, help="At most so many messages of each topic or file."
)
@FORMAT
def inspect_messages(inputs: tuple[str, ...], asked: Asked, count: int, style: str | None) -> None:
    """Says which format, product, release and options wrote messages, with the evidence, and what cannot be told.

    A FILE is JSON lines (a message a line, or a record with key and value: a corpus, a recording, `kcat -J`), Parquet with the
    columns of Spark's Kafka source, or one message. A name that is no file is a topic of --broker, or a glob of topics.

    \b
    Example: cdc-conformance inspect orders --broker localhost:9092 --format json
    """
    from conformance.inspecting.inspector import Inspector, as_json

    found = Inspector()
    with Progress() as note:
        for record in read_records(inputs, asked, count):
            found.add(record)
            if found.messages % 5000 == 0:
                note(f"{found.messages:,} messages")
    if not found.messages:
        raise NothingSelected(f"no message in {', '.join(inputs)}")
    match chosen(style):
        case "json":
            click.echo(json.dumps(as_json(found), ensure_ascii=False, indent=1))
        case "markdown":
            click.echo(markdown(found))
        case _:
            _pretty(found)


COMMANDS = (inspect_messages,)
"""Commands for `cli`."""
