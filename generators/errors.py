"""Errors that name the thing, the value, the legal values and the nearest match."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HarnessError(Exception):
    """Base of every error that a user sees without a stack trace. `exit_code` is the command's."""

    exit_code = 3


class UsageError(HarnessError):
    """The call or the configuration is wrong."""

    exit_code = 2


class Refused(HarnessError):
    """A source cannot have this history, or a fault has no place in these messages. Writers raise it on purpose."""


class NothingSelected(HarnessError):
    """A selection matched nothing, or nothing was judged."""

    exit_code = 4


def _near(value: str, legal: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(value, legal, n=1, cutoff=0.3)


def closest(value: str, legal: Iterable[str]) -> str:
    """The nearest of the names as a question; "" if none is near."""
    return "".join(f"Did you mean {name!r}?" for name in _near(value, list(legal)))


class UnknownName(UsageError):
    """An unknown name."""

    def __init__(self, what: str, value: str, legal: Iterable[str], of: str = "") -> None:
        known = sorted(legal)
        near, hint = _near(value, known), f" {closest(value, known)}".rstrip()
        listed = ", ".join(known[:24]) + (f", ... ({len(known)} in all)" if len(known) > 24 else "")
        super().__init__(f"unknown {what} {value!r}{' of ' + of if of else ''}.{hint} Known: {listed}.")
        self.what, self.value, self.near = what, value, near[0] if near else None
