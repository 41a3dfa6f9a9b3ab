"""Writes `tests/shared/literals/flink-sinks.txt`: what the serializers of Flink's own changelog
formats make of the rows of the named histories; and holds the writers to them.

    python -m recorders.flink_sinks           writes the file again
    python -m recorders.flink_sinks --check   writes nothing; exit 1 if the file would change

Both say how many messages our writers write as Flink does, and show the first that they do not.
Needs a JDK, and the Maven registry for Flink's jars the first time.
"""

from __future__ import annotations

import base64
import datetime as dt
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.drawing.cases import as_case, boundary_scenarios
from generators.families.flink import FORMS
from generators.families.mysql_texts import cell
from generators.model import (
    Json,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
    ZeroDate,
)
from generators.profiles import Profile
from generators.sources import mysql
from generators.wire_format import Format, get
from recorders.debezium_types import run_program

FILE: Final = "tests/shared/literals/flink-sinks.txt"
FORMATS: Final = ("flink-canal-json", "flink-debezium-json", "flink-maxwell-json", "flink-ogg-json")
PROFILES: Final = (
    "1.17.2",
    "1.17.2+plain-decimals",
    "1.20.3",
    "1.20.3+non-null",
    "2.3.0",
    "2.3.0+iso-8601+plain-decimals+non-null+keyed",
)
"""The profiles that are compared; of those that run unasked the messages are kept."""
LONGEST_MESSAGE: Final = 120
"""The characters of the longest message that the file keeps."""
_MOST_ROWS: Final = 100
_MOST_CHARACTERS: Final = 50_000
"""What a history that is compared has at most."""

OPTIONS: Final = {
    "iso-8601": "timestamp-format.standard=ISO-8601",
    "plain-decimals": "encode.decimal-as-plain-number=true",
    "non-null": "encode.ignore-null-fields=true",
}
"""The option of Flink's format for one of the writer's profile; `keyed` is the connector's."""


def flink_bundle(release: str) -> Bundle:
    """The jars of a release's JSON formats of Flink, whose own serializers the Java program runs."""
    names = ("flink-json", "flink-table-common", "flink-table-runtime", "flink-core")
    return Bundle(
        f"flink-json-{release}",
        f"Flink's JSON formats {release}",
        (*(("org.apache.flink", name, release) for name in names), LOGGING),
        main="flink-json-",
        download="up to 50 jars",
    )


def flink_type(type: SourceType) -> str:
    """The type of Flink's column for a type of MySQL, by the table in Flink CDC's documentation; a
    TIMESTAMP is TIMESTAMP_LTZ, as Flink CDC's pipelines have it.
    """
    match type.logical:
        case Logical.INT:
            return _integer_type(type)
        case Logical.YEAR:
            return "INT"
        case Logical.DECIMAL:
            return f"DECIMAL({type.precision}, {type.scale})"
        case Logical.FLOAT:
            return "FLOAT"
        case Logical.DOUBLE:
            return "DOUBLE"
        case Logical.BIT:
            return "BOOLEAN"
        case Logical.BINARY:
            return "BYTES"
        case Logical.DATE:
            return "DATE"
        case Logical.DATETIME:
            return f"TIMESTAMP({type.fsp})"
        case Logical.TIMESTAMP:
            return f"TIMESTAMP_LTZ({type.fsp})"
    return "STRING"


_UNSIGNED_TYPES: Final = {
    "tinyint": "SMALLINT",
    "smallint": "INT",
    "mediumint": "BIGINT",
    "int": "BIGINT",
    "bigint": "DECIMAL(20, 0)",
}
_SIGNED_TYPES: Final = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "mediumint": "INT",
    "int": "INT",
    "bigint": "BIGINT",
}


def _integer_type(type: SourceType) -> str:
    return (_UNSIGNED_TYPES if type.unsigned else _SIGNED_TYPES)[type.name]


def value_text(type: SourceType, value: Value) -> str:
    """A value as the Java program reads it. Raises TypeError for a value of another type."""
    if value is None or isinstance(value, ZeroDate):
        return "NULL"
    match type.logical, value:
        case Logical.ENUM, int():
            return base64_text(type.members[value - 1].encode() if value else b"")
        case Logical.TEXT, str():
            stored = value.rstrip(" ") if type.name == "char" else value
            return base64_text(stored.encode())
        case Logical.JSON, Json():
            return base64_text(_json_text(type, value).encode())
        case Logical.BINARY, bytes():
            return base64_text(value)
        case Logical.BIT, int():
            return "true" if value else "false"
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return repr(value)
        case Logical.DECIMAL, Decimal():
            return format(value, "f")
        case Logical.DATE, dt.date():
            return value.isoformat()
        case Logical.DATETIME, int():
            return _moment(value)
        case Logical.TIMESTAMP, int():
            return f"{_moment(value)}Z"
        case _, int():
            return str(value)
    raise TypeError(f"{value!r} is no value of {type.key}")


def _json_text(type: SourceType, value: Json) -> str:
    """The text of a document that the writer gives to Flink: Flink has no type for one."""
    return cell(type, value, FORMS).text or ""


def base64_text(value: bytes) -> str:
    """Bytes as the Java programs read them."""
    return base64.b64encode(value).decode()


def _moment(micros: int) -> str:
    """Microseconds since 1970 in ISO 8601, without a zone."""
    return (mysql.EPOCH + dt.timedelta(microseconds=micros)).isoformat()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What Flink and our writer made of the rows of one history."""

    format: str
    profile: str
    scenario: str
    flink: tuple[str, ...]
    ours: tuple[str, ...]


def compare(fmt: Format[Any], profile: Profile, note: Note) -> Iterator[Comparison]:
    """Runs Flink's serializer of a format on the rows of all named histories without statements."""
    jars = jars_of(flink_bundle(profile.release), note)
    histories = [
        scenario for scenario in boundary_scenarios(fmt, profile) if has_writable_rows(scenario)
    ]
    blocks = [_lines_of(fmt, profile, scenario) for scenario in histories]
    written = iter(run_program("FlinkSinks", jars, "".join(map("".join, blocks))))
    for scenario, block in zip(histories, blocks, strict=True):
        flink = tuple(next(written) for line in block if line.startswith("row"))
        case = as_case(fmt, profile, scenario)
        ours = tuple((record.message.value or b"").decode() for record in case.written)
        yield Comparison(fmt.name, profile.name, scenario.name, flink, ours)
    assert next(written, None) is None


def has_writable_rows(scenario: Scenario) -> bool:
    """Whether a history has rows that are not too many or too long for a comparison."""
    images: list[RowImages] = []
    for event in scenario.history.events:
        if isinstance(event, RowChange) and event.op is not Op.TRUNCATE:
            images += event.rows
    return 0 < len(images) <= _MOST_ROWS and len(str(images)) < _MOST_CHARACTERS


def _lines_of(fmt: Format[Any], profile: Profile, scenario: Scenario) -> list[str]:
    """The lines for the Java program that runs Flink's serializers: one for each row that Flink's
    table sees removed or added, and one of the table before a row of another table than the row
    before.
    """
    options = " ".join(OPTIONS[option] for option in profile.options if option in OPTIONS)
    lines: list[str] = []
    table: Table | None = None
    for event in scenario.history.events:
        if not isinstance(event, RowChange) or event.op is Op.TRUNCATE:
            continue
        if event.table != table:
            table = event.table
            columns = [
                f"{base64_text(c.name.encode())}\t{flink_type(c.type)}" for c in table.columns
            ]
            parts = ["table", fmt.name.removeprefix("flink-"), options, *columns]
            lines.append("\t".join(parts) + "\n")
        for images in event.rows:
            is_update = images.before is not None and images.after is not None
            if images.before is not None:
                lines.append(_row_line("-U" if is_update else "-D", table, images.before))
            if images.after is not None:
                lines.append(_row_line("+U" if is_update else "+I", table, images.after))
    return lines


def _row_line(kind: str, table: Table, source_row: Row) -> str:
    """The line of one row for the Java program that runs Flink's serializers. `kind` is Flink's
    short name of the change, such as +I.
    """
    texts = [value_text(column.type, source_row.get(column.name)) for column in table.columns]
    return "\t".join(["row", kind, *texts]) + "\n"


def kept_line(comparison: Comparison, longest: int = LONGEST_MESSAGE) -> str:
    """The line of the file for one history: its name and Flink's messages, none of which has a tab;
    "" for a history with a message of more than `longest` characters.
    """
    if any(len(message) > longest for message in comparison.flink):
        return ""
    return "\t".join([comparison.scenario, *comparison.flink]) + "\n"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, what Flink's serializers make of the histories' rows."""
    note: Callable[[str], None] = partial(click.echo, err=True)
    kept_lines: list[str] = []
    differing = 0
    for name in FORMATS:
        fmt = get(name)
        unasked = {profile.name for profile in fmt.profiles}
        for profile in map(fmt.profile, PROFILES):
            if profile.name in unasked:
                kept_lines.append(f"{name}\t{profile.name}\n")
            counts: Counter[str] = Counter()
            for comparison in compare(fmt, profile, note):
                for flink, ours in zip(comparison.flink, comparison.ours, strict=True):
                    counts["identical" if flink == ours else "other"] += 1
                    if flink != ours and counts["other"] <= 3:
                        click.echo(f"  {comparison.scenario}\n    flink {flink}\n    ours  {ours}")
                if profile.name in unasked:
                    kept_lines.append(kept_line(comparison))
            differing += counts["other"]
            click.echo(
                f"{name} {profile.name}: {counts['identical']} messages identical,"
                f" {counts['other']} other"
            )
    file = Path(__file__).parents[1] / FILE
    changed = not file.exists() or file.read_text("utf-8") != "".join(kept_lines)
    if not check:
        file.write_text("".join(kept_lines), "utf-8")
    if differing or (changed and check):
        sys.exit(1)


if __name__ == "__main__":
    main()
