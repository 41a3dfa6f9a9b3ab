"""A rule that is scoped by profiles owns what the writers of just these profiles do."""

import pytest

from conformance.rules.rules import Aspect, Subject, owner, rules
from generators.drawing.cases import LAYOUT
from generators.model import Op
from generators.sources import boundaries
from generators.sources.boundaries import KEYLESS
from generators.wire_format import Format, get

BEFORE, AFTER = {"a": 1, "b": "x", "c": None}, {"a": 1, "b": "y", "c": None}


def profiles(name):
    return [
        pytest.param(get(name), profile, id=f"{name}-{profile.name}")
        for profile in get(name).profiles
    ]


def written(fmt: Format, profile, op: Op):
    """The messages of one row."""
    table = boundaries.keyless(profile.source) if fmt.name == "debezium-json" else KEYLESS
    images = {Op.INSERT: (None, AFTER), Op.UPDATE: (BEFORE, AFTER), Op.DELETE: (BEFORE, None)}[op]
    return fmt.write(
        boundaries.scenario("s", boundaries.change(table, op, images)).history, profile, LAYOUT
    )


def owning(
    fmt: Format, profile, kind: str, op: str, field: str, aspect: Aspect, **more: str
) -> str:
    rule = owner(rules(fmt.name), Subject(profile.name, 1, kind, op, field, aspect, **more))
    assert rule is not None
    return rule.id.removeprefix(f"{fmt.name}/")


@pytest.mark.parametrize(("fmt", "profile"), profiles("ticdc-canal-json"))
def test_line_ends_and_compression_own_the_messages_that_have_them(fmt, profile):
    (insert,) = written(fmt, profile, Op.INSERT)
    wanted = ""
    if profile.deployment.compression != "none":
        wanted = "framing/compression"
    elif insert.message.value.endswith(b"\r\n"):
        wanted = "framing/crlf"
    for aspect in (Aspect.MISSING, Aspect.CORRUPT):
        name = owning(fmt, profile, "ROW", "INSERT", "change", aspect)
        assert name == wanted or (not wanted and not name.startswith("framing/"))


@pytest.mark.parametrize(("fmt", "profile"), profiles("ticdc-canal-json"))
def test_the_rules_of_partial_images_own_the_releases_that_write_them(fmt, profile):
    (update,) = written(fmt, profile, Op.UPDATE)
    partial = any(cell.state == "ABSENT" for cell in update.changes[0].before.values())
    name = owning(fmt, profile, "ROW", "UPDATE", "image", Aspect.IMAGE, side="before")
    assert (name == "old/empty-object") is partial


def test_both_kinds_of_images_occur():
    fmt = get("ticdc-canal-json")
    befores = [written(fmt, profile, Op.UPDATE)[0].changes[0].before for profile in fmt.profiles]
    assert {any(cell.state == "ABSENT" for cell in before.values()) for before in befores} == {
        False,
        True,
    }
