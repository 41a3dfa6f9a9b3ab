"""Expectation against output: what a decoder returned, how cells compare, which rule owns a difference, and the verdict.

Also what a selection keeps and which failures are on record. Imports `rules` and `cases`.
"""
