"""What both encodings of TiCDC's Debezium protocol share."""
