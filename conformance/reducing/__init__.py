"""Reduces failing cases: fewer events, rows and columns, simpler values, the same broken rule.

Imports `judging` and `engines`.
"""
