"""Faults of meaning in the core of the harness, as `mutants.toml` lists them."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Mutant(NamedTuple):
    """`old` stands once in `file`; with `new` in its place one of the `tests` must fail. `breaks`
    says what is wrong then.
    """

    name: str
    file: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]


LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["mutant"]
MUTANTS = tuple(Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in LISTED)
