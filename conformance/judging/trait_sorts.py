"""The vocabulary of traits: what a row, a cell or a message may have that explains why a decoder
fails on it.

Causes name traits in keys, which stand in people's records of known failures; mistakes name them in
sentences. Both texts are in wording.toml, under `keys` and under `sorts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from conformance.judging.wording import words_of

Trait: TypeAlias = tuple[str, ...]
"""A sort and its words, from wide to narrow, such as ("op", "DELETE") or ("null", "old"). Each
beginning of a cell's trait is a wider one: ("cell", "int", "value") holds ("cell", "int", "value",
"plain").
"""
Traits: TypeAlias = tuple[Trait, ...]
SORTS: Final = words_of("sorts")
"""How a trait is said in a sentence, by its sort."""
KEYS: Final = words_of("keys")
"""How a trait stands in the key of a cause, by its sort; {} are its words. A sort that is not here
is no subject of causes.
"""
_RANKED: Final = (
    *("any", "row", "later", "equal", "same", "rekeyed", "repeated", "same-rows", "same-as-before"),
    *("same-row-as-before", "behind-rows"),
    *("table-sign", "table-capital", "database-sign", "database-capital"),
    *(
        "key-sign",
        "key-capital",
        "untold-key",
        "commit-fraction",
        "declared",
        "keys",
        "bare",
        "op",
        "kind",
        "before-image",
        "null",
        "empty",
        "several",
        "foreign",
    ),
    *(
        "cells",
        "side",
        "changed-key",
        "key",
        "new-column",
        "other-columns-before",
        "column-not-before",
        "value-before",
        "unchanged",
        "changed",
        "unsigned",
        "negative",
        "no-text",
        "family",
    ),
    *("held", "spelled", "kin", "like", "type", "keyless", "other-schema"),
    *(
        "changed-later",
        "changed-earlier",
        "void",
        "nothing",
        "envelope-name",
        "alike",
        "capital",
        "small",
        "sign",
        "long",
    ),
    *("quoted", "class", "fault", "packed", "option", "options", "trait", "release", "sql"),
    *("plain", "behind", "level", "day"),
)
"""Sorts of traits that a mistake may name. Of traits that explain as many failing units, the one
whose sort comes first here is taken.
"""
RANKS: Final = {sort: number for number, sort in enumerate(_RANKED)}
"""The rank of each sort of traits that a mistake may name; the lowest comes first."""


def rank_trait(trait: Trait) -> tuple[int, bool]:
    """The rank of a trait among those that explain equally many failing units; the lowest wins.

    The first part is the place of the trait's sort in `_RANKED`. The second is False only for the
    trait that a value is of its family's ordinary class ("kin" with `plain`, or `whole` of dates).
    This one gets the place of "held" (what a value holds), and so comes just before these: of few
    values, most hold something by chance.
    """
    sort, *words = trait
    is_ordinary = False
    if sort == "kin":
        family, value_class = words
        is_ordinary = value_class == _ORDINARY.get(family, "plain")
    return RANKS["held" if is_ordinary else sort], not is_ordinary


_ORDINARY: Final[Mapping[str, str]] = {"date": "whole"}
"""The class of ordinary values of a family of types, where it is not `plain`."""


def key_of_trait(trait: Trait) -> str:
    """The text for a trait in the key of a cause, by which records of known failures name it."""
    sort, *words = trait
    return KEYS[sort].format(" ".join(words))


def is_within(trait: Trait, wider: Trait) -> bool:
    """Whether a trait is `wider` itself, or a narrower one: it has all of its words, and more."""
    return trait[: len(wider)] == wider
