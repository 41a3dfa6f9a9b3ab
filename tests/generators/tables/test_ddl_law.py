"""A table that is printed as DDL and read again is the same; DDL that is spoiled is a mistake of
the user's, never of ours.
"""

import contextlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.drawing import strategies
from generators.errors import UsageError
from generators.model import Logical
from generators.tables.reading import read_schema
from recorders import sql


@pytest.mark.parametrize("source", sql.DIALECTS)
def test_a_table_that_is_printed_and_read_is_the_same(source, tmp_path):
    path = tmp_path / "tables.sql"

    @settings(max_examples=100)
    @given(
        st.lists(
            strategies.tables(source=source),
            min_size=1,
            max_size=3,
            unique_by=lambda table: table.name,
        )
    )
    def holds(tables):
        statements = [
            statement
            for table in tables
            for statement in sql.create_statements(table, sql.DIALECTS[source])
        ]
        path.write_text(
            "".join(f"{statement};\n" for statement in statements),
            encoding="utf-8",
            errors="surrogatepass",
        )
        schema = read_schema([str(path)], dialect=source, database="drawn")
        assert [_without_ddl(user.table) for user in schema.tables] == tables
        assert [note for note in schema.notes if note.line] == []

    holds()


def _without_ddl(table):
    """The table without what DDL alone says: its indexes, and how its integers are spelled."""
    columns = tuple(
        replace(column, declared="")
        if column.type.source == "mysql" and column.type.logical in (Logical.INT, Logical.YEAR)
        else column
        for column in table.columns
    )
    return replace(table, columns=columns, indexes=())


FOLDER = Path(__file__).with_name("dumps")
DUMPS = {
    name: (FOLDER / f"law-{name}.sql").read_text("utf-8")
    for name in ("tidb", "postgresql", "sqlserver", "oracle")
}


@pytest.mark.parametrize("dialect", DUMPS)
def test_spoiled_ddl_is_a_mistake_of_the_user(dialect, tmp_path):
    path, words = tmp_path / "a.sql", re.findall(r"\w+|\s+|[^\w\s]", DUMPS[dialect])
    path.write_text(DUMPS[dialect], encoding="utf-8")
    assert len(read_schema([str(path)], dialect).tables) == 1
    places = st.integers(0, len(words) - 1)

    @settings(max_examples=60)
    @given(
        st.lists(
            st.tuples(places, st.integers(0, 4), st.sampled_from([*words, ""])),
            min_size=1,
            max_size=3,
        )
    )
    def holds(edits):
        spoiled = list(words)
        for at, gone, put in edits:
            spoiled[at : at + gone] = [put]
        path.write_text("".join(spoiled), encoding="utf-8")
        with contextlib.suppress(UsageError):
            read_schema([str(path)], dialect)

    holds()
