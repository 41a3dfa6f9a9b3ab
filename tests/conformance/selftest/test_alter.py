"""Every alteration breaks exactly the aspect that it names, and the judge's comparison sees it."""

from decimal import Decimal

import pytest

from conformance.judging.compare import Typed
from conformance.judging.judge import Site
from conformance.judging.output import OutputRow
from conformance.rules.rules import Aspect
from conformance.selftest.alter import alter

ROW = OutputRow(0, "ROW", "UPDATE", {"table": "t", "keys": ["id"]}, {"a": None}, {"a": "x"})


def altered(aspect: Aspect, name: str = "", side: str = "", row: OutputRow = ROW, level: int = 1) -> list[OutputRow]:
    return alter([row], Site("c", 0, 0, aspect, name, side), level)


def test_changes_are_dropped_added_and_refused() -> None:
    assert (altered(Aspect.MISSING), [row.row for row in altered(Aspect.EXTRA)]) == ([], [0, 1])
    assert [row.kind for row in altered(Aspect.CORRUPT)] == ["CORRUPT"]
    assert [row.kind for row in altered(Aspect.ACCEPTED)] == ["ROW"]


@pytest.mark.parametrize(
    ("aspect", "name", "side", "changed"),
    [
        *((Aspect.KIND, "", "", {"kind": "HEARTBEAT"}), (Aspect.OP, "", "", {"op": "TRUNCATE"})),
        (Aspect.FIELD, "table", "", {"fields": {"table": "tx", "keys": ["id"]}}),
        (Aspect.FIELD, "keys", "", {"fields": {"table": "t", "keys": ["id", "altered"]}}),
        *((Aspect.IMAGE, "before", "before", {"before": None}), (Aspect.PRESENCE, "a", "after", {"after": {}})),
        (Aspect.PRESENCE, "b", "after", {"after": {"a": "x", "b": None}}),
        *((Aspect.NULL, "a", "before", {"before": {"a": "altered"}}), (Aspect.NULL, "a", "after", {"after": {"a": None}})),
        (Aspect.VALUE, "a", "after", {"after": {"a": "xx"}}),
    ],
)
def test_one_aspect_changes_and_nothing_else(aspect, name, side, changed) -> None:
    (row,) = altered(aspect, name, side)
    assert {f: getattr(row, f) for f in ROW.__dataclass_fields__ if getattr(row, f) != getattr(ROW, f)} == changed


@pytest.mark.parametrize("name", ["keys", "types", "commit_time", "sql"])
def test_an_envelope_null_becomes_a_value_of_its_kind(name: str) -> None:
    row = OutputRow(0, "DDL", None, dict.fromkeys(("keys", "types", "commit_time", "sql")))
    (changed,) = altered(Aspect.FIELD, name, row=row)
    expected = {"keys": list, "types": dict, "commit_time": int, "sql": str}[name]
    assert isinstance(changed.fields[name], expected)


def test_nan_becomes_a_number() -> None:
    row = OutputRow(0, "ROW", "INSERT", after={"a": Typed("double", float("nan"))})
    (changed,) = altered(Aspect.VALUE, "a", "after", row, level=2)
    assert changed.after is not None
    assert changed.after["a"].value == 1.0


@pytest.mark.parametrize(
    "value", [Typed("int", 1), Typed("decimal", Decimal("1.50")), Typed("double", 0.0), Typed("binary", b"")]
)
def test_typed_values_become_others_of_their_family(value: Typed) -> None:
    (row,) = altered(Aspect.VALUE, "a", "after", OutputRow(0, "ROW", "INSERT", after={"a": value}), level=2)
    assert row.after is not None
    assert row.after["a"].family == value.family
    assert row.after["a"].value != value.value


def test_a_time_moves_by_a_day_which_no_rule_on_digits_owns_and_its_digits_by_one() -> None:
    row, later = OutputRow(0, "ROW", "INSERT", {"commit_time": 5}, after={"a": Typed("timestamp", 5)}), 86_400_000_005
    typed = [altered(aspect, "a", "after", row, level=2)[0].after for aspect in (Aspect.VALUE, Aspect.DIGITS)]
    assert typed == [{"a": Typed("timestamp", later)}, {"a": Typed("timestamp", 6)}]
    told = [altered(aspect, "commit_time", row=row)[0].fields["commit_time"] for aspect in (Aspect.FIELD, Aspect.DIGITS)]
    assert told == [later, 6]
