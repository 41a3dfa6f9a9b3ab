"""Runs servers as Java child processes on loopback; one of them is a Kafka broker, a single KRaft
node from Maven jars (Kafka 4.3.1).
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import tempfile
import time
import uuid
from abc import abstractmethod
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from conformance.brokers.archive import (
    archive_options,
    discard_archive,
    kafka_classes,
    split_archive,
)
from conformance.brokers.guarded import Guarded
from conformance.brokers.jars import QUICK, Java, Note, kafka_jars, require_java
from conformance.closing import Closing
from conformance.files import has_seal, matches_seal, put, remove_sealed, write_seal
from generators.errors import HarnessError
from generators.publishing.kafka import check_reachable

HEAP = "-Xmx512m"
"""The Java option of the broker's heap."""
_ATTEMPTS = 4
"""Starts that are tried, each on other ports, if another process takes a port."""
_LOG_LINES = 15
"""Lines of the server's log that an error text has."""
# Below the ephemeral ports of Linux (32768-60999) and macOS, so that no outgoing connection takes
# the port or connects to itself.
_PORTS = range(20_000, 32_000)

PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    # Its default of 128 MiB is a quarter of the heap.
    "log.cleaner.dedupe.buffer.size": "4194304",
    # Else an idle controller writes a record twice a second, half of what an idle broker costs.
    "metadata.max.idle.interval.ms": "0",
}
"""Properties of every embedded broker, without ports and directory. Replication is 1, because there
is one node.
"""


class PortTaken(HarnessError):
    """Another process took the port between its choice and the broker's start."""


def free_ports(count: int) -> list[int]:
    """`count` different free TCP ports at 127.0.0.1. Raises HarnessError if there are not
    enough.
    """
    ports: list[int] = []
    for port in random.SystemRandom().sample(_PORTS, 400):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        ports.append(port)
        if len(ports) == count:
            return ports
    raise HarnessError(
        f"no free TCP port on 127.0.0.1 between {_PORTS.start} and {_PORTS.stop - 1}"
    )


_CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
"""Signals that kill a program for an error of its own."""


def has_crashed(code: int) -> bool:
    """Whether a guarded process was killed by a signal of its own, such as SIGABRT. `code` is the
    exit code of its guardian, a byte: 250 stands for signal 6.
    """
    return code & 0xFF in {0x100 - crash for crash in _CRASHES}


class JavaServer(Closing):
    """A context manager that runs a Java program on loopback and removes it afterwards; if this
    process dies, a guardian process does that. A subclass gives `title` (for messages), `timeout_s`
    (the limit of a start) and `ports` (how many it needs).

    `start` returns when it answers; `stop` and `start` restart it with the same data and port.
    `close` also removes the data. Raises HarnessError with the end of its log if it does not answer
    in time, and the errors of its jars and `require_java`.
    """

    title: str
    timeout_s: float
    ports: int

    def __init__(self, note: Note) -> None:
        self._note = note
        self._java: Java | None = None
        self._jars: list[Path] = []
        self._dir: Path | None = None
        self._ports: list[int] = []
        self._arguments: Sequence[str] = ()
        self._process: Guarded | None = None

    @abstractmethod
    def _fetch_jars(self) -> list[Path]:
        """The server's jars, downloaded if they are not there."""

    @abstractmethod
    def _prepare(self) -> Sequence[str]:
        """Prepares the server's directory, and returns the Java arguments that start it."""

    @abstractmethod
    def _is_answering(self) -> bool:
        """Whether the server answers requests."""

    @property
    def directory(self) -> Path:
        """The folder with the server's data and log."""
        assert self._dir is not None
        return self._dir

    @property
    def pid(self) -> int | None:
        """The id of the Java process while it runs; else None."""
        return (
            self._process.pid
            if self._process is not None and self._process.exit_code() is None
            else None
        )

    def __enter__(self) -> Self:
        try:
            self._java = require_java()
            self._jars = self._fetch_jars()
            for attempt in range(1, _ATTEMPTS + 1):
                self._ports = free_ports(self.ports)
                self._dir = Path(tempfile.mkdtemp(prefix="cdc-conformance-java-"))
                self._arguments = self._prepare()
                try:
                    self.start()
                    break
                except PortTaken:
                    self.close()
                    if attempt == _ATTEMPTS:
                        raise
                    self._note(
                        f"another process took the port; starting {self.title} on another port"
                    )
        except BaseException:
            self.close()
            raise
        return self

    def _run(self, arguments: Sequence[str]) -> Guarded:
        """Starts Java with the arguments as a guarded process; its output goes to `server.log` in
        the server's directory.
        """
        assert self._java is not None
        command = [
            self._java.path,
            "-Djava.awt.headless=true",
            f"-Djava.io.tmpdir={self.directory}",
            f"-XX:ErrorFile={self.directory}/hs_err_pid%p.log",
            *arguments,
        ]
        with (self.directory / "server.log").open("ab") as log:
            return Guarded(
                command, output=log, pid_file=self.directory / "pid", remove=self.directory
            )

    def start(self) -> None:
        """Starts the process and waits until it answers; a running process is killed first. A
        process that crashes with an archive of classes is started once more without the archive.
        Raises PortTaken or HarnessError.
        """
        self.stop()
        self._process = self._run(self._arguments)
        deadline = time.monotonic() + self.timeout_s
        while True:
            code = self._process.exit_code()
            if code is not None and self._discard_archive(code):
                self.start()
                return
            if code is not None:
                tail = self.log_tail()
                kind = (
                    PortTaken if re.search("already in use|BindException", tail) else HarnessError
                )
                raise kind(
                    f"{self.title} ended with exit code {code} while starting. The end of its"
                    f" log:\n{tail}"
                )
            if self._is_answering() and self._process.exit_code() is None:
                return
            if time.monotonic() > deadline:
                tail = self.log_tail()
                self.stop()
                raise HarnessError(
                    f"{self.title} did not answer in {self.timeout_s:.0f} s. The end of its"
                    f" log:\n{tail}"
                )

    def _discard_archive(self, code: int) -> bool:
        """Removes the class archive if the process crashed while it used one, so that the next
        start does without. Returns whether it did.
        """
        archive, arguments = split_archive(self._arguments)
        if archive is None or not has_crashed(code):
            return False
        self._arguments = arguments
        discard_archive(archive, f"{self.title} died of a signal", self._note_line)
        return True

    def _note_line(self, line: str) -> None:
        """Gives `note` a line that must stay on the screen, where progress lines replace one
        another.
        """
        getattr(self._note, "line", self._note)(line)

    def stop(self) -> None:
        """Kills the process and keeps its data. Does nothing if it does not run."""
        if self._process is not None:
            self._process.stop()

    def close(self) -> None:
        """Stops the server and removes its directory, data included."""
        self.stop()
        if self._dir is not None:
            shutil.rmtree(self._dir, ignore_errors=True)
            self._dir = None

    def log_tail(self) -> str:
        """The last lines of the server's log, or a remark that the log is empty."""
        try:
            log = (self.directory / "server.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            log = ""
        lines = [line for line in log.splitlines() if not line.startswith("\tat ")]
        return (
            "\n".join(f"  {line[:400]}" for line in lines[-_LOG_LINES:]) or "  (its log is empty)"
        )


class EmbeddedKafka(JavaServer):
    """A Kafka broker as a Java process. `classes` are JVM options in place of those that use the
    class archive. With a `protocol`, such as SASL_SSL, it has a second listener of that protocol,
    at the address `secured`. `properties` are added to the broker's.
    """

    title = "the embedded Kafka"
    timeout_s = 90

    def __init__(
        self,
        note: Note,
        *,
        classes: Sequence[str] = (),
        protocol: str = "",
        properties: Mapping[str, str] = {},
    ) -> None:
        super().__init__(note)
        self._classes, self._protocol, self._properties = tuple(classes), protocol, properties
        self.ports = 3 if protocol else 2

    @property
    def bootstrap(self) -> str:
        """`127.0.0.1:PORT`."""
        return f"127.0.0.1:{self._ports[0]}"

    @property
    def secured(self) -> str:
        """`127.0.0.1:PORT` of the listener with the given protocol."""
        return f"127.0.0.1:{self._ports[2]}"

    @property
    def detail(self) -> str:
        """The broker in words for the report's header: the release of Kafka and that of Java."""
        kafka = next(
            (
                jar.stem.removeprefix("kafka_")
                for jar in self._jars
                if jar.name.startswith("kafka_2.")
            ),
            "?",
        )
        return f"embedded Kafka {kafka} on Java {self._java.version if self._java else '?'}"

    def _fetch_jars(self) -> list[Path]:
        return kafka_jars(self._note)

    def _prepare(self) -> Sequence[str]:
        """Writes `server.properties`, formats the storage, and returns Java's arguments for the
        broker.
        """
        plain, controller = self._ports[:2]
        properties = PROPERTIES | {
            "listeners": f"PLAINTEXT://127.0.0.1:{plain},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{plain}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "log.dirs": str(self.directory / "data"),
            **self._properties,
        }
        if self._protocol:
            address = f",SECURED://{self.secured}"
            properties |= {
                name: properties[name] + address for name in ("listeners", "advertised.listeners")
            }
            properties["listener.security.protocol.map"] += f",SECURED:{self._protocol}"
        properties_text = "".join(f"{name}={value}\n" for name, value in properties.items())
        (self.directory / "server.properties").write_text(properties_text, encoding="utf-8")
        self._format(self.directory / "data")
        flags = self._classes or archive_options(kafka_classes(), self._note_line)
        return self._program(flags, "kafka.Kafka", (str(self.directory / "server.properties"),))

    def _format(self, data: Path) -> None:
        """Formats the broker's storage. The first time Kafka's own tool does it, which is a JVM of
        its own; the file that it writes about a new cluster's features is the same for the same
        jars, and is kept in the cache for later brokers.
        """
        archive, features = kafka_classes(), data / "bootstrap.checkpoint"
        cached_features = archive.with_suffix(features.suffix) if archive else None
        cluster, directory = (
            urlsafe_b64encode(uuid.uuid4().bytes).decode("ascii").rstrip("=") for _ in range(2)
        )
        if cached_features and has_seal(cached_features) and not matches_seal(cached_features):
            remove_sealed(cached_features)
            self._note_line(
                f"{cached_features} is damaged, and is made again: its SHA-256 is another"
            )
        if cached_features and matches_seal(cached_features):
            data.mkdir()
            shutil.copyfile(cached_features, features)
            cluster_ids = {
                "version": 1,
                "cluster.id": cluster,
                "node.id": PROPERTIES["node.id"],
                "directory.id": directory,
            }
            (data / "meta.properties").write_text(
                "".join(f"{name}={value}\n" for name, value in cluster_ids.items()), "utf-8"
            )
            return
        # StorageTool reads an id that begins with a dash as an option.
        arguments = (
            "format",
            f"--cluster-id={cluster}",
            f"--config={self.directory / 'server.properties'}",
        )
        self._arguments = self._program(
            archive_options(archive, self._note_line), "kafka.tools.StorageTool", arguments
        )
        code = self._run_to_end()
        if code is not None and self._discard_archive(code):
            code = self._run_to_end()
        if code != 0:
            what = "did not end in time" if code is None else f"ended with exit code {code}"
            raise HarnessError(
                "the embedded Kafka's storage could not be formatted: the tool"
                f" {what}.\n{self.log_tail()}"
            )
        if cached_features:
            with contextlib.suppress(HarnessError):
                put(cached_features, lambda: [features.read_bytes()])
                write_seal(cached_features)

    def _run_to_end(self) -> int | None:
        """Runs Java until it exits. Returns its exit code, or None when the time is over."""
        program = self._run(self._arguments)
        try:
            return program.wait(self.timeout_s)
        finally:
            program.stop()

    def _program(self, flags: Sequence[str], main: str, arguments: Sequence[str]) -> Sequence[str]:
        """The arguments of Java for a main class of Kafka (the broker or its storage tool): heap,
        flags, logging and class path, then those of the class.
        """
        logging = (
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.showDateTime=true",
        )
        return [
            HEAP,
            *QUICK,
            *flags,
            *logging,
            "-cp",
            os.pathsep.join(map(str, self._jars)),
            main,
            *arguments,
        ]

    def _is_answering(self) -> bool:
        """Whether the broker answers a client within a second."""
        with contextlib.suppress(HarnessError):
            check_reachable(self.bootstrap, timeout_s=1)
            return True
        return False

    def end(self, timeout_s: float) -> int | None:
        """Ends the broker with SIGTERM, as a user would. Returns its exit code, or None if it still
        runs after `timeout_s` seconds.
        """
        assert self._process is not None
        if (pid := self.pid) is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return self._process.wait(timeout_s)

    def kill(self) -> None:
        """Kills the process, as in a crash."""
        pid = self.pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
