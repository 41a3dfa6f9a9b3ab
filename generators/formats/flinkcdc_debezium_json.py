"""debezium-json of Flink CDC's Kafka sink: a message for each row change of its pipelines.

Source: `DebeziumJsonSerializationSchema` of Flink CDC 3.2 and 3.5 (the page flink-cdc of the
sources). Of Debezium's members there are `before`, `after`, `op`, which is c, u or d, and `source`,
which has `db` and `table` alone: no time, no position, no schema.

A reader of Debezium's own messages asks for `ts_ms` and for the other members of `source`.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"before":null,"after":{"id":1,"note":"old"},"op":"c","source":{"db":"shop","table":"notes"}}

    {"before":{"id":1,"note":"old"},"after":{"id":1,"note":"new"},"op":"u",
    "source":{"db":"shop","table":"notes"}}

    {"before":{"id":1,"note":"new"},"after":null,"op":"d","source":{"db":"shop","table":"notes"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generators.families.flink_cdc import FlinkCdcProfile, WrittenChange, pipeline_format
from generators.model import Op

__all__ = ["FORMAT"]

_CODES: Final = {Op.INSERT: "c", Op.UPDATE: "u", Op.DELETE: "d"}
"""The letter of each operation in the member `op`."""


def members_of(written: WrittenChange, _profile: FlinkCdcProfile) -> Mapping[str, Any]:
    """The members of a message: the rows before and after the change, and the names in source."""
    return {
        "before": written.before,
        "after": written.after,
        "op": _CODES[written.op],
        "source": {"db": written.table.database, "table": written.table.name},
    }


FORMAT: Final = pipeline_format("flinkcdc-debezium-json", members_of, keyed=False)
