"""One writer a wire format; `generators.wire_format` says what a format is and names them all.

A format of one file is a module, one of several a package of the same name with its profiles, cases and faults beside it.
Imports `sources`, `garbage` and `families`.
"""
