"""Decoders on a standalone cluster: a master and a worker whose Python has pyspark and, for
decoders, nothing else.
"""

import sys

import pytest

import conformance
from conformance.brokers.embedded import free_ports
from conformance.engines.child import OURS, SMALL, ChildEngine
from conformance.judging.findings import Verdict
from conformance.load import sustained as loading
from conformance.load.sustained import LoadSettings
from generators.storage import bulk, records
from generators.wire_format import get

pytestmark = pytest.mark.spark

TICDC = "ticdc-canal-json"
EXECUTORS = {**SMALL, "spark.executor.memory": "512m"}
PLACE = "org.apache.spark.deploy"
SOME = tuple(f"{TICDC}/v8.5.7/{kind}" for kind in ("shape", "int", "old"))
LOCAL = ("--host", "127.0.0.1", "--webui-port", "0")


@pytest.fixture(scope="module")
def cluster(program):
    """The master's URL."""
    port = str(free_ports(1)[0])
    url = f"spark://127.0.0.1:{port}"
    program("New state: ALIVE", "spark-class", f"{PLACE}.master.Master", *LOCAL, "--port", port)
    size = ("--cores", "2", "--memory", "600m", "--work-dir", "work")
    program(
        "Successfully registered with master",
        "spark-class",
        f"{PLACE}.worker.Worker",
        *LOCAL,
        *size,
        url,
    )
    return url


def judged(url, **options):
    return conformance.run(
        TICDC, master=url, spark_conf=EXECUTORS, writer_profile="v8.5.7", **options
    )


def test_a_decoder_in_python_gets_kafka_its_modules_and_ours(
    cluster, kafka, bare_python, python_decoder, monkeypatch
):
    monkeypatch.setenv("PYSPARK_PYTHON", bare_python)
    result = judged(cluster, decoder="mine.py", broker=kafka.bootstrap, select=SOME)
    assert (result.exit_code, result.failures) == (0, ())
    assert {judgement.case.level for judgement in result.formats[0].cases} == {1, 2}
    assert len(result.formats[0].cases) > 30


def test_executors_publish_beside_a_decoder_and_write_a_corpus(
    cluster, kafka, monkeypatch, tmp_path
):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = LoadSettings(
        "huawei-cdl-json", rate=200.0, duration_s=1.0, profile="1.0", warm_up=(100,), producers=1
    )
    with ChildEngine(
        packages=("kafka",), conf={"spark.master": cluster, **OURS, **EXECUTORS}
    ) as engine:
        outcome = loading.run_load(settings, engine, kafka.bootstrap)
        request = {"format": TICDC, "profile": "v8.5.7", "seed": 3, "count": 300, "parts": 3}
        answer = engine.ask_service(
            "corpus", {**request, "out": str(tmp_path / "out"), "near": str(tmp_path)}, 120
        ).result()
    assert (outcome.failed, outcome.accounted, outcome.complete) == ("", True, True)
    assert outcome.owed == outcome.messages == 300
    assert set(outcome.sample.verdicts) == {Verdict.PASS}
    rows = [
        records.kafka_row(message, at)
        for at, message in bulk.numbered_messages(
            get(TICDC), get(TICDC).profile("v8.5.7"), 3, 0, 300
        )
    ]
    assert answer == {
        "messages": 300,
        "content": bulk.content(*map(sum, zip(*map(bulk.digest_words, rows), strict=True))),
    }
