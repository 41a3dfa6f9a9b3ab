"""Recipes that keep a table by MERGE, as public pages have them: the same steps in our own words.
recipes.toml says where each stands; `python -m scoreboard.pipelines` judges them.
"""
