"""What `new-decoder` writes is Python that runs on every format, says what its messages are and
what they give, and has the shape of changes and of typed rows.
"""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest
from command_lines import performed

from conformance.commands.new_decoder import DEPLOYMENT, FUNCTIONS, write_skeleton
from conformance.pages.column_types import FIELDS
from generators.model import Deployment, SourceType
from generators.wire_format import FORMATS, get


def test_every_field_of_a_deployment_and_of_a_type_is_explained():
    assert list(DEPLOYMENT) == [field.name for field in fields(Deployment)]
    assert list(FIELDS) == [field.name for field in fields(SourceType)]


@pytest.mark.parametrize("level", FUNCTIONS)
@pytest.mark.parametrize("name", FORMATS)
def test_a_skeleton_is_python_that_shows_messages_and_their_rows(name, level):
    fmt = get(name)
    skeleton = write_skeleton(fmt, level, Path("mine.py"))
    decoder, test = skeleton.files.values()
    functions = {node.name for node in ast.parse(decoder).body if isinstance(node, ast.FunctionDef)}
    assert functions == {FUNCTIONS[level]}
    assert all(f"# {kind.wire}"[:40] in decoder for kind in fmt.kinds)
    assert "op INSERT" in decoder and "kind ROW" in decoder
    text_type = "string" if fmt.source == "mongodb" else "varchar"
    assert (f" ({text_type})" in decoder) == (level == "rows")
    long = [line for line in (decoder + test).splitlines() if len(line) > 100]
    # A document in a text cannot be broken.
    assert [line for line in long if not re.match(r'# +"(before|after)":"\{', line)] == []
    assert f'"mine.py:{FUNCTIONS[level]}"' in test and ast.parse(test)


def test_a_skeleton_shows_a_message_of_debezium_without_its_schema():
    decoder = write_skeleton(get("debezium-json"), "changes", Path("mine.py")).files[
        Path("mine.py")
    ]
    first = decoder.partition("# value  ")[2]
    assert first.startswith('{\n#          "schema":"...",\n#          "payload":{\n')
    assert '#            "after":{"id":1,"name":"Ünal","price":"B8Y="' in first


def test_files_that_are_there_are_left_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = performed("new-decoder", "ticdc-canal-json", "--out", "mine.py")
    assert done.output == (
        "mine.py, test_mine.py: judge it with\n"
        "  cdc-conformance run ticdc-canal-json --decoder mine.py:decode --writer-profile v8.5.7"
        " --level changes --broker none\n"
    )
    Path("mine.py").unlink()
    again = performed("new-decoder", "ticdc-canal-json", "--out", "mine.py")
    assert str(again.exception).startswith("test_mine.py is there already")
    assert not Path("mine.py").exists()
    other = performed("new-decoder", "ticdc-canal-json", "--out", "mine.txt")
    assert str(other.exception) == "--out mine.txt: a decoder is a file of Python, such as mine.py"


@pytest.mark.spark
@pytest.mark.parametrize("level", FUNCTIONS)
def test_the_first_run_says_where_to_begin(in_session, tmp_path, monkeypatch, level):
    monkeypatch.chdir(tmp_path)
    assert performed("new-decoder", "ticdc-canal-json", "--level", level).exit_code == 0
    selected = {"changes": "*/shape/insert", "rows": "*/rows/composite/*"}[level]
    code, said = in_session(
        *("run", "ticdc-canal-json", "--decoder", f"decoder.py:{FUNCTIONS[level]}"),
        *("--writer-profile", "v8.5.7", "--level", level, "--broker", "none"),
        *("--select", selected, "--no-reduce"),
    )
    assert code == 1
    assert "ticdc-canal-json: one mistake in" in said
    assert "actual    CORRUPT: not decoded yet  at kind" in said
