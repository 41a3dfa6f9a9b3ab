"""Generated columns: what is computed, as the databases compute it, and what is left drawn with a
note.
"""

import datetime as dt
from decimal import Decimal

import pytest

from generators.model import RowChange
from generators.tables import scenarios, streams
from generators.tables.load import TableLoad
from generators.tables.reading import read_schema
from generators.tables.user_values import Values
from generators.wire_format import get

MYSQL = """CREATE TABLE `t` (`id` int NOT NULL, `a` varchar(20), `b` varchar(20), `c` char(4), `n` int,
  `u` int(5) unsigned zerofill, `p` decimal(10,2), `d` date, `x` double,
  `g` {kind} GENERATED ALWAYS AS ({text}) STORED, PRIMARY KEY (`id`)) ENGINE=InnoDB;"""
POSTGRESQL = """CREATE TABLE public.t (id integer PRIMARY KEY, a character varying(20), b text, c character(4), n integer,
  p numeric(10,2), d date, x double precision, "Up" text, g {kind} GENERATED ALWAYS AS ({text}) STORED);"""
DAY = dt.date(2024, 1, 2)
ROW = {
    "id": 7,
    "a": "Ab",
    "b": "cd",
    "c": "x",
    "n": 3,
    "u": 5,
    "p": Decimal("1.25"),
    "d": DAY,
    "x": 0.5,
    "Up": "U",
    "g": "?",
}


def schema_of(tmp_path, ddl, kind, text, dialect):
    (tmp_path / "t.sql").write_text(ddl.format(kind=kind, text=text), "utf-8")
    return read_schema([str(tmp_path / "t.sql")], dialect)


def computed(schema, **changed):
    (user,) = schema.tables
    row = {column.name: {**ROW, **changed}[column.name] for column in user.table.columns}
    return Values(schema).with_computed_columns(user, row)["g"]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        *(
            ("varchar(60)", "concat(`a`,_utf8mb4' ',`b`)", "Ab cd"),
            ("varchar(60)", "concat(`a`,`n`,'x')", "Ab3x"),
        ),
        *(("varchar(60)", "concat_ws('-',`a`,`b`)", "Ab-cd"), ("varchar(60)", "upper(`a`)", "AB")),
        *(
            ("varchar(60)", "lcase(`a`)", "ab"),
            ("varchar(60)", "ifnull(`a`,'none')", "Ab"),
            ("varchar(60)", "`n`", "3"),
        ),
        *(("int", "`id` + `n` * 2 - 1", 12), ("int", "-`n`", -3), ("int", "`p` * 2", 3)),
        *(
            ("decimal(12,3)", "`p` * `n` + 0.5", Decimal("4.250")),
            ("decimal(12,1)", "`p`", Decimal("1.3")),
        ),
        *(
            ("decimal(12,1)", "-`p`", Decimal("-1.3")),
            ("bigint", "coalesce(`n`,0)", 3),
            ("date", "`d`", DAY),
        ),
    ],
)
def test_mysql(tmp_path, kind, text, value):
    schema = schema_of(tmp_path, MYSQL, kind, text, "mysql")
    assert schema.tables[0].computed == (("g", text),)
    assert not any("not computed" in note.action for note in schema.notes)
    assert computed(schema) == value


def test_a_computed_zero_has_no_sign(tmp_path):
    schema = schema_of(tmp_path, MYSQL, "decimal(12,2)", "`p` * `n`", "mysql")
    assert str(computed(schema, p=Decimal("0.00"), n=-1)) == "0.00"


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        *(("text", "(((a)::text || ' '::text) || b)", "Ab cd"), ("text", "upper((a)::text)", "AB")),
        *(
            ("text", '((n)::text || "Up")', "3U"),
            ("text", "COALESCE(a, 'none'::character varying)", "Ab"),
        ),
        *(("numeric(12,2)", "(p * (n)::numeric)", Decimal("3.75")), ("integer", "(n + 1)", 4)),
    ],
)
def test_postgresql(tmp_path, kind, text, value):
    schema = schema_of(tmp_path, POSTGRESQL, kind, text, "postgresql")
    assert schema.tables[0].computed == (("g", text),)
    assert computed(schema) == value


@pytest.mark.parametrize(
    ("ddl", "kind", "text"),
    [
        *(
            (MYSQL, "int", "`n` / 2"),
            (MYSQL, "int", "`n` + `x`"),
            (MYSQL, "varchar(9)", "concat(`c`,'x')"),
        ),
        *((MYSQL, "varchar(9)", "concat(`u`,'x')"), (MYSQL, "varchar(9)", "concat(`p`,'x')")),
        *(
            (MYSQL, "varchar(9)", "`a` || `b`"),
            (MYSQL, "varchar(9)", "substring(`a`,1,2)"),
            (MYSQL, "char(9)", "`a`"),
        ),
        *(
            (MYSQL, "datetime", "`d`"),
            (MYSQL, "int", "`a`"),
            (MYSQL, "int", "`n` + 1e3"),
            (MYSQL, "int", "cast(`a` as signed)"),
            (MYSQL, "decimal(12,2)", "cast(`p` as decimal)"),  # decimal(10,0): 1.25 becomes 1
        ),
        (POSTGRESQL, "numeric(900,250)", "(p + 1)"),
        (MYSQL, "int", "`n` + ²"),
        *(
            (MYSQL, "int", "`missing` + 1"),
            (POSTGRESQL, "integer", "(n / 2)"),
            (POSTGRESQL, "text", "(c || 'x')"),
        ),
        *((POSTGRESQL, "text", "(a)::character varying(2)"), (POSTGRESQL, "integer", "length(b)")),
    ],
)
def test_what_is_not_computed_is_noted(tmp_path, ddl, kind, text):
    schema = schema_of(tmp_path, ddl, kind, text, "mysql" if ddl is MYSQL else "postgresql")
    assert schema.tables[0].computed == ()
    assert [note.action for note in schema.notes if "GENERATED" in note.construct] == [
        "taken as a generated column; its values are drawn, the expression is not computed"
    ]
    assert computed(schema) == "?"


def test_null_goes_through_and_what_does_not_fit_stays_drawn(tmp_path):
    def of(kind, text, **changed):
        return computed(schema_of(tmp_path, MYSQL, kind, text, "mysql"), **changed)

    assert of("varchar(60)", "concat(`a`,`b`)", b=None) is None
    assert of("varchar(60)", "concat_ws('-',`a`,`b`)", a=None) == "cd"
    assert of("varchar(60)", "ifnull(`a`,'none')", a=None) == "none"
    assert of("int", "`n` + 1", n=None) is None
    assert of("varchar(60)", "upper(`a`)", a=None) is None
    # Databases differ in letters outside of ASCII. A text that is too long, a number out of range
    # and NULL are not held.
    assert of("varchar(60)", "upper(`a`)", a="straße") == "?"
    assert of("varchar(3)", "concat(`a`,`b`)") == "?"
    assert of("tinyint", "`n` * 100") == "?"
    assert of("bigint unsigned", "`n` - 9") == "?"
    assert of("int NOT NULL", "`n` + 1", n=None) == "?"


def test_a_column_of_a_key_is_not_computed(tmp_path):
    (tmp_path / "t.sql").write_text(
        "CREATE TABLE `t` (`id` int NOT NULL, `g` int AS (`id` + 1) STORED, `h` int AS (`id` + 2),"
        " PRIMARY KEY (`id`), UNIQUE (`g`))",
        "utf-8",
    )
    schema = read_schema([str(tmp_path / "t.sql")], "mysql", "shop")
    assert schema.tables[0].computed == (("h", "`id` + 2"),)
    assert [note.construct for note in schema.notes] == ["AS (`id` + 1) STORED"]


def test_every_row_that_is_written_has_its_value(tmp_path):
    ddl = (
        "CREATE TABLE `t` (`id` int NOT NULL, `n` int NOT NULL, `b` varchar(9), `g` bigint AS (`id` + `n`) STORED,"
        " `h` bigint AS (`g` * 2), PRIMARY KEY (`id`));"
    )
    (tmp_path / "t.sql").write_text(ddl, "utf-8")
    schema = read_schema([str(tmp_path / "t.sql")], "mysql", "shop")
    values, (user,), canal = Values(schema), schema.tables, get("ticdc-canal-json")
    assert schema.notes == ()
    load = TableLoad(values, schema.tables)
    histories = [
        scenario.history for scenario in scenarios.named_scenarios(values, schema.tables, ddl=True)
    ]
    histories += [
        scenario.history
        for scenario in scenarios.drawn_scenarios(values, schema.tables, 12, 1, ddl=True)
    ]
    histories += [load.scenario(1, n).history for n in range(40)]
    histories.append(
        streams.stream_table(values, user, canal, canal.profile("v7.1.6"), 1, "t_1").history
    )
    events = [
        event for history in histories for event in history.events if isinstance(event, RowChange)
    ]
    rows = [
        row
        for event in events
        for images in event.rows
        for row in (images.before, images.after)
        if row is not None
    ]
    assert len(rows) > 200
    assert all(row["g"] == row["id"] + row["n"] and row["h"] == 2 * row["g"] for row in rows)
    assert len({event.table.name for event in events}) > 2
