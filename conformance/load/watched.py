"""Measures `run --watch`: the time from saving a broken decoder to the first broken rule on the
screen.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import RenderableType

from conformance.cases.catalogue import find_budget
from conformance.engines.engine import Engine
from conformance.engines.specs import DECODERS
from conformance.load.bench import SEED, markdown_lines, plain_profile, result_table
from conformance.running.events import Broken, Event
from conformance.running.prepared import Settings
from conformance.running.watching import State, await_change, turns
from generators.errors import HarnessError
from generators.wire_format import get, module_name

_DECODER: Final = """# {number}
from {decoders} import {module} as reference


def decode(records, deployment):
    rows = reference.decode(records, deployment=deployment)
    return rows{lost}
"""
"""The source text of the watched decoder: it returns the rows of the format's reference decoder,
through the filter `lost`, if there is one.
"""
_LOST: Final = """.where("op IS NULL OR op <> 'DELETE'")"""
"""The decoder's mistake: a filter that loses the rows of DELETEs."""
_SAVES: Final = ("first", "again", "")
"""What is saved in a round: "first" is the mistake, in a decoder that was right before; "again"
another text with the same mistake; "" the right decoder.
"""


@dataclass(slots=True)
class _Editor:
    """Plays the user of `run --watch`: whenever the watch waits, it saves the next decoder of
    `saves` (see _SAVES), and measures the seconds from the save to the first broken rule. `now` is
    what was saved and has broken no rule yet, `saved` the time of the save, `number` the number of
    saves; `seconds` are the measured times, by what was saved.
    """

    path: Path
    module: str
    saves: Iterator[str]
    now: str = ""
    number: int = 0
    saved: float = 0.0
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def save(self, what: str) -> None:
        """Saves the decoder's file: for `what` "first" or "again" with the mistake, for "" without
        it.
        """
        self.now, self.number, self.saved = what, self.number + 1, time.monotonic()
        source = _DECODER.format(
            number=self.number, decoders=DECODERS, module=self.module, lost=_LOST if what else ""
        )
        self.path.write_text(source, "utf-8")

    def __call__(self, state: State) -> None:
        """Called when the watch waits for the user: saves the next version of the decoder's file,
        and returns when the watch has noticed that a file has changed.
        """
        self.save(next(self.saves, ""))
        await_change(state)

    def listen(self, event: Event) -> None:
        """Listens to the run's events: at the first broken rule after a save, notes the seconds
        since then.
        """
        if isinstance(event, Broken):
            self.seconds.setdefault(self.now, []).append(time.monotonic() - self.saved)
            self.now = ""


def measure(
    engine: Engine, name: str, folder: Path, rounds: int, note: Callable[[str], None]
) -> dict[str, Any]:
    """One JSON-able object: seconds from a save that makes a format's decoder of level one lose
    DELETEs to the first broken rule.

    `first` is for a decoder that was right before, `again` for one that was not. Raises
    HarnessError if no rule is broken.
    """
    profile = plain_profile(get(name)).name
    editor = _Editor(folder / "watched.py", module_name(name), iter(_SAVES * rounds))
    editor.save("")
    settings = Settings(
        (name,),
        find_budget("smoke"),
        SEED,
        decoder=f"{editor.path}:decode",
        level="changes",
        writer_profile=profile,
        reduce=False,
    )
    cases = 0
    for turn in turns(settings, engine, editor.listen, editor):
        if turn.result is None:
            raise HarnessError(
                f"{name}: the decoder that is watched cannot be loaded: {turn.error}"
            )
        cases = max(cases, sum(len(fmt.cases) for fmt in turn.result.formats))
        done = min(len(editor.seconds.get(what, ())) for what in ("first", "again"))
        note(f"{name}: {done} of {rounds} rounds of saving a mistake")
        if done == rounds:
            break
        if editor.number > len(_SAVES) * rounds + 1:
            raise HarnessError(f"{name}: a decoder that loses DELETEs broke no rule")
    return {
        "type": "bench-watch",
        "format": name,
        "profile": profile,
        "cases": cases,
        "rounds": rounds,
        **{what: _median_and_range(editor.seconds[what]) for what in ("first", "again")},
    }


def _median_and_range(seconds: Sequence[float]) -> dict[str, float]:
    """The median, the least and the greatest of measured seconds, rounded to hundredths, under the
    names `median`, `min` and `max`.
    """
    figures = {"median": statistics.median(seconds), "min": min(seconds), "max": max(seconds)}
    return {name: round(value, 2) for name, value in figures.items()}


def _result_cells(result: Mapping[str, Any]) -> dict[str, str]:
    """A result as text by column: the seconds from a save to the first broken rule after a right
    and after a wrong decoder, as median and range. The result has them as `first` and `again`.
    """
    after_right, after_wrong = (
        f"{result[what]['median']:.1f} s ({result[what]['min']:.1f}..{result[what]['max']:.1f})"
        for what in ("first", "again")
    )
    return {
        "format": result["format"],
        "profile": result["profile"],
        "cases": f"{result['cases']:,}",
        "rounds": str(result["rounds"]),
        "after a right decoder": after_right,
        "after a wrong one": after_wrong,
    }


def render(results: Sequence[Mapping[str, Any]]) -> RenderableType:
    """A table of how soon `run --watch` answers a save: the seconds from a save to the first broken
    rule, for each format.
    """
    return result_table(
        [*map(_result_cells, results)], "from a save to the first broken rule: median (range)"
    )


def markdown(results: Sequence[Mapping[str, Any]]) -> str:
    """The figures as a Markdown table."""
    return "\n".join(markdown_lines([*map(_result_cells, results)]))
