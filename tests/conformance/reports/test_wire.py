"""Messages as people see them: the field is marked where it stands, and marking never changes the
text.
"""

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.reports import wire
from conformance.reports.wire import MALFORMED, WHOLE, Segment
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.model import Op
from generators.wire_format import FORMATS, get

FIELDS = ("table", "keys", "rows", "kind", "schema")
PATHS = ("after['c']", "before['c']", "before", "after", *FIELDS, MALFORMED, WHOLE, "x")
COLUMNS = (
    '{"rowDatas":[{"beforeColumns":[{"name":"id","isKey":true},{"name":"c","value":"x"}],'
    '"afterColumns":[{"name":"id","isKey":true},{"name":"c","value":"y"}]}]}'
)
"""A row whose images are lists of columns."""


def place(path, row=0):
    """The arguments of `spans` for a path such as after['c']."""
    side, bracket, column = path.partition("[")
    if side not in ("before", "after"):
        return path, row
    return path, row, side, ast.literal_eval(column[:-1]) if bracket else None


def marked(text, path, row=0):
    return [
        segment.text
        for segment in wire.cut_at_marks(text, wire.find_field(text, *place(path, row)))
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
        (COLUMNS, "after['c']", 0, ['{"name":"c","value":"y"}']),
        (
            COLUMNS,
            "before",
            0,
            ['"beforeColumns":[{"name":"id","isKey":true},{"name":"c","value":"x"}]'],
        ),
        (COLUMNS, "keys", 0, ['"isKey":true', '"isKey":true']),
        ('{"data":[{"c":1,"c":2}]}', "after['c']", 0, ['"c":1', '"c":2']),
        ('{"data":[{"\\u0063":1}]}', "after['c']", 0, ['"\\u0063":1']),
        ('{"data":[{"it\'s":1}]}', 'after["it\'s"]', 0, ['"it\'s":1']),
        *(
            ('{"elsewhere":{"c":1},"c":2}', "after['c']", 0, ['"c"', '"c"']),
            ('{"data":[{"c":"1', "after['c']", 0, ['"c":"1']),
        ),
        ('{"data":[{"id":"0"}],"old":null}', "before", 0, ['{"id":"0"}', '"old":null']),
        ('{"data":[{"id":"0"},{"id":"1"}]}', "rows", 1, ['{"id":"1"}']),
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
            # TiCDC's Open Protocol names its images by one letter; a column may have the same name.
            ('{"u":{"c":{"v":2}},"p":{"c":{"v":1}}}', "after['c']", 0, ['"c":{"v":2}']),
            ('{"d":{"c":{"v":1}}}', "before['c']", 0, ['"c":{"v":1}']),
            ('{"data":[{"u":{"c":1},"c":2}]}', "after['c']", 0, ['"c":2']),
            # Alibaba Cloud's DTS has the columns' names apart from the values.
            (
                '{"fields":[{"name":"id"},{"name":"c"}],"afterImages":[{"value":"1"},{"value":"x"}]}',
                "after['c']",
                0,
                ['{"value":"x"}'],
            ),
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
    segments = wire.cut_at_marks(text, wire.find_field(text, *place(path, row)))
    assert "".join(segment.text for segment in segments) == text
    assert all(segment.text for segment in segments)


@settings(deadline=None)
@given(
    text=TEXTS,
    marks=st.lists(st.tuples(st.integers(-5, 220), st.integers(-5, 220)), max_size=5),
    limit=st.integers(0, 250),
)
def test_what_is_left_out_is_counted(text, marks, limit):
    whole = wire.cut_at_marks(text, [(max(low, 0), high) for low, high in marks])
    short = wire.clip_segments(whole, limit)
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
    assert (
        "".join(segment.text for segment in wire.format_json([Segment(text)])).split("\n") == lines
    )


def test_what_is_formatted_keeps_its_marks():
    shown = wire.format_json(wire.cut_at_marks('{"a":1,"b":"x"}', [(7, 14)]))
    assert shown == [Segment('{\n  "a": 1,\n  '), Segment('"b": "x"', True), Segment("\n}")]


def test_touching_marks_are_one():
    assert wire.cut_at_marks("abcd", [(1, 2), (2, 3), (1, 1), (9, 12)]) == [
        Segment("a"),
        Segment("bc", True),
        Segment("d"),
    ]


MARKED = {
    "alibaba-canal-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
    "cloudcanal-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
    "debezium-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
    "huawei-cdl-json": ("op", "schema", "table", "commit_time", "position", "after", "before"),
    "maxwell-json": ("op", "database", "table", "commit_time", "after", "before"),
    "ogg-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
    "tencent-dts-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
    "ticdc-canal-json": ("op", "database", "table", "commit_time", "after", "before"),
    "ticdc-debezium-json": ("op", "database", "table", "commit_time", "position"),
    "ticdc-open-protocol": ("after", "before"),
    "ticdc-simple-json": ("op", "database", "table", "commit_time", "position", "after", "before"),
}
"""The fields that an update of a format's first profile shows."""


def first_update(wire_format):
    """The value of an update, as the format's first profile writes it."""
    profile = wire_format.profiles[0]
    for scenario in boundary_scenarios(wire_format, profile):
        updates = [e for e in scenario.history.events if getattr(e, "op", None) is Op.UPDATE]
        if updates and len(updates[0].table.columns) < 4:
            written = wire_format.write(scenario.history, profile, LAYOUT)
            value = written[-1].message.value
            return value[value.index(b"{") :].decode()
    raise AssertionError(f"{wire_format.name} has no update")


@pytest.mark.parametrize("name", sorted(MARKED))
def test_the_members_of_a_format_are_marked(name):
    wire_format = get(name)
    text = first_update(wire_format)
    unmarked = [
        path
        for path in MARKED[name]
        if not wire.find_field(
            text, path, 0, path if path in ("after", "before") else "", members=wire_format.members
        )
    ]
    assert unmarked == []


def test_a_member_of_ogg():
    text = '{"table":"shop.orders","op_type":"U","op_ts":"2023-11-14 22:13:20","pos":"07"}'
    members = get("ogg-json").members
    shown = {
        path: [text[slice(*span)] for span in wire.find_field(text, path, members=members)]
        for path in ("op", "database", "commit_time", "position")
    }
    assert shown == {
        "op": ['"op_type":"U"'],
        "database": ['"table":"shop.orders"'],
        "commit_time": ['"op_ts":"2023-11-14 22:13:20"'],
        "position": ['"pos":"07"'],
    }


def test_every_format_names_its_members():
    assert [name for name in FORMATS if not get(name).members.op] == []
