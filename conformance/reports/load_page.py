"""A load's result as JSON, a terminal's table, Markdown, and one self-contained HTML page with
plots.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.files import json_text, put
from conformance.judging.results import versions
from conformance.judging.wording import clip
from conformance.load.figures import Step, quantile
from conformance.load.sustained import LoadResult
from conformance.reports.console import failure
from conformance.reports.excerpt import BRIEF
from conformance.reports.page import environment
from conformance.sheets import cell, grid, markdown_table
from conformance.text import printable, printable_lines

LEVELS: Final = {1: "changes", 2: "rows"}
"""The name of each level of decoding for users."""
SHARES: Final = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
"""The percentiles that are reported of lags and durations, as (name, share)."""
POINTS: Final = 300
"""Limit of a plot's points; of more batches the longest of each group is kept."""
TEMPLATE: Final = "load.html.j2"
"""The template of the page."""
TRIED: Final = ("rate", "offered", "verdict")
"""The heads of the table of rates that a search for the highest rate tried."""
KEEPS: Final = "keeps up"
"""The verdict on a rate at which the decoder keeps up."""


def headline(outcome: LoadResult) -> tuple[str, str]:
    """The verdict as a word and as a sentence. The words: keeps up, falls behind, failed, wrong,
    not offered, interrupted.
    """
    step, settings = outcome.step, outcome.settings
    at = f"{step.rate if step else settings.rate:,.0f}/s"
    if outcome.interrupted:
        return (
            "interrupted",
            f"interrupted at {at}" if step else "interrupted before the load began",
        )
    if outcome.failed:
        return "failed", f"the decoder fails at {at}: {outcome.failed.partition(chr(10))[0]}"
    if step is None:
        return "failed", "nothing was sent"
    keeps_up, why = step.judgement()
    if settings.search:
        sentence = (
            f"keeps up at up to {at}"
            if keeps_up
            else f"falls behind at every rate tried, down to {_lowest(outcome):,.0f}/s"
        )
    else:
        sentence = f"keeps up at {at}" if keeps_up else f"falls behind at {at}: {why}"
    word = "keeps up" if keeps_up else "falls behind"
    if keeps_up and step.is_producer_slow:
        word = "not offered"
        sentence = f"keeps up at {step.send_rate:,.0f}/s, all that the producer offered of {at}"
    elif keeps_up and (speed := step.speed) is not None and speed < step.rate:
        sentence += (
            f"; the run is too short to be sure, since a batch decodes {speed:,.0f}/s while it runs"
        )
    if problems := _describe_wrong_rows(outcome):
        return ("wrong" if keeps_up else word), f"{sentence}, but {problems}"
    return word, sentence


def _lowest(outcome: LoadResult) -> float:
    """The lowest rate that a search tried, in messages a second."""
    return min(step.rate for step in outcome.steps)


def _describe_wrong_rows(outcome: LoadResult) -> str:
    """What is wrong with the decoder's rows under load, in words: messages without a row or with
    two (the difference of both numbers), messages read as CORRUPT, and findings in the sample if
    one breaks a MUST. "" if nothing is, however slow the decoder was.
    """
    problems = []
    if outcome.missing > 0:
        problems.append(f"{outcome.missing:,} of {outcome.owed:,} messages have no row")
    elif outcome.missing < 0:
        problems.append(f"{-outcome.missing:,} messages have two rows numbered 0")
    elif not outcome.complete:
        problems.append("some messages have no row and others have two")
    if outcome.corrupt:
        problems.append(f"{outcome.corrupt:,} are read as CORRUPT")
    if outcome.sample.breaks_must:
        finding_count = sum(outcome.sample.findings.values())
        problems.append(
            f"{finding_count:,} findings in {outcome.sample.messages:,} sampled messages"
        )
    return " and ".join(problems)


def record(outcome: LoadResult) -> dict[str, Any]:
    """The whole result as one JSON-able object.

    Lags and durations are seconds, rates messages a second. `timeline` has a point a second of the
    measured step (`t` from its first acknowledged message), `batches` its micro-batches (thinned),
    `search` every step. `accounted` is false if not everything was decoded: what is missing is
    unknown. `producers` is the number of Spark's tasks that published, or null. The lags are those
    of `lag_sample` messages.
    """
    settings, step = outcome.settings, outcome.step
    word, sentence = headline(outcome)
    return {
        "type": "load",
        "format": settings.format,
        "profile": outcome.profile,
        "decoder": settings.decoder or "reference",
        "level": outcome.level,
        "verdict": word,
        "headline": sentence,
        "exit_code": outcome.exit_code,
        "failed": outcome.failed,
        "rate": step.rate if step else settings.rate,
        "duration_s": settings.duration_s,
        "trigger_ms": settings.trigger_ms,
        "partitions": settings.partitions,
        "producers": settings.producers,
        "seed": settings.seed,
        "broker": outcome.broker,
        "query": (
            {
                "stream": "one streaming query",
                "batches": "the decoder called for each batch",
            }.get(outcome.mode, "")
        ),
        "figures": figures(outcome, step) if step else {},
        "kinds": {kind: count for kind, count in outcome.kinds.items() if count},
        "owed": outcome.owed,
        "missing": outcome.missing,
        "complete": outcome.complete,
        "accounted": outcome.accounted,
        "sample": {
            "messages": outcome.sample.messages,
            "verdicts": {str(k): v for k, v in outcome.sample.verdicts.items()},
            "findings": dict(outcome.sample.findings),
            "shown": [
                {
                    "rule": f.rule.id,
                    "statement": f.rule.statement,
                    "case": f.finding.case,
                    "path": f.finding.path,
                    "expected": f.finding.expected,
                    "actual": f.finding.actual,
                }
                for f in outcome.sample.failures[:5]
            ],
        },
        "search": list(map(_search_step, outcome.steps)) if settings.search else [],
        "timeline": timeline(step) if step else [],
        "batches": _batches(step) if step else [],
        "versions": versions(),
        "machine": {"system": platform.platform(), "processors": os.cpu_count()},
    }


def _search_step(step: Step) -> dict[str, Any]:
    """One rate that a search for the highest rate tried, as a JSON-able object; `keeps_up` says
    whether the decoder kept up with it, `why` why not.
    """
    keeps_up, why = step.judgement()
    return {
        "rate": step.rate,
        "keeps_up": keeps_up,
        "why": why,
        "offered": round(step.send_rate, 1),
        "growth": round(step.growth, 1),
    }


def figures(outcome: LoadResult, step: Step) -> dict[str, Any]:
    """The figures of a load at one rate (speed, lag, backlog ...) as a JSON-able object; None for
    what was not measured.
    """
    lags = step.lags()
    backlog = step.backlog()
    seconds = [(batch.seconds, 1.0) for batch in step.batches]
    decoded, published = sum(batch.messages_read for batch in step.batches), step.published
    # Spark's tasks report at their end alone.
    is_final = bool(published) or not outcome.settings.producers
    until = (step.ticks[-1][1] if step.ticks else 0) if is_final else None
    return {
        "sent": published.get("sent", until),
        "acknowledged": published.get("acknowledged", until),
        "not_delivered": published.get("failed", 0 if is_final else None),
        "offered_per_second": round(step.send_rate, 1) if is_final else None,
        "publish_ms": {
            "p50": published.get("p50_ms"),
            "p99": published.get("p99_ms"),
            "max": published.get("max_ms"),
        },
        "decoded": decoded,
        "decoded_per_busy_second": None if step.speed is None else round(step.speed, 1),
        "publish_cpu_s": _rounded(published.get("cpu_s")),
        "lag_sample": len(lags),
        "lag_s": {name: _rounded(quantile(lags, share)) for name, share in SHARES},
        "batch_s": {name: _rounded(quantile(seconds, share)) for name, share in SHARES},
        "batches": len(step.batches),
        "planning_s": round(sum(batch.planning_ms for batch in step.batches) / 1000, 3),
        "backlog_max": max((size for _, size in backlog), default=0) if is_final else None,
        "backlog_growth_per_second": round(step.growth, 1) if is_final else None,
        "drained_s": _rounded(step.drained_s),
    }


def _rounded(value: float | None) -> float | None:
    """A number with three decimals; None stays."""
    return None if value is None else round(value, 3)


def timeline(step: Step) -> list[dict[str, float | None]]:
    """The course of a load at one rate, a point for each second (or more, if it took long):
    messages acknowledged (`in`) and decoded (`out`) a second in that time, and the backlog at its
    end. The messages of a batch are spread evenly over its duration.
    """
    if not step.ticks:
        return []
    end = max([step.last_acknowledged, *(batch.ended for batch in step.batches)])
    count = min(max(1, math.ceil(end - step.began)), 24 * 3600)
    width = max(1, math.ceil(count / POINTS))
    points: list[dict[str, float | None]] = []
    backlog, ticks = step.backlog(), step.ticks
    next_point = next_tick = acked_before = waiting_messages = 0
    for second in range(0, count, width):
        low, high = step.began + second, step.began + second + width
        while next_tick < len(ticks) and ticks[next_tick][0] <= high:
            next_tick += 1
        while next_point < len(backlog) and backlog[next_point][0] <= high:
            _, waiting_messages = backlog[next_point]
            next_point += 1
        acked = ticks[next_tick - 1][1] if next_tick else 0
        decoded = sum(
            batch.messages_read
            * max(0.0, min(high, batch.ended) - max(low, batch.began))
            / max(batch.seconds, 1e-3)
            for batch in step.batches
        )
        points.append(
            {
                "t": second + width,
                "in": (acked - acked_before) / width,
                "out": round(decoded / width, 1),
                "backlog": waiting_messages,
            }
        )
        acked_before = acked
    return points


def _batches(step: Step) -> list[dict[str, float | None]]:
    """The micro-batches of a load with their lags, as JSON-able objects, at most POINTS. If there
    are more batches, neighbours are grouped, and of each group the batch that took longest is
    given.
    """
    size = max(1, math.ceil(len(step.batches) / POINTS))
    groups = [step.batches[i : i + size] for i in range(0, len(step.batches), size)]
    points: list[dict[str, float | None]] = []
    for batch in (max(group, key=lambda b: b.seconds) for group in groups):
        lags = [(batch.ended - at, weight) for at, weight in step.table.times_within(batch.offsets)]
        point = {
            "t": round(batch.ended - step.began, 3),
            "seconds": round(batch.seconds, 3),
            "messages": batch.messages_read,
        }
        points.append(
            {**point, **{f"lag_{name}": _rounded(quantile(lags, share)) for name, share in SHARES}}
        )
    return points


def figure_rows(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures of a load as (name, value) texts, for a table."""
    facts: Mapping[str, Any] = result["figures"]
    if not facts:
        return []
    lag, batch, publish = facts["lag_s"], facts["batch_s"], facts["publish_ms"]
    growth, drained = facts["backlog_growth_per_second"], facts["drained_s"]
    drain = "not all of it" if drained is None else f"the rest in {drained:.1f} s"
    if not result["accounted"]:
        account = "not known: not everything was decoded"
    elif result["complete"]:
        account = "every one, once"
    else:
        account = _missing(result["missing"])
    sample, lag_sample, cpu = result["sample"], facts["lag_sample"], facts["publish_cpu_s"]
    backlog = (
        "not known"
        if growth is None
        else f"at most {facts['backlog_max']:,} messages; {growth:+,.0f}/s in the second half"
    )
    broken = sum(sample["findings"].values())
    return [
        (
            "rate",
            f"{result['rate']:,.0f}/s asked for, {_count(facts['offered_per_second'])}/s offered",
        ),
        (
            "messages",
            ", ".join(
                f"{_count(facts[name])} {name.replace('_', ' ')}"
                for name in ("acknowledged", "not_delivered", "decoded")
            ),
        ),
        ("decoding speed", f"{_number(facts['decoded_per_busy_second'])}/s while a batch runs"),
        *(
            [("CPU of publishing", f"{1e6 * cpu / facts['acknowledged']:,.1f} µs a message")]
            if cpu and facts["acknowledged"]
            else []
        ),
        (
            "lag, end to end",
            _seconds(lag) + ("" if lag_sample is None else f"; of {lag_sample:,} sampled messages"),
        ),
        ("batches", f"{facts['batches']:,}; {_seconds(batch)}"),
        ("backlog", f"{backlog}; {drain}"),
        (
            "publishing",
            (
                f"p50 {_number(publish['p50'])} ms, p99 {_number(publish['p99'])} ms, max"
                f" {_number(publish['max'])} ms"
            ),
        ),
        ("offsets accounted for", account),
        ("sample", f"{sample['messages']:,} messages judged, {broken:,} findings"),
    ]


def _count(value: float | None) -> str:
    """A number of messages as text; None is not known."""
    return "an unknown number" if value is None else f"{value:,.0f}"


def _missing(count: int) -> str:
    """Says how many messages the decoder did not return: `count` is expected minus decoded,
    negative for too many. 0 means here that as many are missing as come twice.
    """
    if count > 0:
        return f"{count:,} missing"
    return f"{-count:,} too many" if count else "some missing, others twice"


def _number(value: float | None) -> str:
    """A measured number as text, with a decimal below 100; "-" if it is not known."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"


def _seconds(values: Mapping[str, float | None]) -> str:
    """Named durations (such as percentiles of the lag) as text; "-" for an unknown one."""
    return ", ".join(
        f"{name} {'-' if value is None else f'{value:.2f} s'}" for name, value in values.items()
    )


def subject(result: Mapping[str, Any]) -> str:
    """What was put under load and how, in one line: format, profile, level, decoder, trigger,
    partitions, producers, seed and broker.
    """
    by = f"{result['producers']} on executors publish, " if result["producers"] else ""
    return (
        f"{result['format']} {result['profile']}, level {LEVELS[result['level']]}, decoder"
        f" {result['decoder']}, trigger {result['trigger_ms']} ms, {result['partitions']}"
        f" partitions, {by}seed {result['seed']}, broker {result['broker']}"
    )


def render(outcome: LoadResult) -> RenderableType:
    """The result of `load` for a terminal: up to five broken rules, the rates that a search tried,
    the figures, the verdict. Each rate is a line of the rate asked for, the rate offered, and a
    sentence, which is KEEPS if the decoder kept up.
    """
    result = record(outcome)
    parts: list[RenderableType] = [failure(f) for f in outcome.sample.failures[:5]]
    if outcome.failed:
        parts.append(Text(printable_lines(outcome.failed), style="red"))
    if search := _search_rows(result):
        parts.append(
            grid(
                TRIED,
                (
                    (*rates, Text(sentence, "green" if sentence == KEEPS else "red"))
                    for *rates, sentence in search
                ),
            )
        )
    table = Table(show_header=False, pad_edge=False, box=None)
    for what, amount in figure_rows(result):
        table.add_row(Text(what, "dim"), Text(amount))
    parts += [table, Text(printable(subject(result)), style="dim")]
    parts.append(
        Text(
            printable(f"{result['format']}: {result['headline']}"),
            style="bold" if outcome.exit_code == 0 else "bold red",
        )
    )
    return Group(*parts)


def markdown(outcome: LoadResult) -> str:
    """The result of `load` as Markdown, for a pull request."""
    result = record(outcome)
    lines = [
        f"**{cell(result['format'])}: {cell(result['headline'])}**",
        "",
        *markdown_table(("what", "how much"), figure_rows(result)),
    ]
    if search := _search_rows(result):
        lines += ["", *markdown_table(TRIED, search)]
    if failures_to_show := result["sample"]["shown"]:
        texts: list[list[str]] = []
        for failure in failures_to_show:
            columns = ("rule", "path", "expected", "actual")
            texts.append([clip(failure[column], BRIEF) for column in columns])
        lines += ["", *markdown_table(("rule", "at", "expected", "actual"), texts)]
    return "\n".join([*lines, "", cell(subject(result)) + "."])


def _search_rows(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The rows of the table of rates that a search tried: the rate asked for, the rate offered, and
    the verdict.
    """
    verdicts = (
        KEEPS if attempt["keeps_up"] else f"falls behind: {attempt['why']}"
        for attempt in result["search"]
    )
    return [
        (f"{attempt['rate']:,.0f}/s", f"{attempt['offered']:,.0f}/s", sentence)
        for attempt, sentence in zip(result["search"], verdicts, strict=True)
    ]


WIDTH, HEIGHT = 400, 220
"""The size of a plot, in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 10, 24
"""The margins of a plot outside its axes, in pixels."""


def ticks(largest: float, count: int = 4) -> list[float]:
    """Round numbers from 0 to at least `largest`, about `count` of them."""
    if not largest > 0:
        return [0.0, 1.0]
    rough = largest / count
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * (1 - 1e-9))
    return [step * i for i in range(math.ceil(largest / step - 1e-9) + 1)]


def _tick(value: float) -> str:
    """The label of a mark on a plot's y axis, such as 2k for 2000 and 1.5M for 1500000."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def plot(
    title: str,
    unit: str,
    lines: Sequence[tuple[str, Sequence[tuple[float, float | None]]]],
    end: float,
    bars: bool = False,
) -> dict[str, Any]:
    """Lines of (seconds, value) as a plot; a None breaks a line. With `bars` the first line's
    points are bars.

    `ys` and `xs` are (place, text) of the axes' ticks, `lines` (name, colour, SVG path), `bars` (x,
    y, width, height).
    """
    values: list[float] = []
    for _, points in lines:
        values += (y for _, y in points if y is not None)
    marks = ticks(max(values, default=0.0))
    across = ticks(end, 5)
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(value: float) -> float:
        """Where the second `value` stands from the left, in pixels."""
        return round(LEFT + wide * value / max(end, 1e-9), 1)

    def y(value: float) -> float:
        """Where an amount stands from the top, in pixels."""
        return round(TOP + high * (1 - value / marks[-1]), 1)

    drawn, blocks = [], []
    for place, (name, points) in enumerate(lines):
        path, pen = [], "M"
        for at, value in points:
            if value is None:
                pen = "M"
                continue
            path.append(f"{pen}{x(at)} {y(value)}")
            pen = "L"
            if bars and place == 0:
                bar_start = x(max(0.0, at - value))
                blocks.append(
                    (
                        bar_start,
                        y(value),
                        round(max(1.0, x(at) - bar_start - 1), 1),
                        round(y(0) - y(value), 1),
                    )
                )
        drawn.append((name, "abc"[place % 3], "" if bars and place == 0 else " ".join(path)))
    ys = [(y(value), _tick(value)) for value in marks]
    xs = [(x(value), f"{value:g} s") for value in across if value <= end * 1.001]
    box = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT}
    return {"title": title, "unit": unit, "lines": drawn, "ys": ys, "xs": xs, "bars": blocks, **box}


def plots(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The charts of the page of `load`: rates, backlog, lag and duration of batches over time; a
    chart without measurements is left out.
    """
    line, batches = result["timeline"], result["batches"]
    if not line:
        return []
    end = max([line[-1]["t"], *(batch["t"] for batch in batches)])

    def over(name: str) -> list[tuple[float, float | None]]:
        """A figure of the timeline as (seconds, value) points."""
        return [(point["t"], point[name]) for point in line]

    def by_batch(name: str) -> list[tuple[float, float | None]]:
        """A figure of the batches as (seconds, value) points."""
        return [(batch["t"], batch[name]) for batch in batches]

    return [
        plot("Rate", "messages/s", [("acknowledged", over("in")), ("decoded", over("out"))], end),
        plot("Backlog", "messages", [("waiting", [(0.0, 0.0), *over("backlog")])], end),
        plot(
            "Lag, end to end",
            "seconds",
            [(name, by_batch(f"lag_{name}")) for name in ("p50", "p95", "p99")],
            end,
        ),
        plot("Batch duration", "seconds", [("a batch", by_batch("seconds"))], end, bars=True),
    ]


def html(result: Mapping[str, Any]) -> str:
    """The result of `load` as one self-contained HTML page without scripts."""
    page = environment().get_template(TEMPLATE)
    return page.render(
        result=result,
        rows=figure_rows(result),
        plots=plots(result),
        subject=subject(result),
        good=result["exit_code"] == 0,
    )


def write(outcome: LoadResult, directory: Path) -> list[Path]:
    """Writes load.json and load.html into the directory, creating it if needed. Raises
    HarnessError.
    """
    result = record(outcome)
    return [
        put(
            directory / "load.json",
            lambda: [json_text(result, indent=1).encode(), b"\n"],
        ),
        put(directory / "load.html", lambda: [html(result).encode("utf-8", "backslashreplace")]),
    ]
