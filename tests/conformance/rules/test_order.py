"""Forms of positions: which one reads a position, and how it is ordered."""

import re

import pytest

from conformance.rules.order import base_of, order_of


@pytest.mark.parametrize(
    ("position", "numbers"),
    [
        ("mysql-bin.000003:154:2", [3, 154, 2]),
        ("26547312", [26547312]),
        ("0000002a:00000b18:0003:0000002a:00000b18:0002:2", [42, 2840, 3, 42, 2840, 2, 2]),
        ("0000002a:00000b18:0003", [42, 2840, 3]),
        # A place whose digits are all decimal is a place in SQL Server's log all the same.
        ("00000025:00000098:0003", [37, 152, 3]),
    ],
)
def test_debezium_s_positions_are_numbers_of_their_own_base(position, numbers):
    patterns = order_of("debezium-json").positions
    pattern, groups = next(form for form in patterns if re.match(form[0], position))
    match = re.match(pattern, position)
    assert [int(match[group], base_of(pattern)) for group in groups] == numbers
