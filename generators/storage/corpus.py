"""Corpora on disk: messages as a writer would publish them, with the expected changes beside them
(docs/corpus.md).

`<out>/<format>/<profile>/` holds `manifest.json`, `tables.json`, `messages.jsonl`, `expected.jsonl`
and, on request, `messages.parquet`; of messages in Confluent's framing `schemas.json` has the
schemas. The same cases give the same bytes, whatever the process, hash seed, time zone or locale.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from generators.errors import HarnessError, UsageError
from generators.families import confluent
from generators.model import Case, Change, Deployment, Message, Table, Written
from generators.profiles import Profile
from generators.storage import codec, records
from generators.storage._folder import Sink, whole_folder
from generators.storage.jsonform import (
    INTEGER,
    NAMES,
    TEXT,
    Form,
    Malformed,
    Plain,
    Record,
    array,
    array_form,
    fields,
    from_line,
    integer,
    mapping,
    mapping_form,
    need,
    string,
    to_line,
)
from generators.wire_format import Format

VERSION: Final = 1
MANIFEST: Final = "manifest.json"
TABLES: Final = "tables.json"
MESSAGES: Final = "messages.jsonl"
EXPECTED: Final = "expected.jsonl"
PARQUET: Final = "messages.parquet"
SCHEMAS: Final = "schemas.json"
"""The schemas that messages in Confluent's framing name."""
_REQUIRED: Final = (TABLES, MESSAGES, EXPECTED)
"""The files that every corpus has beside its manifest."""
_PARQUET_ROWS: Final = 10_000
"""Rows of a group in the Parquet file."""


class CorpusError(UsageError):
    """A corpus that is damaged, incomplete, of an unknown version, or hostile. Names the file, if
    possible the line and field.
    """


@dataclass(frozen=True, slots=True)
class Summary:
    """The written corpus. `size` is the corpus's bytes, the manifest's own included."""

    path: Path
    format: str
    profile: str
    seed: int
    cases: int
    messages: int
    changes: int
    size: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus read back; its cases are those that were written, in the same order."""

    path: Path
    format: str
    profile: str
    deployment: Deployment
    seed: int
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    """How many cases, messages, expected changes and tables a corpus has."""

    cases: int
    messages: int
    changes: int
    tables: int


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What manifest.json says: what the corpus holds, and the SHA-256 of each other file by
    name.
    """

    version: int
    format: str
    profile: str
    deployment: Deployment
    seed: int
    counts: _Counts
    sha256: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Shell:
    """A case as tables.json has it, without its messages. `tables` are indexes of the tables in
    that file.
    """

    id: str
    level: int
    tags: frozenset[str]
    tables: tuple[int, ...]


def write(
    out: Path,
    fmt: Format[Any],
    profile: Profile,
    cases: Iterable[Case],
    *,
    seed: int,
    parquet: bool = False,
) -> Summary:
    """Writes the cases to `<out>/<format>/<profile>`, whole or not at all; an existing corpus is
    replaced.

    `seed` is recorded, nothing is drawn here. Cases are consumed one at a time. Raises UsageError
    for cases of another profile or deployment, for an id used twice, and if the target holds other
    files; HarnessError when the disk is full or not writable.
    """
    target = Path(out) / _component(fmt.name) / _component(profile.name)
    with whole_folder(target, {MANIFEST, PARQUET, SCHEMAS, *_REQUIRED}) as temporary:
        writer = _Writer(temporary, parquet)
        try:
            for case in cases:
                if (case.format, case.profile, case.deployment) != (
                    fmt.name,
                    profile.name,
                    profile.deployment,
                ):
                    raise UsageError(
                        f"case {case.id} is not of {fmt.name}/{profile.name} and its deployment"
                    )
                writer.add(case)
        finally:
            writer.close()
        size = writer.finish(fmt.name, profile, seed)
    counts = writer.counts()
    return Summary(
        target, fmt.name, profile.name, seed, counts.cases, counts.messages, counts.changes, size
    )


def _component(name: str) -> str:
    """Returns the name of a format or profile if it can name a folder of a corpus; raises
    UsageError if not.
    """
    if not _is_component(name):
        raise UsageError(
            f"{name!r} cannot name a folder of a corpus: letters, digits, - _ . + and no dot in"
            " front"
        )
    return name


def _is_component(name: str) -> bool:
    """Whether a name can be a folder of a corpus: ASCII letters, digits and `-_.+`, with no dot in
    front.
    """
    return (
        bool(name)
        and not name.startswith(".")
        and all(c.isascii() and (c.isalnum() or c in "-_.+") for c in name)
    )


class _Writer:
    """Writes a corpus into a folder: `add` for each case, then `close`, then `finish`. `parquet`
    says that it writes `messages.parquet`, too.
    """

    def __init__(self, folder: Path, parquet: bool) -> None:
        self._folder = folder
        self._parquet = _Parquet(folder / PARQUET) if parquet else None
        self._messages, self._expected = Sink(folder / MESSAGES), Sink(folder / EXPECTED)
        self._tables: dict[Table, int] = {}
        self._cases: dict[str, Plain] = {}
        self._next_ordinals: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._schemas: confluent.Schemas = {}
        self._changes = 0

    def add(self, case: Case) -> None:
        """Writes a case's messages and expected changes to the corpus, and remembers the case, its
        tables and its registry schemas. Raises UsageError if the case's id was there before.
        """
        if case.id in self._cases:
            raise UsageError(f"case {case.id} is there twice")
        numbers = tuple(self._tables.setdefault(table, len(self._tables)) for table in case.tables)
        confluent.recall(confluent.schemas_of_cases([case]), self._schemas)
        self._cases[case.id] = _SHELL.dump(_Shell(case.id, case.level, case.tags, numbers))
        for written in case.written:
            place = written.message.topic, written.message.partition
            ordinal = self._next_ordinals[place]
            self._next_ordinals[place] += 1
            body = codec.dump_message(written.message)
            head = {
                "case": case.id,
                "event": body.pop("event"),
                "topic": body.pop("topic"),
                "partition": body.pop("partition"),
            }
            self._messages.raw(_line({**head, "ordinal": ordinal, **body}))
            if self._parquet:
                self._parquet.add(written.message, ordinal)
            del head["event"]
            for change in written.changes:
                table = _table_of(change, case.tables)
                table_field = {} if table is None else {"table_id": self._tables[table]}
                self._expected.raw(
                    _line(
                        {
                            **head,
                            "ordinal": ordinal,
                            **table_field,
                            **codec.dump_change(change, table),
                        }
                    )
                )
            self._changes += len(written.changes)

    def counts(self) -> _Counts:
        """How many cases, messages, expected changes and tables were added so far."""
        return _Counts(
            len(self._cases), sum(self._next_ordinals.values()), self._changes, len(self._tables)
        )

    def close(self) -> None:
        """Closes the corpus's open files."""
        self._messages.close()
        self._expected.close()
        if self._parquet:
            self._parquet.close()

    def finish(self, fmt: str, profile: Profile, seed: int) -> int:
        """Writes the tables, the cases, the schemas and the manifest. Returns the size of all files
        in bytes.
        """
        tables = ",\n".join(map(to_line, map(codec.dump_table, self._tables)))
        cases = ",\n".join(map(to_line, self._cases.values()))
        sinks = [
            self._put(TABLES, f'{{"tables":[\n{tables}\n],\n"cases":[\n{cases}\n]}}\n'),
            self._messages,
            self._expected,
        ]
        if self._schemas:
            sinks.append(
                self._put(SCHEMAS, _object(codec.dump_schemas(dict(sorted(self._schemas.items())))))
            )
        files = {sink.file.name: sink.sha256 for sink in sinks}
        size = sum(sink.size for sink in sinks)
        if self._parquet:
            files[PARQUET] = _sha256(self._folder / PARQUET)
            size += (self._folder / PARQUET).stat().st_size
        manifest = _Manifest(
            VERSION, fmt, profile.name, profile.deployment, seed, self.counts(), files
        )
        return size + self._put(MANIFEST, _object(_MANIFEST.dump(manifest))).size

    def _put(self, name: str, content: str) -> Sink:
        """Writes a whole text file into the corpus and returns its closed Sink, which has its size
        and digest.
        """
        sink = Sink(self._folder / name)
        sink.raw(content.encode())
        sink.close()
        return sink


def _object(members: Mapping[str, Plain]) -> str:
    """The JSON text of an object, with a line for each member."""
    return (
        "{\n"
        + ",\n".join(f"{to_line(name)}:{to_line(value)}" for name, value in members.items())
        + "\n}\n"
    )


def _line(data: Plain) -> bytes:
    """A line of a file of JSON lines: the data as canonical text in ASCII, with the line's end."""
    return to_line(data).encode("ascii") + b"\n"


def _table_of(change: Change, tables: tuple[Table, ...]) -> Table | None:
    """The table whose columns give the types of the change's cells, so that the JSON may leave the
    types out; None if `tables` has no such table.
    """
    for table in tables:
        if (table.database, table.name) == (change.database, change.table):
            return table
    return None


class _Parquet:
    """Writes `messages.parquet`, whose rows have the columns of Spark's Kafka source. A message's
    offset is its ordinal (its number within its partition), its timestamp the writer's (Kafka's
    CreateTime).
    """

    def __init__(self, file: Path) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise HarnessError(
                f"{PARQUET} needs pyarrow, which is not installed: pip install pyarrow ({error})"
            ) from error
        self._messages, self._ordinals = list[Message](), list[int]()
        self._writer = pq.ParquetWriter(
            file, records.schema(), compression="snappy", store_schema=False
        )

    def add(self, message: Message, ordinal: int) -> None:
        """Adds a message, whose offset is `ordinal`; a group of rows is written when it is large
        enough.
        """
        self._messages.append(message)
        self._ordinals.append(ordinal)
        if len(self._messages) >= _PARQUET_ROWS:
            self._flush()

    def _flush(self) -> None:
        """Writes the messages that were added since the last group of rows, as one more group."""
        self._writer.write_batch(records.batch(self._messages, self._ordinals))
        self._messages.clear()
        self._ordinals.clear()

    def close(self) -> None:
        """Writes the messages that are left, and closes the file."""
        if self._messages:
            self._flush()
        self._writer.close()


def find(folder: Path, none: bool = False) -> list[Path]:
    """The folders of corpora at or below a folder, sorted; names that begin with a dot are passed
    over. If there is none, it returns [] with `none` and else raises CorpusError.
    """
    folder = Path(folder)
    folders = sorted(
        file.parent for file in folder.rglob(MANIFEST) if not _hidden(file.relative_to(folder))
    )
    if not folders and not none:
        raise CorpusError(f"{folder}: no corpus here: no {MANIFEST} at or below it")
    return folders


def _hidden(relative: Path) -> bool:
    """Whether a name in a relative path begins with a dot."""
    return any(part.startswith(".") for part in relative.parts)


def read(folder: Path) -> Corpus:
    """Reads and verifies the corpus in a folder. Raises CorpusError with the first problem."""
    folder = Path(folder)
    manifest = _manifest(folder)
    for problem in _file_problems(folder, manifest):
        raise CorpusError(problem)
    return Corpus(
        folder,
        manifest.format,
        manifest.profile,
        manifest.deployment,
        manifest.seed,
        _cases(folder, manifest),
    )


def verify(folder: Path) -> list[str]:
    """The problems of the corpus in a folder, each with its file; empty if there are none. No
    content of the files raises.
    """
    folder = Path(folder)
    try:
        manifest = _manifest(folder)
        problems = list(_file_problems(folder, manifest))
        if not problems:
            _cases(folder, manifest)
    except CorpusError as error:
        return [str(error)]
    return problems


def _bytes(file: Path) -> bytes:
    """The content of a regular file. Raises CorpusError for links, devices and pipes, so that a
    corpus cannot make us read anything outside its folder.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise CorpusError(f"{file}: refused: it is a symbolic link") from None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise CorpusError(f"{file}: missing") from None
        raise CorpusError(f"{file}: cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CorpusError(f"{file}: refused: it is no regular file")
    with os.fdopen(handle, "rb") as stream:
        return stream.read()


def _sha256(file: Path) -> str:
    """The SHA-256 of a regular file in hex digits. Raises CorpusError as `_bytes` does."""
    return hashlib.sha256(_bytes(file)).hexdigest()


@contextmanager
def _locate_errors(file: Path, line: int | None = None) -> Iterator[None]:
    """A context that turns a Malformed of its block, or nesting that is too deep, into a
    CorpusError that names the file and the line.
    """
    where = str(file) if line is None else f"{file}:{line}"
    try:
        yield
    except Malformed as error:
        raise CorpusError(f"{where}: {error}") from None
    except RecursionError:
        raise CorpusError(f"{where}: nested too deeply") from None


def _load_seed(data: Plain, at: str) -> int:
    """The seed in a manifest, which is the text of an integer. `at` is the field's path, for error
    texts. Raises Malformed for another text.
    """
    seed_text = string(data, at)
    if not seed_text.removeprefix("-").isdecimal() or len(seed_text) > 40:
        raise Malformed(at, "must be an integer's text")
    return int(seed_text)


def _load_component(data: Plain, at: str) -> str:
    """The name of a format or profile in a manifest. `at` is the field's path, for error texts.
    Raises Malformed if the name cannot be that of a folder.
    """
    name = string(data, at)
    if not _is_component(name):
        raise Malformed(at, f"{name[:80]!r} cannot name a folder of a corpus")
    return name


def _load_files(data: Plain, at: str) -> Mapping[str, str]:
    """The SHA-256 of each of a corpus's files, from the manifest's field at the path `at`. Raises
    Malformed for a file that corpora do not have, and for a required one that is missing.
    """
    for name in mapping(data, at):
        if name not in (*_REQUIRED, PARQUET, SCHEMAS):
            legal_names = f"{', '.join((*_REQUIRED, SCHEMAS))} and {PARQUET}"
            raise Malformed(at, f"refuses {name!r}: a corpus names {legal_names}, nothing else")
    for name in _REQUIRED:
        need(data, name, at)
    return _DIGESTS.load(data, at)


_DIGESTS: Final = mapping_form(TEXT)
_MANIFEST: Final = Record(
    _Manifest,
    {
        "version": INTEGER,
        **dict.fromkeys(("format", "profile"), Form(str, _load_component)),
        "deployment": Form(codec.dump_deployment, codec.load_deployment),
        "seed": Form(str, _load_seed),
        "counts": Record(
            _Counts, dict.fromkeys(("cases", "messages", "changes", "tables"), INTEGER)
        ),
        "sha256": Form(_DIGESTS.dump, _load_files),
    },
)
_SHELL: Final = Record(
    _Shell, {"id": TEXT, "level": INTEGER, "tags": NAMES, "tables": array_form(INTEGER)}
)


def _manifest(folder: Path) -> _Manifest:
    """The manifest of a corpus's folder. Raises CorpusError if it is not valid or of another
    version.
    """
    file = folder / MANIFEST
    content = _bytes(file)
    with _locate_errors(file):
        data = from_line(content)
        version = data.get("version") if isinstance(data, dict) else None
        if version != VERSION or type(version) is not int:
            raise Malformed(
                "version", f"{version!r} is not known; this harness reads version {VERSION}"
            )
        return _MANIFEST.load(data)


def _file_problems(folder: Path, manifest: _Manifest) -> Iterator[str]:
    """What is wrong with the files of a corpus: missing, of another checksum, or not in the
    manifest.
    """
    for name, digest in manifest.sha256.items():
        try:
            actual = _sha256(folder / name)
        except CorpusError as error:
            yield str(error)
            continue
        if actual != digest:
            yield (
                f"{folder / name}: wrong checksum: sha256 is {actual}, the manifest says"
                f" {digest[:80]}"
            )
    for entry in sorted(folder.iterdir()):
        if entry.name not in (MANIFEST, *manifest.sha256):
            yield f"{entry}: not in the manifest"


def _lines(file: Path) -> Iterator[tuple[int, Plain]]:
    """The lines of a JSON-lines file with their numbers, parsed. Raises CorpusError for a line that
    is not valid JSON, or a last line without its end.
    """
    content = _bytes(file)
    lines = content.split(b"\n")
    if lines.pop() != b"":
        raise CorpusError(f"{file}:{len(lines) + 1}: the last line does not end")
    for number, line in enumerate(lines, 1):
        with _locate_errors(file, number):
            yield number, from_line(line)


_HEAD = frozenset({"case", "ordinal"})
"""Fields of a line of messages.jsonl that are no part of the message's JSON form."""
_PLACE = frozenset({"case", "topic", "partition", "ordinal", "table_id"})
"""Fields of a line of expected.jsonl that are no part of the change's JSON form: they name its
message and its table.
"""


class _ReadMessage(NamedTuple):
    """A message that was read from a corpus: the id of its case, and the list of its expected
    changes, which grows while expected.jsonl is read.
    """

    case: str
    changes: list[Change]


def _cases(folder: Path, manifest: _Manifest) -> tuple[Case, ...]:
    """The cases of a corpus's folder, each put together from the files of tables, messages and
    expected changes. Raises CorpusError where the files and the manifest contradict each other.
    """
    tables, shells = _read_tables(folder / TABLES)
    if SCHEMAS in manifest.sha256:
        with _locate_errors(folder / SCHEMAS):
            codec.register_schemas(from_line(_bytes(folder / SCHEMAS)))
    read_messages: dict[tuple[str, int, int], _ReadMessage] = {}
    written: dict[str, list[tuple[Message, list[Change]]]] = {shell.id: [] for shell in shells}
    next_ordinals: defaultdict[tuple[str, int], int] = defaultdict(int)
    file = folder / MESSAGES
    for number, data in _lines(file):
        with _locate_errors(file, number):
            case, fields = _split(data, _HEAD, written)
            message = codec.load_message(fields, case=case)
            place = message.topic, message.partition
            ordinal = integer(need(data, "ordinal", ""), "ordinal")
            if ordinal != next_ordinals[place]:
                raise Malformed(
                    "ordinal",
                    f"is {ordinal}; the next of {message.topic!r}, partition {message.partition},"
                    f" is {next_ordinals[place]}",
                )
            next_ordinals[place] += 1
            changes: list[Change] = []
            written[case].append((message, changes))
            read_messages[(*place, ordinal)] = _ReadMessage(case, changes)
    file, total = folder / EXPECTED, 0
    for number, data in _lines(file):
        with _locate_errors(file, number):
            case, fields = _split(data, _PLACE, written)
            topic = string(need(data, "topic", ""), "topic")
            partition = integer(need(data, "partition", ""), "partition")
            ordinal = integer(need(data, "ordinal", ""), "ordinal")
            read_message = read_messages.get((topic, partition, ordinal))
            if read_message is None or read_message.case != case:
                raise Malformed(
                    "ordinal",
                    f"{case} has no message {ordinal} in {topic!r}, partition {partition}",
                )
            table = (
                tables[_index(data["table_id"], "table_id", tables)] if "table_id" in data else None
            )
            read_message.changes.append(codec.load_change(fields, table=table))
            total += 1
    counts = _Counts(len(shells), len(read_messages), total, len(tables))
    for name, count in asdict(counts).items():
        if (manifest_count := getattr(manifest.counts, name)) != count:
            raise CorpusError(
                f"{folder / MANIFEST}: field counts.{name}: {manifest_count}, but there are {count}"
            )
    cases: list[Case] = []
    for shell in shells:
        cases.append(
            Case(
                shell.id,
                manifest.format,
                manifest.profile,
                manifest.deployment,
                shell.level,
                tuple(tables[number] for number in shell.tables),
                tuple(Written(message, tuple(changes)) for message, changes in written[shell.id]),
                shell.tags,
            )
        )
    return tuple(cases)


def _split(
    data: Plain, head: frozenset[str], cases: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The case's id in a line of a corpus, and the line's members other than those in `head`.
    Raises Malformed if `cases` lacks the id.
    """
    case = string(need(mapping(data, ""), "case", ""), "case")
    if case not in cases:
        raise Malformed("case", f"{case[:200]!r} is not in {TABLES}")
    return case, {name: value for name, value in data.items() if name not in head}


def _index(data: Plain, at: str, tables: tuple[Table, ...]) -> int:
    """The number of a table, as a line of a corpus gives it in its field `at`. Raises Malformed if
    there is no such table among `tables`, those of the corpus.
    """
    number = integer(data, at)
    if not 0 <= number < len(tables):
        raise Malformed(at, f"{number} is no table of {TABLES}, which has {len(tables)}")
    return number


def _read_tables(file: Path) -> tuple[tuple[Table, ...], tuple[_Shell, ...]]:
    """Reads tables.json: the tables, and the cases without their messages."""
    content = _bytes(file)
    with _locate_errors(file):
        members = fields(from_line(content), "", {"tables", "cases"})
        tables = array(need(members, "tables", ""), "tables", codec.load_table)
        cases = array(need(members, "cases", ""), "cases", _SHELL.load)
        for i, shell in enumerate(cases):
            for j, number in enumerate(shell.tables):
                _index(number, f"cases[{i}].tables[{j}]", tables)
        if len({shell.id for shell in cases}) != len(cases):
            raise Malformed("cases", "an id is there twice")
        return tables, cases
