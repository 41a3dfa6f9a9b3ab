import datetime as dt
from decimal import Decimal
from pathlib import Path

import pytest

from generators.errors import UsageError
from generators.model import Column, Default, Index, Json, Table
from generators.sources import mysql, postgresql
from generators.tables.ddl_text import unescape
from generators.tables.schema import Check, ForeignKey

DUMPS = Path(__file__).with_name("dumps")

PG_DUMP = (DUMPS / "postgresql.sql").read_text("utf-8")


def test_a_dump_of_pg_dump(reads, notes, noted):
    schema = reads(PG_DUMP)
    customers, orders, pairs, parted, partition = schema.tables
    assert [column.name for column in pairs.table.columns] == ["id"]
    label = Default("'it''s'::character varying", "it's")
    mood = postgresql.enum_of("sad", "it's")
    since = Default("'2024-01-01 00:00:00+00'::timestamp with time zone", mysql.wall("2024-01-01"))
    assert (schema.dialect, schema.source) == ("postgresql", "postgresql")
    assert customers.table == Table(
        "app",
        "customers",
        (
            Column(
                "id",
                postgresql.integer("bigint"),
                False,
                default=Default("nextval('public.customers_id_seq'::regclass)"),
            ),
            Column("seq", postgresql.integer(), False),
            Column(
                "Full Name",
                postgresql.text("varchar", 64),
                default=label,
                collation="C",
                comment="it's",
            ),
            Column("mood", mood, default=Default("'sad'::public.mood", "sad")),
            Column("moods", postgresql.array_of(mood)),
            Column("score", postgresql.integer(), False, declared="posint"),
            Column(
                "price", postgresql.numeric(10, 2), default=Default("'-5'::integer", Decimal(-5))
            ),
            Column("any_price", postgresql.numeric()),
            Column("flags", postgresql.bit(8), default=Default("""'101'::"bit\"""", 5)),
            Column("bits", postgresql.bit(None, varying=True)),
            Column("raw", postgresql.bytea(), default=Default(r"'\x00ff'::bytea", b"\x00\xff")),
            Column("since", postgresql.temporal("timestamptz"), default=since),
            Column("seen", postgresql.temporal("timestamp", 0), default=Default("now()")),
            Column(
                "day",
                postgresql.temporal("date"),
                default=Default("'2024-01-01'::date", dt.date(2024, 1, 1)),
            ),
            Column("extra", postgresql.json("jsonb"), default=Default("'{}'::jsonb", Json({}))),
            Column(
                "tags",
                postgresql.array("text"),
                default=Default("'{a,b}'::text[]", Json(["a", "b"])),
            ),
            Column("attributes", postgresql.hstore()),
            Column("code", postgresql.text("char", 4), default=Default("'x'::bpchar", "x   ")),
            Column("ok", postgresql.boolean(), False, default=Default("true", 1)),
            Column("label", postgresql.text("text"), generated="stored"),
        ),
        ("id",),
        (("Full Name", "seq"),),
        "public",
        (Index("customers_key", ("Full Name", "seq"), True),),
        "who; buys",
    )
    assert customers.computed == (("label", "((\"Full Name\")::text || 'x'::text)"),)
    assert customers.checks == (
        Check("score", "(VALUE > 0)", low=1),
        Check(
            "day",
            "((day >= '2020-01-01'::date) AND (price < (100)::numeric))",
            low=dt.date(2020, 1, 1),
        ),
        Check(
            "price",
            "((day >= '2020-01-01'::date) AND (price < (100)::numeric))",
            high=Decimal("99.99"),
        ),
        Check("code", "(code = ANY (ARRAY['a'::bpchar, 'b'::bpchar]))", choices=("a   ", "b   ")),
    )
    assert orders.table == Table(
        "app",
        "orders",
        (
            Column("id", postgresql.integer(), False),
            Column("customer", postgresql.integer("bigint")),
        ),
        ("id",),
        (("customer", "id"),),
        "sales",
        (
            Index("i1", ("customer",)),
            Index("i3", ("customer",), unique=True, partial=True),
            Index("i4", ("customer", "id"), True),
        ),
        included=("customer",),
    )
    assert orders.foreign_keys == (
        ForeignKey(("customer",), ("app", "public", "customers"), ("id",)),
    )
    assert (parted.table.name, partition.table.name) == ("parted", "parted_1")
    assert notes(schema) == noted("postgresql")


@pytest.mark.parametrize(
    ("type", "literal", "value"),
    [
        *(("boolean", text, 1) for text in ("true", "TRU", " t ", "yes", "y", "on", "1")),
        *(("boolean", text, 0) for text in ("false", "fa", "no", "n", "off", "of", "0")),
        *(("boolean", text, None) for text in ("garbage", "o", "", "truex", "10", "2")),
        ("bit(3)", "101", 5),
        ("bit(3)", "", None),
        ("bit(3)", "1010", None),
        ("bit(3)", "1_0", None),
        ("bit varying", "", ""),
        ("bit varying(3)", "10", 2),
        ("bit varying(3)", "1010", None),
    ],
)
def test_the_default_of_a_boolean_and_of_bits_is_what_postgresql_takes(reads, type, literal, value):
    schema = reads(
        f"CREATE TABLE a (id int PRIMARY KEY, c {type} DEFAULT '{literal}');",
        dialect="postgresql",
        database="shop",
    )
    default = schema.tables[0].table.column("c").default
    assert (default.text, default.value) == (f"'{literal}'", value)


def test_a_default_may_be_an_array_with_commas_in_it(reads):
    schema = reads(
        "CREATE TABLE a (id int PRIMARY KEY, s text[] DEFAULT ARRAY['x','y'::text], n int[][] NOT NULL"
        " DEFAULT ARRAY[[1, 2], [3, 4]], z int);",
        database="shop",
    )
    (table,) = schema.tables
    assert [
        (column.name, column.default and column.default.text) for column in table.table.columns
    ] == [
        ("id", None),
        ("s", "ARRAY['x','y'::text]"),
        ("n", "ARRAY[[1, 2], [3, 4]]"),
        ("z", None),
    ]


def test_a_bpchar_without_a_length_has_any_length(reads):
    schema = reads(
        "CREATE TABLE a (id serial PRIMARY KEY, b bpchar, c bpchar(3), d character);",
        database="shop",
    )
    (table,) = schema.tables
    any_length = postgresql.text("varchar", 1_073_741_823)
    types = [column.type for column in table.table.columns[1:]]
    assert types == [any_length, postgresql.text("char", 3), postgresql.text("char", 1)]


def test_keys_may_stand_with_the_columns(reads, notes):
    schema = reads(
        """CREATE TABLE a (id serial PRIMARY KEY, x int CHECK (x > 0) NO INHERIT UNIQUE, "Y" varchar(3) NOT NULL);
CREATE TABLE IF NOT EXISTS b (
  id int GENERATED ALWAYS AS IDENTITY (START 5) PRIMARY KEY,
  a_id int CONSTRAINT fk REFERENCES a ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED,
  w int4 ARRAY, v text[][] NOT NULL DEFAULT '{}', t timestamptz(3) DEFAULT now() NOT NULL, e text DEFAULT E'a\\n\\u00e9');
create type m as enum ('x'); alter type m add value 'y' before 'x';
create table c (m m not null, q m[], primary key (m)); create unique index on c (q);
alter table c add column n bigint default 5, add constraint cu unique (n), alter n set not null, drop column if exists q;
SET search_path = sales, pg_catalog;
create table d (id bigint);
""",
        database="shop",
    )
    a, b, c, d = schema.tables
    assert a.table == Table(
        "shop",
        "a",
        (
            Column(
                "id", postgresql.integer(), False, default=Default("nextval('a_id_seq'::regclass)")
            ),
            Column("x", postgresql.integer()),
            Column("Y", postgresql.text("varchar", 3), False),
        ),
        ("id",),
        (("x",),),
        "public",
        (Index("a_x_key", ("x",), True),),
    )
    assert a.checks == (Check("x", "x > 0", low=1),)
    assert b.table.columns == (
        Column("id", postgresql.integer(), False),
        Column("a_id", postgresql.integer()),
        Column("w", postgresql.array("integer")),
        Column("v", postgresql.array("text"), False, default=Default("'{}'", Json([]))),
        Column("t", postgresql.temporal("timestamptz", 3), False, default=Default("now()")),
        Column("e", postgresql.text("text"), default=Default("E'a\\n\\u00e9'", "a\né")),
    )
    assert b.foreign_keys == (ForeignKey(("a_id",), ("shop", "public", "a"), ("id",)),)
    assert c.table.columns == (
        Column("m", postgresql.enum_of("x", "y"), False),
        Column("n", postgresql.integer("bigint"), False, default=Default("5", 5)),
    )
    assert (c.table.primary_key, c.table.unique) == (("m",), (("n",),))
    assert d.table.schema == "sales"
    assert notes(schema) == []


@pytest.mark.parametrize(
    ("spelled", "kind"),
    [
        *(("int2", postgresql.integer("smallint")), ("decimal(5)", postgresql.numeric(5, 0))),
        *(("numeric(3,-2)", postgresql.numeric(3, -2)), ("float(24)", postgresql.real("real"))),
        *(
            ("float", postgresql.real("double precision")),
            ("varchar", postgresql.text("varchar", postgresql.SIZE_LIMIT)),
        ),
        *(("char", postgresql.text("char", 1)), ('"char"', postgresql.other('"char"'))),
        *(
            ("pg_catalog.int4", postgresql.integer()),
            ("time(3) with time zone", postgresql.temporal("timetz", 3)),
        ),
        *(
            ("timestamptz", postgresql.temporal("timestamptz")),
            ("interval(2)", postgresql.temporal("interval", 2)),
        ),
        *(
            ("varbit(5)", postgresql.bit(5, varying=True)),
            ("public.citext", postgresql.other("citext")),
        ),
        ("character varying(5)[]", postgresql.array_of(postgresql.text("varchar", 5))),
    ],
)
def test_a_type_has_many_spellings(reads, spelled, kind):
    assert reads(f"CREATE TABLE t (c {spelled} NOT NULL);", dialect="postgresql").tables[
        0
    ].table.columns == (Column("c", kind, False),)


MISSING = "left out: values of its type cannot be drawn; messages are those of the table without it"


@pytest.mark.parametrize(
    "spelled", ["box", "geometry(Point,4326)", "bit(80)", "bit(3)[]", "public.unknown", "pg_lsn"]
)
def test_a_column_of_a_type_that_no_writer_has_is_left_out(reads, notes, spelled):
    schema = reads(
        f"CREATE TABLE t (a int, c {spelled} NOT NULL, d text);\nCREATE TABLE u (a int);",
        dialect="postgresql",
        database="d",
    )
    columns = [[c.name for c in user.table.columns] for user in schema.tables]
    assert columns == [["a", "d"], ["a"]]
    assert notes(schema) == [f"a.sql:1:26: {spelled}: column c {MISSING}"]


def test_a_table_whose_key_has_such_a_column_is_left_out(reads, notes):
    schema = reads(
        "CREATE TABLE t (a int, c box, PRIMARY KEY (a, c));\nCREATE TABLE u (a int);",
        dialect="postgresql",
        database="d",
    )
    assert [user.table.name for user in schema.tables] == ["u"]
    assert notes(schema)[1].endswith("table t left out: its key has the column c")


def test_no_table_that_can_be_taken_is_a_mistake(reads, tmp_path):
    with pytest.raises(UsageError) as raised:
        reads("CREATE TABLE t (c box PRIMARY KEY);", dialect="postgresql", database="d")
    told = str(raised.value).replace(f"{tmp_path}/", "")
    assert told.startswith("no table of a.sql could be taken:\n")
    assert f"\n  a.sql:1:19: box: column c {MISSING}" in told


def test_clauses_that_no_message_shows(reads, notes):
    schema = reads(
        """CREATE TABLE t (id int, index int) WITH (fillfactor = 70) TABLESPACE x;
CREATE TABLE u (id int) WITHOUT OIDS;
ALTER TABLE t ALTER index SET NOT NULL, ALTER CONSTRAINT c DEFERRABLE, SET (fillfactor = 60), SET TABLESPACE y, RESET (a);
ALTER TABLE u SET SCHEMA s;""",
        dialect="postgresql",
        database="d",
    )
    user, moved = schema.tables
    assert user.table.columns == (
        Column("id", postgresql.integer()),
        Column("index", postgresql.integer(), False),
    )
    assert (moved.table.schema, moved.table.name) == ("s", "u")
    assert notes(schema) == []


def test_columns_have_new_names_and_types(reads, notes):
    """A name without a schema is of the search path, not of the schema of the table itself."""
    schema = reads(
        """CREATE TABLE p (id int PRIMARY KEY, a varchar(9) DEFAULT '7', CONSTRAINT u UNIQUE (a));
CREATE TABLE s.c (id int, p int REFERENCES p);
ALTER TABLE p RENAME a TO b;
ALTER TABLE p ALTER COLUMN b TYPE bigint USING b::bigint, DROP CONSTRAINT u;
ALTER TABLE s.c RENAME TO d;""",
        dialect="postgresql",
        database="d",
    )
    parent, child = (user.table for user in schema.tables)
    assert (parent.column("b").type, parent.unique) == (postgresql.integer("bigint"), ())
    assert parent.column("b").default == Default("'7'", 7)
    assert (child.schema, child.name) == ("s", "d")
    (reference,) = schema.tables[1].foreign_keys
    assert reference.parent == ("d", "public", "p")
    assert notes(schema) == []


def test_statements_that_stand_seldom(reads, notes):
    schema = reads(
        """CREATE TABLE t (
  a int[3][3], b int ARRAY, c float(10), d float(30),
  e bytea DEFAULT '\\x00'::bytea, f bytea DEFAULT 'ab', g timestamp DEFAULT '2020-01-01', h numeric DEFAULT (1)::numeric,
  i text DEFAULT NULL::text, k int, l int DEFAULT 3,
  EXCLUDE USING gist (a WITH =)
);
CREATE UNIQUE INDEX i ON t (k);
ALTER TABLE ONLY t ADD CONSTRAINT p PRIMARY KEY USING INDEX i;
ALTER TABLE t ALTER k SET STORAGE PLAIN, ALTER l DROP DEFAULT, ALTER l ADD GENERATED BY DEFAULT AS IDENTITY;
ALTER TABLE t ALTER COLUMN d SET DEFAULT 1.5, ALTER d SET NOT NULL, ALTER COLUMN k RESET (n_distinct);
CREATE TABLE u PARTITION OF t DEFAULT;
CREATE TABLE v OF ty;
CREATE TABLE w (LIKE t INCLUDING ALL);""",
        dialect="postgresql",
        database="d",
    )
    (user,) = schema.tables
    assert [(c.name, c.type.name, c.default and c.default.value) for c in user.table.columns] == [
        *(
            ("a", "integer[]", None),
            ("b", "integer[]", None),
            ("c", "real", None),
            ("d", "double precision", 1.5),
        ),
        *(
            ("e", "bytea", b"\0"),
            ("f", "bytea", b"ab"),
            ("g", "timestamp", mysql.wall("2020-01-01")),
            ("h", "numeric", Decimal(1)),
        ),
        *(("i", "text", None), ("k", "integer", None), ("l", "integer", None)),
    ]
    assert [c.name for c in user.table.columns if not c.nullable] == ["d", "k", "l"]
    assert (user.table.primary_key, user.table.indexes) == (("k",), ())
    assert notes(schema) == [
        "a.sql:5:3: EXCLUDE USING gist (a WITH =): left out: values do not honour it",
        "a.sql:11:1: CREATE TABLE u PARTITION OF t DEFAULT: table u left out: its columns are another table's or a type's",
        "a.sql:12:1: CREATE TABLE v OF ty: table v left out: its columns are another table's or a type's",
        "a.sql:13:1: CREATE TABLE w (LIKE t INCLUDING ALL): table w left out: its columns are another table's or a query's",
    ]


def test_a_name_without_quotes_is_one_in_lower_case(reads):
    read = reads(
        """CREATE TABLE t (id integer PRIMARY KEY, Gone text, kept text, "Kept" text);
ALTER TABLE T DROP COLUMN GONE, DROP "Kept", ALTER Kept SET NOT NULL;""",
        dialect="postgresql",
        database="d",
    )
    assert [(column.name, column.nullable) for column in read.tables[0].table.columns] == [
        ("id", False),
        ("kept", False),
    ]


def test_what_is_not_understood_is_noted(reads, notes):
    schema = reads(
        """CREATE TABLE t (a int FOO NOT NULL, EXCLUDE USING gist (a WITH =)) FOO;
ALTER TABLE u ADD COLUMN b int;
CREATE TABLE u (a int);
ALTER TABLE u ALTER COLUMN a TYPE bigint;
VACUUM t;""",
        dialect="postgresql",
        database="d",
    )
    assert [user.table.name for user in schema.tables] == ["t", "u"]
    assert notes(schema) == [
        "a.sql:1:23: FOO: left out: not understood",
        "a.sql:1:37: EXCLUDE USING gist (a WITH =): left out: values do not honour it",
        "a.sql:1:68: FOO: left out: not understood",
        "a.sql:2:1: ALTER TABLE u ADD COLUMN b int: left out: the table is not among the tables that are read",
        "a.sql:5:1: VACUUM t: statement left out: not understood",
    ]


def test_postgresql_drops_the_keys_of_a_dropped_column(reads):
    schema = reads(
        "CREATE TABLE t (id int, a int, b int, PRIMARY KEY (id, a), UNIQUE (b, a), UNIQUE (b));"
        "ALTER TABLE t DROP COLUMN a;",
        dialect="postgresql",
        database="d",
    )
    table = schema.tables[0].table
    assert (table.primary_key, table.unique) == ((), (("b",),))


def test_a_check_and_a_generated_column_follow_a_renamed_column(reads):
    schema = reads(
        "CREATE TABLE t (id int PRIMARY KEY, length int CHECK (length > 3 AND length <= 9),"
        " twice int GENERATED ALWAYS AS (length * 2) STORED, label text"
        " CHECK (label IN ('length', 'x')));"
        'ALTER TABLE t RENAME COLUMN length TO "how long";',
        dialect="postgresql",
        database="d",
    )
    user = schema.tables[0]
    checks = [(check.column, check.low, check.high, check.choices) for check in user.checks]
    assert checks == [("how long", 4, 9, ()), ("label", None, None, ("length", "x"))]
    assert user.computed == (("twice", '"how long" * 2'),)
    assert schema.notes == ()


def test_drop_index_drops_the_indexes_of_its_schema(reads):
    schema = reads(
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int);"
        "CREATE UNIQUE INDEX one ON t (a); CREATE UNIQUE INDEX two ON t (b);"
        "CREATE UNIQUE INDEX three ON t (a, b);"
        "DROP INDEX CONCURRENTLY IF EXISTS public.one, two CASCADE; DROP INDEX other.three;",
        dialect="postgresql",
        database="d",
    )
    assert [index.name for index in schema.tables[0].table.indexes] == ["three"]
    assert schema.notes == ()


@pytest.mark.parametrize(
    ("options", "included"),
    [
        ("INCLUDE (b) NULLS NOT DISTINCT", ("b",)),
        ("NULLS DISTINCT WITH (fillfactor = 70)", ()),
        ("TABLESPACE fast", ()),
    ],
)
def test_an_index_over_some_rows_is_no_key_whatever_stands_before_where(reads, options, included):
    schema = reads(
        f"CREATE TABLE t (a int, b int); CREATE UNIQUE INDEX i ON t (a) {options} WHERE b > 0;",
        dialect="postgresql",
        database="d",
    )
    table = schema.tables[0]
    assert (table.table.unique, table.unique_keys) == ((), ())
    index = Index("i", ("a",), unique=True, partial=True, included=included)
    assert table.table.indexes == (index,)
    assert [note.action for note in schema.notes] == [
        "taken as no key: a unique index over some rows"
    ]


def test_an_index_over_some_rows_that_is_not_unique_is_left_out(reads):
    schema = reads(
        "CREATE TABLE t (a int, b int); CREATE INDEX i ON t (a) WHERE b > 0;",
        dialect="postgresql",
        database="d",
    )
    assert schema.tables[0].table.indexes == ()
    assert [note.action for note in schema.notes] == ["left out: an index over some rows"]


def test_keys_and_indexes_without_names_get_postgresql_s(reads):
    (found,) = reads(
        "CREATE TABLE public.order_positions (a int UNIQUE, b text, UNIQUE (a, b));"
        "CREATE UNIQUE INDEX ON public.order_positions (a);"
        "CREATE UNIQUE INDEX ON public.order_positions (a);",
        dialect="postgresql",
    ).tables
    assert [index.name for index in found.table.indexes] == [
        "order_positions_a_key",
        "order_positions_a_b_key",
        "order_positions_a_idx",
        "order_positions_a_idx1",
    ]


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        (r"it''s \t \\ \' \q", "it's \t \\ ' q"),
        (r"\u00e9 \U0001F600 \uD83D\uDE00", "é \U0001f600 \U0001f600"),
        (r"\xC3\xA9 \303\251 \x41", "é é A"),
        (r"\xFF \uD83D \U00110000", "\ufffd \ufffd \ufffd"),
    ],
)
def test_escapes_stand_for_what_postgresql_reads(escaped, text):
    assert unescape(escaped) == text


@pytest.mark.parametrize("dropped", ["id", "b"])
def test_the_columns_of_a_dropped_key_are_no_part_of_the_next_one(reads, dropped):
    schema = reads(
        "CREATE TABLE t (id int, b int, c int, PRIMARY KEY (id) INCLUDE (b));"
        f" ALTER TABLE t DROP COLUMN {dropped};"
        " ALTER TABLE t ADD COLUMN k int PRIMARY KEY; ALTER TABLE t DROP COLUMN c;",
        dialect="postgresql",
        database="d",
    )
    table = schema.tables[0].table
    assert (table.primary_key, table.included) == (("k",), ())


def test_labels_are_listed_in_the_order_in_which_the_catalogue_got_them(reads, notes):
    schema = reads(
        """CREATE TYPE hue AS ENUM ('r', 'g', 'b');
ALTER TYPE hue RENAME VALUE 'g' TO 'green';
ALTER TYPE hue ADD VALUE 'a' BEFORE 'r';
ALTER TYPE hue RENAME TO colour;
CREATE TABLE t (h colour);""",
        dialect="postgresql",
        database="d",
    )
    assert schema.tables[0].table.columns[0].type.members == ("r", "b", "green", "a")
    assert not notes(schema)


LONG = "n" * 63


@pytest.mark.parametrize(
    ("made", "altered", "key"),
    [
        ("t (id int, CONSTRAINT pk PRIMARY KEY (id))", "ALTER TABLE t DROP CONSTRAINT pk", ()),
        ("t (id int, CONSTRAINT pk PRIMARY KEY (id))", "ALTER TABLE t DROP CONSTRAINT t_pkey", ("id",)),
        ("t (id int CONSTRAINT pk PRIMARY KEY)", "ALTER TABLE t DROP CONSTRAINT pk", ()),
        ("t (id int PRIMARY KEY)", "ALTER TABLE t RENAME TO s; ALTER TABLE s DROP CONSTRAINT t_pkey", ()),
        ("t (id int PRIMARY KEY)", "ALTER TABLE t RENAME CONSTRAINT t_pkey TO k; ALTER TABLE t DROP CONSTRAINT k", ()),
        ("t (id int PRIMARY KEY)", "ALTER INDEX t_pkey RENAME TO k; ALTER TABLE t DROP CONSTRAINT k", ()),
        (
            "t (id int); CREATE UNIQUE INDEX i ON t (id); ALTER TABLE t ADD CONSTRAINT k PRIMARY KEY USING INDEX i",
            "ALTER TABLE t DROP CONSTRAINT k", (),
        ),
        (f"{LONG} (id int PRIMARY KEY)", f"ALTER TABLE {LONG} DROP CONSTRAINT {LONG[:58]}_pkey", ()),
    ],
)  # fmt: skip
def test_a_primary_key_is_dropped_by_its_name(reads, made, altered, key):
    schema = reads(f"CREATE TABLE {made}; {altered};", dialect="postgresql", database="d")
    assert schema.tables[0].table.primary_key == key


@pytest.mark.parametrize(
    "statement", ["ALTER TABLE t RENAME CONSTRAINT a TO z", "ALTER INDEX IF EXISTS public.a RENAME TO z"]
)  # fmt: skip
def test_a_unique_key_has_its_new_name(reads, notes, statement):
    made = "CREATE TABLE t (x int, y int, CONSTRAINT a UNIQUE (x), CONSTRAINT b UNIQUE (y));"
    schema = reads(f"{made} {statement};", dialect="postgresql", database="d")
    assert [index.name for index in schema.tables[0].table.indexes] == ["z", "b"]
    assert not notes(schema)


def test_names_of_indexes_tell_upper_from_lower_case(reads):
    schema = reads(
        'CREATE TABLE t (x int, y int); CREATE UNIQUE INDEX "A" ON t (x);'
        " CREATE UNIQUE INDEX a ON t (y); DROP INDEX a;",
        dialect="postgresql",
        database="d",
    )
    assert [index.name for index in schema.tables[0].table.indexes] == ["A"]


def test_a_domain_over_an_array_of_a_domain_is_an_array(reads):
    """The items have the conditions of their domain, the array has none."""
    schema = reads(
        "CREATE DOMAIN a AS integer CHECK (VALUE > 0); CREATE DOMAIN b AS a[];"
        " CREATE TABLE t (id int PRIMARY KEY, x b);",
        dialect="postgresql",
        database="d",
    )
    assert schema.tables[0].table.column("x").type.name == "integer[]"
    assert schema.tables[0].checks == ()
