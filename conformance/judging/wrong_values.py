"""The wrong values of one mistake, each beside what was owed, for those who look for what happens
to all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from conformance.judging.compare import Typed
from conformance.judging.compared_units import cell_of
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import Failing
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.relations_of_cells import micros_that_came, owed_micros
from conformance.judging.relations_of_numbers import read_number
from generators.model import Cell, Json, Logical, State

OF_CLOCKS: Final = frozenset({Logical.DATE, Logical.DATETIME, Logical.TIMESTAMP, Logical.TIME})
"""The types of dates and times."""


class Pair(NamedTuple):
    """An owed cell and what came for it."""

    cell: Cell
    came: Any

    @property
    def owed_number(self) -> Decimal | None:
        """The owed number, as its text in the message has it or by its value."""
        return read_number(self.cell.text if isinstance(self.came, str) else self.cell.value)

    @property
    def number_that_came(self) -> Decimal | None:
        """The number that came; None for what is no number."""
        return read_number(self.came.value if isinstance(self.came, Typed) else self.came)

    @property
    def text_that_came(self) -> str | None:
        """The text that came; None for what is no text."""
        came = self.came.value if isinstance(self.came, Typed) else self.came
        return came if isinstance(came, str) else None

    @property
    def expected_text(self) -> str | None:
        """The owed text to compare with what came: the text in the message if a text came at level
        one, else a text value or a JSON document's text. None for any other value.
        """
        if isinstance(self.cell.value, Json) and not isinstance(self.came, str):
            document = self.cell.value
            return document.text or json.dumps(document.value, default=str, ensure_ascii=False)
        if isinstance(self.came, str):
            return self.cell.text
        return self.cell.value if isinstance(self.cell.value, str) else None

    @property
    def owed_micros(self) -> int | None:
        """The microseconds of the owed date or time; None if these cannot be told."""
        return owed_micros(self.cell, as_text=isinstance(self.came, str))

    @property
    def micros_that_came(self) -> int | None:
        """The microseconds of what came; None for what is no time."""
        return micros_that_came(self.cell, self.came)


@dataclass(frozen=True, slots=True)
class WrongValues:
    """The wrong values of one mistake, each with the owed cell, and the relation to the owed values
    that is known so far.
    """

    relation: Relation | None
    pairs: tuple[Pair, ...]

    @classmethod
    def gather(cls, relation: Relation | None, failings: Iterable[Failing]) -> WrongValues:
        """The owed and returned values of these failing cells. Left out are cells without exactly
        one owed value, and cells that came as NULL or did not come.
        """
        pairs: list[Pair] = []
        for failing in failings:
            cell = cell_of(failing.finding, failing.result.case)
            came = failing.finding.came
            if cell is not None and cell.state is State.VALUE and came not in (None, NOT_THERE):
                pairs.append(Pair(cell, came))
        return cls(relation, tuple(pairs))

    @property
    def kind(self) -> RelationKind | None:
        """The kind of the relation that is known so far; None without a relation."""
        return self.relation.kind if self.relation else None

    @property
    def is_unexplained(self) -> bool:
        """Whether no relation of these values to the right ones is known, or only SHIFT without a
        length (the values are off by different times).
        """
        return self.relation is None or self.relation == Relation(RelationKind.SHIFT)

    @property
    def logicals(self) -> frozenset[Logical]:
        """The logical types of the columns of these values."""
        return frozenset(pair.cell.type.logical for pair in self.pairs)
