"""Canal releases and their options, as the facts that change what is written.

Sources: canal#gtid, canal#old-left-out, canal#database-ddl, canal#escapes and output of the
releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from generators.families.canal import DDL_TYPES
from generators.families.java_text import Escapes
from generators.model import StatementFamily
from generators.profile_tables import read_choices
from generators.profiles import Profile


@dataclass(frozen=True, slots=True)
class CanalProfile(Profile):
    """A Canal release, the server's row image and the producer's options, as the facts that change
    bytes.
    """

    image: Literal["full", "noblob", "minimal"] = "full"
    """The server's binlog_row_image."""
    pk_hash: bool = False
    """`canal.mq.partitionHash` spreads rows by their primary key."""
    table_hash: bool = False
    """`canal.mq.partitionHash` names tables without columns."""
    hash_columns: tuple[str, ...] = ()
    """The columns that `canal.mq.partitionHash` names."""
    database_hash: bool = True
    """`canal.mq.database.hash`: a database's name is hashed, too."""
    dynamic_topic: bool = False
    """`canal.mq.dynamicTopic`: each table has a topic."""
    gtid: str | None = None
    """The text of the member gtid, None where the release has no such member (canal#gtid)."""
    escapes: Escapes = Escapes.FASTJSON2
    """The JSON library's escapes (canal#escapes)."""
    drops_empty_old: bool = False
    """`old` has no element for a row without a change (canal#old-left-out)."""
    lob_null_codes: bool = True
    """NULL of large columns has the codes 2004 and 2005."""
    boolean_code: int = -6
    """The code of BOOLEAN in sqlType."""
    query_is_ddl: bool = True
    """CREATE and DROP DATABASE are marked as DDL (canal#database-ddl)."""
    time_sign_lost: bool = False
    """A negative TIME loses its sign below one second."""
    hundred_hours_lost: bool = False
    """100 hours of TIME and more are read as 0."""
    table_options_silent: bool = False
    """Statements of a table's options alone have no message: the SQL parser drops them."""
    keeps_dropped_key: bool = True
    """pkNames still has a primary key that was dropped, if the column's own definition had made it
    one."""
    doubles_ticks: bool = True
    """A back-tick in a column's name stays doubled."""
    old_time: bool = False
    """TIME is stored as servers before 5.6 do."""
    mariadb: bool = False
    """The server is MariaDB, which logs rows of tables without a key whole under every row image,
    and no virtual column under MINIMAL."""
    display_widths: bool = True
    """The server prints display widths (before 8.0.19)."""
    connection_charset: str = ""
    """`canal.instance.connectionCharset`, "" for UTF-8."""
    live: bool = True
    """`canal.instance.tsdb.enable`; without it tables are as the server shows them, not as a
    statement spelled them."""

    @property
    def time_zone(self) -> str:
        """The JVM's zone, in which TIMESTAMP is rendered."""
        return self.deployment.time_zone


CHOICES: Final = read_choices("alibaba-canal-json", CanalProfile)

_TABLE_OPTIONS: Final = frozenset({"table comment", "table charset"})
"""Actions that change options of a table alone."""

STATEMENT_TYPES: Final[Mapping[StatementFamily, str]] = {
    "rows-query": "QUERY",
    "statement-insert": "INSERT",
    "statement-update": "UPDATE",
    "statement-delete": "DELETE",
    "xa-commit": "XACOMMIT",
    "xa-rollback": "XAROLLBACK",
}
"""The message's `type` by the family of a statement that is no DDL."""


def ddl_type(action: str, profile: CanalProfile) -> str | None:
    """The message `type` that a release gives a DDL action, None when it sends nothing."""
    if profile.table_options_silent and action in _TABLE_OPTIONS:
        return None
    return DDL_TYPES.get(action)
