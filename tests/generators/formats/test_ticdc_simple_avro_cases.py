"""Simple's Avro messages read by Apache's own library: boundary values, the rules that differ from JSON's, faults."""

import dataclasses
import io
import json
from collections import Counter

import avro.errors
import avro.io
import avro.schema
import pytest
from avro_reading import AnyBytes, Branches

from conformance.rules.rules import rules
from generators.drawing.cases import boundary_scenarios
from generators.formats.ticdc_simple_avro import FORMAT, PROFILES, write
from generators.formats.ticdc_simple_avro.faults import OUTDATED
from generators.formats.ticdc_simple_avro.schema import SCHEMA
from generators.garbage import faults
from generators.model import Json, Kind, Layout, Op
from generators.sources import boundaries

LAYOUT = Layout("topic", 3)
PARSED = avro.schema.parse(json.dumps(SCHEMA))


def read(value, decoder=AnyBytes):
    """The branch of the top-level union, its value, and the bytes left behind it."""
    source = io.BytesIO(value)
    name, body = Branches(PARSED).read(decoder(source))
    return name, body, source.read()


def message(written):
    """The message's type, payload branch and payload."""
    name, body, left = read(written.message.value)
    assert (name, left) == ("Message", b"")
    return body["type"], *body["payload"]


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


def test_both_encodings_have_the_rules_of_the_protocol_in_common():
    def ids(fmt):
        return {rule.id.split("/", 1)[1] for rule in rules(fmt) if "/value/" not in rule.id}

    own = ids("ticdc-simple-avro") - ids("ticdc-simple-json")
    assert own == {"fault/contradiction", "framing/union-index", "ddl/bit-default-not-utf-8"}
    assert ids("ticdc-simple-json") - ids("ticdc-simple-avro") == {"fault/no-such-message", "fault/cell-text"}


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
    found = list(faults.cell_fault_scenarios(FORMAT.supports, FORMAT.unfit_cells(profile)))
    assert len(found) == len(FORMAT.unfit_cells(profile)) == len({fault.name for fault, _ in found}) > 40
    for fault, scenario in found:
        plain = dataclasses.replace(profile, deployment=dataclasses.replace(profile.deployment, compression="none"))
        (written,) = write(scenario.history, plain, LAYOUT)
        spoiled = faults.cell_fault(written, fault)
        name, body, left = read(spoiled.message.value)
        assert (name, left) == ("Message", b"")
        before = read(written.message.value)[1]["payload"][1]["data"][1]
        after = body["payload"][1]["data"][1]
        assert [name for name in before if before[name] != after[name]] == [fault.column]


def test_a_columns_place_in_the_map_changes_with_the_seed_and_nothing_else_does():
    (scenario,) = (s for s in boundary_scenarios(FORMAT, PROFILES[0]) if s.name == "map/order")
    orders = set()
    for seed in range(5):
        history = dataclasses.replace(scenario.history, seed=seed)
        first = write(history, PROFILES[0], LAYOUT)[0]
        body = message(first)[2]
        orders.add(tuple(body["data"][1]))
        assert {name: value for name, (_, value) in body["data"][1].items()} == {"id": 1, **{f"n{i}": 10 + i for i in range(8)}}
        assert first.changes[0].op is Op.INSERT
    assert len(orders) > 1
