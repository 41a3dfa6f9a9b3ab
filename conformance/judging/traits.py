"""The traits of what a run expects: rows, their cells, and messages that cannot be read.

A trait is the op, the place in the message, a type, a value class, a member of the document that is
null or empty, the release, an option. `conformance.judging.index` finds the few traits that the
most failing units have, and nearly no other unit.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.judging.compare import null_is_fine
from conformance.judging.compared_units import ORDINARY_TAGS, cells, declared
from conformance.judging.contents import (
    CALENDARS,
    ESCAPE_OF_SIGNS,
    IN_FIRST_SECOND,
    INSTANTS,
    LETTERS_IN_TEXT,
    SECOND,
    describe_content,
    describe_document,
    describe_letters,
    describe_moment,
    describe_reversals,
    describe_statement,
    has_escaped_signs,
    is_in_first_second,
    is_nested,
    merge_family,
    text_day,
)
from conformance.judging.output import ENVELOPE
from conformance.judging.trait_sorts import Trait
from generators.model import (
    SIDES,
    Case,
    Cell,
    Change,
    Image,
    Json,
    Kind,
    Logical,
    Op,
    SideOrRow,
    State,
)

_OF_PLACES: Final = frozenset(
    {
        "cells",
        "side",
        "void",
        "small",
        "key",
        "plain",
        "unchanged",
        "changed",
        "changed-key",
        "behind",
    }
)
"""Sorts of traits that say nothing of a row as a whole."""
_SIGNED: Final = (Logical.INT, Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE, Logical.TIME)
"""Types whose values may be below zero."""
_REALS: Final = (Logical.DECIMAL, Logical.FLOAT, Logical.DOUBLE)
"""Types whose values may have a fraction."""
_EXPONENT: Final = re.compile(r"[-+.0-9]+[eE][-+0-9]+")
"""The text of a number with an exponent."""
_PERCENT_ESCAPE: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SIGNS: Final = {" ": "a blank", "\n": "a line feed", "\t": "a tab"}
"""The words for characters of a name that are no good to print."""
_WORD_NULL: Final = "literal-null"
"""The value class of the text "null", in any letters: any scenario may hold it, whatever class it
gives its texts.
"""
_OF_ENVELOPES: Final = frozenset(
    {
        *(("keys", "with a key"), ("commit-fraction",)),
        *(("before-image", "with"), ("before-image", "without")),
    }
)
"""Traits that explain what is wrong in a row's envelope, but never in its cells."""
_NAMES_OF_ENVELOPES: Final = frozenset(
    {
        *ENVELOPE,
        *("after", "before", "data", "es", "kind", "old", "op", "payload", "row", "schema"),
        "source",
        *("ts", "type"),
    }
)
"""Names that columns share with members of documents, or with columns of the output."""
_LIMITS: Final = (10, 100, 1_000)
"""Rows of a message after which decoders may stop."""
_LONG_NAME: Final = 30
"""Characters of a name that older databases keep."""
_BEYOND: Final = "characters beyond ASCII"
"""The words for all characters of a name beyond ASCII."""
_OF_TEXTS: Final = frozenset({Logical.TEXT, Logical.JSON})
"""Types whose values Spark has as texts alone."""


class ColumnsOfMessage(NamedTuple):
    """What a decoder may remember of a message: its last image with columns (of the two images of a
    row the after image), the columns of all its images, and the tables of its rows. The next
    message may get them by mistake.
    """

    last_image: Image
    columns: frozenset[str]
    tables: frozenset[str | None]

    @classmethod
    def gather(cls, changes: Sequence[Change], level: int) -> ColumnsOfMessage:
        """The last image, all columns and all tables of the changes of a message; without images
        there are no columns.
        """
        last_image: Image = {}
        columns = set[str]()
        for change in changes:
            for side in SIDES:
                image = change.image(side, level) or {}
                columns.update(image)
                last_image = image or last_image
        return cls(last_image, frozenset(columns), frozenset(change.table for change in changes))


_NO_MESSAGE: Final = ColumnsOfMessage({}, frozenset(), frozenset())
"""Stands for the message before the first one."""


@dataclass(frozen=True, slots=True)
class RunTraits:
    """The traits of a run's messages, rows and cells: those that each has by itself, and those that
    it has beside other messages of the run.

    `options` is the trait of each option of a profile, one for several that the same profiles have.
    `repeated` are the messages, by case and number, that have key and value of an earlier one,
    `same_as_before` those that owe the same rows as the message before them; `rows_of_before` are
    the rows, by case, message and number, of which the message before has an equal one.
    `messages_before` has, for a message, the columns of the last message before it that has rows,
    which may be one of another case.
    """

    options: Mapping[str, Trait]
    repeated: frozenset[tuple[str, int]]
    same_as_before: frozenset[tuple[str, int]]
    rows_of_before: frozenset[tuple[str, int, int]]
    messages_before: Mapping[tuple[str, int], ColumnsOfMessage]
    has_both_levels: bool
    _same_rows: dict[str, frozenset[int]] = field(default_factory=dict)
    _of_values: dict[tuple[int, int], frozenset[Trait]] = field(default_factory=dict)
    _of_company: dict[str, Mapping[tuple[int, int], frozenset[Trait]]] = field(default_factory=dict)
    _new_columns: dict[str, Mapping[tuple[int, int], frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def gather(cls, cases: Iterable[Case]) -> RunTraits:
        """Looks once through the cases of a run, in their order, for what messages have beside
        others.
        """
        messages = set[tuple[bytes | None, bytes | None]]()
        repeated = set[tuple[str, int]]()
        levels, profiles = set[int](), set[str]()
        last_messages: dict[int, ColumnsOfMessage] = {}
        rows_before: dict[int, Sequence[object]] = {}
        same_as_before = set[tuple[str, int]]()
        rows_of_before = set[tuple[str, int, int]]()
        messages_before: dict[tuple[str, int], ColumnsOfMessage] = {}
        for case in cases:
            levels.add(case.level)
            profiles.add(case.profile)
            for number, written in enumerate(case.written):
                messages_before[case.id, number] = last_messages.get(case.level, _NO_MESSAGE)
                columns = ColumnsOfMessage.gather(written.changes, case.level)
                if columns.last_image:
                    last_messages[case.level] = columns
                spelled_rows = _spell_rows(written.changes)
                if spelled_rows and spelled_rows == rows_before.get(case.level):
                    same_as_before.add((case.id, number))
                for change, spelled_row in zip(written.changes, spelled_rows, strict=True):
                    if change.kind is Kind.ROW and spelled_row in rows_before.get(case.level, ()):
                        rows_of_before.add((case.id, number, change.row))
                rows_before[case.level] = spelled_rows
                message = written.message.key, written.message.value
                if message in messages:
                    repeated.add((case.id, number))
                messages.add(message)
        options = _name_options(profiles)
        return cls(
            options,
            frozenset(repeated),
            frozenset(same_as_before),
            frozenset(rows_of_before),
            messages_before,
            len(levels) > 1,
        )

    def of_fault(self, case: Case, number: int) -> frozenset[Trait]:
        """The traits of an unreadable message: how it is malformed, its profile, its level and its
        members.
        """
        members = _of_message(case.written[number].message.value)
        return frozenset(
            {
                ("any",),
                ("fault", case.fault or "none"),
                *self._of_profile(case),
                *self._of_level(case),
                *self._of_repetition(case, number),
                *members,
            }
        )

    def traits_of_row(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        """The traits of a row change that none of its cells alone has: operation, keys, profile,
        the message's members, other rows of its key, and so on.
        """
        written = case.written[number]
        traits = {
            ("any",),
            *self._of_profile(case),
            *self._of_level(case),
            *self._of_repetition(case, number),
            *_of_message(written.message.value),
            *_of_record(case, number),
            *_of_key(change),
            *_of_table(change),
            *_of_commit(change),
            *_of_types(tuple((change.types or {}).values())),
            *_of_statement(change.sql if change.kind is not Kind.ROW else None),
            *self._of_other_changes(case, number, change),
        }
        traits.add(
            ("op", change.op or "") if change.kind is Kind.ROW else ("kind", change.kind.value)
        )
        traits.update(("trait", tag) for tag in case.tags - ORDINARY_TAGS)
        if case.level == 2 and change.kind is Kind.ROW and case.tables:
            traits.update([] if change.is_row_of(case.tables[0].name) else [("foreign",)])
        if (case.id, number, change.row) in self.rows_of_before:
            traits.add(("same-row-as-before",))
        traits.update(("behind-rows", f"{limit:,}") for limit in _LIMITS if change.row >= limit)
        if sum(other_change.kind is Kind.ROW for other_change in written.changes) > 1:
            traits.update({("several",), *([("later",)] if change.row else [])})
            images = change.op, change.before, change.after
            if any(
                (other_change.op, other_change.before, other_change.after) == images
                for other_change in written.changes
                if other_change.row < change.row
            ):
                traits.add(("equal",))
        before, after = (change.image(side, case.level) or {} for side in SIDES)
        for side, image in (("before", before), ("after", after)):
            states = {cell.state for cell in image.values()}
            if states and states <= {State.NULL, State.ABSENT}:
                traits.add(("bare", side))
        if change.op is Op.UPDATE:
            is_told = change.image("before", case.level) is not None
            traits.add(("before-image", "with" if is_told else "without"))
        if change.op is Op.UPDATE and before and after:
            traits.update([("same",)] if _images_come_alike(before, after, case.level) else [])
            keys = [key for key in _key_of(case, change) if key in before and key in after]
            if any(_differ_as_told(before[key], after[key], case.level) for key in keys):
                traits.add(("rekeyed",))
        return frozenset(traits)

    def of_row_with_cells(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        """The traits of a change and of all of its cells together, without those that tell where in
        the row a cell stands (such as its side). `number` is that of the message in the case. A row
        has the trait ("row",) beside, which a statement or an unreadable message lacks.
        """
        traits = set(self.traits_of_row(case, number, change))
        if change.kind is Kind.ROW:
            traits.add(("row",))
        for side, column, cell in cells(change, case.level):
            of_cell = self.of_cell(case, change, side, column, cell)
            traits.update(trait for trait in of_cell if trait[0] not in _OF_PLACES)
        return frozenset(traits)

    def of_row_for_cells(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        """The traits of a row that may be why its cells are wrong: all but those that only explain
        what is wrong in its envelope.
        """
        return self.traits_of_row(case, number, change) - _OF_ENVELOPES

    def of_cell(
        self, case: Case, change: Change, side: SideOrRow, column: str, cell: Cell
    ) -> frozenset[Trait]:
        """The traits of a cell: of its value, its column and its image at the case's level."""
        # Cases of both levels may have the same cell.
        place = id(cell), case.level
        if place not in self._of_values:
            self._of_values[place] = frozenset(_of_value(cell, case.level))
        return self._of_values[place] | of_name(case, change, side, column)

    def of_earlier_columns(
        self, case: Case, number: int, change: Change, side: SideOrRow, column: str
    ) -> frozenset[Trait]:
        """The traits of a cell that compare it with earlier messages: its column is missing in an
        earlier after image of the same table, or in the message before, or has a value there.
        """
        if case.id not in self._new_columns:
            self._new_columns[case.id] = _find_new_columns(case)
        new_columns = self._new_columns[case.id].get((number, change.row), frozenset())
        traits = set[Trait]()
        if side == "after" and column in new_columns:
            traits.add(("new-column",))
        message_before = self.messages_before.get((case.id, number), _NO_MESSAGE)
        image_before = message_before.last_image
        image = change.image(side, case.level) or {}
        if column not in image_before and len(image) == len(image_before):
            traits.add(("other-columns-before",))
        # At level two there are rows of one table alone.
        is_same_table = case.level == 2 or change.table in message_before.tables
        is_unknown = bool(message_before.columns) and column not in message_before.columns
        if side == "after" and is_same_table and is_unknown:
            traits.add(("column-not-before",))
        cell_before = image_before.get(column)
        if cell_before is not None and cell_before.state not in (State.NULL, State.ABSENT):
            traits.add(("value-before",))
        return frozenset(traits)

    def _of_level(self, case: Case) -> Iterator[Trait]:
        """The trait of the case's level, ("level", "one" or "two"), if the run has cases of both
        levels (one: columns as texts; two: typed columns); else none, since it would tell no unit
        from another.
        """
        if self.has_both_levels:
            yield "level", "two" if case.level == 2 else "one"

    def _of_repetition(self, case: Case, number: int) -> Iterator[Trait]:
        """The trait "repeated" if an earlier message of the run has the same key and value,
        "same-rows" if an earlier one of the case owes the same rows, and "same-as-before" if the
        message before does.
        """
        if (case.id, number) in self.same_as_before:
            yield ("same-as-before",)
        if (case.id, number) in self.repeated:
            yield ("repeated",)
        if case.id not in self._same_rows:
            self._same_rows[case.id] = _find_messages_with_same_rows(case)
        if number in self._same_rows[case.id]:
            yield ("same-rows",)

    def _of_other_changes(self, case: Case, number: int, change: Change) -> frozenset[Trait]:
        """The traits that tell of earlier or later changes of the row's key in the same case."""
        if case.id not in self._of_company:
            self._of_company[case.id] = _find_changes_of_same_keys(case)
        return self._of_company[case.id].get((number, change.row), frozenset())

    def _of_profile(self, case: Case) -> Iterator[Trait]:
        """The traits of a case that its profile and deployment give: ("release", R), where R begins
        the profile's name R+OPTION+OPTION, the trait of each option, and ("packed", COMPRESSION) if
        messages are compressed.
        """
        release, *options = case.profile.split("+")
        yield "release", release
        yield from (self.options[option] for option in options)
        if case.deployment.compression != "none":
            yield "packed", case.deployment.compression


def _name_options(profiles: Iterable[str]) -> Mapping[str, Trait]:
    """For each option of the profiles the trait by which it is named; options that exactly the same
    profiles have share one.
    """
    having: dict[str, list[str]] = defaultdict(list)
    for profile in sorted(profiles):
        for option in profile.split("+")[1:]:
            having[option].append(profile)
    traits: dict[str, Trait] = {}
    for option, profiles_with_it in having.items():
        options_of_same_profiles = [
            name
            for name, profiles_of_option in having.items()
            if profiles_of_option == profiles_with_it
        ]
        traits[option] = (
            ("options", ", ".join(options_of_same_profiles))
            if options_of_same_profiles[1:]
            else ("option", option)
        )
    return traits


def _of_record(case: Case, number: int) -> Iterator[Trait]:
    """The traits of a Kafka record beside the content of its value: ("keyless",) without a key, and
    ("other-schema",) if an earlier message of the topic has another id of the schema registry. A
    message without an id, whose id is b"" here, counts as no earlier schema.
    """
    message = case.written[number].message
    if message.key is None:
        yield ("keyless",)
    if case.deployment.schemas != "registry":
        return
    earlier = {
        _schema_id(written.message.value)
        for written in case.written[:number]
        if written.message.topic == message.topic
    }
    if earlier - {_schema_id(message.value), b""}:
        yield ("other-schema",)


def _schema_id(value: bytes | None) -> bytes:
    """The magic byte and the schema's id in front of a message from a registry; else b""."""
    return value[:5] if value and value[0] == 0 and len(value) > 5 else b""


def _find_changes_of_same_keys(case: Case) -> Mapping[tuple[int, int], frozenset[Trait]]:
    """For each row, by message number and row number, the trait ("changed-earlier",) or
    ("changed-later",) if an earlier or later row of the case has the same key.
    """
    rows_of_keys: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, written in enumerate(case.written):
        for change in written.changes:
            for key in _key_values(change):
                rows_of_keys[key].append((number, change.row))
    traits: dict[tuple[int, int], set[Trait]] = defaultdict(set)
    for places in rows_of_keys.values():
        for place in places:
            if place > places[0]:
                traits[place].add(("changed-earlier",))
            if place < places[-1]:
                traits[place].add(("changed-later",))
    return {place: frozenset(traits_of_place) for place, traits_of_place in traits.items()}


def _spell_rows(changes: Sequence[Change]) -> Sequence[object]:
    """What tells the rows of a message from those of another: kind, op, table and images."""
    return [
        (change.kind, change.op, change.database, change.table, change.before, change.after)
        for change in changes
    ]


def _find_messages_with_same_rows(case: Case) -> frozenset[int]:
    """The messages of a case, by number, that owe just the rows that an earlier message of the case
    owes.
    """
    earlier: list[Sequence[object]] = []
    same_rows = set[int]()
    for number, written in enumerate(case.written):
        spelled_rows = _spell_rows(written.changes)
        if spelled_rows and spelled_rows in earlier:
            same_rows.add(number)
        earlier.append(spelled_rows)
    return frozenset(same_rows)


def _find_new_columns(case: Case) -> Mapping[tuple[int, int], frozenset[str]]:
    """For each after image, by message and row number, the columns that some earlier after image of
    the same table lacks. Rows without an after image are left out.
    """
    common_by_table: dict[tuple[str | None, str | None], frozenset[str]] = {}
    new_columns: dict[tuple[int, int], frozenset[str]] = {}
    for number, written in enumerate(case.written):
        for change in written.changes:
            columns = frozenset(
                column
                for side, column, cell in cells(change, case.level)
                if side == "after" and (case.level == 2 or cell.state is not State.ABSENT)
            )
            if change.kind is Kind.ROW and columns:
                table = change.database, change.table
                common = common_by_table.get(table, columns)
                new_columns[number, change.row] = columns - common
                common_by_table[table] = common & columns
    return new_columns


def _key_values(change: Change) -> set[tuple[object, ...]]:
    """The table and the key values of a row: of both images, which differ if an UPDATE changes the
    key. Nothing for a change that is no row, or has no key.
    """
    key_values: set[tuple[object, ...]] = set()
    if change.kind is not Kind.ROW or not change.keys:
        return key_values
    for image in (change.before, change.after):
        cells_of_key = [(image or {}).get(name) for name in change.keys]
        values = [repr(cell.value) for cell in cells_of_key if cell and cell.state is State.VALUE]
        if len(values) == len(change.keys):
            key_values.add((change.database, change.table, *values))
    return key_values


@lru_cache(maxsize=1 << 14)
def _of_message(value: bytes | None) -> frozenset[Trait]:
    """A trait for each member of a message's JSON document, and of its `payload`, that is null or
    empty. A report names the member, which leads to the line of the decoder that misreads it. No
    trait if the message is no JSON.
    """
    try:
        return frozenset(_members(json.loads(value or b"")))
    except (ValueError, RecursionError):
        return frozenset()


def _members(document: Any, parent_path: str = "") -> Iterator[Trait]:
    """A trait for each member of a JSON object that is null, [] or {}, with the member's path; of
    nested objects only `payload` is looked into.
    """
    for name, value in document.items() if isinstance(document, dict) else ():
        if value is None or value == [] or value == {}:
            yield ("null" if value is None else "empty", f"{parent_path}{name}")
        elif name == "payload":
            yield from _members(value, "payload.")


def _of_key(change: Change) -> Iterator[Trait]:
    """The traits of a row's key: the message does not tell it, there is one or none, it has several
    columns, or it is not the first columns of the image. Nothing for a change that is no row.
    """
    keys, columns = change.keys, list(change.after or change.before or ())
    if keys is None and change.kind is Kind.ROW:
        yield ("untold-key",)
    if keys is not None and change.kind is Kind.ROW:
        yield "keys", "with a key" if keys else "without a key"
        if len(keys) > 1:
            yield "keys", "with a key of several columns"
        if keys and list(keys) != columns[: len(keys)]:
            yield "keys", "whose first columns are not its key"


def _of_commit(change: Change) -> Iterator[Trait]:
    """The trait ("commit-fraction",) if a row's commit time has a fraction of a second."""
    if (change.commit_time_us or 0) % SECOND:
        yield ("commit-fraction",)


@lru_cache(maxsize=1 << 12)
def _of_types(declarations: tuple[str, ...]) -> frozenset[Trait]:
    """A trait for each word behind the names of the types that a row's message tells, such as
    `unsigned`, and for a length, precision or number of digits.
    """
    traits = set[Trait]()
    for declaration in declarations:
        _name, *words = declaration.split() or [""]
        traits.update(("declared", word) for word in words if word.isalpha())
        if "(" in declaration:
            traits.add(("declared", "with a length"))
    return frozenset(traits)


def _of_statement(sql: str | None) -> frozenset[Trait]:
    """A trait for each thing that a statement of SQL contains and that decoders are known to lose,
    such as line ends; none for None.
    """
    return frozenset(("sql", words) for words in describe_statement(sql))


def _of_table(change: Change) -> Iterator[Trait]:
    """The traits of the names of a change's database and table and, if it is a row, of its key
    columns: capital letters, and characters other than ASCII letters, digits and `_`.
    """
    names: dict[str, tuple[str, ...]] = {
        "table": (change.table or "",),
        "database": (change.database or "",),
    }
    if change.kind is Kind.ROW:
        names["key"] = change.keys or ()
    for sort, of_sort in names.items():
        for name in of_sort:
            if name != name.lower():
                yield (f"{sort}-capital",)
            for sign in _signs_of(name):
                yield f"{sort}-sign", sign


def _key_of(case: Case, change: Change) -> tuple[str, ...]:
    """The key columns of a row: those that its message names (() if it says that there are none),
    else, where the format names no key (None), the primary key of its table; () for no such table.
    """
    if change.keys is not None:
        return tuple(change.keys)
    tables = (table for table in case.tables if change.is_row_of(table.name))
    return next((table.primary_key for table in tables), ())


def of_name(case: Case, change: Change, side: SideOrRow, column: str) -> set[Trait]:
    """The traits of a cell that follow from its column's name and its place: side, key, whether the
    row's other image has the same there. The images are those of the case's level.
    """
    level = case.level
    before, after = change.image("before", level) or {}, change.image("after", level) or {}
    traits: set[Trait] = {("side", side), ("cells", side, change.op or ""), *_of_column(column)}
    image = before if side == "before" else after
    if column != next(iter(image), column):
        traits.add(("behind",))
    is_of_key = column in _key_of(case, change)
    traits.add(("key",) if is_of_key else ("plain",))
    if column in _names_alike(tuple(image)):
        traits.add(("alike",))
    old, new = before.get(column), after.get(column)
    are_told = all(cell is not None and cell.state is not State.ANY for cell in (old, new))
    if old is not None and new is not None and are_told:
        traits.add(("unchanged",) if _come_alike(old, new, level) else ("changed",))
        if is_of_key and _differ_as_told(old, new, level):
            traits.add(("changed-key",))
    return traits


def _come_alike(old: Cell, new: Cell, level: int) -> bool:
    """Whether a right decoder returns the same for two cells. At level two (typed columns) NULL and
    an absent column are the same, since both come as NULL. Value classes may differ.
    """
    if level == 2 and {old.state, new.state} <= {State.NULL, State.ABSENT}:
        return True
    if old.state is not new.state:
        return False
    if level == 1 and old.text is not None:
        return old.text == new.text
    return (old.value, old.options) == (new.value, new.options)


def _differ_as_told(old: Cell, new: Cell, level: int) -> bool:
    """Whether a message shows that an UPDATE changes a column. At level one (cells as text) it does
    not if only one image has the column, as in an image that has changed columns alone.
    """
    states = {old.state, new.state}
    is_in_one_alone = level == 1 and State.ABSENT in states and len(states) > 1
    return not is_in_one_alone and not _come_alike(old, new, level)


def _images_come_alike(before: Image, after: Image, level: int) -> bool:
    """Whether a right decoder returns the same columns and values for two images of a row."""
    return before.keys() == after.keys() and all(
        _come_alike(cell, after[column], level) for column, cell in before.items()
    )


@lru_cache(maxsize=1 << 12)
def _names_alike(names: tuple[str, ...]) -> frozenset[str]:
    """The names that another name equals but for capital letters, such as `ID` and `id`."""
    numbers = Counter(name.lower() for name in names)
    return frozenset(name for name in names if numbers[name.lower()] > 1)


def _signs_of(name: str) -> frozenset[str]:
    """The characters of a name that are no letters, digits or low lines of ASCII, in words."""
    signs = (sign for sign in name if not (sign.isascii() and (sign.isalnum() or sign == "_")))
    return frozenset(_SIGNS.get(sign, sign) if sign.isascii() else _BEYOND for sign in signs)


@lru_cache(maxsize=1 << 14)
def _of_column(name: str) -> frozenset[Trait]:
    """The traits of a column's name, each a tuple of words: ("sign", SIGN) for each unusual
    character, ("capital",) and ("small",) for such letters, ("long", LIMIT), ("quoted",) if it is
    no identifier, and ("envelope-name",) if it is also the name of a field of a CDC envelope.
    """
    traits: set[Trait] = {("sign", sign) for sign in _signs_of(name)}
    traits.update([("capital",)] if name != name.lower() else [])
    traits.update([("sign", "a percent escape")] if _PERCENT_ESCAPE.search(name) else [])
    traits.update([("small",)] if name != name.upper() else [])
    traits.update([("long", str(_LONG_NAME))] if len(name) > _LONG_NAME else [])
    traits.update([("quoted",)] if not name.isidentifier() else [])
    traits.update([("envelope-name",)] if name in _NAMES_OF_ENVELOPES else [])
    return frozenset(traits)


def _has_digits_of_double(number: str | None) -> bool:
    """Whether the text of a number has more significant digits than every double holds: so has a
    FLOAT that is written as the double of its value.
    """
    mantissa = re.split("[eE]", number or "")[0]
    return len(re.sub(r"\D", "", mantissa).strip("0")) > _DIGITS_OF_DOUBLES


_DIGITS_OF_DOUBLES: Final = 15
"""Digits that a double holds of any decimal number."""


def _of_value(cell: Cell, level: int) -> Iterator[Trait]:
    """The traits of an expected cell's type and value: that it is NULL or may come so, its type and
    family, its class, what it contains; at level one also the time of day that its text has.
    """
    name, family = declared(cell.type), cell.type.logical
    if cell.state is State.NULL:
        yield from (("nothing", name), ("void",))
    if cell.state in (State.NULL, State.ABSENT):
        return
    if level == 2 and null_is_fine(cell):
        yield ("void",)
    yield from (("type", name), ("family", family.value))
    if level == 2 and family not in _OF_TEXTS:
        yield ("no-text",)
    cls = (
        _WORD_NULL if isinstance(cell.value, str) and cell.value.casefold() == "null" else cell.cls
    )
    if cls:
        yield from (("class", name, cls), ("kin", family.value, cls))
    if cls and family in CALENDARS:
        yield "like", cls
    if cell.type.unsigned:
        yield ("unsigned",)
    if (
        isinstance(cell.value, int | float | Decimal)
        and family in _SIGNED
        and str(cell.value).startswith("-")
    ):
        yield "negative", family.value
    value = cell.value
    if isinstance(value, Json):
        if is_nested(value.value):
            yield "held", family.value, "with an object or array within another"
        yield from (("held", family.value, words) for words in describe_document(value.value))
        value = value.text or json.dumps(value.value, default=str, ensure_ascii=False)
    yield from (
        ("held", merge_family(family.value), words) for words in describe_content(value, family)
    )
    if family in _REALS and cell.text is not None and _EXPONENT.fullmatch(cell.text):
        yield "held", merge_family(family.value), "that is written with an exponent"
    of_reals = family in (Logical.FLOAT, Logical.DOUBLE)
    if level == 1 and of_reals and _has_digits_of_double(cell.text):
        yield "held", merge_family(family.value), "of over 15 digits"
    if isinstance(value, float) and "e" in repr(value):
        yield "held", merge_family(family.value), "of at least 10^16 or under 10^-4"
    if level == 1 and family is Logical.JSON and has_escaped_signs(cell.text or ""):
        yield "held", family.value, f"with {ESCAPE_OF_SIGNS}"
    if level == 1 and family is Logical.BINARY:
        for letters in describe_letters(cell.text or ""):
            yield "held", family.value, LETTERS_IN_TEXT.format(letters)
    if level == 1 and family in INSTANTS and cell.text:
        yield from (("spelled", family.value, words) for words in describe_moment(cell.text))
    if family in INSTANTS and is_in_first_second(cell, level):
        yield "held", family.value, IN_FIRST_SECOND
    if family in INSTANTS and (day := text_day(cell, level)):
        yield "day", family.value, day
    yield from (("held", family.value, words) for words in describe_reversals(cell, level))
    if type(value) is date:
        yield "day", family.value, value.isoformat()
