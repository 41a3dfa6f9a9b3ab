"""Keepers of tables in Spark that are wrong on purpose; the others of
`conformance.selftest.keeping` need no Spark.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import DataFrame

from spark_checks.keepers import Keeper, Materialiser


class AtMostOnce(Keeper):
    """Takes a batch that is run again for a repeat."""

    def add(self, changes: DataFrame, batch: int) -> None:
        """Skips the batch if it was begun before, although its result went with the process."""
        if self.begun(batch):
            self.put(self.before(batch), batch)
        else:
            super().add(changes, batch)

    def begun(self, batch: int) -> bool:
        """Whether it was begun before; from now on it was."""
        mark = self.path(f"{self.directory}/begun-{batch}")
        if self.files.exists(mark):
            return True
        self.files.mkdirs(mark)
        return False


class ByArrival(Materialiser):
    """Lets whatever arrives last win."""

    def newness(self) -> str:
        """Offset, row and half of the tie, without the position."""
        return "slice(tie, 2, 3)"


LIARS: Final[dict[str, tuple[type[Keeper], type[Materialiser]]]] = {
    "batch-lost-on-restart": (AtMostOnce, Materialiser),
    "last-arrival-wins": (Keeper, ByArrival),
}
"""By name."""
