"""The broker and the topic through which a run's messages reach its decoders."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from conformance.brokers.asked import Asked
from conformance.brokers.broker import Broker, broker
from conformance.engines.cluster import unreachable
from generators.model import Layout
from generators.publishing.cluster import Cluster


@contextlib.contextmanager
def reached(asked: Asked, note: Callable[[str], None], conf: Mapping[str, str]) -> Iterator[Broker]:
    """The broker; a line says so if the machines of a session with these settings may not reach it."""
    with broker(asked.spec, note=note, reached=asked.at) as started:
        if why := unreachable(conf, started.kind, started.bootstrap):
            getattr(note, "line", note)(why)
        yield started


@contextlib.contextmanager
def transport(
    asked: Asked, note: Callable[[str], None], conf: Mapping[str, str] = {}
) -> Iterator[tuple[Cluster | None, str, str]]:
    """A broker and a run topic, as (cluster, broker's description, topic); (None, "none", "") without a broker."""
    if not asked.kafka:
        yield None, "none", ""
        return
    from generators.publishing import kafka

    with (
        reached(asked, note, conf) as started,
        kafka.run_topic(started.cluster, Layout().partitions, note=note) as topic,
    ):
        yield started.cluster, f"{started.kind} {started.bootstrap}", topic
