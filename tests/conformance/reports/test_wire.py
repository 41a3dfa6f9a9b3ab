"""Messages as people see them: the field is marked where it stands, and marking never changes the
text.
"""

import ast
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.reports import wire
from conformance.reports.wire import MALFORMED, WHOLE, Segment, dump

FIELDS = ("table", "keys", "rows", "kind", "schema")
PATHS = ("after['c']", "before['c']", "before", "after", "row 0", *FIELDS, MALFORMED, WHOLE, "x")


def place(path, row=0):
    """The arguments of `spans` for a path such as after['c']."""
    side, bracket, column = path.partition("[")
    if side not in ("before", "after"):
        return path, row
    return path, row, side, ast.literal_eval(column[:-1]) if bracket else None


def marked(text, path, row=0):
    return [
        segment.text
        for segment in wire.segments(text, wire.spans(text, *place(path, row)))
        if segment.marked
    ]


@pytest.mark.parametrize(
    ("text", "path", "row", "expected"),
    [
        ('{"mysqlType":{"c":"int"},"data":[{"c":"1"},{"c":"2"}]}', "after['c']", 1, ['"c":"2"']),
        (
            '{"mysqlType":{"c":"int"},"data":[{"c":"1"},{"c":"2"}],"old":[{"c":"0"},null]}',
            "before['c']",
            0,
            ['"c":"0"'],
        ),
        ('{"data":[{"c":"1"}],"old":null}', "before['c']", 0, ['"c":"1"']),
        ('{"data":{"c":{"a":[1,2]},"d":1}}', "after['c']", 0, ['"c":{"a":[1,2]}']),
        (
            '{"schema":{"fields":[{"field":"c"}]},"payload":{"before":{"c":1},"after":{"c":2}}}',
            "after['c']",
            0,
            ['"c":2'],
        ),
        (
            '{"columns":[{"name":"id"},{"name":"c"}],"oldColumns":["1","x"],"newColumns":["1",null]}',
            "after['c']",
            0,
            ["null"],
        ),
        ('{"data":[{"c":1,"c":2}]}', "after['c']", 0, ['"c":1', '"c":2']),
        ('{"data":[{"\\u0063":1}]}', "after['c']", 0, ['"\\u0063":1']),
        ('{"data":[{"it\'s":1}]}', 'after["it\'s"]', 0, ['"it\'s":1']),
        *(
            ('{"elsewhere":{"c":1},"c":2}', "after['c']", 0, ['"c"', '"c"']),
            ('{"data":[{"c":"1', "after['c']", 0, ['"c":"1']),
        ),
        ('{"data":[{"id":"0"}],"old":null}', "before", 0, ['{"id":"0"}', '"old":null']),
        ('{"data":[{"id":"0"},{"id":"1"}]}', "row 1", 1, ['{"id":"1"}']),
        ('{"database":"d","table":"t","data":[{"table":"no"}]}', "table", 0, ['"table":"t"']),
        (
            '{"schema":{"type":"struct"},"payload":{"source":{"schema":"public"}}}',
            "schema",
            0,
            ['"schema":"public"'],
        ),
        ('{"type":"INSERT","isDdl":false}', "kind", 0, ['"type":"INSERT"', '"isDdl":false']),
        *(
            ('{"a":1} {"b":2} ', MALFORMED, 0, ['{"b":2}']),
            ('{"a":1}', MALFORMED, 0, []),
            ('{"data":[{"c":1}]}', WHOLE, 0, []),
        ),
        ("", "after['c']", 0, []),
    ],
)
def test_the_field_is_marked_where_it_stands(text, path, row, expected):
    assert marked(text, path, row) == expected


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
NAMES = st.sampled_from(["c", "data", "old", "é\n", ""])
JSON = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=4) | st.dictionaries(NAMES, x, max_size=4), max_leaves=12
)
WRITTEN = JSON.map(lambda value: json.dumps(value, ensure_ascii=False))
CUT = JSON.flatmap(lambda value: st.integers(0, 80).map(lambda cut: json.dumps(value)[:cut]))
TEXTS = st.text(max_size=200) | st.text('{}[],:"\\cdata01 ', max_size=120) | WRITTEN | CUT


@settings(deadline=None)
@given(text=TEXTS, path=st.sampled_from(PATHS), row=st.integers(0, 2))
def test_marks_never_change_the_text(text, path, row):
    segments = wire.segments(text, wire.spans(text, *place(path, row)))
    assert "".join(segment.text for segment in segments) == text
    assert all(segment.text for segment in segments)


@settings(deadline=None)
@given(
    text=TEXTS,
    marks=st.lists(st.tuples(st.integers(-5, 220), st.integers(-5, 220)), max_size=5),
    limit=st.integers(0, 250),
)
def test_what_is_left_out_is_counted(text, marks, limit):
    whole = wire.segments(text, [(max(low, 0), high) for low, high in marks])
    short = wire.clipped(whole, limit)
    assert sum(len(segment.text) + segment.omitted for segment in short) == len(text)
    place = 0
    for segment in short:
        assert text[place : place + len(segment.text)] == segment.text
        assert bool(segment.text) != bool(segment.omitted)
        place += len(segment.text) + segment.omitted


@settings(deadline=None)
@given(value=JSON)
def test_the_scanner_sees_what_a_parser_sees(value):
    text = json.dumps(value)
    seen = {node.path: text[slice(*node.span)] for node in wire.nodes(text)}

    def walk(part, path):
        assert json.loads(seen[path]) == part
        for key, inner in (
            part.items()
            if isinstance(part, dict)
            else enumerate(part)
            if isinstance(part, list)
            else ()
        ):
            walk(inner, (*path, key))

    walk(value, ())


def test_the_mark_stays_in_a_long_message():
    value = b'{"schema":"' + b"x" * 5000 + b'","payload":{"after":{"c":"here"}}}' + b" " * 5000
    shown = wire.wire(value, "after['c']", side="after", column="c", limit=600)
    assert [segment.text for segment in shown.segments if segment.marked] == ['"c":"here"']
    assert sum(len(segment.text) for segment in shown.segments) < 1000
    assert shown.note == "shortened; 10,046 bytes in all"


def test_a_message_of_25_megabytes_is_quick():
    value, began = b'{"data":[{"c":"' + b'\\"{[,:' * 4_000_000 + b'"}]}', time.process_time()
    shown = wire.wire(value, "after['c']", side="after", column="c", limit=600)
    assert time.process_time() - began < 5
    assert sum(len(segment.text) for segment in shown.segments) < 1500


def test_what_is_binary_is_dumped_with_the_expected_text_marked():
    value = b"\x02\x0cc1\x00\xff" + "héllo".encode() + b"\x00" * 20
    shown = wire.wire(value, "after['c1']", expected="héllo", side="after", column="c1")
    assert shown.form == "hex"
    assert "".join(segment.text for segment in shown.segments).splitlines() == [
        "000000  02 0c 63 31 00 ff 68 c3 a9 6c 6c 6f 00 00 00 00  ..c1..h..llo....",
        "000010  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................",
    ]
    assert [segment.text for segment in shown.segments if segment.marked] == [
        "63 31",
        "68 c3 a9 6c 6c 6f",
        "c1",
        "h..llo",
    ]
    assert shown.note == "32 bytes"


def test_a_long_dump_says_what_it_leaves_out():
    shown = wire.wire(bytes(range(256)) * 10, "after['c']", side="after", column="c", limit=400)
    assert shown.note == "the first 112 of 2,560 bytes"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        *(
            (None, "null", "no value: NULL"),
            (b"", "null", "an empty value: 0 bytes"),
            (b'{"a":"\xff"}', "text", '{"a":"\\xff"}'),
        ),
        *((b"plain", "text", "plain"), ("\ufeff{}".encode(), "text", "\ufeff{}")),
    ],
)
def test_the_form_fits_the_value(value, form, text):
    shown = wire.wire(value, "after['c']", side="after", column="c")
    assert (shown.form, "".join(segment.text for segment in shown.segments)) == (form, text)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"a":1,"b":[],"c":{"d":"x, {y}: \\\\\\" z"}}',
            [
                "{",
                '  "a": 1,',
                '  "b": [],',
                '  "c": {',
                '    "d": "x, {y}: \\\\\\" z"',
                "  }",
                "}",
            ],
        ),
        *(
            ("[ 1 , 2 ]", ["[", "  1,", "  2", "]"]),
            ('{"cut":[1', ["{", '  "cut": [', "    1"]),
            ("]]", ["", "]", "]"]),
        ),
    ],
)
def test_json_with_a_line_for_each_member(text, lines):
    assert "".join(segment.text for segment in wire.formatted([Segment(text)])).split("\n") == lines


def test_what_is_formatted_keeps_its_marks():
    shown = wire.formatted(wire.segments('{"a":1,"b":"x"}', [(7, 14)]))
    assert shown == [Segment('{\n  "a": 1,\n  '), Segment('"b": "x"', True), Segment("\n}")]


def test_touching_marks_are_one():
    assert wire.segments("abcd", [(1, 2), (2, 3), (1, 1), (9, 12)]) == [
        Segment("a"),
        Segment("bc", True),
        Segment("d"),
    ]


def test_a_dump_shows_offset_bytes_and_ascii():
    assert dump(bytes(range(60, 77)) + b"\xff", (), 32)[0] == (
        "000000  3c 3d 3e 3f 40 41 42 43 44 45 46 47 48 49 4a 4b  <=>?@ABCDEFGHIJK\n"
        "000010  4c ff                                            L.\n"
    )
