"""MySQL's types as a table, `mysql_types.toml`: the logical type of each, and the numbers by which
products name it.

The table is checked when it is loaded. A type without a row, or a row without a number, is an error
that names the file, the line and what to add.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final, Literal, TypeAlias

from generators.errors import UsageError, did_you_mean, nearest
from generators.model import Logical, SourceType

FILE: Final = "generators/sources/mysql_types.toml"
NO_NUMBER: Final = "none"
"""What a row says of a product that does not have the type."""

NumberName: TypeAlias = Literal[
    "java",
    "java_null",
    "java_null_1_1_6",
    "java_over_signed",
    "protocol",
    "tencent",
    "binlog",
    "ticdc_java",
    "ticdc_java_v5_3",
    "ticdc_open",
]
"""A column of the table; `[numbers]` in the file says what each is."""


class MissingNumber(UsageError, KeyError):
    """A product has no number for a type. It is a KeyError for `Mapping.get` and `in` alone."""

    __str__ = Exception.__str__


def parse_logical(place: str, type_entry: Mapping[str, Any]) -> Logical:
    """The logical type in a row of a table of types; `place` says for errors which row it is.
    Raises UsageError for a row without a known one.
    """
    logicals = [logical.value for logical in Logical]
    if type_entry.get("logical") not in logicals:
        raise UsageError(
            f"{place} has no known logical type: {type_entry.get('logical')!r}. Add `logical = ...`,"
            f" one of {', '.join(logicals)}."
        )
    return Logical(type_entry["logical"])


def check_column(place: str, column: str, legal: Collection[str]) -> None:
    """Raises UsageError for a column of a row that is none of the legal ones; `place` says which
    row it is.
    """
    if column not in legal:
        raise UsageError(
            f"{place} has an unknown column {column!r}."
            f"{did_you_mean(nearest(column, legal))} Known: {', '.join(legal)}."
        )


class TypeTable:
    """The parsed table of MySQL's types. `toml_text` is the file's text. Raises UsageError for a
    wrong row.
    """

    def __init__(self, toml_text: str) -> None:
        data: dict[str, Any] = tomllib.loads(toml_text)
        self._lines = toml_text.splitlines()
        self._numbers: Mapping[str, Mapping[str, str]] = data["numbers"]
        self._rows: Mapping[str, Mapping[str, Any]] = data["types"]
        for name, type_entry in self._rows.items():
            self._check_row(name, type_entry)

    def numbers(self, column: NumberName) -> TypeNumbers:
        """A product's numbers of MySQL's types, from one column of the table; types without a
        number are left out.
        """
        number_by_name: dict[str, int] = {}
        for name, type_entry in self._rows.items():
            number = type_entry.get(self._source_of(column, type_entry), NO_NUMBER)
            if number != NO_NUMBER:
                number_by_name[name] = number
        lines = {name: self._line(name) for name in self._rows}
        return TypeNumbers(column, number_by_name, lines)

    def check_types(self, types: Mapping[str, SourceType]) -> None:
        """Raises UsageError for a type that has no row, or whose row has another logical type."""
        for type in types.values():
            type_entry = self._rows.get(type.name)
            if type_entry is None:
                raise UsageError(
                    f"{FILE}: the type {type.name!r} of generators/sources/mysql.py has no row."
                    f" {self._row_to_add(type)}"
                )
            if type_entry["logical"] != type.logical.value:
                raise UsageError(
                    f"{FILE}:{self._line(type.name)}: the type {type.name!r} has the logical type"
                    f" {type_entry['logical']!r} here, {type.logical.value!r} in"
                    " generators/sources/mysql.py. Write the same in both."
                )

    def _check_row(self, name: str, type_entry: Mapping[str, Any]) -> None:
        """Raises UsageError, which names the line, for a row with an unknown column, no number or a
        missing one.
        """
        place = f"{FILE}:{self._line(name)}: the type {name!r}"
        parse_logical(place, type_entry)
        legal = ("logical", *self._numbers)
        for column, number in type_entry.items():
            check_column(place, column, legal)
            if column != "logical" and type(number) is not int and number != NO_NUMBER:
                raise UsageError(
                    f"{place} says {number!r} for {column!r}: write a number, or {NO_NUMBER!r}."
                )
        missing = [column for column in self._required(type_entry) if column not in type_entry]
        if missing:
            raise UsageError(f"{place} has no {missing[0]!r}. {self._add_number(missing[0])}")

    def _required(self, type_entry: Mapping[str, Any]) -> list[str]:
        """The columns of numbers that the row of a type must have: those of its logical type for
        which no other column stands in.
        """
        return [
            column
            for column, facts in self._numbers.items()
            if "like" not in facts
            and facts.get("logical", type_entry["logical"]) == type_entry["logical"]
        ]

    def _add_number(self, column: str) -> str:
        """The end of an error message for a MySQL type without a product's number: what to add to
        its row.
        """
        advice = self._numbers[column]["says"]
        return f'Add `{column} = NUMBER` ({advice}), or `{column} = "{NO_NUMBER}"`.'

    def _row_to_add(self, type: SourceType) -> str:
        """The row for a MySQL type that the table lacks, with a placeholder for each number, as the
        end of an error message.
        """
        required = self._required({"logical": type.logical.value})
        cells = ", ".join(f'{column} = "{NO_NUMBER}"' for column in required)
        return (
            f'Add `{type.name} = {{ logical = "{type.logical.value}", {cells} }}` under [types], with'
            f" a number for {NO_NUMBER!r} where the product has one; see docs/adding-a-type.md."
        )

    def _source_of(self, column: str, type_entry: Mapping[str, Any]) -> str:
        """The column that holds a type's number for the product of `column`: that column, or the
        nearest one that stands in for it.
        """
        while column not in type_entry and "like" in self._numbers[column]:
            column = self._numbers[column]["like"]
        return column

    def _line(self, name: str) -> int:
        """The line of the file in which a type's row stands, for error messages; 1 if none is
        found.
        """
        pattern = re.compile(rf"\s*{re.escape(name)}\s*=")
        start = self._lines.index("[types]") if "[types]" in self._lines else 0
        for number, line in enumerate(self._lines[start:], start + 1):
            if pattern.match(line):
                return number
        return 1


class TypeNumbers(Mapping[str, int]):
    """A product's numbers by type. A type that the product does not have raises
    MissingNumber, which says where a number would be added.
    """

    def __init__(self, column: str, numbers: Mapping[str, int], lines: Mapping[str, int]) -> None:
        self._column, self._numbers, self._lines = column, numbers, lines

    def __getitem__(self, name: str) -> int:
        """The product's number of the type of that name. Raises MissingNumber, which names the
        file's line, if the product has none.
        """
        if name not in self._numbers:
            place = f"{FILE}:{self._lines[name]}" if name in self._lines else FILE
            add = "its row" if name in self._lines else f"a row for {name!r}"
            raise MissingNumber(
                f"{place}: the type {name!r} has no {self._column!r}. Add it to {add}, or leave the"
                " type out of what the format supports."
            )
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


@cache
def mysql_types() -> TypeTable:
    """The table of MySQL's types, read once from its file. Raises UsageError for a wrong row."""
    file = resources.files("generators.sources").joinpath("mysql_types.toml")
    return TypeTable(file.read_text("utf-8"))


def type_numbers(column: NumberName) -> TypeNumbers:
    """The numbers by which a product names MySQL's types, by type; `column` is the product's in the
    table.
    """
    return mysql_types().numbers(column)
