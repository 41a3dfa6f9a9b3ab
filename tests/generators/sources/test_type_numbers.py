"""The table of MySQL's types: its numbers as literals, and what is said of a row that is wrong."""

import pytest

from generators.errors import UsageError
from generators.formats.ticdc_open_protocol.cells import _TYPE_NUMBERS
from generators.model import Logical, SourceType
from generators.sources import mysql
from generators.sources.type_numbers import TypeTable, mysql_types, type_numbers

INET6 = SourceType("inet6", Logical.TEXT, length=39)

TABLE = """\
[numbers]
java.says = "java.sql.Types code"
java_null.says = "the code of NULL"
java_null.like = "java"
java_over_signed.says = "the code above the signed maximum"
java_over_signed.logical = "int"

[types]
int = { logical = "int", java = 4, java_over_signed = -5 }
"""


@pytest.mark.parametrize(
    ("column", "name", "number"),
    [
        ("java", "set", -7),
        ("java_null", "set", 2004),
        ("java_null_1_1_6", "set", -2),
        ("java_null_1_1_6", "int", 4),
        ("java_over_signed", "bigint", 3),
        ("protocol", "tinyblob", 249),
        ("tencent", "tinyblob", 252),
        ("binlog", "tinyblob", 252),
        ("binlog", "varchar", 15),
        ("ticdc_java", "year", 12),
        ("ticdc_java_v5_3", "year", 91),
        ("ticdc_open", "vector", 225),
    ],
)
def test_a_product_s_number_of_a_type(column, name, number):
    assert type_numbers(column)[name] == number


def test_a_number_that_a_product_has_not_is_an_error_that_names_the_row():
    row = next(
        number for number, line in enumerate(mysql_types()._lines, 1) if line.startswith("vector =")
    )
    with pytest.raises(UsageError) as error:
        type_numbers("java")["vector"]
    assert str(error.value) == (
        f"generators/sources/mysql_types.toml:{row}: the type 'vector' has no 'java'. Add it to its"
        " row, or leave the type out of what the format supports."
    )
    assert "vector" not in type_numbers("java")
    assert type_numbers("java").get("vector") is None
    assert "vector" in _TYPE_NUMBERS


def test_a_type_without_a_row_is_told_the_row_to_add():
    with pytest.raises(UsageError) as error:
        mysql_types().check_types({"inet6": INET6})
    assert str(error.value) == (
        "generators/sources/mysql_types.toml: the type 'inet6' of generators/sources/mysql.py has no"
        ' row. Add `inet6 = { logical = "text", java = "none", protocol = "none", ticdc_open ='
        " \"none\" }` under [types], with a number for 'none' where the product has one; see"
        " docs/adding-a-type.md."
    )


def test_a_row_and_the_code_say_one_logical_type():
    text = TABLE.replace('logical = "int", java = 4', 'logical = "text", java = 4')
    with pytest.raises(UsageError) as error:
        TypeTable(text).check_types({"int": mysql.integer("int")})
    assert str(error.value) == (
        "generators/sources/mysql_types.toml:9: the type 'int' has the logical type 'text' here,"
        " 'int' in generators/sources/mysql.py. Write the same in both."
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            'int = { logical = "int", java = 4 }',
            (
                "the type 'int' has no 'java_over_signed'. Add `java_over_signed = NUMBER` (the code"
                ' above the signed maximum), or `java_over_signed = "none"`.'
            ),
        ),
        (
            'int = { logical = "int", jawa = 4 }',
            (
                "the type 'int' has an unknown column 'jawa'. Did you mean 'java'? Known: logical,"
                " java, java_null, java_over_signed."
            ),
        ),
        (
            'int = { logical = "int", java = "4" }',
            "the type 'int' says '4' for 'java': write a number, or 'none'.",
        ),
    ],
)
def test_a_wrong_row_is_refused_when_the_table_is_loaded(row, message):
    lines = TABLE.splitlines()[:-1]
    with pytest.raises(UsageError) as error:
        TypeTable("\n".join([*lines, row]))
    assert str(error.value) == f"generators/sources/mysql_types.toml:9: {message}"
