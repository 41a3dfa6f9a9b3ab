"""The self test: liars, altered outputs and lying writers must be noticed; right decoders must
pass.

Imports `rules`, `cases`, `judging`, `engines`, `running`, `streams` and
`pipelines`.
"""
