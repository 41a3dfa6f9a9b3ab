"""The configuration file: finds it, reads it, checks it, and sets the defaults of the commands'
options.

Its keys are the commands' long options (`_config_keys`), so every error can name the legal values.
The command line wins over the file, and the file over built-in defaults.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import click

from conformance.commands._config_keys import COMMON, PYTEST, Key, Section, schema, sections
from conformance.commands.catalogue import Group
from conformance.commands.shell import FORMAT, OutputStyle, print_notice, print_rows
from conformance.engines.spark_conf import HIDDEN, hide_in_setting, hide_in_urls
from conformance.files import json_text
from generators.errors import UnknownName, UsageError

FILE: Final = "cdc-conformance.toml"
"""The name of the configuration file."""
PROJECT: Final = "pyproject.toml"
"""The file of a Python project, which may hold the configuration in a table of its own."""
TOOL: Final = "cdc-conformance"
"""The name of our table below `tool` in pyproject.toml."""

_LINE: Final = re.compile(r"""\s*(?:(?P<header>\[[^\[\]]+\])|["']?(?P<key>[\w$-]+)["']?\s*=)""")
"""A section's header, or the beginning of a key."""
_FILE: Final = "conformance.commands.config.file"
"""The key under which click's context keeps the value of --config."""
_OFF: Final = "conformance.commands.config.off"
"""The key under which click's context keeps the value of --no-config."""
_LENIENT: Final = frozenset({"config", "completion", "doctor", "prepare"})
"""Commands that work with a broken file: they report its errors, or do not need it."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a configuration file: those above the sections (`common`), and those of each
    section (`tables`); both empty without a file.
    """

    path: Path | None = None
    common: Mapping[str, Any] = field(default_factory=dict)
    tables: Mapping[Section, Mapping[str, Any]] = field(default_factory=dict)

    def settings(self, keys_by_section: Mapping[Section, Mapping[str, Key]]) -> Iterator[Setting]:
        """The settings that the file makes for each command. A value above the sections is left out
        for a command that cannot take it (`publish` and broker "none").
        """
        for section, legal in keys_by_section.items():
            section_values = self.tables.get(section, {})
            for name, key in legal.items():
                if name in section_values:
                    yield Setting(section, key, section_values[name], _label(self.path, section))
                elif name in self.common and not key.find_error(self.common[name]):
                    yield Setting(section, key, self.common[name], "top level")

    def defaults(self, keys_by_section: Mapping[Section, Mapping[str, Key]]) -> dict[str, Any]:
        """The configured settings in the form of click's `default_map`: nested by command, then by
        parameter.
        """
        defaults: dict[str, Any] = {}
        for setting in self.settings(keys_by_section):
            place = defaults
            for name in setting.section:
                place = place.setdefault(name, {})
            place[setting.key.parameter.name or ""] = self.default_map_value(setting)
        return defaults

    def default_map_value(self, setting: Setting) -> Any:
        """A setting's value as click's default map needs it: relative paths, which in the file
        start at the file's folder, start at the working directory.
        """
        assert self.path is not None
        return setting.key.default_map_value(setting.value, self.path.absolute().parent)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that the file gives for a command's key; `origin` is the header of its section in the
    file, or "top level".
    """

    section: Section
    key: Key
    value: Any
    origin: str


def find(start: Path) -> Path | None:
    """The configuration file of a folder: `cdc-conformance.toml`, else a `pyproject.toml` with
    `[tool.cdc-conformance]`.

    Searches the folder and its parents, up to one with `.git`. Raises UsageError for a file that
    cannot be read.
    """
    for folder in (start.absolute(), *start.absolute().parents):
        if (folder / FILE).is_file():
            return folder / FILE
        if (folder / PROJECT).is_file() and _has_our_table(folder / PROJECT):
            return folder / PROJECT
        if (folder / ".git").exists():
            break
    return None


def _has_our_table(path: Path) -> bool:
    """Whether a pyproject.toml has the table `[tool.cdc-conformance]`. A file that is no valid TOML
    is searched for the table's header instead, so that its errors are not reported here.
    """
    content = _read_file(path)
    if TOOL not in content:
        return False
    try:
        tools = tomllib.loads(content).get("tool", {})
    except (ValueError, RecursionError):
        return f"[tool.{TOOL}" in content
    return isinstance(tools, dict) and TOOL in tools


def load(path: Path, group: click.Group) -> Config:
    """Reads a configuration file, and checks it against the options of the commands of `group`.
    Raises UsageError with all errors, the legal values and the nearest matches.
    """
    try:
        data: Any = tomllib.loads(_read_file(path))
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(f"{_relative_path(path)}: {problem}") from error
    if path.name == PROJECT:
        tools = data.get("tool", {})
        if not isinstance(tools, dict) or TOOL not in tools:
            raise UsageError(f"{_relative_path(path)} has no [tool.{TOOL}]")
        data = tools[TOOL]
    reader = _Reader(path, sections(group))
    if isinstance(data, dict):
        reader.read_top(data)
    else:
        reader.note_problem((), TOOL, data, "expected a table")
    if reader.problems:
        raise UsageError("\n".join(reader.problems))
    return Config(path, reader.common, reader.tables)


class _Reader:
    """Reads the tables of a configuration file into settings, and collects all problems on the way.
    `lines` are the line numbers of headers and keys.
    """

    def __init__(self, path: Path, keys_by_section: Mapping[Section, Mapping[str, Key]]) -> None:
        self.path = path
        self.keys_by_section = keys_by_section
        self.lines = _lines(_read_file(path))
        self.problems: list[str] = []
        self.common: dict[str, Any] = {}
        self.tables: dict[Section, dict[str, Any]] = {}

    def note_problem(self, section: Section, name: str, value: Any, problem: str) -> None:
        """Adds a problem with the value of a key to the list of problems, with the value (hidden if
        it may be secret) and where it stands.
        """
        where = self.where(section, name)
        # A property of the broker may be a secret, and so may be a setting of Spark.
        is_open = _plain(name) not in ("broker-property", "spark-conf")
        safe_value = hide_in_urls(_short_json(value)) if is_open else HIDDEN
        self.problems.append(f"{where}, {name} = {safe_value}: {problem}")

    def where(self, section: Section, name: str = "") -> str:
        """Where a key or section stands, for an error: file, line and section's header. The line is
        missing for a section that has no header of its own (an inline table).
        """
        label = _label(self.path, section)
        line = self.lines.get((label, name)) or self.lines.get(
            (_label(self.path, section[:-1]), "".join(section[-1:]))
        )
        return ", ".join(
            filter(None, (_relative_path(self.path), f"line {line}" if line else "", label))
        )

    def read_top(self, data: Mapping[str, Any]) -> None:
        """Reads the whole file: the keys above the sections, which are for all commands, and the
        sections.
        """
        names = {section[0] for section in self.keys_by_section}
        for name, value in data.items():
            if name == "$schema":
                continue
            if name in names:
                self.read_section((name,), value)
            elif (plain := _plain(name)) in COMMON:
                errors = [
                    legal[plain].find_error(value)
                    for legal in self.keys_by_section.values()
                    if plain in legal
                ]
                # One command that takes the value is enough; for the others it is left out.
                if all(errors):
                    self.note_problem((), name, value, errors[0])
                self.common[plain] = value
            elif isinstance(value, dict):
                self.problems.append(
                    f"{self.where((name,))}: {UnknownName('section', name, names)}"
                )
            else:
                self.note_problem((), name, value, self._describe_misplaced(name))

    def _describe_misplaced(self, name: str) -> str:
        """The problem of a key above the sections that does not belong there: below which sections
        it does, or that it is unknown.
        """
        homes = [
            _label(self.path, section)
            for section, legal in self.keys_by_section.items()
            if _plain(name) in legal
        ]
        if homes:
            return (
                f"{name!r} belongs to a command: move it below {' or '.join(homes)}. Top level:"
                f" {', '.join(COMMON)}."
            )
        return str(
            UnknownName("key", name, (*COMMON, *{section[0] for section in self.keys_by_section}))
        )

    def read_section(self, section: Section, value: Any) -> None:
        """Reads a section of the file into the settings of its command; a section of a group (such
        as `corpus`) consists of sections itself.
        """
        if not isinstance(value, dict):
            what = f"this is a section's name; write [{'.'.join(section)}] and keys below it"
            self.note_problem(section[:-1], section[-1], value, what)
            return
        if section not in self.keys_by_section:
            names = {
                known_section[len(section)]
                for known_section in self.keys_by_section
                if known_section[: len(section)] == section
            }
            for name, inner in value.items():
                if name in names:
                    self.read_section((*section, name), inner)
                else:
                    unknown = UnknownName("section", name, names, of=_label(self.path, section))
                    self.problems.append(f"{self.where((*section, name))}: {unknown}")
            return
        legal, settings = self.keys_by_section[section], self.tables.setdefault(section, {})
        for name, setting in value.items():
            key = legal.get(_plain(name))
            if key is None:
                self.note_problem(
                    section,
                    name,
                    setting,
                    str(UnknownName("key", name, legal, of=_label(self.path, section))),
                )
            elif key.name in settings:
                self.note_problem(
                    section, name, setting, f"{key.name!r} is set twice, in both spellings"
                )
            else:
                settings[key.name] = setting
                if error := key.find_error(setting):
                    self.note_problem(section, name, setting, error)


def _lines(content: str) -> dict[tuple[str, str], int]:
    """The line numbers of section headers and keys in a TOML text, by the section's label and the
    key ("" for the header itself); of several equal ones the first.
    """
    numbers: dict[tuple[str, str], int] = {}
    label = ""
    for number, line in enumerate(content.splitlines(), 1):
        if match := _LINE.match(line):
            label = re.sub(r"[\s\"']", "", match["header"] or "") or label
            numbers.setdefault((label, match["key"] or ""), number)
    return numbers


def _plain(name: str) -> str:
    """A key's name with `-` in place of `_`, both of which a file may use."""
    return name.replace("_", "-")


def _label(path: Path | None, section: Section) -> str:
    """A section's header as the file spells it, such as `[corpus.write]`; that of the top level is
    "", or `[tool.cdc-conformance]` in pyproject.toml.
    """
    parts = (*(("tool", TOOL) if path is not None and path.name == PROJECT else ()), *section)
    return f"[{'.'.join(parts)}]" if parts else ""


def _short_json(value: Any) -> str:
    """A value of a configuration file as JSON for an error, cut to 60 characters."""
    value_text = json_text(value, default=str)
    return value_text if len(value_text) <= 60 else value_text[:57] + "..."


def _relative_path(path: Path) -> str:
    """A path, relative to the working directory where possible."""
    path = path.absolute()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _read_file(path: Path) -> str:
    """The text of a configuration file. Raises UsageError if it cannot be read or is not UTF-8."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            f"cannot read the configuration {_relative_path(path)}: {reason}."
            " --no-config ignores it"
        ) from error


def pytest_defaults(rootpath: Path, commands: click.Group) -> Mapping[str, Any]:
    """The settings of the pytest plugin (such as budget, seed and broker) in the configuration file
    of pytest's root directory, by key, in the form of click's default map; {} without a file.

    Raises UsageError.
    """
    path = find(rootpath)
    if path is None:
        return {}
    config = load(path, commands)
    keys_by_section, plugin_values = sections(commands)[PYTEST,], config.tables.get((PYTEST,), {})
    return {
        name: keys_by_section[name].default_map_value(value, path.absolute().parent)
        for name, value in {**config.common, **plugin_values}.items()
    }


def config_of_call(ctx: click.Context) -> Config:
    """The configuration of a call of the command line: the file of --config, none with --no-config,
    else the file that `find` returns for the working directory. Raises UsageError.
    """
    root = ctx.find_root()
    config_file, off = root.meta.get(_FILE), root.meta.get(_OFF)
    if config_file is not None and off:
        raise UsageError("--config FILE and --no-config contradict each other; give one")
    path = None if off else config_file or find(Path.cwd())
    assert isinstance(root.command, click.Group)
    return load(path, root.command) if path is not None else Config()


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates the group of all commands with `--config FILE` and `--no-config`."""

    def store_as(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
        """A click callback that keeps an option's value in the context under `name`, since the
        group's own function does not take it.
        """

        def store(ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
            """Keeps the option's value in the context."""
            ctx.meta[name] = value

        return store

    file = click.Path(path_type=Path, exists=True, dir_okay=False)
    off = click.option(
        "--no-config",
        is_flag=True,
        expose_value=False,
        callback=store_as(_OFF),
        help="Ignores the configuration file.",
    )
    what = (
        f"The configuration file; default: {FILE}, or [tool.{TOOL}] in {PROJECT}, in this folder or"
        " above."
    )
    return click.option(
        "--config",
        type=file,
        expose_value=False,
        callback=store_as(_FILE),
        metavar="FILE",
        help=what,
    )(off(command))


class Main(Group):
    """The group of all commands. It reads the configuration file before a command parses its
    options.
    """

    headings: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "Judge a decoder": ("run", "new-decoder", "stream", "fuzz", "replay", "selftest"),
        "Judge a pipeline into a table": ("pipeline", "new-pipeline"),
        "Measure": ("bench", "load"),
        "Look": ("inspect", "formats", "rules", "cases", "decode"),
        "Make messages": ("corpus", "publish", "record"),
        "Set up": ("doctor", "prepare", "config", "completion"),
        "Extend": ("new-format",),
    }

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command as click does, then makes the configuration file's settings its
        defaults. Raises UsageError for a bad file; if only help is asked for, prints that error and
        goes on.
        """
        name, command, arguments = super().resolve_command(ctx, args)
        try:
            ctx.default_map = config_of_call(ctx).defaults(sections(self))
        except UsageError as error:
            asks_help = not {"-h", "--help"}.isdisjoint(arguments)
            if not (ctx.resilient_parsing or asks_help or name in _LENIENT):
                raise
            if asks_help:
                print_notice(f"cdc-conformance: {error}")
        return name, command, arguments


@click.group("config", cls=Group, short_help="Shows the configuration, or its JSON Schema.")
def config_group() -> None:
    """The configuration file: its settings, their origin, and its JSON Schema.

    \b
    Example: cdc-conformance config show run
    Example: cdc-conformance config schema
    """


@config_group.command("show")
@click.argument("commands", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "everything", is_flag=True, help="Also shows defaults.")
@FORMAT
@click.pass_context
def config_show(
    ctx: click.Context, commands: tuple[str, ...], everything: bool, style: OutputStyle
) -> None:
    """The settings of all commands, or of the named ones, and the origin of each.

    Name a group's command with a dot: corpus.write.

    \b
    Example: cdc-conformance config show run corpus.write --all
    """
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    config, keys_by_section = config_of_call(ctx), sections(root)
    names = {".".join(section): section for section in keys_by_section}
    for name in commands:
        if name not in names:
            raise UnknownName("command", name, names)
    shown_keys = {names[name]: keys_by_section[names[name]] for name in commands or names}
    settings = {
        (setting.section, setting.key.name): setting for setting in config.settings(shown_keys)
    }
    where = _relative_path(config.path) if config.path is not None else ""
    print_notice(f"configuration: {where or 'none'}")
    setting_rows = []
    for section, legal in shown_keys.items():
        for name, key in legal.items():
            setting = settings.get((section, name))
            if setting is not None:
                value = config.default_map_value(setting)
                origin = f"{where}, {setting.origin}" if setting.origin else where
            elif everything:
                value, origin = key.default, "default"
            else:
                continue
            setting_row = {"command": " ".join(section), "key": name, "value": _hide(name, value)}
            setting_rows.append({**setting_row, "from": origin})
    print_rows(setting_rows, ("command", "key", "value", "from"), style)


def _hide(name: str, value: Any) -> Any:
    """The value of a configuration key (or each value of an array) with the secrets in it hidden:
    settings of Spark that may be secret, and passwords in URLs.
    """
    if isinstance(value, list | tuple):
        return [_hide(name, item) for item in value]
    if not isinstance(value, str):
        return value
    return hide_in_setting(value) if name == "spark-conf" else hide_in_urls(value)


@config_group.command("schema")
@click.pass_context
def config_schema(ctx: click.Context) -> None:
    """The JSON Schema of a configuration file, for editors and checks.

    \b
    Example: cdc-conformance config schema
    """
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    click.echo(json.dumps(schema(root), ensure_ascii=False, indent=1))


COMMANDS = (config_group,)
"""Commands for `cli`."""
