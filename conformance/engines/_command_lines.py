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

from conformance.engines._command_cells import Cells, ddl_columns
from conformance.engines._command_process import ProtocolBreak, shortened
from conformance.engines.engine import DecodeRaised, Loaded
from conformance.judging.judge import CONVENTIONS, Capabilities
from conformance.judging.output import WRONG_CELLS, Place
from generators.errors import UsageError
from generators.model import Deployment, Kind, Op, Table
from generators.storage import codec
from generators.storage.jsonform import kind_of, to_line

VERSION: Final = 1
OPTIONAL: Final = ("position", "commit_time_us", "types", "schema_version")
"""Fields of a change that are judged only if the decoder's `started` line lists them."""

NAMED: Final = 8
"""Limit of sequence numbers in a message."""

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
_KINDS: Final = frozenset(kind.value for kind in Kind)
_OPS: Final = frozenset(op.value for op in Op)
_DIGITS: Final = re.compile("-?[0-9]{1,20}")
_text = json.JSONEncoder().encode


@dataclass(frozen=True, slots=True)
class LineRecord:
    """A record for a decoder; `timestamp_ms` and `timestamp_type` as in Kafka."""

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
        """The record's place."""
        return self.topic, self.partition, self.offset

    def line(self, seq: int, base64_only: bool) -> bytes:
        """The record's line under a sequence number."""
        rest = self._lines.get(base64_only)
        if rest is None:
            headers = ",".join(
                f'{{"key":{_text(key)},"value":{_bytes(value, base64_only)}}}'
                for key, value in self.headers
            )
            rest = self._lines[base64_only] = (
                f',"topic":{_text(self.topic)},"partition":{self.partition},"offset":{self.offset},'
                f'"timestamp_ms":{self.timestamp_ms},"timestamp_type":{self.timestamp_type},'
                f'"key":{_bytes(self.key, base64_only)},"value":{_bytes(self.value, base64_only)},"headers":[{headers}]}}\n'
            ).encode("ascii")
        return b'{"type":"record","seq":%d' % seq + rest


def _bytes(value: bytes | None, base64_only: bool) -> str:
    if value is None:
        return "null"
    if not base64_only:
        try:
            return f'{{"text":{_text(value.decode())}}}'
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
    begin: dict[str, Any] = {
        "type": "begin",
        "batch": batch,
        "level": level,
        "deployment": codec.dump_deployment(deployment),
    }
    if table is not None:
        begin["table"] = _table(table)
    elif tables is not None:
        begin["tables"] = [_table(each) for each in dict.fromkeys(tables)]
    return _line(begin)


def _table(table: Table) -> dict[str, Any]:
    dumped = codec.dump_table(table)
    return {
        "database": dumped["database"],
        "schema": dumped.get("schema"),
        "name": dumped["name"],
        "primary_key": dumped["primary_key"],
        "columns": [
            {**fields, "spark": column.type.spark}
            for fields, column in zip(dumped["columns"], table.columns, strict=True)
        ],
    }


def end_line(batch: int) -> bytes:
    """The last line of a batch."""
    return _line({"type": "end", "batch": batch})


def _line(data: Mapping[str, Any]) -> bytes:
    return to_line(data).encode("ascii") + b"\n"


def parse(line: bytes) -> dict[str, Any]:
    """The object of a line. Raises ProtocolBreak."""
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        data = _leniently(line, error)
    if type(data) is not dict:
        raise ProtocolBreak(
            f"the decoder wrote a line that is {kind_of(data)}, not an object: {shortened(line)}"
        )
    return data


def _leniently(line: bytes, error: Exception) -> Any:
    r"""Replaces escaped lone surrogates (JavaScript writes them) by U+FFFD."""
    try:
        return _whole(json.loads(line.decode("utf-8"), parse_constant=_no_constant))
    except (ValueError, RecursionError):
        raise ProtocolBreak(
            f"the decoder wrote a line that is no JSON ({error}): {shortened(line)}"
        ) from None


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _whole(data: Any) -> Any:
    match data:
        case str():
            return data.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list():
            return [_whole(item) for item in data]
        case dict():
            return {_whole(key): _whole(item) for key, item in data.items()}
    return data


class _Wrong(Exception):
    """A field that breaks the schema: `at` is its path, "" the object itself."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at}: {problem}" if at else problem)


@dataclass(frozen=True, slots=True)
class Started:
    """The decoder's `started` line: its claims, the optional fields it returns, its form of bytes,
    its identity, whether its ENUM and SET cells are labels, and whether it asks for the tables of
    level one.
    """

    loaded: Loaded
    returns: frozenset[str]
    base64_only: bool
    name: str
    language: str
    labels: bool = False
    tables: bool = False


def started(line: bytes, asked: Sequence[int]) -> Started:
    """Reads the answer to `start`. Raises UsageError if the decoder cannot be judged."""
    try:
        answer = parse(line)
    except ProtocolBreak as error:
        raise UsageError(
            f"{error}. Expected is a line of type started, before anything else on standard output"
        ) from None
    try:
        return _started(answer, asked)
    except _Wrong as error:
        raise UsageError(
            f"the decoder's answer to start breaks protocol.schema.json: {error}: {shortened(line)}"
        ) from None


def _started(reply: Mapping[str, Any], asked: Sequence[int]) -> Started:
    if reply.get("type") == "error" and isinstance(reply.get("error"), str):
        raise UsageError(f"the decoder refuses to start: {reply['error']}")
    if reply.get("type") != "started":
        raise _Wrong("type", f"must be 'started', not {reply.get('type')!r}")
    version = reply.get("cdc")
    if version != VERSION or type(version) is not int:
        raise UsageError(
            f"the decoder speaks version {version!r} of the protocol; this release speaks {VERSION}"
        )
    _only(reply, "", _STARTED)
    for name in ("name", "language", "version"):
        if not isinstance(reply.get(name, ""), str):
            raise _Wrong(name, "must be a string")
    levels = reply.get("levels")
    if (
        not isinstance(levels, list)
        or not levels
        or not all(type(level) is int and level in (1, 2) for level in levels)
    ):
        raise _Wrong("levels", "must list 1, 2 or both")
    common = tuple(sorted(set(levels) & set(asked)))
    if not common:
        raise UsageError(
            f"the decoder has level {_listed(levels)}, asked for is level {_listed(asked)}"
        )
    returns = _texts(reply.get("returns", []), "returns", OPTIONAL)
    if reply.get("bytes", "text") not in ("text", "base64"):
        raise _Wrong("bytes", "must be 'text' or 'base64'")
    for name in ("labels", "tables"):
        if type(reply.get(name, False)) is not bool:
            raise _Wrong(name, "must be true or false")
    claims = reply.get("capabilities", {})
    if not isinstance(claims, dict):
        raise _Wrong("capabilities", "must be an object")
    _only(claims, "capabilities", {"profiles", "kinds", "columns", "types", "conventions"})
    claimed = {
        name: tuple(
            _texts(
                value, f"capabilities.{name}", tuple(CONVENTIONS) if name == "conventions" else None
            )
        )
        for name, value in claims.items()
    }
    loaded = Loaded(common, Capabilities.of(claimed))
    named = reply.get("name", ""), reply.get("language", "")
    asks = reply.get("labels", False), reply.get("tables", False)
    return Started(loaded, frozenset(returns), reply.get("bytes") == "base64", *named, *asks)


def _listed(levels: Sequence[int]) -> str:
    return " and ".join(str(level) for level in sorted(set(levels)))


def _texts(data: Any, at: str, legal: Sequence[str] | None = None) -> list[str]:
    if not isinstance(data, list):
        raise _Wrong(at, f"must be an array, not {kind_of(data)}")
    for i, text in enumerate(data):
        if not isinstance(text, str):
            raise _Wrong(f"{at}[{i}]", f"must be a string, not {kind_of(text)}")
        if legal is not None and text not in legal:
            raise _Wrong(f"{at}[{i}]", f"{text!r} is unknown; known here: {', '.join(legal)}")
    return data


def _only(data: Mapping[str, Any], at: str, known: set[str] | frozenset[str]) -> None:
    for name in data:
        if name not in known:
            raise _Wrong(
                f"{at}.{name}" if at else name, f"unknown; known here: {', '.join(sorted(known))}"
            )


class RecordsRaised(DecodeRaised):
    """The decoder gave an error, or no answer, for some records of a call, and answered the others.

    `errors` has the error of each place, `table` the changes of the other records: no bisection is
    needed.
    """

    def __init__(self, errors: Mapping[Place, str], table: pa.Table, text: str) -> None:
        super().__init__(text)
        self.errors, self.table = errors, table


_COMMON: Final = frozenset({"row", "kind", "op", "error", "before", "after"})
_FIELDS: Final = _COMMON | {"database", "schema", "table", "keys", "sql"}
_NULLABLE: Final = ("database", "schema", "table", "sql", "error", "position", "schema_version")
_TEXTS: Final = frozenset({str, type(None)})


class Answers:
    """The answers of one call, batch by batch; makes the judge's Arrow table."""

    def __init__(
        self, level: int, table: Table | None, returns: frozenset[str], labels: bool = False
    ) -> None:
        self._level, self._answer = level, "changes" if level == 1 else "rows"
        self._fields = _FIELDS | returns if level == 1 else _COMMON
        self._returns = [name for name in OPTIONAL if name in returns] if level == 1 else []
        self._cells = None if table is None else Cells(ddl_columns(table, labels))
        self._places: list[Place] = []
        self._changes: list[dict[str, Any]] = []
        self._images: dict[str, list[Any]] = {"before": [], "after": []}
        self._wrong: list[dict[str, str]] = []
        self.errors: dict[Place, tuple[int, str]] = {}
        self.answered = self._asked = 0
        self._first, self._batch = 0, -1
        self._records: Sequence[LineRecord] = ()
        self._done = bytearray()

    def expect(self, batch: int, first: int, records: Sequence[LineRecord]) -> None:
        """Expects answers to a batch, whose records have the sequence numbers from `first` on."""
        self._batch, self._first, self._records, self._done = (
            batch,
            first,
            records,
            bytearray(len(records)),
        )
        self._asked += len(records)

    def take(self, line: bytes, everything: bool) -> bool:
        """Takes a line; true if it ends the batch. Raises ProtocolBreak."""
        message = parse(line)
        try:
            match message.get("type"):
                case self._answer:
                    self._take_changes(message)
                case "error":
                    self._take_error(message)
                case "ended":
                    self._take_ended(message, everything)
                    return True
                case other:
                    raise _Wrong(
                        "type", f"{other!r} is unknown; known here: {self._answer}, error, ended"
                    )
        except _Wrong as error:
            raise ProtocolBreak(
                f"the decoder wrote a line that breaks protocol.schema.json: {error}:"
                f" {shortened(line)}"
            ) from None
        return False

    def waiting(self) -> str:
        """The missing answers of the batch, as text."""
        missing = [self._first + i for i, done in enumerate(self._done) if not done]
        return f"{self.answered} of {self._asked} records answered" + (
            f", missing {self._named(missing)}" if missing else ""
        )

    def _named(self, numbers: Sequence[int]) -> str:
        named = [f"seq {n} ({_place(self._records[n - self._first])})" for n in numbers[:NAMED]]
        return ", ".join(named) + (
            f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
        )

    def _seq(self, message: Mapping[str, Any]) -> int:
        """The batch index of an answer's record; marks it as answered."""
        seq = message.get("seq")
        if type(seq) is not int:
            raise _Wrong("seq", f"must be an integer, not {kind_of(seq)}")
        i = seq - self._first
        if not 0 <= i < len(self._done):
            raise _Wrong(
                "seq",
                f"{seq}"
                f" {'belongs to a batch that has ended' if 0 < seq < self._first else 'was never sent'}",
            )
        if self._done[i]:
            raise _Wrong("seq", f"{seq} was answered already")
        self._done[i] = 1
        self.answered += 1
        return i

    def _take_changes(self, message: Mapping[str, Any]) -> None:
        name = self._answer
        if len(message) != 3:
            _only(message, "", {"type", "seq", name})
        i = self._seq(message)
        changes = message.get(name)
        if type(changes) is not list:
            raise _Wrong(name, f"must be an array, not {kind_of(changes)}")
        place = self._records[i].place
        for number, change in enumerate(changes):
            try:
                self._check(change)
            except _Wrong as error:
                raise _Wrong(f"{name}[{number}]", str(error)) from None
            self._places.append(place)
            self._changes.append(change)

    def _check(self, change: Any) -> None:
        if type(change) is not dict:
            raise _Wrong("", f"must be an object, not {kind_of(change)}")
        if not change.keys() <= self._fields:
            undeclared = next(
                (name for name in change if name in OPTIONAL and name not in self._fields), None
            )
            if undeclared and self._level == 1:
                raise _Wrong(undeclared, "not among the `returns` of the decoder's started line")
            _only(change, "", self._fields)
        for name in ("row", "kind"):
            if name not in change:
                raise _Wrong(name, "missing")
        row, kind, op = change["row"], change["kind"], change.get("op")
        if type(row) is not int or not 0 <= row < 1 << 31:
            raise _Wrong("row", f"must be an integer from 0 on, not {row!r}")
        if kind not in _KINDS if type(kind) is str else True:
            raise _Wrong("kind", f"{kind!r} is unknown; known here: {', '.join(sorted(_KINDS))}")
        if op is not None and (op not in _OPS if type(op) is str else True):
            raise _Wrong("op", f"{op!r} is unknown; known here: null, {', '.join(sorted(_OPS))}")
        for name in _NULLABLE:
            if name in change and type(change[name]) not in _TEXTS:
                raise _Wrong(name, f"must be a string or null, not {kind_of(change[name])}")
        if self._level == 1:
            self._check_level_one(change)
        wrong: dict[str, str] = {}
        for side, images in self._images.items():
            image = change.get(side)
            if image is not None:
                image = self._image(image, side, wrong)
            images.append(image)
        self._wrong.append(wrong)

    def _check_level_one(self, change: dict[str, Any]) -> None:
        keys = change.get("keys")
        if keys is not None:
            _texts(keys, "keys")
        if change.get("types") is not None:
            self._image(change["types"], "types", {})
            nulls = [name for name, kind in change["types"].items() if kind is None]
            if nulls:
                raise _Wrong(f"types.{nulls[0]}", "must be a string, not null")
        if change.get("commit_time_us") is not None:
            change["commit_time_us"] = _micros(change["commit_time_us"])

    def _image(self, image: Any, at: str, wrong: dict[str, str]) -> Any:
        if type(image) is not dict:
            raise _Wrong(at, f"must be an object or null, not {kind_of(image)}")
        if self._cells is not None:
            try:
                values, unfit = self._cells.row(image)
                wrong.update({f"{at}.{name}": problem for name, problem in unfit.items()})
                return values
            except ValueError as error:
                raise _Wrong(f"{at}.{error.args[0]}", error.args[1]) from None
        if not set(map(type, image.values())) <= _TEXTS:
            name = next(name for name, value in image.items() if type(value) not in _TEXTS)
            raise _Wrong(f"{at}.{name}", f"must be a string or null, not {kind_of(image[name])}")
        return image

    def _take_error(self, message: Mapping[str, Any]) -> None:
        _only(message, "", {"type", "seq", "error"})
        if type(message.get("error")) is not str:
            raise _Wrong("error", f"must be a string, not {kind_of(message.get('error'))}")
        seq = message.get("seq")
        place = self._records[self._seq(message)].place
        assert isinstance(seq, int)
        self.errors[place] = (seq, message["error"])

    def _take_ended(self, message: Mapping[str, Any], everything: bool) -> None:
        _only(message, "", {"type", "batch"})
        if message.get("batch") != self._batch:
            raise _Wrong(
                "batch", f"{message.get('batch')!r} is not the batch that is open, {self._batch}"
            )
        if not everything:
            raise _Wrong("type", "'ended' came before the batch's end was sent")
        for i, done in enumerate(self._done):
            if not done:
                self.errors[self._records[i].place] = (self._first + i, "no answer")

    def finish(self) -> pa.Table:
        """The changes of all batches. Raises RecordsRaised when some records have none."""
        table = self._table()
        if not self.errors:
            return table
        errors = sorted((seq, place, text) for place, (seq, text) in self.errors.items())
        shown = "; ".join(
            f"seq {seq} ({'/'.join(map(str, place))}): {text}"
            for seq, place, text in errors[:NAMED]
        )
        more = f"; and {len(errors) - NAMED} more" if len(errors) > NAMED else ""
        text = (
            f"the decoder gave an error, or no answer, for {len(errors)} of {self._asked} records:"
            f" {shown}{more}"
        )
        raise RecordsRaised({place: text for _, place, text in errors}, table, text)

    def _table(self) -> pa.Table:
        changes, places = self._changes, self._places
        columns: dict[str, pa.Array] = {
            "topic": pa.array([place[0] for place in places], pa.string()),
            "partition": pa.array([place[1] for place in places], pa.int32()),
            "offset": pa.array([place[2] for place in places], pa.int64()),
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
            columns["types"] = maps([change.get("types") for change in changes])
        for side, images in self._images.items():
            columns[side] = maps(images) if self._cells is None else self._cells.structs(images)
        if any(self._wrong):
            columns[WRONG_CELLS] = maps(self._wrong)
        return pa.table(columns)


def maps(images: Sequence[Mapping[str, str | None] | None]) -> pa.Array:
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


def _micros(value: Any) -> int:
    number = type(value) is int or (type(value) is str and _DIGITS.fullmatch(value))
    if not number or not -(1 << 63) <= (micros := int(value)) < 1 << 63:
        raise _Wrong(
            "commit_time_us",
            f"must be microseconds as an integer or its decimal text, not {value!r}",
        )
    return micros


def _place(record: LineRecord) -> str:
    return "/".join(map(str, record.place))
