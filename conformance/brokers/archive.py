"""Class archives: classes that one JVM has loaded and verified, for later JVMs (JDK 13 and later,
JEP 350).

With an archive Spark starts in about six seconds instead of ten. A JVM uses an archive only if the
same Java wrote it with the same jars, else it starts without. `cdc-conformance prepare` writes the
archives into the cache directory. A JVM may die of an archive whose content has changed: so each
has a digest, and one that differs is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.brokers.jars import Note, cached_jars, java_path, locked, pyspark_jars
from conformance.files import cache_dir, has_seal, matches_seal, remove_sealed, write_seal
from generators.errors import HarnessError

WRITES = "-XX:ArchiveClassesAtExit"
"""The JVM option that writes a class archive."""
_QUIET = ("-Xlog:cds=error", "-Xlog:cds+dynamic=error")
"""Suppresses the message of a JVM that cannot use its archive."""


def spark_classes(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of the class archive for Spark with this Java and this pyspark; None if either is
    missing.
    """
    jars = pyspark_jars()
    return None if jars is None else _archive_path("spark", jars.glob("*.jar"), environ)


def kafka_classes(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The path of the class archive for the embedded broker; None if its jars are missing."""
    with contextlib.suppress(HarnessError):
        jars = cached_jars(environ)
        return None if jars is None else _archive_path("kafka", jars, environ)
    return None


def _archive_path(name: str, jars: Iterable[Path], environ: Mapping[str, str]) -> Path | None:
    """Where the archive of shared classes for this Java and these jars lies in the cache; None if
    one of them is missing.
    """
    try:
        files = [Path(java_path(environ)).resolve(), *sorted(jars)]
        identities: list[tuple[str, int, int]] = []
        for file in files:
            stat = file.stat()
            identities.append((str(file), stat.st_size, stat.st_mtime_ns))
    except (HarnessError, OSError):
        return None
    digest = hashlib.sha256(repr(identities).encode()).hexdigest()[:12]
    return cache_dir(environ) / "classes" / f"{name}-{digest}.jsa"


def warn(line: str) -> None:
    """Logs a line as a warning."""
    logging.getLogger(__name__).warning(line)


def complete_archive(archive: Path | None, note: Note = warn) -> Path | None:
    """The file of a class archive if it is complete, else None. `archive` is its path without the
    size of the file, which its name ends with, or None for no archive. The file's digest is in a
    file beside it; if its content has changed, the archive is removed, and `note` gets a line.
    """
    if archive is not None:
        for file in archive.parent.glob(f"{archive.stem}-*{archive.suffix}"):
            if matches_seal(file):
                return file
            if has_seal(file):
                remove_sealed(file)
                note(f"{file} is damaged and was removed: its SHA-256 is another. {_AGAIN}")
    return None


_AGAIN: Final = "Until `cdc-conformance prepare` writes it again, JVMs start slower"
"""What follows from a removed archive, in words for the user."""
_READS: Final = "-XX:SharedArchiveFile="
"""The JVM option that uses a class archive."""


def archive_options(archive: Path | None, note: Note = warn) -> tuple[str, ...]:
    """The JVM options that use a class archive, whose path is `archive` without the file's size; ()
    if there is no complete one.
    """
    file = complete_archive(archive, note)
    return () if file is None else (f"{_READS}{file}", *_QUIET)


def split_archive(arguments: Sequence[str]) -> tuple[Path | None, tuple[str, ...]]:
    """Splits a JVM's arguments: the class archive that they name (None if they name none), and the
    other arguments.
    """
    files = [Path(option.removeprefix(_READS)) for option in arguments if option.startswith(_READS)]
    without = tuple(option for option in arguments if not option.startswith(_READS))
    return next(iter(files), None), without


def discard_archive(file: Path, death: str, note: Note) -> None:
    """Removes a class archive because a Java process died while it used it, and tells `note` so;
    `death` says which process died and how, such as "Kafka died of a signal".
    """
    remove_sealed(file)
    note(f"{death} with {file}, which was removed; it is started once more without. {_AGAIN}")


@contextlib.contextmanager
def archive_writing(archive: Path, note: Note) -> Iterator[tuple[str, ...] | None]:
    """A context that yields the JVM options to write an archive. The JVM writes it when it exits,
    which must happen inside the context. Yields None if another process has written the archive
    meanwhile. Raises HarnessError if the JVM has not written it, or the directory is not writable.
    """
    unfinished = archive.with_name(f".{archive.stem}-{os.getpid()}.jsa")
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with locked(archive.with_suffix(".lock"), note, f"writing {archive}"):
            if complete_archive(archive) is not None:
                yield None
                return
            yield (f"{WRITES}={unfinished}", *_QUIET)
            for old in archive.parent.glob(f"{archive.stem}-*{archive.suffix}"):
                remove_sealed(old)
            file = archive.with_stem(f"{archive.stem}-{unfinished.stat().st_size}")
            unfinished.rename(file)
            write_seal(file)
    except FileNotFoundError as error:
        raise HarnessError(
            f"the JVM ended without writing {unfinished}. Is it Java 17 or 21 with class data sharing?"
        ) from error
    except OSError as error:
        raise HarnessError(
            f"cannot write {archive}: {error}. Set CDC_CONFORMANCE_CACHE to a writable directory."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
