"""Rows of Tencent DTS JSON: `columns`, and value lists in their order.

Source: tencent#columns, tencent#pairing and the facts on values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, TypeAlias

from generators.families.mysql_texts import wire_image
from generators.formats.tencent_dts_json.profiles import TencentProfile
from generators.model import Change, Image, RowImages, SourceType, Table
from generators.sources import mysql
from generators.sources.type_numbers import type_numbers

Texts: TypeAlias = tuple[str | None, ...]
"""The texts of a row's values in the order of its columns; None is NULL."""

TRIMMED: Final = "trimmed"
"""The class of the cell of a NULL at the end of a row, which the value list leaves out."""

_PROTOCOL: Final = type_numbers("tencent")
"""The numbers of types in MySQL's protocol, by the type's name."""
_STORED: Final = type_numbers("binlog")
"""The numbers of types as a binlog stores them, by the type's name (tencent#type-numbers); BLOB and
TEXT are 252 in both.
"""


def columns_of(table: Table, binlog_codes: bool) -> list[dict[str, Any]]:
    """The member `columns`: each column of the table, in its order."""
    return [
        {
            "name": column.name,
            "dataTypeNumber": type_number(column.type, binlog_codes),
            "isKey": column.name in table.primary_key,
            "originalType": mysql.declared(column.type),
        }
        for column in table.columns
    ]


def type_number(type: SourceType, binlog_codes: bool) -> int:
    """The member `dataTypeNumber` of a type: as the binlog stores it if `binlog_codes`, else as
    MySQL's protocol has it. BLOB and TEXT, which the tables leave out, are 252 in both.
    """
    return (_STORED if binlog_codes else _PROTOCOL).get(type.name, 252)


def types_of(table: Table) -> dict[str, str]:
    """The `originalType` of each column, by name."""
    return {column.name: mysql.declared(column.type) for column in table.columns}


def images_of(
    table: Table, images: RowImages, bare: Change, profile: TencentProfile
) -> tuple[Change, Texts | None, Texts | None]:
    """What the message of one changed row says. First the expected change: `bare`, which has no
    images yet, with the row's before and after image. Then the texts of the members `oldColumns`
    and `newColumns`; None for an image that the row does not have.
    """
    (before, old), (after, new) = (
        _list_values(wire_image(table, source_row, profile.forms), profile)
        for source_row in (images.before, images.after)
    )
    return replace(bare, before=before, after=after), old, new


def _list_values(image: Image | None, profile: TencentProfile) -> tuple[Image | None, Texts | None]:
    """An image, and the texts that its message lists as the row's values, None for NULL; both None
    without an image. With the profile's `short_lists` the list lacks the NULLs at its end, whose
    cells are marked as TRIMMED.
    """
    if image is None:
        return None, None
    texts = [cell.text for cell in image.values()]
    if not profile.short_lists:
        return image, tuple(texts)
    while texts and texts[-1] is None:
        texts.pop()
    marked = {
        n: replace(c, cls=TRIMMED) if i >= len(texts) else c
        for i, (n, c) in enumerate(image.items())
    }
    return marked, tuple(texts)


def keys_of(table: Table, texts: Texts) -> Texts:
    """The texts of the primary key in its order; a key column has a value, and so is never left
    out.
    """
    places = {column.name: i for i, column in enumerate(table.columns)}
    return tuple(
        texts[places[name]] if places[name] < len(texts) else None for name in table.primary_key
    )
