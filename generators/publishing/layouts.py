"""Chooses the topic of each table's messages by a pattern, which may name the writer's own topic
and the names of the table in braces: `{database}.{table}`.
"""

from __future__ import annotations

import re
from string import Formatter
from typing import Final

from generators.errors import UnknownName, UsageError
from generators.model import Table

PLACEHOLDERS: Final = ("topic", "database", "schema", "table")
"""What a pattern may name in braces: the writer's own topic, and the names of the table."""


def placeholders(pattern: str, option: str = "--topic") -> tuple[str, ...]:
    """The names that stand in braces in a pattern, in its order; one that stands there twice is
    there twice. Raises UsageError, which names the option, for a brace without its pair and for a
    name with a format or conversion (`{table:d}`, `{table!r}`); UnknownName for an unknown name.
    """
    names = []
    try:
        for _, name, spec, conversion in Formatter().parse(pattern):
            if name is None:
                continue
            if name not in PLACEHOLDERS:
                raise UnknownName(f"placeholder of {option}", name, PLACEHOLDERS)
            if spec or conversion:
                raise UsageError(
                    f"{option} {pattern}: {{{name}}} takes neither a format (`:`) nor a conversion"
                    " (`!`)"
                )
            names.append(name)
    except ValueError as error:
        raise UsageError(f"{option} {pattern}: {error}") from None
    return tuple(names)


PLACEHOLDER_PATTERN: Final = r"\{(topic|database|schema|table)\}"
"""A regular expression that every pattern of several topics matches: it has a placeholder."""


def require_placeholder(pattern: str) -> None:
    """Raises UsageError for a --topic-pattern without a placeholder, which would lead all tables to
    one topic, and for what `placeholders` refuses.
    """
    if not placeholders(pattern, "--topic-pattern"):
        names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise UsageError(f"--topic-pattern {pattern}: name one of {names}")


def topic_of(pattern: str, writer_topic: str, table: Table) -> str:
    """The topic to which a table's message goes by the pattern. `writer_topic` is the topic that
    the writer gave the message.
    """
    name = pattern.format(
        topic=writer_topic, database=table.database, schema=table.schema or "", table=table.name
    )
    # As Debezium does: other characters are illegal in a topic's name.
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
