"""The schema registry of a run: a small one in this process, Apicurio beside the embedded Kafka, or
the user's own.

A decoder finds it in the environment: ADDRESS is its URL, USER `NAME:PASSWORD`, CA a file of
certificates in PEM. The registry has the schemas that messages name, under the ids that stand
there. The small one answers `/schemas/ids/N` with whatever the writers of this process have named
up to then; the others are told (`register_schemas`) before messages are read.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import io
import json
import os
import ssl
import threading
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import quote, urlsplit

from conformance.brokers.apicurio import CONFLUENT_API, EmbeddedRegistry
from conformance.brokers.asked import BrokerOptions
from conformance.brokers.jars import Note
from generators.errors import HarnessError, UsageError
from generators.families import confluent
from generators.model import Message
from generators.wire_format import get

ADDRESS: Final = "CDC_CONFORMANCE_REGISTRY"
USER: Final = f"{ADDRESS}_USER"
CA: Final = f"{ADDRESS}_CA"
_IMPORT: Final = "/apis/registry/v2/admin/import"
"""The path at which Apicurio takes an archive of schemas."""
_JSON: Final = "application/vnd.schemaregistry.v1+json"
_ANSWER_S: Final = 60.0
"""Time limit of an answer of the registry, in seconds."""
_NOTED: Final = 200
"""Deleted subjects between two lines of progress."""
_ARCHIVE_SCHEMAS: Final = 500
"""Schemas of one archive for Apicurio. It answers once it has stored the last of them; the ten
thousand of a large run in one archive took longer than _ANSWER_S on a busy machine.
"""


class Remote:
    """A schema registry over HTTP, into which schemas are put with the ids that messages name.
    Apicurio takes them as an archive in a form of its own; any other registry must have Confluent's
    interface, and takes them subject by subject, in mode IMPORT. `user` is NAME:PASSWORD, `ca` a
    file of certificates; "" for none. With `tidy`, `close` deletes the subjects that it made.
    """

    def __init__(self, url: str, user: str = "", ca: str = "", *, tidy: bool = False) -> None:
        self._at, self._user, self._removes = urlsplit(url.rstrip("/")), user, tidy
        if self._at.scheme not in ("http", "https") or not self._at.hostname:
            # What stands before an @ may be a user and a password.
            safe_url = self._at.hostname or repr(url.rpartition("@")[2])
            raise UsageError(
                f"--registry {safe_url}: expected http://HOST:PORT or https://HOST:PORT"
            )
        if self._at.username is not None:
            raise UsageError(
                f"--registry: every user of the machine sees the arguments of a command. Set {USER}"
                " to NAME:PASSWORD"
            )
        self._context = (
            ssl.create_default_context(cafile=ca or None) if self._at.scheme == "https" else None
        )
        self._sent: set[Version] = set()

    @property
    def path(self) -> str:
        """The path of the registry's URL, below which all its answers are."""
        return self._at.path

    def request(self, method: str, path: str, body: bytes = b"", kind: str = _JSON) -> bytes:
        """Sends one request to the schema registry over a connection of its own and returns the
        body of the answer. Raises HarnessError for any status but 200 and 204.
        """
        with self._connect() as to:
            return self._request_on(to, method, path, body, kind)

    def _connect(self) -> contextlib.closing[http.client.HTTPConnection]:
        """A connection to the registry, which is closed at the end of a `with` block."""
        host, port = self._at.hostname or "", self._at.port
        if self._context:
            return contextlib.closing(
                http.client.HTTPSConnection(host, port, timeout=_ANSWER_S, context=self._context)
            )
        return contextlib.closing(http.client.HTTPConnection(host, port, timeout=_ANSWER_S))

    def _request_on(
        self,
        to: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes = b"",
        kind: str = _JSON,
    ) -> bytes:
        """Sends one request over an open connection to the schema registry and returns the body of
        the answer. Raises HarnessError if none comes, or for any status but 200 and 204.
        """
        headers = {"Content-Type": kind, "Accept": "*/*"}
        if self._user:
            headers["Authorization"] = f"Basic {base64.b64encode(self._user.encode()).decode()}"
        try:
            to.request(method, path, body or None, headers)
            answer = to.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise HarnessError(
                f"the schema registry at {self._at.netloc} does not answer: {error}"
            ) from error
        if answer.status not in (200, 204):
            answer_text = " ".join(content.decode("utf-8", "replace").split())[:200]
            raise HarnessError(
                f"the schema registry at {self._at.netloc} answers {method} {path} with"
                f" {answer.status}: {answer_text}"
            )
        return content

    def register_schemas(self, messages: Iterable[Message]) -> None:
        """Sends to the registry the schemas that the messages name, each with its own number; those
        that an earlier call has sent are left out. Raises HarnessError if the registry refuses.
        """
        new = {
            version: schema_text
            for version, schema_text in confluent.schema_versions(messages).items()
            if version not in self._sent
        }
        if not new:
            return
        with self._connect() as to:
            if self._at.path.endswith(CONFLUENT_API):
                self._import_archives(to, new)
            else:
                self._import_subjects(to, new)

    def _import_archives(
        self, to: http.client.HTTPConnection, schemas: Mapping[Version, str]
    ) -> None:
        """Sends schemas to Apicurio over an open connection, _ARCHIVE_SCHEMAS in an archive. Raises
        HarnessError if the registry refuses one.
        """
        path = self._at.path.removesuffix(CONFLUENT_API) + _IMPORT
        remaining = iter(schemas.items())
        while part := dict(islice(remaining, _ARCHIVE_SCHEMAS)):
            archive = export_archive(part, self._sent)
            self._request_on(to, "POST", path, archive, "application/zip")
            self._sent |= part.keys()

    def _import_subjects(
        self, to: http.client.HTTPConnection, schemas: Mapping[Version, str]
    ) -> None:
        """Sends schemas over an open connection to a registry with Confluent's interface: puts each
        new subject into mode IMPORT, then posts its versions with their ids. One connection serves
        all, as there are thousands, and each handshake of TLS takes longer than the answer. Raises
        HarnessError if the registry refuses.
        """
        known_subjects = {subject for subject, _ in self._sent}
        for subject in dict.fromkeys(subject for subject, _ in schemas):
            if subject not in known_subjects:
                mode_path = f"{self._at.path}/mode/{quote(subject, safe='')}"
                self._request_on(to, "PUT", mode_path, b'{"mode":"IMPORT"}')
        for (subject, number), schema_text in schemas.items():
            versions_path = f"{self._at.path}/subjects/{quote(subject, safe='')}/versions"
            body = json.dumps({"schema": schema_text, "id": number}).encode()
            self._request_on(to, "POST", versions_path, body)
            self._sent.add((subject, number))

    def close(self, note: Note = lambda _line: None) -> None:
        """Deletes from the registry the subjects that this run has registered, if it is to clean up
        behind itself. An error of the registry is ignored.
        """
        created_subjects = sorted({subject for subject, _ in self._sent}) if self._removes else []
        with self._connect() as to:
            for number, subject in enumerate(created_subjects):
                if number and number % _NOTED == 0:
                    note(
                        f"removing what the run put into the registry: {number} of {len(created_subjects)}"
                        " subjects"
                    )
                for query in ("", "?permanent=true"):
                    with contextlib.suppress(HarnessError):
                        self._request_on(
                            to,
                            "DELETE",
                            f"{self._at.path}/subjects/{quote(subject, safe='')}{query}",
                        )


Version: TypeAlias = tuple[str, int]
"""A subject, and the id of a schema that is a version of it."""


def export_archive(schemas: Mapping[Version, str], before: Collection[Version] = ()) -> bytes:
    """Schemas, by (subject, id), as a zip archive in the form of Apicurio's export, which is
    imported with the same ids: first the texts, then the versions of subjects that name them.
    `before` are the (subject, id) of earlier archives: the numbers of a subject's versions continue
    after theirs.
    """
    packed = io.BytesIO()
    versions = Counter(subject for subject, _ in before)
    uses = Counter(number for _, number in before)
    contents = {number: schema_text for (_, number), schema_text in schemas.items()}
    with zipfile.ZipFile(packed, "w") as file:

        def put(name: str, kind: str, **entry: Any) -> None:
            """Writes an entry of the archive: a JSON file, whose name ends with its kind."""
            file.writestr(f"{name}.{kind}.json", json.dumps(entry))

        put(
            "manifest",
            "Manifest",
            systemName="apicurio-registry",
            exportVersion="1.0",
            exportedOn=0,
        )
        for number, schema_text in contents.items():
            digest = hashlib.sha256(schema_text.encode()).hexdigest()
            names = {
                "contentId": number,
                "canonicalHash": digest,
                "contentHash": digest,
                "artifactType": "AVRO",
            }
            put(f"content/{digest}", "Content", **names)
            file.writestr(f"content/{digest}.Content.data", schema_text)
        for subject, number in schemas:
            versions[subject] += 1
            version = versions[subject]
            # One content has one id in messages, and a global one in each of its subjects.
            names = {
                "globalId": number + (uses[number] << 31),
                "contentId": number,
                "artifactId": subject,
            }
            names |= {"artifactType": "AVRO", "createdBy": ""}
            place = f"groups/default/artifacts/{quote(subject, safe='')}/versions/{version}"
            put(
                place,
                "ArtifactVersion",
                **names,
                version=str(version),
                versionId=version,
                state="ENABLED",
                createdOn=0,
                isLatest=True,
            )
            uses[number] += 1
    return packed.getvalue()


class _Answers(BaseHTTPRequestHandler):
    """Answers requests of the small registry: a schema by its id, in the form of Confluent's
    registry.
    """

    protocol_version = "HTTP/1.1"
    # Unbuffered, the body would wait for the client's acknowledgement of the head.
    wbufsize = -1

    def do_GET(self) -> None:
        """Answers a request for a schema by its number (`.../ids/NUMBER`) with the schema's text as
        JSON; any other request, and an unknown number, with status 404.
        """
        *_, folder, number = ("", *self.path.partition("?")[0].split("/"))
        is_known = folder == "ids" and number.isdecimal() and int(number) in confluent.SCHEMAS
        answer: Any = {"error_code": 40403, "message": "Schema not found"}
        if is_known:
            _, schema_text = confluent.SCHEMAS[int(number)]
            answer = {"schema": schema_text}
        body = json.dumps(answer).encode()
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


class _Server(ThreadingHTTPServer):
    """The small registry: each request is answered in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128


@cache
def local_registry_url() -> str:
    """Starts the small schema registry in a thread of this process, once, and returns its URL; it
    lives as long as the process.
    """
    server = _Server(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True, name="registry").start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def read_schema(number: int) -> str | None:
    """The text of the schema with this number, asked of the registry that the environment variables
    name; None if they name none, or if the registry does not answer with one.
    """
    url = os.environ.get(ADDRESS)
    if not url:
        return None
    with contextlib.suppress(HarnessError):
        path = f"{urlsplit(url).path.rstrip('/')}/schemas/ids/{number}"
        answer = Remote(url, os.environ.get(USER, ""), os.environ.get(CA, "")).request("GET", path)
        return str(json.loads(answer)["schema"])
    return None


_REMOTES: Final[list[Remote]] = []
"""The registries beside the small one of this process that the run uses."""


def register_schemas(messages: Sequence[Message]) -> None:
    """Puts the schemas that these messages name into every schema registry that the run uses,
    before a decoder reads the messages.
    """
    for remote in _REMOTES:
        remote.register_schemas(messages)


def names_schemas(formats: Sequence[str]) -> bool:
    """Whether messages of at least one of the formats name schemas by id, so that a decoder needs a
    schema registry.
    """
    return any(get(name).container == "confluent" for name in formats)


def ensure_registry(formats: Sequence[str]) -> None:
    """Starts the small registry of this process, and names it in the environment variable that
    decoders read, if a format's messages name schemas and the variable is not set.
    """
    if names_schemas(formats):
        os.environ.setdefault(ADDRESS, local_registry_url())


@contextlib.contextmanager
def reachable_registry(
    formats: Sequence[str], broker_options: BrokerOptions, note: Note
) -> Iterator[None]:
    """A registry for the decoders that start within the context, if a format needs one: the user's,
    else Apicurio where there is a broker, else the small one that the harness runs in a thread. The
    environment variable of its address is set within the context.
    """
    if not names_schemas(formats):
        yield
        return
    with contextlib.ExitStack() as stack:
        url, remote = local_registry_url(), None
        if broker_options.registry:
            url = broker_options.registry
            remote = Remote(url, os.environ.get(USER, ""), os.environ.get(CA, ""), tidy=True)
        elif broker_options.kafka:
            url = stack.enter_context(EmbeddedRegistry(note)).url
            remote = Remote(url)
        if remote is not None:
            _REMOTES.append(remote)
            stack.callback(_REMOTES.remove, remote)
            stack.callback(remote.close, note)
        before = os.environ.get(ADDRESS)
        os.environ[ADDRESS] = url
        stack.callback(
            lambda: (
                os.environ.update({ADDRESS: before}) if before else os.environ.pop(ADDRESS, None)
            )
        )
        yield
