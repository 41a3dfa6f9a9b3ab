"""A writer asks a fact by its name: none compares a release, a version or the name of an option."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import generators

ROOMS = ("formats", "families")
ASKED = frozenset({"release", "version", "options"})


def comparisons(text: str) -> Iterator[int]:
    """The lines that compare, or search in, the release, version or options of something."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sides = [node.func.value] if node.func.attr in ("startswith", "endswith") else []
        else:
            continue
        if any(isinstance(side, ast.Attribute) and side.attr in ASKED for side in sides):
            yield node.lineno


@pytest.mark.parametrize(
    "line",
    [
        "if profile.version >= (2, 0): pass",
        'codes = 1 if self.profile.release == "v7.1.6" else 2',
        'old = profile.release in ("1.1.4", "1.1.5")',
        'old = profile.release.startswith("v5")',
        'routed = "routed" in profile.options',
    ],
)
def test_a_comparison_is_seen(line: str) -> None:
    assert list(comparisons(line)) == [1]


def test_no_writer_compares_a_release_a_version_or_an_option() -> None:
    home = Path(generators.__file__).parent
    found: list[tuple[str, str]] = []
    for room in ROOMS:
        for path in sorted((home / room).rglob("*.py")):
            text = path.read_text("utf-8")
            for number in comparisons(text):
                found.append((str(path.relative_to(home)), text.splitlines()[number - 1].strip()))
    # the version of a table's schema or of a Connect struct is no release
    assert found == [("families/connect.py", "if schema.version is not None:")]
