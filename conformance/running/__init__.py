"""Jobs: run, laws, differential check, replay, fuzzing.

Imports `rules`, `cases`, `judging`, `inspecting`, `engines` and `reducing`.
"""
