"""The deterministic cases that every format has: each type of its source at its boundaries, each
op, each shape of table.

Level-one scenarios have a table of their own each; level-two scenarios use the pool. Names are case
ids' last part: never reused, never renumbered.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from generators.model import (
    Column,
    Event,
    History,
    Instant,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SchemaChange,
    SourceType,
    Table,
    Value,
)
from generators.sources import databases, value_classes
from generators.sources.mysql import enum_of, wall
from generators.sources.postgresql import value_class

START = Instant(1_700_000_000_000, 1)
"""The virtual clock's start: 2023-11-14T22:13:20Z."""

BOUNDARY = frozenset({"boundary"})

POOL_DATABASE = databases.MYSQL.pool_database
"""The database of MySQL's pool; `Source.pool_database` is any source's."""


OTHER_DATABASE, OTHER_SCHEMA = "loop", "shared"
"""The database or the schema of the table `namesake`; their names are as long as those of the pool,
the tables of level two.
"""


def id_column(source: str = "mysql") -> Column:
    """The key column `id` of test tables, a bigint in the types of the source. Raises UnknownName
    for an unknown source.
    """
    return Column("id", databases.source(source).key, nullable=False)


ID = id_column()
"""The key column `id` of MySQL's test tables."""

AWKWARD_NAMES = (
    "order",
    "a b",
    "with`tick",
    'dq"uote',
    "back\\slash",
    "汉字",
    "dot.ted",
    "MixedCase",
    "mixedcase2",
    "a<b>&c",
)
"""Column names that need escaping somewhere: SQL, JSON, JSON paths, HTML."""

AWKWARD_TEXTS = (
    " both ends ",
    "\\n",
    "\\\\",
    "\\u0041",
    "a\r\nb",
    "e\u0301",
    "\u00a0nbsp\u00a0",
    "%41",
    "dots...",
    "$.a",
    "MiXed",
)
"""Texts that a reader trims, unescapes twice, composes, folds, or takes for a path."""

ENVELOPE_NAMES = ("data", "old", "type", "table", "sql", "before", "after", "op")
"""Column names that messages of some formats also have as names of members of their envelope."""
PUNCTUATED_NAMES = ("p:q", "c/d", "e,f", "g[0]")
"""Column names with marks that divide names in some texts."""
ODD_NAMES = ("a#b", "c@d", "%41", "e+f", "g*h", "i\nj", "__op", "$ref", "$")
"""Names that a reader of paths, of URLs or of lines takes apart, or takes for its own."""
WIDE = 300
"""How many labels an ENUM has here so that the number of one takes two bytes."""
MANY = 120
"""How many rows a statement changes in the case of many rows."""
COMMITS = 70
"""How many commits, a second apart, the history has in which each format's positions change their
length.
"""
OVER_64K = 70_000
"""How many bytes a value has whose length takes more than two bytes."""

MEGABYTE = 1_100_000
"""How many characters the text has in a message of more than a megabyte."""


def slug(name: str) -> str:
    """The name with `_` for each character that is no letter or digit, as a part of a column's
    name; at most 60 characters.
    """
    return "".join(c if c.isalnum() else "_" for c in name)[:60]


def neutral(name: str, letter: str = "t") -> str:
    """A name for the table of the scenario `name`, or for a profile's database: `letter` and a
    checksum, so that no word in it says what a decoder should do.
    """
    return f"{letter}{zlib.crc32(name.encode()):010d}"


@cache
def every_type(supports: Callable[[SourceType], bool], source: str = "mysql") -> Table:
    """The level-two table (for decoders of typed rows) with a column `c_<type>` for each type of
    the source's `TYPES` that the format supports. Raises UnknownName for an unknown source.
    """
    origin = databases.source(source)
    columns = tuple(
        Column(f"c_{slug(name)}", type) for name, type in origin.types.items() if supports(type)
    )
    return Table(
        origin.pool_database, "ledger", (id_column(source), *columns), ("id",), schema=origin.schema
    )


@cache
def composite(source: str = "mysql") -> Table:
    """The level-two table (for decoders of typed rows) with a composite key, which is declared in
    another order than its columns, and with names that need escaping. Raises UnknownName for an
    unknown source.
    """
    origin = databases.source(source)
    more = (*ENVELOPE_NAMES, *PUNCTUATED_NAMES, "UPPER", origin.identifier("n" * 64))
    columns = (
        Column(AWKWARD_NAMES[0], origin.number, nullable=False),
        *(Column(name, origin.string) for name in AWKWARD_NAMES[2:]),
        *(Column(name, origin.string) for name in more),
        Column(AWKWARD_NAMES[1], origin.string, nullable=False),
    )
    return Table(
        origin.pool_database,
        "plant `x`",
        columns,
        (AWKWARD_NAMES[1], AWKWARD_NAMES[0]),
        schema=origin.schema,
    )


@cache
def keyless(source: str = "mysql") -> Table:
    """The level-two table (for decoders of typed rows) without any key: number `a`, text `b`, wall
    clock `c`. Raises UnknownName for an unknown source.
    """
    origin = databases.source(source)
    columns = (Column("a", origin.number), Column("b", origin.string), Column("c", origin.moment))
    return Table(origin.pool_database, "visits", columns, schema=origin.schema)


@cache
def namesake(source: str = "mysql") -> Table:
    """The table that has the name of `keyless` and stands in another schema, or in another database
    where the source has no schemas. Raises UnknownName for an unknown source.
    """
    table = keyless(source)
    if table.schema:
        return replace(table, schema=OTHER_SCHEMA)
    return replace(table, database=OTHER_DATABASE)


COMPOSITE = composite()
"""The table `composite` in MySQL's types."""

KEYLESS = keyless()
"""The table `keyless` in MySQL's types."""


def pool(supports: Callable[[SourceType], bool], source: str = "mysql") -> tuple[Table, ...]:
    """The tables of a source that every run has at level two (typed rows), beside one that it
    draws. Raises UnknownName for an unknown source.
    """
    return (every_type(supports, source), composite(source), keyless(source))


def change(
    table: Table, op: Op, *image_pairs: tuple[Row | None, Row | None], at: Instant = START
) -> RowChange:
    """A change of rows by one statement, from the (before, after) pair of each row: None stands for
    an image that the row does not have.
    """
    return RowChange(
        at, table, op, tuple(RowImages(before, after) for before, after in image_pairs)
    )


def insert(table: Table, cells: Row, at: Instant = START) -> RowChange:
    """The INSERT of one row."""
    return change(table, Op.INSERT, (None, cells), at=at)


def scenario(
    name: str, *events: RowChange, level: int = 1, tags: frozenset[str] = BOUNDARY
) -> Scenario:
    """A named scenario of row changes whose seed is derived from its name."""
    return Scenario(name, History(tuple(events), seed=sum(name.encode())), level, tags)


def named(name: str, *events: Event, tags: Iterable[str] = (), level: int = 1) -> Scenario:
    """A named scenario of any events, tagged BOUNDARY and with `tags`; its seed is derived from its
    name.
    """
    return Scenario(name, History(events, seed=sum(name.encode())), level, BOUNDARY.union(tags))


def of_three(single: Scenario, column: str = "") -> Scenario:
    """A scenario that inserts three rows by one statement: that of the scenario `single` in the
    middle, and the same with NULL in `column` ("" for none) before and after it. Its name ends in
    `-of-three`. At level one its table gets a name of its own.
    """
    (event,) = single.history.events
    assert isinstance(event, RowChange)
    (images,) = event.rows
    name = f"{single.name}-of-three"
    outer_cells: dict[str, Value] = {**(images.after or {}), **({column: None} if column else {})}
    inserted_rows = (
        (None, {**outer_cells, "id": 1}),
        (None, {**(images.after or {}), "id": 2}),
        (None, {**outer_cells, "id": 3}),
    )
    table = event.table if single.level == 2 else replace(event.table, name=neutral(name))
    return scenario(
        name, change(table, event.op, *inserted_rows), level=single.level, tags=single.tags
    )


def one_column(database: str, name: str, type: SourceType) -> Table:
    """The table of a scenario `name`: a key and one column `c` of the type, in the schema of the
    type's source.
    """
    columns = (id_column(type.source), Column("c", type))
    return Table(database, neutral(name), columns, ("id",), schema=databases.source_of(type).schema)


def type_values(
    supports: Callable[[SourceType], bool], source: str = "mysql"
) -> Iterator[tuple[str, SourceType, Mapping[str, Value]]]:
    """Each type of the source that the format supports, with its name and its boundary values, NULL
    among them. Raises UnknownName for an unknown source.
    """
    origin = databases.source(source)
    for name, type in origin.types.items():
        if supports(type):
            yield name, type, {"null": None, **origin.boundary_values(name)}


def scenarios(
    database: str, supports: Callable[[SourceType], bool], source: str = "mysql"
) -> Iterator[Scenario]:
    """All cases that every format has for a profile of that source; their level-one tables are in
    `database`. Raises UnknownName for an unknown source.
    """
    yield from _type_scenarios(database, supports, source)
    yield from _shape_scenarios(database, databases.source(source), supports)
    yield from _row_scenarios(supports, source)
    yield from class_scenarios(database, databases.source(source), supports)


def class_scenarios(
    database: str, source: databases.Source, supports: Callable[[SourceType], bool]
) -> Iterator[Scenario]:
    """A row for each class of values (`value_classes.toml`) that a logical type has, in a table
    with a column for each type that can hold the class's value: at level one a table of these
    columns, at level two that of `every_type`.
    """
    every = every_type(supports, source.name)
    empty: Row = {column.name: None for column in every.columns}
    for logical in value_classes.logical_types():
        columns = [column for column in every.columns[1:] if column.type.logical is logical]
        class_rows: list[Row] = []
        for number, name in enumerate(value_classes.class_names(logical)):
            cells = {
                column.name: value_classes.class_value(source, column.type, name)
                for column in columns
            }
            if any(value is not None for value in cells.values()):
                class_rows.append({"id": number, **cells})
        if not class_rows:
            continue
        name = f"classes/{logical}"
        table = Table(
            database,
            neutral(name),
            (every.columns[0], *columns),
            ("id",),
            schema=source.schema,
        )
        yield scenario(name, *(insert(table, class_row) for class_row in class_rows))
        yield scenario(
            f"rows/every-type/classes-{logical}",
            *(insert(every, {**empty, **class_row}) for class_row in class_rows),
            level=2,
        )


def _type_scenarios(
    database: str, supports: Callable[[SourceType], bool], source: str
) -> Iterator[Scenario]:
    """For each type a level-one INSERT of each of its boundary values, an UPDATE from a value to
    NULL, one from NULL to the value, and a DELETE.
    """
    for name, type, values in type_values(supports, source):
        for label, value in values.items():
            scenario_name = f"{name}/{label}"
            yield scenario(
                scenario_name,
                insert(one_column(database, scenario_name, type), {"id": 1, "c": value}),
            )
        sample = next(v for v in reversed(list(values.values())) if v is not None)
        sample_row: Row = {"id": 1, "c": sample}
        null_row: Row = {"id": 1, "c": None}
        for label, op, before, after in (
            ("update-to-null", Op.UPDATE, sample_row, null_row),
            ("update-from-null", Op.UPDATE, null_row, sample_row),
            ("delete", Op.DELETE, sample_row, None),
        ):
            scenario_name = f"{name}/{label}"
            yield scenario(
                scenario_name,
                change(one_column(database, scenario_name, type), op, (before, after)),
            )


def _shape_scenarios(
    database: str, source: databases.Source, supports: Callable[[SourceType], bool]
) -> Iterator[Scenario]:
    """The level-one scenarios of row operations and of shapes of tables: keys, names, widths, long
    texts; for MySQL also DDL texts with semicolons. Each is named `shape/...` or `ddl/...`.
    """
    key_column = id_column(source.name)
    number = source.number
    string = source.string
    schema = source.schema

    def table(
        name: str,
        *columns: Column,
        key: tuple[str, ...] = ("id",),
        unique: tuple[tuple[str, ...], ...] = (),
    ) -> Table:
        """A table in `database` for the scenario `name`; the table's own name is a checksum of that,
        so that it tells a decoder nothing.
        """
        return Table(database, neutral(name), columns, key, unique, schema)

    abc = (key_column, Column("a", string), Column("b", string))
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
    yield scenario(
        name,
        change(
            table(name, *abc), Op.INSERT, (None, x), (None, {**x, "id": 2}), (None, {**x, "id": 3})
        ),
    )
    name = "shape/multi-row-delete"
    yield scenario(name, change(table(name, *abc), Op.DELETE, (x, None), ({**x, "id": 2}, None)))
    name = "shape/multi-row-update-cumulative"
    second: dict[str, Value] = {"id": 2, "a": "q", "b": None}
    yield scenario(
        name, change(table(name, *abc), Op.UPDATE, (x, y), (second, {**second, "b": "z"}))
    )
    name = "shape/multi-row-update-one-unchanged"
    yield scenario(
        name, change(table(name, *abc), Op.UPDATE, (x, x), (second, {**second, "b": "z"}), (y, y))
    )
    name = "shape/duplicate-after-rows"
    bag = table(name, *abc[1:], key=())
    bare: dict[str, Value] = {"a": "x", "b": "k"}
    yield scenario(
        name, change(bag, Op.UPDATE, ({**bare, "a": "o"}, bare), ({**bare, "a": "p"}, bare))
    )
    name = "shape/keyless"
    bag = table(name, *abc[1:], key=())
    changed: Row = {**bare, "a": "y"}
    changes = (
        change(bag, Op.INSERT, (None, bare)),
        change(bag, Op.UPDATE, (bare, changed)),
        insert(bag, bare),
    )
    yield scenario(name, *changes, change(bag, Op.DELETE, (bare, None)))
    name = "shape/all-null-keyless"
    bag, nothing = table(name, *abc[1:], key=()), dict.fromkeys(bare)
    yield scenario(
        name,
        insert(bag, nothing),
        change(bag, Op.UPDATE, (nothing, bare)),
        change(bag, Op.DELETE, (nothing, None)),
    )
    name = "shape/unique-not-null-key"
    columns = (Column("u", number, nullable=False), Column("a", string))
    yield scenario(
        name, insert(table(name, *columns, key=(), unique=(("u",),)), {"u": 1, "a": "x"})
    )
    name = "shape/composite-key"
    three = (
        Column("k2", number, nullable=False),
        Column("a", string),
        Column("k1", string, nullable=False),
    )
    cells: dict[str, Value] = {"k2": 7, "a": "x", "k1": "y"}
    keyed = table(name, *three, key=("k1", "k2"))
    yield scenario(
        name,
        insert(keyed, cells),
        change(keyed, Op.UPDATE, (cells, {**cells, "k2": 8})),
        change(keyed, Op.DELETE, (cells, None)),
    )
    name = "shape/key-unsorted"
    unsorted = (
        Column("zeta", string, nullable=False),
        Column("a", string),
        Column("Alpha", number, nullable=False),
    )
    letters: dict[str, Value] = {"zeta": "z", "a": "x", "Alpha": 7}
    keyed = table(name, *unsorted, key=("zeta", "Alpha"))
    yield scenario(
        name,
        insert(keyed, letters),
        change(keyed, Op.UPDATE, (letters, {**letters, "a": "y"})),
        change(keyed, Op.DELETE, (letters, None)),
    )
    name = "shape/key-with-comma"
    comma = PUNCTUATED_NAMES[2]
    keyed = table(name, Column(comma, string, nullable=False), Column("a", string), key=(comma,))
    yield scenario(name, insert(keyed, {comma: "k", "a": "x"}))
    name = "shape/commit-millis"
    # Some profiles alone tell the time: smoke judges each tag in every profile.
    yield scenario(
        name,
        insert(table(name, *abc), x, at=replace(START, ms=START.ms + 123)),
        tags=BOUNDARY | {"commit:millis"},
    )
    name = "shape/dotted-names"
    dotted = Table(f"{database}.d", "a.b", (key_column, Column("a.b", string)), ("id",), (), schema)
    yield scenario(name, insert(dotted, {"id": 1, "a.b": "x"}))
    name = "shape/awkward-names"
    awkward = Table(
        database,
        'Awk`ward "T"',
        tuple(Column(n, string) for n in AWKWARD_NAMES),
        AWKWARD_NAMES[:1],
        schema=schema,
    )
    full: Row = {n: f"v{i}" for i, n in enumerate(AWKWARD_NAMES)}
    yield scenario(
        name,
        insert(awkward, full),
        change(awkward, Op.UPDATE, (full, {**full, AWKWARD_NAMES[3]: None})),
    )
    for name, table_name, names in (
        ("shape/envelope-names", "data", ENVELOPE_NAMES),
        ("shape/punctuated-names", "t:/,[0]", PUNCTUATED_NAMES),
        ("shape/odd-names", "t#@%+*$", ODD_NAMES),
        ("shape/longest-names", source.identifier("n" * 64), (source.identifier("n" * 64),)),
    ):
        odd = Table(
            database,
            table_name,
            (key_column, *(Column(n, string) for n in names)),
            ("id",),
            schema=schema,
        )
        full_row: Row = {"id": 1, **{n: f"v{i}" for i, n in enumerate(names)}}
        yield scenario(
            name,
            insert(odd, full_row),
            change(odd, Op.UPDATE, (full_row, {**full_row, names[0]: None})),
        )
    name = "shape/upper-case"
    loud = Table(
        database if schema else f"UP_{database}".upper(),
        "LOUD",
        (replace(key_column, name="ID"),),
        ("ID",),
        schema=schema,
    )
    # A profile may name databases by a rule of its own: smoke judges each tag in every profile.
    yield scenario(
        name,
        insert(loud, {"ID": 1}),
        tags=BOUNDARY | (frozenset() if schema else {"names:database-in-capitals"}),
    )
    name = "shape/awkward-texts"
    texts: Row = {f"t{i}": awkward_text for i, awkward_text in enumerate(AWKWARD_TEXTS)}
    textual = table(name, key_column, *(Column(n, string) for n in texts))
    yield scenario(name, insert(textual, {"id": 1, **texts}))
    name = "shape/equal-rows"
    twins = table(name, *abc[1:], key=())
    yield scenario(
        name,
        change(twins, Op.INSERT, (None, bare), (None, bare)),
        change(twins, Op.DELETE, (bare, None), (bare, None)),
    )
    name = "shape/many-columns"
    wide = tuple(Column(f"c{i}", number) for i in range(200))
    yield scenario(
        name,
        insert(
            table(name, key_column, *wide), {"id": 1, **{c.name: i for i, c in enumerate(wide)}}
        ),
    )
    name = "shape/long-text"
    yield scenario(
        name,
        insert(
            one_column(database, name, source.long_text),
            {"id": 1, "c": "0123456789abcdef" * 16_384},
        ),
    )
    name = "shape/gains-a-column"
    narrow, more = table(name, *abc[:2]), table(name, *abc)
    yield scenario(
        name,
        insert(narrow, {n: x[n] for n in (c.name for c in abc[:2])}),
        insert(more, {**x, "id": 2}),
    )
    if source.name == "mysql":
        name = "shape/wide-enum"
        labels = enum_of(*(f"m{i}" for i in range(WIDE)))
        if supports(labels):
            yield scenario(name, insert(one_column(database, name, labels), {"id": 1, "c": WIDE}))
        name = "ddl/semicolon-in-a-columns-comment"
        narrow = one_column(database, name, key_column.type)
        added = Column("added", number, comment="a;b")
        sql = f"ALTER TABLE `{narrow.name}` ADD COLUMN `added` int COMMENT 'a;b'"
        wider = replace(narrow, columns=(*narrow.columns, added))
        event = SchemaChange(START, "add column", sql, database, narrow.name, narrow, wider)
        yield Scenario(
            name, History((event,), seed=sum(name.encode())), 1, BOUNDARY | {"ddl:add column"}
        )
        name = "ddl/semicolon-in-text"
        altered, comment = one_column(database, name, key_column.type), " first; second -- 汉字 é #"
        sql = f"ALTER TABLE `{altered.name}` COMMENT = '{comment}'"
        event = SchemaChange(
            START,
            "table comment",
            sql,
            database,
            altered.name,
            altered,
            replace(altered, comment=comment),
        )
        yield Scenario(
            name, History((event,), seed=sum(name.encode())), 1, BOUNDARY | {"ddl:table comment"}
        )


def megabyte(database: str, source: str = "mysql") -> Scenario:
    """A scenario of one row whose message has more than a megabyte, the default limit of a Kafka
    broker. Raises UnknownName for an unknown source.
    """
    name = "shape/megabyte"
    table = one_column(database, name, databases.source(source).long_text)
    return scenario(name, insert(table, {"id": 1, "c": "0123456789" * (MEGABYTE // 10)}))


def scenario_of_many_rows(database: str, source: str = "mysql") -> Scenario:
    """A scenario of one statement with more rows than a loop of a hundred takes. Raises UnknownName
    for an unknown source.
    """
    name = "shape/many-rows"
    table = one_column(database, name, databases.source(source).number)
    return scenario(
        name, change(table, Op.INSERT, *((None, {"id": i, "c": i}) for i in range(MANY)))
    )


def many_commits(database: str, source: str = "mysql") -> Scenario:
    """A scenario with a commit a second for longer than a minute, in which positions cross a power
    of ten and the end of a log file. Raises UnknownName for an unknown source.
    """
    name = "shape/many-commits"
    table = one_column(database, name, databases.source(source).number)
    seconds = (replace(START, ms=START.ms + 1000 * i) for i in range(COMMITS))
    return scenario(
        name, *(insert(table, {"id": i, "c": i}, at=at) for i, at in enumerate(seconds))
    )


def same_name_in_capitals(source: str = "mysql") -> Scenario:
    """A scenario of rows of two tables of one database whose names differ in case alone. TiDB
    cannot have such tables. Raises UnknownName for an unknown source.
    """
    table = keyless(source)
    table_in_capitals = replace(table, name=table.name.upper())
    row_of_table: Row = {"a": 1, "b": "here", "c": None}
    row_of_namesake: Row = {**row_of_table, "b": "elsewhere"}
    return scenario(
        "rows/keyless/same-name-in-capitals",
        insert(table, row_of_table),
        insert(table_in_capitals, row_of_namesake),
        level=2,
    )


def _row_scenarios(supports: Callable[[SourceType], bool], source: str) -> Iterator[Scenario]:
    """The level-two scenarios (rows typed for a table), named `rows/...`: boundary values and
    operations in the pool's table of every type, then in its tables with a composite key and
    without a key.
    """
    table, two_keys, bag = pool(supports, source)
    empty: Row = {c.name: None for c in table.columns} | {"id": 1}
    columns = [
        (f"c_{slug(name)}", list(values.values()))
        for name, _, values in type_values(supports, source)
    ]
    for i in range(max(len(values) for _, values in columns)):
        cells: Row = {"id": i, **{column: values[i % len(values)] for column, values in columns}}
        yield scenario(f"rows/every-type/boundaries-{i}", insert(table, cells), level=2)
    # A reader that refuses one cell of a wide row is asked about no other: so each class of values
    # of a type has a row alone.
    for name, type, values in type_values(supports, source):
        column = f"c_{slug(name)}"
        values_by_class = {
            value_class(type, value): value for value in values.values() if value is not None
        }
        rows_alone = (
            insert(table, {**empty, "id": i, column: value})
            for i, value in enumerate(values_by_class.values())
        )
        yield scenario(f"rows/every-type/alone-{name}", *rows_alone, level=2)
    full_row: dict[str, Value] = {"id": 2}
    second_row: dict[str, Value] = {"id": 2}
    for name, _, values in type_values(supports, source):
        column = f"c_{slug(name)}"
        non_null_values = [v for v in values.values() if v is not None]
        full_row[column] = non_null_values[-1]
        second_row[column] = non_null_values[len(non_null_values) // 2]
    for label, op, pair in (
        ("insert-filled", Op.INSERT, (None, full_row)),
        ("update-all", Op.UPDATE, (full_row, second_row)),
        ("update-to-null", Op.UPDATE, (full_row, {**empty, "id": 2})),
        ("update-from-null", Op.UPDATE, ({**empty, "id": 2}, full_row)),
        ("update-key", Op.UPDATE, (full_row, {**full_row, "id": 3})),
        ("update-nothing", Op.UPDATE, (full_row, full_row)),
        ("delete-filled", Op.DELETE, (full_row, None)),
    ):
        yield scenario(f"rows/every-type/{label}", change(table, op, pair), level=2)
    names = [c.name for c in two_keys.columns]
    key: dict[str, Value] = {n: f"v{i}" for i, n in enumerate(names)} | {names[0]: 5}
    yield scenario("rows/composite/insert", insert(two_keys, key), level=2)
    yield scenario(
        "rows/composite/update",
        change(two_keys, Op.UPDATE, (key, {**key, names[2]: None})),
        level=2,
    )
    yield scenario(
        "rows/composite/update-key",
        change(two_keys, Op.UPDATE, (key, {**key, names[0]: 6})),
        level=2,
    )
    yield scenario("rows/composite/delete", change(two_keys, Op.DELETE, (key, None)), level=2)
    bare: dict[str, Value] = {"a": 1, "b": "x", "c": wall("2024-01-02 03:04:05.678901")}
    inserted_images = tuple((None, {**bare, "a": i}) for i in range(3))
    yield scenario(
        "rows/keyless/multi-row-insert", change(bag, Op.INSERT, *inserted_images), level=2
    )
    cumulative = (
        ({**bare, "b": "o"}, bare),
        ({**bare, "a": None}, {**bare, "a": 9}),
        (bare, {**bare, "c": None}),
    )
    yield scenario("rows/keyless/multi-row-update", change(bag, Op.UPDATE, *cumulative), level=2)
    yield scenario(
        "rows/keyless/multi-row-delete",
        change(bag, Op.DELETE, (bare, None), ({**bare, "b": None}, None)),
        level=2,
    )
    spoken = tuple((None, {**bare, "b": awkward_text}) for awkward_text in AWKWARD_TEXTS)
    yield scenario("rows/keyless/awkward-texts", change(bag, Op.INSERT, *spoken), level=2)
    twin = (None, bare)
    yield scenario("rows/keyless/equal-rows", change(bag, Op.INSERT, twin, twin), level=2)
    nothing: Row = dict.fromkeys(bare)
    yield scenario(
        "rows/keyless/repeated",
        insert(bag, bare),
        insert(bag, bare),
        change(bag, Op.UPDATE, (nothing, nothing)),
        change(bag, Op.UPDATE, (nothing, nothing)),
        level=2,
    )
    changes = (
        (Op.INSERT, None, nothing),
        (Op.UPDATE, nothing, bare),
        (Op.UPDATE, bare, nothing),
        (Op.DELETE, nothing, None),
    )
    yield scenario(
        "rows/keyless/all-null", *(change(bag, op, (old, new)) for op, old, new in changes), level=2
    )
    long_text = next(
        (c.name for c in table.columns if c.type == databases.source(source).long_text), None
    )
    if long_text:
        yield scenario(
            "rows/every-type/long-text",
            insert(table, {**empty, long_text: "汉字 é " * 200}),
            level=2,
        )
    big: Row = {
        column.name: b"\xe9" * OVER_64K if column.type.logical is Logical.BINARY else "é" * OVER_64K
        for column in table.columns
        if column.type
        in (
            databases.source(source).long_text,
            databases.source(source).types.get("longblob"),
        )
    }
    if big:
        yield scenario("rows/every-type/over-64k", insert(table, {**empty, **big}), level=2)
    other_table, row_of_bag = namesake(source), {**bare, "b": "p"}
    row_of_namesake: Row = {**bare, "b": "q"}
    events = (
        insert(bag, row_of_bag),
        insert(other_table, row_of_namesake),
        change(other_table, Op.UPDATE, (row_of_namesake, row_of_bag)),
    )
    yield scenario(
        "rows/keyless/same-name-elsewhere",
        *events,
        change(other_table, Op.DELETE, (row_of_bag, None)),
        level=2,
    )
