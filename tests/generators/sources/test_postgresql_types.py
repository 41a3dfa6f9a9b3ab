"""The table of PostgreSQL's types: rows as literals, and what is said of a row that is wrong."""

import pytest

from generators.errors import UsageError
from generators.model import Logical, SourceType
from generators.sources import postgresql
from generators.sources.postgresql_types import PostgresqlTypes, postgresql_types
from generators.tables.realistic import boundaries

TABLE = """\
[types]
integer = { logical = "int", bytes = 4, debezium_connect = "int32" }
'"char"' = { logical = "text" }
"""


@pytest.mark.parametrize(
    ("name", "column", "cell"),
    [
        ("smallint", "driver_size", (5, 0)),
        ("bigint", "spellings", ("int8", "bigserial", "serial8")),
        ("varchar", "declared", "character varying"),
        ("char", "catalogue", "BPCHAR"),
        ("timestamptz", "driver_time", 28),
        ("jsonb", "oid", 3802),
        ("inet", "oid", None),
        ("bytea", "huawei", "bytes"),
        ("hstore", "huawei", None),
        ("oid", "debezium_connect", "int64"),
        ("oid", "debezium_array", "bytea-arrays"),
        ("ltree", "debezium_semantic", "Ltree"),
        ("box", "debezium_unknown", True),
        ('"char"', "examples", ("a", "Z")),
    ],
)
def test_a_row_says_what_products_make_of_a_type(name, column, cell):
    assert getattr(postgresql_types()[name], column) == cell


def test_every_type_of_the_code_has_its_row():
    names = {declared.name.removesuffix("[]") for declared in postgresql.TYPES.values()}
    assert names <= set(postgresql_types())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "bytes = 4",
            "byte = 4",
            (
                "generators/sources/postgresql_types.toml:2: the type 'integer' has an unknown column"
                " 'byte'. Did you mean 'bytes'? Known: logical, "
            ),
        ),
        (
            "bytes = 4",
            'bytes = "4"',
            (
                "generators/sources/postgresql_types.toml:2: the type 'integer' says '4' for 'bytes':"
                " write a int."
            ),
        ),
        (
            "bytes = 4",
            'debezium_array = "seldom"',
            (
                "generators/sources/postgresql_types.toml:2: the type 'integer' says 'seldom' for"
                " 'debezium_array': write one of never, bytea-arrays, single, or leave it out."
            ),
        ),
        (
            ', debezium_connect = "int32"',
            "",
            (
                "generators/sources/postgresql_types.toml:2: the type 'integer' is an integer and has"
                " no 'debezium_connect'. Add the type of Kafka Connect, as in `debezium_connect ="
            ),
        ),
        (
            'logical = "text"',
            'logical = "words"',
            (
                "generators/sources/postgresql_types.toml:3: the type '\"char\"' has no known logical"
                " type: 'words'. Add `logical = ...`, one of "
            ),
        ),
    ],
)
def test_a_wrong_row_is_told_with_its_line(old, new, message):
    with pytest.raises(UsageError) as error:
        PostgresqlTypes(TABLE.replace(old, new, 1))
    assert str(error.value).startswith(message)


def test_a_type_without_a_row_is_told_the_row_to_add():
    with pytest.raises(UsageError) as error:
        postgresql_types()["tsquery"]
    assert str(error.value) == (
        "generators/sources/postgresql_types.toml: the type 'tsquery' has no row. Did you mean"
        " 'tsvector'? Add `tsquery = { logical = ... }` under [types]; see docs/adding-a-type.md."
    )
    assert "tsquery" not in postgresql_types()


def test_a_row_and_the_code_say_one_logical_type():
    other = SourceType("integer", Logical.TEXT, source="postgresql")
    with pytest.raises(UsageError) as error:
        PostgresqlTypes(TABLE).check_type(other)
    assert str(error.value) == (
        "generators/sources/postgresql_types.toml:2: the type 'integer' has the logical type 'int'"
        " here, 'text' in generators/sources/postgresql.py. Write the same in both."
    )


def test_texts_with_a_grammar_are_the_values_of_users_columns():
    assert boundaries(postgresql.other("macaddr")) == {
        "value-1": "08:00:2b:01:02:03",
        "value-2": "ff:ff:ff:ff:ff:ff",
    }
