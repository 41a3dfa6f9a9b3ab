"""Load of a user's tables: a function of seed and number, within the tables' constraints."""

from collections import Counter
from itertools import islice

from generators.model import Op
from generators.tables import realistic
from generators.tables.load import TableLoad, read_saved
from generators.wire_format import get


def test_units_take_turns_and_hold_what_the_columns_hold(shop):
    own = TableLoad(shop.values, shop.schema.tables)
    seen = Counter()
    for n in range(300):
        (event,) = own.scenario(1, n).history.events
        user = shop.schema.tables[n % 3]
        assert event.table == user.table
        seen[event.op] += 1
        for image in (
            images for row in event.rows for images in (row.before, row.after) if images is not None
        ):
            for column in event.table.columns:
                assert shop.values.can_hold(user, column, image[column.name]), (column.name, image)
    assert seen[Op.INSERT] > seen[Op.UPDATE] > seen[Op.DELETE] > 0
    assert own.table.name == "items"


def test_a_unit_is_the_same_in_another_process(shop, tmp_path, monkeypatch):
    own = TableLoad(shop.values, shop.schema.tables, ((Op.DELETE, 1),))
    own.save(tmp_path / "tables")
    # A regex's texts differ from process to process, so the other one makes no values of its own.
    monkeypatch.setattr(realistic, "candidate_values", None)
    again = read_saved(tmp_path / "tables")
    assert [again.scenario(7, n) for n in range(20)] == [own.scenario(7, n) for n in range(20)]
    assert own.scenario(7, 1) != own.scenario(8, 1)
    assert {event.op for n in range(9) for event in again.scenario(7, n).history.events} == {
        Op.DELETE
    }


def test_messages_are_the_writer_s(shop):
    fmt = get("ticdc-canal-json")
    own, profile = TableLoad(shop.values, shop.schema.tables), fmt.profile("v7.1.6")
    made = list(own.messages(fmt, profile, 1, 6))
    assert b'"table":"items"' in made[0].value
    assert list(islice(own.messages(fmt, profile, 1), len(made))) == made
