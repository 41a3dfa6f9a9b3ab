"""The command line: click commands over the library; data to stdout, words to stderr."""

from __future__ import annotations

import gc
import json
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from conformance import catalogue, fuzz, measuring, publishing, streams
from conformance.catalogue import Group
from conformance.shell import BROKER, BUDGET, FORMAT, SEED, Progress, chosen, known, transport
from generators.errors import HarnessError, UsageError


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="cdc-conformance")
def cli() -> None:
    """Conformance harness for CDC message decoders on Spark.

    \b
    Exit codes: 0 conforms; 1 does not; 2 usage or configuration; 3 harness or environment;
    4 nothing selected or judged; 130 interrupted.
    """


def main() -> None:
    """Runs the command line; every error that a user can mend is one line, not a stack trace."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        cli.main(prog_name="cdc-conformance", standalone_mode=False)
    except HarnessError as error:
        click.echo(f"cdc-conformance: {error}", err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Exit as error:
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (KeyboardInterrupt, click.Abort):
        click.echo("cdc-conformance: interrupted; everything that was started has been stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except Exception:  # noqa: BLE001 - exit 1 would read as a verdict on the decoder
        traceback.print_exc()
        click.echo("cdc-conformance: this is a fault of the harness; please report it with the lines above", err=True)
        sys.exit(HarnessError.exit_code)


def _terminate(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


@cli.command()
@click.argument("formats", nargs=-1, metavar="[FORMAT]...")
@click.option("--all", "everything", is_flag=True, help="Every format; the default when none is named.")
@click.option("--decoder", metavar="SPEC", help="module:function or path/file.py:function; default: the reference decoders.")
@click.option(
    "--map", "mapping", multiple=True, metavar="NAME=EXPRESSION", help="Renames the decoder's columns: after=row.after."
)
@click.option("--level", type=click.Choice(["changes", "rows", "both"]), default="both", help="Which level(s) to judge.")
@click.option("--writer-profile", default="*", metavar="GLOB", help="Only these profiles.")
@BUDGET
@SEED
@BROKER
@click.option("--select", multiple=True, metavar="ID", help="Only these cases or rules: a prefix or glob; repeatable.")
@click.option("--exclude", multiple=True, metavar="ID", help="Not these cases or rules.")
@click.option("--strict", is_flag=True, help="A broken SHOULD makes the exit code 1.")
@click.option("--report", type=click.Path(path_type=Path), help="Writes report.jsonl and failures/ there.")
@click.option("-x", "--fail-fast", is_flag=True, help="Stops after the first failure.")
@click.option("--max-fail", type=click.IntRange(1), help="Stops after N failures.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=120, show_default=True, help="Seconds a decode call may take.")
@click.option("--differential", is_flag=True, help="Instead of cases: one history through every format, compared as tables.")
@FORMAT
def run(**options: Any) -> None:
    """The main job: draw, publish, decode, judge, report.

    \b
    Example: cdc-conformance run ticdc-canal-json --decoder mine.py:decode --budget ci
    """
    from conformance.cases import budget
    from conformance.run import Settings

    mapping = dict(_assignment(text) for text in options["mapping"])
    settings = Settings(
        formats=known(tuple(dict.fromkeys(options["formats"]))),
        budget=budget(options["budget"]),
        seed=options["seed"],
        decoder=options["decoder"],
        mapping=mapping,
        level=options["level"],
        writer_profile=options["writer_profile"],
        select=options["select"],
        exclude=options["exclude"],
        strict=options["strict"],
        max_fail=1 if options["fail_fast"] else options["max_fail"] or 0,
        timeout_s=options["timeout"],
        arguments=tuple(sys.argv[1:]),
    )
    if settings.decoder and len(settings.formats) > 1:
        raise UsageError(f"--decoder judges one format; name it: {', '.join(settings.formats)}")
    if options["differential"]:
        sys.exit(_differential(settings, chosen(options["style"])))
    sys.exit(_perform(settings, options["broker_spec"], options["report"], chosen(options["style"])))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, expression = text.partition("=")
    if not equals or not name or not expression:
        raise UsageError(f"--map {text!r}: expected NAME=EXPRESSION, such as after=row.after")
    return name, expression


def _differential(settings: Any, style: str) -> int:
    from conformance.differential import compare
    from conformance.engine import ChildEngine, needed
    from conformance.report import console, differential

    packages = needed(settings.formats)
    with Progress() as note, ChildEngine(packages=packages, timeout_s=settings.timeout_s) as engine:
        outcomes = compare(engine, settings.formats, settings.writer_profile, settings.seed, settings.decoder, note)
    if style == "pretty":
        console.console().print(differential.render(outcomes))
    else:
        click.echo(differential.markdown(outcomes) if style == "markdown" else differential.lines(outcomes))
    return 1 if any(one.differences for one in outcomes) else 0


def _perform(settings: Any, broker_spec: str, report: Path | None, style: str) -> int:
    from conformance import replay
    from conformance.engine import OURS, QUICK, ChildEngine, needed
    from conformance.report import console, markdown, records
    from conformance.run import run as perform

    if report:
        records.prepare(report)
    # Cases are millions of small objects that live until the end; collecting among them is a fifth of the run.
    gc.set_threshold(200_000, 50, 100)
    conf, packages = QUICK if settings.decoder else OURS, needed(settings.formats, kafka=broker_spec != "none")
    with Progress() as note, ChildEngine(packages=packages, timeout_s=settings.timeout_s, conf=conf) as engine:
        note("starting Spark and Kafka")
        with transport(broker_spec, note) as (bootstrap, described, topic):
            settings = replace(settings, bootstrap=bootstrap, broker=described, topic=topic)
            result = perform(settings, engine, note)
    saved = []
    directory = report / "failures" if report else replay.HOME
    for failure in result.failures:
        decoder = settings.decoder or next(f.decoder for f in result.formats if f.format == failure.result.case.format)
        seen = result.header.versions
        path = replay.save(directory, failure, decoder, settings.level, settings.mapping, seen)
        saved.append(replace(failure, file=str(path)))
    result = replace(result, failures=tuple(saved))
    if report:
        records.write(result, report)
    if style == "pretty":
        console.console().print(console.render(result))
    elif style == "markdown":
        click.echo(markdown.render(result))
    else:
        for record in records.records(result):
            if record["type"] not in ("case", "call"):
                click.echo(json.dumps(record, ensure_ascii=False))
    return result.exit_code


@cli.command()
@click.argument("name", metavar="ID|FILE")
@click.option("--decoder", metavar="SPEC", help="Another decoder than the saved one.")
@click.option("--timeout", type=click.FloatRange(min=0.1), default=120, show_default=True, help="Seconds a decode call may take.")
def replay(name: str, decoder: str | None, timeout: float) -> None:
    """Judges one saved failure again: FIXED, FAILED or ERROR.

    \b
    Example: cdc-conformance replay .cdc-conformance/failures/ticdc-canal-json-value-unsigned-1a2b3c4d.json
    """
    from conformance import replay as again
    from conformance.engine import ChildEngine, needed

    path = again.find(name)
    crash = again.load(path)
    with Progress() as note, ChildEngine(packages=needed((crash.case.format,)), timeout_s=timeout) as engine:
        note(f"replaying {crash.case.id}")
        outcome, findings, problem = again.replay(crash, engine, decoder)
    click.echo(f"{outcome} {crash.rule} {crash.case.id}")
    for finding in findings[:5]:
        click.echo(f"  {finding.rule} at {finding.path}: expected {finding.expected}, actual {finding.actual}")
    if problem:
        click.echo(f"  {problem}", err=True)
    if outcome is again.Outcome.FIXED:
        click.echo(f"  the file can be removed: {path}", err=True)
    sys.exit({"FIXED": 0, "FAILED": 1, "ERROR": 3}[outcome.value])


@cli.command()
@click.argument("formats", nargs=-1, metavar="[FORMAT]...")
@SEED
@FORMAT
def selftest(formats: tuple[str, ...], seed: int, style: str | None) -> None:
    """Shows that the harness catches what it must and accuses nobody wrongly (DESIGN 7).

    \b
    Example: cdc-conformance selftest
    """
    from conformance import selftest as own
    from conformance.engine import ChildEngine, needed
    from conformance.report.console import console

    names = known(formats)
    with Progress() as note, ChildEngine(packages=needed(names)) as engine:
        results = own.selftest(engine, names, seed, note)
    if chosen(style) == "pretty":
        console().print(own.render(results))
    else:
        for result in results:
            click.echo(json.dumps(result.as_json(), ensure_ascii=False))
    sys.exit(0 if all(r.ok for r in results) else 1)


@cli.command()
@FORMAT
def doctor(style: str | None) -> None:
    """What is there, what is missing, and how to get it.

    \b
    Example: cdc-conformance doctor
    """
    from rich.table import Table

    from conformance import doctor as checks
    from conformance.report.console import console

    found = checks.checks()
    if chosen(style) == "pretty":
        table = Table("", "what", "found", "remedy", header_style="bold")
        for check in found:
            mark = "[green]ok[/green]" if check.ok else "[red]missing[/red]"
            table.add_row(mark, check.name, check.found, "" if check.ok else f"{check.remedy} ({check.needed_for})")
        console().print(table)
    else:
        for check in found:
            click.echo(
                json.dumps(
                    {
                        "name": check.name,
                        "ok": check.ok,
                        "found": check.found,
                        "remedy": check.remedy,
                        "needed_for": check.needed_for,
                    }
                )
            )
    sys.exit(0 if all(c.ok or not getattr(c, "required", False) for c in found) else 3)


for _command in (*catalogue.COMMANDS, *measuring.COMMANDS, *publishing.COMMANDS, *fuzz.COMMANDS, *streams.COMMANDS):
    cli.add_command(_command)
