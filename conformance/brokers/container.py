"""A Kafka broker in a container, for images like Apache Kafka's (KRaft, configured by KAFKA_*
variables).

`testcontainers.kafka` starts Confluent's images only, hence this class.
testcontainers and the Docker SDK are imported on first use.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from conformance.brokers.embedded import HEAP, PROPERTIES, free_ports
from conformance.brokers.guarded import Guarded
from conformance.brokers.jars import KAFKA_VERSION, Note
from generators.errors import HarnessError
from generators.publishing.kafka import check_reachable

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

IMAGE = f"apache/kafka:{KAFKA_VERSION}"
PING_S = 5
"""Seconds in which a container engine must answer."""
_ATTEMPTS = 4
"""Starts that are tried, each on another port, if another process takes the port."""
_LOG_LINES = 15
"""Lines of the container's log that an error text has."""

SETTINGS = {
    f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in PROPERTIES.items()
} | {"KAFKA_HEAP_OPTS": HEAP}
"""The variables that do not depend on the port. One KAFKA_ variable replaces the image's whole
default configuration.
"""

# The guardian runs this in its own Python. The engine may still be creating the container when we
# are killed.
_REMOVE = """
import sys, time, docker
client = docker.from_env(timeout=30)
for _ in range(5):
    try:
        client.containers.get(sys.argv[1]).remove(force=True, v=True)
        break
    except docker.errors.NotFound:
        time.sleep(1)
"""


class EngineMissing(HarnessError):
    """No container engine answers, or its Python library is missing."""


class ImageMissing(HarnessError):
    """The engine does not have the image and cannot get it."""


def image_name() -> str:
    """The image: CDC_CONFORMANCE_KAFKA_IMAGE, else Apache Kafka's official one."""
    return os.environ.get("CDC_CONFORMANCE_KAFKA_IMAGE") or IMAGE


def engine() -> Any:
    """A Docker SDK client whose engine answers. The caller closes it. Raises EngineMissing with the
    remedy.
    """
    try:
        import docker  # type: ignore[import-untyped]
        import testcontainers.core.container  # noqa: F401
    except ImportError as error:
        raise EngineMissing(
            f"testcontainers is not installed ({error}): {sys.executable} -m pip install"
            " 'cdc-conformance[container]'"
        ) from error
    client = None
    try:
        client = docker.from_env(timeout=PING_S)
        client.ping()
    except Exception as error:
        if client is not None:
            client.close()
        where = os.environ.get("DOCKER_HOST", "its default socket")
        raise EngineMissing(
            f"no Docker engine answers at {where} ({_shorten_error(error)}). Start it, or set DOCKER_HOST; "
            "without an engine use --broker embedded."
        ) from error
    return client


def _shorten_error(error: BaseException) -> str:
    """An error on one line of at most 200 characters."""
    message = " ".join(str(error).split())
    return message if len(message) <= 200 else message[:197] + "..."


def _name_with_registry(image: str) -> str:
    """The full name of an image: with the prefix of the registry that testcontainers is configured
    to use, if any.
    """
    from testcontainers.core.config import testcontainers_config

    return testcontainers_config.hub_image_name_prefix + image


def has_image(client: Any, image: str) -> bool:
    """Whether the engine has the image."""
    import docker

    try:
        client.images.get(_name_with_registry(image))
    except docker.errors.ImageNotFound:
        return False
    return True


def need_image(client: Any, image: str, note: Note, *, limit_s: float) -> None:
    """Pulls the image unless the engine has it. Raises ImageMissing if that fails or takes more
    than `limit_s` seconds.
    """
    import docker

    full = _name_with_registry(image)
    if has_image(client, image):
        return
    note(f"pulling the image {full}, for at most {limit_s:.0f} s")
    failure: list[str] = []

    def pull() -> None:
        """Pulls the image with a client of its own; an error goes into `failure`, since it cannot
        leave the thread.
        """
        puller = docker.from_env(timeout=max(1, int(limit_s)))
        try:
            puller.images.pull(full)
        except Exception as error:  # noqa: BLE001 - any error means that there is no image
            failure.append(_shorten_error(error))
        finally:
            puller.close()

    # A daemon thread: the SDK cannot be interrupted, and the engine may finish the pull later.
    thread = threading.Thread(target=pull, daemon=True, name="pull")
    began = last = time.monotonic()
    thread.start()
    while thread.is_alive() and time.monotonic() - began < limit_s:
        thread.join(0.2)
        if time.monotonic() - last > 10:
            last = time.monotonic()
            note(f"pulling the image {full}: {last - began:.0f} s")
    if thread.is_alive():
        failure.append(f"not pulled within {limit_s:.0f} s")
    if failure:
        raise ImageMissing(
            f"the engine has no image {full} and cannot pull it ({failure[0]}). Pull or build it,"
            " name another image in CDC_CONFORMANCE_KAFKA_IMAGE, or use --broker embedded."
        )


def _host(client: Any) -> str:
    """The host name at which this process reaches the ports that containers publish."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.docker_client import DockerClient

    if testcontainers_config.tc_host_override:
        return testcontainers_config.tc_host_override
    # An engine inside our own container publishes its ports here, not at the gateway that
    # testcontainers uses.
    if client.info().get("Name") == socket.gethostname():
        return "127.0.0.1"
    docker_client = DockerClient()
    try:
        host = docker_client.host()
    finally:
        docker_client.client.close()
    return "127.0.0.1" if host == "localhost" else host


@contextlib.contextmanager
def _ryuk_if_there(client: Any) -> Iterator[None]:
    """A context in which testcontainers starts its own cleaner (the container Ryuk) only if the
    engine has its image already, so that it is not pulled. Containers are removed without it, too,
    by the guardian process.
    """
    from testcontainers.core.config import testcontainers_config

    before = testcontainers_config.ryuk_disabled
    testcontainers_config.ryuk_disabled = before or not has_image(
        client, testcontainers_config.ryuk_image
    )
    try:
        yield
    finally:
        testcontainers_config.ryuk_disabled = before


def _container(image: str, host: str, port: int, name: str) -> DockerContainer:
    """The container, not yet started, of an image like Apache Kafka's. Clients reach it at `host`
    and `port`; the port is the same inside and outside, so that the broker can reach its own
    address.
    """
    from testcontainers.core.container import DockerContainer

    class ApacheKafka(DockerContainer):
        """An image like Apache Kafka's as a single KRaft node."""

        def __init__(self) -> None:
            super().__init__(image, name=name)
            controller = port + 1 if port < 65535 else port - 1
            self.with_envs(
                **SETTINGS,
                KAFKA_LISTENERS=f"PLAINTEXT://0.0.0.0:{port},CONTROLLER://localhost:{controller}",
                KAFKA_ADVERTISED_LISTENERS=f"PLAINTEXT://{host}:{port}",
                KAFKA_CONTROLLER_QUORUM_VOTERS=f"1@localhost:{controller}",
            )
            # Published on loopback only, where that is enough.
            self.ports[f"{port}/tcp"] = ("127.0.0.1", port) if host == "127.0.0.1" else port  # type: ignore[assignment]

    return ApacheKafka()


def _tail(client: Any, name: str) -> str:
    """The last lines of the log of a container, for an error text; if there is no log, a line that
    says why. Never raises.
    """
    try:
        lines = (
            client.containers.get(name)
            .logs(tail=_LOG_LINES)
            .decode("utf-8", errors="replace")
            .splitlines()
        )
    except Exception as error:  # noqa: BLE001 - the log is optional
        return f"  (no log: {_shorten_error(error)})"
    return "\n".join(f"  {line[:400]}" for line in lines) or "  (its log is empty)"


def _remove(client: Any, name: str) -> None:
    """Kills and removes a container with its volumes; one that is gone is passed over."""
    import docker

    with contextlib.suppress(docker.errors.NotFound):
        client.containers.get(name).remove(force=True, v=True)


def container_prefix(pid: int) -> str:
    """The beginning of the names of the containers that a process starts."""
    return f"cdc-conformance-kafka-{pid}-"


@contextlib.contextmanager
def container(client: Any, image: str, *, timeout_s: float = 240) -> Iterator[str]:
    """Starts the image, yields HOST:PORT of a broker that answers, and always removes the
    container.

    Raises HarnessError with the end of the container's log if it does not start within `timeout_s`
    seconds.
    """
    import docker

    host = _host(client)
    for attempt in range(1, _ATTEMPTS + 1):
        port = free_ports(1)[0]
        name = f"{container_prefix(os.getpid())}{uuid.uuid4().hex[:12]}"
        guardian = Guarded(None, afterwards=[sys.executable, "-c", _REMOVE, name])
        box: DockerContainer | None = None
        try:
            try:
                with _ryuk_if_there(client):
                    box = _container(image, host, port, name)
                    box.start()
            except docker.errors.APIError as error:
                port_taken = any(
                    complaint in str(error)
                    for complaint in ("port is already allocated", "address already in use")
                )
                if port_taken and attempt < _ATTEMPTS:
                    continue
                raise HarnessError(
                    f"the image {image} cannot be started: {_shorten_error(error)}"
                ) from error
            _wait(client, name, image, f"{host}:{port}", timeout_s)
            yield f"{host}:{port}"
            return
        finally:
            _remove(client, name)
            guardian.stop()
            if box is not None:
                box.get_docker_client().client.close()


def _wait(client: Any, name: str, image: str, bootstrap: str, timeout_s: float) -> None:
    """Waits until Kafka in the container `name`, which has been started, answers at `bootstrap`.
    Raises HarnessError with the end of its log if the container has ended or `timeout_s` seconds
    are over.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        with contextlib.suppress(HarnessError):
            check_reachable(bootstrap, timeout_s=1)
            return
        status = client.containers.get(name).status
        if status not in ("created", "running"):
            raise HarnessError(
                f"the container of {image} is {status} instead of running. The end of its"
                f" log:\n{_tail(client, name)}"
            )
        if time.monotonic() > deadline:
            raise HarnessError(
                f"Kafka in the container of {image} does not answer at {bootstrap} within"
                f" {timeout_s:.0f} s. The end of its log:\n{_tail(client, name)}"
            )
