"""The lines of the decoder protocol: written without loss, and checked by hand just as the schema
checks them.
"""

import base64
import json
import re
from decimal import Decimal

import jsonschema
import orjson
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.engines import command
from conformance.engines._command_cells import CellProblem, Cells
from conformance.engines._command_lines import Answers, LineRecord, parse_object, to_map_array
from conformance.engines.command import ProtocolBreak
from conformance.judging.compare import Typed
from conformance.judging.output import check_columns, read
from generators.model import Column, Table
from generators.sources import databases, mysql


def schema_of(part):
    return jsonschema.Draft202012Validator(
        {**command.protocol_schema(), "oneOf": [{"$ref": f"#/$defs/{part}"}]}
    )


@pytest.mark.parametrize("source", ["mysql", "postgresql"])
def test_every_type_of_the_sources_has_a_form(source):
    types = {kind.spark for kind in databases.source(source).types.values()}
    assert len(types) > 10
    for spark in types:
        Cells({"c": spark}).to_struct_array([{"c": None}, None])


@pytest.mark.parametrize(
    ("spark", "value", "problem"),
    [
        ("int", 1.0, "must be an integer"),
        ("int", True, "must be an integer"),
        ("int", "0x1", "must be an integer"),
        ("int", 1 << 31, "does not fit int"),
        ("decimal(4,2)", "100", r"100 does not fit decimal\(4,2\)"),
        ("decimal(4,2)", "0.001", "does not fit"),
        ("decimal(4,2)", 0.5, "must be a decimal's text"),
        ("decimal(4,2)", "1e1", "must be a decimal's text"),
        ("boolean", 1, "must be true or false"),
        ("float", 1e39, "does not fit float"),
        ("float", "1e400", "does not fit double"),
        ("double", "-1e400", "does not fit double"),
        ("double", 10**400, "does not fit double"),
        ("double", "inf", "must be a number, its text, or one of NaN"),
        ("string", 5, "must be a string, not 5"),
        ("binary", "AP8=", "must be {"),
        ("binary", {"base64": "A"}, "is no base64"),
        ("date", "20240229", "must be a date"),
        ("date", "2023-02-29", "day is out of range|day 29 must be in range"),
        ("timestamp", "2024-02-29T00:00:00", "must be a time such as .*Z"),
        ("timestamp_ntz", "2024-02-29T00:00:00Z", "must be a time"),
        ("timestamp_ntz", "2024-02-29 00:00:00", "must be a time"),
    ],
)
def test_a_cell_of_another_form_is_named_with_its_problem(spark, value, problem):
    values, wrong = Cells({"c": spark, "d": "int"}).read_image({"c": value, "d": 5})
    assert values == {"d": 5}
    assert re.search(problem, wrong.pop("c"))
    assert not wrong


def answered(table, labels, after):
    """The one row of an answer at level two, as the judge reads it."""
    answers = Answers(2, table, frozenset(), labels)
    answers.expect_batch(1, 1, [LineRecord("t", 0, 7, 0, 0, None, None, ())])
    rows = [{"row": 0, "kind": "ROW", "op": "INSERT", "after": after}]
    answers.take_line(json.dumps({"type": "rows", "seq": 1, "rows": rows}).encode(), True)
    ((row,),) = read(answers.finish(), 2).values()
    return row.after


def test_a_cell_of_another_form_is_a_wrong_value_of_its_row():
    table = Table("d", "t", (Column("a.b", mysql.TYPES["date"]), Column("n", mysql.TYPES["int"])))
    problem = "must be a date such as 2024-02-29, not '55972-01-01'"
    assert answered(table, False, {"a.b": "55972-01-01", "n": 1}) == {
        "a.b": Typed("wrong form", problem),
        "n": Typed("int", 1),
    }


@pytest.mark.parametrize(
    ("spark", "text"),
    [("decimal(38,0)", "9" * 38), ("decimal(38,0)", "-" + "9" * 38), ("decimal(38,2)", "9" * 36)],
)
def test_a_decimal_may_have_all_the_digits_of_its_type(spark, text):
    cells = Cells({"c": spark})
    values, wrong = cells.read_image({"c": text})
    (cell,) = cells.to_struct_array([values]).field(0).to_pylist()
    assert (cell, wrong) == (Decimal(text), {})


def test_enum_and_set_are_labels_for_a_decoder_that_says_so():
    table = Table("d", "t", (Column("e", mysql.enum_of("x", "1")),))
    assert answered(table, True, {"e": "x"}) == {"e": Typed("string", "x")}
    assert answered(table, False, {"e": 2}) == {"e": Typed("int", 2)}


def test_a_column_that_the_table_has_not_is_refused():
    with pytest.raises(CellProblem, match="the table has no such column; it has c"):
        Cells({"c": "int"}).read_image({"d": 1})


TEXT = st.text(st.characters(codec="utf-8"))


@given(
    st.binary() | st.none() | TEXT.map(str.encode),
    st.lists(st.tuples(TEXT, st.binary() | st.none())),
    st.booleans(),
)
@example("\u2028\x7f\x00".encode(), [("\x85", None)], False)
def test_a_record_crosses_without_loss_as_one_line_of_ascii(value, headers, always):
    line = LineRecord("t", 1, 2, -3, 0, value, value, tuple(headers)).line(7, always)
    assert line.isascii() and line.endswith(b"\n") and len(line.splitlines()) == 1
    record = json.loads(line)
    schema_of("record").validate(record)

    def held(form):
        return (
            None
            if form is None
            else form["text"].encode()
            if "text" in form
            else base64.b64decode(form["base64"])
        )

    assert held(record["key"]) == held(record["value"]) == value
    assert [(h["key"], held(h["value"])) for h in record["headers"]] == headers
    assert not (always and value is not None and "text" in record["value"])


IMAGES = st.lists(st.none() | st.dictionaries(TEXT, st.none() | TEXT))


@given(IMAGES)
def test_images_become_the_map_that_arrow_makes_of_pairs(images):
    pairs = [None if image is None else list(image.items()) for image in images]
    assert to_map_array(images) == pa.array(pairs, pa.map_(pa.string(), pa.string()))


JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1.5,
        5,
        1 << 40,
        1 << 64,
        "",
        "x",
        "ROW",
        "INSERT",
        "7",
        "-12",
        [],
        ["a"],
        [1],
        {},
    ]
) | (st.sampled_from([{"a": "b"}, {"a": None}, {"a": 1}]))
DECLARED = ("position", "commit_time_us", "types", "schema_version")
OPTIONAL = (
    "op",
    "before",
    "after",
    "database",
    "schema",
    "table",
    "keys",
    "sql",
    "error",
    *DECLARED,
    "other",
)
REQUIRED = {"row": st.just(0) | JUNK, "kind": st.sampled_from(["ROW", "DDL"]) | JUNK}
CHANGES = st.fixed_dictionaries(REQUIRED, optional=dict.fromkeys(OPTIONAL, JUNK))


@given(CHANGES | JUNK)
def test_our_checks_and_the_schema_agree_on_every_change(change):
    line = {"type": "changes", "seq": 1, "changes": [change]}
    answers = Answers(1, None, frozenset(DECLARED))
    answers.expect_batch(1, 1, [LineRecord("t", 0, 0, 0, 0, None, None, ())])
    try:
        answers.take_line(json.dumps(line).encode(), True)
    except ProtocolBreak:
        accepted = False
    else:
        accepted = True
        check_columns(answers.finish().schema, 1, "x")
    micros = change.get("commit_time_us") if isinstance(change, dict) else None
    fits = not isinstance(micros, int) or isinstance(micros, bool) or -(1 << 63) <= micros < 1 << 63
    assert accepted == (schema_of("change").is_valid(change) and fits)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(1 << 60), 1 << 60) | TEXT,
        lambda some: st.lists(some) | st.dictionaries(TEXT, some),
    )
)
def test_what_is_read_strictly_or_leniently_is_the_same(data):
    held = {"x": data}
    assert parse_object(orjson.dumps(held)) == held
    with_surrogate = json.dumps({**held, "\n": "\ud800\U0001f600"}).encode()
    assert parse_object(with_surrogate) == {**held, "\n": "\ufffd\U0001f600"}
