"""Files of a stranger: none of them runs code, whichever way it reaches some."""

import json
import marshal
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_lines import performed
from cramjam import zstd

from conformance.cases import kept
from conformance.commands import shell
from conformance.commands.shell import print_notice
from conformance.running import replay
from generators.drawing.cases import as_case
from generators.errors import HarnessError, UsageError
from generators.sources.boundaries import KEYLESS, insert, scenario
from generators.storage import codec, corpus
from generators.wire_format import FORMATS, get

HOSTILE = Path(__file__).parents[2] / "hostile"
DECODERS = (HOSTILE / "decoders.txt").read_text("utf-8").splitlines()
FMT = get("ticdc-canal-json")
CASES_OF_TABLE = (
    *("cases", "ticdc-canal-json", "--tables", "t.sql", "--dialect", "mysql"),
    *("--values", "values.toml"),
)


@pytest.fixture
def cloned(tmp_path, monkeypatch):
    """A stranger's folder, as the working directory, with an evil module; the marker of its harm is
    `ran`.
    """
    folder = tmp_path / "cloned"
    folder.mkdir()
    for place in ("", "spark_checks.decoders.y", "spark_checks.decoders."):
        (folder / place).mkdir(exist_ok=True)
        shutil.copy(HOSTILE / "evil.py", folder / place / "evil.py")
    (folder / "evil.toml").write_text(
        "[liars.x]\nsql = \"reflect('java.lang.System', 'exit')\"\n", "utf-8"
    )
    monkeypatch.setenv("HOSTILE_MARKER", str(folder / "ran"))
    monkeypatch.chdir(folder)
    return folder


def crash_file(folder, decoder, **changes):
    case = as_case(
        FMT,
        FMT.profile("v7.1.6"),
        scenario("shape/x", insert(KEYLESS, {"a": 1, "b": "x", "c": None})),
    )
    data = {
        "version": replay.VERSION,
        "id": "x",
        "rule": "ticdc-canal-json/change/missing",
        "decoder": decoder,
        "level": "changes",
        "mapping": {},
        "versions": {},
        "case": codec.dump_case(case),
    }
    (folder / "crash.json").write_text(json.dumps(data | changes), "utf-8")
    return folder / "crash.json"


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_crash_file_runs_no_decoder_that_only_it_names(cloned, decoder):
    result = performed("replay", crash_file(cloned, decoder))
    assert "only the saved files name what would run: decoder" in str(result.exception)
    assert result.exception.exit_code == 2
    assert not (cloned / "ran").exists()


def test_a_crash_file_runs_no_expression_that_only_it_names(cloned):
    expression = "reflect('java.lang.System', 'exit', 3)"
    path = crash_file(cloned, "spark_checks.decoders.ticdc_canal_json", mapping={"op": expression})
    result = performed("replay", path)
    assert "only the saved files name what would run: --map" in str(result.exception)


def test_files_may_name_reference_decoders_and_liars_alone():
    reference = [f"spark_checks.decoders.{name.replace('-', '_')}" for name in FORMATS]
    assert all(map(replay.trusted, [*reference, "liar:ticdc-canal-json/float-decimal"]))
    assert not any(map(replay.trusted, DECODERS))


def test_a_configuration_does_not_answer_the_question(cloned):
    (cloned / "cdc-conformance.toml").write_text("[replay]\nyes = true\n", "utf-8")
    result = performed_with_configuration("replay", crash_file(cloned, "evil.py:decode"))
    assert "[replay], yes = true: " in str(result.exception)
    assert not (cloned / "ran").exists()


def performed_with_configuration(*words):
    from click.testing import CliRunner

    from conformance.commands.cli import cli

    return CliRunner().invoke(cli, list(map(str, words)), prog_name="cdc-conformance")


@pytest.mark.parametrize("provider", ["__class__", "seed_instance.__globals__", "add_provider"])
def test_values_name_no_attribute_of_python(cloned, provider):
    Path("t.sql").write_text("CREATE TABLE a (i INT PRIMARY KEY, t TEXT)", "utf-8")
    Path("values.toml").write_text(f'[a.t]\nprovider = "{provider}"\n', "utf-8")
    result = performed(*CASES_OF_TABLE)
    assert result.exit_code != 0
    assert repr(provider) in str(result.exception)


@pytest.mark.parametrize(
    "content",
    [
        (["os", "system"], [(99, (0, 1))]),
        ([], [(0, (5,))]),
        ([], []),
        "text",
        ([1, 2], [(6, (0, 1, 0))]),
    ],
)
def test_kept_cases_of_another_content_are_made_again(tmp_path, monkeypatch, content):
    monkeypatch.setenv("CDC_CONFORMANCE_CACHE", str(tmp_path))
    packed = bytes(zstd.compress(marshal.dumps(content), 3))
    path = kept._case_path(FMT, FMT.profiles[0])
    path.parent.mkdir(parents=True)
    path.write_bytes(kept.sealed(packed))
    assert kept.read_cases(FMT, FMT.profiles[0]) is None


def test_a_regex_that_no_text_can_be_drawn_from_is_named(cloned):
    Path("t.sql").write_text("CREATE TABLE a (i INT PRIMARY KEY, t TEXT)", "utf-8")
    Path("values.toml").write_text('[a.t]\nregex = "(a|b|ab)*c{100000000}"\n', "utf-8")
    result = performed(*CASES_OF_TABLE)
    assert type(result.exception) is UsageError
    assert "values.toml" in str(result.exception)


@pytest.mark.parametrize(
    "column",
    [
        f"b INT CHECK ({'(' * 20_000}b{')' * 20_000} > 0)",
        f"b INT AS ({'1+' * 50_000}1)",
        f"b INT DEFAULT {'(' * 20_000}1{')' * 20_000}",
    ],
    ids=["check", "generated", "default"],
)
def test_an_expression_that_is_nested_deeply_ends_nothing(cloned, column):
    Path("t.sql").write_text(f"CREATE TABLE a (i INT PRIMARY KEY, {column})", "utf-8")
    result = performed("cases", "ticdc-canal-json", "--tables", "t.sql", "--dialect", "mysql")
    assert result.exception is None or isinstance(result.exception, HarnessError | SystemExit)


def test_a_corpus_whose_file_is_a_folder_is_refused(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    with pytest.raises(corpus.CorpusError, match="refused: it is no regular file"):
        corpus._bytes(folder)


ESCAPES = "a\x1b]0;title\x07\n::error::pwned\n  ::set-output name=x::y\nlook ##[error]pwned"


def test_a_message_of_a_command_is_safe_in_a_terminal_and_in_the_log_of_ci(capsys):
    print_notice(f"cdc-conformance: {ESCAPES}")
    assert capsys.readouterr().err == (
        "cdc-conformance: a\\x1b]0;title\\x07\n"
        "\\x3a:error::pwned\n"
        "  \\x3a:set-output name=x::y\n"
        "look #\\x23[error]pwned\n"
    )


def test_every_message_of_the_commands_goes_through_one_function():
    commands = Path(shell.__file__).parent
    raw = [
        path.name
        for path in commands.glob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if " err=True" in line and "confirm" not in line
    ]
    assert raw == ["shell.py"]


@pytest.mark.parametrize("argument", ["\x1b[31mx", "x\n::error::pwned"])
def test_a_wrong_argument_is_shown_safely(argument):
    made = subprocess.run(
        [sys.executable, "-m", "conformance", "--no-config", "formats", "--format", argument],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 2
    assert "\x1b" not in made.stderr and "\n::" not in made.stderr


def test_a_reader_who_leaves_does_not_change_the_exit_code():
    script = (
        "import sys; from conformance.commands.pipes import outlive_readers; outlive_readers();"
        "print('first', flush=True); sys.stdin.readline(); print('x' * 200_000, flush=True);"
        "print('alive', file=sys.stderr); sys.exit(0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "first\n"
        process.stdout.close()
        process.stdin.write("\n")
        process.stdin.flush()
        assert (process.stderr.read(), process.wait(30)) == ("alive\n", 0)


@pytest.mark.slow
def test_run_keeps_its_verdict_when_its_reader_leaves(tmp_path):
    decoder = Path(__file__).parents[1] / "engines" / "command_liars" / "liar.py"
    command = shlex.join(
        [
            *(sys.executable, "-m", "conformance", "--no-config", "run", "ticdc-open-protocol"),
            *("--decoder", f"cmd:{sys.executable} {decoder} tables", "--broker", "none"),
            *("--writer-profile", "v8.5.7", "--select", "ticdc-open-protocol/v8.5.7/fault/empty*"),
            *("--no-reduce", "--format", "json"),
        ]
    )
    codes = [
        subprocess.run(
            ["bash", "-c", f"{command} 2>/dev/null {pipe}; exit ${{PIPESTATUS[0]}}"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
        for pipe in ("", "| head -c 1")
    ]
    assert codes[0] == codes[1]
