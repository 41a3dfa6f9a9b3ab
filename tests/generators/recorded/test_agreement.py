"""How far our writers agree with recorded messages: never less than this."""

from __future__ import annotations

from dataclasses import replace

import pytest

from generators.recorded import registry
from generators.recorded.agreement import agreement, difference
from generators.recorded.episodes import Agreement, audit
from generators.wire_format import FORMATS, get

FIGURES = {
    f"{name} {recording}": tuple(figures)
    for name, rows in {
        "ticdc-canal-json": (
            *(("canal-json-ext", 276, 0, 0), ("canal-json-ext-content-compatible", 276, 0, 0)),
            *(("canal-json-ext-delete-handle-only", 86, 0, 0), ("canal-json-ext-large-claim-check", 86, 0, 0)),
            *(("canal-json-ext-large-handle-key-only", 86, 0, 0), ("canal-json-ext-lz4", 93, 0, 0)),
            *(("canal-json-ext-only-updated", 93, 0, 0), ("canal-json-ext-snappy", 93, 0, 0), ("canal-json-noext", 273, 0, 0)),
            ("v855-canal-json-content-compatible", 127, 0, 0),
            ("v855-canal-json-ext", 130, 0, 0),
            ("v855-canal-json-ext-content-compatible", 128, 0, 0),
            ("v855-canal-json-ext-delete-handle-only", 124, 0, 0),
            ("v855-canal-json-ext-large-claim-check", 124, 0, 0),
            ("v855-canal-json-ext-large-handle-key-only", 124, 0, 0),
            ("v855-canal-json-ext-only-updated", 128, 0, 0),
            ("v855-canal-json-ext-snappy", 130, 0, 0),
            ("v855-canal-json-noext", 129, 0, 0),
            ("v855-canal-json-only-updated", 127, 0, 0),
        ),
        "alibaba-canal-json": (
            *(("gbk-1.1.8", 99, 0, 0), ("m102-1.1.4", 424, 0, 6), ("m102-1.1.5", 424, 0, 6), ("m102-1.1.6", 426, 0, 6)),
            *(("m102-field-1.1.4", 10, 0, 0), ("m102-minimal-1.1.4", 57, 0, 0), ("m102-minimal-1.1.7", 57, 0, 0)),
            *(("m102-noblob-1.1.4", 58, 0, 0), ("m102-stmt-1.1.4", 24, 0, 1), ("main-1.1.8", 437, 0, 6)),
            *(("minimal-1.1.8", 61, 0, 0), ("stmt-1.1.8", 27, 0, 1), ("tz-shanghai-1.1.7", 43, 0, 0)),
        ),
        "ticdc-simple-json": (
            *(("simple-json-checksum", 122, 0, 0), ("simple-json-large-claim-check", 120, 0, 0)),
            *(("simple-json-large-handle-key-only", 120, 0, 0), ("simple-json-main", 310, 0, 0)),
            *(("simple-json-snappy", 127, 0, 0),),
            ("v855-simple-json-checksum", 132, 3, 0),
            ("v855-simple-json-large-claim-check", 136, 0, 0),
            ("v855-simple-json-large-handle-key-only", 136, 0, 0),
            ("v855-simple-json-main", 142, 0, 0),
        ),
        "ticdc-simple-avro": (
            *(("simple-avro-checksum", 122, 0, 0), ("simple-avro-large-claim-check", 120, 0, 0)),
            *(("simple-avro-large-handle-key-only", 120, 0, 0), ("simple-avro-lz4", 127, 0, 0), ("simple-avro-main", 310, 0, 0)),
            ("v855-simple-avro-checksum", 132, 3, 0),
            ("v855-simple-avro-large-claim-check", 136, 0, 0),
            ("v855-simple-avro-large-handle-key-only", 136, 0, 0),
            ("v855-simple-avro-main", 142, 0, 0),
        ),
        "debezium-json": (
            *(("mdb35-bin-base64", 20, 0, 0), ("mdb35-bin-base64-noschema", 20, 0, 0), ("mdb35-bin-base64-url-safe", 20, 0, 0)),
            *(("mdb35-bin-base64-url-safe-noschema", 20, 0, 0), ("mdb35-decstring-bigprecise", 44, 0, 0)),
            *(("mdb35-decstring-bigprecise-noschema", 44, 0, 0), ("mdb35-default", 251, 11, 4)),
            *(("mdb35-default-noschema", 256, 6, 4), ("mdb35-flat-default-noschema", 19, 0, 0), ("mdb35-flat-rewrite", 51, 0, 0)),
            *(("mdb35-flat-rewrite-noschema", 51, 0, 0), ("mdb35-notomb", 30, 0, 0)),
            *(("mdb35-numeric-replacenullfalse", 44, 0, 0), ("mdb35-snapshot", 148, 0, 3), ("mdb35-srctype", 71, 11, 2)),
            *(("mdb35-time-connect", 33, 0, 2), ("mdb35-time-connect-noschema", 33, 0, 2), ("mdb35-time-microseconds", 33, 0, 2)),
            *(("mdb35-time-nanoseconds", 33, 0, 2), ("my14-default", 188, 1, 34), ("pg14-decstring", 24, 0, 0)),
            *(("pg14-default", 246, 0, 0), ("pg14-default-noschema", 246, 0, 0), ("pg35-bin-base64", 46, 0, 0)),
            *(("pg35-bin-base64-url-safe", 46, 0, 0), ("pg35-decstring", 88, 0, 0), ("pg35-default", 284, 0, 0)),
            *(("pg35-default-noschema", 284, 0, 0), ("pg35-flat-default-noschema", 27, 0, 0), ("pg35-flat-rewrite", 41, 0, 0)),
            *(("pg35-flat-rewrite-noschema", 41, 0, 0), ("pg35-notomb", 30, 0, 0), ("pg35-snapshot", 92, 0, 4)),
            *(("pg35-time-adaptive_time_microseconds", 53, 0, 0), ("pg35-time-connect", 53, 0, 0)),
            *(("pg35-time-nanoseconds", 53, 0, 0), ("pg35-txmeta", 71, 1, 0), ("pg35-unknown", 31, 0, 8)),
        ),
        "debezium-avro": (("mdb35-avro", 257, 0, 4), ("pg35-avro", 283, 0, 0)),
    }.items()
    for recording, *figures in rows
}
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
