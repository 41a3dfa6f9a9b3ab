"""Judging, reducing and reporting decide on values: none looks for words of a sentence that the
harness made itself.
"""

import ast
import re
from pathlib import Path

import pytest

import conformance

ROOMS = ("judging", "reducing", "reports")
READS = frozenset({"startswith", "endswith", "removeprefix", "removesuffix", "find", "index"})
PARTS = frozenset({"partition", "rpartition", "split", "rsplit"})
WORDS = re.compile(r"[a-z]{2,} [a-z]|[a-z]{2,} \Z|\A [a-z]")
"""Part of a sentence: a word beside a blank."""


def find_sentences_that_are_read(source: str) -> list[str]:
    """The texts with words that a module looks for in another text."""
    texts: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in READS | PARTS:
                texts += node.args
        elif isinstance(node, ast.Compare):
            for operator, right in zip(node.ops, node.comparators, strict=True):
                if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, ast.Name):
                    texts.append(node.left)
    found: list[str] = []
    for text in texts:
        constants = (node for node in ast.walk(text) if isinstance(node, ast.Constant))
        found += [c.value for c in constants if isinstance(c.value, str) and WORDS.search(c.value)]
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_looks_for_words(room):
    modules = sorted((Path(conformance.__file__).parent / room).glob("*.py"))
    found = {
        module.name: texts
        for module in modules
        if (texts := find_sentences_that_are_read(module.read_text("utf-8")))
    }
    assert modules
    assert found == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("hint.startswith('the actual value is row ')", ["the actual value is row "]),
        ("text.removeprefix(f'reduced {what}')", ["reduced "]),
        ("'with a tab' in words", ["with a tab"]),
        ("text.split(' and ')", [" and "]),
        ("path.startswith('after[')", []),
        ("sort in ('op', 'kind')", []),
        ("name == 'a b'", []),
    ],
)
def test_what_counts_as_reading_a_sentence(source, found):
    assert find_sentences_that_are_read(source) == found
