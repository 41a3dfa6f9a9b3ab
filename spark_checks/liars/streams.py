"""Keepers of tables that are wrong on purpose, over correct changes: each falls into one trap that streams set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from conformance.rules.order import order_of
from generators.model import Table
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


class Appending(Materialiser):
    """Adds a row for every upsert that arrives."""

    def folded(self, state: DataFrame, events: DataFrame) -> DataFrame:
        """Rows by key and arrival; a delete takes all rows of its key that came before it."""
        both = super().folded(state.limit(0), events)
        kept = state.join(both.where("deleted").select("table", "key"), ["table", "key"], "left_anti")
        return kept.select(*both.columns).union(both.where("NOT deleted"))


class ByStamp(Materialiser):
    """Orders changes by the time at which they were published."""

    stamped: ClassVar[bool] = True

    def version(self) -> Column:
        """The record's timestamp."""
        return F.expr("array(CAST(unix_micros(stamp) AS decimal(20,0)))")


class ByCommit(Materialiser):
    """Orders changes by the time of their commit, which those of a millisecond share."""

    def version(self) -> Column:
        """The commit's microseconds."""
        return F.expr("array(CAST(unix_micros(commit_time) AS decimal(20,0)))")


class Rounding(Materialiser):
    """Reads positions as a double, which of 60 bits keeps 53."""

    def version(self) -> Column:
        """The position, rounded."""
        return F.transform(super().version(), lambda number: number.cast("double").cast("decimal(20,0)"))


class ByArrival(Materialiser):
    """Lets whatever arrives last win."""

    def newer(self) -> str:
        """Offset, row and half of the tie, without the position."""
        return "slice(tie, 2, 3)"


class Unpunctual(Materialiser):
    """Forgets tombstones at the watermark, and still lets late rows in."""

    def punctual(self, new: DataFrame, watermarks: DataFrame) -> DataFrame:
        """All rows."""
        return new.where("kind = 'ROW' AND op <> 'TRUNCATE'")


class LowWatermark(Materialiser):
    """Believes the watermark that arrived last."""

    def watermarks(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The last one of each partition in the batch, else the known one."""
        told = new.where("kind = 'WATERMARK'").groupBy("partition").agg(F.max_by("version", "offset").alias("version"))
        kept = state.join(told.select("partition"), "partition", "left_anti").select("partition", "version")
        return super().watermarks(state.limit(0), told.unionByName(kept).withColumn("kind", F.lit("WATERMARK")))


class Impatient(Materialiser):
    """Drops rows whose schema is not there yet."""

    def resolved(self, pending: DataFrame, rows: DataFrame, schemas: DataFrame) -> tuple[DataFrame, DataFrame]:
        """Nothing waits."""
        ready, waiting = super().resolved(pending, rows, schemas)
        return ready, waiting.limit(0)


class Swallowing(Materialiser):
    """Says nothing of what it cannot read."""

    def corrupt(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """None."""
        return state


class KeyKeeping(Materialiser):
    """Takes an UPDATE of the key for an insert of the new one."""

    def events(self, rows: DataFrame) -> DataFrame:
        """Without the deletes that share their position with an insert of another key: the halves of such an UPDATE."""
        found = super().events(rows)
        inserts = found.where("NOT deleted").select("table", "version").distinct().withColumn("both", F.lit(True))
        joined = found.join(inserts, ["table", "version"], "left")
        return joined.where("NOT (deleted AND coalesce(both, false))").select(*found.columns)

    def moves(self) -> str:
        """Never."""
        return "false"


class Knowing(Materialiser):
    """Takes an UPDATE of a row that it does not know for a mistake."""

    def folded(self, state: DataFrame, events: DataFrame) -> DataFrame:
        """Without the UPDATEs of keys that neither the state nor an INSERT of the batch has."""
        told = state.select("table", "key").union(events.where("whole").select("table", "key")).distinct()
        return super().folded(state, events.join(told, ["table", "key"], "left_semi").select(*events.columns))


@dataclass(frozen=True, slots=True)
class StreamLiar:
    """A wrong keeper. `convicts` is the last part of the id of the stream rule that must catch it, and `also` of another, where
    the writer's timestamps are in the order of the commits: TiCDC's are not. `needs` is what the format must have for the lie to
    show: schema, watermarks, compacted (conformance.rules.streams), or positions and no watermarks."""

    name: str
    convicts: str
    why: str
    materialiser: type[Materialiser] = Materialiser
    keeper: type[Keeper] = Keeper
    needs: str = ""
    also: str = ""

    def rules(self, fmt: str) -> tuple[str, ...]:
        """The rules that must catch it in a format."""
        return (self.convicts, self.also) if self.also and not order_of(fmt).watermarks else (self.convicts,)


LIARS: Final[tuple[StreamLiar, ...]] = (
    StreamLiar(
        "batch-lost-on-restart",
        "restart",
        "A batch that is run again after a crash is taken for a repeat, although its result was lost.",
        keeper=AtMostOnce,
    ),
    StreamLiar("applied-twice", "at-least-once", "Every delivery of an upsert appends a row.", Appending),
    StreamLiar(
        "ordered-by-ts", "order", "Changes are ordered by the record's timestamp, not by the commit.", ByStamp, also="record-time"
    ),
    StreamLiar(
        "ordered-by-commit",
        "order",
        "Changes are ordered by the time of their commit, although their positions are finer.",
        ByCommit,
        needs="positions",
    ),
    StreamLiar(
        "position-rounded",
        "order",
        "Positions are read as doubles: of TiDB's, 64 in a row are the same.",
        Rounding,
        needs="watermarks",
    ),
    StreamLiar("last-arrival-wins", "order", "What arrives last wins, whatever its position says.", ByArrival),
    StreamLiar(
        "late-rows-applied",
        "watermark",
        "Rows below the watermark are applied, and bring back what was deleted and forgotten.",
        Unpunctual,
        needs="watermarks",
    ),
    StreamLiar(
        "late-watermark-believed",
        "watermark",
        "A watermark that comes again takes the known one back.",
        LowWatermark,
        needs="watermarks",
    ),
    StreamLiar(
        "rows-before-schema-dropped", "schema-cache", "Rows whose schema has not come are dropped.", Impatient, needs="schema"
    ),
    StreamLiar("corrupt-swallowed", "corrupt-kept", "Unreadable messages vanish.", Swallowing),
    StreamLiar(
        "unknown-rows-not-updated",
        "compaction",
        "An UPDATE of a row that is not known is dropped, although compaction removed the INSERT.",
        Knowing,
        needs="compacted",
    ),
    StreamLiar("old-key-left", "key-change", "An UPDATE of the key leaves the row under the old key.", KeyKeeping),
)


def liars(fmt: str) -> tuple[StreamLiar, ...]:
    """Those whose lie can show in a format."""
    order = order_of(fmt)
    has = {"": True, "schema": order.keys == "schema", "watermarks": order.watermarks, "compacted": order.compacted}
    has["positions"] = bool(order.positions) and not order.watermarks
    return tuple(liar for liar in LIARS if has[liar.needs])


def materialiser(liar: StreamLiar, fmt: str, tables: tuple[Table, ...]) -> Materialiser:
    """The liar's materialiser for a format."""
    return liar.materialiser(order_of(fmt), tables)
