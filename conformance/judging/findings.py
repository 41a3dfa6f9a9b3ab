"""What judging finds: the verdict on a case, and each mismatch with its rule, place and values."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.rules.rules import Aspect
from generators.model import Case, SideOrRow


class Verdict(enum.StrEnum):
    """The verdict on a case (docs/how-to-read-a-verdict.md)."""

    PASS = "pass"
    NON_STRICT = "pass-non-strict"
    FAIL = "fail"
    REJECTED = "rejected-correctly"
    ACCEPTED = "accepted-silently"
    INFORMATIONAL = "informational"
    UNSUPPORTED = "unsupported"
    ERRORED = "errored"
    TIMEOUT = "timeout"


BAD = frozenset({Verdict.FAIL, Verdict.ACCEPTED, Verdict.ERRORED, Verdict.TIMEOUT})
"""Verdicts that make a run exit with 1."""
UNDECODED = frozenset({Verdict.ERRORED, Verdict.TIMEOUT})
"""Verdicts on cases without rows to judge."""


class Absence(enum.Enum):
    """Stands for a cell that is not there, where None stands for NULL."""

    NOT_THERE = "not there"


NOT_THERE: Final = Absence.NOT_THERE
"""What came for a column that the image lacks."""


DECODING: Final = "decoding"
"""The path of a finding of the law that decoding ends."""
CIRCUMSTANCE: Final = "message"
"""The path of a finding of a law that compares a message's rows between calls; the finding's
`circumstance` says what the law changed.
"""


class ColumnOfKind(NamedTuple):
    """A kind of rows, and a column that rows of this kind must, or must not, fill."""

    kind: str
    column: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One mismatch: the broken rule, the place, both values. `message` and `row` are ordinals
    within the case.

    `path` is the place as text; `side` is before or after for an image and its cells, `column` the
    cell's. Once all cases of a format are judged (conformance.judging.blame), `causes` are the keys
    of its causes, the most likely first, and `instead` is the rule on a trait that the judge blamed
    in place of `rule`.

    `expected` and `actual` are words for reports. What explains a finding is decided on `owed` and
    `came`, the values themselves: for a cell the owed `Cell` and the decoder's value (NOT_THERE if
    the image lacks the column), for an image both images, for an envelope column both values (where
    the row's kind decides whether it has one, the kind and the value), for a kind or op the tuple
    of what is accepted and what came, and for an unreadable message the kinds of the rows that
    came. `suspects` are the traits that the first of the causes names. `circumstance` is what a law
    changed about the call. `plan_failed`: the decoder failed before it read a message, so that
    `actual` is the error of every case and no message is an example of it.
    """

    case: str
    rule: str
    message: int
    row: int
    aspect: Aspect
    path: str
    expected: str
    actual: str
    side: SideOrRow = ""
    column: str | None = None
    causes: tuple[str, ...] = ()
    instead: str = ""
    owed: Any = field(default=None, compare=False, repr=False)
    came: Any = field(default=None, compare=False, repr=False)
    suspects: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    circumstance: str = field(default="", compare=False, repr=False)
    plan_failed: bool = field(default=False, compare=False, repr=False)

    @property
    def cause(self) -> str:
        """The key of the most likely cause; "" before the format is judged."""
        return self.causes[0] if self.causes else ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A judged case. `note` says why it errored, timed out or is unsupported; `known` are the
    broken rules on record as known failures (conformance.judging.known), `covered` the known pairs
    of rule and cause. `alone` is False for a case that errored or timed out together with others.
    `nulled` counts the typed cells that are NULL because the message does not hold their columns.
    """

    case: Case
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    note: str = ""
    known: frozenset[str] = frozenset()
    covered: frozenset[tuple[str, str]] = frozenset()
    alone: bool = True
    nulled: int = 0


CELL: Final = (Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE)
"""Compared aspects of an image's column."""
