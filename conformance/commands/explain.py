"""`rules --explain ID`: a rule with its sources, a message that exercises it, and the decoders that
break it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from conformance.commands.shell import OutputStyle
from conformance.reports.excerpt import excerpt_value
from conformance.rules import pipelines, streams
from conformance.rules.rules import Rule, rules
from conformance.rules.sources import fact
from conformance.selftest.exercise import find_exercising_case
from conformance.selftest.keeping import mistakes_of
from conformance.selftest.liars.table import liars
from conformance.text import printable
from generators.errors import UnknownName, UsageError, nearest
from generators.wire_format import FORMATS, get

MESSAGE: int = 2000
"""Characters of a message that are shown."""


def explain(rule_id: str, style: OutputStyle) -> str:
    """The explanation as text, Markdown or a JSON object. Raises UnknownName."""
    name = rule_id.partition("/")[0]
    if name not in FORMATS:
        name, rule_id = _find_whole_id(rule_id)
    known = {rule.id: rule for rule in _rules(name)}
    rule = known.get(rule_id)
    if rule is None:
        raise UnknownName("rule", rule_id, known)
    facts = _facts(name, rule)
    return (
        json.dumps(facts, ensure_ascii=False, indent=1)
        if style == "json"
        else "\n".join(_lines(facts, rule.law))
    )


def _rules(name: str) -> tuple[Rule, ...]:
    """All rules of a format: of decoding, of streams, of pipelines."""
    return (*rules(name), *streams.rules(name), *pipelines.rules(name))


def _find_whole_id(short_id: str) -> tuple[str, str]:
    """The format and the id of a rule that is named without its format, as runs print it. Raises
    UsageError with the formats that have it, UnknownName if none has.
    """
    names = [
        name for name in FORMATS if any(rule.id == f"{name}/{short_id}" for rule in _rules(name))
    ]
    if len(names) == 1:
        return names[0], f"{names[0]}/{short_id}"
    if names:
        raise UsageError(
            f"rule {short_id!r} is one of {len(names)} formats: put the format before it, as in"
            f" {names[0]}/{short_id}. They are {', '.join(names)}"
        )
    if "/" not in short_id or nearest(short_id.partition("/")[0], FORMATS, 0.7):
        raise UnknownName("format", short_id.partition("/")[0], FORMATS)
    short_ids = {rule.id.partition("/")[2] for name in FORMATS for rule in _rules(name)}
    raise UnknownName("rule", short_id, short_ids)


def _facts(name: str, rule: Rule) -> dict[str, Any]:
    shown = find_exercising_case(get(name), rule)
    return {
        "rule": rule.id,
        "statement": rule.statement,
        "obligation": rule.obligation.value,
        "provenance": rule.provenance.value,
        "effect": rule.effect.value,
        "sources": [
            {
                "id": source.id,
                "fact": source.statement,
                "evidence": list(map(asdict, source.evidence)),
            }
            for source in (fact(citation.where) for citation in rule.citations)
        ],
        "case": shown[0].id if shown else None,
        "message": excerpt_value(shown[1].value, limit=MESSAGE).plain if shown else None,
        "broken_by": [
            {"decoder": who, "why": why}
            for who, convicts, why in _liars(name, rule)
            if convicts == rule.id
        ],
    }


def _liars(name: str, rule: Rule) -> Iterator[tuple[str, str, str]]:
    """The decoders, or keepers of tables, that are wrong on purpose: name, the rule that they
    break, why.
    """
    if rule.law == "stream":
        pairs = (
            (mistake, convicts) for mistake in mistakes_of(name) for convicts in mistake.rules(name)
        )
        yield from (
            (mistake.name, f"{name}/stream/{convicts}", mistake.why) for mistake, convicts in pairs
        )
    else:
        yield from ((liar.name, liar.convicts, liar.why) for liar in liars(name))


def _lines(facts: dict[str, Any], law: str) -> Iterator[str]:
    yield facts["rule"]
    yield f"  {facts['statement']}"
    yield f"  {facts['obligation']}, {facts['provenance']}; whoever breaks it has {facts['effect']}"
    for source in facts["sources"]:
        yield ""
        yield f"{source['id']}: {source['fact']}"
        for evidence in source["evidence"]:
            yield f"  {evidence['kind']}: {evidence['text']}"
            if evidence["address"]:
                yield f"    {evidence['address']}"
            if evidence["quote"]:
                yield f"    {printable(evidence['quote'])}"
    yield ""
    if facts["case"]:
        yield f"exercised by {facts['case']}"
        yield f"  {facts['message']}"
    elif law == "stream":
        yield "exercised by streams of changes, read under disturbances: cdc-conformance stream"
    elif law == "pipeline":
        yield "exercised by your pipeline, under disturbances: cdc-conformance pipeline"
    else:
        yield "exercised by a sample of all messages, decoded under other circumstances"
    yield ""
    yield "broken by " + (
        "; ".join(f"{liar['decoder']} ({liar['why']})" for liar in facts["broken_by"])
        or "no decoder of the self test"
    )
