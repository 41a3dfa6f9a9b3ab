"""The scoreboard's data: the faults of each reader on each format, with the failures that show
them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from conformance.judging.causes import Symptom, covers
from scoreboard.judging import RESULTS
from scoreboard.readers import READERS, Reader
from scoreboard.record import FAULTS, Behaviour, Fault, Outcome, Reach, behaviours, faults

_OUTCOMES: Final = {
    Symptom.RAISED: Outcome.REFUSES,
    Symptom.REFUSED: Outcome.REFUSES,
    Symptom.LOST: Outcome.DROPS,
}
"""What a user meets in a failure with this symptom; in one with any other symptom it is a wrong
value.
"""
_BEHIND: Final = tuple(
    f"{Symptom.ACCEPTED}: fault {fault}"
    for fault in ("trailing-*", "second-document", "joined", "closing-tail")
)
"""Causes by which a reader returns the first document of a message, and nothing of what follows it.
"""
RELEASES: Final = RESULTS / "releases.json"
"""`tried`: the releases of each product on which its programs ran, the oldest first; `shown`: by
fault, where they show it.
"""
STALE: Final = RESULTS / "stale.json"
"""Readers and formats whose results are of other cases, rules or adapters than the checkout's, as
`--check` found them.
"""


@dataclass(frozen=True, slots=True)
class Failure:
    """A broken rule with one cause: `entry` is its entry in the harness's report, `fault` the named
    fault on record that explains it, None if none does.
    """

    entry: Mapping[str, Any]
    fault: Fault | None

    @property
    def outcome(self) -> Outcome:
        """What a user of the reader meets in this failure (a wrong value, a dropped row or a
        refused message), by its cause and by what the reader returned.
        """
        cause, actual = str(self.entry["cause"] or ""), str(self.entry["actual"])
        symptom = cause.partition(":")[0]
        if symptom == Symptom.EXTRA and actual.endswith("the first: CORRUPT"):
            return Outcome.REFUSES
        if symptom == Symptom.ACCEPTED and (
            actual == "no output row" or any(covers(glob, cause) for glob in _BEHIND)
        ):
            return Outcome.DROPS
        return next(
            (outcome for known_symptom, outcome in _OUTCOMES.items() if known_symptom == symptom),
            Outcome.WRONG,
        )

    @property
    def rule(self) -> str:
        """The rule's id without its format."""
        return str(self.entry["rule"]).partition("/")[2]

    @property
    def counts(self) -> bool:
        """Whether the broken rule is a MUST."""
        return bool(self.entry["obligation"] == "MUST")


@dataclass(frozen=True)
class Judged:
    """The results of a reader on a format: the failures in all cases, those in cases of recorded
    messages, and the faults that no case shows but a program does (`alone`). `outcome` is what the
    scoreboard keeps of the harness's report; `stale`: it is of other cases, rules or adapters than
    today's.
    """

    reader: Reader
    format: str
    outcome: Mapping[str, Any]
    failures: tuple[Failure, ...]
    recorded: tuple[Failure, ...]
    stale: bool = False
    alone: tuple[Fault, ...] = ()

    @property
    def cases(self) -> int:
        """The number of cases that were judged; those that the reader does not claim do not
        count.
        """
        return sum(
            count for verdict, count in self.outcome["cases"].items() if verdict != "unsupported"
        )

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """The faults (named failures) of the reader on the format that the board shows, those with
        the worst outcome first: of the broken MUST rules (`counts`) the failures that are held
        against the reader (`on_board`), and the faults that a program shows and no case (`alone`).
        """
        every = (*self.failures, *self.recorded)
        faults_by_id = {
            f.fault.id: f.fault for f in every if f.counts and f.fault and f.fault.on_board
        }
        faults_by_id |= {fault.id: fault for fault in self.alone}
        return tuple(
            sorted(faults_by_id.values(), key=lambda fault: list(Outcome).index(fault.outcome))
        )

    @cached_property
    def counts(self) -> Counter[Outcome]:
        """How many faults on the board have each outcome."""
        return Counter(fault.outcome for fault in self.faults)

    @cached_property
    def unexplained(self) -> int:
        """The number of broken MUST rules of which nobody has looked for the reason yet; they are
        not held against the reader.
        """
        return len(
            {failure.rule for failure in self.failures if failure.counts and failure.fault is None}
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """A named fault with what shows it best: the reader and the format, a case ("" if only its
    program shows it), the number of such cases, and a case of a recorded message, "" for none.

    `counts`: a MUST is broken. `tried` are the releases on which its program was run, `releases`
    those of them on which it shows the fault.
    """

    reader: Reader
    fault: Fault
    format: str
    case: str
    counts: bool
    cases: int
    recorded: str
    releases: tuple[str, ...]
    tried: tuple[str, ...]


def board(
    results: Path = RESULTS, directory: Path = FAULTS, readers: Sequence[Reader] = READERS
) -> tuple[Judged, ...]:
    """The results of all readers that were judged, by reader and format, each with the named fault
    that explains a failure. Some readers come twice, once with an option to ignore what they cannot
    read: a failure that only shows with it is the option's, not a fault's.
    """
    judged: list[Judged] = []
    stale = (
        json.loads((results / STALE.name).read_text("utf-8"))
        if (results / STALE.name).exists()
        else {}
    )
    for reader in readers:
        file = results / f"{reader.name}.json"
        formats = json.loads(file.read_text("utf-8"))["formats"] if file.exists() else {}
        record_faults = [
            fault
            for fault in faults(reader.record, directory)
            if reader.name in (fault.readers or (reader.name,))
        ]
        for fmt in (fmt for fmt in reader.formats if fmt in formats):
            outcome = formats[fmt]
            named_first = sorted(record_faults, key=lambda fault: reader.name not in fault.readers)
            shown_without_option = _shown_without_option(judged, reader, fmt)
            failures, recorded_failures = (
                tuple(
                    _failure(
                        entry,
                        fmt,
                        record_faults
                        if _rule_and_cause(entry) in shown_without_option
                        else named_first,
                    )
                    for entry in entries
                )
                for entries in (outcome["failures"], outcome["recorded"].get("failures", ()))
            )
            alone = tuple(
                fault
                for fault in record_faults
                if fault.alone and fault.on_board and fault.readers and fmt in fault.formats
            )
            judged.append(
                Judged(
                    reader,
                    fmt,
                    outcome,
                    failures,
                    recorded_failures,
                    fmt in stale.get(reader.name, ()),
                    alone,
                )
            )
    return tuple(judged)


def proofs(
    judged: Iterable[Judged], directory: Path = FAULTS, results: Path = RESULTS
) -> tuple[Proof, ...]:
    """For each named fault the reader and format that show it best: against a MUST rule, without an
    option, on a recorded message, in most cases. In the order of the records.
    """
    file = results / RELEASES.name
    releases = json.loads(file.read_text("utf-8")) if file.exists() else {"tried": {}, "shown": {}}
    judged_results = tuple(judged)
    best_proofs = []
    for record in dict.fromkeys(result.reader.record for result in judged_results):
        for fault in faults(record, directory):
            candidates = []
            shown_releases = tuple(releases["shown"].get(record, {}).get(fault.id, ()))
            releases_of_program = (
                shown_releases,
                tuple(releases["tried"].get(record, ())) if fault.message else (),
            )
            for result in (result for result in judged_results if result.reader.record == record):
                failures = [
                    failure
                    for failure in (*result.failures, *result.recorded)
                    if failure.fault == fault
                ]
                if failures:
                    best = max(
                        failures,
                        key=lambda failure: (
                            failure.counts,
                            failure.entry["rule"] == fault.rule,
                            failure.entry["cases"],
                        ),
                    )
                    cases = (
                        sum(
                            failure.entry["cases"]
                            for failure in result.failures
                            if failure.fault == fault
                        )
                        or 1
                    )
                    recorded_case = next(
                        (
                            failure.entry["case"]
                            for failure in result.recorded
                            if failure.fault == fault
                        ),
                        "",
                    )
                    candidates.append(
                        Proof(
                            result.reader,
                            fault,
                            result.format,
                            best.entry["case"],
                            best.counts,
                            cases,
                            recorded_case,
                            *releases_of_program,
                        )
                    )
            if fault.alone and not candidates:
                reader = next(
                    result.reader for result in judged_results if result.reader.record == record
                )
                candidates.append(
                    Proof(reader, fault, fault.formats[0], "", True, 0, "", *releases_of_program)
                )
            if candidates:
                best_proofs.append(
                    max(
                        candidates,
                        key=lambda proof: (
                            proof.counts,
                            not proof.reader.without_option,
                            bool(proof.recorded),
                            proof.cases,
                        ),
                    )
                )
    return tuple(best_proofs)


@dataclass(frozen=True, slots=True)
class Cause:
    """A behaviour of one product, with the proofs of all faults that are this behaviour under the
    product's options and formats.
    """

    behaviour: Behaviour
    proofs: tuple[Proof, ...]

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key of a cause on the board: first what most users meet, then what is worst for
        them.
        """
        outcomes = [list(Outcome).index(proof.fault.outcome) for proof in self.proofs]
        return list(Reach).index(self.behaviour.reach), min(outcomes)

    @property
    def outcome(self) -> Outcome:
        """The worst that users of the product meet by this behaviour."""
        return list(Outcome)[self.rank[1]]


def causes(proofs: Iterable[Proof]) -> tuple[Cause, ...]:
    """The causes of the faults on the board (behaviours of a reader), those that most users meet
    first, then by outcome.
    """
    proofs_by_cause: dict[tuple[str, str], list[Proof]] = {}
    for proof in proofs:
        if proof.fault.on_board and proof.fault.behaviour:
            key = proof.reader.record, proof.fault.behaviour
            proofs_by_cause.setdefault(key, []).append(proof)
    every = [
        Cause(behaviours()[behaviour], tuple(own_proofs))
        for (_, behaviour), own_proofs in proofs_by_cause.items()
    ]
    return tuple(sorted(every, key=lambda cause: cause.rank))


def unproved(
    directory: Path = FAULTS, results: Path = RESULTS, readers: Sequence[Reader] = READERS
) -> list[str]:
    """The faults (named failures of readers) on the board that no result shows against a
    MUST rule, as "record: fault's id"; the list should be empty.
    """
    proved = {
        (proof.reader.record, proof.fault.id)
        for proof in proofs(board(results, directory, readers), directory, results)
        if proof.counts
    }
    names = dict.fromkeys(reader.record for reader in readers)
    every = ((name, fault) for name in names for fault in faults(name, directory))
    return [
        f"{name}: {fault.id}"
        for name, fault in every
        if fault.on_board and (name, fault.id) not in proved
    ]


def cited(citation: str) -> tuple[str, str]:
    """A citation split into its words and the link below docs/ to the page of sources that quotes
    it; the link is "" if the citation names no fact.
    """
    place = re.search(r" \[([\w-]+)#([\w-]+)\]$", citation)
    if place is None:
        return citation, ""
    return citation[: place.start()], f"sources/{place[1]}.md#{place[2]}"


def _shown_without_option(
    judged: Iterable[Judged], reader: Reader, fmt: str
) -> set[tuple[str, str]]:
    """The rules and causes of the failures that a reader shows on a format without its option to
    ignore what it cannot read, where it has such an option.
    """
    shown: set[tuple[str, str]] = set()
    for result in judged:
        if result.reader.name == reader.without_option and result.format == fmt:
            for failure in (*result.failures, *result.recorded):
                shown.add(_rule_and_cause(failure.entry))
    return shown


def _rule_and_cause(entry: Mapping[str, Any]) -> tuple[str, str]:
    """The rule that a failure in the report breaks, and its cause: what identifies it among runs of
    a reader with and without an option.
    """
    return str(entry["rule"]), str(entry["cause"])


def _failure(entry: Mapping[str, Any], fmt: str, faults: Iterable[Fault]) -> Failure:
    """The failure of an entry in the report, with the first of the faults that explains it."""
    return Failure(entry, next((fault for fault in faults if fault.explains(fmt, entry)), None))
