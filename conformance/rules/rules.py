"""The rules of a format, with all that a rule is made of (`conformance.rules.rule`)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from conformance.rules.book import book, law, read_laws
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
from generators.model import Kind, Logical, State

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
    """The rules of a format: special ones before general ones, then the laws of decoding that apply
    to it. A law is a rule with a check of its own in place of a selector. Raises UnknownName for an
    unknown format, and UsageError for an error in its file of rules.
    """
    format_rules = book(fmt).rules
    laws_of_format = (
        law(fmt, name)
        for name, entry in read_laws().items()
        if name.startswith("law/") and leaves_open(format_rules, entry.get("needs", ""))
    )
    return (*format_rules, *laws_of_format)


_MOMENTS: Final = frozenset({Logical.DATETIME, Logical.TIMESTAMP})
"""Types of dates with a time of day, whose zone a format may leave open."""
_FORMS: Final = frozenset(Logical) - _MOMENTS - {Logical.FLOAT, Logical.DOUBLE, Logical.JSON}
"""Types whose values a format may leave open in which form they come, such as the text of a
DECIMAL.
"""


def leaves_open(format_rules: Iterable[Rule], need: str) -> bool:
    """Whether a law of decoding applies to a format, by what the law needs. `need` is "" for a law
    that always applies. Else the law is about readings (a decoder must read a column in one way in
    all messages), and applies if one of the format's rules that is no MUST leaves open how to read
    what `need` names: "open-forms" (values), "open-zones" (dates with times) or "open-images".
    """
    loose = (rule.selector for rule in format_rules if rule.obligation is not Obligation.MUST)
    match need:
        case "open-forms":
            return any(_owns_values(selector, _FORMS) for selector in loose)
        case "open-zones":
            return any(
                _owns_values(selector, _MOMENTS)
                or ("commit_time" in selector.fields and _is_of_rows(selector))
                for selector in loose
            )
        case "open-images":
            return any(
                Aspect.IMAGE in selector.aspects and _is_of_rows(selector) for selector in loose
            )
    return True


def _is_of_rows(selector: Selector) -> bool:
    """Whether a rule with this selector can own comparisons of row changes: it names no kinds of
    change, or ROW among them.
    """
    return not selector.kinds or Kind.ROW in selector.kinds


def _owns_values(selector: Selector, logicals: Iterable[Logical]) -> bool:
    """Whether a rule with this selector owns the values (level two) of cells of one of these
    logical types, where the expected cell has exactly one right value.
    """
    names_type = bool(selector.logicals) and not set(selector.logicals).isdisjoint(logicals)
    is_of_exact_values = not selector.states or State.VALUE in selector.states
    return names_type and is_of_exact_values and selector.concerns("cell", Aspect.VALUE, 2)
