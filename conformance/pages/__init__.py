"""The generated pages of docs/: formats, what the documents leave open, options.

Imports `rules` and `reports`.
"""
