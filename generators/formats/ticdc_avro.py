r"""TiCDC Avro: what PingCAP TiCDC writes to Kafka with `protocol=avro` and a Confluent schema
registry.

Releases: v7.1.6 and v8.5.7 of the classic architecture (pingcap/tiflow), new-8.5.7 of the new one
(pingcap/ticdc). Source of truth: PingCAP's TiCDC Avro Protocol, corrected by TiCDC's source (the
facts ticdc-avro#...).

A value is the row after the change behind Confluent's framing: a record of the table's columns,
each with its `tidb_type` in the schema. A DELETE is a key without a value. Only with
`enable-tidb-extension` does a row tell its operation and its commit, in fields behind the columns;
a DELETE never does, and no message has the row before it: its place alone orders a DELETE. Names
are Avro's: an underscore stands for each other character, in the names of databases and tables too.

Level one has bytes as base64 and a decimal as its digits. A row that the encoder refuses, one with
an ENUM's empty value, ends the messages, as it stops the changefeed; so do two columns of one name.
Not written: rows of tables without a handle key (but with `force-replicate`), in the new
architecture without a primary key: their records would have no key; `avro-enable-watermark`, which
TiCDC has for its own tests; AWS Glue's framing; `_ticdc_before`, which no release has; a topic for
each table.

Key and value of INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, with v8.5.7+extension:

    b'\x00\x0f]\xc1\xcd\x02' b'\x00|\xe6\x89\x06\x02\x02\x06old\x02c\x82\x80\x80\x80\xb4\xe5\x9f\xaf
    \x0c\x80\xa0\xab\xfe\xf9b'

    b'\x00\x0f]\xc1\xcd\x02' b'\x00|\xe6\x89\x06\x02\x02\x06new\x02u\x82\x80\x80\x80\xb4\xe5\x9f\xaf
    \x0c\x80\xa0\xab\xfe\xf9b'

    b'\x00\x0f]\xc1\xcd\x02' None
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache, partial
from typing import Any, Final

from generators.errors import Refused
from generators.families import confluent
from generators.families.avro import LONG
from generators.families.cases import Cases, deleted, inserted, updated
from generators.families.confluent import sized
from generators.families.java_text import two_complement
from generators.families.ticdc import text
from generators.families.ticdc.avro_names import adjusted
from generators.families.ticdc.defaults import stored_default, stored_expression
from generators.families.ticdc.scenarios import ambiguous_hours, declared_types, key_updates
from generators.families.ticdc.sink import (
    SinkProfile,
    Stopped,
    committed,
    default_of,
    handle_key,
    moved,
    place_rows_of_table,
    split_by_ticdc,
    writer_of_events,
)
from generators.families.ticdc_simple.plan import checksum_of
from generators.families.ticdc_simple.schema import Catalogue
from generators.families.wire_messages import WireMessage
from generators.garbage.cell_faults import CELL_FAULTS, LABELS, CellFault, Way
from generators.garbage.faults import UNSPECIFIED
from generators.model import (
    Cell,
    Change,
    Column,
    Default,
    Deployment,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    SourceType,
    State,
    Table,
    Value,
    Written,
)
from generators.profile_tables import read_choices
from generators.sources import mysql
from generators.sources.boundaries import ID, every_type
from generators.wire_format import Format, about

NAME: Final = "ticdc-avro"
SPACE: Final = "default"
"""The changefeed's namespace."""


@dataclass(frozen=True, slots=True)
class TicdcAvroProfile(SinkProfile):
    """A TiCDC release and its options as facts about the bytes."""

    deployment: Deployment = Deployment("Asia/Shanghai", schemas="registry")
    new_architecture: bool = False
    """The new architecture, whose keys are primary keys and whose BITs have the column's width."""
    force_replicate: bool = False
    """Tables without a key are written."""
    extension: bool = False
    """A row has its operation, commitTs and time."""
    checksum: bool = False
    """Three fields of the row's checksum follow the row."""
    checksum_version: int = 2
    """The version that the checksum's field names."""
    decimal_string: bool = False
    """A DECIMAL is its text, not Avro's logical type."""
    bigint_string: bool = False
    """A BIGINT UNSIGNED is its text, not a long that wraps."""


CHOICES: Final = read_choices(NAME, TicdcAvroProfile)


def _messages(
    event: Event,
    profile: TicdcAvroProfile,
    layout: Layout,
    _ms: int,
    _chance: object,
    columns_by_id: Mapping[int, tuple[Column, ...]],
) -> Iterator[WireMessage]:
    """Yields the record of each row of a row change: partition, key, value and expected change.
    Nothing for other events, nor, unless `force_replicate`, for a table without a key.
    `columns_by_id` are the columns of an event's table (by the event's `id`) in the order of their
    ids, where they stand so.
    """
    if isinstance(event, RowChange):
        key = event.table.primary_key if profile.new_architecture else handle_key(event.table)
        placed = (
            place_rows_of_table(event, profile, layout.partitions, profile.new_architecture)
            if key or profile.force_replicate
            else ()
        )
        for place, op, before, after in placed:
            source_row = after or before or {}
            listed_columns = columns_by_id.get(id(event), event.table.columns)
            message = _row_message(
                event, key, op, source_row, layout.topic, profile, listed_columns
            )
            yield replace(message, partitions=(place,))


def write(history: History, profile: TicdcAvroProfile, layout: Layout) -> list[Written]:
    """The messages of a history, each with its expectation."""
    messages = partial(_messages, columns_by_id=_columns_by_id(history, profile))
    return writer_of_events(messages, RowChange)(history, profile, layout)


def _columns_by_id(history: History, profile: TicdcAvroProfile) -> Mapping[int, tuple[Column, ...]]:
    """The columns of the tables of the history's row changes, by the event's `id`, in the order in
    which TiDB numbered them: so the classic architecture sorts them for a checksum
    (ticdc-avro#checksum). A statement whose form is not known here leaves them in the table's
    order.
    """
    if profile.new_architecture or not profile.checksum:
        return {}
    catalogue = Catalogue(profile.deployment.time_zone)
    columns: dict[int, tuple[Column, ...]] = {}
    for event in history.events:
        if isinstance(event, RowChange):
            columns[id(event)] = catalogue.current(event.table).by_id()
        elif isinstance(event, SchemaChange):
            with contextlib.suppress(Refused):
                catalogue.change(event)
    return columns


def _row_message(
    event: RowChange,
    key: Sequence[str],
    op: Op,
    source_row: Row,
    topic: str,
    profile: TicdcAvroProfile,
    listed_columns: tuple[Column, ...],
) -> WireMessage:
    """Key, value and expected change of one row, with the table's columns in the order of
    `listed_columns`: a DELETE has no value, a table without a key no key. Without the extension, an
    UPDATE is written as an INSERT, and both readings are right.
    """
    table, at, deleted = event.table, event.at, op is Op.DELETE
    if not key and deleted:
        return WireMessage(None, (Change(0, Kind.CORRUPT, accept=((Kind.TOMBSTONE, None),)),))
    keys, key_cells = _record(
        table,
        tuple(c for c in listed_columns if c.name in key),
        source_row,
        f"{topic}-key",
        profile,
        {},
    )
    value = after = None
    if not deleted:
        columns = tuple(
            c for c in listed_columns if profile.new_architecture or c.generated != "virtual"
        )
        value, after = _record(
            table,
            columns,
            source_row,
            f"{topic}-value",
            profile,
            _extension(event, op, source_row, profile, listed_columns),
        )
    extended = profile.extension and not deleted
    change = committed(
        Kind.ROW,
        at,
        adjusted(table.database),
        adjusted(table.name),
        op=op if extended or deleted else Op.INSERT,
        keys=tuple(key_cells) if key else None,
        before=_image(table, key_cells, adjusted) if deleted else None,
        after=after and _image(table, after, adjusted),
        types={
            adjusted(c.name): _tidb_type(c.type)
            for c in table.columns
            if adjusted(c.name) in (after or key_cells)
        },
        accept=() if extended or deleted else ((Kind.ROW, Op.UPDATE),),
    )
    if any(adjusted(name) != name for name in (table.name, *(c.name for c in table.columns))):
        before = _image(table, key_cells, str) if deleted else None
        full_after = after and _image(table, after, str)
        change = replace(change, full_before=before, full_after=full_after, tables=(table.name,))
    if not extended:
        change = replace(change, position=None, commit_time_us=None)
    return WireMessage(value, (change,), keys if key else None)


def _image(table: Table, cells: Mapping[str, Cell], name: Callable[[str], str]) -> Image:
    """The image of a row in the table's columns: `cells` are by Avro's names, the image by the
    names that `name` gives; a column without a cell is absent.
    """
    return {
        name(c.name): cells.get(adjusted(c.name)) or Cell(State.ABSENT, c.type)
        for c in table.columns
    }


def _record(
    table: Table,
    columns: tuple[Column, ...],
    source_row: Row,
    subject: str,
    profile: TicdcAvroProfile,
    more: Mapping[str, Any],
) -> tuple[bytes, dict[str, Cell]]:
    """A key or a value: a record in Confluent's framing, of the columns' values and the fields
    `more` behind them, registered under `subject`; and the cells that a decoder owes for the
    columns, by Avro's names.
    """
    cells = {
        adjusted(c.name): _cell(
            c.type, None if c.generated == "virtual" else source_row[c.name], profile
        )
        for c in columns
    }
    schema = _schema(table, columns, tuple(more), profile)
    datum = confluent.encoder_of_schema(schema)(
        {**{name: value for name, (value, _) in cells.items()}, **more}
    )
    record = confluent.frame_schema(subject, schema) + datum
    return record, {name: cell for name, (_, cell) in cells.items()}


_FIELDS: Final[Mapping[str, tuple[str, Any]]] = {
    "_tidb_op": ("string", ""),
    "_tidb_commit_ts": ("long", 0),
    "_tidb_commit_physical_time": ("long", 0),
    "_tidb_row_level_checksum": ("string", ""),
    "_tidb_corrupted": ("boolean", False),
    "_tidb_checksum_version": ("int", 0),
}
"""The extension's fields, with type and default."""


def _extension(
    event: RowChange,
    op: Op,
    source_row: Row,
    profile: TicdcAvroProfile,
    listed_columns: tuple[Column, ...],
) -> dict[str, Any]:
    """The fields of TiDB's extension for a row; the checksum is over `listed_columns` in their
    order. In the classic architecture it is 0 for a half of an UPDATE that TiCDC split
    (ticdc-avro#checksum).
    """
    if not profile.extension:
        return {}
    table, at = event.table, event.at
    values: list[Any] = ["c" if op is Op.INSERT else "u", at.tso, at.ms]
    is_half = op is not event.op and not profile.new_architecture
    if profile.checksum and is_half and split_by_ticdc(event, source_row, partial(moved, table)):
        values += ["0", False, profile.checksum_version]
    elif profile.checksum:
        columns = [c for c in listed_columns if c.generated != "virtual"]
        stored = {
            c.name: (
                c.type,
                None if source_row[c.name] is None else text.canonical(c.type, source_row[c.name]),
            )
            for c in columns
        }
        checksum = checksum_of(columns, stored)
        values += [str(checksum), False, profile.checksum_version] if checksum else ["", False, 0]
    return dict(zip(_FIELDS, values, strict=False))


@lru_cache(maxsize=8192)
def _schema(
    table: Table, columns: tuple[Column, ...], more: tuple[str, ...], profile: TicdcAvroProfile
) -> str:
    """The JSON text of Avro's schema of a record: a field for each of `columns`, then those of the
    extension named in `more`. Raises Stopped if Avro's names of two columns are the same.
    """
    fields: list[dict[str, Any]] = []
    for column in columns:
        type, default = _type(column.type, profile), _default(column, profile)
        field = {"name": adjusted(column.name), "type": type}
        if column.nullable and column.name not in table.primary_key:
            # The classic architecture takes the default "null" for none (ticdc-avro#nullable).
            last = default is not None and (profile.new_architecture or default != "null")
            fields.append(
                {"default": default, **field, "type": [type, "null"] if last else ["null", type]}
            )
        else:
            fields.append(field if default is None else {"default": default, **field})
    if len({field["name"] for field in fields}) < len(fields):
        raise Stopped
    fields += [
        {"default": _FIELDS[name][1], "name": name, "type": _FIELDS[name][0]} for name in more
    ]
    shape = {
        "type": "record",
        "name": adjusted(table.name),
        "namespace": f"{SPACE}.{adjusted(table.database)}",
        "fields": fields,
    }
    return json.dumps(shape, ensure_ascii=False, separators=(",", ":"))


_TYPES: Final = {
    **dict.fromkeys((Logical.INT, Logical.YEAR), "int"),
    Logical.FLOAT: "float",
    Logical.DOUBLE: "double",
    **dict.fromkeys((Logical.BIT, Logical.BINARY), "bytes"),
}
"""Avro's type by the logical type; that of every other one is a string."""
_NAMES: Final = {Logical.TEXT: "TEXT", Logical.BINARY: "BLOB"}
"""The TiDB type in the schema, where it is not the name of the logical type."""


def _tidb_type(type: SourceType) -> str:
    """The name that TiCDC puts into a field's `tidb_type` for a column's type, such as BIGINT
    UNSIGNED.
    """
    if type.name == "vector":
        return "TiDBVECTORFloat32"
    name = (
        "BIGINT" if type.name == "bigint" else _NAMES.get(type.logical, type.logical.value.upper())
    )
    return f"{name} UNSIGNED" if type.unsigned and type.logical is Logical.INT else name


def _type(type: SourceType, profile: TicdcAvroProfile) -> dict[str, Any]:
    """The Avro schema of a column's values that are not NULL."""
    kind, parameters, more = _TYPES.get(type.logical, "string"), {"tidb_type": _tidb_type(type)}, {}
    if type.name == "bigint" or (type.name == "int" and type.unsigned):
        kind = "string" if profile.bigint_string and type.key == "bigint unsigned" else "long"
    if type.logical is Logical.DECIMAL and not profile.decimal_string:
        kind = "bytes"
        more = {"logicalType": "decimal", "precision": type.precision, "scale": type.scale}
    if type.logical is Logical.BIT:
        parameters["length"] = str(type.length)
    if type.logical in (Logical.ENUM, Logical.SET):
        labels = (
            label.replace(",", "\\,").replace("\\'", "'").replace("''", "'")
            for label in type.members
        )
        parameters["allowed"] = ",".join(labels)
    return {"type": kind, "connect.parameters": dict(sorted(parameters.items())), **more}


def _default(column: Column, profile: TicdcAvroProfile) -> Any:
    """The default of a column's field in Avro's schema, None without one. A DECIMAL's default is
    left out unless decimals are texts, and bytes are base64 (ticdc-avro#nullable). Raises Stopped
    for an expression of a column of numbers, whose text the encoder reads as a number.
    """
    type, default = column.type, default_of(column)
    if default is None or (type.logical is Logical.DECIMAL and not profile.decimal_string):
        return None
    if default.value is None:
        expression = stored_expression(default.text)
        match _TYPES.get(type.logical, "string"):
            case "string":
                return expression
            case "bytes":
                return base64.b64encode(expression.encode()).decode()
            case _:
                raise Stopped
    if type.logical is Logical.DECIMAL:
        return stored_default(type, default.text)
    # A FLOAT's digits are a double's, a BIT's bytes as few as can be, a TIMESTAMP's wall clock that
    # of UTC.
    match type.logical, default.value:
        case Logical.FLOAT, float() as value:
            return json.loads(text.json_number(value))
        case Logical.BIT, int() as value:
            return base64.b64encode(value.to_bytes(max(1, value.bit_length() + 7 >> 3))).decode()
        case Logical.TIMESTAMP, int() as value:
            return text.value_text(type, value, time_zone="UTC")
    cell = _cell(type, default.value, profile)[1]
    return json.loads(cell.text) if cell.json and cell.text else cell.text


def _cell(type: SourceType, stored: Value, profile: TicdcAvroProfile) -> tuple[Any, Cell]:
    """A value as fastavro takes it, and what a perfect decoder recovers of it. Raises Stopped on
    what the encoder refuses.
    """
    if stored is None:
        return None, Cell(State.NULL, type)
    value = text.canonical(type, stored)
    cell = Cell(State.VALUE, type, value, cls=text.value_class(type, value))
    match type.logical, value:
        case ((Logical.INT | Logical.YEAR), int()) if not (
            profile.bigint_string and type.key == "bigint unsigned"
        ):
            value -= 1 << 64 if value >> 63 > 0 else 0
            return value, replace(cell, text=str(value), json=True)
        case ((Logical.FLOAT | Logical.DOUBLE), float()):
            return value, replace(
                cell, text=text.json_number(value, single=type.logical is Logical.FLOAT), json=True
            )
        case Logical.DECIMAL, Decimal() if not profile.decimal_string:
            wire_text = text.decimal_text(value, type.scale or 0)
            return two_complement(int(wire_text.replace(".", ""))), replace(cell, text=wire_text)
        case Logical.BIT, int():
            width = (
                (type.length or 1) + 7 >> 3
                if profile.new_architecture
                else max(1, value.bit_length() + 7 >> 3)
            )
            raw = value.to_bytes(width)
            return raw, replace(cell, text=base64.b64encode(raw).decode())
        case Logical.BINARY, bytes():
            return value, replace(cell, text=base64.b64encode(value).decode())
        case Logical.ENUM, 0:
            raise Stopped
        case Logical.ENUM, int():
            wire_text = type.members[value - 1]
        case Logical.SET, int():
            wire_text = ",".join(label for i, label in enumerate(type.members) if value >> i & 1)
        case Logical.TIMESTAMP, int():
            cell = text.zoned(cell, value, profile.deployment.time_zone)
            wire_text = cell.text or ""
        case _:
            wire_text = text.value_text(type, value)
    return wire_text.encode("utf-8", "replace").decode(), replace(cell, text=wire_text)


def scenarios(profile: TicdcAvroProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: keys, defaults, declared columns, a table that changes between its
    rows, what a DELETE leaves.
    """
    cases = Cases(database)
    yield from key_updates(database)
    yield from ambiguous_hours(profile.deployment.time_zone)
    yield confluent.evolving_scenario(profile.source, database)
    defaults: Mapping[str, tuple[SourceType, str, Value]] = {
        "a": (mysql.text("varchar", 64), "'d'", "d"),
        "b": (mysql.text("varchar", 64), "'null'", "null"),
        "n": (mysql.integer("int"), "5", 5),
        "e": (mysql.enum_of("x", "y"), "'y'", 2),
        "w": (mysql.binary("varbinary", 8), "'w'", b"w"),
        "p": (mysql.decimal(10, 2), "1.50", Decimal("1.50")),
        "t": (mysql.temporal("datetime"), "CURRENT_TIMESTAMP", None),
        "o": (mysql.integer("int"), "7", 7),
    }
    declared_columns = (
        Column(n, type, n != "o", default=Default(default_text, value))
        for n, (type, default_text, value) in defaults.items()
    )
    default_row: Row = {**dict.fromkeys(defaults), "id": 1, "o": 1}
    full: Row = {
        **default_row,
        **{n: value for n, (*_, value) in defaults.items() if n != "o"},
        "t": mysql.wall("2024-01-02 03:04:05"),
    }
    yield cases.of(ID, *declared_columns).case(
        "values/default", inserted(default_row), updated(default_row, full), tags=("default",)
    )
    yield declared_types("values/declared", database, profile, "virtual")
    columns = (
        Column("b", mysql.text("varchar", 16), False),
        Column("a", mysql.decimal(10, 2), False),
        Column("c", ID.type),
    )
    default_row = {"a": Decimal("-1.28"), "b": "k", "c": 5}
    yield cases.of(*columns, key=("a", "b")).case(
        "delete/key-alone", inserted(default_row), deleted(default_row), tags=("key-alone",)
    )
    yield cases.of(ID, Column("_tidb_op_", mysql.text("varchar", 8)), Column("1汉", ID.type)).case(
        "names/extension", inserted({"id": 1, "_tidb_op_": "u", "1汉": 2})
    )
    number = ID.type
    row: Row = {"id": 1, "a-b": 2, "A.B": 3}
    yield cases.of(ID, Column("a-b", number), Column("A.B", number)).case(
        "names/one-but-for-case", inserted(row), updated(row, {"A.B": None}), deleted(row)
    )
    # A row of this table stops the changefeed, its DELETE does not: it has the key alone.
    yield cases.of(ID, Column("a-b", number), Column("a_b", number)).case(
        "names/one-deleted", deleted({"id": 1, "a-b": 2, "a_b": 3})
    )


_NUMBERS: Final = "Avro's type of the column holds numbers alone"
"""Why no unfit cell of such a column can be written."""
FITS: Final = {
    **LABELS,
    **{
        f"{logical}/{way}": _NUMBERS
        for logical in ("int", "float", "double", "year")
        for way in Way
    },
    **{
        f"{logical}/{way}": "any bytes fit"
        for logical in ("bit", "binary")
        for way in Way
        if (logical, way) != ("bit", Way.EMPTY)
    },
    **{f"decimal/{way}": "bytes are a number" for way in Way},
}
"""Combinations `LOGICAL/WAY` of unfit cells that cannot be written, or that a decoder may read,
each with the reason.
"""


_COLUMNS: Final = {c.name: c.type for c in every_type(lambda _type: True).columns}
"""The types of the columns of the table with every type, by the column's name."""


def _datum(profile: TicdcAvroProfile, column: str, value: Value) -> bytes:
    """The Avro datum of a nullable column's value, as the profile writes it."""
    encode = confluent.encoder_of_schema(json.dumps(_type(_COLUMNS[column], profile)))
    return confluent.SOME + encode(_cell(_COLUMNS[column], value, profile)[0])


def cell_faults(profile: TicdcAvroProfile) -> Iterator[CellFault]:
    """The cell faults of MySQL's types in strings, and numbers that Avro's type of the column can
    hold and the column cannot. Columns are nullable: a datum begins with the index of the union's
    branch that is not null (SOME). No fault is made of a SET, which is a string of its labels: a
    decoder may pass labels on.
    """
    for fault in CELL_FAULTS:
        type, unfit_text = _COLUMNS[fault.column], json.loads(str(fault.spoiled_form))
        if _type(type, profile)["type"] == "string" and type.logical is not Logical.SET:
            written_form = _datum(profile, fault.column, fault.value)
            yield replace(
                fault,
                written_form=written_form,
                spoiled_form=confluent.SOME + sized(unfit_text.encode()),
            )
    for name, column, value, datum in (
        ("cell-int-over", "c_unsigned_int", 1234567893, LONG(1 << 33)),
        ("cell-year", "c_year", 2019, LONG(99_999)),
        ("cell-bit", "c_bit_8", 173, sized(b"\x01\x00")),
        (
            "cell-decimal-digits",
            "c_decimal_10_2",
            Decimal("7654321.25"),
            sized(two_complement(12345678925)),
        ),
    ):
        if _type(_COLUMNS[column], profile)["type"] != "string":
            yield CellFault(
                name, column, value, _datum(profile, column, value), confluent.SOME + datum
            )


def _faults() -> Iterable[Any]:
    """The faults of Confluent's framing, without the null value, which is a DELETE here. For a
    value without bytes any row is right, because TiCDC's own decoder also takes it for a DELETE.
    """
    for fault in confluent.FAULTS:
        if fault.name != "null":
            yield replace(fault, obligation=UNSPECIFIED) if fault.tag == "empty" else fault


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    supports=text.supports,
    write=write,
    scenarios=scenarios,
    container="confluent",
    faults=tuple(_faults()),
    cell_faults=cell_faults,
    fits=FITS,
    unfit=lambda profile, fits: confluent.unfit_cells(
        profile.source, fits, partial(_datum, profile)
    ),
    oracle=confluent.remains_of_datum,
)
