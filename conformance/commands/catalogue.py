"""The commands without a JVM: catalogues and corpora; and `decode`, which prints a decoder's rows
for a corpus.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import click

from conformance.commands.options import TableOptions
from conformance.commands.recordings import audit_recordings, list_recordings
from conformance.commands.shell import (
    CASE_ID,
    FORMAT,
    FORMAT_NAME,
    FORMATS_GIVEN,
    PROFILES,
    SEED,
    SPARK_DECODER,
    OutputStyle,
    formats_of_tables,
    given_tables,
    print_notice,
    print_rows,
    user_tables,
)
from conformance.commands.spark_options import MASTER
from generators import wire_format
from generators.errors import (
    NothingSelected,
    UnknownName,
    UsageError,
    did_you_mean,
    nearest_path,
)
from generators.model import Case
from generators.wire_format import FORMATS, get


class Group(click.Group):
    """A group of commands that suggests the nearest name for an unknown command. Its help lists the
    commands below `headings`, those without a heading last.
    """

    headings: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands into the help text, in sections, instead of click's one
        list.
        """
        with_heading = set(itertools.chain.from_iterable(self.headings.values()))
        without_heading = tuple(
            name for name in self.list_commands(ctx) if name not in with_heading
        )
        widest = max(map(len, self.commands), default=0)
        limit = formatter.width - 6 - widest
        for heading, names in (
            *self.headings.items(),
            ("Other commands" if with_heading else "Commands", without_heading),
        ):
            entries = [
                (name.ljust(widest), self.commands[name].get_short_help_str(limit))
                for name in names
                if name in self.commands
            ]
            if entries:
                with formatter.section(heading):
                    formatter.write_dl(entries)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that the arguments name, as click does; the error for an unknown one
        names the nearest match.
        """
        if (
            not ctx.resilient_parsing
            and args
            and not args[0].startswith("-")
            and args[0] not in self.commands
        ):
            raise click.UsageError(str(UnknownName("command", args[0], self.commands)))
        return super().resolve_command(ctx, args)


@click.command("formats")
@FORMATS_GIVEN
@FORMAT
def list_formats(formats: tuple[str, ...], style: OutputStyle) -> None:
    """The wire formats and the profiles of their writers.

    \b
    Example: cdc-conformance formats debezium-json --format json
    """
    format_rows = [
        {
            "name": fmt.name,
            "title": fmt.title,
            "source": fmt.source,
            "profiles": [p.name for p in fmt.profiles],
            "deployments": sorted(
                {f"{p.deployment.time_zone} {p.deployment.compression}" for p in fmt.profiles}
            ),
            "position": fmt.position,
            "kinds": [
                {"wire": k.wire, "kind": k.kind, "op": k.op, "note": k.note} for k in fmt.kinds
            ],
        }
        for fmt in wire_format.formats()
        if fmt.name in (formats or FORMATS)
    ]
    print_rows(format_rows, ("name", "title", "profiles"), style)


@click.command("rules")
@FORMATS_GIVEN
@click.option(
    "--explain",
    "rule_id",
    metavar="ID",
    type=CASE_ID,
    help="One rule: its sources with quotations, a message, who breaks it.",
)
@FORMAT
def list_rules(formats: tuple[str, ...], rule_id: str | None, style: OutputStyle) -> None:
    """The cited rules of the formats: of decoding and of streams.

    \b
    Example: cdc-conformance rules ticdc-canal-json --format markdown
    Example: cdc-conformance rules --explain ticdc-canal-json/op/delete-row-in-data
    """
    from conformance.rules import pipelines, streams
    from conformance.rules.rules import rules

    if rule_id:
        from conformance.commands.explain import explain

        click.echo(explain(rule_id, style))
        return
    rule_rows = [
        {
            "id": rule.id,
            "statement": rule.statement,
            "obligation": rule.obligation.value,
            "provenance": rule.provenance.value,
            "effect": rule.effect.value,
            "citations": [str(c) for c in rule.citations],
        }
        for name in formats or FORMATS
        for rule in (*rules(name), *streams.rules(name), *pipelines.rules(name))
    ]
    print_rows(rule_rows, ("id", "obligation", "statement", "citations"), style)


@click.command("cases")
@FORMATS_GIVEN
@PROFILES
@click.option(
    "--select", multiple=True, metavar="ID", type=CASE_ID, help="Only these ids: a prefix or glob."
)
@user_tables
@FORMAT
def list_cases(
    formats: tuple[str, ...],
    writer_profile: tuple[str, ...],
    select: tuple[str, ...],
    style: OutputStyle,
    table_options: TableOptions,
) -> None:
    """The cases of a format, or of your own tables: their ids.

    \b
    Example: cdc-conformance cases ticdc-canal-json --select 'ticdc-canal-json/v7.1.6/unsigned-bigint'
    Example: cdc-conformance cases ticdc-canal-json --tables orders.sql
    """
    from conformance.cases import tables
    from conformance.cases.catalogue import (
        check_profiles,
        matches_pattern,
        named_cases,
        recorded_cases,
        select_profiles,
    )

    check_profiles(wire_format.formats(formats), writer_profile)
    user_values = given_tables(table_options, 1, formats, writer_profile)

    names = formats_of_tables(formats, formats, writer_profile, user_values, table_options.verbose)

    def list_all(patterns: tuple[str, ...]) -> Iterator[Case]:
        """The cases of all the formats that are listed; cases that none of the patterns can match
        may be left out.
        """
        for fmt in wire_format.formats(names):
            profiles = select_profiles(fmt, writer_profile)
            if user_values is not None:
                readers = tables.profiles_of_source(fmt, profiles, user_values.schema)
                yield from tables.named_cases(fmt, readers, user_values)
            else:
                yield from named_cases(fmt, profiles, patterns)
                yield from recorded_cases(fmt, writer_profile, None)

    rows = [
        {
            "id": case.id,
            "level": case.level,
            "messages": len(case.written),
            "tags": sorted(case.tags),
        }
        for case in list_all(select)
        if not select or any(matches_pattern(case.id, pattern) for pattern in select)
    ]
    if not rows:
        near = did_you_mean(nearest_path(select[0], (case.id for case in list_all(()))))
        raise NothingSelected(f"no case matches --select {' '.join(select)}.{near}")
    print_rows(rows, ("id", "level", "messages", "tags"), style)


@click.group("corpus", cls=Group)
def corpus_commands() -> None:
    """Corpora on disk, and the recordings of real products.

    \b
    Example: cdc-conformance corpus write ticdc-canal-json --out corpora
    Example: cdc-conformance corpus verify corpora
    """


@corpus_commands.command("write", short_help="Writes a corpus per format and profile.")
@click.argument("formats", nargs=-1, required=True, metavar="FORMAT...", type=FORMAT_NAME)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The output directory.",
)
@SEED
@click.option(
    "--count",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="Drawn cases per profile; with --executors, statements.",
)
@PROFILES
@click.option(
    "--boundaries/--no-boundaries", default=True, show_default=True, help="Include the named cases."
)
@click.option(
    "--parquet",
    is_flag=True,
    help="Also writes messages.parquet in the shape of Spark's Kafka source.",
)
@click.option(
    "--executors",
    type=click.IntRange(1),
    metavar="N",
    help=(
        "Writes a bulk corpus instead: messages of load, made on this many Spark executor cores, in"
        " Parquet."
    ),
)
@MASTER
@user_tables
def corpus_write(
    formats: tuple[str, ...],
    out: Path,
    seed: int,
    count: int,
    writer_profile: tuple[str, ...],
    boundaries: bool,
    parquet: bool,
    executors: int | None,
    master: str | None,
    table_options: TableOptions,
) -> None:
    """Writes a corpus per format and profile: named cases and seeded cases.

    With --executors it is a bulk corpus: the messages of --count statements, by default of a format's last profile, without
    cases and expected changes. The same seed gives the same messages on any number of executors.

    \b
    Example: cdc-conformance corpus write ticdc-canal-json --out corpora --seed 7 --count 200
    Example: cdc-conformance corpus write ticdc-canal-json --tables orders.sql --out corpora
    Example: cdc-conformance corpus write ticdc-canal-json --out corpora --executors 4 --count 1000000
    """
    from conformance.cases import tables
    from conformance.cases.catalogue import check_profiles, named_cases, select_profiles
    from generators.bulk import expander
    from generators.storage import corpus

    check_profiles(wire_format.formats(formats), writer_profile)
    user_values = given_tables(table_options, seed, formats, writer_profile)
    if master and not executors:
        raise UsageError("--master URL needs --executors N")
    if executors:
        from conformance.commands import bulk_corpora

        if user_values is not None:
            raise UsageError("--tables cannot be combined with --executors")
        bulk_corpora.write(formats, writer_profile, out, seed, count, executors, master or "")
        return
    formats_of_tables(formats, formats, writer_profile, user_values, table_options.verbose)
    for fmt in wire_format.formats(formats):
        selected = select_profiles(fmt, writer_profile)
        for profile in (
            tables.profiles_of_source(fmt, selected, user_values.schema)
            if user_values is not None
            else selected
        ):

            def cases(fmt: Any = fmt, profile: Any = profile) -> Iterator[Any]:
                """The cases of a profile's corpus: named ones if `boundaries` are asked for, then
                `count` drawn ones; of the user's tables, if some are given.
                """
                if user_values is not None:
                    if boundaries:
                        yield from tables.named_cases(fmt, (profile,), user_values)
                    yield from tables.drawn_cases(fmt, (profile,), user_values, count, seed)
                    return
                if boundaries:
                    yield from named_cases(fmt, (profile,))
                yield from expander.cases(fmt, profile, seed, count)

            summary = corpus.write(out, fmt, profile, cases(), seed=seed, parquet=parquet)
            print_notice(
                f"{summary.path}: {summary.cases} cases, {summary.messages} messages,"
                f" {summary.size} bytes"
            )


@corpus_commands.command("verify", short_help="Checks corpora on disk, or the recordings.")
@click.argument("directory", type=click.Path(path_type=Path), required=False)
def corpus_verify(directory: Path | None) -> None:
    """Checks corpora: files, checksums, counts, and that they can be read; without DIRECTORY the recordings of products.

    \b
    Example: cdc-conformance corpus verify corpora
    """
    from generators.recorded import store
    from generators.storage import bulk, corpus

    bulk_folders = bulk.find(directory) if directory else []
    verdicts: dict[str, list[str]] = (
        {
            **{str(folder): bulk.verify(folder) for folder in bulk_folders},
            **{
                str(folder): corpus.verify(folder)
                for folder in corpus.find(directory, none=bool(bulk_folders))
            },
        }
        if directory
        else {f"recorded {product}": store.verify(product) for product in store.PRODUCTS}
    )
    damaged = sum(map(bool, verdicts.values()))
    for name, problems in verdicts.items():
        click.echo(f"{name}: {'ok' if not problems else '; '.join(problems)}")
    if damaged:
        raise UsageError(f"{damaged} of {len(verdicts)} corpora are damaged")


@click.command(short_help="Prints a decoder's rows for a corpus; no verdict.")
@click.argument("name", metavar="FORMAT", type=FORMAT_NAME)
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--decoder", metavar="SPEC", type=SPARK_DECODER, help="Default: the reference decoder."
)
@click.option(
    "--select",
    multiple=True,
    metavar="ID",
    type=CASE_ID,
    help="Only these cases: a prefix or glob.",
)
def decode(name: str, directory: Path, decoder: str | None, select: tuple[str, ...]) -> None:
    """Prints a decoder's rows for a corpus as JSON lines, without a verdict.

    \b
    Example: cdc-conformance decode ticdc-canal-json corpora/ticdc-canal-json/v7.1.6
    """
    from conformance.running.look import decode_corpora

    fmt = get(name)

    def is_selected(case_id: str) -> bool:
        """Whether a case's id is named by `--select`, as a prefix or glob; without the option every
        case is.
        """
        from conformance.cases.catalogue import matches_pattern

        return not select or any(
            matches_pattern(case_id, p) or fnmatchcase(case_id, p) for p in select
        )

    for line in decode_corpora(fmt.name, directory, decoder, is_selected):
        click.echo(json.dumps(line, ensure_ascii=False))


corpus_commands.add_command(list_recordings)
corpus_commands.add_command(audit_recordings)

COMMANDS = (list_formats, list_rules, list_cases, corpus_commands, decode)
"""Commands for `cli`."""
