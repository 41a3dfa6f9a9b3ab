"""Things that are closed at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that calls its own `close` at the end of the `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Frees what the object holds, such as a process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
