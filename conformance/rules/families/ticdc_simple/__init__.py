"""Rules that both encodings of TiCDC's Simple protocol share."""
