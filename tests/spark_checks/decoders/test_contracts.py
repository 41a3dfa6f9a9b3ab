"""What every reference decoder keeps: columns and names, and what becomes of a message of its writer that is spoilt."""

from __future__ import annotations

import cramjam
import pytest
from decoded import Records, assert_contract, assert_corrupt, by_offset, parses

from conformance.load.bench import plain_profile
from generators.model import Column, Deployment, History, Kind, Layout, Op, Row, Table
from generators.sources import boundaries
from generators.sources.registry import source
from generators.wire_format import FORMATS, get
from spark_checks import reference
from spark_checks.decoders import ticdc_canal_json

AVRO = ("aliyun-dts-avro", "ticdc-simple-avro")
BINARY = (*AVRO, "ticdc-open-protocol", "debezium-avro", "ticdc-avro")
NAMED = [name for name in FORMATS if name not in ("debezium-avro", "ticdc-avro")]
"""Formats whose messages have the names of columns as they are."""
MODULES = {**{name: reference(name) for name in FORMATS}, "a baseline": ticdc_canal_json.BASELINE}
TEXT = 'q"uo\\te\n\u0001汉x'
BEHIND = (b"x", b" x", b"}", b"]", b"\x00")
PACKED = {"snappy": cramjam.snappy.compress_raw, "lz4": cramjam.lz4.compress}
PARSES = {"debezium-json": [2], "debezium-avro": [2], "ticdc-simple-json": [1, 1]}
"""How often the line of a plan parses a message, where it is not once: Simple's schemas are read apart."""


def update(name: str, *, composite: bool = False) -> tuple[Table, Row, bytes | None, bytes]:
    """A table, a row of it, and an update to it as a plain profile of the format writes it, with its key where a value is nothing
    without; `s` becomes "y"."""
    fmt = get(name)
    profile = plain_profile(fmt)
    origin = source(profile.source)
    columns = (Column("id", origin.number, nullable=False), Column("s", origin.string))
    table = boundaries.composite(profile.source) if composite else Table("db", "t", columns, ("id",), schema=origin.schema)
    row: Row = {c.name: 7 if c.type == origin.number else TEXT for c in table.columns}
    row = row if composite else {**row, "s": "y"}
    before = {**row, table.columns[3].name if composite else "s": TEXT + "was"}
    written = fmt.write(History((boundaries.change(table, Op.UPDATE, (before, row)),)), profile, Layout())
    (message,) = (one.message for one in written if any(change.kind is Kind.ROW for change in one.changes))
    assert message.value is not None
    return table, row, message.key if fmt.container == "frames" else None, message.value


@pytest.mark.parametrize("name", MODULES)
def test_the_columns_are_the_contract_s(records: Records, name: str) -> None:
    kind = get(name).profiles[0].source if name in FORMATS else "mysql"
    for table in (boundaries.every_type(lambda _: True, kind), boundaries.COMPOSITE):
        assert_contract(MODULES[name], records, table)


@pytest.mark.parametrize("name", NAMED)
def test_names_that_need_escaping_are_those_of_the_table(records: Records, name: str) -> None:
    table, wanted, *message = update(name, composite=True)
    (change,) = by_offset(reference(name).decode(records(tuple(message)))).values()
    (row,) = by_offset(reference(name).decode_rows(records(tuple(message)), table)).values()
    assert (change.kind, change.op, set(change.after), row.after.asDict()) == ("ROW", "UPDATE", set(wanted), wanted)


@pytest.mark.parametrize("name", FORMATS)
def test_a_message_that_is_cut_or_goes_on_is_one_corrupt_row_at_both_levels(records: Records, name: str) -> None:
    """But for the last field of the newer edition of Aliyun's record, which the older lacks: a test of its own has it."""
    table, _, key, whole = update(name)
    cut = [whole[:end] for end in range(len(whole) - 8 * (name == "aliyun-dts-avro"))]
    values = [
        *cut,
        *(whole + more for more in BEHIND),
        *(whole * 2, whole + b"," + whole, b"[" + whole + b"]", b" \r\n", b"5", b'"INSERT"', b"{}"),
    ]
    sent = records(*((key, value) for value in values))
    for frame in (reference(name).decode(sent), reference(name).decode_rows(sent, table)):
        assert_corrupt(frame, len(values))


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in BINARY])
def test_unspecified_input_never_raises_and_never_vanishes(records: Records, name: str) -> None:
    table, _, _, good = update(name)
    values = [
        *(b"\xef\xbb\xbf" + good, good.replace(b'"y"', b'"y","s":"z"'), good.replace(b'"y"', b'"\\ud800"')),
        *(good.replace(b'"y"', b'"\xff\xfe"'), good.replace(b'"y"', b'"\t\x01"')),
    ]
    assert good not in values and len(set(values)) == len(values)
    changes = by_offset(reference(name).decode(records(*values)))
    assert (set(changes), changes[4].after["s"]) == (set(range(len(values))), "\t\x01")
    assert set(by_offset(reference(name).decode_rows(records(*values), table))) == set(range(len(values)))


@pytest.mark.parametrize("name", [name for name in MODULES if name != "ticdc-simple-avro"])
def test_a_message_is_parsed_once(records: Records, name: str) -> None:
    """Simple's is at level one parsed once more where it carries a schema, Debezium's where it is flattened."""
    word = "from_avro(" if name in AVRO else "from_json(StructField(m" if name == "ticdc-simple-json" else "from_json("
    wanted, decoder = PARSES.get(name, [1]), MODULES[name]
    assert parses(decoder.decode(records(b"{}")), word) == wanted
    assert parses(decoder.decode_rows(records(b"{}"), boundaries.COMPOSITE), word) == wanted[:1]


@pytest.mark.parametrize("name", ["ticdc-canal-json", "ticdc-simple-json", "ticdc-simple-avro"])
@pytest.mark.parametrize("compression", PACKED)
def test_compressed_values(records: Records, name: str, compression: str) -> None:
    *_, whole = update(name)
    packed = bytes(PACKED[compression](whole))
    frame = reference(name).decode(records(packed, packed[:-3], None, whole), deployment=Deployment(compression=compression))
    out = by_offset(frame)
    assert ([r.kind for r in out.values()], out[0].after["s"]) == (["ROW", "CORRUPT", "CORRUPT", "CORRUPT"], "y")
