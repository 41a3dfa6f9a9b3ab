"""Strategies: refused arguments, values that fit, consistent histories, plain minimal values,
reproducible draws.
"""

import dataclasses
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from generators import model
from generators.drawing import strategies as s
from generators.drawing import value_strategies as _values
from generators.drawing.histories import PLAIN_NAMES, ddl_text, draw_history
from generators.model import (
    Column,
    History,
    Instant,
    Logical,
    Op,
    RowChange,
    Scenario,
    SchemaChange,
    Table,
    Watermark,
    Written,
)
from generators.profiles import Choices, Profile
from generators.sources import boundaries, databases, mysql, postgresql
from generators.wire_format import Format, KindRow, get

INT = mysql.integer("int")
WIDE = boundaries.every_type(s.any_type)


def write(history: History, profile: Profile, layout: model.Layout) -> list[Written]:
    """One message per event; watermarks are not written by the first profile."""
    written = []
    for number, event in enumerate(history.events):
        if isinstance(event, Watermark) and profile.release == "1":
            continue
        text = f"{profile.name} {type(event).__name__} {event.at.ms}"
        written.append(
            Written(
                model.Message(layout.topic, 0, None, text.encode(), event=number),
                (model.Change(0, model.Kind.ROW),),
            )
        )
    return written


CHOICES = Choices(
    "toy", {name: Profile(name) for name in ("1", "2")}, {"wide": "Messages are wide."}
)
TOY = Format(
    name="toy",
    title="Toy",
    source="mysql",
    profiles=(Profile("1"), Profile("2", ("wide",))),
    write=write,
    kinds=(
        KindRow("row", "ROW"),
        KindRow("ddl", "DDL"),
        KindRow("mark", "WATERMARK"),
        KindRow("boot", "BOOTSTRAP"),
    ),
    position="none",
    scenarios=lambda _profile, _database: (),
    choices=CHOICES,
)
MIXED = dataclasses.replace(TOY, profiles=(Profile("my"), Profile("pg", source="postgresql")))
ROWS_ONLY = dataclasses.replace(TOY, kinds=(KindRow("row", "ROW"),))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: s.types(supports=3), "supports=3: expected a function"),
        (lambda: s.types(supports=lambda _: False), "accepts no type"),
        (lambda: s.columns(supports=lambda _: False), "accepts no type"),
        (lambda: s.values("int"), "kind='int': expected a SourceType"),
        (lambda: s.values(INT, nullable=1), "nullable=1: expected True or False"),
        (lambda: s.tables(database=""), "database='': expected a non-empty"),
        (lambda: s.tables(database=None), "database=None: expected a non-empty"),
        (lambda: s.tables(min_columns=0), "min_columns=0: expected an integer from 1 to 1017"),
        (lambda: s.tables(min_columns=True), "min_columns=True: expected an integer"),
        (
            lambda: s.tables(min_columns=4, max_columns=3),
            "max_columns=3: expected an integer from min_columns=4 to 1017",
        ),
        (lambda: s.tables(max_columns=1018), "max_columns=1018"),
        (lambda: s.tables(max_columns=2.0), r"max_columns=2\.0"),
        (lambda: s.tables(keyed="yes"), "keyed='yes': expected None, True or False"),
        (lambda: s.tables(keyed=1), "keyed=1: expected None, True or False"),
        (
            lambda: s.tables(keyed=True, supports=lambda k: k.name == "json"),
            "accepts no key-able type",
        ),
        (lambda: s.rows("t"), "table='t': expected a Table"),
        (lambda: s.rows(Table("d", "t", ())), "expected a Table with columns"),
        (lambda: s.row_changes(WIDE, max_rows=0), "max_rows=0: expected an integer from 1 to 1000"),
        (lambda: s.row_changes(None), "table=None"),
        (lambda: s.row_changes(WIDE, at=5), "at=5: expected an Instant"),
        (lambda: s.histories("ticdc-canal-jsn"), "Did you mean 'ticdc-canal-json'"),
        (lambda: s.histories(7), "fmt=7: expected a Format, or one of ticdc-canal-json"),
        (lambda: s.histories(TOY, max_events=0), "max_events=0"),
        (lambda: s.histories(TOY, database=""), "database=''"),
        (lambda: s.messages("alibaba-canal"), "Did you mean 'alibaba-canal-json'"),
        (lambda: s.messages(TOY, profile="2wide"), r"Did you mean '2\+wide'"),
        (lambda: s.messages(TOY, profile=Profile("3")), r"expected None, or one of 1, 2\+wide"),
        (lambda: s.scenarios(TOY, database=""), "database=''"),
        (lambda: s.row_scenarios(()), r"pool=\(\): expected at least one Table"),
        (lambda: s.row_scenarios((5,)), "table=5"),
        (lambda: s.types(source="db2"), "source='db2': expected one of mysql, postgresql"),
        (lambda: s.types(source=None), "source=None"),
        (lambda: s.columns(source="pg"), "source='pg'"),
        (lambda: s.tables(source="pg"), "source='pg'"),
        (
            lambda: s.tables(source="postgresql", supports=lambda k: k.source == "mysql"),
            "accepts no type of postgresql",
        ),
        (
            lambda: s.values(model.SourceType("int", Logical.INT, source="db2")),
            "source='db2'",
        ),
        (
            lambda: s.histories(TOY, source="postgresql"),
            "source='postgresql': expected None, or one that toy reads: mysql",
        ),
        (lambda: s.scenarios(MIXED, source="db2"), "one that toy reads: mysql, postgresql"),
        (lambda: s.draw(5, 1, 1), "strategy=5: expected a Hypothesis strategy"),
        (lambda: s.draw(st.none(), -1, 1), "count=-1: expected an integer from 0"),
    ],
)
def test_bad_arguments(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        make()


@pytest.mark.parametrize("source", ["mysql", "postgresql"])
@settings(max_examples=125, deadline=None)
@given(st.data())
def test_drawn_values_fit(source: str, data: st.DataObject) -> None:
    kind = data.draw(s.types(source=source))
    value = data.draw(s.values(kind, nullable=True))
    assert kind.source == source
    assert databases.fits(kind, value)
    if isinstance(value, float):
        assert (
            (math.copysign(1, value) == 1 or value != 0)
            if source == "mysql"
            else not math.isnan(value)
        )
    if isinstance(value, str):
        value.encode("utf-8")
    assert data.draw(s.values(kind)) is not None


def test_pools_fit_and_start_plain() -> None:
    for family in (*_values.FAMILIES, *databases.POSTGRESQL.families):
        for kind in family[::7]:
            pool = _values.pool(kind)
            assert pool
            assert all(databases.fits(kind, value) and value is not None for value in pool)
            assert len({repr(value) for value in pool}) == len(pool)


@pytest.mark.parametrize(
    ("of", "slug"),
    [
        (mysql, "unsigned-bigint"),
        (mysql, "varchar"),
        (postgresql, "numeric"),
        (postgresql, "interval"),
    ],
)
def test_every_boundary_is_drawn(of: Any, slug: str) -> None:
    drawn = {repr(value) for value in s.draw(s.values(of.TYPES[slug]), 800, 4)}
    assert [
        label for label, value in of.boundary_values(slug).items() if repr(value) not in drawn
    ] == []


def test_every_type_of_postgresql_is_drawn() -> None:
    drawn = s.draw(s.types(source="postgresql"), 2_000, 1)
    assert {kind.name for kind in drawn} == {kind.name for kind in postgresql.TYPES.values()}
    assert postgresql.numeric() in drawn
    assert {kind.fsp for kind in drawn if kind.name == "timestamp"} == set(range(7))


def test_every_logical_type_is_drawn() -> None:
    drawn = s.draw(s.types(), 2_000, 1)
    assert {kind.logical for kind in drawn} == set(Logical)
    assert {kind.unsigned for kind in drawn} == {True, False}
    assert {kind.fsp for kind in drawn if kind.name == "datetime"} == set(range(7))
    assert max(len(kind.members) for kind in drawn) == 64


def test_the_domain_of_types_is_whole() -> None:
    kinds = {kind for family in _values.FAMILIES for kind in family}
    decimals = {(kind.precision, kind.scale) for kind in kinds if kind.name == "decimal"}
    assert decimals == {(p, c) for p in range(1, 66) for c in range(min(p, 30) + 1)}
    assert {kind.length for kind in kinds if kind.name == "bit"} == set(range(1, 65))
    assert {kind.length for kind in kinds if kind.name == "char"} == set(range(1, 256))
    assert {(k.name, k.unsigned, k.zerofill) for k in kinds if k.logical is Logical.INT} == {
        (name, unsigned, zerofill)
        for name in ("tinyint", "smallint", "mediumint", "int", "bigint")
        for unsigned, zerofill in ((False, False), (True, False), (True, True))
    }
    labels = [kind.members for kind in kinds if kind.members]
    assert all(
        len({label.casefold() for label in members}) == len(members) <= 64 for members in labels
    )
    assert not any("," in label for kind in kinds if kind.name == "set" for label in kind.members)


def test_each_type_of_a_group_has_a_number() -> None:
    assert (
        max(len(family) for source in databases.SOURCES.values() for family in source.families)
        <= _values.STEPS
    )
    groups = _values.type_groups(s.any_type, False)
    assert {_values.type_at(groups, n) for n in range(_values.STEPS * len(groups))} == {
        k for group in groups for k in group
    }


@given(s.names())
def test_names_are_legal(name: str) -> None:
    assert 1 <= len(name) <= 64
    assert not name.endswith(" ")
    assert max(name) <= "\uffff"


def test_about_half_of_the_names_are_plain() -> None:
    """In lists, since Hypothesis does not draw one name twice."""
    lists = s.draw(st.lists(s.names(), min_size=40, max_size=40), 20, 1)
    plain_count = sum(name in PLAIN_NAMES for names in lists for name in names)
    assert 0.48 < plain_count / 800 < 0.62


@pytest.mark.parametrize("source", ["mysql", "postgresql"])
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_tables(source: str, data: st.DataObject) -> None:
    table = data.draw(s.tables(min_columns=2, max_columns=5, source=source))
    assert 2 <= len(table.columns) <= 5
    assert table.schema == databases.source(source).schema
    for column in (*table.columns, data.draw(s.columns(source=source))):
        assert column.type.source == source
        assert source == "mysql" or len(column.name.encode()) <= 63
    assert len({column.name.casefold() for column in table.columns}) == len(table.columns)
    keys = [table.column(name) for name in table.handle_key]
    assert not any(column.nullable for column in keys) and all(
        _values.keyable(column.type) for column in keys
    )
    assert data.draw(s.tables(keyed=True, source=source)).primary_key
    assert data.draw(s.tables(keyed=False, source=source)).handle_key == ()


def test_every_kind_of_key_is_drawn() -> None:
    drawn = s.draw(s.tables(max_columns=3), 300, 2)
    assert {(len(table.primary_key), len(table.unique)) for table in drawn} == {
        (1, 0),
        (2, 0),
        (0, 1),
        (0, 0),
    }
    assert any(
        table.primary_key and table.columns[0].name not in table.primary_key for table in drawn
    )


def check_rows(change: RowChange) -> None:
    sides = {Op.INSERT: (False, True), Op.UPDATE: (True, True), Op.DELETE: (True, False)}[change.op]
    for images in change.rows:
        assert (images.before is not None, images.after is not None) == sides
        for row in (images.before, images.after):
            if row is not None:
                assert list(row) == [column.name for column in change.table.columns]
                for column in change.table.columns:
                    assert databases.fits(column.type, row[column.name])
                    assert column.nullable or row[column.name] is not None


@settings(max_examples=60, deadline=None)
@given(st.data(), s.tables())
def test_row_changes(data: st.DataObject, table: Table) -> None:
    change = data.draw(s.row_changes(table, max_rows=3))
    assert 1 <= len(change.rows) <= 3
    check_rows(change)
    for row in [data.draw(s.rows(table))]:
        assert set(row) == {column.name for column in table.columns}


def test_updates_change_little_and_swap_null() -> None:
    table = Table("d", "t", tuple(Column(f"c{i}", INT) for i in range(6)))
    updates = [c for c in s.draw(s.row_changes(table, max_rows=1), 400, 3) if c.op is Op.UPDATE]
    pairs = [
        (i.before, i.after)
        for c in updates
        for i in c.rows
        if i.before is not None and i.after is not None
    ]
    changed = [sum(before[name] != after[name] for name in before) for before, after in pairs]
    assert sum(1 for n in changed if n <= 2) > len(changed) / 2
    assert any(b[n] is None and a[n] is not None for b, a in pairs for n in b)
    assert any(b[n] is not None and a[n] is None for b, a in pairs for n in b)


def replay(history: History) -> None:
    """Follows a history as its source would: rows that are there, unique keys, growing instants."""
    live: dict[str, list[Any]] = {}
    last = Instant(0)
    for event in history.events:
        assert event.at > last
        last = event.at
        if isinstance(event, SchemaChange) and event.before and event.after:
            rows = live.pop(event.before.name, [])
            added = {c.name for c in event.after.columns} - {c.name for c in event.before.columns}
            live[event.after.name] = (
                []
                if event.action == "truncate table"
                else [{**r, **dict.fromkeys(added, 1)} for r in rows]
            )
        elif isinstance(event, RowChange):
            check_rows(event)
            rows = live.setdefault(event.table.name, [])
            for images in event.rows:
                if images.before is not None:
                    rows.remove(images.before)
                if images.after is not None:
                    rows.append(images.after)
            key = event.table.handle_key
            assert len({tuple(row[name] for name in key) for row in rows}) == len(rows) or not key


@settings(max_examples=80, deadline=None)
@given(s.histories(TOY, max_events=8))
def test_histories_are_consistent(history: History) -> None:
    assert 1 <= len(history.events) <= 8
    replay(history)


@settings(max_examples=80, deadline=None)
@given(s.histories(MIXED, max_events=8, source="postgresql"))
def test_histories_of_postgresql_are_consistent(history: History) -> None:
    replay(history)
    for event in history.events:
        if isinstance(event, SchemaChange):
            assert "`" not in event.sql.replace("`tick", "")
            assert event.action != "table charset"
        if isinstance(event, RowChange):
            assert {column.type.source for column in event.table.columns} == {"postgresql"}


@pytest.mark.parametrize("source", [None, "mysql", "postgresql"])
def test_scenarios_are_of_the_source_asked_for(source: str | None) -> None:
    drawn = s.draw(s.scenarios(MIXED, source=source), 100, 1)
    tables = [e.table for d in drawn for e in d.history.events if isinstance(e, RowChange)]
    assert {databases.of_table(table).name for table in tables} == {source or "mysql"}


def test_a_profile_writes_histories_of_its_source() -> None:
    def write_source(history: History, profile: Profile, layout: model.Layout) -> list[Written]:
        names = {
            databases.of_table(event.table).name
            for event in history.events
            if isinstance(event, RowChange | model.Bootstrap)
        }
        assert names == {profile.source}
        return write(history, profile, layout)

    fmt = dataclasses.replace(MIXED, write=write_source)
    drawn = s.draw(s.messages(fmt), 100, 1)
    assert {(record.message.value or b"").split()[0] for record in drawn} == {b"my", b"pg"}


def ten_values(type: model.SourceType) -> bool:
    return type == mysql.decimal(1, 0, unsigned=True)


@settings(max_examples=60, deadline=None)
@given(s.histories(dataclasses.replace(ROWS_ONLY, supports=ten_values), max_events=12))
def test_keys_stay_unique_when_drawn_keys_collide(history: History) -> None:
    replay(history)


def test_histories_have_the_kinds_of_the_format() -> None:
    def kinds(fmt: Format[Profile]) -> set[type]:
        return {
            type(event) for history in s.draw(s.histories(fmt), 300, 1) for event in history.events
        }

    assert kinds(TOY) == {RowChange, SchemaChange, Watermark, model.Bootstrap}
    assert kinds(ROWS_ONLY) == {RowChange}


def test_histories_have_two_tables_and_renames() -> None:
    drawn = s.draw(s.histories(TOY, max_events=8), 400, 1)
    assert any(len({e.table.name for e in h.events if isinstance(e, RowChange)}) > 1 for h in drawn)
    actions = {e.action for h in drawn for e in h.events if isinstance(e, SchemaChange)}
    assert actions == {
        "truncate table",
        "add column",
        "rename table",
        "table comment",
        "table charset",
    }


@pytest.mark.parametrize("source", ["sqlserver", "oracle"])
def test_no_column_is_added_twice_where_no_other_statement_is_drawn(source: str) -> None:
    fmt = get("debezium-json")
    for history in s.draw(s.histories(fmt, max_events=8, source=source), 60, 1):
        added = [e.table for e in history.events if isinstance(e, SchemaChange)]
        assert len(set(added)) == len(added)


@given(s.messages(TOY), s.messages(TOY, profile="2+wide"), s.messages(TOY, profile=TOY.profiles[0]))
def test_messages(some: Written, second: Written, first: Written) -> None:
    assert (some.message.value or b"").split()[0] in (b"1", b"2+wide")
    assert (second.message.value or b"").startswith(b"2+wide ")
    assert (first.message.value or b"").startswith(b"1 ")


@settings(max_examples=100, deadline=None)
@given(s.scenarios(TOY), s.row_scenarios(boundaries.pool(s.any_type)))
def test_scenarios(scenario: Scenario, row_scenario: Scenario) -> None:
    assert (scenario.level, row_scenario.level) == (1, 2)
    assert "drawn" in scenario.tags & row_scenario.tags
    (change,) = row_scenario.history.events
    assert isinstance(change, RowChange)
    check_rows(change)
    for event in scenario.history.events:
        if isinstance(event, RowChange):
            check_rows(event)


def test_wide_tables_get_few_values() -> None:
    counts = set()
    for scenario in s.draw(s.row_scenarios((WIDE,)), 200, 1):
        (change,) = scenario.history.events
        assert isinstance(change, RowChange)
        for row in (change.rows[0].before, change.rows[0].after):
            if row is not None:
                counts.add(sum(value is not None for name, value in row.items() if name != "id"))
    # Which numbers are drawn depends on the modules that are loaded.
    assert counts <= set(range(6))
    assert len(counts) >= 4


def table(name: str = "t", database: str = "old") -> Table:
    return Table(database, name, (Column("t", INT),))


def test_rename() -> None:
    at = Instant(1)
    rename_sql = ddl_text("rename table", "old", "t", "was")
    events = (
        RowChange(at, table(), Op.INSERT, ()),
        model.Bootstrap(at, table("b`")),
        SchemaChange(at, "rename table", rename_sql, "old", "t", table("was"), table(), "was"),
        SchemaChange(at, "odd", "ALTER TABLE `old`.`t` ADD `x` int", "old", "t"),
        SchemaChange(at, "alter database", ddl_text("alter database", "old", ""), "old"),
        model.SourceStatement(at, "rows-query", "INSERT INTO `t` VALUES (1)", "old", "t"),
        model.SourceStatement(at, "xa-commit", "XA COMMIT 1"),
        model.LogicalMessage(at, "t", b"t", "old"),
        model.ReplicaIdentity(at, "old", None, "t", "full"),
        Watermark(at),
    )
    renamed = s.rename(Scenario("n", History(events, 9), 1, frozenset({"x"})), "new", "_7")
    assert (renamed.name, renamed.tags, renamed.history.seed) == ("n", {"x"}, 9)
    assert renamed.history.events == (
        RowChange(at, table("t_7", "new"), Op.INSERT, ()),
        model.Bootstrap(at, table("b`_7", "new")),
        SchemaChange(
            at,
            "rename table",
            "RENAME TABLE `new`.`was_7` TO `new`.`t_7`",
            "new",
            "t_7",
            table("was_7", "new"),
            table("t_7", "new"),
            "was_7",
        ),
        SchemaChange(at, "odd", "ALTER TABLE `new`.`t_7` ADD `x` int", "new", "t_7"),
        SchemaChange(at, "alter database", "ALTER DATABASE `new` CHARACTER SET utf8mb4", "new"),
        model.SourceStatement(at, "rows-query", "INSERT INTO `t_7` VALUES (1)", "new", "t_7"),
        model.SourceStatement(at, "xa-commit", "XA COMMIT 1"),
        model.LogicalMessage(at, "t", b"t", "new"),
        model.ReplicaIdentity(at, "new", None, "t_7", "full"),
        Watermark(at),
    )


def test_a_renamed_table_keeps_within_the_limit_of_names() -> None:
    event = RowChange(Instant(1), table("n" * 64), Op.INSERT, ())
    altered = SchemaChange(
        Instant(2),
        "odd",
        f"ALTER TABLE `{'n' * 64}`",
        "old",
        "n" * 64,
        table("n" * 64),
        table("n" * 64),
    )
    row, ddl = s.rename(Scenario("n", History((event, altered))), "new", "_s7").history.events
    name = "n" * 61 + "_s7"
    assert isinstance(row, RowChange) and isinstance(ddl, SchemaChange)
    assert (row.table.name, ddl.table, ddl.sql) == (name, name, f"ALTER TABLE `{name}`")
    long = Table("old", "é" * 31, (Column("t", postgresql.integer()),), schema="public")
    (change,) = s.rename(
        Scenario("n", History((RowChange(Instant(1), long, Op.INSERT, ()),))), "new", "_s7"
    ).history.events
    assert isinstance(change, RowChange) and change.table.name == "é" * 30 + "_s7"


def test_a_drawn_comment_is_the_table_s() -> None:
    drawn = s.draw(s.histories(TOY, max_events=8), 400, 1)
    tables = [
        e.after
        for h in drawn
        for e in h.events
        if isinstance(e, SchemaChange) and e.action == "table comment"
    ]
    assert tables and all(after is not None and after.comment == 'it\'s "new"' for after in tables)


@pytest.mark.parametrize("action", databases.POSTGRESQL.drawn_ddl)
def test_rename_of_postgresql(action: str) -> None:
    def named(name: str, database: str) -> Table:
        return Table(database, name, (Column("t", postgresql.integer()),), schema="public")

    sql = ddl_text(action, "old", 't"', "was", "postgresql")
    event = SchemaChange(
        Instant(1), action, sql, "old", 't"', named("was", "old"), named('t"', "old"), "was"
    )
    (change,) = s.rename(Scenario("n", History((event,))), "new", "_7").history.events
    assert isinstance(change, SchemaChange)
    assert change.sql == sql.replace('"t"""', '"t""_7"').replace('"was"', '"was_7"')
    assert change.after == named('t"_7', "new")
    odd = dataclasses.replace(event, action="odd", sql='GRANT ALL ON "public"."t""" TO "x"')
    (change,) = s.rename(Scenario("n", History((odd,))), "new", "_7").history.events
    assert isinstance(change, SchemaChange)
    assert change.sql == 'GRANT ALL ON "public"."t""_7" TO "x"'


@pytest.mark.parametrize("source", ["mysql", "postgresql"])
def test_renamed_scenarios_share_no_table(source: str) -> None:
    seen: set[tuple[str, str]] = set()
    quote = databases.source(source).quote
    for number, scenario in enumerate(s.draw(s.scenarios(MIXED, source=source), 100, 5)):
        names = set()
        for event in s.rename(scenario, "db", f"_{number}").history.events:
            if isinstance(event, RowChange):
                names.add((event.table.database, event.table.name.casefold()))
            elif isinstance(event, SchemaChange):
                names |= {
                    ("db", event.table.casefold()),
                    ("db", (event.old_name or event.table).casefold()),
                }
                assert quote(event.table)[1:] in event.sql
        assert not names & seen
        seen |= names


def smallest(
    strategy: st.SearchStrategy[Any],
    condition: Callable[[Any], bool] = lambda _: True,
    most: int = 100,
) -> Any:
    return find(
        strategy,
        condition,
        settings=settings(
            database=None, deadline=None, max_examples=most, phases=(Phase.generate, Phase.shrink)
        ),
    )


@pytest.mark.parametrize(
    "slug", {kind.logical: slug for slug, kind in mysql.TYPES.items()}.values()
)
def test_values_shrink_to_null_zero_or_empty(slug: str) -> None:
    kind = mysql.TYPES[slug]
    assert smallest(s.values(kind, nullable=True)) is None
    plain = smallest(s.values(kind))
    assert plain in {Logical.ENUM: (1,), Logical.TIMESTAMP: (mysql.TIMESTAMP_MIN,)}.get(
        kind.logical, (0, "", b"")
    ) or str(plain) in ("1970-01-01", "Json(value=0, text='')")


@pytest.mark.parametrize(
    ("slug", "plain"),
    [
        *(
            ("integer", 0),
            ("numeric", 0),
            ("money", 0),
            ("double-precision", 0.0),
            ("boolean", 0),
            ("char", "a" * 16),
        ),
        *(
            ("text", ""),
            ("bytea", b""),
            ("timestamptz-6", 0),
            ("enum", "ok"),
            ("uuid", "00000000-0000-0000-0000-000000000000"),
        ),
    ],
)
def test_values_of_postgresql_shrink(slug: str, plain: object) -> None:
    kind = postgresql.TYPES[slug]
    assert smallest(s.values(kind, nullable=True)) is None
    assert smallest(s.values(kind)) == plain


def test_everything_shrinks_to_the_plain() -> None:
    plain = Table("drawn", "t", (Column("c0", INT, nullable=False),), ("c0",))
    assert smallest(s.types()) == INT
    assert smallest(s.names()) == "a"
    assert smallest(s.columns()) == Column("a", INT)
    assert smallest(s.tables()) == plain
    assert smallest(s.tables(keyed=False)) == Table("drawn", "t", (Column("c0", INT),))
    assert smallest(s.rows(plain)) == {"c0": 0}
    insert = boundaries.insert(plain, {"c0": 0})
    assert smallest(s.row_changes(plain)) == insert
    assert smallest(s.histories(TOY)).events == (insert,)
    assert smallest(s.scenarios(TOY)).history == History((insert,))
    assert smallest(s.messages(TOY)).message.value == b"1 RowChange 1700000000000"


def test_a_column_of_interest_keeps_the_rest_plain() -> None:
    shrunk = smallest(
        s.tables(), lambda t: any(column.type.name == "json" for column in t.columns), 2_000
    )
    # Shrinking ends in either, as JSON cannot be a key.
    assert shrunk.columns in (
        (Column("c0", INT, nullable=False), Column("c1", mysql.json())),
        (Column("c0", mysql.json()),),
    )


def test_draw_is_exact_reproducible_and_reports() -> None:
    counts: list[int] = []
    first = s.draw(s.scenarios(TOY), 250, 11, progress=counts.append)
    assert len(first) == 250
    assert counts == [100, 200]
    assert repr(s.draw(s.scenarios(TOY), 250, 11)) == repr(first)
    assert repr(s.draw(s.scenarios(TOY), 250, 12)) != repr(first)


def test_draw_gives_the_count_though_the_strategy_has_fewer() -> None:
    assert s.draw(st.sampled_from("ab"), 5, 0).count("a") >= 1
    assert len(s.draw(st.sampled_from("ab"), 5, 0)) == 5
    assert s.draw(st.none(), 0, 0) == []


def test_draw_fails_when_nothing_can_be_drawn() -> None:
    def refuse(value: int) -> int:
        assume(value < 0)
        return value

    with pytest.raises(Exception, match="Unable to satisfy assumptions"):
        s.draw(st.integers(0, 9).map(refuse), 3, 0)


def test_what_a_seed_draws_does_not_depend_on_the_modules_that_are_loaded(tmp_path: Path) -> None:
    """Hypothesis draws constants of the source of local modules, too."""
    (tmp_path / "odd.py").write_text(
        "A, B = 'an odd text', 918_273_645\nC = [71.25, b'odd bytes', 'another']\n", "utf-8"
    )
    program = (
        "from hypothesis import strategies as st; from generators.drawing import strategies as s; "
        "print(s.draw(st.tuples(st.text(), st.integers(), st.floats(allow_nan=False), st.binary()), 60, 3))"
    )
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(s.__file__).parents[2]}"}
    drawn = set()
    for first in ("", "import odd; "):
        command = [sys.executable, "-c", first + program]
        drawn.add(
            subprocess.run(
                command, env=env, cwd=tmp_path, capture_output=True, text=True, check=True
            ).stdout
        )
    assert len(drawn) == 1


def test_a_source_without_comments_draws_a_row_where_it_can_add_no_column():
    @st.composite
    def drawn(draw):
        return draw_history(draw, get("debezium-json"), "d", 12, databases.SQLSERVER)

    statements = [
        [event.action for event in history.events if isinstance(event, SchemaChange)]
        for history in s.draw(drawn(), 400, 5)
    ]
    assert {action for actions in statements for action in actions} == {"add column"}


@pytest.mark.parametrize("name", ["mysql", "postgresql", "sqlserver", "oracle"])
def test_every_type_that_is_drawn_has_values(name):
    types = [type for family in databases.source(name).families for type in family]
    assert len(types) > 20
    assert [databases.source(name).declared(type) for type in types if not _values.pool(type)] == []
