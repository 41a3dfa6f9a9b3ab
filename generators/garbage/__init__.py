"""What goes wrong: malformed variants of valid messages, mutations of bytes, nemeses of a
stream.

Imports `sources`.
"""
