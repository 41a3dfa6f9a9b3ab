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
    parse_started,
    start_line,
)
from conformance.engines._command_process import Process, ProtocolBreak
from conformance.engines._jobs import Jobs
from conformance.engines.child import QUICK, ChildEngine, required_packages
from conformance.engines.engine import (
    ChildDied,
    DecodeRaised,
    DecodeTimeout,
    Loaded,
    Ranges,
    RecordSource,
    Request,
)
from conformance.engines.live import LiveEngine, pickle_decoder
from conformance.engines.memory import DEFAULT_MB, bound_mb
from conformance.engines.spark_conf import cluster_url
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
    "protocol_schema",
]

LINE_LIMIT: Final = 1 << 28
"""Limit of a decoder's line, in bytes: a record of 25 MB with all bytes escaped has 150 MB."""

CHUNK_BYTES: Final = 1 << 18
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
    registry.ensure_registry(formats)
    if spark is not None:
        if is_command(decoder):
            raise UsageError(f"--decoder {decoder!r} does not run on a session of Spark")
        return LiveEngine(spark, decoder, conf=conf, timeout_s=timeout_s)
    if is_command(decoder):
        if place := cluster_url(conf):
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
        packages=required_packages(formats, kafka=kafka),
        timeout_s=timeout_s,
        conf=conf,
        note=note,
        pickled_decoders=pickle_decoder(decoder),
    )


def protocol_schema() -> dict[str, Any]:
    """The JSON Schema of the decoder protocol, for all lines that either side writes."""
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
        self._format = fmt
        self._timeout_s = timeout_s
        self._start_s = start_s
        self._line_limit = line_limit
        self.directory = Path(tempfile.mkdtemp(prefix="cdc-conformance-"))
        self._guardian = Guarded(None, remove=self.directory)
        # A note on what was left behind stays, where the notes of a command give way to each other.
        self._note_line: Note = getattr(note, "line", note)
        path = trace or (Path(os.environ[TRACE]) if os.environ.get(TRACE) else None)
        self._trace = path.open("ab") if path else None
        self._open_tables: dict[str, _OpenTable | BaseException] = {}
        self._process: Process | None = None
        self._spec = ""
        self._started: Started | None = None
        self._levels: dict[str, tuple[int, ...]] = {}
        self._batches, self._seq = 0, 1
        self._wake_end, self._wake_writer = os.pipe()
        around = contextlib.ExitStack()
        around.callback(self._end_process, gently=True)
        self._jobs = Jobs("cdc-command", around)

    def load(self, decoder: str, level: str) -> Future[Loaded]:
        """Starts the decoder's process and does the handshake. The future raises UsageError when
        that fails.
        """
        return self._jobs.put(lambda: self._load_now(decoder, level))

    def keep_records(self, handle: str, source: RecordSource) -> Future[int]:
        """Reads records into memory and keeps them under the name `handle`; the future has their
        number. If reading fails, the decode calls on them raise its error.
        """
        return self._jobs.put(lambda: self._open_now(handle, source))

    def release(self, handle: str) -> None:
        """Forgets the records that are kept under the name `handle`."""
        self._jobs.put(lambda: self._open_tables.pop(handle, None))

    def decode(self, request: Request) -> Future[pa.Table]:
        """Runs the decoder on records; the future has its rows as an Arrow table. It raises
        RecordsRaised for records without an answer, ProtocolBreak (both are DecodeRaised),
        DecodeTimeout, ChildDied or UsageError.
        """
        return self._jobs.put(lambda: self._decode_now(request))

    def renew(self) -> Future[Any]:
        """Runs the decoder in a new process once all earlier requests are answered."""
        return self._jobs.put(self._end_process)

    @property
    def pid(self) -> int | None:
        """The process id of the decoder's process, which is also the id of its session of
        processes; None if no such process runs.
        """
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Ends the decoder's process and its child processes; removes the directory."""
        if not self._jobs.close():
            return
        os.write(self._wake_writer, b"x")
        self._jobs.thread.join()
        os.close(self._wake_writer)
        os.close(self._wake_end)
        if self._trace:
            self._trace.close()
        self._guardian.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _load_now(self, decoder: str, level: str) -> Loaded:
        """Starts the command and returns what it says of itself. Raises UsageError if it does not
        start, or says nothing in time.
        """
        if not is_command(decoder):
            raise UsageError(
                f"decoder {decoder!r}: this engine runs commands, written cmd:PROGRAM ARGUMENT..."
            )
        self._levels[decoder] = {"changes": (1,), "rows": (2,)}.get(level, (1, 2))
        self._end_process()
        try:
            return self._ensure_started(decoder, {}, time.monotonic() + self._timeout_s).loaded
        except DecodeTimeout as error:
            self._end_process()
            raise UsageError(
                f"decoder {decoder} cannot be loaded: nothing was said within {self._timeout_s:g}"
                f" s: {error}"
            ) from None
        except (DecodeRaised, ChildDied, UsageError) as error:
            self._end_process()
            raise UsageError(f"decoder {decoder} cannot be loaded: {error}") from None

    def _ensure_started(
        self, decoder: str, variables: Mapping[str, str], deadline: float
    ) -> Started:
        """Returns the answer to the start line of a process that runs this decoder with these
        environment variables; starts one if none does.
        """
        process = self._process
        if process is not None and self._started:
            # This call gets the error, although no case of it is the cause: a new process can
            # answer it.
            if breach := process.check_silence():
                raise breach
            if (self._spec, process.variables) == (decoder, variables):
                return self._started
        self._end_process()
        self._spec, self._started = decoder, None
        process = self._process = Process(
            decoder.removeprefix(COMMAND),
            variables,
            self._wake_end,
            self._line_limit,
            Path(tempfile.mkdtemp(prefix="command-", dir=self.directory)),
            self._memory_mb,
        )
        levels = self._levels.get(decoder, (1, 2))
        answers: list[Started] = []

        def take_line(line: bytes, _everything: bool) -> bool:
            """Takes the process's first line, the answer to the start line; returns true, since no
            other line belongs to that answer. A line that is no such answer raises.
            """
            self._write_trace(b"< ", line + b"\n")
            # Read at once: if a line of noise comes before the answer, the noise is the error.
            answers.append(parse_started(line, levels))
            return True

        process.converse(
            self._trace_lines([start_line(self._format, levels)]),
            take_line,
            deadline,
            "answer the start line",
        )
        self._started = answers[0]
        return self._started

    def _open_now(self, handle: str, source: RecordSource) -> int:
        """Reads the records of a source into memory under `handle`, on the engine's thread, and
        returns their number. An error is kept under the handle too, and raised by decode calls.
        """
        try:
            opened = self._open_tables[handle] = _OpenTable(self._records(source))
        except BaseException as error:
            self._open_tables[handle] = error
            raise
        return opened.count

    def _records(self, source: RecordSource) -> list[LineRecord]:
        """The records of a source: read from its Kafka broker if it names one, else from its
        Parquet file.
        """
        if source.bootstrap:
            return _read_kafka(source, self._start_s, lambda: self._jobs.closed)
        return _read_parquet(source)

    def _decode_now(self, request: Request) -> pa.Table:
        """Decodes the records of a request, on the engine's thread, in batches and an empty one,
        and returns the rows as the judge's table. Raises what `decode` says; an error of the
        conversation, such as a timeout, ends the process.
        """
        if request.mapping:
            raise UsageError(
                "--map renames columns of a Spark decoder; a command writes the protocol's fields"
            )
        opened = self._open_tables.get(request.handle)
        if isinstance(opened, BaseException):
            raise opened
        if opened is None:
            raise HarnessError(f"no records are open under the name {request.handle!r}")
        records = opened.in_ranges(request.ranges)
        limit_s = request.limit_s or self._timeout_s
        deadline = time.monotonic() + limit_s
        answers: Answers | None = None
        try:
            decoder_facts = self._ensure_started(
                request.decoder, _environment(request.conf), deadline
            )
            answers = Answers(
                request.level, request.table, decoder_facts.returns, decoder_facts.labels
            )
            # The empty batch shows whether the decoder still runs after the other batches.
            for batch in (*_split_batches(records, request.repartition), []):
                self._decode_batch(batch, request, decoder_facts, answers, deadline)
        except DecodeTimeout as error:
            self._end_process()
            progress = f": {answers.describe_progress()}" if answers else ""
            raise DecodeTimeout(
                f"{request.decoder} did not end within {limit_s:g} s{progress}\n{error}"
            ) from None
        except BaseException:
            self._end_process()
            raise
        table = answers.finish()
        check_columns(table.schema, request.level, request.decoder)
        return table

    def _decode_batch(
        self,
        records: Sequence[LineRecord],
        request: Request,
        decoder_facts: Started,
        answers: Answers,
        deadline: float,
    ) -> None:
        """Sends one batch of records to the decoder's process, and takes its lines into `answers`
        until one ends the batch. Raises what `Process.converse` raises.
        """
        assert self._process is not None
        self._batches, first = self._batches + 1, self._seq
        self._seq += len(records)
        batch = self._batches
        answers.expect_batch(batch, first, records)

        def lines() -> Iterator[bytes]:
            """The lines of the batch: its begin (with the tables, if the decoder asks for them),
            its records, its end.
            """
            tables = (request.tables if records else ()) if decoder_facts.tables else None
            yield begin_line(batch, request.level, request.deployment, request.table, tables)
            for i, record in enumerate(records):
                yield record.line(first + i, decoder_facts.base64_only)
            yield end_line(batch)

        def take_line(line: bytes, all_sent: bool) -> bool:
            """Takes a line of the decoder into `answers`; true if it ends the batch. A breach of
            the protocol is raised with what is known of the process.
            """
            self._write_trace(b"< ", line + b"\n")
            try:
                return answers.take_line(line, all_sent)
            except ProtocolBreak as error:
                assert self._process is not None
                raise ProtocolBreak(
                    self._process.describe_failure(str(error).removeprefix("the decoder "))
                ) from None

        self._process.converse(
            _join_lines(self._trace_lines(lines())), take_line, deadline, "end the batch"
        )

    def _trace_lines(self, lines: Iterator[bytes] | Sequence[bytes]) -> Iterator[bytes]:
        """Passes the lines for the decoder's process on as they are; each is also written to the
        trace file, if there is one.
        """
        for line in lines:
            self._write_trace(b"> ", line)
            yield line

    def _write_trace(self, mark: bytes, line: bytes) -> None:
        """Appends a line to the trace file, if the user asked for one; the mark says whether the
        harness ("> ") or the decoder ("< ") wrote it.
        """
        if self._trace:
            self._trace.write(mark + line)
            self._trace.flush()

    def _end_process(self, *, gently: bool = False) -> None:
        """Ends the decoder's process, if one runs, and the processes that it left behind (these
        with a note), and removes its directory; the next call starts a new process.
        """
        process, self._process, self._started = self._process, None, None
        if process is not None:
            process.end(gently=gently)
            if stray_count := kill_strays(process.home):
                self._note_line(
                    f"{stray_count} process{'es' if stray_count > 1 else ''} that the decoder left behind, ended"
                )
            shutil.rmtree(process.home, ignore_errors=True)


class _OpenTable:
    """The records of an opened source, in memory, by topic, partition and offset."""

    def __init__(self, records: Sequence[LineRecord]) -> None:
        self.count = len(records)
        self._by_partition: dict[tuple[str, int], tuple[list[int], list[LineRecord]]] = {}
        for record in sorted(records, key=lambda r: r.place):
            offsets, partition_records = self._by_partition.setdefault(
                (record.topic, record.partition), ([], [])
            )
            offsets.append(record.offset)
            partition_records.append(record)

    def in_ranges(self, ranges: Ranges) -> list[LineRecord]:
        """The records of the given ranges, whose first and last offsets both belong to them: range
        after range in the order given, each sorted by offset.
        """
        found_records: list[LineRecord] = []
        for topic, partition, low, high in ranges:
            offsets, partition_records = self._by_partition.get((topic, partition), ([], []))
            found_records += partition_records[
                bisect_left(offsets, low) : bisect_left(offsets, high + 1)
            ]
        return found_records


def _split_batches(records: Sequence[LineRecord], parts: int) -> list[Sequence[LineRecord]]:
    """Splits the records of a call into batches for the decoder: one batch of all, or, from two
    `parts` on, so many batches, dealt out in turn so that neighbours are apart, and in reverse
    order. Both make visible a decoder whose rows depend on how its records are split.
    """
    if parts < 2:
        return [records]
    return [part for i in reversed(range(parts)) if (part := records[i::parts])]


def _environment(conf: Mapping[str, str]) -> dict[str, str]:
    """The environment variables with which a decoder's process runs under the settings of a call:
    all but Spark's, and TZ for the time zone of Spark's session.
    """
    variables = {name: value for name, value in conf.items() if not name.startswith("spark.")}
    if zone := conf.get("spark.sql.session.timeZone"):
        variables["TZ"] = zone
    return variables


def _join_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Joins lines into chunks of at least CHUNK_BYTES bytes (the last may have fewer), since each
    chunk is one write to the decoder's pipe.
    """
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if size >= CHUNK_BYTES:
            yield b"".join(chunk)
            chunk, size = [], 0
    if chunk:
        yield b"".join(chunk)


def _read_parquet(source: RecordSource) -> list[LineRecord]:
    """The Kafka records in the source's Parquet file, which the harness wrote with all columns.
    Raises HarnessError if the file cannot be read.
    """
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(source.parquet)
    except (OSError, pa.ArrowException) as error:
        raise HarnessError(f"cannot read records from {source.parquet}: {error}") from error
    columns = {name: table.column(name) for name in table.column_names}
    micros = columns["timestamp"].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    names = ("topic", "partition", "offset", "timestampType", "key", "value", "headers")
    cells = zip(micros, *(columns[name].to_pylist() for name in names), strict=True)
    records = []
    for timestamp_us, topic, partition, offset, timestamp_type, key, value, headers in cells:
        records.append(
            LineRecord(
                topic,
                partition,
                offset,
                timestamp_us // 1000,
                timestamp_type,
                key,
                value,
                tuple((header["key"], header["value"]) for header in headers or ()),
            )
        )
    return records


def _read_kafka(
    source: RecordSource, limit_s: float, closed: Callable[[], bool]
) -> list[LineRecord]:
    """Reads the source's ranges from a broker. Raises HarnessError after the time limit, or if the
    engine is closed.
    """
    import confluent_kafka as kafka

    deadline = time.monotonic() + limit_s
    missing_ranges = {
        (topic, partition): (low, high) for topic, partition, low, high in source.ranges
    }
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
                for (topic, partition), (low, _) in missing_ranges.items()
            ]
        )
        while missing_ranges:
            if closed():
                raise HarnessError("the engine is closed")
            if time.monotonic() > deadline:
                raise HarnessError(
                    f"cannot read {_ranges_text(missing_ranges)} from {source.bootstrap} within {limit_s:g} s"
                )
            for message in consumer.consume(2000, timeout=0.5):
                key = (str(message.topic()), int(message.partition() or 0))
                problem = message.error()
                if problem is not None and problem.code() != kafka.KafkaError._PARTITION_EOF:
                    raise HarnessError(
                        f"cannot read {_ranges_text(missing_ranges)} from {source.bootstrap}: {problem.str()}"
                    )
                if key not in missing_ranges:
                    continue
                offset, (low, high) = int(message.offset() or 0), missing_ranges[key]
                if problem is None and low <= offset <= high:
                    records.append(_to_line_record(message))
                # The end offset is past the last record, even if compaction removed record `high`.
                if offset >= high:
                    del missing_ranges[key]
                elif problem is not None:
                    raise HarnessError(
                        f"{_ranges_text({key: missing_ranges[key]})} ends at offset {offset} on"
                        f" {source.bootstrap}"
                    )
    except kafka.KafkaException as error:
        raise HarnessError(
            f"cannot read {_ranges_text(missing_ranges)} from {source.bootstrap}: {error.args[0]}"
        ) from error
    finally:
        consumer.close()
    return records


def _to_line_record(message: Any) -> LineRecord:
    """A message that the Kafka client read, as a record that the decoder protocol can send."""
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


def _ranges_text(ranges: Mapping[tuple[str, int], tuple[int, int]]) -> str:
    """Ranges of records in words, for an error text, such as "offsets 0 to 9 of topic/0"."""
    return ", ".join(
        f"offsets {low} to {high} of {topic}/{partition}"
        for (topic, partition), (low, high) in ranges.items()
    )
