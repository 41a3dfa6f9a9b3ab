"""Judges cases: compares the rows of each message, and gives the verdict of the findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from conformance.judging.comparison import CaseComparison, is_refusal
from conformance.judging.findings import UNDECODED, CaseResult, Finding, Verdict
from conformance.judging.ledger import RuleLedger
from conformance.judging.output import OutputRow
from conformance.rules.rules import Aspect, Obligation, Subject
from generators.model import Case, Change, Kind


class Judge(RuleLedger):
    """Judges the cases of one format, and counts per rule."""

    def judge(
        self, case: Case, outputs: Sequence[Sequence[OutputRow]], table: str | None = None
    ) -> CaseResult:
        """The verdict of one case from the output rows of each of its messages.

        At level two (typed rows of one table) `table` names the table that the decoder was asked
        for, by default the case's first; changes of other tables require no row, and a refusal of
        their messages may count as none.
        """
        comparison = CaseComparison(self, case)
        requested_table = table or next((first.name for first in case.tables), None)
        for number, (written, output_rows) in enumerate(zip(case.written, outputs, strict=True)):
            changes = written.changes
            if case.level == 2:
                changes = tuple(
                    c for c in changes if c.kind is Kind.CORRUPT or c.is_row_of(requested_table)
                )
                if not changes and (
                    self.may_refuse_foreign(case, written.changes, output_rows)
                    or self._as_refused(comparison.findings, output_rows)
                ):
                    output_rows = ()
            comparison.message(number, changes, output_rows)
        nulled = comparison.nulled
        verdict = self.verdict(case, comparison.findings, nulled)
        note = f"NULL in {nulled} cell(s) whose columns the message does not hold" if nulled else ""
        return CaseResult(case, verdict, tuple(comparison.findings), note, nulled=nulled)

    def may_refuse_foreign(
        self, case: Case, changes: Iterable[Change], output_rows: Sequence[OutputRow]
    ) -> bool:
        """Whether the rows only refuse a foreign message (one of another table than the decoder is
        asked for), and a decoder of that table may refuse it too: the writer leaves it open, or the
        rule there is no MUST. `changes` are what the message owes in a call of its own table.
        """

        def is_open(change: Change) -> bool:
            """Whether a decoder of typed rows (level two) of the message's own table may refuse the
            change, by a CORRUPT row.
            """
            subject = Subject(
                case.profile,
                2,
                change.kind.value,
                change.op or "",
                "change",
                Aspect.CORRUPT,
                tags=case.tags,
            )
            # The kind and op of a CORRUPT row, which is then as right as the change itself.
            if (Kind.CORRUPT, None) in change.accept:
                return True
            rule_of_refusals = self.find_owner(subject)
            return rule_of_refusals.obligation is not Obligation.MUST

        return is_refusal(output_rows) and any(map(is_open, changes))

    def _as_refused(self, findings: Iterable[Finding], output_rows: Sequence[OutputRow]) -> bool:
        """Whether a refused message of another table goes unpunished: the rows only refuse it, and
        the decoder has also refused a row of the requested table where the rule is no MUST. So it
        may be refused for the same reason; the case does not say what the other table's message
        holds. `findings` are those of the case so far.
        """
        refusal_rules = {finding.rule for finding in findings if finding.aspect is Aspect.CORRUPT}
        return is_refusal(output_rows) and any(
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
        """The verdict on a case with these findings: by the gravest obligation that they break.
        `nulled` is the number of cells that are NULL because the message does not hold their
        columns: a case with any is INFORMATIONAL where it would pass.
        """
        by_id = {rule.id: rule for rule in self.rules}
        broken_obligations = {by_id[f.rule].obligation for f in findings}
        must = [f for f in findings if by_id[f.rule].obligation is Obligation.MUST]
        if must:
            return (
                Verdict.ACCEPTED if all(f.aspect is Aspect.ACCEPTED for f in must) else Verdict.FAIL
            )
        if Obligation.SHOULD in broken_obligations:
            return Verdict.NON_STRICT
        must_be_refused = any(
            change.kind is Kind.CORRUPT and not change.anything for change in case.changes
        )
        may_be_anything = any(change.anything for change in case.changes)
        if broken_obligations or may_be_anything:
            return Verdict.INFORMATIONAL
        if must_be_refused:
            return Verdict.REJECTED
        return Verdict.INFORMATIONAL if nulled else Verdict.PASS
