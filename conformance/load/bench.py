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
from typing import Any, Final, NamedTuple, TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised, DecodeTimeout, write_table
from conformance.engines.specs import DECODERS, decoder_spec
from conformance.files import json_text, put
from conformance.sheets import cell, grid, markdown_table
from generators.bulk import expander
from generators.errors import HarnessError, UsageError
from generators.model import Message
from generators.profiles import Profile
from generators.storage import codec
from generators.wire_format import Format, get, module_name

SEED: Final = 1
"""The seed of the load that is measured."""
REFERENCE: Final = "reference"
"""The name of the reference decoder in results."""
LEVELS: Final = {1: "changes", 2: "rows"}
"""The names of the levels, as `--level` takes them."""
GENERATIONS: Final = 3
"""How often the generation of the load is timed; the median counts."""


SAVED: Final = "cdc-conformance bench"
"""The type of a file of saved results."""


class Key(NamedTuple):
    """What a result was measured of; the results of two runs are compared by it."""

    format: str
    level: int
    decoder: str


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
        _, source = write_table(engine.directory, f"bench-{name}", load)
        note(f"{name}: decoding {len(load)} messages in {rounds} rounds")
        decoders = {REFERENCE: decoder_spec(name, None)} | (
            {decoder: decoder_spec(name, decoder)} if decoder else {}
        )
        request = {
            "parquet": source.parquet,
            "messages": len(load),
            "table": codec.dump_table(expander.load_table()),
            "deployment": codec.dump_deployment(profile.deployment),
            "rounds": rounds,
            "baseline": baseline(name, load[0]),
            "decoders": decoders,
        }
        try:
            answer = engine.ask_service("bench", request, 3600).result()
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
        for contest in answer["results"]:
            results += _entries(head, contest)
    return results


def baseline(name: str, sample: Message) -> str:
    """The specification (`module:object`) of a format's baseline: a plain decoder without checks,
    with which the speed of others is compared. `sample` is one of the messages. If they are JSON
    without a `payload`, as Kafka Connect writes them without a schema, it is the baseline's variant
    for them, which its property `bare` gives.
    """
    spec = f"{DECODERS}.{module_name(name)}:BASELINE"
    is_without_schema = get(name).container == "json" and b'"payload":' not in (sample.value or b"")
    return f"{spec}.bare" if is_without_schema else spec


def plain_profile(fmt: Format[Any]) -> Profile:
    """The profile of a format that is measured: among those without compression, whose cost is not
    the decoder's, the last with the fewest options (parts of its name after a `+`).
    """
    plain: list[Profile] = [p for p in fmt.profiles if p.deployment.compression == "none"]
    return min(reversed(plain), key=lambda profile: profile.name.count("+"))


def generate(fmt: Format[Any], profile: Profile, count: int) -> tuple[list[Message], float]:
    """Makes the messages of `count` units of load (short scenarios). Returns them with the messages
    per second that one process makes, without storing them.
    """
    messages = list(expander.messages(fmt, profile, SEED, count=count))
    seconds = []
    for _ in range(GENERATIONS):
        began = time.perf_counter()
        deque(expander.messages(fmt, profile, SEED, count=count), maxlen=0)
        seconds.append(time.perf_counter() - began)
    return messages, len(messages) / statistics.median(seconds)


def _entries(head: Mapping[str, Any], contest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The report's entries of one contest (decoders measured in turn with the baseline), one for
    each decoder. Each begins with the members of `head`, what all entries of the format have in
    common.
    """
    baseline = contest["baseline"]
    entries: list[dict[str, Any]] = []
    for name, figures in contest["decoders"].items():
        entry = {
            **head,
            "level": contest["level"],
            "decoder": name,
            "per_second": round(figures["per_second"]),
            "baseline_per_second": round(baseline["per_second"]),
            "ratio": {key: round(value, 3) for key, value in figures["ratio"].items()},
            "rows": figures["rows"],
            "baseline_rows": baseline["rows"],
        }
        entries.append(entry)
    return entries


_LEFT: Final = ("format", "profile", "level", "decoder")
"""The columns of texts, which tables align to the left."""


Cells: TypeAlias = Mapping[str, str | Text]
"""A row of a table by its heads."""


def result_table(cells: Sequence[Cells], caption: str | None = None) -> Table:
    """A table, given as a dictionary of column and text for each row, for the terminal, with
    numbers aligned to the right.
    """
    return grid(
        list(cells[0]) if cells else (),
        [list(row_cells.values()) for row_cells in cells],
        _LEFT,
        caption,
    )


def markdown_lines(cells: Sequence[Cells]) -> list[str]:
    """A table, given as a dictionary of column and text for each row, as lines of Markdown; []
    without rows.
    """
    return (
        markdown_table(list(cells[0]), [list(row_cells.values()) for row_cells in cells])
        if cells
        else []
    )


def _result_cells(result: Mapping[str, Any]) -> dict[str, str]:
    """A result of `bench` as text by column: speeds of decoder and baseline, median and range of
    their ratio.
    """
    ratio = result["ratio"]
    return {
        **_name_cells(result),
        "messages/s": f"{result['per_second']:,}",
        "baseline/s": f"{result['baseline_per_second']:,}",
        "ratio": f"{ratio['median']:.2f}x",
        "range": f"{ratio['min']:.2f}..{ratio['max']:.2f}",
        "generated/s": f"{result['generated_per_second']:,}",
    }


def _name_cells(result: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the columns that say what was measured (format, profile, level, decoder), for a
    row of a table; only those that the result has.
    """
    return {
        name: LEVELS[result[name]] if name == "level" else result[name]
        for name in _LEFT
        if name in result
    }


def render(results: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The figures as a table, then warnings about ratios that compare different work."""
    warnings = [
        f"{result['format']} level {result['level']}: {result['decoder']} returns {result['rows']:,} row"
        f" changes, the baseline {result['baseline_rows']:,}: the ratio compares different work"
        for result in results
        if result["rows"] != result["baseline_rows"]
    ]
    rounds = {result["rounds"] for result in results}
    messages = {result["messages"] for result in results}
    size = f"{_join_sorted(rounds)} interleaved rounds over {_join_sorted(messages)} messages"
    caption = Text(f"ratio: speed over the baseline's, median [min..max] of {size}", style="dim")
    return Group(
        result_table([*map(_result_cells, results)]),
        *(Text(line, style="yellow") for line in warnings),
        caption,
    )


def _join_sorted(numbers: set[int]) -> str:
    """The numbers in ascending order with "or" between them, such as "1,000 or 2,000"."""
    return " or ".join(f"{n:,}" for n in sorted(numbers))


def write_results(
    results: Sequence[Mapping[str, Any]], path: Path, versions: Mapping[str, str]
) -> None:
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
        lambda: [json_text(document, indent=1).encode(), b"\n"],
        "the results",
    )


def read_results(path: Path) -> list[dict[str, Any]]:
    """The results that `write_results` wrote. Raises UsageError for a missing or a different
    file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--compare {path}: {error}") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else error
        raise UsageError(f"--compare {path} is not JSON: {what}") from None
    results = (
        document.get("results")
        if isinstance(document, dict) and document.get("type") == SAVED
        else None
    )
    if not isinstance(results, list):
        raise UsageError(f"--compare {path} was not written by bench --save")
    try:
        if all(result["ratio"]["median"] > 0 and len(_key_of_result(result)) for result in results):
            return results
    except (KeyError, TypeError):
        pass
    raise UsageError(
        f"--compare {path} has a result without format, level, decoder or a ratio above 0"
    )


def compare_results(
    old: Iterable[Mapping[str, Any]], new: Iterable[Mapping[str, Any]], fail_below: float
) -> list[dict[str, Any]]:
    """Compares the results of a run of `bench` with saved ones, by format, level and decoder, as
    JSON objects: the change of each ratio, and whether it fell below `fail_below` times the saved
    one; results that were not saved before; and saved ones that are missing now.
    """
    old_by_key = {_key_of_result(result): result for result in old}
    new_by_key = {_key_of_result(result): result for result in new}
    measured_formats = {key.format for key in new_by_key}
    comparison: list[dict[str, Any]] = []
    for key in sorted(old_by_key.keys() & new_by_key.keys()):
        old_result, result = old_by_key[key], new_by_key[key]
        saved_ratio, ratio = old_result["ratio"]["median"], result["ratio"]["median"]
        other_conditions = [
            name
            for name in ("profile", "messages", "rounds")
            if old_result.get(name) != result.get(name)
        ]
        comparison.append(
            {
                **key._asdict(),
                "type": "bench-change",
                "saved_ratio": saved_ratio,
                "ratio": ratio,
                "change": round(ratio / saved_ratio - 1, 4),
                # Ratios are saved with three digits: a ratio at the limit must not fail by a
                # rounding error.
                "below": ratio < saved_ratio * fail_below - 1e-9,
                "otherwise": ", ".join(
                    f"{name} {result.get(name)} instead of {old_result.get(name)}"
                    for name in other_conditions
                ),
            }
        )
    comparison += [
        {**key._asdict(), "type": "bench-added"}
        for key in sorted(new_by_key.keys() - old_by_key.keys())
    ]
    missing_now = sorted(
        key for key in old_by_key.keys() - new_by_key.keys() if key.format in measured_formats
    )
    return comparison + [{**key._asdict(), "type": "bench-gone"} for key in missing_now]


def is_slower(comparison: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a result of a comparison fell below the limit, `fail_below` times the saved ratio."""
    return any(entry.get("below") for entry in comparison)


def _key_of_result(result: Mapping[str, Any]) -> Key:
    """The format, level and decoder of a result. Raises KeyError if one is missing."""
    return Key(result["format"], result["level"], result["decoder"])


def _comparison_cells(comparison: Iterable[Mapping[str, Any]], fail_below: float) -> list[Cells]:
    """The rows of the table that compares this run's ratios with saved ones; one below `fail_below`
    times the saved one is marked.
    """
    return [
        {
            **_name_cells(entry),
            "saved": f"{entry['saved_ratio']:.2f}x",
            "now": f"{entry['ratio']:.2f}x",
            "change": f"{entry['change']:+.1%}",
            "verdict": Text(f"below {fail_below:g} of the saved", "red") if entry["below"] else "",
        }
        for entry in comparison
        if entry["type"] == "bench-change"
    ]


def render_comparison(comparison: Sequence[Mapping[str, Any]], fail_below: float) -> RenderableType:
    """The comparison with saved results as a table, in which a ratio below `fail_below` times the
    saved one is marked, followed by the results that have no counterpart or were measured under
    other conditions.
    """
    return Group(
        result_table(_comparison_cells(comparison, fail_below)),
        *(Text(line, style="yellow") for line in describe_differences(comparison)),
    )


def describe_differences(comparison: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for each result of a comparison that is in one of the two runs only, or was measured
    under other conditions.
    """
    reasons = {
        "bench-added": "not in the saved file",
        "bench-gone": "in the saved file, not measured now",
    }
    lines: list[str] = []
    for entry in comparison:
        reason = reasons.get(entry["type"], "")
        if not reason and entry["otherwise"]:
            reason = f"measured with {entry['otherwise']}"
        if reason:
            lines.append(f"{' '.join(_name_cells(entry).values())}: {reason}")
    return lines


def markdown(
    results: Sequence[Mapping[str, Any]],
    comparison: Sequence[Mapping[str, Any]] | None = None,
    fail_below: float = 0.0,
) -> str:
    """The figures, and the comparison if there is one, as Markdown tables."""
    table_lines = markdown_lines([*map(_result_cells, results)])
    if comparison is not None:
        table_lines += [
            "",
            *markdown_lines(_comparison_cells(comparison, fail_below)),
            "",
            *(f"- {cell(line)}" for line in describe_differences(comparison)),
        ]
    return "\n".join(table_lines)
