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
from pathlib import Path
from typing import Any, Final, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, lay_out
from conformance.engines.specs import DECODERS, decoder_of
from conformance.files import put
from conformance.sheets import cell, grid, marked
from generators.bulk import expander as bulk
from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.profiles import Profile
from generators.storage import codec
from generators.wire_format import Format, get, module_name

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
    engine: ChildEngine,
    formats: Sequence[str],
    decoder: str | None,
    messages: int,
    rounds: int,
    note: Callable[[str], None],
) -> list[dict[str, Any]]:
    """One JSON-able object per format, level and decoder.

    `per_second` and `baseline_per_second` are messages by the median round, `ratio` is the
    decoder's speed over the baseline's in the same round (median, min, max), `rows` and
    `baseline_rows` the row changes of each, `generated_per_second` the rate at which one process
    makes messages, `bytes` the size of keys and values. Level one is measured against the
    baseline's maps, level two against its typed rows. Raises UnknownName, UsageError for sizes
    below 1, BenchFailed.
    """
    if messages < 1 or rounds < 1:
        raise UsageError(
            f"bench with {messages} messages and {rounds} rounds: both must be at least 1"
        )
    engine.started.result()
    results: list[dict[str, Any]] = []
    for name in formats:
        fmt = get(name)
        profile = plain_profile(fmt)
        note(f"{name}: making {messages} messages")
        load, generated = generate(fmt, profile, messages)
        _, source = lay_out(engine.directory, f"bench-{name}", load)
        note(f"{name}: decoding {len(load)} messages in {rounds} rounds")
        decoders = {REFERENCE: decoder_of(name, None)} | (
            {decoder: decoder_of(name, decoder)} if decoder else {}
        )
        request = {
            "parquet": source.parquet,
            "messages": len(load),
            "table": codec.dump_table(bulk.load_table()),
            "deployment": codec.dump_deployment(profile.deployment),
            "rounds": rounds,
            "baseline": baseline(name, load[0]),
            "decoders": decoders,
        }
        try:
            answer = engine.ask("bench", request, 3600).result()
        except (DecodeRaised, DecodeTimeout, ChildDied) as error:
            raise BenchFailed(f"{name}: {error}") from None
        finally:
            Path(source.parquet).unlink(missing_ok=True)
        head = {
            "format": name,
            "profile": profile.name,
            "messages": len(load),
            "bytes": sum(message.size for message in load),
            "rounds": rounds,
            "generated_per_second": round(generated),
        }
        results += [entry for contest in answer["results"] for entry in _entries(head, contest)]
    return results


def baseline(name: str, sample: Message) -> str:
    """The specification of a format's baseline, which stands beside its decoder; `bare` reads
    messages without Connect's schema, which are JSON without a `payload`, like `sample`.
    """
    spec = f"{DECODERS}.{module_name(name)}:BASELINE"
    return (
        spec
        if get(name).container != "json" or b'"payload":' in (sample.value or b"")
        else f"{spec}.bare"
    )


def plain_profile(fmt: Format[Any]) -> Profile:
    """The last profile of a format with the fewest options, without compression, whose cost is not
    the decoder's.
    """
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


def _entries(head: Mapping[str, Any], contest: Mapping[str, Any]) -> list[dict[str, Any]]:
    baseline = contest["baseline"]
    return [
        {
            **head,
            "level": contest["level"],
            "decoder": name,
            "per_second": round(figures["per_second"]),
            "baseline_per_second": round(baseline["per_second"]),
            "ratio": {key: round(value, 3) for key, value in figures["ratio"].items()},
            "rows": figures["rows"],
            "baseline_rows": baseline["rows"],
        }
        for name, figures in contest["decoders"].items()
    ]


_LEFT: Final = ("format", "profile", "level", "decoder")


Cells: TypeAlias = Mapping[str, str | Text]
"""A row of a table by its heads."""


def sheet(rows: Sequence[Cells], caption: str | None = None) -> Table:
    """Rows as a table; numbers stand at the right."""
    return grid(list(rows[0]) if rows else (), [list(row.values()) for row in rows], _LEFT, caption)


def lines(rows: Sequence[Cells]) -> list[str]:
    """The same as the lines of a Markdown table."""
    return marked(list(rows[0]), [list(row.values()) for row in rows]) if rows else []


def _measured(row: Mapping[str, Any]) -> dict[str, str]:
    ratio = row["ratio"]
    return {
        **_named(row),
        "messages/s": f"{row['per_second']:,}",
        "baseline/s": f"{row['baseline_per_second']:,}",
        "ratio": f"{ratio['median']:.2f}x",
        "range": f"{ratio['min']:.2f}..{ratio['max']:.2f}",
        "generated/s": f"{row['generated_per_second']:,}",
    }


def _named(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: LEVELS[row[name]] if name == "level" else row[name] for name in _LEFT if name in row
    }


def render(results: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The figures as a table, then warnings about ratios that compare different work."""
    warnings = [
        f"{row['format']} level {row['level']}: {row['decoder']} returns {row['rows']:,} row"
        f" changes, the baseline {row['baseline_rows']:,}: the ratio compares different work"
        for row in results
        if row["rows"] != row["baseline_rows"]
    ]
    rounds, messages = ({row[name] for row in results} for name in ("rounds", "messages"))
    size = f"{_list(rounds)} interleaved rounds over {_list(messages)} messages"
    said = Text(f"ratio: speed over the baseline's, median [min..max] of {size}", style="dim")
    return Group(
        sheet([*map(_measured, results)]), *(Text(line, style="yellow") for line in warnings), said
    )


def _list(numbers: set[int]) -> str:
    return " or ".join(f"{n:,}" for n in sorted(numbers))


def save(results: Sequence[Mapping[str, Any]], path: Path, versions: Mapping[str, str]) -> None:
    """Writes results as JSON, with the versions and the machine. Raises HarnessError."""
    machine = {"system": platform.platform(), "processors": os.cpu_count()}
    document = {
        "type": SAVED,
        "versions": dict(versions),
        "machine": machine,
        "results": list(results),
    }
    put(
        path,
        lambda: [json.dumps(document, ensure_ascii=False, indent=1).encode(), b"\n"],
        "the results",
    )


def saved(path: Path) -> list[dict[str, Any]]:
    """The results that `save` wrote. Raises UsageError for a missing or a different file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--compare {path}: {error}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"--compare {path} is not JSON: {error}") from None
    results = (
        document.get("results")
        if isinstance(document, dict) and document.get("type") == SAVED
        else None
    )
    if not isinstance(results, list):
        raise UsageError(f"--compare {path} was not written by bench --save")
    try:
        if all(row["ratio"]["median"] > 0 and len(_key(row)) for row in results):
            return results
    except (KeyError, TypeError):
        pass
    raise UsageError(
        f"--compare {path} has a result without format, level, decoder or a ratio above 0"
    )


def compare(
    old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]], fail_below: float
) -> list[dict[str, Any]]:
    """Compares results by format, level and decoder, as JSON-able objects: those that have a saved
    one, of which a ratio below `fail_below` times the saved one is too low; those that were not
    saved; those that were saved for a measured format and are missing now.
    """
    before, now = ({_key(row): row for row in results} for results in (old, new))
    measured = {name for name, _, _ in now}
    comparison: list[dict[str, Any]] = []
    for key in sorted(before.keys() & now.keys()):
        was, result = before[key], now[key]
        ratios = was["ratio"]["median"], result["ratio"]["median"]
        facts = [
            name for name in ("profile", "messages", "rounds") if was.get(name) != result.get(name)
        ]
        comparison.append(
            {
                **_of(key),
                "type": "bench-change",
                "saved_ratio": ratios[0],
                "ratio": ratios[1],
                "change": round(ratios[1] / ratios[0] - 1, 4),
                # Ratios are saved with three digits: a ratio at the limit must not fail by a
                # rounding error.
                "below": ratios[1] < ratios[0] * fail_below - 1e-9,
                "otherwise": ", ".join(
                    f"{name} {result.get(name)} instead of {was.get(name)}" for name in facts
                ),
            }
        )
    comparison += [
        {**_of(key), "type": "bench-added"} for key in sorted(now.keys() - before.keys())
    ]
    gone = sorted(key for key in before.keys() - now.keys() if key[0] in measured)
    return comparison + [{**_of(key), "type": "bench-gone"} for key in gone]


def slower(comparison: Iterable[Mapping[str, Any]]) -> bool:
    """Whether any result of a comparison is below the limit."""
    return any(row.get("below") for row in comparison)


def _key(row: Mapping[str, Any]) -> Key:
    return row["format"], row["level"], row["decoder"]


def _of(key: Key) -> dict[str, Any]:
    return {"format": key[0], "level": key[1], "decoder": key[2]}


def _compared(comparison: Iterable[Mapping[str, Any]], fail_below: float) -> list[Cells]:
    return [
        {
            **_named(row),
            "saved": f"{row['saved_ratio']:.2f}x",
            "now": f"{row['ratio']:.2f}x",
            "change": f"{row['change']:+.1%}",
            "verdict": Text(f"below {fail_below:g} of the saved", "red") if row["below"] else "",
        }
        for row in comparison
        if row["type"] == "bench-change"
    ]


def render_comparison(comparison: Sequence[Mapping[str, Any]], fail_below: float) -> RenderableType:
    """The comparison as a table, then the results without a counterpart."""
    return Group(
        sheet(_compared(comparison, fail_below)),
        *(Text(line, style="yellow") for line in remarks(comparison)),
    )


def remarks(comparison: Sequence[Mapping[str, Any]]) -> list[str]:
    """Results without a counterpart, and results that were measured under other conditions."""
    words = {
        "bench-added": "not in the saved file",
        "bench-gone": "in the saved file, not measured now",
    }
    pairs = (
        (row, words.get(row["type"]) or (row["otherwise"] and f"measured with {row['otherwise']}"))
        for row in comparison
    )
    return [f"{' '.join(_named(row).values())}: {what}" for row, what in pairs if what]


def markdown(
    results: Sequence[Mapping[str, Any]],
    comparison: Sequence[Mapping[str, Any]] | None = None,
    fail_below: float = 0.0,
) -> str:
    """The figures, and the comparison if there is one, as Markdown tables."""
    shown = lines([*map(_measured, results)])
    if comparison is not None:
        shown += [
            "",
            *lines(_compared(comparison, fail_below)),
            "",
            *(f"- {cell(line)}" for line in remarks(comparison)),
        ]
    return "\n".join(shown)
