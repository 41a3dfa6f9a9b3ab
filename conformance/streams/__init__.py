"""Tables kept from a stream of changes: how they are read under disturbances, and what they must come to.

Imports `rules`, `cases`, `judging`, `engines` and `brokers`.
"""
