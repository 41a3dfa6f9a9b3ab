"""The command `new-format`: what it lays out, where it refuses to, and that no name makes lines too
long.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from command_lines import performed

from conformance.commands import new_format
from generators.errors import UsageError

ROOT = Path(__file__).parents[3]
REGISTRY = (ROOT / new_format.REGISTRY).read_text("utf-8")


@pytest.fixture
def checkout(tmp_path):
    """As much of a checkout as the command looks at."""
    for name in (new_format.REGISTRY, "conformance/rules/sources/harness.toml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def call(checkout, name):
    return performed("new-format", name, "--into", checkout)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ticdc-canal-json", "is there already"),
        ("New_JSON", "Did you mean 'new-json'?"),
        ("new", "a product and a form"),
        ("1new-json", "a product and a form"),
        ("new-", "a product and a form"),
        (f"new-{'x' * new_format.LONGEST}", "30 characters"),
    ],
)
def test_a_name_that_cannot_be_is_refused(checkout, name, message):
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        new_format.lay_out(name, "json", checkout)
    assert (checkout / new_format.REGISTRY).read_text("utf-8") == REGISTRY


def test_a_file_that_is_there_is_not_written_over(checkout, tmp_path):
    path = checkout / "spark_checks" / "liars" / "new-json.toml"
    path.parent.mkdir(parents=True)
    path.write_text("mine", "utf-8")
    error = call(checkout, "new-json").exception
    assert isinstance(error, UsageError) and "spark_checks/liars/new-json.toml" in str(error)
    assert [file for file in checkout.rglob("*new*") if file.is_file()] == [path]
    assert path.read_text("utf-8") == "mine"
    with pytest.raises(UsageError, match="no checkout"):
        new_format.lay_out("new-json", "json", path.parent)


def test_a_product_s_page_of_sources_stays(checkout):
    """A further format of a product has a page of its own, whose facts can be moved into the
    product's.
    """
    files = new_format.lay_out("harness-json", "json", checkout).files
    assert "conformance/rules/sources/harness-json.toml" in files
    assert '"harness-json#first"' in files["conformance/rules/harness-json.toml"]
    assert 'PAGE = "harness-json"' in files["tests/generators/formats/test_harness_json.py"]


@pytest.mark.parametrize("name", ["a-b", f"new-{'x' * (new_format.LONGEST - 4)}"])
def test_what_it_writes_is_clean_whatever_the_name(checkout, name):
    layout = new_format.lay_out(name, "json", checkout)
    assert not [path for path, text in layout.files.items() if "sample" in (path + text).lower()]
    for path, text in layout.files.items():
        if path.endswith(".toml"):
            tomllib.loads(text)
        else:
            compile(text, path, "exec")
    (checkout / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    new_format.write(layout, checkout)
    paths = [path for path in layout.files if path.endswith(".py")]
    for words in (["check"], ["format", "--check"]):
        argv = [sys.executable, "-m", "ruff", *words, *paths]
        done = subprocess.run(argv, cwd=checkout, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
