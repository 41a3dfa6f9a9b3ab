"""The tool that writes the table of what Debezium makes of columns' definitions. Its Java program runs
in `python -m recorders.debezium_types --check` alone, which needs a JDK and the connectors' jars.
"""

import tomllib
from pathlib import Path

import pytest

from conformance.brokers.jars import cached_bundle
from generators.errors import HarnessError
from generators.families.debezium.mysql_columns import FILE, ColumnReading, column_readings
from recorders import debezium_types
from recorders.products import debezium_bundle
from recorders.running import find_compiler

TABLE = Path(__file__).parents[2] / FILE


def test_the_committed_table_is_as_the_tool_writes_it():
    assert debezium_types.readings_toml(column_readings()) == TABLE.read_text("utf-8")


def test_a_line_of_the_program():
    line = '{"schema":{"type":"string","optional":true},"value":"a\u00ff","empty":""}'
    assert debezium_types.parse_reading(line) == ColumnReading(
        schema='{"type":"string","optional":true}', value='"a\\u00ff"', empty='""'
    )
    assert (
        debezium_types.parse_reading('{"refused":"ParsingException"}').refused == "ParsingException"
    )


@pytest.mark.parametrize(
    ("definition", "word"),
    [
        ("INTEGER UNSIGNED", "integer"),
        ("BIGINT", "long"),
        ("REAL", "double"),
        ("FLOAT4", "float"),
        ("TEXT CHARACTER SET binary", "bytes"),
        ("DATE", "none"),
        ("GEOMETRY", "none"),
    ],
)
def test_the_value_that_a_definition_is_tried_with(definition, word):
    assert debezium_types.probe_word(definition) == word


@pytest.mark.slow
def test_debezium_reads_two_definitions():
    """Skipped without a JDK, and where nobody has recorded Debezium, so that its jars are missing."""
    try:
        find_compiler()
    except HarnessError as error:
        pytest.skip(str(error))
    if cached_bundle(debezium_bundle("mysql", "3.5.0.Final")) is None:
        pytest.skip("no jars of Debezium 3.5.0.Final in the cache")
    readings = debezium_types.read_definitions(
        ("INTEGER UNSIGNED", "CHAR(5) BYTE"), "3.5.0.Final", print
    )
    assert [(r.schema, r.value, r.refused) for r in readings] == [
        ('{"type":"int32","optional":true}', "-1", ""),
        ("", None, "ParsingException"),
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", ()), ("a\n\nb\n", ("a", "", "b")), ('"\u2028"\n', ('"\u2028"',))],
)
def test_an_empty_line_is_a_result_as_others(text, lines):
    assert debezium_types.split_lines(text) == lines


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("varchar(5)", "'varchar(5)'"),
        ("enum('a')", "\"enum('a')\""),
        ("enum('\U0001f600\t\x7f')", "\"enum('\U0001f600\\t\\u007f')\""),
    ],
)
def test_a_definition_is_a_text_of_toml(value, spelled):
    assert debezium_types.toml_text(value) == spelled
    assert tomllib.loads(f"a = {spelled}") == {"a": value}
