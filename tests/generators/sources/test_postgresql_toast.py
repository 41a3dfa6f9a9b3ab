"""What PostgreSQL keeps out of line, against sizes that PostgreSQL 15 gave for the same values:
pg_column_size of a value in a column of STORAGE MAIN, and the values of a row in its TOAST table.
"""

from __future__ import annotations

from hashlib import md5

import pytest

from generators.sources.postgresql_toast import Stored, compressed_size, out_of_line

LOREM = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. "


def _digests(count: int, start: int = 1) -> str:
    """A text that pglz does not compress: string_agg(md5(i::text), '')."""
    return "".join(md5(str(i).encode()).hexdigest() for i in range(start, start + count))


@pytest.mark.parametrize(
    ("text", "column_size"),
    [
        ("x" * 9000, 113),
        (LOREM * 100, 138),
        ("äöü" * 900, 78),
        ("".join(f"line {line} of the log: something happened\n" for line in range(200)), 875),
        (_digests(100), None),
        (_digests(60) + "x" * 700, None),
        ("x" * 31, None),
    ],
)
def test_a_value_is_compressed_to_the_size_that_postgresql_gives(
    text: str, column_size: int | None
) -> None:
    size = compressed_size(text.encode())
    assert (None if size is None else size + 8) == column_size


def _external(**texts: str) -> frozenset[str]:
    """The names of those of the texts that are out of line, in a row with an integer key."""
    row = [Stored("id", None, 4, 4)]
    row += [Stored.of_bytes(name, text.encode()) for name, text in texts.items()]
    return out_of_line(row, nulls=1)


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        ({"a": LOREM * 100}, ""),
        ({"a": _digests(100)}, "a"),
        ({"a": "x" * 1990, "b": "y" * 1500}, ""),
        ({"a": _digests(62)}, ""),
        ({"a": _digests(40), "b": _digests(40, 1000)}, "a"),
        ({"a": _digests(40), "b": _digests(41, 1000)}, "b"),
        ({"a": "x" * 9000, "b": _digests(300)}, "b"),
        ({"a": "x" * 1_000_000}, "a"),
    ],
)
def test_the_largest_values_leave_a_row_that_compression_does_not_make_fit(
    texts: dict[str, str], names: str
) -> None:
    assert _external(**texts) == frozenset(names)
