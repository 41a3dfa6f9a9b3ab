"""Decoders with several mistakes: each is named once, or the self test says which is not."""

from dataclasses import replace

import pytest

from conformance.cases.catalogue import named_cases
from conformance.selftest.bench import Bench, bench_of_cases
from conformance.selftest.stacks import Stack, draw_stacks
from generators.wire_format import get

APART = {
    1: ["keys-null", "delete-as-update", "types-null", "year-two-digits"],
    2: ["year-two-digits", "delete-lost", "update-as-two"],
}


@pytest.fixture(scope="module")
def tried() -> Bench:
    fmt = get("cloudcanal-json")
    return bench_of_cases(fmt, named_cases(fmt, fmt.profiles[:3]))


def test_mistakes_that_are_apart_are_named_once_each_by_any_seed(tried: Bench) -> None:
    twice = [*draw_stacks(tried, APART, 1, 3), *draw_stacks(tried, APART, 1, 3)]
    assert [str(stack) for stack in twice if not stack.is_rightly_named] == []
    assert [stack.operators for stack in twice[:3]] == [stack.operators for stack in twice[3:]]
    assert [len(stack.operators) for stack in twice[:3]] == [2, 2, 3]


def test_what_is_not_named_twice_named_or_false_is_told() -> None:
    right = Stack(1, ("a", "b"), (("every row of a is lost",), ("every b is wrong",)), ())
    assert right.is_rightly_named
    for wrong, words in (
        (replace(right, sentences=(right.sentences[0], ())), "b: NOT NAMED"),
        (
            replace(right, sentences=(right.sentences[0] * 2, right.sentences[1])),
            "a: every row of a is lost AND every row of a is lost",
        ),
        (replace(right, false=("some value is wrong",)), "FALSE: some value is wrong"),
    ):
        assert not wrong.is_rightly_named and words in str(wrong)


def test_a_stack_of_which_one_mistake_hides_the_other_does_not_count(
    tried: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a row without its op no value is compared."""
    monkeypatch.setattr("conformance.selftest.stacks.TRIES", 2)
    assert list(draw_stacks(tried, {1: ["op-null", "year-two-digits"], 2: []}, 1, 1)) == []
    (shown,) = draw_stacks(tried, {1: ["keys-null", "year-two-digits"], 2: []}, 1, 1)
    assert set(shown.operators) == {"keys-null", "year-two-digits"}


def test_an_operator_that_answers_by_the_message_before_is_in_no_stack(tried: Bench) -> None:
    names = ["equal-message-lost", "null-from-the-message-before", "keys-null", "year-two-digits"]
    (stack,) = draw_stacks(tried, {1: names, 2: []}, 1, 1)
    assert set(stack.operators) == {"keys-null", "year-two-digits"}
