"""The rules of pipelines: what a table owes that a user keeps from the records of a topic.

They are laws over whole streams (laws.toml), which `conformance.pipelines` judges.
"""

from __future__ import annotations

from functools import cache

from conformance.rules.book import law, read_laws
from conformance.rules.order import order_of
from conformance.rules.rule import Rule


@cache
def rules(fmt: str) -> tuple[Rule, ...]:
    """The rules of a format on users' pipelines, `<format>/pipeline/<name>`: those of laws.toml
    whose need the format's order of changes meets. Raises UnknownName for an unknown format.
    """
    order = order_of(fmt)
    return tuple(
        law(fmt, name)
        for name, entry in read_laws().items()
        if name.startswith("pipeline/") and order.has(entry.get("needs", ""))
    )
