"""Every decoder of examples/ is judged by all named cases of what it says that it reads.

A right one breaks no MUST; one that is wrong on purpose, or right in part, breaks what its page
says. The notebook's and the toy format's have tests of their own, which run them as published.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from conformance.cases.catalogue import Budget
from conformance.engines.command import CommandEngine
from conformance.judging.findings import Verdict
from conformance.rules.rules import Obligation
from conformance.running.prepared import Settings
from conformance.running.run import run_formats
from generators.wire_format import get

EXAMPLES = Path(__file__).parents[1] / "examples"
NAME = "ticdc-canal-json"
ALL_NAMED = Budget("all named", 0, 40)
RIGHT = {"tutorial/framed.py"}
WRONG_ON_PURPOSE = {
    "tutorial/almost.py": {"op/delete-row-in-data"},
    "tutorial/corrupt.py": {"fault/trailing-content"},
    "tutorial/images.py": {"fault/empty", "fault/unreadable"},
    "tutorial/naive.py": {"op/delete-row-in-data"},
}
RIGHT_IN_PART = {
    "rows/rows.py": {"value/binary-latin-1", "fault/cell-type", "fault/trailing-content"}
}
"""The rules that docs/writing-a-decoder.md says it breaks."""
TESTED_ELSEWHERE = {
    "notebook/decoder.ipynb": "test_notebook.py",
    "toy-json/spark_checks/decoders/toy_json.py": "test_adding_a_format.py",
}
NODE = "node/decoder.js"


def judged(engine, decoder, **options):
    """The result of a decoder on all named cases, and the MUST rules that it breaks."""
    settings = Settings((NAME,), ALL_NAMED, 7, decoder=decoder, reduce=False, **options)
    result = run_formats(settings, engine)
    broken = {
        rule.rule.id.removeprefix(f"{NAME}/")
        for rule in result.formats[0].rules
        if rule.broken and rule.rule.obligation is Obligation.MUST
    }
    return result, broken


def test_no_example_is_forgotten():
    files = [path for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".js", ".ipynb")]
    decoders = {
        path.relative_to(EXAMPLES).as_posix()
        for path in files
        if re.search(r"def decode(_rows)?\(", path.read_text("utf-8"))
        or path.name == "decoder.js"
        or path.parent.name == "decoders"
    }
    tests = RIGHT | {*WRONG_ON_PURPOSE, *RIGHT_IN_PART, *TESTED_ELSEWHERE, NODE}
    assert decoders == tests
    for test in TESTED_ELSEWHERE.values():
        assert Path(__file__).with_name(test).is_file()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="no node program on PATH")
def test_the_decoder_in_javascript_conforms_in_every_profile():
    with CommandEngine(fmt=NAME) as engine:
        result, broken = judged(engine, f"cmd:node {shlex.quote(str(EXAMPLES / NODE))}")
    (fmt,) = result.formats
    assert (broken, result.exit_code, fmt.levels) == (set(), 0, (1, 2))
    assert {case.case.profile for case in fmt.cases} == {
        profile.name for profile in get(NAME).profiles
    }
    assert fmt.verdicts[Verdict.PASS] > 10_000


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({*RIGHT, *WRONG_ON_PURPOSE}))
def test_a_decoder_of_level_one_breaks_what_it_should(engine, file):
    result, broken = judged(
        engine, f"{EXAMPLES / file}:decode", writer_profile="v7.1.6", level="changes"
    )
    assert broken >= WRONG_ON_PURPOSE.get(file, set())
    assert (broken == set(), result.exit_code) == ((True, 0) if file in RIGHT else (False, 1))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("file", RIGHT_IN_PART)
def test_a_decoder_of_level_two_breaks_the_rules_that_its_page_names(engine, file):
    result, broken = judged(
        engine, f"{EXAMPLES / file}:decode_rows", writer_profile="v7.1.6", level="rows"
    )
    assert (broken, result.exit_code) == (RIGHT_IN_PART[file], 1)
