"""The commands that measure decoders: `bench` and `load`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from conformance.commands.brokers import BROKER, PREFIX, TOPIC, TOPIC_PATTERN, asks_broker
from conformance.commands.options import TableOptions, pass_options
from conformance.commands.shell import (
    FORMAT,
    FORMAT_NAME,
    FORMATS_GIVEN,
    PROFILE,
    SEED,
    SPARK_DECODER,
    FiniteFloat,
    OutputStyle,
    Progress,
    check_formats,
    given_tables,
    print_notice,
    save_files,
    table_load,
    user_tables,
)
from conformance.commands.spark_options import check_local, check_not_remote, spark_options
from conformance.files import json_text
from generators.errors import UsageError
from generators.wire_format import get

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions


def _measure_watching(
    names: tuple[str, ...], rounds: int, spark_conf: Mapping[str, str], style: OutputStyle
) -> None:
    """Does `bench --watch`: measures and prints how soon `run --watch` answers when the decoder's
    file is saved, a row for each format.
    """
    from conformance.engines.child import QUICK, ChildEngine, required_packages
    from conformance.engines.spark_conf import merge_settings
    from conformance.load import watched
    from conformance.reports.console import console
    from conformance.running.watching import FRESH

    results = []
    conf = merge_settings({**QUICK, **FRESH}, spark_conf)
    with Progress() as note:
        for name in names:
            # Modules of the decoder that was watched before stay in a child.
            with ChildEngine(packages=required_packages((name,)), conf=conf, note=note) as engine:
                results.append(watched.measure(engine, name, engine.directory, rounds, note))
            if style == "json":
                click.echo(json_text(results[-1]))
    if style == "pretty":
        console().print(watched.render(results))
    elif style == "markdown":
        click.echo(watched.markdown(results))


@click.command("bench", short_help="Measures a decoder's throughput as a ratio to a baseline.")
@FORMATS_GIVEN
@click.option(
    "--decoder",
    metavar="SPEC",
    type=SPARK_DECODER,
    help="A decoder beside the reference; one format only.",
)
@click.option(
    "--messages",
    type=click.IntRange(100),
    default=20_000,
    show_default=True,
    help="Messages per measurement.",
)
@click.option(
    "--rounds",
    type=click.IntRange(3),
    default=7,
    show_default=True,
    help="Timed rounds after warm-up.",
)
@click.option(
    "--save", type=click.Path(path_type=Path, dir_okay=False), help="Writes the results as JSON."
)
@click.option(
    "--compare",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compares with saved results.",
)
@click.option(
    "--fail-below",
    type=FiniteFloat(0, min_open=True),
    metavar="RATIO",
    help="With --compare: exit code 1 below this share of the saved ratio.",
)
@click.option(
    "--watch",
    is_flag=True,
    help=(
        "Measures run --watch instead: from a save that breaks the decoder to the first broken"
        " rule."
    ),
)
@spark_options
@FORMAT
def measure_throughput(
    formats: tuple[str, ...],
    decoder: str | None,
    messages: int,
    rounds: int,
    save: Path | None,
    compare: Path | None,
    fail_below: float | None,
    watch: bool,
    spark_conf: Mapping[str, str],
    style: OutputStyle,
) -> None:
    """Measures batch decode throughput against the baseline: same process, interleaved, noop sink; a ratio with its range.

    Results can be saved and compared later. Only ratios are compared: they depend little on the machine. With --watch each round
    saves a copy of the reference decoder of level one with a mistake, twice, and without it.

    \b
    Example: cdc-conformance bench ticdc-canal-json --compare bench.json --fail-below 0.9
    """
    from conformance.engines.child import ChildEngine, required_packages
    from conformance.judging.results import versions
    from conformance.load import bench
    from conformance.reports.console import console

    names = check_formats(formats, decoder=decoder)
    if watch:
        check_local(spark_conf)
        for option, option_value in (
            ("--decoder", decoder),
            ("--save", save),
            ("--compare", compare),
            ("--fail-below", fail_below),
        ):
            if option_value:
                raise UsageError(
                    f"--watch measures seconds with decoders of its own; leave out {option}"
                )
        return _measure_watching(names, rounds, spark_conf, style)
    if decoder and len(formats) != 1:
        raise UsageError("--decoder needs exactly one format; name it")
    if fail_below is not None and compare is None:
        raise UsageError("--fail-below needs --compare FILE, a file that --save wrote")
    # Unreadable and unwritable files are reported before minutes of measuring.
    before = bench.read_results(compare) if compare else []
    if save and not save.absolute().parent.is_dir():
        raise UsageError(f"--save {save}: no directory {save.absolute().parent}")
    with (
        Progress() as note,
        ChildEngine(packages=required_packages(names), conf=spark_conf, note=note) as engine,
    ):
        results = bench.bench(engine, names, decoder, messages, rounds, note)
    limit = fail_below or 0.0
    comparison = bench.compare_results(before, results, limit) if compare else None
    match style:
        case "pretty":
            console().print(bench.render(results))
            if comparison is not None:
                console().print(bench.render_comparison(comparison, limit))
        case "markdown":
            click.echo(bench.markdown(results, comparison, limit))
        case _:
            for row in (*results, *(comparison or ())):
                click.echo(json_text(row))
    lost = save_files(lambda: bench.write_results(results, save, versions())) if save else 0
    sys.exit(lost or int(bench.is_slower(comparison or ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLoadOptions:
    """The options of `load`."""

    name: str
    decoder: str | None
    profile: str | None
    rate: float | None
    duration: float | None
    search: bool
    level: Literal["changes", "rows"] | None
    trigger: int
    partitions: int
    seed: int
    broker_options: BrokerOptions
    producers: int | None
    topic_pattern: str | None
    used_topics: bool
    log_append_time: bool
    report: Path | None
    spark_conf: Mapping[str, str]
    table_options: TableOptions
    style: OutputStyle


@click.command("load", short_help="Runs a decoder on a live topic, at a rate.")
@click.argument("name", metavar="FORMAT", type=FORMAT_NAME)
@click.option(
    "--decoder",
    metavar="SPEC",
    type=SPARK_DECODER,
    help="module:function or file.py:function; default: the reference decoder.",
)
@click.option(
    "--writer-profile",
    "profile",
    metavar="NAME",
    type=PROFILE,
    help="The profile; default: the last without compression.",
)
@click.option(
    "--rate",
    type=float,
    metavar="N",
    help="Messages/s (2000); with --search, the first rate (1000).",
)
@click.option(
    "--duration", type=float, metavar="S", help="Seconds (10); with --search, per step (6)."
)
@click.option(
    "--search",
    is_flag=True,
    help="Finds the highest rate that keeps up, by doubling and bisection.",
)
@click.option(
    "--level",
    type=click.Choice(["changes", "rows"]),
    help="The level; default: the decoder's highest.",
)
@click.option(
    "--trigger",
    type=int,
    default=500,
    show_default=True,
    metavar="MS",
    help="The query's trigger interval.",
)
@click.option(
    "--partitions", type=int, default=2, show_default=True, help="Partitions of the topic."
)
@SEED
@asks_broker(BROKER, TOPIC, PREFIX)
@click.option(
    "--producers",
    type=click.IntRange(1),
    metavar="N",
    help=(
        "Makes and publishes messages in N tasks of Spark, on the executors of --master; default:"
        " this process."
    ),
)
@TOPIC_PATTERN
@click.option(
    "--used-topics",
    is_flag=True,
    help="Publishes in transactions, beside aborted ones, to topics without their first offsets.",
)
@click.option(
    "--log-append-time",
    is_flag=True,
    help="Creates topics whose broker sets the timestamps of records.",
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for load.json and load.html.",
)
@spark_options
@user_tables
@FORMAT
@pass_options(LiveLoadOptions)
def load_decoder(options: LiveLoadOptions) -> None:
    """Loads a decoder through Kafka and structured streaming: does it keep up, with what lag, and are its rows right?

    This process publishes at the rate, on a fixed schedule; with --producers, Spark's executors do, beside the decoder.
    With --broker none the tasks that decode make the messages themselves, at that rate, and their making counts as decoding.
    Every offset is accounted for, and a sample of the rows is judged by the format's rules. The decoder keeps up if the backlog
    does not grow, 99 % of the messages are decoded within 5 s and two trigger intervals, and the rest within 20 s of the end.
    Exit code 1: it falls behind, raises, loses messages, or its rows break a rule; 3: the producers cannot reach the rate.

    \b
    Example: cdc-conformance load ticdc-canal-json --rate 5000 --duration 30 --report load
    Example: cdc-conformance load ticdc-canal-json --tables orders.sql --rate 2000
    Example: cdc-conformance load debezium-json --master spark://spark.test:7077 --broker kafka.test:9092 --producers 8
    """
    from conformance.engines.child import UNTRACED, ChildEngine, required_packages
    from conformance.engines.spark_conf import merge_settings
    from conformance.engines.transport import serve_engine
    from conformance.load import sustained
    from conformance.reports import load_page
    from conformance.reports.console import console

    (fmt,) = check_formats((options.name,), decoder=options.decoder)
    for option, value in (
        ("topic-pattern", options.topic_pattern),
        ("used-topics", options.used_topics),
        ("log-append-time", options.log_append_time),
        ("producers", options.producers),
    ):
        if value and not options.broker_options.kafka:
            raise UsageError(f"--{option} needs a broker; --broker none has no topics")
        if value and option != "producers" and options.broker_options.topic:
            raise UsageError(f"--{option} is about topics that are created; leave out --topic")
    search, globs = options.search, (options.profile,) if options.profile else ()
    tables = given_tables(options.table_options, options.seed, (fmt,), globs)
    user_load = table_load(get(fmt), options.profile, tables, options.table_options.verbose)
    settings = sustained.LoadSettings(
        format=fmt,
        rate=options.rate if options.rate is not None else 1_000.0 if search else 2_000.0,
        duration_s=(options.duration if options.duration is not None else 6.0 if search else 10.0),
        decoder=options.decoder,
        profile=user_load[0].name if user_load else options.profile,
        level={"changes": 1, "rows": 2, None: None}[options.level],
        trigger_ms=options.trigger,
        partitions=options.partitions,
        seed=options.seed,
        search=search,
        tables=user_load[1] if user_load else None,
        producers=options.producers,
        pattern=options.topic_pattern or "",
        used=options.used_topics,
        append_time=options.log_append_time,
    )
    sustained.check_settings(settings)
    if kafka := options.broker_options.kafka:
        options.broker_options.check_spark()
    check_not_remote("load", options.spark_conf)
    # Without the settings that make a JVM start quickly but run slowly.
    own_conf = {} if settings.decoder else UNTRACED
    conf = merge_settings(
        {**own_conf, **(sustained.BESIDE if settings.producers else {})}, options.spark_conf
    )
    cores = 2 + (settings.producers or 0)
    with Progress() as note:
        child = partial(
            ChildEngine,
            packages=required_packages((fmt,), kafka=kafka),
            cores=cores,
            conf=conf,
            note=note,
        )
        with serve_engine((fmt,), options.broker_options, conf, note, child) as (
            engine,
            cluster,
            described,
        ):
            outcome = sustained.run_load(
                settings,
                engine,
                cluster,
                note,
                described,
                note_step=print_notice,
            )
    match options.style:
        case "pretty":
            console().print(load_page.render(outcome))
        case "markdown":
            click.echo(load_page.markdown(outcome))
        case _:
            click.echo(json_text(load_page.record(outcome)))
    if outcome.interrupted:
        print_notice("cdc-conformance: interrupted; all started processes have been stopped")
    report = options.report
    lost = save_files(lambda: load_page.write(outcome, report)) if report else 0
    sys.exit(lost if lost and outcome.exit_code != 130 else outcome.exit_code)


COMMANDS = (measure_throughput, load_decoder)
"""Commands for `cli`."""
