"""What CloudCanal's two JSON formats share: profiles, value texts, type maps, `tableChanges`, and how events become messages.

Source: the vendor's page on message formats (page cloudcanal of the sources; its English twin and an older edition agree but for
one key). There is no public serialiser: of values the page shows strings alone. Everything that `ASSUMED` names is this module's
choice.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, TypeAlias

from generators.families.canal import SQL_TYPES, type_text
from generators.families.java_text import Escapes, hash_code, json_name, json_string, remainder_of_abs
from generators.families.mysql_texts import TextForms, cell
from generators.model import (
    Cell,
    Change,
    Column,
    Event,
    History,
    Image,
    Kind,
    Layout,
    Message,
    Op,
    Row,
    RowChange,
    SchemaChange,
    SourceType,
    State,
    Table,
    TransactionMark,
    Written,
)
from generators.wire_format import Profile

RELEASE: Final = "2022"
"""The year of the documents' example messages (execTs 1669789152000): the vendor names no version of its formats."""

ASSUMED: Final = (
    "value texts (all but that values are strings), binary form, time zone, NULL, record key, partition, DDL actions other than "
    "ALTER, messages without an example"
)

Texts: TypeAlias = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class CloudCanalProfile(Profile):
    """An edition of the vendor's page and the readings that it leaves open, as the facts that change what is written.

    `numbered` gives every event a batch or sequence number, else it is 0 as in every example. `whole_before` writes every column
    of an UPDATE's old row. `by_table` chooses the partition by table. `exec_step_ms` is the resolution of the commit time.
    `labels`, `keeps_scale` and `strips_binary` are spellings of values (`_mysql_texts.TextForms`).
    """

    numbered: bool = False
    whole_before: bool = True
    by_table: bool = True
    exec_step_ms: int = 1000
    send_lag_ms: int = 1377
    escapes: Escapes = Escapes.FASTJSON1
    labels: bool = True
    keeps_scale: bool = True
    strips_binary: bool = True

    @property
    def forms(self) -> TextForms:
        """How this profile spells values."""
        told = self.deployment
        return TextForms(
            told.time_zone, told.binary, labels=self.labels, keeps_scale=self.keeps_scale, strips_binary=self.strips_binary
        )


@dataclass(frozen=True, slots=True)
class Shape:
    """`ddl_actions` is the word for each action of `mysql.DDL_ACTIONS` (no entry: no message), `transaction_end` whether a commit
    has a message of its own."""

    ddl_actions: Mapping[str, str]
    transaction_end: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before serialisation. `rows` stand in `data`, `old` are an UPDATE's old rows, in the same order.

    `keys` are the table's key, `columns` those that the type maps describe. `number`, `exec_ms` and `send_ms` are the message's
    batch or sequence number and times.
    """

    action: str | None
    database: str | None = None
    table: str | None = None
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
    shape: Shape,
    finish: Callable[[Draft], tuple[str, list[Change]]],
) -> list[Written]:
    """The messages of a history in order; `finish` gives the text of one and its changes."""
    chance = random.Random(f"{history.seed}/{profile.name}")
    first = chance.randrange(1, 1_000_000)
    written: list[Written] = []
    for ordinal, event in enumerate(history.events):
        found = _draft(event, profile, shape)
        if found is None:
            continue
        draft = replace(
            found,
            number=first + ordinal if profile.numbered else 0,
            exec_ms=event.at.ms // profile.exec_step_ms * profile.exec_step_ms,
            send_ms=event.at.ms + profile.send_lag_ms,
        )
        text, changes = finish(draft)
        common = {"position": str(draft.number), "commit_time_us": draft.exec_ms * 1000}
        whole = tuple(
            replace(change, database=draft.database, table=draft.table, sql=draft.sql or None, types=types_of(draft), **common)  # type: ignore[arg-type]
            for change in changes
        )
        place = partition_of(draft, layout.partitions) if profile.by_table else 0
        message = Message(layout.topic, place, None, text.encode(), timestamp_ms=draft.send_ms, event=ordinal)
        written.append(Written(message, whole))
    return written


def partition_of(draft: Draft, partitions: int) -> int:
    """`String.hashCode` of `database.table`, so that a table keeps its order; 0 for what has no table. Nothing documents it."""
    return remainder_of_abs(hash_code(f"{draft.database}.{draft.table}"), partitions) if draft.table else 0


def types_of(draft: Draft) -> dict[str, str] | None:
    """The source types by column, as the type map has them."""
    return {column.name: type_text(column.type) for column in draft.columns} or None


def _draft(event: Event, profile: CloudCanalProfile, shape: Shape) -> Draft | None:
    match event:
        case RowChange(op=Op.INSERT | Op.UPDATE | Op.DELETE):
            return _rows(event, profile)
        case SchemaChange() if event.action in shape.ddl_actions:
            table = event.after or event.before
            return Draft(
                shape.ddl_actions[event.action],
                event.database,
                event.table,
                is_ddl=True,
                sql=event.sql,
                columns=table.columns if table is not None else (),
                described=table,
                changes=(Change(0, Kind.DDL),),
            )
        case TransactionMark(mark="COMMIT") if shape.transaction_end:
            change = Change(0, Kind.TRANSACTION, accept=((Kind.CONTROL, None),))
            return Draft(None, entry="TRANSACTIONEND", changes=(change,))
        case _:
            return None


def _rows(event: RowChange, profile: CloudCanalProfile) -> Draft | None:
    table, forms = event.table, profile.forms
    rows: list[Texts] = []
    old: list[Texts] = []
    changes: list[Change] = []
    for i, images in enumerate(event.rows):
        before = _image(table, images.before, forms) if images.before is not None else None
        after = _image(table, images.after, forms) if images.after is not None else None
        change = Change(i, Kind.ROW, event.op, before=before, after=after)
        if before is not None and after is not None:
            kept = before if profile.whole_before else _changed(before, after)
            old.append(_texts(kept))
            if kept is not before:
                change = replace(change, before=kept, full_before=before)
        shown = before if event.op is Op.DELETE else after
        assert shown is not None
        rows.append(_texts(shown))
        changes.append(change)
    if not rows:
        return None
    return Draft(
        event.op.value,
        table.database,
        table.name,
        keys=table.primary_key,
        columns=table.columns,
        rows=tuple(rows),
        old=tuple(old),
        changes=tuple(changes),
    )


def _image(table: Table, row: Row, forms: TextForms) -> Image:
    return {column.name: cell(column.type, row.get(column.name), forms) for column in table.columns}


def _changed(before: Image, after: Image) -> Image:
    """The before image without the columns that stay as they are."""
    return {n: c if c.text != after[n].text else Cell(State.ABSENT, c.type) for n, c in before.items()}


def _texts(image: Image) -> Texts:
    return {name: found.text for name, found in image.items() if found.state is not State.ABSENT}


@lru_cache(maxsize=1024)
def jdbc_type(kind: SourceType) -> int:
    """The `java.sql.Types` number of a column; one a type, as Canal's of a value that fits the signed type."""
    return SQL_TYPES[kind.name].value


def quoted(text: str | None, library: Escapes) -> str:
    """A JSON string, or null."""
    return "null" if text is None else json_string(text, library)


def listed(names: Iterable[str], library: Escapes) -> str:
    """A JSON array of strings."""
    return f"[{','.join([json_name(name, library) for name in names])}]"


def rows_text(rows: Iterable[Texts], library: Escapes) -> str:
    """A JSON array of rows, each an object of texts and nulls."""
    return f"[{','.join([_mapped(((n, quoted(t, library)) for n, t in row.items()), library) for row in rows])}]"


def type_map(columns: Iterable[Column], library: Escapes) -> str:
    """`dbValType`, or `mysqlType`: the type with its length by column."""
    return _mapped(((c.name, json_name(type_text(c.type), library)) for c in columns), library)


def jdbc_map(columns: Iterable[Column], library: Escapes) -> str:
    """`jdbcType`, or `sqlType`: the `java.sql.Types` number by column."""
    return _mapped(((c.name, str(jdbc_type(c.type))) for c in columns), library)


def table_changes(draft: Draft, library: Escapes) -> str:
    """`tableChanges`: one object with 0-based positions, the table as it is after the statement
    (cloudcanal#table-changes, cloudcanal#types-after)."""
    table = draft.described
    assert table is not None
    columns = [
        f'{{"jdbcType":{jdbc_type(c.type)},"name":{json_name(c.name, library)},"position":{i},'
        f'"typeExpression":{json_name(type_text(c.type), library)},"typeName":{json_name(c.type.name, library)}}}'
        for i, c in enumerate(table.columns)
    ]
    keys = listed(table.primary_key, library)
    described = f'{{"columns":[{",".join(columns)}],"primaryKeyColumnNames":{keys}}}'
    return f'{{"table":{described},"type":{quoted(draft.action, library)}}}'


def object_text(members: Iterable[tuple[str, str]]) -> str:
    """A JSON object of members whose names need no escapes, in the order given."""
    return "{" + ",".join([f'"{name}":{text}' for name, text in members]) + "}"


def _mapped(pairs: Iterator[tuple[str, str]], library: Escapes) -> str:
    return f"{{{','.join([f'{json_name(name, library)}:{text}' for name, text in pairs])}}}"


def supports(kind: SourceType) -> bool:
    """Whether the source has the type: every MySQL type of `generators.sources.mysql`."""
    return kind.source == "mysql"
