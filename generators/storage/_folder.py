"""Folders that appear whole or not at all, and files that are hashed while they are written."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path

from generators.errors import HarnessError, UsageError


@contextmanager
def whole_folder(target: Path, legal: Set[str]) -> Iterator[Path]:
    """A context that yields a temporary folder beside the target. At the end it replaces the
    target; after an error it is removed, with every parent that was made for it. `legal` are the
    names of files that an existing target may have.

    Raises UsageError if the target holds other files, and HarnessError for errors of the file
    system.
    """
    missing_parents = [folder for folder in target.parents if not folder.exists()]
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        _refuse_foreign_files(target, legal)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.mkdir()
        yield temporary
        _refuse_foreign_files(target, legal)
        _replace(temporary, target)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        for folder in missing_parents:
            try:
                folder.rmdir()
            except OSError:
                break
        if isinstance(error, OSError):
            raise _explain(error, target) from error
        raise


def _refuse_foreign_files(target: Path, legal: Set[str]) -> None:
    """Raises UsageError if the target is a symbolic link or a file, or a folder that holds other
    names than the legal ones, which would be lost. A target that is not there is allowed.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target} is not a folder of its own; nothing is written over it")
    if target.is_dir():
        names = {entry.name for entry in target.iterdir()}
        strange = names - legal
        if strange:
            raise UsageError(
                f"{target} holds {min(strange)!r}, which would be lost; choose another folder or"
                " move it away"
            )


def _replace(temporary: Path, target: Path) -> None:
    """Puts the finished folder in the target's place, and removes what was there, which comes back
    if the folder cannot be renamed.
    """
    if not target.exists():
        temporary.rename(target)
        return
    old = temporary.with_name(temporary.name + ".old")
    target.rename(old)
    try:
        temporary.rename(target)
    except OSError:
        old.rename(target)
        raise
    shutil.rmtree(old)


def _explain(error: OSError, target: Path) -> HarnessError:
    """The error to raise when a folder or file cannot be written; a full disk or quota has words of
    its own.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HarnessError(
            f"disk full while writing {target}; nothing of it was left. Free space and write again."
        )
    return HarnessError(
        f"cannot write {target}: {error.strerror or error}; nothing of it was left."
    )


class Sink:
    """A new file that is hashed while it is written."""

    def __init__(self, file: Path) -> None:
        self.file, self._digest, self.size = file, hashlib.sha256(), 0
        self._handle = file.open("xb")

    def raw(self, data: bytes) -> None:
        """Appends bytes to the file, and to its digest and size."""
        self._handle.write(data)
        self._digest.update(data)
        self.size += len(data)

    def close(self) -> None:
        """Closes the file once its bytes are on the disk. A second call does nothing."""
        if not self._handle.closed:
            with self._handle:
                self._handle.flush()
                os.fsync(self._handle.fileno())

    @property
    def sha256(self) -> str:
        """Hex digest of what was appended."""
        return self._digest.hexdigest()
