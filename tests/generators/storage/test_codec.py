"""The JSON forms: lossless, ASCII, strict about what they read."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators import model
from generators.errors import UsageError
from generators.model import (
    Case,
    Cell,
    Change,
    Column,
    Deployment,
    Json,
    Kind,
    Message,
    Op,
    State,
    Table,
    Value,
    ZeroDate,
)
from generators.sources import mysql
from generators.storage import codec, jsonform

texts = st.text(max_size=8)
any_texts = st.one_of(
    texts, st.text(st.characters(categories=["Cs", "Lu"]), max_size=3), st.just("\ud83d\ude00")
)
decimals = st.decimals(allow_nan=False, allow_infinity=False)
numbers = st.one_of(st.integers(), st.floats(allow_nan=False), decimals)
documents = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, any_texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(any_texts, inner, max_size=3)
    ),
    max_leaves=6,
)
values: st.SearchStrategy[Value] = st.one_of(
    st.none(),
    numbers,
    any_texts,
    st.binary(max_size=12),
    st.dates(),
    st.builds(
        ZeroDate,
        st.integers(0, 9999),
        st.integers(0, 12),
        st.integers(0, 31),
        st.integers(0, mysql.DAY - 1),
    ),
    st.builds(Json, documents),
)
types = st.one_of(
    st.sampled_from(list(mysql.TYPES.values())),
    st.builds(
        model.SourceType,
        texts,
        st.sampled_from(model.Logical),
        members=st.tuples(any_texts),
        source=st.just("postgresql"),
    ),
)
cells = st.builds(
    Cell,
    st.sampled_from(State),
    types,
    value=values,
    text=st.none() | any_texts,
    cls=texts,
    json=st.booleans(),
    options=st.lists(values, max_size=2).map(tuple),
    reason=texts,
)
names = texts
columns = st.builds(Column, names, types, st.booleans())
keys = st.lists(names, max_size=2).map(tuple)
tables = st.builds(
    Table,
    names,
    names,
    st.lists(columns, max_size=3).map(tuple),
    keys,
    st.lists(keys, max_size=2).map(tuple),
    st.none() | names,
)
images = st.none() | st.dictionaries(names, cells, max_size=3)
maybe = st.none() | any_texts
ops = st.none() | st.sampled_from(Op)
changes = st.builds(
    Change,
    row=st.integers(0, 9),
    kind=st.sampled_from(Kind),
    op=ops,
    database=maybe,
    schema=maybe,
    table=maybe,
    keys=st.none() | keys,
    position=maybe,
    commit_time_us=st.none() | st.integers(),
    before=images,
    after=images,
    full_before=images,
    full_after=images,
    types=st.none() | st.dictionaries(names, any_texts, max_size=2),
    schema_version=maybe,
    sql=maybe,
    key_sets=st.lists(st.frozensets(names, max_size=2), max_size=2).map(tuple),
    other_keys=st.lists(keys, max_size=2).map(tuple),
    accept=st.lists(st.tuples(st.sampled_from(Kind), ops), max_size=2).map(tuple),
    anything=st.booleans(),
)
zones = st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York"])
options = [texts] * (len(dataclasses.fields(Deployment)) - 3)
deployments = st.builds(Deployment, zones, texts, st.sampled_from(codec.COMPRESSIONS), *options)


def messages(case: str) -> st.SearchStrategy[Message]:
    body = st.none() | st.binary(max_size=12) | texts.map(str.encode)
    headers = st.lists(st.tuples(any_texts, st.binary(max_size=5)), max_size=2).map(tuple)
    stamps = st.integers(-1, ((1 << 63) - 1) // 1000)
    return st.builds(
        Message,
        texts,
        st.integers(0, 9),
        body,
        body,
        headers,
        stamps,
        st.integers(0, 9),
        st.just(case),
    )


def cases() -> st.SearchStrategy[Case]:
    written = st.builds(model.Written, messages("a/b/c"), st.lists(changes, max_size=2).map(tuple))
    return st.builds(
        Case,
        st.just("a/b/c"),
        texts,
        texts,
        deployments,
        st.sampled_from([1, 2]),
        st.lists(tables, max_size=2).map(tuple),
        st.lists(written, max_size=2).map(tuple),
        st.frozensets(texts, max_size=3),
    )


def through(data: Any) -> Any:
    line = jsonform.to_line(data)
    assert line.isascii() and "\n" not in line
    return jsonform.from_line(line.encode())


def kinds(value: object) -> object:
    """What `==` does not see: 1 == 1.0 == Decimal(1), 0.0 == -0.0, trailing zeros of a Decimal."""
    match value:
        case Json():
            return ("json", kinds(value.value))
        case dict():
            return [(name, kinds(item)) for name, item in value.items()]
        case list():
            return [kinds(item) for item in value]
    return type(value), repr(value)


@given(values)
def test_values_survive_exactly(value: Value) -> None:
    again = jsonform.load_value(through(jsonform.dump_value(value)))
    assert again == value
    assert kinds(again) == kinds(value)


def test_a_deployment_of_an_older_file_says_nothing_of_schemas() -> None:
    older = {
        name: text
        for name, text in codec.dump_deployment(Deployment("Asia/Shanghai")).items()
        if name != "schemas"
    }
    assert codec.load_deployment(older) == Deployment("Asia/Shanghai")


@pytest.mark.parametrize(
    "zone", ["../../etc/passwd", "/etc/localtime", "\ud800", "Mars/Olympus", ""]
)
def test_a_deployment_has_a_time_zone_that_exists(zone):
    with pytest.raises(jsonform.Malformed, match=r"field d\.time_zone: .* is no time zone"):
        codec.load_deployment(codec.dump_deployment(Deployment(zone)), "d")


@given(changes, tables)
def test_changes_survive_with_and_without_their_table(change: Change, table: Table) -> None:
    assert codec.load_change(through(codec.dump_change(change))) == change
    assert codec.load_change(through(codec.dump_change(change, table)), table=table) == change


@given(cases())
def test_cases_survive(case: Case) -> None:
    assert codec.load_case(through(codec.dump_case(case))) == case


def test_a_cell_of_its_columns_type_leaves_the_type_out() -> None:
    kind = mysql.TYPES["bigint"]
    table = Table("d", "t", (Column("c", kind),))
    change = Change(0, Kind.ROW, Op.INSERT, after={"c": Cell(State.VALUE, kind, 5, "5")})
    assert codec.dump_change(change, table)["after"] == {
        "c": {"state": "VALUE", "value": {"type": "int", "value": "5"}, "text": "5"}
    }
    assert "type" in codec.dump_change(change)["after"]["c"]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (2**64 - 1, {"type": "int", "value": "18446744073709551615"}),
        (0.1, {"type": "float", "value": "0.1", "bits": "3fb999999999999a"}),
        (-0.0, {"type": "float", "value": "-0.0", "bits": "8000000000000000"}),
        (Decimal("1.50"), {"type": "decimal", "value": "1.50"}),
        ("汉", {"type": "text", "value": "汉"}),
        ("\ud800", {"type": "text", "value": {"wtf8": "7aCA"}}),
        (b"ab", {"type": "bytes", "text": "ab"}),
        (b"\xff", {"type": "bytes", "base64": "/w=="}),
        (dt.date(1, 2, 3), {"type": "date", "value": "0001-02-03"}),
        (ZeroDate(2024, 2, 0, 5), {"type": "zero-date", "value": "2024-02-00", "micros": 5}),
        (Json(None), {"type": "json", "value": None}),
        (
            Json([True, 1]),
            {
                "type": "json",
                "value": {"type": "array", "value": [True, {"type": "int", "value": "1"}]},
            },
        ),
        (
            Json({"b": "x", "a": {}}),
            {
                "type": "json",
                "value": {
                    "type": "object",
                    "value": [
                        ["b", {"type": "text", "value": "x"}],
                        ["a", {"type": "object", "value": []}],
                    ],
                },
            },
        ),
    ],
)
def test_documented_forms_of_values(value: Value, form: Any) -> None:
    assert jsonform.dump_value(value) == form


def test_an_integer_may_have_more_digits_than_str_allows() -> None:
    form = {"type": "int", "value": f"-1{'0' * 5000}"}
    assert jsonform.dump_value(-(10**5000)) == form
    assert jsonform.load_value(form) == -(10**5000)


@pytest.mark.parametrize(
    "value", [True, dt.datetime(2024, 1, 1), Decimal("NaN"), Json((1,)), Json(object()), object()]
)
def test_what_is_no_canonical_value_is_refused(value: Any) -> None:
    with pytest.raises(UsageError):
        jsonform.dump_value(value)


@pytest.mark.parametrize(
    ("form", "field"),
    [
        *(
            (1, ""),
            ({"value": "1"}, "type"),
            ({"type": "pickle", "value": "1"}, "type"),
            ({"type": "int", "value": 1}, "value"),
        ),
        *(({"type": "int", "value": "01"}, "value"), ({"type": "int", "value": "1_0"}, "value")),
        *(
            ({"type": "int", "value": "9" * 6001}, "value"),
            ({"type": "int", "value": "1", "more": 2}, "more"),
        ),
        ({"type": "float", "value": "0.1", "bits": "00"}, "bits"),
        ({"type": "float", "value": "0.2", "bits": "3fb999999999999a"}, "value"),
        *(
            ({"type": "decimal", "value": "1,5"}, "value"),
            ({"type": "decimal", "value": "Infinity"}, "value"),
        ),
        *(({"type": "bytes", "base64": "!"}, "base64"), ({"type": "bytes"}, "")),
        *(
            ({"type": "bytes", "text": "a", "base64": "YQ=="}, ""),
            ({"type": "text", "value": {"wtf8": "/w=="}}, "value.wtf8"),
        ),
        *(
            ({"type": "date", "value": "2024-02-30"}, "value"),
            ({"type": "zero-date", "value": "2024-2-0", "micros": 0}, "value"),
        ),
        ({"type": "json", "value": {"type": "object", "value": [["a"]]}}, "value.value[0]"),
        (
            {
                "type": "json",
                "value": {"type": "array", "value": [{"type": "date", "value": "2024-01-01"}]},
            },
            "value.value[0].type",
        ),
    ],
)
def test_hostile_values_are_refused_by_field(form: Any, field: str) -> None:
    with pytest.raises(jsonform.Malformed) as caught:
        jsonform.load_value(form)
    assert caught.value.field == field


@pytest.mark.parametrize("schema", [[], [["a-value"]], [["a-value"], '"int"', "more"]])
def test_a_schema_that_is_not_subjects_and_a_text_is_refused(schema: list[Any]) -> None:
    with pytest.raises(jsonform.Malformed) as caught:
        codec.register_schemas({"990001": schema}, "schemas")
    assert str(caught.value).startswith("field schemas.990001: must be ")
    assert "subjects" in str(caught.value)


def test_hostile_changes_are_refused_by_field() -> None:
    good = codec.dump_change(
        Change(0, Kind.ROW, Op.INSERT, after={"c": Cell(State.VALUE, mysql.TYPES["int"], 5, "5")})
    )
    for path, value in (
        *(
            ("kind", "ROWS"),
            ("op", "UPSERT"),
            ("row", True),
            ("after.c.state", None),
            ("after.c.type.logical", "integer"),
        ),
        *(
            ("after.c.value.value", "x"),
            ("after", []),
            ("keys", "id"),
            ("commit_time_us", 5),
            ("accept", [{}]),
            ("surplus", 1),
        ),
    ):
        bad = json.loads(jsonform.to_line(good))
        inner, *names = bad, *path.split(".")
        for name in names[:-1]:
            inner = inner[name]
        inner[names[-1]] = value
        with pytest.raises(jsonform.Malformed) as caught:
            codec.load_change(bad)
        assert caught.value.field.startswith(path)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"{} {}",
        b"\xff",
        b'{"a":1,"a":2}',
        b"[NaN]",
        b"[" * 100_000,
        b"9" * 5000,
        b"\xef\xbb\xbf{}",
    ],
)
def test_hostile_lines_are_refused(line: bytes) -> None:
    with pytest.raises(jsonform.Malformed):
        jsonform.from_line(line)
