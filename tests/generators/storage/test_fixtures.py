"""The committed corpora are what the writers write now, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from generators.storage import corpus
from generators.wire_format import FORMATS, get

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "fixtures"
HINT = (
    "if the change is meant: rm -r fixtures/[!r]* && python -m generators.storage.fixtures fixtures"
)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def differing(files: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(
        name for name in files.keys() | other.keys() if files.get(name) != other.get(name)
    )


def test_another_process_writes_the_same_bytes(tmp_path: Path) -> None:
    """Whatever its hash seed, time zone and locale."""
    strange = {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "generators.storage.fixtures", str(tmp_path)]
    subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **strange},
        check=True,
        capture_output=True,
        timeout=120,
    )
    written = {
        name: data for name, data in tree(COMMITTED).items() if not name.startswith("recorded/")
    }
    assert differing(tree(tmp_path), written) == [], HINT


def test_committed_fixtures_verify_and_stay_small() -> None:
    folders = corpus.find(COMMITTED)
    profiles = {(name, profile.name) for name in FORMATS for profile in get(name).profiles}
    assert {(folder.parent.name, corpus.read(folder).profile) for folder in folders} == profiles
    assert {folder: wrong for folder in folders if (wrong := corpus.verify(folder))} == {}
    assert all(20 <= len(corpus.read(folder).cases) <= 45 for folder in folders)
    assert sum(map(len, tree(COMMITTED).values())) < 800_000 * len(FORMATS)
