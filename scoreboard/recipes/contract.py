"""The contract of `pipeline` as the recipes meet it, and the changes that they all begin with: the
harness's decoders read the messages, so that a recipe is judged by what it does with changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from generators.model import Deployment, Table

PLACE = ["partition", "offset", "row"]
"""The columns that level one and level two of a decoder share, which identify a change in the
topic.
"""
Start = Callable[[SparkSession, DataFrame, str, Table, str, Deployment], "StreamingQuery | None"]
"""The function `start` of a pipeline, with the arguments that are the fields of Call."""


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments that `pipeline` gives to the `start` of a pipeline."""

    spark: SparkSession
    records: DataFrame
    target: str
    table: Table
    checkpoint: str
    deployment: Deployment


class Decoder(Protocol):
    """A decoder of the harness, as a module with its functions of two levels."""

    @property
    def decode(self) -> Callable[..., Any]:
        """The function of level one: changes whose values are texts, and all other messages."""

    @property
    def decode_rows(self) -> Callable[..., Any]:
        """The function of level two: changes whose values are typed rows of one table."""


def start_by(run: Callable[[Call], StreamingQuery | None]) -> Start:
    """The `start` of a recipe, which hands its arguments to `run` as one call."""

    def start(
        spark: SparkSession,
        records: DataFrame,
        target: str,
        table: Table,
        checkpoint: str,
        deployment: Deployment,
    ) -> StreamingQuery | None:
        """Starts the recipe on the `records` of a topic, to keep the table `target`."""
        return run(Call(spark, records, target, table, checkpoint, deployment))

    return start


def decode_changes(
    batch: DataFrame, call: Call, decoder: Decoder, orders: Sequence[str]
) -> DataFrame:
    """The INSERTs, UPDATEs and DELETEs of the call's table in a batch, a row for each: `op`,
    `before`, `after`, `partition`, `offset`, and the columns `orders`, which are SQL over the
    columns of level one (texts).
    """
    rows = decoder.decode(batch, deployment=call.deployment)
    rows = rows.where("kind = 'ROW' AND op <> 'TRUNCATE'").selectExpr(*PLACE, *orders)
    typed = decoder.decode_rows(batch, call.table, deployment=call.deployment)
    changes: DataFrame = typed.where("kind = 'ROW'").join(rows, PLACE)
    return changes
