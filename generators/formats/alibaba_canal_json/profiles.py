"""Canal releases and their options, as the facts that change what is written.

Sources: canal#gtid, canal#old-left-out, canal#database-ddl, canal#escapes and output of the
releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from generators.families.canal import DDL_TYPES
from generators.families.java_text import Escapes
from generators.model import Deployment
from generators.wire_format import Choices, Limit, Profile, meanings


@dataclass(frozen=True, slots=True)
class CanalProfile(Profile):
    """A Canal release, the server's row image and the producer's options, as the facts that change
    bytes.

    `gtid` is the text of the field, None when the release has no such field. `drops_empty_old`
    leaves out the `old` element of a row without a change. `lob_null_codes` gives NULL cells the
    codes 2004 and 2005. `query_is_ddl` marks CREATE and DROP DATABASE as DDL. `keeps_dropped_key`
    still names a primary key that was dropped, if the column's own definition had made it one.
    `doubles_ticks` keeps a back-tick in a column's name doubled. `pk_hash`, `table_hash` and
    `hash_columns` are the rule of `canal.mq.partitionHash`, `database_hash` is
    `canal.mq.database.hash`, `dynamic_topic` is `canal.mq.dynamicTopic`. `old_time` is TIME as
    servers before 5.6 store it, `display_widths` a server that prints them (before 8.0.19),
    `mariadb` one that logs rows of tables without a key whole under every row image, and no virtual
    column under MINIMAL. `connection_charset` is `canal.instance.connectionCharset`, "" for UTF-8.
    `live` is `canal.instance.tsdb.enable`: without it tables are as the server shows them, not as a
    statement spelled them.
    """

    image: str = "full"
    pk_hash: bool = False
    table_hash: bool = False
    hash_columns: tuple[str, ...] = ()
    database_hash: bool = True
    dynamic_topic: bool = False
    gtid: str | None = None
    escapes: Escapes = Escapes.FASTJSON2
    drops_empty_old: bool = False
    lob_null_codes: bool = True
    boolean_code: int = -6
    query_is_ddl: bool = True
    time_sign_lost: bool = False
    hundred_hours_lost: bool = False
    keeps_dropped_key: bool = True
    doubles_ticks: bool = True
    old_time: bool = False
    mariadb: bool = False
    display_widths: bool = True
    connection_charset: str = ""
    live: bool = True

    @property
    def time_zone(self) -> str:
        """The JVM's zone, in which TIMESTAMP is rendered."""
        return self.deployment.time_zone


_SHANGHAI: Final = Deployment(time_zone="Asia/Shanghai")
_KOLKATA: Final = Deployment(time_zone="Asia/Kolkata")
_NEW_YORK: Final = Deployment(time_zone="America/New_York")
_DROPPED: Final = (
    "a key in a column's own definition stays in pkNames after DROP PRIMARY KEY, as 1.1.4, 1.1.5"
    " and 1.1.7 do"
)
_SIGN: Final = "TIME(1), TIME(2) and TIME(4) lose the sign below one second as TIME(3) was seen to"
_GTID_SET: Final = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-77"

_OLD: Final = CanalProfile(
    "1.1.5",
    deployment=_NEW_YORK,
    assumed=_SIGN,
    escapes=Escapes.FASTJSON1,
    drops_empty_old=True,
    lob_null_codes=False,
    time_sign_lost=True,
)

RELEASES: Final[Mapping[str, CanalProfile]] = {
    "1.1.4": replace(
        _OLD,
        release="1.1.4",
        deployment=_SHANGHAI,
        boolean_code=-7,
        query_is_ddl=False,
        hundred_hours_lost=True,
    ),
    "1.1.5": _OLD,
    "1.1.6": replace(
        _OLD,
        release="1.1.6",
        deployment=_SHANGHAI,
        assumed=_DROPPED,
        escapes=Escapes.FASTJSON2_RAW,
        time_sign_lost=False,
    ),
    "1.1.7": CanalProfile("1.1.7", deployment=_NEW_YORK, gtid=""),
    "1.1.8": CanalProfile("1.1.8", gtid=_GTID_SET, keeps_dropped_key=False, doubles_ticks=False),
}
"""The plain profile of each release (row image FULL, everything to partition 0)."""


_FACTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "noblob": {"image": "noblob"},
    "minimal": {"image": "minimal"},
    "column-hash": {"hash_columns": ("id",)},
    "columns-hash": {"hash_columns": ("id", "c")},
    "no-database-hash": {"database_hash": False},
    "tsdb-off": {"live": False},
    "mysql8": {"display_widths": False},
    "gbk": {"connection_charset": "gbk"},
}

CHOICES: Final = Choices(
    "alibaba-canal-json",
    tuple(RELEASES),
    meanings("alibaba-canal-json"),
    (
        ("noblob", "minimal"),
        ("pk-hash", "table-hash", "column-hash", "columns-hash"),
        ("mariadb", "mysql8"),
        ("utc", "shanghai", "new-york"),
    ),
    (
        Limit("no-database-hash", "came with 1.1.5", tuple(RELEASES)[1:]),
        Limit("no-database-hash", "concerns rules with columns alone", without=("table-hash",)),
    ),
    _FACTS,
)

_ZONES: Final = {"utc": "UTC", "shanghai": "Asia/Shanghai", "new-york": "America/New_York"}


def profile(release: str, *options: str) -> CanalProfile:
    """The profile of a release with options, in any order. Raises UnknownName, or UsageError for a
    pair that cannot be.
    """
    made = CHOICES.made(RELEASES, release, *options)
    if release == "1.1.6" and "minimal" in options:
        made = replace(made, deployment=_KOLKATA)
    for option in options:
        if option in _ZONES:
            made = replace(made, deployment=replace(made.deployment, time_zone=_ZONES[option]))
    return replace(made, gtid="") if "mariadb" in options and made.gtid is not None else made


SILENT_BEFORE_1_1_6: Final = frozenset({"table comment", "table charset"})
"""Table options, which the SQL parser of 1.1.4 and 1.1.5 drops: no message."""

STATEMENT_TYPES: Final[Mapping[str, str]] = {
    "rows-query": "QUERY",
    "statement-insert": "INSERT",
    "statement-update": "UPDATE",
    "statement-delete": "DELETE",
    "xa-commit": "XACOMMIT",
    "xa-rollback": "XAROLLBACK",
}


RESTART: Final = "canal-restart"
"""The family of a start of Canal after a stop: the events behind it up to its instant were
committed while Canal was down.
"""


def ddl_type(action: str, release: str) -> str | None:
    """The message `type` that a release gives a DDL action, None when it sends nothing."""
    if action in SILENT_BEFORE_1_1_6 and release in ("1.1.4", "1.1.5"):
        return None
    return DDL_TYPES.get(action)
