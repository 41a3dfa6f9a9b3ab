"""`rules --explain ID`: a rule with its sources, a message that exercises it, and the decoders that
break it.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, NamedTuple

from conformance.commands.shell import OutputStyle
from conformance.engines.specs import SPARK_LIARS
from conformance.reports.excerpt import excerpt_value
from conformance.rules import pipelines, streams
from conformance.rules.rules import Rule, rules
from conformance.rules.sources import fact
from conformance.rules.tables import TableFile, read_package_toml
from conformance.selftest.exercise import find_exercising_case
from conformance.selftest.keeping import mistakes_of
from conformance.selftest.liars.table import liars
from conformance.text import printable
from generators.errors import UnknownName, UsageError, nearest
from generators.wire_format import FORMATS, get

MESSAGE: int = 2000
"""Characters of a message that are shown."""


def explain(rule_id: str, style: OutputStyle) -> str:
    """What `rules --explain` prints on a rule: lines of text, or a JSON object for the style json.
    `rule_id` may lack the format. Raises UnknownName, UsageError.
    """
    name = rule_id.partition("/")[0]
    if name not in FORMATS:
        name, rule_id = _find_whole_id(rule_id)
    rules_by_id = {rule.id: rule for rule in _rules(name)}
    rule = rules_by_id.get(rule_id)
    if rule is None:
        raise UnknownName("rule", rule_id, rules_by_id)
    facts = _facts(name, rule)
    return (
        json.dumps(facts, ensure_ascii=False, indent=1)
        if style == "json"
        else "\n".join(_lines(facts, rule.law))
    )


def _rules(name: str) -> tuple[Rule, ...]:
    """All rules of a format: those of decoding, of streams and of pipelines."""
    return (*rules(name), *streams.rules(name), *pipelines.rules(name))


def _has_rule(format_name: str, rule_id: str) -> bool:
    """Whether the format has a rule with this id."""
    return any(rule.id == rule_id for rule in _rules(format_name))


def _find_whole_id(short_id: str) -> tuple[str, str]:
    """The format and the id of a rule that is named without its format, as runs print it. Raises
    UsageError with the formats that have it, UnknownName if none has.
    """
    names = [name for name in FORMATS if _has_rule(name, f"{name}/{short_id}")]
    if len(names) == 1:
        return names[0], f"{names[0]}/{short_id}"
    if names:
        raise UsageError(
            f"rule {short_id!r} is one of {len(names)} formats: put the format before it, as in"
            f" {names[0]}/{short_id}. They are {', '.join(names)}"
        )
    if "/" not in short_id or nearest(short_id.partition("/")[0], FORMATS, 0.7):
        raise UnknownName("format", short_id.partition("/")[0], FORMATS)
    all_rules = itertools.chain.from_iterable(map(_rules, FORMATS))
    short_ids = {rule.id.partition("/")[2] for rule in all_rules}
    raise UnknownName("rule", short_id, short_ids)


def _facts(name: str, rule: Rule) -> dict[str, Any]:
    """What is known of a format's rule, as JSON: its fields, its sources with their evidence, a
    case and message that exercise it (null for a law, a rule that a check of its own judges), and
    the wrong decoders of the self test that break it.
    """
    case, message = find_exercising_case(get(name), rule) or (None, None)
    sources = map(fact, (citation.where for citation in rule.citations))
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
            for source in sources
        ],
        "case": case.id if case else None,
        "message": excerpt_value(message.value, limit=MESSAGE).plain if message else None,
        "broken_by": [
            {"decoder": liar.name, "why": liar.why}
            for liar in _liars(name, rule)
            if liar.broken_rule == rule.id
        ],
    }


class Liar(NamedTuple):
    """A decoder, or a program that keeps tables, with a deliberate mistake: its name, the id of the
    rule that it breaks, and what it does wrong.
    """

    name: str
    broken_rule: str
    why: str


def _liars(name: str, rule: Rule) -> Iterator[Liar]:
    """The programs of the self test with a deliberate mistake, each with the rule that it breaks:
    for a rule on streams those that keep tables from a stream; for any other rule the format's
    wrong decoders, in the self test's tables and in Spark.
    """
    if rule.law == "stream":
        for mistake in mistakes_of(name):
            for broken_rule in mistake.rules(name):
                yield Liar(mistake.name, f"{name}/stream/{broken_rule}", mistake.why)
    else:
        for liar in liars(name):
            yield Liar(liar.name, liar.convicts, liar.why)
        yield from _spark_liars(name)


def _spark_liars(name: str) -> Iterator[Liar]:
    """The wrong decoders in Spark of a format (for the self test), read from their TOML tables,
    which needs no Spark.
    """
    file, shared_file = (
        TableFile(*read_package_toml(SPARK_LIARS, stem), {"shared": str, "liars": list})
        for stem in (name, "shared")
    )
    shared = {entry.name: entry.value for entry in shared_file.entries("liars")}
    own_lines = [entry.value for entry in file.entries("liars")]
    shared_lines = [shared[liar_name] for liar_name in file.data.get("shared", "").split()]
    for line in (*own_lines, *shared_lines):
        yield Liar(line["name"], f"{name}/{line['convicts']}", line["why"])


def _lines(facts: dict[str, Any], law: str) -> Iterator[str]:
    """The facts of a rule (as `_facts` gives them) as lines of text; `law` is the name of the
    rule's law, "" for a rule on messages, and tells what exercises a rule that no case does.
    """
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
