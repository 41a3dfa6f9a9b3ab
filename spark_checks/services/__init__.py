"""What the child process does in its Spark session: decode, measure, stream, fuzz, generate.

`worker` answers one JSON line a request; `engine` loads decoders by name and decodes. Imports `liars` and `keepers`.
"""
