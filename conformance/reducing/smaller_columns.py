"""Candidates with fewer columns, and with one image of a row in place of two."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from conformance.reducing.hints import Hint
from conformance.reducing.measure import OPS_BY_PLAINNESS
from conformance.reducing.orders import without_parts
from conformance.reducing.scenario_parts import (
    move_event,
    replace_event,
    scenario_tables,
    with_events,
)
from generators.model import Op, Row, RowChange, RowImages, Scenario, Table

_ALONE: Final = 16
"""Limit of columns that are each tried alone beside the key."""


def with_fewer_columns(scenario: Scenario, where: Hint) -> Iterator[Scenario]:
    """Scenarios of the key and the failing column alone, of the key alone, of the key and one other
    column, and without a half, a quarter ... of the columns. Then those with one column of a key of
    several as the whole key, and those in which an UPDATE or DELETE is replaced by an INSERT or
    DELETE of one image.
    """
    tables = scenario_tables(scenario)
    free: dict[str, None] = {}
    for table in tables:
        for column in table.columns:
            if column.name not in table.handle_key:
                free[column.name] = None
    other_columns = list(free)
    if where.column is not None and (
        set(other_columns) - {where.column} or any(table.unique for table in tables)
    ):
        yield cut_columns(scenario, {where.column})
    if other_columns:
        yield cut_columns(scenario, ())
    if where.column is None and 1 < len(other_columns) <= _ALONE:
        yield from (cut_columns(scenario, {name}) for name in other_columns)
    if len(other_columns) > 1:
        yield from (
            cut_columns(scenario, set(remaining)) for remaining in without_parts(other_columns)
        )
    wide_keys = [table.primary_key for table in tables if len(table.primary_key) > 1]
    for name in dict.fromkeys(itertools.chain.from_iterable(wide_keys)):
        yield cut_columns(
            scenario, {*other_columns} if where.column is None else {where.column}, key=name
        )
    yield from with_one_image(scenario)


def cut_columns(
    scenario: Scenario, column_names: Collection[str], key: str | None = None
) -> Scenario:
    """The scenario with every table cut to its key and these columns, or to its first column if
    none is left; with `key`, a column of a primary key of several, that column is the whole key.
    """
    cut_tables = {
        table: _cut_table(table, column_names, key) for table in scenario_tables(scenario)
    }
    return with_events(
        scenario, (move_event(event, cut_tables.__getitem__) for event in scenario.history.events)
    )


def _cut_table(table: Table, column_names: Collection[str], key: str | None) -> Table:
    """The table cut to its key and these columns, or to its first column if none is left. If `key`
    is a column of a primary key of several columns, that column alone becomes the primary key; None
    keeps the key.
    """
    primary = (key,) if key in table.primary_key and key is not None else table.primary_key
    handle = primary or table.handle_key
    columns = tuple(
        c
        for c in table.columns
        if c.name in handle
        or (c.name in column_names and (c.name not in table.primary_key or c.name in primary))
    )
    columns = columns or table.columns[:1]
    # Another unique key would be one more index in the messages of writers that describe the table.
    unique = (handle,) if handle and not primary else ()
    return replace(table, columns=columns, primary_key=primary, unique=unique)


def with_one_image(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios in which one event is plainer: an UPDATE or DELETE becomes an INSERT of the after
    or the before image, or an UPDATE a DELETE of the before image. An image that a row of the event
    lacks cannot be taken.
    """
    for number, event in enumerate(scenario.history.events):
        if isinstance(event, RowChange) and event.op in OPS_BY_PLAINNESS[1:]:
            for side, op in (("after", Op.INSERT), ("before", Op.INSERT), ("before", Op.DELETE)):
                images: list[Row | None] = [getattr(row_images, side) for row_images in event.rows]
                if op is not event.op and all(image is not None for image in images):
                    shortened = (
                        RowImages(image, None) if op is Op.DELETE else RowImages(None, image)
                        for image in images
                    )
                    yield replace_event(
                        scenario, number, replace(event, op=op, rows=tuple(shortened))
                    )
