"""The broker that a user asks for, and what its clients need to reach it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from conformance.brokers.broker import KINDS, check_spec, parse_bootstrap
from conformance.brokers.spark_options import spark_options
from generators.errors import UsageError
from generators.publishing import properties as given
from generators.publishing.cluster import PREFIX, Cluster

_ACCESS = ("security.", "sasl.", "ssl.", "enable.ssl.")
"""Beginnings of the names of properties that say how a client logs in; brokers that the harness
starts need no login.
"""


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """`spec` is none, auto, embedded, container or HOST:PORT; `properties` are those of its
    clients, in librdkafka's names.

    A run uses `topic`, if it is given, which must exist; else it creates topics whose names begin
    with `prefix`. `registry` is the URL of the user's schema registry, if there is one.
    """

    spec: str = "auto"
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    topic: str = ""
    prefix: str = PREFIX
    registry: str = ""

    @property
    def kafka(self) -> bool:
        """Whether there is a broker at all."""
        return self.spec != "none"

    def at(self, bootstrap: str) -> Cluster:
        """The cluster at the address of the broker, once it runs."""
        return Cluster(bootstrap, self.properties, self.prefix, self.topic)

    def check_spark(self) -> None:
        """Raises UsageError for a property that Spark's Kafka source does not have, so that it is
        reported before anything starts.
        """
        spark_options(self.at(self.spec))


def broker_options(
    spec: str | None = None,
    config: Path | None = None,
    pairs: Iterable[tuple[str, str]] = (),
    topic: str | None = None,
    prefix: str | None = None,
    registry: str | None = None,
) -> BrokerOptions:
    """The broker of --broker, --broker-config, --broker-property, --topic, --topic-prefix and
    --registry. Without a `spec` the file may name it, else it is auto. Raises UsageError for
    properties that are unknown, cannot be given, or belong to no running broker.
    """
    properties = (given.read(config) if config else {}) | dict(pairs)
    broker_named = [properties.pop(name) for name in given.SERVERS if name in properties]
    if spec in (None, "auto") and broker_named:
        spec = broker_named[0]
        if parse_bootstrap(spec) is None:
            raise UsageError(
                f"property {given.SERVERS[0]} of the broker: {spec!r} is not HOST:PORT, or several"
                " with commas"
            )
    spec = spec or "auto"
    if spec != "none":
        check_spec(spec)
    if spec in (*KINDS, "none"):
        for name in properties:
            if spec == "none" or name.startswith(_ACCESS):
                raise UsageError(
                    f"property {name} of the broker needs a running one, --broker HOST:PORT; this"
                    f" is --broker {spec}"
                )
        if topic:
            raise UsageError(
                f"--topic {topic} needs a running broker, --broker HOST:PORT; this is --broker"
                f" {spec}"
            )
    broker = BrokerOptions(spec, properties, topic or "", prefix or PREFIX, registry or "")
    if properties:
        given.check(broker.at(spec))
    return broker
