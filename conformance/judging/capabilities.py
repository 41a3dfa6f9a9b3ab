"""What a decoder claims to do, and the honest differences that it may claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from typing import Final

from generators.errors import UsageError

WHOLE_BEFORE: Final = "whole-before"
TYPED_VALUES: Final = "typed-values"
READ_AS_INSERT: Final = "read-as-insert"
NULL_FOR_ABSENT: Final = "null-for-absent"
STOPS: Final = "stops-on-unreadable"
CONVENTIONS: Final[Mapping[str, str]] = {
    WHOLE_BEFORE: (
        "at level one the before image of an UPDATE is the whole row, as far as the message has it"
    ),
    TYPED_VALUES: (
        "at level one a value's text is the decoder's own: presence and NULL alone are compared"
    ),
    READ_AS_INSERT: "a snapshot row is INSERT",
    NULL_FOR_ABSENT: "at level two a column that the message does not hold is NULL",
    STOPS: "an unreadable message stops the decoder: it raises, or gives no row",
}
"""Honest differences that a decoder may claim."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A decoder's claims, as globs; () claims everything. An unclaimed case is unsupported, never
    failed.

    `columns` are envelope columns of level one (`conformance.judging.output.ENVELOPE`), `types`
    keys of source types. `conventions` are honest differences, of `CONVENTIONS`; () has none.
    """

    profiles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    conventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, lists: Mapping[str, Sequence[str]]) -> Capabilities:
        """The claims of a decoder (what it says it supports), from its lists of patterns. Raises
        UsageError for an empty list, which would claim everything; `conventions` may be empty.
        """
        for name, globs in lists.items():
            if not globs and name != "conventions":
                raise UsageError(
                    f"CAPABILITIES: {name} is empty; leave it out to claim all of them"
                )
        return cls(**{name: tuple(globs) for name, globs in lists.items()})

    def __str__(self) -> str:
        """The claims in words; "" for everything."""
        lists = {field.name: getattr(self, field.name) for field in fields(self)}
        return "; ".join(f"{name} {', '.join(globs)}" for name, globs in lists.items() if globs)

    def claims(self, what: str, *names: str) -> bool:
        """Whether the decoder claims to support all these names. `what` is the field that they are
        of: "profiles", "kinds", "columns" or "types". A field without patterns claims everything.
        """
        globs: tuple[str, ...] = getattr(self, what)
        if not globs:
            return True

        def is_claimed(name: str) -> bool:
            """Whether a glob matches the name."""
            return any(fnmatchcase(name, glob) for glob in globs)

        return all(map(is_claimed, names))
