"""The lakehouses that pipelines are judged on, for each Spark: the pinned jars, and the settings of
a session that keeps tables in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from conformance.brokers.jars import Bundle
from generators.errors import UsageError

Sink = Literal["delta", "iceberg"]

DELTA: Final = Bundle(
    "delta-spark_4.0_2.13-4.4.0",
    "Delta Lake",
    (("io.delta", "delta-spark_4.0_2.13", "4.4.0"),),
    "delta-spark_",
    "8 jars, 10 MB",
    remedy="or name jars in CDC_CONFORMANCE_SPARK_JARS. ",
)
ICEBERG: Final = Bundle(
    "iceberg-spark-runtime-4.0_2.13-1.11.0",
    "Iceberg",
    (("org.apache.iceberg", "iceberg-spark-runtime-4.0_2.13", "1.11.0"),),
    "iceberg-spark-runtime-",
    "one jar, 48 MB",
    remedy="or name jars in CDC_CONFORMANCE_SPARK_JARS. ",
)
PINNED: Final = {bundle.modules: bundle for bundle in (DELTA, ICEBERG)}
"""The bundles whose jars are pinned, by their modules."""


@dataclass(frozen=True, slots=True)
class Lakehouse:
    """A lakehouse on one Spark: its bundle, the settings of a session, and the catalogue of its
    tables ("" is Spark's own).
    """

    bundle: Bundle
    conf: Mapping[str, str]
    catalogue: str = ""

    @property
    def packages(self) -> str:
        """Its modules as `--spark-packages` takes them."""
        return ",".join(":".join(module) for module in self.bundle.modules)


LAKEHOUSES: Final[Mapping[Sink, Mapping[str, Lakehouse]]] = {
    "delta": {
        "4.0": Lakehouse(
            DELTA,
            {
                "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog": (
                    "org.apache.spark.sql.delta.catalog.DeltaCatalog"
                ),
                # Tables of a few rows: Delta's own 50 tasks a snapshot would be most of a batch.
                "spark.databricks.delta.snapshotPartitions": "1",
            },
        )
    },
    "iceberg": {
        "4.0": Lakehouse(
            ICEBERG,
            {
                "spark.sql.extensions": (
                    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
                ),
                "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.type": "hadoop",
                # A stream's batches run in a session of their own, whose catalogue has a cache of
                # its own: for 30 seconds another session would see the table of before.
                "spark.sql.catalog.lake.cache-enabled": "false",
            },
            "lake",
        )
    },
}


def lakehouse(sink: Sink, spark: str) -> Lakehouse:
    """A lakehouse for a release of Spark. Raises UsageError if none is known for it."""
    by_series = LAKEHOUSES[sink]
    series = ".".join(spark.split(".")[:2])
    if series not in by_series:
        raise UsageError(
            f"--sink {sink} is known for Spark {', '.join(by_series)}; Spark {spark} is installed. Name"
            " its packages (--spark-packages) and settings (--spark-conf)"
        )
    return by_series[series]
