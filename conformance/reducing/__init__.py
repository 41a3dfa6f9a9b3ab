"""Reduces failing cases: fewer events, rows and columns, simpler values, the same broken rule.

Imports `rules`, `judging` and `engines`.
"""
