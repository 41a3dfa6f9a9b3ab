"""Decoders in any language: an engine whose decoder is a subprocess that speaks JSON lines
(`--decoder cmd:COMMAND`).

It replaces ChildEngine and needs neither Spark nor Java. This process reads records from a Parquet
file or from Kafka and sends them to the decoder line by line; it checks the answers and makes the
judge's Arrow table. The protocol is in docs/any-language.md, its JSON Schema beside this module.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from conformance.brokers import registry
from conformance.brokers.guarded import Guarded, kill_strays
from conformance.brokers.jars import Note
from conformance.closing import Closing
from conformance.engines._command_lines import (
    Answers,
    LineRecord,
    RecordsRaised,
    Started,
    begin_line,
    end_line,
    start_line,
    started,
)
from conformance.engines._command_process import Process, ProtocolBreak
from conformance.engines._jobs import Jobs
from conformance.engines.child import QUICK, ChildEngine, needed
from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Loaded,
    Ranges,
    RecordSource,
    Request,
)
from conformance.engines.live import LiveEngine, pickled
from conformance.engines.memory import DEFAULT_MB, bound_mb
from conformance.engines.spark_conf import away
from conformance.engines.specs import COMMAND, is_command
from conformance.judging.output import check_columns
from generators.errors import HarnessError, UsageError
from generators.publishing.cluster import settings

__all__ = [
    "ENVIRONMENTS",
    "CommandEngine",
    "ProtocolBreak",
    "RecordsRaised",
    "engine_for",
    "schema",
]

LINE_LIMIT: Final = 1 << 28
"""Limit of a decoder's line, in bytes: a record of 25 MB with all bytes escaped has 150 MB."""

GROUP: Final = 1 << 18
"""Approximate bytes per write to the decoder's pipe."""

TRACE: Final = "CDC_CONFORMANCE_TRACE"
"""An environment variable that names a file; every line of both directions is appended to it."""

ENVIRONMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "TZ=America/New_York, LC_ALL=C.UTF-8": {
        "TZ": "America/New_York",
        "LC_ALL": "C.UTF-8",
        "LANG": "C.UTF-8",
    },
    "TZ=Asia/Kolkata, LC_ALL=tr_TR.UTF-8": {
        "TZ": "Asia/Kolkata",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
    },
}
"""Environments for the law of environment independence: time zone and locale; Turkish reveals wrong
changes of case.
"""


def engine_for(
    decoder: object,
    formats: Sequence[str],
    *,
    kafka: bool = False,
    timeout_s: float = 120,
    conf: Mapping[str, str] = QUICK,
    note: Note = lambda _line: None,
    spark: Any = None,
) -> ChildEngine | CommandEngine | LiveEngine:
    """The engine for a decoder's specification or function: a CommandEngine for `cmd:...`, a
    LiveEngine on a given session, else a ChildEngine with the formats' packages.

    Raises UsageError for a command on a cluster or a session, and for a function that another
    process cannot have.
    """
    registry.ensure(formats)
    if spark is not None:
        if is_command(decoder):
            raise UsageError(f"--decoder {decoder!r} does not run on a session of Spark")
        return LiveEngine(spark, decoder, conf=conf, timeout_s=timeout_s)
    if is_command(decoder):
        if place := away(conf):
            raise UsageError(
                f"--decoder {decoder!r} does not run on {place}, which needs a decoder in Spark"
            )
        return CommandEngine(
            fmt=formats[0] if len(formats) == 1 else "",
            timeout_s=timeout_s,
            note=note,
            memory_mb=bound_mb(conf),
        )
    return ChildEngine(
        packages=needed(formats, kafka=kafka),
        timeout_s=timeout_s,
        conf=conf,
        note=note,
        given=pickled(decoder),
    )


def schema() -> dict[str, Any]:
    """The protocol's JSON Schema, for all lines of both directions."""
    data: dict[str, Any] = json.loads(
        resources.files("conformance.engines").joinpath("protocol.schema.json").read_text("utf-8")
    )
    return data


class CommandEngine(Closing):
    """The Engine whose decoder is a child process that speaks JSON lines.

    `fmt` is the format in the start line; `timeout_s` limits each decode call and the handshake,
    `start_s` each read of records. One process serves all calls, in order. It is replaced after it
    ends, exceeds a time limit or breaks the protocol, and for a call in another environment: in
    `Request.conf`, `spark.sql.session.timeZone` becomes the variable TZ, other Spark settings are
    ignored, and any other name is an environment variable. `repartition` is the number of batches
    of a call. `trace` is a file for every line of both directions. `memory_mb` bounds the memory of
    each of the decoder's processes.
    """

    environments: Mapping[str, Mapping[str, str]] = ENVIRONMENTS

    def __init__(
        self,
        *,
        fmt: str = "",
        timeout_s: float = 120,
        start_s: float = 240,
        line_limit: int = LINE_LIMIT,
        trace: Path | None = None,
        note: Note = lambda _line: None,
        memory_mb: int = DEFAULT_MB,
    ) -> None:
        self._memory_mb = memory_mb
        self._format, self._timeout_s, self._start_s, self._line_limit = (
            fmt,
            timeout_s,
            start_s,
            line_limit,
        )
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        self._guardian = Guarded(None, remove=self.directory)
        # A note on what was left behind stays, where the notes of a command give way to each other.
        self._say: Note = getattr(note, "line", note)
        path = trace or (Path(os.environ[TRACE]) if os.environ.get(TRACE) else None)
        self._trace = path.open("ab") if path else None
        self._opened: dict[str, _Opened | BaseException] = {}
        self._process: Process | None = None
        self._spec = ""
        self._started: Started | None = None
        self._levels: dict[str, tuple[int, ...]] = {}
        self._batches, self._seq = 0, 1
        self._woken, self._wake = os.pipe()
        around = contextlib.ExitStack()
        around.callback(self._end, gently=True)
        self._jobs = Jobs("cdc-command", around)

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Starts the decoder's process and does the handshake. The future raises UsageError when
        that fails.
        """
        return self._jobs.put(lambda: self._load(decoder, level))

    def open(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads records into memory; returns their number. If reading fails, the calls that need
        the records raise its error.
        """
        return self._jobs.put(lambda: self._open(handle, source))

    def release(self, handle: str) -> None:
        """Forgets opened records."""
        self._jobs.put(lambda: self._opened.pop(handle, None))

    def decode(self, request: Request) -> Future[pa.Table]:
        """Decodes. The future raises RecordsRaised for records without an answer, ProtocolBreak
        (both are DecodeRaised), DecodeTimeout, ChildDied or UsageError.
        """
        return self._jobs.put(lambda: self._decode(request))

    def renew(self) -> Future[Any]:
        """See Engine."""
        return self._jobs.put(self._end)

    @property
    def pid(self) -> int | None:
        """The process id of the running decoder, also of its session."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Ends the decoder's process and its child processes; removes the directory."""
        if not self._jobs.close():
            return
        os.write(self._wake, b"x")
        self._jobs.thread.join()
        os.close(self._wake)
        os.close(self._woken)
        if self._trace:
            self._trace.close()
        self._guardian.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _load(self, decoder: str, level: str) -> Loaded:
        if not is_command(decoder):
            raise UsageError(
                f"decoder {decoder!r}: this engine runs commands, written cmd:PROGRAM ARGUMENT..."
            )
        self._levels[decoder] = {"changes": (1,), "rows": (2,)}.get(level, (1, 2))
        self._end()
        try:
            return self._ready(decoder, {}, time.monotonic() + self._timeout_s).loaded
        except DecodeTimeout as error:
            self._end()
            raise UsageError(
                f"decoder {decoder} cannot be loaded: nothing was said within {self._timeout_s:g}"
                f" s: {error}"
            ) from None
        except (DecodeRaised, ChildDied, UsageError) as error:
            self._end()
            raise UsageError(f"decoder {decoder} cannot be loaded: {error}") from None

    def _ready(self, decoder: str, variables: Mapping[str, str], deadline: float) -> Started:
        """The decoder's handshake, with the running or a new process."""
        process = self._process
        if process is not None and self._started:
            # This call gets the error, although no case of it is the cause: a new process can
            # answer it.
            if breach := process.unasked():
                raise breach
            if (self._spec, process.variables) == (decoder, variables):
                return self._started
        self._end()
        self._spec, self._started = decoder, None
        process = self._process = Process(
            decoder.removeprefix(COMMAND),
            variables,
            self._woken,
            self._line_limit,
            Path(tempfile.mkdtemp(prefix="command-", dir=self.directory)),
            self._memory_mb,
        )
        levels = self._levels.get(decoder, (1, 2))
        answers: list[Started] = []

        def take(line: bytes, _everything: bool) -> bool:
            self._note(b"< ", line + b"\n")
            # Read at once: if a line of noise comes before the answer, the noise is the error.
            answers.append(started(line, levels))
            return True

        process.converse(
            self._noted([start_line(self._format, levels)]), take, deadline, "answer the start line"
        )
        self._started = answers[0]
        return self._started

    def _open(self, handle: str, source: RecordSource) -> int:
        try:
            opened = self._opened[handle] = _Opened(self._records(source))
        except BaseException as error:
            self._opened[handle] = error
            raise
        return opened.count

    def _records(self, source: RecordSource) -> list[LineRecord]:
        if source.bootstrap:
            return _from_kafka(source, self._start_s, lambda: self._jobs.closed)
        return _from_parquet(source)

    def _decode(self, request: Request) -> pa.Table:
        if request.mapping:
            raise UsageError(
                "--map renames columns of a Spark decoder; a command writes the protocol's fields"
            )
        opened = self._opened.get(request.handle)
        if isinstance(opened, BaseException):
            raise opened
        if opened is None:
            raise HarnessError(f"no records are open under the name {request.handle!r}")
        records = opened.among(request.ranges)
        limit_s = request.limit_s or self._timeout_s
        deadline = time.monotonic() + limit_s
        answers: Answers | None = None
        try:
            hello = self._ready(request.decoder, _variables(request.conf), deadline)
            answers = Answers(request.level, request.table, hello.returns, hello.labels)
            # The empty batch shows whether the decoder still runs after the other batches.
            for part in (*_dealt(records, request.repartition), []):
                self._batch(part, request, hello, answers, deadline)
        except DecodeTimeout as error:
            self._end()
            how = f": {answers.waiting()}" if answers else ""
            raise DecodeTimeout(
                f"{request.decoder} did not end within {limit_s:g} s{how}\n{error}"
            ) from None
        except BaseException:
            self._end()
            raise
        table = answers.finish()
        check_columns(table.schema, request.level, request.decoder)
        return table

    def _batch(
        self,
        records: Sequence[LineRecord],
        request: Request,
        hello: Started,
        answers: Answers,
        deadline: float,
    ) -> None:
        assert self._process is not None
        self._batches, first = self._batches + 1, self._seq
        self._seq += len(records)
        batch = self._batches
        answers.expect(batch, first, records)

        def lines() -> Iterator[bytes]:
            tables = (request.tables if records else ()) if hello.tables else None
            yield begin_line(batch, request.level, request.deployment, request.table, tables)
            for i, record in enumerate(records):
                yield record.line(first + i, hello.base64_only)
            yield end_line(batch)

        def take(line: bytes, everything: bool) -> bool:
            self._note(b"< ", line + b"\n")
            try:
                return answers.take(line, everything)
            except ProtocolBreak as error:
                assert self._process is not None
                raise ProtocolBreak(
                    self._process.explain(str(error).removeprefix("the decoder "))
                ) from None

        self._process.converse(_grouped(self._noted(lines())), take, deadline, "end the batch")

    def _noted(self, lines: Iterator[bytes] | Sequence[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._note(b"> ", line)
            yield line

    def _note(self, mark: bytes, line: bytes) -> None:
        if self._trace:
            self._trace.write(mark + line)
            self._trace.flush()

    def _end(self, *, gently: bool = False) -> None:
        process, self._process, self._started = self._process, None, None
        if process is not None:
            process.end(gently=gently)
            if left := kill_strays(process.home):
                self._say(
                    f"{left} process{'es' if left > 1 else ''} that the decoder left behind, ended"
                )
            shutil.rmtree(process.home, ignore_errors=True)


class _Opened:
    """Records in memory, by topic, partition and offset."""

    def __init__(self, records: Sequence[LineRecord]) -> None:
        self.count = len(records)
        self._by_partition: dict[tuple[str, int], tuple[list[int], list[LineRecord]]] = {}
        for record in sorted(records, key=lambda r: r.place):
            offsets, held = self._by_partition.setdefault(
                (record.topic, record.partition), ([], [])
            )
            offsets.append(record.offset)
            held.append(record)

    def among(self, ranges: Ranges) -> list[LineRecord]:
        """The records of some ranges, by partition and offset."""
        chosen: list[LineRecord] = []
        for topic, partition, low, high in ranges:
            offsets, held = self._by_partition.get((topic, partition), ([], []))
            chosen += held[bisect_left(offsets, low) : bisect_left(offsets, high + 1)]
        return chosen


def _dealt(records: Sequence[LineRecord], parts: int) -> list[Sequence[LineRecord]]:
    """The records in one batch, or dealt out to several, the last batch first, to separate
    neighbours.
    """
    if parts < 2:
        return [records]
    return [part for i in reversed(range(parts)) if (part := records[i::parts])]


def _variables(conf: Mapping[str, str]) -> dict[str, str]:
    """Environment variables for a call's settings."""
    variables = {name: value for name, value in conf.items() if not name.startswith("spark.")}
    if zone := conf.get("spark.sql.session.timeZone"):
        variables["TZ"] = zone
    return variables


def _grouped(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines joined to chunks of about GROUP bytes."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= GROUP:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _from_parquet(source: RecordSource) -> list[LineRecord]:
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(source.parquet)
    except (OSError, pa.ArrowException) as error:
        raise HarnessError(f"cannot read records from {source.parquet}: {error}") from error
    columns = {name: table.column(name) for name in table.column_names}
    micros = columns["timestamp"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    plain = [
        columns[n].to_pylist()
        for n in ("topic", "partition", "offset", "timestampType", "key", "value", "headers")
    ]
    return [
        LineRecord(
            topic,
            partition,
            offset,
            at // 1000,
            kind,
            key,
            value,
            tuple((h["key"], h["value"]) for h in headers or ()),
        )
        for at, (topic, partition, offset, kind, key, value, headers) in zip(
            micros, zip(*plain, strict=True), strict=True
        )
    ]


def _from_kafka(
    source: RecordSource, limit_s: float, closed: Callable[[], bool]
) -> list[LineRecord]:
    """Reads the source's ranges from a broker. Raises HarnessError after the time limit, or if the
    engine is closed.
    """
    import confluent_kafka as kafka

    deadline = time.monotonic() + limit_s
    wanted = {(topic, partition): (low, high) for topic, partition, low, high in source.ranges}
    reading = {
        "group.id": f"cdc-conformance-{secrets.token_hex(4)}",
        # As Spark's source reads.
        "isolation.level": "read_uncommitted",
        "max.partition.fetch.bytes": 1 << 25,
        **settings(source.bootstrap),
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "log_level": 0,
    }
    records: list[LineRecord] = []
    consumer = kafka.Consumer(reading)
    try:
        consumer.assign(
            [
                kafka.TopicPartition(topic, partition, low)
                for (topic, partition), (low, _) in wanted.items()
            ]
        )
        while wanted:
            if closed():
                raise HarnessError("the engine is closed")
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"cannot read {_ranges(wanted)} from {source.bootstrap} within {limit_s:g} s"
                )
            for message in consumer.consume(2000, timeout=0.5):
                key = (str(message.topic()), int(message.partition() or 0))
                problem = message.error()
                if problem is not None and problem.code() != kafka.KafkaError._PARTITION_EOF:
                    raise HarnessError(
                        f"cannot read {_ranges(wanted)} from {source.bootstrap}: {problem.str()}"
                    )
                if key not in wanted:
                    continue
                offset, (low, high) = int(message.offset() or 0), wanted[key]
                if problem is None and low <= offset <= high:
                    records.append(_consumed(message))
                # The end offset is past the last record, even if compaction removed record `high`.
                if offset >= high:
                    del wanted[key]
                elif problem is not None:
                    raise HarnessError(
                        f"{_ranges({key: wanted[key]})} ends at offset {offset} on"
                        f" {source.bootstrap}"
                    )
    except kafka.KafkaException as error:
        raise HarnessError(
            f"cannot read {_ranges(wanted)} from {source.bootstrap}: {error.args[0]}"
        ) from error
    finally:
        consumer.close()
    return records


def _consumed(message: Any) -> LineRecord:
    kind, at = message.timestamp()
    headers = tuple((key, value) for key, value in message.headers() or ())
    # The client counts from 1 (create time); Kafka, and Spark after it, from 0.
    return LineRecord(
        message.topic(),
        message.partition(),
        message.offset(),
        at,
        kind - 1,
        message.key(),
        message.value(),
        headers,
    )


def _ranges(wanted: Mapping[tuple[str, int], tuple[int, int]]) -> str:
    return ", ".join(
        f"offsets {low} to {high} of {topic}/{partition}"
        for (topic, partition), (low, high) in wanted.items()
    )
