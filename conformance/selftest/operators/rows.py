"""Faults in rows, images and envelopes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from conformance.judging.compare import Typed
from conformance.judging.output import OutputRow
from conformance.selftest.operators.operator import Alter, Image, Operator, Rows, Seen, on_images, on_rows
from generators.model import Cell, Kind, Op, State

Cells: TypeAlias = Mapping[str, Cell]

_ROW, _DDL, _CORRUPT = Kind.ROW.value, Kind.DDL.value, Kind.CORRUPT.value
_INSERT, _UPDATE, _DELETE, _READ, _TRUNCATE = (op.value for op in (Op.INSERT, Op.UPDATE, Op.DELETE, Op.READ, Op.TRUNCATE))

_IMAGE: Final = (
    *("image/*", "rows/*", "op/*", "toast/*", "before/*", "after/*", "old/*", "reduced/*"),
    *("value/null*", "cell/*", "lists/*", "law/row-shape"),
)
_CHANGE: Final = (
    *("change/*", "rows/*", "kind/*", "op/*", "image/*", "key/*", "snapshot/*", "law/row-shape"),
    *("ddl/*", "control/*", "watermark/*", "bootstrap/*", "tombstone/*"),
)
_OF_ROWS: Final = (
    *("change/*", "rows/*", "op/*", "image/*", "key/*", "snapshot/*", "before/*", "after/*", "law/row-shape"),
    "reduced/*",
)
_STATEMENT: Final = ("ddl/*", "change/*")
_WATERMARK: Final = ("watermark/*", "change/*")
_BOOTSTRAP: Final = ("bootstrap/*", "change/*", "schema/*")
_CONTROL: Final = ("control/*", "change/*", "rows/*")
_TOMBSTONE: Final = ("tombstone/*", "change/*", "rows/*")
_NULLS: Final = (
    *("value/null*", "value/default-for-null", "value/zero-*", "cell/*", "image/*", "old/*", "reduced/*", "lists/*", "toast/*"),
    "before/*",
)
_COLUMNS: Final = (
    "image/*",
    "cell/*",
    "value/other",
    "value/null*",
    "lists/*",
    "old/*",
    "before/*",
    "reduced/*",
    "rows/column-names",
)
_OTHER_VALUES: Final = ("rows/*", "value/*", "cell/*", "image/*", "old/*", "before/*", "charset/*", "lists/*", "reduced/*")
_COMMITTED: Final = ("*/commit-time*", "*/position", "control/time", "control/fields", "tombstone/fields")
_POSITION: Final = ("*/position*", "control/fields", "tombstone/fields")
_TYPES: Final = ("*/types*", "types/*", "schema/*")
_SQL: Final = ("ddl/*", "envelope/sql*")
_ENVELOPE: Final = ("envelope/*", "ddl/*", "control/*", "names/*", "key/*", "bootstrap/*")
_FAULT: Final = ("fault/*", "change/*", "law/row-shape")


def _when(test: Callable[[OutputRow], bool], change: Callable[[OutputRow], OutputRow | None]) -> Alter:
    return on_rows(lambda row: change(row) if test(row) else row)


def _of(op: str, change: Callable[[OutputRow], OutputRow | None]) -> Alter:
    return _when(lambda row: row.kind == _ROW and row.op == op, change)


def _lost(_row: OutputRow) -> None:
    return None


def _as_op(op: str) -> Callable[[OutputRow], OutputRow]:
    return lambda row: replace(row, op=op)


def _as_kind(kind: Kind) -> Callable[[OutputRow], OutputRow]:
    error = "unknown" if kind is Kind.CORRUPT else None
    return lambda row: replace(row, kind=kind.value, op=None, before=None, after=None, error=error)


def _of_kind(kind: Kind, change: Callable[[OutputRow], OutputRow | None]) -> Alter:
    return _when(lambda row: row.kind == kind.value, change)


def _same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)


def _only_changed(row: OutputRow) -> OutputRow:
    if row.op != _UPDATE or row.before is None or row.after is None:
        return row
    old = row.before
    return replace(row, after={c: v for c, v in row.after.items() if c not in old or not _same(old[c], v)})


def _split_update(rows: Rows, _seen: Seen) -> Rows:
    """An UPDATE as a DELETE and an INSERT."""
    out: list[OutputRow] = []
    for row in rows:
        if row.kind == _ROW and row.op == _UPDATE and row.before is not None:
            out += [replace(row, op=_DELETE, after=None), replace(row, op=_INSERT, before=None)]
        else:
            out.append(row)
    return out if len(out) == len(rows) else [replace(row, row=i) for i, row in enumerate(out)]


def _key_of(row: OutputRow) -> tuple[str, ...]:
    return tuple(row.fields.get("keys") or ()) or tuple(name for name in ("id", "ID") if name in (row.after or {}))


def _new_key_in_before(row: OutputRow) -> OutputRow:
    if row.op != _UPDATE or not row.before or not row.after:
        return row
    return replace(row, before={c: row.after.get(c, v) if c in _key_of(row) else v for c, v in row.before.items()})


def _old_key_in_after(row: OutputRow) -> OutputRow:
    if row.op != _UPDATE or not row.before or not row.after:
        return row
    return replace(row, after={c: row.before.get(c, v) if c in _key_of(row) else v for c, v in row.after.items()})


def _keys_only(row: OutputRow) -> OutputRow:
    if row.op != _DELETE or not row.before:
        return row
    keys = _key_of(replace(row, after=row.before))
    return replace(row, before={c: v if c in keys or len(keys) == 0 else None for c, v in row.before.items()})


def _reversed_images(rows: Rows, _seen: Seen) -> Rows:
    """The rows of a message in the opposite order."""
    numbers = [row.row for row in rows]
    return [replace(row, row=number) for row, number in zip(reversed(rows), numbers, strict=True)]


def _renumbered(rows: list[OutputRow]) -> Rows:
    return [replace(row, row=i) for i, row in enumerate(rows)]


def _no_equal_rows(rows: Rows, _seen: Seen) -> Rows:
    kept: dict[str, OutputRow] = {}
    for row in rows:
        kept.setdefault(repr(replace(row, row=0)), row)
    return rows if len(kept) == len(rows) else _renumbered(list(kept.values()))


def _other_image_rows(rows: Rows, _seen: Seen) -> Rows:
    """The first row's before image in every row."""
    if len(rows) < 2 or rows[0].before is None:
        return rows
    return [replace(row, before=rows[0].before) if row.before is not None else row for row in rows]


def _upserted(rows: Rows, _seen: Seen) -> Rows:
    """Of rows with one key the last alone."""
    last: dict[str, OutputRow] = {}
    for row in rows:
        image = row.after if row.after is not None else row.before
        keys = _key_of(replace(row, after=image))
        last[repr([image.get(k) for k in keys]) if image and keys else repr(row.row)] = row
    return rows if len(last) == len(rows) else _renumbered(list(last.values()))


def _renamed(change: Callable[[str], str]) -> Alter:
    """Other column names in the images of level one; at level two a lost column is NULL."""

    def image(held: Image, _cells: Cells, seen: Seen) -> Image:
        if seen.case.level == 1:
            return {change(name): value for name, value in held.items()}
        return {name: value if change(name) == name else None for name, value in held.items()}

    return on_images(image)


def _as_one(held: Image, _cells: Cells, _seen: Seen) -> Image:
    """Columns whose names differ in case alone all hold the last one's value."""
    last = {name.lower(): value for name, value in held.items()}
    return {name: last[name.lower()] for name in held}


_ENVELOPE_NAMES: Final = frozenset(
    {"data", "old", "type", "table", "sql", "database", "before", "after", "op", "ts", "es", "source"}
)


def _nulls(change: Callable[[Seen], Any]) -> Alter:
    def image(held: Image, _cells: Cells, seen: Seen) -> Image:
        return {name: change(seen) if value is None else value for name, value in held.items()}

    return on_images(image)


def _without_nulls(held: Image, _cells: Cells, _seen: Seen) -> Image:
    return {name: value for name, value in held.items() if value is not None}


def _typed_nulls(seen: Seen) -> Any:
    return "" if seen.case.level == 1 else Typed("string", "")


def _zero_for_null(held: Image, cells: Cells, seen: Seen) -> Image:
    zero = "0" if seen.case.level == 1 else Typed("int", 0)
    numbers = {name for name, cell in cells.items() if cell.type.logical in ("int", "decimal", "bit")}
    return {name: zero if value is None and name in numbers else value for name, value in held.items()}


def _absent_as_null(held: Image, cells: Cells, seen: Seen) -> Image:
    return dict.fromkeys(cells, None) | dict(held) if seen.case.level == 1 else held


def _absent_from_other(rows: Rows, seen: Seen) -> Rows:
    """Columns that an UPDATE's before image has not, from its after image."""
    return [
        replace(row, before={**row.after, **row.before})
        if seen.case.level == 1 and row.op == _UPDATE and row.before is not None and row.after is not None
        else row
        for row in rows
    ]


def _shifted_columns(held: Image, _cells: Cells, _seen: Seen) -> Image:
    values = list(held.values())
    return dict(zip(held, [*values[1:], *values[:1]], strict=True))


def _carried(held: Image, _cells: Cells, seen: Seen) -> Image:
    """NULL becomes the value that the message before had in that column."""
    earlier = next((row.after or row.before for row in reversed(seen.before) if row.after or row.before), None) or {}
    return {name: earlier.get(name) if value is None else value for name, value in held.items()}


def _same_as_before_dropped(rows: Rows, seen: Seen) -> Rows:
    """A message whose rows equal those of the message before is taken for a redelivery."""
    return [] if rows and repr(list(rows)) == repr(list(seen.before)) else rows


def _placeholder(held: Image, cells: Cells, seen: Seen) -> Image:
    """Debezium's placeholder as the value of a cell that nobody knows."""
    text = "__debezium_unavailable_value"
    unknown = {name for name, cell in cells.items() if name in held and cell.state is State.ANY and cell.cls == "unavailable"}
    value = text if seen.case.level == 1 else Typed("string", text)
    return {**held, **dict.fromkeys(unknown, value)} if unknown else held


def _namesake(rows: Rows, seen: Seen) -> Rows:
    """Rows of a table of that name elsewhere, as those of the message before."""
    return seen.before if seen.case.level == 2 and not rows and not seen.changes else rows


def _field(name: str, change: Callable[[Any], Any], kind: str = "") -> Alter:
    def alter(row: OutputRow) -> OutputRow:
        if not row.fields.get(name) or (kind and row.kind != kind):
            return row
        return replace(row, fields={**row.fields, name: change(row.fields[name])})

    return on_rows(alter)


def _prefixed(row: OutputRow) -> OutputRow:
    fields = row.fields
    return replace(row, fields={**fields, "table": f"{fields['database']}.{fields['table']}"}) if fields.get("table") else row


def _schema_as_database(row: OutputRow) -> OutputRow:
    return replace(row, fields={**row.fields, "database": row.fields["schema"]}) if row.fields.get("schema") else row


def _every_column_a_key(row: OutputRow) -> OutputRow:
    image = row.after if row.after is not None else row.before
    if row.kind != _ROW or not image or row.fields.get("keys"):
        return row
    return replace(row, fields={**row.fields, "keys": list(image)})


def _split_sql(rows: Rows, _seen: Seen) -> Rows:
    if len(rows) != 1 or rows[0].kind != _DDL or ";" not in (rows[0].fields.get("sql") or ""):
        return rows
    row = rows[0]
    parts = [part for part in row.fields["sql"].split(";") if part.strip()]
    return _renumbered([replace(row, fields={**row.fields, "sql": part}) for part in parts])


def _doubtful(change: Callable[[Rows], Rows]) -> Alter:
    """Changes the answer to a message that is spoiled, but may be read."""
    return lambda rows, seen: change(rows) if any(one.anything for one in seen.changes) else rows


_WHOLE: Final[Mapping[str, tuple[tuple[str, ...], Alter]]] = {
    "insert-as-read": (_OF_ROWS, _of(_INSERT, _as_op(_READ))),
    "insert-as-update": (_OF_ROWS, _of(_INSERT, _as_op(_UPDATE))),
    "read-as-insert": (_OF_ROWS, _of(_READ, _as_op(_INSERT))),
    "read-lost": (_OF_ROWS, _of(_READ, _lost)),
    "update-as-insert": (_OF_ROWS, _of(_UPDATE, lambda r: replace(r, op=_INSERT, before=None))),
    "update-as-insert-with-before": (_OF_ROWS, _of(_UPDATE, _as_op(_INSERT))),
    "update-as-two": (_OF_ROWS, _split_update),
    "update-lost": (_OF_ROWS, _of(_UPDATE, _lost)),
    "update-of-nothing-lost": (_OF_ROWS, _when(lambda r: r.op == _UPDATE and not _only_changed(r).after, _lost)),
    "delete-lost": (("delete/*", *_OF_ROWS), _of(_DELETE, _lost)),
    "delete-as-update": (("delete/*", *_OF_ROWS), _of(_DELETE, _as_op(_UPDATE))),
    "delete-as-insert": (("delete/*", *_OF_ROWS), _of(_DELETE, lambda r: replace(r, op=_INSERT, before=None, after=r.before))),
    "delete-in-after": (("delete/*", *_IMAGE), _of(_DELETE, lambda r: replace(r, before=None, after=r.before))),
    "delete-in-both": (("delete/*", *_IMAGE), _of(_DELETE, lambda r: replace(r, after=r.before))),
    "delete-without-image": (("delete/*", *_IMAGE), _of(_DELETE, lambda r: replace(r, before=None, after=None))),
    "delete-with-key-alone": (("value/*", *_IMAGE), on_rows(_keys_only)),
    "truncate-lost": (_OF_ROWS, _when(lambda r: r.op == _TRUNCATE, _lost)),
    "truncate-as-delete": (_OF_ROWS, _when(lambda r: r.op == _TRUNCATE, _as_op(_DELETE))),
    "images-swapped": (_IMAGE, _when(lambda r: r.op == _UPDATE, lambda r: replace(r, before=r.after, after=r.before))),
    "before-as-after": (("value/*", *_IMAGE), _of(_UPDATE, lambda r: replace(r, before=r.after))),
    "after-as-before": (("value/*", *_IMAGE), _of(_UPDATE, lambda r: replace(r, after=r.before))),
    "before-lost": (_IMAGE, _of(_UPDATE, lambda r: replace(r, before=None))),
    "after-lost": (_IMAGE, _of(_UPDATE, lambda r: replace(r, after=None))),
    "before-of-insert": (_IMAGE, _of(_INSERT, lambda r: replace(r, before=r.after))),
    "empty-before-of-insert": (_IMAGE, _of(_INSERT, lambda r: replace(r, before={}))),
    "insert-without-image": (_IMAGE, _of(_INSERT, lambda r: replace(r, after=None))),
    "changed-columns-alone": (_IMAGE, on_rows(_only_changed)),
    "new-key-in-before": (("value/*", *_IMAGE, "key/*"), on_rows(_new_key_in_before)),
    "old-key-in-after": (("value/*", *_IMAGE, "key/*"), on_rows(_old_key_in_after)),
    "rows-reversed": (_OTHER_VALUES, _reversed_images),
    "first-row-alone": (_OF_ROWS, lambda rows, _: rows[:1]),
    "first-hundred-rows": (_OF_ROWS, lambda rows, _: rows[:100]),
    "last-row-alone": (_OF_ROWS, lambda rows, _: _renumbered(list(rows[-1:])) if len(rows) > 1 else rows),
    "equal-rows-as-one": (_OF_ROWS, _no_equal_rows),
    "rows-of-a-key-as-one": (_OF_ROWS, _upserted),
    "first-before-in-every-row": (_OTHER_VALUES, _other_image_rows),
    "rows-numbered-from-one": (_OF_ROWS, lambda rows, _: [replace(r, row=(r.row or 0) + 1) for r in rows]),
    "every-row-number-zero": (_OF_ROWS, lambda rows, _: [replace(r, row=0) for r in rows]),
    "row-number-null": (_OF_ROWS, lambda rows, _: [replace(r, row=None) for r in rows]),
    "rows-twice": (_OF_ROWS, lambda rows, _: [*rows, *rows]),
    "equal-message-lost": ((*_CHANGE, *_FAULT), _same_as_before_dropped),
    "null-as-empty-text": (_NULLS, _nulls(_typed_nulls)),
    "null-as-word": (_NULLS, _nulls(lambda seen: "null" if seen.case.level == 1 else Typed("string", "null"))),
    "null-as-zero": (_NULLS, on_images(_zero_for_null)),
    "null-left-out": (_NULLS, on_images(_without_nulls)),
    "null-from-the-message-before": (_NULLS, on_images(_carried)),
    "absent-as-null": (_COLUMNS, on_images(_absent_as_null)),
    "absent-from-after": (_COLUMNS, _absent_from_other),
    "values-of-the-next-column": (_OTHER_VALUES, on_images(_shifted_columns)),
    "columns-lower-case": (_COLUMNS, _renamed(str.lower)),
    "columns-upper-case": (_COLUMNS, _renamed(str.upper)),
    "columns-alike-but-for-case": (_COLUMNS, on_images(_as_one)),
    "columns-cut-at-30": (_COLUMNS, _renamed(lambda name: name[:30])),
    "columns-split-at-dots": (_COLUMNS, _renamed(lambda name: name.rpartition(".")[2])),
    "columns-split-at-colons": (_COLUMNS, _renamed(lambda name: name.rpartition(":")[2])),
    "columns-split-at-slashes": (_COLUMNS, _renamed(lambda name: name.rpartition("/")[2])),
    "columns-split-at-commas": (_COLUMNS, _renamed(lambda name: name.partition(",")[0])),
    "columns-split-at-brackets": (_COLUMNS, _renamed(lambda name: name.partition("[")[0])),
    "columns-url-decoded": (_COLUMNS, _renamed(unquote)),
    "columns-without-blanks": (_COLUMNS, _renamed(lambda name: name.replace(" ", "_"))),
    "columns-without-back-ticks": (_COLUMNS, _renamed(lambda name: name.replace("`", ""))),
    "columns-without-quotes": (_COLUMNS, _renamed(lambda name: name.replace('"', ""))),
    "columns-without-backslashes": (_COLUMNS, _renamed(lambda name: name.replace("\\", ""))),
    "columns-ascii-only": (_COLUMNS, _renamed(lambda name: re.sub("[^\x00-\x7f]", "_", name))),
    "columns-of-envelope-names-lost": (_COLUMNS, _renamed(lambda n: f"_{n}" if n in _ENVELOPE_NAMES else n)),
    "columns-html-escaped": (_COLUMNS, _renamed(lambda n: n.replace("&", "&amp;").replace("<", "&lt;"))),
    "placeholder-as-a-value": (("toast/*", "value/*"), on_images(_placeholder)),
    "namesake-as-the-table": (_CHANGE, _namesake),
    "statement-lost": (_STATEMENT, _of_kind(Kind.DDL, _lost)),
    "statement-as-control": (_STATEMENT, _of_kind(Kind.DDL, _as_kind(Kind.CONTROL))),
    "statement-as-corrupt": (_STATEMENT, _of_kind(Kind.DDL, _as_kind(Kind.CORRUPT))),
    "statement-as-a-row": (_STATEMENT, _of_kind(Kind.DDL, lambda r: replace(r, kind=_ROW, op=_INSERT, after={}))),
    "statement-split": (_STATEMENT, _split_sql),
    "watermark-lost": (_WATERMARK, _of_kind(Kind.WATERMARK, _lost)),
    "watermark-as-heartbeat": (_WATERMARK, _of_kind(Kind.WATERMARK, _as_kind(Kind.HEARTBEAT))),
    "bootstrap-lost": (_BOOTSTRAP, _of_kind(Kind.BOOTSTRAP, _lost)),
    "bootstrap-as-statement": (_BOOTSTRAP, _of_kind(Kind.BOOTSTRAP, _as_kind(Kind.DDL))),
    "heartbeat-lost": (_CONTROL, _of_kind(Kind.HEARTBEAT, _lost)),
    "heartbeat-as-corrupt": (_CONTROL, _of_kind(Kind.HEARTBEAT, _as_kind(Kind.CORRUPT))),
    "transaction-lost": (_CONTROL, _of_kind(Kind.TRANSACTION, _lost)),
    "transaction-as-a-row": (_CONTROL, _of_kind(Kind.TRANSACTION, lambda r: replace(r, kind=_ROW, op=_INSERT, after={}))),
    "tombstone-lost": (_TOMBSTONE, _of_kind(Kind.TOMBSTONE, _lost)),
    "tombstone-as-delete": (_TOMBSTONE, _of_kind(Kind.TOMBSTONE, lambda r: replace(r, kind=_ROW, op=_DELETE, before={}))),
    "tombstone-as-corrupt": (_TOMBSTONE, _of_kind(Kind.TOMBSTONE, _as_kind(Kind.CORRUPT))),
    "control-lost": (_CONTROL, _of_kind(Kind.CONTROL, _lost)),
    "control-as-a-row": (_CONTROL, _of_kind(Kind.CONTROL, lambda r: replace(r, kind=_ROW, op=_INSERT, after={}))),
    "control-as-corrupt": (_CONTROL, _of_kind(Kind.CONTROL, _as_kind(Kind.CORRUPT))),
    "corrupt-lost": (_FAULT, _of_kind(Kind.CORRUPT, _lost)),
    "corrupt-as-control": (_FAULT, _of_kind(Kind.CORRUPT, _as_kind(Kind.CONTROL))),
    "corrupt-as-delete": (_FAULT, _of_kind(Kind.CORRUPT, lambda r: replace(r, kind=_ROW, op=_DELETE, before={}, error=None))),
    "corrupt-as-insert": (_FAULT, _of_kind(Kind.CORRUPT, lambda r: replace(r, kind=_ROW, op=_INSERT, after={}, error=None))),
    "corrupt-twice": (_FAULT, lambda rows, _: _renumbered([*rows, *rows]) if rows and rows[0].kind == _CORRUPT else rows),
    "corrupt-without-reason": (_FAULT, _of_kind(Kind.CORRUPT, lambda r: replace(r, error=None))),
    "corrupt-with-empty-reason": (_FAULT, _of_kind(Kind.CORRUPT, lambda r: replace(r, error=""))),
    "corrupt-with-op": (_FAULT, _of_kind(Kind.CORRUPT, _as_op(_INSERT))),
    "corrupt-with-image": (_FAULT, _of_kind(Kind.CORRUPT, lambda r: replace(r, after={}))),
    "row-with-reason": (_FAULT, _of_kind(Kind.ROW, lambda r: replace(r, error="but read"))),
    "doubtful-lost": (_FAULT, _doubtful(lambda _rows: [])),
    "kind-null": (_CHANGE, on_rows(lambda r: replace(r, kind=None))),
    "kind-lower-case": (_CHANGE, on_rows(lambda r: replace(r, kind=r.kind and r.kind.lower()))),
    "op-lower-case": (_CHANGE, _of_kind(Kind.ROW, lambda r: replace(r, op=r.op and r.op.lower()))),
    "op-letter": (_CHANGE, _of_kind(Kind.ROW, lambda r: replace(r, op=r.op and r.op[0]))),
    "op-null": (_CHANGE, _of_kind(Kind.ROW, lambda r: replace(r, op=None))),
}

_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], Alter]]] = {
    "database-lower-case": (_ENVELOPE, _field("database", str.lower)),
    "database-null": (_ENVELOPE, _field("database", lambda _: None)),
    "database-cut-at-a-dot": (_ENVELOPE, _field("database", lambda t: t.partition(".")[0])),
    "database-from-schema": (_ENVELOPE, on_rows(_schema_as_database)),
    "database-null-in-statements": (_ENVELOPE, _field("database", lambda _: None, _DDL)),
    "schema-null": (_ENVELOPE, _field("schema", lambda _: None)),
    "table-lower-case": (_ENVELOPE, _field("table", str.lower)),
    "table-null": (_ENVELOPE, _field("table", lambda _: None)),
    "table-null-in-statements": (_ENVELOPE, _field("table", lambda _: None, _DDL)),
    "table-with-database": (_ENVELOPE, on_rows(_prefixed)),
    "table-cut-at-a-colon": (_ENVELOPE, _field("table", lambda t: t.partition(":")[0])),
    "table-cut-at-a-slash": (_ENVELOPE, _field("table", lambda t: t.rpartition("/")[2])),
    "table-without-back-ticks": (_ENVELOPE, _field("table", lambda t: t.replace("`", ""))),
    "table-without-quotes": (_ENVELOPE, _field("table", lambda t: t.replace('"', ""))),
    "keys-sorted": (_ENVELOPE, _field("keys", sorted)),
    "keys-reversed": (_ENVELOPE, _field("keys", lambda keys: list(reversed(keys)))),
    "keys-first-alone": (_ENVELOPE, _field("keys", lambda keys: keys[:1])),
    "keys-lower-case": (_ENVELOPE, _field("keys", lambda keys: [key.lower() for key in keys])),
    "keys-null": (_ENVELOPE, _field("keys", lambda _: None)),
    "keys-split-at-commas": (_ENVELOPE, _field("keys", lambda keys: ",".join(keys).split(","))),
    "keys-of-every-column": (_ENVELOPE, on_rows(_every_column_a_key)),
    "keys-twice": (_ENVELOPE, _field("keys", lambda keys: [*keys, *keys])),
    "sql-null": (_SQL, _field("sql", lambda _: None)),
    "sql-trimmed": (_SQL, _field("sql", str.strip)),
    "sql-upper-case": (_SQL, _field("sql", str.upper)),
    "sql-lower-case": (_SQL, _field("sql", str.lower)),
    "sql-cut-at-a-semicolon": (_SQL, _field("sql", lambda t: t.partition(";")[0])),
    "sql-in-a-line": (_SQL, _field("sql", lambda t: re.sub(r"\s+", " ", t))),
    "sql-without-comments": (_SQL, _field("sql", lambda t: re.sub(r"/\*.*?\*/", "", t))),
    "sql-ascii-only": (_SQL, _field("sql", lambda t: t.encode("ascii", "replace").decode())),
    "sql-without-back-ticks": (_SQL, _field("sql", lambda t: t.replace("`", ""))),
    "sql-unescaped-twice": (_SQL, _field("sql", lambda t: t.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"))),
    "sql-first-line": (_SQL, _field("sql", lambda t: t.partition("\n")[0])),
    "sql-cut-at-100": (_SQL, _field("sql", lambda t: t[:100])),
    "sql-of-rows": (_ENVELOPE, _of_kind(Kind.ROW, lambda r: replace(r, fields={**r.fields, "sql": "INSERT"}))),
    "commit-time-a-thousandth": (_COMMITTED, _field("commit_time", lambda t: t // 1000)),
    "commit-time-in-seconds": (_COMMITTED, _field("commit_time", lambda t: t // 1_000_000 * 1_000_000)),
    "commit-time-eight-hours-late": (_COMMITTED, _field("commit_time", lambda t: t + 8 * 3_600_000_000)),
    "commit-time-null": (_COMMITTED, _field("commit_time", lambda _: None)),
    "position-null": (_POSITION, _field("position", lambda _: None)),
    "position-through-a-double": (_POSITION, _field("position", lambda t: str(int(float(t))) if t.isdigit() else t)),
    "position-of-32-bits": (_POSITION, _field("position", lambda t: str(int(t) & 0xFFFFFFFF) if t.isdigit() else t)),
    "position-cut-at-a-colon": (_POSITION, _field("position", lambda t: t.rpartition(":")[2])),
    "types-null": (_TYPES, _field("types", lambda _: None)),
    "types-upper-case": (_TYPES, _field("types", lambda t: {c: k.upper() for c, k in t.items()})),
    "types-without-length": (_TYPES, _field("types", lambda t: {c: k.partition("(")[0] for c, k in t.items()})),
    "types-without-unsigned": (_TYPES, _field("types", lambda t: {c: k.replace(" unsigned", "") for c, k in t.items()})),
    "schema-version-null": (("*/schema-version",), _field("schema_version", lambda _: None)),
}


def _operators() -> Iterator[Operator]:
    for name, (apt, alter) in _WHOLE.items():
        yield Operator(name, apt, alter)
    for name, (apt, alter) in _FIELDS.items():
        yield Operator(name, apt, alter, levels=(1,))


ROWS: Final = tuple(_operators())
"""Every fault in rows, images and envelopes."""
