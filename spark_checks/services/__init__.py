"""The services of the child process in its Spark session: decode, measure, stream, fuzz, generate;
and what runs in a user's.

`worker` answers each request with one JSON line; `engine` loads decoders by name and decodes;
`live` is an engine on a session of the user's; `feed` is the data source of change feeds. Imports
`liars` and `keepers`.
"""
