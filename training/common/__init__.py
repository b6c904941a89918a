"""What the training of every system shares."""
