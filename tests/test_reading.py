"""How the packages read, in counts that may only fall: whoever lowers one lowers its limit here."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("generators", "conformance", "spark_checks", "recorders", "scoreboard")
COLUMNS = 100
FILLER = frozenset(
    """told tells tell said says say shown held holds hold owed owes own some each whole given made
    asked ask fine there mine kept keeps alike apart beside found one here known taken left rest
    other others sent named under within behind of seen placed tried chosen wanted wrong good bad
    right open stated much many few several stays stands filled printed counted reduced refused
    meant text rows row form""".split()  # noqa: SIM905 - a paragraph reads better than a list
)
"""Words that say nothing of what a function does, or a variable holds, where they stand alone."""
LIMITS = {
    "functions named by filler words alone": 18,
    "variables and parameters named by filler words alone": 318,
    "lines over 100 columns": 270,
    "comprehensions within comprehensions": 109,
    "imports that rename": 77,
}
CONVENTIONAL = frozenset({"F", "pa", "pd", "pq", "np", "st"})
"""The usual short names of libraries, which count as no renaming."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_filler(name: str) -> bool:
    words = name.strip("_").split("_")
    return bool(name.strip("_")) and FILLER.issuperset(words)


@pytest.mark.parametrize(
    ("name", "filler"),
    [("told", True), ("_of_row", True), ("rows", True), ("row_count", False), ("_", False)],
)
def test_a_name_is_filler_if_all_its_words_are(name: str, filler: bool) -> None:
    assert is_filler(name) is filler


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names of parameters and of assigned variables."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def is_nested(node: ast.AST) -> bool:
    """Whether it is a comprehension with two loops, or one that holds another."""
    if not isinstance(node, COMPREHENSIONS):
        return False
    inner = [child for child in ast.walk(node) if child is not node]
    return len(node.generators) > 1 or any(isinstance(child, COMPREHENSIONS) for child in inner)


def renames(node: ast.AST) -> int:
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return 0
    aliases = [alias for alias in node.names if alias.asname not in (None, alias.name)]
    return sum(alias.asname not in CONVENTIONAL for alias in aliases)


def count(source: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    counts["lines over 100 columns"] = sum(len(line) > COLUMNS for line in source.splitlines())
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            counts["functions named by filler words alone"] += is_filler(node.name)
        names = bound_names(node)
        counts["variables and parameters named by filler words alone"] += sum(map(is_filler, names))
        counts["comprehensions within comprehensions"] += is_nested(node)
        counts["imports that rename"] += renames(node)
    return counts


def test_the_counts_see_each_kind() -> None:
    source = (
        "from a import b as c\n"
        "def told(of):\n"
        f"    kept = [x for y in of for x in y]  # {'-' * COLUMNS}\n"
    )
    assert count(source) == {
        "functions named by filler words alone": 1,
        "variables and parameters named by filler words alone": 2,
        "lines over 100 columns": 1,
        "comprehensions within comprehensions": 1,
        "imports that rename": 1,
    }


def test_the_packages_read_no_worse_than_they_did() -> None:
    total: Counter[str] = Counter()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            total += count(path.read_text("utf-8"))
    worse = {name: total[name] for name, limit in LIMITS.items() if total[name] > limit}
    assert not worse, f"more than LIMITS has: {worse}"
