"""Code that several reference decoders share. It knows no writer."""
