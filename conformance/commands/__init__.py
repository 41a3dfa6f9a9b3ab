"""The command line: one module per subject, each listing its click commands.

The topmost room: no other room imports it. Imports `rules`, `cases`, `judging`, `engines`,
`brokers`, `running`, `selftest`, `streams`, `pipelines`, `load`, `inspecting`, `reports` and `pages`.
"""
