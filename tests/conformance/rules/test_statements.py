"""What a rule says of the form of a value, against the form that the format's writer gives it."""

import pytest

from conformance.rules.rules import rules
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.model import Logical
from generators.wire_format import FORMATS, get

KINDS = {
    "value/integer": (Logical.INT, False),
    "value/unsigned": (Logical.INT, True),
    "value/year": (Logical.YEAR, True),
}
"""By the kind of a rule, the type of a cell and whether it is unsigned."""
ENOUGH = 25
"""Scenarios of a profile with such a column."""


def forms_of(wire_format, logical, unsigned):
    """`number` and `text`: the JSON of such cells in all profiles."""
    forms = set()
    for profile in wire_format.profiles:
        scenarios = (
            scenario
            for scenario in boundary_scenarios(wire_format, profile)
            if any(
                column.type.logical is logical and column.type.unsigned <= unsigned
                for event in scenario.history.events
                for column in getattr(getattr(event, "table", None), "columns", ())
            )
        )
        for _, scenario in zip(range(ENOUGH), scenarios, strict=False):
            for written in wire_format.write(scenario.history, profile, LAYOUT):
                for change in written.changes:
                    for image in (change.before, change.after):
                        for cell in (image or {}).values():
                            if cell.type and cell.type.logical is logical and cell.text is not None:
                                forms.add("number" if cell.json else "text")
    return forms


@pytest.mark.parametrize("name", [n for n in FORMATS if get(n).container == "json"])
def test_a_statement_names_a_form_that_values_have(name):
    by_kind = {rule.id.removeprefix(f"{name}/"): rule for rule in rules(name)}
    for kind, (logical, unsigned) in KINDS.items():
        if kind not in by_kind:
            continue
        forms = forms_of(get(name), logical, unsigned)
        statement = by_kind[kind].statement.lower()
        named = {form for form in ("number", "text") if form in statement}
        assert not named or forms <= named, (kind, statement, forms)
