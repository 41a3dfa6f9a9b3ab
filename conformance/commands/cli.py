"""The command line: click commands over the library; data go to stdout, messages to stderr."""

from __future__ import annotations

import errno
import gc
import io
import json
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from conformance.commands import (
    catalogue,
    completion,
    config,
    doctor,
    fuzz,
    inspecting,
    interrupts,
    measuring,
    new_decoder,
    new_format,
    pipelines,
    prepare,
    publish,
    record,
    streams,
)
from conformance.commands.brokers import BROKER, PREFIX, TOPIC, asks_broker
from conformance.commands.observing import observe
from conformance.commands.options import pass_options
from conformance.commands.pipes import outlive_readers
from conformance.commands.run_options import RunOptions
from conformance.commands.shell import (
    ALL,
    ASSIGNMENT,
    BUDGET,
    CASE_ID,
    DECODER,
    FAILURE,
    FORMAT,
    FORMATS_GIVEN,
    PROFILES,
    SEED,
    FiniteFloat,
    OutputStyle,
    Progress,
    check_formats,
    print_notice,
    save_files,
    select_formats,
    shares_output,
    user_tables,
    without_secrets,
)
from conformance.commands.spark_options import spark_options
from conformance.commands.watching import check_watch_options, watch
from conformance.engines.spark_conf import BOUND
from conformance.engines.specs import is_command
from conformance.files import FAILURES, check, json_text
from conformance.text import printable, printable_lines
from generators.errors import HarnessError, NothingSelected, UsageError

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.engines.engine import Engine
    from conformance.judging.known import Expectations
    from conformance.judging.known_files import Update
    from conformance.judging.results import RunResult
    from conformance.reports import records
    from conformance.rules.rules import Rule
    from conformance.running.events import Listener
    from conformance.running.prepared import Settings
    from conformance.running.replay import Crash


FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""The error numbers of a disk that is full or read-only."""


@click.group(
    cls=config.Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(package_name="cdc-conformance")
@config.options
def cli() -> None:
    """Conformance harness for CDC message decoders on Spark.

    \b
    Exit codes: 0 conforms; 1 does not; 2 usage or configuration; 3 harness or environment;
    4 nothing selected or judged; 5 the record of known failures is out of date; 130 interrupted.

    \b
    Example: cdc-conformance run ticdc-canal-json --decoder mine.py:decode
    Example: cdc-conformance --no-config run --all
    """


def main() -> None:
    """Runs the command line. An error that the user can fix is one line, not a stack trace."""
    interrupts.install_handlers()
    from conformance.files import tables_in_cache

    tables_in_cache()
    outlive_readers()
    try:
        with interrupts.surface_interrupts():
            cli.main(prog_name="cdc-conformance", standalone_mode=False)
    except HarnessError as error:
        print_notice(f"cdc-conformance: {error}")
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        usage_text = io.StringIO()
        error.show(file=usage_text)
        sys.stderr.write(printable_lines(usage_text.getvalue()))
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        print_notice("cdc-conformance: interrupted; all started processes have been stopped")
        sys.exit(130)
    except OSError as error:
        if error.errno not in FULL:
            _bug()
        where = f": {printable(str(error.filename))}" if error.filename else ""
        print_notice(
            f"cdc-conformance: {error.strerror}{where}. Free space, or set TMPDIR to another folder"
        )
        sys.exit(HarnessError.exit_code)
    except Exception:  # noqa: BLE001 - exit 1 would read as a verdict on the decoder
        _bug()


def _bug() -> NoReturn:
    """Prints the stack trace of the current exception as a bug of the harness, and exits with code
    3.
    """
    sys.stderr.write(printable_lines(traceback.format_exc()))
    print_notice(
        "cdc-conformance: this is a bug of the harness; please report it with the lines above"
    )
    sys.exit(HarnessError.exit_code)


@cli.command()
@FORMATS_GIVEN
@ALL
@click.option(
    "--decoder",
    metavar="SPEC",
    type=DECODER,
    help="module:function, path/file.py:function, or cmd:COMMAND; default: the reference decoders.",
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="NAME=EXPRESSION",
    type=ASSIGNMENT,
    help="Renames the decoder's columns: after=row.after.",
)
@click.option(
    "--level",
    type=click.Choice(["changes", "rows", "both"]),
    default="both",
    help="The level or levels to judge.",
)
@PROFILES
@BUDGET
@SEED
@asks_broker(BROKER, TOPIC, PREFIX)
@click.option(
    "--select",
    multiple=True,
    metavar="ID",
    type=CASE_ID,
    help="Only these cases or rules: an id's prefix or a glob; repeatable.",
)
@click.option(
    "--exclude", multiple=True, metavar="ID", type=CASE_ID, help="Without these cases or rules."
)
@click.option(
    "--quick",
    is_flag=True,
    help="The 40 most telling cases of a format, in one profile, without laws: --budget quick.",
)
@click.option("--strict", is_flag=True, help="A broken SHOULD makes the exit code 1.")
@click.option(
    "--expect",
    type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file of the decoder's known failures.",
)
@click.option(
    "--update", is_flag=True, help="Updates the file of --expect with this run's failures."
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help=(
        "Directory for report.html, report.jsonl, report.md, junit.xml, report.sarif, badge.json,"
        " history.jsonl and failures/."
    ),
)
@click.option("-x", "--fail-fast", is_flag=True, help="Stops after the first failure.")
@click.option("--max-fail", type=click.IntRange(1), help="Stops after N failures.")
@click.option(
    "--details",
    is_flag=True,
    help="Shows each broken rule and cause, not only what to repair first.",
)
@click.option(
    "--causes",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Shows at most N causes of a rule.",
)
@click.option(
    "--no-reduce",
    is_flag=True,
    help="Shows each failure with the case that broke, not with its smallest message.",
)
@click.option(
    "--timeout",
    type=FiniteFloat(min=0.1),
    default=120,
    show_default=True,
    help="Seconds a decode call may take.",
)
@spark_options
@user_tables
@click.option(
    "--differential",
    is_flag=True,
    help="Compares the tables of one history through every format, instead of judging cases.",
)
@click.option(
    "--messages",
    multiple=True,
    metavar="FILE|TOPIC",
    help=(
        "Judges these messages, whose truth nobody knows, by the laws, and compares with the"
        " reference decoder; repeatable."
    ),
)
@click.option(
    "--failed",
    is_flag=True,
    help=("Judges the cases whose failures are saved first, and all others only once these pass."),
)
@click.option(
    "--watch",
    is_flag=True,
    help="Judges again whenever the decoder's source changes, failed cases first; Ctrl-C ends.",
)
@FORMAT
@pass_options(RunOptions)
def run(options: RunOptions) -> None:
    """The main job: draw, publish, decode, judge, report.

    \b
    Example: cdc-conformance run ticdc-canal-json --decoder mine.py:decode --budget ci
    Example: cdc-conformance run ticdc-canal-json --tables orders.sql --writer-profile v7.1.6 --decoder mine.py:decode
    """
    from conformance.cases.catalogue import find_budget
    from conformance.running.prepared import Settings

    names, tables = select_formats(options, options.decoder, watched=options.watch)
    if tables is not None and options.differential:
        raise UsageError("--differential has a table of its own; leave out --tables")
    settings = Settings(
        formats=names,
        budget=find_budget("quick" if options.quick else options.budget),
        seed=options.seed,
        decoder=options.decoder,
        mapping=dict(options.mapping),
        level=options.level,
        writer_profile=options.writer_profile,
        select=options.select,
        exclude=options.exclude,
        strict=options.strict,
        max_fail=1 if options.fail_fast else options.max_fail or 0,
        causes=options.causes,
        reduce=not (options.no_reduce or options.quick or options.budget == "quick"),
        timeout_s=options.timeout,
        arguments=without_secrets(sys.argv[1:], options.table_options.tables),
        tables=tables,
    )
    if is_command(settings.decoder) and options.spark_conf.keys() - {BOUND}:
        which = "--master, --remote, --spark-packages and --spark-conf"
        raise UsageError(f"--decoder {settings.decoder!r}: {which} need a decoder in Spark")
    spark_conf, broker_options = options.spark_conf, options.broker_options
    if broker_options.kafka and not is_command(settings.decoder):
        broker_options.check_spark()
    if not (options.differential or options.messages):
        settings.check_selection()
    if options.messages:
        sys.exit(observe(settings, spark_conf, options))
    if options.watch:
        check_watch_options(settings, options)
        watch(
            replace(settings, expect=_expected(options.expect, False)),
            spark_conf,
            broker_options,
        )
    if options.differential:
        if is_command(settings.decoder):
            raise UsageError(
                f"--decoder {settings.decoder!r}: --differential needs a decoder in Spark"
            )
        if options.update:
            raise UsageError("--differential judges no rules; leave out --update")
        sys.exit(_differential(settings, spark_conf, options.report, options.style))
    if options.update and settings.max_fail:
        raise UsageError("--update needs the whole run; leave out -x and --max-fail")
    expect = _expected(options.expect, options.update)
    settings = replace(settings, expect=expect)
    failed = _failed_cases(settings, options) if options.failed else ()
    style, update = options.style, options.update
    sys.exit(
        _perform(
            settings,
            spark_conf,
            broker_options,
            options.report,
            style,
            update=update,
            details=options.details,
            failed=failed,
        )
    )


def _failed_cases(settings: Settings, options: RunOptions) -> tuple[str, ...]:
    """The ids of the cases that this decoder failed in earlier runs and whose failures are saved,
    for `run --failed`; () if there are none, which is printed. Raises UsageError for options that
    `--failed` cannot be combined with.
    """
    from conformance.running.replay import failed_cases

    for name, value in (
        ("watch", options.watch),
        ("update", options.update),
        ("select", options.select),
        ("exclude", options.exclude),
    ):
        if value:
            raise UsageError(f"--failed selects the cases that failed; leave out --{name}")
    report = options.report
    folders = [FAILURES, *([report / FAILURES.name] if report else [])]
    ids: list[str] = []
    for folder in folders:
        ids += failed_cases(folder, settings)
    if not ids:
        print_notice("no failure of this decoder is saved; all cases are judged")
    return tuple(dict.fromkeys(ids))


def _judge_failed(
    failed: tuple[str, ...],
    settings: Settings,
    engine: Engine,
    listen: Listener,
    note: Progress,
) -> RunResult | None:
    """Judges only the cases in `failed`, the ids of those that failed in earlier runs. Returns the
    result if one of them still fails. None if all pass, none belongs to this run, or `failed` is
    empty: then the caller judges all cases.
    """
    from conformance.running.run import run_formats

    if not failed:
        return None
    try:
        result = run_formats(replace(settings, select=failed), engine, listen)
    except NothingSelected:
        note.line("the cases that failed are none of this run's; all cases are judged")
        return None
    if any(any(fmt.counting(settings.strict)) for fmt in result.formats):
        note.line("only cases that failed before are judged: they still fail")
        return result
    note.line("the cases that failed before pass; all others follow")
    return None


def _expected(path: Path | None, update: bool) -> Expectations:
    """The record of known failures in the file of --expect; an empty one without the option, and,
    with --update, for a file that does not exist yet. Raises UsageError.
    """
    from conformance.judging import known

    if path is None:
        if update:
            raise UsageError("--update writes the file of --expect; add --expect FILE")
        return known.Expectations()
    if update and not path.exists():
        return known.Expectations(path=path)
    return known.load(path)


def _differential(
    settings: Settings, spark_conf: Mapping[str, str], report: Path | None, style: OutputStyle
) -> int:
    """Does `run --differential`: compares, for each profile, the table that the decoder's rows give
    with the source's, prints the result, and writes the report if one is asked for. Returns the
    exit code: that of an unwritten report, else 1 for a difference, else 0.
    """
    from conformance.engines.child import QUICK, ChildEngine, required_packages
    from conformance.engines.spark_conf import merge_settings
    from conformance.reports import console, differential_page
    from conformance.running.differential import compare

    if report:
        check(report)
    packages, conf = required_packages(settings.formats), merge_settings(QUICK, spark_conf)
    with (
        Progress() as note,
        ChildEngine(
            packages=packages, timeout_s=settings.timeout_s, conf=conf, note=note
        ) as engine,
    ):
        outcomes = compare(
            engine, settings.formats, settings.writer_profile, settings.seed, settings.decoder, note
        )
    if style == "pretty":
        console.show(differential_page.render(outcomes))
    else:
        click.echo(
            differential_page.markdown(outcomes)
            if style == "markdown"
            else differential_page.lines(outcomes)
        )
    lost = (
        save_files(lambda: differential_page.write(outcomes, report, settings.seed))
        if report
        else 0
    )
    return lost or (1 if any(outcome.differences for outcome in outcomes) else 0)


def _perform(
    settings: Settings,
    spark_conf: Mapping[str, str],
    broker_options: BrokerOptions,
    report: Path | None,
    style: OutputStyle,
    *,
    update: bool,
    details: bool,
    failed: tuple[str, ...],
) -> int:
    """Does `run`: judges the decoder, first on the cases in `failed` alone, shows the result,
    brings the record of known failures up to date (`update`), and writes the report. Returns the
    exit code; after an interrupt or a fault of the harness, the result so far is shown.
    """
    from conformance.brokers.broker import ahead
    from conformance.engines.child import OURS, QUICK
    from conformance.engines.spark_conf import merge_settings
    from conformance.judging import known_files
    from conformance.judging.results import INTERRUPTED
    from conformance.reports import console, records, write_all
    from conformance.running import replay
    from conformance.running.events import Collected, noting, together
    from conformance.running.run import run_formats
    from conformance.running.started import start_run

    if report:
        check(report)
    # Cases are millions of small objects that live until the end; garbage collection among them
    # takes a fifth of the run.
    gc.set_threshold(200_000, 50, 100)
    conf = merge_settings(QUICK if settings.decoder else OURS, spark_conf)
    collected = Collected()
    stream = records.Stream(_echo)

    def note_first_broken(rule: Rule, _seconds: float) -> None:
        """Prints the first rule that the run breaks."""
        note.line(f"✗ {rule.id}: {rule.statement} (the first broken rule; all follow)")

    # Whatever --update changes in the record, the lines tell; so they wait for it.
    live = style == "json" and not update
    try:
        with interrupts.surface_interrupts(), Progress() as note:
            ahead(broker_options.spec, note)
            listener = noting(
                note,
                lambda judged: note.line(console.format_line(judged, settings.strict)),
                note.line,
            )
            listeners_of_first = (
                []
                if settings.expect.entries
                else [console.FirstBroken(note_first_broken, settings.strict)]
            )
            with start_run(settings, broker_options, conf, note) as (settings, engine):
                result = _judge_failed(failed, settings, engine, listener, note) or run_formats(
                    settings,
                    engine,
                    together(collected, listener, *listeners_of_first, *([stream] if live else [])),
                )
    except (KeyboardInterrupt, HarnessError) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        unfinished_run = collected.unfinished_result(INTERRUPTED if interrupted else str(error))
        if unfinished_run is None or isinstance(error, UsageError | NothingSelected):
            raise
        result, update = unfinished_run, False
        why = (
            "interrupted; everything that was started has been stopped"
            if interrupted
            else str(error)
        )
        print_notice(f"cdc-conformance: {why}; what is known until now:")
    result = replay.with_crash_files(result, report / "failures" if report else FAILURES, settings)
    record_update = known_files.updated(result) if update else None
    if record_update is not None:
        result = known_files.mark_by_record(
            result, replace(settings.expect, entries=(*record_update.kept, *record_update.added))
        )
    # Saved first: what is shown names only files that are there.
    result, unsaved = replay.save_all(result, settings)
    _show(result, style, stream, details)
    # The verdict stands; a full or read-only disk costs only the file. A file that the user asked
    # for makes the exit code 3.
    lost = (
        save_files(lambda: _record(record_update, settings.expect))
        if record_update is not None
        else 0
    )
    if unsaved is not None:
        print_notice(f"cdc-conformance: {unsaved}")
    if report:
        lost = max(
            lost, unsaved.exit_code if unsaved else 0, save_files(lambda: write_all(result, report))
        )
    return lost if lost and result.exit_code != 130 else result.exit_code


def _show(result: RunResult, style: OutputStyle, stream: records.Stream, details: bool) -> None:
    """Prints the result in the chosen style on stdout. In the styles for programs and pages the
    failures are printed on stderr too, for people, unless stdout and stderr go to the same place.
    """
    from conformance.reports import console, markdown

    if style != "pretty" and not shares_output():
        console.show(console.render(result, table=False, details=details), stderr=True)
    if style == "pretty":
        console.show(console.render(result, details=details))
    elif style == "markdown":
        click.echo(markdown.render(result))
    else:
        stream.close(result)


def _echo(record: Mapping[str, Any]) -> None:
    """Prints one record of the report as a line of JSON on stdout; records of cases and calls are
    left out. The line is pure ASCII: what a decoder raised may hold what no terminal can encode.
    """
    if record["type"] not in ("case", "call"):
        click.echo(json.dumps(record))


def _record(record_update: Update, expect: Expectations) -> None:
    """Writes the changed record of known failures into its file, and prints each entry that was
    added or removed. `expect` is the record before the change.
    """
    from conformance.judging.known_files import write

    assert expect.path is not None
    write(expect.path, record_update)
    for entry in record_update.added:
        print_notice(f"recorded  {entry}")
    for removed_entry in record_update.removed:
        print_notice(f"removed   {removed_entry.entry}: {removed_entry.state}")
    total = len(record_update.kept) + len(record_update.added)
    print_notice(
        f"{expect.path}: {total} known failures; {len(record_update.added)} new,"
        f" {len(record_update.removed)} removed"
    )


@cli.command("replay", short_help="Judges saved failures again: which are fixed?")
@click.argument("names", nargs=-1, metavar="[ID|FILE]...", type=FAILURE)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every saved failure in --from; with --decoder those of this decoder.",
)
@click.option(
    "--from",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    default=FAILURES,
    show_default=True,
    help="Folder of saved failures, or of a report, which has them in failures.",
)
@click.option(
    "--decoder", metavar="SPEC", type=DECODER, help="The decoder; default: the saved one."
)
@click.option(
    "--map",
    "mapping",
    multiple=True,
    metavar="NAME=EXPRESSION",
    type=ASSIGNMENT,
    help="The mapping; default: the saved one.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Runs, without asking, the decoders and expressions that only the files name.",
)
@click.option(
    "--level",
    type=click.Choice(["changes", "rows", "both"]),
    default="both",
    show_default=True,
    help="With --all only failures of this level.",
)
@click.option("--remove-fixed", is_flag=True, help="Removes the files of failures that are FIXED.")
@click.option(
    "--timeout",
    type=FiniteFloat(min=0.1),
    default=120,
    show_default=True,
    help="Seconds a decode call may take.",
)
@spark_options
@FORMAT
def replay_failures(
    names: tuple[str, ...],
    everything: bool,
    directory: Path,
    decoder: str | None,
    mapping: tuple[tuple[str, str], ...],
    yes: bool,
    level: str,
    remove_fixed: bool,
    timeout: float,
    spark_conf: Mapping[str, str],
    style: OutputStyle,
) -> None:
    """Judges saved failures again: FIXED, FAILED, NOT REPRODUCED (WITHOUT ITS NEIGHBOURS) or ERROR.

    A file may come from somebody else. A command, a module or an expression of --map that only the file names is run after
    a question, or with --decoder, --map or --yes.

    \b
    Example: cdc-conformance replay .cdc-conformance/failures/ticdc-canal-json-value-unsigned-1a2b3c4d.json
    Example: cdc-conformance replay --all --remove-fixed
    """
    from conformance.running import replay

    if everything == bool(names):
        raise UsageError("name the failures to replay, or give --all")
    if (directory / FAILURES.name).is_dir():
        directory /= FAILURES.name
    paths = (
        sorted(directory.glob("*.json"))
        if everything
        else [replay.find(name, directory) for name in names]
    )
    if not paths:
        raise NothingSelected(f"no saved failure in {directory}")
    crashes = {path: replay.load(path) for path in paths}
    if everything:
        crashes = _failures_of_decoder(crashes, decoder, level)
    if mapping:
        crashes = {path: replace(crash, mapping=dict(mapping)) for path, crash in crashes.items()}
    if not yes and (
        unconfirmed_code := replay.code_of_files(crashes.values(), decoder, dict(mapping))
    ):
        code_texts = ", ".join(map(printable, unconfirmed_code))
        what = f"only the saved files name what would run: {code_texts}"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(f"{what}. Name it with --decoder and --map, or allow it with --yes")
        if not click.confirm(f"{what}. Run it?", err=True):
            raise UsageError("nothing was run")
    with Progress() as note:
        done = replay.replay_all(crashes, decoder, timeout, note, spark_conf)
        outcomes = []
        for replayed in done:
            outcomes.append(replayed.outcome)
            click.echo(replay.render(replayed, style))
            if replayed.outcome is replay.ReplayOutcome.FIXED and remove_fixed:
                replayed.path.unlink(missing_ok=True)
    if not remove_fixed and (fixed := outcomes.count(replay.ReplayOutcome.FIXED)):
        print_notice(f"{fixed} of {len(outcomes)} FIXED: remove their files with --remove-fixed")
    sys.exit(replay.exit_code(outcomes))


def _failures_of_decoder(
    crashes: dict[Path, Crash], decoder: str | None, level: str
) -> dict[Path, Crash]:
    """The saved failures of the decoder (None: of any decoder) and level, for `replay --all`;
    prints how many are left out. Raises NothingSelected if none is left.
    """
    from conformance.running.replay import failures_of_decoder

    failures = failures_of_decoder(crashes, decoder, level)
    other_decoders = Counter(
        crash.decoder for path, crash in crashes.items() if path not in failures
    )
    left_out = ", ".join(
        f"{other_decoder} ({count})" for other_decoder, count in sorted(other_decoders.items())
    )
    if not failures:
        asked_for = f"decoder {decoder!r}" if decoder else f"level {level!r}"
        raise NothingSelected(f"no saved failure of {asked_for}; there are some of {left_out}")
    if other_decoders:
        print_notice(
            f"{other_decoders.total()} of {len(crashes)} saved failures are left out: of {left_out}"
        )
    return failures


@cli.command(
    short_help="Checks the harness: wrong decoders must fail, reference decoders must pass."
)
@FORMATS_GIVEN
@SEED
@FORMAT
@click.option(
    "--new-faults",
    is_flag=True,
    help="Only what needs no Spark: liars of the table, altered outputs, operators.",
)
def selftest(formats: tuple[str, ...], seed: int, style: OutputStyle, new_faults: bool) -> None:
    """Shows that the harness catches what it must and accuses nobody wrongly.

    \b
    Example: cdc-conformance selftest
    Example: cdc-conformance selftest debezium-json --new-faults
    """
    from conformance.engines.child import OURS, SMALL, ChildEngine, required_packages
    from conformance.reports.console import console
    from conformance.selftest import checks
    from conformance.selftest.shown import render

    names = check_formats(formats)
    with Progress() as note:
        if new_faults:
            results = checks.without_spark(names, seed, note)
        else:
            with ChildEngine(
                packages=required_packages(names), conf={**OURS, **SMALL}, note=note
            ) as engine:
                results = checks.selftest(engine, names, seed, note)
    if style == "pretty":
        console().print(render(results))
    else:
        for result in results:
            click.echo(json_text(result.as_json()))
    sys.exit(0 if all(r.ok for r in results) else 1)


_PARTS = (
    catalogue,
    measuring,
    publish,
    inspecting,
    fuzz,
    pipelines,
    streams,
    doctor,
    prepare,
    new_decoder,
    new_format,
    record,
    config,
    completion,
)
"""The modules whose commands are added to the command line."""
for _part in _PARTS:
    for _command in _part.COMMANDS:
        cli.add_command(_command)
