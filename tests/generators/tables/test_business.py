"""SQL as business schemas have it, a corpus a database: `--tables` reads all of it, in every format
whose source the database is.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from conformance.cases.tables import named_cases, read_tables
from generators.tables.reading import read_schema
from generators.wire_format import formats

FOLDER = Path(__file__).with_name("business")
TABLES = {"mysql": 46, "postgresql": 45}
LEFT_OUT_TABLES = {
    "mysql": ["top_customers", "warehouses"],
    "postgresql": ["journal_2024", "orders_archive", "top_customers"],
}
NOT_UNDERSTOOD = {"mysql": 3, "postgresql": 4}
"""Statements that change rows, which are no DDL: TRUNCATE, UPDATE, DELETE, WITH."""


@pytest.mark.parametrize("source", TABLES)
def test_every_statement_is_read_or_left_out_with_a_note(source):
    assert (FOLDER / f"{source}.sql").read_text("utf-8").count(";\n") > 100
    schema = read_schema([str(FOLDER / f"{source}.sql")], source)
    assert len(schema.tables) == TABLES[source]
    left_out = [
        match[1]
        for note in schema.notes
        if (match := re.match(r"table (\w+) left out", note.action))
    ]
    assert sorted(left_out) == LEFT_OUT_TABLES[source]
    actions = Counter(note.action for note in schema.notes)
    assert actions["statement left out: not understood"] == NOT_UNDERSTOOD[source]
    assert actions["left out: not understood"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("fmt", list(formats()), ids=lambda fmt: fmt.name)
def test_every_format_writes_the_tables_of_its_sources(fmt):
    for source in TABLES:
        profiles = [profile for profile in fmt.profiles if profile.source == source]
        if not profiles:
            continue
        readers = (profiles[-1],)
        path = str(FOLDER / f"{source}.sql")
        values = read_tables([path], source, None, None, 1, readers)
        cases = list(named_cases(fmt, readers, values))
        assert len(cases) > 400
