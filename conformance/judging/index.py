"""The one index of a run: which units passed and failed, and what they have.

A unit is an expected row, one of its cells, or a message that cannot be read. Causes ask the index
what the rows that came out clear of suspicion; mistakes ask it for the few traits that the most
failing units have, and nearly no other unit. Reports and reduction read what these two name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import Final, Literal, NamedTuple, TypeAlias

from conformance.judging.causes import REFUSALS, symptom
from conformance.judging.compared_units import cell_of, cells, change_of
from conformance.judging.contents import merge_family, rank_size
from conformance.judging.counted import TraitCounts, count_traits
from conformance.judging.findings import CELL, UNDECODED, CaseResult, Finding, Verdict
from conformance.judging.suspects import cell_suspects, row_suspects
from conformance.judging.trait_sorts import Trait, Traits, rank_trait
from conformance.judging.traits import RunTraits, of_name
from conformance.rules.rules import Aspect
from generators.model import Case, Cell, Change, Kind, Origin, SideOrRow, State

Unit: TypeAlias = tuple[Hashable, ...]
"""What passes or fails, by what tells it from others: case id, message and row; for a cell also
side and column.
"""
PopulationName: TypeAlias = Literal[
    "rows",
    "rows-with-before",
    "rows-with-after",
    "rows-with-fields",
    "rows-with-database",
    "rows-with-schema",
    "rows-with-table",
    "rows-with-keys",
    "rows-with-sql",
    "rows-with-position",
    "rows-with-commit_time",
    "rows-with-types",
    "rows-with-schema_version",
    "faults",
    "there",
    "there-before",
    "there-after",
    "nulls",
    "values",
    "absent",
]
"""Names of populations: rows, rows by whether they owe an image, the envelope or a column of it,
unreadable messages, and cells by what is owed.
"""
POPULATIONS_OF_FIELDS: Final[Mapping[str, PopulationName]] = {
    "database": "rows-with-database",
    "schema": "rows-with-schema",
    "table": "rows-with-table",
    "keys": "rows-with-keys",
    "sql": "rows-with-sql",
    "position": "rows-with-position",
    "commit_time": "rows-with-commit_time",
    "types": "rows-with-types",
    "schema_version": "rows-with-schema_version",
}
"""The rows that owe a value in a column of the envelope, by the column."""


def _owes_image(change: Change, side: SideOrRow, level: int) -> bool:
    """Whether a right decoder must return the row's before or after image; not if it has none, or
    if anything is right (ANY) in all of its cells. An image without columns must be returned.
    """
    image = change.image(side, level)
    if image is None:
        return False
    return not image or any(cell.state is not State.ANY for cell in image.values())


def _owes_field(column: str) -> Callable[[Change, int], bool]:
    """Returns a test of whether a row owes a value in a column of the envelope, such as `sql`. Only
    level one has these columns.
    """
    name = "commit_time_us" if column == "commit_time" else column
    return lambda change, level: level == 1 and getattr(change, name) is not None


_OF_ROWS: Final[Mapping[PopulationName, Callable[[Change, int], bool]]] = {
    "rows": lambda _change, _level: True,
    "rows-with-before": lambda change, level: _owes_image(change, "before", level),
    "rows-with-after": lambda change, level: _owes_image(change, "after", level),
    "rows-with-fields": lambda _change, level: level == 1,
    **{name: _owes_field(column) for column, name in POPULATIONS_OF_FIELDS.items()},
}
"""A test whether a row is of a population of rows, by what it owes at the case's level."""

NEARLY: Final = 0.75
"""Share of the units with some traits that must fail: some of them have nothing that a mistake can
spoil.
"""
_SURELY: Final = 0.9
"""The same share for traits that many units have by chance (`_OF_MANY`)."""
_OF_MANY: Final = frozenset({"held", "behind"})
"""Sorts of traits that many units have by chance: what a value holds, and that it is not in the
first column.
"""
_MOST: Final = 3
"""The most traits that are tried together, where fewer do not tell failing units from passing ones.
"""
_IN_NUMBER: Final = 3
"""Each trait of a set must shut out so many passing units: if it shuts out fewer, it may be there
by chance.
"""
_OF_SPELLINGS: Final = 0.8
"""Factor by which traits on how a time is written count less: if about as many values of a type
fail whatever their spelling, the spelling is no reason.
"""
_OF_CLASSES: Final = frozenset({"kin", "like"})
"""Sorts of traits on the class of a value, which tell of one level even where few fail."""
_TRIED: Final = 12
"""So many of the commonest traits are tried in sets of several."""
_OPS: Final = frozenset({"op", "kind"})
"""Sorts of traits on what a row does."""
_HIDING: Final = (Aspect.MISSING, Aspect.CORRUPT, Aspect.KIND, Aspect.OP, Aspect.IMAGE)
"""What is wrong with a row, or with its image, whose cells are not compared."""
_UNCOMPARED: Final = frozenset({Aspect.KIND, Aspect.OP, Aspect.IMAGE})
"""Aspects whose mismatch leaves the cells of a row uncompared."""


_OWED: Final[dict[PopulationName, Callable[[str, State, int], bool]]] = {
    "there": lambda _side, state, _level: state is not State.ABSENT,
    "there-before": lambda side, state, _level: side == "before" and state is not State.ABSENT,
    "there-after": lambda side, state, _level: side == "after" and state is not State.ABSENT,
    "absent": lambda _side, state, _level: state is State.ABSENT,
    "nulls": lambda _side, state, level: (
        state is State.NULL or (level == 2 and state is State.ABSENT)
    ),
    "values": lambda _side, state, _level: state not in (State.NULL, State.ABSENT),
}
"""A test whether a cell is of a population, by its image, the state that is owed, and the level:
level two has NULL for what is absent.
"""
_OF_ONE_IMAGE: Final[Mapping[PopulationName, str]] = {
    "there-before": "before",
    "there-after": "after",
}
"""The image of the cells of a population, if it is one."""
OF_CELLS_THERE: Final[frozenset[PopulationName]] = frozenset(
    {"there", "there-before", "there-after", "values"}
)
"""Populations of cells that may be left out, or be wrong."""


class ExactValue(NamedTuple):
    """A cell's exact value as a suspect of a refusal: the cell's narrowest suspect, and the value
    as text with the parameters of its type.
    """

    suspect: Trait
    spelling: str


class CellGroup(NamedTuple):
    """Cells of one image that are all NULL, or all not."""

    side: SideOrRow
    is_null: bool


@dataclass(frozen=True)
class ExpectedRow:
    """A change that a message of a case should give, and what a decoder that refuses its row may
    fail on; this is found on first use.
    """

    case: Case
    message: int
    change: Change

    @cached_property
    def suspects(self) -> set[Trait]:
        """The suspects of a refusal of the row: traits that may be why a decoder fails on it."""
        return row_suspects(self.case, self.case.written[self.message].changes, self.change)

    @cached_property
    def exact_values(self) -> set[ExactValue]:
        """The exact values of the row's cells, each a suspect if the row is refused."""
        return {spell_exactly(cell) for _, _, cell in cells(self.change, self.case.level)}

    @cached_property
    def suspects_of_cells(self) -> Mapping[CellGroup, set[Trait]]:
        """The suspects (traits that may be why a decoder fails) that are cleared if every cell of
        the row came out right, by image and by whether the cell is NULL.
        """
        return self.suspects_of_right_cells(())

    def suspects_of_right_cells(
        self, wrong_cells: Collection[tuple[str, str | None]]
    ) -> Mapping[CellGroup, set[Trait]]:
        """The suspects (traits that may be why a decoder fails) that the row's right cells clear,
        by image and by whether the cell is NULL. `wrong_cells` are pairs of image and column; these
        cells clear nothing. Without any, all cells of the row are right.
        """
        by_group: dict[CellGroup, set[Trait]] = defaultdict(set)
        for side, column, cell in cells(self.change, self.case.level):
            if (side, column) not in wrong_cells:
                all_cells = "cells", side, str(self.change.op)
                by_group[CellGroup(side, cell.state is State.NULL)].update(
                    (*cell_suspects(cell), all_cells)
                )
        return by_group

    @property
    def shows_a_row(self) -> bool:
        """Whether a right decoder must return this row. Then, if no finding names the row, it came.
        Of a row that may as well be refused, this would not follow: no finding may also mean that
        it was refused.
        """
        return self.change.kind is Kind.ROW and not self.may_be_refused

    @property
    def may_be_refused(self) -> bool:
        """Whether a CORRUPT row in the place of this row is right, too."""
        return (Kind.CORRUPT, None) in self.change.accept


ExpectedRows: TypeAlias = dict[int, tuple[ExpectedRow, ...]]
"""The expected rows of cases, by the identity of the case."""


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What became of an expected row: the findings on it; none if all of it is right."""

    row: ExpectedRow
    findings: tuple[Finding, ...]

    @property
    def came_out(self) -> bool:
        """Whether a row came out for the expected one, whatever may be wrong in it."""
        return not any(symptom(finding, self.row.case) in REFUSALS for finding in self.findings)

    @property
    def has_compared_cells(self) -> bool:
        """Whether the row's cells were compared: not if its kind, its op or an image as a whole is
        wrong.
        """
        return not any(finding.aspect in _UNCOMPARED for finding in self.findings)

    @property
    def wrong_cells(self) -> frozenset[tuple[str, str | None]]:
        """The image ("before" or "after") and the column of each cell that is wrong."""
        cell_findings = (finding for finding in self.findings if finding.aspect in CELL)
        return frozenset((finding.side, finding.column) for finding in cell_findings)

    @property
    def hidden_sides(self) -> frozenset[str]:
        """The sides ("before", "after") whose image is wrong as a whole, so that no finding could
        tell of its single cells. "" stands for the whole row: it did not come, or its kind or op is
        wrong, so that no cell of it was compared.
        """
        hiding = (finding for finding in self.findings if finding.aspect in _HIDING)
        return frozenset(f.side if f.aspect is Aspect.IMAGE else "" for f in hiding)

    def breaks_other_rules(self, rules: Container[str]) -> bool:
        """Whether the row did not come out as it should by a rule that is not among `rules`."""
        return any(f.aspect in _HIDING and f.rule not in rules for f in self.findings)

    def cells_of_other_rules(self, rules: Container[str]) -> frozenset[tuple[str, str | None]]:
        """Side and column of each cell or image that is wrong by a rule not among `rules`."""
        return frozenset((f.side, f.column) for f in self.findings if f.rule not in rules)


@dataclass(frozen=True, slots=True)
class Failing:
    """A unit (a row, a cell or an unreadable message) that fails, with its traits, and the finding
    that shows it with the result of its case.
    """

    unit: Unit
    traits: frozenset[Trait]
    finding: Finding
    result: CaseResult

    @property
    def message_unit(self) -> Unit:
        """The message of the unit: the case's id and the message's number."""
        return self.unit[:2]

    @property
    def image_unit(self) -> Unit:
        """What identifies the image of a failing cell: the case's id, message, row and side. Of a
        unit that is no cell it is the unit itself, without a side.
        """
        return self.unit[:4]

    @property
    def family(self) -> str:
        """The family of types of the failing cell's column. For a finding on a field of the
        envelope it is the field's name, for a row "".
        """
        if self.finding.aspect is Aspect.FIELD:
            return self.finding.path
        families = (merge_family(trait[1]) for trait in self.traits if trait[0] == "family")
        return next(families, "")


@dataclass(frozen=True, slots=True)
class Cleared:
    """What the rows that came out clear of suspicion: suspects and exact values by level and
    profile ("" for all profiles together), what right cells clear by level and group of cells; and
    how many rows with each suspect came out.
    """

    suspects: dict[tuple[int, str], set[Trait]]
    exact_values: dict[tuple[int, str], set[ExactValue]]
    of_right_cells: dict[tuple[int, CellGroup], set[Trait]]
    rows_that_came: Counter[Trait]


class GuiltyTraits(NamedTuple):
    """Traits that failing units have and nearly no other unit has, () if there are none; `is_sure`
    if no other unit has them at all.
    """

    traits: Traits
    is_sure: bool


@dataclass(frozen=True)
class RunIndex:
    """What became of every expected row of a run's cases that were decoded, counted by what the
    rows and cells have on first use.

    `counting` are the rules whose findings count: a unit that only breaks other rules is neither
    failing nor passing. `expected_rows` caches the expected rows of each case.
    """

    results: Sequence[CaseResult]
    outcomes: Sequence[RowOutcome]
    expected_rows: ExpectedRows
    counting: Container[str] = frozenset()
    _counts: dict[PopulationName, TraitCounts[Trait]] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        results: Sequence[CaseResult],
        counting: Container[str] = frozenset(),
        expected_rows: ExpectedRows | None = None,
    ) -> RunIndex:
        """Puts the findings of each decoded result beside the rows that its case expects.
        `counting` names the rules whose findings count. `expected_rows` is a cache of the rows of
        cases, which callers may hand from run to run.
        """
        expected_rows = {} if expected_rows is None else expected_rows
        outcomes: list[RowOutcome] = []
        for result in results:
            if result.verdict in UNDECODED or result.verdict is Verdict.UNSUPPORTED:
                continue
            by_row: dict[tuple[int, int], list[Finding]] = defaultdict(list)
            for finding in result.findings:
                by_row[finding.message, finding.row].append(finding)
            for expected_row in expect_rows(result.case, expected_rows):
                findings = by_row.get((expected_row.message, expected_row.change.row), ())
                outcomes.append(RowOutcome(expected_row, tuple(findings)))
        return cls(results, tuple(outcomes), expected_rows, counting)

    @cached_property
    def cleared(self) -> Cleared:
        """What is cleared of suspicion: every trait of a row that came out, and every trait of a
        cell that is right. Foreign cases (a message of another table in a call) clear nothing.
        """
        cleared = Cleared(defaultdict(set), defaultdict(set), defaultdict(set), Counter())
        for outcome in self.outcomes:
            expected_row, level = outcome.row, outcome.row.case.level
            if expected_row.case.origin is Origin.FOREIGN:
                continue
            if expected_row.change.kind is not Kind.ROW and not outcome.findings:
                statements = cleared.of_right_cells[level, STATEMENTS]
                statements.add(("kind", expected_row.change.kind.value))
            if not expected_row.shows_a_row or not outcome.came_out:
                continue
            cleared.rows_that_came.update(expected_row.suspects)
            for profile in ("", expected_row.case.profile):
                cleared.suspects[level, profile] |= expected_row.suspects
                cleared.exact_values[level, profile] |= expected_row.exact_values
            if not outcome.has_compared_cells:
                continue
            wrong_cells = outcome.wrong_cells
            by_group = (
                expected_row.suspects_of_right_cells(wrong_cells)
                if wrong_cells
                else expected_row.suspects_of_cells
            )
            for group, suspects in by_group.items():
                cleared.of_right_cells[level, group] |= suspects
        return cleared

    @cached_property
    def traits(self) -> RunTraits:
        """The traits of the run's messages, rows and cells."""
        return RunTraits.gather(result.case for result in self.results)

    def find_guilty_traits(
        self,
        name: PopulationName,
        traits_of_failures: Sequence[frozenset[Trait]],
        failing_units: Sequence[Failing],
        may_explain: Callable[[Trait], bool] = lambda _trait: True,
        favoured: Container[Trait] = (),
        explained_before: Collection[Traits] = (),
    ) -> GuiltyTraits:
        """The few traits that explain most of these failing units: nearly all units that have them
        fail. `traits_of_failures` are the traits of all units that fail so, or that cannot clear a
        trait. Only traits that `may_explain` the deviation are tried; of those that explain as
        much, the `favoured` come first. Units with traits that were `explained_before` are no
        evidence for others: they fail anyway.
        """
        every = self._count(name)
        failing = count_traits(filter(may_explain, unit.traits) for unit in failing_units)
        failed = count_traits(traits_of_failures)

        def failing_share(traits: Traits) -> float:
            """The share of the units with these traits that fail; 1.0 if no unit has them."""
            number = every.number(traits, explained_before)
            return min(1.0, failed.number(traits, explained_before) / number) if number else 1.0

        def number_failing(traits: Traits) -> int:
            """How many of the failing units have all these traits; 0 for no traits."""
            return failing.number(traits) if traits else 0

        def is_needed(traits: Traits) -> bool:
            """Whether no trait of the set can be left out: without any one of them, too many units
            with the others would pass. Of a level one is enough: its decoder is a program of its
            own.
            """
            if len(traits) == 1:
                return True
            for index, trait in enumerate(traits):
                remaining_traits = (*traits[:index], *traits[index + 1 :])
                number = every.number(remaining_traits, explained_before)
                passing = number - failed.number(remaining_traits, explained_before)
                if passing < (1 if trait[0] == "level" else _IN_NUMBER):
                    return False
            return True

        def find_best(candidates: Iterable[Traits]) -> Traits:
            """The traits, one candidate set, that explain the most failing units; () if there is
            none. Of the units that have the traits a share of NEARLY (_SURELY for sorts that many
            units have by chance) must fail; the lower this share, the less the traits count. Of
            equally good sets the favoured one is taken, then the one that ranks lowest.
            """
            worth = []
            for traits in candidates:
                least = _SURELY if any(trait[0] in _OF_MANY for trait in traits) else NEARLY
                share = failing_share(traits)
                if share < least or not is_needed(traits):
                    continue
                is_favoured = any(trait in favoured for trait in traits)
                ranks = [rank_trait(trait) for trait in traits]
                # Of two limits that explain as much, what is said of the larger is true of both.
                limits = [rank_size(trait) for trait in traits]
                explained = -number_failing(traits) * share**2
                if any(trait[0] == "spelled" for trait in traits):
                    explained *= _OF_SPELLINGS
                worth.append((explained, not is_favoured, ranks, limits, traits))
            *_ranks, best_traits = min(worth, default=(0.0, True, [], [], ()))
            return best_traits

        def find_with_op(traits: Traits) -> Traits:
            """The traits, and in front of them an op or kind if it makes them exact: all failing
            units with the traits have it too, and all units with the traits and it fail, while of
            the units with the traits alone some pass. Traits on what a value holds get none: they
            explain whatever the op is.
            """
            holds_content = any(trait[0] == "held" for trait in traits)
            if not traits or holds_content or failing_share(traits) == 1:
                return traits
            for trait in sorted(trait for trait in failing.having if trait[0] in _OPS):
                narrower = (trait, *traits)
                is_shared = number_failing(narrower) == number_failing(traits)
                if is_shared and failing_share(narrower) == 1 and is_needed(narrower):
                    return narrower
            return traits

        best = find_best((trait,) for trait in failing.having)
        commonest = sorted(failing.having, key=lambda trait: (-number_failing((trait,)), trait))
        common = sorted(
            (trait for trait in commonest[: _TRIED + 1] if trait != ("any",)),
            key=lambda trait: (rank_trait(trait), trait),
        )
        if not best and len(failing_units) < _IN_NUMBER:
            # Of one or two units nearly any two traits together are theirs alone.
            levels = [trait for trait in failing.having if trait[0] == "level"]
            classes = [trait for trait in failing.having if trait[0] in _OF_CLASSES]
            best = find_best(product(classes, levels))
        for size in range(2, _MOST + 1):
            if number_failing(best) > len(failing_units) / 2 or len(failing_units) < _IN_NUMBER:
                break
            of_size = find_best(filter(number_failing, combinations(common, size)))
            best = max((best, of_size), key=number_failing)
        best = find_with_op(best)
        return GuiltyTraits(best, failing_share(best) == 1)

    def share_that_fails(
        self,
        name: PopulationName,
        traits_of_failures: Sequence[frozenset[Trait]],
        alternatives: Iterable[Traits],
    ) -> float:
        """Of the units of a population that have any of these sets of traits (which exclude each
        other) the share that fails. `traits_of_failures` are the traits of the failing units.
        """
        every, failed, units, failing = self._count(name), count_traits(traits_of_failures), 0, 0
        for traits in alternatives:
            units += every.number(traits)
            failing += failed.number(traits)
        return min(1.0, failing / units) if units else 1.0

    def families_with(self, trait: Trait) -> frozenset[str]:
        """The families of types to which the expected values with this trait belong."""
        values = self._count("values")
        return frozenset(
            merge_family(family[1])
            for family in values.having
            if family[0] == "family" and values.number((trait, family))
        )

    def traits_of_finding(
        self, name: PopulationName, finding: Finding, case: Case
    ) -> frozenset[Trait]:
        """The traits of what fails with a finding: of the unreadable message, the row or the cell,
        as the population (faults, rows, values ...) has it.
        """
        if name == "faults":
            return self.traits.of_fault(case, finding.message)
        change, cell = change_of(finding, case), cell_of(finding, case)
        if change is None:
            return frozenset({("any",)})
        if name in _OF_ROWS:
            return self.traits.of_row_with_cells(case, finding.message, change)
        side, column = finding.side, finding.column or ""
        row_traits = self.traits.of_row_for_cells(case, finding.message, change)
        row_traits |= self.traits.of_earlier_columns(case, finding.message, change, side, column)
        if cell is None:
            return row_traits | of_name(case, change, side, column)
        of_cell = self.traits.of_cell(case, change, side, column, cell)
        # What seemed another column's value may turn out to be any value for NULL.
        of_null = _family_of_null("nulls" if finding.aspect is Aspect.NULL else name, cell)
        return row_traits | of_cell | of_null

    def _count(self, name: PopulationName) -> TraitCounts[Trait]:
        """How many units (rows, cells or unreadable messages) of a population have each trait,
        whether they fail or not; counted once and kept.
        """
        if name not in self._counts:
            self._counts[name] = count_traits(self._units_of(name))
        return self._counts[name]

    def _units_of(self, name: PopulationName) -> Iterator[frozenset[Trait]]:
        """Yields the set of traits of each unit (an expected row, cell or unreadable message) of a
        population, failing or not. Units of which the run shows nothing, such as cells of a row
        that may have been refused, are left out.
        """
        for outcome in self.outcomes:
            if outcome.row.may_be_refused and not outcome.findings:
                # It may have been refused: then it shows nothing of its cells.
                continue
            case, number, change = outcome.row.case, outcome.row.message, outcome.row.change
            is_fault = change.kind is Kind.CORRUPT
            if name == "faults":
                if is_fault and not self._shows_nothing_of_a_fault(outcome):
                    yield self.traits.of_fault(case, number)
            elif name in _OF_ROWS:
                # A row that breaks a rule which does not count is neither failing nor passing.
                is_compared = not is_fault and not outcome.breaks_other_rules(self.counting)
                if is_compared and _OF_ROWS[name](change, case.level):
                    yield self.traits.of_row_with_cells(case, number, change)
            else:
                yield from self._cells_of(name, outcome)

    def _shows_nothing_of_a_fault(self, outcome: RowOutcome) -> bool:
        """Whether an unreadable message does not tell if the decoder treats such messages rightly:
        any rows are right there, what came may be one of several right rows, or it breaks a rule
        that does not count.
        """
        change = outcome.row.change
        may_be_another = bool(change.accept) and not outcome.findings
        breaks_others = any(finding.rule not in self.counting for finding in outcome.findings)
        return change.anything or may_be_another or breaks_others

    def _cells_of(self, name: PopulationName, outcome: RowOutcome) -> Iterator[frozenset[Trait]]:
        """Yields the traits of each compared cell of a row that belongs to the population `name`
        (such as expected NULLs or values).
        """
        hidden_sides = outcome.hidden_sides
        if "" in hidden_sides:
            return
        case, number, change = outcome.row.case, outcome.row.message, outcome.row.change
        cells_not_counted = outcome.cells_of_other_rules(self.counting)
        row_traits = self.traits.of_row_for_cells(case, number, change)
        for side, column, cell in cells(change, case.level):
            if (side, column) in cells_not_counted or side in hidden_sides:
                continue
            if cell.state is State.ANY:
                # Anything is right there: it shows nothing.
                continue
            if _OWED[name](side, cell.state, case.level):
                of_cell = self.traits.of_cell(case, change, side, column, cell)
                of_cell |= self.traits.of_earlier_columns(case, number, change, side, column)
                yield row_traits | of_cell | _family_of_null(name, cell)


def is_of_rows(name: PopulationName) -> bool:
    """Whether the units of the population are rows."""
    return name in _OF_ROWS


def may_belong_to(name: PopulationName, finding: Finding, case: Case) -> bool:
    """Whether the row or cell of a finding may belong to the named set of expected rows or cells
    ("rows", "nulls" ...); always true for "faults". It is true, too, where the case expects no row
    or no cell there.
    """
    if name in _OF_ROWS:
        change = change_of(finding, case)
        return change is None or _OF_ROWS[name](change, case.level)
    cell = cell_of(finding, case)
    if name in _OF_ONE_IMAGE and cell is None:
        return finding.side == _OF_ONE_IMAGE[name]
    return cell is None or name not in _OWED or _OWED[name](finding.side, cell.state, case.level)


STATEMENTS: Final = CellGroup("", is_null=False)
"""The group of statements and other messages without cells that came out right."""


def expect_rows(case: Case, rows_by_case: ExpectedRows) -> tuple[ExpectedRow, ...]:
    """The rows that the messages of a case should give, as a right decoder returns them;
    `rows_by_case` caches them.
    """
    if id(case) not in rows_by_case:
        expected_rows: list[ExpectedRow] = []
        for number, written in enumerate(case.written):
            expected_rows += [ExpectedRow(case, number, change) for change in written.changes]
        rows_by_case[id(case)] = tuple(expected_rows)
    return rows_by_case[id(case)]


def spell_exactly(cell: Cell) -> ExactValue:
    """The exact value of a cell with its type: the narrowest thing that the refusal of a row may be
    blamed on.
    """
    # Bit strings have too many decimal digits.
    value = hex(cell.value) if isinstance(cell.value, int) else repr(cell.value)
    spelling = f"{cell.type.length} {cell.type.scale} {value}"
    return ExactValue(cell_suspects(cell)[0], spelling)


def _family_of_null(name: PopulationName, cell: Cell) -> frozenset[Trait]:
    """The trait ("family", FAMILY) of a NULL cell or absent column, for the population "nulls"
    only: in others, families are those of values. Else an empty set.
    """
    is_null = name == "nulls" and cell.state in (State.NULL, State.ABSENT)
    return frozenset([("family", cell.type.logical.value)]) if is_null else frozenset()
