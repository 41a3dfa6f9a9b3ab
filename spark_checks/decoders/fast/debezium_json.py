"""Rows of Debezium's JSON, a batch at a time.

The messages of a table begin with the same bytes: the schema, up to `"payload":`. Such a beginning is read once by plain Python,
and what stands behind it by Arrow (`documents`), with the columns as the schema has them. A message without schema begins with
nothing, and then the deployment's options tell the forms (`connect_cells`).

Arrow reads row changes with a source block, and cells of the usual forms. Every other message goes, with its bytes, through the
reference decoder, in the same job: that gives rows for those messages alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, LongType, StructType

from generators.model import Deployment, Table
from spark_checks.decoders.debezium_json import DIALECT, UNSENT
from spark_checks.decoders.families.canal import COORDINATES
from spark_checks.decoders.families.connect import rows as reference
from spark_checks.decoders.families.connect.values import default_form
from spark_checks.decoders.fast import connect_cells
from spark_checks.decoders.fast.cells import arrow_type
from spark_checks.decoders.fast.connect_cells import Cells
from spark_checks.decoders.fast.documents import DIVIDE, Documents, Parsed

__all__ = ["Reader", "decode_rows"]

_PAYLOAD: Final = b'"payload":'
_SCHEMA: Final = b'{"schema":{'
_ATTEMPTS: Final = 4
"""How many members called payload are tried for the end of a schema: a column may be called so."""
_BEGINNINGS: Final = 64
"""How many beginnings are known at a time, and learnt of a batch."""
_CODES: Final = pa.array(("c", "u", "d", "r"))
_OPS: Final = pa.array([DIALECT.ops[code] for code in _CODES.to_pylist()])
_MEMBERS: Final = ("source", "ts_ms")
"""What a row change has beside its images and its operation, and a decoder looks at."""
_FAST: Final = "fast"


def decode_rows(records: DataFrame, table: Table, *, deployment: Deployment | None = None) -> DataFrame:
    """Typed row changes of `table`; `before` is the wire's."""
    deployment = deployment or Deployment()
    image = ", ".join(f"`{c.name.replace('`', '``')}`: {c.type.spark}" for c in table.columns)
    fast = f"{_FAST} struct<op: string, before: struct<{image}>, after: struct<{image}>>"
    # Of the headers, the one that tells a flattened message's database.
    place = F.array_position(F.col("headers")["key"], F.lit(DIALECT.header)).cast("int") - 1
    header = F.get(F.col("headers")["value"], F.nullif(place, F.lit(-1))).alias("header")
    read = records.select(*COORDINATES, "value", header).mapInArrow(
        Reader(table, deployment).batches, f"topic string, partition int, offset bigint, value binary, header binary, {fast}"
    )
    named = F.array(F.struct(F.lit(DIALECT.header).alias("key"), F.col("header").alias("value")))
    rest = read.withColumns({"key": F.lit(None).cast("binary"), "headers": named}).drop("header")
    return reference.decode_rows(rest, table, DIALECT, deployment, done=_FAST)


@dataclass(frozen=True, slots=True)
class Reader:
    """A function of batches, which workers get."""

    table: Table
    deployment: Deployment

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Of each batch the rows that Arrow read (`fast`), and the messages that the reference decoder has to read."""
        out = _Out(self.table)
        shapes: dict[bytes, _Shape | None] = {}
        for batch in batches:
            values = batch.column("value")
            # No value is no row.
            left = values.is_valid()
            learnt = 0
            while (place := pc.index(left, True).as_py()) >= 0:
                beginning = _beginning(values[place].as_py(), shapes)
                if beginning not in shapes:
                    learnt += 1
                    shapes = {} if len(shapes) >= _BEGINNINGS else shapes
                    shapes[beginning] = _Shape.of(beginning, self.table, self.deployment)
                if learnt > _BEGINNINGS:
                    yield out.rest(batch, pc.indices_nonzero(left))
                    break
                begins = pc.starts_with(values, beginning) if beginning else pc.invert(pc.starts_with(values, _SCHEMA))
                mine = pc.and_(left, begins.fill_null(False))
                left = pc.and_not(left, mine)
                shape, places = shapes[beginning], pc.indices_nonzero(mine)
                if shape is None:
                    yield out.rest(batch, places)
                    continue
                bodies = _behind(values, len(beginning))
                bodies = bodies if len(places) == len(batch) else bodies.filter(mine)
                for first, parsed in shape.documents.parts(bodies):
                    own = places.slice(first, 1 if parsed is None else len(parsed))
                    if parsed is None:
                        yield out.rest(batch, own)
                    else:
                        yield from self._changes(out, shape, batch, own, parsed)

    def _changes(
        self, out: _Out, shape: _Shape, batch: pa.RecordBatch, places: pa.Array, parsed: Parsed
    ) -> Iterator[pa.RecordBatch]:
        """Of messages that Arrow read; a kernel that refuses a cell does not say which, so they are divided."""
        try:
            rows, rest = shape.changes(parsed)
        except pa.ArrowInvalid:
            if len(parsed) == 1:
                yield out.rest(batch, places)
                return
            step = -(-len(parsed) // DIVIDE)
            for at in range(0, len(parsed), step):
                part = Parsed(parsed.elements, parsed.places.slice(at, step))
                yield from self._changes(out, shape, batch, places.slice(at, step), part)
        else:
            valid = rows.is_valid()
            every = rows.null_count == 0
            yield out.rows(batch, places if every else places.filter(valid), rows if every else rows.filter(valid))
            if rest is not None:
                yield out.rest(batch, places.filter(rest))


def _behind(values: pa.Array, start: int) -> pa.Array:
    """What each value has behind its first bytes."""
    return pc.binary_slice(values, start, max(start, pc.max(pc.binary_length(values)).as_py())) if start else values


def _beginning(value: bytes, known: Mapping[bytes, Any]) -> bytes:
    """What the value has before its payload; nothing if it has no schema; the whole value if its schema cannot be read."""
    if not value.startswith(_SCHEMA):
        return b""
    for beginning in known:
        if beginning and value.startswith(beginning):
            return beginning
    at = -1
    for _ in range(_ATTEMPTS):
        at = value.find(_PAYLOAD, at + 1)
        if at < 0:
            break
        beginning = value[: at + len(_PAYLOAD)]
        try:
            _schema(beginning)
        except ValueError:
            continue
        return beginning
    return value


def _schema(beginning: bytes) -> Any:
    """The schema in a message's beginning. Raises ValueError if it is none, or has a name twice."""
    try:
        m = json.loads(beginning.decode() + "0}", object_pairs_hook=_unique, parse_constant=_refused)
    except RecursionError:
        raise ValueError("a schema too deep") from None
    if not isinstance(m, dict) or list(m) != ["schema", "payload"] or m["payload"] != 0:
        raise ValueError("not the beginning of a message")
    return m["schema"]


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name twice")
    return members


def _refused(name: str) -> None:
    raise ValueError(name)


@dataclass(frozen=True, slots=True)
class _Shape:
    """How messages with a beginning are read: the cells of the table's columns, and the reader of what stands behind it.

    `absent` are members that would make another message of it, `inside`: the payload is a member."""

    table: Table
    cells: tuple[Cells, ...]
    documents: Documents
    absent: tuple[str, ...]
    inside: bool

    @classmethod
    def of(cls, beginning: bytes, table: Table, deployment: Deployment) -> _Shape | None:
        """None if the reference decoder has to read the messages."""
        try:
            fields = _fields(_schema(beginning)) if beginning else None
        except ValueError:
            return None
        cells = []
        for column in table.columns:
            field = (fields or {}).get(column.name)
            form = default_form(column.type, deployment) if field is None else connect_cells.form_of(field.kind, field.name)
            scale = field.scale if field is not None and field.scale is not None else column.type.scale or 0
            found = connect_cells.cells(column.type, form, scale, UNSENT)
            if found is None:
                return None
            cells.append(found)
        image = pa.struct([(c.name, cell.wire) for c, cell in zip(table.columns, cells, strict=True)])
        payload = {DIALECT.before: image, DIALECT.after: image, DIALECT.op: pa.string()}
        payload |= {member.name: _arrow(member.dataType) for member in DIALECT.members if member.name in _MEMBERS}
        absent = ("schema",) if beginning else ("schema", "payload")
        beside = dict.fromkeys(absent, pa.string())
        inner = {"payload": pa.struct(list(payload.items()))} if beginning else payload
        documents = Documents.of({**beside, **inner}, '{"payload":' if beginning else "")
        return cls(table, tuple(cells), documents, absent, bool(beginning))

    def changes(self, parsed: Parsed) -> tuple[pa.StructArray, pa.Array | None]:
        """Of messages the table's row changes, null where a message is none, and which messages are for the reference decoder,
        None if none is. Raises ArrowInvalid if a cell is unusual and the kernel does not say which."""
        elements, places = parsed.elements, parsed.places
        payload = elements.field("payload") if self.inside else elements
        source, op = payload.field("source"), payload.field(DIALECT.op).take(places)
        database, schema, table = (source.field(name).take(places) for name in ("db", "schema", "table"))
        after = payload.field(DIALECT.after).is_valid().take(places)
        there = pc.or_(pc.equal(op, "d"), after)
        usual = pc.and_(pc.and_(pc.is_in(op, _CODES), there), pc.and_(database.is_valid(), pc.not_equal(table, "")))
        mine = pc.and_(pc.equal(database, self.table.database), pc.equal(table, self.table.name))
        if self.table.schema is not None:
            usual = pc.and_(usual, schema.is_valid())
            mine = pc.and_(mine, pc.equal(schema, self.table.schema))
        usual = usual.fill_null(False)
        for name in self.absent:
            beside = elements.field(name)
            if beside.null_count < len(beside):
                usual = pc.and_not(usual, beside.is_valid().take(places))
        mine = pc.and_(usual, mine.fill_null(False))
        before = payload.field(DIALECT.before).is_valid().take(places)
        sides = {DIALECT.before: pc.is_in(op, pa.array("ud")), DIALECT.after: pc.is_in(op, pa.array("cru"))}
        images = []
        for (name, has), valid in zip(sides.items(), (before, after), strict=True):
            at = pc.if_else(pc.and_(pc.and_(mine, has), valid), places, pa.scalar(None, places.type))
            image, unusual = self._image(payload.field(name), at)
            images.append(image)
            if unusual is not None:
                usual, mine = pc.and_not(usual, unusual), pc.and_not(mine, unusual)
        names = _OPS.take(pc.index_in(op, _CODES))
        rows = pa.StructArray.from_arrays([names, *images], ["op", "before", "after"], mask=pc.invert(mine))
        return rows, None if pc.all(usual).as_py() else pc.invert(usual)

    def _image(self, side: pa.StructArray, places: pa.Array) -> tuple[pa.StructArray, pa.Array | None]:
        """The typed images at places, null at none, and which have an unusual cell, None if none has."""
        columns, unusual = [], None
        for i, cell in enumerate(self.cells):
            values, told = cell.read(side.field(i).take(places))
            columns.append(values)
            if told is not None:
                unusual = told if unusual is None else pc.or_(unusual, told)
        fields = [pa.field(c.name, cell.type) for c, cell in zip(self.table.columns, self.cells, strict=True)]
        return pa.StructArray.from_arrays(columns, fields=fields, mask=places.is_null()), unusual


@dataclass(frozen=True, slots=True)
class _Field:
    """What a schema says of a column."""

    kind: str
    name: str | None
    scale: int | None


def _fields(schema: Any) -> dict[str, _Field] | None:
    """What the schema of an envelope says of the columns, None if nothing. Raises ValueError for what is no schema."""
    found: dict[str, _Field] | None = None
    if schema is None:
        return None
    for image in (DIALECT.before, DIALECT.after):
        for member in _members(schema):
            if member.get("field") == image:
                inner = _members(member)
                columns = {str(f.get("field")): _field(f) for f in inner}
                if len(columns) != len(inner):
                    raise ValueError("a column twice")
                found = columns
                break
    return found


def _members(schema: Any) -> list[Mapping[str, Any]]:
    """A struct's fields, whose parts have the kinds that the reference decoder expects."""
    fields = schema.get("fields") if isinstance(schema, dict) else None
    if not isinstance(fields, list):
        raise ValueError("no fields")
    for field in fields:
        if not isinstance(field, dict) or not isinstance(field.get("parameters"), dict | None):
            raise ValueError("not a field")
        if field.get("fields") is not None:
            _members(field)
    return fields


def _field(field: Mapping[str, Any]) -> _Field:
    kind, name, scale = field.get("type"), field.get("name"), (field.get("parameters") or {}).get("scale")
    if not isinstance(kind, str) or not isinstance(name, str | None) or not isinstance(scale, str | None):
        raise ValueError("a column's type is no text")
    if scale is not None and not (scale.isascii() and scale.isdigit()):
        raise ValueError("a scale of other characters than digits")
    return _Field(kind, name, int(scale) if scale is not None else None)


def _arrow(kind: DataType) -> pa.DataType:
    """How Arrow is to read a member of the payload."""
    if isinstance(kind, StructType):
        return pa.struct([(f.name, _arrow(f.dataType)) for f in kind.fields])
    return pa.int64() if isinstance(kind, LongType) else pa.string()


@dataclass(frozen=True, slots=True)
class _Out:
    """The batches that Spark takes."""

    table: Table

    def rows(self, batch: pa.RecordBatch, places: pa.Array, changes: pa.StructArray) -> pa.RecordBatch:
        """The rows of messages at places."""
        count = len(places)
        none = {name: pa.nulls(count, batch.schema.field(name).type) for name in ("value", "header")}
        return self._batch(batch, places, **none, fast=changes)

    def rest(self, batch: pa.RecordBatch, places: pa.Array) -> pa.RecordBatch:
        """Messages for the reference decoder."""
        image = pa.struct([(c.name, arrow_type(c.type.spark)) for c in self.table.columns])
        fast = pa.nulls(len(places), pa.struct([("op", pa.string()), ("before", image), ("after", image)]))
        kept = {name: batch.column(name).take(places) for name in ("value", "header")}
        return self._batch(batch, places, **kept, fast=fast)

    def _batch(self, batch: pa.RecordBatch, places: pa.Array, **columns: pa.Array) -> pa.RecordBatch:
        coordinates = {name: batch.column(name).take(places) for name in COORDINATES}
        return pa.RecordBatch.from_pydict(coordinates | columns)
