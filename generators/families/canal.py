"""A MySQL value as a Canal flat message carries it: wire text, `java.sql.Types` code, type text,
and what a decoder recovers.

Sources: canal#integers to canal#texts (`RowsLogBuffer` and `LogEventConvert.parseOneRow`, run on
binlog bytes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from generators.families.mysql_texts import TextFacts, value_cell
from generators.model import Cell, Logical, SourceType, Value
from generators.sources.type_numbers import type_numbers

DDL_TYPES: Final[Mapping[str, str]] = {
    "create database": "QUERY",
    "drop database": "QUERY",
    "create table": "CREATE",
    "drop table": "ERASE",
    "truncate table": "TRUNCATE",
    "rename table": "RENAME",
    **dict.fromkeys(
        ("add column", "drop column", "modify column", "set default", "rename index"), "ALTER"
    ),
    **dict.fromkeys(("table comment", "add partition", "table charset"), "ALTER"),
    "create index": "CINDEX",
    "drop index": "DINDEX",
    "add primary key": "CINDEX",
    "drop primary key": "ALTER",
    "exchange partition": "ALTER",
}
"""The `type` of each DDL action. Of the others (ALTER DATABASE, views, sequences, foreign keys)
Canal sends nothing.
"""


class ValueFacts(TextFacts, Protocol):
    """What of a release decides how values are written; the fields are those of
    `alibaba_canal_json.CanalProfile`.
    """

    @property
    def lob_null_codes(self) -> bool:
        """Whether NULL of large columns has the codes 2004 and 2005 in sqlType."""

    @property
    def boolean_code(self) -> int:
        """The code of BOOLEAN in sqlType."""


SQL_TYPES: Final = type_numbers("java")
"""Codes of `java.sql.Types` by type (canal#sql-type)."""
NULL_TYPES: Final = type_numbers("java_null")
"""The codes of NULL from 1.1.7 on."""
OLD_NULL_TYPES: Final = type_numbers("java_null_1_1_6")
"""The codes of NULL up to 1.1.6."""
_OVER_SIGNED: Final = type_numbers("java_over_signed")
"""The codes of unsigned integers above the signed maximum."""

_BLOBS: Final = frozenset(n for n in SQL_TYPES if n.endswith(("blob", "text")))


@dataclass(frozen=True, slots=True)
class CanalCell:
    """A column of an image on the wire: its text (None is null), its `sqlType` code, and the cell
    that a correct decoder recovers from it.
    """

    text: str | None
    code: int
    cell: Cell


def is_blob(type: SourceType) -> bool:
    """Whether the binlog of a server that logs row images of the kind NOBLOB leaves a column of
    this type out where it did not change: the BLOB and TEXT families. JSON and geometry, though
    stored like a blob, are logged.
    """
    return type.name in _BLOBS


def sql_type(type: SourceType, value: Value, facts: ValueFacts) -> int:
    """The `sqlType` code (a constant of `java.sql.Types`) of a value in a column of that type. It
    depends on the value: an unsigned number above the signed range takes the code of the next wider
    type. A tinyint(1) has a code of its own, which is `facts.boolean_code`, or TINYINT (-6) for
    NULL. Of any other NULL the code follows from the type and the release.
    """
    over = (
        type.logical is Logical.INT
        and type.unsigned
        and isinstance(value, int)
        and value > (type.high or 0) >> 1
    )
    if type.name == "tinyint" and type.length == 1 and not over:
        return -6 if value is None else facts.boolean_code
    if value is None:
        return (NULL_TYPES if facts.lob_null_codes else OLD_NULL_TYPES)[type.name]
    return (_OVER_SIGNED if over else SQL_TYPES)[type.name]


def wire(type: SourceType, value: Value, facts: ValueFacts) -> CanalCell:
    """A column's value as a Canal message holds it: its text, its `sqlType` code, and the cell that
    a correct decoder recovers from it. Raises UsageError for a type that MySQL does not have.
    """
    code = sql_type(type, value, facts)
    cell = value_cell(type, value, facts)
    return CanalCell(cell.text, code, cell)
