"""The options of a user's tables: what they refuse, what they print, and what a report may say of them."""

import json
from pathlib import Path

from click.testing import CliRunner

from conformance.commands.cli import cli
from conformance.commands.config import load
from conformance.commands.shell import unnamed

SHOP = str(Path(__file__).parents[3] / "examples" / "tables" / "shop.sql")


def said(*arguments):
    done = CliRunner().invoke(cli, ["--no-config", *arguments])
    return f"{done.output}{done.exception}"


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
    assert short.count("CREATE VIEW") == 1 and "(and 7 more of this kind)" in short
    assert "left out" in short.splitlines()[1]
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


def test_the_cases_of_the_tables_are_listed():
    shown = said(
        "cases", "ticdc-canal-json", "--writer-profile", "v7.1.6", "--tables", SHOP, "--select", "*/tables/*", "--format", "json"
    )
    ids = [case["id"] for case in json.loads(shown[shown.index("[") : shown.rindex("]") + 1])]
    assert ids and all(one.startswith("ticdc-canal-json/v7.1.6/tables/") for one in ids)
    assert {one.split("/")[3] for one in ids} >= {"customers", "orders"}
    assert "no case matches */nothing" in said("cases", "ticdc-canal-json", "--tables", SHOP, "--select", "*/nothing")
