"""Finds Java, and the Maven jars of a Kafka broker or another program; resolves the jars once and
caches them.

Environment:

- `JAVA_HOME`: the Java to run, else `java` from PATH;
- `CDC_CONFORMANCE_CACHE`: the cache, else `cdc-conformance` in XDG_CACHE_HOME or `~/.cache`;
- `CDC_CONFORMANCE_KAFKA_JARS`: a directory with a broker's jars (a Kafka distribution's `libs`),
  used as it is;
- `CDC_CONFORMANCE_IVY_SETTINGS`: an Ivy settings file, for a mirror or a proxy.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from conformance.brokers.guarded import Guarded
from conformance.files import cache_dir, file_digest
from generators.errors import HarnessError, UsageError

KAFKA_VERSION = "4.3.1"
SCALA_VERSION = "2.13"
# Without a logging backend a program that fails to start prints nothing.
LOGGING = ("org.slf4j", "slf4j-simple", "1.7.36")
OLDEST_JAVA = 17
"""The oldest Java that Kafka and Spark run on."""
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For the Java programs of a run, whose optimising compiler and concurrent collector would cost
more than they save.
"""
_CIPHERS: Final = (
    "CHACHA20_POLY1305_SHA256",
    "AES_128_GCM_SHA256",
    "AES_256_GCM_SHA384",
    "AES_128_CBC_SHA",
    "AES_256_CBC_SHA",
)
"""Ciphers of TLS in the order of preference."""
_KEYS: Final = ("", "ECDHE_ECDSA_WITH_", "ECDHE_RSA_WITH_", "DHE_RSA_WITH_", "RSA_WITH_")
"""Key exchanges that stand before a cipher in the name of a suite; the first is that of TLS 1.3."""
DOWNLOADING = f"-Djdk.tls.client.cipherSuites={','.join(f'TLS_{key}{cipher}' for key in _KEYS for cipher in _CIPHERS)}"
"""Without the optimising compiler, Java's AES takes a fifth of a download's CPU time, ChaCha20
little. Java passes over names of which there is no suite.
"""
PARTS = 4
"""Ivy processes that fetch a bundle whose modules are all pinned: each asks the registry for one
file after the other.
"""
DIGESTS = "jars.sha256"
"""The list of a folder's jars with their digests, as `sha256sum` writes it."""
POLL_S = 2.0
"""Interval at which a download tells how far it is, in seconds."""

Note: TypeAlias = Callable[[str], None]
"""Receives progress messages, one line each."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """The jars of a program, with all that they depend on.

    `modules` are Maven coordinates (organisation, name, revision; `4.+` is the newest of 4),
    `without` names modules to leave out, `main` is the beginning of the name of the jar that the
    others need, `download` says how much is downloaded, for the note of it. `remedy` says what
    helps where they cannot be downloaded. With `archive`, a classifier, the module is one tar.gz
    that has all jars, and the first of them is `main`. With `classifier` it is the module's jar of
    this classifier, alone.
    """

    name: str
    title: str
    modules: tuple[tuple[str, str, str], ...]
    main: str
    download: str
    without: tuple[str, ...] = ()
    remedy: str = ""
    archive: str = ""
    classifier: str = ""


KAFKA = Bundle(
    f"kafka_{SCALA_VERSION}-{KAFKA_VERSION}",
    "Kafka",
    (("org.apache.kafka", f"kafka_{SCALA_VERSION}", KAFKA_VERSION), LOGGING),
    main="kafka_",
    download="about 45 jars, 44 MB",
    remedy=(
        f"or unpack a Kafka {KAFKA_VERSION} distribution and set CDC_CONFORMANCE_KAFKA_JARS to its"
        " `libs`; or use a running broker (--broker HOST:PORT) or none (--broker none). "
    ),
)


@dataclass(frozen=True, slots=True)
class Pin:
    """The SHA-256 digest of a jar that this release was tested with, and its module,
    `organisation:name:revision`, if named.
    """

    digest: str
    module: str = ""


class Missing(HarnessError):
    """The registry answers, but lacks the modules `names` of a bundle."""

    def __init__(self, message: str, names: frozenset[str]) -> None:
        super().__init__(message)
        self.names = names


@dataclass(frozen=True, slots=True)
class Java:
    """A Java launcher and its feature version (17 for 17.0.15)."""

    path: str
    version: int
    text: str


def java_version(output: str) -> int | None:
    """The feature version in the output of `java -version`: 8 for "1.8.0_452", 17 for "17.0.15", 25
    for "25-ea"; else None.
    """
    match = re.search(r'version "(\d+)(?:\.(\d+))?', output)
    if match is None:
        return None
    major = int(match[1])
    return int(match[2] or 0) if major == 1 else major


def java_path(environ: Mapping[str, str] = os.environ) -> str:
    """The launcher of JAVA_HOME's Java, else of PATH's. Raises HarnessError if there is none."""
    home = environ.get("JAVA_HOME")
    if home:
        path = shutil.which("java", path=str(Path(home) / "bin"))
        if path is None:
            raise HarnessError(
                f"JAVA_HOME is {home!r}, but has no bin/java. Set JAVA_HOME to Java 17 or 21, or"
                " unset it."
            )
        return path
    path = shutil.which("java", path=environ.get("PATH"))
    if path is None:
        raise HarnessError(
            "no Java found: JAVA_HOME is not set and PATH has no `java`. Install Java 17 or 21 "
            "(Debian, Ubuntu: openjdk-17-jre-headless; macOS: brew install openjdk@17)."
        )
    return path


def find_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The Java of JAVA_HOME, else of PATH, in any version. Raises HarnessError if there is none or
    it does not run.
    """
    path = java_path(environ)
    return _ask_java(path, Path(path).stat().st_mtime_ns)


def java_words(environ: Mapping[str, str] = os.environ) -> str:
    """The version text that Java prints; "" if there is no Java, which is reported where Java is
    needed.
    """
    try:
        return find_java(environ).text
    except HarnessError:
        return ""


@functools.cache
def _ask_java(path: str, _changed: int) -> Java:
    """The output of `java -version`, cached as long as the launcher's file does not change."""
    try:
        finished = subprocess.run(
            [path, "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HarnessError(f"`{path} -version` does not run: {error}") from error
    output = finished.stderr + finished.stdout
    version = java_version(output)
    if version is None:
        raise HarnessError(
            f"`{path} -version` (exit {finished.returncode}) names no version: {output.strip()[:200]!r}"
        )
    line = next(line for line in output.splitlines() if 'version "' in line)
    return Java(path, version, line.strip())


def require_java(environ: Mapping[str, str] = os.environ) -> Java:
    """The Java that runs a broker. Raises HarnessError if it is missing or older than 17."""
    java = find_java(environ)
    if java.version < OLDEST_JAVA:
        raise HarnessError(
            f"{java.path} is Java {java.version}; Kafka {KAFKA_VERSION} and Spark 4 need"
            f" {OLDEST_JAVA} or later. Set JAVA_HOME to a Java 17 or 21."
        )
    return java


def pyspark_jars() -> Path | None:
    """The jar directory of the installed pyspark (without importing it), else of SPARK_HOME, else
    None.
    """
    homes: list[Path] = []
    spec = importlib.util.find_spec("pyspark")
    if spec is not None and spec.origin:
        homes.append(Path(spec.origin).parent)
    if os.environ.get("SPARK_HOME"):
        homes.append(Path(os.environ["SPARK_HOME"]))
    return next((home / "jars" for home in homes if (home / "jars").is_dir()), None)


def cached_jars(environ: Mapping[str, str] = os.environ) -> list[Path] | None:
    """The broker's jars if they are there without a download, else None. Raises UsageError if
    CDC_CONFORMANCE_KAFKA_JARS names a directory without a broker.
    """
    user_folder = environ.get("CDC_CONFORMANCE_KAFKA_JARS")
    if user_folder:
        jars = sorted(Path(user_folder).expanduser().absolute().glob("*.jar"))
        if not any(re.match(r"kafka_2\.\d+-\d", jar.name) for jar in jars):
            raise UsageError(
                f"CDC_CONFORMANCE_KAFKA_JARS is {user_folder!r}, which holds no"
                f" kafka_{SCALA_VERSION}-*.jar. It must be a directory with all jars of a broker,"
                " such as `libs` of an unpacked Kafka distribution."
            )
        return jars
    return cached_bundle(KAFKA, environ)


def _folder(bundle: Bundle, environ: Mapping[str, str]) -> Path:
    """Where a bundle's jars lie in the cache."""
    return cache_dir(environ) / "jars" / bundle.name


def cached_bundle(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> list[Path] | None:
    """The jars of a bundle if all are in the cache as they were downloaded, else None."""
    folder = _folder(bundle, environ)
    jars = _listed_jars(folder)
    if jars is None or (altered := altered_jars(bundle, environ)) is None:
        return None
    if altered:
        _warn_once(
            f"{', '.join(altered)} in {folder} changed since the download, by SHA-256: the"
            f" {bundle.title} jars are downloaded again when they are needed"
        )
    return None if altered else jars


def altered_jars(bundle: Bundle, environ: Mapping[str, str] = os.environ) -> list[str] | None:
    """The names of a bundle's jars in the cache that are not as they should be: their SHA-256
    differs from the one that this release pins or, where it pins none, from the one noted at the
    download. None if the list of noted digests or one of the jars cannot be read.
    """
    folder, pins = _folder(bundle, environ), read_pins(bundle)
    try:
        lines = (folder / DIGESTS).read_text(encoding="utf-8").splitlines()
        pairs = [line.split("  ", 1) for line in lines]
        digests = {name: digest for digest, name in pairs}
        digests |= {name: pin.digest for name, pin in pins.items() if name in digests}
        return [name for name, digest in digests.items() if file_digest(folder / name) != digest]
    except (OSError, ValueError):
        return None


@functools.cache
def _warn_once(warning: str) -> None:
    """Logs a warning, the first time that it is given."""
    logging.getLogger(__name__).warning(warning)


def _listed_jars(folder: Path) -> list[Path] | None:
    """The jars in the list `jars.txt` of a folder in the cache; None if there is no such list, or
    if one of the jars is missing or has another size.
    """
    try:
        lines = (folder / "jars.txt").read_text(encoding="utf-8").splitlines()
        jars = []
        for line in lines:
            name, size = line.rsplit(" ", 1)
            jars.append((folder / name, int(size)))
        return (
            [jar for jar, _ in jars]
            if jars and all(jar.stat().st_size == size for jar, size in jars)
            else None
        )
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def locked(path: Path, note: Note, what: str) -> Iterator[None]:
    """A context that holds an exclusive lock on a file. `what` says what another process that holds
    it is doing, such as "downloading the Kafka jars", for a line to `note`. Without fcntl, as on
    Windows, nothing is locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            note(f"another process is {what}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def kafka_jars(
    note: Note, *, environ: Mapping[str, str] = os.environ, timeout_s: float = 600
) -> list[Path]:
    """The broker's jars, downloaded from the Maven registry the first time. Raises HarnessError
    with the remedy if that fails (offline, no pyspark, no Java, no disk space).
    """
    return cached_jars(environ) or jars_of(KAFKA, note, environ=environ, timeout_s=timeout_s)


def jars_of(
    bundle: Bundle, note: Note, *, environ: Mapping[str, str] = os.environ, timeout_s: float = 600
) -> list[Path]:
    """The jars of a bundle, downloaded from the Maven registry the first time.

    The Ivy of pyspark resolves them into a temporary folder, which is renamed into the cache when
    it is complete. Raises HarnessError with the remedy if that fails (offline, no pyspark, no Java,
    no disk space), Missing if the registry lacks a module.
    """
    folder = _folder(bundle, environ)
    jars = cached_bundle(bundle, environ)
    if jars is not None:
        return jars
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(
            folder.with_name(folder.name + ".lock"), note, f"downloading the {bundle.title} jars"
        ):
            jars = cached_bundle(bundle, environ)
            if jars is not None:
                return jars
            with tempfile.TemporaryDirectory(
                prefix=".resolving-", dir=folder.parent, ignore_cleanup_errors=True
            ) as work:
                _download(bundle, Path(work), note, environ, timeout_s)
                # An existing folder is incomplete here.
                shutil.rmtree(folder, ignore_errors=True)
                (Path(work) / "jars").rename(folder)
    except OSError as error:
        raise HarnessError(
            f"cannot write the {bundle.title} jars to {folder.parent}: {error}. "
            "Set CDC_CONFORMANCE_CACHE to a writable directory."
        ) from error
    jars = cached_bundle(bundle, environ)
    if jars is None:
        raise HarnessError(
            f"the {bundle.title} jars in {folder} changed while they were being written; run the"
            " command again"
        )
    return jars


def _download(
    bundle: Bundle, work: Path, note: Note, environ: Mapping[str, str], timeout_s: float
) -> None:
    """Downloads the jars of a bundle into the folder `work/jars`, with the list `jars.txt` of their
    names and sizes.
    """
    manual = (
        "Run the same command once on a machine with access to a Maven registry and copy its cache"
        f" directory ({cache_dir(environ)}){'; ' if bundle.remedy else '. '}{bundle.remedy}For a"
        " mirror or proxy set CDC_CONFORMANCE_IVY_SETTINGS to an Ivy settings file."
    )
    java = require_java(environ)
    spark = pyspark_jars()
    ivy = next(iter(sorted(spark.glob("ivy-*.jar"))), None) if spark else None
    if ivy is None:
        raise HarnessError(
            f"cannot download the {bundle.title} jars: pyspark, whose Ivy does it, is not"
            f" installed. {manual}"
        )
    settings = environ.get("CDC_CONFORMANCE_IVY_SETTINGS")
    jars, parts = work / "jars", _dependency_parts(bundle)
    total = sum(map(len, parts)) if len(parts) > 1 else 0
    version = bundle.modules[0][2]
    note(
        f"downloading {bundle.title} {version} ({bundle.download}) from the Maven registry, once;"
        " this takes up to a minute"
    )
    logs, began = [work / f"ivy-{number}.log" for number, _ in enumerate(parts)], time.monotonic()

    def output() -> str:
        return "".join(log.read_text("utf-8", "replace") for log in logs)

    with contextlib.ExitStack() as stack:
        runs = []
        for log, lines in zip(logs, parts, strict=True):
            description = log.with_suffix(".xml")
            description.write_text(
                '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">\n'
                '  <info organisation="cdc-conformance" module="broker"/>\n'
                "  <dependencies>\n"
                + "".join(f"    {line}\n" for line in lines)
                + "  </dependencies>\n</ivy-module>\n",
                encoding="utf-8",
            )
            command = [
                *(
                    java.path,
                    *QUICK,
                    DOWNLOADING,
                    "-jar",
                    str(ivy),
                    *(("-settings", settings) if settings else ()),
                ),
                *(
                    "-cache",
                    str(log.with_suffix("")),
                    "-ivy",
                    str(description),
                    "-confs",
                    "default",
                    "-types",
                ),
                *(("tar.gz",) if bundle.archive else ("jar", "bundle")),
                *("-retrieve", f"{jars}/[artifact]-[revision](-[classifier]).[ext]"),
            ]
            runs.append(Guarded(command, output=stack.enter_context(log.open("wb")), remove=work))
            stack.callback(runs[-1].stop)
        while any(run.wait(POLL_S) is None for run in runs):
            elapsed = time.monotonic() - began
            if elapsed > timeout_s:
                break
            note(
                f"downloading {bundle.title} {version}: {progress_text(output(), total)}, {elapsed:.0f} s"
            )
        code = next((code for run in runs if (code := run.exit_code()) != 0), 0)
    log_text = output()
    files = sorted(jars.glob("*.tar.gz" if bundle.archive else "*.jar"))
    if code != 0 or not any(jar.name.startswith(bundle.main) for jar in files):
        what = (
            f"took more than {timeout_s:.0f} s" if code is None else f"ended with exit code {code}"
        )
        failed = f"cannot download the {bundle.title} jars: Ivy {what}. {_log_excerpt(log_text)} {manual}"
        lacking = missing_modules(log_text)
        raise Missing(failed, lacking) if lacking else HarnessError(failed)
    if unpinned_names := unpinned_jars(bundle, files):
        raise HarnessError(
            f"the {bundle.title} jars that the registry gave are not those that this release was"
            f" tested with: {unpinned_names}. {manual}"
        )
    for packed in files if bundle.archive else ():
        with tarfile.open(packed) as file:
            # The first releases of Python 3.11 know no filters; what is packed is known by its
            # digest.
            file.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
            file.extractall(jars)  # noqa: S202 - see above
        packed.unlink()
        files = sorted(jars.rglob("*.jar"), key=lambda jar: (jar.parent != jars, jar))
    listed = "".join(f"{jar.relative_to(jars)} {jar.stat().st_size}\n" for jar in files)
    (jars / "jars.txt").write_text(listed, encoding="utf-8")
    digests = "".join(f"{file_digest(jar)}  {jar.relative_to(jars)}\n" for jar in files)
    (jars / DIGESTS).write_text(digests, encoding="utf-8")
    note(
        f"downloaded {bundle.title} {version}: {len(files)} jars in"
        f" {time.monotonic() - began:.0f} s"
    )


def _dependency_parts(bundle: Bundle) -> list[list[str]]:
    """The dependencies of a bundle as lines of Ivy's module description, in parts that are fetched
    side by side: PARTS of them if all modules are pinned, else one.
    """
    # The first is the one that an error names.
    pinned_jars = sorted(
        read_pins(bundle).items(), key=lambda item: not item[0].startswith(bundle.main)
    )
    if pinned := [pin.module.split(":") for _, pin in pinned_jars if pin.module]:
        flat = [
            f'<dependency org="{org}" name="{name}" rev="{revision}" transitive="false"'
            ' conf="default->master"/>'
            for org, name, revision in pinned
        ]
        return [flat[first::PARTS] for first in range(PARTS)]
    lines = [
        f'<dependency org="{org}" name="{name}" rev="{revision}"'
        f' conf="default->{"master" if bundle.archive or bundle.classifier else "default"}">'
        # A module that is named comes in the named revision, whatever the others ask for.
        + "".join(
            f'<exclude module="{excluded}"/>'
            for _, excluded, _ in bundle.modules
            if excluded != name
        )
        + (
            f'<artifact name="{name}" type="tar.gz" ext="tar.gz" m:classifier="{bundle.archive}"/>'
            if bundle.archive
            else ""
        )
        + (
            f'<artifact name="{name}" type="jar" ext="jar" m:classifier="{bundle.classifier}"/>'
            if bundle.classifier
            else ""
        )
        + "</dependency>"
        for org, name, revision in bundle.modules
    ]
    return [lines + [f'<exclude module="{name}"/>' for name in bundle.without]]


def progress_text(log: str, total: int = 0) -> str:
    """The progress of a download in words, from Ivy's log: Ivy first finds the modules, unless
    their number `total` is known, and then fetches their jars.
    """
    count = total or len(re.findall(r"^\s+found ", log, re.MULTILINE))
    is_counted = total or "downloading " in log
    return (
        f"{log.count('[SUCCESSFUL ]')} of {count} jars"
        if is_counted
        else f"{count} jars found until now"
    )


def read_pins(bundle: Bundle) -> dict[str, Pin]:
    """The pins of a bundle by the jar's name, from a file beside this module in the form of
    `sha256sum`, with the module at the end of the line. {} without such a file.
    """
    file = Path(__file__).with_name(f"{bundle.name}.sha256")
    lines = file.read_text("ascii").splitlines() if file.is_file() else []
    pins = {}
    for line in lines:
        digest, name, *module = line.split()
        pins[name] = Pin(digest, *module)
    return pins


def unpinned_jars(bundle: Bundle, jars: Sequence[Path]) -> str:
    """The names of jars that are missing, unknown, or different from the bundle's pinned ones,
    separated by commas; "" if there are none, or the bundle has no pins.
    """
    pinned = read_pins(bundle)
    if not pinned:
        return ""
    differing = sorted(pinned.keys() ^ {jar.name for jar in jars})
    differing += [
        jar.name
        for jar in jars
        if jar.name in pinned
        and pinned[jar.name].digest != hashlib.sha256(jar.read_bytes()).hexdigest()
    ]
    return ", ".join(differing)


_UNANSWERED = r"UnknownHost|timed out|refused|SSL|[Ff]orbidden|No space|[Ee]xception"
"""What Ivy's log has if the registry did not answer."""
_LACKED = re.compile(r":: [^#\s]+#([^;\s]+);\S+: not found$", re.MULTILINE)
"""The line of Ivy's log on a module that the registry lacks."""


def missing_modules(log: str) -> frozenset[str]:
    """The names of the modules that the registry lacks, by Ivy's log; none if the registry did not
    answer at all.
    """
    return frozenset() if re.search(_UNANSWERED, log) else frozenset(_LACKED.findall(log))


def _log_excerpt(log: str) -> str:
    """The error lines of Ivy's log, as one sentence that begins with the missing modules."""
    error_pattern = re.compile(rf"unresolved dependency|not found$|FAILED|{_UNANSWERED}")
    lines = sorted(
        (line.strip(" \t:") for line in log.splitlines() if error_pattern.search(line)),
        key=lambda x: "not found" not in x,
    )
    shown_lines = (
        list(dict.fromkeys(lines))[:3]
        or [line.strip() for line in log.splitlines() if line.strip()][-3:]
    )
    return f"Its log: {'; '.join(shown_lines)}." if shown_lines else "Its log is empty."
