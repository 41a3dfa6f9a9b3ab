"""The command `record`: runs a real product on drawn histories and compares it with our writer, by
the package `recorders`.
"""

from __future__ import annotations

import importlib
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from conformance.commands.options import pass_options
from conformance.commands.shell import FORMAT, OutputStyle, Progress, print_notice, print_rows
from generators.errors import UsageError

COLUMNS = ("result", "count", "path", "type", "ours", "real", "note")
"""The columns of the printed table of differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """The options of `record`; `options` are those of the writer's profile."""

    product: str
    release: str
    options: tuple[str, ...]
    count: int
    seed: int | None
    select: str
    expect: Path | None
    image: str
    out: Path | None
    limit: int
    style: OutputStyle


@click.command(
    short_help="Runs a real product on drawn histories, and compares it with our writer."
)
@click.argument("product", metavar="PRODUCT")
@click.option(
    "--release",
    default="",
    metavar="R",
    help="A release; default: the newest that can be recorded.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME",
    help="An option of the writer's profiles; repeatable.",
)
@click.option(
    "--count",
    type=click.IntRange(0),
    default=200,
    show_default=True,
    help="Drawn histories, beside the named ones.",
)
@click.option(
    "--seed", type=int, help="Seed of the drawn histories; default: a fresh one, which is printed."
)
@click.option(
    "--select",
    default="*",
    metavar="GLOB",
    help="Only these scenarios: boundary names, or drawn/SEED/N.",
)
@click.option(
    "--expect",
    type=click.Path(path_type=Path, dir_okay=False),
    help="TOML file of explained differences.",
)
@click.option(
    "--image",
    default="",
    metavar="IMAGE",
    help="MySQL from a container of this image, instead of the system's MariaDB.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Writes the records as JSON lines.",
)
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.IntRange(min=1),
    default=120,
    show_default=True,
    help="Limit of the product's run, from its start to its last record.",
)
@FORMAT
@pass_options(RecordOptions)
def record(options: RecordOptions) -> None:
    """Starts a real database and PRODUCT (debezium, canal), executes drawn histories as SQL, and compares what it publishes.

    \b
    Exit codes: 1 a difference is not in the record of explained differences; 5 an entry of the record explains nothing.
    Example: cdc-conformance record debezium --option postgresql
    Example: cdc-conformance record canal --release 1.1.7 --seed 7 --select 'drawn/*'
    """
    try:
        audits = importlib.import_module("recorders.command")
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] == "recorders":
            raise UsageError(
                "the package recorders is not installed: run this in a checkout, or install the"
                " whole wheel"
            ) from error
        raise
    seed = secrets.randbelow(1 << 31) if options.seed is None else options.seed
    with Progress() as note:
        done = audits.perform(
            product=options.product,
            release=options.release,
            options=options.options,
            count=options.count,
            seed=seed,
            select=options.select,
            expect=options.expect,
            image=options.image,
            out=options.out,
            limit_s=options.limit,
            note=note,
        )
    print_rows(done.rows(), COLUMNS, options.style)
    print_notice(done.summary)
    sys.exit(1 if done.unexplained else 0 if done.ok else 5)


COMMANDS = (record,)
