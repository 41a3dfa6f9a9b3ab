"""SQL Server's types: their limits, spellings and values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from generators.errors import UsageError
from generators.model import Logical
from generators.sources import sqlserver
from generators.sources.mysql import DAY, wall
from generators.sources.sqlserver_types import FILE, parse_types, sqlserver_types


@pytest.mark.parametrize(
    ("slug", "value", "fits"),
    [
        ("tinyint", 255, True),
        ("tinyint", 256, False),
        ("tinyint", -1, False),
        ("money", Decimal("922337203685477.5807"), True),
        ("money", Decimal("922337203685477.5808"), False),
        ("smallmoney", Decimal("-214748.3648"), True),
        ("smallmoney", Decimal("0.00001"), False),
        ("datetime", wall("2024-01-02 03:04:05.007000"), True),
        ("datetime", wall("2024-01-02 03:04:05.005000"), False),
        ("datetime", wall("1752-12-31 23:59:59"), False),
        ("smalldatetime", wall("2079-06-06 23:59:00"), True),
        ("smalldatetime", wall("2024-01-02 03:04:05"), False),
        ("time-7", DAY - 1, True),
        ("time-7", DAY, False),
        ("date", dt.date(1, 1, 1), True),
        ("char", "x" + " " * 15, True),
        ("char", "x", False),
        ("nchar", "😀" + " " * 14, True),
        ("varchar", "汉" * 85, True),
        ("varchar", "汉" * 86, False),
        ("uniqueidentifier", "6F9619FF-8B86-D011-B42D-00C04FC964FF", True),
        ("uniqueidentifier", "6f9619ff-8b86-d011-b42d-00c04fc964ff", False),
        ("xml", "<a>b</a>", True),
        ("xml", "<a>b</c>", False),
        ("rowversion", b"\0" * 8, True),
        ("rowversion", b"\0" * 7, False),
        ("float", float("inf"), False),
    ],
)
def test_what_a_type_holds(slug, value, fits):
    assert sqlserver.fits(sqlserver.TYPES[slug], value) is fits


@pytest.mark.parametrize("slug", sqlserver.TYPES)
def test_boundary_values_fit_their_type(slug):
    values = sqlserver.boundary_values(slug)
    assert len(values) >= 2
    assert all(sqlserver.fits(sqlserver.TYPES[slug], value) for value in values.values())


def test_spellings_of_types():
    spelled = {slug: sqlserver.declared(type) for slug, type in sqlserver.TYPES.items()}
    assert spelled["datetime2-7"] == "datetime2(7)"
    assert spelled["decimal-10-2"] == "decimal(10,2)"
    assert spelled["nvarchar-max"] == "nvarchar(max)"
    assert spelled["char"] == "char(16)"
    assert spelled["money"] == "money"


def test_a_seventh_digit_is_the_scale():
    type = sqlserver.temporal("datetime2")
    assert (type.scale, type.fsp, type.logical) == (7, 6, Logical.DATETIME)
    with pytest.raises(ValueError, match="fraction digits are 0 to 7"):
        sqlserver.temporal("time", 8)
    with pytest.raises(ValueError, match="precision is 1 to 38"):
        sqlserver.decimal(39, 0)


def test_texts_as_columns_return_them():
    assert sqlserver.stored_text(sqlserver.text("nchar", 4), "a\0b") == "ab  "
    assert sqlserver.stored_text(sqlserver.text("char", 4), "汉字") == "汉 "
    assert sqlserver.shortened_text(sqlserver.text("varchar", 4), "汉字") == "汉"
    assert sqlserver.quote("a]b") == "[a]]b]"


def test_every_type_has_a_row_and_every_row_a_type():
    assert {type.name for type in sqlserver.TYPES.values()} == set(sqlserver_types())


@pytest.mark.parametrize(
    ("toml_text", "message"),
    [
        (
            '[types]\na = { logical = "int" }',
            f"{FILE}: the type 'a' has no 'jdbc'. Add the number of java.sql.Types.",
        ),
        (
            '[types]\na = { logical = "int", jdbc = 4, siez = 1 }',
            (
                f"{FILE}: the type 'a' has an unknown column 'siez'. Did you mean 'scale'?"
                " Known: logical, jdbc, length, scale, connect, unsent, reported."
            ),
        ),
    ],
)
def test_a_wrong_row(toml_text, message):
    with pytest.raises(UsageError) as raised:
        parse_types(toml_text)
    assert str(raised.value) == message
