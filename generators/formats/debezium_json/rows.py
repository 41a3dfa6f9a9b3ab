"""Rows as Debezium writes them: what all messages of a table share, and JSON, keys, headers and
images of one row.

Source: debezium#envelope-members, debezium#key-update, debezium#record-key and the page connect of
the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Final, TypeAlias

from generators.errors import Refused
from generators.families.connect import Schema, schema_text, string
from generators.families.debezium import mysql as _debezium_mysql
from generators.families.debezium import oracle, postgresql_defaults, sqlserver
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.structured import struct_kind
from generators.families.debezium.values import (
    DebeziumCell,
    Modes,
    counts_milliseconds,
    header_text,
)
from generators.families.wire_messages import Part, Raw
from generators.formats.debezium_json import envelope
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.model import (
    Cell,
    Column,
    Default,
    Event,
    Image,
    IncrementalSnapshot,
    Json,
    Logical,
    LogicalMessage,
    Op,
    ReplicaIdentity,
    RowChange,
    SourceStatement,
    State,
    Table,
    Value,
    ZeroDate,
)
from generators.sources import mysql, postgresql, postgresql_values

INCREMENTAL: Final = "incremental"
"""The marker (`source.snapshot`) of a row that an incremental snapshot read."""
Wires: TypeAlias = Mapping[str, DebeziumCell]
"""A row as the connector writes it: by column the cell's JSON and schema, with what a decoder owes
for it.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Which row is being written: number `row` of the rows of `event`, in a table of this `shape`.
    `snapshot` is its marker if a snapshot read it, "" for a streamed one.
    """

    event: RowChange
    shape: TableShape
    row: int
    snapshot: str = ""


class Reading:
    """Follows the snapshots of a history: events of rows that are read, one after the other, are
    one snapshot. They share one position, and their rows have markers.
    """

    def __init__(self, events: Sequence[Event], marks_tables: bool) -> None:
        self.marks_tables = marks_tables
        self.goes_on = self.incremental = self._window = False
        self._reads, self._last = False, {id(event) for event in _last_of_snapshots(events)}

    def note_event(self, event: Event) -> None:
        """Notes the next event. Then `goes_on` says whether it belongs to the same snapshot as the
        event before, and `incremental` whether its rows are read while the stream goes on
        (debezium#incremental). The event IncrementalSnapshot begins such a snapshot; a row change
        that is no READ ends it, and so does an event of one of the three types below. A DDL
        statement or the mark of a transaction does not: it is in the log, amid the rows.
        """
        if isinstance(event, IncrementalSnapshot):
            self._window = True
        elif isinstance(event, SourceStatement | LogicalMessage | ReplicaIdentity):
            self._window = False
        elif isinstance(event, RowChange):
            self._window &= event.op is Op.READ
        self.incremental = self._window and isinstance(event, RowChange)
        if isinstance(event, RowChange):
            self.goes_on = self._reads and event.op is Op.READ
            self._reads = event.op is Op.READ

    def marker(self, event: RowChange, row: int) -> str:
        """The member `snapshot` of `source` for row number `row` (from 0) of an event that a
        snapshot read (debezium#snapshot-markers).

        It is "last" for the last row of the snapshot, and "true" for most other rows. With
        `marks_tables` (releases after 1.9) it is "first" for the first row of the snapshot, and
        "first_in_data_collection" or "last_in_data_collection" for the first and last row of an
        event.
        """
        if self.incremental:
            return INCREMENTAL
        first, last = not row, row == len(event.rows) - 1
        if last and id(event) in self._last:
            return "last"
        if not self.marks_tables or not (first or last):
            return "true"
        if first and not self.goes_on:
            return "first"
        return "last_in_data_collection" if last else "first_in_data_collection"


def _last_of_snapshots(events: Sequence[Event]) -> Iterator[Event]:
    """The last event of each snapshot, which is a run of events whose rows were read."""
    row_events = [event for event in events if isinstance(event, RowChange)]
    for event, after in zip_longest(row_events, row_events[1:]):
        if event.op is Op.READ and (after is None or after.op is not Op.READ):
            yield event


@dataclass(frozen=True, slots=True)
class TableShape:
    """What is the same in the messages of all rows of a table.

    `names` are the columns' names in messages, by their own; `outer` is the database or schema,
    `table` the table's name in messages; `key` are the key's columns by their own names; `identity`
    are the columns of an old row that the server sends, None for all (`identity_columns`); `known`
    is the table as the connector knows it; the texts of schemas (of the value, of the row in it, of
    the key) are "" where the converter leaves schemas out.
    """

    names: Mapping[str, str]
    outer: str
    table: str
    topic: str
    key: tuple[str, ...]
    identity: tuple[str, ...] | None
    known: Table
    value_schema: str
    row_schema: str
    key_schema: str

    def value_part(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The members of a row's value: its payload, with its schema where the converter writes
        it.
        """
        if not self.value_schema:
            return payload
        return {"schema": Raw(self.value_schema), "payload": payload}

    def key_part(self, payload: Mapping[str, Any] | None) -> Part:
        """The members of a row's key: its payload, with its schema where the converter writes it;
        None for a table without a key.
        """
        if payload is None or not self.key_schema:
            return payload
        return {"schema": Raw(self.key_schema), "payload": payload}


class NamesClash(Refused):
    """Two columns have one adjusted name, at which a connector stops (Connect's
    SchemaBuilder.field), or names that differ by letter case alone, at which PostgreSQL's stops
    (debezium#case-twins).
    """


@lru_cache(maxsize=2048)
def shape_of(
    table: Table,
    profile: DebeziumProfile,
    prefix: str,
    defaults: tuple[tuple[str, Default], ...],
    snapshot: bool,
) -> TableShape:
    """What the messages of a table have in common. `defaults` are column defaults by name,
    `snapshot` says that rows are read, not streamed.

    The key is the primary key; where there is none MySQL's connector takes a unique key
    (`envelope.keyed`), PostgreSQL's the unique index whose name is the first.
    """
    identity = identity_columns(table, profile)
    table = _known_table(table, profile, snapshot)
    names = {c.name: envelope.field_name(c.name, profile, snapshot) for c in table.columns}
    if len(set(names.values())) < len(names):
        raise NamesClash(f"two columns of {table.name!r} have one name in Connect's schema")
    if profile.source == "postgresql":
        lower_names = {c.name.lower() for c in table.columns}
        if len(lower_names) < len(names):
            raise NamesClash(f"two columns of {table.name!r} differ by letter case alone")
    outer, name = envelope.qualified(profile, table, snapshot)
    place = (table.database, outer, name) if profile.is_sqlserver else (outer, name)
    full_name = ".".join((prefix, *place))
    if profile.names_of_topics:
        full_name = envelope.topic_name(full_name)
    key = key_columns(table, profile, snapshot)
    default_by_column = dict(defaults)
    fields = tuple(
        (names[c.name], _column_schema(c, profile, default_by_column.get(c.name), snapshot))
        for c in table.columns
    )
    by_name = dict(fields)
    if profile.source_types:
        fields = tuple(
            (
                name,
                replace(
                    schema,
                    parameters=(
                        *schema.parameters,
                        *envelope.source_parameters(column, profile, snapshot),
                    ),
                ),
            )
            for (name, schema), column in zip(fields, table.columns, strict=True)
        )
    row_schema = Schema(
        "struct", True, envelope.adjusted(f"{full_name}.Value", profile), fields=fields
    )
    value_schema = (
        envelope.flat_schema(profile, row_schema)
        if profile.flat
        else envelope.envelope_schema(profile, full_name, row_schema)
    )
    key_fields = tuple((names[k], by_name[names[k]]) for k in key)
    key_row = Schema(
        "struct", False, envelope.adjusted(f"{full_name}.Key", profile), fields=key_fields
    )
    return TableShape(
        names,
        outer,
        name,
        envelope.topic_name(prefix, *place),
        key,
        identity,
        table,
        schema_text(value_schema) if profile.schemas else "",
        schema_text(row_schema) if profile.schemas else "",
        schema_text(key_row) if profile.key_schemas else "",
    )


def _unknown_key_columns(table: Table, profile: DebeziumProfile, snapshot: bool) -> frozenset[str]:
    """The columns that the connector does not know to be in the key, because it asks PostgreSQL's
    catalogue for mangled names; all columns of a table whose own name or schema's is mangled
    (debezium#mangled-names).
    """
    if not profile.mangles_names or snapshot:
        return frozenset()
    hides_all = not (table.name.isascii() and (table.schema or "").isascii())
    return frozenset(c.name for c in table.columns if hides_all or not c.name.isascii())


def _columns_without_facts(
    table: Table, profile: DebeziumProfile, snapshot: bool
) -> frozenset[str]:
    """The columns of which the connector knows neither NOT NULL nor a default: the hidden ones, and
    all of a table with a back-slash in its name or schema's, which the catalogue takes for a
    pattern (debezium#name-patterns).
    """
    if profile.mangles_names and not snapshot and "\\" in f"{table.schema}{table.name}":
        return frozenset(c.name for c in table.columns)
    return _unknown_key_columns(table, profile, snapshot)


def _known_table(table: Table, profile: DebeziumProfile, snapshot: bool) -> Table:
    """The table as the connector knows it: without the columns that it leaves out, with the
    nullability that it knows, and with its record key as the primary key.

    PostgreSQL's connector asks the catalogue by names. A column of which it finds nothing there is
    nullable to it (`without_facts`), and one that it does not find among the key's columns is not
    in the key (`hidden`).
    """
    if profile.is_mysql:
        return envelope.keyed(table, profile, snapshot)
    if profile.is_sqlserver or profile.is_oracle:
        return replace(table, primary_key=table.primary_key or first_unique_index(table))
    hidden, without_facts = (
        _unknown_key_columns(table, profile, snapshot),
        _columns_without_facts(table, profile, snapshot),
    )
    key = table.primary_key or first_unique_index(table)
    if table.primary_key and profile.keys_have_included:
        key += table.included
    captured = (c for c in table.columns if _is_captured(c, profile, snapshot))
    columns = tuple(replace(c, nullable=True) if c.name in without_facts else c for c in captured)
    return replace(
        table, columns=columns, primary_key=tuple(name for name in key if name not in hidden)
    )


def _is_captured(column: Column, profile: DebeziumProfile, snapshot: bool) -> bool:
    """Whether PostgreSQL's connector has the column in schemas and rows. It has a generated column
    in snapshots alone, since pgoutput sends none (debezium#generated-columns). Without the option
    to include unknown types it lacks an array of a domain, which is told by the domain's name in
    `declared` ("" for any other array), and a type that it does not know (debezium#left-out).
    """
    if column.generated and not snapshot:
        return False
    if column.declared.endswith("[]") and not profile.unknown_types:
        return False
    return not _debezium_postgresql.is_left_out(column.type, profile.modes, profile.unknown_types)


def first_unique_index(table: Table) -> tuple[str, ...]:
    """The columns of the unique index that PostgreSQL's connector takes for a key where there is no
    primary key: the one whose name sorts first, even if it is over some rows alone
    (JdbcConnection.readTableUniqueIndices), with the columns of its INCLUDE
    (debezium#included-columns); () without a unique index. An index without a name in the history
    has the name that PostgreSQL would give it.
    """
    names = {index.columns: index.name for index in table.indexes if index.unique}
    included = {index.columns: index.included for index in table.indexes if index.unique}
    partial_keys = tuple(index.columns for index in table.indexes if index.unique and index.partial)

    def name_of(key: tuple[str, ...]) -> str:
        """The name of the unique index over these columns."""
        return names.get(key) or postgresql.index_name(table.name, key, "key")

    key = min((*table.unique, *partial_keys), key=name_of, default=())
    return (*key, *included.get(key, ()))


def key_columns(table: Table, profile: DebeziumProfile, snapshot: bool) -> tuple[str, ...]:
    """The columns of the record key in their order; streams of PostgreSQL up to release 1.4 have
    them in the table's order (debezium#record-key).
    """
    if profile.source == "postgresql" and profile.key_in_table_order and not snapshot:
        return tuple(c.name for c in table.columns if c.name in table.primary_key)
    return table.primary_key


def identity_columns(table: Table, profile: DebeziumProfile) -> tuple[str, ...] | None:
    """The columns of an old row that PostgreSQL sends, by the table's REPLICA IDENTITY
    (debezium#identity-index); () if it sends none, None if it sends the whole row.
    """
    match profile.image:
        case "index" if table.unique:
            return table.unique[0]
        case "index" | "default":
            return table.primary_key
    return None


def _column_schema(
    column: Column, profile: DebeziumProfile, default: Default | None, snapshot: bool
) -> Schema:
    """The Connect schema of a column, with its default and comment as far as the connector sends
    them.
    """
    if profile.is_mysql:
        schema = _debezium_mysql.schema(
            column.type, profile.modes, column.nullable, spelling(column, snapshot)
        )
    elif profile.is_sqlserver:
        schema = sqlserver.schema(column.type, profile.modes, column.nullable)
    elif profile.is_oracle:
        schema = oracle.schema(column.type, profile.modes, column.nullable)
    else:
        schema = _debezium_postgresql.schema(column.type, profile.modes, column.nullable)
    default_json = "null" if default is None else stand_in(column, default, profile, snapshot).json
    comment = envelope.comment_of(column, profile) if profile.is_mysql else None
    if comment is not None:
        schema = replace(schema, doc=comment)
    return schema if default_json == "null" else replace(schema, default=default_json)


def defaults_of(
    table: Table, profile: DebeziumProfile, given: Mapping[str, Default], snapshot: bool
) -> dict[str, Default]:
    """The defaults of columns that the connector knows, by the columns' names: those that later
    statements gave (`given`), else those of the table (debezium#defaults). It knows none of a
    column of which PostgreSQL's catalogue tells it nothing (`_columns_without_facts`). `snapshot`:
    a snapshot reads the rows.
    """
    if not profile.defaults:
        return {}
    hidden = _columns_without_facts(table, profile, snapshot)
    # A statement may have given one to a column that is gone.
    pairs = ((c, given.get(c.name, c.default)) for c in table.columns if c.name not in hidden)
    return {
        c.name: default
        for c, default in pairs
        if default is not None and _has_default(c, default, profile)
    }


def _has_default(column: Column, default: Default, profile: DebeziumProfile) -> bool:
    """Whether the connector knows this default of the column."""
    if profile.is_mysql:
        return _has_mysql_default(column, default, profile)
    if profile.is_sqlserver:
        return default.value is not None
    return _has_postgresql_default(column, default, profile)


def _has_postgresql_default(column: Column, default: Default, profile: DebeziumProfile) -> bool:
    """Whether PostgreSQL's connector knows a column's default: it has a function that reads the
    text of defaults of this type (debezium#defaults), and that text is one that it can read. It
    knows none of a column of a domain, nor of an enum of a schema other than `public` if the
    profile's `enum_defaults` says so: `declared` is then the domain's or the enum's own name.
    """
    type, value = column.type, default.value
    if type.name == "enum":
        if not profile.enum_defaults or value is None:
            return False
        # A name in quotes, as in 'USER'::"Role", is not what the connector finds at the end.
        is_plain = not column.declared and not default.text.endswith('"')
        return profile.enum_defaults == "every" or is_plain
    if not postgresql_defaults.has_mapper(type.name) or column.declared:
        return False
    # A struct can be no default.
    if postgresql_values.unconstrained(type) and profile.modes.precise:
        return False
    if struct_kind(type, profile.modes):
        return False
    digits = _default_bits(column, default)
    if digits is not None:  # a bit string; of bit(1) the connector reads one digit
        return type.length != 1 or len(digits) == 1
    if value is None:
        value = postgresql_defaults.expression_value(type, default.text, profile.doubled_quotes)
    # The connector does not read a number that is cast, as in (4)::bigint.
    if value is None or postgresql_defaults.is_cast_number(default.text):
        return False
    if isinstance(value, Decimal) and 0 <= (type.scale or 0) < _fraction_digits(value):
        return False  # the connector does not round it
    if type.logical is Logical.TIMESTAMP and isinstance(value, str):
        return False  # an infinite one
    if type.logical is Logical.DATETIME and isinstance(value, str):
        # An infinite one is java.time's last moment, of which milliseconds are beyond 64 bits.
        return not counts_milliseconds(type.fsp, profile.modes)
    return profile.doubled_quotes or not (isinstance(value, str) and "\n" in value)


def _default_bits(column: Column, default: Default) -> str | None:
    """The text that the connector reads as the digits of a bit string's default; None for another
    type, or a function.
    """
    if column.type.name not in ("bit", "varbit"):
        return None
    return postgresql_defaults.read_bits(default.text)


def _fraction_digits(value: Decimal) -> int:
    """How many digits a number has behind the point, without zeros at their end."""
    return len(f"{value:f}".partition(".")[2].rstrip("0"))


_HEXADECIMAL: Final = re.compile(r"0x|x'", re.IGNORECASE)
"""The beginning of a hexadecimal literal."""
_ISO_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d(?:\.\d+)?)?)?")
"""A date, perhaps with a time, as the connector reads it in a default."""
_WITH_SECONDS: Final = re.compile(r"'?-?\d+:\d+:\d+")
"""A time that has seconds."""
_TEMPORALS: Final = (Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP)
"""The families of types whose defaults are dates or moments."""


def _has_mysql_default(column: Column, default: Default, profile: DebeziumProfile) -> bool:
    """Whether MySQL's connectors know this default of the column (debezium#defaults; the
    definitions in mysql_columns.toml show each case).
    """
    type, value = column.type, default.value
    if _HEXADECIMAL.match(default.text):
        return profile.hexadecimal_defaults
    if envelope.is_expression(default):
        return False
    if type.logical in _TEMPORALS:
        # What it cannot read, and a zero date, is the epoch in a NOT NULL column.
        if not column.nullable:
            return True
        if type.logical is Logical.TIMESTAMP and value in (None, 0, ZeroDate()):
            return False
        if _is_unread_moment(column, default):
            return False
        return value is not None or _is_current_time(default, profile)
    if type.logical is Logical.TIME and default.text.isdecimal():
        return False
    if type.logical is Logical.TIME and not profile.short_time_defaults:
        return _WITH_SECONDS.match(default.text) is not None and value is not None
    if type.logical is Logical.BIT and not default.text.lower().startswith("b'"):
        # It reads the digits as binary ones: there is no 5.
        return value in (0, 1)
    return value is not None


def _is_unread_moment(column: Column, default: Default) -> bool:
    """Whether the default is a date that MySQL reads and the connector does not: of a DATE or
    DATETIME it reads two digits for month and day, as in 2020-01-01, not 2020-1-1.
    """
    return (
        column.type.logical in (Logical.DATE, Logical.DATETIME)
        and default.value is not None
        and default.text[:1] in _QUOTES
        and _ISO_MOMENT.fullmatch(default.text[1:-1]) is None
    )


def _is_current_time(default: Default, profile: DebeziumProfile) -> bool:
    """Whether the connector reads this default as the current time."""
    names = ("current_timestamp", "now", *(("localtime",) if profile.localtime_defaults else ()))
    return default.text.lower().startswith(names)


def stand_in(
    column: Column, default: Default, profile: DebeziumProfile, snapshot: bool
) -> DebeziumCell:
    """The cell that the connector writes in place of NULL, made of the column's default; an
    expression whose value it does not know gives 0, "" or the epoch (debezium#defaults).
    """
    type, modes, value = column.type, profile.modes, default.value
    if profile.is_mysql:
        return _mysql_stand_in(column, default, profile, snapshot)
    if profile.is_sqlserver:
        return sqlserver.default_cell(type, value, modes, column.nullable)
    digits = _default_bits(column, default)
    if digits is not None:
        value = postgresql_defaults.bits_value(digits)
    elif value is None:
        value = postgresql_defaults.expression_value(type, default.text, profile.doubled_quotes)
    elif isinstance(value, str) and type.name != "enum" and type.logical is Logical.TEXT:
        # Up to 3.6 the connector looks for the next quote, whatever it is.
        value = value if profile.doubled_quotes else value.partition("'")[0]
    elif isinstance(value, Json) and "''" in default.text and not profile.doubled_quotes:
        wire = _debezium_postgresql.wire(type, value, modes, snapshot=snapshot)
        literal = default.text.partition("'")[2].partition("'")[0]
        return replace(wire, json=string(literal))
    elif modes.temporal == "isostring" and (limit := postgresql_defaults.limit_text(type, value)):
        return _debezium_postgresql.unreadable_cell(type, f"{limit}Z", modes, column.nullable)
    elif type.logical is Logical.DATE and isinstance(value, str):
        value = _INFINITE_DATES[value]
    elif type.logical is Logical.DATETIME and isinstance(value, str):
        value = _LAST_MICROS[value]
    elif type.logical is Logical.TIME and value == mysql.DAY:
        value = mysql.DAY - 1
    if type.name == "char" and isinstance(value, str):
        schema = _debezium_postgresql.schema(type, modes, column.nullable)
        wire = _debezium_postgresql.wire(type, value, modes, snapshot=snapshot)
        return replace(wire, schema=schema, json=string(value.rstrip(" ")))  # it is not padded
    return _debezium_postgresql.wire(type, value, modes, snapshot=snapshot)


def _mysql_stand_in(
    column: Column, default: Default, profile: DebeziumProfile, snapshot: bool
) -> DebeziumCell:
    """The cell that MySQL's connector writes for a column's default: it reads the text of the
    default in the statement, without the quotes, in its own way.
    """
    type, modes, value = column.type, profile.modes, default.value
    spelled = spelling(column, snapshot)
    if _HEXADECIMAL.match(default.text):
        return _hexadecimal_stand_in(column, default.text[2:-1], modes, spelled)
    schema = _debezium_mysql.schema(type, modes, column.nullable, spelled)
    literal = default.text[1:-1] if default.text[:1] in _QUOTES else default.text
    if _is_unread_moment(column, default):
        value = None
    match type.logical:
        case Logical.TEXT | Logical.ENUM | Logical.SET if default.text[:1] in _QUOTES:
            return replace(
                _debezium_mysql.wire(type, value, modes, declared=spelled),
                schema=schema,
                json=string(literal),
            )
        case Logical.DATE | Logical.DATETIME | Logical.TIMESTAMP if value is None:
            value = 0 if type.logical is not Logical.DATE else ZeroDate()
            type = replace(type, fsp=0)  # the epoch has no fraction digits
        case Logical.YEAR if value == 0:
            value = 2000  # the statement's 0 is a year of two digits
        case Logical.INT if (
            isinstance(value, int)
            and type.key == "bigint unsigned"
            and modes.bigint_unsigned == "long"
        ):
            value = min(value, (1 << 63) - 1)
        case Logical.INT if default.text.lower().startswith("b'"):
            value = int(default.text[2:-1])  # the digits are read as decimal ones
        case Logical.BINARY if isinstance(value, bytes):
            # A back-slash escapes nothing: '\\0' is two bytes.
            quoted = default.text[:1] in _QUOTES
            value = literal.encode() if quoted or snapshot else value.rstrip(b"\0")
            type = replace(type, name="varbinary")
        case Logical.FLOAT if schema.type == "double":
            value = float(literal)  # as the schema has it: a double
    # A time is misread in the log alone.
    wire = _debezium_mysql.wire(
        type,
        value,
        modes,
        nullable=column.nullable,
        snapshot=type.logical is Logical.TIME,
        declared=spelled,
    )
    return replace(wire, cell=replace(wire.cell, type=column.type))


_QUOTES: Final = ("'", '"')
"""The quotes of a text literal in MySQL."""


def _hexadecimal_stand_in(column: Column, digits: str, modes: Modes, spelled: str) -> DebeziumCell:
    """The cell of a default that is a hexadecimal literal. Release 3.6 takes what stands between
    the first two characters and the last one as a text: all digits of x'6162', but not the last one
    of 0x6162. `digits` are those that it takes; a number is made of them as decimal digits, 0 if
    there are letters. `spelled` is the spelling of the column's type in the statement. A binary is
    written as a VARBINARY, so that no zero bytes are added; the cell names the column's own type
    all the same.
    """
    type = column.type
    value: Value = digits
    if type.logical is Logical.BINARY:
        type, value = replace(type, name="varbinary"), digits.encode()
    elif type.logical in (Logical.INT, Logical.BIT):
        value = int(digits) if digits.isdecimal() else 0
    wire = _debezium_mysql.wire(type, value, modes, nullable=column.nullable, declared=spelled)
    return replace(wire, cell=replace(wire.cell, type=column.type))


def stops_at_end_of_day(event: Event, profile: DebeziumProfile) -> bool:
    """Whether the connector stops at a row: in mode structured the time 24:00:00 in a NOT NULL
    column (debezium#structured-times).
    """
    if profile.modes.temporal != "structured" or not isinstance(event, RowChange):
        return False
    times = [
        column.name
        for column in event.table.columns
        if column.type.logical is Logical.TIME and not column.nullable
    ]
    new_rows = [images.after for images in event.rows if images.after is not None]
    return any(mysql.DAY in map(new_row.get, times) for new_row in new_rows)


_INFINITE_DATES: Final = {"infinity": 169_560_311, "-infinity": -170_999_002}
"""The days of java.time.LocalDateTime.MAX and MIN in 32 bits."""
_LAST_MICROS: Final = {
    "infinity": 365_241_780_472 * mysql.DAY - 1,
    "-infinity": -365_243_219_162 * mysql.DAY,
}
"""java.time.LocalDateTime's MAX and MIN in microseconds, which a default goes through."""


def unmarked(value: Value) -> Value:
    """A text in the character set utf16 as the connector reads it from the log: a byte order mark
    is not part of the text, and one for the other order swaps the bytes of each letter
    (debezium#utf16-mark).
    """
    if not isinstance(value, str) or value[:1] not in ("\ufeff", "\ufffe"):
        return value
    order = "utf-16-le" if value[0] == "\ufffe" else "utf-16-be"
    return value[1:].encode("utf-16-be", "surrogatepass").decode(order, "replace")


def spelling(column: Column, snapshot: bool) -> str:
    """The spelling of a column's type that the connector saw: the statement's, or, in a snapshot,
    that of SHOW CREATE TABLE, which keeps few spellings.
    """
    return _debezium_mysql.shown_spelling(column.declared) if snapshot else column.declared


def row_members(shape: TableShape, row: Wires | None) -> dict[str, Raw] | None:
    """The members of a row's struct; None without a row."""
    if row is None:
        return None
    return {shape.names[name]: Raw(wire.json) for name, wire in row.items()}


def key_members(shape: TableShape, row: Wires) -> dict[str, Raw] | None:
    """The members of a row's key; None without a key or a row."""
    if not shape.key or not row:
        return None
    return {shape.names[name]: Raw(row[name].json) for name in shape.key}


def statement(event: RowChange) -> str:
    """A made-up statement of MySQL that could have caused the row change, where the history names
    none.
    """
    table, other = mysql.quote(event.table.name), mysql.quote(f"{event.table.name[:60]}_new")
    match event.op:
        case Op.UPDATE:
            column = mysql.quote(event.table.columns[-1].name)
            return f"UPDATE {table} NATURAL JOIN {other} SET {table}.{column} = {other}.{column}"  # noqa: S608 - never executed
        case Op.DELETE:
            return f"DELETE {table} FROM {table} NATURAL JOIN {other}"
    return f"INSERT INTO {table} SELECT * FROM {other}"  # noqa: S608 - never executed


def key_header(shape: TableShape, row: Wires) -> bytes:
    """The text of a row's key in a header, as `SimpleHeaderConverter` writes a struct:
    `{"name":value,...}`. A name is written as a value of the schema of strings (`texts`), a
    column's value by its own schema; a lone surrogate becomes a question mark.
    """
    texts = Schema("string")
    members = ",".join(
        f"{header_text(texts, shape.names[name])}:{header_text(row[name].schema, row[name].value)}"
        for name in shape.key
    )
    return f"{{{members}}}".encode("utf-8", "replace")


def image(shape: TableShape, row: Wires | None) -> Image | None:
    """The image that a decoder owes for a row at level one (texts): the cells by the columns' names
    in the message; None for no row.
    """
    return None if row is None else {shape.names[name]: wire.cell for name, wire in row.items()}


_RENAMED: Final = (
    "the column stands under another name: mangled, as it is not ASCII, or with its back-tick"
    " doubled"
)
"""Why any value is right in a column that the message gives another name."""


def full_image(shape: TableShape, row: Wires | None) -> Image | None:
    """The image that a decoder owes for a row at level two (typed rows), by the table's column
    names, or None if it is that of level one: a column that the message gives another name may hold
    anything, one whose value was not sent is absent.
    """
    if row is None:
        return None
    hidden = {
        name: wire.cell.reason
        for name, wire in row.items()
        if wire.cell.cls in ("not-sent", "fallback")
    }
    hidden |= {name: _RENAMED for name, shown in shape.names.items() if shown != name}
    if not hidden:
        return None
    # An image of which nothing is known may be missing.
    unsent = State.ANY if len(hidden) == len(row) else State.ABSENT
    states = {
        name: unsent if wire.cell.cls == "not-sent" else State.ANY for name, wire in row.items()
    }
    return {
        name: (
            Cell(states[name], wire.cell.type, reason=hidden[name]) if name in hidden else wire.cell
        )
        for name, wire in row.items()
    }
