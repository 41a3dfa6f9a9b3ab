"""The configuration file: where it is found, what it may say, what wins over what, and what is said
of a bad one.
"""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from command_lines import parsed

from conformance.commands import config
from conformance.commands._config_keys import ONCE, PLUGIN, schema, sections
from conformance.commands.cli import cli
from generators.errors import UsageError

TICDC = "ticdc-canal-json"
PUBLISHED = Path(config.__file__).with_name("config.schema.json")
SECTIONS = sections(cli)


def written(folder, text, name="cdc-conformance.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def params(*argv):
    return parsed(*argv).params


# Where it is found

OURS, PROJECT = "cdc-conformance.toml", "pyproject.toml"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({OURS: "seed = 2"}, OURS),
        ({OURS: "seed = 2", "near/.git/x": ""}, None),
        ({OURS: "seed = 2", f"near/{OURS}": "seed = 3"}, f"near/{OURS}"),
        (
            {
                PROJECT: "[tool.cdc-conformance.run]\nseed = 2",
                f"near/{PROJECT}": "[tool.ruff]\nline-length = 99",
            },
            PROJECT,
        ),
        ({PROJECT: "[tool.cdc-conformance]\nseed = 2", OURS: "seed = 3"}, OURS),
        ({PROJECT: "[tool.ruff\n# cdc-conformance is a word in a comment"}, None),
        ({PROJECT: "tool = 'cdc-conformance'"}, None),
    ],
    ids=[
        "none",
        "above",
        "the checkout's root ends it",
        "the nearest",
        "a table of pyproject",
        "before pyproject",
        "not ours",
        "tool is no table",
    ],
)
def test_the_nearest_file_of_the_checkout_is_used(folder, monkeypatch, files, expected):
    for name, text in files.items():
        written((folder / name).parent, f"{text}\n", (folder / name).name)
    (folder / "near" / "below").mkdir(parents=True)
    monkeypatch.chdir(folder / "near" / "below")
    assert config.find(Path.cwd()) == (expected and folder / expected)
    assert params("run")["seed"] == (
        3 if expected and "seed = 3" in files[expected] else 2 if expected else 1
    )


def test_the_option_names_another_file_or_none(folder):
    written(folder, "seed = 2\n")
    other = written(folder / "elsewhere", "seed = 3\n", "mine.toml")
    project = written(folder / "other", "[tool.cdc-conformance]\nseed = 4\n", "pyproject.toml")
    chosen = ((), ("--config", other), ("--config", project), ("--no-config",))
    assert [params(*words, "run")["seed"] for words in chosen] == [2, 3, 4, 1]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["formats"], "cdc-conformance: pyproject.toml: "),
        (
            ["--config", "mine.toml", "--no-config", "formats"],
            "--config FILE and --no-config contradict each other",
        ),
        (["--config", "absent.toml", "formats"], "absent.toml"),
        (
            ["--config", "bare/pyproject.toml", "formats"],
            "bare/pyproject.toml has no [tool.cdc-conformance]",
        ),
        (
            ["--config", "latin.toml", "formats"],
            "cannot read the configuration latin.toml: it is not UTF-8",
        ),
        (["--config", "odd/pyproject.toml", "formats"], "tool.cdc-conformance"),
    ],
)
def test_a_file_that_cannot_be_used_is_exit_2(folder, command, argv, said):
    written(folder, "seed = 3\n", "mine.toml")
    written(folder / "bare", "[tool.ruff]\n", "pyproject.toml")
    written(folder / "odd", "[tool]\ncdc-conformance = 3\n", "pyproject.toml")
    written(folder, "[tool.cdc-conformance]\nseed = \n", "pyproject.toml")
    (folder / "latin.toml").write_bytes(b"seed = 3 # \xe9\n")
    code, out, err = command(*argv)
    assert (code, out) == (2, "")
    assert said in err


# What wins over what


LEVELS = "seed = 2\nbudget = 'nightly'\n[run]\nseed = 3\nselect = ['a', 'b']\n"
FORMATS_OF_FILE = "[run]\nformats = ['debezium-json']\n[fuzz]\nformats = ['debezium-json']\n"
CLUSTERS = "[run]\nmaster = 'spark://h:7077'\nspark-packages = ['a:b:1,c:d:2']\n[bench]\nremote = 'sc://h'\n"
SPELLINGS = "[run]\nwriter_profile = 'v7*'\n[stream]\nwriter-profile = ['v6*', 'v8*']\n"
TOPIC = f"publish {TICDC} --topic t"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (LEVELS, "run", {"seed": 3, "select": ("a", "b"), "budget": "nightly"}),
        (LEVELS, "selftest", {"seed": 2}),
        (
            LEVELS,
            "run --seed 4 --select c --budget smoke",
            {"seed": 4, "select": ("c",), "budget": "smoke"},
        ),
        (FORMATS_OF_FILE, "run", {"formats": ("debezium-json",)}),
        (FORMATS_OF_FILE, f"run {TICDC}", {"formats": (TICDC,)}),
        (FORMATS_OF_FILE, "run --all", {"formats": (), "everything": True}),
        (FORMATS_OF_FILE, "fuzz --all", {"formats": (), "everything": True}),
        (
            "[corpus.write]\nout = 'corpora'\nseed = 9\n",
            f"corpus write {TICDC}",
            {"out": Path("corpora"), "seed": 9},
        ),
        (SPELLINGS, "run", {"writer_profile": ("v7*",)}),
        (SPELLINGS, "stream", {"writer_profile": ("v6*", "v8*")}),
        (SPELLINGS, "fuzz", {"writer_profile": ("*",)}),
        ("[run]\nspark-conf = {'spark.a' = '4g'}\n", "run", {"spark_conf": (("spark.a", "4g"),)}),
        (CLUSTERS, "run", {"master": "spark://h:7077", "spark_packages": ("a:b:1,c:d:2",)}),
        (CLUSTERS, "bench", {"remote": "sc://h"}),
        (
            "[run]\nmap = {after = 'x', op = 'upper(op)'}\n",
            "run",
            {"mapping": (("after", "x"), ("op", "upper(op)"))},
        ),
        ("[run]\nmap = ['after=row.after']\n", "run", {"mapping": (("after", "row.after"),)}),
        ("broker = 'none'\n", "run", {"broker_spec": "none"}),
        ("broker = 'none'\n", f"load {TICDC}", {"broker_spec": "none"}),
        ("broker = 'none'\n", TOPIC, {"broker_spec": None}),
        ("broker = 'kafka:9092'\n", TOPIC, {"broker_spec": "kafka:9092"}),
        (
            "[publish]\ntopic = 'cdc'\nrate = 500\n",
            f"publish {TICDC}",
            {"topic": "cdc", "rate": 500.0},
        ),
    ],
)
def test_the_command_line_wins_over_the_section_and_the_section_over_the_top_level(
    folder, text, line, expected
):
    written(folder, text)
    options = params(*line.split())
    assert {name: options[name] for name in expected} == expected


def test_access_to_a_broker_above_the_sections_holds_for_commands_and_pytest(folder, monkeypatch):
    monkeypatch.setenv("KAFKA_PASSWORD", "hunter2")
    (folder / "below").mkdir()
    monkeypatch.chdir(folder / "below")
    properties = "{'sasl.password' = 'env:KAFKA_PASSWORD', 'client.id' = 'mine'}"
    written(folder, f"broker-config = 'client.properties'\nbroker_property = {properties}\n")
    expected = (
        Path("../client.properties").resolve(),
        (("sasl.password", "hunter2"), ("client.id", "mine")),
    )
    for line in ("run", f"load {TICDC}", "inspect x", "stream", "doctor", TOPIC):
        options = params(*line.split())
        assert (options["broker_config"].resolve(), options["broker_property"]) == expected
    defaults = config.pytest_defaults(folder, cli)
    assert Path(defaults["broker-config"]).resolve() == expected[0]
    assert defaults["broker-property"] == ["sasl.password=env:KAFKA_PASSWORD", "client.id=mine"]


@pytest.mark.parametrize(
    "text",
    [
        "broker-property = {'sasl.password' = 'hunter2'}",
        "[run]\nbroker_property = ['sasl.password=hunter2']",
        "[bench]\nbroker-property = ['sasl.password=hunter2']",
        "[publish]\nbroker-property = 'hunter2'",
    ],
)
def test_an_error_of_the_file_shows_no_secret(folder, command, text):
    written(folder, text)
    code, out, err = command("run")
    assert code == 2
    assert "broker" in err and "property = ...: " in err
    assert "hunter2" not in out + err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[run]\nspark-conf = 'spark.x.secret.key=hunter2'", "spark-conf = ...: expected an array"),
        (
            "[run]\nspark-conf = ['secret.key=hunter2']",
            "spark-conf = ...: --spark-conf secret.key: ",
        ),
        ("[run]\nspark-conf = ['spark.x.secret.key:hunter2']", "--spark-conf '...': expected"),
        ("[run]\ntables = 'mysql://root:hunter2@db/shop'", 'tables = "mysql://...@db/shop": '),
    ],
)
def test_an_error_of_the_file_shows_no_setting_of_spark_and_no_password(
    folder, command, text, said
):
    written(folder, text)
    code, out, err = command("run")
    assert (code, said in err) == (2, True), err
    assert "hunter2" not in out + err


def test_secrets_are_not_shown_with_the_settings(folder, command):
    written(
        folder,
        "[run]\nspark-conf = ['spark.x.secret.key=hunter2', 'spark.x.rows=2']\n"
        "remote = 'sc://host/;token=hunter2'\n",
    )
    code, out, _ = command("config", "show", "run", "--format", "json")
    assert (code, {row["key"]: row["value"] for row in json.loads(out)}) == (
        0,
        {
            "spark-conf": ["spark.x.secret.key=...", "spark.x.rows=2"],
            "remote": "sc://host/;token=...",
        },
    )


def test_paths_are_relative_to_the_file(folder, monkeypatch):
    text = "[run]\ndecoder = 'src/mine.py:decode'\nreport = 'out'\n[bench]\ndecoder = 'mine.py'\nsave = '/tmp/x.json'\n"
    written(
        folder,
        text
        + "[decode]\ndecoder = 'package.mine:decode'\n[replay]\ndecoder = 'cmd:node mine.py'\n",
    )
    (folder / "below").mkdir()
    assert (params("run")["decoder"], params("run")["report"]) == (
        "src/mine.py:decode",
        Path("out"),
    )
    monkeypatch.chdir(folder / "below")
    lines = (("run",), ("bench",), ("decode", TICDC, "."), ("replay", "--all"))
    decoders = [
        f"{folder}/src/mine.py:decode",
        f"{folder}/mine.py",
        "package.mine:decode",
        "cmd:node mine.py",
    ]
    assert [params(*words)["decoder"] for words in lines] == decoders
    assert (params("run")["report"], params("bench")["save"]) == (
        folder / "out",
        Path("/tmp/x.json"),
    )


def test_tables_are_files_relative_to_the_file_or_urls(folder):
    path = written(
        folder / "conf",
        "[run]\ntables = ['shop.sql', 'mysql://db/shop']\nvalues = 'v.toml'\ndialect = 'tidb'\n",
    )
    given = config.load(path, cli).defaults(SECTIONS)["run"]
    assert given == {
        "tables": ["conf/shop.sql", "mysql://db/shop"],
        "values_file": "conf/v.toml",
        "dialect": "tidb",
    }


def test_every_other_long_option_is_a_key():
    for section, legal in SECTIONS.items():
        if section == ("pytest",):
            assert set(legal) == set(PLUGIN)
            continue
        command = cli
        for name in section:
            command = command.commands[name]
        options = {
            opt[2:]
            for p in command.params
            if p.name not in ONCE
            for opt in p.opts
            if opt.startswith("--")
        }
        assert options <= set(legal), section
        assert set(legal) - options <= {"formats"}
        assert {key.parameter.name for key in legal.values()}.isdisjoint(ONCE)


# Bad files

_FILES = (
    Path(__file__).with_name("bad_configurations.txt").read_text("utf-8").strip().split("\n\n")[1:]
)
BAD = [tuple(file.split("\n=> ")) for file in _FILES]
SAID_TWICE = "writer_profile = 'b'"  # the one thing that a JSON Schema cannot say


@pytest.mark.parametrize(("text", "said"), BAD, ids=[text.replace("\n", " ") for text, _ in BAD])
def test_a_bad_file_is_told_with_section_key_value_and_what_is_legal(folder, command, text, said):
    written(folder, text + "\n")
    code, out, err = command("formats")
    assert (code, out) == (2, "")
    assert err.startswith("cdc-conformance: cdc-conformance.toml, ")
    assert said in err
    assert "toml, line " in err
    if SAID_TWICE not in text and "inf" not in text:
        data = json.loads(json.dumps(tomllib.loads(text), default=str))
        assert not jsonschema.Draft202012Validator(schema(cli)).is_valid(data)


def test_every_problem_of_a_file_is_told_at_once(folder, command):
    written(
        folder,
        "[tool.cdc-conformance]\nsed = 1\n[tool.cdc-conformance.run]\nbugdet = 'ci'\nseed = 'x'\n",
        "pyproject.toml",
    )
    code, _, err = command("formats")
    assert code == 2
    first, second, third = err.splitlines()
    assert first.startswith(
        "cdc-conformance: pyproject.toml, line 2, [tool.cdc-conformance], sed = 1: "
    )
    assert second.startswith('pyproject.toml, line 4, [tool.cdc-conformance.run], bugdet = "ci": ')
    assert (
        third
        == 'pyproject.toml, line 5, [tool.cdc-conformance.run], seed = "x": expected an integer, not a string'
    )


def test_help_is_given_with_a_bad_file(folder, command):
    written(folder, "sed = 1\n")
    code, out, err = command("run", "--help")
    assert code == 0
    assert "Example: cdc-conformance run" in out and "unknown key 'sed'" in err
    assert [
        command(*words)[0] for words in (("--help",), ("config", "schema"), ("config", "show"))
    ] == [0, 0, 2]


# The schema


def test_the_published_schema_is_what_the_commands_say(command):
    said = json.loads(command("config", "schema")[1])
    jsonschema.Draft202012Validator.check_schema(said)
    assert said == schema(cli) == json.loads(PUBLISHED.read_text("utf-8")), (
        f"run: cdc-conformance config schema > {PUBLISHED}"
    )


def test_every_key_of_the_schema_says_what_it_is():
    def keys(table):
        for name, entry in table["properties"].items():
            if entry.get("type") == "object" and "properties" in entry:
                yield from keys(entry)
            elif name != "$schema":
                yield name, entry

    entries = list(keys(schema(cli)))
    assert len(entries) > 80
    assert [name for name, entry in entries if not entry["description"]] == []


# What shows it


def test_the_settings_are_shown_with_where_each_is_from(folder, command):
    def shown(*words):
        code, out, err = command("config", "show", *words, "--format", "json")
        assert (code, err) == (0, "configuration: cdc-conformance.toml\n")
        return {
            (row["command"], row["key"]): (row["value"], row["from"]) for row in json.loads(out)
        }

    written(folder, "seed = 2\n[run]\nbudget = 'ci'\nreport = 'out'\n")
    rows = {
        ("run", "budget"): ("ci", "cdc-conformance.toml, [run]"),
        ("run", "seed"): (2, "cdc-conformance.toml, top level"),
        ("run", "report"): ("out", "cdc-conformance.toml, [run]"),
    }
    assert shown("run", "bench") == rows
    everything = shown("run", "--all")
    assert {key for _, key in everything} == set(SECTIONS["run",])
    assert (
        everything.items()
        >= {
            **rows,
            ("run", "level"): ("both", "default"),
            ("run", "strict"): (False, "default"),
        }.items()
    )
    assert "[run]" in command("config", "show", "run", "--format", "pretty")[1]


def test_nothing_is_shown_without_a_file_and_an_unknown_command_is_named(folder, command):
    shown = command("config", "show", "--format", "json")
    assert shown == (0, "[]\n", "configuration: none\n")
    written(folder, "seed = 2\n")
    assert command("--no-config", "config", "show", "--format", "json") == shown
    code, _, err = command("config", "show", "rum")
    assert code == 2
    assert "unknown command 'rum'. Did you mean 'run'?" in err


def test_the_pytest_plugin_has_defaults_of_its_own_section_and_of_the_top_level(folder):
    assert config.pytest_defaults(folder, cli) == {}
    written(
        folder,
        "seed = 2\nbudget = 'ci'\n[pytest]\nbudget = 'nightly'\nbroker = 'embedded'\nmaster = 'yarn'\n[run]\nseed=5",
    )
    assert config.pytest_defaults(folder, cli) == {
        "seed": 2,
        "budget": "nightly",
        "broker": "embedded",
        "master": "yarn",
    }
    written(folder, "[pytest]\nseed = 'x'\n")
    with pytest.raises(UsageError, match=r"\[pytest\], seed"):
        config.pytest_defaults(folder, cli)
