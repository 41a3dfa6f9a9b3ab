"""Chooses the topic of each table's messages by a pattern, which may name the writer's own topic
and the names of the table.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import Final

from generators.errors import UnknownName, UsageError
from generators.model import Table

PARTS: Final = ("topic", "database", "schema", "table")
"""What a pattern may name: the writer's own topic, and the names of the table."""


def parts(pattern: str, option: str = "--topic") -> tuple[str, ...]:
    """The placeholders that a pattern has. Raises UsageError, which names the option, for an
    unknown one.
    """
    try:
        names = tuple(name for _, name, _, _ in Formatter().parse(pattern) if name is not None)
    except ValueError as error:
        raise UsageError(f"{option} {pattern}: {error}") from None
    for name in names:
        if name not in PARTS:
            raise UnknownName(f"part of {option}", name, PARTS)
    return names


PART_PATTERN: Final = r"\{(topic|database|schema|table)\}"
"""A part that every pattern of several topics has."""


def require_part(pattern: str) -> None:
    """Raises UsageError for a --topic-pattern without a placeholder, which would lead all tables to
    one topic, and for an unknown placeholder.
    """
    if not parts(pattern, "--topic-pattern"):
        raise UsageError(
            f"--topic-pattern {pattern}: name a part, {', '.join(f'{{{part}}}' for part in PARTS)}"
        )


def topic_of(pattern: str, writer_topic: str, table: Table) -> str:
    """The topic to which a table's message goes by the pattern. `writer_topic` is the topic that
    the writer gave the message.
    """
    name = pattern.format(
        topic=writer_topic, database=table.database, schema=table.schema or "", table=table.name
    )
    # As Debezium does: other characters are illegal in a topic's name.
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
