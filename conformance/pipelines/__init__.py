"""Pipelines: what a user runs from the topic to a table, judged by the typed rows of that table.

Imports `rules`, `cases`, `judging`, `engines`, `brokers` and `streams`.
"""
