"""AWS DMS's JSON for Kafka and Kinesis: one record for each row, its columns in `data` and what
happened to it in `metadata`; control records for tables and their changes.

Source: the AWS DMS user guide, API version 2016-01-01, and records that users printed
(aws-dms#members and after). Where the two disagree, the records are followed. The source is MySQL:
`schema-name` is the database. Numbers are JSON numbers, everything else is text; a DATETIME has a T
and a Z. No page says how DMS writes MySQL's BIT, ENUM, SET and binaries as JSON: columns of these
types are left out. `timestamp` is when the record was made; the commit time stands in
`commit-timestamp`, with IncludeTransactionDetails alone.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"data":{"id":1,"note":"old"},"metadata":{"timestamp":"2023-11-14T22:13:20.729000Z",
    "record-type":"data","operation":"insert","partition-key-type":"schema-table",
    "schema-name":"shop","table-name":"notes","transaction-id":445644800000000001}}

    {"data":{"id":1,"note":"new"},"metadata":{"timestamp":"2023-11-14T22:13:20.729000Z",
    "record-type":"data","operation":"update","partition-key-type":"schema-table",
    "schema-name":"shop","table-name":"notes","transaction-id":445644800000000001}}

    {"data":{"id":1,"note":"new"},"metadata":{"timestamp":"2023-11-14T22:13:20.729000Z",
    "record-type":"data","operation":"delete","partition-key-type":"schema-table",
    "schema-name":"shop","table-name":"notes","transaction-id":445644800000000001}}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from generators.families.flat import (
    OLD,
    ROW,
    Flat,
    key_scenarios,
    writer,
)
from generators.families.mysql_texts import TextForms, scaled_text
from generators.families.wire_messages import ABSENT, WireMessage
from generators.garbage.cell_faults import CELL_FAULTS, Way
from generators.model import (
    Bootstrap,
    Cell,
    Change,
    Column,
    Event,
    Instant,
    Kind,
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
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, insert, named, neutral
from generators.wire_format import Format, about

__all__ = ["FORMAT", "AwsDmsProfile", "write"]

NAME: Final = "aws-dms-json"

RecordType = Literal["data", "control"]


@dataclass(frozen=True, slots=True)
class AwsDmsProfile(Profile):
    """An edition of the user guide with the endpoint's settings, which are facts by their names."""

    nulls: bool = False
    transaction_details: bool = False
    partition_value: bool = False
    control_details: bool = False
    table_alters: bool = False
    before_image: bool = False


CHOICES: Final = read_choices(NAME, AwsDmsProfile)

NUMBERS: Final = frozenset(
    {Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.YEAR}
)
"""The families of types whose values are JSON numbers."""
_CLOCKS: Final = frozenset({Logical.DATETIME, Logical.TIMESTAMP})
"""The families of types whose values are a moment in ISO 8601."""
_TEXTS: Final = frozenset({Logical.TEXT, Logical.DATE, Logical.TIME, Logical.JSON})
"""The families of types whose values are MySQL's texts."""

OPERATIONS: Final = {
    Op.READ: "load",
    Op.INSERT: "insert",
    Op.UPDATE: "update",
    Op.DELETE: "delete",
}
"""The member `operation` of a row's record, by the change."""
ALTERATIONS: Final = {
    "create table": "create-table",
    "add column": "add-column",
    "drop column": "drop-column",
    "modify column": "column-type-change",
}
"""The control operation of each DDL action that DMS passes on of a MySQL source."""

DMS_TYPES: Final = {
    Logical.INT: "INT32",
    Logical.DECIMAL: "NUMERIC",
    Logical.FLOAT: "REAL",
    Logical.DOUBLE: "REAL8",
    Logical.YEAR: "INT16",
    Logical.TEXT: "WSTRING",
    Logical.DATE: "DATE",
    Logical.DATETIME: "DATETIME",
    Logical.TIMESTAMP: "DATETIME",
    Logical.TIME: "STRING",
    Logical.JSON: "NCLOB",
}
"""The DMS type that a control record names for a column."""


UNTYPED_COLUMNS: Final = ("c_bit_8", "c_set_64")
"""Columns of the faults' table whose types have no known form here."""


def supports(type: SourceType) -> bool:
    """Whether the guide or a printed record shows what values of the type are in JSON. VECTOR,
    which the model counts among the texts, is not shown.
    """
    return (
        type.source == "mysql"
        and type.logical in NUMBERS | _CLOCKS | _TEXTS
        and type.name != "vector"
    )


def _spell(cell: Cell, value: Value) -> Cell:
    """The cell as DMS spells it where that is not MySQL's text: a DECIMAL with the digits of its
    scale, a moment in ISO 8601 with a Z, NULL for a zero date. `value` is not None. A value of a
    DECIMAL that is no Decimal keeps MySQL's text.
    """
    if isinstance(value, ZeroDate):
        return Cell(State.NULL, cell.type)
    match cell.type.logical, value:
        case Logical.DECIMAL, _ if not isinstance(value, (int, str, bytes)):
            return replace(cell, text=scaled_text(value, cell.type.scale or 0))  # type: ignore[arg-type]
        case ((Logical.DATETIME | Logical.TIMESTAMP), _):
            return replace(cell, text=f"{(cell.text or '').replace(' ', 'T')}Z")
    return cell


def _iso_text(millis: int) -> str:
    """Milliseconds since 1970 as the text of a moment in the records' metadata."""
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=millis)
    return f"{moment.isoformat('T', 'microseconds')}Z"


def _head(at: Instant, record_type: RecordType, operation: str) -> dict[str, Any]:
    """The first members of `metadata`; `timestamp` is when DMS made the record, some time after the
    commit.
    """
    return {
        "timestamp": _iso_text(at.ms + 729),
        "record-type": record_type,
        "operation": operation,
    }


def _data_metadata(event: RowChange, change: Change, profile: AwsDmsProfile) -> dict[str, Any]:
    """The member `metadata` of a row's record; a row of a full load has no transaction there."""
    is_load = event.op is Op.READ
    partition: dict[str, Any] = {"partition-key-type": "primary-key" if is_load else "schema-table"}
    if profile.partition_value and is_load:
        partition["partition-key-value"] = _partition_value(event.table, change)
    names = {"schema-name": event.table.database, "table-name": event.table.name}
    head = _head(event.at, "data", OPERATIONS[event.op])
    transaction = {} if is_load else _transaction(event, change, profile)
    return {**head, **partition, **names, **transaction}


def _partition_value(table: Table, change: Change) -> str:
    """The member `partition-key-value` of a full load's row, by which the stream chooses a
    partition: names of the table and values of the key, joined by dots.
    """
    row = change.full_after or {}
    key_texts = [row[name].text or "" for name in table.primary_key]
    return ".".join([table.database, table.name, *key_texts])


def _transaction(event: RowChange, change: Change, profile: AwsDmsProfile) -> dict[str, Any]:
    """The members of a row's record about its transaction: its number; and with
    IncludeTransactionDetails the record's place in it, the commit time without fractions of a
    second, and the place in the binlog.
    """
    number = event.at.tso
    if not profile.transaction_details:
        return {"transaction-id": number}
    return {
        "transaction-id": number,
        "transaction-record-id": change.row + 1,
        "prev-transaction-id": number - 1,
        "prev-transaction-record-id": 1,
        "commit-timestamp": _iso_text(event.at.ms // 1000 * 1000),
        "stream-position": _stream_position(event, change.row),
    }


def _stream_position(event: RowChange, row: int) -> str:
    """The text of `stream-position` for a row of a change: the binlog's file and offsets, which are
    made up from `event.at.tso`.
    """
    offset = event.at.tso % (1 << 32)
    number = event.at.tso
    return (
        f"mysql-bin-changelog.000003:{offset}:{row}:{offset + 72}:{number}:"
        f"mysql-bin-changelog.000003:{offset}"
    )


def _control_record(
    at: Instant, table: Table, operation: str, profile: AwsDmsProfile
) -> WireMessage:
    """A control record on a table, such as `create-table`, with the CONTROL change that a decoder
    owes for it, which has no commit time.
    """
    metadata = {
        **_head(at, "control", operation),
        "partition-key-type": "task-id",
        **(
            {"partition-key-value": "7QBLNBTPCNDEBG7CHI3WA73YFA"} if profile.partition_value else {}
        ),
        "schema-name": table.database,
        "table-name": table.name,
    }
    details = {"table-def": _definition(table)} if profile.control_details else ABSENT
    control = Change(
        0,
        Kind.CONTROL,
        database=table.database,
        table=table.name,
        other_keys=(table.primary_key,) if profile.control_details else (),
    )
    return WireMessage({"control": details, "metadata": metadata}, (control,))


def _definition(table: Table) -> dict[str, Any]:
    """The member `table-def` of a control record, which describes the table."""
    columns = {column.name: _column_definition(column) for column in table.columns}
    return {"columns": columns, "primary-key": table.primary_key}


def _column_definition(column: Column) -> dict[str, Any]:
    """The description of one column in `table-def`."""
    type = column.type
    length = {"length": type.length} if type.logical is Logical.TEXT and type.length else {}
    return {"type": DMS_TYPES[type.logical], **length, "nullable": column.nullable}


def _control_records(event: Event, profile: AwsDmsProfile) -> Iterable[WireMessage]:
    """The control record of an event: of a table before its full load, and, with
    IncludeTableAlterOperations, of a statement that changes it.
    """
    match event:
        case Bootstrap(at=at, table=table, over=False):
            yield _control_record(at, table, "create-table", profile)
        case SchemaChange(at=at, action=action, after=Table() as after) if (
            profile.table_alters and action in ALTERATIONS
        ):
            yield _control_record(at, after, ALTERATIONS[action], profile)


def _flat(profile: AwsDmsProfile) -> Flat:
    """How the profile writes each event, as the table from which `writer` makes the format's
    writer: which members a row's record has, and what a decoder owes for them. Database and table
    are named, a key is not (`keyed`). Only with transaction details a record has a commit time, in
    whole seconds, and a position, but never a row of a full load. With `before_image` an UPDATE has
    its old row, whole.
    """
    return Flat(
        members=(
            ("data", ROW),
            (
                "before-image",
                lambda event, change: OLD(event, change) if profile.before_image else ABSENT,
            ),
            ("metadata", lambda event, change: _data_metadata(event, change, profile)),
        ),
        forms=TextForms("UTC"),
        keyed=False,
        time_unit_ms=1000,
        has_commit_time=lambda event: profile.transaction_details and event.op is not Op.READ,
        numbers=NUMBERS,
        complete_before=True,
        has_before=lambda _before, _after: profile.before_image,
        respell=_spell,
        writes_nulls=profile.nulls,
        writes_snapshots=True,
        position=(
            (lambda event, row: None if event.op is Op.READ else _stream_position(event, row))
            if profile.transaction_details
            else None
        ),
        write_other=lambda event: _control_records(event, profile),
    )


write: Final = writer(_flat)


def scenarios(profile: AwsDmsProfile, database: str) -> Iterator[Scenario]:
    """The format's own cases: a full load, kinds of keys, rows of one transaction, a table that
    changes, and the guide's example of a row.
    """
    columns = (ID, Column("a", mysql.text()), Column("n", mysql.decimal(10, 2)))
    row: Row = {"id": 1, "a": "x", "n": None}
    loaded = Table(database, neutral("snapshot/rows"), columns, ("id",))
    read_row = change(loaded, Op.READ, (None, row))
    yield named("snapshot/rows", Bootstrap(START, loaded), read_row, tags={"snapshot"})
    yield from key_scenarios(database, columns, ("a", "id"), row)
    several = Table(database, neutral("transaction/rows"), columns, ("id",))
    images = ((None, {**row, "id": number}) for number in range(3))
    yield named("transaction/rows", change(several, Op.INSERT, *images))
    narrow = Table(database, neutral("ddl/amid-rows"), columns[:2], ("id",))
    statement = f"ALTER TABLE `{narrow.name}` ADD COLUMN `n` decimal(10,2)"
    wide = replace(narrow, columns=columns)
    addition = SchemaChange(START, "add column", statement, database, narrow.name, narrow, wide)
    yield named("ddl/amid-rows", insert(narrow, {"id": 1, "a": "x"}), addition, insert(wide, row))
    customers = (
        Column("id", mysql.integer("int")),
        Column("fname", mysql.text()),
        Column("lname", mysql.text()),
        Column("REGION", mysql.text()),
    )
    guide = Table(database, neutral("document/row"), customers, ("id",))
    guide_row: Row = {"id": 100000161, "fname": "val61s", "lname": "val61s", "REGION": "val61s"}
    yield named("document/row", insert(guide, guide_row))


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    cell_faults=lambda _profile: tuple(
        fault for fault in CELL_FAULTS if fault.column not in UNTYPED_COLUMNS
    ),
    fits={
        f"{logical}/{way}": "no documented form"
        for logical in (Logical.BIT, Logical.ENUM, Logical.SET, Logical.BINARY)
        for way in Way
    },
)
