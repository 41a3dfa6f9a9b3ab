"""A user's pipeline from the topic to a table: a module or an object with `start`, or the function
itself, and what may stand beside it.

    start(spark, records, target)    # starts the query and returns it; None for a batch job
    KEY = ["id"]                     # the columns of the key, else the table's primary key
    TYPES = {"price": "double"}      # columns that are kept as text or double on purpose
    table(spark, target)             # the current rows, else spark.table(target)
    history(spark, target)           # SCD type 2: each version, with valid_from and valid_to
    errors(spark, target)            # where unreadable messages went: partition, offset

`start` may also take, by name: `table`, the source's table (generators.model.Table), `checkpoint`,
a folder of the target's own, and `deployment`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_checks.services.engine import DecoderError, load_module

OFFERED: Final = ("table", "checkpoint", "deployment")
"""What `start` may also take, by name."""
READINGS: Final = ("table", "history", "errors")
"""The functions that may stand beside `start`."""
VALID_TO: Final = "valid_to"
"""The column of a history that tells when a version ended; NULL: it is the current one."""
Reading = Callable[[SparkSession, str], DataFrame]
"""A function of the user's pipeline that returns rows of the table `target`."""

_GIVEN: Final[dict[str, Any]] = {}
"""Pipelines that callers of this process hand over, by name; they come before files."""


def _read_table(spark: SparkSession, target: str) -> DataFrame:
    """The table as it is."""
    return spark.table(target)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A user's pipeline: its function `start`, the functions that read its table, and what it says
    of the table, `key` (its key columns) and `types` (columns kept as text or double on purpose).
    """

    name: str
    start: Callable[..., Any]
    table: Reading = _read_table
    history: Reading | None = None
    errors: Reading | None = None
    key: Sequence[str] = ()
    types: Mapping[str, str] = field(default_factory=dict)

    def begin(
        self, spark: SparkSession, records: DataFrame, target: str, offered: Mapping[str, Any]
    ) -> StreamingQuery | None:
        """Calls the user's `start` and returns the query that it started; None for a batch job. Of
        the `offered` arguments (table, deployment, checkpoint) it gets those for which it has
        parameters. Raises DecoderError if it returns anything else.
        """
        parameters = inspect.signature(self.start).parameters
        arguments = {name: value for name, value in offered.items() if name in parameters}
        query = self.start(spark, records, target, **arguments)
        if query is not None and not hasattr(query, "processAllAvailable"):
            raise DecoderError(
                f"pipeline {self.name}: start returned {type(query).__name__}, not the query that"
                " it started, nor None for a batch job"
            )
        return query  # type: ignore[no-any-return]

    def read_rows(self, spark: SparkSession, target: str) -> DataFrame:
        """The current rows of the user's table `target`: what the pipeline's function `table`
        returns. If it has none, the versions of its history that have no end or, without a history,
        the table as it is.
        """
        if self.history is not None and self.table is _read_table:
            return self.history(spark, target).where(f"{VALID_TO} IS NULL")
        return self.table(spark, target)


def make_pipeline(name: str, definition: Any) -> Pipeline:
    """The pipeline that a user's definition describes: a module or object with `start`, or the
    function `start` itself, beside which the globals of its module count. Raises DecoderError,
    which names the pipeline, for a wrong part.
    """
    if inspect.isfunction(definition):
        module_globals = definition.__globals__
        names = ("KEY", "TYPES", *READINGS)
        definition = SimpleNamespace(
            **{n: module_globals[n] for n in names if n in module_globals}, start=definition
        )
    start = getattr(definition, "start", None)
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
    types = getattr(definition, "TYPES", {})
    if not isinstance(types, Mapping):
        raise DecoderError(
            f"pipeline {name}: TYPES is {type(types).__name__}; it must map columns to string or"
            " double"
        )
    key = getattr(definition, "KEY", ())
    if isinstance(key, str):
        raise DecoderError(f"pipeline {name}: KEY is {key!r}; it must be a list of columns")
    readings = {reading: getattr(definition, reading, None) for reading in READINGS}
    for reading, function in readings.items():
        if function is not None and not callable(function):
            raise DecoderError(
                f"pipeline {name}: {reading} is {type(function).__name__}, not a function"
                f" {reading}(spark, target)"
            )
    return Pipeline(
        name,
        start,
        readings["table"] or _read_table,
        readings["history"],
        readings["errors"],
        tuple(key),
        dict(types),
    )


@contextmanager
def offer_pipelines(pipelines: Mapping[str, Any]) -> Iterator[None]:
    """A context in which `load_pipeline` finds pipelines of this process by their names."""
    _GIVEN.update(pipelines)
    try:
        yield
    finally:
        for name in pipelines:
            _GIVEN.pop(name, None)


def load_pipeline(spec: str) -> Pipeline:
    """The pipeline of `path/file.py` or `module`, or one to which `offer_pipelines` has given this
    name. Raises DecoderError.
    """
    definition = _GIVEN[spec] if spec in _GIVEN else load_module(spec, spec, "pipeline")
    return make_pipeline(spec, definition)
