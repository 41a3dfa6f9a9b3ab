"""Tables kept from a stream of changes: reads them under nemeses, and compares them with the
source's.

Imports `rules`, `cases`, `judging`, `engines` and `brokers`.
"""
