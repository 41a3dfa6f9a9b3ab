"""One table of rules a format, named as its writer and its decoder."""
