"""Every case of every profile, read back by Apache's own Avro library: invariants of the messages, the rules'
ownership, the faults, and the lying writers."""

import dataclasses
import io
import json
from collections import Counter
from decimal import Decimal
from fnmatch import fnmatchcase

import avro.errors
import avro.io
import avro.schema
import cramjam
import pytest
from hypothesis import given, settings

from conformance.cases.catalogue import named_cases
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.base import Obligation, rules
from conformance.rules.families.ticdc_simple.retold import Retold, retold
from conformance.rules.sources import fact
from conformance.selftest.lies.base import lies
from generators.drawing import strategies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.ticdc_simple_avro import FORMAT, PROFILES, AvroProfile, write
from generators.formats.ticdc_simple_avro.faults import OUTDATED
from generators.formats.ticdc_simple_avro.schema import SCHEMA
from generators.garbage import faults
from generators.model import Json, Kind, Layout, Logical, Op, State, ZeroDate
from generators.sources import boundaries, mysql

LAYOUT = Layout("topic", 3)
RULES = rules("ticdc-simple-avro")
PREFIX = "com.pingcap.simple.avro."
PARSED = avro.schema.parse(json.dumps(SCHEMA))
PACKED = "v8.5.7+claim-check+snappy"
UNPACK = {"none": bytes, "snappy": lambda value: bytes(cramjam.snappy.decompress_raw(value))}
IMAGES = {"INSERT": {"data"}, "UPDATE": {"data", "old"}, "DELETE": {"old"}}


class Branches(avro.io.DatumReader):
    """Reads a union's value as (branch, value)."""

    def read_union(self, writers_schema, readers_schema, decoder):
        index = int(decoder.read_long())
        if not 0 <= index < len(writers_schema.schemas):
            raise avro.errors.SchemaResolutionException(f"branch {index}")
        branch = writers_schema.schemas[index]
        name = getattr(branch, "fullname", branch.type)
        return name.removeprefix(PREFIX), self.read_data(branch, branch, decoder)


class AnyBytes(avro.io.BinaryDecoder):
    """Reads strings that are no UTF-8: the raw bytes of a BIT column's default."""

    def read_utf8(self):
        return self.read_bytes().decode("utf-8", "surrogateescape")


FLIPS = [lie for lie in lies("ticdc-simple-avro") if lie.alter is None]


def read(value, decoder=AnyBytes):
    """The branch of the top-level union, its value, and the bytes left behind it."""
    source = io.BytesIO(value)
    name, body = Branches(PARSED).read(decoder(source))
    return name, body, source.read()


def message(profile, written):
    """The message's type, payload branch and payload."""
    name, body, left = read(UNPACK[profile.deployment.compression](written.message.value))
    assert (name, left) == ("Message", b"")
    return body["type"], *body["payload"]


BRANCH = {
    Logical.INT: "long",
    Logical.YEAR: "long",
    Logical.ENUM: "long",
    Logical.SET: "long",
    Logical.FLOAT: "float",
    Logical.DOUBLE: "double",
    Logical.BINARY: "bytes",
    Logical.TIMESTAMP: "Timestamp",
}


def branch_of(profile, kind):
    if kind.logical is Logical.BIT:
        return "string" if profile.release.startswith("new-") else "long"
    return "UnsignedBigint" if kind.key == "bigint unsigned" else BRANCH.get(kind.logical, "string")


def fits(cell, value):
    """Whether what Apache's library read is the cell's value."""
    match cell.type.logical:
        case Logical.INT if cell.type.key == "bigint unsigned":
            return value["value"] % (1 << 64) == cell.value
        case Logical.BIT | Logical.SET:
            return int(value) % (1 << 64) == cell.value
        case Logical.DECIMAL:
            return Decimal(value) == cell.value
        case Logical.JSON:
            return json.loads(value) == cell.value.value
        case Logical.DATE:
            return value == mysql.date_text(cell.value)
        case Logical.DATETIME:
            return value == mysql.datetime_text(cell.value, cell.type.fsp)
        case Logical.TIME:
            return value == mysql.time_text(cell.value, cell.type.fsp)
        case Logical.TIMESTAMP:
            return set(value) == {"location", "value"} and (
                not isinstance(cell.value, ZeroDate) or value["value"] == mysql.datetime_text(cell.value, cell.type.fsp)
            )
        case _:
            return type(value) is type(cell.value) and value == cell.value


def shown(cell, value):
    """What level one owes for the value that was read."""
    if isinstance(value, bytes):
        return value.hex()
    return json.loads(cell.text) if cell.json else cell.text


def check_message(profile, written, known):
    (change,) = written.changes
    kind, branch, body = message(profile, written)
    assert written.message.key == (b"" if change.kind in (Kind.ROW, Kind.BOOTSTRAP) else None)
    assert (body["version"], body["buildTs"]) == (1, written.message.timestamp_ms)
    assert (kind, branch) == {
        Kind.ROW: ("DML", "DML"),
        Kind.DDL: ("DDL", "DDL"),
        Kind.WATERMARK: ("WATERMARK", "Watermark"),
        Kind.BOOTSTRAP: ("BOOTSTRAP", "Bootstrap"),
    }[change.kind]
    if change.kind is Kind.BOOTSTRAP:
        assert set(body) == {"version", "buildTs", "tableSchema"}
        assert (change.position, change.commit_time_us) == (None, None)
        check_schema(body["tableSchema"], change)
        return
    assert change.position == str(body["commitTs"])
    assert change.commit_time_us == (body["commitTs"] >> 18) * 1000
    if change.kind is Kind.DDL:
        assert body["sql"] == change.sql != ""
        check_schema(body["tableSchema"][1], change)
    elif change.kind is Kind.ROW:
        check_row(profile, body, change, known)


def check_schema(schema, change):
    if schema is None:
        assert (change.database, change.table, change.keys, change.types, change.schema_version) == (None,) * 5
        return
    assert (change.database, change.table) == (schema["database"], schema["table"])
    assert change.schema_version == str(schema["version"])
    assert change.types == types_of(schema)
    assert list(change.keys) == [name for i in schema["indexes"] if i["primary"] for name in i["columns"]]
    for column in schema["columns"]:
        kind = column["dataType"]
        name = kind["mysqlType"]
        numeric = name.endswith("int") or name in ("float", "double", "decimal", "bit", "year")
        assert (kind["unsigned"][0] == kind["zerofill"][0] == "boolean") is numeric
        assert (kind["elements"][0] == "array") is (name in ("enum", "set"))
        assert kind["decimal"][0] == "null" or name in ("decimal", "timestamp")
        assert kind["length"] >= 0


def types_of(schema):
    return {column["name"]: column["dataType"]["mysqlType"] for column in schema["columns"]}


def check_row(profile, body, change, known):
    assert body["type"] == change.op
    assert change.schema_version == str(body["schemaVersion"])
    assert change.keys is None
    assert change.types == known.get((body["database"], body["table"], body["schemaVersion"]))
    assert body["handleKeyOnly"] in (("null", None), ("boolean", True))
    assert (body["claimCheckLocation"][0] == "string") <= (body["handleKeyOnly"][0] == "boolean")
    assert (body["checksum"][0] == "Checksum") is ("checksum" in profile.options)
    images = {"data": change.after, "old": change.before}
    assert {name for name in images if body[name][0] == "map"} == IMAGES[change.op]
    for name, image in images.items():
        if body[name][0] == "null":
            assert image is None
        else:
            check_image(profile, image, body[name][1])


def check_image(profile, image, wire):
    assert {name for name, cell in image.items() if cell.state is not State.ABSENT} == set(wire)
    for name, (branch, value) in wire.items():
        cell = image[name]
        assert (cell.state is State.NULL) is (branch == "null")
        if branch == "null":
            continue
        assert branch == branch_of(profile, cell.type), cell.type.key
        assert fits(cell, value), (cell, value)
        assert cell.json is (branch not in ("string", "bytes"))
        if branch == "float":
            assert mysql.to_float32(json.loads(cell.text)) == value
        else:
            assert shown(cell, value) == (value.hex() if branch == "bytes" else value)


def schemas(profile, written):
    known = {}
    for one in written:
        kind, _, body = message(profile, one)
        if kind == "DDL":
            found = [body[name][1] for name in ("tableSchema", "preTableSchema")]
        else:
            found = [body["tableSchema"]] if kind == "BOOTSTRAP" else []
        for schema in filter(None, found):
            key = (schema["database"], schema["table"], schema["version"])
            assert known.setdefault(key, types_of(schema)) == types_of(schema)
    return known


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_message_of_every_case_read_by_apaches_library_is_what_the_writer_meant(profile):
    names = Counter()
    sure = cells = 0
    for scenario in boundary_scenarios(FORMAT, profile):
        names[scenario.name] += 1
        written = list({one.message.value: one for one in write(scenario.history, profile, LAYOUT)}.values())
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


@given(strategies.histories(FORMAT, max_events=6))
@settings(max_examples=25, deadline=None)
def test_drawn_histories_read_by_apaches_library_are_what_the_writer_meant(history):
    for profile in (PROFILES[0], FORMAT.profile("new-8.5.4")):
        written = list({one.message.value: one for one in write(history, profile, LAYOUT)}.values())
        known = schemas(profile, written)
        for one in written:
            check_message(profile, one, known)


def test_boundary_values_of_every_type_arrive_at_level_two_as_they_were_stored():
    found = 0
    for name, kind, values in boundaries.type_values(FORMAT.supports):
        for label, value in values.items():
            event = boundaries.insert(boundaries.one_column("d", f"{name}/{label}", kind), {"id": 1, "c": value})
            (one,) = write(boundaries.scenario("x", event).history, PROFILES[0], LAYOUT)
            cell = one.changes[0].after["c"]
            padded = value.ljust(4, b"\0") if kind.name == "binary" and value is not None else value
            exact = not isinstance(value, Json) and kind.name != "char" and value != 0
            found += exact
            assert cell.value == padded or not exact, (name, label)
    assert found > 150


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


def test_level_one_cases_share_no_table():
    for profile in PROFILES:
        owner = {}
        for scenario in boundary_scenarios(FORMAT, profile):
            if scenario.level == 1:
                for one in write(scenario.history, profile, LAYOUT):
                    (change,) = one.changes
                    if change.table:
                        assert owner.setdefault((change.database, change.table), scenario.name) == scenario.name


def test_no_case_is_about_base64():
    assert not [s.name for s in boundary_scenarios(FORMAT, PROFILES[0]) if "base64-digits" in s.name]


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
    assert len(ids) >= 90
    for rule in RULES:
        assert rule.id.startswith("ticdc-simple-avro/")
        assert rule.citations and all(fact(c.where) for c in rule.citations), rule.id
        assert rule.statement.endswith("."), rule.id
        assert "JSON escapes" not in rule.statement
    assert {rule.obligation for rule in RULES} >= {Obligation.MUST, Obligation.SHOULD, Obligation.UNSPECIFIED}
    for special, general in (
        ("framing/union-index", "change/corrupt"),
        ("value/unsigned-bigint", "value/unsigned"),
        ("value/bit-string", "value/bit-64"),
        ("value/bit-64", "value/bit"),
        ("schema/version", "schema/types"),
        ("ddl/bit-default-not-utf-8", "ddl/not-dropped"),
        ("value/timestamp-local", "value/timestamp"),
    ):
        assert ids.index(f"ticdc-simple-avro/{special}") < ids.index(f"ticdc-simple-avro/{general}")


def test_a_rule_told_anew_keeps_what_is_not_told_and_must_exist():
    rule = RULES[0]
    name = rule.id.split("/", 1)[1]
    (told,) = retold([rule], {name: Retold("Another statement.")})
    assert told == dataclasses.replace(rule, statement="Another statement.")
    with pytest.raises(KeyError, match="no/such"):
        retold([rule], {"no/such": Retold("A statement.")})


def test_both_encodings_have_the_rules_of_the_protocol_in_common():
    def ids(fmt):
        return {rule.id.split("/", 1)[1] for rule in rules(fmt) if "/value/" not in rule.id}

    own = ids("ticdc-simple-avro") - ids("ticdc-simple-json")
    assert own == {"fault/contradiction", "framing/union-index", "ddl/bit-default-not-utf-8"}
    assert ids("ticdc-simple-json") - ids("ticdc-simple-avro") == {"fault/no-such-message"}


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_no_malformed_message_is_a_message_to_apaches_library(profile):
    owed = {fault.name: fault for fault in FORMAT.faults}
    seen = Counter()
    for fault, scenario in faults.fault_scenarios(profile.database, found=faults.applicable(FORMAT.faults, "none")):
        plain = dataclasses.replace(profile, deployment=PROFILES[0].deployment)
        row = next(one for one in write(scenario.history, plain, LAYOUT) if one.changes[0].kind is Kind.ROW)
        spoiled = faults.apply(row, fault)
        value = spoiled.message.value
        assert value != row.message.value
        assert spoiled.changes[0].kind is Kind.CORRUPT
        seen[fault.name] += 1
        try:
            name, body, left = read(value, avro.io.BinaryDecoder)
        except (avro.errors.AvroException, UnicodeDecodeError, EOFError):
            continue
        if fault.tag == "contradiction":
            assert (name, left) == ("Message", b"")
            assert body["type"] != body["payload"][0].upper()
        elif fault.name == "overlong-number":
            assert (name, left, body) == ("Message", b"", read(row.message.value)[1])
        else:
            assert (name, left) != ("Message", b""), fault.name
    assert seen == Counter(dict.fromkeys(owed, 2))


def test_outdated_schema_is_the_tenth_of_ten_records():
    assert OUTDATED[:3] == bytes.fromhex("120606")
    assert read(OUTDATED)[0] == "UnsignedBigint"


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_cell_fault_finds_its_cell_and_leaves_a_whole_message(profile):
    found = list(faults.cell_fault_scenarios(FORMAT.supports, FORMAT.cell_faults(profile)))
    assert len(found) == len(FORMAT.cell_faults(profile)) == 21
    assert len({fault.name for fault, _ in found}) == 21
    for fault, scenario in found:
        plain = dataclasses.replace(profile, deployment=dataclasses.replace(profile.deployment, compression="none"))
        (written,) = write(scenario.history, plain, LAYOUT)
        spoiled = faults.cell_fault(written, fault)
        name, body, left = read(spoiled.message.value)
        assert (name, left) == ("Message", b"")
        before = read(written.message.value)[1]["payload"][1]["data"][1]
        after = body["payload"][1]["data"][1]
        assert [name for name in before if before[name] != after[name]] == [fault.column]


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
    if flip.field != "auto_bootstrap":
        assert convicted == {flip.convicts}


def test_every_field_of_a_profile_has_a_flip_but_those_of_json():
    own = {f.name for f in dataclasses.fields(AvroProfile)} - {"release", "options", "assumed", "source"}
    assert own - {"float_verb", "short_escapes", "dispatcher"} == {flip.field for flip in FLIPS}


def test_a_columns_place_in_the_map_changes_with_the_seed_and_nothing_else_does():
    (scenario,) = (s for s in boundary_scenarios(FORMAT, PROFILES[0]) if s.name == "map/order")
    orders = set()
    for seed in range(5):
        history = dataclasses.replace(scenario.history, seed=seed)
        first = write(history, PROFILES[0], LAYOUT)[0]
        body = message(PROFILES[0], first)[2]
        orders.add(tuple(body["data"][1]))
        assert {name: value for name, (_, value) in body["data"][1].items()} == {
            "id": 1,
            **{f"n{i}": 10 + i for i in range(8)},
        }
        assert first.changes[0].op is Op.INSERT
    assert len(orders) > 1
