"""`run --watch`: judges again at every change of the decoder's source, until Ctrl-C."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, NoReturn

import click

from conformance.commands.shell import Progress
from conformance.commands.spark_options import check_local
from conformance.text import printable
from generators.errors import UsageError

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.commands.run_options import RunOptions
    from conformance.rules.rules import Rule
    from conformance.running.prepared import Settings
    from conformance.running.watching import Turn


def watch(
    settings: Settings, spark_conf: Mapping[str, str], broker_options: BrokerOptions
) -> NoReturn:
    """Does `run --watch`: judges the decoder now and after each change of its source, and prints
    each verdict, until Ctrl-C. Raises UsageError, NothingSelected and HarnessError.
    """
    from conformance.engines.child import QUICK
    from conformance.engines.spark_conf import merge_settings
    from conformance.reports.console import FirstBroken
    from conformance.running.events import noting, together
    from conformance.running.started import start_run
    from conformance.running.watching import FRESH, turns

    def print_broken_rule(rule: Rule, seconds: float) -> None:
        """Prints the first rule that a turn breaks, and the seconds until it was found."""
        click.echo(printable(f"{_clock()} ✗ {rule.id}, after {seconds:.1f} s: {rule.statement}"))

    # Cases are millions of small objects that live until the end: collections among them cost time.
    gc.set_threshold(200_000, 50, 100)
    conf = merge_settings({**QUICK, **FRESH}, spark_conf)
    with Progress() as note, start_run(settings, broker_options, conf, note) as (ready, engine):
        for turn in turns(
            ready, engine, together(noting(note), FirstBroken(print_broken_rule, settings.strict))
        ):
            show(turn, note)
    raise AssertionError("watching has no end but Ctrl-C")


def show(turn: Turn, note: Progress) -> None:
    """Prints the verdict of a turn of `run --watch` (the judging of one state of the source), and
    what comes next: all cases, or waiting for a change. In a turn that judges only the cases that
    failed before, `turn.again` is their number; else it is 0.
    """
    from conformance.reports import console
    from conformance.reports.facts import WORDS

    if turn.result is None:
        click.echo(printable(turn.error))
        state = "not judged"
    elif turn.again:
        failing = sum(len(list(fmt.counting(turn.result.strict))) for fmt in turn.result.formats)
        if failing:
            console.show(console.render(turn.result, table=False))
        state = f"{turn.again - failing} of the {turn.again} cases that failed pass"
        if not failing:
            click.echo(f"{_clock()} {state}, in {turn.seconds:.1f} s; all cases follow")
            return
    else:
        console.show(console.render(turn.result, table=False))
        state = WORDS[turn.result.exit_code]
    click.echo(f"{_clock()} {state}, in {turn.seconds:.1f} s; watching {_files(turn)}; Ctrl-C ends")
    note("waiting for a change")


def check_watch_options(settings: Settings, options: RunOptions) -> None:
    """Raises UsageError for options of `run` that cannot be combined with `--watch`."""
    check_local(options.spark_conf)
    if settings.decoder is None:
        raise UsageError("--watch watches a decoder; name it with --decoder")
    for name, value in (
        ("report", options.report),
        ("update", options.update),
        ("differential", options.differential),
    ):
        if value:
            raise UsageError(f"--watch judges without an end; leave out --{name}")
    if options.style != "pretty":
        raise UsageError(f"--watch writes for people; leave out --format {options.style}")


def _clock() -> str:
    """The time of day, for the beginning of a printed line."""
    return time.strftime("%H:%M:%S")


def _files(turn: Turn) -> str:
    """The names of the watched files, or how many there are if they are more than three."""
    names = [file.name for file in turn.files]
    return f"{', '.join(names)}" if len(names) <= 3 else f"{len(names)} files"
