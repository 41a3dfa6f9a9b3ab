"""The options of a user's tables: what they refuse, what they print, and what a report may say of them."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.commands.cli import cli
from conformance.commands.config import load
from conformance.commands.shell import unnamed

SHOP = str(Path(__file__).parents[3] / "examples" / "tables" / "shop.sql")


def said(*arguments):
    done = CliRunner().invoke(cli, ["--no-config", *arguments])
    return f"{done.output}{done.exception}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--values", "v.toml"], "--values v.toml needs --tables FILE|URL"),
        (["--dialect", "mysql"], "--dialect mysql needs --tables FILE|URL"),
        (["--tables", "none.sql"], "none.sql: cannot be read: No such file or directory"),
        (["--tables", SHOP, "--dialect", "mysq"], "unknown dialect 'mysq'. Did you mean 'mysql'?"),
        (["--tables", SHOP, "--values", "none.toml"], "--values none.toml: No such file or directory"),
        (["--tables", SHOP, "--differential"], "--differential has a table of its own; leave out --tables"),
        (["--tables", SHOP, "--writer-profile", "3.5.0.Final+postgresql"], "the tables are of mysql"),
    ],
)
def test_what_run_refuses_before_anything_starts(arguments, message):
    assert message in said("run", "debezium-json", *arguments)


@pytest.mark.parametrize("option", [["--keys", "zipf"], ["--rows", "2"], ["--payload", "9"], ["--null-rate", "0.5"]])
def test_publish_refuses_the_shape_of_another_table(option):
    arguments = ["publish", "ticdc-canal-json", "--tables", SHOP, "--broker", "127.0.0.1:1", "--topic", "t", *option]
    assert f"{option[0]} belongs to the table of load; with --tables use --values FILE" in said(*arguments)


def test_a_corpus_of_the_tables_and_the_notes(tmp_path):
    dump = tmp_path / "dump.sql"
    dump.write_text(Path(SHOP).read_text("utf-8") + "CREATE VIEW v AS SELECT 1;\n" * 8, "utf-8")
    arguments = [
        "corpus",
        "write",
        "ticdc-canal-json",
        "--writer-profile",
        "v7.1.6",
        "--tables",
        str(dump),
        "--out",
        str(tmp_path),
    ]
    short = said(*arguments, "--count", "3")
    assert "tables: customers, orders (mysql); 9 notes" in short
    assert "... 4 more; --verbose prints all" in short
    assert said(*arguments, "--no-boundaries", "--count", "3", "--verbose").count("CREATE VIEW") == 8
    ids = (tmp_path / "ticdc-canal-json" / "v7.1.6" / "tables.json").read_text("utf-8")
    assert "tables/histories/drawn/1/0" in ids


def test_a_report_does_not_hold_the_url_of_a_database():
    url = "mysql://me:secret@db.example/shop"
    given = ["run", "ticdc-canal-json", "--tables", url, f"--tables={url}", "--tables", "a.sql"]
    assert unnamed(given, [url, "a.sql"]) == (
        *("run", "ticdc-canal-json", "--tables", "mysql://...", "--tables=mysql://...", "--tables", "a.sql"),
    )


def test_the_configuration_file_places_files_and_leaves_urls(tmp_path, monkeypatch):
    folder = tmp_path / "conf"
    folder.mkdir()
    file = folder / "cdc-conformance.toml"
    file.write_text('[run]\ntables = ["shop.sql", "mysql://db/shop"]\nvalues = "v.toml"\ndialect = "tidb"\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    from conformance.commands._config_keys import sections

    given = load(file, cli).defaults(sections(cli))["run"]
    assert given["tables"] == ["conf/shop.sql", "mysql://db/shop"]
    assert (given["values_file"], given["dialect"]) == ("conf/v.toml", "tidb")
