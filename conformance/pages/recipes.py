"""The mistakes that recipes for Spark make in a format, as its page names them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path


def recipe_mistakes(faults: Path) -> dict[str, tuple[str, ...]]:
    """The titles of the mistakes that recipes make in each format, from the tables in the
    scoreboard's folder. Raises FileNotFoundError without the folder, because a page must not claim
    that there are none.
    """
    if not faults.is_dir():
        raise FileNotFoundError(f"{faults}: no folder of the scoreboard's faults")
    titles: dict[str, list[str]] = {}
    for path in sorted(faults.glob("spark-*.toml")):
        for fault in tomllib.loads(path.read_text("utf-8"))["fault"]:
            if fault.get("standing", "fault") != "fault":
                continue
            for name in fault["formats"]:
                titles.setdefault(name, []).append(fault["title"])
    return {name: tuple(dict.fromkeys(listed)) for name, listed in titles.items()}


def recipe_section(mistakes: Iterable[str]) -> Iterator[str]:
    """The lines of the section "Recipes for Spark" of a format's page: the mistakes that public
    recipes make in the format, and a link to what is right.
    """
    listed = tuple(mistakes)
    yield from ("", "## Recipes for Spark", "")
    if not listed:
        yield (
            "No recipe for Spark is judged on this format;"
            " [those on Canal and Debezium](../scoreboard/spark.md) show the usual mistakes."
        )
        return
    yield (
        "What a few lines of PySpark, or packages for Spark, get wrong in these messages;"
        " [why, and what is right](../scoreboard/spark.md):"
    )
    yield ""
    yield from (f"- {title}" for title in listed)
