"""The start of a run, whoever asks for it: its engine, its broker, its topic."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from conformance.brokers.asked import BrokerOptions
from conformance.engines.command import engine_for
from conformance.engines.engine import Engine
from conformance.engines.transport import serve_engine
from conformance.running.prepared import Note, Settings
from generators.model import Layout


@contextlib.contextmanager
def start_run(
    settings: Settings,
    broker_options: BrokerOptions,
    conf: Mapping[str, str],
    note: Note = lambda _text: None,
    *,
    decoder: object = None,
    spark: Any = None,
    engine: Callable[[], AbstractContextManager[Engine]] | None = None,
) -> Iterator[tuple[Settings, Engine]]:
    """A context that gives the settings, with the broker and the topic of the run, and an engine
    for its decoder. All that was started ends with the context.

    `conf` are settings of Spark. `decoder` is a function or an object in place of the settings'
    specification, `spark` a session of the caller's; `engine` makes an engine in place of a new
    one. Raises UsageError and HarnessError.
    """
    decoder, formats = settings.decoder if decoder is None else decoder, settings.formats

    def create_engine() -> AbstractContextManager[Engine]:
        """The engine for the decoder of the run, if the caller has given none."""
        return engine_for(
            decoder,
            formats,
            kafka=broker_options.kafka,
            timeout_s=settings.timeout_s,
            conf=conf,
            note=note,
            spark=spark,
        )

    with serve_engine(formats, broker_options, conf, note, engine or create_engine, decoder) as (
        ready,
        cluster,
        described,
    ):
        if cluster is None:
            yield replace(settings, broker=described), ready
            return
        from generators.publishing import kafka

        with kafka.run_topic(cluster, Layout().partitions, note=note) as topic:
            yield replace(settings, bootstrap=cluster, broker=described, topic=topic), ready
