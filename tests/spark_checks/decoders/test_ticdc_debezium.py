"""The decoder of TiCDC's Debezium protocol on the document's own messages."""

from decoded import by_offset

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_debezium_json as reference

TABLE = Table("test", "table1", (Column("tiny", mysql.integer("tinyint")),), ("tiny",))
SOURCE = (
    '"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"test_cluster","ts_ms":0,"snapshot":"false","db":"test",'
    '"table":"table1","server_id":0,"gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,"commit_ts":1,'
    '"cluster_id":"test_cluster"},"ts_ms":1701326309000'
)
KEY = '{"payload":{"tiny":1},"schema":{"fields":[],"name":"test_cluster.test.table1.Key","optional":false,"type":"struct"}}'
UPDATE = f'{{"payload":{{{SOURCE},"transaction":null,"op":"u","before":{{"tiny":2}},"after":{{"tiny":1}}}},"schema":{{}}}}'
DDL = f'{{"payload":{{{SOURCE},"databaseName":"test","schemaName":null,"ddl":"RENAME TABLE t","tableChanges":[]}}}}'
WATERMARK = f'{{"payload":{{{SOURCE},"op":"m","transaction":null}}}}'


def test_level_one_tells_rows_statements_and_watermarks_apart(records):
    values = (
        (KEY, UPDATE),
        ("", UPDATE),
        ('{"payload":{}}', WATERMARK),
        ('{"payload":{"databaseName":"test"}}', DDL),
    )
    out = by_offset(reference.decode(records(*values, (None, None), (None, f"{{{SOURCE}}}"))))
    kinds = ["ROW", "ROW", "WATERMARK", "DDL", "TOMBSTONE", "CORRUPT"]
    assert [row.kind for row in out.values()] == kinds
    assert [row.keys for row in out.values()] == [["tiny"], None, None, None, None, None]
    assert (out[0].op, out[0].before, out[0].after, out[0].position) == (
        "UPDATE",
        {"tiny": "2"},
        {"tiny": "1"},
        "1",
    )
    assert (out[3].sql, out[3].table, out[2].position) == ("RENAME TABLE t", "table1", "1")


def test_level_two_reads_the_table_s_rows_alone(records):
    out = by_offset(
        reference.decode_rows(records((KEY, UPDATE), (None, WATERMARK), (None, DDL)), TABLE)
    )
    assert {offset: (row.op, row.before.tiny, row.after.tiny) for offset, row in out.items()} == {
        0: ("UPDATE", 2, 1)
    }
