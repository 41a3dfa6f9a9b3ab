"""What the liars of several formats share."""
