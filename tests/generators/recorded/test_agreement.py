"""How far our writers agree with recorded messages: never less than this."""

from __future__ import annotations

import pytest

from generators.recorded import registry
from generators.recorded.agreement import agreement, difference
from generators.recorded.base import Agreement, audit
from generators.wire_format import get

CANAL = {
    "gbk-1.1.8": (99, 4, 0, 0),
    "m102-1.1.4": (424, 6, 0, 6),
    "m102-1.1.5": (424, 6, 0, 6),
    "m102-1.1.6": (426, 6, 0, 6),
    "m102-field-1.1.4": (10, 0, 0, 0),
    "m102-minimal-1.1.4": (57, 4, 0, 0),
    "m102-minimal-1.1.7": (57, 4, 0, 0),
    "m102-noblob-1.1.4": (58, 3, 0, 0),
    "m102-stmt-1.1.4": (24, 0, 0, 1),
    "main-1.1.8": (437, 0, 0, 6),
    "minimal-1.1.8": (61, 0, 0, 0),
    "stmt-1.1.8": (27, 0, 0, 1),
    "tz-shanghai-1.1.7": (43, 0, 0, 0),
}
"""Identical, explained, unexplained messages, and those apart: a table with geometry, the seeds of RAND()."""


@pytest.mark.parametrize(("name", "figures"), [("alibaba-canal-json", CANAL)])
def test_the_writers_agree_with_the_recordings_no_less_than_before(name, figures):
    found = {one.recording.name: (one.identical, one.explained, one.unexplained, one.apart) for one in agreement(get(name))}
    assert found.keys() == figures.keys()
    worse = {
        recording: (figures[recording], counts)
        for recording, counts in found.items()
        if counts[0] < figures[recording][0]
        or any(now > before for now, before in zip(counts[1:], figures[recording][1:], strict=True))
    }
    assert worse == {}


def test_every_explained_message_names_its_limit():
    reasons = [reason for one in agreement(get("alibaba-canal-json")) for reason, _ in one.reasons]
    assert {limit for reason in reasons for limit in reason.split("; ")} == {
        "MariaDB 10.2 logs NULL in virtual columns",
        "MariaDB 10.2 logs columns that the statement reads in the before image, though they are not in the key",
        "bytes that are no GBK become one U+FFFD or two",
    }


def test_a_differing_byte_is_seen_and_shown(monkeypatch):
    fmt = get("alibaba-canal-json")
    episode = next(one for one in registry.episodes(fmt.name) if one.case_id.endswith("/main-1.1.8/h_live.t_nopk"))
    assert {one.agreement for one in audit(fmt, episode)} == {Agreement.IDENTICAL}
    monkeypatch.setattr(type(fmt), "profile", lambda self, _name: next(p for p in self.profiles if p.name == "1.1.6"))
    compared = list(audit(fmt, episode))
    assert {one.agreement for one in compared} == {Agreement.UNEXPLAINED}
    assert difference(compared[0]).startswith("value, byte ")
    assert b'"gtid":"",' in compared[0].recorded.value and "recorded b'" in difference(compared[0])
