"""Writes `tests/shared/literals/seatunnel-sink.txt`: what the serializer of SeaTunnel's Kafka sink,
format canal_json, makes of the rows of the named histories; and holds the writer to it.

    python -m recorders.seatunnel_sink           writes the file again
    python -m recorders.seatunnel_sink --check   writes nothing; exit 1 if the file would change

Both say how many messages our writer writes as SeaTunnel does, key and value, and show the first
that it does not. Needs a JDK, and the Maven registry for SeaTunnel's jars the first time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.model import Logical, RowImages, SourceType, Table
from generators.profiles import Profile
from generators.wire_format import Format
from recorders.debezium_types import run_program
from recorders.flink_sinks import flink_type
from recorders.sinks import Sink, column_parts, name_texts, record_sink, row_kind_lines


def seatunnel_bundle(release: str) -> Bundle:
    """The jars of the Kafka connector of a release, whose own serializer the Java program runs.
    The connector's jar has the formats and Kafka's client in it.
    """
    names = ("connector-kafka", "seatunnel-api")
    return Bundle(
        f"seatunnel-kafka-{release}",
        "SeaTunnel's Kafka connector",
        (*(("org.apache.seatunnel", name, release) for name in names), LOGGING),
        main="connector-kafka-",
        download="about 20 jars",
        without=(
            *("log4j-slf4j-impl", "log4j-core", "log4j-api", "log4j-1.2-api"),
            *("jcl-over-slf4j", "scala-library"),
        ),
    )


def seatunnel_type(type: SourceType) -> str:
    """The type of SeaTunnel's column for a type of MySQL, by the table in its documentation of the
    MySQL-CDC source: the one that Flink CDC has, but for these.
    """
    match type.logical:
        case Logical.INT if type.name == "mediumint":
            return "INT"
        case Logical.DECIMAL if type.unsigned:
            return f"DECIMAL({(type.precision or 0) + 1}, {type.scale})"
        case Logical.DATETIME | Logical.TIMESTAMP:
            return "TIMESTAMP"
    return flink_type(type)


class SeaTunnelSink(Sink):
    """SeaTunnel's Kafka sink, format canal_json."""

    product = "SeaTunnel"
    file = "tests/shared/literals/seatunnel-sink.txt"
    formats = ("seatunnel-canal-json",)
    profiles = (
        *("2.3.3", "2.3.3+shanghai", "2.3.3+keyed+kolkata"),
        *("2.3.8", "2.3.8+keyed+shanghai", "2.3.8+keyed+new-york"),
    )
    longest_message = 140
    has_keys = True

    def __init__(self, note: Note) -> None:
        self._note = note

    def serialize(self, profile: Profile, lines: str) -> Iterator[str]:
        """The sink's messages of the given lines (one for each table and each message, see `Sink`),
        from the jars of the profile's release; its source reads instants in the deployment's time
        zone.
        """
        jars = jars_of(seatunnel_bundle(profile.release), self._note)
        return iter(run_program("SeaTunnelSink", jars, lines, profile.deployment.time_zone))

    def table_line(self, fmt: Format[Any], profile: Profile, table: Table) -> str:
        """The number of the record key's columns and their names, then name and type of each
        column.
        """
        key = name_texts(table.primary_key if "keyed" in profile.options else ())
        parts = ["table", str(len(key)), *key]
        return "\t".join([*parts, *column_parts(table, seatunnel_type)]) + "\n"

    def change_lines(self, table: Table, images: RowImages) -> list[str]:
        """An UPDATE is two rows, -U and +U."""
        return row_kind_lines(table, images)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, what the sink's serializer makes of the histories' rows."""
    if not record_sink(SeaTunnelSink(partial(click.echo, err=True)), check=check):
        sys.exit(1)


if __name__ == "__main__":
    main()
