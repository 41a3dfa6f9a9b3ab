"""Kafka Connect JSON with a change envelope: what Debezium and the formats made after it share.

How to make a decoder of it: describe the payload in a `ConnectDialect`, whose `decode` and
`decode_rows` are it.

A record's value is `{"schema": ..., "payload": ENVELOPE}` or the bare ENVELOPE, each told by
itself. It is parsed once, inside a wrapping that only one whole object leaves intact (`canal`). No
value at all is a TOMBSTONE, so is the null that Connect wraps (`{"schema":null,"payload":null}`,
Kafka before 2.2); an empty value is CORRUPT. One message has one row.

Level one does not parse the schema. Level two takes a cell's form from it (`values`), else from the
deployment's options and the table's source types. `before` is the wire's: key columns and fallbacks
only, where the replica identity is no more. A TOASTed value's placeholder is passed on where it
could be data (text, bytes in base64, arrays), and is NULL where it could not (json, bytes in hex).
What no Spark type holds (infinite or BC dates, years beyond 9999, NaN in a numeric) does not fit.

No filter stands on what from_json gives, and rows come out of an outer generator: Spark would push
a filter on them, its own or a caller's, below the projection, parse every message twice, and copy
the cells into it for each name.

What is said of a message is one expression (`sql`), and so is what is said of its cells: generated
code for a table of some width passes the size up to which the JVM compiles a method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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

from generators import model
from generators.model import Deployment, Logical, SourceType, Table
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.connect.decimals import DIGITS, in_digits
from spark_checks.decoders.families.connect.values import (
    default_form,
    form_by_schema,
    misfit,
    typed,
)
from spark_checks.decoders.families.exact_numbers import (
    mark_numbers,
    may_be_beyond_double,
    unmark_numbers,
)
from spark_checks.decoders.families.framing import (
    COORDINATES,
    OPTIONS,
    is_one_object,
    message,
    read,
)
from spark_checks.decoders.families.sql import let, let_column, literal, lower, name

OfPayload: TypeAlias = Callable[[Column], Column]
"""A function that makes a column of level one from the payload, a struct of the dialect's members.
"""

_TEXTS: Final = MapType(StringType(), StringType())
_IMAGES: Final = {"before": ("UPDATE", "DELETE"), "after": ("INSERT", "READ", "UPDATE")}
"""The operations that have a before image, and those that have an after image."""
_NULL_PAYLOAD: Final = r'"payload"\s*:\s*null\s*\}\s*\z'
"""The end of a message with a schema whose payload is null."""
_NULL_END: Final = 64
"""The characters at a message's end that are searched for that."""
_KEY_ENVELOPE: Final = (
    r'(?s)^\s*\{\s*"schema"\s*:\s*(null|\{.*\})\s*,\s*"payload"\s*:\s*(null|\{.*\})\s*\}\s*\z'
)
"""A key whose schema and payload are each an object or null."""

_FIELD: Final = framing.struct(
    "field:string type:string name:string parameters", parameters=framing.struct("scale:string")
)
"""What is read of a field in a message's schema."""
_SCHEMA: Final = StructType(
    [
        StructField(
            "fields", ArrayType(StructType([*_FIELD, StructField("fields", ArrayType(_FIELD))]))
        )
    ]
)
"""What is read of a message's schema: fields, and the fields of a field that is an image."""


def record_key() -> Column:
    """The names of the columns in the record's key, in order; NULL without a key. The key may be an
    envelope, `{"schema": ..., "payload": {...}}`, or bare. A bare key may have columns called
    schema and payload: an envelope is one whose schema is an object or null, and whose payload is
    an object. The null that Connect wraps is no key.
    """
    key = "CAST(key AS string)"
    names = f"json_object_keys({key})"
    wrapped = f"{key} RLIKE r'{_KEY_ENVELOPE}'"
    inner = f"json_object_keys(get_json_object({key}, '$.payload'))"
    return F.expr(
        f"CASE WHEN {names} <> array('schema', 'payload') THEN {names} WHEN {wrapped} THEN {inner}"
        f" ELSE {names} END"
    )


@dataclass(frozen=True, slots=True)
class ConnectDialect:
    """How a format fills the envelope that the family shares. Its functions get the payload, a
    struct of `members`, of the images and of the operation.

    `kind` gives the kind of a complete message with a payload, NULL for CORRUPT; it may call
    `has_row`. `members` are the payload's members that the functions look at; one declared as
    string takes any JSON, as its text. None may be called `schema` or `payload`. `before`, `after`
    and `op` are the names of the members with the images (maps or structs, into which no function
    may look) and with the operation. `ops` are the operations by their codes in the message, in
    lower case; any other code gives NULL.

    `database`, `schema`, `table` give those names, None where the format has none: level two then
    does not compare them. `commit_ms` gives milliseconds since 1970; `keys` the names of the key
    columns, by default those of the record's key; `sql` the text of a statement. `form` gives the
    form in which a column's cells are written where no schema tells it, by default Debezium's.
    `fixed` are options of the deployment that the format cannot vary.

    `bare` gives the operation code of a payload that is the row itself, without an envelope, NULL
    of any other payload; it is None if every row has an envelope. `added` are the members of such a
    payload that are no columns, and `header` is the one of them that a header of the record may
    give instead. `unsent` are the texts that stand for a value which PostgreSQL, SQL Server or
    Oracle did not send, the plain text first: at level two the cell is NULL.
    """

    kind: OfPayload
    members: tuple[StructField, ...]
    ops: Mapping[str, str]
    table: OfPayload
    database: OfPayload | None = None
    schema: OfPayload | None = None
    position: OfPayload | None = None
    commit_ms: OfPayload | None = None
    sql: OfPayload | None = None
    keys: OfPayload = lambda _payload: record_key()
    op: str = "op"
    before: str = "before"
    after: str = "after"
    form: Callable[[SourceType, Deployment], str] = default_form
    bare: OfPayload | None = None
    added: tuple[str, ...] = ()
    header: str = ""
    unsent: tuple[str, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """Level one: the changes that records with messages of this dialect carry."""
        options = replace(deployment or Deployment(), **self.fixed)
        return decode(records, self, are_decimals_numbers=options.decimal == "numeric")

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """Level two: typed row changes of `table`, and CORRUPT rows. A before image has a value
        only in the columns that the message gives. The options that the format cannot vary
        (`fixed`) replace those of the deployment.
        """
        return decode_rows(records, table, self, replace(deployment or Deployment(), **self.fixed))

    def operation(self, payload: Column) -> Column:
        """The operation as the output's column `op` names it; NULL for one that the format does not
        have.
        """
        return framing.name_of_code(lower(payload[self.op]), self.ops)

    def has_row(self, payload: Column) -> Column:
        """Whether the payload is a row change with the images that it needs. Every operation except
        DELETE and TRUNCATE needs the row after the change.
        """
        op = self.operation(payload)
        return op.isNotNull() & (op.isin("DELETE", "TRUNCATE") | payload[self.after].isNotNull())


@dataclass(frozen=True, slots=True)
class Message:
    """The columns of a parsed message: `value`, the whole message; `payload`, a struct of the
    dialect's members; `kind`; and `op`, the operation of a row change, NULL for any other kind.
    """

    value: Column
    payload: Column
    kind: Column
    op: Column


def decode(
    records: DataFrame, dialect: ConnectDialect, *, are_decimals_numbers: bool = False
) -> DataFrame:
    """The output at level one of a decoder of this dialect. With `are_decimals_numbers` the
    messages have decimals as JSON numbers, of which all digits are kept.
    """
    none = F.lit(None).cast("string")

    def change(m: Message) -> Column:
        """The level-one row of a message: what its payload and its key give to each column."""

        def column(read_part: OfPayload | None) -> Column:
            """What the dialect's function `read_part` reads from the payload; NULL if the message
            is CORRUPT or the dialect has no such function.
            """
            return F.when(m.kind != "CORRUPT", read_part(m.payload)) if read_part else none

        before, after = _images(m, dialect)
        if are_decimals_numbers:
            before = _with_all_digits(before, dialect.before)
            after = _with_all_digits(after, dialect.after)
        keys = F.when(m.kind == "TOMBSTONE", record_key()).when(
            m.kind == "ROW", dialect.keys(m.payload)
        )
        return F.struct(
            *framing.change(
                m.kind,
                op=m.op,
                database=column(dialect.database),
                schema=column(dialect.schema),
                table=column(dialect.table),
                keys=keys,
                position=column(dialect.position),
                commit_time=framing.instant(column(dialect.commit_ms).cast("bigint")),
                before=before,
                after=after,
                sql=F.when(m.kind == "DDL", column(dialect.sql)),
            )
        )

    return framing.changes(records, F.array(message_of(dialect, StructType([]), _TEXTS, change)))


def decode_rows(
    records: DataFrame, table: Table, dialect: ConnectDialect, deployment: Deployment
) -> DataFrame:
    """The output at level two of a decoder of this dialect: typed rows of `table`, and CORRUPT
    rows.
    """
    sql = _RowSql(table, deployment, dialect.form, dialect.unsent)

    def part(m: Message) -> Column:
        """What level two needs of a message: its operation (CORRUPT if it cannot be read, NULL if
        it is no row change of the table), its images, and the fields that its schema declares for
        them. A message without envelope that names no database, schema or table counts as one of
        the table.
        """
        of_table = m.kind == "ROW"
        for read_part, table_part in (
            (dialect.database, table.database),
            (dialect.schema, table.schema),
            (dialect.table, table.name),
        ):
            if read_part is not None and table_part is not None:
                same = read_part(m.payload) == table_part
                of_table = of_table & (
                    F.coalesce(same, dialect.bare(m.payload).isNotNull()) if dialect.bare else same
                )
        after = _image_fields(m, dialect.after)
        before = _image_fields(m, dialect.before)
        return F.struct(
            F.when(m.kind == "CORRUPT", "CORRUPT").when(of_table, m.op).alias("op"),
            F.when(of_table, F.array(*_images(m, dialect))).alias("images"),
            F.when(of_table, F.coalesce(after, before, _bare_fields(m, dialect))).alias("fields"),
        )

    messages = records.select(
        *COORDINATES, message_of(dialect, _SCHEMA, sql.image_type, part).alias("part")
    )
    return messages.select(*COORDINATES, F.inline_outer(F.expr(sql.result))).where(
        F.col("kind").isNotNull()
    )


def _image_fields(message: Message, image: str) -> Column:
    """The fields that the message's schema declares for an image (`before` or `after`), or NULL."""
    image_schema = F.filter(
        message.value["schema"]["fields"], lambda field: field["field"] == image
    )
    return F.get(image_schema, F.lit(0))["fields"]


def _images(m: Message, dialect: ConnectDialect) -> list[Column]:
    """The before and the after image of a message; NULL where the operation has none."""
    names = (dialect.before, dialect.after)
    return [
        F.when(m.op.isin(*ops), m.payload[name])
        for ops, name in zip(_IMAGES.values(), names, strict=True)
    ]


def _with_all_digits(image: Column, member: str) -> Column:
    """The image, a map of texts, in which numbers that a double may have shortened are replaced by
    the same numbers parsed again with all their digits. The image is in the member `member` of the
    payload, or of a message that is a bare payload; or it is the payload, or the message, itself.
    """
    message = _record_text()
    marked = mark_numbers(message)

    def parse(*path: str) -> Column:
        """The map of texts that the members on the path `path` lead to in the message whose numbers
        are marked; NULL where there is none. Without a path it is the message itself.
        """
        parsed_type: DataType = _TEXTS
        for part in reversed(path):
            parsed_type = StructType([StructField(part, parsed_type)])
        parsed = F.from_json(marked, parsed_type.simpleString(), OPTIONS)
        for part in path:
            parsed = parsed[part]
        return parsed

    def replace_digits(texts: Column) -> Column:
        """The image with each cell replaced by its text with all digits where that was found."""
        return F.transform_values(
            image, lambda name, cell_text: F.coalesce(unmark_numbers(texts[name]), cell_text)
        )

    image_texts = F.coalesce(parse("payload", member), parse(member), parse("payload"), parse())
    has_long_numbers = image.isNotNull() & may_be_beyond_double(message)
    return F.when(has_long_numbers, let_column(image_texts, replace_digits)).otherwise(image)


_SCALE: Final = 0x7FF
"""The 11 bits of a scale that PostgreSQL's connector reads (debezium#negative-scale)."""


def _declared_scale(type: SourceType) -> int:
    """The scale of a decimal in a message whose schema does not tell it: that of its type, of which
    PostgreSQL's connector takes 11 bits, so that a negative one becomes a large one (`_SCALE`);
    Oracle's keeps its sign.
    """
    scale = type.scale or 0
    return scale if type.source == "oracle" else scale & _SCALE


@dataclass(frozen=True, slots=True)
class _RowSql:
    """The SQL that makes the rows of level two (typed rows) of one message. It reads the struct
    `part`: `op` (CORRUPT for a message that cannot be read, NULL for one of another table),
    `images` (before and after, structs of texts) and `fields` (what the message's schema says of
    the columns). `form` and `unsent` are the dialect's.
    """

    table: Table
    deployment: Deployment
    form: Callable[[SourceType, Deployment], str]
    unsent: tuple[str, ...] = ()

    @property
    def image_type(self) -> StructType:
        """The Spark type as which an image is parsed from JSON: a struct of texts, with a decimal
        for each number that must keep all its digits.
        """
        return StructType(
            [StructField(c.name, self._parsed_type(c.type)) for c in self.table.columns]
        )

    @property
    def result(self) -> str:
        """SQL of an array with the row of the message; NULL for a message without a row of the
        table.
        """
        return framing.row_array(let(self._forms_and_scales, "cells", self._typed_images))

    @property
    def _forms_and_scales(self) -> str:
        """SQL of an array with the form (how cells are written, such as `text` or `days`) and the
        scale of each column, in the table's order, as the message's schema tells them; NULL without
        a schema. A schema with all columns has them in that order, so that none is searched for.
        """
        names = ", ".join(literal(c.name) for c in self.table.columns)
        searched = f"transform(array({names}), n -> get(filter(part.fields, f -> f.field = n), 0))"
        ordered = f"CASE part.fields.field WHEN array({names}) THEN part.fields ELSE {searched} END"
        form_by_field = (
            f"struct({form_by_schema('f.type', 'f.name')} AS form, try_cast(f.parameters.scale AS int) AS"
            " scale)"
        )
        return (
            f"CASE WHEN part.fields IS NOT NULL THEN transform({ordered}, f -> CASE WHEN f IS NOT"
            f" NULL THEN {form_by_field} END) END"
        )

    @property
    def _typed_images(self) -> str:
        """SQL of an array of the two typed images, each a struct of `value`, the row, and `unfit`,
        whether a cell is not of its column's type.

        The cells of an image go through up to three lambdas: from base64 to digits, from texts to
        values (one lambda for all columns that are typed by the same SQL), and into the row. A plan
        with the same expression for each column would take seconds to make.
        """
        columns = list(enumerate(self.table.columns))
        coded = [(i, c) for i, c in columns if in_digits(c.type)]
        cells = {i: self._cell(i, c) for i, c in columns}
        decoded = f"transform(array({', '.join(cells[i] for i, _ in coded)}), cell -> {DIGITS})"
        cells |= {i: f"get(coded, {n})" for n, (i, _) in enumerate(coded)}
        groups = self._groups()
        arrays = (
            (g, key, ", ".join(cells[i] for i in indices))
            for g, (key, indices) in enumerate(groups.items())
        )
        values = ", ".join(
            f"transform(array({indices}), cell -> {key}) AS g{g}" for g, key, indices in arrays
        )
        place: dict[int, str] = {}
        for g, indices in enumerate(groups.values()):
            place |= {i: f"get(typed.g{g}, {n}).value" for n, i in enumerate(indices)}
        fields = ", ".join(
            f"{place.get(i) or self._sent_or_null(f'image.{name(c.name)}', c)} AS {name(c.name)}"
            for i, c in columns
        )
        unfit = (
            " OR ".join(f"exists(typed.g{g}, cell -> cell.unfit)" for g in range(len(groups)))
            or "false"
        )
        typed_image = let(
            f"struct({values or '0'})",
            "typed",
            f"struct(struct({fields}) AS value, {unfit} AS unfit)",
        )
        typed_image = let(decoded, "coded", typed_image) if coded else typed_image
        return (
            f"transform(part.images, image -> CASE WHEN image IS NOT NULL THEN {typed_image} END)"
        )

    def _groups(self) -> dict[str, list[int]]:
        """The numbers of the columns by the SQL that types a struct `cell`. Columns of the same
        type share that SQL, so that the plan has it once. Columns whose texts are their values need
        none and are left out.
        """
        groups: dict[str, list[int]] = {}
        for i, c in enumerate(self.table.columns):
            unfit = misfit("cell.t", "v", c.type, self.deployment)
            if unfit:
                value = typed("cell.t", "cell.form", c.type, self.deployment)
                judged = let(value, "v", f"struct(v AS value, {unfit} AS unfit)")
                groups.setdefault(f"CASE WHEN cell.t IS NOT NULL THEN {judged} END", []).append(i)
        return groups

    def _cell(self, i: int, c: model.Column) -> str:
        """SQL of a struct for the cell of column number `i`: its text `t`, its `form` (how it is
        written, such as text or days), and, if the form may be base64 of a number, that number's
        `scale`. Form and scale are those that the message's schema tells (the SQL array `cells` has
        them, a column each), else those of the deployment and of the column's type.
        """
        cell_text = f"image.{name(c.name)}"
        if not isinstance(self._parsed_type(c.type), StringType):
            cell_text = f"CAST({cell_text} AS string)"
        cell_text = self._sent_or_null(cell_text, c)
        form_sql = f"'{self.form(c.type, self.deployment)}'"
        if form_sql != "'numeric'":
            # A decimal that is a JSON number has the schema of one in base64, which tells a wrong
            # form.
            form_sql = f"coalesce(get(cells, {i}).form, {form_sql})"
        scale = (
            f", coalesce(get(cells, {i}).scale, {_declared_scale(c.type)}) AS scale"
            if in_digits(c.type)
            else ""
        )
        return f"struct({cell_text} AS t, {form_sql} AS form{scale})"

    def _sent_or_null(self, cell_text: str, c: model.Column) -> str:
        """SQL of a cell's text, or NULL where that is the placeholder of a value which PostgreSQL,
        SQL Server or Oracle did not send.
        """
        if (
            c.type.source == "mysql"
            or not self.unsent
            or c.type.logical not in (Logical.TEXT, Logical.BINARY, Logical.JSON)
        ):
            return cell_text
        texts = self.unsent
        if c.type.source in ("sqlserver", "oracle"):
            # Their connectors also write the placeholder as the hexadecimal digits of its bytes.
            # The first text of `unsent` is the plain placeholder.
            texts = (*texts, *(value.encode().hex() for value in texts[:1]))
        unsent = ", ".join(f"'{value}'" for value in texts)
        return f"CASE WHEN {cell_text} NOT IN ({unsent}) THEN {cell_text} END"

    def _parsed_type(self, type: SourceType) -> DataType:
        """The Spark type as which a column's cells are parsed from JSON: a decimal if they are JSON
        numbers, so that these keep their digits, else a string.
        """
        fits = (type.precision or 0) <= 38 and (type.scale or 0) >= 0
        if self.deployment.decimal == "numeric" and type.logical is Logical.DECIMAL and fits:
            return DecimalType(38, type.scale or 0)
        return StringType()


def message_of(
    dialect: ConnectDialect,
    schema: StructType,
    image: MapType | StructType,
    extract: Callable[[Message], Column],
) -> Column:
    """Parses a record's value by the dialect, and returns what `extract` makes of the message.
    `schema` is the type as which the message's schema is parsed, `image` that of its images.
    """
    payload = StructType(
        [
            StructField(dialect.before, image),
            StructField(dialect.after, image),
            StructField(dialect.op, StringType()),
            *dialect.members,
        ]
    )
    value = StructType([StructField("schema", schema), StructField("payload", payload), *payload])

    def payload_of(m: Column) -> Column:
        """The payload of a message: its member `payload`, or, if it has none, a struct of the
        message's own members.
        """
        bare = F.struct(*(m[f.name].alias(f.name) for f in payload))
        return F.when(m["payload"].isNotNull(), m["payload"]).when(m.isNotNull(), bare)

    def extract_judged(m: Column, p: Column) -> Column:
        """What `extract` makes of message `m` with payload `p`, its kind and its operation."""

        def extract_part(kind: Column) -> Column:
            """What the caller's function `extract` makes of the message of that kind; with its
            operation if it is a row change.
            """
            return let_column(
                F.when(kind == "ROW", dialect.operation(p)),
                lambda op: extract(Message(m, p, kind, op)),
            )

        return let_column(_kind(dialect, p), extract_part)

    def extract_enveloped(m: Column) -> Column:
        """What `extract` makes of the parsed message `m`. If the dialect has rows without an
        envelope, such a row is put into one first.
        """
        if dialect.bare is None:
            return let_column(payload_of(m), lambda p: extract_judged(m, p))
        return let_column(
            payload_of(m),
            lambda p: let_column(_wrap_row(m, p, dialect, image), lambda p: extract_judged(m, p)),
        )

    return let_column(
        read(_record_text(), value),
        lambda j: let_column(F.when(is_one_object(j), message(j)), extract_enveloped),
    )


def _record_text() -> Column:
    """The value of the Kafka record as text."""
    return F.col("value").cast("string")


def _wrap_row(m: Column, p: Column, dialect: ConnectDialect, image: MapType | StructType) -> Column:
    """The payload `p` of a message `m`; if it is a bare row (without an envelope), an envelope with
    that row, as before image if it was deleted, else as after image. A bare row is parsed a second
    time, as the type `image`, because its columns are not known the first time.
    """
    op = dialect.bare(p) if dialect.bare else F.lit(None)
    inner = F.when(
        m["payload"].isNotNull(), F.get_json_object(_record_text(), "$.payload")
    ).otherwise(_record_text())
    bare_row = F.from_json(
        inner, image.simpleString() if isinstance(image, MapType) else image, OPTIONS
    )
    gone = op.isin("d", "D")
    header_value = F.get(
        F.filter("headers", lambda header: header["key"] == dialect.header), F.lit(0)
    )["value"].cast("string")

    def enveloped(bare_image: Column) -> Column:
        """The payload `p` as an envelope around the bare row, which is the before image if the
        operation is a DELETE (`gone`), else the after image. In a map of columns the metadata that
        the format adds to the row (`dialect.added`) is left out. The member `dialect.header`, if
        `p` lacks it, comes from the header of the Kafka record with this name.
        """
        if isinstance(image, MapType):
            bare_image = F.map_filter(bare_image, lambda name, _: ~name.isin(*dialect.added))
        return (
            p.withField(dialect.op, op)
            .withField(dialect.before, F.when(gone, bare_image))
            .withField(dialect.after, F.when(~gone, bare_image))
            .withField(dialect.header, F.coalesce(p[dialect.header], header_value))
        )

    return F.when(op.isNotNull(), let_column(bare_row, enveloped)).otherwise(p)


def _bare_fields(m: Message, dialect: ConnectDialect) -> Column:
    """The fields that the message's schema declares, for a message that is a bare row (the row
    itself, without an envelope around it); NULL for any other.
    """
    if dialect.bare is None:
        return F.lit(None)
    field_schemas = F.transform(
        m.value["schema"]["fields"],
        lambda f: F.struct(*(f[name].alias(name) for name in _FIELD.names)),
    )
    return F.when(dialect.bare(m.payload).isNotNull(), field_schemas)


def _kind(dialect: ConnectDialect, p: Column) -> Column:
    """The kind of a message with the payload `p` (NULL if the value is not one JSON object). A
    record without a value is a TOMBSTONE; so is one whose payload is null, unless `dialect.kind`
    knows the message.
    """
    nothing = F.col("value").isNull()
    if dialect.bare:
        nothing = nothing | (_record_text() == "null")
    # Last: Spark counts the whole text's characters to find its end.
    null = F.when(F.right(_record_text(), F.lit(_NULL_END)).rlike(_NULL_PAYLOAD), "TOMBSTONE")
    kind = F.coalesce(dialect.kind(p), null, F.lit("CORRUPT"))
    return F.when(nothing, "TOMBSTONE").when(p.isNotNull(), kind).otherwise("CORRUPT")
