"""Load's options: what they do to the changes, and that nobody makes other messages of them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generators.bulk import orders
from generators.bulk import traffic as load
from generators.bulk.orders import LoadOptions
from generators.errors import UnknownName, UsageError
from generators.model import Layout, Message, Op, RowChange
from generators.profiles import Profile
from generators.wire_format import FORMATS, Format, get

ODD = LoadOptions(((Op.INSERT, 1), (Op.UPDATE, 1)), "zipf", 2, 5, 0.5, 40)
TICDC = get("ticdc-canal-json")


def changes(options: LoadOptions, count: int = 600) -> list[RowChange]:
    events = [
        orders.load_scenario(TICDC, TICDC.profiles[0], 1, n, options).history.events[0]
        for n in range(count)
    ]
    return [event for event in events if isinstance(event, RowChange)]


def written(
    fmt: Format[Any], profile: Profile, units: range, options: LoadOptions, layout: Layout
) -> list[Message]:
    histories = (orders.load_scenario(fmt, profile, 3, n, options).history for n in units)
    return [
        record.message for history in histories for record in fmt.write(history, profile, layout)
    ]


def digest(name: str, options: LoadOptions, start: int, count: int) -> str:
    """Of everything in the messages of a format's first profile."""
    fmt = get(name)
    sha = hashlib.sha256()
    for message in load.messages(fmt, fmt.profiles[0], 3, start, count, options=options):
        sha.update(repr(message).encode())
    return sha.hexdigest()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        *(
            ({"keys": "zipff"}, "Did you mean 'zipf'"),
            ({"rows": 0}, "rows is 0; it must be between 1 and 1000"),
        ),
        *(
            ({"transaction": 0}, "transaction is 0"),
            ({"null_rate": 1.5}, "between 0 and 1"),
            ({"payload": -1}, "payload is -1"),
        ),
        *(({"ops": ()}, "not all 0"), ({"ops": ((Op.READ, 1),)}, "INSERT, UPDATE and DELETE")),
        *(
            ({"ops": ((Op.INSERT, 0),)}, "not all 0"),
            ({"ops": ((Op.INSERT, 1), (Op.INSERT, 2))}, "INSERT, UPDATE and DELETE"),
        ),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        LoadOptions(**wrong)


def test_op_weights_are_read_from_text() -> None:
    assert orders.parse_ops("insert=50, Update=40,delete=10") == (
        (Op.INSERT, 50),
        (Op.UPDATE, 40),
        (Op.DELETE, 10),
    )
    with pytest.raises(UnknownName, match="Did you mean 'insert'"):
        orders.parse_ops("insrt=1")
    with pytest.raises(UsageError, match="expected a whole number"):
        orders.parse_ops("insert=many")
    with pytest.raises(UsageError, match=r"op weight 'insert=9+': expected a whole number"):
        orders.parse_ops(f"insert={'9' * 5000}")


def test_options_survive_their_text() -> None:
    assert orders.parse_options(orders.options_text(ODD)) == ODD


@pytest.mark.parametrize(
    ("ops", "shares"),
    [
        (
            ((Op.INSERT, 128), (Op.UPDATE, 102), (Op.DELETE, 26)),
            {Op.INSERT: 128, Op.UPDATE: 102, Op.DELETE: 26},
        ),
        (
            ((Op.INSERT, 1), (Op.UPDATE, 1), (Op.DELETE, 1)),
            {Op.INSERT: 86, Op.UPDATE: 85, Op.DELETE: 85},
        ),
        (((Op.INSERT, 1_000_000), (Op.DELETE, 1)), {Op.INSERT: 255, Op.DELETE: 1}),
        (((Op.DELETE, 3), (Op.UPDATE, 0)), {Op.DELETE: 256}),
    ],
)
def test_op_weights_become_shares_of_256(
    ops: tuple[tuple[Op, int], ...], shares: dict[Op, int]
) -> None:
    assert Counter(LoadOptions(ops).op_by_byte()) == shares


def test_skews() -> None:
    share = {name: Counter(places) for name, places in orders.SKEWS.items()}
    assert set(share["uniform"].values()) == {1}
    assert sum(
        count for place, count in share["hot"].items() if place < 16
    ) / orders.KEYS == pytest.approx(0.9, abs=0.01)
    zipf = share["zipf"]
    assert zipf[0] / sum(zipf[place] for place in range(9, 19)) == pytest.approx(1, abs=0.1)
    assert max(zipf) > 4_000


def test_rows_have_keys_of_their_own_and_share_a_commit() -> None:
    events = changes(LoadOptions(rows=50, transaction=7), 30)
    for number, event in enumerate(events):
        keys = [(images.after or images.before or {})["id"] for images in event.rows]
        assert len(set(keys)) == len(keys) == 50
        assert event.at.ms - events[0].at.ms == number // 7


@pytest.mark.parametrize(("rate", "low", "high"), [(0, 0, 0), (0.25, 90, 210), (1, 600, 600)])
def test_the_null_rate_is_that_of_the_nullable_column(rate: float, low: int, high: int) -> None:
    rows = [
        event.rows[0].after or event.rows[0].before or {}
        for event in changes(LoadOptions(null_rate=rate))
    ]
    assert low <= sum(row["note"] is None for row in rows) <= high
    assert all(value is not None for row in rows for name, value in row.items() if name != "note")


@pytest.mark.parametrize("size", [1, 40, 5_000])
def test_the_payload_is_a_column_of_about_that_many_bytes(size: int) -> None:
    events = changes(LoadOptions(payload=size), 50)
    assert [column.name for column in events[0].table.columns][-1] == "payload"
    for event in events:
        text = (event.rows[0].after or event.rows[0].before or {})["payload"]
        assert isinstance(text, str)
        assert size - 3 <= len(text.encode()) <= size


def test_defaults_are_the_bytes_of_before() -> None:
    assert (
        digest("ticdc-canal-json", orders.DEFAULT, 0, 2_000)
        == "49d6825055b2b9a877a1880ddac294191426daa1480147f24bbb666a8dc5746c"
    )
    assert (
        digest("alibaba-canal-json", orders.DEFAULT, 0, 2_000)
        == "1c18951ef4068c6826be1e7b03a99a8d7c8a730d0fe7c6795c3345220b836bfd"
    )


UNLEARNED = {
    # The size in bytes before each block of an array follows every value in it.
    "aliyun-dts-avro/2019+text-character+sized-blocks",
    # A position counts the bytes before it.
    "ogg-json/19.1",
    # A file of the binlog ends with a minute, and after some commits.
    "cloudcanal-debezium/2022",
    # The place in the binlog counts the bytes before it.
    "aws-dms-json/2016-01-01+null-and-empty+transaction-details+partition-value+before-image",
    # Lengths stand before packets, entries, rows and columns.
    "alibaba-canal-protobuf/1.1.4",
    # The length of a document stands before its text, which has all values of the row.
    "debezium-mongodb-avro/3.6.1.Final",
    # Lengths stand before keys and values.
    "ticdc-open-protocol/v8.5.7",
}

EACH = [(name, get(name).profiles[0].name, orders.DEFAULT) for name in FORMATS]
OTHERS = ("ticdc-canal-json", "aliyun-dts-avro", "huawei-cdl-debezium")
SOME = [(name, get(name).profiles[-1].name, ODD) for name in OTHERS]
"""What the columns of other options are written as: text, Avro, Connect's JSON with schemas, of
both sources.
"""


@pytest.mark.parametrize(("name", "chosen", "options"), EACH + SOME)
def test_load_of_every_format_is_what_its_writer_writes(
    name: str, chosen: str, options: LoadOptions
) -> None:
    """And it is filled in, but where bytes follow several values."""
    fmt = get(name)
    profile = fmt.profile(chosen)
    units = range(11_970, 12_050)
    layout = Layout() if options is orders.DEFAULT else Layout("orders", 5)
    messages = list(
        load.messages(fmt, profile, 3, units.start, len(units), layout=layout, options=options)
    )
    assert messages == written(fmt, profile, units, options, layout)
    assert (load.why_not_learned(fmt, profile, layout, options) is None) is (
        f"{name}/{chosen}" not in UNLEARNED
    )


def test_checksums_are_not_learned() -> None:
    fmt = get("ticdc-simple-json")
    assert "bytes that answer to" in str(
        load.why_not_learned(fmt, fmt.profile("v8.5.7+tz+checksum"))
    )


def test_messages_are_the_same_in_another_process_with_another_hash_seed_and_in_any_order() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import test_traffic as t; "
        "print(*[t.digest(name, t.ODD, start, 40) for name in t.SAMPLE for start in (80, 0, 40)])"
    )
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    run = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [
        digest(name, ODD, start, 40) for name in SAMPLE for start in (80, 0, 40)
    ]
    fmt = get(SAMPLE[0])
    whole = list(load.messages(fmt, fmt.profiles[0], 3, 0, 120, options=ODD))
    pieces = [
        list(load.messages(fmt, fmt.profiles[0], 3, start, 40, options=ODD))
        for start in (80, 0, 40)
    ]
    assert pieces[1] + pieces[2] + pieces[0] == whole


SAMPLE = ("debezium-json",)
