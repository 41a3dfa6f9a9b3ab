"""Lines of the decoder protocol (docs/any-language.md, protocol.schema.json): writes records,
checks answers.

Output is pure ASCII, so that no locale, and no reader that ends a line at U+2028, can spoil it.
Input may be any UTF-8. The checks follow the schema by hand: a JSON Schema validator would cost
more than the decoding.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import pyarrow as pa

from conformance.engines._command_cells import Cells, spark_type_by_column
from conformance.engines._command_process import ProtocolBreak, shorten_line
from conformance.engines.engine import DecodeRaised, Loaded
from conformance.judging.capabilities import CONVENTIONS, Capabilities
from conformance.judging.output import WRONG_CELLS, Place
from generators.errors import UsageError
from generators.model import Deployment, Kind, Op, Table
from generators.storage import codec
from generators.storage.jsonform import kind_of, to_line

VERSION: Final = 1
"""The version of the decoder protocol that this release speaks."""
OPTIONAL: Final = ("position", "commit_time_us", "types", "schema_version")
"""Fields of a change that are judged only if the decoder's `started` line (its first one) lists
them under `returns`.
"""

LISTED_LIMIT: Final = 8
"""Limit of records that an error text names."""

_STARTED: Final = frozenset(
    {
        "type",
        "cdc",
        "name",
        "language",
        "version",
        "levels",
        "returns",
        "bytes",
        "labels",
        "tables",
        "capabilities",
    }
)
"""The members that a decoder's `started` line may have."""
_KINDS: Final = frozenset(kind.value for kind in Kind)
_OPS: Final = frozenset(op.value for op in Op)
_DIGITS: Final = re.compile("-?[0-9]{1,20}")
"""The text of an integer that may fit into 64 bits."""
_json_text = json.JSONEncoder().encode


@dataclass(frozen=True, slots=True)
class LineRecord:
    """A record of Kafka that is sent to a decoder as a line; `timestamp_ms` and `timestamp_type`
    are as in Kafka. `_lines` remembers the JSON behind the sequence number, by whether it has
    base64 alone.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    _lines: dict[bool, bytes] = field(default_factory=dict, repr=False, compare=False)

    @property
    def place(self) -> Place:
        """The record's topic, partition and offset."""
        return self.topic, self.partition, self.offset

    def line(self, seq: int, base64_only: bool) -> bytes:
        """The record as a line of the decoder protocol, with the sequence number `seq`; with
        `base64_only` all bytes are base64, even where they are UTF-8.
        """
        line_end = self._lines.get(base64_only)
        if line_end is None:
            headers = ",".join(
                f'{{"key":{_json_text(key)},"value":{_bytes_json(value, base64_only)}}}'
                for key, value in self.headers
            )
            line_end = self._lines[base64_only] = (
                f',"topic":{_json_text(self.topic)},"partition":{self.partition},"offset":{self.offset},'
                f'"timestamp_ms":{self.timestamp_ms},"timestamp_type":{self.timestamp_type},'
                f'"key":{_bytes_json(self.key, base64_only)},"value":{_bytes_json(self.value, base64_only)},"headers":[{headers}]}}\n'
            ).encode("ascii")
        return b'{"type":"record","seq":%d' % seq + line_end


def _bytes_json(value: bytes | None, base64_only: bool) -> str:
    """The JSON in which the protocol has a record's key, value or header: null; an object with text
    for UTF-8, unless the decoder asks for base64 alone; else an object with base64.
    """
    if value is None:
        return "null"
    if not base64_only:
        try:
            return f'{{"text":{_json_text(value.decode())}}}'
        except UnicodeDecodeError:
            pass
    return f'{{"base64":"{base64.b64encode(value).decode()}"}}'


def start_line(fmt: str, levels: Sequence[int]) -> bytes:
    """The first line: the protocol's version, the format, the requested levels."""
    return _line({"cdc": VERSION, "type": "start", "format": fmt, "levels": list(levels)})


def begin_line(
    batch: int,
    level: int,
    deployment: Deployment,
    table: Table | None,
    tables: Sequence[Table] | None = None,
) -> bytes:
    """The first line of a batch. Level two has a table: columns with source type and Spark type,
    and the key columns.

    Level one has `tables`, each once, unless they are None.
    """
    members: dict[str, Any] = {
        "type": "begin",
        "batch": batch,
        "level": level,
        "deployment": codec.dump_deployment(deployment),
    }
    if table is not None:
        members["table"] = _table_json(table)
    elif tables is not None:
        members["tables"] = [
            _table_json(level_one_table) for level_one_table in dict.fromkeys(tables)
        ]
    return _line(members)


def _table_json(table: Table) -> dict[str, Any]:
    """The requested table as the protocol describes it to a command."""
    fields_of_table = codec.dump_table(table)
    return {
        "database": fields_of_table["database"],
        "schema": fields_of_table.get("schema"),
        "name": fields_of_table["name"],
        "primary_key": fields_of_table["primary_key"],
        "columns": [
            {**fields, "spark": column.type.spark}
            for fields, column in zip(fields_of_table["columns"], table.columns, strict=True)
        ],
    }


def end_line(batch: int) -> bytes:
    """The last line of a batch."""
    return _line({"type": "end", "batch": batch})


def _line(data: Mapping[str, Any]) -> bytes:
    """An object as a line of JSON, as a command reads it."""
    return to_line(data).encode("ascii") + b"\n"


def parse_object(line: bytes) -> dict[str, Any]:
    """The object of a line. Raises ProtocolBreak if the line is no JSON object."""
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        data = _parse_leniently(line, error)
    if type(data) is not dict:
        raise ProtocolBreak(
            f"the decoder wrote a line that is {kind_of(data)}, not an object: {shorten_line(line)}"
        )
    return data


def _parse_leniently(line: bytes, error: Exception) -> Any:
    """Parses a line that the strict parser refused because of lone surrogates in escapes, as
    JavaScript writes them: each becomes U+FFFD. Raises ProtocolBreak, with the `error` of the
    strict parser, if the line is no JSON for another reason.
    """
    try:
        return _replace_surrogates(
            json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
        )
    except (ValueError, RecursionError):
        raise ProtocolBreak(
            f"the decoder wrote a line that is no JSON ({error}): {shorten_line(line)}"
        ) from None


def _refuse_constant(name: str) -> None:
    """Raises ValueError for NaN and Infinity, which Python's JSON parser accepts and JSON does not
    have.
    """
    raise ValueError(name)


def _replace_surrogates(data: Any) -> Any:
    """The data with every lone surrogate, which UTF-8 cannot hold, replaced."""
    match data:
        case str():
            return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_replace_surrogates(item) for item in data]
        case dict():
            return {
                _replace_surrogates(key): _replace_surrogates(item) for key, item in data.items()
            }
    return data


class _SchemaBreach(Exception):
    """A field that breaks the schema: `path` is its path, "" the object itself."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)


@dataclass(frozen=True, slots=True)
class Started:
    """What a decoder says of itself in its `started` line, the answer to the start line: its levels
    and claims (`loaded`), the optional fields that it returns, whether it wants bytes as base64
    alone, its name and language, whether its ENUM and SET cells are `labels` (not numbers), and
    whether it asks for the `tables` of level one.
    """

    loaded: Loaded
    returns: frozenset[str]
    base64_only: bool
    name: str
    language: str
    labels: bool = False
    tables: bool = False


def parse_started(line: bytes, requested_levels: Sequence[int]) -> Started:
    """Reads the answer to `start`. Raises UsageError if the decoder cannot be judged."""
    try:
        answer = parse_object(line)
    except ProtocolBreak as error:
        raise UsageError(
            f"{error}. Expected is a line of type started, before anything else on standard output"
        ) from None
    try:
        return _check_started(answer, requested_levels)
    except _SchemaBreach as error:
        raise UsageError(
            f"the decoder's answer to start breaks protocol.schema.json: {error}: {shorten_line(line)}"
        ) from None


def _check_started(reply: Mapping[str, Any], requested_levels: Sequence[int]) -> Started:
    """The claims in the decoder's reply to `start`. Raises _SchemaBreach for a field that breaks
    the schema, and UsageError if the decoder refuses, speaks another version of the protocol or has
    none of the requested levels.
    """
    if reply.get("type") == "error" and isinstance(reply.get("error"), str):
        raise UsageError(f"the decoder refuses to start: {reply['error']}")
    if reply.get("type") != "started":
        raise _SchemaBreach("type", f"must be 'started', not {reply.get('type')!r}")
    version = reply.get("cdc")
    if version != VERSION or type(version) is not int:
        raise UsageError(
            f"the decoder speaks version {version!r} of the protocol; this release speaks {VERSION}"
        )
    _check_members(reply, "", _STARTED)
    for name in ("name", "language", "version"):
        if not isinstance(reply.get(name, ""), str):
            raise _SchemaBreach(name, "must be a string")
    levels = reply.get("levels")
    if (
        not isinstance(levels, list)
        or not levels
        or not all(type(level) is int and level in (1, 2) for level in levels)
    ):
        raise _SchemaBreach("levels", "must list 1, 2 or both")
    common_levels = tuple(sorted(set(levels) & set(requested_levels)))
    if not common_levels:
        raise UsageError(
            f"the decoder has level {_list_levels(levels)}, asked for is level {_list_levels(requested_levels)}"
        )
    returns = _check_strings(reply.get("returns", []), "returns", OPTIONAL)
    if reply.get("bytes", "text") not in ("text", "base64"):
        raise _SchemaBreach("bytes", "must be 'text' or 'base64'")
    for name in ("labels", "tables"):
        if type(reply.get(name, False)) is not bool:
            raise _SchemaBreach(name, "must be true or false")
    capabilities = reply.get("capabilities", {})
    if not isinstance(capabilities, dict):
        raise _SchemaBreach("capabilities", "must be an object")
    _check_members(
        capabilities, "capabilities", {"profiles", "kinds", "columns", "types", "conventions"}
    )
    claims = {
        name: tuple(
            _check_strings(
                value, f"capabilities.{name}", tuple(CONVENTIONS) if name == "conventions" else None
            )
        )
        for name, value in capabilities.items()
    }
    loaded = Loaded(common_levels, Capabilities.of(claims))
    return Started(
        loaded,
        returns=frozenset(returns),
        base64_only=reply.get("bytes") == "base64",
        name=reply.get("name", ""),
        language=reply.get("language", ""),
        labels=reply.get("labels", False),
        tables=reply.get("tables", False),
    )


def _list_levels(levels: Sequence[int]) -> str:
    """The levels in words for an error text, such as "1 and 2"."""
    return " and ".join(str(level) for level in sorted(set(levels)))


def _check_strings(data: Any, path: str, legal_values: Sequence[str] | None = None) -> list[str]:
    """Returns the data if it is a list of strings, each one of `legal_values` unless these are
    None. Raises _SchemaBreach, whose path is `path` with the index of the first wrong item.
    """
    if not isinstance(data, list):
        raise _SchemaBreach(path, f"must be an array, not {kind_of(data)}")
    for index, item in enumerate(data):
        if not isinstance(item, str):
            raise _SchemaBreach(f"{path}[{index}]", f"must be a string, not {kind_of(item)}")
        if legal_values is not None and item not in legal_values:
            raise _SchemaBreach(
                f"{path}[{index}]", f"{item!r} is unknown; known here: {', '.join(legal_values)}"
            )
    return data


def _check_members(
    data: Mapping[str, Any], path: str, legal_names: set[str] | frozenset[str]
) -> None:
    """Raises _SchemaBreach if a JSON object from the decoder (at `path` in its line) has a member
    whose name is not legal.
    """
    for name in data:
        if name not in legal_names:
            raise _SchemaBreach(
                f"{path}.{name}" if path else name,
                f"unknown; known here: {', '.join(sorted(legal_names))}",
            )


class RecordsRaised(DecodeRaised):
    """The decoder gave an error, or no answer, for some records of a call, and answered the others.

    `errors` maps the address of each such record to its error; `table` has the changes of the other
    records. The failing records are known, so the call need not be bisected.
    """

    def __init__(self, errors: Mapping[Place, str], table: pa.Table, message: str) -> None:
        super().__init__(message)
        self.errors, self.table = errors, table


_COMMON_FIELDS: Final = frozenset({"row", "kind", "op", "error", "before", "after"})
"""The members that a change may have at either level."""
_LEVEL_ONE_FIELDS: Final = _COMMON_FIELDS | {"database", "schema", "table", "keys", "sql"}
"""The members that a change of level one (values as texts) may have beside OPTIONAL."""
_NULLABLE_FIELDS: Final = (
    "database",
    "schema",
    "table",
    "sql",
    "error",
    "position",
    "schema_version",
)
"""The members of a change that are a string or null."""
_STRING_TYPES: Final = frozenset({str, type(None)})


class Answers:
    """Checks a decoder's lines for one call, batch by batch, and makes of them the Arrow table that
    the judge reads. `table` is the requested table of level two (typed rows), None at level one;
    `returns` are the optional fields that the decoder returns; with `labels` it gives ENUM and SET
    as text.
    """

    def __init__(
        self, level: int, table: Table | None, returns: frozenset[str], labels: bool = False
    ) -> None:
        self._level, self._answer_type = level, "changes" if level == 1 else "rows"
        self._fields = _LEVEL_ONE_FIELDS | returns if level == 1 else _COMMON_FIELDS
        self._returns = [name for name in OPTIONAL if name in returns] if level == 1 else []
        self._cells = None if table is None else Cells(spark_type_by_column(table, labels))
        self._places: list[Place] = []
        self._changes: list[dict[str, Any]] = []
        self._images: dict[str, list[Any]] = {"before": [], "after": []}
        self._problems_by_change: list[dict[str, str]] = []
        self.errors: dict[Place, tuple[int, str]] = {}
        self.answered = self._requested = 0
        self._first_seq, self._batch = 0, -1
        self._records: Sequence[LineRecord] = ()
        self._answered_flags = bytearray()

    def expect_batch(self, batch: int, first_seq: int, records: Sequence[LineRecord]) -> None:
        """Prepares for the answers to a batch, before it is sent. Its records have consecutive
        sequence numbers from `first_seq` on.
        """
        self._batch = batch
        self._first_seq = first_seq
        self._records = records
        self._answered_flags = bytearray(len(records))
        self._requested += len(records)

    def take_line(self, line: bytes, all_sent: bool) -> bool:
        """Takes a line of the decoder's output; true if it ends the batch. Raises ProtocolBreak if
        the line breaks the protocol's schema or answers no open record.
        """
        message = parse_object(line)
        try:
            match message.get("type"):
                case self._answer_type:
                    self._take_changes(message)
                case "error":
                    self._take_error(message)
                case "ended":
                    self._take_ended(message, all_sent)
                    return True
                case other:
                    raise _SchemaBreach(
                        "type",
                        f"{other!r} is unknown; known here: {self._answer_type}, error, ended",
                    )
        except _SchemaBreach as error:
            raise ProtocolBreak(
                f"the decoder wrote a line that breaks protocol.schema.json: {error}:"
                f" {shorten_line(line)}"
            ) from None
        return False

    def describe_progress(self) -> str:
        """How many records of the call are answered, and which of the batch are not."""
        missing = [self._first_seq + i for i, done in enumerate(self._answered_flags) if not done]
        return f"{self.answered} of {self._requested} records answered" + (
            f", missing {self._list_records(missing)}" if missing else ""
        )

    def _list_records(self, numbers: Sequence[int]) -> str:
        """The records with these sequence numbers in words, each with its coordinates; of many only
        the first LISTED_LIMIT.
        """
        listed = [
            f"seq {seq} ({_place_text(self._records[seq - self._first_seq])})"
            for seq in numbers[:LISTED_LIMIT]
        ]
        return ", ".join(listed) + (
            f" and {len(numbers) - LISTED_LIMIT} more" if len(numbers) > LISTED_LIMIT else ""
        )

    def _claim_record(self, message: Mapping[str, Any]) -> int:
        """Marks the record that an answer names by its sequence number as answered, and returns its
        index in the batch. Raises _SchemaBreach if the number is none of the batch, or was answered
        before.
        """
        seq = message.get("seq")
        if type(seq) is not int:
            raise _SchemaBreach("seq", f"must be an integer, not {kind_of(seq)}")
        i = seq - self._first_seq
        if not 0 <= i < len(self._answered_flags):
            raise _SchemaBreach(
                "seq",
                f"{seq}"
                f" {'belongs to a batch that has ended' if 0 < seq < self._first_seq else 'was never sent'}",
            )
        if self._answered_flags[i]:
            raise _SchemaBreach("seq", f"{seq} was answered already")
        self._answered_flags[i] = 1
        self.answered += 1
        return i

    def _take_changes(self, message: Mapping[str, Any]) -> None:
        """Keeps the changes of a decoder's answer for one record, with the record's coordinates.
        Raises _SchemaBreach if the answer breaks the schema.
        """
        name = self._answer_type
        if len(message) != 3:
            _check_members(message, "", {"type", "seq", name})
        i = self._claim_record(message)
        changes = message.get(name)
        if type(changes) is not list:
            raise _SchemaBreach(name, f"must be an array, not {kind_of(changes)}")
        place = self._records[i].place
        for number, change in enumerate(changes):
            try:
                self._check_change(change)
            except _SchemaBreach as error:
                raise _SchemaBreach(f"{name}[{number}]", str(error)) from None
            self._places.append(place)
            self._changes.append(change)

    def _check_change(self, change: Any) -> None:
        """Raises _SchemaBreach if a change of an answer breaks the schema; else keeps its two
        images, with the problems of cells that cannot be read.
        """
        if type(change) is not dict:
            raise _SchemaBreach("", f"must be an object, not {kind_of(change)}")
        if not change.keys() <= self._fields:
            undeclared = next(
                (name for name in change if name in OPTIONAL and name not in self._fields), None
            )
            if undeclared and self._level == 1:
                raise _SchemaBreach(
                    undeclared, "not among the `returns` of the decoder's started line"
                )
            _check_members(change, "", self._fields)
        for name in ("row", "kind"):
            if name not in change:
                raise _SchemaBreach(name, "missing")
        row_number, kind, op = change["row"], change["kind"], change.get("op")
        if type(row_number) is not int or not 0 <= row_number < 1 << 31:
            raise _SchemaBreach("row", f"must be an integer from 0 on, not {row_number!r}")
        if kind not in _KINDS if type(kind) is str else True:
            raise _SchemaBreach(
                "kind", f"{kind!r} is unknown; known here: {', '.join(sorted(_KINDS))}"
            )
        if op is not None and (op not in _OPS if type(op) is str else True):
            raise _SchemaBreach(
                "op", f"{op!r} is unknown; known here: null, {', '.join(sorted(_OPS))}"
            )
        for name in _NULLABLE_FIELDS:
            if name in change and type(change[name]) not in _STRING_TYPES:
                raise _SchemaBreach(name, f"must be a string or null, not {kind_of(change[name])}")
        if self._level == 1:
            self._check_level_one(change)
        problems: dict[str, str] = {}
        for side, images in self._images.items():
            image = change.get(side)
            if image is not None:
                image = self._check_image(image, side, problems)
            images.append(image)
        self._problems_by_change.append(problems)

    def _check_level_one(self, change: dict[str, Any]) -> None:
        """Raises _SchemaBreach if the keys, types or commit time of a level-one change break the
        schema; makes the commit time a whole number in the change itself.
        """
        keys = change.get("keys")
        if keys is not None:
            _check_strings(keys, "keys")
        if change.get("types") is not None:
            self._check_image(change["types"], "types", {})
            nulls = [name for name, kind in change["types"].items() if kind is None]
            if nulls:
                raise _SchemaBreach(f"types.{nulls[0]}", "must be a string, not null")
        if change.get("commit_time_us") is not None:
            change["commit_time_us"] = _parse_micros(change["commit_time_us"])

    def _check_image(self, image: Any, path: str, problems: dict[str, str]) -> Any:
        """The image with its cells read: values of the table's types at level two, where unreadable
        ones go into `problems`; texts or NULL else. Raises _SchemaBreach, at `path`, for an image
        that breaks the schema.
        """
        if type(image) is not dict:
            raise _SchemaBreach(path, f"must be an object or null, not {kind_of(image)}")
        if self._cells is not None:
            try:
                values, cell_problems = self._cells.read_image(image)
                problems.update(
                    {f"{path}.{name}": problem for name, problem in cell_problems.items()}
                )
                return values
            except ValueError as error:
                raise _SchemaBreach(f"{path}.{error.args[0]}", error.args[1]) from None
        if not set(map(type, image.values())) <= _STRING_TYPES:
            name = next(name for name, value in image.items() if type(value) not in _STRING_TYPES)
            raise _SchemaBreach(
                f"{path}.{name}", f"must be a string or null, not {kind_of(image[name])}"
            )
        return image

    def _take_error(self, message: Mapping[str, Any]) -> None:
        """Keeps a decoder's error for one record, which `finish` reports. Raises _SchemaBreach if
        the line breaks the schema.
        """
        _check_members(message, "", {"type", "seq", "error"})
        if type(message.get("error")) is not str:
            raise _SchemaBreach("error", f"must be a string, not {kind_of(message.get('error'))}")
        seq = message.get("seq")
        place = self._records[self._claim_record(message)].place
        assert isinstance(seq, int)
        self.errors[place] = (seq, message["error"])

    def _take_ended(self, message: Mapping[str, Any], all_sent: bool) -> None:
        """Ends the open batch: each of its records without an answer has the error "no answer".
        Raises _SchemaBreach if the line names another batch or comes before the whole batch was
        sent.
        """
        _check_members(message, "", {"type", "batch"})
        if message.get("batch") != self._batch:
            raise _SchemaBreach(
                "batch", f"{message.get('batch')!r} is not the batch that is open, {self._batch}"
            )
        if not all_sent:
            raise _SchemaBreach("type", "'ended' came before the batch's end was sent")
        for i, done in enumerate(self._answered_flags):
            if not done:
                self.errors[self._records[i].place] = (self._first_seq + i, "no answer")

    def finish(self) -> pa.Table:
        """The Arrow table of the changes of all batches, at the end of a call. Raises
        RecordsRaised, with the table and the error of each record by its place (topic, partition,
        offset), if the decoder gave an error, or no answer, for some records.
        """
        table = self._to_table()
        if not self.errors:
            return table
        errors = sorted((seq, place, message) for place, (seq, message) in self.errors.items())
        listed = "; ".join(
            f"seq {seq} ({'/'.join(map(str, place))}): {message}"
            for seq, place, message in errors[:LISTED_LIMIT]
        )
        more = f"; and {len(errors) - LISTED_LIMIT} more" if len(errors) > LISTED_LIMIT else ""
        message = (
            f"the decoder gave an error, or no answer, for {len(errors)} of {self._requested} records:"
            f" {listed}{more}"
        )
        raise RecordsRaised({place: message for _, place, message in errors}, table, message)

    def _to_table(self) -> pa.Table:
        """The changes taken so far as the Arrow table that the judge reads: a row for each, with
        the coordinates of its record; unreadable cells are listed in the column WRONG_CELLS.
        """
        changes, places = self._changes, self._places
        columns: dict[str, pa.Array] = {
            "topic": pa.array([topic for topic, _, _ in places], pa.string()),
            "partition": pa.array([partition for _, partition, _ in places], pa.int32()),
            "offset": pa.array([offset for _, _, offset in places], pa.int64()),
            "row": pa.array([change["row"] for change in changes], pa.int32()),
        }
        names = ["kind", "op", "error"]
        if self._level == 1:
            names += [
                "database",
                "schema",
                "table",
                "sql",
                *(n for n in self._returns if n in ("position", "schema_version")),
            ]
            columns["keys"] = pa.array(
                [change.get("keys") for change in changes], pa.list_(pa.string())
            )
        for name in names:
            columns[name] = pa.array([change.get(name) for change in changes], pa.string())
        if "commit_time_us" in self._returns:
            micros = pa.array([change.get("commit_time_us") for change in changes], pa.int64())
            columns["commit_time"] = micros.cast(pa.timestamp("us", "UTC"))
        if "types" in self._returns:
            columns["types"] = to_map_array([change.get("types") for change in changes])
        for side, images in self._images.items():
            columns[side] = (
                to_map_array(images) if self._cells is None else self._cells.to_struct_array(images)
            )
        if any(self._problems_by_change):
            columns[WRONG_CELLS] = to_map_array(self._problems_by_change)
        return pa.table(columns)


def to_map_array(images: Sequence[Mapping[str, str | None] | None]) -> pa.Array:
    """Images as map<string,string>: built from flat arrays, several times faster than from
    pairs.
    """
    offsets: list[int | None] = []
    names: list[str] = []
    values: list[str | None] = []
    for image in images:
        offsets.append(None if image is None else len(names))
        if image:
            names += image.keys()
            values += image.values()
    return pa.MapArray.from_arrays(
        pa.array([*offsets, len(names)], pa.int32()),
        pa.array(names, pa.string()),
        pa.array(values, pa.string()),
    )


def _parse_micros(value: Any) -> int:
    """The commit time of a change in microseconds, from a JSON integer or its decimal text. Raises
    _SchemaBreach for another form or beyond 64 bits.
    """
    number = type(value) is int or (type(value) is str and _DIGITS.fullmatch(value))
    if not number or not -(1 << 63) <= (micros := int(value)) < 1 << 63:
        raise _SchemaBreach(
            "commit_time_us",
            f"must be microseconds as an integer or its decimal text, not {value!r}",
        )
    return micros


def _place_text(record: LineRecord) -> str:
    """A record's topic, partition and offset with slashes between them, for an error text."""
    return "/".join(map(str, record.place))
