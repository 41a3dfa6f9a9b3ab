"""Makes failing cases small: fewer events, rows and columns, plainer values, the same rule convicted.

Imports `rules`, `judging` and `engines`.
"""
