"""What Spark needs before it starts: a Java that the installed release supports, its modules
outside of pyspark, a folder.

`prepare_jars` checks and fetches all of it, with the Ivy that also fetches the broker's jars
(`jars`). So a user reads at once what is missing, and not from a JVM that ends. Modules come in
Spark's own release; if the registry lacks an artefact in that release, the newest published one of
the same minor, else major release is taken, and a line says so.

Environment, beside that of `jars`:

- `CDC_CONFORMANCE_SPARK_JARS`: jars and folders of jars, separated as in PATH, added to every
  session; a module whose jars are
  among them is not downloaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

from conformance.brokers.jars import (
    Bundle,
    Java,
    Missing,
    Note,
    cached_bundle,
    find_java,
    jars_of,
    pyspark_jars,
)
from conformance.brokers.lakehouses import PINNED
from generators.errors import HarnessError, UnknownName, UsageError

JARS: Final = "CDC_CONFORMANCE_SPARK_JARS"
ORGANISATION: Final = "org.apache.spark"
"""The Maven organisation of Spark's modules."""

JAVAS: Final[Mapping[tuple[int, int], tuple[int, ...]]] = {(4, 0): (17, 21), (4, 2): (17, 21, 25)}
"""The Javas that a release of Spark and the later ones support (the overview of each release's
documentation).
"""

_INSTALL: Final = "Install it: pip install 'pyspark>=4.0,<5'"
"""What a user does who has no Spark, or another release."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of Spark that pyspark lacks.

    `artefacts` come in Spark's release, the first one gives the module its name; it also needs
    `other_artefacts`, artefacts with releases of their own. `remedy` says what helps where it
    cannot be downloaded.
    """

    title: str
    artefacts: tuple[str, ...]
    other_artefacts: tuple[str, ...] = ()
    remedy: str = ""


MODULES: Final = {
    "kafka": Module(
        "Spark Kafka source",
        ("spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13"),
        ("kafka-clients", "commons-pool2"),
        "or use --broker none, which needs no Kafka source; ",
    ),
    "avro": Module("Spark Avro", ("spark-avro_2.13",)),
}
"""The modules by the short names with which sessions ask for them."""


def prepare_jars(
    modules: Collection[str],
    note: Note,
    *,
    extra_jars: Iterable[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> tuple[Path, ...]:
    """The jars of a session with these MODULES, once everything that Spark needs to start is there.

    `extra_jars` are jars and folders beside those of CDC_CONFORMANCE_SPARK_JARS. A line names a
    substituted release, and stays if `note` can keep it (`note.line`). Raises HarnessError that
    names what is missing and what to do, UsageError for named jars that do not exist or are not
    enough.
    """
    release, folder = installed_spark()
    check_java(release, find_java(environ))
    check_folder()
    user_jars = named_jars([*_listed(environ), *extra_jars])
    spark_jars = {parse_jar_name(jar.name)[0] for jar in folder.glob("*.jar")}
    to_fetch = []
    for name in modules:
        if name not in MODULES:
            raise UnknownName("module", name, MODULES)
        if missing := missing_artefacts(MODULES[name], spark_jars, [jar.name for jar in user_jars]):
            to_fetch.append((MODULES[name], missing))
    progress = _Progress(note)
    with ThreadPoolExecutor(max(1, len(to_fetch))) as pool:
        fetching = [
            pool.submit(_fetch_module, module, release, missing, spark_jars, progress, environ)
            for module, missing in to_fetch
        ]
        try:
            fetched = chain.from_iterable(download.result() for download in fetching)
            return (*user_jars, *fetched)
        except BaseException:
            progress.over = True
            raise


@dataclass(slots=True)
class _Progress:
    """Passes the progress of several downloads on to `note`. Once `over` is set, because one has
    failed or all were interrupted, each of the others ends with HarnessError at its next line.
    """

    note: Note
    over: bool = False

    def __call__(self, line: str) -> None:
        if self.over:
            raise HarnessError("another download failed")
        self.note(line)

    def line(self, line: str) -> None:
        """A line that stays, if `note` can keep it."""
        getattr(self.note, "line", self.note)(line)


def fetch_packages(
    coordinates: Sequence[tuple[str, str, str]], note: Note, environ: Mapping[str, str] = os.environ
) -> tuple[Path, ...]:
    """The jars of packages (organisation, name, release) and of what they depend on, but for
    Spark's own; from the cache or the registry. Raises HarnessError that names what the registry
    lacks.
    """
    if not coordinates:
        return ()
    release, folder = installed_spark()
    check_java(release, find_java(environ))
    if (pinned := PINNED.get(tuple(coordinates))) is not None:
        return tuple(jars_of(pinned, note, environ=environ))
    digest = hashlib.sha256(repr((release, *coordinates)).encode()).hexdigest()[:12]
    bundle = Bundle(
        f"packages-{digest}-for-{release}",
        ", ".join(name for _, name, _ in coordinates),
        tuple(coordinates),
        main=f"{coordinates[0][1]}-",
        download="with all that they depend on",
        without=tuple(
            sorted(
                {parse_jar_name(jar.name)[0] for jar in folder.glob("*.jar")}
                - {name for _, name, _ in coordinates}
            )
        ),
        remedy=f"or name jars in {JARS}. ",
    )
    return tuple(jars_of(bundle, note, environ=environ))


def installed_spark() -> tuple[str, Path]:
    """The release of the Spark that pyspark starts, and the folder of its jars. Raises HarnessError
    unless it is a 4.
    """
    folder = pyspark_jars()
    release = (
        None if folder is None else release_of(jar.name for jar in folder.glob("spark-core_*.jar"))
    )
    if folder is None or release is None:
        raise HarnessError(f"pyspark is not installed, or its folder has no Spark. {_INSTALL}")
    if release.split(".")[0] != "4":
        raise HarnessError(f"pyspark {release} is installed; the harness needs Spark 4. {_INSTALL}")
    return release, folder


def release_of(jars: Iterable[str]) -> str | None:
    """Spark's release by the names of its jars, such as 4.0.0 for spark-core_2.13-4.0.0.jar; None
    if none of them is the jar of Spark's core.
    """
    return next(
        (release for name, release in map(parse_jar_name, jars) if name.startswith("spark-core_")),
        None,
    )


def parse_jar_name(jar: str) -> tuple[str, str]:
    """The artefact and its release, by a jar's name: ("kafka-clients", "3.9.0") for
    kafka-clients-3.9.0.jar; the whole name and "" where it has no release. A number behind the
    release belongs to it: zstd-jni-1.5.6-4.jar is release 1.5.6-4.
    """
    match = re.fullmatch(r"(.+?)-(\d+(?:\.\d+)+-\d+)\.jar", jar) or re.fullmatch(
        r"(.+)-(\d[^-]*(?:-[A-Za-z].*)?)\.jar", jar
    )
    return (match[1], match[2]) if match else (jar.removesuffix(".jar"), "")


def supported_javas(release: str) -> tuple[int, ...]:
    """The versions of Java that a release of Spark supports; of a release before 4.0 those of
    4.0.
    """
    return JAVAS[
        max(
            (supported for supported in JAVAS if supported <= _numbers(release)), default=min(JAVAS)
        )
    ]


def check_java(release: str, java: Java) -> None:
    """Raises HarnessError for a Java that is older or newer than those that this Spark supports."""
    legal = supported_javas(release)
    if not legal[0] <= java.version <= legal[-1]:
        words = java_words(release)
        raise HarnessError(
            f"{java.path} is Java {java.version}; Spark {release} runs on {words}. Set JAVA_HOME to"
            f" {words}"
        )


def java_words(release: str) -> str:
    """The versions of Java that a release of Spark supports, in words, such as "Java 17, 21 or
    25".
    """
    *first, last = map(str, supported_javas(release))
    return f"Java {', '.join(first)} or {last}"


def check_folder() -> None:
    """Raises HarnessError if no temporary folder can be written, or TMPDIR names one that
    cannot.
    """
    folder_name = os.environ.get("TMPDIR")
    try:
        with tempfile.TemporaryFile(dir=folder_name or None) as file:
            file.write(b"x")
    except OSError as error:
        where = folder_name or "the temporary folder"
        raise HarnessError(
            f"{where} cannot be written: {error.strerror}. Set TMPDIR to a folder that can"
        ) from error


def named_jars(places: Iterable[str]) -> list[Path]:
    """The jars that the paths name, in the order of the paths; a folder stands for the jars in it,
    by name. Raises UsageError for a path that is no file `*.jar` and no folder with one.
    """
    jars: list[Path] = []
    for place in places:
        path = Path(place).expanduser().absolute()
        files: list[Path] = []
        if path.is_dir():
            files = sorted(path.glob("*.jar"))
        elif path.is_file() and path.suffix == ".jar":
            files = [path]
        if not files:
            raise UsageError(f"{JARS}: {place} is neither a jar nor a folder with jars")
        jars += files
    return jars


def _listed(environ: Mapping[str, str]) -> list[str]:
    """The paths of jars and folders in the environment variable CDC_CONFORMANCE_SPARK_JARS."""
    return [place for place in environ.get(JARS, "").split(os.pathsep) if place]


def missing_artefacts(
    module: Module, spark_jars: Collection[str], user_jars: Iterable[str]
) -> tuple[str, ...]:
    """The artefacts (Maven names) of a Spark module that must be downloaded; () if the module's
    first artefact is among Spark's own jars, or among the user's. Raises UsageError if the user has
    given the first artefact without the others that it needs.
    """
    if module.artefacts[0] in spark_jars:
        return ()
    names = {parse_jar_name(jar)[0] for jar in user_jars}
    if module.artefacts[0] not in names:
        return module.artefacts
    lacking = [
        name
        for name in (*module.artefacts, *module.other_artefacts)
        if name not in names and name not in spark_jars
    ]
    if lacking:
        raise UsageError(
            f"{JARS} names {module.artefacts[0]}, which also needs {', '.join(lacking)}; name them,"
            " too, or none"
        )
    return ()


def revisions(release: str) -> tuple[str, ...]:
    """The Maven revisions in which a module of Spark is looked for, in order, such as 4.0.1, then
    4.0.+ (the newest of that minor release), then 4.+.
    """
    major, minor = _numbers(release)
    return release, f"{major}.{minor}.+", f"{major}.+"


def substitutes(release: str, artefacts: Collection[str], jars: Iterable[str]) -> dict[str, str]:
    """Of the artefacts (Maven names), those whose jar is of another release than `release`,
    Spark's, each with the release that it has; `jars` are the names of jars.
    """
    releases = dict(map(parse_jar_name, jars))
    return {name: releases[name] for name in artefacts if releases.get(name, release) != release}


def _bundle(module: Module, release: str, spark_jars: Collection[str]) -> Bundle:
    """The jars to download for a module of Spark (such as its Kafka source) of Spark's release,
    without those that Spark has itself.
    """
    first = module.artefacts[0]
    return Bundle(
        f"{first}-for-{release}",
        module.title,
        tuple((ORGANISATION, name, release) for name in module.artefacts),
        main=f"{first}-",
        download="at most 12 MB",
        without=tuple(sorted(spark_jars)),
        remedy=f"or name jars in {JARS}; {module.remedy}",
    )


def _fetch_module(
    module: Module,
    release: str,
    artefacts: Sequence[str],
    spark_jars: Collection[str],
    note: Note,
    environ: Mapping[str, str],
) -> list[Path]:
    """The jars of a module, from the cache or the registry. Raises HarnessError."""
    bundle = _bundle(module, release, spark_jars)
    revisions_asked = dict.fromkeys(artefacts, release)
    jars: list[Path] = []
    while not jars:
        try:
            jars = jars_of(
                replace(
                    bundle, modules=tuple((ORGANISATION, *pair) for pair in revisions_asked.items())
                ),
                note,
                environ=environ,
            )
        except Missing as error:
            following = next_revisions(revisions_asked, error.names, release)
            if following is None:
                raise
            note(
                f"the registry lacks {', '.join(sorted(error.names))} for Spark {release}; looking"
                " for another release"
            )
            revisions_asked = following
    for name, substitute_release in substitutes(
        release, artefacts, (jar.name for jar in jars)
    ).items():
        getattr(note, "line", note)(describe_substitution(name, substitute_release, release))
    return jars


def next_revisions(
    revisions_asked: Mapping[str, str], missing: Collection[str], release: str
) -> dict[str, str] | None:
    """The Maven revisions to ask for next, by artefact: for a missing one the next wider revision
    (4.0.1, then 4.0.+, then 4.+), for the others the same. None if a missing one has no wider one,
    or none of those asked for is missing.
    """
    steps = dict(pairwise(revisions(release)))
    if not any(name in missing for name in revisions_asked) or any(
        revisions_asked[name] not in steps for name in missing if name in revisions_asked
    ):
        return None
    return {
        name: steps[revision] if name in missing else revision
        for name, revision in revisions_asked.items()
    }


def describe_substitution(name: str, substitute_release: str, release: str) -> str:
    """The line for the user that says that an artefact was not published in Spark's own release,
    and which release is used instead.
    """
    major, minor = _numbers(release)
    line = f"{major}.{minor}" if _numbers(substitute_release) == (major, minor) else str(major)
    return (
        f"{ORGANISATION}:{name}:{release} is not published here; {substitute_release} is used, the newest of"
        f" {line}"
    )


def state(environ: Mapping[str, str] = os.environ) -> tuple[dict[str, str], list[str]]:
    """For the command `doctor`, without a download: where each of Spark's MODULES would come from,
    in words, by the module's name; and the names of modules that are not there yet. Raises
    HarnessError without pyspark, UsageError for jars that the user named and that do not exist or
    are not enough.
    """
    release, folder = installed_spark()
    spark_jars = {parse_jar_name(jar.name)[0] for jar in folder.glob("*.jar")}
    user_jars = [jar.name for jar in named_jars(_listed(environ))]
    origins, missing = {}, []
    for name, module in MODULES.items():
        artefacts = missing_artefacts(module, spark_jars, user_jars)
        jars = cached_bundle(_bundle(module, release, spark_jars), environ) if artefacts else []
        if jars is None:
            missing.append(name)
        elif artefacts:
            releases = dict(parse_jar_name(jar.name) for jar in jars)
            origins[name] = ", ".join(
                f"{artefact_name} {releases[artefact_name]}" for artefact_name in artefacts
            )
        elif module.artefacts[0] in spark_jars:
            origins[name] = "in pyspark"
        else:
            origins[name] = f"{module.artefacts[0]} of {JARS}"
    return origins, missing


def _numbers(release: str) -> tuple[int, int]:
    """The major and the minor number of a release; 0 for one that it does not say."""
    major, minor, *_ = (*re.findall(r"\d+", release), "0", "0")
    return int(major), int(minor)
