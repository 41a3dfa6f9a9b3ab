"""Rules that several formats share, as functions of a format's book."""
