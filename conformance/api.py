"""`conformance.run` and `conformance.pipeline`: a decoder or a pipeline judged from Python, as the
commands `run` and `pipeline` do it, or on a session that is running.

Imports `brokers`, `cases`, `engines`, `judging`, `pipelines`, `reports` and `running`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from generators.errors import NothingSelected, UsageError
from generators.wire_format import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.brokers.lakehouses import Sink
    from conformance.judging.results import RunResult
    from conformance.pipelines.report import PipelineReport
    from conformance.running.events import Listener


def run(
    *formats_and_decoder: Any,
    format: str | Sequence[str] = (),
    decoder: Any = None,
    spark: Any = None,
    isolated: bool = False,
    report: str | Path | None = None,
    mapping: Mapping[str, str] | None = None,
    level: str = "both",
    writer_profile: str | Sequence[str] = "*",
    budget: str = "smoke",
    quick: bool = False,
    seed: int = 1,
    broker: str = "none",
    broker_config: Path | None = None,
    broker_properties: Mapping[str, str] | None = None,
    topic: str | None = None,
    topic_prefix: str | None = None,
    select: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    strict: bool = False,
    expect: str | Path | None = None,
    tables: str | Sequence[str] = (),
    dialect: str | None = None,
    database: str | None = None,
    values: str | Path | None = None,
    max_fail: int = 0,
    reduce: bool = True,
    timeout_s: float = 120,
    master: str = "",
    remote: str = "",
    spark_packages: str | Sequence[str] = (),
    spark_conf: Mapping[str, str] | None = None,
    listen: Listener | None = None,
) -> RunResult:
    """Judges a decoder, or the reference decoders, on the named formats, all of them by default.

    `formats_and_decoder` are names of formats and, if it is not given as `decoder`, a decoder: a
    function, or an object with decode functions. The decoder may also be a specification, as
    `--decoder` takes it.
    On `spark`, a session of the caller's, classic or of Spark Connect, it runs in this process; the
    session is not stopped, keeps its settings, and no view, table or file is left. With `isolated`,
    and without a session, it runs in a process of its own. `report` is a folder for the run's
    reports.

    The other arguments are the options of `cdc-conformance run`; where an option may be repeated, a
    text or a list or tuple of texts. `expect` is the file of known failures; it is not written.
    `tables` are files of DDL or databases; what is left out of them is not printed.
    `broker_properties` are those of the Kafka client by name. `listen` gets the run's events
    (conformance.running.events). Nothing is printed, and nothing but `report` is saved.
    `RunResult.exit_code` is the command's,
    `failures` are the broken rules with the smallest message of each; a notebook shows the result
    as HTML.

    Raises UsageError, UnknownName, NothingSelected, and HarnessError when the harness or its
    environment fails.
    """
    from conformance.brokers.asked import broker_options
    from conformance.cases.catalogue import find_budget
    from conformance.cases.tables import formats_for_tables, profiles_matching, read_tables
    from conformance.engines.child import QUICK
    from conformance.engines.live import decoder_name
    from conformance.engines.spark_conf import merge_settings, settings_of_options
    from conformance.files import tables_in_cache
    from conformance.judging import known
    from conformance.judging.known import Expectations
    from conformance.reports import write_all
    from conformance.reports.notebook import NotebookResult
    from conformance.running.events import ignore
    from conformance.running.prepared import Settings
    from conformance.running.run import run_formats
    from conformance.running.started import start_run

    decoders = [item for item in formats_and_decoder if not isinstance(item, str)]
    if len(decoders) + (decoder is not None) > 1:
        raise UsageError("give one decoder")
    decoder = decoders[0] if decoders else decoder
    formats = (
        *(name for name in formats_and_decoder if isinstance(name, str)),
        *_as_tuple(format),
    )
    user_tables = None
    if tables:
        user_tables = read_tables(
            _as_tuple(tables),
            dialect,
            database,
            None if values is None else Path(values),
            seed,
            profiles_matching(formats or FORMATS, _as_tuple(writer_profile)),
        )
        formats = formats_for_tables(
            formats or FORMATS,
            formats,
            _as_tuple(writer_profile),
            user_tables.schema,
            lambda _: None,
        )
    elif any((dialect, database, values)):
        raise UsageError("dialect, database and values need tables")
    if isolated:
        spark = None
    tables_in_cache()
    spark_settings = settings_of_options(
        spark_conf or {}, master=master, remote=remote, added_packages=_as_tuple(spark_packages)
    )
    conf = spark_settings if spark is not None else merge_settings(QUICK, spark_settings)
    settings = Settings(
        formats=formats or FORMATS,
        tables=user_tables,
        expect=Expectations() if expect is None else known.load(Path(expect)),
        max_fail=max_fail,
        reduce=reduce and not quick and budget != "quick",
        budget=find_budget("quick" if quick else budget),
        seed=seed,
        decoder=None if decoder is None else decoder_name(decoder),
        mapping=mapping or {},
        level=level,
        writer_profile=_as_tuple(writer_profile),
        select=_as_tuple(select),
        exclude=_as_tuple(exclude),
        strict=strict,
        timeout_s=timeout_s,
    )
    broker_settings = broker_options(
        broker, broker_config, (broker_properties or {}).items(), topic, topic_prefix
    )
    with start_run(settings, broker_settings, conf, decoder=decoder, spark=spark) as (
        ready,
        engine,
    ):
        result = run_formats(ready, engine, listen or ignore)
    if report is not None:
        write_all(result, Path(report))
    return NotebookResult.of_result(result, None if report is None else Path(report, "report.html"))


def pipeline(
    start: Any,
    *,
    format: str,
    spark: Any = None,
    sink: Sink | None = None,
    catalog: str = "",
    writer_profile: str | Sequence[str] = (),
    nemesis: str = "",
    restart: bool = False,
    limit_s: float = 300,
    seed: int = 1,
    broker: str = "none",
    broker_config: Path | None = None,
    broker_properties: Mapping[str, str] | None = None,
    topic_prefix: str | None = None,
    tables: str | Sequence[str] = (),
    dialect: str | None = None,
    database: str | None = None,
    values: str | Path | None = None,
    master: str = "",
    spark_packages: str | Sequence[str] = (),
    spark_conf: Mapping[str, str] | None = None,
) -> PipelineReport:
    """Judges the table that a pipeline keeps (docs/from-rows-to-a-table.md).

    `start` is the function start(spark, records, target), beside which the globals KEY, TYPES,
    table, history and errors of its module count; an object or a module that has them; or the path
    of a file. On `spark`, a session of the caller's, it runs in this process: its tables are in a
    new database of `catalog`, which is dropped; the session is not stopped and keeps its settings.
    Without a session a file is judged in a process of its own, with the lakehouse `sink`; `restart`
    also kills that process. The other arguments are the options of `cdc-conformance pipeline`.

    Raises UsageError, UnknownName, NothingSelected, and HarnessError when the harness or its
    environment fails, or a batch does not end within `limit_s`.
    """
    from conformance.brokers.asked import broker_options
    from conformance.cases.tables import profiles_matching, read_tables
    from conformance.engines.spark_conf import settings_of_options
    from conformance.files import tables_in_cache
    from conformance.pipelines.report import PipelineReport
    from conformance.pipelines.running import PipelineSettings
    from conformance.pipelines.started import SessionOptions, judge_pipeline

    user_tables = None
    if tables:
        user_tables = read_tables(
            _as_tuple(tables),
            dialect,
            database,
            None if values is None else Path(values),
            seed,
            profiles_matching((format,), _as_tuple(writer_profile)),
        )
    elif any((dialect, database, values)):
        raise UsageError("dialect, database and values need tables")
    tables_in_cache()
    conf = settings_of_options(
        spark_conf or {}, master=master, remote="", added_packages=_as_tuple(spark_packages)
    )
    is_file = isinstance(start, str | Path)
    settings = PipelineSettings(
        format,
        str(start) if is_file else "",
        _as_tuple(writer_profile) or "",
        nemesis,
        seed,
        restart,
        user_tables,
        limit_s,
    )
    broker_settings = broker_options(
        broker, broker_config, (broker_properties or {}).items(), None, topic_prefix
    )
    session = SessionOptions(spark, sink, catalog, conf)
    judged = judge_pipeline(
        settings, broker_settings, session, lambda _message: None, None if is_file else start
    )
    results = tuple(judged)
    if all(result.lost for result in results):
        raise NothingSelected(f"no stream was judged: {results[0].lost if results else ''}")
    return PipelineReport(format, results)


def _as_tuple(texts: str | Sequence[str]) -> tuple[str, ...]:
    """The texts of an argument that may be one text, or several."""
    return (texts,) if isinstance(texts, str) else tuple(texts)
