"""Why a recorded message belongs to no episode."""

from __future__ import annotations

import re
from typing import Final

from generators.families import confluent
from generators.model import Message
from generators.recorded.episodes import Recording
from generators.wire_format import get

_REASONS: Final = (
    (
        "canal",
        rb"rand_seed1",
        "the server sets the seed of RAND itself before a statement that it logs as text",
    ),
    (
        "debezium",
        rb'"ddl":"# Dum',
        "MariaDB hides events of its own from MySQL's connector as comments",
    ),
    (
        "debezium",
        rb'"ddl":"(CREATE|DROP) TABLE `inv2`',
        "the server logs the statement in words of its own",
    ),
    (
        "debezium",
        rb"^my\.inv\.t_(json|zero)\b",
        "MySQL's connector does not understand this table of MariaDB",
    ),
    (
        "debezium",
        rb"\binv\.t_zero\b",
        "a date that no calendar has stops the connector, unless it is told to warn",
    ),
    (
        "debezium",
        rb"\bt_time",
        "a snapshot reads a timestamp before 1582-10-15 by the Julian calendar",
    ),
    (
        "debezium",
        rb"<unavailable>|\bt_toast_default\b",
        "the recording's connector has a placeholder of its own for TOASTed values",
    ),
    (
        "ticdc",
        rb"NEXTVAL\(|LEFT JOIN|UNSIGNED ARRAY",
        "TiDB's form of this statement is not known here",
    ),
    (
        "ticdc",
        rb'"(?:tbl|table)":"events_log"',
        "a row without a key that moves to another partition is deleted and inserted again",
    ),
    (
        "ticdc",
        rb'"payload":\{"id":-1\}',
        "the capture changed the row before the encoder had it: every integer is -1",
    ),
    (
        "ticdc",
        rb'"scm":"shop","tbl":"',
        "the capture's batches end at a physical table and join kinds of changes",
    ),
    ("debezium", rb"\bzz_end\b", "the truth ends before the last row"),
)
"""Products, what the topic and the value of a message contain, and the reason; the first that
matches.
"""


def reason_without_episode(recording: Recording, message: Message) -> str:
    """Why a recorded message belongs to no episode and so cannot be judged; "" if that is
    unknown.
    """
    parts = [part for part in (message.key, message.value) if part]
    if get(recording.format).container == "confluent":
        parts = [confluent.readable(part) for part in parts]
    searched = message.topic.encode() + b" " + b"".join(parts)
    reasons = (
        why
        for product, pattern, why in _REASONS
        if product in ("*", recording.product) and re.search(pattern, searched)
    )
    return next(reasons, "")
