"""Upstream Debezium through Kafka Connect's JsonConverter: MySQL and PostgreSQL connectors 1.4 to
3.7.

Source: debezium/debezium v1.4.0.Final, v1.9.7.Final, v2.5.4.Final, v3.5.0.Final, v3.6.1.Final,
v3.7.0.Alpha2 and apache/kafka connect/json; output of those releases, of 3.7 that of PostgreSQL's
connector 3.7.0.Final (the pages debezium and connect of the sources). One message is one row; the
record key is the row's key, its tombstone follows each delete, and an UPDATE of the key is a
delete, a tombstone and an insert.

`Deployment` tells what schemaless bytes do not show, in Debezium's own option values: `decimal` is
`decimal.handling.mode` (precise, double, string), `temporal` is `time.precision.mode`
(adaptive_time_microseconds, adaptive, connect, isostring, microseconds, nanoseconds), `binary` is
`binary.handling.mode` (bytes, base64, base64-url-safe, hex), `bigint_unsigned` is
`bigint.unsigned.handling.mode` (long, precise).

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`, ADD COLUMN, and a heartbeat:

    {"before":null,"after":{"id":1,"note":"old"},"source":{"version":"3.5.0.Final",
    "connector":"mysql","name":"cdc","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"table":"notes",
    "server_id":634417716,"gtid":null,"file":"mysql-bin.999998","pos":999994848,"row":0,"thread":7,
    "query":null},"transaction":null,"op":"c","ts_ms":1700000000096,"ts_us":1700000000096000,
    "ts_ns":1700000000096000000}

    {"before":{"id":1,"note":"old"},"after":{"id":1,"note":"new"},"source":{"version":"3.5.0.Final",
    "connector":"mysql","name":"cdc","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"table":"notes",
    "server_id":634417716,"gtid":null,"file":"mysql-bin.999998","pos":999994848,"row":0,"thread":7,
    "query":null},"transaction":null,"op":"u","ts_ms":1700000000096,"ts_us":1700000000096000,
    "ts_ns":1700000000096000000}

    {"before":{"id":1,"note":"new"},"after":null,"source":{"version":"3.5.0.Final",
    "connector":"mysql","name":"cdc","ts_ms":1700000000000,"snapshot":"false","db":"shop",
    "sequence":null,"ts_us":1700000000000000,"ts_ns":1700000000000000000,"table":"notes",
    "server_id":634417716,"gtid":null,"file":"mysql-bin.999998","pos":999994848,"row":0,"thread":7,
    "query":null},"transaction":null,"op":"d","ts_ms":1700000000096,"ts_us":1700000000096000,
    "ts_ns":1700000000096000000}

    {"source":{"version":"3.5.0.Final","connector":"mysql","name":"cdc","ts_ms":1700000000000,
    "snapshot":"false","db":"shop","sequence":null,"ts_us":1700000000000000,
    "ts_ns":1700000000000000000,"table":"","server_id":634417716,"gtid":null,
    "file":"mysql-bin.999998","pos":999994848,"row":0,"thread":null,"query":null},
    "ts_ms":1700000000096,"databaseName":"shop","schemaName":null,
    "ddl":"ALTER TABLE `t3142384771` ADD COLUMN `added` int DEFAULT 1","tableChanges":[]}

    {"ts_ms":1700000000096}
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from generators.errors import Refused
from generators.families.debezium import postgresql as _debezium_postgresql
from generators.families.debezium.values import DebeziumCell, binary_value
from generators.formats.debezium_json import envelope
from generators.formats.debezium_json import rows as _rows
from generators.formats.debezium_json.envelope import makes_no_key, table_changes
from generators.formats.debezium_json.flattened import CODES, flattened, stops
from generators.formats.debezium_json.known_charsets import KnownCharsets
from generators.formats.debezium_json.known_columns import KnownColumns
from generators.formats.debezium_json.known_defaults import KnownDefaults
from generators.formats.debezium_json.known_labels import KnownLabels
from generators.formats.debezium_json.known_schemas import KnownSchemas, RenamedSchema
from generators.formats.debezium_json.known_spellings import KnownSpellings
from generators.formats.debezium_json.log_position import LogPosition
from generators.formats.debezium_json.losses import value_writer
from generators.formats.debezium_json.oracle_rows import logged_row, logged_rows
from generators.formats.debezium_json.profiles import CHOICES, DebeziumProfile, supports
from generators.formats.debezium_json.records import Headers, Records
from generators.formats.debezium_json.scenarios import cell_faults, losses, scenarios
from generators.formats.debezium_json.sqlserver_rows import logged_delete, logged_update
from generators.garbage.cell_faults import LABELS
from generators.garbage.faults import FAULTS, SCHEMA_NO_GRAMMAR
from generators.model import (
    Cell,
    Change,
    Column,
    Default,
    Heartbeat,
    History,
    Instant,
    Kind,
    Layout,
    LogicalMessage,
    Op,
    ReplicaIdentity,
    Row,
    RowChange,
    RowImages,
    SchemaChange,
    SourceStatement,
    State,
    Table,
    TransactionMark,
    Written,
)
from generators.sources.multi_table import clauses_of, split_drop, tables_after_renames
from generators.wire_format import Format, about

__all__ = ["FORMAT", "DebeziumProfile", "write"]

_REPLACING: Final = re.compile(r"\s*CREATE\s+OR\s+REPLACE\s+TABLE\b", re.IGNORECASE)
"""The beginning of a CREATE OR REPLACE TABLE."""
_REPLACED: Final = (
    "Kafka Connect writes a column's default in place of NULL: the two cannot be told apart"
)
"""The reason that goes with a cell which holds the column's default in place of NULL."""


def write(history: History, profile: DebeziumProfile, layout: Layout) -> list[Written]:
    """The records of a history in the order of publication: rows, tombstones, transaction
    boundaries, heartbeats, MySQL's schema changes and PostgreSQL's logical messages, each on its
    own topic below the prefix `layout.topic`.
    """
    writer = _Writer(history, profile, layout)
    written_clauses = 0
    for number, event in enumerate(history.events):
        if written_clauses:
            written_clauses -= 1  # with the first clause of its statement
            continue
        if stops(event, profile) or _rows.stops_at_end_of_day(event, profile):
            break
        writer.records.event_number = number
        writer.reading.note_event(event)
        match event:
            case RowChange():
                writer.follow_identity(profile, event.table)
                writer.write_rows(event)
            case SchemaChange():
                clauses = clauses_of(history.events, number)
                writer.write_statement(event, clauses)
                written_clauses = len(clauses) - 1
            case Heartbeat():
                writer.write_heartbeat(event)
            case TransactionMark():
                writer.write_transaction_mark(event)
            case ReplicaIdentity():
                writer.identities[event.database, event.schema, event.table] = event
            case SourceStatement(family="rows-query"):
                writer.logged_statement = event.sql
            case LogicalMessage():
                writer.write_logical_message(event)
            case _:
                pass
    return writer.records.written


class _Writer:
    """One task of a connector: its position in the log, its transaction, what it knows of tables by
    their DDL, and the records that it wrote.

    `identities` has the REPLICA IDENTITY of each table where it is not the profile's, by the names
    of database, schema and table; `index_columns` are the columns of the index that it names for
    the present row change, () if it names none;
    `logged_statement` is the SQL that the history names for the rows that follow, up to the end of
    their transaction; `last_row` is the number in its event of the last row that was written.
    """

    def __init__(self, history: History, profile: DebeziumProfile, layout: Layout) -> None:
        self.profile, self.prefix = profile, layout.topic
        chance = random.Random(f"{history.seed}/{profile.name}")
        self.reading = _rows.Reading(history.events, profile.marks_tables)
        self.log = LogPosition(profile, self.prefix, chance, self.reading)
        self.records = Records(profile, layout, chance)
        self.known_columns = KnownColumns(profile)
        self.known_spellings = KnownSpellings()
        self.known_charsets = KnownCharsets(profile.follows_conversions)
        self.known_defaults = KnownDefaults(profile)
        self.known_labels = KnownLabels()
        self.known_schemas = KnownSchemas()
        self.identities: dict[tuple[str, str | None, str], ReplicaIdentity] = {}
        self.index_columns: tuple[str, ...] = ()
        self.last_row = 0
        self.logged_statement = ""

    def known_table(self, table: Table) -> Table:
        """The table as the connector knows it from statements."""
        return self.known_spellings.table(self.known_columns.table(table))

    # Rows

    def follow_identity(self, profile: DebeziumProfile, table: Table) -> None:
        """Takes the profile with the REPLICA IDENTITY that the table has, for its rows to come."""
        identity = self.identities.get((table.database, table.schema, table.name))
        self.profile = profile if identity is None else replace(profile, image=identity.identity)
        self.index_columns = () if identity is None else identity.columns

    def move_identity(self, event: SchemaChange) -> None:
        """Gives a table its REPLICA IDENTITY under the names that it and its columns have after a
        statement, also under that of its schema; that of a dropped table is forgotten.
        """
        if renamed := RenamedSchema.parse(event.sql):
            for place in [*self.identities]:
                database, schema, table = place
                if (database, schema) == (event.database, renamed.old_name):
                    moved_identity = self.identities.pop(place)
                    self.identities[database, renamed.new_name, table] = moved_identity
        old, new = event.before, event.after
        if old is None:
            return
        identity = self.identities.pop((old.database, old.schema, old.name), None)
        if identity is None or new is None:
            return
        names = {column.name for column in new.columns}
        pairs = zip(old.columns, new.columns, strict=False)
        new_names = {old_column.name: new_column.name for old_column, new_column in pairs}
        columns = tuple(
            name if name in names else new_names.get(name, name) for name in identity.columns
        )
        self.identities[new.database, new.schema, new.name] = replace(identity, columns=columns)

    def write_rows(self, event: RowChange) -> None:
        """Writes the messages of a row change. Nothing is written for UPDATE and DELETE under a
        MINIMAL row image.
        """
        profile, table = self.profile, self.known_table(event.table)
        if profile.source == "postgresql":
            table = self.known_schemas.table(table, truncated=event.op is Op.TRUNCATE)
        if profile.image == "minimal" and event.op not in (Op.INSERT, Op.READ, Op.TRUNCATE):
            return  # 1.9.7 emits the inserts alone (debezium#minimal-image)
        if event.op is Op.TRUNCATE:
            self.write_truncate(event.at, table)
            return
        # The events of one snapshot share a position.
        if not self.reading.goes_on:
            self.log.advance()
        snapshot = event.op is Op.READ
        known_defaults = self.defaults_known_now(table, snapshot)
        shape = self.shape_known_now(table, known_defaults, snapshot)
        if profile.queries and not snapshot:
            self.log.query = self.logged_statement or _rows.statement(event)
        for i, images in enumerate(event.rows):
            self.log.see_row(i, event.at, snapshot)
            new_row = {} if snapshot else images.after or {}
            if profile.refreshes_labels and self.known_labels.refresh(table, new_row):
                known_defaults = self.defaults_known_now(table, snapshot)
                shape = self.shape_known_now(table, known_defaults, snapshot)
            self.write_row(event, shape, known_defaults, images, i)
        self.log.last_commit = self.log.place
        # The rows of a snapshot all have the number 0.
        self.last_row = len(event.rows) - 1 if not snapshot else 0
        self.log.query = ""
        # A statement that the history names is of all rows up to the end of the transaction.
        if not self.log.in_transaction:
            self.logged_statement = ""

    def defaults_known_now(self, table: Table, snapshot: bool) -> Mapping[str, Default]:
        """The defaults of the table's columns that the connector knows for the next row."""
        known_defaults = self.known_defaults.of_table(table, snapshot)
        if self.profile.source == "postgresql":
            return self.known_labels.known_defaults(table, known_defaults)
        return known_defaults

    def shape_known_now(
        self, table: Table, known_defaults: Mapping[str, Default], snapshot: bool
    ) -> _rows.TableShape:
        """What the messages of the table's next row have in common with those that follow it."""
        defaults = tuple(known_defaults.items())
        shape = _rows.shape_of(table, self.profile, self.prefix, defaults, snapshot)
        if self.profile.source == "postgresql":
            shape = self.with_known_labels(shape, table, known_defaults, snapshot)
            if self.index_columns:
                shape = replace(shape, identity=self.index_columns)
        return shape

    def with_known_labels(
        self,
        shape: _rows.TableShape,
        table: Table,
        known_defaults: Mapping[str, Default],
        snapshot: bool,
    ) -> _rows.TableShape:
        """What the messages of PostgreSQL's table have in common, with the schemas of the enums'
        labels that the connector knows.
        """
        labelled_table = self.known_labels.table(table)
        if labelled_table is table:
            return shape
        defaults = tuple(known_defaults.items())
        labelled = _rows.shape_of(labelled_table, self.profile, self.prefix, defaults, snapshot)
        return replace(labelled, known=shape.known)

    def write_row(
        self,
        event: RowChange,
        shape: _rows.TableShape,
        defaults: Mapping[str, Default],
        images: RowImages,
        number: int,
    ) -> None:
        """Writes the messages of one row: none, one change, or, if an UPDATE changes the key, a
        delete with its tombstone and a create.
        """
        profile, table, identity = self.profile, shape.known, shape.identity
        logs_unchanged = profile.source in ("postgresql", "oracle")
        if event.op is Op.UPDATE and not logs_unchanged and images.before == images.after:
            return  # MySQL and SQL Server log no row that stays as it is
        snapshot = event.op is Op.READ
        before = (
            self.wires(table, images.before, defaults, snapshot)
            if images.before is not None
            else {}
        )
        after = (
            self.wires(table, images.after, defaults, snapshot) if images.after is not None else {}
        )
        position = (
            _rows.Place(event, shape, 0, self.reading.marker(event, number))
            if snapshot
            else _rows.Place(event, shape, number)
        )
        old = before if identity is None else self.sent_image(table, before, defaults, identity)
        if event.op is Op.DELETE:
            if profile.is_sqlserver:
                old = logged_delete(table, old, profile.modes)
            if profile.is_oracle:
                old = logged_row(table, old, profile.modes)
            if identity != ():  # no replica identity: PostgreSQL sends nothing
                self.write_delete(position, old)
            return
        new_key = _rows.key_members(shape, after)
        if profile.is_sqlserver and event.op is Op.UPDATE:
            self.write_sqlserver_update(position, images, before, after)
            return
        created = self.with_placeholders(event.table, images, after)
        if profile.is_oracle and event.op is Op.UPDATE:
            # The row of a new key is read again with its large values.
            old, created = logged_rows(table, images, before, after, profile.modes)
            if _rows.key_members(shape, old) != new_key:
                created = after
            before = old
        identity_changed = identity is None or any(
            before[name].json != after[name].json for name in identity if before
        )
        if event.op is Op.UPDATE and identity_changed and _rows.key_members(shape, old) != new_key:
            headers = (
                (("__debezium.newkey", _rows.key_header(shape, after)),),
                (("__debezium.oldkey", _rows.key_header(shape, old)),),
            )
            self.write_delete(position, old, headers[0])
            self.write_change(position, Op.INSERT, None, created, new_key, headers[1])
            return
        if event.op is Op.UPDATE:
            sent_row: _rows.Wires | None = None
            if profile.image == "full":
                sent_row = before
            elif identity_changed and before:
                sent_row = old
            self.write_change(position, Op.UPDATE, sent_row, created, new_key)
            return
        self.write_change(position, event.op, None, after, new_key)

    def wires(
        self, table: Table, row: Row, defaults: Mapping[str, Default], snapshot: bool
    ) -> _rows.Wires:
        """A row as the connector writes it, column by column. Unless the profile keeps NULLs, the
        column's default (`defaults`, by name) stands in place of NULL. MySQL's texts in utf16 are
        read by their byte order mark, which is dropped.
        """
        modes, mysql = self.profile.modes, self.profile.is_mysql
        read_values = self.known_charsets.read_row(table, row) if mysql and not snapshot else row
        wire = value_writer(self.profile)
        marked = {c.name for c in table.columns if mysql and not snapshot and c.charset == "utf16"}
        row = {
            name: _rows.unmarked(value) if name in marked else value
            for name, value in read_values.items()
        }
        wires = {
            c.name: wire(
                c.type,
                row.get(c.name),
                modes,
                nullable=c.nullable,
                snapshot=snapshot,
                declared=_rows.spelling(c, snapshot),
            )
            for c in table.columns
        }
        for name, default in defaults.items():
            if name in wires and wires[name].json == "null" and not self.profile.nulls_kept:
                stand_in = _rows.stand_in(table.column(name), default, self.profile, snapshot)
                wires[name] = replace(
                    stand_in, cell=replace(stand_in.cell, cls="default", reason=_REPLACED)
                )
        return wires

    def write_sqlserver_update(
        self, place: _rows.Place, images: RowImages, before: _rows.Wires, after: _rows.Wires
    ) -> None:
        """Writes the messages of an UPDATE of SQL Server. Change data capture logs two rows for it:
        the old and the new one, or, if the key changes, a delete and an insert at one place in the
        log (debezium#sqlserver-key-update). `serial_number` counts these rows from 1.
        """
        table = place.shape.known
        old_key, new_key = (_rows.key_members(place.shape, key_row) for key_row in (before, after))
        if old_key != new_key:
            self.write_delete(place, logged_delete(table, before, self.profile.modes))
            self.log.sqlserver_log.serial_number = 2
            self.write_change(place, Op.INSERT, None, after, new_key)
            return
        self.log.sqlserver_log.serial_number = 2  # its two rows are counted
        old, new = logged_update(table, images, before, after, self.profile.modes)
        self.write_change(place, Op.UPDATE, old, new, new_key)

    def with_placeholders(self, table: Table, images: RowImages, after: _rows.Wires) -> _rows.Wires:
        """The row after an UPDATE as PostgreSQL's connector writes it: with a placeholder for each
        value that the server did not send, since it is stored out of line (TOAST) and did not
        change.
        """
        if (
            self.profile.image not in ("default", "index")
            or images.before is None
            or images.after is None
        ):
            return after
        new_row = dict(after)
        external = _debezium_postgresql.out_of_line(
            table.columns, images.before, self.profile.toasted
        )
        for column in table.columns:
            name, value = column.name, images.after.get(column.name)
            if name in new_row and name in external and value == images.before.get(name):
                new_row[column.name] = _debezium_postgresql.unavailable(
                    column.type, self.profile.modes, column.nullable
                )
        return new_row

    def write_delete(self, place: _rows.Place, sent: _rows.Wires, headers: Headers = ()) -> None:
        """Writes the message of a row's delete, and its tombstone behind it. `sent` are the old
        row's columns as the server sent them.
        """
        key = _rows.key_members(place.shape, sent)
        self.write_change(place, Op.DELETE, sent, None, key, headers)
        if self.profile.tombstones and not self.profile.flat:
            if self.profile.is_mysql and not self.profile.tombstone_headers:
                headers = ()
            change = Change(0, Kind.TOMBSTONE, keys=self.keys(place.shape))
            self.records.emit(
                place.shape.topic,
                place.shape.key_part(key),
                None,
                change,
                place.event.at,
                (*headers, *self.records.context),
            )

    def sent_image(
        self,
        table: Table,
        before: _rows.Wires,
        defaults: Mapping[str, Default],
        identity: Collection[str],
    ) -> _rows.Wires:
        """The old row as the message has it: the server sends the columns of the replica identity
        (`identity`); in the others the connector writes what `unsent_cell` gives.
        """
        columns = table.columns if before else ()
        return {
            c.name: before[c.name]
            if c.name in identity
            else self.unsent_cell(c, defaults.get(c.name))
            for c in columns
        }

    def unsent_cell(self, column: Column, default: Default | None) -> DebeziumCell:
        """The cell of a column in an old row of which PostgreSQL sends no value, since it is
        outside of the replica identity. The connector writes the column's default there, which says
        nothing of the value (a decoder may make anything of it); without a default, or with
        `replace.null.with.default=false` (`nulls_kept`), it writes NULL, or the type's zero in a
        NOT NULL column.
        """
        if default is not None and not self.profile.nulls_kept:
            stand_in = _rows.stand_in(column, default, self.profile, False)
            return replace(
                stand_in,
                cell=Cell(
                    State.ANY,
                    column.type,
                    text=stand_in.cell.text,
                    cls="fallback",
                    json=stand_in.cell.json,
                ),
            )
        return _debezium_postgresql.not_sent(column.type, self.profile.modes, column.nullable)

    def keys(self, shape: _rows.TableShape) -> tuple[str, ...] | None:
        """The names of the key's columns in the record key; None without a key."""
        return tuple(shape.names[name] for name in shape.key) or None

    def write_change(
        self,
        place: _rows.Place,
        op: Op,
        before: _rows.Wires | None,
        after: _rows.Wires | None,
        key: Mapping[str, Any] | None,
        headers: Headers = (),
    ) -> None:
        """Writes the message of one change of a row: `before` and `after` are the rows as the
        connector writes them, None where the message has none; `key` are the members of the record
        key, None without a key.
        """
        event, shape, profile = place.event, place.shape, self.profile
        table = event.table
        if profile.flat:
            flat_row = before if after is None else after
            if flat_row is not None:  # a truncation is dropped
                value, change = flattened(
                    profile,
                    place,
                    op,
                    flat_row,
                    self.keys(shape),
                    self.log.lsn(),
                    self.log.source_ms(event.at),
                )
                added = (("__op", CODES[op].encode()), ("__db", table.database.encode()))
                self.records.emit(
                    shape.topic,
                    shape.key_part(key),
                    value,
                    change,
                    event.at,
                    (*headers, *self.records.context, *added),
                )
            return
        source = self.log.source(
            event.at,
            table.database,
            shape.outer,
            shape.table,
            place.row,
            place.snapshot,
            is_statement=op is Op.TRUNCATE,
        )
        moment = envelope.stamps(profile, event.at.ms + self.records.lag)
        collection = f"{shape.outer}.{shape.table}"
        if profile.is_sqlserver or profile.is_oracle:
            collection = f"{table.database}.{collection}"
        # The connector's monitor of transactions sees no row of a snapshot.
        streamed = op is not Op.READ
        block = {"transaction": self.log.transaction_block(collection) if streamed else None}
        op_and_stamps = {"op": CODES[op], **moment}
        payload = {
            "before": _rows.row_members(shape, before),
            "after": _rows.row_members(shape, after),
            "source": source,
            **(block | op_and_stamps if profile.transaction_first else op_and_stamps | block),
        }
        corrupt = any(
            wire.corrupt for flat_row in (before, after) if flat_row for wire in flat_row.values()
        )
        change = Change(
            0,
            Kind.ROW,
            op,
            database=table.database,
            schema=None if profile.is_mysql else shape.outer,
            table=shape.table,
            keys=self.keys(shape),
            position=self.log.position(place.row, place.snapshot),
            commit_time_us=self.log.source_ms(event.at) * 1000,
            before=_rows.image(shape, before),
            after=_rows.image(shape, after),
            full_before=_rows.full_image(shape, before),
            full_after=_rows.full_image(shape, after),
            accept=((Kind.CORRUPT, None),) if corrupt else (),
        )
        self.records.emit(
            shape.topic,
            shape.key_part(key),
            shape.value_part(payload),
            change,
            event.at,
            (*headers, *self.records.context),
        )

    def write_truncate(self, at: Instant, table: Table) -> None:
        """Writes the message of a TRUNCATE, if the profile writes them: releases before 2.0 do not
        (1.4 does not know it).
        """
        profile = self.profile
        if not profile.writes_truncate:
            return
        self.log.advance()
        shape = _rows.shape_of(
            table,
            profile,
            self.prefix,
            tuple(self.known_defaults.of_table(table, False).items()),
            False,
        )
        event = RowChange(at, table, Op.TRUNCATE, ())
        self.write_change(
            _rows.Place(event, replace(shape, key=()), self.last_row), Op.TRUNCATE, None, None, None
        )

    # Everything else

    def write_statement(self, event: SchemaChange, clauses: Sequence[SchemaChange]) -> None:
        """Writes a DDL statement; `clauses` are the events of a RENAME TABLE of several tables that
        begins with `event` (`clauses_of`), else `event` alone. MariaDB's connector takes the GTID
        before it for a BEGIN, which no END follows (debezium#statement-boundary).
        """
        if self.profile.transactions and self.profile.connector == "mariadb":
            self.write_transaction_mark(TransactionMark(event.at, "BEGIN", ""))
        self.write_schema_change(event, clauses)
        self.log.in_transaction = False

    def write_schema_change(self, event: SchemaChange, clauses: Sequence[SchemaChange]) -> None:
        """Remembers what a DDL statement says of columns, defaults and character sets, and writes
        its message, if the connector sends statements: for a DROP of several tables one for each
        from release 1.9 on (debezium#drop-of-several), and for each of the `clauses` of a RENAME
        TABLE. For a TRUNCATE a message of the table's rows comes first, in some releases alone.
        Some releases have no message of a statement on a view (debezium#views). Raises Refused for
        a CREATE OR REPLACE of a table that is there.
        """
        if event.before is not None and _REPLACING.match(event.sql):
            raise Refused(
                f"the connector passes over this statement, and reads rows of {event.table!r} by"
                f" the table before it: {event.sql}"
            )
        before = self.known_table(event.before) if event.before is not None else None
        for clause in clauses:
            self.remember(clause)
        profile = self.profile
        if event.action == "truncate table" and event.before is not None:
            self.write_truncate(event.at, self.known_table(event.before))
            if not profile.truncate_has_statement:
                return
        if profile.is_sqlserver:
            self.write_capture_change(event)
            return
        is_views = event.action in ("create view", "drop view")
        if not profile.is_mysql or (is_views and not profile.views_have_statement):
            return
        self.log.advance()
        # 1.4 alone (`short_schema_changes`) writes one message for all clauses of a RENAME TABLE.
        if is_views or profile.short_schema_changes:
            self.write_statement_message(event, before)
        elif len(clauses) > 1:
            self.write_renames(clauses)
        else:
            for dropping_event in split_drop(event):
                self.write_statement_message(dropping_event, before)

    def write_renames(self, clauses: Sequence[SchemaChange]) -> None:
        """Writes a message for each clause of a RENAME TABLE, all of which the connector has
        followed before the first message: it describes the table that has the clause's new name
        after the statement, none if a later clause took the name away (debezium#several-renames).
        """
        first_number = self.records.event_number
        tables_after = tables_after_renames(clauses)
        for number, clause in enumerate(clauses, first_number):
            self.records.event_number = number
            table = tables_after[clause.table]
            self.write_statement_message(replace(clause, before=None, after=table), None)

    def write_statement_message(self, event: SchemaChange, before: Table | None) -> None:
        """Writes the message of a DDL statement, or of what it does to one of its tables, which the
        connector knew as `before`.
        """
        profile = self.profile
        known_event = (
            replace(event, before=before)
            if event.after is None
            else replace(
                event,
                before=before,
                after=self.known_table(self.known_defaults.with_defaults(event.after)),
            )
        )
        charset = self.known_charsets.of_table(event.database, event.table)
        passed_over = makes_no_key(event, before, known_event.after, profile)
        changes = [] if passed_over else table_changes(known_event, charset, profile)
        if event.after is not None and changes and changes[0]["table"]:
            self.known_columns.described(event.after, changes[0]["table"]["columns"])
            self.known_spellings.described(event.after, changes[0]["table"]["columns"])
            self.known_charsets.described(event.after, changes[0]["table"]["columns"])
        # The parser of MySQL's statements makes nothing of an ALTER DATABASE.
        tableless = not event.table and event.action != "alter database"
        unnamed = None if tableless or profile.short_schema_changes else ""
        truncated = event.action == "truncate table" and not profile.short_schema_changes
        is_named = event.action in ("create view", "drop table")
        table = event.table if changes or truncated or is_named else unnamed
        named_tables = envelope.tables_of_statement(event, profile)
        if named_tables:
            table = ",".join(named_tables)
        sql = event.sql if profile.short_schema_changes else envelope.statement_text(event)
        payload: dict[str, Any] = {
            "source": self.log.source(
                event.at, event.database, "", table, self.last_row, is_statement=True
            ),
            "ts_ms": event.at.ms + self.records.lag,
            "databaseName": event.database,
            "ddl": sql,
            "tableChanges": changes,
        }
        key, value = envelope.schema_change_schemas(profile)
        change = Change(
            0,
            Kind.DDL,
            database=event.database,
            table=table or None,
            tables=(event.table,) if table and table != event.table else (),
            position=self.log.position(self.last_row),
            commit_time_us=self.log.source_ms(event.at) * 1000,
            sql=sql,
            other_keys=envelope.described_keys(() if profile.short_schema_changes else changes),
        )
        name = self.records.key_part(key, {"databaseName": event.database})
        headers = (*self.records.context, *self.records.added_headers({"__db": event.database}))
        self.records.emit(
            self.prefix, name, self.records.value_part(value, payload), change, event.at, headers
        )

    def write_capture_change(self, event: SchemaChange) -> None:
        """Writes the message of SQL Server's connector about a table whose columns changed, as a
        new capture instance takes the place of the old one: it has no statement, but describes the
        whole table (debezium#sqlserver-schema-change).
        """
        if event.after is None:
            return
        table, profile = event.after, self.profile
        payload: dict[str, Any] = {
            "source": self.log.source(event.at, event.database, table.schema or "", table.name),
            "ts_ms": event.at.ms + self.records.lag,
            "databaseName": event.database,
            "schemaName": table.schema,
            "ddl": envelope.NO_STATEMENT,
            "tableChanges": [envelope.sqlserver_change(event, table)],
        }
        key, value = envelope.schema_change_schemas(profile)
        change = Change(
            0,
            Kind.DDL,
            database=event.database,
            schema=table.schema,
            table=table.name,
            position=self.log.position(),
            commit_time_us=self.log.source_ms(event.at) * 1000,
            sql=envelope.NO_STATEMENT,
            other_keys=(table.primary_key,) if table.primary_key else (),
        )
        name = self.records.key_part(key, {"databaseName": event.database})
        self.records.emit(
            self.prefix,
            name,
            self.records.value_part(value, payload),
            change,
            event.at,
            self.records.context,
        )

    def remember(self, event: SchemaChange) -> None:
        """Remembers what a statement says of character sets, columns and defaults, for the messages
        that follow; a renamed table keeps what is known of it under its new name.
        """
        if self.profile.is_mysql:
            self.known_columns.follow_statement(event)
            self.known_spellings.follow_statement(event)
            self.known_charsets.follow_statement(event)
        if self.profile.source == "postgresql":
            self.known_labels.follow_statement(event)
            self.known_schemas.follow_statement(event)
            self.move_identity(event)
        self.known_defaults.follow_statement(event)

    def write_heartbeat(self, event: Heartbeat) -> None:
        """Writes a heartbeat to the topic of heartbeats."""
        key, value = envelope.heartbeat_schemas(self.profile)
        name = self.records.key_part(key, {"serverName": self.prefix})
        message_value = self.records.value_part(value, {"ts_ms": event.at.ms + self.records.lag})
        self.records.emit(
            f"__debezium-heartbeat.{self.prefix}",
            name,
            message_value,
            Change(0, Kind.HEARTBEAT),
            event.at,
        )

    def write_transaction_mark(self, event: TransactionMark) -> None:
        """Begins or ends a transaction, which the rows in between share, and writes its BEGIN or
        END to the topic of transactions if the profile has these.
        """
        begins = event.mark == "BEGIN"
        if begins:
            self.log.in_transaction = False
            self.log.advance()
        self.log.in_transaction = begins
        self.logged_statement = ""
        if not self.profile.transactions:
            return
        payload: dict[str, Any] = {
            "status": "BEGIN" if begins else "END",
            "id": self.log.transaction_id(),
        }
        if not begins:
            payload["event_count"] = sum(self.log.counts.values())
            payload["data_collections"] = [
                {"data_collection": n, "event_count": c} for n, c in self.log.counts.items()
            ]
        payload["ts_ms"] = self.log.source_ms(event.at)
        key, value = envelope.boundary_schemas(self.profile)
        name = self.records.key_part(key, {"id": payload["id"]})
        self.records.emit(
            f"{self.prefix}.transaction",
            name,
            self.records.value_part(value, payload),
            Change(0, Kind.TRANSACTION),
            event.at,
        )

    def write_logical_message(self, event: LogicalMessage) -> None:
        """Writes PostgreSQL's logical decoding message; release 1.4 does not know such messages."""
        profile = self.profile
        if profile.source != "postgresql" or not profile.logical_messages:
            return
        self.log.advance()
        payload: dict[str, Any] = {
            "op": "m",
            "ts_ms": event.at.ms + self.records.lag,
            "source": self.log.source(
                event.at, event.database, "", "", in_transaction=event.in_transaction
            ),
            "transaction": self.log.transaction_block(event.prefix)
            if event.in_transaction
            else None,
            "message": {
                "prefix": event.prefix,
                "content": binary_value(event.content, profile.modes),
            },
        }
        key, value = envelope.message_schemas(profile)
        change = Change(
            0,
            Kind.CONTROL,
            database=event.database,
            position=self.log.position(),
            commit_time_us=self.log.source_ms(event.at) * 1000,
        )
        name = self.records.key_part(key, {"prefix": event.prefix})
        headers = self.records.added_headers({"__op": "m", "__db": event.database})
        self.records.emit(
            f"{self.prefix}.message",
            name,
            self.records.value_part(value, payload),
            change,
            event.at,
            headers,
        )


FORMAT: Final = Format(
    **about("debezium-json", CHOICES),
    write=write,
    scenarios=scenarios,
    supports=supports,
    faults=(*FAULTS, SCHEMA_NO_GRAMMAR),
    cell_faults=cell_faults,
    fits={
        **LABELS,
        "bit/outside": "cell-bit",
        "decimal/outside": "cell-decimal-digits",
    },
    losses=losses,
)
