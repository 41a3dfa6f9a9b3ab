"""A session of the user's: it serves the requests of `conformance.engines.live`, and is left as it
was.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import math
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark import cloudpickle
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import is_remote

from conformance.engines.live import unwrap_partial
from spark_checks.services import cluster, piping
from spark_checks.services.engine import TASK_RECORDS, DecoderError, SparkEngine
from spark_checks.services.pipelines import offer_pipelines

AGAIN_S: Final = 1.0
"""Time between two interruptions of a call that does not end."""
_tags = itertools.count(1)
"""Numbers of this process's live sessions, for the tags of their jobs."""


def _with_capabilities(decoder: Any) -> tuple[Any, Any]:
    """A pair of the decoder and the constant CAPABILITIES of the module that defines it; {} if the
    module has none. Of a `functools.partial` it is the module that defines the function.
    """
    definition = unwrap_partial(decoder)
    kind = definition if hasattr(definition, "__module__") else type(definition)
    return decoder, getattr(sys.modules.get(kind.__module__), "CAPABILITIES", {})


def pickled(decoder: Any) -> str:
    """A decoder and its CAPABILITIES as text, for another process; a decoder that is defined in a
    notebook or within a function is pickled by value.
    """
    return base64.b64encode(cloudpickle.dumps(_with_capabilities(decoder))).decode()  # type: ignore[no-untyped-call]


class LiveSession(SparkEngine):
    """SparkEngine on a session that the user has made. `decoders` and `pipelines` are objects of
    this process by name; `conf` are settings that the session must take.

    The thread that calls `answer` must do so within `with`. Raises ValueError for a setting that
    the session refuses.
    """

    def __init__(
        self,
        spark: SparkSession,
        decoders: Mapping[str, Any],
        conf: Mapping[str, str],
        pipelines: Mapping[str, Any] = {},
    ) -> None:
        super().__init__()
        self._spark = spark
        self._given_decoders = {
            name: _with_capabilities(decoder) for name, decoder in decoders.items()
        }
        self._tag = f"cdc-conformance-{next(_tags)}"
        self._path, self._views = list(sys.path), self._temporary()
        try:
            self._configure(conf)
        except DecoderError as error:
            raise ValueError(str(error)) from error
        finally:
            self._configure({})
        self._offers = contextlib.ExitStack()
        self._offers.enter_context(offer_pipelines(pipelines))

    def __enter__(self) -> LiveSession:
        if is_remote():
            self.spark.addTag(self._tag)
        else:
            # A tag does not reach the thread of the JVM that serves rows as Arrow.
            self.spark.sparkContext.setJobGroup(
                self._tag, "cdc-conformance", interruptOnCancel=True
            )
        return self

    def __exit__(self, *_: object) -> None:
        if is_remote():
            self.spark.removeTag(self._tag)

    def answer(self, request: Mapping[str, Any], limit_s: float) -> dict[str, Any] | None:
        """The reply to a request; None if it took longer than `limit_s` seconds and was
        interrupted.
        """
        answered, late = threading.Event(), threading.Event()

        def watch() -> None:
            """Waits for the reply; after the time limit it ends what runs in Spark, again and again
            until the reply is there.
            """
            if not answered.wait(limit_s):
                late.set()
                self.interrupt()
                while not answered.wait(AGAIN_S):
                    self.interrupt()

        if limit_s < math.inf:
            threading.Thread(target=watch, name="cdc-live-limit", daemon=True).start()
        try:
            return self.handle(request)
        except Exception as error:
            return None if late.is_set() else self.refusal(request, error)
        finally:
            answered.set()

    def interrupt(self) -> None:
        """Ends the Spark jobs that the request has started, and the queries of the user's
        pipelines, whose jobs Spark puts into groups of its own.
        """
        if is_remote():
            self.spark.interruptTag(self._tag)
        else:
            self.spark.sparkContext.cancelJobGroup(self._tag)
        piping.stop_queries()

    @property
    def is_connect(self) -> bool:
        """Whether the session is one of Spark Connect."""
        return is_remote()

    @property
    def is_away(self) -> bool:
        """Whether the session's executors or its driver may be on other machines."""
        return is_remote() or not str(self.spark.conf.get("spark.master", "")).startswith("local")

    def lacking(self, error: BaseException) -> str:
        """What the session lacks, if that is why a request failed; else ""."""
        return cluster.missing_on_cluster(error, "the session")

    def restore(self) -> None:
        """Leaves the session, and the path of modules, as they were: settings, kept records,
        queries of pipelines and temporary views.
        """
        piping.stop_queries()
        self._offers.close()
        for handle in list(self._records_by_handle):
            self._release(handle)
        self._configure({})
        for name, place in self._temporary() - self._views:
            drop = (
                self.spark.catalog.dropGlobalTempView if place else self.spark.catalog.dropTempView
            )
            drop(name)
        sys.path[:] = self._path

    def _table(self, path: str) -> DataFrame:
        """The records of a Parquet file as a DataFrame of the user's session."""
        # Through the driver: the session's file system need not be this machine's.
        records = pq.read_table(path)
        return self.spark.createDataFrame(records).coalesce(1 + records.num_rows // TASK_RECORDS)

    def _temporary(self) -> set[tuple[str, str]]:
        """The temporary views of the user's session: pairs of name and namespace, which is "" for a
        view of the session and `global_temp` for a global one.
        """
        views: set[tuple[str, str]] = set()
        for place in ("", "global_temp"):
            # A catalogue need not have views.
            with contextlib.suppress(PySparkException):
                views_found = self.spark.sql(
                    f"SHOW VIEWS IN {place}" if place else "SHOW VIEWS"
                ).collect()
                views.update(
                    (view.viewName, view.namespace) for view in views_found if view.isTemporary
                )
        return views
