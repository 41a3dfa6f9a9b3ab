"""What Debezium's MySQL and MariaDB connectors make of the definition of a column in a streamed
CREATE TABLE: the table `mysql_columns.toml`, read off the connectors' own classes.

`python -m recorders.debezium_types` writes the table.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from generators.errors import UnknownName, UsageError

FILE: Final = "generators/families/debezium/mysql_columns.toml"


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """What a connector makes of one definition of a column.

    `schema` is the JSON of the Connect schema, with the default. `value` is the JSON of what the
    converter makes of a sample value of the binlog: all bits set, 0.1, or the bytes 61 ff 00 c3 a9;
    None if the table has none. `unfit` says that `value` is no value of the schema, so that the
    connector leaves the column out of rows. `empty` is the JSON of what the converter makes of no
    bytes.

    `refused` is the class of the error with which the connector's parser refuses the definition;
    the other fields are empty then. `refused_default` is that of the error at the default, which
    the schema then does not have.
    """

    schema: str = ""
    value: str | None = None
    empty: str | None = None
    unfit: bool = False
    refused: str = ""
    refused_default: str = ""

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of the Connect schema that the connector made."""
        members: Mapping[str, Any] = json.loads(self.schema)
        return members

    @property
    def type_and_name(self) -> tuple[str, str]:
        """The type of the Connect schema that the connector made, and the name of its semantic type
        or "".
        """
        members = self.members
        return members["type"], members.get("name", "")

    @property
    def is_signed(self) -> bool:
        """Whether the connector reads a number with all bits set as -1, so as a signed one."""
        return self.value == "-1"


@dataclass(frozen=True, slots=True)
class ColumnReadings:
    """The whole table. `columns` has what each connector makes of each definition, by definition
    and connector; a connector is a release of MySQL's such as `3.5.0.Final`, or one of MariaDB's
    such as `3.5.0.Final+mariadb`.
    """

    connectors: tuple[str, ...]
    columns: Mapping[str, Mapping[str, ColumnReading]]


_WRITE_AGAIN: Final = "Write the file again with `python -m recorders.debezium_types`."
_ROW_FIELDS: Final = ("in", *(field.name for field in fields(ColumnReading)))


def parse_readings(toml_text: str) -> ColumnReadings:
    """What each connector makes of each definition of a column, from the text of
    `mysql_columns.toml`. Raises UsageError for a text that is no such table, and for a definition
    that a connector has twice or not at all.
    """
    try:
        data = tomllib.loads(toml_text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{FILE}: no TOML: {error}. {_WRITE_AGAIN}") from error
    for name, kind, words in (
        ("connectors", list, "a list of releases"),
        ("columns", dict, "a table of definitions"),
    ):
        if not isinstance(data.get(name), kind):
            raise UsageError(f"{FILE}: {name} is not {words}. {_WRITE_AGAIN}")
    connectors = tuple(data["connectors"])
    columns = {
        definition: _by_connector(definition, definition_rows, connectors)
        for definition, definition_rows in data["columns"].items()
    }
    return ColumnReadings(connectors, columns)


def _by_connector(
    definition: str, definition_rows: Sequence[Mapping[str, Any]], connectors: Sequence[str]
) -> Mapping[str, ColumnReading]:
    """What each connector makes of one definition, from the rows of the file. A row has the fields
    of a ColumnReading, and in `in` the connectors that read the definition so; without `in` all do.
    Raises UsageError for a row with a field that no reading has, and for a connector that has two
    rows or none.
    """
    readings: dict[str, ColumnReading] = {}
    for definition_row in definition_rows:
        for name in definition_row:
            if name not in _ROW_FIELDS:
                raise UnknownName(f"field of {definition!r} in {FILE}", name, _ROW_FIELDS)
        facts = {name: fact for name, fact in definition_row.items() if name != "in"}
        for connector in definition_row.get("in", connectors):
            if connector in readings or connector not in connectors:
                raise UsageError(
                    f"{FILE}: {definition!r} has two rows of {connector!r}, or the file does not"
                    f" name that connector. {_WRITE_AGAIN}"
                )
            readings[connector] = ColumnReading(**facts)
    missing = [connector for connector in connectors if connector not in readings]
    if missing:
        raise UsageError(f"{FILE}: {definition!r} has no row of {missing[0]!r}. {_WRITE_AGAIN}")
    return readings


@cache
def column_readings() -> ColumnReadings:
    """The committed table `mysql_columns.toml`: what each release of Debezium's MySQL and MariaDB
    connectors makes of each definition of a column. The writer looks definitions up in it by
    `find_reading`, `recorders.debezium_types` completes it. Raises UsageError if the file is no
    such table.
    """
    file = resources.files("generators.families.debezium").joinpath("mysql_columns.toml")
    return parse_readings(file.read_text("utf-8"))


_CLAUSES: Final = re.compile(
    r"\s(?:NOT\s+NULL|NULL|DEFAULT|AUTO_INCREMENT|UNIQUE|PRIMARY|COMMENT|COLLATE|ON|CHECK"
    r"|GENERATED|AS|KEY|REFERENCES|INVISIBLE)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""What follows the type in a definition of a column."""
_PARENTHESES: Final = re.compile(r"\s*\(([^()]*)\)")
"""The parameters of a type in parentheses."""
_BINARY_CHARSET: Final = re.compile(r"(?:CHARACTER\s+SET|CHARSET)\s+BINARY\b")
_SIZED: Final = re.compile(
    r"(?:TINY|SMALL|MEDIUM|BIG|MIDDLE)?INT(?:EGER|\d)?|(?:NATIONAL |N)?(?:VAR)?CHAR|CHARACTER"
    r"|(?:TINY|MEDIUM|LONG)?(?:TEXT|BLOB)|VARBINARY|YEAR|REAL|DOUBLE"
)
"""Types whose parameters do not decide how they are read."""
_FLOAT_BITS: Final = 24
"""The largest p of FLOAT(p) that is a FLOAT, not a DOUBLE."""


@lru_cache(maxsize=4096)
def spelling_words(declared: str) -> str:
    """The words of a declared type that decide how a connector reads it: in upper case, without a
    length where it does not matter.

    `float(7,3) default 1` gives "FLOAT(M,D)", `Varchar(5) charset binary` "VARCHAR CHARACTER SET
    BINARY", `datetime(3)` "DATETIME(3)".
    """
    words = " ".join(_CLAUSES.sub("", declared).upper().split())
    words = _BINARY_CHARSET.sub("CHARACTER SET BINARY", words)
    match = _PARENTHESES.search(words)
    if match is None:
        return words
    name, suffix = words[: match.start()].rstrip(), words[match.end() :].strip()
    # Before BINARY, as in `CHAR(5) BINARY`, parameters are kept whatever the type is.
    parameters = match[0] if suffix.startswith("BINARY") else _parameters(name, match[1])
    return f"{name}{parameters} {suffix}".strip()


def _parameters(name: str, listed: str) -> str:
    """The parameters of the type `name`, in parentheses, as far as they decide how a connector
    reads it; "" if they do not. `listed` is what stands between the parentheses.

    Where only the kind of the parameters decides, one text stands for all: "(M,D)" of a FLOAT with
    digits, "(25)" of a FLOAT(p) that is a DOUBLE, "(N)" of any BINARY.
    """
    if name == "FLOAT":
        if "," in listed:
            return "(M,D)"
        return "" if listed.strip().isdigit() and int(listed) <= _FLOAT_BITS else "(25)"
    if name == "BINARY":
        return "(N)"
    return "" if _SIZED.match(name) else f"({listed})"


@cache
def _by_spelling(connector: str) -> Mapping[str, ColumnReading]:
    """What a connector makes of each definition without further clauses such as a default or NOT
    NULL, by the words of the definition that decide (`spelling_words`). Raises UsageError if two
    definitions of the same words are read in two ways.
    """
    readings_by_words: dict[str, ColumnReading] = {}
    for definition, readings in column_readings().columns.items():
        if not _CLAUSES.search(definition):
            words, reading = spelling_words(definition), readings[connector]
            if readings_by_words.setdefault(words, reading) != reading:
                raise UsageError(
                    f"{FILE}: {connector} reads {definition!r} otherwise than another definition of"
                    f" the words {words!r}. Let spelling_words tell them apart."
                )
    return readings_by_words


def find_reading(declared: str, connector: str) -> ColumnReading | None:
    """What a connector makes of a declared type, such as `float(7,3)`; None for a spelling that is
    not in the table of readings.
    """
    return _by_spelling(connector).get(spelling_words(declared))
