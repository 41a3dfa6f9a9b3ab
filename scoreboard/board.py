"""The scoreboard's data: what each reader does wrong, by outcome, with the proved faults that explain it."""

from __future__ import annotations

import enum
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from conformance.judging.causes import Symptom, covers
from generators.errors import HarnessError
from scoreboard.judging import RESULTS, ROOT
from scoreboard.readers import READERS, Reader

FAULTS: Final = ROOT / "faults"


class Outcome(enum.StrEnum):
    """What a user of the reader meets, the worst first."""

    WRONG = "wrong value"
    DROPS = "drops"
    REFUSES = "refuses"

    @property
    def words(self) -> str:
        """The outcome as the page says it."""
        return {"wrong value": "wrong value silently", "drops": "drops silently", "refuses": "refuses"}[self.value]


_OUTCOMES: Final = {Symptom.RAISED: Outcome.REFUSES, Symptom.REFUSED: Outcome.REFUSES, Symptom.LOST: Outcome.DROPS}
_BEHIND: Final = tuple(
    f"{Symptom.ACCEPTED}: fault {fault}" for fault in ("trailing-*", "second-document", "joined", "closing-tail")
)
"""Causes by which a reader returns the first document of a message, and nothing of what follows it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken rule with one cause. `told` is what the report says of it; `fault` the proved fault that explains it."""

    told: Mapping[str, Any]
    fault: Fault | None

    @property
    def outcome(self) -> Outcome:
        """What a user meets."""
        cause, actual = str(self.told["cause"] or ""), str(self.told["actual"])
        symptom = cause.partition(":")[0]
        if symptom == Symptom.EXTRA and actual.endswith("the first: CORRUPT"):
            return Outcome.REFUSES
        if symptom == Symptom.ACCEPTED and (actual == "no output row" or any(covers(glob, cause) for glob in _BEHIND)):
            return Outcome.DROPS
        return next((outcome for known, outcome in _OUTCOMES.items() if known == symptom), Outcome.WRONG)

    @property
    def rule(self) -> str:
        """The rule's id without its format."""
        return str(self.told["rule"]).partition("/")[2]

    @property
    def counts(self) -> bool:
        """Whether the broken rule is a MUST."""
        return bool(self.told["obligation"] == "MUST")

    @property
    def key(self) -> tuple[str, str]:
        """Rule and cause."""
        return str(self.told["rule"]), str(self.told["cause"])

    @property
    def value(self) -> str:
        """The message's value, as text; base64 if it is binary."""
        return _text(self.told["message"]["value"])

    @property
    def message_key(self) -> str:
        """The message's key, as text; base64 if it is binary."""
        return _text(self.told["message"]["key"])


@dataclass(frozen=True, slots=True)
class Fault:
    """A proved fault of a reader. `rules`, `causes` and `errors`, globs of what the reader's error says, choose its failures.

    `readers` names those of a shared record that have it; empty, all of them have.
    `source` is the address of the reader's own line, `known` that of a report; "" if there is none.
    """

    id: str
    formats: tuple[str, ...]
    title: str
    outcome: Outcome
    rules: tuple[str, ...]
    why: str
    causes: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    source: str = ""
    known: str = ""

    def explains(self, fmt: str, failure: Mapping[str, Any]) -> bool:
        """Whether a failure of a format is this fault's."""
        rule, cause = str(failure["rule"]).partition("/")[2], str(failure["cause"])
        return (
            fmt in self.formats
            and any(fnmatchcase(rule, glob) for glob in self.rules)
            and (not self.causes or any(covers(glob, cause) for glob in self.causes))
            and (not self.errors or any(fnmatchcase(str(failure["actual"]), f"CORRUPT: {glob}") for glob in self.errors))
        )


@dataclass(frozen=True)
class Judged:
    """A reader on a format: its failures of all cases, and those on recorded messages."""

    reader: Reader
    format: str
    outcome: Mapping[str, Any]
    failures: tuple[Failure, ...]
    recorded: tuple[Failure, ...]

    @property
    def cases(self) -> int:
        """Cases judged, without those of what the reader does not claim."""
        return sum(count for verdict, count in self.outcome["cases"].items() if verdict != "unsupported")

    @property
    def nulled(self) -> str:
        """In how many cases it gives NULL for a column that the message does not hold; no rule is broken."""
        count = self.outcome.get("nulled", 0)
        return f" NULL for columns that the message does not hold: {count} cases." if count else ""

    @cached_property
    def counts(self) -> Counter[Outcome]:
        """Broken MUST rules by outcome; a rule counts once for each."""
        return Counter(outcome for _, outcome in {(f.rule, f.outcome) for f in self.failures if f.counts})

    def real(self, failure: Failure) -> Failure | None:
        """The same rule, cause and fault on a recorded message, or one of the same fault; None if it is synthetic only."""
        same = [other for other in self.recorded if other.fault is failure.fault]
        alike = [other for other in same if other.key == failure.key]
        return next(iter(alike or (same if failure.fault else ())), None)


@dataclass(frozen=True, slots=True)
class Proof:
    """A proved fault with the failures that show it; `real` is one on a recorded message, None if it is synthetic only."""

    reader: Reader
    fault: Fault
    format: str
    failure: Failure
    real: Failure | None
    cases: int


def faults(name: str, directory: Path = FAULTS) -> tuple[Fault, ...]:
    """The proved faults of a reader. Raises HarnessError for a file that does not fit the record."""
    file = directory / f"{name}.toml"
    if not file.exists():
        return ()
    made = []
    for entry in tomllib.loads(file.read_text("utf-8"))["fault"]:
        lists = {key: tuple(entry[key]) for key in ("formats", "rules", "causes", "errors", "readers") if key in entry}
        try:
            made.append(Fault(**{**entry, **lists, "outcome": Outcome(entry["outcome"])}))
        except (TypeError, ValueError, KeyError) as error:
            raise HarnessError(f"{file.name}: {entry.get('id', 'an entry without an id')}: {error}") from error
    return tuple(made)


def board(results: Path = RESULTS, directory: Path = FAULTS, readers: Sequence[Reader] = READERS) -> tuple[Judged, ...]:
    """Every reader that was judged, by the order of the readers and their formats."""
    judged = []
    for reader in readers:
        file = results / f"{reader.name}.json"
        told = json.loads(file.read_text("utf-8"))["formats"] if file.exists() else {}
        known = [fault for fault in faults(reader.record, directory) if reader.name in (fault.readers or (reader.name,))]
        for fmt in (fmt for fmt in reader.formats if fmt in told):
            found = told[fmt]
            every, real = (
                tuple(_failure(one, fmt, known) for one in some)
                for some in (found["failures"], found["recorded"].get("failures", ()))
            )
            judged.append(Judged(reader, fmt, found, every, real))
    return tuple(judged)


def proofs(judged: Iterable[Judged], directory: Path = FAULTS) -> tuple[Proof, ...]:
    """Each proved fault by the reader and format that show it best: recorded, against a MUST, in the smallest message."""
    shown: dict[tuple[str, str], list[Proof]] = {}
    for one in judged:
        for fault in faults(one.reader.record, directory):
            mine = [failure for failure in one.failures if failure.fault == fault]
            real = min((failure for failure in one.recorded if failure.fault == fault), key=_worth, default=None)
            smallest = min(mine or ([real] if real else []), key=_worth, default=None)
            if smallest is not None:
                cases = sum(failure.told["cases"] for failure in mine) or 1
                shown.setdefault((one.reader.record, fault.id), []).append(
                    Proof(one.reader, fault, one.format, smallest, real, cases)
                )
    return tuple(min(some, key=lambda proof: (proof.real is None, _worth(proof.failure))) for some in shown.values())


def unproved(directory: Path = FAULTS, results: Path = RESULTS, readers: Sequence[Reader] = READERS) -> list[str]:
    """Faults on record that no result shows: the record's name and the fault's id."""
    made = {(proof.reader.record, proof.fault.id) for proof in proofs(board(results, directory, readers), directory)}
    records = dict.fromkeys(reader.record for reader in readers)
    return [f"{name}: {fault.id}" for name in records for fault in faults(name, directory) if (name, fault.id) not in made]


def cited(citation: str) -> tuple[str, str]:
    """A citation's words, and the place in docs/ that quotes its evidence; "" if it names none."""
    place = re.search(r" \[([\w-]+)#([\w-]+)\]$", citation)
    if place is None:
        return citation, ""
    return citation[: place.start()], f"sources/{place[1]}.md#{place[2]}"


def _failure(told: Mapping[str, Any], fmt: str, known: Iterable[Fault]) -> Failure:
    return Failure(told, next((fault for fault in known if fault.explains(fmt, told)), None))


def _worth(failure: Failure) -> tuple[bool, int]:
    return not failure.counts, len(failure.value)


def _text(told: Mapping[str, str] | None) -> str:
    if told is None:
        return "null"
    return told.get("text", f"base64: {told.get('base64', '')}")
