"""The registries of a run: the small one and Apicurio answer alike; the user's own gets schemas by
id, and loses them.
"""

import base64
import io
import json
import os
import ssl
import threading
import urllib.error
import urllib.request
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest
from command_lines import performed

from conformance.brokers import registry
from conformance.brokers.asked import BrokerOptions
from conformance.brokers.registry import (
    ADDRESS,
    CA,
    USER,
    Remote,
    local_registry_url,
    reachable_registry,
)
from conformance.cases.catalogue import named_cases
from conformance.engines.engine import write_table
from generators.errors import HarnessError, UsageError
from generators.families import confluent
from generators.model import Message
from generators.wire_format import get

FORMATS = ("debezium-avro",)


@pytest.fixture
def named(monkeypatch):
    """Messages of a writer: of two schemas of one subject, of a subject that must be quoted, of a
    schema of two subjects.
    """
    monkeypatch.setattr(confluent, "SCHEMAS", {})
    given = (
        ("a", '"string"'),
        ("a", '["null","long"]'),
        ("b/ü", '{"type":"fixed","name":"F","size":2}'),
        ("c", '"string"'),
    )
    return [message(*pair) for pair in given]


def message(topic, text):
    """A message whose value names a schema."""
    return Message(topic, 0, None, confluent.frame_schema(f"{topic}-value", text) + b"\0")


def reply(url, number):
    """Status, and the schema or the error's code."""
    try:
        with urllib.request.urlopen(f"{url}/schemas/ids/{number}", timeout=20) as answer:
            return answer.status, json.loads(answer.read())["schema"]
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())["error_code"]


@pytest.mark.slow
def test_apicurio_and_the_small_registry_answer_alike(named, monkeypatch):
    """Also where the two subjects of one schema come in two archives."""
    monkeypatch.setattr(registry, "_ARCHIVE_SCHEMAS", 2)
    before, notes = os.environ.get(ADDRESS), []
    with reachable_registry(FORMATS, BrokerOptions("embedded"), notes.append):
        url = os.environ[ADDRESS]
        registry.register_schemas(named)
        later = message("a", '"bytes"')
        number = int.from_bytes(later.value[1:5])
        assert reply(url, number) == (404, 40403)
        registry.register_schemas([later, message("d", '"string"')])
        for known in (*confluent.SCHEMAS, 77):
            assert reply(url, known) == reply(local_registry_url(), known), known
        assert reply(url, number) == (200, '"bytes"')
        with urllib.request.urlopen(f"{url}/subjects", timeout=20) as answer:
            assert set(json.loads(answer.read())) == {"a-value", "b/ü-value", "c-value", "d-value"}
        with urllib.request.urlopen(f"{url}/subjects/a-value/versions", timeout=20) as answer:
            assert json.loads(answer.read()) == [1, 2, 3]
        assert url in notes[-1]
    assert os.environ.get(ADDRESS) == before
    with pytest.raises(urllib.error.URLError):
        reply(url, 77)


@pytest.mark.parametrize("formats", [(), ("debezium-json", "ticdc-simple-avro")])
def test_formats_without_a_registry_start_none(formats, monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)
    with reachable_registry(formats, BrokerOptions("embedded"), pytest.fail):
        assert ADDRESS not in os.environ
    registry.ensure_registry(formats)
    assert ADDRESS not in os.environ


def test_without_a_broker_the_small_one_is_named(monkeypatch):
    monkeypatch.delenv(ADDRESS, raising=False)
    with reachable_registry(FORMATS, BrokerOptions("none"), pytest.fail):
        assert os.environ[ADDRESS] == local_registry_url()
    assert ADDRESS not in os.environ


class Own(BaseHTTPRequestHandler):
    """A registry as Confluent's: users, modes of subjects, versions under given ids."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        """Counts connections."""
        self.server.asked["CONNECT", str(self.client_address)] = None  # type: ignore[attr-defined]
        super().setup()

    def answer(self):
        """Keeps what is asked; 401 without the password, 422 for an id outside of mode IMPORT."""
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        asked, status = self.server.asked, 200  # type: ignore[attr-defined]
        if (
            self.headers.get("Authorization")
            != f"Basic {base64.b64encode(b'alice:s3cret!').decode()}"
        ):
            status = 401
        elif (
            self.command == "POST"
            and ("PUT", self.path.replace("/subjects/", "/mode/").removesuffix("/versions"))
            not in asked
        ):
            status = 422
        else:
            asked[self.command, self.path] = body
        content = json.dumps(
            {"message": f"{status} for {self.headers.get('Authorization')}"}
        ).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, *_):
        """Nothing is logged."""


@pytest.fixture
def own(certificates, monkeypatch):
    """A registry with TLS and a password, which the environment names: its address, and what it was
    asked.
    """
    monkeypatch.setenv(USER, "alice:s3cret!")
    monkeypatch.setenv(CA, str(certificates / "ca.pem"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "server-all.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.asked = {}  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}", server.asked  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def test_a_registry_of_the_users_gets_the_schemas_under_their_ids_and_loses_them(
    own, named, monkeypatch
):
    url, asked = own
    monkeypatch.setattr(registry, "_NOTED", 2)
    notes = []
    with reachable_registry(FORMATS, BrokerOptions("none", registry=url), notes.append):
        assert os.environ[ADDRESS] == url
        registry.register_schemas(named)
        registry.register_schemas(named)
    assert notes == ["removing what the run put into the registry: 2 of 3 subjects"]
    # A connection to put in, and another to remove.
    assert sum(method == "CONNECT" for method, _ in asked) == 2
    modes = {path for method, path in asked if method == "PUT"}
    assert modes == {"/mode/a-value", "/mode/b%2F%C3%BC-value", "/mode/c-value"}
    assert asked["PUT", "/mode/a-value"] == {"mode": "IMPORT"}
    number = list(confluent.SCHEMAS)[2]
    assert asked["POST", "/subjects/b%2F%C3%BC-value/versions"] == {
        "schema": confluent.SCHEMAS[number][1],
        "id": number,
    }
    assert {path for method, path in asked if method == "DELETE"} >= {
        "/subjects/a-value",
        "/subjects/a-value?permanent=true",
    }
    assert asked["POST", "/subjects/c-value/versions"] == {
        "schema": '"string"',
        "id": next(iter(confluent.SCHEMAS)),
    }


def test_a_run_of_one_case_registers_its_subjects_alone(own, tmp_path):
    """What the profile's other cases name, of which all are read, no decoder of this run asks
    for.
    """
    url, asked = own
    fmt = get("debezium-avro")
    profile = fmt.profile("3.5.0.Final")
    case = next(case for case in named_cases(fmt, (profile,)) if case.id.endswith("/shape/insert"))
    with reachable_registry(FORMATS, BrokerOptions("none", registry=url), lambda _text: None):
        write_table(tmp_path, "one", [written.message for written in case.written])
    subjects = {path.split("/")[2] for method, path in asked if method == "POST"}
    assert subjects == {
        quote(f"{case.written[0].message.topic}-{side}", safe="") for side in ("key", "value")
    }
    assert len([path for method, path in asked if method == "POST"]) == 2 < len(confluent.SCHEMAS)


def test_no_archive_for_apicurio_grows_with_the_run(named, monkeypatch):
    """An archive of all schemas of a large run was not stored within the time limit of an answer
    while other work kept the machine busy, and the run ended.
    """
    monkeypatch.setattr(registry, "_ARCHIVE_SCHEMAS", 3)
    archives = []

    def keep_archive(_remote, _connection, method, path, body, _kind):
        assert (method, path) == ("POST", "/apis/registry/v2/admin/import")
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            archives.append(
                [name for name in archive.namelist() if name.endswith("ArtifactVersion.json")]
            )

    monkeypatch.setattr(Remote, "_request_on", keep_archive)
    remote = Remote("http://localhost:8080/apis/ccompat/v7")
    remote.register_schemas(named)
    remote.register_schemas([*named, message("a", '"bytes"')])
    place = "groups/default/artifacts"
    assert archives == [
        [
            f"{place}/a-value/versions/1.ArtifactVersion.json",
            f"{place}/a-value/versions/2.ArtifactVersion.json",
            f"{place}/b%2F%C3%BC-value/versions/1.ArtifactVersion.json",
        ],
        [f"{place}/c-value/versions/1.ArtifactVersion.json"],
        [f"{place}/a-value/versions/3.ArtifactVersion.json"],
    ]


def test_a_refusal_names_no_password(own, named, certificates):
    url, _ = own
    remote = Remote(url, "alice:wr0ng!", str(certificates / "ca.pem"))
    with pytest.raises(HarnessError, match="answers PUT /mode/a-value with 401") as refusal:
        remote.register_schemas(named)
    assert "wr0ng" not in str(refusal.value)
    with pytest.raises(HarnessError, match=r"does not answer: .*certificate"):
        Remote(url).register_schemas(named)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://alice:s3cret!@localhost:1", "every user of the machine sees the arguments"),
        ("localhost:8081", "expected http://HOST:PORT"),
        ("http://127.0.0.1:9", "the schema registry at 127.0.0.1:9 does not answer"),
    ],
)
def test_an_address_that_cannot_be_is_told_without_its_password(url, says, named):
    with pytest.raises((UsageError, HarnessError), match=says) as refusal:
        Remote(url).register_schemas(named)
    assert "s3cret" not in str(refusal.value)


def test_the_command_line_takes_a_registry():
    done = performed(
        "run", "debezium-avro", "--broker", "none", "--registry", "https://u:s3cret!@localhost:1"
    )
    assert isinstance(done.exception, UsageError)
    assert USER in str(done.exception)
    assert "s3cret" not in f"{done.output}{done.exception}"
