"""What decoders owe: cited rules, and the sources that they cite.

`rule` says what a rule is. Rules are data: a TOML file a format, kinds.toml for what formats share,
laws.toml for what every format owes; `book` reads them, `tables` any table of the project's own,
`rules` has the rules of a format. Imports nothing of `conformance` beyond this room and the base
modules.
"""
