"""Keyed tables kept from changes, batch by batch.

The state after batch n is a Parquet directory `n`, made of the state before it and the batch alone,
and moved there by one rename. A batch run again after a crash gives the same state, so that
at-least-once reading becomes exactly-once tables. It uses only Spark's own expressions; nothing is
gathered on the driver.

A state holds rows of several parts (`part`):

| part | holds |
|---|---|
| row | the last image of a row by (database, schema, table, key), or that it is deleted (a tombstone) |
| pending | a change whose schema has not come yet |
| schema | the key's columns by (database, table, schema version) |
| ddl | what a statement does to older rows of its table: `clear` it (TRUNCATE, DROP TABLE), `drop` a column |
| watermark | the highest watermark of a partition; rows below it are late repeats, tombstones below it are forgotten |
| corrupt | an unreadable message, by partition and offset |
| seen | how many messages of a partition were seen |

Which of two changes of a row is the newer one is the format's own order
(`conformance.rules.order`). A late row needs a tombstone to be told from a new one, and tombstones
would be kept for ever: where a format has watermarks, they end that. Without watermarks tombstones
stay. A watermark holds nothing back: rows show as soon as they are read, not when their commit is
complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from conformance.rules.order import Order, number_sql
from generators.model import Table

KEPT: Final = 3
"""How many states are kept: the last one is made of the one before it."""

STATE: Final = (
    "part string, database string, schema string, table string, key array<string>, version"
    " array<decimal(20,0)>, tie array<bigint>, deleted boolean, image map<string,string>, partition"
    " int, offset bigint, row int, op string, before map<string,string>, schema_version string,"
    " keys array<string>, text string, count bigint"
)
"""The columns of a state, as Spark's DDL. A row uses those of its part (the column `part`, see the
top of this module); in the others it has NULL.
"""

_PLACE: Final = ("partition", "offset", "row")
"""The columns that number a change: its message's place in the topic, and its place there."""
_TABLE: Final = ("database", "table")
"""The columns that identify a table in the parts of statements and of versions of a schema."""
_ROW_KEY: Final = ("database", "schema", "table", "key")
"""The columns that identify a table's row; `key` has the values of its key columns."""
_QUOTED: Final = r"(?:`((?:[^`]|``)+)`|\"([^\"]+)\"|([^\s`\".;(,]+))"
"""A name in one of MySQL's three spellings, each of which has a group of its own."""
_SPELLINGS: Final = 3
"""The number of groups of `_QUOTED`."""
_NAME: Final = rf"(?:{_QUOTED}\s*\.\s*)?{_QUOTED}"
"""A table's name, before which its database's may stand: groups 4 to 6, and 1 to 3."""
_COMMENTS: Final = r"(?is)^(?:\s|/\*.*?\*/)*"
"""The blanks and comments before a statement's first word; sets the flags of a whole pattern."""
_CLEARS: Final = rf"{_COMMENTS}(?:TRUNCATE(?:\s+TABLE)?|DROP\s+TABLE(?:\s+IF\s+EXISTS)?)\s+{_NAME}"
"""A statement that empties a table, or drops it."""
_ALTERS: Final = rf"{_COMMENTS}ALTER\s+(?:(?:ONLINE|IGNORE)\s+)*TABLE\s+(?:IF\s+EXISTS\s+)?{_NAME}"
"""How a statement begins that alters a table; its clauses come behind that."""
_QUOTED_NAME: Final = r"(`(?:[^`]|``)*`|\"[^\"]*\")"
"""A name between quotes, whose characters are no SQL; one group."""
_NO_SQL: Final = (
    rf"(?s){_QUOTED_NAME}|\x27(?:[^\x27\\]|\x27\x27|\\.)*\x27|/\*.*?\*/|(?:--\s|#)[^\n]*"
)
"""A quoted name (group 1), or else a string or a comment. x27 is the single quote, which cannot
stand in one of Spark's raw strings.
"""
_PARENTHESES: Final = rf"{_QUOTED_NAME}|\((?:[^()`\"]|`[^`]*`|\"[^\"]*\")*\)"
"""A quoted name (group 1), or else parentheses that have no other ones in them."""
_NESTED: Final = 5
"""How many parentheses may stand within each other in a statement of which clauses are read."""
_CLAUSE: Final = r"(?:`(?:[^`]|``)*`|\"[^\"]*\"|[^,])+"
"""A clause of an ALTER TABLE without parentheses: what stands between two commas."""
_NO_COLUMN: Final = (
    r"(?:INDEX|KEY|PRIMARY|FOREIGN|CONSTRAINT|CHECK|PARTITION|SYSTEM\s+VERSIONING|PERIOD\s+FOR)\b"
)
"""What a clause drops that is no column."""
_DROPS: Final = (
    rf"(?is)^\s*DROP\s+(?:COLUMN\s+|(?!COLUMN\s|{_NO_COLUMN}))(?:IF\s+EXISTS\s+)?{_QUOTED}"
)
"""A clause of an ALTER TABLE that drops a column, with or without the word COLUMN."""
_TABLE_GROUP: Final = 1 + _SPELLINGS
"""The first group of the table's name in `_CLEARS` and in `_ALTERS`."""


@dataclass(frozen=True, slots=True)
class Materialiser:
    """The steps by which a format's changes become tables. `order` says which of two changes of a
    row is the newer one and where a change's key columns are found, `tables` are the tables whose
    keys are known beforehand.

    `merge` makes the state after a batch from the state before it and the batch of changes. Every
    step is a method of its own, so that a subclass that is wrong on purpose (a liar of the self
    test) can do one of them wrongly.
    """

    order: Order
    tables: tuple[Table, ...] = ()

    def merge(self, state: DataFrame, changes: DataFrame) -> DataFrame:
        """The state after a batch: all that a keeper remembers of its tables, as rows that the
        column `part` tells apart (`row`, `pending`, `schema`, `ddl`, `watermark`, `corrupt`,
        `seen`). `state` is the state before the batch, with the columns of STATE. `changes` is a
        decoder's output at level one (texts, not typed rows); it is read several times.
        """
        new = self.add_versions(changes)
        schemas = self.schemas(part_of(state, "schema"), new)
        ddl = self.ddl(part_of(state, "ddl"), new)
        watermarks_before = part_of(state, "watermark")
        watermarks = self.watermarks(watermarks_before, new)
        punctual_rows = self.drop_late_rows(new, watermarks_before)
        row_changes, pending = self.resolve_keys(part_of(state, "pending"), punctual_rows, schemas)
        key_rows = self.fold_events(part_of(state, "row"), self.events(row_changes))
        key_rows = self.apply_statements(key_rows, ddl)
        parts = (
            self.forget_tombstones(key_rows, watermarks),
            pending,
            schemas,
            ddl,
            watermarks,
            self.corrupt(part_of(state, "corrupt"), new),
            self.count_messages(part_of(state, "seen"), new),
        )
        return union(parts)

    def add_versions(self, changes: DataFrame) -> DataFrame:
        """A decoder's changes as the other steps of `merge` need them: their place (partition,
        offset, row), the column `version` (by which changes of a row are ordered), optional columns
        that the decoder left out (NULL), and the after image under the name `image`. The column
        `types` is dropped.
        """
        column_types = {
            "database": "string",
            "schema": "string",
            "table": "string",
            "keys": "array<string>",
            "position": "string",
        }
        column_types |= {
            "commit_time": "timestamp",
            "schema_version": "string",
            "sql": "string",
            "error": "string",
        }
        missing = {
            n: F.lit(None).cast(kind)
            for n, kind in column_types.items()
            if n not in changes.columns
        }
        full = changes.withColumns(missing) if missing else changes
        names = ("database", "schema", "table")
        return full.select(
            *_PLACE, "kind", "op", *(F.coalesce(n, F.lit("")).alias(n) for n in names),
            F.when(F.size("keys") > 0, F.col("keys")).alias("keys"),
            self.version_column().alias("version"),
            "before", F.col("after").alias("image"), "schema_version", "sql", "error",
        )  # fmt: skip

    def version_column(self) -> Column:
        """The column `version` by which the changes of a row are ordered, an array of numbers:
        those in the text of the position, or else the commit time in microseconds. It is the same
        for all changes of a format in which the one that arrives later is the newer one.
        """
        if self.order.arrival:
            return F.expr("array(CAST(0 AS decimal(20,0)))")
        cases = []
        for pattern, groups in self.order.positions:
            numbers = ", ".join(number_sql(pattern, group) for group in groups)
            cases.append(f"WHEN position RLIKE r'{pattern}' THEN array({numbers})")
        commit_micros = "array(CAST(unix_micros(commit_time) AS decimal(20,0)))"
        return F.expr(
            f"CASE {' '.join(cases)} ELSE {commit_micros} END" if cases else commit_micros
        )

    def schemas(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The part `schema` after a batch: the names of the key columns by database, table and
        schema version, from `state`, which is this part before the batch, and the BOOTSTRAP and DDL
        messages of the batch (`new`). If several messages have the same version of a table, any one
        counts. A format whose row changes name no schema version has an empty part.
        """
        if self.order.keys != "schema":
            return state
        versions = new.where(
            "kind IN ('BOOTSTRAP', 'DDL') AND schema_version IS NOT NULL AND keys IS NOT NULL"
        )
        both = union((state, as_part("schema", versions.select(*_TABLE, "schema_version", "keys"))))
        cached = both.groupBy(*_TABLE, "schema_version").agg(F.first("keys").alias("keys"))
        return as_part("schema", cached)

    def ddl(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The part `ddl` after a batch: which tables a statement emptied (`clear`) and which
        columns it dropped (`drop`, the column's name in `text`), each with the statement's
        `version`. `state` is this part before the batch, `new` the changes of the batch. A
        statement that comes in several partitions, or again, counts once. A table is identified by
        its schema too, where the messages name it.
        """
        ddl_changes = new.where("kind = 'DDL' OR (kind = 'ROW' AND op = 'TRUNCATE')")
        clears, alters = f"sql RLIKE r'{_CLEARS}'", f"sql RLIKE r'{_ALTERS}'"
        name = (
            f"CASE WHEN {clears} THEN {_name_sql('sql', _CLEARS, _TABLE_GROUP)}"
            f" WHEN {alters} THEN {_name_sql('sql', _ALTERS, _TABLE_GROUP)} END"
        )
        drops = f"transform({_dropped_columns_sql()}, c -> struct('drop' AS op, c AS text))"
        effects = (
            f"CASE WHEN op = 'TRUNCATE' OR {clears} THEN"
            f" array(struct('clear' AS op, string(NULL) AS text)) WHEN {alters} THEN {drops} END"
        )
        statements = ddl_changes.selectExpr(
            "database", "schema", f"CASE WHEN table <> '' THEN table ELSE {name} END AS table",
            "version", f"inline({effects}) AS (op, text)",
        )  # fmt: skip
        columns = ("database", "schema", "table", "op", "text", "version")
        return as_part(
            "ddl", union((state, as_part("ddl", statements))).select(*columns).distinct()
        )

    def watermarks(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The part `watermark` after a batch: the highest watermark of each partition, from
        `state`, which is this part before the batch, and the WATERMARK messages of the batch
        (`new`). A watermark says that its partition has no more new changes below it. A format
        without watermarks has an empty part.
        """
        if not self.order.watermarks:
            return state
        both = union(
            (
                state,
                as_part(
                    "watermark", new.where("kind = 'WATERMARK'").select("partition", "version")
                ),
            )
        )
        return as_part(
            "watermark", both.groupBy("partition").agg(F.max("version").alias("version"))
        )

    def drop_late_rows(self, new: DataFrame, watermarks: DataFrame) -> DataFrame:
        """The row changes of a batch (`new`) without the late ones, which are below the watermark
        that their partition had before the batch (`watermarks`) and so are repeats. A TRUNCATE is
        no row change here.
        """
        row_changes = new.where("kind = 'ROW' AND op <> 'TRUNCATE'")
        if not self.order.watermarks:
            return row_changes
        passed = F.broadcast(watermarks.select("partition", F.col("version").alias("passed")))
        late = F.coalesce(F.col("version") < F.col("passed"), F.lit(False))
        return row_changes.join(passed, "partition", "left").where(~late).drop("passed")

    def resolve_keys(
        self, pending: DataFrame, row_changes: DataFrame, schemas: DataFrame
    ) -> tuple[DataFrame, DataFrame]:
        """Finds the key columns (`keys`) of the batch's row changes, and of those of earlier
        batches that waited for their table's schema (`pending`). Returns the changes whose key
        columns are known now, and, as the new part `pending`, those that wait.
        """
        match self.order.keys:
            case "schema":
                columns = (
                    *_TABLE,
                    "schema",
                    "schema_version",
                    "version",
                    *_PLACE,
                    "op",
                    "before",
                    "image",
                )
                both = pending.select(*columns).unionByName(row_changes.select(*columns))
                schema_keys = F.broadcast(schemas.select(*_TABLE, "schema_version", "keys"))
                keyed = both.join(schema_keys, [*_TABLE, "schema_version"], "left")
                return keyed.where("keys IS NOT NULL"), as_part(
                    "pending", keyed.where("keys IS NULL")
                )
            case "table":
                handles = {t.name: t.handle_key for t in self.tables}
                keys: list[Column] = []
                for name, key in handles.items():
                    keys += [F.lit(name), F.array(*map(F.lit, key))]
                known_keys = (
                    F.try_element_at(F.create_map(*keys), F.col("table")) if keys else F.lit(None)
                )
                row_changes = row_changes.withColumn("keys", F.coalesce("keys", known_keys))
        return row_changes.where("keys IS NOT NULL"), as_part(
            "pending", row_changes.where("keys IS NULL")
        )

    def events(self, row_changes: DataFrame) -> DataFrame:
        """What the row changes do to single keys, as rows with `key`, `deleted` and `image`:
        upserts and deletes. An UPDATE that changes the key gives two, the delete of the old key and
        the upsert of the new one. `tie` decides between events of one `version`; `whole` says
        whether the image has all columns as they are now, which that of an UPDATE may not.
        """
        old = "transform(keys, k -> coalesce(try_element_at(before, k), try_element_at(image, k)))"
        keyed = row_changes.withColumns(
            {"old_key": F.expr(f"CASE WHEN before IS NOT NULL THEN {old} END"),
             "new_key": F.expr("CASE WHEN image IS NOT NULL THEN transform(keys, k -> try_element_at(image, k)) END")}
        )  # fmt: skip
        # Of one position: deletes first where the format says so, then by arrival; of one UPDATE
        # the delete half first.
        rank = "IF(op = 'DELETE', 0L, 1L)" if self.order.deletes_first else "0L"

        def event_sql(key: str, deleted: bool, half: int) -> str:
            """SQL of one event of a key: a delete, or an upsert with the after image. `key` is the
            SQL of the key; `half` orders the two events of one UPDATE, the delete (0) before the
            upsert (1).
            """
            tie = f"array({rank}, offset, CAST(row AS bigint), {half}L)"
            image = "CAST(NULL AS map<string,string>)" if deleted else "image"
            is_complete = "true" if deleted else "op <> 'UPDATE'"
            return (
                f"named_struct('key', {key}, 'tie', {tie}, 'deleted', {str(deleted).lower()},"
                f" 'image', {image}, 'whole', {is_complete})"
            )

        gone = event_sql("old_key", True, 0)
        upsert = event_sql("new_key", False, 1)
        items = (
            f"CASE WHEN op = 'DELETE' THEN array({gone}) WHEN op = 'UPDATE' AND old_key <> new_key"
            f" THEN array({gone}, {upsert}) ELSE array({upsert}) END"
        )
        exploded = keyed.select(
            *_TABLE, "schema", "version", "partition", F.explode(F.expr(items)).alias("e")
        )
        return exploded.select(*_TABLE, "schema", "version", "partition", "e.*").where(
            "key IS NOT NULL"
        )

    def newness(self) -> str:
        """The SQL expression by which the events of one key are sorted, the newest last: the
        version (position or commit time), then, among equal versions, `tie`.
        """
        return "struct(version, tie)"

    def fold_events(self, state: DataFrame, events: DataFrame) -> DataFrame:
        """The part `row` after a batch, a row for each key: the newest one among the batch's events
        and the row of `state`, which is this part before the batch. Where the format writes a
        placeholder for a value that the source did not send, the value of an older image takes its
        place.
        """
        columns = (*_ROW_KEY, "version", "tie", "deleted", "image", "whole", "partition")
        both = (
            state.withColumn("whole", F.lit(True))
            .select(*columns)
            .unionByName(events.select(*columns))
        )
        fields = (
            "named_struct('version', version, 'tie', tie, 'deleted', deleted, 'partition',"
            " partition, 'image', image)"
        )
        last = (
            f"max_by({fields}, {self.newness()})"
            if not self.order.placeholders
            else self._overlaid_image()
        )
        newest = both.groupBy(*_ROW_KEY).agg(F.expr(last).alias("last"))
        state_columns = ("version", "tie", "deleted", "partition", "image")
        return as_part("row", newest.select(*_ROW_KEY, *(f"last.{name}" for name in state_columns)))

    def _overlaid_image(self) -> str:
        """SQL of an aggregate over the events of one key: the newest event, in whose image the
        cells of older images replace placeholders for values that were not sent. The row of the
        state takes part as one more event, the result of those before it.
        """
        placeholders = ", ".join(f"'{placeholder}'" for placeholder in self.order.placeholders)
        old = "get(filter(acc.image, o -> o.key = n.key), 0).value"
        cell = (
            f"named_struct('key', n.key, 'value', IF(n.value IN ({placeholders}), coalesce({old}, n.value),"
            " n.value))"
        )
        image = (
            "CASE WHEN x.whole OR acc.image IS NULL THEN x.image ELSE transform(x.image, n ->"
            f" {cell}) END"
        )
        fields = (
            f"{self.newness()} AS at, version, tie, deleted, whole, partition, map_entries(image) AS"
            " image"
        )
        names = ("at", "version", "tie", "deleted", "whole", "partition")
        step = (
            f"named_struct({', '.join(f'{chr(39)}{n}{chr(39)}, x.{n}' for n in names)}, 'image',"
            f" {image})"
        )
        fold = f"aggregate(slice(l, 2, size(l)), l[0], (acc, x) -> {step})"
        sorted_events = f"array(array_sort(collect_list(struct({fields}))))"
        last = (
            "named_struct('version', f.version, 'tie', f.tie, 'deleted', f.deleted, 'partition',"
            " f.partition, "
        )
        return (
            f"transform(transform({sorted_events}, l -> {fold}), f -> {last} 'image',"
            " map_from_entries(f.image)))[0]"
        )

    def apply_statements(self, key_rows: DataFrame, ddl: DataFrame) -> DataFrame:
        """The rows by key after the statements TRUNCATE, DROP TABLE and DROP COLUMN (`ddl`): a row
        that is older than the statement becomes deleted, or loses the dropped column.
        """
        effects = ddl.groupBy(*_TABLE).agg(
            F.collect_list(F.struct("schema", "op", "text", "version")).alias("effects")
        )
        joined = key_rows.join(F.broadcast(effects), list(_TABLE), "left")
        # A message that names no schema tells of the table in each.
        later = "version < e.version AND e.schema IN ('', schema)"
        cleared = F.expr(f"coalesce(exists(effects, e -> e.op = 'clear' AND {later}), false)")
        dropped = f"e.op = 'drop' AND lower(e.text) = lower(k) AND {later}"
        kept_columns = F.expr(f"map_filter(image, (k, v) -> NOT exists(effects, e -> {dropped}))")
        gone = F.col("deleted") | cleared
        image = F.when(F.size("effects") > 0, kept_columns).otherwise(F.col("image"))
        return joined.withColumns({"deleted": gone, "image": F.when(~gone, image)}).drop("effects")

    def forget_tombstones(self, key_rows: DataFrame, watermarks: DataFrame) -> DataFrame:
        """The rows by key without those deleted ones (tombstones) that are below their partition's
        watermark. A tombstone is kept only to recognise older changes that arrive after it, and
        `drop_late_rows` drops all changes below the watermark.
        """
        if not self.order.watermarks:
            return key_rows
        passed = F.broadcast(watermarks.select("partition", F.col("version").alias("passed")))
        over = F.col("deleted") & F.coalesce(F.col("version") < F.col("passed"), F.lit(False))
        return key_rows.join(passed, "partition", "left").where(~over).drop("passed")

    def corrupt(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The unreadable messages of all batches until now, as rows of the state: those that
        `state` has, and those of the batch `new`.
        """
        unreadable = new.where("kind = 'CORRUPT'").select(
            "partition", "offset", F.col("error").alias("text")
        )
        return union((state, as_part("corrupt", unreadable)))

    def count_messages(self, state: DataFrame, new: DataFrame) -> DataFrame:
        """The part `seen` after a batch: for each partition the number of messages so far, and the
        last offset. `state` is this part before the batch, `new` the changes of the batch.
        """
        batch = new.groupBy("partition").agg(
            F.countDistinct("offset").alias("count"), F.max("offset").alias("offset")
        )
        both = union((state, as_part("seen", batch)))
        return as_part(
            "seen",
            both.groupBy("partition").agg(
                F.sum("count").alias("count"), F.max("offset").alias("offset")
            ),
        )


def _name_sql(text: str, pattern: str, first_group: int) -> str:
    """Spark SQL of a name in a text that the pattern matches. The name is in the group of its
    spelling, of which `first_group` is the first; the other groups are empty. Doubled backticks
    become single ones.
    """
    groups = (
        f"regexp_extract({text}, r'{pattern}', {group})"
        for group in range(first_group, first_group + _SPELLINGS)
    )
    return f"replace(concat({', '.join(groups)}), '``', '`')"


def _dropped_columns_sql() -> str:
    """Spark SQL of the names of the columns that an ALTER TABLE (the column `sql`) drops, an array:
    one for each of its clauses that drops one. Strings, comments and what stands in parentheses is
    no clause.
    """
    clauses = f"regexp_replace(regexp_replace(sql, r'{_ALTERS}', ''), r'{_NO_SQL}', '$1')"
    # Each round removes the innermost parentheses; $1 keeps a quoted name.
    for _ in range(_NESTED):
        clauses = f"regexp_replace({clauses}, r'{_PARENTHESES}', '$1')"
    listed = f"regexp_extract_all({clauses}, r'{_CLAUSE}', 0)"
    drops = f"filter({listed}, c -> c RLIKE r'{_DROPS}')"
    return f"transform({drops}, c -> {_name_sql('c', _DROPS, 1)})"


def part_of(state: DataFrame, name: str) -> DataFrame:
    """The rows of a state that belong to one part (the column `part`)."""
    return state.where(F.col("part") == name)


def as_part(part: str, frame: DataFrame) -> DataFrame:
    """A DataFrame in the columns of STATE, each row marked as of this part of the state; columns
    that it lacks are NULL.
    """
    # SQL text: an expression made piece by piece is a call of the JVM for each piece, which was
    # most of a batch's time.
    expressions = {name: f"`{name}`" for name in frame.columns} | {"part": f"'{part}'"}
    return frame.selectExpr(
        *(
            f"CAST({expressions.get(f.name, 'NULL')} AS {f.dataType.simpleString()}) AS `{f.name}`"
            for f in state_type()
        )
    )


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """The rows of all these DataFrames, whose columns are matched by name."""
    first, *more_frames = frames
    for frame in more_frames:
        first = first.unionByName(frame)
    return first


@cache
def state_type() -> StructType:
    """The columns of the state that a keeper of tables keeps (STATE), as a Spark type."""
    columns = StructType.fromDDL(STATE)
    assert isinstance(columns, StructType)
    return columns


class Keeper:
    """The states of a Materialiser on disk, a Parquet directory for each batch below `directory`.
    `add` makes the state after a batch from the one before it, and writes it.
    """

    def __init__(self, spark: SparkSession, directory: str, materialiser: Materialiser) -> None:
        self._spark, self.directory, self.materialiser = spark, directory.rstrip("/"), materialiser
        assert spark._jvm is not None
        hadoop = spark._jvm.org.apache.hadoop.fs
        self.path = hadoop.Path
        self.files = hadoop.Path(self.directory).getFileSystem(spark._jsc.hadoopConfiguration())

    def ids(self) -> list[int]:
        """The numbers of the batches whose state is on disk, in ascending order; [] if there is
        none.
        """
        home = self.path(self.directory)
        if not self.files.exists(home):
            return []
        names = [entry.getPath().getName() for entry in self.files.listStatus(home)]
        return sorted(int(name) for name in names if name.isdigit())

    def before(self, batch: int) -> DataFrame:
        """The state from which a batch starts: that of the newest batch with a lower number. A
        state of `batch` itself, or of a later one, is ignored, so that the batch may be run again.
        An empty state if there is none.
        """
        older = [number for number in self.ids() if number < batch]
        if not older:
            return as_part("", self._spark.range(0))
        return self._spark.read.schema(state_type()).parquet(f"{self.directory}/{older[-1]}")

    def add(self, changes: DataFrame, batch: int) -> None:
        """Writes the state of the tables after a batch of changes, made of the state before it;
        replaces a state that the batch has already, so that a batch may be read again after a
        crash.
        """
        self.put(self.materialiser.merge(self.before(batch), changes), batch)

    def put(self, state: DataFrame, batch: int) -> None:
        """Writes the state of the tables after `batch`, moves it into place with one rename, and
        removes all but the newest KEPT states. A state that the batch has already, from a process
        that crashed after the rename, is replaced. Raises OSError if the rename fails.
        """
        draft = f"{self.directory}/draft-{batch}"
        state.coalesce(1).write.mode("overwrite").parquet(draft)
        target = self.path(f"{self.directory}/{batch}")
        self.files.delete(target, True)
        if not self.files.rename(self.path(draft), target):
            raise OSError(f"the state of batch {batch} could not be moved to {self.directory}")
        for old in self.ids()[:-KEPT]:
            self.files.delete(self.path(f"{self.directory}/{old}"), True)
