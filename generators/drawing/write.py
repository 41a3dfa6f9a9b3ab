"""`generators.write`: a history as one release of a product would write it."""

from __future__ import annotations

from generators.drawing.cases import LAYOUT
from generators.model import History, Layout, Written
from generators.wire_format import get


def write(
    fmt: str, history: History, *, profile: str | None = None, layout: Layout = LAYOUT
) -> list[Written]:
    """Every message that the format's writer makes of the history, in the order of publication,
    each with its expected changes.

    `profile` is the name of a release with its options, None for the format's first. Raises
    UnknownName for an unknown format or profile, and what the writer raises on a history that its
    source cannot have.
    """
    writer = get(fmt)
    return writer.write(
        history, writer.profiles[0] if profile is None else writer.profile(profile), layout
    )
