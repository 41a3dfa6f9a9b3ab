import gzip
import itertools
import json
from decimal import Decimal

import pytest
from literals import literal

from conformance.inspecting.books.debezium import key_has_schema, nearest
from conformance.inspecting.inspector import (
    BOTH,
    NO,
    PRINTED_AVRO,
    UNTOLD,
    YES,
    Inspector,
    as_json,
    inspect,
)
from conformance.inspecting.opening import ReadRecord, open_record
from generators.drawing.cases import as_case, boundary_scenarios
from generators.model import (
    Column,
    DtsSetting,
    History,
    Instant,
    Layout,
    ReplicaIdentity,
    Table,
    Watermark,
)
from generators.recorded import store
from generators.sources import boundaries, mysql
from generators.wire_format import formats, get

RECORDINGS = [recording for product in store.PRODUCTS for recording in store.recordings(product)]
PROFILES = [(fmt.name, profile.name) for fmt in formats() for profile in fmt.profiles]
STRIDE = 25
AS_ANOTHER = {"canal-dialects-json": "alibaba-canal-json"}
"""Formats some of whose messages have nothing of their own, and as whose they are told."""


def record(value, **facts):
    return ReadRecord(value.encode() if isinstance(value, str) else value, **facts)


def of_message(message):
    return ReadRecord(message.value, message.key, message.topic, message.partition)


def writers(inspector):
    return [[tally.book.format for tally in group.tallies] for group in inspector.groups()]


def wrong(inspector, fmt, release, options):
    """What is told of the format's writer and is not so."""
    tally = inspector.tallies[fmt]
    problems = [] if release in tally.releases else [(release, tally.releases)]
    for option, state in tally.options.items():
        if (
            state == BOTH
            or (state == YES and option not in options)
            or (state == NO and option in options)
        ):
            problems.append((option, state))
    return problems


@pytest.mark.parametrize(
    ("key", "has_schema"),
    [
        (b'{"schema":null,"payload":{"id":1}}', True),
        (b'{"schema":{"type":"struct"},"payload":{"id":1}}', True),
        (b'{"payload":{"id":1}}', False),
        (b'{"id":1}', False),
        (b"1", None),
        (None, None),
    ],
)
def test_a_key_with_a_payload_alone_has_no_schema(key, has_schema):
    assert key_has_schema(open_record(ReadRecord(b"{}", key))) is has_schema


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: recording.name)
def test_recorded_messages_are_told_right_or_not_at_all(recording):
    inspector = inspect(map(of_message, store.messages(recording)))
    release, *options = (recording.profile or recording.release).split("+")
    assert writers(inspector) == [[recording.format]]
    assert not inspector.problems
    if recording.profile:
        # Tables of these databases have different replica identities.
        mixed = [("full", BOTH)] if "postgresql" in options else []
        assert [
            problem
            for problem in wrong(inspector, recording.format, release, options)
            if problem not in mixed
        ] == []
    else:
        assert inspector.tallies[recording.format].releases == (release,)


def test_tables_of_different_replica_identities_disagree():
    recording = next(r for r in RECORDINGS if r.name == "pg35-default")
    assert (
        inspect(map(of_message, store.messages(recording)))
        .tallies[recording.format]
        .options["full"]
        == BOTH
    )


@pytest.mark.parametrize(("name", "profile"), PROFILES, ids=["/".join(pair) for pair in PROFILES])
def test_named_cases_are_never_told_wrong(name, profile):
    fmt = get(name)
    of = fmt.profile(profile)
    whole, checked = Inspector(), 0
    scenarios = itertools.islice(
        boundary_scenarios(fmt, of), sum(profile.encode()) % STRIDE, None, STRIDE
    )
    for scenario in scenarios:
        changing = any(
            isinstance(event, DtsSetting | ReplicaIdentity) for event in scenario.history.events
        )
        if changing or scenario.name.startswith("megabyte"):
            continue
        records = [of_message(written.message) for written in as_case(fmt, of, scenario).written]
        inspector = inspect(records)
        assert not inspector.problems, scenario.name
        if inspector.tallies:
            groups = writers(inspector)
            assert len(groups) == 1 or name in AS_ANOTHER, scenario.name
            group = [*itertools.chain.from_iterable(groups)]
            assert name in group or AS_ANOTHER.get(name) in group, scenario.name
            if name in group:
                assert wrong(inspector, name, of.release, of.options) == [], scenario.name
            checked += 1
        for message in records:
            whole.add(message)
    assert checked >= 10
    if name in whole.tallies:
        assert wrong(whole, name, of.release, of.options) == []
    assert any(name in group or AS_ANOTHER.get(name) in group for group in writers(whole))


def conclusion(inspector, fmt):
    tally = inspector.tallies[fmt]
    return tally.releases, {
        option: state for option, state in tally.options.items() if state != UNTOLD
    }


@pytest.mark.parametrize(
    ("fmt", "document", "options"),
    [
        (
            "flink-canal-json",
            {"data": [{"id": 1, "t": "2024-02-29 01:02:03Z"}], "type": "DELETE"},
            {"iso-8601": NO},
        ),
        ("flink-debezium-json", {"after": {"id": 5}, "op": "c"}, {"non-null": YES}),
        ("flink-debezium-json", {"before": None, "after": {"id": 5}, "op": "c"}, {"non-null": NO}),
        (
            "flink-maxwell-json",
            {"data": {"id": None, "t": "2024-02-29T01:02:03"}, "type": "insert"},
            {"iso-8601": YES, "non-null": NO},
        ),
        ("flink-ogg-json", {"before": {"id": 5}, "op_type": "D"}, {"non-null": YES}),
        ("seatunnel-canal-json", {"data": {"id": 1}, "type": "DELETE"}, {}),
    ],
)
def test_messages_of_flink_s_sinks_are_told_from_those_of_the_products(fmt, document, options):
    inspector = inspect([record(json.dumps(document))])
    assert writers(inspector) == [[fmt]]
    assert conclusion(inspector, fmt)[1] == options


@pytest.mark.parametrize(
    ("text", "key", "releases", "options"),
    [
        ('{"data":{"a":"\\uD83D\\uDE00"},"type":"INSERT"}', None, ("2.3.3",), {}),
        ('{"data":{"a":"\U0001f600"},"type":"INSERT"}', None, ("2.3.8",), {}),
        ('{"data":{"a":"\\\\uD83D"},"type":"INSERT"}', None, ("2.3.3", "2.3.8"), {}),
        (
            '{"data":{"a":"x"},"type":"DELETE"}',
            b'{"data":{"a":"x"},"type":"INSERT"}',
            ("2.3.3", "2.3.8"),
            {"keyed": YES},
        ),
    ],
)
def test_a_release_of_seatunnel_shows_in_its_escapes(text, key, releases, options):
    inspector = inspect([ReadRecord(text.encode(), key)])
    assert conclusion(inspector, "seatunnel-canal-json") == (releases, options)


CANAL = (
    '{"data":[{"id":"1","v":"x"}],"database":"d","es":1700000000000,"id":%s,"isDdl":false,'
    '"mysqlType":{"id":"int(11)","v":"varchar(9)"},"old":%s,"pkNames":["id"],"sql":"","sqlType":{"id":4,"v":12},'
    '"table":"t","ts":1700000000120,"type":"INSERT"}'
)


DEBEZIUM = (
    '{"before":%s,"after":%s,"source":{"version":"%s.Final","connector":"mysql","name":"c","ts_ms":1,"snapshot":"false","db":"d",'
    '"sequence":null,%s"table":"t","server_id":1,"gtid":null,"file":"f","pos":4,"row":0,"thread":7,"query":null},'
)
DB2 = '{"before":null,"after":{"id":1},"source":{"version":"2.5.4.Final","connector":"db2","name":"c"},'
CREATED = '"op":"c","ts_ms":2,"transaction":null}'
TICDC = (
    '{"id":0,"database":"d","table":"t","pkNames":["id"],"isDdl":false,"type":"%s","es":1700000000000,"ts":1700000000046,"sql":"",'
    '"sqlType":{%s},"mysqlType":{%s},"old":%s,"data":[{%s}]%s}'
)
INSERT = TICDC % ("INSERT", '"id":4', '"id":"int"', "null", '"id":"1"', "")
WATERMARK = '{"version":1,"type":"WATERMARK","commitTs":447984074911121409,"buildTs":1708936343598}'


def test_an_insert_that_two_products_write_is_of_both():
    inspector = inspect([record(CANAL % (7, "null"))])
    assert writers(inspector) == [["alibaba-canal-json", "cloudcanal-canal-json"]]
    assert as_json(inspector)["writers"][0]["told"] is False


CLOUD = (
    '{"op":"c","ts_ms":1,"after":{"id":"1"},"before":{},"source":{"ts_ms":1,"db":"d","table":"t","connector":"MySQL",'
    '"gtid":null,"file":"mysql-bin.000003","pos":154,"server_id":1}}'
)


@pytest.mark.parametrize(
    ("value", "fmt"),
    [
        (CANAL % (7, "[]"), "cloudcanal-canal-json"),
        (CANAL % (0, "null"), "cloudcanal-canal-json"),
        ((CANAL % (7, "null")).replace('"id":7', '"gtid":"","id":7'), "alibaba-canal-json"),
        (INSERT, "ticdc-canal-json"),
        (DEBEZIUM % ("null", '{"id":1}', "2.5.4", "") + CREATED, "debezium-json"),
        (CLOUD, "cloudcanal-debezium"),
        (WATERMARK, "ticdc-simple-json"),
        (
            b"\x16\x00\x00\x02\x82\x80\xe0\x99\x94\x9d\xf7\x87\x0d\xd6\xa1\xe9\xb9\xbfh",
            "ticdc-simple-avro",
        ),
    ],
)
def test_the_member_that_decides(value, fmt):
    inspector = inspect([record(value)])
    assert writers(inspector) == [[fmt]]
    assert not inspector.problems


def test_a_message_that_decides_decides_for_the_others():
    inspector = inspect(
        [record(CANAL % (7, "null"))] * 3
        + [record((CANAL % (7, "null")).replace('["id"]', "null"))]
    )
    assert writers(inspector) == [["alibaba-canal-json"]]
    assert inspector.groups()[0].messages == 4


def test_a_packet_of_canal_tells_what_its_batch_keeps_and_the_server_s_widths():
    not_routed = dict.fromkeys(
        ("pk-hash", "table-hash", "column-hash", "columns-hash", "dynamic-topic"), NO
    )
    raw = bytes.fromhex(literal("alibaba-canal-packets.hex").split()[0])
    assert conclusion(inspect([record(raw)]), "alibaba-canal-protobuf") == (
        ("1.1.5", "1.1.6", "1.1.7", "1.1.8"),
        {**not_routed, "mysql8": NO, "parsed": NO},
    )
    parsed = bytes.fromhex(literal("alibaba-canal-packet-of-parsed-entries.hex"))
    assert conclusion(inspect([record(parsed)]), "alibaba-canal-protobuf") == (
        ("1.1.4", "1.1.5", "1.1.6", "1.1.7", "1.1.8"),
        {**not_routed, "mysql8": NO, "filtered": NO},
    )


def test_a_packet_whose_update_lacks_the_key_after_it_is_of_minimal_images():
    codec = get("alibaba-canal-protobuf").codec
    update = bytes.fromhex(literal("alibaba-canal-packets.hex").split()[1])
    document = codec.read(update)
    (entry,) = document["body"]["messages"]
    row = entry["storeValue"]["rowDatas"][0]
    assert [[column["name"] for column in columns] for columns in row.values()] == [["id", "a"]] * 2
    _, told = conclusion(inspect([record(update)]), "alibaba-canal-protobuf")
    assert "minimal" not in told
    del row["beforeColumns"][1], row["afterColumns"][0]
    _, told = conclusion(inspect([record(codec.write(document))]), "alibaba-canal-protobuf")
    assert told["minimal"] == YES


def test_options_and_releases_of_a_message_of_ticdc():
    types, row = '"v":"varchar(9)","id":"int(11) unsigned"', '"id":"1","v":"y"'
    extension = ',"_tidb":{"commitTs":445644800000000001}'
    value = TICDC % ("UPDATE", '"id":4,"v":12', types, '[{"v":"x"}]', row, extension) + "\r\n"
    releases, options = conclusion(inspect([record(value)]), "ticdc-canal-json")
    assert releases == ("v6.5.11",)
    assert options == {
        "extension": YES,
        "content-compatible": YES,
        "row-key": NO,
        "snappy": NO,
        "lz4": NO,
    }
    assert inspect([record(value)]).tallies["ticdc-canal-json"].profiles() == (
        "v6.5.11+extension+content-compatible",
    )


def test_the_end_of_a_line_tells_nothing():
    value = INSERT.replace("INSERT", "DELETE")
    assert "v6.5.1" in conclusion(inspect([record(value, exact=False)]), "ticdc-canal-json")[0]
    assert "v6.5.1" not in conclusion(inspect([record(value)]), "ticdc-canal-json")[0]


@pytest.mark.parametrize(
    ("release", "told"),
    [("new-26.3.4", ("new-26.3.4",)), ("new-8.5.6", ("new-8.5.6", "new-8.5.7"))],
)
def test_the_schema_of_source_tells_v26_3_of_ticdc(release, told):
    """ticdc-debezium#source-schema; a watermark is of the new architecture."""
    fmt = get("ticdc-debezium-json")
    row = boundaries.insert(Table("d", "t", (boundaries.ID,), ("id",)), {"id": 1})
    history = History((row, Watermark(Instant(row.at.ms + 1))))
    written = fmt.write(history, fmt.build(release, "extension"), Layout())
    inspector = inspect(of_message(record.message) for record in written)
    assert inspector.tallies[fmt.name].releases == told


@pytest.mark.parametrize("options", [[], ["extension"]])
def test_the_schema_of_a_decimal_tells_how_ticdcs_avro_has_it(options):
    """ticdc-debezium-avro#decimal; Avro's own logical type is not kept in what is read."""
    fmt = get("ticdc-debezium-avro")
    table = Table("d", "t", (boundaries.ID, Column("p", mysql.decimal(10, 2))), ("id",))
    history = History((boundaries.insert(table, {"id": 1, "p": Decimal("1.50")}),))
    for decimals, told in (((), NO), (("decimal-string",), YES if options else None)):
        written = fmt.write(history, fmt.build("new-26.3.4", *options, *decimals), Layout())
        inspector = inspect(of_message(record.message) for record in written)
        assert conclusion(inspector, fmt.name)[1].get("decimal-string") == told


def test_messages_of_two_releases_disagree():
    old = CANAL % (7, "null")
    new = old.replace('"id":7', '"gtid":"a:1","id":7').replace('["id"]', "null")
    inspector = inspect([record(old.replace('["id"]', "null")), record(new)])
    tally = inspector.tallies["alibaba-canal-json"]
    assert tally.releases == () and tally.profiles() == ()
    assert as_json(inspector)["writers"][0]["formats"][0]["releases"] == BOTH


def test_a_release_that_no_profile_has_is_named_and_judged_by_the_nearest_older():
    value = DEBEZIUM % ("null", '{"id":1}', "2.7.3", '"ts_us":1000,"ts_ns":1000000,')
    value += '"transaction":null,"op":"c","ts_ms":2,"ts_us":2000,"ts_ns":2000000}'
    tally = inspect([record(value)]).tallies["debezium-json"]
    assert tally.unknown_versions == ("2.7.3.Final",)
    assert tally.profiles() == ("2.5.4.Final+schemaless",)


@pytest.mark.parametrize("release", ["2².1", "2.²", "9" * 5000])
def test_a_release_that_is_no_number_is_judged_by_the_oldest_or_by_its_other_numbers(release):
    assert nearest(release) in get("debezium-json").choices.releases


@pytest.mark.parametrize(
    ("value", "why", "nearest"),
    [
        (
            (CANAL % (7, "null")).replace('"sql":""', '"sql":"","extra":1'),
            "has the unknown extra",
            "alibaba-canal-json",
        ),
        (
            (CANAL % (7, "null")).replace('"ts":1700000000120,', ""),
            "has no ts",
            "alibaba-canal-json",
        ),
        (
            '{"type":"INSERT","data":{"id":1},"table":"t"}',
            "no known format has these members: type, data, table",
            "",
        ),
        (
            gzip.compress((CANAL % (7, "[]")).encode(), mtime=0),
            "the value is compressed with gzip",
            "cloudcanal-canal-json",
        ),
        ("[1,2]", "JSON that is no object: no known format", ""),
        ("{}", "an object without members", ""),
        (DB2 + CREATED, "the connector is none that a profile has", "debezium-json"),
    ],
)
def test_messages_that_no_profile_writes(value, why, nearest):
    inspector = inspect([record(value, place="here")])
    (problem,) = inspector.problems.values()
    assert why in problem.why
    assert nearest in problem.formats if nearest else problem.formats == ()
    assert problem.samples[0].place == "here"
    assert not inspector.groups()


def test_members_in_another_order_were_written_by_something_else():
    value = json.dumps(
        dict(reversed(json.loads(CANAL % (7, "null")).items())), separators=(",", ":")
    )
    (problem,) = inspect([record(value)]).problems.values()
    assert "has its members in another order" in problem.why


def test_a_mixed_topic_has_a_writer_for_each_format():
    inspector = inspect(
        [record(value) for value in (CANAL % (7, "[]"), WATERMARK, WATERMARK, "nonsense", None)]
    )
    assert writers(inspector) == [["ticdc-simple-json"], ["cloudcanal-canal-json"]]
    assert [problem.why for problem in inspector.problems.values()] == [
        "neither JSON nor Avro of a published schema"
    ]
    assert (inspector.messages, inspector.nulls) == (5, 1)


def test_tables_have_the_types_that_the_bytes_tell():
    tally = inspect([record(CANAL % (7, "[]"))] * 2).tallies["cloudcanal-canal-json"]
    (table,) = tally.tables.values()
    assert (table.database, table.table, table.messages, table.keys) == ("d", "t", 2, ("id",))
    assert table.types == {"id": ["int(11)"], "v": ["varchar(9)"]}


def delete(offset):
    value = DEBEZIUM % ('{"id":1}', "null", "2.5.4", "") + '"op":"d","ts_ms":2,"transaction":null}'
    return record(value, key=b'{"id":1}', offset=offset)


def test_what_follows_a_delete_tells_of_tombstones():
    def state(*records):
        return inspect(records).tallies["debezium-json"].options["no-tombstone"]

    assert state(delete(5), record(None, key=b'{"id":1}', offset=6)) == NO
    assert state(delete(5), delete(6)) == YES
    assert state(delete(5), delete(9)) == UNTOLD
    assert state(delete(-1), delete(-1)) == UNTOLD


def test_memory_does_not_grow_with_problems_and_tables():
    inspector = Inspector()
    for number in range(1200):
        inspector.add(record((CANAL % (7, "[]")).replace('"table":"t"', f'"table":"t{number}"')))
        inspector.add(record(f'{{"a{number}":1}}'))
    tally = inspector.tallies["cloudcanal-canal-json"]
    assert len(tally.tables) == 500 and tally.more_tables
    assert len(inspector.problems) == 40 and inspector.other_problems == 1160


@pytest.mark.parametrize(
    ("text", "state"),
    [("int(11)", NO), ("bigint(20) unsigned", NO), ("int", UNTOLD), ("int(8)", UNTOLD)],
)
def test_a_display_width_tells_a_server_before_8_0_19(text, state):
    inspector = inspect([record(CANAL.replace("int(11)", text) % (7, "null"))])
    assert inspector.tallies["alibaba-canal-json"].options["mysql8"] == state


CANAL_INSERT = {
    "data": [{"id": "1"}],
    "database": "d",
    "es": 1554998400000,
    "id": 3,
    "isDdl": False,
    "mysqlType": {"id": "bigint(20)"},
    "old": None,
    "pkNames": ["id"],
    "sql": "",
    "sqlType": {"id": -5},
    "table": "t",
    "ts": 1554998400100,
    "type": "INSERT",
}
TICDC_SOURCE = {
    "version": "2.4.0.Final",
    "connector": "TiCDC",
    "name": "default",
    "ts_ms": 1740360000000,
    "snapshot": "false",
    "db": "test",
    "table": "t",
    "server_id": 0,
    "gtid": None,
    "file": "",
    "pos": 0,
    "row": 0,
    "thread": 0,
    "query": None,
    "commit_ts": 456000000000000001,
    "cluster_id": "default",
}
ROW_OF_TICDC = {
    "ts_ms": 1740360000123,
    "transaction": None,
    "op": "c",
    "before": None,
    "after": {"id": 1},
}


def problems(document, **facts):
    inspector = inspect([record(json.dumps(document), **facts)])
    assert not inspector.groups()
    return [(problem.why, problem.formats) for problem in inspector.problems.values()]


@pytest.mark.parametrize(
    ("document", "why", "nearest"),
    [
        # TiCDC v8.5.8 writes start_ts, which no profile does.
        (
            {
                "payload": {
                    "source": {**TICDC_SOURCE, "start_ts": 455999999999999988},
                    **ROW_OF_TICDC,
                }
            },
            "source has the unknown start_ts",
            ("ticdc-debezium-json",),
        ),
        (
            {**CANAL_INSERT, "data": [{"id": 1}]},
            "a cell is no text",
            ("alibaba-canal-json", "cloudcanal-canal-json"),
        ),
        # kafka-avro-console-consumer prints so.
        (
            {
                "before": None,
                "after": {"d.t.Value": {"id": 1, "c": {"string": "x"}}},
                "source": {"name": "d"},
                "op": "c",
                "ts_ms": {"long": 1},
            },
            PRINTED_AVRO,
            ("debezium-avro", "debezium-mongodb-avro", "ticdc-debezium-avro"),
        ),
        # Flink CDC's Kafka sink and TiCDC's checksums: no known formats, but near to some.
        (
            {
                "old": None,
                "data": [{"id": "8"}],
                "type": "INSERT",
                "database": None,
                "table": "s",
                "pkNames": ["id"],
                "ts": 0,
            },
            (
                "has no es, id, isDdl, mysqlType, sql, sqlType; or has no es, id, isDdl, mysqlType,"
                " sql, sqlType; database is null; or has no id, isDdl, es, sql, sqlType, mysqlType;"
                " id is not 0"
            ),
            (
                "ticdc-canal-json",
                "alibaba-canal-json",
                "cloudcanal-canal-json",
                "canal-dialects-json",
            ),
        ),
        (
            {"data": {"pk": "0"}, "_tidb": {"commitTs": 1, "checksum": "1"}},
            "no known format has these members: data, _tidb",
            ("ticdc-canal-json",),
        ),
        (
            {"prevStruct": {}, "postStruct": {}},
            "no known format has these members: prevStruct, postStruct",
            (),
        ),
    ],
)
def test_what_no_profile_writes_is_told_with_its_nearest_format(document, why, nearest):
    assert problems(document) == [(why, nearest)]


def test_the_same_messages_without_what_is_unknown_are_told():
    ticdc = {"payload": {"source": TICDC_SOURCE, **ROW_OF_TICDC}}
    assert writers(inspect([record(json.dumps(ticdc))])) == [["ticdc-debezium-json"]]
    assert writers(inspect([record(json.dumps(CANAL_INSERT))])) == [
        ["alibaba-canal-json", "cloudcanal-canal-json"]
    ]


def test_a_row_with_a_column_of_a_types_name_is_no_printed_avro():
    message = {"database": "d", "table": "t", "type": "insert", "ts": 1, "data": {"string": "x"}}
    assert writers(inspect([record(json.dumps(message))])) == [["maxwell-json"]]


def test_sql_servers_connector_is_told():
    """Its nanoseconds are those of its mode adaptive, no option of the writer."""
    fmt = get("debezium-json")
    profile = fmt.profile("3.6.1.Final+sqlserver")
    scenario = next(
        scenario
        for scenario in boundary_scenarios(fmt, profile)
        if scenario.name == "datetime2-7/epoch"
    )
    case = as_case(fmt, profile, scenario)
    inspector = inspect([of_message(written.message) for written in case.written])
    options = inspector.tallies["debezium-json"].options
    assert options["sqlserver"] == YES
    assert options["postgresql"] == NO
    assert options["nanoseconds"] != YES
    assert inspector.problems == {}


def test_oracles_connector_is_told():
    """Its nanoseconds are those of its mode adaptive, no option of the writer."""
    fmt = get("debezium-json")
    profile = fmt.profile("3.6.1.Final+oracle")
    scenario = next(
        scenario
        for scenario in boundary_scenarios(fmt, profile)
        if scenario.name == "timestamp-9/epoch"
    )
    case = as_case(fmt, profile, scenario)
    inspector = inspect([of_message(written.message) for written in case.written])
    options = inspector.tallies["debezium-json"].options
    assert options["oracle"] == YES
    assert options["sqlserver"] == NO
    assert options["nanoseconds"] != YES
    assert inspector.problems == {}


def test_an_update_of_mongodb_tells_its_capture_mode_in_avro_too():
    fmt = get("debezium-mongodb-avro")
    for profile in fmt.profiles:
        scenario = next(s for s in boundary_scenarios(fmt, profile) if s.name == "update/one-field")
        case = as_case(fmt, profile, scenario)
        inspector = inspect([of_message(written.message) for written in case.written])
        modes = {
            option
            for option, state in inspector.tallies["debezium-mongodb-avro"].options.items()
            if state is YES
        }
        assert modes == {option for option in profile.options if option.startswith("change_")}
        assert [*inspector.tallies] == ["debezium-mongodb-avro"]
        assert inspector.tallies["debezium-mongodb-avro"].releases == (profile.release,)


@pytest.mark.parametrize(
    ("option", "other", "name"),
    [("sqlserver", "oracle", "datetime2-7/epoch"), ("oracle", "sqlserver", "timestamp-9/epoch")],
)
def test_the_connector_is_told_in_avro_too(option, other, name):
    fmt = get("debezium-avro")
    profile = fmt.profile(f"3.6.1.Final+{option}")
    scenario = next(s for s in boundary_scenarios(fmt, profile) if s.name == name)
    case = as_case(fmt, profile, scenario)
    inspector = inspect([of_message(written.message) for written in case.written])
    options = inspector.tallies["debezium-avro"].options
    assert options[option] == YES
    assert options[other] != YES
    assert inspector.problems == {}


def test_debezium_3_7_is_told_on_postgresql():
    """debezium#release-3-7-postgresql."""
    fmt = get("debezium-json")
    profile = fmt.profile("3.7.0.Final+postgresql")
    scenario = next(s for s in boundary_scenarios(fmt, profile) if s.name == "timetz/end-of-day")
    case = as_case(fmt, profile, scenario)
    inspector = inspect([of_message(written.message) for written in case.written])
    assert inspector.tallies["debezium-json"].releases == ("3.7.0.Final",)
    assert inspector.tallies["debezium-json"].options["postgresql"] == YES
    assert inspector.problems == {}


@pytest.mark.parametrize("name", ["date/leap-day", "timetz/end-of-day", "interval/every-field"])
def test_structs_of_times_are_told(name):
    """debezium#structured-times: of each type alone."""
    fmt = get("debezium-json")
    profile = fmt.profile("3.7.0.Final+postgresql+structured")
    scenario = next(s for s in boundary_scenarios(fmt, profile) if s.name == name)
    case = as_case(fmt, profile, scenario)
    inspector = inspect([of_message(written.message) for written in case.written])
    options = inspector.tallies["debezium-json"].options
    assert (options["structured"], options["adaptive"] == YES) == (YES, False)
    assert inspector.problems == {}
