"""Where a decoder's specification finds the decoder."""

from pathlib import Path

import pytest

from conformance.engines.specs import find_place


@pytest.mark.parametrize(
    ("spec", "place", "file"),
    [
        ("team.orders", ("team.orders", ""), None),
        ("team.orders:decode", ("team.orders", "decode"), None),
        ("team.python.orders:decode", ("team.python.orders", "decode"), None),
        ("orders.py", ("orders.py", ""), "orders.py"),
        ("orders.py:decode", ("orders.py", "decode"), "orders.py"),
        (
            "app.pyspark/orders.py:Orders.decode",
            ("app.pyspark/orders.py", "Orders.decode"),
            "app.pyspark/orders.py",
        ),
        ("2026-11:30/orders.py", ("2026-11:30/orders.py", ""), "2026-11:30/orders.py"),
        ("11:30/orders.py:decode", ("11:30/orders.py", "decode"), "11:30/orders.py"),
    ],
)
def test_a_specification_is_divided_at_its_last_colon(spec, place, file):
    assert find_place(spec) == place
    assert find_place(spec).file == (file and Path(file).resolve())
