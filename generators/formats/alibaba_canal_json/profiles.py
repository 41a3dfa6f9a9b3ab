"""Canal releases and their options, as the facts that change what is written.

Sources: canal#gtid, canal#old-left-out, canal#database-ddl, canal#escapes and output of the releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from generators.families.canal import DDL_TYPES
from generators.families.java_text import Escapes
from generators.model import Deployment
from generators.wire_format import Choices, Limit, Profile


@dataclass(frozen=True, slots=True)
class CanalProfile(Profile):
    """A Canal release, the server's row image and the producer's options, as the facts that change bytes.

    `gtid` is the text of the field, None when the release has no such field. `drops_empty_old` leaves out the `old` element of a
    row without a change. `lob_null_codes` gives NULL cells the codes 2004 and 2005. `query_is_ddl` marks CREATE and DROP DATABASE
    as DDL. `keeps_dropped_key` still names a primary key that was dropped.
    `database_hash` is `canal.mq.database.hash`.
    """

    image: str = "full"
    pk_hash: bool = False
    database_hash: bool = True
    gtid: str | None = None
    escapes: Escapes = Escapes.FASTJSON2
    drops_empty_old: bool = False
    lob_null_codes: bool = True
    boolean_code: int = -6
    query_is_ddl: bool = True
    time_sign_lost: bool = False
    hundred_hours_lost: bool = False
    keeps_dropped_key: bool = True

    @property
    def time_zone(self) -> str:
        """The JVM's zone, in which TIMESTAMP is rendered."""
        return self.deployment.time_zone


_SHANGHAI: Final = Deployment(time_zone="Asia/Shanghai")
_NEW_YORK: Final = Deployment(time_zone="America/New_York")
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
    "1.1.4": replace(_OLD, release="1.1.4", deployment=_SHANGHAI, boolean_code=-7, query_is_ddl=False, hundred_hours_lost=True),
    "1.1.5": _OLD,
    "1.1.6": replace(
        _OLD, release="1.1.6", deployment=_SHANGHAI, assumed="", escapes=Escapes.FASTJSON2_RAW, time_sign_lost=False
    ),
    "1.1.7": CanalProfile("1.1.7", deployment=_NEW_YORK, gtid=""),
    "1.1.8": CanalProfile("1.1.8", gtid=_GTID_SET, keeps_dropped_key=False),
}
"""The plain profile of each release (row image FULL, everything to partition 0)."""

OPTIONS: Final[Mapping[str, str]] = {
    "noblob": "binlog_row_image=NOBLOB: large columns that did not change are not there.",
    "minimal": "binlog_row_image=MINIMAL: before images hold the key, after images what changed.",
    "pk-hash": "Rows are spread over partitions by primary key; an event of several rows becomes several messages.",
}
"""What each option means, in the order of a profile's name."""

_HASHING: Final = (
    "needs 1.1.7 or later: before, an UPDATE with an unchanged row stops the hashing writer "
    "(IndexOutOfBounds, the batch rolls back for ever)"
)
CHOICES: Final = Choices(
    "alibaba-canal-json",
    tuple(RELEASES),
    OPTIONS,
    (("noblob", "minimal"),),
    (Limit("pk-hash", _HASHING, tuple(name for name, base in RELEASES.items() if not base.drops_empty_old)),),
)


def profile(release: str, *options: str) -> CanalProfile:
    """The profile of a release with options, in any order. Raises UnknownName, or UsageError for a pair that cannot be."""
    chosen = CHOICES.checked(release, options)
    image = next((option for option in options if option != "pk-hash"), "full")
    return replace(RELEASES[release], options=chosen, image=image, pk_hash="pk-hash" in options)


PROFILES: Final = (
    profile("1.1.4"),
    profile("1.1.5"),
    profile("1.1.6"),
    profile("1.1.6", "minimal"),
    profile("1.1.7"),
    profile("1.1.7", "pk-hash"),
    profile("1.1.8"),
    profile("1.1.8", "noblob"),
    profile("1.1.8", "minimal"),
    profile("1.1.8", "pk-hash"),
)

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


def ddl_type(action: str, release: str) -> str | None:
    """The message `type` that a release gives a DDL action, None when it sends nothing."""
    if action in SILENT_BEFORE_1_1_6 and release in ("1.1.4", "1.1.5"):
        return None
    return DDL_TYPES.get(action)
