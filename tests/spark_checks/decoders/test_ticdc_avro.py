"""Rows of TiCDC's Avro messages, read by the reference decoder."""

import pytest
from decoded import by_offset

from conformance.brokers.registry import ADDRESS, local_registry_url
from generators.formats.ticdc_avro import FORMAT
from generators.model import Column, History, Layout, Op, Table
from generators.sources import boundaries, mysql
from spark_checks.decoders import ticdc_avro

NUMBER = mysql.integer("int")
TABLE = Table(
    "d", "t", (Column("id", NUMBER, False), Column("a-b", NUMBER), Column("A.B", NUMBER)), ("id",)
)
"""A table two of whose columns are a_b and A_B in Avro, which Spark takes for one name."""


def test_columns_whose_names_in_avro_differ_in_case_alone(records, monkeypatch):
    """ticdc-avro#names: it ended in an AnalysisException."""
    monkeypatch.setenv(ADDRESS, local_registry_url())
    row = {"id": 1, "a-b": 2, "A.B": 3}
    history = History(
        (boundaries.insert(TABLE, row), boundaries.change(TABLE, Op.DELETE, (row, None)))
    )
    profile = FORMAT.build("v8.5.7", "extension")
    sent = [record.message for record in FORMAT.write(history, profile, Layout())]
    pairs = [(message.key, message.value) for message in sent]
    inserted, deleted = by_offset(ticdc_avro.decode_rows(records(*pairs), TABLE)).values()
    assert (inserted.op, inserted.after.asDict()) == ("INSERT", row)
    assert (deleted.op, deleted.before.asDict()) == ("DELETE", {"id": 1, "a-b": None, "A.B": None})


@pytest.mark.parametrize("name", ["a-b", "a_b"])
def test_columns_of_one_name_in_avro_leave_the_key(records, monkeypatch, name):
    """ticdc-avro#names: TiCDC writes the DELETE of such a table alone."""
    monkeypatch.setenv(ADDRESS, local_registry_url())
    columns = (Column("id", NUMBER, False), Column("a-b", NUMBER), Column("a_b", NUMBER))
    table = Table("d", "t", columns, ("id",))
    row = {"id": 1, "a-b": 2, "a_b": 3}
    deleted = boundaries.change(table, Op.DELETE, (row, None))
    (record,) = FORMAT.write(History((deleted,)), FORMAT.build("v8.5.7"), Layout())
    pair = (record.message.key, record.message.value)
    (shown,) = by_offset(ticdc_avro.decode_rows(records(pair), table)).values()
    assert (shown.op, shown.before["id"], shown.before[name]) == ("DELETE", 1, None)
