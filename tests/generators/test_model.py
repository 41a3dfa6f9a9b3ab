"""The model: default Spark types, handle keys, instants, images."""

import pytest

from generators.model import Cell, Change, Column, Instant, Kind, State, Table
from generators.sources import mysql

SPARK = {
    **dict.fromkeys(("tinyint", "bool"), "tinyint"),
    **dict.fromkeys(("smallint", "unsigned-tinyint"), "smallint"),
    **dict.fromkeys(
        (
            "mediumint",
            "int",
            "unsigned-smallint",
            "unsigned-mediumint",
            "year",
            "enum",
            "enum-quoted",
        ),
        "int",
    ),
    **dict.fromkeys(("bigint", "unsigned-int", "int-zerofill", "bit-8", "bit-63"), "bigint"),
    **dict.fromkeys(("unsigned-bigint", "bit-64", "set", "set-64"), "decimal(20,0)"),
    "decimal-10-0": "decimal(10,0)",
    "decimal-10-2": "decimal(10,2)",
    "decimal-10-4": "decimal(10,4)",
    "decimal-4-4": "decimal(4,4)",
    "decimal-20-10": "decimal(20,10)",
    "decimal-38-10": "decimal(38,10)",
    **dict.fromkeys(("decimal-65-30", "json"), "string"),
    "unsigned-decimal-5-2": "decimal(5,2)",
    "float": "float",
    **dict.fromkeys(("double", "unsigned-double"), "double"),
    "bit-1": "boolean",
    "date": "date",
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext"), "string"),
    **dict.fromkeys(
        ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), "binary"
    ),
    **dict.fromkeys(("datetime-0", "datetime-3", "datetime-6"), "timestamp_ntz"),
    **dict.fromkeys(("timestamp-0", "timestamp-3", "timestamp-6"), "timestamp"),
    **dict.fromkeys(("time-0", "time-3", "time-6"), "string"),
}


def test_spark_type_of_every_type() -> None:
    assert {slug: kind.spark for slug, kind in mysql.TYPES.items()} == SPARK


def test_spark_ddl_quotes_names() -> None:
    table = Table(
        "db",
        "t",
        (
            Column("a`b", mysql.integer("int")),
            Column("c d", mysql.decimal(39, 1)),
            Column("e", mysql.bit(2)),
        ),
    )
    assert table.spark_ddl() == "`a``b` int, `c d` string, `e` bigint"


def test_type_keys() -> None:
    assert mysql.integer("bigint", unsigned=True).key == "bigint unsigned"
    assert mysql.integer("int", zerofill=True).key == "int unsigned"
    assert mysql.text("varchar", 3).key == "varchar"


def column(name: str, nullable: bool) -> Column:
    return Column(name, mysql.integer("int"), nullable)


@pytest.mark.parametrize(
    ("primary", "unique", "expected"),
    [
        *(
            (("b", "a"), (("a",),), ("b", "a")),
            ((), (("a", "b"), ("b",)), ("b",)),
            ((), (("n",), ("a", "b")), ("a", "b")),
        ),
        *(((), (("n",), ("a", "n")), ()), ((), (), ())),
    ],
)
def test_handle_key(
    primary: tuple[str, ...], unique: tuple[tuple[str, ...], ...], expected: tuple[str, ...]
) -> None:
    columns = (column("a", False), column("b", False), column("n", True))
    assert Table("db", "t", columns, primary, unique).handle_key == expected


def test_column_look_up() -> None:
    table = Table("db", "t", (column("a", True),))
    assert table.column("a").name == "a"
    with pytest.raises(KeyError, match="b"):
        table.column("b")


def test_tso_of_document_000() -> None:
    """Document 000's watermark has es 1640007049196 and watermarkTs 429918007904436226."""
    assert Instant(1640007049196, 2).tso == 429918007904436226
    assert Instant(1, 5) < Instant(2, 0) < Instant(2, 1)


def test_full_images_hold_at_level_two_only() -> None:
    kind = mysql.integer("int")
    partial = {"a": Cell(State.ABSENT, kind)}
    full = {"a": Cell(State.NULL, kind)}
    change = Change(0, Kind.ROW, before=partial, after=partial, full_before=full)
    assert change.image("before", 1) is partial
    assert change.image("before", 2) is full
    assert change.image("after", 2) is partial
