"""The forms of the recipes for Spark, as data: the functions of each, a guide that shows them, and
the right form beside it, both as SQL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Final

from conformance.rules.tables import TableFile, check_fields, naming_place

FORMS: Final = Path(__file__).parent / "forms.toml"


@dataclass(frozen=True, slots=True)
class Form:
    """A recipe's form and the right one.

    `guide` is the address of a place that shows `functions`, "" if none was found, `date` in words
    its day or the day of the search. `form` and `right` are queries on a table `topic`, whose
    column `value` is `message`; `gives` and `right_gives` are their rows, a line a row.
    """

    functions: str
    guide: str
    date: str
    message: str
    form: str
    gives: str
    right: str
    right_gives: str


_FIELDS: Final = dict.fromkeys((field.name for field in fields(Form)), str)
"""The fields of an entry in forms.toml."""


@cache
def forms() -> Mapping[str, Form]:
    """The forms of recipes in forms.toml (functions of Spark that published recipes decode with),
    each with the right form, by the name of the reader that stands for it on the scoreboard. Raises
    UsageError for a file that does not fit.
    """
    table = TableFile(FORMS.name, FORMS.read_text("utf-8"), {"form": dict})
    forms_by_reader = {}
    for place, name, entry in table.entries("form"):
        with naming_place(f"{place}: {name}"):
            check_fields(entry, _FIELDS, tuple(_FIELDS), empty=("guide",))
        forms_by_reader[name] = Form(**{key: value.strip("\n") for key, value in entry.items()})
    return forms_by_reader
