"""One writer a wire format; `generators.wire_format` says what a format is and names them all.

A format of one file is a module, one of several a package of the same name with its profiles, cases
and faults beside it. What it says of itself (title, kinds of messages, options) stands in the TOML
file of its name; shared.toml has texts for several. Imports `sources`, `garbage` and `families`.
"""
