"""Each class of values stands in a named case of every format whose wire can carry it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from generators.drawing import value_strategies
from generators.drawing.cases import as_case
from generators.model import Logical, State, ZeroDate
from generators.sources import boundaries, databases, mysql, postgresql, value_classes
from generators.wire_format import FORMATS, Format, formats

CLASSES = {
    (logical, name)
    for logical in value_classes.logical_types()
    for name in value_classes.class_names(logical)
}
PLACES = {
    (level, logical, name): (f"classes/{logical}", f"rows/every-type/classes-{logical}")[level - 1]
    for level in (1, 2)
    for logical, name in CLASSES
}
OF_DOCUMENTS: dict[Logical, str] = {
    Logical.DATE: "MongoDB has no day without a time",
    Logical.DATETIME: "MongoDB has no clock without a zone",
}
NO_VALUES_OF_DOCUMENTS: dict[tuple[Logical, str], str] = {
    (Logical.TEXT, "full-length"): "a string has no length of its own",
    (Logical.JSON, "text"): "a field with a document has an object or an array",
}
NOT_CARRIED: dict[str, dict[Logical, str]] = {
    "ogg-json": {Logical.JSON: "no page says how a JSON column is written (ogg#values)"},
    "debezium-mongodb-json": OF_DOCUMENTS,
    "debezium-mongodb-avro": OF_DOCUMENTS,
}
"""What no message of a format carries, with the reason."""
NO_VALUES: dict[str, dict[tuple[Logical, str], str]] = {
    "debezium-mongodb-json": NO_VALUES_OF_DOCUMENTS,
    "debezium-mongodb-avro": NO_VALUES_OF_DOCUMENTS,
}
"""Classes of which no type of the format's source has a value, with the reason."""


def classes_of(fmt: Format[Any]) -> set[tuple[int, Logical, str]]:
    """The classes whose value a named case of the format owes, with the level of the case; the
    number in the key is the place of the class.
    """
    found = set()
    for profile in fmt.profiles:
        source = databases.source(profile.source)
        for scenario in boundaries.class_scenarios(profile.database, source, fmt.supports):
            case = as_case(fmt, profile, scenario)
            logical = Logical(re.split("[-/]", scenario.name)[-1])
            changes = [change for message in case.written for change in message.changes]
            for image in filter(None, (change.image("after", case.level) for change in changes)):
                key = image[source.key_name]
                name = value_classes.class_names(logical)[key.value]
                found |= {
                    (case.level, logical, name)
                    for column, cell in image.items()
                    if column != source.key_name and cell.state in (State.VALUE, State.ONE_OF)
                }
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_each_class_of_values_stands_in_a_named_case_of_every_format(name: str) -> None:
    (fmt,) = formats([name])
    owed = {
        place
        for place in PLACES
        if place[1] not in NOT_CARRIED.get(name, {}) and place[1:] not in NO_VALUES.get(name, {})
    }
    assert classes_of(fmt) == owed


def test_what_is_not_carried_is_none_of_the_formats_types() -> None:
    for name, reasons in NOT_CARRIED.items():
        (fmt,) = formats([name])
        kinds = {type.logical for type in mysql.TYPES.values() if fmt.supports(type)}
        assert not kinds & reasons.keys(), name


@pytest.mark.parametrize(
    ("source", "type", "name", "value"),
    [
        (databases.MYSQL, mysql.text("varchar", 4), "full-length", "汉汉汉汉"),
        (databases.MYSQL, mysql.text("longtext"), "full-length", None),
        (databases.MYSQL, mysql.text("char", 8), "padded", "  x"),
        (databases.POSTGRESQL, postgresql.text("char", 8), "padded", "  x     "),
        (databases.MYSQL, mysql.temporal("timestamp"), "second-in-new-york", 1730615400000000),
        (databases.MYSQL, mysql.temporal("datetime", 6), "first-of-1900", -2208988800000000),
        (databases.POSTGRESQL, postgresql.uuid(), "comma", None),
    ],
)
def test_a_class_has_its_value_in_a_type_that_holds_it(source, type, name, value) -> None:
    assert value_classes.class_value(source, type, name) == value


def test_every_source_has_a_type_that_holds_each_class() -> None:
    for source in (databases.MYSQL, databases.POSTGRESQL):
        types = source.types.values()
        assert {
            (type.logical, name)
            for type in types
            if type.logical in value_classes.logical_types()
            for name in value_classes.class_names(type.logical)
            if value_classes.class_value(source, type, name) is not None
        } == CLASSES


@pytest.mark.parametrize(
    ("logical", "drawn_values"),
    [
        (Logical.DATE, value_strategies.DATES),
        (Logical.DATETIME, value_strategies.WALLS),
        (Logical.TIMESTAMP, value_strategies.EPOCH_TIMES),
    ],
)
def test_each_moment_that_is_drawn_for_its_calendar_or_zone_is_a_class(logical, drawn_values):
    """Another seed draws others: what they show, a named case shows. Zero dates are boundaries."""
    types = [type for type in mysql.TYPES.values() if type.logical is logical]
    named_values = {
        value_classes.class_value(databases.MYSQL, type, name)
        for type in types
        for name in value_classes.class_names(logical)
    }
    seconds = {
        value // 1_000_000 * 1_000_000 if isinstance(value, int) else value
        for value in drawn_values
        if not isinstance(value, ZeroDate)
    }
    assert seconds <= named_values
