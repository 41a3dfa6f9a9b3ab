"""The generated pages of docs/: the formats, each on a page of its own, and what documents leave open.

`python -m spark_checks.pages docs` writes them: `spark_checks` knows the decoders that make these mistakes.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.pages._samples import Sample, plain, samples
from conformance.pages.recorded import recorded_page
from conformance.pages.rooms import picture, rooms, table
from conformance.pages.sources import source_pages
from conformance.reports.facts import unusual
from conformance.rules import streams
from conformance.rules.base import Obligation, Provenance, Rule, rules
from generators.wire_format import Format, formats, module_name

COMMAND: Final = "python -m spark_checks.pages docs"
_NOTE: Final = f"<!-- Written by `{COMMAND}`; a test compares. -->"
_FOLDED: Final = 45
"""A message of so many lines is folded."""

SECTIONS: Final = ("How it works", "Example", "Traps", "Profiles", "Losses", "Rules", "Open questions")

_SELF_TEST: Final = "[self test](../design.md#what-the-harness-owes-about-itself)"


@dataclass(frozen=True, slots=True)
class Trap:
    """A mistake of decoders: a decoder of the self test makes it, and `convicts` is the rule that it breaks.

    `level` is 1 or 2, 0 for keeping tables from a stream.
    """

    name: str
    level: int
    convicts: str
    why: str


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(map(_cell, row)) + " |"


def formats_page() -> str:
    """docs/formats.md: every format in one table, and where its page is; what citations mean."""
    lines = ["# Formats", "", _NOTE, ""]
    head = ("format", "what", "source", "container", "profiles", "rules", "MUST", "SHOULD", "MAY, UNSPECIFIED")
    lines += _table(head, map(_overview, formats()))
    lines += [
        "",
        "A profile is one exact release of a writer with the options that matter. A rule is one thing that a decoder owes, with",
        "its source. `cdc-conformance formats`, `cdc-conformance rules` and `cdc-conformance cases` print the same with details.",
        "",
        "## Sources",
        "",
        "A rule cites facts of the [catalogue of sources](sources/index.md), each with evidence that a reader can open: a",
        "document, a product's source at a commit, a recorded message, a standard. DOCUMENTED rests on a vendor's document,",
        "OBSERVED on a product's source or output. What rests on no outside source is marked ASSUMED, and listed in",
        "[What the documents do not decide](undecided.md).",
    ]
    return "\n".join(lines) + "\n"


def _overview(fmt: Format[Any]) -> tuple[str, ...]:
    listed = rules(fmt.name)
    by = Counter(rule.obligation for rule in listed)
    weak = by[Obligation.MAY] + by[Obligation.UNSPECIFIED]
    counts = (len(fmt.profiles), len(listed), by[Obligation.MUST], by[Obligation.SHOULD], weak)
    return (f"[{fmt.name}](formats/{fmt.name}.md)", fmt.title, fmt.source, fmt.container, *map(str, counts))


def format_page(fmt: Format[Any], traps: Iterable[Trap]) -> str:
    """docs/formats/NAME.md: how the format works, its traps, its profiles, what it loses, its rules, what is open."""
    found = tuple(traps)
    module = importlib.import_module(f"generators.formats.{module_name(fmt.name)}")
    lines = [
        f"# {fmt.title}",
        "",
        _NOTE,
        "",
        f"`{fmt.name}`. Source: {fmt.source}. Container: {fmt.container}. [All formats](../formats.md)",
        "",
        " · ".join(f"[{name}](#{name.lower().replace(' ', '-')})" for name in SECTIONS),
        "",
        "## How it works",
        "",
        inspect.cleandoc(ast.get_docstring(ast.parse(inspect.getsource(module))) or ""),
        "",
        f"**Position** (what orders changes): {fmt.position}.",
        "",
        *_table(("message", "kind", "op", "note"), ((k.wire, k.kind, k.op, k.note) for k in fmt.kinds)),
        "",
        *_example(fmt),
        *_traps(fmt, found),
        *_profiles(fmt),
        *_losses_section(fmt),
        *_rules(fmt),
        *_open_questions(fmt),
    ]
    return "\n".join(lines) + "\n"


def _example(fmt: Format[Any]) -> Iterator[str]:
    yield "## Example"
    yield ""
    yield f"A table of four columns, a row inserted, changed and deleted, as the writer of profile `{plain(fmt).name}` writes it."
    yield "Line breaks are added."
    schema = ""
    for sample in samples(fmt):
        text = sample.text
        head = text[: text.find('\n  "payload"')] if text.startswith('{\n  "schema": {') else ""
        if head and head == schema:
            text = '{\n  "schema": (the same again),' + text[len(head) :]
        schema = head or schema
        yield ""
        yield f"**{sample.told}**: {_record(sample)}"
        yield ""
        yield from _fenced(text, sample.language)
        if sample.read:
            yield ""
            yield "The same, read with its schema (a union's record has its name before it; bytes as 0x...):"
            yield ""
            yield from _fenced(sample.read, "json")
    yield ""


def _fenced(text: str, language: str) -> Iterator[str]:
    folded = text.count("\n") >= _FOLDED
    if folded:
        yield f"<details><summary>{text.count(chr(10)) + 1} lines</summary>"
        yield ""
    yield f"```{language}"
    yield text
    yield "```"
    if folded:
        yield ""
        yield "</details>"


def _record(sample: Sample) -> str:
    message = sample.message
    if message.key is None:
        key = "key null"
    elif not message.key:
        key = "key of zero bytes"
    else:
        text = message.key.decode()
        read = json.loads(text) if text.startswith('{"schema":') else {}
        key = f'key `{{"schema": ..., "payload": {json.dumps(read["payload"])}}}`' if read else f"key `{text}`"
    headers = ", ".join(f"`{name}`" for name, _ in message.headers)
    size = "null" if message.value is None else f"{len(message.value):,} bytes"
    return f"partition {message.partition}, {key}, {f'headers {headers}' if headers else 'no headers'}, value {size}"


def _traps(fmt: Format[Any], traps: tuple[Trap, ...]) -> Iterator[str]:
    yield "## Traps"
    yield ""
    yield f"The {_SELF_TEST} has a decoder for each of these mistakes. It is wrong only in this way, and breaks the"
    yield "rule beside it. Level one is `decode`, level two `decode_rows`; `stream` keeps tables from a decoder's changes."
    yield ""
    head = f"{fmt.name}/"
    rows = (
        (trap.name, trap.why, trap.convicts.removeprefix(head), str(trap.level) if trap.level else "stream")
        for trap in sorted(traps, key=lambda trap: trap.level or 3)
    )
    yield from _table(("mistake", "what it does", "convicted by", "level"), rows)
    yield ""


def _profiles(fmt: Format[Any]) -> Iterator[str]:
    yield "## Profiles"
    yield ""
    rows = [(f"`{p.name}`", p.source, unusual(p.deployment) or "UTC, utf8mb4, not compressed") for p in fmt.profiles]
    yield from _table(("profile", "database", "the decoder's `deployment`"), rows)
    if fmt.choices is not None and fmt.choices.options:
        yield ""
        yield (
            "A profile's name is its release with its options. `--writer-profile` takes any release of "
            f"{', '.join(f'`{one}`' for one in fmt.choices.releases)} with any of these that go together."
        )
        yield ""
        yield from _table(("option", "means"), ((f"`{option}`", text) for option, text in fmt.choices.options.items()))
    yield ""


def _losses_section(fmt: Format[Any]) -> Iterator[str]:
    yield "## Losses"
    yield ""
    lost = list(_losses(fmt))
    if lost:
        yield "What these messages lack of the source's values, for every decoder."
        yield ""
        yield from _table(("loses", "in", "source"), lost)
    else:
        yield "None is declared: in the differential check the messages hold all values of the table."
    yield ""


def _losses(fmt: Format[Any]) -> Iterator[tuple[str, str, str]]:
    """What a format's messages lack, with the profiles that lack it."""
    losing: dict[tuple[str, str], list[str]] = {}
    for profile in fmt.profiles:
        for loss in fmt.losses(profile):
            losing.setdefault((loss.statement, loss.citation), []).append(f"`{profile.name}`")
    for (statement, citation), names in losing.items():
        yield statement, _where(fmt, names), citation


def _where(fmt: Format[Any], names: list[str]) -> str:
    if len(names) == len(fmt.profiles) > 1:
        return "every profile"
    for source in sorted({p.source for p in fmt.profiles}):
        if names == [f"`{p.name}`" for p in fmt.profiles if p.source == source] and len(names) > 1:
            return f"every profile of {source}"
    return ", ".join(names)


def _rules(fmt: Format[Any]) -> Iterator[str]:
    yield "## Rules"
    yield ""
    yield "From special to general: a mismatch breaks the first rule that owns it. A broken MUST fails a decoder; a"
    yield "broken SHOULD fails it with `--strict`; MAY and UNSPECIFIED never fail. ASSUMED rests on no outside source."
    yield ""
    head = ("rule", "owed", "source", "effect", "statement", "citations")
    yield from _table(head, (_rule(fmt, rule) for rule in rules(fmt.name)))
    yield ""
    yield "For tables kept from a stream (`cdc-conformance stream`):"
    yield ""
    yield from _table(head, (_rule(fmt, rule) for rule in streams.rules(fmt.name)))
    yield ""


def _rule(fmt: Format[Any], rule: Rule) -> tuple[str, ...]:
    return (
        rule.id.removeprefix(f"{fmt.name}/"),
        rule.obligation.value,
        rule.provenance.value,
        rule.effect.value,
        rule.statement,
        _cited(rule, "../"),
    )


def _cited(rule: Rule, where: str) -> str:
    return "; ".join(f"[{citation.where}]({where}sources/{citation.where.replace('#', '.md#')})" for citation in rule.citations)


def _assumed(fmt: Format[Any]) -> Iterator[tuple[str, list[str]]]:
    assumptions: dict[str, list[str]] = {}
    for profile in fmt.profiles:
        if profile.assumed:
            assumptions.setdefault(profile.assumed, []).append(f"`{profile.name}`")
    yield from assumptions.items()


def _open_questions(fmt: Format[Any]) -> Iterator[str]:
    yield "## Open questions"
    assumed = list(_assumed(fmt))
    for text, names in assumed:
        where = "" if len(names) == len(fmt.profiles) else f" in {', '.join(names)}"
        yield ""
        yield f"Assumed{where}: {text}."
    open_rules = [rule.id.removeprefix(f"{fmt.name}/") for rule in rules(fmt.name) if _open(rule) and not rule.law]
    yield ""
    yield f"[{len(open_rules)} rules](../undecided.md#{fmt.name}) rest on an assumption or are left open by the documents."


def _open(rule: Rule) -> bool:
    return rule.provenance is Provenance.ASSUMED or rule.obligation in (Obligation.UNSPECIFIED, Obligation.MAY)


def undecided_page() -> str:
    """docs/undecided.md: value forms without an outside literal, and rules that no document or product settles."""
    lines = [
        "# What the documents do not decide",
        "",
        _NOTE,
        "",
        "Where a vendor's document is silent or contradicts itself, the harness does the most plausible thing and says so here.",
        "An UNSPECIFIED rule is reported and never fails a decoder; an ASSUMED one rests on no outside source.",
        "[What citations mean](formats.md#sources).",
    ]
    for fmt in formats():
        lines += ["", f"## {fmt.name}"]
        for text, names in _assumed(fmt):
            where = "" if len(names) == len(fmt.profiles) else f" in {', '.join(names)}"
            lines += ["", f"Assumed{where}: {text}."]
        left = (
            (
                rule.id.removeprefix(f"{fmt.name}/"),
                rule.obligation.value,
                rule.provenance.value,
                rule.statement,
                _cited(rule, ""),
            )
            for rule in rules(fmt.name)
            if _open(rule) and not rule.law
        )
        lines += ["", *_table(("rule", "obligation", "provenance", "statement", "citations"), left)]
    return "\n".join(lines) + "\n"


def pages(traps: Mapping[str, Iterable[Trap]]) -> dict[str, str]:
    """Every generated page by its name below docs/; `traps` are by format."""
    made = {"formats.md": formats_page(), "undecided.md": undecided_page(), **source_pages(_NOTE)}
    found = rooms(Path(__file__).parents[2])
    made["recorded.md"] = recorded_page(_NOTE)
    made |= {"rooms.md": table(found, _NOTE), "rooms.svg": picture(found)}
    return made | {f"formats/{fmt.name}.md": format_page(fmt, traps[fmt.name]) for fmt in formats()}
