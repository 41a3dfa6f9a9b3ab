"""A table that is printed as DDL and read again is the same."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.drawing import strategies
from generators.sources.registry import SOURCES
from generators.tables.reading import read
from recorders import sql


@pytest.mark.parametrize("source", SOURCES)
def test_a_table_that_is_printed_and_read_is_the_same(source, tmp_path):
    path = tmp_path / "tables.sql"

    @settings(max_examples=100)
    @given(st.lists(strategies.tables(source=source), min_size=1, max_size=3, unique_by=lambda table: table.name))
    def holds(tables):
        statements = [statement for table in tables for statement in sql.created(table, sql.DIALECTS[source])]
        path.write_text("".join(f"{statement};\n" for statement in statements), encoding="utf-8", errors="surrogatepass")
        schema = read([str(path)], dialect=source, database="drawn")
        assert [replace(user.table, indexes=()) for user in schema.tables] == tables
        assert [note for note in schema.notes if note.line] == []

    holds()
