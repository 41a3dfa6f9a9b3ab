"""The episodes of each format's recordings.

A product's module has `episodes() -> Iterator[Episode]` over all of its recordings, which may be of
several formats.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from generators.model import Case
from generators.recorded.episodes import Episode, cases
from generators.wire_format import Format

PRODUCTS: Final[Mapping[str, str]] = {
    "alibaba-canal-json": "canal",
    "debezium-json": "debezium",
    "debezium-avro": "debezium",
    "ticdc-canal-json": "ticdc",
    "ticdc-simple-json": "ticdc",
    "ticdc-simple-avro": "ticdc",
    "ticdc-open-protocol": "ticdc",
    "ticdc-debezium-json": "ticdc",
    "ticdc-avro": "ticdc",
}
"""The product of each format that has recordings."""
_OTHER_SHAPE: Final = "+flat"
"""Part of the names of profiles whose messages have no envelope: a decoder of the format need not
read them.
"""


@cache
def _of_product(product: str) -> tuple[Episode, ...]:
    """All episodes of a product's recordings, of all its formats; made once."""
    recorded: Iterator[Episode] = importlib.import_module(
        f"generators.recorded.{product}"
    ).episodes()
    return tuple(recorded)


def episodes(name: str) -> tuple[Episode, ...]:
    """The episodes of a format's recordings, in their order; none for a format without
    recordings.
    """
    product = PRODUCTS.get(name)
    return (
        tuple(episode for episode in _of_product(product) if episode.recording.format == name)
        if product
        else ()
    )


@cache
def recorded_cases(fmt: Format[Any], globs: Sequence[str] = ("*",)) -> tuple[Case, ...]:
    """The cases of a format's recordings whose profile matches one of the globs. The glob `*`
    leaves out profiles whose messages have no envelope (`+flat`), which a decoder of the format
    need not read.
    """

    def is_selected(profile: str) -> bool:
        """Whether a recording's profile matches one of the globs."""
        return any(
            fnmatchcase(profile, glob) and (glob != "*" or _OTHER_SHAPE not in profile)
            for glob in globs
        )

    selected: list[Case] = []
    for episode in episodes(fmt.name):
        profile = episode.recording.profile
        if is_selected(profile):
            selected += cases(fmt, fmt.profile(profile), episode)
    return tuple(selected)
