"""The named cases that only TiCDC's Simple protocol has."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, updated
from generators.families.ticdc import scenarios as shared
from generators.families.ticdc.instants import MORE_DDL, at, declared_columns, noise
from generators.families.ticdc_simple.cache_cases import schemas
from generators.families.ticdc_simple.profiles import SimpleProfile
from generators.model import (
    Bootstrap,
    Column,
    Op,
    Row,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    Value,
    Watermark,
    ZeroDate,
)
from generators.sources import mysql
from generators.sources.boundaries import (
    COMPOSITE,
    ID,
    KEYLESS,
    START,
    change,
    every_type,
    insert,
    named,
    neutral,
    scenario,
)
from generators.sources.ddl import ddl_event, of_statement

DOCUMENT_WATERMARK: Final = 447984124732375041
"""The watermark's commitTs in the documentation's sample."""


BASE64: Final = "base64-digits"
"""The tag of cases about base64, which only the JSON encoding has."""

_SEVERAL: Final = (("a",), ("b", "c"), ("c",))
"""Three unique keys: the first has a nullable column, the second has none, and the third is the
shortest without one, which identifies rows (the handle key).
"""
_ADDED: Final = Column("added", mysql.integer("int"))
_C: Final = Column("c", mysql.integer("int"))

_TABLES: Final[Mapping[str, tuple[tuple[Column, ...] | None, tuple[Column, ...] | None]]] = {
    "create table": (None, (ID, _C)),
    "create tables": (None, (ID, _C)),
    "recover table": (None, (ID, _C)),
    "create view": (None, (Column("a", mysql.integer("bigint"), nullable=False),)),
    "create sequence": (None, ()),
    "drop table": ((ID, _C), None),
    "drop view": ((Column("a", mysql.integer("bigint"), nullable=False),), None),
    "add column": ((ID, _C), (ID, _C, _ADDED)),
    "drop column": ((ID, _C), (ID,)),
    "modify column": ((ID, _C), (ID, Column("c", mysql.integer("bigint")))),
    "multi schema change": ((ID, _C), (ID, _ADDED)),
    "change column": ((ID, _C), (ID, Column("d", mysql.integer("bigint")))),
}
"""The columns of a statement's table before and after it, by action, None where there is no table;
at any other action it has `id` and `c` before and after.
"""


def scenarios(profile: SimpleProfile, database: str) -> Iterator[Scenario]:
    """The named cases that only the Simple protocol has, as far as the profile can write them;
    level-one tables are in `database`.
    """
    cases = Cases(database)
    yield from _ddl(profile, database)
    yield named("control/watermark", Watermark(at(DOCUMENT_WATERMARK)), tags=("control",))
    yield named(
        "control/watermark-logical-zero", Watermark(replace(START, seq=0)), tags=("control",)
    )
    yield cases.of(ID, _C).case(
        "control/watermark-after-a-row",
        inserted({"id": 1, "c": 11}),
        Watermark(START),
        tags=("control",),
    )
    yield from _bootstraps(database)
    yield from schemas(database)
    yield from _keys(profile, database)
    yield from _types(profile, database)
    if profile.checksum:
        yield from _checksums(database)
    if profile.reduce:
        yield from _oversized(profile, database)


def _ddl(profile: SimpleProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases `ddl/...`: one statement for each DDL action, with the table before and
    after it, and tables with awkward names, defaults, a composite key or a hidden column.
    """
    for action, ddl in {**mysql.DDL_ACTIONS, **MORE_DDL}.items():
        event = ddl_event(action, database, ddl, name=f"ddl/{action}")
        if table := event.table:
            first, last = (
                (
                    columns
                    if columns is None
                    else Table(database, table, columns, ("id",) if ID in columns else ())
                )
                for columns in _TABLES.get(action, ((ID, _C), (ID, _C)))
            )
            if action in ("add primary key", "drop primary key"):
                bare = Table(database, table, (ID, _C))
                first, last = (bare, last) if action == "add primary key" else (first, bare)
            if first and (ddl.renames or action == "exchange partition"):
                first = replace(first, name=f"{table}_b")
            event = replace(event, before=first, after=last)
        yield of_statement(event)
    name = "ddl/awkward-text"
    awkward = Table(database, 'awk`ward <"t">&汉', (ID, _C), ("id",))
    sql = f"ALTER TABLE {mysql.quote(awkward.name)} COMMENT = '<b>&\"\\\\''\u2028'"
    event = SchemaChange(START, "table comment", sql, database, awkward.name, awkward, awkward)
    if not profile.routed:  # a lone backslash stops TiCDC's router (ticdc#table-routing)
        yield named(name, event, tags=("ddl:awkward text",))
    name = "ddl/composite-key"
    key = (Column("b", mysql.integer("int"), False), Column("a", mysql.text("varchar", 64), False))
    keyed = Table(database, neutral(name), (*key, _C), ("a", "b"))
    sql = (
        f"CREATE TABLE {mysql.quote(keyed.name)} (`b` int NOT NULL, `a` varchar(64) NOT NULL, `c`"
        " int, PRIMARY KEY (`a`, `b`))"
    )
    yield named(
        name,
        SchemaChange(START, "create table", sql, database, keyed.name, after=keyed),
        tags=("ddl:composite key",),
    )
    yield from _defaults(database)
    name = "ddl/hidden-column"
    indexed = Table(database, neutral(name), (ID, Column("c", mysql.text("varchar", 30))), ("id",))
    declared = "`id` bigint NOT NULL, `c` varchar(30), PRIMARY KEY (`id`), KEY `e` ((lower(`c`)))"
    sql = f"CREATE TABLE {mysql.quote(indexed.name)} ({declared})"
    created = SchemaChange(START, "create table", sql, database, indexed.name, after=indexed)
    indexed_insert = insert(indexed, {"id": 1, "c": "X"}, at=replace(START, seq=9))
    yield named(name, created, indexed_insert, tags=("hidden-column",))


def _defaults(database: str) -> Iterator[Scenario]:
    """Yields the cases of CREATE TABLE with a default of every kind, `null` as a text
    (pingcap/tiflow#12191) among them.
    """
    kinds: dict[str, tuple[str, SourceType, str]] = {
        "int": ("int", mysql.integer("int"), "100"),
        "char": ("char(16)", mysql.text("char", 16), "'b'"),
        "null-text": ("varchar(64)", mysql.text("varchar", 64), "'null'"),
        "empty": ("varchar(64)", mysql.text("varchar", 64), "''"),
        "date": ("date", mysql.temporal("date"), "'2023-12-27'"),
        "timestamp": ("timestamp", mysql.temporal("timestamp"), "'2024-01-01 08:00:00'"),
        "now": ("timestamp", mysql.temporal("timestamp"), "CURRENT_TIMESTAMP"),
        "null": ("int", mysql.integer("int"), "NULL"),
        "bit": ("bit(8)", mysql.bit(8), "b'101'"),
    }
    for label, (declared, type, default) in kinds.items():
        name = f"default/{label}"
        table = Table(database, neutral(name), (ID, Column("c", type)), ("id",))
        sql = (
            f"CREATE TABLE `{table.name}` (`id` bigint NOT NULL, `c` {declared} DEFAULT {default},"
            " PRIMARY KEY (`id`))"
        )
        event = SchemaChange(START, "create table", sql, database, table.name, after=table)
        yield named(name, event, tags=("default", f"default:{label}"))


def _bootstraps(database: str) -> Iterator[Scenario]:
    """Yields the cases `bootstrap/...`: BOOTSTRAP messages of tables with each kind of key, with a
    column of every type, and with awkward names.
    """
    cases = Cases(database)
    string, number = mysql.text("varchar", 64), mysql.integer("int")
    for label, columns, key, unique in (
        ("plain", (ID, Column("c", string)), ("id",), ()),
        (
            "composite-key",
            (Column("b", number, False), Column("a", string, False), _C),
            ("a", "b"),
            (),
        ),
        ("unique", (Column("u", string, False), Column("v", number), _C), (), (("u",), ("u", "v"))),
        (
            "several-unique",
            (Column("a", number), Column("b", number, False), Column("c", string, False)),
            (),
            _SEVERAL,
        ),
        ("keyless", (Column("a", number),), (), ()),
        (
            "varchar-key",
            (Column("k", string, False), Column("u", number, False)),
            ("k",),
            (("u",),),
        ),
    ):
        yield cases.of(*columns, key=key, unique=unique).case(
            f"bootstrap/{label}", Bootstrap(START, OWN), tags=("bootstrap",)
        )
    everything = cases.of(*every_type(lambda _type: True).columns)
    yield everything.case("bootstrap/every-type", Bootstrap(START, OWN), tags=("bootstrap",))
    awkward = replace(COMPOSITE, database=database, name="boot`strap <&>")
    yield named("bootstrap/awkward-names", Bootstrap(START, awkward), tags=("bootstrap",))


def _keys(profile: SimpleProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases on UPDATEs of keys, on columns that the sink's selectors choose, and on old
    images with names that differ in case or without a key.
    """
    cases = Cases(database)
    yield from shared.key_updates(database)
    yield from shared.selected_columns(database, profile)
    string = mysql.text("varchar", 64)
    cased = (ID, Column("c", string), Column("C2", string), Column("C10", string))
    wide: Row = {"id": 1, "c": "x", "C2": "y", "C10": "z"}
    yield cases.of(*cased).case("old/name-case", updated(wide, {"C2": None}))
    bare: Row = {"a": 1, "b": "x", "c": None}
    yield scenario("old/rows/delete", change(KEYLESS, Op.DELETE, (bare, None)), level=2)


def _types(profile: SimpleProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases on types: unsigned integers around half of their range, doubles at which
    Go's form changes, declared types, zero dates, binaries whose Base64 looks like decimal or hex
    digits, and hours that occur twice.
    """
    cases = Cases(database)
    kinds = {
        n: mysql.integer(n, unsigned=True)
        for n in ("tinyint", "smallint", "mediumint", "int", "bigint")
    }
    half: dict[str, Value] = {"id": 1, **{n: (type.high or 0) >> 1 for n, type in kinds.items()}}
    over: dict[str, Value] = {
        "id": 1,
        **{n: ((type.high or 0) >> 1) + 1 for n, type in kinds.items()},
    }
    yield cases.of(ID, *(Column(n, type) for n, type in kinds.items())).case(
        "unsigned/update-across-half", updated(half, over), deleted(over)
    )
    reals = {
        "below": 1e-5,
        "low": 1e-4,
        "five": 123456.0,
        "six": 1e6,
        "seven": 1234567.0,
        "huge": 1e300,
    }
    yield cases.of(ID, *(Column(n, mysql.real("double")) for n in reals)).case(
        "float/go-thresholds", inserted({"id": 1, **reals}), tags=("float",)
    )
    yield shared.minus_zero(database)
    yield shared.doubles(database)
    type_columns = declared_columns(vectors=profile.vectors)
    event = inserted({"id": 1, **{n: value for n, (_, value) in type_columns.items()}})
    yield cases.of(ID, *(column for column, _ in type_columns.values())).case(
        "types/declared", Bootstrap(START, OWN), event
    )
    everything = every_type(lambda _type: True)
    empty: Row = {c.name: None for c in everything.columns} | {"id": 1}
    zero: Row = {
        **empty,
        "c_date": ZeroDate(),
        "c_datetime_6": ZeroDate(2024, 0, 0),
        "c_timestamp_3": ZeroDate(),
    }
    yield scenario(
        "zero-date/rows",
        insert(everything, zero),
        level=2,
        tags=frozenset({"boundary", "zero-date"}),
    )
    digits: Row = {
        **empty,
        "c_varbinary": base64.b64decode("12345678"),
        "c_blob": base64.b64decode("deadbeef"),
    }
    for label, op, pair in (
        ("insert", Op.INSERT, (None, digits)),
        ("delete", Op.DELETE, (digits, None)),
    ):
        tags = frozenset({"boundary", BASE64})
        yield scenario(
            f"base64-digits/rows/{label}", change(everything, op, pair), level=2, tags=tags
        )
        kinds = {n: mysql.binary("varbinary", 16) for n in ("c_varbinary", "c_blob")}
        small = [image and {n: image[n] for n in ("id", *kinds)} for image in pair]
        yield cases.of(ID, *(Column(n, type) for n, type in kinds.items())).case(
            f"base64-digits/{label}", change(OWN, op, (small[0], small[1])), tags=tags
        )
    yield from shared.ambiguous_hours(
        profile.location if profile.location in shared.AMBIGUOUS else profile.deployment.time_zone
    )


def _checksums(database: str) -> Iterator[Scenario]:
    """Yields the cases `checksum/...`: an INSERT, an UPDATE and a DELETE of a row with a NULL, for
    profiles with checksums.
    """
    x: Row = {"id": 1, "a": "x", "b": None}
    columns = (ID, *(Column(n, mysql.text("varchar", 64)) for n in "ab"))
    for label, event in (
        ("insert", inserted(x)),
        ("update", updated(x, {"b": "y"})),
        ("delete", deleted(x)),
    ):
        yield Cases(database, columns).case(f"checksum/{label}", event, tags=("checksum",))


def _oversized(profile: SimpleProfile, database: str) -> Iterator[Scenario]:
    """Yields the cases of messages that are longer than the profile's limit, so that TiCDC sends
    less of them.
    """
    cases = Cases(database)
    columns = (ID, Column("a", mysql.text("varchar", 64)), Column("big", mysql.text("longtext")))
    big = noise(profile.max_message_bytes * 3 // 2)
    big_row: Row = {"id": 7, "a": None, "big": big}
    yield from shared.oversized_rows(profile.max_message_bytes, database)
    columns_ = (
        Column("a", mysql.integer("int")),
        Column("b", mysql.integer("int"), False),
        Column("c", mysql.text("varchar", 8), False),
    )
    yield cases.of(*columns_, columns[-1], key=(), unique=_SEVERAL).case(
        "reduced/several-unique",
        Bootstrap(START, OWN),
        inserted({"a": 1, "b": 2, "c": "k", "big": big}),
        tags=("reduced",),
    )
    yield cases.of(*columns).case(
        "reduced/bootstrap", Bootstrap(START, OWN), inserted(big_row), tags=("reduced",)
    )
    if profile.new_architecture:
        # the classic architecture refuses such a configuration (ticdc#simple-reduced-keyless)
        small: Row = {"a": "x", "big": big}
        for label, event in (("insert", inserted(small)), ("delete", deleted(small))):
            yield cases.of(*columns[1:], key=()).case(
                f"reduced/keyless-{label}", event, tags=("reduced-keyless",)
            )
    yield from shared.oversized_typed_rows(profile.max_message_bytes)
