"""docs/sources/: the catalogue of sources as pages, one a product."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.pages._markdown import table
from conformance.rules.sources import REPOSITORY, Evidence, Page, pages

_TEXT: Final = """
Rules cite facts in our own words, each with evidence that a reader can open. `cdc-conformance rules --explain ID` prints a rule
with its facts and their quotations, recorded messages and results of runs, which these pages only name.
""".strip()


def source_pages(note: str) -> dict[str, str]:
    """The texts of all pages of docs/sources/, by name below docs/: one for each product, of the
    documents and repositories that rules cite, and an index. `note` is the line on what generated
    them.
    """
    page_rows = ((f"[{page.title}]({name}.md)", len(page.facts)) for name, page in pages().items())
    index = ("# Sources", "", note, "", _TEXT, "", *table(("page", "facts"), page_rows))
    page_texts = {
        f"sources/{name}.md": "\n".join(_page(page, note)) + "\n" for name, page in pages().items()
    }
    return {"sources/index.md": "\n".join(index) + "\n"} | page_texts


def _page(page: Page, note: str) -> Iterator[str]:
    """The lines of a page of sources: its documents and repositories, then each fact with its
    evidence.
    """
    yield from (f"# {page.title}", "", note)
    if page.intro:
        yield from ("", page.intro)
    cited = [
        f"{document.publisher}, [{document.title}]({document.address})"
        for document in page.documents.values()
    ]
    for repository in page.repositories.values():
        release = f" ({repository.release})" if repository.release else ""
        cited.append(
            f"[{repository.name}]({REPOSITORY.format(name=repository.name)}/tree/{repository.commit}){release}"
        )
    yield from ("", *(f"- {reference}" for reference in sorted(dict.fromkeys(cited))))
    for fact in page.facts.values():
        yield from ("", f"## {fact.name}", "", fact.statement, "")
        yield "; ".join(dict.fromkeys(_evidence(page, evidence) for evidence in fact.evidence))


def _evidence(page: Page, evidence: Evidence) -> str:
    """One piece of a fact's evidence as text for the page: the section of a document, the file and
    symbol of a source, the product that was run, or our reason.
    """
    reference = evidence.text
    match evidence.kind:
        case "document" | "standard":
            titles = (
                d.title
                for d in page.documents.values()
                if reference.startswith(f"{d.publisher}, {d.title}")
            )
            title = max(titles, key=len)
            reference = reference.partition(title)[2].removeprefix(", ") or title
        case "source":
            reference = reference.rpartition("/")[2]
        case "recorded" | "run":
            reference = reference.partition(", ")[0]
    return f"[{reference}]({evidence.address})" if evidence.address else reference
