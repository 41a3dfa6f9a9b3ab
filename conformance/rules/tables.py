"""Reads and checks the project's own TOML tables. Each error names the file and the line, the legal
values and the nearest match.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from inspect import Parameter, signature
from types import UnionType
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from generators.errors import UnknownName, UsageError

T = TypeVar("T")
Legal: TypeAlias = type | UnionType | tuple[Any, ...]
"""What a value may be: of a type, or one of these."""


_KEY: Final = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")
"""The key at the beginning of an entry's line, with its quotes if it has any; group 1 is the key.
"""


class TableEntry(NamedTuple):
    """An entry of a table in a TOML file: its place (FILE:LINE), its name, and its value as it
    stands in the file.
    """

    place: str
    name: str
    value: Any


class TableFile:
    """A parsed TOML file that knows the line of each part and entry, for error messages. `parts`
    are the legal top-level keys with what their values may be. Raises UsageError if the text is no
    TOML, or a part is unknown or has an illegal value.
    """

    def __init__(self, file_name: str, toml_text: str, parts: Mapping[str, Legal]) -> None:
        self.where, self.lines = file_name, toml_text.splitlines()
        try:
            self.data: Mapping[str, Any] = tomllib.loads(toml_text)
        except tomllib.TOMLDecodeError as error:
            line_match = re.search(r"at line (\d+)", str(error))
            number = int(line_match[1]) if line_match else len(self.lines)
            problem = str(error)
            if "Cannot overwrite a value" in problem:
                problem = self._duplicate(number)
            raise UsageError(f"{file_name}:{number}: {problem}.") from None
        for part, value in self.data.items():
            try:
                check_value(part, value, parts[check_name(part, "part", parts)])
            except UsageError as error:
                raise UsageError(f"{self.place(part)}: {error}") from None

    def _duplicate(self, number: int) -> str:
        """The error message for an entry with a repeated key. `number` is the line on which the
        second entry ends; the message names the key and the line of the first entry.
        """
        key_line = next((n for n in range(number, 0, -1) if _KEY.match(self.lines[n - 1])), number)
        match = _KEY.match(self.lines[key_line - 1])
        key = match[1] if match else ""
        header = next((n for n in range(key_line, 0, -1) if self.lines[n - 1].startswith("[")), 0)
        first = next(
            (
                n
                for n in range(header + 1, key_line)
                if (earlier := _KEY.match(self.lines[n - 1])) and earlier[1] == key
            ),
            0,
        )
        return f"{key} is there twice" + (f", first on line {first}" if first else "")

    def place(self, part: str) -> str:
        """FILE:LINE of a top-level table or key of the TOML file, for error messages; line 1 if the
        file does not have it.
        """
        number = self._line(rf"\[*{re.escape(part)}(?![\w-])", 0)
        return f"{self.where}:{max(number, 1)}"

    def entries(self, table: str) -> Iterator[TableEntry]:
        """Yields the entries of a table, or of an array of tables that have a `name`, in the order
        of the file: FILE:LINE, name and value.
        """
        data: Any = self.data
        for part in table.split("."):
            data = data.get(part, {})
        array = isinstance(data, list)
        number = self._line(rf"\[+{re.escape(table)}\]", 0)
        names = (str(item.get("name", "")) if isinstance(item, dict) else "" for item in data)
        for name, entry in zip(names, data, strict=True) if array else data.items():
            escaped = re.escape(name)
            start = (
                rf"""\W*name = .{escaped}["']""" if array else rf"""["']?{escaped}["']?\s*[=.]"""
            )
            number = self._line(start, number)
            yield TableEntry(f"{self.where}:{max(number, 1)}", name, entry)

    def _line(self, start: str, after: int) -> int:
        """The number of the first line after line `after` that matches the regular expression
        `start`; `after` if no line does.
        """
        begin = re.compile(start)
        return next(
            (
                number
                for number, line in enumerate(self.lines[after:], after + 1)
                if begin.match(line)
            ),
            after,
        )


def read_package_toml(package: str, name: str) -> tuple[str, str]:
    """Reads NAME.toml of a package: the file's name for error messages, and its text."""
    return f"{package.replace('.', '/')}/{name}.toml", resources.files(package).joinpath(
        f"{name}.toml"
    ).read_text("utf-8")


@contextmanager
def naming_place(place: str) -> Iterator[None]:
    """A context that puts `place` in front of the message of a UsageError raised inside it."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def check_name(value: str, what: str, legal: Iterable[str]) -> str:
    """Returns `value` if it is one of the legal names. Raises UnknownName otherwise; `what` says
    there what the name is a name of.
    """
    legal_names = legal if isinstance(legal, Mapping) else tuple(map(str, legal))
    if value not in legal_names:
        raise UnknownName(what, value, filter(None, legal_names))
    return value


def check_value(name: str, value: Any, legal: Legal) -> None:
    """Checks that `value` is one of the legal values, or of the legal type. Raises UsageError
    otherwise; `name` is the field's name in the message.
    """
    if isinstance(legal, tuple):
        if isinstance(value, bool) or value not in legal:
            raise UnknownName(name, str(value), map(str, legal))
    elif not isinstance(value, legal) or (legal is int and isinstance(value, bool)):
        raise UsageError(f"{name} is {value!r}, not of type {getattr(legal, '__name__', legal)}.")


def check_fields(
    value_by_name: Any,
    fields: Mapping[str, Legal],
    needed: Iterable[str] = (),
    what: str = "field",
    *,
    empty: Container[str] = (),
) -> Mapping[str, Any]:
    """Returns `value_by_name` if it is a table whose fields are all known and legal, with every
    `needed` field; `what` is the word for a field in messages. Raises UsageError otherwise, and for
    an empty value in a field that is not in `empty`.
    """
    if not isinstance(value_by_name, dict):
        raise UsageError(f"{value_by_name!r} is no table of {', '.join(fields)}.")
    for name, value in value_by_name.items():
        check_value(name, value, fields[check_name(name, what, fields)])
        if value in ("", [], {}) and name not in empty:
            raise UsageError(f"{name} is empty.")
    if lacking := [name for name in needed if name not in value_by_name]:
        raise UsageError(f"it does not say {', '.join(lacking)}.")
    return value_by_name


def call_named(
    words: Any, what: str, legal: Mapping[str, Callable[..., T]], arguments: Mapping[str, Legal]
) -> T:
    """Calls the function that the first item of the list `words` names, with the other items as its
    arguments. `what` is the word for such a function in messages, `legal` are the functions by
    name; `arguments` says, by the name of a parameter, what an argument may be. Raises UsageError
    for an unknown function, and for a wrong number or kind of arguments.
    """
    if not isinstance(words, list) or not words:
        raise UsageError(
            f"{words!r} is no list of {what} and what it is given. Known: {', '.join(legal)}."
        )
    first, *arguments_given = words
    make = legal[check_name(str(first), what, legal)]
    parameters = signature(make).parameters
    try:
        bound = signature(make).bind(*arguments_given).arguments
    except TypeError as error:
        raise UsageError(f"{what} {first!r}: {error}.") from None
    with naming_place(f"{what} {first!r}"):
        for name, value in bound.items():
            for argument in (
                value if parameters[name].kind is Parameter.VAR_POSITIONAL else (value,)
            ):
                check_value(name, argument, arguments[name])
        return make(*arguments_given)


def compile_pattern(expression: str, alternative: str = "", flags: int = 0) -> re.Pattern[str]:
    """Compiles a regular expression, and checks that `alternative` is a valid replacement for its
    matches. Raises UsageError if either is invalid.
    """
    try:
        compiled = re.compile(expression, flags)
        compiled.sub(alternative, "")
    except (re.error, IndexError) as error:
        raise UsageError(
            f"{expression!r} with {alternative!r} for its matches is no pattern: {error}."
        ) from None
    return compiled
