"""What all reports share: the verdict in words, each rule's standing, counts, and the commands that
repeat a run.
"""

from __future__ import annotations

import enum
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final

from conformance.judging.findings import Verdict
from conformance.judging.known import Entry, EntryResult, State
from conformance.judging.results import Failure, FormatResult, Header, RuleResult, RunResult
from conformance.judging.sentences import describe_relation
from conformance.rules.rules import Obligation
from generators.model import Deployment

COMMAND: Final = "cdc-conformance"
NAMED: Final = 8
"""How many profiles or faults are named in a list; further ones are counted."""


class Standing(enum.StrEnum):
    """The result of a rule in a run. LAX is a broken rule that is no MUST (without --strict); IDLE
    could have been compared, but no case did; OUT is beyond level, selection or capabilities;
    REFUSED: the decoder gave no row for its cells.
    """

    KEPT = "kept"
    BROKEN = "broken"
    LAX = "broken, does not count"
    KNOWN = "known failure"
    IDLE = "not exercised"
    OUT = "out of reach"
    REFUSED = "not compared: refused"


SIGNS: Final = {
    Standing.KEPT: "✓",
    Standing.BROKEN: "✗",
    Standing.LAX: "~",
    Standing.KNOWN: "!",
    Standing.IDLE: "?",
    Standing.OUT: "-",
    Standing.REFUSED: "?",
}
"""A sign for each standing: colours alone are not enough."""

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
    """The result of a rule after a run: `cases` is how many cases break it, `new` how many of these
    are not on record as known.
    """

    result: RuleResult
    standing: Standing
    cases: int = 0
    new: int = 0


def standings(fmt: FormatResult, strict: bool = False) -> list[RuleStanding]:
    """For each rule of a format its result in the run (kept, broken, known, not exercised ...),
    with the numbers of cases that break it, all and those that are not on record; in the rules'
    order.
    """
    cases: Counter[str] = Counter()
    new: Counter[str] = Counter()
    for case in fmt.cases:
        if case.findings:
            broken = {f.rule for f in case.findings}
            cases.update(broken)
            new.update(broken - case.known)
    return [
        RuleStanding(
            result,
            _standing(result, cases[result.rule.id], new[result.rule.id], strict),
            cases[result.rule.id],
            new[result.rule.id],
        )
        for result in fmt.rules
    ]


@dataclass(frozen=True, slots=True)
class Breach:
    """How a profile breaks a rule: in how many cases, and how many of these are not on record as
    known.
    """

    cases: int = 0
    new: int = 0


def breaches(fmt: FormatResult) -> dict[str, dict[str, Breach]]:
    """The broken rules of a format by id, and for each, by profile, how many cases break it, and
    how many of these the record of known failures does not cover.
    """
    by_rule: dict[str, dict[str, Breach]] = {}
    for case in fmt.cases:
        for rule in {f.rule for f in case.findings}:
            by_profile = by_rule.setdefault(rule, {})
            old = by_profile.get(case.case.profile, Breach())
            by_profile[case.case.profile] = Breach(
                old.cases + 1, old.new + (rule not in case.known)
            )
    return by_rule


def _standing(result: RuleResult, cases: int, new: int, strict: bool) -> Standing:
    """The result of a rule in a run, from its counts of comparisons, the number of cases that break
    it (`cases`), and the number of these that the record of known failures does not cover (`new`).
    """
    if new:
        return (
            Standing.BROKEN if strict or result.rule.obligation is Obligation.MUST else Standing.LAX
        )
    if cases:
        return Standing.KNOWN
    if result.compared and not result.broken:
        return Standing.KEPT
    if result.refused and not result.compared:
        return Standing.REFUSED
    return Standing.IDLE if result.reachable and not result.compared else Standing.OUT


def counts(rules: Iterable[RuleStanding]) -> Counter[Standing]:
    """How many rules have each standing."""
    return Counter(rule.standing for rule in rules)


def reached(by_standing: Mapping[Standing, int]) -> int:
    """The number of rules that the run could have compared: all but those that its level, its
    selection or the decoder's capabilities keep out (Standing.OUT). `by_standing` has the number of
    rules with each result.
    """
    return sum(by_standing.values()) - by_standing.get(Standing.OUT, 0)


def makes_run_fail(failure: Failure, strict: bool) -> bool:
    """Whether the failure makes the run fail: it is on no list of known failures, and breaks a MUST
    rule, or any rule with `strict` (--strict).
    """
    return not failure.known and (strict or failure.rule.obligation is Obligation.MUST)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table of results: a format, or one of its profiles. `new` counts the cases
    that make the run fail, `known` the others whose broken rules are on record.
    """

    name: str
    cases: int
    messages: int
    verdicts: Mapping[Verdict, int]
    new: int
    known: int

    @property
    def sign(self) -> str:
        """✗ if a failure counts, ! if every failure is known, - if nothing was judged, else ✓."""
        if self.new:
            return "✗"
        if self.known:
            return "!"
        return "✓" if self.cases > self.verdicts.get(Verdict.UNSUPPORTED, 0) else "-"


def matrix(fmt: FormatResult, strict: bool = False) -> tuple[Row, list[Row]]:
    """The counts of a format for the table of results, and those of each of its profiles. A case
    counts as `new` if it makes the run fail (with `strict` also by a rule that is no MUST). Any
    other case counts as `known` if the record of known failures covers a rule that it breaks.
    """
    failing = {id(case) for case in fmt.counting(strict)}
    profile_rows = []
    for profile, cases in fmt.by_profile().items():
        verdicts = Counter(case.verdict for case in cases)
        messages = sum(len(case.case.written) for case in cases)
        new = sum(1 for case in cases if id(case) in failing)
        known_cases = sum(1 for case in cases if case.known and id(case) not in failing)
        profile_rows.append(Row(profile, len(cases), messages, verdicts, new, known_cases))
    total: Counter[Verdict] = Counter()
    for profile_row in profile_rows:
        total.update(profile_row.verdicts)
    messages = sum(r.messages for r in profile_rows)
    new = sum(r.new for r in profile_rows)
    known_cases = sum(r.known for r in profile_rows)
    return Row(fmt.format, len(fmt.cases), messages, total, new, known_cases), profile_rows


def subject(header: Header) -> str:
    """Whose decoder the run judged, in words: the reference decoders, or the decoder's name."""
    return "reference decoders" if header.decoder == "reference" else f"decoder {header.decoder}"


def headline(result: RunResult) -> str:
    """The verdict in one line; for an unfinished run also what was judged and what was not."""
    line = f"{subject(result.header)}: {WORDS[result.exit_code]}{unjudged(result)}"
    if not result.ended:
        return line
    judged_formats = (
        f"{len(result.formats)} of {len(result.formats) + len(result.unjudged)} formats judged"
        " whole"
    )
    verdict_so_far = f", so far: {WORDS[result.verdict]}" if result.formats else ""
    return f"{line} ({judged_formats}{verdict_so_far}; not judged: {', '.join(result.unjudged) or 'none'})"


def unjudged(result: RunResult) -> str:
    """Words to follow the verdict: how many rules compared nothing, and how many cases the decoder
    does not claim to support; "" if there are none.
    """
    rules = 0
    for fmt in result.formats:
        rules += sum(not rule.compared for rule in fmt.rules)
    cases = sum(fmt.verdicts[Verdict.UNSUPPORTED] for fmt in result.formats)
    parts = [
        count_words(number, what) for number, what in ((rules, "rule"), (cases, "case")) if number
    ]
    return (
        f", {' and '.join(parts)} not judged (beyond level, selection or decoder)" if parts else ""
    )


def count_words(number: int, what: str) -> str:
    """A number of things in words, such as `1 case` or `2,000 cases`; `what` is the singular."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def nulled(fmt: FormatResult) -> str:
    """A line that names the profiles whose typed rows have NULL only because the messages do not
    hold the columns, with their numbers of cases; "" if there are none.
    """
    if not fmt.nulled:
        return ""
    profiles = _list_names(
        [f"{profile} ({cases:,})" for profile, cases in fmt.nulled.most_common()]
    )
    return (
        f"{fmt.format}: NULL for columns that the message does not hold, in {fmt.nulled.total():,}"
        f" cases: {profiles}"
    )


LEFT_OUT: Final = (
    "a first look, at one profile: without the other cases and profiles, drawn and recorded cases,"
    " laws, and smallest messages; judge without --quick before you rely on it"
)
"""What a run of budget quick leaves out."""


def sums(result: RunResult) -> list[str]:
    """What the run judged, in words: cases, messages, seed and time, and the share of certain cells
    (expected cells with exactly one right answer) in the format where it is lowest.
    """
    head = result.header
    cases = list(result.cases)
    cases_by_level = Counter(case.case.level for case in cases)
    message_count = 0
    for fmt in result.formats:
        message_count += sum(map(len, fmt.places.values()))
    drawn = sum(fmt.drawn for fmt in result.formats)
    through = (
        "a table in memory" if head.topic == "" else f"Kafka ({head.broker}), topic {head.topic}"
    )
    certain = min((fmt.certain for fmt in result.formats), default=1.0)
    return [
        (
            f"{len(cases):,} cases ({drawn:,} drawn; {cases_by_level[1]:,} judged at level one,"
            f" {cases_by_level[2]:,} at level two)"
        ),
        f"{message_count:,} messages through {through}",
        f"{certain:.1%} of cells certain",
        f"seed {head.seed}, budget {head.budget}",
        *([LEFT_OUT] if head.budget == "quick" else []),
        f"{result.seconds:.1f} s{_longest_parts(result)}",
    ]


LONG_S: Final = 20.0
"""A run of at least so many seconds says what took long."""


def _longest_parts(result: RunResult) -> str:
    """What took longest in a long run, in words: at most two parts (such as the reduction of
    failures), each more than a tenth of the run's time, and the number of decode calls. "" for a
    short run, or if no part took so much.
    """
    parts = sorted(result.spent.items(), key=lambda part: -part[1])[:2]
    words = [f"{seconds:.0f} s {what}" for what, seconds in parts if seconds > result.seconds / 10]
    if result.seconds < LONG_S or not words:
        return ""
    calls = sum(len(fmt.calls) for fmt in result.formats)
    return f" ({'; '.join(words)}; {count_words(calls, 'decode call')})"


def command_to_repeat(header: Header) -> str:
    """The command line that repeats the run with the same arguments and seed."""
    arguments = list(header.arguments)
    if "--seed" not in arguments and not any(
        argument.startswith("--seed=") for argument in arguments
    ):
        arguments += ["--seed", str(header.seed)]
    return shlex.join([COMMAND, *arguments])


def cause(failure: Failure) -> str:
    """The failure's cause in words, and how many further causes its rule has that are not shown; ""
    if it has none.
    """
    if failure.cause is None:
        return ""
    further_causes = f", and {failure.others} other causes of this rule" if failure.others else ""
    return f"{failure.cause.words}{further_causes}"


def hint(failure: Failure) -> str:
    """How a wrong value is related to the right one, in words (such as "an hour later"), as a hint
    at the mistake; "" if no relation is known.
    """
    if failure.cause is None or failure.cause.relation is None:
        return ""
    return describe_relation(failure.cause.relation)


def spread_text(failure: Failure) -> str:
    """In words: how many cases fail for this cause and how many of them are known failures, in
    which profiles, and by which faults of messages.
    """
    known_cases = (
        f" ({failure.cases - failure.new:,} of them known)"
        if 0 < failure.new < failure.cases
        else ""
    )
    parts = [f"{failure.cases:,}{known_cases}"]
    if failure.judged > 1:
        in_every_profile = len(failure.profiles) == failure.judged
        parts[0] += (
            " in every profile"
            if in_every_profile
            else f" in {len(failure.profiles)} of {failure.judged} profiles: "
        )
        parts[0] += "" if in_every_profile else _list_names(failure.profiles)
    if failure.faults:
        parts.append(f"faults: {_list_names(failure.faults)}")
    return "; ".join(parts)


def _list_names(names: Sequence[str]) -> str:
    """The names (of profiles or faults) as a list in words: the first NAMED, and the number of
    further ones.
    """
    remainder = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + remainder


def replay(failure: Failure) -> str:
    """The command line that judges the failure's case again; "" if the failure was not saved."""
    return shlex.join((COMMAND, "replay", failure.file, *failure.naming)) if failure.file else ""


def remedy(entry: EntryResult) -> str:
    """What to do about an entry of the record of known failures that is wrong, such as one that no
    longer fails.
    """
    return (
        entry.hint
        if entry.state is State.UNEXPECTED_PASS
        else f"{entry.hint}; correct or remove the entry"
    )


def unusual(deployment: Deployment) -> str:
    """The settings of a deployment (how the writer is set up) that are not the default, in words;
    "" if all are.
    """
    usual = Deployment()
    values = ((field.name, getattr(deployment, field.name)) for field in fields(Deployment))
    return ", ".join(f"{name} {value}" for name, value in values if value != getattr(usual, name))


def covering(entry: Entry) -> str:
    """What an entry of the record of known failures covers, in words: verdict, profiles, cases and
    causes, without its rule.
    """
    return entry.scope
