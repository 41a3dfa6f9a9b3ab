import re
from pathlib import Path

import pytest

from generators.model import Message
from generators.sources import mysql
from recorders import session
from recorders.audit import ABSENT, SHAPES, Difference, compare, number_of, parse_json
from recorders.products import json_record, product
from recorders.running import ProducedRecord

CANAL, DEBEZIUM = SHAPES["alibaba-canal-json"], SHAPES["debezium-json"]
TYPES = {"a": mysql.integer("int"), "b": mysql.text()}


def differences(
    shape, ours, real, *, key=(None, None), headers=((), ()), partition=(0, 0), topic="cdc"
):
    mine = Message(topic, partition[0], key[0], ours, headers[0])
    theirs = ProducedRecord(topic, partition[1], key[1], real, headers[1])
    (compared,) = compare(shape, "s", TYPES, [mine], [theirs])
    return list(compared.differences)


def canal(**members):
    fields = {
        "data": '[{"a":"1"}]',
        "es": "1000",
        "id": "7",
        "ts": "1100",
        "type": '"INSERT"',
        **members,
    }
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}").encode()


def test_identical_records_do_not_differ():
    assert differences(CANAL, canal(), canal()) == []


def test_ids_and_clocks_are_masked_but_not_their_kind():
    assert differences(CANAL, canal(), canal(id="8", es="2", ts="3")) == []
    assert differences(CANAL, canal(), canal(id='"7"')) == [Difference("value.id", "", "7", '"7"')]
    assert differences(CANAL, canal(), canal(es="null")) == [
        Difference("value.es", "", "1000", "null")
    ]


def test_a_difference_has_the_column_s_type_and_not_its_name():
    assert differences(CANAL, canal(), canal(data='[{"a":"2"}]')) == [
        Difference("value.data.#.{}", "int", '"1"', '"2"')
    ]
    assert differences(CANAL, canal(), canal(data='[{"a":null}]')) == [
        Difference("value.data.#.{}", "int", '"1"', "null")
    ]
    assert differences(CANAL, canal(), canal(data="[{}]")) == [
        Difference("value.data.#.{}", "int", '"1"', ABSENT)
    ]


def test_order_length_and_escapes_are_compared():
    order = differences(CANAL, canal(old='[{"a":"1","b":"x"}]'), canal(old='[{"b":"x","a":"1"}]'))
    assert [difference.path for difference in order] == ["value.old.# (order)"]
    assert differences(CANAL, canal(), canal(data='[{"a":"1"},{"a":"1"}]')) == [
        Difference("value.data (length)", "", "1", "2")
    ]
    escapes = differences(CANAL, canal(sql='"\\u00e9"'), canal(sql='"é"', id="9"))
    assert escapes == [Difference("value (escapes)", "", '"\\u00e9"', '"é"')]


def test_numbers_are_compared_as_texts():
    assert differences(CANAL, canal(x="1.0"), canal(x="1.00")) == [
        Difference("value.x", "", "1.0", "1.00")
    ]


def test_partition_counts_where_the_product_chooses_it():
    assert differences(CANAL, canal(), canal(), partition=(1, 2)) == [
        Difference("partition", "", "1", "2")
    ]
    assert differences(DEBEZIUM, b"{}", b"{}", partition=(1, None)) == []


def test_a_connect_schema_is_compared_by_the_names_of_its_fields():
    ours = b'{"schema":{"fields":[{"fields":[{"type":"int32","field":"a"}],"field":"after"}]},"payload":{"after":{"a":1}}}'
    real = ours.replace(b"int32", b"int64").replace(b'{"a":1}', b'{"a":2}')
    assert differences(DEBEZIUM, ours, real) == [
        Difference("value.schema.fields.after.fields.{}.type", "int", '"int32"', '"int64"'),
        Difference("value.payload.after.{}", "int", "1", "2"),
    ]


def test_avro_is_compared_by_its_schema_and_its_datum_whatever_the_id():
    row = '{"type":"record","name":"Value","fields":[{"name":"a","type":"%s"}]}'
    whole = '{"type":"record","name":"E","fields":[{"name":"before","type":["null",%s]},{"name":"ts_ms","type":"long"}]}'
    texts = {7: (("cdc-value",), whole % row % "int"), 8: (("cdc-value",), whole % row % "long")}

    def of(number, datum):
        data = b"\x00" + number.to_bytes(4) + bytes.fromhex(datum)
        return json_record(ProducedRecord("cdc", None, None, data), texts.__getitem__).value

    shape = SHAPES["debezium-avro"]
    assert differences(shape, of(7, "02020a"), of(7, "02020c")) == []
    assert differences(shape, of(7, "02020a"), of(7, "02040a")) == [
        Difference("value.payload.before.{}", "int", "1", "2")
    ]
    assert differences(shape, of(7, "02020a"), of(8, "02020a")) == [
        Difference("value.schema.fields.before.type.#.fields.{}.type", "int", '"int"', '"long"')
    ]
    other = json_record(
        ProducedRecord("cdc", None, None, b"\x00\x00\x00\x00\x07\x00\x0a"),
        {7: (("x",), texts[7][1])}.__getitem__,
    )
    assert [difference.path for difference in differences(shape, of(7, "000a"), other.value)] == [
        "value.subjects.#"
    ]


@pytest.mark.parametrize(
    ("wrap", "path"), [('{{"payload":{}}}', "key.payload.{}"), ("{}", "key.{}")]
)
def test_keys_have_columns_with_and_without_schema(wrap, path):
    ours, real = wrap.format('{"a":1}').encode(), wrap.format('{"a":2}').encode()
    if wrap != "{}":
        ours, real = (
            text.replace(b'{"payload"', b'{"schema":null,"payload"') for text in (ours, real)
        )
    assert differences(DEBEZIUM, b"{}", b"{}", key=(ours, real)) == [
        Difference(path, "int", "1", "2")
    ]


def test_a_run_id_is_masked_and_the_order_of_headers_is_not():
    run = "__debezium.context.runId"
    mine, theirs = (("x", b"1"), (run, b"a")), ((run, b"b"), ("x", b"1"))
    (difference,) = differences(DEBEZIUM, b"{}", b"{}", headers=(mine, theirs))
    assert (difference.path, difference.ours) == ("headers (order)", f"x {run}")


def test_a_tombstone_differs_from_a_value():
    ours, real = (
        Message("t", 0, b"{}", None),
        ProducedRecord("t", None, b"{}", b'{"payload":{"op":"d"}}'),
    )
    pairs = list(compare(DEBEZIUM, "s", {}, [ours], [real]))
    assert [pair.differences for pair in pairs] == [
        (Difference("record", "", "none", ABSENT),),
        (Difference("record", "", ABSENT, "d"),),
    ]


def test_a_missing_record_does_not_shift_the_others():
    rows = [f'{{"payload":{{"op":"{op}","x":{i}}}}}'.encode() for i, op in enumerate("cud")]
    ours = [Message("t", 0, None, row) for row in rows]
    real = [ProducedRecord("t", None, None, row) for row in (rows[0], rows[2])]
    pairs = [
        (pair.ours is None, pair.real is None, len(pair.differences))
        for pair in compare(DEBEZIUM, "s", {}, ours, real)
    ]
    assert pairs == [(False, False, 0), (False, True, 1), (False, False, 0)]


@pytest.mark.parametrize(
    ("record", "number"),
    [
        (ProducedRecord("cdc.audit.t_r_s12", None, None, None), 12),
        (ProducedRecord("cdc", None, None, b'{"payload":{"source":{"table":"t_s3"}}}'), 3),
        (ProducedRecord("cdc", 0, None, b'{"table":"t_s3"}'), 3),
        (ProducedRecord("cdc", 0, None, b'{"table":"t"}'), None),
        (
            ProducedRecord(
                "cdc", None, None, b'{"source":{"table":null},"ddl":"TRUNCATE TABLE `t_s7`"}'
            ),
            7,
        ),
        (
            ProducedRecord(
                "cdc",
                None,
                None,
                b'{"payload":{"source":{"table":null},"ddl":"TRUNCATE TABLE `t_s7`"}}',
            ),
            7,
        ),
        (ProducedRecord("cdc", None, None, b'{"source":{"table":null},"ddl":"# Dum"}'), None),
    ],
)
def test_a_record_belongs_to_the_scenario_in_its_table_s_name(record, number):
    assert number_of(record) == number


def test_what_is_no_json_is_compared_as_text():
    assert parse_json(b"{") == "{"
    assert differences(CANAL, b"{", b"[") == [Difference("value", "", '"{"', '"["')]


def test_shapes_are_regular_expressions_over_whole_paths():
    assert isinstance(DEBEZIUM.volatile, re.Pattern)
    assert not DEBEZIUM.volatile.fullmatch("value.payload.source.row")
    assert DEBEZIUM.volatile.fullmatch("value.source.lsn") and DEBEZIUM.volatile.fullmatch(
        "value.payload.ts_ns"
    )


RECORDED = {
    name: "".join(digits.split())
    for name, digits in re.findall(
        r"^(\w+):\n([0-9a-f\n]+)",
        Path(__file__).with_name("recorded_rows.txt").read_text(),
        re.MULTILINE,
    )
}


@pytest.mark.parametrize("option", RECORDED)
def test_a_row_of_every_type_is_debezium_s_own_bytes(option):
    debezium = product("debezium-avro")
    profile = debezium.profile("3.5.0.Final", (option,))
    (case,) = session.draw_scenarios(debezium, profile, 0, 1, "rows/every-type/update-key")
    inserted = debezium.wire_format.write(case.history, profile, session.LAYOUT)[-1].message
    assert inserted.key[5:].hex() == "06"
    assert inserted.value[5:].hex().startswith(RECORDED[option])
