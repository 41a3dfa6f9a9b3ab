"""The named case of one commit, of the connectors that order rows by the place of their commit."""

from __future__ import annotations

from generators.families.cases import Cases, inserted, updated
from generators.model import Row, Scenario, TransactionMark
from generators.sources.boundaries import START


def one_commit(cases: Cases) -> Scenario:
    """The case of a row that one transaction inserts and changes twice: its messages have the same
    place of the commit, and their places within it tell their order.
    """
    begin, end = TransactionMark(START, "BEGIN", "1"), TransactionMark(START, "COMMIT", "1", 3)
    first_row: Row = {"id": 1, "a": "x", "b": 5}
    second_row: Row = {**first_row, "a": "y"}
    return cases.case(
        "order/one-commit",
        begin,
        inserted(first_row),
        updated(first_row, {"a": "y"}),
        updated(second_row, {"a": "z"}),
        end,
    )
