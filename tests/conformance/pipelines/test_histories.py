"""What a pipeline's history must show of its intervals before it can be judged."""

import pyarrow as pa
import pytest

from conformance.pipelines.histories import parse_history
from generators.errors import UsageError

NUMBERS = pa.list_(pa.int64())


@pytest.mark.parametrize(
    ("starts", "ends", "error"),
    [
        (
            pa.array([[1, None], [1, 2]], NUMBERS),
            pa.array([[1, 2], None], NUMBERS),
            (
                "history() shows ends of intervals without an order: valid_from of list<item: int64> and"
                " valid_to of list<item: int64>; both must be of one type, and an array in them without"
                " NULL"
            ),
        ),
        (
            pa.array([1, 2]),
            pa.array(["a", None]),
            (
                "history() shows ends of intervals without an order: valid_from of int64 and valid_to of"
                " string; both must be of one type, and an array in them without NULL"
            ),
        ),
        (
            pa.array([1, None]),
            pa.array([2, None]),
            "history() shows a version whose valid_from is NULL",
        ),
    ],
)
def test_intervals_that_cannot_be_judged(starts, ends, error):
    with pytest.raises(UsageError) as raised:
        parse_history(pa.table({"id": [1, 1], "valid_from": starts, "valid_to": ends}))
    assert str(raised.value) == error


def test_numbers_of_several_types_have_an_order():
    table = pa.table({"id": [1, 1], "valid_from": [1, 2], "valid_to": [2.5, None]})
    assert [(version.start, version.end) for version in parse_history(table)] == [
        (1, 2.5),
        (2, None),
    ]
