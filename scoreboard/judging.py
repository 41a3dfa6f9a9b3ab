"""Judges a reader: builds its adapter, runs the harness on all cases and on the recorded ones, and
keeps the outcome.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from conformance.brokers.jars import QUICK, Note, jars_of, require_java
from conformance.cases import catalogue
from conformance.files import cache_dir
from conformance.judging.capabilities import Capabilities
from conformance.judging.selection import split_by_claims
from conformance.judging.wording import clip
from conformance.rules.rules import rules
from generators.errors import HarnessError
from generators.model import Case, Table
from generators.storage import codec
from generators.wire_format import get
from scoreboard.readers import READERS, Reader

ROOT: Final = Path(__file__).parent
RESULTS: Final = ROOT / "results"
"""The folder of the kept results, a file for each reader."""
JAVA: Final = ROOT / "java"
"""The folder of the Java adapters' sources."""
JVM: Final = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.awt.headless=true",
    "-Duser.timezone=UTC",
)
"""Options of the JVM for a reader's adapter."""
_KEPT: Final = ("rule", "case", "cases", "path", "expected", "actual", "cause", "cause_in_words")
"""The members of a failure in the harness's report that are kept."""
LETTERS: Final = 700
"""Characters of a text that are kept of a failure."""
_RECORDED: Final = ("--select", "*/recorded/*", "--causes", "1000")
"""Options of the run on recorded messages: every cause there may be the evidence of a fault."""
_SELECTING: Final = frozenset({"profiles", "types"})
"""Claims that select the cases on which a reader is judged, and change nothing else."""
_ENDS: Final = (0, 1)
"""Exit codes of a run that reached its verdict: conforms, or not."""
_NOTHING: Final = (2, 4)
"""Exit codes of a run that selects no case, or only cases that the reader does not claim."""


def judge(
    reader: Reader, note: Note, *, formats: Sequence[str] = (), options: Sequence[str] = ()
) -> dict[str, Any]:
    """Judges a reader: runs the harness on all cases of each format and on the recorded ones, and
    returns counts, rules and failures by format. Raises HarnessError if the adapter cannot be built
    or a run does not reach its verdict.
    """
    outcome: dict[str, Any] = {"reader": reader.name, "release": reader.release, "formats": {}}
    wheels = install_wheels(reader.wheels, note)
    every_option = (*reader.options, *options)
    for name in formats or tuple(reader.formats):
        decoder = decoder_of(reader, name, note)
        began = time.monotonic()
        note(f"{reader.name}: {name}")
        results_of_all = _run(
            name, decoder, (*every_option, *_profile_options(reader, name)), wheels
        )
        seconds = round(time.monotonic() - began)
        note(f"{reader.name}: {name}: {results_of_all['verdict']} in {seconds} s")
        recorded_cases = catalogue.recorded_cases(get(name), "*", None)
        recorded = (
            _run(name, decoder, (*every_option, *_RECORDED), wheels, may_be_empty=True)
            if recorded_cases
            else {}
        )
        results = {
            "recorded": recorded,
            "seconds": seconds,
            "date": datetime.now(UTC).date().isoformat(),
            "commit": _commit(),
        }
        outcome["formats"][name] = {
            **results_of_all,
            **results,
            "cases_digest": digest(reader, name),
            "adapter_digest": adapter_digest(reader, name),
        }
    return outcome


def _profile_options(reader: Reader, name: str) -> Iterator[str]:
    """The options that select the profiles that a Spark reader's entry names. A Java reader's
    adapter gets the entry and claims them itself.
    """
    if reader.bundle is None:
        for glob in reader.formats[name].get("profiles", ()):
            yield from ("--writer-profile", glob)


def digest(reader: Reader, name: str) -> str:
    """A digest of the cases on which a reader is judged on a format, with what they expect, and of
    the rules that apply to their profiles: a kept result with another digest is outdated. Only
    cases of level two (typed rows) count, of profiles and recorded types that the reader claims.
    """
    return _digest_of_claims(name, json.dumps(reader.formats[name]))


@cache
def _digest_of_claims(name: str, claims: str) -> str:
    """The digest of the cases of level two (typed rows) of a format that match claims, a JSON text,
    with the rules of their profiles: readers of the same claims share it. Each case goes into it by
    its own digest, which `_typed_rows` has beside the case.
    """
    capabilities = Capabilities.of(json.loads(claims))
    judged_cases = split_by_claims(
        [case for case, _ in _typed_rows(name).values()], capabilities, (2,)
    )[0]
    profiles = {case.profile for case in judged_cases}
    judged_rules = [
        (rule.id, rule.obligation.value)
        for rule in rules(name)
        if _can_concern(rule.selector.profiles, profiles)
    ]
    hasher = hashlib.sha256(repr(judged_rules).encode())
    for case in judged_cases:
        _, case_digest = _typed_rows(name)[case.id]
        hasher.update(case_digest)
    return hasher.hexdigest()[:16]


def _can_concern(globs: Sequence[str], profiles: Iterable[str]) -> bool:
    """Whether a rule whose selector has these globs of profiles can apply to one of the profiles; a
    rule without globs applies to all.
    """
    return not globs or any(
        fnmatchcase(profile, glob) for profile, glob in itertools.product(profiles, globs)
    )


@cache
def _typed_rows(name: str) -> dict[str, tuple[Case, bytes]]:
    """The named and the recorded cases of a format at level two (typed rows), by their ids, each
    with its digest.
    """
    fmt = get(name)
    every = (*catalogue.named_cases(fmt, fmt.profiles), *catalogue.recorded_cases(fmt, "*", None))
    return {case.id: (case, _digest(case)) for case in every if case.level == 2}


def _digest(case: Case) -> bytes:
    """A digest of a case with all that it expects; those of all cases make the digest by which an
    outdated result is found. Tables, which hundreds of cases share, are dumped once.
    """
    plain = codec.dump_case(replace(case, tables=())) | {
        "tables": [_table_digest(table) for table in case.tables]
    }
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).digest()


@cache
def _table_digest(table: Table) -> str:
    """The digest of a table, as a part of its cases' digests; many cases share one, so it is
    computed once.
    """
    return hashlib.sha256(
        orjson.dumps(codec.dump_table(table), option=orjson.OPT_SORT_KEYS)
    ).hexdigest()


def adapter_digest(reader: Reader, name: str) -> str:
    """A digest of a reader's release and options, of its conventions in a format, and of its
    adapter's source. The profiles and types that it says it reads are not in it, but the cases that
    they select are in `digest`.
    """
    files = (
        _sources(reader) if reader.bundle else [ROOT / "spark" / reader.module.partition(":")[0]]
    )
    data: tuple[object, ...] = (
        reader.release,
        {key: globs for key, globs in reader.formats[name].items() if key not in _SELECTING},
        reader.settings,
        reader.options,
        reader.bundle and reader.bundle.name,
    )
    if reader.wheels:
        data += (reader.wheels,)
    return hashlib.sha256(
        repr(data).encode() + b"".join(path.read_bytes() for path in files)
    ).hexdigest()[:16]


def stale() -> dict[str, list[str]]:
    """The readers, and for each the formats, whose results are missing or were judged on other
    cases, rules or adapters than today's.
    """
    by_reader = {}
    for reader in READERS:
        file = RESULTS / f"{reader.name}.json"
        results = json.loads(file.read_text("utf-8"))["formats"] if file.exists() else {}
        old = [
            fmt
            for fmt in reader.formats
            if results.get(fmt, {}).get("adapter_digest") != adapter_digest(reader, fmt)
            or results[fmt].get("cases_digest") != digest(reader, fmt)
        ]
        if old:
            by_reader[reader.name] = old
    return by_reader


def _commit() -> str:
    """The commit of the checkout in which the scoreboard runs, shortened; "" outside of a
    checkout.
    """
    ran = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return ran.stdout.strip()[:12]


def _sources(reader: Reader) -> list[Path]:
    """The Java files from which a reader's adapter is compiled: those that all adapters share, and
    its own.
    """
    package = reader.factory.rpartition(".")[0]
    return sorted(
        [*(JAVA / "scoreboard").glob("*.java"), *(JAVA / package.replace(".", "/")).glob("*.java")]
    )


def save(outcome: Mapping[str, Any]) -> None:
    """Writes the outcome of a reader into its file of results. Formats that were not judged this
    time keep their earlier results, unless these are of another release.
    """
    file = RESULTS / f"{outcome['reader']}.json"
    earlier = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if earlier.get("release") == outcome["release"]:
        outcome = {**outcome, "formats": {**earlier["formats"], **outcome["formats"]}}
    RESULTS.mkdir(exist_ok=True)
    file.write_text(
        json.dumps(outcome, indent=1, ensure_ascii=True, sort_keys=True) + "\n", "utf-8"
    )


def decoder_of(reader: Reader, name: str, note: Note) -> str:
    """The value of `--decoder` under which the harness runs a reader on a format: a Python file, or
    the command of its Java program.
    """
    if reader.bundle is None:
        return str(ROOT / "spark" / reader.module)
    capabilities = json.dumps({key: list(globs) for key, globs in reader.formats[name].items()})
    settings = [f"{key}={value}" for key, value in reader.settings.items()]
    return "cmd:" + shlex.join(
        java_command(reader, note, "scoreboard.Adapter", reader.factory, capabilities, *settings)
    )


def java_command(reader: Reader, note: Note, *words: str) -> list[str]:
    """The command of a Java program, a class and its arguments, with a Java reader's jars and
    compiled adapter.

    Raises HarnessError if they cannot be had.
    """
    assert reader.bundle is not None
    java = require_java()
    jars = jars_of(reader.bundle, note)
    return [
        java.path,
        *JVM,
        f"@{path_of(_compile_adapter(reader, java.path, jars, note), jars)}",
        *words,
    ]


def install_wheels(requirements: Sequence[str], note: Note) -> Path | None:
    """The folder of a Spark reader's packages, installed once for each list of requirements; None
    without requirements.

    Raises HarnessError if they cannot be installed.
    """
    if not requirements:
        return None
    content = "\n".join(requirements) + "\n"
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    target = cache_dir() / "scoreboard" / f"wheels-{digest}"
    if target.is_dir():
        return target
    note(f"installing {', '.join(line.partition(' ')[0] for line in requirements)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=".installing-", dir=target.parent, ignore_cleanup_errors=True
    ) as work:
        requirements_file, folder = Path(work) / "requirements.txt", Path(work) / "packages"
        requirements_file.write_text(content, "utf-8")
        installer = _installer()
        options = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "--quiet")
        ran = subprocess.run(
            [
                *installer,
                *options,
                "--target",
                str(folder),
                "--requirement",
                str(requirements_file),
            ],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if ran.returncode != 0:
            raise HarnessError(f"cannot install {', '.join(requirements)}:\n{ran.stderr}")
        folder.rename(target)
    return target


def _installer() -> list[str]:
    """The command that installs packages: pip's, or that of uv beside a Python without pip. Raises
    HarnessError if there is neither.
    """
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        raise HarnessError(f"{sys.executable} has neither pip nor uv, to install what is judged")
    return [str(uv), "pip", "install", "--python", sys.executable]


def path_of(classes: Path, jars: Sequence[Path]) -> Path:
    """Writes a file beside a folder of classes that has Java's option for the class path of the
    classes and the jars, and returns its path.
    """
    path = classes.with_suffix(".path")
    path.write_text(
        "\n".join(["-cp", f'"{os.pathsep.join([str(classes), *map(str, jars)])}"']), "utf-8"
    )
    return path


def _compile_adapter(reader: Reader, java: str, jars: Sequence[Path], note: Note) -> Path:
    """The folder with the classes of a reader's adapter, compiled once for each content of its
    sources.
    """
    sources = _sources(reader)
    content = b"".join(path.read_bytes() for path in sources) + reader.release.encode()
    target = (
        cache_dir() / "scoreboard" / f"{reader.record}-{hashlib.sha256(content).hexdigest()[:16]}"
    )
    if target.is_dir():
        return target
    note(f"{reader.name}: compiling its adapter")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=".compiling-", dir=target.parent, ignore_cleanup_errors=True
    ) as work:
        run_compiler(java, jars, sources, Path(work) / "classes", f"the adapter of {reader.name}")
        (Path(work) / "classes").rename(target)
    return target


def run_compiler(
    java: str, jars: Sequence[Path], sources: Sequence[Path], target: Path, title: str
) -> None:
    """Compiles Java sources into the folder `target`. `java` is the path of Java's launcher, beside
    which the compiler is looked for; `title` names the sources in the error. Raises HarnessError if
    they do not compile, or there is no compiler.
    """
    compiler = Path(java).resolve().with_name("javac")
    if not compiler.exists():
        raise HarnessError(
            f"{java} is no JDK: the adapters are compiled (Debian, Ubuntu: openjdk-17-jdk-headless)"
        )
    path = ("-cp", os.pathsep.join(map(str, jars)))
    options = (
        *(f"-J{flag}" for flag in QUICK),
        "-nowarn",
        "-proc:none",
        "-encoding",
        "utf-8",
        "-d",
        str(target),
        *path,
    )
    command = [str(compiler), *options, *map(str, sources)]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if ran.returncode != 0:
        raise HarnessError(f"{title} does not compile:\n{ran.stdout}{ran.stderr}")


def _run(
    name: str,
    decoder: str,
    options: Sequence[str],
    wheels: Path | None,
    *,
    may_be_empty: bool = False,
) -> dict[str, Any]:
    """Runs the harness with a decoder on a format, and returns what the scoreboard keeps of the
    report; `wheels` is the folder of the packages that the decoder imports.
    """
    with tempfile.TemporaryDirectory(prefix="cdc-conformance-scoreboard-") as work:
        command = [
            *(
                sys.executable,
                "-m",
                "conformance",
                "run",
                name,
                "--decoder",
                decoder,
                "--level",
                "rows",
            ),
            *(
                "--no-reduce",
                "--broker",
                "none",
                "--format",
                "markdown",
                "--report",
                work,
                *options,
            ),
        ]
        path = os.pathsep.join(str(folder) for folder in (ROOT.parent, wheels) if folder)
        environment = {**os.environ, "PYTHONPATH": path}
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            cwd=work,
            env=environment,
            check=False,
        )
        if may_be_empty and ran.returncode in _NOTHING:
            return {}
        if ran.returncode not in _ENDS:
            raise HarnessError(
                f"the run of {name} ended with exit code {ran.returncode}:\n{ran.stderr[-3000:]}"
            )
        report_lines = (Path(work) / "report.jsonl").read_text("utf-8")
        # A text may hold U+2028, at which splitlines() would split.
        lines = [json.loads(line) for line in report_lines.split("\n") if line]
    return distilled(lines, ran.returncode)


def distilled(lines: Sequence[Mapping[str, Any]], code: int) -> dict[str, Any]:
    """What the scoreboard keeps of the harness's report, given as its lines, and of the run's exit
    code (0 if the reader conforms): the verdict; the `cases` by their verdict; `compared`, how many
    rules had something to compare; `nulled`, how many cases have cells that are NULL because the
    message does not hold their columns; and the failures of broken rules.
    """
    cases = Counter(line["verdict"] for line in lines if line["type"] == "case")
    rules = [line for line in lines if line["type"] == "rule"]
    broken = {line["id"]: line for line in rules if line["broken"]}
    return {
        "verdict": "conforms" if code == 0 else "does not conform",
        "cases": dict(sorted(cases.items())),
        "compared": sum(1 for rule in rules if rule["compared"]),
        "nulled": sum(1 for line in lines if line["type"] == "case" and line["nulled"]),
        "failures": [
            {**_clip_failure(line), "obligation": broken[line["rule"]]["obligation"]}
            for line in lines
            if line["type"] == "failure" and line["rule"] in broken
        ],
    }


def _clip_failure(line: Mapping[str, Any]) -> dict[str, Any]:
    """What the scoreboard keeps of a failure's line: the members of _KEPT, long texts clipped."""
    return {
        key: clip(line[key], LETTERS) if isinstance(line[key], str) else line[key] for key in _KEPT
    }
