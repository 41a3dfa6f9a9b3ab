"""Flink SQL's maxwell-json as a sink writes it: a message for each row inserted or deleted.

Source: `MaxwellJsonSerializationSchema` of Apache Flink 1.17 to 2.3 (the page flink of the
sources). An UPDATE is the DELETE of the old row and the INSERT of the new one, in two messages. Of
Maxwell's members there are `data` and `type`: no database, no table, no key, no time.

A reader of Maxwell's own messages breaks on them: it asks for `database`, `table` and `ts`, so that
the reference decoder of maxwell-json calls each of them CORRUPT.

Flink's own reader gives every row (docs/flink-sinks.md).

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"data":{"id":1,"note":"old"},"type":"insert"}

    {"data":{"id":1,"note":"old"},"type":"delete"}

    {"data":{"id":1,"note":"new"},"type":"insert"}

    {"data":{"id":1,"note":"new"},"type":"delete"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generators.families.flink import WrittenRow, sink_format

__all__ = ["FORMAT"]


def members_of(written: WrittenRow) -> Mapping[str, Any]:
    """The members of a message: the row, inserted or deleted."""
    return {"data": written.values, "type": written.op.value.lower()}


FORMAT: Final = sink_format("flink-maxwell-json", members_of)
