"""Debezium's MongoDB connector in Kafka Connect JSON, 2.5 and 3.6, as native Spark expressions (the
page debezium-mongodb of the sources).

One message is one change of a document (`op` c, u, d, r), whose texts stand in `before` and
`after`; a message without `op` is a heartbeat. A tombstone, which follows a DELETE, has no value.
An UPDATE without a document in `after` has `updateDescription`: what is returned then is the `_id`
of the record key, the fields of `updatedFields`, and NULL for those of `removedFields`. A DELETE
without a document in `before` has the `_id` of the record key alone.

A document is Extended JSON. Version 1, of the images, and version 2, of keys and updates, are both
read anywhere. At level one a string is its content, any other value its JSON. `deployment.schemas`
says whether the payload stands beside a schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from generators import model
from generators.model import Deployment, SourceType, Table
from spark_checks.decoders.baselines import cast_columns, level_one, level_two
from spark_checks.decoders.families import framing
from spark_checks.decoders.families.mysql import exact_decimal
from spark_checks.decoders.families.sql import let_column, literal

OPS: Final = {"c": "INSERT", "u": "UPDATE", "d": "DELETE", "r": "READ"}
_DESCRIPTION: Final = framing.struct("removedFields:strings updatedFields:string")
_SOURCE: Final = framing.struct("ts_ms:long db:string collection:string")
_PAYLOAD: Final = framing.struct(
    "op:string before:string after:string updateDescription source ts_ms:long",
    updateDescription=_DESCRIPTION,
    source=_SOURCE,
)
"""The members of a message that are read."""

ID: Final = "_id"
_MAP: Final = "map<string,string>"
"""The type of a document: the text of each field by its name."""


def _envelope(deployment: Deployment | None) -> StructType:
    """The type of a record's value: the payload, around which there is an object with a schema if
    the deployment's messages have one.
    """
    if _has_schemas(deployment):
        return StructType([StructField("payload", _PAYLOAD)])
    return _PAYLOAD


def _has_schemas(deployment: Deployment | None) -> bool:
    """Whether the payload stands beside a schema, as it does unless the deployment denies it."""
    return deployment is None or deployment.schemas != "none"


def _fields(document_text: Column) -> Column:
    """The fields of a document as a map of the text of each by its name, from the document's text;
    NULL if that is not one JSON object.
    """
    wrapped = F.concat(F.lit('{"d":'), document_text, F.lit("}"))
    schema = f"d {_MAP}, corrupt string"
    parsed = F.from_json(wrapped, schema, framing.OPTIONS)
    return let_column(parsed, lambda p: F.when(p["corrupt"].isNull(), p["d"]))


def _key_text(deployment: Deployment | None) -> Column:
    """The text of `_id` in the record key, as it stands in the message; NULL if there is none."""
    path = "$.payload.id" if _has_schemas(deployment) else "$.id"
    return F.get_json_object(F.col("key").cast("string"), path)


def _identity(deployment: Deployment | None) -> Column:
    """The `_id` of the record key as a map with this one field; NULL if the key has none that can
    be read.
    """
    return _fields(F.concat(F.lit(f'{{"{ID}":'), _key_text(deployment), F.lit("}")))


def _nothing() -> Column:
    """NULL in place of a document's fields."""
    return F.lit(None).cast(_MAP)


def _update(identity: Column, updated: Column, removed: Column) -> Column:
    """The fields that an update gives a document: `identity` (its `_id`), then the updated ones;
    those that it removes are NULL. `removed` are the names of these.
    """
    names = F.array_distinct(F.coalesce(removed, F.array().cast("array<string>")))
    gone = F.filter(names, lambda name: ~F.map_contains_key(updated, name) & (name != ID))
    nulls = F.transform(gone, lambda _name: F.lit(None).cast("string"))
    fields = F.map_filter(updated, lambda name, _value: name != ID)
    return F.map_concat(identity, fields, F.map_from_arrays(gone, nulls))


def _overlay(before: Column, update: Column) -> Column:
    """The document `before` with the fields of `update` in place of its own. A field of which the
    update changed only a part (its name is a path such as `a.b`) is left out, since the field's new
    value is not known.
    """
    touched = F.transform(F.map_keys(update), lambda path: F.substring_index(path, ".", 1))
    unchanged = F.map_filter(
        before,
        lambda name, _value: ~F.map_contains_key(update, name) & ~F.array_contains(touched, name),
    )
    return F.map_concat(unchanged, update)


def _message(deployment: Deployment | None, *, is_typed: bool) -> Column:
    """A struct of a message's kind, operation, names, time, and both images as maps of fields. With
    `is_typed` (level two) the after image of an update is the old document with the update's
    fields, if the message has that document; else it is these fields alone.
    """

    def extract(m: Column, is_whole: Column) -> Column:
        """The struct of the parsed message `m`, whose payload stands beside a schema if messages
        have one. `is_whole`: the record's value is one JSON object with members of the right kinds.
        """
        payload = m["payload"] if _has_schemas(deployment) else m
        return let_column(payload, lambda p: _changes(p, is_whole, deployment, is_typed))

    return framing.message_of(_envelope(deployment), extract)


def _changes(p: Column, is_whole: Column, deployment: Deployment | None, is_typed: bool) -> Column:
    """The struct that `_message` gives, for a message with the payload `p`; parses the documents in
    it.
    """
    description = p["updateDescription"]
    texts = F.struct(
        _fields(p["before"]).alias("before"),
        _fields(p["after"]).alias("after"),
        _fields(description["updatedFields"]).alias("updated"),
        _identity(deployment).alias("identity"),
    )
    return let_column(texts, lambda t: _change(p, t, is_whole, is_typed))


def _change(p: Column, t: Column, is_whole: Column, is_typed: bool) -> Column:
    """The struct that `_message` gives, for a message with the payload `p`. `t` has its documents,
    parsed: `before`, `after`, `updated` (fields of an update) and `identity` (the `_id` of the
    record's key).
    """
    op = framing.name_of_code(p["op"], OPS)
    update = _update(t["identity"], t["updated"], p["updateDescription"]["removedFields"])
    rebuilt = update
    if is_typed:
        rebuilt = F.when(t["before"].isNotNull(), _overlay(t["before"], update)).otherwise(update)
    after = F.when(p["after"].isNotNull(), t["after"]).when(op == "UPDATE", rebuilt)
    before = F.when(p["before"].isNotNull(), t["before"]).when(op == "DELETE", t["identity"])
    unread = (p["before"].isNotNull() & t["before"].isNull()) | (
        p["after"].isNotNull() & t["after"].isNull()
    )
    has_row = (
        F.when(op.isin("INSERT", "READ", "UPDATE"), after.isNotNull())
        .when(op == "DELETE", before.isNotNull())
        .otherwise(F.lit(False))
    )
    source = p["source"]
    has_names = source["collection"].isNotNull() & source["db"].isNotNull()
    is_heartbeat = p["op"].isNull() & source.isNull() & p["ts_ms"].isNotNull()
    is_row = has_names & has_row & ~unread
    kind_by_members = F.when(is_row, "ROW").when(
        is_heartbeat & p["after"].isNull() & p["before"].isNull(), "HEARTBEAT"
    )
    kind = F.when(F.col("value").isNull(), "TOMBSTONE").otherwise(
        framing.kind(is_whole, kind_by_members)
    )
    return F.struct(
        kind.alias("kind"),
        F.when(kind == "ROW", op).alias("op"),
        source["db"].alias("database"),
        source["collection"].alias("collection"),
        source["ts_ms"].alias("ts_ms"),
        framing.before(op, before).alias("before"),
        framing.after(op, after).alias("after"),
    )


def decode(records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
    """Level one: a row for each message, with its images as texts by the names of fields."""
    has_key = _key_text(deployment).isNotNull()

    def change(m: Column) -> Column:
        """The array with the one level-one row of a message. Only the changes of a document have
        database, table, time and images; the key names the column `_id`.
        """
        is_row = m["kind"] == "ROW"
        is_keyed = has_key & m["kind"].isin("ROW", "TOMBSTONE")
        columns = framing.change(
            m["kind"],
            op=m["op"],
            database=F.when(is_row, m["database"]),
            table=F.when(is_row, m["collection"]),
            keys=F.when(is_keyed, F.array(F.lit(ID)).cast("array<string>")),
            commit_time=F.when(is_row, framing.instant(m["ts_ms"])),
            before=F.when(is_row, m["before"]),
            after=F.when(is_row, m["after"]),
        )
        return F.array(F.struct(*columns))

    array = let_column(_message(deployment, is_typed=False), change)
    return framing.changes(records, array, deployment)


def decode_rows(
    records: DataFrame, table: Table, *, deployment: Deployment | None = None
) -> DataFrame:
    """Level two: the typed rows of one collection."""

    def part(m: Column) -> Column:
        """What level two needs of a message: `images` (before and after), and `op`, which is
        CORRUPT for an unreadable message, and NULL for one that is no document of the collection.
        """
        of_table = (m["database"] == table.database) & (m["collection"] == table.name)
        op = F.when(m["kind"] == "CORRUPT", m["kind"]).when(
            (m["kind"] == "ROW") & of_table, m["op"]
        )
        return F.struct(op.alias("op"), F.array(m["before"], m["after"]).alias("images"))

    images = framing.with_unfit_marks(
        table,
        lambda column, image: _typed(_cell(column, image), column.type),
        _misfit,
    )
    result = framing.row_array(images)
    return framing.typed_rows(
        records, let_column(_message(deployment, is_typed=True), part), result, deployment
    )


def _cell(column: model.Column, image: str) -> str:
    """SQL of the text of a field; `image` is the SQL of a map."""
    return f"try_element_at({image}, {literal(column.name)})"


def _misfit(column: model.Column) -> str | None:
    """SQL of the test whether a field has a text (`i.t`) but no typed value (`i.value`), so that it
    is not of its column's type. None for strings, which all fit.
    """
    if column.type.name == "string":
        return None
    value = f"i.value.`{column.name.replace('`', '``')}`"
    return f"({value} IS NULL AND {_cell(column, 'i.t')} IS NOT NULL)"


def _member(field: str, *names: str) -> str:
    """SQL of a member of the JSON object in a field's text; `names` is the path to it."""
    path = "".join(f"['{name}']" for name in names)
    return f"get_json_object({field}, {literal(f'${path}')})"


_WHOLE: Final = r"^-?[0-9]+\z"
_NUMBER: Final = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\z"
_ISO: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z\z"
_BASE64: Final = r"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\z"
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The first millisecond of the year 1 and the last one of 9999, counted from 1970."""


def _typed(field: str, type: SourceType) -> str:
    """SQL of a field's value in its column's Spark type, from the SQL of its text; NULL if it is
    none of the type.
    """
    match type.name:
        case "string":
            return field
        case "int":
            return _matching(field, _WHOLE, f"try_cast({field} AS int)")
        case "long":
            number = f"coalesce({_member(field, '$numberLong')}, {field})"
            return _matching(number, _WHOLE, f"try_cast({number} AS bigint)")
        case "double":
            return _double(field)
        case "decimal":
            digits = _member(field, "$numberDecimal")
            return _matching(
                digits, _NUMBER, exact_decimal(digits, type.precision or 0, type.scale or 0)
            )
        case "bool":
            return f"CASE {field} WHEN 'true' THEN true WHEN 'false' THEN false END"
        case "date":
            return _instant(field)
        case "objectId":
            return _matching(_member(field, "$oid"), r"^[0-9a-f]{24}\z", _member(field, "$oid"))
        case "uuid":
            return _uuid(field)
        case "binData":
            return _binary(field)
        case "object":
            return f"CASE WHEN left({field}, 1) = '{{' THEN {field} END"
        case "array":
            return f"CASE WHEN left({field}, 1) = '[' THEN {field} END"
    raise ValueError(f"the type {type.name!r} is none of MongoDB's fields")


def _matching(field: str, pattern: str, value: str) -> str:
    """SQL of a value whose text matches a pattern, else NULL."""
    return f"CASE WHEN {field} RLIKE r'{pattern}' THEN {value} END"


def _double(field: str) -> str:
    """SQL of a double: a finite JSON number, or in an object the name of one that is not finite."""
    number = _matching(field, _NUMBER, f"try_cast({field} AS double)")
    finite = f"nullif(nullif({number}, double('Infinity')), double('-Infinity'))"
    name = _member(field, "$numberDouble")
    is_name = f"{name} IN ('NaN', 'Infinity', '-Infinity')"
    return f"CASE WHEN {is_name} THEN double({name}) ELSE {finite} END"


def _instant(field: str) -> str:
    """SQL of a date: milliseconds as a number or a long, or a text in UTC."""
    date = _member(field, "$date")
    number = f"coalesce({_member(field, '$date', '$numberLong')}, {date})"
    millis = _matching(number, _WHOLE, f"try_cast({number} AS bigint)")
    return (
        f"CASE WHEN {date} RLIKE r'{_ISO}' THEN try_cast({date} AS timestamp)"
        f" WHEN ({millis}) BETWEEN {_FIRST_MS} AND {_LAST_MS} THEN timestamp_millis({millis}) END"
    )


def _base64(field: str) -> str:
    """SQL of the base64 of binary data in a field's text: in version 2 of Extended JSON a member of
    an object, in version 1 a text.
    """
    return f"coalesce({_member(field, '$binary', 'base64')}, {_member(field, '$binary')})"


def _binary(field: str) -> str:
    """SQL of the bytes of binary data; NULL for what is not base64."""
    content = _base64(field)
    return _matching(content, _BASE64, f"unbase64({content})")


def _uuid(field: str) -> str:
    """SQL of a UUID's text: binary data of subtype 04 and 16 bytes."""
    subtype = f"coalesce({_member(field, '$binary', 'subType')}, {_member(field, '$type')})"
    digits = f"lower(hex({_binary(field)}))"
    parts = ", ".join(
        f"substring({digits}, {start}, {length})"
        for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    )
    return f"CASE WHEN {subtype} = '04' AND length({digits}) = 32 THEN concat_ws('-', {parts}) END"


_WRAPPERS: Final = {
    "long": "$numberLong",
    "decimal": "$numberDecimal",
    "objectId": "$oid",
    "date": "$date",
    "binData": "$binary",
}
"""The member in which the images have a value of a type that JSON does not have."""


def _unwrapped_field(fields: Column, column: model.Column) -> Column:
    """The text or value of a column's field in an image (`fields`, a map of texts), taken out of
    the object that Extended JSON puts around it; without checks, for the baseline.
    """
    field = F.try_element_at(fields, F.lit(column.name))
    if column.type.name not in _WRAPPERS:
        return field
    content = F.get_json_object(field, f"$['{_WRAPPERS[column.type.name]}']")
    match column.type.name:
        case "date":
            return F.timestamp_millis(content.try_cast("bigint"))
        case "binData":
            return F.unbase64(content)
    return content


@dataclass(frozen=True, slots=True)
class DocumentBaseline:
    """The throughput baseline: both parses of each message, of the envelope and of the document's
    text, and `try_cast` of what an image has there, without checks.
    """

    payload: str = "payload."

    @property
    def bare(self) -> DocumentBaseline:
        """The baseline for messages without a schema, which are payloads alone."""
        return DocumentBaseline("")

    def _messages(self, records: DataFrame) -> DataFrame:
        """The messages, parsed, with both documents as maps of texts."""
        envelope = f"payload {_PAYLOAD.simpleString()}" if self.payload else _PAYLOAD
        parsed = F.from_json(F.col("value").cast("string"), envelope)
        messages = records.select(*framing.COORDINATES, parsed.alias("m"))
        return messages.select(
            *framing.COORDINATES,
            F.col(f"m.{self.payload}op").alias("code"),
            F.col(f"m.{self.payload}source").alias("source"),
            *(
                F.from_json(F.col(f"m.{self.payload}{side}"), _MAP).alias(side)
                for side in ("before", "after")
            ),
        )

    def decode(self, records: DataFrame, *, deployment: Deployment | None = None) -> DataFrame:
        """The baseline of level one: each message as a row change, with its documents as maps of
        texts, without any check.
        """
        return level_one(
            self._messages(records),
            F.lit("ROW"),
            op=framing.name_of_code(F.col("code"), OPS),
            database=F.col("source.db"),
            table=F.col("source.collection"),
            commit_time=F.timestamp_millis(F.col("source.ts_ms")),
            before=F.col("before"),
            after=F.col("after"),
        )

    def decode_rows(
        self, records: DataFrame, table: Table, *, deployment: Deployment | None = None
    ) -> DataFrame:
        """The baseline of level two: each message as a typed row change of `table`, whatever its
        collection is, without any check.
        """

        def image(side: str) -> Column:
            """The struct of the table's columns made of the document `before` or `after`."""
            return cast_columns(
                table, lambda name: _unwrapped_field(F.col(side), table.column(name))
            )

        return level_two(
            self._messages(records),
            F.lit("ROW"),
            framing.name_of_code(F.col("code"), OPS),
            image("before"),
            image("after"),
        )


BASELINE: Final = DocumentBaseline()
