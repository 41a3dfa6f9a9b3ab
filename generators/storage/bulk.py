"""Bulk corpora: load written to Parquet files, in the shape of Spark's Kafka source.

`<out>/<format>/<profile>/` holds `bulk.json` and the folder `messages.parquet`. Statement n is unit
n of load, so expectations need not be stored: `generators.bulk.orders.load_scenario` gives them.
Message k of statement n has the offset `n * width + k`; `bulk.json` has the width, the largest
number of messages of a statement.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from generators.bulk import traffic
from generators.bulk.orders import DEFAULT, LoadOptions, load_scenario
from generators.drawing.cases import LAYOUT
from generators.errors import HarnessError
from generators.model import Layout, Message
from generators.profiles import Profile
from generators.storage import codec, records
from generators.storage._folder import whole_folder
from generators.storage.corpus import PARQUET, CorpusError
from generators.storage.jsonform import Malformed, Plain, from_line, to_line
from generators.wire_format import Format, get

VERSION: Final = 1
BULK: Final = "bulk.json"
"""The file that says what a bulk corpus holds."""
FIELDS: Final = (
    "version",
    "format",
    "profile",
    "deployment",
    "seed",
    "statements",
    "width",
    "messages",
    "content",
)
"""The fields of `bulk.json`, in their order."""
PROBED: Final = 256
"""Statements that are tried for the width; every kind of change is among them."""
BATCH: Final = 8_192
"""Rows that `verify` reads at a time."""
WORD: Final = 15
"""Hex digits of each of the two parts of a message's digest that are added up."""
COMPARED: Final = 1_000
"""Messages that `verify` compares with the writer's."""


class LoadShape(NamedTuple):
    """The largest number of messages that a statement of a load gives, and whether every statement
    gives that number.
    """

    width: int
    is_even: bool


@cache
def shape(fmt: Format[Any], profile: Profile, options: LoadOptions = DEFAULT) -> LoadShape:
    """How many messages a statement of a load gives, found by writing PROBED statements, an equal
    number of each operation to which `options` gives a weight.
    """
    ops = [op for op, weight in options.ops if weight]
    sizes: list[int] = []
    for op in ops:
        # A rare op may be in none of the load's first statements.
        options_of_op = replace(options, ops=((op, 1),))
        for unit in range(PROBED // len(ops)):
            scenario = load_scenario(fmt, profile, 0, unit, options_of_op)
            sizes.append(len(fmt.write(scenario.history, profile, LAYOUT)))
    return LoadShape(width=max(sizes), is_even=len(set(sizes)) == 1)


def numbered_messages(
    fmt: Format[Any],
    profile: Profile,
    seed: int,
    start: int,
    count: int,
    layout: Layout = LAYOUT,
    options: LoadOptions = DEFAULT,
) -> Iterator[tuple[int, Message]]:
    """The messages of the load's units `start` to `start + count - 1`, each with its offset. Each
    unit, which is one SQL statement, takes up `width` offsets, the most messages of one of PROBED
    units; offsets for which it has no message stay unused. If all probed units had equally many,
    the messages are numbered without a look at units. Raises HarnessError for a unit of more
    messages than `width`.
    """
    width, is_even = shape(fmt, profile, options)
    load_messages = partial(traffic.messages, fmt, profile, seed, layout=layout, options=options)
    if is_even:
        yield from zip(itertools.count(start * width), load_messages(start, count), strict=False)
        return
    for unit in range(start, start + count):
        for index, message in enumerate(load_messages(unit, 1)):
            if index == width:
                raise HarnessError(
                    f"statement {unit} has more than {width} messages, as none of {PROBED} probed"
                    " statements has"
                )
            yield unit * width + index, message


def hashed_bytes(kafka_row: Mapping[str, Any]) -> bytes:
    """The text of a row of Spark's Kafka source from which the row's hash is made.
    `spark_checks.services.corpora` makes the same text in SQL.
    """
    headers = kafka_row["headers"]
    texts = (
        None
        if headers is None
        else ",".join(
            f"{_hex(header['key'].encode())}={_hex(header['value'])}" for header in headers
        )
    )
    place = (
        kafka_row["topic"],
        kafka_row["partition"],
        kafka_row["offset"],
        kafka_row["timestamp"],
        kafka_row["timestampType"],
    )
    return "|".join(
        (
            _hex(kafka_row["key"]),
            _hex(kafka_row["value"]),
            *map(str, place),
            "-" if texts is None else texts,
        )
    ).encode()


def _hex(value: bytes | None) -> str:
    """The upper-case hex digits of bytes; "-" for None."""
    return "-" if value is None else value.hex().upper()


def digest_words(kafka_row: Mapping[str, Any]) -> tuple[int, int]:
    """The two numbers, from the row's SHA-256, that are added to the two sums from which `content`
    makes the hash of a whole corpus.
    """
    digest = hashlib.sha256(hashed_bytes(kafka_row)).hexdigest()
    return int(digest[:WORD], 16), int(digest[WORD : 2 * WORD], 16)


def content(first: int, second: int) -> str:
    """The hash of all messages, from the sums of the two numbers of each (`digest_words`). It does
    not depend on the order of messages or on the files.
    """
    return "".join(f"{total % 16**WORD:0{WORD}x}" for total in (first, second))


def manifest(
    fmt: Format[Any], profile: Profile, seed: int, statements: int, messages: int, content: str
) -> bytes:
    """The bytes of a bulk corpus's `bulk.json`: what the corpus holds, how many statements and
    messages, and `content`, the digest of its messages. The seed is written as a text.
    """
    deployment = codec.dump_deployment(profile.deployment)
    values = (
        VERSION,
        fmt.name,
        profile.name,
        deployment,
        str(seed),
        statements,
        shape(fmt, profile).width,
        messages,
        content,
    )
    lines = (f'"{name}":{to_line(value)}' for name, value in zip(FIELDS, values, strict=True))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


@contextmanager
def writing(out: Path, fmt: Format[Any], profile: Profile) -> Iterator[Path]:
    """A context that yields a new folder for a corpus. At the end the folder takes its final place;
    after an error it is removed. Raises UsageError and HarnessError as `corpus.write` does.
    """
    with whole_folder(out / fmt.name / profile.name, {BULK, PARQUET}) as temporary:
        yield temporary


def number_files(folder: Path) -> int:
    """Renames the files that Spark wrote to `00000.parquet` and so on, and removes Spark's other
    files. Returns the number of files.
    """
    files = sorted(folder.glob("part-*.parquet"))
    for leftover in set(folder.iterdir()) - set(files):
        leftover.unlink()
    for number, file in enumerate(files):
        file.rename(folder / f"{number:05}.parquet")
    return len(files)


def find(folder: Path) -> list[Path]:
    """The folders at or below `folder` that hold a bulk corpus, sorted; without those whose name
    begins with a dot, which are not finished.
    """
    return sorted(
        file.parent for file in Path(folder).rglob(BULK) if not file.parent.name.startswith(".")
    )


def verify(folder: Path) -> list[str]:
    """The problems of a bulk corpus, a sentence each: its messages are compared with its manifest,
    and a sample of them with the writer.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        manifest_fields = _manifest(folder / BULK)
        fmt = get(manifest_fields["format"])
        profile = fmt.profile(manifest_fields["profile"])
        step = max(1, manifest_fields["messages"] // COMPARED)
        count, first, second, problems = 0, 0, 0, list[str]()
        for file in sorted((folder / PARQUET).glob("*.parquet")):
            for batch in pq.ParquetFile(file).iter_batches(BATCH):
                for kafka_row in (
                    batch.cast(records.schema())
                    .set_column(5, "timestamp", batch["timestamp"].cast(pa.int64()))
                    .to_pylist()
                ):
                    head, tail = digest_words(kafka_row)
                    first += head
                    second += tail
                    if (
                        count % step == 0
                        and not problems
                        and kafka_row
                        != _writer_row(fmt, profile, manifest_fields, kafka_row["offset"])
                    ):
                        problems.append(
                            f"{file}: offset {kafka_row['offset']} is not what the writer writes"
                        )
                    count += 1
    except (CorpusError, OSError, pa.ArrowException) as error:
        return [str(error)]
    if count != manifest_fields["messages"]:
        problems.append(
            f"{folder}: {count} messages, the manifest says {manifest_fields['messages']}"
        )
    elif (hashed := content(first, second)) != manifest_fields["content"]:
        problems.append(
            f"{folder}: content is {hashed}, the manifest says {manifest_fields['content']}"
        )
    return problems


def _writer_row(
    fmt: Format[Any], profile: Profile, manifest_fields: Mapping[str, Any], offset: int
) -> dict[str, Any] | None:
    """The row of Spark's Kafka source that the writer makes for an offset of a bulk corpus; None if
    the corpus has no message there.
    """
    unit, place = divmod(offset, manifest_fields["width"])
    unit_messages = list(traffic.messages(fmt, profile, int(manifest_fields["seed"]), unit, 1))
    return (
        records.kafka_row(unit_messages[place], offset)
        if place < len(unit_messages) and unit < manifest_fields["statements"]
        else None
    )


def _manifest(file: Path) -> dict[str, Plain]:
    """The fields of a bulk corpus's manifest file. Raises CorpusError if the file is not valid
    JSON, has another version or other fields, or a seed that is no text of an integer of up to 40
    digits.
    """
    try:
        data = from_line(file.read_bytes())
    except Malformed as error:
        raise CorpusError(f"{file}: {error}") from None
    if not isinstance(data, dict) or data.get("version") != VERSION or set(data) != set(FIELDS):
        raise CorpusError(
            f"{file}: version {VERSION} of a bulk corpus has the fields {', '.join(FIELDS)}"
        )
    if not (isinstance(data["seed"], str) and re.fullmatch(r"-?[0-9]{1,40}", data["seed"])):
        raise CorpusError(f"{file}: seed must be an integer's text")
    return data
