"""Runs the mutants: `python tests/mutants/run.py [GLOB ...]` applies each to a copy of the tree and
runs the tests named with it.

Prints `killed` or `survived` for each; ends with 1 if one survives, or if its text no longer stands
exactly once in its file.
"""

import compileall
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest
from mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "docs", "mutants")
OPTIONS = (
    "-x",
    "-q",
    "-o",
    "addopts=--import-mode=importlib",
    "-p",
    "no:cacheprovider",
    "-m",
    "not spark and not kafka",
)
"""Instead of the project's: without plugins tests begin in half the time."""
FOREIGN = (
    "pyarrow.parquet",
    "hypothesis.strategies",
    "rich.console",
    "click.testing",
    "fastavro",
    "orjson",
    "pandas",
)
"""Imported once, for all; of the project's modules none, since each mutant has its own."""
LIMIT = 300
"""Seconds for the tests of one mutant: a mutant that hangs is killed, too."""


def copied(root: Path) -> None:
    """The tree without what the tests do not need. A compiled module is checked by its source's
    hash, since a mutant may be as long and as old as the original.
    """
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    for package in ("generators", "conformance", "spark_checks"):
        compileall.compile_dir(
            root / package, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
        )


def tested(root: Path, log: Path, tests: tuple[str, ...]) -> int:
    """The exit code of a process of its own that runs tests in the tree and writes down what it
    prints; -1 if it does not end.
    """
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1
    code = 70
    try:
        signal.alarm(LIMIT)
        with log.open("w", encoding="utf-8") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        os.chdir(root)
        sys.path.insert(0, str(root))
        code = int(pytest.main([*OPTIONS, *tests]))
    finally:
        sys.stdout.flush()
        os._exit(code)


def outcome(root: Path, mutant: Mutant) -> tuple[str, str]:
    """What became of a mutant, and why: killed, survived or stale."""
    path, log = root / mutant.file, root / "log"
    text = path.read_text("utf-8")
    if (times := text.count(mutant.old)) != 1:
        return "stale", f"its text stands {times} times in {mutant.file}"
    path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    try:
        code = tested(root, log, mutant.tests)
    finally:
        path.write_text(text, "utf-8")
    if code == -1:
        return "killed", f"no end within {LIMIT} s"
    printed = log.read_text("utf-8", "replace")
    failed = re.search(r"^(?:FAILED|ERROR) \S*?::(\S+)", printed, re.MULTILINE)
    if code == 1 and failed:
        return "killed", failed[1]
    return ("survived", mutant.breaks) if code == 0 else ("stale", printed[-2_000:])


def main(globs: list[str]) -> int:
    chosen = [
        mutant
        for mutant in MUTANTS
        if not globs or any(fnmatchcase(mutant.name, glob) for glob in globs)
    ]
    bad = 0
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in FOREIGN:
        import_module(name)
    with tempfile.TemporaryDirectory() as home:
        copied(root := Path(home, "tree"))
        for mutant in chosen:
            began = time.monotonic()
            word, why = outcome(root, mutant)
            bad += word != "killed"
            print(f"{word:8} {mutant.name} ({time.monotonic() - began:.1f} s): {why}", flush=True)
    used = sum(
        r.ru_utime + r.ru_stime
        for r in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
    print(f"{len(chosen) - bad} of {len(chosen)} mutants killed in {used:.0f} CPU seconds")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
