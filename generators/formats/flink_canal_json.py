"""Flink SQL's canal-json as a sink writes it: a message for each row inserted or deleted.

Source: `CanalJsonSerializationSchema` of Apache Flink 1.17 to 2.3 (the page flink of the sources).
An UPDATE is the DELETE of the old row and the INSERT of the new one, in two messages. Of Canal's
members there are `data`, a list of one row, and `type`: no database, no table, no key, no time.

A reader of Canal's own messages breaks on them: `database`, `table`, `pkNames` and `es` are
missing, so that the reference decoder of alibaba-canal-json reads rows of no table.

Flink's own reader gives every row (docs/flink-sinks.md), but with `database.include` or
`table.include` each message stops its job.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"data":[{"id":1,"note":"old"}],"type":"INSERT"}

    {"data":[{"id":1,"note":"old"}],"type":"DELETE"}

    {"data":[{"id":1,"note":"new"}],"type":"INSERT"}

    {"data":[{"id":1,"note":"new"}],"type":"DELETE"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generators.families.flink import WrittenRow, sink_format

__all__ = ["FORMAT"]


def members_of(written: WrittenRow) -> Mapping[str, Any]:
    """The members of a message: the row in a list, inserted or deleted."""
    return {"data": [written.values], "type": written.op.value}


FORMAT: Final = sink_format("flink-canal-json", members_of)
