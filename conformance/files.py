"""Where files go, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from generators.errors import HarnessError

FAILURES: Final = Path(".cdc-conformance/failures")
"""Where failures are saved when no report is asked for."""


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder in which this tool keeps its downloads and caches: the one of
    CDC_CONFORMANCE_CACHE, else one in the user's cache directory. It may not exist yet.
    """
    own = environ.get("CDC_CONFORMANCE_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    return (
        Path(environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute()
        / "cdc-conformance"
    )


def tables_in_cache() -> None:
    """Makes Hypothesis keep its tables of characters in our cache folder instead of the working
    folder, unless the user has set that folder himself.
    """
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_dir() / "hypothesis"))


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a pair of UTF-16 code units, which is no character."""


def json_text(
    value: object, *, indent: int | None = None, default: Callable[[Any], object] | None = None
) -> str:
    """A value as JSON in UTF-8's characters. A lone surrogate, which the text of an exception or of
    a decoded cell may hold and UTF-8 cannot, becomes the six characters of its escape, as in the
    other reports: strict parsers refuse a JSON escape of it. Raises TypeError for a value that
    neither JSON nor `default` knows.
    """
    document = json.dumps(value, ensure_ascii=False, indent=indent, default=default)
    return _LONE_SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", document)


SEAL: Final = ".sha256"
"""The ending that the name of the file with a digest adds to the name of the file that it is of."""


def file_digest(path: Path) -> str:
    """The SHA-256 digest of a file; while size and time of change stay the same, the file is read
    only once. Raises OSError.
    """
    stat = path.stat()
    return _read_digest(path, stat.st_size, stat.st_mtime_ns)


@functools.cache
def _read_digest(path: Path, _size: int, _changed: int) -> str:
    """The SHA-256 digest of a file. Size and time of change are only parts of the cache's key, so
    that a changed file is read again.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_seal(path: Path) -> None:
    """Writes the digest of a file into a file beside it, in the form of `sha256sum`. Raises
    HarnessError.
    """
    line = f"{file_digest(path)}  {path.name}\n".encode()
    put(path.with_name(path.name + SEAL), lambda: [line], "a digest")


def has_seal(path: Path) -> bool:
    """Whether the file with a digest of this file stands beside it."""
    return path.with_name(path.name + SEAL).is_file()


def matches_seal(path: Path) -> bool:
    """Whether a file still has the content whose SHA-256 digest is in the file beside it; False if
    there is no such file.
    """
    try:
        sealed = path.with_name(path.name + SEAL).read_bytes().split()
        return sealed[:1] == [file_digest(path).encode()]
    except OSError:
        return False


def remove_sealed(path: Path) -> None:
    """Removes a file and its digest, if they are there and may be removed."""
    for file in (path, path.with_name(path.name + SEAL)):
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)


def put(path: Path, pieces: Callable[[], Iterable[bytes]], what: str = "the report") -> Path:
    """Writes a file whole or not at all, from the bytes that `pieces` returns; creates its folder.
    Raises HarnessError, in which `what` says what could not be written.
    """
    # Runs may share a folder.
    partial = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("xb") as file:
            for piece in pieces():
                file.write(piece)
        partial.replace(path)
    except OSError as error:
        raise HarnessError(
            f"cannot write {what} to {path}: {error.strerror or error}. Free space, or choose"
            " another place."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return path


def check(directory: Path) -> None:
    """Checks, before a long run, that a report can be written into the folder: creates it and
    writes a temporary file. Raises HarnessError if that fails.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"\n")
    except OSError as error:
        raise HarnessError(
            f"cannot write a report to {directory}: {error.strerror or error}. Choose another"
            " --report."
        ) from error
