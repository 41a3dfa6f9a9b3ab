"""The scoreboard: readers that the world runs, judged by the harness on every format that they
claim.

`readers` names each reader with its release, its jars, its options and what it claims; `java/` and
`spark/` have a thin adapter for each, which repairs nothing; `judging` builds an adapter, runs the
harness on it, keeps the outcome in `results/` and knows when it is stale; `record` reads `faults/`,
which names what each reader does wrong; `reproducing` makes and runs a program for each fault,
without the harness; `board` joins results and faults, and `page` writes docs/scoreboard.*,
docs/scoreboard/ and docs/issues-to-send.md from `templates/`. Nothing imports this package, and the
wheel does not hold it. It imports `generators` and `brokers`, `cases`, `files`, `judging`,
`reports` and `rules` of `conformance`.
"""
