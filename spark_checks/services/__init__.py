"""The services of the child process in its Spark session: decode, measure, stream, fuzz, generate.

`worker` answers each request with one JSON line; `engine` loads decoders by name and decodes. Imports `liars` and `keepers`.
"""
