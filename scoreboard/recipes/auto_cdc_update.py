"""A client of Spark Connect that runs one update of a declarative pipeline: a streaming table, a
view of the changes, and the flow of AUTO CDC between them. Its facts are JSON on standard input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.pipelines import create_auto_cdc_flow, create_streaming_table, temporary_view
from pyspark.pipelines.graph_element_registry import graph_element_registration_context
from pyspark.pipelines.spark_connect_graph_element_registry import (
    SparkConnectGraphElementRegistry,
)
from pyspark.pipelines.spark_connect_pipeline import create_dataflow_graph, start_run
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

ORDERING = ("op", "es", "commit_ts", "rank", "partition", "offset", "sequence")
"""The columns of changes that are not the row's."""


def define(spark: SparkSession, facts: Mapping[str, Any]) -> None:
    """Registers what the pipeline consists of: the view of the landed changes, the table, and the
    flow of AUTO CDC between them.
    """

    def changes() -> Any:
        """The changes that were landed as Parquet files, as a stream."""
        schema = StructType.fromJson(json.loads(facts["schema"]))
        return spark.readStream.schema(schema).parquet(facts["landed"])

    temporary_view(changes)
    create_streaming_table(facts["name"])
    create_auto_cdc_flow(
        target=facts["name"],
        source="changes",
        keys=facts["keys"],
        sequence_by="sequence",
        apply_as_deletes="op = 'DELETE'",
        except_column_list=list(ORDERING),
    )


def main() -> None:
    """Runs the update; an error ends with a line that begins with ERROR."""
    facts = json.load(sys.stdin)
    spark = SparkSession.builder.remote(facts["server"]).getOrCreate()
    place = f"{facts['catalogue']}.{facts['database']}"
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {place}")
    graph = create_dataflow_graph(
        spark,
        default_catalog=facts["catalogue"],
        default_database=facts["database"],
        sql_conf={"spark.sql.shuffle.partitions": "1"},
    )
    with graph_element_registration_context(SparkConnectGraphElementRegistry(spark, graph)):
        define(spark, facts)
    try:
        for _ in start_run(
            spark,
            graph,
            full_refresh=[],
            full_refresh_all=False,
            refresh=[],
            dry=False,
            storage=facts["storage"],
        ):
            pass
    except PySparkException as error:
        sys.stderr.write(f"\nERROR {type(error).__name__}: {error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
