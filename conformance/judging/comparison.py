"""Compares a decoder's rows with the changes that a case owes: counts each comparison for the rule
that owns it, and adds one finding of that rule for each mismatch.

This module does not read the wire.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from conformance.judging.capabilities import (
    NULL_FOR_ABSENT,
    READ_AS_INSERT,
    STOPS,
    TYPED_VALUES,
    WHOLE_BEFORE,
)
from conformance.judging.compare import (
    is_impossible,
    null_is_fine,
    only_zones_apart,
    same_digits,
    same_text,
    same_value,
)
from conformance.judging.findings import CELL, NOT_THERE, ColumnOfKind, Finding
from conformance.judging.ledger import RuleLedger, Site
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.judging.unfit import bad_cell, describe_unfit_cell, holds_kept_value
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
from conformance.rules.rules import Aspect, Rule, Subject
from generators.model import (
    SIDES,
    Case,
    Cell,
    Change,
    Image,
    Kind,
    Logical,
    Op,
    Origin,
    SideOrRow,
    State,
)

NO_OUTPUT: Final = "no output row"
"""The actual rows of a message that vanished."""
SHOWN: Final = 1_200
"""Characters of an expected or actual value in a finding."""


def _are_keys(change: Change, keys: tuple[str, ...]) -> bool:
    """Whether the key columns that a decoder returned are right: the expected ones in their order,
    or others that identify a row as well (`other_keys` in their order, `key_sets` in any). A change
    without key columns owes (). The number of names is compared, too, since a set hides doubles.
    """
    in_order = (change.keys or (), *change.other_keys)
    in_any_order = ((len(names), names) for names in change.key_sets)
    return keys in in_order or (len(keys), frozenset(keys)) in in_any_order


def is_refusal(output_rows: Sequence[OutputRow]) -> bool:
    """Whether a message's rows are one CORRUPT row."""
    return len(output_rows) == 1 and output_rows[0].kind == Kind.CORRUPT


class CaseComparison:
    """Compares the output rows of one case with the changes that are owed, and collects findings.
    While it does, `change` is the owed change that is compared, and `at` are the numbers of its
    message and row. `nulled` counts cells that are NULL because the message does not hold their
    columns.
    """

    def __init__(self, ledger: RuleLedger, case: Case) -> None:
        self.ledger = ledger
        self.case = case
        self.findings: list[Finding] = []
        self.nulled = 0
        self.at, self.change = (0, 0), Change(0, Kind.ROW)
        self._profile, self._tags = view = ledger.seen_by_selectors(case)
        self._plans = ledger.plans.setdefault((view, case.level), {})
        self._counted: set[str] = set()
        self._several = any(len(w.changes) > 1 for w in case.written)
        self._conventions = ledger.capabilities.conventions

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
        side: SideOrRow = "",
        *,
        owed: Any = None,
        came: Any = None,
    ) -> bool:
        """Counts a comparison of the field `name` for the rule that owns it, and adds a finding
        unless the two sides agree (`agrees`). `path` is the place as text, `expected` and `actual`
        are words for reports, `owed` and `came` the values themselves. Returns whether they agree;
        true, too, for the digits of a time if no rule owns them.
        """
        key = (self.change.kind, self.change.op, name, aspect, side, "")
        plan = self._plans.get(key)
        if plan is None:
            find = self.ledger.find if aspect is Aspect.DIGITS else self.ledger.find_owner
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
        side: SideOrRow,
        column: str = "",
        *,
        owed: Any = None,
        came: Any = None,
    ) -> bool:
        """Counts a comparison for the given rule, and adds a finding unless the two sides agree
        (`agrees`); the parameters are those of `check`. Returns whether they agree.
        """
        self.count(rule, aspect, column or path, side)
        if not agrees:
            if aspect is Aspect.DIGITS:
                aspect = Aspect.VALUE if side else Aspect.FIELD
            self.ledger.broken[rule.id] += 1
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

    def count(self, rule: Rule, aspect: Aspect, name: str, side: SideOrRow) -> None:
        """Counts a comparison for the rule; the first one of a case is remembered for the self
        test.
        """
        self.ledger.compared[rule.id] += 1
        if self.ledger.remembers and rule.id not in self._counted:
            self._counted.add(rule.id)
            self.ledger.remember(
                rule, self.case, Site(self.case.id, *self.at, aspect, name, side), self._several
            )

    def shape(self, output_row: OutputRow) -> None:
        """Compares, for the law row-shape, the columns that the row's kind decides: `error`, `op`
        and the images. Only the first wrong one gives a finding.
        """
        if (rule := self.ledger.law("row-shape")) is None:
            return
        for name, agrees in (
            ("error", (output_row.kind == Kind.CORRUPT) == bool(output_row.error)),
            ("op", output_row.kind != Kind.CORRUPT or output_row.op is None),
            *(
                (name, output_row.kind == Kind.ROW or getattr(output_row, name) is None)
                for name in SIDES
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
        rejected = is_refusal(output_rows)
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
        """The kind and the op of the owed change, such as `ROW INSERT`."""
        return f"{self.change.kind} {self.change.op or ''}".strip()

    def _corrupt(self, output_rows: Sequence[OutputRow]) -> None:
        """Compares the rows of a message that cannot be read: it owes one row of kind CORRUPT, or,
        where no source says whether it can be read, any row. Some other answers are right too, such
        as none from a decoder that claims to stop there.
        """
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
        expected = "exactly one CORRUPT row" + (
            f": {describe_unfit_cell(self.case, cell)}" if cell else ""
        )
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
        for side in SIDES:
            actual = output_row.before if side == "before" else output_row.after
            if change.kind is Kind.ROW:
                # The whole row, if the decoder completes before images.
                completes_before = WHOLE_BEFORE in self._conventions and side == "before"
                self._image(
                    side, change.image(side, 2 if completes_before else self.case.level), actual
                )

    def _count_missed(self) -> None:
        """Counts as refused, for the rules on values, all cells of the change that could not be
        compared because its row did not come out.
        """
        for side in SIDES:
            for cell in (self.change.image(side, self.case.level) or {}).values():
                if cell.state in (State.VALUE, State.ONE_OF) and self.ledger.capabilities.claims(
                    "types", cell.type.key
                ):
                    _presence, _null, value_rule, *_digits = self._plan(side, cell)
                    self.ledger.refused[value_rule.id] += 1

    def _is_other_name(self, output_row: OutputRow, name: str) -> bool:
        """Whether the row's database or table (`name`) is another one that the message may mean
        just as well. If the message has both names in one text, database and table must come from
        the same way of dividing it.
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
            if name not in output_row.fields or not self.ledger.capabilities.claims(
                "columns", name
            ):
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

    def _image(
        self, side: SideOrRow, expected: Image | None, actual: Mapping[str, Any] | None
    ) -> None:
        """Compares one image, before or after, of a row with the owed one."""
        level = self.case.level
        if expected and all(cell.state is State.ANY for cell in expected.values()):
            self.ledger.cells[State.ANY] += len(expected)
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
            rule = self.ledger.find_owner(
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

    def _cell(self, side: SideOrRow, column: str, cell: Cell, actual: Mapping[str, Any]) -> None:
        """Compares one cell: its presence, whether it is NULL, and its value."""
        level, state = self.case.level, cell.state
        self.ledger.cells[state] += 1
        if state is State.ANY and (cell.text is None or (level == 2 and not cell.options)):
            return
        if level == 2 and state is State.ABSENT:
            if column in actual and self.ledger.capabilities.claims("types", cell.type.key):
                self._judge_absent(side, column, cell, actual[column])
            return
        if not self.ledger.capabilities.claims("types", cell.type.key):
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

    def _judge_absent(self, side: SideOrRow, column: str, cell: Cell, got: Any) -> None:
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
        presence_rule, *_further_rules = self._plan(side, cell)
        self.settle(
            False,
            presence_rule,
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

    def _plan(self, side: SideOrRow, cell: Cell) -> tuple[Rule, ...]:
        """The rules that own a cell's comparisons, in this order: presence, NULL, value, and for a
        date with time its digits if a rule owns them. They are looked up once for each kind of
        cell.
        """
        type = cell.type
        key = (self.change.kind, self.change.op, side, type.key, cell.cls, cell.state)
        owners = self._plans.get(key)
        if owners is None:
            fields = {
                "type": type.key,
                "logical": type.logical.value,
                "cls": cell.cls,
                "state": cell.state.value,
            }
            owners = tuple(
                self.ledger.find_owner(self.subject("cell", aspect, side=side, **fields))
                for aspect in CELL
            )
            if self.case.level == 2 and type.logical in (Logical.DATETIME, Logical.TIMESTAMP):
                digits = self.ledger.find(self.subject("cell", Aspect.DIGITS, side=side, **fields))
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
    return " ".join(filter(None, (str(output_row.kind), output_row.op, image_text)))[:300]
