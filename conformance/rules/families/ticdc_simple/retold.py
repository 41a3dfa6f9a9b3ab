"""What the rule modules of TiCDC's Simple protocol share: citations, selectors, and rules told again for the other encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from conformance.rules.base import Aspect, Citation, Obligation, Rule, Selector
from conformance.rules.book import CONTENT

REF: Final = "reference/ticdc.md"
DOCUMENT: Final = "document 002"


def envelope(*names: str, kinds: tuple[str, ...] = (), tags: tuple[str, ...] = (), profiles: tuple[str, ...] = ()) -> Selector:
    """Envelope fields, all of them when none is named."""
    return Selector(fields=names, aspects=(Aspect.FIELD,), kinds=kinds, tags=tags, profiles=profiles)


def cells(
    *logicals: str,
    classes: tuple[str, ...] = (),
    types: tuple[str, ...] = (),
    states: tuple[str, ...] = (),
    profiles: tuple[str, ...] = (),
    levels: tuple[int, ...] = (),
) -> Selector:
    """Nullness and value of cells: a value that a cast cannot hold turns up as NULL as often as wrong."""
    return Selector(
        ("cell",), CONTENT, types=types, logicals=logicals, classes=classes, states=states, profiles=profiles, levels=levels
    )


@dataclass(frozen=True, slots=True)
class Retold:
    """How a rule that both encodings have is told in one of them; what is empty or None stays as it is."""

    statement: str = ""
    citations: tuple[tuple[str, str], ...] = ()
    obligation: Obligation | None = None


def retold(found: Iterable[Rule], words: Mapping[str, Retold]) -> tuple[Rule, ...]:
    """The rules, those that `words` names by their ids' last two parts told anew. Raises KeyError for an unknown name."""
    rules = tuple(found)
    names = [rule.id.split("/", 1)[1] for rule in rules]
    if unknown := words.keys() - set(names):
        raise KeyError(*sorted(unknown))
    return tuple(_told(rule, words.get(name, Retold())) for rule, name in zip(rules, names, strict=True))


def _told(rule: Rule, words: Retold) -> Rule:
    return replace(
        rule,
        statement=words.statement or rule.statement,
        citations=tuple(Citation(*one) for one in words.citations) or rule.citations,
        obligation=words.obligation or rule.obligation,
    )
