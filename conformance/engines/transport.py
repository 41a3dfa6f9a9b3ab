"""Starts what decoders need: a schema registry, an engine, and the broker that carries messages to
it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from conformance.brokers import registry
from conformance.brokers.asked import BrokerOptions
from conformance.brokers.broker import broker
from conformance.brokers.jars import Note
from conformance.engines.cluster import unreachable_broker
from conformance.engines.specs import is_command
from generators.publishing.cluster import Cluster

Started = TypeVar("Started")


@contextlib.contextmanager
def serve_engine(
    formats: Sequence[str],
    broker_options: BrokerOptions,
    conf: Mapping[str, str],
    note: Note,
    engine: Callable[[], AbstractContextManager[Started]],
    decoder: object = None,
) -> Iterator[tuple[Started, Cluster | None, str]]:
    """A context of a started engine, which the function `engine` makes: yields the engine with the
    broker's cluster and a description of the broker; without a broker these are None and "none".

    A registry of schemas is reachable within the context, if the formats need one. `note` gets a
    line if the session's other machines may not reach the broker.
    """
    with registry.reachable_registry(formats, broker_options, note), engine() as started:
        note(
            "starting the decoder"
            if is_command(decoder)
            else f"starting Spark{' and Kafka' if broker_options.kafka else ''}"
        )
        if not broker_options.kafka:
            yield started, None, "none"
            return
        with broker(broker_options.spec, note=note, cluster_at=broker_options.at) as running:
            if why := unreachable_broker(conf, running.kind, running.bootstrap):
                getattr(note, "line", note)(why)
            yield started, running.cluster, f"{running.kind} {running.bootstrap}"
