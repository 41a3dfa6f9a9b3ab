"""What both encodings of TiCDC's Simple protocol share."""
