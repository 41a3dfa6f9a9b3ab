"""What the cases of TiCDC's formats are made of: instants from TSOs, text that does not compress,
statements, columns.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from generators.model import Column, Instant, Value
from generators.sources import mysql

MORE_DDL: Final[Mapping[str, mysql.DdlAction]] = {
    "create tables": mysql.DdlAction(
        "CREATE TABLE {table} (`id` bigint NOT NULL, `c` int, PRIMARY KEY (`id`))"
    ),
    "recover table": mysql.DdlAction("RECOVER TABLE {table}"),
    "drop partition": mysql.DdlAction("ALTER TABLE {table} DROP PARTITION `p1`"),
    "truncate partition": mysql.DdlAction("ALTER TABLE {table} TRUNCATE PARTITION `p1`"),
    "drop foreign key": mysql.DdlAction("ALTER TABLE {table} DROP FOREIGN KEY `f`"),
    "multi schema change": mysql.DdlAction(
        "ALTER TABLE {table} ADD COLUMN `added` int, DROP COLUMN `c`"
    ),
    "change column": mysql.DdlAction("ALTER TABLE {table} CHANGE COLUMN `c` `d` bigint"),
    "rebase auto id": mysql.DdlAction("ALTER TABLE {table} AUTO_INCREMENT = 1000"),
}
"""Statements of TiDB, beside those of `mysql.DDL_ACTIONS`, so that each type of DDL has one
(ticdc#ddl-types).
"""

RESTORED: Final = (
    "create table {table} (id bigint unsigned primary key, e enum('a','d''q') not null default 'a',"
    " at timestamp not null default current_timestamp, bits bit(10) default b'101', g int generated"
    " always as (id + 1) virtual, s varchar(40) charset gbk default 'it''s \\\\', ok bool default"
    " true, unique key u (e)) charset utf8mb4"
)
"""A statement that TiDB restores otherwise in nearly every word (ticdc#ddl-restored)."""

_DECLARED: Final[Mapping[str, tuple[Column, Value]]] = {
    column.name: (column, value)
    for column, value in (
        (Column("f", mysql.real("float", precision=10, scale=3)), mysql.to_float32(123.457)),
        (Column("d", mysql.real("double", precision=20, scale=5)), -0.00001),
        (Column("v", mysql.vector(3)), "[1,2.5,-30000000000]"),
        (Column("g", mysql.text("varchar", 50), charset="gbk"), "中文"),
        (Column("l", mysql.text("varchar", 50), charset="latin1"), "café"),
    )
}
"""Columns with precision and scale, a vector, other character sets; each with a value."""


def declared_columns(*, vectors: bool) -> Mapping[str, tuple[Column, Value]]:
    """Columns whose declaration says more than the type's name, by name, each with a value:
    precision and scale, a vector's size, a character set other than the server's. Without `vectors`
    the one of type VECTOR, which only newer releases of TiDB have, is left out.
    """
    return {
        name: pair for name, pair in _DECLARED.items() if vectors or pair[0].type.name != "vector"
    }


def at(tso: int) -> Instant:
    """The commit time that a TSO, TiDB's timestamp, stands for."""
    return Instant(tso >> 18, tso & 0x3FFFF)


def noise(size: int, seed: int = 1) -> str:
    """A text of `size` letters and digits that hardly compresses; each seed gives another one."""
    return "".join(
        random.Random(seed).choices(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-", k=size
        )
    )
