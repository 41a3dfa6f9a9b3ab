"""The record of explained differences: TOML, strict in both directions.

An entry explains differences by product, path, column type and both texts (regular expressions over whole texts), with a reason.
A difference without an entry fails an audit; so does an entry that explains nothing, unless it is `drawn`: another seed need not
show it.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from generators.errors import UsageError
from recorders.audit import Difference

VERSION: Final = 1
FILE: Final = Path(__file__).with_name("explained.toml")
_KEYS: Final = ("profile", "path", "type", "ours", "real", "reason", "drawn")
_NEEDED: Final = ("profile", "path", "reason")


@dataclass(frozen=True, slots=True)
class Entry:
    """Differences that are known. `profiles` are globs over `product release+option`; the other fields cover whole texts."""

    profiles: tuple[str, ...]
    path: str
    reason: str
    type: str = ".*"
    ours: str = ".*"
    real: str = ".*"
    drawn: bool = False

    def applies(self, profile: str) -> bool:
        """Whether the entry is about that profile."""
        return any(fnmatchcase(profile, glob) for glob in self.profiles)

    def explains(self, found: Difference) -> bool:
        """Whether the difference is this one."""
        pairs = ((self.path, found.path), (self.type, found.type), (self.ours, found.ours), (self.real, found.real))
        return all(re.fullmatch(pattern, text, re.DOTALL) for pattern, text in pairs)


@dataclass(frozen=True, slots=True)
class Explained:
    """The entries of a file that apply to a profile, and how many differences each explained."""

    entries: tuple[Entry, ...]
    counts: Counter[int] = field(default_factory=Counter)

    def why(self, found: Difference) -> Entry | None:
        """The first entry that explains the difference."""
        for i, entry in enumerate(self.entries):
            if entry.explains(found):
                self.counts[i] += 1
                return entry
        return None

    def narrowed(self) -> Explained:
        """The same entries, none of which has to explain anything: a part of the scenarios is audited."""
        return Explained(tuple(replace(entry, drawn=True) for entry in self.entries))

    @property
    def idle(self) -> tuple[Entry, ...]:
        """Entries that explained nothing and had to."""
        return tuple(entry for i, entry in enumerate(self.entries) if not self.counts[i] and not entry.drawn)


def load(path: Path, profile: str) -> Explained:
    """The entries of the file that apply to the profile. Raises UsageError that names the entry."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    if document.get("version") != VERSION or set(document) - {"version", "difference"}:
        raise UsageError(f"{path}: expected version = {VERSION} and [[difference]] entries, nothing else")
    listed = document.get("difference", [])
    entries = [_entry(raw, f"{path}, difference {i}") for i, raw in enumerate(listed, 1)]
    return Explained(tuple(entry for entry in entries if entry.applies(profile)))


def _entry(raw: Mapping[str, Any], where: str) -> Entry:
    unknown, missing = set(raw) - set(_KEYS), [key for key in _NEEDED if not raw.get(key)]
    if unknown or missing:
        what = f"unknown {', '.join(sorted(unknown))}" if unknown else f"no {', '.join(missing)}"
        raise UsageError(f"{where}: {what}. Keys: {', '.join(_KEYS)}; {', '.join(_NEEDED)} are needed")
    profiles = raw["profile"]
    texts = {key: raw[key] for key in ("path", "type", "ours", "real", "reason") if key in raw}
    drawn = raw.get("drawn", False)
    globs: Sequence[Any] = profiles if isinstance(profiles, list) else [profiles]
    if not all(isinstance(text, str) for text in (*texts.values(), *globs)) or not isinstance(drawn, bool):
        raise UsageError(f"{where}: drawn is true or false, profile a text or a list of texts, every other value a text")
    for key in ("path", "type", "ours", "real"):
        try:
            re.compile(texts.get(key, ""))
        except re.error as error:
            raise UsageError(f"{where}: {key} is no regular expression: {error}") from error
    return Entry(tuple(globs), drawn=drawn, **texts)


def grouped(differences: Iterable[Difference]) -> dict[tuple[str, str], list[Difference]]:
    """Differences by path and type, the most frequent first."""
    groups: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        groups.setdefault((one.path, one.type), []).append(one)
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))
