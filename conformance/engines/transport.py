"""The broker and the topic through which a run's messages reach its decoders."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from conformance.brokers.asked import Asked
from conformance.brokers.broker import broker
from conformance.engines.cluster import unreachable
from generators.model import Layout
from generators.publishing.cluster import Cluster


@contextlib.contextmanager
def reached(asked: Asked, note: Callable[[str], None], conf: Mapping[str, str]) -> Iterator[tuple[Cluster | None, str]]:
    """The broker, described; or (None, "none"). A line says so if machines of a session with these settings may not reach it."""
    if not asked.kafka:
        yield None, "none"
        return
    with broker(asked.spec, note=note, reached=asked.at) as started:
        if why := unreachable(conf, started.kind, started.bootstrap):
            getattr(note, "line", note)(why)
        yield started.cluster, f"{started.kind} {started.bootstrap}"


@contextlib.contextmanager
def transport(
    asked: Asked, note: Callable[[str], None], conf: Mapping[str, str] = {}
) -> Iterator[tuple[Cluster | None, str, str]]:
    """A broker and a run topic, as (cluster, broker's description, topic); (None, "none", "") without a broker."""
    with reached(asked, note, conf) as (cluster, described):
        if cluster is None:
            yield None, described, ""
            return
        from generators.publishing import kafka

        with kafka.run_topic(cluster, Layout().partitions, note=note) as topic:
            yield cluster, described, topic
