"""Evidence: a property of a message, and what it says of the writer."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.inspecting.opening import OpenedRecord
from generators.wire_format import get


class Watched(enum.StrEnum):
    """What only several messages together show, as a watch finds it."""

    KEY_ALONE = "key alone"
    LACKING = "lacking"
    TOMBSTONE = "tombstone"
    NO_TOMBSTONE = "no tombstone"


@dataclass(frozen=True, slots=True)
class Sign:
    """A property that a message of the format may have, and what it shows of the writer.

    `says` is the property in words, `seen` tells whether a message has it; a property with
    `watched` shows only in several messages, and the format's watch finds it. `given` are options
    that the writer then has, `without` those that it lacks; `releases` those that write such a
    message, () if the property says nothing of the release; `never`: no profile of the format
    writes one. `citation` is a fact of the catalogue of sources, "" where the description of the
    option says it.
    """

    says: str
    seen: Callable[[OpenedRecord], bool]
    citation: str
    given: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    never: bool = False
    watched: Watched | None = None


@dataclass(frozen=True, slots=True)
class MemberOrder:
    """The members of one kind of message in the order of the writer; those of `optional` may be
    missing.
    """

    order: tuple[str, ...]
    optional: frozenset[str] = frozenset()

    @classmethod
    def parse_order(cls, names_text: str) -> MemberOrder:
        """Parses an order of members from a table of evidence: names separated by blanks. A name
        that ends with `?` may be missing from a message.
        """
        names = names_text.split()
        return cls(
            tuple(name.rstrip("?") for name in names),
            frozenset(name[:-1] for name in names if name[-1] == "?"),
        )

    def objections(self, members: Iterable[str]) -> Iterator[str]:
        """The reasons, in words, why a message whose members have these names in this order is not
        one that the writer writes: members are missing, unknown, or in another order. Nothing if it
        can be.
        """
        names = list(members)
        if missing := [
            name for name in self.order if name not in self.optional and name not in names
        ]:
            yield f"has no {', '.join(missing)}"
        if strange := [name for name in names if name not in self.order]:
            yield f"has the unknown {', '.join(strange[:5])}"
        if not missing and not strange and names != [name for name in self.order if name in names]:
            yield "has its members in another order"


Types = dict[str, str]
"""The types of columns by the columns' names."""


@dataclass(frozen=True, slots=True)
class TableDescription:
    """What a message says of a table: its names, the column types as far as the bytes show them,
    its keys.
    """

    database: str
    table: str
    types: Mapping[str, str]
    keys: tuple[str, ...] = ()


Watch = Callable[[OpenedRecord], Iterable[Watched]]
"""A function that takes the messages of a format one after the other, and returns what each shows
together with those before it.
"""


@dataclass(frozen=True, slots=True)
class EvidenceBook:
    """The evidence of a format: what its messages look like, and what they show of their writer.

    `marks` tells whether the format may have written a message. `root` gives the message's object;
    `members` the names that are compared with `shapes`, in order. `inner` has the members that
    objects inside a message may have, by the object's name, except rows, whose members are columns.
    `filled` are members that are never null, `a.b` one of the object at `a`, if there is one.
    `describe` gives the table that a message is of, None if it has none; `watch` makes a new watch
    over successive messages; `version` gives the release that the message itself names, "" if none.
    """

    format: str
    product: str
    marks: Callable[[OpenedRecord], bool]
    shapes: tuple[MemberOrder, ...]
    signs: tuple[Sign, ...]
    members: Callable[[OpenedRecord], Iterable[str]] = lambda opened: opened.members
    describe: Callable[[OpenedRecord], TableDescription | None] = lambda _seen: None
    watch: Callable[[], Watch] = field(default=lambda: lambda _seen: ())
    version: Callable[[OpenedRecord], str] = lambda _seen: ""
    root: Callable[[OpenedRecord], Mapping[str, Any]] = lambda opened: opened.members
    inner: Mapping[str, frozenset[str]] = field(default_factory=dict)
    filled: tuple[str, ...] = ()

    def objections(self, opened: OpenedRecord) -> tuple[list[str], list[str]]:
        """The reasons why no profile of the format can have written the message, in two lists: its
        members are wrong, or it has a property that the format never has. Both are empty if a
        profile can. `shapes` are the orders of members that the format has: the one that objects
        least is taken.
        """
        names = tuple(self.members(opened))
        by_shape = min(
            (list(shape.objections(names)) for shape in self.shapes), key=len, default=[]
        )
        by_shape += self._inner_objections(opened)
        by_sign = [sign.says for sign in self.signs if sign.never and sign.seen(opened)]
        if (
            opened.compression != "none"
            and opened.compression not in get(self.format).choices.options
        ):
            by_sign.append(f"the value is compressed with {opened.compression}")
        return by_shape, by_sign

    def _inner_objections(self, opened: OpenedRecord) -> Iterator[str]:
        """Reasons inside the message why no profile can have written it: a member is null that
        never is, or an object in it has an unknown member.
        """
        root = self.root(opened)
        yield from (f"{path} is null" for path in self.filled if _is_null(root, path))
        for name, known_members in self.inner.items():
            value = root.get(name)
            if isinstance(value, dict) and (
                strange := [n for n in value if n not in known_members]
            ):
                yield f"{name} has the unknown {', '.join(strange[:5])}"


def _is_null(root: Mapping[str, Any], path: str) -> bool:
    """Whether the member at a path is null in the message: `a`, or `a.b` in the object at `a`. A
    member `a` that is missing is not null; a member `b` that is missing from its object is.
    """
    outer, _, name = path.rpartition(".")
    if not outer:
        return root.get(name, name) is None
    holder = root.get(outer)
    return isinstance(holder, dict) and holder.get(name) is None


def json_objects(images: Any) -> list[Mapping[str, Any]]:
    """Those items of a JSON list that are objects; [] for any other value."""
    return [item for item in images if isinstance(item, dict)] if isinstance(images, list) else []


def texts(value: Any) -> Types:
    """Those members of a JSON object whose values are texts; {} for any other value."""
    return (
        {name: member for name, member in value.items() if isinstance(member, str)}
        if isinstance(value, dict)
        else {}
    )


def names(value: Any) -> tuple[str, ...]:
    """Those items of a JSON list that are texts; () for any other value."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
