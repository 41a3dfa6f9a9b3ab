"""The size of a scenario, by which a candidate is smaller than its origin."""

from __future__ import annotations

from typing import Final, NamedTuple

from conformance.reducing._plain_values import weight
from conformance.reducing.scenario_parts import row_images, scenario_tables
from generators.model import Op, RowChange, Scenario


class Measure(NamedTuple):
    """The size of a case. Sizes are compared field by field, in this order.

    `length` is the bytes of the messages or the letters of names, `weight` that of all values and
    ops.
    """

    events: int
    rows: int
    columns: int
    length: int
    weight: int


OPS_BY_PLAINNESS: Final = (Op.INSERT, Op.DELETE, Op.UPDATE)
"""The operations of rows from plain to least plain; others, such as READ, come last."""


def measure_scenario(scenario: Scenario, size: int | None = None) -> Measure:
    """The size of a scenario. `size` is the bytes of its messages; without it, the letters of names
    count.
    """
    changes = [event for event in scenario.history.events if isinstance(event, RowChange)]
    tables = scenario_tables(scenario)
    letters = 0
    for table in tables:
        names = (table.database, table.name, *(column.name for column in table.columns))
        letters += sum(map(byte_length, names)) + len(table.unique)
    columns = sum(len(table.columns) for table in tables)
    return Measure(
        events=len(scenario.history.events),
        rows=sum(len(change.rows) for change in changes),
        columns=columns,
        length=letters if size is None else size,
        weight=sum(map(_weigh_change, changes)),
    )


def _weigh_change(event: RowChange) -> int:
    """The weight of a row change for the comparison of sizes: its values (how far from plain ones),
    and its op, since INSERT is the simplest.
    """
    total = (
        OPS_BY_PLAINNESS.index(event.op) if event.op in OPS_BY_PLAINNESS else len(OPS_BY_PLAINNESS)
    )
    for image in row_images(event):
        for name, value in image.items():
            total += 1 + weight(event.table.column(name).type, value)
    return total


def byte_length(name: str) -> int:
    """The bytes of a name in UTF-8."""
    return len(name.encode())
