"""The result of a pipeline under one nemesis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.streams.differences import RuleDifference

SHOWN: Final = 8
"""Limit of the differences of a stream whose text is kept; the first one of each rule is kept
beyond it.
"""


@dataclass(slots=True)
class PipelineResult:
    """The result of a pipeline under one nemesis: what became of its table. `nemesis` is the
    nemesis's name, with `+restart` if the process was killed, or `full-refresh`.

    `rows` counts the source's rows at the end, `messages` the messages of the topic, `repeats`
    those that came before. `seconds` is how long the run took, `cpu_seconds` the CPU time of Spark
    and its Python. `lost` says why nothing is judged, "" if it is; `notes` say what was noticed and
    is no fault. `wrong` has the first differences, `broken` counts all by the rule's id; `reached`
    are the rules that could have been broken (the last parts of their ids).
    """

    format: str
    profile: str
    nemesis: str
    table: str = ""
    rows: int = 0
    messages: int = 0
    repeats: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    lost: str = ""
    notes: list[str] = field(default_factory=list)
    wrong: list[RuleDifference] = field(default_factory=list)
    broken: Counter[str] = field(default_factory=Counter)
    reached: frozenset[str] = frozenset()

    @property
    def converged(self) -> bool:
        """Whether the table became the source's, and never showed older rows than it had shown
        before: it was judged (`lost` is "") and broke no rule.
        """
        return not self.broken and not self.lost

    @property
    def word(self) -> str:
        """The result in a word or two: not judged, converged or differs."""
        if self.lost:
            return "not judged"
        return "converged" if self.converged else "differs"

    def differ(self, rule: str, what: str) -> None:
        """Counts a difference, described by `what`, as a breach of the pipeline rule `rule` (the
        last part of its id). It keeps the description in `wrong` if it is the first one of that
        rule, or if fewer than SHOWN are kept so far.
        """
        name = f"{self.format}/pipeline/{rule}"
        # One of each rule before a second of any.
        if name not in self.broken or len(self.wrong) < SHOWN:
            self.wrong.append(RuleDifference(name, what))
        self.broken[name] += 1

    def as_json(self) -> dict[str, Any]:
        """The result as a JSON object, for `--format json`."""
        facts: dict[str, Any] = {
            "format": self.format,
            "profile": self.profile,
            "nemesis": self.nemesis,
            "table": self.table,
            "result": self.word,
        }
        if self.lost:
            return {**facts, "because": self.lost}
        facts |= {
            "rows": self.rows,
            "messages": self.messages,
            "repeats": self.repeats,
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 1),
        }
        if self.notes:
            facts["notes"] = self.notes
        if self.broken:
            facts["broken"] = dict(self.broken)
            facts["differences"] = [{"rule": rule, "what": what} for rule, what in self.wrong]
        return facts


def reached_ids(fmt: str, results: Iterable[PipelineResult]) -> frozenset[str]:
    """The ids of the rules that could have been broken in some results, or were."""
    ids: set[str] = set()
    for result in results:
        ids |= {f"{fmt}/pipeline/{name}" for name in result.reached} | set(result.broken)
    return frozenset(ids)
