"""Batch decode throughput of the reference decoders, and of a user's, against the baseline (DESIGN 9).

The child process measures; here the load is made, which is itself timed, and the figures are put together.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from conformance.engine import DECODERS, ChildDied, ChildEngine, DecodeRaised, DecodeTimeout, write_records
from generators import bulk, codec
from generators.errors import HarnessError, UsageError
from generators.formats.base import Format, Profile, get, module_name
from generators.model import Message

SEED: Final = 1
REFERENCE: Final = "reference"
GENERATIONS: Final = 3
"""How often the load is made; the median counts."""


class BenchFailed(HarnessError):
    """A decoder raised, or took its process down, while it was measured."""

    exit_code = 1


def bench(
    engine: ChildEngine, formats: Sequence[str], decoder: str | None, messages: int, rounds: int, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """One JSON-able object per format, level and decoder.

    `per_second` and `baseline_per_second` are messages by the median round, `ratio` is the decoder's speed over the baseline's in
    the same round (median, min, max), `rows` and `baseline_rows` the row changes that each found, `generated_per_second` the
    messages that one process makes, `bytes` the size of keys and values. Level one is measured against the baseline's maps, level
    two against its typed rows. Raises UnknownName, UsageError for sizes below 1, BenchFailed.
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
        decoders = {REFERENCE: f"{DECODERS}.{module_name(name)}"} | ({decoder: decoder} if decoder else {})
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
    """The specification of a format's baseline, which is named as its module; `bare` reads messages without Connect's schema,
    of which `sample` is one when it is JSON and has no `payload`."""
    spec = f"{DECODERS}.baseline:{module_name(name).upper()}"
    return spec if get(name).container == "avro" or b'"payload":' in (sample.value or b"") else f"{spec}.bare"


def plain_profile(fmt: Format[Any]) -> Profile:
    """The format's last profile whose messages are not compressed as a whole: that cost belongs to no decoder."""
    found: list[Profile] = [p for p in fmt.profiles if p.deployment.compression == "none"]
    return found[-1]


def generate(fmt: Format[Any], profile: Profile, count: int) -> tuple[list[Message], float]:
    """`count` units of load, and how many messages a second one process makes when nothing keeps them."""
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
    """The figures as a table, and under it what makes a comparison void."""
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
            {1: "changes", 2: "rows"}[one["level"]],
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
            f"{one['format']} level {one['level']}: {one['decoder']} finds {one['rows']:,} row changes, the baseline "
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
