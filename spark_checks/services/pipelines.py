"""A user's pipeline from the topic to a table: a module with `start`, and what it may have beside
it.

    start(spark, records, target)    # starts the query and returns it; None for a batch job
    KEY = ["id"]                     # the columns of the key, else the table's primary key
    TYPES = {"price": "double"}      # columns that are kept as text or double on purpose
    table(spark, target)             # the current rows, else spark.table(target)
    errors(spark, target)            # where unreadable messages went: partition, offset

`start` may also take, by name: `table`, the source's table (generators.model.Table), `checkpoint`,
a folder of the target's own, and `deployment`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_checks.services.engine import DecoderError, load_module

OFFERED: Final = ("table", "checkpoint", "deployment")
"""What `start` may also take, by name."""
Reading = Callable[[SparkSession, str], DataFrame]


def _read_table(spark: SparkSession, target: str) -> DataFrame:
    return spark.table(target)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A pipeline's functions and what it says of its table."""

    name: str
    start: Callable[..., Any]
    table: Reading = _read_table
    errors: Reading | None = None
    key: Sequence[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    def begin(
        self, spark: SparkSession, records: DataFrame, target: str, offered: Mapping[str, Any]
    ) -> StreamingQuery | None:
        """Starts the query; of what is `offered` `start` gets what it takes by name. Raises
        DecoderError if it returns no query.
        """
        parameters = inspect.signature(self.start).parameters
        wanted = {name: value for name, value in offered.items() if name in parameters}
        query = self.start(spark, records, target, **wanted)
        if query is not None and not hasattr(query, "processAllAvailable"):
            raise DecoderError(
                f"pipeline {self.name}: start returned {type(query).__name__}, not the query that"
                " it started, nor None for a batch job"
            )
        return query  # type: ignore[no-any-return]


def pipeline_of(name: str, given: Any) -> Pipeline:
    """The pipeline of a module or object with `start`. Raises DecoderError."""
    start = getattr(given, "start", None)
    if not callable(start):
        raise DecoderError(f"pipeline {name} has no function start(spark, records, target)")
    try:
        signature = inspect.signature(start)
        signature.bind(None, None, None, **{n: None for n in OFFERED if n in signature.parameters})
    except TypeError as error:
        raise DecoderError(
            f"pipeline {name}: start{inspect.signature(start)} does not take (spark, records,"
            f" target), and by name {', '.join(OFFERED)}: {error}"
        ) from None
    types = getattr(given, "TYPES", {})
    if not isinstance(types, Mapping):
        raise DecoderError(
            f"pipeline {name}: TYPES is {type(types).__name__}; it must map columns to string or"
            " double"
        )
    return Pipeline(
        name,
        start,
        getattr(given, "table", _read_table),
        getattr(given, "errors", None),
        tuple(getattr(given, "KEY", ())),
        dict(types),
    )


def load_pipeline(spec: str) -> Pipeline:
    """The pipeline of `path/file.py` or `module`. Raises DecoderError."""
    return pipeline_of(spec, load_module(spec, spec))
