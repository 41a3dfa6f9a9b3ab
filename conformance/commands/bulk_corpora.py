"""Bulk corpora of `corpus write --executors`: Spark makes and writes the messages, this process
places the files.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Final

from conformance.cases.catalogue import select_profiles
from conformance.commands.shell import Progress, print_notice
from conformance.engines.child import ChildEngine
from conformance.engines.engine import ChildDied, DecodeRaised
from conformance.engines.spark_conf import settings_of_options
from generators.errors import HarnessError, UsageError
from generators.profiles import Profile
from generators.storage import bulk
from generators.storage.corpus import PARQUET
from generators.wire_format import Format, get

EVERY: Final = ("*",)
"""The value of --writer-profile if the user named no profile."""
STATEMENTS: Final = 1_000_000
"""How many statements a file holds at most."""


def write(
    names: tuple[str, ...],
    profiles: tuple[str, ...],
    out: Path,
    seed: int,
    count: int,
    executors: int,
    master: str,
) -> None:
    """Writes a bulk corpus (messages of load, made and written by Spark) for each format and each
    profile that matches `profiles`, or for the format's last profile if none is named, and prints a
    line on each. Raises HarnessError and UsageError; nothing is left of a corpus that is not whole.
    """
    # A Path has one slash where the URL has two.
    if ":/" in str(out):
        raise UsageError(
            f"--out {out}: a bulk corpus is written to a folder, which a cluster's machines must"
            " share"
        )
    conf = settings_of_options({}, master=master)
    with Progress() as note, ChildEngine(cores=executors, conf=conf, note=note) as engine:
        note("starting Spark")
        engine.started.result()
        for name in names:
            fmt = get(name)
            for profile in (
                select_profiles(fmt, profiles) if profiles != EVERY else fmt.profiles[-1:]
            ):
                _write(engine, fmt, profile, out, seed, count, executors, note)


def _write(
    engine: ChildEngine,
    fmt: Format[Any],
    profile: Profile,
    out: Path,
    seed: int,
    count: int,
    executors: int,
    note: Progress,
) -> None:
    """Writes the bulk corpus of one profile by Spark's executors, and prints a line of it. Raises
    HarnessError if the writing fails; an interrupt ends Spark first.
    """
    began = time.monotonic()
    request = {"format": fmt.name, "profile": profile.name, "seed": seed, "count": count}
    with bulk.writing(out.absolute(), fmt, profile) as temporary:
        folder = temporary / PARQUET
        parts = max(executors, -(-count // STATEMENTS))
        pending = engine.ask_service(
            "corpus",
            {**request, "parts": parts, "out": str(folder), "near": str(temporary)},
            float("inf"),
        )
        try:
            while not pending.done():
                time.sleep(0.2)
                note(
                    f"{fmt.name} {profile.name}: writing {count:,} statements on {executors}"
                    " executors"
                )
            answer = pending.result()
        except (ChildDied, DecodeRaised) as error:
            raise HarnessError(f"writing on executors failed: {error}") from error
        except KeyboardInterrupt:
            # Else its tasks would go on writing into a folder that is removed.
            engine.close()
            raise
        files = bulk.number_files(folder)
        size = sum(file.stat().st_size for file in folder.iterdir())
        manifest = bulk.manifest(fmt, profile, seed, count, answer["messages"], answer["content"])
        (temporary / bulk.BULK).write_bytes(manifest)
    summary = (
        f"{answer['messages']} messages, content {answer['content']}, {files} files, {size} bytes"
    )
    print_notice(f"{out / fmt.name / profile.name}: {summary}, {time.monotonic() - began:.1f} s")
