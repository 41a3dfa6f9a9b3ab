"""MariaDB's SHOW CREATE TABLE as the truth of a recording, read into a table."""

from __future__ import annotations

from decimal import Decimal

import pytest

from generators.model import Default
from generators.recorded.mysql_truth import parse_table

SHOWN = """CREATE TABLE `coupons` (
  `code` varchar(16) NOT NULL DEFAULT '-1',
  `uses` int(11) DEFAULT -1,
  `price` decimal(6,2) DEFAULT 9.50,
  `active` tinyint(1) DEFAULT 0,
  `made` timestamp NULL DEFAULT current_timestamp(),
  `note` text DEFAULT NULL
) ENGINE=InnoDB"""


def test_a_bit_literal_is_a_defaults_number() -> None:
    shown = "CREATE TABLE `t` (\n  `a` bit(4) DEFAULT b'101',\n  `b` bit(4) DEFAULT b''\n)"
    columns = parse_table(shown, "d", "t").columns
    assert [column.default for column in columns] == [Default("b'101'", 5), Default("b''", 0)]


def test_a_number_that_mariadb_prints_without_quotes_is_a_default_s_value() -> None:
    table = parse_table(SHOWN, "shop", "coupons")
    assert [column.default for column in table.columns] == [
        Default("'-1'", "-1"),
        Default("-1", -1),
        Default("9.50", Decimal("9.50")),
        Default("0", 0),
        Default("current_timestamp()", None),
        None,
    ]
    assert [column.default and column.default.value for column in table.columns] == [
        *("-1", -1, Decimal("9.50"), 0),
        *(None, None),
    ]


@pytest.mark.parametrize(
    ("definition", "default"),
    [
        ("binary(2) DEFAULT x'00ff'", Default("x'00ff'", b"\x00\xff")),
        ("binary(2) NOT NULL DEFAULT 0x00FF", Default("0x00FF", b"\x00\xff")),
        ("varbinary(9) DEFAULT _binary'a b'", Default("_binary'a b'", b"a b")),
        ("varbinary(9) DEFAULT _binary 'a''b'", Default("_binary 'a''b'", b"a'b")),
        ("varchar(9) DEFAULT X'C3A9'", Default("X'C3A9'", "é")),
        ("varchar(9) DEFAULT _utf8mb4'x y'", Default("_utf8mb4'x y'", "x y")),
        ("int(11) DEFAULT 0x1f", Default("0x1f", 31)),
        ("bit(9) DEFAULT x'0101'", Default("x'0101'", 257)),
    ],
)
def test_a_literal_in_hexadecimal_digits_or_with_a_character_set_is_a_value(
    definition: str, default: Default
) -> None:
    shown = f"CREATE TABLE `t` (\n  `a` {definition} COMMENT 'DEFAULT 1'\n)"
    (column,) = parse_table(shown, "d", "t").columns
    assert column.default == default
    assert column.default is not None
    assert column.default.value == default.value
