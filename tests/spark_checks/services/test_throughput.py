import pytest

from spark_checks.services import throughput


def test_a_ratio_is_of_speeds_round_by_round():
    assert throughput.ratio([2.0, 2.0, 3.0], [1.0, 2.0, 6.0]) == {
        "median": 1.0,
        "min": 0.5,
        "max": 2.0,
    }
    with pytest.raises(ValueError, match="argument 2 is"):
        throughput.ratio([1.0], [1.0, 2.0])


class Counted:
    """A contestant that builds a new frame each time and records who was run."""

    def __init__(self, name, seconds):
        self.name, self.seconds, self.built = name, seconds, 0

    def frame(self, _records):
        self.built += 1
        return self


def test_rounds_alternate_and_warm_up_is_not_counted(monkeypatch):
    ran = []
    monkeypatch.setattr(throughput, "execute", lambda plan: ran.append(plan.name) or plan.seconds)
    slow, fast = Counted("slow", 2.0), Counted("fast", 1.0)
    seconds = throughput.time_rounds([slow, fast], None, rounds=3, warm_up=2)
    assert (seconds, ran) == (
        {"slow": [2.0] * 3, "fast": [1.0] * 3},
        ["slow", "fast", "fast", "slow"] * 2 + ["slow", "fast"],
    )
    assert (slow.built, fast.built) == (5, 5)


def test_four_rounds_of_warm_up_are_the_least():
    assert throughput.WARM_UP >= 4
