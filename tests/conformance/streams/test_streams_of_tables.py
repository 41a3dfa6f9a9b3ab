"""Streams of a user's tables without Spark: keys of several columns in any order, numbers, what is
left out and why.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from command_lines import performed

from conformance.cases.tables import read_tables
from conformance.selftest import keeping
from conformance.streams import reading, recipes
from conformance.streams.kept import KeptTables, Keys, judge
from conformance.streams.recipes import StreamResult
from generators.garbage.nemesis import select_nemeses
from generators.wire_format import FORMATS, get

MYSQL, POSTGRESQL = (
    Path(__file__).with_name(f"{name}.sql").read_text("utf-8") for name in ("mysql", "postgresql")
)


@pytest.fixture
def read(tmp_path):
    """Reads DDL."""

    def done(sql, dialect=None):
        (tmp_path / "own.sql").write_text(sql, "utf-8")
        return read_tables([str(tmp_path / "own.sql")], dialect, None, None, 1, ())

    return done


@pytest.fixture
def tables(read):
    return read(MYSQL)


def group_of(tables, name, profile="*", nemesis="*"):
    settings = reading.StreamSettings((name,), profile, nemesis, tables=tables)
    chosen, of = reading._select_subjects(get(name), settings)
    return reading.group_of(get(name), chosen, select_nemeses(nemesis), 1, of)


def state_of(group, turn=1):
    """The right state of a group without garbage; keys are in the table's order, or with `turn` -1
    in the other one.
    """
    state, keys = (
        keeping.keep_tables(group),
        {stream.story.table.name: stream.story.table.primary_key for stream in group.streams},
    )
    rows = {
        table: [(tuple(image[name] for name in keys[table])[::turn], image) for _, image in pairs]
        for table, pairs in state.rows.items()
    }
    return KeptTables(rows, frozenset(), state.seen, {}, rows_alone=True)


NAMELESS = [name for name in FORMATS if name.startswith(("flink-", "seatunnel-"))]


@pytest.mark.parametrize("name", NAMELESS)
def test_messages_that_name_no_table_are_left_out_with_the_reason(tables, name):
    group = group_of(tables, name, nemesis="none")
    assert group.streams == ()
    assert {lost.lost for lost in group.lost} == {
        "the messages do not name their table, and the tables of a run share a topic"
    }


WITH_STREAMS = [name for name in FORMATS if name not in NAMELESS and get(name).source != "mongodb"]


@pytest.mark.parametrize("name", WITH_STREAMS)
def test_every_format_keeps_the_tables(read, name):
    fmt = get(name)
    profile = next(profile for profile in fmt.profiles if not reading.why_not_kept(fmt, profile))
    tables = read({"mysql": MYSQL, "postgresql": POSTGRESQL}[profile.source], profile.source)
    group = group_of(tables, name, profile.name, "none")
    assert {stream.table for stream in group.streams} == {"parent", "line"}
    assert group.lost == ()
    for turn in (1, -1):
        outcomes = judge(group, state_of(group, turn))
        assert [outcome.wrong for outcome in outcomes] == [[], []]
        assert {outcome.table for outcome in outcomes} == {"parent", "line"}
        assert all(outcome.rows > 5 and outcome.cells for outcome in outcomes)


def test_a_row_under_its_old_key_is_not_the_row_of_its_new_one(tables):
    group = group_of(tables, "ticdc-canal-json", "v7.1.6+extension", "none")
    (line,) = (stream for stream in group.streams if stream.table == "line")
    state = state_of(group)
    old = min(line.story.moved, key=repr)
    rows = {name: list(some) for name, some in state.rows.items()}
    texts = tuple(map(str, old))
    rows[line.story.table.name].append((texts, dict(rows[line.story.table.name][0][1])))
    (wrong,) = (
        outcome for outcome in judge(group, replace(state, rows=rows)) if not outcome.converged
    )
    sentence = f"row {', '.join(texts)} is still there, although its key was changed"
    assert wrong.wrong == [("ticdc-canal-json/stream/key-change", sentence)]
    del rows[line.story.table.name][-1]
    key, _ = rows[line.story.table.name].pop()
    (wrong,) = (
        outcome for outcome in judge(group, replace(state, rows=rows)) if not outcome.converged
    )
    assert wrong.wrong == [
        ("ticdc-canal-json/stream/convergence", f"row {', '.join(key)} is missing")
    ]


def test_a_number_is_known_by_its_value_and_a_text_by_its_letters():
    number, text = Keys(("a", "b"), frozenset({"a"})), Keys(("a", "b"), frozenset())
    assert number.row_key(("1.50", "x"), {"a": "1.50", "b": "x"}) == number.key_text(
        {"a": "1.5", "b": "x"}
    )
    assert text.row_key(("1.50", "x"), {"a": "1.50", "b": "x"}) != text.key_text(
        {"a": "1.5", "b": "x"}
    )
    assert text.row_key(("x", "1"), {"a": "1", "b": "x"}) == ("1", "x")
    assert text.row_key(("x", "2"), {"a": "1", "b": "x"}) == ("x", "2")
    assert number.key_text({"a": "none", "b": "x"}) == ("none", "x")
    digits = "1234567890" * 3 + "12345678"
    assert number.key_text({"a": f"{digits}.0", "b": "x"}) == (digits, "x")
    assert number.key_text({"a": "-0.0", "b": "x"}) == number.key_text({"a": "0", "b": "x"})
    for no_number in ("1_0", "\uff11\uff10", " 10"):
        assert number.key_text({"a": no_number, "b": "x"}) == (no_number, "x")


def test_a_key_that_the_messages_do_not_tell_is_not_judged(read):
    values = read("CREATE TABLE `k` (`d` binary(16) NOT NULL, `v` int, PRIMARY KEY (`d`));")
    group = group_of(values, "ticdc-canal-json", get("ticdc-canal-json").profiles[0].name, "none")
    assert [(lost.table, lost.lost) for lost in group.lost] == [
        ("k", "the messages do not tell every value of the key d")
    ]
    assert group.streams == ()
    story = group_of(values, "debezium-json", "3.5.0.Final", "none").streams[0].story
    assert recipes.why_key_unsure(story) == ""
    table = replace(story.table, primary_key=("v",))
    assert (
        recipes.why_key_unsure(replace(story, table=table))
        == "the messages name the key d, the table has v"
    )


def test_results_name_the_user_s_table():
    result = StreamResult("f", "p", "none", table="orders")
    result.differ("convergence", "row 1 is missing")
    lost = StreamResult("f", "p", "-", lost="no key", table="heap")
    assert result.as_json()["table"] == "orders"
    text = reading.render([result, lost], markdown=True)
    assert "| format | profile | table | nemesis | rows |" in text
    assert "| f | p | orders | none | 0 | 0 | 0 | 0 | differs |" in text
    assert "f/p, heap, -: no key" in text
    assert "f/stream/convergence: p, orders, none: row 1 is missing" in text


def test_the_command_names_tables_that_have_no_key(tmp_path, monkeypatch):
    asked = []

    def said(ddl):
        (tmp_path / "own.sql").write_text(ddl, "utf-8")
        done = performed("stream", "tencent-dts-json", "--tables", tmp_path / "own.sql")
        return f"{done.output}{done.exception}"

    def caught(**settings):
        asked.append(settings)
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "StreamSettings", caught)
    text = "1 table is left out of the streams:\n  table heap has no primary key, by which rows are kept\n"
    assert text in said(MYSQL)
    assert asked[0]["tables"].schema.dialect == "mysql"
    text = "no stream can be of these tables: table heap has no primary key"
    assert text in said("CREATE TABLE `heap` (`a` int unsigned);")
    assert len(asked) == 1
