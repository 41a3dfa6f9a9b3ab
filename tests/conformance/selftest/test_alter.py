"""What the self test alters in values whose neighbour is the same, or another rule's; test_checks
has the other alterations.
"""

from decimal import Decimal

import pytest

from conformance.judging.compare import Typed
from conformance.judging.ledger import Site
from conformance.judging.output import ENVELOPE, OutputRow
from conformance.rules.rules import Aspect
from conformance.selftest.alter import alter


def altered(
    aspect: Aspect, name: str, side: str, row: OutputRow, level: int = 1
) -> list[OutputRow]:
    return alter([row], Site("c", 0, 0, aspect, name, side), level)


def test_nan_becomes_a_number() -> None:
    row = OutputRow(0, "ROW", "INSERT", after={"a": Typed("double", float("nan"))})
    (changed,) = altered(Aspect.VALUE, "a", "after", row, level=2)
    assert changed.after is not None
    assert changed.after["a"].value == 1.0


@pytest.mark.parametrize(
    "value",
    [
        Typed("decimal", Decimal("1.50")),
        Typed("decimal", Decimal("1" + "0" * 34 + "." + "0" * 30)),
        Typed("double", 0.0),
        Typed("binary", b""),
    ],
)
def test_typed_values_become_others_of_their_family(value: Typed) -> None:
    (row,) = altered(
        Aspect.VALUE, "a", "after", OutputRow(0, "ROW", "INSERT", after={"a": value}), level=2
    )
    assert row.after is not None
    assert row.after["a"].family == value.family
    assert row.after["a"].value != value.value


def test_a_time_moves_by_a_day_which_no_rule_on_digits_owns_and_its_digits_by_one() -> None:
    row, later = (
        OutputRow(0, "ROW", "INSERT", {"commit_time": 5}, after={"a": Typed("timestamp", 5)}),
        86_400_000_005,
    )
    typed = [
        altered(aspect, "a", "after", row, level=2)[0].after
        for aspect in (Aspect.VALUE, Aspect.DIGITS)
    ]
    assert typed == [{"a": Typed("timestamp", later)}, {"a": Typed("timestamp", 6)}]
    fields = [
        altered(aspect, "commit_time", "", row)[0].fields["commit_time"]
        for aspect in (Aspect.FIELD, Aspect.DIGITS)
    ]
    assert fields == [later, 6]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("keys", ["altered"]),
        ("types", {"altered": "altered"}),
        ("commit_time", 1),
        ("table", "altered"),
        ("sql", "altered"),
    ],
)
def test_a_field_that_is_null_becomes_a_value_of_its_own_type(name: str, other: object) -> None:
    (row,) = altered(Aspect.FIELD, name, "", OutputRow(0, "DDL", None, dict.fromkeys(ENVELOPE)))
    assert row.fields == dict.fromkeys(ENVELOPE) | {name: other}
