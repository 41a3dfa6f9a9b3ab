"""How far our writers agree with recorded messages: exactly this."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from generators.recorded import registry
from generators.recorded.agreement import difference, recording_agreements
from generators.recorded.episodes import Agreement, audit
from generators.wire_format import FORMATS, get

_, *_ROWS = (
    line.split()
    for line in Path(__file__).with_name("agreement.txt").read_text("utf-8").splitlines()
)
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
    agreed = list(recording_agreements(get(name)))
    counts = {
        f"{name} {summary.recording.name}": (
            summary.identical,
            summary.unexplained,
            summary.without_episode,
        )
        for summary in agreed
    }
    assert counts == {
        key: figures for key, figures in FIGURES.items() if key.partition(" ")[0] == name
    }
    for summary in agreed:
        assert "" not in dict(summary.owed_reasons)
        assert sum(summary.kinds.values()) + summary.without_episode == summary.recording.count
        assert sum(count for _, count in summary.without_episode_reasons) == summary.without_episode
        assert "" not in dict(summary.without_episode_reasons)
    if name == "alibaba-canal-json":
        assert {
            limit
            for summary in agreed
            for reason, _ in summary.reasons
            for limit in reason.split("; ")
        } == LIMITS


def test_a_differing_header_is_seen(monkeypatch):
    fmt = get("debezium-json")
    episode = next(
        e for e in registry.episodes(fmt.name) if e.recording.name == "pg35-notomb" and e.level == 2
    )
    assert {comparison.agreement for comparison in audit(fmt, episode)} == {Agreement.IDENTICAL}
    profile = fmt.profile(episode.recording.profile)
    monkeypatch.setattr(
        type(fmt), "profile", lambda _self, _name: replace(profile, context_headers=False)
    )
    assert {comparison.agreement for comparison in audit(fmt, episode)} == {Agreement.UNEXPLAINED}


def test_a_differing_byte_is_seen_and_shown(monkeypatch):
    fmt = get("alibaba-canal-json")
    episode = next(
        e for e in registry.episodes(fmt.name) if e.case_id.endswith("/main-1.1.8/h_live.t_nopk")
    )
    assert {comparison.agreement for comparison in audit(fmt, episode)} == {Agreement.IDENTICAL}
    monkeypatch.setattr(
        type(fmt),
        "profile",
        lambda self, _name: next(p for p in self.profiles if p.name == "1.1.6"),
    )
    compared = list(audit(fmt, episode))
    assert {comparison.agreement for comparison in compared} == {Agreement.UNEXPLAINED}
    assert difference(compared[0]).startswith("value, byte ")
    assert b'"gtid":"",' in compared[0].recorded.value and "recorded b'" in difference(compared[0])
