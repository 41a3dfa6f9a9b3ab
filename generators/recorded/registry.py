"""The episodes of each format's recordings.

A product's module has `episodes() -> Iterator[Episode]` over all of its recordings, which may be of several formats.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from generators.model import Case
from generators.recorded import store
from generators.recorded.base import Episode, cases
from generators.wire_format import Format


@cache
def _of_product(product: str) -> tuple[Episode, ...]:
    module = f"generators.recorded.{product}"
    if importlib.util.find_spec(module) is None:
        return ()
    found: Iterator[Episode] = importlib.import_module(module).episodes()
    return tuple(found)


def episodes(name: str) -> tuple[Episode, ...]:
    """The episodes of a format's recordings, in their order; none for a format without recordings."""
    products = [p for p in store.PRODUCTS if any(recording.format == name for recording in store.recordings(p))]
    return tuple(one for product in products for one in _of_product(product) if one.recording.format == name)


@cache
def recorded_cases(fmt: Format[Any], globs: Sequence[str] = ("*",)) -> tuple[Case, ...]:
    """The cases of a format's recordings whose writer profile matches a glob."""
    return tuple(
        case
        for episode in episodes(fmt.name)
        if any(fnmatchcase(episode.recording.profile, glob) for glob in globs)
        for case in cases(fmt, fmt.profile(episode.recording.profile), episode)
    )


def find_episode(case: Case) -> Episode | None:
    """The episode of a case."""
    stem = case.id.removesuffix("/typed")
    return next((one for one in episodes(case.format) if one.case_id == stem), None)
