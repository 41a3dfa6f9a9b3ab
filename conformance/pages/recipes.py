"""The mistakes that recipes for Spark make in a format, as its page names them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from generators.wire_format import Format

FAULTS: Final = Path(__file__).parents[2] / "scoreboard" / "faults"


@cache
def recipe_mistakes() -> dict[str, tuple[str, ...]]:
    """The titles of the mistakes by format."""
    titles: dict[str, list[str]] = {}
    for path in sorted(FAULTS.glob("spark-*.toml")):
        for fault in tomllib.loads(path.read_text("utf-8"))["fault"]:
            for name in fault["formats"]:
                titles.setdefault(name, []).append(fault["title"])
    return {name: tuple(dict.fromkeys(listed)) for name, listed in titles.items()}


def recipe_section(fmt: Format[Any]) -> Iterator[str]:
    """The section of a format's page, with a link to what is right."""
    listed = recipe_mistakes().get(fmt.name, ())
    yield from ("", "## Recipes for Spark", "")
    if not listed:
        yield (
            "No recipe for Spark is judged on this format;"
            " [those on Canal and Debezium](../scoreboard/spark.md) show the usual mistakes."
        )
        return
    yield (
        "What a few lines of `from_json` or `get_json_object` get wrong in these messages;"
        " [why, and what is right](../scoreboard/spark.md):"
    )
    yield ""
    yield from (f"- {title}" for title in listed)
