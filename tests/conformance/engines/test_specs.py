"""A decoder's file is parsed, and its function looked for, before anything starts."""

import pytest

from conformance.engines.specs import check
from generators.errors import UnknownName, UsageError

MODULE = "import os\nfrom a.b import c as read\nVALUE = 1\n\nif VALUE:\n    def decode(records):\n        return records\n"


@pytest.mark.parametrize("name", ["decode", "read", "VALUE", "os"])
def test_a_function_that_the_file_has_is_taken(tmp_path, name):
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    check(f"{tmp_path / 'mine.py'}:{name}")


@pytest.mark.parametrize("line", ["from other import *", "globals()['decod'] = 1", "def __getattr__(name): ..."])
def test_what_a_module_makes_while_it_runs_may_have_any_name(tmp_path, line):
    (tmp_path / "mine.py").write_text(line, "utf-8")
    check(f"{tmp_path / 'mine.py'}:decod")


@pytest.mark.parametrize("spec", ["cmd:node mine.py", "mine.module:decod", "mine.module"])
def test_commands_and_modules_are_not_parsed(spec):
    check(spec)


def test_a_wrong_function_a_wrong_file_and_a_wrong_syntax_are_told_with_their_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODULE, "utf-8")
    with pytest.raises(UnknownName, match=r"unknown function 'decod' of mine\.py\. Did you mean 'decode'"):
        check("mine.py:decod")
    with pytest.raises(UsageError, match=r"decoder other\.py:decode: there is no file other\.py"):
        check("other.py:decode")
    (tmp_path / "mine.py").write_text("def decode(records):\n    return records.where(\n", "utf-8")
    with pytest.raises(UsageError, match=r"decoder mine\.py:decode: mine\.py, line 2: '\(' was never closed"):
        check("mine.py:decode")
    check("mine.py:decode", whole=False)
