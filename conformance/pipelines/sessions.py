"""The settings of a Spark session in which a pipeline runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.brokers.lakehouses import Sink, lakehouse
from conformance.brokers.spark import installed_spark
from conformance.engines.child import SMALL, UNTRACED
from conformance.engines.spark_conf import PACKAGES, merge_settings

MICRO_BATCHES: Final[Mapping[str, str]] = {
    **SMALL,
    **UNTRACED,
    "spark.kafka.consumer.cache.capacity": "1024",
}
"""For micro-batches of few messages; a user's own settings win. An error has the line of the user's
function without the source line of each expression, too.
"""
WAREHOUSE: Final = "spark.sql.catalog.lake.warehouse"
"""The setting with the folder of the catalogue `lake`."""


def session_conf(
    conf: Mapping[str, str], given: Mapping[str, str], sink: Sink | None, catalogue: str
) -> tuple[dict[str, str], str]:
    """The settings of the Spark session in which a pipeline runs: the harness's own (`conf`), the
    lakehouse's and the user's (`given`, which win); and the name of the catalogue for its tables,
    by default the lakehouse's. `sink` is the lakehouse, None for none. Raises UsageError,
    HarnessError.
    """
    conf = {**conf, **MICRO_BATCHES}
    if sink is None:
        return merge_settings(conf, given), catalogue
    lake = lakehouse(sink, installed_spark()[0])
    added = ",".join(filter(None, (lake.packages, given.get(PACKAGES, ""))))
    settings = merge_settings({**conf, **lake.conf}, {**given, PACKAGES: added})
    return settings, catalogue or lake.catalogue
