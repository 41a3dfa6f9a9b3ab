"""Recorded Canal messages as episodes and cases."""

from __future__ import annotations

import json

import pytest

from generators.model import Kind, Op, Origin, RowChange, State
from generators.recorded import registry
from generators.recorded.canal_ddl import apply_statement, parse_statement
from generators.recorded.episodes import cases
from generators.wire_format import get

FMT = get("alibaba-canal-json")


def episode(recording, name):
    return next(
        e for e in registry.episodes(FMT.name) if (e.recording.name, e.name) == (recording, name)
    )


def made(recording, name):
    chosen = episode(recording, name)
    return list(cases(FMT, FMT.profile(chosen.recording.profile), chosen))


def test_ids_are_unique_and_every_message_is_in_one_episode():
    episodes = registry.episodes(FMT.name)
    ids = [e.case_id for e in episodes]
    assert len(set(ids)) == len(ids) == 493
    numbers = [(e.recording.name, message.event) for e in episodes for message in e.messages]
    assert len(set(numbers)) == len(numbers) == 2204


def test_an_episode_is_a_case_at_both_levels_and_owes_what_the_truth_says():
    first, second = made("main-1.1.8", "h_live.t_int")
    assert (first.id, first.level) == ("alibaba-canal-json/recorded/main-1.1.8/h_live.t_int", 1)
    assert (second.id, second.level) == (
        "alibaba-canal-json/recorded/main-1.1.8/h_live.t_int/typed",
        2,
    )
    assert first.origin is Origin.RECORDED and "recorded" in first.tags
    sent = first.written[1]
    assert json.loads(sent.message.value)["data"][0]["bu"] == "18446744073709551615"
    (change,) = sent.changes
    assert (change.kind, change.op, change.keys, change.position, change.commit_time_us) == (
        Kind.ROW,
        Op.INSERT,
        ("id",),
        None,
        None,
    )
    assert change.after["bu"].value == 2**64 - 1
    assert change.types["iu"] == "INT unsigned" and change.types["bo"] == "BOOL"


def test_statements_are_a_case_of_level_one():
    (case,) = made("stmt-1.1.8", "statements")
    assert {change.kind for sent in case.written for change in sent.changes} == {Kind.CONTROL}
    assert [case.level for case in made("stmt-1.1.8", "xa")] == [1]


def test_rows_of_a_rolled_back_transaction_are_published():
    (case,) = made("stmt-1.1.8", "xa")
    assert [change.kind for sent in case.written for change in sent.changes] == [
        Kind.TRANSACTION,
        Kind.ROW,
        Kind.TRANSACTION,
    ]


def test_what_the_server_loses_is_not_owed():
    first, _ = made("m102-1.1.4", "h_pre.t_gen")
    cell = first.written[0].changes[0].after["b"]
    assert cell.state is State.ANY and cell.text is None
    assert cell.reason == "MariaDB 10.2 logs NULL in virtual columns (canal#virtual-columns)"


def test_what_the_model_cannot_describe_is_no_case():
    assert made("m102-minimal-1.1.7", "h_img.t_old/read") == []


def test_all_rows_of_a_minimal_event_have_the_same_columns():
    events = [
        e
        for e in episode("minimal-1.1.8", "h_img.t_old").history.events
        if isinstance(e, RowChange)
    ]
    sent = [
        json.loads(message.value) for message in episode("minimal-1.1.8", "h_img.t_old").messages
    ]
    assert len(events) == len(sent)
    assert {"a", "b", "c"} in [
        set(row) for message in sent if len(message["data"]) == 3 for row in message["data"]
    ]
    assert all(len({tuple(row) for row in message["data"]}) == 1 for message in sent)


@pytest.mark.parametrize(
    ("sql", "action", "table", "spelled"),
    [
        ("create table t (id int primary key, f float(7,2), e enum('a,b','c)'), primary key (id))", "create table", "t",
         {"id": "int", "f": "float(7,2)", "e": "enum('a,b','c)')"}),
        ("ALTER TABLE `d`.`t` ADD COLUMN c2 decimal(10, 4) NOT NULL", "add column", "t", {"c2": "decimal(10, 4)"}),
        ("alter table t add a int first, add b varchar(5) after id", "add column", "t", {"a": "int", "b": "varchar(5)"}),
        ("/* x */ alter table t\n modify v text, -- y\n change o n bigint unsigned", "modify column", "t",
         {"v": "text", "n": "bigint unsigned"}),
        ("alter table t drop index i, add column tail int", "drop index", "t", {"tail": "int"}),
    ],
)  # fmt: skip
def test_the_spelling_of_types_is_taken_from_the_statement(sql, action, table, spelled):
    live = {}
    statement = parse_statement(sql, "d")
    assert (statement.action, statement.database, statement.table) == (action, "d", table)
    apply_statement(live, {}, statement)
    assert live["d", "t"] == spelled


@pytest.mark.parametrize(
    ("clause", "action"),
    [
        ("ADD KEY k (a)", "create index"),
        ("ADD UNIQUE KEY k (a)", "create index"),
        ("ADD UNIQUE (a)", "create index"),
        ("ADD CONSTRAINT `k` UNIQUE (a)", "create index"),
        ("ADD CONSTRAINT k UNIQUE KEY k (a)", "create index"),
        ("ADD FULLTEXT INDEX k (a)", "create index"),
        ("ADD PRIMARY KEY (a)", "add primary key"),
        ("ADD keys int", "add column"),
        ("DROP KEY k", "drop index"),
        ("DROP CONSTRAINT k", "drop index"),
        ("DROP PRIMARY KEY", "drop primary key"),
        ("ALTER a SET DEFAULT 1", "set default"),
        ("RENAME INDEX a TO b", "modify column"),
        ("ADD COLUMN view int", "add column"),
        ("RENAME = u", "create database"),
        ("COMMENT 'a view of x'", "table comment"),
        ("RENAME u", "rename table"),
        ("DROP INDEX k, RENAME TO u", "drop index"),
        ("AUTO_INCREMENT = 9", "table comment"),
        ("ADD INDEX (a), COMMENT = 'x'", "modify column"),
        ("ADD FOREIGN KEY (a) REFERENCES p (id), ADD INDEX (a)", "create index"),
        ("ADD PARTITION (PARTITION p VALUES IN (1))", "add partition"),
        ("REORGANIZE PARTITION p INTO (PARTITION p VALUES LESS THAN MAXVALUE)", "add partition"),
    ],
)
def test_every_statement_of_an_index_is_one(clause, action):
    """Canal 1.1.7 sends them as CINDEX and DINDEX."""
    assert parse_statement(f"ALTER TABLE t {clause}", "d").action == action


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("drop table if exists t, e.t", {"d.u": "int"}),
        ("drop database if exists d", {"e.t": "char(2)"}),
        ("rename table t to v, e.t to t", {"d.u": "int", "d.v": "text", "d.t": "char(2)"}),
        ("create table v like t", {"d.t": "text", "d.u": "int", "d.v": "text", "e.t": "char(2)"}),
        ("create database f", {"d.t": "text", "d.u": "int", "e.t": "char(2)"}),
    ],
)
def test_a_table_that_is_gone_has_no_spelling(sql, left):
    live = {("d", "t"): {"c": "text"}, ("d", "u"): {"c": "int"}, ("e", "t"): {"c": "char(2)"}}
    apply_statement(live, {}, parse_statement(sql, "d"))
    assert {".".join(name): spellings["c"] for name, spellings in live.items()} == left


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE UNIQUE INDEX `i`  USING btree ON `t` (`a`)",
        "CREATE INDEX i ON t (a)",
        "CREATE FULLTEXT INDEX `i-1` ON `d`.`t` (a)",
    ],
)
def test_an_index_is_of_its_table(sql):
    statement = parse_statement(sql, "d")
    assert (statement.action, statement.database, statement.table) == ("create index", "d", "t")


def test_a_statement_that_canals_parser_does_not_read_is_a_query_of_no_table():
    for sql in ("CREATE OR REPLACE TABLE t (a int)", "ALTER VIEW v AS SELECT 1"):
        statement = parse_statement(sql, "d")
        assert (statement.action, statement.database, statement.table) == (
            "create database",
            "",
            "",
        )


@pytest.mark.parametrize(
    "sql",
    [
        "alter table t add constraint f foreign key (a) references p (id)",
        "alter table t add check (a > 0)",
        "alter table t remove partitioning",
        "alter table t partition by hash (a) partitions 4",
    ],
)
def test_clauses_that_canal_does_not_list_are_left_out(sql):
    """As Canal 1.1.7 sends nothing of them."""
    assert parse_statement(sql, "d") is None


@pytest.mark.parametrize(
    "sql",
    ["analyze table t", "create view v as select 1", "grant select on d.* to u", "flush tables"],
)
def test_statements_that_canal_does_not_send_are_left_out(sql):
    assert parse_statement(sql, "d") is None


@pytest.mark.parametrize(
    "silent", ["ADD CONSTRAINT c CHECK (a > 0)", "ADD FOREIGN KEY (a) REFERENCES p (a)"]
)
def test_a_rename_behind_a_clause_that_canal_does_not_list_is_one(silent):
    """As the parser of Canal 1.1.7 gives RENAME and the new name."""
    statement = parse_statement(f"ALTER TABLE t {silent}, RENAME TO u", "d")
    assert (statement.action, statement.database, statement.table) == ("rename table", "d", "u")
    assert statement.table_pairs == ((("d", "t"), ("d", "u")),)
