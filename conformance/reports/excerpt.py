"""The excerpt of a message: the bytes that a finding is about, short enough to read, with the
guilty field marked. Every report shows messages through this module.
"""

from __future__ import annotations

import enum
import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from conformance.judging.findings import DECODING, Finding
from conformance.judging.results import Failure
from conformance.judging.wording import of_type
from conformance.reports.json_faults import find_json_fault
from conformance.reports.wire import (
    CONNECT_SCHEMA,
    MALFORMED,
    ROWS,
    SCANNED,
    WHOLE,
    Node,
    Segment,
    Span,
    clip_segments,
    cut_at_marks,
    find_connect_schema,
    find_field,
    format_json,
    nodes,
)
from conformance.rules.rules import Aspect
from conformance.text import printable
from generators.families import confluent
from generators.garbage.wellformed import physical
from generators.model import Case, Cell
from generators.wire_format import FORMATS, Codec, Format, Members, get

LONGEST_HEAD: Final = 16
"""How many bytes stand at most before the JSON text of a frame (a document behind a binary head).
"""
SHOWN: Final = 600
"""How many characters of a message are shown where its failure is shown in full; the crash file
holds all.
"""
BRIEF: Final = 300
"""How many characters are shown of the message of a mistake, and of its expected and actual value.
"""
NO_VALUE: Final = "no value: NULL"
"""Stands in place of a value that is NULL."""
EMPTY_VALUE: Final = "an empty value: 0 bytes"
"""Stands in place of a value without bytes."""

# The bytes before a frame's JSON text begin with a zero: a length, or a magic byte and an id.
_FRAME_HEAD: Final = re.compile(rb"\x00[^{]{0,%d}(?=\{)" % (LONGEST_HEAD - 1), re.DOTALL)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Control characters, which no text has, except for tabs and line ends."""


class Form(enum.StrEnum):
    """How the bytes of a key or value are shown: as no value, as text, as JSON texts behind binary
    heads (frames), or as escaped bytes.
    """

    NULL = "null"
    TEXT = "text"
    FRAMES = "frames"
    BYTES = "bytes"


_PATHS: Final = {
    Aspect.ACCEPTED: MALFORMED,
    Aspect.CORRUPT: WHOLE,
    Aspect.MISSING: ROWS,
    Aspect.EXTRA: ROWS,
}
"""The path that is marked for a finding on a row or a message as a whole, by the finding's aspect.
"""


def _spell_owed(expected: Any) -> tuple[str, ...]:
    """The texts in which a message may hold the value that a finding expected (a cell, or the text
    of an envelope field), so that the place can be marked; () if none is known.
    """
    if not isinstance(expected, Cell):
        return (expected,) if isinstance(expected, str) else ()
    value = (
        expected.value
        if isinstance(expected.value, str)
        else of_type(expected.type, expected.value)
    )
    return tuple(filter(None, (expected.text, value)))


class Field(NamedTuple):
    """The field of a message to mark for a finding: its `path`, and for a cell the row, the image
    and the column. `texts` are the ways in which binary data may spell the expected value,
    `members` the names of the members of the format's messages.
    """

    path: str = WHOLE
    row: int = 0
    side: str = ""
    column: str | None = None
    texts: tuple[str, ...] = ()
    members: Members | None = None

    @classmethod
    def of_finding(cls, finding: Finding, members: Members | None = None) -> Field:
        """The field that an excerpt marks for a finding. For a message that should have been
        refused it is the text behind its JSON document; for one that was refused wrongly it is the
        whole message. `members` are the names of the format's members, None for those of all
        formats.
        """
        path = _PATHS.get(finding.aspect, finding.path)
        if finding.path == DECODING:
            path = finding.path
        return cls(
            finding.path if finding.column else path,
            finding.row,
            finding.side,
            finding.column,
            _spell_owed(finding.owed),
            members,
        )


@dataclass(frozen=True, slots=True)
class ValueExcerpt:
    """A key or value as reports show it: the pieces of its text, its `size` in bytes, and a `note`
    on what the pieces do not show.
    """

    form: Form
    segments: tuple[Segment, ...]
    size: int
    note: str = ""

    @property
    def formatted(self) -> list[Segment]:
        """The excerpt as lines, a line for each member of its JSON; [] if it is no JSON."""
        is_json = self.form is Form.TEXT and self.segments[0].text.lstrip()[:1] in ("{", "[")
        return format_json(self.segments) if is_json else []

    @property
    def plain(self) -> str:
        """The excerpt as one printable text, with words in place of what is left out."""
        return "".join(
            segment.gap if segment.omitted else printable(segment.text) for segment in self.segments
        )


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message as reports show it. `key` is None where the record has none; `key_matters` says
    whether the finding cannot be understood without it.
    """

    value: ValueExcerpt
    key: ValueExcerpt | None = None
    key_matters: bool = False


class _Reading(NamedTuple):
    """The text as which bytes are shown; `documents` are the spans of its JSON texts, () for binary
    data. `note` says how the text was made where it is not what the bytes say.
    """

    form: Form
    text: str
    documents: tuple[Span, ...]
    note: str = ""


def excerpt_failure(failure: Failure, limit: int) -> Excerpt:
    """An excerpt of about `limit` characters of the message of a failure, with the wrong field
    marked.
    """
    finding, case = failure.finding, failure.result.case
    message = case.written[finding.message].message
    members = get(case.format).members if case.format in FORMATS else None
    field = Field.of_finding(finding, members)
    is_spoiled = finding.aspect in (Aspect.ACCEPTED, Aspect.CORRUPT) and not finding.column
    value_document = None if is_spoiled else _document_text(message.value, case)
    key_document = _document_text(message.key, case)
    return excerpt_record(message.key, message.value, field, limit, key_document, value_document)


def excerpt_record(
    key: bytes | None,
    value: bytes | None,
    field: Field,
    limit: int,
    key_document: DocumentText | None = None,
    value_document: DocumentText | None = None,
) -> Excerpt:
    """An excerpt of about `limit` characters of a record, with the finding's field marked.
    `key_document` and `value_document` are what a binary key or value was decoded as, None if it is
    text or could not be decoded.
    """
    shown_value = excerpt_value(value, field, limit, value_document)
    if not key:
        return Excerpt(shown_value)
    shown_key = excerpt_value(key, field, limit, key_document, is_key=True)
    is_in_value = any(segment.marked for segment in shown_value.segments)
    is_in_key = any(segment.marked for segment in shown_key.segments)
    key_matters = not value or (is_in_key and not is_in_value)
    return Excerpt(shown_value, shown_key, key_matters)


def excerpt_value(
    value: bytes | None,
    field: Field = Field(),  # noqa: B008 - a tuple
    limit: int = SHOWN,
    document: DocumentText | None = None,
    *,
    is_key: bool = False,
) -> ValueExcerpt:
    """A key or value as a report shows it, in about `limit` characters, with the field of a finding
    marked. Words stand in place of no value (None) and of an empty one. `is_key` says that the
    bytes are a record's key, of which only columns are marked.

    Bytes that are no text are escaped; the bytes before a frame's JSON stand in brackets, as hex;
    Kafka Connect's schema is left out. Binary data is shown as `document`, what it was decoded as.
    If that is None, the column's name and the expected text are marked in the escaped bytes.
    """
    if not value:
        words = NO_VALUE if value is None else EMPTY_VALUE
        return ValueExcerpt(Form.NULL, (Segment(words),), 0)
    reading = _read(value, document)
    if reading.form is Form.BYTES:
        marks = _find_words(reading.text, field)
    else:
        marks = _find_key_marks(reading, field) if is_key else _find_marks(reading, field)
    schema = find_connect_schema(reading.text) if len(reading.documents) == 1 else None
    if schema and any(low < schema[1] and high > schema[0] for low, high in marks):
        schema = None
    pieces = clip_segments(cut_at_marks(reading.text, marks), limit, schema)
    is_shortened = any(piece.omitted and piece.label != CONNECT_SCHEMA for piece in pieces)
    size_note = f"shortened; {len(value):,} bytes in all" if is_shortened else ""
    note = "; ".join(filter(None, (reading.note, size_note)))
    return ValueExcerpt(reading.form, tuple(pieces), len(value), note)


def _read(value: bytes, document: DocumentText | None) -> _Reading:
    """The key or value as the text from which an excerpt is cut: `document`, if it was decoded;
    else the text of frames, plain text, or escaped bytes.
    """
    if document is not None:
        return _Reading(
            Form.TEXT, document.json_text, ((0, len(document.json_text)),), document.note
        )
    frames = _read_frames(value) if _FRAME_HEAD.match(value) else None
    return frames or _read_text(value) or _Reading(Form.BYTES, _escape_bytes(value), (), _BINARY)


def _read_text(value: bytes) -> _Reading | None:
    """The key or value as text; None for binary data. Bytes that are not UTF-8 are escaped if the
    data looks like JSON, else the data is binary.
    """
    is_like_json = value[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    note = ""
    try:
        decoded_text = value.decode("utf-8")
    except UnicodeDecodeError:
        if not is_like_json:
            return None
        decoded_text, note = value.decode("utf-8", "backslashreplace"), _NO_UTF8
    if not is_like_json and _CONTROL.search(decoded_text[:4096]):
        return None
    return _Reading(Form.TEXT, decoded_text, ((0, len(decoded_text)),), note)


_BINARY: Final = "binary: what is no text as \\xNN"
"""The note on binary data."""
_NO_UTF8: Final = "not UTF-8: such bytes are shown as \\xNN"
"""The note on text with bytes that are not UTF-8."""


def _read_frames(value: bytes) -> _Reading | None:
    """The text of a value that is several JSON texts, each behind a binary head (a frame): heads
    stand in brackets, as hex. None if what lies between the heads is binary data.
    """
    parts: list[str] = []
    documents: list[Span] = []
    size, is_text = 0, True
    heads = [match.span() for match in _FRAME_HEAD.finditer(value)]
    ends = [start for start, _ in heads[1:]] + [len(value)]
    for (start, end), document_end in zip(heads, ends, strict=True):
        document_bytes = value[end:document_end]
        document = document_bytes.decode("utf-8", "backslashreplace")
        is_text = is_text and document.encode() == document_bytes
        if _CONTROL.search(document[:4096]):
            return None
        head = f"[{value[start:end].hex(' ')}]"
        place = size + len(head)
        size = place + len(document)
        parts += [head, document]
        documents.append((place, size))
    note = "bytes before JSON in brackets, as hex" + ("" if is_text else f"; {_NO_UTF8}")
    return _Reading(Form.FRAMES, "".join(parts), tuple(documents), note)


def _find_marks(reading: _Reading, field: Field) -> list[Span]:
    """The spans of the text to mark for the finding's field. If the value is several frames (JSON
    texts with a binary head each), each frame is a row of the message. A malformed message is
    marked where its JSON breaks off.
    """
    documents, row_number = reading.documents, field.row
    if len(documents) > 1 and row_number < len(documents):
        documents, row_number = (documents[row_number],), 0
    marks: list[Span] = []
    for start, end in documents:
        document = reading.text[start:end]
        spans = find_field(
            document, field.path, row_number, field.side, field.column, field.members
        )
        if not spans and field.path in (MALFORMED, WHOLE):
            spans = find_first_fault(document)
        marks += [(start + low, start + high) for low, high in spans]
    return marks


def _find_key_marks(reading: _Reading, field: Field) -> list[Span]:
    """The spans of a record's key to mark: the finding's column, or all columns if the finding is
    on the field `keys`; [] for other findings.
    """
    if not (field.column or field.path == "keys"):
        return []
    marks: list[Span] = []
    for start, end in reading.documents:
        columns = _key_columns(reading.text[start:end][:SCANNED])
        if field.column:
            columns = [column for column in columns if column.name == field.column]
        for column in columns:
            marks.append((start + column.node.key[0], start + column.node.span[1]))
    return marks


class _KeyColumn(NamedTuple):
    """A column in a record's key: its name, and the JSON value that stands under it."""

    name: str
    node: Node


def _key_columns(key_text: str) -> list[_KeyColumn]:
    """The columns in a record's key, a JSON text. They are the members of Kafka Connect's
    `payload`; without one, the members named `pk.COLUMN` (as Maxwell writes them); without these,
    all members at the top, but none if some of them are a table's name (`_TABLE_NAMES`): such a key
    tells the table and not the row.
    """
    values = [node for node in nodes(key_text) if node.path]
    in_payload = [node for node in values if node.path[:-1] == ("payload",)]
    if in_payload:
        return [_KeyColumn(str(node.path[-1]), node) for node in in_payload]
    members = [node for node in values if len(node.path) == 1]
    columns = [_KeyColumn(str(node.path[0]), node) for node in members]
    prefixed = [column for column in columns if column.name.startswith("pk.")]
    if prefixed:
        return [_KeyColumn(column.name.removeprefix("pk."), column.node) for column in prefixed]
    names = {column.name for column in columns}
    names_table = any(table_names <= names for table_names in _TABLE_NAMES)
    return [] if names_table else columns


_TABLE_NAMES: Final = (frozenset(("database", "table")), frozenset(("scm", "tbl")))
"""Members by which a key names its table: Maxwell's, and those of TiCDC's Open Protocol."""


def find_first_fault(json_text: str) -> list[Span]:
    """Where a text stops being JSON, after byte order marks; nothing for JSON, for the beginning of
    a JSON text that is cut, and for a text too long to look at.
    """
    if len(json_text) > SCANNED:
        return []
    start = len(json_text) - len(json_text.lstrip("\ufeff"))
    fault = find_json_fault(json_text[start:])
    return [] if fault is None else [(start + fault.start, start + fault.end)]


class DocumentText(NamedTuple):
    """A message of a binary container as JSON text, and the words that say how it was decoded."""

    json_text: str
    note: str


def _document_text(data: bytes | None, case: Case) -> DocumentText | None:
    """A key or value in a binary container as JSON text, with a note for readers: Protobuf read by
    the format's codec, Avro by the schema with which the writer of the case wrote it. None for data
    that is neither, or of an unknown format.
    """
    if not data or case.format not in FORMATS:
        return None
    fmt = get(case.format)
    if fmt.codec is not None:
        json_text, note = _read_by_codec(data, fmt.codec), "Protobuf, by the names of its fields"
    else:
        json_text, note = _avro_text(data, case, fmt), "Avro, as its schema reads it"
    return None if json_text is None else DocumentText(json_text, note)


def _avro_text(data: bytes, case: Case, fmt: Format[Any]) -> str | None:
    """Avro data as JSON text, by the schema with which the writer of the case wrote it; None for
    data that is no such Avro.
    """
    if fmt.container == "confluent":
        return _read_registered(data)
    if fmt.container != "avro":
        return None
    profile = next(
        (candidate for candidate in fmt.profiles if candidate.name == case.profile), None
    )
    return None if profile is None else _read_by_first_schema(data, fmt.schemas(profile))


def _read_by_codec(data: bytes, codec: Codec) -> str | None:
    """The document of a value as JSON text, read by the format's codec (such as Protobuf); None for
    a value that the codec cannot read.
    """
    try:
        document = codec.read(data)
    except ValueError:
        return None
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=_hex_text)


def _read_registered(data: bytes) -> str | None:
    """Avro data that begins with the number of a registered schema (Confluent's framing) as JSON
    text; None if it does not begin so, or if no writer of this process has registered that schema.
    """
    # SCHEMAS has for each number the subjects of the schema and its text.
    number = int.from_bytes(data[len(confluent.MAGIC) : confluent.HEAD])
    if data[: len(confluent.MAGIC)] != confluent.MAGIC or number not in confluent.SCHEMAS:
        return None
    schema = json.loads(confluent.SCHEMAS[number][1])
    return _read_by_first_schema(data[confluent.HEAD :], (schema,))


def _read_by_first_schema(data: bytes, schemas: Sequence[Any]) -> str | None:
    """An Avro datum as JSON text, by the first of the schemas that reads it to its last byte; None
    if none does.
    """
    import fastavro

    for schema in schemas:
        source = io.BytesIO(data)
        try:
            datum = fastavro.schemaless_reader(
                source, fastavro.parse_schema(physical(schema)), None
            )
        # The library raises any exception on bytes that are no Avro.
        except Exception:  # noqa: BLE001, S112
            continue
        if source.tell() == len(data):
            return json.dumps(datum, ensure_ascii=False, separators=(",", ":"), default=_hex_text)
    return None


def _hex_text(data: bytes) -> str:
    """Bytes in a decoded document as text, such as 0x00ff."""
    return f"0x{data.hex()}"


def _escape_bytes(value: bytes) -> str:
    """Binary data as text: a byte that is no UTF-8, or a control character other than a tab or a
    line end, as \\xNN; each back-slash doubled.
    """
    escaped = value.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", escaped)


def _find_words(escaped_text: str, field: Field) -> list[Span]:
    """The spans of escaped binary data that hold the name of the finding's column, or the expected
    value as a text. Words of one character are not looked for: they would be everywhere.
    """
    spans: list[Span] = []
    for word in (*field.texts, field.column or ""):
        if len(word) > 1:
            escaped_word = _escape_bytes(word.encode(errors="replace"))
            spans += [match.span() for match in re.finditer(re.escape(escaped_word), escaped_text)]
    return spans
