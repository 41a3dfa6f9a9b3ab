"""Writes `tests/shared/literals/seatunnel-sink.txt`: what the serializer of SeaTunnel's Kafka sink,
format canal_json, makes of the rows of the named histories; and holds the writer to it.

    python -m recorders.seatunnel_sink           writes the file again
    python -m recorders.seatunnel_sink --check   writes nothing; exit 1 if the file would change

Both say how many messages our writer writes as SeaTunnel does, key and value, and show the first
that it does not. Needs a JDK, and the Maven registry for SeaTunnel's jars the first time.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from conformance.brokers.jars import LOGGING, Bundle, Note, jars_of
from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import Logical, Op, Row, RowChange, Scenario, SourceType, Table
from generators.profiles import Profile
from generators.wire_format import Format, get
from recorders.debezium_types import run_program
from recorders.flink_sinks import (
    Comparison,
    base64_text,
    flink_type,
    has_writable_rows,
    kept_line,
    value_text,
)

FILE: Final = "tests/shared/literals/seatunnel-sink.txt"
FORMAT: Final = "seatunnel-canal-json"
PROFILES: Final = (
    *("2.3.3", "2.3.3+shanghai", "2.3.3+keyed+kolkata"),
    *("2.3.8", "2.3.8+keyed+shanghai", "2.3.8+keyed+new-york"),
)
"""The profiles that are compared; of those that run unasked the messages are kept."""
LONGEST_MESSAGE: Final = 140
"""The characters of the longest message, key and value, that the file keeps."""


def seatunnel_bundle(release: str) -> Bundle:
    """The jars of the Kafka connector of a release, whose own serializer the Java program runs.
    The connector's jar has the formats and Kafka's client in it.
    """
    names = ("connector-kafka", "seatunnel-api")
    return Bundle(
        f"seatunnel-kafka-{release}",
        f"SeaTunnel's Kafka connector {release}",
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


def compare(fmt: Format[Any], profile: Profile, note: Note) -> Iterator[Comparison]:
    """Runs SeaTunnel's serializer on the rows of all named histories without statements."""
    jars = jars_of(seatunnel_bundle(profile.release), note)
    histories = [
        scenario for scenario in boundary_scenarios(fmt, profile) if has_writable_rows(scenario)
    ]
    blocks = [_lines_of(profile, scenario) for scenario in histories]
    given_lines = "".join(map("".join, blocks))
    zone = profile.deployment.time_zone
    written = iter(run_program("SeaTunnelSink", jars, given_lines, zone))
    for scenario, block in zip(histories, blocks, strict=True):
        product = tuple(next(written) for line in block if line.startswith("row"))
        case = as_case(fmt, profile, scenario)
        ours = tuple(
            f"{(record.message.key or b'').decode()}\t{(record.message.value or b'').decode()}"
            for record in case.written
        )
        yield Comparison(fmt.name, profile.name, scenario.name, product, ours)
    assert next(written, None) is None


def _lines_of(profile: Profile, scenario: Scenario) -> list[str]:
    """The lines for the Java program: one for each row that is removed or added, and one of the
    table before a row of another table than the row before.
    """
    lines: list[str] = []
    table: Table | None = None
    for event in scenario.history.events:
        if not isinstance(event, RowChange) or event.op is Op.TRUNCATE:
            continue
        if event.table != table:
            table = event.table
            lines.append(_table_line(profile, table))
        for images in event.rows:
            is_update = images.before is not None and images.after is not None
            if images.before is not None:
                lines.append(_row_line("-U" if is_update else "-D", table, images.before))
            if images.after is not None:
                lines.append(_row_line("+U" if is_update else "+I", table, images.after))
    return lines


def _table_line(profile: Profile, table: Table) -> str:
    key = table.primary_key if "keyed" in profile.options else ()
    names = [base64_text(column.encode()) for column in key]
    columns = [f"{base64_text(c.name.encode())}\t{seatunnel_type(c.type)}" for c in table.columns]
    return "\t".join(["table", str(len(names)), *names, *columns]) + "\n"


def _row_line(kind: str, table: Table, source_row: Row) -> str:
    """The line of one row. `kind` is SeaTunnel's short name of the change, such as +I."""
    texts = [value_text(column.type, source_row.get(column.name)) for column in table.columns]
    return "\t".join(["row", kind, *texts]) + "\n"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the file would change.")
def main(check: bool) -> None:
    """Writes, or checks with --check, what the sink's serializer makes of the histories' rows."""
    note: Note = partial(click.echo, err=True)
    fmt = get(FORMAT)
    unasked = {profile.name for profile in fmt.profiles}
    kept_lines: list[str] = []
    differing = 0
    for profile in map(fmt.profile, PROFILES):
        is_kept = profile.name in unasked
        kept_lines += [f"{FORMAT}\t{profile.name}\n"] if is_kept else []
        counts: Counter[str] = Counter()
        for comparison in compare(fmt, profile, note):
            for product, ours in zip(comparison.flink, comparison.ours, strict=True):
                counts["identical" if product == ours else "other"] += 1
                if product != ours and counts["other"] <= 3:
                    click.echo(
                        f"  {comparison.scenario}\n    SeaTunnel {product}\n    ours      {ours}"
                    )
            kept_lines += [kept_line(comparison, LONGEST_MESSAGE)] if is_kept else []
        differing += counts["other"]
        click.echo(
            f"{FORMAT} {profile.name}: {counts['identical']} messages identical,"
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
