"""The forms of the recipes for Spark print what the page says of them, and the right ones what it says
is right.
"""

import re

import pytest

from scoreboard import page
from scoreboard.forms import forms
from scoreboard.readers import READERS


def recipe_names():
    return [reader.name for reader in READERS if reader.name.startswith("spark-")]


def printed(spark, query, message):
    """The rows of a query on a topic with one message, as the file of the forms writes them."""
    spark.createDataFrame([(message,)], "value string").createOrReplaceTempView("topic")
    try:
        rows = spark.sql(query).collect()
    finally:
        spark.catalog.dropTempView("topic")
    return "\n".join(
        ", ".join(
            f"{name}={'NULL' if cell is None else cell}" for name, cell in row.asDict().items()
        )
        for row in rows
    )


def test_each_recipe_has_its_form_beside_the_right_one():
    assert list(forms()) == recipe_names()
    text = page.pages()["scoreboard/spark.md"]
    for form in forms().values():
        assert re.fullmatch(r"(of|on|read on) \d{4}-\d\d-\d\d", form.date)
        assert form.gives != form.right_gives
        assert form.guide in text
        for query in (form.form, form.right):
            assert query in text


@pytest.mark.spark
@pytest.mark.parametrize("name", list(forms()))
def test_a_form_prints_what_the_page_says(spark, name):
    form = forms()[name]
    assert printed(spark, form.form, form.message) == form.gives
    assert printed(spark, form.right, form.message) == form.right_gives
