"""Keepers of tables in Spark that are wrong on purpose; the others of
`conformance.selftest.keeping` need no Spark.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from spark_checks.keepers import Keeper, Materialiser


class AtMostOnce(Keeper):
    """Treats a batch that is run again as a repeat and skips it."""

    def add(self, changes: DataFrame, batch: int) -> None:
        """Skips a batch that was begun before, even though a killed process lost its result: the
        mistake of a keeper that delivers at most once.
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
    """Takes the change that arrives last for the newest."""

    def newness(self) -> str:
        """Sorts events by offset, row, and half of a key's UPDATE; not by position."""
        return "slice(tie, 2, 3)"


LIARS: Final[dict[str, tuple[type[Keeper], type[Materialiser]]]] = {
    "batch-lost-on-restart": (AtMostOnce, Materialiser),
    "last-arrival-wins": (Keeper, ByArrival),
}
"""By name."""
