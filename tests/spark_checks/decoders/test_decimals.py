"""A text is a DECIMAL of a column only if no digit is lost."""

from decimal import Decimal

import pytest

from spark_checks.decoders.families.mysql import exact_decimal


@pytest.mark.parametrize(
    ("text", "precision", "scale", "value"),
    [
        ("1.25", 10, 2, "1.25"),
        ("1.250000", 10, 2, "1.25"),
        ("-7", 38, 0, "-7"),
        ("12.34", 38, 2, "12.34"),
        ("1.25E-1", 10, 3, "0.125"),
        ("0E-10", 38, 2, "0.00"),
        ("-0.000e-30", 38, 10, "0"),
        ("1.2e3", 10, 0, "1200"),
        ("1200e-2", 38, 0, "12"),
        ("99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"),
        ("+1.", 5, 2, "1.00"),
        (".5", 5, 2, "0.50"),
        ("0.15", 38, 0, None),
        ("1.9", 38, 0, None),
        ("1.9e0", 38, 0, None),
        ("12.345", 38, 2, None),
        ("0.1004", 37, 1, None),
        ("1.0000000000000000001", 20, 0, None),
        ("1.25000000000000000000000000000000001", 10, 2, None),
        ("1e-400", 10, 2, None),
        ("1e-3", 10, 2, None),
        ("100", 4, 2, None),
        ("1e400", 38, 0, None),
        ("1e99999999999", 38, 0, None),
        ("", 10, 2, None),
        (".", 10, 2, None),
        ("e1", 10, 2, None),
        ("1.5x", 10, 2, None),
        (" 1.5", 10, 0, None),
    ],
)
def test_a_text_is_a_decimal_only_if_no_digit_is_lost(spark, text, precision, scale, value):
    sql = exact_decimal("t", precision, scale)
    row = spark.createDataFrame([(text,)], "t string").selectExpr(f"{sql} AS value").first()
    assert row.value == (None if value is None else Decimal(value))
