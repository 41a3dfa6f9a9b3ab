"""What the child process does in its Spark session: decode, measure, stream, fuzz, generate.

`worker` answers one JSON line a request; `engine` loads decoders and decodes. Imports `decoders` and `liars` by name.
"""
