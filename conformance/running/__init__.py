"""The main job and its relatives: run, laws, differential check, replay, fuzzing, self test.

Imports `rules`, `cases`, `judging`, `engines`, `reducing` and `streams`.
"""
