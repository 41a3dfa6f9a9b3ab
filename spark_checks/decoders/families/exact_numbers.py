"""JSON numbers with all their digits, however many.

Spark 4.0 reads a JSON number with a fraction through a double wherever a text is asked for:
`from_json` with a string, `get_json_object`, `json_tuple`. As a decimal or a variant it keeps 38
digits. So each number of a message becomes a JSON text before the message is parsed, between marks
that no value can know, and the marks leave what was parsed.
"""

from __future__ import annotations

import secrets
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

_MARK: Final = f"K{secrets.token_hex(8)}K"
"""Begins and ends a number, of this process alone; a K is in no number."""

_NUMBER: Final = r'\G((?:[^0-9"\-]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+)(-?\d[\d.eE+\-]*+)'
"""The next number behind the one before it, and what stands between them: texts, in which digits
are no number. Possessive, so that no text is too long for Java's stack.
"""
_MARKED: Final = f'"?{_MARK}([0-9.eE+-]++){_MARK}"?'
"""A number between its marks, and the quotes around it if it stands in a document."""

_BEYOND_DOUBLE: Final = "[0-9.]{17}|[0-9][eE][+-]?[0-9]{3}"
"""What a JSON number of more than 15 digits has, or one that no double may hold. Texts have it,
too, which costs time alone.
"""


def may_be_beyond_double(json_text: Column) -> Column:
    """Whether a JSON text may have a number of which a double loses digits."""
    return json_text.rlike(_BEYOND_DOUBLE)


def mark_numbers(json_text: Column) -> Column:
    """A JSON text in which each number has become a text between marks, so that Spark keeps its
    digits: `1.50` becomes `"MARK1.50MARK"`.
    """
    return F.regexp_replace(json_text, F.lit(_NUMBER), F.lit(f'$1"{_MARK}$2{_MARK}"'))


def unmark_numbers(parsed: Column) -> Column:
    """What was parsed from a JSON text of `mark_numbers` (a cell, or a document in a cell), with
    its numbers as they were spelled before.
    """
    return F.regexp_replace(parsed, F.lit(_MARKED), F.lit("$1"))
