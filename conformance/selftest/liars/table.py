"""The table of liars: a line is a liar of every format whose rule it names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

from conformance.rules.book import book
from conformance.rules.rules import rules
from conformance.selftest.operators.catalogue import OPERATORS
from conformance.selftest.operators.general import WORDS, when
from conformance.selftest.operators.operator import Operator

FILES: Final = tuple(sorted(Path(__file__).parent.glob("*.toml")))


@dataclass(frozen=True, slots=True)
class Liar:
    """A decoder whose output is a right one after `operator`, or after the breach of a law (conformance.selftest.memory).

    `convicts` is the id of the rule that must catch it, `why` the decoder or the mistake of the real world that it stands for. It
    is tried on cases in which that rule owns something, or on those of `scenario`, a glob."""

    name: str
    format: str
    level: int
    convicts: str
    why: str
    operator: Operator | None
    scenario: str = ""
    breach: str = ""


def operator_of(line: Mapping[str, Any]) -> Operator | None:
    """The operator of a line: `does` is a name of the catalogue, or a general operator with arguments; `when` restricts it."""
    if "does" not in line:
        return None
    does = line["does"]
    known = OPERATORS[does] if isinstance(does, str) else Operator("", (), WORDS[does[0]](*does[1:]))
    return Operator(line["name"], known.apt, when(known.alter, line.get("when", {})), known.logicals)


@cache
def lines() -> tuple[Mapping[str, Any], ...]:
    """Every line of the files."""
    files = (tomllib.loads(file.read_text("utf-8")) for file in FILES)
    return tuple({"level": file["level"], **line} for file in files for line in file["liars"])


@cache
def liars(fmt: str) -> tuple[Liar, ...]:
    """The liars of a format: of each line, those of the rules that it names, by globs of `FORMAT/RULE`, in its own name or that
    of the format that it is like; not those of a glob behind `!`."""
    ids, like = [rule.id for rule in rules(fmt)], book(fmt).like or fmt

    def named(rule: str, globs: list[str]) -> bool:
        own = any(fnmatchcase(id_, glob) for id_ in (rule, rule.replace(fmt, like, 1)) for glob in globs)
        return own and not any(glob[0] == "!" and fnmatchcase(rule, glob[1:]) for glob in globs)

    return tuple(
        Liar(
            line["name"],
            fmt,
            line["level"],
            rule,
            line["why"],
            operator_of(line),
            line.get("scenario", ""),
            line.get("breaks", ""),
        )
        for line in lines()
        for rule in ids
        if named(rule, line["by"].split())
    )
