"""Where files go, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from generators.errors import HarnessError

FAILURES: Final = Path(".cdc-conformance/failures")
"""Where failures are saved when no report is asked for."""


def put(path: Path, pieces: Callable[[], Iterable[bytes]], what: str = "the report") -> Path:
    """Writes a file whole or not at all. Raises HarnessError, in which `what` says what could not be written."""
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
            f"cannot write {what} to {path}: {error.strerror or error}. Free space, or choose another place."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    return path


def check(directory: Path) -> None:
    """Creates a report's folder and writes to it, before a long run. Raises HarnessError if that fails."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"\n")
    except OSError as error:
        raise HarnessError(
            f"cannot write a report to {directory}: {error.strerror or error}. Choose another --report."
        ) from error
