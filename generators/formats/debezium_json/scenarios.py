"""The named cases that only Debezium's format has."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from hashlib import sha256
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, read, updated
from generators.formats.debezium_json.envelope import WITHOUT_ROWS
from generators.formats.debezium_json.losses import cell_faults, losses
from generators.formats.debezium_json.oracle_scenarios import oracle_cases
from generators.formats.debezium_json.profiles import DebeziumProfile, supports
from generators.formats.debezium_json.sqlserver_scenarios import (
    SQLSERVER_DEFAULTS,
    bracketed_names,
    sqlserver_cases,
)
from generators.model import (
    Column,
    Default,
    Event,
    Heartbeat,
    IncrementalSnapshot,
    Instant,
    Json,
    LogicalMessage,
    Op,
    ReplicaIdentity,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    SourceStatement,
    SourceType,
    Table,
    TransactionMark,
    Value,
    ZeroDate,
)
from generators.sources import databases, mysql, oracle, postgresql, sqlserver
from generators.sources.boundaries import (
    START,
    change,
    composite,
    every_type,
    insert,
    keyless,
    named,
    slug,
)
from generators.sources.ddl import ddl_event, of_statement, rename_between_rows

__all__ = ["cell_faults", "losses", "scenarios"]

_SPELLED: Final[tuple[tuple[str, Column, Value], ...]] = (
    (
        "integer-unsigned",
        Column("c", mysql.integer("int", unsigned=True), declared="INTEGER UNSIGNED"),
        0xFFFF_FFFF,
    ),
    (
        "varchar-binary",
        Column("c", mysql.binary("varbinary", 8), declared="VARCHAR(8) CHARACTER SET binary"),
        b"a\xff\0",
    ),
    ("float4", Column("c", mysql.real("float"), declared="FLOAT4"), 0.5),
)
"""Columns whose spelling in the statement decides what is written (debezium#declared-types)."""

BACK_SLASHES: Final[tuple[tuple[str, SourceType, Value], ...]] = (
    ("enum-back-slash", mysql.enum_of("a", "back\\slash"), 2),
    ("set-back-slash", mysql.set_of("a", "back\\slash", "c"), 7),
)
"""Labels that a stream escapes and a snapshot does not (debezium#enum-label, debezium#set-labels).
"""

COLLISIONS: Final = ("1234", "1111", "0000", "1e10", "+123", "Infinity")
"""Base64 texts of decimals that are numbers as well (debezium#base64-digits)."""

LONG: Final = "".join(sha256(bytes([number])).hexdigest() for number in range(40))
"""A text that PostgreSQL cannot compress, so that it is out of line."""
LONG_NUMBER: Final = Decimal(f"1.{'0123456789' * 410}")
"""A number of so many digits that PostgreSQL stores it out of line."""
_ROW: Final[Row] = {"id": 1, "a": "x", "b": 5}
"""The row that most cases begin with."""
_UUID: Final = "6b0d8a1c-3f52-4a77-9c1e-0f5d2b7e8a90"
"""A UUID for arrays of them."""
_BYTES: Final = "\\x" + "00ff" * 600
"""The text of a BYTEA that is one of many in an array."""
ARRAYS: Final = {
    "uuid-array": postgresql.array_of(postgresql.uuid()),
    "bytea-array": postgresql.array_of(postgresql.bytea()),
}
"""Arrays that no table of all types has."""
LONG_BITS: Final = int.from_bytes(b"\x5a" * 2100)
"""More than PostgreSQL keeps within a row."""


def scenarios(profile: DebeziumProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone that the profile can write. `database` is that of the
    tables of level one (cases whose values are compared as texts).
    """
    cases = _Cases(profile, database)
    yield from cases.operations()
    yield from cases.keys()
    yield from cases.names()
    yield from cases.values()
    yield from cases.typed_defaults()
    yield from cases.control()
    if profile.is_mysql:
        yield from cases.mysql()
        yield from cases.ddl()
    elif profile.is_sqlserver:
        yield from sqlserver_cases(profile, cases)
    elif profile.is_oracle:
        yield from oracle_cases(cases)
    else:
        yield from cases.postgresql()
    yield from cases.level_two_cases()


class _Cases(Cases):
    """The cases of one profile, in its source's types."""

    def __init__(self, profile: DebeziumProfile, database: str) -> None:
        self.profile, self.origin = profile, databases.source(profile.source)
        self.id = Column("id", self.origin.key, nullable=False)
        self.a, self.b = Column("a", self.origin.string), Column("b", self.origin.number)
        super().__init__(database, (self.id, self.a, self.b), schema=self.origin.schema)

    def typed(self, column: Column) -> Cases:
        """The maker of cases whose tables have that column between `id` and `b`."""
        return self.of(self.id, column, self.b)

    def decimal(self, precision: int, scale: int) -> SourceType:
        """A decimal type of the source."""
        if self.profile.is_sqlserver:
            return sqlserver.decimal(precision, scale)
        if self.profile.is_oracle:
            return oracle.number(precision, scale)
        maker = mysql.decimal if self.profile.is_mysql else postgresql.numeric
        return maker(precision, scale)

    def raw(self) -> SourceType:
        """A type of the source that holds bytes."""
        if self.profile.is_sqlserver:
            return sqlserver.binary("varbinary", 16)
        if self.profile.is_oracle:
            return oracle.binary("raw", 16)
        return mysql.binary("varbinary", 16) if self.profile.is_mysql else postgresql.bytea()

    def operations(self) -> Iterator[Scenario]:
        """Yields the cases of snapshot rows, truncation, deletes with their tombstones, and updates
        of the key.
        """
        first_row, bare = _ROW, {"id": 2, "a": None, "b": None}
        yield self.case("op/read", read(first_row, bare, {**first_row, "id": 3}))
        name = "op/read-two-tables"
        tables = tuple(self.table(f"{name}-{number}") for number in (1, 2, 3))
        events = (
            change(tables[0], Op.READ, (None, first_row), (None, bare)),
            change(tables[1], Op.READ, (None, first_row)),
        )
        more = change(
            tables[2], Op.READ, *((None, {**first_row, "id": number}) for number in range(1, 5))
        )
        yield named(name, *events, more, tags={"one-position"})
        yield self.of(self.a, self.b, key=()).case("op/read-keyless", read({"a": "x", "b": 5}))
        yield self.case("op/read-then-stream", read(first_row), updated(first_row, {"b": 6}))
        if self.profile.incremental_snapshots:
            begin, moment = (
                IncrementalSnapshot(START),
                Instant(START.ms + 1234),
            )
            reads = replace(read(first_row, bare), at=moment)
            yield self.case(
                "op/read-incremental",
                inserted(first_row),
                begin,
                reads,
                inserted({**first_row, "id": 3}),
                tags={"incremental"},
            )
        if self.profile.knows_truncate:
            yield self.case("op/truncate", RowChange(START, OWN, Op.TRUNCATE, ()))
        yield self.case(
            "op/delete-then-insert",
            inserted(first_row),
            deleted(first_row),
            inserted({**first_row, "b": 7}),
        )
        if self.profile.image == "minimal":
            return
        yield self.of(self.a, self.b, key=()).case(
            "tombstone/keyless", deleted({"a": "x", "b": 5}, {"a": None, "b": 6})
        )
        pairs: tuple[tuple[Row | None, Row | None], ...] = (
            (first_row, {**first_row, "id": 9, "a": "z"}),
            (bare, {**bare, "b": 1}),
        )
        yield self.case("key/update-and-more", change(OWN, Op.UPDATE, *pairs), tags={"key-update"})
        yield self.of(
            self.id, Column("a", self.origin.string, False), self.b, key=("a", "id")
        ).case("key/update-part", updated(first_row, {"a": 'q"\\'}), tags={"key-update"})

    def keys(self) -> Iterator[Scenario]:
        """Yields the cases of record keys: types that are base64, names that look like an envelope,
        unique keys, no key.
        """
        is_mysql, number = self.profile.is_mysql, self.origin.number
        amount, raw = self.decimal(10, 2), self.raw()
        keys: tuple[tuple[str, SourceType, Value], ...] = (
            ("key/decimal", amount, Decimal("-26588.24")),
            ("key/binary", raw, b"\xd7m\xf8"),
            ("key/wall-clock", self.origin.moment, mysql.wall("2024-01-02 03:04:05.678901")),
            ("key/text-escapes", self.origin.string, 'q"uo\\te\n汉'),
        )
        for name, type, value in keys:
            cells: Row = {"k": value, "a": "x"}
            yield self.of(Column("k", type, False), self.a, key=("k",)).case(
                name, inserted(cells), deleted(cells)
            )
        columns = (
            Column("schema", self.origin.number, False),
            Column("payload", self.origin.string, False),
            self.a,
        )
        envelope_like: Row = {"schema": 1, "payload": "{}", "a": "x"}
        yield self.of(*columns, key=("schema", "payload")).case(
            "key/named-schema-and-payload",
            inserted(envelope_like),
            deleted(envelope_like),
            tags={"key-look-alike"},
        )
        names = ("op", "before", "after", "source", "ts_ms", "ddl", "schema", "payload", "status")
        cells = {"id": 1, **dict.fromkeys(names, "d")}
        yield self.of(self.id, *(Column(n, self.origin.string) for n in names)).case(
            "key/named-like-the-envelope",
            inserted(cells),
            updated(cells, {"op": None, "after": "{}"}),
        )
        yield self.of(
            Column("u", self.origin.number, False), self.a, key=(), unique=(("u",),)
        ).case("key/unique-index", inserted({"u": 1, "a": "x"}))
        if is_mysql:
            nullable, solid = Column("n", number), Column("u", number, False)
            yield self.of(nullable, self.a, key=(), unique=(("n",),)).case(
                "key/unique-index-nullable", inserted({"n": 1, "a": "x"})
            )
            yield self.of(nullable, solid, self.a, key=(), unique=(("n",), ("u",))).case(
                "key/unique-index-behind-a-nullable-one",
                inserted({"n": 1, "u": 2, "a": "x"}),
                inserted({"n": None, "u": 3, "a": "y"}),
            )
            inline = replace(nullable, inline_unique=True)
            yield self.of(solid, inline, self.a, key=(), unique=(("n",), ("u",))).case(
                "key/unique-inline-nullable",
                inserted({"u": 1, "n": 2, "a": "x"}),
                inserted({"u": 2, "n": None, "a": "y"}),
            )
        yield self.case(
            "key/one-key-one-partition",
            *(inserted({"id": i, "a": "x", "b": i}) for i in range(1, 9)),
        )

    def names(self) -> Iterator[Scenario]:
        """Yields the cases of names that releases change, read by a snapshot and streamed: with
        back-ticks, with letters beyond ASCII.
        """
        number, string = self.origin.number, self.origin.string
        if self.profile.is_sqlserver:
            yield from bracketed_names(self)
            return
        if self.profile.is_mysql:
            ticked_row: Row = {"k``": 1, "a`b": "x", "a": "y"}
            tags = {"back-tick"}
            ticked = self.of(
                Column("k``", number, False), Column("a`b", string), self.a, key=("k``",)
            )
            yield ticked.case(
                "names/back-ticks", read(ticked_row), inserted({**ticked_row, "k``": 2}), tags=tags
            )
            if self.profile.image != "minimal":
                yield ticked.case(
                    "names/back-ticks-changed",
                    updated(ticked_row, {"a`b": None}),
                    deleted(ticked_row),
                    tags=tags,
                )
            return
        tags = {"not-ascii-name"}
        name = "names/not-ascii-table"
        table_beyond_ascii = replace(
            self.of(self.id, Column("n", number, False), Column("é", string)).table(name),
            name="Größe",
        )
        full: Row = {"id": 1, "n": 5, "é": "x"}
        gone = change(table_beyond_ascii, Op.DELETE, (full, None))
        yield named(
            name,
            change(table_beyond_ascii, Op.READ, (None, full)),
            insert(table_beyond_ascii, {**full, "id": 2}),
            gone,
            tags=tags,
        )
        pair: Row = {"id": 1, "é": 5, "a": "x"}
        moved = updated(pair, {"é": 6})
        yield self.of(self.id, Column("é", number, False), self.a, key=("é", "id")).case(
            "names/not-ascii-key", read(pair), inserted({**pair, "id": 2}), moved, tags=tags
        )

    def values(self) -> Iterator[Scenario]:
        """Yields the cases of base64 that looks like a number, in decimals and binaries, and of
        what stands in place of NULL.
        """
        scaled, raw = self.decimal(20, 4), self.raw()
        for digits_text in COLLISIONS:
            number = int.from_bytes(base64.b64decode(digits_text), "big", signed=True)
            sign, digits = int(number < 0), tuple(map(int, str(abs(number))))
            yield self.value(
                f"values/decimal-base64-{digits_text}",
                scaled,
                Decimal((sign, digits, -4)),
                tags={"base64-digits"},
            )
            yield self.value(
                f"values/binary-base64-{digits_text}",
                raw,
                base64.b64decode(digits_text),
                tags={"base64-digits"},
            )
        if self.profile.is_sqlserver or self.profile.is_oracle:
            return  # a default is known from the table itself: `typed_defaults`
        table_with_default = self.of(self.id, self.a, Column("c", self.origin.number))
        lacking: Row = {"id": 1, "a": "x", "c": None}
        events = {"values/default-for-null": inserted(lacking, {"id": 2, "a": None, "c": 7})}
        if self.profile.image != "minimal":
            events["values/default-for-null-in-before"] = updated(lacking, {"a": "y", "c": 1})
        for name, event in events.items():
            yield table_with_default.case(
                name,
                self.default(table_with_default.table(name), "c"),
                event,
                tags={"default-for-null"},
            )

    def typed_defaults(self) -> Iterator[Scenario]:
        """Yields the cases of NULL in columns whose default has the column's type, in the new row
        and in the old one (debezium#defaults).
        """
        for label, column, value in self.with_default():
            lacking: Row = {"id": 1, "a": "x", "c": None}
            events = [inserted(lacking, {"id": 2, "a": None, "c": value})]
            if self.profile.image != "minimal":
                events.append(updated(lacking, {"a": "y", "c": value}))
            yield self.of(self.id, self.a, replace(column, name="c")).case(
                f"values/default-{label}", *events, tags={"default-for-null"}
            )

    def with_default(self) -> Iterator[tuple[str, Column, Value]]:
        """For each form of a default: its name, a column that has it, and a value of the column's
        type that is not the default.
        """
        amount, moment = Decimal("1.5000"), mysql.wall("2020-01-02 03:04:05.678901")
        different_values: tuple[Value, ...] = (Decimal("-7.2500"), "x", moment + 1, b"xyz")
        defaults: tuple[tuple[str, SourceType, Default], ...]
        if self.profile.is_mysql:
            defaults = (
                ("decimal", mysql.decimal(10, 4), Default("1.5000", amount)),
                ("text", mysql.text("varchar", 10), Default("'dflt'", "dflt")),
                (
                    "timestamp",
                    mysql.temporal("timestamp", 6),
                    Default("'2020-01-02 03:04:05.678901'", moment),
                ),
                ("bytes", mysql.binary("binary", 3), Default("'ab'", b"ab\0")),
            )
            if not self.profile.binary_defaults:
                defaults = defaults[
                    :-1
                ]  # no source says what older connectors make of the default of BINARY
            expression = Column(
                "expression", mysql.temporal("datetime"), default=Default("CURRENT_TIMESTAMP")
            )
        elif self.profile.is_sqlserver:
            for label, type, default, value in SQLSERVER_DEFAULTS:
                yield label, Column(label, type, default=default), value
            return
        elif self.profile.is_oracle:
            return  # no default is written
        else:
            defaults = (
                ("decimal", postgresql.numeric(10, 4), Default("1.5", amount)),
                (
                    "text",
                    postgresql.text("varchar", 10),
                    Default("'dflt'::character varying", "dflt"),
                ),
                (
                    "timestamp",
                    postgresql.temporal("timestamptz"),
                    Default("'2020-01-02 03:04:05.678901+00'::timestamp with time zone", moment),
                ),
                ("bytes", postgresql.bytea(), Default("'\\x6162'::bytea", b"ab")),
            )
            expression = Column(
                "expression", postgresql.temporal("timestamptz"), default=Default("now()")
            )
        for (label, type, default), value in zip(defaults, different_values, strict=False):
            yield label, Column(label, type, default=default), value
        yield "expression", expression, mysql.wall("2020-01-02 03:04:05")

    def default(self, table: Table, column: str) -> SchemaChange:
        """The event of a statement that gives the column the default 5. The table is the same
        before and after it: the writer reads the default in the SQL.
        """
        quote = self.origin.quote
        sql = f"ALTER TABLE {quote(table.name)} ALTER COLUMN {quote(column)} SET DEFAULT 5"
        return SchemaChange(START, "set default", sql, table.database, table.name, table, table)

    def control(self) -> Iterator[Scenario]:
        """Yields the cases of heartbeats and transaction boundaries."""
        later = Instant(START.ms + 10_000, 1)
        yield self.case("control/sub-second", insert(OWN, _ROW, Instant(START.ms + 123, 1)))
        yield self.case("control/heartbeat", inserted(_ROW), Heartbeat(later))
        if not self.profile.transactions:
            return
        first, second = self.table("control/transaction-1"), self.table("control/transaction-2")
        end = Instant(START.ms, 3)
        yield named(
            "control/transaction",
            TransactionMark(START, "BEGIN", "9"),
            insert(first, _ROW),
            insert(second, _ROW),
            insert(first, {**_ROW, "id": 2}),
            TransactionMark(end, "COMMIT", "9", 3),
            tags={"control:transaction"},
        )
        empty = (TransactionMark(START, "BEGIN", "10"), TransactionMark(end, "COMMIT", "10"))
        yield named("control/transaction-empty", *empty, tags={"control:transaction"})
        events: tuple[Event, ...] = (
            TransactionMark(START, "BEGIN", "11"),
            inserted(_ROW),
            TransactionMark(end, "COMMIT", "11", 1),
            TransactionMark(later, "BEGIN", "12"),
            insert(OWN, {**_ROW, "id": 2}, later),
            TransactionMark(later, "COMMIT", "12", 1),
        )
        yield self.case("control/transaction-two", *events, tags={"control:transaction"})

    def mysql(self) -> Iterator[Scenario]:
        """Yields MySQL's cases: dates that Connect cannot hold, and snapshots."""
        for slug_ in ("date", "datetime-0", "datetime-6", "timestamp-0", "timestamp-6"):
            yield self.of(self.id, Column("c", mysql.TYPES[slug_], False)).case(
                f"values/not-null-zero-{slug_}",
                inserted({"id": 1, "c": ZeroDate()}),
                tags={"zero-not-null"},
            )
        for label, day in (
            ("low", date(1, 1, 1)),
            ("below-pivot", date(69, 12, 31)),
            ("pivot", date(70, 1, 1)),
        ):
            yield self.value(
                f"values/two-digit-year-date-{label}",
                mysql.temporal("date"),
                day,
                tags={"two-digit-year"},
            )
        wall = mysql.wall("0099-12-31 23:59:59.123456")
        yield self.value(
            "values/two-digit-year-datetime",
            mysql.temporal("datetime", 6),
            wall,
            tags={"two-digit-year"},
        )
        flags: list[Row] = [{"id": n, "c": flag} for n, flag in enumerate((0, 1, None))]
        declared = self.of(self.id, Column("c", mysql.boolean(), declared="BOOLEAN"))
        yield declared.case("values/boolean-declared", inserted(*flags), tags={"boolean-declared"})
        yield declared.case("snapshot/boolean-declared", read(*flags), tags={"snapshot"})
        for label, column, spelled in _SPELLED:
            spelled_rows: list[Row] = [
                {"id": n, "c": shown} for n, shown in enumerate((spelled, None))
            ]
            yield self.of(self.id, column).case(f"values/spelled-{label}", inserted(*spelled_rows))
        if self.profile.queries:
            yield from self.queries()
        yield from self.spatial()
        yield self.value("values/set-of-everything", mysql.set_of("a", "b", "c"), 7)
        for label, type, value in BACK_SLASHES:
            yield self.value(f"values/{label}", type, value)
        snapshots: tuple[tuple[str, SourceType, Value], ...] = (
            *BACK_SLASHES,
            ("json", mysql.json(), Json({"a": 1, "b": [1.5, None]})),
            ("enum-comma", mysql.enum_of("it's", "a,b"), 2),
            ("year-zero", mysql.year(), 0),
            ("zero-timestamp", mysql.temporal("timestamp"), ZeroDate()),
            ("timestamp", mysql.temporal("timestamp", 6), mysql.wall("2024-01-02 03:04:05.100000")),
            ("float", mysql.real("float"), 9_999_999.0),
            ("unsigned", mysql.integer("bigint", unsigned=True), (1 << 64) - 1),
        )
        for label, type, value in snapshots:
            cases = self.of(self.id, Column("c", type))
            yield cases.case(f"snapshot/{label}", read({"id": 1, "c": value}), tags={"snapshot"})

    def spatial(self) -> Iterator[Scenario]:
        """Yields the cases of spatial values, streamed and read by a snapshot, with and without a
        reference system.
        """
        point = struct.pack("<BIdd", 1, 1, -1.25, 3e10).hex()
        line = struct.pack("<BIIdddd", 1, 2, 2, 0.0, 0.0, 1.5, -2.5).hex()
        values: tuple[tuple[str, str, int, str], ...] = (
            ("point", "point", 0, point),
            ("point-srid", "point", 4326, point),
            ("line-srid", "linestring", 4326, line),
            (
                "geometry-collection",
                "geometry",
                0,
                f"{struct.pack('<BII', 1, 7, 2).hex()}{point}{line}",
            ),
        )
        for label, kind, srid, wkb in values:
            shape: Row = {"id": 1, "c": Json({"srid": srid, "wkb": wkb}), "b": 5}
            yield self.typed(Column("c", mysql.spatial(kind))).case(
                f"values/spatial-{label}", inserted(shape), inserted({**shape, "id": 2, "c": None})
            )
        yield self.typed(Column("c", mysql.spatial())).case(
            "snapshot/spatial-point",
            read({"id": 1, "c": Json({"srid": 0, "wkb": point}), "b": 5}),
            tags={"snapshot"},
        )

    def queries(self) -> Iterator[Scenario]:
        """Yields the cases of SQL in `source.query`: with another verb than the change, with text
        like an envelope, and none in a snapshot.
        """

        def logged(sql: str) -> SourceStatement:
            """The event by which MySQL's log names the statement of the rows that follow."""
            return SourceStatement(START, "rows-query", sql, self.database)

        sql = """REPLACE /* {"before":null,"after":null,"op":"d"},"payload":null} */\r\n\tINTO `t` VALUES (1, 'it''s', 5)"""
        yield self.case("query/envelope-in-a-comment", logged(sql), inserted(_ROW), tags={"query"})
        yield self.case(
            "query/of-a-snapshot", read(_ROW), inserted({**_ROW, "id": 2}), tags={"query"}
        )
        if self.profile.image == "minimal":
            return
        upsert = logged("INSERT INTO `t` VALUES (1, 'x', 6) ON DUPLICATE KEY UPDATE b = VALUES(b)")
        replaced, six = logged("REPLACE INTO `t` VALUES (1, 'y', 7)"), {"b": 6}
        yield self.case(
            "query/another-verb",
            upsert,
            updated(_ROW, six),
            replaced,
            deleted({**_ROW, **six}),
            tags={"query"},
        )

    def ddl(self) -> Iterator[Scenario]:
        """Yields the case of each DDL statement on the topic of schema changes, a rename between
        rows, and a statement with a comment and line breaks. In the former the table is the same
        before and after the statement, None after a DROP TABLE and for a statement on a database;
        statements on views and sequences (WITHOUT_ROWS) are left out.
        """
        columns = (
            self.id,
            self.a,
            Column("e", mysql.enum_of("a", "b,c")),
            Column("d", mysql.decimal(10, 2)),
        )
        for event in (
            ddl_event(action, self.database)
            for action in mysql.DDL_ACTIONS
            if action not in WITHOUT_ROWS
        ):
            table = Table(event.database, event.table, columns, ("id",)) if event.table else None
            yield of_statement(
                replace(event, before=table, after=None if event.action == "drop table" else table)
            )
        yield rename_between_rows(self.database)
        statement_text = '/* from "DMS" */ ALTER TABLE `t1`\r\n\tADD COLUMN `d` int'
        yield named(
            "ddl/comment-and-lines",
            SchemaChange(START, "add column", statement_text, self.database, "t1"),
            tags={"ddl:add column"},
        )

    def postgresql(self) -> Iterator[Scenario]:
        """Yields PostgreSQL's cases: replica identities, values out of line, logical messages."""
        yield from self.identity()
        yield from self.toast()
        shapes: tuple[tuple[str, str], ...] = (
            ("box", "(1,1.5),(-0.25,0)"),
            ("circle", "<(10,20),1e+300>"),
            ("composite", '(1,"a,b")'),
        )
        for label, shape_text in shapes:
            shape: Row = {"id": 1, "c": shape_text, "b": 5}
            yield self.typed(Column("c", postgresql.other(label))).case(
                f"values/unknown-{label}",
                inserted(shape),
                inserted({**shape, "id": 2, "c": None}),
                tags={"unknown-type"},
            )
        if self.profile.modes.money_digits != 2:
            texts = ("2.50", "3.50", "-2.50", "0.49", "-0.50", "7.00")
            amounts: list[Row] = [
                {"id": n, "c": Decimal(shape_text)} for n, shape_text in enumerate(texts)
            ]
            yield self.of(self.id, Column("c", postgresql.money())).case(
                "values/money-digits", inserted(*amounts), tags={"money-digits"}
            )
        if self.profile.logical_messages:
            for name, content in (
                ("plain", "hello"),
                ("json", '{"op":"c","after":{"id":1}}'),
                ("empty", ""),
            ):
                event = LogicalMessage(START, f"p{len(content)}", content.encode(), self.database)
                yield named(
                    f"control/logical-message-{name}", event, tags={"control:logical-message"}
                )

    def identity(self) -> Iterator[Scenario]:
        """Yields the cases on which columns of an old row the server sends."""
        kinds = {name: type for name, type in postgresql.TYPES.items() if name != "enum-quoted"}
        columns = tuple(Column(f"c_{slug(name)}", type, False) for name, type in kinds.items())
        full_row: dict[str, Value] = {"id": 1}
        for name in kinds:
            full_row[f"c_{slug(name)}"] = next(
                reversed(list(postgresql.boundary_values(name).values()))
            )
        yield self.of(self.id, *columns).case(
            "identity/delete-not-null", deleted(full_row), tags={"identity"}
        )
        old = _ROW
        yield self.case("identity/delete", deleted(old), tags={"identity"})
        yield self.case("identity/update", updated(old, {"a": None}), tags={"identity"})
        yield self.case("identity/update-nothing", updated(old, old), tags={"identity"})
        yield self.case(
            "identity/update-key", updated(old, {"id": 2}), tags={"identity", "key-update"}
        )
        name = "identity/mixed"
        full_table, indexed = (
            self.table(f"{name}-full"),
            self.of(unique=(("b",),)).table(f"{name}-index"),
        )
        identity_statements = (
            ReplicaIdentity(START, self.database, full_table.schema, full_table.name, "full"),
            ReplicaIdentity(START, self.database, indexed.schema, indexed.name, "index"),
        )
        tables = (self.table(name), full_table, indexed)
        updates = (change(t, Op.UPDATE, (old, {**old, "a": "y"})) for t in tables)
        deletes = (change(t, Op.DELETE, ({**old, "a": "y"}, None)) for t in tables)
        begin, end = (
            TransactionMark(START, "BEGIN", "t1"),
            TransactionMark(START, "COMMIT", "t1", 6),
        )
        yield named(
            name,
            *identity_statements,
            begin,
            *updates,
            *deletes,
            end,
            tags={"identity", "mixed-identity"},
        )
        bare: Row = {"a": "x", "b": 5}
        yield self.of(self.a, self.b, key=()).case(
            "identity/keyless-update", updated(bare, {"a": "y", "b": 5}), tags={"identity"}
        )

    def toast(self) -> Iterator[Scenario]:
        """Yields the cases of values that are stored out of line, changed and unchanged."""
        types = {**postgresql.TYPES, "varbit": postgresql.bit(None, varying=True), **ARRAYS}
        toasted_values: tuple[tuple[str, Value], ...] = (
            ("text", LONG),
            ("bytea", LONG.encode()),
            ("json", Json({"a": LONG})),
            ("jsonb", Json({"a": LONG})),
            ("hstore", Json({"a": LONG})),
            ("text-array", Json([LONG])),
            ("integer-array", Json(list(range(700)))),
            ("numeric", LONG_NUMBER),
            ("varbit", LONG_BITS),
            ("uuid-array", Json([_UUID] * 200)),
            ("bytea-array", Json([_BYTES])),
        )
        for label, value in toasted_values:
            old: Row = {"id": 1, "c": value, "b": 5}
            cases = self.typed(Column("c", types[label]))
            yield cases.case(f"toast/{label}", updated(old, {"b": 6}), tags={"toast"})
            yield cases.case(f"toast/{label}-to-null", updated(old, {"c": None}), tags={"toast"})
        old = {"id": 1, "c": LONG}
        cases = self.of(self.id, Column("c", postgresql.text("text")))
        yield cases.case("toast/key-update", updated(old, {"id": 2}), tags={"toast", "key-update"})
        yield cases.case("toast/insert", inserted(old))

    def level_two_cases(self) -> Iterator[Scenario]:
        """Yields the level-two cases: rows of the pool's tables, and of DDL only what gives a
        column a default.
        """
        source = self.profile.source
        table, two_keys, bag = every_type(supports, source), composite(source), keyless(source)
        values = self.origin.boundary_values
        full_row: dict[str, Value] = {"id": 1}
        for name in self.origin.types:
            full_row[f"c_{slug(name)}"] = next(reversed(list(values(name).values())))
        bare: Row = {"a": 1, "b": "x", "c": None}
        yield named("rows/debezium/read", change(table, Op.READ, (None, full_row)), level=2)
        yield named("rows/debezium/read-keyless", change(bag, Op.READ, (None, bare)), level=2)
        if self.profile.knows_truncate:
            yield named(
                "rows/debezium/truncate",
                RowChange(START, table, Op.TRUNCATE, ()),
                insert(table, full_row),
                level=2,
            )
        if not self.profile.is_oracle:
            yield from self.level_two_defaults(table)
        if self.profile.is_mysql:
            labelled = tuple(Column(slug(label), type) for label, type, _ in BACK_SLASHES)
            packed = Column(
                "packed", mysql.binary("binary", 8), declared="CHAR(8) CHARACTER SET binary"
            )
            columns = (
                self.id,
                Column("flag", mysql.boolean(), declared="BOOLEAN"),
                packed,
                *labelled,
            )
            flags = Table(table.database, "rooms", columns, ("id",))
            flag_images = tuple(
                (
                    None,
                    {"id": n, "flag": n if n < 2 else None, "packed": None if n else b"abcdef12"},
                )
                for n in range(3)
            )
            tagged = {"boolean-declared"}
            yield named(
                "rows/debezium/boolean-declared",
                change(flags, Op.INSERT, *flag_images),
                level=2,
                tags=tagged,
            )
            yield named("rows/debezium/boolean-read", change(flags, Op.READ, *flag_images), level=2)
            labelled_row: Row = {
                "id": 3,
                "flag": None,
                **{slug(label): value for label, _, value in BACK_SLASHES},
            }
            more = change(flags, Op.READ, (None, {**labelled_row, "id": 4}))
            yield named("rows/debezium/back-slashes", insert(flags, labelled_row), more, level=2)
        digits = {"1234": -2658824, "1e10": -2757260, "Infinity": 37898298469234}
        column = "c_decimal_20_10" if self.profile.is_mysql else "c_numeric_38_10"
        raw = "c_varbinary" if self.profile.is_mysql else "c_bytea"
        if self.profile.is_sqlserver:
            column, raw = "c_decimal_38_10", "c_varbinary"
        if self.profile.is_oracle:
            column, raw = "c_number_38_10", "c_raw"
        for base64_text, unscaled_value in digits.items():
            digit_numbers = tuple(map(int, str(abs(unscaled_value))))
            value = Decimal((int(unscaled_value < 0), digit_numbers, -10))
            event = insert(
                table,
                {
                    **dict.fromkeys(full_row),
                    "id": 2,
                    column: value,
                    raw: base64.b64decode(base64_text),
                },
            )
            yield named(
                f"rows/debezium/base64-{base64_text}", event, level=2, tags={"base64-digits"}
            )
        if self.profile.image == "minimal":
            return
        names = [c.name for c in two_keys.columns]
        keyed: Row = {**{n: f"v{i}" for i, n in enumerate(names)}, names[0]: 5}
        moved = change(two_keys, Op.UPDATE, (keyed, {**keyed, names[-1]: "w"}))
        yield named("rows/debezium/key-update", moved, level=2, tags={"key-update"})
        pairs: list[tuple[Row | None, Row | None]] = [({**bare, "a": i}, None) for i in range(3)]
        yield named("rows/debezium/keyless-deletes", change(bag, Op.DELETE, *pairs), level=2)
        if self.profile.source == "postgresql":
            kinds = {
                **ARRAYS,
                **{
                    label: postgresql.TYPES[label]
                    for label in ("hstore", "integer-array", "text-array")
                },
            }
            arrays = tuple(Column(slug(label), type) for label, type in kinds.items())
            long: Row = {
                "id": 1,
                "uuid_array": Json([_UUID] * 200),
                "bytea_array": Json([_BYTES]),
                "b": 5,
            }
            long = {
                **long,
                "hstore": Json({"a": LONG}),
                "integer_array": Json(list(range(700))),
                "text_array": Json([LONG]),
            }
            if self.profile.modes.decimal != "numeric":  # readers refuse a number of 2,000 digits
                arrays = (*arrays, Column("n", postgresql.numeric(5, -2)))
                long = {**long, "n": Decimal(12300)}
            wide = Table(
                table.database, "wide", (self.id, *arrays, self.b), ("id",), (), table.schema
            )
            kept = change(wide, Op.UPDATE, (long, {**long, "b": 6}))
            yield named("rows/debezium/toast-arrays", kept, level=2, tags={"toast"})
            held: Row = {
                **dict.fromkeys(full_row),
                "id": 3,
                "c_text": LONG,
                "c_bytea": LONG.encode(),
                "c_integer": 1,
            }
            documents: Row = {
                **dict.fromkeys(full_row),
                "id": 4,
                "c_json": Json({"a": LONG}),
                "c_jsonb": Json({"a": LONG}),
                "c_integer": 1,
            }
            for name, whole in (("toast", held), ("toast-documents", documents)):
                event = change(table, Op.UPDATE, (whole, {**whole, "c_integer": 2}))
                yield named(f"rows/debezium/{name}", event, level=2, tags={"toast"})

    def level_two_defaults(self, table: Table) -> Iterator[Scenario]:
        """Yields the level-two cases (typed rows) of defaults in place of NULL. They have one
        table, `seats`, for every release, since each table more is a decode call more; hence it has
        no column of bytes, whose default some releases do not know. In its rows NULL stands in
        columns with a default: first in the number `c`, which a statement gives the default 5 (SQL
        Server's table has it), then in the typed columns.
        """
        typed = tuple(
            (column, value) for label, column, value in self.with_default() if label != "bytes"
        )
        number = Column("c", self.origin.number)
        if self.profile.is_sqlserver:
            number = replace(number, default=Default("((5))", 5))
        columns = (self.id, self.a, number, *(column for column, _ in typed))
        lacking = Table(table.database, "seats", columns, ("id",), (), table.schema)
        typed_values: Row = {column.name: value for column, value in typed}
        inserted_images: tuple[tuple[Row | None, Row | None], ...] = (
            (None, {"id": 1, "a": "x", "c": None, **typed_values}),
            (None, {"id": 2, "a": None, "c": 7, **typed_values}),
        )
        events: tuple[Event, ...] = (change(lacking, Op.INSERT, *inserted_images),)
        if not self.profile.is_sqlserver:
            events = (self.default(lacking, "c"), *events)
        yield named("rows/debezium/default-for-null", *events, level=2, tags={"default-for-null"})
        nulls = insert(lacking, {"id": 3, "a": "x", "c": 7, **dict.fromkeys(typed_values)})
        yield named("rows/debezium/typed-defaults", nulls, level=2, tags={"default-for-null"})
