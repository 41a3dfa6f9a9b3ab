"""The recordings on disk: `<product>/recordings.json` (where each comes from, sizes and checksums),
the messages, the truth.

A checkout has them in `fixtures/recorded`, an installed package in a folder of its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from generators.errors import HarnessError, UnknownName
from generators.families import confluent
from generators.model import Message
from generators.recorded.episodes import Recording
from generators.wire_format import get

PRODUCTS: Final = ("canal", "debezium", "ticdc")
INDEX: Final = "recordings.json"
"""The file that lists a product's recordings and documents."""
_FACTS: Final = (
    "name",
    "format",
    "profile",
    "release",
    "server",
    "options",
    "how",
    "truth",
    "count",
)
"""Fields of `Recording` that the index tells of each recording."""


class DamagedRecording(HarnessError):
    """A file of the recordings is missing or not what was recorded."""


def root() -> Path:
    """The folder of all recordings: the installed package's own, or the checkout's
    `fixtures/recorded`.
    """
    of_package = Path(__file__).parent / "data"
    return (
        of_package if of_package.is_dir() else Path(__file__).parents[2] / "fixtures" / "recorded"
    )


@cache
def _index(product: str) -> Mapping[str, Any]:
    """The index of a product's recordings, read once. Raises UnknownName for a product without
    recordings, DamagedRecording for an index that cannot be read.
    """
    if product not in PRODUCTS:
        raise UnknownName("product", product, PRODUCTS)
    file = root() / product / INDEX
    try:
        index: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DamagedRecording(f"{file}: {error}") from error
    return index


def recordings(product: str) -> tuple[Recording, ...]:
    """The recordings of a product, sorted by name. Raises UnknownName and DamagedRecording."""
    listed: list[Recording] = []
    for entry in _index(product)["recordings"]:
        facts = {fact: entry[fact] for fact in _FACTS}
        listed.append(Recording(product=product, **facts))
    return tuple(sorted(listed, key=lambda recording: recording.name))


def _files(product: str) -> Iterator[tuple[str, str]]:
    """The names of the files that a product's folder must hold beside its index, each with its
    SHA-256.
    """
    index = _index(product)
    for name, entry in index["documents"].items():
        yield f"{name}.json.xz", entry["sha256"]
    for entry in index["recordings"]:
        yield f"{entry['name']}/messages.jsonl.xz", entry["sha256"]


def _unpack(product: str, name: str) -> bytes:
    """The content of a file, after a check of its SHA-256. Raises DamagedRecording."""
    file = root() / product / name
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DamagedRecording(f"{file}: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != dict(_files(product)).get(name):
        raise DamagedRecording(f"{file}: the SHA-256 is not the one in {INDEX}")
    return lzma.decompress(data)


@cache
def messages(recording: Recording) -> tuple[Message, ...]:
    """The messages in the order of their recording. A message's `event` is the number of its event
    in the truth (what SQL showed), if the recording names one; else the message's number in the
    whole run, which may have gaps. The schemas that messages name are registered in this process.
    Raises DamagedRecording.
    """
    lines = _unpack(recording.product, f"{recording.name}/messages.jsonl.xz").splitlines()
    if len(lines) != recording.count:
        raise DamagedRecording(
            f"{recording.product}/{recording.name}: {len(lines)} messages, {recording.count} in"
            f" {INDEX}"
        )
    recorded = tuple(_parse_message(json.loads(line)) for line in lines)
    if get(recording.format).container == "confluent":
        _register_schemas(recorded, truth(recording.product, "schemas"))
    return recorded


def _register_schemas(messages: Iterable[Message], texts: Mapping[str, str]) -> None:
    """Registers the Avro schema of each recorded key and value, which names it by number, so that
    decoders can look it up; `texts` are the schemas by number.
    """
    for message in messages:
        for side, data in (("key", message.key), ("value", message.value)):
            if data is not None:
                # Confluent's head: a zero byte, then the schema's number.
                number = int.from_bytes(data[1 : confluent.HEAD])
                confluent.recall({number: ((f"{message.topic}-{side}",), texts[str(number)])})


def _parse_message(line: Mapping[str, Any]) -> Message:
    """The message of one line of a recording's file; `event` is the line's own number if the line
    does not name another.
    """
    headers = tuple((name, value.encode()) for name, value in line.get("headers", ()))
    key, value = _bytes(line, "key"), _bytes(line, "value")
    return Message(
        line["topic"], line["partition"], key, value, headers, event=line.get("event", line["n"])
    )


def _bytes(line: Mapping[str, Any], field: str) -> bytes | None:
    """A recorded key or value from a line of the recording's file, which holds it as text or
    base64; None if the record had none.
    """
    if f"{field}_b64" in line:
        return base64.b64decode(line[f"{field}_b64"])
    return line[field].encode() if field in line else None


@cache
def truth(product: str, name: str = "truth") -> Any:
    """A JSON document beside the recordings, such as what SQL showed. Raises UnknownName and
    DamagedRecording.
    """
    documents = _index(product)["documents"]
    if name not in documents:
        raise UnknownName("document", name, documents, of=product)
    return json.loads(_unpack(product, f"{name}.json.xz"))


def verify(product: str) -> list[str]:
    """The problems of a product's files, a sentence each; empty if there are none. A file that is
    damaged, or that is missing, is the only problem named, since reading stops there; else these
    are all files that the index does not list.
    """
    problems = []
    try:
        for name, _ in _files(product):
            _unpack(product, name)
        for recording in recordings(product):
            messages(recording)
        stray = {
            p.relative_to(root() / product).as_posix()
            for p in (root() / product).rglob("*")
            if p.is_file()
        }
        stray -= {INDEX, *(name for name, _ in _files(product))}
        problems = [f"{product}/{name}: not in {INDEX}" for name in sorted(stray)]
    except (DamagedRecording, ValueError, lzma.LZMAError, KeyError) as error:
        problems.append(str(error))
    return problems
