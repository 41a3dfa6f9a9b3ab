"""AUTO CDC ordered by the commit's millisecond, which several changes of a row may share."""

from __future__ import annotations

from scoreboard.recipes.auto_cdc import start_in_order

start = start_in_order("es")
