"""Oracle's types: their limits, spellings and values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from generators.errors import UsageError
from generators.model import Logical
from generators.sources import oracle
from generators.sources.mysql import wall
from generators.sources.oracle_types import FILE, oracle_types, parse_types


@pytest.mark.parametrize(
    ("slug", "value", "fits"),
    [
        ("number-9", 999_999_999, True),
        ("number-9", 1_000_000_000, False),
        ("number-38", Decimal(10**38 - 1), True),
        ("number-38", Decimal(10**38), False),
        ("number-10-2", Decimal("99999999.99"), True),
        ("number-10-2", Decimal("0.001"), False),
        ("number-10-minus-2", Decimal(12300), True),
        ("number-10-minus-2", Decimal(12345), False),
        ("number", Decimal("0.00000000000000000001"), True),
        ("number", Decimal("NaN"), False),
        ("varchar2", "", False),
        ("varchar2", "汉" * 255, True),
        ("varchar2", "汉" * 256, False),
        ("clob", "", True),
        ("char", "x" + " " * 15, True),
        ("char", "x", False),
        ("nchar", "😀" + " " * 14, True),
        ("raw", b"", False),
        ("blob", b"", True),
        ("date", wall("2024-01-02 03:04:05"), True),
        ("date", wall("2024-01-02 03:04:05.5"), False),
        ("interval-year", "+0003-06", True),
        ("interval-year", "+0003-12", False),
        ("interval-day", "-0001 02:03:04.560000", True),
        ("interval-day", "1 day", False),
        ("rowid", "AAASdqAAEAAAAInAAA", True),
        ("rowid", "AAAS", False),
        ("binary-double", float("inf"), False),
    ],
)
def test_what_a_type_holds(slug, value, fits):
    assert oracle.fits(oracle.TYPES[slug], value) is fits


@pytest.mark.parametrize("slug", oracle.TYPES)
def test_boundary_values_fit_their_type(slug):
    values = oracle.boundary_values(slug)
    assert len(values) >= 2
    assert all(oracle.fits(oracle.TYPES[slug], value) for value in values.values())


def test_spellings_of_types():
    spelled = {slug: oracle.declared(type) for slug, type in oracle.TYPES.items()}
    assert spelled["number"] == "NUMBER"
    assert spelled["number-9"] == "NUMBER(9,0)"
    assert spelled["number-10-minus-2"] == "NUMBER(10,-2)"
    assert spelled["nvarchar2"] == "NVARCHAR2(255)"
    assert spelled["varchar2"] == "VARCHAR2(255 CHAR)"
    assert spelled["timestamp-9"] == "TIMESTAMP(9)"
    assert spelled["timestamptz-3"] == "TIMESTAMP(3) WITH TIME ZONE"
    assert spelled["interval-day"] == "INTERVAL DAY(4) TO SECOND(6)"
    assert spelled["date"] == "DATE"


def test_numbers():
    assert oracle.number(18).logical is Logical.INT
    assert oracle.number(18).spark == "bigint"
    assert oracle.number(2).spark == "tinyint"
    assert oracle.number(19).logical is Logical.DECIMAL
    assert oracle.number(10, -2).spark == "decimal(12,0)"
    assert oracle.number().spark == oracle.floating().spark == "string"
    with pytest.raises(ValueError, match="precision is 1 to 38"):
        oracle.number(39)
    with pytest.raises(ValueError, match="fraction digits are 0 to 9"):
        oracle.temporal("timestamp", 10)


def test_texts_as_columns_return_them():
    assert oracle.stored_text(oracle.string("varchar2"), "") == " "
    assert oracle.stored_text(oracle.string("clob"), "") == ""
    assert oracle.stored_text(oracle.string("char", 4), "a\0b") == "ab  "
    assert oracle.shortened_text(oracle.string("varchar2", 2), "汉字汉") == "汉字"
    assert oracle.quote("a") == '"a"'


def test_every_type_has_a_row_and_every_row_a_type():
    assert {type.name for type in oracle.TYPES.values()} == set(oracle_types())


@pytest.mark.parametrize(
    ("toml_text", "message"),
    [
        (
            '[types]\na = { logical = "int" }',
            f"{FILE}: the type 'a' has no 'jdbc'. Add the number of oracle.jdbc.OracleTypes.",
        ),
        (
            '[types]\na = { logical = "int", jdbc = 4, lbo = true }',
            (
                f"{FILE}: the type 'a' has an unknown column 'lbo'. Did you mean 'lob'?"
                " Known: logical, jdbc, declared, lob."
            ),
        ),
    ],
)
def test_a_wrong_row(toml_text, message):
    with pytest.raises(UsageError) as raised:
        parse_types(toml_text)
    assert str(raised.value) == message
