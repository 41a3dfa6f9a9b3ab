"""What goes wrong: malformed variants of valid messages, mutations of bytes, disturbances of a
stream.

Imports `sources`.
"""
