"""Shared by the commands: common options and their completion, progress messages and output
styles.
"""

from __future__ import annotations

import functools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import click
from click.shell_completion import CompletionItem

from conformance.commands.options import SelectionOptions, TableOptions
from conformance.engines.spark_conf import hide_in_setting, hide_in_urls
from conformance.engines.specs import check_decoder_file, is_command
from conformance.files import FAILURES, json_text
from conformance.sheets import grid, markdown_table
from conformance.text import printable, printable_lines
from generators.errors import HarnessError, UnknownName, UsageError
from generators.tables.schema import DIALECTS
from generators.wire_format import FORMATS, Format, get

if TYPE_CHECKING:
    from generators.profiles import Profile
    from generators.tables.load import TableLoad
    from generators.tables.schema import Note
    from generators.tables.user_values import Values

    ParamType = click.ParamType[str]
    _Pair = click.ParamType[tuple[str, str]]
else:
    # Generic only since click 8.5.
    ParamType = _Pair = click.ParamType


class FiniteFloat(click.FloatRange):
    """The type of an option with a finite number within limits; click's own type lets nan and
    infinity through.
    """

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Converts an option's text to a number for click. Fails for what is no number, not finite
        or out of range.
        """
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Named(ParamType):
    """The type of a parameter whose value is one of the names that `legal` returns, such as the
    formats; completion offers them.
    """

    def __init__(self, name: str, legal: Callable[[], Iterable[str]]) -> None:
        self.name, self.legal = name, legal

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks for click that a value is one of the legal names, and returns it. Raises
        UnknownName.
        """
        legal = tuple(self.legal())
        if value not in legal:
            raise UnknownName(self.name, str(value), legal)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes a name in the shell: the legal names that begin with what is typed, without
        those that a repeatable argument has already.
        """
        present = ctx.params.get(param.name or "") if param.nargs == -1 else ()
        return completions(
            (name for name in self.legal() if name not in (present or ())), incomplete
        )


class Glob(ParamType):
    """The type of an option with a glob over names; `names` returns them for the formats that the
    command line names. Completion offers these names.
    """

    name = "glob"

    def __init__(self, names: Callable[[Sequence[Format[Any]]], Iterable[str]]) -> None:
        self.names = names

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes a glob in the shell: the names, of the formats on the command line, that begin
        with what is typed.
        """
        return completions(self.names([get(name) for name in _formats(ctx)]), incomplete)


class CaseId(ParamType):
    """The type of an option with the id of a case or rule, the beginning of one, or a glob;
    completion offers the next segment of an id.
    """

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes a case or rule id in the shell, one segment at a time: a format, then a profile
        or an area of rules, then the rest. Ids that go on end in `/`.
        """
        formats = _formats(ctx)
        name, slash, below = incomplete.partition("/")
        if not slash:
            return completions((f"{fmt}/" for fmt in formats), incomplete)
        if name not in formats:
            return []
        profile, slash, _ = below.partition("/")
        ids = _rule_ids(name) if not slash else [*_rule_ids(name), *_case_ids(name, profile)]
        matches = [i for i in ids if i.startswith(incomplete)]
        if not slash:
            matches += [
                f"{name}/{p.name}/" for p in get(name).profiles if p.name.startswith(profile)
            ]
        # Up to the current segment, with a slash if the id continues.
        depth = incomplete.count("/") + 1
        cut = ("/".join(i.split("/")[:depth]) + "/" * (i.count("/") >= depth) for i in matches)
        return completions(dict.fromkeys(cut), incomplete)


class DecoderSpec(ParamType):
    """The type of --decoder: a decoder's specification. With `spark` only a decoder that runs in
    Spark is legal, not a `cmd:` one. Completion offers files.
    """

    name = "decoder"

    def __init__(self, spark: bool = False) -> None:
        self.spark = spark

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Checks the value of --decoder for click and returns it. Raises UsageError for a `cmd:`
        decoder where a decoder in Spark is required.
        """
        spec = str(value)
        if self.spark and is_command(spec):
            where = f"{ctx.info_name} " if ctx is not None and ctx.info_name else ""
            raise UsageError(
                f"--decoder {spec!r}: {where}needs a decoder in Spark; only run and replay take"
                " cmd:"
            )
        return spec

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes --decoder in the shell with files, unless the value is a `cmd:` decoder."""
        return [] if is_command(incomplete) else [CompletionItem(incomplete, type="file")]


class Assignment(_Pair):
    """The type of --map: NAME=EXPRESSION. `names` is the pattern of a legal name, for the schema of
    configuration files.
    """

    name = "assignment"
    names = "^[^=]+$"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Splits NAME=EXPRESSION of --map for click. Raises UsageError for another form."""
        if isinstance(value, tuple):
            return (str(value[0]), str(value[1]))
        name, equals, expression = str(value).partition("=")
        if not equals or not name or not expression:
            raise UsageError(f"--map {value!r}: expected NAME=EXPRESSION, such as after=row.after")
        return name, expression


class TableSource(ParamType):
    """The type of --tables: a file of DDL, or a database's URL; completion offers files."""

    name = "tables"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes --tables in the shell with files."""
        return [CompletionItem(incomplete, type="file")]


class FailureId(ParamType):
    """The type of an argument that names a saved failure, by its id or its file; completion offers
    both.
    """

    name = "failure"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Completes a saved failure in the shell: the ids that begin with what is typed, or files
        if there is none.
        """
        folder = ctx.params.get("directory") or FAILURES
        items = completions(sorted(path.stem for path in Path(folder).glob("*.json")), incomplete)
        return items or [CompletionItem(incomplete, type="file")]


def completions(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Completion items for those of the names that begin with what is typed."""
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _formats(ctx: click.Context) -> Sequence[str]:
    """The formats that the command line names so far, for completion; all formats if it names
    none.
    """
    params = ctx.params.get("formats") or ctx.params.get("name") or ()
    # Arguments before an option without its value are not among the parameters yet.
    named_formats = [name for name in ctx.args if name in FORMATS] or (
        (params,) if isinstance(params, str) else params
    )
    return [name for name in named_formats if name in FORMATS] or FORMATS


def _rule_ids(fmt: str) -> list[str]:
    """The ids of all rules of a format, for completion."""
    from conformance.rules.rules import rules

    return [rule.id for rule in rules(fmt)]


def _case_ids(fmt: str, profile: str) -> list[str]:
    """The ids of the named cases of a format's profile, for completion."""
    from conformance.cases.catalogue import named_cases

    profiles = [candidate for candidate in get(fmt).profiles if candidate.name == profile]
    return [case.id for case in named_cases(get(fmt), profiles)]


def _budgets() -> Iterable[str]:
    """The names of the budgets, for completion; imported late, so that the command line starts
    fast.
    """
    from conformance.cases.catalogue import BUDGETS

    return BUDGETS


QUIET_S: Final = 10
"""Seconds between two progress messages where stderr is no terminal."""
STILL_S: Final = 60
"""Seconds after which a progress message is repeated, with the time, if there is no new one."""

FORMAT_NAME = Named("format", lambda: FORMATS)
PROFILE = Glob(
    lambda formats: dict.fromkeys(profile.name for fmt in formats for profile in fmt.profiles)
)
CASE_ID = CaseId()
DECODER = DecoderSpec()
SPARK_DECODER = DecoderSpec(spark=True)
ASSIGNMENT = Assignment()
FAILURE = FailureId()

OutputStyle: TypeAlias = Literal["pretty", "json", "markdown"]
"""How a command prints its result: for people, for programs, for a page."""
FORMAT = click.option(
    "--format",
    "style",
    type=click.Choice(get_args(OutputStyle)),
    default="pretty",
    show_default=True,
    help="Output style.",
)
PROFILES = click.option(
    "--writer-profile",
    "writer_profile",
    multiple=True,
    default=("*",),
    metavar="GLOB",
    type=PROFILE,
    help="Only these profiles; repeatable.",
)
BUDGET = click.option(
    "--budget",
    type=Named("budget", _budgets),
    default="smoke",
    show_default=True,
    metavar="NAME",
    help="How much is judged: quick, smoke, ci or nightly.",
)
SEED = click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of all drawn data."
)


def _all_formats(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """A click callback of --all: given on the command line, it wins over formats in the
    configuration file, which it removes from click's defaults. Returns the option's value.
    """
    if (
        value
        and ctx.default_map
        and ctx.get_parameter_source("everything") is click.core.ParameterSource.COMMANDLINE
    ):
        ctx.default_map = {
            name: value for name, value in ctx.default_map.items() if name != "formats"
        }
    return value


FORMATS_GIVEN = click.argument("formats", nargs=-1, metavar="[FORMAT]...", type=FORMAT_NAME)
ALL = click.option(
    "--all",
    "everything",
    is_flag=True,
    callback=_all_formats,
    help="Every format; the default when none is named.",
)


_TABLES = (
    click.option(
        "--tables",
        "tables",
        multiple=True,
        metavar="FILE|URL",
        type=TableSource(),
        help=(
            "Your own tables, in place of the generic ones: a file of DDL, or a database;"
            " repeatable."
        ),
    ),
    click.option(
        "--dialect",
        type=Named("dialect", lambda: DIALECTS),
        metavar="NAME",
        help=f"The dialect of --tables: {', '.join(DIALECTS)}; default: what the text shows.",
    ),
    click.option(
        "--database", metavar="NAME", help="The database of tables for which the DDL names none."
    ),
    click.option(
        "--values",
        "values_file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="TOML file that overrides how values of columns of --tables are made.",
    ),
    click.option(
        "--verbose", is_flag=True, help="Prints every note on --tables, not only the first ones."
    ),
)
"""The options that `user_tables` adds to a command."""


def user_tables(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a command with the options for the user's own tables; the command gets their values
    as one `table_options`, which `given_tables` reads.
    """

    @functools.wraps(command)
    def run_with_tables(
        *,
        tables: tuple[str, ...],
        dialect: str | None,
        database: str | None,
        values_file: Path | None,
        verbose: bool,
        **command_options: Any,
    ) -> Any:
        """Calls the command with one `table_options` in place of the values of the options for
        tables.
        """
        table_options = TableOptions(tables, dialect, database, values_file, verbose)
        return command(table_options=table_options, **command_options)

    for option in reversed(_TABLES):
        run_with_tables = option(run_with_tables)
    return run_with_tables


def print_notice(message: object) -> None:
    """Tells the user something, on stderr. Every message of a command goes this way, since names
    and texts of a stranger may be in it.
    """
    click.echo(printable_lines(str(message)), err=True)


NOTES: Final = 5
"""How many notes on tables are printed without --verbose."""


def given_tables(
    options: TableOptions, seed: int, formats: Sequence[str], globs: Sequence[str]
) -> Values | None:
    """The user's tables of a command's options, and prints notes on them; None without --tables.

    The profiles that `globs` select of `formats`, of every format if none is named, read them.
    Raises UsageError.
    """
    if not options.tables:
        for name, value in (
            ("--dialect", options.dialect),
            ("--database", options.database),
            ("--values", options.values_file),
        ):
            if value:
                raise UsageError(f"{name} {value} needs --tables FILE|URL")
        return None
    from conformance.cases.tables import profiles_matching, read_tables

    values = read_tables(
        options.tables,
        options.dialect,
        options.database,
        options.values_file,
        seed,
        profiles_matching(formats or FORMATS, globs),
    )
    tables, notes = values.schema.tables, values.schema.notes
    print_notice(
        f"tables: {', '.join(user.table.name for user in tables)} ({values.schema.dialect});"
        f" {len(notes)} notes"
    )
    print_notes(
        list(map(str, notes)) if options.verbose else first_of_each_kind(notes),
        options.verbose,
    )
    return values


def first_of_each_kind(notes: Iterable[Note]) -> list[str]:
    """The first note of each kind of action (such as "left out") on a user's tables, with the
    number of further notes of that kind; actions that leave something out come first.
    """
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        kinds.setdefault(note.action, []).append(note)
    more = {
        action: f" (and {len(notes_of_kind) - 1} more of this kind)"
        if len(notes_of_kind) > 1
        else ""
        for action, notes_of_kind in kinds.items()
    }
    return [
        f"{kinds[action][0]}{more[action]}"
        for action in sorted(kinds, key=lambda action: "left out" not in action)
    ]


def print_left_out(lines: Sequence[str], verbose: bool, suffix: str = "") -> None:
    """Prints how many of the user's tables are left out (`suffix` says of what), and the reasons, a
    line each; without `verbose` only the first NOTES.
    """
    print_notice(
        f"{len(lines)} {'table is' if len(lines) == 1 else 'tables are'} left out{suffix}:"
    )
    print_notes(lines, verbose)


def print_notes(lines: Sequence[str], verbose: bool) -> None:
    """Prints lines on a user's tables, indented; without `verbose` only the first NOTES, and the
    number of the others.
    """
    first_lines = lines if verbose else lines[:NOTES]
    for line in first_lines:
        print_notice(f"  {printable(line)}")
    if len(lines) > len(first_lines):
        print_notice(f"  ... {len(lines) - len(first_lines)} more; --verbose prints all")


def formats_of_tables(
    names: Sequence[str],
    required_formats: Sequence[str],
    globs: Sequence[str],
    values: Values | None,
    verbose: bool,
) -> tuple[str, ...]:
    """The formats of `names` whose selected profiles read the database of the user's tables; all of
    `names` without tables (None).

    Prints which tables a format leaves out. Raises UsageError where one of `required_formats`,
    which the user named, or every format, can read none.
    """
    if values is None:
        return tuple(names)
    from conformance.cases.tables import formats_for_tables

    return formats_for_tables(
        names, required_formats, globs, values.schema, lambda notes: print_left_out(notes, verbose)
    )


def table_load(
    fmt: Format[Any], profile: str | None, values: Values | None, verbose: bool
) -> tuple[Profile, TableLoad] | None:
    """The profile and the load (a stream of seeded changes) of the user's tables: the profile that
    the user named, else the last one without compression that reads their database. None without
    tables. Raises UsageError.
    """
    if values is None:
        return None
    from conformance.cases.tables import table_load

    # Raises UsageError if the format can write none of the tables; prints those that it leaves out.
    formats_of_tables((fmt.name,), (fmt.name,), (profile or "*",), values, verbose)
    return table_load(fmt, profile, values)


def without_secrets(arguments: Sequence[str], sources: Sequence[str]) -> tuple[str, ...]:
    """The command line's arguments for a report, without secrets: of each database's URL in
    `sources` only the scheme is left, since it may hold a password; the value of a Spark setting is
    hidden if its name suggests a secret.
    """
    hidden = {
        source: source.partition("://")[0] + "://..." for source in sources if "://" in source
    }
    safe_arguments: list[str] = []
    for argument in arguments:
        option, equals, value = argument.partition("=")
        if option == _SETTING and equals:
            argument = f"{option}={hide_in_setting(value)}"
        elif safe_arguments[-1:] == [_SETTING]:
            argument = hide_in_setting(argument)
        else:
            argument = hide_in_urls(_hidden(argument, hidden))
        safe_arguments.append(argument)
    return tuple(safe_arguments)


_SETTING: Final = "--spark-conf"
"""The option whose value may hold a secret."""


def _hidden(argument: str, hidden: Mapping[str, str]) -> str:
    """A command-line argument in which each text that may hold a secret (a key of `hidden`) is
    replaced.
    """
    for source, replacement in hidden.items():
        argument = argument.replace(source, replacement)
    return argument


def check_formats(
    names: Sequence[str],
    globs: Sequence[str] = ("*",),
    decoder: str | None = None,
    *,
    watched: bool = False,
) -> tuple[str, ...]:
    """Checks the formats, profiles and decoder that a command was given, before Spark and Kafka
    start, and returns the formats (all of them if none is named). Raises UnknownName for an unknown
    format, profile or decoder's function, UsageError if the decoder's file does not exist or is no
    Python; the content of a `watched` file is not checked.
    """
    for name in names:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    if tuple(globs) != ("*",):
        from conformance.cases.catalogue import check_profiles

        check_profiles(map(get, names or FORMATS), globs)
    if decoder is not None and len(names) == 1:
        check_decoder_file(decoder, parse_file=not watched)
    return tuple(names) or FORMATS


def select_formats(
    options: SelectionOptions, decoder: str | None, *, watched: bool = False
) -> tuple[tuple[str, ...], Values | None]:
    """The formats of a command's options, and the user's tables. Raises UsageError, also for a
    decoder of several formats.
    """
    named_formats, globs = tuple(dict.fromkeys(options.formats)), options.writer_profile
    if named_formats and options.everything:
        raise UsageError("--all means every format; name formats or give --all, not both")
    names = check_formats(named_formats, globs, decoder, watched=watched)
    tables = given_tables(options.table_options, options.seed, named_formats, globs)
    verbose = options.table_options.verbose
    names = formats_of_tables(names, named_formats, globs, tables, verbose)
    if decoder and len(names) > 1:
        raise UsageError(f"--decoder needs exactly one format; name it: {', '.join(names)}")
    return names, tables


class Progress:
    """Shows progress messages on stderr: behind a spinner with the time on a terminal, else as
    lines, at most one in QUIET_S seconds.

    Where there is no terminal, a message that comes too soon is printed later, and a message of a
    long step is repeated every STILL_S seconds.
    """

    def __init__(self) -> None:
        from rich import progress

        from conformance.reports.console import console

        self._console = console(stderr=True)
        columns = (
            progress.SpinnerColumn(),
            progress.TextColumn("{task.description}", markup=False),
            progress.TimeElapsedColumn(),
        )
        self._spinner = (
            progress.Progress(*columns, console=self._console, transient=True)
            if self._console.is_terminal
            else None
        )
        self._task = self._spinner.add_task("starting", total=None) if self._spinner else None
        self._last, self._since = 0.0, time.monotonic()
        self._text, self._waiting = "", False
        self._lock, self._ended = threading.Lock(), threading.Event()

    def __call__(self, message: str) -> None:
        """Shows the message in place of the last one."""
        with self._lock:
            self._text, self._since, self._waiting = printable(message), time.monotonic(), True
        if self._spinner is not None and self._task is not None:
            self._spinner.reset(self._task, description=self._text)
        else:
            self._print_if_due()

    def line(self, line: str) -> None:
        """Prints a line at once, which stays on the terminal."""
        if self._spinner is not None:
            self._console.print(printable(line), markup=False, soft_wrap=True)
        else:
            print_notice(printable(line))

    def _print_if_due(self) -> None:
        """Prints the last progress message if enough time has passed since a message was printed;
        repeats it, with the elapsed seconds, if there has been no new one for a long time.
        """
        with self._lock:
            now = time.monotonic()
            silent_s = now - self._last
            is_new = self._waiting
            is_still_true = silent_s >= STILL_S and bool(self._text)
            if silent_s < QUIET_S or not (is_new or is_still_true):
                return
            self._last = now
            self._waiting = False
            elapsed = "" if is_new else f" ({now - self._since:.0f} s)"
            print_notice(f"... {self._text}{elapsed}")

    def __enter__(self) -> Progress:
        if self._spinner is not None:
            self._spinner.start()
        else:
            threading.Thread(target=self._remind, daemon=True).start()
        return self

    def _remind(self) -> None:
        """The loop of a thread: looks every second whether a message is due, until the progress
        ends.
        """
        while not self._ended.wait(1):
            self._print_if_due()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._spinner is not None:
            self._spinner.stop()


def save_files(write: Callable[[], Any]) -> int:
    """Saves files by calling `write`, after a verdict was printed, and prints the paths that it
    returns. Returns 0, or, if `write` raises HarnessError, the error's exit code; the error is
    printed.
    """
    try:
        saved = write()
    except HarnessError as error:
        print_notice(f"cdc-conformance: {error}")
        return error.exit_code
    for path in saved if isinstance(saved, list) else ():
        print_notice(f"report: {path}")
    return 0


def shares_output() -> bool:
    """Whether standard output and standard error go to one place: a terminal, a file, a pipe."""
    try:
        output, errors = (os.fstat(stream.fileno()) for stream in (sys.stdout, sys.stderr))
    except (OSError, ValueError):
        # A stream of a test or a notebook has no file.
        return False
    return (output.st_dev, output.st_ino) == (errors.st_dev, errors.st_ino)


def print_rows(
    table_rows: list[dict[str, Any]], columns: tuple[str, ...], style: OutputStyle
) -> None:
    """Prints the rows of a command's result: as one JSON list of objects, as a Markdown table, or
    as a table on the terminal; the tables have only the given columns.
    """
    if style == "json":
        click.echo(json_text(table_rows, indent=1))
        return
    cells = []
    for table_row in table_rows:
        cells.append([_cell_text(table_row[column]) for column in columns])
    if style == "markdown":
        click.echo("\n".join(markdown_table(columns, cells)))
        return
    from conformance.reports.console import console

    console().print(grid(columns, cells))


def _cell_text(value: object) -> str:
    """A value as text for a cell of a printed table: the items of a list with commas between them,
    "" for None.
    """
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
