"""Finds where a text stops being JSON: the first character that no JSON text has after what stands
before it, whatever would follow.

Python's reader tells the beginning of the string, word or number that is wrong further on, and
differs from release to release.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple

_BLANKS: Final = re.compile(r"[ \t\n\r]*")
"""White space between the parts of a JSON text, which may be empty."""
_STRING_BEGUN: Final = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*', re.DOTALL
)
"""A string without its closing quote, as far as it is legal."""
_ESCAPE_AT_END: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
"""The beginning of an escape at the end of the text."""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
"""A whole number in JSON's form."""
_NUMBER_BEGUN: Final = re.compile(
    r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<!\.)[eE][-+]?[0-9]*)?)?"
)
"""A number, or the beginning of one."""
_WORD_BEGUN: Final = re.compile("t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?")
"""`true`, `false` or `null`, or the beginning of one of them."""
_WORDS: Final = frozenset({"true", "false", "null"})
_PYTHONS_WORD: Final = re.compile(r"[-+]?Infinity|NaN")
"""What Python writes and reads as a number, and JSON does not have."""
_END_OF: Final = {"{": "}", "[": "]"}
"""The closing bracket of each opening one."""


class JsonFault(NamedTuple):
    """The part of a text that is no JSON: the index of its first character, and the index behind
    its last one.
    """

    start: int
    end: int


class _Scan(NamedTuple):
    """How far a string, word or number goes in a text: the index behind it, and whether it is
    complete there.
    """

    end: int
    is_complete: bool


class _Awaited(Enum):
    """What may follow at an index of a JSON text."""

    VALUE = auto()
    VALUE_OR_END = auto()
    NAME = auto()
    NAME_OR_END = auto()
    COLON = auto()
    COMMA_OR_END = auto()
    NOTHING = auto()


_MAY_END: Final = (_Awaited.VALUE_OR_END, _Awaited.NAME_OR_END, _Awaited.COMMA_OR_END)
"""Where the closing bracket of an object or array may follow."""


def find_json_fault(json_text: str) -> JsonFault | None:
    """Where a text stops being JSON: the first character that a strict reader refuses, a whole NaN
    or Infinity, or the backslash of an escape that JSON does not have. None for a JSON text, and
    for one that is only cut off at its end.
    """
    open_brackets: list[str] = []
    awaited, place = _Awaited.VALUE, 0
    while True:
        place = _scan(_BLANKS, json_text, place)
        if place == len(json_text):
            return None
        character = json_text[place]
        scan = _Scan(place + 1, True)
        if awaited in _MAY_END and character == _END_OF[open_brackets[-1]]:
            open_brackets.pop()
            awaited = _after_value(open_brackets)
        elif awaited is _Awaited.COMMA_OR_END and character == ",":
            awaited = _Awaited.NAME if open_brackets[-1] == "{" else _Awaited.VALUE
        elif awaited is _Awaited.COLON and character == ":":
            awaited = _Awaited.VALUE
        elif awaited in (_Awaited.NAME, _Awaited.NAME_OR_END) and character == '"':
            scan, awaited = _scan_string(json_text, place), _Awaited.COLON
        elif awaited in (_Awaited.VALUE, _Awaited.VALUE_OR_END) and character in _END_OF:
            open_brackets.append(character)
            awaited = _Awaited.NAME_OR_END if character == "{" else _Awaited.VALUE_OR_END
        elif awaited in (_Awaited.VALUE, _Awaited.VALUE_OR_END):
            scan, awaited = _scan_scalar(json_text, place), _after_value(open_brackets)
        else:
            return _refused_at(json_text, place)
        if not scan.is_complete:
            if word := _PYTHONS_WORD.match(json_text, place):
                return JsonFault(*word.span())
            return None if scan.end == len(json_text) else JsonFault(scan.end, scan.end + 1)
        place = scan.end


def _refused_at(json_text: str, place: int) -> JsonFault:
    """The fault at the index `place`: the character there, or the whole NaN or Infinity that begins
    there.
    """
    word = _PYTHONS_WORD.match(json_text, place)
    return JsonFault(*word.span()) if word else JsonFault(place, place + 1)


def _after_value(open_brackets: list[str]) -> _Awaited:
    """What may follow a value that stands inside these brackets."""
    return _Awaited.COMMA_OR_END if open_brackets else _Awaited.NOTHING


def _scan(pattern: re.Pattern[str], json_text: str, place: int) -> int:
    """The index behind what the pattern matches at the index `place`; `place` itself if it matches
    nothing.
    """
    matched = pattern.match(json_text, place)
    return matched.end() if matched else place


def _scan_scalar(json_text: str, place: int) -> _Scan:
    """Scans the string, number or word that begins at the index `place`."""
    if json_text[place] == '"':
        return _scan_string(json_text, place)
    if json_text[place] in "-0123456789":
        begun_end = _scan(_NUMBER_BEGUN, json_text, place)
        return _Scan(begun_end, _scan(_NUMBER, json_text, place) == begun_end)
    word_end = _scan(_WORD_BEGUN, json_text, place)
    return _Scan(word_end, json_text[place:word_end] in _WORDS)


def _scan_string(json_text: str, place: int) -> _Scan:
    """Scans the string that begins at the index `place`. If the end of the text cuts an escape, it
    is an incomplete string, not a wrong one.
    """
    end = _scan(_STRING_BEGUN, json_text, place)
    if json_text[end : end + 1] == '"':
        return _Scan(end + 1, True)
    return _Scan(len(json_text) if _ESCAPE_AT_END.match(json_text, end) else end, False)
