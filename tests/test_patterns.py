"""No pattern of Python's re repeats a group possessively: the first releases of Python 3.11 then go
on one character too far (https://github.com/python/cpython/issues/106052), and a string `"\\u"`
is JSON to one that a later Python refuses.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("generators", "conformance", "spark_checks", "recorders", "scoreboard")
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")


def compiled_patterns(source: str) -> Iterator[str]:
    """The texts given to functions of re, as they stand in a source."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re")), args=[ast.Constant(value=pattern), *_]
            ):
                yield pattern if isinstance(pattern, str) else pattern.decode("latin-1")


@pytest.mark.parametrize(
    ("source", "possessive"),
    [
        ("re.compile('(?:a|bc)*+')", True),
        ("re.match(rb'(?:a|bc){2,}+', text)", True),
        ("re.compile('(?:a|bc)*')", False),
        ("re.compile('[)]*+a++')", False),
        (r"re.compile('\\)++')", False),
    ],
)
def test_a_possessive_group_is_seen(source: str, possessive: bool) -> None:
    assert [bool(POSSESSIVE_GROUP.search(text)) for text in compiled_patterns(source)] == [
        possessive
    ]


def test_no_pattern_repeats_a_group_possessively() -> None:
    patterns = {
        f"{path.relative_to(ROOT)}: {pattern}": pattern
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        for pattern in compiled_patterns(path.read_text("utf-8"))
    }
    assert len(patterns) > 100
    assert [name for name, text in patterns.items() if POSSESSIVE_GROUP.search(text)] == []
