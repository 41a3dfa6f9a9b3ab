"""`run --messages`: judges a decoder on messages whose truth nobody knows."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.commands.inspecting import read_records
from conformance.commands.shell import Progress, save
from conformance.files import check
from conformance.sheets import grid, marked
from conformance.text import printable
from generators.errors import UsageError
from generators.wire_format import Format, Profile, get

if TYPE_CHECKING:
    from conformance.engines.engine import Engine
    from conformance.inspecting.opening import ReadRecord
    from conformance.running.observed import Observed
    from conformance.running.prepared import Settings

SHOWN: Final = 30
"""Differences that are printed; JSON has all."""
HEADS: Final = ("part", "messages", "first", "reference", "decoder")
_NOT: Final = ("select", "exclude", "expect", "update", "differential", "watch", "fail_fast", "max_fail")


def observe(settings: Settings, spark_conf: Mapping[str, str], options: Mapping[str, Any], style: str) -> int:
    """Prints the result; returns the exit code: 1 if a law is broken, whatever differs. Raises UsageError and HarnessError."""
    from conformance.engines.child import QUICK, ChildEngine, needed
    from conformance.engines.command import engine_for
    from conformance.engines.spark_conf import merged
    from conformance.running.events import noting
    from conformance.running.observed import MOST
    from conformance.running.observed import observe as judge

    for name in _NOT:
        if options[name]:
            raise UsageError(f"--messages judges by the laws alone; leave out --{name.replace('_', '-')}")
    if options["report"]:
        check(options["report"])
    if len(settings.formats) != 1:
        raise UsageError("--messages needs exactly one format; `cdc-conformance inspect` says which wrote them")
    fmt = get(settings.formats[0])
    records = list(itertools.islice(read_records(options["messages"], options["asked"], MOST), MOST))
    profile, told = written_by(fmt, settings.writer_profile, records)
    tables = [user.table for user in settings.tables.schema.tables] if settings.tables else []
    conf = merged(QUICK, spark_conf)
    packages, limit = needed((fmt.name,)), settings.timeout_s
    with Progress() as note, ExitStack() as stack:
        engine: Engine = engine_for(settings.decoder, (fmt.name,), timeout_s=limit, conf=conf, note=note)
        stack.callback(engine.close)
        reference = engine
        if not isinstance(engine, ChildEngine):
            reference = stack.enter_context(ChildEngine(packages=packages, note=note))
        found = judge(settings, engine, reference, profile, fmt, records, tables, noting(note))
    _show(found, style, told)
    code = found.result.exit_code if found.judged else 4
    return finish(found, style, options["report"]) or code


def finish(found: Observed, style: str, report: Path | None) -> int:
    """Off a terminal the verdict on stderr, too, for people who read a log; then the report. Returns the code of what is lost."""
    from conformance.reports import write_all

    if not (style == "pretty" and sys.stdout.isatty()):
        for line in summary(found):
            click.echo(printable(line), err=True)
    return save(lambda: write_all(found.result, report)) if report else 0


def written_by(fmt: Format[Any], asked: str | Sequence[str], records: Sequence[ReadRecord]) -> tuple[Profile, str]:
    """The profile under which messages are decoded, and a sentence of it: the one that the user names, else the newest that
    `inspect` finds in them. Raises UsageError where it finds none."""
    from conformance.cases.catalogue import profiles
    from conformance.inspecting.inspector import inspect

    if asked not in ("*", ("*",)):
        return profiles(fmt, asked)[0], ""
    tally = inspect(records).tallies.get(fmt.name)
    found = tally.profiles() if tally else ()
    if not found:
        raise UsageError(
            f"inspect does not tell which release of {fmt.name} wrote these messages: name it with --writer-profile"
            if tally
            else f"inspect finds no message of {fmt.name} here: name its writer with --writer-profile, if they are of one"
        )
    others = f", and so may {', '.join(found[1:])}" if found[1:] else ""
    return fmt.profile(found[0]), f"decoded as {found[0]} writes them, which may have written them{others} (`inspect`)"


def _show(found: Observed, style: str, told: str) -> None:
    from conformance.reports import console

    if style == "json":
        click.echo(json.dumps(as_json(found), ensure_ascii=True))
        return
    lines = [*([told] if told else []), *summary(found)]
    if style == "markdown":
        click.echo("\n".join([*marked(HEADS, _rows(found)), "", *(f"- {line}" for line in lines)]))
        return
    for failure in found.result.failures:
        console.show(console.failure(failure))
    if found.differences:
        console.show(grid(HEADS, _rows(found)))
    for line in lines:
        click.echo(printable(line))


def _rows(found: Observed) -> Iterator[tuple[str, ...]]:
    for one in found.differences[:SHOWN]:
        cells = (one.what, f"{one.messages:,}", one.place, one.reference, one.decoder)
        yield tuple(printable(cell)[:80] for cell in cells)


def summary(found: Observed) -> Sequence[str]:
    """What was judged, in lines."""
    (fmt,) = found.result.formats
    broken = sorted({failure.rule.id.partition("/")[2] for failure in found.result.failures})
    more = len(found.differences) - SHOWN
    lines = [f"... and {more} more differences; --format json has all"] if more > 0 else []
    if found.tables:
        lines.append(f"typed rows compared: {', '.join(found.tables)}")
    if found.refused:
        lines.append(
            f"the reference decoder refuses {found.refused:,} messages: are they of {fmt.format}, as {found.profile} writes it?"
        )
    if found.judged < found.messages:
        lines.append(f"{found.messages - found.judged:,} messages are of kinds that the decoder does not claim")
    agreed = found.judged - found.unlike
    lines.append(
        f"{found.judged:,} messages: {agreed:,} give the rows of the reference decoder, {found.unlike:,} differ in "
        f"{len(found.differences)} parts, which is no verdict"
    )
    lines.append(f"laws: {'broken: ' + ', '.join(broken) if broken else 'kept'}")
    return lines


def as_json(found: Observed) -> dict[str, Any]:
    """The whole result."""
    (fmt,) = found.result.formats
    return {
        "format": fmt.format,
        "profile": found.profile,
        "decoder": found.result.header.decoder,
        "messages": found.messages,
        "judged": found.judged,
        "differ": found.unlike,
        "refused_by_reference": found.refused,
        "tables": list(found.tables),
        "broken": [
            {
                "rule": failure.rule.id,
                "messages": failure.cases,
                "first": failure.result.case.scenario and failure.result.case.id.split("/messages/", 1)[-1],
                "expected": failure.finding.expected,
                "actual": failure.finding.actual,
            }
            for failure in found.result.failures
        ],
        "differences": [
            {
                "part": one.what,
                "messages": one.messages,
                "first": one.place,
                "reference": one.reference,
                "decoder": one.decoder,
            }
            for one in found.differences
        ],
        "exit_code": found.result.exit_code,
    }
