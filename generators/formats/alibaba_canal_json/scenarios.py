"""The named cases that only Canal's flat message has."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, updated
from generators.families.java_text import Escapes
from generators.formats.alibaba_canal_json.profiles import (
    STATEMENT_TYPES,
    CanalProfile,
    ddl_type,
)
from generators.model import (
    CanalRestart,
    Column,
    Instant,
    Json,
    Op,
    Row,
    RowChange,
    Scenario,
    SchemaChange,
    SourceStatement,
    SourceType,
    StatementFamily,
    Table,
    Value,
)
from generators.sources import mysql
from generators.sources.boundaries import (
    COMPOSITE,
    ID,
    KEYLESS,
    START,
    change,
    insert,
    named,
    neutral,
    one_column,
)
from generators.sources.ddl import ddl_event, ddl_name, of_statement, rename_between_rows

_STRING: Final = mysql.text("varchar", 64)
_SPELLINGS: Final[Mapping[str, tuple[tuple[str, SourceType, Value], ...]]] = {
    "integers": (
        ("TINYINT UNSIGNED", mysql.integer("tinyint", unsigned=True), 255),
        ("SMALLINT", mysql.integer("smallint"), -32_768),
        ("INTEGER", mysql.integer("int"), -5),
        ("INT UNSIGNED", mysql.integer("int", unsigned=True), (1 << 32) - 1),
        ("int", mysql.integer("int"), 7),
        ("BIGINT UNSIGNED", mysql.integer("bigint", unsigned=True), (1 << 64) - 1),
        ("INT(8) UNSIGNED ZEROFILL", replace(mysql.integer("int", zerofill=True), length=8), 42),
        ("BOOL", mysql.boolean(), 1),
        ("BOOLEAN", mysql.boolean(), 0),
    ),
    "decimals": (
        (
            "numeric(20,10) unsigned",
            mysql.decimal(20, 10, unsigned=True),
            Decimal("1234567890.0123456789"),
        ),
        ("DECIMAL(10, 2)", mysql.decimal(10, 2), Decimal("-1.50")),
        (
            "decimal(5,0) zerofill",
            replace(mysql.decimal(5, 0, unsigned=True), zerofill=True),
            Decimal(42),
        ),
        ("decimal", mysql.decimal(10, 0), Decimal(-7)),
        ("fixed(18,9)", mysql.decimal(18, 9), Decimal("0.000000001")),
        ("dec(20,6)", mysql.decimal(20, 6), Decimal("-1.000001")),
    ),
    "floats": (
        ("FLOAT", mysql.real("float"), -1.5),
        ("float unsigned", mysql.real("float", unsigned=True), 1.5),
        ("float(7,2)", mysql.real("float", precision=7, scale=2), 1.25),
        ("DOUBLE PRECISION", mysql.real("double"), 0.1),
        ("REAL", mysql.real("double"), -0.1),
        ("double(20,4)", mysql.real("double", precision=20, scale=4), 1e10),
        (
            "double unsigned zerofill",
            replace(mysql.real("double", unsigned=True), zerofill=True),
            2.5,
        ),
        ("float(30)", mysql.real("double"), 1e-7),
    ),
    "texts": (
        ("nvarchar(20)", mysql.text("varchar", 20), "汉字 é"),
        ("MEDIUMTEXT", mysql.text("mediumtext"), "汉字 é"),
        ("ENUM('one', 'two')", mysql.enum_of("one", "two"), 2),
    ),
    "binaries": (
        ("VARBINARY(600)", mysql.binary("varbinary", 600), b"a\xff\x00"),
        ("LONGBLOB", mysql.binary("longblob"), b"\x80"),
        ("BINARY", mysql.binary("binary", 1), b"\xe9"),
        ("bit", mysql.bit(1), 1),
        ("BIT(8)", mysql.bit(8), 0xA5),
    ),
    "times": (
        ("DATETIME(3)", mysql.temporal("datetime", 3), mysql.wall("2024-02-29 23:59:59.123")),
        ("TIME(6)", mysql.temporal("time", 6), -1),
        ("year", mysql.year(), 2155),
    ),
}
"""Types as statements spell them, of which Canal's messages were recorded (canal#live-spelling):
each with a value.
"""

_EVERY_SPELLING: Final = tuple(itertools.chain.from_iterable(_SPELLINGS.values()))
"""The types of all groups as statements spell them, each with its type and a value."""
_ABC: Final = (ID, Column("a", _STRING), Column("b", _STRING))
"""The columns of most cases."""


def scenarios(profile: CanalProfile, database: str) -> Iterator[Scenario]:
    """Every named case of this format alone that the profile can write. `database` is that of the
    tables of level one (cases whose values are compared as texts).
    """
    cases = Cases(database, _ABC)
    yield from _ddl(profile, cases)
    yield from _control(cases)
    yield from _old(profile, cases)
    yield from _images(cases)
    yield from _envelope(profile, cases)
    yield from _values(profile, cases)
    yield from _names(cases)
    yield from _typed_rows()


def _ddl(profile: CanalProfile, cases: Cases) -> Iterator[Scenario]:
    """Yields the DDL cases: a rename between rows, one statement for each action to which the
    profile gives a type, and statements in unusual spellings.
    """
    yield rename_between_rows(cases.database)
    for action in mysql.DDL_ACTIONS:
        if ddl_type(action, profile) is not None:
            event = ddl_event(action, cases.database)
            yield of_statement(
                replace(
                    event, before=Table(event.database, neutral(ddl_name(action)), _ABC, ("id",))
                )
            )
    for name, action, table, sql in (
        ("ddl/drop-two-tables", "drop table", "t1", "DROP TABLE `t1`,`t2`"),
        ("ddl/rename-two-tables", "rename table", "t3", "RENAME TABLE t4 TO t3, t5 TO t6"),
        ("ddl/alter-rename", "rename table", "t7", "ALTER TABLE t8 RENAME TO t7"),
        (
            "ddl/first-clause-index",
            "create index",
            "t9",
            "ALTER TABLE t9 ADD INDEX i (c), ADD COLUMN d int",
        ),
        (
            "ddl/convert-charset",
            "modify column",
            "t10",
            "ALTER TABLE t10 CONVERT TO CHARACTER SET utf8mb4",
        ),
        (
            "ddl/comment-and-lines",
            "add column",
            "t11",
            "/* Query from DMS */ ALTER TABLE `t11`\r\n\tADD COLUMN `d` int",
        ),
    ):
        yield named(
            name, SchemaChange(START, action, sql, cases.database, table), tags={f"ddl:{action}"}
        )
    where = f"{cases.database}_b"
    for name, statement in (
        ("ddl/create-database-if-not-exists", f"CREATE DATABASE IF NOT EXISTS `{where}`"),
        ("ddl/create-database-bare-name", f"CREATE DATABASE {where}"),
    ):
        yield named(
            name,
            SchemaChange(START, "create database", statement, where),
            tags={"ddl:create database"},
        )


def _control(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `control/...`: one for each family of statements that are no DDL (XA, DML as
    text, rows-query), and a rows-query in front of its row.
    """
    texts: dict[StatementFamily, str] = {
        "rows-query": "INSERT INTO t (id) VALUES (1)",
        "statement-insert": "INSERT INTO t (id, a) VALUES (1, 'it''s \"x\"')",
        "statement-update": "UPDATE t SET a = 'y' WHERE id < 5",
        "statement-delete": "DELETE FROM t WHERE id = 1",
        "xa-commit": "XA COMMIT X'6162',X'',1",
        "xa-rollback": "XA ROLLBACK X'6162',X'',1",
    }
    for family in STATEMENT_TYPES:
        name = f"control/{family}"
        table = "" if family.startswith("xa-") else neutral(name)
        yield named(
            name,
            SourceStatement(START, family, texts[family], cases.database, table),
            tags={f"control:{family}"},
        )
    statement = SourceStatement(
        START, "rows-query", "INSERT INTO t VALUES (1, 'x', 'k')", cases.database
    )
    yield cases.case(
        "control/rows-query-beside-its-row",
        statement,
        inserted({"id": 1, "a": "x", "b": "k"}),
        tags={"control:rows-query"},
    )


def _old(profile: CanalProfile, cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `old/...`: UPDATEs with NULLs and with rows that do not change, which Canal
    leaves out of `old` or writes as an empty element.
    """
    unchanged = {"old:misaligned" if profile.drops_empty_old else "old:empty"}
    first: Row = {"id": 1, "a": "x", "b": "k"}
    second: Row = {"id": 2, "a": "q", "b": None}
    third: Row = {"id": 3, "a": None, "b": "m"}
    changed = (first, {**first, "a": "y"}), (second, {**second, "b": "z"})
    for name, updates, tags in (
        ("old/cumulative", changed, {"old:cumulative"}),
        ("old/cumulative-three-rows", (*changed, (third, {**third, "id": 4})), {"old:cumulative"}),
        ("old/null-value", ((second, {**second, "b": "z"}),), set()),
        ("old/value-to-null", ((first, {**first, "b": None}),), set()),
        ("old/all-unchanged", ((first, first), (second, second)), unchanged),
        (
            "old/leading-unchanged",
            ((first, first), (second, {**second, "b": "z"}), (third, {**third, "b": "n"})),
            unchanged,
        ),
        (
            "old/trailing-unchanged",
            ((second, {**second, "b": "z"}), (first, first)),
            {"old:cumulative"},
        ),
    ):
        yield cases.case(name, change(OWN, Op.UPDATE, *updates), tags=tags)


def _images(cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `image/...`: INSERT, UPDATE and DELETE of a row with unset, large and binary
    columns, in tables with a primary, a composite, a unique or no key.
    """
    columns = (
        ID,
        Column("n", mysql.integer("int")),
        Column("t", mysql.text("text")),
        Column("d", mysql.binary("blob")),
        Column("j", mysql.json()),
    )
    long_row: Row = {"id": 1, "n": 5, "t": "long", "d": b"\x00\x01\x7f\x80\xff"}
    for name, event in (
        ("image/insert-unset-columns", inserted({"id": 1, "n": 5})),
        ("image/update-number", updated(long_row, {"n": 6})),
        ("image/update-text", updated(long_row, {"t": "longer"})),
        ("image/update-blob-to-null", updated(long_row, {"d": None})),
        ("image/update-key", updated(long_row, {"id": 2})),
        ("image/update-by-replace", change(OWN, Op.UPDATE, (long_row, {"id": 1, "n": 6}))),
        ("image/delete", deleted(long_row)),
    ):
        yield cases.of(*columns).case(name, event)
    for name, unique in (("image/keyless", ()), ("image/unique-key", (("id",),))):
        yield cases.of(*columns, key=(), unique=unique).case(
            name, updated(long_row, {"n": 6, "t": "longer"}), deleted(long_row)
        )
    plain: Row = {"id": 1, "a": "x", "b": "k"}
    yield cases.of(key=("id", "a")).case(
        "image/composite-key-part", updated(plain, {"a": "y"}), deleted(plain)
    )
    updates = (plain, {**plain, "id": 9}), ({**plain, "id": 2}, {**plain, "id": 2, "b": "z"})
    yield cases.case("image/key-then-value", change(OWN, Op.UPDATE, *updates))


def _envelope(profile: CanalProfile, cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `envelope/...` on batch ids, commit times, keys and GTIDs, and, if the
    profile chooses partitions by a hash of the key, `hash/...`.
    """
    keyed_row: Row = {"id": 1, "a": "x", "b": "k"}
    name = "envelope/shared-batch-id"
    first, second = cases.table(f"{name}-1"), cases.table(f"{name}-2")
    near, far = Instant(START.ms + 30, 2), Instant(START.ms + 5_000, 3)
    yield named(
        name,
        insert(first, keyed_row),
        insert(second, keyed_row, near),
        insert(first, {**keyed_row, "id": 2}, far),
    )
    times = [Instant(START.ms + ms, 1) for ms in (0, 5_000, 9_000, 10_000, 20_000)]
    inserts = [insert(OWN, {**keyed_row, "id": i}, at) for i, at in enumerate(times, 1)]
    again = CanalRestart(Instant(START.ms + 10_000))
    yield cases.case("envelope/batch-id-restarts", *inserts[:1], again, *inserts[1:])
    yield cases.case(
        "envelope/commit-time-seconds", insert(OWN, keyed_row, Instant(START.ms + 987, 1))
    )
    yield cases.of(key=(), unique=(("id",),)).case(
        "envelope/unique-key-only", inserted(keyed_row), deleted(keyed_row), tags={"keys:none"}
    )
    key_column = replace(ID, declared="bigint PRIMARY KEY")
    for end, key, is_kept in (
        ("primary-key", key_column, profile.keeps_dropped_key),
        ("key-of-the-table", ID, False),
    ):
        name = f"envelope/after-drop-{end}"
        keyed = cases.of(key, *_ABC[1:]).table(name)
        sql = f"ALTER TABLE {keyed.name} DROP PRIMARY KEY"
        drop = SchemaChange(
            START, "drop primary key", sql, cases.database, keyed.name, before=keyed
        )
        yield named(
            name,
            drop,
            insert(replace(keyed, primary_key=()), keyed_row),
            tags=set() if is_kept else {"keys:none"},
        )
    if profile.gtid is not None:
        yield cases.case("envelope/gtid", inserted(keyed_row), tags={"gtid"})
    if not profile.pk_hash:
        return
    for i in (1, 2, 3, 4):
        yield cases.case(f"hash/one-row-{i}", inserted({**keyed_row, "id": i}), tags={"hash"})
    spread = inserted(*({**keyed_row, "id": i} for i in range(1, 8)))
    yield cases.case("hash/rows-spread", spread, tags={"hash"})
    moves = tuple(
        ({**keyed_row, "id": i}, {**keyed_row, "id": i + 10, "a": "y"}) for i in range(1, 5)
    )
    yield cases.case("hash/update-moves-key", change(OWN, Op.UPDATE, *moves), tags={"hash"})
    equal: list[Row] = [{"id": i, "a": str(i), "b": str(i)} for i in range(1, 5)]
    yield cases.of(key=("a", "b")).case(
        "hash/equal-key-parts-cancel", inserted(*equal), tags={"hash"}
    )
    yield cases.of(key=()).case("hash/no-key", spread, tags={"hash", "keys:none"})


def _values(profile: CanalProfile, cases: Cases) -> Iterator[Scenario]:
    """Yields the cases `values/...`: unsigned numbers, negative TIMEs, TIMESTAMPs in a repeated
    hour, spatial values, types as users spell them, and control characters that the release leaves
    raw.
    """
    small, big = (mysql.integer(name, unsigned=True) for name in ("tinyint", "bigint"))
    name = "values/unsigned-codes-differ"
    updates = tuple(
        (None, {"id": i, "c": c}) for i, c in enumerate(((1 << 63) - 1, 1 << 63, (1 << 64) - 1, 0))
    )
    yield named(name, change(one_column(cases.database, name, big), Op.INSERT, *updates))
    full: Row = {"id": 1, "t": "x", "s": 3, "u": (1 << 64) - 1}
    yield cases.of(
        ID, Column("t", mysql.text("text")), Column("s", mysql.set_of("a", "b")), Column("u", big)
    ).case("values/null-code-last", inserted(full, {"id": 2}))
    hundred = (100 * 3600 + 62) * mysql.MICROS
    for fsp, label, value in (
        (0, "minus-hundred-hours", -hundred),
        (0, "hundred-and-one-hours", hundred + 3600 * mysql.MICROS),
        (1, "minus-tenth", -100_000),
        (2, "minus-hundredths", -120_000),
        (4, "minus-one-unit", -100),
        (6, "minus-hundred-hours", -hundred - 1),
    ):
        yield cases.value(f"values/time-{fsp}-{label}", mysql.temporal("time", fsp), value)
    for label, wall_clock in (
        ("first", "1991-09-14 16:30:00"),
        ("second", "1991-09-14 17:30:00"),
        ("after", "1991-09-14 18:30:00"),
    ):
        yield cases.value(
            f"values/timestamp-shanghai-overlap-{label}",
            mysql.temporal("timestamp"),
            mysql.wall(wall_clock),
        )
    for group, spellings in _SPELLINGS.items():
        spelling_row: Row = {
            "id": 1,
            **{f"c{i}": value for i, (_, _, value) in enumerate(spellings)},
        }
        yield cases.of(
            ID,
            *(
                Column(f"c{i}", type, declared=declared)
                for i, (declared, type, _) in enumerate(spellings)
            ),
        ).case(
            f"values/live-spelling-{group}",
            inserted(spelling_row, {**dict.fromkeys(spelling_row), "id": 2}),
        )
    spatial_values: tuple[tuple[str, int, bytes], ...] = (
        ("geometry", 4326, struct.pack("<BIdd", 1, 1, 1.0, 2.0)),
        ("point", 0, struct.pack("<BIdd", 1, 1, -1.5, 1e10)),
        ("linestring", 0, struct.pack("<BIIdddd", 1, 2, 2, 0.0, 0.0, 1.0, 1.0)),
        ("polygon", 0, struct.pack("<BIII8d", 1, 3, 1, 4, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0)),
    )
    spatial_row: Row = {
        "id": 1,
        **{kind: Json({"srid": srid, "wkb": wkb.hex()}) for kind, srid, wkb in spatial_values},
    }
    yield cases.of(ID, *(Column(kind, mysql.spatial(kind)) for kind, _, _ in spatial_values)).case(
        "values/spatial", inserted(spatial_row, {**dict.fromkeys(spatial_row), "id": 2})
    )
    live = Column("c", mysql.text("text"), declared="TEXT(100)")
    yield cases.of(ID, live).case(
        "values/live-text-as-blob", inserted({"id": 1, "c": "中文 é"}), tags={"live-blob"}
    )
    yield cases.of(ID, Column("c", big, declared="SERIAL")).case(
        "values/live-serial",
        inserted(*({"id": i, "c": c} for i, c in enumerate(((1 << 64) - 1, 1 << 63, 7)))),
    )
    yield cases.of(ID, Column("c", replace(small, length=1), declared="TINYINT(1) UNSIGNED")).case(
        "values/live-tinyint-unsigned",
        *(inserted({"id": i, "c": c}) for i, c in enumerate((255, 128, 127, None))),
    )
    live = Column("c", mysql.binary("binary", 8), declared="CHAR(8)")
    yield cases.of(ID, live).case(
        "values/live-character-binary", inserted({"id": 1, "c": b"a\xff\x80"}), tags={"live-binary"}
    )
    if profile.escapes is Escapes.FASTJSON2_RAW:
        for label, raw in (
            ("nul", "a\x00b"),
            ("vertical-tab", "\x0b"),
            ("unit-separator", "汉\x1f"),
        ):
            yield cases.value(f"values/raw-control-{label}", _STRING, raw, tags={"raw-control"})


def _names(cases: Cases) -> Iterator[Scenario]:
    """Yields the case of column names that releases change: a back-tick in the name of a key's
    column and of another one.
    """
    quoted_row: Row = {"k`": 1, "a``b": "x"}
    changed_row: Row = {**quoted_row, "a``b": None}
    yield cases.of(
        Column("k`", mysql.integer("int"), nullable=False), Column("a``b", _STRING), key=("k`",)
    ).case(
        "names/back-ticks",
        inserted(quoted_row),
        updated(quoted_row, changed_row),
        deleted(changed_row),
    )


def _typed_rows() -> Iterator[Scenario]:
    """Yields the level-two cases: rows of the pool's tables, without DDL."""
    names = [column.name for column in COMPOSITE.columns]
    string_row: Row = {**{name: f"v{i}" for i, name in enumerate(names)}, names[0]: 5}
    changed_row: Row = {**string_row, names[0]: 6, names[3]: None}
    cumulative: RowChange = change(
        COMPOSITE,
        Op.UPDATE,
        (string_row, {**string_row, names[1]: None}),
        (changed_row, {**changed_row, names[3]: "w"}),
    )
    yield named("rows/canal/cumulative", cumulative, level=2, tags={"old:cumulative"})
    bare: Row = {"a": 1, "b": "x", "c": None}
    mixed = change(
        KEYLESS, Op.UPDATE, (bare, bare), ({**bare, "a": 2}, {**bare, "a": 2, "b": None})
    )
    yield named("rows/canal/leading-unchanged", mixed, level=2)
    spelled = tuple(
        Column(f"c{i}", type, declared=declared)
        for i, (declared, type, _) in enumerate(_EVERY_SPELLING)
    )
    live = Table(COMPOSITE.database, "rooms", (ID, *spelled), ("id",))
    spelling_row: Row = {
        "id": 1,
        **{f"c{i}": value for i, (_, _, value) in enumerate(_EVERY_SPELLING)},
    }
    written = change(live, Op.UPDATE, ({**dict.fromkeys(spelling_row), "id": 1}, spelling_row))
    yield named("rows/canal/live-spelling", written, level=2)
    yield named(
        "rows/canal/many-deletes",
        change(KEYLESS, Op.DELETE, *(({**bare, "a": i}, None) for i in range(5))),
        level=2,
    )
