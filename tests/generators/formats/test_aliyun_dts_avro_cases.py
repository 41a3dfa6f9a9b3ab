"""Aliyun DTS Avro's cases read by Apache's Avro library: every branch and operation, and faults."""

import io
import json
from functools import cache

import avro.io
import avro.schema
import pytest

from generators.drawing.cases import boundary_scenarios
from generators.formats.aliyun_dts_avro import FORMAT, PROFILES, write
from generators.formats.aliyun_dts_avro.schema import BRANCHES, OPERATIONS, record_schema, whole
from generators.garbage import faults
from generators.model import Kind, Layout

LAYOUT = Layout("topic", 3)


@cache
def reader():
    return avro.io.DatumReader(avro.schema.parse(json.dumps(record_schema(born=False))))


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


def test_real_marks_are_shorter_than_the_demos_filler():
    """aliyun#filler: the demo leaves out what has 48 bytes or less."""
    for profile in PROFILES:
        for scenario in boundary_scenarios(FORMAT, profile):
            if "control:short" in scenario.tags:
                (one,) = write(scenario.history, profile, LAYOUT)
                assert len(one.message.value) <= 48
                assert one.changes[0].kind in (Kind.TRANSACTION, Kind.HEARTBEAT)


@pytest.mark.parametrize("profile", PROFILES[::6], ids=lambda p: p.name)
def test_every_fault_makes_a_record_that_is_none_of_either_edition(profile):
    """Apache's library refuses it, or does not come to its end; a negative symbol, which Python counts from the end, aside."""
    for fault, scenario in faults.fault_scenarios(profile.database, profile.source, FORMAT.faults):
        for one in write(scenario.history, profile, LAYOUT):
            spoiled = faults.apply(one, fault).message.value
            assert spoiled != one.message.value
            if fault.obligation == faults.MUST and "negative" not in fault.name:
                with pytest.raises(Exception):  # noqa: B017, PT011 - each kind of damage has its own
                    apache(spoiled)


@pytest.mark.parametrize("profile", PROFILES[::6], ids=lambda p: p.name)
def test_every_cell_fault_leaves_a_readable_record_with_one_other_value(profile):
    found = list(faults.cell_fault_scenarios(FORMAT.supports, FORMAT.unfit_cells(profile), profile.source))
    assert len(found) == len(FORMAT.unfit_cells(profile)) > 30
    for fault, scenario in found:
        (written,) = write(scenario.history, profile, LAYOUT)
        honest, spoiled = (apache(v) for v in (written.message.value, faults.cell_fault(written, fault).message.value))
        columns = [field["name"] for field in honest["fields"]]
        pairs = zip(columns, honest["afterImages"], spoiled["afterImages"], strict=True)
        assert [name for name, a, b in pairs if a != b] == [fault.column]
