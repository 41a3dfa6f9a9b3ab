"""The named cases and the losses that both encodings of TiCDC's Debezium protocol have."""

from __future__ import annotations

from collections.abc import Iterator

from generators.families.cases import Cases, deleted, inserted, updated
from generators.families.debezium.values import CellWriter, wire_values
from generators.model import Column, Default, Logical, Row, Scenario, ZeroDate
from generators.sources import mysql
from generators.sources.boundaries import ID, neutral
from generators.wire_format import Loss


def scenarios_of_values(database: str) -> Iterator[Scenario]:
    """The cases of defaults for NULL, zero dates, two-digit years, and a key's column called
    payload.
    """
    cases = Cases(database)
    string_, integer = mysql.text("varchar", 64), mysql.integer("int")
    columns = (
        ID,
        Column("a", string_, default=Default("'d'", "d")),
        Column("n", integer, default=Default("5", 5)),
    )
    null_row: Row = {"id": 1, "a": None, "n": None}
    yield cases.of(*columns).case(
        "values/default-for-null",
        inserted(null_row),
        updated(null_row, {"a": "x"}),
        tags=("default-for-null",),
    )
    types = {n: mysql.TYPES[n] for n in ("date", "datetime-6", "timestamp-3")}
    zeros: Row = {"id": 1, **{neutral(n): ZeroDate() for n in types}}
    yield cases.of(ID, *(Column(neutral(n), type, False) for n, type in types.items())).case(
        "values/zero-not-null", inserted(zeros), tags=("zero-not-null",)
    )
    years: list[Row] = [
        {"id": i, "c": mysql.wall(f"00{year}-02-03 04:05:06")} for i, year in enumerate((18, 99))
    ]
    moment = Column("c", mysql.temporal("datetime"))
    yield cases.of(ID, moment).case(
        "values/two-digit-year", inserted(*years), tags=("two-digit-year",)
    )
    columns = (
        Column("schema", integer, False),
        Column("payload", string_, False),
        Column("a", string_),
    )
    null_row = {"schema": 1, "payload": "{}", "a": "x"}
    yield cases.of(*columns, key=("schema", "payload")).case(
        "key/named-schema-and-payload",
        inserted(null_row),
        deleted(null_row),
        tags=("key-look-alike",),
    )


def loss_of_dates(writer: CellWriter) -> Loss:
    """What the messages lose of a date, whose cells `writer` writes."""
    return Loss(
        (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP),
        "zero dates are NULL or the epoch, and years 1 to 99 may move",
        "ticdc-debezium#zero-dates",
        wire_values(writer),
    )
