"""Where Debezium's connector stands in the log of its database, as its messages say it: in
`source`, in the member `transaction` and in the order of changes.

Source: debezium#source-mysql, debezium#source-postgresql, debezium#source-sqlserver,
debezium#source-oracle.
"""

from __future__ import annotations

import random
from typing import Any, Final

from generators.families.connect import members_of_struct
from generators.families.wire_messages import Raw
from generators.formats.debezium_json import envelope
from generators.formats.debezium_json.oracle_log import OracleLog
from generators.formats.debezium_json.profiles import DebeziumProfile
from generators.formats.debezium_json.rows import INCREMENTAL, Reading
from generators.formats.debezium_json.sqlserver_log import SqlServerLog
from generators.model import Instant
from generators.sources.boundaries import START

EVENTS_PER_FILE: Final = 40
"""Events of a history after which MySQL's log goes on in the next file."""


class LogPosition:
    """Where one task of a connector stands in the log: the log's file and the place in it, the
    transaction, and how many of the transaction's rows have been written, also by table.

    `prefix` is the connector's `topic.prefix`, which is its name in `source`; `reading` knows
    whether an incremental snapshot is going on. `query` is the SQL of the rows being written, ""
    where the profile does not log it.
    """

    def __init__(
        self, profile: DebeziumProfile, prefix: str, chance: random.Random, reading: Reading
    ) -> None:
        self.profile, self.prefix, self.chance, self.reading = profile, prefix, chance, reading
        self.server = chance.randrange(1, 1 << 32)
        # Both change their number of digits within a history of some dozens of events.
        self.file_number = 999_999 - chance.randrange(1, 999) % 3
        self.place = 10**9 - 2000 - chance.randrange(1 << 24, 1 << 25) % 4000
        self.advanced = 0
        self.last_commit = self.place - 8
        self.transaction = chance.randrange(500, 1_000_000)
        self.in_transaction = False
        self.counts: dict[str, int] = {}
        self.query = ""
        self.sqlserver_log = SqlServerLog()
        self.oracle_log = OracleLog()
        self.sqlserver_log.begin(self.place)
        self.oracle_log.begin(self.place, START.ms)

    @property
    def file(self) -> str:
        """The name of MySQL's log file."""
        return f"mysql-bin.{self.file_number:06d}"

    def advance(self) -> None:
        """Moves on to the next event in the log, which begins a new file of MySQL's log after every
        EVENTS_PER_FILE events, and, outside of a transaction, a new transaction.
        """
        self.place += self.chance.randrange(40, 400)
        self.advanced += 1
        if self.profile.is_mysql and self.advanced % EVENTS_PER_FILE == 0:
            self.file_number, self.place = self.file_number + 1, 157
        if not self.in_transaction:
            self.transaction += 1
            self.counts = {}
            self.sqlserver_log.begin(self.place)
            self.oracle_log.begin(self.place, START.ms)

    def see_row(self, number: int, at: Instant, snapshot: bool) -> None:
        """Moves on to the next row of an event: its first has `number` 0. Each row has its own
        place in the logs of PostgreSQL, SQL Server and Oracle, 56 behind the one before it (made
        up); the rows of a snapshot share one, and so do those of an event of MySQL.
        """
        if not self.profile.is_mysql and number and not snapshot:
            self.place += 56
        self.sqlserver_log.see_row(self.place)
        self.oracle_log.see_row(self.place, self.source_ms(at))

    def source_ms(self, at: Instant) -> int:
        """The member `ts_ms` of `source`: the commit's time, as exact as the log has it; of an
        incremental snapshot the connector's own clock.
        """
        if self.reading.incremental:
            return at.ms
        return at.ms // self.profile.step_ms * self.profile.step_ms

    def source(
        self,
        at: Instant,
        database: str,
        outer: str,
        table: str | None,
        row: int = 0,
        snapshot: str = "",
        *,
        is_statement: bool = False,
        in_transaction: bool = True,
    ) -> dict[str, Any]:
        """The member `source` of a message, as JSON. `outer` is the schema or database of the
        table; `row` the row's number in its event; `snapshot` the marker of a row that a snapshot
        read, "" for a streamed one. `is_statement`: the message is of a statement or a truncation;
        `in_transaction`: False for a logical message outside of transactions.
        """
        profile = self.profile
        in_log = snapshot in ("", INCREMENTAL)
        snapshot_marker: Any = snapshot or (Raw("null") if profile.nulls_kept else None)
        block: dict[str, Any] = {
            "version": profile.release,
            "connector": profile.connector,
            "name": self.prefix,
            "snapshot": snapshot_marker,
            "db": database,
            **envelope.stamps(profile, self.source_ms(at)),
        }
        if profile.is_mysql:
            mariadb = profile.connector == "mariadb"
            # The log has no position yet while a snapshot reads (debezium#snapshot-source).
            gtid = self.transaction_id() if in_log and (profile.transactions or mariadb) else None
            server = self.server if in_log else 0
            block |= {
                "table": table,
                "server_id": server,
                "gtid": gtid,
                "file": self.file,
                "pos": self.place,
                "row": row,
            }
            # The connector reads the thread in BEGIN, which stands before rows alone.
            threadless = mariadb or not in_log or is_statement
            block["thread"] = None if threadless else 7
            block["query"] = self.query or None
        elif profile.is_sqlserver:
            block |= {
                "schema": outer,
                "table": table,
                "change_lsn": None if snapshot else self.sqlserver_log.change_lsn,
                "commit_lsn": self.sqlserver_log.commit_lsn,
                "event_serial_no": None if snapshot else self.sqlserver_log.serial_number,
            }
        elif profile.is_oracle:
            block |= {"schema": outer, "table": table, **self.oracle_log.members(bool(snapshot))}
        else:
            transaction = self.transaction if in_transaction else None
            block |= {"schema": outer, "table": table, "txId": transaction, "lsn": self.place}
            last, place = "null" if snapshot else f'"{self.last_commit}"', f'"{self.place}"'
            if snapshot == INCREMENTAL:
                block |= {"txId": None, "lsn": None}
                last = place = f'"{self.last_commit}"'
            if profile.sequence:
                block["sequence"] = f"[{last},{place}]"
        return members_of_struct(envelope.source_schema(profile), block)

    def position(self, row: int = 0, snapshot: str = "") -> str | None:
        """The position of a row of the current event, by which a decoder orders changes; `row` is
        the row's number in MySQL's event, `snapshot` the marker of a row that a snapshot read, ""
        for a streamed one. None in PostgreSQL's incremental snapshot, which has no position. A row
        of SQL Server that a snapshot read has the commit's place alone.
        """
        if self.profile.is_sqlserver:
            return self.sqlserver_log.commit_lsn if snapshot else self.sqlserver_log.position
        if self.profile.is_oracle:
            return self.oracle_log.position(bool(snapshot))
        if self.reading.incremental and not self.profile.is_mysql:
            return None
        return f"{self.file}:{self.place}:{row}" if self.profile.is_mysql else str(self.place)

    def lsn(self) -> int | None:
        """The member `lsn` of `source` for the current event; None in an incremental snapshot."""
        return None if self.reading.incremental else self.place

    def transaction_id(self) -> str:
        """The id of the transaction that holds the current event, as the connector spells it: a
        GTID for MariaDB and MySQL, for PostgreSQL the transaction's number, in some releases with
        the event's LSN behind it.
        """
        if self.profile.connector == "mariadb":
            return f"0-{self.server}-{self.transaction}"
        if self.profile.is_sqlserver:
            return self.sqlserver_log.commit_lsn
        if self.profile.is_oracle:
            return self.oracle_log.transaction
        if self.profile.is_mysql:
            return f"3e11fa47-71ca-11e1-9e33-c80aa9429562:{self.transaction}"
        return (
            f"{self.transaction}:{self.place}"
            if self.profile.transaction_lsn
            else str(self.transaction)
        )

    def transaction_block(self, collection: str) -> dict[str, Any] | None:
        """The member `transaction` of the next row's message, as JSON; it counts the rows of the
        transaction, also by table (`collection`). None if the profile does not write the member.
        """
        if not self.profile.transactions:
            return None
        count = self.counts[collection] = self.counts.get(collection, 0) + 1
        total = sum(self.counts.values())
        block = {"id": self.transaction_id(), "total_order": total, "data_collection_order": count}
        return members_of_struct(envelope.transaction_schema(self.profile), block)
