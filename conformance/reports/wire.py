"""Finds a finding's field in the text of a message, and shortens the text around it.

For display only, no verdict depends on it: marks may be too wide or missing, but the text is the
message's.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeAlias

from generators.wire_format import FORMATS, Members, get

Span: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[str | int, ...]

SHORTEST_GAP: Final = 30
"""How many characters are left out at least: the words in place of a gap take as many."""
BEGINNING: Final = 12
"""How many characters at the beginning of a message are always shown."""
CONNECT_SCHEMA: Final = "Connect's schema"
"""The label of Kafka Connect's schema block, which is left out of an excerpt."""
SHORTEST_LEFT_OUT: Final = 80
"""How many characters a schema block must have to be left out."""
SCANNED: Final = 1_000_000
"""How many characters of a message are searched for a field; a message may have 25 million."""
AROUND: Final = 160
"""Characters shown on either side of a mark that is far from the beginning."""
WHOLE: Final = ""
"""The path of a finding about the whole message: nothing is marked."""
ROWS: Final = "rows"
"""The path of what is wrong with a whole row of a message."""
MALFORMED: Final = "malformed"
"""The path of a finding about a message that should have been rejected: the text after its JSON
document is marked.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text. `omitted` counts the characters left out here; then the text is empty, and
    `label` may say what they are.
    """

    text: str
    marked: bool = False
    omitted: int = 0
    label: str = ""

    @property
    def gap(self) -> str:
        """The words that stand in place of the characters that are left out here."""
        what = f"{self.label}, " if self.label else ""
        return f"... ({what}{self.omitted:,} characters) ..."


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a JSON text: its path from the root (names and indexes), the span of its key
    (empty in an array) and its own span. `scalar`: it is no object or array.
    """

    path: Path
    key: Span
    span: Span
    scalar: bool


_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
"""A token of JSON: a string, which may lack its closing quote, a bracket or separator, or anything
else up to the next of these.
"""


@dataclass(slots=True)
class _Open:
    """An object or array whose end is not scanned yet. `path`, `key` and `start` are its own;
    `step` is the name or index of its next value, `at` the span of that name. `colon`: the colon
    behind the name was scanned.
    """

    path: Path
    key: Span
    start: int
    is_object: bool
    step: str | int | None
    at: Span = (0, 0)
    colon: bool = False

    def next(self) -> None:
        """Called at a comma inside this open JSON array or object: prepares for its next value, by
        the next index or, in an object, a new member name.
        """
        self.step = None if self.is_object else (self.step + 1 if isinstance(self.step, int) else 0)
        self.at, self.colon = (0, 0), False


def nodes(json_text: str) -> Iterator[Node]:
    """Scans a JSON text, which may be malformed, and yields every value with its path and its place
    in the text. A repeated key comes twice; a container that is not closed ends with the text.
    """
    stack: list[_Open] = []
    for match in _TOKEN.finditer(json_text):
        token, start, end = match[0], match.start(), match.end()
        top = stack[-1] if stack else None
        if token in ("{", "["):
            path, key = _place_of_value(top)
            stack.append(_Open(path, key, start, token == "{", None if token == "{" else 0))
        elif token in ("}", "]"):
            if stack:
                shut = stack.pop()
                yield Node(shut.path, shut.key, (shut.start, end), False)
        elif token == ",":
            if top:
                top.next()
        elif token == ":":
            if top:
                top.colon = True
        elif top and top.is_object and not top.colon:
            top.step, top.at = _unquote(token), (start, end)
        else:
            path, key = _place_of_value(top)
            yield Node(path, key, (start, end), True)
    while stack:
        shut = stack.pop()
        yield Node(shut.path, shut.key, (shut.start, len(json_text)), False)


def _place_of_value(top: _Open | None) -> tuple[Path, Span]:
    """The path of the next value in the innermost open object or array (`top`), and the span of the
    member name before it; an empty path and span at the root, where `top` is None.
    """
    if top is None:
        return (), (0, 0)
    return (*top.path, "" if top.step is None else top.step), top.at


def _unquote(token: str) -> str:
    """The text that a JSON string token (a name of a member) stands for; a token that is no legal
    string is returned without its quotes.
    """
    try:
        value = json.loads(token, strict=False)
    except ValueError:
        value = None
    return value if isinstance(value, str) else token.strip('"')


_COLUMN_LISTS: Final = ("columns", "fields")
"""Members that name the columns in order, where an image holds values alone."""
_TYPES: Final = (
    "schema",
    "mysqlType",
    "sqlType",
    "dbValType",
    "jdbcType",
    "tableSchema",
    "preTableSchema",
)
"""Members that hold types under the columns' names, not values."""
_SEVERAL: Final = ("keys", "kind", "types")
"""Fields of a row for which a message may have several members, of which all are marked."""


@cache
def all_members() -> Members:
    """The member names of all formats together, for a message whose format is not known. A name
    that some format uses for the row after the change does not count for the row before.
    """
    members_of_formats = [get(name).members for name in FORMATS]
    names_by_field: dict[str, tuple[str, ...]] = {}
    for field in dataclasses.fields(Members):
        names: dict[str, None] = {}
        for members in members_of_formats:
            names |= dict.fromkeys(members.names_of_field(field.name))
        names_by_field[field.name] = tuple(names)
    # Flink's sinks have both images under the name that other formats give the row after alone.
    new_images = set(names_by_field["after"])
    names_by_field["before"] = tuple(
        name for name in names_by_field["before"] if name not in new_images
    )
    return Members(**names_by_field)


def find_field(
    json_text: str,
    path: str,
    row_number: int = 0,
    side: str = "",
    column: str | None = None,
    members: Members | None = None,
) -> list[Span]:
    """Where the field of a finding (column, image or envelope member) stands in a JSON message, as
    (start, end) pairs; [] if it is not there. `members` are those of the message's format.
    """
    values = list(nodes(json_text[:SCANNED]))
    members = members or all_members()
    images = {"after": members.after, "before": members.before}
    if path == MALFORMED:
        return _find_text_behind(json_text, values)
    if side:
        other_side = "before" if side == "after" else "after"
        if column is None:
            image_spans = _find_image(values, images[side], row_number)
            spans_of_objects = [span for span in image_spans if "{" in json_text[slice(*span)]]
            return _merge_spans(
                image_spans
                if spans_of_objects
                else [*image_spans, *_find_image(values, images[other_side], row_number)]
            )
        for names in (images[side], images[other_side]):
            if spans := _find_column(json_text, values, names, column, row_number):
                return _merge_spans(spans)
        return _merge_spans(node.key for node in values if node.path[-1:] == (column,))
    if path == ROWS:
        return _merge_spans(_find_image(values, (*members.after, *members.before), row_number))
    names = members.names_of_field(path)
    hidden = {*_TYPES, *members.after, *members.before}
    outside = [
        n for n in values if n.path and n.path[-1] in names and not hidden & set(n.path[:-1])
    ]
    if not outside:  # a list of columns may tell a field of each, as `isKey`
        outside = [n for n in values if n.path and n.path[-1] in names and n.scalar]
    if path == "schema":
        outside = [n for n in outside if n.scalar]
    for name in names:
        spans = [(n.key[0], n.span[1]) for n in outside if n.path[-1] == name]
        if spans and path not in _SEVERAL:
            return _merge_spans(spans)
    return _merge_spans((n.key[0], n.span[1]) for n in outside)


def _find_text_behind(json_text: str, values: Sequence[Node]) -> list[Span]:
    """The span of the text behind the first JSON document of a message, without white space around
    it; [] if there is none. `values` are the values in the message.
    """
    end = next((node.span[1] for node in values if not node.path), len(json_text))
    tail = json_text[end:]
    start = end + len(tail) - len(tail.lstrip())
    return [(start, start + len(tail.strip()))] if tail.strip() else []


def _find_image(values: Sequence[Node], names: Sequence[str], row_number: int) -> list[Span]:
    """The spans of a row's image (its values before or after the change), which stands under one of
    `names`. If the message does not number its rows, every such member as a whole.
    """
    outside_types = [n for n in values if not set(_TYPES) & set(n.path)]
    images_in_rows = [
        (n.key[0], n.span[1])
        for n in outside_types
        if _is_image(n.path, names) and n.path[-2:-1] == (row_number,)
    ]
    if images_in_rows:
        return images_in_rows
    row_spans = [
        n.span
        for n in outside_types
        if _is_image(n.path[:-1], names) and n.path[-1] == row_number and not n.scalar
    ]
    return row_spans or [(n.key[0], n.span[1]) for n in outside_types if _is_image(n.path, names)]


def _is_image(path: Path, names: Sequence[str]) -> bool:
    """Whether the path leads to an image, that is ends with one of `names`. A name of one letter,
    which a column may have too, counts at the root alone.
    """
    if not path or path[-1] not in names:
        return False
    return len(str(path[-1])) > 1 or len(path) == 1


def _find_column(
    json_text: str, values: Sequence[Node], names: Sequence[str], column: str, row_number: int
) -> list[Span]:
    """The spans of a column in the images under `names`, each from its name on: in the row of that
    number if rows are numbered. If names and values of columns stand apart, the value at the
    column's index.
    """
    by_name = [
        n for n in values if n.path and n.path[-1] == column and not set(_TYPES) & set(n.path[:-1])
    ]
    cells = [n for n in by_name if _is_image(n.path[:-2], names) and n.path[-2] == row_number]
    cells = cells or [n for n in by_name if _is_image(n.path[:-1], names)]
    if cells:
        return [(n.key[0], n.span[1]) for n in cells]
    column_names = (
        n
        for n in values
        if n.scalar and len(n.path) > 2 and n.path[-1] == "name" and n.path[-3] in _COLUMN_LISTS
    )
    numbers = {n.path[-2] for n in column_names if _unquote(json_text[slice(*n.span)]) == column}
    if numbers:
        return [n.span for n in values if _is_image(n.path[:-1], names) and n.path[-1] in numbers]
    return _find_named_column(json_text, values, names, column, row_number)


def _find_named_column(
    json_text: str, values: Sequence[Node], names: Sequence[str], column: str, row_number: int
) -> list[Span]:
    """Where a column stands in images that are lists of columns, each an object with its `name`: in
    the row of that number, or in every row, if the rows of that number do not have it.
    """
    objects = {
        n.path[:-1]
        for n in values
        if n.path[-1:] == ("name",)
        and _is_image(n.path[:-2], names)
        and _unquote(json_text[slice(*n.span)]) == column
    }
    in_row = {path for path in objects if path[-3:-2] == (row_number,)}
    return [n.span for n in values if n.path in (in_row or objects)]


def _merge_spans(unordered: Iterable[Span]) -> list[Span]:
    """The spans in order, without empty ones; spans that touch or overlap become one."""
    merged: list[Span] = []
    for start, end in sorted(unordered):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def cut_at_marks(message_text: str, marks: Iterable[Span]) -> list[Segment]:
    """Cuts a text into pieces at the ends of the marks; each piece is either marked or not."""
    out, place = [], 0
    for start, end in _merge_spans(marks):
        start, end = max(place, start), min(end, len(message_text))
        if start >= end:
            continue
        if start > place:
            out.append(Segment(message_text[place:start]))
        out.append(Segment(message_text[start:end], marked=True))
        place = end
    if place < len(message_text):
        out.append(Segment(message_text[place:]))
    return out


INDENT: Final = "  "
"""The indentation of a level of nested JSON."""


def format_json(pieces: Sequence[Segment]) -> list[Segment]:
    """JSON text laid out with a line for each member; marks stay on their characters. Text that is
    no JSON gets odd line ends, but loses nothing.
    """
    out: list[Segment] = []
    # `opened`: the last character but for white space opened an object or array. The line end after
    # it waits for the next one, since `{}` and `[]` stay in one line.
    depth, in_string, escaped, opened = 0, False, False, False
    for piece in pieces:
        formatted: list[str] = []
        for c in piece.text:
            if in_string:
                in_string, escaped = escaped or c != '"', c == "\\" and not escaped
                formatted.append(c)
                continue
            if c in " \t\r\n":
                continue
            depth -= c in "}]"
            if (opened and c not in "}]") or (not opened and c in "}]"):
                formatted.append("\n" + INDENT * max(depth, 0))
            opened = c in "{["
            depth += opened
            in_string = c == '"'
            formatted.append({",": ",\n" + INDENT * max(depth, 0), ":": ": "}.get(c, c))
        out.append(replace(piece, text="".join(formatted)))
    return out


def find_connect_schema(json_text: str) -> Span | None:
    """The span of the schema in a message of Kafka Connect, `{"schema":...,"payload":...}`; None
    where there is none, or one that is too short to leave out.
    """
    members = {node.path: node.span for node in nodes(json_text[:SCANNED]) if len(node.path) == 1}
    start, end = members.get(("schema",), (0, 0))
    is_long = end - start >= SHORTEST_LEFT_OUT
    return (start, end) if is_long and ("payload",) in members else None


def clip_segments(
    pieces: Sequence[Segment], limit: int, left_out: Span | None = None
) -> list[Segment]:
    """Shortens the pieces of a message to about `limit` characters: its beginning and what
    surrounds the marked pieces stay. `left_out` is the span of Kafka Connect's schema, which is
    never shown and does not count; None without one.
    """
    total = sum(len(piece.text) for piece in pieces)
    low_hidden, high_hidden = left_out or (0, 0)
    if total - (high_hidden - low_hidden) <= limit:
        return list(_cut(pieces, _subtract([(0, total)], left_out), left_out))
    visible: list[Span] = []
    place, remaining, around = 0, limit, min(AROUND, limit // 3)
    for piece in pieces:
        if piece.marked and remaining > 0:
            size = min(len(piece.text), remaining)
            margin = around if size == len(piece.text) else 0
            visible.append((max(0, place - around), min(place + size + margin, total)))
            remaining -= size + 2 * around
        place += len(piece.text)
    head = max(remaining, BEGINNING) if visible else limit
    if head > low_hidden:
        head += high_hidden - low_hidden
    visible = _close_gaps(_merge_spans([(0, head), *visible]), total)
    return list(_cut(pieces, _subtract(visible, left_out), left_out))


def _close_gaps(visible: Sequence[Span], total: int) -> list[Span]:
    """The visible spans of a text of `total` characters; neighbours become one if the gap between
    them is shorter than the words that would stand in its place.
    """
    out: list[Span] = []
    for low, high in (*visible, (total, total)):
        if out and low - out[-1][1] < SHORTEST_GAP:
            out[-1] = (out[-1][0], high)
        elif low < high:
            out.append((low, high))
    return out


def _subtract(spans: Sequence[Span], hidden: Span | None) -> list[Span]:
    """The spans without what lies within the span `hidden`; all of them if that is None."""
    if hidden is None:
        return list(spans)
    low_hidden, high_hidden = hidden
    parts: list[Span] = []
    for low, high in spans:
        parts += [(low, min(high, low_hidden)), (max(low, high_hidden), high)]
    return [(low, high) for low, high in parts if low < high]


def _cut(
    pieces: Sequence[Segment], visible: Sequence[Span], hidden: Span | None
) -> Iterator[Segment]:
    """The pieces of a message cut down to the visible spans, and between them a piece that says how
    many characters are left out. `hidden` is the span of Kafka Connect's schema, None if there is
    none.
    """
    shown_until = place = 0
    for piece in pieces:
        end = place + len(piece.text)
        for low, high in visible:
            low, high = max(low, place), min(high, end)
            if low >= high:
                continue
            if low > shown_until:
                yield _gap(shown_until, low, hidden)
            yield Segment(piece.text[low - place : high - place], piece.marked)
            shown_until = high
        place = end
    if place > shown_until:
        yield _gap(shown_until, place, hidden)


def _gap(low: int, high: int, hidden: Span | None) -> Segment:
    """The piece that stands in place of the characters from `low` to `high`; its label says whether
    the schema in the span `hidden` is among them.
    """
    label = ""
    if hidden is not None and low <= hidden[0] and hidden[1] <= high:
        label = CONNECT_SCHEMA if (low, high) == hidden else f"{CONNECT_SCHEMA} and more"
    return Segment("", omitted=high - low, label=label)
