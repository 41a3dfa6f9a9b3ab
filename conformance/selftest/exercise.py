"""Finds a named case that exercises a rule, for `rules --explain`."""

from __future__ import annotations

from typing import Any

from conformance.cases.catalogue import named_cases
from conformance.rules.rules import Rule
from conformance.selftest.bench import bench_of_cases
from generators.model import Case, Message
from generators.wire_format import Format


def find_exercising_case(fmt: Format[Any], rule: Rule) -> tuple[Case, Message] | None:
    """Finds a named case that exercises the rule, and the message in which it does. Of the first
    profile that has one, it is the case with the smallest message, without compression if possible.
    None for a law, and for a rule that no named case exercises.
    """
    if rule.law:
        return None
    for profile in fmt.profiles:
        exercising: list[tuple[Case, Message]] = []
        for case in named_cases(fmt, [profile]):
            sites = bench_of_cases(fmt, [case]).judge.sites.get(rule.id)
            if sites:
                exercising.append((case, case.written[sites[0].message].message))
        if exercising:
            return min(exercising, key=_size_key)
    return None


def _size_key(exercising: tuple[Case, Message]) -> tuple[bool, int]:
    """A sort key for pairs of a case and its message that exercises a rule; the first pair is the
    example that `rules --explain` shows. Messages without compression come before compressed ones,
    and among each of both the smallest comes first.
    """
    case, message = exercising
    return case.deployment.compression != "none", message.size
