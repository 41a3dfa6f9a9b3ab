"""Spatial columns as MySQL's connectors of Debezium write them."""

from __future__ import annotations

import pytest

from generators.families.debezium import mysql as debezium_mysql
from generators.sources import mysql
from generators.wire_format import get


@pytest.mark.parametrize("release", ["1.9.7.Final", "3.5.0.Final", "3.7.0.Alpha2"])
def test_a_shape_may_be_null_in_its_schema_though_not_in_its_column(release: str) -> None:
    """debezium#spatial: what 1.9.7 and 3.5.0 wrote of NOT NULL columns."""
    modes = get("debezium-json").build(release).modes
    optional = [
        debezium_mysql.schema(mysql.spatial(name), modes, nullable=False).optional
        for name in ("geometry", "point", "linestring")
    ]
    assert optional == [True, False, True]


@pytest.mark.parametrize(
    ("release", "version", "fields"),
    [
        ("3.6.1.Final", 1, ["wkb", "srid"]),
        ("3.7.0.Alpha2", 2, ["wkb", "srid", "extensions"]),
    ],
)
def test_a_geometry_of_3_7_has_extensions(release: str, version: int, fields: list[str]) -> None:
    """debezium#shapes."""
    modes = get("debezium-json").build(release).modes
    schema = debezium_mysql.schema(mysql.spatial("geometry"), modes)
    assert (schema.version, [name for name, _ in schema.fields]) == (version, fields)
