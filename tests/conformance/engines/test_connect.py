"""Decoders through a real server of Spark Connect, whose jar pip's pyspark brings; the client is
the extra `connect`.
"""

import re
import subprocess
import sys

import pytest

import conformance
from conformance.brokers.embedded import free_ports
from conformance.brokers.spark import prepare_jars
from conformance.engines.child import SMALL
from generators.errors import HarnessError, UsageError

pytest.importorskip("grpc")
pytestmark = pytest.mark.spark

TICDC = "ticdc-canal-json"
SOME = tuple(f"{TICDC}/v8.5.7/{kind}" for kind in ("shape", "int", "old"))


@pytest.fixture(scope="module")
def server(program):
    """The server's URL."""
    port = free_ports(1)[0]
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        **SMALL,
    }
    given = (word for name, value in settings.items() for word in ("--conf", f"{name}={value}"))
    main = (
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
        "--master",
        "local[2]",
    )
    jars = ("--jars", ",".join(map(str, prepare_jars(("kafka",), print))))
    program("Spark Connect server started", "spark-submit", *main, *jars, *given)
    return f"sc://127.0.0.1:{port}"


def judged(url, **options):
    return conformance.run(TICDC, remote=url, writer_profile="v8.5.7", **options)


def test_a_decoder_in_python_gets_kafka_its_modules_and_ours_on_a_server(
    server, kafka, python_decoder
):
    result = judged(server, decoder="mine.py", broker=kafka.bootstrap, select=SOME)
    assert (result.exit_code, result.failures) == (0, ())
    assert result.header.broker.endswith(kafka.bootstrap)
    assert {judgement.case.level for judgement in result.formats[0].cases} == {1, 2}
    assert len(result.formats[0].cases) > 30


def test_what_the_server_lacks_is_told_and_convicts_nobody(server, python_decoder):
    message = f"a worker of {server} has no Python module pyarrow, which is here: install it there"
    with pytest.raises(HarnessError, match=re.escape(message)):
        judged(server, decoder="mine.py:arrow", level="changes", select=(f"{TICDC}/v8.5.7/int/*",))


def test_a_setting_of_the_server_s_start_is_refused(server):
    message = f"--spark-conf spark.driver.memory: the server at {server} takes it only at its start"
    with pytest.raises(UsageError, match=re.escape(message)):
        judged(server, spark_conf={"spark.driver.memory": "4g"})


LIVE = """
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import conformance
from spark_checks import reference

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.range(1).createOrReplaceTempView("mine")
before = sorted(map(tuple, spark.sql("SET").collect())), spark.sql("SHOW VIEWS").count()


def decode(records):
    records.createOrReplaceTempView("own")
    decoded = reference("ticdc-canal-json").decode(spark.table("own"))
    return decoded.withColumn("op", F.when(F.col("op") == "DELETE", "INSERT").otherwise(F.col("op")))


select = ("ticdc-canal-json/v8.5.7/int/*",)
result = conformance.run(decode, format="ticdc-canal-json", spark=spark, writer_profile="v8.5.7", select=select)
assert before == (sorted(map(tuple, spark.sql("SET").collect())), spark.sql("SHOW VIEWS").count())
print(result.exit_code, sorted({failure.rule.id for failure in result.failures}))
"""


def test_a_function_is_judged_on_a_session_of_a_server(server, tmp_path):
    script = tmp_path / "live.py"
    script.write_text(LIVE, "utf-8")
    done = subprocess.run(
        [sys.executable, script, server], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 ['ticdc-canal-json/")
    assert "ticdc-canal-json/op/" in done.stdout
