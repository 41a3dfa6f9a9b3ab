"""Load: an endless stream of changes of one table, addressable by position.

Unit n is a change of `orders`; `messages` gives the messages that the writer publishes for it. A
consumer can derive their expected changes from `orders.load_scenario`.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

from generators.bulk._filler import Filler
from generators.bulk.orders import BLOCK, DEFAULT, LoadOptions, block, load_scenario
from generators.bulk.templates import NotLearned
from generators.drawing.cases import LAYOUT
from generators.errors import UsageError
from generators.model import Layout, Message
from generators.profiles import Profile
from generators.wire_format import Format


def messages(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    start: int = 0,
    count: int | None = None,
    *,
    layout: Layout = LAYOUT,
    options: LoadOptions = DEFAULT,
) -> Iterator[Message]:
    """The messages of units `start` to `start + count - 1`; without an end if `count` is None. They
    are byte for byte what the writer writes for `load_scenario`. A unit that a format writes as
    several messages is never cut; a format may write no message for some units.

    The first call for a profile takes a moment to learn the writer's bytes; if they cannot be
    learned, the writer itself writes every message. Raises UsageError for a negative start or
    count.
    """
    if start < 0 or (count is not None and count < 0):
        raise UsageError(f"load from {start}, {count} units: neither may be negative")
    filler = _learned_filler(cast("Hashable", fmt.write), profile, layout, options)
    if not isinstance(filler, str):
        return _from_templates(filler, fmt, profile, seed, start, count, options)
    return _from_writer(
        fmt,
        profile,
        seed,
        itertools.count(start) if count is None else range(start, start + count),
        layout,
        options,
    )


def why_not_learned(
    fmt: Format[Any], profile: Profile, layout: Layout = LAYOUT, options: LoadOptions = DEFAULT
) -> str | None:
    """Why the writer itself must write each message of load, which is slower; None if its bytes can
    be learned (a template of the message's bytes, into which new values are filled).
    """
    learned = _learned_filler(cast("Hashable", fmt.write), profile, layout, options)
    return learned if isinstance(learned, str) else None


def _from_writer(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    units: Iterable[int],
    layout: Layout,
    options: LoadOptions,
) -> Iterator[Message]:
    """The messages of a load, written by the format's own writer. `units` are the numbers of the
    load's units, each of which is one statement.
    """
    for n in units:
        for written in fmt.write(
            load_scenario(fmt, profile, seed, n, options).history, profile, layout
        ):
            yield written.message


def _from_templates(
    filler: Filler,
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    start: int,
    count: int | None,
    options: LoadOptions,
) -> Iterator[Message]:
    """The messages of `count` units of load (each one statement) from number `start` on; without an
    end if `count` is None. `filler` makes them from the templates that it has learned, block by
    block.
    """
    end = None if count is None else start + count
    while end is None or start < end:
        block_number, place = divmod(start, BLOCK)
        first = block_number * BLOCK
        places_end = BLOCK if end is None else min(BLOCK, end - first)
        yield from filler.expand(
            block(seed, fmt, profile, block_number, options), first, range(place, places_end)
        )
        start = first + places_end


@lru_cache(maxsize=64)
def _learned_filler(
    write: Hashable, profile: Profile, layout: Layout, options: LoadOptions
) -> Filler | str:
    """What makes load's messages without the writer: a Filler, which has the bytes that all
    messages of the writing function `write` share, as templates. If the templates cannot follow the
    writer, a text that says why.
    """
    try:
        return Filler(cast("Any", write), profile, layout, options)
    except NotLearned as error:
        return str(error)
