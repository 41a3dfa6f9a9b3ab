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

_REMEDY: Final = "or name jars in CDC_CONFORMANCE_SPARK_JARS. "
"""What a user can do who cannot download the jars."""


def delta_bundle(series: str) -> Bundle:
    """The jars of Delta Lake 4.4.0 for a minor release of Spark, as a bundle to download."""
    name = f"delta-spark_{series}_2.13"
    return Bundle(
        f"{name}-4.4.0",
        "Delta Lake",
        (("io.delta", name, "4.4.0"),),
        main="delta-spark_",
        download="8 jars, 10 MB",
        remedy=_REMEDY,
    )


def iceberg_bundle(series: str, version: str) -> Bundle:
    """The jars of a release of Iceberg for a minor release of Spark, as a bundle to download."""
    name = f"iceberg-spark-runtime-{series}_2.13"
    return Bundle(
        f"{name}-{version}",
        "Iceberg",
        (("org.apache.iceberg", name, version),),
        main="iceberg-spark-runtime-",
        download="one jar, 48 MB",
        remedy=_REMEDY,
    )


TABLES_FOR_TESTS: Final = Bundle(
    "spark-catalyst_2.13-4.2.0-tests",
    "Spark's tables for tests",
    (("org.apache.spark", "spark-catalyst_2.13", "4.2.0"),),
    main="spark-catalyst_",
    download="one jar, 8 MB",
    classifier="tests",
)
"""A catalogue of tables in memory that take MERGE, of Spark's own tests."""


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


_DELTA_CONF: Final = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # Tables of a few rows: Delta's own 50 tasks a snapshot would be most of a batch.
    "spark.databricks.delta.snapshotPartitions": "1",
    # What lets a query skip files: tables of one file have none to skip, and each scan would ask.
    "spark.databricks.delta.stats.collect": "false",
    "spark.databricks.delta.stats.skipping": "false",
}
_ICEBERG_CONF: Final = {
    "spark.sql.extensions": ("org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"),
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    # A stream's batches run in a session of their own, whose catalogue has a cache of its own: for
    # 30 seconds another session would see the table of before.
    "spark.sql.catalog.lake.cache-enabled": "false",
}
LAKEHOUSES: Final[Mapping[Sink, Mapping[str, Lakehouse]]] = {
    "delta": {
        series: Lakehouse(delta_bundle(series), _DELTA_CONF) for series in ("4.0", "4.1", "4.2")
    },
    "iceberg": {
        series: Lakehouse(iceberg_bundle(series, version), _ICEBERG_CONF, "lake")
        for series, version in (("4.0", "1.11.0"), ("4.1", "1.12.0"))
    },
}
"""By sink and minor release of Spark: what is published for it, and ran there."""
PINNED: Final = {
    lake.bundle.modules: lake.bundle for lakes in LAKEHOUSES.values() for lake in lakes.values()
}
"""The bundles whose jars are pinned, by their modules."""


def lakehouse(sink: Sink, spark: str) -> Lakehouse:
    """The lakehouse (Delta Lake or Iceberg) for `spark`, a release such as "4.0.1". Raises
    UsageError if none is known for its minor release.
    """
    by_series = LAKEHOUSES[sink]
    series = ".".join(spark.split(".")[:2])
    if series not in by_series:
        raise UsageError(
            f"--sink {sink} is known for Spark {', '.join(by_series)}; Spark {spark} is installed. Name"
            " its packages (--spark-packages) and settings (--spark-conf)"
        )
    return by_series[series]
