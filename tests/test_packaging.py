import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("generators", "conformance", "spark_checks", "recorders")
MODULES = {"_cdc_conformance_daemon.py", "_cdc_conformance_pytest.py"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
# Addresses that belong to a user's configuration, and paths that exist on one machine only.
FOREIGN = re.compile(
    r"""pypi\.org|pythonhosted\.org|repo1?\.maven\.|maven\.apache\.org|repository\.apache\.org|spark-packages\.org
    |deb\.debian\.org|registry-1\.docker|j[f]rog|artifac[t]ory|/opt/w[h]eels
    |(?<![\w./$}-])/(?:root|work|Users)/\w|(?<![\w./$}-])/home/(?!appuser\b)\w""",
    re.VERBOSE,
)


def project_files() -> list[Path]:
    """The files of the checkout: tracked, or new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file()]


def pins(lock: Path) -> dict[str, tuple[Requirement, list[str]]]:
    """The pinned requirements of a lock file and their hashes, by name and marker."""
    text, pinned = re.sub(r"\\\n", " ", lock.read_text(encoding="utf-8")), {}
    for line in re.sub("#.*", "", text).split("\n"):
        if line.strip():
            requirement, *hashes = re.split(r"\s+--hash=", line.strip())
            pinned[requirement] = (Requirement(requirement), hashes)
    return pinned


def locked(lock: Path, name: str) -> list[Requirement]:
    return [
        pin
        for pin, _ in pins(lock).values()
        if canonicalize_name(pin.name) == canonicalize_name(name)
    ]


def test_no_file_names_a_registry_or_a_path_of_one_machine():
    paths = project_files()
    assert ROOT / "pyproject.toml" in paths
    hits = []
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), 1):
            if hit := FOREIGN.search(line):
                hits.append(f"{path.relative_to(ROOT)}:{number}: {hit[0]}")
    assert hits == []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://py" + "pi.org/simple",
        "cd /ro" + "ot/x",
        'p = "/wo' + 'rk/main"',
        "/ho" + "me/me/.venv",
    ],
)
def test_a_foreign_address_is_seen(line):
    assert FOREIGN.search(line)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_requirement_is_pinned_with_hashes(lock):
    pinned = pins(lock)
    assert pinned
    for line, (pin, hashes) in pinned.items():
        assert not line.startswith("-") and "://" not in line, line
        assert re.fullmatch(r"==[\w.!+]+", str(pin.specifier)), line
        assert hashes, f"{line} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), line


def test_the_locks_hold_every_declared_dependency_and_agree():
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    extras = project["optional-dependencies"]
    wanted = {
        "run.txt": [*project["dependencies"], *extras["container"]],
        "test.txt": [
            *project["dependencies"],
            *(line for lines in extras.values() for line in lines),
            *groups["tests"],
        ],
        "tools.txt": groups["tools"],
        "docs.txt": groups["docs"],
        "build.txt": groups["build"],
    }
    assert [lock.name for lock in LOCKS] == sorted(wanted)
    for name, lines in wanted.items():
        for requirement in map(Requirement, lines):
            pinned = locked(ROOT / "requirements" / name, requirement.name)
            assert pinned, f"{name} lacks {requirement}: tox run -e lock"
            for pin in pinned:
                assert all(
                    requirement.specifier.contains(spec.version) for spec in pin.specifier
                ), f"{pin} against {requirement}"
    versions: dict[tuple[str, str], set[str]] = {}
    for lock in LOCKS:
        for pin, _ in pins(lock).values():
            versions.setdefault((canonicalize_name(pin.name), str(pin.marker)), set()).add(
                str(pin.specifier)
            )
    assert {key: specifiers for key, specifiers in versions.items() if len(specifiers) > 1} == {}


def test_spark_is_locked_to_the_version_whose_kafka_jars_resolve():
    assert [
        str(pin.specifier) for pin in locked(ROOT / "requirements" / "test.txt", "pyspark")
    ] == ["==4.0.0"]


def output(words, seconds, cwd, env=None):
    """What a command says, which must end well."""
    done = subprocess.run(
        words,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind, source, out):
    output([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)], 120, source)
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel that the sdist makes."""
    folder = tmp_path_factory.mktemp("release")
    with tarfile.open(build("sdist", ROOT, folder / "sdist")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _path: member)
        archive.extractall(folder)
    return build(
        "wheel", folder / f"cdc_conformance-{PROJECT['project']['version']}", folder / "wheel"
    )


@pytest.mark.slow
def test_the_wheel_with_what_it_asks_for_is_a_whole_environment(wheel, tmp_path):
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV", "UV_CONSTRAINT")
    }
    home = tmp_path / "env"
    # What uv's cache holds is neither downloaded nor built again: it was built with the project's
    # settings.
    install = [
        "pip",
        "install",
        "--project",
        str(ROOT),
        "--python",
        str(home),
        str(wheel),
        "-c",
        str(ROOT / "requirements" / "run.txt"),
    ]
    for tries in ([["venv", str(home)]], [[*install, "--offline"], install]):
        for words in tries:
            done = subprocess.run(
                [uv, "-q", *words],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                timeout=500,
                check=False,
            )
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
    checks = output(
        [home / "bin" / "cdc-conformance", "doctor", "--format", "json"], 200, tmp_path, env
    )
    packages = next(
        line for line in map(json.loads, checks.splitlines()) if line["name"] == "our packages"
    )
    assert packages["found"].endswith(f" in {next(home.glob('lib/python*/site-packages'))}")


def test_a_wheel_and_its_checkout_keep_the_same_cases(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    # Files that are just written are not trusted.
    code = "from conformance.cases import kept; kept._STARTED = float('inf'); print(kept.__file__, kept._generation())"
    kept = []
    for place in (tmp_path, ROOT):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(place)},
            capture_output=True,
            check=True,
        )
        path, generation = ran.stdout.decode().split()
        assert Path(path).is_relative_to(place)
        kept.append(generation)
    assert kept[0] == kept[1] != "None"


def test_the_wheel_holds_the_packages_whole_and_the_private_modules(wheel):
    assert wheel.match("cdc_conformance-*-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (info,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        entries = configparser.ConfigParser()
        entries.optionxform = str
        entries.read_string(archive.read(f"{info}/entry_points.txt").decode())
    assert {name.split("/")[0] for name in names} == {*PACKAGES, *MODULES, info}
    wanted = {path.relative_to(ROOT).as_posix() for path in project_files()}
    recorded = {
        name.replace("fixtures/recorded/", "generators/recorded/data/")
        for name in wanted
        if "fixtures/recorded/" in name
    }
    assert len(recorded) > 70
    wanted = {name for name in wanted if name.split("/")[0] in PACKAGES} | MODULES | recorded
    assert {name for name in names if not name.startswith(info)} == wanted
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert f"{info}/licenses/LICENSE" in names
    assert dict(entries["console_scripts"]) == {"cdc-conformance": "_cdc_conformance_pytest:main"}
    assert dict(entries["pytest11"]) == {"cdc-conformance": "_cdc_conformance_pytest"}
