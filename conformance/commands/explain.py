"""`rules --explain ID`: a rule with its sources, a message that exercises it, and the decoders that break it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from conformance.reports.console import readable
from conformance.rules import streams
from conformance.rules.rules import Rule, rules
from conformance.rules.sources import fact
from conformance.selftest.exercise import exercising
from conformance.selftest.keeping import mistakes_of
from conformance.selftest.liars.table import liars
from conformance.text import printable
from generators.errors import UnknownName
from generators.wire_format import FORMATS, get

MESSAGE: int = 2000
"""Bytes of a message that are shown."""


def explain(rule_id: str, style: str) -> str:
    """The explanation as text, Markdown or a JSON object. Raises UnknownName."""
    name = rule_id.partition("/")[0]
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    known = {one.id: one for one in (*rules(name), *streams.rules(name))}
    rule = known.get(rule_id)
    if rule is None:
        raise UnknownName("rule", rule_id, known)
    told = _facts(name, rule)
    return json.dumps(told, ensure_ascii=False, indent=1) if style == "json" else "\n".join(_lines(told, rule.law))


def _facts(name: str, rule: Rule) -> dict[str, Any]:
    shown = exercising(get(name), rule)
    return {
        "rule": rule.id,
        "statement": rule.statement,
        "obligation": rule.obligation.value,
        "provenance": rule.provenance.value,
        "effect": rule.effect.value,
        "sources": [
            {"id": one.id, "fact": one.statement, "evidence": list(map(asdict, one.evidence))}
            for one in (fact(citation.where) for citation in rule.citations)
        ],
        "case": shown[0].id if shown else None,
        "message": readable(shown[1].value, MESSAGE) if shown else None,
        "broken_by": [{"decoder": who, "why": why} for who, convicts, why in _liars(name, rule) if convicts == rule.id],
    }


def _liars(name: str, rule: Rule) -> Iterator[tuple[str, str, str]]:
    """The decoders, or keepers of tables, that are wrong on purpose: name, the rule that they break, why."""
    if rule.law == "stream":
        told = ((one, convicts) for one in mistakes_of(name) for convicts in one.rules(name))
        yield from ((one.name, f"{name}/stream/{convicts}", one.why) for one, convicts in told)
    else:
        yield from ((one.name, one.convicts, one.why) for one in liars(name))


def _lines(told: dict[str, Any], law: str) -> Iterator[str]:
    yield told["rule"]
    yield f"  {told['statement']}"
    yield f"  {told['obligation']}, {told['provenance']}; whoever breaks it has {told['effect']}"
    for source in told["sources"]:
        yield ""
        yield f"{source['id']}: {source['fact']}"
        for one in source["evidence"]:
            yield f"  {one['kind']}: {one['text']}"
            if one["address"]:
                yield f"    {one['address']}"
            if one["quote"]:
                yield f"    {printable(one['quote'])}"
    yield ""
    if told["case"]:
        yield f"exercised by {told['case']}"
        yield f"  {told['message']}"
    elif law == "stream":
        yield "exercised by streams of changes, read under disturbances: cdc-conformance stream"
    else:
        yield "exercised by a sample of all messages, decoded under other circumstances"
    yield ""
    yield "broken by " + (
        "; ".join(f"{one['decoder']} ({one['why']})" for one in told["broken_by"]) or "no decoder of the self test"
    )
