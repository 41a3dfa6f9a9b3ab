"""Offsets of a load's messages."""

import pytest

from generators.bulk.orders import LoadOptions, parse_ops
from generators.storage.bulk import numbered_messages, shape
from generators.wire_format import get

FMT = get("debezium-json")
PROFILE = FMT.profile("2.5.4.Final+plain-key+transaction+nulls-kept")


@pytest.mark.parametrize("weights", ["insert=1000,delete=1", "insert=1,delete=1"])
def test_an_op_that_is_rare_has_room_for_its_tombstone(weights):
    """A DELETE is two messages."""
    options = LoadOptions(ops=parse_ops(weights))
    assert shape(FMT, PROFILE, options) == (2, False)
    messages = numbered_messages(FMT, PROFILE, 1, 0, 600, options=options)
    by_unit: dict[int, int] = {}
    for offset, _ in messages:
        by_unit[offset // 2] = by_unit.get(offset // 2, 0) + 1
    assert list(by_unit) == list(range(600))
    assert set(by_unit.values()) == {1, 2}
