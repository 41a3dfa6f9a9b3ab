"""`conformance.run`: one decoder judged from Python, as the command `run` does it.

Imports `brokers`, `cases`, `engines`, `judging` and `running`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from generators.wire_format import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from conformance.judging.results import RunResult
    from conformance.running.events import Listener


def run(
    *formats: str,
    decoder: str | None = None,
    mapping: Mapping[str, str] | None = None,
    level: str = "both",
    writer_profile: str | tuple[str, ...] = "*",
    budget: str = "smoke",
    seed: int = 1,
    broker: str = "none",
    broker_config: Path | None = None,
    broker_properties: Mapping[str, str] | None = None,
    topic: str | None = None,
    topic_prefix: str | None = None,
    select: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    strict: bool = False,
    timeout_s: float = 120,
    master: str = "",
    remote: str = "",
    spark_packages: tuple[str, ...] = (),
    spark_conf: Mapping[str, str] | None = None,
    listen: Listener | None = None,
) -> RunResult:
    """Judges a decoder, or the reference decoders, on the named formats, all of them by default.

    The arguments are the options of `cdc-conformance run`; `broker_properties` are those of the Kafka client by name. `listen`
    gets the run's events (conformance.running.events). Nothing is printed or saved. `RunResult.exit_code` is the command's,
    `failures` are the broken rules with the smallest message of each.

    Raises UsageError, UnknownName, NothingSelected, and HarnessError when the harness or its environment fails.
    """
    from dataclasses import replace

    from conformance.brokers.asked import asked
    from conformance.cases.catalogue import budget as budget_of
    from conformance.engines.child import QUICK
    from conformance.engines.command import engine_for
    from conformance.engines.spark_conf import joined, merged
    from conformance.engines.transport import transport
    from conformance.files import tables_in_cache
    from conformance.running.events import ignore
    from conformance.running.prepared import Settings
    from conformance.running.run import run as perform

    tables_in_cache()
    conf = merged(QUICK, joined(spark_conf or {}, master=master, remote=remote, added=spark_packages))
    settings = Settings(
        formats=formats or FORMATS,
        budget=budget_of(budget),
        seed=seed,
        decoder=decoder,
        mapping=mapping or {},
        level=level,
        writer_profile=writer_profile,
        select=select,
        exclude=exclude,
        strict=strict,
        timeout_s=timeout_s,
    )
    wanted = asked(broker, broker_config, (broker_properties or {}).items(), topic, topic_prefix)
    with (
        engine_for(decoder, settings.formats, kafka=wanted.kafka, timeout_s=timeout_s, conf=conf) as engine,
        transport(wanted, lambda _text: None, conf) as (cluster, described, own),
    ):
        return perform(replace(settings, bootstrap=cluster, broker=described, topic=own), engine, listen or ignore)
