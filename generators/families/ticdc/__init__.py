"""What TiCDC's formats share: the text of cells and statements, and the sink's framing."""
