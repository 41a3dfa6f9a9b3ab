"""Histories of tables as MongoDB has them: a table is a collection, each of its rows a document.

Cases that every format has are made of tables with keys of any columns, or without a key. Each
document has a key of its own, the field `_id`, which never changes.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from generators.model import (
    Column,
    Event,
    History,
    Logical,
    Op,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SourceType,
    Table,
    Value,
)
from generators.sources.mongodb import ID, MILLIS, NAME, TYPES

REPLACED_SIGNS: Final = str.maketrans(dict.fromkeys('/\\. "$*<>:|?', "_"))
"""For `str.translate`: an underscore for each character that a database's name may not have on some
system.
"""


def is_collection(table: Table) -> bool:
    """Whether the table is a collection: its key is the field `_id`, and that comes first."""
    return table.primary_key == (ID,) and table.columns[0].name == ID


def collection_of(table: Table) -> Table:
    """The collection that keeps the rows of a table. A key of one column is the field `_id`; a row
    of a table with another key or without one gets an ObjectId there, as of MongoDB itself. An
    underscore replaces each sign that a name may not have: REPLACED_SIGNS in the database's, `$` in
    the collection's.
    """
    if is_collection(table):
        return table
    database = table.database.translate(REPLACED_SIGNS)
    name = table.name.replace("$", "_")
    if len(table.primary_key) == 1:
        key = replace(table.column(table.primary_key[0]), name=ID, nullable=False)
    else:
        key = Column(ID, TYPES["objectId"], nullable=False)
    fields = (key, *(column for column in table.columns if (column.name,) != table.primary_key))
    return replace(
        table,
        database=database,
        name=name,
        columns=fields,
        primary_key=(ID,),
        unique=(),
        indexes=(),
        schema=None,
    )


class PlacedEvent(NamedTuple):
    """An event of a history in MongoDB, and the number of the event that it was made of."""

    number: int
    event: Event


def events_of_collections(history: History) -> list[PlacedEvent]:
    """The events of a history in MongoDB: its rows as documents. A change of a row's key is a
    DELETE and an INSERT, as a document keeps its key.
    """
    identities = _Identities()
    placed_events: list[PlacedEvent] = []
    for number, event in enumerate(history.events):
        changes: list[Event] = [event]
        if isinstance(event, RowChange):
            changes = list(_changes_of_documents(event, identities))
        placed_events += [PlacedEvent(number, change) for change in changes]
    return placed_events


def as_collections(history: History) -> History:
    """The history as MongoDB has it: its tables as collections, and a change of a row's key as a
    DELETE and an INSERT. The same object if it has nothing else.
    """
    events = tuple(placed_event.event for placed_event in events_of_collections(history))
    return history if events == history.events else replace(history, events=events)


def scenario_of_collections(scenario: Scenario, source: str) -> Scenario:
    """A scenario as its source has it: of MongoDB with collections in the place of tables, of any
    other source as it is.
    """
    if source != NAME:
        return scenario
    return replace(scenario, history=as_collections(scenario.history))


class _Identities:
    """The ObjectIds of documents that are made of rows of tables without a key of one column. A
    document keeps its ObjectId while a history changes its row.
    """

    def __init__(self) -> None:
        self._count = 0
        self._live: dict[tuple[str, str, str], list[str]] = defaultdict(list)

    def insert(self, table: Table, cells: Row) -> str:
        """Makes the ObjectId of a new document: from the row's key, or, if the table has no key,
        from the number of documents so far.
        """
        self._count += 1
        marks = [cells[name] for name in table.handle_key] or [self._count]
        digest = hashlib.sha256(f"{table.database}/{table.name}/{marks!r}".encode()).hexdigest()[
            :24
        ]
        self._live[self._place(table, cells)].append(digest)
        return digest

    def remove(self, table: Table, cells: Row) -> str:
        """Forgets the document of a row that leaves the collection, and returns its ObjectId. A row
        that no event of the history has inserted gets one as if it had been inserted.
        """
        object_ids = self._live[self._place(table, cells)]
        if not object_ids:
            self.insert(table, cells)
        return object_ids.pop(0)

    def change(self, table: Table, before: Row, after: Row) -> str:
        """The ObjectId of a document whose row changes from `before` to `after`. The document keeps
        it, and is found by the row `after` from now on.
        """
        identity = self.remove(table, before)
        self._live[self._place(table, after)].append(identity)
        return identity

    def _place(self, table: Table, cells: Row) -> tuple[str, str, str]:
        """What finds a row's document again: database and name of the table, and the row's key, or
        all its values if it has none.
        """
        marks = [cells.get(name) for name in table.handle_key or sorted(cells)]
        return table.database, table.name, repr(marks)


def _changes_of_documents(event: RowChange, identities: _Identities) -> list[RowChange]:
    """The changes of a statement as changes of documents: one event for all its rows; but if any
    row gets another key, one event for each document that is changed, removed or inserted.
    """
    table, collection = event.table, collection_of(event.table)
    if all(_keeps_key(table, images) for images in event.rows):
        documents = tuple(_document_images(table, images, identities) for images in event.rows)
        return [replace(event, table=collection, rows=documents)]
    with_same_key = [images for images in event.rows if _keeps_key(table, images)]
    with_new_key = [images for images in event.rows if not _keeps_key(table, images)]
    # A row may take the key that another one leaves.
    parts = [
        *((Op.DELETE, RowImages(images.before, None)) for images in with_new_key),
        *((event.op, images) for images in with_same_key),
        *((Op.INSERT, RowImages(None, images.after)) for images in with_new_key),
    ]
    return [
        replace(event, table=collection, op=op, rows=(_document_images(table, images, identities),))
        for op, images in parts
    ]


def _keeps_key(table: Table, images: RowImages) -> bool:
    """Whether a row's change leaves the key of the table as it is."""
    before, after = images.before, images.after
    if before is None or after is None:
        return True
    return all(before.get(name) == after.get(name) for name in table.primary_key)


def _document_images(table: Table, images: RowImages, identities: _Identities) -> RowImages:
    """The images of a row as documents. The field `_id` is the row's key if that is one column,
    else an ObjectId of `identities`; rows of a collection have it already.
    """
    before, after = images.before, images.after
    if is_collection(table):
        identity: Value = None
    elif len(table.primary_key) == 1:
        identity = (after or before or {})[table.primary_key[0]]
    elif before is None:
        identity = identities.insert(table, after or {})
    elif after is None:
        identity = identities.remove(table, before)
    else:
        identity = identities.change(table, before, after)
    return RowImages(
        None if before is None else _document(table, before, identity),
        None if after is None else _document(table, after, identity),
    )


def _document(table: Table, cells: Row, identity: Value) -> Row:
    """A row as a document: `_id` first, then the other fields that the row has."""
    types: Mapping[str, SourceType] = {column.name: column.type for column in table.columns}
    fields = {name: _stored(types[name], value) for name, value in cells.items()}
    if is_collection(table):
        return fields
    beside_key = {name: value for name, value in fields.items() if (name,) != table.primary_key}
    return {ID: identity, **beside_key}


def _stored(source_type: SourceType, value: Value) -> Value:
    """A value as a field keeps it: a date has whole milliseconds."""
    if source_type.logical is Logical.TIMESTAMP and type(value) is int:
        return value - value % MILLIS
    return value
