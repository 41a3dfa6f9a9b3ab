"""Judges again whenever the decoder's source changes: Spark and the drawn cases stay, failed cases
come first.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.engines.child import ChildEngine
from conformance.engines.engine import Engine
from conformance.engines.specs import COMMAND, find_place, is_command
from conformance.judging.results import RunResult
from conformance.running.events import Listener, ignore
from conformance.running.prepared import Settings
from conformance.running.run import run_formats
from generators.errors import NothingSelected, UsageError

POLL_S: Final = 0.1
"""Seconds between two looks at the files."""
FIRST: Final = 40
"""Limit of the failed cases that are judged before the others."""

FRESH: Final[Mapping[str, str]] = {"spark.python.worker.reuse": "false"}
"""Settings of Spark for `watch`. A Python worker that is used again keeps the modules that it has
imported, and would not see the changed source.
"""

State = Mapping[Path, tuple[int, int] | None]
"""For each file its time of modification in nanoseconds and its size; None for a missing file."""
Waiting: TypeAlias = Callable[[State], None]
"""A function that returns when one of the files of the given state has changed, come or gone."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What `watch` found for one state of the decoder's source: a result, or the error that
    prevented one ("" for none).

    `again` counts the cases that failed before if only these were judged, 0 if all cases were;
    `files` are the watched files, `seconds` is the time since the sources were read.
    """

    result: RunResult | None
    error: str
    again: int
    files: tuple[Path, ...]
    seconds: float


def turns(
    settings: Settings, engine: Engine, listen: Listener = ignore, wait: Waiting | None = None
) -> Iterator[Turn]:
    """The loop of `watch`: judges, waits for a change of the decoder's source, and judges again,
    for ever. Yields each turn, also one whose decoder cannot be loaded. After a failure the failed
    cases are judged first, and all cases once these pass; failures are reduced only where all cases
    are judged. Raises HarnessError if the engine cannot go on.
    """
    wait, failed, files = wait or await_change, tuple[str, ...](), tuple[Path, ...]()
    while True:
        files = sources(settings.decoder, engine, files)
        state_before, began = state(files), time.monotonic()
        for again in (True, False):
            if again and not failed:
                continue
            turn_settings = (
                replace(settings, select=failed, exclude=(), reduce=False) if again else settings
            )
            try:
                result = run_formats(turn_settings, engine, listen)
            except NothingSelected:
                if not again:
                    raise
                continue
            except UsageError as error:
                yield Turn(None, str(error), len(failed) * again, files, time.monotonic() - began)
                break
            # What a decoder imports is known once it is loaded.
            now = sources(settings.decoder, engine, files, keep=True)
            state_before, files = {**state(now), **state_before}, now
            yield Turn(result, "", len(failed) * again, files, time.monotonic() - began)
            failing = first_case_ids(result)
            if again and failing:
                break
            failed = failing
        wait(state_before)


def first_case_ids(result: RunResult) -> tuple[str, ...]:
    """The ids of the failing cases to judge first in the next turn, at most FIRST: the smallest
    case of each broken rule, then the second smallest of each, and so on.
    """
    by_rule: dict[str, list[tuple[int, str]]] = {}
    for fmt in result.formats:
        for case in fmt.counting(result.strict):
            for rule in {finding.rule for finding in case.findings}:
                size = sum(written.message.size for written in case.case.written)
                by_rule.setdefault(rule, []).append((size, case.case.id.partition("#")[0]))
    ranked = []
    for cases in by_rule.values():
        for rank, (size, name) in enumerate(sorted(cases)):
            ranked.append((rank, size, name))
    ranked.sort()
    return tuple(dict.fromkeys(name for _, _, name in ranked))[:FIRST]


def sources(
    decoder: str | None, engine: Engine, sources_before: Iterable[Path] = (), *, keep: bool = False
) -> tuple[Path, ...]:
    """The decoder's source files: its own, and what it imports from the working directory. Those of
    `sources_before` stay. The sources of a command are the files that it names, and those beside
    them with the same suffix.

    Without `keep` the engine forgets what it has imported, so that the next call reads the files
    again.
    """
    paths = set(sources_before)
    if decoder and is_command(decoder):
        command_files = [
            Path(word)
            for word in shlex.split(decoder.removeprefix(COMMAND))
            if Path(word).is_file()
        ]
        for file in command_files:
            siblings = file.parent.glob(f"*{file.suffix}")
            paths.update(sibling.resolve() for sibling in siblings if sibling.is_file())
    elif isinstance(engine, ChildEngine):
        paths |= {Path(file) for file in engine.sources(forget=not keep).result()}
        own_file = find_place(decoder).file if decoder else None
        if own_file:
            paths.add(own_file)
    return tuple(sorted(paths))


def state(files: Iterable[Path]) -> State:
    """The time of modification and the size of each file; None for a file that cannot be read."""
    return {file: _state(file) for file in files}


def _state(file: Path) -> tuple[int, int] | None:
    """When a watched file was changed, and its size; None if it cannot be read, as while an editor
    replaces it.
    """
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def await_change(state_before: State, pause: Callable[[float], Any] = time.sleep) -> None:
    """Waits until a file differs from `state_before` and the files then stay as they are for a
    moment, since editors write in steps.
    """
    now = state(state_before)
    while now == state_before:
        pause(POLL_S)
        now = state(state_before)
    before: State = {}
    while before != now:
        before = now
        pause(POLL_S)
        now = state(state_before)
