"""The names that TiDB gives indexes without one, and the hidden columns that are called by them.

setEmptyConstraintName and checkConstraintNames of a new table, GetName4AnonymousIndex of others:
https://github.com/pingcap/tidb/blob/ac41d7e3c8fc/pkg/ddl/create_table.go#L1071-L1132
https://github.com/pingcap/tidb/blob/ac41d7e3c8fc/pkg/ddl/executor.go#L4604-L4630
"""

from dataclasses import replace

import pytest

from generators.families.ticdc.ddl import parse
from generators.families.ticdc.hidden_columns import HiddenColumns
from generators.families.ticdc_simple.schema import Catalogue
from generators.model import Column, Index, SchemaChange, Table
from generators.sources import mysql
from generators.sources.boundaries import START


def test_indexes_without_a_name_get_free_ones_as_tidb_gives_them():
    statement = parse(
        "CREATE TABLE t (a INT, b INT, KEY (a), KEY (a, b), KEY ((a + 1)), KEY (a, (b + 1)))"
    )
    names = [index.name for index in statement.indexes]
    assert names == ["a", "a_2", "expression_index", "expression_index_2"]
    assert statement.hidden == {
        "_V$_expression_index_0": "`a`+1",
        "_V$_expression_index_2_1": "`b`+1",
    }


@pytest.mark.parametrize(
    ("sql", "table_indexes", "names"),
    [
        ("CREATE TABLE t (a INT, b INT, KEY (a), KEY A (b))", (), ["a_2", "A"]),
        ("CREATE TABLE t (a INT, PRIMARY KEY (a), KEY (a))", (), ["PRIMARY", "a_2"]),
        (
            "CREATE TABLE t (`primary` INT, KEY (`primary`), KEY (`primary`))",
            (),
            ["primary_2", "primary_3"],
        ),
        ("ALTER TABLE t ADD INDEX (a)", (), ["a"]),
        ("ALTER TABLE t ADD INDEX (a), ADD UNIQUE (b)", ("A", "b", "b_2"), ["a_2", "b_3"]),
        ("ALTER TABLE t ADD INDEX (a, (b + 1))", ("x",), ["a"]),
        ("ALTER TABLE t ADD INDEX ((a + 1))", ("expression_index",), ["expression_index_2"]),
    ],
)
def test_an_index_without_a_name_gets_none_that_another_has(sql, table_indexes, names):
    assert [index.name for index in parse(sql, table_indexes=table_indexes).indexes] == names


def test_a_hidden_column_has_the_name_of_its_index_in_simple_and_debezium():
    """The second index without a name over an expression is expression_index_2."""
    first = Index("expression_index", ("a",))
    before = Table("d", "t", (Column("a", mysql.integer("int")),), indexes=(first,))
    sql = "ALTER TABLE t ADD INDEX ((a + 1))"
    added = Index("expression_index_2", ("_V$_expression_index_2_0",))
    after = replace(before, indexes=(first, added))
    event = SchemaChange(START, "create index", sql, "d", "t", before=before, after=after)
    known, _ = Catalogue("UTC").change(event)
    assert [column.name for column in known.schema("id").columns][-1] == added.columns[0]
    hidden_columns = HiddenColumns()
    hidden_columns.follow(event)
    assert [column.name for column in hidden_columns.columns(after)] == [added.columns[0]]
