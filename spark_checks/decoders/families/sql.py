"""Parts of expressions for every family: names, texts, and values that are computed once.

A message is read in one expression of nested lambdas, which Spark interprets. A projection for each
value would copy the whole message into a row, by code that is generated and compiled for each
table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

LOWER: Final = f"translate({{}}, '{ascii_uppercase}', '{ascii_lowercase}')"
"""SQL of a text with its ASCII letters in lower case. Spark's `lower` makes tables of all of
Unicode: 1.5 CPU seconds of a session.
"""

_PLAIN: Final = re.compile(r"[\w .-]*", re.ASCII)
"""A text that is spelled alike in SQL under every setting."""


def name(column_name: str) -> str:
    """A column's name in back quotes, as SQL text needs it."""
    return "`" + column_name.replace("`", "``") + "`"


def literal(string: str) -> str:
    """SQL of a text that means the same under every setting of the session. A plain text is a
    literal in quotes, since each cast is one more node to plan; any other is cast from its bytes.
    """
    if _PLAIN.fullmatch(string):
        return f"'{string}'"
    return f"CAST(X'{string.encode().hex()}' AS string)"


def lower(column: Column) -> Column:
    """A column of texts with the ASCII letters in lower case, whatever the session's locale or
    collation.
    """
    return F.translate(column, ascii_uppercase, ascii_lowercase)


def let_column(value: Column, result: Callable[[Column], Column]) -> Column:
    """What the function `result` makes of a column. Spark computes the column once, even if
    `result` uses it several times.
    """
    return F.get(F.transform(F.array(value), result), F.lit(0))


def let(value: str, variable: str, body: str) -> str:
    """SQL of `body`, in which the name `variable` stands for the SQL `value`. Spark computes the
    value once, even if `body` uses it several times.
    """
    return f"get(transform(array({value}), {variable} -> {body}), 0)"
