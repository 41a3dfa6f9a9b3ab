"""Recorded messages as cases, and as an audit of the writers.

A recording is one run of a product: its messages, and the truth taken by SQL. The product's module
cuts it into episodes: a history made of the truth alone, and the messages that were published for
it. Expectations come from the history, the bytes from the product. The audit gives the same history
to our writer under the same profile and compares bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from generators.drawing.cases import LAYOUT, case_of
from generators.errors import HarnessError, Refused
from generators.model import (
    Case,
    Cell,
    Change,
    History,
    Image,
    Layout,
    Message,
    Origin,
    Scenario,
    State,
    Written,
)
from generators.profiles import Profile
from generators.wire_format import Format

RECORDED: Final = "recorded"
"""The tag of recorded cases, and a part of their ids."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One run of a product. `profile` is the writer's profile of the same release and options, ""
    if there is none. `how` says how the run was recorded. `truth` names the document of what SQL
    showed; `count` is the number of messages (generators.recorded.store has both). `volatile`
    blanks what differs from run to run (ids, positions, clock times) in a key or value. `facts` are
    fields of the profile that were different in this run (a time zone, a limit). `layout` is the
    topic that the run wrote to.
    """

    name: str
    product: str
    format: str
    profile: str
    release: str
    server: str
    options: str
    how: str
    truth: str = ""
    count: int = 0
    volatile: Callable[[bytes], bytes] = field(default=lambda data: data, compare=False)
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    layout: Layout = LAYOUT


@dataclass(frozen=True, slots=True)
class Lost:
    """Cells whose value the product itself loses, so that a decoder need not return it. `table` and
    `column` are exact names, "" for every one; `only` says whether a value is lost. `loss` is a
    sentence; `citation` is a fact of the catalogue of sources.
    """

    loss: str
    citation: str
    table: str = ""
    column: str = ""
    only: Callable[[Any], bool] = lambda _value: True

    def covers(self, table: str | None, column: str, cell: Cell) -> bool:
        """Whether the product loses this cell of this table and column."""
        return (
            self.table in ("", table)
            and self.column in ("", column)
            and (cell.value is None or self.only(cell.value))
        )


@dataclass(frozen=True, slots=True)
class Episode:
    """A history made from the truth, and the recorded messages of its events.

    `name` is unique within the recording (a table, a statement). `level` is 2 if all messages are
    rows of one table that can be judged at both levels. `limits` say how the environment of the run
    explains differences of our bytes; `writer_gaps` say what our writer cannot do yet, which
    explains nothing. `judged` is False if a decoder should notice the limit: then the episode is no
    case. `timed`: the truth has positions and times of commits, so that they are judged.
    `unrecorded` are the numbers of the events whose messages are not in the recording.
    """

    recording: Recording
    name: str
    history: History
    messages: tuple[Message, ...]
    level: int = 1
    lost: tuple[Lost, ...] = ()
    limits: tuple[str, ...] = ()
    writer_gaps: tuple[str, ...] = ()
    judged: bool = True
    tags: frozenset[str] = frozenset()
    timed: bool = False
    unrecorded: frozenset[int] = frozenset()

    @property
    def case_id(self) -> str:
        """The id of the episode's case at level one. At level two `/typed` follows it."""
        return f"{self.recording.format}/{RECORDED}/{self.recording.name}/{self.name}"


class Mismatch(HarnessError):
    """Our writer writes another number of messages for an episode than the product published."""


def written_for(fmt: Format[Any], profile: Profile, episode: Episode) -> tuple[Written, ...]:
    """The messages that our writer makes of the episode's history, one for each recorded message.
    Raises Mismatch if it makes another number of them.
    """
    all_messages = fmt.write(
        episode.history, replace(profile, **episode.recording.facts), episode.recording.layout
    )
    ours = tuple(
        message for message in all_messages if message.message.event not in episode.unrecorded
    )
    if len(ours) != len(episode.messages):
        raise Mismatch(
            f"{fmt.name}/{episode.recording.name}/{episode.name}: {len(ours)} messages,"
            f" {len(episode.messages)} recorded"
        )
    return ours


def cases(fmt: Format[Any], profile: Profile, episode: Episode) -> Iterator[Case]:
    """The cases of an episode, `<format>/recorded/<recording>/<episode>`: one at level one, and one
    at level two, `.../typed`, where that is possible. What only the bytes hold (schema version,
    position, commit time) is not judged.

    An episode for which our writer writes another number of messages is one case without messages,
    which says so.
    """
    try:
        written_messages = written_for(fmt, profile, episode)
    except (Mismatch, Refused) as error:
        deployment = replace(profile, **episode.recording.facts).deployment
        yield Case(
            *(
                episode.case_id,
                fmt.name,
                profile.name,
                deployment,
                1,
                (),
                (),
                episode.tags | {RECORDED},
                Origin.RECORDED,
            ),
            unmatched=f"our writer does not match this recording: {error}",
        )
        return
    profile = replace(profile, **episode.recording.facts)
    for level in range(1, episode.level + 1 if episode.judged else 1):
        case_id = episode.case_id + ("/typed" if level == 2 else "")
        scenario = Scenario(
            case_id.partition("/")[2], episode.history, level, episode.tags | {RECORDED}
        )
        pairs: list[Written] = []
        for message, ours in zip(episode.messages, written_messages, strict=True):
            case_message = replace(
                message,
                case=case_id,
                event=ours.message.event,
                timestamp_ms=ours.message.timestamp_ms,
            )
            changes = tuple(_without_unjudged(change, episode) for change in ours.changes)
            pairs.append(Written(case_message, changes))
        yield case_of(fmt, profile, scenario, case_id, tuple(pairs), Origin.RECORDED)


def _without_unjudged(change: Change, episode: Episode) -> Change:
    """The expected change of a recorded message without what is not judged: any value is allowed in
    cells that the product loses, and what only the bytes hold is left out: the schema version, and
    position and commit time, unless the truth has these (`timed`).
    """

    def keep_judged(image: Image | None) -> Image | None:
        """The image with any value allowed in each cell that the product loses in this episode;
        None if there is none.
        """
        if image is None:
            return None
        return {
            name: _cell_or_lost(change.table, name, cell, episode.lost)
            for name, cell in image.items()
        }

    return replace(
        change,
        position=change.position if episode.timed else None,
        commit_time_us=change.commit_time_us if episode.timed else None,
        schema_version=None,
        before=keep_judged(change.before),
        after=keep_judged(change.after),
        full_before=keep_judged(change.full_before),
        full_after=keep_judged(change.full_after),
    )


def _cell_or_lost(table: str | None, name: str, cell: Cell, lost: Sequence[Lost]) -> Cell:
    """The expected cell of the column `name`. If an entry of `lost` (values that the product itself
    loses) covers it, a cell of the same type in which any value is right.
    """
    loss = next((entry for entry in lost if entry.covers(table, name, cell)), None)
    if loss is None or cell.state not in (State.VALUE, State.ONE_OF, State.ANY):
        return cell
    return Cell(State.ANY, cell.type, cls=cell.cls, reason=f"{loss.loss} ({loss.citation})")


class Agreement(enum.StrEnum):
    """How a recorded message compares with ours."""

    IDENTICAL = "identical"
    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recorded message beside ours, with its kind. If the bytes differ, `reasons` are the
    episode's limits, or, without limits, what our writer cannot do yet.
    """

    episode: Episode
    number: int
    agreement: Agreement
    recorded: Message
    ours: Message | None
    kind: str
    reasons: tuple[str, ...] = ()


def _compared_parts(
    message: Message, blank_volatile: Callable[[bytes], bytes]
) -> tuple[bytes | None, ...]:
    """The key, the value and the headers of a message, with what differs from run to run blanked;
    None for a key or value of null.
    """
    # Headers look like members of JSON, so that the patterns of `blank_volatile` find them, too.
    headers = b"".join(b'"%s":"%s",' % (name.encode(), value) for name, value in message.headers)
    parts = (message.key, message.value, headers)
    return tuple(None if part is None else blank_volatile(part) for part in parts)


def audit(fmt: Format[Any], episode: Episode) -> Iterator[Comparison]:
    """Compares our writer's keys, values and headers of an episode with the recorded ones. What
    differs from run to run is blanked in both.
    """
    profile = fmt.profile(episode.recording.profile)
    blank_volatile = episode.recording.volatile
    try:
        ours: list[Written | None] = [*written_for(fmt, profile, episode)]
    except (Mismatch, Refused):
        ours = [None] * len(episode.messages)
    for number, (recorded_message, written_message) in enumerate(
        zip(episode.messages, ours, strict=True)
    ):
        own_message = written_message.message if written_message else None
        is_identical = own_message is not None and _compared_parts(
            recorded_message, blank_volatile
        ) == _compared_parts(own_message, blank_volatile)
        reasons: tuple[str, ...] = ()
        agreement = Agreement.IDENTICAL
        if not is_identical:
            agreement = Agreement.EXPLAINED if episode.limits else Agreement.UNEXPLAINED
            reasons = episode.limits or episode.writer_gaps
        kind = _message_kind(written_message)
        yield Comparison(episode, number, agreement, recorded_message, own_message, kind, reasons)


def _message_kind(written_message: Written | None) -> str:
    """The kind of a message of ours: the operation of a row change, else its kind of change;
    `no counterpart` where our writer wrote another number of messages, or refused.
    """
    change = written_message.changes[0] if written_message and written_message.changes else None
    return str(change.op or change.kind) if change else "no counterpart"
