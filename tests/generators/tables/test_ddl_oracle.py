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
from generators.sources import mysql, oracle
from generators.tables.histories import histories
from generators.tables.reading import read_schema
from generators.tables.schema import Check, ForeignKey
from generators.tables.user_values import Values, identity

SCRIPT = (Path(__file__).with_name("dumps") / "oracle.sql").read_text("utf-8")


def columns_of(schema, number=0):
    return {column.name: column.type for column in schema.tables[number].table.columns}


def test_a_script_of_dbms_metadata(reads, notes, noted):
    schema = reads(SCRIPT, database="shop")
    customers, orders = schema.tables
    assert (schema.dialect, schema.source) == ("oracle", "oracle")
    assert customers.table == Table(
        "shop",
        "CUSTOMERS",
        (
            Column("ID", oracle.number(), False),
            Column("EMAIL", oracle.string("varchar2", 120), False),
            Column("Name", oracle.string("varchar2", 64), declared="VARCHAR2(64 BYTE)"),
            Column("CITY", oracle.string("nvarchar2", 40)),
            Column("KIND", oracle.string("char", 4), False, declared="CHAR(4 BYTE)"),
            Column("BALANCE", oracle.number(12, 2), False),
            Column("BORN", oracle.temporal("date"), comment="it's a day; of birth"),
        ),
        ("ID",),
        (("EMAIL",),),
        "SALES",
        (Index("EMAIL_UQ", ("EMAIL",), True),),
        "who buys",
    )
    assert orders.table == Table(
        "shop",
        "ORDERS",
        (
            Column("ID", oracle.number(18), False),
            Column("CUSTOMER_ID", oracle.number(), False),
            Column("AMOUNT", oracle.number(38, 2)),
            Column("STATUS", oracle.string("varchar2", 10), False, declared="VARCHAR2(10 BYTE)"),
            Column("MADE", oracle.temporal("timestamp", 9), False),
            Column("DUE", oracle.temporal("timestamptz", 3)),
            Column("SEEN", oracle.temporal("timestampltz", 6)),
            Column("RATIO", oracle.real()),
            Column("SHARE", oracle.floating()),
            Column(
                "LASTS",
                oracle.interval("interval-day"),
                declared="INTERVAL DAY(2) TO SECOND(6)",
            ),
            Column("NOTE", oracle.string("clob")),
            Column("CODE", oracle.binary("raw", 16)),
        ),
        ("ID",),
        (),
        "SALES",
        (Index("ORDERS_PK", ("ID",)), Index("ORDERS_IX", ("CUSTOMER_ID", "MADE"))),
    )
    assert orders.foreign_keys == (
        ForeignKey(("CUSTOMER_ID",), ("shop", "SALES", "CUSTOMERS"), ("ID",)),
    )
    assert orders.checks == (
        Check("AMOUNT", "amount >= 0", low=Decimal("0.00")),
        Check("STATUS", "status IN ('new', N'paid')", choices=("new", "paid")),
        Check(
            "MADE",
            "\"MADE\" BETWEEN '1677-09-22' AND '2262-04-11T23:47:16'",
            low=mysql.wall("1677-09-22"),
            high=mysql.wall("2262-04-11 23:47:16"),
        ),
    )
    assert notes(schema) == noted("oracle")


def test_a_table_that_containers_share_is_read(reads):
    schema = reads('CREATE TABLE "S"."T" SHARING=METADATA ("ID" NUMBER(9,0)) PCTFREE 10;')
    assert columns_of(schema) == {"ID": oracle.number(9)}


def test_columns_keep_the_spelling_that_bounds_their_values(reads):
    schema = reads(
        "CREATE TABLE s.t (a VARCHAR2(5), b VARCHAR2(5 BYTE), c VARCHAR2(5 CHAR), d CHAR, e FLOAT(10),"
        " f INTERVAL YEAR TO MONTH, g INTERVAL DAY(0) TO SECOND(2))"
    )
    assert [column.declared for column in schema.tables[0].table.columns] == [
        "VARCHAR2(5 BYTE)",
        "VARCHAR2(5 BYTE)",
        "",
        "CHAR(1 BYTE)",
        "FLOAT(10)",
        "INTERVAL YEAR(2) TO MONTH",
        "INTERVAL DAY(0) TO SECOND(2)",
    ]


@pytest.mark.parametrize(
    ("type", "held", "refused"),
    [
        ("VARCHAR2(5)", "héll", "hélló"),
        ("VARCHAR2(5 CHAR)", "hélló", "hellos"),
        ("CHAR(3)", "abc", "abé"),
        ("FLOAT(10)", Decimal(123), Decimal(1234)),
        ("INTERVAL YEAR TO MONTH", "+0099-11", "+0100-00"),
        ("INTERVAL YEAR(4) TO MONTH", "-9999-11", None),
        ("INTERVAL DAY TO SECOND", "-0099 23:59:59.999999", "+0100 00:00:00.000000"),
        ("INTERVAL DAY(9) TO SECOND(2)", "+9999 00:00:00.120000", "+0000 00:00:00.001000"),
    ],
)
def test_a_column_holds_what_its_spelling_allows(reads, type, held, refused):
    schema = reads(f"CREATE TABLE s.t (id NUMBER(9), c {type} NOT NULL)", dialect="oracle")
    (user,) = schema.tables
    column, values = user.table.column("C"), Values(schema)
    assert values.can_hold(user, column, held)
    assert not values.can_hold(user, column, refused)
    pool = [*values.pool(user, column), *values.boundaries(user, column).values()]
    assert all(oracle.fits_declared(column.declared, value) for value in pool)


def test_types_by_their_other_names(reads, notes):
    schema = reads(
        "create table s.t (id integer primary key, a dec(5), b character(3 char), c char varying(4 char),"
        " d national character varying(5), e national char(6), f double precision, g smallint,"
        " h numeric, i decimal(9, 3), j number, k number(*), l number(*, 3), m number(7), n number(5, -2),"
        " o varchar(8 char), p timestamp, q timestamp(3) with local time zone, r timestamp with time zone,"
        " s binary_float, t nchar, u raw(7), v rowid, w nclob, x blob, y float)",
        dialect="oracle",
        database="d",
    )
    assert columns_of(schema) == {
        "ID": oracle.number(38),
        "A": oracle.number(5),
        "B": oracle.string("char", 3),
        "C": oracle.string("varchar2", 4),
        "D": oracle.string("nvarchar2", 5),
        "E": oracle.string("nchar", 6),
        "F": oracle.floating(),
        "G": oracle.number(38),
        "H": oracle.number(38),
        "I": oracle.number(9, 3),
        "J": oracle.number(),
        "K": oracle.number(),
        "L": oracle.number(38, 3),
        "M": oracle.number(7),
        "N": oracle.number(5, -2),
        "O": oracle.string("varchar2", 8),
        "P": oracle.temporal("timestamp", 6),
        "Q": oracle.temporal("timestampltz", 3),
        "R": oracle.temporal("timestamptz", 6),
        "S": oracle.real("binary_float"),
        "T": oracle.string("nchar", 1),
        "U": oracle.binary("raw", 7),
        "V": oracle.rowid(),
        "W": oracle.string("nclob"),
        "X": oracle.binary("blob"),
        "Y": oracle.floating(),
    }
    assert notes(schema)[:3] == [
        "a.sql:1:22: integer: taken as NUMBER(38,0), as the database shows it",
        "a.sql:1:45: dec(5): taken as NUMBER(5,0), as the database shows it",
        "a.sql:1:55: character(3 char): taken as CHAR(3 CHAR), as the database shows it",
    ]


@pytest.mark.parametrize(
    ("type", "what"),
    [
        ("INT(11)", "INT(11): INT has no arguments"),
        ("DATE(3)", "DATE(3): DATE has no arguments"),
        ("VARCHAR2", "VARCHAR2: the length is 1 to 32767"),
        ("RAW(40000)", "RAW(40000): the length is 1 to 32767"),
        ("CHAR(2001)", "CHAR(2001): the length is 1 to 2000"),
        ("VARCHAR2(٣)", "VARCHAR2(٣): the length is 1 to 32767"),
        ("RAW(16 BYTE)", "RAW(16 BYTE): RAW has a length without a unit"),
        ("NVARCHAR2(20 CHAR)", "NVARCHAR2(20 CHAR): NVARCHAR2 has a length without a unit"),
        ("NUMBER(39,2)", "NUMBER(39,2): precision is 1 to 38, scale -84 to it"),
        ("NUMBER(5,2,1)", "NUMBER(5,2,1): too many arguments"),
        ("NUMBER(x)", "NUMBER(x): numbers expected"),
        ("TIMESTAMP(10)", "timestamp(10): fraction digits are 0 to 9"),
        ("FLOAT(127)", "FLOAT(127): FLOAT has 1 to 126 binary digits"),
        ("INTERVAL DAY TO MONTH", "TO SECOND expected, not 'TO'"),
    ],
)
def test_arguments_that_a_type_cannot_have(reads, type, what):
    with pytest.raises(UsageError) as raised:
        reads(f"CREATE TABLE s.t (id INT, c {type})", dialect="oracle")
    assert str(raised.value).endswith(what)


@pytest.mark.parametrize(
    ("column", "construct"),
    [
        ("c XMLTYPE", "XMLTYPE"),
        ("c SYS.XMLTYPE NOT NULL", "SYS.XMLTYPE"),
        ('c "MDSYS"."SDO_GEOMETRY"', '"MDSYS"."SDO_GEOMETRY"'),
        ("c JSON", "JSON"),
        ("c LONG RAW", "LONG RAW"),
        ("c LONG DEFAULT NULL", "LONG"),
        ("c BFILE", "BFILE"),
        ("c hr.address", "hr.address"),
        ("c NUMBER(2, 5)", "NUMBER(2, 5)"),
        ("c TIMESTAMPS", "TIMESTAMPS"),
    ],
)
def test_a_column_of_another_type_is_left_out_and_takes_its_key_with_it(
    reads, notes, column, construct
):
    schema = reads(f"CREATE TABLE s.t (id INT, {column})", dialect="oracle", database="d")
    assert list(columns_of(schema)) == ["ID"]
    assert notes(schema)[1] == (
        f"a.sql:1:29: {construct}: column C left out: values of its type cannot be drawn; messages"
        " are those of the table without it"
    )
    left_out = f"CREATE TABLE s.t (id INT, {column}, UNIQUE (C));CREATE TABLE s.u (id INT);"
    assert [user.table.name for user in reads(left_out, dialect="oracle").tables] == ["U"]
    index = f"CREATE TABLE s.t (id INT, {column});\nCREATE INDEX s.i ON s.t (id, C);"
    assert notes(reads(index, dialect="oracle"))[-1] == (
        "a.sql:2:1: CREATE INDEX s.i ON s.t (id, C): left out: it has the column C"
    )


@pytest.mark.parametrize(
    "column",
    [
        "v AS (id * 2)",
        "v NUMBER(5) AS (id * 2) VIRTUAL",
        "v NUMBER GENERATED ALWAYS AS (id * 2) VIRTUAL NOT NULL",
    ],
)
def test_a_virtual_column_is_left_out(reads, notes, column):
    schema = reads(f"CREATE TABLE s.t (id NUMBER(3), {column}, a INT)", database="d")
    assert list(columns_of(schema)) == ["ID", "A"]
    (note,) = (note for note in notes(schema) if "column V" in note)
    assert note.endswith(
        "column V left out: the redo log has no value of a virtual column; messages are those of"
        " the table without it"
    )


def test_statements_end_with_a_semicolon_a_slash_or_the_next_line_that_begins_one(reads, notes):
    schema = reads(
        "SET DEFINE OFF\n"
        "REM it's a script\n"
        'create table "Mixed" (id NUMBER(9) not null, "Name" VARCHAR2(5 CHAR), old INT)\n'
        "/\n"
        "CREATE TABLE hr.u (id NUMBER(9) PRIMARY KEY, t NUMBER(9), n VARCHAR2(9 CHAR) UNIQUE)\n"
        "\n"
        '  ALTER TABLE "Mixed" ADD (a NUMBER(1) NOT NULL, b DATE DEFAULT NULL) DROP COLUMN old\n'
        "  COMMENT ON TABLE HR.U IS 'say; it'\n"
        "CREATE OR REPLACE PACKAGE p AS\n  PROCEDURE q;\nEND;\n/\n"
        "CREATE TYPE hr.address AS OBJECT (street VARCHAR2(9));\n"
        "ALTER SESSION SET CURRENT_SCHEMA = hr;\n"
        "ALTER TABLE u ADD CONSTRAINT f FOREIGN KEY (t) REFERENCES u (id);",
        database="d",
    )
    mixed, other = (user.table for user in schema.tables)
    assert (mixed.database, mixed.schema, mixed.name) == ("d", "SHOP", "Mixed")
    assert (other.database, other.schema, other.name) == ("d", "HR", "U")
    assert [(c.name, c.nullable) for c in mixed.columns] == [
        ("ID", False),
        ("Name", True),
        ("A", False),
        ("B", True),
    ]
    assert (other.primary_key, other.indexes) == (("ID",), (Index("UQ_N", ("N",), True),))
    assert other.comment == "say; it"
    assert schema.tables[1].foreign_keys == (ForeignKey(("T",), ("d", "HR", "U"), ("ID",)),)
    assert notes(schema) == [
        "a.sql:0:0: no schema is named: its tables are taken as those of SHOP",
        "a.sql:3:75: INT: taken as NUMBER(38,0), as the database shows it",
        "a.sql:9:1: CREATE OR REPLACE PACKAGE p AS PROCEDURE q; END;: left out: no histories of a package",
        "a.sql:13:1: CREATE TYPE hr.address AS OBJECT (street VARCHAR2(9: left out: columns of this type are left out, too",
    ]


def test_columns_and_keys_that_are_altered(reads, notes):
    schema = reads(
        "CREATE TABLE s.t (id NUMBER(9) CONSTRAINT pk PRIMARY KEY USING INDEX TABLESPACE x, a NUMBER(3) CONSTRAINT uq UNIQUE,"
        " b NUMBER(3), c NUMBER(3), d NUMBER(3), e NUMBER(3));\n"
        "ALTER TABLE s.t DROP CONSTRAINT uq DROP PRIMARY KEY CASCADE;\n"
        "ALTER TABLE s.t MODIFY (a NUMBER(5) NOT NULL, b NOT NULL ENABLE, id NULL);\n"
        "ALTER TABLE s.t DROP (c, d) CASCADE CONSTRAINTS;\n"
        "ALTER TABLE s.t RENAME COLUMN e TO f;\n"
        "ALTER TABLE s.t ADD CONSTRAINT pk PRIMARY KEY (id) ADD UNIQUE (b);\n"
        "ALTER TABLE s.t ADD SUPPLEMENTAL LOG DATA (ALL) COLUMNS;\n"
        "ALTER TABLE s.t DROP CONSTRAINT gone;\n"
        "CREATE INDEX s.i ON s.t (f); DROP INDEX s.i;\n"
        "ALTER TABLE s.t RENAME TO u;",
        database="d",
        dialect="oracle",
    )
    (user,) = schema.tables
    assert user.table.name == "U"
    assert [(c.name, c.type.precision, c.nullable) for c in user.table.columns] == [
        ("ID", 9, False),
        ("A", 5, False),
        ("B", 3, False),
        ("F", 3, True),
    ]
    assert (user.table.primary_key, user.table.indexes) == (
        ("ID",),
        (Index("UQ_B", ("B",), True),),
    )
    assert notes(schema) == [
        "a.sql:8:17: DROP CONSTRAINT gone: left out: the constraint stays as it was defined"
    ]


def test_what_is_not_understood_is_named(reads, notes):
    schema = reads(
        "CREATE TABLE s.t (id NUMBER(9) QUIRK, x NUMBER(9) CHECK (x >< 5), n DATE INVISIBLE) WOBBLE;\n"
        "CREATE TABLE s.q AS SELECT * FROM s.t;\n"
        "CREATE TABLE s.e (id NUMBER(9)) ORGANIZATION EXTERNAL (TYPE ORACLE_LOADER);\n"
        "CREATE GLOBAL TEMPORARY TABLE s.g (id NUMBER(9)) ON COMMIT DELETE ROWS;\n"
        "CREATE TABLE s.m (id NUMBER(9));\n"
        "ALTER TABLE s.m WIBBLE;\n"
        "CREATE BITMAP INDEX s.i ON s.t (x);\n"
        "CREATE INDEX s.j ON s.t (x + 1);\n"
        "CREATE INDEX s.k ON s.gone (id);",
        database="d",
        dialect="oracle",
    )
    assert [user.table.name for user in schema.tables] == ["T"]
    assert notes(schema) == [
        "a.sql:1:32: QUIRK: left out: not understood",
        "a.sql:1:51: CHECK (x >< 5): left out: not understood",
        "a.sql:1:74: INVISIBLE: taken as a visible column",
        "a.sql:1:85: WOBBLE: left out: not understood",
        "a.sql:2:1: CREATE TABLE s.q AS SELECT * FROM s.t: table Q left out: its columns are another table's or a query's",
        "a.sql:3:33: ORGANIZATION EXTERNAL (TYPE ORACLE_LOADER): table E left out: the redo log has no rows of a file",
        "a.sql:4:1: CREATE GLOBAL TEMPORARY TABLE s.g: left out: the log that writers read does not hold temporary tables",
        "a.sql:6:17: WIBBLE: table M left out: not understood",
        "a.sql:7:1: CREATE BITMAP INDEX s.i ON s.t (x): statement left out: not understood",
        "a.sql:8:1: CREATE INDEX s.j ON s.t (x + 1): left out: an index over an expression",
        "a.sql:9:1: CREATE INDEX s.k ON s.gone (id): left out: the table is not among the tables that are read",
    ]


@pytest.mark.parametrize(
    ("ddl", "what"),
    [
        ("CREATE TABLE s.t (id INT, ID INT)", "1:27: column ID is defined twice"),
        ("CREATE TABLE s.t (id INT)\n/\nCREATE TABLE S.T (id INT)", "table d.S.T was read at"),
        ("CREATE TABLE s.t (id INT, PRIMARY KEY (x))", "1:40: table T has no column X"),
        ('CREATE TABLE s.t ("id" INT, UNIQUE (id))', "1:37: table T has no column ID"),
        ("CREATE TABLE s.t (id INT); ALTER TABLE s.t MODIFY x INT", "table T has no column X"),
        ("CREATE TABLE s.t (id INT); ALTER TABLE s.t DROP COLUMN x", "table T has no column X"),
        ("CREATE TABLE s.t (id INT); CREATE INDEX i ON s.t (x)", "1:51: table T has no column X"),
        ('CREATE TABLE s.t ("id INT)', '1:19: the quote " does not end'),
    ],
)
def test_mistakes_of_the_script_end_the_reading(reads, ddl, what):
    with pytest.raises(UsageError) as raised:
        reads(ddl, database="d", dialect="oracle")
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("type", "check", "low", "choices"),
    [
        ("NUMBER(3)", "c >= 3", 3, ()),
        ("NUMBER(8,2)", "c > 0", Decimal("0.01"), ()),
        ("NUMBER", "c > 0", Decimal("1E-10"), ()),
        ("DATE", "c >= DATE '2024-02-29'", mysql.wall("2024-02-29"), ()),
        ("DATE", "c >= TO_DATE('2024-02-29', 'YYYY-MM-DD')", mysql.wall("2024-02-29"), ()),
        (
            "TIMESTAMP(3)",
            "c >= TIMESTAMP '2024-02-29 10:30:00.5'",
            mysql.wall("2024-02-29 10:30:00.5"),
            (),
        ),
        ("NCHAR(3)", "c IN (N'a', N'b')", None, ("a  ", "b  ")),
        ("BINARY_DOUBLE", "c >= 0.5", 0.5, ()),
    ],
)
def test_checks_of_each_type(reads, type, check, low, choices):
    schema = reads(f"CREATE TABLE s.t (id INT, c {type} CHECK ({check}))", dialect="oracle")
    assert schema.tables[0].checks == (Check("C", check, low=low, choices=choices),)


@pytest.mark.parametrize("check", ["c IN (1, 1e400000)", "c IN (1, 1000)", "c = 0.5"])
def test_a_number_that_the_column_cannot_hold_is_no_choice(reads, notes, check):
    schema = reads(
        f"CREATE TABLE s.t (c NUMBER(3) CHECK ({check}))", dialect="oracle", database="d"
    )
    assert schema.tables[0].checks == ()
    assert notes(schema) == [f"a.sql:1:31: CHECK ({check}): left out: values do not honour it"]


@pytest.mark.parametrize("check", ["c >= '29-FEB-24'", "c >= TO_DATE('02/29/2024', 'MM/DD/YYYY')"])
def test_a_date_that_is_not_written_in_iso_is_no_bound(reads, notes, check):
    schema = reads(f"CREATE TABLE s.t (c DATE CHECK ({check}))", dialect="oracle", database="d")
    assert schema.tables[0].checks == ()
    assert notes(schema) == [f"a.sql:1:26: CHECK ({check}): left out: values do not honour it"]


def test_a_key_of_nulls_alone_comes_several_times_one_with_a_value_once(reads):
    schema = reads("CREATE TABLE s.t (id INT, a INT, b INT, UNIQUE (a, b))", dialect="oracle")
    (user,) = schema.tables
    row = {"ID": 1, "A": None, "B": None}
    assert identity(user, ("A", "B"), row) is None
    part = {**row, "B": 5}
    assert identity(user, ("A", "B"), part) == identity(user, ("A", "B"), {**part, "ID": 2})
    assert identity(user, ("A", "B"), part) is not None


def test_realistic_values_are_those_that_the_type_stores(reads):
    schema = reads(
        "CREATE TABLE s.t (id NUMBER PRIMARY KEY, name VARCHAR2(20), a NUMBER(12,2), b DATE, c CHAR(9),"
        " d FLOAT(63), e NUMBER(9,-2), f BINARY_FLOAT, g TIMESTAMP(9))"
    )
    (user,) = schema.tables
    values = Values(schema)
    for column in user.table.columns:
        pool = values.pool(user, column)
        assert len(set(pool)) > 8, column.name
        assert all(oracle.fits(column.type, value) for value in pool)
    assert values.pool(user, user.table.column("ID"))[0] % 1 >= 0
    assert dt.datetime(1970, 1, 1) + dt.timedelta(
        microseconds=values.pool(user, user.table.column("B"))[0]
    ) > dt.datetime(2000, 1, 1)


def test_histories_of_tables_add_a_column_once(reads):
    schema = reads("CREATE TABLE hr.t (id NUMBER(9) PRIMARY KEY, a NUMBER(9))")
    drawn = strategies.draw(
        histories(Values(schema), schema.tables, Instant(0, 1), ddl=True, events=40), 60, 1
    )
    statements = [
        [event.sql for event in history.events if isinstance(event, SchemaChange)]
        for history in drawn
    ]
    assert {tuple(texts) for texts in statements} <= {
        (),
        ('ALTER TABLE "HR"."T" ADD ("added" NUMBER(9,0))',),
    }
    assert any(statements)


def can_be_quoted(table):
    """Oracle's names have no double quote."""
    return not any('"' in name for name in (table.name, *(c.name for c in table.columns)))


def test_a_table_that_is_printed_and_read_is_the_same(tmp_path):
    path = tmp_path / "tables.sql"

    def statement(table):
        lines = [
            f"{oracle.quote(c.name)} {oracle.declared(c.type)} {'NULL' if c.nullable else 'NOT NULL'}"
            for c in table.columns
        ]
        for kind, keys in (("PRIMARY KEY", (table.primary_key,)), ("UNIQUE", table.unique)):
            lines += [f"{kind} ({', '.join(map(oracle.quote, key))})" for key in keys if key]
        name = ".".join(map(oracle.quote, (table.schema, table.name)))
        return f"CREATE TABLE {name} (\n  " + ",\n  ".join(lines) + "\n);\n"

    @settings(max_examples=100)
    @given(
        st.lists(
            strategies.tables(source="oracle").filter(can_be_quoted),
            min_size=1,
            max_size=3,
            unique_by=lambda table: table.name,
        )
    )
    def holds(tables):
        path.write_text("".join(map(statement, tables)), "utf-8", errors="surrogatepass")
        schema = read_schema([str(path)], dialect="oracle", database="drawn")
        assert [
            replace(
                user.table,
                indexes=(),
                columns=tuple(replace(c, declared="") for c in user.table.columns),
            )
            for user in schema.tables
        ] == tables
        other_notes = [n for n in schema.notes if "64 bits of nanoseconds" not in n.action]
        assert other_notes == []

    holds()
