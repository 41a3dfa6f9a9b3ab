"""Writes `generators/families/debezium/mysql_columns.toml`: what Debezium's own DDL parser and
value converters make of each column definition in it, release by release; and
`postgresql_defaults.toml` beside it: what the PostgreSQL connector's mappers make of defaults.

    python -m recorders.debezium_types           writes the files again
    python -m recorders.debezium_types --check   exit 1, with the differing lines, if one would change

Needs a JDK, and the Maven registry for the connectors' jars the first time. A definition is added
as an empty row: `"FLOAT4 UNSIGNED" = []`.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import QUICK, Note, jars_of
from generators.errors import HarnessError, UsageError
from generators.families.debezium.mysql_columns import (
    FILE,
    ColumnReading,
    ColumnReadings,
    column_readings,
)
from generators.families.debezium.postgresql_defaults import FILE as DEFAULTS_FILE
from generators.families.debezium.postgresql_defaults import read_defaults
from generators.model import Column, Logical
from generators.tables.ddl import DdlReader
from generators.tables.ddl_text import Script
from recorders.products import debezium_bundle
from recorders.running import HEAP, find_compiler

_PROGRAMS: Final = Path(__file__).with_name("java")
_LIMIT_S: Final = 180
"""Seconds that a Java program may run."""
_WORDS: Final = {
    Logical.FLOAT: "float",
    Logical.DOUBLE: "double",
    Logical.TEXT: "bytes",
    Logical.BINARY: "bytes",
}
"""The word of the Java program for the binlog's value with which a type is tried."""

_HEAD: Final = """\
# What Debezium's MySQL and MariaDB connectors make of a column's definition in a streamed CREATE TABLE, with their
# default options. Read off the connectors' own DDL parser and value converters, and written again, by
#
#     python -m recorders.debezium_types
#
# `in` names the connectors that read a definition so (all, where it does not stand). `schema` is Connect's JSON schema
# with the default; `value` what the converter makes of a value of the binlog: all bits set, 0.1, or the bytes
# 61 ff 00 c3 a9; `unfit` says that this is no value of the schema, and the connector leaves the column out of the row;
# `empty` is what it makes of no bytes; `refused` the parser's error, at which the connector stops, `refused_default`
# that of the default, which the schema then has not.
"""


def model_column(definition: str) -> Column | None:
    """The column `c` that has this definition (such as `INT UNSIGNED NOT NULL`), as this project
    reads it; None for a type or a spelling that this project does not have.
    """
    reader = DdlReader("mysql", None, "shop")
    statement = f"CREATE TABLE t (id INT NOT NULL PRIMARY KEY, c {definition})"
    try:
        reader.read_script(Script("definition", statement, "mysql"))
        tables = reader.schema().tables
    except UsageError:
        return None
    columns = chain.from_iterable(user_table.table.columns for user_table in tables)
    return next((column for column in columns if column.name == "c"), None)


def probe_word(definition: str) -> str:
    """The word that tells the Java program DebeziumColumns which value to convert for a column
    definition, by the column's type. "none" if there is no such value, or this project has no
    such type.
    """
    column = model_column(definition)
    if column is None:
        return "none"
    if column.type.logical is Logical.INT:
        return "long" if column.type.name == "bigint" else "integer"
    return _WORDS.get(column.type.logical, "none")


def read_definitions(definitions: Sequence[str], connector: str, note: Note) -> list[ColumnReading]:
    """What one connector (`3.5.0.Final`, `3.5.0.Final+mariadb`) makes of each column definition, in
    their order. Raises HarnessError.
    """
    release, _, product = connector.partition("+")
    jars = jars_of(debezium_bundle(product or "mysql", release), note)
    lines = (f"{definition}\t{probe_word(definition)}\n" for definition in definitions)
    dialect = "MariaDb" if product else "MySql"
    read_lines = run_program("DebeziumColumns", jars, "".join(lines), dialect)
    return [parse_reading(line) for line in read_lines]


def run_program(
    program: str, jars: Sequence[Path], given_lines: str, *arguments: str
) -> tuple[str, ...]:
    """Runs a Java program on some input lines and returns its output lines. Raises HarnessError if
    it fails, or does not end within _LIMIT_S seconds.
    """
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-types-") as folder:
        input_file, results = Path(folder, "given"), Path(folder, "results")
        input_file.write_text(given_lines, "utf-8")
        command = [
            *(find_compiler(), HEAP, *QUICK, "-cp", os.pathsep.join(map(str, jars))),
            *(str(_PROGRAMS / f"{program}.java"), str(input_file), str(results)),
            *arguments,
        ]
        try:
            finished = subprocess.run(
                command, capture_output=True, text=True, timeout=_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise HarnessError(f"{program} did not end within {_LIMIT_S} s") from error
        if finished.returncode or not results.exists():
            raise HarnessError(
                f"{program} failed (exit {finished.returncode}):\n{finished.stderr[-2000:]}"
            )
        return split_lines(results.read_text("utf-8"))


def split_lines(results_text: str) -> tuple[str, ...]:
    """The lines of a text of which each ends with a line feed; a line may be empty, as a default
    that is the empty text.
    """
    # Not splitlines(): it would also cut a line at U+2028, which JSON holds as it is.
    return tuple(results_text.split("\n")[:-1])


def parse_reading(line: str) -> ColumnReading:
    """Parses a line of the Java program's output: what a connector makes of one column
    definition.
    """
    fields: dict[str, Any] = json.loads(line)
    fields |= {name: compact_json(fields[name]) for name in _JSON_FIELDS if name in fields}
    return ColumnReading(**fields)


_JSON_FIELDS: Final = ("schema", "value", "empty")
"""The fields of a reading that are JSON documents."""


def compact_json(document: object) -> str:
    """A JSON document without blanks, in ASCII."""
    return json.dumps(document, separators=(",", ":"))


def toml_text(value: str) -> str:
    """A text as a TOML string on one line: if it can be, between single quotes as it is, else with
    JSON's escapes.
    """
    # JSON's escape of a character beyond U+FFFF is a pair of surrogates, which TOML does not take:
    # so those beyond ASCII stay as they are. JSON leaves DEL (7F) as it is, TOML does not take it.
    if "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def readings_toml(readings: ColumnReadings) -> str:
    """The text of mysql_columns.toml: what each connector makes of each column definition."""
    connectors = ", ".join(map(toml_text, readings.connectors))
    lines = [_HEAD, f"connectors = [{connectors}]\n", "\n[columns]\n"]
    for definition, by_connector in readings.columns.items():
        readings_of_definition = _rows_toml(by_connector, readings.connectors)
        lines.append(f"{toml_text(definition)} = [{readings_of_definition}]\n")
    return "".join(lines)


def _rows_toml(by_connector: Mapping[str, ColumnReading], connectors: Sequence[str]) -> str:
    """The TOML rows for one column definition: each different reading (what a connector makes of
    the definition), with the connectors that read it so. A single row stands on the line of the
    definition, without the connectors.
    """
    distinct = list(dict.fromkeys(by_connector.values()))
    if len(distinct) == 1:
        return _written_row(distinct[0], "")
    lines = []
    for reading in distinct:
        having = ", ".join(toml_text(c) for c in connectors if by_connector[c] == reading)
        lines.append(f"\n    {_written_row(reading, f'in = [{having}], ')},")
    return "".join([*lines, "\n"])


def _written_row(reading: ColumnReading, having: str) -> str:
    """A reading of a column definition (what a connector makes of it) as a TOML inline table.
    `having` is the text of its first member, which names the connectors, or "". Facts that have
    their default are left out.
    """
    facts = {name: fact for name, fact in asdict(reading).items() if fact not in ("", None, False)}
    written = ", ".join(
        f"{name} = {'true' if fact is True else toml_text(fact)}" for name, fact in facts.items()
    )
    return f"{{ {having}{written} }}"


def read_table(definitions: Iterable[str], connectors: Sequence[str], note: Note) -> ColumnReadings:
    """Asks the connectors' own classes what they make of each column definition, two connectors at
    a time. `note` receives lines of progress. Raises HarnessError.
    """
    definitions = tuple(definitions)
    with ThreadPoolExecutor(2) as pool:
        read = partial(read_definitions, definitions, note=note)
        columns = list(pool.map(lambda connector: read(connector=connector), connectors))
    return ColumnReadings(
        tuple(connectors),
        {
            definition: dict(zip(connectors, readings, strict=True))
            for definition, readings in zip(definitions, zip(*columns, strict=True), strict=True)
        },
    )


_DEFAULTS_HEAD: Final = """\
# What the mappers of Debezium's PostgreSQL connector make of a column's default as the catalogue prints it: of `types`
# alone is there a mapper. "none" is a default that the connector does not know. Read off the connector's own classes,
# which agree in all `releases`, and written again, by
#
#     python -m recorders.debezium_types
"""


def read_mappers(defaults: Sequence[str], release: str, note: Note) -> tuple[str, ...]:
    """Asks one release of the PostgreSQL connector what it makes of `defaults`, each a type, a
    blank and a default as the catalogue prints it (such as `int4 (1 + 2)`). Returns first the types
    that have a mapper of defaults, one text with blanks between them, then what became of each
    default. Raises HarnessError.
    """
    # A line of the program has a tab behind the type.
    jars = jars_of(debezium_bundle("postgres", release), note)
    lines = (default.replace("\n", "\\n").replace(" ", "\t", 1) for default in defaults)
    return run_program("DebeziumDefaults", jars, "".join(f"{line}\n" for line in lines))


def defaults_toml(note: Note) -> str:
    """The text of postgresql_defaults.toml. Raises HarnessError if releases of the connector
    differ.
    """
    table = read_defaults()
    defaults, releases = tuple(table["defaults"]), tuple(table["releases"])
    by_release = {release: read_mappers(defaults, release, note) for release in releases}
    if len(set(by_release.values())) > 1:
        raise HarnessError(
            f"the releases of Debezium's PostgreSQL connector differ in their defaults, and"
            f" {DEFAULTS_FILE} has one table for all: {by_release}"
        )
    types, *results = by_release[releases[0]]
    type_names = ", ".join(map(toml_text, types.split()))
    default_lines = "".join(
        f"{toml_text(default)} = {toml_text(result)}\n"
        for default, result in zip(defaults, results, strict=True)
    )
    release_names = ", ".join(map(toml_text, releases))
    lists = f"releases = [{release_names}]\ntypes = [{type_names}]\n"
    return f"{_DEFAULTS_HEAD}\n{lists}\n[defaults]\n{default_lines}"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, both files of what Debezium's classes make of columns'
    definitions and defaults.
    """
    note = partial(click.echo, err=True)
    table = column_readings()
    texts = {
        FILE: readings_toml(read_table(table.columns, table.connectors, note)),
        DEFAULTS_FILE: defaults_toml(note),
    }
    changed = [name for name, file_text in texts.items() if _put_table(name, file_text, check)]
    if changed and check:
        sys.exit(1)


def _put_table(name: str, file_text: str, check: bool) -> bool:
    """Prints how the text of a generated file would change, and writes the new text unless `check`.
    `name` is the file's path in the project. Returns whether the text changes.
    """
    file = Path(__file__).parents[1] / name
    committed = file.read_text("utf-8")
    lines = (committed.splitlines(), file_text.splitlines())
    difference = list(difflib.unified_diff(*lines, "committed", "read", n=0, lineterm=""))
    click.echo("\n".join(difference) or f"{name}: {len(lines[1])} lines, equal")
    if not check:
        file.write_text(file_text, "utf-8")
    return bool(difference)


if __name__ == "__main__":
    main()
