"""The picture of the rooms: made of the real imports, without a circle, every arrow downwards."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from conformance.pages.rooms import Room, direct, levels, picture, rooms_page

ROOT = Path(__file__).resolve().parents[3]


def room(name, *imports):
    return Room(name, f"About <{name}>.", frozenset(imports))


SMALL = {
    r.name: r
    for r in (
        room("generators.a"),
        room("generators.b", "generators.a"),
        room("conformance.c", "generators.a", "generators.b"),
    )
}


def test_a_circle_is_no_picture():
    with pytest.raises(RecursionError):
        levels(
            {
                "generators.a": room("generators.a", "generators.b"),
                "generators.b": room("generators.b", "generators.a"),
            }
        )


def test_an_arrow_that_others_imply_is_left_out():
    assert direct(SMALL) == {("generators.b", "generators.a"), ("conformance.c", "generators.b")}
    assert levels(SMALL) == {"generators.a": 0, "generators.b": 1, "conformance.c": 2}


def test_the_picture_has_a_box_for_each_room_and_escapes_its_words():
    root = ET.fromstring(picture(SMALL))
    names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [name for name in names if name not in ("generators", "conformance")] == ["c", "a", "b"]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 2
    assert "About <generators.a>." in [
        element.text for element in root.iter("{http://www.w3.org/2000/svg}title")
    ]


def test_the_table_counts_rooms_and_arrows():
    text = rooms_page(SMALL, "note")
    assert text.endswith("3 rooms, 3 arrows, no circle.\n")
    assert "\n|`generators.a`|About <generators.a>.|\n" in text
