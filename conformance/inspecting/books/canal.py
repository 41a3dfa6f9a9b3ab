"""Facts of the formats that write Canal's flat message or follow it: Canal, TiCDC's Canal-JSON,
CloudCanal's Canal Json, and the dialects of cloud services, whose messages without anything of
their own are Alibaba's as well and are not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain, product
from typing import Any, Final

from conformance.inspecting.books.ticdc import unquoted
from conformance.inspecting.evidence import (
    TableDescription,
    Watch,
    Watched,
    json_objects,
    names,
    texts,
)
from conformance.inspecting.opening import OpenedRecord
from generators.model import SIDES

_SECONDS: Final = 100_000_000_000
"""An `es` below this number counts seconds, any other one milliseconds."""
_DRS: Final = "mysqlType id es ts database table type isDdl sql sqlType data old pkNames"
"""The members of a message of Huawei DRS, in their order."""
_SIZED: Final = re.compile(r"^(?:(?:var)?(?:char|binary)|decimal|enum|set|bit|bigint|year)\b(\()?")
"""Types that have parameters in content-compatible messages whatever the column is."""
_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u([0-9A-Fa-f]{4})")
r"""A `\u` escape whose backslash is not escaped itself; the group has its four hexadecimal digits.
"""
_LOBS: Final = re.compile(r"^(?:tiny|medium|long)?(?:text|blob)\b", re.IGNORECASE)
"""MySQL's TEXT and BLOB types of every size."""


def is_row(opened: OpenedRecord) -> bool:
    """Whether the message is a row change: an INSERT, UPDATE or DELETE with a list of rows."""
    members = opened.members
    kind, data = members.get("type"), members.get("data")
    return (
        kind in ("INSERT", "UPDATE", "DELETE")
        and members.get("isDdl") is False
        and isinstance(data, list)
    )


def statement(opened: OpenedRecord) -> str:
    """The SQL text of a message, with every quoted text in it emptied."""
    return unquoted(opened.members.get("sql"))


def lists(opened: OpenedRecord) -> set[str]:
    """The names of the message's members whose values are JSON lists."""
    return {name for name, value in opened.members.items() if isinstance(value, list)}


def data_rows(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The rows in the message's member `data`; items that are no objects are left out."""
    return json_objects(opened.members.get("data"))


def old_rows(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The rows in the message's member `old`; items that are no objects are left out."""
    return json_objects(opened.members.get("old"))


def has_typed_cell(opened: OpenedRecord) -> bool:
    """Whether any value of a row is a JSON number, boolean, list or object, in place of a text or
    null.
    """
    images = (*data_rows(opened), *old_rows(opened))
    cells = chain.from_iterable(image.values() for image in images)
    return any(cell is not None and not isinstance(cell, str) for cell in cells)


def has_several_rows(opened: OpenedRecord) -> bool:
    """Whether `data` has more than one row."""
    return len(data_rows(opened)) > 1


def short_old(opened: OpenedRecord) -> bool:
    """Whether `old` has fewer rows than `data`."""
    return len(old_rows(opened)) < len(data_rows(opened))


def _types(opened: OpenedRecord) -> Mapping[str, str]:
    """The MySQL type of each column, by name, from the message's member `mysqlType`; {} without
    it.
    """
    return texts(opened.members.get("mysqlType"))


_WATCHED_TABLES: Final = 10_000
"""Tables whose rows are watched at most, since a topic may have any number."""


def _update_of_one(opened: OpenedRecord) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The row in `data` and its counterpart in `old`, of an UPDATE message of one row; nothing for
    other messages.
    """
    data, old = data_rows(opened), old_rows(opened)
    if opened.members.get("type") == "UPDATE" and len(data) == len(old) == 1:
        yield data[0], old[0]


def old_repeats_data(opened: OpenedRecord) -> bool:
    """Whether `old` of an UPDATE of one row has the same value in a column as `data`, so that it is
    not limited to the changed columns.
    """
    return any(not old.items().isdisjoint(data.items()) for data, old in _update_of_one(opened))


def old_lacks_columns(opened: OpenedRecord) -> bool:
    """Whether `old` of an UPDATE of one row lacks a column that `data` has."""
    return any(not data.keys() <= old.keys() for data, old in _update_of_one(opened))


def table_description(opened: OpenedRecord) -> TableDescription | None:
    """The table that a message of Canal-JSON describes, by which `inspect` counts it (database,
    name, columns with their MySQL types, key columns); None for a message that names no types.
    """
    members, types = opened.members, _types(opened)
    if not types or not isinstance(members.get("table"), str):
        return None
    return TableDescription(
        str(members.get("database")), members["table"], types, names(members.get("pkNames"))
    )


def milliseconds(opened: OpenedRecord) -> int:
    """The milliseconds within a second of the message's `es` (when the change was made), 0 to 999;
    0 for an `es` that is no number. A writer of whole seconds always has 0.
    """
    es = opened.members.get("es")
    return es % 1000 if isinstance(es, int) else 0


def image_members(opened: OpenedRecord) -> list[str]:
    """The names of the row images that the message has (`data`, `old`), in the order in which it
    has them.
    """
    return [name for name in opened.members if name in ("data", "old")]


def line_end(opened: OpenedRecord) -> str:
    """How the message's text ends: `crlf` for CR LF, `other` for anything else, or "" if the input
    (such as the lines of a file) has not kept the end.
    """
    if opened.text.endswith("\r\n"):
        return "crlf"
    return "other" if opened.record.exact else ""


def types_with_lengths(opened: OpenedRecord) -> set[bool]:
    """Whether the message gives parameters to the MySQL types that always have them in
    content-compatible messages (such as the 20 of `varchar(20)`): True if one has them, False if
    one lacks them; both may be in the set.
    """
    return {
        match[1] is not None
        for type_text in _types(opened).values()
        if (match := _SIZED.match(type_text))
    }


def is_cut(opened: OpenedRecord) -> bool:
    """Whether TiCDC's extension `_tidb` says that the message was too large and does not have the
    complete row: it has the key's columns only, or the row lies in external storage.
    """
    extension = opened.members.get("_tidb")
    return isinstance(extension, dict) and not extension.keys().isdisjoint(
        ("onlyHandleKey", "claimCheckLocation")
    )


def beyond_key(opened: OpenedRecord) -> bool:
    """Whether a row in `data` has columns that are not in its key (`pkNames`); False for a message
    that names no key.
    """
    keys = set(names(opened.members.get("pkNames")))
    return bool(keys) and any(set(image) - keys for image in data_rows(opened))


def watch_deletes() -> Watch:
    """Makes a watch over successive messages. It finds that a writer sends only the key's columns
    of a deleted row: a DELETE has only these, although rows of its table before and after it have
    more columns.
    """
    # Tables that had a row with more columns than its key, and those of them in which a DELETE with
    # the key alone followed.
    wide_tables: set[tuple[Any, Any]] = set()
    key_alone_tables: set[tuple[Any, Any]] = set()

    def watch(opened: OpenedRecord) -> Iterator[Watched]:
        """Looks at the next message. Yields KEY_ALONE at a row with more columns than its key, if
        the table had such a row earlier and, after it, a DELETE that has only the key's columns.
        """
        members = opened.members
        table = (members.get("database"), members.get("table"))
        keys = names(members.get("pkNames"))
        data = data_rows(opened)
        if not is_row(opened) or len(wide_tables) > _WATCHED_TABLES:
            return
        if members["type"] == "DELETE":
            if not is_cut(opened) and keys and len(data) == 1 and set(data[0]) == set(keys):
                key_alone_tables.update({table} & wide_tables)
        elif any(set(image) > set(keys) for image in data):
            wide_tables.add(table)
            if table in key_alone_tables:
                yield Watched.KEY_ALONE

    return watch


@lru_cache(maxsize=1)
def escape_kinds(opened: OpenedRecord) -> set[str]:
    r"""The kinds of \u escapes in the message's text: `control` for one of a control character,
    with `upper` or `lower` for the case of its hexadecimal letters; `wide` for one of U+007F to
    U+009F, U+2028 or U+2029.
    """
    kinds = set()
    for code in _ESCAPE.findall(opened.text) if "\\u" in opened.text else ():
        if code < "0020":
            kinds.add("control")
            kinds.update(
                name
                for name, plain in (("upper", code.lower()), ("lower", code.upper()))
                if code != plain
            )
        elif 0x7F <= int(code, 16) <= 0x9F or code in ("2028", "2029"):
            kinds.add("wide")
    return kinds


def old_null_codes(opened: OpenedRecord) -> bool:
    """Whether `sqlType` gives a TEXT or BLOB column the code -3 or -4, which old releases of Canal
    write where its value is NULL.
    """
    codes = opened.members.get("sqlType")
    return isinstance(codes, dict) and any(
        codes.get(n) in (-3, -4)
        for n, type_text in _types(opened).items()
        if _LOBS.match(type_text)
    )


def watch_images() -> Watch:
    """Makes a watch over successive messages: it finds an UPDATE without columns that rows of its
    table before and after it have, so that the source's row image is not FULL.
    """
    columns_of_table: dict[tuple[Any, Any], set[str]] = {}
    lacked_columns: dict[tuple[Any, Any], set[str]] = {}

    def watch(opened: OpenedRecord) -> Iterator[Watched]:
        """Takes the next message. Yields LACKING at a row that has a column again which an UPDATE
        of its table lacked, though a row before that UPDATE had it. LOB and JSON columns do not
        count. A message that is no row (a statement) forgets its table; with more than
        _WATCHED_TABLES tables nothing is watched any more.
        """
        table = (opened.members.get("database"), opened.members.get("table"))
        if not is_row(opened):
            columns_of_table.pop(table, None)
            lacked_columns.pop(table, None)
            return
        if len(columns_of_table) > _WATCHED_TABLES:
            return
        columns = {
            name
            for name, type_text in _types(opened).items()
            if not _LOBS.match(type_text) and not type_text.lower().startswith("json")
        }
        known_columns = columns_of_table.setdefault(table, set())
        if lacked_columns.get(table, set()) & columns:
            yield Watched.LACKING
        missing = known_columns - columns
        if opened.members["type"] == "UPDATE" and missing:
            lacked_columns.setdefault(table, set()).update(missing)
        known_columns |= columns

    return watch


def topic_of_table(opened: OpenedRecord) -> bool | None:
    """Whether the topic of a row is named DATABASE_TABLE, in lower case; None for a message that is
    no row, or whose topic is not known.
    """
    expected_topic = f"{opened.members.get('database')}_{opened.members.get('table')}".lower()
    return opened.record.topic == expected_topic if is_row(opened) and opened.record.topic else None


def lacks_sql_type(opened: OpenedRecord) -> bool:
    """Whether a row change (or a row of the initial load, INIT) lacks `sqlType`, the codes of
    JDBC's types.
    """
    return opened.members.get("sqlType") is None and (
        is_row(opened) or opened.members.get("type") == "INIT"
    )


def es_unit(opened: OpenedRecord) -> str:
    """The unit of the message's `es`, guessed from its size: `seconds` or `milliseconds`; "" for an
    `es` that is no positive number.
    """
    es = opened.members.get("es")
    if not isinstance(es, int) or es <= 0:
        return ""
    return "seconds" if es < _SECONDS else "milliseconds"


def is_drs(opened: OpenedRecord) -> bool:
    """Whether the message has exactly the members of Huawei DRS, in their order."""
    return list(opened.members) == _DRS.split()


def stamps(opened: OpenedRecord) -> list[Any]:
    """The values in `data` of the columns whose MySQL type is `timestamp` without fraction
    digits.
    """
    columns = [name for name, type in _types(opened).items() if type == "timestamp"]
    return [image.get(column) for column, image in product(columns, data_rows(opened))]


# Canal's Protobuf

_ENTRIES: Final = ("TRANSACTIONBEGIN", "ROWDATA", "TRANSACTIONEND", "HEARTBEAT", "GTIDLOG")
"""The types of entries in a Protobuf packet of Canal."""


def _entries(opened: OpenedRecord) -> list[Mapping[str, Any]]:
    """The entries of an opened Protobuf packet of Canal: row changes, and marks of transactions."""
    body = opened.members.get("body")
    return json_objects(body.get("messages")) if isinstance(body, dict) else []


def entry_types(opened: OpenedRecord) -> list[str]:
    """The types of the entries in a Protobuf packet of Canal, such as ROWDATA; "" for one that is
    not in _ENTRIES. canal.toml asks for them to tell what a packet carries.
    """
    types = (entry.get("entryType") for entry in _entries(opened))
    return [kind if kind in _ENTRIES else "" for kind in types]


def _changes(opened: OpenedRecord) -> Iterator[Mapping[str, Any]]:
    """The parsed RowChange messages of a packet: those of its entries with rows or a statement."""
    for entry in _entries(opened):
        stored = entry.get("storeValue")
        if entry.get("entryType") == "ROWDATA" and isinstance(stored, dict):
            yield stored


def has_unknown_change(opened: OpenedRecord) -> bool:
    """Whether a change in a Protobuf packet of Canal is of an unknown type, or has neither rows nor
    a statement.
    """
    return any(
        not isinstance(change.get("eventType"), str)
        or not (change.get("rowDatas") or change.get("sql"))
        for change in _changes(opened)
    )


def gtids(opened: OpenedRecord) -> list[str]:
    """The sets of GTIDs in the headers of a packet's entries; canal.toml asks whether there is one,
    which MariaDB's messages lack.
    """
    headers = (entry.get("header", {}) for entry in _entries(opened))
    return [header["gtid"] for header in headers if "gtid" in header]


def _row_datas(opened: OpenedRecord) -> Iterator[Mapping[str, Any]]:
    """The rows (`RowData`) of all entries of an opened Protobuf packet of Canal."""
    for change in _changes(opened):
        yield from json_objects(change.get("rowDatas"))


def _columns_of_row(row_data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The columns of both images of a row in Canal's Protobuf: those after the change, then those
    before it.
    """
    return [
        *json_objects(row_data.get("afterColumns")),
        *json_objects(row_data.get("beforeColumns")),
    ]


def packet_types(opened: OpenedRecord) -> list[str]:
    """The MySQL types of the columns in all row images of a Protobuf packet of Canal."""
    columns = chain.from_iterable(map(_columns_of_row, _row_datas(opened)))
    return [str(column.get("mysqlType")) for column in columns]


def has_after_image_without_key(opened: OpenedRecord) -> bool:
    """Whether the afterColumns of an UPDATE in a Protobuf packet of Canal lack a column of the key
    that its beforeColumns have.
    """
    for row_data in _row_datas(opened):
        before, after = (json_objects(row_data.get(f"{side}Columns")) for side in SIDES)
        keys = {column.get("name") for column in before if column.get("isKey")}
        if after and not keys <= {column.get("name") for column in after}:
            return True
    return False


def describe_by_entries(opened: OpenedRecord) -> TableDescription | None:
    """The table of the first row in a Protobuf packet of Canal: database, name, columns with their
    MySQL types, key columns. None for a packet without rows.
    """
    for entry in _entries(opened):
        stored = entry.get("storeValue")
        for row_data in json_objects(stored.get("rowDatas")) if isinstance(stored, dict) else ():
            columns = _columns_of_row(row_data)
            types = {str(column.get("name")): str(column.get("mysqlType")) for column in columns}
            keys = dict.fromkeys(str(c.get("name")) for c in columns if c.get("isKey"))
            header = entry.get("header", {})
            database, table = str(header.get("schemaName")), str(header.get("tableName"))
            return TableDescription(database, table, types, tuple(keys)) if types else None
    return None
