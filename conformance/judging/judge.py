"""Judges cases: findings, verdicts, and comparisons counted per rule.

The judge walks the expectation. For each (field, aspect) it looks up the owning rule (first match,
cached), counts the comparison, and on a mismatch adds one finding of that rule. This module does
not read the wire.
"""

from __future__ import annotations

import enum
import itertools
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.judging.compare import (
    is_impossible,
    null_is_fine,
    only_zones_apart,
    same_digits,
    same_text,
    same_value,
)
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.judging.unfit import bad_cell, cannot, holds_kept_value
from conformance.judging.wording import (
    clip,
    describe_cell,
    error,
    image,
    instant,
    off,
    shift,
    typed,
    value,
)
from conformance.rules.rule import RuleViews, View
from conformance.rules.rules import Aspect, Obligation, Rule, Subject, owner
from generators.errors import UsageError
from generators.model import Case, Cell, Change, Image, Kind, Logical, Op, Origin, State


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


class HarnessFault(AssertionError):
    """A fault of the harness: a comparison without an owner."""


class ColumnOfKind(NamedTuple):
    """A column of the rows of a kind."""

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
    the row's kind decides whether it has one, the kind and the value), for a kind or op the tuple of what is accepted and what came, and for an unreadable message the kinds
    of the rows that came. `suspects` are those that the first of the causes names. `circumstance`
    is what a law changed about the call. `plan_failed`: the decoder failed before it read a
    message, so that `actual` is the error of every case and no message is an example of it.
    """

    case: str
    rule: str
    message: int
    row: int
    aspect: Aspect
    path: str
    expected: str
    actual: str
    side: str = ""
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


WHOLE_BEFORE: Final = "whole-before"
TYPED_VALUES: Final = "typed-values"
READ_AS_INSERT: Final = "read-as-insert"
NULL_FOR_ABSENT: Final = "null-for-absent"
STOPS: Final = "stops-on-unreadable"
CONVENTIONS: Final[Mapping[str, str]] = {
    WHOLE_BEFORE: (
        "at level one the before image of an UPDATE is the whole row, as far as the message has it"
    ),
    TYPED_VALUES: (
        "at level one a value's text is the decoder's own: presence and NULL alone are compared"
    ),
    READ_AS_INSERT: "a snapshot row is INSERT",
    NULL_FOR_ABSENT: "at level two a column that the message does not hold is NULL",
    STOPS: "an unreadable message stops the decoder: it raises, or gives no row",
}
"""Honest differences that a decoder may claim."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A decoder's claims, as globs; () claims everything. An unclaimed case is unsupported, never
    failed.

    `columns` are envelope columns of level one (`conformance.judging.output.ENVELOPE`), `types`
    keys of source types. `conventions` are honest differences, of `CONVENTIONS`; () has none.
    """

    profiles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    conventions: tuple[str, ...] = ()

    @classmethod
    def of(cls, lists: Mapping[str, Sequence[str]]) -> Capabilities:
        """The claims as a decoder writes them. Raises UsageError for a list without a word, which
        would claim everything.
        """
        for name, globs in lists.items():
            if not globs and name != "conventions":
                raise UsageError(
                    f"CAPABILITIES: {name} is empty; leave it out to claim all of them"
                )
        return cls(**{name: tuple(globs) for name, globs in lists.items()})

    def __str__(self) -> str:
        """The claims in words; "" for everything."""
        lists = {field.name: getattr(self, field.name) for field in fields(self)}
        return "; ".join(f"{name} {', '.join(globs)}" for name, globs in lists.items() if globs)

    def claims(self, what: str, *names: str) -> bool:
        """Whether all these profiles, kinds, columns or types are claimed."""
        globs: tuple[str, ...] = getattr(self, what)
        if not globs:
            return True

        def is_claimed(name: str) -> bool:
            return any(fnmatchcase(name, glob) for glob in globs)

        return all(map(is_claimed, names))


@dataclass(frozen=True, slots=True)
class Site:
    """A comparison that a rule owns, where `selftest` may alter a correct output. `name` is the
    field or the column.
    """

    case: str
    message: int
    row: int
    aspect: Aspect
    name: str
    side: str = ""


NO_OUTPUT: Final = "no output row"
"""The actual rows of a message that vanished."""
CELL: Final = (Aspect.PRESENCE, Aspect.NULL, Aspect.VALUE)
"""Compared aspects of an image's column."""
Key: TypeAlias = tuple[Kind, Op | None, str, str | Aspect, str, str | State]
"""The key of an owner, beside view and level: kind, op; for a field its name, aspect and side; for
a cell its side, type, value class and state.
"""
SHOWN: Final = 1_200
"""Characters of an expected or actual value in a finding."""
SITES = 3
"""Sites remembered per rule."""
CASES = 150
"""Cases remembered per rule and level: a seeded sample, and every case whose messages hold several
changes.
"""


@dataclass(slots=True)
class Judge:
    """Judges the cases of one format and counts per rule; with `remembers`, it also keeps sites and
    cases of each rule. `plans` are the owners, shared by all cases that selectors do not
    distinguish.
    """

    rules: tuple[Rule, ...]
    capabilities: Capabilities = Capabilities()
    remembers: bool = False
    compared: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    cells: Counter[State] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    sites: dict[str, list[Site]] = field(default_factory=dict)
    seen: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    _owned: Counter[tuple[str, int]] = field(default_factory=Counter)
    _random: random.Random = field(default_factory=lambda: random.Random(0))
    _owners: dict[tuple[object, ...], Rule | None] = field(default_factory=dict)
    _about: dict[tuple[str, Aspect, int] | None, RuleViews] = field(default_factory=dict)
    _laws: dict[str, Rule | None] = field(default_factory=dict)
    plans: dict[tuple[View, int], dict[Key, tuple[Rule, ...]]] = field(default_factory=dict)

    def find_owner(self, subject: Subject) -> Rule:
        """The rule that owns a comparison. Raises HarnessFault when there is none."""
        if rule := self.find(subject):
            return rule
        raise HarnessFault(f"no rule owns {subject}")

    def find(self, subject: Subject) -> Rule | None:
        """The rule that owns a comparison; None only for the digits of a time, which not every
        format compares by themselves.
        """
        sighted = self._sighted(about := (subject.field, subject.aspect, subject.level))
        key = (
            *(about, sighted.view(subject.profile, subject.tags), subject.kind, subject.op),
            *(subject.side, subject.type, subject.logical, subject.cls, subject.state),
        )
        if key not in self._owners:
            self._owners[key] = owner(sighted.rules, subject)
        return self._owners[key]

    def empty(self) -> Judge:
        """A judge with the same rules whose counts are zero. It shares with this one what they look
        up, and the sites and cases that they keep.
        """
        return replace(
            self, compared=Counter(), broken=Counter(), cells=Counter(), refused=Counter()
        )

    def add(self, counted_judge: Judge) -> None:
        """Takes over what a judge with the same rules has counted."""
        self.compared += counted_judge.compared
        self.broken += counted_judge.broken
        self.cells += counted_judge.cells
        self.refused += counted_judge.refused

    def law(self, name: str) -> Rule | None:
        """The rule of a law, if the rules have it."""
        if name not in self._laws:
            self._laws[name] = next((rule for rule in self.rules if rule.law == name), None)
        return self._laws[name]

    def remember(self, rule: Rule, case: Case, site: Site, has_several_changes: bool) -> None:
        """Keeps, for the self test, the first places at which the rule owned a comparison, and a
        random sample of its cases.
        """
        sites = self.sites.setdefault(rule.id, [])
        if len(sites) < SITES:
            sites.append(site)
        key = (rule.id, case.level)
        case_ids = self.seen.setdefault(key, [])
        self._owned[key] += 1
        if len(case_ids) < CASES or has_several_changes:
            case_ids.append(case.id)
        elif (slot := self._random.randrange(self._owned[key])) < CASES:
            case_ids[slot] = case.id

    def seen_by_selectors(self, case: Case) -> View:
        """The case's profile and tags as selectors see them."""
        return self._sighted(None).view(case.profile, case.tags)

    def _sighted(self, about: tuple[str, Aspect, int] | None) -> RuleViews:
        """The rules that concern a field, an aspect and a level, made ready for look-up; with None
        all rules.
        """
        if about not in self._about:
            concerned_rules = (
                self.rules
                if about is None
                else tuple(rule for rule in self.rules if rule.selector.concerns(*about))
            )
            self._about[about] = RuleViews(concerned_rules)
        return self._about[about]

    def judge(
        self, case: Case, outputs: Sequence[Sequence[OutputRow]], table: str | None = None
    ) -> CaseResult:
        """The verdict of one case from the output rows of each of its messages.

        At level two (typed rows of one table) `table` names the table that the decoder was asked
        for, by default the case's first; changes of other tables require no row, and a refusal of
        their messages may count as none.
        """
        reader, requested_table = (
            _Reader(self, case),
            table or next((first.name for first in case.tables), None),
        )
        for number, (written, output_rows) in enumerate(zip(case.written, outputs, strict=True)):
            changes = written.changes
            if case.level == 2:
                changes = tuple(
                    c for c in changes if c.kind is Kind.CORRUPT or c.is_row_of(requested_table)
                )
                if not changes and (
                    self.may_refuse(case, written.changes, output_rows)
                    or self._as_refused(reader.findings, output_rows)
                ):
                    output_rows = ()
            reader.message(number, changes, output_rows)
        verdict, nulled = self.verdict(case, reader.findings, reader.nulled), reader.nulled
        note = f"NULL in {nulled} cell(s) whose columns the message does not hold" if nulled else ""
        return CaseResult(case, verdict, tuple(reader.findings), note, nulled=nulled)

    def may_refuse(
        self, case: Case, changes: Iterable[Change], output_rows: Sequence[OutputRow]
    ) -> bool:
        """Whether the rows only refuse a message of another table, and a decoder of that table may
        refuse it too: the writer leaves it open, or the rule there is no MUST.
        """

        def is_open(change: Change) -> bool:
            """Whether the decoder of the other table may refuse the change."""
            subject = Subject(
                case.profile,
                2,
                change.kind.value,
                change.op or "",
                "change",
                Aspect.CORRUPT,
                tags=case.tags,
            )
            return (Kind.CORRUPT, None) in change.accept or self.find_owner(
                subject
            ).obligation is not Obligation.MUST

        return _is_refusal(output_rows) and any(map(is_open, changes))

    def _as_refused(self, findings: Iterable[Finding], output_rows: Sequence[OutputRow]) -> bool:
        """Whether the rows refuse a message of another table (such as one of the same name in
        another database) as a row of the requested table was refused: under a rule of the format
        that is no MUST. `findings` are those so far. The case does not say what the other table's
        message holds.
        """
        refusal_rules = {finding.rule for finding in findings if finding.aspect is Aspect.CORRUPT}
        return _is_refusal(output_rows) and any(
            rule.id in refusal_rules and rule.obligation is not Obligation.MUST
            for rule in self.rules
        )

    def with_findings(self, result: CaseResult, findings: tuple[Finding, ...]) -> CaseResult:
        """The result of a case with these findings in place of its own, and the verdict that they
        give. The result of a case that was not decoded stays as it is.
        """
        if findings == result.findings or result.verdict in UNDECODED:
            return result
        return replace(
            result, verdict=self.verdict(result.case, findings, result.nulled), findings=findings
        )

    def verdict(self, case: Case, findings: Sequence[Finding], nulled: int = 0) -> Verdict:
        """The verdict of a case's findings, and of cells that are NULL for a column that the
        message does not hold.
        """
        by_id = {rule.id: rule for rule in self.rules}
        worst = {by_id[f.rule].obligation for f in findings}
        must = [f for f in findings if by_id[f.rule].obligation is Obligation.MUST]
        if must:
            return (
                Verdict.ACCEPTED if all(f.aspect is Aspect.ACCEPTED for f in must) else Verdict.FAIL
            )
        if Obligation.SHOULD in worst:
            return Verdict.NON_STRICT
        rejects = any(
            change.kind is Kind.CORRUPT and not change.anything for change in case.changes
        )
        open_ended = any(change.anything for change in case.changes)
        if worst or open_ended:
            return Verdict.INFORMATIONAL
        if rejects:
            return Verdict.REJECTED
        return Verdict.INFORMATIONAL if nulled else Verdict.PASS


def _are_keys(change: Change, keys: tuple[str, ...]) -> bool:
    """Whether the key columns that a decoder returned are right: the expected ones, or others that
    identify a row as well.
    """
    in_order = (change.keys or (), *change.other_keys)
    in_any_order = ((len(names), names) for names in change.key_sets)
    return keys in in_order or (len(keys), frozenset(keys)) in in_any_order


def _is_refusal(output_rows: Sequence[OutputRow]) -> bool:
    return len(output_rows) == 1 and output_rows[0].kind == Kind.CORRUPT


class _Reader:
    """Judges one case. `change` is the owed change that is compared, `at` its message and row."""

    def __init__(self, judge: Judge, case: Case) -> None:
        self.judge = judge
        self.case = case
        self.findings: list[Finding] = []
        self.nulled = 0
        self.at, self.change = (0, 0), Change(0, Kind.ROW)
        self._profile, self._tags = view = judge.seen_by_selectors(case)
        self._plans = judge.plans.setdefault((view, case.level), {})
        self._counted: set[str] = set()
        self._several = any(len(w.changes) > 1 for w in case.written)
        self._conventions = judge.capabilities.conventions

    def subject(self, name: str, aspect: Aspect, **more: str) -> Subject:
        """One part of the owed change that is compared, as the selectors of rules see it; `more`
        are fields on a cell, such as its type.
        """
        kind, op = self.change.kind.value, self.change.op or ""
        return Subject(
            self._profile, self.case.level, kind, op, name, aspect, tags=self._tags, **more
        )

    def check(
        self,
        agrees: bool,
        name: str,
        aspect: Aspect,
        path: str,
        expected: object,
        actual: object,
        side: str = "",
        *,
        owed: Any = None,
        came: Any = None,
    ) -> bool:
        """Counts a comparison for the rule that owns it, and adds a finding unless the two sides
        agree. Returns whether they do.
        """
        key = (self.change.kind, self.change.op, name, aspect, side, "")
        plan = self._plans.get(key)
        if plan is None:
            find = self.judge.find if aspect is Aspect.DIGITS else self.judge.find_owner
            rule = find(self.subject(name, aspect, side=side))
            plan = self._plans[key] = (rule,) if rule else ()
        return not plan or self.settle(
            agrees, plan[0], aspect, path, expected, actual, side, owed=owed, came=came
        )

    def settle(
        self,
        agrees: bool,
        rule: Rule,
        aspect: Aspect,
        path: str,
        expected: object,
        actual: object,
        side: str,
        column: str = "",
        *,
        owed: Any = None,
        came: Any = None,
    ) -> bool:
        """Counts a comparison for the given rule, and adds a finding unless the two sides agree.
        Returns whether they do.
        """
        self.count(rule, aspect, column or path, side)
        if not agrees:
            if aspect is Aspect.DIGITS:
                aspect = Aspect.VALUE if side else Aspect.FIELD
            self.judge.broken[rule.id] += 1
            shown_values = clip(str(expected), SHOWN), clip(str(actual), SHOWN)
            of_cell = column if aspect in CELL else None
            self.findings.append(
                Finding(
                    self.case.id,
                    rule.id,
                    *self.at,
                    aspect,
                    path,
                    *shown_values,
                    side,
                    of_cell,
                    owed=owed,
                    came=came,
                )
            )
        return agrees

    def count(self, rule: Rule, aspect: Aspect, name: str, side: str) -> None:
        """Counts a comparison for the rule; the first one of a case is remembered for the self
        test.
        """
        self.judge.compared[rule.id] += 1
        if self.judge.remembers and rule.id not in self._counted:
            self._counted.add(rule.id)
            self.judge.remember(
                rule, self.case, Site(self.case.id, *self.at, aspect, name, side), self._several
            )

    def shape(self, output_row: OutputRow) -> None:
        """Compares, for the law row-shape, the columns that the row's kind decides: `error`, `op`
        and the images. Only the first wrong one gives a finding.
        """
        if (rule := self.judge.law("row-shape")) is None:
            return
        for name, agrees in (
            ("error", (output_row.kind == Kind.CORRUPT) == bool(output_row.error)),
            ("op", output_row.kind != Kind.CORRUPT or output_row.op is None),
            *(
                (name, output_row.kind == Kind.ROW or getattr(output_row, name) is None)
                for name in ("before", "after")
            ),
        ):
            expected_content = (
                "a reason" if name == "error" and output_row.kind == Kind.CORRUPT else "NULL"
            )
            expected = f"{expected_content} in a row of kind {output_row.kind}"
            came = getattr(output_row, name)
            if not self.settle(
                agrees,
                rule,
                Aspect.FIELD,
                name,
                expected,
                came,
                "",
                owed=ColumnOfKind(str(output_row.kind), name),
                came=came,
            ):
                return

    def message(
        self, number: int, changes: Sequence[Change], output_rows: Sequence[OutputRow]
    ) -> None:
        """Compares the rows of one message with the changes that it owes."""
        for output_row in output_rows:
            self.at = number, output_row.row or 0
            self.shape(output_row)
        if changes and changes[0].kind is Kind.CORRUPT:
            self.at, self.change = (number, 0), changes[0]
            self._corrupt(output_rows)
            return
        by_row: dict[int | None, list[OutputRow]] = {}
        for output_row in output_rows:
            by_row.setdefault(output_row.row, []).append(output_row)
        rejected = _is_refusal(output_rows)
        for change in changes:
            self.at, self.change, path = (number, change.row), change, f"row {change.row}"
            rows_of_change = by_row.pop(change.row, [])
            got = output_rows if rejected else rows_of_change
            if self.check(bool(got), "change", Aspect.MISSING, path, self._what(), NO_OUTPUT):
                self._compare(got[0])
                actual = f"{len(got)} output rows with row={change.row}"
                self.check(len(got) == 1, "change", Aspect.EXTRA, path, "one output row", actual)
            else:
                self._count_missed()
        if rejected and changes:
            return
        surplus = list(itertools.chain.from_iterable(by_row.values()))
        if surplus or not changes:
            self.at, self.change = (
                (number, len(changes)),
                changes[-1] if changes else Change(0, Kind.ROW),
            )
            actual = f"{len(surplus)} more, the first: {_describe(surplus[0]) if surplus else ''}"
            owed = f"{len(changes)} output row(s)"
            numbers = tuple(row.row for row in surplus)
            self.check(not surplus, "change", Aspect.EXTRA, "rows", owed, actual, came=numbers)

    def _what(self) -> str:
        return f"{self.change.kind} {self.change.op or ''}".strip()

    def _corrupt(self, output_rows: Sequence[OutputRow]) -> None:
        """Compares the rows of a message that cannot be read: it owes one row of kind CORRUPT."""
        if self.change.anything:
            agrees = bool(output_rows) or STOPS in self._conventions
            self.check(
                agrees,
                "change",
                Aspect.MISSING,
                "rows",
                "at least one output row",
                NO_OUTPUT,
                came=(),
            )
            return
        kinds = {Kind.CORRUPT, *(kind for kind, _ in self.change.accept)}
        # At level two a change of another kind has no row.
        none = STOPS in self._conventions or (self.case.level == 2 and len(kinds) > 1)
        agrees = output_rows[0].kind in kinds if len(output_rows) == 1 else not output_rows and none
        cell = None if agrees else bad_cell(self.case)
        column = cell.column if cell else ""
        actual = (
            NO_OUTPUT
            if not output_rows
            else "; ".join(_describe(output_row, column) for output_row in output_rows[:3])
        )
        keeps_value = (
            cell is not None
            and len(output_rows) == 1
            and holds_kept_value(self.case, cell, output_rows[0])
        )
        expected = "exactly one CORRUPT row" + (f": {cannot(self.case, cell)}" if cell else "")
        kinds_that_came = tuple(output_row.kind for output_row in output_rows)
        self.check(
            agrees or keeps_value,
            "change",
            Aspect.ACCEPTED,
            "kind",
            expected,
            actual,
            came=kinds_that_came,
        )
        if keeps_value:
            self.check(False, "change", Aspect.KIND, "kind", expected, actual, came=kinds_that_came)
        if cell:
            self.findings[-1] = replace(self.findings[-1], side="after", column=column)

    def _compare(self, output_row: OutputRow) -> None:
        """Compares an output row with the owed change: kind, op, envelope columns and both
        images.
        """
        change = self.change
        if output_row.kind == Kind.CORRUPT and (Kind.CORRUPT, None) not in change.accept:
            refusal = f"CORRUPT: {error(output_row.error) if output_row.error else 'no error text'}"
            self.check(False, "change", Aspect.CORRUPT, "kind", self._what(), refusal)
            self._count_missed()
            return
        self.check(True, "change", Aspect.CORRUPT, "kind", "", "")
        pairs = {(change.kind, change.op), *change.accept}
        kinds = sorted({k.value for k, _ in pairs})
        if not self.check(
            output_row.kind in kinds,
            "change",
            Aspect.KIND,
            "kind",
            " or ".join(kinds),
            output_row.kind,
            owed=tuple(kinds),
            came=output_row.kind,
        ):
            return
        if output_row.kind != change.kind:
            return
        ops = sorted({o.value if o else "NULL" for k, o in pairs if k == output_row.kind})
        if change.op is Op.READ and READ_AS_INSERT in self._conventions:
            pairs.add((change.kind, Op.INSERT))
        if not self.check(
            (output_row.kind, output_row.op) in pairs,
            "change",
            Aspect.OP,
            "op",
            " or ".join(ops),
            output_row.op,
            owed=tuple(ops),
            came=output_row.op,
        ):
            return
        if self.case.level == 1:
            self._envelope(output_row)
        for side, actual in (("before", output_row.before), ("after", output_row.after)):
            if change.kind is Kind.ROW:
                # The whole row, if the decoder completes before images.
                completes_before = WHOLE_BEFORE in self._conventions and side == "before"
                self._image(
                    side, change.image(side, 2 if completes_before else self.case.level), actual
                )

    def _count_missed(self) -> None:
        """Counts as refused the rules of all cells that could not be compared because the row did
        not come out.
        """
        for side in ("before", "after"):
            for cell in (self.change.image(side, self.case.level) or {}).values():
                if cell.state in (State.VALUE, State.ONE_OF) and self.judge.capabilities.claims(
                    "types", cell.type.key
                ):
                    self.judge.refused[self._plan(side, cell)[2].id] += 1

    def _is_other_name(self, output_row: OutputRow, name: str) -> bool:
        """Whether the row's database or table is another that the message may mean. Where the two
        stand in one text, they must be parted at one place.
        """
        change, fields = self.change, output_row.fields
        if name not in ("database", "table"):
            return False
        if not (change.databases and change.tables):
            return fields[name] in (change.databases if name == "database" else change.tables)
        for database, table in zip(change.databases, change.tables, strict=True):
            split = {"database": database, "table": table}
            if all(fields[column] == split[column] for column in split if column in fields):
                return True
        return False

    def _envelope(self, output_row: OutputRow) -> None:
        """Compares the envelope columns (database, table, keys, times ...) that the decoder
        returns.
        """
        change = self.change
        unknown = (
            "schema_version",
            *(("position", "commit_time") if self.case.origin is Origin.RECORDED else ()),
        )
        for name in ENVELOPE:
            if name not in output_row.fields or not self.judge.capabilities.claims("columns", name):
                continue
            want, got = (
                getattr(change, "commit_time_us" if name == "commit_time" else name),
                output_row.fields[name],
            )
            if name in unknown and want is None:
                continue
            if name in ("database", "schema", "table", "sql"):
                agrees = (want or "") == (got or "") or self._is_other_name(output_row, name)
            elif name == "keys":
                agrees = _are_keys(change, tuple(got or ()))
            elif name == "types":
                agrees = dict(want or {}) == dict(got or {})
            else:
                agrees = want == got
            digits_agree, shown_values = agrees, ("", "") if agrees else (value(want), value(got))
            if (
                not agrees
                and name == "commit_time"
                and isinstance(want, int)
                and isinstance(got, int)
            ):
                digits_agree = only_zones_apart(want, got)
                shown_values = (
                    instant(want),
                    f"{instant(got)}, {off(want, got, self.case.deployment.time_zone)}",
                )
            if name == "commit_time":
                agrees |= not self.check(
                    digits_agree, name, Aspect.DIGITS, name, *shown_values, owed=want, came=got
                )
            self.check(agrees, name, Aspect.FIELD, name, *shown_values, owed=want, came=got)

    def _image(self, side: str, expected: Image | None, actual: Mapping[str, Any] | None) -> None:
        """Compares one image, before or after, of a row with the owed one."""
        level = self.case.level
        if expected and all(cell.state is State.ANY for cell in expected.values()):
            self.judge.cells[State.ANY] += len(expected)
            return
        expected_image = "NULL" if expected is None else "an image"
        got = None if actual is None else image(actual) if expected is None else "an image"
        if not self.check(
            (expected is None) == (actual is None),
            "image",
            Aspect.IMAGE,
            side,
            expected_image,
            got,
            side,
            owed=expected,
            came=actual,
        ):
            return
        if expected is None or actual is None:
            return
        for column, cell in expected.items():
            self._cell(side, column, cell, actual)
        if level == 1 and len(actual) > sum(c in actual for c in expected):
            surplus = sorted(set(actual) - set(expected))
            rule = self.judge.find_owner(
                self.subject("cell", Aspect.PRESENCE, side=side, state=State.ABSENT.value)
            )
            path = f"{side}[{surplus[0]!r}]"
            self.settle(
                False,
                rule,
                Aspect.PRESENCE,
                path,
                "no such column",
                value(actual[surplus[0]]),
                side,
                surplus[0],
                came=actual[surplus[0]],
            )

    def _cell(self, side: str, column: str, cell: Cell, actual: Mapping[str, Any]) -> None:
        """Compares one cell: its presence, whether it is NULL, and its value."""
        level, state = self.case.level, cell.state
        self.judge.cells[state] += 1
        if state is State.ANY and (cell.text is None or (level == 2 and not cell.options)):
            return
        if level == 2 and state is State.ABSENT:
            if column in actual and self.judge.capabilities.claims("types", cell.type.key):
                self._judge_absent(side, column, cell, actual[column])
            return
        if not self.judge.capabilities.claims("types", cell.type.key):
            return
        presence, null, valued, *digits = self._plan(side, cell)
        path, is_present = f"{side}[{column!r}]", column in actual
        if level == 1 or not is_present:
            want = "absent" if state is State.ABSENT else "present"
            agrees = is_present == (state is not State.ABSENT)
            got = "absent" if not is_present else want if agrees else value(actual[column])
            came = actual.get(column, NOT_THERE)
            if not self.settle(
                agrees,
                presence,
                Aspect.PRESENCE,
                path,
                want,
                got,
                side,
                column,
                owed=cell,
                came=came,
            ):
                return
        if state is State.ABSENT:
            return
        got = actual[column]
        if state is State.ANY and level == 2:
            agrees = got is None or not is_impossible(cell, got)
            self.settle(
                agrees,
                valued,
                Aspect.VALUE,
                path,
                "NULL, or a value",
                "" if agrees else typed(got),
                side,
                column,
                owed=cell,
                came=got,
            )
            return
        if state is State.NULL:
            self.settle(
                got is None,
                null,
                Aspect.NULL,
                path,
                "NULL",
                "" if got is None else value(got),
                side,
                column,
                owed=cell,
                came=got,
            )
            return
        if got is None and level == 2 and null_is_fine(cell):
            self.count(valued, Aspect.VALUE, column, side)
            return
        if got is None:
            self.settle(
                False,
                null,
                Aspect.NULL,
                path,
                describe_cell(cell, level),
                "NULL",
                side,
                column,
                owed=cell,
                came=None,
            )
            return
        self.count(null, Aspect.NULL, column, side)
        if level == 1 and (cell.text is None or TYPED_VALUES in self._conventions):
            return
        agrees = same_text(cell, got) if level == 1 else same_value(cell, got)
        shown_values = (
            ("", "")
            if agrees
            else (
                describe_cell(cell, level),
                typed(got) + shift(cell, got, self.case.deployment.time_zone),
            )
        )
        for rule in digits:  # What these break breaks no second rule.
            agrees |= not self.settle(
                agrees or same_digits(cell, got),
                rule,
                Aspect.DIGITS,
                path,
                *shown_values,
                side,
                column,
                owed=cell,
                came=got,
            )
        self.settle(
            agrees, valued, Aspect.VALUE, path, *shown_values, side, column, owed=cell, came=got
        )

    def _judge_absent(self, side: str, column: str, cell: Cell, got: Any) -> None:
        """Judges the decoder's typed value (`got`, or None for NULL) in a column that the message
        does not hold. NULL is no finding, only counted unless the decoder claims that convention. A
        value is a finding, since it is made up, with three exceptions: the message's text form has
        the column all the same, the value is that of the after image, or the column is NOT NULL,
        where the output's type may leave no other way.
        """
        wire = (self.change.image(side, 1) or {}).get(column)
        after = (self.change.image("after", 2) or {}).get(column) if side == "before" else None
        if got is not None and wire is not None and wire.state not in (State.NULL, State.ABSENT):
            return
        from_after_image = (
            after is not None
            and after.state in (State.VALUE, State.ONE_OF)
            and got is not None
            and same_value(after, got)
        )
        if got is None or from_after_image or self._is_required(column):
            self.nulled += NULL_FOR_ABSENT not in self._conventions
            return
        path, want = f"{side}[{column!r}]", "NULL, because the message does not hold the column"
        self.settle(
            False,
            self._plan(side, cell)[0],
            Aspect.PRESENCE,
            path,
            want,
            typed(got),
            side,
            column,
            owed=cell,
            came=got,
        )

    def _is_required(self, column: str) -> bool:
        """Whether a table of the case declares the column NOT NULL."""
        columns = itertools.chain.from_iterable(table.columns for table in self.case.tables)
        return any(declared.name == column and not declared.nullable for declared in columns)

    def _plan(self, side: str, cell: Cell) -> tuple[Rule, ...]:
        """The rules that own a cell's comparisons: presence, NULL, value, and of a time its digits
        if they have a rule. They are looked up once for each kind of cell.
        """
        type, key = (
            cell.type,
            (self.change.kind, self.change.op, side, cell.type.key, cell.cls, cell.state),
        )
        owners = self._plans.get(key)
        if owners is None:
            fields = {
                "type": type.key,
                "logical": type.logical.value,
                "cls": cell.cls,
                "state": cell.state.value,
            }
            owners = tuple(
                self.judge.find_owner(self.subject("cell", aspect, side=side, **fields))
                for aspect in CELL
            )
            if self.case.level == 2 and type.logical in (Logical.DATETIME, Logical.TIMESTAMP):
                digits = self.judge.find(self.subject("cell", Aspect.DIGITS, side=side, **fields))
                owners += () if digits is None else (digits,)
            self._plans[key] = owners
        return owners


def _describe(output_row: OutputRow, column: str = "") -> str:
    """An output row in one line of at most 300 characters, for a finding, with the cell of `column`
    first.
    """
    cells = output_row.after if output_row.after is not None else output_row.before
    if cells is not None and column in cells:
        cells = {column: cells[column], **cells}
    image_text = image(cells) if cells is not None else ""
    return f"{output_row.kind} {output_row.op or ''} {image_text}".strip()[:300]
