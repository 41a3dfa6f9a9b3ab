"""What TiCDC knows of tables while a history passes: ids, schema versions, defaults, indexes; and
schemas made of it.

Partitions are read from the text of statements, and so are defaults and indexes that the model's
tables do not have.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from generators.errors import Refused
from generators.families.ticdc import text
from generators.families.ticdc.ddl import Statement, parse
from generators.families.ticdc.defaults import stored_bits, stored_default
from generators.families.ticdc.hidden_columns import (
    ARITHMETIC,
    CASE_CHANGED,
    MULTIVALUED,
    is_never_null,
)
from generators.families.ticdc.placing import Place, place_nowhere, place_of_rows, unplaced
from generators.families.ticdc.sink import default_of, handle_key, moved
from generators.families.ticdc_simple.records import (
    ColumnSchema,
    DataType,
    IndexSchema,
    TableSchema,
)
from generators.model import Column, Index, Logical, Row, SchemaChange, SourceType, Table
from generators.sources import mysql

DDL_LEAD: Final = 4
"""How far a schema version lies before its DDL's commitTs (the documentation's sample: ...614791 of
...614795).
"""

_BEFORE_ALL: Final = 1_690_000_000_000
"""The milliseconds from which the versions of tables that no statement made are counted back:
before all events of a history.
"""
_CHARACTERS: Final = ("utf8mb4", "utf8mb4_bin")
"""The character set and collation of a text column that declares none."""
_BYTES: Final = ("binary", "binary")
"""The character set and collation of any other column."""
_COLLATIONS: Final = {"gbk": "gbk_chinese_ci"}
"""The default collation of a character set, where it is not its name with `_bin`."""
_TEMPORAL_LENGTH: Final = {"date": 10, "datetime": 19, "timestamp": 19, "time": 10}
"""The length in the schema of a type of date and time, without a fraction."""
PRIMARY: Final = "PRIMARY"
"""The name of a primary key's index; TiDB has none for a single integer key, by which it finds
rows.
"""
_LONG: Final = 4_294_967_295
"""The length in the schema of a JSON column."""
_FLAGS: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE)
"""The kinds of types that may be unsigned and zerofill."""


@lru_cache(maxsize=256)
def data_type(type: SourceType, charset: str = "", collation: str = "") -> DataType:
    """The member `dataType` of a column in a message's schema. Its `mysqlType` never says unsigned,
    because a flag of its own does. `charset` and `collation` are the column's own, "" for the
    default.
    """
    is_text = type.logical in (Logical.TEXT, Logical.ENUM, Logical.SET) and type.name != "vector"
    default = _CHARACTERS if is_text else _BYTES
    flags = type.logical in _FLAGS
    length, decimal = type.length or 0, 0
    match type.logical:
        case _ if type.name == "vector" and not type.length:
            length = -1
        case Logical.FLOAT | Logical.DOUBLE:
            length = type.precision or (12 if type.logical is Logical.FLOAT else 22)
        case Logical.DECIMAL:
            length, decimal = type.precision or 0, type.scale or 0
        case Logical.JSON:
            length = _LONG
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            length = _TEMPORAL_LENGTH[type.name] + (1 + type.fsp if type.fsp else 0)
            decimal = type.fsp
        case Logical.ENUM:
            length = max(map(_bytes, type.members), default=0)
        case Logical.SET:
            length = sum(map(_bytes, type.members)) + max(0, len(type.members) - 1)
    return DataType(
        type.name,
        charset or default[0],
        collation or _COLLATIONS.get(charset, f"{charset}_bin" if charset else default[1]),
        length,
        decimal,
        type.members,
        unsigned=type.logical in (Logical.YEAR, Logical.BIT) or (flags and type.unsigned),
        zerofill=type.logical is Logical.YEAR or (flags and type.zerofill),
    )


def _bytes(label: str) -> int:
    """How many bytes a label of an ENUM or SET has in UTF-8."""
    return len(label.encode(errors="surrogatepass"))


_UNSPECIFIED: Final = DataType("unspecified", "", "")
"""The dataType of a view's columns."""


@dataclass(frozen=True, slots=True)
class Known:
    """What TiCDC knows of a table at a point of a history. `ids` are the ids of its columns and
    `defaults` their defaults, by name.

    `indexes` are those that statements made, `hidden` the columns that TiDB added for the
    expressions of indexes, which rows lack. `physical` are the ids of its partitions, () for a
    table without partitions; `place` gives the number of the partition of a row, None where that is
    not known. `added_key` says that a later statement added the primary key: TiDB does not store
    rows by it then. `view` says that it is a view.
    """

    table: Table
    table_id: int
    version: int
    ids: Mapping[str, int]
    defaults: Mapping[str, str | bytes]
    indexes: tuple[Index, ...] = ()
    hidden: tuple[ColumnSchema, ...] = ()
    physical: tuple[int, ...] = ()
    place: Place = place_nowhere
    added_key: bool = False
    view: bool = False

    def physical_id(self, source_row: Row) -> int:
        """The id of the table in the message of a row: that of the partition that holds the row, or
        of a table without partitions. Where the partition is not known, the row's key chooses one.
        """
        if not self.physical:
            return self.table_id
        if (place := self.place(source_row)) is not None:
            return self.physical[place]
        key = repr([source_row[name] for name in handle_key(self.table)])
        return self.physical[zlib.crc32(key.encode()) % len(self.physical)]

    def moved(self, before: Row, after: Row) -> bool:
        """Whether TiDB itself deletes the row and inserts it again, because an UPDATE gives it
        another partition or another clustered key.
        """
        return moved(self.table, before, after) or self.place(before) != self.place(after)

    def by_id(self) -> tuple[Column, ...]:
        """The table's columns in the order of their ids, in which they were created."""
        return tuple(sorted(self.table.columns, key=lambda column: self.ids[column.name]))

    def schema(self, order: str) -> TableSchema:
        """The table's schema as messages have it. `order` is "id" for columns in the order of their
        ids, "table" for the order in the table. The hidden columns, which TiDB adds for expressions
        of indexes, stand by their ids among them in the first case, at the end in the second. The
        columns of a view have no types (_UNSPECIFIED).
        """
        columns = self.by_id() if order == "id" else self.table.columns
        schemas = [
            ColumnSchema(c.name, _UNSPECIFIED) if self.view else self._column(c) for c in columns
        ]
        for column in self.hidden:
            place = (
                sum(self.ids[c.name] < self.ids[column.name] for c in columns)
                if order == "id"
                else len(columns)
            )
            # The hidden columns before this one have moved the place by their number.
            schemas.insert(place + len(schemas) - len(columns), column)
        return TableSchema(
            self.table.database,
            self.table.name,
            self.table_id,
            self.version,
            tuple(schemas),
            self._indexes(),
        )

    def _column(self, column: Column) -> ColumnSchema:
        """A column of the table as the schema has it, with its default."""
        kind = data_type(column.type, column.charset, column.collation)
        return ColumnSchema(column.name, kind, column.nullable, self.defaults.get(column.name))

    def _indexes(self) -> tuple[IndexSchema, ...]:
        """The indexes in the table's schema. One of them is primary: an index that is so already,
        else the primary key, else the first unique key without NULLs; none for a table without such
        a key.

        A primary key that the indexes lack comes first, under the name PRIMARY. A single integer
        key by which TiDB stores the rows, and a unique key, come last, under the name `primary`:
        the schema has such a unique key twice.
        """
        table, key = self.table, self.table.primary_key
        listed = [self._index(index) for index in table.indexes or (*self._unique(), *self.indexes)]
        if any(index.primary for index in listed):
            return tuple(listed)
        is_handle = (
            len(key) == 1
            and table.column(key[0]).type.logical is Logical.INT
            and not self.added_key
        )
        if key and not is_handle:
            return (IndexSchema(PRIMARY, True, True, False, key), *listed)
        primary_columns = key or next(
            (index.columns for index in listed if index.unique and not index.nullable), ()
        )
        if not primary_columns:
            return tuple(listed)
        return (*listed, IndexSchema("primary", True, True, False, primary_columns))

    @property
    def index_names(self) -> tuple[str, ...]:
        """The names of the table's indexes, which one that is added without a name does not get."""
        indexes = (*(self.table.indexes or self._unique()), *self.indexes)
        return tuple(index.name for index in indexes)

    def _unique(self) -> Iterator[Index]:
        """The unique keys of the table as indexes. An index has the name of its first column, with
        a number behind it if another index has that name already.
        """
        name_counts: dict[str, int] = {}
        for columns in self.table.unique:
            times = name_counts[columns[0]] = name_counts.get(columns[0], 0) + 1
            yield Index(columns[0] if times == 1 else f"{columns[0]}_{times}", columns, True)

    def _index(self, index: Index) -> IndexSchema:
        """An index of the table as the schema has it. It counts as nullable if one of its columns
        is nullable, a hidden one among them. Raises Refused for an index over a column that the table does not
        have.
        """
        table, columns = self.table, index.columns
        nullable_columns = {column.name: column.nullable for column in self.hidden} | {
            column.name: column.nullable for column in table.columns
        }
        if not set(columns) <= nullable_columns.keys():
            raise Refused(
                f"table {table.name}: index {index.name} over {', '.join(columns)}, of which the"
                " table has not all"
            )
        nullable = any(nullable_columns[name] for name in columns)
        return IndexSchema(index.name, index.unique, index.name == PRIMARY, nullable, columns)


class Catalogue:
    """The tables of one history, as TiCDC knows them while the history passes. A table that no
    statement of the history made has a version and an id that follow from its own name and columns.

    `time_zone` is the zone in which defaults of TIMESTAMP columns are written; TiDB stores them in
    UTC.
    """

    def __init__(self, time_zone: str) -> None:
        self._zone = time_zone
        self._known: dict[tuple[str, str], Known] = {}
        self._dropped: dict[tuple[str, str], Known] = {}

    def current(self, table: Table) -> Known:
        """What TiCDC knows of the table at this point of the history. A table that it does not know
        yet, or knows in another form, counts from here on as one that no statement made (`_fresh`).
        """
        known_table = self._known.get((table.database, table.name))
        if known_table is None or (known_table.table is not table and known_table.table != table):
            known_table = self._known[table.database, table.name] = self._fresh(table)
        return known_table

    def change(self, event: SchemaChange) -> tuple[Known | None, Known | None]:
        """Takes account of a DDL statement. Returns what TiCDC knows of its table after it (of a
        dropped table what it knew) and before it, None where the statement's message has no schema.
        """
        if not event.table:
            return None, None
        name = (event.database, event.table)
        before = self.current(event.before) if event.before else self._known.get(name)
        if event.action == "exchange partition":
            # the statement's other table takes the place of the previous one
            known_table = self._known.get(name) or (
                self._fresh(event.after) if event.after else None
            )
            self._known |= {name: known_table} if known_table else {}
            return known_table, before
        if event.action in ("drop table", "drop view"):
            before = replace(before, view=event.action == "drop view") if before else None
            if before:
                place = (before.table.database, before.table.name)
                self._dropped[place] = self._known.pop(place)
            return before, before
        if event.action == "recover table" and name in self._dropped:
            self._known[name] = replace(self._dropped.pop(name), version=_version(event))
            return self._known[name], None
        if event.action == "rename table" and before:
            self._known.pop((before.table.database, before.table.name))
            self._known[name] = replace(
                before, table=event.after or replace(before.table, name=event.table)
            )
            return self._known[name], before
        table = event.after or (before.table if before else None)
        if table is None:
            return None, None
        after = self._altered(event, table, before)
        self._known[name] = after
        return after, None if event.action in _CREATES else before

    def _altered(self, event: SchemaChange, table: Table, before: Known | None) -> Known:
        """What TiCDC knows of a table after a statement that makes or changes it. `table` is the
        table after the statement, `before` what was known before it, None for a new table.
        """
        known_table = self._fresh(table) if before is None or event.action in _CREATES else before
        statement = parse(event.sql, table_indexes=known_table.index_names)
        kept_defaults = {
            name: known_table.defaults[old]
            for name in (column.name for column in table.columns)
            if name not in statement.defaults
            and (old := statement.renamed.get(name, name)) in known_table.defaults
        }
        version = (
            known_table.version if event.action in _SAME_VERSION and before else _version(event)
        )
        is_new = event.action == "truncate table" or event.action in _CREATES
        table_id = _id(table, _version(event)) if is_new else known_table.table_id
        partitions = (
            statement.partitions if event.action == "create table" else len(known_table.physical)
        )
        indexes = (
            *(
                index
                for index in known_table.indexes
                if index.name not in statement.dropped_indexes
            ),
            *(index for index in statement.indexes if not index.unique),
        )
        used = {name for index in (*indexes, *table.indexes) for name in index.columns}
        added = (_hidden(name, expression, table) for name, expression in statement.hidden.items())
        hidden = tuple(column for column in (*known_table.hidden, *added) if column.name in used)
        return Known(
            table,
            table_id,
            version,
            _ids(known_table, table, hidden, statement),
            {**kept_defaults, **self._defaults(table, statement.defaults)},
            indexes,
            hidden,
            tuple(table_id + 1 + i for i in range(partitions)),
            (
                place_of_rows(table, statement)
                if event.action == "create table"
                else unplaced(event, known_table.place)
            ),
            event.action == "add primary key" or known_table.added_key,
            event.action == "create view",
        )

    def _fresh(self, table: Table) -> Known:
        """What TiCDC knows of a table that no statement of the history made: id, version and column
        ids follow from the table's name and columns.
        """
        number = int.from_bytes(blake2b(repr(table).encode(), digest_size=8).digest())
        # A TSO: the milliseconds, and 18 bits that count within one.
        version = ((_BEFORE_ALL - number % 1_000_000_000) << 18) | ((number >> 40) & 0x3FFFF)
        ids = {c.name: i for i, c in enumerate(table.columns, 1)}
        with_defaults = Table(
            table.database,
            table.name,
            tuple(replace(c, default=default_of(c)) for c in table.columns),
        )
        return Known(table, _id(table, 0), version, ids, self._defaults(with_defaults, {}))

    def _defaults(
        self, table: Table, spelled: Mapping[str, str | None]
    ) -> Mapping[str, str | bytes]:
        """The defaults of the table's columns as TiDB stores them, by name. `spelled` has the
        literals that a statement spelled, by column; they count for columns without a default in
        the model. A default of NULL is left out.
        """
        literals = {
            c.name: c.default.text if c.default else spelled.get(c.name) or "NULL"
            for c in table.columns
        }
        return {
            c.name: self._stored(c, literals[c.name])
            for c in table.columns
            if literals[c.name].upper() != "NULL"
        }

    def _stored(self, column: Column, literal: str) -> str | bytes:
        """A column's default as TiDB stores it, from the literal in its statement. The default of a
        TIMESTAMP is stored in UTC; it is spelled in the time zone of the session (`_zone`). A zero
        date is stored as it is, and so is what is no timestamp.
        """
        type, value = column.type, column.default.value if column.default else None
        if type.logical is Logical.BIT:
            return stored_bits(literal, value)
        stored = str(stored_default(type, literal, value))
        if type.logical is not Logical.TIMESTAMP:
            return stored
        try:
            local = datetime.fromisoformat(stored).replace(tzinfo=text.zone(self._zone))
        except ValueError:
            return stored
        return mysql.datetime_text(
            (local.astimezone(UTC).replace(tzinfo=None) - mysql.EPOCH) // _MICRO, type.fsp
        )


_SAME_VERSION: Final = ("truncate table", "truncate partition")
"""The actions after which the schema of a table that was there before keeps its version."""
_CREATES: Final = (
    "create table",
    "create tables",
    "create view",
    "create sequence",
    "recover table",
)
"""The actions that make a table."""
_MICRO: Final = timedelta(microseconds=1)


def _hidden(name: str, expression: str, table: Table) -> ColumnSchema:
    """The column that TiDB adds to a table, hidden, under this name for an expression of an index;
    its type is the expression's (ticdc#simple-hidden-column).

    Raises Refused for an expression whose type is not known here.
    """
    columns = {mysql.quote(column.name): column for column in table.columns}
    if (
        (case_changed := CASE_CHANGED.fullmatch(expression))
        and (text_column := columns.get(case_changed[1]))
        and text_column.type.name in ("char", "varchar")
    ):
        kind = replace(
            data_type(text_column.type, text_column.charset, text_column.collation),
            mysql_type="var_string",
            decimal=-1,
        )
        return ColumnSchema(name, kind)
    if arithmetic := ARITHMETIC.fullmatch(expression):
        operands = [columns.get(quoted) for quoted in arithmetic.groups() if quoted]
        if all(
            operand is not None
            and operand.type.logical is Logical.INT
            and not operand.type.unsigned
            for operand in operands
        ):
            kind = DataType("bigint", *_BYTES, 20)
            return ColumnSchema(name, kind, not is_never_null(expression, table))
    if (multivalued := MULTIVALUED.fullmatch(expression)) and multivalued[1]:
        return ColumnSchema(name, DataType("json", *_BYTES, int(multivalued[1]), -1))
    raise Refused(
        f"table {table.name}: the type that TiDB gives to {expression} of an index is not known"
        " here"
    )


def _ids(
    known_table: Known, table: Table, hidden: tuple[ColumnSchema, ...], statement: Statement
) -> Mapping[str, int]:
    """The ids of a table's columns after a statement, by name. A column keeps its id, unless TiDB
    writes its values anew; that one, a new column and a new hidden one get the next ids.
    """
    kinds = {column.name: column.type for column in known_table.table.columns}
    ids: dict[str, int] = {}
    fresh: list[str] = []
    for column in table.columns:
        name = statement.renamed.get(column.name, column.name)
        if name in kinds and not _writes_anew(kinds[name], column.type):
            ids[column.name] = known_table.ids[name]
        else:
            fresh.append(column.name)
    defined = list(statement.defaults)
    fresh.sort(key=lambda name: defined.index(name) if name in defined else -1)
    for added in hidden:
        if added.name in known_table.ids:
            ids[added.name] = known_table.ids[added.name]
        else:
            fresh.append(added.name)
    return ids | {
        name: number
        for number, name in enumerate(fresh, max(known_table.ids.values(), default=0) + 1)
    }


def _writes_anew(old: SourceType, new: SourceType) -> bool:
    """Whether TiDB writes a column's values anew, and gives it a new id, when its type changes from
    `old` to `new`.
    """
    if old.logical is not new.logical:
        return True
    if old.logical is Logical.DECIMAL:
        return (old.precision, old.scale) != (new.precision, new.scale)
    shorter = (new.high or 0) < (old.high or 0) or (new.length or 0) < (old.length or 0)
    return old.unsigned != new.unsigned or (
        shorter and old.logical in (Logical.INT, Logical.TEXT, Logical.BINARY)
    )


def _version(event: SchemaChange) -> int:
    """The version of a schema that this statement made, a TSO (TiDB's timestamp)."""
    return event.at.tso - DDL_LEAD


def _id(table: Table, generation: int) -> int:
    """A number that stands for a table's id: each name has another one, and each `generation`, a
    number that is another one whenever a table of that name is made or truncated.
    """
    name = f"{table.database}\0{table.name}\0{generation}"
    return (
        100
        + int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=5).digest())
        % 1_000_000_000
    )
