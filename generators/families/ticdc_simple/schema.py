"""What TiCDC knows of tables while a history passes: ids, schema versions, defaults, indexes; and schemas made of it.

The model's tables have no defaults, virtual columns, secondary indexes or partitions;
where a CREATE or ALTER statement spells them out, they are read from its text.
"""

from __future__ import annotations

import datetime as dt
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from generators.errors import Refused
from generators.families.ticdc import text
from generators.families.ticdc_simple.records import ColumnSchema, DataType, IndexSchema, TableSchema
from generators.model import Column, Logical, Row, SchemaChange, SourceType, Table

DDL_LEAD: Final = 4
"""How far a schema version lies before its DDL's commitTs (the documentation's sample: ...614791 of ...614795)."""

_BEFORE_ALL: Final = 1_690_000_000_000
_CHARACTERS: Final = ("utf8mb4", "utf8mb4_bin")
_BYTES: Final = ("binary", "binary")
_TEMPORAL_LENGTH: Final = {"date": 10, "datetime": 19, "timestamp": 19, "time": 10}
_LONG: Final = 4_294_967_295
_FLAGS: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE)


@lru_cache(maxsize=256)
def data_type(kind: SourceType) -> DataType:
    """The dataType of a column. The mysqlType never says unsigned; a flag does."""
    charset, collate = _CHARACTERS if kind.logical in (Logical.TEXT, Logical.ENUM, Logical.SET) else _BYTES
    flags = kind.logical in _FLAGS
    length, decimal = kind.length or 0, 0
    match kind.logical:
        case Logical.FLOAT | Logical.DOUBLE:
            length = 12 if kind.logical is Logical.FLOAT else 22
        case Logical.DECIMAL:
            length, decimal = kind.precision or 0, kind.scale or 0
        case Logical.JSON:
            length = _LONG
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP | Logical.TIME:
            length = _TEMPORAL_LENGTH[kind.name] + (1 + kind.fsp if kind.fsp else 0)
            decimal = kind.fsp
        case Logical.ENUM:
            length = max(map(len, kind.members), default=0)
        case Logical.SET:
            length = sum(map(len, kind.members)) + max(0, len(kind.members) - 1)
    return DataType(
        kind.name,
        charset,
        collate,
        length,
        decimal,
        kind.members,
        unsigned=kind.logical in (Logical.YEAR, Logical.BIT) or (flags and kind.unsigned),
        zerofill=kind.logical is Logical.YEAR or (flags and kind.zerofill),
    )


@dataclass(frozen=True, slots=True)
class Known:
    """A table as TiCDC knows it. `ids` are column ids; `physical` the ids of partitions, () for an ordinary table."""

    table: Table
    table_id: int
    version: int
    ids: Mapping[str, int]
    defaults: Mapping[str, str | int]
    virtual: frozenset[str] = frozenset()
    indexes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    physical: tuple[int, ...] = ()

    def physical_id(self, row: Row) -> int:
        """The id that a row's message carries: its partition's, or the table's."""
        if not self.physical:
            return self.table_id
        key = repr([row[name] for name in self.table.handle_key])
        return self.physical[zlib.crc32(key.encode()) % len(self.physical)]

    def by_id(self) -> tuple[Column, ...]:
        """The columns in the order of their ids, which is that of their creation."""
        return tuple(sorted(self.table.columns, key=lambda column: self.ids[column.name]))

    def schema(self, order: str) -> TableSchema:
        """The tableSchema; `order` is "id" or "table"."""
        columns = self.by_id() if order == "id" else self.table.columns
        found = (ColumnSchema(c.name, data_type(c.type), c.nullable, self.defaults.get(c.name)) for c in columns)
        return TableSchema(self.table.database, self.table.name, self.table_id, self.version, tuple(found), self._indexes())

    def _indexes(self) -> tuple[IndexSchema, ...]:
        table, key = self.table, self.table.primary_key
        primary = (IndexSchema("primary", True, True, False, key),) if key else ()
        # a single integer key is the row's handle and no index of TiDB's; it is put behind the others
        handle = len(key) == 1 and table.column(key[0]).type.logical is Logical.INT
        taken: dict[str, int] = {}
        unique = []
        for columns in table.unique:
            times = taken[columns[0]] = taken.get(columns[0], 0) + 1
            name = columns[0] if times == 1 else f"{columns[0]}_{times}"
            unique.append(self._index(name, columns, unique=True))
        plain = (self._index(name, columns, unique=False) for name, columns in self.indexes)
        listed = (*unique, *plain)
        return (*listed, *primary) if handle else (*primary, *listed)

    def _index(self, name: str, columns: tuple[str, ...], *, unique: bool) -> IndexSchema:
        if not set(columns) <= {column.name for column in self.table.columns}:
            raise Refused(f"table {self.table.name}: index {name} over {', '.join(columns)}, of which the table has not all")
        return IndexSchema(name.lower(), unique, False, any(self.table.column(c).nullable for c in columns), columns)


class Catalogue:
    """The tables of one history. A table that no DDL of the history made has the version and id of its own name and columns."""

    def __init__(self, *, default_utc: bool, time_zone: str) -> None:
        self._default_zone = time_zone if default_utc else ""
        self._known: dict[tuple[str, str], Known] = {}

    def current(self, table: Table) -> Known:
        """The table as it is known now."""
        found = self._known.get((table.database, table.name))
        if found is None or (found.table is not table and found.table != table):
            found = self._known[table.database, table.name] = _fresh(table)
        return found

    def change(self, event: SchemaChange) -> tuple[Known | None, Known | None]:
        """Follows a DDL statement: the table after it (for DROP the dropped one) and before it, None where TiCDC sends none."""
        if not event.table:
            return None, None
        name = (event.database, event.table)
        before = self.current(event.before) if event.before else self._known.get(name)
        if event.action == "exchange partition":
            # the statement's other table takes the place of the previous one
            own = self._known.get(name) or (_fresh(event.after) if event.after else None)
            self._known |= {name: replace(own, version=_version(event))} if own else {}
            return self._known.get(name), before
        if event.action in ("drop table", "drop view"):
            if before:
                self._known.pop((before.table.database, before.table.name))
            return before, before
        if event.action == "rename table" and before:
            self._known.pop((before.table.database, before.table.name))
            self._known[name] = replace(before, table=event.after or replace(before.table, name=event.table))
            return self._known[name], before
        table = event.after or (before.table if before else None)
        if table is None:
            return None, None
        after = self._altered(event, table, before)
        self._known[name] = after
        return after, None if event.action in _CREATES else before

    def _altered(self, event: SchemaChange, table: Table, before: Known | None) -> Known:
        known = _fresh(table) if before is None or event.action in _CREATES else before
        ids = {name: number for name, number in known.ids.items() if any(c.name == name for c in table.columns)}
        last = max(known.ids.values(), default=0)
        for column in table.columns:
            if column.name not in ids:
                last += 1
                ids[column.name] = last
        defaults = {**known.defaults, **dict(self._defaults(event.sql, table))}
        indexes = tuple(index for index in known.indexes if index[0] not in _names(_DROP_INDEX, event.sql))
        indexes += tuple(_created_indexes(event.sql))
        made = event.action == "truncate table" or event.action in _CREATES
        table_id = _id(table, _version(event)) if made else known.table_id
        partitions = len(_PARTITION.findall(event.sql)) if event.action == "create table" else len(known.physical)
        return Known(
            table,
            table_id,
            _version(event),
            ids,
            {name: default for name, default in defaults.items() if name in ids},
            known.virtual | frozenset(_names(_VIRTUAL, event.sql)),
            indexes,
            tuple(table_id + 1 + i for i in range(partitions)),
        )

    def _defaults(self, sql: str, table: Table) -> Iterator[tuple[str, str | int]]:
        kinds = {column.name: column.type for column in table.columns}
        for name, literal in _DEFAULT.findall(sql):
            kind = kinds.get(_unquoted(name))
            if kind is None or literal.upper() == "NULL":
                continue
            bits = _BITS.fullmatch(literal)
            if bits:
                yield _unquoted(name), int(bits[1], 2)
                continue
            stored = literal[1:-1].replace("''", "'") if literal.startswith("'") else literal
            if kind.logical is Logical.TIMESTAMP and literal.startswith("'") and self._default_zone:
                local = dt.datetime.fromisoformat(stored).replace(tzinfo=text.zone(self._default_zone))
                stored = local.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S")
            yield _unquoted(name), stored


_CREATES: Final = ("create table", "create tables", "create view", "create sequence", "recover table")
_NAME: Final = r"`(?:[^`]|``)+`"
_LITERAL: Final = r"(?:'(?:[^']|'')*'|[bB]'[01]+'|[\w.+-]+)"
_DEFAULT: Final = re.compile(rf"({_NAME}) (?:[^,`']*? )?(?:SET )?DEFAULT ({_LITERAL})")
_BITS: Final = re.compile(r"[bB]'([01]+)'")
_VIRTUAL: Final = re.compile(rf"({_NAME}) [^,`]*GENERATED ALWAYS AS \([^)]*\) VIRTUAL")
_DROP_INDEX: Final = re.compile(rf"DROP INDEX ({_NAME})")
_CREATE_INDEX: Final = re.compile(rf"CREATE INDEX ({_NAME}) ON {_NAME} \(([^)]*)\)")
_PARTITION: Final = re.compile(r"\bPARTITION `?\w+`? VALUES")


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`")


def _names(pattern: re.Pattern[str], sql: str) -> tuple[str, ...]:
    return tuple(map(_unquoted, pattern.findall(sql)))


def _created_indexes(sql: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, columns in _CREATE_INDEX.findall(sql):
        yield _unquoted(name), tuple(map(_unquoted, re.findall(_NAME, columns)))


def _version(event: SchemaChange) -> int:
    return event.at.tso - DDL_LEAD


@lru_cache(maxsize=1024)
def _fresh(table: Table) -> Known:
    number = int.from_bytes(blake2b(repr(table).encode(), digest_size=8).digest())
    version = ((_BEFORE_ALL - number % 1_000_000_000) << 18) | ((number >> 40) & 0x3FFFF)
    return Known(table, _id(table, 0), version, {c.name: i for i, c in enumerate(table.columns, 1)}, {})


def _id(table: Table, generation: int) -> int:
    """An id for each name, and for each version in which the name was created or truncated anew."""
    name = f"{table.database}\0{table.name}\0{generation}"
    return 100 + int.from_bytes(blake2b(name.encode(errors="surrogatepass"), digest_size=5).digest()) % 1_000_000_000
