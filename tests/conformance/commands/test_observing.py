"""Under which profile `run --messages` decodes."""

import pytest

from conformance.commands.observing import written_by
from conformance.inspecting.opening import ReadRecord
from generators.errors import UsageError
from generators.recorded import store
from generators.wire_format import get

FMT = get("ticdc-canal-json")


def records(name):
    (recording,) = (one for one in store.recordings("ticdc") if one.name == name)
    return [ReadRecord(m.value, m.key, m.topic, m.partition, n, f"{n}") for n, m in enumerate(store.messages(recording))]


def test_inspect_names_the_release_and_options_of_the_messages():
    profile, told = written_by(FMT, ("*",), records("v855-canal-json-ext-content-compatible"))
    assert profile.name.startswith(("new-8.5", "v8.5")) and {"extension", "content-compatible"} <= set(profile.options)
    assert told.startswith(f"decoded as {profile.name} writes them") and "v5.3.4" not in told


def test_the_users_profile_is_taken_as_it_is():
    profile, told = written_by(FMT, ("v7.1.6+extension",), records("v855-canal-json-ext"))
    assert (profile.name, told) == ("v7.1.6+extension", "")


def test_messages_that_inspect_does_not_know_need_a_profile():
    with pytest.raises(
        UsageError, match="inspect finds no message of ticdc-canal-json here: name its writer with --writer-profile"
    ):
        written_by(FMT, "*", [ReadRecord(b'{"a":1}')])
