import os
import subprocess
import sys
from pathlib import Path

import pytest

import _cdc_conformance_pytest
from conformance import shadow

HOME = Path(_cdc_conformance_pytest.__file__).resolve().parent


def python(cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter in the folder, whose working directory comes first on sys.path, ours
    after it.
    """
    env = {**os.environ, "PYTHONPATH": str(HOME), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, *argv],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def package(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("", encoding="utf-8")
    return (folder / name).resolve()


@pytest.mark.parametrize("name", shadow.PACKAGES)
def test_the_command_names_the_folder_that_hides_a_package(tmp_path, name):
    folder = package(tmp_path, name)
    done = python(tmp_path, "-c", "import _cdc_conformance_pytest as m; m.main()", "--help")
    assert done.returncode == 2
    assert f"{folder} hides the package '{name}'" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


CHECK = "from conformance.shadow import check_shadowing; check_shadowing(); import generators.model"


def test_a_module_file_hides_a_package_too_and_a_folder_without_code_hides_nothing(tmp_path):
    (tmp_path / "generators").mkdir()
    done = python(tmp_path, "-c", CHECK)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "generators.py").write_text("", encoding="utf-8")
    message = f"Shadowed: {tmp_path.resolve() / 'generators.py'} hides the package 'generators'"
    assert message in python(tmp_path, "-c", CHECK).stderr


def test_a_package_that_is_already_imported_counts(tmp_path):
    folder = package(tmp_path, "generators")
    code = "import generators, sys; sys.path.pop(0); from conformance.shadow import shadows; print(shadows()['generators'])"
    assert python(tmp_path, "-c", code).stdout.strip() == str(folder)


def pytest_in(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_mine.py").write_text(text, encoding="utf-8")
    return python(
        folder, "-m", "pytest", "-p", "_cdc_conformance_pytest", "-p", "no:cacheprovider", *options
    )


def test_pytest_names_the_folder_when_our_import_fails(tmp_path):
    folder = package(tmp_path, "conformance")
    done = pytest_in(tmp_path, "from conformance.pytest_plugin import DecoderSuite\n")
    assert done.returncode == 2
    assert f"{folder} hides the package 'conformance'" in done.stdout


def test_a_project_that_does_not_use_the_suite_is_left_alone(tmp_path):
    package(tmp_path, "generators")
    done = pytest_in(
        tmp_path,
        "import generators\n\n\ndef test_mine():\n    assert generators\n",
        "--strict-markers",
        "-Werror",
    )
    assert done.returncode == 0, done.stdout
    assert "cdc-conformance" not in done.stdout
