"""Runs the mutants: `python tests/mutants/run.py [GLOB ...]` applies each to a copy of the tree and runs the tests named with it.

Prints `killed` or `survived` for each; ends with 1 if one survives, or if its text no longer stands exactly once in its file.
"""

import compileall
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatchcase
from pathlib import Path
from py_compile import PycInvalidationMode

from mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "docs", "mutants")
OPTIONS = ("-o", "addopts=--import-mode=importlib", "-p", "no:cacheprovider")
"""Instead of the project's: without plugins a test process starts in half the time."""
LIMIT = 300
"""Seconds for the tests of one mutant: a mutant that hangs is killed, too."""


def copied(root: Path) -> None:
    """The tree without what the tests do not need. A compiled module is checked by its source's hash, since a mutant may be as
    long and as old as the original."""
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    for package in ("generators", "conformance", "spark_checks"):
        compileall.compile_dir(root / package, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def outcome(root: Path, mutant: Mutant) -> tuple[str, str]:
    """What became of a mutant, and why: killed, survived or stale."""
    path = root / mutant.file
    text = path.read_text("utf-8")
    if (times := text.count(mutant.old)) != 1:
        return "stale", f"its text stands {times} times in {mutant.file}"
    command = [sys.executable, "-m", "pytest", "-x", "-q", *OPTIONS, "-m", "not spark and not kafka", *mutant.tests]
    path.write_text(text.replace(mutant.old, mutant.new), "utf-8")
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "killed", f"no end within {LIMIT} s"
    finally:
        path.write_text(text, "utf-8")
    failed = re.search(r"^(?:FAILED|ERROR) \S*?::(\S+)", done.stdout, re.MULTILINE)
    if done.returncode == 1 and failed:
        return "killed", failed[1]
    return ("survived", mutant.breaks) if done.returncode == 0 else ("stale", done.stdout[-2_000:] + done.stderr[-2_000:])


def main(globs: list[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not globs or any(fnmatchcase(mutant.name, glob) for glob in globs)]
    bad = 0
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as home:
        copied(root := Path(home, "tree"))
        for mutant in chosen:
            began = time.monotonic()
            word, why = outcome(root, mutant)
            bad += word != "killed"
            print(f"{word:8} {mutant.name} ({time.monotonic() - began:.1f} s): {why}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} mutants killed")
    return 1 if bad or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
