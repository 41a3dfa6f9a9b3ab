"""The public names: docs/api.md documents each, its examples run, and nothing else is exported."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("name", ["generators", "conformance", "spark_checks"])
def test_every_public_name_is_there_and_documented(name):
    package = importlib.import_module(name)
    assert package.__all__ == sorted(package.__all__)
    for public in package.__all__:
        assert getattr(package, public).__doc__
        if public[0].islower() or name == "conformance":
            assert re.search(rf"\b{public}\b", PAGE), public


@pytest.mark.parametrize("name", ["generators", "conformance"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        importlib.import_module(name).nothing  # noqa: B018


def test_a_public_name_is_imported_when_it_is_used():
    code = "import sys, conformance, generators; assert not {'hypothesis', 'pyarrow', 'click'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def python(code, tmp_path):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("code", BLOCKS[1:], ids=[f"block {n}" for n in range(2, len(BLOCKS) + 1)])
def test_an_example_runs(code, tmp_path):
    done = python(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_example_of_run_judges(tmp_path):
    """With a decoder in Python in place of the one in Node, which answers nothing: every readable
    case is failed.
    """
    decoder = tmp_path / "decoder.py"
    decoder.write_text(
        (ROOT / "tests/conformance/engines/command_liars/liar.py").read_text("utf-8"), "utf-8"
    )
    code = BLOCKS[0].replace("cmd:node decoder.js", f"cmd:{sys.executable} {decoder}")
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    first, *failures = done.stdout.splitlines()
    assert first == "1"
    assert failures
    assert all(line.startswith("huawei-cdl-json/") for line in failures)


def test_the_page_lists_what_differs_between_the_function_and_the_command():
    """docs/api.md names every parameter without an option of its name, and every option without a
    parameter of its name.
    """
    import inspect

    from conformance import run
    from conformance.commands.cli import run as command

    rows = re.findall(r"^\| (.*?) \| (.*?) \|", PAGE, re.MULTILINE)
    words = {part for row in rows for cell in row for part in re.findall(r"`(.*?)`", cell)}
    parameters = {*inspect.signature(run).parameters} - {"formats_and_decoder"}
    options = {param.opts[0] for param in command.params if param.param_type_name == "option"}
    named_alike = {f"--{name.replace('_', '-')}" for name in parameters}
    assert options - named_alike - words - {"-x"} == set()
    without_option = {name for name in parameters if f"--{name.replace('_', '-')}" not in options}
    assert without_option - words == set()
