"""A result in a notebook, whose ground may be white or dark: its page has no colours of its own."""

import re
from pathlib import Path

import pytest

from conformance.reports import notebook

LEAST_CONTRAST = 4


def luminance(color):
    """The relative luminance of WCAG 2 of a colour such as #ffffff."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_colours_can_be_read_on_a_light_and_on_a_dark_ground(full, ground):
    shown = notebook.html(notebook.NotebookResult.of_result(full, Path("out/report.html")))
    colors = re.findall(r"color: (#[0-9a-f]{6})", shown)
    assert colors
    assert [color for color in colors if contrast(color, ground) < LEAST_CONTRAST] == []


def test_links_have_the_colour_of_the_text(full):
    shown = notebook.html(notebook.NotebookResult.of_result(full, Path("out/report.html")))
    links = re.findall(r"<a [^>]*>", shown)
    assert links
    assert [link for link in links if 'style="color: inherit"' not in link] == []
