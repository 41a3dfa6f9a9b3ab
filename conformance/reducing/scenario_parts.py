"""The parts of a scenario that a reduction replaces: its tables, events, rows and images."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from generators.model import (
    Bootstrap,
    DtsOperation,
    Event,
    LogicalMessage,
    ReplicaIdentity,
    Row,
    RowChange,
    RowImages,
    Scenario,
    SchemaChange,
    SourceStatement,
    Table,
)
from generators.sources import databases


def scenario_tables(scenario: Scenario) -> tuple[Table, ...]:
    """All tables that occur in the scenario's events; a table that a statement changes comes once
    for each version.
    """
    tables_found: dict[Table, None] = {}
    for event in scenario.history.events:
        match event:
            case RowChange() | Bootstrap():
                tables_found[event.table] = None
            case SchemaChange():
                tables_found |= {table: None for table in (event.before, event.after) if table}
    return tuple(tables_found)


def separate_databases(scenario: Scenario, suffix: str) -> Scenario:
    """The scenario with the suffix on every database name, so that it shares no table with other
    scenarios.
    """
    events = scenario.history.events
    return with_events(
        scenario,
        (
            move_event(
                event, lambda table: replace(table, database=table.database + suffix), suffix
            )
            for event in events
        ),
    )


def with_events(scenario: Scenario, events: Iterable[Event]) -> Scenario:
    """The scenario with these events in place of its own."""
    return replace(scenario, history=replace(scenario.history, events=tuple(events)))


def row_changes(scenario: Scenario) -> list[RowChange]:
    """The row changes among the events of a scenario."""
    return [event for event in scenario.history.events if isinstance(event, RowChange)]


def row_images(event: RowChange) -> Iterator[Row]:
    """The images of all rows of a change, before and after, as far as it has them."""
    for images in event.rows:
        yield from (image for image in (images.before, images.after) if image is not None)


def replace_event(scenario: Scenario, number: int, event: Event) -> Scenario:
    """The scenario with another event at this number."""
    events = scenario.history.events
    return with_events(scenario, (*events[:number], event, *events[number + 1 :]))


def move_event(
    event: Event,
    to: Callable[[Table], Table],
    suffix: str = "",
    columns: Mapping[str, str] | None = None,
) -> Event:
    """The event with each of its tables replaced by what `to` gives for it. `columns` are the new
    names of columns by their old ones; images keep only the columns that the new table has.
    `suffix` is put on the database that a statement or message names by itself, also in its SQL.
    """
    match event:
        case RowChange():
            table, new_names = to(event.table), columns or {}
            names = {c.name for c in table.columns}

            def move_image(image: Row | None) -> Row | None:
                """The image under the columns' new names, without the columns that the table has
                lost.
                """
                if image is None:
                    return None
                return {
                    new: value
                    for old, value in image.items()
                    if (new := new_names.get(old, old)) in names
                }

            return replace(
                event,
                table=table,
                rows=tuple(
                    RowImages(move_image(i.before), move_image(i.after)) for i in event.rows
                ),
            )
        case Bootstrap():
            return replace(event, table=to(event.table))
        case SchemaChange():
            moved = replace(
                event,
                before=event.before and to(event.before),
                after=event.after and to(event.after),
            )
            return replace(
                moved,
                sql=_move_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
        case SourceStatement():
            return replace(
                event,
                sql=_move_sql(event, suffix),
                database=event.database and event.database + suffix,
            )
        case LogicalMessage() | ReplicaIdentity() | DtsOperation():
            return replace(event, database=event.database and event.database + suffix)
    return event


def _move_sql(event: SchemaChange | SourceStatement, suffix: str) -> str:
    """The SQL of a statement, in which the quoted name of its database has the suffix; as it is
    without a suffix or a database.
    """
    if not suffix or not event.database:
        return event.sql
    table = (event.after or event.before) if isinstance(event, SchemaChange) else None
    quote = (databases.of_table(table) if table else databases.MYSQL).quote
    return event.sql.replace(quote(event.database), quote(event.database + suffix))
