"""The reference decoder reads what Oracle's samples and Flink's test data print."""

import datetime as dt
from decimal import Decimal

from decoded import by_offset
from literals import literal

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import ogg_json as reference

COLUMNS = (
    Column("CUST_CODE", mysql.text()),
    Column("ORDER_DATE", mysql.temporal("datetime")),
    Column("PRODUCT_PRICE", mysql.decimal(8, 2)),
    Column("PRODUCT_AMOUNT", mysql.integer("int")),
)
TABLE = Table("GG", "TCUSTORD", COLUMNS, ("CUST_CODE",))
UPDATE = literal("oracle-ogg-update.json")
DELETE = literal("flink-ogg-delete.json")
TRUNCATE = '{"table":"OGG.TBL_TEST","op_type":"T","op_ts":"2020-05-13 17:32:25.000000","pos":"00000000000000000000159"}'


def test_level_one_reads_what_is_printed(records):
    rows = by_offset(reference.decode(records(UPDATE, DELETE, TRUNCATE)))
    assert [(row.kind, row.op, row.database, row.table) for row in rows.values()] == [
        ("ROW", "UPDATE", "GG", "TCUSTORD"),
        ("ROW", "DELETE", "OGG", "TBL_TEST"),
        ("ROW", "TRUNCATE", "OGG", "TBL_TEST"),
    ]
    assert (rows[0].before["ORDER_DATE"], rows[0].after["ORDER_ID"]) == (
        "1995-12-31:15:00:00",
        "765",
    )
    assert (rows[1].before["name"], rows[1].after, rows[1].position) == (
        "scooter",
        None,
        "00000000000000000000158",
    )
    assert [row.commit_time.timestamp() for row in (rows[0], rows[1])] == [
        1370211281,
        1589391144.455,
    ]
    assert (rows[2].before, rows[2].after) == (None, None)


def test_level_two_types_both_images(records):
    (row,) = reference.decode_rows(records(UPDATE, DELETE), TABLE).collect()
    assert (Decimal("15000.00"), Decimal("14000.00")) == (
        row.before.PRODUCT_PRICE,
        row.after.PRODUCT_PRICE,
    )
    assert (dt.datetime(1995, 12, 31, 15), 3) == (row.after.ORDER_DATE, row.after.PRODUCT_AMOUNT)
