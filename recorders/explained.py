"""The file of explained differences between a product's records and ours, in TOML. It must be
complete, and must hold nothing superfluous.

An entry explains differences by product, path, column type and both texts (regular expressions for
the whole texts), with a reason. A difference without an entry fails an audit. So does an entry that
explains nothing, unless it is `drawn`: then another seed may not show the difference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from conformance.rules.tables import TableFile, check_fields, naming_place
from generators.errors import UsageError
from recorders.audit import Difference

VERSION: Final = 1
FILE: Final = Path(__file__).with_name("explained.toml")
_FIELDS: Final = {
    "profile": str | list,
    "drawn": bool,
    **dict.fromkeys(("path", "type", "ours", "real", "reason"), str),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """An explanation of some differences between a product's records and ours. `profiles` are globs
    for `product release+option`; `path`, `type`, `ours` and `real` are regular expressions that
    must match the whole text of the difference's fields. With `drawn` the entry need not explain
    anything, since other random input may not show the difference.
    """

    profiles: tuple[str, ...]
    path: str
    reason: str
    type: str = ".*"
    ours: str = ".*"
    real: str = ".*"
    drawn: bool = False

    def applies(self, profile: str) -> bool:
        """Whether the entry is meant for this profile."""
        return any(fnmatchcase(profile, glob) for glob in self.profiles)

    def explains(self, difference: Difference) -> bool:
        """Whether all patterns of the entry match the difference: path, column type and both
        texts.
        """
        pairs = (
            (self.path, difference.path),
            (self.type, difference.type),
            (self.ours, difference.ours),
            (self.real, difference.real),
        )
        return all(re.fullmatch(pattern, value, re.DOTALL) for pattern, value in pairs)


@dataclass(frozen=True, slots=True)
class Explained:
    """The entries of the file of explained differences that apply to a profile; `counts` has, by
    the number of the entry, how many differences it explained.
    """

    entries: tuple[Entry, ...]
    counts: Counter[int] = field(default_factory=Counter)

    def why(self, difference: Difference) -> Entry | None:
        """The first entry that explains the difference, after counting that it did; None if no
        entry does.
        """
        for i, entry in enumerate(self.entries):
            if entry.explains(difference):
                self.counts[i] += 1
                return entry
        return None

    def narrowed(self) -> Explained:
        """The entries for an audit of only some scenarios, in which no entry has to explain
        anything. `drawn` marks that: such an entry is not reported as idle.
        """
        return Explained(tuple(replace(entry, drawn=True) for entry in self.entries))

    @property
    def idle(self) -> tuple[Entry, ...]:
        """The entries that explained nothing in this audit although they had to (they are not
        `drawn`): they are outdated.
        """
        return tuple(
            entry for i, entry in enumerate(self.entries) if not self.counts[i] and not entry.drawn
        )


def load(path: Path, profile: str) -> Explained:
    """The entries of the file of explained differences that apply to the profile. Raises
    UsageError, which names the entry, for a wrong one.
    """
    try:
        file = TableFile(str(path), path.read_text("utf-8"), {"version": int, "difference": list})
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if file.data.get("version") != VERSION:
        raise UsageError(f"{path}: expected version = {VERSION}")
    entries = []
    for number, raw in enumerate(file.data.get("difference", ()), 1):
        with naming_place(f"{path}, difference {number}"):
            entries.append(_parse_entry(raw))
    return Explained(tuple(entry for entry in entries if entry.applies(profile)))


def _parse_entry(raw: Mapping[str, Any]) -> Entry:
    """Parses an entry of the file of explained differences; `profile` is a glob or a list of them.
    Raises UsageError for a wrong field or pattern.
    """
    check_fields(raw, _FIELDS, ("profile", "path", "reason"))
    for key in ("path", "type", "ours", "real"):
        try:
            re.compile(raw.get(key, ""))
        except re.error as error:
            raise UsageError(f"{key} is no regular expression: {error}") from error
    profiles = raw["profile"]
    fields = {key: value for key, value in raw.items() if key != "profile"}
    return Entry(tuple(profiles) if isinstance(profiles, list) else (profiles,), **fields)


def grouped(differences: Iterable[Difference]) -> dict[tuple[str, str], list[Difference]]:
    """The differences by path and column type; groups with the most differences come first."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    for difference in differences:
        groups.setdefault((difference.path, difference.type), []).append(difference)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))
