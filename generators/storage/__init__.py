"""Messages and expectations on disk: the lossless JSON form, corpora, the committed fixtures.

Imports `drawing`, `bulk` and `families`.
"""
