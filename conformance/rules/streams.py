"""The rules of streams: what keyed tables that are kept from a decoder's changes owe.

They are laws over whole streams (laws.toml): no selector owns them, `conformance.streams.reading`
does. How a format orders the changes of one row is the `[order]` of its file of rules
(`conformance.rules.order`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from conformance.rules.book import law, read_laws
from conformance.rules.order import order_of
from conformance.rules.rule import Rule


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The stream rules of a format (on tables that are kept from a whole stream),
    `<format>/stream/<name>`: those of laws.toml whose need the format's order of changes meets. The
    rule `stream/order` has the citations and the provenance of that order. Raises UnknownName for
    an unknown format.
    """
    order = order_of(fmt)
    stream_rules = (
        law(fmt, name)
        for name, entry in read_laws().items()
        if name.startswith("stream/") and order.has(entry.get("needs", ""))
    )
    return tuple(
        replace(rule, citations=order.citations, provenance=order.provenance)
        if rule.id == f"{fmt}/stream/order"
        else rule
        for rule in stream_rules
    )
