"""Level two of the Canal flat message, a batch of messages at a time.

Arrow reads the messages (`documents`); `message` reads each that Arrow refuses.

Arrow's reader does not tell null from an absent member, which in `old` are two things: NULL, and unchanged. Where it matters and
the message has a null at all, the keys of its `old` decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from generators.model import Deployment, Logical, Table
from spark_checks.decoders.families.canal import COORDINATES, MISFIT, UNREADABLE, decompressed
from spark_checks.decoders.fast import cells, message
from spark_checks.decoders.fast.documents import Documents
from spark_checks.decoders.fast.message import ROW_TYPES, Dialect

__all__ = ["ROW_TYPES", "Dialect", "Reader", "decode_rows", "parser"]

_MEMBERS: Final[Mapping[str, pa.DataType]] = {
    "id": pa.int64(),
    "database": pa.string(),
    "table": pa.string(),
    "pkNames": pa.list_(pa.string()),
    "isDdl": pa.bool_(),
    "type": pa.string(),
    "es": pa.int64(),
    "ts": pa.int64(),
    "sql": pa.string(),
    "mysqlType": pa.struct([]),
}
"""The common members: those that are needed, and those whose kind of JSON value tells a broken message."""


def decode_rows(records: DataFrame, table: Table, dialect: Dialect, deployment: Deployment | None = None) -> DataFrame:
    """Typed rows of `table`, and CORRUPT rows."""
    deployment = deployment or Deployment()
    image = ", ".join(f"`{c.name.replace('`', '``')}`: {c.type.spark}" for c in table.columns)
    row = f"row int, kind string, op string, before struct<{image}>, after struct<{image}>, error string"
    values = decompressed(records, deployment.compression).select(*COORDINATES, "value")
    reader = Reader(table, dialect, deployment.time_zone)
    return values.mapInArrow(reader.batches, f"topic string, partition int, offset bigint, {row}")


@dataclass(frozen=True, slots=True)
class Reader:
    """A function of batches, which workers get."""

    table: Table
    dialect: Dialect
    zone: str

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of each batch's messages."""
        images = _Images(self.table, tuple(cells.Cells(c.type, self.zone) for c in self.table.columns))
        documents = parser(self.table, self.dialect)
        for batch in batches:
            values = batch.column("value")
            for first, read in documents.parts(values):
                piece = batch.slice(first, 1 if read is None else len(read))
                if read is None:
                    yield images.single(piece, self.dialect)
                else:
                    # Whole, since to flatten lists that have others between them would copy them.
                    parsed = read.messages
                    usual = _usual(parsed, self.dialect)
                    for at in pc.indices_nonzero(pc.invert(usual)).to_pylist():
                        yield images.single(piece.slice(at, 1), self.dialect)
                    chosen = pc.indices_nonzero(pc.and_(usual, self._mine(parsed)))
                    own = piece if len(chosen) == len(piece) else piece.take(chosen)
                    yield images.many(own, parsed.take(chosen))

    def _mine(self, parsed: pa.StructArray) -> pa.Array:
        table, database = parsed.field("table"), parsed.field("database")
        return pc.and_(pc.equal(table, self.table.name), pc.equal(database, self.table.database)).fill_null(False)


def parser(table: Table, dialect: Dialect) -> Documents:
    """The reader of messages of a table."""
    image = pa.struct([(c.name, pa.string()) for c in table.columns])
    coded = [c.name for c in table.columns if dialect.binary_codes and c.type.logical is Logical.BINARY]
    codes = pa.struct([(name, pa.int32()) for name in coded])
    extra = {name: _extra(kind) for name, kind in dialect.extra.items()}
    images = {"sqlType": codes, "data": pa.list_(image), "old": pa.list_(image)}
    return Documents.of({**_MEMBERS, **extra, **images})


def _extra(kind: Any) -> pa.DataType:
    if isinstance(kind, Mapping):
        return pa.struct([(name, _extra(inner)) for name, inner in kind.items()])
    return {"long": pa.int64(), "string": pa.string()}[kind]


def _usual(parsed: pa.StructArray, dialect: Dialect) -> pa.Array:
    """Which messages are row changes beyond doubt; never null."""
    data = parsed.field("data")
    told = parsed.field("isDdl") if dialect.states_ddl else parsed.field("isDdl").fill_null(False)
    row = pc.and_(pc.is_in(parsed.field("type"), pa.array(ROW_TYPES)), pc.equal(told, False))
    usual = pc.and_(row, pc.greater(pc.list_value_length(data), 0)).fill_null(False)
    elements = pc.list_flatten(data)
    if elements.null_count:
        holed = pc.unique(pc.list_parent_indices(data).filter(elements.is_null()))
        usual = pc.and_(usual, pc.invert(pc.is_in(pa.array(range(len(parsed))), holed)))
    return usual


@dataclass(frozen=True, slots=True)
class _Images:
    """Typed images of a table's rows, as the batches that Spark takes."""

    table: Table
    cells: tuple[cells.Cells, ...]

    @property
    def _fields(self) -> list[pa.Field]:
        return [pa.field(c.name, cell.type) for c, cell in zip(self.table.columns, self.cells, strict=True)]

    def single(self, record: pa.RecordBatch, dialect: Dialect) -> pa.RecordBatch:
        """The rows of one message."""
        try:
            rows = message.rows(record.column("value")[0].as_py(), dialect, self.table.database, self.table.name)
            images = [[self._image(row, side) for row in rows] for side in ("before", "after")]
        except message.Unreadable:
            return self._corrupt(record, UNREADABLE)
        except cells.MISFIT:
            return self._corrupt(record, MISFIT)
        before, after = (pa.array(side, pa.struct(self._fields)) for side in images)
        own = record.take(pa.array([0] * len(rows), pa.int64()))
        return self._out(own, range(len(rows)), pa.array([row.op for row in rows], pa.string()), before, after)

    def _image(self, row: message.Row, side: str) -> dict[str, Any] | None:
        texts = getattr(row, side)
        if texts is None:
            return None
        pairs = ((c.name, cell, texts.get(c.name)) for c, cell in zip(self.table.columns, self.cells, strict=True))
        return {name: None if text is None else cell.cell(text, row.codes.get(name)) for name, cell, text in pairs}

    def many(self, records: pa.RecordBatch, m: pa.StructArray) -> pa.RecordBatch:
        """The rows of messages that are all row changes of the table."""
        data, old = m.field("data"), m.field("old")
        parent, now = pc.list_parent_indices(data), pc.list_flatten(data)
        op = m.field("type").take(parent)
        count = len(now)
        paired = pc.equal(pc.list_value_length(old), pc.list_value_length(data)).fill_null(False)
        told = pc.and_(paired, pc.equal(m.field("type"), "UPDATE"))
        was = pc.list_flatten(old.filter(told))
        # The rows that `was` belongs to, and the place of each row's before image among `now` and `was`.
        updated = pc.indices_nonzero(told.take(parent))
        named = self._named(records, parent, updated, now, was)
        place = pc.if_else(pc.equal(op, "DELETE"), pa.array(range(count)), pa.scalar(None, pa.int64()))
        behind = pc.if_else(was.is_valid(), pa.array(range(count, count + len(was))), pa.scalar(None, pa.int64()))
        place = pc.replace_with_mask(place, told.take(parent), behind)
        codes = m.field("sqlType")
        texts, befores, afters = [], [], []
        misfit: pa.Array | None = None
        for i, (column, cell) in enumerate(zip(self.table.columns, self.cells, strict=True)):
            mine = now.field(i)
            theirs = self._overlaid(was.field(i), mine.take(updated), named.get(column.name))
            texts = pa.concat_arrays([mine, theirs])
            owner = None
            if column.type.logical is Logical.BINARY and codes.type.get_field_index(column.name) >= 0:
                each = codes.field(column.name).take(parent)
                owner = pa.concat_arrays([each, each.take(updated)])
            values, wrong = cell.column(texts, owner)
            if wrong is not None:
                misfit = wrong if misfit is None else pc.or_(misfit, wrong)
            befores.append(values.take(place))
            afters.append(values.slice(0, count))
        before = pa.StructArray.from_arrays(befores, fields=self._fields, mask=place.is_null())
        after = pa.StructArray.from_arrays(afters, fields=self._fields, mask=pc.equal(op, "DELETE"))
        number = pc.subtract(pa.array(range(count)), data.offsets.slice(0, len(data)).cast(pa.int64()).take(parent))
        out = self._out(records.select(list(COORDINATES)).take(parent), number, op, before, after)
        if misfit is None:
            return out
        owners = pa.concat_arrays([parent, parent.take(updated)])
        broken = pc.unique(owners.filter(misfit))
        keep = pc.invert(pc.is_in(parent, broken))
        return pa.concat_batches([out.filter(keep), self._corrupt(records.take(broken), MISFIT)])

    def _named(
        self, records: pa.RecordBatch, parent: pa.Array, updated: pa.Array, now: pa.StructArray, was: pa.StructArray
    ) -> Mapping[str, Sequence[int]]:
        """By column, the elements of `was` that name the column and have null: NULL before, and not NULL after."""
        if not len(was):
            return {}
        unclear = pa.array([False] * len(was))
        for i in range(len(self.table.columns)):
            mine = was.field(i)
            if mine.null_count:
                unclear = pc.or_(unclear, pc.and_(mine.is_null(), now.field(i).take(updated).is_valid()))
        owner, values = parent.take(updated), records.column("value")
        asked = pc.unique(owner.filter(pc.and_(unclear, was.is_valid())))
        # A message without these four letters has no null.
        nulls = asked.filter(pc.match_substring(values.take(asked), "null"))
        unclear = pc.and_(unclear, pc.is_in(owner, nulls))
        found: dict[str, list[int]] = {}
        owners = owner.to_pylist() if len(nulls) else []
        first: dict[int, int] = {}
        for at, number in enumerate(owners):
            first.setdefault(number, at)
        keys: dict[int, list[frozenset[str]]] = {}
        for at in pc.indices_nonzero(pc.and_(unclear, was.is_valid())).to_pylist():
            number = owners[at]
            if number not in keys:
                keys[number] = message.keys_of_old(values[number].as_py())
            for name in keys[number][at - first[number]]:
                found.setdefault(name, []).append(at)
        return found

    def _overlaid(self, old: pa.Array, data: pa.Array, named: Sequence[int] | None) -> pa.Array:
        if not old.null_count:
            return old
        unchanged = old.is_null()
        if named:
            unchanged = pc.and_(unchanged, pc.invert(pc.is_in(pa.array(range(len(old))), pa.array(named, pa.int64()))))
        return pc.if_else(unchanged, data, old)

    def _corrupt(self, records: pa.RecordBatch, error: str) -> pa.RecordBatch:
        count = len(records)
        none = pa.nulls(count, pa.struct(self._fields))
        return self._out(records, [0] * count, pa.nulls(count, pa.string()), none, none, error)

    def _out(
        self,
        records: pa.RecordBatch,
        row: Iterable[int] | pa.Array,
        op: pa.Array,
        before: pa.Array,
        after: pa.Array,
        error: str | None = None,
    ) -> pa.RecordBatch:
        count = len(records)
        columns = {name: records.column(name) for name in COORDINATES}
        columns["row"] = row.cast(pa.int32()) if isinstance(row, pa.Array) else pa.array(row, pa.int32())
        columns["kind"] = pa.array(["CORRUPT" if error else "ROW"] * count, pa.string())
        columns["op"], columns["before"], columns["after"] = op, before, after
        columns["error"] = pa.array([error] * count, pa.string())
        return pa.RecordBatch.from_pydict(columns)
