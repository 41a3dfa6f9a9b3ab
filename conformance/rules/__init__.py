"""What decoders owe: cited rules, and the sources that they cite.

`base` says what a rule is, `book` how the twelve formats write theirs, `formats` holds one table of rules a format, `families`
what formats share. Imports nothing of `conformance` beyond this room and the base modules.
"""
