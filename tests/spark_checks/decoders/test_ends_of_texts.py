"""A cell's text is read to its end: Java's `$` also matches before a final line feed, so no pattern
of a reference decoder ends in it, and `12:00:00` with a line feed behind it is no TIME.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import spark_checks.decoders
from generators.model import Deployment
from generators.sources import mongodb, mysql, sqlserver
from spark_checks.decoders import (
    aws_dms_json,
    canal_dialects_json,
    debezium_mongodb_json,
    maxwell_json,
)
from spark_checks.decoders.aliyun_dts_avro import cells as aliyun_cells
from spark_checks.decoders.families import cloudcanal
from spark_checks.decoders.families.connect import decimals, values
from spark_checks.decoders.families.mysql import mysql_typed
from spark_checks.decoders.families.sql import literal

TIME, MOMENT = mysql.temporal("time"), mysql.temporal("datetime")
TIMESTAMP = mysql.temporal("timestamp")
DECIMAL_40 = mysql.decimal(40, 2)
LIST = replace(Deployment(), binary="list")


def extended_json_reader(member, type):
    """The reader of a field of MongoDB's type from a text that is a member of its Extended JSON."""
    return lambda t: debezium_mongodb_json._typed(
        f"to_json(map('{member}', {t}))", mongodb.TYPES[type]
    )


READERS = {
    "MySQL's TIME": (lambda t: mysql_typed(t, TIME), "12:00:00"),
    "MySQL's DATE": (lambda t: mysql_typed(t, mysql.temporal("date")), "2020-01-02"),
    "MySQL's DATETIME": (lambda t: mysql_typed(t, MOMENT), "2020-01-02 03:04:05"),
    "MySQL's DATETIME with a fraction": (lambda t: mysql_typed(t, MOMENT), "2020-01-02 03:04:05.5"),
    "MySQL's TIMESTAMP": (
        lambda t: mysql_typed(t, mysql.temporal("timestamp")),
        "2020-01-02 03:04:05",
    ),
    "a JSON scalar": (lambda t: mysql_typed(t, mysql.json()), "true"),
    "a DECIMAL of 40 digits": (lambda t: mysql_typed(t, DECIMAL_40), "1.00"),
    "Maxwell's TIME": (lambda t: maxwell_json._typed_sql(t, TIME, Deployment()), "12:00:00"),
    "AWS DMS's DATETIME": (
        lambda t: aws_dms_json._typed_sql(
            aws_dms_json._mysql_text(t, MOMENT), MOMENT, Deployment()
        ),
        "2020-01-02T03:04:05Z",
    ),
    "a list of bytes": (
        lambda t: canal_dialects_json._typed_sql(t, mysql.binary("varbinary", 5), LIST),
        "[1,2]",
    ),
    "CloudCanal's number of a label": (
        lambda t: cloudcanal._number(t, mysql.enum_of("a", "b")),
        "1",
    ),
    "PostgreSQL's bits": (lambda t: aliyun_cells._bits(t, mysql.bit(3)), "101"),
    "Debezium's DATE": (values._date_sql, "2020-01-02Z"),
    "Debezium's DATETIME": (lambda t: values._wall_clock(t, MOMENT), "2020-01-02T03:04:05Z"),
    "Debezium's TIMESTAMP": (
        lambda t: values._instant(t, "UTC", TIMESTAMP),
        "2020-01-02T03:04:05Z",
    ),
    "Debezium's TIMESTAMP as SQL text": (
        lambda t: values._instant(t, "UTC", TIMESTAMP),
        "2020-01-02 03:04:05",
    ),
    "Debezium's TIME": (lambda t: values._clock(t, TIME), "12:00:00Z"),
    "SQL Server's TIME": (
        lambda t: values._clock(t, sqlserver.temporal("time")),
        "12:00:00.1234567Z",
    ),
    "SQL Server's DATETIME2": (
        lambda t: values._wall_clock(t, sqlserver.temporal("datetime2")),
        "2020-01-02T03:04:05.1234567Z",
    ),
    "Debezium's BIGINT UNSIGNED": (values._unsigned, "18446744073709551615"),
    "MongoDB's int": (lambda t: debezium_mongodb_json._typed(t, mongodb.TYPES["int"]), "5"),
    "MongoDB's double": (lambda t: debezium_mongodb_json._typed(t, mongodb.TYPES["double"]), "1.5"),
    "MongoDB's long": (extended_json_reader("$numberLong", "long"), "5"),
    "MongoDB's decimal": (extended_json_reader("$numberDecimal", "decimal"), "1.50"),
    "MongoDB's date": (extended_json_reader("$date", "date"), "2020-01-02T03:04:05Z"),
    "MongoDB's date in milliseconds": (extended_json_reader("$date", "date"), "1577934245000"),
    "MongoDB's ObjectId": (extended_json_reader("$oid", "objectId"), "5f43a1b2c3d4e5f601234567"),
    "MongoDB's binary data": (extended_json_reader("$binary", "binData"), "YWJj"),
    "base64": (decimals.base64_bytes, "YWJj"),
    "digits with an exponent": (lambda t: decimals.from_text(t, 40, 12), "1E-7"),
    "digits of a numeric": (lambda t: decimals.from_text(t, 1001, 0), "12.5"),
    "a JSON number of many digits": (lambda t: decimals.from_numeric(t, 40, 2), "1234567890123456"),
}


def last_replaced(text):
    """The text with a line feed in its last character's place: its length stays."""
    return f"{text[:-1]}\n"


def test_a_line_feed_behind_a_text_is_no_part_of_a_value(spark):
    selected, expected = [], {}
    for name, (reader, text) in READERS.items():
        for kind, cell in (("as it is", text), ("line feed", f"{text}\n")):
            selected.append(f"({reader(literal(cell))}) IS NOT NULL AS `{name}, {kind}`")
            expected[f"{name}, {kind}"] = kind == "as it is"
    assert spark.sql(f"SELECT {', '.join(selected)}").first().asDict() == expected


@pytest.mark.parametrize(
    "name", ["MySQL's DATE", "MySQL's DATETIME", "MySQL's TIMESTAMP", "base64"]
)
def test_a_line_feed_in_the_last_place_does_not_pass_by_its_length(spark, name):
    reader, text = READERS[name]
    cell = literal(last_replaced(text))
    assert spark.sql(f"SELECT {reader(cell)} AS v").first().v is None


def test_no_pattern_of_a_decoder_ends_in_a_dollar_sign():
    sources = sorted(Path(spark_checks.decoders.__file__).parent.rglob("*.py"))
    found = [
        f"{path.name}: {line.strip()}"
        for path in sources
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"""\$["')|]""", line)
    ]
    assert len(sources) > 20 and found == []
