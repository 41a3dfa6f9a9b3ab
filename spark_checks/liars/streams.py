"""Keepers of tables in Spark that are wrong on purpose; the others of
`conformance.selftest.keeping` need no Spark.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from spark_checks.keepers import Keeper, Materialiser


class AtMostOnce(Keeper):
    """A wrong keeper of tables: it takes a batch that is run again for a repeat, and skips it."""

    def add(self, changes: DataFrame, batch: int) -> None:
        """Adds a batch that was not begun before. One that was begun is skipped, even though the
        process that began it may have been killed before it kept the result: the tables stay as
        they were.
        """
        if self.begun(batch):
            self.put(self.before(batch), batch)
        else:
            super().add(changes, batch)

    def begun(self, batch: int) -> bool:
        """Whether the batch was begun before; marks it as begun."""
        mark = self.path(f"{self.directory}/begun-{batch}")
        if self.files.exists(mark):
            return True
        self.files.mkdirs(mark)
        return False


class ByArrival(Materialiser):
    """The steps of a wrong keeper of tables: it takes the change of a row that arrives last for the
    newest.
    """

    def newness(self) -> str:
        """The SQL expression by which the events of one key are sorted, the newest last. The array
        `tie` of an event has the rank of its position, the offset, the number of the row in its
        message, and the half of an UPDATE (delete before upsert). This wrong order leaves out the
        rank.
        """
        return "slice(tie, 2, 3)"


LIARS: Final[dict[str, tuple[type[Keeper], type[Materialiser]]]] = {
    "batch-lost-on-restart": (AtMostOnce, Materialiser),
    "last-arrival-wins": (Keeper, ByArrival),
}
"""The wrong keepers by name: the class that keeps states, and the class of the steps that make
them.
"""
