"""What a mistake does to its units, as the one relation that they all have: every DECIMAL is cut to
two places, every unreadable message comes as CONTROL, every column under its name in capitals.

One finding says little: that 0.001 comes as 0 may be a cut to two places or a lost fraction. All of
a mistake's units together tell which. An effect is looked for once a mistake is found: it makes its
sentence say more, and moves neither a verdict nor a mistake.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import unquote

from conformance.judging.compare import Typed
from conformance.judging.compared_units import cell_of, cells, change_of
from conformance.judging.deviations import (
    Deviation,
    DeviationKind,
    spell_came,
    spell_cell,
    spell_op,
    spell_owed,
)
from conformance.judging.effects_on_numbers import find_effect_on_numbers
from conformance.judging.effects_on_texts import find_effect_on_texts, name_letters
from conformance.judging.effects_on_times import find_effect_on_times
from conformance.judging.findings import NOT_THERE
from conformance.judging.index import NEARLY, Failing, Unit
from conformance.judging.relations import Relation, RelationKind
from conformance.judging.rows_of_messages import find_last_row_for_others
from conformance.judging.wording import clip, value
from conformance.judging.wrong_values import WrongValues
from conformance.rules.rules import Aspect
from generators.model import Kind, Logical, State

_SEVERAL: Final = 2
"""Different values that must be owed before it is no chance that one and the same comes."""
_SHOWN: Final = 40
"""Characters of a value that an effect names."""
_CHANGES_OF_NAMES: Final[Mapping[str, Callable[[str], str]]] = {
    "in capital letters": str.upper,
    "in small letters": str.lower,
    "cut after 30 characters": lambda name: name[:30],
    "without blanks at its ends": str.strip,
    "with its percent escapes decoded": unquote,
    "without back ticks": lambda name: name.replace("`", ""),
    "without double quotes": lambda name: name.replace('"', ""),
}
"""How decoders change the names of columns, by the words for the change."""
_ENVELOPE_COLUMNS: Final = ("database", "schema", "table", "position", "sql")
"""Columns of the envelope of which one may be taken for another."""


def with_effect(deviation: Deviation, failings: Sequence[Failing]) -> Deviation:
    """The deviation (way of being wrong) of a mistake, made more exact by what all of its failing
    units show together, such as that all values come cut after 255 characters.
    """
    kind = deviation.kind
    if kind is DeviationKind.ROW_SURPLUS and not any(map(_comes_from_nothing, failings)):
        kind = DeviationKind.ROW_REPEATED
    if kind is DeviationKind.IMAGE_MISSING and all(map(_has_surplus_image, failings)):
        kind = DeviationKind.IMAGE_ON_OTHER_SIDE
    return replace(deviation, kind=kind, relation=_find_effect(deviation, failings))


def _comes_from_nothing(failing: Failing) -> bool:
    """Whether a surplus row has a number that no owed row has, so that it does not repeat one."""
    came = failing.finding.came
    return bool(came) and Kind.CORRUPT not in came


def _has_surplus_image(failing: Failing) -> bool:
    """Whether the row that lacks an image has its other image, which it does not owe."""
    finding = failing.finding
    return any(
        other_finding.aspect is Aspect.IMAGE
        and other_finding.side not in ("", finding.side)
        and other_finding.owed is None
        and other_finding.came
        for other_finding in failing.result.findings
        if (other_finding.message, other_finding.row) == (finding.message, finding.row)
    )


def _has_further_rows(failing: Failing) -> bool:
    """Whether rows that nobody owes come for the message of a unit."""
    return any(
        other_finding.aspect is Aspect.EXTRA and other_finding.message == failing.finding.message
        for other_finding in failing.result.findings
    )


def _find_effect(deviation: Deviation, failings: Sequence[Failing]) -> Relation | None:
    """The relation to what is owed that all failing units of a mistake have together. Which one is
    looked for depends on the deviation's kind; the deviation's own relation if it says as much.
    """
    match deviation.kind:
        case DeviationKind.OTHER_OP if all(map(_has_further_rows, failings)):
            return Relation(RelationKind.FURTHER_ROW)
        case DeviationKind.VALUE_WRONG:
            return _find_effect_on_values(deviation.relation, failings)
        case DeviationKind.VALUE_FOR_NULL if deviation.relation is None:
            return _find_one_value(failings)
        case DeviationKind.FIELD_WRONG if deviation.name == "keys" and (
            relation_of_keys := _find_effect_on_keys(failings)
        ):
            return relation_of_keys
        case DeviationKind.FIELD_WRONG if deviation.relation_kind is RelationKind.LETTER_CASE:
            return _find_letters(failings) or deviation.relation
        case DeviationKind.FIELD_WRONG if deviation.relation_kind in _MAY_BE_OTHER_COLUMN:
            return _find_other_column_of_envelope(deviation.name, failings) or deviation.relation
        case DeviationKind.OP_IN_OTHER_LETTERS:
            return _find_letters(failings)
        case DeviationKind.MESSAGE_ACCEPTED:
            return _find_one_kind(failings)
        case DeviationKind.COLUMN_MISSING:
            return _find_renaming(failings)
        case DeviationKind.ROWS_SHUFFLED | DeviationKind.OTHER_KIND:
            return find_last_row_for_others(failings)
        case DeviationKind.COLUMNS_SWAPPED:
            return _find_order_of_columns(failings)
    return deviation.relation


def _find_effect_on_values(
    relation: Relation | None, failings: Sequence[Failing]
) -> Relation | None:
    """The one relation that all wrong values of a mistake have to the owed ones, if that is found;
    else the relation known so far (`relation`). It is not looked for if over half of the cells have
    no one owed value, or if the known relation says all.
    """
    values = WrongValues.gather(relation, failings)
    if 2 * len(values.pairs) < len(failings) or values.kind in _SAYS_ALL:
        return relation
    for find_effect in (find_effect_on_times, find_effect_on_numbers, find_effect_on_texts):
        effect = find_effect(values)
        if effect is not None:
            return effect
    return (_find_one_value(failings) if values.is_unexplained else None) or relation


_SAYS_ALL: Final = frozenset(
    {
        RelationKind.SPARK_TYPE,
        RelationKind.OTHER_IMAGE,
        RelationKind.OTHER_ROW,
        RelationKind.OTHER_COLUMN,
        RelationKind.EARLIER_ROW,
        RelationKind.COMES_AS,
        RelationKind.CUT,
    }
)
"""Relations that say where a value comes from, or how it is cut, so that no effect on values says
more.
"""


def _find_one_value(failings: Sequence[Failing]) -> Relation | None:
    """The relation that one and the same value came for all of these cells, though they owe several
    different values (or several NULLs, or single bits, where one wrong value is all there is). None
    if not.
    """
    spelled = {value(failing.finding.came) for failing in failings}
    expected = {spell_owed(failing) for failing in failings}
    is_of_null = expected == {value(None)} and len(failings) >= _SEVERAL
    # Of one bit there is no other value.
    is_of_bit = all(map(_is_bit, failings)) and len(failings) >= _SEVERAL
    if len(spelled) != 1 or not (is_of_null or is_of_bit or len(expected) >= _SEVERAL):
        return None
    (spelled_value,) = spelled
    is_empty = all(failing.finding.came in ("", b"") or _is_empty(failing) for failing in failings)
    name = "an empty text" if is_empty else clip(spelled_value, _SHOWN)
    return Relation(RelationKind.ONE_VALUE, name=name)


def _is_bit(failing: Failing) -> bool:
    """Whether the cell is one bit."""
    cell = cell_of(failing.finding, failing.result.case)
    return cell is not None and cell.type.logical is Logical.BIT and cell.type.length == 1


def _is_empty(failing: Failing) -> bool:
    """Whether an empty text came as a typed value."""
    came = failing.finding.came
    return isinstance(came, Typed) and came.value in ("", b"")


_MAY_BE_OTHER_COLUMN: Final = frozenset({None, RelationKind.WHERE_NONE})
"""Relations of a wrong column of the envelope that may have another column's value."""


def _find_other_column_of_envelope(name: str, failings: Sequence[Failing]) -> Relation | None:
    """The relation that the wrong column `name` of the envelope has the value of another column in
    all of these rows; None if it has not.
    """
    for other_name in _ENVELOPE_COLUMNS:
        changes = [change_of(failing.finding, failing.result.case) for failing in failings]
        if other_name != name and all(
            change is not None and getattr(change, other_name) == failing.finding.came
            for change, failing in zip(changes, failings, strict=True)
        ):
            return Relation(RelationKind.OTHER_COLUMN, name=other_name)
    return None


def _find_effect_on_keys(failings: Sequence[Failing]) -> Relation | None:
    """The relation that says what came as the key in all of these rows: every column, the row's
    first column, the key's first column, or columns twice; None for anything else.
    """
    keys = [failing.finding.came for failing in failings]
    if not all(isinstance(key, list | tuple) for key in keys):
        return None
    columns = [_columns_of(failing) for failing in failings]
    if all(key and set(key) == set(names) for key, names in zip(keys, columns, strict=True)):
        return Relation(RelationKind.EVERY_COLUMN)
    owed_keys = [failing.finding.owed for failing in failings]
    if all(
        isinstance(owed_key, list | tuple) and list(key) == list(owed_key)[:1] != list(owed_key)
        for key, owed_key in zip(keys, owed_keys, strict=True)
    ):
        return Relation(RelationKind.CHANGED_PARTS, name="its first column alone")
    if all(names and list(key) == names[:1] for key, names in zip(keys, columns, strict=True)):
        return Relation(RelationKind.CHANGED_PARTS, name="it has the first column of the row")
    if all(
        isinstance(owed_key, list | tuple)
        and len(key) > len(owed_key)
        and set(key) == set(owed_key)
        for key, owed_key in zip(keys, owed_keys, strict=True)
    ):
        return Relation(RelationKind.CHANGED_PARTS, name="it has columns twice")
    return None


def _columns_of(failing: Failing) -> list[str]:
    """The columns of a failing row in their order: those of its newest image that the message
    holds; for a row without an image the columns that have types in the message. [] if no row is
    expected.
    """
    change = change_of(failing.finding, failing.result.case)
    if change is None:
        return []
    image = change.after if change.after is not None else change.before
    columns = [name for name, cell in (image or {}).items() if cell.state is not State.ABSENT]
    return columns or list(change.types or ())


def _find_letters(failings: Iterable[Failing]) -> Relation | None:
    """The relation that all texts that came (such as kinds or ops) are in small letters, or all in
    capitals; None if neither.
    """
    letters = name_letters(failing.finding.came for failing in failings)
    return Relation(RelationKind.LETTERS, name=letters) if letters else None


def _find_one_kind(failings: Iterable[Failing]) -> Relation | None:
    """The relation that names what kinds of rows came for all of these messages, which cannot be
    read; None if not the same kinds came for all.
    """
    kinds = {failing.finding.came for failing in failings}
    (came, *further_kinds) = kinds
    if further_kinds or not isinstance(came, tuple):
        return None
    return Relation(RelationKind.COMES_AS, name=", ".join(map(spell_op, came)))


def _find_renaming(failings: Iterable[Failing]) -> Relation | None:
    """The relation that says how the names of all these columns are changed: each missing column
    came under its name so changed. None if no such change is known.
    """
    lost: dict[Unit, set[str]] = defaultdict(set)
    surplus: dict[Unit, set[str]] = defaultdict(set)
    for failing in failings:
        column = failing.finding.column or ""
        columns = lost if failing.finding.came is NOT_THERE else surplus
        columns[failing.image_unit].add(column)
    for words, change_name in _CHANGES_OF_NAMES.items():
        # Of an image's surplus columns a finding names the first alone.
        fitting = [
            bool(surplus[unit]) and surplus[unit] <= set(map(change_name, names))
            for unit, names in lost.items()
        ]
        if sum(fitting) >= NEARLY * len(fitting):
            return Relation(RelationKind.RENAMED, name=words)
    return None


def _find_order_of_columns(failings: Iterable[Failing]) -> Relation | None:
    """The relation that says in which order the columns of these images have each other's values,
    such as each the next one's; None if nearly all fit no one order. A NULL where NULL is owed
    shows no order.
    """
    wrong_by_image: dict[Unit, dict[str, Failing]] = defaultdict(dict)
    for failing in failings:
        wrong_by_image[failing.image_unit][failing.finding.column or ""] = failing
    fitting, compared = dict.fromkeys(_ORDERS_OF_COLUMNS, 0), dict.fromkeys(_ORDERS_OF_COLUMNS, 0)
    images = 0
    for failing_by_column in wrong_by_image.values():
        first_failing = next(iter(failing_by_column.values()))
        change = change_of(first_failing.finding, first_failing.result.case)
        if change is None:
            continue
        case = first_failing.result.case
        expected: dict[str, str] = {}
        came: dict[str, str] = {}
        for side, name, cell in cells(change, case.level):
            if side == first_failing.finding.side:
                expected[name] = spell_cell(cell, case.level)
                failing_cell = failing_by_column.get(name)
                came[name] = spell_came(failing_cell) if failing_cell else expected[name]
        names = list(expected)
        if len(names) < _COLUMNS_THAT_SHOW_AN_ORDER:
            continue
        images += 1
        for words, sources_of in _ORDERS_OF_COLUMNS.items():
            sources = sources_of(names)
            for name, source in zip(names, sources, strict=True):
                if (came[name], expected[source]) != (value(None), value(None)):
                    compared[words] += 1
                    fitting[words] += came[name] == expected[source]
    words, number = max(fitting.items(), key=lambda item: item[1])
    is_most = images >= _SEVERAL and number >= NEARLY * compared[words]
    return Relation(RelationKind.VALUES_OF_COLUMNS, name=words) if is_most else None


_COLUMNS_THAT_SHOW_AN_ORDER: Final = 3
"""Columns of an image of which the order of the values can be told: of two any order is one."""


def _sources_if_sorted(names: list[str]) -> list[str]:
    """Suppose a decoder puts an image's values, in their order, under the columns' names in
    alphabetical order. For each column, in the image's order: the column whose value it then has.
    """
    source_by_name = dict(zip(sorted(names), names, strict=True))
    return [source_by_name[name] for name in names]


_ORDERS_OF_COLUMNS: Final[Mapping[str, Callable[[list[str]], list[str]]]] = {
    "each has the next one's value": lambda names: [*names[1:], *names[:1]],
    "each has the value of the one before": lambda names: [*names[-1:], *names[:-1]],
    "their values stand under the names in alphabetical order": _sources_if_sorted,
    "their values stand in reverse order": lambda names: names[::-1],
}
"""Orders in which columns have each other's values, by the words for them: of the names of an
image's columns, the function gives for each column the one whose value it has.
"""
