"""The run as a badge: the JSON that shields.io's endpoint badge reads."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import orjson

from conformance.judging.results import RunResult
from conformance.reports import facts
from conformance.reports.facts import Standing

LABEL: Final = "cdc conformance"
"""The left half of the badge."""


def badge(result: RunResult) -> dict[str, Any]:
    """The run as a badge: the JSON object for shields.io, with the share of rules that the decoder
    keeps, of those that the run could reach, and a colour.
    """
    if result.ended:
        return _badge("unfinished", "lightgrey")
    if result.exit_code == 4:
        return _badge("nothing judged", "lightgrey")
    counts: Counter[Standing] = Counter()
    for fmt in result.formats:
        counts.update(facts.counts(facts.standings(fmt, result.strict)))
    total = facts.reached(counts)
    kept_rules = counts[Standing.KEPT]
    known_rules = counts[Standing.KNOWN]
    name = (
        result.formats[0].format if len(result.formats) == 1 else f"{len(result.formats)} formats"
    )
    message = f"{name}: {kept_rules}/{total} rules" + (
        f", {known_rules} known" if known_rules else ""
    )
    if result.exit_code == 1:
        return _badge(message, "red")
    if result.exit_code:
        return _badge(f"{message}, record out of date", "orange")
    return _badge(
        message, "brightgreen" if kept_rules == total else "yellow" if known_rules else "green"
    )


def badge_bytes(result: RunResult) -> bytes:
    """The content of badge.json."""
    return orjson.dumps(badge(result), option=orjson.OPT_APPEND_NEWLINE)


def _badge(message: str, colour: str) -> dict[str, Any]:
    """The JSON object for shields.io with this text and colour."""
    return {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
