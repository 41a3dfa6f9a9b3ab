"""The keys of a configuration file, their types and legal values, derived from the commands."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import click

from conformance.commands.brokers import BrokerSpec
from conformance.commands.shell import Assignment, DecoderSpec, Glob, Named, TableSource
from conformance.commands.spark_options import Checked
from conformance.engines.specs import find_place, is_command
from generators.errors import UnknownName, UsageError

COMMON: Final = ("seed", "budget", "broker", "broker-config", "broker-property")
"""Keys that may stand above the sections; they apply to every command with that option."""
PYTEST: Final = "pytest"
"""The section of the pytest plugin's own options."""
PLUGIN: Final = (*COMMON, "master", "remote")
"""The keys of the pytest plugin's section, which are options of `run`."""
ONCE: Final = frozenset(
    {"everything", "update", "messages", "remove_fixed", "watch", "yes", "failed"}
)
"""Parameters that a configuration file may not set: they change files, undo the configuration file,
or answer a question.
"""
OWN: Final = frozenset({"config", "completion"})
"""Commands about the command line itself, which have no section."""

Section: TypeAlias = tuple[str, ...]
"""The path to a command, which names its section in the file: ("run",), ("corpus", "write")."""

_WORDS: Final = {
    bool: "boolean",
    str: "string",
    int: "integer",
    float: "float",
    list: "array",
    dict: "table",
}
"""The name of each type of TOML, for errors."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section of the configuration file: its `name` as written, with `-`, and the
    `parameter` of the command that it sets.
    """

    name: str
    parameter: click.Parameter

    @property
    def is_array(self) -> bool:
        """Whether the key's value is an array."""
        return self.parameter.multiple or self.parameter.nargs == -1

    @property
    def accepts_one_value(self) -> bool:
        """Whether an array of one value may be written as that value."""
        return self.is_array and isinstance(self.parameter.type, Glob)

    def find_error(self, value: Any) -> str:
        """Why a value is not legal for the key, in words, with the legal values; "" for a legal
        value.
        """
        if isinstance(self.parameter.type, Assignment) and isinstance(value, dict):
            texts = [
                f"{name}={setting_text}"
                if isinstance(setting_text, str) and "=" not in name
                else setting_text
                for name, setting_text in value.items()
            ]
            return next(filter(None, map(self._find_item_error, texts)), "")
        if not self.is_array or (self.accepts_one_value and isinstance(value, str)):
            return self._find_item_error(value)
        if not isinstance(value, list):
            return f"expected an array{_or_table(self.parameter)}, not {_word(value)}"
        return next(filter(None, map(self._find_item_error, value)), "")

    def _find_item_error(self, value: Any) -> str:
        """Why one value (of an array, or alone) is not legal for the key, by the type of the
        command's parameter; "" for a legal value. Whether a file exists is not checked.
        """
        kind = self.parameter.type
        if _flag(self.parameter):
            return "" if isinstance(value, bool) else f"expected true or false, not {_word(value)}"
        if isinstance(kind, click.types.IntParamType):
            if not isinstance(value, int) or isinstance(value, bool):
                return f"expected an integer, not {_word(value)}"
        elif isinstance(kind, click.types.FloatParamType):
            if not isinstance(value, int | float) or isinstance(value, bool):
                return f"expected a number, not {_word(value)}"
            if not math.isfinite(value):
                return "expected a finite number"
        elif not isinstance(value, str) or not value:
            return f"expected a string, not {_word(value)}"
        elif isinstance(kind, click.Choice) and value not in kind.choices:
            return str(UnknownName("value", value, map(str, kind.choices)))
        if isinstance(kind, click.Path):
            # The command itself checks whether the file exists.
            return ""
        try:
            kind.convert(value, self.parameter, None)
        except click.UsageError as error:
            return error.message
        except UsageError as error:
            return str(error)
        return ""

    def default_map_value(self, value: Any, folder: Path) -> Any:
        """A legal value in the form of click's default map. A relative path, which starts at
        `folder`, is made relative to the working directory.
        """
        if isinstance(value, dict):
            return [f"{name}={setting_text}" for name, setting_text in value.items()]
        if self.accepts_one_value and isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return (
                value
                if self.accepts_one_value
                else [self.default_map_value(item, folder) for item in value]
            )
        kind = self.parameter.type
        if isinstance(kind, click.Path) or (isinstance(kind, TableSource) and "://" not in value):
            return _relative_path(value, folder)
        if isinstance(kind, DecoderSpec) and not is_command(value):
            place = find_place(value)
            if place.file is None:
                return value
            function = f":{place.function}" if place.function else ""
            return _relative_path(place.source, folder) + function
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the key's value in a configuration file."""
        kind = _schema(self.parameter)
        if self.is_array:
            array = {"type": "array", "items": kind}
            kind = {"anyOf": [kind, array]} if self.accepts_one_value else array
        if isinstance(self.parameter.type, Assignment):
            texts = {"type": "object", "propertyNames": {"pattern": self.parameter.type.names}}
            kind = {
                "anyOf": [
                    kind,
                    {**texts, "additionalProperties": {"type": "string", "minLength": 1}},
                ]
            }
        described: dict[str, Any] = {"description": help_of(self.parameter)}
        if self.default is not None:
            described["default"] = self.default
        return described | kind

    @property
    def default(self) -> str | int | float | None:
        """The value that the command takes if the key is not set; None if it has no default."""
        default = self.parameter.default
        if self.accepts_one_value and isinstance(default, tuple):
            (default,) = default
        if _flag(self.parameter):
            return default is True
        if isinstance(default, Path):
            return str(default)
        return default if isinstance(default, str | int | float) else None


def help_of(parameter: click.Parameter) -> str:
    """The text that describes a command's parameter in the schema of configuration files; arguments
    have no help text of their own.
    """
    return (
        (parameter.help or "")
        if isinstance(parameter, click.Option)
        else "The formats, when none is named."
    )


def keys(command: click.Command) -> dict[str, Key]:
    """The keys that a command has in the configuration file, by name: its options, and the formats
    where they are optional.
    """
    by_name = {}
    for parameter in command.params:
        if not parameter.expose_value or parameter.is_eager or parameter.name in ONCE:
            continue
        if isinstance(parameter, click.Option):
            name = next((opt for opt in parameter.opts if opt.startswith("--")), "").lstrip("-")
        else:
            name = (
                (parameter.name or "")
                if isinstance(parameter.type, Named) and not parameter.required
                else ""
            )
        if name:
            by_name[name] = Key(name, parameter)
    return by_name


def sections(group: click.Group, above: Section = ()) -> dict[Section, dict[str, Key]]:
    """The keys of each section that a configuration file may have: of every command, and of the
    pytest plugin.
    """
    by_section: dict[Section, dict[str, Key]] = {}
    for name, command in group.commands.items():
        if not above and name in OWN:
            continue
        if isinstance(command, click.Group):
            by_section |= sections(command, (*above, name))
        elif command_keys := keys(command):
            by_section[*above, name] = command_keys
    if not above and ("run",) in by_section:
        by_section[PYTEST,] = {name: by_section["run",][name] for name in PLUGIN}
    return by_section


def schema(group: click.Group) -> dict[str, Any]:
    """The JSON Schema of a whole configuration file: all commands' sections and keys."""
    keys_by_section = sections(group)
    properties: dict[str, Any] = {"$schema": {"type": "string"}}
    properties |= dict(_spell_keys({name: keys_by_section["run",][name] for name in COMMON}))
    for section, keys_of_section in sorted(keys_by_section.items()):
        place = properties
        for name in section[:-1]:
            place = place.setdefault(name, _table({}))["properties"]
        place[section[-1]] = _table(dict(_spell_keys(keys_of_section)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tag:cdc-conformance,2026:config:1",
        "title": "cdc-conformance.toml, or [tool.cdc-conformance] in pyproject.toml",
        **_table(properties),
    }


def _spell_keys(keys_by_name: Mapping[str, Key]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON Schema of each key under the names that a configuration file may use: with `-`, and
    with `_` in place of it.
    """
    for name, key in keys_by_name.items():
        yield name, key.schema()
        if "-" in name:
            yield name.replace("-", "_"), key.schema()


def _table(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a table of TOML that has these keys and no others."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _schema(parameter: click.Parameter) -> dict[str, Any]:
    """The JSON Schema of one value of a command's parameter in a configuration file."""
    kind = parameter.type
    match kind:
        case _ if _flag(parameter):
            return {"type": "boolean"}
        case click.types.IntParamType():
            return {"type": "integer"} | _bounds(kind)
        case click.types.FloatParamType():
            return {"type": "number"} | _bounds(kind)
        case click.Choice():
            return {"enum": list(map(str, kind.choices))}
        case Named():
            return {"enum": list(kind.legal())}
        case BrokerSpec():
            return {"type": "string", "pattern": f"^({'|'.join(kind.kinds())}|.+:[0-9]+)$"}
        case Assignment():
            return {"type": "string", "pattern": "^[^=]+=."}
        case Checked():
            return {"type": "string", "pattern": kind.pattern}
    return {"type": "string", "minLength": 1}


def _bounds(kind: Any) -> dict[str, Any]:
    """The limits of a number's type in click (IntRange, FloatRange) as members of a JSON Schema; {}
    for a type without limits.
    """
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    bounds = {} if low is None else {"exclusiveMinimum" if kind.min_open else "minimum": low}
    return (
        bounds
        if high is None
        else bounds | {"exclusiveMaximum" if kind.max_open else "maximum": high}
    )


def _flag(parameter: click.Parameter) -> bool:
    """Whether the parameter is an option without a value, such as --strict."""
    return isinstance(parameter, click.Option) and bool(parameter.is_flag)


def _or_table(parameter: click.Parameter) -> str:
    """The words by which an error adds that a table is legal, too; "" if it is not."""
    return " or a table" if isinstance(parameter.type, Assignment) else ""


def _word(value: object) -> str:
    """The kind of a TOML value in words, for an error, such as "an integer" or "a date or time"."""
    if value == "":
        return "an empty one"
    word = _WORDS.get(type(value), "date or time")
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def _relative_path(path_text: str, folder: Path) -> str:
    """The path `path_text`, which starts at `folder`, as text: relative to the working directory if
    it is below it, else absolute.
    """
    path = (folder / path_text).absolute()
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
