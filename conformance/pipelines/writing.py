"""Writes a right pipeline of a format into a file, for `new-pipeline`."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template
from typing import Final

from conformance.brokers.lakehouses import Sink
from conformance.rules.order import LSN, Order, base_of, number_sql, order_of
from generators.errors import UsageError
from generators.wire_format import module_name

TITLES: Final[dict[Sink, str]] = {"delta": "Delta", "iceberg": "Iceberg"}
"""The names of the lakehouses as text shows them."""
_TEMPLATE: Final = Path(__file__).with_name("template.py.txt")
"""The file with the pipeline's text, in which `$name` stands for what depends on the format."""
_HEXADECIMAL: Final = (
    f" WHEN position RLIKE r'^{LSN}(:.*)?$' THEN transform(",
    "split(position, ':'), part -> CAST(conv(part, 16, 10) AS decimal(20,0)))",
)
"""SQL of the numbers in a position of SQL Server, whether it has the place of the commit alone or
that of the change, too: each number is hexadecimal, and colons stand between them.
"""


class _Marked(Template):
    """A template whose names are lower-case words behind a dollar."""

    idpattern = "(?-i:[a-z]+)"


def version_sql(order: Order) -> list[str]:
    """The SQL expression over the columns of level one (changes with texts) by which a pipeline
    orders the changes of a row, as its lines.
    """
    by_time = "array(CAST(unix_micros(commit_time) AS decimal(20,0)))"
    if not order.positions:
        return [by_time]
    parts = ["CASE"]
    if any(base_of(pattern) == 16 for pattern, _ in order.positions):
        parts += _HEXADECIMAL
    for pattern, groups in order.positions:
        if base_of(pattern) == 16:
            continue
        parts.append(f" WHEN position RLIKE r'{pattern}' THEN array(")
        for group in groups:
            comma = ", " if group != groups[-1] else ")"
            parts.append(f"{number_sql(pattern, group)}{comma}")
    return [*parts, f" ELSE {by_time} END"]


def pipeline_text(fmt: str, sink: Sink, file: str) -> str:
    """The Python text of a right pipeline for a format and a lakehouse. Raises UsageError for a
    format whose messages do not tell the order of changes.
    """
    order = order_of(fmt)
    if order.arrival:
        raise UsageError(
            f"{fmt}: its messages do not tell their order, so that no table kept from them is right"
            " whatever comes again"
        )
    return _Marked(_TEMPLATE.read_text("utf-8")).substitute(
        format=fmt,
        title=TITLES[sink],
        sink=sink,
        file=file,
        module=module_name(fmt),
        version="\n".join(f"    {json.dumps(part)}" for part in version_sql(order)),
        # Of changes at one position the one with the higher rank is the newer one.
        rank="IF(op = 'DELETE', 0L, 1L)" if order.deletes_first else "0L",
        unsent=json.dumps(list(order.placeholders)),
    )
