"""Standings before and now: every change has its reason, and the page shows all of them."""

import pytest

from generators.errors import UsageError
from scoreboard import page
from scoreboard.readers import READERS
from scoreboard.record import FAULTS
from scoreboard.standings import STANDINGS, read_standings


def test_a_change_has_a_reason_and_nothing_else_has():
    for change in read_standings().changes:
        assert bool(change.reason) == (change.before != change.after), change


def test_a_reason_names_a_failure_and_each_product_is_there(tmp_path):
    text = STANDINGS.read_text("utf-8")
    standings = read_standings()
    more = tmp_path / "standings.toml"
    more.write_text(text.replace("[reason.doris]", '[reason.doris]\nnobody = "x"'), "utf-8")
    with pytest.raises(UsageError, match="reason of doris/nobody, which is no failure on record"):
        read_standings(more)
    products = {reader.record for reader in READERS if not reader.record.startswith("spark")}
    on_record = {name for name in products if (FAULTS / f"{name}.toml").exists()}
    listed = {change.record for change in standings.changes}
    assert listed | set(standings.added) == on_record
    assert not listed & set(standings.added)


def test_the_page_counts_and_lists_every_failure():
    text = page.pages()["scoreboard/standings.md"]
    changes = read_standings().changes
    assert text.count("\n| ") == len(changes) + 3 + 3  # three counts, and three headings
    assert "| fault | 65 |" in text
    assert (
        "| paimon | DECIMAL is rounded to 18 digits, or NULL above 20 digits in front of the point"
        " | fault | limit | The documents of that release say that DECIMAL(38, 18) is taken where"
        " the precision is missing. |"
    ) in text


def test_a_standing_that_is_none_is_told(tmp_path):
    file = tmp_path / "standings.toml"
    file.write_text(
        'day = "d"\ncommit = "c"\nadded = []\n[reason]\n[before.doris]\ndoris-no-before = "limits"\n',
        "utf-8",
    )
    with pytest.raises(UsageError, match="doris: unknown standing"):
        read_standings(file)
