"""Generates docs/column-types.md: what a decoder of typed rows is told of a column's type, and the
types of both databases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Final

from conformance.pages._markdown import table
from generators.model import Logical, SourceType
from generators.sources import mongodb, mysql, oracle, postgresql, sqlserver

FIELDS: Final = {
    "name": "the bare name in lower case: `bigint`, `varchar`",
    "logical": "the family that decides how values are compared: int, decimal, text, timestamp ...",
    "unsigned": "whether MySQL's type is UNSIGNED",
    "zerofill": "whether MySQL's type is ZEROFILL",
    "length": "of texts and binaries the length, of BIT the bits, of MySQL's integers the display width",
    "precision": "of DECIMAL the digits in all; else None",
    "scale": "of DECIMAL the digits behind the point; else None",
    "fsp": "of times the digits of the fraction of a second, 0 to 6",
    "members": "of ENUM and SET the labels in order, else ()",
    "low": "of integers and YEAR the smallest value; else None",
    "high": "of integers and YEAR the largest value; else None",
    "source": "the database: mysql, postgresql, sqlserver, oracle or mongodb",
}
"""What each field of a type says."""
PROPERTIES: Final = {
    "key": "the name with UNSIGNED, as rules and `CAPABILITIES` spell it: `bigint unsigned`",
    "spark": "the default Spark type as DDL text: `decimal(20,0)`",
}
"""What each property of a type says."""
SHOWN: Final = ("length", "precision", "scale", "fsp", "members", "low", "high")
"""Fields with values in the table of types."""

_INTRO: Final = """
`decode_rows(records, table)` is called with a table; each of `table.columns` has a `name`, `nullable` and a `type` with these fields
([writing a decoder](writing-a-decoder.md#level-two) says what the table itself has).
""".strip()
_TYPES: Final = """
Examples of each type, as the harness's own tables declare it. A field that is not named is None, 0, False or empty. In
[your own tables](your-tables.md) a column has the type that your DDL declares.
""".strip()


def column_types_page(note: str) -> str:
    """The text of the page. `note` is its line on what generated it. Raises LookupError if the page
    does not describe each field of SourceType.
    """
    missing = {field.name for field in fields(SourceType)}.symmetric_difference(FIELDS)
    if missing:
        raise LookupError(f"the fields of SourceType differ from what the page says: {missing}")
    lines = [
        "# Types of columns",
        "",
        note,
        "",
        _INTRO,
        "",
        *table(("field", "says"), _field_rows()),
        "",
        f"Families (`logical`): {', '.join(f'`{family.value}`' for family in Logical)}.",
        "",
        _TYPES,
    ]
    for title, types in (
        ("MySQL", _types_by_key(mysql.TYPES)),
        ("PostgreSQL", _types_by_key(postgresql.TYPES)),
        ("SQL Server", _types_by_key(sqlserver.TYPES)),
        ("Oracle", _types_by_key(oracle.TYPES)),
        ("MongoDB", _types_by_key(mongodb.TYPES)),
    ):
        table_rows = (
            (f"`{type_.key}`", type_.logical.value, type_.spark, _values(type_)) for type_ in types
        )
        lines += ["", f"## {title}", "", *table(("key", "logical", "spark", "fields"), table_rows)]
    return "\n".join(lines) + "\n"


def _field_rows() -> Iterator[tuple[str, str]]:
    """The rows of the table that explains the fields and properties of a column type to authors of
    decoders.
    """
    for name, words in (FIELDS | PROPERTIES).items():
        yield f"`type.{name}`", words


def _values(type_: SourceType) -> str:
    """The fields of a column type that differ from their defaults, each as its name and its value
    as Python prints it.
    """
    values = ((name, getattr(type_, name)) for name in SHOWN)
    return ", ".join(f"{name} {value!r}" for name, value in values if value not in (None, 0, ()))


def _types_by_key(types: Mapping[str, SourceType]) -> list[SourceType]:
    """One type for each key, in the order of the catalogue."""
    return list({type_.key: type_ for type_ in types.values()}.values())
