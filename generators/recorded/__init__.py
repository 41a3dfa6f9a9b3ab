"""Messages that real products published, with what SQL says happened at the source.

`store` reads them. A module per product (`canal`, `debezium`, `ticdc`) turns the truth of its
recordings into histories: its function `episodes() -> Iterator[Episode]` goes over all of them, and
`registry` finds it. `base` makes cases of episodes and compares our writers' bytes. Imports
`drawing`, `sources`, `families` and `formats`.
"""
