"""Draws cases with Hypothesis: the public strategies, and the histories behind them.

Imports `sources`.
"""
