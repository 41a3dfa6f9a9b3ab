r"""Upstream Debezium through Confluent's AvroConverter: MySQL and PostgreSQL connectors 1.4 to 3.6,
SQL Server's and Oracle's of 2.5 and 3.6, in Confluent's framing.

Source: debezium-json for the connectors, confluentinc/schema-registry for the converter (the pages
debezium, confluent of the sources). Key and value are each a zero byte, the id of a schema in the
registry, and one Avro record. The schema has all that Connect's has: the semantic type of a column
is `connect.name`, and DECIMAL is Avro's logical type. The connectors run with
`schema.name.adjustment.mode` and `field.name.adjustment.mode` (before 2.0 `sanitize.field.names`),
without which the converter refuses names: a column's name has an underscore for each character that
Avro's names do not have.

At level one a decimal is its digits, a float the shortest, and bytes are base64, as in JSON. Not
written: tables of which two columns have one name then, which Connect refuses; `avro_unicode`
adjustment; schema references; `use.latest.version`.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a
heartbeat, with 3.5.0.Final:

    b'\x00%oA\xdc\x02' b'\x00l\x9d\x05\xb8\x00\x02\x02\x02\x06old\x163.5.0.Final\nmysql\x06cdc\x80
    \xa0\xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06\x02\x80\x80\xd0\xe2
    \xc6\xbf\xce\x97/\x02\nnotes\xbc\xca\xc2\xf9\x03\x00 mysql-bin.999999\xf4\x86\xd6\xb9\x07\x00
    \x02\x0e\x00\x00\x02c\x02\x9c\xa4\xab\xfe\xf9b\x02\xe0\xfa\x92\x82\x83\x89\x85\x06\x02\x80\xfe
    \x8e\xe4\xc8\xbf\xce\x97/'

    b'\x00%oA\xdc\x02' b'\x00l\x9d\x05\xb8\x02\x02\x02\x06old\x02\x02\x02\x06new\x163.5.0.Final\nmys
    ql\x06cdc\x80\xa0\xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06\x02
    \x80\x80\xd0\xe2\xc6\xbf\xce\x97/\x02\nnotes\xbc\xca\xc2\xf9\x03\x00 mysql-bin.999999\xf4\x86
    \xd6\xb9\x07\x00\x02\x0e\x00\x00\x02u\x02\x9c\xa4\xab\xfe\xf9b\x02\xe0\xfa\x92\x82\x83\x89\x85
    \x06\x02\x80\xfe\x8e\xe4\xc8\xbf\xce\x97/'

    b'\x00%oA\xdc\x02' b'\x00l\x9d\x05\xb8\x02\x02\x02\x06new\x00\x163.5.0.Final\nmysql\x06cdc\x80
    \xa0\xab\xfe\xf9b\x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06\x02\x80\x80\xd0\xe2
    \xc6\xbf\xce\x97/\x02\nnotes\xbc\xca\xc2\xf9\x03\x00 mysql-bin.999999\xf4\x86\xd6\xb9\x07\x00
    \x02\x0e\x00\x00\x02d\x02\x9c\xa4\xab\xfe\xf9b\x02\xe0\xfa\x92\x82\x83\x89\x85\x06\x02\x80\xfe
    \x8e\xe4\xc8\xbf\xce\x97/'

    b'\x00%oA\xdc\x02' None

    b'\x00S$\xb1\xf3\x08shop' b'\x00l\xfa\xfc\xde\x163.5.0.Final\nmysql\x06cdc\x80\xa0\xab\xfe\xf9b
    \x00\nfalse\x08shop\x00\x02\x80\x80\xf2\x81\x83\x89\x85\x06\x02\x80\x80\xd0\xe2\xc6\xbf\xce\x97/
    \x02\x00\xbc\xca\xc2\xf9\x03\x00 mysql-bin.999999\xf4\x86\xd6\xb9\x07\x00\x00\x00\x9c\xa4
    \xab\xfe\xf9b\x02\x08shop\x00\x02tALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1\x00
    '

    b'\x00C\x9f\xc7\xab\x06cdc' b'\x00\x06\xe9\xd6\xac\x9c\xa4\xab\xfe\xf9b'
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Final, NamedTuple

from generators.families import confluent
from generators.families.connect import Schema, schema_text
from generators.families.debezium.values import CellWriter
from generators.formats import debezium_json as connectors
from generators.formats.debezium_json.losses import wire_of
from generators.formats.debezium_json.profiles import DebeziumProfile, supports
from generators.formats.debezium_json.rows import NamesClash
from generators.garbage.cell_faults import LABELS, CellFault, Way
from generators.model import (
    History,
    Json,
    Layout,
    Scenario,
    SourceType,
    Value,
    Written,
)
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.sources.boundaries import every_type, slug
from generators.sources.databases import source
from generators.wire_format import Format, about

NAME: Final = "debezium-avro"
CHOICES: Final = read_choices(NAME, DebeziumProfile)


def write(history: History, profile: DebeziumProfile, layout: Layout) -> list[Written]:
    """The records of a history: those of the connector's JSON, converted to Avro. Keys have other
    bytes, hence other partitions. There are none if two columns get one name, since the connector
    stops there.
    """
    try:
        return [
            confluent.convert_record(written, profile.subjects, layout.partitions)
            for written in connectors.write(history, profile, layout)
        ]
    except NamesClash:
        return []


def scenarios(profile: DebeziumProfile, database: str) -> Iterator[Scenario]:
    """The connectors' named cases, and one with a table that changes between its rows, each of
    whose messages must name the schema of its time.
    """
    yield from connectors.FORMAT.scenarios(profile, database)
    yield confluent.evolving_scenario(profile.source, database)


@dataclass(frozen=True, slots=True)
class _Far:
    """A fault of a cell: in the columns `columns` (their names by database) stands `unfit_json`,
    which Avro's type of the column can hold and the column's own type cannot, in place of `value`.
    """

    name: str
    columns: Mapping[str, str]
    value: Value
    unfit_json: str


_WITHOUT_ORACLE: Final = ("mysql", "postgresql", "sqlserver")
"""The databases whose types of dates and times are the same here."""
_FAR: Final = (
    _Far(
        "cell-json",
        dict.fromkeys(("mysql", "postgresql"), "json"),
        Json({"k": "nearly all"}),
        '"{\\"k\\":!nearly all"',
    ),
    _Far("cell-date-far", dict.fromkeys(_WITHOUT_ORACLE, "date"), date(2021, 7, 17), "99999999"),
    _Far(
        "cell-datetime-far",
        {
            "mysql": "datetime-0",
            "postgresql": "timestamp-0",
            "sqlserver": "datetime2-0",
            "oracle": "timestamp-0",
        },
        mysql.wall("2021-07-17 10:11:14"),
        str((1 << 62) + 1),
    ),
    _Far(
        "cell-time-far", dict.fromkeys(_WITHOUT_ORACLE, "time-6"), 40_333_000_001, "3600000000001"
    ),
    _Far("cell-year-far", {"mysql": "year"}, 2019, "99999"),
    # Its integers have digits, Avro's have bits.
    _Far("cell-int-over", {"oracle": "number-9"}, 123_456_785, "1234567850"),
)


_FITTING: Final = (
    "cell-int-fraction",
    "cell-bigint-over",
    "cell-unsigned-bigint-over",
    "cell-boolean",
    "cell-bit-base64",
)
"""JSON's unfit cells that Avro's type cannot hold at all, or that are another cell's there."""


class _UnfitCell(NamedTuple):
    """A fault of a cell in JSON: in `column`, `unfit_json` stands in place of `value`. `kept_value`
    is the value of that JSON if the type that the message declares holds it.
    """

    name: str
    column: str
    value: Value
    unfit_json: str
    kept_value: Value | None = None


def cell_faults(profile: DebeziumProfile) -> tuple[CellFault, ...]:
    """The faults of cells (what a column's type cannot hold) of the profile, as Avro: those of
    Debezium's JSON as far as Avro's types can hold them, and those of `_FAR`.
    """
    return faults_in_avro(
        connectors.FORMAT.cell_faults(profile), partial(wire_of, profile), profile.source
    )


def faults_in_avro(
    faults_in_json: Iterable[CellFault], write_cell: CellWriter, source_name: str
) -> tuple[CellFault, ...]:
    """The faults of cells of Debezium's JSON as Avro, as far as Avro's types can hold them, and
    those of `_FAR`. `write_cell` gives the cell of a column of a type with a value.
    """
    columns = {f"c_{slug(name)}": type for name, type in source(source_name).types.items()}
    of_json = [
        _UnfitCell(f.name, f.column, f.value, str(f.spoiled_form).partition(":")[2], f.kept_value)
        for f in faults_in_json
    ]
    far = (
        _UnfitCell(f.name, f"c_{slug(f.columns[source_name])}", f.value, f.unfit_json)
        for f in _FAR
        if source_name in f.columns
    )
    faults = []
    for name, column, value, unfit_json, kept_value in (*of_json, *far):
        cell = write_cell(columns[column], value) if column in columns else None
        if (
            cell is None
            or name in _FITTING
            or (name == "cell-binary" and cell.schema.type == "bytes")
            or (name == "cell-bit" and cell.schema.type == "boolean")
        ):
            continue
        with contextlib.suppress(TypeError, ValueError, AttributeError, KeyError, OverflowError):
            faults.append(
                CellFault(
                    name,
                    column,
                    value,
                    datum_of_json(cell.schema, cell.json),
                    datum_of_json(cell.schema, unfit_json),
                    kept_value,
                )
            )
    return tuple(faults)


def datum_of_json(schema: Schema, text: str) -> bytes:
    """The Avro datum of a nullable column's value, which is given as JSON: the index of the union's
    branch that is not null (SOME), then the value.
    """
    return confluent.SOME + confluent.encode_payload(
        schema_text(replace(schema, optional=False)), text
    )


_NUMBERS: Final = "Avro's type of the column holds numbers alone"
"""Why a text cannot stand in place of a number."""
_OF_NUMBERS: Final = (
    "int",
    "decimal",
    "float",
    "double",
    "bit",
    "date",
    "datetime",
    "time",
    "year",
)
"""The families of types that Avro has as numbers."""
FITS: Final = {
    **LABELS,
    **{f"{logical}/{way}": _NUMBERS for logical in _OF_NUMBERS for way in (Way.LETTERS, Way.SHAPE)},
    **{f"{logical}/empty": _NUMBERS for logical in _OF_NUMBERS if logical != "decimal"},
    **{
        f"{logical}/outside": f"cell-{logical}-far"
        for logical in ("date", "datetime", "time", "year")
    },
    **{
        f"{logical}/outside": "Avro's type has every number of the column's, and no other"
        for logical in ("float", "double")
    },
    "int/outside": "cell-int-over",
    "decimal/outside": "cell-decimal-digits",
    "bit/outside": "cell-bit",
    "timestamp/outside": "cell-timestamp",
    "timestamp/shape": "a string holds texts alone",
    "binary/letters": "any bytes fit",
    "binary/shape": "bytes hold no shape",
}
"""For each family of types and way to spoil a cell: the name of the fault that does so, or why none
can.
"""


def unfit(profile: DebeziumProfile, fits: Mapping[str, str]) -> Iterator[CellFault]:
    """Faults that put an unfit text (one that the column's type cannot hold) in the place of a
    column's value, for columns that Avro has as strings or bytes: one for each kind of types and
    each way of not fitting it. `fits` are the combinations that are left out, since a decoder may
    read them.
    """
    return unfit_in_avro(partial(wire_of, profile), profile.source, supports, fits)


def unfit_in_avro(
    write_cell: CellWriter,
    source_name: str,
    supported: Callable[[SourceType], bool],
    fits: Mapping[str, str],
) -> Iterator[CellFault]:
    """The faults of `unfit` in a format with Debezium's types, whose cells `write_cell` writes.
    `supported` says whether the format has columns of a type.
    """

    def encode_value(column: str, value: Value) -> bytes | None:
        """The Avro datum of a value in a column, if Avro has the column as a string or bytes; else
        None.
        """
        cell = write_cell(every_type(supported, source_name).column(column).type, value)
        return (
            datum_of_json(cell.schema, cell.json)
            if cell.schema.type in ("string", "bytes")
            else None
        )

    return confluent.unfit_cells(source_name, fits, encode_value)


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    container="confluent",
    faults=confluent.FAULTS,
    cell_faults=cell_faults,
    fits=FITS,
    unfit=unfit,
    losses=connectors.FORMAT.losses,
    oracle=confluent.remains_of_datum,
)
