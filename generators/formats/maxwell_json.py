"""Maxwell's JSON: one message for each row of MySQL, with the old values of what an UPDATE changed
beside the row.

Source: Maxwell's data format and its source, 1.45.0 (maxwell#members and after). `ts` of a row is
in seconds, of a DDL in milliseconds. Numbers are JSON numbers, a SET is a list of labels, a JSON
column its document, a binary base64. Maxwell's JVM is assumed to run in UTC. Losses: an hour of
TIME beyond a day, its sign, BIT from 2^31 to 2^63, an ENUM's empty value, YEAR 0000 and partly zero
dates.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, and ADD COLUMN:

    {"database":"shop","table":"notes","type":"insert","ts":1700000000,"xid":536870913,
    "commit":true,"data":{"id":1,"note":"old"}}

    {"database":"shop","table":"notes","type":"update","ts":1700000000,"xid":536870913,
    "commit":true,"data":{"id":1,"note":"new"},"old":{"note":"old"}}

    {"database":"shop","table":"notes","type":"delete","ts":1700000000,"xid":536870913,
    "commit":true,"data":{"id":1,"note":"new"}}

    {"type":"table-alter","database":"shop","table":"t3142384771","ts":1700000000000,
    "sql":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1"}
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, Final

from generators.families.connect import string
from generators.families.flat import OLD, ROW, Flat, key_scenarios, writer
from generators.families.mysql_texts import BASE64, TextForms, scaled_text, supports
from generators.families.wire_messages import ABSENT, Raw, WireMessage, json_text
from generators.model import (
    Bootstrap,
    Cell,
    Change,
    Column,
    Event,
    Json,
    Kind,
    Logical,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    State,
    Table,
    Value,
    ZeroDate,
)
from generators.profile_tables import read_choices
from generators.profiles import Profile
from generators.sources import mysql
from generators.sources.boundaries import ID, START, change, insert, named, neutral, one_column
from generators.sources.ddl import ddl_event, of_statement, rename_between_rows
from generators.sources.multi_table import split_drop
from generators.wire_format import Format, Loss, about

__all__ = ["FORMAT", "MaxwellProfile", "write"]

NAME: Final = "maxwell-json"


@dataclass(frozen=True, slots=True)
class MaxwellProfile(Profile):
    """A release with its options, which are facts by their names."""

    nulls: bool = True
    null_zerodates: bool = False
    primary_keys: bool = False
    position: bool = False
    commit_info: bool = True
    xoffset: bool = False
    ids: bool = False
    ddl: bool = False


CHOICES: Final = read_choices(NAME, MaxwellProfile)


def _spell(profile: MaxwellProfile, cell: Cell, value: Value) -> Cell:
    """The cell as Maxwell spells it where that is not MySQL's text: what Maxwell's definition of
    the column makes of the binlog's value (maxwell#numbers).
    """
    type = cell.type
    match type.logical, value:
        case Logical.DECIMAL, Decimal():
            return replace(cell, text=str(Decimal(scaled_text(value, type.scale or 0))), json=True)
        case Logical.BIT, int():
            wrong_number = sum(struct.unpack("<2i", value.to_bytes(8, "little")))
            if value >> 63 or wrong_number == value:
                return replace(cell, state=State.VALUE, options=())
            reason = "Maxwell adds the bytes of a BIT as signed 32-bit integers"
            return Cell(
                State.ANY, type, text=str(wrong_number), cls=cell.cls, json=True, reason=reason
            )
        case Logical.YEAR, 0:
            reason = "YEAR 0000 is written as 1900"
            return replace(
                cell, state=State.ONE_OF, text="1900", options=(0, 1900), reason=reason, json=True
            )
        case Logical.TIME, int():
            return _time_cell(cell, value)
        case Logical.ENUM, 0:
            return Cell(State.NULL, type)
        case Logical.ENUM, int():
            return replace(cell, state=State.VALUE, text=type.members[value - 1], options=())
        case Logical.SET, int():
            labels = [label for i, label in enumerate(type.members) if value >> i & 1]
            return replace(
                cell, state=State.VALUE, text=json_text(labels, string), options=(), json=True
            )
        case Logical.JSON, Json(value=None):
            return Cell(State.NULL, type)
        case Logical.JSON, Json(value=str() as text):
            return replace(cell, text=text)
        case Logical.JSON, _:
            return replace(cell, json=True)
        case _, ZeroDate() if profile.null_zerodates:
            return Cell(State.NULL, type)
        case _, ZeroDate():
            zero = (
                mysql.date_text(ZeroDate())
                if type.logical is Logical.DATE
                else mysql.datetime_text(ZeroDate(), type.fsp)
            )
            reason = "" if value == ZeroDate() else "a partly zero date is written as zero"
            return replace(cell, value=ZeroDate(), text=zero, reason=reason)
    return cell


def _time_cell(cell: Cell, value: int) -> Cell:
    """The cell of a TIME of `value` microseconds: `java.sql.Time` of the milliseconds, a time of
    day whose hours wrap at 24, then the rest of the second in `fsp` digits with the sign of the
    value (maxwell#time). A negative one is filled up with zeros before its sign, as in
    00:00:00.0000-1, so that any value is right; else the value is the time of day.
    """
    millis, fsp = int(value / 1000), cell.type.fsp
    clock = mysql.time_text(millis // 1000 % 86_400 * mysql.MICROS, 0)
    fraction = abs(value) % mysql.MICROS // 10 ** (6 - fsp)
    if value < 0 and fraction:
        time_text = f"{clock}.{'0' * (fsp - len(str(fraction)) - 1)}-{fraction}"
        return Cell(
            State.ANY,
            cell.type,
            text=time_text,
            cls=cell.cls,
            reason="Maxwell writes the sign of a TIME into its fraction",
        )
    time_text = f"{clock}.{fraction:0{fsp}d}" if fsp else clock
    micros_of_day = value % mysql.DAY
    return replace(
        cell,
        value=micros_of_day,
        text=time_text,
        reason="" if micros_of_day == value else "Maxwell writes a TIME as a time of day",
    )


_FILE_MS: Final = 1 << 16
"""Milliseconds of a file of the virtual binlog: at 2^14 bytes each it ends at a gigabyte, MySQL's
limit.
"""


def _position(event: Event) -> str:
    """The member `position`: the file and the offset in the binlog. Both get one digit more within
    a longer history (the files go from 999999 to 1000000), so that positions that are compared as
    texts are out of order. Each millisecond takes 2^14 bytes of a file, and each commit in it one
    of these.
    """
    since = event.at.ms - START.ms
    number = max(999_999 + since // _FILE_MS, 1)
    return f"binlog.{number:06d}:{4 + (since % _FILE_MS << 14) + event.at.seq}"


def _keys(event: RowChange, change: Change) -> list[Any]:
    """The values of the member `primary_key`: those of the key's columns, in the key's order, after
    the change; of a DELETE those of the deleted row.
    """
    cells = (change.full_after or change.full_before or {}).items()
    by_name = {name: Raw(cell.text or "null") if cell.json else cell.text for name, cell in cells}
    return [by_name[name] for name in event.table.primary_key]


def _key(event: RowChange, change: Change) -> Mapping[str, Any]:
    """The members of a row's record key: its database, its table, and each key column as `pk.` and
    its name in lower case, or `_uuid` for a table without a primary key.
    """
    table = event.table
    names = (f"pk.{name.lower()}" for name in table.primary_key)
    key_members = dict(zip(names, _keys(event, change), strict=True)) or {
        "_uuid": f"{event.at.tso:032x}"
    }
    return {"database": table.database, "table": table.name, **key_members}


def _keys_of_the_record(event: RowChange) -> Mapping[str, Any]:
    """The field `key_sets` of an expected change: the sets of key columns that a decoder may name.
    It may take them from the record's key, which has their names in lower case, or from the table
    (maxwell#keys). Empty for a table without a primary key.
    """
    key = event.table.primary_key
    return {"key_sets": (frozenset(key), frozenset(map(str.lower, key)))} if key else {}


def _flat(profile: MaxwellProfile) -> Flat:
    """How the profile writes row changes: the members of a message in the order of RowMap.toJSON,
    and what a decoder owes for them.
    """

    def is_last(event: RowChange, change: Change) -> bool:
        """Whether a row is the last one of its row change, whose message tells of the commit."""
        return change.row == len(event.rows) - 1

    def live(enabled: bool, value: Any) -> Any:
        """The function that gives a member which rows of the binlog alone have, if the profile has
        the member (`enabled`); it gives ABSENT for rows of a bootstrap. `value` gives the member's
        value.
        """
        return lambda event, change: (
            value(event, change) if enabled and event.op is not Op.READ else ABSENT
        )

    return Flat(
        members=(
            ("database", lambda event, _: event.table.database),
            ("table", lambda event, _: event.table.name),
            (
                "type",
                lambda event, _: "bootstrap-insert" if event.op is Op.READ else event.op.lower(),
            ),
            ("ts", lambda event, _: event.at.ms // 1000),
            ("xid", live(profile.commit_info, lambda event, _: event.at.tso % (1 << 31))),
            (
                "xoffset",
                live(
                    profile.xoffset,
                    lambda event, change: ABSENT if is_last(event, change) else change.row,
                ),
            ),
            (
                "commit",
                live(profile.commit_info, lambda event, change: is_last(event, change) or ABSENT),
            ),
            ("position", live(profile.position, lambda event, _: _position(event))),
            ("server_id", live(profile.ids, lambda _event, _: 23042)),
            ("thread_id", live(profile.ids, lambda _event, _: 108)),
            (
                "primary_key",
                lambda event, change: _keys(event, change) if profile.primary_keys else ABSENT,
            ),
            (
                "primary_key_columns",
                lambda event, _: event.table.primary_key if profile.primary_keys else ABSENT,
            ),
            ("data", ROW),
            ("old", OLD),
        ),
        forms=TextForms("UTC", binary=BASE64, labels=True),
        keyed=profile.primary_keys,
        more_fields=_keys_of_the_record,
        position=lambda event, _: (
            _position(event) if profile.position and event.op is not Op.READ else None
        ),
        time_unit_ms=1000,
        numbers=frozenset({Logical.INT, Logical.FLOAT, Logical.DOUBLE, Logical.BIT, Logical.YEAR}),
        has_before=lambda before, after: before != after,
        respell=partial(_spell, profile),
        writes_nulls=profile.nulls,
        writes_snapshots=True,
        key=_key,
        write_other=lambda event: _other_messages(event, profile),
    )


DDL_TYPES: Final = {
    **{
        f"{action} {what}": f"{what}-{action}"
        for what in ("database", "table")
        for action in ("create", "alter", "drop")
    },
    **dict.fromkeys(
        ("add column", "drop column", "modify column", "rename table", "table charset"),
        "table-alter",
    ),
}
"""`type` of each DDL action that is a message: of the others Maxwell's schema does not change, or
it is none of a table.
"""


def _other_messages(event: Event, profile: MaxwellProfile) -> Iterable[WireMessage]:
    """The message of the begin or end of a bootstrap, or of a DDL statement, a DROP of several
    tables once for each (maxwell#drop-of-several); nothing for other events.
    """
    match event:
        case Bootstrap(at=at, table=table, over=over):
            names = {"database": table.database, "table": table.name}
            type = "bootstrap-complete" if over else "bootstrap-start"
            members = {**names, "type": type, "ts": at.ms // 1000, "data": {}}
            micros = at.ms // 1000 * 1_000_000
            control = Change(
                0,
                Kind.CONTROL,
                database=table.database,
                table=table.name,
                commit_time_us=micros,
            )
            yield WireMessage(members, (control,))
        case SchemaChange(action=action) if profile.ddl and action in DDL_TYPES:
            for drop_or_event in split_drop(event):
                yield _statement_message(drop_or_event, profile)


def _statement_message(event: SchemaChange, profile: MaxwellProfile) -> WireMessage:
    """The message of a DDL statement on one table or database. Of a RENAME `table` and `old` are
    the table before, `def` is the one after.
    """
    changed = event.old_name or event.table
    type = DDL_TYPES[event.action]
    table_before = event.before if type == "table-alter" else None
    position = _position(event) if profile.position else None
    members = {
        "type": type,
        "database": event.database,
        "table": changed or ABSENT,
        "old": _definition(replace(table_before, name=changed)) if table_before else ABSENT,
        "def": _definition(event.after) if event.after else ABSENT,
        "ts": event.at.ms,
        "sql": event.sql,
        "position": position or ABSENT,
    }
    statement = Change(
        0,
        Kind.DDL,
        None,
        event.database,
        None,
        changed or None,
        position=position,
        commit_time_us=event.at.ms * 1000,
        sql=event.sql,
        other_keys=(event.after.primary_key,) if event.after else (),
    )
    return WireMessage(members, (statement,))


def _definition(table: Table) -> dict[str, Any]:
    """A table as the members `old` and `def` of a DDL message describe it: its names, character
    set, columns and key.
    """
    names = {"database": table.database, "charset": "utf8mb4", "table": table.name}
    return {
        **names,
        "columns": [_column(column) for column in table.columns],
        "primary-key": table.primary_key,
    }


def _column(column: Column) -> dict[str, Any]:
    """A column as a DDL message describes it: type and name, and what its type has of sign,
    character set, labels or fraction digits.
    """
    type = column.type
    definition: dict[str, Any] = {"type": type.name, "name": column.name}
    match type.logical:
        case Logical.INT:
            definition["signed"] = not type.unsigned
        case Logical.TEXT | Logical.BINARY:
            definition["charset"] = column.charset or (
                "utf8mb4" if type.logical is Logical.TEXT else "binary"
            )
        case Logical.ENUM | Logical.SET:
            definition["enum-values"] = type.members
        case Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME if type.fsp:
            definition["column-length"] = type.fsp
    return definition


write: Final = writer(_flat)


def scenarios(profile: MaxwellProfile, database: str) -> Iterator[Scenario]:
    """The cases that only this format has: bootstraps, statements, keys, and values that Maxwell
    changes.
    """
    columns = (ID, Column("a", mysql.text()), Column("n", mysql.integer("int")))
    example_row: Row = {"id": 1, "a": "x", "n": 5}

    def table(name: str) -> Table:
        """The table of a named case."""
        return Table(database, neutral(name), columns, ("id",))

    bootstrap_table = table("bootstrap/rows")
    reads = change(
        bootstrap_table, Op.READ, (None, example_row), (None, {"id": 2, "a": None, "n": None})
    )
    bounds = Bootstrap(START, bootstrap_table), Bootstrap(START, bootstrap_table, over=True)
    yield named(
        "bootstrap/rows",
        bounds[0],
        reads,
        bounds[1],
        insert(bootstrap_table, {**example_row, "id": 3}),
        tags={"snapshot"},
    )
    yield from key_scenarios(database, columns, ("n", "id"), example_row)
    yield named(
        "commit/rows",
        change(
            table("commit/rows"), Op.INSERT, *((None, {**example_row, "id": i}) for i in range(3))
        ),
    )
    nulled = ({**example_row, "a": None}, example_row), (example_row, {**example_row, "n": None})
    yield named("old/null", change(table("old/null"), Op.UPDATE, *nulled))
    small = one_column(database, "values/small-decimal", mysql.decimal(20, 10))
    yield named("values/small-decimal", insert(small, {"id": 1, "c": Decimal("0.0000001")}))
    if profile.ddl:
        yield rename_between_rows(database)
        for event in (
            ddl_event(action, database, old_name="_other")
            for action in mysql.DDL_ACTIONS
            if action in DDL_TYPES
        ):
            table_before = Table(database, event.table, columns, ("id",)) if event.table else None
            yield of_statement(
                replace(
                    event,
                    before=table_before,
                    after=None if event.action == "drop table" else table_before,
                )
            )


def losses(profile: MaxwellProfile) -> tuple[Loss, ...]:
    """What the profile's messages lose of the source's values, for every decoder."""
    remaining = _flat(profile).remaining_value
    return (
        Loss(
            (Logical.TIME,),
            "A TIME is a time of day: days and the sign are lost",
            "maxwell#time",
            remaining,
        ),
        Loss(
            (Logical.BIT,), "BIT from 2^31 to 2^63 - 1 is another number", "maxwell#bit", remaining
        ),
        Loss((Logical.YEAR,), "YEAR 0000 is 1900", "maxwell#year", remaining),
        Loss(
            (Logical.ENUM, Logical.JSON),
            "An ENUM's empty value and JSON's null are null, as NULL is",
            "maxwell#enum",
            remaining,
        ),
        Loss(
            (Logical.DATE, Logical.DATETIME),
            "A partly zero date is zero",
            "maxwell#zero-dates",
            remaining,
        ),
    )


FORMAT: Final = Format(
    **about(NAME, CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    fits={"json/letters": "a string is a document"},
    losses=losses,
)
