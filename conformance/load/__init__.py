"""How fast a decoder is, and whether it keeps up with a live topic: benchmarks against a baseline, sustained load.

Imports `rules`, `judging` and `engines`.
"""
