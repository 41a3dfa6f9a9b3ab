"""docs/tutorial.md does what it says: its files are examples/tutorial, its commands end as it
shows.

A comment before each block says what the block is: a file, a change to one, a command with its exit
code, what the command says (`...` stands for anything), what a file holds.
"""

from __future__ import annotations

import difflib
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from generators.wire_format import get

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
BLOCK = re.compile(
    r"<!-- (?P<what>[^\n]+) -->\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
FRAMES = str.maketrans("│╭╮╰╯─┃┏┓┡┩━┳┴└┘┴┬", " " * 18)
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 300


@dataclass(frozen=True)
class Block:
    what: str
    language: str
    text: str


BLOCKS = [Block(**match.groupdict()) for match in BLOCK.finditer(PAGE)]
FIRST = [
    Block(**match.groupdict()) for match in BLOCK.finditer(README.partition("## Five minutes")[2])
]
"""The five minutes of README."""


def kind(block):
    return block.what.partition(":")[0]


def changed(text, diff):
    """The text with the hunks of a diff; each must fit in exactly one place."""
    for hunk in re.split(r"^@@ .* @@\n", diff, flags=re.MULTILINE)[1:]:
        lines = hunk.splitlines()
        old = "".join(line[1:] + "\n" for line in lines if line[0] in " -")
        new = "".join(line[1:] + "\n" for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"fits {text.count(old)} times:\n{hunk}"
        text = text.replace(old, new)
    return text


def words(text):
    """Its lines without styles, frames and the width of white space."""
    return [" ".join(STYLE.sub("", line).translate(FRAMES).split()) for line in text.splitlines()]


def unsaid(shown, said, ordered):
    """The shown lines that were not said, in their order or in any."""
    left, missing = words(said), []
    for line in words(shown):
        pattern = ".*".join(re.escape(part) for part in line.split("..."))
        at = next(
            (
                n
                for n, candidate in enumerate(left)
                if re.search(f"(^|[^-/a-z0-9]){pattern}", candidate)
            ),
            None,
        )
        if at is None:
            missing.append(line)
        elif ordered:
            left = left[at:]
    return missing


def run(command, cwd):
    """A command as a person runs it, on a terminal: its exit code, and what it said."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "COLUMNS": "200", "TERM": "xterm"}
    for name in [name for name in env if name.startswith("PYTEST_")]:
        del env[name]
    with (cwd / "stderr").open("wb") as err:
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=err,
        )
        os.close(follower)
        said = b""
        try:
            while part := os.read(leader, 65536):
                said += part
        except OSError:
            pass  # Linux's answer when the other end of a terminal has closed
        finally:
            os.close(leader)
    code = process.wait(SECONDS)
    return code, (said + (cwd / "stderr").read_bytes()).decode("utf-8", "replace")


def test_every_block_says_what_it_is():
    assert len(BLOCKS) == PAGE.count("\n```") / 2
    assert {kind(block) for block in BLOCKS} == {
        "install",
        "file",
        "patch",
        "run",
        "says",
        "says in any order",
        "holds",
    }


def test_the_decoder_s_files_are_the_examples():
    held = ""
    for block in BLOCKS:
        name, _, example = block.what.partition(": ")[2].partition(" is ")
        if name == "mine.py":
            real = (ROOT / example).read_text("utf-8")
            if kind(block) == "file":
                assert block.text == real
            else:
                names = ("mine.py", "mine.py")
                lines = difflib.unified_diff(
                    held.splitlines(), real.splitlines(), *names, n=2, lineterm=""
                )
                assert (block.text.splitlines(), changed(held, block.text)) == (list(lines), real)
            held = real
    assert held == (ROOT / "examples" / "tutorial" / "framed.py").read_text("utf-8")


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_patch_takes_the_diffs(tmp_path):
    (tmp_path / "mine.py").write_text(
        (ROOT / "examples" / "tutorial" / "naive.py").read_text("utf-8"), "utf-8"
    )
    for block in (block for block in BLOCKS if kind(block) == "patch"):
        subprocess.run(
            ["patch", "-p0", "-F0"], cwd=tmp_path, input=block.text, text=True, check=True
        )
        real = (ROOT / block.what.partition(" is ")[2]).read_text("utf-8")
        assert (tmp_path / "mine.py").read_text("utf-8") == real


def test_the_installation_is_the_readme_s():
    assert [block for block in BLOCKS if kind(block) == "install"] == [
        block for block in FIRST if kind(block) == "install"
    ]


def test_the_example_of_level_two_is_its_file():
    page = (ROOT / "docs" / "writing-a-decoder.md").read_text("utf-8")
    assert f"```python\n{(ROOT / 'examples' / 'rows' / 'rows.py').read_text('utf-8')}```" in page


def test_the_five_minutes_of_readme_end_as_it_says(engine, in_session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, there = "examples/tutorial/almost.py", tmp_path / "almost.py"
    there.write_text((ROOT / name).read_text("utf-8"), "utf-8")
    said = ""
    assert [kind(block) for block in FIRST] == ["install", "run", "says", "patch", "run", "says"]
    for block in FIRST[1:]:
        match kind(block):
            case "run":
                _, *given = shlex.split(block.text.replace(name, str(there)))
                code, said = in_session(
                    *given, "--format", "pretty", "--exclude", "*/values/*", "--exclude", "*/text/*"
                )
                assert block.what == f"run: exit {code}", said
            case "says":
                assert unsaid(block.text.replace(name, str(there)), said, True) == [], said
            case "patch":
                there.write_text(changed(there.read_text("utf-8"), block.text), "utf-8")
                assert there.read_text("utf-8") == (
                    ROOT / "examples" / "tutorial" / "framed.py"
                ).read_text("utf-8")
                engine.sources(forget=True).result()


def test_its_numbers_of_profiles_are_right():
    names = [profile.name for profile in get("ticdc-canal-json").profiles]
    assert f"All {len(names)} profiles" in PAGE
    assert sum(fnmatchcase(name, "v7.1.6*") for name in names) == 5
    assert "This decoder claims five" in PAGE


@pytest.mark.parametrize(
    ("shown", "said", "ordered", "missing"),
    [
        *(
            ("a ... c\nd", "│ a  b  c │\nx\nd\n", True, []),
            ("d\na", "a\nd\n", True, ["a"]),
            ("d\na", "a\nd\n", False, []),
        ),
        *(
            ("1 failed", "11 failed", True, ["1 failed"]),
            ("fault/empty", "/fault/empty", True, ["fault/empty"]),
        ),
    ],
)
def test_what_is_shown_is_looked_for_line_by_line(shown, said, ordered, missing):
    assert unsaid(shown, said, ordered) == missing


def test_the_example_of_level_two_conforms(in_session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "writing-a-decoder.md").read_text("utf-8")
    (command,) = re.findall(
        r"^```sh\n(cdc-conformance run .*?--level rows.*?)^```$", page, re.DOTALL | re.MULTILINE
    )
    (tmp_path / "rows.py").write_text(
        (ROOT / "examples" / "rows" / "rows.py").read_text("utf-8"), "utf-8"
    )
    code, said = in_session(*shlex.split(command.replace("\\\n", ""))[1:], "--format", "pretty")
    assert code == 0, said
    assert re.search(r"13 cases \(0 drawn; 0 judged at level one, 13 at level two\)", said), said


def test_its_commands_end_as_it_says(in_session, pytester, monkeypatch):
    """`doctor` as a process on a terminal, the others here with the session's Spark and fewer
    cases, of which the page shows the same.
    """
    folder = pytester.path
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setattr("conformance.running.alone.LIMIT_S", 600)  # on a busy machine, too
    (folder / "cdc-conformance.toml").write_text(
        '[run]\nexclude = ["*/values/*", "*/rows/*", "*/text/*"]\n', "utf-8"
    )
    code = said = None
    for block in BLOCKS:
        name = block.what.partition(": ")[2].partition(" is ")[0]
        match kind(block):
            case "file":
                (folder / name).write_text(block.text, "utf-8")
            case "patch":
                (folder / name).write_text(
                    changed((folder / name).read_text("utf-8"), block.text), "utf-8"
                )
            case "run":
                program, *given = shlex.split(block.text.replace("\\\n", ""))
                if program == "pytest":
                    done = pytester.runpytest_inprocess(*given, "-p", "no:randomly")
                    code, said = done.ret, done.stdout.str()
                elif given == ["doctor"]:
                    code, said = run(block.text, folder)
                else:
                    code, said = in_session(*given, "--format", "pretty")
                assert name == f"exit {int(code)}", f"{block.text}{said}"
            case "says" | "says in any order" as order:
                assert unsaid(block.text, said, order == "says") == [], said
            case "holds":
                assert block.text.strip() in (folder / name).read_text("utf-8")
