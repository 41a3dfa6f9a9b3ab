"""The generated pages of docs/: formats, sources, recorded messages, rooms.

Imports `rules` and `reports`.
"""
