"""Brokers that want certificates or a password: commands reach them, are told why not, and show no
secret anywhere.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from confluent_kafka import admin as kafka_admin
from confluent_kafka.admin import AdminClient

from conformance.brokers.embedded import EmbeddedKafka
from conformance.engines.child import SMALL
from generators.errors import HarnessError, UnknownName, UsageError
from generators.model import Message
from generators.publishing import kafka as publishing
from generators.publishing.cluster import Cluster
from generators.publishing.topics import check_topic, create_topic, records_in, visible

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates"),
]

TICDC = "ticdc-canal-json"
ROOT = Path(__file__).resolve().parents[3]
PASSWORD = 'pa"ss\\w3ird;correct-horse'
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
AUDITED = ("-Dorg.slf4j.simpleLogger.log.kafka.authorizer.logger=debug",)
"""The broker's log says who was let do what, and by which rule."""


def of_server(certificates):
    """A server's certificate, and that clients must have theirs."""
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates / "server-all.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates / "ca.pem"),
        "listener.name.secured.ssl.client.auth": "required",
    }


@pytest.fixture(scope="module")
def scram(certificates):
    """A broker under SASL_SSL that wants the client's certificate, too: alice may do all, eve may
    use the topic `theirs`, and bob has a password of PLAIN.
    """
    properties = of_server(certificates) | {
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN",
        "listener.name.secured.scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
        "listener.name.secured.plain.sasl.jaas.config": f'{PLAIN} required user_bob="bobs-password";',
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:alice;User:bob",
    }
    with EmbeddedKafka(
        lambda _line: None, classes=AUDITED, protocol="SASL_SSL", properties=properties
    ) as started:
        admin = AdminClient({"bootstrap.servers": started.bootstrap, "log_level": 0})
        kind = kafka_admin.ScramCredentialInfo(kafka_admin.ScramMechanism.SCRAM_SHA_256, 4096)
        users = [
            kafka_admin.UserScramCredentialUpsertion(name, kind, PASSWORD.encode())
            for name in ("alice", "eve")
        ]
        for done in admin.alter_user_scram_credentials(users).values():
            done.result(60)
        create_topic(started.bootstrap, "theirs", 3)
        create_topic(started.bootstrap, "of-others", 1)
        place = (kafka_admin.ResourceType.TOPIC, "theirs", kafka_admin.ResourcePatternType.LITERAL)
        right = (kafka_admin.AclOperation.ALL, kafka_admin.AclPermissionType.ALLOW)
        allowed = kafka_admin.AclBinding(*place, "User:eve", "*", *right)
        for done in admin.create_acls([allowed]).values():
            done.result(60)
        # The controller answers before the broker has read of users and rights.
        eve, deadline = cluster(started, user("eve", certificates)), time.monotonic() + 60
        while set(seen(eve)) != {"theirs"}:
            assert time.monotonic() < deadline, (
                f"eve sees {sorted(seen(eve))}\n{started.log_tail()}"
            )
            time.sleep(0.1)
        yield started


def seen(client):
    """The topics that a client may see; none before it is let in."""
    with contextlib.suppress(HarnessError):
        return visible(client, 5)
    return ()


def config(path, **properties):
    path.write_text(
        "".join(f"{name.replace('_', '.')}={value}\n" for name, value in properties.items()),
        "utf-8",
    )
    return path


@pytest.fixture
def of_alice(certificates, tmp_path):
    return config(tmp_path / "alice.properties", **user("alice", certificates))


def user(name, certificates, password=PASSWORD):
    return {
        "security_protocol": "SASL_SSL",
        "ssl_ca_location": str(certificates / "ca.pem"),
        "ssl_certificate_location": str(certificates / "client.pem"),
        "ssl_key_location": str(certificates / "client.key"),
        "sasl_mechanism": "SCRAM-SHA-256",
        "sasl_username": name,
        "sasl_password": password,
    }


def cluster(broker, properties, **more):
    return Cluster(
        broker.secured,
        {name.replace("_", "."): value for name, value in properties.items()},
        **more,
    )


@pytest.fixture
def command(tmp_path):
    """A function that runs a command in a process of its own: its exit code, its output, and what
    `ps` showed meanwhile.
    """
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("needs /proc")

    def run(*words, **variables):
        argv = [sys.executable, "-m", "conformance", "--no-config", *map(str, words)]
        env, pipes = (
            {**os.environ, "PYTHONPATH": str(ROOT), **variables},
            {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE},
        )
        process = subprocess.Popen(argv, cwd=tmp_path, env=env, text=True, **pipes)
        seen: set[bytes] = set()
        ended = threading.Event()

        def look():
            while not ended.wait(0.25):
                # What the command starts has a higher id, but for an overflow of ids.
                for pid in (
                    int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()
                ):
                    with contextlib.suppress(OSError):
                        if pid >= process.pid:
                            seen.add(Path(f"/proc/{pid}/cmdline").read_bytes())

        watching = threading.Thread(target=look)
        watching.start()
        try:
            out, err = process.communicate(timeout=240)
        finally:
            ended.set()
            watching.join()
            process.kill()
        return process.returncode, out, err, b"\n".join(seen)

    return run


def forms(secret):
    """The texts in which a secret could be shown: as it is, in JSON, as Java quotes it."""
    return {
        secret,
        json.dumps(secret)[1:-1],
        secret.replace("\\", "\\\\").replace('"', '\\"'),
        secret.rpartition(";")[2],
    }


def leaks(secret, folder, *texts, beside=()):
    """Where a secret is shown: a text, or a file of a folder."""
    places = [(text, text if isinstance(text, bytes) else text.encode()) for text in texts]
    places += [
        (str(path), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and path not in beside
    ]
    return [place for place, data in places if any(form.encode() in data for form in forms(secret))]


def test_publish_and_inspect_under_scram(scram, of_alice, command, tmp_path):
    there, packed = (
        ("--broker", scram.secured, "--broker-config", of_alice),
        ("--broker-property", "compression.type=zstd"),
    )
    code, out, err, seen = command(
        "publish", TICDC, *there, "--topic", "orders", "--count", "50", *packed
    )
    assert (code, json.loads(out)["acknowledged"]) == (0, 50), err
    assert leaks(PASSWORD, tmp_path, out, err, seen, beside=[of_alice]) == []
    assert b"--topic" in seen
    code, out, err, seen = command("inspect", "orders", *there, "--format", "json")
    assert (code, json.loads(out)["messages"]) == (0, 50), err
    assert json.loads(out)["writers"][0]["formats"][0]["format"] == TICDC
    assert leaks(PASSWORD, tmp_path, out, err, seen, beside=[of_alice]) == []


def test_a_password_of_plain_comes_from_the_environment(scram, certificates, command):
    given = {**user("bob", certificates), "sasl_mechanism": "PLAIN", "sasl_password": "env:BOBS"}
    words = [
        word
        for name, value in given.items()
        for word in ("--broker-property", f"{name.replace('_', '.')}={value}")
    ]
    there = (
        "publish",
        TICDC,
        "--broker",
        scram.secured,
        "--topic",
        "of-bob",
        "--count",
        "20",
        *words,
    )
    code, out, err, seen = command(*there, BOBS="bobs-password")
    assert (code, json.loads(out)["acknowledged"]) == (0, 20), err
    assert b"sasl.password=env:BOBS" in seen
    assert b"bobs-password" not in seen


def test_a_wrong_password_is_told(scram, certificates):
    eve = cluster(scram, user("eve", certificates, "wrong-password"))
    with pytest.raises(HarnessError) as caught:
        publishing.check_reachable(eve, timeout_s=3)
    text = str(caught.value)
    assert text.startswith(
        f"the broker at {scram.secured} does not let this client in within 3 s ("
    )
    assert "Authentication failed" in text
    assert text.endswith(
        "Check the properties of --broker-config and --broker-property: protocol, certificates, mechanism, name, password."
    )
    assert "wrong-password" not in text


def test_a_client_without_a_certificate_is_not_let_in(scram, certificates):
    left_out = {"ssl_certificate_location", "ssl_key_location"}
    given = {
        name: value for name, value in user("alice", certificates).items() if name not in left_out
    }
    with pytest.raises(HarnessError, match="does not let this client in"):
        publishing.check_reachable(cluster(scram, given), timeout_s=3)


def test_a_client_under_tls_alone_publishes(certificates):
    names = ("ssl_ca_location", "ssl_certificate_location", "ssl_key_location")
    of_client = {name: value for name, value in user("", certificates).items() if name in names}
    with EmbeddedKafka(
        lambda _line: None, protocol="SSL", properties=of_server(certificates)
    ) as started:
        client = cluster(started, {"security_protocol": "SSL", **of_client})
        with publishing.run_topic(client, 1) as topic:
            assert (
                publishing.publish(client, topic, [Message("", 0, None, b"x")]).acknowledged
                == records_in(client, topic)
                == 1
            )


def test_a_client_without_tls_is_told_so(scram):
    with pytest.raises(
        HarnessError, match=r"whether it wants TLS or a password \(--broker-config\)"
    ):
        publishing.check_reachable(scram.secured, timeout_s=2)


def test_a_topic_that_may_not_be_created_is_told(scram, certificates):
    eve = cluster(scram, user("eve", certificates), prefix="team-")
    text = "it was created: '"
    try:
        with publishing.run_topic(eve, 3) as name:
            text += name
    except HarnessError as error:
        text = str(error)
    name = text.partition("'")[2].partition("'")[0]
    assert name.startswith("team-")
    assert text == (
        f"the broker at {scram.secured} does not let User:eve create topic '{name}' (Authorization failed). Name a "
        "topic that is there with --topic, a prefix that it may use with --topic-prefix, or grant it CREATE, DESCRIBE, WRITE, "
        "READ and DELETE on topics that begin with 'team-'."
    ), scram.log_tail()


def test_a_topic_that_is_there_is_used_and_stays(scram, certificates):
    eve = cluster(scram, user("eve", certificates), topic="theirs")
    with publishing.run_topic(eve, 3) as name:
        assert name == "theirs"
        assert publishing.publish(eve, name, [Message("cdc", 2, None, b"x")]).acknowledged == 1
    assert (
        "theirs"
        in AdminClient({"bootstrap.servers": scram.bootstrap, "log_level": 0})
        .list_topics(timeout=60)
        .topics
    )
    few = f"topic 'theirs' at {scram.secured} has 3 partitions; at least 4 are needed"
    unknown = (
        r"unknown topic 'their' of the broker at .*, which User:eve may see. Did you mean 'theirs'"
    )
    absent = cluster(scram, user("eve", certificates), topic="their")
    for client, count, error, words in (
        (eve, 4, UsageError, few),
        (absent, 1, UnknownName, unknown),
    ):
        with pytest.raises(error, match=words), publishing.run_topic(client, count):
            pass


def test_a_topic_that_keeps_only_the_last_of_a_key_is_refused(scram):
    topic = kafka_admin.NewTopic(
        "compacted", num_partitions=1, replication_factor=1, config={"cleanup.policy": "compact"}
    )
    admin = AdminClient({"bootstrap.servers": scram.bootstrap, "log_level": 0})
    admin.create_topics([topic])["compacted"].result(60)
    with pytest.raises(
        UsageError, match="is compacted: of messages with one key only the last would remain"
    ):
        check_topic(scram.bootstrap, "compacted", 1)


WRONG = """
from pyspark.sql import functions as F
from spark_checks.decoders.ticdc_canal_json import decode as right


def decode(records):
    return right(records).withColumn("op", F.lit("DELETE"))
"""


@pytest.mark.spark
def test_a_run_under_scram_and_tls_on_a_topic_that_is_there_leaves_no_secret(
    scram, certificates, of_alice, command, tmp_path
):
    """A decoder that is wrong, so that a crash file and a report are written; the run's messages
    are told from those that were there before by their offsets.
    """
    create_topic(scram.bootstrap, "used", 4)
    there = [
        Message("", number % 4, None, b"theirs", timestamp_ms=1_700_000_000_000)
        for number in range(40)
    ]
    publishing.publish(scram.bootstrap, "used", there)
    (tmp_path / "wrong.py").write_text(WRONG, "utf-8")
    chosen = (
        "--writer-profile",
        "v7.1.6",
        "--select",
        f"{TICDC}/v7.1.6/shape/insert",
        "--level",
        "changes",
        "--no-reduce",
    )
    spark = (f"--spark-conf={name}={value}" for name, value in SMALL.items())
    where = (
        "--broker",
        scram.secured,
        "--broker-config",
        of_alice,
        "--topic",
        "used",
        "--report",
        "out",
        "--format",
        "json",
    )
    code, out, err, seen = command(
        "run", TICDC, *chosen, "--decoder", "wrong.py:decode", *spark, *where
    )
    assert code == 1, err
    assert f'"running {scram.secured}"' in out
    records = [json.loads(line) for line in out.splitlines()]
    assert {line["rule"] for line in records if line["type"] == "failure"} == {f"{TICDC}/change/op"}
    assert records_in(scram.bootstrap, "used") > 40
    assert list((tmp_path / "out" / "failures").glob("*.json"))
    assert b"spark.driver" in seen
    for secret in (PASSWORD, (certificates / "client.key").read_text().splitlines()[1]):
        assert leaks(secret, tmp_path, out, err, seen, beside=[of_alice]) == []
