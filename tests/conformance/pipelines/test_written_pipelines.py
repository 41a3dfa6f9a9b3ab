"""What `new-pipeline` writes for each format and sink, without Spark: it compiles, and what its text
says orders the changes of every row as the source did, and tells its statements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from conformance.brokers.lakehouses import LAKEHOUSES, Sink
from conformance.pipelines.running import PipelineSettings, streams_of
from conformance.pipelines.timeline import Arrival, arrivals_of, is_spoiled
from conformance.pipelines.writing import pipeline_text
from conformance.rules.order import order_of
from conformance.streams.recipes import ReadStream
from generators.errors import NothingSelected
from generators.model import Change, Kind, Op, SchemaChange
from generators.wire_format import FORMATS

ORDERED = [name for name in FORMATS if not order_of(name).arrival]


def constants(name: str, sink: Sink = "delta") -> dict[str, Any]:
    """The constants of the written module."""
    tree = ast.parse(pipeline_text(name, sink, "mine.py"))
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = ast.literal_eval(node.value)
    return found


def stream_of(name: str, nemesis: str) -> ReadStream:
    streams, _ = streams_of(PipelineSettings(name, "mine.py", nemesis=nemesis))
    return streams[0]


def streams_with_statements(name: str) -> Iterator[ReadStream]:
    """The plain stream, and the one whose columns change; some formats tell of no statement."""
    yield stream_of(name, "none")
    with suppress(NothingSelected):
        yield stream_of(name, "changed-columns")


def version_of(sql: str, change: Change) -> tuple[int, ...]:
    """VERSION, as Spark evaluates it: a CASE of patterns over the position, else the commit time."""
    by_colons = re.search(
        r"WHEN position RLIKE r'([^']*)' THEN transform\(split\(position, ':'\)", sql
    )
    if by_colons and re.search(by_colons[1], change.position or ""):
        return tuple(int(part, 16) for part in (change.position or "").split(":"))
    cases = re.findall(r"WHEN position RLIKE r'([^']*)' THEN array\((.*?)\)(?= WHEN| ELSE)", sql)
    for pattern, numbers in cases:
        match = re.search(pattern, change.position or "")
        if match:
            return tuple(int(match[int(group)]) for group in re.findall(r"', (\d+)\)", numbers))
    assert sql.endswith(
        ("array(CAST(unix_micros(commit_time) AS decimal(20,0)))", "AS decimal(20,0))) END")
    )
    return () if change.commit_time_us is None else (change.commit_time_us,)


def rank_of(sql: str, change: Change) -> int:
    """RANK: of one version a DELETE is before the rest, if the format says so."""
    assert sql in ("IF(op = 'DELETE', 0L, 1L)", "0L")
    return int(sql != "0L" and change.op is not Op.DELETE)


Place = tuple[tuple[int, ...], int, int, int, int]


def places(
    name: str, stream: ReadStream, arrival: Arrival
) -> Iterator[tuple[tuple[Any, ...], Place]]:
    """The keys that a message changes, each with what the written pipeline orders it by."""
    written = constants(name)
    names = stream.story.table.primary_key
    for change in arrival.written.changes:
        if change.kind is not Kind.ROW or change.op is Op.TRUNCATE:
            continue
        version = version_of(written["VERSION"], change)
        for half, side in enumerate(("before", "after")):
            image = change.image(side, 2)
            if image and image.keys() >= set(names):
                key = tuple(image[column].value for column in names)
                yield (
                    key,
                    (version, rank_of(written["RANK"], change), arrival.offset, change.row, half),
                )


@pytest.mark.parametrize("nemesis", ["none", "stale"])
@pytest.mark.parametrize("name", ORDERED)
def test_its_columns_order_the_changes_of_each_row_as_the_source_did(
    name: str, nemesis: str
) -> None:
    stream = stream_of(name, nemesis)
    by_key: dict[tuple[Any, ...], list[tuple[Place, int]]] = {}
    for arrival in arrivals_of(stream.stages):
        if not is_spoiled(arrival.written):
            for key, place in places(name, stream, arrival):
                by_key.setdefault(key, []).append((place, arrival.written.message.event))
    assert len(by_key) > 20
    for key, changes in by_key.items():
        events = [event for _, event in sorted(changes)]
        assert events == sorted(events), key


@pytest.mark.parametrize("name", ORDERED)
def test_its_patterns_tell_what_statements_did(name: str) -> None:
    written = constants(name)
    actions = set()
    for stream in streams_with_statements(name):
        for event in stream.story.history.events:
            if not isinstance(event, SchemaChange):
                continue
            clears = re.search(written["CLEARS"], event.sql) is not None
            dropped = dropped_columns(written, event.sql)
            assert clears is (event.action in ("truncate table", "drop table")), event.sql
            assert bool(dropped) is (event.action == "drop column"), event.sql
            if dropped:
                assert event.before is not None and event.after is not None
                left = {column.name for column in event.after.columns}
                assert set(dropped) <= {column.name for column in event.before.columns} - left
            actions.add(event.action)
    assert not actions or actions & {"truncate table", "drop table"}


def dropped_columns(written: dict[str, Any], sql: str) -> list[str]:
    """The columns that a statement drops, as the written module's Spark SQL finds them."""
    if not re.search(written["ALTERS"], sql):
        return []
    clauses = re.sub(written["NO_CLAUSE"], " ", sql)
    return [name.strip('`"') for name in re.findall(written["DROPS"], clauses)]


@pytest.mark.parametrize(
    ("clauses", "dropped"),
    [
        ("DROP COLUMN a, DROP COLUMN b", ["a", "b"]),
        ("DROP a,DROP IF EXISTS `b c`", ["a", "b c"]),
        ('DROP COLUMN IF EXISTS "a", ADD d INT', ["a"]),
        ("DROP COLUMN a, DROP INDEX i, DROP PRIMARY KEY, DROP CONSTRAINT k", ["a"]),
        ("ADD c INT COMMENT 'we DROP amount here'", []),
        ("ADD c INT /* DROP b */, DROP a", ["a"]),
        ("ADD c INT CHECK (c > 0), DROP keys", ["keys"]),
    ],
)
def test_it_finds_every_column_that_a_statement_drops(clauses: str, dropped: list[str]) -> None:
    written = constants("maxwell-json")
    assert dropped_columns(written, f"ALTER TABLE t {clauses}") == dropped


@pytest.mark.parametrize("sink", LAKEHOUSES)
@pytest.mark.parametrize("name", ORDERED)
def test_it_compiles_and_has_the_placeholders_of_its_format(name: str, sink: Sink) -> None:
    text = pipeline_text(name, sink, "mine.py")
    compile(text, "mine.py", "exec")
    assert f"USING {sink}" in text
    assert tuple(constants(name, sink)["UNSENT"]) == order_of(name).placeholders
    assert max(map(len, text.splitlines())) <= 100
