"""A decoder's CAPABILITIES: each word must name something, and no claim ends the run otherwise than
by a verdict.
"""

import pytest

from conformance.cases.catalogue import Budget, named_cases
from conformance.judging.capabilities import Capabilities
from conformance.judging.selection import check_claims
from conformance.running.prepared import Settings
from conformance.running.preparing import _cases_of_claimed_types
from generators.errors import UnknownName, UsageError
from generators.wire_format import get

FMT = get("debezium-json")


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        (
            {"columns": ("positon",)},
            "unknown column in the decoder's CAPABILITIES 'positon'. Did you mean 'position'",
        ),
        (
            {"kinds": ("ROWS",)},
            "unknown kind in the decoder's CAPABILITIES 'ROWS'. Did you mean 'ROW'",
        ),
        (
            {"types": ("timestmp*",)},
            "unknown type in the decoder's CAPABILITIES 'timestmp[*]'. Did you mean 'timestamp'",
        ),
        (
            {"profiles": ("3.5.0.Finale",)},
            "unknown profile in the decoder's CAPABILITIES .* Did you mean '3.5.0.Final",
        ),
    ],
)
def test_a_word_that_names_nothing_is_refused_with_the_nearest(claims, said):
    with pytest.raises(UnknownName, match=said):
        check_claims(FMT, Capabilities(**claims), ())


def test_what_names_something_is_fine():
    cases = tuple(named_cases(FMT, FMT.profiles[:1]))
    check_claims(
        FMT,
        Capabilities(
            (f"{FMT.profiles[0].release}*",), ("ROW",), ("pos*", "keys"), ("geometry", "*int*")
        ),
        cases,
    )


def test_a_list_without_a_word_is_refused():
    with pytest.raises(UsageError, match="kinds is empty"):
        Capabilities.of({"kinds": []})
    assert Capabilities.of({"conventions": [], "kinds": ["ROW"]}) == Capabilities(kinds=("ROW",))


@pytest.mark.parametrize(
    ("types", "some"),
    [("timestamp*", True), ("json", True), ("bit*", True), ("int", True), ("geometry", False)],
)
def test_rows_of_any_claimed_types(types, some):
    settings = Settings(
        (FMT.name,),
        Budget("tiny", 6, 4),
        1,
        writer_profile=("3.5.0.Final", "3.5.0.Final+postgresql"),
    )
    rows = _cases_of_claimed_types(settings, FMT, Capabilities(types=(types,)), frozenset())
    assert bool(rows) is some and {case.level for case in rows} <= {2}
