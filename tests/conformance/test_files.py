"""Files that are written whole or not at all, also by two runs at once."""

import orjson
import pytest

from conformance import files
from generators.errors import HarnessError


def test_two_runs_write_one_file_and_the_later_stands(tmp_path):
    path = tmp_path / "report.jsonl"

    def first():
        yield b"the first begins, "
        files.put(path, lambda: [b"the second, whole"])
        assert path.read_bytes() == b"the second, whole"
        yield b"and ends"

    files.put(path, first)
    assert path.read_bytes() == b"the first begins, and ends"
    assert [file.name for file in tmp_path.iterdir()] == ["report.jsonl"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_is_not_written_whole_leaves_the_former_file(tmp_path, error):
    path = files.put(tmp_path / "a" / "report.jsonl", lambda: [b"former"])

    def broken():
        yield b"half"
        raise error

    with pytest.raises((HarnessError, KeyboardInterrupt)):
        files.put(path, broken)
    assert path.read_bytes() == b"former"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("value", "written", "read"),
    [
        ({"error": "é 汉"}, '{"error": "é 汉"}', {"error": "é 汉"}),
        ({"error": "a\ud800b"}, '{"error": "a\\\\ud800b"}', {"error": "a\\ud800b"}),
        ({"caf\udce9": ["\udce9"]}, '{"caf\\\\udce9": ["\\\\udce9"]}', {"caf\\udce9": ["\\udce9"]}),
        (["\U0001f600"], '["\U0001f600"]', ["\U0001f600"]),
    ],
)
def test_json_text_can_be_printed_and_read_by_a_strict_parser(value, written, read):
    """A lone surrogate comes from an exception's text, or from a name that is not UTF-8."""
    assert files.json_text(value) == written
    assert orjson.loads(written.encode("utf-8")) == read
