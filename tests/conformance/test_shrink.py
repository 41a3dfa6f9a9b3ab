"""Candidates of a reduction: one row and the failing column first, whole rows next; names of every spelling."""

from types import SimpleNamespace

import pytest

from conformance.shrink import _candidates
from generators import boundaries
from generators.boundaries import AWKWARD_NAMES, COMPOSITE, change, insert, scenario
from generators.model import Op, RowChange

ROW = {n: f"v{i}" for i, n in enumerate(c.name for c in COMPOSITE.columns)} | {AWKWARD_NAMES[0]: 5}


def failure(path: str):
    return SimpleNamespace(finding=SimpleNamespace(path=path))


def shapes(found) -> list[tuple[tuple[str, ...], int]]:
    events = [event for s in found for event in s.history.events]
    assert all(isinstance(event, RowChange) for event in events)
    return [(tuple(c.name for c in event.table.columns), len(event.rows)) for event in events]


@pytest.mark.parametrize("name", AWKWARD_NAMES[2:])
def test_a_cell_is_reduced_to_the_key_and_its_column(name: str) -> None:
    found = list(_candidates(scenario("s", insert(COMPOSITE, ROW), level=2), failure(f"after[{name!r}]")))
    names, rows = shapes(found)[0]
    assert set(names) == {*COMPOSITE.primary_key, name}
    assert rows == 1
    after = found[0].history.events[0].rows[0].after
    assert set(after) == set(names)


def test_a_batch_is_reduced_to_single_whole_rows() -> None:
    rows = [(None, {"a": i, "b": "x", "c": None}) for i in range(3)]
    found = _candidates(scenario("s", change(boundaries.KEYLESS, Op.INSERT, *rows), level=2), failure("row 1"))
    assert shapes(found) == [(("a", "b", "c"), 1)] * 3


def test_one_row_without_a_failing_cell_has_nothing_smaller() -> None:
    assert list(_candidates(scenario("s", insert(boundaries.KEYLESS, {"a": 1, "b": "x", "c": None})), failure("kind"))) == []
