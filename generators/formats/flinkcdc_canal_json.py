"""canal-json of Flink CDC's Kafka sink: a message for each row change of its pipelines.

Source: `CanalJsonSerializationSchema` of Flink CDC 3.2 and 3.5 (the page flink-cdc of the sources).
Of Canal's members there are `old`, `data`, `type`, `database`, `table` and `pkNames`: no time, no
id, no types. `old` of an UPDATE is the whole old row, in a list as `data` is. Before 3.3 the row of
a DELETE stands in `old`, and `data` is null.

A reader of Canal's own messages takes `old` for the columns that changed, looks for a time in `es`
and, before 3.3, for a deleted row in `data`.

INSERT, UPDATE and DELETE of the row `id` 1 of `shop.notes`:

    {"old":null,"data":[{"id":1,"note":"old"}],"type":"INSERT","database":"shop","table":"notes",
    "pkNames":["id"]}

    {"old":[{"id":1,"note":"old"}],"data":[{"id":1,"note":"new"}],"type":"UPDATE",
    "database":"shop","table":"notes","pkNames":["id"]}

    {"old":null,"data":[{"id":1,"note":"new"}],"type":"DELETE","database":"shop","table":"notes",
    "pkNames":["id"]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from generators.families.flink_cdc import FlinkCdcProfile, WrittenChange, pipeline_format
from generators.model import Op

__all__ = ["FORMAT"]


def members_of(written: WrittenChange, profile: FlinkCdcProfile) -> Mapping[str, Any]:
    """The members of a message: the rows in lists of one, and the names. A deleted row stands in
    `old` if the release writes it there (`deletes_in_old`), else in `data`.
    """
    old, data = written.before, written.after
    if written.op is Op.DELETE and not profile.deletes_in_old:
        old, data = None, written.before
    return {
        "old": None if old is None else [old],
        "data": None if data is None else [data],
        "type": written.op.value,
        "database": written.table.database,
        "table": written.table.name,
        "pkNames": list(written.table.primary_key),
    }


FORMAT: Final = pipeline_format("flinkcdc-canal-json", members_of, keyed=True)
