"""The lies about sample-json's writer."""

from __future__ import annotations

from typing import Final

from conformance.selftest.lies.lie import Lie

LIES: Final[tuple[Lie, ...]] = ()
"""To write: a change of the messages that a rule answers, and one that changes bytes only."""
