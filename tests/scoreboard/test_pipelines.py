"""The page of recipes that keep a table is that of the kept results, and each recipe has its file."""

from __future__ import annotations

import json

import pytest

from generators.errors import UnknownName
from scoreboard.pipelines import (
    FORMATS,
    HOME,
    NEMESES,
    PAGE,
    RESULTS,
    SINKS,
    candidates,
    nemeses_of,
    page_text,
    published_recipes,
    repaired_name,
    selected,
)

DATA = json.loads(RESULTS.read_text("utf-8"))
RECIPES, UNJUDGED = published_recipes()
SHARED = {"__init__", "contract", "changes", "auto_cdc", "auto_cdc_update"}
"""Files that recipes share."""


def test_the_page_is_that_of_the_results() -> None:
    assert PAGE.read_text("utf-8") == page_text(DATA)


def test_each_recipe_has_a_file_and_each_result_a_recipe() -> None:
    files = {path.stem for path in (HOME / "recipes").glob("*.py")} - SHARED
    assert {recipe.name for recipe in RECIPES} == files
    assert {recipe.sink for recipe in RECIPES} == FORMATS.keys()
    assert DATA["results"].keys() <= candidates().keys()
    assert all(facts.keys() <= set(NEMESES) for facts in DATA["results"].values())
    assert all(nemeses_of(DATA["results"], sink) for sink in DATA["sessions"])
    assert all(recipe.why for recipe in UNJUDGED)


@pytest.mark.parametrize("recipe", [r.name for r in RECIPES if r.name in DATA["results"]])
def test_a_judged_recipe_is_convicted(recipe: str) -> None:
    assert any(facts["broken"] for facts in DATA["results"][recipe].values())


@pytest.mark.parametrize(
    "name", [n for sink in SINKS if (n := repaired_name(sink)) in DATA["results"]]
)
def test_what_is_written_in_their_place_converges(name: str) -> None:
    assert {facts["result"] for facts in DATA["results"][name].values()} == {"converged"}


def test_arguments_name_recipes_and_nemeses() -> None:
    runnable = ["delta_blog", "aws_glue"]
    assert selected([], runnable) == (runnable, list(NEMESES))
    assert selected(["stale"], runnable) == (runnable, ["stale"])
    assert selected(["aws_glue", "stale", "none"], runnable) == (["aws_glue"], ["none", "stale"])
    with pytest.raises(
        UnknownName,
        match=r"unknown recipe or disturbance 'aws_glu'\. Did you mean 'aws_glue'\?",
    ):
        selected(["aws_glu"], runnable)
