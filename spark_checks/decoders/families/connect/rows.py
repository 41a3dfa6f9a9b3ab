"""Kafka Connect JSON with a change envelope: what Debezium and the formats made after it share.

How to make a decoder of it: describe the payload in a `Dialect`, and pass it to `decode` and `decode_rows`.

A record's value is `{"schema": ..., "payload": ENVELOPE}` or the bare ENVELOPE, each told by itself. It is parsed once, inside
a wrapping that only one whole object leaves intact (`canal`). No value at all is a TOMBSTONE, so is the null that Connect
wraps (`{"schema":null,"payload":null}`, Kafka before 2.2); an empty value is CORRUPT. One message has one row.

Level one does not parse the schema. Level two takes a cell's form from it (`values`), else from the deployment's options
and the table's source types. `before` is the wire's: key columns and fallbacks only, where the replica identity is no more.
A TOASTed value's placeholder is passed on where it could be data (text, bytes in base64, arrays), and is NULL where it could
not (json, bytes in hex). What no Spark type holds (infinite or BC dates, years beyond 9999, NaN in a numeric) does not fit.

No filter stands on what from_json gives, and the generator is an outer one: Spark would push such filters below the projection
and parse every message twice. Expressions per column are all lambdas: they are interpreted, where generated code for a table
of some width passes the size up to which the JVM compiles a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from generators.model import Column as ColumnOf
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families.canal import COORDINATES, MISFIT, OPTIONS, UNREADABLE, message, read, whole
from spark_checks.decoders.families.connect.decimals import DIGITS, in_digits, let
from spark_checks.decoders.families.connect.values import default_form, form_of, misfit, typed

Told: TypeAlias = Callable[[Column], Column]
"""Something that the payload tells, given it as a struct of the dialect's members."""

_TEXTS: Final = MapType(StringType(), StringType())
_LAST_MILLISECOND: Final = 253_402_300_799_999
_IMAGES: Final = {"before": ("UPDATE", "DELETE"), "after": ("INSERT", "READ", "UPDATE")}
_NULL_PAYLOAD: Final = r'"payload"\s*:\s*null\s*\}\s*$'
_NULL_END: Final = 64
_KEY_ENVELOPE: Final = r'(?s)^\s*\{\s*"schema"\s*:\s*(null|\{.*\})\s*,\s*"payload"\s*:\s*(null|\{.*\})\s*\}\s*$'

_FIELD: Final = StructType(
    [
        StructField("field", StringType()),
        StructField("type", StringType()),
        StructField("name", StringType()),
        StructField("parameters", StructType([StructField("scale", StringType())])),
    ]
)
_SCHEMA: Final = StructType([StructField("fields", ArrayType(StructType([*_FIELD, StructField("fields", ArrayType(_FIELD))])))])


def record_key() -> Column:
    """Column names of the record's key, `{"schema": ..., "payload": {...}}` or bare, in order; NULL without a key.

    A bare key may have columns called schema and payload: an envelope is one whose schema is an object or null, and whose payload
    is an object. The null that Connect wraps is no key.
    """
    key = "CAST(key AS string)"
    names = f"json_object_keys({key})"
    wrapped = f"{key} RLIKE r'{_KEY_ENVELOPE}'"
    inner = f"json_object_keys(get_json_object({key}, '$.payload'))"
    return F.expr(f"CASE WHEN {names} <> array('schema', 'payload') THEN {names} WHEN {wrapped} THEN {inner} ELSE {names} END")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a format fills the family's envelope.

    `kind`: the kind of a whole message with a payload, NULL for CORRUPT; `has_row` says whether it can be ROW.
    `members`: fields of the payload that the functions here look at, beside `before`, `after` and `op`, which are the names of
    the images and of the operation on the wire. The images are maps or structs, never to be looked into; `op` is a string. A
    member declared as string takes any JSON, as its text. None may be called `schema` or `payload`.
    `ops`: from the operation on the wire, in lower case, to the column `op`'s; other operations are NULL.
    `database`, `schema`, `table`: None where the format has none, and then level two does not ask for it.
    `commit_ms`: milliseconds since the epoch. `keys`: column names of the key, given the payload; `record_key` by default.
    `sql`: judged for DDL only.
    `form`: the form of a column's cells where no schema tells it; Debezium's by default.
    `bare`: the operation on the wire of a payload that is the row itself, NULL of any other; `added` are the payload's members
    that are no columns then, and `header` is a header that tells such a member. None where every row has an envelope.
    `unsent`: what cells of texts, bytes and documents hold of PostgreSQL in place of a value that was not sent, as text: NULL at
    level two.
    """

    kind: Told
    members: tuple[StructField, ...]
    ops: Mapping[str, str]
    table: Told
    database: Told | None = None
    schema: Told | None = None
    position: Told | None = None
    commit_ms: Told | None = None
    sql: Told | None = None
    keys: Told = lambda _payload: record_key()
    op: str = "op"
    before: str = "before"
    after: str = "after"
    form: Callable[[SourceType, Deployment], str] = default_form
    bare: Told | None = None
    added: tuple[str, ...] = ()
    header: str = ""
    unsent: tuple[str, ...] = ()

    def operation(self, payload: Column) -> Column:
        """The operation as the column `op` has it, NULL for one that the format has not."""
        known = F.create_map(*(F.lit(text) for pair in self.ops.items() for text in pair))
        return F.try_element_at(known, F.lower(payload[self.op]))

    def has_row(self, payload: Column) -> Column:
        """Whether the payload is a row change with the images that it needs: the row after, of all but DELETE and TRUNCATE."""
        op = self.operation(payload)
        return op.isNotNull() & (op.isin("DELETE", "TRUNCATE") | payload[self.after].isNotNull())


def decode(records: DataFrame, dialect: Dialect, deployment: Deployment | None = None) -> DataFrame:
    """Level one."""
    p, kind, op = F.col("p"), F.col("kind"), F.col("op")
    none = F.lit(None).cast("string")

    def told(what: Told | None) -> Column:
        return F.when(kind != "CORRUPT", what(p)) if what else none

    images = {
        side: F.when(op.isin(*ops), p[name])
        for (side, ops), name in zip(_IMAGES.items(), (dialect.before, dialect.after), strict=True)
    }
    commit = told(dialect.commit_ms)
    return messages(records, dialect, StructType([]), _TEXTS).select(
        *COORDINATES,
        F.lit(0).alias("row"),
        "kind",
        op,
        told(dialect.database).alias("database"),
        told(dialect.schema).alias("schema"),
        told(dialect.table).alias("table"),
        F.when(kind == "TOMBSTONE", record_key()).when(kind == "ROW", dialect.keys(p)).alias("keys"),
        told(dialect.position).alias("position"),
        (
            F.when(commit.between(0, _LAST_MILLISECOND), F.timestamp_millis(commit))
            if dialect.commit_ms
            else none.cast("timestamp")
        ).alias("commit_time"),
        images["before"].alias("before"),
        images["after"].alias("after"),
        F.lit(None).cast(_TEXTS).alias("types"),
        none.alias("schema_version"),
        F.when(kind == "DDL", told(dialect.sql)).alias("sql"),
        F.when(kind == "CORRUPT", UNREADABLE).alias("error"),
    )


def decode_rows(
    records: DataFrame, table: Table, dialect: Dialect, deployment: Deployment | None = None, *, beside: str = ""
) -> DataFrame:
    """Level two: typed rows of `table`, and CORRUPT rows.

    `beside` names a column of the records that the rows keep; where it is not NULL, a record stays that is no such row."""
    kept = (*COORDINATES, beside) if beside else COORDINATES
    sql = _RowSql(table, deployment or Deployment(), dialect.form, dialect.unsent)
    p, kind, op, rows = F.col("p"), F.col("kind"), F.col("op"), F.col("rows")
    mine = kind == "ROW"
    for what, name in ((dialect.database, table.database), (dialect.schema, table.schema), (dialect.table, table.name)):
        if what is not None and name is not None:
            same = what(p) == name
            mine = mine & (F.coalesce(same, dialect.bare(p).isNotNull()) if dialect.bare else same)
    after, before = (
        F.get(F.filter(F.col("m.schema.fields"), lambda f: f["field"] == name), F.lit(0))["fields"]  # noqa: B023
        for name in (dialect.after, dialect.before)
    )
    images = F.array(
        *(F.when(op.isin(*ops), p[name]) for ops, name in zip(_IMAGES.values(), (dialect.before, dialect.after), strict=True))
    )
    typed_rows = (
        messages(records, dialect, _SCHEMA, sql.wire, kept)
        .select(
            *kept,
            F.when(kind == "CORRUPT", "CORRUPT").when(mine, op).alias("op"),
            F.when(mine, images).alias("images"),
            F.when(mine, F.coalesce(after, before, _bare_fields(dialect))).alias("fields"),
        )
        .select(*kept, "op", "images", F.expr(sql.cells).alias("cells"))
        .select(*kept, "op", F.expr(sql.rows).alias("rows"))
    )
    # NULL, which a comparison with a NULL cell gives, is no misfit.
    unfit = F.coalesce(F.array_contains(rows["unfit"], True), F.lit(False))
    fits = F.coalesce(~((op == "CORRUPT") | unfit), F.lit(False))
    # Out of a generator: Spark would push a filter on it down to where the cells are made, and make them once for each name.
    stays = op.isNotNull() | F.col(beside).isNotNull() if beside else op.isNotNull()
    single = F.explode_outer(F.when(stays, F.array(F.struct(F.lit(0).alias("row"), fits.alias("read")))))
    read = F.col("at.read")
    return (
        typed_rows.select(*kept, "op", "rows", single.alias("at"))
        .where(F.col("at").isNotNull())
        .select(
            *kept,
            "at.row",
            F.when(read, "ROW").otherwise("CORRUPT").alias("kind"),
            F.when(read, op).alias("op"),
            F.when(read, F.get(rows, F.lit(0))["value"]).alias("before"),
            F.when(read, F.get(rows, F.lit(1))["value"]).alias("after"),
            F.when(op == "CORRUPT", UNREADABLE).when(~read, MISFIT).alias("error"),
        )
    )


@dataclass(frozen=True, slots=True)
class _RowSql:
    """SQL over `fields` (the row's part of the message's schema) and `images` (structs of texts)."""

    table: Table
    deployment: Deployment
    form: Callable[[SourceType, Deployment], str]
    unsent: tuple[str, ...] = ()

    @property
    def wire(self) -> StructType:
        """How an image is parsed: texts, and numbers that must keep their digits as decimals."""
        return StructType([StructField(c.name, self._wire(c.type)) for c in self.table.columns])

    @property
    def cells(self) -> str:
        """What the schema tells of each column, in the table's order: form and scale; NULL without a schema.

        A complete schema has the columns in that order too, and then none has to be searched for."""
        names = ", ".join(f"CAST(X'{c.name.encode().hex()}' AS string)" for c in self.table.columns)
        found = "CASE WHEN get(fields, i).field = n THEN get(fields, i) ELSE get(filter(fields, f -> f.field = n), 0) END"
        told = f"struct({form_of('f.type', 'f.name')} AS form, try_cast(f.parameters.scale AS int) AS scale)"
        told = f"CASE WHEN f IS NOT NULL THEN {told} END"
        return f"CASE WHEN fields IS NOT NULL THEN transform(transform(array({names}), (n, i) -> {found}), f -> {told}) END"

    @property
    def rows(self) -> str:
        """Both images, typed: structs `value` and `unfit`.

        An image's cells go through up to three lambdas: base64 to digits, then by groups of columns of a type to values, then
        into a row. A plan with the same expression for each column would take seconds to make."""
        columns = list(enumerate(self.table.columns))
        coded = [(i, c) for i, c in columns if in_digits(c.type)]
        cells = {i: self._cell(i, c) for i, c in columns}
        decoded = f"transform(array({', '.join(cells[i] for i, _ in coded)}), cell -> {DIGITS})" if coded else "0"
        cells |= {i: f"get(image.coded, {n})" for n, (i, _) in enumerate(coded)}
        groups = self._groups()
        arrays = ((g, key, ", ".join(cells[i] for i in own)) for g, (key, own) in enumerate(groups.items()))
        values = ", ".join(f"transform(array({own}), cell -> {key}) AS g{g}" for g, key, own in arrays)
        place = {i: f"get(image.typed.g{g}, {n}).value" for g, own in enumerate(groups.values()) for n, i in enumerate(own)}
        fields = ", ".join(
            f"{place.get(i) or self._sent(f'image.row.{_name(c.name)}', c)} AS {_name(c.name)}" for i, c in columns
        )
        unfit = " OR ".join(f"exists(image.typed.g{g}, cell -> cell.unfit)" for g in range(len(groups))) or "false"
        there = "CASE WHEN image.row IS NOT NULL THEN"
        found = "transform(images, row -> struct(row))"
        found = f"transform({found}, image -> struct(image.row AS row, {there} {decoded} END AS coded))"
        found = f"transform({found}, image -> struct(image.row AS row, {there} struct({values}) END AS typed))"
        value = f"{there} struct({fields}) END"
        return f"transform({found}, image -> struct({value} AS value, {unfit} AS unfit))"

    def _groups(self) -> dict[str, list[int]]:
        """Columns by the SQL that types a `cell` of theirs, which columns of a type share. Texts are taken as they are."""
        found: dict[str, list[int]] = {}
        for i, c in enumerate(self.table.columns):
            unfit = misfit("cell.t", "v", c.type, self.deployment)
            if unfit:
                value = typed("cell.t", "cell.form", c.type, self.deployment)
                judged = let(value, "v", f"struct(v AS value, {unfit} AS unfit)")
                found.setdefault(f"CASE WHEN cell.t IS NOT NULL THEN {judged} END", []).append(i)
        return found

    def _cell(self, i: int, c: ColumnOf) -> str:
        """A cell and what is known of it: its text `t`, its `form` and `scale`."""
        text = f"image.row.{_name(c.name)}"
        if not isinstance(self._wire(c.type), StringType):
            text = f"CAST({text} AS string)"
        text = self._sent(text, c)
        form = f"'{self.form(c.type, self.deployment)}'"
        if form != "'numeric'":  # the schema is that of base64
            form = f"coalesce(get(cells, {i}).form, {form})"
        return f"struct({text} AS t, {form} AS form, coalesce(get(cells, {i}).scale, {c.type.scale or 0}) AS scale)"

    def _sent(self, text: str, c: ColumnOf) -> str:
        """The text, NULL where it says that the value was not sent."""
        if c.type.source != "postgresql" or not self.unsent or c.type.logical not in (Logical.TEXT, Logical.BINARY, Logical.JSON):
            return text
        unsent = ", ".join(f"'{one}'" for one in self.unsent)
        return f"CASE WHEN {text} NOT IN ({unsent}) THEN {text} END"

    def _wire(self, kind: SourceType) -> DataType:
        if self.deployment.decimal == "numeric" and kind.logical is Logical.DECIMAL and (kind.precision or 0) <= 38:
            return DecimalType(38, kind.scale or 0)
        return StringType()


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def messages(
    records: DataFrame, dialect: Dialect, schema: StructType, image: MapType | StructType, kept: tuple[str, ...] = COORDINATES
) -> DataFrame:
    """The columns `kept`, `key`, `m` (the value), `p` (its payload, a struct of the dialect's members), `kind` and `op`."""
    payload = StructType(
        [
            StructField(dialect.before, image),
            StructField(dialect.after, image),
            StructField(dialect.op, StringType()),
            *dialect.members,
        ]
    )
    value = StructType([StructField("schema", schema), StructField("payload", payload), *payload])
    text = F.col("value").cast("string")
    m, j, p, kind = F.col("m"), F.col("j"), F.col("p"), F.col("kind")
    nothing = F.col("value").isNull() | (text == "null") if dialect.bare else F.col("value").isNull()
    absent = F.when(nothing, "none").when(F.right(text, F.lit(_NULL_END)).rlike(_NULL_PAYLOAD), "payload")
    raw = {"text": text, "headers": F.col("headers")} if dialect.bare else {}
    also = [column.alias(name) for name, column in raw.items()]
    parsed = records.select(*kept, "key", *also, absent.alias("absent"), read(text, value).alias("j"))
    bare = F.struct(*(m[f.name].alias(f.name) for f in payload))
    told = parsed.select(*kept, "key", "absent", *raw, F.when(whole(j), message(j)).alias("m")).select(
        *kept,
        "key",
        "absent",
        *raw,
        "m",
        F.when(m["payload"].isNotNull(), m["payload"]).when(m.isNotNull(), bare).alias("p"),
    )
    return (
        _enveloped(told, dialect, image, kept)
        .select(*kept, "key", "m", "p", _kind(dialect, p).alias("kind"))
        .select(*kept, "key", "m", "p", "kind", F.when(kind == "ROW", dialect.operation(p)).alias("op"))
    )


def _enveloped(told: DataFrame, dialect: Dialect, image: MapType | StructType, kept: tuple[str, ...]) -> DataFrame:
    """The same, with a payload that is a row itself as one of an envelope: the row is the old one of a delete, else the new one.

    Such a row is parsed again, since its columns are not known before."""
    if dialect.bare is None:
        return told
    p, m, own = F.col("p"), F.col("m"), F.col("own")
    op = dialect.bare(p)
    inner = F.when(m["payload"].isNotNull(), F.get_json_object("text", "$.payload")).otherwise(F.col("text"))
    row = F.from_json(inner, image.simpleString() if isinstance(image, MapType) else image, OPTIONS)
    parsed = told.select("*", F.when(op.isNotNull(), row).alias("own"))
    if isinstance(image, MapType):
        own = F.map_filter(own, lambda name, _: ~name.isin(*dialect.added))
    gone = F.lower(op) == "d"
    shown = F.get(F.filter("headers", lambda header: header["key"] == dialect.header), F.lit(0))["value"].cast("string")
    found = (
        p.withField(dialect.op, op)
        .withField(dialect.before, F.when(gone, own))
        .withField(dialect.after, F.when(~gone, own))
        .withField(dialect.header, F.coalesce(p[dialect.header], shown))
    )
    either = F.when(op.isNotNull(), found).otherwise(p)
    # A generator ends the expression: in the plan of a filter on what is made of `p`, it would stand hundreds of times.
    return parsed.select(*kept, "key", "absent", "m", F.explode_outer(F.array(either)).alias("p"))


def _bare_fields(dialect: Dialect) -> Column:
    """What the schema of a row without envelope tells of its columns."""
    if dialect.bare is None:
        return F.lit(None)
    own = F.transform(F.col("m.schema.fields"), lambda f: F.struct(*(f[name].alias(name) for name in _FIELD.names)))
    return F.when(dialect.bare(F.col("p")).isNotNull(), own)


def _kind(dialect: Dialect, p: Column) -> Column:
    """A payload of null is a record without value, unless the message is an envelope itself."""
    absent = F.col("absent")
    told = F.coalesce(dialect.kind(p), F.when(absent == "payload", "TOMBSTONE"), F.lit("CORRUPT"))
    return F.when(absent == "none", "TOMBSTONE").when(p.isNotNull(), told).otherwise("CORRUPT")
