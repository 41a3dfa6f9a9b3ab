"""Flink SQL's debezium-json as a sink writes it: a message for each row inserted or deleted.

Source: `DebeziumJsonSerializationSchema` of Apache Flink 1.17 to 2.3 (the page flink of the
sources). An UPDATE is the DELETE of the old row and the INSERT of the new one, in two messages. Of
Debezium's members there are `before`, `after` and `op`, which is c or d: no source, no time, no
schema.

A reader of Debezium's own messages breaks on them: it asks for `source` and `ts_ms`, so that the
reference decoder of debezium-json calls each of them CORRUPT.

Flink's own reader gives every row (docs/flink-sinks.md), but with `schema-include` each message
stops its job.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"before":null,"after":{"id":1,"note":"old"},"op":"c"}

    {"before":{"id":1,"note":"old"},"after":null,"op":"d"}

    {"before":null,"after":{"id":1,"note":"new"},"op":"c"}

    {"before":{"id":1,"note":"new"},"after":null,"op":"d"}
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
        return {"before": written.values, "after": None, "op": "d"}
    return {"before": None, "after": written.values, "op": "c"}


FORMAT: Final = sink_format("flink-debezium-json", members_of)
