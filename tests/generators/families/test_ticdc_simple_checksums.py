"""Checksums of rows in TiCDC's Simple protocol, where a row is of NULLs alone and has none."""

import json

from generators.formats.ticdc_simple_json import FORMAT, write
from generators.model import Column, History, Layout, Op, RowChange, Table
from generators.sources import mysql
from generators.sources.boundaries import change

COLUMNS = (Column("a", mysql.integer("int")),)
BAG = Table("d", "bag", COLUMNS)
KEYED = Table("d", "keyed", COLUMNS, unique=(("a",),))


def checksums(
    release: str, event: RowChange
) -> list[tuple[str, str | None, tuple[int, int] | None]]:
    """Of each row's message its type, the value of `a`, and its two checksums."""
    profile = FORMAT.build(release, "checksum")
    bodies = [
        json.loads(one.message.value or b"")
        for one in write(History((event,), 1), profile, Layout("t", 1))
    ]
    return [
        (
            body["type"],
            (body.get("data") or body["old"])["a"],
            (body["checksum"]["current"], body["checksum"]["previous"])
            if "checksum" in body
            else None,
        )
        for body in bodies
    ]


def test_the_new_architecture_gives_a_row_of_nulls_the_next_checksum_and_loses_the_last_row():
    """AppendRow lists only checksums that there are, and GetNextRow ends where the list ends.

    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/common/event/dml_event.go#L624-L626
    https://github.com/pingcap/ticdc/blob/v8.5.7/pkg/common/event/dml_event.go#L728-L735
    """
    rows = [(None, {"a": value}) for value in (1, None, 3)]
    one, nulls, three = checksums("v8.5.7", change(BAG, Op.INSERT, *rows))
    assert (one[2] is None, nulls[2], three[2] is None) == (False, None, False)
    assert checksums("new-8.5.7", change(BAG, Op.INSERT, *rows)) == [
        one,
        ("INSERT", None, three[2]),
    ]
    assert checksums("new-8.5.7", change(BAG, Op.INSERT, rows[1])) == [nulls]


def test_halves_of_an_update_that_classic_ticdc_split_share_a_block_of_zeros():
    """Also the half whose row is of NULLs alone (SplitUpdateEvent copies the pointer).

    https://github.com/pingcap/tiflow/blob/v8.5.7/cdc/model/sink.go#L1264-L1297
    """
    update = change(KEYED, Op.UPDATE, ({"a": None}, {"a": 1}))
    assert checksums("v8.5.7", update) == [("DELETE", None, (0, 0)), ("INSERT", "1", (0, 0))]
