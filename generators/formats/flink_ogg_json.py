"""Flink SQL's ogg-json as a sink writes it: a message for each row inserted or deleted.

Source: `OggJsonSerializationSchema` of Apache Flink 1.17 to 2.3 (the page flink of the sources). An
UPDATE is the DELETE of the old row and the INSERT of the new one, in two messages. Of GoldenGate's
members there are `before`, `after` and `op_type`, which is I or D: no table, no key, no position,
no time.

A reader of GoldenGate's own messages breaks on them: it asks for `table` and `op_ts`, so that the
reference decoder of ogg-json calls each of them CORRUPT.

Flink's own reader gives every row (docs/flink-sinks.md).

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"before":null,"after":{"id":1,"note":"old"},"op_type":"I"}

    {"before":{"id":1,"note":"old"},"after":null,"op_type":"D"}

    {"before":null,"after":{"id":1,"note":"new"},"op_type":"I"}

    {"before":{"id":1,"note":"new"},"after":null,"op_type":"D"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generators.families.flink import WrittenRow, sink_format
from generators.model import Op

__all__ = ["FORMAT"]


def members_of(written: WrittenRow) -> Mapping[str, Any]:
    """The members of a message: a deleted row before the change, an inserted one after it."""
    if written.op is Op.DELETE:
        return {"before": written.values, "after": None, "op_type": "D"}
    return {"before": None, "after": written.values, "op_type": "I"}


FORMAT: Final = sink_format("flink-ogg-json", members_of)
