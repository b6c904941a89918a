"""The tools that the training of every system shares."""
