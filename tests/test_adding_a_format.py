"""docs/adding-a-format.md does what it says: its steps are performed in a copy of the checkout,
with the files of the example.

A comment before each block says what the block is: a command, what the command says, a part of a
file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding-a-format.md").read_text("utf-8")
TOY = ROOT / "examples" / "toy-json"
TESTS = (
    "tests/generators/formats/test_toy_json.py",
    "tests/spark_checks/decoders/test_toy_json.py",
)
OWN = [
    path.relative_to(TOY).as_posix() for path in TOY.rglob("*") if path.suffix in (".py", ".toml")
]
FILES = sorted([*OWN, *TESTS])
BLOCK = re.compile(r"<!-- (\w+)(?:: ([^\n]+))? -->\n```\w+\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PAGE)
SHOWN = {(name, text) for kind, name, text in BLOCKS if kind == "in"}
(DOCUMENTED,) = (text for name, text in SHOWN if name in TESTS)
RUNS = {name: text.strip() for kind, name, text in BLOCKS if kind == "run"}
REGISTRY = "generators/wire_format.py"
GENERATED = ("docs/", "fixtures/toy-json/", "conformance/commands/config.schema.json")
SECONDS = 600


def done(step, folder, code=0):
    """What a step's command says; it must end with the code."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "GIT_"))
    }
    env |= {"PATH": path, "PYTHONPATH": str(folder), "COLUMNS": "200"}
    words = ["nice", "sh", "-c", RUNS.get(step, step)]
    ended = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def texts(folder):
    """Every file by its path, but for what tools leave behind."""
    left = {"__pycache__", ".hypothesis", ".pytest_cache", ".ruff_cache"}
    paths = (path for path in folder.rglob("*") if path.is_file() and not left & set(path.parts))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the checkout, as it is before the first step."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("before") / "checkout"
    for name in filter(None, listed.stdout.decode().split("\0")):
        kept = name.startswith("fixtures/recorded/") or not name.startswith("fixtures/")
        if kept and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def laid(checkout):
    """The copy after the first step, and what the step said."""
    folder = checkout.parent / "laid"
    shutil.copytree(checkout, folder)
    return folder, done("lay out", folder)


@pytest.fixture(scope="module")
def finished(laid):
    """The copy with the example's files in place of those laid out, and the document's messages in
    the tests.
    """
    folder = laid[0].parent / "finished"
    shutil.copytree(laid[0], folder)
    for name in FILES:
        assert (folder / name).is_file(), f"new-format does not lay out {name}"
        if name in OWN:
            shutil.copyfile(TOY / name, folder / name)
        else:
            before, empty, after = (
                (folder / name).read_text("utf-8").partition("DOCUMENTED: tuple[str, ...] = ()\n")
            )
            assert empty
            (folder / name).write_text(before + DOCUMENTED + after, "utf-8")
    return folder


def test_every_block_says_what_it_is():
    # The messages of the vendor's document stand by themselves.
    assert (len(BLOCKS), {kind for kind, _, _ in BLOCKS}) == (
        PAGE.count("\n```") / 2 - 1,
        {"run", "says", "in"},
    )


@pytest.mark.parametrize(("name", "text"), sorted(part for part in SHOWN if part[0] not in TESTS))
def test_what_the_page_shows_of_a_file_stands_in_the_example(name, text):
    assert (TOY / name).read_text("utf-8").count(text) == 1


def test_the_facts_quote_the_page_and_the_tests_have_its_messages():
    prose = " ".join(PAGE.replace("\n> ", " ").replace("`", "").split())
    facts = tomllib.loads(
        (TOY / "conformance" / "rules" / "sources" / "toy.toml").read_text("utf-8")
    )["facts"]
    quotes = [citation["quote"] for fact in facts.values() for citation in fact["evidence"]]
    assert len(quotes) >= 7
    assert [quote for quote in quotes if quote not in prose] == []
    messages = re.search(r"^```jsonl\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)[1].splitlines()
    assert re.findall(r"^    '(\{.*\})',$", DOCUMENTED, re.MULTILINE) == messages


def test_the_first_step_lays_out_the_example_s_files_and_a_line(checkout, laid):
    before, after = texts(checkout), texts(laid[0])
    assert sorted(name for name in after if name not in before) == FILES
    assert [name for name in before if before[name] != after[name]] == [REGISTRY]
    assert b'    "toy-json",\n)' in after[REGISTRY]
    assert len(after[REGISTRY].splitlines()) == len(before[REGISTRY].splitlines()) + 1
    assert f"{len(FILES)} files and a line in FORMATS, " in laid[1]


def test_the_brought_tests_are_red_with_a_sentence_each(laid):
    said = done("red", laid[0], code=1)
    (shown,) = (text for kind, _, text in BLOCKS if kind == "says")
    failures = said.partition("= FAILURES =")[2].partition("= short test summary")[0]
    sentences = [
        line for line in failures.splitlines() if line and not re.fullmatch(r"_+ \w+ _+|=+", line)
    ]
    assert sorted(set(sentences)) == sorted(shown.splitlines())
    assert "Traceback" not in said and "passed" not in said


def test_what_is_laid_out_and_what_is_finished_are_clean_and_typed(laid, finished):
    modules = [name for name in FILES if name.endswith(".py")]
    typed = " ".join(name for name in modules if not name.startswith("tests/"))
    types = laid[0].parent / "types"
    for folder in (laid[0], finished):
        done(f"{sys.executable} -m ruff check {' '.join(FILES)}", folder)
        done(f"{sys.executable} -m ruff format --check {' '.join(modules)}", folder)
        done(f"{sys.executable} -m mypy --cache-dir {types} {typed}", folder)


def test_after_the_last_step_the_format_s_own_files_are_all_that_was_written(checkout, finished):
    assert "failed" not in done("green", finished)
    for step in ("fixtures", "pages", "schema"):
        done(step, finished)
    before, after = texts(checkout), texts(finished)
    written = [
        name for name in after if before.get(name) != after[name] and not name.startswith(GENERATED)
    ]
    assert sorted(written) == sorted([*FILES, REGISTRY])
    assert {"docs/formats/toy-json.md", "fixtures/toy-json/1.0/manifest.json"} <= set(after)
    lines = sum(len(after[name].splitlines()) for name in FILES)
    sys.stdout.write(
        f"toy-json takes {len(FILES)} files with {lines} lines, and a line in {REGISTRY}\n"
    )
    assert lines < 600


@pytest.mark.spark
@pytest.mark.slow
def test_the_finished_format_conforms_and_convicts_its_liars(finished):
    checks = [
        json.loads(line)
        for line in done(f"{RUNS['selftest']} --format json", finished).splitlines()
        if line.startswith("{")
    ]
    assert [check for check in checks if not check["ok"]] == []
    (reference,) = (check["detail"] for check in checks if check["name"] == "no false alarm")
    assert re.fullmatch(r"\d{4} cases, \d\d rules, \d{5} comparisons, 0 accusations", reference)
    named = {(check["kind"], check["name"].partition("/")[2] or check["name"]) for check in checks}
    # A rule of level two's cells, and a liar in Spark of each level.
    assert {
        ("altered", "fault/cell-type"),
        ("spark", "delete-as-insert"),
        ("spark", "integers-through-double"),
    } <= named
