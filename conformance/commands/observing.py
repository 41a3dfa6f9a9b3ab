"""`run --messages`: judges a decoder on messages whose truth nobody knows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from conformance.commands.inspecting import read_records
from conformance.commands.shell import (
    OutputStyle,
    Progress,
    print_notice,
    save_files,
    shares_output,
)
from conformance.files import check
from conformance.sheets import grid, markdown_table
from conformance.text import printable
from generators.errors import UsageError
from generators.profiles import Profile
from generators.wire_format import Format, get

if TYPE_CHECKING:
    from conformance.commands.run_options import RunOptions
    from conformance.engines.engine import Engine
    from conformance.inspecting.opening import ReadRecord
    from conformance.running.observed import Observed
    from conformance.running.prepared import Settings

SHOWN: Final = 30
"""How many differences are printed; JSON has all."""
HEADS: Final = ("part", "messages", "first", "reference", "decoder")
"""The heads of the table of differences."""


def observe(
    settings: Settings,
    spark_conf: Mapping[str, str],
    options: RunOptions,
) -> int:
    """Does `run --messages`: judges the decoder on the user's messages by the laws, compares it
    with the reference decoder, and prints the result. Returns the exit code: 1 if a law is broken,
    4 if no message was judged; differences from the reference decoder do not count. Raises
    UsageError and HarnessError.
    """
    from conformance.engines.child import QUICK, ChildEngine, required_packages
    from conformance.engines.command import engine_for
    from conformance.engines.spark_conf import merge_settings
    from conformance.running.events import noting
    from conformance.running.observed import MOST, observe_messages

    for name, value in (
        ("select", options.select),
        ("exclude", options.exclude),
        ("expect", options.expect),
        ("update", options.update),
        ("differential", options.differential),
        ("watch", options.watch),
        ("fail_fast", options.fail_fast),
        ("max_fail", options.max_fail),
    ):
        if value:
            raise UsageError(
                f"--messages judges by the laws alone; leave out --{name.replace('_', '-')}"
            )
    if options.report:
        check(options.report)
    if len(settings.formats) != 1:
        raise UsageError(
            "--messages needs exactly one format; `cdc-conformance inspect` says which wrote them"
        )
    fmt = get(settings.formats[0])
    records = list(
        itertools.islice(read_records(options.messages, options.broker_options, MOST), MOST)
    )
    profile, sentence = written_by(fmt, settings.writer_profile, records)
    tables = [user.table for user in settings.tables.schema.tables] if settings.tables else []
    conf = merge_settings(QUICK, spark_conf)
    packages, limit = required_packages((fmt.name,)), settings.timeout_s
    with Progress() as note, ExitStack() as stack:
        engine: Engine = engine_for(
            settings.decoder, (fmt.name,), timeout_s=limit, conf=conf, note=note
        )
        stack.callback(engine.close)
        reference = engine
        if not isinstance(engine, ChildEngine):
            reference = stack.enter_context(ChildEngine(packages=packages, note=note))
        observed = observe_messages(
            settings, engine, reference, profile, fmt, records, tables, noting(note)
        )
    _show(observed, options.style, sentence)
    code = observed.result.exit_code if observed.judged else 4
    return finish(observed, options.style, options.report) or code


def finish(observed: Observed, style: OutputStyle, report: Path | None) -> int:
    """Ends `run --messages`: in the styles for programs and pages prints the summary on stderr, for
    people, unless stdout and stderr go to the same place; then writes the report. Returns the exit
    code for a report that could not be written, else 0.
    """
    from conformance.reports import write_all

    if style != "pretty" and not shares_output():
        for line in summary(observed):
            print_notice(printable(line))
    return save_files(lambda: write_all(observed.result, report)) if report else 0


def written_by(
    fmt: Format[Any], profile_globs: str | Sequence[str], records: Sequence[ReadRecord]
) -> tuple[Profile, str]:
    """The profile as whose messages the records are decoded: the one that the user names, else the
    newest that `inspect` finds possible; and a sentence on that choice for the user ("" if he named
    it). Raises UsageError where `inspect` finds none.
    """
    from conformance.cases.catalogue import select_profiles
    from conformance.inspecting.inspector import inspect

    if profile_globs not in ("*", ("*",)):
        return select_profiles(fmt, profile_globs)[0], ""
    tally = inspect(records).tallies.get(fmt.name)
    names = tally.profiles() if tally else ()
    if not names:
        raise UsageError(
            f"inspect does not tell which release of {fmt.name} wrote these messages: name it with"
            " --writer-profile"
            if tally
            else (
                f"inspect finds no message of {fmt.name} here: name its writer with"
                " --writer-profile, if they are of one"
            )
        )
    alternatives = f", and so may {', '.join(names[1:])}" if names[1:] else ""
    return (
        fmt.profile(names[0]),
        f"decoded as {names[0]} writes them, which may have written them{alternatives} (`inspect`)",
    )


def _show(observed: Observed, style: OutputStyle, sentence: str) -> None:
    """Prints what `run --messages` observed, in the style: failures of laws (rules that need no
    expected output), differences from the reference decoder, the summary; `sentence` says which
    profile the messages were decoded as.
    """
    from conformance.reports import console

    if style == "json":
        click.echo(json.dumps(as_json(observed), ensure_ascii=True))
        return
    lines = [*([sentence] if sentence else []), *summary(observed)]
    if style == "markdown":
        click.echo(
            "\n".join(
                [
                    *markdown_table(HEADS, _difference_cells(observed)),
                    "",
                    *(f"- {line}" for line in lines),
                ]
            )
        )
        return
    for failure in observed.result.failures:
        console.show(console.failure(failure))
    if observed.differences:
        console.show(grid(HEADS, _difference_cells(observed)))
    for line in lines:
        click.echo(printable(line))


def _difference_cells(observed: Observed) -> Iterator[tuple[str, ...]]:
    """The table rows of the first SHOWN differences from the reference decoder; each cell is cut to
    80 characters.
    """
    for difference in observed.differences[:SHOWN]:
        cells = (
            difference.what,
            f"{difference.messages:,}",
            difference.place,
            difference.reference,
            difference.decoder,
        )
        yield tuple(printable(cell)[:80] for cell in cells)


def summary(observed: Observed) -> Sequence[str]:
    """The closing lines of `run --messages`: how many messages were judged or left out, how many
    give the same rows as with the reference decoder, and which laws (rules that need no expected
    output) are broken.
    """
    (fmt,) = observed.result.formats
    broken = sorted({failure.rule.id.partition("/")[2] for failure in observed.result.failures})
    more = len(observed.differences) - SHOWN
    lines = [f"... and {more} more differences; --format json has all"] if more > 0 else []
    if observed.tables:
        lines.append(f"typed rows compared: {', '.join(observed.tables)}")
    if refused_count := observed.refused_messages:
        lines.append(
            f"the reference decoder refuses {refused_count:,} messages: are they of {fmt.format},"
            f" as {observed.profile} writes it?"
        )
    if observed.judged < observed.messages:
        lines.append(
            f"{observed.messages - observed.judged:,} messages are of kinds that the decoder does"
            " not claim"
        )
    agreed = observed.judged - observed.unlike
    lines.append(
        f"{observed.judged:,} messages: {agreed:,} give the rows of the reference decoder,"
        f" {observed.unlike:,} differ in {len(observed.differences)} parts, which is no verdict"
    )
    lines.append(f"laws: {'broken: ' + ', '.join(broken) if broken else 'kept'}")
    return lines


def as_json(observed: Observed) -> dict[str, Any]:
    """The result of `run --messages` as a JSON object: counts, differences from the reference
    decoder, and failures of laws.
    """
    (fmt,) = observed.result.formats
    return {
        "format": fmt.format,
        "profile": observed.profile,
        "decoder": observed.result.header.decoder,
        "messages": observed.messages,
        "judged": observed.judged,
        "differ": observed.unlike,
        "refused_by_reference": observed.refused_messages,
        "tables": list(observed.tables),
        "broken": [
            {
                "rule": failure.rule.id,
                "messages": failure.cases,
                "first": (
                    failure.result.case.scenario
                    and failure.result.case.id.split("/messages/", 1)[-1]
                ),
                "expected": failure.finding.expected,
                "actual": failure.finding.actual,
            }
            for failure in observed.result.failures
        ],
        "differences": [
            {
                "part": difference.what,
                "messages": difference.messages,
                "first": difference.place,
                "reference": difference.reference,
                "decoder": difference.decoder,
            }
            for difference in observed.differences
        ],
        "exit_code": observed.result.exit_code,
    }
