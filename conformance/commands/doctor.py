"""Checks this machine for Java, Spark, jars, a broker, a container engine, memory and disk; the
command `doctor`.

No check in `CHECKS` starts a JVM (except `java -version`), a broker or a download, and each takes a
few seconds at most. `starts` (with --start) starts Spark and Kafka.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from conformance.commands.brokers import BrokerSpec, asks_broker
from conformance.commands.shell import FORMAT, OutputStyle, Progress
from conformance.files import FAILURES, json_text
from conformance.sheets import markdown_table
from generators.errors import HarnessError
from generators.publishing.cluster import Target, as_cluster

if TYPE_CHECKING:
    from conformance.brokers.asked import BrokerOptions

MEMORY_MB = 3_000
"""Free memory that a Spark driver of 2 GB and a broker of 512 MB need, in MB."""
DISK_MB = 2_000
"""Free disk space that jars (about 150 MB) and the temporary files of Spark and the broker need, in
MB.
"""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: what it found (`state`), and after a failure the remedy and the
    commands that need the missing part.

    `remedy` has a command to copy in backquotes, if there is one. `required`: every run needs the
    part, not only some commands.
    """

    name: str
    ok: bool
    state: str
    remedy: str
    needed_for: str
    required: bool = False

    @property
    def command(self) -> str:
        """The command in the remedy's text, which stands there between backquotes; "" if it has
        none.
        """
        match = re.search(r"`([^`]+)`", self.remedy)
        return match[1] if match else ""

    def as_json(self) -> dict[str, Any]:
        """The result of the check as a JSON-able object."""
        facts = {
            "name": self.name,
            "ok": self.ok,
            "found": self.state,
            "remedy": self.remedy,
            "command": self.command,
        }
        return facts | {"needed_for": self.needed_for, "required": self.required}


class Outcome(NamedTuple):
    """What a check function returns: whether the check passed, what it found, and the remedy for a
    failure.
    """

    is_right: bool
    state: str
    remedy: str


def check_python() -> Outcome:
    """Checks that this Python is 3.11 or later."""
    return Outcome(
        sys.version_info >= (3, 11),
        f"{platform.python_version()} at {sys.executable}",
        "use Python 3.11 or later",
    )


def check_packages() -> Outcome:
    """Checks that no folder or file of the user hides one of our three packages from Python."""
    from conformance.shadow import HOME, PACKAGES, explain, shadows

    hidden = shadows()
    if hidden:
        return Outcome(
            False,
            "; ".join(f"{path} hides {name}" for name, path in hidden.items()),
            explain(hidden),
        )
    return Outcome(True, f"{', '.join(PACKAGES)} in {HOME}", "")


def check_java() -> Outcome:
    """Checks that a Java is installed which the installed release of Spark supports."""
    from conformance.brokers import spark
    from conformance.brokers.jars import find_java

    install = (
        "brew install openjdk@17"
        if sys.platform == "darwin"
        else "apt-get install openjdk-17-jre-headless"
    )
    release = _version("pyspark") or "4.0"
    words = spark.java_words(release)
    remedy = f"install {words}, for example with `{install}`, or set JAVA_HOME"
    try:
        java = find_java()
        spark.check_java(release, java)
    except HarnessError as error:
        return Outcome(False, _first(error), remedy)
    between = (
        ""
        if java.version in spark.supported_javas(release)
        else f"; Spark {release} is made for {words}"
    )
    return Outcome(True, f"{java.text} at {java.path}{between}", remedy)


def check_pyspark() -> Outcome:
    """Checks that pyspark is installed, and says its release, without importing it."""
    version = _version("pyspark")
    remedy = _install("pyspark>=4.0,<5")
    return Outcome(
        version is not None and version.split(".")[0] == "4", version or "not installed", remedy
    )


def check_connector() -> Outcome:
    """Checks that the jars of Spark's Kafka source and Avro functions are in the cache or named by
    the user.
    """
    from conformance.brokers import spark

    try:
        cached, missing = spark.state()
    except HarnessError as error:
        return Outcome(False, _first(error), f"name existing jars in {spark.JARS}, or none")
    words = [
        *cached.values(),
        *(f"not cached yet: {spark.MODULES[name].artefacts[0]}" for name in missing),
    ]
    remedy = (
        "none with access to a Maven registry: they are downloaded on first use, or now with"
        f" {_PREPARE}"
    )
    return Outcome(not missing, "; ".join(words), remedy)


def check_client() -> Outcome:
    """Checks that the Kafka client (confluent-kafka) is installed, and says its release."""
    if _version("confluent-kafka") is None:
        return Outcome(False, "not installed", _install("confluent-kafka"))
    import confluent_kafka

    return Outcome(
        True, f"{_version('confluent-kafka')} (librdkafka {confluent_kafka.libversion()[0]})", ""
    )


def check_kafka_jars() -> Outcome:
    """Checks that the jars of the embedded broker are in the cache or named by the user."""
    from conformance.brokers.jars import KAFKA, KAFKA_VERSION, altered_jars, cached_jars
    from conformance.files import cache_dir

    jars = cached_jars()
    altered = ", ".join(altered_jars(KAFKA) or ())
    missing = f"changed since the download: {altered}" if altered else "not cached"
    remedy = (
        "none with access to a Maven registry: they are downloaded on first use (a minute), or now"
        f" with {_PREPARE}; offline, set CDC_CONFORMANCE_KAFKA_JARS to the folder libs of a Kafka"
        f" {KAFKA_VERSION} distribution"
    )
    return Outcome(
        bool(jars),
        f"{len(jars)} in {jars[0].parent}" if jars else f"{missing} in {cache_dir()}",
        remedy,
    )


def check_testcontainers() -> Outcome:
    """Checks that testcontainers, an optional dependency, is installed."""
    version = _version("testcontainers")
    return Outcome(
        version is not None, version or "not installed", _install("cdc-conformance[container]")
    )


def check_docker() -> Outcome:
    """Checks that a Docker engine answers, and says whether it has the broker's image."""
    from conformance.brokers.container import EngineMissing, engine, has_image, image_name

    try:
        client = engine()
    except EngineMissing as error:
        start = "open -a Docker" if sys.platform == "darwin" else "systemctl start docker"
        remedy = (
            f"start it, for example with `{start}`, or set DOCKER_HOST; without one use --broker"
            " embedded"
        )
        if _version("testcontainers") is None:
            remedy = _install("cdc-conformance[container]")
        return Outcome(False, _first(error), remedy)
    try:
        image_state = "with" if has_image(client, image_name()) else "without (it would be pulled)"
        return Outcome(
            True,
            f"engine {client.version().get('Version', '?')} {image_state} the image {image_name()}",
            "",
        )
    finally:
        client.close()


def check_memory() -> Outcome:
    """Checks how much memory is available without swapping."""
    try:
        meminfo = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        meminfo = ""
    match = re.search(r"MemAvailable:\s+(\d+) kB", meminfo)
    if match is None:
        return Outcome(True, "unknown on this system", "")
    free = int(match[1]) >> 10
    return Outcome(
        free >= MEMORY_MB,
        f"{free:,} MB",
        f"free some: a Spark driver and a broker need about {MEMORY_MB:,} MB",
    )


def check_disk() -> Outcome:
    """Checks that the disks of the cache and of temporary files have enough free space and can be
    written, and says how much the cache of named cases takes.
    """
    from conformance.cases import kept
    from conformance.files import cache_dir

    cache = cache_dir()
    places = {
        Path(tempfile.gettempdir()),
        next(place for place in (cache, *cache.parents) if place.exists()),
    }
    free = {place: shutil.disk_usage(place).free >> 20 for place in sorted(places)}
    locked = [str(place) for place in free if not os.access(place, os.W_OK)]
    state = ", ".join(f"{room:,} MB in {place}" for place, room in free.items())
    state += f"; not writable: {', '.join(locked)}" if locked else ""
    state += (
        f"; {kept.total_bytes() >> 20} MB of named cases in {kept.cache_root()}"
        if kept.cache_root().is_dir()
        else ""
    )
    remedy = (
        f"free {DISK_MB:,} MB, or set TMPDIR and CDC_CONFORMANCE_CACHE to other writable folders"
    )
    return Outcome(not locked and min(free.values()) >= DISK_MB, state, remedy)


def check_configuration() -> Outcome:
    """Checks the configuration file that the commands would use here, if there is one."""
    from conformance.commands import config

    remedy = (
        "repair the file (`cdc-conformance config schema` prints what is legal), or give"
        " --no-config"
    )
    try:
        path = config.config_of_call(click.get_current_context()).path
    except HarnessError as error:
        first, *more_problems = str(error).split("\n")
        return Outcome(
            False, f"{first} (and {len(more_problems)} more)" if more_problems else first, remedy
        )
    return Outcome(True, str(path) if path is not None else "none (none is needed)", "")


def check_workplace() -> Outcome:
    """Checks that failures can be saved in the working directory."""
    folder = next(
        place for place in (FAILURES.absolute(), *FAILURES.absolute().parents) if place.exists()
    )
    well = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    remedy = (
        f"`chmod u+rwx {shlex.quote(str(folder))}`, work in another folder, or use `run` with"
        " --report DIR"
    )
    return Outcome(
        well,
        (
            f"{FAILURES} can{'' if well else 'not'} be"
            f" written{'' if well else f': {folder} is not writable'}"
        ),
        remedy,
    )


def check_ports() -> Outcome:
    """Checks that a broker or a JVM can listen on a port of loopback."""
    from conformance.brokers.embedded import free_ports

    try:
        numbers = free_ports(2)
    except HarnessError as error:
        return Outcome(
            False,
            _first(error),
            "allow this user to listen on 127.0.0.1; `ss -ltnp` lists the ports in use",
        )
    return Outcome(True, f"127.0.0.1 has free ports ({', '.join(map(str, numbers))})", "")


def check_reachable_broker(broker: Target) -> Outcome:
    """Checks that the running broker that the user named answers."""
    from generators.publishing.kafka import check_reachable

    host, _, port = str(broker).partition(",")[0].rpartition(":")
    began = time.monotonic()
    try:
        check_reachable(broker, timeout_s=5)
    except HarnessError as error:
        remedy = (
            "start it, open the port, or make it advertise a name that resolves here; try `nc -vz"
            f" {host.strip('[]')} {port}`"
        )
        return Outcome(False, " ".join(str(error).split()), remedy)
    return Outcome(True, f"answers after {time.monotonic() - began:.1f} s", "")


_PREPARE = "`cdc-conformance prepare`"
"""The command that downloads now, for a remedy."""
_LAST = "report this with the output of `cdc-conformance doctor --format json`"
"""The remedy for a check that raised an error without one."""
_SPARK = "run, selftest, decode, stream, bench"
"""The commands that need Spark."""
CHECKS: tuple[tuple[str, Callable[[], Outcome], str, bool], ...] = (
    ("Python", check_python, "everything", True),
    ("our packages", check_packages, "everything", True),
    ("configuration", check_configuration, "everything", True),
    ("failures' folder", check_workplace, "run, replay", False),
    ("Java", check_java, f"{_SPARK}; the embedded broker", True),
    ("pyspark", check_pyspark, _SPARK, True),
    ("Spark connector jars", check_connector, "any broker with Spark; Avro formats", False),
    ("confluent-kafka", check_client, "any broker; publish", True),
    ("Kafka broker jars", check_kafka_jars, "--broker embedded", False),
    ("testcontainers", check_testcontainers, "--broker container", False),
    ("Docker engine", check_docker, "--broker container", False),
    ("ports", check_ports, "Spark; the embedded broker", True),
    ("free memory", check_memory, "Spark; the embedded broker", False),
    ("disk", check_disk, "Spark; the embedded broker; jars", True),
)
"""For each check its name, its function, the commands that need the part, and whether every run
needs it.
"""


def checks(broker: Target | None = None) -> list[Check]:
    """The results of all checks in a fixed order, last that of a running broker (HOST:PORT), if one
    is given.

    Raises nothing: a check that raises has failed.
    """
    results = [_check(*check_fields) for check_fields in CHECKS]
    if broker is not None and ":" in str(broker):
        results.append(
            _check(
                f"broker {broker}",
                lambda: check_reachable_broker(broker),
                f"--broker {broker}",
                True,
            )
        )
    return results


def _check(name: str, check: Callable[[], Outcome], needed_for: str, required: bool) -> Check:
    """The result of one check under its name. A check that raises has failed, with the error as
    what it found.
    """
    try:
        ok, state, remedy = check()
    except Exception as error:  # noqa: BLE001 - a broken package may raise anything
        # Our errors state the problem, then the remedy.
        state, _, remedy = " ".join(str(error).split()).partition(". ")
        ok, state = False, state or type(error).__name__
    return Check(name, ok, state, "" if ok else remedy or _LAST, needed_for, required)


def starts(broker: Target | None, note: Callable[[str], None]) -> Iterator[Check]:
    """The checks of `--start`: starts Spark and Kafka as a run does, sends records through both,
    and measures the times.

    Without a `broker` it starts the embedded one. The last check is left out if Spark or Kafka did
    not start.
    """
    from conformance.brokers.broker import broker as kafka_broker
    from conformance.engines.child import ChildEngine
    from conformance.engines.engine import ChildDied, DecodeRaised, RecordSource
    from generators.model import Message
    from generators.publishing import kafka

    target = as_cluster("embedded" if broker is None or str(broker) in ("auto", "none") else broker)

    def time_start(start: Callable[[], str], remedy: str) -> Outcome:
        """Calls `start`, which starts something, and returns the outcome: its words on success with
        the seconds that it took, or, after an error of the harness, that error and the remedy.
        """
        note("starting Spark and Kafka")
        began = time.monotonic()
        try:
            state = start()
        except (ChildDied, DecodeRaised, HarnessError) as error:
            return Outcome(False, " ".join(str(error).split()), remedy)
        return Outcome(True, f"{state} after {time.monotonic() - began:.1f} s", "")

    with contextlib.ExitStack() as stack:
        engines: list[ChildEngine] = []
        clusters: list[Target] = []

        def session() -> str:
            """Starts a Spark session in another process, which ends with `stack`, and waits until
            it answers.
            """
            engines.append(stack.enter_context(ChildEngine(packages=("kafka", "avro"), note=note)))
            engines[0].started.result()
            return "a session answers"

        def cluster() -> str:
            """Starts the broker, or reaches the one that the user named; it ends with `stack`.
            Returns in words what answers at which address.
            """
            started = stack.enter_context(
                kafka_broker(
                    str(target),
                    note=note,
                    cluster_at=lambda address: replace(target, bootstrap=address),
                )
            )
            clusters.append(started.cluster)
            return f"{started.detail} answers at {started.bootstrap}"

        def send_through() -> str:
            """Sends 1,000 records through Kafka into Spark and returns that in words. Raises
            HarnessError if one is not acknowledged or not read.
            """
            count, cluster = 1_000, clusters[0]
            with kafka.run_topic(cluster, 1, note=note) as topic:
                messages = [Message("doctor", 0, None, b"%d" % number) for number in range(count)]
                acknowledged = kafka.publish(cluster, topic, messages).acknowledged
                source = RecordSource(((topic, 0, 0, count - 1),), bootstrap=cluster, topic=topic)
                read = engines[0].keep_records("doctor", source).result()
            if not acknowledged == read == count:
                raise HarnessError(
                    f"{count} records were sent, {acknowledged} acknowledged, {read} read by Spark"
                )
            return f"{count:,} records went through Kafka into Spark"

        logs = (
            "see the end of the log above; `cdc-conformance doctor` checks Java, memory and the"
            " jars"
        )
        spark_check = _check("Spark starts", lambda: time_start(session, logs), _SPARK, True)
        yield spark_check
        kafka_check = _check(
            "Kafka starts", lambda: time_start(cluster, logs), f"--broker {target}", True
        )
        yield kafka_check
        if spark_check.ok and kafka_check.ok:
            jars = (
                "Spark needs the connector of its own version: see the line of its jars in"
                " `cdc-conformance doctor`"
            )
            yield _check(
                "Kafka into Spark",
                lambda: time_start(send_through, jars),
                "any broker with Spark",
                True,
            )


def render(results: Sequence[Check]) -> str:
    """A line per check, then each problem with the commands that need the part and the remedy.
    Lines are not wrapped, so that they can be copied.
    """
    name_width = max(len(check.name) for check in results)
    lines = [
        f"{'ok     ' if check.ok else 'missing'}  {check.name:{name_width}}  {check.state}"
        for check in results
    ]
    failed = [check for check in results if not check.ok]
    for check in failed:
        lines += [
            "",
            f"{check.name}",
            f"    needed for  {check.needed_for}",
            f"    remedy      {check.remedy}",
        ]
        if check.command:
            lines.append(f"    $ {check.command}")
    stopping = sum(check.required for check in failed) or "none"
    summary = (
        f"{len(results) - len(failed)} of {len(results)} are ok; every run needs {stopping} of the"
        " others"
    )
    lines += ["", summary if failed else f"all {len(results)} are ok"]
    return "\n".join(lines)


@click.command()
@asks_broker(
    click.option(
        "--broker",
        "broker_spec",
        type=BrokerSpec(),
        metavar="BROKER",
        help="Also checks this broker: HOST:PORT, or with --start a kind.",
    )
)
@click.option(
    "--start",
    is_flag=True,
    help="Also starts Spark and a broker and sends records through both (half a minute).",
)
@FORMAT
def doctor(broker_options: BrokerOptions, start: bool, style: OutputStyle) -> None:
    """Checks what is installed, and says how to get what is missing.

    Exit code 3 if a part is missing that every run needs.

    \b
    Example: cdc-conformance doctor
    Example: cdc-conformance doctor --start
    Example: cdc-conformance doctor --broker 127.0.0.1:9092 --format json
    """
    broker = broker_options.at(broker_options.spec)
    results = checks(broker)
    if start:
        with Progress() as note:
            results.extend(starts(broker, note))
    match style:
        case "pretty":
            click.echo(render(results))
        case "markdown":
            table_rows = (("ok" if c.ok else "missing", c.name, c.state, c.remedy) for c in results)
            click.echo("\n".join(markdown_table(("", "what", "found", "remedy"), table_rows)))
        case _:
            for check in results:
                click.echo(json_text(check.as_json()))
    sys.exit(
        0 if all(check.ok or not check.required for check in results) else HarnessError.exit_code
    )


COMMANDS = (doctor,)
"""Commands for `cli`."""


def _first(error: BaseException) -> str:
    """The first sentence of an error's text."""
    return " ".join(str(error).split()).partition(". ")[0]


def _version(distribution: str) -> str | None:
    """The release of an installed package; None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _install(requirement: str) -> str:
    """The remedy for a missing Python package: the command that installs it."""
    return f"install it: `{shlex.quote(sys.executable)} -m pip install '{requirement}'`"
