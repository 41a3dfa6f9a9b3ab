"""Each writer of text ends its docstring with what it writes: a row change, and a statement if the
product sends statements. This test writes them again.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import pytest

from generators.model import Column, History, Layout, Op, Row, Table
from generators.sources import mysql, postgresql
from generators.sources.boundaries import change
from generators.sources.ddl import ddl_event
from generators.wire_format import FORMATS, get, module_name

PROFILES = {
    "ticdc-canal-json": "v8.5.7+extension",
    "debezium-json": "3.5.0.Final+schemaless",
    "cloudcanal-debezium": "2022+schemaless",
    "ticdc-debezium-json": "v8.5.7+schemaless",
    "ticdc-simple-json": "v8.5.7",
    "maxwell-json": "1.45.0+ddl",
    "aws-dms-json": "2016-01-01",
}
"""Profiles that show a format in few characters; of others the last listed one shows it."""

WITH_SCHEMA = ("huawei-cdl-json", "huawei-cdl-debezium")
"""Formats of which each message has a schema of over a thousand characters."""

SHOWN = [name for name in FORMATS if get(name).container == "json" and name not in WITH_SCHEMA]

BEFORE: Row = {"id": 1, "note": "old"}
AFTER: Row = {"id": 1, "note": "new"}


def messages(name: str) -> Iterator[str]:
    """An UPDATE of one column of the table `shop.notes`, and ADD COLUMN."""
    fmt = get(name)
    profile = fmt.profile(PROFILES[name]) if name in PROFILES else fmt.profiles[-1]
    types = postgresql if profile.source == "postgresql" else mysql
    number = types.TYPES["integer" if types is postgresql else "int"]
    columns = (
        Column("id", number, nullable=False),
        Column("note", types.TYPES["text"]),
    )
    table = Table("shop", "notes", columns, ("id",))
    for event in (change(table, Op.UPDATE, (BEFORE, AFTER)), ddl_event("add column", "shop")):
        for written in fmt.write(History((event,)), profile, Layout(partitions=1)):
            if written.message.value is not None:
                yield written.message.value.decode().rstrip("\r\n")


def blocks(text: str) -> list[str]:
    """The indented blocks of a docstring, their lines joined."""
    found = [""]
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1] += line[4:]
        elif found[-1]:
            found.append("")
    return [block for block in found if block]


@pytest.mark.parametrize("name", SHOWN)
def test_a_writer_s_docstring_shows_what_it_writes(name: str) -> None:
    shown = importlib.import_module(f"generators.formats.{module_name(name)}").__doc__ or ""
    written = list(messages(name))
    assert written
    assert blocks(shown)[-len(written) :] == written
