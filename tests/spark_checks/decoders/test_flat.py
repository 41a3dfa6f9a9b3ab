"""A format of one JSON object a row, described in a table: literal messages, both levels."""

import pytest
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType

from generators import model
from generators.model import Table
from generators.sources import mysql
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.flat import Flat

TABLE = Table(
    "db",
    "t",
    (model.Column("id", mysql.integer("bigint")), model.Column("a", mysql.text())),
    ("id",),
)


def _op(m: Column) -> Column:
    return F.when(m["now"].isNotNull(), m["op"])


FLAT = Flat(
    members={"op": StringType(), "t": StringType(), "ts": LongType()},
    op=_op,
    columns=lambda m: {"table": m["t"], "commit_time": framing.instant_of_seconds(m["ts"])},
    row="now",
    old="was",
)
MESSAGES = (
    '{"op":"INSERT","t":"t","ts":0,"now":{"id":9007199254740993,"a":null}}',
    '{"op":"UPDATE","t":"t","ts":1,"now":{"id":2,"a":"y"},"was":{"a":null}}',
    *(
        '{"op":"DELETE","t":"t","ts":-1,"now":{"id":"3","a":"z"},"was":{"a":"no"}}',
        '{"op":"READ","t":"t","now":{"id":4,"a":""}}',
    ),
    *(
        '{"op":"INSERT","t":"other","now":{"id":5}}',
        '{"op":"INSERT","t":"t","now":{"id":"x","a":"z"}}',
    ),
    *('{"op":"INSERT","t":"t"}', '{"op":"INSERT","t":"t","now":{"id":1}}x'),
)


def test_level_one_has_what_a_message_tells(records):
    rows = FLAT.decode(records(*MESSAGES)).orderBy("offset").collect()
    assert [row.kind for row in rows] == ["ROW"] * 6 + ["CORRUPT"] * 2
    assert [row.op for row in rows] == [
        "INSERT",
        "UPDATE",
        "DELETE",
        "READ",
        "INSERT",
        "INSERT",
        None,
        None,
    ]
    assert [row.before for row in rows[:4]] == [None, {"a": None}, {"id": "3", "a": "z"}, None]
    assert [row.after for row in rows[:4]] == [
        *({"id": "9007199254740993", "a": None}, {"id": "2", "a": "y"}, None, {"id": "4", "a": ""})
    ]
    assert [row.commit_time and row.commit_time.second for row in rows[:4]] == [0, 1, None, None]
    assert {(row.table, row.error) for row in rows[6:]} == {(None, framing.UNREADABLE)}


def test_level_two_completes_the_old_row_and_refuses_what_does_not_fit(records):
    rows = {row.offset: row for row in FLAT.decode_rows(records(*MESSAGES), TABLE).collect()}
    assert (sorted(rows), tuple(rows[0].after)) == ([0, 1, 2, 3, 5, 6, 7], (9007199254740993, None))
    assert (tuple(rows[1].before), tuple(rows[1].after)) == ((2, None), (2, "y"))
    assert (tuple(rows[2].before), rows[2].after, tuple(rows[3].after)) == ((3, "z"), None, (4, ""))
    assert [(rows[n].kind, rows[n].error) for n in (5, 6)] == [
        ("CORRUPT", framing.MISFIT),
        ("CORRUPT", framing.UNREADABLE),
    ]


def test_a_column_that_level_one_has_not_is_an_error(spark):
    with pytest.raises(KeyError, match="databse"):
        framing.change(F.lit("ROW"), databse=F.lit("db"))
