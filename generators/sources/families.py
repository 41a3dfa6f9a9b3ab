"""Every type of each source's domain, in groups that are drawn equally often, the plainest types
first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

from generators.model import Logical, SourceType
from generators.sources import mysql, oracle, postgresql, sqlserver

PLAIN_LABELS: Final = tuple(
    f"{letter}{digit}" for digit in ("", *range(1, 4)) for letter in "abcdefghijklmnop"
)
"""Labels of an ENUM or SET that no reader mistakes: a to p, a1 to p3."""
AWKWARD_LABELS: Final = (
    "it's",
    'say "hi"',
    "back\\slash",
    "汉字",
    "a b",
    "(x)",
    "<&>",
    "1",
    "null",
    "é",
    "😀",
    "a`b",
)
"""Labels of an ENUM or SET that readers may unescape, split, trim or take for a number or null."""

_LENGTHS: Final = (16, 255, *range(1, 256))
"""The declared lengths of texts and bytes, two usual ones first."""
_SCALES: Final = tuple((p, s) for p in range(1, 66) for s in range(min(30, p) + 1))
"""Every precision and scale of MySQL's DECIMAL."""


def _member_lists(limit: int) -> Iterable[tuple[str, ...]]:
    """Lists of labels for ENUM and SET types, with 1 to `limit` labels of which some are plain and
    some awkward.
    """
    labels = (*PLAIN_LABELS[:16], *AWKWARD_LABELS, *PLAIN_LABELS[16:])
    for size in (1, 2, 3, 8, 9, 16, 63, limit):
        # The first list of a size has plain labels first; each other one an awkward label.
        for start in (0, 16, 18, 20, 22, 24, 26):
            yield tuple(labels[(start + i) % len(labels)] for i in range(size))


def _mysql() -> tuple[tuple[SourceType, ...], ...]:
    """The groups of MySQL types from which a column's type is drawn; a group that stands twice is
    drawn twice as often.
    """
    names = ("int", "bigint", "smallint", "tinyint", "mediumint")
    common = [(10, 0), (10, 2), (38, 10), (65, 30), (20, 10), (38, 38 - 8), (65, 0), (30, 30)]
    integers = (
        *(mysql.integer(n) for n in names),
        *(mysql.integer(n, unsigned=True) for n in names),
        mysql.boolean(),
        *(mysql.integer(n, zerofill=True) for n in names),
    )
    return (
        integers,
        (
            *(mysql.text("varchar", n) for n in (*_LENGTHS, 256, 1024, 16_383)),
            *(mysql.text("char", n) for n in _LENGTHS),
        ),
        integers,
        (
            *(mysql.decimal(p, s) for p, s in common),
            *(mysql.decimal(p, s) for p, s in _SCALES),
            *(mysql.decimal(p, s, unsigned=True) for p, s in _SCALES),
        ),
        tuple(mysql.real(n, unsigned=u) for n in ("double", "float") for u in (False, True)),
        tuple(mysql.temporal("datetime", fsp) for fsp in range(7)),
        tuple(mysql.temporal("timestamp", fsp) for fsp in range(7)),
        (mysql.temporal("date"), mysql.year(), *(mysql.temporal("time", fsp) for fsp in range(7))),
        tuple(mysql.text(n) for n in ("text", "tinytext", "mediumtext", "longtext")),
        (
            *(mysql.binary("varbinary", n) for n in (*_LENGTHS, 65_535)),
            *(mysql.binary("binary", n) for n in _LENGTHS),
        ),
        tuple(mysql.binary(n) for n in ("blob", "tinyblob", "mediumblob", "longblob")),
        tuple(mysql.bit(n) for n in (1, 8, 64, *range(1, 65))),
        (
            *(mysql.enum_of(*m) for m in _member_lists(64)),
            mysql.enum_of("a,b", "", "x"),
        ),
        tuple(mysql.set_of(*m) for m in _member_lists(64)),
        (mysql.json(),),
    )


MYSQL: Final = _mysql()
"""Every type of MySQL's domain (lengths past 255 and label lists are samples)."""


def mysql_keyable(type: SourceType) -> bool:
    """Whether a column of the type can be in a MySQL key without a prefix length, and people have
    such keys.
    """
    if type.logical in (Logical.TEXT, Logical.BINARY):
        return type.name in ("varchar", "char", "varbinary", "binary") and (type.length or 0) <= 255
    return type.logical in (
        Logical.INT,
        Logical.DECIMAL,
        Logical.DATE,
        Logical.DATETIME,
        Logical.YEAR,
    )


def _postgresql() -> tuple[tuple[SourceType, ...], ...]:
    """The groups of PostgreSQL types from which a column's type is drawn; a group or a type that
    stands twice is drawn twice as often.
    """
    integers = tuple(postgresql.integer(n) for n in ("integer", "bigint", "smallint"))
    fractions = (6, 0, 3, 1, 2, 4, 5)
    common = [(10, 0), (10, 2), (38, 10), (65, 30), (20, 0), (38, 38), (65, 0), (100, 50)]
    bits = (1, 8, 64, *range(1, 65))
    return (
        integers,
        (
            *(postgresql.text("varchar", n) for n in (*_LENGTHS, 256, 1024, 16_383)),
            *(postgresql.text("char", n) for n in _LENGTHS),
        ),
        integers,
        (
            *(postgresql.numeric(p, s) for p, s in common),
            *(postgresql.numeric() for _ in range(64)),
            *(postgresql.money() for _ in range(64)),
            *(postgresql.numeric(p, s) for p, s in _SCALES),
        ),
        (postgresql.real("double precision"), postgresql.real("real")),
        tuple(postgresql.temporal("timestamp", fsp) for fsp in fractions),
        tuple(postgresql.temporal("timestamptz", fsp) for fsp in fractions),
        (
            postgresql.temporal("date"),
            *(
                postgresql.temporal(name, fsp)
                for name in ("time", "timetz", "interval")
                for fsp in fractions
            ),
        ),
        (postgresql.text("text"),),
        (postgresql.bytea(),),
        (postgresql.boolean(),),
        (*(postgresql.bit(n) for n in bits), *(postgresql.bit(n, varying=True) for n in bits)),
        tuple(postgresql.enum_of(*m) for m in _member_lists(64)),
        (postgresql.uuid(), postgresql.inet()),
        (postgresql.json("json"), postgresql.json("jsonb"), postgresql.hstore()),
        (postgresql.array("integer"), postgresql.array("text")),
    )


POSTGRESQL: Final = _postgresql()
"""Every type of PostgreSQL's domain that `sources.postgresql` has (numeric above 65 digits, lengths
past 255 and label lists are samples). The numeric without precision and money are repeated, since
they are two types among two thousand.
"""


def _sqlserver() -> tuple[tuple[SourceType, ...], ...]:
    """The groups of SQL Server types from which a column's type is drawn."""
    integers = tuple(sqlserver.integer(n) for n in ("int", "bigint", "smallint", "tinyint"))
    digits = (7, 0, 3, 6, 1, 2, 4, 5)
    scales = tuple((p, s) for p, s in itertools.product(range(1, 39), range(39)) if s <= p)
    return (
        integers,
        (
            *(sqlserver.text("nvarchar", n) for n in (*_LENGTHS, 256, 1024, 4000)),
            *(sqlserver.text("varchar", n) for n in _LENGTHS),
            *itertools.starmap(sqlserver.text, itertools.product(("char", "nchar"), _LENGTHS)),
        ),
        (
            *(sqlserver.decimal(p, s) for p, s in ((10, 0), (10, 2), (38, 10))),
            sqlserver.money(),
            sqlserver.money("smallmoney"),
            *(sqlserver.decimal(p, s) for p, s in scales),
            *(sqlserver.decimal(p, 0, "numeric") for p in range(1, 39)),
        ),
        (sqlserver.real("float"), sqlserver.real("real")),
        (
            *(sqlserver.temporal("datetime2", n) for n in digits),
            sqlserver.temporal("datetime"),
            sqlserver.temporal("smalldatetime"),
        ),
        tuple(sqlserver.temporal("datetimeoffset", n) for n in digits),
        (sqlserver.temporal("date"), *(sqlserver.temporal("time", n) for n in digits)),
        tuple(sqlserver.text(n) for n in ("nvarchar(max)", "varchar(max)", "text", "ntext", "xml")),
        (
            *(sqlserver.binary("varbinary", n) for n in _LENGTHS),
            *(sqlserver.binary("binary", n) for n in (16, 8, 255)),
            *(sqlserver.binary(n) for n in ("varbinary(max)", "image", "rowversion")),
            sqlserver.binary("hierarchyid"),
        ),
        (sqlserver.bit(), sqlserver.uniqueidentifier()),
    )


SQLSERVER: Final = _sqlserver()
"""Types of SQL Server that are drawn."""


def sqlserver_keyable(type: SourceType) -> bool:
    """Whether people use columns of the type in SQL Server's keys."""
    if type.logical is Logical.TEXT:
        return type.name in ("varchar", "nvarchar", "uniqueidentifier")
    return type.logical in (Logical.INT, Logical.DECIMAL, Logical.DATE, Logical.DATETIME)


def _oracle() -> tuple[tuple[SourceType, ...], ...]:
    """The groups of Oracle types from which a column's type is drawn, each group equally often. The
    plainest types of a group come first; some stand twice, to be drawn more often.
    """
    digits = (6, 0, 3, 9, 1, 2, 4, 5, 7, 8)
    scales = tuple((p, s) for p, s in itertools.product(range(1, 39), range(1, 39)) if s <= p)
    return (
        tuple(oracle.number(p) for p in (9, 18, 10, 5, *range(1, 19))),
        (
            *(oracle.string("varchar2", n) for n in (*_LENGTHS, 256, 1024, 4000)),
            *(oracle.string("nvarchar2", n) for n in _LENGTHS),
            *(oracle.string("char", n) for n in _LENGTHS),
            *(oracle.string("nchar", n) for n in _LENGTHS),
        ),
        (
            *(oracle.number(p, s) for p, s in ((10, 2), (38, 10), (38, 0), (19, 0), (10, -2))),
            oracle.number(),
            oracle.floating(),
            *(oracle.number(p, s) for p, s in scales),
        ),
        (oracle.real(), oracle.real("binary_float")),
        (oracle.temporal("date"), *(oracle.temporal("timestamp", n) for n in digits)),
        (
            *(oracle.temporal("timestamptz", n) for n in digits),
            *(oracle.temporal("timestampltz", n) for n in digits),
        ),
        (oracle.string("clob"), oracle.string("nclob")),
        (*(oracle.binary("raw", n) for n in _LENGTHS), oracle.binary("blob")),
        (oracle.rowid(), oracle.interval("interval-year"), oracle.interval("interval-day")),
    )


ORACLE: Final = _oracle()
"""Types of Oracle that are drawn."""


def oracle_keyable(type: SourceType) -> bool:
    """Whether people use columns of the type in Oracle's keys."""
    if type.logical is Logical.TEXT:
        return type.name in ("varchar2", "nvarchar2")
    return type.logical in (Logical.INT, Logical.DATETIME) or (
        type.logical is Logical.DECIMAL and not oracle.is_free(type)
    )


def postgresql_keyable(type: SourceType) -> bool:
    """Whether people use columns of the type in PostgreSQL's keys."""
    if type.logical is Logical.TEXT:
        return type.name in ("varchar", "char", "text", "uuid")
    return type.logical in (Logical.INT, Logical.DECIMAL, Logical.DATE, Logical.DATETIME)
