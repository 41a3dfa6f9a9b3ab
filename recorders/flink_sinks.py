"""Writes `tests/shared/literals/flink-sinks.txt`: what the serializers of Flink's own changelog
formats make of the rows of the named histories; and holds the writers to them.

    python -m recorders.flink_sinks           writes the file again
    python -m recorders.flink_sinks --check   writes nothing; exit 1 if the file would change

Both say how many messages our writers write as Flink does, and show the first that they do not.
Needs a JDK, and the Maven registry for Flink's jars the first time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.model import Logical, RowImages, SourceType, Table
from generators.profiles import Profile
from generators.wire_format import Format
from recorders.debezium_types import run_program
from recorders.sinks import Sink, column_parts, record_sink, row_kind_lines

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
        "Flink's JSON formats",
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
    """The type of Flink's column for an integer type of MySQL."""
    return (_UNSIGNED_TYPES if type.unsigned else _SIGNED_TYPES)[type.name]


class FlinkSink(Sink):
    """Flink SQL's Kafka sink in its changelog formats, without the record's key."""

    product = "Flink"
    file = "tests/shared/literals/flink-sinks.txt"
    formats = ("flink-canal-json", "flink-debezium-json", "flink-maxwell-json", "flink-ogg-json")
    profiles = (
        "1.17.2",
        "1.17.2+plain-decimals",
        "1.20.3",
        "1.20.3+non-null",
        "2.3.0",
        "2.3.0+iso-8601+plain-decimals+non-null+keyed",
    )
    longest_message = 120
    has_keys = False

    def __init__(self, note: Note) -> None:
        self._note = note

    def serialize(self, profile: Profile, lines: str) -> Iterator[str]:
        """Flink's messages of the given lines (one for each table and each message, see `Sink`),
        from the jars of the profile's release.
        """
        jars = jars_of(flink_bundle(profile.release), self._note)
        return iter(run_program("FlinkSinks", jars, lines))

    def table_line(self, fmt: Format[Any], profile: Profile, table: Table) -> str:
        """The format, its options joined by blanks, then name and type of each column."""
        options = [OPTIONS[option] for option in profile.options if option in OPTIONS]
        kind = fmt.name.removeprefix("flink-")
        return (
            "\t".join(["table", kind, " ".join(options), *column_parts(table, flink_type)]) + "\n"
        )

    def change_lines(self, table: Table, images: RowImages) -> list[str]:
        """An UPDATE is two rows, -U and +U."""
        return row_kind_lines(table, images)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, what Flink's serializers make of the histories' rows."""
    if not record_sink(FlinkSink(partial(click.echo, err=True)), check=check):
        sys.exit(1)


if __name__ == "__main__":
    main()
