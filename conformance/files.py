"""Where files go, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from generators.errors import HarnessError

FAILURES: Final = Path(".cdc-conformance/failures")
"""Where failures are saved when no report is asked for."""


def put(path: Path, pieces: Callable[[], Iterable[bytes]], what: str = "the report") -> Path:
    """Writes a file whole or not at all. Raises HarnessError, in which `what` says what could not be written."""
    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            for piece in pieces():
                file.write(piece)
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise HarnessError(
            f"cannot write {what} to {path}: {error.strerror or error}. Free space, or choose another place."
        ) from error
    return path
