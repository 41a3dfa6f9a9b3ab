"""The self test: liars must be convicted, altered outputs answered, lying writers seen, and no right decoder accused.

Imports `rules`, `cases`, `judging`, `engines`, `running` and `streams`.
"""
