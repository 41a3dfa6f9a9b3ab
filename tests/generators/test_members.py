"""Each member that a format's file names stands in a message of some named case: a name that no
message has is a slip of the pen, which the reports would pass over in silence.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import fastavro
import pytest

import generators.formats
from generators.drawing.cases import LAYOUT, boundary_scenarios
from generators.errors import Refused, did_you_mean, nearest
from generators.families import confluent
from generators.formats.ticdc_open_protocol.cells import VERSION, split_events
from generators.model import Message
from generators.profiles import Profile
from generators.wire_format import FORMATS, Format, Members, get

HOME = Path(generators.formats.__file__).parent
OTHER_PROFILES = {"debezium-json": ("3.5.0.Final+postgresql+flat",)}
"""Profiles that run only if asked for, and alone have some of the members."""


def documents(fmt: Format[Any], profile: Profile, message: Message) -> Iterator[Any]:
    """The key and the value of a message as what JSON's reader, Avro's or the format's codec makes of
    them; what is compressed or framed otherwise is left out.
    """
    if fmt.codec is not None:
        yield fmt.codec.read(message.value or b"")
        return
    for part in filter(None, (message.key, message.value)):
        texts = [part]
        match fmt.container:
            case "avro":
                schema = fmt.schemas(profile)[0]
                with contextlib.suppress(ValueError, IndexError, EOFError, TypeError):
                    yield fastavro.schemaless_reader(io.BytesIO(part), schema, None)
                continue
            case "confluent":
                texts = [confluent.readable(part)]
            case "frames":
                texts = split_events(part.removeprefix(VERSION)) or []
        for text in texts:
            with contextlib.suppress(ValueError):
                yield json.loads(text)


def names_in(document: Any, images: tuple[str, ...]) -> Iterator[str]:
    """The names of all members of a document but an image's own, which are columns."""
    match document:
        case dict():
            yield from document
            for name, item in document.items():
                is_image = name in images and isinstance(item, dict)
                inner = list(item.values()) if is_image else item
                yield from names_in(inner, images)
        case list():
            yield from chain.from_iterable(map(partial(names_in, images=images), document))


def messages(fmt: Format[Any]) -> Iterator[tuple[Profile, Message]]:
    """The messages of a format's named cases, first those of its own, since they have every kind of
    message. The n-th cases of all profiles follow one another, so that a member that one option
    alone has is met early.
    """
    profiles = (*fmt.profiles, *map(fmt.profile, OTHER_PROFILES.get(fmt.name, ())))
    by_profile = (
        chain(fmt.scenarios(profile, profile.database), boundary_scenarios(fmt, profile))
        for profile in profiles
    )
    for scenarios in zip_longest(*by_profile):
        for profile, scenario in zip(profiles, scenarios, strict=True):
            if scenario is None:
                continue
            try:
                written = fmt.write(scenario.history, profile, LAYOUT)
            except Refused:
                continue
            for record in written:
                yield profile, record.message


def unused_members(fmt: Format[Any]) -> list[str]:
    """A line for each name of the format's members that no message of its named cases has."""
    images = (*fmt.members.after, *fmt.members.before)
    missing = {
        (field.name, name)
        for field in fields(Members)
        for name in fmt.members.names_of_field(field.name)
    }
    names: set[str] = set()
    for profile, message in messages(fmt):
        if not missing:
            break
        for document in documents(fmt, profile, message):
            names.update(names_in(document, images))
        missing = {(field, name) for field, name in missing if name not in names}
    return [
        f"{place_of(fmt.name, field)}: members.{field} = {name!r}: no message of a named case has"
        f" it.{did_you_mean(nearest(name, names))}"
        for field, name in sorted(missing)
    ]


def place_of(format_name: str, field: str) -> str:
    """The file and the line in which a field's members stand."""
    lines = (HOME / f"{format_name}.toml").read_text("utf-8").splitlines()
    start = lines.index("[members]")
    number = next(n for n in range(start, len(lines)) if lines[n].startswith(f"{field} = "))
    return f"generators/formats/{format_name}.toml:{number + 1}"


@pytest.mark.parametrize("name", FORMATS)
def test_each_member_stands_in_a_message(name: str) -> None:
    assert unused_members(get(name)) == []


def test_a_slip_of_the_pen_is_found() -> None:
    maxwell = get("maxwell-json")
    short = replace(
        maxwell, profiles=maxwell.profiles[:1], members=Members(op=("tpye",), after=("data",))
    )
    (line,) = unused_members(short)
    place = place_of("maxwell-json", "op")
    assert line == (
        f"{place}: members.op = 'tpye': no message of a named case has it. Did you mean 'type'?"
    )
