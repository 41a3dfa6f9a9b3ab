"""Every case of every profile: the invariants of the messages, the rules' ownership, and the lying writers."""

import base64
import dataclasses
import json
from collections import Counter
from fnmatch import fnmatchcase

import cramjam
import pytest
from hypothesis import given, settings

from conformance.cases.catalogue import named_cases
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.base import Obligation, rules
from conformance.rules.sources import fact
from conformance.selftest.lies.base import lies
from generators.drawing import strategies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.ticdc_simple_json import FORMAT, PROFILES, SimpleProfile, write
from generators.garbage import faults
from generators.model import Kind, Layout, Logical, Op, State
from generators.sources import boundaries

LAYOUT = Layout("topic", 3)
RULES = rules("ticdc-simple-json")
ORDER = [
    *("version", "database", "table", "tableID", "type", "sql", "commitTs", "buildTs", "schemaVersion", "claimCheckLocation"),
    *("handleKeyOnly", "checksum", "data", "old", "tableSchema", "preTableSchema"),
]
IMAGES = {"INSERT": {"data"}, "UPDATE": {"data", "old"}, "DELETE": {"old"}}
DDL = {"CREATE", "RENAME", "CINDEX", "DINDEX", "ERASE", "TRUNCATE", "ALTER", "QUERY"}

UNPACK = {"none": bytes, "snappy": lambda value: bytes(cramjam.snappy.decompress_raw(value))}

FLIPS = [lie for lie in lies("ticdc-simple-json") if lie.alter is None]


def check_message(profile, written, known):
    message, (change,) = written.message, written.changes
    body = json.loads(UNPACK[profile.deployment.compression](message.value))
    assert list(body) == [key for key in ORDER if key in body]
    assert body["version"] == 1
    assert body["buildTs"] == message.timestamp_ms
    assert message.key == (b"" if change.kind in (Kind.ROW, Kind.BOOTSTRAP) else None)
    assert None not in body.values()
    if change.kind is Kind.BOOTSTRAP:
        assert set(body) == {"version", "type", "commitTs", "buildTs", "tableSchema"}
        assert (body["type"], body["commitTs"], change.position, change.commit_time_us) == ("BOOTSTRAP", 0, "0", None)
        check_schema(body["tableSchema"], change)
        return
    assert change.position == str(body["commitTs"])
    assert change.commit_time_us == (body["commitTs"] >> 18) * 1000
    match change.kind:
        case Kind.WATERMARK:
            assert set(body) == {"version", "type", "commitTs", "buildTs"}
            assert body["type"] == "WATERMARK"
        case Kind.DDL:
            assert {"version", "type", "sql", "commitTs", "buildTs"} <= set(body)
            assert set(body) <= {"version", "type", "sql", "commitTs", "buildTs", "tableSchema", "preTableSchema"}
            assert body["type"] in DDL
            assert body["sql"] == change.sql != ""
            check_schema(body.get("tableSchema"), change)
        case _:
            check_row(profile, body, change, known)


def check_schema(schema, change):
    if schema is None:
        assert (change.database, change.table, change.keys, change.types, change.schema_version) == (None,) * 5
        return
    assert list(schema) == ["schema", "table", "tableID", "version", "columns", "indexes"]
    assert (change.database, change.table) == (schema["schema"], schema["table"])
    assert change.schema_version == str(schema["version"])
    assert change.types == {c["name"]: c["dataType"]["mysqlType"] for c in schema["columns"]}
    assert list(change.keys) == [name for i in schema["indexes"] if i["primary"] for name in i["columns"]]
    for column in schema["columns"]:
        assert list(column) == ["name", "dataType", "nullable", "default"]
        kind = column["dataType"]
        order = ["mysqlType", "charset", "collate", "length", "decimal", "elements", "unsigned", "zerofill"]
        assert list(kind) == [key for key in order if key in kind]
        assert all(kind.values()) or kind == {"mysqlType": "unspecified", "charset": "", "collate": ""}
        assert "unsigned" not in kind["mysqlType"]


def check_row(profile, body, change, known):
    assert body["type"] == change.op
    assert change.schema_version == str(body["schemaVersion"])
    assert change.keys is None
    assert change.types == known.get((body["database"], body["table"], body["schemaVersion"]))
    wanted = set() if (Kind.CORRUPT, None) in change.accept else IMAGES[change.op]
    assert {key for key in ("data", "old") if key in body} == wanted
    assert ("checksum" in body) is ("checksum" in profile.options)
    assert ("claimCheckLocation" in body) <= ("handleKeyOnly" in body)
    if "checksum" in body:
        assert list(body["checksum"]) == ["version", "corrupted", "current", "previous"]
        assert (body["checksum"]["previous"] == 0) >= (change.op is Op.INSERT)
        assert (body["checksum"]["current"] == 0) >= (change.op is Op.DELETE)
    for key, image in (("data", change.after), ("old", change.before)):
        assert (image is None) is (key not in body)
        if image is not None:
            check_image(image, body[key])


def check_image(image, wire):
    assert list(wire) == sorted(wire, key=str.encode)
    assert {name for name, cell in image.items() if cell.state is not State.ABSENT} == set(wire)
    for name, shown in wire.items():
        cell = image[name]
        assert (cell.state is State.NULL) is (shown is None)
        if shown is None:
            continue
        assert cell.json is (cell.type.logical is Logical.TIMESTAMP)
        assert (json.loads(cell.text) if cell.json else cell.text) == shown
        if cell.json:
            assert list(shown) == ["location", "value"]
        if cell.type.logical is Logical.BINARY:
            assert base64.b64decode(shown, validate=True) == cell.value


def schemas(profile, written):
    known = {}
    for one in written:
        body = json.loads(UNPACK[profile.deployment.compression](one.message.value))
        for schema in (body.get("tableSchema"), body.get("preTableSchema")):
            if schema:
                key = (schema["schema"], schema["table"], schema["version"])
                types = {c["name"]: c["dataType"]["mysqlType"] for c in schema["columns"]}
                assert known.setdefault(key, types) == types
    return known


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_message_of_every_case_keeps_the_invariants(profile):
    names = Counter()
    sure = cells = 0
    for scenario in boundary_scenarios(FORMAT, profile):
        names[scenario.name] += 1
        written = write(scenario.history, profile, LAYOUT)
        assert written, scenario.name
        known = schemas(profile, written)
        for one in written:
            check_message(profile, one, known)
            for image in (one.changes[0].before, one.changes[0].after):
                found = Counter(cell.state for cell in (image or {}).values())
                cells += found.total()
                sure += found[State.VALUE] + found[State.NULL] + found[State.ABSENT]
    assert set(names.values()) == {1}
    assert sure >= 0.95 * cells


@given(strategies.histories(FORMAT, max_events=8))
@settings(max_examples=50, deadline=None)
def test_drawn_histories_keep_the_invariants(history):
    for profile in PROFILES:
        written = write(history, profile, LAYOUT)
        known = schemas(profile, written)
        for one in written:
            check_message(profile, one, known)


def test_level_two_cases_hold_one_schema_version_and_no_ddl():
    for profile in PROFILES:
        versions = {}
        for scenario in boundary_scenarios(FORMAT, profile):
            if scenario.level == 2 and not scenario.name.endswith("/same-name-elsewhere"):
                for one in write(scenario.history, profile, LAYOUT):
                    (change,) = one.changes
                    assert change.kind is Kind.ROW
                    place = change.database, change.table
                    assert versions.setdefault(place, change.schema_version) == change.schema_version
        assert {table for _, table in versions} == {table.name for table in boundaries.pool(FORMAT.supports)}


def test_a_statement_has_a_key_in_another_order_than_its_table_and_a_watermark_follows_a_row():
    for profile in PROFILES:
        found = {one.name: one for one in boundary_scenarios(FORMAT, profile)}
        stated = [c for w in write(found["ddl/composite-key"].history, profile, LAYOUT) for c in w.changes]
        assert {c.keys for c in stated} == {("a", "b")}
        assert {tuple(c.types) for c in stated} == {("b", "a", "c")}
        last: dict[int, Kind] = {}
        behind = set()
        for one in write(found["control/watermark-after-a-row"].history, profile, LAYOUT):
            (change,) = one.changes
            partition = one.message.partition
            if change.kind is Kind.WATERMARK:
                behind.add(last.get(partition))
            last[partition] = change.kind
        assert Kind.ROW in behind


def test_level_one_cases_share_no_table():
    for profile in PROFILES:
        owner = {}
        for scenario in boundary_scenarios(FORMAT, profile):
            if scenario.level == 1:
                for one in write(scenario.history, profile, LAYOUT):
                    (change,) = one.changes
                    if change.table:
                        assert owner.setdefault((change.database, change.table), scenario.name) == scenario.name


def perfect(change, level):
    """What a decoder that reads the expectation would return; at level two without values, which needs no types."""
    if change.kind is Kind.CORRUPT:
        return OutputRow(0, "CORRUPT", None, error="unreadable")
    fields = {
        "database": change.database,
        "schema": None,
        "table": change.table,
        "keys": change.keys,
        "sql": change.sql,
        "position": change.position,
        "commit_time": change.commit_time_us,
        "types": change.types,
        "schema_version": change.schema_version,
    }
    images = []
    for side in ("before", "after"):
        image = change.image(side, level)
        if level == 1 and image is not None:
            images.append({n: c.text for n, c in image.items() if c.state is not State.ABSENT})
        else:
            images.append(image and dict.fromkeys(image))
    return OutputRow(change.row, change.kind.value, change.op and change.op.value, fields, *images)


@pytest.mark.slow
def test_every_rule_owns_a_comparison_and_every_comparison_a_rule():
    judge = Judge(RULES)
    for case in named_cases(FORMAT, PROFILES):
        outputs = [[perfect(change, case.level) for change in written.changes] for written in case.written]
        table = case.tables[0].name if case.level == 2 else None
        result = judge.judge(case, outputs, table)
        if case.level == 1:
            assert not result.findings, result.findings[:3]
    idle = {rule.id for rule in RULES if not rule.law and not judge.compared[rule.id]}
    assert not idle


def test_rules_are_cited_and_special_before_general():
    ids = [rule.id for rule in RULES]
    assert len(ids) >= 60
    for rule in RULES:
        assert rule.citations and all(fact(c.where) for c in rule.citations), rule.id
        assert rule.statement.endswith("."), rule.id
    assert {rule.obligation for rule in RULES} >= {Obligation.MUST, Obligation.SHOULD, Obligation.UNSPECIFIED}
    for special, general in (
        ("value/unsigned-bigint", "value/unsigned"),
        ("schema/version", "schema/types"),
        ("schema/late", "schema/types"),
        ("ddl/bit-default", "ddl/not-dropped"),
        ("value/timestamp-local", "value/timestamp"),
    ):
        assert ids.index(f"ticdc-simple-json/{special}") < ids.index(f"ticdc-simple-json/{general}")


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_cell_fault_finds_its_cell(profile):
    found = list(faults.cell_fault_scenarios(FORMAT.supports, FORMAT.cell_faults(profile)))
    assert len(found) == len(FORMAT.cell_faults(profile)) == len(faults.CELL_FAULTS) + 3
    for fault, scenario in found:
        (written,) = write(scenario.history, dataclasses.replace(profile, deployment=PROFILES[0].deployment), LAYOUT)
        if profile.deployment.compression == "none":
            spoiled = faults.cell_fault(written, fault)
            json.loads(spoiled.message.value)
            assert spoiled.message.value != written.message.value


def lie(flip):
    """Honest and lying messages of the scenarios that a flipped fact names."""
    honest = FORMAT.profile(flip.profile)
    liar = dataclasses.replace(honest, **{flip.field: flip.value})
    assert getattr(honest, flip.field) != flip.value
    for scenario in boundary_scenarios(FORMAT, honest):
        if scenario.level == 1 and fnmatchcase(scenario.name, flip.scenario):
            yield scenario, write(scenario.history, honest, LAYOUT), write(scenario.history, liar, LAYOUT)


@pytest.mark.parametrize("flip", FLIPS, ids=lambda lie: lie.name)
def test_a_lie_changes_bytes_and_only_a_telling_one_the_expectation(flip):
    known = {rule.id for rule in RULES}
    pairs = list(lie(flip))
    assert pairs
    assert any([w.message.value for w in true] != [w.message.value for w in false] for _, true, false in pairs)
    if flip.convicts is None:
        assert all([w.changes for w in true] == [w.changes for w in false] for _, true, false in pairs)
        return
    assert flip.convicts in known
    if flip.name == "compressed-untold":
        return  # the honest decoder cannot read the bytes at all
    judge = Judge(RULES)
    convicted = set()
    for scenario, true, false in pairs:
        outputs = [[perfect(c, 1) for c in w.changes] for w in false]
        outputs = (outputs + [[] for _ in true])[: len(true)]
        case = as_case(FORMAT, FORMAT.profile(flip.profile), scenario, LAYOUT)
        convicted |= {finding.rule for finding in judge.judge(case, outputs).findings}
    assert flip.convicts in convicted
    if flip.field not in ("auto_bootstrap", "float_verb"):
        assert convicted == {flip.convicts}


def test_every_field_of_a_profile_has_a_flip():
    own = {f.name for f in dataclasses.fields(SimpleProfile)} - {"release", "options", "assumed", "source"}
    assert own - {"dispatcher"} == {flip.field for flip in FLIPS}


@pytest.mark.parametrize(("options", "hours"), [((), 2), (("snappy",), 2), (("lz4",), 0), (("lz4", "tz"), 2)])
def test_a_zone_without_equal_hours_has_no_case_of_them(options, hours):
    """The host of lz4 has UTC."""
    names = [one.name for one in FORMAT.scenarios(FORMAT.profile("+".join(("v8.5.7", *options))), "level_one")]
    assert len([name for name in names if name.startswith("ambiguous-hour/rows/")]) == hours
