"""The catalogue of sources: what rules cite, in our own words, with evidence that a reader can
open.

One TOML file a product (`ticdc.toml`, `canal.toml` ...), `standards.toml` for standards and
manuals, `harness.toml` for what the harness itself demands. A citation is `page#fact`.
docs/sources/ shows each file as a page (`conformance.pages.sources`).

    title = "TiCDC"

    [documents.canal-json]                    # a page of documentation
    title = "TiCDC Canal-JSON Protocol"
    publisher = "PingCAP"
    address = "https://docs.pingcap.com/..."

    [repositories.tiflow]                     # one commit of a product's source
    name = "pingcap/tiflow"
    commit = "<40 hex digits>"
    release = "v8.5.7"

    [facts.delete-row-in-data]
    fact = "The row of a DELETE stands in data; old is null."
    evidence = [
        { document = "canal-json", section = "Delete events", quote = "..." },
        { repository = "tiflow", path = "pkg/.../encoder.go", symbol = "newJSONMessageForDML", lines
        = "92-110" },
        { repository = "tiflow", issue = 1234, quote = "..." },
        { recorded = "TiCDC v7.1.6", message = '{"id":0,...}' },
        { run = "com.alibaba.fastjson2:fastjson2:2.0.4, JSON.toJSONBytes", result = "..." },
        { reason = "why the harness demands it, where no source says so" },
    ]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final

from conformance.rules.tables import (
    TableFile,
    check_fields,
    check_name,
    naming_place,
    read_package_toml,
)
from generators.errors import UnknownName, UsageError

REPOSITORY: Final = "https://github.com/{name}"
"""The web address of a repository on GitHub."""
PARTS: Final = {
    **dict.fromkeys(("title", "intro"), str),
    **dict.fromkeys(("documents", "repositories", "facts"), dict),
}
"""The legal top-level keys of a page's TOML file, with the types of their values."""
EVIDENCE: Final[Mapping[str, tuple[str, ...]]] = {
    "document": ("section", "quote"),
    "repository": ("path", "symbol", "lines", "issue", "quote"),
    "recorded": ("message",),
    "run": ("result",),
    "reason": (),
}
"""The kinds of evidence, by the key that tells the kind, with the further keys that such an entry
may have.
"""


@dataclass(frozen=True, slots=True)
class Document:
    """A page of documentation, a standard or a manual. `standard` tells that no vendor of a CDC
    product publishes it.
    """

    title: str
    publisher: str
    address: str
    standard: bool = False


@dataclass(frozen=True, slots=True)
class Repository:
    """A product's source at one commit; `release` is the release that the commit is, or is in."""

    name: str
    commit: str
    release: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What shows a fact. `kind` is document, standard, source, issue, recorded, run or reason;
    `address` is where to open it.

    `text` says in one line what it is; `quote` is what stands there, or the recorded message, or
    what the run gave.
    """

    kind: str
    text: str
    address: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the catalogue of sources: a statement in our own words, with the evidence that
    shows it.
    """

    page: str
    name: str
    statement: str
    evidence: tuple[Evidence, ...]

    @property
    def id(self) -> str:
        """`page#name`, as rules cite it."""
        return f"{self.page}#{self.name}"


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the catalogue of sources, such as ticdc.toml: its facts, and the documents and
    repositories that their evidence names, each by its key in the file.
    """

    name: str
    title: str
    intro: str = ""
    documents: Mapping[str, Document] = field(default_factory=dict)
    repositories: Mapping[str, Repository] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)


def pages() -> Mapping[str, Page]:
    """All pages of the catalogue of sources by name. Raises UsageError, which names the page, the
    fact and what is wrong, for an error in a file.
    """
    return {name: page(name) for name in _names()}


@cache
def page(name: str) -> Page:
    """The page of sources with that name, such as `maxwell`. Raises UnknownName with the nearest
    match, and UsageError, which names the fact and what is wrong, for an error in its file.
    """
    return read(check_name(name, "page of sources", _names()), read_package_toml(__name__, name)[1])


@cache
def _names() -> tuple[str, ...]:
    """The names of the pages of sources: the TOML files of this folder."""
    files = sorted(path.name for path in resources.files(__name__).iterdir())
    return tuple(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def fact(cited: str) -> Fact:
    """The fact that a citation such as `maxwell#nulls` names: page of sources, `#`, fact. Raises
    UnknownName with the nearest match.
    """
    where, _, name = cited.partition("#")
    facts = page(where).facts
    if name not in facts:
        raise UnknownName("fact", name, facts, of=f"sources/{where}.toml")
    return facts[name]


def read(name: str, toml_text: str) -> Page:
    """Parses one page of the catalogue of sources: its documents, repositories and facts. Raises
    UsageError for an error in the TOML text.
    """
    data = TableFile(f"{name}.toml", toml_text, PARTS).data
    documents = {key: Document(**value) for key, value in data.get("documents", {}).items()}
    repositories = {key: Repository(**value) for key, value in data.get("repositories", {}).items()}
    for key, repository in repositories.items():
        if len(repository.commit) != 40 or set(repository.commit) - set("0123456789abcdef"):
            raise UsageError(
                f"{name}: repository {key}: commit {repository.commit!r} is not 40 hex digits"
            )
    page = Page(name, data["title"], data.get("intro", ""), documents, repositories, facts := {})
    for key, value in data.get("facts", {}).items():
        with naming_place(f"{name}#{key}"):
            check_fields(value, {"fact": str, "evidence": list}, ("fact", "evidence"))
            if not value["fact"].endswith("."):
                raise UsageError("a fact is a sentence.")
            facts[key] = Fact(
                name,
                key,
                value["fact"],
                tuple(_parse_evidence(page, item) for item in value["evidence"]),
            )
    return page


def _parse_evidence(page: Page, data: Mapping[str, Any]) -> Evidence:
    """Parses one entry of a fact's `evidence`. Raises UsageError if its kind is none of EVIDENCE, a
    field is wrong, or the page has no such document or repository.
    """
    kind = next((kind for kind in EVIDENCE if kind in data), "")
    if not kind:
        raise UsageError(f"evidence is {', '.join(EVIDENCE)}, not {', '.join(data)}.")
    check_fields(data, {name: int if name == "issue" else str for name in (kind, *EVIDENCE[kind])})
    value, quote = data[kind], data.get("quote", "")
    if kind == "document":
        document = page.documents[check_name(value, kind, page.documents)]
        citation = ", ".join(
            filter(None, (document.publisher, document.title, data.get("section")))
        )
        return Evidence(
            "standard" if document.standard else kind, citation, document.address, quote
        )
    if kind == "repository":
        return _evidence_in_repository(
            page.repositories[check_name(value, kind, page.repositories)], data, quote
        )
    if kind == "reason":
        return Evidence(kind, value)
    return Evidence(kind, f"{kind}: {value}", quote=data[EVIDENCE[kind][0]])


def _evidence_in_repository(
    repository: Repository, data: Mapping[str, Any], quote: str
) -> Evidence:
    """The evidence in a repository: an issue by its number, or a file (lines, symbol) at the
    repository's commit, with its address on GitHub.
    """
    home = REPOSITORY.format(name=repository.name)
    if "issue" in data:
        return Evidence(
            "issue", f"{repository.name}#{data['issue']}", f"{home}/issues/{data['issue']}", quote
        )
    path, lines, symbol = data["path"], data.get("lines", ""), data.get("symbol", "")
    anchor = "#" + "-".join(f"L{number}" for number in lines.split("-")) if lines else ""
    release = f" ({repository.release})" if repository.release else ""
    citation = f"{repository.name}@{repository.commit[:10]}{release} {path}" + (
        f":{symbol}" if symbol else ""
    )
    return Evidence("source", citation, f"{home}/blob/{repository.commit}/{path}{anchor}", quote)
