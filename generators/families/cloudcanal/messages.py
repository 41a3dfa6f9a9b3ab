"""What CloudCanal's two JSON formats share: profiles, value texts, type maps, `tableChanges`, and
how events become messages.

Source: the vendor's page on message formats (page cloudcanal of the sources; its English twin and
an older edition agree but for one key). There is no public serialiser: of values the page shows
strings alone. Everything that `ASSUMED` names is this module's choice.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, ClassVar, Final, Literal, TypeAlias

from generators.families.canal import DDL_TYPES, SQL_TYPES
from generators.families.java_text import (
    Escapes,
    hash_code,
    json_string,
    remainder_of_abs,
)
from generators.families.mysql_texts import BASE64, HEX, TextForms, wire_image
from generators.families.wire_messages import ABSENT, WireMessage, print_json, print_message
from generators.garbage.cell_faults import CELL_FAULTS, CellFault
from generators.model import (
    Cell,
    Change,
    Column,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Op,
    RowChange,
    SchemaChange,
    SourceType,
    State,
    Table,
    TransactionMark,
    Written,
)
from generators.profiles import Profile
from generators.sources import mysql

SEND_LAG_MS: Final = 1377
"""Milliseconds from a commit to the time at which its message is sent."""
RELEASE: Final = "2022"
"""The year of the documents' example messages (execTs 1669789152000): the vendor names no version
of its formats.
"""

ASSUMED: Final = (
    "value texts (all but that values are strings), binary form, time zone, NULL, record key,"
    " partition, DDL actions other than ALTER, messages without an example"
)

CANAL_ACTIONS: Final = {
    a: word for a, word in DDL_TYPES.items() if word != "QUERY" and a != "exchange partition"
}
"""`type` of each DDL action, Canal's words: only ALTER is documented for CloudCanal."""

Texts: TypeAlias = Mapping[str, str | None]
"""A row as a message has it: the text of each column, None for NULL."""


@dataclass(frozen=True, slots=True)
class CloudCanalProfile(Profile):
    """An edition of the vendor's page and the readings that it leaves open, as the facts that
    change what is written.

    `labels` is the format's spelling of ENUM and SET (`mysql_texts.TextForms`).
    """

    labels: ClassVar[bool] = True
    assumed: str = ASSUMED
    numbered: bool = False
    """Every event has a batch or sequence number, else it is 0 as in every example."""
    partial_old: bool = False
    """Old rows of an UPDATE lack the columns that did not change, as Canal's do
    (cloudcanal#before-whole-open)."""
    deleted_in: Literal["data", "old", "both"] = "data"
    """Which of the two lists have a deleted row (cloudcanal#delete-open)."""
    milliseconds: bool = False
    """The commit time has milliseconds; it is in whole seconds in every example."""
    bare_integers: bool = False
    """The server is MySQL 8.0.19 or later: integers have no display width."""
    ddl_topic: bool = False
    """DDL goes to a topic of its own."""

    @property
    def forms(self) -> TextForms:
        """How this profile spells values."""
        return TextForms(self.deployment.time_zone, self.deployment.binary, labels=self.labels)


@dataclass(frozen=True, slots=True)
class EnvelopeShape:
    """What tells the envelopes of CloudCanal's two formats apart. `ddl_actions` is the word for
    each action of `mysql.DDL_ACTIONS` (an action without an entry has no message),
    `transaction_end` says whether a commit has a message of its own.
    """

    ddl_actions: Mapping[str, str]
    transaction_end: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """The contents of a message before its format gives its members names. `rows` are the rows of
    the list `data`, `old` the old rows, in the same order.

    `action` is the message's word for what was done, None for the end of a transaction. `keys` are
    the columns of the table's key, `columns` those that the maps of types have. `described` is the
    table that `tableChanges` describes. `changes` are expected of a decoder. `number`, `exec_ms`
    and `send_ms` are the batch or sequence number, the time of the commit and the time of sending.
    """

    action: str | None
    database: str | None = None
    table: str | None = None
    schema: str | None = None
    entry: str = "ROWDATA"
    is_ddl: bool = False
    sql: str = ""
    keys: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[Texts, ...] = ()
    old: tuple[Texts, ...] = ()
    described: Table | None = None
    changes: tuple[Change, ...] = field(default=())
    number: int = 0
    exec_ms: int = 0
    send_ms: int = 0


def write(
    history: History,
    profile: CloudCanalProfile,
    layout: Layout,
    shape: EnvelopeShape,
    finish: Callable[[Draft], WireMessage],
) -> list[Written]:
    """The messages of a history in order, each with the changes that a decoder must return for it.
    `finish` makes a message of a draft: it gives the members the names of its format.
    """
    chance = random.Random(f"{history.seed}/{profile.name}")
    first = chance.randrange(1, 1_000_000)
    written: list[Written] = []
    for ordinal, event in enumerate(history.events):
        draft = _draft(event, profile, shape)
        if draft is None:
            continue
        draft = replace(
            draft,
            number=first + ordinal if profile.numbered else 0,
            exec_ms=event.at.ms if profile.milliseconds else event.at.ms // 1000 * 1000,
            send_ms=event.at.ms + SEND_LAG_MS,
        )
        message = finish(draft)
        owed_changes = tuple(
            replace(
                change,
                database=draft.database,
                table=draft.table,
                sql=draft.sql or None,
                types=types_of(draft, profile),
                position=str(draft.number),
                commit_time_us=draft.exec_ms * 1000,
            )
            for change in message.changes
        )
        place = partition_of(draft, layout.partitions)
        topic = ddl_topic(layout.topic) if draft.is_ddl and profile.ddl_topic else layout.topic
        message = replace(message, changes=owed_changes, partitions=(place,), topic=topic)
        written += print_message(message, _print, layout, event=ordinal, timestamp_ms=draft.send_ms)
    return written


_print: Final = partial(print_json, quote=partial(json_string, library=Escapes.FASTJSON1))
"""Prints JSON as fastjson 1 does."""


def ddl_topic(topic: str) -> str:
    """The topic that the parameter ddlTopic names in profiles that have one
    (cloudcanal#ddl-partition).
    """
    return f"{topic}_ddl"


def partition_of(draft: Draft, partitions: int) -> int:
    """The partition of a message: 0 for DDL (cloudcanal#ddl-partition) and for a message without a
    table; else by `String.hashCode` of `database.table`, so that the messages of a table keep their
    order. No document says how it is chosen.
    """
    if draft.is_ddl or not draft.table:
        return 0
    return remainder_of_abs(hash_code(f"{draft.database}.{draft.table}"), partitions)


def types_of(draft: Draft, profile: CloudCanalProfile) -> dict[str, str] | None:
    """The source types of the message's columns by name, as its type map spells them; None without
    columns.
    """
    return type_map(draft.columns, profile) or None


_WIDTH: Final = re.compile(r"(?<=int)\(\d+\)(?!.*zerofill)")
"""The display width of an integer type without ZEROFILL."""


def type_of(type: SourceType, profile: CloudCanalProfile) -> str:
    """The source's own text of a column's type, with its length. From MySQL 8.0.19 on
    (`bare_integers`) integers have no display width, but for tinyint(1) and ZEROFILL (which _WIDTH
    does not match).
    """
    declared = mysql.declared(type)
    return (
        _WIDTH.sub("", declared)
        if profile.bare_integers and not declared.startswith("tinyint(1)")
        else declared
    )


def _draft(event: Event, profile: CloudCanalProfile, shape: EnvelopeShape) -> Draft | None:
    """The contents of an event's messages; None for an event that has no message."""
    match event:
        case RowChange(op=Op.INSERT | Op.UPDATE | Op.DELETE):
            return _draft_of_rows(event, profile)
        case SchemaChange() if event.action in shape.ddl_actions:
            table = event.after or event.before
            return Draft(
                shape.ddl_actions[event.action],
                event.database,
                event.table,
                event.database,
                is_ddl=True,
                sql=event.sql,
                columns=table.columns if table is not None else (),
                described=table,
                changes=(Change(0, Kind.DDL, other_keys=(table.primary_key,) if table else ()),),
            )
        case TransactionMark(mark="COMMIT") if shape.transaction_end:
            change = Change(0, Kind.TRANSACTION, accept=((Kind.CONTROL, None),))
            return Draft(None, entry="TRANSACTIONEND", changes=(change,))
        case _:
            return None


def _draft_of_rows(event: RowChange, profile: CloudCanalProfile) -> Draft | None:
    """The draft of one message with all rows of an INSERT, UPDATE or DELETE, None for an event
    without rows. The profile says whether a deleted row stands in `data` or `old`, and whether old
    rows have columns that did not change.
    """
    table, forms = event.table, profile.forms
    rows: list[Texts] = []
    old: list[Texts] = []
    changes: list[Change] = []
    for i, images in enumerate(event.rows):
        before_image, after = (
            wire_image(table, images_of_row, forms)
            for images_of_row in (images.before, images.after)
        )
        before, full = before_image, None
        if before_image is not None and after is not None and profile.partial_old:
            before, full = _old_images(before_image, after)
        if before is not None and (after is not None or profile.deleted_in != "data"):
            old.append(_texts(before))
        data_image = after if after is not None else before if profile.deleted_in != "old" else None
        if data_image is not None:
            rows.append(_texts(data_image))
        changes.append(Change(i, Kind.ROW, event.op, before=before, after=after, full_before=full))
    if not changes:
        return None
    return Draft(
        event.op.value,
        table.database,
        table.name,
        table.schema or table.database,
        keys=table.primary_key,
        columns=table.columns,
        rows=tuple(rows),
        old=tuple(old),
        changes=tuple(changes),
    )


LEFT_OUT: Final = "left-out"
"""The class of an old cell that the message leaves out, so that a reader takes it from the new row.
"""


def _old_images(before: Image, after: Image) -> tuple[Image, Image]:
    """Two old images of an UPDATE, from the whole rows before and after it: one with the changed
    columns alone, as the message has it, and one in which a reader has taken the other columns from
    the new row; the class of these cells is LEFT_OUT. A column is unchanged if its text in the
    message is the same.
    """
    same = {name for name, cell in before.items() if cell.text == after[name].text}
    wire = {
        name: Cell(State.ABSENT, cell.type) if name in same else cell
        for name, cell in before.items()
    }
    return wire, {
        name: replace(after[name], cls=LEFT_OUT) if name in same else cell
        for name, cell in before.items()
    }


def _texts(image: Image) -> Texts:
    """The texts of a row by column, without the columns that the message leaves out."""
    return {name: cell.text for name, cell in image.items() if cell.state is not State.ABSENT}


@lru_cache(maxsize=1024)
def jdbc_type(type: SourceType) -> int:
    """The `java.sql.Types` number that messages give a column. It depends on the type alone: the
    number that Canal gives a value in the signed range.
    """
    return SQL_TYPES[type.name]


def type_map(columns: Iterable[Column], profile: CloudCanalProfile) -> dict[str, str]:
    """The member `dbValType` (in Canal's format `mysqlType`) of a message: the text of each
    column's type, with its length.
    """
    return {column.name: type_of(column.type, profile) for column in columns}


def jdbc_map(columns: Iterable[Column]) -> dict[str, int]:
    """The member `jdbcType` (in Canal's format `sqlType`) of a message: each column's number of
    `java.sql.Types`.
    """
    return {column.name: jdbc_type(column.type) for column in columns}


def table_changes(draft: Draft, profile: CloudCanalProfile) -> Any:
    """`tableChanges`: one object with 0-based positions, the table as it is after the statement
    (cloudcanal#table-changes, cloudcanal#types-after); ABSENT of a message that describes none.
    """
    table = draft.described
    if table is None:
        return ABSENT
    columns = [
        {
            "jdbcType": jdbc_type(column.type),
            "name": column.name,
            "position": position,
            "typeExpression": type_of(column.type, profile),
            "typeName": column.type.name,
        }
        for position, column in enumerate(table.columns)
    ]
    described = {"columns": columns, "primaryKeyColumnNames": table.primary_key}
    return {"table": described, "type": draft.action}


_BINARY_FAULTS: Final = {
    HEX: CellFault("cell-binary", "c_varbinary", b"\xab\xcd\xef\x01", '"abcdef01"', '"abcdef0g"'),
    BASE64: CellFault(
        "cell-binary", "c_varbinary", b"\xab\xcd\xef\x01", '"q83vAQ=="', '"q83v*Q=="'
    ),
}


def text_faults(profile: Profile) -> tuple[CellFault, ...]:
    """The cells of MySQL's types whose texts the type cannot hold, one fault for each, with
    binaries in the form that the deployment says. SET is left out, since a decoder may pass its
    labels on.
    """
    return (
        *(fault for fault in CELL_FAULTS if fault.column != "c_set_64"),
        _BINARY_FAULTS[profile.deployment.binary],
    )
