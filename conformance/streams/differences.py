"""What differs between a user's table and the source's."""

from __future__ import annotations

from typing import NamedTuple


class RuleDifference(NamedTuple):
    """A difference: the id of the rule that it breaks, and what differs, in words."""

    rule: str
    what: str
