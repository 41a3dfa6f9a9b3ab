"""A run of a pipeline from start to end, whoever asks for it: its session, its broker, its
results.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import ismodule
from typing import Any, Final

from conformance.brokers.asked import BrokerOptions
from conformance.brokers.lakehouses import Sink
from conformance.engines.child import QUICK, ChildEngine, required_packages
from conformance.engines.live import LiveEngine, decoder_name
from conformance.engines.transport import serve_engine
from conformance.pipelines.results import PipelineResult
from conformance.pipelines.running import PipelineSettings, run_pipeline
from conformance.pipelines.sessions import session_conf
from generators.errors import UsageError

LIVE: Final[Mapping[str, str]] = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
}
"""Spark's settings while a pipeline runs on the caller's session: its micro-batches have few
messages.
"""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Where a pipeline runs: on `spark`, a session of the caller's, or in a process of its own,
    with the settings `conf` and a lakehouse, `sink`. `catalogue` is that of the target tables.
    """

    spark: Any = None
    sink: Sink | None = None
    catalogue: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)


def judge_pipeline(
    settings: PipelineSettings,
    broker_options: BrokerOptions,
    session: SessionOptions,
    note: Callable[[str], None],
    pipeline: object = None,
) -> Generator[PipelineResult]:
    """Judges a pipeline from start to end: starts what it needs (session, broker), yields a result
    for each nemesis, and stops all of it after the last one. `pipeline` is an object or a
    function in place of a file. Raises UsageError, NothingSelected, and HarnessError where a limit
    expired.
    """
    if broker_options.kafka:
        broker_options.check_spark()
    if session.spark is None:
        if pipeline is not None:
            raise UsageError(
                "a pipeline that is a Python function or object needs spark=, the session that it"
                " runs on; one in a file is judged in a process of its own"
            )
        yield from _judge_in_child(settings, broker_options, session, note)
    else:
        yield from _judge_on_session(settings, broker_options, session, note, pipeline)


def _judge_in_child(
    settings: PipelineSettings,
    broker_options: BrokerOptions,
    session: SessionOptions,
    note: Callable[[str], None],
) -> Generator[PipelineResult]:
    """Judges a pipeline that is in a file, in a child process with a Spark session that the harness
    starts.
    """
    conf, catalogue = session_conf(QUICK, session.conf, session.sink, session.catalogue)
    packages = required_packages((settings.format,), kafka=broker_options.kafka)
    child = partial(ChildEngine, packages=packages, conf=conf, note=note)
    settings = replace(settings, catalogue=catalogue)
    with serve_engine((settings.format,), broker_options, conf, note, child) as (engine, at, _):
        yield from run_pipeline(settings, engine, at, note)


def _judge_on_session(
    settings: PipelineSettings,
    broker_options: BrokerOptions,
    session: SessionOptions,
    note: Callable[[str], None],
    pipeline: object,
) -> Generator[PipelineResult]:
    """Judges a pipeline (the file in `settings`, or the object `pipeline` if given) on the caller's
    Spark session, in a new database, which is dropped at the end. Raises UsageError for a restart,
    a sink, Spark Connect, or executors elsewhere without a broker.
    """
    if settings.restart:
        raise UsageError("restart=True: a session of yours is not killed; leave out spark=")
    if session.sink is not None:
        raise UsageError(
            f"sink={session.sink!r}: a session of yours has its own lakehouse; catalog= names its"
            " catalogue"
        )
    name = settings.pipeline if pipeline is None else pipeline_name(pipeline)
    # No table of the caller's is touched: the database has a new name, and is dropped.
    settings = replace(
        settings,
        pipeline=name,
        catalogue=session.catalogue,
        database=f"conformance_{secrets.token_hex(4)}",
    )

    def engine_on_session() -> AbstractContextManager[LiveEngine]:
        """The engine on the caller's session. It gets a pipeline that the caller gave as a Python
        function or object under its name; one in a file it loads by itself. The caller's settings
        replace ours (LIVE).
        """
        return LiveEngine(
            session.spark,
            None,  # No decoder: a pipeline decodes by itself.
            conf={**LIVE, **session.conf},
            pipelines={} if pipeline is None else {name: pipeline},
        )

    with serve_engine(
        (settings.format,), broker_options, session.conf, note, engine_on_session
    ) as (
        engine,
        at,
        _,
    ):
        if engine.is_connect:
            raise UsageError(
                "spark= is a session of Spark Connect: the query of a pipeline would run in another"
                " process; give a classic session, or leave out spark="
            )
        if engine.is_away and at is None:
            raise UsageError(
                "broker='none': the session's machines cannot read a stream that is on this one;"
                " name a broker that they reach"
            )
        settings = replace(settings, away=engine.is_away)
        try:
            yield from run_pipeline(settings, engine, at, note)
        finally:
            engine.ask_service("pipeline", {"drop": settings.place}, settings.limit_s).result()


def pipeline_name(pipeline: object) -> str:
    """The name of a pipeline that is a Python object, for requests and messages: a module's name,
    else the name that a decoder would have.
    """
    return pipeline.__name__ if ismodule(pipeline) else decoder_name(pipeline)
