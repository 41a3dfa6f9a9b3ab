"""CHAR in the character set binary: bytes written as text, which may read as another form."""

import pytest

from generators.families.debezium.mysql import _bytes_of_text
from generators.families.debezium.values import Modes


@pytest.mark.parametrize(
    ("mode", "text", "bytes_of_other_form"),
    [
        ("bytes", "abcdef12", (b"i\xb7\x1dy\xfdv",)),
        ("bytes", "abc", ()),
        ("bytes", "", ()),
        ("hex", "abcdef12", (b"\xab\xcd\xef\x12",)),
        ("hex", "xy", ()),
        ("hex", "", ()),
    ],
)
def test_only_a_text_that_reads_otherwise_in_the_modes_form_excludes_bytes(
    mode, text, bytes_of_other_form
) -> None:
    """An empty text stands for no bytes in every form: a right reading of it is not excluded."""
    assert _bytes_of_text(text, Modes(binary=mode)) == bytes_of_other_form
