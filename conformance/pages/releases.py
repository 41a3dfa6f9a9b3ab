"""What differs between the releases of a format: their facts side by side."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

from conformance.pages._markdown import table
from generators.wire_format import Format

_OF_A_PROFILE = ("release", "options", "assumed")
"""The fields that each profile has and that say nothing of the bytes of messages."""


def release_table(fmt: Format[Any]) -> Iterator[str]:
    """The lines of the section on what differs between the releases of a format: a table of the
    profiles' fields that are not the same in every release, with what each means. Nothing if there
    is no such field.
    """
    facts = {release: flat_facts(base) for release, base in fmt.choices.bases.items()}
    if len(facts) < 2:
        return
    docs = fact_docs(type(next(iter(fmt.choices.bases.values()))))
    fact_rows: list[tuple[str, ...]] = []
    for name in next(iter(facts.values())):
        values = [release_facts[name] for release_facts in facts.values()]
        if len(set(values)) > 1:
            fact_rows.append((f"`{name}`", docs.get(name, ""), *map(_cell_text, values)))
    if not fact_rows:
        return
    yield from ("## What differs between releases", "")
    yield from table(("fact", "meaning", *(f"`{release}`" for release in facts)), fact_rows)
    yield ""


def flat_facts(record: Any, prefix: str = "") -> dict[str, Any]:
    """The fields of a profile by name, those of a field's own dataclass as `field.name`; without
    the profile's release, options and assumptions, which say nothing of the bytes.
    """
    facts: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if not prefix and field.name in _OF_A_PROFILE:
            continue
        if is_dataclass(value):
            facts |= flat_facts(value, f"{prefix}{field.name}.")
        else:
            facts[f"{prefix}{field.name}"] = value
    return facts


def fact_docs(holder: type[Any], prefix: str = "") -> dict[str, str]:
    """The documentation of a dataclass's fields, by name: the text below each field, also of base
    classes, on one line. A field that holds a dataclass has its fields as `field.name`.
    """
    docs: dict[str, str] = {}
    for base_class in reversed(holder.__mro__):
        if not is_dataclass(base_class):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(base_class))).body
        assert isinstance(body, ast.ClassDef)
        for line, after in pairwise(body.body):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                match after:
                    case ast.Expr(value=ast.Constant(value=str() as text)):
                        docs[f"{prefix}{line.target.id}"] = " ".join(text.split())
    for field in fields(holder):
        part = type(field.default)
        if is_dataclass(part):
            docs |= fact_docs(part, f"{prefix}{field.name}.")
    return docs


def _cell_text(value: Any) -> str:
    """The value of a profile's field in a release, as text for the table of releases: yes or no,
    nothing for an empty value, else the value in backquotes.
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case None | "" | b"" | ():
            return ""
        case str():
            return f"`{value}`"
        case _:
            return f"`{value!r}`"
