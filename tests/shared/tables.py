"""Tables of a line or two, for tests."""

from __future__ import annotations

from generators.model import Column, SourceType, Table


def keyed(place: str, key: str, /, *, schema: str | None = None, **types: SourceType) -> Table:
    """A table of `database.name` whose primary key has the words of `key`; other columns are
    nullable.
    """
    database, _, name = place.partition(".")
    names = tuple(key.split())
    return Table(
        database,
        name,
        tuple(Column(n, t, n not in names) for n, t in types.items()),
        names,
        schema=schema,
    )
