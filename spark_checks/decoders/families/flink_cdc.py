"""What the decoders of the two JSON formats of Flink CDC's Kafka sink share (page flink-cdc of the
sources): values as Flink's converters spell them, and whole rows before and after an UPDATE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import Column
from pyspark.sql.types import DataType

from spark_checks.decoders.families import flink
from spark_checks.decoders.families.flat import Flat


def read_changes(
    members: Mapping[str, DataType],
    op: Callable[[Column], Column],
    columns: Callable[[Column], Mapping[str, Column]],
    *,
    row_member: str,
    old_member: str,
    deleted: Sequence[str],
    listed: bool = False,
) -> Flat:
    """Reads messages whose member `row_member` is the row after the change, `old_member` the one
    before it and `deleted` the deleted one, of several members the first that has a row; each is in
    a list of one if `listed`. A column that an image lacks was NULL.
    """
    return Flat(
        members=members,
        op=op,
        columns=columns,
        row=row_member,
        old=old_member,
        deleted=deleted,
        old_is_whole=True,
        listed=listed,
        typed=flink.typed,
        text=flink.mysql_text,
        exact=flink.exact,
    )
