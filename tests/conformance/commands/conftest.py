"""What the tests of commands share: the command line performed in this process, and a folder
without a configuration.
"""

import signal
import sys

import pytest

from conformance.commands.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """A function that runs a command in this process: its exit code and what it prints, no
    traceback but of our own bug.
    """

    def run(*argv):
        monkeypatch.setattr(sys, "argv", ["cdc-conformance", *map(str, argv)])
        before, code = signal.getsignal(signal.SIGTERM), 0
        try:
            main()
        except SystemExit as error:
            code = error.code or 0
        finally:
            signal.signal(signal.SIGTERM, before)
        out, err = capsys.readouterr()
        assert "Traceback" not in err or "bug of the harness" in err
        return code, out, err

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, below nothing that has a configuration."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
