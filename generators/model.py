"""The model that all formats share: tables, events, messages and the expected changes.

A `History` is what happened at the source; a writer turns it into `Message`s and, beside each, the
`Change`s that a perfect decoder recovers from those bytes. Nothing here knows a wire format.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias


class Logical(enum.StrEnum):
    """The kind of a column type, which decides how values are compared, whatever its source calls
    the type.
    """

    INT = "int"
    DECIMAL = "decimal"
    FLOAT = "float"
    DOUBLE = "double"
    BIT = "bit"
    TEXT = "text"
    BINARY = "binary"
    DATE = "date"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    TIME = "time"
    YEAR = "year"
    ENUM = "enum"
    SET = "set"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class SourceType:
    """A column type as its source declares it.

    `name` is the bare lower-case name (`bigint`, `varchar`), `logical` decides how values are
    compared. The rest are the type's parameters: `length` is in characters, bytes or bits, of
    MySQL's integers it is the display width; `fsp` counts the fraction digits of seconds; `members`
    are the labels of an ENUM or SET; `low` and `high` are the least and the greatest whole number.
    `source` is the database that has the type (`generators.sources.databases.SOURCES`).
    """

    name: str
    logical: Logical
    unsigned: bool = False
    zerofill: bool = False
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    fsp: int = 0
    members: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    source: str = "mysql"

    @property
    def key(self) -> str:
        """The name that rules and case ids use: `bigint unsigned`, `varchar`."""
        return f"{self.name} unsigned" if self.unsigned else self.name

    @property
    def spark(self) -> str:
        """The Spark type, as DDL text, in which rows at level two (typed rows) hold the column by
        default. An integer has the narrowest signed type for its range, a YEAR at least int.
        """
        match self.logical:
            case Logical.INT | Logical.YEAR:
                low, high = self.low or 0, self.high or 0
                for name, bits in (("tinyint", 7), ("smallint", 15), ("int", 31), ("bigint", 63)):
                    if self.logical is Logical.YEAR and name != "int":
                        continue
                    if low >= -(1 << bits) and high < (1 << bits):
                        return name
                return "decimal(20,0)"
            case Logical.DECIMAL:
                assert self.precision is not None and self.scale is not None
                precision = max(self.precision - min(self.scale, 0), self.scale)
                return "string" if precision > 38 else f"decimal({precision},{max(self.scale, 0)})"
            case Logical.BIT:
                return {1: "boolean", 64: "decimal(20,0)"}.get(self.length or 1, "bigint")
            case Logical.ENUM:
                return "int"
            case Logical.SET:
                return "decimal(20,0)"
            case Logical.FLOAT | Logical.DOUBLE | Logical.BINARY | Logical.DATE | Logical.TIMESTAMP:
                return self.logical.value
            case Logical.DATETIME:
                return "timestamp_ntz"
            case Logical.TEXT | Logical.TIME | Logical.JSON:
                return "string"


@dataclass(frozen=True, slots=True)
class ZeroDate:
    """A zero or partial-zero DATE, DATETIME or TIMESTAMP, which no calendar type can hold.

    `micros` is the time of day in microseconds.
    """

    year: int = 0
    month: int = 0
    day: int = 0
    micros: int = 0


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON document; `value` is what a parser with exact numbers makes of it (`Json(None)` is the
    literal null), `text` the text in which PostgreSQL keeps it, where that is known.
    """

    value: Any
    text: str = field(default="", compare=False)


Value: TypeAlias = None | int | float | Decimal | str | bytes | date | ZeroDate | Json
Row: TypeAlias = Mapping[str, Value]
"""A whole row by column name. DATETIME is microseconds of wall clock since 1970-01-01, TIMESTAMP
microseconds since the epoch, TIME signed microseconds, ENUM a 1-based index, SET a bit mask.
"""


@dataclass(frozen=True, slots=True)
class Default:
    """A column's DEFAULT: `text` as SHOW CREATE TABLE (PostgreSQL: the catalogue) prints it,
    `value` None for an expression.
    """

    text: str
    value: Value = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    `declared` is the type as the statement that made the table spelled it, "" for the source's own
    spelling; `charset` a character set other than the table's default and `collation` its
    collation; `generated` is stored, virtual or ""; `comment` is its comment, None
    for none; `inline_unique` says
    that its definition itself has UNIQUE, a unique key that some writers read otherwise than one
    that the table's definition lists. `inline_primary` says whether it has PRIMARY KEY itself:
    False if an earlier definition had it and the present one has not, None if none had.
    `is_counter` says that it has AUTO_INCREMENT, or ON UPDATE without the default
    CURRENT_TIMESTAMP before it, which some writers take for a counter, too; `has_on_update` that it
    has ON UPDATE. `storage` is the storage that a statement of PostgreSQL gives it (external, main,
    extended or plain), "" for that of its type.
    """

    name: str
    type: SourceType
    nullable: bool = True
    declared: str = field(default="", repr=False)
    default: Default | None = field(default=None, repr=False)
    charset: str = field(default="", repr=False)
    collation: str = field(default="", repr=False)
    generated: str = field(default="", repr=False)
    comment: str | None = field(default=None, repr=False)
    inline_unique: bool = field(default=False, repr=False)
    inline_primary: bool | None = field(default=None, repr=False)
    is_counter: bool = field(default=False, repr=False)
    has_on_update: bool = field(default=False, repr=False)
    storage: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a table under its name; `clustered` is the primary key by which the database
    finds rows. A `partial` index is over some rows alone, so that a unique one is no key.
    `included` are the columns that INCLUDE adds to the index, which are no part of the key.
    """

    name: str
    columns: tuple[str, ...]
    unique: bool = False
    clustered: bool = False
    partial: bool = field(default=False, repr=False)
    included: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_key(self) -> bool:
        """Whether no two rows of the table have the same values in its columns."""
        return self.unique and not self.partial


@dataclass(frozen=True, slots=True)
class Table:
    """A table at one version of its schema. `primary_key` is in the key's declared order; `unique`
    are unique keys beside it. `included` are the columns that INCLUDE adds to the primary key's
    index, which are no part of the key.

    `indexes` are the indexes whose names are known, those of unique keys among them, but not that
    of a primary key of one integer column by which the database itself finds rows. `comment` is the
    table's comment, None for none.
    """

    database: str
    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    schema: str | None = None
    indexes: tuple[Index, ...] = field(default=(), repr=False)
    comment: str | None = field(default=None, repr=False)
    included: tuple[str, ...] = field(default=(), repr=False)

    def column(self, name: str) -> Column:
        """The table's column of that name. Raises KeyError if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    @property
    def handle_key(self) -> tuple[str, ...]:
        """The columns that identify a row: the primary key, else the narrowest unique key without
        nullable columns, else ().
        """
        if self.primary_key:
            return self.primary_key
        keys_without_null = [
            key for key in self.unique if not any(self.column(name).nullable for name in key)
        ]
        return min(keys_without_null, key=len) if keys_without_null else ()

    def image(self, cells: Mapping[str, Cell]) -> Image:
        """The image of a row whose message has these cells; columns without a cell are absent."""
        return {
            c.name: cells[c.name] if c.name in cells else Cell(State.ABSENT, c.type)
            for c in self.columns
        }

    def spark_ddl(self) -> str:
        """The table's columns with their default Spark types, as the DDL text that
        `StructType.fromDDL` reads.
        """
        return ", ".join(f"`{c.name.replace('`', '``')}` {c.type.spark}" for c in self.columns)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """When the source committed: wall-clock milliseconds, and a counter that orders commits within
    one millisecond.
    """

    ms: int
    seq: int = 0

    @property
    def tso(self) -> int:
        """TiDB's timestamp oracle form: physical milliseconds, then 18 bits of logical counter."""
        return (self.ms << 18) | self.seq


class Op(enum.StrEnum):
    """What happened to a row."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    READ = "READ"
    TRUNCATE = "TRUNCATE"


@dataclass(frozen=True, slots=True)
class RowImages:
    """One row's before and after image at the source, whole."""

    before: Row | None
    after: Row | None


@dataclass(frozen=True, slots=True)
class RowChange:
    """One statement's changes of one kind to one table (a binlog rows event); writers split it as
    they do.
    """

    at: Instant
    table: Table
    op: Op
    rows: tuple[RowImages, ...]


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A DDL statement. `action` is its kind, a key of `generators.sources.mysql.DDL_ACTIONS`;
    `table` is "" for database-level statements.

    `before` and `after` are the table before and after the statement, None if there is none or it
    is not known; `old_name` is the table's name before a RENAME.
    """

    at: Instant
    action: str
    sql: str
    database: str
    table: str = ""
    before: Table | None = None
    after: Table | None = None
    old_name: str | None = None


StatementFamily: TypeAlias = Literal[
    "rows-query",
    "statement-insert",
    "statement-update",
    "statement-delete",
    "xa-commit",
    "xa-rollback",
]
"""What a statement is that is no DDL: the text of the statement behind row events, a statement that
is logged in place of its rows, the end of an XA transaction.
"""


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """A statement that some writers pass on although it is neither a row image nor DDL; `family`
    says what it is.
    """

    at: Instant
    family: StatementFamily
    sql: str
    database: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class LogicalMessage:
    """A message of PostgreSQL's pg_logical_emit_message. `in_transaction` is False for one that no
    transaction holds.
    """

    at: Instant
    prefix: str
    content: bytes
    database: str = ""
    in_transaction: bool = True


@dataclass(frozen=True, slots=True)
class ReplicaIdentity:
    """ALTER TABLE ... REPLICA IDENTITY: what PostgreSQL sends of old rows of the table from here
    on. `columns` are those of the index that USING INDEX names, () for the table's first unique
    key.
    """

    at: Instant
    database: str
    schema: str | None
    table: str
    identity: Literal["full", "index", "default"]
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IncrementalSnapshot:
    """From here on, the rows that are READ are those of an incremental snapshot, which Debezium
    takes of a table while its stream goes on. Another row change, a statement or a logical message
    ends it.
    """

    at: Instant


@dataclass(frozen=True, slots=True)
class CanalRestart:
    """Alibaba's Canal itself stops, and starts again: the events behind this one up to its instant
    were committed while Canal was down.
    """

    at: Instant


@dataclass(frozen=True, slots=True)
class DtsOperation:
    """A record of Aliyun DTS that no other event causes. `operation` is a word of its schema;
    COMMAND has the text `sql`.
    """

    at: Instant
    operation: str
    sql: str = ""
    database: str = ""


@dataclass(frozen=True, slots=True)
class DtsSetting:
    """From here on, Aliyun DTS writes with other settings: `facts` are fields of its profile, by
    name, with their new values.
    """

    at: Instant
    facts: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Watermark:
    """Everything committed up to `at` has been sent."""

    at: Instant


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A table's schema, which a writer sends ahead of the table's rows. With `over` it says that
    all of these rows have been sent, which Maxwell alone tells.
    """

    at: Instant
    table: Table
    over: bool = False


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The source is alive; nothing changed."""

    at: Instant


@dataclass(frozen=True, slots=True)
class TransactionMark:
    """The begin or the end of transaction `id`, as `mark` says: BEGIN or COMMIT. `changes` counts
    its row changes.
    """

    at: Instant
    mark: str
    id: str
    changes: int = 0


Event: TypeAlias = (
    RowChange
    | SchemaChange
    | SourceStatement
    | LogicalMessage
    | ReplicaIdentity
    | IncrementalSnapshot
    | CanalRestart
    | DtsOperation
    | DtsSetting
    | Watermark
    | Bootstrap
    | Heartbeat
    | TransactionMark
)


@dataclass(frozen=True, slots=True)
class History:
    """Events in commit order, and the seed of everything a writer would leave to chance (random key
    orders, `ts` lag, uuids).
    """

    events: tuple[Event, ...]
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Deployment:
    """What decoding needs and the bytes do not show.

    `time_zone` is an IANA name, `compression` none, snappy or lz4. The others are the writer's
    options, "" if it has no such option: `binary` the text form of binaries, `decimal` that of
    DECIMAL, `temporal` the precision or form of dates and times, `bigint_unsigned` that of BIGINT
    UNSIGNED. The format's module names their values. `schemas` says where the schema of a message
    is: `message` (in its key and value), `value` (in its value alone), `none` (nowhere),
    `published` (it is the product's published one), `registry` (in a registry, under the id in the
    message), "" if the format has none.
    """

    time_zone: str = "UTC"
    charset: str = "utf8mb4"
    compression: str = "none"
    binary: str = ""
    decimal: str = ""
    temporal: str = ""
    bigint_unsigned: str = ""
    schemas: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a writer may put messages: its default topic and the number of partitions of every
    topic.
    """

    topic: str = "cdc"
    partitions: int = 3


@dataclass(frozen=True, slots=True)
class Message:
    """A Kafka record as the writer produces it. A `key` or `value` of None is NULL in Kafka, b""
    has no bytes. `event` is the number of the history's event that the message is of, `case` the id
    of the case that it is of, "" for none.
    """

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp_ms: int = 0
    event: int = 0
    case: str = ""

    @property
    def size(self) -> int:
        """Bytes of key and value."""
        return len(self.key or b"") + len(self.value or b"")


class Kind(enum.StrEnum):
    """What an output row of a decoder is."""

    ROW = "ROW"
    DDL = "DDL"
    WATERMARK = "WATERMARK"
    BOOTSTRAP = "BOOTSTRAP"
    HEARTBEAT = "HEARTBEAT"
    TRANSACTION = "TRANSACTION"
    CONTROL = "CONTROL"
    TOMBSTONE = "TOMBSTONE"
    CORRUPT = "CORRUPT"


class State(enum.StrEnum):
    """What is expected of a cell: its VALUE, NULL, that the message does not carry the column
    (ABSENT), ANY value, or ONE_OF several values.
    """

    VALUE = "VALUE"
    NULL = "NULL"
    ABSENT = "ABSENT"
    ANY = "ANY"
    ONE_OF = "ONE_OF"


UNPAIRED: Final = "the message does not say which before image is the row's"
"""The `reason` of every cell of a before image that no decoder can tell."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a perfect decoder recovers for one column of one image.

    `value` is canonical (level two), `text` what stands on the wire (level one); `json` says that
    the wire holds a JSON value other than a string, to be compared as a value. ONE_OF lists
    canonical values in `options`; for ANY they are values that it cannot be. ANY and ONE_OF say why
    in `reason`, and still compare `text` at level one when it is set. `cls` is the value's class
    (`generators.sources.mysql.value_class`), by which rules select.
    """

    state: State
    type: SourceType
    value: Value = None
    text: str | None = None
    cls: str = ""
    json: bool = False
    options: tuple[Value, ...] = ()
    reason: str = ""


Image: TypeAlias = Mapping[str, Cell]
"""A row image by column: every column of the table, the ones that the wire does not carry as
ABSENT.
"""


Side: TypeAlias = Literal["before", "after"]
"""One of a row's two images."""
SIDES: Final[tuple[Side, ...]] = ("before", "after")
OTHER_SIDE: Final[Mapping[str, Side]] = {"before": "after", "after": "before"}
SideOrRow: TypeAlias = Literal["", "before", "after"]
"""The image that something is in, "" if it is of the row itself."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of a decoder's output, as a perfect decoder would give it.

    `before` and `after` are the wire's images (level one). `full_before` and `full_after`, when not
    None, replace them at level two: images rebuilt from the whole message (a partial `old` overlaid
    on `data`). `accept` lists other (kind, op) pairs that are as good, `databases` and `tables`
    other names of database and table (with both, the n-th of one goes with the n-th of the other),
    `other_keys` other keys, each in its order, `key_sets` other keys, each in any order; `anything`
    says that any rows will do as long as there is one (UNSPECIFIED faults). None in `position`,
    `commit_time_us`, `types`, `schema_version` means that the format has none there.
    """

    row: int
    kind: Kind
    op: Op | None = None
    database: str | None = None
    schema: str | None = None
    table: str | None = None
    keys: tuple[str, ...] | None = None
    position: str | None = None
    commit_time_us: int | None = None
    before: Image | None = None
    after: Image | None = None
    full_before: Image | None = None
    full_after: Image | None = None
    types: Mapping[str, str] | None = None
    schema_version: str | None = None
    sql: str | None = None
    key_sets: tuple[frozenset[str], ...] = ()
    other_keys: tuple[tuple[str, ...], ...] = ()
    accept: tuple[tuple[Kind, Op | None], ...] = ()
    databases: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    anything: bool = False

    def is_row_of(self, table: str | None) -> bool:
        """Whether it is a row change of the table of that name."""
        return self.kind is Kind.ROW and table in (self.table, *self.tables)

    def image(self, side: SideOrRow, level: int) -> Image | None:
        """The expected before or after image; `side` "", the row itself, stands for the after
        image. `level` 1 is what stands on the wire, as texts; level 2 what it means, as typed rows.
        None if the change has no such image.
        """
        if side == "before":
            return self.full_before if level == 2 and self.full_before is not None else self.before
        return self.full_after if level == 2 and self.full_after is not None else self.after


@dataclass(frozen=True, slots=True)
class Written:
    """A message, and the `changes` that it owes: the rows that a right decoder returns for it."""

    message: Message
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named history to be written by some profile. `level` is 1, for decoders that return values
    as texts, or 2, for decoders that return rows typed for a table.

    `tags` are words that rules select by (`boundary`, `ddl:rename table`, `fault:truncated`).
    """

    name: str
    history: History
    level: int = 1
    tags: frozenset[str] = field(default_factory=frozenset)

    def tagged(self, *tags: str) -> Scenario:
        """The same scenario with these tags added to its own."""
        return replace(self, tags=self.tags | set(tags))


class Origin(enum.StrEnum):
    """Where a case comes from: NAMED has an id that never changes, DRAWN comes from the run's seed,
    FAULT is a named case that is spoiled, FOREIGN a message of another table in a call of level two
    (typed rows), RECORDED bytes of a real product.
    """

    NAMED = "named"
    DRAWN = "drawn"
    FAULT = "fault"
    FOREIGN = "foreign"
    RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario as one profile of one format wrote it: the messages that are published, and the
    rows that a right decoder returns for them, under an id that never changes.

    `id` is `<format>/<profile>/<scenario>`. `tables` are the tables that its rows belong to.
    `scenario` is the scenario's name, `fault` the name of what spoils it, "" for nothing.
    `unmatched`, of a recorded case, says why it is not known what a decoder must return: such a
    case has no messages and has failed.
    """

    id: str
    format: str
    profile: str
    deployment: Deployment
    level: int
    tables: tuple[Table, ...]
    written: tuple[Written, ...]
    tags: frozenset[str] = frozenset()
    origin: Origin = field(default=Origin.NAMED, compare=False)
    scenario: str = field(default="", compare=False)
    fault: str = field(default="", compare=False)
    unmatched: str = field(default="", compare=False)

    @property
    def changes(self) -> Iterator[Change]:
        """The expected changes of all its messages, in the order of the messages."""
        for written in self.written:
            yield from written.changes


def messages_of(cases: Iterable[Case]) -> Iterator[Message]:
    """The messages of all cases, in the order in which the cases publish them."""
    for case in cases:
        for written in case.written:
            yield written.message
