"""How far our writers agree with recorded messages: never less than this."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generators.recorded import registry
from generators.recorded.agreement import agreement, difference
from generators.recorded.episodes import Agreement, audit
from generators.wire_format import FORMATS, get

_, *_ROWS = (line.split() for line in Path(__file__).with_name("agreement.txt").read_text("utf-8").splitlines())
FIGURES = {f"{name} {recording}": tuple(map(int, figures)) for name, recording, *figures in _ROWS}
"""By format and recording: identical and unexplained messages, and those in no episode."""


@pytest.mark.parametrize("name", FORMATS)
def test_the_writers_agree_with_the_recordings_no_less_than_before(name):
    found = {f"{name} {one.recording.name}": (one.identical, one.unexplained, one.apart) for one in agreement(get(name))}
    assert found.keys() == {key for key in FIGURES if key.partition(" ")[0] == name}
    worse = {
        key: (FIGURES[key], now)
        for key, now in found.items()
        if now[0] < FIGURES[key][0] or now[1] > FIGURES[key][1] or now[2] > FIGURES[key][2]
    }
    assert worse == {}


def test_every_explained_message_names_its_limit():
    reasons = [reason for one in agreement(get("alibaba-canal-json")) for reason, _ in one.reasons]
    assert {limit for reason in reasons for limit in reason.split("; ")} == {
        "MariaDB 10.2 logs NULL in virtual columns",
        "MariaDB 10.2 logs columns that the statement reads in the before image, though they are not in the key",
        "bytes that are no GBK become one U+FFFD or two",
    }


def test_a_differing_header_is_seen(monkeypatch):
    fmt = get("debezium-json")
    episode = next(one for one in registry.episodes(fmt.name) if one.recording.name == "pg35-notomb" and one.level == 2)
    assert {one.agreement for one in audit(fmt, episode)} == {Agreement.IDENTICAL}
    profile = fmt.profile(episode.recording.profile)
    monkeypatch.setattr(type(fmt), "profile", lambda _self, _name: replace(profile, context_headers=False))
    assert {one.agreement for one in audit(fmt, episode)} == {Agreement.UNEXPLAINED}


def test_a_differing_byte_is_seen_and_shown(monkeypatch):
    fmt = get("alibaba-canal-json")
    episode = next(one for one in registry.episodes(fmt.name) if one.case_id.endswith("/main-1.1.8/h_live.t_nopk"))
    assert {one.agreement for one in audit(fmt, episode)} == {Agreement.IDENTICAL}
    monkeypatch.setattr(type(fmt), "profile", lambda self, _name: next(p for p in self.profiles if p.name == "1.1.6"))
    compared = list(audit(fmt, episode))
    assert {one.agreement for one in compared} == {Agreement.UNEXPLAINED}
    assert difference(compared[0]).startswith("value, byte ")
    assert b'"gtid":"",' in compared[0].recorded.value and "recorded b'" in difference(compared[0])


@pytest.mark.parametrize("name", FORMATS)
def test_every_message_apart_has_a_reason_and_every_difference(name):
    for one in agreement(get(name)):
        assert "" not in dict(one.owed_reasons)
        assert sum(one.kinds.values()) + one.apart == one.recording.count
        assert sum(count for _, count in one.apart_reasons) == one.apart
        assert "" not in dict(one.apart_reasons)
