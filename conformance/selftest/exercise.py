"""Finds a named case that exercises a rule, for `rules --explain`."""

from __future__ import annotations

from typing import Any

from conformance.cases.catalogue import named_cases
from conformance.rules.rules import Rule
from conformance.selftest.bench import of_cases
from generators.model import Case, Message
from generators.wire_format import Format


def exercising(fmt: Format[Any], rule: Rule) -> tuple[Case, Message] | None:
    """The smallest case that exercises the rule, in the first profile that has such a case, and its
    message.

    None for a law, and for a rule that no named case exercises.
    """
    for profile in fmt.profiles if not rule.law else ():
        sites = (
            (case, of_cases(fmt, [case]).judge.sites.get(rule.id))
            for case in named_cases(fmt, [profile])
        )
        owned = [(case, case.written[some[0].message].message) for case, some in sites if some]
        if owned:
            return min(
                owned, key=lambda pair: (pair[0].deployment.compression != "none", pair[1].size)
            )
    return None
