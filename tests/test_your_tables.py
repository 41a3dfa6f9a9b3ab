"""docs/your-tables.md does what it says: its files are those of examples/tables, its commands end
as it shows.
"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "tables"
PAGE = (ROOT / "docs" / "your-tables.md").read_text("utf-8")
BLOCKS = re.findall(r"<!-- ([^\n]+) -->\n```\w+\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
SPARK = "cdc-conformance run "


@pytest.fixture
def perform(in_session, tmp_path, monkeypatch):
    """A function that performs a command of the page where its files are; its exit code and what it
    said.
    """
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES / "shop.sql", tmp_path)
    for what, text in BLOCKS:
        if what.startswith("file: "):
            (tmp_path / what.removeprefix("file: ")).write_text(text, "utf-8")
    return lambda command, *more: in_session(*shlex.split(command.replace("\\\n", " "))[1:], *more)


def commands(kind, spark):
    return [
        text.strip() for what, text in BLOCKS if what == kind and text.startswith(SPARK) == spark
    ]


def test_the_page_s_values_are_the_example_s():
    files = {
        what.removeprefix("file: "): text for what, text in BLOCKS if what.startswith("file: ")
    }
    assert files["values.toml"] == (EXAMPLES / "values.toml").read_text("utf-8")
    assert {what for what, _ in BLOCKS} == {
        "run: 0",
        "load",
        "file: values.toml",
        "file: cdc-conformance.toml",
    }


def test_the_corpus_is_written_and_verified(perform):
    written, verified = commands("run: 0", spark=False)
    code, said = perform(written)
    assert code == 0, said
    assert re.search(r"v7\.1\.6: \d{3} cases", said), said
    code, said = perform(verified)
    assert (code, "corpora/ticdc-canal-json/v7.1.6: ok" in said) == (0, True), said


@pytest.mark.parametrize("command", commands("run: 0", spark=True))
def test_a_run_conforms(perform, command):
    code, said = perform(command)
    assert code == 0, said
    assert "tables: customers, orders (mysql)" in said


def test_the_load_is_complete_and_right(perform, kafka):
    """Whether the decoder keeps up is the machine's affair."""
    (command,) = commands("load", spark=False)
    code, said = perform(command, "--broker", kafka.bootstrap, "--format", "json")
    report, _ = json.JSONDecoder().raw_decode(said)
    assert (report["figures"]["decoded"], report["complete"], report["accounted"]) == (
        1_000,
        True,
        True,
    ), said
    assert report["sample"]["verdicts"] == {"pass": report["sample"]["messages"]}, said
    assert code == {"keeps up": 0, "falls behind": 1}[report["verdict"]], said
