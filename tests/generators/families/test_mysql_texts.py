"""How values of MySQL are spelled as Canal and Java do."""

from __future__ import annotations

import pytest

from generators.families.mysql_texts import value_cell
from generators.formats import alibaba_canal_json
from generators.sources import mysql

STRIPPED = "MySQL strips the trailing spaces of CHAR"
REPLACED = "a lone surrogate is written as ?"


@pytest.mark.parametrize(
    ("type_name", "value", "text", "reason"),
    [
        ("char", "a  ", "a", STRIPPED),
        ("varchar", "a  ", "a  ", ""),
        ("varchar", "a\ud800  ", "a?  ", REPLACED),
        ("char", "a\ud800  ", "a?", f"{STRIPPED}; {REPLACED}"),
    ],
)
def test_a_text_that_is_written_otherwise_has_every_reason(
    type_name: str, value: str, text: str, reason: str
) -> None:
    (profile, *_) = alibaba_canal_json.FORMAT.profiles
    cell = value_cell(mysql.text(type_name, 16), value, profile)
    assert (cell.text, cell.value, cell.reason) == (text, text, reason)
