"""The generic boundary cases: their names are ids, so their number and spelling are pinned."""

import re
from collections import Counter

from generators import boundaries, mysql
from generators.model import Op, RowChange, Scenario

ALL = list(boundaries.scenarios("db", lambda _kind: True))


def row_changes(scenario: Scenario) -> list[RowChange]:
    return [event for event in scenario.history.events if isinstance(event, RowChange)]


def test_names_are_unique_and_their_number_is_known() -> None:
    assert len({scenario.name for scenario in ALL}) == len(ALL)
    assert Counter(scenario.level for scenario in ALL) == {1: 683, 2: 31}


def test_names_do_not_change() -> None:
    assert {
        "tinyint/min",
        "unsigned-bigint/one-over-signed-max",
        "decimal-65-30/max",
        "datetime-6/spring-gap",
        "time-6/minus-one-unit",
        "varbinary/not-utf-8",
        "json/null-literal",
        "date/partial-zero",
        "set-64/one-over-signed-max",
        "int/update-to-null",
        "int/delete",
        "shape/multi-row-update-one-unchanged",
        "shape/awkward-names",
        "rows/every-type/boundaries-0",
        "rows/every-type/update-key",
        "rows/composite/update",
        "rows/keyless/multi-row-delete",
    } <= {scenario.name for scenario in ALL}
    assert all(re.fullmatch(r"[a-z0-9]+([/-][a-z0-9]+)*", scenario.name) for scenario in ALL)


def test_every_row_fits_its_table() -> None:
    for scenario in ALL:
        for change in row_changes(scenario):
            for images in change.rows:
                for row in (images.before, images.after):
                    if row is None:
                        continue
                    assert set(row) == {column.name for column in change.table.columns}, scenario.name
                    for column in change.table.columns:
                        assert mysql.fits(column.type, row[column.name]), (scenario.name, column.name)
                        assert column.nullable or row[column.name] is not None, (scenario.name, column.name)


def test_images_follow_the_op() -> None:
    images = {Op.INSERT: (False, True), Op.UPDATE: (True, True), Op.DELETE: (True, False)}
    for scenario in ALL:
        for change in row_changes(scenario):
            for row in change.rows:
                assert (row.before is not None, row.after is not None) == images[change.op], scenario.name


def test_level_one_cases_share_no_table_and_level_two_cases_only_the_pool() -> None:
    pool = boundaries.pool(lambda _kind: True)
    owners: dict[tuple[str, str], str] = {}
    for scenario in ALL:
        for change in row_changes(scenario):
            if scenario.level == 1:
                place = (change.table.database, change.table.name)
                assert owners.setdefault(place, scenario.name) == scenario.name
            elif not scenario.name.startswith("rows/"):
                raise AssertionError(scenario.name)
    everything = boundaries.every_type
    assert [table.name for table in pool] == ["every_type", "composite `key`", "keyless"]
    assert len(everything(_no_json).columns) == len(pool[0].columns) - 1


def _no_json(kind: object) -> bool:
    return getattr(kind, "name", "") != "json"


def test_level_two_rows_hold_every_boundary_value_of_every_type() -> None:
    table = boundaries.every_type(lambda _kind: True)
    rows = [s.history.events[0].rows[0].after for s in ALL if s.name.startswith("rows/every-type/boundaries-")]
    for (_, _, values), column in zip(boundaries.type_values(lambda _kind: True), table.columns[1:], strict=True):
        held = [row[column.name] for row in rows]
        assert all(value in held for value in values.values()), column.name


def test_unsupported_types_have_no_cases() -> None:
    names = {scenario.name for scenario in boundaries.scenarios("db", _no_json)}
    assert not any(name.startswith("json/") for name in names)
    assert "int/min" in names


def test_every_case_is_tagged() -> None:
    assert all("boundary" in scenario.tags for scenario in ALL)
