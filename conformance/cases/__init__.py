"""Which messages a decoder is judged on: named and drawn cases, their ids, and the decode calls that they share.

Imports nothing of `conformance` beyond this room and the base modules.
"""
