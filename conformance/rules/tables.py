"""The project's own tables in TOML: whatever is wrong in one is told with its file and line, the legal values and the nearest."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from inspect import signature
from types import UnionType
from typing import Any, TypeVar

from generators.errors import UnknownName, UsageError

T = TypeVar("T")


class TableFile:
    """A TOML file, whose errors say where they are. Raises UsageError for what is no TOML, and for a part that is not legal."""

    def __init__(self, where: str, text: str, parts: Iterable[str]) -> None:
        self.where, self.lines = where, text.splitlines()
        try:
            self.data: Mapping[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at = re.search(r"at line (\d+)", str(error))
            problem = str(error).replace("Cannot overwrite a value", "a duplicate")
            raise UsageError(f"{where}:{at[1] if at else len(self.lines)}: {problem}.") from None
        for part in self.data:
            with placed(self.place(part)):
                one_of(part, "part", parts)

    def place(self, part: str) -> str:
        """Where a part of the file is; its first line for a part that it does not have."""
        head = re.compile(rf"\[*{re.escape(part)}\b")
        return f"{self.where}:{next((number for number, line in enumerate(self.lines, 1) if head.match(line)), 1)}"

    def entries(self, table: str) -> Iterator[tuple[str, str, Any]]:
        """The entries of a table, or of an array of tables with a `name`, in their order: place, name and what they say."""
        found: Any = self.data
        for part in table.split("."):
            found = found.get(part, {})
        array = isinstance(found, list)
        number = self._line(rf"\[+{re.escape(table)}\]", 0)
        for name, given in [(str(each.get("name", "")), each) for each in found] if array else found.items():
            number = self._line((r"\W*name = ." if array else r"[\"']?") + re.escape(name), number)
            yield f"{self.where}:{max(number, 1)}", name, given

    def _line(self, start: str, after: int) -> int:
        """The number of the first line behind that one that begins so; that one if none does."""
        begin = re.compile(start)
        return next((number for number, line in enumerate(self.lines[after:], after + 1) if begin.match(line)), after)


def ours(package: str, name: str) -> tuple[str, str]:
    """A file of a package: what errors call it, and its text."""
    return f"{package.replace('.', '/')}/{name}.toml", resources.files(package).joinpath(f"{name}.toml").read_text("utf-8")


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Names the place in what is wrong there."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None


def one_of(value: str, what: str, legal: Iterable[str]) -> str:
    """The value. Raises UnknownName for one that is not legal."""
    if value not in (known := tuple(map(str, legal))):
        raise UnknownName(what, value, filter(None, known))
    return value


def checked(given: Mapping[str, Any], fields: Mapping[str, type | UnionType], needed: Iterable[str] = ()) -> Mapping[str, Any]:
    """What an entry says. Raises UsageError for a field that is unknown, of another type or not there."""
    for name, value in given.items():
        wanted = fields[one_of(name, "field", fields)]
        if not isinstance(value, wanted):
            raise UsageError(f"{name} is {value!r}, not of type {getattr(wanted, '__name__', wanted)}.")
    if lacking := [name for name in needed if name not in given]:
        raise UsageError(f"it does not say {', '.join(lacking)}.")
    return given


def called(words: Sequence[Any], what: str, legal: Mapping[str, Callable[..., T]]) -> T:
    """What the first word makes of the others. Raises UsageError for an unknown one, and for too few or too many others."""
    first, *others = words or ("",)
    make = legal[one_of(str(first), what, legal)]
    try:
        signature(make).bind(*others)
    except TypeError as error:
        raise UsageError(f"{what} {first!r}: {error}.") from None
    return make(*others)
