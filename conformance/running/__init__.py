"""Jobs: run, laws, differential check, replay, fuzzing.

Imports `brokers` (for the version of Java), `rules`, `cases`, `judging`, `inspecting`, `engines`
and `reducing`.
"""
