"""The session's child in place of one that a command starts and ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.engines.engine import Request


def here(spec: str) -> str:
    """The decoder of a file below the working directory by its whole path: the child was started
    elsewhere.
    """
    file = Path(spec.rpartition(".py:")[0] + ".py" if ".py:" in spec else spec)
    return spec if spec.startswith("cmd:") or not file.is_file() else str(Path.cwd() / spec)


class Lent:
    """Does as the child does, but for its end; `listener` hears of the start and of the end."""

    def __init__(self, engine: Any, listener: Callable[[str], object] = str):
        self._engine, self._listener = engine, listener
        listener("started")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def __enter__(self) -> Lent:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(self, spec: str, level: str) -> Any:
        """Loads the decoder as it stands here and now."""
        self._engine.sources(forget=True).result()
        return self._engine.load(here(spec), level)

    def decode(self, request: Request) -> Any:
        """Decodes with the decoder of here."""
        return self._engine.decode(replace(request, decoder=here(request.decoder)))

    def close(self) -> None:
        """The child stays."""
        self._listener("closed")
