"""The page of recipes that keep a table is that of the kept results, and each recipe has its file."""

from __future__ import annotations

import json

import pytest

from scoreboard.pipelines import HOME, NEMESES, PAGE, REPAIRED, RESULTS, page_text, recipes

DATA = json.loads(RESULTS.read_text("utf-8"))


def test_the_page_is_that_of_the_results() -> None:
    assert PAGE.read_text("utf-8") == page_text(DATA)


def test_each_recipe_has_a_file_and_a_result_under_each_nemesis() -> None:
    run, unjudged = recipes()
    files = {path.stem for path in (HOME / "recipes").glob("*.py")} - {"__init__", "changes"}
    assert {recipe.name for recipe in run} == files
    assert DATA["results"].keys() == {*files, REPAIRED}
    assert all(tuple(facts) == NEMESES for facts in DATA["results"].values())
    assert all(recipe.why for recipe in unjudged)


@pytest.mark.parametrize("recipe", [recipe.name for recipe in recipes()[0]])
def test_a_recipe_is_convicted_and_its_repair_is_not(recipe: str) -> None:
    assert any(facts["broken"] for facts in DATA["results"][recipe].values())
    repaired = DATA["results"][REPAIRED]
    assert [repaired[nemesis]["result"] for nemesis in NEMESES] == ["converged"] * len(NEMESES)
