"""Messages that real products published, with what SQL says happened at the source.

A module per product (`canal`, `debezium`, `ticdc`) turns the truth of its recordings into histories; `base` makes cases of them
and compares our writers' bytes. Imports `drawing` and `sources`.
"""
