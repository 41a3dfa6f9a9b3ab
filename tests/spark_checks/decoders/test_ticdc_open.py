"""The decoder of TiCDC's Open Protocol on the document's own events."""

from decoded import by_offset

from generators.model import Column, Table
from generators.sources import mysql
from spark_checks.decoders import ticdc_open_protocol as reference

TABLE = Table(
    "test",
    "t",
    (Column("id", mysql.integer("int")), Column("val", mysql.binary("varbinary", 8))),
    ("id",),
)
ROW = '{"ts":1,"scm":"test","tbl":"t","t":1}'
CELLS = '{"id":{"t":3,"h":true,"f":11,"v":1},"val":{"t":15,"f":65,"v":"a\\\\x00é"}}'
DDL = ('{"ts":2,"scm":"test","tbl":"t","t":2}', '{"q":"CREATE TABLE t","t":3}')
RESOLVED = ('{"ts":262144,"t":3}', "")


def record(*events: tuple[str, str]) -> tuple[bytes, bytes]:
    """A record of the events' keys and values."""
    key, value = (
        b"".join(len(text.encode()).to_bytes(8, "big") + text.encode() for text in half)
        for half in zip(*events, strict=True)
    )
    return (1).to_bytes(8, "big") + key, value


INSERT, DELETE = (ROW, f'{{"u":{CELLS}}}'), (ROW, f'{{"d":{CELLS}}}')
UPDATE = (ROW, f'{{"u":{CELLS},"p":{{"id":{{"t":3,"h":true,"f":11,"v":2}}}}}}')
ALL = record(INSERT, UPDATE, DELETE)


def test_level_one_tells_each_event_of_a_record(records):
    rows = (
        reference.decode(records(ALL, record(DDL), record(RESOLVED)))
        .orderBy("offset", "row")
        .collect()
    )
    assert [(row.offset, row.row, row.kind, row.op) for row in rows] == [
        (0, 0, "ROW", "INSERT"),
        (0, 1, "ROW", "UPDATE"),
        (0, 2, "ROW", "DELETE"),
        (1, 0, "DDL", None),
        (2, 0, "WATERMARK", None),
    ]
    assert (rows[1].keys, rows[1].before, rows[1].after) == (
        ["id"],
        {"id": "2"},
        {"id": "1", "val": "a\\x00é"},
    )
    assert (rows[3].sql, rows[4].position, rows[4].commit_time.timestamp()) == (
        "CREATE TABLE t",
        "262144",
        0.001,
    )


def test_the_baseline_reads_the_first_event_of_a_record_with_several(records):
    """An event that stands behind it, and one whose text has letters of two bytes, change nothing."""
    for given in (record(INSERT), ALL):
        (row,) = reference.BASELINE.decode(records(given)).collect()
        assert (row.kind, row.op, row.after) == ("ROW", "INSERT", {"id": "1", "val": "a\\x00é"})
        (row,) = reference.BASELINE.decode_rows(records(given), TABLE).collect()
        assert (row.kind, row.op, row.after.id) == ("ROW", "INSERT", 1)


def test_a_record_that_ends_elsewhere_is_one_corrupt_row(records):
    key, value = ALL
    broken = (
        (key, value + b"\0"),
        (key, value[:-1]),
        (key[:-1], value),
        record(INSERT)[::-1],
        (key, record(INSERT)[1]),
        (key, None),
    )
    out = by_offset(reference.decode(records(*broken)))
    assert {row.kind for row in out.values()} == {"CORRUPT"}
    assert len(out) == len(broken)


def test_level_two_undoes_the_quotes_and_takes_what_did_not_change_from_the_new_image(records):
    rows = (
        reference.decode_rows(records(ALL, record(DDL), record(RESOLVED)), TABLE)
        .orderBy("row")
        .collect()
    )
    assert [(row.row, row.op) for row in rows] == [(0, "INSERT"), (1, "UPDATE"), (2, "DELETE")]
    assert (rows[1].before.id, bytes(rows[1].before.val), rows[1].after.id) == (
        2,
        b"a\0\xc3\xa9",
        1,
    )
