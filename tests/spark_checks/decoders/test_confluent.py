"""Messages that name a registry's schema: what becomes of them when it does not know it, is slow,
or is away.
"""

import json
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from conformance.brokers.registry import local_registry_url
from conformance.cases.catalogue import named_cases
from conformance.judging.compare import same_text
from generators.model import Case, Kind, State
from generators.recorded.registry import recorded_cases
from generators.wire_format import get
from spark_checks.decoders.families import confluent
from spark_checks.decoders.families.confluent import Registry
from tests.shared import ticdc_avro_bytes

ROW: Mapping[str, Any] = {
    "type": "record",
    "name": "Value",
    "namespace": "s.d.t",
    "connect.name": "s.d.t.Value",
    "fields": [
        {"name": "id", "type": "int"},
        {
            "name": "d",
            "type": [
                "null",
                {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2},
            ],
            "default": None,
        },
        {
            "name": "t",
            "type": {
                "type": "long",
                "connect.name": "io.debezium.time.MicroTime",
                "connect.version": 1,
            },
        },
        {"name": "f", "type": "float"},
        {"name": "a", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "m", "type": {"type": "map", "values": "boolean"}},
    ],
}
DATUM = bytes.fromhex("0e0202fe80c0f9cce801cdcccc3d04020261000002026b0100")
"""7; -0.02; 31219200000; 0.1; ["a", null]; {"k": true}: by the specification's rules, by hand."""
HEAD = b"\x00\x00\x00\x00\x07"
PAYLOAD = '{"id":7,"d":"-0.02","t":31219200000,"f":0.1,"a":["a",null],"m":{"k":true}}'


class Answers(BaseHTTPRequestHandler):
    """Tells schemas, after `failures`: statuses in an answer's place, 0 for none that comes; `bodies`
    come in the place of a schema. Counts what it is asked.
    """

    schemas: ClassVar[dict[int, Any]] = {}
    failures: ClassVar[list[int]] = []
    bodies: ClassVar[list[bytes]] = []
    asked: ClassVar[list[str]] = []
    over: ClassVar[threading.Event] = threading.Event()
    connections: ClassVar[list[Any]] = []
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        """Begins a connection."""
        super().setup()
        self.connections.append(self.client_address)

    def do_GET(self) -> None:
        """Answers."""
        self.asked.append(f"{self.path} {self.headers.get('Authorization', '')}".strip())
        if self.failures and not self.failures[-1]:
            self.failures.pop()
            self.over.wait(30)
            return
        schema = self.schemas.get(int(self.path.rpartition("/")[2]))
        status = self.failures.pop() if self.failures else 200 if schema is not None else 404
        document = {"schema": json.dumps(schema)} if status == 200 else {"error_code": status}
        body = self.bodies.pop() if self.bodies else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(confluent, "_SHAPES", {})
    monkeypatch.setattr(Answers, "schemas", {7: ROW})
    monkeypatch.setattr(Answers, "failures", [])
    monkeypatch.setattr(Answers, "bodies", [])
    monkeypatch.setattr(Answers, "asked", [])
    monkeypatch.setattr(Answers, "connections", [])
    with serving() as address:
        yield f"http://{address}"


@contextmanager
def serving(certificate: Path | None = None) -> Iterator[str]:
    """A registry's address, with TLS if it has a certificate."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    Answers.over.clear()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_address[1]}"
    Answers.over.set()
    server.shutdown()
    server.server_close()


def converted(
    registry: Registry, *values: bytes | None, key: bytes | None = None
) -> list[bytes | None]:
    schema = pa.schema([("key", pa.binary()), ("value", pa.binary())])
    batch = pa.RecordBatch.from_arrays(
        [pa.array([key] * len(values), pa.binary()), pa.array(values, pa.binary())], schema=schema
    )
    texts: list[bytes | None] = confluent._convert_batch(batch, registry).column(1).to_pylist()
    return texts


def test_a_message_is_the_connect_json_of_its_schema(at):
    (value,) = converted(Registry(at), HEAD + DATUM)
    message = json.loads(value or b"")
    assert json.dumps(message["payload"], separators=(",", ":")) == PAYLOAD
    assert [(f["field"], f["type"], f.get("name")) for f in message["schema"]["fields"]] == [
        ("id", "int32", None),
        ("d", "string", None),
        ("t", "int64", "io.debezium.time.MicroTime"),
        ("f", "float", None),
        ("a", "array", None),
        ("m", "map", None),
    ]


def test_ticdc_s_own_bytes_are_the_rows_that_its_encoder_was_given():
    shape = confluent.Shape(json.loads(ticdc_avro_bytes.SCHEMA))
    whole, empty = (
        shape.to_json(HEAD + bytes.fromhex(datum), False)
        for datum in ticdc_avro_bytes.VALUES["v8.5.7"]
    )
    assert json.loads(whole or "") == ticdc_avro_bytes.PAYLOAD
    assert json.loads(empty or "") == {**dict.fromkeys(ticdc_avro_bytes.PAYLOAD), "id": -7}


@pytest.mark.parametrize(("raw", "digits"), [(b"\x05", "500"), (b"\xff", "-100"), (b"\x00", "0")])
def test_a_decimal_s_scale_may_be_below_zero(raw, digits):
    """Oracle's NUMBER(20,-2), which Avro's own libraries take for bytes or refuse."""
    number = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": -2}
    schema = {"type": "record", "name": "r", "fields": [{"name": "n", "type": number}]}
    datum = b"\x02" + raw
    assert confluent.Shape(schema).to_json(HEAD + datum, False) == f'{{"n": "{digits}"}}'


def test_no_end_of_a_message_is_one_and_nothing_may_follow(at):
    whole = HEAD + DATUM
    parts = [whole[:end] for end in range(len(whole))]
    assert converted(Registry(at), *parts, whole + b"\x00", whole * 2) == [b""] * (len(parts) + 2)
    assert converted(Registry(at), None) == [None]
    assert Answers.asked == ["/schemas/ids/7"]


def test_a_schema_that_nobody_has_spoils_its_message_alone(at):
    other, negative, magic = (
        b"\x00\x00\x00\x00\x08",
        b"\x00\xff\xff\xff\xff",
        b"\x01\x00\x00\x00\x07",
    )
    several = [head + DATUM for head in (other, HEAD, negative, magic, other)]
    texts = converted(Registry(at), *several)
    assert [bool(value) for value in texts] == [False, True, False, False, False]
    assert sorted(Answers.asked) == ["/schemas/ids/7", "/schemas/ids/8"]
    Answers.schemas[8] = ROW  # registered meanwhile: the next batch asks again
    assert all(converted(Registry(at), several[0]))


def test_a_connection_is_kept_and_made_anew_when_the_registry_has_closed_it(at, monkeypatch):
    monkeypatch.setattr(Answers, "timeout", 1)
    monkeypatch.setattr(Answers, "schemas", dict.fromkeys(range(7, 12), ROW))
    heads = [b"\x00" + number.to_bytes(4) for number in range(7, 12)]
    assert all(converted(Registry(at), *(head + DATUM for head in heads[:4])))
    assert len(Answers.connections) == 1
    time.sleep(1.5)
    assert all(converted(Registry(at), heads[4] + DATUM))
    assert len(Answers.connections) == 2


def test_a_registry_that_fails_at_first_is_asked_again(at, monkeypatch):
    monkeypatch.setattr(confluent.time, "sleep", lambda _s: None)
    Answers.failures.extend((503, 429, 500))
    assert all(converted(Registry(at, "alice:secret"), HEAD + DATUM))
    assert Answers.asked == ["/schemas/ids/7 Basic YWxpY2U6c2VjcmV0"] * 4


def test_a_registry_that_is_slow_loses_nothing(at, certificates, monkeypatch):
    """Two answers do not come in time, one is an error; then the same behind TLS and a password."""
    monkeypatch.setattr(confluent, "ANSWER_TIMEOUT_S", 0.3)
    Answers.failures.extend((503, 0, 0))
    assert all(converted(Registry(at), *[HEAD + DATUM] * 3))
    # Of a busy machine one more answer may come late.
    first = len(Answers.asked)
    assert first >= 4 and set(Answers.asked) == {"/schemas/ids/7"}
    Answers.failures.extend((503, 0))
    with serving(certificates / "server-all.pem") as address:
        trusted = Registry(f"https://{address}", "alice:secret", str(certificates / "ca.pem"))
        assert all(converted(trusted, *[HEAD + DATUM] * 3))
        monkeypatch.setattr(confluent, "WAIT_S", 0.3)
        with pytest.raises(ConnectionError, match="certificate verify failed"):
            converted(Registry(f"https://{address}", "alice:secret"), HEAD + DATUM)
    assert len(Answers.asked) >= first + 3 and set(Answers.asked[first:]) == {
        "/schemas/ids/7 Basic YWxpY2U6c2VjcmV0"
    }


def test_a_registry_that_is_away_loses_nothing_but_raises(monkeypatch):
    monkeypatch.setattr(confluent, "WAIT_S", 0.3)
    with pytest.raises(
        ConnectionError,
        match=r"the schema registry at http://127.0.0.1:9 does not tell schema 7: .*refused",
    ):
        converted(Registry("http://127.0.0.1:9"), HEAD + DATUM)


def test_a_refusal_is_told_at_once(at):
    Answers.failures.append(401)
    with pytest.raises(ConnectionError, match="does not tell schema 7: status 401"):
        converted(Registry(at, "alice:secret"), HEAD + DATUM)
    assert len(Answers.asked) == 1


@pytest.mark.parametrize("body", [b'{"message":"no registry"}', b"[]", b'{"schema":null}'])
def test_an_answer_of_another_form_names_the_registry_and_the_schema(at, monkeypatch, body):
    monkeypatch.setattr(confluent, "WAIT_S", 0.0)
    Answers.bodies.append(body)
    with pytest.raises(
        ConnectionError, match=f"the schema registry at {at} does not tell schema 7"
    ):
        converted(Registry(at), HEAD + DATUM)


@pytest.mark.parametrize(
    ("name", "profile"),
    [
        *(
            ("debezium-avro", "3.5.0.Final"),
            ("debezium-avro", "2.5.4.Final+transaction+nulls-kept+record-name"),
        ),
        *(
            ("ticdc-avro", "v7.1.6+force-replicate"),
            ("ticdc-avro", "v8.5.7+extension+checksum+decimal-string+bigint-string"),
        ),
    ],
)
def test_cells_are_those_that_the_writer_owes(name, profile):
    """Every seventh named case of a profile."""
    fmt = get(name)
    assert compared(name, tuple(named_cases(fmt, [fmt.profile(profile)]))[::7]) > 1_000


def test_cells_of_debezium_s_own_messages_are_those_of_sql():
    assert compared("debezium-avro", recorded_cases(get("debezium-avro"))) == 8_039


def compared(name: str, cases: Sequence[Case]) -> int:
    """How many cells were compared: kinds of reading, keys, and each cell's text."""
    count = 0
    sent = [(case, written) for case in cases for written in case.written if written.changes]
    schema = pa.schema([("key", pa.binary()), ("value", pa.binary())])
    parts = (
        [written.message.key for _, written in sent],
        [written.message.value for _, written in sent],
    )
    batch = pa.RecordBatch.from_arrays(
        [pa.array(part, pa.binary()) for part in parts], schema=schema
    )
    texts = confluent._convert_batch(batch, Registry(local_registry_url()))
    for (case, written), key, value in zip(
        sent, *(column.to_pylist() for column in texts.columns), strict=True
    ):
        (owed,) = written.changes
        if owed.kind is Kind.CORRUPT:
            assert case.level == 2 or not value, case.id
            continue
        assert (value is None) is (written.message.value is None), case.id
        assert owed.keys is None or key is None or tuple(json.loads(key)) == owed.keys, case.id
        payload = json.loads(value)["payload"] if value else {} if key is None else json.loads(key)
        for side in ("before", "after"):
            for column, cell in (owed.image(side, 1) or {}).items():
                if cell.state is State.ABSENT:
                    continue
                there = payload[side][column] if name == "debezium-avro" else payload[column]
                count += 1
                if cell.state is State.NULL:
                    assert there is None, (case.id, column)
                else:
                    assert same_text(
                        cell, there if isinstance(there, str) else json.dumps(there)
                    ), (case.id, column)
    return count


def test_without_an_address_the_decoder_says_which_variable_names_it(monkeypatch):
    monkeypatch.delenv("CDC_CONFORMANCE_REGISTRY")
    with pytest.raises(
        RuntimeError, match="CDC_CONFORMANCE_REGISTRY must name the schema registry"
    ):
        confluent.registry()
