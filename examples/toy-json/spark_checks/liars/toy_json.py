"""Decoders of Toy CDC's JSON that are wrong on purpose."""

from __future__ import annotations

from typing import Final

from generators.model import Logical
from spark_checks.decoders import toy_json as reference
from spark_checks.liars.liar import Liar, on_cells, on_columns, on_input

_EMPTY: Final = '{"op":"insert","ts":0,"table":"","row":{}}'
_UNCHANGED: Final = "map_filter(after, (k, v) -> NOT map_contains_key(before, k))"


LIARS: Final[tuple[Liar, ...]] = (
    Liar(
        "truncated-as-row",
        1,
        "fault/must-reject",
        "A message that cannot be read is taken for an insert without columns.",
        on_input(
            reference.decode, """CASE WHEN right(t, 1) = '}' THEN t ELSE '{"op":"insert","ts":0,"table":"","row":{}}' END"""
        ),
    ),
    Liar(
        "delete-as-insert",
        1,
        "rows/delete",
        "A message with row and without old is taken for an insert.",
        on_columns(reference.decode, op="CASE WHEN op = 'DELETE' THEN 'INSERT' ELSE op END"),
    ),
    Liar(
        "deleted-row-after",
        1,
        "image/deleted-row",
        "row is the after image, whatever op says.",
        on_columns(reference.decode, after="CASE WHEN op = 'DELETE' THEN before ELSE after END"),
    ),
    Liar(
        "old-completed",
        1,
        "image/old-columns",
        "The before image is completed from row where the wire has what changed.",
        on_columns(
            reference.decode,
            before=f"CASE WHEN op = 'UPDATE' THEN map_concat({_UNCHANGED}, before) ELSE before END",
        ),
    ),
    Liar(
        "null-in-old-as-unchanged",
        2,
        "value/null-in-old",
        "coalesce(old.c, row.c): a NULL before the change becomes the value after it.",
        on_cells(reference.decode_rows, lambda _: True, lambda x, _: f"coalesce({x}, after.{x.partition('.')[2]})"),
    ),
    Liar(
        "commit-in-microseconds",
        1,
        "envelope/commit-time",
        "ts is read in microseconds: every change is of January 1970.",
        on_columns(reference.decode, commit_time="timestamp_micros(unix_millis(commit_time))"),
    ),
    Liar(
        "integers-through-double",
        2,
        "value/integer-64",
        "Numbers are parsed as JavaScript parses them.",
        on_cells(
            reference.decode_rows,
            lambda kind: kind.logical is Logical.INT and kind.spark != "tinyint",
            lambda x, kind: f"try_cast(CAST({x} AS double) AS {kind.spark})",
        ),
    ),
)
