"""The baseline of Tencent DTS's FlatRecord."""

from __future__ import annotations

from typing import Final

from spark_checks.decoders.baselines import SAME, VALUES, Baseline

BASELINE: Final = Baseline(
    op="messageType",
    database="schemaName",
    table="tableName",
    before="oldColumns",
    after="newColumns",
    images=VALUES,
    names="columns",
    committed="timestamp",
    seconds=True,
    keys="pkNames",
    sql="sql",
    ops=SAME,
)
