"""The text of a column's DEFAULT as TiDB stores it, which schemas of messages have.

Facts: ticdc#stored-defaults.
"""

from __future__ import annotations

import re
from typing import Final

_QUOTED_OR_CODE: Final = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)*`|[^'`]+")


def is_current_timestamp(literal: str) -> bool:
    """Whether a default is CURRENT_TIMESTAMP, with or without a number of fraction digits."""
    return literal.upper().startswith("CURRENT_TIMESTAMP")


def stored_expression(literal: str) -> str:
    """The stored text of a default that is an expression, from its spelling in SHOW CREATE TABLE.

    CURRENT_TIMESTAMP is stored without its fraction digits, CURRENT_DATE without brackets; any
    other expression in lower case but for its texts and names, without the brackets around it.
    """
    if is_current_timestamp(literal):
        return "CURRENT_TIMESTAMP"
    if literal.strip("()").upper() == "CURRENT_DATE":
        return "CURRENT_DATE"
    expression = literal[1:-1] if literal.startswith("(") else literal
    return _QUOTED_OR_CODE.sub(_lower_code, expression)


def _lower_code(match: re.Match[str]) -> str:
    """A piece of an expression in lower case; a text or a name in quotes as it is."""
    matched = match[0]
    return matched if matched[0] in "'`" else matched.lower()
