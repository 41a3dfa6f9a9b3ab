"""AUTO CDC ordered by the commit's millisecond, which several changes of a row may share."""

from __future__ import annotations

from scoreboard.recipes.auto_cdc import start_by

start = start_by("es")
