"""Defaults of PostgreSQL's columns: the writer against the table of what the connector's own mappers
make of them (`generators/families/debezium/postgresql_defaults.toml`).
"""

import ipaddress
from decimal import Decimal

import pytest

from generators.families.debezium import postgresql as debezium_postgresql
from generators.families.debezium.postgresql_defaults import has_mapper, read_defaults
from generators.formats.debezium_json.rows import _column_schema, _known_table, defaults_of
from generators.model import Column, Json, State, Table
from generators.sources import postgresql, postgresql_text
from generators.tables.ddl import DdlReader
from generators.tables.ddl_text import Script
from generators.tables.ddl_types import postgresql_default, postgresql_type
from generators.wire_format import get

TABLE = read_defaults()["defaults"]
SPELLINGS = {
    "int4": "integer",
    "int8": "bigint",
    "numeric": "numeric(5,2)",
    "float8": "double precision",
    "bool": "boolean",
    "bpchar": "character(5)",
    "varchar": "character varying(9)",
    "bit": "bit(1)",
    "varbit": "bit varying(3)",
    "time": "time without time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "timetz": "time with time zone",
    "_int4": "integer[]",
}
"""Types as the model reads them, by their names in the catalogue."""
READ = {
    "0": "0",
    "0.0": "0.0",
    "7": "7",
    "1.50": '"AJY="',
    "true": "true",
    "false": "false",
    "101": '"BQ=="',
    "1970-01-01T00:00": "0",
    "00:00": "0",
    "23:59:59.999999999": "86399999999",
    "{}": '"{}"',
    "5": "5",
    "float8 1.5": "1.5",
    "numeric 1.5": '"AJY="',
    "2024-01-01T00:00": "19723",
    "2024-01-01T00:00Z": "1704067200000000",
    "08:00": "28800000000",
    "(1)::bit(1)": "",
}
"""A mapper's value as the default in a schema, by its text or by type and text; a text stands in
quotes, a moment is the epoch. One bit has no text of several characters.
"""


def written_default(type_name, text, release="3.5.0.Final"):
    """The default in the schema of the writer, "" for none."""
    type = postgresql_type(SPELLINGS.get(type_name, type_name), {})
    column = Column("c", type, default=postgresql_default(text, type))
    profile = get("debezium-json").profile(f"{release}+postgresql")
    defaults = defaults_of(Table("shop", "t", (column,), (), "public"), profile, {}, False)
    return _column_schema(column, profile, defaults.get("c"), False).default


def read_default(type_name, result):
    """The default as the connector has it, "" for none."""
    if result == "none":
        return ""
    if result == "1970-01-01T00:00Z":
        return "0" if type_name == "timestamp" else '"1970-01-01T00:00:00.000000Z"'
    return READ.get(f"{type_name} {result}", READ.get(result, f'"{result}"'))


@pytest.mark.parametrize("default", TABLE)
def test_a_default_is_what_the_connector_reads(default):
    type_name, text = default.replace("\\n", "\n").split(" ", 1)
    assert written_default(type_name, text) == read_default(type_name, TABLE[default])


def test_no_release_of_1_4_has_defaults_and_an_older_enum_has_none():
    assert written_default("int4", "7", "1.4.0.Final") == ""
    assert [has_mapper(name) for name in ("integer", "citext", "money")] == [True, False, False]


def test_a_domain_has_no_default():
    type = postgresql_type("integer", {})
    column = Column("c", type, default=postgresql_default("7", type), declared="year_number")
    profile = get("debezium-json").profile("3.5.0.Final+postgresql")
    assert defaults_of(Table("shop", "t", (column,), ()), profile, {}, False) == {}


@pytest.mark.parametrize(
    ("text", "known"), [("1.25", False), ("1.2", True), ("1.200", True), (f"{10**40}", True)]
)
def test_a_default_of_more_fraction_digits_than_its_column_is_none(text, known):
    """debezium#defaults: setScale without rounding raises in the connector."""
    type = postgresql.numeric(5, 1)
    column = Column("c", type, default=postgresql_default(text, type))
    for release in ("2.5.4.Final", "3.6.1.Final"):
        profile = get("debezium-json").build(release, "postgresql")
        table = Table("shop", "t", (column,), ())
        assert bool(defaults_of(table, profile, {}, False)) is known


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("int8", "(4)::bigint", ""),
        ("int8", "4::bigint", ""),
        ("int4", "4::int", "4"),
        ("smallint", "(5)::smallint", ""),
        ("numeric", "(1.5)::numeric(10,2)", ""),
        ("float8", "(1)::double precision", ""),
        ("int8", "'-4'::bigint", "-4"),
        ("interval", "make_interval(hours => 1)", "0"),
        ("interval", "('1 day'::interval * (2)::double precision)", "86400000000"),
        ("date", "'-infinity'::date", "-170999002"),
        ("jsonb", "'\"it''s\"'::jsonb", '"\\"it"'),
        ("varbit", "B''::bit varying", '""'),
    ],
)
def test_a_default_is_what_3_6_1_streamed(name, text, written):
    assert written_default(name, text) == written


@pytest.mark.parametrize(
    ("months", "days", "micros", "written"),
    [
        (0, 0, 1_001_000, 1_000_999),
        (0, 0, 1_000_000, 1_000_000),
        (0, 1, 0, 86_400_000_000),
        (1, 0, 0, 2_629_800_000_000),
        (0, 0, -1_500_000, -1_500_000),
    ],
)
def test_an_interval_is_computed_in_doubles(months, days, micros, written):
    assert debezium_postgresql.micro_duration(months, days, micros) == written


def test_a_name_that_is_lost_in_a_not_null_column_is_empty():
    type, modes = postgresql_type("name", {}), get("debezium-json").profile("3.5.0.Final").modes
    assert debezium_postgresql.wire(type, "a", modes, nullable=False).json == '""'
    assert debezium_postgresql.wire(type, "a", modes).json == "null"


def test_a_numeric_that_was_not_sent_is_0_in_mode_string():
    modes = get("debezium-json").profile("3.5.0.Final+postgresql+string").modes
    type = postgresql_type("numeric", {})
    assert debezium_postgresql.not_sent(type, modes, nullable=False).json == '"0"'


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("::ffff:1.2.3.4/96", "::ffff:1.2.3.4/96"),
        ("::1.2.3.4", "::1.2.3.4"),
        ("::1", "::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("10.0.0.1", "10.0.0.1"),
    ],
)
def test_an_address_of_ipv4_in_ipv6(address, text):
    assert postgresql_text.inet_text(ipaddress.ip_interface(address)) == text


@pytest.mark.parametrize(
    ("spelling", "items", "written"),
    [
        ("timestamp without time zone[]", ["0001-01-01 00:00:00"], "[-62135769600000000]"),
        ("date[]", ["1582-10-15", "2024-02-29"], "[-141427,19782]"),
        ("date[]", ["0001-01-01", "1582-10-05"], "[-719162,-141427]"),
        (
            "timestamp with time zone[]",
            ["0001-01-01 00:00:00+00"],
            '["0001-01-01T00:00:00.000000Z"]',
        ),
        ("time without time zone[]", [86_399_999_999], "[86399999000]"),
    ],
)
def test_elements_of_an_array_go_through_java_sql(spelling, items, written):
    type, modes = (
        postgresql_type(spelling, {}),
        get("debezium-json").profile("3.5.0.Final+postgresql").modes,
    )
    assert debezium_postgresql.wire(type, Json(items), modes).json == written


@pytest.mark.parametrize("items", [["b", None], [["a"], ["b"]]])
def test_an_array_of_an_enum_with_an_element_that_is_null_is_left_out(items):
    """Its elements are not optional; an inner array is written as null."""
    modes = get("debezium-json").profile("3.5.0.Final+postgresql").modes
    type = postgresql_type("mood[]", {"mood": ("a", "b")})
    cell = debezium_postgresql.wire(type, Json(items), modes)
    assert (cell.json, cell.cell.state) == ("null", State.NULL)


def test_an_array_of_numeric_with_a_nan_is_null():
    """debezium#arrays."""
    modes = get("debezium-json").profile("3.5.0.Final").modes
    type = postgresql.array_of(postgresql.numeric())
    finite, infinite = (Json([Decimal(1), Decimal(text)]) for text in ("2", "NaN"))
    assert debezium_postgresql.wire(type, finite, modes).json != "null"
    assert debezium_postgresql.wire(type, infinite, modes).json == "null"


@pytest.mark.parametrize("spelling", ["color", "color[]"])
def test_an_array_of_a_domain_is_left_out(spelling):
    """debezium#left-out: what 3.6.1 streamed."""
    reader = DdlReader("postgresql", "shop", "shop")
    script = f"CREATE DOMAIN color AS text; CREATE TABLE t (id int PRIMARY KEY, c {spelling});"
    reader.read_script(Script("definition", script, "postgresql"))
    (user_table,) = reader.schema().tables
    profile = get("debezium-json").build("3.6.1.Final", "postgresql")
    known = _known_table(user_table.table, profile, False)
    assert ("c" in [column.name for column in known.columns]) is (spelling == "color")


@pytest.mark.parametrize(
    ("release", "schemas"),
    [("1.9.7.Final", []), ("2.5.4.Final", ["public"]), ("3.6.1.Final", ["public", "hotel"])],
)
def test_the_default_of_an_enum_is_known_by_the_schema_of_its_type(release, schemas):
    """debezium#defaults: what 2.5.4 and 3.6.1 streamed."""
    profile = get("debezium-json").build(release, "postgresql")
    known_schemas = []
    for schema in ("public", "hotel"):
        reader = DdlReader("postgresql", "shop", "shop")
        kind = f"{schema}.kind"
        script = f"CREATE TYPE {kind} AS ENUM ('a'); CREATE TABLE t (c {kind} DEFAULT 'a');"
        reader.read_script(Script("definition", script, "postgresql"))
        (user_table,) = reader.schema().tables
        if defaults_of(user_table.table, profile, {}, False):
            known_schemas.append(schema)
    assert known_schemas == schemas
