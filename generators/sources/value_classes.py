"""Classes of values that a reader takes for something else, `value_classes.toml`: what a split, a
pattern, a calendar or a zone gets wrong.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Any, Final

from generators.model import Json, Logical, SourceType, Value
from generators.sources.databases import Source
from generators.sources.mysql import EPOCH

FILE: Final = "value_classes.toml"
FULL_LENGTH: Final = "full-length"
"""The class of texts that are as long as their type allows, in characters of several bytes."""
SHORT: Final = 255
"""Types of longer texts have no value of their full length."""


@cache
def _table() -> Mapping[Logical, Mapping[str, Any]]:
    """The parsed `value_classes.toml`: by logical type, the classes with their values."""
    toml_text = resources.files("generators.sources").joinpath(FILE).read_text("utf-8")
    return {Logical(name): classes for name, classes in tomllib.loads(toml_text).items()}


def logical_types() -> tuple[Logical, ...]:
    """The logical types that have classes."""
    return tuple(_table())


def class_names(logical: Logical) -> tuple[str, ...]:
    """The names of a logical type's classes."""
    return tuple(_table()[logical])


def class_value(source: Source, type: SourceType, name: str) -> Value:
    """The value that `value_classes.toml` gives a class of values (such as `full-length`) in a
    column of that type and source; None if the type cannot hold it.
    """
    value = _as_value(type, name, _table()[type.logical][name])
    if isinstance(value, str):
        value = source.as_stored(type, value)
    return value if value is not None and source.fits(type, value) else None


def _as_value(type: SourceType, name: str, written: Any) -> Value:
    """The value of the class `name` as `generators.model` keeps it in the type; `written` is what
    the TOML file has. None if the type cannot hold it. Raises TypeError for what is no text, date
    or time.
    """
    match written:
        case datetime():
            return (written - EPOCH) // timedelta(microseconds=1)
        case date():
            return written
        case str() if type.logical is Logical.JSON:
            return Json(json.loads(written))
        case str() if name == FULL_LENGTH:
            is_short = type.name in ("char", "varchar") and (type.length or 0) <= SHORT
            return written * (type.length or 0) if is_short else None
        case str():
            return written
    raise TypeError(f"{FILE}: {name} = {written!r} is no text, date or time")
