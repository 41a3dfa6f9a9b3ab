"""A message between event and bytes: what it says, and the records that it is printed as."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest

import generators
from generators.families.connect import string
from generators.families.java_text import Escapes, json_string
from generators.families.ticdc import text
from generators.families.wire_messages import (
    ABSENT,
    Quote,
    Raw,
    WireMessage,
    json_text,
    print_json,
    print_message,
)
from generators.model import Change, Kind, Layout, Message, Op, Written

GO: Quote = text.escape
FASTJSON: Quote = partial(json_string, library=Escapes.FASTJSON1)


@pytest.mark.parametrize(
    ("value", "json"),
    [
        ({"b": 1, "a": None, "é": "x"}, '{"b":1,"a":null,"é":"x"}'),
        ({"left out": ABSENT, "kept": False}, '{"kept":false}'),
        ({"n": Raw("1.50"), "rows": ({"id": Raw("007")}, [])}, '{"n":1.50,"rows":[{"id":007},[]]}'),
        ({"op": Op.INSERT, "inner": {"gone": ABSENT}}, '{"op":"INSERT","inner":{}}'),
        (2.5, "2.5"),
    ],
)
def test_members_stand_in_their_order(value: object, json: str) -> None:
    assert json_text(value, string) == json


@pytest.mark.parametrize(
    ("quote", "json"),
    [
        (string, '{"a\\"":"\\u001F\x7f\\uD83D\\uDE00<"}'),
        (FASTJSON, '{"a\\"":"\\u001F\\u007F😀<"}'),
        (GO, '{"a\\"":"\\u001f\x7f😀\\u003c"}'),
    ],
)
def test_each_product_escapes_in_its_way(quote: Quote, json: str) -> None:
    assert json_text({'a"': "\x1f\x7f😀<"}, quote) == json


def test_a_record_for_each_partition() -> None:
    change = Change(0, Kind.DDL, sql="x")
    message = WireMessage({"sql": "x"}, (change,), {"t": 1}, (0, 2), "ddl")
    records = print_message(
        message, partial(print_json, quote=string), Layout("cdc"), event=7, timestamp_ms=5
    )
    assert list(records) == [
        Written(
            Message("ddl", place, b'{"t":1}', b'{"sql":"x"}', timestamp_ms=5, event=7), (change,)
        )
        for place in (0, 2)
    ]


def test_bytes_and_nulls_go_out_as_they_stand() -> None:
    message = WireMessage(None, (), b"")
    (record,) = print_message(
        message, partial(print_json, quote=string), Layout("cdc"), event=0, timestamp_ms=0
    )
    assert record.message == Message("cdc", 0, b"", None)


def makers_of_messages(source: str) -> list[int]:
    """The lines of a module that call `Message`."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Message"
    ]


def test_a_call_of_message_is_seen() -> None:
    assert makers_of_messages('x = WireMessage(1)\nreturn Message("cdc", 0)') == [2]


def test_every_writer_lets_one_place_make_its_records() -> None:
    home = Path(generators.__file__).parent
    modules = (path for room in ("families", "formats") for path in (home / room).rglob("*.py"))
    makers = [
        str(path.relative_to(home))
        for path in sorted(modules)
        if makers_of_messages(path.read_text("utf-8"))
    ]
    assert makers == ["families/wire_messages.py"]
