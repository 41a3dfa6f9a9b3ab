"""The named cases that only Aliyun DTS Avro has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from generators.families.cases import OWN, Cases, deleted, inserted, read, updated
from generators.formats.aliyun_dts_avro.cells import CODECS, supports, wire_type
from generators.formats.aliyun_dts_avro.profiles import AliyunProfile
from generators.formats.aliyun_dts_avro.schema import SOURCE_TYPES
from generators.model import (
    Column,
    DtsOperation,
    DtsSetting,
    Event,
    Heartbeat,
    Instant,
    Logical,
    Op,
    Row,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    TransactionMark,
    Value,
    Watermark,
)
from generators.sources import databases, mysql
from generators.sources.boundaries import (
    START,
    change,
    every_type,
    id_column,
    insert,
    keyless,
    named,
    neutral,
)
from generators.sources.ddl import rename_between_rows

_ONE: Final[Row] = {"id": 1, "a": "x", "b": "k"}
_TWO: Final[Row] = {"id": 2, "a": "q", "b": None}
"""Two rows of the columns `id`, `a` and `b`, which most cases have."""
_BARE: Final[Row] = {"a": 1, "b": "x", "c": None}
"""A row of the pool's table without a key."""
_MOMENT: Final = mysql.wall("2024-01-02 03:04:05.678901")
"""A time with microseconds, for columns of timestamps."""


def scenarios(profile: AliyunProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone that the profile can write. `database` is that of the
    tables of level one (cases whose values are compared as texts).
    """
    cases = _Cases(profile, database)
    yield from cases.control()
    yield from cases.ddl()
    yield from cases.envelope()
    yield from cases.names()
    yield from cases.images()
    yield from cases.values()
    yield from cases.typed_rows()


def setting(**facts: Any) -> DtsSetting:
    """The event that changes the task's profile: from then on these facts have other values."""
    return DtsSetting(START, facts)


def operation(
    name: str, statement: str = "", database: str = "", at: Instant = START
) -> DtsOperation:
    """The event of a record whose operation no row, statement, transaction or heartbeat causes,
    such as CONTROL or RDB.
    """
    return DtsOperation(at, name, statement, database)


class _Cases(Cases):
    """The named cases of one profile; `abc` are the columns that most of them have."""

    def __init__(self, profile: AliyunProfile, database: str) -> None:
        self.profile, self.source = profile, databases.source(profile.source)
        string = self.source.string
        self.abc = (id_column(profile.source), Column("a", string), Column("b", string))
        super().__init__(database, self.abc, schema=self.source.schema)

    def control(self) -> Iterator[Scenario]:
        """Yields the cases `control/...`: transaction marks, heartbeats, checkpoints and records of
        other operations, alone, between rows, and with few fields set.
        """
        begin, commit, rollback, abort = (
            TransactionMark(Instant(START.ms, i), mark, "85")
            for i, mark in enumerate(("BEGIN", "COMMIT", "ROLLBACK", "ABORT"), 1)
        )
        yield named("control/begin", begin)
        yield named("control/commit", commit)
        yield named("control/empty-transaction", begin, commit)
        yield named("control/rollback", begin, rollback, tags={"control:undone"})
        yield named("control/abort", begin, abort, tags={"control:undone"})
        yield self.case("control/whole-transaction", begin, inserted(_ONE), inserted(_TWO), commit)
        yield named("control/heartbeat", Heartbeat(START), Heartbeat(Instant(START.ms + 10_987, 2)))
        yield named("control/checkpoint", Watermark(START))
        yield self.case(
            "control/checkpoint-between-rows", inserted(_ONE), Watermark(START), inserted(_TWO)
        )
        for name in ("FILL", "FINISH", "CONTROL", "RDB", "NOOP"):
            tag = "control:filler" if name == "NOOP" else "control:other"
            yield named(f"control/{name.lower()}", operation(name), tags={tag})
        command = '{"create":"c"}'
        yield named(
            "control/command",
            operation("COMMAND", command, self.database),
            tags={"control:command"},
        )
        yield self.case(
            "control/filler-between-rows",
            inserted(_ONE),
            operation("NOOP"),
            inserted(_TWO),
            tags={"control:filler"},
        )
        bare = setting(bare=True, processed=False)
        yield named("control/smallest-record", bare, operation("NOOP"), tags={"control:filler"})
        short = setting(short=True, processed=False)
        for label, event in (("begin", begin), ("commit", commit), ("heartbeat", Heartbeat(START))):
            yield named(f"control/short-{label}", short, event, tags={"control:short"})
        yield named("control/short-filler", short, operation("NOOP"), tags={"control:filler"})
        table = Table(
            self.database,
            "s",
            (id_column(self.profile.source),),
            ("id",),
            schema=self.source.schema,
        )
        yield named("control/short-row", short, insert(table, {"id": 1}))

    def ddl(self) -> Iterator[Scenario]:
        """Yields the DDL cases: a statement for each action of the source's DDL, a comment with
        line breaks, records with a table name or empty fields, and a column added between two rows.
        """
        quote = self.source.quote
        for action, ddl in self.source.ddl_actions.items():
            if "sequence" in action:
                continue  # MySQL has none
            name = f"ddl/{action.replace(' ', '-')}"
            table = neutral(name)
            where = f"{self.database}_{table}" if ddl.level == "database" else self.database
            sql = ddl.sql.format(db=quote(where), table=quote(table), other=quote(f"{table}_b"))
            event = SchemaChange(
                START, action, sql, where, "" if ddl.level == "database" else table
            )
            yield named(name, event, tags={f"ddl:{action}"})
        if self.profile.source == "mysql":
            yield rename_between_rows(self.database)
        sql = f"/* from a tool */ ALTER TABLE {quote('t1')}\r\n\tADD COLUMN d int"
        event = SchemaChange(START, "add column", sql, self.database, "t1")
        yield named("ddl/comment-and-lines", event)
        yield named("ddl/empty-fields", setting(fields_text=True), event, tags={"ddl:fields-text"})
        yield named("ddl/table-named", setting(ddl_table=True), event, tags={"ddl:table-named"})
        for label, meta in (("with", True), ("without", False)):
            name = f"ddl/columns-change-{label}-meta-version"
            narrow = self.table(name)
            wider = replace(
                narrow, columns=(self.abc[0], Column("n", self.source.number), *self.abc[1:])
            )
            added = SchemaChange(
                Instant(START.ms, 2),
                "add column",
                "ALTER TABLE t ADD COLUMN n int AFTER id",
                self.database,
            )
            events = (
                insert(narrow, _ONE),
                added,
                insert(wider, {**_TWO, "n": 7}, Instant(START.ms, 3)),
            )
            yield named(name, setting(meta_version=meta), *events, tags={"columns:change"})

    def envelope(self) -> Iterator[Scenario]:
        """Yields the cases `envelope/...`: commit times, repeated delivery, tables without keys or
        with hidden ones, a change of the schema's edition, positions and source types.
        """
        yield self.case(
            "envelope/commit-time-seconds", insert(OWN, _ONE, Instant(START.ms + 987, 1))
        )
        again = setting(one_id=True), inserted(_ONE), inserted(_ONE)
        yield self.case("envelope/delivered-twice", inserted(_ONE), *again, tags={"delivery:twice"})
        inserts = [inserted({**_ONE, "id": i}) for i in range(6)]
        yield self.of(key=()).case(
            "envelope/no-key", *inserts[:4], deleted(_ONE), tags={"keys:none"}
        )
        yield self.of(key=(), unique=(("a",),)).case(
            "envelope/unique-without-primary", inserted(_ONE), tags={"keys:none"}
        )
        yield self.of(unique=(("a",), ("b", "a"))).case("envelope/unique-beside-primary", *inserts)
        yield self.case(
            "envelope/key-tag-missing", setting(keys_told=False), inserted(_ONE), tags={"keys:none"}
        )
        hidden = setting(hidden=("id",))
        yield self.case("envelope/key-filtered-out", hidden, inserted(_ONE), tags={"keys:filtered"})
        other_setting = setting(born=not self.profile.born)
        yield self.case(
            "envelope/edition-changes",
            inserted(_ONE),
            other_setting,
            inserted(_TWO),
            tags={"edition:mixed"},
        )
        mark = TransactionMark(START, "BEGIN", "1")
        yield named(
            "envelope/edition-changes-between-marks",
            other_setting,
            mark,
            Heartbeat(START),
            operation("NOOP"),
            tags={"edition:mixed"},
        )
        yield self.case(
            "envelope/position-of-rows", inserted(*({**_ONE, "id": i} for i in range(1, 4)))
        )
        if not self.profile.options:
            for kind in SOURCE_TYPES:
                yield self.case(
                    f"envelope/source-{kind.lower()}",
                    setting(source_type=kind),
                    inserted(_ONE),
                    tags={"source-type"},
                )

    def names(self) -> Iterator[Scenario]:
        """Yields the cases `names/...`: databases, schemas, tables and columns with dots, quotes,
        back-slashes and Chinese characters in their names.
        """
        schema = self.source.schema
        dotted = {
            "table": Table(self.database, "a.b.c", self.abc, ("id",), schema=schema),
            "database": Table(f"{self.database}.a.b", "t", self.abc, ("id",), schema=schema),
            "only-dots": Table(f"{self.database}_a", "..", self.abc, ("id",), schema=schema),
        }
        if schema:
            dotted["schema"] = Table(self.database, "ab", self.abc, ("id",), schema="a.b")
        for label, table in dotted.items():
            yield named(f"names/dotted-{label}", insert(table, _ONE), tags={"names:dotted"})
        sql = "CREATE TABLE t (id int)"
        event = SchemaChange(START, "create table", sql, f"{self.database}.b.a", "t")
        yield named("names/dotted-database-of-ddl", event, tags={"names:dotted"})
        table = Table(self.database, "a\\b 汉字", self.abc, ("id",), schema=schema)
        yield named("names/backslash", insert(table, _ONE))
        columns = (
            id_column(self.profile.source),
            *(Column(n, self.source.string) for n in ('q"', "a.b", "c\\u002Ed", "汉")),
        )
        awkward_row: Row = {"id": 1, 'q"': "1", "a.b": "2", "c\\u002Ed": "3", "汉": "4"}
        yield self.of(*columns, key=("id", 'q"', "a.b", "c\\u002Ed", "汉")).case(
            "names/awkward-columns", inserted(awkward_row)
        )

    def images(self) -> Iterator[Scenario]:
        """Yields the cases `images/...`: snapshot rows, empty arrays for absent images, columns in
        changing order, filtered columns, columns that are not captured, and NULL beside an empty
        object.
        """
        yield self.case("images/init", read(_ONE, _TWO), tags={"init"})
        yield self.case(
            "images/init-before-changes", read(_ONE), updated(_ONE, {"a": "y"}), tags={"init"}
        )
        for label, event in (
            ("insert", inserted(_ONE)),
            ("delete", deleted(_ONE)),
            ("init", read(_ONE)),
        ):
            yield self.case(
                f"images/empty-array-{label}",
                setting(empty_images=True),
                event,
                tags={"images:empty"},
            )
        name = "images/columns-swapped"
        table = self.table(name)
        swapped = replace(table, columns=(self.abc[2], self.abc[0], self.abc[1]))
        events = insert(table, _ONE), insert(swapped, {**_ONE, "id": 2}, Instant(START.ms, 2))
        yield named(name, setting(table_order=True), *events, tags={"columns:change"})
        yield self.case(
            "images/columns-permuted",
            *(e for i in range(3) for e in (setting(order=i), inserted(_ONE))),
            tags={"columns:change"},
        )
        yield self.case("images/one-column-filtered-out", setting(hidden=("b",)), inserted(_ONE))
        for event in (inserted(_ONE), updated(_ONE, {"a": "y"}), deleted(_TWO)):
            yield self.case(f"images/not-captured-{event.op.lower()}", setting(unset=("b",)), event)
        source = self.profile.source
        columns = (
            *self.abc,
            *(Column(n, wire_type(f"empty-{n}", Logical.TEXT, source)) for n in ("none", "null")),
        )
        yield self.of(*columns).case(
            "images/three-states",
            inserted({"id": 1, "a": "x", "b": None, "none": "-", "null": "-"}),
            tags={"images:empty-object"},
        )
        yield self.of(*self.abc[1:], key=()).case(
            "images/every-column-null", inserted({"a": None, "b": None})
        )

    def values(self) -> Iterator[Scenario]:
        """Yields the cases `values/...`: values of types that only this format has, or that are
        rare.
        """
        for label, type, value in (
            _POSTGRESQL_VALUES if self.source is databases.POSTGRESQL else _MYSQL_VALUES
        ):
            yield self.value(f"values/{label}", type, value)

    def typed_rows(self) -> Iterator[Scenario]:
        """Yields the level-two cases: rows of the pool's tables, without DDL."""
        bag, source = keyless(self.profile.source), self.profile.source
        moment_row: Row = {**_BARE, "c": _MOMENT}
        control_events = (
            Heartbeat(START),
            Watermark(START),
            TransactionMark(START, "BEGIN", "85"),
            operation("NOOP"),
        )
        yield named("rows/aliyun/beside-control", *control_events, insert(bag, moment_row), level=2)
        yield named(
            "rows/aliyun/init", change(bag, Op.READ, (None, moment_row)), tags={"init"}, level=2
        )
        mixed: tuple[Event, ...] = (
            insert(bag, moment_row),
            setting(born=not self.profile.born),
            insert(bag, moment_row),
        )
        yield named("rows/aliyun/edition-changes", *mixed, tags={"edition:mixed"}, level=2)
        yield named(
            "rows/aliyun/not-captured", setting(unset=("b",)), insert(bag, moment_row), level=2
        )
        orders = (e for i in range(3) for e in (setting(order=i), insert(bag, moment_row)))
        yield named("rows/aliyun/columns-permuted", *orders, tags={"columns:change"}, level=2)
        yield named(
            "rows/aliyun/column-filtered-out",
            setting(hidden=("b",)),
            insert(bag, moment_row),
            level=2,
        )
        empty = (
            setting(empty_images=True),
            insert(bag, moment_row),
            change(bag, Op.DELETE, (moment_row, None)),
        )
        yield named("rows/aliyun/empty-arrays", *empty, tags={"images:empty"}, level=2)
        if not self.profile.options:
            for kind in SOURCE_TYPES:
                unit = "micros" if kind in ("MySQL", "PostgreSQL") else "nanos"
                other_setting = setting(source_type=kind, fraction=unit)
                yield named(
                    f"rows/aliyun/source-{kind.lower()}",
                    other_setting,
                    insert(bag, moment_row),
                    tags={"source-type"},
                    level=2,
                )
            physical = setting(source_type="PostgreSQL", fraction="nanos", physical=True)
            yield named(
                "rows/aliyun/source-postgresql-physical",
                physical,
                insert(bag, moment_row),
                tags={"source-type"},
                level=2,
            )
            looks = setting(source_type="MySQL", physical=True)
            yield named(
                "rows/aliyun/source-mysql-with-arrow",
                looks,
                insert(bag, moment_row),
                tags={"source-type"},
                level=2,
            )
        if source == "mysql":
            yield from self.charsets(bag)
        else:
            yield from self.offsets()

    def charsets(self, bag: Table) -> Iterator[Scenario]:
        """Yields a level-two case for each character set: INSERTs of its texts into the table
        `bag`, tagged with how well known the character set is.
        """
        for name, texts in _CHARSETS.items():
            if name in _COMMON:
                tag = "charset:known"
            else:
                tag = "charset:other" if name in CODECS else "charset:unknown"
            inserts = (
                insert(bag, {**_BARE, "b": value}, Instant(START.ms, i))
                for i, value in enumerate(texts, 1)
            )
            yield named(
                f"rows/aliyun/charset-{name or 'empty'}",
                setting(charset=name, charsets=()),
                *inserts,
                tags={tag},
                level=2,
            )

    def offsets(self) -> Iterator[Scenario]:
        """Yields level-two cases of PostgreSQL: timestamptz values at several UTC offsets, and
        infinite floating-point numbers.
        """
        table = every_type(supports, "postgresql")
        empty: Row = {c.name: None for c in table.columns} | {"id": 1}
        for minutes in (0, 60, 345, 840, -210, -720, -1):
            real_row: Row = {
                **empty,
                "c_timestamptz_6": _MOMENT,
                "c_timestamptz_0": _MOMENT // mysql.MICROS * mysql.MICROS,
            }
            name = f"rows/aliyun/offset-{'minus-' if minutes < 0 else ''}{abs(minutes)}"
            yield named(name, setting(offset=minutes), insert(table, real_row), level=2)
        # Level one has no text for it: JSON knows no such number.
        for label, infinite in (("plus", math.inf), ("minus", -math.inf)):
            real_row = {**empty, "c_real": infinite, "c_double_precision": infinite}
            yield named(f"rows/aliyun/infinity-{label}", insert(table, real_row), level=2)


_DECIMAL: Final = mysql.decimal(10, 2)
_POINT: Final = bytes.fromhex("000000000101000000000000000000f03f0000000000000040")
"""POINT(1 2) as MySQL stores it: an SRID of four bytes, then WKB."""

_MYSQL_VALUES: Final[tuple[tuple[str, SourceType, Value], ...]] = (
    ("decimal-of-the-dump", _DECIMAL, Decimal("348.00")),
    ("decimal-of-the-dump-two", _DECIMAL, Decimal("1050.00")),
    ("decimal-of-the-dump-one", _DECIMAL, Decimal("1.00")),
    ("decimal-below-one", _DECIMAL, Decimal("-0.05")),
    ("time-minus-one-second", mysql.temporal("time"), -mysql.MICROS),
    ("time-minus-tenth", mysql.temporal("time", 1), -100_000),
    ("time-minus-every-part", mysql.temporal("time", 6), -((3600 + 2 * 60 + 3) * mysql.MICROS + 4)),
    ("time-over-24h-fraction", mysql.temporal("time", 3), (100 * 3600 + 62) * mysql.MICROS + 5_000),
    (
        "datetime-fraction-of-a-tenth",
        mysql.temporal("datetime", 1),
        mysql.wall("2024-10-24 12:34:56.1"),
    ),
    (
        "timestamp-fraction-of-micros",
        mysql.temporal("timestamp", 6),
        mysql.wall("2024-10-24 04:34:56.000007"),
    ),
    ("enum-numeric-label", mysql.enum_of("2", "1", "x"), 1),
    ("set-numeric-label", mysql.set_of("4", "x", "1"), 4),
    ("text-like-none", mysql.text("varchar", 64), "NONE"),
    ("text-like-record", mysql.text("text"), '{"precision":4,"value":"1"}'),
    ("geometry", wire_type("geometry", Logical.BINARY), _POINT),
    ("geometry-text", wire_type("geometry-text", Logical.TEXT), "POINT(1 2)"),
    ("character-unknown-charset", wire_type("charset:unheard_of", Logical.TEXT), "hello"),
    ("character-latin1-high", wire_type("charset:latin1", Logical.TEXT), "€é"),
    ("character-gbk", wire_type("charset:gbk", Logical.TEXT), "汉字"),
)
"""Values that are cases of their own: the case's name, the column's type, the value."""

_POSTGRESQL_VALUES: Final[tuple[tuple[str, SourceType, Value], ...]] = (
    *(
        (f"numeric-{label}", wire_type("special-numeric", Logical.DECIMAL, "postgresql"), text)
        for label, text in (
            ("nan", "NaN"),
            ("infinity", "Infinity"),
            ("minus-infinity", "-Infinity"),
            ("tilde", "~"),
        )
    ),
    ("text-like-none", databases.POSTGRESQL.string, "NONE"),
)
"""Cases of PostgreSQL's texts: the case's name, the column's type, the value."""

_COMMON: Final = ("latin1", "gbk", "utf8mb4", "utf8mb3", "utf8", "ascii")
"""Character sets that a decoder is expected to know."""
_CHARSETS: Final[dict[str, tuple[str, ...]]] = {
    "latin1": ("plain", "é", "€ “quoted”", "ÿþ", ""),
    "gbk": ("plain", "汉字", "中文abc", "", "镕"),
    "utf8mb4": ("汉字", "😀"),
    "utf8mb3": ("汉字", "é"),
    "utf8": ("汉字", "é"),
    "ascii": ("plain",),
    "latin2": ("Łódź",),
    "cp1251": ("Привет",),
    "koi8r": ("Привет",),
    "gb2312": ("汉字",),
    "gb18030": ("汉字", "😀"),
    "big5": ("漢字",),
    "sjis": ("かな漢字",),
    "euckr": ("한글",),
    "ucs2": ("汉字 a",),
    "utf16": ("汉字 😀",),
    "utf32": ("汉字 😀",),
    "unheard_of": ("hello",),
    "": ("hello",),
}
"""Texts by the character set in which they are written; `unheard_of` and "" are none."""
