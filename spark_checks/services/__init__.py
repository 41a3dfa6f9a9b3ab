"""The services of the child process in its Spark session: decode, measure, stream, fuzz, generate.

`worker` answers each request with one JSON line; `engine` loads decoders and decodes. Imports `decoders` and `liars` by name.
"""
