"""The reference decoder reads what the vendors' pages print."""

import datetime as dt

import pytest
from decoded import by_offset
from literals import literal

from generators.model import Column, Deployment, Table
from generators.sources import mysql
from spark_checks.decoders import canal_dialects_json as reference

DDL = literal("tencent-ckafka-ddl.json")
DELETE = literal("huawei-drs-delete.json")
INIT = DELETE.replace("DELETE", "INIT").replace('"data":null,"old":', '"old":null,"data":')
COLUMNS = (
    Column("id", mysql.integer("int")),
    Column("c2", mysql.binary()),
    Column("c5", mysql.temporal("timestamp")),
)
TABLE = Table("test01", "test ", COLUMNS, ("id",))
AT = "2021-05-17T07:22:42+00:00"


def test_level_one_reads_what_is_printed(records):
    rows = by_offset(reference.decode(records(DDL, DELETE, INIT)))
    assert [(row.kind, row.op) for row in rows.values()] == [
        ("DDL", None),
        ("ROW", "DELETE"),
        ("ROW", "READ"),
    ]
    assert [row.commit_time.timestamp() for row in rows.values()] == [
        1655812326,
        1624614713,
        1624614713,
    ]
    assert (rows[1].before["c2"], rows[1].after, rows[1].position, rows[1].keys) == (
        "[106, 103]",
        None,
        "27677",
        ["id"],
    )
    assert (rows[2].before, rows[2].after["id"]) == (None, "1")


@pytest.mark.parametrize(("binary", "text"), [("list", "[106, 103]"), ("hex", "6a67"), ("", "jg")])
def test_level_two_reads_binaries_and_offsets(records, binary, text):
    deployment = Deployment("Asia/Shanghai", binary=binary)
    messages = [message.replace("[106, 103]", text) for message in (DELETE, INIT)]
    rows = by_offset(reference.decode_rows(records(*messages), TABLE, deployment=deployment))
    assert [row.op for row in rows.values()] == ["DELETE", "READ"]
    assert (bytes(rows[0].before.c2), bytes(rows[1].after.c2)) == (b"jg", b"jg")
    assert rows[0].before.c5.astimezone(dt.UTC).isoformat() == AT
