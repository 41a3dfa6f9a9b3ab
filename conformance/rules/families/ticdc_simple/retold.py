"""What the rule modules of TiCDC's Simple protocol share: selectors, and rules with other words for the other encoding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from conformance.rules.base import Aspect, Citation, Obligation, Provenance, Rule, Selector
from conformance.rules.book import CONTENT


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
    """The words of a rule of both encodings in one of them; what is empty or None stays as it is."""

    statement: str = ""
    citations: tuple[str, ...] = ()
    obligation: Obligation | None = None
    provenance: Provenance | None = None


def retold(found: Iterable[Rule], words: Mapping[str, Retold]) -> tuple[Rule, ...]:
    """The rules, with other words for those that `words` names (ids without the format). Raises KeyError for an unknown name."""
    rules = tuple(found)
    names = [rule.id.split("/", 1)[1] for rule in rules]
    if unknown := words.keys() - set(names):
        raise KeyError(*sorted(unknown))
    return tuple(_told(rule, words.get(name, Retold())) for rule, name in zip(rules, names, strict=True))


def _told(rule: Rule, words: Retold) -> Rule:
    return replace(
        rule,
        statement=words.statement or rule.statement,
        citations=tuple(Citation(one) for one in words.citations) or rule.citations,
        obligation=words.obligation or rule.obligation,
        provenance=words.provenance or rule.provenance,
    )
