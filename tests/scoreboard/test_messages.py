"""A fault's message is part of one that its writer writes: of a recorded one, or of a case's."""

import itertools
import json
import re
from functools import cache

import pytest

from conformance.cases import catalogue
from generators.wire_format import get
from scoreboard import record

BY_COLUMN = ("data", "old", "before", "after", "mysqlType", "sqlType", "payload")
"""Members with a member for each column: their names are those of a table."""
SPOKEN = ("type", "op", "isDdl")
"""Members whose value says what a message is."""


def json_faults():
    """Each fault whose message is JSON, with the format that its rule is of."""
    for path in sorted(record.FAULTS.glob("*.toml")):
        for fault in record.faults(path.stem):
            if fault.message and fault.kind != "avro":
                yield pytest.param(fault, id=f"{path.stem} {fault.id}")


def kind_of(value):
    """The kind of a JSON value; numbers are of one kind."""
    return "number" if type(value) in (int, float) else type(value).__name__


def fits(part, message, member=""):
    """Whether a part of a message may be one of another message: the same members, of one kind."""
    if member in BY_COLUMN and not (isinstance(part, dict) and "op" in part):
        several = isinstance(part, list) and len(part) > 1
        return kind_of(part) == kind_of(message) and (not several or len(message) > 1)
    if isinstance(part, dict):
        return isinstance(message, dict) and all(
            name in message and fits(value, message[name], name) for name, value in part.items()
        )
    if member in SPOKEN:
        return part == message
    return kind_of(part) == kind_of(message)


def spelling(declared):
    """A type of MySQL without what stands in its brackets."""
    return re.sub(r"\(.*\)", "(...)", declared)


def described_columns(message):
    """The columns that the schema block of a message describes."""
    schema = message.get("schema") if isinstance(message, dict) else None
    for field in (schema or {}).get("fields", ()):
        if field.get("field") in ("before", "after"):
            yield from field.get("fields", ())


@cache
def recorded_messages(format_name):
    """The messages of a format's recorded cases, each shape once."""
    return one_of_each_shape(catalogue.recorded_cases(get(format_name), "*", None))


@cache
def written_messages(format_name):
    """The messages of a format's cases, each shape once."""
    fmt = get(format_name)
    return one_of_each_shape(catalogue.named_cases(fmt, fmt.profiles))


def one_of_each_shape(cases):
    """The messages of cases that nothing spoils."""
    messages = {}
    for case in cases:
        for written in case.written if "/fault/" not in case.id else ():
            value = written.message.value or b""
            if value.startswith(b"{"):  # Not compressed.
                message = json.loads(value.decode("utf-8", "replace"), strict=False)
                messages.setdefault(json.dumps(shapely(message)), message)
    return list(messages.values())


def is_in_real_messages(format_name, holds, part):
    """Whether a message of a format holds a part: a recorded one, or one of its cases."""
    return any(holds(part, message) for message in recorded_messages(format_name)) or any(
        holds(part, message) for message in written_messages(format_name)
    )


def describes(column, message):
    """Whether the schema block of a message has a column of a type and a name."""
    return column in column_kinds(message)


def spells(declared, message):
    """Whether a message names a type of MySQL so."""
    return declared in spellings(message)


def shapely(message, member=""):
    """A message with the kinds of its values in place of them."""
    if isinstance(message, dict):
        return {name: shapely(value, name) for name, value in message.items()}
    if isinstance(message, list):
        return [shapely(element) for element in message[:2]]
    return message if member in (*SPOKEN, "name") else kind_of(message)


def column_kinds(message):
    """Type and name of each column that a message's schema block describes."""
    return {(column["type"], column.get("name")) for column in described_columns(message)}


def spellings(message):
    """The types of MySQL that a message names."""
    types = message.get("mysqlType") or {}
    return {spelling(declared) for declared in types.values()}


@pytest.mark.parametrize("fault", list(json_faults()))
def test_the_writer_of_a_faults_message_writes_such_a_message(fault):
    message, format_name = json.loads(fault.message), fault.rule.partition("/")[0]
    if fault.kind or "op" in (message.get("payload") or ()):
        columns = column_kinds(message)
        assert is_in_real_messages(format_name, fits, message)
    else:  # A value of Kafka Connect's: it is a column's.
        columns = {(message["schema"]["type"], message["schema"].get("name"))}
    for column in columns:
        assert is_in_real_messages(format_name, describes, column)
    for declared in spellings(message):
        assert is_in_real_messages(format_name, spells, declared)


@pytest.mark.parametrize("fault", list(json_faults()))
def test_the_rows_of_a_faults_message_are_of_one_table(fault):
    message = json.loads(fault.message)
    if fault.kind != "canal" or not message["data"]:
        return
    if "seatunnel-canal-json" in fault.formats:
        assert set(message) == {"data", "type"}
        return
    for row in message["data"]:
        assert set(row) == set(message.get("mysqlType") or row)
        assert set(message["pkNames"] or ()) <= set(row)
    elements = message["old"] or []
    assert len(elements) <= len(message["data"])
    for element in elements:
        assert element.keys() <= message["data"][0].keys()
    for earlier, later in itertools.pairwise(elements):
        # canal#old-cumulative: a column that a row changed is named in the rows behind it, too.
        assert earlier.keys() <= later.keys()


def test_a_message_that_canal_does_not_write_is_found():
    """Canal names no key with a statement: MQMessageUtils has pkNames for rows alone."""
    keyed = '{"data":null,"database":"d","isDdl":true,"old":null,"pkNames":["id"],"type":"ALTER"}'
    plain = keyed.replace('["id"]', "null")
    found = [
        is_in_real_messages("alibaba-canal-json", fits, json.loads(text)) for text in (keyed, plain)
    ]
    assert found == [False, True]
