"""AUTO CDC ordered by the commit's number, then by the place in the topic."""

from __future__ import annotations

from scoreboard.recipes.auto_cdc import start_by

start = start_by("struct(commit_ts, rank, offset)")
