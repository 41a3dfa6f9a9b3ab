"""What this machine has of what the harness needs: Java, Spark, jars, a broker, a container engine, room.

No check starts a JVM (but for `java -version`), a broker or a download, and none takes more than a few seconds.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

MEMORY_MB = 3_000
"""Free memory for a Spark driver of 2 GB and a broker of 512 MB."""
DISK_MB = 2_000
"""Free room for jars (about 150 MB), Spark's and the broker's temporary files."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: what was found, and if it is not well, what to do and what does not work until then.

    `required` tells what every run needs from what only some commands need.
    """

    name: str
    ok: bool
    found: str
    remedy: str
    needed_for: str
    required: bool = False


Outcome: TypeAlias = tuple[bool, str, str]
"""Whether it is well, what was found, and the remedy."""


def python() -> Outcome:
    """Python 3.11 or later."""
    return sys.version_info >= (3, 11), f"{platform.python_version()} at {sys.executable}", "use Python 3.11 or later"


def packages() -> Outcome:
    """Whether a folder of the user's hides one of our three packages."""
    from conformance.shadow import HOME, PACKAGES, explain, shadows

    hidden = shadows()
    if hidden:
        return False, "; ".join(f"{path} hides {name}" for name, path in hidden.items()), explain(hidden)
    return True, f"{', '.join(PACKAGES)} in {HOME}", ""


def java() -> Outcome:
    """Java 17 or 21, which Spark 4.0 supports."""
    from conformance._jars import OLDEST_JAVA, find_java

    java = find_java()
    untested = "" if java.version in (17, 21) else "; Spark 4.0 is tested on 17 and 21"
    remedy = "set JAVA_HOME to a Java 17 or 21 (Debian, Ubuntu: apt-get install openjdk-17-jre-headless)"
    return java.version >= OLDEST_JAVA, f"{java.text} at {java.path}{untested}", remedy


def pyspark() -> Outcome:
    """The installed pyspark, from its metadata."""
    version = _version("pyspark")
    remedy = _install("pyspark>=4.0,<5")
    return version is not None and version.split(".")[0] == "4", version or "not installed", remedy


def connector() -> Outcome:
    """Spark's Kafka source and Avro functions, in the caches where Spark's own Ivy puts them (`~/.ivy2*/jars`)."""
    version = _version("pyspark")
    wanted = [f"org.apache.spark_{name}_2.13-{version}.jar" for name in ("spark-sql-kafka-0-10", "spark-avro")]
    missing = [[jar for jar in wanted if not (cache / jar).is_file()] for cache in Path.home().glob(".ivy2*/jars")]
    fewest = min(missing, key=len, default=wanted)
    remedy = "nothing, if a Maven registry can be reached: Spark fetches them on the first run (about ten seconds)"
    return not fewest, f"not cached yet: {', '.join(fewest)}" if fewest else f"cached, for {version}", remedy


def client() -> Outcome:
    """The Kafka client."""
    if _version("confluent-kafka") is None:
        return False, "not installed", _install("confluent-kafka")
    import confluent_kafka

    return True, f"{_version('confluent-kafka')} (librdkafka {confluent_kafka.libversion()[0]})", ""


def kafka_jars() -> Outcome:
    """The embedded broker's jars."""
    from conformance._jars import KAFKA_VERSION, cache_dir, cached_jars

    jars = cached_jars()
    remedy = (
        "nothing, if a Maven registry can be reached: they are fetched on first use (about a minute); offline, set "
        f"CDC_CONFORMANCE_KAFKA_JARS to `libs` of a Kafka {KAFKA_VERSION} distribution"
    )
    return bool(jars), f"{len(jars)} in {jars[0].parent}" if jars else f"not cached in {cache_dir()}", remedy


def testcontainers() -> Outcome:
    """testcontainers, an optional dependency."""
    version = _version("testcontainers")
    return version is not None, version or "not installed", _install("cdc-conformance[container]")


def docker() -> Outcome:
    """A Docker engine, and whether it has the broker's image."""
    from conformance._container import engine, has_image, image_name

    client = engine()
    try:
        there = "with" if has_image(client, image_name()) else "without (it would be pulled)"
        return True, f"engine {client.version().get('Version', '?')} {there} the image {image_name()}", ""
    finally:
        client.close()


def memory() -> Outcome:
    """Memory that can be had without swapping."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        text = ""
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    if found is None:
        return True, "unknown on this system", ""
    free = int(found[1]) >> 10
    return free >= MEMORY_MB, f"{free:,} MB", f"free some: {MEMORY_MB:,} MB are advisable for a Spark driver and a broker"


def disk() -> Outcome:
    """Room in the cache and in the temporary directory."""
    from conformance._jars import cache_dir

    cache = cache_dir()
    places = {Path(tempfile.gettempdir()), next(place for place in (cache, *cache.parents) if place.exists())}
    free = {place: shutil.disk_usage(place).free >> 20 for place in sorted(places)}
    locked = [str(place) for place in free if not os.access(place, os.W_OK)]
    found = ", ".join(f"{room:,} MB in {place}" for place, room in free.items())
    found += f"; not writable: {', '.join(locked)}" if locked else ""
    remedy = f"have {DISK_MB:,} MB free and writable; TMPDIR and CDC_CONFORMANCE_CACHE name other places"
    return not locked and min(free.values()) >= DISK_MB, found, remedy


_SPARK = "run, selftest, decode, stream, bench"
CHECKS: tuple[tuple[str, Callable[[], Outcome], str, bool], ...] = (
    ("Python", python, "everything", True),
    ("our packages", packages, "everything", True),
    ("Java", java, f"{_SPARK}; the embedded broker", True),
    ("pyspark", pyspark, _SPARK, True),
    ("Spark connector jars", connector, "any broker with Spark; Avro formats", False),
    ("confluent-kafka", client, "any broker; publish", True),
    ("Kafka broker jars", kafka_jars, "--broker embedded", False),
    ("testcontainers", testcontainers, "--broker container", False),
    ("Docker engine", docker, "--broker container", False),
    ("free memory", memory, "Spark; the embedded broker", False),
    ("disk", disk, "Spark; the embedded broker; jars", True),
)
"""Name, check, what it is needed for, and whether every run needs it."""


def checks() -> list[Check]:
    """Every check's result, in a fixed order. Raises nothing: a check that cannot be made is one that is not well."""
    results = []
    for name, check, needed_for, required in CHECKS:
        try:
            ok, found, remedy = check()
        except Exception as error:  # noqa: BLE001 - a broken package may raise anything, and that is what to report
            # Errors of ours say what is wrong, then what to do.
            found, _, remedy = " ".join(str(error).split()).partition(". ")
            ok, found = False, found or type(error).__name__
        results.append(Check(name, ok, found, "" if ok else remedy, needed_for, required))
    return results


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _install(requirement: str) -> str:
    return f"{sys.executable} -m pip install '{requirement}'"
