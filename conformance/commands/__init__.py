"""The command line: one module a subject, each naming the click commands that it adds.

The topmost room: nothing imports it but the pytest plugin. Imports `rules`, `cases`, `judging`, `engines`, `brokers`, `running`,
`selftest`, `streams`, `load` and `reports`.
"""
