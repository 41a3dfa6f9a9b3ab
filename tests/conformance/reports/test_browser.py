"""The run page in a real browser: it fits 1280 and 390 pixels, follows light and dark, and its
search works under its policy.
"""

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.reports import page

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs chromium, such as Debian's package")
WIDTHS = (1280, 390)
SCHEMES = {"dark": 0, "light": 1}
"""Blink's numbers."""
PAPER = {"dark": "rgb(14, 18, 23)", "light": "rgb(255, 255, 255)"}
FRAMES = Path(__file__).with_name("frames.html").read_text("utf-8")
"""A window is at least 500 pixels wide, a frame is not. The frame's page keeps its own policy."""


@pytest.fixture
def look(tmp_path):
    """A function that opens a page in frames of the widths, in a colour scheme, and gives what each
    frame says.
    """

    def looked(text, scheme):
        frames = "".join(
            f'<iframe width="{w}" height="900" srcdoc="{html.escape(text)}"></iframe>'
            for w in WIDTHS
        )
        (tmp_path / "frames.html").write_text(FRAMES.replace("FRAMES_STAND_HERE", frames), "utf-8")
        argv = [
            BROWSER,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'profile'}",
        ]
        argv += [
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            "--window-size=1500,1000",
            "--dump-dom",
        ]
        done = subprocess.run(
            [*argv, (tmp_path / "frames.html").as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        answer = re.search(r'data-told="([^"]*)"', done.stdout)
        assert answer, done.stderr
        return json.loads(html.unescape(answer[1]))

    return looked


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_page_fits_its_frame_in_both_schemes_and_its_search_finds(full, look, scheme):
    first = full.failures[0]
    long = replace(first, finding=replace(first.finding, expected="e" * 500, actual="a " * 300))
    for frame, width in zip(
        look(page.page_of_run(replace(full, failures=(long, *full.failures[1:]))), scheme),
        WIDTHS,
        strict=True,
    ):
        assert (frame["width"], frame["wide"], frame["paper"]) == (width, [], PAPER[scheme])
        assert frame["needs"] <= width
        assert frame["cut"] == 0
        # An article, and a line in the index, in the matrix and among the rules.
        assert (frame["search"], frame["all"], frame["found"], frame["opened"]) == (True, 12, 4, 1)
