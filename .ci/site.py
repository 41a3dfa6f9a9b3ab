"""What mkdocs asks for while it builds the site (mkdocs.yml): the navigation, which is docs/index.md's, and files outside docs/
that pages lead to. The pages are written for a code host, so their links are made to fit here."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(?<!`)(!?\[[^\]]*\])\(([^()\s:#]+)(#[^()\s]*)?\)")
GROUPS = {"Formats": "formats", "Sources": "sources", "Faults of readers": "scoreboard"}
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")


def on_config(config: Any) -> Any:
    """The navigation: each heading of the index with the pages that it names."""
    index = (ROOT / "docs" / "index.md").read_text("utf-8")
    nav: list[Any] = [{"Home": "index.md"}]
    for part in index.split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        nav.append(
            {
                title: [
                    {name[1:-1]: target.removeprefix("../")}
                    for name, target, _ in LINK.findall(text)
                ]
            }
        )
    named = {
        target
        for part in nav[1:]
        for listed in part.values()
        for one in listed
        for target in one.values()
    }
    groups = {
        name: sorted(
            page.relative_to(ROOT / "docs").as_posix()
            for page in (ROOT / "docs" / folder).glob("*.md")
        )
        for name, folder in GROUPS.items()
    }
    config.nav = [
        *nav[:-1],
        {
            title: [
                *nav[-1][title],
                *({name: [p for p in pages if p not in named]} for name, pages in groups.items()),
            ]
        },
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """The pages outside docs/, and the files that pages lead to, as they are."""
    for name in PAGES:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for page in list(files.documentation_pages()):
        folder = posixpath.dirname(_origin(page.src_uri))
        for _, target, _ in LINK.findall(page.content_string):
            path = posixpath.normpath(posixpath.join(folder, target))
            outside = not path.startswith("docs/") and path not in PAGES and (ROOT / path).is_file()
            if outside and files.get_file_from_path(_copy(path)) is None:
                files.append(File.generated(config, _copy(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with links that lead to pages and files of the site; a link to a folder outside is plain text."""
    folder = posixpath.dirname(_origin(page.file.src_uri))

    def moved(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in PAGES or path.startswith("docs/"):
            there = path.removeprefix("docs/")
        elif (ROOT / path).is_file():
            there = _copy(path)
        else:
            return text.strip("![]")
        return f"{text}({posixpath.relpath(there, posixpath.dirname(page.file.src_uri) or '.')}{anchor})"

    return LINK.sub(moved, markdown)


def _origin(src_uri: str) -> str:
    """Where a page's text is in the checkout."""
    return src_uri if src_uri in PAGES else f"docs/{src_uri}"


def _copy(path: str) -> str:
    """Where a file of the checkout is on the site: shown as text, not run or rendered."""
    return f"files/{path}" if path.endswith((".html", ".svg", ".json")) else f"files/{path}.txt"
