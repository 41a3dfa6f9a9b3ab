"""Batch decode throughput of the reference decoders, and of a user's, against the baseline.

The child process measures. This module makes the load, times the making, and collects the figures.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, write_records
from conformance.engines.specs import DECODERS, decoder_of
from conformance.files import put
from generators.bulk import expander as bulk
from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.storage import codec
from generators.wire_format import Format, Profile, get, module_name

SEED: Final = 1
REFERENCE: Final = "reference"
LEVELS: Final = {1: "changes", 2: "rows"}
GENERATIONS: Final = 3
"""How often the generation of the load is timed; the median counts."""


SAVED: Final = "cdc-conformance bench"
"""The type of a file of saved results."""

Key = tuple[str, int, str]
"""A result's format, level and decoder."""


class BenchFailed(HarnessError):
    """A decoder raised, or ended its process, during the measurement."""

    exit_code = 1


def bench(
    engine: ChildEngine, formats: Sequence[str], decoder: str | None, messages: int, rounds: int, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """One JSON-able object per format, level and decoder.

    `per_second` and `baseline_per_second` are messages by the median round, `ratio` is the decoder's speed over the baseline's in
    the same round (median, min, max), `rows` and `baseline_rows` the row changes of each, `generated_per_second` the rate at
    which one process makes messages, `bytes` the size of keys and values. Level one is measured against the baseline's maps,
    level two against its typed rows. Raises UnknownName, UsageError for sizes below 1, BenchFailed.
    """
    if messages < 1 or rounds < 1:
        raise UsageError(f"bench with {messages} messages and {rounds} rounds: both must be at least 1")
    engine.started.result()
    results: list[dict[str, Any]] = []
    for name in formats:
        fmt = get(name)
        profile = plain_profile(fmt)
        note(f"{name}: making {messages} messages")
        load, generated = generate(fmt, profile, messages)
        path = engine.directory / f"bench-{name}.parquet"
        write_records(path, load, _offsets(load))
        note(f"{name}: decoding {len(load)} messages in {rounds} rounds")
        decoders = {REFERENCE: decoder_of(name, None)} | ({decoder: decoder_of(name, decoder)} if decoder else {})
        request = {
            "parquet": str(path),
            "messages": len(load),
            "table": codec.dump_table(bulk.load_table()),
            "deployment": codec.dump_deployment(profile.deployment),
            "rounds": rounds,
            "baseline": baseline(name, load[0]),
            "decoders": decoders,
        }
        try:
            answer = engine.bench(request).result()
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            raise BenchFailed(f"{name}: {error}") from None
        finally:
            path.unlink(missing_ok=True)
        head = {
            "format": name,
            "profile": profile.name,
            "messages": len(load),
            "bytes": sum(message.size for message in load),
            "rounds": rounds,
            "generated_per_second": round(generated),
        }
        results += [one for contest in answer["results"] for one in _entries(head, contest)]
    return results


def baseline(name: str, sample: Message) -> str:
    """The specification of a format's baseline, which stands beside its decoder; `bare` reads messages without Connect's schema,
    which are JSON without a `payload`, like `sample`."""
    spec = f"{DECODERS}.{module_name(name)}:BASELINE"
    return spec if get(name).container != "json" or b'"payload":' in (sample.value or b"") else f"{spec}.bare"


def plain_profile(fmt: Format[Any]) -> Profile:
    """The last profile of a format with the fewest options, without compression, whose cost is not the decoder's."""
    plain: list[Profile] = [p for p in fmt.profiles if p.deployment.compression == "none"]
    return min(reversed(plain), key=lambda profile: profile.name.count("+"))


def generate(fmt: Format[Any], profile: Profile, count: int) -> tuple[list[Message], float]:
    """`count` units of load, and the messages/s that one process makes without storing them."""
    messages = list(bulk.messages(fmt, profile, SEED, count=count))
    seconds = []
    for _ in range(GENERATIONS):
        began = time.perf_counter()
        deque(bulk.messages(fmt, profile, SEED, count=count), maxlen=0)
        seconds.append(time.perf_counter() - began)
    return messages, len(messages) / statistics.median(seconds)


def _offsets(messages: Sequence[Message]) -> list[int]:
    following: dict[tuple[str, int], int] = {}
    offsets = []
    for message in messages:
        place = message.topic, message.partition
        offsets.append(following.get(place, 0))
        following[place] = offsets[-1] + 1
    return offsets


def _entries(head: Mapping[str, Any], contest: Mapping[str, Any]) -> list[dict[str, Any]]:
    baseline = contest["baseline"]
    return [
        {
            **head,
            "level": contest["level"],
            "decoder": name,
            "per_second": round(one["per_second"]),
            "baseline_per_second": round(baseline["per_second"]),
            "ratio": {key: round(value, 3) for key, value in one["ratio"].items()},
            "rows": one["rows"],
            "baseline_rows": baseline["rows"],
        }
        for name, one in contest["decoders"].items()
    ]


def render(results: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The figures as a table, then warnings about ratios that compare different work."""
    table = Grid(header_style="bold", pad_edge=False)
    for head in ("format", "profile", "level", "decoder"):
        table.add_column(head, no_wrap=head == "format")
    for head in ("messages/s", "baseline/s", "ratio", "range", "generated/s"):
        table.add_column(head, justify="right")
    for one in results:
        ratio = one["ratio"]
        table.add_row(
            one["format"],
            one["profile"],
            LEVELS[one["level"]],
            Text(one["decoder"]),
            f"{one['per_second']:,}",
            f"{one['baseline_per_second']:,}",
            Text(f"{ratio['median']:.2f}x", style="bold"),
            f"{ratio['min']:.2f}..{ratio['max']:.2f}",
            f"{one['generated_per_second']:,}",
        )
    rounds = {one["rounds"] for one in results}
    messages = {one["messages"] for one in results}
    parts: list[RenderableType] = [table]
    parts += [
        Text(
            f"{one['format']} level {one['level']}: {one['decoder']} returns {one['rows']:,} row changes, the baseline "
            f"{one['baseline_rows']:,}: the ratio compares different work",
            style="yellow",
        )
        for one in results
        if one["rows"] != one["baseline_rows"]
    ]
    size = f"{_list(rounds)} interleaved rounds over {_list(messages)} messages"
    parts.append(Text(f"ratio: speed over the baseline's, median [min..max] of {size}", style="dim"))
    return Group(*parts)


def _list(numbers: set[int]) -> str:
    return " or ".join(f"{n:,}" for n in sorted(numbers))


@dataclass(frozen=True, slots=True)
class Changed:
    """A result and the saved one: their median ratios, and whether the new one is below the limit."""

    key: Key
    old: float
    new: float
    below: bool
    otherwise: str = ""

    @property
    def change(self) -> float:
        """The relative change of the ratio: -0.1 is a tenth less."""
        return self.new / self.old - 1


@dataclass(frozen=True, slots=True)
class BenchComparison:
    """Results and saved ones. `added` were not saved; `gone` were saved for a measured format and are missing now."""

    changed: tuple[Changed, ...]
    added: tuple[Key, ...]
    gone: tuple[Key, ...]

    @property
    def slower(self) -> bool:
        """Whether any result is below the limit."""
        return any(one.below for one in self.changed)


def save(results: Sequence[Mapping[str, Any]], path: Path, versions: Mapping[str, str]) -> None:
    """Writes results as JSON, with the versions and the machine. Raises HarnessError."""
    machine = {"system": platform.platform(), "processors": os.cpu_count()}
    document = {"type": SAVED, "versions": dict(versions), "machine": machine, "results": list(results)}
    put(path, lambda: [json.dumps(document, ensure_ascii=False, indent=1).encode(), b"\n"], "the results")


def saved(path: Path) -> list[dict[str, Any]]:
    """The results that `save` wrote. Raises UsageError for a missing or a different file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--compare {path}: {error}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"--compare {path} is not JSON: {error}") from None
    results = document.get("results") if isinstance(document, dict) and document.get("type") == SAVED else None
    if not isinstance(results, list):
        raise UsageError(f"--compare {path} was not written by bench --save")
    try:
        if all(one["ratio"]["median"] > 0 and len(_key(one)) for one in results):
            return results
    except (KeyError, TypeError):
        pass
    raise UsageError(f"--compare {path} has a result without format, level, decoder or a ratio above 0")


def compare(old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]], fail_below: float) -> BenchComparison:
    """Compares results by format, level and decoder. A ratio below `fail_below` times the saved one is too low."""
    before, now = ({_key(one): one for one in results} for results in (old, new))
    measured = {name for name, _, _ in now}
    changed = []
    for key in before.keys() & now.keys():
        was, one = before[key], now[key]
        ratios = was["ratio"]["median"], one["ratio"]["median"]
        facts = [name for name in ("profile", "messages", "rounds") if was.get(name) != one.get(name)]
        otherwise = ", ".join(f"{name} {one.get(name)} instead of {was.get(name)}" for name in facts)
        # Ratios are saved with three digits: a ratio at the limit must not fail by a rounding error.
        changed.append(Changed(key, *ratios, ratios[1] < ratios[0] * fail_below - 1e-9, otherwise))
    return BenchComparison(
        tuple(sorted(changed, key=lambda one: one.key)),
        tuple(sorted(now.keys() - before.keys())),
        tuple(sorted(key for key in before.keys() - now.keys() if key[0] in measured)),
    )


def _key(one: Mapping[str, Any]) -> Key:
    return one["format"], one["level"], one["decoder"]


def render_comparison(found: BenchComparison, fail_below: float) -> RenderableType:
    """The comparison as a table, then the results without a counterpart."""
    table = Grid("format", "level", "decoder", header_style="bold", pad_edge=False)
    for head in ("saved", "now", "change", ""):
        table.add_column(head, justify="right")
    for one in found.changed:
        name, level, decoder = one.key
        verdict = Text(f"below {fail_below:g} of the saved", "red") if one.below else Text("")
        table.add_row(name, LEVELS[level], Text(decoder), f"{one.old:.2f}x", f"{one.new:.2f}x", f"{one.change:+.1%}", verdict)
    return Group(table, *(Text(line, style="yellow") for line in remarks(found)))


def remarks(found: BenchComparison) -> list[str]:
    """Results without a counterpart, and results that were measured under other conditions."""
    lines = [f"{_named(key)}: not in the saved file" for key in found.added]
    lines += [f"{_named(key)}: in the saved file, not measured now" for key in found.gone]
    return lines + [f"{_named(one.key)}: measured with {one.otherwise}" for one in found.changed if one.otherwise]


def _named(key: Key) -> str:
    return f"{key[0]} {LEVELS[key[1]]} {key[2]}"


def comparison_records(found: BenchComparison) -> list[dict[str, Any]]:
    """The comparison as JSON-able objects."""
    listed: list[dict[str, Any]] = [
        {
            **_of(one.key),
            "type": "bench-change",
            "saved_ratio": one.old,
            "ratio": one.new,
            "change": round(one.change, 4),
            "below": one.below,
            "otherwise": one.otherwise,
        }
        for one in found.changed
    ]
    listed += [{**_of(key), "type": "bench-added"} for key in found.added]
    return listed + [{**_of(key), "type": "bench-gone"} for key in found.gone]


def _of(key: Key) -> dict[str, Any]:
    return {"format": key[0], "level": key[1], "decoder": key[2]}


def markdown(results: Sequence[Mapping[str, Any]], found: BenchComparison | None = None) -> str:
    """The figures, and the comparison if there is one, as Markdown tables."""
    lines = ["| format | profile | level | decoder | messages/s | baseline/s | ratio |", "|---|---|---|---|---|---|---|"]
    lines += [
        f"| {one['format']} | {one['profile']} | {LEVELS[one['level']]} | {_cell(one['decoder'])} | {one['per_second']:,} | "
        f"{one['baseline_per_second']:,} | {one['ratio']['median']:.2f} |"
        for one in results
    ]
    if found is not None:
        lines += ["", "| format | level | decoder | saved | now | change |", "|---|---|---|---|---|---|"]
        for one in found.changed:
            bad = " **too low**" if one.below else ""
            shown = f"{one.old:.2f} | {one.new:.2f} | {one.change:+.1%}{bad}"
            lines.append(f"| {one.key[0]} | {LEVELS[one.key[1]]} | {_cell(one.key[2])} | {shown} |")
        lines += ["", *(f"- {_cell(line)}" for line in remarks(found))]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
