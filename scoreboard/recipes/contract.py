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
"""The columns that both levels of a decoder share: one change in the topic."""
Start = Callable[[SparkSession, DataFrame, str, Table, str, Deployment], "StreamingQuery | None"]


@dataclass(frozen=True, slots=True)
class Call:
    """What `pipeline` gives `start`."""

    spark: SparkSession
    records: DataFrame
    target: str
    table: Table
    checkpoint: str
    deployment: Deployment


class Decoder(Protocol):
    """The two levels of a decoder of the harness: its module."""

    @property
    def decode(self) -> Callable[..., Any]:
        """Level one."""

    @property
    def decode_rows(self) -> Callable[..., Any]:
        """Level two."""


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
    """An INSERT, UPDATE or DELETE of a row a line: `op`, `before`, `after`, `partition`, `offset`
    and `orders`, columns in SQL over those of level one.
    """
    rows = decoder.decode(batch, deployment=call.deployment)
    rows = rows.where("kind = 'ROW' AND op <> 'TRUNCATE'").selectExpr(*PLACE, *orders)
    typed = decoder.decode_rows(batch, call.table, deployment=call.deployment)
    changes: DataFrame = typed.where("kind = 'ROW'").join(rows, PLACE)
    return changes
