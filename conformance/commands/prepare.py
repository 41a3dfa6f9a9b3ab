"""The command `prepare`: downloads and class archives that later commands need or start sooner
with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.brokers import apicurio, archive, jars, spark
from conformance.brokers.broker import ahead
from conformance.brokers.jars import Note
from conformance.commands.shell import FORMAT, OutputStyle, Progress
from conformance.files import json_text
from generators.errors import HarnessError
from generators.model import Case, messages_of

if TYPE_CHECKING:
    from conformance.engines.child import ChildEngine

END_S = 120.0
"""Seconds in which a JVM must end, at whose end it writes its archive of classes."""
DECODED = ("ticdc-canal-json", "debezium-json", "ticdc-simple-avro")
"""Formats that are decoded for the archive: their decoders load the classes that most decoders
need.
"""
CASES = 5
"""How many cases of each level are decoded of each of these formats."""


@dataclass(frozen=True, slots=True)
class Step:
    """A finished step of `prepare`. `state` is the version or file that is ready now; `is_new`: it
    was not ready before; `seconds` is the time that the step took.
    """

    name: str
    state: str
    is_new: bool
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The step as a JSON-able object; `found` is the version or file that is ready, `made` says
        that it was not ready before.
        """
        return {
            "name": self.name,
            "found": self.state,
            "made": self.is_new,
            "seconds": round(self.seconds, 1),
        }


def steps(note: Note, *, registry: bool = False) -> Iterator[Step]:
    """Does the steps of `prepare` in order, and yields each when it is done; what is ready is not
    made again. With `registry` the jars of the schema registry come last. Raises HarnessError at
    the first failure.
    """
    are_kafka_jars_new = jars.cached_jars() is None
    # Kafka's jars are downloaded meanwhile: a download waits for the Maven registry, while the
    # archives of classes keep the processor busy.
    ahead("embedded", note)
    began = time.monotonic()
    _, missing_modules = spark.state()
    spark.prepare_jars(spark.MODULES, note)
    cached_modules, _ = spark.state()
    yield Step(
        "Spark's modules",
        "; ".join(cached_modules.values()),
        bool(missing_modules),
        time.monotonic() - began,
    )
    yield _archive_step("Spark's classes", archive.spark_classes(), _run_session, note)
    began = time.monotonic()
    kafka_jars = jars.kafka_jars(note)
    yield Step(
        "Kafka's jars", str(kafka_jars[0].parent), are_kafka_jars_new, time.monotonic() - began
    )
    yield _archive_step("Kafka's classes", archive.kafka_classes(), _run_broker, note)
    if registry:
        began = time.monotonic()
        missing = jars.cached_bundle(apicurio.BUNDLE) is None
        place = jars.jars_of(apicurio.BUNDLE, note)[0].parent
        yield Step("Apicurio's jars", str(place), missing, time.monotonic() - began)


def _archive_step(
    name: str, archive_path: Path | None, start: Callable[[tuple[str, ...], Note], None], note: Note
) -> Step:
    """A step of `prepare` that writes an archive of Java classes, from which a JVM starts sooner,
    unless a whole one exists: `start` runs a program that loads the classes, with the JVM's
    options. Raises HarnessError if there is no path for the archive, without Java or pyspark.
    """
    began = time.monotonic()
    if archive_path is None:
        raise HarnessError(
            f"{name} cannot be archived without Java and pyspark. Try `cdc-conformance doctor`"
        )
    missing = archive.complete_archive(archive_path) is None
    if missing:
        note(f"writing {archive_path}, once; this takes about half a minute")
        with archive.archive_writing(archive_path, note) as options:
            if options is not None:
                start(options, note)
    file = archive.complete_archive(archive_path)
    assert file is not None
    return Step(name, f"{file}, {file.stat().st_size >> 20} MB", missing, time.monotonic() - began)


def _run_broker(options: tuple[str, ...], note: Note) -> None:
    """Starts the embedded broker with these options of the JVM, publishes a message and stops it,
    so that the JVM writes its archive of classes.
    """
    from conformance.brokers.embedded import EmbeddedKafka
    from generators.model import Message
    from generators.publishing import kafka

    with EmbeddedKafka(note, classes=options) as broker:
        with kafka.run_topic(broker.bootstrap, 1, note=note) as topic:
            kafka.publish(broker.bootstrap, topic, [Message("prepare", 0, None, b"x")])
        if broker.end(END_S) is None:
            raise HarnessError(
                f"the broker did not end within {END_S:g} s. Its log:\n{broker.log_tail()}"
            )


def _run_session(options: tuple[str, ...], _note: Note) -> None:
    """Starts a Spark session with these options of the JVM, decodes a few messages of the DECODED
    formats and stops it, so that the JVM writes its archive of classes.
    """
    from conformance.engines.child import OURS, ChildEngine

    java = "spark.driver.extraJavaOptions"
    conf = {**OURS, java: " ".join((OURS[java], *(f'"{option}"' for option in options)))}
    with ChildEngine(packages=tuple(spark.MODULES), conf=conf) as engine:
        engine.started.result()
        for name in DECODED:
            _decode(engine, name)
        engine.end(END_S).result()


def _decode(engine: ChildEngine, name: str) -> None:
    """Decodes a few messages of the format's first profile at each level, as a run does."""
    from conformance.cases.catalogue import group_calls, named_cases
    from conformance.engines.engine import Request, write_table
    from conformance.engines.specs import decoder_spec
    from generators.wire_format import get

    fmt = get(name)
    cases = list(named_cases(fmt, fmt.profiles[:1]))
    sample_cases: list[Case] = []
    for level in (1, 2):
        of_level = (case for case in cases if case.level == level)
        sample_cases += islice(of_level, CASES)
    for number, call in enumerate(group_calls(fmt, sample_cases, (1, 2), 0)):
        messages = list(messages_of(call.cases))
        _, source = write_table(engine.directory, handle := f"{name}-{number}", messages)
        engine.keep_records(handle, source)
        request = Request(
            handle, source.ranges, decoder_spec(name, None), call.level, call.deployment, call.table
        )
        engine.decode(request).result()


@click.command()
@click.option(
    "--registry", is_flag=True, help=f"Downloads Apicurio ({apicurio.BUNDLE.download}), too."
)
@FORMAT
def prepare(style: OutputStyle, registry: bool) -> None:
    """Downloads jars and modules; Spark and Kafka then start sooner.

    Use it for CI images and caches. Kafka's jars and Spark's modules come from the Maven registry; archives of Kafka's and
    Spark's classes are written into the cache directory (200 MB, a minute). Existing files are kept. Formats in Avro of a
    schema registry need Apicurio where a run has a broker of its own: --registry.

    \b
    Example: cdc-conformance prepare
    """
    pretty = style != "json"
    with Progress() as note:
        for step in steps(note, registry=registry):
            line = f"{'made ' if step.is_new else 'ready'}  {step.name:16} {step.state}" + (
                f", {step.seconds:.0f} s" * step.is_new
            )
            click.echo(line if pretty else json_text(step.as_json()))


COMMANDS = (prepare,)
"""Commands for `cli`."""
