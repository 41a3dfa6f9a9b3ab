"""Where a text stops being JSON, held against Python's reader on texts that are spoiled at random."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reports.json_faults import JsonFault, find_json_fault

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=2), parts),
    max_leaves=6,
)


@given(DOCUMENTS.filter(lambda document: "Infinity" not in json.dumps(document)), st.data())
def test_json_and_its_beginnings_have_no_fault(document, data):
    json_text = json.dumps(document)
    end = data.draw(st.integers(0, len(json_text)))
    assert find_json_fault(json_text[:end]) is None


@given(st.text(alphabet='{}[]",:01.eE+-truefalsn\\ \t\n', max_size=12))
def test_what_python_reads_has_no_fault_and_what_stands_before_one_has_none(json_text):
    fault = find_json_fault(json_text)
    if fault is not None:
        assert find_json_fault(json_text[: fault.start]) is None
        with pytest.raises(json.JSONDecodeError):
            json.loads(json_text)


@pytest.mark.parametrize(
    ("json_text", "fault"),
    [
        ('{"a":1,}', JsonFault(7, 8)),
        ("[1 2]", JsonFault(3, 4)),
        ("[01]", JsonFault(2, 3)),
        ('["\\x"]', JsonFault(2, 3)),
        ('{"a":-Infinity}', JsonFault(5, 14)),
        ("[truth]", JsonFault(4, 5)),
        ("1 1", JsonFault(2, 3)),
    ],
)
def test_the_first_character_that_no_json_has_there(json_text, fault):
    assert find_json_fault(json_text) == fault
