"""The command `publish`: the topics that a pattern names, and what it is told before anything starts."""

import json

import pytest
from click.testing import CliRunner

from conformance.commands.cli import cli
from generators.errors import UnknownName, UsageError
from generators.publishing.layouts import parts
from generators.publishing.topics import delete_topic, ends

TABLES = "CREATE TABLE shop.orders (id INT PRIMARY KEY);\nCREATE TABLE shop.`größe` (id INT PRIMARY KEY);\n"


def publish(*words):
    done = CliRunner().invoke(cli, ["--no-config", "publish", *map(str, words)], prog_name="cdc-conformance")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout.splitlines()[-1])


def test_parts_of_a_topic():
    assert parts("cdc") == ()
    assert parts("a.{database}.{table}") == ("database", "table")
    with pytest.raises(UnknownName, match=r"unknown part of --topic 'tabel'\. Did you mean 'table'\?"):
        parts("{tabel}")
    with pytest.raises(UnknownName, match=r"unknown part of --topic 'table\.__class__'"):
        parts("{table.__class__}")
    with pytest.raises(UsageError, match=r"--topic \{: Single '\{' encountered in format string"):
        parts("{")


@pytest.mark.kafka
def test_each_table_has_its_topic(kafka, tmp_path):
    ddl = tmp_path / "shop.sql"
    ddl.write_text(TABLES, "utf-8")
    there = ("--broker", kafka.bootstrap, "--count", 40, "--dialect", "mysql", "--tables", ddl)
    found = publish("ticdc-canal-json", *there, "--topic", "by-{database}_{table}", "--partitions", 2)
    assert (found["topics"], found["acknowledged"]) == (["by-shop_gr__e", "by-shop_orders"], 40)
    assert {len(ends(kafka.bootstrap, topic)) for topic in found["topics"]} == {2}
    own = publish("debezium-json", *there, "--topic", "{topic}", "--rate", 1000)
    assert own["topics"] == ["cdc.shop.gr__e", "cdc.shop.orders"]
    inspected = CliRunner().invoke(cli, ["inspect", "by-shop_*", "--broker", kafka.bootstrap, "--format", "json"])
    assert json.loads(inspected.stdout)["messages"] == 40
    nothing = CliRunner().invoke(cli, ["inspect", "no-*", "--broker", kafka.bootstrap])
    assert str(nothing.exception).startswith("unknown topic 'no-*'.")
    for topic in (*found["topics"], *own["topics"]):
        delete_topic(kafka.bootstrap, topic)
