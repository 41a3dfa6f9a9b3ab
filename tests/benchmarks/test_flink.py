"""CPU seconds a message of the fast decoders against those of Flink's canal-json format, on the same messages.

Flink's side is its deserialization alone, in a loop of one thread: no job, no source, no sink. Ours is a whole Spark job, from
cached records to the noop sink: the JVM and its Python workers. The hop is what that job costs without decoding: the same
records go to the workers, which count them. Neither side reads a field of the rows. The ratio is Flink's CPU seconds over ours:
above 1 is ahead. CPU seconds bear other load on the machine better than seconds do, but not without harm: the load average is
recorded.
"""

import contextlib
import itertools
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from conformance.engines._command_lines import begin_line
from conformance.engines.base import Request, lay_out, write_records
from conformance.engines.command import CommandEngine
from conformance.engines.specs import FAST, FAST_FORMATS, decoder_of
from conformance.load.bench import generate, plain_profile
from generators.bulk import expander as bulk
from generators.errors import HarnessError
from generators.wire_format import get

# As in tests/scoreboard: it is no part of the wheel.
sys.path.append(str(Path(__file__).parents[2]))

SAMPLE = 1000
"""Messages whose rows are compared before the first round."""
JVM = ("-Xmx2g", "-Djava.awt.headless=true", "-Duser.timezone=UTC")
"""Options of Flink's JVM: Java's own choices, with the memory that Spark's driver has."""


@pytest.fixture(scope="session")
def flink():
    """The scoreboard's judging, and its reader. Session-wide, to skip before `spark` starts."""
    judging = pytest.importorskip("scoreboard.judging", reason="needs the scoreboard, which is in the repository alone")
    from conformance.brokers.jars import jars_of, require_java
    from scoreboard.readers import named

    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc, which has the CPU seconds of processes")
    reader = named("flink-canal")
    try:
        java = require_java()
        jars_of(reader.bundle, print)
    except HarnessError as error:
        pytest.skip(f"needs Flink's jars: {error}")
    if not Path(java.path).resolve().with_name("javac").exists():
        pytest.skip("needs a JDK: the adapters are compiled")
    return judging, reader


@pytest.mark.parametrize("name", [name for name in FAST_FORMATS if name.endswith("canal-json")])
def test_against_flink(name, flink, spark, count, against, benchmark, tmp_path):
    from spark_checks.services.cluster import table as read
    from spark_checks.services.engine import load
    from spark_checks.services.throughput import WARM_UP, Contestant, cached, execute

    judging, reader = flink
    fmt, table = get(name), bulk.load_table()
    profile = plain_profile(fmt)
    messages, _ = generate(fmt, profile, count)
    path, framed = tmp_path / "load.parquet", tmp_path / "load.bin"
    write_records(path, messages, range(len(messages)))
    with framed.open("wb") as file:
        file.writelines(part for m in messages for part in (len(m.value).to_bytes(4, "big"), m.value))
    who = Contestant(name, load(decoder_of(name, FAST)), 2, table, profile.deployment)

    places, source = lay_out(tmp_path, "sample", messages[:SAMPLE])
    theirs = answers(judging.decoder_of(reader, name, print), name, source, who)
    assert rows(who.frame(read(spark, source.parquet)).toArrow()) == rows(theirs)
    assert len(rows(theirs)) == len(places)

    sizes = sum(len(m.value) for m in messages)
    del messages
    command = judging.program(reader, print, "flink.FlinkRounds", name, str(framed), options=JVM)
    frame, jvm = cached(spark, str(path)), spark.sparkContext._gateway.proc.pid
    cpu = defaultdict(list)

    def measured(what, job):
        def run():
            before = spent(jvm)
            execute(job)
            cpu[what].append(spent(jvm) - before)

        return run

    with program(command) as tell, contextlib.ExitStack() as stack:
        stack.callback(frame.unpersist)
        assert tell(begin_line(1, 2, profile.deployment, table)) == {"messages": count}
        assert who.rows(frame) == tell(b"\n")["rows"] == count

        def ours():
            measured("hop", hop(frame))()
            return measured("ours", who.frame(frame))

        def yardstick():
            return lambda: cpu["flink"].append(tell(b"\n")["cpu_seconds"])

        benchmark.group = f"decode {name} rows against Flink {reader.release}"
        load_before = os.getloadavg()[0]
        seconds = against(ours, yardstick, count, WARM_UP)

    flinks = cpu["flink"][-len(seconds) - 1 :]
    spans = {
        "cpu_us": [1e6 * s / count for s in cpu["ours"][-len(seconds) :]],
        "hop_cpu_us": [1e6 * s / count for s in cpu["hop"][-len(seconds) :]],
        "flink_cpu_us": [1e6 * (a + b) / 2 / count for a, b in itertools.pairwise(flinks)],
    }
    spans["cpu_ratio"] = [a / b for a, b in zip(spans["flink_cpu_us"], spans["cpu_us"], strict=True)]
    for what, values in spans.items():
        # The rates and the ratio of `against` are of seconds: two cores against one thread.
        benchmark.extra_info[what] = f"{statistics.median(values):.2f} [{min(values):.2f}..{max(values):.2f}]"
    loads = load_before, os.getloadavg()[0]
    benchmark.extra_info |= {"bytes": round(sizes / count), "load": f"{loads[0]:.1f} before, {loads[1]:.1f} after"}
    assert len(spans["cpu_ratio"]) == len(benchmark.stats.stats.data)


def hop(records):
    """A job that ships the records to the workers, as the fast decoders do, and counts them there."""
    import pyarrow as pa

    def counted(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"records": [len(batch)]})

    return records.select("topic", "partition", "offset", "value").mapInArrow(counted, "records long")


def answers(decoder, fmt, source, who):
    """What a command makes of a sample."""
    with contextlib.closing(CommandEngine(fmt=fmt)) as engine:
        engine.load(decoder, "rows").result()
        engine.open("sample", source).result()
        return engine.decode(Request("sample", source.ranges, decoder, 2, who.deployment, who.table)).result()


def rows(changes):
    """Each change by its place: kind, operation and the cells of both images."""
    return {
        tuple(one[name] for name in ("topic", "partition", "offset", "row")): [one[n] for n in ("kind", "op", "before", "after")]
        for one in changes.to_pylist()
    }


@contextlib.contextmanager
def program(command):
    """Runs a program; a function that sends it a line and gives its answer. It is killed at the end."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:

        def tell(line):
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer, f"{command[0]} ended with exit code {process.wait()}"
            return json.loads(answer)

        try:
            yield tell
        finally:
            process.kill()


def spent(root):
    """CPU seconds of a process and its descendants, with those that have ended and were waited for."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # It has ended.
            fields = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            process = int(path.parent.name)
            parents[process], ticks[process] = int(fields[1]), sum(map(int, fields[11:15]))

    def within(process):
        while process not in (root, None):
            process = parents.get(process)
        return process == root

    return sum(ticks[process] for process in ticks if within(process)) / os.sysconf("SC_CLK_TCK")
