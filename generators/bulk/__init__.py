"""Messages in bulk: seeded, no Hypothesis, at least 100,000 distinct messages a second in one
process.

Imports `sources`, `garbage` and `drawing`.
"""
