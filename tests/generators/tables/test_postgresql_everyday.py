"""PostgreSQL's everyday columns in a user's tables: arrays of every element type, points, bit strings
of any length, defaults as people type them.
"""

import pytest

from conformance.cases.tables import named_cases, read_tables
from generators.model import Json
from generators.sources import postgresql
from generators.sources.postgresql_text import interval_read, timetz_read
from generators.tables.ddl_types import postgresql_default, postgresql_type
from generators.tables.reading import read_schema
from generators.tables.realistic import boundaries
from generators.wire_format import get

ELEMENTS = (
    *("smallint", "integer", "bigint", "numeric", "numeric(8,2)", "real", "double precision"),
    *("boolean", "character varying(10)", "character varying", "character(4)", "text", "citext"),
    *("date", "time without time zone", "time with time zone", "timestamp without time zone"),
    *("timestamp with time zone", "uuid", "inet", "cidr", "json", "jsonb", "hstore", "bytea"),
    *("int4range", "interval", "xml", "money", "oid", "macaddr", "mood"),
)


@pytest.mark.parametrize("element", ELEMENTS)
def test_values_of_an_array_are_those_of_its_elements(element):
    type = postgresql_type(f"{element}[]", {"mood": ("sad", "it's")})
    values = boundaries(type)
    assert Json([]) in values.values() and len(values) >= 4
    assert all(postgresql.fits(type, value) for value in values.values())
    for wrong in (Json({"a": 1}), Json("text"), Json([{"no": object}])):
        assert not postgresql.fits(type, wrong)


COLUMNS = (
    *(f"{element}[]" for element in ELEMENTS if element != "mood"),
    *("mood[]", "point", "varbit", "bit(70)[]", "box", "pg_lsn", "numeric(3,5)"),
    *("timetz DEFAULT '12:00+02'", "interval DEFAULT '1 day 02:00'", "point[]", "tsquery"),
)
SCRIPT = """CREATE TYPE public.mood AS ENUM ('sad', 'ok');
CREATE TABLE public.one (u int PRIMARY KEY, c {});
"""


@pytest.mark.parametrize("profile", ["3.5.0.Final+postgresql", "1.9.7.Final+postgresql"])
def test_messages_of_every_everyday_column_can_be_written(tmp_path, profile):
    fmt = get("debezium-json")
    columns = ", ".join(f"c{number} {column}" for number, column in enumerate(COLUMNS))
    script = SCRIPT.replace("c {}", columns)
    (tmp_path / "a.sql").write_text(script, "utf-8")
    readers = (fmt.profile(profile),)
    values = read_tables([str(tmp_path / "a.sql")], None, None, None, 1, readers)
    cases = list(named_cases(fmt, readers, values))
    assert len(cases) > 50


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("12:00+02", "12:00:00+02"),
        ("9:05 -3:30", "09:05:00-03:30"),
        ("04:05:06.7+0530", "04:05:06.7+05:30"),
    ],
)
def test_a_time_with_zone_is_read_as_people_type_it(typed, own):
    assert timetz_read(typed) == own


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("bit(4)", "10::bit(4)", 10),
        ("bit(4)", "(10)::bit(4)", 10),
        ("bit(3)", "13::bit(3)", 5),
        ("bit(4)", "(-1)::bit(4)", 15),
        ("bit(4)", "B'1010'::\"bit\"", 10),
        ("bit(4)", "'1010'::\"bit\"", 10),
        ("bit varying(4)", "10::bit(4)", None),
        ("boolean", "1::int IS NULL", None),
        ("boolean", "1::int IN (1)", None),
        ("boolean", "true::boolean AND false", None),
        ("boolean", "(1)::boolean", 1),
        ("text", "'x'::text IS NULL", None),
        ("text", "'a' || 'b'", None),
        ("text", "'a\\'", "a\\"),
        ("text", "'C:\\dir'::text", "C:\\dir"),
        ("text", "E'a\\'b'", "a'b"),
        ("text", "'it''s'::character varying(20)", "it's"),
    ],
)
def test_a_default_has_the_value_of_its_literal_and_an_expression_none(type, text, value):
    default = postgresql_default(text, postgresql_type(type, {}))
    assert (default.text, default.value) == (text, value)


@pytest.mark.parametrize(
    ("typed", "own"),
    [
        ("1 day 02:00", "1 day 02:00:00"),
        ("90 minutes", "01:30:00"),
        ("1 year 2 mons -3 days", "1 year 2 mons -3 days"),
        ("2 weeks", "14 days"),
        ("-00:00:01.5", "-00:00:01.5"),
    ],
)
def test_an_interval_is_read_as_people_type_it(typed, own):
    assert interval_read(typed) == own


@pytest.mark.parametrize("typed", ["", "P1D", "1 fortnight", "1 day ago", "soon"])
def test_other_spellings_of_an_interval_are_no_literal(typed):
    with pytest.raises(ValueError, match="is no interval"):
        interval_read(typed)


def test_a_text_without_a_mark_is_of_the_dialect_that_the_profiles_read(tmp_path):
    (tmp_path / "a.sql").write_text("CREATE TABLE one (u int PRIMARY KEY, c int)", "utf-8")
    assert read_schema([str(tmp_path / "a.sql")], fallback="postgresql").dialect == "postgresql"
    readers = (get("debezium-json").profile("3.5.0.Final+postgresql"),)
    values = read_tables([str(tmp_path / "a.sql")], None, None, None, 1, readers)
    assert values.schema.dialect == "postgresql"


DOMAINS = """CREATE DOMAIN positive AS integer DEFAULT 7 CHECK (VALUE > 1);
CREATE DOMAIN inherited AS positive;
CREATE DOMAIN small AS positive DEFAULT 9;
CREATE TABLE public.t (id int PRIMARY KEY, a inherited, b small);
"""


def test_a_domain_of_a_domain_has_its_default_unless_it_has_one_of_its_own(tmp_path):
    (tmp_path / "a.sql").write_text(DOMAINS, "utf-8")
    (read,) = read_schema([str(tmp_path / "a.sql")]).tables
    defaults = {c.name: c.default and c.default.value for c in read.table.columns}
    assert defaults == {"id": None, "a": 7, "b": 9}
