"""The rules of a format, with all that a rule is made of (`conformance.rules.rule`)."""

from __future__ import annotations

from functools import cache

from conformance.rules.book import book, law, laws
from conformance.rules.rule import (
    FIELDS,
    Aspect,
    Citation,
    Effect,
    Obligation,
    Provenance,
    Rule,
    Selector,
    Subject,
    owner,
)

__all__ = [
    "FIELDS",
    "Aspect",
    "Citation",
    "Effect",
    "Obligation",
    "Provenance",
    "Rule",
    "Selector",
    "Subject",
    "owner",
    "rules",
]


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The rules of a format, special before general, laws last. Raises UnknownName, and UsageError
    for a wrong file of rules.
    """
    return (*book(fmt).rules, *(law(fmt, name) for name in laws() if name.startswith("law/")))
