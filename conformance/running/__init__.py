"""Jobs: run, laws, differential check, replay, fuzzing.

Imports `rules`, `cases`, `judging`, `engines` and `reducing`.
"""
