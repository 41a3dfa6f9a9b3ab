"""The command line: one module per subject, each listing its click commands.

The topmost room: nothing imports it but the pytest plugin. Imports `rules`, `cases`, `judging`, `engines`, `brokers`, `running`,
`selftest`, `streams`, `load`, `inspecting` and `reports`.
"""
