"""The deterministic cases that every MySQL-sourced format has: each type at its boundaries, each op, each shape of table.

Level-one scenarios have a table of their own each; level-two scenarios use the pool. Names are case ids' last part: never
reused, never renumbered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from generators import mysql
from generators.model import (
    Column,
    History,
    Instant,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
)

START = Instant(1_700_000_000_000, 1)
"""The virtual clock's start: 2023-11-14T22:13:20Z."""

BOUNDARY = frozenset({"boundary"})

POOL_DATABASE = "pool"

ID = Column("id", mysql.integer("bigint"), nullable=False)

AWKWARD_NAMES = ("order", "a b", "with`tick", 'dq"uote', "back\\slash", "汉字", "dot.ted", "MixedCase", "mixedcase2", "a<b>&c")
"""Column names that need escaping somewhere: SQL, JSON, JSON paths, HTML."""


def slug(name: str) -> str:
    """A table name made of a scenario's name."""
    return "".join(c if c.isalnum() else "_" for c in name)[:60]


@cache
def every_type(supports: Callable[[SourceType], bool]) -> Table:
    """The pool's table with a column for each supported type of `mysql.TYPES`, named `c_<type>`."""
    columns = tuple(Column(f"c_{slug(name)}", kind) for name, kind in mysql.TYPES.items() if supports(kind))
    return Table(POOL_DATABASE, "every_type", (ID, *columns), ("id",))


COMPOSITE = Table(
    POOL_DATABASE,
    "composite `key`",
    (
        Column(AWKWARD_NAMES[0], mysql.integer("int"), nullable=False),
        *(Column(name, mysql.text("varchar", 64)) for name in AWKWARD_NAMES[2:]),
        Column(AWKWARD_NAMES[1], mysql.text("varchar", 64), nullable=False),
    ),
    (AWKWARD_NAMES[1], AWKWARD_NAMES[0]),
)
"""The pool's table with a composite key, declared in another order than its columns, and names that need escaping."""

KEYLESS = Table(
    POOL_DATABASE,
    "keyless",
    (Column("a", mysql.integer("int")), Column("b", mysql.text("varchar", 64)), Column("c", mysql.temporal("datetime", 6))),
)
"""The pool's table without any key."""


def pool(supports: Callable[[SourceType], bool]) -> tuple[Table, ...]:
    """The level-two tables that every run has; a run adds one drawn table."""
    return (every_type(supports), COMPOSITE, KEYLESS)


def change(table: Table, op: Op, *rows: tuple[Row | None, Row | None], at: Instant = START) -> RowChange:
    """A row change from (before, after) pairs."""
    return RowChange(at, table, op, tuple(RowImages(before, after) for before, after in rows))


def insert(table: Table, row: Row, at: Instant = START) -> RowChange:
    """One inserted row."""
    return change(table, Op.INSERT, (None, row), at=at)


def scenario(name: str, *events: RowChange, level: int = 1, tags: frozenset[str] = BOUNDARY) -> Scenario:
    """A named scenario of row changes whose seed is derived from its name."""
    return Scenario(name, History(tuple(events), seed=sum(name.encode())), level, tags)


def one_column(database: str, name: str, kind: SourceType) -> Table:
    """A table of a key and one column `c`."""
    return Table(database, slug(name), (ID, Column("c", kind)), ("id",))


def type_values(supports: Callable[[SourceType], bool]) -> Iterator[tuple[str, SourceType, Mapping[str, Value]]]:
    """Each supported type with its boundary values, NULL among them."""
    for name, kind in mysql.TYPES.items():
        if supports(kind):
            yield name, kind, {"null": None, **mysql.boundary_values(name)}


def scenarios(database: str, supports: Callable[[SourceType], bool]) -> Iterator[Scenario]:
    """Every generic boundary case for a profile whose level-one tables live in `database`."""
    yield from _type_scenarios(database, supports)
    yield from _shape_scenarios(database)
    yield from _row_scenarios(supports)


def _type_scenarios(database: str, supports: Callable[[SourceType], bool]) -> Iterator[Scenario]:
    for name, kind, values in type_values(supports):
        for label, value in values.items():
            full = f"{name}/{label}"
            yield scenario(full, insert(one_column(database, full, kind), {"id": 1, "c": value}))
        sample = next(v for v in reversed(list(values.values())) if v is not None)
        row: Row = {"id": 1, "c": sample}
        bare: Row = {"id": 1, "c": None}
        for label, op, before, after in (
            ("update-to-null", Op.UPDATE, row, bare),
            ("update-from-null", Op.UPDATE, bare, row),
            ("delete", Op.DELETE, row, None),
        ):
            full = f"{name}/{label}"
            yield scenario(full, change(one_column(database, full, kind), op, (before, after)))


def _shape_scenarios(database: str) -> Iterator[Scenario]:
    number, string = mysql.integer("int"), mysql.text("varchar", 64)

    def table(name: str, *columns: Column, key: tuple[str, ...] = ("id",), unique: tuple[tuple[str, ...], ...] = ()) -> Table:
        return Table(database, slug(name), columns, key, unique)

    abc = (ID, Column("a", string), Column("b", string))
    x: dict[str, Value] = {"id": 1, "a": "x", "b": "k"}
    y: dict[str, Value] = {**x, "a": "y"}
    for name, op, pair in (
        ("shape/insert", Op.INSERT, (None, x)),
        ("shape/update-one-column", Op.UPDATE, (x, y)),
        ("shape/update-nothing", Op.UPDATE, (x, x)),
        ("shape/delete", Op.DELETE, (x, None)),
        ("shape/update-key", Op.UPDATE, (x, {**x, "id": 2})),
        ("shape/null-to-value", Op.UPDATE, ({**x, "a": None}, x)),
        ("shape/value-to-null", Op.UPDATE, (x, {**x, "a": None})),
        ("shape/all-null", Op.INSERT, (None, {"id": 1, "a": None, "b": None})),
    ):
        yield scenario(name, change(table(name, *abc), op, pair))
    name = "shape/multi-row-insert"
    yield scenario(name, change(table(name, *abc), Op.INSERT, (None, x), (None, {**x, "id": 2}), (None, {**x, "id": 3})))
    name = "shape/multi-row-delete"
    yield scenario(name, change(table(name, *abc), Op.DELETE, (x, None), ({**x, "id": 2}, None)))
    name = "shape/multi-row-update-cumulative"
    second: dict[str, Value] = {"id": 2, "a": "q", "b": None}
    yield scenario(name, change(table(name, *abc), Op.UPDATE, (x, y), (second, {**second, "b": "z"})))
    name = "shape/multi-row-update-one-unchanged"
    yield scenario(name, change(table(name, *abc), Op.UPDATE, (x, x), (second, {**second, "b": "z"}), (y, y)))
    name = "shape/duplicate-after-rows"
    keyless = Table(database, slug(name), abc[1:])
    bare: dict[str, Value] = {"a": "x", "b": "k"}
    yield scenario(name, change(keyless, Op.UPDATE, ({**bare, "a": "o"}, bare), ({**bare, "a": "p"}, bare)))
    name = "shape/keyless"
    keyless = Table(database, slug(name), abc[1:])
    changed: Row = {**bare, "a": "y"}
    changes = (change(keyless, Op.INSERT, (None, bare)), change(keyless, Op.UPDATE, (bare, changed)), insert(keyless, bare))
    yield scenario(name, *changes, change(keyless, Op.DELETE, (bare, None)))
    name = "shape/unique-not-null-key"
    columns = (Column("u", number, nullable=False), Column("a", string))
    yield scenario(name, insert(table(name, *columns, key=(), unique=(("u",),)), {"u": 1, "a": "x"}))
    name = "shape/composite-key"
    composite = (Column("k2", number, nullable=False), Column("a", string), Column("k1", string, nullable=False))
    row: dict[str, Value] = {"k2": 7, "a": "x", "k1": "y"}
    keyed = table(name, *composite, key=("k1", "k2"))
    yield scenario(
        name, insert(keyed, row), change(keyed, Op.UPDATE, (row, {**row, "k2": 8})), change(keyed, Op.DELETE, (row, None))
    )
    name = "shape/awkward-names"
    awkward = Table(database, 'Awk`ward "T"', tuple(Column(n, string) for n in AWKWARD_NAMES), AWKWARD_NAMES[:1])
    full: Row = {n: f"v{i}" for i, n in enumerate(AWKWARD_NAMES)}
    yield scenario(name, insert(awkward, full), change(awkward, Op.UPDATE, (full, {**full, AWKWARD_NAMES[3]: None})))
    name = "shape/many-columns"
    wide = tuple(Column(f"c{i}", number) for i in range(200))
    yield scenario(name, insert(table(name, ID, *wide), {"id": 1, **{c.name: i for i, c in enumerate(wide)}}))
    name = "shape/long-text"
    yield scenario(name, insert(one_column(database, name, mysql.text("longtext")), {"id": 1, "c": "0123456789abcdef" * 16_384}))


def _row_scenarios(supports: Callable[[SourceType], bool]) -> Iterator[Scenario]:
    table = every_type(supports)
    empty: Row = {c.name: None for c in table.columns} | {"id": 1}
    columns = [(f"c_{slug(name)}", list(values.values())) for name, _, values in type_values(supports)]
    for i in range(max(len(values) for _, values in columns)):
        row: Row = {"id": i, **{column: values[i % len(values)] for column, values in columns}}
        yield scenario(f"rows/every-type/boundaries-{i}", insert(table, row), level=2)
    filled: dict[str, Value] = {"id": 2}
    other: dict[str, Value] = {"id": 2}
    for name, _, values in type_values(supports):
        column = f"c_{slug(name)}"
        some = [v for v in values.values() if v is not None]
        filled[column], other[column] = some[-1], some[len(some) // 2]
    for label, op, pair in (
        ("insert-filled", Op.INSERT, (None, filled)),
        ("update-all", Op.UPDATE, (filled, other)),
        ("update-to-null", Op.UPDATE, (filled, {**empty, "id": 2})),
        ("update-from-null", Op.UPDATE, ({**empty, "id": 2}, filled)),
        ("update-key", Op.UPDATE, (filled, {**filled, "id": 3})),
        ("update-nothing", Op.UPDATE, (filled, filled)),
        ("delete-filled", Op.DELETE, (filled, None)),
    ):
        yield scenario(f"rows/every-type/{label}", change(table, op, pair), level=2)
    names = [c.name for c in COMPOSITE.columns]
    key: dict[str, Value] = {n: f"v{i}" for i, n in enumerate(names)} | {names[0]: 5}
    yield scenario("rows/composite/insert", insert(COMPOSITE, key), level=2)
    yield scenario("rows/composite/update", change(COMPOSITE, Op.UPDATE, (key, {**key, names[2]: None})), level=2)
    yield scenario("rows/composite/update-key", change(COMPOSITE, Op.UPDATE, (key, {**key, names[0]: 6})), level=2)
    yield scenario("rows/composite/delete", change(COMPOSITE, Op.DELETE, (key, None)), level=2)
    bare: dict[str, Value] = {"a": 1, "b": "x", "c": mysql.wall("2024-01-02 03:04:05.678901")}
    rows = tuple((None, {**bare, "a": i}) for i in range(3))
    yield scenario("rows/keyless/multi-row-insert", change(KEYLESS, Op.INSERT, *rows), level=2)
    cumulative = (({**bare, "b": "o"}, bare), ({**bare, "a": None}, {**bare, "a": 9}), (bare, {**bare, "c": None}))
    yield scenario("rows/keyless/multi-row-update", change(KEYLESS, Op.UPDATE, *cumulative), level=2)
    yield scenario(
        "rows/keyless/multi-row-delete", change(KEYLESS, Op.DELETE, (bare, None), ({**bare, "b": None}, None)), level=2
    )
