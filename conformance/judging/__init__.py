"""Compares a decoder's output with the expectation: reads rows, compares cells, assigns each
difference to a rule, judges.

Also applies selections and records of known failures. Imports `rules` and `cases`.
"""
