"""The command `stream`: its options and what it prints; `conformance.streams.reading` does the work
and is slow to import.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import click

from conformance.commands.brokers import BROKER, PREFIX, TOPIC_PATTERN, asks_broker
from conformance.commands.options import SelectionOptions, pass_options
from conformance.commands.shell import (
    ALL,
    FORMAT,
    FORMATS_GIVEN,
    PROFILES,
    SEED,
    SPARK_DECODER,
    FiniteFloat,
    Glob,
    OutputStyle,
    Progress,
    print_left_out,
    select_formats,
    user_tables,
)
from conformance.commands.spark_options import check_not_remote, spark_options
from conformance.files import json_text
from generators.errors import NothingSelected, UsageError
from generators.garbage.nemesis import NEMESES

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.streams.recipes import StreamResult
    from generators.tables.user_values import Values


NEMESIS = Glob(lambda _formats: (nemesis.name for nemesis in NEMESES))
"""The type of --nemesis: a glob of names of nemeses (ways to disturb a stream)."""


def check_keys(values: Values, verbose: bool) -> None:
    """Prints which of the user's tables are left out because they have no primary key. Raises
    UsageError if none has one.
    """
    from generators.tables.streams import why_not_keyed

    reasons = [why for user in values.schema.tables if (why := why_not_keyed(user))]
    if len(reasons) == len(values.schema.tables):
        raise UsageError(f"no stream can be of these tables: {'; '.join(reasons)}")
    if reasons:
        print_left_out(reasons, verbose, " of the streams")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions(SelectionOptions):
    """The options of `stream`."""

    nemesis: str
    restart: bool
    used_topics: bool
    topic_pattern: str | None
    decoder: str | None
    limit: float
    broker_options: BrokerOptions
    spark_conf: Mapping[str, str]
    style: OutputStyle


@click.command(short_help="Compares tables built from changes with the source's.")
@FORMATS_GIVEN
@ALL
@PROFILES
@click.option("--nemesis", default="*", metavar="GLOB", type=NEMESIS, help="Only these nemeses.")
@click.option(
    "--restart", is_flag=True, help="Also kills and restarts the reader, and a separate broker."
)
@click.option(
    "--used-topics",
    is_flag=True,
    help="Reads topics without their first offsets, with transactions, committed and aborted.",
)
@TOPIC_PATTERN
@click.option(
    "--decoder",
    metavar="SPEC",
    type=SPARK_DECODER,
    help="A decoder instead of the reference; one format only.",
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=FiniteFloat(min=1),
    default=240.0,
    help="Limit of each reading of the streams; a lakehouse that starts cold takes a minute.",
)
@SEED
@asks_broker(BROKER, PREFIX)
@spark_options
@user_tables
@FORMAT
@pass_options(StreamOptions)
def stream(options: StreamOptions) -> None:
    """The stream laws: tables built from a decoder's changes must become the source's, under every nemesis and over restarts.

    Prints one line per format, profile and nemesis: converged, or the differences with the rule. With `--broker none`
    Spark's tasks make the messages. A decoder's module may have a level three: `materialise(changes, tables, checkpoint)` returns
    a query over what `decode` returns (the records themselves, if `decode` returns them), `materialised(spark, checkpoint)` a
    DataFrame of the current rows (database, schema, table, key array<string>, image map<string,string>). Its rows are then judged
    instead of the harness's tables. `tables` are `generators.model.Table`s; --restart finds its query's checkpoint by itself.
    An expired limit is no verdict: exit code 3.

    With --tables the histories are of your tables that have a primary key, each by itself. Streams share a topic, so there a
    table has a number behind its name.

    \b
    Example: cdc-conformance stream ticdc-canal-json --writer-profile "v7.1.6+ext*" --nemesis "re*" --restart
    Example: cdc-conformance stream ticdc-canal-json --tables orders.sql --writer-profile v7.1.6 --decoder mine.py:decode
    """
    from conformance.engines.child import QUICK, ChildEngine, required_packages
    from conformance.engines.spark_conf import merge_settings
    from conformance.engines.transport import serve_engine
    from conformance.reports.console import console
    from conformance.streams.reading import CONSUMERS, StreamSettings, render, run

    broker_options = options.broker_options
    if options.restart and not broker_options.kafka:
        raise UsageError("--restart needs a broker; --broker none has no process to restart")
    if options.used_topics and not broker_options.kafka:
        raise UsageError("--used-topics needs a broker; --broker none has no topics")
    if broker_options.kafka:
        broker_options.check_spark()
    check_not_remote("stream", options.spark_conf)
    names, tables = select_formats(options, options.decoder)
    if tables is not None:
        check_keys(tables, options.table_options.verbose)
    settings = StreamSettings(
        formats=names,
        glob=options.writer_profile,
        nemesis=options.nemesis,
        seed=options.seed,
        decoder=options.decoder,
        restart=options.restart,
        used=options.used_topics,
        tables=tables,
        pattern=options.topic_pattern or "",
        limit_s=options.limit,
    )
    outcomes: list[StreamResult] = []
    conf = merge_settings({**QUICK, **CONSUMERS}, options.spark_conf)
    with Progress() as note:
        child = partial(
            ChildEngine,
            packages=required_packages(names, kafka=broker_options.kafka),
            conf=conf,
            note=note,
        )
        with serve_engine(names, broker_options, conf, note, child) as (engine, cluster, _):
            for outcome in run(settings, engine, cluster, note):
                outcomes.append(outcome)
                if options.style == "json":
                    click.echo(json_text(outcome.as_json()))
    if options.style == "markdown":
        click.echo(render(outcomes, markdown=True))
    elif options.style == "pretty":
        console().print(render(outcomes))
    if all(outcome.lost for outcome in outcomes):
        raise NothingSelected(
            "no stream was judged: rows cannot be kept from what these profiles write"
        )
    sys.exit(0 if all(outcome.converged or outcome.lost for outcome in outcomes) else 1)


COMMANDS = (stream,)
"""Commands for `cli`."""
