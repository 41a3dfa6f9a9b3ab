"""The result of `inspect`: in parts for people, as Markdown, and as a self-contained HTML page with
a JSON file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from conformance.files import json_text, put
from conformance.inspecting.evidence import Sign
from conformance.inspecting.inspector import (
    BOTH,
    NO,
    UNTOLD,
    YES,
    Group,
    Inspector,
    Problem,
    Sample,
    Tally,
    as_json,
    command,
)
from conformance.reports.excerpt import ValueExcerpt, excerpt_value
from conformance.reports.page import environment
from conformance.rules.rules import Citation
from conformance.sheets import markdown_table
from conformance.text import printable

COLUMNS_SHOWN: Final = 40
"""How many columns of a table are shown."""
TABLES_SHOWN: Final = 20
"""How many tables of a writer are shown."""

Block: TypeAlias = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]
"""A title, the heads of a table and its rows; without heads the rows are lines."""


def blocks(inspector: Inspector) -> Iterator[Block]:
    """Yields the result of `inspect` as blocks (title, heads of a table, rows) for the terminal and
    for Markdown. A block without heads is a list.
    """
    groups = inspector.groups()
    message_counts = f"{inspector.messages:,} messages" + (
        f", {inspector.nulls:,} of them null" if inspector.nulls else ""
    )
    formats = "; ".join(map(_possible_formats, groups))
    yield "", (), [(f"{message_counts}: {formats or 'no known format'}",)]
    for group in groups:
        if len(group.tallies) > 1:
            yield "The writer cannot be told", (), list(_undecided_lines(group))
        for tally in group.tallies:
            yield from _writer(tally)
    if inspector.problems:
        problem_rows = [
            (
                f"{p.count:,}",
                ", ".join(p.formats) or "none",
                p.why,
                f"{p.samples[0].place}: {p.samples[0].text}",
            )
            for p in sorted(inspector.problems.values(), key=lambda p: -p.count)
        ]
        if inspector.other_problems:
            problem_rows.append((f"{inspector.other_problems:,}", "", "other reasons", ""))
        yield (
            "Messages that no known profile writes",
            ("messages", "nearest format", "why", "first"),
            problem_rows,
        )


def _possible_formats(group: Group) -> str:
    """The formats that the messages of one writer may be of."""
    return " or ".join(tally.book.format for tally in group.tallies)


def _undecided_lines(group: Group) -> Iterator[tuple[str]]:
    """Sentences on messages whose writer is not decided, each in a tuple: which formats remain
    possible, and what in a message would rule each of them out.
    """
    names = _possible_formats(group)
    yield (f"Nothing tells which wrote {group.messages:,} of the messages: {names}.",)
    every = frozenset.union(*(tally.members for tally in group.tallies))
    for tally in group.tallies:
        against = [f"has the member {name}" for name in sorted(every - tally.members)] + [
            f"`{condition_text}`" for condition_text in tally.never()
        ]
        if against:
            yield (
                (
                    f"A message of which one of these is true is not of {tally.book.format}:"
                    f" {'; '.join(against)}."
                ),
            )


def _writer(tally: Tally) -> Iterator[Block]:
    """The blocks that `inspect` prints on one possible writer of the messages (`tally`): its
    release, options and command line, the evidence, the tables in the messages, and what the format
    loses.
    """
    options = tally.options
    lines = [
        (f"product: {tally.book.product}",),
        (f"messages: {tally.messages:,}",),
        (f"release: {_describe_release(tally)}",),
    ]
    for state, label in ((YES, "options"), (BOTH, BOTH), (UNTOLD, UNTOLD)):
        if options_in_state := [option for option, is_ in options.items() if is_ == state]:
            lines.append((f"{label}: {', '.join(options_in_state)}",))
    if command_line := command(tally):
        lines.append((command_line,))
    yield tally.book.format, (), lines
    evidence_rows = [
        (
            f.sign.says,
            f"{f.count:,}",
            _describe_sign(f.sign, tally),
            f.sign.citation or "the option",
            f"{f.sample.place}",
        )
        for f in tally.observations.values()
    ]
    yield (
        f"{tally.book.format}: evidence",
        ("what is seen", "messages", "tells", "source", "first"),
        evidence_rows,
    )
    tables = [
        (f"{t.database}.{t.table}", f"{t.messages:,}", ", ".join(t.keys), _columns(t.types))
        for t in itertools.islice(tally.tables.values(), TABLES_SHOWN)
    ]
    if tables:
        more = tally.more_tables or len(tally.tables) > TABLES_SHOWN
        title = f"{tally.book.format}: tables" + (f", the first {TABLES_SHOWN}" if more else "")
        yield title, ("table", "messages", "key", "columns"), tables
    if losses := _losses(tally):
        yield f"{tally.book.format}: lost on this wire", ("what", "source", "profiles"), losses


def _describe_release(tally: Tally) -> str:
    """The release that wrote the messages, in words: one, several possible ones, or why it is not
    known. A release without a profile is named with the nearest ones that have profiles.
    """
    if tally.unknown_versions:
        nearest_releases = ", ".join(tally.releases) or BOTH
        return (
            f"{', '.join(tally.unknown_versions)}, which no profile is of; the nearest that one is"
            f" of: {nearest_releases}"
        )
    if len(tally.choices.releases) == 1 and tally.releases and not tally.versions:
        return f"{UNTOLD}: every profile is of {tally.choices.releases[0]}"
    return _describe_range(tally.releases, tally.choices.releases) if tally.releases else BOTH


def _describe_sign(sign: Sign, tally: Tally) -> str:
    """What a sign tells of the writer, in words: releases (if fewer than all of the format),
    options that are set, and options that are not.
    """
    parts = []
    if sign.releases and set(sign.releases) != set(tally.choices.releases):
        parts.append(f"release {_describe_range(sign.releases, tally.choices.releases)}")
    parts += [*sign.given, *(f"not {option}" for option in sign.without)]
    return ", ".join(parts)


def _describe_range(chosen_releases: Sequence[str], all_releases: Sequence[str]) -> str:
    """Some of a format's releases in few words: `v1`, `v1 or v2`, `v1 to v3`, `v3 or later`. Both
    sequences are in the order of the releases, and the first is not empty. Releases with a gap
    between them, and one or two that do not reach to the last release, are listed one by one.
    """
    first, last = all_releases.index(chosen_releases[0]), all_releases.index(chosen_releases[-1])
    if (len(chosen_releases) < 3 and last + 1 < len(all_releases)) or last - first + 1 != len(
        chosen_releases
    ):
        return " or ".join(chosen_releases)
    if len(chosen_releases) == 1:
        return chosen_releases[0]
    return (
        f"{chosen_releases[0]} or later"
        if last + 1 == len(all_releases)
        else f"{chosen_releases[0]} to {chosen_releases[-1]}"
    )


def _columns(types: dict[str, list[str]]) -> str:
    """The columns of a table in words, each with the types that messages show for it; columns
    beyond the first COLUMNS_SHOWN are only counted.
    """
    described_columns = [
        f"{name} {' or '.join(kinds)}"
        for name, kinds in itertools.islice(types.items(), COLUMNS_SHOWN)
    ]
    return ", ".join(described_columns) + (
        f", and {len(types) - COLUMNS_SHOWN} more" if len(types) > COLUMNS_SHOWN else ""
    )


_TONES: Final = {YES: "good", NO: "soft", UNTOLD: "warn", BOTH: "bad"}
"""The CSS class that colours the state of an option."""


@dataclass(frozen=True, slots=True)
class SampleExcerpt:
    """A sample message as the page shows it; `place` says where it stands in the input."""

    place: str
    excerpt: ValueExcerpt

    @classmethod
    def of_sample(cls, sample: Sample) -> SampleExcerpt:
        """The whole kept part of a sample message, with a note on its size."""
        view = excerpt_value(sample.body, limit=len(sample.body or b""))
        less = sample.size > len(sample.body or b"")
        note = (
            f"the first {len(sample.body or b''):,} of {sample.size:,} bytes"
            if less
            else f"{sample.size:,} bytes"
        )
        return cls(sample.place, replace(view, note=note))


def _cited(where: str) -> Citation | None:
    """A source as a citation with a link; None for "", no source."""
    return Citation(where) if where else None


def _view(tally: Tally) -> dict[str, Any]:
    """What the page of `inspect` shows of one possible writer: its release and options, each with
    the evidence that decides it, tables and losses.
    """
    evidence: list[dict[str, Any]] = [
        {
            "anchor": f"{tally.book.format}-{number}",
            "sign": entry.sign,
            "count": entry.count,
            "tells": _describe_sign(entry.sign, tally),
            "source": _cited(entry.sign.citation),
            "message": SampleExcerpt.of_sample(entry.sample),
        }
        for number, entry in enumerate(tally.observations.values(), 1)
    ]
    narrowing = [
        e
        for e in evidence
        if e["sign"].releases and set(e["sign"].releases) != set(tally.choices.releases)
    ]
    release_reason = (
        "the messages name it"
        if tally.versions
        else "which of the known releases write such messages"
    )
    tone = "bad" if not tally.releases else "good" if narrowing or tally.versions else "warn"
    decided = [("release", _describe_release(tally), tone, release_reason, narrowing)]
    for option, state in tally.options.items():
        groups = (group for group in tally.choices.exclusive if option in group)
        rivals = set(itertools.chain.from_iterable(groups)) - {option}
        by = [
            e
            for e in evidence
            if option in (*e["sign"].given, *e["sign"].without)
            or not rivals.isdisjoint(e["sign"].given)
        ]
        decided.append((option, state, _TONES[state], tally.choices.options[option], by))
    losses = [
        (loss_text, _cited(citation), profiles) for loss_text, citation, profiles in _losses(tally)
    ]
    return {
        "tally": tally,
        "decided": decided,
        "evidence": evidence,
        "losses": losses,
        "command": command(tally),
    }


def _view_group(group: Group) -> tuple[list[str], list[dict[str, Any]]]:
    """The messages of one writer as the page shows them: what would decide between several formats,
    and each of the formats.
    """
    undecided = [line for (line,) in _undecided_lines(group)] if len(group.tallies) > 1 else []
    return undecided, list(map(_view, group.tallies))


def _losses(tally: Tally) -> list[tuple[str, str, str]]:
    """For the page of `inspect`: what the writer's messages lose of the source's values, each loss
    as (sentence, its source, the profiles that have it).
    """
    profile_count = len(tally.profiles())
    return [
        (loss_text, citation, "every one" if len(names) == profile_count else ", ".join(names))
        for (loss_text, citation), names in tally.losses().items()
    ]


def page(inspector: Inspector) -> str:
    """The result of `inspect` as one self-contained HTML page."""
    groups = inspector.groups()
    problems = sorted(inspector.problems.values(), key=lambda p: -p.count)
    is_decided = all(len(group.tallies) == 1 for group in groups)
    problem_views: list[tuple[Problem, list[SampleExcerpt]]] = []
    for problem in problems:
        problem_views.append((problem, list(map(SampleExcerpt.of_sample, problem.samples))))
    content = {
        "inspector": inspector,
        "formats": "; ".join(map(_possible_formats, groups)) or "no known format",
        "tone": "good" if groups and not problems and is_decided else "warn",
        "groups": list(map(_view_group, groups)),
        "problems": problem_views,
    }
    return environment().get_template("inspection.html.j2").render(page=content)


def write(inspector: Inspector, directory: Path) -> list[Path]:
    """Writes inspection.html and inspection.json. Raises HarnessError if writing fails."""
    document = json_text(as_json(inspector), indent=1)
    return [
        put(
            directory / "inspection.html",
            lambda: [page(inspector).encode("utf-8", "backslashreplace")],
        ),
        put(
            directory / "inspection.json",
            lambda: [f"{document}\n".encode("utf-8", "backslashreplace")],
        ),
    ]


def markdown(inspector: Inspector) -> str:
    """The result of `inspect` (format, release and options of messages of unknown origin) as
    Markdown.
    """
    lines: list[str] = []
    for title, heads, block_rows in blocks(inspector):
        lines += [f"## {title}", ""] if title else []
        if heads:
            lines += markdown_table(heads, block_rows)
        else:
            lines += [
                f"- {printable(block_row[0])}" if title else printable(block_row[0])
                for block_row in block_rows
            ]
        lines.append("")
    return "\n".join(lines)
