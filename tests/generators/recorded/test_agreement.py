"""How far our writers agree with recorded messages: exactly this."""

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


LIMITS = {
    "MariaDB 10.2 logs NULL in virtual columns",
    "MariaDB 10.2 logs columns that the statement reads in the before image, though they are not in the key",
    "bytes that are no GBK become one U+FFFD or two",
}
"""Of what is explained in Canal's recordings."""


@pytest.mark.parametrize("name", FORMATS)
def test_the_writers_agree_with_the_recordings_and_what_differs_or_is_apart_has_a_reason(name):
    agreed = list(agreement(get(name)))
    found = {f"{name} {one.recording.name}": (one.identical, one.unexplained, one.apart) for one in agreed}
    assert found == {key: figures for key, figures in FIGURES.items() if key.partition(" ")[0] == name}
    for one in agreed:
        assert "" not in dict(one.owed_reasons)
        assert sum(one.kinds.values()) + one.apart == one.recording.count
        assert sum(count for _, count in one.apart_reasons) == one.apart
        assert "" not in dict(one.apart_reasons)
    if name == "alibaba-canal-json":
        assert {limit for one in agreed for reason, _ in one.reasons for limit in reason.split("; ")} == LIMITS


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
