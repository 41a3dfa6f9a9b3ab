"""A Kafka broker: already running, in a container, or started from Maven jars."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.brokers.container import (
    EngineMissing,
    ImageMissing,
    container,
    engine,
    image_name,
    need_image,
)
from conformance.brokers.embedded import EmbeddedKafka
from conformance.brokers.jars import cached_jars, kafka_jars
from generators.errors import HarnessError, UnknownName, UsageError
from generators.publishing.cluster import Cluster, parse_port
from generators.publishing.kafka import check_reachable

KINDS = ("auto", "embedded", "container")
"""What `--broker` can be beside HOST:PORT and none."""
AUTO_PULL_S = 45
"""Time limit of pulling an image if the embedded broker can be used instead, in seconds."""
PULL_S = 900
"""Time limit of pulling an image if the user asked for a container, in seconds."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A running broker. `kind` is embedded, container or running; `detail` describes it."""

    kind: str
    cluster: Cluster
    detail: str

    @property
    def bootstrap(self) -> str:
        """HOST:PORT."""
        return self.cluster.bootstrap


def parse_bootstrap(spec: str) -> str | None:
    """Returns `spec` if it is HOST:PORT, or several of them, separated by commas; None for any
    other text. An IPv6 address is in brackets. Raises UsageError for a port outside 1 to 65535.
    """
    addresses = spec.split(",")
    for address in addresses:
        match = re.fullmatch(
            r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?):([0-9]+)", address
        )
        if match is None:
            return None
        if parse_port(match[1]) is None:
            raise UsageError(f"broker {spec[:200]!r}: port {match[1][:20]} is outside 1 to 65535")
    return spec


def check_spec(spec: str) -> str:
    """Returns `spec`, what a user gave as `--broker`, if the function `broker` accepts it. Raises
    UsageError with the legal values and the nearest match otherwise.
    """
    if spec in KINDS or parse_bootstrap(spec) is not None:
        return spec
    if spec == "none":
        raise UsageError(
            "broker 'none' means no Kafka, but this needs one: auto, embedded, container or"
            " HOST:PORT"
        )
    raise UnknownName("broker", spec, (*KINDS, "none", "HOST:PORT"))


def _quiet(line: str) -> None:
    """The default of `note`: ignores the line."""


@contextlib.contextmanager
def broker(
    spec: str = "auto",
    *,
    note: Callable[[str], None] = _quiet,
    cluster_at: Callable[[str], Cluster] = Cluster,
) -> Iterator[Broker]:
    """The broker of `spec`; one that is started here is stopped afterwards. `cluster_at` gives an
    address its clients' properties.

    `embedded` starts Kafka from Maven jars as a Java process on loopback, `container` an image
    (CDC_CONFORMANCE_KAFKA_IMAGE, else Apache Kafka's own) with testcontainers, HOST:PORT uses a
    running one. `auto` takes the container if a Docker engine answers and has the image or pulls it
    quickly, else the embedded one. `note` receives progress, and the choice of `auto` with its
    reason. Raises UsageError for any other `spec`, HarnessError if no broker can be started.
    """
    check_spec(spec)
    with contextlib.ExitStack() as stack:
        running: Broker | None = None
        if spec not in KINDS:
            running = Broker("running", cluster_at(spec), "a running broker")
            check_reachable(running.cluster)
        elif spec != "embedded":
            running = _start_container(stack, spec, note, cluster_at)
        # None for `embedded`, and where `auto` does not take the container.
        if running is None:
            kafka = stack.enter_context(EmbeddedKafka(note))
            running = Broker("embedded", cluster_at(kafka.bootstrap), kafka.detail)
        note(f"Kafka at {running.bootstrap}: {running.detail}")
        yield running


def ahead(spec: str, note: Callable[[str], None]) -> None:
    """Starts to download the jars of the broker that `broker` will start, while Spark's own are
    prepared. An error is only reported when the broker starts.
    """

    def fetch() -> None:
        """Downloads Kafka's jars, unless they are in the cache or (`auto`) a container engine
        answers, so that no jars are needed.
        """
        with contextlib.suppress(HarnessError):
            if cached_jars() is not None:
                return
            if spec == "auto":
                with contextlib.suppress(EngineMissing):
                    engine().close()
                    return
            kafka_jars(note)

    if spec in ("auto", "embedded"):
        threading.Thread(target=fetch, name="cdc-jars", daemon=True).start()


def _start_container(
    stack: contextlib.ExitStack,
    spec: str,
    note: Callable[[str], None],
    reached: Callable[[str], Cluster],
) -> Broker | None:
    """Starts a broker in a container, which is removed when `stack` is closed. `reached` makes the
    cluster of an address, with the properties that its clients need. If no container is possible,
    returns None for the `spec` auto, and raises for container.
    """
    auto = spec == "auto"
    try:
        client = engine()
        stack.callback(client.close)
        image = image_name()
        need_image(client, image, note, limit_s=AUTO_PULL_S if auto else PULL_S)
    except (EngineMissing, ImageMissing) as error:
        if not auto:
            raise
        note(f"broker auto uses the embedded Kafka: {error}")
        return None
    if auto:
        note(f"broker auto uses the container: a Docker engine answers and has {image}")
    # The engine may take longer to create a container than to answer a ping.
    client.api.timeout = 60
    bootstrap = stack.enter_context(container(client, image))
    return Broker("container", reached(bootstrap), f"container of {image}")
