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
        (
            "CREATE TABLE t (a INT, A_2 INT, KEY a_2 (A_2), KEY (a), KEY (a), KEY (A_2))",
            (),
            ["a_2", "a", "a_3", "A_2"],
        ),
        ("ALTER TABLE t ADD INDEX (a)", (), ["a"]),
        ("ALTER TABLE t ADD INDEX (a), ADD UNIQUE (b)", ("A", "b", "b_2"), ["a_2", "b_3"]),
        ("ALTER TABLE t ADD INDEX (a, (b + 1))", ("x",), ["a"]),
        ("ALTER TABLE t ADD INDEX ((a + 1))", ("expression_index",), ["expression_index_2"]),
    ],
)
def test_an_index_without_a_name_gets_none_that_another_has(sql, table_indexes, names):
    """As TiDB's table info had them, of the statements in TiCDC v8.5.7's entry.SchemaTestHelper."""
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


def test_a_hidden_column_of_a_sum_of_not_null_columns_is_not_null():
    """As TiCDC v8.5.7 wrote it: a NOT NULL, b not, and indexes over (a + 1), (a * 2) and (a + b)."""
    integer = mysql.integer("int")
    columns = (Column("a", integer, False), Column("b", integer))
    names = ("expression_index", "expression_index_2", "expression_index_3")
    hidden_names = tuple(f"_V$_{name}_0" for name in names)
    indexes = tuple(Index(name, (f"_V$_{name}_0",)) for name in names)
    table = Table("d", "t", columns, indexes=indexes)
    sql = "CREATE TABLE t (a INT NOT NULL, b INT, KEY ((a + 1)), KEY ((a * 2)), KEY ((a + b)))"
    event = SchemaChange(START, "create table", sql, "d", "t", after=table)
    known, _ = Catalogue("UTC").change(event)
    schema = known.schema("id")
    nullable = [(column.name, column.nullable) for column in schema.columns[2:]]
    assert nullable == list(zip(hidden_names, (False, False, True), strict=True))
    assert [index.nullable for index in schema.indexes] == [False, False, True]
    hidden_columns = HiddenColumns()
    hidden_columns.follow(event)
    assert [column.nullable for column in hidden_columns.columns(table)] == [False, False, True]
