"""Every case of every profile: the invariants of the messages, the rules' ownership, and the lying writers."""

import dataclasses
import json
from collections import Counter
from fnmatch import fnmatchcase

import cramjam
import pytest

from conformance.cases.catalogue import named_cases
from conformance.judging.judge import Judge
from conformance.judging.output import OutputRow
from conformance.rules.base import Obligation, rules
from conformance.rules.sources import fact
from conformance.selftest.lies.base import lies
from generators.drawing.cases import as_case, boundary_scenarios
from generators.formats.ticdc_canal_json import FORMAT, PROFILES, TicdcProfile, write
from generators.model import Kind, Layout, Op, State

LAYOUT = Layout("topic", 3)
RULES = rules("ticdc-canal-json")
HEAD = ["id", "database", "table", "pkNames", "isDdl", "type", "es", "ts", "sql", "sqlType", "mysqlType"]

ENOUGH = (
    "v8.5.7+extension+delete-handle-key",
    "v5.3.4",
    "v6.5.11+extension",
    "v7.1.6+extension",
    "v7.1.6+extension+content-compatible",
    "v7.1.6+extension+handle-key-only",
    "v8.5.7+extension+claim-check",
    "v8.5.7+extension+snappy",
    "new-8.5.4",
)
"""Profiles whose cases reach every rule."""

UNPACK = {
    "none": bytes,
    "snappy": lambda value: bytes(cramjam.snappy.decompress_raw(value)),
    "lz4": lambda value: bytes(cramjam.lz4.decompress(value)),
}

FLIPS = [lie for lie in lies("ticdc-canal-json") if lie.alter is None]


def check_message(profile, written):
    message, (change,) = written.message, written.changes
    raw = UNPACK[profile.deployment.compression](message.value)
    crlf = profile.release.startswith("v6.5.") and change.kind is Kind.ROW
    assert raw.endswith(b"\r\n") is crlf
    body = json.loads(raw)
    dml_order = ["data", "old"] if profile.release in ("v5.3.4", "v5.4.3") else ["old", "data"]
    last = dml_order if change.kind is Kind.ROW else ["data", "old"]
    assert list(body) == [*HEAD, *last, *(["_tidb"] if "extension" in profile.options else [])]
    assert message.key == (b"" if change.kind is Kind.ROW else None)
    assert (body["id"], body["isDdl"]) == (0, change.kind is Kind.DDL)
    assert (body["ts"] == 0) is (profile.release == "v5.3.4")
    assert change.commit_time_us == body["es"] * 1000
    if "_tidb" in body:
        tso = body["_tidb"]["watermarkTs" if change.kind is Kind.WATERMARK else "commitTs"]
        assert body["es"] == tso >> 18
        assert change.position == str(tso)
    if change.kind is not Kind.ROW:
        assert [body[k] for k in ("pkNames", "sqlType", "mysqlType", "data", "old")] == [None] * 5
        return
    assert body["type"] == change.op
    (data,) = body["data"]
    assert set(body["sqlType"] or {}) == set(body["mysqlType"] or {}) == set(data)
    assert all(value is None or isinstance(value, str) for value in data.values())
    check_image(change.before if change.op is Op.DELETE else change.after, data)
    if change.op is Op.UPDATE:
        (old,) = body["old"]
        assert set(old) <= set(data)
        check_image(change.before, old)


def check_image(image, wire):
    assert {name for name, cell in image.items() if cell.state is not State.ABSENT} == set(wire)
    for name, shown in wire.items():
        cell = image[name]
        assert (cell.state is State.NULL) is (shown is None)
        assert cell.text == shown
        assert cell.state in (State.VALUE, State.NULL) or cell.reason


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES, ids=lambda p: p.name)
def test_every_message_of_every_case_keeps_the_invariants(profile):
    names = Counter()
    sure = cells = 0
    for scenario in boundary_scenarios(FORMAT, profile):
        names[scenario.name] += 1
        written = write(scenario.history, profile, LAYOUT)
        assert written, scenario.name
        for one in written:
            check_message(profile, one)
            for image in (one.changes[0].before, one.changes[0].after):
                found = Counter(cell.state for cell in (image or {}).values())
                cells += found.total()
                sure += found[State.VALUE] + found[State.NULL] + found[State.ABSENT]
    assert set(names.values()) == {1}
    assert sure >= 0.95 * cells


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
    for case in named_cases(FORMAT, [FORMAT.profile(name) for name in ENOUGH]):
        outputs = [[perfect(change, case.level) for change in written.changes] for written in case.written]
        table = case.tables[0].name if case.level == 2 else None
        result = judge.judge(case, outputs, table)
        if case.level == 1:
            assert not result.findings, result.findings[:3]
    idle = {rule.id for rule in RULES if not rule.law and not judge.compared[rule.id]}
    assert not idle


def test_rules_are_cited_and_special_before_general():
    ids = [rule.id for rule in RULES]
    assert len(ids) >= 25
    for rule in RULES:
        assert rule.citations and all(fact(c.where) for c in rule.citations), rule.id
        assert rule.statement.endswith("."), rule.id
    assert all(fact(loss.citation) for profile in FORMAT.profiles for loss in FORMAT.losses(profile))
    assert {rule.obligation for rule in RULES} >= {Obligation.MUST, Obligation.SHOULD}
    assert ids.index("ticdc-canal-json/value/unsigned-bigint") < ids.index("ticdc-canal-json/value/unsigned")


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
        assert all([w.changes for w in true] == [w.changes for w in false] or flip.field == "new" for _, true, false in pairs)
        return
    assert flip.convicts in known
    if flip.name == "compressed-untold":
        return  # the honest decoder cannot read the bytes at all
    judge = Judge(RULES)
    convicted = set()
    for scenario, true, false in pairs:
        outputs = [[perfect(c, 1) for c in w.changes] for w in false]
        outputs = (outputs + [[] for _ in true])[: len(true)]
        honest = FORMAT.profile(flip.profile)
        case = as_case(FORMAT, honest, scenario, LAYOUT)
        convicted |= {finding.rule for finding in judge.judge(case, outputs).findings}
    assert flip.convicts in convicted
    if flip.field not in ("split_keys", "extension"):
        assert convicted == {flip.convicts}


def test_every_field_of_a_profile_has_a_flip():
    own = {f.name for f in dataclasses.fields(TicdcProfile)} - {"release", "options", "assumed", "source"}
    assert own - {"dispatcher"} == {flip.field for flip in FLIPS}
