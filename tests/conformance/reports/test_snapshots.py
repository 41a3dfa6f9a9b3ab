"""The texts of every report of one run, beside this test as files: a change of words is one diff
to review.

`UPDATE_SNAPSHOTS=1 python -m pytest tests/conformance/reports/test_snapshots.py` writes the files
anew. They are plain files, without a library for snapshots: six texts of one run need no more.
"""

import os
import re
from pathlib import Path

import pytest
from shown import shown

from conformance.reports import console, junit, markdown, notebook, page, sarif

FOLDER = Path(__file__).with_name("snapshots")
UPDATES = bool(os.environ.get("UPDATE_SNAPSHOTS"))


def page_without_style(run):
    """The page as a reader sees it: without what is the same in every page."""
    return re.sub(r"(?s)<(style|script)\b[^>]*>.*?</\1>", r"<\1></\1>", page.page_of_run(run))


REPORTS = {
    "console.txt": lambda run: shown(console.render(run)),
    "console-details.txt": lambda run: shown(console.render(run, details=True)),
    "run.md": markdown.render,
    "run.html": page_without_style,
    "notebook.html": lambda run: notebook.html(notebook.NotebookResult.of_result(run, None)),
    "junit.xml": junit.render,
    "run.sarif": lambda run: sarif.sarif_bytes(run).decode(),
}


@pytest.mark.parametrize("name", REPORTS)
def test_the_text_of_a_report_is_as_reviewed(name, full):
    text = REPORTS[name](full).rstrip() + "\n"
    file = FOLDER / name
    if UPDATES:
        FOLDER.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    assert text == file.read_bytes().decode()


@pytest.mark.skipif(UPDATES, reason="the files are being written")
def test_every_file_is_the_text_of_a_report():
    assert sorted(file.name for file in FOLDER.iterdir()) == sorted(REPORTS)
