"""The generated pages of docs/ are what the registries say."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pages import PAGES
from generators.formats.base import FORMATS
from generators.nemesis import NEMESES

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_generated(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name](), "run: python -m conformance.pages docs"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_every_format(name: str) -> None:
    text = PAGES[name]()
    assert all(f"\n## {fmt}\n" in text for fmt in FORMATS)


def test_the_page_on_streams_names_every_nemesis() -> None:
    text = (DOCS / "load-and-streams.md").read_text("utf-8")
    assert [one.name for one in NEMESES if f"| {one.name} | {one.statement} |" not in text] == []
