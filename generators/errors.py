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
    """A source cannot have this history, or a fault has no place in these messages. Writers raise
    it on purpose.
    """


class NothingSelected(HarnessError):
    """A selection matched nothing, or nothing was judged."""

    exit_code = 4


def first_line(error: BaseException) -> str:
    """The first line of an exception's text, for a message in one line; the name of its class if it
    has no text, as that of a bare `assert`.
    """
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


_NEAR_PART = 0.6
"""How alike, from 0 to 1, a part of a path and its legal neighbour must be to be taken for it: more
than whole names, since parts are short and many look alike.
"""


def nearest(value: str, legal: Iterable[str], cutoff: float = 0.3) -> str | None:
    """The legal name that is most like the value; None if none is like it."""
    return next(iter(difflib.get_close_matches(value, sorted(legal), n=1, cutoff=cutoff)), None)


def nearest_path(value: str, legal: Iterable[str]) -> str | None:
    """The legal path, or beginning of one, that is most like a path with `/`. If the path without
    one of its inner parts is legal, that is taken; else its parts are compared one after the other,
    each with the legal parts in its place. None if none is near.
    """
    paths = [path.split("/") for path in legal]
    parts = value.split("/")
    beginnings = {tuple(path[:length]) for path in paths for length in range(1, len(path) + 1)}
    for left_out in range(1, len(parts) - 1):
        shorter = (*parts[:left_out], *parts[left_out + 1 :])
        if shorter in beginnings:
            return "/".join(shorter)
    beginning: list[str] = []
    for part in parts:
        following = {path[len(beginning)] for path in paths if len(path) > len(beginning)}
        near = part if part in following else nearest(part, following, _NEAR_PART)
        if near is None:
            return None if beginning else nearest(value, map("/".join, paths))
        beginning.append(near)
        paths = [path for path in paths if path[: len(beginning)] == beginning]
    return "/".join(beginning)


def did_you_mean(near: str | None) -> str:
    """The question ` Did you mean 'near'?` to put behind a sentence; "" if there is no nearest
    name.
    """
    return f" Did you mean {near!r}?" if near else ""


class UnknownName(UsageError):
    """A name that is not legal. `what` says what it names (`option`), `of` where it would belong,
    "" for nowhere in particular. The text has the first 24 legal names; `near` is the one that is
    most like it, None if none is.
    """

    def __init__(self, what: str, value: str, legal: Iterable[str], of: str = "") -> None:
        legal_names = sorted(legal)
        near = nearest(value, legal_names)
        known_names = ", ".join(legal_names[:24]) + (
            f", ... ({len(legal_names)} in all)" if len(legal_names) > 24 else ""
        )
        super().__init__(
            f"unknown {what} {value!r}{' of ' + of if of else ''}.{did_you_mean(near)} Known:"
            f" {known_names}."
        )
        self.what, self.value, self.near = what, value, near
