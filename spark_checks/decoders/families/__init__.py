"""What several reference decoders share. Nothing here knows the writers."""
