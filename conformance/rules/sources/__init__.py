"""The catalogue of sources: what rules cite, in our own words, with evidence that a reader can open.

One TOML file a product (`ticdc.toml`, `canal.toml` ...), `standards.toml` for standards and manuals, `harness.toml` for what the
harness itself demands. A citation is `page#fact`. docs/sources/ shows each file as a page (`conformance.pages.sources`).

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
        { repository = "tiflow", path = "pkg/.../encoder.go", symbol = "newJSONMessageForDML", lines = "92-110" },
        { repository = "tiflow", issue = 1234, quote = "..." },
        { recorded = "TiCDC v7.1.6", message = '{"id":0,...}' },
        { run = "com.alibaba.fastjson2:fastjson2:2.0.4, JSON.toJSONBytes", result = "..." },
        { reason = "why the harness demands it, where no source says so" },
    ]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, Final, TypeVar

from generators.errors import UnknownName

REPOSITORY: Final = "https://github.com/{name}"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Document:
    """A page of documentation, a standard or a manual. `standard` tells that no vendor of a CDC product publishes it."""

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
    """What shows a fact. `kind` is document, standard, source, issue, recorded, run or reason; `address` is where to open it.

    `text` says in one line what it is; `quote` is what stands there, or the recorded message, or what the run gave.
    """

    kind: str
    text: str
    address: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """An entry of the catalogue."""

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
    """A file of the catalogue."""

    name: str
    title: str
    intro: str = ""
    documents: Mapping[str, Document] = field(default_factory=dict)
    repositories: Mapping[str, Repository] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)


def pages() -> Mapping[str, Page]:
    """Every page by name. Raises ValueError that names the page, the fact and the key that is wrong."""
    return {name: page(name) for name in _names()}


@cache
def page(name: str) -> Page:
    """A page. Raises UnknownName with the nearest match, and ValueError as `pages` does."""
    if name not in _names():
        raise UnknownName("page of sources", name, _names())
    return read(name, resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))


@cache
def _names() -> tuple[str, ...]:
    files = sorted(path.name for path in resources.files(__name__).iterdir())
    return tuple(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def fact(cited: str) -> Fact:
    """The fact of a citation. Raises UnknownName with the nearest match."""
    where, _, name = cited.partition("#")
    facts = page(where).facts
    if name not in facts:
        raise UnknownName("fact", name, facts, of=f"sources/{where}.toml")
    return facts[name]


def read(name: str, text: str) -> Page:
    """A page from its TOML text. Raises ValueError."""
    data = tomllib.loads(text)
    _only(data, ("title", "intro", "documents", "repositories", "facts"), name)
    documents = {key: Document(**value) for key, value in data.get("documents", {}).items()}
    repositories = {key: Repository(**value) for key, value in data.get("repositories", {}).items()}
    for key, one in repositories.items():
        if len(one.commit) != 40 or set(one.commit) - set("0123456789abcdef"):
            raise ValueError(f"{name}: repository {key}: commit {one.commit!r} is not 40 hex digits")
    page = Page(name, data["title"], data.get("intro", ""), documents, repositories, facts := {})
    for key, value in data.get("facts", {}).items():
        where = f"{name}#{key}"
        _only(value, ("fact", "evidence"), where)
        if not value["fact"].endswith(".") or not value["evidence"]:
            raise ValueError(f"{where}: a fact is a sentence with evidence")
        facts[key] = Fact(name, key, value["fact"], tuple(_evidence(page, one, where) for one in value["evidence"]))
    return page


def _only(data: Mapping[str, Any], legal: tuple[str, ...], where: str) -> None:
    known = dict.fromkeys(legal)
    for key in data:
        _known(known, "key", key, where)


def _known(known: Mapping[str, T], what: str, name: str, where: str) -> T:
    if name not in known:
        raise ValueError(f"{where}: unknown {what} {name!r}; known are {', '.join(known)}")
    return known[name]


def _evidence(page: Page, data: Mapping[str, Any], where: str) -> Evidence:
    match data:
        case {"document": name}:
            _only(data, ("document", "section", "quote"), where)
            document = _known(page.documents, "document", name, where)
            section = data.get("section", "")
            kind = "standard" if document.standard else "document"
            text = f"{document.publisher}, {document.title}" + (f", {section}" if section else "")
            return Evidence(kind, text, document.address, data.get("quote", ""))
        case {"repository": name}:
            _only(data, ("repository", "path", "symbol", "lines", "issue", "quote"), where)
            repository = _known(page.repositories, "repository", name, where)
            home = REPOSITORY.format(name=repository.name)
            if "issue" in data:
                number = data["issue"]
                return Evidence("issue", f"{repository.name}#{number}", f"{home}/issues/{number}", data.get("quote", ""))
            path, lines, symbol = data["path"], data.get("lines", ""), data.get("symbol", "")
            anchor = "#" + "-".join(f"L{number}" for number in lines.split("-")) if lines else ""
            release = f" ({repository.release})" if repository.release else ""
            text = f"{repository.name}@{repository.commit[:10]}{release} {path}" + (f":{symbol}" if symbol else "")
            return Evidence("source", text, f"{home}/blob/{repository.commit}/{path}{anchor}", data.get("quote", ""))
        case {"recorded": product, "message": message}:
            _only(data, ("recorded", "message"), where)
            return Evidence("recorded", f"recorded: {product}", quote=message)
        case {"run": what, "result": result}:
            _only(data, ("run", "result"), where)
            return Evidence("run", f"run: {what}", quote=result)
        case {"reason": why}:
            _only(data, ("reason",), where)
            return Evidence("reason", why)
    raise ValueError(f"{where}: evidence is a document, repository, recorded, run or reason, not {sorted(data)}")
