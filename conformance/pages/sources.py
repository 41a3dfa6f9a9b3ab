"""docs/sources/: the catalogue of sources as pages, one a product."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.rules.base import rules
from conformance.rules.sources import Evidence, Fact, Page, pages
from conformance.rules.streams import rules as stream_rules
from generators.wire_format import FORMATS


def source_pages(note: str) -> dict[str, str]:
    """Every page by its name below docs/; `note` says what wrote it."""
    cited: dict[str, list[str]] = {}
    for name in FORMATS:
        for rule in (*rules(name), *stream_rules(name)):
            for citation in rule.citations:
                cited.setdefault(citation.where, []).append(rule.id)
    made = {f"sources/{name}.md": "\n".join(_page(page, note, cited)) + "\n" for name, page in pages().items()}
    return {"sources/index.md": "\n".join(_index(note)) + "\n"} | made


def _index(note: str) -> Iterator[str]:
    yield from ("# Sources", "", note, "")
    yield "Rules cite facts in our own words, each with evidence that a reader can open. `cdc-conformance rules --explain ID`"
    yield "prints a rule with its facts and quotations."
    yield from ("", "| page | facts | documents | repositories |", "|---|---|---|---|")
    for name, page in pages().items():
        documents = ", ".join(f"[{one.title}]({one.address})" for one in page.documents.values())
        repositories = ", ".join(sorted({one.name for one in page.repositories.values()}))
        yield f"| [{page.title}]({name}.md) | {len(page.facts)} | {documents} | {repositories} |"


def _page(page: Page, note: str, cited: dict[str, list[str]]) -> Iterator[str]:
    yield from (f"# {page.title}", "", note)
    if page.intro:
        yield from ("", page.intro)
    for fact in page.facts.values():
        yield from ("", f"## {fact.name}", "", fact.statement, "")
        yield from (f"- {_evidence(evidence)}" for evidence in fact.evidence)
        yield from _cited(fact, cited.get(fact.id, []))


def _cited(fact: Fact, ids: list[str]) -> Iterator[str]:
    if ids:
        formats = sorted({rule.partition("/")[0] for rule in ids})
        yield ""
        yield (
            f"Cited by {len(ids)} rule{'s' if len(ids) > 1 else ''} of "
            + ", ".join(f"[{name}](../formats/{name}.md)" for name in formats)
            + "."
        )


def _evidence(evidence: Evidence) -> str:
    text = f"[{evidence.text}]({evidence.address})" if evidence.address else evidence.text
    if not evidence.quote:
        return text
    if "\n" in evidence.quote or "`" in evidence.quote:
        quoted = "\n".join(f"      {line}" for line in evidence.quote.splitlines())
        return f"{text}:\n\n{quoted}"
    return f"{text}: `{evidence.quote}`" if evidence.kind in ("recorded", "run", "source") else f"{text}: “{evidence.quote}”"
