"""The scoreboard: readers that the world runs, judged by the harness on every format that they claim.

`readers` names each reader with its release, its jars and what it claims; `java/` and `spark/` have a thin adapter for each,
which repairs nothing; `judging` builds an adapter, runs the harness on it and keeps the outcome in `results/`; `faults/` names
the faults that are proved; `board` joins both, and `page` makes docs/scoreboard.md and docs/scoreboard.html of them. Nothing
imports this package, and the wheel does not hold it. It imports `generators` and `brokers`, `cases`, `files`, `judging`,
`reports` and `rules` of `conformance`.
"""
