"""Realistic texts for bulk values: names, addresses, sentences of several languages.

Faker made them; `pools.json` keeps them, so that a seed gives the same bytes under every release of
Faker, and without it. `python -m generators.sources.pools` writes the file again, which changes
every corpus: raise `corpus.VERSION`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

FILE: Final = resources.files("generators.sources").joinpath("pools.json")
"""Where the pools are kept."""
SIZE: Final = 256
"""How many texts a pool has."""
SEED: Final = 20_231_114
"""The seed of the first language's Faker; each further language has the next number."""
LOCALES: Final = ("en_US", "de_DE", "zh_CN", "ja_JP", "ru_RU", "ar_AA", "hi_IN", "pt_BR")
"""The languages of the texts, as Faker names them."""
KINDS: Final = {
    "name": "name",
    "email": "ascii_safe_email",
    "address": "address",
    "company": "company",
    "sentence": "sentence",
}
"""Pool by name, and the Faker method that fills it."""


@cache
def pools() -> Mapping[str, tuple[str, ...]]:
    """The pools by name, each of `SIZE` distinct texts of at most 120 characters, none with a space
    at its end.
    """
    pool_text = FILE.read_text("utf-8")
    return {name: tuple(texts) for name, texts in json.loads(pool_text)["pools"].items()}


def build() -> dict[str, object]:
    """The content of `pools.json`, from a seeded Faker per language, independent of Faker's shared
    state and locale.

    Raises ImportError where Faker is not installed.
    """
    from faker import VERSION, Faker

    fakers = [Faker(locale) for locale in LOCALES]
    for number, faker in enumerate(fakers):
        faker.seed_instance(SEED + number)
    by_name = {}
    for name, method in KINDS.items():
        texts: dict[str, None] = {}
        turn = 0
        while len(texts) < SIZE:
            texts.setdefault(
                str(getattr(fakers[turn % len(fakers)], method)())[:120].rstrip(), None
            )
            turn += 1
        by_name[name] = list(texts)
    return {"faker": VERSION, "seed": SEED, "locales": list(LOCALES), "pools": by_name}


if __name__ == "__main__":
    with resources.as_file(FILE) as file:
        file.write_text(
            json.dumps(build(), ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n"
        )
