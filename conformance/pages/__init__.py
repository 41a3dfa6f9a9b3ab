"""The generated pages of docs/: formats, sources, recorded messages, rooms.

Imports `rules`, `reports` and `text`.
"""
