"""Texts of MySQL's statements that Debezium keeps as they are spelled, statements on views, and
counters, against what the connectors wrote on MariaDB 10.11; debezium#comments, debezium#views,
debezium#counters.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from generators.formats.debezium_json import FORMAT, write
from generators.model import (
    Column,
    Default,
    Event,
    History,
    Layout,
    Op,
    RowChange,
    RowImages,
    SchemaChange,
    Table,
)
from generators.sources import mysql
from generators.sources.boundaries import START

_ID = Column("id", mysql.integer("int"), nullable=False, comment='it\'s "an" \\ id')
_LABEL = Column("a", mysql.enum_of("a'b", "c'd"), comment='say "hi" don\'t')
W = Table("audit", "w", (_ID, _LABEL), ("id",), comment='table\'s "own"')
CREATE = SchemaChange(
    START,
    "create table",
    "create table w (id int primary key comment 'it\\'s \"an\" \\\\ id', a enum('a\\'b','c''d')"
    ' comment "say \\"hi\\" don\'t") comment "table\'s \\"own\\""',
    "audit",
    "w",
    None,
    W,
)


def _messages(release: str, *events: Event) -> list[dict[str, Any]]:
    """The messages that the release writes of the events, MariaDB's connector for 3.5."""
    profile = FORMAT.build(release, *(("mariadb",) if release == "3.5.0.Final" else ()))
    records = write(History(events), profile, Layout("cdc"))
    return [json.loads(record.message.value or b"null") for record in records]


def _described(release: str, *events: Event) -> dict[str, Any]:
    """The table in the last schema change that the release writes of the events."""
    described: dict[str, Any] = _messages(release, *events)[-1]["payload"]["tableChanges"][0][
        "table"
    ]
    return described


def test_comments_and_labels_stand_as_the_statement_spells_them() -> None:
    described = _described("3.5.0.Final", CREATE)
    assert described["comment"] == 'table\'s \\"own\\"'
    columns = {column["name"]: column for column in described["columns"]}
    assert columns["id"]["comment"] == 'it\\\'s "an" \\\\ id'
    assert columns["a"]["comment"] == 'say \\"hi\\" don\'t'
    assert columns["a"]["enumValues"] == ["'a\\'b'", "'c''d'"]


def test_a_rows_schema_has_the_comment_as_the_statement_spells_it() -> None:
    row = RowChange(START, W, Op.INSERT, (RowImages(None, {"id": 1, "a": 2}),))
    before = _messages("3.5.0.Final", CREATE, row)[-1]["schema"]["fields"][0]
    assert [field["doc"] for field in before["fields"]] == [
        'it\\\'s "an" \\\\ id',
        'say \\"hi\\" don\'t',
    ]


def test_a_later_statement_spells_the_text_anew_and_a_renamed_table_keeps_it() -> None:
    v = replace(W, name="v")
    renamed = SchemaChange(
        START, "rename table", "rename table w to v", "audit", "v", W, v, old_name="w"
    )
    assert _described("3.5.0.Final", CREATE, renamed)["comment"] == 'table\'s \\"own\\"'
    again = SchemaChange(
        START,
        "table comment",
        "alter table v comment 'table''s \"own\"'",
        "audit",
        "v",
        v,
        v,
    )
    assert _described("3.5.0.Final", CREATE, renamed, again)["comment"] == "table''s \"own\""


def test_a_default_ends_with_the_quote_that_is_part_of_it() -> None:
    text = Column("c", mysql.text("char", 9), default=Default("'new\\''", "new'"))
    table = Table("audit", "t", (text,))
    sql = "create table t (c char(9) default 'new\\'')"
    created = SchemaChange(START, "create table", sql, "audit", "t", None, table)
    assert _described("3.5.0.Final", created)["columns"][0]["defaultValueExpression"] == "new\\'"


VIEW = SchemaChange(
    START,
    "create view",
    "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `v1` AS select 1",
    "audit",
    "v1",
)
DROPPED = SchemaChange(START, "drop view", "drop view v1", "audit", "v1")


@pytest.mark.parametrize("release", ["1.9.7.Final", "2.5.4.Final"])
def test_older_releases_write_statements_on_views(release: str) -> None:
    """A CREATE VIEW names the view, a DROP VIEW nothing."""
    messages = [message["payload"] for message in _messages(release, VIEW, DROPPED)]
    assert [(m["source"]["table"], m["tableChanges"]) for m in messages] == [("v1", []), ("", [])]
    assert [m["ddl"] for m in messages] == [VIEW.sql, DROPPED.sql]


@pytest.mark.parametrize("release", ["3.5.0.Final", "3.6.1.Final"])
def test_newer_releases_write_no_statements_on_views(release: str) -> None:
    assert _messages(release, VIEW, DROPPED) == []


@pytest.mark.parametrize("release", ["2.5.4.Final", "3.5.0.Final"])
def test_a_statement_on_a_sequence_names_no_table(release: str) -> None:
    created = SchemaChange(START, "create sequence", "create sequence sq", "audit", "sq")
    (message,) = _messages(release, created)
    assert (message["payload"]["source"]["table"], message["payload"]["tableChanges"]) == ("", [])


@pytest.mark.parametrize(
    ("release", "counted"), [("2.5.4.Final", False), ("3.5.0.Final", False), ("3.6.1.Final", True)]
)
def test_what_updates_itself_counts_in_the_newest_release(release: str, counted: bool) -> None:
    changed = Column("changed", mysql.temporal("timestamp"), has_on_update=True)
    table = Table("audit", "t", (changed,))
    sql = "CREATE TABLE `t` (`changed` timestamp DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)"
    created = SchemaChange(START, "create table", sql, "audit", "t", None, table)
    (column,) = _described(release, created)["columns"]
    assert (column["autoIncremented"], column["generated"]) == (counted, counted)


def test_a_drop_of_several_views_is_one_message() -> None:
    dropped = replace(DROPPED, sql="drop view if exists v1, v2")
    (message,) = _messages("2.5.4.Final", dropped)
    assert (message["payload"]["source"]["table"], message["payload"]["tableChanges"]) == ("", [])
