"""What CloudCanal's formats share."""
