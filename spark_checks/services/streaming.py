"""The service that reads a topic into keyed tables (`spark_checks.keepers`).

A decoder's module may have its own level three: `materialise(changes, tables, checkpoint) ->
StreamingQuery` starts a query on the streaming DataFrame `changes` (level one), with the tables as
`generators.model.Table`s and a directory for its state; `materialised(spark, checkpoint) ->
DataFrame` returns the current rows: `database, schema, table: string`, `key: array<string>`,
`image: map<string,string>`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any, Final

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from conformance.engines.specs import find_place
from conformance.rules.order import order_of
from generators.model import Deployment, Table
from generators.storage import codec
from spark_checks.keepers import Keeper, Materialiser, as_part, union
from spark_checks.liars.streams import LIARS
from spark_checks.services import cluster, topics
from spark_checks.services.checkpoints import KillMoment
from spark_checks.services.engine import Decoder, DecoderError
from spark_checks.services.feed import ChangeFeed

KEEPERS_AT_ONCE: Final = 3
"""Limit of keepers that merge a batch at the same time."""


def records_of(spark: SparkSession, source: Mapping[str, Any]) -> DataFrame:
    """A streaming DataFrame of the records to read: of one or several Kafka topics (`topic`, with
    commas between them, and the options `kafka`), at most `per_trigger` in a micro-batch; or of the
    source `cdc`, whose recipe is in the file `kept`.
    """
    if "kept" in source:
        spark.dataSource.register(ChangeFeed)
        return spark.readStream.format(ChangeFeed.name()).options(**source).load()
    # Spark keeps consumers by group and partition; a query's own group would make them anew in each
    # query.
    options = {
        "kafka.group.id": f"cdc-conformance-{source['topic'].partition(',')[0]}",
        **source["kafka"],
    }
    reader = topics.source(spark, spark.readStream, options)
    reader = reader.option("subscribe", source["topic"]).option("startingOffsets", "earliest")
    if source.get("per_trigger"):
        reader = reader.option("maxOffsetsPerTrigger", source["per_trigger"])
    return reader.load()


@dataclass(frozen=True, slots=True)
class _Part:
    """The lanes from `low` up to, but not including, `high`, which were written under one
    deployment; all lanes if `whole`. A lane is a partition, numbered across all topics.
    """

    deployment: Deployment
    low: int
    high: int
    whole: bool
    lanes: topics.Lanes

    def select_records(self, records: DataFrame) -> DataFrame:
        """The records of a batch that lie in the lanes of this part (partitions, numbered across
        all topics).
        """
        return (
            records
            if self.whole
            else records.where(f"{self.lanes.lane} BETWEEN {self.low} AND {self.high - 1}")
        )


@dataclass(slots=True)
class _Reading:
    """What a request reads, as the function that Spark calls with each batch: it decodes each part
    once, passes the changes to every keeper of tables, and stops or fails where the request says
    (`hold`). It counts batches and records.
    """

    decoder: Decoder
    parts: tuple[_Part, ...]
    lanes: topics.Lanes
    keepers: tuple[Keeper, ...]
    hold: Mapping[str, Any]
    marks: Path
    batches: int = 0
    records: int = 0

    def __call__(self, records: DataFrame, batch: int) -> None:
        """Takes one batch of the stream: each part is decoded once, and the changes go to every
        keeper of tables. Before and after that a test may have the process killed.
        """
        self.halt(batch, "before")
        spark = records.sparkSession
        # One task per core, because a partition has few records. The checkpoint ends the decoder's
        # plan, which would else be executed in every branch of the merge.
        cached = records.coalesce(spark.sparkContext.defaultParallelism).persist()
        try:
            decoded = [
                self.decoder(1, part.select_records(cached), None, part.deployment)
                for part in self.parts
            ]
            united = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), decoded)
            changes = self.lanes.number_partitions(united).localCheckpoint(eager=True)
            self.records += cached.count()
            # Most of a small merge is planning, which keeps one core busy; the keepers know nothing
            # of each other.
            with ThreadPoolExecutor(min(len(self.keepers), KEEPERS_AT_ONCE)) as pool:
                list(
                    pool.map(
                        inheritable_thread_target(spark)(lambda keeper: keeper.add(changes, batch)),
                        self.keepers,
                    )
                )
        finally:
            cached.unpersist()
        self.batches += 1
        self.halt(batch, "after")

    def halt(self, batch: int, place: str) -> None:
        """If the request's `hold` names this batch and place (before or after), writes a mark and
        waits to be killed, or raises RuntimeError if it is to fail; once only, as the mark stays.
        """
        if self.hold.get("batch") != batch or self.hold.get("at") != place:
            return
        mark = self.marks / f"held-{batch}-{place}"
        if mark.exists():
            return
        draft = mark.with_suffix(".draft")
        draft.write_text(json.dumps({"batch": batch}), "utf-8")
        draft.rename(mark)
        if self.hold.get("how") == "fail":
            raise RuntimeError(f"stopped on purpose {place} batch {batch}")
        # The parent process sees the mark, and kills this process long before the sleep ends.
        time.sleep(600)


def handle(
    spark: SparkSession, request: Mapping[str, Any], load: Callable[[str], Decoder]
) -> dict[str, Any]:
    """Answers the request `stream`: reads a source to its present end into the tables of one or
    several materialisers.

    It has `source` (see `records_of`), `format`, `decoder`, `parts` (deployment, its first lane,
    the first that follows), `lanes` (of partitions, by TOPIC/NUMBER; empty if they are those of one
    topic), `tables`, `directory`, `makers` (names: "reference", or a liar's), `hold` ({batch, at:
    before | after, how: block | fail}, or empty). The query's checkpoint is `directory`/query, the
    states of a maker are in `directory`/<maker>; existing ones are continued. The answer has
    `batches`, `records`, `seconds`. Raises what the query raises.
    """
    tables = tuple(codec.load_table(table) for table in request["tables"])
    decoder, part_requests = load(request["decoder"]), request["parts"]
    lanes = topics.Lanes(request.get("lanes") or {})
    parts = tuple(
        _Part(codec.load_deployment(deployment), low, high, len(part_requests) == 1, lanes)
        for deployment, low, high in part_requests
    )
    directory = request["directory"]
    records = records_of(spark, request["source"])
    began = time.monotonic()
    if 1 not in decoder.functions:
        raise DecoderError(
            f"decoder {request['decoder']} has no level one, which tables are built from; name a"
            " function decode..."
        )
    if not cluster.is_local(spark) and not cluster.shares_folder(
        spark, home := os.environ.get("TMPDIR", directory)
    ):
        raise DecoderError(
            f"streams keep tables in {home}, which the cluster does not share: set TMPDIR to a"
            " shared folder"
        )
    if (module := _level_three_module(request["decoder"])) is not None:
        return _run_level_three(module, records, decoder, parts, tables, request)
    keepers = tuple(
        _keeper(spark, directory, request["format"], name, tables) for name in request["makers"]
    )
    Path(directory).mkdir(parents=True, exist_ok=True)
    reading = _Reading(decoder, parts, lanes, keepers, request.get("hold") or {}, Path(directory))
    writer = records.writeStream.foreachBatch(reading).option(
        "checkpointLocation", f"{directory}/query"
    )
    # `availableNow` makes one batch of all that a source in Python has.
    ends = "kept" not in request["source"]
    query = (writer.trigger(availableNow=True) if ends else writer).start()
    try:
        query.awaitTermination() if ends else query.processAllAvailable()
    finally:
        query.stop()
    return {
        "batches": reading.batches,
        "records": reading.records,
        "seconds": time.monotonic() - began,
    }


def _keeper(
    spark: SparkSession, directory: str, fmt: str, name: str, tables: tuple[Table, ...]
) -> Keeper:
    """The keeper of tables (it holds the rows that the changes of a stream give) with this name,
    whose states are in its own folder below `directory`: the right one ("reference"), or one that
    is wrong on purpose.
    """
    home = f"{directory}/{name}"
    kept_by, merged_by = (Keeper, Materialiser) if name == "reference" else LIARS[name]
    return kept_by(spark, home, merged_by(order_of(fmt), tables))


def _level_three_module(spec: str) -> Any:
    """The loaded module of the decoder that `spec` names, if it keeps its own tables (level three),
    which the functions `materialise` and `materialised` do; None if it does not.
    """
    source = find_place(spec).source
    module = sys.modules.get(source) or sys.modules.get(f"_cdc_user_{Path(source).stem}")
    return module if hasattr(module, "materialise") and hasattr(module, "materialised") else None


def _run_level_three(
    module: Any,
    records: DataFrame,
    decoder: Decoder,
    parts: tuple[_Part, ...],
    tables: tuple[Table, ...],
    request: Mapping[str, Any],
) -> dict[str, Any]:
    """Lets the user's module keep the tables (level three): runs its query for each part up to the
    source's present end, and writes its rows where the reference keeper's state would be. A test
    may have the process killed at a moment of such a query. Returns the answer of `handle`.
    """
    spark, kept_parts = records.sparkSession, []
    began = time.monotonic()
    for number, part in enumerate(parts):
        home = f"{request['directory']}/own-{number}"
        query = module.materialise(
            decoder(1, part.select_records(records), None, part.deployment), tables, home
        )
        try:
            with KillMoment(query, request.get("hold") or {}, Path(request["directory"])):
                query.processAllAvailable()
        finally:
            query.stop()
        kept_parts.append(
            as_part("row", module.materialised(spark, home).withColumn("deleted", F.lit(False)))
        )
    state = union((*kept_parts, as_part("own", spark.range(1))))
    keeper = Keeper(
        spark, f"{request['directory']}/reference", Materialiser(order_of(request["format"]))
    )
    keeper.put(state, int(request.get("stage", 0)))
    return {"batches": len(parts), "records": 0, "seconds": time.monotonic() - began}
