"""Which rules of pipelines a stream gives something to break: a rule that nothing reached was not
judged, however right a table is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.pipelines.timeline import PLACEHOLDER, Arrival, Version, is_spoiled
from conformance.streams.recipes import ReadStream
from generators.drawing.streams import Key
from generators.model import RowChange, SchemaChange, State

ALWAYS = ("no-way-back", "at-least-once", "columns", "types", "convergence")
"""Rules that any stream can break."""
OF_HISTORIES = ("one-open", "no-overlap", "no-gap", "versions")
"""Rules on the history of its rows that a pipeline may keep."""


def reached_rules(
    stream: ReadStream,
    timelines: Mapping[Key, Sequence[Version]],
    arrivals: Sequence[Arrival],
    *,
    has_history: bool,
) -> frozenset[str]:
    """The names of the pipeline rules that this stream can show broken (the last parts of their
    ids). `has_history`: the pipeline has the function `history`, so that the rules of histories
    count.
    """
    reached = {*ALWAYS, *_by_versions(stream, timelines), *_by_arrival(stream, arrivals)}
    if any(is_spoiled(arrival.written) for arrival in arrivals):
        reached.add("unreadable")
    if has_history:
        reached.update(OF_HISTORIES)
    return frozenset(reached)


def _by_versions(stream: ReadStream, timelines: Mapping[Key, Sequence[Version]]) -> Iterator[str]:
    """The names of the pipeline rules that a stream can show broken because of what happened to its
    rows, such as delete or null-overwrites; a name may come several times.
    """
    events = stream.story.history.events
    for versions in timelines.values():
        for number, version in enumerate(versions):
            event = events[version.event]
            if version.image is None:
                if isinstance(event, SchemaChange):
                    yield "truncate"
                else:
                    yield "delete" if version.cause == "DELETE" else "key-change"
            elif number and isinstance(event, RowChange):
                before = versions[number - 1].image or {}
                nulls = [n for n, cell in version.image.items() if cell.state is State.NULL]
                if any(n in before and before[n].state is State.VALUE for n in nulls):
                    yield "null-overwrites"
    if stream.story.added_after:
        yield "new-column"
    for event in events:
        if isinstance(event, SchemaChange) and event.action == "drop column":
            yield "dropped-column"


def _by_arrival(stream: ReadStream, arrivals: Sequence[Arrival]) -> Iterator[str]:
    """The names of the pipeline rules that a stream can show broken because of how its messages
    arrive, such as late ones or two of one row in a batch; a name may come several times.
    """
    events = stream.story.history.events
    newest = -1
    removed = False
    changed: set[tuple[int, object]] = set()
    for arrival in arrivals:
        message = arrival.written.message
        event = events[message.event]
        if not isinstance(event, RowChange):
            continue
        if PLACEHOLDER.encode() in (message.value or b""):
            yield "unsent"
        if message.event < newest:
            yield "order"
            if removed:
                yield "tombstone"
        removed = removed or any(images.after is None for images in event.rows)
        newest = max(newest, message.event)
        for images in event.rows:
            image = images.after or images.before or {}
            key = tuple(image.get(name) for name in stream.story.table.primary_key)
            if (arrival.stage, key) in changed:
                yield "one-per-batch"
            changed.add((arrival.stage, key))
