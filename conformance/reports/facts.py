"""What every report says alike: the verdict in words, each rule's standing, counts, and the commands to repeat things."""

from __future__ import annotations

import enum
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from conformance.judging.judge import Verdict
from conformance.judging.known import Entry, EntryResult, State
from conformance.judging.results import Failure, FormatResult, Header, RuleResult, RunResult
from conformance.rules.base import Obligation
from generators.model import Deployment

COMMAND: Final = "cdc-conformance"


class Standing(enum.StrEnum):
    """What a run says of one rule."""

    KEPT = "kept"
    BROKEN = "broken"
    LAX = "broken, does not count"
    KNOWN = "known failure"
    IDLE = "not exercised"
    OUT = "out of reach"


SIGNS: Final = {
    Standing.KEPT: "✓",
    Standing.BROKEN: "✗",
    Standing.LAX: "~",
    Standing.KNOWN: "!",
    Standing.IDLE: "?",
    Standing.OUT: "-",
}
"""A sign for each standing, so that no report speaks in colours alone."""

WORDS: Final = {
    0: "conforms",
    1: "does NOT conform",
    3: "UNFINISHED, the harness failed",
    4: "nothing was judged",
    5: "conforms, but the record of known failures is out of date",
    130: "UNFINISHED, interrupted",
}
"""A run's exit code in words."""


@dataclass(frozen=True, slots=True)
class RuleStanding:
    """A rule after a run: the cases that break it, and those of them that are not on record as known."""

    result: RuleResult
    standing: Standing
    cases: int = 0
    new: int = 0


def standings(fmt: FormatResult, strict: bool = False) -> list[RuleStanding]:
    """The standing of each rule of a format, in the rules' order."""
    cases: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for case in fmt.cases:
        if case.findings:
            broken = {f.rule for f in case.findings}
            cases.update(broken)
            new.update(broken - case.known)
    return [
        RuleStanding(one, _standing(one, cases[one.rule.id], new[one.rule.id], strict), cases[one.rule.id], new[one.rule.id])
        for one in fmt.rules
    ]


def _standing(one: RuleResult, cases: int, new: int, strict: bool) -> Standing:
    if new:
        return Standing.BROKEN if strict or one.rule.obligation is Obligation.MUST else Standing.LAX
    if cases:
        return Standing.KNOWN
    if one.compared and not one.broken:
        return Standing.KEPT
    return Standing.IDLE if one.reachable and not one.compared else Standing.OUT


def counts(found: Iterable[RuleStanding]) -> Counter[Standing]:
    """Rules by standing."""
    return Counter(one.standing for one in found)


def binding(failure: Failure, strict: bool) -> bool:
    """Whether the failure makes the run fail."""
    return not failure.known and (strict or failure.rule.obligation is Obligation.MUST)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the matrix: a format, or one of its profiles."""

    name: str
    cases: int
    messages: int
    verdicts: Mapping[Verdict, int]
    new: int
    known: int

    @property
    def sign(self) -> str:
        """✗ where something counts, ! where all that fails is known, - where nothing was judged, else ✓."""
        if self.new:
            return "✗"
        if self.known:
            return "!"
        return "✓" if self.cases > self.verdicts.get(Verdict.UNSUPPORTED, 0) else "-"


def matrix(fmt: FormatResult, strict: bool = False) -> tuple[Row, list[Row]]:
    """A format's own line, and one for each of its profiles."""
    failing = {id(case) for case in fmt.counting(strict)}
    rows = []
    for profile, cases in fmt.by_profile().items():
        verdicts = Counter(case.verdict for case in cases)
        messages = sum(len(case.case.written) for case in cases)
        new = sum(1 for case in cases if id(case) in failing)
        known = sum(1 for case in cases if case.known and id(case) not in failing)
        rows.append(Row(profile, len(cases), messages, verdicts, new, known))
    total: Counter[Verdict] = Counter()
    for row in rows:
        total.update(row.verdicts)
    messages, new, known = sum(r.messages for r in rows), sum(r.new for r in rows), sum(r.known for r in rows)
    return Row(fmt.format, len(fmt.cases), messages, total, new, known), rows


def subject(header: Header) -> str:
    """Which decoder, in words."""
    return "reference decoders" if header.decoder == "reference" else f"decoder {header.decoder}"


def headline(result: RunResult) -> str:
    """The verdict in one line; of a run that did not finish, what is known and what is not."""
    line = f"{subject(result.header)}: {WORDS[result.exit_code]}"
    if not result.ended:
        return line
    whole = f"{len(result.formats)} of {len(result.formats) + len(result.unjudged)} formats judged whole"
    until = f", so far: {WORDS[result.verdict]}" if result.formats else ""
    return f"{line} ({whole}{until}; not judged: {', '.join(result.unjudged) or 'none'})"


def sums(result: RunResult) -> list[str]:
    """What was judged: cases, messages, certainty, seed, time."""
    head = result.header
    cases = [case for fmt in result.formats for case in fmt.cases]
    level = Counter(case.case.level for case in cases)
    placed = sum(len(places) for fmt in result.formats for places in fmt.places.values())
    drawn = sum(fmt.drawn for fmt in result.formats)
    through = "a table in memory" if head.topic == "" else f"Kafka ({head.broker}), topic {head.topic}"
    certain = min((fmt.certain for fmt in result.formats), default=1.0)
    return [
        f"{len(cases):,} cases ({drawn:,} drawn; {level[1]:,} judged at level one, {level[2]:,} at level two)",
        f"{placed:,} messages through {through}",
        f"{certain:.1%} of cells certain",
        f"seed {head.seed}, budget {head.budget}",
        f"{result.seconds:.1f} s",
    ]


def again(header: Header) -> str:
    """The command line that repeats the run, with its seed."""
    arguments = list(header.arguments)
    if "--seed" not in arguments and not any(one.startswith("--seed=") for one in arguments):
        arguments += ["--seed", str(header.seed)]
    return shlex.join([COMMAND, *arguments])


def replay(failure: Failure) -> str:
    """The command that judges the failure's case again; empty when it was not saved."""
    return f"{COMMAND} replay {shlex.quote(failure.file)}" if failure.file else ""


def remedy(one: EntryResult) -> str:
    """What to do about an entry that is wrong."""
    return one.hint if one.state is State.UNEXPECTED_PASS else f"{one.hint}; correct or remove the entry"


def unusual(deployment: Deployment) -> str:
    """What of a deployment is not as usual; "" if all of it is."""
    usual = Deployment()
    told = ((field.name, getattr(deployment, field.name)) for field in fields(Deployment))
    return ", ".join(f"{name} {value}" for name, value in told if value != getattr(usual, name))


def covering(entry: Entry) -> str:
    """What an entry is about beside its rule."""
    return str(entry).removeprefix(entry.rule).removeprefix(", ")
