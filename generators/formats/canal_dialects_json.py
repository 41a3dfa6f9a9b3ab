"""Canal's flat message as cloud services write it: Tencent DTS and CKafka's connector, Huawei DRS,
Aliyun DTS.

Sources: the vendors' pages (canal-dialects#modes). Each message is one row. A decoder of Alibaba's
flat message breaks on `type` INIT of a full load (Tencent DTS, Huawei DRS) and DDL (Huawei DRS), on
a deleted row in `old` (Huawei DRS), on hex or lists of bytes in the place of ISO-8859-1, on a
TIMESTAMP with its offset (Tencent DTS), and on `es` in seconds (CKafka). What the pages do not say
of values is assumed to be Canal's.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"data":[{"id":"1","note":"old"}],"database":"shop","es":1700000000,"id":0,"isDdl":false,
    "mysqlType":null,"old":null,"pkNames":null,"sql":"","sqlType":null,"table":"notes",
    "ts":1700000000,"type":"INSERT"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000,"id":0,"isDdl":false,
    "mysqlType":null,"old":[{"id":"1","note":"old"}],"pkNames":null,"sql":"","sqlType":null,
    "table":"notes","ts":1700000000,"type":"UPDATE"}

    {"data":[{"id":"1","note":"new"}],"database":"shop","es":1700000000,"id":0,"isDdl":false,
    "mysqlType":null,"old":null,"pkNames":null,"sql":"","sqlType":null,"table":"notes",
    "ts":1700000000,"type":"DELETE"}

    {"data":null,"database":"shop","es":1700000000,"id":0,"isDdl":true,"mysqlType":null,"old":null,
    "pkNames":null,"sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1",
    "sqlType":null,"table":"t3142384771","ts":1700000000,"type":"ALTER"}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.canal import DDL_TYPES, SQL_TYPES
from generators.families.flat import (
    OLD,
    ROW,
    Flat,
    Member,
    key_scenarios,
    writer,
)
from generators.families.mysql_texts import HEX, LATIN1, TextForms, supports
from generators.families.wire_messages import ABSENT, WireMessage
from generators.model import (
    Cell,
    Change,
    Event,
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
from generators.sources.boundaries import ID, START, change, named, neutral
from generators.sources.ddl import ddl_event, of_statement, rename_between_rows
from generators.wire_format import Format, about

__all__ = ["FORMAT", "DialectProfile", "write"]

NAME: Final = "canal-dialects-json"
LISTED: Final = "list"
"""A binary as a text of a list of its bytes, in decimal (`Deployment.binary`)."""


@dataclass(frozen=True, slots=True)
class DialectProfile(Profile):
    """A service, with what its messages have otherwise than Canal's."""

    zoned: bool = False
    """A TIMESTAMP has its offset, in UTC."""
    bare_types: bool = False
    """Types have no parameters."""
    codes: bool = True
    """Messages have sqlType."""
    described: bool = True
    """Messages have types and keys."""
    gtid: bool = False
    """Messages have the member gtid."""
    seconds: bool = False
    """`es` and `ts` are in seconds, and id is 0."""
    whole_old: bool = False
    """`old` of an UPDATE is the whole row."""
    deleted_in_old: bool = False
    """A deleted row stands in `old`, and `data` is null."""
    init: bool = False
    """A row of a full load has the type INIT."""
    ddl: str = ""
    """The type of a statement, "" for Canal's."""
    datetime_code: int = SQL_TYPES["datetime"]
    """The code of DATETIME in sqlType. The page of DRS has 94, which is no code of JDBC."""
    example_order: bool = False
    """Members are in the order of the page's example; else in that of the alphabet."""


CHOICES: Final = read_choices(NAME, DialectProfile)


def _spell(profile: DialectProfile, cell: Cell, value: Value) -> Cell:
    """An expected cell in the profile's spelling. Where the profile says so, a binary is a list of
    its bytes, and a TIMESTAMP has ` +00:00` behind it unless it is a zero date; any other cell
    stays as it is. `value` is the column's value at the source.
    """
    if profile.deployment.binary == LISTED and isinstance(cell.value, bytes):
        return replace(cell, text=str(list(cell.value)))
    if profile.zoned and cell.type.logical is Logical.TIMESTAMP:
        zero = isinstance(value, ZeroDate)
        cell_text = (
            cell.text
            if zero or not isinstance(value, int)
            else mysql.datetime_text(value, cell.type.fsp)
        )
        return replace(
            cell,
            state=State.VALUE,
            value=value,
            text=cell_text if zero else f"{cell_text} +00:00",
            options=(),
            reason="",
        )
    return cell


def _types(table: Table, profile: DialectProfile) -> dict[str, str] | None:
    """The member mysqlType: the type of each column, with its parameters unless the profile has
    bare types. None if the service's messages have no types.
    """
    if not profile.described:
        return None
    return {
        c.name: c.type.name if profile.bare_types else mysql.declared(c.type) for c in table.columns
    }


def _codes(table: Table, profile: DialectProfile) -> dict[str, int] | None:
    """The member sqlType, the code of each column's type; None if the service's messages have no
    codes.
    """
    codes = {**SQL_TYPES, "datetime": profile.datetime_code}
    return {c.name: codes[c.type.name] for c in table.columns} if profile.codes else None


def _listed(image: Member) -> Member:
    """The function that gives a message's member with the image that `image` computes as the only
    element of a list; null where `image` gives ABSENT.
    """

    def member(event: RowChange, change: Change) -> Any:
        image_value = image(event, change)
        return None if image_value is ABSENT else [image_value]

    return member


def _envelope(
    event: Event, row_number: int, profile: DialectProfile, **more_members: Any
) -> dict[str, Any]:
    """The members of a message, in the order of Huawei's example or of the alphabet: those in
    `more_members`, and a default for each other one that all messages have. A statement gives
    `sql`.
    """
    unit = 1000 if profile.seconds else 1
    members = {
        "data": None,
        "es": event.at.ms // 1000 * (1000 // unit),
        "id": _number(event, row_number, profile),
        "isDdl": False,
        "mysqlType": None,
        "old": None,
        "pkNames": None,
        "sql": "",
        "sqlType": None,
        "ts": (event.at.ms + 729) // unit,
        **({"gtid": ""} if profile.gtid else {}),
        **more_members,
    }
    return {name: members[name] for name in (_DRS if profile.example_order else sorted(members))}


def _number(event: Event, row_number: int, profile: DialectProfile) -> int:
    """The member `id` of a message. In Tencent's and Huawei's messages it grows from event to
    event; here it passes from 18 digits to 19 half a minute after the beginning of a history. Each
    event has 16 numbers, of which all rows from the sixteenth on share the last. CKafka's connector
    (the profile's `seconds`) writes 0.
    """
    since = event.at.tso - START.tso
    return 0 if profile.seconds else 10**18 - 10**11 + since * 16 + min(row_number, 15)


_DRS: Final = (
    "mysqlType",
    "id",
    "es",
    "ts",
    "database",
    "table",
    "type",
    "isDdl",
    "sql",
    "sqlType",
    "data",
    "old",
    "pkNames",
)
"""The members of a message in the order of Huawei DRS's example."""


def _members_of_row(event: RowChange, change: Change, profile: DialectProfile) -> dict[str, Any]:
    """The members of the message of one row of an INSERT, UPDATE, DELETE or snapshot;
    where the profile says so, a deleted row stands in `old` and not in `data`.
    """
    table, is_delete = event.table, event.op is Op.DELETE
    old, new_rows = _listed(OLD)(event, change), _listed(ROW)(event, change)
    moved = is_delete and profile.deleted_in_old
    message_type: str = event.op
    if event.op is Op.READ:
        message_type = "INIT" if profile.init else "INSERT"
    return _envelope(
        event,
        change.row,
        profile,
        data=None if moved else new_rows,
        database=table.database,
        mysqlType=_types(table, profile),
        old=new_rows if moved else old,
        pkNames=table.primary_key or None if profile.described else None,
        sqlType=_codes(table, profile),
        table=table.name,
        type=message_type,
    )


def _flat(profile: DialectProfile) -> Flat:
    """How the profile writes each event, as the table from which `writer` makes the format's
    writer.
    """
    return Flat(
        members=(),
        forms=TextForms(profile.deployment.time_zone, binary=HEX if profile.zoned else LATIN1),
        keyed=profile.described,
        more_fields=lambda event: {"types": _types(event.table, profile)},
        time_unit_ms=1000,
        complete_before=profile.whole_old,
        respell=lambda cell, value: _spell(profile, cell, value),
        writes_snapshots=True,
        position=lambda event, row_number: str(_number(event, row_number, profile)),
        members_of_row=lambda event, change: _members_of_row(event, change, profile),
        write_other=lambda event: _statement(event, profile),
    )


def _statement(event: Event, profile: DialectProfile) -> Iterable[WireMessage]:
    """Yields the JSON message of a DDL statement and the change expected of it; nothing for other
    events and for actions without an entry in DDL_TYPES. `profile.ddl` is the type that a service
    gives every statement, "" for Canal's words. The commit time is in whole seconds, as the member
    `es` is.
    """
    if isinstance(event, SchemaChange) and event.action in DDL_TYPES:
        statement_members = {
            "database": event.database,
            "isDdl": True,
            "sql": event.sql,
            "table": event.table,
        }
        members = _envelope(
            event, 0, profile, **statement_members, type=profile.ddl or DDL_TYPES[event.action]
        )
        statement = Change(
            0,
            Kind.DDL,
            database=event.database,
            table=event.table,
            position=str(members["id"]),
            commit_time_us=event.at.ms // 1000 * 1_000_000,
            sql=event.sql,
        )
        yield WireMessage(members, (statement,))


write: Final = writer(_flat)


def scenarios(profile: DialectProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: full loads, statements, keys."""
    columns = (ID, *KEY_VALUES)
    example_row: Row = {"id": 1, "a": "x", "n": 5}
    loaded = Table(database, neutral("init/rows"), columns, ("id",))
    yield named(
        "init/rows",
        change(loaded, Op.READ, (None, example_row), (None, {**example_row, "id": 2, "a": None})),
        tags={"snapshot"},
    )
    yield from key_scenarios(database, columns, ("n", "id"), example_row)
    for action in (
        "create table",
        "drop table",
        "truncate table",
        "add column",
        "create index",
        "create database",
    ):
        yield of_statement(ddl_event(action, database))
    yield rename_between_rows(database)


KEY_VALUES: Final = tuple(
    replace(ID, name=name, type=type, nullable=True)
    for name, type in (("a", mysql.text()), ("n", ID.type))
)
"""The columns beside `id` in the format's own cases: `a`, a text, and `n`, a number."""


def writes(type: SourceType) -> bool:
    """Whether the services' messages have a form for the type: all of MySQL's but spatial ones, of
    which no page says more than hex.
    """
    return supports(type)


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=writes,
)
