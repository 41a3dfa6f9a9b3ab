import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.drawing import strategies
from generators.errors import UsageError
from generators.model import Column, Index, Instant, SchemaChange, Table
from generators.sources import mysql, sqlserver
from generators.tables.histories import histories
from generators.tables.reading import read_schema
from generators.tables.schema import Check, ForeignKey
from generators.tables.user_values import Values, identity

DUMPS = Path(__file__).with_name("dumps")

SCRIPT = (DUMPS / "sqlserver.sql").read_text("utf-8")


def test_a_script_of_management_studio(reads, notes, noted):
    schema = reads(SCRIPT)
    customers, orders = schema.tables
    assert (schema.dialect, schema.source) == ("sqlserver", "sqlserver")
    assert customers.table == Table(
        "shop",
        "Customers",
        (
            Column("Id", sqlserver.uniqueidentifier(), False),
            Column("E]mail", sqlserver.text("nvarchar", 120), False),
            Column(
                "Name",
                sqlserver.text("varchar", 64),
                charset="ascii",
                collation="Cyrillic_General_CI_AS",
            ),
            Column(
                "City",
                sqlserver.text("varchar(max)"),
                collation="Latin1_General_100_CI_AS_SC_UTF8",
            ),
            Column("Kind", sqlserver.text("char", 4), False, charset="latin1"),
            Column("Balance", sqlserver.money()),
            Column("Score", sqlserver.integer("tinyint")),
            Column("Ver", sqlserver.binary("rowversion"), False),
        ),
        ("Id",),
        (("E]mail",),),
        "dbo",
        (Index("UQ_Email", ("E]mail",), True),),
    )
    assert orders.table == Table(
        "shop",
        "Orders",
        (
            Column("Id", sqlserver.integer("bigint"), False),
            Column("CustomerId", sqlserver.uniqueidentifier(), False),
            Column("Amount", sqlserver.decimal(12, 2), False),
            Column("Status", sqlserver.text("nvarchar", 10)),
            Column("Made", sqlserver.temporal("datetime2", 7), False),
            Column("Due", sqlserver.temporal("datetimeoffset", 3)),
            Column("Opens", sqlserver.temporal("time", 7)),
            Column("Ratio", sqlserver.real()),
            Column("Half", sqlserver.real("real")),
            Column("Code", sqlserver.binary("binary", 4)),
            Column("Note", sqlserver.text("nvarchar(max)")),
            Column("Secret", sqlserver.text("nvarchar", 20)),
        ),
        ("Id",),
        (),
        "sales",
        (Index("IX_Customer", ("CustomerId",)), Index("IX_Due", ("Due",), True, partial=True)),
    )
    assert orders.foreign_keys == (
        ForeignKey(("CustomerId",), ("shop", "dbo", "Customers"), ("Id",)),
    )
    assert orders.checks == (
        Check("Amount", "([Amount]>=(0))", low=Decimal("0.00")),
        Check("Status", "([Status]='new' OR [Status]=N'paid')", choices=("new", "paid")),
        Check(
            "Made",
            "([Made]>='2020-01-01' AND len([Note])>(3))",
            low=mysql.wall("2020-01-01"),
        ),
        Check(
            "Made",
            "[Made] BETWEEN '1677-09-22' AND '2262-04-11T23:47:16'",
            low=mysql.wall("1677-09-22"),
            high=mysql.wall("2262-04-11 23:47:16"),
        ),
    )
    assert notes(schema) == noted("sqlserver")


def columns_of(schema, number=0):
    return {column.name: column.type for column in schema.tables[number].table.columns}


def test_types_by_their_other_names(reads, notes):
    schema = reads(
        "create table dbo.t (id integer identity primary key, a dec(5), b character(3), c char varying(4),"
        " d national character varying(5), e national char(6), f double precision, g float(24), h sysname,"
        " i timestamp, j binary varying(7), k decimal, l numeric(9, 3), m varchar, n nvarchar(MAX), o xml(c),"
        " p [sys].[hierarchyid], q national text, r datetimeoffset, s smalldatetime)"
    )
    assert columns_of(schema) == {
        "id": sqlserver.integer(),
        "a": sqlserver.decimal(5, 0),
        "b": sqlserver.text("char", 3),
        "c": sqlserver.text("varchar", 4),
        "d": sqlserver.text("nvarchar", 5),
        "e": sqlserver.text("nchar", 6),
        "f": sqlserver.real(),
        "g": sqlserver.real("real"),
        "h": sqlserver.text("nvarchar", 128),
        "i": sqlserver.binary("rowversion"),
        "j": sqlserver.binary("varbinary", 7),
        "k": sqlserver.decimal(18, 0),
        "l": sqlserver.decimal(9, 3, "numeric"),
        "m": sqlserver.text("varchar", 1),
        "n": sqlserver.text("nvarchar(max)"),
        "o": sqlserver.text("xml"),
        "p": sqlserver.binary("hierarchyid"),
        "q": sqlserver.text("ntext"),
        "r": sqlserver.temporal("datetimeoffset", 7),
        "s": sqlserver.temporal("smalldatetime"),
    }
    table = schema.tables[0].table
    assert [c.name for c in table.columns if not c.nullable] == ["id", "h"]
    assert notes(schema)[1:3] == [
        "a.sql:1:24: integer: taken as int, as the database shows it",
        "a.sql:1:56: dec(5): taken as decimal(5,0), as the database shows it",
    ]


@pytest.mark.parametrize(
    ("type", "what"),
    [
        ("int(11)", "int(11): int has no arguments"),
        ("varchar(8001)", "varchar(8001): the length is 1 to 8000"),
        ("nvarchar(4001)", "nvarchar(4001): the length is 1 to 4000"),
        ("nchar(max)", "nchar(max): numbers expected"),
        ("decimal(39,2)", "decimal(39,2): precision is 1 to 38, scale 0 to it"),
        ("decimal(5,2,1)", "decimal(5,2,1): too many arguments"),
        ("time(8)", "time(8): fraction digits are 0 to 7"),
    ],
)
def test_arguments_that_a_type_cannot_have(reads, type, what):
    with pytest.raises(UsageError) as raised:
        reads(f"CREATE TABLE dbo.t (id int, c {type})")
    assert str(raised.value).endswith(f"a.sql:1:31: {what}")


def test_statements_need_neither_semicolon_nor_batch(reads, notes):
    schema = reads(
        "IF OBJECT_ID('dbo.t') IS NOT NULL DROP TABLE dbo.t\n"
        "BEGIN create table dbo.T (id int not null, [Name] nvarchar(5), old int, constraint pk primary key (ID)) END\n"
        "CREATE TABLE #scratch (id int)\n"
        "create table shop.sales.u (id int primary key nonclustered, t int references dbo.t, n int unique)\n"
        "ALTER TABLE [DBO].[t] ADD a bit not null default 0 with values, b date default null\n"
        "alter table dbo.t alter column NAME nvarchar(9) not null;alter table t drop column OLD\n"
        "create unique index i on t (a) drop index i on T\n"
        "GRANT SELECT ON dbo.t TO bob;",
        database="d",
    )
    table, other = (user.table for user in schema.tables)
    assert (table.database, table.schema, table.name) == ("d", "dbo", "T")
    assert (other.database, other.schema, other.name) == ("shop", "sales", "u")
    assert [(c.name, c.type.key, c.nullable) for c in table.columns] == [
        ("id", "int", False),
        ("Name", "nvarchar", False),
        ("a", "bit", False),
        ("b", "date", True),
    ]
    assert (table.primary_key, table.indexes) == (("id",), ())
    assert (other.primary_key, other.indexes) == (("id",), (Index("UQ_n", ("n",), True),))
    assert notes(schema) == [
        (
            "a.sql:1:1: IF OBJECT_ID('dbo.t') IS NOT NULL: taken as true: conditions are not"
            " computed"
        ),
        (
            "a.sql:3:1: CREATE TABLE #scratch: left out: the log that writers read does not hold"
            " temporary tables"
        ),
        (
            "a.sql:4:67: references dbo.t: left out: table shop.dbo.t is not among the tables that"
            " are taken"
        ),
        ("a.sql:5:42: default 0: left out: the column is taken without a default"),
    ]


def test_keys_and_constraints_that_are_dropped(reads, notes):
    schema = reads(
        "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT pk PRIMARY KEY CLUSTERED WITH (FILLFACTOR = 80) ON [PRIMARY],"
        " a int CONSTRAINT uq UNIQUE, b int CONSTRAINT df DEFAULT ((1)))\n"
        "ALTER TABLE dbo.t DROP CONSTRAINT PK, uq, df\n"
        "ALTER TABLE dbo.t DROP CONSTRAINT IF EXISTS x, COLUMN b"
    )
    table = schema.tables[0].table
    assert (table.primary_key, table.indexes) == ((), ())
    assert [(c.name, c.nullable) for c in table.columns] == [("id", False), ("a", True)]
    assert [note.partition(": ")[2] for note in notes(schema) if "stays" in note] == [
        "df: left out: the constraint stays as it was defined",
        "CONSTRAINT IF EXISTS x: left out: the constraint stays as it was defined",
    ]


@pytest.mark.parametrize(
    ("column", "note"),
    [
        ("c sql_variant", "sql_variant: column c left out: values of its type cannot be drawn;"),
        ("c json NULL", "json: column c left out: values of its type cannot be drawn;"),
        ("c AS id * 2", "AS id * 2: column c left out: change data capture has NULL of a computed"),
    ],
)
def test_a_column_that_is_left_out_takes_its_key_with_it(reads, notes, column, note):
    schema = reads(f"CREATE TABLE dbo.t (id int, {column})")
    assert list(columns_of(schema)) == ["id"]
    assert any(note in line for line in notes(schema))
    left_out = f"CREATE TABLE dbo.t (id int, {column}, UNIQUE (C)) CREATE TABLE dbo.u (id int)"
    assert [user.table.name for user in reads(left_out).tables] == ["u"]
    index = f"CREATE TABLE dbo.t (id int, {column})\nCREATE INDEX i ON dbo.t (id, C)"
    assert notes(reads(index))[-1] == (
        "a.sql:2:1: CREATE INDEX i ON dbo.t (id, C): left out: it has the column C"
    )


def test_what_is_not_understood_is_named(reads, notes):
    schema = reads(
        "CREATE TABLE dbo.t (id int QUIRK, x int CHECK (x >< 5), INDEX i HASH (id) WITH (BUCKET_COUNT = 8),\n"
        " s datetime2(3) GENERATED ALWAYS AS ROW START HIDDEN NOT NULL, e datetime2(3) GENERATED ALWAYS AS ROW END NOT NULL,\n"
        " PERIOD FOR SYSTEM_TIME (s, e)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h))\n"
        "ALTER TABLE dbo.t SET (SYSTEM_VERSIONING = OFF)\n"
        "CREATE TABLE dbo.n (id int) AS NODE\n"
        "CREATE TABLE dbo.m (id int)\n"
        "ALTER TABLE dbo.m WIBBLE\n"
        "CREATE TYPE dbo.Phone FROM varchar(20)\n"
        "CREATE INDEX i ON dbo.gone (id)",
        database="d",
    )
    assert [user.table.name for user in schema.tables] == ["t"]
    versions = "left out: the table is taken without system versions"
    assert notes(schema) == [
        "a.sql:1:28: QUIRK: left out: not understood",
        "a.sql:1:41: CHECK (x >< 5): left out: not understood",
        f"a.sql:2:17: GENERATED ALWAYS AS ROW START: {versions}",
        f"a.sql:2:79: GENERATED ALWAYS AS ROW END: {versions}",
        f"a.sql:3:2: PERIOD FOR SYSTEM_TIME (s, e): {versions}",
        f"a.sql:3:33: WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.h)): {versions}",
        f"a.sql:4:19: SET (SYSTEM_VERSIONING = OFF): {versions}",
        "a.sql:5:29: AS NODE: table n left out: it has columns that no statement defines",
        "a.sql:7:1: ALTER TABLE dbo.m WIBBLE: table m left out: not understood",
        "a.sql:8:1: CREATE TYPE dbo.Phone FROM varchar(20): left out: columns of this type are left out, too",
        "a.sql:9:1: CREATE INDEX i ON dbo.gone (id): left out: the table is not among the tables that are read",
    ]


@pytest.mark.parametrize(
    ("ddl", "what"),
    [
        ("CREATE TABLE dbo.t (id int, ID int)", "1:29: column ID is defined twice"),
        ("CREATE TABLE dbo.t (id int)\nGO\nCREATE TABLE T (id int)", "table d.dbo.t was read at"),
        ("CREATE TABLE dbo.t (id int, PRIMARY KEY (x))", "1:42: table t has no column x"),
        (
            "CREATE TABLE dbo.t (id int) ALTER TABLE t ALTER COLUMN x int",
            "1:56: table t has no column x",
        ),
        ("CREATE TABLE dbo.t (id int) ALTER TABLE t DROP COLUMN x", "table t has no column x"),
        ("CREATE TABLE dbo.t (id int) CREATE INDEX i ON t (x)", "1:50: table t has no column x"),
        ("CREATE TABLE dbo.t ([id int)", "1:21: the quote [ does not end"),
    ],
)
def test_mistakes_of_the_script_end_the_reading(reads, ddl, what):
    with pytest.raises(UsageError) as raised:
        reads(ddl, database="d")
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("type", "check", "low", "choices"),
    [
        ("bit", "c = 1", None, (1,)),
        ("tinyint", "c >= (3)", 3, ()),
        ("money", "c > (0)", Decimal("0.0001"), ()),
        ("date", "c >= '20240229'", dt.date(2024, 2, 29), ()),
        ("datetime", "c >= '2024-02-29T10:30:00'", mysql.wall("2024-02-29 10:30:00"), ()),
        ("time(3)", "c >= '10:30'", 37_800_000_000, ()),
        ("nchar(3)", "c IN (N'a', N'b')", None, ("a  ", "b  ")),
        (
            "uniqueidentifier",
            "c = '6f9619ff-8b86-d011-b42d-00c04fc964ff'",
            None,
            ("6F9619FF-8B86-D011-B42D-00C04FC964FF",),
        ),
        ("float", "c >= 0.5", 0.5, ()),
    ],
)
def test_checks_of_each_type(reads, type, check, low, choices):
    schema = reads(f"CREATE TABLE dbo.t (id int, c {type} CHECK ({check}))")
    assert schema.tables[0].checks == (Check("c", check, low=low, choices=choices),)


def test_a_date_whose_meaning_the_session_s_language_gives_is_no_bound(reads, notes):
    schema = reads("CREATE TABLE dbo.t (id int, c date CHECK (c >= '01/02/2024'))", database="d")
    assert schema.tables[0].checks == ()
    assert notes(schema) == [
        "a.sql:1:36: CHECK (c >= '01/02/2024'): left out: values do not honour it"
    ]


def test_a_text_has_the_characters_of_its_collation_s_code_page(reads):
    schema = reads(
        "CREATE TABLE dbo.t (id int, a varchar(20), b varchar(20) COLLATE Japanese_CI_AS,"
        " c varchar(20) COLLATE Latin1_General_100_CI_AS_SC_UTF8, d nvarchar(20))"
    )
    (user,) = schema.tables
    texts = {
        column.name: {
            value
            for value in Values(schema).boundaries(user, column).values()
            if isinstance(value, str)
        }
        for column in user.table.columns
    }
    is_latin = [
        all(text.encode("cp1252", "replace").decode("cp1252") == text for text in texts[name])
        for name in "abcd"
    ]
    is_ascii = [all(text.isascii() for text in texts[name]) for name in "abcd"]
    assert (is_latin, is_ascii) == ([True, True, False, False], [False, True, False, False])


def test_a_unique_key_has_null_once(reads):
    schema = reads("CREATE TABLE dbo.t (id int, a int UNIQUE)")
    (user,) = schema.tables
    row = {"id": 1, "a": None}
    assert identity(user, ("a",), row) == identity(user, ("a",), {**row, "id": 2}) is not None
    other = reads("CREATE TABLE `t` (id int, a int UNIQUE)").tables[0]
    assert identity(other, ("a",), row) is None


def test_moments_are_those_that_the_type_stores(reads):
    schema = reads(
        "CREATE TABLE dbo.t (id uniqueidentifier PRIMARY KEY, a datetime, b smalldatetime)"
    )
    (user,) = schema.tables
    values = Values(schema)
    for column in user.table.columns:
        pool = values.pool(user, column)
        assert len(set(pool)) > 50, column.name
        assert all(sqlserver.fits(column.type, value) for value in pool)


def test_histories_of_tables_add_a_column_once(reads):
    schema = reads("CREATE TABLE dbo.t (id int PRIMARY KEY, a int)")
    drawn = strategies.draw(
        histories(Values(schema), schema.tables, Instant(0, 1), ddl=True, events=40), 60, 1
    )
    statements = [
        [event.sql for event in history.events if isinstance(event, SchemaChange)]
        for history in drawn
    ]
    assert {tuple(texts) for texts in statements} <= {
        (),
        ("ALTER TABLE [dbo].[t] ADD [added] int",),
    }
    assert any(statements)


def test_a_table_that_is_printed_and_read_is_the_same(tmp_path):
    path = tmp_path / "tables.sql"

    def statement(table):
        lines = [
            f"{sqlserver.quote(c.name)} {sqlserver.declared(c.type)} {'NULL' if c.nullable else 'NOT NULL'}"
            for c in table.columns
        ]
        for kind, keys in (("PRIMARY KEY", (table.primary_key,)), ("UNIQUE", table.unique)):
            lines += [f"{kind} ({', '.join(map(sqlserver.quote, key))})" for key in keys if key]
        name = ".".join(map(sqlserver.quote, (table.database, table.schema, table.name)))
        return f"CREATE TABLE {name} (\n  " + ",\n  ".join(lines) + "\n)\nGO\n"

    @settings(max_examples=100)
    @given(
        st.lists(
            strategies.tables(source="sqlserver"),
            min_size=1,
            max_size=3,
            unique_by=lambda table: table.name.lower(),
        )
    )
    def holds(tables):
        path.write_text("".join(map(statement, tables)), "utf-8", errors="surrogatepass")
        schema = read_schema([str(path)], dialect="sqlserver")
        assert [
            replace(
                user.table,
                indexes=(),
                columns=tuple(replace(c, charset="") for c in user.table.columns),
            )
            for user in schema.tables
        ] == tables
        other_notes = [n for n in schema.notes if "64 bits of nanoseconds" not in n.action]
        assert other_notes == []

    holds()
