"""Every case of every profile of Aliyun DTS Avro: read back by Apache's Avro library, the rules' ownership, faults and lies."""

import io
import json
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

import avro.io
import avro.schema
import pytest
from hypothesis import given, settings

from conformance.cases.catalogue import named_cases
from conformance.judging.compare import Typed
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.base import Aspect, Obligation, Subject, owner, rules
from conformance.selftest.lies.base import lies
from generators.drawing import strategies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.aliyun_dts_avro import FORMAT, PROFILES, write
from generators.formats.aliyun_dts_avro.schema import BRANCHES, OPERATIONS, record_schema, whole
from generators.garbage import faults
from generators.model import Kind, Layout, Logical, Op, State
from generators.sources import boundaries

LAYOUT = Layout("topic", 3)
RULES = rules("aliyun-dts-avro")
KINDS = {
    **dict.fromkeys(("INSERT", "UPDATE", "DELETE", "INIT"), Kind.ROW),
    **dict.fromkeys(("DDL", "COMMAND"), Kind.DDL),
    **dict.fromkeys(("BEGIN", "COMMIT", "ROLLBACK", "ABORT"), Kind.TRANSACTION),
    "HEARTBEAT": Kind.HEARTBEAT,
}
OPS = {"INSERT": Op.INSERT, "UPDATE": Op.UPDATE, "DELETE": Op.DELETE, "INIT": Op.READ}


@cache
def reader():
    return avro.io.DatumReader(avro.schema.parse(json.dumps(record_schema(born=False))))


FLIPS = [lie for lie in lies("aliyun-dts-avro") if lie.alter is None]


def apache(value):
    """A record as Apache's library reads it; bornTimestamp is what is left, if anything is."""
    source = io.BytesIO(value)
    decoder = avro.io.BinaryDecoder(source)
    found = reader().read(decoder)
    if source.tell() < len(value):
        found["bornTimestamp"] = decoder.read_long()
    assert source.tell() == len(value)
    return found


def branches(value, side):
    """The branch of each value of an image, which Apache's library does not tell."""
    found, _ = whole(False).read(value)
    names = {str: "EmptyObject", type(None): None}
    return [names[type(v)] if type(v) in names else v[0].rpartition(".")[2] for v in found[side] or ()]


def names_of(record):
    """Database, schema and table as aliyun#object-name has them, the tags of DRDS first (aliyun#logical-names)."""
    parts = [part.replace("\\u002E", ".") for part in (record["objectName"] or "").split(".")]
    tags = record["tags"]
    if "l_db_name" in tags:
        return tags["l_db_name"], None, tags.get("l_tb_name")
    if record["objectName"] is None:
        return None, None, None
    return parts[0], parts[1] if len(parts) == 3 else None, parts[-1] if len(parts) > 1 else None


def check_message(profile, written):
    (change,) = written.changes
    record = apache(written.message.value)
    kind = KINDS.get(record["operation"], Kind.CONTROL)
    assert (change.kind, change.op) == (kind, OPS.get(record["operation"]))
    assert (change.database, change.schema, change.table) == names_of(record)
    assert change.position == record["sourcePosition"]
    assert change.commit_time_us == record["sourceTimestamp"] * 1_000_000
    assert record.get("bornTimestamp", record["sourceTimestamp"]) == record["sourceTimestamp"]
    assert (written.message.key, written.message.partition, written.message.headers) == (None, 0, ())
    keys = json.loads(record["tags"].get("pk_uk_info", "{}")).get("PRIMARY")
    assert change.keys == (tuple(keys) if keys else None)
    if kind is not Kind.ROW:
        assert record["fields"] in (None, "") and record["beforeImages"] is None
        assert change.sql == record["afterImages"]
        assert (change.before, change.after, change.types) == (None, None, None)
        return Counter()
    columns = [field["name"] for field in record["fields"]]
    assert change.types == {field["name"]: str(field["dataTypeNumber"]) for field in record["fields"]}
    states = Counter()
    for image, side in ((change.before, "beforeImages"), (change.after, "afterImages")):
        assert (image is None) is not record[side]
        for name, cell in (image or {}).items():
            states[cell.state] += 1
            if name not in columns:
                assert cell.state is State.ABSENT
        for name, wire, branch in (
            zip(columns, record[side] or (), branches(written.message.value, side), strict=True) if image else ()
        ):
            check_cell(profile, image[name], wire, branch)
    return states


def check_cell(profile, cell, wire, branch):
    if wire is None:
        assert cell.state is State.NULL
    elif wire == "NONE":
        assert cell.state is State.ABSENT
    elif wire == "NULL":
        assert (cell.state, cell.text) == (State.ANY, None)
    else:
        assert cell.state in (State.VALUE, State.ONE_OF, State.ANY)
        assert branch in (BY_NAME.get(cell.type.name) or BY_LOGICAL[cell.type.logical])
        if cell.text is None:
            assert cell.cls == "not-finite" and wire["value"] == cell.value
            return
        shown = json.loads(cell.text)
        assert cell.json
        assert list(shown) == list(wire)
        assert shown == json.loads(json.dumps(wire, default=bytes.hex))
        if branch == "DateTime":
            assert_signs(wire)


def assert_signs(wire):
    clock = [wire[part] for part in ("hour", "minute", "second", "millis") if wire[part]]
    assert all(part > 0 for part in clock) or all(part < 0 for part in clock)


TEXT = {"BinaryObject", "TextObject", "Character"}
BY_NAME = {
    "char": {"Character"},
    "varchar": {"Character"},
    "binary": {"Character", "BinaryObject"},
    "varbinary": {"Character", "BinaryObject"},
    "boolean": {"TextObject"},
    "enum": {"TextObject"},
    "uuid": {"TextObject"},
    "jsonb": {"BinaryObject"},
    "timestamptz": {"TimestampWithTimeZone"},
    "geometry": {"BinaryGeometry"},
    "geometry-text": {"TextGeometry"},
    "charset:latin1": {"Character"},
    "charset:gbk": {"Character"},
    "charset:unheard_of": {"Character"},
}
BY_LOGICAL = {
    Logical.INT: {"Integer"},
    Logical.BIT: {"Integer"},
    Logical.DECIMAL: {"Decimal"},
    Logical.FLOAT: {"Float"},
    Logical.DOUBLE: {"Float"},
    Logical.TEXT: TEXT,
    Logical.BINARY: {"BinaryObject"},
    Logical.DATE: {"DateTime"},
    Logical.DATETIME: {"DateTime"},
    Logical.TIME: {"DateTime"},
    Logical.YEAR: {"DateTime"},
    Logical.TIMESTAMP: {"Timestamp"},
    Logical.SET: {"TextObject"},
    Logical.JSON: {"TextObject"},
}


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_apaches_library_reads_what_the_writer_meant(profile):
    names, states = Counter(), Counter()
    for scenario in boundary_scenarios(FORMAT, profile):
        names[scenario.name] += 1
        written = write(scenario.history, profile, LAYOUT)
        assert written, scenario.name
        for one in written:
            states += check_message(profile, one)
    assert set(names.values()) == {1}
    sure = states[State.VALUE] + states[State.NULL] + states[State.ABSENT]
    assert sure >= 0.95 * states.total()


@given(strategies.histories(FORMAT, max_events=8))
@settings(max_examples=40, deadline=None)
def test_drawn_histories_are_read_back_too(history):
    for profile in PROFILES:
        if profile.source == "mysql":
            for one in write(history, profile, LAYOUT):
                check_message(profile, one)


@given(strategies.histories(FORMAT, max_events=8, source="postgresql"))
@settings(max_examples=40, deadline=None)
def test_drawn_histories_of_postgresql_are_read_back_too(history):
    for profile in PROFILES:
        if profile.source == "postgresql":
            for one in write(history, profile, LAYOUT):
                check_message(profile, one)


def test_every_branch_and_every_operation_occurs_in_a_case():
    found, operations = set(), set()
    for name in ("2020-06", "2020-06+postgresql"):
        profile = FORMAT.profile(name)
        for scenario in boundary_scenarios(FORMAT, profile):
            for one in write(scenario.history, profile, LAYOUT):
                operations.add(whole(False).read(one.message.value)[0]["operation"])
                if one.changes[0].kind is Kind.ROW:
                    found.update(*(branches(one.message.value, side) for side in ("beforeImages", "afterImages")))
    assert found == {None, *BRANCHES[1:]}
    assert operations == set(OPERATIONS)


def test_level_one_cases_share_no_table():
    owner = {}
    for profile in PROFILES:
        for scenario in boundary_scenarios(FORMAT, profile):
            if scenario.level == 1:
                for one in write(scenario.history, profile, LAYOUT):
                    (change,) = one.changes
                    if change.table:
                        name = f"{profile.name}/{scenario.name}"
                        assert owner.setdefault((change.database, change.table, change.schema), name) == name


def test_level_two_cases_hold_no_ddl_and_one_table():
    for profile in PROFILES:
        pool = {table.name for table in boundaries.pool(FORMAT.supports, profile.source)}
        for scenario in boundary_scenarios(FORMAT, profile):
            if scenario.level == 2:
                changes = [change for one in write(scenario.history, profile, LAYOUT) for change in one.changes]
                assert {c.table for c in changes if c.kind is Kind.ROW} <= pool
                assert not [c for c in changes if c.kind is Kind.DDL]


def test_real_marks_are_shorter_than_the_demos_filler():
    """aliyun#filler: the demo leaves out what has 48 bytes or less."""
    for profile in PROFILES:
        for scenario in boundary_scenarios(FORMAT, profile):
            if "control:short" in scenario.tags:
                (one,) = write(scenario.history, profile, LAYOUT)
                assert len(one.message.value) <= 48
                assert one.changes[0].kind in (Kind.TRANSACTION, Kind.HEARTBEAT)


def perfect(change, level):
    """What a decoder that reads the expectation would return; at level two without values, which needs no types."""
    if change.kind is Kind.CORRUPT:
        return OutputRow(0, "CORRUPT", None, error="unreadable")
    fields = {
        "database": change.database,
        "schema": change.schema,
        "table": change.table,
        "keys": change.keys,
        "sql": change.sql,
        "position": change.position,
        "commit_time": change.commit_time_us,
        "types": change.types,
    }
    images = []
    for side in ("before", "after"):
        image = change.image(side, level)
        if level == 1 and image is not None:
            images.append({n: shown(c) for n, c in image.items() if c.state is not State.ABSENT})
        else:
            images.append(image and {name: TYPED.get(c.type.logical, untyped)(c.value) for name, c in image.items()})
    return OutputRow(change.row, change.kind.value, change.op and change.op.value, fields, *images)


def untyped(_value):
    return None


TYPED = {
    Logical.TEXT: lambda value: value if value is None else Typed("string", value),
    Logical.DATETIME: lambda value: Typed("timestamp_ntz", value) if isinstance(value, int) else None,
    Logical.SET: lambda value: value if value is None else Typed("int", value),
    Logical.ENUM: lambda value: value if value is None else Typed("int", value),
    Logical.DOUBLE: lambda value: value if value is None else Typed("double", value),
}
"""Only what level two alone compares."""


def shown(cell):
    return "anything" if cell.text is None and cell.state is not State.NULL else cell.text


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
    # What a SHOULD says of a value holds at level two, where `perfect` has no values; this rule's every comparison is one.
    assert idle == {"aliyun-dts-avro/value/binary-object"}
    subject = Subject("2020-06+text-object", 2, "ROW", "INSERT", "cell", Aspect.VALUE, type="varbinary", logical="binary")
    assert owner(RULES, subject) in [rule for rule in RULES if rule.id in idle]


def test_rules_are_cited_and_special_before_general():
    ids = [rule.id for rule in RULES]
    for rule in RULES:
        assert rule.citations and all(c.where for c in rule.citations), rule.id
        assert rule.statement.endswith("."), rule.id
    assert {rule.obligation for rule in RULES} == {Obligation.MUST, Obligation.SHOULD, Obligation.UNSPECIFIED}
    for special, general in (
        ("control/filler", "control/checkpoint"),
        ("rows/init", "rows/readable"),
        ("names/logical", "names/two-parts"),
        ("image/not-captured", "image/columns"),
        ("value/unsigned", "value/integer"),
        ("value/time-negative", "value/fraction"),
        ("value/fraction-nanos", "value/fraction"),
        ("charset/legacy", "value/text"),
    ):
        assert ids.index(f"aliyun-dts-avro/{special}") < ids.index(f"aliyun-dts-avro/{general}")


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_fault_makes_a_record_that_is_none_of_either_edition(profile):
    """Apache's library refuses it, or does not come to its end; a negative symbol, which Python counts from the end, aside."""
    for fault, scenario in faults.fault_scenarios(profile.database, profile.source, FORMAT.faults):
        for one in write(scenario.history, profile, LAYOUT):
            spoiled = faults.apply(one, fault).message.value
            assert spoiled != one.message.value
            if fault.obligation == faults.MUST and "negative" not in fault.name:
                with pytest.raises(Exception):  # noqa: B017, PT011 - each kind of damage has its own
                    apache(spoiled)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_cell_fault_leaves_a_readable_record_with_one_other_value(profile):
    found = list(faults.cell_fault_scenarios(FORMAT.supports, FORMAT.cell_faults(profile), profile.source))
    assert len(found) == len(FORMAT.cell_faults(profile)) > 10
    for fault, scenario in found:
        (written,) = write(scenario.history, profile, LAYOUT)
        honest, spoiled = (apache(v) for v in (written.message.value, faults.cell_fault(written, fault).message.value))
        columns = [field["name"] for field in honest["fields"]]
        pairs = zip(columns, honest["afterImages"], spoiled["afterImages"], strict=True)
        assert [name for name, a, b in pairs if a != b] == [fault.column]


def lie(flip):
    """Honest and lying messages of the scenarios that a flipped fact names."""
    honest = FORMAT.profile(flip.profile)
    liar = replace(honest, **{flip.field: flip.value})
    assert getattr(honest, flip.field) != flip.value
    for scenario in boundary_scenarios(FORMAT, honest):
        if scenario.level == 1 and fnmatchcase(scenario.name, flip.scenario):
            yield scenario, write(scenario.history, honest, LAYOUT), write(scenario.history, liar, LAYOUT)


@pytest.mark.parametrize("flip", FLIPS, ids=lambda lie: lie.name)
def test_a_lie_changes_bytes_and_only_a_telling_one_the_expectation(flip):
    pairs = list(lie(flip))
    assert any([w.message.value for w in true] != [w.message.value for w in false] for _, true, false in pairs)
    if flip.convicts is None:
        assert all([w.changes for w in true] == [w.changes for w in false] for _, true, false in pairs)
        return
    judge = Judge(RULES)
    convicted = set()
    for scenario, true, false in pairs:
        outputs = [[perfect(c, 1) for c in w.changes] for w in false]
        assert len(true) == len(false)
        case = as_case(FORMAT, FORMAT.profile(flip.profile), scenario, LAYOUT)
        convicted |= {finding.rule for finding in judge.judge(case, outputs).findings}
    assert convicted == {flip.convicts}
