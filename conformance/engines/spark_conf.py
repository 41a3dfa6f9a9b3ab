"""Settings of Spark's session that a user gives (`--spark-conf KEY=VALUE`), beside those that the harness owns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from generators.errors import UsageError

JARS: Final = "spark.jars"
OPTIONS: Final = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
"""Options of a JVM, which are added to the harness's."""

OWNED: Final[Mapping[str, str]] = {
    "spark.master": "decoders are judged on this machine; publish --master names a cluster",
    "spark.app.name": "it names the harness",
    "spark.submit.": "the harness starts Spark itself",
    "spark.cdc.": "it is the harness's own",
    "spark.driver.host": "Spark listens on loopback alone",
    "spark.driver.bindAddress": "Spark listens on loopback alone",
    "spark.ui.": "a run has no UI",
    "spark.local.dir": "it is in the run's own folder, which TMPDIR places",
    "spark.sql.warehouse.dir": "it is in the run's own folder, which TMPDIR places",
    "spark.pyspark.": "Spark's Python is the harness's own",
    "spark.sql.execution.arrow.pyspark.enabled": "rows reach the judge as Arrow",
}
"""Settings, or with a dot at the end groups of settings, that cannot be given, and why."""


NAMES: Final = f"^(?!{'|'.join(re.escape(name) + '$' * (name[-1] != '.') for name in OWNED)})spark\\.[^=]+$"
"""The names that can be given, as a pattern."""


def checked(name: str, value: str) -> tuple[str, str]:
    """The setting. Raises UsageError if its name is none of Spark's, or the harness owns it."""
    if not name.startswith("spark."):
        raise UsageError(f"--spark-conf {name}: names of Spark's settings begin with spark.")
    for owned, why in OWNED.items():
        if name == owned or (owned.endswith(".") and name.startswith(owned)):
            raise UsageError(f"--spark-conf {name}: the harness sets it; {why}")
    return name, value


def merged(conf: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """A session's settings with the user's, which win; a JVM gets both options, the user's last."""
    joined = {name: f"{conf.get(name, '')} {given[name]}".strip() for name in OPTIONS if name in given}
    return {**conf, **given, **joined}
