"""AUTO CDC ordered by the commit's number, then by the place in the topic."""

from __future__ import annotations

from scoreboard.recipes.auto_cdc import start_in_order

start = start_in_order("struct(commit_ts, rank, offset)")
