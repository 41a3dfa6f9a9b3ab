"""Shows a message's bytes, with the finding's field marked.

For display only, no verdict depends on it: marks may be too wide or missing, but the text is the
message's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

Span: TypeAlias = tuple[int, int]
Path: TypeAlias = tuple[str | int, ...]

SCANNED: Final = 1_000_000
"""Characters that are searched for the field; a message may have 25 million."""
AROUND: Final = 160
"""Characters shown on either side of a mark that is far from the beginning."""
WIDTH: Final = 16
"""Bytes in a line of a hex dump."""
WHOLE: Final = ""
"""The path of a finding about the whole message: nothing is marked."""
MALFORMED: Final = "malformed"
"""The path of a finding about a message that should have been rejected: the text after its JSON
document is marked.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text. `omitted` counts the characters left out here; then the text is empty."""

    text: str
    marked: bool = False
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON text: its path, its key's span (empty in an array) and its own."""

    path: Path
    key: Span
    span: Span
    scalar: bool


_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@dataclass(slots=True)
class _Open:
    """An open container: the path step of its next value and that value's key."""

    path: Path
    key: Span
    start: int
    is_object: bool
    step: str | int | None
    at: Span = (0, 0)
    colon: bool = False

    def next(self) -> None:
        """Moves to the next value, after a comma."""
        self.step = None if self.is_object else (self.step + 1 if isinstance(self.step, int) else 0)
        self.at, self.colon = (0, 0), False


def nodes(text: str) -> Iterator[Node]:
    """Every value of a JSON text, even malformed: duplicate keys come twice, unclosed containers
    end with the text.
    """
    stack: list[_Open] = []
    for match in _TOKEN.finditer(text):
        token, start, end = match[0], match.start(), match.end()
        top = stack[-1] if stack else None
        if token in ("{", "["):
            path, key = _place(top)
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
            top.step, top.at = _unquoted(token), (start, end)
        else:
            path, key = _place(top)
            yield Node(path, key, (start, end), True)
    while stack:
        shut = stack.pop()
        yield Node(shut.path, shut.key, (shut.start, len(text)), False)


def _place(top: _Open | None) -> tuple[Path, Span]:
    return ((*top.path, "" if top.step is None else top.step), top.at) if top else ((), (0, 0))


def _unquoted(token: str) -> str:
    try:
        value = json.loads(token, strict=False)
    except ValueError:
        value = None
    return value if isinstance(value, str) else token.strip('"')


# The formats' names, as their documents spell them, of the places that findings name.
_IMAGES: Final[dict[str, tuple[str, ...]]] = {
    "after": ("after", "data", "newColumns"),
    "before": ("before", "old", "oldColumns"),
}
_TYPES: Final = (
    "schema",
    "mysqlType",
    "sqlType",
    "dbValType",
    "jdbcType",
    "tableSchema",
    "preTableSchema",
)
_NAMES: Final = {
    "database": ("database", "db", "schemaName"),
    "schema": ("schema", "SEG_OWNER", "schemaName"),
    "table": ("table", "tableName", "TABLE_NAME", "collection"),
    "keys": ("pkNames", "pks", "unique", "keyColumns", "isKey"),
    "sql": ("sql", "ddl", "query"),
    "kind": (
        "type",
        "op",
        "action",
        "messageType",
        "OPERATION",
        "isDdl",
        "entryType",
        "message_type",
    ),
    "op": ("type", "op", "action", "messageType", "OPERATION"),
    "commit_time": ("es", "execTs", "commitTs", "timestamp", "TIMESTAMP", "ts_ms"),
    "position": ("commitTs", "position", "lsn", "file", "pos", "fileName", "id"),
    "types": ("mysqlType", "dbValType", "types", "originalType"),
    "schema_version": ("schemaVersion",),
}


def spans(
    text: str, path: str, row: int = 0, side: str = "", column: str | None = None
) -> list[Span]:
    """The spans of a finding's field in a JSON text; none if it is not there."""
    values = list(nodes(text[:SCANNED]))
    if path == MALFORMED:
        return _behind(text, values)
    if side:
        other = "before" if side == "after" else "after"
        if column is None:
            here = _image(values, _IMAGES[side], row)
            rows = [span for span in here if "{" in text[slice(*span)]]
            return _merged(here if rows else [*here, *_image(values, _IMAGES[other], row)])
        for names in (_IMAGES[side], _IMAGES[other]):
            if here := _column(text, values, names, column, row):
                return _merged(here)
        return _merged(node.key for node in values if node.path[-1:] == (column,))
    if path.startswith("row ") or path == "rows":
        return _merged(_image(values, (*_IMAGES["after"], *_IMAGES["before"]), row))
    names = _NAMES.get(path, ())
    hidden = {*_TYPES, *(name for some in _IMAGES.values() for name in some)}
    outside = [
        n for n in values if n.path and n.path[-1] in names and not hidden & set(n.path[:-1])
    ]
    if path == "schema":
        outside = [n for n in outside if n.scalar]
    for name in names:
        here = [(n.key[0], n.span[1]) for n in outside if n.path[-1] == name]
        if here and path not in ("keys", "kind", "types"):
            return _merged(here)
    return _merged((n.key[0], n.span[1]) for n in outside)


def _behind(text: str, values: Sequence[Node]) -> list[Span]:
    """The span after the first document, without white space."""
    end = next((node.span[1] for node in values if not node.path), len(text))
    rest = text[end:]
    start = end + len(rest) - len(rest.lstrip())
    return [(start, start + len(rest.strip()))] if rest.strip() else []


def _image(values: Sequence[Node], names: Sequence[str], row: int) -> list[Span]:
    """The image of that row, else the whole container with its key."""
    held = [n for n in values if not set(_TYPES) & set(n.path)]
    rows = [
        n.span
        for n in held
        if len(n.path) > 1 and n.path[-2] in names and n.path[-1] == row and not n.scalar
    ]
    return rows or [(n.key[0], n.span[1]) for n in held if n.path and n.path[-1] in names]


def _column(
    text: str, values: Sequence[Node], names: Sequence[str], column: str, row: int
) -> list[Span]:
    """The column with its key in `data`, in row `row` of `data`, or by its number where names and
    values are separate.
    """
    by_name = [
        n for n in values if n.path and n.path[-1] == column and not set(_TYPES) & set(n.path[:-1])
    ]
    here = [n for n in by_name if len(n.path) > 2 and n.path[-3] in names and n.path[-2] == row]
    here = here or [n for n in by_name if len(n.path) > 1 and n.path[-2] in names]
    if here:
        return [(n.key[0], n.span[1]) for n in here]
    named = (
        n
        for n in values
        if n.scalar and len(n.path) > 2 and n.path[-1] == "name" and n.path[-3] == "columns"
    )
    numbers = {n.path[-2] for n in named if _unquoted(text[slice(*n.span)]) == column}
    return [
        n.span for n in values if len(n.path) > 1 and n.path[-2] in names and n.path[-1] in numbers
    ]


def _merged(unordered: Iterable[Span]) -> list[Span]:
    """The spans in order, without empty ones; those that touch or overlap are merged."""
    out: list[Span] = []
    for start, end in sorted(unordered):
        if end <= start:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def segments(text: str, marks: Iterable[Span]) -> list[Segment]:
    """The text cut at the marks; the pieces together are the text."""
    out, place = [], 0
    for start, end in _merged(marks):
        start, end = max(place, start), min(end, len(text))
        if start >= end:
            continue
        if start > place:
            out.append(Segment(text[place:start]))
        out.append(Segment(text[start:end], marked=True))
        place = end
    if place < len(text):
        out.append(Segment(text[place:]))
    return out


INDENT: Final = "  "


def formatted(pieces: Sequence[Segment]) -> list[Segment]:
    """JSON text with a line for each member; marks stay. Text that is no JSON gets odd line ends,
    but loses nothing.
    """
    out: list[Segment] = []
    depth, quoted, escaped, opened = 0, False, False, False
    for piece in pieces:
        text: list[str] = []
        for c in piece.text:
            if quoted:
                quoted, escaped = escaped or c != '"', c == "\\" and not escaped
                text.append(c)
                continue
            if c in " \t\r\n":
                continue
            depth -= c in "}]"
            if (opened and c not in "}]") or (not opened and c in "}]"):
                text.append("\n" + INDENT * max(depth, 0))
            opened = c in "{["
            depth += opened
            quoted = c == '"'
            text.append({",": ",\n" + INDENT * max(depth, 0), ":": ": "}.get(c, c))
        out.append(replace(piece, text="".join(text)))
    return out


def clipped(pieces: Sequence[Segment], limit: int) -> list[Segment]:
    """The segments shortened to about `limit` characters: the beginning and the marks' surroundings
    stay.
    """
    total = sum(len(piece.text) for piece in pieces)
    if total <= limit:
        return list(pieces)
    kept: list[Span] = []
    place, left = 0, limit
    for piece in pieces:
        if piece.marked and left > 0:
            size = min(len(piece.text), left)
            low, high = (
                max(0, place - AROUND),
                place + size + (AROUND if size == len(piece.text) else 0),
            )
            kept.append((low, min(high, total)))
            left -= size + 2 * AROUND
        place += len(piece.text)
    head = max(left, 0) if kept else limit
    return list(_cut(pieces, _merged([(0, head), *kept])))


def _cut(pieces: Sequence[Segment], kept: Sequence[Span]) -> Iterator[Segment]:
    place = skipped = 0
    for piece in pieces:
        end, at = place + len(piece.text), place
        for low, high in kept:
            low, high = max(low, place), min(high, end)
            if low >= high:
                continue
            skipped += low - at
            if skipped:
                yield Segment("", omitted=skipped)
                skipped = 0
            yield Segment(piece.text[low - place : high - place], piece.marked)
            at = high
        skipped += end - at
        place = end
    if skipped:
        yield Segment("", omitted=skipped)


@dataclass(frozen=True, slots=True)
class WireText:
    """A message's value ready to show: `form` is null, text or hex, `size` in bytes, `note` what
    the text does not show.
    """

    form: str
    segments: tuple[Segment, ...]
    size: int
    note: str = ""

    @property
    def formatted(self) -> list[Segment]:
        """JSON with a line for each member; [] for what is none."""
        json = self.form == "text" and self.segments[0].text.lstrip()[:1] in ("{", "[")
        return formatted(self.segments) if json else []


def wire(
    value: bytes | None,
    path: str,
    row: int = 0,
    expected: str = "",
    limit: int = 600,
    side: str = "",
    column: str | None = None,
) -> WireText:
    """A message's value with a finding's field marked. JSON that is not UTF-8 has these bytes
    escaped; a binary value is dumped, with the column's name and the expected text marked.
    """
    if not value:
        return WireText(
            "null", (Segment("no value: NULL" if value is None else "an empty value: 0 bytes"),), 0
        )
    text, note = _text(value)
    if text is None:
        text, marks = dump(value, _needles(column, expected), max(limit // 4, WIDTH))
        left = len(value) - text.count("\n") * WIDTH
        note = (
            f"the first {len(value) - left:,} of {len(value):,} bytes"
            if left > 0
            else f"{len(value):,} bytes"
        )
        return WireText("hex", tuple(segments(text, marks)), len(value), note)
    pieces = clipped(segments(text, spans(text, path, row, side, column)), limit)
    if any(piece.omitted for piece in pieces):
        note = "; ".join(filter(None, (note, f"shortened; {len(value):,} bytes in all")))
    return WireText("text", tuple(pieces), len(value), note)


def _text(value: bytes) -> tuple[str | None, str]:
    """The value as text, and a note; None if a hex dump shows more."""
    like_json = value[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return (
            (value.decode("utf-8", "backslashreplace"), "not UTF-8: such bytes are shown as \\xNN")
            if like_json
            else (None, "")
        )
    if not like_json and any(c < " " and c not in "\t\r\n" for c in text[:4096]):
        return None, ""
    return text, ""


def _needles(column: str | None, expected: str) -> list[bytes]:
    words = [expected, expected.rpartition(" (")[0].strip("'\""), column or ""]
    encoded = (word.encode("utf-8", "replace") for word in words)
    return [word for word in encoded if len(word) > 1]


def dump(value: bytes, needles: Sequence[bytes], limit: int) -> tuple[str, list[Span]]:
    """Whole lines of offset, hex and ASCII, about `limit` bytes; and the spans of the needles in
    them.
    """
    shown = value[: -(-limit // WIDTH) * WIDTH]
    hit: set[int] = set()
    for needle in needles:
        place = shown.find(needle)
        while place >= 0:
            hit.update(range(place, place + len(needle)))
            place = shown.find(needle, place + 1)
    parts: list[str] = []
    marks: list[Span] = []
    size = 0
    for start in range(0, len(shown), WIDTH):
        line = shown[start : start + WIDTH]
        head = f"{start:06x}  "
        letters = "".join(chr(b) if 32 <= b < 127 else "." for b in line)
        text = f"{head}{' '.join(f'{b:02x}' for b in line):<{WIDTH * 3}} {letters}\n"
        for i in range(len(line)):
            if start + i in hit:
                pair = size + len(head) + 3 * i
                letter = size + len(head) + 3 * WIDTH + 1 + i
                marks += [
                    (pair, pair + 2 + (i + 1 < len(line) and start + i + 1 in hit)),
                    (letter, letter + 1),
                ]
        parts.append(text)
        size += len(text)
    return "".join(parts), marks
