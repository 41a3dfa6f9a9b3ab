"""Measures decoders: batch benchmarks against a baseline, and sustained load on a live topic.

Imports `brokers`, `rules`, `cases`, `judging`, `engines` and `running`.
"""
