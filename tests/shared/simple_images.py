"""Rows of TiCDC Simple and their images, in whatever encoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from decoded import Records, by_offset

ONE, TWO = {"id": 1}, {"id": 2}
CHECKSUM = {"version": 2, "corrupted": True, "current": 4294967295, "previous": 0}
ROWS: tuple[tuple[str, dict[str, Any], Any, Any], ...] = (
    ("INSERT", {"data": {**ONE, "n": None}}, None, {"id": "1", "n": None}),
    ("UPDATE", {"data": {**ONE, "a": "y"}, "old": ONE}, {"id": "1"}, {"id": "1", "a": "y"}),
    ("UPDATE", {"data": ONE, "old": {"id": None}}, {"id": None}, {"id": "1"}),
    *(
        ("UPDATE", {"data": ONE}, None, {"id": "1"}),
        ("DELETE", {"old": ONE, "data": TWO}, {"id": "1"}, None),
    ),
    *(("INSERT", {"data": ONE, "old": TWO}, None, {"id": "1"}), ("INSERT", {"data": {}}, None, {})),
    (
        "INSERT",
        {"data": ONE, "handleKeyOnly": True, "claimCheckLocation": "s3://bucket/a.json"},
        None,
        {"id": "1"},
    ),
    ("UPDATE", {"data": TWO, "old": ONE, "handleKeyOnly": True}, {"id": "1"}, {"id": "2"}),
    *(
        ("DELETE", {"handleKeyOnly": True}, None, None),
        ("INSERT", {"data": ONE, "checksum": CHECKSUM}, None, {"id": "1"}),
    ),
)
"""The operation, members of the message, and both images."""


def assert_images(
    decode: Callable[..., Any],
    records: Records,
    row: Callable[..., Any],
    cell: Callable[[Any], Any],
) -> None:
    """Images are exactly what the wire carries; `row` makes a message, `cell` a cell of a number, a
    text or None.
    """
    wired = [
        row(
            op,
            **{
                n: {c: cell(v) for c, v in m.items()} if n in ("data", "old") else m
                for n, m in members.items()
            },
        )
        for op, members, _, _ in ROWS
    ]
    out = by_offset(decode(records(*wired)))
    assert [(r.op, r.before, r.after) for r in out.values()] == [
        (op, before, after) for op, _, before, after in ROWS
    ]
