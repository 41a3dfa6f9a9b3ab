"""The command `pipeline`: its options and what it prints; `conformance.pipelines` does the work and
is slow to import.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.commands.brokers import BROKER, PREFIX, asks_broker
from conformance.commands.options import TableOptions, pass_options
from conformance.commands.shell import (
    FORMAT,
    FORMAT_NAME,
    PROFILE,
    SEED,
    SPARK_DECODER,
    FiniteFloat,
    OutputStyle,
    Progress,
    given_tables,
    user_tables,
)
from conformance.commands.spark_options import check_not_remote, spark_options
from conformance.commands.streams import NEMESIS, check_keys
from conformance.files import json_text
from generators.errors import NothingSelected, UsageError

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions
    from conformance.brokers.lakehouses import Sink
    from conformance.pipelines.results import PipelineResult


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """The options of `pipeline`."""

    fmt: str
    spec: str
    writer_profile: tuple[str, ...]
    nemesis: str
    restart: bool
    limit: float
    sink: Sink | None
    catalog: str
    seed: int
    broker_options: BrokerOptions
    spark_conf: Mapping[str, str]
    table_options: TableOptions
    style: OutputStyle


@click.command(short_help="Judges the table that your pipeline keeps.")
@click.argument("fmt", metavar="FORMAT", type=FORMAT_NAME)
@click.option(
    "--pipeline",
    "spec",
    required=True,
    metavar="FILE",
    type=SPARK_DECODER,
    help="A Python file or module with start(spark, records, target).",
)
@click.option(
    "--writer-profile",
    "writer_profile",
    multiple=True,
    metavar="GLOB",
    type=PROFILE,
    help="These profiles; default: one whose messages tell the order.",
)
@click.option(
    "--nemesis", default="", metavar="GLOB", type=NEMESIS, help="These; default: a choice of them."
)
@click.option("--restart", is_flag=True, help="Also kills the reader three times.")
@click.option(
    "--limit",
    metavar="SECONDS",
    type=FiniteFloat(min=1),
    default=300.0,
    help="Limit of a batch; a lakehouse that starts cold takes a minute.",
)
@click.option(
    "--sink",
    type=click.Choice(["delta", "iceberg"]),
    help="Loads Delta Lake or Iceberg, with its settings; target is a table of it.",
)
@click.option("--catalog", default="", metavar="NAME", help="The catalogue of target.")
@SEED
@asks_broker(BROKER, PREFIX)
@spark_options
@user_tables
@FORMAT
@pass_options(PipelineOptions)
def pipeline(options: PipelineOptions) -> None:
    """The pipeline laws: the table that your pipeline keeps must be the source's, under every nemesis, and never behind what it showed.

    The file has `start(spark, records, target)`: it starts what you run today on `records`, a streaming DataFrame of Kafka's
    columns, keeps the table `target`, and returns the query (None for a batch job, which is then called once a stage). It may also
    have KEY, TYPES, table(spark, target), history(spark, target) and errors(spark, target). It is called once for each nemesis, with
    a table of its own.

    Prints a line for each: converged, or the differences, each with its rule, the event and the message. Exit code 1: differs; 3: a
    limit expired, which is no verdict.

    \b
    Example: cdc-conformance pipeline ticdc-canal-json --pipeline mine.py --sink delta --broker none
    Example: cdc-conformance pipeline debezium-json --pipeline mine.py --sink iceberg --tables orders.sql --restart
    """
    from conformance.pipelines.running import PipelineSettings
    from conformance.pipelines.showing import render
    from conformance.pipelines.started import SessionOptions, judge_pipeline
    from conformance.reports.console import console

    check_not_remote("pipeline", options.spark_conf)
    tables = given_tables(
        options.table_options, options.seed, (options.fmt,), options.writer_profile
    )
    if tables is not None:
        check_keys(tables, options.table_options.verbose)
    results: list[PipelineResult] = []
    settings = PipelineSettings(
        format=options.fmt,
        pipeline=options.spec,
        profile=options.writer_profile or "",
        nemesis=options.nemesis,
        seed=options.seed,
        restart=options.restart,
        tables=tables,
        limit_s=options.limit,
    )
    session = SessionOptions(sink=options.sink, catalogue=options.catalog, conf=options.spark_conf)
    with (
        Progress() as note,
        closing(judge_pipeline(settings, options.broker_options, session, note)) as judged,
    ):
        for result in judged:
            results.append(result)
            if options.style == "json":
                click.echo(json_text(result.as_json()))
    if options.style == "markdown":
        click.echo(render(results, options.fmt, markdown=True))
    elif options.style == "pretty":
        console().print(render(results, options.fmt))
    if all(result.lost for result in results):
        raise NothingSelected(f"no stream was judged: {results[0].lost if results else ''}")
    sys.exit(0 if all(result.converged or result.lost for result in results) else 1)


@click.command("new-pipeline", short_help="Writes a pipeline that is right.")
@click.argument("fmt", metavar="FORMAT", type=FORMAT_NAME)
@click.option(
    "--sink",
    type=click.Choice(["delta", "iceberg"]),
    default="delta",
    show_default=True,
    help="Where its table is.",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file; default: pipeline.py.",
)
def new_pipeline(fmt: str, sink: Any, out: Path | None) -> None:
    """Writes a pipeline that is right: order by the format's position, a guard, tombstones, changed keys, TRUNCATE, DROP COLUMN, unreadable messages, restarts.

    It is read in a minute, and judged by `cdc-conformance pipeline`. An existing file is left as it is.

    \b
    Example: cdc-conformance new-pipeline ticdc-canal-json --sink delta --out mine.py
    """
    from conformance.pipelines.writing import pipeline_text

    path = out or Path("pipeline.py")
    source = pipeline_text(fmt, sink, str(path))
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(source)
    except FileExistsError:
        raise UsageError(f"{path} is there already; name another file with --out") from None
    click.echo(f"{path}: judge it with")
    click.echo(f"  cdc-conformance pipeline {fmt} --pipeline {path} --sink {sink} --broker none")


COMMANDS = (pipeline, new_pipeline)
"""Commands for `cli`."""
