"""Named cases that TiCDC's Canal-JSON and its Simple protocol have alike."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from generators.families.cases import OWN, Cases, deleted, inserted, updated
from generators.families.ticdc.instants import MORE_DDL, RESTORED, at, declared_columns, noise
from generators.families.ticdc.sink import SinkProfile
from generators.model import Bootstrap, Column, Json, Op, Row, Scenario, SchemaChange, Watermark
from generators.sources import mysql
from generators.sources.boundaries import (
    ID,
    START,
    change,
    every_type,
    insert,
    named,
    neutral,
    scenario,
)
from generators.sources.ddl import ddl_event, of_statement, rename_between_rows

AMBIGUOUS: Final[Mapping[str, int]] = {
    "Asia/Shanghai": mysql.wall("1990-09-15 16:30:00"),
    "America/New_York": mysql.wall("2024-11-03 05:30:00"),
}
"""The first moment of two at which the clock shows the same time, in microseconds since 1970, by
time zone.
"""


def statements(
    database: str, profile: SinkProfile, actions: Collection[str] = ()
) -> Iterator[Scenario]:
    """The cases of DDL statements: one for each action of `actions`, or for every action if there
    are none. In any case there follow several tables in one statement, a rename between rows,
    awkward text, and a statement that TiDB prints otherwise than it was written.
    """
    for action, ddl in {**mysql.DDL_ACTIONS, **MORE_DDL}.items():
        if not actions or action in actions:
            yield of_statement(ddl_event(action, database, ddl, name=f"ddl/{action}"))
    name = "ddl/rename-two-tables"
    renamed = ((f"{neutral(name)}_{i}", f"{neutral(name)}_{i}b") for i in (1, 2))
    sql = f"RENAME TABLE {mysql.quote(database)}.`{{}}` TO {mysql.quote(database)}.`{{}}`"
    both = (
        SchemaChange(START, "rename table", sql.format(*pair), database, pair[1], old_name=pair[0])
        for pair in renamed
    )
    yield named(name, *both, tags=("ddl:rename table",))
    yield rename_between_rows(database)
    name = "ddl/awkward-text"
    table = 'awk`ward <"t">&汉'
    sql = f"ALTER TABLE {mysql.quote(table)} COMMENT = '<b>&\"\\\\''\u2028'"
    if not profile.routed:  # a lone backslash stops TiCDC's router (ticdc#table-routing)
        yield named(
            name,
            SchemaChange(START, "table comment", sql, database, table),
            tags=("ddl:awkward text",),
        )
    name = "ddl/restored"
    sql = RESTORED.format(table=neutral(name))
    yield named(
        name,
        SchemaChange(START, "create table", sql, database, neutral(name)),
        tags=("ddl:create table",),
    )


def key_updates(database: str) -> Iterator[Scenario]:
    """The cases of UPDATEs that change keys: of one column, and of rows that take each other's
    keys.
    """
    cases = Cases(database)
    string = mysql.text("varchar", 64)
    number = mysql.integer("int")
    tags = frozenset({"boundary", "key-update"})
    for label, key, unique in (
        *(("integer", ("n",), ()), ("varchar", ("s",), ()), ("unique", (), (("s",),))),
        ("nullable-unique", (), (("s",),)),
    ):
        nullable = label == "nullable-unique"
        columns = (
            Column("a", string),
            Column("s", string, nullable=nullable),
            Column("n", number, nullable=False),
        )
        first_row: Row = {"a": "x", "s": "k", "n": 1}
        yield cases.of(*columns, key=key, unique=unique).case(
            f"key-update/{label}", updated(first_row, {"s": "l", "n": 2}), tags=tags
        )
    pairs: tuple[tuple[Row, Row], ...] = tuple(
        ({"id": i, "a": f"v{i}"}, {"id": i + 1, "a": f"v{i}"}) for i in (1, 2, 3)
    )
    yield cases.of(ID, Column("a", string)).case(
        "key-update/shift", change(OWN, Op.UPDATE, *pairs), tags=tags
    )


def selected_columns(database: str, profile: SinkProfile) -> Iterator[Scenario]:
    """The cases of rows of a table with a column in the middle that column-selectors leave out of
    messages; none for a profile without column-selectors.
    """
    if not profile.selected:
        return
    columns = (
        ID,
        Column("hidden_a", mysql.text("varchar", 64)),
        Column("b", mysql.text("varchar", 64)),
    )
    first_row: Row = {"id": 1, "hidden_a": "x", "b": "y"}
    for label, event in (
        ("insert", inserted(first_row)),
        ("update", updated(first_row, {"b": None})),
        ("update-hidden", updated(first_row, {"hidden_a": None})),
        ("delete", deleted(first_row)),
    ):
        yield Cases(database, columns).case(
            f"selected/{label}", Bootstrap(START, OWN), event, tags=("selected",)
        )


def watermark(tso: int) -> Scenario:
    """The case of a watermark with this TSO (TiDB's timestamp), and no other event."""
    return named("control/watermark", Watermark(at(tso)), tags=("control",))


def declared_types(name: str, database: str, profile: SinkProfile, *tags: str) -> Scenario:
    """The case `name` of a row whose columns' declarations say more than the type's name: precision
    and scale, a vector, other character sets, a virtual column.
    """
    type_columns = declared_columns(vectors=profile.vectors)
    columns = (
        ID,
        *(column for column, _ in type_columns.values()),
        Column("w", mysql.integer("int"), generated="virtual"),
    )
    type_row: Row = {"id": 1, **{n: value for n, (_, value) in type_columns.items()}, "w": 2}
    return Cases(database, columns).case(name, inserted(type_row), tags=tags)


def minus_zero(database: str) -> Scenario:
    """The case of a row with a JSON document of numbers that JSON writers spell in several ways,
    among them -0.0.
    """
    document = {"z": -0.0, "<&>": "\u2029é", "a": [1e15, 1e-15, 12345678901234567890]}
    return Cases(database).value("json/minus-zero", mysql.json(), Json(document))


def doubles(database: str) -> Scenario:
    """The case of a row with a JSON document of numbers, among them doubles that Go and MySQL spell
    differently.
    """
    return Cases(database).value(
        "json/doubles", mysql.json(), Json([1.0, -0.0, 1e15, 1e21, 1e-7, 1e100, 2.5])
    )


def ambiguous_hours(zone: str) -> Iterator[Scenario]:
    """The level-two cases (judged by typed rows) of two TIMESTAMPs an hour apart at which the clock
    in the time zone shows the same time; none for a zone without such hours.
    """
    empty: Row = {column.name: None for column in every_type(lambda _: True).columns} | {"id": 1}
    # UTC has no equal hours.
    hours = (
        {"first": AMBIGUOUS[zone], "second": AMBIGUOUS[zone] + 3600 * mysql.MICROS}
        if zone in AMBIGUOUS
        else {}
    )
    for label, micros in hours.items():
        event = insert(every_type(lambda _: True), {**empty, "c_timestamp_0": micros})
        yield scenario(f"ambiguous-hour/rows/{label}", event, level=2)


def oversized_rows(max_message_bytes: int, database: str) -> Iterator[Scenario]:
    """The cases of rows whose messages are longer than `max_message_bytes`, so that TiCDC sends
    only their handle key (the columns that identify the row).
    """
    cases = Cases(database)
    tags = frozenset({"boundary", "reduced"})
    columns = (ID, Column("a", mysql.text("varchar", 64)), Column("big", mysql.text("longtext")))
    size = max_message_bytes * 3 // 2
    big, other_noise = noise(size), noise(size, 2)
    first_row: Row = {"id": 7, "a": None, "big": big}
    for label, event in (
        ("insert", inserted(first_row)),
        ("update", updated(first_row, {"big": other_noise})),
        ("update-small", updated({**first_row, "big": "x"}, {"big": "y"})),
        ("delete", deleted(first_row)),
    ):
        yield cases.of(*columns).case(f"reduced/{label}", event, tags=tags)
    yield cases.of(
        *columns[1:],
        Column("u", mysql.text("varchar", 8), nullable=False),
        key=(),
        unique=(("u",),),
    ).case("reduced/unique-handle", inserted({"a": "x", "big": big, "u": "k"}), tags=tags)


def oversized_typed_rows(max_message_bytes: int) -> Iterator[Scenario]:
    """The level-two cases (judged by typed rows) of rows whose messages are longer than
    `max_message_bytes`, so that TiCDC sends only their handle key (the columns that identify the
    row).
    """
    tags = frozenset({"boundary", "reduced"})
    big, other_noise = (noise(max_message_bytes * 3 // 2, seed) for seed in (1, 2))
    everything = every_type(lambda _: True)
    empty: Row = {c.name: None for c in everything.columns} | {"id": 7}
    for label, op, before, after in (
        ("insert", Op.INSERT, None, {**empty, "c_longtext": big}),
        ("update", Op.UPDATE, {**empty, "c_longtext": big}, {**empty, "c_longtext": other_noise}),
        ("delete", Op.DELETE, {**empty, "c_longtext": big}, None),
    ):
        yield scenario(
            f"reduced/rows/{label}", change(everything, op, (before, after)), level=2, tags=tags
        )
