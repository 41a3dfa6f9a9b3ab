"""The lies about toy-json's writer."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.altering import backwards, in_json
from conformance.selftest.lies.lie import Lie

LIES: Final = (
    Lie("old-whole", "1.0", "image/old-columns", "shape/update-one-column", "whole_old", True),
    Lie("members-backwards", "1.0", None, alter=in_json(backwards())),
)
"""The first sets a fact of the profile, and a rule answers; the second changes bytes only."""
